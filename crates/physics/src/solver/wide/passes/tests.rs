//! The passes against the batches of the cores: on heaps in which both take contacts in the same order, and on heaps with so many
//! rounds that the order does not matter; with errors planted in the kernels.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};

use super::{super::solve, *};
use crate::{
    BodyDef, BodyId, BodyState, Family, SoftStep,
    collide::{Ball, Point},
    gpu::{WORKGROUP, shaders::planting::with_error},
    solver::sequential::pressing,
    testing::{block, body, grid, world},
    tests::pile,
};

/// A heap at the start of a step.
#[derive(Clone)]
struct Heap {
    settings: WorldSettings,
    bodies: Vec<Body>,
    manifolds: Vec<Manifold>,
    /// Rounds with springs and without, where they are not those of the soft response.
    rounds: Option<[u32; 2]>,
}

/// What comes of a step.
#[derive(Debug, PartialEq)]
struct Outcome {
    states: Vec<BodyState>,
    /// Of each contact: impulse of the last substep, and of all of them.
    impulses: Vec<[DVec3; 2]>,
    slid: Vec<bool>,
    rolls: Vec<DVec3>,
}

/// Slows down what leans on something, by what it leans on.
fn settle(leans: &[f64], solver_bodies: &mut SolverBodies) {
    for (motion, lean) in solver_bodies.motions.iter_mut().zip(leans).filter(|(_, lean)| **lean < f64::MAX) {
        motion.angular *= 1.0 / (1.0 + lean);
    }
}

impl Heap {
    /// A step, on a device or on the cores.
    fn step(
        &self,
        device: Option<(&Gpu, &mut SolverPasses)>,
        record: Option<&mut SubstepImpulses>,
    ) -> Outcome {
        let Self { settings, mut bodies, mut manifolds, rounds } = self.clone();
        let edges = pressing(&bodies, &mut manifolds, &settings);
        assert!(!edges.is_empty(), "nothing presses");
        let soft = SoftStep::default();
        let springs = |scale, h| soft.soft(scale, h);
        let mut passes = soft.passes();
        passes.iterations = rounds.unwrap_or(passes.iterations);
        match device {
            Some((gpu, on)) => {
                let heap = (&mut bodies[..], &mut manifolds[..], &edges[..]);
                on.solve(gpu, heap, (&settings, record), &passes, springs, settle).expect("a step");
            }
            None => {
                let heap = (&mut bodies[..], &mut manifolds[..], edges);
                solve(heap, (&settings, record), &passes, springs, settle);
            }
        }
        let points = || manifolds.iter().flat_map(|m| &m.points);
        let both = |p: &Point| {
            let in_all = p.normal * p.total_impulse + p.total_friction;
            [p.normal * p.normal_impulse + p.friction_impulse, in_all]
        };
        Outcome {
            states: bodies.iter().map(|body| body.state).collect(),
            impulses: points().map(both).collect(),
            slid: points().map(|p| p.slid).collect(),
            rolls: manifolds.iter().map(|m| m.rolling_impulse).collect(),
        }
    }

    fn on_cores(&self) -> Outcome {
        self.step(None, None)
    }

    fn on_device(&self, gpu: &Gpu) -> Outcome {
        self.step(Some((gpu, &mut SolverPasses::new(gpu))), None)
    }
}

/// The largest; without end where one is no number.
fn largest(all: impl Iterator<Item = f64>) -> f64 {
    all.fold(0.0, |most, own| if own >= 0.0 { most.max(own) } else { f64::INFINITY })
}

/// The largest but for a fiftieth of them; without end where one is no number.
fn nearly_largest(all: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.map(|own| if own >= 0.0 { own } else { f64::INFINITY }).collect();
    all.sort_by(f64::total_cmp);
    match all.last() {
        Some(most) if most.is_infinite() => f64::INFINITY,
        _ => all.get((all.len().max(1) - 1) * 49 / 50).copied().unwrap_or(0.0),
    }
}

