// One level of the descent, writing: the pairs of the next level, in order (object-major, Morton order inside an
// object), each with the candidates that can still own a point of it.
// One thread takes one pair; `offsets` says where its children and their candidates begin.
//#include fracture/voronoi/descent/cells
//#include fracture/voronoi/descent/octants
//#include fracture/voronoi/descent/writing

@group(0) @binding(8) var<storage, read_write> next_candidates: array<u32>;

// Appends to one octant's list.
fn put(at: u32, r: u32, stays: bool) -> u32 {
    if stays {
        next_candidates[at] = r;
    }
    return at + u32(stays);
}

fn thread(i: u32) {
    if i >= size.count {
        return;
    }
    let pair = pairs[i];
    let alive = masks[i] & 0xffu;
    let contested = masks[i] >> 16u;
    let edge = node_edge(params.child_level);
    let centre = node_low(pair.key, params.child_level - 1u) + vec3<i32>(edge / 2i);
    find_judges(pair, centre, edge);
    let lower_contested = ((vec4<u32>(contested) >> vec4<u32>(0u, 1u, 2u, 3u)) & vec4<u32>(1u)) != vec4<u32>(0u);
    let upper_contested = ((vec4<u32>(contested) >> vec4<u32>(4u, 5u, 6u, 7u)) & vec4<u32>(1u)) != vec4<u32>(0u);
    var lower_count = vec4<u32>(0u);
    var upper_count = vec4<u32>(0u);
    let list_count = select(0u, pair.list_count, contested != 0u);
    for (var k = 0u; k < list_count; k++) {
        let stays = duels(pair, candidates[pair.list_first + k], centre, edge).contested;
        lower_count += vec4<u32>(stays.lower & lower_contested);
        upper_count += vec4<u32>(stays.upper & upper_contested);
    }
    // Where each octant's list begins.
    var lower = vec4<u32>(offsets[i].y);
    lower.y = lower.x + lower_count.x;
    lower.z = lower.y + lower_count.y;
    lower.w = lower.z + lower_count.z;
    var upper = vec4<u32>(lower.w + lower_count.w);
    upper.y = upper.x + upper_count.x;
    upper.z = upper.y + upper_count.y;
    upper.w = upper.z + upper_count.z;

    var slot = offsets[i].x;
    for (var rest = alive; rest != 0u; rest &= rest - 1u) {
        let c = firstTrailingBit(rest);
        var child = Pair(source_below(pair, c), pair.object, (pair.key << 3u) | c, 0u, 0u);
        child.list_first = select(lower, upper, c >= 4u)[c & 3u];
        child.list_count = select(lower_count, upper_count, c >= 4u)[c & 3u];
        next_pairs[slot] = child;
        slot += 1u;
    }
    for (var k = 0u; k < list_count; k++) {
        let r = candidates[pair.list_first + k];
        let stays = duels(pair, r, centre, edge).contested;
        lower.x = put(lower.x, r, stays.lower.x && lower_contested.x);
        lower.y = put(lower.y, r, stays.lower.y && lower_contested.y);
        lower.z = put(lower.z, r, stays.lower.z && lower_contested.z);
        lower.w = put(lower.w, r, stays.lower.w && lower_contested.w);
        upper.x = put(upper.x, r, stays.upper.x && upper_contested.x);
        upper.y = put(upper.y, r, stays.upper.y && upper_contested.y);
        upper.z = put(upper.z, r, stays.upper.z && upper_contested.z);
        upper.w = put(upper.w, r, stays.upper.w && upper_contested.w);
    }
}
