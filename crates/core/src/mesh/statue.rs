//! The statue: a carved owl on a plinth, with feathers as fine detail. Modelled as a signed distance that is
//! mirrored in x, then polygonised.

use super::{
    Mesh,
    implicit::{blend, carve, drum, ellipsoid, largest_sheet, taper},
    paint::{fractal, mix, shade, smoothstep, stone},
    polygonize::{Lattice, polygonize},
};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Lattice cells per unit of length.
const CELLS_PER_UNIT: f32 = 176.0;
const PLINTH_TOP: f32 = 0.085;
const EYE: Vec3 = Vec3::new(0.081, 0.722, 0.143);
/// Direction of an eye; unit length to six digits.
const GAZE: Vec3 = Vec3::new(0.361, 0.0, 0.932566);
const EYE_RADIUS: f32 = 0.047;
/// Depth of the carved feathers.
const CARVING: f32 = 0.0085;

/// The owl, with a colour per vertex.
pub(super) fn owl() -> Mesh {
    let half = Vec3::new(0.30, 0.0, 0.30);
    let height = 1.03;
    let h = 1.0 / CELLS_PER_UNIT;
    let low = Vec3::new(-half.x, -0.02, -half.z);
    let cells = (Vec3::new(2.0 * half.x, height + 0.02, 2.0 * half.z) / h).ceil();
    let lattice = Lattice { low, h, cells: cells.to_array().map(|n| n as usize) };
    let (positions, triangles) = largest_sheet(polygonize(&lattice, distance));
    let colors = positions.par_iter().map(|&p| color(p)).collect();
    Mesh { positions: positions.iter().map(|p| p.to_array()).collect(), triangles, colors, ..Mesh::default() }
}

/// Rotates about x by the angle of this sine and cosine; written out, since the distance is evaluated a million times.
fn turn_x(p: Vec3, [s, c]: [f32; 2]) -> Vec3 {
    Vec3::new(p.x, c * p.y - s * p.z, s * p.y + c * p.z)
}

fn turn_z(p: Vec3, [s, c]: [f32; 2]) -> Vec3 {
    Vec3::new(c * p.x - s * p.y, s * p.x + c * p.y, p.z)
}

/// Transforms a point to the wing's frame: y along it, x through it.
fn in_wing(p: Vec3) -> Vec3 {
    turn_x(turn_z(p - Vec3::new(0.176, 0.365, -0.04), [-0.129634, 0.991562]), [-0.159318, 0.987227])
}

fn in_tail(p: Vec3) -> Vec3 {
    turn_x(p - Vec3::new(0.0, 0.17, -0.175), [-0.295520, 0.955336])
}

/// Height 0..1 of overlapping rounded feathers; `v` runs down the rows, `u` along them, one feather per unit.
fn feathers(u: f32, v: f32) -> f32 {
    let first = v.floor();
    // The row above overlaps this one.
    for row in [first - 1.0, first] {
        let shift = if row.rem_euclid(2.0) < 0.5 { 0.0 } else { 0.5 };
        let du = u - shift - (u - shift).round();
        let dv = v - row;
        let d = Vec2::new(du / 0.56, dv / 1.32).length();
        if d < 1.0 {
            let quill = 0.25 * (1.0 - smoothstep(0.03, 0.10, du.abs())) * smoothstep(0.1, 0.4, dv);
            return (0.2 + 0.8 * d * d - quill) * (1.0 - smoothstep(0.84, 1.0, d));
        }
    }
    0.0
}

