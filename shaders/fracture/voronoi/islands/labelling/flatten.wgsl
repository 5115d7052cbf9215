// One iteration of the published labelling, second half (2016, sec. 4.5.2): a label is the number of a voxel, which
// may by now bear a larger label itself; such chains are followed to their ends, unless the run is to show the
// iteration without. Counts the voxels whose label changed in the iteration.
// One thread takes one voxel of a launched group. `next` is only read, so the result does not depend on the order
// of threads.
//#include shared/thread
//#include fracture/voronoi/islands/labelling/voxels

struct LabelFlattenParams { threads: u32, launches: u32, flatten: u32 }

@group(0) @binding(0) var<uniform> params: LabelFlattenParams;
@group(0) @binding(1) var<storage, read> ranges: array<Group>;
@group(0) @binding(2) var<storage, read> launched: array<Launch>;
@group(0) @binding(3) var<storage, read> next: array<u32>;
@group(0) @binding(4) var<storage, read_write> labels: array<u32>;
@group(0) @binding(5) var<storage, read_write> changes: array<atomic<u32>>;

//#include fracture/voronoi/islands/labelling/thread

fn thread(t: u32) {
    if t >= params.threads {
        return;
    }
    let launch = launch_of(t, params.launches);
    let v = ranges[launch.group].first + t - launch.before;
    var x = next[v];
    var above = select(x, next[x], params.flatten != 0u);
    while above != x {
        x = above;
        above = next[x];
    }
    if labels[v] != x {
        labels[v] = x;
        atomicAdd(&changes[launch.group], 1u);
    }
}
