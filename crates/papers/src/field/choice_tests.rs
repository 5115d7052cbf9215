//! The options of a query: the points that each choice puts out, beside all points that collide.

use std::sync::Arc;

use glam::DVec3;

use super::{
    EPSILON, LEVEL, MOST_POINTS, SELECTION,
    choice::Choice,
    meeting,
    pairs::PairMemory,
    parts::Parts,
    spheres::{Beyond, HalfSpace, Placement, Scratch, Selection},
};
use crate::bodies::{
    Body, ChosenAs, ContactsId, Family, FoundAs, Options, Plane, Point, World, WorldSettings,
    collide::{MARGIN_CELLS, pairwise::NearTwo},
    testing::{ball, block, body, grid},
};

fn choice(selection: f64, most: f64, epsilon: f64) -> Choice {
    Choice::of(&options(selection, most, epsilon))
}

fn options(selection: f64, most: f64, epsilon: f64) -> Options {
    [(SELECTION.name, selection), (MOST_POINTS.name, most), (EPSILON.name, epsilon)].into()
}

fn empty_world(options: Options) -> World {
    crate::register();
    let contacts = ContactsId::named("field").expect("it is in the table");
    World::on_cpu(WorldSettings { contacts, options, ..WorldSettings::default() })
}

/// Two balls of 24 voxels radius, of which each reaches 6 voxels deep into the other.
fn two_balls() -> World {
    let forest = Arc::new(ball(6, glam::Vec3::splat(32.0), 24.0));
    let mut world = empty_world(Options::default());
    for x in [0.0, 42.0 / 64.0] {
        let mut def = body(&forest, 0, grid(6, 1.0), 5, DVec3::X * x);
        def.family = Family::unique();
        world.add(def);
    }
    world
}

/// Points that the queries of both bodies put out with `choice`.
fn touches([a, b]: [&Body; 2], choice: &Choice) -> usize {
    let mut parts = Parts::default();
    parts.prepare([a, b].into_iter());
    let [Some(of_a), Some(of_b)] = [a, b].map(|body| parts.of(body.id)) else { panic!("both are solid") };
    let near = NearTwo { bodies: [a, b], record: None, old: None, dt: 0.01 };
    let (mut memory, mut scratch) = (PairMemory::default(), Scratch::default());
    let met = meeting::meet(&near, ([of_a, of_b], choice), &mut memory, &mut scratch);
    let (manifold, record) = met.expect("both are known");
    let put_out = manifold.map_or(0, |manifold| manifold.points.len());
    assert!(put_out <= record.touches);
    assert!(!choice.keeps_all() || put_out == record.touches, "all points stay contacts");
    record.touches
}

#[test]
fn without_values_a_query_is_as_it_was_before_there_were_options() {
    let usual = Choice::default();
    assert_eq!((usual.enough, usual.epsilon, usual.beyond), (Some(8), 0.002, Beyond::Deepest));
    assert_eq!(usual, choice(0.0, 8.0, 0.002));
    let world = two_balls();
    let body = &world.bodies[0];
    let wanted = Selection {
        enough: Some(8),
        epsilon: 0.002 * body.def.radius() / 0.5,
        tolerance: 0.01 / 0.5,
        beyond: Beyond::Deepest,
        quick: true,
        slack: 0.5 * body.def.resolution_m() / 0.5,
        below: None,
    };
    assert_eq!(usual.selection(body, 0.01, 0.5), wanted);
}

#[test]
fn the_published_selection_puts_out_more_and_no_limit_puts_out_all() {
    let world = two_balls();
    let bodies = [&world.bodies[0], &world.bodies[1]];
    let of = |selection: f64, most: f64| touches(bodies, &choice(selection, most, 0.002));
    let (deepest, epsilon, all) = (of(0.0, 8.0), of(1.0, 8.0), of(0.0, 0.0));
    println!("deepest {deepest}, epsilon {epsilon}, all {all} points");
    assert!(deepest >= 8 && epsilon > 2 * deepest && all >= epsilon, "{deepest} {epsilon} {all}");
    assert_eq!(of(1.0, 0.0), all, "no limit leaves nothing for the selection to add");
    assert!(of(0.0, 2.0) < deepest, "fewer are enough");
    // A greater epsilon leaves more points out.
    let coarse = touches(bodies, &choice(1.0, 8.0, 0.2));
    assert!(coarse < epsilon, "{coarse} {epsilon}");
}

/// A ball that is half in the floor, by the depths and keys of its contacts.
#[test]
fn contacts_say_how_the_query_came_upon_them() {
    let world = two_balls();
    let body = &world.bodies[0];
    let mut parts = Parts::default();
    parts.prepare([body].into_iter());
    let part = parts.of(body.id).expect("it is solid");
    let plane = Plane { normal: DVec3::Y, offset: body.state.position.y };
    let at = |choice: &Choice, known: &[Point]| -> Vec<Point> {
        let mut scratch = Scratch::default();
        let points = meeting::at_plane(body, (part, choice), (0, &plane), (known, 0.01), &mut scratch);
        points.into_iter().filter(|p| p.why.chosen_as != ChosenAs::Ball).collect()
    };
    let all = at(&choice(1.0, 0.0, 0.002), &[]);
    assert!(all.iter().all(|p| (p.why.found_as, p.why.chosen_as) == (FoundAs::Place, ChosenAs::Every)));

    let published = choice(1.0, 8.0, 0.002);
    let found = at(&published, &[]);
    let first = found.iter().take_while(|p| p.why.found_as == FoundAs::First).count();
    println!("{first} of the first eight, {} in all", found.len());
    assert!((1..=8).contains(&first) && found.len() > 8 && all.len() > found.len());
    for p in &found[first..] {
        assert_eq!(p.why.found_as, FoundAs::Deeper);
        assert!(-p.separation > 0.002 * body.def.radius() - 1e-9, "{}", p.separation);
    }
    // The last contacts come first, in whatever order the query would visit them.
    let known: Vec<Point> = found.iter().step_by(found.len() / 5).copied().collect();
    for p in at(&published, &known) {
        assert_eq!(p.why.found_as == FoundAs::Known, known.iter().any(|k| k.key == p.key), "{}", p.key);
    }
}

