//! The checks by other contact generators and other responses than those that scenes have where nobody chooses. Which
//! hold for which, and why not the others, is in docs/physics.md.

use std::time::Instant;

use kintsugi::{
    bodies::{ContactsId, ResponseId, StepReport},
    scene::Scene,
};

use super::{
    p1_free_fall, p2_weight, p3_depth, p4_drift, p5_stack, p6_slide, p7_incline, p8_rebound, p9_collision,
    p10_spin, p11_slab, p12_pile, p13_bytes, p15_birth, p17_balls, p18_unequal_stack, p19_any_size,
    p20_breaking, p21_rolling, p22_tunnelling,
    support::stage::{open, shipped, step},
};

/// How contacts are found and answered.
#[derive(Clone, Copy)]
pub struct Ways {
    pub contacts: &'static str,
    pub response: &'static str,
}

impl Default for Ways {
    fn default() -> Self {
        Self { contacts: "mixed", response: "soft" }
    }
}

impl Ways {
    /// The scene played so.
    pub fn of(self, scene: Scene) -> Scene {
        kintsugi::papers::register();
        let contacts = ContactsId::named(self.contacts).expect("a finder");
        let response = ResponseId::named(self.response).expect("a response");
        Scene { contacts, response, ..scene }
    }
}

/// A check by its number.
type Check = (&'static str, fn(Ways));

/// What holds however contacts are found and answered.
const ALWAYS: [Check; 10] = [
    ("P1", p1_free_fall::holds),
    ("P2", p2_weight::holds),
    ("P4", p4_drift::holds),
    ("P5", p5_stack::holds),
    ("P6", p6_slide::holds),
    ("P7", p7_incline::holds),
    ("P9", p9_collision::holds),
    ("P10", p10_spin::holds),
    ("P11", p11_slab::holds),
    ("P18", p18_unequal_stack::holds),
];

/// What a generator does to pieces, and to what is fast. P12 and P13 hold for octrees and impulses, too, and take long.
const OF_FINDERS: [Check; 4] = [
    ("P12", p12_pile::holds),
    ("P13", p13_bytes::holds),
    ("P15", p15_birth::holds),
    ("P22", p22_tunnelling::holds),
];

/// What needs balls: hulls have corners, on which they bounce askew.
const OF_BALLS: [Check; 2] = [("P8", p8_rebound::holds), ("P21", p21_rolling::holds)];

/// What needs springs: impulses leave a body in the floor as deep as their slop lets it come to lie.
const OF_SPRINGS: [Check; 1] = [("P3", p3_depth::holds)];

/// What is asked of fields beside all that.
const OF_FIELDS: [Check; 3] =
    [("P17", p17_balls::holds), ("P19", p19_any_size::holds), ("P20", p20_breaking::holds)];

fn hold(ways: Ways, checks: impl IntoIterator<Item = Check>) {
    for (name, check) in checks {
        println!("{name} by {} and {}:", ways.contacts, ways.response);
        check(ways);
    }
}

#[test]
fn hulls_answered_by_soft_constraints() {
    hold(Ways { contacts: "hull", response: "soft" }, ALWAYS.into_iter().chain(OF_FINDERS).chain(OF_SPRINGS));
}

#[test]
fn hulls_answered_by_impulses() {
    hold(Ways { contacts: "hull", response: "impulse" }, ALWAYS.into_iter().chain(OF_FINDERS));
}

#[test]
fn octrees_answered_by_impulses() {
    hold(Ways { contacts: "octree", response: "impulse" }, ALWAYS.into_iter().chain(OF_BALLS));
}

#[cfg(feature = "papers")]
#[test]
fn fields_answered_by_soft_constraints() {
    let all = ALWAYS.into_iter().chain(OF_FINDERS).chain(OF_BALLS).chain(OF_SPRINGS);
    hold(Ways { contacts: "field", response: "soft" }, all.chain(OF_FIELDS));
}

#[test]
fn octrees_answered_by_soft_constraints() {
    // P19 takes minutes, and the default and fields play it.
    let others = OF_FIELDS.into_iter().filter(|(name, _)| *name != "P19");
    let all = ALWAYS.into_iter().chain(OF_FINDERS).chain(OF_BALLS).chain(OF_SPRINGS);
    hold(Ways { contacts: "octree", response: "soft" }, all.chain(others));
}

/// Every check by every generator and response, whether it holds or not: what docs/physics.md says of the rest.
#[test]
#[ignore = "takes minutes and asserts nothing"]
fn all_checks_are_tabulated() {
    let all = ALWAYS.into_iter().chain(OF_FINDERS).chain(OF_BALLS).chain(OF_SPRINGS);
    let all: Vec<Check> = all.chain(OF_FIELDS).collect();
    let only = std::env::var("KINTSUGI_WAYS").unwrap_or_default();
    for contacts in ["mixed", "octree", "hull", "field"] {
        for response in ["soft", "impulse"].into_iter().filter(|_| only.is_empty() || only == contacts) {
            let ways = Ways { contacts, response };
            let fails = |check: &&Check| std::panic::catch_unwind(|| check.1(ways)).is_err();
            let failed: Vec<&str> = all.iter().filter(fails).map(|check| check.0).collect();
            println!("{contacts}, {response}: all but {failed:?}");
        }
    }
}

/// What docs/physics.md says of balls by other ways.
#[test]
#[ignore = "takes a minute and asserts nothing"]
fn balls_are_measured() {
    for (contacts, response) in
        [("hull", "soft"), ("hull", "impulse"), ("octree", "impulse"), ("field", "soft")]
    {
        let ways = Ways { contacts, response };
        let [off, turned, spin] = p17_balls::figures(ways);
        println!(
            "P17 by {contacts} and {response}: off by {:.2} %, {turned:.2} degrees, {spin:.3} rad/s",
            off * 100.0
        );
        for degrees in [10.0, 20.0] {
            println!(
                "P21 by {contacts} and {response}: {degrees} degrees {:?} m",
                p21_rolling::way(ways, degrees, 0.0)
            );
        }
    }
}

/// What docs/lab/hull-contacts.md has: heaps of a hundred and four hundred pieces, by all generators and responses that
/// let them come to rest.
#[test]
#[ignore = "takes minutes and asserts nothing"]
fn heaps_are_measured() {
    for (seeds, contacts, response) in [100, 400]
        .into_iter()
        .flat_map(|seeds| ["octree", "field", "hull"].map(|contacts| (seeds, contacts)))
        .flat_map(|(seeds, contacts)| ["soft", "impulse"].map(|response| (seeds, contacts, response)))
    {
        let mut scene = Ways { contacts, response }.of(shipped("p12-pile"));
        scene.bodies[0].fracture.seeds = seeds;
        let Some(mut sandbox) = open(scene) else { return };
        let clock = Instant::now();
        let (mut steps, mut points, mut deepest, mut r) = (0, 0, 0.0f64, StepReport::default());
        let mut stages: Vec<(String, f64)> = Vec::new();
        while sandbox.time() < 9.995 && (steps == 0 || r.awake > 0) {
            r = step(&mut sandbox);
            (steps, points, deepest) = (steps + 1, points.max(r.contacts), deepest.max(r.deepest));
            for timing in &r.timings {
                match stages.iter_mut().find(|(stage, _)| *stage == timing.stage) {
                    Some((_, ms)) => *ms += timing.ms,
                    None => stages.push((timing.stage.clone(), timing.ms)),
                }
            }
        }
        let ms = clock.elapsed().as_secs_f64() * 1e3 / f64::from(steps);
        stages.iter_mut().for_each(|(_, ms)| *ms /= f64::from(steps));
        println!(
            "{} pieces, {contacts}, {response}: {} awake at {:.2} s, {ms:.1} ms a step, at most {points} points, {:.2} mm \
             deep, at rest {:.2} mm; {stages:.1?}",
            sandbox.bodies().len(),
            r.awake,
            sandbox.time(),
            deepest * 1e3,
            r.deepest * 1e3
        );
    }
}
