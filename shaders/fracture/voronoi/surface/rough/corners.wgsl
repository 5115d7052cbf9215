// Owners of a transition voxel's corners: the nearest of a pair's candidates. Included by kernels that declare
// `seeds` and `candidates`.
//#include fracture/voronoi/surface/rough/points
//#include fracture/voronoi/descent/corner_owners

// Whether a crack passes through the pair's node; fills in owners and objects.
fn pair_crossed(pair: Pair, low: vec3<i32>, size: i32) -> bool {
    find_owners(pair, low, size);
    return crack_crossed();
}
