//! Pairs of bodies whose world boxes overlap: sort and sweep along x.
//!
//! In: one box a body (or none: the body takes no part), and which bodies can move. Out: pairs (i, j), i < j, ascending.

use glam::DVec3;

/// An axis-aligned box in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Low corner, m.
    pub low: DVec3,
    /// High corner, m.
    pub high: DVec3,
}

impl Aabb {
    fn overlaps(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// All overlapping pairs of which at least one moves.
#[must_use]
pub fn pairs(boxes: &[Option<Aabb>], moves: &[bool]) -> Vec<(u32, u32)> {
    let mut order: Vec<(u32, Aabb)> =
        boxes.iter().enumerate().filter_map(|(i, b)| b.map(|b| (i as u32, b))).collect();
    order.sort_by(|a, b| a.1.low.x.total_cmp(&b.1.low.x).then(a.0.cmp(&b.0)));
    let mut found = Vec::new();
    for (k, (i, a)) in order.iter().enumerate() {
        for (j, b) in &order[k + 1..] {
            if b.low.x > a.high.x {
                break;
            }
            if (moves[*i as usize] || moves[*j as usize]) && a.overlaps(b) {
                found.push((*i.min(j), *i.max(j)));
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// P14.
    #[test]
    fn the_sweep_finds_the_brute_force_pairs() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for n in [0usize, 1, 2, 40, 300] {
            let mut boxes: Vec<Option<Aabb>> = (0..n)
                .map(|i| {
                    let mut v = || rng.random_range(0.0..4.0f64);
                    let low = DVec3::new(v(), v(), v());
                    let high = low + 0.3 * DVec3::new(v(), v(), v());
                    (i % 17 != 5).then_some(Aabb { low, high })
                })
                .collect();
            for i in (3..n).step_by(7) {
                boxes[i] = boxes[i - 3];
            }
            let moves: Vec<bool> = (0..n).map(|i| i % 3 != 0).collect();
            let mut brute = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if let (Some(a), Some(b)) = (boxes[i], boxes[j])
                        && (moves[i] || moves[j])
                        && a.overlaps(&b)
                    {
                        brute.push((i as u32, j as u32));
                    }
                }
            }
            println!("{n} boxes, {} pairs", brute.len());
            assert_eq!(pairs(&boxes, &moves), brute);
        }
    }
}
