//! What is exported of a broken scene, read back.

use std::collections::BTreeMap;

use super::*;
use crate::{
    fracture::{FractureParams, SmallRule, Smallest},
    gpu::Gpu,
    scene::{Arrived, Scene, SceneBody},
};
use glam::{DMat4, DQuat, DVec3, Mat4, Vec3};

pub(super) fn settle(sandbox: &mut Sandbox) -> Arrived {
    loop {
        if let Some(arrived) = sandbox.poll().unwrap() {
            return arrived;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// A box of 0.5 m at 30 degrees that breaks as `tuned` says.
pub(super) fn whole(tuned: impl FnOnce(&mut FractureParams)) -> Option<Sandbox> {
    let gpu = Gpu::for_test()?;
    let mut scene = Scene::of_mesh("builtin:box", 4);
    scene.bodies[0].size = Some(0.5);
    scene.bodies[0].rotation = DQuat::from_rotation_y(0.5);
    scene.bodies[0].on_floor = false;
    scene.bodies[0].position = DVec3::new(1.0, 2.0, 3.0);
    tuned(&mut scene.bodies[0].fracture);
    let mut sandbox = Sandbox::new(&gpu).unwrap();
    sandbox.open_scene(scene);
    assert_eq!(settle(&mut sandbox), Arrived::Opened);
    Some(sandbox)
}

/// Breaks the heaviest body in its middle.
pub(super) fn break_largest(sandbox: &mut Sandbox) {
    let largest = sandbox.bodies().iter().max_by(|a, b| a.def.mass_kg().total_cmp(&b.def.mass_kg()));
    let (id, point) = largest.map(|body| (body.id, body.state.position)).unwrap();
    sandbox.break_at(id, point, DVec3::NEG_Y);
    assert_eq!(settle(sandbox), Arrived::Broke);
}

/// The box, broken, one of its pieces once more, which then fell for a moment.
fn broken_twice() -> Option<Sandbox> {
    let mut sandbox = whole(|_| ())?;
    break_largest(&mut sandbox);
    break_largest(&mut sandbox);
    for _ in 0..5 {
        sandbox.step().unwrap();
    }
    Some(sandbox)
}

pub(super) fn order(lying: Lying, formats: &[Format]) -> ExportOrder {
    ExportOrder { formats: formats.iter().copied().collect(), lying, ..ExportOrder::default() }
}

pub(super) fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("kintsugi-export-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

pub(super) fn read_report(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap()
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    all.sort();
    all
}

/// Bounds of each node's mesh in the space of the file, by name.
fn glb_bounds(path: &Path) -> BTreeMap<String, (DVec3, DVec3)> {
    let (document, buffers, _) = gltf::import(path).unwrap();
    let scene = document.default_scene().unwrap();
    // What broke again is a node without a mesh, over its parts.
    let mut nodes = Vec::new();
    let mut open: Vec<_> = scene.nodes().map(|node| (node, DMat4::IDENTITY)).collect();
    while let Some((node, above)) = open.pop() {
        let matrix = above * Mat4::from_cols_array_2d(&node.transform().matrix()).as_dmat4();
        open.extend(node.children().map(|child| (child, matrix)));
        nodes.extend(node.mesh().map(|mesh| (node.name().unwrap().to_owned(), mesh, matrix)));
    }
    let bounds = |(name, mesh, matrix): (String, gltf::Mesh<'_>, DMat4)| {
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let bounds = mesh.primitives().fold(nowhere, |bounds, primitive| {
            let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(|data| &data.0[..]));
            reader.read_positions().unwrap().fold(bounds, |(low, high), p| {
                let p = matrix.transform_point3(Vec3::from_array(p).as_dvec3());
                (low.min(p), high.max(p))
            })
        });
        (name, bounds)
    };
    nodes.into_iter().map(bounds).collect()
}

#[test]
fn pieces_lie_in_the_file_where_they_lie_in_the_world() {
    let Some(sandbox) = broken_twice() else { return };
    let plan = ExportPlan::new(
        &sandbox,
        &order(Lying::AsTheyLie, &[Format::Glb, Format::Npz]),
        Camera::default(),
        crate::compute::RanOn::default(),
    );
    let folder = folder("lying");
    let exported = plan.run(&folder, &Progress::default()).unwrap();
    assert_eq!(exported.count, sandbox.bodies().len());
    assert_eq!(names(&folder), ["pieces.glb", "report.json", "scene.toml"], "arrays cannot be turned");
    let report = read_report(&folder);
    let pieces = report["pieces"].as_array().unwrap();
    let found = glb_bounds(&folder.join("pieces.glb"));
    assert_eq!((found.len(), pieces.len()), (sandbox.bodies().len(), sandbox.bodies().len()));
    let close = |a: DVec3, b: DVec3| a.distance(b) < 1e-9;
    let voxel = sandbox.objects()[0].voxel_m;
    for piece in pieces {
        let centre: DVec3 = serde_json::from_value(piece["centre"].clone()).unwrap();
        let body = sandbox.bodies().iter().find(|b| close(b.state.position, centre)).unwrap();
        assert!((piece["mass"].as_f64().unwrap() / body.def.mass_kg() - 1.0).abs() < 1e-9);
        // Every corner of a mesh is within a voxel of the body's own surface.
        let (low, high) = found[&format!("piece_{:03}", piece["id"].as_u64().unwrap())];
        let points = body.def.shape.surface_points(usize::MAX).into_iter();
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let own = points.fold(nowhere, |(low, high), p| {
            let p = body.def.shape.to_world(body.state.position, body.state.rotation, p.as_dvec3());
            (low.min(p), high.max(p))
        });
        let apart = (low - own.0).abs().max((high - own.1).abs()).max_element();
        assert!(apart < 2.5 * voxel, "{apart} m apart, a voxel is {voxel} m");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn pieces_fit_together_in_the_objects_own_units_in_every_format() {
    let Some(sandbox) = broken_twice() else { return };
    let plan = ExportPlan::new(
        &sandbox,
        &order(Lying::AsTheyFittedTogether, &Format::ALL),
        Camera::default(),
        crate::compute::RanOn::default(),
    );
    let folder = folder("fitted");
    let exported = plan.run(&folder, &Progress::default()).unwrap();
    assert_eq!(exported.failed_checks, Vec::<String>::new());
    assert_eq!(
        names(&folder),
        [
            "pieces.glb",
            "pieces.mtl",
            "pieces.obj",
            "pieces.usda",
            "pieces.usdc",
            "pieces.usdz",
            "pieces.vdb",
            "pieces.vox",
            "pieces_fog.vdb",
            "ply",
            "report.json",
            "scene.toml",
            "voxels.npz"
        ]
    );
    let count = sandbox.bodies().len();
    assert_eq!(names(&folder.join("ply")).len(), count);
    let mesh = &sandbox.objects()[0].mesh;
    let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let bounds = |points: &mut dyn Iterator<Item = DVec3>| {
        points.fold(nowhere, |(low, high), p| (low.min(p), high.max(p)))
    };
    let whole = bounds(&mut mesh.positions.iter().map(|p| DVec3::from_array(p.map(f64::from))));
    let found = glb_bounds(&folder.join("pieces.glb"));
    let pieces = bounds(&mut found.values().flat_map(|(low, high)| [*low, *high]));
    // Of a crumb of one voxel nothing but the voxel is known; and the file has 32 bits.
    let slack = 1.001 * (whole.1 - whole.0).max_element() / 14.0;
    assert!((pieces.0 - whole.0).abs().max_element() < slack, "{pieces:?} {whole:?}");
    assert!((pieces.1 - whole.1).abs().max_element() < slack, "{pieces:?} {whole:?}");

    let report = read_report(&folder);
    let all = report["pieces"].as_array().unwrap();
    let volumes: f64 = all.iter().map(|piece| piece["volume"].as_f64().unwrap()).sum();
    let source = report["objects"][0]["source_volume"].as_f64().unwrap();
    assert!((volumes / source - 1.0).abs() < 1e-6, "{volumes} of {source}");
    assert_eq!(report["breaks"].as_array().unwrap().len(), 2);
    assert_eq!((&report["breaks"][0]["piece"], &report["breaks"][1]["piece"]), (&().into(), &count.into()));
    assert_eq!(report["broken_again"][0]["id"], count);
    let again = all.iter().filter(|piece| piece["parent"] == count);
    let parts: f64 = again.clone().map(|piece| piece["volume"].as_f64().unwrap()).sum();
    let parent = report["broken_again"][0]["volume"].as_f64().unwrap();
    assert!(again.count() > 1 && (parts / parent - 1.0).abs() < 1e-6, "{parts} of {parent}");
    assert!(all.iter().all(|piece| (piece["generation"] == 2) == (piece["parent"] == count)));
    let seeds = report["breaks"][0]["parameters"]["seeds"].as_u64().unwrap();
    assert!(all.iter().all(|p| (p["cell"].as_u64().unwrap() >= seeds) == (p["generation"] == 2)));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn originals_are_whole_objects_too_and_lack_what_was_dropped() {
    let drop = Smallest { fraction: 0.02, rule: SmallRule::Drop, ..Smallest::default() };
    let Some(mut sandbox) = whole(|params| params.smallest = Some(drop)) else { return };
    let exported = |sandbox: &Sandbox, name: &str| {
        let order = order(Lying::AsTheyFittedTogether, &[Format::Glb]);
        let plan = ExportPlan::new(sandbox, &order, Camera::default(), crate::compute::RanOn::default());
        let folder = folder(name);
        plan.run(&folder, &Progress::default()).unwrap();
        let report = read_report(&folder);
        std::fs::remove_dir_all(folder).unwrap();
        let volumes =
            report["pieces"].as_array().unwrap().iter().map(|p| p["mesh"]["volume"].as_f64().unwrap());
        assert_eq!(report["meshes"]["kind"], "original");
        assert_eq!(report["meshes"]["without_original"], 0);
        (report["meshes"]["triangles"].as_u64().unwrap(), volumes.sum::<f64>())
    };
    let (triangles, before) = exported(&sandbox, "whole");
    assert_eq!(triangles as usize, sandbox.objects()[0].mesh.triangles.len());
    break_largest(&mut sandbox);
    let record = sandbox.breaks().get(0).unwrap();
    let dropped = record.dropped / record.whole.volume;
    assert!(record.dropped_parts.len() > 3 && dropped > 0.01, "{dropped}");
    let (_, left) = exported(&sandbox, "dropped");
    // A dropped part's voxels and its mesh differ by some of the voxels that it shares with others.
    assert!(((1.0 - left / before) / dropped - 1.0).abs() < 0.2, "{} of {dropped}", 1.0 - left / before);
}

#[test]
fn what_is_cancelled_leaves_nothing() {
    let Some(sandbox) = broken_twice() else { return };
    let order = order(Lying::AsTheyFittedTogether, &Format::ALL);
    let folder = folder("cancelled");
    let plan = ExportPlan::new(&sandbox, &order, Camera::default(), crate::compute::RanOn::default());
    let progress = Progress::default();
    progress.cancel();
    let error = plan.run(&folder.join("pieces"), &progress).unwrap_err();
    assert!(matches!(error, ExportError::Cancelled), "{error}");
    assert!(!folder.exists(), "even the folder above it is gone");
    let plan = ExportPlan::new(&sandbox, &order, Camera::default(), crate::compute::RanOn::default());
    let (label, target) = (format!("Exporting {} pieces", plan.pieces()), folder.clone());
    let job = ExportJob::start(label, move |progress| plan.run(&target, progress));
    let exported = loop {
        if let Some(result) = job.poll() {
            break result.unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert_eq!((exported.folder, job.progress.get()), (folder.clone(), 1.0));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn formats_say_why_they_cannot_be_had() {
    let Some(mut sandbox) = broken_twice() else { return };
    let mut order = order(Lying::AsTheyLie, &Format::ALL);
    assert!(order.why_not(&sandbox, Format::Vox).is_some_and(|why| why.contains("turned")));
    let wanted = [Format::Glb, Format::Obj, Format::Ply, Format::Usda, Format::Usdc, Format::Usdz];
    assert_eq!(order.possible(&sandbox), wanted);
    order.lying = Lying::AsTheyFittedTogether;
    assert_eq!(order.possible(&sandbox), Format::ALL);
    sandbox.throw(DVec3::new(0.0, 1.0, 8.0), DVec3::NEG_Z);
    assert_eq!(settle(&mut sandbox), Arrived::Thrown);
    assert!(order.why_not(&sandbox, Format::Vox).is_some_and(|why| why.contains("one object")));
    order.object = Some(0);
    assert_eq!(order.possible(&sandbox), Format::ALL);
    order.object = Some(1);
    assert!(order.why_not(&sandbox, Format::Npz).is_some_and(|why| why.contains("broken")));
    order.object = None;
    while sandbox.undo().is_some() {}
    assert_eq!(sandbox.bodies().len(), 1);
    assert!(order.why_not(&sandbox, Format::Npz).is_some_and(|why| why.contains("broken")));
    assert_eq!(order.why_not(&sandbox, Format::Vox), None);
}

#[test]
fn what_was_undone_is_not_told() {
    // Undone and broken again by other breaks, the log must follow the bodies that are there.
    let Some(mut sandbox) = broken_twice() else { return };
    sandbox.undo();
    let order = order(Lying::AsTheyFittedTogether, &[Format::Npz]);
    let folder = folder("undone");
    ExportPlan::new(&sandbox, &order, Camera::default(), crate::compute::RanOn::default())
        .run(&folder, &Progress::default())
        .unwrap();
    let report = read_report(&folder);
    assert_eq!(report["breaks"].as_array().unwrap().len(), 1);
    assert_eq!(report["broken_again"].as_array().unwrap().len(), 0);
    assert!(
        report["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true),
        "{}",
        report["checks"]
    );
    std::fs::remove_dir_all(folder).unwrap();
}

/// Everything that a folder holds but the report, by name.
fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let there = names(folder).into_iter().filter(|name| name.contains("pieces.") || name.contains("voxels"));
    there.map(|name| (name.clone(), std::fs::read(folder.join(name)).unwrap())).collect()
}

/// Exports `sandbox` into `name`, opens the scene that went along, exports that too; both folders.
fn exported_and_repeated(sandbox: &Sandbox, order: &ExportOrder, name: &str) -> [PathBuf; 2] {
    let [first, again] = [folder(name), folder(&format!("{name}-again"))];
    let plan = |sandbox: &Sandbox| {
        ExportPlan::new(sandbox, order, Camera::default(), crate::compute::RanOn::default())
    };
    plan(sandbox).run(&first, &Progress::default()).unwrap();
    let mut other = Sandbox::new(sandbox.compute().clone()).unwrap();
    other.open_scene(crate::scene::load_scene(&first.join(SCENE_FILE)).unwrap());
    assert_eq!(settle(&mut other), Arrived::Opened);
    while other.is_breaking() {
        other.poll().unwrap();
    }
    assert_eq!(other.time(), 0.0);
    plan(&other).run(&again, &Progress::default()).unwrap();
    [first, again]
}

#[test]
fn the_scene_beside_the_pieces_gives_the_same_bytes() {
    let Some(mut sandbox) = broken_twice() else { return };
    // A body that the user threw is one of the scene's when that opens again.
    sandbox.throw(DVec3::new(1.0, 3.0, 6.0), DVec3::NEG_Z);
    while settle(&mut sandbox) != Arrived::Thrown {}
    for _ in 0..3 {
        sandbox.step().unwrap();
    }
    for (name, order) in [
        ("repeat-lying", order(Lying::AsTheyLie, &[Format::Glb, Format::Ply])),
        (
            "repeat-fitted",
            ExportOrder { object: Some(0), ..order(Lying::AsTheyFittedTogether, &Format::ALL) },
        ),
        ("repeat-thrown", ExportOrder { object: Some(1), ..order(Lying::AsTheyLie, &[Format::Obj]) }),
    ] {
        let folders = exported_and_repeated(&sandbox, &order, name);
        let [first, again] = folders.each_ref().map(|folder| files_of(folder));
        assert!(!first.is_empty() && first.keys().eq(again.keys()), "{:?}", first.keys());
        for (file, bytes) in &first {
            assert!(bytes == &again[file], "{name}: {file} differs");
        }
        folders.iter().for_each(|folder| std::fs::remove_dir_all(folder).unwrap());
    }
}

#[test]
fn a_break_that_is_not_there_is_an_error_and_nothing_hangs() {
    let Some(sandbox) = broken_twice() else { return };
    let mut scene = sandbox.as_it_stands(Camera::default());
    assert_eq!((scene.breaks.len(), scene.poses.len()), (2, sandbox.bodies().len()));
    scene.breaks[1].part = 9999;
    let mut other = Sandbox::new(sandbox.compute().clone()).unwrap();
    other.open_scene(scene);
    assert_eq!(settle(&mut other), Arrived::Opened);
    let error = loop {
        match other.poll() {
            Err(error) => break error.to_string(),
            Ok(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    };
    assert!(error.contains("part 9999 of break 0"), "{error}");
    assert!(!other.is_busy() && other.bodies().len() > 1);
}

#[test]
fn a_command_is_quoted_for_the_shell() {
    assert_eq!(quoted("/a/b-c_1.toml"), "/a/b-c_1.toml");
    assert_eq!(quoted("/it's here"), r"'/it'\''s here'");
    assert_eq!(quoted(""), "''");
}

#[test]
fn of_a_selection_just_its_pieces_are_written_and_its_scene_makes_the_same_again() {
    let Some(mut sandbox) = broken_twice() else { return };
    let chosen: Vec<_> = sandbox.bodies().iter().map(|body| body.id).skip(2).step_by(3).collect();
    sandbox.select(chosen.iter().copied());
    let order = ExportOrder {
        only_selected: true,
        ..order(Lying::AsTheyFittedTogether, &[Format::Glb, Format::Obj])
    };
    let plan = || ExportPlan::new(&sandbox, &order, Camera::default(), crate::compute::RanOn::default());
    let own = folder("selection");
    let exported = plan().run(&own, &Progress::default()).unwrap();
    assert_eq!((exported.count, exported.failed_checks), (chosen.len(), vec![]));
    let report = read_report(&own);
    let mut masses: Vec<f64> =
        report["pieces"].as_array().unwrap().iter().map(|piece| piece["mass"].as_f64().unwrap()).collect();
    let mut wanted: Vec<f64> = sandbox.selected().map(|body| body.def.mass_kg()).collect();
    masses.sort_by(f64::total_cmp);
    wanted.sort_by(f64::total_cmp);
    assert!(masses.len() == wanted.len());
    assert!(masses.iter().zip(&wanted).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{masses:?} {wanted:?}");
    let found = glb_bounds(&own.join("pieces.glb"));
    assert_eq!(found.len(), chosen.len());
    // The same pieces as meshes as in an export of everything.
    let everything = ExportOrder { only_selected: false, ..order.clone() };
    let all = folder("selection-all");
    ExportPlan::new(&sandbox, &everything, Camera::default(), crate::compute::RanOn::default())
        .run(&all, &Progress::default())
        .unwrap();
    let everything: Vec<_> = glb_bounds(&all.join("pieces.glb")).into_values().collect();
    assert!(everything.len() > found.len());
    for bounds in found.values() {
        assert!(everything.contains(bounds), "{bounds:?} is a piece of the whole export");
    }
    // The scene that it took along has nothing else in it.
    let scene = crate::scene::load_scene(&own.join(SCENE_FILE)).unwrap();
    let mut again = Sandbox::new(sandbox.compute().clone()).unwrap();
    again.open_scene(scene);
    assert_eq!(settle(&mut again), Arrived::Opened);
    while again.is_breaking() {
        again.poll().unwrap();
    }
    assert_eq!(again.bodies().len(), chosen.len());
    std::fs::remove_dir_all(own).unwrap();
    std::fs::remove_dir_all(all).unwrap();
}

#[test]
fn merged_and_deleted_pieces_are_exported_as_they_are() {
    let Some(mut sandbox) = whole(|fracture| fracture.seeds = 12) else { return };
    break_largest(&mut sandbox);
    // Volume of the imported mesh's part that is each body, in their order; pieces are told apart by mass.
    let written = |sandbox: &Sandbox, name: &str| -> Vec<f64> {
        let order = order(Lying::AsTheyFittedTogether, &[Format::Glb, Format::Npz]);
        let plan = ExportPlan::new(sandbox, &order, Camera::default(), crate::compute::RanOn::default());
        let folder = folder(name);
        let exported = plan.run(&folder, &Progress::default()).unwrap();
        assert_eq!(exported.failed_checks, [""; 0]);
        let report = read_report(&folder);
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!(report["meshes"]["kind"], "original");
        assert_eq!(report["meshes"]["without_original"], 0);
        let pieces = report["pieces"].as_array().unwrap();
        assert_eq!(pieces.len(), sandbox.bodies().len());
        let of = |body: &Body| {
            let is_it = |piece: &&serde_json::Value| {
                (piece["mass"].as_f64().unwrap() / body.def.mass_kg() - 1.0).abs() < 1e-9
            };
            let own: Vec<_> = pieces.iter().filter(is_it).collect();
            assert_eq!(own.len(), 1);
            own[0]["mesh"]["volume"].as_f64().unwrap()
        };
        sandbox.bodies().iter().map(of).collect()
    };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
    let place = |sandbox: &Sandbox, id| sandbox.bodies().iter().position(|body| body.id == id).unwrap();
    let apart = written(&sandbox, "apart");
    let whole: f64 = apart.iter().sum();

    let largest = sandbox.bodies()[0].id;
    let others: Vec<_> = sandbox.bodies().iter().skip(1).map(|body| body.id).collect();
    let merged = others.iter().zip(1..).find_map(|(other, place)| {
        sandbox.select([largest, *other]);
        sandbox.merge_selected().is_ok().then_some(place)
    });
    let both = apart[0] + apart[merged.unwrap()];
    let one = sandbox.selected().next().unwrap().id;
    let volumes = written(&sandbox, "merged");
    assert_eq!(volumes.len(), apart.len() - 1);
    let own = volumes[place(&sandbox, one)];
    assert!(near(own, both) && near(volumes.iter().sum(), whole), "{volumes:?} of {apart:?}");

    let gone = volumes.len() - 1;
    sandbox.select([sandbox.bodies()[gone].id]);
    sandbox.edit(crate::scene::PieceEdit::Delete).unwrap();
    let left = written(&sandbox, "deleted");
    assert!(near(left.iter().sum(), whole - volumes[gone]), "{left:?} of {volumes:?}");
}

#[test]
fn a_body_that_holds_leaves_as_its_parts_with_their_bonds() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut scene = Scene::of_mesh("builtin:box", 5);
    scene.bodies[0].hold = true;
    scene.bodies[0].rotation = DQuat::from_rotation_y(0.5);
    // A larger body, so that pieces, which are sorted by size, have other numbers than parts.
    let ball = SceneBody { position: DVec3::new(4.0, 0.0, 0.0), ..SceneBody::standing("builtin:sphere", 6) };
    scene.bodies.push(ball);
    let mut sandbox = Sandbox::new(&gpu).unwrap();
    sandbox.open_scene(scene);
    settle(&mut sandbox);
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = sandbox.bodies()[0].id;
    let structure = |sandbox: &Sandbox| Arc::clone(sandbox.structure_of(id).unwrap());
    let (parts, bond) = (structure(&sandbox).parts.len(), structure(&sandbox).bonds[3]);
    let mut tuning = sandbox.tuning().clone();
    tuning.strength.bonds =
        vec![crate::scene::BondStrength { parts: bond.section.parts, share: 0.25 * bond.share }];
    sandbox.tune("bonds", tuning);
    assert!(parts > 5 && sandbox.bodies().len() == 2);
    let mut order = order(Lying::AsTheyLie, &[Format::Glb, Format::Usda]);
    order.handover.bonds = true;
    let plan = ExportPlan::new(&sandbox, &order, Camera::default(), RanOn::default());
    assert_eq!((plan.pieces(), plan.connected.len()), (parts + 1, parts));
    let numbers = bond.section.parts.map(|part| {
        let held = structure(&sandbox);
        let own = held.parts.iter().find(|own| own.number == part).unwrap();
        plan.what.pieces.iter().position(|piece| Arc::ptr_eq(&piece.shape, &own.shape)).unwrap()
    });
    let share = plan.what.held[&[numbers[0].min(numbers[1]), numbers[0].max(numbers[1])]].share;
    assert!((share / bond.share - 0.25).abs() < 1e-9, "{share} of {}", bond.share);
    let folder = folder("held");
    let exported = plan.run(&folder, &Progress::default()).unwrap();
    assert_eq!((exported.count, exported.failed_checks), (parts + 1, Vec::new()));
    let bounds = glb_bounds(&folder.join("pieces.glb"));
    let (low, high) = sandbox.bounds(None).map(|(low, high)| (low.as_dvec3(), high.as_dvec3())).unwrap();
    let all =
        bounds.values().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    assert!(
        bounds.len() == parts + 1 && all.0.distance(low) < 0.02 && all.1.distance(high) < 0.02,
        "{all:?}"
    );
    let joints = std::fs::read_to_string(folder.join("bonds.usda")).unwrap();
    let (found, held) = (joints.matches("PhysicsFixedJoint").count(), structure(&sandbox).bonds.len());
    let table = std::fs::read_to_string(folder.join("bonds.csv")).unwrap();
    let areas = table.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse::<f64>().unwrap());
    let share = areas.sum::<f64>() / structure(&sandbox).bonds.iter().map(|b| b.section.area).sum::<f64>();
    assert_eq!(found, held, "cracks far smaller than a voxel too");
    assert!((0.97..1.05).contains(&share), "{share}");
    let report = read_report(&folder);
    assert_eq!(report["meshes"]["open_edges"], 0, "{}", report["meshes"]);
    std::fs::remove_dir_all(&folder).unwrap();
    // Lumps leave with the pieces, and bonds with the strength of their level.
    let what = |sandbox: &Sandbox| ExportPlan::new(sandbox, &order, Camera::default(), RanOn::default()).what;
    assert!(what(&sandbox).lumps.is_empty());
    let (mut tuning, factors) = (sandbox.tuning().clone(), [0.5, 2.0, 8.0]);
    (tuning.strength.bonds, tuning.strength.lumps) = (Vec::new(), vec![3, 9]);
    tuning.strength.lump_strength = factors.to_vec();
    sandbox.tune("lumps", tuning);
    let what = what(&sandbox);
    assert_eq!((what.lumps.len(), what.lumps.values().all(|own| own.len() == 2)), (parts, true));
    for (pieces, held) in &what.held {
        let [a, b] = pieces.map(|piece| &what.lumps[&piece]);
        let level = if a[0] != b[0] { 0 } else { 1 + usize::from(a[1] == b[1]) };
        assert!((held.share / factors[level] - 1.0).abs() < 1e-9, "{} {a:?} {b:?}", held.share);
        assert!(a[1] != b[1] || a[0] == b[0], "a lump lies in one lump: {a:?} {b:?}");
    }
}

#[test]
fn smooth_pieces_show_what_the_object_shows() {
    let Some(gpu) = Gpu::for_test() else { return };
    let folder = folder("dressed");
    std::fs::create_dir_all(&folder).unwrap();
    // A cube whose coordinates follow from the place.
    let corners = (0..8).map(|c| [c & 1, c >> 1 & 1, c >> 2].map(f64::from));
    let mut text: String = corners.clone().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    text.extend(corners.map(|[x, y, z]| format!("vt {} {y}\n", x + 2.0 * z)));
    for [a, b, c, d] in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
        text += &format!("f {a}/{a} {b}/{b} {c}/{c} {d}/{d}\n");
    }
    let file = folder.join("cube.obj");
    std::fs::write(&file, text).unwrap();
    let mut sandbox = Sandbox::new(&gpu).unwrap();
    sandbox.open_scene(Scene::of_mesh(file.to_str().unwrap(), 5));
    settle(&mut sandbox);
    break_largest(&mut sandbox);
    let scale = sandbox.bodies()[0].def.meters_per_unit;
    let mut order = order(Lying::AsTheyFittedTogether, &[Format::Obj]);
    order.mesh = MeshKind::Smooth;
    let mut plan = ExportPlan::new(&sandbox, &order, Camera::default(), RanOn::default());
    assert!(plan.what.dresses.is_empty(), "a plan is cheap");
    plan.surfaces.dress(&mut plan.what, &Progress::default());
    let mut outside = 0;
    for piece in 0..plan.pieces() {
        let (mesh, h) = (plan.what.mesh(piece), plan.what.pieces[piece].voxel() / scale);
        for ((triangle, corners), face) in mesh.triangles.iter().zip(&mesh.corners).zip(&mesh.faces) {
            if face.side == crate::export::meshes::Side::Inside {
                continue;
            }
            outside += 1;
            for (v, corner) in triangle.iter().zip(corners) {
                let p = mesh.positions[*v as usize] / scale;
                let off = [p.x + 2.0 * p.z, p.y].map(|wanted| wanted as f32);
                let off = [0, 1].map(|k| (corner.uv[k] - off[k]).abs());
                assert!(off.iter().all(|off| f64::from(*off) < 4.0 * h), "{corner:?} at {p}");
            }
        }
    }
    assert!(outside > 12, "{outside}");
    std::fs::remove_dir_all(&folder).unwrap();
}
