//! Whether two hulls are separated, and along which axis: separating axes (Chlubna, sec. 6; Eberly 2001).
//!
//! In: two hulls, the second as it lies in the axes of the first. Out: the axis along which they are farthest apart,
//! or, if they overlap, the axis of least overlap (the minimum translation). The axes are the normals of both hulls and
//! the cross products of their edges. Of the edges only those pairs can matter that make a face of the Minkowski
//! difference, whose arcs on the Gauss map cross (Gregorius 2013, The Separating Axis Test between Convex Polyhedra);
//! the result is checked against all corners, so that an axis never claims a gap that does not exist.

use super::solid::{Edge, Solid};
use crate::support::SupportPoints;
use glam::{DQuat, DVec3};
use smallvec::SmallVec;

/// Edges that are so nearly parallel have no axis: the square of the sine between them.
const PARALLEL: f64 = 1e-6;

/// How the second body lies in the axes of the first, from its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relative {
    /// Axes of the second to those of the first.
    pub rotation: DQuat,
    /// Centre of the second, m.
    pub position: DVec3,
}

impl Relative {
    /// The relative pose of two bodies with these poses in the world.
    #[must_use]
    pub fn new(a: (DVec3, DQuat), b: (DVec3, DQuat)) -> Self {
        let inverse = a.1.inverse();
        Self { rotation: inverse * b.1, position: inverse * (b.0 - a.0) }
    }

    /// A point of the second body to the axes of the first.
    #[must_use]
    pub fn place(&self, p: DVec3) -> DVec3 {
        self.position + self.rotation * p
    }

    /// And back.
    #[must_use]
    pub fn back(&self, p: DVec3) -> DVec3 {
        self.rotation.inverse() * (p - self.position)
    }
}

/// The feature that an axis comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A face of the first hull, or of the second.
    Face {
        /// 0 or 1.
        of: usize,
        /// Which.
        face: usize,
    },
    /// An edge of each.
    Edges([usize; 2]),
}

/// An axis along which two hulls are apart, or overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// From the second hull to the first, unit, axes of the first.
    pub normal: DVec3,
    /// Distance along the axis, m; negative: overlap.
    pub separation: f64,
    /// The feature that it comes from.
    pub feature: Feature,
}

/// Things of one hull: most have no more.
type Few<T> = SmallVec<[T; 32]>;

/// Two hulls as they lie to each other.
pub struct Pair<'a> {
    /// The hulls.
    pub solids: [&'a Solid; 2],
    /// Corners of the second, axes of the first.
    second: Few<DVec3>,
    /// `second`, in groups of four lanes.
    lined_up: SupportPoints,
    /// Normals of the second's faces, axes of the first.
    normals: Few<DVec3>,
    /// Places in both, axes of the first.
    middles: [DVec3; 2],
    /// How the second lies.
    pub relative: Relative,
}

