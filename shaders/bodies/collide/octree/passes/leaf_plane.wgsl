// The surface in a leaf: crates/physics/src/collide/octree/surfels.rs. Needs bindings `normals`, `colors` and `cuts` of the
// including file; leaves by their place in the arena, points in voxels.
//#include shared/octree

// An edge counts where it passes the middle of its voxel within this, voxels along any axis.
const EDGE_REACH: f32 = 0.6;

// A point of the surface, or of the edge where a fracture cuts the leaf. `low`: the voxel's corner.
fn leaf_sample(leaf: u32, low: vec3<f32>) -> vec3<f32> {
    let n = normal_unpack(normals[leaf]);
    let middle = low + 0.5;
    let p = middle + n * leaf_offset(colors[leaf]);
    let cut = cuts[leaf];
    if !cut_is_there(cut) {
        return p;
    }
    let m = cut_normal(cut);
    let beyond = dot(p - middle, m) - cut_offset(cut);
    let cosine = dot(n, m);
    let edge = p - (m - n * cosine) * (beyond / max(1.0 - cosine * cosine, 1.0e-3));
    let reach = abs(edge - middle);
    if max(reach.x, max(reach.y, reach.z)) <= EDGE_REACH {
        return edge;
    }
    return select(p, p - m * beyond, beyond > 0.0);
}

fn is_behind(leaf: u32, point: vec3<f32>) -> bool {
    let n = normal_unpack(normals[leaf]);
    let middle = floor(point) + 0.5;
    let cut = cuts[leaf];
    let uncut = !cut_is_there(cut) || dot(point - middle, cut_normal(cut)) < cut_offset(cut);
    return uncut && dot(point - middle, n) < leaf_offset(colors[leaf]);
}
