// Whether the boxes of two solids, as they are turned, meet: separating axes (Gottschalk, Lin & Manocha 1996, sec. 5).
// In double precision: src/bodies/broad_phase.rs.
//#include bodies/collide/octree/passes/solid

// Added to cosines, so that edges that are nearly parallel do not separate by rounding; and to what may lie between two
// boxes, as a share of their size and distance. The host sorts out what is near by rounding alone.
const NEARLY: f32 = 1.0e-6;
const ROUNDED: f32 = 1.0e-5;

fn boxes_meet(a: Solid, b: Solid, apart: f32) -> bool {
    let middle_a = 0.5 * (a.low_voxel + a.high_voxel) * a.voxel;
    let middle_b = 0.5 * (b.low_voxel + b.high_voxel) * b.voxel;
    let way = between(a, b) + turned(b, middle_b) - turned(a, middle_a);
    let t = turned_back(a, way);
    let half_b = b.half_box;
    let half_a = a.half_box + apart + ROUNDED * (length(way) + length(a.half_box) + length(half_b));
    // Columns: the axes of b in those of a.
    var columns: array<vec3<f32>, 3>;
    var far: array<vec3<f32>, 3>;
    for (var k = 0u; k < 3u; k++) {
        var axis = vec3<f32>(0.0);
        axis[k] = 1.0;
        columns[k] = turned_back(a, turned(b, axis));
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
