// Domaradzki & Martyn 2016, sec. 4.1 and 4.3: one level of the descent, counting.
// One thread takes one (object, node) pair and decides each octant: dropped, alive (goes on), or whole (inside the
// solid and inside the object: an internal node of the object's octree, nothing is stored for it).
// masks: alive (8 bits), whole (8 bits), alive and contested by rivals (8 bits).
//#include fracture/voronoi/descent/cells
//#include fracture/voronoi/descent/counting
//#include fracture/voronoi/descent/octants

fn sum(v: vec4<u32>) -> u32 {
    return v.x + v.y + v.z + v.w;
}

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    let pair = pairs[i];
    let octants = octants_of(pair);
    let valid = octants.x;
    let internal = octants.y;
    let edge = node_edge(params.child_level);
    let centre = node_low(pair.key, params.child_level - 1u) + vec3<i32>(edge / 2i);
    find_judges(pair, centre, edge);
    // Octants that the object may have a part of, and those where rivals stay.
    var own = 0u;
    var rivals = 0u;
    var lost = 0u;
    var lower_listed = vec4<u32>(0u);
    var upper_listed = vec4<u32>(0u);
    for (var k = 0u; k < pair.list_count; k++) {
        let r = candidates[pair.list_first + k];
        let outcome = duels(pair, r, centre, edge);
        // Only an object's single candidate can be beaten everywhere: nobody is nearer to the centre than another
        // judge.
        lost |= bits_of(outcome.lost);
        let stays = bits_of(outcome.contested);
        if is_own(pair, r) {
            own |= stays;
        } else {
            rivals |= stays;
        }
        lower_listed += vec4<u32>(outcome.contested.lower);
        upper_listed += vec4<u32>(outcome.contested.upper);
    }
    let live = (valid | internal) & select(own & ~lost, 0xffu, pair.list_count == 0u);
    let whole = live & internal & ~rivals;
    let alive = live & ~whole;
    let contested = alive & rivals;
    let bits = vec4<u32>(contested) >> vec4<u32>(0u, 1u, 2u, 3u);
    let listed = sum(lower_listed * (bits & vec4<u32>(1u))) + sum(upper_listed * ((bits >> vec4<u32>(4u)) & vec4<u32>(1u)));
    masks[i] = alive | (whole << 8u) | (contested << 16u);
    counts[i] = vec2<u32>(countOneBits(alive), listed);
}
