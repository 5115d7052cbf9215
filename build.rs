//! Tells the program from which commit it was built, for its reports.
//!
//! Out: `KINTSUGI_COMMIT`: twelve digits of the commit, with a `+` where what the library is compiled from had been
//! changed since; `unknown` without git or outside of the project's own repository. Who packages Kintsugi may set it.

use std::process::Command;

/// What the library is compiled from. This is asked anew when any of it changes, which compiles the library anyway.
/// It is not asked anew for a commit alone: everything would be compiled again, to the same program but for its name.
/// So a program that was built before its sources were committed has the commit before, and a `+`.
const SOURCES: [&str; 6] = ["src", "crates", "shaders", "Cargo.toml", "Cargo.lock", "build.rs"];

const COMMIT: &str = "KINTSUGI_COMMIT";

fn main() {
    SOURCES.iter().for_each(|source| println!("cargo:rerun-if-changed={source}"));
    println!("cargo:rerun-if-env-changed={COMMIT}");
    let given = std::env::var(COMMIT).ok().filter(|commit| !commit.trim().is_empty());
    let commit = given.or_else(commit).unwrap_or_else(|| "unknown".into());
    println!("cargo:rustc-env={COMMIT}={}", commit.trim());
}

fn commit() -> Option<String> {
    let home = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    // The sources may lie unpacked in somebody else's repository.
    if !git(&home, &["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    let commit = git(&home, &["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&home, &[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some(if changed.is_empty() { commit } else { format!("{commit}+") })
}

fn git(home: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(["--no-optional-locks", "-C"]).arg(home).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
