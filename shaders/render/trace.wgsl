//#include shared/octree
//#include render/frame
//#include render/mesh
// Rays against all bodies: a bounding volume hierarchy over their world boxes, then each body's octree, front to back,
// or its surface. The grid of a body is what its rays are cast in: voxels of an octree, the tree space of a surface.
//
// A body's octree is walked in mirrored coordinates in which the ray only ever moves up (an octant's number is
// xored with the mirror mask to find it in memory). A step either descends into the octant that holds the ray, or
// crosses the nearest face; where a step leaves the parent, the highest changed coordinate bit says which ancestor
// to go on from (a stack of ten node indices, one a level).

struct Body {
    // Rows of the affine map.
    grid_from_world: array<vec4<f32>, 3>,
    world_from_grid: array<vec4<f32>, 3>,
    // Bounds, grid.
    low: vec3<f32>,
    node_base: u32,
    high: vec3<f32>,
    // Of a surface, where its words begin.
    leaf_base: u32,
    root: u32,
    level: u32,
    // Colour of ColorBy::Piece, sRGB, and marks.
    hue_and_marks: u32,
    // World size of a voxel; of a surface, a small part of its own.
    voxel: f32,
    // What crack faces show: the words of shared/volume.
    interior: vec4<u32>,
    // Those of later breaks, then zeros.
    later: array<vec4<u32>, 3>,
    // From the grid to the voxels that stand in for a surface, whose level is `level`: a shift and a scale.
    to_voxels: vec4<f32>,
}

struct Box {
    low: vec3<f32>,
    // First of two children that lie side by side, or BOX_LEAF | body.
    first: u32,
    high: vec3<f32>,
    pad: u32,
}

const BOX_LEAF = 0x80000000u;
const NO_BODY = 0xffffffffu;

// What a walk through an octree met.
const MET_NOTHING = 0u;
const MET_LEAF = 1u;
// An octant that is smaller than the ray's width there.
const MET_BLOCK = 2u;
// An octant wholly inside.
const MET_INSIDE = 3u;

// Bound as storage and copied by every kernel as its first deed: Mesa's software driver compiles a kernel anew
// whenever a value of a uniform buffer has changed that decides a branch or a loop, some 30 ms for every picture.
@group(0) @binding(0) var<storage, read> frame_words: Frame;
var<private> frame: Frame;

@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> normals: array<u32>;
@group(0) @binding(3) var<storage, read> colors: array<u32>;
@group(0) @binding(4) var<storage, read> cuts: array<u32>;
@group(0) @binding(5) var<storage, read> bodies: array<Body>;
@group(0) @binding(6) var<storage, read> boxes: array<Box>;

struct Ray {
    origin: vec3<f32>,
    direction: vec3<f32>,
    // Octants smaller than base + slope * distance are solid blocks.
    cut_base: f32,
    cut_slope: f32,
    first: f32,
    last: f32,
}

struct Hit {
    distance: f32,
    body: u32,
    // Relative to the slot; NO_LEAF in an internal octant. Of a surface, the triangle in the order of its leaves.
    leaf: u32,
    // Octree level of the octant that was hit.
    level: u32,
    // Axis of the face through which the ray came in: 0, 1, 2.
    axis: u32,
    // The leaf's second plane is what shows, not its own surface.
    cut: bool,
}

fn no_hit(last: f32) -> Hit {
    return Hit(last, BODY_SKY, NO_LEAF, 0u, 0u, false);
}

fn apply(rows: array<vec4<f32>, 3>, p: vec4<f32>) -> vec3<f32> {
    return vec3<f32>(dot(rows[0], p), dot(rows[1], p), dot(rows[2], p));
}

fn safe_inverse(d: vec3<f32>) -> vec3<f32> {
    let least = 1e-7 * max(max(abs(d.x), abs(d.y)), max(abs(d.z), 1e-20));
    let kept = select(select(vec3<f32>(-least), vec3<f32>(least), d >= vec3<f32>(0.0)), d, abs(d) > vec3<f32>(least));
    return 1.0 / kept;
}

// Where a ray is within what the clipping planes leave.
struct Opening {
    first: f32,
    last: f32,
    // The plane through which the ray comes in, where `first` is above 0.
    plane: u32,
}

fn opening(origin: vec3<f32>, direction: vec3<f32>) -> Opening {
    var found = Opening(0.0, 1e30, 0u);
    let count = (frame.flags >> CLIPS_SHIFT) & 7u;
    for (var k = 0u; k < count; k++) {
        let plane = frame.clips[k];
        let height = dot(plane.xyz, origin) - plane.w;
        let slope = dot(plane.xyz, direction);
        if slope < 0.0 {
            let distance = -height / slope;
            if distance > found.first {
                found.first = distance;
                found.plane = k;
            }
        } else {
            found.last = min(found.last, -height / max(slope, 1e-9));
        }
    }
    return found;
}

