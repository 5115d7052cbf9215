//! What each support of a structure at rest bears, where more of them touch than balance needs.
//!
//! In: supports with the forces that the response to contacts found, and the loads on all parts in balance. Out: what is to
//! be added to the loads of the parts.
//!
//! # The shares
//!
//! Balance fixes six numbers. What more than so few supports bear is left open by it, and rigid bodies have no other law, so
//! that a response to contacts finds one of many answers. The structure has one: of all forces that balance the same loads and
//! only push, the true ones store the least energy in the bonds (least work: Castigliano; supports that may lift:
//! Signorini's problem in its dual form, Duvaut & Lions 1972). With the forces f that were found, the displacements g
//! along the normals under them, the flexibility F (F_ij: the displacement at support i under a unit force at j) and the
//! rows of G, which sum forces and torques, what is added is the x of
//!
//! min x . F x / 2 + g . x   with   G x = 0 and x >= -f
//!
//! Its multipliers are the motion of what supports the body, which is rigid, and the gaps of the supports that lift.
//! An active set finds it: from x = 0 it goes towards the least energy as far as every force still pushes, lets go of the support
//! that would pull, and takes one back on that would be pushed in. Every x on the way is in balance and only pushes, so that
//! the search may end anywhere. Forces within one rigid part store no energy; a small one of x itself leaves them as
//! they were found.
//!
//! Supports count as rigid, and as exactly where the body touches them. What acts along them (friction) stays as found.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use super::{
    block::Six,
    graph::Structure,
    loads::{Loads, Support},
    standing::Standing,
    stiffness::{Held, MOST},
};

/// Of more supports than this the forces stay as the response to contacts found them: each takes a solution.
const MOST_SUPPORTS: usize = 48;
/// The residual at which displacements by one support are solved for, as a share of the load.
const FINELY: f64 = 1e-7;
/// Supports that have moved by less, as a share of the distance of the farthest from their middle, are those of before.
const NEAR: f64 = 1e-3;
/// Cosine of the normals of a support that is the one of before.
const ALIGNED: f64 = 1.0 - 1e-6;
/// What x itself stores, as a share of the greatest flexibility that no motion of a rigid body explains.
const SOFT: f64 = 1e-6;
/// The same as a share of the greatest flexibility, more than rounding leaves where balance decides everything.
const ROUNDED: f64 = 1e-12;
/// Displacements below this share of the largest are none.
const CLOSED: f64 = 1e-6;
/// Square of what a row of G keeps of itself, of rows of the size one, where it counts as a sum of the others.
const DEPENDENT: f64 = 1e-10;

/// Supports of the last step with their displacements.
#[derive(Clone, Debug, Default)]
pub(super) struct Supports {
    /// What the displacements were solved for.
    standing: Option<Arc<Standing>>,
    columns: Vec<Column>,
}

/// A support and how all parts move by a unit force of it.
#[derive(Clone, Debug)]
struct Column {
    part: u32,
    point: DVec3,
    normal: DVec3,
    motions: Arc<Vec<Six>>,
}

impl Column {
    fn is_of(&self, part: u32, support: &Support, near: f64) -> bool {
        self.part == part
            && self.point.distance(support.point) <= near
            && self.normal.dot(support.normal) >= ALIGNED
    }

    /// The load of a unit force on its part.
    fn unit(&self, structure: &Structure) -> Six {
        let arm = self.point - structure.parts[self.part as usize].node;
        Six { linear: self.normal, angular: arm.cross(self.normal) }
    }
}

