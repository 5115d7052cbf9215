//! The vase and the column: stacks of rings round the y axis, closed by a fan at either end.

use super::{
    Mesh,
    paint::{fractal, mix, noise, shade, smoothstep, stone},
};
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Samples round the vase: 16 keys of 8 cells, two samples per cell.
const VASE_RING: usize = 256;
/// Wall thickness of the vase.
const WALL: f32 = 0.036;
/// One period of the painted key pattern, from its top row.
const KEY: [&[u8; 8]; 7] =
    [b"#######.", b"#.....#.", b"#.###.#.", b"#.#...#.", b"#.#####.", b"#.......", b"########"];
/// Heights of the key frieze on the vase.
const FRIEZE: [f32; 2] = [0.535, 0.643];
const FLUTES: usize = 20;
/// Samples round the column: 12 per flute, and a multiple of 8 so that the square plinth has its corners.
const COLUMN_RING: usize = FLUTES * 12;

/// Rings of `ring` points, from the bottom outside to the end of the profile, closed on the axis at both ends.
/// `point(row, angle)` gives a point, `ends` the two axis points. Rows go outward and up first, so faces point outward.
pub(super) fn stack(
    rows: usize,
    ring: usize,
    ends: [Vec3; 2],
    point: impl Fn(usize, f32) -> Vec3,
    color: impl Fn(usize, Vec3) -> [u8; 3],
) -> Mesh {
    let mut mesh = Mesh::default();
    let mut push = |row: usize, p: Vec3| {
        mesh.positions.push(p.to_array());
        mesh.colors.push(color(row, p));
    };
    for row in 0..rows {
        for k in 0..ring {
            push(row, point(row, k as f32 / ring as f32 * TAU));
        }
    }
    push(0, ends[0]);
    push(rows - 1, ends[1]);
    let (rows, ring) = (rows as u32, ring as u32);
    for k in 0..ring {
        let next = (k + 1) % ring;
        mesh.triangles.push([rows * ring, k, next]);
        for row in 0..rows - 1 {
            let [a, b, c, d] =
                [row * ring + k, row * ring + next, (row + 1) * ring + next, (row + 1) * ring + k];
            mesh.triangles.extend([[a, c, b], [a, d, c]]);
        }
        let last = (rows - 1) * ring;
        mesh.triangles.push([rows * ring + 1, last + next, last + k]);
    }
    mesh
}

/// A smooth curve through `points` (Catmull-Rom), in steps of about `step(y)`.
fn curve(points: &[Vec2], step: impl Fn(f32) -> f32) -> Vec<Vec2> {
    let at = |k: isize| points[k.clamp(0, points.len() as isize - 1) as usize];
    let mut out = Vec::new();
    for k in 0..points.len() as isize - 1 {
        let [p0, p1, p2, p3] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
        let pieces = ((p2 - p1).length() / step((p1.y + p2.y) / 2.0)).ceil().max(1.0) as usize;
        for j in 0..pieces {
            let t = j as f32 / pieces as f32;
            let tangent = |a: Vec2, b: Vec2| (b - a) * 0.5;
            let (m1, m2) = (tangent(p0, p2), tangent(p1, p3));
            let (t2, t3) = (t * t, t * t * t);
            out.push(
                p1 * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + m1 * (t3 - 2.0 * t2 + t)
                    + p2 * (3.0 * t2 - 2.0 * t3)
                    + m2 * (t3 - t2),
            );
        }
    }
    out.push(at(points.len() as isize - 1));
    out
}

