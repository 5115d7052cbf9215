//! Finds surfaces that pass through themselves.
//!
//! In: triangles with welded vertices, and the part of each. Out: the number of pairs of triangles of one part that share
//! no vertex and pass through each other; where it is asked for, the parts that pass through others. Pairs that only touch,
//! or lie in one plane, do not count.
//!
//! The triangles lie in the order of a curve through space. Eight of them make a run, eight runs the next level, and so on;
//! the boxes of eight neighbours are compared at once. Each run looks for pairs with itself and with later runs.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use rayon::prelude::*;

use crate::{
    geometry::{
        Aabb,
        simd::{F32x8, Simd, Work, wide},
    },
    svo::morton,
    voxelize::Progress,
};

/// Ends of a segment closer to a plane than this share of the sizes at hand lie in it.
const IN_PLANE: f64 = 1e-9;
/// Places along the longest side by which triangles are ordered.
const PLACES: f64 = 1023.0;

/// The number of pairs. `part` gives the part of a triangle. `crossed` has a flag for each part, set where it passes through
/// another one, or is empty if nobody asks for that.
pub(super) fn crossing_pairs(
    triangles: &[[u32; 3]],
    points: &[DVec3],
    part: &(dyn Fn(u32) -> u32 + Sync),
    crossed: &[AtomicBool],
    progress: &Progress,
) -> usize {
    let bounds = |t: &[u32; 3]| Aabb::of(t.map(|v| points[v as usize]));
    let whole = triangles.iter().map(bounds).fold(Aabb::NOTHING, Aabb::joined);
    let scale = PLACES / whole.size().max_element().max(f64::MIN_POSITIVE);
    let place = |t: &[u32; 3]| ((bounds(t).middle() - whole.low) * scale).as_uvec3().to_array();
    // The place is above the number, which takes half of the bits.
    let key = |(k, t): (usize, &[u32; 3])| morton::encode(place(t)) << 32 | k as u64;
    let mut order: Vec<u64> = triangles.par_iter().enumerate().map(key).collect();
    order.par_sort_unstable();
    if progress.is_cancelled() {
        return 0;
    }
    let number = |place: usize| order[place] as u32;
    // Copies, since what is compared then lies together in memory, too.
    let triangles: Vec<[u32; 3]> =
        (0..order.len()).into_par_iter().map(|place| triangles[number(place) as usize]).collect();
    let corners = |t: &[u32; 3]| {
        let Aabb { low, high } = bounds(t);
        [low, high].map(|p| p.to_array().map(|v| v as f32))
    };
    let levels = levels(triangles.par_chunks(8).map(|run| Eight::of(run.iter().map(corners))).collect());
    let of_run = |run: usize| -> usize {
        if progress.is_cancelled() {
            return 0;
        }
        let mut count = 0;
        let look = |a: usize, b: usize| {
            let [one, other] = [triangles[a], triangles[b]];
            if share_a_vertex(one, other) {
                return;
            }
            let parts = [a, b].map(|place| part(number(place)));
            let is_one = parts[0] == parts[1];
            let flags = || parts.iter().filter_map(move |part| crossed.get(*part as usize));
            if !is_one && flags().all(|flag| flag.load(Ordering::Relaxed)) {
                return;
            }
            let [a, b] = [one, other].map(|t| t.map(|v| points[v as usize]));
            let passes = passes(a, b) || passes(b, a);
            count += usize::from(passes && is_one);
            if passes && !is_one {
                flags().for_each(|flag| flag.store(true, Ordering::Relaxed));
            }
        };
        wide(Meeting { levels: &levels, run, look });
        count
    };
    (0..levels[0].len()).into_par_iter().map(of_run).sum()
}

/// The boxes of eight neighbours, by coordinate. Those of missing neighbours meet nothing.
///
/// Rounding keeps the order of numbers, so that boxes that meet do so in single precision, too.
struct Eight {
    low: [[f32; 8]; 3],
    high: [[f32; 8]; 3],
}

/// Low and high corner of a box.
type Corners = [[f32; 3]; 2];

impl Eight {
    fn of(boxes: impl Iterator<Item = Corners>) -> Self {
        let mut all = Self { low: [[f32::INFINITY; 8]; 3], high: [[f32::NEG_INFINITY; 8]; 3] };
        for (lane, [low, high]) in boxes.enumerate().take(8) {
            for (k, (low, high)) in low.into_iter().zip(high).enumerate() {
                (all.low[k][lane], all.high[k][lane]) = (low, high);
            }
        }
        all
    }

