// After the unions: every node's label becomes its component's smallest node index, and components are listed, in
// any order. One thread takes one node. found[0] counts the components; found[1] says that a loop, here or in the
// unions, was ended by the driver before its time; from found[2] on they are (label, tree), as many as there is
// room for.
//#include shared/thread
//#include shared/octree

struct FlattenParams { nodes: u32, last_first: u32, broken_off: u32 }

@group(0) @binding(0) var<uniform> params: FlattenParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> info: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> hooked: array<u32>;
@group(0) @binding(4) var<storage, read_write> labels: array<u32>;
@group(0) @binding(5) var<storage, read_write> found: array<atomic<u32>>;

fn thread(i: u32) {
    if i >= params.nodes {
        return;
    }
    var x = hooked[i];
    var parent = hooked[x];
    while parent != x {
        x = parent;
        parent = hooked[x];
    }
    if parent != x || (i == 0u && hooked[params.broken_off] != 0u) {
        atomicStore(&found[1], 1u);
    }
    labels[i] = x;
    if x != i {
        return;
    }
    // Above the last level a node stands for its internal octants only, and may have none.
    let own = (nodes[i].masks >> 8u) | select(0u, nodes[i].masks, i >= params.last_first);
    if own != 0u {
        let slot = 2u + 2u * atomicAdd(&found[0], 1u);
        if slot + 1u < arrayLength(&found) {
            atomicStore(&found[slot], i);
            atomicStore(&found[slot + 1u], info[i].x);
        }
    }
}
