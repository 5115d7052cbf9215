// Domaradzki & Martyn 2018, sec. 5.3: one level of the descent below the transition level, by crack surfaces
// instead of cells.
//#include fracture/voronoi/surface/rough/counting
//#include fracture/voronoi/surface/rough/records

fn octant_gets(object: u32, touched: u32, centre: vec3<i32>, is_inside: bool) -> u32 {
    return octant_state(object, touched, centre, is_inside, shape.votes != 0u);
}
