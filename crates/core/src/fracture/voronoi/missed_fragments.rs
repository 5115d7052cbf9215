//! Parts of cells that the corners of voxels miss (F6 in docs/checks.md).
//!
//! A voxel goes to the cells that own its corners. A cell that is thin or pointed may also own a part of a voxel's
//! inside and none of its corners. That part goes to the corners' cells. Such cases are counted here.
//!
//! In: a source octree and a pattern. Out: pairs of a solid voxel and an object. The decision is exact: in the fixed
//! point of the seeds, with whole numbers of 128 bits. On the CPU and only for the command, since no result depends on
//! it.

use glam::DVec3;
use rayon::prelude::*;

use super::descent::candidates::{self, Polytope};
use crate::{
    fracture::{Pattern, UNIT_BITS},
    svo::{
        Forest,
        morton::{self, Key},
    },
};

/// Parts that the corners miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissedFragments {
    /// (voxel, object) where the object owns a part of the inside and no corner; sorted.
    pub parts: Vec<(Key, u32)>,
}

/// A box of the descent: the node (`None`: inside the source throughout) and its place.
#[derive(Clone, Copy)]
struct BoxAt {
    node: Option<u32>,
    key: Key,
    level: u32,
}

/// Finds what the corners of the solid voxels of `tree` miss.
#[must_use]
pub fn missed_fragments(forest: &Forest, tree: u32, pattern: &Pattern) -> MissedFragments {
    let roots = candidates::at_root(pattern, forest.level);
    let mut parts: Vec<(Key, u32)> = (0..pattern.seeds.len() as u32)
        .into_par_iter()
        .flat_map_iter(|cell| {
            let (first, count) = roots.ranges[cell as usize];
            let list: Vec<u32> = roots.list[first as usize..(first + count) as usize]
                .iter()
                .copied()
                .filter(|r| *r != cell)
                .collect();
            let mut walk = Search { forest, pattern, cell, found: Vec::new() };
            walk.node(BoxAt { node: Some(tree), key: 0, level: 0 }, &list);
            walk.found
        })
        .collect();
    parts.par_sort_unstable();
    parts.dedup();
    MissedFragments { parts }
}

struct Search<'a> {
    forest: &'a Forest,
    pattern: &'a Pattern,
    cell: u32,
    found: Vec<(Key, u32)>,
}

impl Search<'_> {
    /// Goes on where two rivals or more contest the box: with one, the cell's part of it is cut off by one plane,
    /// and such a part has a
    /// corner of the box.
    fn node(&mut self, at: BoxAt, rivals: &[u32]) {
        let (mut valid, mut internal) = (0, 0xff);
        if let Some(node) = at.node.and_then(|node| self.forest.nodes.get(node as usize)) {
            (valid, internal) = (node.valid(), node.internal());
        }
        for c in 0..8 {
            if (valid | internal) >> c & 1 == 0 {
                continue;
            }
            let (key, level) = (at.key << 3 | Key::from(c), at.level + 1);
            let edge = 1i64 << (UNIT_BITS - level);
            let low = morton::decode(key).map(|v| i64::from(v) * edge);
            let Some(contested) = self.contested(low, edge, rivals) else { continue };
            if contested.len() < 2 {
                continue;
            }
            if level == self.forest.level {
                self.voxel(key, low, edge, &contested);
                continue;
            }
            let node = at.node.and_then(|node| self.forest.nodes.get(node as usize));
            let node = node.filter(|_| valid >> c & 1 == 1).map(|node| node.child(c));
            self.node(BoxAt { node, key, level }, &contested);
        }
    }

    /// Rivals whose plane passes through the box; `None` where one of them owns all of it.
    fn contested(&self, low: [i64; 3], edge: i64, rivals: &[u32]) -> Option<Vec<u32>> {
        let own = self.pattern.seeds[self.cell as usize].map(i64::from);
        let mut contested = Vec::new();
        for &r in rivals {
            let other = self.pattern.seeds[r as usize].map(i64::from);
            let mut difference = 0;
            let mut apart = 0;
            for k in 0..3 {
                let centre = low[k] + edge / 2;
                difference += (centre - other[k]).pow(2) - (centre - own[k]).pow(2);
                apart += (own[k] - other[k]).abs();
            }
            let bias = i64::from(r < self.cell);
            if difference + edge * apart < bias {
                return None;
            }
            if difference - edge * apart < bias {
                contested.push(r);
            }
        }
        Some(contested)
    }

    fn voxel(&mut self, key: Key, low: [i64; 3], edge: i64, contested: &[u32]) {
        let object = |seed: u32| self.pattern.objects.get(seed as usize).copied().unwrap_or(seed);
        let mine = object(self.cell);
        let distance = |at: [i64; 3], seed: u32| -> i64 {
            let seed = self.pattern.seeds[seed as usize];
            (0..3).map(|k| (at[k] - i64::from(seed[k])).pow(2)).sum()
        };
        let owned = (0..8).any(|c| {
            let at = std::array::from_fn(|k| low[k] + edge * (c >> k & 1));
            let all = contested.iter().copied().chain([self.cell]);
            all.min_by_key(|seed| (distance(at, *seed), *seed)).is_some_and(|seed| object(seed) == mine)
        });
        if owned {
            return;
        }
        let own = self.pattern.seeds[self.cell as usize].map(i64::from);
        let planes: Vec<Plane> = contested
            .iter()
            .map(|r| {
                // Nearer to own than to other: 2 (other - own) . x < |other|^2 - |own|^2, x from the low corner.
                let other = self.pattern.seeds[*r as usize].map(i64::from);
                let normal = std::array::from_fn(|k| 2 * (other[k] - own[k]));
                let squared = |s: [i64; 3]| (0..3).map(|k| (s[k] - low[k]).pow(2)).sum::<i64>();
                Plane { normal, limit: squared(other) - squared(own) }
            })
            .collect();
        if meets_inside(&planes, edge) {
            self.found.push((key, mine));
        }
    }
}

