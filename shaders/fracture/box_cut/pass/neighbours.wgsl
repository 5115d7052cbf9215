// The neighbours of a site, nearest first, batch by batch (Chlubna sec. 4; the twin is
// crates/core/src/fracture/box_cut/sphere_tree.rs).
//
// A neighbour is one word of 64 bits, the lower half first: the squared distance in the upper 34 bits, the index of the
// site in the lower 30. A batch is all words above `last` and up to `bound`, found among the bins that a ball of that
// size meets, then sorted by counting for each how many are below it. Where there are more than a batch holds, the
// bound is halved. Which sites come first does not depend on bins or bounds, these only say how many are looked at.
//#include fracture/box_cut/pass/shape

// Sites are in the order of their bins, x fastest; bin b holds those from bins[b] on. `first`, `count`: the cells of
// this dispatch, in the order of the sites.
struct CellParams {
    first: u32,
    count: u32,
    low_x: i32,
    low_y: i32,
    low_z: i32,
    high_x: i32,
    high_y: i32,
    high_z: i32,
    bins_x: i32,
    bins_y: i32,
    bins_z: i32,
    bin: i32,
    across_x: i32,
    across_y: i32,
    across_z: i32,
}

const BATCH: u32 = 128u;
// Sites that the first bound is guessed to hold, times 3 / 4 pi.
const FIRST: f32 = 7.0;
// No word is above it.
const ALL: vec2<u32> = vec2<u32>(0xffffffffu, 0xffffffffu);

var<workgroup> batch: array<vec2<u32>, BATCH>;
var<workgroup> sorted: array<vec2<u32>, BATCH>;
// Where their sites are in the order of the bins.
var<workgroup> batch_places: array<u32, BATCH>;
var<workgroup> sorted_places: array<u32, BATCH>;
var<workgroup> found: atomic<u32>;
// How often a thread went round the loop over sites, at most.
var<workgroup> rounds: atomic<u32>;

fn is_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn index_of(word: vec2<u32>) -> u32 {
    return word.x & 0x3fffffffu;
}

// Whether the squared distance of a word is surely above `reach`, a squared distance that was rounded up. What is
// beyond by less than the slack is cut by in vain, which changes nothing: all vertices are inside of its plane.
fn is_beyond(word: vec2<u32>, reach: f32) -> bool {
    return (f32(word.y) * 4.0 + f32(word.x >> 30u)) * 0.99999905 > reach;
}

fn squared(a: i32) -> vec2<u32> {
    return multiplied(u32(abs(a)), u32(abs(a)));
}

fn word_of(site: vec4<i32>, centre: vec3<i32>) -> vec2<u32> {
    let apart = site.xyz - centre;
    let d = sum2(sum2(squared(apart.x), squared(apart.y)), squared(apart.z));
    return vec2<u32>((d.x << 30u) | u32(site.w), (d.y << 30u) | (d.x >> 2u));
}

// The word in the middle of two; below `b`, and not below `a`.
fn middle(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let apart = sum2(b, negated2(a));
    return sum2(a, vec2<u32>((apart.x >> 1u) | (apart.y << 31u), apart.y >> 1u));
}

// Up to twice as far as `bound`, and no farther than `reach` (rounded up).
fn wider(bound: vec2<u32>, reach: f32) -> vec2<u32> {
    let most = u32(min(reach * 0.25 * 1.000002, 4294966784.0)) + 1u;
    let twice = select(4u * bound.y + 4u, 0xffffffffu, bound.y > 0x3ffffff0u);
    return vec2<u32>(0xffffffffu, min(twice, most));
}

fn bin_of(at: vec3<i32>) -> vec3<i32> {
    let low = vec3<i32>(params.bins_x, params.bins_y, params.bins_z);
    let last = vec3<i32>(params.across_x, params.across_y, params.across_z) - 1i;
    return min(max(at - low, vec3<i32>(0i)) / params.bin, last);
}

fn bin_number(bin: vec3<i32>) -> u32 {
    return u32((bin.z * params.across_y + bin.y) * params.across_x + bin.x);
}

