//! The embedded WGSL sources and their includes.
//!
//! A line `//#include shared/linear_id` is replaced by that file, once. [`ALL`] lists every file under `shaders/`; a test
//! compares it with the folder, and another parses and validates each kernel with the loader the program uses.

macro_rules! embed {
    ($($path:literal),* $(,)?) => {
        /// Every shader file: path under `shaders/` without its ending, and text.
        pub const ALL: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../shaders/", $path, ".wgsl")))),*];
    };
}

embed!["shared/linear_id", "shared/octree", "bodies/shape", "bodies/cell", "bodies/walk", "bodies/hits",];

/// The text of `shaders/<path>.wgsl` with its includes.
///
/// # Panics
/// If `path` or one of its includes is not embedded.
#[must_use]
pub fn source(path: &str) -> String {
    let mut out = String::new();
    let mut seen = Vec::new();
    expand(path, &mut seen, &mut out);
    out
}

fn expand(path: &str, seen: &mut Vec<String>, out: &mut String) {
    if seen.iter().any(|known| known == path) {
        return;
    }
    seen.push(path.to_owned());
    let (_, text) = ALL
        .iter()
        .find(|(known, _)| *known == path)
        .unwrap_or_else(|| panic!("shader {path} is not embedded"));
    for line in text.lines() {
        match line.strip_prefix("//#include ") {
            Some(other) => expand(other.trim(), seen, out),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}
