//! Displacements and the stress that they cause.
//!
//! In: displacements of the nodes. Out: the stress of each cell, and of any point.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use crate::{
    Cell, ElasticBody, ElasticError, Material, Stress,
    field::{Field, LANES},
};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The error in the energy norm at which to stop, relative to the solution.
    pub tolerance: f64,
    /// The most iterations; a solution that needs more says so by its [`Convergence`].
    pub iterations: u32,
}

impl Settings {
    /// For pictures: one in a hundred.
    pub const DISPLAY: Self = Self { tolerance: 1e-2, iterations: 40 };
    /// For numbers: one in a million.
    pub const PRECISE: Self = Self { tolerance: 1e-6, iterations: 300 };
}

/// How near a solution is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// Iterations that were made.
    pub iterations: u32,
    /// Estimate of the error in the energy norm, relative to the solution.
    pub error: f64,
    /// Whether the error is below the tolerance.
    pub is_converged: bool,
}

/// The error in the energy norm, relative to displacements of this energy, of forces left of this size.
pub(crate) fn error_of(size: f64, energy: f64) -> f64 {
    // What rounding leaves may have either sign.
    if size == 0.0 { 0.0 } else { (size.abs() / energy.max(f64::MIN_POSITIVE)).sqrt() }
}

/// Displacements of a body under loads, and its stress.
#[derive(Clone, Debug)]
pub struct Solution {
    body: Arc<ElasticBody>,
    /// m.
    displacements: Field<f64>,
    /// How near it is.
    pub convergence: Convergence,
    stress: Vec<Stress>,
}

impl Solution {
    pub(crate) fn new(body: &Arc<ElasticBody>, displacements: Field<f64>, convergence: Convergence) -> Self {
        let stress =
            (0..body.len()).into_par_iter().map(|cell| stress_of(body, &displacements, cell)).collect();
        Self { body: Arc::clone(body), displacements, convergence, stress }
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Arc<ElasticBody> {
        &self.body
    }

    /// The same if it is near enough.
    ///
    /// # Errors
    /// [`ElasticError::NotConverged`].
    pub fn converged(self) -> Result<Self, ElasticError> {
        let Convergence { iterations, error, is_converged } = self.convergence;
        if is_converged { Ok(self) } else { Err(ElasticError::NotConverged { iterations, error }) }
    }

    /// Displacement of the node at a corner of cells, m, shape space; a node has the place of the cell above it on all axes.
    /// `None` where there is no node.
    #[must_use]
    pub fn displacement(&self, node: [u32; 3]) -> Option<DVec3> {
        let lattice = &self.body.lattices[0];
        let (chunk, lane) = lattice.find(node);
        let is_node = lattice.active.get(chunk).is_some_and(|bits| bits >> lane & 1 == 1);
        is_node.then(|| DVec3::from([0, 1, 2].map(|axis| self.displacements[chunk][axis][lane])))
    }

    /// Stress in the middle of each cell, in the order of the body's cells: that of the solid in a cell, however little of
    /// it there is.
    #[must_use]
    pub fn stress(&self) -> &[Stress] {
        &self.stress
    }

    /// The largest tension of each cell, Pa; 0 where a cell is only compressed.
    #[must_use]
    pub fn tension(&self) -> Vec<f32> {
        self.stress.par_iter().map(|stress| stress.tension() as f32).collect()
    }

    /// The stress at a point of shape space, m: interpolated between the middles of the cells around it, weighted by their
    /// fill. `None` where none of the eight cells nearest to the point is part of the body.
    #[must_use]
    pub fn stress_at(&self, point: DVec3) -> Option<Stress> {
        let from = self.body.cells_from_shape(point) - 0.5;
        if !from.is_finite() {
            return None;
        }
        let low = from.floor();
        let part = from - low;
        let (mut sum, mut weights) = (Stress::default(), 0.0);
        for corner in 0..8u32 {
            let high = [0, 1, 2].map(|axis| corner >> axis & 1 == 1);
            let at = DVec3::from([0, 1, 2].map(|axis| low[axis] + f64::from(u8::from(high[axis]))));
            if at.min_element() < 0.0 || at.max_element() > f64::from(u32::MAX) {
                continue;
            }
            let Some(index) = self.body.cell_at(at.to_array().map(|v| v as u32)) else { continue };
            let share: f64 = (0..3).map(|i| if high[i] { part[i] } else { 1.0 - part[i] }).product();
            let weight = share * f64::from(self.body.cells[index].1);
            sum.add(weight, &self.stress[index]);
            weights += weight;
        }
        if weights <= 0.0 {
            return None;
        }
        Some(Stress(sum.0.map(|s| s / weights)))
    }

    /// The largest tension at a point of shape space, Pa; see [`Solution::stress_at`].
    #[must_use]
    pub fn tension_at(&self, point: DVec3) -> Option<f64> {
        self.stress_at(point).map(|stress| stress.tension())
    }

    /// The displacements times a factor.
    pub(crate) fn displacements_in(&self, factor: f64) -> Field<f64> {
        self.displacements.iter().map(|chunk| chunk.map(|axis| axis.map(|u| factor * u))).collect()
    }
}

/// Stress in the middle of a cell. The incompatible modes have no gradient there.
fn stress_of(body: &ElasticBody, displacements: &Field<f64>, index: usize) -> Stress {
    let Some(Cell { low, .. }) = body.cell(index) else { return Stress::default() };
    let lattice = &body.lattices[0];
    // gradient[j][i]: change of displacement i along axis j.
    let mut gradient = [[0.0; 3]; 3];
    for row in 0..4u32 {
        let [y, z] = [row & 1, row >> 1];
        let (chunk, lane) = lattice.find([low[0], low[1] + y, low[2] + z]);
        let (other, next) = if lane + 1 < LANES {
            (chunk, lane + 1)
        } else {
            lattice.find([low[0] + 1, low[1] + y, low[2] + z])
        };
        for i in 0..3 {
            let (a, b) = (displacements[chunk][i][lane], displacements[other][i][next]);
            gradient[0][i] += b - a;
            gradient[1][i] += if y == 1 { a + b } else { -a - b };
            gradient[2][i] += if z == 1 { a + b } else { -a - b };
        }
    }
    let Material { youngs_modulus, poissons_ratio, .. } = *body.material();
    let (lambda, mu) = Material::lame(poissons_ratio);
    let scale = youngs_modulus / (4.0 * body.cell_size());
    let g = gradient;
    let trace = lambda * (g[0][0] + g[1][1] + g[2][2]);
    let normal = |axis: usize| scale * (trace + 2.0 * mu * g[axis][axis]);
    let shear = |a: usize, b: usize| scale * mu * (g[a][b] + g[b][a]);
    Stress([normal(0), normal(1), normal(2), shear(1, 2), shear(2, 0), shear(0, 1)])
}
