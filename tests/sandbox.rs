//! The engine behind the window: every way to shape pieces goes through a blow, undo takes it back, and thousands of bodies fit.

use std::time::{Duration, Instant};

use glam::DVec3;
use kintsugi::{
    fracture::{FractureParams, Preset, SmallRule, Smallest},
    gpu::Gpu,
    render::{Camera, FrameInput, RenderOptions, Renderer},
    scene::{Arrived, Sandbox, SandboxError, Scene, SceneBody},
};

fn wait(sandbox: &mut Sandbox) -> Result<Arrived, SandboxError> {
    let start = Instant::now();
    loop {
        if let Some(arrived) = sandbox.poll()? {
            return Ok(arrived);
        }
        assert!(start.elapsed() < Duration::from_secs(300), "waited too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn open(gpu: &Gpu, fracture: FractureParams) -> Sandbox {
    let body = SceneBody { fracture, ..SceneBody::standing("builtin:box", 6) };
    let mut sandbox = Sandbox::new(gpu).expect("an empty sandbox");
    sandbox.open_scene(Scene { bodies: vec![body], gravity: DVec3::ZERO, ..Scene::default() });
    assert_eq!(wait(&mut sandbox).expect("it opens"), Arrived::Opened);
    sandbox
}

fn hit(sandbox: &mut Sandbox) -> Result<Arrived, SandboxError> {
    let body = &sandbox.bodies()[0];
    let (id, point) = (body.id, body.state.position);
    sandbox.break_at(id, point + DVec3::new(0.0, 0.1, 0.3), DVec3::NEG_Z);
    wait(sandbox)
}

#[test]
fn every_parameter_reaches_the_blow_and_undo_takes_it_back() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let of = |preset: Preset| FractureParams { preset, seeds: 25, ..FractureParams::default() };
    for preset in Preset::ALL {
        let mut sandbox = open(&gpu, of(preset));
        assert_eq!(hit(&mut sandbox).expect("it breaks"), Arrived::Broke);
        let pieces = sandbox.bodies().len();
        println!("{preset:?}: {pieces} pieces");
        assert!(pieces >= 8);
        assert_eq!(sandbox.undo().as_deref(), Some("break"));
        assert_eq!(sandbox.bodies().len(), 1);
        assert_eq!(sandbox.redo().as_deref(), Some("break"));
        assert_eq!(sandbox.bodies().len(), pieces);
    }

    let mut sandbox = open(&gpu, FractureParams { target_pieces: Some(12), ..FractureParams::default() });
    hit(&mut sandbox).expect("it breaks");
    let solved = sandbox.last_break().and_then(|b| b.solved).expect("a number was solved for");
    assert_eq!(solved.reached as usize, sandbox.bodies().len());
    assert!(solved.reached.abs_diff(12) <= 1, "{solved:?}");

    let smallest = |rule| Some(Smallest { voxels: 3000, fraction: 0.0, rule });
    let mut sandbox =
        open(&gpu, FractureParams { smallest: smallest(SmallRule::Merge), ..of(Preset::Spheres) });
    hit(&mut sandbox).expect("it breaks");
    let summary = sandbox.last_break().expect("it broke");
    assert!(summary.counts.merged > 0 && summary.mass_error.abs() < 1e-6, "{summary:?}");
    let mut sandbox =
        open(&gpu, FractureParams { smallest: smallest(SmallRule::Drop), ..of(Preset::Spheres) });
    hit(&mut sandbox).expect("it breaks");
    let summary = sandbox.last_break().expect("it broke");
    assert!(summary.dropped_mass > 0.0 && summary.mass_error.abs() < 1e-6, "{summary:?}");
}

#[test]
fn seeds_from_a_file_break_the_intact_object_only() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let file = std::env::temp_dir().join(format!("kintsugi-sandbox-seeds-{}.txt", std::process::id()));
    // The box is a cube about the origin or beside it: two far points on one axis halve it either way.
    std::fs::write(&file, "-100 0 0\n100 0 0\n").unwrap();
    let seeds_file = Some(file.to_string_lossy().into_owned());
    let mut sandbox = open(&gpu, FractureParams { seeds_file, seeds: 12, ..FractureParams::default() });
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
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let file = std::env::temp_dir().join(format!("kintsugi-sandbox-units-{}.txt", std::process::id()));
    let shares = |size: Option<f64>, per_unit: f64| {
        let fracture = FractureParams {
            seeds_file: Some(file.to_string_lossy().into_owned()),
            ..FractureParams::default()
        };
        let body = SceneBody { fracture, size, ..SceneBody::standing("builtin:box", 6) };
        let mut sandbox = Sandbox::new(&gpu).expect("an empty sandbox");
        let scene = Scene { bodies: vec![body], meters_per_unit: per_unit, ..Scene::default() };
        sandbox.open_scene(Scene { gravity: DVec3::ZERO, ..scene });
        assert_eq!(wait(&mut sandbox).expect("it opens"), Arrived::Opened);
        hit(&mut sandbox).expect("it breaks");
        let mut kg: Vec<f64> = sandbox.bodies().iter().map(|b| b.def.mass_kg()).collect();
        kg.sort_by(f64::total_cmp);
        assert_eq!(kg.len(), 2);
        kg[0] / (kg[0] + kg[1])
    };
    // The plane between them lies off the middle of the box, which is 1 unit wide, by 0.2 of it.
    std::fs::write(&file, "0.1 0 0\n0.3 0 0\n").unwrap();
    let found = [(None, 1.0), (Some(7.0), 1.0), (None, 0.1)].map(|(size, per_unit)| shares(size, per_unit));
    println!("smaller share {found:.3?}");
    std::fs::remove_file(&file).unwrap();
    assert!(found.iter().all(|share| (share - 0.3).abs() < 0.02), "{found:?}");
}

#[test]
fn an_object_that_no_crack_meets_stays_and_says_so() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let mut sandbox = open(&gpu, FractureParams { seeds: 1, ..FractureParams::default() });
    let error = hit(&mut sandbox).expect_err("nothing to split");
    assert!(matches!(error, SandboxError::NoCrack) && error.to_string().contains("more seeds"), "{error}");
    assert_eq!(sandbox.bodies().len(), 1);
    assert_eq!(sandbox.history().undo_label(), None);
}

#[test]
fn thousands_of_pieces_are_bodies_and_are_drawn() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let mut sandbox =
        open(&gpu, FractureParams { preset: Preset::Uniform, seeds: 4096, ..FractureParams::default() });
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
    Renderer::new(&gpu).expect("it compiles").draw(&gpu, &input).expect("a picture");
    gpu.check().expect("the device is well");
}
