// Crossed transition voxels with gaps in a buffer. Included by kernels that declare `records`.
//#include fracture/voronoi/surface/dusty/voxel

fn load_dust(record: u32) {
    for (var k = 0u; k < DUST_WORDS; k++) {
        dust[k] = records[record * DUST_WORDS + k];
    }
    dust_unpack();
}
