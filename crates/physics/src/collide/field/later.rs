//! When two fast bodies meet within a step.
//!
//! In: two bodies that may come closer in the step than the smaller one is large. Out: the time at which they touch.
//! The step is halved, and the halves again, as long as the bodies may touch within them, which is asked in the middle of
//! each. In the first short time that is left both are moved on by no more than it takes to close the gap between them
//! (conservative advancement; Mirtich 1996), where the gap is what the nearest point of either says. So what is fast meets
//! a thin wall, and from the side from which it comes.

use super::{
    meeting::Pair,
    spheres::{Beyond, Placement, Scratch, Selection},
};
use crate::{Body, BodyState, broad_phase, turning::turned_by};

/// How often two bodies are moved on in a step, at most; they count as met then.
const MOST_MOVES: usize = 24;
/// Two bodies have met within this, shares of the margin.
const MET: f64 = 0.5;
/// Time is halved until the bodies come no closer in it than this, shares of the margin.
const SHORT: f64 = 4.0;

/// When two bodies meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Later {
    /// They touch as they lie.
    Touches,
    /// After `time` s; they are `gap` m apart then.
    Meets { time: f64, gap: f64 },
    /// Not within the step.
    Passes,
}

/// A body as it will lie after `time` s if nothing stops it.
#[must_use]
pub fn after(body: &Body, time: f64) -> Body {
    let state = body.state;
    let rotation = (turned_by(state.angular_velocity * time) * state.rotation).normalize();
    let position = state.position + state.linear_velocity * time;
    Body { state: BodyState { position, rotation, ..state }, ..body.clone() }
}

/// When the bodies of a pair meet within `dt` s; within `margin` m they touch.
#[must_use]
pub fn later(pair: &Pair<'_>, margin: f64, dt: f64, scratch: &mut Scratch) -> Later {
    let [a, b] = pair.bodies;
    // Most of what is near touches, which any point says.
    if (0..2).any(|own| pair.nearest_of(own, [a, b], (margin, Beyond::Nothing), None, scratch).is_some()) {
        return Later::Touches;
    }
    let speed = broad_phase::closer(a, b, dt) / dt;
    let mut ahead = Ahead { pair, margin, speed, known: [None; 2], moves: 0, scratch };
    ahead.meets(0.0, dt).map_or(Later::Passes, |(time, gap)| Later::Meets { time, gap })
}

/// How two bodies are followed ahead.
struct Ahead<'a, 'b> {
    pair: &'a Pair<'b>,
    margin: f64,
    /// Points of the one come closer to the other by no more than this, m/s.
    speed: f64,
    /// The points of either body that were near last: asked first, they leave little to be looked for.
    known: [Option<u32>; 2],
    /// How often they were moved on.
    moves: usize,
    scratch: &'a mut Scratch,
}

impl Ahead<'_, '_> {
    fn then(&self, time: f64) -> [Body; 2] {
        self.pair.bodies.map(|body| after(body, time))
    }

    /// When they meet from `from` to `to` s, and how far apart they are then, m.
    ///
    /// From the middle of that time it is half as far to whatever they touch in it: most bodies that pass each other are
    /// nowhere so near, and those that meet do so in one of the halves.
    fn meets(&mut self, from: f64, to: f64) -> Option<(f64, f64)> {
        let way = self.speed * (to - from);
        let middle = from.midpoint(to);
        if !self.comes_within(middle, 0.5 * way + self.margin) {
            return None;
        }
        if way <= SHORT * self.margin {
            return self.advance(from, to);
        }
        self.meets(from, middle).or_else(|| self.meets(middle, to))
    }

    /// Whether they are within `reach` m at a time.
    fn comes_within(&mut self, time: f64, reach: f64) -> bool {
        let then = self.then(time);
        (0..2).any(|own| {
            let asked = (reach, Beyond::Nothing);
            let near = self.pair.nearest_of(own, [&then[0], &then[1]], asked, self.known[own], self.scratch);
            near.inspect(|(_, point)| self.known[own] = Some(*point)).is_some()
        })
    }

    /// The same as [`Self::meets`]: they are moved on by what they are apart.
    fn advance(&mut self, from: f64, to: f64) -> Option<(f64, f64)> {
        let (mut time, met) = (from, MET * self.margin);
        loop {
            let then = self.then(time);
            let left = self.speed * (to - time) + self.margin;
            let gap = self.pair.gap([&then[0], &then[1]], left, (&mut self.known, self.scratch))?;
            self.moves += 1;
            if gap <= met || self.moves >= MOST_MOVES {
                return Some((time, gap));
            }
            time += (gap - 0.5 * met) / self.speed;
            if time > to {
                return None;
            }
        }
    }
}

impl Pair<'_> {
    /// How far apart the surfaces are where the bodies lie as `then`, m (negative: how deep), if within `reach`. `known` are
    /// the points that were nearest, of either body.
    fn gap(
        &self,
        then: [&Body; 2],
        reach: f64,
        (known, scratch): (&mut [Option<u32>; 2], &mut Scratch),
    ) -> Option<f64> {
        let mut least = None;
        for own in 0..2 {
            // What is farther than a point of the other makes no difference.
            let reach = least.map_or(reach, |gap: f64| gap.clamp(0.0, reach));
            let nearest = self.nearest_of(own, then, (reach, Beyond::Deepest), known[own], scratch);
            if let Some((gap, point)) = nearest {
                known[own] = Some(point);
                least = Some(least.map_or(gap, |known: f64| known.min(gap)));
            }
        }
        least
    }

    /// Of the points of a body that lie within `reach` m of the other one, how far the nearest is from it, m (negative: how
    /// deep), and which that is; or of the first that is found.
    fn nearest_of(
        &self,
        own: usize,
        then: [&Body; 2],
        (reach, beyond): (f64, Beyond),
        known: Option<u32>,
        scratch: &mut Scratch,
    ) -> Option<(f64, u32)> {
        let other = 1 - own;
        let fragment = self.parts[other].fragment()?;
        let [from_own, from_other] = [own, other].map(|k| then[k].def.world_from_grid(&then[k].state));
        let unit = then[other].def.shape.unit_m();
        let tolerance = reach / unit;
        let selection = Selection { enough: Some(1), tolerance, beyond, quick: true, ..Selection::all() };
        let placement = Placement::new(from_other.inverse() * from_own);
        self.parts[own].forest.query_again(&fragment, &placement, &selection, known.as_slice(), scratch);
        let gaps = scratch.contacts().iter().map(|contact| (-contact.depth * unit, contact.point));
        gaps.min_by(|a, b| a.0.total_cmp(&b.0))
    }
}
