//! What a step says that bodies share: boxes whose overlap is known, whoever looks and whoever answers; and a heap.

use crate::{
    bodies::{
        BodyDef, Narrow, ResponseId, World, WorldSettings, all_pair_data,
        testing::{block, body, grid, split_block, world},
    },
    gpu::Gpu,
    svo::Arena,
};
use glam::DVec3;
use std::sync::Arc;

const RESPONSES: [&str; 2] = ["soft", "penalty"];

fn named(response: &str) -> ResponseId {
    crate::register();
    ResponseId::named(response).expect("it is in the table")
}

/// Measures, and moves nothing to speak of.
fn still(response: &str, floor: Option<f64>) -> WorldSettings {
    let response = named(response);
    let still = WorldSettings { gravity: DVec3::ZERO, sleeping: false, ..WorldSettings::default() };
    WorldSettings { response, floor, dt: 1e-6, measure_volume: true, ..still }
}

/// Whoever is there: the cores, and passes where there is a device.
fn lookers() -> Vec<Option<Gpu>> {
    let gpu = Gpu::for_test();
    let passes = gpu.is_some().then_some(gpu);
    [None].into_iter().chain(passes).collect()
}

fn measured(mut bodies: Vec<BodyDef>, settings: WorldSettings, gpu: Option<&Gpu>) -> f64 {
    let mut w = World::new(gpu, settings).unwrap();
    w.settings.narrow = if gpu.is_some() { Narrow::Gpu } else { Narrow::Cpu };
    let arena = gpu.map(|gpu| {
        let mut arena = Arena::new(gpu).unwrap();
        for def in &bodies {
            arena.insert(&def.octree().forest).unwrap();
        }
        (gpu, arena)
    });
    bodies.drain(..).for_each(|def| _ = w.add(def));
    let report = w.step(arena.as_ref().map(|(gpu, arena)| (*gpu, arena))).unwrap();
    report.intersection_volume.expect("it is measured")
}

#[test]
fn boxes_share_what_they_share_whoever_looks_and_answers() {
    let g = grid(6, 2.0);
    let cube = || Arc::new(block(6, [16; 3], [48; 3]));
    let lookers = lookers();
    for response in RESPONSES {
        for gpu in lookers.iter().map(Option::as_ref) {
            // The upper box covers 0.75 by 0.5 m of the lower one, whose edge is 1 m.
            for cells in [0.01, 0.3, 1.0, 2.0, 4.0, 7.3] {
                let lift = DVec3::new(0.25, 1.0 - cells * g.h, 0.5);
                let bodies = vec![body(&cube(), 0, g, 6, DVec3::ZERO), body(&cube(), 0, g, 6, lift)];
                let (got, want) = (measured(bodies, still(response, None), gpu), 0.375 * cells * g.h);
                println!("{response:?} {cells} cells: {got:.6} of {want:.6} m^3");
                assert!((got / want - 1.0).abs() < 0.01, "{cells} cells: {got} of {want}");
            }
            // And in the floor; the grid begins half a metre below the box.
            let low = body(&cube(), 0, g, 6, DVec3::NEG_Y * 0.6);
            let got = measured(vec![low], still(response, Some(0.0)), gpu);
            assert!((got / 0.1 - 1.0).abs() < 0.01, "{got} of 0.1 in the floor");
        }
    }
}

#[test]
fn a_heap_shares_the_sum_of_its_pairs_sleepers_too() {
    let heap = |response| {
        let response = named(response);
        let forest = Arc::new(split_block(6, [8; 3], [56; 3], 3));
        let mut w = world(WorldSettings { response, measure_volume: true, ..WorldSettings::default() });
        for tree in 0..27 {
            w.add(body(&forest, tree, grid(6, 1.0), 5, DVec3::Y * (0.02 * f64::from(tree % 9))));
        }
        w
    };
    let sum =
        |w: &mut World| -> f64 { all_pair_data(w, None).unwrap().iter().map(|shared| shared.volume).sum() };
    for response in RESPONSES {
        let mut w = heap(response);
        for _ in 0..40 {
            let told = w.step_on_cpu().intersection_volume;
            assert_eq!(told, Some(sum(&mut w)));
        }
    }
    let mut w = heap("soft");
    let asleep = |w: &World| w.bodies.iter().all(|b| b.asleep);
    assert!((0..2000).any(|_| {
        w.step_on_cpu();
        asleep(&w)
    }));
    for _ in 0..2 {
        let told = w.step_on_cpu().intersection_volume;
        assert!(told.is_some_and(|volume| volume > 0.0) && told == Some(sum(&mut w)));
    }
    // What is put elsewhere is measured anew, asleep or not.
    let id = w.bodies[0].id;
    w.body_mut(id).unwrap().state.position.y += 9.0;
    assert_eq!(w.step_on_cpu().intersection_volume, Some(sum(&mut w)));
    w.settings.measure_volume = false;
    assert_eq!(w.step_on_cpu().intersection_volume, None);
}
