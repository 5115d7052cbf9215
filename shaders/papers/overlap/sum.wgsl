// Adds each point to the sums of its cell and surface (Domaradzki & Martyn 2016, sec. 5.1.2). The reference is
// crates/physics/src/collide/octree/overlap/mod.rs, gather. One thread: one point.
//#include shared/thread
//#include shared/octree
//#include papers/overlap/meeting
//#include papers/overlap/gather

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> raws: array<Raw>;
@group(0) @binding(2) var<storage, read> firsts: array<u32>;
@group(0) @binding(3) var<storage, read> leads: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<i32>>;
@group(0) @binding(5) var<storage, read> counters: array<u32>;

fn add(at: u32, v: f32) {
    atomicAdd(&sums[at], i32(round(v * UNIT)));
}

fn thread(id: u32) {
    if id >= min(counters[RAWS], params.raws) || firsts[id] == NONE {
        return;
    }
    let r = raws[id];
    let n = vec3<f32>(r.nx, r.ny, r.nz);
    let along = dot(n, lead_normal(leads[firsts[id]])) >= 0.0;
    let at = 2u * WORDS * firsts[id] + select(WORDS, 0u, along);
    add(at, r.x * r.weight);
    add(at + 1u, r.y * r.weight);
    add(at + 2u, r.z * r.weight);
    add(at + 3u, n.x * r.weight);
    add(at + 4u, n.y * r.weight);
    add(at + 5u, n.z * r.weight);
    add(at + 6u, r.weight);
}
