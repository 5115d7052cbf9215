// Crossed transition voxels in a buffer. Included by kernels that declare `records`.
//#include fracture/voronoi/surface/rough/voxel

fn load_voxel(record: u32) {
    for (var k = 0u; k < CRACK_WORDS; k++) {
        crack[k] = records[record * CRACK_WORDS + k];
    }
}
