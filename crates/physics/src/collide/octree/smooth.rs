//! The samples of an octree round a contact, for finding where two smooth surfaces touch.

use super::surfels::{Cell, Surfels, first_of_level, look_up};
use crate::{Body, collide::SmoothSide, svo::morton};
use glam::{DMat4, DVec3, IVec3, Vec3};

/// Samples within this number of cells of the surfel, across its normal, make the quadric: see
/// `docs/lab/contact-geometry.md` for the error of other radii.
const PATCH_CELLS: i32 = 4;
/// Surfaces whose normals agree this well at the ends of the patch are flat.
const FLAT: f32 = 0.9995;
/// Samples are no patch of one surface if the cosines of their normals are below this.
const ONE_SURFACE: f32 = 0.6;

/// One side of a contact: a body's samples at a level.
pub struct Side<'a> {
    /// The body.
    pub body: &'a Body,
    /// The level.
    pub level: u32,
    /// Its samples there.
    pub surfels: &'a Surfels,
    /// From cells of the level to the world, m.
    pub to_world: DMat4,
}

impl SmoothSide for Side<'_> {
    /// A surfel.
    type At = usize;

    fn body(&self) -> &Body {
        self.body
    }

    fn is_flat(&self, i: usize) -> bool {
        let ends = [[PATCH_CELLS, 0], [-PATCH_CELLS, 0], [0, PATCH_CELLS], [0, -PATCH_CELLS]];
        let normals = &self.surfels.normals;
        ends.into_iter()
            .filter_map(|aside| self.surfel_beside(i, aside))
            .all(|end| normals[end].dot(normals[i]) > FLAT)
    }

    fn patch(&self, i: usize) -> Option<Vec<DVec3>> {
        let r = PATCH_CELLS;
        let disc = (-r..=r).flat_map(|x| (-r..=r).map(move |y| [x, y]));
        let sample = |aside: [i32; 2]| {
            let k = self.surfel_beside(i, aside)?;
            let surfel = &self.surfels.items[k];
            let of_one = self.surfels.normals[k].dot(self.surfels.normals[i]) > ONE_SURFACE;
            let smooth = of_one && !surfel.is_sharp() && surfel.thickness == 0.0;
            smooth.then(|| self.to_world.transform_point3(Vec3::from(surfel.centre).as_dvec3()))
        };
        disc.filter(|[x, y]| x * x + y * y <= r * r).map(sample).collect()
    }

    fn beside(&self, i: usize, place: DVec3) -> Option<usize> {
        let from = Vec3::from(self.surfels.items.get(i)?.centre);
        let way = (self.to_world.inverse().transform_point3(place).as_vec3() - from).round();
        let axis = steepest(*self.surfels.normals.get(i)?);
        self.surfel_beside(i, [way[(axis + 1) % 3] as i32, way[(axis + 2) % 3] as i32])
    }
}

impl Side<'_> {
    /// The surfel nearest to the plane of surfel `i`, at this number of cells aside along two axes of the grid across
    /// its normal.
    fn surfel_beside(&self, i: usize, aside: [i32; 2]) -> Option<usize> {
        let octree = self.body.def.octree();
        let (forest, first) = (&octree.forest, first_of_level(&octree.forest, self.level));
        let leaf = *self.surfels.leaf_start.get(i)? as usize;
        let key = forest.leaves.keys.at(leaf) >> (3 * (forest.level - self.level));
        let mut cell = morton::decode(key).map(|v| v as i32);
        let n = *self.surfels.normals.get(i)?;
        let axis = steepest(n);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let rise = -(n[u] * aside[0] as f32 + n[v] * aside[1] as f32) / n[axis];
        cell[u] += aside[0];
        cell[v] += aside[1];
        cell[axis] += rise.round() as i32;
        [0, -1, 1, -2, 2].into_iter().find_map(|k| {
            let mut cell = cell;
            cell[axis] += k;
            match look_up(forest, octree.tree, self.level, IVec3::from(cell)) {
                Cell::Surface(node) => Some((node - first) as usize),
                Cell::Empty | Cell::Inside => None,
            }
        })
    }
}

/// The axis that a normal follows most.
fn steepest(normal: Vec3) -> usize {
    let size = normal.abs();
    [0, 1, 2].into_iter().fold(0, |best, k| if size[k] > size[best] { k } else { best })
}
