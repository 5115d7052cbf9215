//! The surface of one leaf of an octree, and whether a point of its voxel is solid.
//!
//! A leaf's solid is what of its voxel lies below its plane and below its cut (`svo/format.rs`). Its surface is the
//! part of the plane inside the voxel and below the cut, and the part of the cut inside the voxel and below the plane:
//! two convex polygons. The steps between polygons of neighbouring voxels, smaller than the planes' error, are ignored.
//! A plane that misses its voxel (stored offsets are rounded to 1/64 voxel) is moved to touch it.
//!
//! Exact distances of many nodes, quickly: the search of each node starts from the result of the node before.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    polygon::Polygon,
    solid::{Placed, Solid},
};
use crate::svo::{Forest, unpack_cut, unpack_normal};

/// Half the edge of a voxel.
const HALF: f64 = 0.5;
/// A point beyond a voxel or a plane by less than this still counts as on it, voxels.
const HAIR: f64 = 1e-9;

/// A plane `normal . x = offset`, from the middle of a voxel, voxels.
#[derive(Clone, Copy, Debug)]
pub struct LeafPlane {
    /// Outward; a unit vector as far as 32 bits go.
    pub normal: DVec3,
    /// Signed distance from the middle.
    pub offset: f64,
}

impl LeafPlane {
    /// The own plane of leaf `index`; `None` where there is no such leaf.
    #[must_use]
    pub fn of(forest: &Forest, index: usize) -> Option<Self> {
        let normal = unpack_normal(*forest.leaves.normals.get(index)?).as_dvec3();
        Some(Self { normal, offset: f64::from(forest.leaves.colors.get(index)?.offset()) })
    }

    /// Height of a point, relative to the voxel's middle, above the plane.
    fn height(&self, from_middle: DVec3) -> f64 {
        from_middle.dot(self.normal) - self.offset
    }

    /// The plane, moved to touch the voxel if it misses it.
    fn touching(self) -> Self {
        let reach = HALF * self.normal.abs().element_sum();
        Self { offset: self.offset.clamp(-reach, reach), ..self }
    }
}

/// The planes of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// Middle of its voxel, voxels.
    pub middle: DVec3,
    /// Its own plane.
    pub plane: LeafPlane,
    /// The plane of a fracture that cut the voxel.
    pub cut: Option<LeafPlane>,
}

/// The point of a surface nearest to another, and the normal there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Local space.
    pub point: DVec3,
    /// Unit, outward: of the plane that the point lies on.
    pub normal: DVec3,
    /// Distance from the query point, local units.
    pub distance: f64,
}

impl Leaf {
    /// Leaf `index` of a forest, whose voxel has the low corner `low`; `None` where there is no such leaf.
    #[must_use]
    pub fn at(forest: &Forest, index: usize, low: [u32; 3]) -> Option<Self> {
        let plane = LeafPlane::of(forest, index)?;
        let cut = forest.leaves.cuts.get(index).copied().and_then(unpack_cut);
        let cut = cut.map(|(n, offset)| LeafPlane { normal: n.as_dvec3(), offset: f64::from(offset) });
        Some(Self { middle: DVec3::from(low.map(f64::from)) + HALF, plane, cut })
    }

    /// Whether a point of the voxel is solid.
    #[must_use]
    pub fn holds(&self, p: DVec3) -> bool {
        let from_middle = p - self.middle;
        self.plane.height(from_middle) < 0.0 && self.cut.is_none_or(|cut| cut.height(from_middle) < 0.0)
    }

    /// Its surface polygons with their planes, from the voxel's middle; polygons without area are skipped.
    #[must_use]
    pub fn polygons(&self) -> [Option<(Polygon, LeafPlane)>; 2] {
        let plane = self.plane.touching();
        let of_plane = Polygon::in_voxel(plane, self.cut);
        // A cut beyond the voxel removes nothing, so it has no face there.
        let meets = |cut: &LeafPlane| cut.offset.abs() <= HALF * cut.normal.abs().element_sum();
        let of_cut = self.cut.filter(meets).map(|cut| (Polygon::in_voxel(cut, Some(self.plane)), cut));
        [Some((of_plane, plane)), of_cut].map(|face| face.filter(|(polygon, _)| polygon.has_area()))
    }

