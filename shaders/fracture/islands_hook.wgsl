// Islands as a lock-free union-find over octree nodes instead of voxels (2016, sec. 4.5 names the sets; the method is ours).
// All solid octants of one node touch at its centre, so a node's solid octants are one element. Connectivity is that of the solid:
// through internal nodes too, or the wall of a sealed cavity would become a false piece.
// One thread takes one node P above level `last`, finds P's 26 neighbours once, and unites each of P's children with what it touches: with
// nodes of the child's own size in the 13 directions that make every pair come up once, and with larger internal nodes through
// faces only. Faces are enough there: all face neighbours of an internal cell are solid and in the same cell, so whatever touches it
// by an edge or a corner also touches one of them.
//#include shared/linear_id
//#include shared/octree

struct Params { nodes: u32, last: u32, level_start: array<vec4<u32>, 3> }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> info: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> labels: array<atomic<u32>>;

fn find(start: u32) -> u32 {
    var x = start;
    var parent = atomicLoad(&labels[x]);
    while parent != x {
        let above = atomicLoad(&labels[parent]);
        if above != parent {
            atomicMin(&labels[x], above);
        }
        x = parent;
        parent = above;
    }
    return x;
}

// The smaller label wins. A parent that another thread had put there is united again.
fn unite(first: u32, second: u32) {
    var a = first;
    var b = second;
    loop {
        a = find(a);
        b = find(b);
        if a == b {
            return;
        }
        if a < b {
            let t = a;
            a = b;
            b = t;
        }
        let displaced = atomicMin(&labels[a], b);
        if displaced == a {
            return;
        }
        a = displaced;
    }
}

fn solid(node: Node, level: u32) -> u32 {
    return select(node_internal(node), node_internal(node) | node_valid(node), level == params.last);
}

// The octants that lie at the side of a node towards d.
fn side(d: vec3<i32>) -> u32 {
    var mask = 0xffu;
    if d.x != 0i { mask &= select(0x55u, 0xaau, d.x > 0i); }
    if d.y != 0i { mask &= select(0x33u, 0xccu, d.y > 0i); }
    if d.z != 0i { mask &= select(0x0fu, 0xf0u, d.z > 0i); }
    return mask;
}

// A neighbour that is part of a larger internal node: the owner's index with this bit.
const SOLID: u32 = 0x80000000u;
const NONE: u32 = 0xffffffffu;

// What lies at `key` on `level` of a tree: a node, SOLID | the node that holds the internal octant, or NONE.
fn descend(tree: u32, key: u32, level: u32) -> u32 {
    var at = tree;
    for (var depth = 0u; depth < level; depth++) {
        let bit = 1u << ((key >> (3u * (level - depth - 1u))) & 7u);
        let node = nodes[at];
        if (node_internal(node) & bit) != 0u {
            return at | SOLID;
        }
        if (node_valid(node) & bit) == 0u {
            return NONE;
        }
        at = node.child_base + countOneBits(node_valid(node) & (bit - 1u));
    }
    return at;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.nodes {
        return;
    }
    var level = 0u;
    while i >= params.level_start[(level + 1u) / 4u][(level + 1u) % 4u] {
        level += 1u;
    }
    let parent = nodes[i];
    let children = node_valid(parent);
    let place = vec3<i32>(morton_decode(info[i].y));
    var around: array<u32, 27>;
    for (var n = 0i; n < 27i; n++) {
        let d = vec3<i32>(n % 3i, (n / 3i) % 3i, n / 9i) - vec3<i32>(1i);
        let p = place + d;
        around[n] = NONE;
        if n == 13i {
            around[n] = i;
        } else if (children & side(d)) != 0u && all(p >= vec3<i32>(0i)) && all(p < vec3<i32>(1i << level)) {
            around[n] = descend(info[i].x, morton_encode(vec3<u32>(p)), level);
        }
    }
    for (var c = 0u; c < 8u; c++) {
        if (children & (1u << c)) == 0u {
            continue;
        }
        let child = node_child(parent, c);
        let own = solid(nodes[child], level + 1u);
        if own == 0u {
            continue;
        }
        let octant = vec3<i32>(vec3<u32>(c & 1u, (c >> 1u) & 1u, c >> 2u));
        for (var n = 0i; n < 27i; n++) {
            let d = vec3<i32>(n % 3i, (n / 3i) % 3i, n / 9i) - vec3<i32>(1i);
            let is_face = dot(d, d) == 1i;
            if n == 13i || !(is_face || n > 13i) || (own & side(d)) == 0u {
                continue;
            }
            // Where the neighbour lies: which of P's neighbours (or P), and which octant of it.
            let q = octant + d;
            let step = select(select(vec3<i32>(0i), vec3<i32>(1i), q > vec3<i32>(1i)), vec3<i32>(-1i), q < vec3<i32>(0i));
            let other = around[13i + step.x + 3i * step.y + 9i * step.z];
            if other == NONE {
                continue;
            }
            if (other & SOLID) != 0u {
                if is_face {
                    unite(child, other & ~SOLID);
                }
                continue;
            }
            let there = vec3<u32>(q - 2i * step);
            let bit = 1u << (there.x | (there.y << 1u) | (there.z << 2u));
            let node = nodes[other];
            if (node_internal(node) & bit) != 0u {
                if is_face {
                    unite(child, other);
                }
            } else if (node_valid(node) & bit) != 0u && n > 13i {
                let twin = node.child_base + countOneBits(node_valid(node) & (bit - 1u));
                if (solid(nodes[twin], level + 1u) & side(-d)) != 0u {
                    unite(child, twin);
                }
            }
        }
    }
}
