//! Tests of setting the stage: every change is one undo step, and what is saved opens and plays the same to the bit.

use glam::{DQuat, DVec3};

use super::{Pose, Sandbox, testing};
use crate::{
    bodies::{Body, BodyId},
    gpu::Gpu,
    render::Camera,
    scene::{Arrived, Event, Scene, SceneBody, parse_scene},
};

fn standing(x: f64) -> SceneBody {
    SceneBody { position: DVec3::new(x, 0.0, 0.0), size: Some(0.5), ..SceneBody::standing("builtin:box", 4) }
}

fn ball(time: f64) -> Event {
    let body = SceneBody {
        position: DVec3::new(0.0, 0.4, 4.0),
        size: Some(0.2),
        linear_velocity: DVec3::new(0.0, 0.0, -9.0),
        ..SceneBody::standing("builtin:sphere", 4)
    };
    Event::Projectile {
        time,
        object: None,
        body: Box::new(SceneBody { on_floor: false, name: Some("ball".into()), ..body }),
    }
}

fn open(scene: Scene) -> Option<Sandbox> {
    Some(testing::shown(&Gpu::for_test()?, scene))
}

fn bits(body: &Body) -> [u64; 7] {
    let (p, r) = (body.state.position, body.state.rotation);
    [p.x, p.y, p.z, r.x, r.y, r.z, r.w].map(f64::to_bits)
}

fn poses(sandbox: &Sandbox) -> Vec<[u64; 7]> {
    sandbox.bodies().iter().map(bits).collect()
}

fn moved(sandbox: &mut Sandbox, id: BodyId, by: DVec3, turn: DQuat) {
    let state = sandbox.bodies().iter().find(|body| body.id == id).unwrap().state;
    // As a drag does it: several calls, of which the last one counts.
    for share in [0.3, 0.7, 1.0] {
        let rotation = (turn * state.rotation).normalize();
        sandbox.place(&[Pose { body: id, position: state.position + by * share, rotation }]);
    }
    sandbox.end_gesture();
}

/// The scene as its file opens it.
fn reopened(scene: &Scene) -> Sandbox {
    let again = parse_scene(&scene.to_text(), "again").unwrap();
    open(again).unwrap()
}

