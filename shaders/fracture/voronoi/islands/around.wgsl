// The 27 places round every node of one level, found from those round its parent: no descent from the root. One
// thread takes one place round one node. `around` holds 27 entries a node of this level, `above` of the level
// above.
//#include shared/thread
//#include fracture/voronoi/islands/brick

struct HookParams { first: u32, count: u32, first_above: u32, is_finest: u32, broken_off: u32 }

@group(0) @binding(0) var<uniform> params: HookParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> info: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> parent_of: array<u32>;
@group(0) @binding(4) var<storage, read> above: array<u32>;
@group(0) @binding(5) var<storage, read_write> around: array<u32>;

//#include fracture/voronoi/islands/neighbour

fn thread(t: u32) {
    if t >= 27u * params.count {
        return;
    }
    let i = params.first + t / 27u;
    let row = 27u * (parent_of[i] - params.first_above);
    around[t] = neighbour(row, octant_place(info[i].y), direction(t % 27u));
}