/// Height 0..1 of the carving at a point of the surface, 1 where there is none.
fn carving(p: Vec3) -> f32 {
    let wing = in_wing(p);
    if in_tail(p).z < -0.005 && p.y < 0.30 && p.x < 0.085 {
        let tail = in_tail(p);
        return 0.4 + 0.6 * (1.0 - libm::cosf(tail.x / 0.036 * std::f32::consts::PI).powi(8)) * 0.9;
    }
    let around = libm::atan2f(p.x, p.z);
    if p.y > 0.61 {
        let bare = smoothstep(0.095, 0.12, (p - EYE).length());
        let carved = feathers(around * 5.2, (0.95 - p.y) / 0.034);
        return 1.0 - bare * (1.0 - carved) * 0.6;
    }
    if wing.x > 0.012 {
        // Short coverts above, long flight feathers below.
        let down = 0.24 - wing.y;
        return if down < 0.22 {
            feathers(wing.z / 0.052, down / 0.05)
        } else {
            feathers(wing.z / 0.040 + 0.1, (down - 0.22) / 0.13 + 0.35)
        };
    }
    let breast = feathers(around * 4.4, (0.62 - p.y) / 0.047);
    1.0 - (1.0 - breast) * smoothstep(0.10, 0.16, p.y)
}

/// Signed distance, negative inside. Symmetric: only |x| counts.
fn distance(p: Vec3) -> f32 {
    let p = Vec3::new(p.x.abs(), p.y, p.z);
    let body = ellipsoid(p - Vec3::new(0.0, 0.36, -0.01), Vec3::new(0.205, 0.31, 0.195));
    let head = ellipsoid(p - Vec3::new(0.0, 0.725, 0.0), Vec3::new(0.202, 0.165, 0.172));
    let mut owl = blend(body, head, 0.09);
    owl = blend(owl, ellipsoid(in_wing(p), Vec3::new(0.062, 0.285, 0.150)), 0.022);
    let tail = in_tail(p).abs() - Vec3::new(0.072, 0.155, 0.020);
    owl = blend(owl, tail.max(Vec3::ZERO).length() + tail.max_element().min(0.0) - 0.012, 0.03);
    owl = blend(owl, ellipsoid(p - Vec3::new(0.088, 0.135, 0.085), Vec3::new(0.07, 0.075, 0.075)), 0.035);
    owl =
        blend(owl, taper(p, Vec3::new(0.115, 0.83, 0.0), Vec3::new(0.172, 0.985, -0.01), 0.05, 0.009), 0.045);
    if owl < 3.0 * CARVING {
        owl += CARVING * (1.0 - carving(p)) - CARVING * 0.4;
    }
    // Face and feet are expensive, so they are evaluated only nearby; the limits leave ample room for them.
    if p.z > -0.08 && (0.5..1.0).contains(&p.y) {
        owl = add_face(owl, p);
    }
    // A solid seat leaves no gap between belly, legs, tail and plinth.
    let seat = ellipsoid(p - Vec3::new(0.0, 0.12, -0.04), Vec3::new(0.15, 0.11, 0.15));
    owl = blend(owl, seat, 0.02);
    if p.z > 0.0 && p.y < 0.26 {
        owl = add_feet(owl, p);
    }
    blend(owl, plinth(p), 0.012)
}

/// Adds two dishes with a rim, eyes, brows and a beak.
fn add_face(mut owl: f32, p: Vec3) -> f32 {
    let dish = (p - EYE - GAZE * 0.10).length() - 0.108;
    owl = carve(owl, dish, 0.02);
    let from_eye = p - EYE - GAZE * 0.012;
    let along = from_eye.dot(GAZE);
    let across = (from_eye - GAZE * along).length();
    let rim = Vec2::new(across - 0.084, along).length() - 0.011;
    owl = blend(owl, rim, 0.02);
    owl = blend(owl, (p - EYE - GAZE * 0.004).length() - EYE_RADIUS, 0.008);
    let lid = Vec2::new(across - EYE_RADIUS - 0.004, along - 0.008).length() - 0.007;
    owl = blend(owl, lid, 0.006);
    let brow_low = taper(p, Vec3::new(0.012, 0.752, 0.178), Vec3::new(0.085, 0.805, 0.158), 0.017, 0.021);
    let brow_high = taper(p, Vec3::new(0.085, 0.805, 0.158), Vec3::new(0.148, 0.872, 0.045), 0.021, 0.016);
    owl = blend(owl, brow_low.min(brow_high), 0.03);
    let beak = taper(p, Vec3::new(0.0, 0.735, 0.178), Vec3::new(0.0, 0.690, 0.215), 0.028, 0.022);
    let tip = taper(p, Vec3::new(0.0, 0.690, 0.215), Vec3::new(0.0, 0.630, 0.208), 0.022, 0.006);
    blend(owl, blend(beak, tip, 0.01), 0.012)
}

