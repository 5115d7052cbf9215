//! The *voxels* mesh of a piece, made of cubes.
//!
//! In: an octree. Out: triangles for every exposed face of a voxel, as a 2-manifold: at a corner of the grid every fan
//! of faces has its own point, and if two voxels touch only along an edge, each has its own point in the middle of that
//! edge, since two points must not have two edges between them.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{Corner, Face, PieceMesh, Side, world_uv};
use crate::{Cells, shape::Octree, svo::morton::decode};

/// Direction and corners of the faces -x, +x, -y, +y, -z, +z; counter-clockwise seen from outside.
const FACES: [([i32; 3], [[i32; 3]; 4]); 6] = [
    ([-1, 0, 0], [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]]),
    ([1, 0, 0], [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]]),
    ([0, -1, 0], [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]),
    ([0, 1, 0], [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]]),
    ([0, 0, -1], [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]]),
    ([0, 0, 1], [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]),
];

/// A point of the surface: twice its grid coordinates, and the number of its surface among those that meet there.
type Point = ([i32; 3], u8);

/// The mesh of an octree, shape space.
#[must_use]
pub fn voxels(octree: &Octree) -> PieceMesh {
    let (forest, grid) = (&octree.forest, &octree.grid);
    let cells = Cells::of(forest, octree.tree as usize);
    // Internal nodes have no exposed faces: a leaf always lies between inside and outside.
    let faces: Vec<(usize, usize)> = (0..cells.len())
        .into_par_iter()
        .filter(|i| cells.leaves[*i] != u32::MAX)
        .flat_map_iter(|i| {
            let low = place(&cells, i);
            let open = |side: &usize| !is_solid(&cells, low, FACES[*side].0);
            (0..6).filter(open).map(|side| (i, side)).collect::<Vec<_>>()
        })
        .collect();
    let outlines: Vec<Vec<Point>> =
        faces.par_iter().map(|&(i, side)| outline(&cells, place(&cells, i), side)).collect();
    let mut points: Vec<Point> =
        outlines.par_iter().flat_map_iter(|outline| outline.iter().copied()).collect();
    points.par_sort_unstable();
    points.dedup();
    let mut mesh = PieceMesh {
        positions: points
            .iter()
            .map(|(at, _)| grid.origin + grid.h * 0.5 * DVec3::from_array(at.map(f64::from)))
            .collect(),
        ..PieceMesh::default()
    };
    for (&(i, side), outline) in faces.iter().zip(&outlines) {
        let leaf = forest.leaves.colors[cells.leaves[i] as usize];
        let normal = Vec3::from_array(FACES[side].0.map(|v| v as f32));
        let side = if leaf.crack() { Side::Inside } else { Side::Outside { material: 0 } };
        let mut ids: Vec<u32> =
            outline.iter().map(|point| points.binary_search(point).unwrap_or_default() as u32).collect();
        if ids.len() > 4 {
            // A fan round the centre: a fan from a corner would have triangles without area.
            let sum = ids.iter().map(|i| mesh.positions[*i as usize]).fold(DVec3::ZERO, |a, b| a + b);
            mesh.positions.push(sum / ids.len() as f64);
            ids.push(ids[0]);
            ids.insert(0, mesh.positions.len() as u32 - 1);
        }
        for edge in ids[1..].windows(2) {
            let triangle = [ids[0], edge[0], edge[1]];
            mesh.triangles.push(triangle);
            mesh.faces.push(Face { side, beyond: None });
            mesh.corners.push(triangle.map(|i| {
                let at = mesh.positions[i as usize];
                let uv = if side.is_crack() { world_uv(at, normal) } else { [0.0; 2] };
                Corner { normal, color: leaf.rgb(), uv, uv2: [0.0; 2] }
            }));
        }
    }
    mesh
}

fn place(cells: &Cells, i: usize) -> [i32; 3] {
    decode(cells.starts.at(i)).map(|v| v as i32)
}

fn is_solid(cells: &Cells, at: [i32; 3], step: [i32; 3]) -> bool {
    cells.find_at(std::array::from_fn(|k| at[k] + step[k])).is_some()
}

/// The points round a face of the voxel at `low`, counter-clockwise seen from outside.
fn outline(cells: &Cells, low: [i32; 3], side: usize) -> Vec<Point> {
    let (out, corners) = FACES[side];
    let mut points = Vec::with_capacity(4);
    for k in 0..4 {
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
        let at: [i32; 3] = std::array::from_fn(|axis| low[axis] + a[axis]);
        points.push((at.map(|v| 2 * v), fan(cells, at, low, out)));
        // Direction out of the voxel across this edge, in the plane of the face.
        let beside: [i32; 3] =
            std::array::from_fn(
                |axis| {
                    if out[axis] == 0 && a[axis] == b[axis] { 2 * a[axis] - 1 } else { 0 }
                },
            );
        let across: [i32; 3] = std::array::from_fn(|axis| beside[axis] + out[axis]);
        if !is_solid(cells, low, beside) && is_solid(cells, low, across) {
            let middle = std::array::from_fn(|axis| 2 * low[axis] + a[axis] + b[axis]);
            // Voxels that share only an edge differ by one along both axes across it.
            let axis = (0..3).find(|axis| a[*axis] == b[*axis]).unwrap_or_default();
            points.push((middle, 16 + (low[axis] & 1) as u8));
        }
    }
    points
}

