// Domaradzki & Martyn 2018, sec. 5.3: makes every object's border in every crossed transition voxel.
//#include fracture/voronoi/surface/rough/transition
//#include fracture/voronoi/surface/dusty/split

// Returns the triangles that there are.
fn keep_record(record: u32, low: vec3<i32>, size: i32) -> u32 {
    dust_split(low, size);
    for (var k = 0u; k < DUST_WORDS; k++) {
        records[record * DUST_WORDS + k] = dust[k];
    }
    return dust_triangles();
}