/// Adds three toes per foot, each with a claw.
fn add_feet(mut owl: f32, p: Vec3) -> f32 {
    for (side, reach) in [(-0.042, 0.205), (0.0, 0.225), (0.042, 0.205)] {
        let knuckle = Vec3::new(0.088 + side * 0.55, PLINTH_TOP + 0.024, 0.155);
        let toe = Vec3::new(0.088 + side, PLINTH_TOP + 0.012, reach);
        let claw = toe + Vec3::new(side * 0.2, -0.012, 0.026);
        owl = blend(owl, taper(p, knuckle, toe, 0.023, 0.017), 0.015);
        owl = blend(owl, taper(p, toe, claw, 0.013, 0.005), 0.006);
    }
    owl
}

fn plinth(p: Vec3) -> f32 {
    let plinth = drum(p - Vec3::new(0.0, PLINTH_TOP / 2.0, 0.0), 0.272, PLINTH_TOP / 2.0, 0.012);
    let groove = Vec2::new(Vec2::new(p.x, p.z).length() - 0.275, p.y - PLINTH_TOP / 2.0).length() - 0.011;
    carve(plinth, groove, 0.006)
}

fn color(p: Vec3) -> [u8; 3] {
    let q = Vec3::new(p.x.abs(), p.y, p.z);
    let mottle = fractal(p * 7.0);
    if p.y < PLINTH_TOP - 0.006 || p.y < PLINTH_TOP + 0.003 && plinth(p) < 0.003 {
        return stone(p, [88, 84, 84], [58, 56, 60]);
    }
    let from_eye = q - EYE - GAZE * 0.004;
    let off_gaze = (from_eye - GAZE * from_eye.dot(GAZE)).length();
    if from_eye.length() < EYE_RADIUS + 0.004 && from_eye.dot(GAZE) > 0.0 && off_gaze < EYE_RADIUS - 0.003 {
        let glint = (q - EYE - GAZE * 0.045 - Vec3::new(-0.006, 0.014, 0.0)).length() < 0.008;
        let iris = mix([236, 168, 44], [176, 92, 20], smoothstep(0.022, 0.042, off_gaze));
        return match () {
            () if glint => [244, 240, 228],
            () if off_gaze < 0.021 => [24, 19, 18],
            () => iris,
        };
    }
    if q.x < 0.034 && p.z > 0.190 && (0.61..0.75).contains(&p.y) {
        return mix([196, 142, 58], [132, 84, 34], smoothstep(0.70, 0.645, p.y));
    }
    if p.y < 0.125 && p.z > 0.13 {
        return mix([186, 138, 66], [62, 48, 40], smoothstep(0.212, 0.232, p.z));
    }
    // Bark brown above, cream on face and breast, darker in deep carvings.
    let brown = mix([134, 92, 60], [96, 64, 44], mottle * 1.3 - 0.1);
    let cream = mix([222, 198, 158], [196, 164, 122], mottle * 1.3 - 0.1);
    let face = 1.0 - smoothstep(0.082, 0.094, (q - EYE - GAZE * 0.012).length());
    let around = libm::atan2f(q.x, q.z);
    let breast = (1.0 - smoothstep(0.85, 1.15, around)) * (1.0 - smoothstep(0.58, 0.62, p.y));
    let wing = smoothstep(0.0, 0.012, in_wing(q).x);
    let depth = carving(q);
    let base = mix(brown, cream, face.max(breast * (1.0 - wing)));
    let tipped =
        mix(base, [74, 48, 36], 0.5 * smoothstep(0.55, 0.9, depth) * breast * (1.0 - wing) * (1.0 - face));
    shade(tipped, 0.62 + 0.42 * smoothstep(0.0, 0.7, depth))
}
