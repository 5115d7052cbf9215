// Morton codes of the solids' boxes (Karras 2012, sec. 4). One thread: one key. What fills the keys up to a power of two
// comes last.
//#include shared/thread
//#include shared/octree
//#include bodies/collide/octree/passes/params
//#include bodies/collide/octree/passes/solid

@group(0) @binding(0) var<uniform> params: ContactParams;
@group(0) @binding(1) var<storage, read> solids: array<Solid>;
// (code, solid)
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;

fn thread(id: u32) {
    if id >= params.padded {
        return;
    }
    if id >= params.solids {
        keys[id] = vec2<u32>(0xffffffffu);
        return;
    }
    // Ten bits an axis of the twenty that the lattice has.
    let middle = vec3<u32>((solids[id].low + solids[id].high) / 2) >> vec3<u32>(10u);
    keys[id] = vec2<u32>(morton_encode(middle), id);
}
