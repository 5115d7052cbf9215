// The same where Voronoi cells decide, by the seeds that can own a point of a pair's node.
//#include fracture/voronoi/descent/candidates
//#include fracture/voronoi/descent/frame

@group(0) @binding(3) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
