// The frame of the descent below the transition level.
//#include fracture/voronoi/descent/frame
//#include fracture/voronoi/surface/rough/node
//#include fracture/voronoi/surface/rough/noise

@group(0) @binding(3) var<uniform> shape: CrackUniform;
@group(0) @binding(4) var<storage, read> records: array<u32>;
