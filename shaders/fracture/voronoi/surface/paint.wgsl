// Domaradzki & Martyn 2016, sec. 4.4: crack voxels take their colour from a procedural volume, at their centres.
// One thread takes one copy. The material is set when the pipeline is made: a software driver runs all branches of
// a choice.
//#include shared/thread
//#include shared/volume
//#include fracture/voronoi/exact

struct PaintParams { copies: u32, level: u32, interior: vec4<u32> }

override material: u32 = 0u;

@group(0) @binding(0) var<uniform> params: PaintParams;
@group(0) @binding(1) var<storage, read> place: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> surface: array<vec2<u32>>;

fn thread(i: u32) {
    if i >= params.copies || (place[i].y & 0x0fffffffu) != 0x0fffffffu {
        return;
    }
    let centre = node_low(place[i].x, params.level) + vec3<i32>(node_edge(params.level) / 2i);
    surface[i].y |= volume_of(material, params.interior, centre, false);
}
