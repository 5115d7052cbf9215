//! Joins numbered pictures to a film, by ffmpeg where it is installed.
//!
//! In: a folder of pictures `00000.png` and so on. Out: an MP4 (H.264), or a WebM (VP9) where ffmpeg has no encoder for that.

use std::{
    io::ErrorKind,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use super::{ExportError, Watch};

/// Files and encoders, the most widely read one first.
const ENCODERS: [(&str, &[&str]); 2] = [
    ("film.mp4", &["-c:v", "libx264", "-crf", "16", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]),
    ("film.webm", &["-c:v", "libvpx-vp9", "-crf", "20", "-b:v", "0", "-pix_fmt", "yuv420p"]),
];
/// Interval of looking whether the film is done.
const PAUSE: Duration = Duration::from_millis(20);

/// How joining ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// The name of the film, which lies beside the folder of the pictures.
    Film(&'static str),
    /// ffmpeg is not installed.
    NotInstalled,
    /// ffmpeg has no encoder for the film, or did not get on with the pictures.
    Failed,
}

/// Names of films that may be written.
pub fn film_names() -> impl Iterator<Item = &'static str> {
    ENCODERS.iter().map(|(name, _)| *name)
}

/// Arguments of ffmpeg for `fps` pictures a second of the folder `frames`.
fn arguments(frames: &str, fps: f64, (name, encoder): (&str, &[&str])) -> Vec<String> {
    let pictures = format!("{frames}/%05d.png");
    let fps = fps.to_string();
    // H.264 with 4:2:0 needs even sides.
    let pad = "pad=ceil(iw/2)*2:ceil(ih/2)*2";
    let first = ["-loglevel", "error", "-nostdin", "-y", "-framerate", &fps, "-i", &pictures, "-vf", pad];
    first.iter().chain(encoder).chain([&name]).map(|word| (*word).to_owned()).collect()
}

/// Joins the pictures of the folder `frames` in `folder` to a film in `folder`.
///
/// # Errors
/// [`ExportError::Cancelled`].
pub fn join(folder: &Path, frames: &str, fps: f64, watch: &Watch) -> Result<Joined, ExportError> {
    join_with("ffmpeg", folder, frames, fps, watch)
}

/// The same by another program with the arguments of ffmpeg.
fn join_with(
    program: &str,
    folder: &Path,
    frames: &str,
    fps: f64,
    watch: &Watch,
) -> Result<Joined, ExportError> {
    for encoder in ENCODERS {
        let mut command = Command::new(program);
        command.args(arguments(frames, fps, encoder)).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Joined::NotInstalled),
            Err(_) => return Ok(Joined::Failed),
        };
        let is_done = loop {
            if let Err(cancelled) = watch.at(0, 1) {
                // The process may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(cancelled);
            }
            match child.try_wait() {
                Ok(Some(status)) => break status.success(),
                Ok(None) => std::thread::sleep(PAUSE),
                Err(_) => break false,
            }
        };
        let film = folder.join(encoder.0);
        if is_done && film.metadata().is_ok_and(|data| data.len() > 0) {
            return Ok(Joined::Film(encoder.0));
        }
        // What an encoder left that failed.
        let _ = std::fs::remove_file(film);
    }
    Ok(Joined::Failed)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::voxelize::Progress;

    /// A folder with a program that stands in for ffmpeg.
    #[cfg(unix)]
    fn stand_in(name: &str, script: &str) -> (PathBuf, String) {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = std::env::temp_dir().join(format!("kintsugi-video-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        (folder, program.display().to_string())
    }

    #[cfg(unix)]
    #[test]
    fn the_first_encoder_that_works_makes_the_film() {
        let watch = Watch::whole(&Progress::default());
        // The last argument is the file.
        let (folder, program) =
            stand_in("good", "for last; do :; done; echo film > $last; echo \"$@\" > said");
        assert_eq!(join_with(&program, &folder, "frames", 25.0, &watch).unwrap(), Joined::Film("film.mp4"));
        let said = std::fs::read_to_string(folder.join("said")).unwrap();
        assert!(said.contains("-framerate 25 -i frames/%05d.png"), "{said}");
        std::fs::remove_dir_all(folder).unwrap();
        let (folder, program) =
            stand_in("second", "for last; do :; done; echo half > $last; case $last in *.mp4) exit 1;; esac");
        assert_eq!(join_with(&program, &folder, "frames", 25.0, &watch).unwrap(), Joined::Film("film.webm"));
        assert!(!folder.join("film.mp4").exists(), "what failed is gone");
        std::fs::remove_dir_all(folder).unwrap();
        let (folder, program) = stand_in("bad", "exit 3");
        assert_eq!(join_with(&program, &folder, "frames", 25.0, &watch).unwrap(), Joined::Failed);
        assert_eq!(
            join_with("/nowhere/ffmpeg", &folder, "frames", 25.0, &watch).unwrap(),
            Joined::NotInstalled
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn joining_stops_when_it_is_cancelled() {
        let progress = Progress::default();
        let (folder, program) = stand_in("slow", "exec sleep 60");
        let (watch, start) = (Watch::whole(&progress), std::time::Instant::now());
        let ended = std::thread::scope(|scope| {
            let joining = scope.spawn(|| join_with(&program, &folder, "frames", 25.0, &watch));
            std::thread::sleep(Duration::from_millis(200));
            progress.cancel();
            joining.join().unwrap()
        });
        assert!(matches!(ended, Err(ExportError::Cancelled)), "{ended:?}");
        assert!(start.elapsed() < Duration::from_secs(30));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
