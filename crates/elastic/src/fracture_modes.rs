//! Where a body of bonded parts is weak, whatever loads it: its fracture modes.
//!
//! In: rigid parts, and the bonds between them. Out: the motions that cost the least work of opening bonds for the same mean
//! square displacement, each orthogonal to those before it, and how far each motion opens each bond.
//!
//! Sellán, Luong, Mattos Da Silva, Ramakrishnan, Yang & Jacobson 2022, "Breaking Good: Fracture Modes for Realtime
//! Destruction". Here parts are rigid, the limit of a stiff material, so that their strain energy is none and what is left is
//! the work on the bonds. The paper solves a cone program for each of its convex steps; a step here is one linear system: the
//! norms of the jumps are bounded from above by parabolas (reweighted least squares), the norm of the motion from below by
//! its tangent (the paper's step), so no step raises the smoothed work.

use glam::{DMat3, DVec3};
use kintsugi_core::fracture::{Cancel, CrackSection};
use kintsugi_geometry::{UnionFind, principal};
use rayon::prelude::*;

use crate::{
    ElasticError,
    coarsest::{factorise, substitute},
};

/// The most parts: a step factors a full matrix of six unknowns a part.
pub const MOST_PARTS: usize = 128;

/// The most modes.
pub const MOST_MODES: usize = 24;

/// Motions from which the search for each mode begins: the work has many minima, and the lowest that is found counts.
const STARTS: u64 = 8;

/// Jumps are smoothed below this at first and below [`LAST`] at last, for a mean square displacement of one.
const FIRST: f64 = 0.1;
const LAST: f64 = 1e-7;
/// What the smoothing is multiplied by from step to step: at 0.5 fewer starts found the lowest minimum, at 0.85 no more.
const FALL: f64 = 0.7;

/// Bonds that open less than such a share of the widest are tried as closed; steps alone take hundreds of rounds to close a
/// bond that bears almost what opens it.
const CLOSED: [f64; 3] = [0.1, 0.02, 0.002];
/// Steps with these closed.
const CLOSED_STEPS: usize = 20;

/// Smallest pivot, as a share of its diagonal: what closed bonds hold together hangs on the rest by a 1e-8 of them.
const SMALLEST: f64 = 1e-14;

/// A motion with less than this share beside others is rounding.
const NOTHING_LEFT: f64 = 1e-10;

/// A mode opens the bonds whose jump is at least this share of its widest.
const OPENED: f64 = 0.1;
/// Modes with at most so many times the least energy speak against a weakest place if they open other bonds.
const NEAR: f64 = 1.5;
/// So many modes are needed to tell whether a place is the weakest: one of bending each way, and one beside them.
const TELLING: usize = 3;

/// Least square of the radius of gyration of a bond, as a share of its area: a contact along a line still resists a hinge.
const LEAST_GYRATION: f64 = 1e-6;

/// A rigid part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModePart {
    /// kg.
    pub mass: f64,
    /// Centre of mass, shape space, m.
    pub centre: DVec3,
    /// Inertia about it, kg m^2.
    pub inertia: DMat3,
}

/// What holds two parts together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeBond {
    /// The crack that it holds closed; it names parts by index.
    pub section: CrackSection,
    /// Stress at which it opens, Pa.
    pub strength: f64,
}

/// One way to come apart.
#[derive(Clone, Debug, PartialEq)]
pub struct FractureMode {
    /// Work of opening the bonds for a motion whose mean square displacement, by mass, is 1 m^2: J, each bond with its
    /// strength times its area times its jump. Displacements are small and scale freely, so this is a force, N.
    pub energy: f64,
    /// Of each part the displacement of its centre, m, and its rotation vector, rad, for that motion.
    pub motions: Vec<[DVec3; 2]>,
    /// Of each bond the jump across it, m: root mean square over its area. 0 where it stays closed.
    pub jumps: Vec<f64>,
}

/// The lowest fracture modes of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct FractureModes {
    /// Ascending by energy.
    pub modes: Vec<FractureMode>,
    /// Of each bond, from 0 to 1: the most that any mode opens it as a share of what that mode opens most, times the least
    /// energy over that of the mode; for this each mode steps down once more, free of its being orthogonal to others.
    pub weakness: Vec<f64>,
    /// Bonds that the first mode opens, and so does every other of at most 1.5 times its energy. Empty where another way to
    /// come apart is about as easy, and with fewer than three modes, which cannot tell.
    pub weakest: Vec<usize>,
}

