//! A contact generator that the program does not have (`support/spheres.rs`), by world, scene, sandbox and command;
//! `from_outside.rs` has it in the window.

mod support;

use glam::DVec3;
#[cfg(feature = "papers")]
use kintsugi::{bodies::generators, scene::Scene};
use kintsugi::{
    bodies::{BodyDef, BodyState, ContactsId, Family, World, WorldSettings, register_generator},
    scene::parse_scene,
    shape::{Convex, Look, Shape},
};
use std::sync::Arc;

fn spheres() -> ContactsId {
    kintsugi::papers::register();
    register_generator(&support::spheres::ENTRY).unwrap();
    ContactsId::named("spheres").unwrap()
}

/// A cube of 0.2 m whose centre is at `at`.
fn cube(at: DVec3) -> BodyDef {
    let corners = (0..8u32).map(|c| DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(|v| 0.2 * f64::from(v))));
    let faces: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let faces = faces.map(Vec::from).into();
    BodyDef {
        shape: Arc::new(Shape::convex(
            Convex::new(corners.collect(), faces).unwrap(),
            1000.0,
            Look::default(),
        )),
        meters_per_unit: 1.0,
        object_size_m: 0.2,
        family: Family::unique(),
        friction: 0.6,
        restitution: 0.0,
        rolling_resistance: 0.3,
        fixed: false,
        physics_level: 4,
        structure: None,
        state: BodyState::at(at),
    }
}

/// Two cubes over the floor, one beside the other and on its way to it.
fn world(contacts: ContactsId) -> World {
    let mut world = World::on_cpu(WorldSettings { contacts, ..WorldSettings::default() });
    world.add(cube(DVec3::Y * 0.5));
    let mut other = cube(DVec3::new(1.0, 0.4, 0.02));
    other.state.linear_velocity.x = -3.0;
    world.add(other);
    world
}

fn step(world: &mut World, steps: u32) -> Vec<BodyState> {
    (0..steps).for_each(|_| _ = world.step_on_cpu());
    world.bodies.iter().map(|body| body.state).collect()
}

#[test]
fn bodies_of_a_kind_that_the_finder_does_not_know_are_met_as_hulls_and_as_spheres_where_those_are_chosen() {
    let radius = 0.1 * 3.0f64.sqrt();
    let mut w = world(ContactsId::default());
    step(&mut w, 200);
    assert!(
        w.bodies.iter().all(|body| (body.state.position.y - 0.1).abs() < 1e-3),
        "as cubes they lie on a side"
    );

    let mut w = world(spheres());
    let mut nearest = f64::MAX;
    for _ in 0..200 {
        let states = step(&mut w, 1);
        nearest = nearest.min(states[0].position.distance(states[1].position));
    }
    let states = step(&mut w, 1);
    println!("nearest {nearest:.4}, two radii are {:.4}", 2.0 * radius);
    assert!((nearest / (2.0 * radius) - 1.0).abs() < 0.02, "{nearest}");
    for state in &states {
        assert!((state.position.y / radius - 1.0).abs() < 0.02, "{}", state.position.y);
    }
    assert!(states[0].position.x < -0.05, "it was pushed");
    assert!(w.bodies.iter().all(|body| body.asleep), "and both come to rest");
}

#[test]
fn a_snapshot_restores_what_they_did_and_another_finder_begins_anew() {
    let mut w = world(spheres());
    step(&mut w, 30);
    let then = w.snapshot();
    let first = step(&mut w, 60);
    w.restore(&then);
    assert_eq!(step(&mut w, 60), first);
    assert!(!w.contacts().is_empty());
    step(&mut w, 200);
    w.settings.contacts = ContactsId::default();
    w.step_on_cpu();
    assert!(w.contacts().is_empty(), "what the spheres found holds nobody any more");
    assert!(w.bodies.iter().all(|body| !body.asleep));
}

