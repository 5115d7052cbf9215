//! The time at which two fast bodies touch within a step.
//!
//! In: two bodies that may approach each other in the step by more than the size of the smaller one. Out: the time at
//! which they touch. The step is halved, and the halves again, as long as the bodies may touch within them, which is
//! tested at the middle of each. In the first short interval that remains both are advanced by no more than it takes to
//! close the gap between them (conservative advancement; Mirtich 1996), where the gap is that of the nearest point of
//! either body. So a fast body hits a thin wall, and from the side from which it comes.
//!
//! # The leaves of an octree round a contact, for finding where two smooth surfaces touch
//!
//! In: a body and a place on its surface. Out: the points of the leaves' planes round it, to which `collide/smooth.rs`
//! fits a quadric. Two balls seldom touch at a point of a sphere tree: a contact at such a point has a normal that is
//! off by some degrees and makes them spin.

use glam::DVec3;

use super::{
    distance::{Fragment, LeafPlane, OctreeSolid},
    meeting::Pair,
    spheres::{Beyond, Placement, Scratch, Selection},
};
use crate::bodies::{Body, BodyState, broad_phase, collide::SmoothSide, integrate::turned_by};

/// Largest number of advances in a step; two bodies count as touching then.
const MOST_MOVES: usize = 24;
/// Two bodies count as touching within this, shares of the margin.
const MET: f64 = 0.5;
/// Time is halved until the bodies come no closer in it than this, shares of the margin.
const SHORT: f64 = 4.0;

/// Result of the search for the time of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeOfImpact {
    /// They touch as they lie.
    Touches,
    /// They touch after `time` s, at a distance of `gap` m.
    Meets { time: f64, gap: f64 },
    /// Not within the step.
    Passes,
}

/// The body at its pose after `time` s if nothing stops it.
#[must_use]
pub fn after(body: &Body, time: f64) -> Body {
    let state = body.state;
    let rotation = (turned_by(state.angular_velocity * time) * state.rotation).normalize();
    let position = state.position + state.linear_velocity * time;
    let mut later = body.clone();
    later.state = BodyState { position, rotation, ..state };
    later
}

/// When the bodies of a pair touch within `dt` s, to `margin` m.
#[must_use]
pub fn time_of_impact(pair: &Pair<'_>, margin: f64, dt: f64, scratch: &mut Scratch) -> TimeOfImpact {
    let [a, b] = pair.bodies;
    // Most of what is near touches, which any point says.
    if (0..2).any(|own| pair.nearest_of(own, [a, b], (margin, Beyond::Nothing), None, scratch).is_some()) {
        return TimeOfImpact::Touches;
    }
    let speed = broad_phase::closer(a, b, dt) / dt;
    let mut ahead = Ahead { pair, margin, speed, known: [None; 2], moves: 0, scratch };
    ahead.meets(0.0, dt).map_or(TimeOfImpact::Passes, |(time, gap)| TimeOfImpact::Meets { time, gap })
}

/// How two bodies are followed ahead.
struct Ahead<'a, 'b> {
    pair: &'a Pair<'b>,
    margin: f64,
    /// Points of the one come closer to the other by no more than this, m/s.
    speed: f64,
    /// The nearest points of either body at the last test: with them the next query finds little else.
    known: [Option<u32>; 2],
    /// How often they were moved on.
    moves: usize,
    scratch: &'a mut Scratch,
}

impl Ahead<'_, '_> {
    fn then(&self, time: f64) -> [Body; 2] {
        self.pair.bodies.map(|body| after(body, time))
    }

    /// The time between `from` and `to` s at which they touch, and their distance then, m.
    ///
    /// At the middle of the interval the distance to anything touched in it is half as large: most bodies that pass
    /// each other are not that near, and those that touch do so in one of the halves.
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

