//! A fracture waits for the device three times at most, and once more only where a list was too short; and what it reads
//! back are its pieces.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::DVec3;

use super::{descent::Capacities, testing::random_solid};
use crate::{
    fracture::{
        Fracture, FractureParams, Fracturer, Labelling, Pattern, Recipe, Source, Surface, crack::CrackShape,
    },
    gpu::{Gpu, Traffic},
    svo::{Arena, Forest},
    voxelize::Progress,
};

/// A device of its own, so that nobody else's waits are counted.
pub(super) struct Counting {
    pub gpu: Gpu,
    fracturer: Fracturer,
}

impl Counting {
    pub fn new() -> Self {
        let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
        Self { fracturer: Fracturer::new(&gpu).unwrap(), gpu }
    }

    /// A fracture and what it asked of the device.
    pub fn run(&self, forest: &Arc<Forest>, pattern: &Pattern, recipe: &Recipe) -> (Fracture, Traffic) {
        let mut arena = Arena::new(&self.gpu).unwrap();
        arena.insert(forest).unwrap();
        let source = Source::new(&arena, forest, 0).unwrap();
        let _ = self.gpu.take_all_traffic();
        let fracture = self.fracturer.fracture(&source, pattern, recipe).unwrap();
        (fracture, self.gpu.take_all_traffic())
    }
}

pub(super) fn built_in(name: &str, level: u32) -> Arc<Forest> {
    let imported = crate::import::import(&format!("builtin:{name}"), level, &Progress::default()).unwrap();
    Arc::clone(&imported.forest)
}

pub(super) fn pattern(level: u32, count: u32, rng: u64) -> Pattern {
    let params = FractureParams { seeds: count, radii: vec![0.1, 0.25, 0.5], rng, ..Default::default() };
    let side = f64::from(1u32 << level);
    let (point, bounds) = (DVec3::new(0.6, 0.55, 0.5) * side, Aabb::new(DVec3::ZERO, DVec3::splat(side)));
    Pattern::on_spheres(&params, point, bounds, level).unwrap()
}

/// Planar, and rough and dusty at every transition level that tells something: far above the leaves, just above them,
/// and the leaves themselves.
pub(super) fn recipes(level: u32) -> Vec<Recipe> {
    let crack = |t| CrackShape { transition_level: Some(t), ..CrackShape::default() };
    let of = |surface, t| Recipe { surface, crack: crack(t), ..Recipe::default() };
    let levels = [level - 3, level - 1, level];
    let rough = levels.iter().flat_map(|t| [of(Surface::Rough, *t), of(Surface::Dusty, *t)]);
    [Recipe::default()].into_iter().chain(rough).collect()
}

pub(super) fn named(recipe: &Recipe) -> String {
    format!("{:?}, transition {:?}", recipe.surface, recipe.crack.transition_level)
}

/// Bytes that a fracture reads back at most: all nodes and leaves of its pieces, of 8 and about 20 bytes, and lists of
/// objects. The aim is 2 MB for the bunny at level 9, of which 74 MB come down today (docs/lab/waits.md).
fn most_down(forest: &Forest) -> u64 {
    (16 * forest.nodes.len() + 32 * forest.leaves.len()) as u64 + (1 << 20)
}

#[test]
fn a_fracture_waits_three_times_and_reads_its_pieces_back_once() {
    let bench = Counting::new();
    let mut split = 0;
    let mut local = pattern(6, 24, 5);
    local.objects.iter_mut().skip(4).for_each(|object| *object = 4);
    let cases = [
        ("box", 6, pattern(6, 60, 3)),
        ("vase", 7, pattern(7, 60, 3)),
        ("sphere", 6, local),
        ("statue", 6, pattern(6, 300, 7)),
    ];
    for (name, level, pattern) in cases {
        let forest = built_in(name, level);
        for recipe in recipes(level) {
            let (fracture, Traffic { waits, submissions, bytes_up, bytes_down, .. }) =
                bench.run(&forest, &pattern, &recipe);
            let (counts, what) = (fracture.counts, format!("{name}, {}", named(&recipe)));
            println!("{what}: {waits} waits, {} islands, {} swallowed", counts.islands, counts.swallowed);
            println!("    {submissions} submissions, {bytes_up} bytes up, {bytes_down} down");
            assert!(waits <= 3, "{what}: {waits} waits");
            let most = most_down(&fracture.forest);
            assert!(bytes_down <= most, "{what}: {bytes_down} of {most} bytes");
            split += usize::from(counts.islands > 0);
        }
    }
    assert!(split > 3, "pieces were split off in {split} cases");
}

#[test]
fn lists_that_are_too_short_grow_and_change_nothing() {
    let mut bench = Counting::new();
    let solids = [(built_in("vase", 6), 6), (Arc::new(random_solid(5, 11, 30)), 5)];
    for (k, (forest, level)) in solids.iter().enumerate() {
        for (i, recipe) in recipes(*level).into_iter().enumerate() {
            // Few seeds on one solid, many on the other; on planar cracks both on each.
            let is_due = |count: &u32| i == 0 || (i.div_ceil(2) + k).is_multiple_of(2) == (*count == 40);
            for count in [40, 300].into_iter().filter(is_due) {
                let pattern = pattern(*level, count, 9);
                bench.fracturer.passes_mut().unwrap().capacities = None;
                let (wanted, Traffic { waits: usual, .. }) = bench.run(forest, &pattern, &recipe);
                bench.fracturer.passes_mut().unwrap().capacities = Some(Capacities::tiny(*level));
                let (found, Traffic { waits, .. }) = bench.run(forest, &pattern, &recipe);
                println!("{}: {waits} waits, {usual} with room", named(&recipe));
                assert!(waits > usual, "nothing was too short");
                assert!(found.forest == wanted.forest, "{}", named(&recipe));
                assert_eq!(found.pieces, wanted.pieces);
                assert_eq!(found.counts, wanted.counts);
            }
        }
    }
}

/// The published labelling is there to be watched, and waits for every iteration.
#[test]
fn waits_are_counted() {
    let bench = Counting::new();
    let forest = built_in("box", 5);
    let recipe = Recipe { labelling: Labelling::Iterative, ..Recipe::default() };
    assert!(bench.run(&forest, &pattern(5, 24, 3), &recipe).1.waits > 3);
}
