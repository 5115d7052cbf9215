// One level of the descent of bodies against planes (crates/physics/src/collide/octree/planes.rs). One thread: one octant of one
// node that is still near. Kept octants are nodes of the next level, or cells once the body's level is reached.
//#include shared/thread
//#include shared/octree
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/task

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
// (task, node, key)
@group(0) @binding(3) var<storage, read> here: array<u32>;
@group(0) @binding(4) var<storage, read_write> below: array<u32>;
@group(0) @binding(5) var<storage, read_write> cells: array<u32>;
@group(0) @binding(6) var<storage, read_write> counters: array<atomic<u32>>;

//#include bodies/collide/octree/passes/rounds

fn thread(id: u32) {
    let item = id >> 3u;
    if item >= min(atomicLoad(&counters[PLANE_NODES + params.level]), params.plane_nodes_room) {
        return;
    }
    let number = here[3u * item];
    let task = tasks[number];
    let parent = nodes[task.node_base + here[3u * item + 1u]];
    let c = id & 7u;
    if ((node_valid(parent) >> c) & 1u) == 0u {
        return;
    }
    let key = (here[3u * item + 2u] << 3u) | c;
    let size = f32(1u << (task.leaf - params.level - 1u));
    let centre = (vec3<f32>(morton_decode(key)) + 0.5) * size;
    let margin = task.margin + task.speed * params.dt / f32(rounds_of(atomicLoad(&counters[FASTEST])));
    // Half a diagonal, and a voxel for surfaces that leave their cell.
    let nearest = task.distance + task.voxel * (dot(task.normal, centre) - (0.867 * size + 1.0));
    if nearest >= margin {
        return;
    }
    let child = node_child(parent, c);
    if params.level + 1u < task.level {
        let slot = atomicAdd(&counters[PLANE_NODES + params.level + 1u], 1u);
        if slot < params.plane_nodes_room {
            below[3u * slot] = number;
            below[3u * slot + 1u] = child;
            below[3u * slot + 2u] = key;
        }
    } else {
        let slot = atomicAdd(&counters[CELLS], 1u);
        if slot < params.cells_room {
            cells[3u * slot] = number;
            cells[3u * slot + 1u] = child;
            cells[3u * slot + 2u] = key;
        }
    }
}
