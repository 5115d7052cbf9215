// The entry of every one-dimensional kernel: one thread does `thread` with its index in the dispatch, which may go
// beyond what there is to do. Included by kernels that declare `thread`.
//#include shared/linear_id

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    thread(linear_id(workgroup, groups, local));
}
