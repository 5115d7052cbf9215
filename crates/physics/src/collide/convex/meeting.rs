//! Contact of two hulls, now or later in the step.
//!
//! In: two bodies with their hulls, and what is cached of the pair. Out: their manifold and its record. Hulls that are
//! near get contacts at their present poses. Hulls that are farther apart but may touch within the step are advanced by
//! no more than it takes to close the gap along the axis (conservative advancement; Mirtich 1996), and get contacts at
//! the advanced poses: so a fast body hits a thin wall, and no body hits the plane of a face beside the face.

use super::{
    Known,
    axes::{Axis, Pair, Relative},
    clip::{Few, Touch, touches, turned_corners},
    solid::Solid,
};
use crate::{
    Body, broad_phase,
    collide::{
        FoundAs, MARGIN_CELLS, Manifold, Point, RelativePose, inherit, moved, pairwise::Record, reduce,
    },
    integrate::turned_by,
};
use glam::{DQuat, DVec3};

/// An axis must be better by this share of the resolution to replace the last one.
const LOYALTY_CELLS: f64 = 0.02;
/// A corner beside the face is added if all points over the face are farther by this, shares of the margin.
const BESIDE: f64 = 0.1;
/// Largest number of advances in a step; two hulls count as touching then.
const MOST_MOVES: usize = 16;
/// A body that approaches by more than this share of its radius in a step is fast.
const FAST: f64 = 0.2;
/// Two hulls count as touching within this, shares of the margin.
const MET: f64 = 0.25;

/// Size of a body's collision cells, m.
#[must_use]
pub fn resolution(body: &Body) -> f64 {
    body.def.resolution_m()
}

/// Distance within which a body of this resolution has contacts, m.
#[must_use]
pub fn margin(resolution_m: f64) -> f64 {
    MARGIN_CELLS * resolution_m
}

