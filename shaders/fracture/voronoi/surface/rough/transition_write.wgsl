// Domaradzki & Martyn 2018, sec. 5.2: makes the crack surface of every crossed transition voxel.
//#include fracture/voronoi/surface/rough/transition

// Returns the triangles that there are.
fn keep_record(record: u32, low: vec3<i32>, size: i32) -> u32 {
    crack_separate(low, size);
    for (var k = 0u; k < CRACK_WORDS; k++) {
        records[record * CRACK_WORDS + k] = crack[k];
    }
    return crack_triangles();
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    rewrite_pair(linear_id(workgroup, groups, local));
}