/// By how much two outcomes differ: speeds and impulses as shares of the largest ones, ways in centimetres and rotations in tenths of
/// a radian. Without end where more than a fiftieth of the contacts slid in one of them alone. A fiftieth of the impulses is passed
/// over: where contacts hold a body more often than it needs, rounding decides which of them bears how much, and no motion tells.
fn difference(a: &Outcome, b: &Outcome) -> f64 {
    let of_states = |part: fn(&BodyState, &BodyState) -> f64| {
        largest(a.states.iter().zip(&b.states).map(|(a, b)| part(a, b)))
    };
    let fastest = a.states.iter().map(|s| s.linear_velocity.length().max(s.angular_velocity.length()));
    let speed = 1.0 + largest(fastest);
    let most = largest(a.impulses.iter().flatten().map(|impulse| impulse.length())).max(1e-9);
    let pressed = a.impulses.iter().flatten().zip(b.impulses.iter().flatten()).map(|(a, b)| a.distance(*b));
    let rolled = a.rolls.iter().zip(&b.rolls).map(|(a, b)| a.distance(*b));
    let odd = a.slid.iter().zip(&b.slid).filter(|(a, b)| a != b).count();
    if odd > a.slid.len() / 50 + 1 {
        return f64::INFINITY;
    }
    let all = [
        of_states(|a, b| a.linear_velocity.distance(b.linear_velocity)) / speed,
        of_states(|a, b| a.angular_velocity.distance(b.angular_velocity)) / speed,
        of_states(|a, b| 100.0 * a.position.distance(b.position)),
        of_states(|a, b| 10.0 * (a.rotation - b.rotation).length()),
        nearly_largest(pressed.chain(rolled)) / most,
    ];
    largest(all.into_iter())
}

/// A colour in a row has a thread for each of its manifolds.
const _: () = assert!(colours::FEW <= WORKGROUP);

/// What rounding may make of equal sums in two orders.
const ROUNDED: f64 = 3e-4;
/// The same of hundreds of bodies, of which one or the other is held by hardly anything.
const ROUNDED_OF_MANY: f64 = 1e-3;

/// Bricks far from one another that come down, sliding and spinning: on the floor, on a fixed brick, or on a free one. With
/// contacts of every kind, which carry impulses of an earlier step. `twice`: each pair has two manifolds.
fn bricks(count: usize, twice: bool) -> Heap {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(count as u64);
    let mut v = || rng.random_range(-1.0..1.0f64);
    let forest = Arc::new(block(4, [4; 3], [13, 8, 11]));
    let mut w = world(WorldSettings::default());
    let mut pairs = Vec::new();
    for k in 0..count {
        let place = DVec3::X * (20.0 * k as f64);
        let mut brick = |lift: f64, fixed: bool, linear: DVec3, angular: DVec3| {
            let def = body(&forest, 0, grid(4, 1.0), 3, place + DVec3::Y * lift);
            let restitution = if k % 2 == 0 { 0.4 } else { 0.0 };
            let mut def = BodyDef { family: Family::unique(), fixed, restitution, friction: 0.5, ..def };
            (def.state.linear_velocity, def.state.angular_velocity) = (linear, angular);
            def.state.rotation = DQuat::from_scaled_axis(angular * 0.05);
            w.add(def);
            w.bodies.len() - 1
        };
        let below = match k % 3 {
            0 => None,
            kind => {
                Some(brick(0.0, kind == 1, DVec3::ZERO, DVec3::new(v(), v(), v()) * f64::from(kind == 2)))
            }
        };
        let fall = DVec3::new(v(), v() - 1.5, v());
        let above = brick(0.25, false, fall, DVec3::new(v(), v(), v()) * 3.0);
        pairs.push((above, below));
    }
    let bodies = std::mem::take(&mut w.bodies);
    let mut manifolds = Vec::new();
    for (k, (above, below)) in pairs.into_iter().enumerate() {
        let (upper, lower) = (&bodies[above], below.map(|below| &bodies[below]));
        // The floor is never the first; else every other pair is the other way round.
        let is_upper_first = k % 2 == 0 || lower.is_none();
        let (first, second) = match lower {
            Some(lower) if !is_upper_first => (lower, Some(upper)),
            lower => (upper, lower),
        };
        let mass = upper.def.mass_kg();
        let mut points = Vec::new();
        for j in 0..3 + k % 6 {
            let at = upper.state.position + DVec3::new(0.25 * v(), -0.12, 0.2 * v());
            let normal = DVec3::new(0.2 * v(), 1.0, 0.2 * v()).normalize();
            let normal = if is_upper_first { normal } else { -normal };
            let mut p = Point::new(j as u64, [Some(first), second], at, normal, 0.005 * v());
            p.slip = DVec3::new(v(), 0.0, v()) * 5e-3;
            p.follows = [None, Some(0), Some(1)][(k + j) % 3];
            p.normal_impulse = 0.003 * mass * v().abs();
            // Some beyond what a substep may begin with.
            if (k + j) % 11 == 3 {
                p.normal_impulse = 20.0 * mass;
            }
            let rubbed = if (k + j) % 7 == 5 { 2.0 } else { 0.002 };
            p.friction_impulse = DVec3::new(v(), 0.0, v()) * (rubbed * mass);
            if j == 0 && k % 5 == 2 && is_upper_first {
                let centre = upper.state.rotation.inverse() * (at + normal * 0.2 - upper.state.position);
                p.ball = Some(Ball { centre, radius: 0.2 });
            }
            points.push(p);
        }
        let rolling_impulse = DVec3::new(v(), v(), v()) * (if k % 4 == 1 { 0.5 } else { 1e-4 } * mass);
        let (first, second) = (first.id, second.map(|body| body.id));
        manifolds.push(Manifold { first, second, points, rolling_impulse, resolution_m: 0.06 });
    }
    if twice {
        manifolds.extend(manifolds.clone());
    }
    Heap { settings: w.settings, bodies, manifolds, rounds: None }
}

