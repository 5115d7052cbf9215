//! How far two outlines are apart: the distance of the origin from the set of all differences of their points (Gilbert,
//! Johnson & Keerthi 1988, IEEE Journal of Robotics and Automation 4).
//!
//! In: two outlines, the second as it lies in the axes of the first. Out: two bounds of their distance. A simplex of
//! differences of corners goes towards the origin; the plane through the farthest difference says at least how far it is
//! off, the simplex at most.

use super::outline::Outline;
use crate::corners::Corners;
use glam::{DMat3, DQuat, DVec3};

/// Turns until a simplex that does not come nearer is given up; the bounds are right whenever it is.
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
    /// Of two bodies that lie so in the world.
    #[must_use]
    pub fn new([a, b]: [(DVec3, DQuat); 2]) -> Self {
        let inverse = a.1.inverse();
        Self { rotation: DMat3::from_quat(inverse * b.1), position: inverse * (b.0 - a.0) }
    }
}

/// How far two bodies are apart that lie in two outlines: what is said is how far the outlines are, less what may lie outside
/// of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// That is at least so much, m; below zero where it is not known.
    pub least: f64,
    /// And at most so much, m. Both come from one number, so that who is not apart by it is known as well as who is.
    pub most: f64,
    /// Along which way `least` is, from the second to the first, unit, axes of the second.
    pub way: DVec3,
}

/// The corner that lies farthest along a way.
fn farthest(corners: &Corners, way: DVec3) -> DVec3 {
    corners.at(corners.farthest(way).0)
}

/// Bounds of the distance of two outlines. More than `enough`, m, is not asked how far. `known` is the way of an earlier
/// answer, or zero: most often it still tells.
#[must_use]
pub fn gap(pair: [&Outline; 2], lie: &Relative, known: DVec3, enough: f64) -> Gap {
    let slack = pair[0].slack + pair[1].slack;
    let back = lie.rotation.transpose();
    let first = if known == DVec3::ZERO { -lie.position } else { lie.rotation * known };
    // The difference that lies nearest along a way.
    let nearest = |way: DVec3| {
        let a = farthest(&pair[0].corners, -way);
        let b = lie.position + lie.rotation * farthest(&pair[1].corners, back * way);
        a - b
    };
    let (least, most, way) = origin_from(nearest, first, enough + slack);
    Gap { least: least - slack, most: most - slack, way: back * way }
}

/// How far a point lies outside the hull of corners, m.
#[cfg(test)]
pub fn outside(corners: &Corners, point: DVec3) -> f64 {
    origin_from(|way| farthest(corners, -way) - point, -point, f64::MAX).1
}

/// Bounds of the distance of the origin from a convex set, and the way from it for which the lower one is. `nearest`
/// gives the point of the set that lies nearest along a way.
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

    /// Leaves those round the point of it that is nearest to the origin, which it gives. The newest one is among them: the
    /// others had their say before.
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
