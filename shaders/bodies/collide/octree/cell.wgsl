// Looking a cell up in an octree. Needs a binding `nodes` of the including file.
//#include shared/octree

const EMPTY: u32 = 0xffffffffu;
const INSIDE: u32 = 0xfffffffeu;

// EMPTY, INSIDE, or the node's index at `level` (the leaf's at the leaf level). Outside the grid is empty. `tree`:
// first node of the forest, root, level, what to add to a node's index to get its surfel's.
fn look_up_in(tree: vec4<u32>, level: u32, cell: vec3<i32>) -> u32 {
    let side = i32(1u << level);
    if any(cell < vec3<i32>(0)) || any(cell >= vec3<i32>(side)) {
        return EMPTY;
    }
    let p = vec3<u32>(cell);
    var index = tree.y;
    for (var l = 0u; l < level; l++) {
        let bit = level - 1u - l;
        let node = nodes[tree.x + index];
        let c = ((p.x >> bit) & 1u) | (((p.y >> bit) & 1u) << 1u) | (((p.z >> bit) & 1u) << 2u);
        if ((node_internal(node) >> c) & 1u) == 1u {
            return INSIDE;
        }
        if ((node_valid(node) >> c) & 1u) == 0u {
            return EMPTY;
        }
        index = node_child(node, c);
    }
    return index;
}
