//! A body's cells as a few parts that bonds hold together.
//!
//! In: a body and a number. Out: so many connected parts of about one size, and the section of each crack between two.

use std::{cmp::Reverse, collections::BTreeMap, collections::BinaryHeap};

use glam::{DMat3, DVec3};
use kintsugi_core::fracture::CrackSection;

use crate::{ElasticBody, ElasticError, MOST_PARTS, ModePart};

/// How often parts are grown again from their middles (Lloyd 1982); more changes little.
const ROUNDS: usize = 4;

/// The parts of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyParts {
    /// Ascending along the longest side.
    pub parts: Vec<ModePart>,
    /// Cracks between them, by ascending pair. Where cells make steps the area is that of the mean plane.
    pub sections: Vec<CrackSection>,
    /// The part of each cell of the body.
    pub part_of_cell: Vec<u32>,
}

impl ElasticBody {
    /// `count` connected parts of about one size, from 2 to [`MOST_PARTS`] and at most one for each cell. Every cell belongs
    /// to the part that grows to it, the nearest seeds' first.
    ///
    /// # Errors
    /// [`ElasticError::Modes`]: another number, or a body of one cell.
    pub fn parts(&self, count: usize) -> Result<BodyParts, ElasticError> {
        if !(2..=MOST_PARTS).contains(&count) || self.len() < 2 {
            return Err(ElasticError::Modes("a body has from 2 to 128 parts, and at most one for each cell"));
        }
        let lows: Vec<[u32; 3]> =
            (0..self.len()).filter_map(|cell| self.cell(cell)).map(|cell| cell.low).collect();
        let mut seeds = far_apart(&lows, count);
        for _ in 0..ROUNDS {
            seeds = middles(&lows, &self.grown(&lows, &seeds), seeds.len());
        }
        // Neighbours have near numbers then, and the matrix of the bonds is narrow.
        let side = |axis: usize| {
            let along = || lows.iter().map(|low| low[axis]);
            along().max().unwrap_or(0) - along().min().unwrap_or(0)
        };
        let longest = (0..3).max_by_key(|axis| (side(*axis), Reverse(*axis))).unwrap_or(0);
        seeds.sort_by_key(|seed| (lows[*seed][longest], *seed));
        let part_of_cell = self.grown(&lows, &seeds);
        let parts = self.bodies(&part_of_cell, seeds.len());
        Ok(BodyParts { parts, sections: self.sections(&lows, &part_of_cell), part_of_cell })
    }

    /// Of each cell the greatest value of the cracks along its faces, 0 where there is none; `values` are of the cracks between
    /// `parts`, in the order of their sections.
    #[must_use]
    pub fn at_cracks(&self, parts: &BodyParts, values: &[f64]) -> Vec<f32> {
        let of = |cell: usize| parts.part_of_cell.get(cell).copied();
        let value = |cell: usize, other: usize| {
            let (one, two) = (of(cell)?, of(other)?);
            let pair = [one.min(two), one.max(two)];
            let crack = parts.sections.binary_search_by_key(&pair, |section| section.parts).ok()?;
            values.get(crack).map(|value| *value as f32)
        };
        let greatest = |cell: usize| {
            let low = self.cell(cell).map(|cell| cell.low);
            let beside = low.into_iter().flat_map(|low| self.beside(low));
            beside.filter_map(|other| value(cell, other)).fold(0.0, f32::max)
        };
        (0..self.len()).map(greatest).collect()
    }

    /// The cells beside one, across its faces.
    fn beside(&self, low: [u32; 3]) -> impl Iterator<Item = usize> {
        (0..6).filter_map(move |side| {
            let mut beside = low;
            let (axis, is_high) = (side / 2, side % 2 == 1);
            beside[axis] = if is_high { low[axis] + 1 } else { low[axis].wrapping_sub(1) };
            self.cell_at(beside)
        })
    }

    /// The part of each cell: all grow at once, a cell at a time, the nearest to its seed first. Parts of the cells nearest to
    /// a seed need not hang together: those of a vase would reach across its inside.
    fn grown(&self, lows: &[[u32; 3]], seeds: &[usize]) -> Vec<u32> {
        let mut part_of_cell = vec![u32::MAX; lows.len()];
        let mut next: BinaryHeap<Reverse<(u64, u32, usize)>> =
            seeds.iter().enumerate().map(|(part, seed)| Reverse((0, part as u32, *seed))).collect();
        while let Some(Reverse((_, part, cell))) = next.pop() {
            if part_of_cell[cell] != u32::MAX {
                continue;
            }
            part_of_cell[cell] = part;
            for beside in self.beside(lows[cell]) {
                if part_of_cell[beside] == u32::MAX {
                    let square = square(lows[beside], lows[seeds[part as usize]]);
                    next.push(Reverse((square, part, beside)));
                }
            }
        }
        part_of_cell
    }

    /// Mass, centre and inertia of each part.
    fn bodies(&self, part_of_cell: &[u32], count: usize) -> Vec<ModePart> {
        let about = self.cell(0).map_or(DVec3::ZERO, |cell| cell.centre);
        let mut sums = vec![Sum::NOTHING; count];
        for (cell, part) in (0..self.len()).filter_map(|cell| self.cell(cell)).zip(part_of_cell) {
            let spread = DMat3::IDENTITY * (self.cell_size().powi(2) / 12.0);
            sums[*part as usize].add(f64::from(cell.fill), cell.centre - about, spread);
        }
        let mass = self.material().density * self.cell_size().powi(3);
        let of = |sum: &Sum| {
            let (centre, second) = sum.central();
            let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
            let inertia = (DMat3::from_diagonal(DVec3::splat(trace)) - second) * mass;
            ModePart { mass: mass * sum.weight, centre: about + centre, inertia }
        };
        sums.iter().map(of).collect()
    }

