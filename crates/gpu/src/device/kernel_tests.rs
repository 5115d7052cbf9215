//! What Rust and this crate's shaders say of each other.

use crate::bind;

use super::{
    Buffer, Gpu, GpuError, IndirectCount, Kernel, Named, Recorder,
    kernel_checks::{assert_dispatched, assert_layouts, assert_workgroups, layouts, odd_workgroup},
    primitives::{Plan, RadixSort, Scan, ScanParams},
    shaders,
};

const FOLDERS: &[&str] = &["gpu/", "shared/"];

#[test]
fn every_shared_struct_has_one_layout() {
    assert_layouts(FOLDERS, &layouts(), &[]);
}

#[test]
fn every_kernel_is_dispatched_with_its_variables() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut rec = Recorder::new(&gpu, "test");
    let items = Buffer::from_slice(&gpu, "items", &[[1, 1]; 3000]).unwrap();
    let (scan, count) = (Scan::new(&gpu), IndirectCount::known(&gpu, 2999));
    scan.run(&mut rec, &items, &count).unwrap();
    let spare = Buffer::zeroed(&gpu, "spare", 3000).unwrap();
    RadixSort::new(&gpu).run(&mut rec, &scan, [&items, &spare], (&count, 2999), 30).unwrap();
    let (next, report) =
        (IndirectCount::unknown(&gpu), Buffer::<[u32; 2]>::zeroed(&gpu, "report", 1).unwrap());
    Plan::new(&gpu).run(&mut rec, (&items, &count), (&next, [4000; 2]), (&report, 0)).unwrap();
    assert_dispatched(FOLDERS);
}

#[test]
fn what_is_bound_must_be_what_the_shader_declares() {
    let Some(gpu) = Gpu::for_test() else { return };
    let path = "gpu/primitives/scan_apply";
    let (items, sums) = (
        Buffer::<[u32; 2]>::zeroed(&gpu, "items", 4).unwrap(),
        Buffer::<[u32; 2]>::zeroed(&gpu, "sums", 4).unwrap(),
    );
    let triples = Buffer::<[u32; 3]>::zeroed(&gpu, "sums", 4).unwrap();
    let params = ScanParams { depth: 0, second_only: 0 };
    let size = IndirectCount::known(&gpu, 3);
    let run = |source: String, given: &[Named<'_>]| {
        Recorder::new(&gpu, "test").run(&Kernel::from_text(&gpu, path, source), 4, &params, given)
    };
    let text = || shaders::source(path);
    assert!(run(text(), bind![size, items, sums]).is_ok());
    assert!(run(text(), bind![size, sums, items]).is_ok(), "the order does not matter");
    let renamed = || text().replace("ScanParams", "OtherParams");
    for (source, given, said) in [
        (text(), bind![size, items], "nothing is bound to `sums`"),
        (text(), bind![size, items, sums, more: sums], "no variable `more`"),
        (text(), bind![size, items, sums, sums: items], "`sums` is bound twice"),
        (text(), bind![size, items, sums: triples], "elements of 8 bytes, not 12"),
        (renamed(), bind![size, items, sums], "`params` is a OtherParams, not a ScanParams"),
    ] {
        let refused = run(source, given).unwrap_err();
        assert!(matches!(refused, GpuError::Binding { .. }), "{refused}");
        assert!(refused.to_string().contains(said), "{refused}");
    }
}

const ADD: &str = "struct ScanParams { depth: u32, second_only: u32 }
@group(0) @binding(0) var<uniform> params: ScanParams;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { out[0] += params.depth; }
";

#[test]
fn what_is_prepared_once_runs_as_often_as_it_is_recorded() {
    let Some(gpu) = Gpu::for_test() else { return };
    let kernel = Kernel::from_text(&gpu, "adds", ADD.to_owned());
    let out = Buffer::<u32>::zeroed(&gpu, "sum", 1).unwrap();
    let mut rec = Recorder::with_room(&gpu, "test", 0);
    rec.stage("adds");
    let adds = |depth| rec.prepare(&kernel, 1, &ScanParams { depth, second_only: 0 }, bind![out]).unwrap();
    let [three, forty] = [adds(3), adds(40)];
    let _ = gpu.take_traffic();
    for _ in 0..4 {
        rec.repeat(&three);
        rec.repeat(&forty);
    }
    rec.submit();
    assert_eq!(out.read(&gpu).unwrap(), [4 * 43]);
    let dispatches: u64 = gpu.take_traffic().iter().map(|(_, traffic)| traffic.dispatches).sum();
    assert_eq!(dispatches, 8);
    let refused =
        Recorder::new(&gpu, "test").prepare(&kernel, 1, &ScanParams { depth: 1, second_only: 0 }, &[]);
    assert!(matches!(refused, Err(GpuError::Binding { .. })), "nothing is bound to `out`");
}

#[test]
fn every_kernel_has_the_workgroup_that_dispatches_count_on() {
    assert_workgroups(FOLDERS, |_| None);
    let planted =
        shaders::source("shared/thread").replace("@workgroup_size(WORKGROUP)", "@workgroup_size(128)");
    let kernel = planted + "fn thread(i: u32) {}";
    assert!(odd_workgroup("shared/thread", &kernel, [super::WORKGROUP, 1, 1]).is_some());
    let written: Vec<_> =
        shaders::ALL.iter().filter(|(_, text)| text.contains("@workgroup_size(2")).collect();
    assert!(written.is_empty(), "the number is written in one place");
}
