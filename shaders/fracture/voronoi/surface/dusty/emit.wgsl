// Writes the pairs of the next level by the borders of objects with gaps between them.
//#include fracture/voronoi/surface/rough/writing
//#include fracture/voronoi/surface/dusty/records

fn child_list(object: u32, touched: u32, centre: vec3<i32>) -> u32 {
    return select(0u, CROSSED | touched, dust_gets(object, touched, centre) == TAKES);
}
