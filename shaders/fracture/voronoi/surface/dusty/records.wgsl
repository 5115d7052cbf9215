// Crossed transition voxels with gaps in a buffer. Included by kernels that declare `records`.
//#include fracture/voronoi/surface/dusty/shares
//#include fracture/voronoi/surface/dusty/voxel

fn load_record(record: u32) {
    for (var k = 0u; k < DUST_WORDS; k++) {
        dust[k] = records[record * DUST_WORDS + k];
    }
    dust_unpack();
}

fn touched_triangles(mask: u32, centre: vec3<i32>, half: i32) -> u32 {
    return dust_touching(mask, centre, half);
}
