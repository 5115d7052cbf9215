//! The distance of two outlines: the distance of the origin from the set of all differences of their points (Gilbert,
//! Johnson & Keerthi 1988, IEEE Journal of Robotics and Automation 4).
//!
//! In: two outlines, the second as it lies in the axes of the first. Out: two bounds of their distance. A simplex of
//! differences of corners goes towards the origin; the plane through the farthest difference says at least how far it
//! is off, the simplex at most.
//!
//! # A few corners round which a body lies
//!
//! In: a shape. Out: corners of its convex hull, and how far anything may lie outside.
//!
//! # How far each body has moved in all
//!
//! In: bodies, at any steps. Out: for every body a length that grows between two calls by at least as much as any of
//! its points has moved. The common motion of all bodies is left out, otherwise no distance could be cached for bodies
//! that fall side by side.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use crate::{
    Body, BodyId, by_shape::ByShape, integrate::angle_between, shape::Shape, support::SupportPoints,
};

/// Largest number of iterations of a simplex that does not get nearer; the bounds are valid at every iteration.
const MOST_TURNS: usize = 48;
/// Bounds agree so well.
const AGREE: f64 = 1e-7;

/// How the second body lies in the axes of the first, from centre to centre.
#[derive(Clone, Copy, Debug)]
pub struct Relative {
    rotation: DMat3,
    /// m.
    position: DVec3,
}

impl Relative {
    /// The relative pose of two bodies with these poses in the world.
    #[must_use]
    pub fn new([a, b]: [(DVec3, DQuat); 2]) -> Self {
        let inverse = a.1.inverse();
        Self { rotation: DMat3::from_quat(inverse * b.1), position: inverse * (b.0 - a.0) }
    }
}

/// The distance of two bodies within two outlines: the distance of the outlines, less what may lie outside of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Lower bound, m; below zero if none is known.
    pub least: f64,
    /// Upper bound, m. Both bounds come from one number, so that it also shows that bodies are not apart.
    pub most: f64,
    /// Direction of `least`, from the second to the first, unit, axes of the second.
    pub direction: DVec3,
}

/// The corner that lies farthest along a direction.
fn farthest(corners: &SupportPoints, way: DVec3) -> DVec3 {
    corners.at(corners.farthest(way).0)
}

/// Bounds of the distance of two outlines. The search stops once they are more than `enough` apart, m. `known` is the
/// direction of an earlier result, or zero: most often it still separates them.
#[must_use]
pub fn gap(pair: [&Outline; 2], lie: &Relative, known: DVec3, enough: f64) -> Gap {
    let slack = pair[0].slack + pair[1].slack;
    let back = lie.rotation.transpose();
    let first = if known == DVec3::ZERO { -lie.position } else { lie.rotation * known };
    // The difference that lies nearest along a direction.
    let nearest = |way: DVec3| {
        let a = farthest(&pair[0].corners, -way);
        let b = lie.position + lie.rotation * farthest(&pair[1].corners, back * way);
        a - b
    };
    let (least, most, way) = origin_from(nearest, first, enough + slack);
    Gap { least: least - slack, most: most - slack, direction: back * way }
}

/// How far a point lies outside the hull of corners, m.
#[cfg(test)]
pub fn outside(corners: &SupportPoints, point: DVec3) -> f64 {
    origin_from(|way| farthest(corners, -way) - point, -point, f64::MAX).1
}

/// Bounds of the distance of the origin from a convex set, and the direction of the lower bound. `nearest` gives the
/// point of the set that lies nearest along a direction.
fn origin_from(nearest: impl Fn(DVec3) -> DVec3, first: DVec3, enough: f64) -> (f64, f64, DVec3) {
    let mut way = first.normalize_or(DVec3::Y);
    let mut simplex = Simplex::default();
    let mut best = (f64::MIN, way);
    let mut most = f64::MAX;
    for _ in 0..MOST_TURNS {
        let point = nearest(way);
        let least = point.dot(way);
        if least > best.0 {
            best = (least, way);
        }
        if best.0 > enough || most - best.0 <= AGREE * most || !simplex.add(point) {
            break;
        }
        let to = simplex.shrink();
        most = most.min(to.length());
        if simplex.len == 4 || most <= f64::EPSILON {
            return (best.0.min(0.0), 0.0, best.1);
        }
        way = to / to.length();
    }
    (best.0, most, best.1)
}

/// Up to four points.
#[derive(Default)]
struct Simplex {
    points: [DVec3; 4],
    len: usize,
}

impl Simplex {
    /// Whether it is new.
    fn add(&mut self, point: DVec3) -> bool {
        if self.points[..self.len].contains(&point) {
            return false;
        }
        self.points[self.len] = point;
        self.len += 1;
        true
    }

