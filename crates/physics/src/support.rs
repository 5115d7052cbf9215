//! Corners of something convex, in groups of four lanes: distances and separating axes often need the corner farthest
//! along a direction.

use glam::DVec3;
use smallvec::SmallVec;

const LANES: usize = 4;
/// This number of groups is stored inline: most hulls of pieces have fewer corners.
const FEW: usize = 10;

/// Coordinates of four corners.
type Four = [[f64; LANES]; 3];

/// Corners, in their order. Those that are missing in the last four are the last one again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SupportPoints(SmallVec<[Four; FEW]>);

impl SupportPoints {
    /// These.
    #[must_use]
    pub fn new(points: &[DVec3]) -> Self {
        let four = |points: &[DVec3]| {
            let at = |lane: usize| points[lane.min(points.len() - 1)].to_array();
            let corners: [[f64; 3]; LANES] = std::array::from_fn(at);
            std::array::from_fn(|axis| corners.map(|corner| corner[axis]))
        };
        Self(points.chunks(LANES).map(four).collect())
    }

    /// The largest coordinate along a direction; `f64::MIN` without corners.
    #[inline]
    #[must_use]
    pub fn reach(&self, way: DVec3) -> f64 {
        let mut most = [f64::MIN; LANES];
        for four in &self.0 {
            let far = along(four, way);
            for lane in 0..LANES {
                most[lane] = if far[lane] > most[lane] { far[lane] } else { most[lane] };
            }
        }
        most.into_iter().fold(f64::MIN, f64::max)
    }

    /// Index of the corner farthest along a direction, the first of equally far ones, and its coordinate.
    #[inline]
    #[must_use]
    pub fn farthest(&self, way: DVec3) -> (usize, f64) {
        let (mut most, mut at) = ([f64::MIN; LANES], [0u64; LANES]);
        for (k, four) in (0u64..).zip(&self.0) {
            let far = along(four, way);
            for lane in 0..LANES {
                let is_farther = far[lane] > most[lane];
                most[lane] = if is_farther { far[lane] } else { most[lane] };
                at[lane] = if is_farther { k } else { at[lane] };
            }
        }
        let number = |lane: usize| at[lane] as usize * LANES + lane;
        (1..LANES).fold((number(0), most[0]), |best, lane| {
            let is_better = most[lane] > best.1 || (most[lane] == best.1 && number(lane) < best.0);
            if is_better { (number(lane), most[lane]) } else { best }
        })
    }

    /// Where the corner of that number is.
    #[inline]
    #[must_use]
    pub fn at(&self, number: usize) -> DVec3 {
        let [x, y, z] = self.0[number / LANES];
        let lane = number % LANES;
        DVec3::new(x[lane], y[lane], z[lane])
    }
}

/// Coordinates of four corners along a direction.
#[inline(always)]
fn along([x, y, z]: &Four, way: DVec3) -> [f64; LANES] {
    std::array::from_fn(|lane| x[lane] * way.x + y[lane] * way.y + z[lane] * way.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// One after the other.
    fn slowly(points: &[DVec3], way: DVec3) -> (usize, f64) {
        let mut best = (0, f64::MIN);
        for (k, p) in points.iter().enumerate() {
            if p.dot(way) > best.1 {
                best = (k, p.dot(way));
            }
        }
        best
    }

    #[test]
    fn the_first_of_the_farthest_is_found() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(6);
        for count in (1..70).chain([200]) {
            // Whole numbers, so that many are equally far.
            let mut v = || DVec3::from([0; 3].map(|_| f64::from(rng.random_range(-2..3i32))));
            let points: Vec<DVec3> = (0..count).map(|_| v()).collect();
            let corners = SupportPoints::new(&points);
            for way in [v(), v(), DVec3::X, -DVec3::Z] {
                let best = slowly(&points, way);
                assert_eq!(corners.farthest(way), best);
                assert_eq!(corners.reach(way), best.1);
                assert_eq!(corners.at(best.0), points[best.0]);
            }
        }
        assert_eq!(SupportPoints::new(&[]).reach(DVec3::X), f64::MIN);
    }
}
