//! A method that the program does not have: it cuts a shape in two by a plane. It lives in this file alone and is added
//! to the table at start-up; scenes, commands and the sandbox name it like the others.

mod plane_cut {
    use glam::DVec3;
    use kintsugi::{
        fracture::{Break, BreakContext, Breaker, FractureError, MethodEntry, MethodOption, Part, Strike},
        shape::{Geometry, Octree, Shape},
        svo::{Forest, LeafColor, Leaves, build, morton, pack_normal},
    };
    use std::sync::Arc;

    pub static ENTRY: MethodEntry = MethodEntry {
        name: "plane-cut",
        label: "In two",
        help: "Cuts an octree in two by a plane across its longest side.",
        source: "this test",
        options: &[MethodOption {
            name: "share",
            help: "Where the plane lies along that side.",
            default: 0.5,
            range: (0.1, 0.9),
        }],
        breaker: &PlaneCut,
    };

    struct PlaneCut;

    /// One side of a cut: the source's voxels there, and new ones where the cut opens its inside.
    fn side(whole: &Octree, axis: usize, at: u32, upper: bool) -> Forest {
        let forest = &whole.forest;
        let here = |cell: [u32; 3]| (cell[axis] >= at) == upper;
        let layer = if upper { at } else { at - 1 };
        let normal = DVec3::AXES[axis].as_vec3() * if upper { -1.0 } else { 1.0 };
        let mut found: Vec<(u32, u32, LeafColor, f32)> = Vec::new();
        for i in whole.leaves().filter(|i| here(morton::decode(forest.leaves.keys[*i]))) {
            let leaves = &forest.leaves;
            found.push((leaves.keys[i], leaves.normals[i], leaves.colors[i], leaves.coverage[i]));
        }
        forest.visit_internal(whole.tree as usize, &mut |_, low, size| {
            if (low[axis]..low[axis] + size).contains(&layer) {
                for k in 0..size * size {
                    let mut cell = low;
                    cell[axis] = layer;
                    cell[(axis + 1) % 3] += k % size;
                    cell[(axis + 2) % 3] += k / size;
                    let color = LeafColor::new([150; 3], true, 0.5);
                    found.push((morton::encode(cell), pack_normal(normal), color, 1.0));
                }
            }
        });
        found.sort_unstable_by_key(|leaf| leaf.0);
        let leaves = Leaves {
            keys: found.iter().map(|leaf| leaf.0).collect(),
            normals: found.iter().map(|leaf| leaf.1).collect(),
            colors: found.iter().map(|leaf| leaf.2).collect(),
            coverage: found.iter().map(|leaf| leaf.3).collect(),
            cuts: Vec::new(),
        };
        let inside = |key: u32, level: u32| {
            let low = morton::decode(key << (3 * (forest.level - level)));
            here(low) && forest.is_internal(whole.tree as usize, low)
        };
        build(forest.level, leaves, &inside)
    }

    impl Breaker for PlaneCut {
        fn accepts(&self, geometry: &Geometry) -> bool {
            matches!(geometry, Geometry::Octree(_))
        }

        fn fracture(
            &self,
            _: &BreakContext<'_>,
            source: &Shape,
            strike: &Strike<'_>,
        ) -> Result<Break, FractureError> {
            let whole = source.as_octree().ok_or_else(|| FractureError::Params("no octree".into()))?;
            let (low, high) = whole.mass.bounds;
            let axis = (high - low).max_position();
            let at = (low + (high - low) * strike.params.option("share"))[axis].round() as u32;
            let part = |(cell, upper): (u32, bool)| {
                let octree = Octree::new(&Arc::new(side(whole, axis, at, upper)), 0, whole.grid);
                let size = octree.mass.voxels;
                let shape = Arc::new(Shape::octree(octree, source.density(), *source.look()));
                Part { shape, cell, size }
            };
            let parts = [(0, false), (1, true)].into_iter().map(part).filter(|part| part.size > 0);
            Ok(Break::of_parts(parts.collect(), strike.params))
        }
    }
}

#[path = "support/mod.rs"]
mod support;

use glam::DVec3;
use kintsugi::{
    fracture::{FractureParams, Method, register},
    scene::{Arrived, Sandbox, Scene, parse_scene, save_scene},
};

fn plane_cut() -> Method {
    register(&plane_cut::ENTRY);
    Method::named("plane-cut").expect("it is in the table")
}

fn masses(sandbox: &Sandbox) -> Vec<f64> {
    sandbox.bodies().iter().map(|body| body.def.mass_kg()).collect()
}