/// A large brick that small ones touch, one after the other.
fn crowd(count: usize) -> Heap {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(9);
    let mut v = || rng.random_range(-1.0..1.0f64);
    let (large, small) = (Arc::new(block(4, [2; 3], [14, 6, 14])), Arc::new(block(4, [6; 3], [10; 3])));
    let mut w = world(WorldSettings::default());
    w.add(body(&large, 0, grid(4, 4.0), 3, DVec3::ZERO));
    let hub = w.bodies[0].state.position;
    for _ in 0..count {
        let place = hub + DVec3::new(1.3 * v(), 0.62, 1.3 * v());
        let mut def = body(&small, 0, grid(4, 1.0), 3, DVec3::ZERO);
        def.state = BodyState { linear_velocity: DVec3::new(v(), -1.0, v()), ..BodyState::at(place) };
        w.add(def);
    }
    let bodies = std::mem::take(&mut w.bodies);
    let mut manifolds = Vec::new();
    for other in &bodies[1..] {
        let at = other.state.position - DVec3::Y * 0.12;
        let corners =
            [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(|[x, z]| DVec3::new(x, 0.0, z));
        let points = (0u64..).zip(corners).map(|(key, corner)| {
            Point::new(key, [Some(other), Some(&bodies[0])], at + corner * 0.12, DVec3::Y, -0.001)
        });
        let (points, rolling_impulse) = (points.collect(), DVec3::ZERO);
        let (first, second) = (other.id, Some(bodies[0].id));
        manifolds.push(Manifold { first, second, points, rolling_impulse, resolution_m: 0.06 });
    }
    Heap { settings: w.settings, bodies, manifolds, rounds: None }
}

/// A pile that has fallen for half a second.
fn fallen() -> Heap {
    let mut w = pile(5, 5, 4);
    for _ in 0..50 {
        w.step_on_cpu();
    }
    Heap {
        settings: w.settings.clone(),
        bodies: w.bodies.clone(),
        manifolds: w.manifolds.clone(),
        rounds: None,
    }
}

#[test]
fn contacts_in_one_order_move_bodies_as_on_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    // One after the other by the same passes: what a step leaves in their buffers has no part in the next.
    let mut passes = SolverPasses::new(&gpu);
    for (count, twice) in
        [(1, false), (67, true), (2, true), (3, false), (300, true), (256, false), (257, false)]
    {
        let heap = bricks(count, twice);
        let wanted = heap.on_cores();
        let off = difference(&wanted, &heap.step(Some((&gpu, &mut passes)), None));
        let pressing = wanted.impulses.iter().filter(|[_, all]| all.length() > 0.0).count();
        println!("{count} bricks, twice: {twice}: off by {off:.1e}, {pressing} contacts press");
        assert!(off < ROUNDED_OF_MANY && pressing >= count, "{count} {twice}: {off}");
    }
}

