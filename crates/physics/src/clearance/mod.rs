//! Near pairs that a plane separates.
//!
//! In: pairs whose boxes may overlap. Out: those whose convex outlines may. After a break most overlapping boxes belong
//! to pieces that do not touch: of 385 that fall and collide, a box overlaps some thirty others, a piece three or four.
//!
//! `distance.rs` makes the outline of a shape and bounds the distance of two. Both bounds are cached, and no
//! distance is computed again before the two bodies may have moved beyond them.

mod distance;

use super::{
    Body, BodyId,
    broad_phase::{Motion, NearPair},
    collide::{InOrder, RelativePose},
};
use distance::{Gap, Outline, Outlines, Relative, Travel, gap};
use glam::DVec3;
use rayon::prelude::*;
use std::sync::Arc;

/// For fewer pairs the outlines cost more than they save.
const FEW_PAIRS: usize = 16;
/// Fewer are not worth a second thread.
const MANY: usize = 256;

/// Cached distance of a pair.
#[derive(Clone, Copy, Debug)]
struct Known {
    bodies: [BodyId; 2],
    /// Lower and upper bound of their distance, m, when both bodies had moved by `travel` in sum, m.
    least: f64,
    /// See `least`.
    most: f64,
    /// See `least`.
    travel: f64,
    /// How they lay when they were measured.
    pose: RelativePose,
    /// The distance found then.
    gap: Gap,
}

/// Cached distances of near pairs.
#[derive(Default)]
pub struct Clearances {
    outlines: Outlines,
    travel: Travel,
    /// Ascending.
    known: Vec<Known>,
}

impl Clearances {
    /// Those of the pairs (ascending) whose outlines may come within the sum of their `reach`es, m, in the coming `dt`.
    /// Which they are follows from how the bodies lie and move alone.
    pub fn narrow(&mut self, bodies: &[Body], near: Vec<NearPair>, reach: &[f64], dt: f64) -> Vec<NearPair> {
        if near.len() < FEW_PAIRS {
            return near;
        }
        let outline = |body: &Body| Arc::new(Outline::of(&body.def.shape));
        self.outlines.prepare(bodies, near.iter().flat_map(|pair| pair.bodies), outline);
        self.travel.follow(bodies);
        self.line_up(bodies, &near);
        let motions: Vec<Motion> = bodies.iter().map(Motion::of).collect();
        let (outlines, travel) = (&self.outlines, &self.travel);
        let stays = |(pair, known): (&NearPair, &mut Known)| {
            let [i, j] = pair.bodies;
            let enough = reach[i] + reach[j] + motions[i].closer(&motions[j], dt);
            !is_apart(known, (bodies, [i, j]), travel.of([i, j]), enough, outlines)
        };
        let stays: Vec<bool> = near.par_iter().zip(&mut self.known).with_min_len(MANY).map(stays).collect();
        near.into_iter().zip(stays).filter(|(_, stays)| *stays).map(|(pair, _)| pair).collect()
    }

    /// Makes the list of what is known one of these pairs.
    fn line_up(&mut self, bodies: &[Body], near: &[NearPair]) {
        let ids: Vec<BodyId> = bodies.iter().map(|body| body.id).collect();
        let names = |pair: &NearPair| pair.bodies.map(|k| ids[k]);
        // Within a step the pairs are most often the same.
        if self.known.len() == near.len()
            && self.known.iter().zip(near).all(|(known, pair)| known.bodies == names(pair))
        {
            return;
        }
        let mut known_of = InOrder::new(&self.known, |known| known.bodies);
        let known = near.iter().map(|pair| {
            let bodies = names(pair);
            known_of.find(&bodies).map_or(Known { bodies, ..Known::NOTHING }, |at| self.known[at])
        });
        self.known = known.collect();
    }

    /// Drops bodies that are not among `bodies` (by ascending id), which may come back with another shape, and shapes
    /// that no body has.
    pub fn keep(&mut self, left: &[Body]) {
        let is_left = |id: &BodyId| left.binary_search_by_key(id, |body| body.id).is_ok();
        self.known.retain(|known| known.bodies.iter().all(is_left));
        self.outlines.keep(left);
    }
}

impl Known {
    const NOTHING: Self = Self {
        bodies: [BodyId(0); 2],
        least: f64::MIN,
        most: f64::MAX,
        travel: 0.0,
        pose: RelativePose::SAME,
        gap: Gap { least: f64::MIN, most: f64::MAX, direction: DVec3::ZERO },
    };
}

/// Whether two bodies are farther apart than `enough`, m; `travel` is the sum of the distances they have moved.
fn is_apart(
    known: &mut Known,
    (bodies, pair): (&[Body], [usize; 2]),
    travel: f64,
    enough: f64,
    outlines: &Outlines,
) -> bool {
    let says = |known: &Known, travelled: f64| match known {
        Known { least, .. } if least - travelled > enough => Some(true),
        Known { most, .. } if most + travelled <= enough => Some(false),
        _ => None,
    };
    // The sum of both motions is an upper bound of their relative motion.
    if let Some(apart) = says(known, travel - known.travel) {
        return apart;
    }
    let [a, b] = pair.map(|k| &bodies[k]);
    let pose = RelativePose::new(a, Some(b));
    let travelled = pose.way(&known.pose, a.def.radius().min(b.def.radius()));
    let now =
        Known { travel, least: known.gap.least - travelled, most: known.gap.most + travelled, ..*known };
    if let Some(apart) = says(&now, 0.0) {
        *known = now;
        return apart;
    }
    let [Some(first), Some(second)] = pair.map(|k| outlines.at(k)) else { return false };
    let lie = Relative::new([a, b].map(|body| (body.state.position, body.state.rotation)));
    let gap = gap([first, second], &lie, known.gap.direction, enough);
    *known = Known { bodies: known.bodies, least: gap.least, most: gap.most, travel, pose, gap };
    gap.least > enough
}

#[cfg(test)]
mod tests;