/// `normal . x < limit`.
#[derive(Clone, Copy, Debug)]
struct Plane {
    normal: [i64; 3],
    limit: i64,
}

/// Whether the open box from 0 to `edge` and the open half-spaces have a point in common.
///
/// The closed ones bound the hull of their vertices, each of which lies on three independent planes. The open ones have
/// a common point exactly if no plane contains all vertices. Coefficients are below 2^17 and limits below 2^35, so
/// determinants stay below 2^75 and compared values below 2^95.
fn meets_inside(planes: &[Plane], edge: i64) -> bool {
    let mut all = planes.to_vec();
    for k in 0..3 {
        let axis = |v: i64| std::array::from_fn(|i| if i == k { v } else { 0 });
        all.push(Plane { normal: axis(1), limit: edge });
        all.push(Plane { normal: axis(-1), limit: 0 });
    }
    // With a plane that no point of the box satisfies there is no common point.
    for plane in planes {
        let least: i64 = plane.normal.iter().map(|v| v.min(&0) * edge).sum();
        if least >= plane.limit {
            return false;
        }
    }
    if interior_point(&all, edge) {
        return true;
    }
    // A quick rejection, and few planes for the exact test: the same in f64 with every limit a unit farther out. Values
    // stay below 2^36, so rounding is below 2^-16 and a unit more than makes up for it: the rest contains all points in
    // question.
    let wide = |v: i64| v as f64 + 1.0;
    let normal = |plane: &Plane| DVec3::from_array(plane.normal.map(|v| v as f64));
    let mut around = Polytope::of_box(DVec3::ZERO, DVec3::splat(edge as f64));
    for plane in planes {
        around.clip(normal(plane), wide(plane.limit));
        if around.is_empty() {
            return false;
        }
    }
    all.retain(|plane| around.vertices().any(|v| wide(0) + normal(plane).dot(v) >= plane.limit as f64));
    let n = all.len();
    let mut off = vec![false; n];
    let mut on_all = n;
    for i in 0..n {
        for j in i + 1..n {
            let line = cross(all[i].normal, all[j].normal);
            if line == [0; 3] {
                continue;
            }
            for k in j + 1..n {
                let det: i128 = (0..3).map(|a| line[a] * i128::from(all[k].normal[a])).sum();
                if det == 0 {
                    continue;
                }
                let vertex = vertex(&[all[i], all[j], all[k]]);
                let sign = det.signum();
                let slack = |plane: &Plane| {
                    let at: i128 = (0..3).map(|a| i128::from(plane.normal[a]) * vertex[a]).sum();
                    (i128::from(plane.limit) * det - at) * sign
                };
                if all.iter().any(|plane| slack(plane) < 0) {
                    continue;
                }
                for (plane, off) in all.iter().zip(&mut off) {
                    if !*off && slack(plane) > 0 {
                        *off = true;
                        on_all -= 1;
                    }
                }
                if on_all == 0 {
                    return true;
                }
            }
        }
    }
    false
}

