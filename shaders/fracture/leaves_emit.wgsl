// Domaradzki & Martyn 2016, sec. 4.4: the fracture boundary set with its attributes.
// One thread takes one pair at the last parent level and writes its copies. A boundary leaf keeps its colour and normal. A crack
// voxel's surface is the exact bisector plane towards the nearest of the other cells of its corners, its second plane stands for
// the rest; its colour comes from a procedural volume.
// out_place:   x = Morton code, y = source leaf (28 bits, all ones for a new crack voxel) and number of cells - 1 (4 bits)
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
@group(0) @binding(4) var<storage, read> rivals: array<u32>;
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
    var best = distance2(x, seeds[pair.cell].xyz);
    var owner = pair.cell;
    for (var k = 0u; k < pair.rival_count; k++) {
        let r = rivals[pair.rival_first + k];
        let d = distance2(x, seeds[r].xyz);
        if d < best || (d == best && r < owner) {
            best = d;
            owner = r;
        }
    }
    return owner;
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
    if pair.rival_count > 0u {
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
        let low = node_low(key, params.child_level);
        var others: array<u32, 8>;
        var other_count = 0u;
        if pair.rival_count > 0u {
            for (var k = 0u; k < 8u; k++) {
                let owner = owners[corner_number(c, k)];
                var known = owner == pair.cell;
                for (var j = 0u; j < other_count; j++) {
                    known = known || others[j] == owner;
                }
                if !known {
                    others[other_count] = owner;
                    other_count += 1u;
                }
            }
        }
        let centre = low + vec3<i32>(edge / 2i);
        let s = seeds[pair.cell].xyz;
        let d = distance2(centre, s);
        var leaf = NO_LEAF;
        var surface: vec2<u32>;
        var own = vec4<f32>(0.0, 0.0, 1.0, 0.0);
        var cuts: Cuts;
        let valid = (node_valid(node) & (1u << c)) != 0u;
        if valid {
            leaf = node_child(node, c);
            surface = vec2<u32>(source_normals[params.leaf_base + leaf], source_colors[params.leaf_base + leaf]);
            own = vec4<f32>(normal_unpack(surface.x), leaf_offset(surface.y));
            let before = source_cuts[params.leaf_base + leaf];
            if other_count == 0u {
                out_cuts[slot] = before;
            } else if cut_is_there(before) {
                cuts_add(&cuts, cut_normal(before), cut_offset(before));
            }
        }
        for (var j = 0u; j < other_count; j++) {
            let t = seeds[others[j]].xyz;
            let towards = vec3<f32>(t - s);
            let apart = max(length(towards), 1.0);
            cuts_add(&cuts, towards / apart, f32(distance2(centre, t) - d) / (2.0 * apart * f32(edge)));
        }
        if !valid {
            if other_count > 0u {
                // The nearest crack is the leaf's own surface.
                let nearest = cuts_nearest(&cuts);
                own = cuts.planes[nearest];
                cuts.count -= 1u;
                cuts.planes[nearest] = cuts.planes[cuts.count];
            }
            surface = vec2<u32>(normal_pack(own.xyz), color_word(interior_color(centre), own.w));
        }
        if !valid || other_count > 0u {
            out_cuts[slot] = cuts_word(&cuts, own);
        }
        out_place[slot] = vec2<u32>(key, leaf | (other_count << 28u));
        out_surface[slot] = surface;
        slot += 1u;
    }
}
