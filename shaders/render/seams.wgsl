//#include render/trace
//#include shared/seams
// Gold where a crack would come out on a body that is still whole: a thin raised line along the bisectors of the
// Voronoi cells that the preview lists for the voxel, and a soft glow round it. Exact at every level of the
// preview.

struct Seam {
    // 1 on the line, less in its glow, 0 elsewhere.
    gold: f32,
    // Lean of the line's round back, to add to the normal, grid space.
    lean: vec3<f32>,
    // The cell that the place belongs to, while cells are marked; CELL_NONE elsewhere.
    cell: u32,
}

// Half the width of a line and reach of its glow, units (16384 a grid side).
const SEAM_HALF = 42.0;
const SEAM_GLOW = 40.0;
// Share of the gold that the glow starts with.
const SEAM_HALO = 0.42;
const SEAM_UNITS = 16384.0;

// Word of the list of the voxel that holds a point; 0 where there is none.
fn seam_record(body: Body, cell: vec3<u32>) -> u32 {
    var index = body.root;
    for (var k = 1u; k <= frame.seam_level; k++) {
        let node = nodes[body.node_base + index];
        let octant = octant_at(cell, body.level - k);
        if bit_at(node.masks, octant) == 0u {
            return 0u;
        }
        index = node_child(node, octant);
    }
    return 4u * frame.seam_seeds + SEAM_WORDS * (index - frame.seam_first);
}

fn seam_seed(cell: u32) -> vec3<f32> {
    return vec3<f32>(bitcast<vec3<i32>>(vec3<u32>(seams[4u * cell], seams[4u * cell + 1u], seams[4u * cell + 2u])));
}

fn seam_cell(record: u32, k: u32, all: bool) -> u32 {
    if all {
        return k;
    }
    return (seams[record + 1u + (k >> 1u)] >> (16u * (k & 1u))) & 0xffffu;
}

// The nearest crack along the surface.
struct Border {
    // Units.
    distance: f32,
    // Direction away from it in the surface, unit or shorter.
    away: vec3<f32>,
}

// The nearest of a list's planes; those count from the middle of the preview's voxel, in its edges.
fn planes_border(record: u32, count: u32, level: u32, point: vec3<f32>, normal: vec3<f32>) -> Border {
    let size = f32(1u << (level - frame.seam_level));
    let q = point / size;
    let from_middle = q - floor(q) - 0.5;
    var best = Border(1e9, vec3<f32>(0.0));
    for (var k = 0u; k < min(count, SEAM_WORDS - 1u); k++) {
        let plane = seams[record + 1u + k];
        let across = cut_normal(plane);
        let in_surface = across - normal * dot(across, normal);
        let slant = max(length(in_surface), 0.22);
        let d = (dot(from_middle, across) - cut_offset(plane)) / slant * (SEAM_UNITS / f32(1u << frame.seam_level));
        if abs(d) < best.distance {
            best = Border(abs(d), in_surface * sign(d) / slant);
        }
    }
    return best;
}

// Smooth noise in [0, 1) with one knot a unit.
fn unevenness(p: vec3<f32>) -> f32 {
    let cell = vec3<i32>(floor(p));
    let f = p - floor(p);
    let s = f * f * (3.0 - 2.0 * f);
    var sum = 0.0;
    for (var k = 0u; k < 8u; k++) {
        let o = vec3<u32>(bit_at(k, 0u), bit_at(k, 1u), bit_at(k, 2u));
        let q = vec3<u32>(cell) + o;
        let w = mix(1.0 - s, s, vec3<f32>(o));
        sum += w.x * w.y * w.z * unit_from_hash((q.x * 73856093u) ^ (q.y * 19349663u) ^ (q.z * 83492791u));
    }
    return sum;
}

