//! The command line: arguments to a command or the window. The only place that prints errors.

use std::{io::Write, process::ExitCode};

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("KINTSUGI_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("off")),
        )
        .with_writer(std::io::stderr)
        .init();
    match kintsugi::cli::run(std::env::args_os()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.exit_code() == 0 => {
            // Help or the version; a closed pipe is the reader's choice.
            let _ = write!(std::io::stdout(), "{error}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let line = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(std::io::stderr(), "error: {line}");
            ExitCode::from(error.exit_code())
        }
    }
}
