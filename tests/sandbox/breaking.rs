//! Every way to shape pieces goes through a blow, undo takes it back, and thousands of bodies fit.

use std::{path::Path, time::Instant};

use glam::DVec3;
use kintsugi::{
    compute::Compute,
    fracture::{FractureParams, Preset, SmallRule, Smallest},
    render::{Camera, FrameInput, RenderOptions, Renderer},
    scene::{Arrived, Sandbox, SandboxError, Scene, SceneBody},
};

use super::support::{
    adapter,
    program::folder,
    stage::{self, floating},
};

fn scene(fracture: FractureParams) -> Scene {
    floating(SceneBody { fracture, ..SceneBody::standing("builtin:box", 6) })
}

fn open(fracture: FractureParams) -> Option<Sandbox> {
    stage::open(scene(fracture))
}

fn hit(sandbox: &mut Sandbox) -> Result<Arrived, SandboxError> {
    stage::hit(sandbox, DVec3::new(0.0, 0.1, 0.3))
}

#[test]
fn every_parameter_reaches_the_blow_and_undo_takes_it_back() {
    let of = |preset: Preset| FractureParams { preset, seeds: 25, ..FractureParams::default() };
    // One sandbox: each compiles its passes.
    let Some(mut sandbox) = open(FractureParams::default()) else { return };
    // A whole object has no crack that chips could break out of.
    for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::Chips) {
        stage::open_in(&mut sandbox, scene(of(preset)));
        assert_eq!(hit(&mut sandbox).expect("it breaks"), Arrived::Broke);
        let pieces = sandbox.bodies().len();
        println!("{preset:?}: {pieces} pieces");
        assert!(pieces >= 8);
        assert_eq!(sandbox.undo().as_deref(), Some("break box"));
        assert_eq!(sandbox.bodies().len(), 1);
        assert_eq!(sandbox.redo().as_deref(), Some("break box"));
        assert_eq!(sandbox.bodies().len(), pieces);
    }

    let wanted = FractureParams { target_pieces: Some(12), ..FractureParams::default() };
    stage::open_in(&mut sandbox, scene(wanted));
    hit(&mut sandbox).expect("it breaks");
    let solved = sandbox.last_break().and_then(|b| b.solved).expect("a number was solved for");
    assert_eq!(solved.reached as usize, sandbox.bodies().len());
    assert!(solved.reached.abs_diff(12) <= 1, "{solved:?}");

    let smallest = |rule| Some(Smallest { voxels: 3000, fraction: 0.0, rule });
    let merging = FractureParams { smallest: smallest(SmallRule::Merge), ..of(Preset::Spheres) };
    stage::open_in(&mut sandbox, scene(merging));
    hit(&mut sandbox).expect("it breaks");
    let summary = sandbox.last_break().expect("it broke");
    assert!(summary.counts.merged > 0 && summary.mass_error.abs() < 1e-6, "{summary:?}");
    let dropping = FractureParams { smallest: smallest(SmallRule::Drop), ..of(Preset::Spheres) };
    stage::open_in(&mut sandbox, scene(dropping));
    hit(&mut sandbox).expect("it breaks");
    let summary = sandbox.last_break().expect("it broke");
    assert!(summary.dropped_mass > 0.0 && summary.mass_error.abs() < 1e-6, "{summary:?}");
}

#[test]
fn seeds_from_a_file_break_the_intact_object_only() {
    let file = folder("sandbox-seeds").join("seeds.txt");
    std::fs::write(&file, "-0.3 0 0\n0.3 0 0\n").unwrap();
    let seeds_file = Some(file.to_string_lossy().into_owned());
    let fracture = FractureParams { seeds_file, seeds: 12, ..FractureParams::default() };
    let Some(mut sandbox) = open(fracture) else { return };
    hit(&mut sandbox).expect("it breaks");
    assert_eq!(sandbox.bodies().len(), 2);
    hit(&mut sandbox).expect("a half breaks by the pattern");
    assert!(sandbox.bodies().len() > 4, "{}", sandbox.bodies().len());
    std::fs::remove_file(&file).unwrap();
    sandbox.reset();
    let error = hit(&mut sandbox).expect_err("the file is gone");
    assert!(error.to_string().contains("seeds cannot be read"), "{error}");
    assert_eq!(sandbox.bodies().len(), 1);
}

#[test]
fn seeds_from_a_file_are_in_mesh_units_whatever_the_size() {
    let file = folder("sandbox-units").join("seeds.txt");
    let shares = |size: Option<f64>, per_unit: f64| {
        let fracture = FractureParams {
            seeds_file: Some(file.to_string_lossy().into_owned()),
            ..FractureParams::default()
        };
        let body = SceneBody { fracture, size, ..SceneBody::standing("builtin:box", 6) };
        let mut sandbox = stage::open(Scene { meters_per_unit: per_unit, ..floating(body) })?;
        hit(&mut sandbox).expect("it breaks");
        let mut kg: Vec<f64> = sandbox.bodies().iter().map(|b| b.def.mass_kg()).collect();
        kg.sort_by(f64::total_cmp);
        assert_eq!(kg.len(), 2);
        Some(kg[0] / (kg[0] + kg[1]))
    };
    // The plane between them lies off the middle of the box, which is 1 unit wide, by 0.2 of it.
    std::fs::write(&file, "0.1 0 0\n0.3 0 0\n").unwrap();
    let found = [(None, 1.0), (Some(7.0), 1.0), (None, 0.1)].map(|(size, per_unit)| shares(size, per_unit));
    let [Some(a), Some(b), Some(c)] = found else { return };
    println!("smaller share {a:.3}, {b:.3}, {c:.3}");
    assert!([a, b, c].iter().all(|share| (share - 0.3).abs() < 0.02), "{found:?}");
}

