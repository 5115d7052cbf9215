// First step of the islands: bricks, and unions inside a brick without any atomics.
// One thread takes one node P above level `last`, gathers its brick, closes the 8 x 8 matrix of which octants
// touch, and gives every child the smallest node index of its part of the brick: P itself where the part holds an
// internal octant of P.
//#include shared/thread
//#include fracture/voronoi/islands/brick

// `finest`: first node of the last level of bricks, where every stored octant counts as solid; above it internal ones do.
struct BricksParams { parents: u32, trees: u32, finest: u32 }

@group(0) @binding(0) var<uniform> params: BricksParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read_write> bricks: array<Brick>;
@group(0) @binding(3) var<storage, read_write> parent_of: array<u32>;
@group(0) @binding(4) var<storage, read_write> labels: array<u32>;

// Byte a: the octants that hang together with octant a inside the brick.
fn joined(brick: vec2<u32>) -> vec2<u32> {
    var rows = vec2<u32>(0u);
    for (var a = 0u; a < 8u; a++) {
        let own = octant_of(brick, a);
        var row = select(0u, 1u << a, own != 0u);
        for (var b = 0u; b < 8u; b++) {
            let touch = (own & side_towards(a, b)) != 0u && (octant_of(brick, b) & side_towards(b, a)) != 0u;
            row |= select(0u, 1u << b, touch);
        }
        rows |= select(vec2<u32>(row, 0u), vec2<u32>(0u, row), a >= 4u) << vec2<u32>(8u * (a & 3u));
    }
    // Warshall's closure; a product copies row k to every row that has bit k.
    for (var k = 0u; k < 8u; k++) {
        rows |= ((rows >> vec2<u32>(k)) & vec2<u32>(0x01010101u)) * octant_of(rows, k);
    }
    return rows;
}

// Label of a part of the brick of node i.
fn smallest(i: u32, node: Node, part: u32) -> u32 {
    let first = firstTrailingBit(part);
    return select(node_child(node, first), i, (part & node_internal(node)) != 0u);
}

fn thread(i: u32) {
    if i < params.trees {
        labels[i] = i;
    }
    if i >= params.parents {
        return;
    }
    let node = nodes[i];
    let in_finest = i >= params.finest;
    // Each bit of a half becomes a byte of ones; the product puts bit k at 8 k.
    let inside = vec2<u32>(node_internal(node), node_internal(node) >> 4u) & vec2<u32>(0xfu);
    var brick = ((inside * 0x00204081u) & vec2<u32>(0x01010101u)) * 0xffu;
    var child = node.child_base;
    for (var rest = node_valid(node); rest != 0u; rest &= rest - 1u) {
        let c = firstTrailingBit(rest);
        let masks = nodes[child].masks;
        let own = ((masks >> 8u) | select(0u, masks, in_finest)) & 0xffu;
        brick |= select(vec2<u32>(own, 0u), vec2<u32>(0u, own), c >= 4u) << vec2<u32>(8u * (c & 3u));
        child += 1u;
    }
    if !in_finest {
        for (var k = node.child_base; k < child; k++) {
            parent_of[k] = i;
        }
    }
    let rows = joined(brick);
    var present = 0u;
    for (var c = 0u; c < 8u; c++) {
        present |= octant_of(rows, c);
    }
    child = node.child_base;
    for (var rest = node_valid(node); rest != 0u; rest &= rest - 1u) {
        let part = octant_of(rows, firstTrailingBit(rest));
        labels[child] = select(smallest(i, node, part), child, part == 0u);
        child += 1u;
    }
    var root = EMPTY;
    if present != 0u {
        let whole = octant_of(rows, firstTrailingBit(present)) == present;
        root = select(SEVERAL, smallest(i, node, present), whole);
    }
    bricks[i] = Brick(brick.x, brick.y, root);
}
