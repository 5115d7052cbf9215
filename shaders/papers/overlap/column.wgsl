// Entry and exit in every column (Domaradzki & Martyn 2016, sec. 5.1.3): a point whose normal looks against the
// column, then one whose normal looks along it, with no other between. The reference is
// crates/physics/src/collide/octree/overlap/mod.rs, columns. One thread: one column, at its first entry.
//#include shared/thread
//#include bodies/collide/octree/cell
//#include bodies/collide/octree/surfel
//#include papers/overlap/meeting

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> meetings: array<Meeting>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> surfels: array<Surfel>;
@group(0) @binding(4) var<storage, read> means: array<Mean>;
@group(0) @binding(5) var<storage, read> heads: array<u32>;
@group(0) @binding(6) var<storage, read> nexts: array<u32>;
@group(0) @binding(7) var<storage, read_write> columns: array<Stretch>;
@group(0) @binding(8) var<storage, read_write> counters: array<atomic<u32>>;

// `kind`: axis, then at bits 2 and 3 whose surfaces entry and exit are.
struct Stretch {
    meeting: u32,
    kind: u32,
    x: f32,
    y: f32,
    z: f32,
    length: f32,
    nx: f32,
    ny: f32,
    nz: f32,
}

// Two normals whose sum is shorter have no mean direction: the two faces of one plate.
const LEAST_MEAN: f32 = 1e-3;
// Points that one column may have.
const MOST: u32 = 4096u;

fn is_behind(p: vec3<f32>, s: Surfel, sign: f32) -> bool {
    let n = normal_unpack(s.normal) * sign;
    return dot(p - vec3<f32>(s.x, s.y, s.z) - n * s.thickness, n) < 0.0;
}

// Whether the cell at `p` is not empty; `strict`: whether `p` is behind the surface in it.
fn holds(tree: vec4<u32>, p: vec3<f32>, strict: bool) -> bool {
    let cell = look_up_in(tree, tree.z, vec3<i32>(floor(p)));
    if cell >= INSIDE {
        return cell == INSIDE;
    }
    if !strict {
        return true;
    }
    let s = surfels[cell + tree.w];
    return is_behind(p, s, 1.0) && (s.thickness == 0.0 || is_behind(p, s, -1.0));
}

fn thread(id: u32) {
    if id >= 3u * min(atomicLoad(&counters[MEANS]), params.means) || heads[id] == 0u {
        return;
    }
    let axis = id % 3u;
    let own = means[id / 3u];
    let m = meetings[own.meeting];
    var middle = vec3<f32>(cell_of(own.place)) + 0.5;
    // The list is in any order: each turn looks for the next along the column.
    var last_at = -3.0e38;
    var last_place = 0u;
    var entry_at = 0.0;
    var entry_n = vec3<f32>(0.0);
    var entry_owner = NONE;
    for (var turn = 0u; turn < MOST; turn++) {
        var best = NONE;
        var at = 3.0e38;
        var place = NONE;
        var i = heads[id];
        for (var k = 0u; k < MOST && i != 0u; k++) {
            let e = (i - 1u) / 3u;
            let p = vec3<f32>(means[e].x, means[e].y, means[e].z);
            let v = p[axis];
            let later = v > last_at || (v == last_at && means[e].place > last_place);
            if later && (v < at || (v == at && means[e].place < place)) {
                at = v;
                place = means[e].place;
                best = e;
            }
            i = nexts[i - 1u];
        }
        if best == NONE {
            break;
        }
        last_at = at;
        last_place = place;
        let n = vec3<f32>(means[best].nx, means[best].ny, means[best].nz);
        let owner = owner_of(place);
        if n[axis] < 0.0 {
            entry_at = at;
            entry_n = n;
            entry_owner = owner;
            continue;
        }
        if entry_owner == NONE {
            continue;
        }
        let owners = vec2<u32>(entry_owner, owner);
        entry_owner = NONE;
        middle[axis] = 0.5 * (entry_at + at);
        let in_b = rows(m.to_b_x, m.to_b_y, m.to_b_z, vec4<f32>(middle, 1.0));
        // Both ends of one body: the column counts where its middle is inside the other; else, where neither is empty.
        let inside = holds(m.a, middle, all(owners == vec2<u32>(1u))) && holds(m.b, in_b, all(owners == vec2<u32>(0u)));
        if at > entry_at && inside {
            var normal = entry_n * select(-1.0, 1.0, owners.x == 0u) + n * select(-1.0, 1.0, owners.y == 0u);
            let long = length(normal);
            let along = vec3<f32>(f32(axis == 0u), f32(axis == 1u), f32(axis == 2u));
            normal = select(along, normal / max(long, 1e-20), long > LEAST_MEAN);
            let slot = atomicAdd(&counters[COLUMNS], 1u);
            if slot < params.columns {
                let kind = axis | (owners.x << 2u) | (owners.y << 3u);
                columns[slot] =
                    Stretch(own.meeting, kind, middle.x, middle.y, middle.z, at - entry_at, normal.x, normal.y, normal.z);
            }
        }
    }
}