/// As many colours as manifolds, more than a body keeps bits of.
#[test]
fn a_body_that_a_hundred_others_touch_moves_as_on_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    let heap = crowd(100);
    let off = difference(&heap.on_cores(), &heap.on_device(&gpu));
    println!("off by {off:.1e}");
    assert!(off < 20.0 * ROUNDED, "{off}");
}

#[test]
fn a_heap_with_many_rounds_moves_as_on_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    let heap = Heap { rounds: Some([300; 2]), ..fallen() };
    let both = [heap.on_cores(), heap.on_device(&gpu)];
    let [cores, device] = &both;
    let speeds = cores.states.iter().zip(&device.states);
    let off = speeds.map(|(a, b)| a.linear_velocity.distance(b.linear_velocity)).fold(0.0, f64::max);
    // What the floor carries does not depend on how points share it.
    let of_floor = |outcome: &Outcome| {
        let points = heap.manifolds.iter().flat_map(|m| m.points.iter().map(move |_| m.second.is_none()));
        points.zip(&outcome.impulses).filter(|(floor, _)| *floor).map(|(_, [_, all])| all.y).sum::<f64>()
    };
    let carried = both.each_ref().map(of_floor);
    println!("{} contacts: off by {off:.1e} m/s; the floor carries {carried:.3?} N s", cores.slid.len());
    assert!(cores.slid.len() > 100 && off < 0.05, "{off}");
    assert!(carried[0] > 1.0 && (carried[1] / carried[0] - 1.0).abs() < 0.01, "{carried:?}");
}

/// Of all bodies that move: momentum, kg m/s, and angular momentum about the origin, kg m^2/s.
fn momentum(heap: &Heap, states: &[BodyState]) -> [DVec3; 2] {
    let moving = heap.bodies.iter().zip(states).filter(|(body, _)| body.moves());
    moving.fold([DVec3::ZERO; 2], |sum, (body, state)| {
        let body = Body { state: *state, ..body.clone() };
        let linear = state.linear_velocity * body.def.mass_kg();
        let spin = body.inertia_in_world() * state.angular_velocity;
        [sum[0] + linear, sum[1] + state.position.cross(linear) + spin]
    })
}

/// A pile in free fall that collides with itself.
#[test]
fn momentum_is_kept_between_free_bodies() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut heap = fallen();
    heap.settings.gravity = DVec3::ZERO;
    heap.manifolds.retain(|m| m.second.is_some());
    for (k, body) in heap.bodies.iter_mut().enumerate() {
        let t = k as f64;
        body.state.linear_velocity += DVec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t).sin());
    }
    let (mut bodies, mut manifolds) = (heap.bodies.clone(), heap.manifolds.clone());
    let edges = pressing(&bodies, &mut manifolds, &heap.settings);
    let (mut passes, soft) = (SolverPasses::new(&gpu), SoftStep::default());
    let springs = |scale, h| soft.soft(scale, h);
    // Nothing leans in free fall.
    let settle = |_: &[f64], _: &mut SolverBodies| ();
    let given = (&mut bodies[..], &mut manifolds[..], &edges[..]);
    passes.solve(&gpu, given, (&heap.settings, None), &soft.passes(), springs, settle).expect("a step");
    let states = |bodies: &[Body]| bodies.iter().map(|body| body.state).collect::<Vec<_>>();
    let [before, after] = [&heap.bodies, &bodies].map(|bodies| momentum(&heap, &states(bodies)));
    let pressed: f64 = manifolds.iter().flat_map(|m| &m.points).map(|p| p.total_impulse).sum();
    let off = [0, 1].map(|k| after[k].distance(before[k]) / pressed);
    println!("{pressed:.1} N s pressed; momentum off by {:e} of it, angular by {:e} m", off[0], off[1]);
    assert!(pressed > 50.0 && off[0] < 1e-5 && off[1] < 1e-5, "{pressed} {off:?}");
}

