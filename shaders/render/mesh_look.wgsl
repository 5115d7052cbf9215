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
    // Emitted, linear.
    light: vec3<f32>,
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
    var light = vec3<f32>(0.0);
    if code != MESH_INSIDE && code <= (head.w & ~MESH_CUT_OUT) {
        let first = head.z + MESH_MATERIAL * (code - 1u);
        let material = mesh_words[first];
        let is_placed = all(abs(uv) < vec2<f32>(1e6));
        if material.y != 0u && is_placed {
            color = unpack4x8unorm(material.x).xyz * mesh_texture(material.yzw, uv).xyz;
        }
        if (frame.flags & FLAG_EMITS) != 0u {
            light = bitcast<vec3<f32>>(mesh_words[first + 1u].yzw);
            let map = mesh_words[first + 2u];
            if map.x != 0u && is_placed {
                let shown = mesh_texture(map.xyz, uv).xyz;
                light *= shown * shown;
            }
        }
    }
    // From within, or of a surface that is open: its other side.
    if dot(flat_normal, d) > 0.0 {
        normal = -normal;
    }
    return MeshLook(normal, color * color, code == MESH_INSIDE, mesh_words[at].w, light);
}
