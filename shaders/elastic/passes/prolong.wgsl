// Interpolates the displacements of a coarser level, and adds them to those of a level. One thread: one fine node.
//#include shared/thread
//#include elastic/passes/data

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(1) var<storage, read> chunks: array<u32>;
// Of each fine chunk 8 times the coarse one that has the node at half its coordinates, and the lowest bits of its place (x, y, z).
@group(0) @binding(2) var<storage, read> parents: array<u32>;
@group(0) @binding(3) var<storage, read> coarse_chunks: array<u32>;
@group(0) @binding(4) var<storage, read> coarse: array<f32>;
@group(0) @binding(5) var<storage, read_write> next: array<f32>;
@group(0) @binding(6) var<storage, read_write> sum: array<f32>;
@group(0) @binding(7) var<storage, read> state: ElasticState;

// The displacement at coarse node `x` of a row; 8 lies in the chunk after.
fn displacement(row: u32, x: u32) -> vec3<f32> {
    let place = coarse_chunks[row + x / LANES] * CHUNK + x % LANES;
    return vec3<f32>(coarse[place], coarse[place + LANES], coarse[place + 2u * LANES]);
}

fn thread(id: u32) {
    let chunk = id / LANES;
    let lane = id % LANES;
    if chunk >= params.chunks || state.done != 0u {
        return;
    }
    let parent = parents[chunk];
    let odd = vec3<u32>(lane & 1u, parent >> 1u & 1u, parent >> 2u & 1u);
    let x = 4u * (parent & 1u) + lane / 2u;
    let here = parent / 8u * WORDS + HERE;
    var total = vec3<f32>(0.0);
    for (var z = 0u; z <= odd.z; z++) {
        for (var y = 0u; y <= odd.y; y++) {
            let row = here + 9u * z + 3u * y;
            total += displacement(row, x);
            if odd.x == 1u {
                total += displacement(row, x + 1u);
            }
        }
    }
    total /= f32((1u + odd.x) * (1u + odd.y) * (1u + odd.z));
    let free = chunks[chunk * WORDS + FREE] >> lane;
    for (var axis = 0u; axis < 3u; axis++) {
        let at = chunk * CHUNK + axis * LANES + lane;
        let own = select(0.0, total[axis], (free >> (axis * LANES) & 1u) != 0u);
        next[at] = own;
        sum[at] += own;
    }
}
