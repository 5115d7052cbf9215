//! Pieces with a gap between them, as a user breaks a vase: equal to the brute force, and nothing pushes them apart (P15).

use std::sync::Arc;

use glam::{DQuat, DVec3};
use kintsugi::{
    bodies::{BodyDef, BodyState, Family, World, WorldSettings, mass_properties},
    fracture::{
        Fracture, FractureParams, Fracturer, Pattern, Recipe, Source, Surface,
        crack::{CrackShape, Dusty},
        reference,
    },
    gpu::Gpu,
    mesh::builtin,
    svo::{Arena, Forest, Grid, validate},
    voxelize::{Progress, voxelize},
};

fn octree(name: &str, level: u32) -> Arc<Forest> {
    let mesh = builtin(name).expect("a built-in shape");
    Arc::new(voxelize(&mesh, level, &Progress::default()).expect("it voxelises").forest)
}

fn recipe(width: f64, transition: u32) -> Recipe {
    let dusty = Dusty { width, irregularity: 0.5 };
    let crack = CrackShape { transition_level: Some(transition), dusty, ..CrackShape::default() };
    Recipe { surface: Surface::Dusty, crack, rng: 5, ..Recipe::default() }
}

fn pattern(forest: &Forest, seeds: u32, rng: u64) -> Pattern {
    let params = FractureParams { seeds, rng, ..FractureParams::default() };
    let bounds = mass_properties(forest, 0).bounds;
    let point = bounds.0 + DVec3::new(0.5, 0.6, 0.95) * (bounds.1 - bounds.0);
    Pattern::near_object(&params, point, bounds, forest, 0).expect("good parameters")
}

fn break_it(
    gpu: &Gpu,
    arena: &mut Arena,
    forest: &Arc<Forest>,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Fracture {
    let fracturer = Fracturer::new(gpu).expect("the passes compile");
    let slot = arena.insert(gpu, forest).expect("the forest fits");
    let source = Source { arena, slot, forest, tree: 0 };
    fracturer.fracture(gpu, &source, pattern, recipe).expect("it breaks")
}

#[test]
fn built_in_shapes_equal_the_brute_force() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let mut arena = Arena::new(&gpu).expect("an empty arena fits");
    for (name, level, transition, width) in [
        ("vase", 6, 3, 2.0),
        ("vase", 7, 4, 1.0),
        ("cavity", 6, 4, 1.5),
        ("shell", 6, 2, 5.0),
        ("statue", 6, 4, 3.0),
    ] {
        let forest = octree(name, level);
        let (pattern, recipe) = (pattern(&forest, 40, 7), recipe(width, transition));
        let fracture = break_it(&gpu, &mut arena, &forest, &pattern, &recipe);
        let wanted = reference::fracture_by(&forest, 0, &pattern, &recipe).expect("good parameters");
        println!("{name} level {level}: {:?}, {:.1} voxels of dust", fracture.counts, fracture.dust_volume);
        assert_eq!(validate(&fracture.forest), Ok(()));
        assert_eq!(fracture.forest.leaves.len(), wanted.copies.len());
        assert_eq!(fracture.pieces.len(), wanted.pieces.len());
        assert_eq!(fracture.counts.crack_voxels as usize, wanted.crack_voxels);
        let whole = wanted.dust.iter().filter(|(_, parts)| *parts == 1).count();
        assert_eq!(fracture.counts.dust_voxels as usize, whole);
        let mut sizes: Vec<u64> = wanted.pieces.iter().map(|piece| piece.len() as u64).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        assert!(sizes.iter().eq(fracture.pieces.iter().map(|piece| &piece.voxels)));
        let before = mass_properties(&forest, 0).volume;
        let after: f64 = fracture.pieces.iter().map(|piece| piece.mass.volume).sum();
        assert!(((after + fracture.dust_volume) / before - 1.0).abs() < 1e-6);
    }
}

#[test]
fn p15_nothing_pushes_dusty_pieces_apart() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let level = 7;
    let forest = octree("vase", level);
    for width in [0.0, 1.5, 4.0] {
        let mut arena = Arena::new(&gpu).expect("an empty arena fits");
        let fracture = break_it(&gpu, &mut arena, &forest, &pattern(&forest, 40, 7), &recipe(width, 4));
        let slot = arena.insert(&gpu, &fracture.forest).expect("the pieces fit");
        let settings =
            WorldSettings { gravity: DVec3::ZERO, floor: None, sleeping: false, ..WorldSettings::default() };
        let mut world = World::new(&gpu, settings).expect("the passes compile");
        let grid = Grid::around(DVec3::ZERO, DVec3::ONE, level);
        let family = Family::unique();
        for piece in &fracture.pieces {
            world.add(BodyDef {
                forest: Arc::clone(&fracture.forest),
                slot,
                tree: piece.tree,
                grid,
                family,
                mass: piece.mass,
                density: 2000.0,
                friction: 0.6,
                restitution: 0.1,
                fixed: false,
                physics_level: 5,
                state: BodyState {
                    position: grid.origin + grid.h * piece.mass.centre,
                    rotation: DQuat::IDENTITY,
                    linear_velocity: DVec3::ZERO,
                    angular_velocity: DVec3::ZERO,
                },
            });
        }
        let mut points = 0;
        for _ in 0..60 {
            points = world.step(&gpu, &arena).expect("it steps").collision_points;
        }
        let fastest = world.bodies.iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max);
        println!(
            "P15, gap {width}: {} pieces, {points} points, fastest {fastest:.1e} m/s",
            fracture.pieces.len()
        );
        assert!(fastest < 1e-6);
    }
}
