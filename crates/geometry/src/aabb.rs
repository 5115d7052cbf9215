//! Boxes along the axes.

use glam::DVec3;

/// A closed box by its low and its high corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aabb {
    /// The smallest coordinates.
    pub low: DVec3,
    /// The largest coordinates.
    pub high: DVec3,
}

impl Aabb {
    /// The empty box, inside out: joined with a point it is that point.
    pub const NOTHING: Self = Self::new(DVec3::INFINITY, DVec3::NEG_INFINITY);

    /// The box between two corners.
    #[must_use]
    pub const fn new(low: DVec3, high: DVec3) -> Self {
        Self { low, high }
    }

    /// The box round points; [`Aabb::NOTHING`] without points.
    #[must_use]
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::NOTHING, Self::with)
    }

    /// The box round it and a point.
    #[must_use]
    pub fn with(self, p: DVec3) -> Self {
        Self { low: self.low.min(p), high: self.high.max(p) }
    }

    /// The box round both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The box between the images of its two corners; valid if `place` does not rotate.
    #[must_use]
    pub fn placed(self, place: impl Fn(DVec3) -> DVec3) -> Self {
        Self { low: place(self.low), high: place(self.high) }
    }

    /// Lengths of its edges.
    #[must_use]
    pub fn size(&self) -> DVec3 {
        self.high - self.low
    }

    /// The middle.
    #[must_use]
    pub fn middle(&self) -> DVec3 {
        (self.low + self.high) * 0.5
    }

    /// Its corners: bit k of the index is 1 if the corner is high along axis k.
    #[must_use]
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|c| {
            DVec3::from_array([0, 1, 2].map(|k| if c >> k & 1 == 0 { self.low[k] } else { self.high[k] }))
        })
    }

    /// Whether a point is within it or on its surface.
    #[must_use]
    pub fn holds(&self, p: DVec3) -> bool {
        p.cmpge(self.low).all() && p.cmple(self.high).all()
    }

    /// Whether two boxes have a point in common.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }

    /// Distance of a point, 0 within.
    #[must_use]
    pub fn distance(&self, p: DVec3) -> f64 {
        (self.low - p).max(p - self.high).max(DVec3::ZERO).length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places of a small grid.
    fn places() -> impl Iterator<Item = DVec3> {
        (0..64).map(|i| DVec3::new(f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16)))
    }

    fn boxes() -> Vec<Aabb> {
        let sides = [(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)];
        let side = |k: usize| sides[k % 3];
        (0..27)
            .map(|i| {
                let [x, y, z] = [side(i), side(i / 3), side(i / 9)];
                Aabb::new(DVec3::new(x.0, y.0, z.0), DVec3::new(x.1, y.1, z.1))
            })
            .collect()
    }

    #[test]
    fn boxes_are_what_their_points_say() {
        for a in boxes() {
            assert_eq!((Aabb::of(a.corners()), Aabb::of(places().filter(|p| a.holds(*p)))), (a, a));
            assert_eq!(Aabb::NOTHING.joined(a), a);
            assert_eq!(a.corners().iter().sum::<DVec3>() / 8.0, a.middle());
            for p in places() {
                let within = (0..3).all(|k| (a.low[k]..=a.high[k]).contains(&p[k]));
                assert_eq!((a.holds(p), a.distance(p) == 0.0), (within, within));
                let nearest =
                    places().filter(|q| a.holds(*q)).map(|q| q.distance(p)).fold(f64::MAX, f64::min);
                assert_eq!(a.distance(p), nearest);
            }
            for b in boxes() {
                assert_eq!(a.meets(&b), places().any(|p| a.holds(p) && b.holds(p)));
                let both = a.joined(b);
                assert!(both.holds(a.low) && both.holds(b.high) && both.size().cmpge(a.size()).all());
            }
        }
        assert!(!places().any(|p| Aabb::NOTHING.holds(p)));
        assert_eq!(
            Aabb::of([DVec3::ONE]).placed(|p| p * 2.0),
            Aabb::new(DVec3::splat(2.0), DVec3::splat(2.0))
        );
    }
}
