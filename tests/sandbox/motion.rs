//! Bodies in motion behind the window: the recorded past, the hand, what is thrown, what breaks by itself,
//! levels of pairs.

use glam::DVec3;
use kintsugi::{
    bodies::WorldSettings,
    compute::{Choice, Compute},
    fracture::FractureParams,
    scene::{Arrived, Event, Sandbox, Scene, SceneBody, ScenePick},
};
#[cfg(feature = "papers")]
use kintsugi::{
    bodies::{Overlap, Walls},
    scene::parse_scene,
};

use super::support::{
    adapter,
    stage::{open, positions, step, step_or_no_crack, steps, until},
};

fn falling_box() -> Scene {
    let fracture = FractureParams { seeds: 12, ..FractureParams::default() };
    let body = SceneBody {
        fracture: fracture.clone(),
        position: DVec3::Y,
        ..SceneBody { on_floor: false, ..SceneBody::standing("builtin:box", 5) }
    };
    let point = DVec3::new(0.0, 1.5, 0.0);
    let blow = Event::Impact {
        time: 0.1,
        point,
        direction: DVec3::NEG_Y,
        speed: 1.0,
        body: None,
        parts: Vec::new(),
        fracture: Some(fracture),
        hold: false,
        energy: None,
        at_once: false,
    };
    Scene { bodies: vec![body], events: vec![blow], ..Scene::default() }
}

/// What a step asks of a device is counted with the settings of a world (`crates/physics/src/tests/traffic.rs`).
#[test]
fn a_new_scene_moves_by_the_settings_of_a_world_and_in_passes_on_an_adapter_that_counts_as_real() {
    let settings = Scene::default().world_settings();
    assert_eq!(settings, WorldSettings { options: settings.options.clone(), ..WorldSettings::default() });
    let Some(real) = adapter::gpu().map(|gpu| gpu.clone().counted_as_real()) else { return };
    let compute = Compute::beside(Choice::default(), &real);
    assert!(compute.gpu().is_some() && !compute.is_software() && settings.narrow.wants(&real));
}