/// Waits for what is on its way.
fn wait(sandbox: &mut Sandbox, wanted: Arrived) {
    while sandbox.poll().expect("it works") != Some(wanted) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_scene_names_it_the_sandbox_breaks_by_it_and_undo_timeline_and_files_keep_it() {
    let method = plane_cut();
    let Some(gpu) = support::adapter::gpu() else { return };
    let text = "[[body]]\nfile = \"builtin:column\"\nlevel = 5\n[body.fracture]\nmethod = \"plane-cut\"\n\
                [body.fracture.options]\nshare = 0.25\n";
    let scene = parse_scene(text, ".").expect("the method is known");
    assert_eq!(scene.bodies[0].fracture.method, method);
    let mut sandbox = Sandbox::new(gpu).expect("an engine");
    sandbox.open_scene(scene);
    wait(&mut sandbox, Arrived::Opened);
    let whole = masses(&sandbox);
    sandbox.step().expect("a step");
    let id = sandbox.bodies()[0].id;
    sandbox.break_at(id, DVec3::Y, DVec3::NEG_Z);
    wait(&mut sandbox, Arrived::Broke);
    let parts = masses(&sandbox);
    println!("{whole:?} kg in {parts:?}");
    assert_eq!(parts.len(), 2);
    assert!((parts.iter().sum::<f64>() / whole[0] - 1.0).abs() < 1e-9);
    assert!((0.1..0.4).contains(&(parts.iter().copied().fold(f64::MAX, f64::min) / whole[0])));
    let summary = sandbox.last_break().expect("it broke");
    assert!(summary.mass_error.abs() < 1e-9 && summary.counts.pieces == 2);
    // The parts are drawn, and fall apart as others do.
    assert_eq!(sandbox.render_bodies(None).len(), 2);
    (0..5).for_each(|_| sandbox.step().expect("a step"));

    assert!(sandbox.undo().is_some());
    assert_eq!(masses(&sandbox), whole);
    assert!(sandbox.redo().is_some());
    assert_eq!(masses(&sandbox), parts);
    (0..5).for_each(|_| sandbox.step().expect("a step"));
    let frames = sandbox.timeline().len();
    assert!(frames > 1 && sandbox.show_recorded(frames - 1) && masses(&sandbox) == parts);

    // What is saved says how it broke, and plays again.
    let file = std::env::temp_dir().join(format!("kintsugi-plane-cut-{}.toml", std::process::id()));
    save_scene(&file, &sandbox.scene(Default::default())).expect("it is saved");
    let again = kintsugi::scene::load_scene(&file).expect("it opens again");
    std::fs::remove_file(&file).expect("it was there");
    assert_eq!(again.bodies[0].fracture.method, method);
    assert_eq!(again.bodies[0].fracture.option("share"), 0.25);
    assert_eq!(again.events.len(), 1, "the blow is kept");
}

#[test]
fn the_command_breaks_by_it_over_generations_and_exports_what_comes_of_it() {
    plane_cut();
    if support::adapter::gpu().is_none() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("kintsugi-plane-cut-{}", std::process::id()));
    let out = folder.display().to_string();
    let run = |more: &[&str]| {
        let words = ["kintsugi", "fracture", "builtin:column", "--level", "5", "--out", &out];
        kintsugi::cli::run(words.iter().chain(more).map(std::ffi::OsString::from))
    };
    run(&["--method", "plane-cut", "--option", "share=0.4", "--generations", "2", "--format", "glb,obj"])
        .expect("it breaks");
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["parameters"]["method"], "plane-cut");
    assert_eq!(report["parameters"]["options"]["share"], 0.4);
    let pieces = report["pieces"].as_array().expect("pieces");
    assert_eq!(pieces.len(), 3, "two, and one of them in two");
    let checks = report["checks"].as_array().expect("checks");
    assert!(checks.len() >= 3 && checks.iter().all(|check| check["ok"] == true), "{checks:?}");
    let (document, ..) = gltf::import(folder.join("pieces.glb")).expect("a GLB");
    assert_eq!(document.meshes().count(), 3);
    assert!(folder.join("pieces.obj").is_file() && folder.join("voxels.npz").is_file());

    let unknown = run(&["--method", "hammer"]).expect_err("there is none");
    assert!(unknown.exit_code() == 2 && unknown.to_string().contains("plane-cut"), "{unknown}");
    let outside = run(&["--method", "plane-cut", "--option", "share=2"]).expect_err("out of range");
    assert!(outside.exit_code() == 2 && outside.to_string().contains("share"), "{outside}");
    let no_such = run(&["--method", "plane-cut", "--option", "depth=1"]).expect_err("no such option");
    assert!(no_such.exit_code() == 2 && no_such.to_string().contains("depth"), "{no_such}");
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn a_scene_with_an_option_out_of_range_is_refused() {
    plane_cut();
    let body = "[[body]]\nfile = \"builtin:column\"\n[body.fracture]\nmethod = \"plane-cut\"\n";
    let scene = |options: &str| parse_scene(&format!("{body}{options}"), ".");
    assert!(scene("").is_ok_and(|scene: Scene| scene.bodies[0].fracture.option("share") == 0.5));
    let error = scene("options = { share = 3.0 }").expect_err("out of range").to_string();
    assert!(error.contains("share") && error.contains("0.9"), "{error}");
    let error = parse_scene("[[body]]\nfile = \"builtin:box\"\nfracture = { method = \"saw\" }\n", ".");
    let error = error.expect_err("no such method").to_string();
    assert!(error.contains("no method saw"), "{error}");
    assert_eq!(FractureParams::default().method, Method::default());
}
