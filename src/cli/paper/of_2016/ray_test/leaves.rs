//! An object's octree as the published ray test gets it: without the leaves that close the holes of the mesh.
//!
//! In: an object. Out: an octree of those boundary voxels that the mesh's own triangles touch, with no octant called
//! inner. The paper voxelises triangles and closes nothing (sec. 3.1).

use glam::DVec3;

use crate::{
    Object,
    svo::{Forest, Key, Leaves, build},
};

/// A triangle on the face of a voxel touches the voxel; what rounding may move the triangle by, voxels.
const ROUNDING: f64 = 1e-6;

/// Whether a triangle (grid coordinates) touches a voxel: no axis separates the two.
fn touches(cell: [u32; 3], [a, b, c]: [DVec3; 3]) -> bool {
    let centre = DVec3::from_array(cell.map(f64::from)) + 0.5;
    let edges = [b - a, c - b, a - c];
    let across = edges.into_iter().flat_map(|edge| DVec3::AXES.map(|axis| edge.cross(axis)));
    let mut axes = DVec3::AXES.into_iter().chain([edges[0].cross(edges[1])]).chain(across);
    axes.all(|axis| {
        let reach = 0.5 * axis.abs().element_sum() + ROUNDING * axis.length();
        let [a, b, c] = [a, b, c].map(|p| (p - centre).dot(axis));
        a.min(b).min(c) <= reach && a.max(b).max(c) >= -reach
    })
}

/// For each leaf of the object whether a triangle of its mesh touches it: the others only close holes.
fn of_the_mesh(object: &Object) -> Vec<bool> {
    let count = object.forest.leaves.len();
    if object.health.closing_leaves == 0 {
        return vec![true; count];
    }
    let (mut found, last) = (vec![false; count], DVec3::splat(f64::from(object.grid.side() - 1)));
    for triangle in &object.mesh.triangles {
        let points = triangle.map(|v| object.mesh.positions.get(v as usize).copied());
        let [Some(a), Some(b), Some(c)] = points else { continue };
        let corners = [a, b, c].map(|p| object.grid.from_mesh(DVec3::from_array(p.map(f64::from))));
        if !corners.iter().all(|p| p.is_finite()) {
            continue;
        }
        let [a, b, c] = corners;
        let cell_of = |p: DVec3| p.floor().clamp(DVec3::ZERO, last).to_array().map(|v| v as u32);
        let (low, high) = (cell_of(a.min(b).min(c) - ROUNDING), cell_of(a.max(b).max(c) + ROUNDING));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for cell in (low[0]..=high[0]).map(|x| [x, y, z]) {
                    let leaf = object.forest.leaf_at(0, cell);
                    if let Some(found) = leaf.and_then(|leaf| found.get_mut(leaf as usize)) {
                        *found = *found || touches(cell, corners);
                    }
                }
            }
        }
    }
    found
}

/// The object's octree as the paper has it before the test: leaves of the mesh alone, and no octant called inner.
pub fn published(object: &Object) -> Forest {
    let (all, mut leaves) = (&object.forest.leaves, Leaves::default());
    let values = all.normals.iter().zip(&all.colors).zip(&all.coverage);
    for ((key, ((normal, color), coverage)), keep) in all.keys.iter().zip(values).zip(of_the_mesh(object)) {
        if keep {
            leaves.keys.push(key);
            leaves.normals.push(*normal);
            leaves.colors.push(*color);
            leaves.coverage.push(*coverage);
        }
    }
    build(object.forest.level, leaves, &|_: Key, _: u32| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_touches_the_voxels_that_it_meets() {
        let triangle = [DVec3::new(0.2, 0.2, 0.5), DVec3::new(3.8, 0.2, 0.5), DVec3::new(0.2, 3.8, 0.5)];
        assert!([[0, 0, 0], [3, 0, 0], [1, 2, 0]].into_iter().all(|cell| touches(cell, triangle)));
        // Two cells in its bounds and beyond its long edge, and one in another layer. Planted error to see this fail:
        // leave the axes `across` out.
        assert!(![[3, 3, 0], [2, 3, 0], [0, 0, 1]].into_iter().any(|cell| touches(cell, triangle)));
    }
}
