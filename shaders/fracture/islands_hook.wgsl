// Islands as a lock-free union-find over octree nodes instead of voxels (2016, sec. 4.5 names the sets; the method is ours).
// All solid octants of one node touch at its centre, so a node's solid octants are one element. Connectivity is that of the solid:
// through internal nodes too, or the wall of a sealed cavity would become a false piece.
// One thread takes one node of levels 0..=last and unites it with what it touches among its 26 neighbours of its own size or larger;
// smaller ones come from their own side.
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
    while level < params.last && i >= params.level_start[(level + 1u) / 4u][(level + 1u) % 4u] {
        level += 1u;
    }
    let own = solid(nodes[i], level);
    if own == 0u {
        return;
    }
    let tree = info[i].x;
    let place = vec3<i32>(morton_decode(info[i].y));
    let side_nodes = 1i << level;
    for (var n = 0i; n < 27i; n++) {
        let d = vec3<i32>(n % 3i, (n / 3i) % 3i, n / 9i) - vec3<i32>(1i);
        if n == 13i || (own & side(d)) == 0u {
            continue;
        }
        let p = place + d;
        if any(p < vec3<i32>(0i)) || any(p >= vec3<i32>(side_nodes)) {
            continue;
        }
        let key = morton_encode(vec3<u32>(p));
        var at = tree;
        var depth = 0u;
        loop {
            if depth == level {
                // Same size: one of the two sides is enough.
                if n > 13i && (solid(nodes[at], level) & side(-d)) != 0u {
                    unite(i, at);
                }
                break;
            }
            let c = (key >> (3u * (level - depth - 1u))) & 7u;
            let node = nodes[at];
            if (node_internal(node) & (1u << c)) != 0u {
                unite(i, at);
                break;
            }
            if (node_valid(node) & (1u << c)) == 0u {
                break;
            }
            at = node_child(node, c);
            depth += 1u;
        }
    }
}