/// A query that stops early (planted: any limit) finds fewer points than the plain loop over all points.
#[test]
fn all_points_are_those_of_a_loop_over_all_points() {
    let world = two_balls();
    let [own, other] = [&world.bodies[0], &world.bodies[1]];
    let mut parts = Parts::default();
    parts.prepare([own, other].into_iter());
    let [Some(part), Some(of_other)] = [own, other].map(|body| parts.of(body.id)) else {
        panic!("both are solid")
    };
    let fragment = of_other.fragment().expect("it is whole");
    let placement = Placement::new(other.world_from_grid().inverse() * own.world_from_grid());
    let unit = other.def.shape.unit_m();
    let near = MARGIN_CELLS * own.def.resolution_m();
    let mut scratch = Scratch::default();
    let mut found = |choice: &Choice| -> Vec<u32> {
        let selection = choice.selection(own, near, unit);
        part.forest.query(&fragment, &placement, &selection, &mut scratch);
        let mut points: Vec<u32> = scratch.contacts().iter().map(|contact| contact.point).collect();
        points.sort_unstable();
        points
    };
    let plain = part.forest.colliding_points(&fragment, &placement, near / unit);
    let plain: Vec<u32> = plain.iter().map(|contact| contact.point).collect();
    assert!(plain.len() > 100, "{}", plain.len());
    assert_eq!(found(&choice(1.0, 0.0, 0.002)), plain);
    for limited in [choice(0.0, 8.0, 0.002), choice(1.0, 8.0, 0.2)] {
        assert!(found(&limited).len() < plain.len(), "planted: a limit");
    }
}

#[test]
fn at_the_floor_all_points_below_its_margin_are_contacts() {
    // A block has a hull of few corners, and a ball is met as a ball: both rest on few points by default.
    let slab = body(&Arc::new(block(5, [8, 0, 8], [24, 8, 24])), 0, grid(5, 1.0), 5, DVec3::Y * -0.01);
    let mut round = body(&Arc::new(ball(5, glam::Vec3::splat(16.0), 12.0)), 0, grid(5, 1.0), 5, DVec3::ZERO);
    round.state.position.y = 12.0 / 32.0 - 0.02;
    for def in [slab, round] {
        let mut world = empty_world(Options::default());
        world.add(def);
        let body = &world.bodies[0];
        let mut parts = Parts::default();
        parts.prepare(std::iter::once(body));
        let part = parts.of(body.id).expect("it is solid");
        let plane = Plane { normal: DVec3::Y, offset: 0.0 };
        let near = MARGIN_CELLS * body.def.resolution_m();
        let at = |choice: &Choice| {
            let mut scratch = Scratch::default();
            meeting::at_plane(body, (part, choice), (0, &plane), (&[], near), &mut scratch).len()
        };
        let floor = HalfSpace { normal: DVec3::Y, offset: 0.0 };
        let placement = Placement::new(body.world_from_grid());
        let plain = part.forest.colliding_points(&floor, &placement, near).len();
        let (few, all) = (at(&Choice::default()), at(&choice(0.0, 0.0, 0.002)));
        println!("{few} contacts by default, {all} without a limit, {plain} points near the floor");
        assert!(all == plain && plain > 20 && 2 * few < all && few > 0, "{few} {all} {plain}");
    }
}

/// Where a block and a tilted one upon it are after some steps, as bits.
fn played(options: Options) -> (Vec<u64>, usize) {
    let mut world = empty_world(options);
    let forest = Arc::new(block(5, [8, 0, 8], [24, 8, 24]));
    for k in 0..2 {
        let mut def = body(&forest, 0, grid(5, 1.0), 5, DVec3::ZERO);
        def.family = Family::unique();
        def.state.position += DVec3::new(0.05, 0.26, 0.0) * f64::from(k);
        def.state.rotation = glam::DQuat::from_rotation_y(0.3 * f64::from(k));
        world.add(def);
    }
    let mut most = 0;
    for _ in 0..30 {
        world.step_on_cpu();
        let points = world.manifolds().iter().map(|manifold| manifold.points.len()).sum();
        most = most.max(points);
    }
    let bits = world.bodies.iter().flat_map(|body| body.state.position.to_array()).map(f64::to_bits);
    (bits.collect(), most)
}

#[test]
fn the_defaults_leave_each_bit_of_a_run_as_it_is_and_all_points_reach_the_solver() {
    let (usual, few) = played(Options::default());
    let (same, _) = played([(LEVEL.name, 5.0), (SELECTION.name, 0.0), (MOST_POINTS.name, 8.0)].into());
    assert_eq!(usual, same);
    let (other, many) = played(options(0.0, 0.0, 0.002));
    println!("at most {few} contacts in a step by default, {many} without a limit");
    assert!(usual != other && many > 10 * few && few > 0, "{few} {many}");
}
