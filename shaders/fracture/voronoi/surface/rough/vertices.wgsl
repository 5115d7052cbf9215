// The frame of the kernels at the transition level, where the vertices of voxels take their nearest seeds: one
// thread takes one (object, node) pair.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/surface/rough/corners

@group(0) @binding(20) var<uniform> size: Counted;
@group(0) @binding(1) var<uniform> shape: CrackUniform;
@group(0) @binding(2) var<storage, read> seeds: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> candidates: array<u32>;
