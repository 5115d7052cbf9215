// Whether the boxes of two solids, as they are turned, meet.
//#include bodies/collide/octree/passes/solid
//#include bodies/broad_phase/passes/turned

fn turned_box(s: Solid) -> Turned {
    return Turned(s.turn_x, s.turn_y, s.turn_z, s.half_box);
}

fn boxes_meet(a: Solid, b: Solid, apart: f32) -> bool {
    let middle_a = 0.5 * (a.low_voxel + a.high_voxel) * a.voxel;
    let middle_b = 0.5 * (b.low_voxel + b.high_voxel) * b.voxel;
    let way = between(a, b) + turned(b, middle_b) - turned(a, middle_a);
    return turned_meet(turned_box(a), turned_box(b), way, apart);
}
