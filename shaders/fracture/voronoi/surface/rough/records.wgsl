// Crossed transition voxels in a buffer. Included by kernels that declare `records`.
//#include fracture/voronoi/surface/rough/touch
//#include fracture/voronoi/surface/rough/voxel

fn load_record(record: u32) {
    for (var k = 0u; k < CRACK_WORDS; k++) {
        crack[k] = records[record * CRACK_WORDS + k];
    }
}

fn touched_triangles(mask: u32, centre: vec3<i32>, half: i32) -> u32 {
    return touching(mask, centre, half);
}
