// Domaradzki & Martyn 2016, sec. 4.4: the fracture boundary set with its attributes.
// One thread takes one pair at the last parent level and writes its copies. A boundary leaf keeps its colour and normal. A crack
// voxel's surface is the exact bisector plane towards the nearest of the other objects' cells of its corners, its second plane
// stands for the rest; its colour comes from a procedural volume.
// out_place:   x = Morton code, y = source leaf (28 bits, all ones for a new crack voxel) and number of objects - 1 (4 bits)
// out_surface: x = packed normal, y = packed colour word
// out_cuts:    a boundary leaf that a crack passes through keeps its own surface and gets the crack as its second plane, or the
//              chamfer of several cracks, those of earlier fractures among them.
//#include shared/linear_id
//#include fracture/owners
//#include fracture/material
//#include fracture/cuts

struct Params { pairs: u32, child_level: u32, node_base: u32, leaf_base: u32, interior: vec4<u32> }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
@group(0) @binding(5) var<storage, read> masks: array<u32>;
@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read> source_normals: array<u32>;
@group(0) @binding(8) var<storage, read> source_colors: array<u32>;
@group(0) @binding(9) var<storage, read> source_cuts: array<u32>;
@group(0) @binding(10) var<storage, read_write> out_place: array<vec2<u32>>;
@group(0) @binding(11) var<storage, read_write> out_surface: array<vec2<u32>>;
@group(0) @binding(12) var<storage, read_write> out_cuts: array<u32>;

const NO_LEAF: u32 = 0x0fffffffu;

// The nearest seed of a corner, the lowest index where several are.
fn owner_of(x: vec3<i32>, pair: Pair) -> u32 {
    var owner = own_seed(pair);
    var best = distance2(x, seeds[owner].xyz);
    for (var k = 1u; k < pair.list_count; k++) {
        let r = candidates[pair.list_first + k];
        let d = distance2(x, seeds[r].xyz);
        if d < best || (d == best && r < owner) {
            best = d;
            owner = r;
        }
    }
    return owner;
}

// The bisector plane of two seeds: normal towards the other, distance from the leaf's centre along it, in voxels.
struct Face {
    normal: vec3<f32>,
    offset: f32,
}

// `own` and `other` are the seeds' places, `own_distance2` is that of the centre from `own`.
fn face_between(own: vec3<i32>, own_distance2: i32, other: vec3<i32>, centre: vec3<i32>, edge: i32) -> Face {
    let towards = vec3<f32>(other - own);
    let apart = max(length(towards), 1.0);
    let offset = f32(distance2(centre, other) - own_distance2) / (2.0 * apart * f32(edge));
    return Face(towards / apart, offset);
}

fn color_word(rgb: vec3<f32>, offset_voxels: f32) -> u32 {
    let q = vec3<u32>(round(rgb * 255.0));
    let o = i32(clamp(round(offset_voxels * 64.0), -64.0, 63.0));
    return q.x | (q.y << 8u) | (q.z << 16u) | (1u << 24u) | ((bitcast<u32>(o) & 0x7fu) << 25u);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_id(workgroup, groups, local);
    if i >= params.pairs {
        return;
    }
    let pair = pairs[i];
    let copies = masks[i] & 0xffu;
    let edge = node_edge(params.child_level);
    var slot = offsets[i].x;
    var node = Node(0u, 0u);
    if pair.source != INSIDE {
        node = nodes[params.node_base + pair.source];
    }
    var owners: array<u32, 27>;
    if pair.list_count > 0u {
        let origin = node_low(pair.key, params.child_level - 1u);
        for (var n = 0u; n < 27u; n++) {
            owners[n] = owner_of(corner_point(origin, edge, n), pair);
        }
    }
    for (var c = 0u; c < 8u; c++) {
        if (copies & (1u << c)) == 0u {
            continue;
        }
        let key = (pair.key << 3u) | c;
        let centre = node_low(key, params.child_level) + vec3<i32>(edge / 2i);
        // The seeds that own a corner: those of this object, then those of others.
        var own: array<u32, 8>;
        var own_count = 0u;
        var others: array<u32, 8>;
        var other_count = 0u;
        var other_objects = 0u;
        if pair.list_count > 0u {
            for (var k = 0u; k < 8u; k++) {
                let owner = owners[corner_number(c, k)];
                if is_own(pair, owner) {
                    if merged {
                        var known = false;
                        for (var j = 0u; j < own_count; j++) {
                            known = known || own[j] == owner;
                        }
                        if !known {
                            own[own_count] = owner;
                            own_count += 1u;
                        }
                    }
                    continue;
                }
                var known = false;
                for (var j = 0u; j < other_count; j++) {
                    known = known || others[j] == owner;
                }
                if known {
                    continue;
                }
                var known_object = false;
                for (var j = 0u; merged && j < other_count; j++) {
                    known_object = known_object || seeds[others[j]].w == seeds[owner].w;
                }
                others[other_count] = owner;
                other_count += 1u;
                other_objects += u32(!known_object);
            }
        }
        // Where two cells of one object meet at the crack, its solid is their union: the cell whose nearest face is farthest shows. Two
        // objects that meet so choose the same plane, unless both have several cells there.
        var s = seeds[pair.object].xyz;
        if merged && other_count > 0u {
            s = seeds[own[0]].xyz;
            var farthest = -1e9;
            for (var n = 0u; n < own_count && own_count > 1u; n++) {
                let candidate = seeds[own[n]].xyz;
                let candidate_d = distance2(centre, candidate);
                var near_face = 1e9;
                for (var j = 0u; j < other_count; j++) {
                    let face = face_between(candidate, candidate_d, seeds[others[j]].xyz, centre, edge);
                    near_face = min(near_face, face.offset);
                }
                if near_face > farthest {
                    farthest = near_face;
                    s = candidate;
                }
            }
        }
        let d = distance2(centre, s);
        var leaf = NO_LEAF;
        var surface: vec2<u32>;
        var plane = vec4<f32>(0.0, 0.0, 1.0, 0.0);
        var cuts: Cuts;
        cuts.count = 0u;
        let valid = (node_valid(node) & (1u << c)) != 0u;
        if valid {
            leaf = node_child(node, c);
            surface = vec2<u32>(source_normals[params.leaf_base + leaf], source_colors[params.leaf_base + leaf]);
            plane = vec4<f32>(normal_unpack(surface.x), leaf_offset(surface.y));
            let before = source_cuts[params.leaf_base + leaf];
            if other_count == 0u {
                out_cuts[slot] = before;
            } else if cut_is_there(before) {
                cuts_add(&cuts, cut_normal(before), cut_offset(before));
            }
        }
        for (var j = 0u; j < other_count; j++) {
            let face = face_between(s, d, seeds[others[j]].xyz, centre, edge);
            cuts_add(&cuts, face.normal, face.offset);
        }
        if !valid {
            if other_count > 0u {
                // The nearest crack is the leaf's own surface.
                let nearest = cuts_nearest(&cuts);
                plane = cuts.planes[nearest];
                cuts.count -= 1u;
                cuts.planes[nearest] = cuts.planes[cuts.count];
            }
            surface = vec2<u32>(normal_pack(plane.xyz), color_word(interior_color(centre), plane.w));
        }
        if !valid || other_count > 0u {
            out_cuts[slot] = cuts_word(&cuts, plane);
        }
        out_place[slot] = vec2<u32>(key, leaf | (other_objects << 28u));
        out_surface[slot] = surface;
        slot += 1u;
    }
}
