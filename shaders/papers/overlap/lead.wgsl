// Finds for each point the first of its cell and surface, and the lead among those (Domaradzki & Martyn 2016, sec.
// 5.1.2). The reference is crates/physics/src/collide/octree/overlap/mod.rs, gather. One thread: one point.
//#include shared/thread
//#include shared/octree
//#include papers/overlap/first
//#include papers/overlap/gather

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> raws: array<Raw>;
// One more than the index of a point; 0 is free.
@group(0) @binding(2) var<storage, read_write> table: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(4) var<storage, read_write> leads: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> counters: array<atomic<u32>>;

// Meeting; cell and surface.
fn kind_of(entry: u32) -> vec2<u32> {
    return vec2<u32>(raws[entry].meeting, raws[entry].place);
}

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[RAWS]), params.raws) {
        return;
    }
    let r = raws[id];
    let first = first_of_kind(id, kind_of(id), params.raw_mask);
    firsts[id] = first;
    if first == NONE {
        return;
    }
    atomicMax(&leads[first], lead_word(vec3<f32>(r.nx, r.ny, r.nz), r.weight));
}