#[cfg(feature = "papers")]
#[test]
fn scenes_name_finders_and_responses() {
    let contacts = spheres();
    let names: Vec<_> = generators().iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["mixed", "octree", "hull", "field", "spheres"]);
    let scene = parse_scene("contacts = \"spheres\"\nresponse = \"penalty\"\n", "s.toml").unwrap();
    assert_eq!((scene.contacts, scene.response.name()), (contacts, "penalty"));
    let written = toml::to_string(&scene).unwrap();
    assert!(written.contains("contacts = \"spheres\""), "{written}");
    assert!(!toml::to_string(&Scene::default()).unwrap().contains("contacts"), "the default is not written");
    for (line, known) in [
        ("contacts = \"cubes\"", "mixed, octree, hull, field, spheres"),
        ("response = \"cubes\"", "soft, impulse, penalty"),
    ] {
        let message = parse_scene(&format!("dt = 0.01\n{line}\n"), "s.toml").unwrap_err().message;
        assert!(
            message.contains("line 2") && message.contains(" cubes;") && message.contains(known),
            "{message}"
        );
    }
}

#[cfg(not(feature = "papers"))]
#[test]
fn a_scene_that_names_what_the_build_leaves_out_gets_a_line_that_says_so() {
    for line in ["contacts = \"field\"", "response = \"penalty\""] {
        let message = parse_scene(&format!("dt = 0.01\n{line}\n"), "s.toml").unwrap_err().message;
        println!("{message}");
        assert!(message.contains("line 2") && message.contains("kintsugi-papers"), "{message}");
        assert_eq!(message.lines().count(), 1);
    }
}

#[test]
fn the_sandbox_and_the_command_go_by_it_through_undo_and_timeline() {
    use kintsugi::{
        gpu::Gpu,
        scene::{Arrived, Sandbox},
    };
    let contacts = spheres();
    let Some(gpu) = Gpu::headless().map_err(|error| support::skip::note(&error.to_string())).ok() else {
        return;
    };
    let text = "contacts = \"spheres\"\n[[body]]\nfile = \"builtin:box\"\nlevel = 4\non_floor = false\n\
                position = [0.0, 2.0, 0.0]\n[body.fracture]\nseeds = 6\n";
    let mut sandbox = Sandbox::new(&gpu).unwrap();
    sandbox.open_scene(parse_scene(text, ".").unwrap());
    let wait = |sandbox: &mut Sandbox, wanted| {
        while sandbox.poll().unwrap() != Some(wanted) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    };
    wait(&mut sandbox, Arrived::Opened);
    assert_eq!(sandbox.settings().contacts, contacts);
    let radius = sandbox.bodies()[0].def.radius();
    (0..150).for_each(|_| sandbox.step().unwrap());
    let lowest = sandbox.bodies()[0].state.position.y;
    println!("radius {radius}, rests at {lowest}");
    assert!((lowest - radius).abs() < 0.05 * radius, "the sphere round it lies on the floor");
    let id = sandbox.bodies()[0].id;
    sandbox.break_at(id, sandbox.bodies()[0].state.position, DVec3::NEG_Z);
    wait(&mut sandbox, Arrived::Broke);
    let pieces = sandbox.bodies().len();
    (0..20).for_each(|_| sandbox.step().unwrap());
    assert!(pieces > 1 && sandbox.show_recorded(10) && sandbox.bodies().len() == 1);
    sandbox.step().unwrap();
    assert!(sandbox.undo().is_some() && sandbox.bodies().len() == 1);
    assert_eq!(sandbox.scene(Default::default()).contacts, contacts, "what is saved names it");

    let folder = std::env::temp_dir().join(format!("kintsugi-spheres-{}", std::process::id()));
    let out = folder.display().to_string();
    let run = |name: &str| {
        let words =
            ["kintsugi", "simulate", "builtin:box", "--seconds", "0.1", "--contacts", name, "--out", &out];
        kintsugi::cli::run(words.iter().map(std::ffi::OsString::from))
    };
    run("spheres").unwrap();
    assert!(folder.join("trajectory.npz").is_file());
    let unknown = run("cubes").unwrap_err();
    assert!(unknown.exit_code() == 2 && unknown.to_string().contains("spheres"), "{unknown}");
    std::fs::remove_dir_all(folder).unwrap();
}
