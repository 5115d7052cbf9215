// The next direction: what the preconditioner made of the forces, and a share of the last direction. One thread: one number.
//#include shared/thread
//#include elastic/passes/data

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(1) var<storage, read> sum: array<f32>;
@group(0) @binding(2) var<storage, read_write> direction: array<f32>;
@group(0) @binding(3) var<storage, read> state: ElasticState;

fn thread(id: u32) {
    if id >= params.count || state.done != 0u {
        return;
    }
    direction[id] = sum[id] + state.turn * direction[id];
}