#[test]
fn an_object_that_no_crack_meets_stays_and_says_so() {
    let Some(mut sandbox) = open(FractureParams { seeds: 1, ..FractureParams::default() }) else { return };
    let error = hit(&mut sandbox).expect_err("nothing to split");
    assert!(matches!(error, SandboxError::NoCrack) && error.to_string().contains("more seeds"), "{error}");
    assert_eq!(sandbox.bodies().len(), 1);
    assert_eq!(sandbox.history().undo_label(), None);
}

#[test]
fn thousands_of_pieces_are_bodies_and_are_drawn() {
    let fracture = FractureParams { preset: Preset::Uniform, seeds: 4096, ..FractureParams::default() };
    let (Some(gpu), Some(mut sandbox)) = (adapter::gpu(), open(fracture)) else { return };
    let start = Instant::now();
    hit(&mut sandbox).expect("it breaks");
    let pieces = sandbox.bodies().len();
    println!("{pieces} pieces in {:.1} s", start.elapsed().as_secs_f64());
    assert!(pieces > 4000);
    let start = Instant::now();
    sandbox.step().expect("a step");
    println!("one step {:.1} s", start.elapsed().as_secs_f64());
    assert!(sandbox.bodies().iter().all(|b| b.state.position.is_finite()));

    let bodies = sandbox.render_bodies(None);
    assert_eq!(bodies.len(), pieces);
    let arena = sandbox.arena().read().unwrap();
    let size = [320, 200];
    let input = FrameInput {
        seams: None,
        overlay: None,
        arena: &arena,
        bodies: &bodies,
        camera: Camera::default(),
        options: RenderOptions::default(),
        size,
    };
    Renderer::new(gpu).expect("it compiles").draw(&input).expect("a picture");
    gpu.check().expect("the device is well");
}

#[test]
fn stages_move_to_the_cores_and_back_while_a_scene_is_open() {
    let Some(gpu) = adapter::gpu() else { return };
    let Some(mut sandbox) = open(FractureParams { seeds: 6, ..FractureParams::default() }) else { return };
    assert_eq!(stage::hit(&mut sandbox, DVec3::Z * 0.5).expect("it breaks"), Arrived::Broke);
    let positions = stage::positions(&sandbox);
    sandbox.run_on(&Compute::Cpu).expect("nothing is computing");
    assert_eq!(sandbox.compute().name(), "cpu");
    assert_eq!(stage::positions(&sandbox), positions, "bodies stay where they are");
    stage::steps(&mut sandbox, 3);
    sandbox.undo().expect("the break is taken back");
    assert_eq!(sandbox.bodies().len(), 1);
    assert_eq!(stage::hit(&mut sandbox, DVec3::Z * 0.5).expect("it breaks there, too"), Arrived::Broke);
    let pieces = |sandbox: &Sandbox| -> Vec<u64> {
        sandbox.bodies().iter().map(|body| body.def.shape.mass().volume_m3.to_bits()).collect()
    };
    let on_cores = pieces(&sandbox);
    sandbox.undo().expect("taken back again");
    sandbox.run_on(&Compute::from(gpu)).expect("nothing is computing");
    assert_eq!(stage::hit(&mut sandbox, DVec3::Z * 0.5).expect("and here"), Arrived::Broke);
    assert_eq!(pieces(&sandbox), on_cores, "the same pieces from passes and from the cores");
}

/// A square in the middle of the grid and a rod along it: few voxels at any level.
fn thin() -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("thin.off");
    let mut text = String::from("OFF 8 6 0\n");
    for i in 0..8 {
        let side = |bit: usize, edge: f64| if i >> bit & 1 == 1 { edge } else { 0.0 };
        text += &format!("{} {} {}\n", side(0, 1.0), side(1, 0.004), side(2, 0.003));
    }
    text += "4 0 4 6 2\n4 1 3 7 5\n4 0 1 5 4\n4 2 6 7 3\n4 0 2 3 1\n4 4 5 7 6\n";
    std::fs::write(&path, text).expect("a file");
    path.to_string_lossy().into_owned()
}

#[test]
fn octrees_too_fine_for_passes_stay_on_the_cores() {
    let Some(gpu) = adapter::gpu() else { return };
    let of_level = |level: u32| stage::floating(SceneBody { level, ..SceneBody::standing(thin(), level) });
    let mut sandbox = Sandbox::new(Compute::Cpu).expect("an empty sandbox");
    stage::open_in(&mut sandbox, of_level(11));
    assert_eq!(sandbox.objects()[0].scene.level, 11);
    let refused = sandbox.run_on(&Compute::from(gpu)).expect_err("too fine").to_string();
    assert!(refused.contains("level 11") && refused.contains("--compute cpu"), "{refused}");
    assert_eq!((sandbox.compute().name(), sandbox.bodies().len()), ("cpu", 1), "nothing has changed");
    stage::steps(&mut sandbox, 2);
    // Coarse enough, it goes over; and no finer octree comes in there. (One that undo could bring back counts, too.)
    let mut sandbox = Sandbox::new(Compute::Cpu).expect("an empty sandbox");
    stage::open_in(&mut sandbox, of_level(10));
    sandbox.run_on(&Compute::from(gpu)).expect("level 10 fits");
    sandbox.set_level(12, Camera::default());
    let refused = stage::next(&mut sandbox).expect_err("too fine").to_string();
    assert!(refused.contains("level 12"), "{refused}");
    assert_eq!(sandbox.objects()[0].scene.level, 10, "what is open stays");
    sandbox.open_scene(of_level(11));
    assert!(stage::next(&mut sandbox).is_err());
    assert!(sandbox.opening().is_none());
}
