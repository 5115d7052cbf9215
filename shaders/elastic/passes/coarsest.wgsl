// The coarsest level, by the inverse of its matrix. One thread: one unknown.
//#include shared/thread
//#include elastic/passes/data

@group(0) @binding(0) var<uniform> params: ElasticParams;
// Symmetric.
@group(0) @binding(1) var<storage, read> inverse: array<f32>;
// Place of each unknown in a vector.
@group(0) @binding(2) var<storage, read> unknowns: array<u32>;
@group(0) @binding(3) var<storage, read> forces: array<f32>;
@group(0) @binding(4) var<storage, read_write> sum: array<f32>;
@group(0) @binding(5) var<storage, read> state: ElasticState;

fn thread(id: u32) {
    if id >= params.count || state.done != 0u {
        return;
    }
    var total = 0.0;
    for (var k = 0u; k < params.count; k++) {
        total += inverse[k * params.count + id] * forces[unknowns[k]];
    }
    sum[unknowns[id]] = total;
}
