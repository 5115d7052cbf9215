//! The badge: whatever breaks a body and however, everything that was there is there; and errors in the motion are seen.

use std::time::Duration;

use glam::{DQuat, DVec3};

use super::{Arrived, Sandbox, testing};
use crate::{
    bodies::{Body, BodyId},
    compute::Compute,
    export::checks::Check,
    fracture::{Break, FractureParams, MethodId, SmallRule, Smallest, Surface},
    scene::{Blow, BreakSummary, Scene, SceneBody, breaking::motion_checks},
};

fn opened(body: SceneBody) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    sandbox.check_breaks();
    sandbox.open_scene(Scene { bodies: vec![body], ..Scene::default() });
    testing::until(&mut sandbox, Arrived::Opened);
    while sandbox.is_breaking() || sandbox.is_checking() {
        sandbox.poll().unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    sandbox
}

fn boxed(fracture: FractureParams) -> SceneBody {
    SceneBody { fracture, ..SceneBody::standing("builtin:box", 6) }
}

/// Lets a body fly and turn; its copy.
fn thrown(sandbox: &mut Sandbox, id: BodyId) -> Body {
    let body = sandbox.stage.body_mut(id).unwrap();
    body.state.rotation = DQuat::from_xyzw(0.1, -0.5, 0.3, 0.8).normalize();
    body.state.linear_velocity = DVec3::new(1.0, -2.0, 0.5);
    body.state.angular_velocity = DVec3::new(-3.0, 1.0, 4.0);
    body.clone()
}

