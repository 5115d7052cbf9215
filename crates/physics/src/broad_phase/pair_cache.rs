//! Cached near pairs of bodies that hardly move against each other (neighbour lists: Verlet 1967, Physical Review 159,
//! sec. II).
//!
//! In: boxes, step by step. Out: the near pairs. Every box has a larger one, and all pairs of larger boxes that overlap
//! are kept. Whoever has left its larger box gets another and is asked for its pairs again; all other pairs stay. Motion
//! that most bodies have in common does not count: bodies that fall side by side keep their pairs, and bodies that sleep
//! beside some that move are asked for none. Every pair of the list is tested again, so the result is the same as without
//! the list, in the same order.

use super::{Asked, Obb, tree};
use crate::geometry::Aabb;
use glam::DVec3;
use rayon::prelude::*;

/// For fewer boxes, finding all pairs is as fast.
const FEW: usize = 128;
/// Fewer pairs are not worth a second thread.
const FEW_PAIRS: usize = 1024;
/// Boxes are made larger on every side by this share of their longest edge,
const GROWN: f64 = 0.05;
/// by what the body moves in so many steps,
const AHEAD: f64 = 2.0;
/// and by no more than this share of the edge.
const MOST_GROWN: f64 = 0.5;
/// A body whose box is made larger by more than this number of times what it would be now gets another.
const TOO_LARGE: f64 = 4.0;
/// If more than half of the bodies have left their larger boxes, the list is made anew; but only if since the last step
/// half of all boxes have moved by no more than this share of their enlargement: else it would not last.
const CALM: f64 = 0.4;
/// Boxes must stay off the edges of their larger boxes by this share of the enlargement, for rounding.
const EDGE: f64 = 1e-6;

/// The list, which lives from step to step.
#[derive(Default)]
pub struct FatPairs {
    /// The boxes of the last step, made larger.
    last: Vec<Option<Fat>>,
    /// By body: the larger box of the list, without the common motion since the whole list was made. Empty: there is no
    /// list.
    larger: Vec<Option<Fat>>,
    /// All pairs of larger boxes that overlap, ascending.
    pairs: Vec<(u32, u32)>,
}

/// A box that was made larger.
#[derive(Clone, Copy)]
struct Fat {
    bounds: Aabb,
    /// By how much on every side, m.
    slack: f64,
}

impl Fat {
    /// That of a box along the axes whose body moves by `way` m in a step.
    fn of(own: &Aabb, way: f64) -> Self {
        let edge = own.size().max_element();
        let slack = (GROWN * edge + AHEAD * way).min(MOST_GROWN * edge);
        Self { bounds: Aabb::new(own.low - slack, own.high + slack), slack }
    }

    fn moved(&self, by: DVec3) -> Self {
        Self { bounds: Aabb::new(self.bounds.low + by, self.bounds.high + by), slack: self.slack }
    }

    /// Whether a box has used up no more than this share of the slack.
    fn holds(&self, own: &Aabb, share: f64) -> bool {
        let rim = (1.0 - share) * self.slack;
        (own.low - rim).cmpge(self.bounds.low).all() && (own.high + rim).cmple(self.bounds.high).all()
    }
}

impl FatPairs {
    /// All near pairs, like [`Asked::pairs`]; `None` if there is no list that holds them.
    pub fn pairs(&mut self, asked: &Asked<'_>) -> Option<Vec<(u32, u32)>> {
        if asked.boxes.len() < FEW {
            *self = Self::default();
            return None;
        }
        let bounds: Vec<Option<Aabb>> =
            asked.boxes.par_iter().with_min_len(FEW).map(|obb| obb.as_ref().map(Obb::aabb)).collect();
        let fat = |(own, obb): (&Option<Aabb>, &Option<Obb>)| Some(Fat::of(own.as_ref()?, obb.as_ref()?.way));
        let now: Vec<Option<Fat>> = bounds.iter().zip(asked.boxes).map(fat).collect();
        let renewed = self.renew(&bounds, &now);
        self.last = now;
        if renewed.is_none() {
            (self.larger, self.pairs) = (Vec::new(), Vec::new());
            return None;
        }
        let is_near = |(i, j): &(u32, u32)| {
            let [Some(a), Some(b)] = [*i, *j].map(|k| bounds[k as usize]) else { return false };
            (asked.moves[*i as usize] || asked.moves[*j as usize]) && a.meets(&b) && asked.meet((*i, *j))
        };
        Some(self.pairs.par_iter().with_min_len(FEW_PAIRS).copied().filter(is_near).collect())
    }

