// What the passes of the published labelling share: voxels grouped by Voronoi cell, and which groups are launched.
//#include shared/octree

// A voxel, or a larger internal node: Morton code of its low corner, and log2 of its edge in cells.
struct Voxel {
    key: u32,
    size_log2: u32,
}

// Voxels first..end of one group, in Morton order.
struct Group {
    first: u32,
    end: u32,
}

// A group that is launched, and how many threads the groups before it take.
struct Launch {
    group: u32,
    before: u32,
}
