//! What each crate's tests check of its own kernels: layouts of structs, names of variables, workgroup sizes. The
//! checks begin with the shaders in a crate's folders, so a struct or a kernel that Rust leaves out is an error.

use super::{
    Shared, WORKGROUP, layout_tests,
    primitives::{PlanParams, RadixParams, ScanParams},
    recorder::Counted,
    shaders,
};
use crate::Layout;

/// The structs that this crate's own kernels share with Rust.
#[must_use]
pub fn layouts() -> Vec<Layout> {
    vec![Counted::LAYOUT, PlanParams::LAYOUT, RadixParams::LAYOUT, ScanParams::LAYOUT]
}

/// Pipelines whose files lie in `folders` ("svo/").
fn entries<'a>(folders: &'a [&str]) -> impl Iterator<Item = &'static str> + 'a {
    shaders::entries().filter(|path| folders.iter().any(|folder| path.starts_with(folder)))
}

/// Every struct that Rust shares with a pipeline of `folders` has the layout that Rust has for it, in `own` or, for
/// structs of other crates, in `others`; and a shader declares each struct of `own`.
///
/// # Panics
/// Where this does not hold.
pub fn assert_layouts(folders: &[&str], own: &[Layout], others: &[Layout]) {
    let known = [own, others].concat();
    let found: Vec<_> = entries(folders)
        .filter_map(|path| Some((path, layout_tests::difference(&shaders::source(path), &known)?)))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    let text: String = shaders::ALL.iter().map(|(_, text)| *text).collect();
    let unused: Vec<_> = own.iter().filter(|l| !text.contains(&format!("struct {} {{", l.name))).collect();
    assert!(unused.is_empty(), "no shader has {unused:#?}");
}

/// This process has dispatched every kernel of `folders`, each with all of its variables.
///
/// # Panics
/// Where this does not hold.
pub fn assert_dispatched(folders: &[&str]) {
    let bound = layout_tests::bound();
    let missing: Vec<_> =
        entries(folders).filter(|path| shaders::is_kernel(path) && !bound.contains(path)).collect();
    assert!(missing.is_empty(), "{missing:?} were not dispatched");
}

/// Workgroup of a kernel, where it is not `wanted`.
///
/// # Panics
/// For a source that the shader compiler refuses.
#[must_use]
pub fn odd_workgroup(path: &str, source: &str, wanted: [u32; 3]) -> Option<String> {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)));
    let size = module.entry_points[0].workgroup_size;
    (size != wanted).then(|| format!("{path}: {size:?}"))
}

/// Every kernel of `folders` has the workgroup that `wanted` gives for its path, or [`WORKGROUP`] threads.
///
/// # Panics
/// Where this does not hold.
pub fn assert_workgroups(folders: &[&str], wanted: impl Fn(&str) -> Option<[u32; 3]>) {
    let odd: Vec<_> = entries(folders)
        .filter(|path| shaders::is_kernel(path))
        .filter_map(|path| {
            odd_workgroup(path, &shaders::source(path), wanted(path).unwrap_or([WORKGROUP, 1, 1]))
        })
        .collect();
    assert!(odd.is_empty(), "{odd:?}");
}
