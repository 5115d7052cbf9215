//! The coarse half of a preconditioner: groups of parts as rigid bodies.
//!
//! In: the bonds that hold and what is pinned. Out: R (R^T K R)^-1 R^T, with R the rigid motions of the groups. An incomplete
//! factor spreads a load by one bond an iteration; the groups carry it across the whole structure in one (additive Schwarz
//! with a coarse space of rigid motions: Nicolaides 1987). Where bonds form trees the factor alone is exact and is left
//! alone.

use glam::DVec3;

use super::{
    block::Six,
    stiffness::{Held, Spring},
};

/// Parts of a group, as a rule.
const OF_GROUP: usize = 24;
/// Most groups: the inverse of their stiffness is dense.
const MOST_GROUPS: usize = 48;
/// Parts of a domain ([`domains`]), at least.
pub(super) const OF_DOMAIN: usize = 1024;
/// Most domains.
const MOST_DOMAINS: usize = 64;

/// Groups of parts and the inverse of their stiffness.
#[derive(Clone, Debug)]
pub(super) struct Coarse {
    /// Group of each part; `u32::MAX` where it is pinned.
    group: Vec<u32>,
    /// From the centre of its group to the node of each part, m.
    arm: Vec<DVec3>,
    groups: usize,
    /// Six rows a group, in single precision as the factor is.
    inverse: Vec<f32>,
}

impl Coarse {
    /// `None` where the structure is small, or its bonds form trees.
    pub fn new(held: &Held<'_>, nodes: &[DVec3]) -> Option<Self> {
        let mut free: Vec<u32> =
            (0..nodes.len() as u32).filter(|part| !held.pinned[*part as usize]).collect();
        let bonds = held.alive.iter().filter(|alive| **alive).count();
        let groups = (free.len() / OF_GROUP).min(MOST_GROUPS);
        if groups < 2 || bonds <= free.len() {
            return None;
        }
        let (mut group, mut count) = (vec![u32::MAX; nodes.len()], 0);
        halve(&mut free, nodes, groups, &mut |own| {
            own.iter().for_each(|part| group[*part as usize] = count);
            count += 1;
        });
        let groups = count as usize;
        let mut sums = vec![(DVec3::ZERO, 0.0); groups];
        for (node, own) in nodes.iter().zip(&group).filter(|(_, own)| **own != u32::MAX) {
            let sum = &mut sums[*own as usize];
            *sum = (sum.0 + *node, sum.1 + 1.0);
        }
        let centre = |own: u32| sums.get(own as usize).map(|(sum, count)| *sum / *count);
        let arm = nodes.iter().zip(&group).map(|(node, own)| centre(*own).map_or(DVec3::ZERO, |c| *node - c));
        let arm: Vec<DVec3> = arm.collect();
        let side = groups * 6;
        let mut stiffness = vec![0.0; side * side];
        for (spring, _) in held.springs.iter().zip(held.alive).filter(|(_, alive)| **alive) {
            let of = spring.ends.map(|end| group[end as usize]);
            if of[0] == of[1] {
                continue;
            }
            let [a, b] = spring.ends.map(|end| arm[end as usize]);
            // The same spring between the groups: its arms begin at their centres.
            let between = Spring { arms: [spring.arms[0] + a, spring.arms[1] + b], ..*spring };
            for row in 0..2 {
                for column in 0..2 {
                    if of[row] == u32::MAX || of[column] == u32::MAX {
                        continue;
                    }
                    let (block, [r, c]) =
                        (between.block(row, column), [of[row], of[column]].map(|k| k as usize * 6));
                    for (k, values) in block.0.iter().enumerate() {
                        for (value, more) in stiffness[(r + k) * side + c..].iter_mut().zip(values) {
                            *value += more;
                        }
                    }
                }
            }
        }
        let inverse = inverse(stiffness, side)?;
        Some(Self { group, arm, groups, inverse })
    }

    /// The motions of the groups under `v`, six numbers each.
    pub fn motions(&self, v: &[Six]) -> Vec<f32> {
        let mut sums = vec![Six::ZERO; self.groups];
        for ((load, own), arm) in v.iter().zip(&self.group).zip(&self.arm) {
            if let Some(sum) = sums.get_mut(*own as usize) {
                *sum += Six { linear: load.linear, angular: load.angular + arm.cross(load.linear) };
            }
        }
        let side = self.groups * 6;
        let mut motions = vec![0.0f32; side];
        for (group, sum) in sums.iter().enumerate() {
            // The matrix is symmetric: its rows are its columns.
            for (k, load) in sum.lanes().into_iter().take(6).enumerate() {
                let column = &self.inverse[(group * 6 + k) * side..][..side];
                motions.iter_mut().zip(column).for_each(|(motion, entry)| *motion += entry * load);
            }
        }
        motions
    }

