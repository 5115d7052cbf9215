//! Figures of one step.

use crate::gpu::StageTiming;
use glam::DVec3;

/// Figures of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Simulated time after the step, s.
    pub time: f64,
    /// Bodies awake.
    pub awake: usize,
    /// Bodies frozen because their numbers ran away.
    pub frozen: usize,
    /// Bodies that were to move or turn faster than the limits (200 m/s, half a radian a substep), and did not.
    pub cut: usize,
    /// Pairs that were searched; contacts of pairs that hardly moved are carried along.
    pub pairs: usize,
    /// Collision points found, before they are reduced to manifolds.
    pub collision_points: usize,
    /// Contact points that were solved.
    pub contacts: usize,
    /// Contact points of bodies that sleep, which are kept and not solved.
    pub resting: usize,
    /// Volume that bodies share with each other, the floor and the walls at the end of the step, from the columns of
    /// all [`Overlap`]s (Domaradzki & Martyn 2016, sec. 5.1.3), m^3; only if a setting asks for it.
    ///
    /// [`Overlap`]: super::Overlap
    pub intersection_volume: Option<f64>,
    /// Deepest penetration among the contacts that pressed, as the step began, m.
    pub deepest: f64,
    /// Mean force of the floor during the step, N.
    pub floor_force: DVec3,
    /// J.
    pub kinetic: f64,
    /// J, above y = 0.
    pub potential: f64,
    /// kg m/s.
    pub momentum: DVec3,
    /// kg m^2/s about the origin.
    pub angular_momentum: DVec3,
    /// Wall-clock time of the stages, one after the other: compute passes count while the step waits for them, and
    /// nothing counts twice.
    pub timings: Vec<StageTiming>,
}
