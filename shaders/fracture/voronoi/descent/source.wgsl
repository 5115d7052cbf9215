// What the source octree has below a pair's node. Included by kernels that declare `nodes` and `params` with node_base.
//#include fracture/voronoi/exact

// x: stored octants, y: internal ones.
fn octants_of(pair: Pair) -> vec2<u32> {
    if pair.source == INSIDE {
        return vec2<u32>(0u, 0xffu);
    }
    let node = nodes[params.node_base + pair.source];
    return vec2<u32>(node_valid(node), node_internal(node));
}

// The source of the pair below, in octant c.
fn source_below(pair: Pair, c: u32) -> u32 {
    if pair.source == INSIDE {
        return INSIDE;
    }
    let node = nodes[params.node_base + pair.source];
    return select(INSIDE, node_child(node, c), (node_valid(node) & (1u << c)) != 0u);
}
