//! CSV log of what each frame took, for measuring the window from outside (`--frame-log FILE`).
//!
//! A line is written once its frame has been presented. The times of stages are wall-clock times on the window's
//! thread.

use std::{
    fs::File,
    io::Write,
    path::Path,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use super::session::Session;

/// Names of the columns; `docs/files.md` explains them.
const HEAD: &str = "at_s,frame_ms,steps,steps_ms,aim_ms,picture_ms,panels_ms,present_ms,width,height,previews,\
                    preview_level,preview_ms,time_s,bodies,awake";

/// Writes a line for every frame.
pub struct FrameLog {
    out: File,
    begun: Instant,
}

impl FrameLog {
    /// Creates the log at `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let mut out = File::create(path)?;
        writeln!(out, "{HEAD}")?;
        Ok(Self { out, begun: Instant::now() })
    }

    /// Marks the start of a frame.
    pub fn begin(&mut self) {
        self.begun = Instant::now();
    }

    /// Writes the line of a presented frame, with the times that `session` holds.
    pub fn presented(&mut self, session: &Session) {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64());
        let frame_ms = self.begun.elapsed().as_secs_f64() * 1e3;
        let parts = session.frame_parts();
        let sandbox = session.sandbox.as_ref();
        let preview = sandbox.map(|s| s.preview()).unwrap_or_default();
        let [width, height] = if parts.picture_ms > 0.0 { session.picture_size() } else { [0, 0] };
        let line = writeln!(
            self.out,
            "{since_epoch:.4},{frame_ms:.2},{},{:.2},{:.2},{:.2},{:.2},{:.2},{width},{height},{},{},{:.2},{:.3},{},{}",
            parts.steps,
            parts.steps_ms,
            parts.aim_ms,
            parts.picture_ms,
            parts.panels_ms,
            parts.present_ms,
            preview.recomputed,
            preview.level,
            preview.ms,
            sandbox.map_or(0.0, crate::scene::Sandbox::time),
            sandbox.map_or(0, |s| s.bodies().len()),
            sandbox.map_or(0, crate::scene::Sandbox::awake),
        );
        if let Err(error) = line {
            tracing::warn!("cannot write the frame log: {error}");
        }
    }
}
