// Domaradzki & Martyn 2018, sec. 5.3: which leaves of each pair's node get a copy in the pair's object. A leaf that
// a crack surface touches is copied to every object on either side of it there; another belongs to the object that
// it lies in, or that wins the vote.
//#include fracture/voronoi/surface/rough/counting
//#include fracture/voronoi/surface/rough/records

fn octant_gets(object: u32, touched: u32, centre: vec3<i32>, is_inside: bool) -> u32 {
    if touched == 0u && !is_inside && shape.votes != 0u {
        return select(NOTHING, HOLDS, elected_object(centre) == object);
    }
    return octant_state(object, touched, centre, is_inside, false);
}