/// A thrown and painted vase: thick wall, open mouth, dark slip bands and a key frieze on terracotta.
pub(super) fn vase() -> Mesh {
    #[rustfmt::skip]
    let outer_points = [
        [0.150, 0.000], [0.158, 0.012], [0.150, 0.030], [0.112, 0.058], [0.108, 0.085], [0.150, 0.150],
        [0.222, 0.260], [0.288, 0.400], [0.3181, 0.520], [0.316, 0.620], [0.278, 0.715], [0.205, 0.790],
        [0.142, 0.838], [0.120, 0.880], [0.122, 0.925], [0.150, 0.970], [0.182, 0.990],
    ]
    .map(Vec2::from);
    let fine = |y: f32| if (FRIEZE[0] - 0.03..FRIEZE[1] + 0.03).contains(&y) { 0.0045 } else { 0.0075 };
    let outer = curve(&outer_points, fine);
    // The inside is the outside offset inwards along its normal, from the lip down to the floor of the bowl.
    let floor = 0.105;
    let mut inner: Vec<Vec2> = Vec::new();
    let coarse: Vec<Vec2> = curve(&outer_points, |_| 0.013);
    for k in (1..coarse.len() - 1).rev() {
        let along = (coarse[k + 1] - coarse[k - 1]).normalize_or_zero();
        let p = coarse[k] + Vec2::new(-along.y, along.x) * WALL;
        if p.y > floor + 0.012 && inner.last().is_none_or(|last| p.y < last.y - 0.004) {
            inner.push(p);
        }
    }
    let bottom = inner.last().copied().unwrap_or(Vec2::new(0.07, floor + 0.02));
    // A rounded lip between them, and a bowl-shaped floor.
    let (lip_out, lip_in) = (outer[outer.len() - 1], inner.first().copied().unwrap_or(bottom));
    let (middle, half) = ((lip_out + lip_in) / 2.0, (lip_out - lip_in) / 2.0);
    let up = Vec2::new(-half.y, half.x);
    let lip = (1..8).map(|k| {
        let (s, c) = libm::sincosf(k as f32 / 8.0 * TAU / 2.0);
        middle + half * c + up * s
    });
    let bowl = (1..8).map(|k| {
        let (s, c) = libm::sincosf(k as f32 / 8.0 * TAU / 4.0);
        Vec2::new(bottom.x * c, bottom.y + (floor - bottom.y) * s)
    });
    let outside_rows = outer.len();
    let foot = [0.02, 0.05, 0.09, 0.125].map(|r| Vec2::new(r, 0.0));
    let profile: Vec<Vec2> = foot
        .into_iter()
        .chain(outer.iter().copied())
        .chain(lip)
        .chain(inner.iter().copied())
        .chain(bowl)
        .collect();
    let first_inside = foot.len() + outside_rows + 7;
    stack(
        profile.len(),
        VASE_RING,
        [Vec3::ZERO, Vec3::new(0.0, floor, 0.0)],
        |row, angle| {
            let (s, c) = libm::sincosf(angle);
            Vec3::new(profile[row].x * c, profile[row].y, profile[row].x * s)
        },
        |row, p| vase_color(p, row >= first_inside),
    )
}

fn vase_color(p: Vec3, inside: bool) -> [u8; 3] {
    let clay = mix([192, 104, 62], [164, 80, 48], fractal(p * 6.0) * 1.2 - 0.1);
    let slip = mix([38, 27, 28], [58, 38, 34], fractal(p * 9.0));
    let cream = mix([232, 214, 176], [214, 188, 146], noise(p * 14.0));
    if inside {
        return mix(shade(clay, 0.86), slip, smoothstep(0.86, 0.88, p.y));
    }
    let within = |low: f32, high: f32| p.y >= low && p.y < high;
    let turn = (libm::atan2f(p.z, p.x) / TAU).rem_euclid(1.0);
    if within(FRIEZE[0], FRIEZE[1]) {
        let row = ((FRIEZE[1] - p.y) / (FRIEZE[1] - FRIEZE[0]) * 9.0) as usize;
        let column = (turn * 128.0 + 0.25) as usize % 8;
        // An empty row above and below the seven rows of the pattern.
        let painted = (1..8).contains(&row) && KEY[row - 1][column] == b'#';
        return if painted { slip } else { cream };
    }
    // Pointed rays rise from the foot, and tongues hang from the shoulder; 8 samples each, with soft edges.
    let side = ((turn * 32.0).fract() - 0.5).abs() * 2.0;
    if within(0.115, 0.30) {
        return mix(slip, clay, smoothstep(-0.14, 0.14, side - 1.0 + (p.y - 0.115) / 0.175));
    }
    if within(0.655, 0.79) {
        let t = ((p.y - 0.662) / 0.115).max(0.0);
        return mix(
            slip,
            clay,
            smoothstep(-0.14, 0.14, side - 0.72 * (1.0 - t * t).max(0.0).sqrt() + 0.2 * t),
        );
    }
    match p.y {
        y if !(0.04..=0.835).contains(&y) => slip,
        y if within(0.06, 0.115) || (0.505..0.535).contains(&y) || (0.643..0.655).contains(&y) => slip,
        y if (0.485..0.495).contains(&y) || (0.315..0.327).contains(&y) || (0.345..0.365).contains(&y) => {
            slip
        }
        y if (0.80..0.815).contains(&y) => cream,
        _ => clay,
    }
}

