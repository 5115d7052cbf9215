// Which seeds can own a point of a box (2016, sec. 4.1). Included by kernels that declare `seeds` (xyz, and w = rank of the object)
// and `candidates`.
//#include fracture/voronoi

// The first of the object's own candidates; the pair must have a list. An object that is one cell has its seed's index as rank.
fn own_seed(pair: Pair) -> u32 {
    if merged {
        return candidates[pair.list_first];
    }
    return pair.object;
}

fn is_own(pair: Pair, seed: u32) -> bool {
    if merged {
        return seeds[seed].w == i32(pair.object);
    }
    return seed == pair.object;
}

// The seed that the candidates of a box are measured against: what it beats at every corner is no candidate. An object's only
// candidate is its own judge, so that it is dropped where it is beaten; of several, the one nearest to the centre is, or a rival that is
// nearer still.
fn judge(pair: Pair, centre: vec3<i32>) -> u32 {
    if pair.list_count == 0u {
        return 0u;
    }
    var nearest = own_seed(pair);
    if !is_own(pair, candidates[pair.list_first + 1u]) {
        return nearest;
    }
    var least = distance2(centre, seeds[nearest].xyz);
    for (var k = 1u; k < pair.list_count; k++) {
        let r = candidates[pair.list_first + k];
        let d = distance2(centre, seeds[r].xyz);
        if d < least || (d == least && r < nearest) {
            least = d;
            nearest = r;
        }
    }
    return nearest;
}
