use super::*;
use crate::{
    bodies::{BodyDef, BodyState, Family, World, WorldSettings},
    shape::{Look, Octree, Shape},
    svo::{Forest, Grid},
};
use glam::DVec3;
use std::sync::Arc;

fn world(count: usize) -> World {
    let forest = Arc::new(Forest { level: 1, ..Forest::default() });
    let octree = Octree::new(&forest, 0, Grid { level: 1, origin: DVec3::ZERO, h: 1.0 });
    let shape = Arc::new(Shape::octree(octree, 1.0, Look::default()));
    let mut world = World::on_cpu(WorldSettings::default());
    for _ in 0..count {
        world.add(BodyDef {
            shape: Arc::clone(&shape),
            meters_per_unit: 1.0,
            object_size_m: 1.0,
            family: Family::unique(),
            friction: 0.0,
            restitution: 0.0,
            rolling_resistance: 0.3,
            fixed: false,
            physics_level: 1,
            structure: None,
            state: BodyState::at(DVec3::ZERO),
        });
    }
    world
}

#[test]
fn memory_is_bounded_and_the_whole_past_stays() {
    let mut world = world(2000);
    let mut timeline = Timeline::default();
    for step in 0..3000 {
        world.bodies.iter_mut().for_each(|body| body.state.position.x = f64::from(step));
        timeline.record((f64::from(step), 0), &world.bodies, false, |_| Moment::of(&world.bodies));
        assert!(timeline.bytes() <= BUDGET);
    }
    println!("{} of 3000 states, {} MiB", timeline.len(), timeline.bytes() >> 20);
    assert!(timeline.len() > 100);
    assert_eq!(timeline.time(0), Some(0.0));
    let last = timeline.time(timeline.len() - 1).unwrap();
    assert!(last > 2900.0, "{last}");
    let times: Vec<f64> = (0..timeline.len()).filter_map(|i| timeline.time(i)).collect();
    let widest = times.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    assert!(widest <= 40.0 && times.is_sorted(), "{widest}");
    for i in 0..timeline.len() {
        let wanted = timeline.wanted(i, &world.bodies).unwrap();
        assert!(wanted.motions.iter().all(|motion| motion.state.position.x == wanted.time));
    }
}

#[test]
fn what_the_bodies_were_is_bounded_too() {
    let mut timeline = Timeline::default();
    let one = Moment::default().and_bytes(1 << 20).bytes_beside(None);
    assert!(one >= 1 << 20);
    let worlds = [world(1), world(2)];
    for step in 0..1000_u32 {
        let bodies = &worlds[step as usize % 2].bodies;
        timeline.record((f64::from(step), 0), bodies, false, |_| Moment::of(bodies).and_bytes(1 << 20));
        assert!(timeline.bytes() <= BUDGET && timeline.now.epochs() * one <= BUDGET);
    }
    // What is left is whole.
    assert!(timeline.len() > 10 && timeline.time(0) == Some(0.0));
    for frame in &timeline.now.frames {
        assert_eq!(frame.epoch.stage.ids().count(), frame.motions.len());
        assert_eq!(frame.motions.len(), 1 + frame.time as usize % 2);
    }
}

/// So many states of `bodies`, from `start` on, a second apart.
fn record(timeline: &mut Timeline, world: &mut World, start: f64, count: usize) {
    for step in 0..count {
        let time = start + step as f64;
        world.bodies.iter_mut().for_each(|body| body.state.position.x = time);
        timeline.record((time, 0), &world.bodies, false, |_| Moment::of(&world.bodies));
    }
}

fn times(timeline: &Timeline) -> Vec<f64> {
    (0..timeline.len()).filter_map(|i| timeline.time(i)).collect()
}

fn numbers(timeline: &Timeline) -> Vec<(u32, f64, bool)> {
    timeline.takes().iter().map(|take| (take.number, take.seconds, take.is_current)).collect()
}

#[test]
fn going_on_from_the_past_keeps_the_future_as_a_take() {
    let mut world = world(3);
    let mut timeline = Timeline::default();
    record(&mut timeline, &mut world, 0.0, 10);
    assert!(timeline.wanted(10, &world.bodies).is_none());
    timeline.shown(4);
    assert_eq!((timeline.cursor(), timeline.len(), timeline.has_future()), (4, 10, true));
    record(&mut timeline, &mut world, 4.5, 1);
    assert_eq!(times(&timeline), [0.0, 1.0, 2.0, 3.0, 4.0, 4.5]);
    assert_eq!((timeline.cursor(), timeline.has_future()), (5, false));
    assert_eq!(numbers(&timeline), [(1, 9.0, false), (2, 4.5, true)]);
    // The other one is whole, and its end is where it is asked for later.
    let x_at = |timeline: &Timeline, time: f64| {
        let (moment, motions) = timeline.in_take(1, time).unwrap();
        assert_eq!(moment.stage.ids().count(), 3);
        motions.iter().next().unwrap().state.position.x
    };
    assert_eq!([0.0, 3.0, 6.2, 9.0, 50.0].map(|t| x_at(&timeline, t)), [0.0, 3.0, 6.0, 9.0, 9.0]);
    assert!(timeline.in_take(2, 0.0).is_none() && timeline.in_take(7, 0.0).is_none());
    assert!(timeline.choose_take(1) && !timeline.choose_take(1));
    assert_eq!(times(&timeline), (0..10).map(f64::from).collect::<Vec<_>>());
    assert_eq!((timeline.take(), timeline.frame_at(6.7)), (1, 6));
    assert_eq!(numbers(&timeline), [(1, 9.0, true), (2, 4.5, false)]);
    // What begins alike is kept once.
    let apart = 10.0 + 1.0;
    let each = timeline.bytes() as f64 / apart;
    let alone = {
        let mut alone = Timeline::default();
        record(&mut alone, &mut world, 0.0, 10);
        alone.bytes() as f64 / 10.0
    };
    assert!((each / alone - 1.0).abs() < 0.15, "{each} and {alone} bytes a state");
}

