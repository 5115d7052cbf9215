//! F3: splitting a moving, spinning body conserves momentum, angular momentum and kinetic energy to 1e-5,
//! since every piece takes over the body's velocity where it is. What a gap takes away takes its share along.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use kintsugi::{
    bodies::{Body, BodyState},
    fracture::{FractureParams, Surface},
    scene::{Arrived, Sandbox, SceneBody, Tuning, breaking::part_state},
    shape::{GridMass, Look, Octree, Shape},
    svo::{Forest, Grid},
};

use super::{
    bed::{Bed, Cell, Outcome},
    f2_mass::Sums,
    f10_dust::lost,
    support::{
        adapter,
        stage::{floating, hit, open_in},
    },
};

/// Relative error allowed.
const MOTION: f64 = 1e-5;

/// The shape of an octree of which only the mass counts.
fn shape(mass: GridMass, grid: Grid) -> Shape {
    let octree = Octree { forest: Arc::new(Forest::default()), tree: 0, grid, mass };
    Shape::octree(octree, 1.0, Look::default())
}

/// Momentum, angular momentum about the world's origin, kinetic energy.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    momentum: DVec3,
    angular: DVec3,
    energy: f64,
}

impl Motion {
    fn add(&mut self, state: &BodyState, mass: &GridMass, h: f64, density: f64) {
        let m = density * mass.volume * h.powi(3);
        let turn = DMat3::from_quat(state.rotation);
        let spin = turn * (mass.inertia * (density * h.powi(5))) * turn.transpose() * state.angular_velocity;
        self.momentum += state.linear_velocity * m;
        self.angular += state.position.cross(state.linear_velocity * m) + spin;
        self.energy += 0.5 * (m * state.linear_velocity.length_squared() + state.angular_velocity.dot(spin));
    }

    fn differs_from(&self, before: &Self) -> Option<String> {
        let off = [
            ("momentum", self.momentum.distance(before.momentum) / before.momentum.length()),
            ("angular momentum", self.angular.distance(before.angular) / before.angular.length()),
            ("kinetic energy", (self.energy / before.energy - 1.0).abs()),
        ];
        let wrong = off.iter().find(|(_, error)| *error > MOTION || error.is_nan());
        wrong.map(|(what, error)| format!("{what} is off by {error:.1e}"))
    }
}

pub fn motion(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let grid =
        Grid { level: bed.level, origin: DVec3::new(0.3, -1.0, 2.0), h: 1.3 / f64::from(1 << bed.level) };
    let state = BodyState {
        position: DVec3::new(1.0, 2.0, -0.5),
        rotation: DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.0),
        linear_velocity: DVec3::new(0.7, -2.0, 0.1),
        angular_velocity: DVec3::new(3.0, -5.0, 8.0),
    };
    let mut whole = Sums::default();
    bed.leaves.iter().for_each(|(key, leaf)| whole.add(*key, f64::from(leaf.coverage)));
    let inside = (0..).zip(&bed.cells).filter(|(_, cell)| **cell == Cell::Inside);
    inside.for_each(|(key, _)| whole.add(key, 1.0));
    let whole = whole.properties();
    let mut before = Motion::default();
    before.add(&state, &whole, grid.h, 1.0);

    let mut after = Motion::default();
    for piece in &got.pieces {
        after.add(
            &part_state(&state, &shape(whole, grid), &shape(piece.mass, grid)),
            &piece.mass,
            grid.h,
            1.0,
        );
    }
    let mut dust = Sums::default();
    lost(bed, got).for_each(|(key, volume)| dust.add(key, volume));
    if dust.volume > 0.0 {
        let dust = dust.properties();
        after.add(&part_state(&state, &shape(whole, grid), &shape(dust, grid)), &dust, grid.h, 1.0);
    }
    after.differs_from(&before).map_or(Ok(()), Err)
}

fn motion_of(bodies: &[Body]) -> Motion {
    let mut sum = Motion::default();
    for body in bodies {
        sum.add(&body.state, &body.def.octree().mass, body.def.octree().grid.h, body.def.shape.density());
    }
    sum
}

/// What the sandbox makes of a body that flies and spins, hit so softly that the blow adds nothing.
#[test]
fn a_spinning_body_in_the_sandbox_breaks_into_pieces_that_move_as_it_did() {
    let Some(gpu) = adapter::gpu() else { return };
    let mut sandbox = Sandbox::new(gpu).expect("a sandbox");
    for name in ["vase", "cavity", "shell", "statue"] {
        for surface in [Surface::Planar, Surface::Rough, Surface::Dusty] {
            let body = SceneBody {
                on_floor: false,
                position: DVec3::new(3.0, 5.0, -2.0),
                rotation: DQuat::from_euler(glam::EulerRot::XYZ, 0.9, 0.2, -0.5),
                linear_velocity: DVec3::new(1.5, -0.5, 2.0),
                angular_velocity: DVec3::new(-4.0, 7.0, 2.5),
                ..SceneBody::standing(format!("builtin:{name}"), 5)
            };
            open_in(&mut sandbox, floating(body));
            let fracture = FractureParams { seeds: 25, surface, ..FractureParams::default() };
            let tuning = Tuning { fracture, blow_speed: 0.0, ..sandbox.tuning().clone() };
            sandbox.tune("test", tuning);
            let whole = sandbox.bodies()[0].clone();
            let before = motion_of(sandbox.bodies());
            assert_eq!(hit(&mut sandbox, DVec3::Z * 0.3).expect("it breaks"), Arrived::Broke);
            let pieces = sandbox.bodies();
            assert!(pieces.len() > 4, "{name} {surface:?}: {} pieces", pieces.len());
            // Each piece, dust or not, moves as the body did at its place.
            for piece in pieces {
                let arm = piece.state.position - whole.state.position;
                let there = whole.state.linear_velocity + whole.state.angular_velocity.cross(arm);
                assert!(piece.state.linear_velocity.distance(there) < 1e-9 && arm.length() < 2.0);
                assert_eq!(piece.state.angular_velocity, whole.state.angular_velocity);
                let centre = whole.state.rotation
                    * ((piece.def.octree().mass.centre - whole.def.octree().mass.centre)
                        * whole.def.octree().grid.h);
                assert!(centre.distance(arm) < 1e-9, "{name}: a piece stays where it was");
            }
            let after = motion_of(pieces);
            let found = after.differs_from(&before);
            println!("{name} {surface:?}: {} pieces, {before:?}, {after:?}", pieces.len());
            match surface {
                // The dust's share is gone.
                Surface::Dusty => assert!(after.energy < before.energy && found.is_some()),
                _ => assert_eq!(found, None, "{name} {surface:?}"),
            }
        }
    }
}
