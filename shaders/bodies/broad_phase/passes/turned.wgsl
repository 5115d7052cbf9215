// Whether two boxes meet as they are turned: separating axes (Gottschalk, Lin & Manocha 1996, sec. 5). In double
// precision: crates/physics/src/broad_phase/mod.rs, which sorts out what is near by rounding alone.

// Added to cosines, so that edges that are nearly parallel do not separate by rounding; and to what may lie between two
// boxes, as a share of their size and distance.
const NEARLY: f32 = 1.0e-6;
const ROUNDED: f32 = 1.0e-5;

struct Turned {
    // Rows of the rotation to the world.
    x: vec3<f32>,
    y: vec3<f32>,
    z: vec3<f32>,
    // Half its edges, m.
    half_edges: vec3<f32>,
}

fn to_world(box: Turned, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(box.x, v), dot(box.y, v), dot(box.z, v));
}

fn from_world(box: Turned, v: vec3<f32>) -> vec3<f32> {
    return box.x * v.x + box.y * v.y + box.z * v.z;
}

// `way` from the middle of a to that of b; they may be so far `apart`, m.
fn turned_meet(a: Turned, b: Turned, way: vec3<f32>, apart: f32) -> bool {
    let t = from_world(a, way);
    let half_b = b.half_edges;
    let half_a = a.half_edges + apart + ROUNDED * (length(way) + length(a.half_edges) + length(half_b));
    // Columns: the axes of b in those of a.
    var columns: array<vec3<f32>, 3>;
    var far: array<vec3<f32>, 3>;
    for (var k = 0u; k < 3u; k++) {
        var axis = vec3<f32>(0.0);
        axis[k] = 1.0;
        columns[k] = from_world(a, to_world(b, axis));
        far[k] = abs(columns[k]) + NEARLY;
    }
    if any(abs(t) > half_a + far[0] * half_b.x + far[1] * half_b.y + far[2] * half_b.z) {
        return false;
    }
    for (var j = 0u; j < 3u; j++) {
        if abs(dot(t, columns[j])) > half_b[j] + dot(far[j], half_a) {
            return false;
        }
    }
    for (var i = 0u; i < 3u; i++) {
        let i1 = (i + 1u) % 3u;
        let i2 = (i + 2u) % 3u;
        for (var j = 0u; j < 3u; j++) {
            let j1 = (j + 1u) % 3u;
            let j2 = (j + 2u) % 3u;
            let reach = half_a[i1] * far[j][i2] + half_a[i2] * far[j][i1] + half_b[j1] * far[j2][i] + half_b[j2] * far[j1][i];
            if abs(t[i2] * columns[j][i1] - t[i1] * columns[j][i2]) > reach {
                return false;
            }
        }
    }
    return true;
}
