//! `kintsugi repeat`: makes a report, a picture or an exported scene again, and says whether the result is the same.
//!
//! In: a `report.json`, a PNG that Kintsugi wrote, or a scene. Out: "the same", or a line for each difference. The
//! program runs itself, with a fresh folder for what it writes. A file names what it was made by, so only what
//! [`allowed`] lists is run. Times, versions, commits and adapters are ignored.

pub mod allowed;
mod compare;
mod old_report;
pub(super) mod original;

use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher as _, Hasher as _},
    io,
    path::PathBuf,
    process::Stdio,
};

use clap::Args;

use self::original::{Original, Rerun};
use super::{CliError, input::about, print, progress::Reporter};
use crate::{export::ExportError, launch};

#[derive(Args)]
pub struct RepeatArgs {
    /// report.json, a picture that Kintsugi wrote (.png), or a scene (.toml); a scene without results beside it is
    /// played twice
    file: PathBuf,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Makes the result again and compares.
///
/// # Errors
/// [`CliError::Outcome`], of code 1, if the results differ; [`CliError::Input`] for a file that does not say how it was
/// made, or whose input no longer exists.
pub fn run(args: &RepeatArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    let original = Original::read(&args.file)?;
    let scratch = Scratch::new()?;
    reporter.tell("runs", &original.rerun().shown());
    let found = reporter.stage("run it again", |_| match &original {
        Original::Report { folder, report, rerun } => {
            let again = scratch.run(rerun, "again")?;
            compare::folders(folder, &again, Some(report))
        }
        Original::Picture { rerun, picture } => {
            let again = scratch.run(rerun, "again.png")?;
            compare::pictures(picture, &again)
        }
        Original::Scene { rerun } => {
            let (first, second) = (scratch.run(rerun, "first")?, scratch.run(rerun, "second")?);
            compare::folders(&first, &second, None)
        }
    })?;
    drop(reporter);
    if found.is_empty() {
        print("the same\n");
        return Ok(());
    }
    found.iter().for_each(|line| print(&format!("{line}\n")));
    let (n, file) = (found.len(), args.file.display());
    Err(CliError::Outcome(format!("{file}: the result differs ({n} lines on stdout say where)")))
}

/// A fresh folder of this run's own that nobody else may enter, deleted on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, CliError> {
        let parent = std::env::temp_dir();
        loop {
            // Nobody can guess the name and lay something there before; `create` refuses a name that is taken.
            let path =
                parent.join(format!("kintsugi-repeat-{:016x}", RandomState::new().build_hasher().finish()));
            #[cfg(unix)]
            let made =
                std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&path);
            #[cfg(not(unix))]
            let made = fs::create_dir(&path);
            match made {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(ExportError::write(&path, error).into()),
            }
        }
    }

    /// Runs this program again; returns the path of its output.
    fn run(&self, rerun: &Rerun, name: &str) -> Result<PathBuf, CliError> {
        let place = self.0.join(name);
        let mut command = launch::command().map_err(|e| {
            CliError::Input(format!("the path of this program is not known ({e}); start it by its path"))
        })?;
        command
            .args(rerun.arguments(&place))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if rerun.is_tour {
            // With a display it might open a window.
            command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").current_dir(&self.0);
        } else {
            command.current_dir(&rerun.from);
        }
        if let Some((path, text)) = &rerun.scene {
            fs::write(self.0.join(path), text).map_err(|e| ExportError::write(&self.0, e))?;
            command.current_dir(&self.0);
        }
        let done =
            command.output().map_err(|e| CliError::Input(format!("the command cannot be run again: {e}")))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let last =
                said.lines().last().unwrap_or("it said nothing").trim_start_matches("error: ").to_owned();
            return Err(about(&rerun.named, format!("run again, it ends with an error: {last}")));
        }
        Ok(rerun.output.as_ref().map_or(place.clone(), |output| match rerun.is_tour {
            true => self.0.join(output),
            false => place.join(output),
        }))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A temporary folder that cannot be deleted does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
