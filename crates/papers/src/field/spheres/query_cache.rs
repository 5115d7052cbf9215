//! Data that a query leaves for the next query of the same two bodies.
//!
//! In: the points that are no contacts, with an upper bound of the depth of each, and the bodies' later poses. Out: the
//! same bounds there: a depth grows by no more than the body has moved, except for steps in the surface
//! ([`Interior::step`]). So the next query tests only points that may have become deep enough since, however much of a
//! crack is near. Points are visited in the same order with and without this data, so that contacts do not depend on
//! it, and it need not be part of snapshots.

use glam::DMat4;

use super::{
    forest::SphereForest,
    interior::Interior,
    query::{NodePart, Open, Passes, UNKNOWN},
    selection::{Placement, Selection},
};

/// After a motion of this number of slacks everything is tested again: bounds are wide then.
const MOST_SLACKS: f64 = 8.0;

/// How far bounds reach, local units of the other body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheBounds {
    /// Distance beyond the query's own within which bounds are kept.
    pub slack: f64,
    /// Points farther away than this have no bound but this distance.
    pub farthest: f64,
    /// The motion so far, as counted by [`QueryCache`].
    pub way: f64,
}

/// A bound.
#[derive(Clone, Copy, Debug)]
struct Entry {
    node: u32,
    part: NodePart,
    /// Upper bound of the depth, less the motion at that time, local units of the other.
    most: f32,
    /// The upper bound after a motion by which the point may have passed a step, and that motion.
    passes: [f32; 2],
}

/// Data of two bodies, of the points of the first in the second.
#[derive(Clone, Debug, Default)]
pub struct QueryCache {
    entries: Vec<Entry>,
    /// Upper bound of the motion of any point of the first in the second since the last full test, local units of the
    /// other.
    way: f64,
    farthest: f64,
    at: Option<DMat4>,
}

impl QueryCache {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bodies lie so now.
    pub(super) fn moved<I: Interior + ?Sized>(
        &mut self,
        forest: &SphereForest,
        other: &I,
        placement: &Placement,
        selection: &Selection,
    ) -> CacheBounds {
        let now = placement.matrix();
        let most = MOST_SLACKS * selection.slack;
        let way = self.at.map(|then| self.way + way(forest, other, (then, now), self.farthest));
        self.at = Some(now);
        match way.filter(|way| *way < most && selection.tolerance <= self.farthest) {
            Some(way) => self.way = way,
            None => {
                self.entries.clear();
                (self.way, self.farthest) = (0.0, selection.tolerance + most);
            }
        }
        CacheBounds { slack: selection.slack, farthest: self.farthest, way: self.way }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Open> {
        self.entries.iter().map(|&Entry { node, part, most, passes: [later, way] }| {
            let (most, later, way) =
                (f64::from(most) + self.way, f64::from(later) + self.way, f64::from(way));
            let (most, passes) = match self.way < way {
                true => (most, Passes { way, most: later }),
                false => (most.max(later), Passes::NEVER),
            };
            Open { node, part, depth: UNKNOWN, most, passes }
        })
    }

    pub(super) fn replace(&mut self, left: &[Open]) {
        self.entries.clear();
        let (farthest, way) = (self.farthest, self.way);
        // Depths are rounded up, motions down.
        let less_way = |most: f64| ((most - way) as f32).next_up();
        self.entries.extend(left.iter().map(|open| Entry {
            node: open.node,
            part: open.part,
            most: less_way(open.most.max(-farthest)),
            passes: [less_way(open.passes.most), (open.passes.way as f32).next_down()],
        }));
    }
}

/// How far points of the forest have moved in the other body at most, where they are no farther from it now than
/// `farthest`. For points farther away the bound is only that they do not get nearer than that by this motion.
fn way<I: Interior + ?Sized>(
    forest: &SphereForest,
    other: &I,
    (then, now): (DMat4, DMat4),
    farthest: f64,
) -> f64 {
    // A difference of rotations lengthens no vector by more than this.
    let turned = |m: DMat4| {
        let squares = m.x_axis.truncate().length_squared()
            + m.y_axis.truncate().length_squared()
            + m.z_axis.truncate().length_squared();
        (0.5 * squares).sqrt() * (1.0 + 1e-9)
    };
    let (centre, radius) = forest.bound;
    let moved = now - then;
    let own = moved.transform_point3(centre).length() + turned(moved) * radius;
    let Some((centre, radius)) = other.ball() else { return own };
    let back = DMat4::IDENTITY - then * now.inverse();
    let others = back.transform_point3(centre).length() + turned(back) * (radius + farthest);
    own.min(others)
}