/// Two bodies that may touch.
pub struct Meeting<'a> {
    /// The bodies.
    pub bodies: [&'a Body; 2],
    /// Their hulls.
    pub solids: [&'a Solid; 2],
    /// Cached data of the pair.
    pub record: Option<&'a Known>,
    /// Their manifold of the last search.
    pub old: Option<&'a Manifold>,
    /// How long the contacts have to stay valid, s.
    pub dt: f64,
}

impl Meeting<'_> {
    /// Size of the finer body's collision cells, m.
    #[must_use]
    pub fn resolution(&self) -> f64 {
        let [a, b] = self.bodies.map(resolution);
        a.min(b)
    }

    /// The manifold, if they touch or may touch within the step; and the new cached data.
    #[must_use]
    pub fn found(&self) -> (Option<Manifold>, Record<Known>) {
        let [a, b] = self.bodies;
        let cell = self.resolution();
        let pose = RelativePose::new(a, Some(b));
        let now = self.pair(0.0);
        let axis = self.now(&now, cell);
        let forgiven = self.forgiven(axis.separation);
        let apart = axis.separation + forgiven;
        let met = if apart < margin(cell) { Some((now, axis)) } else { self.later(apart, axis, cell) };
        let on_b = |axis: &Axis, pair: &Pair<'_>| pair.relative.rotation.inverse() * axis.normal;
        let Some((pair, axis)) = met else {
            let start = self.pair(0.0);
            let known = Known { axis: Some((on_b(&axis, &start), axis.feature)), forgiven };
            let clear_m = Some(apart - margin(cell));
            return (None, Record { pose, touches: 0, clear_m, known });
        };
        let normal = on_b(&axis, &pair);
        let (manifold, touches) = self.manifold(&pair, &axis, forgiven, cell);
        let known = Known { axis: Some((normal, axis.feature)), forgiven };
        (Some(manifold), Record { pose, touches, clear_m: None, known })
    }

    /// Both hulls as they will lie after `time` s.
    fn pair(&self, time: f64) -> Pair<'_> {
        let at = |body: &Body| -> (DVec3, DQuat) {
            let state = &body.state;
            if time == 0.0 {
                return (state.position, state.rotation);
            }
            let turned = turned_by(state.angular_velocity * time) * state.rotation;
            (state.position + state.linear_velocity * time, turned.normalize())
        };
        Pair::new(self.solids, Relative::new(at(self.bodies[0]), at(self.bodies[1])))
    }

    /// The axis at their present poses; the cached separating axis is tested first.
    fn now(&self, pair: &Pair<'_>, cell: f64) -> Axis {
        let enough = margin(cell) + broad_phase::closer(self.bodies[0], self.bodies[1], self.dt);
        let known = self.record.and_then(|record| record.axis);
        if let Some((normal, feature)) = known {
            let normal = pair.relative.rotation * normal;
            let separation = pair.along(normal);
            if separation > enough {
                return Axis { normal, separation, feature };
            }
        }
        // Allowed overlap is measured along the very best axis; otherwise it would jump when another is taken.
        let forgives = self.are_siblings() && self.record.is_none_or(|record| record.forgiven > 0.0);
        let loyalty = if forgives { 0.0 } else { LOYALTY_CELLS * cell };
        pair.axis(enough, known.map(|(_, feature)| feature), loyalty)
    }

    /// Whether both are pieces of one object.
    fn are_siblings(&self) -> bool {
        let [a, b] = self.bodies.map(|body| body.def.family);
        a == b
    }

    /// Allowed overlap of pieces of one object: the overlap that their hulls had when they were made, and later the
    /// smallest overlap since. So no piece is pushed out of the place where it was made, however deep, and pieces that
    /// have come apart do not sink in again.
    fn forgiven(&self, separation: f64) -> f64 {
        let overlap = (-separation).max(0.0);
        let [a, b] = self.bodies;
        if overlap == 0.0 || !self.are_siblings() {
            return 0.0;
        }
        let at_most = match self.record {
            Some(record) => record.forgiven,
            None => {
                let [a, b] = [a, b].map(|body| body.def.shape.mass().centre);
                let made = Relative { rotation: DQuat::IDENTITY, position: b - a };
                (-Pair::new(self.solids, made).axis(0.0, None, 0.0).separation).max(0.0)
            }
        };
        at_most.min(overlap)
    }

    /// Their contact later in the step, if there is one; they are `apart` along `axis` now.
    fn later(&self, apart: f64, axis: Axis, cell: f64) -> Option<(Pair<'_>, Axis)> {
        let [a, b] = self.bodies;
        let (state_a, state_b) = (&a.state, &b.state);
        let spin = state_a.angular_velocity.length() * a.def.radius()
            + state_b.angular_velocity.length() * b.def.radius();
        // In the axes of the first as it lies then.
        let closing = |time: f64, normal: DVec3| {
            let turned = turned_by(state_a.angular_velocity * time) * state_a.rotation;
            (state_b.linear_velocity - state_a.linear_velocity).dot(turned * normal) + spin
        };
        let most = broad_phase::closer(a, b, self.dt);
        let met = MET * margin(cell);
        let (mut time, mut apart, mut axis) = (0.0, apart, axis);
        for _ in 0..MOST_MOVES {
            let speed = closing(time, axis.normal);
            if speed <= 0.0 {
                return None;
            }
            time += (apart - 0.5 * met) / speed;
            if time > self.dt {
                return None;
            }
            let pair = self.pair(time);
            // A distance larger than the approach still possible is large enough.
            let enough = (most * (1.0 - time / self.dt)).max(met);
            axis = pair.axis(enough, Some(axis.feature), LOYALTY_CELLS * cell);
            apart = axis.separation;
            if apart > enough {
                return None;
            }
            if apart <= met {
                return Some((pair, axis));
            }
        }
        Some((self.pair(time), axis))
    }

    /// The manifold of hulls that lie as in `pair` when they touch, its points where the bodies are now; and of how
    /// many places it was made.
    fn manifold(&self, pair: &Pair<'_>, axis: &Axis, forgiven: f64, cell: f64) -> (Manifold, usize) {
        let [a, b] = self.bodies;
        let near = margin(cell).max(axis.separation + MET * margin(cell)) - forgiven;
        let normal = b.state.rotation * (pair.relative.rotation.inverse() * axis.normal);
        let small = usize::from(b.def.radius() < a.def.radius());
        let point = |touch: &Touch| {
            let on_a = a.state.position + a.state.rotation * touch.on[0];
            let on_b = b.state.position + b.state.rotation * pair.relative.back(touch.on[1]);
            let gap = (on_a - on_b).dot(normal);
            // Hulls that touch later are far apart now: the contact is placed where the smaller one will be pushed.
            let later = gap > near;
            let at = if later { [on_a, on_b][small] } else { (on_a + on_b) * 0.5 };
            let point = Point::new(touch.key, [Some(a), Some(b)], at, normal, gap + forgiven);
            Point { follows: later.then_some(small as u8), ..point }
        };
        let touches = touches(pair, axis, near, BESIDE * margin(cell));
        let points: Few<Point> = touches.iter().map(point).collect();
        let known: Few<Point> =
            self.old.map_or(&[][..], |m| &m.points).iter().map(|p| moved(p, a, Some(b))).collect();
        let mut kept = reduce(&points, &known, cell);
        if broad_phase::closer(a, b, self.dt) > FAST * self.bodies[small].def.radius() {
            let turned = |touch: &Touch| Point { why: FoundAs::Turned.into(), ..point(touch) };
            kept.extend(turned_corners(pair, axis, small).iter().map(turned));
        }
        inherit(&mut kept, &known, cell);
        let rolling_impulse = self.old.map_or(DVec3::ZERO, |m| m.rolling_impulse);
        let manifold =
            Manifold { first: a.id, second: Some(b.id), points: kept, rolling_impulse, resolution_m: cell };
        (manifold, points.len())
    }
}
