//! The work on one entry: a folder of its own, and commands of this program that run in it.
//!
//! In: the arguments of commands. Out: their output, and the command lines for the page. Every picture and figure that a
//! command made can be made again by that command line alone, from the folder of the entry. Commands run in that folder
//! and name files by their names in it, so that neither the page nor a picture's provenance holds a path of the machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{child::Started, log::Log, meshes::Meshes, scenes::Scene};
use crate::{
    cli::{CliError, signals},
    export::ExportError,
    launch,
};

/// Commands that take `--compute`.
const WITH_COMPUTE: [&str; 7] = ["fracture", "simulate", "render", "bench", "compare", "sheet", "stress"];

/// The work on one entry.
pub struct Work<'a> {
    folder: PathBuf,
    quick: bool,
    /// The value of `--compute`, unless it is the default.
    compute: Option<&'static str>,
    meshes: &'a Meshes,
    /// Command lines so far, as one would type them in the folder.
    commands: Vec<String>,
    /// Meshes beside scenes that do not belong to the results.
    borrowed: Vec<PathBuf>,
}

impl<'a> Work<'a> {
    /// Work in `folder`, which is made.
    ///
    /// # Errors
    /// [`CliError::Export`] where it cannot be made.
    pub(super) fn new(
        folder: PathBuf,
        quick: bool,
        compute: Option<&'static str>,
        meshes: &'a Meshes,
    ) -> Result<Self, CliError> {
        fs::create_dir_all(&folder).map_err(|e| ExportError::write(&folder, e))?;
        let (commands, borrowed) = (Vec::new(), Vec::new());
        Ok(Self { folder, quick, compute, meshes, commands, borrowed })
    }

    /// Whether coarser levels, smaller pictures and shorter plays are wanted.
    #[must_use]
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    /// `full`, or `quick` where coarser levels, smaller pictures and shorter plays are wanted.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The size of a picture as options take it, `WxH`: half as wide and half as high where coarser levels are wanted.
    #[must_use]
    pub fn size(&self, [width, height]: [u32; 2]) -> String {
        let share = self.pick(1, 2);
        format!("{}x{}", width / share, height / share)
    }

    /// The entry's folder, where commands run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with the documents' own meshes.
    #[must_use]
    pub fn meshes(&self) -> &Meshes {
        self.meshes
    }

    /// Runs a command of this program in the entry's folder, as in `work.run(&["render", "builtin:vase", "--out",
    /// "vase.png"])`; its standard output. Files are named by their names in the folder. `--compute` is added where the
    /// run was given one.
    ///
    /// # Errors
    /// [`CliError::Outcome`] with the command's last line on standard error if it ends with another code than 0;
    /// [`CliError::Interrupted`] after a signal.
    pub fn run(&mut self, args: &[&str]) -> Result<String, CliError> {
        let takes_compute = args.first().is_some_and(|name| WITH_COMPUTE.contains(name));
        let compute = self.compute.filter(|_| takes_compute && !args.contains(&"--both"));
        let more = compute.map_or_else(Vec::new, |compute| vec!["--compute", compute]);
        let words: Vec<&str> = args.iter().copied().chain(more).collect();
        let line = shown(&words);
        let mut command = launch::command().map_err(|e| {
            CliError::Input(format!("the path of this program is not known ({e}); start it by its path"))
        })?;
        self.commands.push(line.clone());
        let started = Started::new(command.args(&words).current_dir(&self.folder));
        let started = started.map_err(|e| CliError::Outcome(format!("{line}: it cannot be started: {e}")))?;
        let ended = started.wait()?;
        if ended.status.success() {
            return Ok(ended.out);
        }
        // A signal of a terminal reaches the command, too, and perhaps first.
        signals::asked().map_or(Ok(()), Err)?;
        let last = ended.err.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.unwrap_or("it said nothing").trim_start_matches("error: ");
        Err(CliError::Outcome(format!("{line}: {last}")))
    }

