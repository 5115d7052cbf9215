// The fracture boundary set of a dusty fracture, with its attributes.
//#include fracture/voronoi/surface/rough/node
//#include fracture/voronoi/surface/rough/noise
//#include fracture/voronoi/surface/dusty/attributes
//#include fracture/voronoi/surface/dusty/records

@group(0) @binding(9) var<uniform> shape: CrackUniform;
@group(0) @binding(10) var<storage, read> records: array<u32>;

fn thread(slot: u32) {
    if slot >= params.copies {
        return;
    }
    let copy = copy_at(slot);
    let half = octant_half(params.level, shape.transition);
    let centre = octant_centre(copy.pair.key, copy.key & 7u, params.level, shape.transition);
    if copy.pair.list_count != 0u {
        load_dust(copy.pair.list_first);
    }
    let touched = dust_touching(copy.pair.list_count & TRIANGLES, centre, half);
    write_share(copy, copy.pair.list_count != 0u, touched, centre, half);
}
