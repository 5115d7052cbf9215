//! What Rust and the shaders say of each other: layouts of structs, names of variables, workgroup sizes. Nothing is
//! left out, since the tests begin with the shaders: a struct, a kernel or a variable that Rust does not know is an
//! error.

use crate::{
    bodies, fracture,
    gpu::{
        Buffer, Count, Gpu, GpuError, Kernel, Layout, Recorder, Shared, WORKGROUP, bind,
        count::Counted,
        layout_tests,
        primitives::{PlanParams, RadixParams, RadixSort, Scan, ScanParams},
        shaders,
    },
    render, svo,
};

fn layouts() -> Vec<Layout> {
    let own = vec![
        Counted::LAYOUT,
        PlanParams::LAYOUT,
        RadixParams::LAYOUT,
        ScanParams::LAYOUT,
        svo::Node::LAYOUT,
        svo::TakeLeavesParams::LAYOUT,
    ];
    [own, fracture::layouts(), bodies::layouts(), render::layouts()].concat()
}

#[test]
fn every_shared_struct_has_one_layout() {
    let known = layouts();
    let found: Vec<_> = shaders::entries()
        .filter_map(|path| Some((path, layout_tests::difference(&shaders::source(path), &known)?)))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    let text: String = shaders::ALL.iter().map(|(_, text)| *text).collect();
    let unused: Vec<_> = known.iter().filter(|l| !text.contains(&format!("struct {} {{", l.name))).collect();
    assert!(unused.is_empty(), "no shader has {unused:#?}");
}

#[test]
fn errors_planted_in_layouts_are_found() {
    let (known, path) = (layouts(), "fracture/voronoi/octrees/prune_write");
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
    let Some(gpu) = Gpu::for_test() else { return };
    let mut rec = Recorder::new(&gpu, "test");
    let items = Buffer::from_slice(&gpu, "items", &[[1, 1]; 3000]).unwrap();
    let (scan, count) = (Scan::new(&gpu), Count::known(&gpu, 2999));
    scan.run(&mut rec, &items, &count).unwrap();
    let spare = Buffer::zeroed(&gpu, "spare", 3000).unwrap();
    RadixSort::new(&gpu).run(&mut rec, &scan, [&items, &spare], (&count, 2999), 30).unwrap();
    fracture::run_every_kernel();
    bodies::run_every_kernel();
    render::run_every_kernel();
    let bound = layout_tests::bound();
    let missing: Vec<_> =
        shaders::entries().filter(|path| shaders::is_kernel(path) && !bound.contains(path)).collect();
    assert!(missing.is_empty(), "{missing:?} were not dispatched");
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
    let size = Count::known(&gpu, 3);
    let run = |source: String, given: &[crate::gpu::Named<'_>]| {
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

/// Workgroup size of every kernel that is not 8 x 8 pixels of a picture.
fn odd_workgroup(path: &str, source: &str) -> Option<String> {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)));
    let size = module.entry_points[0].workgroup_size;
    let wanted = match path {
        _ if path.starts_with("render/") => [8, 8, 1],
        "fracture/box_cut/pass/cells" => [fracture::box_cut::CELL_THREADS, 1, 1],
        _ => [WORKGROUP, 1, 1],
    };
    (size != wanted).then(|| format!("{path}: {size:?}"))
}

#[test]
fn every_kernel_has_the_workgroup_that_dispatches_count_on() {
    let kernels = || shaders::entries().filter(|path| shaders::is_kernel(path));
    let odd: Vec<_> = kernels().filter_map(|path| odd_workgroup(path, &shaders::source(path))).collect();
    assert!(odd.is_empty(), "{odd:?}");
    let planted =
        shaders::source("shared/thread").replace("@workgroup_size(WORKGROUP)", "@workgroup_size(128)");
    assert!(odd_workgroup("shared/thread", &(planted + "fn thread(i: u32) {}")).is_some());
    let written: Vec<_> =
        shaders::ALL.iter().filter(|(_, text)| text.contains("@workgroup_size(2")).collect();
    assert!(written.is_empty(), "the number is written in one place");
}
