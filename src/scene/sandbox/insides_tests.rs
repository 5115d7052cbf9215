//! What a crack shows belongs to the break that made it, whatever is chosen for the object later.

use std::time::{Duration, Instant};

use glam::DVec3;

use super::Sandbox;
use crate::{
    bodies::Body,
    compute::{Choice, Compute},
    fracture::{Insides, Material, Volume},
    render::Camera,
    scene::{Scene, SceneBody},
    svo::morton,
};

fn settle(sandbox: &mut Sandbox) {
    let start = Instant::now();
    loop {
        sandbox.poll().unwrap();
        if !sandbox.is_busy() && sandbox.opening().is_none() {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "it never ends");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A scene that went through a file.
fn opened(scene: &Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    let read: Scene = toml::from_str(&toml::to_string(scene).unwrap()).unwrap();
    sandbox.open_scene(read);
    settle(&mut sandbox);
    sandbox
}

fn a_box() -> Scene {
    let mut body = SceneBody::standing("builtin:box", 5);
    body.fracture.seeds = 6;
    Scene { bodies: vec![body], ..Scene::default() }
}

fn choose(sandbox: &mut Sandbox, material: Material) {
    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.interior.material = material;
    sandbox.tune("inside", tuning);
    sandbox.end_gesture();
}

/// Breaks the largest body.
fn strike(sandbox: &mut Sandbox) {
    let volume = |body: &&Body| body.def.shape.mass().volume_m3;
    let largest = sandbox.bodies().iter().max_by(|a, b| volume(a).total_cmp(&volume(b))).unwrap();
    let (id, at) = (largest.id, largest.state.position);
    sandbox.break_at(id, at, DVec3::NEG_Z);
    settle(sandbox);
}

fn own(sandbox: &Sandbox, body: &Body) -> Insides {
    sandbox.insides().of(&sandbox.info(body.id).copied().unwrap_or_default())
}

/// What the bodies show, each as the names of its materials, in order.
fn shown(sandbox: &Sandbox) -> Vec<Vec<&'static str>> {
    let names = |of: Insides| -> Vec<&'static str> {
        of.all().filter_map(|volume| volume.kind()).map(Material::name).collect()
    };
    let bodies = sandbox.bodies().iter();
    let mut all: Vec<_> = bodies.map(|body| names(own(sandbox, body))).collect();
    all.sort();
    all
}

/// How many crack voxels of a body each of two materials painted.
fn painted(body: &Body, insides: &Insides) -> [usize; 2] {
    let (octree, all) = (body.def.octree(), insides.all().collect::<Vec<_>>());
    let (leaves, edge) = (&octree.forest.leaves, 1i32 << (14 - octree.forest.level));
    let mut counts = [0; 2];
    for leaf in octree.leaves().filter(|leaf| leaves.colors[*leaf].crack()) {
        let centre = morton::decode(leaves.keys.at(leaf)).map(|v| v as i32 * edge + edge / 2);
        let color = leaves.colors[leaf].rgb();
        let number = insides.painter_of(&[(color, centre)]);
        assert_eq!(all[number].color_at(centre), color, "a crack keeps its colours");
        counts[number] += 1;
    }
    counts
}

#[test]
fn a_later_break_opens_another_material_and_older_cracks_stay_as_they_were() {
    let mut sandbox = opened(&a_box());
    choose(&mut sandbox, Material::Marble);
    assert_eq!(shown(&sandbox), [["marble"]], "a whole body shows what is chosen");
    strike(&mut sandbox);
    let once = shown(&sandbox);
    assert!(once.len() > 2 && once.iter().all(|names| *names == ["marble"]), "{once:?}");
    choose(&mut sandbox, Material::Wood);
    assert_eq!(shown(&sandbox), once, "cracks that are there keep theirs");
    strike(&mut sandbox);
    let twice = shown(&sandbox);
    let again = twice.iter().filter(|names| *names == &["marble", "wood"]).count();
    assert!(again > 1 && twice.iter().filter(|names| *names == &["marble"]).count() == once.len() - 1);
    let mut counts = [0; 2];
    for body in sandbox.bodies() {
        let there = painted(body, &own(&sandbox, body));
        counts = [counts[0] + there[0], counts[1] + there[1]];
    }
    assert!(counts[0] > 50 && counts[1] > 50, "{counts:?} voxels");
    let drawn = sandbox.render_bodies(None);
    let later = drawn.iter().filter(|body| body.later[0] != Volume::default());
    assert_eq!(later.count(), again, "the picture shows both");

    sandbox.undo().unwrap();
    assert_eq!(shown(&sandbox), once);
    sandbox.redo().unwrap();
    assert_eq!(shown(&sandbox), twice);
    // As it stands, and from its start with both blows as events.
    assert_eq!(shown(&opened(&sandbox.as_it_stands(Camera::default()))), twice);
    let (take, stands) = sandbox.scene_to_keep(Camera::default());
    assert!(!stands && take.events.len() == 2 && take.breaks.is_empty());
    let mut played = opened(&take);
    for _ in 0..3 {
        played.step().unwrap();
        settle(&mut played);
    }
    assert_eq!(shown(&played), twice);
}

#[test]
fn a_blow_of_a_scene_that_names_no_material_opens_that_of_its_body() {
    for (said, wanted) in [("", "glass"), ("[event.fracture.interior]\nmaterial = \"wood\"\n", "wood")] {
        let text = format!(
            "[[body]]\nfile = \"builtin:box\"\nlevel = 4\n[body.fracture.interior]\nmaterial = \"glass\"\n\
             [[event]]\nkind = \"impact\"\ntime = 0.0\npoint = [0.0, 0.5, 0.5]\ndirection = [0.0, 0.0, -1.0]\n\
             [event.fracture]\nseeds = 6\n{said}"
        );
        let mut sandbox = opened(&toml::from_str(&text).unwrap());
        for _ in 0..3 {
            sandbox.step().unwrap();
            settle(&mut sandbox);
        }
        let all = shown(&sandbox);
        assert!(all.len() > 1 && all.iter().all(|names| *names == [wanted]), "{all:?}");
    }
}