impl FractureModes {
    /// The lowest `count` modes, from 1 to [`MOST_MODES`] and at most six for each part but one.
    ///
    /// # Errors
    /// [`ElasticError::Modes`]: too few or too many parts, numbers that are not finite and above zero, bonds of parts that there
    /// are not, parts that do not hang together. [`ElasticError::Cancelled`].
    pub fn new(
        parts: &[ModePart],
        bonds: &[ModeBond],
        count: usize,
        cancel: &Cancel,
    ) -> Result<Self, ElasticError> {
        check(parts, bonds)?;
        let graph = Graph::new(parts, bonds);
        let count = count.clamp(1, MOST_MODES.min(6 * (parts.len() - 1)));
        let mut found: Vec<Vec<f64>> = Vec::with_capacity(count);
        for _ in 0..count {
            let mode = graph.lowest(&found, cancel)?;
            found.push(mode);
        }
        let weakness = graph.weakness(&found, cancel)?;
        let mut modes: Vec<FractureMode> = found.iter().map(|y| graph.mode(y)).collect();
        // The search may find a mode late that it should have found first.
        modes.sort_by(|a, b| a.energy.total_cmp(&b.energy));
        Ok(Self { weakness, weakest: weakest(&modes), modes })
    }
}

fn check(parts: &[ModePart], bonds: &[ModeBond]) -> Result<(), ElasticError> {
    let refused = |what| Err(ElasticError::Modes(what));
    if !(2..=MOST_PARTS).contains(&parts.len()) {
        return refused("there must be from 2 to 128 parts; choose another number of them");
    }
    let is_positive = |value: f64| value > 0.0 && value.is_finite();
    let is_body = |part: &ModePart| {
        let (moments, _) = principal(part.inertia);
        is_positive(part.mass) && part.centre.is_finite() && moments.to_array().into_iter().all(is_positive)
    };
    if !parts.iter().all(is_body) {
        return refused("a part needs a finite centre, and a finite mass and inertia above zero");
    }
    let is_bond = |ModeBond { section, strength }: &ModeBond| {
        is_positive(section.area)
            && is_positive(*strength)
            && is_positive(strength * section.area)
            && section.centre.is_finite()
            && section.moments.is_finite()
    };
    if !bonds.iter().all(is_bond) {
        return refused(
            "a bond needs a finite area and strength above zero, a finite centre and finite second moments",
        );
    }
    let mut groups = UnionFind::new(parts.len());
    for ModeBond { section, .. } in bonds {
        let [a, b] = section.parts;
        if a == b || a.max(b) as usize >= parts.len() {
            return refused("a bond must name two different parts by their indices");
        }
        groups.join(a, b);
    }
    let first = groups.find(0);
    if (0..parts.len() as u32).any(|part| groups.find(part) != first) {
        return refused("all parts must hang together by bonds; give one connected set");
    }
    Ok(())
}

/// Six rows, one for each number of a jump, by six unknowns of a part.
type Block = [[f64; 6]; 6];

/// Parts and bonds in unknowns y, six a part, in which the mean square displacement is the sum of the squares of y.
struct Graph {
    /// Motion of each part, centre and rotation, for each of its unknowns.
    motions: Vec<[[DVec3; 2]; 6]>,
    ends: Vec<[usize; 2]>,
    /// The jump across a bond is the sum of both blocks times the unknowns of its ends.
    blocks: Vec<[Block; 2]>,
    /// Strength times area, as a share of the greatest.
    costs: Vec<f64>,
    /// That, N.
    unit: f64,
    /// Orthonormal motions of the whole.
    rigid: Vec<Vec<f64>>,
}

