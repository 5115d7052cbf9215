// The forces of the direction (`change`). One thread: one node.
//#include elastic/passes/product

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(5) var<storage, read_write> product: array<f32>;
@group(0) @binding(6) var<storage, read> state: ElasticState;

fn thread(id: u32) {
    let chunk = id / LANES;
    let lane = id % LANES;
    if chunk >= params.chunks || state.done != 0u {
        return;
    }
    let own = forces_of(chunk, lane);
    for (var axis = 0u; axis < 3u; axis++) {
        product[chunk * CHUNK + axis * LANES + lane] = own[axis];
    }
}
