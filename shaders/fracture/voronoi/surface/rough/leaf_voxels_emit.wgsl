// The fracture boundary set of leaves that are the transition voxels, attributes from the crack surface of each.
//#include fracture/voronoi/surface/rough/attributes
//#include fracture/voronoi/surface/rough/copying_voxels

fn divide(low: vec3<i32>, size: i32) -> u32 {
    crack_separate(low, size);
    return crack_triangles();
}
