// Domaradzki & Martyn 2016, sec. 4.4, on the boundary voxels only: which cells own a point in or near each of them.
// Nothing is copied and nothing read back, so a preview can follow the pointer.
// One thread takes one boundary voxel and asks every seed.
//#include shared/thread
//#include shared/seams
//#include fracture/voronoi/exact

struct SeamParams { leaves: u32, level: u32, seeds: u32 }

@group(0) @binding(0) var<uniform> params: SeamParams;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> seams: array<u32>;

fn seed_at(i: u32) -> vec3<i32> {
    return bitcast<vec3<i32>>(vec3<u32>(seams[4u * i], seams[4u * i + 1u], seams[4u * i + 2u]));
}

fn thread(i: u32) {
    if i >= params.leaves {
        return;
    }
    let edge = node_edge(params.level);
    let centre = node_low(keys[i], params.level) + vec3<i32>(edge / 2i);
    var own = 0u;
    var nearest = distance2(centre, seed_at(0u));
    for (var k = 1u; k < params.seeds; k++) {
        let d = distance2(centre, seed_at(k));
        if d < nearest {
            nearest = d;
            own = k;
        }
    }
    let s = seed_at(own);
    let object = seams[4u * own + 3u];
    var cells: array<u32, 8>;
    cells[0] = own;
    var count = 1u;
    var several = false;
    for (var k = 0u; k < params.seeds; k++) {
        if k != own && duel(own, s, k, seed_at(k), centre, edge + 2i * SEAM_REACH).contested {
            several = several || seams[4u * k + 3u] != object;
            if count < SEAM_CELLS {
                cells[count >> 1u] |= k << (16u * (count & 1u));
            }
            count += 1u;
        }
    }
    let record = 4u * params.seeds + SEAM_WORDS * i;
    seams[record] = select(count, SEAM_ALL, count > SEAM_CELLS) | select(SEAM_QUIET, 0u, several);
    for (var w = 0u; w + 1u < SEAM_WORDS; w++) {
        seams[record + 1u + w] = cells[w];
    }
}