// All, where a batch holds them; else a ball that would hold some sites, were all bins as full as that of the site.
fn first_bound(site: vec3<i32>) -> vec2<u32> {
    if bins[params.across_x * params.across_y * params.across_z] <= BATCH {
        return ALL;
    }
    let b = bin_number(bin_of(site));
    let radius = f32(params.bin) * pow(FIRST / f32(bins[b + 1u] - bins[b]), 1.0 / 3.0);
    return vec2<u32>(0xffffffffu, u32(min(0.25 * radius * radius, 4294967040.0)));
}

// Collects the words above `last` and up to `bound`, in any order, as far as there is room, and says how many there
// are.
fn collect(local: u32, site: vec3<i32>, last: vec2<u32>, bound: vec2<u32>) -> u32 {
    if local == 0u {
        atomicStore(&found, 0u);
        atomicStore(&rounds, 0u);
    }
    workgroupBarrier();
    let radius = i32(min(sqrt(f32(bound.y) * 4.0 + 4.0) * 1.0001, 131072.0)) + 2i;
    let low = bin_of(site - radius);
    let size = bin_of(site + radius) - low + 1i;
    // Rows of bins lie side by side along x. Few rows are shared by several threads each.
    let rows = u32(size.y * size.z);
    let lanes = max(THREADS / rows, 1u);
    let teams = THREADS / lanes;
    // One loop over rows and sites, so that threads that are done with a row need not wait for others.
    var gone_round = 0u;
    var row = select(rows, local / lanes, local < teams * lanes);
    var s = 0u;
    var end = 0u;
    while s < end || row < rows {
        if s >= end {
            let y = low.y + i32(row) % size.y;
            let z = low.z + i32(row) / size.y;
            let begin = bin_number(vec3<i32>(low.x, y, z));
            s = bins[begin] + local % lanes;
            end = bins[begin + u32(size.x)];
            row += teams;
        }
        if s < end {
            let word = word_of(sites[s], site);
            if is_less(last, word) && !is_less(bound, word) {
                let at = atomicAdd(&found, 1u);
                if at < BATCH {
                    batch[at] = word;
                    batch_places[at] = s;
                }
            }
            s += lanes;
        }
        gone_round += 1u;
    }
    atomicMax(&rounds, gone_round);
    return workgroupUniformLoad(&found);
}

fn sort_batch(local: u32, count: u32) {
    for (var k = local; k < count; k += THREADS) {
        let word = batch[k];
        var rank = 0u;
        for (var other = 0u; other < count; other++) {
            rank += u32(is_less(batch[other], word));
        }
        sorted[rank] = word;
        sorted_places[rank] = batch_places[k];
    }
    workgroupBarrier();
}

// The plane between the site and a neighbour: its limit is the squared distance.
fn limit_of(word: vec2<u32>) -> vec2<u32> {
    return vec2<u32>((word.y << 2u) | (word.x >> 30u), word.y >> 30u);
}

// The first neighbour from `first` on of which floats do not tell that the whole cell is inside of its plane; `NONE` if
// there is none within reach. One thread looks at one neighbour. What is inside once stays so, since the cell only
// shrinks: so the many neighbours that do not cut are passed over at once, and nothing waits for each of them.
fn next_in_doubt(local: u32, first: u32, count: u32, site: vec3<i32>, reach: f32) -> u32 {
    let end = alive_end();
    for (var k = first + local; k < count; k += THREADS) {
        let word = sorted[k];
        if is_beyond(word, reach) {
            break;
        }
        let normal = vec3<f32>(sites[sorted_places[k]].xyz - site);
        let limit = rounded2(limit_of(word));
        var is_inside = true;
        for (var v = 0u; v < end; v++) {
            let by = outside_by(v, normal, limit);
            is_inside &= by.x < -by.y;
        }
        if !is_inside {
            atomicMin(&next, k);
            break;
        }
    }
    return workgroupUniformLoad(&next);
}
