//! The side of a point of a crossed voxel that no triangle passes through: the same as `rough/sides.wgsl`.

use glam::IVec3;

use super::{TransitionVoxel, UNITS};

/// The object whose region a point lies in: the regions are cones over the walls, seen from the voxel point. All
/// products stay below 2^29.
pub(in crate::fracture) fn cone_object(voxel: &TransitionVoxel, p: IVec3) -> u32 {
    let v = IVec3::from_array(voxel.voxel_point);
    let d = p - v;
    let gap = |axis: usize| if d[axis] > 0 { UNITS - v[axis] } else { v[axis] };
    let mut axis = 0;
    for k in 1..3 {
        if d[k].abs() * gap(axis) > d[axis].abs() * gap(k) {
            axis = k;
        }
    }
    let side = usize::from(d[axis] > 0);
    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
    let Some(f) = voxel.face_points[2 * axis + side] else { return voxel.objects[side << axis] };
    // Intersection of the ray with the wall, seen from the face point, times `scale`.
    let scale = d[axis].abs();
    let across = [b, c].map(|k| (v[k] - f[k]) * scale + d[k] * gap(axis));
    let rest = |k: usize, across: i32| if across > 0 { UNITS - f[k] } else { f[k] };
    let rest = [rest(b, across[0]), rest(c, across[1])];
    // The wall's edge that it hits: at an end of one axis, along the other.
    let end_of_b = across[0].abs() * rest[1] >= across[1].abs() * rest[0];
    let (ends, runs, reach) =
        if end_of_b { (across[0], across[1], rest[0]) } else { (across[1], across[0], rest[1]) };
    let (ends_axis, runs_axis) = if end_of_b { (b, c) } else { (c, b) };
    let low = side << axis | usize::from(ends > 0) << ends_axis;
    let edge = 4 * runs_axis + (low >> ((runs_axis + 1) % 3) & 1) + 2 * (low >> ((runs_axis + 2) % 3) & 1);
    let offset = voxel.edge_points[edge].map_or(0, |point| point[runs_axis]);
    let beyond = (f[runs_axis] - offset) * ends.abs() + runs * reach > 0;
    voxel.objects[low | usize::from(beyond) << runs_axis]
}

/// 2018, sec. 5.3: every triangle votes for the end of its edge on whose side the point lies; the lowest object of
/// the most voted.
pub(in crate::fracture) fn elected_object(voxel: &TransitionVoxel, p: IVec3) -> u32 {
    let mut votes = [0u32; 8];
    for triangle in voxel.triangles() {
        let [e, f, v] = triangle.points.map(IVec3::from_array);
        let normal = (f - e).cross(v - e);
        let high = normal.dot(p - e) * normal[triangle.axis].signum() > 0;
        let object = triangle.sides[usize::from(high)];
        let corner = voxel.objects.iter().position(|known| *known == object);
        votes[corner.unwrap_or(0)] += 1;
    }
    let winner = (0..8).max_by_key(|c| (votes[*c], std::cmp::Reverse(voxel.objects[*c])));
    voxel.objects[winner.unwrap_or(0)]
}