fn run(sandbox: &mut Sandbox, steps: usize) {
    for _ in 0..steps {
        sandbox.step().unwrap();
        while sandbox.is_breaking() {
            sandbox.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

#[test]
fn an_object_that_is_moved_before_anything_happened_starts_there() {
    let Some(mut sandbox) = open(Scene { bodies: vec![standing(0.0), standing(1.0)], ..Scene::default() })
    else {
        return;
    };
    let ids: Vec<BodyId> = sandbox.bodies().iter().map(|body| body.id).collect();
    let before = poses(&sandbox);
    // Along the floor it goes on standing there, and sleeps.
    moved(&mut sandbox, ids[0], DVec3::new(-0.3, 0.0, 0.2), DQuat::IDENTITY);
    let scene = sandbox.scene(Camera::default());
    assert!(scene.bodies[0].on_floor && sandbox.bodies()[0].asleep && scene.events.is_empty());
    assert!((scene.bodies[0].position - DVec3::new(-0.3, 0.0, 0.2)).length() < 1e-9);
    assert_eq!(scene.bodies[1], standing(1.0), "the other one stays as it was");
    // Up and turned it does not.
    let turn = DQuat::from_xyzw(0.2, 0.3, -0.1, 0.9).normalize();
    moved(&mut sandbox, ids[0], DVec3::Y * 0.7, turn);
    let scene = sandbox.scene(Camera::default());
    assert!(!scene.bodies[0].on_floor && !sandbox.bodies()[0].asleep);
    let there = poses(&sandbox);
    assert_ne!(there[0], before[0]);
    assert_eq!(poses(&reopened(&scene)), there, "the file has the same bits");
    assert!(!sandbox.scene_to_keep(Camera::default()).1, "the scene from its start says it all");
    // Time runs on from there, and a reset comes back there.
    run(&mut sandbox, 40);
    assert_ne!(poses(&sandbox), there, "it falls");
    sandbox.reset();
    assert_eq!(poses(&sandbox), there);
    sandbox.undo();
    sandbox.undo();
    assert_eq!(sandbox.undo(), Some("move box".to_owned()));
    assert_eq!(poses(&sandbox), before);
    sandbox.redo();
    sandbox.reset();
    assert!((sandbox.bodies()[0].state.position.x + 0.3).abs() < 1e-9, "the reset of the redone start");
    // What is tilted comes down to the floor by its surface, what is turned by a right angle by its box.
    moved(&mut sandbox, ids[0], DVec3::Y * 0.4, turn);
    sandbox.put_on_floor(&[ids[0]]);
    assert!(sandbox.foot(ids[0]).unwrap().at.y.abs() < 1e-9);
    assert!(!sandbox.scene(Camera::default()).bodies[0].on_floor);
    let lowest = sandbox.surface_points(None).into_iter().map(|point| point.y).fold(f32::INFINITY, f32::min);
    assert!(lowest.abs() < 0.02, "{lowest}");
    let right = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);
    let now = sandbox.bodies()[0].state;
    sandbox.place(&[Pose { body: ids[0], position: now.position + DVec3::Y, rotation: right }]);
    sandbox.put_on_floor(&[ids[0]]);
    assert!(sandbox.scene(Camera::default()).bodies[0].on_floor);
    assert_eq!(poses(&reopened(&sandbox.scene(Camera::default()))), poses(&sandbox));
}

#[test]
fn a_piece_that_is_moved_later_is_moved_again_when_the_scene_plays() {
    let Some(mut sandbox) = open(Scene { bodies: vec![standing(0.0), standing(1.0)], ..Scene::default() })
    else {
        return;
    };
    let (id, at) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
    sandbox.break_at(id, at + DVec3::new(0.2, 0.1, 0.0), DVec3::NEG_X);
    testing::until(&mut sandbox, Arrived::Broke);
    // At once, at the time of the blow, and once more in motion.
    let piece = sandbox.bodies().iter().find(|body| body.id != sandbox.bodies()[0].id).unwrap().id;
    moved(&mut sandbox, piece, DVec3::new(0.0, 0.8, 0.6), DQuat::from_xyzw(0.0, 0.6, 0.0, 0.8));
    run(&mut sandbox, 10);
    let other = sandbox.bodies().last().unwrap().id;
    let lifted = sandbox.bodies().last().unwrap().state.position;
    moved(&mut sandbox, other, DVec3::new(-0.2, 0.9, 0.0), DQuat::IDENTITY);
    assert!(
        sandbox.bodies().last().unwrap().state.position.distance(lifted + DVec3::new(-0.2, 0.9, 0.0)) < 1e-12
    );
    run(&mut sandbox, 20);
    assert!(sandbox.scene_to_keep(Camera::default()).1, "the user arranged the pieces");
    let scene = sandbox.scene(Camera::default());
    let moves = scene.events.iter().filter(|event| matches!(event, Event::Move { .. })).count();
    assert_eq!(moves, 2);
    let mut again = reopened(&scene);
    run(&mut again, 30);
    while again.time() < sandbox.time() - 1e-9 {
        run(&mut again, 1);
    }
    assert_eq!(again.time().to_bits(), sandbox.time().to_bits());
    assert_eq!(poses(&again), poses(&sandbox));
    // Undo takes one move back, and the recorded states show both.
    let end = poses(&sandbox);
    let frame = sandbox.timeline().len() - 1;
    assert!(sandbox.show_recorded(0) && sandbox.show_recorded(frame));
    assert_eq!(poses(&sandbox), end);
    let label = sandbox.undo().unwrap();
    assert!(label.starts_with("move a piece of box") || label == "move box", "{label}");
}

#[test]
fn objects_that_are_added_before_the_start_come_before_what_is_thrown() {
    let pair = |a: &str, b: &str| crate::scene::ScenePair { bodies: [a.into(), b.into()], physics_level: 3 };
    let scene = Scene {
        bodies: vec![SceneBody { name: Some("first".into()), ..standing(0.0) }],
        events: vec![ball(0.05)],
        pairs: vec![pair("first", "ball")],
        ..Scene::default()
    };
    let Some(mut sandbox) = open(scene.clone()) else { return };
    sandbox.add(SceneBody::standing("builtin:vase", 4));
    testing::until(&mut sandbox, Arrived::Added);
    let saved = sandbox.scene(Camera::default());
    assert_eq!((saved.bodies.len(), saved.events.len(), &saved.bodies[1].file[..]), (2, 1, "builtin:vase"));
    assert_eq!(saved.pairs, scene.pairs);
    let feet: Vec<_> = sandbox.bodies().iter().map(|body| sandbox.foot(body.id).unwrap()).collect();
    assert!(feet[1].at.x - 0.5 * feet[1].size.x > feet[0].at.x + 0.5 * feet[0].size.x, "beside it");
    assert!(feet[1].at.y.abs() < 1e-9 && sandbox.selected().count() == 1);
    // A copy of an object has its values, and no name.
    sandbox.focus_on(Some(1));
    let mut tuning = sandbox.tuning().clone();
    (tuning.density, tuning.fracture.seeds) = (700.0, 9);
    sandbox.tune("density", tuning);
    sandbox.end_gesture();
    sandbox.name_object(1, "  urn ");
    sandbox.duplicate(1);
    testing::until(&mut sandbox, Arrived::Added);
    sandbox.name_object(2, "urn");
    assert_eq!(
        [0, 1, 2, 3].map(|object| sandbox.object_name(object).to_owned()),
        ["first", "urn", "urn 2", "ball"]
    );
    let saved = sandbox.scene(Camera::default());
    let of = |body: &SceneBody| (body.density, body.fracture.seeds);
    assert_eq!([of(&saved.bodies[1]), of(&saved.bodies[2])], [(700.0, 9); 2]);
    assert_ne!(of(&saved.bodies[0]), (700.0, 9));
    // It plays the same from its file, with the ball that hits what it hit before.
    let mut again = reopened(&saved);
    assert_eq!(poses(&again), poses(&sandbox));
    run(&mut sandbox, 40);
    run(&mut again, 40);
    assert_eq!(sandbox.bodies().len(), 4);
    assert_eq!(poses(&again), poses(&sandbox));
    // Undo takes all of it back.
    while sandbox.undo().is_some() {}
    let first = sandbox.scene(Camera::default());
    assert_eq!((first.bodies.len(), sandbox.bodies().len(), first.pairs), (1, 1, scene.pairs));
    while sandbox.redo().is_some() {}
    assert_eq!(sandbox.scene(Camera::default()).bodies.len(), 3);
}

#[test]
fn an_object_that_is_added_later_comes_then_and_a_removed_one_is_gone() {
    let Some(mut sandbox) = open(Scene { bodies: vec![standing(0.0), standing(1.0)], ..Scene::default() })
    else {
        return;
    };
    // Before the start a removed object leaves nothing behind.
    let start = sandbox.scene(Camera::default());
    sandbox.remove_object(0).unwrap();
    let saved = sandbox.scene_to_keep(Camera::default());
    assert_eq!(
        (saved.0.bodies.clone(), saved.0.deleted.len(), saved.1),
        (vec![start.bodies[1].clone()], 0, false)
    );
    assert_eq!(sandbox.info(sandbox.bodies()[0].id).unwrap().object, 0, "numbered anew");
    sandbox.undo();
    assert_eq!((sandbox.bodies().len(), sandbox.scene(Camera::default()).bodies), (2, start.bodies));
    let at = sandbox.bodies()[0].state.position;
    sandbox.break_at(sandbox.bodies()[0].id, at, DVec3::NEG_Y);
    testing::until(&mut sandbox, Arrived::Broke);
    run(&mut sandbox, 10);
    let count = sandbox.bodies().len();
    sandbox.add(standing(0.0));
    testing::until(&mut sandbox, Arrived::Added);
    assert_eq!((sandbox.bodies().len(), sandbox.objects().len()), (count + 1, 3));
    run(&mut sandbox, 10);
    let mut again = reopened(&sandbox.scene(Camera::default()));
    while again.time() < sandbox.time() - 1e-9 {
        run(&mut again, 1);
    }
    assert_eq!(poses(&again), poses(&sandbox));
    sandbox.remove_object(0).unwrap();
    assert_eq!(sandbox.bodies().len(), 2, "all pieces of the broken one are gone");
    sandbox.undo();
    sandbox.undo();
    assert_eq!((sandbox.bodies().len(), sandbox.objects().len()), (count, 2));
}

/// Number of each take on offer, and of the bodies at its end.
fn takes(sandbox: &Sandbox) -> Vec<(u32, usize)> {
    sandbox.timeline().takes().iter().map(|take| (take.number, take.bodies)).collect()
}

#[test]
fn a_take_is_offered_only_while_objects_have_the_numbers_that_it_has() {
    let falling = SceneBody { on_floor: false, position: DVec3::new(1.0, 1.0, 0.0), ..standing(1.0) };
    let scene = Scene { bodies: vec![standing(0.0), falling], ..Scene::default() };
    let Some(gpu) = Gpu::for_test() else { return };
    let played = || {
        let mut sandbox = testing::shown(&gpu, scene.clone());
        run(&mut sandbox, 10);
        sandbox
    };
    type Change = fn(&mut Sandbox);
    let back: [Change; 2] = [Sandbox::reset, |sandbox| assert!(sandbox.show_recorded(0))];
    let adds = |sandbox: &mut Sandbox| {
        sandbox.add(SceneBody::standing("builtin:vase", 4));
        testing::until(sandbox, Arrived::Added);
    };
    let removes = |sandbox: &mut Sandbox| sandbox.remove_object(0).unwrap();
    let changes: [(Change, usize); 2] = [(adds, 3), (removes, 1)];
    for (goes_back, (change, count)) in back.into_iter().flat_map(|one| changes.map(|other| (one, other))) {
        let mut sandbox = played();
        goes_back(&mut sandbox);
        assert_eq!((takes(&sandbox), sandbox.time()), (vec![(1, 2)], 0.0), "what was played is a take");
        change(&mut sandbox);
        assert_eq!((takes(&sandbox), sandbox.bodies().len()), (vec![], count));
        assert!((1..10).all(|number| !sandbox.show_take(number)), "it has the old numbers");
        run(&mut sandbox, 10);
        assert_eq!(takes(&sandbox), [(1, count)]);
        // Undo brings the old numbers back, and with them the take.
        sandbox.undo();
        assert_eq!((takes(&sandbox), sandbox.bodies().len()), (vec![(1, 2)], 2));
        let is_current = sandbox.timeline().takes()[0].is_current;
        assert!(is_current || sandbox.show_take(1));
        let last = sandbox.timeline().len() - 1;
        assert!(last >= 10 && sandbox.show_recorded(last));
        let objects = sandbox.bodies().iter().map(|body| sandbox.info(body.id).unwrap().object);
        assert_eq!(objects.collect::<Vec<_>>(), [0, 1]);
        sandbox.redo();
        assert_eq!(takes(&sandbox), [(1, count)]);
    }
    // An object that only stands elsewhere keeps its number.
    let mut sandbox = played();
    sandbox.reset();
    let id = sandbox.bodies()[0].id;
    moved(&mut sandbox, id, DVec3::NEG_X, DQuat::IDENTITY);
    assert_eq!(takes(&sandbox), [(1, 2)]);
}

#[test]
fn another_size_keeps_the_other_objects_and_the_focus() {
    let Some(mut sandbox) = open(Scene { bodies: vec![standing(0.0), standing(1.0)], ..Scene::default() })
    else {
        return;
    };
    sandbox.focus_on(Some(1));
    let camera = Camera { distance: 7.0, ..Camera::default() };
    sandbox.set_import(1, crate::mesh::Up::Y, 0.8, camera);
    testing::until(&mut sandbox, Arrived::Opened);
    assert_eq!((sandbox.focus(), sandbox.saved_camera()), (Some(1), Some(camera)));
    assert!((sandbox.object_size(sandbox.bodies()[1].id) - 0.8).abs() < 1e-9);
    assert!((sandbox.object_size(sandbox.bodies()[0].id) - 0.5).abs() < 1e-9);
    sandbox.set_level(5, camera);
    testing::until(&mut sandbox, Arrived::Opened);
    assert_eq!(sandbox.objects().iter().map(|object| object.scene.level).collect::<Vec<_>>(), [4, 5]);
}

#[test]
fn nothing_moves_while_it_is_placed_and_bad_places_are_ignored() {
    let Some(mut sandbox) = open(Scene { bodies: vec![standing(0.0), standing(0.9)], ..Scene::default() })
    else {
        return;
    };
    let id = sandbox.bodies()[0].id;
    let there = sandbox.bodies()[0].state;
    let pose = |position: DVec3, rotation: DQuat| Pose { body: id, position, rotation };
    sandbox.place(&[
        pose(DVec3::NAN, there.rotation),
        pose(there.position, DQuat::from_xyzw(0.0, 0.0, 0.0, f64::NAN)),
    ]);
    sandbox.place(&[Pose { body: BodyId(12345), position: DVec3::ZERO, rotation: DQuat::IDENTITY }]);
    assert!(sandbox.history().undo_label().is_none(), "nothing has changed");
    sandbox.place(&[pose(there.position + DVec3::Y, there.rotation)]);
    let held = poses(&sandbox);
    run(&mut sandbox, 5);
    assert_eq!((poses(&sandbox), sandbox.time()), (held, 0.0));
    sandbox.end_gesture();
    run(&mut sandbox, 5);
    assert!(sandbox.time() > 0.0 && sandbox.bodies()[0].state.position.y < there.position.y + 1.0);
}
