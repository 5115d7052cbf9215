// A scalar product, as a sum for each workgroup, in one order. One thread: one pair of numbers.
//#include elastic/passes/data
//#include shared/linear_id

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;

var<workgroup> partial: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = linear_id(workgroup, groups, local);
    var own = 0.0;
    if id < params.count {
        own = a[id] * b[id];
    }
    partial[local] = own;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if local < half {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    if local == 0u && id < params.count {
        sums[id / WORKGROUP] = partial[0];
    }
}
