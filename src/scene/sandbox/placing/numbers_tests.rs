//! Objects keep their numbers when the scene is saved and opened, in whatever order they are added, thrown, and come.

use std::path::PathBuf;

use glam::{DQuat, DVec3};
use proptest::prelude::*;

use super::super::{Sandbox, testing};
use crate::{
    bodies::BodyState,
    compute::{Choice, Compute},
    fracture::Dab,
    render::Camera,
    scene::{Arrived, Event, Scene, SceneBody, ScenePair, load_scene, save_scene},
};

fn standing(name: &str, x: f64) -> SceneBody {
    SceneBody {
        name: Some(name.into()),
        position: DVec3::new(x, 0.0, 0.0),
        size: Some(0.5),
        ..SceneBody::standing("builtin:box", 3)
    }
}

fn ball(name: &str, time: f64, x: f64) -> Event {
    let body = SceneBody {
        name: Some(name.into()),
        on_floor: false,
        position: DVec3::new(x, 0.3, 0.9),
        linear_velocity: DVec3::NEG_Z * 9.0,
        size: Some(0.2),
        ..SceneBody::standing("builtin:sphere", 3)
    };
    Event::Projectile { time, object: None, body: Box::new(body) }
}

/// Two boxes, two balls that come and strike them, and an event that names the second ball by its number. Nothing
/// sleeps, since a changed value wakes what sleeps, and no event says so.
fn scene() -> Scene {
    let moved = Event::Move {
        time: 0.1,
        body: 3,
        parts: Vec::new(),
        position: DVec3::new(3.0, 0.5, 0.0),
        rotation: DQuat::IDENTITY,
    };
    Scene {
        sleeping: false,
        bodies: vec![standing("left", 0.0), standing("right", 1.2)],
        events: vec![ball("first ball", 0.03, 0.1), ball("second ball", 0.06, 1.3), moved],
        pairs: vec![ScenePair { bodies: ["right".into(), "second ball".into()], physics_level: 2 }],
        ..Scene::default()
    }
}

