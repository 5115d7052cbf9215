//! Whole breaks with chips on built-in shapes, on the cores.

use std::collections::BTreeSet;

use glam::DVec3;

use super::shares_of_chips;
use crate::{
    compute::Compute,
    fracture::{
        BreakStep, BrokenObject, FractureError, FractureParams, Passes, Preset,
        generations::{Plan, break_object, default_impact},
    },
    import::{Imported, import},
    shape::Shape,
    svo::Arena,
    voxelize::Progress,
};

const LEVEL: u32 = 7;

fn object(name: &str) -> Imported {
    import(&format!("builtin:{name}"), LEVEL, &Progress::default()).unwrap()
}

/// Chips of `longest` voxels at most.
fn params(object: &Imported, chips: u32, longest: f64, chip_spread: f64) -> FractureParams {
    let chip_size = longest * object.grid.h;
    let (preset, seeds, rng) = (Preset::Uniform, 8, 3);
    FractureParams { preset, seeds, rng, chips, chip_size, chip_spread, ..FractureParams::default() }
}

fn broken(object: &Imported, params: &FractureParams) -> Result<BrokenObject, FractureError> {
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let plan = Plan { impact, params: params.clone(), seeds: None, bounds: None, generations: 1 };
    break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {})
}

/// Seeds of the chips of a break, each with the guard below it, voxels.
fn chips_of(step: &BreakStep) -> Vec<[DVec3; 2]> {
    let seeds = step.result.pattern.as_ref().unwrap().seeds_in_voxels(LEVEL);
    assert_eq!(seeds.len() % 9, 0);
    seeds.chunks(9).map(|nine| [nine[8], nine[0]].map(DVec3::from_array)).collect()
}

/// The parts of a break that are chips: all but those of object 0, the rest of the piece.
fn parts_of(step: &BreakStep) -> impl Iterator<Item = (u32, &Shape)> {
    step.result.parts.iter().filter(|part| part.cell > 0).map(|part| (part.cell, &*part.shape))
}

fn volume(broken: &BrokenObject) -> f64 {
    broken.pieces.iter().map(|at| broken.part(*at).shape.mass().volume_m3).sum()
}

/// Fails where guards are objects of their own (more parts than chips), where a chip's seed lies inside the piece (no voxel of
/// the outside) and where lengths leave the spread out.
#[test]
fn chips_are_as_many_and_as_long_as_said_and_each_has_a_part_of_the_outside() {
    for name in ["box", "sphere"] {
        let object = object(name);
        let all = broken(&object, &params(&object, 40, 10.0, 0.4)).unwrap();
        let mut lengths = Vec::new();
        for step in &all.steps[1..] {
            assert!(
                step.generation == 2 && step.result.kept.is_some(),
                "{name}: the rest of the piece stays"
            );
            let chips = chips_of(step);
            for [own, below] in &chips {
                // The face below the edge lies half way to the guard, 0.28 of the length away.
                let length = own.distance(*below) / 0.56;
                assert!((5.95..=10.05).contains(&length), "{name}: {length}");
                lengths.push(length);
            }
            let cells: BTreeSet<u32> = parts_of(step).map(|(cell, _)| cell).collect();
            assert_eq!(cells.len(), chips.len(), "{name}: every chip has voxels");
            assert!(parts_of(step).count() <= chips.len() + 1, "{name}: and is one part");
            for (cell, shape) in parts_of(step) {
                let octree = shape.as_octree().unwrap();
                let colors = &octree.forest.leaves.colors;
                assert!(octree.leaves().any(|leaf| !colors[leaf].crack()), "{name}: chip {cell} is hidden");
                let long = octree.mass.bounds.size().max_element();
                assert!(long < 16.0, "{name}: chip {cell} is {long} voxels long");
                assert!((0.5..350.0).contains(&octree.mass.volume), "{name}: {}", octree.mass.volume);
            }
        }
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        println!("{name}: {} chips of {} pieces, {mean} voxels long", lengths.len(), all.steps.len() - 1);
        assert_eq!(lengths.len(), all.chips(), "{name}");
        assert!((32..=40).contains(&lengths.len()), "{name}: {}", lengths.len());
        // A third of the way from the smallest to the largest.
        assert!((6.6..8.2).contains(&mean), "{name}: {mean}");
        let (before, after) = (object.shape.mass().volume_m3, volume(&all));
        assert!((after / before - 1.0).abs() < 1e-6, "{name}: {after} of {before}");
    }
}

