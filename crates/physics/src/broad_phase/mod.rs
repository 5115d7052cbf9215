//! Pairs of bodies whose boxes overlap: sort and sweep of world boxes along x, or, of many, a tree over Morton codes,
//! on the cores (`tree.rs`) or in compute passes (`passes/`); then a test of the oriented boxes. While bodies hardly
//! move against each other, the pairs of somewhat larger boxes are cached and only these are tested (`pair_cache.rs`).
//!
//! In: one box a body (or none: the body is skipped), and which bodies can move. Out: pairs (i, j), i < j, ascending.
//! Oriented boxes are tested by separating axes (Gottschalk, Lin & Manocha 1996, OBBTree, sec. 5).

mod pair_cache;
pub(crate) mod passes;
pub mod tree;

use super::Body;
use crate::geometry::Aabb;
use crate::gpu::{Gpu, GpuError};
use glam::{DMat3, DVec3};
use pair_cache::FatPairs;
use passes::NearPasses;

/// Largest number of near pairs in a step: a heap of a thousand pieces has some ten thousand, and bodies that all lie
/// in one place would fill any memory.
pub const MOST_PAIRS: usize = 1 << 22;

/// More than [`MOST_PAIRS`] bodies are near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded;

impl From<Crowded> for GpuError {
    fn from(_: Crowded) -> Self {
        Self::Crowded { most: MOST_PAIRS }
    }
}

/// An oriented box in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obb {
    /// Middle, m.
    pub centre: DVec3,
    /// Unit vectors along its edges.
    pub axes: DMat3,
    /// Half its edges, m.
    pub half: DVec3,
    /// Largest distance that its body moves in the coming step, m, without the common velocity ([`common_velocity`]).
    pub way: f64,
}

/// Added to cosines, so that edges that are nearly parallel do not separate by rounding.
const ROUNDING: f64 = 1e-9;

impl Obb {
    /// The box along the world's axes that it does not leave.
    #[must_use]
    pub fn aabb(&self) -> Aabb {
        let a = &self.axes;
        let reach = a.x_axis.abs() * self.half.x
            + a.y_axis.abs() * self.half.y
            + a.z_axis.abs() * self.half.z
            + self.way;
        Aabb::new(self.centre - reach, self.centre + reach)
    }

    /// Whether two bodies that approach each other by at most `closer` (m) may touch in the step: their swept boxes
    /// overlap, and their own boxes are no farther apart.
    #[must_use]
    pub fn may_meet(&self, other: &Self, closer: f64) -> bool {
        let (own, there) = (self.aabb(), other.aabb());
        own.meets(&there) && self.overlaps_from(own.low.x, other, there.low.x, closer)
    }

    /// Like [`Self::overlaps`], in the order of the sweep: the box that begins first along x is grown.
    fn overlaps_from(&self, low_x: f64, other: &Self, other_low_x: f64, closer: f64) -> bool {
        if other_low_x < low_x { other.overlaps(self, closer) } else { self.overlaps(other, closer) }
    }

    /// Whether no plane parallel to two of their edges separates the two boxes by `apart` (m). Boxes nearer than that
    /// count as overlapping.
    #[must_use]
    pub fn overlaps(&self, other: &Self, apart: f64) -> bool {
        let (a, b) = (self.half + apart, other.half);
        // Columns: the other's axes in those of this one.
        let r = self.axes.transpose() * other.axes;
        let columns = [r.x_axis, r.y_axis, r.z_axis];
        let far = columns.map(|c| c.abs() + ROUNDING);
        let t = self.axes.transpose() * (other.centre - self.centre);
        if (t.abs().cmpgt(a + far[0] * b.x + far[1] * b.y + far[2] * b.z)).any() {
            return false;
        }
        (0..3).all(|j| t.dot(columns[j]).abs() <= b[j] + far[j].dot(a))
            && (0..3).all(|i| {
                let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
                (0..3).all(|j| {
                    let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
                    let reach =
                        a[i1] * far[j][i2] + a[i2] * far[j][i1] + b[j1] * far[j2][i] + b[j2] * far[j1][i];
                    (t[i2] * columns[j][i1] - t[i1] * columns[j][i2]).abs() <= reach
                })
            })
    }
}

/// From this number of boxes on a tree is as fast as a sweep or faster (docs/lab/hull-contacts.md).
pub const MANY: usize = 1000;

/// Motion of a body, as far as it brings the body closer to others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// m/s.
    pub velocity: DVec3,
    /// Speed of its farthest point by rotation, m/s.
    pub spin: f64,
}

