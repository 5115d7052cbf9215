//#include render/trace
// What a triangle of a surface shows where a ray meets it.

struct MeshLook {
    // Grid of the body; towards the eye.
    normal: vec3<f32>,
    // As leaf_color gives it.
    color: vec3<f32>,
    inside: bool,
    // Which of the surface's triangles it is.
    triangle: u32,
}

// Corners of a crack face have no material.
const MESH_INSIDE = 0u;

fn mesh_texel(first: u32, texel: u32) -> vec3<f32> {
    return unpack4x8unorm(mesh_words[first + (texel >> 2u)][texel & 3u]).xyz;
}

// Bilinear, repeating; v points up while rows run down.
fn mesh_texture(material: vec4<u32>, uv: vec2<f32>) -> vec3<f32> {
    let size = vec2<f32>(material.yz);
    let place = vec2<f32>(uv.x - floor(uv.x), 1.0 - (uv.y - floor(uv.y))) * size - 0.5;
    let low = floor(place);
    let part = place - low;
    // From -1 to the size itself, at either end.
    let a = vec2<u32>(low + size) % material.yz;
    let b = vec2<u32>(low + size + 1.0) % material.yz;
    let rows = vec2<u32>(a.y, b.y) * material.y;
    let top = mix(mesh_texel(material.w, rows.x + a.x), mesh_texel(material.w, rows.x + b.x), part.x);
    let bottom = mix(mesh_texel(material.w, rows.y + a.x), mesh_texel(material.w, rows.y + b.x), part.x);
    return mix(top, bottom, part.y);
}

// `point` and the ray `d` in the body's grid, `triangle` in the order of the leaves.
fn mesh_look(body: Body, triangle: u32, point: vec3<f32>, d: vec3<f32>) -> MeshLook {
    let head = mesh_words[body.leaf_base];
    let at = head.x + 3u * triangle;
    let a = bitcast<vec3<f32>>(mesh_words[at].xyz);
    let b = bitcast<vec3<f32>>(mesh_words[at + 1u].xyz);
    let c = bitcast<vec3<f32>>(mesh_words[at + 2u].xyz);
    let flat_normal = cross(b - a, c - a);
    let areas = vec3<f32>(
        dot(flat_normal, cross(c - b, point - b)),
        dot(flat_normal, cross(a - c, point - c)),
        dot(flat_normal, cross(b - a, point - a)),
    );
    let inner = max(areas, vec3<f32>(0.0));
    let whole = inner.x + inner.y + inner.z;
    let weights = select(vec3<f32>(1.0, 0.0, 0.0), inner / max(whole, 1e-37), whole > 1e-37);
    let corners = head.y + 3u * triangle;
    let q = array<vec4<u32>, 3>(mesh_words[corners], mesh_words[corners + 1u], mesh_words[corners + 2u]);
    var normal = vec3<f32>(0.0);
    var color = vec3<f32>(0.0);
    var uv = vec2<f32>(0.0);
    var code = 0u;
    for (var k = 0u; k < 3u; k++) {
        normal += normal_unpack(q[k].x) * weights[k];
        color += unpack4x8unorm(q[k].y).xyz * weights[k];
        uv += bitcast<vec2<f32>>(q[k].zw) * weights[k];
        code |= (q[k].y >> 24u) << (8u * k);
    }
    if code != MESH_INSIDE && code <= head.w {
        let material = mesh_words[head.z + code - 1u];
        if material.y != 0u && all(abs(uv) < vec2<f32>(1e6)) {
            color = unpack4x8unorm(material.x).xyz * mesh_texture(material, uv);
        }
    }
    // From within, or of a surface that is open: its other side.
    if dot(flat_normal, d) > 0.0 {
        normal = -normal;
    }
    return MeshLook(normal, color * color, code == MESH_INSIDE, mesh_words[at].w);
}