#[test]
fn chips_twice_as_long_have_about_eight_times_the_volume() {
    let object = object("box");
    let mean = |longest: f64| {
        let all = broken(&object, &params(&object, 24, longest, 0.0)).unwrap();
        let volumes: Vec<f64> =
            all.steps[1..].iter().flat_map(parts_of).map(|(_, shape)| shape.mass().volume_m3).collect();
        volumes.iter().sum::<f64>() / volumes.len() as f64
    };
    let ratio = mean(14.0) / mean(7.0);
    assert!((4.0..14.0).contains(&ratio), "{ratio}");
}

#[test]
fn the_same_chips_come_twice_and_the_break_itself_is_that_without_chips() {
    let object = object("box");
    let with = |chips: u32, rng: u64| {
        broken(&object, &FractureParams { rng, ..params(&object, chips, 10.0, 0.5) }).unwrap()
    };
    let trees = |all: &BrokenObject, steps: usize| {
        let parts = all.steps[..steps].iter().flat_map(|step| &step.result.parts);
        parts.map(|part| (part.cell, part.size, part.shape.as_octree().unwrap().clone())).collect::<Vec<_>>()
    };
    let is_same = |a: &BrokenObject, b: &BrokenObject, steps: usize| {
        let (a, b) = (trees(a, steps), trees(b, steps));
        a.len() == b.len()
            && a.iter()
                .zip(&b)
                .all(|(a, b)| (a.0, a.1, a.2.tree) == (b.0, b.1, b.2.tree) && *a.2.forest == *b.2.forest)
    };
    let (none, once, twice) = (with(0, 3), with(20, 3), with(20, 3));
    assert_eq!((none.steps.len(), once.steps.len()), (1, twice.steps.len()));
    assert!(is_same(&none, &once, 1) && is_same(&once, &twice, once.steps.len()));
    assert!(once.pieces.len() >= none.pieces.len() + 16, "{}", once.pieces.len());
    assert!(once.steps[1].result.pattern != with(20, 4).steps[1].result.pattern);
    // Files of breaks without chips do not mention them.
    let written = toml::to_string(&FractureParams::default()).unwrap();
    assert!(!written.contains("chip"), "{written}");
}

#[test]
fn every_chip_asked_for_is_shared_out_by_the_length_of_edges() {
    let object = object("sphere");
    let params = params(&object, 100, 8.0, 0.5);
    let all = broken(&object, &FractureParams { chips: 0, ..params.clone() }).unwrap();
    let shapes = || all.pieces.iter().map(|at| &*all.part(*at).shape);
    let shares = shares_of_chips(&params, shapes()).unwrap();
    assert_eq!((shares.len(), shares.iter().sum::<u32>()), (all.pieces.len(), 100));
    assert!(shares.iter().all(|share| (4..30).contains(share)), "{shares:?}");
    // A whole object has no crack, and pieces that are hardly larger than a chip lose none.
    assert_eq!(shares_of_chips(&params, [&*object.shape]).unwrap(), [0]);
    let many = FractureParams { seeds: 300, chips: 0, ..params.clone() };
    let small = broken(&object, &many).unwrap();
    let large = FractureParams { chip_size: 30.0 * object.grid.h, ..params };
    let shares = shares_of_chips(&large, small.pieces.iter().map(|at| &*small.part(*at).shape)).unwrap();
    assert_eq!(shares.iter().sum::<u32>(), 0);
}

#[test]
fn chips_that_cannot_be_are_refused_with_what_to_do() {
    let object = object("box");
    let said = |change: &dyn Fn(&mut FractureParams)| {
        let mut params = params(&object, 10, 10.0, 0.5);
        change(&mut params);
        broken(&object, &params).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let small = said(&|params| params.chip_size = 1e-3);
    assert!(small.contains("chip_size makes chips of") && small.contains("a higher level"), "{small}");
    let large = said(&|params| params.chip_size = 0.5);
    assert!(large.contains("on a grid of 128: give at most"), "{large}");
    let whole = said(&|params| params.preset = Preset::Chips);
    assert!(whole.contains("break the object, then its pieces"), "{whole}");
    assert_eq!(said(&|params| params.chip_size = 0.0), "");
}
