//! How high many points are over the sides of a hull, compiled for the widest vectors that the processor has.
//!
//! In: points and planes. Out: heights. Nothing is fused, so they are the same at every width.

use crate::geometry::simd::{Simd, Work, wide};
use glam::DVec3;

/// So many points are asked at once of all sides.
const BLOCK: usize = 16;

/// For each of some points how high it is over the side that it is highest over, and which that is; sides are unit normals and
/// their distances from the origin.
pub fn over_highest(points: &[DVec3], sides: &[(DVec3, f64)]) -> Vec<(f64, usize)> {
    wide(Heights { points, sides })
}

struct Heights<'a> {
    points: &'a [DVec3],
    sides: &'a [(DVec3, f64)],
}

impl Work for Heights<'_> {
    type Out = Vec<(f64, usize)>;
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Out {
        let mut out = Vec::with_capacity(self.points.len());
        for block in self.points.chunks(BLOCK) {
            let at = |axis: usize| {
                let mut values = [0.0; BLOCK];
                values.iter_mut().zip(block).for_each(|(value, p)| *value = p[axis]);
                values
            };
            let [xs, ys, zs] = [at(0), at(1), at(2)];
            let (mut most, mut side) = ([f64::MIN; BLOCK], [0u64; BLOCK]);
            for (k, (normal, reach)) in (0u64..).zip(self.sides) {
                for i in 0..BLOCK {
                    let height = normal.x * xs[i] + normal.y * ys[i] + normal.z * zs[i] - reach;
                    let is_higher = height > most[i];
                    most[i] = if is_higher { height } else { most[i] };
                    side[i] = if is_higher { k } else { side[i] };
                }
            }
            out.extend((0..block.len()).map(|i| (most[i], side[i] as usize)));
        }
        out
    }
}