#[test]
fn every_recorded_moment_can_be_shown_again_and_gone_on_from() {
    let Some(mut sandbox) = open(falling_box()) else { return };
    let (mut seen, mut times) = (vec![positions(&sandbox)], vec![0.0]);
    for _ in 0..30 {
        step(&mut sandbox);
        seen.push(positions(&sandbox));
        times.push(sandbox.time());
    }
    let pieces = sandbox.bodies().len();
    assert!(pieces > 5, "{pieces}");
    assert_eq!(sandbox.timeline().len(), 31);
    let broke = seen.iter().position(|bodies| bodies.len() > 1).expect("it broke");
    for frame in [30, broke, 0, 20, 5, 29, 10, 30] {
        assert!(sandbox.show_recorded(frame));
        assert!((sandbox.time() - times[frame]).abs() < 1e-12);
        assert_eq!(positions(&sandbox), seen[frame], "state {frame}");
    }
    assert!(!sandbox.show_recorded(31));
    // Before the blow it is whole, and playing on breaks it again, the same way.
    assert!(sandbox.show_recorded(3));
    assert_eq!(sandbox.bodies().len(), 1);
    steps(&mut sandbox, 27);
    assert_eq!(sandbox.bodies().len(), pieces);
    let off = positions(&sandbox).iter().zip(&seen[30]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    println!("{pieces} pieces; played again, {off:.1e} m off");
    assert!(off < 1e-9);
    assert_eq!(sandbox.timeline().len(), 31, "what came later is recorded again");
    let takes: Vec<_> =
        sandbox.timeline().takes().iter().map(|t| (t.number, t.bodies, t.is_current)).collect();
    assert_eq!(takes, [(1, pieces, false), (2, pieces, true)], "and is there as it was, too");
    // After it, the blow does not fall twice.
    assert!(sandbox.show_recorded(20));
    steps(&mut sandbox, 5);
    assert_eq!(sandbox.bodies().len(), pieces);
    sandbox.reset();
    assert_eq!((sandbox.timeline().len(), sandbox.bodies().len()), (0, 1));
}

#[test]
fn undo_then_redo_keeps_what_was_recorded() {
    let mut scene = falling_box();
    scene.events.clear();
    let Some(mut sandbox) = open(scene) else { return };
    steps(&mut sandbox, 5);
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    while sandbox.poll().unwrap() != Some(Arrived::Broke) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    steps(&mut sandbox, 20);
    let shown = |sandbox: &Sandbox| {
        let timeline = sandbox.timeline();
        let times: Vec<_> = (0..timeline.len()).filter_map(|i| timeline.time(i)).collect();
        (times, timeline.cursor(), timeline.take(), sandbox.time(), positions(sandbox))
    };
    let after = shown(&sandbox);
    let pieces = sandbox.last_break().map(|b| b.counts.pieces);
    assert!(pieces.is_some() && after.0.last() == Some(&sandbox.time()));
    for _ in 0..2 {
        assert_eq!(sandbox.undo().as_deref(), Some("break box"));
        let (times, cursor, ..) = shown(&sandbox);
        assert_eq!((times.len(), cursor, sandbox.bodies().len()), (6, 5, 1));
        assert!((sandbox.time() - times[5]).abs() < 1e-12 && sandbox.last_break().is_none());
        assert_eq!(sandbox.redo().as_deref(), Some("break box"));
        assert_eq!(shown(&sandbox), after);
        assert_eq!(sandbox.last_break().map(|b| b.counts.pieces), pieces);
    }
    // Another blow after undo: the first one's course can be looked at at the same time.
    sandbox.undo();
    steps(&mut sandbox, 10);
    let (time, fell) = (sandbox.time(), positions(&sandbox));
    assert!(sandbox.show_take(1));
    assert!((sandbox.time() - time).abs() < 1e-9 && sandbox.bodies().len() > 1);
    assert!(sandbox.show_take(2) && !sandbox.show_take(9));
    assert_eq!(positions(&sandbox), fell);
    // A reset is one step, too, and what came before it is there again.
    sandbox.reset();
    assert!(sandbox.timeline().is_empty() && sandbox.time() == 0.0);
    assert_eq!(sandbox.undo().as_deref(), Some("reset"));
    assert_eq!((positions(&sandbox), sandbox.timeline().len()), (fell, 16));
}

#[test]
fn a_body_is_dragged_and_thrown_bodies_arrive() {
    let mut scene = Scene { bodies: vec![SceneBody::standing("builtin:box", 5)], ..Scene::default() };
    scene.bodies[0].size = Some(0.5);
    let Some(mut sandbox) = open(scene) else { return };
    let id = sandbox.bodies()[0].id;
    let point = sandbox.bodies()[0].state.position;
    sandbox.grab(&ScenePick { body: id, point, distance: 1.0, cell: Some([0; 3]) });
    let target = point + DVec3::new(0.3, 0.7, 0.0);
    sandbox.drag(target);
    steps(&mut sandbox, 150);
    let (held, hand) = sandbox.held().expect("it is held");
    println!("held {:.1} mm from the hand", held.distance(hand) * 1e3);
    assert!(held.distance(target) < 0.02 && hand == target);
    sandbox.release();
    assert!(sandbox.held().is_none());
    steps(&mut sandbox, 100);
    assert!(sandbox.bodies()[0].state.position.y < 0.3, "it fell");

    sandbox.throw(DVec3::new(-3.0, 0.4, 0.0), DVec3::X);
    assert!(sandbox.is_busy());
    until(&mut sandbox, Arrived::Thrown);
    let ball = sandbox.bodies()[1].clone();
    assert!((ball.state.position - DVec3::new(-3.0, 0.4, 0.0)).length() < 1e-9);
    assert!((ball.state.linear_velocity.x - sandbox.tuning().throw.speed).abs() < 1e-9);
    let before = sandbox.bodies()[0].state.position.x;
    steps(&mut sandbox, 60);
    let pushed = sandbox.bodies()[0].state.position.x - before;
    println!("the box was pushed {pushed:.2} m");
    assert!(pushed > 0.01);
    // It is part of the scene: saved, and taken back.
    let saved = sandbox.scene(kintsugi::render::Camera::default());
    let [Event::Hand { path, .. }, Event::Projectile { body: thrown, .. }] = &saved.events[..] else {
        panic!("the hand, then the ball: {:?}", saved.events)
    };
    assert_eq!((path.len(), path[149], &*thrown.file), (150, target, "builtin:sphere"));
    assert_eq!(sandbox.undo().as_deref(), Some("throw"));
    assert_eq!(sandbox.bodies().len(), 1);
}

#[test]
fn what_is_dropped_breaks_within_its_limits() {
    let scene = |generations: u32, most: u32| {
        let mut body = SceneBody::standing("builtin:box", 6);
        (body.on_floor, body.position.y, body.break_threshold) = (false, 2.0, Some(0.5));
        body.fracture = FractureParams { seeds: 10, ..FractureParams::default() };
        Scene { bodies: vec![body], break_generations: generations, break_pieces: most, ..Scene::default() }
    };
    let mut counts = Vec::new();
    for (generations, most) in [(0, 500), (1, 500), (2, 500), (3, 20)] {
        let Some(mut sandbox) = open(scene(generations, most)) else { return };
        (0..120).for_each(|_| drop(step_or_no_crack(&mut sandbox)));
        let deepest = sandbox.bodies().iter().filter_map(|b| sandbox.info(b.id)).map(|i| i.generation).max();
        println!(
            "{generations} generations, {most} pieces: {} bodies, generation {deepest:?}",
            sandbox.bodies().len()
        );
        assert!(deepest <= Some(generations));
        counts.push(sandbox.bodies().len());
        let saved = sandbox.scene(kintsugi::render::Camera::default());
        assert!(saved.events.is_empty(), "what breaks by itself does so again when it is played again");
    }
    assert_eq!(counts[0], 1);
    assert!(counts[1] > 5 && counts[2] > counts[1], "{counts:?}");
    // One more fracture may have been on its way when the limit was reached.
    assert!(counts[3] < 20 + 20, "{counts:?}");
}

#[test]
fn what_is_struck_in_its_sleep_breaks() {
    let mut body = SceneBody::standing("builtin:box", 6);
    (body.size, body.break_threshold) = (Some(0.5), Some(0.3));
    body.fracture = FractureParams { seeds: 10, ..FractureParams::default() };
    let Some(mut sandbox) = open(Scene { bodies: vec![body], ..Scene::default() }) else { return };
    steps(&mut sandbox, 150);
    assert!(sandbox.bodies()[0].asleep && sandbox.bodies().len() == 1);
    sandbox.throw(DVec3::new(-3.0, 0.4, 0.0), DVec3::X);
    until(&mut sandbox, Arrived::Thrown);
    steps(&mut sandbox, 60);
    println!("struck in its sleep: {} bodies", sandbox.bodies().len());
    assert!(sandbox.bodies().len() > 5);
}

#[test]
fn what_breaks_passes_on_no_more_than_it_bears_and_keeps_momentum() {
    let mut body = SceneBody::standing("builtin:box", 6);
    (body.size, body.break_threshold) = (Some(0.5), Some(0.3));
    body.fracture = FractureParams { seeds: 10, ..FractureParams::default() };
    let scene = Scene { bodies: vec![body], gravity: DVec3::ZERO, floor: false, ..Scene::default() };
    let Some(mut sandbox) = open(scene) else { return };
    sandbox.throw(DVec3::new(-1.0, 0.3, 0.0), DVec3::X);
    until(&mut sandbox, Arrived::Thrown);
    let total = |sandbox: &Sandbox| -> DVec3 {
        sandbox.bodies().iter().map(|b| b.def.mass_kg() * b.state.linear_velocity).sum()
    };
    let (ball, thrown) = (sandbox.bodies()[1].id, total(&sandbox));
    let fast = |sandbox: &Sandbox| {
        sandbox.bodies().iter().find(|b| b.id == ball).map_or(0.0, |b| b.state.linear_velocity.x)
    };
    let before = fast(&sandbox);
    let masses = [0, 1].map(|k| sandbox.bodies()[k].def.mass_kg());
    let mut taken = 0;
    while sandbox.bodies().len() == 2 && taken < 60 {
        step(&mut sandbox);
        taken += 1;
    }
    let after = fast(&sandbox);
    println!(
        "broke after {taken} steps: {} bodies, ball {before:.2} to {after:.2} m/s",
        sandbox.bodies().len()
    );
    assert!(sandbox.bodies().len() > 5);
    // What made the box 0.3 m/s faster, and no more.
    let wanted = 0.3 * masses[0] / masses[1];
    assert!((before - after - wanted).abs() < 0.05 * wanted, "{before} {after}, {wanted} wanted");
    steps(&mut sandbox, 30);
    let off = (total(&sandbox) - thrown).length() / thrown.length();
    println!("momentum off by {off:.1e}");
    assert!(off < 1e-6);
}

#[cfg(feature = "papers")]
#[test]
fn a_scene_says_pairs_walls_and_the_response() {
    let text = "
        response = \"penalty\"
        sleeping = false
        [walls]
        low = [-1.0, 0.0, -1.0]
        high = [1.0, 2.0, 1.0]
        [[body]]
        name = \"lower\"
        file = \"builtin:box\"
        level = 6
        physics_level = 5
        size = 0.5
        [[body]]
        name = \"upper\"
        file = \"builtin:box\"
        level = 6
        physics_level = 5
        size = 0.5
        position = [0.1, 0.5, 0.0]
        [[pair]]
        bodies = [\"lower\", \"upper\"]
        physics_level = 4
    ";
    let Some(mut sandbox) = open(parse_scene(text, "text").expect("it is sound")) else { return };
    let settings = sandbox.settings();
    assert_eq!(settings.response.name(), "penalty");
    assert_eq!(
        settings.walls,
        Some(Walls { low: DVec3::new(-1.0, 0.0, -1.0), high: DVec3::new(1.0, 2.0, 1.0) })
    );
    // Under the penalty they may part for a moment.
    let both = |o: &[Overlap]| o.iter().any(|o| o.second.is_some()) && o.iter().any(|o| o.second.is_none());
    let shared = (0..100)
        .find_map(|_| {
            step(&mut sandbox);
            Some(sandbox.pair_data().unwrap()).filter(|shared| both(shared))
        })
        .expect("one stands on the floor, the other on it");
    let pair = shared.iter().find(|o| o.second.is_some()).expect("the boxes touch");
    println!("levels {:?}, volume {:.3e} m^3, {} columns", pair.levels, pair.volume, pair.columns.len());
    assert_eq!(pair.levels, [4, 4]);
    assert!(pair.volume > 0.0 && pair.gradient.y.abs() > 0.05);
    let floor = shared.iter().find(|o| o.second.is_none()).expect("the lower one stands on the floor");
    assert_eq!(floor.levels[0], 5, "the pair's level is nobody else's");
}