#[test]
fn a_step_waits_once_and_gives_the_same_bytes_again() {
    let Some(gpu) = Gpu::for_test() else { return };
    for heap in [fallen(), bricks(300, true)] {
        let mut passes = SolverPasses::new(&gpu);
        let _ = gpu.take_all_traffic();
        let first = heap.step(Some((&gpu, &mut passes)), None);
        let traffic = gpu.take_all_traffic();
        println!("{traffic:?}");
        assert_eq!([traffic.waits, traffic.submissions], [1, 1]);
        assert!(first == heap.step(Some((&gpu, &mut passes)), None), "the same passes");
        assert!(first == heap.on_device(&gpu), "other passes");
    }
}

#[test]
fn substeps_that_are_recorded_add_up_and_change_nothing() {
    let Some(gpu) = Gpu::for_test() else { return };
    let heap = bricks(20, true);
    let mut record = SubstepImpulses::default();
    record.begin(heap.manifolds.iter().map(|m| m.points.len()));
    let seen = heap.step(Some((&gpu, &mut SolverPasses::new(&gpu))), Some(&mut record));
    assert!(seen == heap.on_device(&gpu));
    assert_eq!(record.substeps(), heap.settings.substeps);
    let points = (0u32..)
        .zip(&heap.manifolds)
        .flat_map(|(m, own)| (0u32..).zip(&own.points).map(move |(k, p)| (m, k, p)));
    let mut pressing = 0;
    for ((m, k, p), [last, all]) in points.zip(&seen.impulses) {
        let impulse = |substep: u32| {
            let (normal, friction) = record.get(substep, [m, k]);
            p.normal * normal + friction
        };
        let sum: DVec3 = (0..record.substeps()).map(impulse).sum();
        let scale = 1e-5 * (1e-2 + all.length());
        assert!(sum.distance(*all) < scale, "{sum} {all}");
        assert!(impulse(record.substeps() - 1).distance(*last) < scale);
        pressing += usize::from(sum.length() > 0.0);
    }
    assert!(pressing > 40, "{pressing}");
}

#[test]
fn what_touches_nothing_keeps_every_bit_and_what_cannot_move_stays() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut heap = bricks(6, false);
    let mut lone = heap.bodies[0].clone();
    lone.id = BodyId(1000);
    lone.state.position += DVec3::Y * 7.1;
    heap.bodies.push(lone);
    let [cores, device] = [heap.on_cores(), heap.on_device(&gpu)];
    let alone = heap.bodies.len() - 1;
    assert_eq!(device.states[alone], cores.states[alone]);
    assert_ne!(device.states[alone], heap.bodies[alone].state);
    for (body, state) in heap.bodies.iter().zip(&device.states).filter(|(body, _)| !body.moves()) {
        assert_eq!(body.state, *state);
    }
}

#[test]
fn speed_and_spin_are_limited_in_every_substep() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut heap = bricks(9, false);
    // By itself this gives 125,000 m/s in a substep.
    heap.settings.gravity = DVec3::new(1e8, 0.0, 0.0);
    let (wanted, found) = (heap.on_cores(), heap.on_device(&gpu));
    let ways = found.states.iter().zip(&heap.bodies).map(|(s, b)| s.position.distance(b.state.position));
    let farthest = ways.fold(0.0, f64::max);
    let off = wanted.states.iter().zip(&found.states).map(|(a, b)| a.position.distance(b.position));
    let off = off.fold(0.0, f64::max);
    println!("{farthest:.4} m at most, off by {off:.1e} m");
    assert!(farthest > 1.9 && farthest < 1.5 * MAX_SPEED * heap.settings.dt && off < 0.01);
}

/// A brick that turns about none of its axes changes its spin without a contact's doing.
#[test]
fn bricks_that_tumble_turn_as_on_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut heap = bricks(24, false);
    heap.bodies.iter_mut().for_each(|body| body.state.angular_velocity *= 10.0);
    let wanted = heap.on_cores();
    let off = || {
        let found = heap.on_device(&gpu);
        let both = wanted.states.iter().zip(&found.states);
        largest(both.map(|(a, b)| a.angular_velocity.distance(b.angular_velocity)))
    };
    let sound = off();
    let path = "bodies/solver/wide/passes/advance";
    let planted = [("spin * (0.5 * h)", "spin * h"), (" + cross(b.xyz, a.xyz)", "")];
    let wrong = planted.map(|error| with_error(path, error, off));
    println!("off by {sound:.1e} rad/s, with errors {:.1e} and {:.1e}", wrong[0], wrong[1]);
    assert!(sound < 2e-3 && wrong.iter().all(|wrong| *wrong > 4e-3), "{sound} {wrong:?}");
}

