// Index of a thread in a dispatch that was spread over two dimensions (see gpu/kernel.rs, groups_for).

const WORKGROUP: u32 = 256u;

fn linear_id(workgroup: vec3<u32>, groups: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * groups.x + workgroup.x) * WORKGROUP + local;
}