impl Supports {
    /// What supports bear beyond their impulses, as loads of the parts (N and N m); empty where balance decides or the
    /// structure cannot. `loads` are those of all parts in balance.
    pub fn added(&mut self, structure: &Structure, all: &Loads<'_>, loads: &[Six]) -> Vec<Six> {
        let standing = structure.standing();
        let is_one = standing.component.iter().all(|component| *component == 0);
        let parts: Option<Vec<u32>> = match (2..=MOST_SUPPORTS).contains(&all.supports.len()) {
            true => all.supports.iter().map(|support| structure.part_at(support.point)).collect(),
            false => None,
        };
        // Forces within one part load no bond. Places of several parts are apart.
        let parts = parts.filter(|parts| parts.iter().any(|part| *part != parts[0]));
        let Some(parts) = parts.filter(|_| is_one && !structure.is_anchored()) else {
            *self = Self::default();
            return Vec::new();
        };
        let middle = all.supports.iter().map(|s| s.point).sum::<DVec3>() / all.supports.len() as f64;
        let size = all.supports.iter().map(|s| s.point.distance(middle)).fold(0.0, f64::max);
        self.columns = self.columns_of(structure, (all.supports, &parts), NEAR * size);
        self.standing = Some(Arc::clone(standing));
        let columns = &self.columns;
        let units: Vec<Six> = columns.iter().map(|column| column.unit(structure)).collect();
        let mut flexibility = Vec::with_capacity(columns.len() * columns.len());
        for (own, a) in columns.iter().zip(&units) {
            let moved = columns.iter().zip(&units).map(|(other, b)| {
                // The same number twice, but for the residuals of the two solutions.
                let there = a.dot(other.motions[own.part as usize]);
                0.5 * (there + b.dot(own.motions[other.part as usize]))
            });
            flexibility.extend(moved);
        }
        // By Betti's theorem these are the displacements under all loads.
        let under = |column: &Column| -> f64 {
            column.motions.iter().zip(loads).map(|(motion, load)| motion.dot(*load)).sum()
        };
        let displacements: Vec<f64> = columns.par_iter().map(under).collect();
        let sums = |column: &Column| {
            let ([a, b, c], turn) =
                (column.normal.to_array(), (column.point - middle).cross(column.normal) / size);
            [a, b, c, turn.x, turn.y, turn.z]
        };
        let sums: Vec<[f64; 6]> = columns.iter().map(sums).collect();
        let forces: Vec<f64> = all.supports.iter().map(|support| support.impulse.max(0.0) / all.dt).collect();
        let mut added = vec![Six::ZERO; structure.parts.len()];
        let x = least_work(&flexibility, &displacements, &sums, &forces);
        for ((column, unit), force) in columns.iter().zip(&units).zip(x) {
            added[column.part as usize] += *unit * force;
        }
        added
    }

    /// The columns of these supports: those that are known, and new ones.
    fn columns_of(
        &self,
        structure: &Structure,
        (supports, parts): (&[Support], &[u32]),
        near: f64,
    ) -> Vec<Column> {
        let standing = structure.standing();
        let held = Held::of(structure, standing);
        // Once, and not by every thread.
        let factor = standing.factor(&held);
        let is_same = self.standing.as_ref().is_some_and(|known| Arc::ptr_eq(known, standing));
        let column = |(support, part): (&Support, &u32)| {
            let known = self.columns.iter().find(|own| own.is_of(*part, support, near));
            if let Some(known) = known.filter(|_| is_same) {
                return known.clone();
            }
            let count = structure.parts.len();
            let guess = known.filter(|known| known.motions.len() == count);
            let mut motions = guess.map_or_else(|| vec![Six::ZERO; count], |known| known.motions.to_vec());
            let own =
                Column { part: *part, point: support.point, normal: support.normal, motions: Arc::default() };
            let mut loads = vec![Six::ZERO; count];
            loads[*part as usize] = own.unit(structure);
            held.solve(factor, &loads, &mut motions, (MOST, FINELY));
            Column { motions: Arc::new(motions), ..own }
        };
        supports.par_iter().zip(parts).map(column).collect()
    }
}

