// A leaf's way down through the hierarchy, for what comes after it in the order and meets its own box: so each pair is
// found once. Needs bindings `keys`, `branches` and `bounds` of the including file, and its `keep`, which gets the numbers
// of two boxes, the smaller one first. That the boxes of two leaves meet `keep` finds out itself.
//#include bodies/broad_phase/passes/branch

fn meets(node: u32, low: vec3<i32>, high: vec3<i32>) -> bool {
    let at = BOX_WORDS * node;
    let node_low = vec3<i32>(bounds[at], bounds[at + 1u], bounds[at + 2u]);
    let node_high = vec3<i32>(bounds[at + 3u], bounds[at + 4u], bounds[at + 5u]);
    return all(node_low <= high) && all(low <= node_high);
}

// `id`: of the leaf; `own`: its box, from `low` to `high`.
fn descend(id: u32, own: u32, low: vec3<i32>, high: vec3<i32>) {
    // A node has one child on it while the other is below: as deep as there are bits in a key and its place.
    var stack: array<u32, 66>;
    var depth = 1u;
    stack[0] = 0u;
    while depth > 0u {
        depth -= 1u;
        let node = branches[stack[depth]];
        for (var c = 0u; c < 2u; c++) {
            let child = node[c] & ~LEAF;
            if (node[c] & LEAF) != 0u {
                if child > id {
                    let other = keys[child].y;
                    keep(min(own, other), max(own, other));
                }
            } else if branches[child].w > id && meets(child, low, high) {
                stack[depth] = child;
                depth += 1u;
            }
        }
    }
}
