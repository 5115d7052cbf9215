// Which objects hold something of the source at a level of the descent: one thread takes one pair and marks its object
// where the pair's mask has an octant of those in `octants`.
//#include shared/thread
//#include shared/counted
//#include fracture/voronoi/exact

struct HoldersParams { octants: u32 }

@group(0) @binding(0) var<uniform> params: HoldersParams;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read_write> holders: array<atomic<u32>>;
@group(0) @binding(20) var<uniform> size: Counted;

fn thread(i: u32) {
    if i < size.count && (masks[i] & params.octants) != 0u {
        atomicStore(&holders[pairs[i].object], 1u);
    }
}
