// A sample of the surface, in cells. The same words as in crates/physics/src/collide/octree/surfels.rs.

struct Surfel {
    x: f32,
    y: f32,
    z: f32,
    thickness: f32,
    normal: u32,
    sharp: u32,
}

// Of `sharp`; 0 where the surface is flat.
const ON_EDGE: u32 = 1u;
// On a face just beside an edge.
const ON_FACE: u32 = 2u;
