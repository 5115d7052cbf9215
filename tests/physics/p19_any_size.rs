//! P19: a broken vase of a centimetre, of a metre and of twenty comes to rest alike: lengths by its size, times by the
//! square root of it.

use glam::DVec3;
use kintsugi::{
    fracture::FractureParams,
    scene::{Event, Scene, SceneBody},
};

use super::{
    Ways,
    support::stage::{open, step},
};

/// What came of one size, in its own lengths (size) and times (square root of the size in metres, s).
struct Rest {
    size: f64,
    asleep: f64,
    deepest: f64,
    spread: f64,
}

fn broken(ways: Ways, size: f64, dt: f64) -> Option<Rest> {
    let vase = SceneBody {
        size: Some(size),
        physics_level: Some(5),
        fracture: FractureParams { seeds: 30, ..FractureParams::default() },
        ..SceneBody::standing("builtin:vase", 6)
    };
    let speed = 0.5 * size.sqrt();
    let blow = Event::Impact {
        time: 0.0,
        point: DVec3::new(0.0, 0.5, 0.15) * size,
        direction: DVec3::NEG_Z,
        speed,
        body: None,
        parts: Vec::new(),
        fracture: None,
    };
    let mut sandbox =
        open(ways.of(Scene { bodies: vec![vase], events: vec![blow], dt, ..Scene::default() }))?;
    let own_time = size.sqrt();
    let (mut asleep, mut deepest) = (f64::INFINITY, 0.0);
    while sandbox.time() < 12.0 * own_time {
        let r = step(&mut sandbox);
        if sandbox.time() > 0.5 * own_time && r.awake == 0 {
            (asleep, deepest) = (sandbox.time() / own_time, r.deepest / size);
            break;
        }
    }
    let spread = sandbox.bodies().iter().map(|b| b.state.position.with_y(0.0).length()).fold(0.0, f64::max);
    let awake = sandbox.bodies().iter().filter(|b| !b.asleep).count();
    println!(
        "P19: {size} m: {} pieces, {awake} awake, asleep after {asleep:.2} of its times; {:.4} of its size deep at rest, \
         {:.2} of it wide",
        sandbox.bodies().len(),
        deepest,
        spread / size
    );
    Some(Rest { size, asleep, deepest, spread: spread / size })
}

#[test]
fn what_breaks_comes_to_rest_alike_at_any_size() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let all = [(1.0, 0.01), (0.01, 0.001), (0.1, 0.003), (5.0, 0.01), (20.0, 0.01)];
    let Some(all) = all.map(|(size, dt)| broken(ways, size, dt)).into_iter().collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let metre = &all[0];
    for one in &all {
        assert!(one.asleep < 1.7 * metre.asleep, "{} m: {} of its times", one.size, one.asleep);
        assert!(one.deepest < 0.004, "{} m: {} of its size deep", one.size, one.deepest);
        let ratio = one.spread / metre.spread;
        assert!((0.6..1.7).contains(&ratio), "{} m: {ratio:.2} times as wide", one.size);
    }
}