    /// Like [`Self::meets`], by conservative advancement.
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
    /// Distance of the surfaces at the poses `then`, m (negative: depth), if within `reach`. `known` are the nearest
    /// points of the last call, of either body.
    fn gap(
        &self,
        then: [&Body; 2],
        reach: f64,
        (known, scratch): (&mut [Option<u32>; 2], &mut Scratch),
    ) -> Option<f64> {
        let mut least = None;
        for own in 0..2 {
            // Points farther away than the other body's nearest do not matter.
            let reach = least.map_or(reach, |gap: f64| gap.clamp(0.0, reach));
            let nearest = self.nearest_of(own, then, (reach, Beyond::Deepest), known[own], scratch);
            if let Some((gap, point)) = nearest {
                known[own] = Some(point);
                least = Some(least.map_or(gap, |known: f64| known.min(gap)));
            }
        }
        least
    }

    /// Among the points of a body within `reach` m of the other: the distance of the nearest, m (negative: depth), and
    /// its index; or of the first that is found.
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

/// A patch has the leaves within this number of cells of the body's collision level, and no farther than this number of
/// voxels.
const PATCH_CELLS: f64 = 4.0;
const PATCH_VOXELS: f64 = 6.0;
/// A surface whose normals agree so well is flat.
const FLAT: f64 = 0.9995;
/// Leaves belong to one surface if the cosine of their normals is at least the first; to another sheet if it is at most
/// its negative; else to an edge.
const ONE_SURFACE: f64 = 0.6;
/// Fewer leaves are no patch.
const FEWEST: usize = 12;

/// One side of a contact.
pub struct LeafSide<'a> {
    body: &'a Body,
    solid: &'a OctreeSolid,
    /// Radius of a patch, voxels.
    reach: f64,
}

/// A place on a surface, local space.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    point: DVec3,
    outward: DVec3,
}

impl<'a> LeafSide<'a> {
    /// The patches of a body. `None` if it has no octree.
    pub fn new(body: &'a Body, fragment: &Fragment<'a>) -> Option<Self> {
        let reach = PATCH_CELLS * body.def.resolution_m() / body.def.shape.unit_m();
        Some(Self { body, solid: fragment.octree()?, reach: reach.min(PATCH_VOXELS) })
    }

    /// The place of the surface nearest to `point`, within `reach` m of it, that faces along `outward`; world.
    #[must_use]
    pub fn place(&self, point: DVec3, outward: DVec3, reach: f64) -> Option<Place> {
        let state = &self.body.state;
        let shape = &self.body.def.shape;
        let local = shape.to_local(state.position, state.rotation, point);
        self.foot(local, state.rotation.inverse() * outward, reach / shape.unit_m())
    }

    fn foot(&self, local: DVec3, outward: DVec3, within: f64) -> Option<Place> {
        let foot = self.solid.nearest(local, within)?;
        let faces = foot.normal.dot(outward) > ONE_SURFACE;
        faces.then_some(Place { point: foot.point, outward: foot.normal })
    }

    /// Calls `visit` with the point of the surface in each voxel round a place, and its plane, until that says no.
    fn all_leaves(&self, at: Place, mut visit: impl FnMut(DVec3, LeafPlane) -> bool) -> bool {
        let mut all = true;
        self.solid.planes_near(at.point, self.reach, &mut |middle, plane| {
            let opposed = plane.normal.dot(at.outward) < -ONE_SURFACE;
            all = all && (opposed || visit(middle + plane.normal * plane.offset, plane));
        });
        all
    }
}

impl SmoothSide for LeafSide<'_> {
    type At = Place;

    fn body(&self) -> &Body {
        self.body
    }

    fn is_flat(&self, at: Place) -> bool {
        self.all_leaves(at, |_, plane| plane.normal.dot(at.outward) > FLAT)
    }

    fn beside(&self, at: Place, place: DVec3) -> Option<Place> {
        let state = &self.body.state;
        let local = self.body.def.shape.to_local(state.position, state.rotation, place);
        self.foot(local, at.outward, self.reach)
    }

    fn patch(&self, at: Place) -> Option<Vec<DVec3>> {
        let state = &self.body.state;
        let mut samples = Vec::new();
        let smooth = self.all_leaves(at, |sample, plane| {
            samples.push(self.body.def.shape.to_world(state.position, state.rotation, sample));
            plane.normal.dot(at.outward) > ONE_SURFACE
        });
        (smooth && samples.len() >= FEWEST).then_some(samples)
    }
}
