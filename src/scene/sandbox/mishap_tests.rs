//! A device that is lost and memory that is refused, at every moment: nothing of what the user has made goes with it.

use glam::{DVec3, Vec3};

use super::{Arrived, Sandbox, SandboxError, testing};
use crate::{
    bodies::{BodyState, ContactsId, Narrow},
    compute::Compute,
    fracture::{FractureParams, Fracturer},
    gpu::Gpu,
    render::{Camera, FrameInput, RenderOptions, Renderer},
    scene::{Scene, SceneBody},
    svo::Arena,
};

/// A box and a ball above a floor, of few voxels.
fn scene() -> Scene {
    let body = |file: &str, y: f64| SceneBody {
        level: 4,
        position: DVec3::new(0.1 * y, y, 0.0),
        on_floor: false,
        fracture: FractureParams { seeds: 6, ..FractureParams::default() },
        ..SceneBody::standing(file.to_owned(), 4)
    };
    Scene { bodies: vec![body("builtin:box", 0.6), body("builtin:sphere", 1.9)], ..Scene::default() }
}

fn shown(gpu: &Gpu) -> Sandbox {
    let mut sandbox = testing::shown(gpu, scene());
    sandbox.look_for_contacts(Narrow::Gpu);
    sandbox
}

/// What must not change: where everything is and how it moves, undo, timeline, and what would be saved.
fn all_of(sandbox: &Sandbox) -> (Vec<(u32, BodyState, bool)>, String) {
    let bodies = sandbox.bodies().iter().map(|b| (b.id.0, b.state, b.asleep)).collect();
    let (history, timeline) = (sandbox.history(), sandbox.timeline());
    let times: Vec<_> = (0..timeline.len()).map(|frame| timeline.time(frame)).collect();
    let labels = (history.undo_label(), history.redo_label(), timeline.cursor());
    let saved = toml::to_string(&sandbox.as_it_stands(Camera::default())).unwrap();
    (bodies, format!("{labels:?} {times:?} {} {saved}", sandbox.time()))
}

/// A sandbox on a device that keeps being lost.
struct Trial {
    sandbox: Sandbox,
    gpu: Gpu,
    losses: u32,
    /// Waits to the next loss come of it; `None`: no device is lost by itself.
    random: Option<u32>,
    /// Losses that may be.
    most: u32,
}

impl Trial {
    fn new(random: Option<u32>) -> Option<Self> {
        let gpu = Gpu::for_test()?;
        let most = if random.is_some() { u32::MAX } else { 0 };
        let mut trial = Self { sandbox: shown(&gpu), gpu, losses: 0, random, most };
        trial.order();
        Some(trial)
    }

    fn order(&mut self) {
        if let Some(random) = &mut self.random {
            *random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            self.gpu.mishaps().lose_at_wait(1 + (*random >> 16) % 9);
        }
    }

    /// Does something until no loss interrupts it.
    fn does<T>(&mut self, mut act: impl FnMut(&mut Sandbox) -> Result<T, SandboxError>) -> T {
        loop {
            match act(&mut self.sandbox) {
                Ok(done) => return done,
                Err(error) => {
                    assert!(error.is_loss() && self.losses < self.most, "{error}");
                    self.losses += 1;
                    self.gpu = Gpu::headless().unwrap();
                    self.sandbox.recover_on(&(&self.gpu).into()).unwrap();
                    self.order();
                }
            }
        }
    }

    fn steps(&mut self, steps: u32) {
        for _ in 0..steps {
            self.does(|sandbox| sandbox.step().map_err(SandboxError::from));
        }
    }

    fn breaks(&mut self, body: usize) {
        let Some(body) = self.sandbox.bodies().get(body) else { panic!("no such body") };
        let (id, place) = (body.id, body.state.position);
        self.sandbox.break_at(id, place, DVec3::NEG_Y);
        self.awaits(Arrived::Broke);
    }

