//! The command line: arguments to a command or the window. The only place that prints errors.

use std::{io::Write, process::ExitCode};

fn main() -> ExitCode {
    quiet_drivers();
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

/// Mesa's Vulkan layers look for a Wayland display and complain on stderr where there is no runtime folder,
/// as in a container. An error here is one line, so they are given a folder in which they find nothing.
fn quiet_drivers() {
    const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";
    if cfg!(target_os = "linux") && std::env::var_os(RUNTIME_FOLDER).is_none() {
        // SAFETY: `main` has only just begun; no other thread exists that could read the environment.
        unsafe { std::env::set_var(RUNTIME_FOLDER, std::env::temp_dir()) };
    }
}