    /// [`Work::run`] with the words of a line, of which none has a space.
    ///
    /// # Errors
    /// As [`Work::run`].
    pub fn run_line(&mut self, line: &str) -> Result<String, CliError> {
        self.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// Copies a shipped scene into the folder, by its name without `.toml`, with the meshes that it names.
    ///
    /// # Errors
    /// [`CliError`] where there is no such scene, or it cannot be copied.
    pub fn scene(&mut self, name: &str) -> Result<Scene, CliError> {
        self.scene_with(name, |text| text)
    }

    /// The same with the scene's text changed.
    ///
    /// # Errors
    /// As [`Work::scene`].
    pub fn scene_with(
        &mut self,
        name: &str,
        change: impl FnOnce(String) -> String,
    ) -> Result<Scene, CliError> {
        let (scene, borrowed) = Scene::copy(name, &self.folder, self.meshes, change)?;
        self.borrowed.extend(borrowed);
        Ok(scene)
    }

    /// Writes a text into the folder: a scene, an SVG.
    ///
    /// # Errors
    /// [`CliError::Export`].
    pub fn write(&self, name: &str, text: &str) -> Result<(), CliError> {
        let path = self.folder.join(name);
        Ok(fs::write(&path, text).map_err(|e| ExportError::write(&path, e))?)
    }

    /// Reads a text that a command wrote into the folder.
    ///
    /// # Errors
    /// [`CliError::Outcome`] where there is none.
    pub fn read(&self, name: &str) -> Result<String, CliError> {
        fs::read_to_string(self.folder.join(name))
            .map_err(|e| CliError::Outcome(format!("{name}: the command left no such text: {e}")))
    }

    /// Reads JSON that a command wrote into the folder.
    ///
    /// # Errors
    /// [`CliError::Outcome`] where there is none.
    pub fn json(&self, name: &str) -> Result<serde_json::Value, CliError> {
        serde_json::from_str(&self.read(name)?)
            .map_err(|e| CliError::Outcome(format!("{name} is no JSON: {e}")))
    }

    /// Reads a CSV file that a command wrote into the folder.
    ///
    /// # Errors
    /// [`CliError::Outcome`] where there is none.
    pub fn log(&self, name: &str) -> Result<Log, CliError> {
        Ok(Log::parse(&self.read(name)?))
    }

    /// Removes a file or folder in the entry's folder that is too large to keep, like the arrays of a trajectory.
    pub fn remove(&self, name: &str) {
        let path = self.folder.join(name);
        // One that stays only takes room.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }

    /// Removes the borrowed meshes; the command lines.
    pub(super) fn end(&mut self) -> Vec<String> {
        for mesh in self.borrowed.drain(..) {
            // One that stays only takes room.
            let _ = fs::remove_file(mesh);
        }
        std::mem::take(&mut self.commands)
    }
}

/// A command line as one would type it.
fn shown(words: &[&str]) -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:,=+@".contains(c))
    };
    let quoted = words.iter().map(|word| match plain(word) {
        true => (*word).to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    std::iter::once("kintsugi".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        assert_eq!(
            shown(&["render", "builtin:vase", "--camera", r#"{"yaw":0.5}"#, "--out", "a b.png"]),
            r#"kintsugi render builtin:vase --camera '{"yaw":0.5}' --out 'a b.png'"#
        );
        // Planted error to see this fail: quote without the replacement.
        assert_eq!(shown(&["it's"]), r"kintsugi 'it'\''s'");
    }

    #[test]
    fn borrowed_meshes_do_not_stay_among_the_results() {
        let home = std::env::temp_dir().join(format!("kintsugi-paper-work-{}", std::process::id()));
        let own = home.join("own");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("stanford-bunny.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        let meshes = Meshes::new(Some(&own)).unwrap();
        let mut work = Work::new(home.join("entry"), true, None, &meshes).unwrap();
        let scene = work.scene("bunny").unwrap();
        assert_eq!(scene.file, "bunny.toml");
        assert!(!scene.shows("bunny"), "a triangle of that name is no bunny");
        let there = home.join("entry/stanford-bunny.obj");
        assert!(there.is_file());
        work.end();
        assert!(!there.exists() && home.join("entry/bunny.toml").is_file());
        fs::remove_dir_all(home).unwrap();
    }
}