// The first leaf under a node, nearest octants first: an octant that is cut off borrows its colour and normal.
fn leaf_below(body_nodes: u32, start: u32, levels: u32, mirror: u32) -> u32 {
    var index = start;
    for (var l = 0u; l < levels; l++) {
        let node = nodes[body_nodes + index];
        let valid = node_valid(node);
        var octant = firstTrailingBit(valid);
        for (var k = 0u; k < 8u; k++) {
            if bit_at(valid, k ^ mirror) == 1u {
                octant = k ^ mirror;
                break;
            }
        }
        index = node_child(node, octant);
    }
    return index;
}

// Octant of a cell below the node whose children have edge 2^bit.
fn octant_at(cell: vec3<u32>, bit: u32) -> u32 {
    return bit_at(cell.x, bit) | (bit_at(cell.y, bit) << 1u) | (bit_at(cell.z, bit) << 2u);
}

fn mirrored(v: vec3<f32>, backward: vec3<bool>) -> vec3<f32> {
    return select(v, -v, backward);
}

// Walks one body's octree; a hit nearer than (*best).distance replaces it.
fn walk(index: u32, ray: Ray, best: ptr<function, Hit>) {
    let node_base = bodies[index].node_base;
    let leaf_base = bodies[index].leaf_base;
    let level = bodies[index].level;
    let voxel = bodies[index].voxel;
    let rows = bodies[index].grid_from_world;
    let origin = apply(rows, vec4<f32>(ray.origin, 1.0));
    let direction = apply(rows, vec4<f32>(ray.direction, 0.0));
    let signed_inverse = safe_inverse(direction);
    let near = (bodies[index].low - origin) * signed_inverse;
    let far = (bodies[index].high - origin) * signed_inverse;
    let entry = min(near, far);
    let leave = max(near, far);
    let start = max(max(entry.x, entry.y), max(entry.z, ray.first));
    let end = min(min(leave.x, leave.y), min(leave.z, (*best).distance)) - start;
    if !(end > 0.0) {
        return;
    }
    let side = 1u << level;
    let backward = signed_inverse < vec3<f32>(0.0);
    let mirror = select(0u, 1u, backward.x) | select(0u, 2u, backward.y) | select(0u, 4u, backward.z);
    let inverse = abs(signed_inverse);
    // From here on t counts from the entry into the bounds: small numbers, so that planes keep their precision.
    let at_entry = origin + direction * start;
    let start_point = select(at_entry, vec3<f32>(f32(side)) - at_entry, backward);

    var stack: array<u32, 12>;
    var size = side >> 1u;
    var bit = level - 1u;
    var current = bodies[index].root;
    var t = 0.0;
    var axis = select(select(2u, 1u, entry.y > entry.z), 0u, entry.x > max(entry.y, entry.z));
    var p = select(vec3<u32>(0u), vec3<u32>(size), (vec3<f32>(f32(size)) - start_point) * inverse <= vec3<f32>(0.0));
    // Leaf that the ray passed above, whose look an internal octant behind it borrows.
    var passed = NO_LEAF;
    var passed_cut = false;
    // The octant that the ray is in was looked at: go on behind it.
    var done_here = false;
    var steps = 0u;

    // Two loops: the inner one only moves, so that neighbouring rays, which meet their leaves at different steps,
    // test them together.
    loop {
        var met = MET_NOTHING;
        var child = 0u;
        var t_exit = 0.0;
        loop {
            steps += 1u;
            if steps > 4096u {
                break;
            }
            let node = nodes[node_base + current];
            let exits = (vec3<f32>(p + size) - start_point) * inverse;
            t_exit = min(exits.x, min(exits.y, exits.z));
            let high = (p & vec3<u32>(size)) != vec3<u32>(0u);
            let octant = (select(0u, 1u, high.x) | select(0u, 2u, high.y) | select(0u, 4u, high.z)) ^ mirror;
            if !done_here && bit_at(node.masks, octant) == 1u {
                child = node_child(node, octant);
                if size == 1u {
                    met = MET_LEAF;
                    break;
                }
                if f32(size) * voxel < ray.cut_base + ray.cut_slope * (start + t) {
                    met = MET_BLOCK;
                    break;
                }
                stack[bit] = current;
                current = child;
                size = size >> 1u;
                bit -= 1u;
                p += select(vec3<u32>(0u), vec3<u32>(size), (vec3<f32>(p + size) - start_point) * inverse <= vec3<f32>(t));
                continue;
            }
            if !done_here && bit_at(node.masks, octant + 8u) == 1u {
                met = MET_INSIDE;
                break;
            }
            done_here = false;
            t = t_exit;
            if !(t < end) {
                break;
            }
            let crossed = exits <= vec3<f32>(t_exit);
            axis = select(select(2u, 1u, crossed.y), 0u, crossed.x);
            let next = p + select(vec3<u32>(0u), vec3<u32>(size), crossed);
            let changed = (p.x ^ next.x) | (p.y ^ next.y) | (p.z ^ next.z);
            p = next;
            if changed >= size * 2u {
                bit = firstLeadingBit(changed);
                if bit >= level {
                    break;
                }
                size = 1u << bit;
                current = stack[bit];
                p = p & vec3<u32>(~(size - 1u));
            }
        }
        if met != MET_LEAF {
            if met == MET_BLOCK {
                *best = Hit(start + t, index, leaf_below(node_base, child, bit, mirror), level - bit, axis, false);
            } else if met == MET_INSIDE {
                *best = Hit(start + t, index, passed, level - bit, axis, passed_cut);
            }
            return;
        }
        let n = mirrored(normal_unpack(normals[leaf_base + child]), backward);
        let step = mirrored(direction, backward);
        let from_centre = start_point + step * t - (vec3<f32>(p) + 0.5);
        let height = dot(from_centre, n) - leaf_offset(colors[leaf_base + child]);
        let slope = dot(step, n);
        var t_hit = t;
        if height > 0.0 {
            t_hit = select(1e30, t - height / slope, slope < 0.0);
        }
        var t_leave = t_exit;
        passed_cut = false;
        let cut = cuts[leaf_base + child];
        if cut_is_there(cut) && t_hit <= t_exit {
            // The solid lies below both planes.
            let m = mirrored(cut_normal(cut), backward);
            let cut_height = dot(from_centre, m) - cut_offset(cut);
            let cut_slope = dot(step, m);
            if slope > 0.0 {
                t_leave = min(t_leave, t - height / slope);
            }
            var t_cut = t;
            if cut_height > 0.0 {
                t_cut = select(1e30, t - cut_height / cut_slope, cut_slope < 0.0);
            } else if cut_slope > 0.0 {
                t_leave = min(t_leave, t - cut_height / cut_slope);
            }
            // Where the ray comes in by a face of the voxel, the plane shows that faces the ray, or else the nearer
            // one.
            let through_face = select(cut_height > height, cut_slope < slope, (cut_slope < 0.0) != (slope < 0.0));
            passed_cut = t_cut > t_hit || (t_cut == t_hit && through_face);
            t_hit = max(t_hit, t_cut);
        }
        if t_hit <= t_leave {
            if t_hit < end {
                *best = Hit(start + t_hit, index, child, level, axis, passed_cut);
            }
            return;
        }
        passed = child;
        done_here = true;
    }
}