impl<'a> Pair<'a> {
    /// Two hulls.
    #[must_use]
    pub fn new(solids: [&'a Solid; 2], relative: Relative) -> Self {
        let second: Few<DVec3> = solids[1].corners.iter().map(|p| relative.place(*p)).collect();
        let lined_up = SupportPoints::new(&second);
        let normals = solids[1].faces.iter().map(|face| relative.rotation * face.normal).collect();
        let middles = [solids[0].middle, relative.place(solids[1].middle)];
        Self { solids, second, lined_up, normals, middles, relative }
    }

    /// Corners of either, axes of the first.
    #[must_use]
    pub fn corners(&self, of: usize) -> &[DVec3] {
        if of == 0 { &self.solids[0].corners } else { &self.second }
    }

    /// The corners of hull `of`, in groups of four lanes.
    #[must_use]
    pub fn lined_up(&self, of: usize) -> &SupportPoints {
        if of == 0 { &self.solids[0].lined_up } else { &self.lined_up }
    }

    /// Outward normal of a face of either, axes of the first.
    #[must_use]
    pub fn normal(&self, of: usize, face: usize) -> DVec3 {
        if of == 0 { self.solids[0].faces[face].normal } else { self.normals[face] }
    }

    /// How far a face's hull reaches along its normal, from the centre of the first.
    #[must_use]
    pub fn reach(&self, of: usize, face: usize) -> f64 {
        let own = self.solids[of].faces[face].reach;
        if of == 0 { own } else { own + self.normals[face].dot(self.relative.position) }
    }

    /// Distance of the hulls along `normal`, from the second to the first.
    #[must_use]
    pub fn along(&self, normal: DVec3) -> f64 {
        -self.lined_up(0).reach(-normal) - self.lined_up(1).reach(normal)
    }

    /// The axis along which they are farthest apart, unless one is found along which they are more than `enough` apart.
    /// An axis must be better by `loyalty`, m, than the one of the last search (`known`) or than a face to replace it.
    #[must_use]
    pub fn axis(&self, enough: f64, known: Option<Feature>, loyalty: f64) -> Axis {
        let mut best: Option<(f64, Axis)> = None;
        for of in 0..2 {
            let least = best.map_or(f64::MIN, |(score, _)| score - loyalty);
            let axis = self.of_faces(of, least, enough);
            if axis.separation > enough {
                return axis;
            }
            let served = matches!(known, Some(Feature::Face { of: was, .. }) if was == of);
            let score = axis.separation + if served { loyalty } else { 0.0 };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, axis));
            }
        }
        let bonus = if matches!(known, Some(Feature::Edges(_))) { 0.0 } else { -loyalty };
        // An edge must do better than both.
        let least = best.map_or(f64::MIN, |(score, _)| score - bonus);
        if let Some(axis) = self.of_edges(least, enough) {
            return axis;
        }
        let nothing = Feature::Face { of: 0, face: 0 };
        best.map_or(Axis { normal: DVec3::Y, separation: f64::MAX, feature: nothing }, |(_, axis)| axis)
    }

    /// Upper bound of the distance along a direction out of hull `of` beyond which no point of that hull lies by more
    /// than `at`: the ball in the other is nearer than its corners.
    #[inline]
    fn most(&self, of: usize, way: DVec3, at: f64) -> f64 {
        way.dot(self.middles[1 - of]) - self.solids[1 - of].inner - at
    }

    /// The best of the faces of one hull; any face if none separates them by more than `least`.
    fn of_faces(&self, of: usize, least: f64, enough: f64) -> Axis {
        let none = Feature::Face { of, face: 0 };
        let mut best = Axis { normal: DVec3::Y, separation: f64::MIN, feature: none };
        for face in 0..self.solids[of].faces.len() {
            let (normal, reach) = (self.normal(of, face), self.reach(of, face));
            if self.most(of, normal, reach) <= best.separation.max(least) {
                continue;
            }
            let separation = -self.lined_up(1 - of).reach(-normal) - reach;
            if separation > best.separation {
                let normal = if of == 0 { -normal } else { normal };
                best = Axis { normal, separation, feature: Feature::Face { of, face } };
                if separation > enough {
                    break;
                }
            }
        }
        best
    }

    /// The best of the pairs of edges, if one separates them by more than `least`.
    fn of_edges(&self, least: f64, enough: f64) -> Option<Axis> {
        let [a, b] = self.solids;
        let mut best: Option<Axis> = None;
        let matters = |of: usize, arc: &Arc, least: f64| {
            arc.most(self.middles[1 - of], of) > least + self.solids[1 - of].inner
        };
        let second = b.edges.iter().enumerate().map(|(j, edge)| (j, self.arc(1, edge)));
        let second: SmallVec<[(usize, Arc); 16]> = second.filter(|(_, arc)| matters(1, arc, least)).collect();
        for (i, edge) in a.edges.iter().enumerate() {
            let first = self.arc(0, edge);
            if !matters(0, &first, best.map_or(least, |axis| axis.separation)) {
                continue;
            }
            for (j, other) in &second {
                if !first.crosses(other) {
                    continue;
                }
                let cross = first.along.cross(other.along);
                let size = first.along.length_squared() * other.along.length_squared();
                if cross.length_squared() <= PARALLEL * size {
                    continue;
                }
                // Out of the second hull, into the first.
                let way = cross.normalize_or_zero();
                let normal = if way.dot(first.normals[0] + first.normals[1]) > 0.0 { -way } else { way };
                let most = best.map_or(least, |axis| axis.separation);
                if (first.at - other.at).dot(normal) > most {
                    let separation = self.along(normal);
                    if separation > most {
                        best = Some(Axis { normal, separation, feature: Feature::Edges([i, *j]) });
                        if separation > enough {
                            return best;
                        }
                    }
                }
            }
        }
        best
    }

    fn arc(&self, of: usize, edge: &Edge) -> Arc {
        let [at, to] = edge.ends.map(|v| self.corners(of)[v as usize]);
        let normals = edge.faces.map(|face| self.normal(of, face as usize));
        // The second hull counts the other way round.
        let normals = if of == 0 { normals } else { normals.map(|n| -n) };
        Arc { at, along: to - at, normals, pole: normals[1].cross(normals[0]) }
    }
}

/// An edge as an arc on the Gauss map: all normals between those of its faces.
struct Arc {
    /// A corner of it.
    at: DVec3,
    /// To the other.
    along: DVec3,
    /// Normals of its two faces.
    normals: [DVec3; 2],
    /// Across both.
    pole: DVec3,
}

impl Arc {
    /// The farthest that `p` can lie out of its hull, which is number `of`, along any normal of the arc.
    #[inline]
    fn most(&self, p: DVec3, of: usize) -> f64 {
        let sign = if of == 0 { 1.0 } else { -1.0 };
        let way = (p - self.at) * sign;
        let most = self.normals[0].dot(way).max(self.normals[1].dot(way));
        // Normals between both are sums of them, made longer.
        let shortest = 0.5 * (self.normals[0] + self.normals[1]).length();
        if most > 0.0 { most / shortest.max(1e-9) } else { most }
    }

    /// Whether two arcs cross.
    #[inline]
    fn crosses(&self, other: &Self) -> bool {
        let [a, b] = self.normals;
        let [c, d] = other.normals;
        let (cba, dba) = (c.dot(self.pole), d.dot(self.pole));
        if cba * dba >= 0.0 {
            return false;
        }
        let (adc, bdc) = (a.dot(other.pole), b.dot(other.pole));
        adc * bdc < 0.0 && cba * bdc > 0.0
    }
}

#[cfg(test)]
mod tests;