    /// Brings the list up to date: `bounds` are the boxes, `now` what they are when they are made larger. `None` if a
    /// list is not worth it, or would have too many pairs.
    fn renew(&mut self, bounds: &[Option<Aabb>], now: &[Option<Fat>]) -> Option<()> {
        let mut shift = common_shift(bounds, &self.larger);
        let mut left = left(bounds, now, &self.larger, shift);
        let most = bounds.len() / 2;
        if count(&left) > most {
            let moved = common_shift(bounds, &self.last);
            let is_hasty = |(own, last): (&Option<Aabb>, &Option<Fat>)| match (own, last) {
                (Some(own), Some(last)) => !last.moved(moved).holds(own, CALM),
                (own, _) => own.is_some(),
            };
            let hasty = bounds.iter().zip(&self.last).filter(|both| is_hasty(*both)).count();
            if hasty > most || self.last.len() != bounds.len() {
                return None;
            }
            shift = DVec3::ZERO;
            left = bounds.iter().map(Option::is_some).collect();
        }
        // Numbers beyond the last body are gone.
        self.larger.resize(bounds.len(), None);
        self.pairs.retain(|(i, j)| [*i, *j].iter().all(|k| left.get(*k as usize) == Some(&false)));
        if count(&left) == 0 {
            return Some(());
        }
        for ((larger, now), _) in self.larger.iter_mut().zip(now).zip(&left).filter(|(_, left)| **left) {
            *larger = now.map(|now| now.moved(-shift));
        }
        let some = (0u32..).zip(&self.larger).filter_map(|(k, own)| own.map(|own| (k, own.bounds)));
        let all: Vec<(u32, Aabb)> = some.collect();
        let found = tree::meeting_any(&all, &left).ok()?;
        if self.pairs.len() + found.len() > super::MOST_PAIRS {
            return None;
        }
        self.pairs.extend(found);
        // Two ascending runs, which the sort merges.
        self.pairs.sort();
        Some(())
    }
}

fn count(left: &[bool]) -> usize {
    left.iter().filter(|left| **left).count()
}

/// By body: whether it has to get another larger box. Who has no box keeps its larger one.
fn left(bounds: &[Option<Aabb>], now: &[Option<Fat>], larger: &[Option<Fat>], shift: DVec3) -> Vec<bool> {
    let known = larger.iter().copied().chain(std::iter::repeat(None));
    let is_left = |((own, now), larger): ((&Option<Aabb>, &Option<Fat>), Option<Fat>)| match (
        own.as_ref().zip(now.as_ref()),
        larger,
    ) {
        (Some((own, now)), Some(larger)) => {
            !larger.moved(shift).holds(own, 1.0 - EDGE) || larger.slack > TOO_LARGE * now.slack
        }
        (own, _) => own.is_some(),
    };
    bounds.iter().zip(now).zip(known).map(is_left).collect()
}

