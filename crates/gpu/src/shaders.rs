//! The embedded WGSL sources and their includes.
//!
//! A line `//#include shared/linear_id` is replaced by that file, once. [`ALL`] lists every file under `shaders/`;
//! a test compares it with the folder, and another parses and validates each kernel with the loader the program
//! uses.

pub use kintsugi_shaders::ALL;

/// The text of `shaders/<path>.wgsl` with its includes.
///
/// # Panics
/// If `path` or one of its includes is not embedded.
#[must_use]
pub fn source(path: &str) -> String {
    let mut out = String::new();
    let mut seen = Vec::new();
    expand(path, &mut seen, &mut out);
    #[cfg(any(test, feature = "testing"))]
    let out = planting::spoil(path, out);
    out
}

/// Errors that tests plant in kernels, in stages that are made as the program makes them.
#[cfg(any(test, feature = "testing"))]
pub mod planting {
    use std::cell::RefCell;

    struct Error {
        path: &'static str,
        from: &'static str,
        to: &'static str,
        planted: bool,
    }

    thread_local! {
        static PLANTED: RefCell<Option<Error>> = const { RefCell::new(None) };
    }

    /// Calls `work` while this thread compiles kernel `path` with `to` instead of `from` in its text, includes
    /// included. Panics if the kernel was not compiled or does not have this text.
    pub fn with_error<T>(
        path: &'static str,
        (from, to): (&'static str, &'static str),
        work: impl FnOnce() -> T,
    ) -> T {
        PLANTED.set(Some(Error { path, from, to, planted: false }));
        let done = work();
        let error = PLANTED.take();
        assert!(error.is_some_and(|error| error.planted), "{path} was not compiled");
        done
    }

    pub(super) fn spoil(path: &str, text: String) -> String {
        PLANTED.with_borrow_mut(|error| match error {
            Some(error) if error.path == path => {
                assert!(text.contains(error.from), "{path} has no '{}'", error.from);
                error.planted = true;
                text.replace(error.from, error.to)
            }
            _ => text,
        })
    }
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

/// The files that no other file includes: kernels and other pipelines.
#[cfg(any(test, feature = "testing"))]
pub fn entries() -> impl Iterator<Item = &'static str> {
    let included = |path: &str| {
        let include = format!("//#include {path}");
        ALL.iter().any(|(_, text)| text.lines().any(|line| line.trim_end() == include))
    };
    ALL.iter().map(|(path, _)| *path).filter(move |path| !included(path))
}

/// Whether a file of [`entries`] is a compute kernel.
#[cfg(any(test, feature = "testing"))]
pub fn is_kernel(path: &str) -> bool {
    source(path).contains("@compute")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn files(folder: &Path, root: &Path, out: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, root, out);
            } else if path.extension().is_some_and(|e| e == "wgsl") {
                let name = path.strip_prefix(root).unwrap().with_extension("");
                out.push(name.to_string_lossy().replace('\\', "/"));
            }
        }
    }

    fn validate(name: &str) -> Result<(naga::Module, naga::valid::ModuleInfo), String> {
        let text = source(name);
        let module = naga::front::wgsl::parse_str(&text).map_err(|e| e.emit_to_string(&text))?;
        let info = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::default(),
        )
        .validate(&module)
        .map_err(|e| e.emit_to_string(&text))?;
        Ok((module, info))
    }

    #[test]
    fn every_file_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders");
        let mut found = Vec::new();
        files(&root, &root, &mut found);
        found.sort();
        let mut listed: Vec<_> = ALL.iter().map(|(name, _)| (*name).to_owned()).collect();
        listed.sort();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_shader_is_valid_and_every_kernel_uses_all_its_bindings() {
        for (name, _) in ALL {
            // An include is validated with the kernels that include it.
            if !entries().any(|path| path == *name) {
                continue;
            }
            let text = source(name);
            let stages = ["@compute", "@fragment"];
            assert!(stages.iter().any(|stage| text.contains(stage)), "{name} is unused");
            let (module, info) = validate(name).unwrap_or_else(|e| panic!("{name}: {e}"));
            if !text.contains("@compute") {
                continue;
            }
            assert_eq!(module.entry_points.len(), 1, "{name}: one kernel a file");
            assert_eq!(module.entry_points[0].name, "main", "{name}");
            for (handle, var) in module.global_variables.iter() {
                let unused = var.binding.is_some() && info.get_entry_point(0)[handle].is_empty();
                assert!(!unused, "{name}: binding {:?} is unused, which drops it from the layout", var.name);
            }
        }
    }

    #[test]
    fn one_workgroup_size_is_declared() {
        assert!(source("shared/linear_id").contains(&format!("WORKGROUP: u32 = {}u;", crate::WORKGROUP)));
    }

    #[test]
    fn a_broken_shader_is_caught() {
        assert!(naga::front::wgsl::parse_str("fn main() { let x: u32 = 1.5f; }").is_err());
    }
}
