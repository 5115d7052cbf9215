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
    asleep: f64,
    deepest: f64,
    spread: f64,
}

/// Patterns by which it is broken.
const PATTERNS: [u64; 5] = [1, 2, 3, 4, 5];
/// Deepest that a contact at rest may be, of the size, in the middle of the patterns.
const DEEP: f64 = 0.004;
/// Most heaps of all sizes that may never sleep, and that may be deeper: of 68 heaps one was awake, of 20 two to three
/// were deeper.
const MOST_AWAKE: usize = 2;
const MOST_DEEP: usize = 7;
/// A cell of its physics level, of its size.
const CELL: f64 = 1.0 / 30.0;

/// The vase of that size broken by the pattern of that number.
fn broken(ways: Ways, size: f64, dt: f64, rng: u64) -> Option<Rest> {
    let vase = SceneBody {
        size: Some(size),
        physics_level: Some(5),
        fracture: FractureParams { seeds: 30, rng, ..FractureParams::default() },
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
        hold: false,
        energy: None,
        at_once: false,
    };
    let mut sandbox =
        open(ways.of(Scene { bodies: vec![vase], events: vec![blow], dt, ..Scene::default() }))?;
    let own_time = size.sqrt();
    let (mut asleep, mut deepest) = (f64::INFINITY, 0.0);
    while sandbox.time() < 12.0 * own_time {
        let r = step(&mut sandbox);
        // Of a heap that never sleeps, what presses at the end.
        deepest = r.deepest / size;
        if sandbox.time() > 0.5 * own_time && r.awake == 0 {
            asleep = sandbox.time() / own_time;
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
    Some(Rest { asleep, deepest, spread: spread / size })
}

#[test]
fn what_breaks_comes_to_rest_alike_at_any_size() {
    holds(Ways::default());
}

/// Of an odd number of figures the middle one.
fn median(of: impl Fn(&Rest) -> f64, all: &[Rest]) -> f64 {
    let mut figures: Vec<f64> = all.iter().map(of).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Heaps are chaotic: of one pattern in ten or so a pair is wedged, at any size, so several are played of each.
pub fn holds(ways: Ways) {
    let sizes = [(1.0, 0.01), (0.01, 0.001), (0.1, 0.003), (5.0, 0.01), (20.0, 0.01)];
    let (mut metre, mut awake, mut deep) = (None, 0, 0);
    for (size, dt) in sizes {
        let all = PATTERNS.map(|rng| broken(ways, size, dt, rng));
        let Some(all) = all.into_iter().collect::<Option<Vec<_>>>() else { return };
        let [asleep, deepest, spread] =
            [median(|r| r.asleep, &all), median(|r| r.deepest, &all), median(|r| r.spread, &all)];
        println!(
            "P19: {size} m, in the middle: asleep after {asleep:.2}, {deepest:.4} deep, {spread:.2} wide, by {} and {}",
            ways.contacts, ways.response
        );
        let (asleep_of_metre, spread_of_metre) = *metre.get_or_insert((asleep, spread));
        assert!(asleep < 1.7 * asleep_of_metre, "{size} m: {asleep} of its times");
        assert!(deepest < DEEP, "{size} m: {deepest} of its size deep");
        awake += all.iter().filter(|r| r.asleep.is_infinite()).count();
        deep += all.iter().filter(|r| r.deepest > DEEP).count();
        let greatest = all.iter().map(|r| r.deepest).fold(0.0, f64::max);
        assert!(greatest < CELL, "{size} m: {greatest} of its size deep");
        let ratio = spread / spread_of_metre;
        assert!((0.6..1.7).contains(&ratio), "{size} m: {ratio:.2} times as wide");
    }
    // The middle one of five is deaf to two that are wedged; of all heaps hardly one in seven is.
    let heaps = sizes.len() * PATTERNS.len();
    println!("P19: of {heaps} heaps {awake} never sleep, {deep} are deeper than {DEEP} of their size");
    assert!(awake <= MOST_AWAKE, "{awake} of {heaps} heaps never sleep");
    assert!(deep <= MOST_DEEP, "{deep} of {heaps} heaps are deeper than {DEEP} of their size");
}
