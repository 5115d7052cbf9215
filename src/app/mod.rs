//! The window: winit's events, the surface, the frame loop. The engine is [`crate::scene::Sandbox`], the
//! panels [`crate::ui`].

mod autosaves;
mod clock;
mod crashes;
mod dialogs;
mod frame_log;
mod handler;
pub mod imports;
mod keeper;
mod leaving;
mod present;
#[cfg(any(test, fuzzing))]
pub mod reading;
mod resolution;
mod saver;
mod session;
mod settings;
mod state_file;

use std::path::PathBuf;

pub use clock::{Clock, Time};
pub use crashes::report_panics;
use frame_log::FrameLog;

use winit::event_loop::EventLoop;

use crate::{compute::Choice, gpu::GpuError, scene::ReadScene};

/// Command-line options of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct AppOptions {
    /// Leaf level of meshes opened while no object is open, 1..=12.
    pub level: u32,
    /// Where to publish the state as JSON, for tests.
    pub state_file: Option<PathBuf>,
    /// Where to write the frame log, as CSV.
    pub frame_log: Option<PathBuf>,
    /// Window size, pixels.
    pub size: Option<[u32; 2]>,
    /// Time after which the window closes by itself, s.
    pub exit_after: Option<f64>,
    /// Where the compute stages run.
    pub compute: Choice,
}

impl Default for AppOptions {
    fn default() -> Self {
        Self {
            level: 7,
            state_file: None,
            frame_log: None,
            size: None,
            exit_after: None,
            compute: Choice::Auto,
        }
    }
}

/// Why the window could not open or had to close.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Neither X11 nor Wayland is available.
    #[error(
        "there is no display to open a window on ({0}); set DISPLAY, or use the commands that need no window"
    )]
    NoDisplay(String),
    /// The frame log cannot be written.
    #[error("cannot write {0}: {1}")]
    FrameLog(PathBuf, std::io::Error),
    /// The window system reported an error.
    #[error("the window system reported an error: {0}")]
    Window(String),
    /// The graphics driver failed and could not be recovered.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A signal, of this number, ended the window.
    #[error("interrupted by a signal (number {0})")]
    Ended(u8),
}

/// What other threads tell the window.
#[derive(Clone, Copy, Debug)]
enum Call {
    /// Something is there to be shown.
    Look,
    /// A signal of this number asks the program to end.
    End(u8),
}

/// A connection to a display on which windows can be opened.
pub struct Display(EventLoop<Call>);

impl Display {
    /// Connects to the display that the environment names.
    ///
    /// # Errors
    /// [`AppError::NoDisplay`].
    pub fn connect() -> Result<Self, AppError> {
        EventLoop::with_user_event().build().map(Self).map_err(|e| AppError::NoDisplay(e.to_string()))
    }

    /// Asks the window to end because of a signal of that number; `false` where there is no window any more.
    pub fn ender(&self) -> impl Fn(u8) -> bool + Send + use<> {
        let window = self.0.create_proxy();
        move |signal| window.send_event(Call::End(signal)).is_ok()
    }
}

/// Opens the window on a scene that was read, and runs until it is closed.
///
/// # Errors
/// [`AppError`].
pub fn run(display: Display, opened: ReadScene, options: AppOptions) -> Result<(), AppError> {
    let begin =
        |path: &PathBuf| FrameLog::create(path).map_err(|error| AppError::FrameLog(path.clone(), error));
    let log = options.frame_log.as_ref().map(begin).transpose()?;
    let mut handler = handler::Handler::new(options, opened, log, display.0.create_proxy());
    display.0.run_app(&mut handler).map_err(|e| AppError::Window(e.to_string()))?;
    handler.into_result()
}
