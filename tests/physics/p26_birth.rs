//! P26: pieces with rough faces stay where they were made, whoever finds their contacts.

use glam::DVec3;
use kintsugi::{
    fracture::Surface,
    scene::{Event, Scene, SceneBody},
};

use super::{
    Ways,
    support::stage::{fastest, open, play},
};

/// A body in 90 rough cells by a blow without strength, without gravity and floor.
fn broken(mesh: &str, size: f64, level: u32) -> Scene {
    let mut body = SceneBody {
        file: mesh.into(),
        size: Some(size),
        level,
        physics_level: Some(level - 1),
        ..SceneBody::default()
    };
    (body.fracture.seeds, body.fracture.rng, body.fracture.surface) = (90, 3, Surface::Rough);
    let blow = Event::Impact {
        time: 0.0,
        point: DVec3::new(0.0, 0.5, 0.0) * size,
        direction: DVec3::NEG_Z,
        speed: 0.0,
        body: Some(0),
        parts: Vec::new(),
        fracture: None,
        hold: false,
        energy: None,
        at_once: false,
    };
    Scene {
        bodies: vec![body],
        events: vec![blow],
        gravity: DVec3::ZERO,
        floor: false,
        sleeping: false,
        ..Scene::default()
    }
}

#[test]
fn rough_pieces_stay_where_they_were_made_by_every_finder() {
    let field = cfg!(feature = "papers").then_some("field");
    for contacts in ["mixed", "octree", "hull"].into_iter().chain(field) {
        let ways = Ways { contacts, ..Ways::default() };
        for (mesh, size, level) in
            [("builtin:statue", 0.2, 7), ("builtin:pig", 1.0, 6), ("builtin:vase", 5.0, 7)]
        {
            let Some(mut sandbox) = open(ways.of(broken(mesh, size, level))) else { return };
            play(&mut sandbox, 0.25);
            let (pieces, speed) = (sandbox.bodies().len(), fastest(&sandbox) / size);
            println!(
                "P26 by {contacts}: {mesh} of {size} m: {pieces} pieces, {speed:.1e} sizes a second (2e-6)"
            );
            assert!(pieces > 40 && speed < 2e-6);
        }
    }
}
