//! Bodies as wide batches read them: what changes in a substep, in single precision.
//!
//! In: the solver's bodies in double precision. Out: their velocities in a pass, of which only the change goes back, so that
//! what no impulse acts on keeps every bit of its velocity.

use glam::{DMat3, DVec3};

use super::vectors::{LANES, Lane};
use crate::solver::sequential::{Motion, SolverBodies};

/// Velocity and spin, m/s and rad/s, and two numbers that keep bodies from sharing a line of the cache unevenly.
pub(super) type WideMotion = [f32; 8];

/// Displacement since the step began (m), rotation by rows, and the inverse inertia (world) in six numbers; all zero where
/// the body cannot move.
pub(super) type WideFrame = [f32; 18];

/// Where the parts of a [`WideFrame`] begin.
pub(super) const ROTATION: usize = 3;
pub(super) const INERTIA: usize = 12;

/// The moving bodies that one thread may change: some in a row, from the `first` on.
pub(super) struct Moving<'a> {
    pub motions: &'a mut [WideMotion],
    pub first: usize,
}

impl Moving<'_> {
    /// The bodies before and after the `count`-th.
    pub fn split(&mut self, count: usize) -> [Moving<'_>; 2] {
        let (low, high) = self.motions.split_at_mut(count);
        let middle = self.first + count;
        [Moving { motions: low, first: self.first }, Moving { motions: high, first: middle }]
    }

    /// The velocities of eight bodies; zero where one cannot move.
    #[inline(always)]
    pub fn gather(&self, bodies: &[u32; LANES]) -> [Lane; 6] {
        let mut out = [[0.0; LANES]; 6];
        for (lane, k) in bodies.iter().enumerate() {
            if let Some(motion) = self.motions.get((*k as usize).wrapping_sub(self.first)) {
                for axis in 0..6 {
                    out[axis][lane] = motion[axis];
                }
            }
        }
        out
    }

    /// Writes the velocities of eight bodies.
    #[inline(always)]
    pub fn scatter(&mut self, bodies: &[u32; LANES], values: &[Lane; 6]) {
        for (lane, k) in bodies.iter().enumerate() {
            if let Some(motion) = self.motions.get_mut((*k as usize).wrapping_sub(self.first)) {
                for axis in 0..6 {
                    motion[axis] = values[axis][lane];
                }
            }
        }
    }
}

/// All bodies of a heap.
pub(super) struct WideBodies {
    pub motions: Vec<WideMotion>,
    /// The velocities as they were before the pass.
    before: Vec<WideMotion>,
    pub frames: Vec<WideFrame>,
    start: Vec<DVec3>,
}

fn rounded(linear: DVec3, angular: DVec3) -> WideMotion {
    let [a, b, c] = linear.as_vec3().to_array();
    let [x, y, z] = angular.as_vec3().to_array();
    [a, b, c, x, y, z, 0.0, 0.0]
}

/// A symmetric matrix: xx, xy, xz, yy, yz, zz.
fn symmetric(m: &DMat3) -> [f32; 6] {
    [m.x_axis.x, m.y_axis.x, m.z_axis.x, m.y_axis.y, m.z_axis.y, m.z_axis.z].map(|v| v as f32)
}

impl WideBodies {
    pub fn new(of: &SolverBodies) -> Self {
        let moving = of.motions.iter().filter(|motion| motion.moves()).count();
        let start = of.frames.iter().map(|frame| frame.position).collect();
        let none = vec![[0.0; 8]; moving];
        let mut bodies =
            Self { motions: none.clone(), before: none, frames: vec![[0.0; 18]; of.frames.len()], start };
        bodies.place(of);
        bodies
    }

    /// Takes over how the bodies lie.
    pub fn place(&mut self, of: &SolverBodies) {
        let moving = self.motions.len();
        for ((own, frame), start) in self.frames.iter_mut().zip(&of.frames).zip(&self.start).take(moving) {
            let moved = (frame.position - *start).as_vec3().to_array();
            own[..ROTATION].copy_from_slice(&moved);
            let rows = frame.rotation.transpose();
            for (to, row) in
                own[ROTATION..INERTIA].chunks_exact_mut(3).zip([rows.x_axis, rows.y_axis, rows.z_axis])
            {
                to.copy_from_slice(&row.as_vec3().to_array());
            }
            own[INERTIA..].copy_from_slice(&symmetric(&frame.inverse_inertia));
        }
    }

    /// Takes over the velocities before a pass.
    pub fn begin(&mut self, of: &SolverBodies) {
        for ((own, before), motion) in self.motions.iter_mut().zip(&mut self.before).zip(&of.motions) {
            *own = rounded(motion.linear, motion.angular);
            *before = *own;
        }
    }

    /// Gives the changes of a pass to the velocities.
    pub fn end(&self, of: &mut SolverBodies) {
        let change = |own: &WideMotion, before: &WideMotion, at: usize| {
            let part = |k: usize| f64::from(own[at + k]) - f64::from(before[at + k]);
            DVec3::new(part(0), part(1), part(2))
        };
        for ((own, before), motion) in self.motions.iter().zip(&self.before).zip(&mut of.motions) {
            let Motion { linear, angular, .. } = motion;
            *linear += change(own, before, 0);
            *angular += change(own, before, 3);
        }
    }

    pub fn share(&mut self) -> Moving<'_> {
        Moving { motions: &mut self.motions, first: 0 }
    }
}
