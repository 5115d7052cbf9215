// Which seeds can own a point of a box (2016, sec. 4.1). Included by kernels that declare `seeds` (xyz, and w =
// rank of the object) and `candidates`.
//#include fracture/voronoi/exact

// The first of the object's own candidates; the pair must have a list. An object that is one cell has its seed's
// index as rank.
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
