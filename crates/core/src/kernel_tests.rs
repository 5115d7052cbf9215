//! What Rust and this crate's shaders say of each other.

use crate::{
    fracture,
    gpu::{
        Gpu, Layout, Shared,
        kernel_checks::{assert_dispatched, assert_layouts, assert_workgroups, layouts as others},
        layout_tests, shaders,
    },
    svo,
};

const FOLDERS: &[&str] = &["svo/", "fracture/"];

fn own() -> Vec<Layout> {
    [vec![svo::Node::LAYOUT, svo::TakeLeavesParams::LAYOUT], fracture::layouts()].concat()
}

#[test]
fn every_shared_struct_has_one_layout() {
    assert_layouts(FOLDERS, &own(), &others());
}

#[test]
fn errors_planted_in_layouts_are_found() {
    let (known, path) = ([own(), others()].concat(), "fracture/voronoi/octrees/prune_write");
    let found = |from: &str, to: &str| {
        let text = shaders::source(path);
        assert!(text.contains(from), "{from}");
        layout_tests::difference(&text.replacen(from, to, 1), &known)
    };
    assert_eq!(found("last: u32, node_base", "last: u32, node_base"), None);
    for (from, to) in [
        ("node_base: u32, child_base: u32", "child_base: u32, node_base: u32"),
        (", child_base: u32", ""),
        ("moved: u32 }", "moved: u32, more: u32 }"),
        ("last: u32, node_base", "last: vec2<u32>, node_base"),
        ("struct PruneWriteParams", "alias PruneWriteParams = Other; struct Other"),
        ("list_first: u32,\n    list_count: u32,", "list_count: u32,\n    list_first: u32,"),
    ] {
        assert!(found(from, to).is_some(), "`{to}` for `{from}` goes unnoticed");
    }
}

#[test]
fn every_kernel_is_dispatched_with_its_variables() {
    if Gpu::for_test().is_none() {
        return;
    }
    fracture::run_every_kernel();
    assert_dispatched(FOLDERS);
}

#[test]
fn every_kernel_has_the_workgroup_that_dispatches_count_on() {
    let cells = [fracture::box_cut::CELL_THREADS, 1, 1];
    assert_workgroups(FOLDERS, |path| (path == "fracture/box_cut/pass/cells").then_some(cells));
}
