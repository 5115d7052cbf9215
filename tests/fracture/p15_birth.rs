//! P15: pieces overlap where a crack voxel was copied. That overlap pushes nobody: without gravity they stay where they are, with a gap of
//! any width between them or none.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use kintsugi::{
    bodies::{BodyDef, BodyState, Family, World, WorldSettings},
    fracture::Surface,
    shape::{Look, Octree, Shape},
    svo::{Arena, Grid},
};

use super::{
    bed::Bench,
    cases::{Case, Crack, plain},
};

#[test]
fn nothing_pushes_the_pieces_of_any_surface_apart() {
    let Some(bench) = Bench::get() else { return };
    let gpu = &bench.gpu;
    for (surface, gap) in [
        (Surface::Planar, 0),
        (Surface::Rough, 0),
        (Surface::Dusty, 0),
        (Surface::Dusty, 15),
        (Surface::Dusty, 40),
    ] {
        let level = if gap == 15 { 7 } else { 6 };
        let crack = Crack { gap, ..Crack::default() };
        let case = Case { crack, ..plain("vase", level, surface, 40, 7) };
        let forest = case.shape.octree(level);
        let (pattern, recipe) = case.parts(&forest, 0);
        let fracture = bench.run(&forest, 0, &pattern, &recipe).expect("it breaks");
        let mut arena = Arena::new(gpu).expect("an empty arena fits");
        arena.insert(gpu, &fracture.forest).expect("the pieces fit");
        let settings =
            WorldSettings { gravity: DVec3::ZERO, floor: None, sleeping: false, ..WorldSettings::default() };
        let mut world = World::new(gpu, settings).expect("the passes compile");
        let grid = Grid::around(DVec3::ZERO, DVec3::ONE, level);
        let family = Family::unique();
        for piece in &fracture.pieces {
            let octree =
                Octree { forest: Arc::clone(&fracture.forest), tree: piece.tree, grid, mass: piece.mass };
            world.add(BodyDef {
                shape: Arc::new(Shape::octree(octree, 2000.0, Look::default())),
                meters_per_unit: 1.0,
                family,
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
            points = world.step(gpu, &arena).expect("it steps").collision_points;
        }
        let fastest = world.bodies.iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max);
        println!(
            "{surface:?}, gap {gap}/10: {} pieces, {points} points, fastest {fastest:.1e} m/s",
            fracture.pieces.len()
        );
        assert!(fastest < 1e-6 && points > 0);
    }
}
