// The fracture boundary set below the transition level: one thread takes one copy. Included by kernels that say
// what a record is and how a leaf is written (`write_leaf`).
//#include fracture/voronoi/surface/copy
//#include fracture/voronoi/surface/rough/node
//#include fracture/voronoi/surface/rough/noise

@group(0) @binding(9) var<uniform> shape: CrackUniform;
@group(0) @binding(10) var<storage, read> records: array<u32>;

fn thread(slot: u32) {
    if slot >= params.copies {
        return;
    }
    let copy = copy_at(slot);
    let half = octant_half(params.level, shape.transition);
    let centre = octant_centre(copy.pair.key, copy.key & 7u, params.level, shape.transition);
    let is_crossed = copy.pair.list_count != 0u;
    if is_crossed {
        load_record(copy.pair.list_first);
    }
    let touched = touched_triangles(copy.pair.list_count & TRIANGLES, centre, half);
    write_leaf(copy, is_crossed, touched, centre, half);
}