#[test]
fn what_is_only_looked_at_forks_nothing() {
    let mut world = world(1);
    let mut timeline = Timeline::default();
    record(&mut timeline, &mut world, 0.0, 5);
    for frame in [0, 3, 4] {
        timeline.shown(frame);
    }
    record(&mut timeline, &mut world, 5.0, 1);
    assert_eq!(numbers(&timeline), [(1, 5.0, true)]);
}

#[test]
fn undo_and_redo_walk_through_what_was_recorded() {
    let mut world = world(2);
    let mut timeline = Timeline::default();
    record(&mut timeline, &mut world, 0.0, 5);
    let early = timeline.mark();
    record(&mut timeline, &mut world, 5.0, 5);
    for _ in 0..3 {
        let late = timeline.mark();
        timeline.go_back(&early);
        assert_eq!(times(&timeline), [0.0, 1.0, 2.0, 3.0, 4.0]);
        timeline.go_back(&late);
        assert_eq!(timeline.len(), 10);
        assert_eq!(numbers(&timeline), [(1, 9.0, true)], "no take is left of a look back");
    }
    // What is done after a step back leaves the old future there.
    timeline.go_back(&early);
    record(&mut timeline, &mut world, 4.2, 3);
    assert_eq!(numbers(&timeline), [(1, 9.0, false), (2, 6.2, true)]);
    // A state in the middle that was shown is shown again.
    timeline.shown(2);
    let middle = timeline.mark();
    timeline.begin_anew();
    assert!(timeline.is_empty() && numbers(&timeline).len() == 2);
    timeline.go_back(&middle);
    assert_eq!((timeline.len(), timeline.cursor(), timeline.take()), (8, 2, 2));
}

#[test]
fn another_scene_has_takes_of_its_own_and_undo_brings_the_old_ones_back() {
    let mut world = world(1);
    let mut timeline = Timeline::default();
    record(&mut timeline, &mut world, 0.0, 5);
    timeline.shown(2);
    record(&mut timeline, &mut world, 2.5, 2);
    let before = timeline.mark();
    timeline.open_another();
    assert_eq!(numbers(&timeline), []);
    assert!(!timeline.choose_take(1), "it is of another scene");
    record(&mut timeline, &mut world, 0.0, 3);
    assert_eq!(numbers(&timeline), [(1, 2.0, true)]);
    timeline.go_back(&before);
    assert_eq!(numbers(&timeline), [(1, 4.0, false), (2, 3.5, true)]);
}

#[test]
fn takes_count_and_the_oldest_are_thinned_out_first() {
    let mut world = world(2000);
    let mut timeline = Timeline::default();
    let mut most = 0;
    for take in 0..20 {
        let start = f64::from(take) * 1000.0;
        record(&mut timeline, &mut world, start, 100);
        let counted: f64 = timeline.takes.iter().chain([&timeline.now]).map(Recording::bytes).sum();
        assert!((timeline.bytes() as f64 / counted - 1.0).abs() < 0.01, "{} of {counted}", timeline.bytes());
        assert!(timeline.bytes() <= BUDGET);
        assert_eq!(timeline.len(), 100, "what goes on is whole");
        let own: Vec<usize> = timeline.takes.iter().map(Recording::own).collect();
        assert!(own.is_sorted(), "{own:?}");
        most = most.max(own.len());
        timeline.begin_anew();
    }
    assert!((2..=MOST_TAKES).contains(&most), "{most}");
    // What goes on alone may use nearly all of it, at the cost of the others.
    let budget = BUDGET as f64;
    record(&mut timeline, &mut world, 1e6, 3000);
    assert!(timeline.now.bytes() > 0.3 * budget && timeline.bytes() <= BUDGET);
    while timeline.shrink() {
        assert!(timeline.bytes() <= BUDGET);
    }
    assert!(timeline.takes.is_empty());
}

#[test]
fn other_bodies_need_their_moment() {
    let (few, many) = (world(2), world(5));
    let mut timeline = Timeline::default();
    timeline.record((0.0, 0), &few.bodies, false, |_| Moment::of(&few.bodies));
    timeline.record((1.0, 1), &few.bodies, false, |_| panic!("the same bodies need no moment"));
    timeline.record((2.0, 2), &many.bodies, false, |_| Moment::of(&many.bodies));
    timeline.shown(0);
    assert!(timeline.wanted(1, &few.bodies).unwrap().moment.is_none());
    assert!(timeline.wanted(1, &many.bodies).unwrap().moment.is_some());
    let last = timeline.wanted(2, &many.bodies).unwrap();
    assert_eq!((last.motions.len(), last.next_event), (5, 2));
    // The same bodies in another epoch: the document had other events.
    timeline.shown(2);
    timeline.record((3.0, 3), &many.bodies, true, |_| Moment::of(&many.bodies));
    assert!(timeline.wanted(2, &many.bodies).unwrap().moment.is_some());
    assert!(timeline.wanted(3, &many.bodies).unwrap().moment.is_none());
    assert!(timeline.shrink() && timeline.shrink() && !timeline.shrink());
    assert_eq!((timeline.len(), timeline.time(0)), (1, Some(3.0)));
}