/// How far most boxes have moved from the larger boxes of their index: along each axis the middle one of all ways. With
/// the mean, a few fast bodies would move sleepers out of their boxes.
fn common_shift(bounds: &[Option<Aabb>], larger: &[Option<Fat>]) -> DVec3 {
    let both = bounds.iter().zip(larger).filter_map(|(own, larger)| own.as_ref().zip(larger.as_ref()));
    let ways: Vec<DVec3> = both.map(|(own, larger)| own.middle() - larger.bounds.middle()).collect();
    if ways.is_empty() {
        return DVec3::ZERO;
    }
    let mut along: Vec<f64> = Vec::with_capacity(ways.len());
    DVec3::from([0, 1, 2].map(|axis| {
        along.clear();
        along.extend(ways.iter().map(|way| way[axis]));
        *along.select_nth_unstable_by(ways.len() / 2, f64::total_cmp).1
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad_phase::Motion;
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
            for fat in kept.larger.iter_mut().flatten() {
                fat.bounds = Aabb::new(fat.bounds.low - farther, fat.bounds.high + farther);
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

    /// Most bodies sleep, some drift, a few dash about; some fall asleep and wake, are added and removed.
    #[test]
    fn a_list_that_lives_on_has_the_pairs_of_one_made_anew_in_their_order() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(17);
        let mut any = move |low: f64, high: f64| rng.random_range(low..high);
        let mut bodies: Vec<(Obb, DVec3, bool)> = Vec::new();
        let (mut kept, mut served, mut renewed, mut all_pairs) = (FatPairs::default(), 0, 0, 0);
        for step in 0..120 {
            let wanted = if step == 0 { 400 } else { bodies.len() + usize::from(step % 15 == 14) * 3 };
            while bodies.len() < wanted {
                let mut v = |size: f64| DVec3::new(any(-size, size), any(-size, size), any(-size, size));
                let (centre, turn, half) = (v(2.0), v(2.0), 0.1 + 0.1 * v(1.0).abs());
                let axes = DMat3::from_quat(DQuat::from_scaled_axis(turn));
                let way = v(1.0);
                let fastest: f64 = [0.2, 0.004, 0.0, 0.0, 0.0][bodies.len() % 5];
                let drift = way * fastest.min(any(0.0, 0.2));
                bodies.push((Obb { centre, axes, half, way: drift.length() }, drift, drift != DVec3::ZERO));
            }
            if step % 40 == 39 {
                bodies.remove(bodies.len() / 3);
            }
            for (k, (own, drift, moves)) in bodies.iter_mut().enumerate() {
                if (k + step) % 150 == 0 {
                    (*moves, own.way) = (!*moves, if *moves { 0.0 } else { drift.length() });
                }
                if *moves {
                    own.centre += *drift;
                    // Who comes to the edge of the heap turns round.
                    if own.centre.length() > 3.0 {
                        *drift = -own.centre.normalize_or_zero() * drift.length();
                    }
                }
            }
            let boxes: Vec<Option<Obb>> =
                bodies.iter().enumerate().map(|(k, (own, ..))| (k % 50 != 7).then_some(*own)).collect();
            let moves: Vec<bool> = bodies.iter().map(|(.., moves)| *moves).collect();
            let motions: Vec<Motion> = bodies
                .iter()
                .map(|(own, ..)| Motion { velocity: DVec3::ZERO, spin: own.way * 50.0 })
                .collect();
            let asked = Asked { boxes: &boxes, moves: &moves, motions: &motions, dt: 0.01 };
            let before: Vec<Option<Aabb>> = kept.larger.iter().map(|fat| fat.map(|fat| fat.bounds)).collect();
            let found = kept.pairs(&asked);
            let anew = asked.pairs().expect("few");
            all_pairs += anew.len();
            if let Some(found) = found {
                served += 1;
                assert_eq!(found, anew, "step {step}");
                let after = kept.larger.iter().map(|fat| fat.map(|fat| fat.bounds));
                renewed += after.zip(&before).filter(|(now, then)| now != *then).count();
            }
        }
        println!("served {served} of 120 times, {renewed} larger boxes made, {all_pairs} pairs");
        assert!(all_pairs > 120 * 100 && served > 100, "{served}");
        // A fifth of the bodies dash about: with a list that is made anew as a whole nothing would stay.
        assert!(renewed < served * bodies.len() / 4, "{renewed}");
    }

    /// What sleeps is asked for no pairs, whatever falls beside it.
    #[test]
    fn sleepers_keep_their_larger_boxes_while_others_fall() {
        let obb = |k: usize, y: f64| Obb {
            centre: DVec3::new(0.3 * (k % 20) as f64, 0.3 * (k / 20) as f64 + y, 0.0),
            axes: DMat3::IDENTITY,
            half: DVec3::splat(0.16),
            way: 0.0,
        };
        let mut kept = FatPairs::default();
        let moves: Vec<bool> = (0..300).map(|k| k >= 200).collect();
        let motions = vec![Motion::default(); 300];
        let mut first = Vec::new();
        for step in 0..50 {
            let down = 1.0 - 0.05 * f64::from(step);
            let boxes: Vec<_> = (0..300).map(|k| Some(obb(k, if k < 200 { 0.0 } else { down }))).collect();
            let asked = Asked { boxes: &boxes, moves: &moves, motions: &motions, dt: 0.01 };
            let found = kept.pairs(&asked);
            assert!(found.is_none_or(|found| Ok(found) == asked.pairs()));
            let sleepers: Vec<Aabb> = kept.larger.iter().take(200).flatten().map(|fat| fat.bounds).collect();
            match step {
                0 => assert!(sleepers.is_empty(), "nobody knows yet that anything is calm"),
                1 => first = sleepers,
                _ => assert!(first.len() == 200 && sleepers == first, "step {step}"),
            }
        }
    }
}