/// A ring of the column.
#[derive(Clone, Copy)]
struct Ring {
    radius: f32,
    y: f32,
    /// 1 for a square of half side `radius`, 0 for a circle.
    square: f32,
    /// Depth of the flutes as a fraction of the radius.
    flute: f32,
}

/// A fluted marble column with a square plinth, a moulded base and a capital with a square slab.
pub(super) fn column() -> Mesh {
    let round = |radius, y| Ring { radius, y, square: 0.0, flute: 0.0 };
    let block = |radius, y| Ring { radius, y, square: 1.0, flute: 0.0 };
    let mut rings = vec![block(0.05, 0.0), block(0.1, 0.0)];
    let slab = |rings: &mut Vec<Ring>, half: f32, low: f32, high: f32| {
        let bevel = 0.006;
        rings.extend([block(half - bevel, low), block(half, low + bevel)]);
        rings.extend((1..4).map(|k| block(half, low + bevel + (high - low - 2.0 * bevel) * k as f32 / 4.0)));
        rings.extend([block(half, high - bevel), block(half - bevel, high)]);
    };
    let bead = |rings: &mut Vec<Ring>, inner: f32, low: f32, high: f32| {
        let half = (high - low) / 2.0;
        rings.extend((0..=10).map(|k| {
            let (s, c) = libm::sincosf(k as f32 / 10.0 * TAU / 2.0);
            round(inner + half * s, low + half * (1.0 - c))
        }));
    };
    slab(&mut rings, 0.165, 0.0, 0.055);
    bead(&mut rings, 0.136, 0.0551, 0.095);
    bead(&mut rings, 0.126, 0.100, 0.122);
    // The shaft bulges slightly, and its flutes fade out at both ends.
    let (shaft_low, shaft_high, steps) = (0.132, 0.862, 120);
    for k in 0..=steps {
        let t = k as f32 / steps as f32;
        let flare = 0.010 * (libm::expf(-t * 40.0) + libm::expf(-(1.0 - t) * 50.0) * 0.7);
        let radius = 0.118 - 0.022 * libm::powf(t, 1.6) + flare;
        let flute = 0.115 * smoothstep(0.01, 0.035, t) * (1.0 - smoothstep(0.965, 0.99, t));
        rings.push(Ring { radius, y: shaft_low + (shaft_high - shaft_low) * t, square: 0.0, flute });
    }
    bead(&mut rings, 0.103, 0.870, 0.888);
    rings.extend((0..=14).map(|k| {
        let t = k as f32 / 14.0;
        let (s, c) = libm::sincosf(t * TAU / 4.0);
        round(0.106 + 0.042 * s, 0.892 + 0.048 * (1.0 - c))
    }));
    slab(&mut rings, 0.162, 0.9405, 1.0);
    rings.extend([block(0.1, 1.0), block(0.05, 1.0)]);
    stack(
        rings.len(),
        COLUMN_RING,
        [Vec3::ZERO, Vec3::Y],
        |row, angle| {
            let Ring { radius, y, square, flute } = rings[row];
            let (s, c) = libm::sincosf(angle);
            let to_square = 1.0 / s.abs().max(c.abs());
            let hollow = libm::sinf(angle * FLUTES as f32 / 2.0).abs();
            let r = radius * (1.0 + (to_square - 1.0) * square) * (1.0 - flute * hollow);
            Vec3::new(r * c, y, r * s)
        },
        |row, p| {
            let marble = stone(p * 1.4, [236, 231, 220], [190, 184, 178]);
            let hollow = libm::sinf(libm::atan2f(p.z, p.x) * FLUTES as f32 / 2.0).abs();
            let dust = 1.0 - rings[row].flute * hollow * 1.6 - 0.16 * libm::expf(-p.y * 14.0);
            mix(shade(marble, dust), [176, 148, 112], 0.22 * smoothstep(0.45, 0.75, fractal(p * 9.0)))
        },
    )
}
