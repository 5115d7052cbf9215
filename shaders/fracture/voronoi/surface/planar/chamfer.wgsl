// The second plane of a leaf that several cracks pass through. A leaf keeps its own plane and one more. Where two
// or more cracks end in it, one of them alone would leave a splinter of up to a voxel standing out beyond the
// others; the plane made here is their chamfer: its normal is the mean of theirs, weighed by what each takes away,
// and it leaves as much of the leaf as they do. What is left is counted at 4 x 4 x 4 points.
//#include shared/octree

// Planes through one leaf: normal out of the piece and distance from the voxel's centre, voxels.
struct Cuts {
    count: u32,
    planes: array<vec4<f32>, 9>,
}

fn cuts_add(cuts: ptr<function, Cuts>, normal: vec3<f32>, offset: f32) {
    if (*cuts).count < 9u {
        (*cuts).planes[(*cuts).count] = vec4<f32>(normal, offset);
        (*cuts).count += 1u;
    }
}

// The plane that comes nearest to the voxel's far side; only where there is one.
fn cuts_nearest(cuts: ptr<function, Cuts>) -> u32 {
    var best = 0u;
    for (var j = 1u; j < (*cuts).count; j++) {
        if (*cuts).planes[j].w < (*cuts).planes[best].w {
            best = j;
        }
    }
    return best;
}

fn cut_sample(k: u32) -> vec3<f32> {
    return (vec3<f32>(vec3<u32>(k & 3u, (k >> 2u) & 3u, k >> 4u)) - 1.5) * 0.25;
}

fn above(plane: vec4<f32>, p: vec3<f32>) -> bool {
    return dot(plane.xyz, p) > plane.w;
}

// The word for all of them, in a leaf with the plane `own`; 0 where there is none.
fn cuts_word(cuts: ptr<function, Cuts>, own: vec4<f32>) -> u32 {
    let count = (*cuts).count;
    if count == 0u {
        return 0u;
    }
    let nearest = cuts_nearest(cuts);
    let first = (*cuts).planes[nearest];
    let alone = cut_pack(first.xyz, first.w);
    if count == 1u {
        return alone;
    }
    var left = 0u;
    var left_by_first = 0u;
    var normal = vec3<f32>(0.0);
    for (var k = 0u; k < 64u; k++) {
        let p = cut_sample(k);
        if above(own, p) {
            continue;
        }
        var kept = true;
        for (var j = 0u; j < count; j++) {
            if above((*cuts).planes[j], p) {
                normal += (*cuts).planes[j].xyz;
                kept = false;
            }
        }
        left += select(0u, 1u, kept);
        left_by_first += select(1u, 0u, above(first, p));
    }
    if left == left_by_first || dot(normal, normal) < 0.01 {
        return alone;
    }
    normal = normalize(normal);
    var low = -0.98;
    var high = 0.98;
    for (var step = 0u; step < 7u; step++) {
        let middle = 0.5 * (low + high);
        var below = 0u;
        for (var k = 0u; k < 64u; k++) {
            let p = cut_sample(k);
            below += select(1u, 0u, above(own, p) || above(vec4<f32>(normal, middle), p));
        }
        if below > left {
            high = middle;
        } else {
            low = middle;
        }
    }
    return cut_pack(normal, low);
}
