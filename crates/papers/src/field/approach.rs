//! How near two bodies may come to each other in a step, and which of their points may touch.
//!
//! In: two bodies that are near, with their hulls. Out: how much closer their surfaces may come, and half-spaces over
//! which no point of either can reach the other. Pieces of a break mostly fly apart: hardly any of their points is
//! searched then, however fast they are.

use super::{
    parts::{OVER_HULL_VOXELS, Part},
    spheres::HalfSpace,
};
use crate::bodies::{
    Body,
    broad_phase::{self, Motion},
    collide::convex::apart,
};
use glam::DVec3;

/// How two bodies come closer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// No point of either comes closer to the other's surface by more than this, m.
    pub closer: f64,
    /// Half-space per body (world) that holds all its points that may come within the margin of the other. `None`: no
    /// restriction.
    pub reaching: [Option<HalfSpace>; 2],
}

impl Approach {
    /// The approach of two bodies in `dt` s; they touch within `margin` m.
    ///
    /// Along the axis along which their hulls are farthest apart, or overlap least, only the motion along it counts. If
    /// a plane separates them, or nearly, that is how much closer they may come; if they overlap by more, only points
    /// in or near the overlap may come closer in any other direction.
    #[must_use]
    pub fn new([a, b]: [&Body; 2], parts: [&Part; 2], margin: f64, dt: f64) -> Self {
        let any_way = broad_phase::closer(a, b, dt);
        if any_way <= margin {
            return Self { closer: any_way, reaching: [None; 2] };
        }
        let [of_a, of_b] = parts.map(|part| &part.solid);
        let (apart, way) = apart([&of_a.0, &of_b.0], [a, b], margin);
        let across = (b.state.linear_velocity - a.state.linear_velocity).dot(way).max(0.0);
        let across = any_way.min((across + Motion::of(a).spin + Motion::of(b).spin) * dt);
        if apart - of_a.1 - of_b.1 >= -margin {
            return Self { closer: across, reaching: [None; 2] };
        }
        let near = across + margin;
        let reaching = [over(b, parts[1], way, near), over(a, parts[0], -way, near)].map(Some);
        Self { closer: any_way, reaching }
    }
}

/// The half-space of the points of a body that lie outside along `way` by no more than `near` m.
fn over(body: &Body, part: &Part, way: DVec3, near: f64) -> HalfSpace {
    let (solid, beyond) = &part.solid;
    let state = &body.state;
    let reach = solid.lined_up.reach(state.rotation.inverse() * way) + way.dot(state.position);
    let over_hull = match body.def.shape.as_octree() {
        Some(_) => OVER_HULL_VOXELS * body.def.shape.unit_m(),
        None => 0.0,
    };
    HalfSpace { normal: way, offset: reach + beyond + over_hull + near }
}
