// How near a triangle is, and how a crack voxel's colour word is packed.
//#include shared/octree

const NO_LEAF: u32 = 0x0fffffffu;

fn segment_distance2(p: vec3<f32>, a: vec3<f32>, b: vec3<f32>) -> f32 {
    let along = b - a;
    let t = clamp(dot(p - a, along) / max(dot(along, along), 1.0), 0.0, 1.0);
    let off = p - a - t * along;
    return dot(off, off);
}

fn triangle_distance2(p: vec3<f32>, a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> f32 {
    let n = cross(b - a, c - a);
    let above = dot(cross(b - a, p - a), n) >= 0.0 && dot(cross(c - b, p - b), n) >= 0.0 && dot(cross(a - c, p - c), n) >= 0.0;
    if above {
        let h = dot(p - a, n);
        return h * h / max(dot(n, n), 1.0);
    }
    return min(segment_distance2(p, a, b), min(segment_distance2(p, b, c), segment_distance2(p, c, a)));
}

fn color_word(rgb: vec3<f32>, offset_voxels: f32) -> u32 {
    let q = vec3<u32>(round(rgb * 255.0));
    let o = i32(clamp(round(offset_voxels * 64.0), -64.0, 63.0));
    return q.x | (q.y << 8u) | (q.z << 16u) | (1u << 24u) | ((bitcast<u32>(o) & 0x7fu) << 25u);
}
