//! What the passes share with Rust (`data.wgsl`).
//!
//! World axes; the start is the start of the step. Symmetric matrices are a diagonal (xx, yy, zz) and the rest (xy, xz, yz).

use crate::gpu::shared;

/// In the place of a body that cannot move.
pub(super) const STILL: u32 = u32::MAX;

shared! {
    /// Numbers of a dispatch.
    #[derive(Debug, Default)]
    pub struct SolverParams {
        /// m/s^2.
        gravity: [f32; 3],
        /// Length of a substep, s.
        h: f32,
        /// Bodies.
        bodies: u32,
        /// Manifolds.
        manifolds: u32,
        /// Contacts.
        contacts: u32,
        /// First colour of a sweep.
        first: u32,
        /// The colour after the last one.
        end: u32,
        /// Sweeps over them.
        rounds: u32,
        /// 1 where contacts are springs.
        springs: u32,
        /// Rate at which slip is drawn back, 1/s for objects of a metre.
        stick: f32,
        /// Slower impacts do not bounce, m/s for objects of a metre.
        threshold: f32,
        /// Mass whose weight an impulse of 1 N s carries for a substep, kg.
        per_weight: f32,
        /// Warm starting changes speeds by at most this, m/s for objects of a metre.
        warm_speed: f32,
        /// m/s.
        most_speed: f32,
        /// rad/s.
        most_spin: f32,
        /// Longest arc of a rotation, radians.
        most_arc: f32,
        /// Most arcs of a substep.
        most_arcs: f32,
        /// Unused.
        pad: u32,
    }

    /// How a body moves.
    #[derive(Debug, Default, PartialEq)]
    pub struct SolverMotion {
        /// m/s.
        linear: [f32; 3],
        /// Unused.
        pad_linear: u32,
        /// rad/s.
        angular: [f32; 3],
        /// Unused.
        pad_angular: u32,
    }

    /// How a body has come on since the start.
    #[derive(Debug, Default, PartialEq)]
    pub struct SolverPose {
        /// m.
        moved: [f32; 3],
        /// Unused.
        pad_moved: u32,
        /// Unit quaternion: x, y, z, w.
        turn: [f32; 4],
    }

    /// Mass and inertia of a body.
    #[derive(Debug, Default)]
    pub struct SolverBody {
        /// Inverse inertia now, 1/(kg m^2).
        inverse_diagonal: [f32; 3],
        /// 1/kg.
        inverse_mass: f32,
        /// See `inverse_diagonal`.
        inverse_rest: [f32; 3],
        /// Unused.
        pad_inverse: u32,
        /// Inverse inertia at the start, 1/(kg m^2).
        start_inverse_diagonal: [f32; 3],
        /// Unused.
        pad_start_diagonal: u32,
        /// See `start_inverse_diagonal`.
        start_inverse_rest: [f32; 3],
        /// Unused.
        pad_start_rest: u32,
        /// Inertia at the start, kg m^2.
        start_inertia_diagonal: [f32; 3],
        /// Unused.
        pad_inertia_diagonal: u32,
        /// See `start_inertia_diagonal`.
        start_inertia_rest: [f32; 3],
        /// Unused.
        pad_inertia_rest: u32,
    }

    /// A manifold. `wide/batch.rs` says what the numbers are.
    #[derive(Debug, Default, PartialEq)]
    pub struct SolverManifold {
        /// Its bodies; [`STILL`] for one that cannot move.
        bodies: [u32; 2],
        /// First contact.
        first: u32,
        /// Contacts.
        count: u32,
        /// Angular impulse of rolling resistance, N m s.
        roll: [f32; 3],
        /// Torque of rolling resistance for a newton, m.
        roll_arm: f32,
        /// Inertia of the relative spin, kg m^2.
        roll_diagonal: [f32; 3],
        /// Speed for a depth, 1/s.
        bias_rate: f32,
        /// See `roll_diagonal`.
        roll_rest: [f32; 3],
        /// Softness of a contact that carries a kilogram.
        softness: f32,
        /// Largest speed of a spring, m/s.
        push_out: f32,
        /// Rate at which slip is drawn back, 1/s, where the step's is 1.
        stick: f32,
        /// The unit of speed, m/s.
        speed: f32,
        /// Mass between the centres, kg.
        linear_mass: f32,
    }

    /// A contact as sweeps read it.
    #[derive(Debug, Default)]
    pub struct SolverContact {
        /// From the second body to the first.
        normal: [f32; 3],
        /// Coulomb coefficient.
        friction: f32,
        /// First tangent; the second is the normal times it.
        tangent: [f32; 3],
        /// Speed for an impulse, m/s for 1 N s.
        softness: f32,
        /// From the centre of the first body, m.
        arm_a: [f32; 3],
        /// Approach speed at which a spring presses, m/s.
        bias_springs: f32,
        /// From the centre of the second body, m.
        arm_b: [f32; 3],
        /// Approach speed at which a contact without spring presses, m/s.
        bias_rigid: f32,
        /// Effective masses along the normal and both tangents, kg.
        masses: [f32; 3],
        /// The mass along the normal with the softness of the spring, kg.
        soft_mass: f32,
        /// Speeds that draw back what has slipped, along both tangents, m/s for a rate of 1/s.
        drift: [f32; 2],
        /// Unused.
        pad: [u32; 2],
    }

    /// What else a contact is, read once a substep or once a step.
    #[derive(Debug, Default)]
    pub struct ContactGeometry {
        /// From the centre of the first body at the start, without the offset, m.
        anchor_a: [f32; 3],
        /// Separation when both places were one, m.
        adjusted: f32,
        /// From the centre of the second body at the start, m.
        anchor_b: [f32; 3],
        /// Share of the way from the second place to the first at which impulses act.
        middle: f32,
        /// Added to the first anchor, m.
        offset: [f32; 3],
        /// 1 where friction draws slip back, else 0.
        sticks: f32,
        /// From the second body's place to the first's at the start, less both anchors, m.
        apart: [f32; 3],
        /// Separation now, m.
        gap: f32,
        /// Slip along both tangents, less what `apart` has of it, m.
        slip: [f32; 2],
        /// Approach speed at the start, m/s, 0 where the contact does not bounce.
        struck: f32,
        /// That times the restitution, m/s.
        rebound: f32,
    }

    /// Impulses of a contact along the normal and both tangents, N s.
    #[derive(Debug, Default, PartialEq)]
    pub struct ContactAnswer {
        /// In the last substep.
        impulse: [f32; 3],
        /// 1 where friction slid.
        slid: u32,
        /// In all substeps.
        total: [f32; 3],
        /// The largest one along the normal.
        most: f32,
    }
}
