// Islands as a lock-free union-find over octree nodes instead of voxels (2016, sec. 4.5 names the sets; the method
// is ours). All solid octants of one node touch at its centre, so a node's solid octants are one element.
// Connectivity is that of the solid: through internal nodes too, or the wall of a sealed cavity would become a
// false piece.
// One thread takes one brick of one level and unites it with what it touches: bricks of its own size in the 13
// directions that make every pair come up once, and larger internal nodes through faces only. Faces are enough
// there: all face neighbours of an internal cell are solid and in the same cell, so whatever touches it by an edge
// or a corner also touches one of them. For the same reason bricks above the last level, which hold nothing but
// internal cells, need faces only.
// Work is first gathered as bits and then done in a loop, because a software driver runs both sides of every branch.
//#include shared/thread
//#include fracture/voronoi/islands/brick

// `broken_off`: the element of `labels`, behind those of all nodes, that says whether a union was left unfinished.
struct HookParams { first: u32, count: u32, first_above: u32, is_finest: u32, broken_off: u32 }

@group(0) @binding(0) var<uniform> params: HookParams;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> info: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> parent_of: array<u32>;
@group(0) @binding(4) var<storage, read> above: array<u32>;
@group(0) @binding(5) var<storage, read> bricks: array<Brick>;
@group(0) @binding(6) var<storage, read_write> labels: array<atomic<u32>>;

//#include fracture/voronoi/islands/neighbour

// Shortens the way for those who come later. A plain store will do: a node that has a parent never becomes a root
// again, so no union is lost if the store goes over one.
fn find(start: u32) -> u32 {
    var x = start;
    var parent = atomicLoad(&labels[x]);
    while parent != x {
        let higher = atomicLoad(&labels[parent]);
        if higher != parent {
            atomicStore(&labels[x], higher);
        }
        x = parent;
        parent = higher;
    }
    return x;
}

// The smaller label wins. A parent that another thread had put there is united again. Returns the common label of
// that moment, from which the next search is shorter.
fn unite(first: u32, second: u32) -> u32 {
    var a = first;
    var b = second;
    while a != b {
        a = find(a);
        b = find(b);
        if a == b {
            break;
        }
        let larger = max(a, b);
        b = min(a, b);
        let displaced = atomicMin(&labels[larger], b);
        a = select(displaced, b, displaced == larger);
    }
    if a != b {
        // Software drivers end loops that go round too often.
        atomicStore(&labels[params.broken_off], 1u);
    }
    return a;
}

// The 16 cells of a brick's side towards one axis (upper or lower side), bits 0 and 2 along the first other axis, 1
// and 3 along the second.
fn face(brick: vec2<u32>, axis: u32, upper: bool) -> u32 {
    if axis == 2u {
        var z = (select(brick.x, brick.y, upper) >> select(0u, 4u, upper)) & 0x0f0f0f0fu;
        z = (z | (z >> 4u)) & 0x00ff00ffu;
        return (z | (z >> 8u)) & 0xffffu;
    }
    var h = (brick >> vec2<u32>(select(0u, 18u, upper))) & vec2<u32>(0x3333u);
    h = (h | (h >> vec2<u32>(2u))) & vec2<u32>(0x0f0fu);
    h = (h | (h >> vec2<u32>(4u))) & vec2<u32>(0xffu);
    var w = (brick >> vec2<u32>(select(0u, 9u, upper))) & vec2<u32>(0x00550055u);
    w = (w | (w >> vec2<u32>(1u))) & vec2<u32>(0x00330033u);
    w = (w | (w >> vec2<u32>(2u))) & vec2<u32>(0x000f000fu);
    w = (w | (w >> vec2<u32>(12u))) & vec2<u32>(0xffu);
    w = select(h, w, axis == 0u);
    return w.x | (w.y << 8u);
}

fn widened(cells: u32) -> u32 {
    let u = cells
        | ((cells & 0x5555u) << 1u) | ((cells & 0x0a0au) << 3u) | ((cells & 0xaaaau) >> 1u) | ((cells & 0x5050u) >> 3u);
    return u | ((u & 0x3333u) << 2u) | ((u & 0x00ccu) << 6u) | ((u & 0xccccu) >> 2u) | ((u & 0x3300u) >> 6u);
}

// Whether any solid of a brick touches any of its neighbour's in direction d: the two sides along the first axis of
// d, narrowed to the edge or corner that they share, one of them widened by a cell.
fn bricks_touch(a: vec2<u32>, b: vec2<u32>, d: vec3<i32>) -> bool {
    let axis = select(select(2u, 1u, d.y != 0i), 0u, d.x != 0i);
    let upper = (d.x + select(0i, d.y, axis != 0u) + select(0i, d.z, axis == 2u)) > 0i;
    var near = face(a, axis, upper);
    var far = face(b, axis, !upper);
    // First other axis: y beside x.
    let u = select(0i, d.y, axis == 0u);
    let v = select(0i, d.z, axis != 2u);
    near = select(near, (near & 0xa0a0u) >> 5u, u > 0i);
    near = select(near, (near & 0x0505u) << 5u, u < 0i);
    far &= select(0xffffu, select(0xa0a0u, 0x0505u, u > 0i), u != 0i);
    near = select(near, (near & 0xcc00u) >> 10u, v > 0i);
    near = select(near, (near & 0x0033u) << 10u, v < 0i);
    far &= select(0xffffu, select(0xcc00u, 0x0033u, v > 0i), v != 0i);
    return (widened(near) & far) != 0u;
}