    /// Its nearest point, where it is nearer than `within`.
    #[must_use]
    pub fn nearest(&self, p: DVec3, within: f64) -> Option<Foot> {
        let from_middle = p - self.middle;
        let in_voxel = |q: DVec3| q.abs().max_element() <= HALF + HAIR;
        if self.cut.is_none() && self.plane.touching().height(from_middle).abs() >= within {
            return None;
        }
        let mut best: Option<Foot> = None;
        let faces = [(Some(self.plane.touching()), self.cut), (self.cut, Some(self.plane))];
        for (face, other) in faces {
            let Some(face) = face else { continue };
            let height = face.height(from_middle);
            let bound = best.map_or(within, |foot| foot.distance);
            if height.abs() >= bound {
                continue;
            }
            let straight = from_middle - face.normal * height;
            // The distance from the voxel, or above the other plane, is a lower bound of the distance to the face.
            let off_voxel = (straight.abs() - HALF).max(DVec3::ZERO).length();
            let aside = other.map_or(off_voxel, |o| off_voxel.max(o.height(straight)));
            if height * height + aside * aside >= bound * bound {
                continue;
            }
            let on_face = if in_voxel(straight) && other.is_none_or(|o| o.height(straight) <= HAIR) {
                Some(straight)
            } else {
                let polygon = Polygon::in_voxel(face, other);
                polygon.has_area().then(|| polygon.nearest_on_rim(straight))
            };
            let Some(q) = on_face else { continue };
            let distance = q.distance(from_middle);
            if distance < bound {
                best = Some(Foot { point: self.middle + q, normal: face.normal, distance });
            }
        }
        best
    }
}

/// Nodes that one thread goes through, one after the other.
const RUN: usize = 64;

/// Threads for some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// All cores.
    Shared,
    /// The calling thread only. Other threads may wait for a lock that it holds, so it must not take over other rayon
    /// work, which might wait for that lock, too.
    Alone,
}

impl Work {
    /// Maps `of` over `all`.
    pub fn each<T: Sync, R: Send>(self, all: &[T], of: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
        match self {
            Self::Shared => all.par_iter().map(of).collect(),
            Self::Alone => all.iter().map(of).collect(),
        }
    }
}

/// Calls `exact` for each node, in runs with a state of their own.
pub(super) fn in_runs<S, T: Send>(
    nodes: &[usize],
    work: Work,
    begin: impl Fn() -> S + Sync,
    exact: impl Fn(&usize, &mut S) -> Option<T> + Sync,
) -> Vec<Option<T>> {
    let run = |nodes: &[usize]| -> Vec<Option<T>> {
        let mut memory = begin();
        nodes.iter().map(|node| exact(node, &mut memory)).collect()
    };
    match work {
        Work::Shared => nodes.par_chunks(RUN).flat_map_iter(run).collect(),
        Work::Alone => nodes.chunks(RUN).flat_map(run).collect(),
    }
}

/// Feet of the last node of each fragment in a run.
#[derive(Default)]
pub(super) struct Seeds(Vec<(usize, Option<Foot>)>);

impl Seeds {
    pub fn of(&mut self, fragment: usize) -> &mut Option<Foot> {
        let at = self.0.iter().position(|(k, _)| *k == fragment).unwrap_or_else(|| {
            self.0.push((fragment, None));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

/// The nearest point of the surface, if it is nearer than `within`. The foot of a node nearby, in `seed`, bounds the
/// distance, which saves most of the search; the new foot is the next node's seed. Flat surface continues: where the
/// plane of that foot is nearest, it mostly has surface, too, and nothing is nearer.
pub(super) fn nearest_by_seed(part: &Placed, p: DVec3, within: f64, seed: &mut Option<Foot>) -> Option<Foot> {
    let known = seed.map(|foot| Foot { distance: foot.point.distance(p), ..foot });
    let known = known.filter(|foot| foot.distance < within);
    let known =
        seed.and_then(|foot| ahead(part, p, known.map_or(within, |foot| foot.distance), &foot)).or(known);
    let found = part.solid.nearest(p, known.map_or(within, |foot| foot.distance)).or(known);
    *seed = found.or(*seed);
    found
}

/// The surface where the plane of a foot is nearest to `p`, if it is nearer than `within`.
fn ahead(part: &Placed, p: DVec3, within: f64, foot: &Foot) -> Option<Foot> {
    let Solid::Octree(octree) = &part.solid else { return None };
    let height = (p - foot.point).dot(foot.normal);
    (height.abs() < within).then(|| octree.nearest_in_voxel(p - foot.normal * height, p, within)).flatten()
}