impl Graph {
    fn new(parts: &[ModePart], bonds: &[ModeBond]) -> Self {
        let total: f64 = parts.iter().map(|part| part.mass).sum();
        let motions: Vec<[[DVec3; 2]; 6]> = parts.iter().map(|part| unknowns_of(part, total)).collect();
        let side = |section: &CrackSection, end: usize, sign: f64| -> Block {
            let part = section.parts[end] as usize;
            let lever = section.centre - parts[part].centre;
            let about = DMat3::from_diagonal(DVec3::splat(trace(&section.moments))) - section.moments;
            let (squares, axes) = principal(about * (1.0 / section.area));
            let least = LEAST_GYRATION * section.area;
            let radii = squares.map(|square| square.max(least).sqrt());
            let columns = motions[part].map(|[along, turn]| {
                let (at, spin) = (along + turn.cross(lever), axes.transpose() * turn * radii);
                [at.x, at.y, at.z, spin.x, spin.y, spin.z].map(|value| sign * value)
            });
            std::array::from_fn(|row| std::array::from_fn(|column| columns[column][row]))
        };
        // The end with the higher index comes second, for the lower triangle.
        let order =
            |section: &CrackSection| if section.parts[0] < section.parts[1] { [0, 1] } else { [1, 0] };
        let ends = |section: &CrackSection| order(section).map(|end| section.parts[end] as usize);
        let both =
            |section: &CrackSection| order(section).map(|end| side(section, end, 2.0 * end as f64 - 1.0));
        let costs: Vec<f64> = bonds.iter().map(|bond| bond.strength * bond.section.area).collect();
        let unit = costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut graph = Self {
            ends: bonds.iter().map(|bond| ends(&bond.section)).collect(),
            blocks: bonds.iter().map(|bond| both(&bond.section)).collect(),
            costs: costs.iter().map(|cost| cost / unit).collect(),
            unit,
            rigid: Vec::new(),
            motions,
        };
        let middle = parts.iter().map(|part| part.centre * (part.mass / total)).sum::<DVec3>();
        for k in 0..6 {
            let axis = DVec3::AXES[k % 3];
            let mut y: Vec<f64> = Vec::with_capacity(6 * parts.len());
            for (part, unknowns) in parts.iter().zip(&graph.motions) {
                let turn = if k < 3 { DVec3::ZERO } else { axis };
                let along = if k < 3 { axis } else { axis.cross(part.centre - middle) };
                // The momentum of a unit motion is its coefficient.
                y.extend(
                    unknowns
                        .iter()
                        .map(|[t, w]| (part.mass * t.dot(along) + w.dot(part.inertia * turn)) / total),
                );
            }
            if let Some(y) = settled(y, &graph.rigid, &[]) {
                graph.rigid.push(y);
            }
        }
        graph
    }

    /// The lowest motion that is found, orthogonal to earlier ones.
    fn lowest(&self, earlier: &[Vec<f64>], cancel: &Cancel) -> Result<Vec<f64>, ElasticError> {
        let from = |start: u64| {
            let mut random = noise(STARTS * earlier.len() as u64 + start);
            let y = (0..6 * self.motions.len()).map(|_| random() - 0.5).collect();
            self.relaxed(y, earlier, cancel)
        };
        let ends = (0..STARTS).into_par_iter().map(from).collect::<Result<Vec<_>, _>>()?;
        self.tightened(self.best(ends).unwrap_or_default(), earlier, cancel)
    }

    /// The first of those with the least energy.
    fn best(&self, motions: Vec<Vec<f64>>) -> Option<Vec<f64>> {
        motions.into_iter().min_by(|a, b| self.energy(a).total_cmp(&self.energy(b)))
    }

    /// Steps down from a motion, with less and less smoothing.
    fn relaxed(
        &self,
        from: Vec<f64>,
        earlier: &[Vec<f64>],
        cancel: &Cancel,
    ) -> Result<Vec<f64>, ElasticError> {
        let mut y = settled(from.clone(), &self.rigid, earlier).unwrap_or(from);
        let mut smoothing = FIRST;
        while smoothing > LAST {
            cancel.check()?;
            let weight = |(cost, jump): (&f64, f64)| cost / (jump * jump + smoothing * smoothing).sqrt();
            let weights: Vec<f64> = self.costs.iter().zip(self.jumps(&y)).map(weight).collect();
            match self.step(&y, &weights, earlier) {
                Some(next) => y = next,
                None => break,
            }
            smoothing *= FALL;
        }
        Ok(y)
    }

    /// The best of a motion and of those with its narrow bonds closed.
    fn tightened(
        &self,
        from: Vec<f64>,
        earlier: &[Vec<f64>],
        cancel: &Cancel,
    ) -> Result<Vec<f64>, ElasticError> {
        let close = |share: &f64| self.closed(&from, *share, earlier, cancel);
        let mut tried = CLOSED.iter().map(close).collect::<Result<Vec<_>, _>>()?;
        tried.push(from);
        Ok(self.best(tried).unwrap_or_default())
    }