#[test]
fn errors_planted_in_the_passes_are_found() {
    let Some(gpu) = Gpu::for_test() else { return };
    // Kernels without an error are compiled once, as long as something holds them.
    let _held = SolverPasses::new(&gpu);
    let heap = bricks(66, true);
    let wanted = heap.on_cores();
    let off = || difference(&wanted, &heap.on_device(&gpu));
    assert!(off() < ROUNDED);
    for (name, from, to) in [
        ("accelerate", "params.gravity * params.h", "params.gravity"),
        ("advance", "motions[id].linear * params.h", "motions[id].linear * 0.9 * params.h"),
        ("advance", "turn * start * transpose(turn)", "transpose(turn) * start * turn"),
        ("advance", "turned(vec4<f32>(-turn.xyz, turn.w), v)", "v"),
        ("aim", "+ about.offset;", "+ 0.0 * about.offset;"),
        ("aim", "arm_a - apart * about.middle", "arm_a"),
        ("aim", "arm_b + apart * (1.0 - about.middle)", "arm_b"),
        ("aim", "about.slip + vec2", "0.0 * about.slip + vec2"),
        ("aim", "about.sticks * manifold.stick", "manifold.stick"),
        ("aim", "max(gap, 0.0) / params.h", "max(gap, 0.0)"),
        ("aim", "-manifold.push_out), 0.0)", "-0.01 * manifold.push_out), 0.0)"),
        ("aim", "mass(contact.tangent, contact, a, b)", "mass(contact.normal, contact, a, b)"),
        ("aim", "pose_a.moved - pose_b.moved", "pose_a.moved + pose_b.moved"),
        ("aim", "turned(pose_b.turn, about.anchor_b)", "about.anchor_b"),
        ("aim", "r.y * r.z - r.x * d.z", "r.x * d.z"),
        ("warm_start", "geometry[c].gap < 0.0", "geometry[c].gap > 0.0"),
        ("warm_start", "max(manifold.linear_mass, ", "min(manifold.linear_mass, "),
        ("warm_start", "min(old.x, contact.masses.x * warm)", "old.x"),
        ("warm_start", "held(old.yz, contact.friction * pressed)", "old.yz"),
        ("warm_start", "limited(manifold.roll, manifold.roll_arm * load)", "manifold.roll"),
        ("warm_start", "twisted(pair, roll, roll)", "twisted(pair, roll, -roll)"),
        ("press", "pressed = max(pressed, 0.0);", ""),
        ("press", "contact.bias_springs + contact.softness * old", "contact.bias_springs"),
        ("press", "manifold.roll - spin", "manifold.roll"),
        ("press", "manifold.roll_arm * load", "manifold.roll_arm"),
        ("press", "stick * contact.drift", "0.0 * contact.drift"),
        ("press", "let most = contact.friction", "let most = 2.0 * contact.friction"),
        ("press", "cross(contact.arm_b, push)", "cross(contact.arm_a, push)"),
        ("press", "motions[who.x].angular = pair.angular_a;", ""),
        ("press", "colours[colour] + id", "colours[colour] + id + 1u"),
        ("press", "round < params.rounds", "round < 1u"),
        ("press", "max(answers[c].most, pressed)", "pressed"),
        ("press", "answers[c].slid = 1u;", ""),
        ("bounce", "geometry[c].rebound", "0.0"),
        ("bounce", "answers[c].total.x += pressed - old;", ""),
        ("sum_up", "answers[id].total +=", "answers[id].total ="),
    ] {
        let path: &'static str = format!("bodies/solver/wide/passes/{name}").leak();
        let off = with_error(path, (from, to), off);
        println!("{name} with '{to}': off by {off:.1e}");
        assert!(off >= ROUNDED, "{name} with '{to}' is not found");
    }
}

/// Dispatches every kernel of this folder.
pub(crate) fn run_every_kernel() {
    let Some(gpu) = Gpu::for_test() else { return };
    bricks(6, false).on_device(&gpu);
}
