//! How this program is started again, and where its shipped files lie.
//!
//! In: a program that runs the commands in its own process, such as Python's interpreter, says once how that is done.
//! Out: a command that runs this program, and the folder with its files. Without a word, the program is the executable of
//! this process, and its files lie beside or above it.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

static LAUNCH: OnceLock<Launch> = OnceLock::new();

/// How this program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The executable.
    pub program: PathBuf,
    /// Arguments before the program's own, as `-m kintsugi` of Python.
    pub arguments: Vec<OsString>,
    /// The folder that has `assets/scenes`; `None`: that is looked for beside and above the executable.
    pub share: Option<PathBuf>,
}

impl Launch {
    /// A command that runs this program, to which its own arguments are added.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// Says how this program is started, for the whole process and before a command runs; later calls change nothing.
pub fn set_launch(launch: Launch) {
    let _ = LAUNCH.set(launch);
}

/// A command that runs this program: as [`set_launch`] said, or else the executable of this process.
///
/// # Errors
/// Where the system does not tell the path of the executable.
pub fn command() -> io::Result<Command> {
    match LAUNCH.get() {
        Some(launch) => Ok(launch.command()),
        None => std::env::current_exe().map(Command::new),
    }
}

/// The folder of shipped files, where [`set_launch`] named one.
#[must_use]
pub fn share() -> Option<&'static Path> {
    LAUNCH.get()?.share.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_this_executable_is_run_without_arguments() {
        // Nothing in these tests sets another one, which would hold for all of them.
        let command = command().unwrap();
        assert_eq!(command.get_program(), std::env::current_exe().unwrap());
        assert_eq!((command.get_args().count(), share()), (0, None));
    }

    #[test]
    fn a_host_s_arguments_come_before_the_program_s_own() {
        let arguments = ["-m", "kintsugi"].map(OsString::from).to_vec();
        let python = Launch { program: "/usr/bin/python3".into(), arguments, share: None };
        let mut command = python.command();
        command.arg("doctor");
        assert_eq!(command.get_program(), "/usr/bin/python3");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-m", "kintsugi", "doctor"]);
    }
}
