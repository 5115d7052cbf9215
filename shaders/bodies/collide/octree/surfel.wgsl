// A sample of the surface, in cells. The same words as in src/bodies/collide/octree/surfels.rs.

struct Surfel {
    x: f32,
    y: f32,
    z: f32,
    thickness: f32,
    normal: u32,
    sharp: u32,
}
