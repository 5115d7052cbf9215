//! A command of this program in a process of its own, which ends when this one is asked to end.
//!
//! In: a command. Out: what it printed and its exit status. A signal to this process alone reaches no child by itself:
//! the wait looks for one and kills the child, whose half results lie in the folder aside and go with it.

use std::{
    io::{self, Read},
    process::{Child, Command, ExitStatus, Stdio},
    thread::JoinHandle,
    time::Duration,
};

use crate::cli::{CliError, signals};

/// Pause between two looks at whether the command has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A command that runs; dropping it kills it.
pub struct Started {
    child: Child,
    out: Option<JoinHandle<Vec<u8>>>,
    err: Option<JoinHandle<Vec<u8>>>,
}

/// What a command left.
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Started {
    /// Starts a command with nothing to read.
    ///
    /// # Errors
    /// Where the system starts no process.
    pub fn new(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // Threads read both: a pipe that nobody empties would hold the command up.
        let (out, err) = (child.stdout.take().map(drain), child.stderr.take().map(drain));
        Ok(Self { child, out, err })
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// [`CliError::Interrupted`] after a signal; the command is killed then. [`CliError::Outcome`] where the system
    /// cannot say how it ended.
    pub fn wait(mut self) -> Result<Ended, CliError> {
        let status = loop {
            signals::asked().map_or(Ok(()), Err)?;
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(PAUSE),
                Err(error) => {
                    return Err(CliError::Outcome(format!("a command cannot be waited for: {error}")));
                }
            }
        };
        Ok(Ended { status, out: text_of(self.out.take()), err: text_of(self.err.take()) })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A command that has ended is not killed twice: the system knows it as waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe ends the text, and the exit status says why.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn text_of(read: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = read.and_then(|thread| thread.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