// The i-th octant at the side of a brick towards d, or at the opposite side.
fn octant_at(d: vec3<i32>, i: u32, towards: bool) -> u32 {
    let x = select(u32((d.x > 0i) == towards), i & 1u, d.x == 0i);
    let after_x = select(i, i >> 1u, d.x == 0i);
    let y = select(u32((d.y > 0i) == towards), after_x & 1u, d.y == 0i);
    let after_y = select(after_x, after_x >> 1u, d.y == 0i);
    let z = select(u32((d.z > 0i) == towards), after_y & 1u, d.z == 0i);
    return x | (y << 1u) | (z << 2u);
}

// Octants at a side: four at a face, two at an edge, one at a corner.
fn octants_at(d: vec3<i32>) -> u32 {
    return 1u << u32(3i - dot(d, d));
}

// Bit 4 i + j where octant i at the side towards d touches octant j of the neighbour. In the block that the two
// sides make, the near octants lie at the lower end.
fn touching(a: vec2<u32>, b: vec2<u32>, d: vec3<i32>) -> u32 {
    var found = 0u;
    let count = octants_at(d);
    for (var t = 0u; t < 16u; t++) {
        let i = t >> 2u;
        let j = t & 3u;
        let near = octant_at(d, i, false);
        let far = octant_at(d, j, true);
        let touch = (octant_of(a, octant_at(d, i, true)) & side_towards(near, far)) != 0u
            && (octant_of(b, octant_at(d, j, false)) & side_towards(far, near)) != 0u;
        found |= select(0u, 1u << t, touch && i < count && j < count);
    }
    return found;
}

// The element that octant c of node i belongs to; the octant is internal or stored.
fn element(i: u32, c: u32) -> u32 {
    let masks = nodes[i].masks;
    return select(child_of(nodes[i].child_base, masks, c), i, ((masks >> (8u + c)) & 1u) != 0u);
}

// Bits: x for nodes in the 27 places round octant c of a node with the given row, y for places inside larger
// internal nodes.
fn places(row: u32, octant: vec3<i32>) -> vec2<u32> {
    var found = vec2<u32>(0u);
    let outward = 2i * octant - vec3<i32>(1i);
    for (var s = 0u; s < 8u; s++) {
        let step = octant_place(s) * outward;
        let cell = above[row + place_number(step)];
        var stored = 0u;
        var inside = select(0xffu, 0u, cell == NONE);
        if (cell & SOLID) == 0u {
            let masks = nodes[cell].masks;
            stored = masks & 0xffu;
            inside = masks >> 8u;
        }
        for (var c = 0u; c < 8u; c++) {
            let d = 2i * step + octant_place(c) - octant;
            let n = place_number(d);
            let near = all(abs(d) <= vec3<i32>(1i));
            found |= select(vec2<u32>(0u), ((vec2<u32>(stored, inside) >> vec2<u32>(c)) & vec2<u32>(1u)) << vec2<u32>(n & 31u), near);
        }
    }
    return found;
}

fn thread(t: u32) {
    if t >= params.count {
        return;
    }
    let i = params.first + t;
    let brick = vec2<u32>(bricks[i].low, bricks[i].high);
    var root = bricks[i].root;
    if root == EMPTY {
        return;
    }
    let row = 27u * (parent_of[i] - params.first_above);
    let octant = octant_place(info[i].y);
    let found = places(row, octant);
    var todo = (found.x & HALF & select(FACES, HALF, params.is_finest != 0u)) | (found.y & FACES);

    // Neighbours where brick or neighbour falls into several parts.
    var intricate = select(0u, todo, root == SEVERAL);
    todo = select(todo, 0u, root == SEVERAL);
    while todo != 0u {
        let n = firstTrailingBit(todo);
        todo &= todo - 1u;
        let d = direction(n);
        let other = neighbour(row, octant, d);
        let owner = other & ~SOLID;
        let is_larger = other != owner;
        // Of a larger internal node all cells at the side are solid.
        let other_brick = select(vec2<u32>(bricks[owner].low, bricks[owner].high), vec2<u32>(0xffffffffu), is_larger);
        let other_root = select(bricks[owner].root, owner, is_larger);
        if other_root == SEVERAL {
            intricate |= 1u << n;
        } else if bricks_touch(brick, other_brick, d) {
            root = unite(root, other_root);
        }
    }

    var pairs = 0u;
    var d = vec3<i32>(0i);
    var other = 0u;
    while (intricate | pairs) != 0u {
        if pairs == 0u {
            d = direction(firstTrailingBit(intricate));
            intricate &= intricate - 1u;
            other = neighbour(row, octant, d);
            let owner = other & ~SOLID;
            let is_larger = other != owner;
            let other_brick = select(vec2<u32>(bricks[owner].low, bricks[owner].high), vec2<u32>(0xffffffffu), is_larger);
            pairs = touching(brick, other_brick, d);
        }
        if pairs != 0u {
            let pair = firstTrailingBit(pairs);
            pairs &= pairs - 1u;
            let owner = other & ~SOLID;
            let theirs = select(element(owner, octant_at(d, pair & 3u, false)), owner, other != owner);
            _ = unite(element(i, octant_at(d, pair >> 2u, true)), theirs);
        }
    }
}
