//! What Rust and this crate's shaders say of each other.

use crate::{
    gpu::{
        Gpu, Layout, Shared,
        kernel_checks::{assert_dispatched, assert_layouts, assert_workgroups, layouts},
    },
    svo,
};

const FOLDERS: &[&str] = &["bodies/"];

fn others() -> Vec<Layout> {
    [layouts(), vec![svo::Node::LAYOUT]].concat()
}

#[test]
fn every_shared_struct_has_one_layout() {
    assert_layouts(FOLDERS, &crate::layouts(), &others());
}

#[test]
fn every_kernel_is_dispatched_with_its_variables() {
    if Gpu::for_test().is_none() {
        return;
    }
    crate::run_every_kernel();
    assert_dispatched(FOLDERS);
}

#[test]
fn every_kernel_has_the_workgroup_that_dispatches_count_on() {
    assert_workgroups(FOLDERS, |_| None);
}
