//! CSV log of what each frame took, for measuring the window from outside (`--frame-log FILE`).
//!
//! A line is written once its frame has been presented. The times of stages are wall-clock times on the window's
//! thread.

use std::{
    fs::File,
    io::{self, ErrorKind, Read as _, Write as _},
    path::Path,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use super::session::Session;

/// Names of the columns; `docs/files.md` explains them.
const HEAD: &str = "at_s,frame_ms,steps,steps_ms,aim_ms,picture_ms,panels_ms,present_ms,width,height,previews,\
                    preview_level,preview_ms,time_s,bodies,awake";

/// How the logs of all versions begin.
const BEGINNING: &[u8] = b"at_s,frame_ms,";

/// Writes a line for every frame.
pub struct FrameLog {
    out: File,
    begun: Instant,
}

impl FrameLog {
    /// Creates the log at `path`, where an earlier one makes room.
    ///
    /// # Errors
    /// If the file cannot be written, or holds something else.
    pub fn create(path: &Path) -> io::Result<Self> {
        // A pipe or a device takes what it gets.
        if path.is_file() {
            let mut there = Vec::new();
            File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut there)?;
            if !there.is_empty() && there != BEGINNING {
                let why = "the file there is no frame log; give another name";
                return Err(io::Error::new(ErrorKind::AlreadyExists, why));
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_s_own_file_is_no_place_for_a_log_and_an_earlier_log_is() {
        let path = std::env::temp_dir().join(format!("kintsugi-frame-log-{}.csv", std::process::id()));
        std::fs::write(&path, "at_s,mine\n").unwrap();
        assert_eq!(FrameLog::create(&path).err().unwrap().kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"at_s,mine\n");
        std::fs::write(&path, "").unwrap();
        for _ in 0..2 {
            drop(FrameLog::create(&path).unwrap());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEAD}\n"));
        }
        std::fs::remove_file(path).unwrap();
    }
}
