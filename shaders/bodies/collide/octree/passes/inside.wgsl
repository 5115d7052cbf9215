// Round an edge the planes of coarse cells reach beyond the solid; the leaves know. One thread: one contact. One that is
// deep but not in the solid is dropped.
//#include shared/thread
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/contact
//#include bodies/collide/octree/passes/solid

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> solids: array<Solid>;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> normals: array<u32>;
@group(0) @binding(4) var<storage, read> colors: array<u32>;
@group(0) @binding(5) var<storage, read> cuts: array<u32>;
@group(0) @binding(6) var<storage, read> counters: array<u32>;
@group(0) @binding(7) var<storage, read_write> contacts: array<Contact>;

//#include bodies/collide/octree/passes/leaf_plane
//#include bodies/collide/octree/cell

// A point deeper than this, cells, must lie in the solid. Not zero: between two samples, edges cross.
const BESIDE_CELLS: f32 = 0.25;

fn thread(id: u32) {
    if id >= min(counters[CONTACTS], params.contacts_room) || contacts[id].gap >= -BESIDE_CELLS {
        return;
    }
    let s = solids[contacts[id].solid];
    let point = contacts[id].voxel;
    let leaf = look_up_in(vec4<u32>(s.node_base, s.root, 0u, 0u), s.leaf, vec3<i32>(floor(point)));
    if leaf == EMPTY || (leaf != INSIDE && !is_behind(s.leaf_base + leaf, point)) {
        contacts[id].state = DROPPED;
    }
}