impl Motion {
    /// The motion of `body`.
    #[must_use]
    pub fn of(body: &Body) -> Self {
        let spin = body.state.angular_velocity.length() * body.def.radius();
        Self { velocity: body.state.linear_velocity, spin }
    }

    /// How much closer a point of this body and one of the other may come in the coming `dt`, at most, m.
    #[must_use]
    pub fn closer(&self, other: &Self, dt: f64) -> f64 {
        ((self.velocity - other.velocity).length() + (self.spin + other.spin)) * dt
    }
}

/// The input of the broad phase; all slices have an element per body.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The box that a body does not leave in the step; a body without one is skipped.
    pub boxes: &'a [Option<Obb>],
    /// Whether each body can move: at least one body of a pair does.
    pub moves: &'a [bool],
    /// Motion of each body.
    pub motions: &'a [Motion],
    /// Length of the whole step, s.
    pub dt: f64,
}

impl Asked<'_> {
    /// How much closer two bodies may come in the step, m: often much less than the sum of the distances that they
    /// move, since they fall side by side.
    #[must_use]
    pub fn closer(&self, i: usize, j: usize) -> f64 {
        self.motions[i].closer(&self.motions[j], self.dt)
    }

    /// Whether two bodies are a near pair.
    #[must_use]
    pub fn meet(&self, (i, j): (u32, u32)) -> bool {
        let [i, j] = [i as usize, j as usize];
        let [Some(a), Some(b)] = [&self.boxes[i], &self.boxes[j]] else { return false };
        (self.moves[i] || self.moves[j]) && a.may_meet(b, self.closer(i, j))
    }

    /// All near pairs, found on the cores.
    ///
    /// # Errors
    /// [`Crowded`] if there are more than [`MOST_PAIRS`].
    pub fn pairs(&self) -> Result<Vec<(u32, u32)>, Crowded> {
        pairs(self.boxes, self.moves, |i, j| self.closer(i, j))
    }
}

/// Finds near pairs: on the cores, or for many bodies in compute passes, if there is a device for them. Both give the
/// same pairs in the same order.
#[derive(Default)]
pub struct BroadPhase {
    passes: Option<NearPasses>,
    kept: FatPairs,
}

impl BroadPhase {
    /// All pairs that may overlap in the coming step and of which at least one moves; `gpu` is the device for the
    /// passes, if these are wanted.
    ///
    /// # Errors
    /// [`GpuError::Crowded`] if there are more than [`MOST_PAIRS`]; other [`GpuError`]s of the device.
    pub fn pairs(&mut self, gpu: Option<&Gpu>, asked: &Asked<'_>) -> Result<Vec<(u32, u32)>, GpuError> {
        if let Some(gpu) = gpu.filter(|_| asked.boxes.len() >= MANY) {
            let passes = self.passes.get_or_insert_with(|| NearPasses::new(gpu));
            if let Some(found) = passes.pairs(gpu, asked)? {
                return Ok(found);
            }
        }
        Ok(match self.kept.pairs(asked) {
            Some(found) => found,
            None => asked.pairs()?,
        })
    }
}

