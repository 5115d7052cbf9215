// A ray against a surface: down the hierarchy of its boxes (crates/core/src/shape/mesh_tree), then triangle by triangle.
//
// A triangle is met as Woop, Benthin and Wald do it (2013, Watertight Ray/Triangle Intersection, Journal of Computer
// Graphics Techniques 2): the ray becomes the third axis, and three products say on which side of each edge it passes.
// Two triangles reckon a common edge from the same numbers, and what lies on an edge counts on both sides, so nothing
// slips through between them.
//
// Words of a surface, four by four (crates/render/src/surfaces.rs):
//   head       first triangle, first corner, first material, number of materials and MESH_CUT_OUT
//   nodes      low and first child, or first triangle; high and number of triangles
//   triangles  a and its number in the surface; b; c
//   corners    normal (packed), colour and eight bits of the material, place in the texture; three a triangle
//   materials  colour, width and height of the texture, its first texel; least opacity, emitted light; width and
//              height of the light's map, its first texel
//   texels     four words

@group(0) @binding(10) var<storage, read> mesh_words: array<vec4<u32>>;

const MESH_DEEPEST = 48u;
// Some materials of a surface are there only where their textures are opaque enough.
const MESH_CUT_OUT = 0x80000000u;
// Words of a material, four by four.
const MESH_MATERIAL = 3u;
// Corners of a crack face have no material.
const MESH_INSIDE = 0u;

fn mesh_texel(first: u32, texel: u32) -> vec4<f32> {
    return unpack4x8unorm(mesh_words[first + (texel >> 2u)][texel & 3u]);
}

// Bilinear, repeating; v points up while rows run down. `place_of` has width, height and the first texel.
fn mesh_texture(place_of: vec3<u32>, uv: vec2<f32>) -> vec4<f32> {
    let size = vec2<f32>(place_of.xy);
    let place = vec2<f32>(uv.x - floor(uv.x), 1.0 - (uv.y - floor(uv.y))) * size - 0.5;
    let low = floor(place);
    let part = place - low;
    // From -1 to the size itself, at either end.
    let a = vec2<u32>(low + size) % place_of.xy;
    let b = vec2<u32>(low + size + 1.0) % place_of.xy;
    let rows = vec2<u32>(a.y, b.y) * place_of.x;
    let top = mix(mesh_texel(place_of.z, rows.x + a.x), mesh_texel(place_of.z, rows.x + b.x), part.x);
    let bottom = mix(mesh_texel(place_of.z, rows.y + a.x), mesh_texel(place_of.z, rows.y + b.x), part.x);
    return mix(top, bottom, part.y);
}

// Whether a triangle, in the order of the leaves, has a hole at a place: its material is less opaque there than what is
// drawn.
fn mesh_is_hole(head: vec4<u32>, triangle: u32, weights: vec3<f32>) -> bool {
    var uv = vec2<f32>(0.0);
    var code = 0u;
    for (var k = 0u; k < 3u; k++) {
        let corner = mesh_words[head.y + 3u * triangle + k];
        uv += bitcast<vec2<f32>>(corner.zw) * weights[k];
        code |= (corner.y >> 24u) << (8u * k);
    }
    if code == MESH_INSIDE || code > (head.w & ~MESH_CUT_OUT) {
        return false;
    }
    let first = head.z + MESH_MATERIAL * (code - 1u);
    let least = bitcast<f32>(mesh_words[first + 1u].x);
    if !(least > 0.0) {
        return false;
    }
    let material = mesh_words[first];
    var opacity = 1.0;
    if material.y != 0u && all(abs(uv) < vec2<f32>(1e6)) {
        opacity = mesh_texture(material.yzw, uv).w;
    }
    return opacity < least;
}

// With one axis made the third.
fn turned(v: vec3<f32>, axis: u32) -> vec3<f32> {
    return select(select(v, v.zxy, axis == 1u), v.yzx, axis == 0u);
}

// Where a ray enters a node; 1e30 where it misses or enters beyond `last`.
fn node_entry(node: u32, at: vec3<f32>, inverse: vec3<f32>, first: f32, last: f32) -> f32 {
    let a = (bitcast<vec3<f32>>(mesh_words[node].xyz) - at) * inverse;
    let b = (bitcast<vec3<f32>>(mesh_words[node + 1u].xyz) - at) * inverse;
    let low = min(a, b);
    let high = max(a, b);
    let enter = max(max(low.x, low.y), max(low.z, first));
    let leave = min(min(high.x, high.y), min(high.z, last));
    return select(1e30, enter, enter <= leave);
}

struct MeshRay {
    // In the bounds; t counts from here.
    at: vec3<f32>,
    axis: u32,
    // Slopes along the third axis, and one over what the ray goes along it.
    shear: vec3<f32>,
}

fn sheared(ray: MeshRay, word: u32) -> vec3<f32> {
    let p = turned(bitcast<vec3<f32>>(mesh_words[word].xyz) - ray.at, ray.axis);
    return vec3<f32>(p.xy - ray.shear.xy * p.z, ray.shear.z * p.z);
}

