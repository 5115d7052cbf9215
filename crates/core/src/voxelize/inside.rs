//! Decides which cells are solid, and the solid fraction of each boundary voxel.
//!
//! In: touched cells with their signed integrals. Out: coverage per leaf and an [`Inside`] for the octree's empty
//! octants.
//!
//! The winding number of a point is the signed count of crossings on the ray towards +x. Averaged over a cell's yz
//! square, a crossing counts with the signed area it has there, so the mean winding number of a cell is the sum of the
//! projected areas in all cells beyond it on its row, plus its own surface's areas times their distances from its low x
//! plane. The surface is closed (holes have been closed), so for a cell without surface the sum is an integer up to
//! rounding: no ray can hit an edge, and there are no ties. For a cell with surface the same sum, clamped to 0..=1, is
//! its exact solid fraction.

use rayon::prelude::*;

use super::{
    parity::Parity,
    rasterise::{BRICK_CELLS, BRICK_SHIFT, Touched, local_index},
};
use crate::svo::{
    Inside, LeafColor, Leaves,
    morton::{self, Key},
    pack_normal, unpack_normal,
};

const EMPTY: u32 = u32::MAX;
const SOLID: u32 = u32::MAX - 1;
/// Least coverage of a leaf, since a piece of one leaf must have mass.
const LEAST_COVERAGE: f32 = 1e-3;
/// A cell touched only by closing faces becomes a boundary leaf if its solid fraction differs from 0 and 1 by more than
/// this.
const CLOSING_TOLERANCE: f32 = 1e-4;
/// Rows per brick.
const ROWS: usize = 64;

/// Answers the inside test for cells and octants without surface.
pub(super) struct Insides {
    level: u32,
    /// By the brick's Morton code: [`EMPTY`], [`SOLID`], or the index of a brick with surface.
    bricks: Vec<u32>,
    /// For each brick with surface, a bit per solid cell that is no leaf, by the low bits of its Morton code.
    cells: Vec<[u64; BRICK_CELLS / 64]>,
}

impl Insides {
    fn cell(&self, key: Key) -> bool {
        let local = key as usize % BRICK_CELLS;
        match self.bricks.get(key as usize / BRICK_CELLS).copied() {
            None | Some(EMPTY) => false,
            Some(SOLID) => true,
            Some(brick) => self.cells[brick as usize][local >> 6] >> (local & 63) & 1 == 1,
        }
    }

    fn set(&mut self, key: Key, solid: bool) {
        let local = key as usize % BRICK_CELLS;
        let brick = self.bricks[key as usize / BRICK_CELLS] as usize;
        let word = &mut self.cells[brick][local >> 6];
        *word = *word & !(1 << (local & 63)) | u64::from(solid) << (local & 63);
    }
}

impl Inside for Insides {
    fn is_inside(&self, key: Key, level: u32) -> bool {
        self.cell(key << (3 * (self.level - level)))
    }
}

/// Results of the inside test.
pub(super) struct Solved {
    pub(super) insides: Insides,
    pub(super) leaves: Leaves,
    /// Leaves touched only by closing faces.
    pub(super) closing_leaves: usize,
}

/// Decides inside and coverage, and which of the cells touched only by closing faces are boundary leaves.
pub(super) fn solve(mut touched: Touched, level: u32, parity: Option<&Parity>) -> Solved {
    let (bricks, carries) = carry_rows(&touched, level, parity);
    let mut coverage = vec![0f32; touched.keys.len()];
    let mut slices = Vec::with_capacity(touched.bricks.len());
    let mut rest = &mut coverage[..];
    for range in touched.brick_start.windows(2) {
        let (own, others) = rest.split_at_mut((range[1] - range[0]) as usize);
        slices.push(own);
        rest = others;
    }
    let cells = slices
        .into_par_iter()
        .zip(&carries)
        .enumerate()
        .map(|(brick, (coverage, carry))| solve_brick(&touched, brick, carry, parity, coverage))
        .collect();
    let mut insides = Insides { level, bricks, cells };
    let keep = choose_closing(&touched, &coverage, &mut insides);
    let closing_leaves = keep.iter().filter(|keep| **keep).count();
    if let Some(parity) = parity {
        turn_outward(&mut touched, parity);
    }
    let leaves = finish(touched, coverage, &keep);
    Solved { insides, leaves, closing_leaves }
}

/// Row within a brick and cell within the row, by the low bits of the Morton code.
fn row_and_x(local: usize) -> (usize, usize) {
    let [x, y, z] = morton::decode(local as Key);
    ((z << BRICK_SHIFT | y) as usize, x as usize)
}

/// The state of every brick, and for each brick with surface the projected area beyond it on each of its rows.
fn carry_rows(touched: &Touched, level: u32, parity: Option<&Parity>) -> (Vec<u32>, Vec<[f32; ROWS]>) {
    let mut carries: Vec<[f32; ROWS]> = touched
        .brick_start
        .par_windows(2)
        .map(|range| {
            let mut total = [0f32; ROWS];
            for i in range[0] as usize..range[1] as usize {
                total[row_and_x(touched.keys.at(i) as usize % BRICK_CELLS).0] += touched.area_x[i];
            }
            total
        })
        .collect();
    let brick_level = level.saturating_sub(BRICK_SHIFT);
    let side = 1u32 << brick_level;
    let mut bricks = vec![EMPTY; 1 << (3 * brick_level)];
    for (i, &key) in touched.bricks.iter().enumerate() {
        bricks[key as usize] = i as u32;
    }
    for z in 0..side {
        for y in 0..side {
            let mut sum = [0f64; ROWS];
            for x in (0..side).rev() {
                let state = &mut bricks[morton::encode([x, y, z]) as usize];
                if *state == EMPTY {
                    let odd = parity.is_some_and(|p| p.fraction([x, y, z].map(|v| v << BRICK_SHIFT)) > 0.5);
                    if sum[0] > 0.5 || odd {
                        *state = SOLID;
                    }
                    continue;
                }
                for (sum, carry) in sum.iter_mut().zip(&mut carries[*state as usize]) {
                    let own = f64::from(*carry);
                    *carry = *sum as f32;
                    *sum += own;
                }
            }
        }
    }
    (bricks, carries)
}

