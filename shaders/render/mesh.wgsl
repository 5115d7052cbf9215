// A ray against a surface: down the hierarchy of its boxes (crates/core/src/shape/mesh_tree), then triangle by triangle.
//
// A triangle is met as Woop, Benthin and Wald do it (2013, Watertight Ray/Triangle Intersection, Journal of Computer
// Graphics Techniques 2): the ray becomes the third axis, and three products say on which side of each edge it passes.
// Two triangles reckon a common edge from the same numbers, and what lies on an edge counts on both sides, so nothing
// slips through between them.
//
// Words of a surface, four by four (crates/render/src/surfaces.rs):
//   head       first triangle, first corner, first material, number of materials
//   nodes      low and first child, or first triangle; high and number of triangles
//   triangles  a and its number in the surface; b; c
//   corners    normal (packed), colour and eight bits of the material, place in the texture; three a triangle
//   materials  colour, width and height of the texture, its first texel
//   texels     four words

@group(0) @binding(10) var<storage, read> mesh_words: array<vec4<u32>>;

const MESH_DEEPEST = 48u;

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

// Where a ray meets a triangle from either side; 1e30 where not.
fn triangle_at(ray: MeshRay, word: u32) -> f32 {
    let a = sheared(ray, word);
    let b = sheared(ray, word + 1u);
    let c = sheared(ray, word + 2u);
    let left = vec3<f32>(c.x * b.y, a.x * c.y, b.x * a.y);
    let right = vec3<f32>(c.y * b.x, a.y * c.x, b.y * a.x);
    // Compared, not subtracted: a compiler may fuse a product with a difference, and the sides of an edge would differ.
    if !(all(left >= right) || all(left <= right)) {
        return 1e30;
    }
    let weights = left - right;
    let whole = weights.x + weights.y + weights.z;
    let t = (weights.x * a.z + weights.y * b.z + weights.z * c.z) / whole;
    return select(1e30, t, whole != 0.0);
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
    let triangles_at = mesh_words[base].x;
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
            let t = triangle_at(shot, triangles_at + 3u * k);
            if t >= first && t < end {
                end = t;
                found = k;
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
