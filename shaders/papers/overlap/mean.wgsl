// Means of the sums: the collision points of the lattice (Domaradzki & Martyn 2016, sec. 5.1.2). The reference is
// crates/physics/src/collide/octree/overlap/mod.rs, gather. One thread: one cell and surface, at the first of its points.
//#include shared/thread
//#include shared/octree
//#include papers/overlap/meeting
//#include papers/overlap/gather

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> raws: array<Raw>;
@group(0) @binding(2) var<storage, read> firsts: array<u32>;
@group(0) @binding(3) var<storage, read> leads: array<u32>;
@group(0) @binding(4) var<storage, read> sums: array<i32>;
@group(0) @binding(5) var<storage, read_write> means: array<Mean>;
@group(0) @binding(6) var<storage, read_write> counters: array<atomic<u32>>;

fn thread(id: u32) {
    if id >= min(atomicLoad(&counters[RAWS]), params.raws) || firsts[id] != id {
        return;
    }
    let r = raws[id];
    for (var back = 0u; back < 2u; back++) {
        let at = WORDS * (2u * id + back);
        let weight = f32(sums[at + 6u]);
        if weight <= 0.0 {
            continue;
        }
        let q = vec3<f32>(f32(sums[at]), f32(sums[at + 1u]), f32(sums[at + 2u])) / weight;
        let p = vec3<f32>(cell_of(r.place)) + q;
        var n = vec3<f32>(f32(sums[at + 3u]), f32(sums[at + 4u]), f32(sums[at + 5u])) / weight;
        if dot(n, n) < 1e-12 {
            n = lead_normal(leads[id]) * select(1.0, -1.0, back == 1u);
        }
        n = normalize(n);
        let slot = atomicAdd(&counters[MEANS], 1u);
        if slot < params.means {
            means[slot] = Mean(r.meeting, r.place | (back << 31u), p.x, p.y, p.z, n.x, n.y, n.z);
        }
    }
}