fn settle(sandbox: &mut Sandbox) {
    let start = std::time::Instant::now();
    loop {
        sandbox.poll().unwrap();
        if !sandbox.is_busy() && sandbox.opening().is_none() {
            return;
        }
        assert!(start.elapsed().as_secs() < 120, "it never ends");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn opened(scene: Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    sandbox.open_scene(scene);
    settle(&mut sandbox);
    sandbox
}

/// The scene as its file opens it.
fn reopened(scene: &Scene) -> Sandbox {
    let thread = std::thread::current().id();
    let name = format!("kintsugi-numbers-{}-{thread:?}.toml", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    assert_eq!(save_scene(&path, scene).unwrap().remarks, Vec::<String>::new());
    let again = load_scene(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    opened(again)
}

fn run(sandbox: &mut Sandbox, steps: usize) {
    (0..steps).for_each(|_| sandbox.step().unwrap());
}

fn add(sandbox: &mut Sandbox) -> usize {
    sandbox.add(SceneBody { size: Some(0.3), ..SceneBody::standing("builtin:box", 3) });
    testing::until(sandbox, Arrived::Added);
    let added = sandbox.selected().next().unwrap().id;
    sandbox.info(added).unwrap().object
}

fn throw(sandbox: &mut Sandbox, x: f64) {
    sandbox.throw(DVec3::new(x, 0.4, -1.5), DVec3::new(0.1, 0.2, 1.0));
    testing::until(sandbox, Arrived::Thrown);
}

fn give_friction(sandbox: &mut Sandbox, object: usize, friction: f64) {
    sandbox.focus_on(Some(object));
    let mut tuning = sandbox.tuning().clone();
    tuning.friction = friction;
    sandbox.tune("friction", tuning);
    sandbox.end_gesture();
    sandbox.focus_on(None);
}

fn bits(state: &BodyState) -> Vec<u64> {
    let BodyState { position, rotation, linear_velocity, angular_velocity } = state;
    let vectors = [position, linear_velocity, angular_velocity].into_iter().flat_map(|v| v.to_array());
    vectors.chain(rotation.to_array()).map(f64::to_bits).collect()
}

/// The number of each body's object, and its motion, in the order of the bodies.
fn motions(sandbox: &Sandbox) -> Vec<(usize, Vec<u64>)> {
    let of = |body: &crate::bodies::Body| (sandbox.info(body.id).unwrap().object, bits(&body.state));
    sandbox.bodies().iter().map(of).collect()
}

type Values = (String, String, [u64; 4], u32, Vec<Dab>);

/// Name, file, values and paint of an object.
fn values_of(sandbox: &Sandbox, object: usize) -> Values {
    let own = sandbox.document.values_of(object).unwrap();
    let numbers = [own.density, own.friction, own.restitution, own.rolling_resistance].map(f64::to_bits);
    let file = sandbox.objects()[object].scene.file.clone();
    let (level, paint) = (own.collision_level(), sandbox.document.paint_on(object));
    (sandbox.object_name(object).to_owned(), file, numbers, level, paint)
}

fn values(sandbox: &Sandbox) -> Vec<Values> {
    (0..sandbox.objects().len()).map(|object| values_of(sandbox, object)).collect()
}

/// Numbers of the objects that are still to come.
fn to_come(sandbox: &Sandbox) -> Vec<usize> {
    sandbox.document.numbers_of_thrown().split_off(sandbox.document.thrown())
}

/// What the user does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// An object is added, and maybe tuned at once.
    Add(bool),
    Throw,
    Steps(usize),
    Tune(usize),
    Name(usize),
    Paint(usize),
    Remove(usize),
    Reset,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<bool>().prop_map(Act::Add),
        3 => Just(Act::Throw),
        5 => (1usize..5).prop_map(Act::Steps),
        2 => any::<usize>().prop_map(Act::Tune),
        2 => any::<usize>().prop_map(Act::Name),
        1 => any::<usize>().prop_map(Act::Paint),
        1 => any::<usize>().prop_map(Act::Remove),
        1 => Just(Act::Reset),
    ]
}

/// Does the `at`th thing.
fn play(sandbox: &mut Sandbox, at: usize, act: Act) {
    let share = at as f64 / 16.0;
    match act {
        Act::Add(_) | Act::Throw if sandbox.objects().len() > 8 => {}
        Act::Add(is_tuned) => {
            let object = add(sandbox);
            if is_tuned {
                give_friction(sandbox, object, 0.2 + share);
            }
        }
        Act::Throw => throw(sandbox, share),
        Act::Steps(steps) => run(sandbox, steps),
        // No event says that a value changed, so it changes before the object moves.
        Act::Tune(any) => {
            let all: Vec<usize> = match sandbox.time() == 0.0 {
                true => (0..sandbox.objects().len()).collect(),
                false => to_come(sandbox),
            };
            if !all.is_empty() {
                give_friction(sandbox, all[any % all.len()], 0.1 + share);
            }
        }
        Act::Name(any) => sandbox.name_object(any % sandbox.objects().len(), &format!("thing {at}")),
        Act::Paint(any) => {
            let body = &sandbox.bodies()[any % sandbox.bodies().len()];
            let (id, place) = (body.id, body.state.position);
            // What is thrown takes no paint.
            let _ = sandbox.dab(id, (place + DVec3::new(share, 0.2, 0.1), DVec3::NEG_Y), false);
            sandbox.end_gesture();
        }
        // Only before anything has happened: later the scene from its start has the object.
        Act::Remove(any) => {
            let bodies = sandbox.bodies_of_scene();
            if sandbox.is_at_start() && bodies > 1 {
                sandbox.remove_object(any % bodies).unwrap();
            }
        }
        Act::Reset => sandbox.reset(),
    }
}

/// The scene from its start has the same objects under the same numbers, and plays the same to the bit.
fn plays_the_same_again(sandbox: &mut Sandbox) {
    let mut again = reopened(&sandbox.scene(Camera::default()));
    assert_eq!(values(&again), values(sandbox));
    while again.time() < sandbox.time() - 1e-9 {
        again.step().unwrap();
    }
    run(sandbox, 3);
    run(&mut again, 3);
    assert_eq!(again.time().to_bits(), sandbox.time().to_bits());
    assert_eq!(motions(&again), motions(sandbox));
    assert_eq!(to_come(&again), to_come(sandbox));
}

/// The scene in its present state, without an object that is removed, has the other ones with their values, and its
/// events name the same ones.
fn stands_the_same_again(sandbox: &mut Sandbox, gone: usize) {
    let mut there: Vec<usize> = motions(sandbox).into_iter().map(|(object, _)| object).collect();
    if there.len() > 1 {
        sandbox.remove_object(there.remove(gone % there.len())).unwrap();
    }
    let stands = sandbox.as_it_stands(Camera::default());
    let again = reopened(&stands);
    let number = |object: usize| sandbox.number_as_it_stands(object);
    for object in there.iter().copied().chain(to_come(sandbox)) {
        assert_eq!(values_of(&again, number(object)), values_of(sandbox, object));
    }
    let mut placed: Vec<_> =
        motions(sandbox).into_iter().map(|(object, motion)| (number(object), motion)).collect();
    placed.sort();
    let mut placed_again = motions(&again);
    placed_again.sort();
    assert_eq!(placed_again, placed);
    let coming = to_come(sandbox);
    assert_eq!(to_come(&again), coming.iter().map(|object| number(*object)).collect::<Vec<_>>());
    let named = moved_next(sandbox.document.events_left());
    let is_left = |object: &usize| there.contains(object) || coming.contains(object);
    assert_eq!(moved_next(&stands.events), named.filter(is_left).map(number));
}

/// The object that the first of these events that moves one names.
fn moved_next<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<usize> {
    events.into_iter().find_map(|event| match event {
        Event::Move { body, .. } => Some(*body as usize),
        _ => None,
    })
}

#[test]
fn what_is_added_before_a_ball_comes_has_the_number_after_it_in_the_file_too() {
    let mut sandbox = opened(scene());
    assert!(!scene().to_text().contains("object ="), "what is in order claims nothing");
    run(&mut sandbox, 1);
    let added = add(&mut sandbox);
    assert_eq!((added, to_come(&sandbox)), (4, vec![2, 3]));
    sandbox.name_object(added, "added");
    give_friction(&mut sandbox, added, 0.9);
    let saved = sandbox.scene(Camera::default());
    // The last event moves the second ball.
    assert_eq!(
        saved.events.iter().map(Event::object).collect::<Vec<_>>(),
        [Some(4), Some(2), Some(3), Some(3)]
    );
    let mut again = reopened(&saved);
    let names = [2, 3, 4].map(|object| again.object_name(object).to_owned());
    assert_eq!(names, ["first ball", "second ball", "added"]);
    let frictions = [2, 3, 4].map(|object| again.document.values_of(object).unwrap().friction);
    assert_eq!(frictions, [SceneBody::default().friction, SceneBody::default().friction, 0.9]);
    // It is saved as it was opened, with its numbers.
    assert_eq!(again.scene(Camera::default()).events, saved.events);
    run(&mut sandbox, 20);
    run(&mut again, 21);
    assert_eq!(motions(&again), motions(&sandbox));
    let second = again.bodies_of(3).next().unwrap();
    let second = again.bodies().iter().find(|body| body.id == second).unwrap().state.position;
    assert!(second.distance(DVec3::new(3.0, 0.5, 0.0)) < 0.2, "it was moved there");
    // A file without numbers has the objects in the order of its events.
    let mut old = saved.clone();
    for event in &mut old.events {
        if let Event::Projectile { object, .. } = event {
            *object = None;
        }
    }
    let old = opened(old);
    assert_eq!(
        [2, 3, 4].map(|object| old.object_name(object).to_owned()),
        ["added", "first ball", "second ball"]
    );
}

#[test]
fn a_push_is_that_of_the_object_with_the_number_that_it_has_now() {
    let falls = SceneBody { on_floor: false, position: DVec3::new(1.2, 0.6, 0.0), ..standing("right", 0.0) };
    let bodies = vec![standing("left", 0.0), falls];
    let mut sandbox = opened(Scene { sleeping: false, bodies, ..Scene::default() });
    let pushed = |sandbox: &mut Sandbox| {
        assert_eq!(sandbox.time(), 0.0);
        assert!(sandbox.hardest_push().is_none());
        run(sandbox, 60);
        let push = sandbox.hardest_push().unwrap();
        assert!(push.speed > 0.5, "{push:?}");
        push.object
    };
    assert_eq!(pushed(&mut sandbox), 1);
    assert!(sandbox.show_recorded(0));
    sandbox.remove_object(0).unwrap();
    // Planted error to see this fail: keep the push in `begin_renumbered`. The fall is as hard as before, and no
    // harder.
    assert_eq!(pushed(&mut sandbox), 0);
    sandbox.undo();
    assert_eq!((sandbox.objects().len(), pushed(&mut sandbox)), (2, 1), "undo brings the number back");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        max_shrink_iters: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Numbers by the order of events alone fail this: an object that is added before a ball comes has the number after
    /// the ball's, and its file would have it before. So do times that are only those of the steps: the sixth step ends
    /// a hair after 0.06 s, and what is thrown then would come after the second ball in the file.
    #[test]
    fn whatever_is_added_and_thrown_keeps_its_number(
        acts in prop::collection::vec(act(), 1..9),
        gone in any::<usize>(),
    ) {
        let mut sandbox = opened(scene());
        acts.into_iter().enumerate().for_each(|(at, act)| play(&mut sandbox, at, act));
        plays_the_same_again(&mut sandbox);
        stands_the_same_again(&mut sandbox, gone);
    }
}
