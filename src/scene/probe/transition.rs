//! The transition voxel that holds a voxel, and those of its crack triangles that touch the voxel (Domaradzki & Martyn
//! 2018, sec. 5.2, 5.3).
//!
//! In: the inside of a fracture with rough or dusty surfaces. Out: the transition voxel as a probe shows it. Whether a
//! triangle touches a cube is decided exactly: all coordinates are multiples of 1/512 of a transition voxel.

use super::{ProbeTransition, ProbeTriangle};
use crate::{
    fracture::{
        crack::{CrackTriangle, TransitionVoxel, UNITS, edge_corners},
        dust::DustVoxel,
    },
    geometry::exact::{cross, minus},
    scene::overlays::Inside,
    svo::morton,
};

/// Corners of a triangle in units of a transition voxel, [`UNITS`] along its edge, from its low corner.
type Corners = [[i64; 3]; 3];

/// The crossed transition voxel round a voxel; `None` where there is none, or where transition voxels are the leaves,
/// which are not kept.
pub(super) fn transition_of(inside: &Inside, voxel: [u32; 3]) -> Option<ProbeTransition> {
    let shift = inside.forest.level.checked_sub(inside.transition?)?;
    let place = voxel.map(|v| v >> shift);
    let key = morton::encode(place);
    let row = inside.voxels.binary_search_by_key(&key, |crossed| morton::encode(crossed.place)).ok()?;
    let crossed = inside.voxels.get(row)?;
    let (points, all) = match inside.dusty.get(row) {
        Some(dusty) => dusty_surface(crossed, dusty),
        None => rough_surface(crossed),
    };
    let edge = 1u32 << shift;
    let [x, y, z] = place.map(|v| v << shift);
    let inner = [voxel[0] - x, voxel[1] - y, voxel[2] - z];
    let in_grid = |point: [i64; 3]| {
        let share = |axis: usize| f64::from(place[axis]) + point[axis] as f64 / f64::from(UNITS);
        [share(0), share(1), share(2)].map(|v| v * f64::from(edge))
    };
    let touching = all.into_iter().filter(|(corners, _)| touches(corners, inner, edge));
    let triangles =
        touching.map(|(corners, cells)| ProbeTriangle { points: corners.map(in_grid), cells }).collect();
    Some(ProbeTransition { voxel: [x, y, z, edge], objects: crossed.objects, points, triangles })
}

/// Number of separation points, and triangles with the objects on their sides, of a rough surface.
fn rough_surface(crossed: &TransitionVoxel) -> (u32, Vec<(Corners, [u32; 2])>) {
    let in_walls =
        crossed.edge_points.iter().flatten().count() + crossed.face_points.iter().flatten().count();
    (in_walls as u32 + 1, crossed.triangles().map(|triangle| (facing(&triangle), triangle.sides)).collect())
}

/// The corners of a triangle in such an order that its normal points from the object at the low end of the crossed
/// edge to that at the high end.
fn facing(triangle: &CrackTriangle) -> Corners {
    let [a, b, c] = triangle.points.map(|p| p.map(i64::from));
    let normal = cross(minus(b, a), minus(c, a));
    if normal[triangle.axis] < 0 { [a, c, b] } else { [a, b, c] }
}

/// The same of a dusty surface: the borders of all objects. Points are counted as `overlays.npz` has them: ends on
/// edges, and the centre of each fan, whose triangles follow one another.
fn dusty_surface(crossed: &TransitionVoxel, dusty: &DustVoxel) -> (u32, Vec<(Corners, [u32; 2])>) {
    let (mut points, mut all) = (0, Vec::new());
    for object in dusty.owners() {
        let mut last = None;
        for triangle in dusty.border(object) {
            let ends = edge_corners(triangle.bit as usize / 2).map(|corner| crossed.objects[corner]);
            let beyond = ends[1 - triangle.bit as usize % 2];
            all.push((triangle.points, [object, beyond]));
            let [_, _, middle] = triangle.points;
            points += 1 + u32::from(last.replace(middle) != Some(middle));
        }
    }
    (points, all)
}

/// Whether a triangle and a voxel's closed cube have a point in common. `inner` is the voxel's place in its transition
/// voxel, whose edge is `edge` leaf units.
///
/// They have none exactly if one of 13 axes parts them: the three directions of the cube's edges, the triangle's
/// normal, and the nine cross products of an edge of the cube and an edge of the triangle (Akenine-Möller 2001,
/// Journal of Graphics Tools 6, 29-33).
pub(super) fn touches(corners: &Corners, inner: [u32; 3], edge: u32) -> bool {
    // A leaf's edge is 2 `half`. In this unit corners, leaves and their centres are whole numbers.
    let half = i64::from(UNITS);
    let corner = |point: [i64; 3]| {
        let from_centre = |axis: usize| {
            2 * i64::from(edge) * point[axis] - (2 * i64::from(inner[axis]) + 1) * i64::from(UNITS)
        };
        [from_centre(0), from_centre(1), from_centre(2)]
    };
    let [a, b, c] = corners.map(corner);
    let edges = [minus(b, a), minus(c, b), minus(a, c)];
    let box_axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let of_edges = edges.iter().flat_map(|edge| box_axes.map(|axis| cross(axis, *edge)));
    let mut axes = box_axes.into_iter().chain([cross(edges[0], edges[1])]).chain(of_edges);
    !axes.any(|axis| {
        // A normal has up to 43 bits and a corner 22: their product needs more than 64.
        let wide = axis.map(i128::from);
        let height = |p: [i64; 3]| {
            let [x, y, z] = p.map(i128::from);
            wide[0] * x + wide[1] * y + wide[2] * z
        };
        let reach = i128::from(half) * wide.iter().map(|v| v.abs()).sum::<i128>();
        let heights = [height(a), height(b), height(c)];
        heights.iter().all(|height| *height > reach) || heights.iter().all(|height| *height < -reach)
    })
}