/// A quick yes: a few steps of projection often end at a whole point that satisfies everything, which is proof.
fn interior_point(all: &[Plane], edge: i64) -> bool {
    let mut at = [edge as f64 / 2.0; 3];
    for _ in 0..24 {
        let whole = at.map(|v| v.round() as i64);
        let value = |plane: &Plane| (0..3).map(|k| plane.normal[k] * whole[k]).sum::<i64>() - plane.limit;
        let Some(worst) = all.iter().max_by_key(|plane| value(plane)).filter(|plane| value(plane) >= 0)
        else {
            return true;
        };
        let squared: f64 = worst.normal.iter().map(|v| (*v as f64).powi(2)).sum();
        let over = (0..3).map(|k| worst.normal[k] as f64 * at[k]).sum::<f64>() - worst.limit as f64;
        let step = (over.max(0.0) + squared.sqrt() * 2.0) / squared.max(1.0);
        for (place, normal) in at.iter_mut().zip(worst.normal) {
            *place = (*place - normal as f64 * step).clamp(0.0, edge as f64);
        }
    }
    false
}

fn cross(a: [i64; 3], b: [i64; 3]) -> [i128; 3] {
    let at = |i: usize, j: usize| i128::from(a[i]) * i128::from(b[j]) - i128::from(a[j]) * i128::from(b[i]);
    [at(1, 2), at(2, 0), at(0, 1)]
}

/// Intersection of three planes, times their determinant (Cramer).
fn vertex(planes: &[Plane; 3]) -> [i128; 3] {
    let [a, b, c] = planes;
    let parts =
        [(a, cross(b.normal, c.normal)), (b, cross(c.normal, a.normal)), (c, cross(a.normal, b.normal))];
    std::array::from_fn(|k| parts.iter().map(|(plane, cross)| i128::from(plane.limit) * cross[k]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(normal: [i64; 3], limit: i64) -> Plane {
        Plane { normal, limit }
    }

    #[test]
    fn slabs_needles_and_points_are_told_apart() {
        let half = |normal, limit| plane(normal, limit);
        // A slab between two planes, as thin as can be, and its limit.
        assert!(meets_inside(&[half([3, 1, 1], 41), half([-3, -1, -1], -40)], 16));
        assert!(!meets_inside(&[half([3, 1, 1], 40), half([-3, -1, -1], -40)], 16));
        // A wedge that touches an edge of the box, and one a unit of the limit deeper.
        assert!(!meets_inside(&[half([-1, -1, 0], -32), half([1, -1, 0], 8)], 16));
        assert!(meets_inside(&[half([-1, -1, 0], -31), half([1, -1, 0], 8)], 16));
        // Four planes that leave one point only, then a little more.
        let point =
            [half([1, 1, 1], 24), half([-1, 1, -1], -8), half([-1, -1, 1], -8), half([1, -1, -1], -8)];
        assert!(!meets_inside(&point, 16));
        let more = point.map(|p| Plane { normal: p.normal.map(|v| v * 9), limit: p.limit * 9 + 1 });
        assert!(meets_inside(&more, 16));
        assert!(meets_inside(&[], 16));
    }

    #[test]
    fn the_quick_answer_agrees_with_the_vertices() {
        let mut h = 11u64;
        let mut next = move |most: i64| {
            h = h.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (h >> 33) as i64 % (2 * most + 1) - most
        };
        let (mut yes, mut no) = (0, 0);
        for _ in 0..4000 {
            let planes: Vec<Plane> = (0..3)
                .map(|_| {
                    let normal = [next(40), next(40), next(40)];
                    // Close to the middle, so that a good part is cut off.
                    let middle: i64 = normal.iter().map(|v| v * 128).sum();
                    plane(normal, middle + next(3000) - 2500)
                })
                .collect();
            let got = meets_inside(&planes, 256);
            // Dense sampling: a point found is proof of yes.
            let sampled = (0..32768).any(|i| {
                let p = [i % 32, i / 32 % 32, i / 1024].map(|v: i64| v * 8 + 4);
                planes.iter().all(|q| (0..3).map(|k| q.normal[k] * p[k]).sum::<i64>() < q.limit)
            });
            assert!(got || !sampled, "{planes:?}");
            yes += u32::from(got && sampled);
            no += u32::from(!got);
        }
        println!("{yes} confirmed, {no} empty");
        assert!(yes > 500 && no > 500);
    }
}
