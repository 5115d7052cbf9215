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