/// The fan round the grid's corner `at` that contains the face towards `out` of the voxel at `low`: the number of the
/// fan's first face. The twelve faces that can meet there lie between the eight voxels round it.
fn fan(cells: &Cells, at: [i32; 3], low: [i32; 3], out: [i32; 3]) -> u8 {
    let solid: [bool; 8] =
        std::array::from_fn(|c| is_solid(cells, at, std::array::from_fn(|k| (c as i32 >> k & 1) - 1)));
    let number = |a: usize, b: usize| {
        let axis = (a ^ b).trailing_zeros() as usize;
        let bit = |turn: usize| a.min(b) >> ((axis + turn) % 3) & 1;
        4 * axis + 2 * bit(2) + bit(1)
    };
    let mut first: [usize; 12] = std::array::from_fn(|i| i);
    let mut join = |a: usize, b: usize| {
        let (a, b) = (first[a], first[b]);
        first.iter_mut().filter(|f| **f == a.max(b)).for_each(|f| *f = a.min(b));
    };
    for axis in 0..3 {
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        for end in [0, 1 << axis] {
            let round = [end, end | u, end | u | v, end | v];
            let faces: Vec<(usize, usize)> = (0..4)
                .map(|k| (round[k], round[(k + 1) % 4]))
                .filter(|(a, b)| solid[*a] != solid[*b])
                .collect();
            match faces[..] {
                [(a, b), (c, d)] => join(number(a, b), number(c, d)),
                // Two voxels that share only this edge: each keeps its own two faces.
                [_, _, _, _] => (0..4).filter(|k| solid[round[*k]]).for_each(|k| {
                    let own = round[k];
                    join(number(own, round[(k + 1) % 4]), number(own, round[(k + 3) % 4]));
                }),
                _ => {}
            }
        }
    }
    let own = (0..3).fold(0usize, |c, k| c | ((low[k] - at[k] + 1) as usize & 1) << k);
    let beyond = (0..3).fold(own, |c, k| if out[k] == 0 { c } else { c ^ 1 << k });
    first[number(own, beyond)] as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        meshes::MeshCheck,
        svo::{Forest, Grid, LeafColor, Leaves, morton},
    };
    use std::sync::Arc;

    /// An octree with these voxels as its solid, all of them leaves.
    fn octree(level: u32, solid: impl Fn([u32; 3]) -> bool) -> Octree {
        let mut leaves = Leaves::default();
        for key in 0..morton::Key::from(1u32 << level).pow(3) {
            if solid(morton::decode(key)) {
                leaves.keys.push(key);
                leaves.normals.push(0);
                leaves.colors.push(LeafColor::new([1, 2, 3], key % 2 == 1, 0.0));
                leaves.coverage.push(1.0);
                leaves.cuts.push(0);
            }
        }
        let forest: Forest = crate::svo::build(level, leaves, &|_: morton::Key, _: u32| false);
        Octree::new(&Arc::new(forest), 0, Grid { level, origin: DVec3::ONE, h: 0.5 })
    }

    #[test]
    fn every_set_of_voxels_is_closed_and_a_manifold_of_its_volume() {
        let mut word = 1u64;
        let mut random = move || {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (word >> 33) as f64 / f64::from(1u32 << 31)
        };
        for share in [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] {
            let there: Vec<bool> = (0..512).map(|_| random() < share).collect();
            // A margin of one voxel, as in all grids.
            let solid = |[x, y, z]: [u32; 3]| {
                [x, y, z].iter().all(|v| (1..=6).contains(v)) && there[(x + 8 * y + 64 * z) as usize]
            };
            let octree = octree(3, solid);
            let count = (0..512u32).filter(|i| solid([i % 8, i / 8 % 8, i / 64])).count();
            let mesh = voxels(&octree);
            let check = MeshCheck::of(&mesh);
            assert!(check.is_watertight() && check.is_manifold(), "{share}: {check:?}");
            assert_eq!((check.flat_triangles, check.inward_triangles), (0, 0), "{share}");
            assert!((check.volume - count as f64 * 0.125).abs() < 1e-9, "{share}: {check:?} of {count}");
        }
    }

    #[test]
    fn voxels_that_meet_in_an_edge_twice_are_told_apart() {
        // Two voxels that share an edge, connected round both of its ends.
        let there = [[1, 1, 2], [2, 2, 2], [1, 1, 1], [1, 2, 1], [2, 2, 1], [1, 1, 3], [1, 2, 3], [2, 2, 3]];
        let mesh = voxels(&octree(3, |at| there.contains(&at)));
        let check = MeshCheck::of(&mesh);
        assert!(check.is_watertight() && check.is_manifold(), "{check:?}");
        assert!((check.volume - 1.0).abs() < 1e-12);
    }
}
