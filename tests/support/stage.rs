//! A scene behind the window: open it, wait for what it does, step, break.

use std::{
    path::Path,
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};

use glam::DVec3;
use kintsugi::{
    bodies::{Body, Narrow, StepReport},
    fracture::Fracturer,
    scene::{Arrived, Sandbox, SandboxError, Scene, SceneBody, load_scene},
};

use super::adapter;

/// A software adapter on a busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(300);

/// A scene of `assets/scenes`.
pub fn shipped(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes").join(name).with_extension("toml");
    load_scene(&path).expect("a shipped scene")
}

/// One body without gravity.
pub fn floating(body: SceneBody) -> Scene {
    Scene { bodies: vec![body], gravity: DVec3::ZERO, ..Scene::default() }
}

/// Opens a scene. `None`, where that is allowed, without an adapter. With `KINTSUGI_NARROW=gpu` contacts are looked for
/// in compute passes, on a software adapter, too.
pub fn open(scene: Scene) -> Option<Sandbox> {
    // Passes are compiled once for all tests of a program, as long as something holds them.
    static HELD: OnceLock<Fracturer> = OnceLock::new();
    let gpu = adapter::gpu()?;
    HELD.get_or_init(|| Fracturer::new(gpu).expect("the passes compile"));
    let mut sandbox = Sandbox::new(gpu).expect("an empty sandbox");
    if std::env::var("KINTSUGI_NARROW").as_deref() == Ok("gpu") {
        sandbox.look_for_contacts(Narrow::Gpu);
    }
    open_in(&mut sandbox, scene);
    Some(sandbox)
}

/// Opens another scene in the same sandbox.
pub fn open_in(sandbox: &mut Sandbox, scene: Scene) {
    sandbox.open_scene(scene);
    until(sandbox, Arrived::Opened);
}

/// Waits for the next thing that arrives.
pub fn next(sandbox: &mut Sandbox) -> Result<Arrived, SandboxError> {
    let start = Instant::now();
    loop {
        if let Some(arrived) = sandbox.poll()? {
            return Ok(arrived);
        }
        assert!(start.elapsed() < PATIENCE, "waited too long");
        sleep(Duration::from_millis(1));
    }
}

/// Waits for this one, which must be the next.
pub fn until(sandbox: &mut Sandbox, wanted: Arrived) {
    assert_eq!(next(sandbox).expect("it goes well"), wanted);
}

/// A blow on the first body at a place given from its middle, and what comes of it.
pub fn hit(sandbox: &mut Sandbox, from_middle: DVec3) -> Result<Arrived, SandboxError> {
    let (id, middle) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
    sandbox.break_at(id, middle + from_middle, DVec3::NEG_Z);
    next(sandbox)
}

/// One step, and the fractures that it starts.
pub fn step(sandbox: &mut Sandbox) -> StepReport {
    advance(sandbox, false)
}

/// The same where a blow may be too weak for a crack.
pub fn step_or_no_crack(sandbox: &mut Sandbox) -> StepReport {
    advance(sandbox, true)
}

fn advance(sandbox: &mut Sandbox, may_not_crack: bool) -> StepReport {
    sandbox.step().expect("it steps");
    let start = Instant::now();
    while sandbox.is_breaking() {
        match sandbox.poll() {
            Ok(Some(arrived)) => assert_eq!(arrived, Arrived::Broke),
            Ok(None) => sleep(Duration::from_millis(1)),
            Err(SandboxError::NoCrack) if may_not_crack => {}
            Err(error) => panic!("{error}"),
        }
        assert!(start.elapsed() < PATIENCE, "waited too long");
    }
    sandbox.last_step().clone()
}

/// So many steps; what the last one reports.
pub fn steps(sandbox: &mut Sandbox, count: u32) -> StepReport {
    (0..count).fold(StepReport::default(), |_, _| step(sandbox))
}

/// As many steps as these seconds have.
pub fn play(sandbox: &mut Sandbox, seconds: f64) -> StepReport {
    let count = (seconds / sandbox.settings().dt).round() as u32;
    steps(sandbox, count)
}

/// The one body that there is.
pub fn only(sandbox: &Sandbox) -> &Body {
    assert_eq!(sandbox.bodies().len(), 1);
    &sandbox.bodies()[0]
}

/// Positions in order of body.
pub fn positions(sandbox: &Sandbox) -> Vec<DVec3> {
    sandbox.bodies().iter().map(|b| b.state.position).collect()
}

/// Speed of the fastest body, m/s.
pub fn fastest(sandbox: &Sandbox) -> f64 {
    sandbox.bodies().iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max)
}

/// Edge of the voxels that collide, m.
pub fn physics_cell(body: &Body) -> f64 {
    let octree = body.def.octree();
    octree.grid.h * f64::from(1u32 << (octree.forest.level - body.def.collision_level()))
}
