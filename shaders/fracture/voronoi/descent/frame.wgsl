// The frame of the kernels of every descent: one thread takes one (object, node) pair.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/descent/source

struct DescentParams { child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: DescentParams;
@group(0) @binding(20) var<uniform> size: Counted;
@group(0) @binding(1) var<storage, read> nodes: array<Node>;
@group(0) @binding(2) var<storage, read> pairs: array<Pair>;