/// Computes `coverage` (0..=1) of the brick's touched cells; returns which of the others are solid.
fn solve_brick(
    touched: &Touched,
    brick: usize,
    carry: &[f32; ROWS],
    parity: Option<&Parity>,
    coverage: &mut [f32],
) -> [u64; BRICK_CELLS / 64] {
    let start = touched.brick_start[brick] as usize;
    let mut leaf_at = [u16::MAX; BRICK_CELLS];
    for (i, key) in touched.keys.slice(start..start + coverage.len()).iter().enumerate() {
        let (row, x) = row_and_x(key as usize % BRICK_CELLS);
        leaf_at[row << BRICK_SHIFT | x] = i as u16;
    }
    let mut solid = [0u64; BRICK_CELLS / 64];
    for (row, carry) in carry.iter().enumerate() {
        let mut beyond = *carry;
        for x in (0..1 << BRICK_SHIFT).rev() {
            let i = leaf_at[row << BRICK_SHIFT | x];
            let local = local_index(x as i32, (row & 7) as i32, (row >> BRICK_SHIFT) as i32);
            let odd = parity.map_or(0.0, |p| {
                p.fraction(morton::decode(touched.bricks[brick] << (3 * BRICK_SHIFT) | local as Key))
            });
            if i == u16::MAX {
                if beyond > 0.5 || odd > 0.5 {
                    solid[local >> 6] |= 1 << (local & 63);
                }
                continue;
            }
            let i = i as usize;
            let wound = (touched.volume_x[start + i] + beyond).clamp(0.0, 1.0);
            coverage[i] = (wound + odd).min(1.0);
            beyond += touched.area_x[start + i];
        }
    }
    solid
}

/// For every cell in `touched.closing` whether it becomes a leaf; the others become solid or empty cells.
fn choose_closing(touched: &Touched, coverage: &[f32], insides: &mut Insides) -> Vec<bool> {
    let mut keep: Vec<bool> = Vec::with_capacity(touched.closing.len());
    for &i in &touched.closing {
        let solid = coverage[i as usize];
        keep.push(solid > CLOSING_TOLERANCE && solid < 1.0 - CLOSING_TOLERANCE);
        insides.set(touched.keys.at(i as usize), solid > 0.5);
    }
    // Closing faces of opposite signs in one cell can cancel in its mean although solid and empty neighbours meet
    // there.
    let is_leaf = |cell: [u32; 3]| {
        touched.keys.binary_search(morton::encode(cell)).is_ok_and(|found| {
            touched.closing.binary_search(&(found as u32)).map_or(true, |closing| keep[closing])
        })
    };
    let side = 1i64 << insides.level;
    let between: Vec<usize> = (0..keep.len())
        .into_par_iter()
        .filter(|&c| {
            let key = touched.keys.at(touched.closing[c] as usize);
            let here = insides.cell(key);
            !keep[c]
                && (0..6).any(|face| {
                    let mut cell = morton::decode(key).map(i64::from);
                    cell[face >> 1] += if face & 1 == 0 { -1 } else { 1 };
                    if cell.iter().any(|v| !(0..side).contains(v)) {
                        return here;
                    }
                    let cell = cell.map(|v| v as u32);
                    insides.cell(morton::encode(cell)) != here && !is_leaf(cell)
                })
        })
        .collect();
    for c in between {
        keep[c] = true;
    }
    for (c, &i) in touched.closing.iter().enumerate() {
        if keep[c] {
            insides.set(touched.keys.at(i as usize), false);
        }
    }
    keep
}

/// Flips normals of surfaces without orientation towards the less solid side.
fn turn_outward(touched: &mut Touched, parity: &Parity) {
    for &i in &touched.unsigned {
        let i = i as usize;
        let normal = unpack_normal(touched.normals[i]);
        let solid_at = |side: f32| {
            let middle = glam::Vec3::from_array(morton::decode(touched.keys.at(i)).map(|v| v as f32 + 0.5));
            // A negative coordinate becomes 0, which is in the margin of one voxel.
            parity.fraction((middle + normal * side).to_array().map(|v| v as u32))
        };
        if solid_at(1.0) > solid_at(-1.0) {
            let color = touched.colors[i];
            touched.normals[i] = pack_normal(-normal);
            touched.colors[i] = LeafColor::new(color.rgb(), color.crack(), -color.offset());
        }
    }
}

fn finish(touched: Touched, mut coverage: Vec<f32>, keep: &[bool]) -> Leaves {
    coverage.par_iter_mut().for_each(|c| *c = c.max(LEAST_COVERAGE));
    let Touched { mut keys, mut normals, mut colors, closing, .. } = touched;
    if keep.iter().any(|keep| !keep) {
        let mut dropped = vec![false; keys.len()];
        for (&i, keep) in closing.iter().zip(keep) {
            dropped[i as usize] = !keep;
        }
        keys.retain(|i| !dropped[i]);
        retain(&mut normals, &dropped);
        retain(&mut colors, &dropped);
        retain(&mut coverage, &dropped);
    }
    Leaves { keys, normals, colors, coverage, cuts: Vec::new() }
}

fn retain<T>(values: &mut Vec<T>, dropped: &[bool]) {
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        !dropped[at - 1]
    });
}
