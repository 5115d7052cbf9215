//! Cached near pairs of bodies that hardly move against each other (neighbour lists: Verlet 1967, Physical Review 159,
//! sec. II).
//!
//! In: boxes, step by step. Out: the near pairs, if the boxes have not yet left the larger boxes of which an earlier
//! step found all pairs. Motion that all bodies have in common does not count: bodies that fall side by side keep their
//! pairs. Every pair of the list is tested again, so the result is the same as without the list.

use super::{Asked, tree::meeting};
use crate::geometry::Aabb;
use glam::DVec3;
use rayon::prelude::*;

/// For fewer boxes, finding all pairs is as fast.
const FEW: usize = 128;
/// Fewer pairs are not worth a second thread.
const FEW_PAIRS: usize = 1024;
/// Boxes are made larger on every side by this share of their longest edge.
const GROWN: f64 = 0.05;
/// A list is made if since the last step no box has moved by more than this share of its enlargement: then it may last
/// for some steps.
const CALM: f64 = 0.25;
/// Boxes must stay off the edges of their larger boxes by this share of the enlargement, for rounding.
const EDGE: f64 = 1e-6;

/// The list of an earlier step.
#[derive(Default)]
pub struct FatPairs {
    /// The boxes of the last step, along the world's axes.
    last: Vec<Option<Aabb>>,
    list: Option<List>,
}

/// Pairs of larger boxes.
struct List {
    /// Index as that of the box.
    larger: Vec<Option<Aabb>>,
    /// All pairs of larger boxes that overlap, ascending.
    pairs: Vec<(u32, u32)>,
}

impl FatPairs {
    /// All near pairs, like [`Asked::pairs`]; `None` if the list does not hold them.
    pub fn pairs(&mut self, asked: &Asked<'_>) -> Option<Vec<(u32, u32)>> {
        if asked.boxes.len() < FEW {
            *self = Self::default();
            return None;
        }
        let bounds: Vec<Option<Aabb>> =
            asked.boxes.par_iter().with_min_len(FEW).map(|b| b.as_ref().map(super::Obb::aabb)).collect();
        let is_known = self.list.as_ref().is_some_and(|list| lies_in(&bounds, &list.larger, 1.0 - EDGE));
        if !is_known {
            let is_calm = lies_in(&bounds, &grown(&self.last), CALM);
            self.list = is_calm.then(|| list(&bounds)).flatten();
        }
        self.last = bounds;
        let List { pairs, .. } = self.list.as_ref()?;
        let bounds = &self.last;
        let is_near = |(i, j): &(u32, u32)| {
            let [Some(a), Some(b)] = [*i, *j].map(|k| bounds[k as usize]) else { return false };
            a.meets(&b) && asked.meet((*i, *j))
        };
        Some(pairs.par_iter().with_min_len(FEW_PAIRS).copied().filter(is_near).collect())
    }
}

/// How much larger a box is made.
fn slack(bounds: &Aabb) -> f64 {
    GROWN * bounds.size().max_element()
}

fn grown(bounds: &[Option<Aabb>]) -> Vec<Option<Aabb>> {
    let grow = |own: &Aabb| Aabb::new(own.low - slack(own), own.high + slack(own));
    bounds.iter().map(|own| own.as_ref().map(grow)).collect()
}

/// Whether every box lies in the larger one of its index, moved by at most `share` of the enlargement, after the common
/// translation is removed.
fn lies_in(bounds: &[Option<Aabb>], larger: &[Option<Aabb>], share: f64) -> bool {
    let both = || bounds.iter().zip(larger).filter_map(|(own, larger)| own.as_ref().zip(larger.as_ref()));
    let count = both().count().max(1) as f64;
    let shift = both().map(|(own, larger)| own.middle() - larger.middle()).sum::<DVec3>() / count;
    // The rim of the larger box that must stay free.
    let rim = |larger: &Aabb| {
        let made = larger.size().max_element() * GROWN / (1.0 + 2.0 * GROWN);
        DVec3::splat((1.0 - share) * made)
    };
    bounds.len() == larger.len()
        && bounds.iter().zip(larger).all(|(own, larger)| match (own, larger) {
            (Some(own), Some(larger)) => {
                let rim = rim(larger);
                (own.low - shift).cmpge(larger.low + rim).all()
                    && (own.high - shift).cmple(larger.high - rim).all()
            }
            (None, _) => true,
            (Some(_), None) => false,
        })
}

/// The larger boxes and their pairs; `None` if there are too many pairs.
fn list(bounds: &[Option<Aabb>]) -> Option<List> {
    let larger = grown(bounds);
    let some = (0u32..).zip(&larger).filter_map(|(k, own)| own.map(|own| (k, own)));
    let all: Vec<(u32, Aabb)> = some.collect();
    let pairs = meeting(&all, |_, _| true).ok()?;
    Some(List { larger, pairs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad_phase::{Motion, Obb};
    use glam::{DMat3, DQuat};
    use rand::{RngExt, SeedableRng};

    /// Boxes that fall together and drift apart a little, some of which are gone for a while: how often the list
    /// served, and how many pairs it missed. With every step the list counts as good for boxes that have gone
    /// `farther`, m.
    fn played(farther: f64) -> (usize, usize) {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(12);
        let mut v = || DVec3::from([0; 3].map(|_| rng.random_range(-1.0..1.0f64)));
        let mut boxes: Vec<Obb> = (0..400)
            .map(|_| Obb {
                centre: v() * 2.0,
                axes: DMat3::from_quat(DQuat::from_scaled_axis(v() * 2.0)),
                half: 0.1 + 0.1 * v().abs(),
                way: 0.01,
            })
            .collect();
        let drifts: Vec<DVec3> = (0..boxes.len()).map(|_| v() * 0.003).collect();
        let (mut kept, mut served, mut missed) = (FatPairs::default(), 0, 0);
        for step in 0..60 {
            for (own, drift) in boxes.iter_mut().zip(&drifts) {
                own.centre += DVec3::NEG_Y * 0.05 * f64::from(step) + *drift;
            }
            let gone = |k: usize| (20..30).contains(&step) && k % 9 == 4;
            let there = |(k, own): (usize, &Obb)| (!gone(k)).then_some(*own);
            let now: Vec<Option<Obb>> = boxes.iter().enumerate().map(there).collect();
            let moves: Vec<bool> = (0..boxes.len()).map(|k| k % 7 != 2).collect();
            let still = Motion { velocity: DVec3::ZERO, spin: 0.0 };
            let motions = vec![still; boxes.len()];
            let asked = Asked { boxes: &now, moves: &moves, motions: &motions, dt: 0.01 };
            if let Some(found) = kept.pairs(&asked) {
                served += 1;
                let all = asked.pairs().expect("few");
                missed += all.iter().filter(|pair| !found.contains(pair)).count();
                assert!(found.len() > 100 && found.iter().all(|pair| all.contains(pair)));
            }
            // Planted: boxes seem to lie within larger ones than the list was made of.
            for own in kept.list.iter_mut().flat_map(|list| &mut list.larger).flatten() {
                *own = Aabb::new(own.low - farther, own.high + farther);
            }
        }
        (served, missed)
    }

    #[test]
    fn a_list_that_is_kept_misses_nobody() {
        let (served, missed) = played(0.0);
        println!("it served {served} of 60 times");
        assert!(served > 40 && missed == 0, "{served} {missed}");
        assert!(played(0.01).1 > 0, "nobody notices a list that is too old");
    }
}