    /// Adds these motions of the groups to those of the parts.
    pub fn spread(&self, motions: &[f32], out: &mut [Six]) {
        for ((value, own), arm) in out.iter_mut().zip(&self.group).zip(&self.arm) {
            if let Some(&[a, b, c, d, e, f]) =
                motions.chunks_exact(6).nth(*own as usize).and_then(|m| m.first_chunk())
            {
                let motion = Six::of_lanes(&[a, b, c, d, e, f, 0.0, 0.0]);
                let linear = motion.linear + motion.angular.cross(*arm);
                *value += Six { linear, angular: motion.angular };
            }
        }
    }
}

/// The domain of each part, and how many there are: one, unless the structure is large.
pub(super) fn domains(held: &Held<'_>, nodes: &[DVec3]) -> (Vec<u32>, usize) {
    let mut free: Vec<u32> = (0..nodes.len() as u32).filter(|part| !held.pinned[*part as usize]).collect();
    let bonds = held.alive.iter().filter(|alive| **alive).count();
    let wanted = (free.len() / OF_DOMAIN).min(MOST_DOMAINS);
    let mut domain = vec![0; nodes.len()];
    // One factor solves trees exactly.
    if wanted < 2 || bonds <= free.len() {
        return (domain, 1);
    }
    let mut count = 0;
    halve(&mut free, nodes, wanted, &mut |own| {
        own.iter().for_each(|part| domain[*part as usize] = count);
        count += 1;
    });
    (domain, count as usize)
}

/// Gives `take` that many groups of near parts: cut across the longest side until there are enough.
fn halve(parts: &mut [u32], nodes: &[DVec3], groups: usize, take: &mut impl FnMut(&[u32])) {
    if groups < 2 || parts.len() < 2 {
        return take(parts);
    }
    let bounds = |(low, high): (DVec3, DVec3), part: &u32| {
        (low.min(nodes[*part as usize]), high.max(nodes[*part as usize]))
    };
    let (low, high) = parts.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), bounds);
    let size = high - low;
    let axis = (0..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best });
    parts.sort_unstable_by(|a, b| {
        nodes[*a as usize][axis].total_cmp(&nodes[*b as usize][axis]).then(a.cmp(b))
    });
    let first = groups / 2;
    let (near, far) = parts.split_at_mut(parts.len() * first / groups);
    halve(near, nodes, first, take);
    halve(far, nodes, groups - first, take);
}

/// The inverse of a symmetric matrix of `side` rows by its Cholesky factor; `None` if it is not positive definite.
fn inverse(mut matrix: Vec<f64>, side: usize) -> Option<Vec<f32>> {
    let largest = (0..side).map(|k| matrix[k * side + k]).fold(0.0, f64::max);
    for row in 0..side {
        for column in 0..=row {
            let (before, own) = matrix.split_at_mut(row * side);
            let other = if column == row { &own[..column] } else { &before[column * side..][..column] };
            let known = product(&own[..column], other);
            let rest = own[column] - known;
            if column < row {
                own[column] = rest / before[column * side + column];
            } else if rest > largest * 1e-14 {
                own[column] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    // Row k of `lower` is column k of the inverse of the factor.
    let mut lower = vec![0.0; side * side];
    for k in 0..side {
        let own = &mut lower[k * side..][..side];
        for row in k..side {
            let factor = &matrix[row * side..][..=row];
            let known = product(&factor[k..row], &own[k..row]);
            own[row] = (f64::from(u8::from(row == k)) - known) / factor[row];
        }
    }
    let entry = |at: usize| {
        let (a, b) = (at / side, at % side);
        let from = a.max(b);
        product(&lower[a * side..][from..side], &lower[b * side..][from..side]) as f32
    };
    let mut out = vec![0.0; side * side];
    for row in 0..side {
        for column in 0..=row {
            let value = entry(row * side + column);
            (out[row * side + column], out[column * side + row]) = (value, value);
        }
    }
    Some(out)
}

/// The product of two vectors, summed in four lanes.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let (fours_a, fours_b) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in fours_a.0.iter().zip(fours_b.0) {
        sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
    }
    let rest: f64 = fours_a.1.iter().zip(fours_b.1).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        let side = 17;
        let root: Vec<f64> = (0..side * side).map(|k| ((k * 37 % 23) as f64 - 11.0) / 10.0).collect();
        let entry = |i: usize, j: usize| -> f64 {
            let product: f64 = (0..side).map(|k| root[i * side + k] * root[j * side + k]).sum();
            product + if i == j { 3.0 } else { 0.0 }
        };
        let matrix: Vec<f64> = (0..side * side).map(|at| entry(at / side, at % side)).collect();
        let inverse = inverse(matrix.clone(), side).unwrap();
        for i in 0..side {
            for j in 0..side {
                let product: f64 =
                    (0..side).map(|k| matrix[i * side + k] * f64::from(inverse[k * side + j])).sum();
                let wanted = if i == j { 1.0 } else { 0.0 };
                assert!((product - wanted).abs() < 1e-4, "{i} {j}: {product}");
            }
        }
        assert!(super::inverse(vec![0.0; 4], 2).is_none());
    }
}