/// What is added to `forces` (N): see the head of the file. `flexibility` by rows, m/N; `displacements` in m; `sums` has the
/// column of G of every support, of the size one.
fn least_work(flexibility: &[f64], displacements: &[f64], sums: &[[f64; 6]], forces: &[f64]) -> Vec<f64> {
    let count = forces.len();
    let (mut added, mut lifted) = (vec![0.0; count], vec![false; count]);
    let own = without_rigid_motions(flexibility, &rows(sums, &lifted), &lifted);
    let largest = |matrix: &[f64]| matrix.iter().step_by(count + 1).copied().fold(0.0, f64::max);
    let soft = SOFT * largest(&own) + ROUNDED * largest(flexibility);
    let moved = |added: &[f64]| -> Vec<f64> {
        let row = |at: usize| soft * added[at] + product(&flexibility[at * count..][..count], added);
        displacements.iter().enumerate().map(|(at, before)| before + row(at)).collect()
    };
    for _ in 0..4 * count {
        let rows = rows(sums, &lifted);
        let mut step: Vec<f64> = moved(&added).iter().map(|moved| -moved).collect();
        keep_balance(&rows, &lifted, &mut step);
        let mut matrix = without_rigid_motions(flexibility, &rows, &lifted);
        matrix.iter_mut().step_by(count + 1).for_each(|value| *value += soft);
        let Some(mut step) = solved(matrix, step) else { break };
        keep_balance(&rows, &lifted, &mut step);
        let (mut share, mut first) = (1.0_f64, None);
        for (at, step) in step.iter().enumerate().filter(|(at, _)| !lifted[*at]) {
            let room = (forces[at] + added[at]).max(0.0);
            if room < share * -step {
                (share, first) = (room / -step, Some(at));
            }
        }
        added.iter_mut().zip(&step).for_each(|(added, step)| *added += step * share);
        if let Some(first) = first {
            added[first] = -forces[first];
            lifted[first] = true;
            continue;
        }
        // What a support that has lifted is away from the body; below zero it would be in it.
        let moved = moved(&added);
        let rigid: Vec<f64> = rows.iter().map(|row| of_free(&lifted, row, &moved)).collect();
        let gap = |at: usize| moved[at] - rows.iter().zip(&rigid).map(|(row, by)| row[at] * by).sum::<f64>();
        let away = (0..count).filter(|at| lifted[*at]).map(|at| (gap(at), at));
        let least = CLOSED * moved.iter().fold(0.0, |most, own| own.abs().max(most));
        match away.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((gap, at)) if gap < -least => lifted[at] = false,
            _ => break,
        }
    }
    added
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The product over supports that have not lifted.
fn of_free(lifted: &[bool], a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).zip(lifted).filter(|(_, lifted)| !**lifted).map(|((a, b), _)| a * b).sum()
}

/// The rows of G, made orthonormal over the supports that have not lifted; those that say nothing new are left out.
fn rows(sums: &[[f64; 6]], lifted: &[bool]) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(6);
    for k in 0..6 {
        let mut row: Vec<f64> = sums.iter().map(|sum| sum[k]).collect();
        // Twice: rounding leaves something the first time.
        for _ in 0..2 {
            for other in &rows {
                let share = of_free(lifted, &row, other);
                row.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
            }
        }
        let left = of_free(lifted, &row, &row);
        if left > DEPENDENT {
            let length = left.sqrt();
            row.iter_mut().for_each(|value| *value /= length);
            rows.push(row);
        }
    }
    rows
}

/// Takes out of `forces` what would change sums of forces and torques, and all of supports that have lifted.
fn keep_balance(rows: &[Vec<f64>], lifted: &[bool], forces: &mut [f64]) {
    for row in rows {
        let share = of_free(lifted, row, forces);
        forces.iter_mut().zip(row).for_each(|(force, row)| *force -= share * row);
    }
    forces.iter_mut().zip(lifted).filter(|(_, lifted)| **lifted).for_each(|(force, _)| *force = 0.0);
}

/// The flexibility, by rows, for forces that [`keep_balance`] leaves.
fn without_rigid_motions(flexibility: &[f64], rows: &[Vec<f64>], lifted: &[bool]) -> Vec<f64> {
    let count = lifted.len();
    let mut matrix = flexibility.to_vec();
    // From one side and, after it is turned over, from the other.
    for _ in 0..2 {
        matrix.chunks_exact_mut(count).for_each(|row| keep_balance(rows, lifted, row));
        matrix = (0..count * count).map(|at| matrix[at % count * count + at / count]).collect();
    }
    matrix
}

/// The solution of a symmetric matrix, by rows, by its Cholesky factor; `None` if it is not positive definite.
fn solved(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let side = right.len();
    for row in 0..side {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| matrix[row * side + k] * matrix[column * side + k]).sum();
            let rest = matrix[row * side + column] - known;
            matrix[row * side + column] = if column < row {
                rest / matrix[column * side + column]
            } else if rest > 0.0 {
                rest.sqrt()
            } else {
                return None;
            };
        }
        let known: f64 = (0..row).map(|k| matrix[row * side + k] * right[k]).sum();
        right[row] = (right[row] - known) / matrix[row * side + row];
    }
    for row in (0..side).rev() {
        let known: f64 = (row + 1..side).map(|k| matrix[k * side + row] * right[k]).sum();
        right[row] = (right[row] - known) / matrix[row * side + row];
    }
    Some(right)
}
