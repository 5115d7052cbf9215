// Lists the points of each column (Domaradzki & Martyn 2016, sec. 5.1.3). The reference is
// crates/physics/src/collide/octree/overlap/mod.rs, columns. One thread: one point and one axis.
//#include shared/thread
//#include shared/octree
//#include papers/overlap/first

@group(0) @binding(0) var<uniform> params: OverlapParams;
@group(0) @binding(1) var<storage, read> means: array<Mean>;
// One more than three times the index of a point plus an axis; 0 is free.
@group(0) @binding(2) var<storage, read_write> table: array<atomic<u32>>;
// First of the list that begins at a column's own first entry, and the next of each entry; as in `table`, 0 is none.
@group(0) @binding(3) var<storage, read_write> heads: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> nexts: array<u32>;
@group(0) @binding(5) var<storage, read_write> counters: array<atomic<u32>>;

// Meeting, and axis with the two cells across it.
fn kind_of(entry: u32) -> vec2<u32> {
    let m = means[entry / 3u];
    let axis = entry % 3u;
    let cell = cell_of(m.place);
    return vec2<u32>(m.meeting, (axis << 20u) | (cell[(axis + 1u) % 3u] << 10u) | cell[(axis + 2u) % 3u]);
}

fn thread(id: u32) {
    if id >= 3u * min(atomicLoad(&counters[MEANS]), params.means) {
        return;
    }
    let m = means[id / 3u];
    let n = vec3<f32>(m.nx, m.ny, m.nz);
    if abs(n[id % 3u]) < LEAST_COSINE {
        return;
    }
    let first = first_of_kind(id, kind_of(id), params.mean_mask);
    if first != NONE {
        nexts[id] = atomicExchange(&heads[first], id + 1u);
    }
}
