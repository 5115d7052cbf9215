//! Methods that the program does not have (`support/plane_cut.rs`), by scene, sandbox, command and library; `from_outside.rs`
//! has one in the window.

mod support;

use glam::DVec3;
use kintsugi::{
    compute::Compute,
    fracture::{
        BreakContext, Cancel, FractureParams, MethodId, Passes, Preset, SmallRule, Smallest, Strike,
        break_shape, generations::default_impact, register,
    },
    import::import,
    scene::{Arrived, Sandbox, Scene, parse_scene, save_scene},
    svo::Arena,
    voxelize::Progress,
};

fn plane_cut() -> MethodId {
    register(&support::plane_cut::ENTRY).expect("its name is free");
    MethodId::named("plane-cut").expect("it is in the table")
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

/// What a method gets wrong is written with a report that says so, and the exit code says so, too.
#[test]
fn results_that_fail_their_checks_end_with_1() {
    register(&support::plane_cut::LOSES).expect("its name is free");
    let home = std::env::temp_dir().join(format!("kintsugi-loses-{}", std::process::id()));
    std::fs::create_dir_all(&home).expect("a folder");
    let at = |name: &str| home.join(name).display().to_string();
    let run = |words: &[&str]| {
        let words = ["kintsugi"].iter().chain(words).chain(&["--compute", "cpu"]);
        let error = kintsugi::cli::run(words.map(std::ffi::OsString::from)).expect_err("it is not good");
        (error.exit_code(), error.to_string())
    };
    let (out, jobs, sweep) = (at("out"), at("jobs.toml"), at("sweep"));
    let (code, said) =
        run(&["fracture", "builtin:column", "--level", "5", "--method", "loses", "--out", &out]);
    assert!(code == 1 && said.contains("fails its checks: ") && said.contains("report.json"), "{said}");
    let text = std::fs::read_to_string(at("out/report.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let failed = report["checks"].as_array().expect("checks").iter().filter(|check| check["ok"] == false);
    let failed: Vec<&str> = failed.map(|check| check["name"].as_str().expect("a name")).collect();
    println!("{said}");
    assert!(!failed.is_empty() && said.contains(&failed.join(", ")), "{said}");

    let list = "meshes = ['builtin:column']\nlevels = [5]\nfracture.method = 'loses'\n";
    std::fs::write(&jobs, list).expect("it is written");
    let (code, said) = run(&["sweep", &jobs, "--out", &sweep]);
    assert!(code == 1 && said.contains("1 of 1 jobs failed"), "{said}");
    let table = std::fs::read_to_string(at("sweep/table.csv")).expect("a table");
    assert!(table.contains("its checks do not hold: ") && table.contains("checks.all_hold"), "{table}");
    std::fs::remove_dir_all(home).expect("it was there");
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
    assert_eq!(FractureParams::default().method, MethodId::default());
}

/// The method only cuts between the seeds that it is given.
#[test]
fn a_method_gets_seeds_and_its_pieces_are_counted_kept_together_merged_and_dropped() {
    register(&support::plane_cut::SLICES).expect("its name is free");
    let object = import("builtin:column", 6, &Progress::default()).expect("a built-in shape");
    let (arena, passes) = (Arena::new(Compute::Cpu).expect("no device is needed"), Passes::default());
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    let mut impact = default_impact(&object.shape, object.bounds);
    impact.point = object.shape.local_from_shape(impact.point);
    let whole = object.shape.mass().volume_m3;
    let plain = FractureParams {
        method: MethodId::named("slices").expect("it is in the table"),
        preset: Preset::Uniform,
        seeds: 9,
        rng: 3,
        ..FractureParams::default()
    };
    let broken = |params: &FractureParams| {
        let out = break_shape(&context, &object.shape, &Strike::new(impact, params)).expect("it breaks");
        println!("{} parts, {:?} {:?}", out.parts.len(), out.counts, out.kept);
        assert!((out.volume_m3() / whole - 1.0).abs() < 1e-9, "no mass is lost");
        assert!(out.parts.is_sorted_by_key(|part| std::cmp::Reverse(part.size)));
        assert_eq!(out.parts.len(), out.counts.pieces as usize);
        out
    };

    let out = broken(&plain);
    let seeds = out.pattern.expect("it has one").seeds;
    assert_eq!((seeds.len(), out.parts.len()), (9, 9));

    let out = broken(&FractureParams { target_pieces: Some(6), ..plain.clone() });
    let solved = out.solved.expect("a number was solved for");
    assert_eq!((solved.reached, out.parts.len()), (6, 6));

    // Slices that stay and lie side by side are one part.
    let keep: Vec<u32> = vec![0, 2, 3, 5, 8];
    let size = object.shape.bounds().size();
    let axis = size.max_position();
    let mut order: Vec<u32> = (0..9).collect();
    order.sort_by_key(|seed| seeds[*seed as usize][axis]);
    let runs = order.chunk_by(|a, b| keep.contains(a) && keep.contains(b));
    let runs = runs.filter(|run| keep.contains(&run[0])).count();
    assert!(runs < keep.len(), "two of them lie side by side");
    let out = broken(&FractureParams { keep: keep.clone(), ..plain.clone() });
    let kept = out.kept.expect("cells stay");
    assert_eq!((&kept.cells, kept.parts, out.parts.len()), (&keep, runs, 4 + runs));
    let stays = |objects: &&Vec<u32>| **objects == [0];
    assert_eq!(out.objects.iter().filter(stays).count(), runs);

    let smallest = |rule| Some(Smallest { voxels: 0, fraction: 0.08, rule });
    for rule in [SmallRule::Merge, SmallRule::Drop] {
        let out = broken(&FractureParams { smallest: smallest(rule), ..plain.clone() });
        assert!(out.parts.iter().all(|part| part.shape.mass().volume_m3 >= 0.08 * whole));
        let [merged, dropped] = [out.counts.merged, out.counts.dropped].map(|n| n as usize);
        assert_eq!((merged + dropped, out.lost.dropped.len()), (9 - out.parts.len(), dropped));
        assert!(if rule == SmallRule::Merge { merged > 0 } else { dropped > 0 });
    }
}