    fn awaits(&mut self, wanted: Arrived) {
        while self.does(|sandbox| sandbox.poll()) != Some(wanted) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn previews(&mut self) {
        let from = self.sandbox.bodies()[0].state.position.as_vec3() + Vec3::Y * 5.0;
        let pick = self.sandbox.pick(from, Vec3::NEG_Y).expect("there is a body below");
        self.sandbox.set_aim(self.sandbox.aim_at(&pick, Vec3::NEG_Y));
        for _ in 0..3 {
            self.does(|sandbox| sandbox.update_preview());
        }
        self.sandbox.set_aim(None);
        self.does(|sandbox| sandbox.update_preview());
    }

    /// A break and a step before and after it.
    fn works_briefly(&mut self) {
        self.steps(1);
        self.breaks(0);
        self.steps(1);
    }

    /// An afternoon, in short.
    fn works(&mut self) {
        self.previews();
        self.steps(8);
        self.breaks(0);
        self.steps(8);
        self.sandbox.throw(DVec3::new(0.0, 1.0, 3.0), DVec3::NEG_Z);
        self.awaits(Arrived::Thrown);
        self.steps(4);
        self.sandbox.undo();
        self.sandbox.redo();
        self.breaks(1);
        self.steps(8);
        self.previews();
        self.sandbox.undo();
        self.breaks(1);
        self.steps(4);
    }
}

/// 12 devices, or as many as `KINTSUGI_LOSSES` says: opening the driver again takes more than a second each time.
#[test]
fn lost_devices_lose_nothing() {
    let Some(mut undisturbed) = Trial::new(None) else { return };
    undisturbed.works();
    let wanted = all_of(&undisturbed.sandbox);
    let (mut losses, mut random) = (0, 1);
    let most = std::env::var("KINTSUGI_LOSSES").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    while losses < most {
        let mut trial = Trial::new(Some(random)).unwrap();
        trial.works();
        assert!(all_of(&trial.sandbox) == wanted, "after {} losses from {random}", trial.losses);
        println!("{} losses", trial.losses);
        (losses, random) = (losses + trial.losses, random + 1);
    }
}

/// The device is lost once, at each wait of the work in turn.
#[test]
fn every_wait_of_a_short_afternoon_may_be_the_last() {
    let Some(mut undisturbed) = Trial::new(None) else { return };
    undisturbed.works_briefly();
    let wanted = all_of(&undisturbed.sandbox);
    let mut waits = 0;
    loop {
        let mut trial = Trial::new(None).unwrap();
        trial.most = 1;
        trial.gpu.mishaps().lose_at_wait(waits + 1);
        trial.works_briefly();
        let left = trial.gpu.mishaps().call_off();
        assert!(all_of(&trial.sandbox) == wanted, "the device was lost at wait {}", waits + 1);
        if trial.losses == 0 {
            assert!(left, "a device was lost at wait {} and nobody noticed", waits + 1);
            break;
        }
        waits += 1;
    }
    println!("{waits} waits");
    assert!(waits >= 3, "{waits}");
}

/// Refuses every allocation of `act` in turn, until it needs no more than were granted. How many there were.
fn refused_everywhere<T>(gpu: &Gpu, mut act: impl FnMut() -> Result<T, String>) -> u32 {
    for n in 1.. {
        gpu.mishaps().refuse_allocation(n);
        let done = act();
        let left = gpu.mishaps().call_off();
        match done {
            Ok(_) => {
                assert!(left, "allocation {n} was refused and nobody noticed");
                return n - 1;
            }
            Err(told) => {
                assert!(!left, "{told}");
                assert!(told.contains("graphics memory") && told.contains("--compute cpu"), "{told}");
            }
        }
    }
    0
}

#[test]
fn memory_that_is_refused_anywhere_changes_nothing() {
    let Some(gpu) = Gpu::for_test() else { return };
    // By octrees every step asks the device; by hulls it has nothing to do.
    let contacts = ContactsId::named("octree").unwrap();
    let mut sandbox = testing::shown(&gpu, Scene { contacts, ..scene() });
    sandbox.look_for_contacts(Narrow::Gpu);
    Fracturer::shared(&sandbox.passes, &gpu).unwrap();
    sandbox.step().unwrap();
    let before = all_of(&sandbox);
    let target = sandbox.bodies()[0].clone();
    let place = target.state.position;
    let broke = refused_everywhere(&gpu, || {
        assert!(all_of(&sandbox) == before);
        sandbox.break_at(target.id, place, DVec3::NEG_Y);
        loop {
            match sandbox.poll() {
                Ok(Some(Arrived::Broke)) => return Ok(()),
                Ok(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(error) => return Err(error.to_string()),
            }
        }
    });
    let error = sandbox.last_break().unwrap().mass_error;
    assert!(sandbox.bodies().len() > 2 && error.abs() < 1e-6, "{error:e}");

    let before = all_of(&sandbox);
    let stepped = refused_everywhere(&gpu, || {
        assert!(all_of(&sandbox) == before);
        sandbox.step().map_err(|error| error.to_string())
    });

    let mut renderer = Renderer::new(sandbox.compute()).unwrap();
    let bodies = sandbox.shown_bodies(None);
    let mut side = 32;
    let drawn = refused_everywhere(&gpu, || {
        side += 1;
        let input = FrameInput {
            arena: &sandbox.arena().read().unwrap(),
            bodies: &bodies,
            camera: Camera { target: Vec3::Y * 0.5, ..Camera::default() },
            options: RenderOptions::default(),
            size: [side, side],
            seams: None,
            overlay: None,
        };
        renderer.still(&input, 1).map_err(|error| error.to_string())
    });

    // A scene that does not fit leaves what is open, where there are no older steps to let go of.
    let mut sandbox = shown(&gpu);
    let before = all_of(&sandbox);
    let opened = refused_everywhere(&gpu, || {
        assert!(all_of(&sandbox) == before);
        let finer = SceneBody::standing("builtin:vase".to_owned(), 8);
        sandbox.open_scene(Scene { bodies: vec![finer], ..Scene::default() });
        loop {
            match sandbox.poll() {
                Ok(Some(Arrived::Opened)) => return Ok(()),
                Ok(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(error) => return Err(error.to_string()),
            }
        }
    });
    println!(
        "allocations refused: {broke} of a break, {stepped} of a step, {drawn} of a picture, {opened} of a scene"
    );
    assert!(broke > 20 && stepped > 20 && drawn > 5 && opened >= 4);
}

#[test]
fn a_hundred_fractures_and_resets_end_with_the_memory_they_began_with() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = shown(&gpu);
    let mut cycle = || {
        let (id, place) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
        sandbox.break_at(id, place, DVec3::NEG_Y);
        testing::until(&mut sandbox, Arrived::Broke);
        sandbox.step().unwrap();
        sandbox.reset();
        // As the next frame does.
        sandbox.poll().unwrap();
        (gpu.buffer_bytes(), sandbox.read_arena(Arena::used_bytes), sandbox.timeline().bytes())
    };
    // Undo holds the last hundred steps, which are fifty of these.
    let mut before = (0..60).map(|_| cycle()).collect::<Vec<_>>();
    let after: Vec<_> = (0..100).map(|_| cycle()).collect();
    println!("{:?} after 1, {:?} after 60, {:?} after 160", before[0], before[59], after[99]);
    before.drain(..55);
    let most = |of: &[(u64, u64, usize)]| {
        of.iter().copied().reduce(|a, b| (a.0.max(b.0), a.1.max(b.1), a.2.max(b.2)))
    };
    let ([before, after], room) = ([&before, &after].map(|of| most(of).unwrap()), 1.05);
    assert!(after.0 as f64 <= room * before.0 as f64 && after.1 as f64 <= room * before.1 as f64);
    assert_eq!(after.2, before.2);
}

/// Handles of the passes, of which every worker has one.
fn workers(sandbox: &Sandbox) -> usize {
    std::sync::Arc::strong_count(&sandbox.passes) - 1
}

#[test]
fn ten_clicks_and_resets_leave_one_fracture_running() {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    Fracturer::shared(&sandbox.passes, Compute::Cpu).unwrap();
    let body = SceneBody {
        fracture: FractureParams { seeds: 200, ..FractureParams::default() },
        ..SceneBody::standing("builtin:vase".to_owned(), 9)
    };
    sandbox.open_scene(Scene { bodies: vec![body], ..Scene::default() });
    testing::until(&mut sandbox, Arrived::Opened);
    let mut tokens = Vec::new();
    for _ in 0..10 {
        let id = sandbox.bodies()[0].id;
        sandbox.break_at(id, DVec3::new(0.0, 0.6, 0.2), DVec3::NEG_Z);
        std::thread::sleep(std::time::Duration::from_millis(30));
        tokens.extend(sandbox.jobs.breaking.cancel().cloned());
        sandbox.reset();
    }
    assert!(tokens.len() == 10 && tokens.iter().all(|token| token.checks_left() <= 0));
    // An import does not wait for any of them.
    sandbox.open_scene(scene());
    testing::until(&mut sandbox, Arrived::Opened);
    let reset = std::time::Instant::now();
    while workers(&sandbox) > 0 {
        assert!(reset.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(sandbox.bodies().len(), 2);
    assert!(sandbox.poll().unwrap().is_none() && !sandbox.is_busy(), "nothing arrives that nobody waits for");
}
