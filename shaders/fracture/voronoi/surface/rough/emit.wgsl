// Writes the pairs of the next level by crack surfaces.
//#include fracture/voronoi/surface/rough/writing
//#include fracture/voronoi/surface/rough/records

fn child_list(object: u32, touched: u32, centre: vec3<i32>) -> u32 {
    // Untouched and kept: wholly the object's, unless its leaves are still to be voted on.
    return select(0u, CROSSED | touched, touched != 0u || shape.votes != 0u);
}
