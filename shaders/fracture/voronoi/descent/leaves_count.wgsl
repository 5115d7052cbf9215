// Domaradzki & Martyn 2016, sec. 4.4 and 4.7: which leaves of each pair's node get a copy in the pair's object. One
// thread takes one pair at the last parent level. A boundary leaf is copied to every object that owns a corner; an
// internal one becomes a crack voxel of each of its objects when its corners lie in several, else it stays
// internal: a Voronoi face between two seeds of one object makes no surface.
// The eight leaves share 27 corners; corner n is at (n % 3, n / 3 % 3, n / 9) edges from the node's low corner.
// They are kept in nine rows along x and written out, not looped over, as in fracture/voronoi/descent/corner_owners
// and for its reasons.
//#include fracture/voronoi/descent/cells
//#include fracture/voronoi/descent/counting

// The nearest of the object's own seeds, and how much farther away it is than the object's first one.
var<private> own: array<vec3<u32>, 9>;
var<private> own_lead: array<vec3<i32>, 9>;
// The least that a rival is farther away than that; a rival of a lower index counts as nearer by one, which gives
// it the ties.
var<private> margin: array<vec3<i32>, 9>;

fn take_own(row: u32, lead: vec3<i32>, seed: u32) {
    // They come in ascending order.
    let is_nearer = lead < own_lead[row];
    own_lead[row] = select(own_lead[row], lead, is_nearer);
    own[row] = select(own[row], vec3<u32>(seed), is_nearer);
}

fn take_rival(row: u32, lead: vec3<i32>, seed: u32) {
    margin[row] = min(margin[row], lead - own_lead[row] - vec3<i32>(vec3<u32>(seed) < own[row]));
}

fn take(row: u32, lead: vec3<i32>, seed: u32, is_rival: bool) {
    if is_rival {
        take_rival(row, lead, seed);
    } else {
        take_own(row, lead, seed);
    }
}

// `at` the low corner, and `step` more for every edge along an axis.
fn take_all(at: i32, step: vec3<i32>, seed: u32, is_rival: bool) {
    let row = vec3<i32>(at) + vec3<i32>(0i, step.x, 2i * step.x);
    take(0u, row, seed, is_rival);
    take(1u, row + step.y, seed, is_rival);
    take(2u, row + 2i * step.y, seed, is_rival);
    take(3u, row + step.z, seed, is_rival);
    take(4u, row + step.z + step.y, seed, is_rival);
    take(5u, row + step.z + 2i * step.y, seed, is_rival);
    take(6u, row + 2i * step.z, seed, is_rival);
    take(7u, row + 2i * step.z + step.y, seed, is_rival);
    take(8u, row + 2i * step.z + 2i * step.y, seed, is_rival);
}

// Three bits: the corners of a row that are the object's.
fn owned_in(row: u32) -> u32 {
    let mine = select(vec3<u32>(0u), vec3<u32>(1u, 2u, 4u), margin[row] >= vec3<i32>(0i));
    return mine.x | mine.y | mine.z;
}

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    let pair = pairs[i];
    let octants = octants_of(pair);
    let valid = octants.x;
    let internal = octants.y;
    var copies = valid;
    var whole = internal;
    if pair.list_count > 0u {
        copies = 0u;
        whole = 0u;
        let edge = node_edge(params.child_level);
        let low = node_low(pair.key, params.child_level - 1u);
        let first = own_seed(pair);
        let s = seeds[first].xyz;
        let s_distance2 = distance2(low, s);
        for (var row = 0u; row < 9u; row++) {
            own[row] = vec3<u32>(first);
            own_lead[row] = vec3<i32>(0i);
            margin[row] = vec3<i32>(0x7fffffffi);
        }
        var k = 1u;
        while merged && k < pair.list_count && is_own(pair, candidates[pair.list_first + k]) {
            let r = candidates[pair.list_first + k];
            let p = seeds[r].xyz;
            take_all(distance2(low, p) - s_distance2, 2i * edge * (s - p), r, false);
            k += 1u;
        }
        while k < pair.list_count {
            let r = candidates[pair.list_first + k];
            let p = seeds[r].xyz;
            take_all(distance2(low, p) - s_distance2, 2i * edge * (s - p), r, true);
            k += 1u;
        }
        var owned = 0u;
        for (var row = 0u; row < 9u; row++) {
            owned |= owned_in(row) << (3u * row);
        }
        for (var c = 0u; c < 8u; c++) {
            // The corners of octant c: bits 0, 1, 3, 4, 9, 10, 12, 13 shifted by its own place.
            let corners = 0x361bu << ((c & 1u) + 3u * ((c >> 1u) & 1u) + 9u * (c >> 2u));
            let bit = (valid | internal) & (1u << c);
            if (owned & corners) == corners && (internal & bit) != 0u {
                whole |= bit;
            } else if (owned & corners) != 0u {
                copies |= bit;
            }
        }
    }
    write_counts(i, copies, whole);
}
