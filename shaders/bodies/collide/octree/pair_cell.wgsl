// Cells of the second body of a directed pair. Needs a binding `nodes` of the including file.
//#include bodies/collide/octree/pair
//#include bodies/collide/octree/cell

// A cell of b, see look_up_in.
fn look_up(pair: Directed, level: u32, cell: vec3<i32>) -> u32 {
    return look_up_in(pair.b, level, cell);
}
