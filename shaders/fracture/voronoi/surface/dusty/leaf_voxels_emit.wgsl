// The same with gaps: every object with a corner has a border in its leaf.
//#include fracture/voronoi/surface/dusty/attributes
//#include fracture/voronoi/surface/dusty/split
//#include fracture/voronoi/surface/rough/copying_voxels

fn divide(low: vec3<i32>, size: i32) -> u32 {
    dust_split(low, size);
    dust_unpack();
    return dust_triangles();
}