// Weights of a triangle's corners and distance where a ray meets it from either side; a distance of 1e30 where not.
fn triangle_at(ray: MeshRay, word: u32) -> vec4<f32> {
    let a = sheared(ray, word);
    let b = sheared(ray, word + 1u);
    let c = sheared(ray, word + 2u);
    let left = vec3<f32>(c.x * b.y, a.x * c.y, b.x * a.y);
    let right = vec3<f32>(c.y * b.x, a.y * c.x, b.y * a.x);
    // Compared, not subtracted: a compiler may fuse a product with a difference, and the sides of an edge would differ.
    if !(all(left >= right) || all(left <= right)) {
        return vec4<f32>(0.0, 0.0, 0.0, 1e30);
    }
    let weights = left - right;
    let whole = weights.x + weights.y + weights.z;
    let t = (weights.x * a.z + weights.y * b.z + weights.z * c.z) / whole;
    return vec4<f32>(weights / whole, select(1e30, t, whole != 0.0));
}

// Whether rays that come in by a clipping plane inside a surface meet its cap, as those of the picture do.
var<private> shows_caps: bool = false;

// The nearest triangle of one body, or the first found when `any`; a hit nearer than (*best).distance replaces it. Its
// leaf is the triangle in the order of the leaves.
fn walk_mesh(index: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    let base = bodies[index].leaf_base;
    let rows = bodies[index].grid_from_world;
    let origin = apply(rows, vec4<f32>(ray.origin, 1.0));
    let direction = apply(rows, vec4<f32>(ray.direction, 0.0));
    let inverse = safe_inverse(direction);
    let near = (bodies[index].low - origin) * inverse;
    let far = (bodies[index].high - origin) * inverse;
    let entry = min(near, far);
    let start = max(max(entry.x, entry.y), max(entry.z, ray.first));
    // From here on t counts from the entry into the bounds, as in `walk`; the ray itself begins at `first`.
    let first = ray.first - start;
    // A ray that comes in by a clipping plane is inside a surface whose back it meets first, however far away that is: it
    // meets the cap where it comes in.
    let opened = shows_caps && ray.first > 0.0;
    var end = select((*best).distance, 1e9, opened) - start;
    let at = origin + direction * start;
    let size = abs(direction);
    let axis = select(select(2u, 1u, size.y >= size.z), 0u, size.x >= size.y && size.x >= size.z);
    let along = turned(direction, axis);
    let shot = MeshRay(at, axis, vec3<f32>(along.xy / along.z, 1.0 / along.z));
    let nodes_at = base + 1u;
    if node_entry(nodes_at, at, inverse, first, end) > 1e29 {
        return;
    }
    let head = mesh_words[base];
    let triangles_at = head.x;
    var found = NO_LEAF;
    var stack: array<u32, MESH_DEEPEST>;
    var entries: array<f32, MESH_DEEPEST>;
    var depth = 0u;
    var current = 0u;
    var waiting = false;
    // As in `trace`: first every ray looks for its next leaf, then they try triangles together.
    loop {
        var lead = 0u;
        var count = 0u;
        loop {
            if waiting {
                if depth == 0u {
                    break;
                }
                depth -= 1u;
                if !(entries[depth] < end) {
                    continue;
                }
                current = stack[depth];
            }
            waiting = true;
            let child = mesh_words[nodes_at + 2u * current].w;
            count = mesh_words[nodes_at + 2u * current + 1u].w & 0xffu;
            if count != 0u {
                lead = child;
                break;
            }
            let t0 = node_entry(nodes_at + 2u * child, at, inverse, first, end);
            let t1 = node_entry(nodes_at + 2u * child + 2u, at, inverse, first, end);
            if min(t0, t1) < 1e29 {
                let swap = t1 < t0;
                if max(t0, t1) < 1e29 {
                    stack[depth] = select(child + 1u, child, swap);
                    entries[depth] = max(t0, t1);
                    depth += 1u;
                }
                current = select(child, child + 1u, swap);
                waiting = false;
            }
        }
        if count == 0u {
            break;
        }
        for (var k = lead; k < lead + count; k++) {
            let met = triangle_at(shot, triangles_at + 3u * k);
            let t = met.w;
            if t >= first && t < end {
                if (head.w & MESH_CUT_OUT) == 0u || !mesh_is_hole(head, k, met.xyz) {
                    end = t;
                    found = k;
                }
            }
        }
        if any && found != NO_LEAF {
            break;
        }
    }
    if found != NO_LEAF {
        var distance = start + end;
        if opened {
            let corners = triangles_at + 3u * found;
            let a = bitcast<vec3<f32>>(mesh_words[corners].xyz);
            let b = bitcast<vec3<f32>>(mesh_words[corners + 1u].xyz);
            let c = bitcast<vec3<f32>>(mesh_words[corners + 2u].xyz);
            if dot(cross(b - a, c - a), direction) > 0.0 {
                distance = ray.first;
            } else if !(distance < (*best).distance) {
                return;
            }
        }
        *best = Hit(distance, index, found, bodies[index].level, 0u, false);
    }
}
