//! The program: arguments to a command or the window, and an exit code.

use std::process::ExitCode;

use tracing_subscriber::{filter::Targets, prelude::*};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: kintsugi::memory::LargePages = kintsugi::memory::LargePages;

fn main() -> ExitCode {
    quiet_drivers();
    log_to_stderr();
    kintsugi::app::report_panics();
    ExitCode::from(kintsugi::cli::main(std::env::args_os()))
}

/// Logs to stderr by `KINTSUGI_LOG`, as in `KINTSUGI_LOG=kintsugi=debug,wgpu=warn`; nothing without it.
fn log_to_stderr() {
    let wanted = std::env::var("KINTSUGI_LOG").ok();
    let targets = wanted.and_then(|wanted| wanted.parse::<Targets>().ok()).unwrap_or_default();
    let to_stderr = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(targets);
    tracing_subscriber::registry().with(to_stderr).init();
}

/// Mesa's Vulkan layers look for a Wayland display and complain on stderr without a runtime folder, as in a container.
/// Errors of this program are one line, so it names a place that is no folder: in a shared one, such as the temporary folder,
/// anybody could have laid the socket that they find.
fn quiet_drivers() {
    const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";
    if cfg!(target_os = "linux") && std::env::var_os(RUNTIME_FOLDER).is_none() {
        // SAFETY: `main` has only just begun; no other thread exists that could read the environment.
        unsafe { std::env::set_var(RUNTIME_FOLDER, "/dev/null") };
    }
}
