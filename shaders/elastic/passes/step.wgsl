// One step along the direction; what is left of the forces is what the next cycle begins with. One thread: one number.
//#include shared/thread
//#include elastic/passes/data

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(1) var<storage, read> direction: array<f32>;
@group(0) @binding(2) var<storage, read> product: array<f32>;
@group(0) @binding(3) var<storage, read_write> moved: array<f32>;
@group(0) @binding(4) var<storage, read_write> left: array<f32>;
@group(0) @binding(5) var<storage, read_write> forces: array<f32>;
@group(0) @binding(6) var<storage, read> state: ElasticState;

fn thread(id: u32) {
    if id >= params.count || state.done != 0u {
        return;
    }
    moved[id] += state.step * direction[id];
    let own = left[id] - state.step * product[id];
    left[id] = own;
    forces[id] = own;
}
