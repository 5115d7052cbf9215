// The frame of the descent below the transition level.
//#include shared/thread
//#include fracture/voronoi/descent/source
//#include fracture/voronoi/surface/rough/node
//#include fracture/voronoi/surface/rough/noise

struct DescentParams { pairs: u32, child_level: u32, node_base: u32 }

@group(0) @binding(0) var<uniform> params: DescentParams;
@group(0) @binding(1) var<uniform> shape: CrackUniform;
@group(0) @binding(2) var<storage, read> nodes: array<Node>;
@group(0) @binding(3) var<storage, read> records: array<u32>;
@group(0) @binding(4) var<storage, read> pairs: array<Pair>;
