// The same for kernels that write the pairs of the next level, in order; `offsets` says where a pair's children begin.
//#include fracture/voronoi/descent/frame

@group(0) @binding(5) var<storage, read> masks: array<u32>;
@group(0) @binding(6) var<storage, read> offsets: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> next_pairs: array<Pair>;