    /// The cracks between parts, by ascending pair.
    pub(crate) fn sections(&self, lows: &[[u32; 3]], part_of_cell: &[u32]) -> Vec<CrackSection> {
        let h = self.cell_size();
        let about = self.cell(0).map_or(DVec3::ZERO, |cell| cell.centre);
        // Of each pair the sum over its faces, and that of their normals by their solid share.
        let mut shared: BTreeMap<[u32; 2], (Sum, DVec3)> = BTreeMap::new();
        for (cell, low) in lows.iter().enumerate() {
            for axis in 0..3 {
                let mut beside = *low;
                beside[axis] += 1;
                let Some(other) = self.cell_at(beside) else { continue };
                let (Some(a), Some(b)) = (self.cell(cell), self.cell(other)) else { continue };
                let (one, two) = (part_of_cell[cell], part_of_cell[other]);
                if one == two {
                    continue;
                }
                let fill = f64::from(a.fill.min(b.fill));
                let normal = DVec3::AXES[axis] * if one < two { 1.0 } else { -1.0 };
                let spread = DMat3::from_diagonal((DVec3::ONE - DVec3::AXES[axis]) * (h * h / 12.0));
                let (sum, normals) =
                    shared.entry([one.min(two), one.max(two)]).or_insert((Sum::NOTHING, DVec3::ZERO));
                sum.add(fill, (a.centre + b.centre) / 2.0 - about, spread);
                *normals += normal * fill;
            }
        }
        let section = |(parts, (sum, normals)): ([u32; 2], (Sum, DVec3))| {
            let (centre, second) = sum.central();
            // The steps of a plane have at most sqrt(3) times its area; what closes around a part has no mean plane.
            let flat = normals.length().max(sum.weight / 3f64.sqrt());
            CrackSection {
                parts,
                area: flat * h * h,
                centre: about + centre,
                normal: normals.normalize_or(DVec3::X),
                moments: second * (flat / sum.weight * h * h),
            }
        };
        shared.into_iter().map(section).collect()
    }
}

/// Weights with first and second moments by them.
#[derive(Clone, Copy)]
struct Sum {
    weight: f64,
    first: DVec3,
    second: DMat3,
}

impl Sum {
    /// The default of a matrix is no zero.
    const NOTHING: Self = Self { weight: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };

    /// Something with its own second moments about its centre.
    fn add(&mut self, weight: f64, at: DVec3, own: DMat3) {
        self.weight += weight;
        self.first += at * weight;
        self.second += (DMat3::from_cols(at * at.x, at * at.y, at * at.z) + own) * weight;
    }

    /// The centre, and the second moments about it.
    fn central(&self) -> (DVec3, DMat3) {
        let c = self.first / self.weight;
        (c, self.second - DMat3::from_cols(c * c.x, c * c.y, c * c.z) * self.weight)
    }
}

fn square(a: [u32; 3], b: [u32; 3]) -> u64 {
    (0..3).map(|axis| u64::from(a[axis].abs_diff(b[axis])).pow(2)).sum()
}

/// Cells each of which is the farthest from those before it; the first is the farthest from the first cell.
fn far_apart(lows: &[[u32; 3]], count: usize) -> Vec<usize> {
    let mut seeds = Vec::with_capacity(count);
    let mut nearest: Vec<u64> = lows.iter().map(|low| square(*low, lows[0])).collect();
    while seeds.len() < count.min(lows.len()) {
        let Some(farthest) = (0..lows.len()).max_by_key(|cell| (nearest[*cell], Reverse(*cell))) else {
            break;
        };
        if seeds.is_empty() {
            nearest.fill(u64::MAX);
        }
        seeds.push(farthest);
        let low = lows[farthest];
        nearest.iter_mut().zip(lows).for_each(|(nearest, cell)| *nearest = square(*cell, low).min(*nearest));
    }
    seeds
}

/// Of each part the cell nearest to its centre.
fn middles(lows: &[[u32; 3]], part_of_cell: &[u32], count: usize) -> Vec<usize> {
    let mut sums = vec![([0u64; 3], 0u64); count];
    for (low, part) in lows.iter().zip(part_of_cell) {
        let (sum, cells) = &mut sums[*part as usize];
        (0..3).for_each(|axis| sum[axis] += u64::from(low[axis]));
        *cells += 1;
    }
    let centres: Vec<[u32; 3]> = sums
        .iter()
        .map(|(sum, cells)| sum.map(|sum| ((sum + *cells / 2) / (*cells).max(1)) as u32))
        .collect();
    let mut nearest = vec![(u64::MAX, usize::MAX); count];
    for (cell, (low, part)) in lows.iter().zip(part_of_cell).enumerate() {
        let part = *part as usize;
        nearest[part] = nearest[part].min((square(*low, centres[part]), cell));
    }
    nearest.into_iter().map(|(_, cell)| cell).collect()
}
