// What lies beside a node in direction d, from the places round its parent (`row` of `above`) and its octant in the
// parent: a node of its own size, SOLID | the node that holds the internal octant, or NONE.

fn neighbour(row: u32, octant: vec3<i32>, d: vec3<i32>) -> u32 {
    let q = octant + d;
    // -1, 0 or 1: an arithmetic shift rounds down.
    let step = q >> vec3<u32>(1u);
    let cell = above[row + place_number(step)];
    if (cell & SOLID) != 0u {
        return cell;
    }
    let there = vec3<u32>(q - 2i * step);
    let c = there.x | (there.y << 1u) | (there.z << 2u);
    let masks = nodes[cell].masks;
    if ((masks >> (8u + c)) & 1u) != 0u {
        return cell | SOLID;
    }
    return select(NONE, child_of(nodes[cell].child_base, masks, c), ((masks >> c) & 1u) != 0u);
}