    fn one(&self, lane: usize) -> Corners {
        [[0, 1, 2].map(|k| self.low[k][lane]), [0, 1, 2].map(|k| self.high[k][lane])]
    }

    /// The box round all.
    fn whole(&self) -> Corners {
        [
            self.low.map(|v| v.into_iter().fold(f32::INFINITY, f32::min)),
            self.high.map(|v| v.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        ]
    }

    /// Bit i is 1 if box i has a point in common with another one.
    #[inline(always)]
    fn meets<L: F32x8>(&self, [low, high]: &Corners) -> u32 {
        let mut met = 0xff;
        for ((own_low, own_high), (low, high)) in self.low.iter().zip(&self.high).zip(low.iter().zip(high)) {
            met &= L::of(*own_low).at_most(L::splat(*high));
            met &= L::splat(*low).at_most(L::of(*own_high));
        }
        met
    }
}

/// All levels above runs of triangles: box 8 i + k of a level is round the eight boxes k of the level below's element i. The
/// last of at least two levels has one element.
fn levels(runs: Vec<Eight>) -> Vec<Vec<Eight>> {
    let mut levels = vec![runs];
    while levels.len() < 2 || levels[levels.len() - 1].len() > 1 {
        let eights = levels[levels.len() - 1].par_chunks(8);
        let above = eights.map(|eights| Eight::of(eights.iter().map(Eight::whole))).collect();
        levels.push(above);
    }
    levels
}

/// Calls `look` with the places of all pairs whose boxes meet and whose first one is of this run: once for each pair.
struct Meeting<'a, F> {
    levels: &'a [Vec<Eight>],
    run: usize,
    look: F,
}

impl<F: FnMut(usize, usize)> Work for Meeting<'_, F> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let own = &self.levels[0][self.run];
        let bounds = own.whole();
        let mut open = Vec::with_capacity(64);
        open.push((self.levels.len() - 1, 0));
        while let Some((level, at)) = open.pop() {
            let eight = &self.levels[level][at];
            // Earlier runs look for their pairs with this one.
            let earlier = (self.run >> (3 * (level - 1))).saturating_sub(8 * at);
            let mut met = eight.meets::<S::F32x8>(&bounds) & 0xff << earlier;
            while let Some(lane) = take(&mut met) {
                let below = 8 * at + lane;
                if level > 1 {
                    open.push((level - 1, below));
                    continue;
                }
                let others = &self.levels[0][below];
                let mut near = own.meets::<S::F32x8>(&eight.one(lane));
                while let Some(a) = take(&mut near) {
                    let mut met = others.meets::<S::F32x8>(&own.one(a));
                    if below == self.run {
                        met &= 0xfe << a;
                    }
                    while let Some(b) = take(&mut met) {
                        (self.look)(8 * self.run + a, 8 * below + b);
                    }
                }
            }
        }
    }
}

/// Takes the lowest bit that is set.
#[inline(always)]
fn take(bits: &mut u32) -> Option<usize> {
    let lowest = (*bits != 0).then(|| bits.trailing_zeros() as usize)?;
    *bits &= *bits - 1;
    Some(lowest)
}

fn share_a_vertex(a: [u32; 3], b: [u32; 3]) -> bool {
    // Without branches, which no processor foresees here.
    a.iter().fold(false, |found, v| found | (b[0] == *v) | (b[1] == *v) | (b[2] == *v))
}