// Gold and lean of a place at `p` (units) near a crack, where a pixel is `thin` units wide.
fn drawn(border: Border, p: vec3<f32>, thin: f32) -> Seam {
    // Laid by hand: a little broader here, a little finer there.
    let laid = SEAM_HALF * (0.72 + 0.5 * unevenness(p * (1.0 / 420.0)));
    let half_width = clamp(0.9 * thin, laid, 0.7 * f32(SEAM_REACH));
    // Neither line nor its soft rim reaches beyond what the lists hold.
    let rim = min(0.6 * thin, 0.28 * f32(SEAM_REACH));
    let line = 1.0 - smoothstep(half_width - rim, half_width + rim, border.distance);
    let beyond = max(border.distance - half_width, 0.0) / SEAM_GLOW;
    let halo = SEAM_HALO * exp2(-beyond * beyond * 1.4);
    let edge = clamp(border.distance / half_width, 0.0, 1.0);
    return Seam(max(line, select(0.0, halo, halo > 0.03)), border.away * edge * line, CELL_NONE);
}

fn cells_marked() -> bool {
    return (frame.kept_object & frame.hovered_cell) != CELL_NONE;
}

// The cell that holds a place at `p` (units): the nearest seed, of equally near ones the lowest. Of `object` alone,
// or of all with CELL_NONE.
fn nearest_cell(p: vec3<f32>, object: u32) -> u32 {
    var own = CELL_NONE;
    var nearest = 3e38;
    for (var k = 0u; k < frame.seam_seeds; k++) {
        let away = seam_seed(k) - p;
        let d = dot(away, away);
        let may = object == CELL_NONE || seams[4u * k + 3u] == object;
        if may && d < nearest {
            nearest = d;
            own = k;
        }
    }
    return own;
}

// `point` and `normal` (unit) in grid space; `into` is the unit ray there, `pixel` the width of a pixel, voxels.
fn seam_at(body: Body, point: vec3<f32>, into: vec3<f32>, normal: vec3<f32>, pixel: f32) -> Seam {
    let none = Seam(0.0, vec3<f32>(0.0), CELL_NONE);
    let side = f32(1u << body.level);
    // A hair along the ray, or a hit on a voxel's face would lie in two.
    let cell = vec3<u32>(clamp(point + into * 0.02, vec3<f32>(0.0), vec3<f32>(side - 1.0)));
    let record = seam_record(body, cell);
    if record == 0u {
        return none;
    }
    let listed = seams[record];
    let thin = pixel * (SEAM_UNITS / side);
    let p = point * (SEAM_UNITS / side);
    let quiet = (listed & SEAM_QUIET) != 0u;
    if quiet && !cells_marked() {
        return none;
    }
    if !quiet && (listed == 0u || listed >= SEAM_PLANES) {
        // Planes do not say whose side they are on: the plane cell does.
        var found = none;
        if listed != 0u {
            found = drawn(planes_border(record, listed - SEAM_PLANES, body.level, point, normal), p, thin);
        }
        if cells_marked() {
            found.cell = nearest_cell(p, CELL_NONE);
        }
        return found;
    }
    let number = listed & ~SEAM_QUIET;
    let all = number == SEAM_ALL;
    let count = select(number, frame.seam_seeds, all);
    var own = 0u;
    var nearest = 3e38;
    for (var k = 0u; k < count; k++) {
        let c = seam_cell(record, k, all);
        let away = seam_seed(c) - p;
        let d = dot(away, away);
        if d < nearest {
            nearest = d;
            own = c;
        }
    }
    if quiet {
        return Seam(0.0, vec3<f32>(0.0), own);
    }
    let s = seam_seed(own);
    let object = seams[4u * own + 3u];
    var least = 1e9;
    var lean = vec3<f32>(0.0);
    for (var k = 0u; k < count; k++) {
        let c = seam_cell(record, k, all);
        if c == own || seams[4u * c + 3u] == object {
            continue;
        }
        let t = seam_seed(c);
        let across = (t - s) / max(length(t - s), 1.0);
        // Along the surface, not through the solid: a crack that runs in at a slant would draw a broad line.
        let in_surface = across - normal * dot(across, normal);
        let slant = max(length(in_surface), 0.22);
        let d = dot((s + t) * 0.5 - p, across) / slant;
        if d < least {
            least = d;
            lean = -in_surface / slant;
        }
    }
    var found = drawn(Border(least, lean), p, thin);
    found.cell = own;
    return found;
}