    /// Of each bond, from 0 to 1: how weak it is. Each mode first steps down without regard to the others: of four equal arms
    /// the last mode would pay for being orthogonal to the first.
    fn weakness(&self, modes: &[Vec<f64>], cancel: &Cancel) -> Result<Vec<f64>, ElasticError> {
        let alone = |y: &Vec<f64>| self.tightened(self.relaxed(y.clone(), &[], cancel)?, &[], cancel);
        let motions = modes.par_iter().map(alone).collect::<Result<Vec<_>, ElasticError>>()?;
        let energies: Vec<f64> = motions.iter().map(|y| self.energy(y)).collect();
        let least = energies.iter().copied().fold(f64::MAX, f64::min);
        let mut out = vec![0.0f64; self.costs.len()];
        for (y, energy) in motions.iter().zip(energies) {
            let jumps = self.jumps(y);
            let scale = least / energy / jumps.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            out.iter_mut().zip(jumps).for_each(|(most, jump)| *most = most.max(scale * jump).min(1.0));
        }
        // What is closed is closed to the smoothing.
        out.iter_mut().filter(|weakness| **weakness < 10.0 * LAST).for_each(|weakness| *weakness = 0.0);
        Ok(out)
    }

    /// Steps down with all bonds closed that open less than a share of the widest.
    fn closed(
        &self,
        from: &[f64],
        share: f64,
        earlier: &[Vec<f64>],
        cancel: &Cancel,
    ) -> Result<Vec<f64>, ElasticError> {
        let mut y = from.to_vec();
        let jumps = self.jumps(&y);
        let widest = jumps.iter().copied().fold(0.0, f64::max);
        let is_open: Vec<bool> = jumps.iter().map(|jump| *jump >= share * widest).collect();
        for _ in 0..CLOSED_STEPS {
            cancel.check()?;
            let jumps = self.jumps(&y);
            let least = |bond: usize| if is_open[bond] { jumps[bond].max(LAST) } else { 0.1 * LAST };
            let weights: Vec<f64> = (0..jumps.len()).map(|bond| self.costs[bond] / least(bond)).collect();
            match self.step(&y, &weights, earlier) {
                Some(next) => y = next,
                None => break,
            }
        }
        Ok(y)
    }

    /// The motion z with the least sum of weights times squared jumps among those with y z = 1 that are orthogonal to earlier
    /// ones; then without rigid motion, and of length 1. `None` where rounding leaves nothing of it.
    fn step(&self, y: &[f64], weights: &[f64], earlier: &[Vec<f64>]) -> Option<Vec<f64>> {
        let n = y.len() - 6;
        let mut matrix = self.matrix(weights);
        factorise(&mut matrix, n, SMALLEST);
        // Forces without a resultant: with the first part held, the others move as they do in a free body, but for a rigid
        // motion.
        let sides: Vec<&[f64]> = std::iter::once(y).chain(earlier.iter().map(Vec::as_slice)).collect();
        let answer = |side: &&[f64]| {
            let mut x = side[6..].to_vec();
            substitute(&matrix, &mut x);
            x
        };
        let answers: Vec<Vec<f64>> = sides.iter().map(answer).collect();
        let mut gram: Vec<f64> = Vec::with_capacity(sides.len() * (sides.len() + 1) / 2);
        for (i, answer) in answers.iter().enumerate() {
            gram.extend(sides[..=i].iter().map(|side| dot(&side[6..], answer)));
        }
        factorise(&mut gram, sides.len(), SMALLEST);
        let mut shares = vec![0.0; sides.len()];
        shares[0] = 1.0;
        substitute(&gram, &mut shares);
        let mut next = vec![0.0; y.len()];
        for (answer, share) in answers.iter().zip(shares) {
            next[6..].iter_mut().zip(answer).for_each(|(to, x)| *to += share * x);
        }
        settled(next, &self.rigid, earlier)
    }

