//! Runs the built program; folders to write to.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use super::skip;

/// An empty folder of this test's own, under the target folder.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The program with these arguments, no display and no terminal: the one just built, or the one that
/// `KINTSUGI_BINARY` names.
pub fn kintsugi<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let program = std::env::var_os("KINTSUGI_BINARY");
    let mut command = Command::new(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_kintsugi").into()));
    command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").stdin(Stdio::null());
    command
}

/// Exit code, stdout, stderr.
pub fn outcome(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Whether a run ended for want of an adapter, which is noted; any other trouble with the device is an error.
pub fn lacks_adapter(code: i32, err: &str) -> bool {
    let lacking = code == 3 && err.contains("mesa-vulkan-drivers");
    if lacking {
        skip::note(err.trim());
    }
    lacking
}

/// Runs to a good end and gives stdout; `None`, where that is allowed, without an adapter.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Option<String> {
    finish(&mut kintsugi(arguments)).map(|(out, _)| out)
}

/// The same of a command that is made already; stdout and stderr.
pub fn finish(command: &mut Command) -> Option<(String, String)> {
    let (code, out, err) = outcome(&command.output().unwrap());
    if lacks_adapter(code, &err) {
        return None;
    }
    assert_eq!(code, 0, "{err}");
    Some((out, err))
}

/// A path as an argument.
pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
