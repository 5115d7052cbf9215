// How near a triangle is.

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
