//! P26: pieces with rough faces stay where they were made, whoever finds their contacts. P15 plays the default more finely.

use glam::DVec3;
use kintsugi::{
    fracture::Surface,
    scene::{Event, Scene, SceneBody},
};

use super::{
    Ways,
    support::stage::{fastest, open, play},
};

/// A body in 40 rough cells by a blow without strength, without gravity and floor. By distance fields it was seen to fail where the
/// depth at birth alone was subtracted: 46 mm/s.
fn broken() -> Scene {
    let mut body =
        SceneBody { file: "builtin:pig".into(), size: Some(1.0), level: 5, ..SceneBody::default() };
    body.physics_level = Some(4);
    (body.fracture.seeds, body.fracture.rng, body.fracture.surface) = (40, 3, Surface::Rough);
    let blow = Event::Impact {
        time: 0.0,
        point: DVec3::Y * 0.5,
        direction: DVec3::NEG_Z,
        speed: 0.0,
        body: Some(0),
        parts: Vec::new(),
        fracture: None,
        hold: false,
        energy: None,
        at_once: false,
    };
    let gravity = DVec3::ZERO;
    Scene {
        bodies: vec![body],
        events: vec![blow],
        gravity,
        floor: false,
        sleeping: false,
        ..Scene::default()
    }
}

#[test]
fn rough_pieces_stay_where_they_were_made_by_every_finder() {
    let field = cfg!(feature = "papers").then_some("field");
    for contacts in ["octree", "hull"].into_iter().chain(field) {
        let Some(mut sandbox) = open(Ways { contacts, ..Ways::default() }.of(broken())) else { return };
        play(&mut sandbox, 0.1);
        let (pieces, speed) = (sandbox.bodies().len(), fastest(&sandbox));
        println!("P26 by {contacts}: {pieces} pieces, fastest {speed:.1e} m/s (2e-6)");
        assert!(pieces > 30 && speed < 2e-6);
    }
}