    /// The lower triangle of the sum of weights times squared jumps, row after row, without the first part.
    fn matrix(&self, weights: &[f64]) -> Vec<f64> {
        let n = 6 * (self.motions.len() - 1);
        let mut matrix = vec![0.0; n * (n + 1) / 2];
        for ((ends, blocks), weight) in self.ends.iter().zip(&self.blocks).zip(weights) {
            for (row, column) in [(0, 0), (1, 0), (1, 1)] {
                // The first part is held.
                let (Some(i), Some(j)) = (ends[row].checked_sub(1), ends[column].checked_sub(1)) else {
                    continue;
                };
                for a in 0..6 {
                    let i = 6 * i + a;
                    for b in 0..if row == column { a + 1 } else { 6 } {
                        let product: f64 = (0..6).map(|k| blocks[row][k][a] * blocks[column][k][b]).sum();
                        matrix[i * (i + 1) / 2 + 6 * j + b] += weight * product;
                    }
                }
            }
        }
        matrix
    }

    /// Root mean square jump across each bond.
    fn jumps(&self, y: &[f64]) -> Vec<f64> {
        let of = |(ends, blocks): (&[usize; 2], &[Block; 2])| {
            let squares = (0..6).map(|k| {
                let side = |end: usize| dot(&blocks[end][k], &y[6 * ends[end]..6 * ends[end] + 6]);
                (side(0) + side(1)).powi(2)
            });
            squares.sum::<f64>().sqrt()
        };
        self.ends.iter().zip(&self.blocks).map(of).collect()
    }

    /// Work as a share of the unit.
    fn energy(&self, y: &[f64]) -> f64 {
        dot(&self.costs, &self.jumps(y))
    }

    fn mode(&self, y: &[f64]) -> FractureMode {
        let mut jumps = self.jumps(y);
        let widest = jumps.iter().copied().fold(0.0, f64::max);
        // What is closed is closed to the smoothing.
        jumps.iter_mut().filter(|jump| **jump < 10.0 * LAST * widest).for_each(|jump| *jump = 0.0);
        let of = |(motions, y): (&[[DVec3; 2]; 6], &[f64])| {
            [0, 1].map(|k| motions.iter().zip(y).map(|(motion, y)| motion[k] * *y).sum::<DVec3>())
        };
        let motions = self.motions.iter().zip(y.chunks_exact(6)).map(of).collect();
        FractureMode { energy: self.unit * self.energy(y), motions, jumps }
    }
}

/// The motions of a part, each with a mean square displacement of 1 in the whole.
fn unknowns_of(part: &ModePart, total: f64) -> [[DVec3; 2]; 6] {
    let (moments, axes) = principal(part.inertia);
    let along = (total / part.mass).sqrt();
    std::array::from_fn(|k| match k {
        0..3 => [DVec3::AXES[k] * along, DVec3::ZERO],
        _ => [DVec3::ZERO, axes.col(k - 3) * (total / moments[k - 3]).sqrt()],
    })
}

fn trace(m: &DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A motion of length 1 without its share in others, which are orthonormal; `None` if that is nothing or no number.
fn settled(mut y: Vec<f64>, rigid: &[Vec<f64>], earlier: &[Vec<f64>]) -> Option<Vec<f64>> {
    // The second time takes what rounding left.
    for least in [0.0, NOTHING_LEFT] {
        let length = dot(&y, &y).sqrt();
        if !(length > least && length.is_finite()) {
            return None;
        }
        y.iter_mut().for_each(|y| *y /= length);
        for other in rigid.iter().chain(earlier) {
            let share = dot(&y, other);
            y.iter_mut().zip(other).for_each(|(y, other)| *y -= share * other);
        }
    }
    let length = dot(&y, &y).sqrt();
    y.iter_mut().for_each(|y| *y /= length);
    Some(y)
}

/// A sequence of numbers from 0 to 1 that looks random.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn widest(mode: &FractureMode) -> f64 {
    mode.jumps.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
}

fn weakest(modes: &[FractureMode]) -> Vec<usize> {
    let Some(first) = modes.first().filter(|_| modes.len() >= TELLING) else { return Vec::new() };
    let near: Vec<&FractureMode> = modes.iter().filter(|mode| mode.energy <= NEAR * first.energy).collect();
    let is_opened = |bond: &usize| near.iter().all(|mode| mode.jumps[*bond] >= OPENED * widest(mode));
    (0..first.jumps.len()).filter(is_opened).collect()
}
