// One level of the descent below the transition level, and at the leaf level, by the borders of objects with gaps
// between them.
//#include fracture/voronoi/surface/rough/counting
//#include fracture/voronoi/surface/dusty/records

fn octant_gets(object: u32, touched: u32, centre: vec3<i32>, is_inside: bool) -> u32 {
    return dust_gets(object, touched, centre);
}
