//! Levels 11 and 12 with the lowest transition level that they have: a leaf is two units wide there, the least that has
//! a middle. On the processor's cores, which alone go to these levels, against the reference.
//!
//! The object is a small ball round a voxel separation point, where every triangle of a transition voxel ends, so that
//! a test takes seconds.

use std::sync::Arc;

use glam::{DVec3, IVec3, Vec3};

use super::{CrackShape, CrackUniform, Sides, UNITS, reference::CrackReference, tests::assert_matches};
use crate::{
    compute::Compute,
    fracture::{
        Fracture, FractureError, Fracturer, Pattern, Recipe, Source, Surface, voronoi::testing::listed,
    },
    svo::{Arena, Forest, LeafColor, Leaves, build, morton, pack_normal},
};

/// Radius of the ball, voxels.
const RADIUS: f64 = 16.0;

/// A ball somewhere in the grid: voxels with an empty neighbour (26) are boundary, the others internal.
fn ball_at(level: u32, middle: DVec3) -> Forest {
    let solid = |p: IVec3| (p.as_dvec3() + 0.5 - middle).length() < RADIUS;
    let buried = |p: IVec3| (0..27).all(|n| solid(p + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)));
    let low = (middle - RADIUS - 1.0).floor().as_ivec3();
    let across = 2 * RADIUS as i32 + 3;
    let mut keys: Vec<morton::Key> = (0..across.pow(3))
        .map(|n| low + IVec3::new(n % across, n / across % across, n / across / across))
        .filter(|p| solid(*p) && !buried(*p))
        .map(|p| morton::encode(p.as_uvec3().to_array()))
        .collect();
    keys.sort_unstable();
    let leaves = Leaves {
        normals: vec![pack_normal(Vec3::Y); keys.len()],
        colors: vec![LeafColor::new([200, 100, 50], false, 0.0); keys.len()],
        coverage: vec![0.5; keys.len()],
        keys: keys.into(),
        ..Leaves::default()
    };
    build(level, leaves, &|key: morton::Key, at: u32| {
        buried(IVec3::from_array(morton::decode(key << (3 * (level - at))).map(|v| v as i32)))
    })
}

/// Four seeds round the middle of the transition voxel in the middle of the grid, each nearest to corners of it.
fn four_seeds(level: u32, transition: u32) -> Pattern {
    let edge = f64::from(1u32 << (level - transition));
    let middle = DVec3::splat(f64::from(1u32 << (level - 1)) + 0.5 * edge);
    let away = [[-0.7, -0.25, -0.15], [0.65, -0.2, 0.1], [0.05, 0.75, -0.2], [0.0, 0.1, 0.8]];
    let points = away.map(|way| middle + DVec3::from_array(way) * edge);
    Pattern::from_points(&points, level).unwrap()
}

fn recipe(transition: u32, sides: Sides) -> Recipe {
    let crack = CrackShape { transition_level: Some(transition), sides, ..CrackShape::default() };
    Recipe { surface: Surface::Rough, crack, rng: 77, ..Recipe::default() }
}

fn broken(forest: &Arc<Forest>, pattern: &Pattern, recipe: &Recipe) -> Result<Fracture, FractureError> {
    let arena = Arena::new(Compute::Cpu).unwrap();
    let source = Source::new(&arena, forest, 0).unwrap();
    Fracturer::new(Compute::Cpu).unwrap().fracture(&source, pattern, recipe)
}

#[test]
fn the_lowest_transition_level_of_the_finest_grids_breaks_as_the_reference_does() {
    for level in [11, 12] {
        let transition = CrackShape::lowest_transition(level);
        let leaf = UNITS >> (level - transition);
        assert!(leaf / 2 >= 1, "level {level}: a leaf of {leaf} units has no middle");
        assert_eq!(leaf, 2, "level {level}: not the lowest level that there is room for");
        let pattern = four_seeds(level, transition);
        for sides in [Sides::Cone, Sides::Votes] {
            let recipe = recipe(transition, sides);
            let words = CrackUniform::new(&recipe.crack, recipe.rng, transition);
            let mut cracks = CrackReference::new(&pattern, words, level);
            let voxel = cracks.voxel([1 << (transition - 1); 3]).expect("a crack crosses the middle voxel");
            let middle = voxel.in_grid(voxel.voxel_point, transition, level);
            let forest = Arc::new(ball_at(level, DVec3::from_array(middle)));
            let fracture = broken(&forest, &pattern, &recipe).unwrap();

            let (mut copies, mut internal) = (Vec::new(), Vec::new());
            let mut put = |place: [u32; 3], inside: bool| {
                let (fate, key) = (cracks.leaf(place, inside), morton::encode(place));
                for object in fate.objects {
                    if inside && !fate.touched {
                        internal.push((object, key));
                    } else {
                        copies.push((object, key, inside));
                    }
                }
            };
            forest.leaves.keys.iter().for_each(|key| put(morton::decode(key), false));
            forest.for_each_internal(|_, low, size| {
                for n in 0..size.pow(3) {
                    put([low[0] + n % size, low[1] + n / size % size, low[2] + n / size / size], true);
                }
            });
            copies.sort_unstable();
            internal.sort_unstable();
            let got = listed(&fracture);
            println!(
                "level {level}, transition level {transition}, {sides:?}: {} copies, {} internal voxels, {} pieces",
                copies.len(),
                internal.len(),
                got.pieces.len()
            );
            assert!(got.copies == copies, "level {level}, {sides:?}: {} copies", got.copies.len());
            assert!(got.internal == internal, "level {level}, {sides:?}: {} inside", got.internal.len());
            assert!(copies.iter().filter(|copy| copy.2).count() > 1000, "hardly anything is cracked");
            if sides == Sides::Cone {
                // Votes leave holes, and internal voxels of two objects may meet.
                assert_matches(&forest, &fracture, &pattern, &recipe);
            }
        }
    }
}

#[test]
fn a_level_below_the_lowest_is_refused() {
    for (level, lowest) in [(11, 3), (12, 4)] {
        let pattern = four_seeds(level, lowest);
        let forest = Arc::new(ball_at(level, DVec3::splat(f64::from(1u32 << (level - 1)))));
        let refused =
            broken(&forest, &pattern, &recipe(lowest - 1, Sides::Cone)).expect_err("no room").to_string();
        let below = format!("transition level {} is outside {lowest} to the leaf level {level}", lowest - 1);
        assert!(refused.contains(&below) && !refused.contains('\n'), "{refused}");
    }
}
