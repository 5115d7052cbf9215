// The second plane of a leaf that several cracks pass through. A leaf keeps its own plane and one more. Where two
// or more cracks end in it, one of them alone would leave a splinter of up to a voxel standing out beyond the
// others; the plane made here is their chamfer: its normal is the mean of theirs, weighed by what each takes away,
// and it leaves as much of the leaf as they do. What is left is counted at 4 x 4 x 4 points. In whole numbers, as
// crates/core/src/fracture/voronoi/surface/planar/chamfer.rs has it.
//#include shared/octree
//#include fracture/voronoi/surface/plane

// Planes through one leaf, facing out of the piece.
struct Cuts {
    count: u32,
    planes: array<Plane, 9>,
}

fn cuts_add(cuts: ptr<function, Cuts>, plane: Plane) {
    if (*cuts).count < 9u {
        (*cuts).planes[(*cuts).count] = plane;
        (*cuts).count += 1u;
    }
}

// The plane that comes nearest to the voxel's far side; only where there is one.
fn cuts_nearest(cuts: ptr<function, Cuts>) -> u32 {
    var best = 0u;
    for (var j = 1u; j < (*cuts).count; j++) {
        if (*cuts).planes[j].offset < (*cuts).planes[best].offset {
            best = j;
        }
    }
    return best;
}

// Point k of the 64, eighths of a voxel from the centre.
fn cut_sample(k: u32) -> vec3<i32> {
    return 2i * vec3<i32>(vec3<u32>(k & 3u, (k >> 2u) & 3u, k >> 4u)) - 3i;
}

// 512 = 4096 / 8; both sides stay below 2^29.
fn above(plane: Plane, p: vec3<i32>) -> bool {
    return 512i * dot(plane.normal, p) > plane.offset * i32(plane.length);
}

// The word for all of them, in a leaf with the plane `own`; 0 where there is none.
fn cuts_word(cuts: ptr<function, Cuts>, own: Plane) -> u32 {
    let count = (*cuts).count;
    if count == 0u {
        return 0u;
    }
    let nearest = cuts_nearest(cuts);
    let first = (*cuts).planes[nearest];
    let alone = plane_cut_word(first);
    if count == 1u {
        return alone;
    }
    // How many points each takes away; below the leaf's own plane, 32 a word.
    var inside = vec2<u32>(0u);
    var left = 0u;
    var left_by_first = 0u;
    var taken: array<i32, 9>;
    for (var k = 0u; k < 64u; k++) {
        let p = cut_sample(k);
        if above(own, p) {
            continue;
        }
        inside[k >> 5u] |= 1u << (k & 31u);
        var kept = true;
        for (var j = 0u; j < count; j++) {
            if above((*cuts).planes[j], p) {
                taken[j] += 1i;
                kept = false;
            }
        }
        left += select(0u, 1u, kept);
        left_by_first += select(1u, 0u, above(first, p));
    }
    var sum = vec3<i32>(0i);
    for (var j = 0u; j < count; j++) {
        let plane = (*cuts).planes[j];
        sum += ((plane.normal << vec3<u32>(14u)) / i32(plane.length)) * taken[j];
    }
    // Shorter than a tenth of one normal: they face all ways.
    let short = clamp(sum, vec3<i32>(-8192i), vec3<i32>(8192i));
    if left == left_by_first || dot(short, short) < 2684355i {
        return alone;
    }
    var chamfer = plane_with_offset(sum, 0i);
    var low = -127i;
    var high = 127i;
    for (var step = 0u; step < 8u; step++) {
        let middle = (low + high) >> 1u;
        chamfer.offset = 32i * middle;
        var below = 0u;
        for (var k = 0u; k < 64u; k++) {
            let is_inside = ((inside[k >> 5u] >> (k & 31u)) & 1u) != 0u;
            below += select(0u, 1u, is_inside && !above(chamfer, cut_sample(k)));
        }
        if below > left {
            high = middle;
        } else {
            low = middle;
        }
    }
    chamfer.offset = 32i * low;
    return plane_cut_word(chamfer);
}
