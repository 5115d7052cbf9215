//! The window: winit's events, the surface, the frame loop. The engine is [`crate::scene::Sandbox`], the
//! panels [`crate::ui`].

mod clock;
mod dialogs;
mod handler;
mod resolution;
mod session;
mod state_file;
mod surface;

use std::path::PathBuf;

pub use clock::{Clock, Time};

use crate::gpu::GpuError;

/// What the command line asks of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct AppOptions {
    /// Mesh, scene or `builtin:NAME`; the vase where nothing is named.
    pub file: Option<PathBuf>,
    /// Leaf level of a mesh, 1..=10.
    pub level: u32,
    /// Where to publish the state as JSON, for tests.
    pub state_file: Option<PathBuf>,
    /// Window size, pixels.
    pub size: Option<[u32; 2]>,
    /// Closes the window by itself, s.
    pub exit_after: Option<f64>,
}

impl Default for AppOptions {
    fn default() -> Self {
        Self { file: None, level: 7, state_file: None, size: None, exit_after: None }
    }
}

/// Why the window could not open or had to close.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Neither X11 nor Wayland is there.
    #[error(
        "there is no display to open a window on ({0}); set DISPLAY, or use the commands that need no window"
    )]
    NoDisplay(String),
    /// The file does not exist or cannot be opened.
    #[error("{0}")]
    File(String),
    /// The window system refused.
    #[error("the window system reported an error: {0}")]
    Window(String),
    /// The graphics driver failed for good.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// Opens the window and runs until it is closed.
///
/// # Errors
/// [`AppError`]; [`AppError::NoDisplay`] before anything was opened.
pub fn run(options: AppOptions) -> Result<(), AppError> {
    if let Some(file) = &options.file
        && !file.to_string_lossy().starts_with("builtin:")
        && let Err(error) = std::fs::metadata(file)
    {
        return Err(AppError::File(format!(
            "cannot open {}: {error}; check the path, or try builtin:vase",
            file.display()
        )));
    }
    let events = winit::event_loop::EventLoop::new().map_err(|e| AppError::NoDisplay(e.to_string()))?;
    let mut handler = handler::Handler::new(options);
    events.run_app(&mut handler).map_err(|e| AppError::Window(e.to_string()))?;
    handler.into_result()
}
