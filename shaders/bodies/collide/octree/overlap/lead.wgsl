// Finds for each point the first of its cell and surface, and the lead among those (Domaradzki & Martyn 2016, sec. 5.1.2).
// The reference is src/bodies/collide/overlap/mod.rs, gather. One thread: one point.
//#include shared/thread
//#include shared/octree
//#include bodies/collide/octree/overlap/meeting
//#include bodies/collide/octree/overlap/gather

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> raws: array<Raw>;
// One more than the index of a point; 0 is free.
@group(0) @binding(2) var<storage, read_write> table: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(4) var<storage, read_write> leads: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> counters: array<atomic<u32>>;

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[RAWS]), params.raws) {
        return;
    }
    let r = raws[id];
    var slot = hash(r.meeting, r.place) & params.raw_mask;
    var first = NONE;
    for (var probe = 0u; probe < PROBES && first == NONE; probe++) {
        let was = atomicCompareExchangeWeak(&table[slot], 0u, id + 1u);
        if was.exchanged {
            first = id;
        } else if was.old_value != 0u {
            let other = was.old_value - 1u;
            if raws[other].meeting == r.meeting && raws[other].place == r.place {
                first = other;
            } else {
                slot = (slot + 1u) & params.raw_mask;
            }
        }
    }
    firsts[id] = first;
    if first == NONE {
        atomicStore(&counters[LOST], 1u);
        return;
    }
    atomicMax(&leads[first], lead_word(vec3<f32>(r.nx, r.ny, r.nz), r.weight));
}