fn strike(sandbox: &mut Sandbox, id: BodyId) {
    let place = sandbox.stage.body(id).unwrap().state.position;
    sandbox.break_at(id, place, DVec3::NEG_Z);
    testing::until(sandbox, Arrived::Broke);
    assert_eq!(sandbox.is_comparing(sandbox.last_break().unwrap()), sandbox.is_checking());
    // Planted error to see this fail: whether any break is being compared.
    assert!(!sandbox.is_comparing(&BreakSummary::default()));
    while sandbox.is_checking() {
        sandbox.poll().unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn checks(sandbox: &Sandbox) -> Vec<Check> {
    let summary = sandbox.last_break().unwrap();
    assert!(summary.is_checked());
    summary.checks().cloned().collect()
}

/// Names of the checks, all of which hold.
fn held(sandbox: &Sandbox, what: &str) -> Vec<String> {
    let all = checks(sandbox);
    assert!(all.iter().all(|check| check.ok), "{what}: {all:#?}");
    all.into_iter().map(|check| check.name).collect()
}

fn figure(sandbox: &Sandbox, check: &str, name: &str) -> f64 {
    checks(sandbox).iter().find(|one| one.name == check).unwrap().figures[name]
}

const MOMENTUM: &str = "momentum_before_is_momentum_after";
const VOXELS: &str = "voxels_before_are_voxels_after";

#[test]
fn everything_that_was_there_is_there_however_it_breaks() {
    let small = |rule| Some(Smallest { voxels: 3000, fraction: 0.0, rule });
    let usual = || FractureParams { seeds: 25, surface: Surface::Planar, ..FractureParams::default() };
    let boxcut = MethodId::named("box-cut").unwrap();
    let ways = [
        ("planar", usual()),
        ("rough", FractureParams { surface: Surface::Rough, ..usual() }),
        ("dusty", FractureParams { surface: Surface::Dusty, ..usual() }),
        ("merged", FractureParams { smallest: small(SmallRule::Merge), ..usual() }),
        ("dropped", FractureParams { smallest: small(SmallRule::Drop), ..usual() }),
        ("cells that stay together", FractureParams { keep: vec![0, 1, 2, 3], ..usual() }),
        ("a mesh", FractureParams { method: boxcut, ..usual() }),
    ];
    for (what, fracture) in ways {
        let mut sandbox = opened(boxed(fracture));
        assert!(sandbox.last_break().is_none());
        let first = sandbox.bodies()[0].id;
        let body = thrown(&mut sandbox, first);
        strike(&mut sandbox, first);
        let names = held(&sandbox, what);
        assert!(names.len() >= 4 && names.iter().any(|name| name == MOMENTUM), "{what}: {names:?}");
        let before = figure(&sandbox, MOMENTUM, "before");
        let wanted = body.def.mass_kg() * DVec3::new(1.0, -2.0, 0.5).length();
        assert!((before / wanted - 1.0).abs() < 1e-12 && figure(&sandbox, MOMENTUM, "blow") > 0.0, "{what}");
        if what != "a mesh" {
            let voxels = body.def.octree().mass.voxels as f64;
            assert_eq!(figure(&sandbox, VOXELS, "before"), voxels, "{what}");
        }
        let lost = figure(&sandbox, MOMENTUM, "elsewhere");
        assert_eq!(lost > 0.0, ["dusty", "dropped", "a mesh"].contains(&what), "{what}: {lost}");
        // A piece of it again, where that can have pieces that are not too small.
        if ["merged", "dropped"].contains(&what) {
            continue;
        }
        let volume = |body: &&Body| body.def.shape.mass().volume_m3;
        let largest = sandbox.bodies().iter().max_by(|a, b| volume(a).total_cmp(&volume(b))).unwrap().id;
        thrown(&mut sandbox, largest);
        strike(&mut sandbox, largest);
        held(&sandbox, what);
        // The figures go with the moment.
        let second = figure(&sandbox, MOMENTUM, "before");
        assert!(second < before);
        assert!(sandbox.undo().is_some());
        assert_eq!(figure(&sandbox, MOMENTUM, "before"), before, "{what}");
    }
}

#[test]
fn what_cannot_move_and_what_holds_raises_no_alarm() {
    let fracture = || FractureParams { seeds: 20, ..FractureParams::default() };
    // The part that stays together stays fixed; the blow moves the others, which are free.
    let keep = FractureParams { keep: vec![0, 1, 2, 3], ..fracture() };
    let mut sandbox = opened(SceneBody { fixed: true, ..boxed(keep) });
    let id = sandbox.bodies()[0].id;
    strike(&mut sandbox, id);
    held(&sandbox, "fixed");
    let (fixed, free): (Vec<&Body>, Vec<&Body>) = sandbox.bodies().iter().partition(|body| body.is_static());
    assert!(!fixed.is_empty() && !free.is_empty(), "{} fixed, {} free", fixed.len(), free.len());
    let moved: DVec3 = free.iter().map(|body| body.state.linear_velocity * body.def.mass_kg()).sum();
    let after = figure(&sandbox, MOMENTUM, "after");
    assert!(after > 0.0 && (after / moved.length() - 1.0).abs() < 1e-9, "{after} {moved}");
    assert_eq!(figure(&sandbox, MOMENTUM, "before"), 0.0);
    // Broken as the scene is opened, into one body whose parts hold and which moves.
    let velocity = DVec3::new(1.0, -2.0, 0.5);
    let mut sandbox = opened(SceneBody {
        hold: true,
        on_floor: false,
        position: DVec3::Y * 5.0,
        linear_velocity: velocity,
        angular_velocity: DVec3::new(-3.0, 1.0, 4.0),
        ..boxed(fracture())
    });
    assert_eq!(sandbox.bodies().len(), 1);
    assert_eq!(held(&sandbox, "held").len(), 6);
    let momentum = sandbox.bodies()[0].def.mass_kg() * velocity.length();
    for name in ["before", "after"] {
        assert!((figure(&sandbox, MOMENTUM, name) / momentum - 1.0).abs() < 1e-6, "{name}");
    }
    // A knock frees parts, and is no break.
    let before = checks(&sandbox);
    let place = sandbox.bodies()[0].state.position;
    let id = sandbox.bodies()[0].id;
    sandbox.break_at(id, place, DVec3::NEG_Z);
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(checks(&sandbox), before);
}

#[test]
fn nothing_is_compared_unless_it_is_wanted() {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    let body = boxed(FractureParams { seeds: 5, ..FractureParams::default() });
    sandbox.open_scene(Scene { bodies: vec![body], ..Scene::default() });
    testing::until(&mut sandbox, Arrived::Opened);
    let id = sandbox.bodies()[0].id;
    strike(&mut sandbox, id);
    let summary = sandbox.last_break().unwrap();
    assert!(!summary.is_checked() && summary.checks().count() == 2);
}

#[test]
fn a_piece_whose_motion_is_off_is_seen() {
    let fracture = FractureParams { seeds: 12, surface: Surface::Planar, ..FractureParams::default() };
    let mut sandbox = opened(boxed(fracture));
    let tuning = crate::scene::Tuning { blow_speed: 0.0, ..sandbox.tuning().clone() };
    sandbox.tune("speed", tuning);
    let id = sandbox.bodies()[0].id;
    let before = thrown(&mut sandbox, id);
    strike(&mut sandbox, id);
    let found = |change: fn(&mut Body)| -> Vec<bool> {
        let mut after = sandbox.bodies().to_vec();
        change(&mut after[1]);
        let after: Vec<&Body> = after.iter().collect();
        let blow = Blow { point: before.state.position, direction: DVec3::NEG_Z, speed: 0.0 };
        let checks = motion_checks(&before, &after, (&blow, 0.1), &Break::default());
        checks.into_iter().map(|check| check.ok).collect()
    };
    assert_eq!(found(|_| {}), [true, true]);
    assert_eq!(found(|piece| piece.state.linear_velocity.x += 0.1), [false, false]);
    assert_eq!(found(|piece| piece.state.angular_velocity.z += 1.0), [true, false]);
    // One that cannot move any more takes its share along, and the others' must still agree.
    assert_eq!(found(|piece| piece.locked = true), [true, true]);
}
