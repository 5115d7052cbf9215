// One iteration of the published labelling (2016, sec. 4.5.1 and 4.5.2), first half: the largest label of a voxel's
// neighbourhood spreads over it by atomicMax. All reads are of the labels before the iteration, so the result does
// not depend on the order of threads. One thread takes one voxel of a launched group and looks in 13 directions, so
// that two voxels meet once, and in the three faces left for a larger internal node, which cannot look back at each
// voxel on its side. Neighbours are found by binary search in the group; which exist is kept in `state`, and later
// launches search for those only.
//#include shared/thread
//#include fracture/voronoi/islands/labelling/voxels

struct LabelSpreadParams { threads: u32, launches: u32, level: u32, is_first: u32 }

@group(0) @binding(0) var<uniform> params: LabelSpreadParams;
@group(0) @binding(1) var<storage, read> voxels: array<Voxel>;
@group(0) @binding(2) var<storage, read> ranges: array<Group>;
@group(0) @binding(3) var<storage, read> launched: array<Launch>;
@group(0) @binding(4) var<storage, read> labels: array<u32>;
@group(0) @binding(5) var<storage, read_write> state: array<u32>;
@group(0) @binding(6) var<storage, read_write> next: array<atomic<u32>>;

//#include fracture/voronoi/islands/labelling/thread

const DIRECTIONS: u32 = 16u;
const EVERY: u32 = 0xffffu;
// The thread has nothing left to do: its neighbourhood bears the largest label of its group.
const MAXIMUM: u32 = 0x80000000u;
const NONE: u32 = 0xffffffffu;

// 0..9: (a, b, -1); 9..12: (a, 1, 0); 12: (-1, 0, 0); 13..16: the faces that these leave out.
fn direction(n: u32) -> vec3<i32> {
    let a = i32(n % 3u) - 1i;
    if n < 9u { return vec3<i32>(a, i32(n / 3u) - 1i, -1i); }
    if n < 12u { return vec3<i32>(a, 1i, 0i); }
    if n == 12u { return vec3<i32>(-1i, 0i, 0i); }
    return vec3<i32>(i32(n == 13u), -i32(n == 14u), i32(n == 15u));
}

// The voxel of the group that covers the node of this size beside `place`, or NONE.
fn beside(group: Group, place: vec3<u32>, size_log2: u32, n: u32) -> u32 {
    let q = vec3<i32>(place) + (direction(n) << vec3<u32>(size_log2));
    if any(q < vec3<i32>(0i)) || any(q >= vec3<i32>(1i << params.level)) {
        return NONE;
    }
    let key = morton_encode(vec3<u32>(q));
    // The last voxel that begins at or before the key.
    var low = group.first;
    var high = group.end;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if voxels[middle].key <= key {
            low = middle;
        } else {
            high = middle;
        }
    }
    let found = voxels[low];
    let covers = found.key <= key && ((key - found.key) >> (3u * found.size_log2)) == 0u;
    let large_enough = found.size_log2 >= size_log2 + u32(n >= 13u);
    return select(NONE, low, covers && large_enough);
}

fn thread(t: u32) {
    if t >= params.threads {
        return;
    }
    let launch = launch_of(t, params.launches);
    let group = ranges[launch.group];
    let v = group.first + t - launch.before;
    let search = select(state[v], EVERY, params.is_first != 0u);
    if (search & MAXIMUM) != 0u {
        return;
    }
    let place = morton_decode(voxels[v].key);
    let own = labels[v];
    var largest = own;
    var smallest = own;
    var exist = 0u;
    var near: array<u32, 16>;
    for (var rest = search; rest != 0u; rest &= rest - 1u) {
        let n = firstTrailingBit(rest);
        let other = beside(group, place, voxels[v].size_log2, n);
        if other != NONE {
            exist |= 1u << n;
            near[n] = other;
            largest = max(largest, labels[other]);
            smallest = min(smallest, labels[other]);
        }
    }
    state[v] = exist | select(0u, MAXIMUM, smallest + 1u == group.end);
    if smallest == largest {
        return;
    }
    atomicMax(&next[v], largest);
    for (var rest = exist; rest != 0u; rest &= rest - 1u) {
        let other = near[firstTrailingBit(rest)];
        if labels[other] < largest {
            atomicMax(&next[other], largest);
        }
    }
}
