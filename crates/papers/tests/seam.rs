//! The seam in both directions, in a process of its own: before the crate registers, its names are refused with the way
//! to get them, and worlds have no measure; afterwards all of it is there.

use kintsugi_core::fracture::MethodId;
use kintsugi_papers::{field, penalty, planes, register};
use kintsugi_physics::{
    ContactsId, Narrow, ResponseId, World, WorldSettings, all_pair_data, has_measure, pair_data,
    testing::{block, body, grid, world},
};
use std::sync::Arc;

fn named() -> [Result<&'static str, String>; 3] {
    [
        MethodId::named(planes::ENTRY.name).map(|id| id.name()).map_err(|error| error.to_string()),
        ContactsId::named(field::ENTRY.name).map(|id| id.name()).map_err(|error| error.to_string()),
        ResponseId::named(penalty::ENTRY.name).map(|id| id.name()).map_err(|error| error.to_string()),
    ]
}

/// Two cubes, one a quarter inside the other.
fn cubes() -> World {
    let forest = Arc::new(block(4, [4; 3], [12; 3]));
    let mut w =
        world(WorldSettings { measure_volume: true, narrow: Narrow::Cpu, ..WorldSettings::default() });
    for k in 0..2 {
        w.add(body(&forest, 0, grid(4, 1.0), 4, glam::DVec3::Y * (0.375 * f64::from(k))));
    }
    w
}

#[test]
fn names_and_measure_are_there_once_the_crate_has_registered_and_not_before() {
    for message in named().map(Result::unwrap_err) {
        assert!(message.contains("in this build: it comes with the crate kintsugi-papers"), "{message}");
        assert!(message.contains("cargo build --release") && message.lines().count() == 1, "{message}");
    }
    let mut w = cubes();
    let ids = [0, 1].map(|k| w.bodies[k].id);
    assert!(!has_measure() && w.step_on_cpu().intersection_volume.is_none());
    assert!(pair_data(&mut w, ids[0], ids[1]).is_none() && all_pair_data(&mut w, None).unwrap().is_empty());
    assert!(!w.contacts().is_empty(), "contacts are found all the same");

    register();
    register();
    assert_eq!(named(), [Ok("planes"), Ok("field"), Ok("penalty")]);
    let mut w = cubes();
    let ids = [0, 1].map(|k| w.bodies[k].id);
    assert!(has_measure());
    let shared = pair_data(&mut w, ids[0], ids[1]).expect("both are there");
    assert!(shared.volume > 0.0 && !all_pair_data(&mut w, None).unwrap().is_empty());
    assert!(w.step_on_cpu().intersection_volume.is_some_and(|volume| volume > 0.0));
}
