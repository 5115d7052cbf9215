//! The physics checks P1 to P15 of the design on the scenes that are shipped, played as `kintsugi simulate` plays them. Figures
//! are printed. P14 (the broad phase) is tested beside its code; shapes made in code are tested in `src/bodies/tests.rs`.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use glam::{DQuat, DVec3};
use kintsugi::{
    bodies::{Body, StepReport},
    gpu::Gpu,
    scene::{Arrived, Event, Sandbox, Scene, load_scene},
};

const G: f64 = 9.81;

fn shipped(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes").join(name).with_extension("toml");
    load_scene(&path).expect("a shipped scene")
}

fn until(sandbox: &mut Sandbox, wanted: Arrived) {
    let start = Instant::now();
    while sandbox.poll().expect("it goes well") != Some(wanted) {
        assert!(start.elapsed() < Duration::from_secs(300), "waited too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn open(scene: Scene) -> Sandbox {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let mut sandbox = Sandbox::new(&gpu).expect("an empty sandbox");
    sandbox.open_scene(scene);
    until(&mut sandbox, Arrived::Opened);
    sandbox
}

/// One step, and the fractures that it starts.
fn step(sandbox: &mut Sandbox) -> StepReport {
    sandbox.step().expect("it steps");
    while sandbox.is_breaking() {
        until(sandbox, Arrived::Broke);
    }
    sandbox.last_step().clone()
}

fn play(sandbox: &mut Sandbox, seconds: f64) -> StepReport {
    let mut last = StepReport::default();
    for _ in 0..(seconds / sandbox.settings().dt).round() as usize {
        last = step(sandbox);
    }
    last
}

fn only(sandbox: &Sandbox) -> &Body {
    assert_eq!(sandbox.bodies().len(), 1);
    &sandbox.bodies()[0]
}

fn fastest(sandbox: &Sandbox) -> f64 {
    sandbox.bodies().iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max)
}

#[test]
fn p1_free_fall() {
    let mut sandbox = open(shipped("p01-free-fall"));
    let start = only(&sandbox).state.position;
    play(&mut sandbox, 1.0);
    let state = only(&sandbox).state;
    let (n, h) = (400.0, 0.0025);
    let speed = (state.linear_velocity + DVec3::Y * G * n * h).length();
    let way = (state.position - start + DVec3::Y * G * h * h * n * (n + 1.0) / 2.0).length();
    println!("P1: speed off by {speed:.1e} m/s (1e-4), way by {way:.1e} m (1e-5)");
    assert!(speed < 1e-4 && way < 1e-5);
}

#[test]
fn p2_a_box_at_rest_presses_with_its_weight() {
    let mut sandbox = open(shipped("p02-rest"));
    let r = play(&mut sandbox, 2.0);
    let weight = only(&sandbox).def.mass_kg() * G;
    println!("P2: force over weight {:.6} (1 +- 0.01)", r.floor_force.y / weight);
    assert!((r.floor_force.y / weight - 1.0).abs() < 0.01);
    assert!(r.floor_force.with_y(0.0).length() < 0.01 * weight);
}

#[test]
fn p3_its_depth_is_the_same_at_all_levels_and_sizes() {
    let mut depths = Vec::new();
    for size in [0.2, 1.0, 5.0] {
        for level in [5, 6, 7] {
            let mut scene = shipped("p02-rest");
            let body = &mut scene.bodies[0];
            (body.size, body.level, body.physics_level) = (Some(size), level, Some(level - 1));
            let mut sandbox = open(scene);
            let r = play(&mut sandbox, 2.0);
            println!("P3: {size} m, level {level}: {:.3e} m, {} contacts", r.deepest, r.contacts);
            depths.push(r.deepest);
        }
    }
    let mean = depths.iter().sum::<f64>() / depths.len() as f64;
    let off = depths.iter().map(|d| (d / mean - 1.0).abs()).fold(0.0, f64::max);
    println!("P3: mean {mean:.3e} m, farthest from it {:.2} % (5 %)", off * 100.0);
    assert!(mean > 1e-6 && off < 0.05);
}

#[test]
fn p4_a_box_at_rest_does_not_drift() {
    let mut sandbox = open(shipped("p04-drift"));
    assert!(!sandbox.settings().sleeping);
    play(&mut sandbox, 1.0);
    let then = only(&sandbox).state;
    let mut speed = 0.0f64;
    for _ in 0..6000 {
        step(&mut sandbox);
        speed = speed.max(fastest(&sandbox));
    }
    let now = only(&sandbox).state;
    let drift = (now.position - then.position).length();
    let turned = now.rotation.angle_between(then.rotation).to_degrees();
    println!(
        "P4: in 60 s drift {drift:.1e} m (1e-3), {turned:.1e} degrees (0.1), speed {speed:.1e} m/s (1e-3)"
    );
    assert!(drift < 1e-3 && turned < 0.1 && speed < 1e-3);
}

#[test]
fn p5_ten_cubes_stand() {
    let mut sandbox = open(shipped("p05-stack"));
    assert_eq!(sandbox.bodies().len(), 10);
    let start = sandbox.bodies()[9].state.position;
    let r = play(&mut sandbox, 60.0);
    let drift = sandbox.bodies()[9].state.position - start;
    println!(
        "P5: top {:.2} mm aside, {:.2} mm up (5), {} awake",
        drift.with_y(0.0).length() * 1e3,
        drift.y * 1e3,
        r.awake
    );
    assert!(drift.length() < 5e-3 && r.awake == 0);
}

#[test]
fn p6_sliding_obeys_coulomb() {
    let mut worst = 0.0f64;
    for heading in (0..360).step_by(30) {
        let mut scene = shipped("p06-slide");
        let turn = DQuat::from_rotation_y(f64::from(heading).to_radians());
        scene.bodies[0].linear_velocity = turn * scene.bodies[0].linear_velocity;
        let mut sandbox = open(scene);
        let start = only(&sandbox).state.position;
        play(&mut sandbox, 1.0);
        let way = (only(&sandbox).state.position - start).with_y(0.0).length();
        let wanted = 20.0 - 0.5 * 0.5 * G;
        println!("P6: heading {heading}: {way:.3} m, Coulomb's law {wanted:.3} m");
        worst = worst.max((way / wanted - 1.0).abs());
    }
    println!("P6: at most {:.3} % off (1 %)", worst * 100.0);
    assert!(worst < 0.01);
}

#[test]
fn p7_an_incline_holds_and_lets_go() {
    for (name, degrees) in [("p07-incline-hold", -2.0), ("p07-incline-slide", 2.0f64)] {
        let scene = shipped(name);
        let angle = 0.5f64.atan() + degrees.to_radians();
        assert!((scene.gravity - G * DVec3::new(angle.sin(), -angle.cos(), 0.0)).length() < 1e-5);
        let mut sandbox = open(scene);
        play(&mut sandbox, 2.0);
        let speed = only(&sandbox).state.linear_velocity.length();
        println!("P7: atan(mu) {degrees:+} degrees: {speed:.1e} m/s (holds below 1e-3)");
        // Two degrees more than friction holds: g (sin a - mu cos a) t = 0.76 m/s.
        let wanted = 2.0 * G * (angle.sin() - 0.5 * angle.cos());
        assert!(if degrees < 0.0 { speed < 1e-3 } else { (speed / wanted - 1.0).abs() < 0.05 });
    }
}

#[test]
fn p8_rebound_height_is_restitution_squared() {
    for restitution in [0.0, 0.3, 0.5, 0.7, 0.9f64] {
        let mut scene = shipped("p08-drop");
        scene.bodies[0].restitution = restitution;
        let mut sandbox = open(scene);
        let (start, radius) = (only(&sandbox).state.position.y, 0.25);
        let drop = start - radius;
        let (mut landed, mut top) = (false, 0.0f64);
        for _ in 0..150 {
            step(&mut sandbox);
            let state = only(&sandbox).state;
            landed |= state.position.y < radius + 0.05 && state.linear_velocity.y > -1.0;
            if landed {
                top = top.max((state.position.y - radius) / drop);
            }
        }
        let wanted = restitution * restitution;
        println!("P8: restitution {restitution}: rebound {top:.3} of the height, {wanted:.3} wanted");
        assert!((top - wanted).abs() < if restitution == 0.0 { 0.02 } else { 0.05 });
    }
}

#[test]
fn p9_a_collision_keeps_momentum() {
    let mut sandbox = open(shipped("p09-collide"));
    let before = step(&mut sandbox);
    let (mut met, mut after) = (0, before.clone());
    for _ in 0..200 {
        after = step(&mut sandbox);
        met += after.contacts;
    }
    let linear = (after.momentum - before.momentum).length() / before.momentum.length();
    let angular =
        (after.angular_momentum - before.angular_momentum).length() / before.angular_momentum.length();
    println!(
        "P9: momentum {linear:.1e}, angular momentum {angular:.1e} (1e-4), kinetic {:.1} of {:.1} J",
        after.kinetic, before.kinetic
    );
    assert!(met > 0 && linear < 1e-4 && angular < 1e-4 && after.kinetic < 0.99 * before.kinetic);
}

#[test]
fn p10_a_spinning_body_keeps_its_spin() {
    let mut sandbox = open(shipped("p10-spin"));
    let spin = |b: &Body| b.inertia_in_world() * b.state.angular_velocity;
    let of = |b: &Body| (spin(b), b.state.angular_velocity.dot(spin(b)));
    let (l, e) = of(only(&sandbox));
    let mut range = (1.0f64, 1.0f64);
    let mut off = 0.0f64;
    for _ in 0..500 {
        step(&mut sandbox);
        let now = of(only(&sandbox));
        range = (range.0.min(now.1 / e), range.1.max(now.1 / e));
        off = off.max((now.0 - l).length() / l.length());
    }
    println!(
        "P10: energy between {:.6} and {:.6} (0.7, 1.0001), angular momentum off by {off:.1e} (0.02)",
        range.0, range.1
    );
    assert!(range.0 > 0.7 && range.1 < 1.0001 && off < 0.02);
}

#[test]
fn p11_a_slab_never_passes_the_floor() {
    for tilt in [0.0, 20.0, 45.0, 85.0f64] {
        let mut scene = shipped("p11-slab");
        scene.bodies[0].rotation = DQuat::from_rotation_z(tilt.to_radians());
        let mut sandbox = open(scene);
        let (mut lowest, mut deepest) = (f64::MAX, 0.0f64);
        let mut r = StepReport::default();
        for _ in 0..1000 {
            r = step(&mut sandbox);
            let state = only(&sandbox).state;
            let up = DVec3::Y.dot(state.rotation * DVec3::Y).abs();
            // The lowest corner of a box that is 2 m wide and 0.06 m high.
            let half = state.rotation.inverse() * DVec3::Y;
            lowest = lowest.min(state.position.y - (half.x.abs() + half.z.abs() + 0.03 * up));
            deepest = deepest.max(r.deepest);
            if r.awake == 0 {
                break;
            }
        }
        println!(
            "P11: tilt {tilt}: lowest corner {:.2} mm, deepest contact {:.2} mm, asleep at {:.2} s",
            lowest * 1e3,
            deepest * 1e3,
            r.time
        );
        assert!(lowest > -0.03 && r.awake == 0 && only(&sandbox).state.position.y > 0.025);
    }
}

/// Deepest that a contact at rest may be, cells of the physics level.
const DEEP: f64 = 0.5;

/// Plays until all pieces sleep, or for ten seconds. What presses at the end, sleepers included, is less than half a cell deep.
fn settles(what: &str, scene: Scene) {
    let mut sandbox = open(scene);
    let clock = Instant::now();
    let (mut r, mut deepest, mut fast) = (StepReport::default(), 0.0f64, 0.0f64);
    let mut steps = 0;
    while sandbox.time() < 9.995 {
        r = step(&mut sandbox);
        assert!(sandbox.bodies().iter().all(|b| b.state.is_finite()) && r.frozen == 0);
        (deepest, fast, steps) = (deepest.max(r.deepest), fast.max(fastest(&sandbox)), steps + 1);
        // The last blow of these scenes falls at half a second.
        if r.awake == 0 && sandbox.time() > 1.0 {
            break;
        }
    }
    let def = &sandbox.bodies()[0].def;
    let cell = def.octree().grid.h * f64::from(1u32 << (def.octree().forest.level - def.collision_level()));
    let rest = r.deepest / cell;
    println!(
        "P12: {what}: {} pieces, {} awake at {:.2} s; deepest {:.2} cells, at rest {rest:.2} ({DEEP}); fastest {fast:.1} m/s; \
         {:.1} ms a step",
        sandbox.bodies().len(),
        r.awake,
        sandbox.time(),
        deepest / cell,
        clock.elapsed().as_secs_f64() * 1e3 / f64::from(steps)
    );
    assert!(sandbox.bodies().len() > 30 && r.awake == 0 && fast < 15.0);
    assert!(sandbox.bodies().iter().all(|b| b.state.position.y > -0.5 * cell));
    assert!(rest < DEEP, "a contact at rest is deeper than {DEEP} cells");
}

#[test]
fn p12_ninety_pieces_come_to_rest() {
    settles("block", shipped("p12-pile"));
    for rng in [1, 2, 3] {
        let mut scene = shipped("vase");
        let body = &mut scene.bodies[0];
        (body.level, body.physics_level) = (7, Some(6));
        (body.fracture.seeds, body.fracture.rng) = (90, rng);
        settles(&format!("vase, seed {rng}"), scene);
    }
}

#[test]
fn p12_five_hundred_pieces_come_to_rest() {
    let mut scene = shipped("p12-pile");
    scene.bodies[0].fracture.seeds = 500;
    settles("block", scene);
}

#[test]
fn p13_the_same_run_gives_the_same_bytes() {
    let run = || {
        let mut sandbox = open(shipped("p12-pile"));
        play(&mut sandbox, 1.0);
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for b in sandbox.bodies() {
            let s = &b.state;
            let words = s.position.to_array().into_iter().chain(s.rotation.to_array());
            for v in words.chain(s.linear_velocity.to_array()).chain(s.angular_velocity.to_array()) {
                hash = (hash ^ v.to_bits()).wrapping_mul(0x0100_0000_01b3);
            }
        }
        (sandbox.bodies().len(), hash)
    };
    let (a, b) = (run(), run());
    println!("P13: {} bodies, {:016x} {:016x}", a.0, a.1, b.1);
    assert!(a.0 > 50 && a == b);
}

#[test]
fn p15_pieces_that_nothing_pushes_stay() {
    for name in ["p12-pile", "vase"] {
        let mut scene = shipped(name);
        (scene.gravity, scene.floor, scene.sleeping) = (DVec3::ZERO, false, false);
        (scene.bodies[0].level, scene.bodies[0].physics_level) = (7, Some(6));
        for event in &mut scene.events {
            if let Event::Impact { time, speed, .. } = event {
                (*time, *speed) = (0.0, 0.0);
            }
        }
        let mut sandbox = open(scene);
        let r = play(&mut sandbox, 2.0);
        println!(
            "P15: {name}: {} pieces, {} points, fastest {:.1e} m/s (1e-6)",
            sandbox.bodies().len(),
            r.collision_points,
            fastest(&sandbox)
        );
        assert!(sandbox.bodies().len() > 30 && r.collision_points > 100 && fastest(&sandbox) < 1e-6);
    }
}
