// Morton codes of boxes (Karras 2012, sec. 4). One thread: one key. What fills the keys up to a power of two comes last.
//#include shared/thread
//#include shared/octree
//#include bodies/broad_phase/passes/params
//#include bodies/broad_phase/passes/lattice

@group(0) @binding(0) var<uniform> params: HierarchyParams;
// (code, box)
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;

fn thread(id: u32) {
    if id >= params.keys {
        return;
    }
    if id >= params.boxes {
        keys[id] = vec2<u32>(0xffffffffu);
        return;
    }
    // Ten bits an axis of the twenty that the lattice has.
    let middle = vec3<u32>((low_of(id) + high_of(id)) / 2) >> vec3<u32>(10u);
    keys[id] = vec2<u32>(morton_encode(middle), id);
}