// Where a ray enters a box; 1e30 when it misses or enters beyond `last`.
fn box_entry(index: u32, origin: vec3<f32>, inverse: vec3<f32>, first: f32, last: f32) -> f32 {
    let a = (boxes[index].low - origin) * inverse;
    let b = (boxes[index].high - origin) * inverse;
    let low = min(a, b);
    let high = max(a, b);
    let enter = max(max(low.x, low.y), max(low.z, first));
    let leave = min(min(high.x, high.y), min(high.z, last));
    return select(1e30, enter, enter <= leave);
}

// Nearest hit, or the first found when `any`.
fn trace(whole: Ray, any: bool) -> Hit {
    var best = no_hit(whole.last);
    if frame.body_count == 0u {
        return best;
    }
    var ray = whole;
    if ((frame.flags >> CLIPS_SHIFT) & 7u) != 0u {
        let seen = opening(ray.origin, ray.direction);
        ray.first = max(ray.first, seen.first);
        ray.last = min(ray.last, seen.last);
        if !(ray.first < ray.last) {
            return best;
        }
        best.distance = ray.last;
    }
    let inverse = safe_inverse(ray.direction);
    if box_entry(0u, ray.origin, inverse, ray.first, ray.last) > 1e29 {
        return best;
    }
    var stack: array<u32, 24>;
    // Where the ray enters the boxes that wait on the stack: a hit found meanwhile may lie before them.
    var entries: array<f32, 24>;
    var depth = 0u;
    var current = 0u;
    var waiting = false;
    // As in `walk`: first every ray looks for its next body, then they walk together.
    loop {
        var body = NO_BODY;
        loop {
            if waiting {
                if depth == 0u {
                    break;
                }
                depth -= 1u;
                if !(entries[depth] < best.distance) {
                    continue;
                }
                current = stack[depth];
            }
            waiting = true;
            let first = boxes[current].first;
            if (first & BOX_LEAF) != 0u {
                body = first & 0x7fffffffu;
                break;
            }
            let t0 = box_entry(first, ray.origin, inverse, ray.first, best.distance);
            let t1 = box_entry(first + 1u, ray.origin, inverse, ray.first, best.distance);
            if min(t0, t1) < 1e29 {
                let swap = t1 < t0;
                if max(t0, t1) < 1e29 {
                    stack[depth] = select(first + 1u, first, swap);
                    entries[depth] = max(t0, t1);
                    depth += 1u;
                }
                current = select(first, first + 1u, swap);
                waiting = false;
            }
        }
        if body == NO_BODY {
            break;
        }
        if (bodies[body].hue_and_marks & BODY_MESH) != 0u {
            walk_mesh(body, ray, any, &best);
        } else {
            walk(body, ray, &best);
        }
        if any && best.body != BODY_SKY {
            break;
        }
    }
    if best.body == BODY_SKY {
        best.distance = whole.last;
    }
    return best;
}