/// All pairs that may overlap in the coming step and of which at least one moves; `closer` says how much closer two
/// bodies may come, m: often much less than the sum of the distances that they move, since they fall side by side.
///
/// # Errors
/// [`Crowded`] if there are more than [`MOST_PAIRS`].
pub fn pairs(
    boxes: &[Option<Obb>],
    moves: &[bool],
    closer: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<Vec<(u32, u32)>, Crowded> {
    if boxes.len() < MANY { sweep(boxes, moves, closer) } else { tree::pairs(boxes, moves, closer) }
}

/// Finds the pairs by sort and sweep.
fn sweep(
    boxes: &[Option<Obb>],
    moves: &[bool],
    closer: impl Fn(usize, usize) -> f64,
) -> Result<Vec<(u32, u32)>, Crowded> {
    let some = boxes.iter().enumerate().filter_map(|(i, b)| b.as_ref().map(|b| (i as u32, b)));
    let mut order: Vec<(u32, Aabb, &Obb)> = some.map(|(i, b)| (i, b.aabb(), b)).collect();
    order.sort_by(|a, b| a.1.low.x.total_cmp(&b.1.low.x).then(a.0.cmp(&b.0)));
    let mut found = Vec::new();
    for (k, &(i, own, a)) in order.iter().enumerate() {
        for &(j, there, b) in &order[k + 1..] {
            if there.low.x > own.high.x {
                break;
            }
            if (moves[i as usize] || moves[j as usize])
                && own.meets(&there)
                && a.overlaps(b, closer(i as usize, j as usize))
            {
                if found.len() == MOST_PAIRS {
                    return Err(Crowded);
                }
                found.push((i.min(j), i.max(j)));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Two bodies that may touch in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// Indices, ascending.
    pub bodies: [usize; 2],
    /// Largest distance by which they approach each other in the step, m.
    pub way: f64,
    /// Size of the generator's cells for this pair, m.
    pub resolution_m: f64,
}

/// The velocity that bodies have in common, m/s: the mean of all that move. Boxes are swept by the velocity relative to
/// it, since a common translation causes no contacts.
#[must_use]
pub fn common_velocity(bodies: &[Body]) -> DVec3 {
    let moving = || bodies.iter().filter(|body| body.moves() && body.state.is_finite());
    moving().map(|body| body.state.linear_velocity).sum::<DVec3>() / moving().count().max(1) as f64
}

/// The box of a body, grown by `reach` m, and how far it moves in `dt` against what moves at the velocity `common`.
/// `None` if it has no extent or no finite position.
#[must_use]
pub fn bounds(body: &Body, reach: f64, dt: f64, common: DVec3) -> Option<Obb> {
    let shape = &body.def.shape;
    if shape.is_empty() || !body.state.is_finite() {
        return None;
    }
    let bounds = shape.bounds();
    let centre = body.world_from_grid().transform_point3(bounds.middle());
    let speed = (body.state.linear_velocity - common).length()
        + body.state.angular_velocity.length() * body.def.radius();
    let half = bounds.size() * (0.5 * shape.unit_m()) + reach;
    Some(Obb { centre, axes: DMat3::from_quat(body.state.rotation), half, way: speed * dt })
}

/// How much closer a point of `a` and one of `b` may come in the coming `dt`, at most, m.
#[must_use]
pub fn closer(a: &Body, b: &Body, dt: f64) -> f64 {
    Motion::of(a).closer(&Motion::of(b), dt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// P14: boxes along the axes, against every pair of them.
    #[test]
    fn sweep_and_tree_find_the_brute_force_pairs() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for n in [0usize, 1, 2, 3, 40, 64, 65, 300] {
            let mut boxes: Vec<Option<Obb>> = (0..n)
                .map(|i| {
                    let mut v = || rng.random_range(0.0..4.0f64);
                    let centre = DVec3::new(v(), v(), v());
                    let half = 0.15 * DVec3::new(v(), v(), v());
                    (i % 17 != 5).then_some(Obb { centre, axes: DMat3::IDENTITY, half, way: 0.0 })
                })
                .collect();
            for i in (3..n).step_by(7) {
                boxes[i] = boxes[i - 3];
            }
            let moves: Vec<bool> = (0..n).map(|i| i % 3 != 0).collect();
            let mut brute = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if let (Some(a), Some(b)) = (boxes[i], boxes[j])
                        && (moves[i] || moves[j])
                        && (a.centre - b.centre).abs().cmple(a.half + b.half).all()
                    {
                        brute.push((i as u32, j as u32));
                    }
                }
            }
            println!("{n} boxes, {} pairs", brute.len());
            for (name, found) in [
                ("sweep", sweep(&boxes, &moves, |_, _| 0.0)),
                ("tree", tree::pairs(&boxes, &moves, |_, _| 0.0)),
            ] {
                assert_eq!(found.as_ref(), Ok(&brute), "{name}");
            }
        }
    }

    /// Turned and on their way, in a heap and in a long row, some in one place; in the order that a step wants.
    #[test]
    fn the_tree_gives_what_the_sweep_gives() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        for (n, size) in
            [(30usize, DVec3::ONE), (700, DVec3::new(3.0, 1.0, 3.0)), (1500, DVec3::new(0.1, 0.1, 50.0))]
        {
            let boxes: Vec<Option<Obb>> = (0..n)
                .map(|i| {
                    let mut v = |low: f64| rng.random_range(low..1.0f64);
                    let turn = glam::DQuat::from_xyzw(v(-1.0), v(-1.0), v(-1.0), v(-1.0)).normalize();
                    let centre =
                        if i % 9 == 4 { size * 0.5 } else { DVec3::new(v(0.0), v(0.0), v(0.0)) * size };
                    let half = 0.02 + 0.1 * DVec3::new(v(0.0), v(0.0), v(0.0));
                    (i % 17 != 5).then_some(Obb {
                        centre,
                        axes: DMat3::from_quat(turn),
                        half,
                        way: 0.01 * v(0.0),
                    })
                })
                .collect();
            let moves: Vec<bool> = (0..n).map(|i| i % 3 != 0).collect();
            let closer = |i: usize, j: usize| ((i + j) % 7) as f64 * 0.002;
            let found = tree::pairs(&boxes, &moves, closer);
            assert!(found.as_ref().is_ok_and(|found| found.len() > n / 10));
            assert_eq!(found, sweep(&boxes, &moves, closer));
            assert_eq!(found, pairs(&boxes, &moves, closer), "whichever is taken");
        }
        // A box that reaches everywhere.
        let near = Obb { centre: DVec3::ZERO, axes: DMat3::IDENTITY, half: DVec3::ONE, way: 0.0 };
        let wide = Obb { half: DVec3::splat(1e9), ..near };
        assert_eq!(tree::pairs(&[Some(near), None, Some(wide)], &[true; 3], |_, _| 0.0), Ok(vec![(0, 2)]));
    }

    /// The distance of two convex bodies by alternating projection: slow, and of another kind than separating
    /// axes.
    fn distance(a: &Obb, b: &Obb) -> f64 {
        let nearest = |to: &Obb, p: DVec3| {
            let local = to.axes.transpose() * (p - to.centre);
            to.centre + to.axes * local.clamp(-to.half, to.half)
        };
        let mut p = a.centre;
        for _ in 0..5_000 {
            p = nearest(a, nearest(b, p));
        }
        p.distance(nearest(b, p))
    }

    #[test]
    fn turned_boxes_overlap_where_they_meet() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(8);
        let (mut meet, mut apart, mut by_edges) = (0, 0, 0);
        for k in 0..2_000 {
            let mut one = || {
                let mut v = || rng.random_range(-1.0..1.0f64);
                let turn = glam::DQuat::from_xyzw(v(), v(), v(), v()).normalize();
                // Some lie along the axes, and some in one plane.
                let turn = if k % 5 == 0 { glam::DQuat::IDENTITY } else { turn };
                let centre = DVec3::new(v(), v(), v()) * 1.2;
                Obb {
                    centre,
                    axes: DMat3::from_quat(turn),
                    half: 0.1 + 0.5 * DVec3::new(v(), v(), v()).abs(),
                    way: 0.0,
                }
            };
            let (a, b) = (one(), one());
            let gap = distance(&a, &b);
            // Where they nearly touch, projection has not converged.
            if (1e-9..1e-3).contains(&gap) {
                continue;
            }
            assert_eq!(a.overlaps(&b, 0.0), gap < 1e-9, "{a:?} {b:?} {gap}");
            assert_eq!(a.overlaps(&b, 0.0), b.overlaps(&a, 0.0));
            assert!(a.overlaps(&b, gap + 1e-9), "{a:?} {b:?} {gap}");
            *if gap < 1e-9 { &mut meet } else { &mut apart } += 1;
            let faces = [&a, &b].into_iter().any(|side| {
                let (c, d) = (side.axes.transpose() * (b.centre - a.centre), [&a, &b]);
                let reach = d.map(|o| {
                    let r = side.axes.transpose() * o.axes;
                    r.x_axis.abs() * o.half.x + r.y_axis.abs() * o.half.y + r.z_axis.abs() * o.half.z
                });
                c.abs().cmpgt(reach[0] + reach[1]).any()
            });
            by_edges += u32::from(gap >= 1e-9 && !faces);
        }
        println!("{meet} meet, {apart} apart, {by_edges} of them only by a pair of edges");
        assert!(meet > 100 && apart > 100 && by_edges > 3);
    }

    /// Thirty thousand in one place: refused while the list is short, and not after it has filled the memory.
    #[test]
    fn what_lies_all_in_one_place_is_refused() {
        let one = Obb { centre: DVec3::ZERO, axes: DMat3::IDENTITY, half: DVec3::ONE, way: 0.0 };
        let asked = AtomicUsize::new(0);
        let count = |_, _| {
            asked.fetch_add(1, Ordering::Relaxed);
            0.0
        };
        assert_eq!(pairs(&vec![Some(one); 30_000], &[true; 30_000], count), Err(Crowded));
        // Each thread may ask for one more.
        let (count, threads) = (asked.load(Ordering::Relaxed), rayon::current_num_threads());
        assert!((MOST_PAIRS + 1..=MOST_PAIRS + threads).contains(&count), "{count}");
        assert_eq!(
            pairs(&vec![Some(one); 1000], &[true; 1000], |_, _| 0.0).map(|found| found.len()),
            Ok(499_500)
        );
    }
}
