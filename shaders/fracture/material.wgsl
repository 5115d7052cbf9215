// What crack voxels are made of. Included by kernels that declare `params` with a member `interior`.
//#include shared/octree

fn hash(p: vec3<i32>) -> f32 {
    var h = u32(p.x) * 0x8da6b343u ^ u32(p.y) * 0xd8163841u ^ u32(p.z) * 0xcb1ab31fu;
    h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12u)) * 0x297a2d39u;
    return f32((h ^ (h >> 15u)) >> 8u) / 16777216.0;
}

// Value noise in [0, 1); `p` in fixed-point units, `cell` its lattice edge in the same.
fn value_noise(p: vec3<i32>, cell: i32) -> f32 {
    let lattice = vec3<i32>(floor(vec3<f32>(p) / f32(cell)));
    var t = (vec3<f32>(p) - vec3<f32>(lattice * cell)) / f32(cell);
    t = t * t * (3.0 - 2.0 * t);
    var sum = 0.0;
    for (var c = 0i; c < 8i; c++) {
        let o = vec3<i32>(c & 1i, (c >> 1u) & 1i, c >> 2u);
        let w = mix(1.0 - t, t, vec3<f32>(o));
        sum += w.x * w.y * w.z * hash(lattice + o);
    }
    return sum;
}

fn interior_color(p: vec3<i32>) -> vec3<f32> {
    let base = leaf_rgb(params.interior);
    let grain = 0.6 * value_noise(p, 700i) + 0.4 * value_noise(p, 160i);
    return clamp(base * (0.86 + 0.24 * grain), vec3<f32>(0.0), vec3<f32>(1.0));
}
