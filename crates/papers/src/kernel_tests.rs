//! What Rust and this crate's shaders say of each other.

use crate::{
    bodies::octrees::Surfel,
    gpu::{
        Gpu, Layout, Shared,
        kernel_checks::{assert_dispatched, assert_layouts, assert_workgroups, layouts},
    },
    overlap, svo,
};

const FOLDERS: &[&str] = &["papers/"];

fn others() -> Vec<Layout> {
    [layouts(), vec![svo::Node::LAYOUT, Surfel::LAYOUT]].concat()
}

#[test]
fn every_shared_struct_has_one_layout() {
    assert_layouts(FOLDERS, &overlap::layouts(), &others());
}

#[test]
fn every_kernel_is_dispatched_with_its_variables() {
    if Gpu::for_test().is_none() {
        return;
    }
    overlap::run_every_kernel();
    assert_dispatched(FOLDERS);
}

#[test]
fn every_kernel_has_the_workgroup_that_dispatches_count_on() {
    assert_workgroups(FOLDERS, |_| None);
}