/// Whether an edge of `t` passes through a triangle.
fn passes(t: [DVec3; 3], [a, b, c]: [DVec3; 3]) -> bool {
    let normal = (b - a).cross(c - a);
    let heights = t.map(|p| normal.dot(p - a));
    // Most pairs end here: no edge has an end on either side.
    if heights.iter().all(|height| *height >= 0.0) || heights.iter().all(|height| *height <= 0.0) {
        return false;
    }
    let thickness = IN_PLANE * normal.length();
    [[0, 1], [1, 2], [2, 0]].into_iter().any(|[p, q]| {
        let (from, to, p, way) = (heights[p], heights[q], t[p], t[q] - t[p]);
        let least = thickness * way.length();
        if from.abs() <= least || to.abs() <= least || (from > 0.0) == (to > 0.0) {
            return false;
        }
        let sides = [[a, b], [b, c], [c, a]].map(|[v, w]| way.dot((v - p).cross(w - p)));
        sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{
        builtin::{BUILTIN_NAMES, builtin},
        topology::topology,
    };

    fn pairs(triangles: &[[u32; 3]], points: &[DVec3]) -> usize {
        crossing_pairs(triangles, points, &|_| 0, &[], &Progress::default())
    }

    /// The number of pairs by comparing all, edge by edge.
    fn plainly(triangles: &[[u32; 3]], points: &[DVec3]) -> usize {
        let passes = |p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]| {
            let normal = (b - a).cross(c - a);
            let [from, to] = [p, q].map(|end| normal.dot(end - a));
            let least = IN_PLANE * normal.length() * (q - p).length();
            let sides = [[a, b], [b, c], [c, a]].map(|[v, w]| (q - p).dot((v - p).cross(w - p)));
            let is_within = sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0);
            from.abs() > least && to.abs() > least && (from > 0.0) != (to > 0.0) && is_within
        };
        let any = |t: [DVec3; 3], other| (0..3).any(|k| passes(t[k], t[(k + 1) % 3], other));
        let mut count = 0;
        for (k, one) in triangles.iter().enumerate() {
            for other in &triangles[..k] {
                let [a, b] = [one, other].map(|t| t.map(|v| points[v as usize]));
                count += usize::from(one.iter().all(|v| !other.contains(v)) && (any(a, b) || any(b, a)));
            }
        }
        count
    }

    /// Small triangles between places that look random, and two large ones that many others meet.
    fn tangle() -> (Vec<[u32; 3]>, Vec<DVec3>) {
        let mut state = 5u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        let points: Vec<DVec3> = (0..600).map(|_| DVec3::new(random(), random(), random())).collect();
        let mut triangles = vec![[0, 300, 599], [1, 301, 598]];
        for first in 0..598u32 {
            let near = (0..600u32).filter(|v| points[*v as usize].distance(points[first as usize]) < 0.15);
            if let [a, b, c] = near.take(3).collect::<Vec<_>>()[..] {
                triangles.push([a, b, c]);
            }
        }
        (triangles, points)
    }

    #[test]
    fn pairs_are_those_of_comparing_all() {
        let (triangles, points) = tangle();
        assert!(triangles.len() > 520 && plainly(&triangles, &points) > 20);
        // Runs and levels of eight, full, one short and one over.
        for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, triangles.len()] {
            let some = &triangles[..count];
            assert_eq!(pairs(some, &points), plainly(some, &points), "{count}");
        }
        let crossed: Vec<AtomicBool> = triangles.iter().map(|_| AtomicBool::default()).collect();
        for crossed in [&crossed[..0], &crossed[..]] {
            let count = crossing_pairs(&triangles, &points, &|t| t, crossed, &Progress::default());
            assert_eq!(count, 0, "parts of one triangle");
        }
        let alone = |t: usize| {
            let rest: Vec<[u32; 3]> =
                triangles.iter().enumerate().filter(|(k, _)| *k != t).map(|(_, t)| *t).collect();
            plainly(&rest, &points)
        };
        let all = plainly(&triangles, &points);
        for t in (0..triangles.len()).step_by(97) {
            assert_eq!(crossed[t].load(Ordering::Relaxed), alone(t) < all, "part {t}");
        }
    }

    #[test]
    fn pairs_smaller_than_single_precision_tells_apart_are_found() {
        let (triangles, points) = tangle();
        for (scale, away) in [(1e-6, 0.0), (1e-6, 1.0), (1e-3, 1000.0), (1e30, 0.0), (1e39, 0.0)] {
            let points: Vec<DVec3> = points.iter().map(|p| *p * scale + away).collect();
            let wanted = plainly(&triangles, &points);
            assert!(wanted > 20, "{scale}");
            assert_eq!(pairs(&triangles, &points), wanted, "{scale} at {away}");
        }
    }

    #[test]
    fn a_pair_counts_if_one_edge_passes_and_not_if_it_ends_in_the_plane() {
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let upright =
            |low: f64| [DVec3::new(0.2, 0.2, low), DVec3::new(0.3, 0.3, 1.0), DVec3::new(2.0, 2.0, 1.0)];
        let count = |other: [DVec3; 3]| pairs(&[[0, 1, 2], [3, 4, 5]], &[flat, other].concat());
        assert_eq!([-0.5, -1e-6, -1e-12, 0.0, 1e-6].map(upright).map(count), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn shapes_that_only_touch_have_none() {
        for name in BUILTIN_NAMES {
            let mesh = builtin(name).unwrap();
            let weld = topology(&mesh);
            let mut points = vec![DVec3::ZERO; weld.welded_count as usize];
            for (p, id) in mesh.positions.iter().zip(&weld.welded) {
                points[*id as usize] = DVec3::from_array(p.map(f64::from));
            }
            assert_eq!(pairs(&weld.triangles(&mesh), &points), 0, "{name}");
        }
    }
}