    /// Reduces the simplex to the corners of its feature nearest to the origin and returns that nearest point. The
    /// newest corner is among them: the features of the others were tested before.
    fn shrink(&mut self) -> DVec3 {
        let newest = self.len - 1;
        let mut best = (f64::MAX, DVec3::ZERO, 0u8);
        for others in 0..1u8 << newest {
            let chosen: [bool; 3] = [0, 1, 2].map(|k| others >> k & 1 == 1);
            let rest =
                self.points[..newest].iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(p, _)| *p);
            if let Some(to) = foot(self.points[newest], rest) {
                let far = to.length_squared();
                if far < best.0 {
                    best = (far, to, others);
                }
            }
        }
        let mut kept = 0;
        for k in (0..newest).filter(|k| best.2 >> k & 1 == 1) {
            self.points[kept] = self.points[k];
            kept += 1;
        }
        self.points[kept] = self.points[newest];
        self.len = kept + 1;
        best.1
    }
}

/// The foot of the origin on the flat through a point and some others, where it lies between all of them.
fn foot(p: DVec3, others: impl Iterator<Item = DVec3>) -> Option<DVec3> {
    let mut edges = [DVec3::ZERO; 3];
    let mut count = 0;
    for other in others {
        edges[count] = other - p;
        count += 1;
    }
    let [a, b, c] = edges;
    let shares = match count {
        0 => return Some(p),
        1 => {
            let size = a.length_squared();
            [if size > 0.0 { -p.dot(a) / size } else { -1.0 }, 0.0, 0.0]
        }
        2 => {
            let (aa, ab, bb) = (a.dot(a), a.dot(b), b.dot(b));
            let (pa, pb) = (-p.dot(a), -p.dot(b));
            let size = aa * bb - ab * ab;
            // Flat to rounding.
            if size <= 1e-14 * aa * bb {
                return None;
            }
            [(pa * bb - pb * ab) / size, (pb * aa - pa * ab) / size, 0.0]
        }
        _ => {
            let normal = b.cross(c);
            let size = a.dot(normal);
            if size.abs() <= 1e-12 * a.length() * normal.length() {
                return None;
            }
            [-p.dot(normal), -p.dot(c.cross(a)), -p.dot(a.cross(b))].map(|share| share / size)
        }
    };
    let within = shares[..count].iter().all(|share| *share > 0.0) && shares.iter().sum::<f64>() < 1.0;
    let at = p + a * shares[0] + b * shares[1] + c * shares[2];
    within.then_some(if count == 3 { DVec3::ZERO } else { at })
}

/// Corners in body axes, from the centre of mass, m.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In no order.
    pub corners: SupportPoints,
    /// So far anything may lie outside their hull, m.
    pub slack: f64,
}

impl Outline {
    /// The outline of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let hull = shape.convex_hull();
        Self { corners: SupportPoints::new(&hull.hull.points), slack: hull.beyond }
    }
}

/// Outlines of the shapes of bodies that have been near others.
pub type Outlines = ByShape<Arc<Outline>, false>;

/// One body.
#[derive(Clone, Copy, Debug)]
struct Followed {
    id: BodyId,
    position: DVec3,
    rotation: DQuat,
    /// m.
    travelled: f64,
}

/// All bodies, in their order.
#[derive(Default)]
pub struct Travel(Vec<Followed>);

impl Travel {
    /// Adds the motion of the bodies since the last call.
    pub fn follow(&mut self, bodies: &[Body]) {
        let was = |known: &[Followed], at: usize, id: BodyId| match known.get(at) {
            Some(followed) if followed.id == id => Some(*followed),
            _ => known.binary_search_by_key(&id, |followed| followed.id).ok().map(|at| known[at]),
        };
        let before: Vec<Option<Followed>> =
            bodies.iter().enumerate().map(|(at, body)| was(&self.0, at, body.id)).collect();
        let moved =
            |body: &Body, before: &Option<Followed>| before.map(|was| body.state.position - was.position);
        let moving = || bodies.iter().zip(&before).filter(|(body, _)| body.moves());
        let (sum, count) = moving()
            .filter_map(|(body, before)| moved(body, before))
            .fold((DVec3::ZERO, 0u32), |(sum, count), travelled| (sum + travelled, count + 1));
        let common = sum / f64::from(count.max(1));
        let follow = |(body, before): (&Body, &Option<Followed>)| {
            let (position, rotation) = (body.state.position, body.state.rotation);
            let travelled = before.map_or(0.0, |was| {
                let turned = angle_between(rotation, was.rotation);
                was.travelled + (position - was.position - common).length() + turned * body.def.radius()
            });
            Followed { id: body.id, position, rotation, travelled }
        };
        self.0 = bodies.iter().zip(&before).map(follow).collect();
    }

    /// The sum of those of two bodies, by their numbers, m.
    #[must_use]
    pub fn of(&self, [i, j]: [usize; 2]) -> f64 {
        self.0[i].travelled + self.0[j].travelled
    }
}
