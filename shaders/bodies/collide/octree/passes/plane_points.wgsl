// Contacts of a cell with a plane: its lowest leaf, or, of a crumb, the corners of its voxels
// (crates/physics/src/collide/octree/planes.rs). One thread: one cell, which it walks down to the leaves.
//#include shared/thread
//#include shared/octree
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/task
//#include bodies/collide/octree/passes/contact

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> normals: array<u32>;
@group(0) @binding(4) var<storage, read> colors: array<u32>;
@group(0) @binding(5) var<storage, read> cuts: array<u32>;
// (task, node of the body's level, key); of a crumb (task, root, 0)
@group(0) @binding(6) var<storage, read> cells: array<u32>;
@group(0) @binding(7) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(8) var<storage, read_write> counters: array<atomic<u32>>;

//#include bodies/collide/octree/passes/leaf_plane
//#include bodies/collide/octree/passes/rounds

const CRUMB: u32 = 0xffffffffu;
// Of leaves equally low the outermost counts: so much height for so much way from the middle.
const BESIDE_SHARE: f32 = 1.0e-3;

fn distance_of(task: Task, p: vec3<f32>) -> f32 {
    return task.distance + task.voxel * dot(task.normal, p);
}

fn touch(number: u32, task: Task, key: u32, p: vec3<f32>, distance: f32) {
    let slot = atomicAdd(&counters[CONTACTS], 1u);
    if slot < params.contacts_room {
        let arm = p * task.voxel;
        let position = vec3<f32>(dot(task.turn_x, arm), dot(task.turn_y, arm), dot(task.turn_z, arm));
        contacts[slot] = Contact(number, key, 0u, OPEN, position, distance, task.facing, 0.0, p, 0u);
    }
}

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[CELLS]), params.cells_room) {
        return;
    }
    let number = cells[3u * id];
    let task = tasks[number];
    let margin = task.margin + task.speed * params.dt / f32(rounds_of(atomicLoad(&counters[FASTEST])));
    let is_crumb = task.first == CRUMB;
    let top = select(task.level, 0u, is_crumb);
    var least = 3.0e38;
    var lowest = vec3<f32>(0.0);
    // (node, key); a one before the key says of what level it is. Seven are left behind on each level.
    var stack: array<vec2<u32>, 72>;
    stack[0] = vec2<u32>(cells[3u * id + 1u], (1u << (3u * top)) | cells[3u * id + 2u]);
    var depth = 1u;
    while depth > 0u {
        depth -= 1u;
        let at = stack[depth];
        let level = (31u - countLeadingZeros(at.y)) / 3u;
        if level < task.leaf {
            let node = nodes[task.node_base + at.x];
            for (var k = 0u; k < 8u; k++) {
                // The first octant is looked at first.
                let c = 7u - k;
                if ((node_valid(node) >> c) & 1u) == 1u {
                    stack[depth] = vec2<u32>(node_child(node, c), (at.y << 3u) | c);
                    depth += 1u;
                }
            }
            continue;
        }
        let low = vec3<f32>(morton_decode(at.y ^ (1u << (3u * task.leaf))));
        if is_crumb {
            for (var c = 0u; c < 8u; c++) {
                let corner = low + vec3<f32>(f32(c & 1u), f32((c >> 1u) & 1u), f32(c >> 2u));
                let distance = distance_of(task, corner);
                if distance < margin {
                    touch(number, task, 8u * at.x + c, corner, distance);
                }
            }
            continue;
        }
        let p = leaf_sample(task.leaf_base + at.x, low);
        let arm = (p - task.middle) * task.voxel;
        let beside = length(arm - task.normal * dot(arm, task.normal));
        let rank = distance_of(task, p) - BESIDE_SHARE * beside;
        if rank < least {
            least = rank;
            lowest = p;
        }
    }
    if !is_crumb && least < 3.0e38 {
        let distance = distance_of(task, lowest);
        if distance < margin {
            touch(number, task, cells[3u * id + 1u] - task.first, lowest, distance);
        }
    }
}
