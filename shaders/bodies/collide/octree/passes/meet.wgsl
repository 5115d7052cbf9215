// What is to be done with a near pair. One thread: one near pair. It is carried along where its bodies have hardly moved
// against each other; left alone while their boxes do not meet yet; else searched: then the pair is written down for the
// descent as the host would (crates/physics/src/collide/octree/pair.rs), with a root for each direction.
//#include shared/thread
//#include bodies/collide/octree/pair
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/contact

// A manifold of the last search.
struct Old {
    first: u32,
    second: u32,
    // Of the first body, and four bits further up of the second; NONE where nothing is known of it.
    levels: u32,
    // How far it holds, m.
    holds: f32,
    // How fast points of one body move against the other, m/s.
    speed: f32,
    // How far they have moved since, m.
    moved: f32,
    seen: u32,
    seen_count: u32,
    known: u32,
    known_count: u32,
}

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> solids: array<Solid>;
@group(0) @binding(2) var<storage, read> tables: array<u32>;
// In ascending order of pair.
@group(0) @binding(3) var<storage, read> old: array<Old>;
@group(0) @binding(4) var<storage, read_write> near: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> pairs: array<Directed>;
// (directed pair, root, key)
@group(0) @binding(6) var<storage, read_write> roots: array<u32>;
@group(0) @binding(7) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(8) var<storage, read_write> counters: array<atomic<u32>>;

//#include bodies/collide/octree/passes/boxed
//#include bodies/collide/octree/passes/levels
//#include bodies/collide/octree/passes/rounds

// Flags beside the levels of a near pair.
const CARRIED: u32 = 256u;
const SEARCHED: u32 = 512u;

// As in crates/physics/src: how far beyond touching contacts are made, and how deep a point may be that was not seen before,
// cells.
const MARGIN_CELLS: f32 = 0.25;
const ENTER_CELLS: f32 = 0.5;

fn find_old(i: u32, j: u32) -> u32 {
    var first = 0u;
    var end = params.old;
    while first < end {
        let middle = (first + end) / 2u;
        let at = vec2<u32>(old[middle].first, old[middle].second);
        if at.x < i || (at.x == i && at.y < j) {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    if first < params.old && old[first].first == i && old[first].second == j {
        return first;
    }
    return NONE;
}

fn same_turn(p: Solid, q: Solid) -> bool {
    return all(p.turn_x == q.turn_x) && all(p.turn_y == q.turn_y) && all(p.turn_z == q.turn_z);
}

// Surfels of p are tested against q.
fn directed(p: Solid, q: Solid, levels: vec2<u32>, way: f32, margin: f32, bases: vec2<u32>) -> Directed {
    let size = cell_of(q, levels.y);
    let scale = cell_of(p, levels.x) / size;
    // Columns of the rotation from the axes of p to those of q. Pieces that have not turned against each other share
    // theirs exactly, as their cells do.
    var turn = mat3x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    if !same_turn(p, q) {
        for (var k = 0u; k < 3u; k++) {
            turn[k] = turned_back(q, vec3<f32>(p.turn_x[k], p.turn_y[k], p.turn_z[k]));
        }
    }
    let shift = turned_back(q, between(q, p)) / size;
    let v = p.velocity - q.velocity;
    let speed = length(v);
    var direction = between(p, q) + turned(q, q.middle * q.voxel) - turned(p, p.middle * p.voxel);
    direction /= max(length(direction), 1.0e-30);
    if speed > 1.0e-9 {
        direction = v / speed;
    }
    let voxels = f32(1u << (q.leaf - levels.y));
    return Directed(
        vec4<f32>(vec3<f32>(turn[0].x, turn[1].x, turn[2].x) * scale, shift.x),
        vec4<f32>(vec3<f32>(turn[0].y, turn[1].y, turn[2].y) * scale, shift.y),
        vec4<f32>(vec3<f32>(turn[0].z, turn[1].z, turn[2].z) * scale, shift.z),
        turned_back(q, direction * way) / size,
        margin / size,
        vec4<u32>(p.node_base, p.root, levels.x, bases.x),
        vec4<u32>(q.node_base, q.root, levels.y, bases.y),
        vec4<f32>(floor(q.low_voxel / voxels), 0.0),
        vec4<f32>(ceil(q.high_voxel / voxels), 0.0),
    );
}

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[NEAR]), params.near_room) {
        return;
    }
    let pair = near[id];
    let a = solids[pair.x];
    let b = solids[pair.y];
    let levels = meeting_levels(a, b);
    let packed = levels.x | (levels.y << 4u);
    near[id].z = packed;
    let dt = params.dt / f32(rounds_of(atomicLoad(&counters[FASTEST])));
    let way = dt * closing(a, b);
    let known = find_old(pair.x, pair.y);
    var slot = Slot(max(cell_of(a, levels.x), cell_of(b, levels.y)), 0.0, -3.0e38, 0u, 0u, 0u, 0u, 0u);
    slot.margin = MARGIN_CELLS * slot.cell + way;
    if known != NONE {
        let before = old[known];
        if before.levels == packed {
            if before.speed * dt <= before.holds && before.moved <= before.holds {
                near[id].z = packed | CARRIED;
                return;
            }
            slot.deepest = -(ENTER_CELLS * slot.cell + max(way, before.moved));
            slot.seen = before.seen;
            slot.seen_count = before.seen_count;
        }
        slot.known = before.known;
        slot.known_count = before.known_count;
    }
    if !boxes_meet(a, b, way + params.slack) {
        return;
    }
    let of_a = sample_of(a.forest, levels.x);
    let of_b = sample_of(b.forest, levels.y);
    if of_a.x == NONE || of_b.x == NONE {
        atomicOr(&counters[WANTED + a.forest], 1u << levels.x);
        atomicOr(&counters[WANTED + b.forest], 1u << levels.y);
        return;
    }
    near[id].z = packed | SEARCHED;
    slots[params.tasks + id] = slot;
    // What to add to a node's index to get its surfel's.
    let bases = vec2<u32>(of_a.x - of_a.y, of_b.x - of_b.y);
    pairs[2u * id] = directed(a, b, levels, way, slot.margin, bases);
    pairs[2u * id + 1u] = directed(b, a, levels.yx, way, slot.margin, bases.yx);
    let root = atomicAdd(&counters[0], 2u);
    for (var d = 0u; d < 2u; d++) {
        if root + d < params.nodes_room {
            roots[3u * (root + d)] = 2u * id + d;
            roots[3u * (root + d) + 1u] = select(a.root, b.root, d == 1u);
            roots[3u * (root + d) + 2u] = 0u;
        }
    }
}
