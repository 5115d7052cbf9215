//! The money box: a hollow pig of glazed earthenware with a slot in its back. Modelled as a signed distance that is
//! mirrored in x, then polygonised; it faces +z.

use super::{
    Mesh,
    implicit::{blend, carve, drum, ellipsoid, largest_sheet, taper},
    paint::{fractal, mix, shade, smoothstep},
    polygonize::{Lattice, polygonize},
};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Lattice cells per unit of length.
const CELLS_PER_UNIT: f32 = 128.0;
/// Centre and semi-axes of the body.
const BODY: Vec3 = Vec3::new(0.0, 0.40, -0.02);
const BODY_RADII: Vec3 = Vec3::new(0.295, 0.285, 0.375);
/// Thickness of its wall.
const WALL: f32 = 0.042;
const SNOUT: Vec3 = Vec3::new(0.0, 0.375, 0.43);
const SNOUT_RADIUS: f32 = 0.108;
const EYE: Vec3 = Vec3::new(0.108, 0.510, 0.372);
/// Half the slot's width and length: the coin, whose diameter is 0.13 of the pig's length, fits through.
const SLOT: Vec2 = Vec2::new(0.019, 0.10);

/// The pig, with a colour per vertex.
pub(super) fn money_box() -> Mesh {
    let h = 1.0 / CELLS_PER_UNIT;
    let (low, high) = (Vec3::new(-0.40, -0.02, -0.52), Vec3::new(0.40, 0.84, 0.54));
    let lattice = Lattice { low, h, cells: ((high - low) / h).ceil().to_array().map(|n| n as usize) };
    let (positions, triangles) = largest_sheet(polygonize(&lattice, distance));
    let colors = positions.par_iter().map(|&p| color(p)).collect();
    Mesh { positions: positions.iter().map(|p| p.to_array()).collect(), triangles, colors, ..Mesh::default() }
}

/// Transforms a point to the ear's frame: y along it, z through it.
fn in_ear(p: Vec3) -> Vec3 {
    let from = p - Vec3::new(0.135, 0.655, 0.175);
    let out = Vec3::new(0.42, 0.86, 0.29).normalize_or_zero();
    let through =
        (Vec3::new(0.30, -0.25, 0.92) - out * out.dot(Vec3::new(0.30, -0.25, 0.92))).normalize_or_zero();
    Vec3::new(from.dot(out.cross(through)), from.dot(out), from.dot(through))
}

/// The hollow: the body without its wall.
fn hollow(p: Vec3) -> f32 {
    ellipsoid(p - BODY, BODY_RADII - WALL)
}

/// Signed distance, negative inside. Symmetric except for the tail.
fn distance(p: Vec3) -> f32 {
    let q = Vec3::new(p.x.abs(), p.y, p.z);
    let mut pig = ellipsoid(q - BODY, BODY_RADII);
    // A head barely set off from the body, cheeks, and the snout.
    pig = blend(pig, ellipsoid(q - Vec3::new(0.0, 0.435, 0.235), Vec3::new(0.215, 0.205, 0.185)), 0.06);
    pig = blend(pig, ellipsoid(q - Vec3::new(0.115, 0.375, 0.290), Vec3::splat(0.095)), 0.05);
    let along = Vec3::new(q.x, q.z - SNOUT.z, q.y - SNOUT.y);
    pig = blend(pig, drum(along, SNOUT_RADIUS, 0.062, 0.022), 0.028);
    let nostril = Vec3::new(q.x - 0.042, q.y - SNOUT.y - 0.004, q.z - SNOUT.z - 0.075);
    pig = carve(pig, ellipsoid(nostril, Vec3::new(0.020, 0.031, 0.040)), 0.008);
    let smile = Vec2::new(Vec2::new(q.x, q.y - 0.365).length() - 0.125, q.z - 0.41).length() - 0.012;
    if q.y < 0.29 {
        pig = carve(pig, smile, 0.012);
    }
    let ear = in_ear(q);
    let flap = ellipsoid(ear, Vec3::new(0.082 * (1.0 - 1.6 * ear.y.max(0.0)), 0.135, 0.034));
    let dent = ellipsoid(ear - Vec3::new(0.0, 0.012, 0.034), Vec3::new(0.052, 0.088, 0.026));
    pig = blend(pig, carve(flap * 0.8, dent, 0.03), 0.028);
    pig = blend(pig, (q - EYE).length() - 0.034, 0.006);
    for z in [-0.205, 0.165] {
        let leg = taper(q, Vec3::new(0.150, 0.22, z), Vec3::new(0.168, 0.02, z), 0.085, 0.074);
        pig = blend(pig, leg, 0.045);
    }
    pig = blend(pig, tail(p), 0.016);
    // Flat feet.
    pig = pig.max(-p.y);
    let slot = (Vec2::new(q.x, q.z + 0.03) - SLOT).max_element();
    pig.max(-hollow(p)).max(-slot.max(0.55 - p.y))
}

/// A tail with one and a half curls.
fn tail(p: Vec3) -> f32 {
    let from = p - Vec3::new(0.0, 0.47, -0.385);
    if from.length() > 0.2 {
        return from.length() - 0.13;
    }
    let place = |k: u32| {
        let t = k as f32 / 14.0;
        let (s, c) = libm::sincosf(t * 9.0);
        Vec3::new(0.046 * s, 0.046 * (1.0 - c) - 0.02, -0.085 * t)
    };
    let bit = |k: u32| taper(from, place(k), place(k + 1), 0.022, 0.022);
    (0..14).map(bit).fold(f32::INFINITY, f32::min)
}

fn color(p: Vec3) -> [u8; 3] {
    let q = Vec3::new(p.x.abs(), p.y, p.z);
    let mottle = fractal(p * 6.0);
    let clay = mix([196, 112, 72], [170, 88, 56], mottle * 1.3 - 0.1);
    let from_slot = Vec2::new((q.x - SLOT.x).max(0.0), ((q.z + 0.03).abs() - SLOT.y).max(0.0)).length();
    // Unglazed parts: the inside, the slot, and the soles.
    if hollow(p) < 0.012 || p.y < 0.006 || (p.y > 0.6 && from_slot < 0.004) {
        return clay;
    }
    if (q - EYE).length() < 0.0365 {
        let glint = (q - EYE - Vec3::new(0.004, 0.018, 0.024)).length() < 0.011;
        return if glint { [250, 248, 244] } else { [36, 26, 30] };
    }
    let pink = mix([244, 176, 182], [236, 160, 170], mottle * 1.4 - 0.2);
    let deep = [222, 124, 142];
    let snout =
        smoothstep(0.475, 0.482, p.z) * (1.0 - smoothstep(0.098, 0.106, (p - SNOUT).truncate().length()));
    let cheek = 0.65 * (1.0 - smoothstep(0.03, 0.085, (q - Vec3::new(0.185, 0.385, 0.345)).length()));
    let ear = in_ear(q);
    let in_ear = if ear.y > -0.07 && ear.z > 0.0 && p.y > 0.6 {
        1.0 - smoothstep(0.034, 0.044, Vec2::new(ear.x, (ear.y - 0.012) * 0.55).length())
    } else {
        0.0
    };
    let hoof = 1.0 - smoothstep(0.052, 0.060, p.y);
    let nostril = Vec2::new(q.x - 0.042, (q.y - SNOUT.y - 0.004) * 0.66).length();
    let dark = if p.z > 0.44 { 1.0 - smoothstep(0.012, 0.022, nostril) } else { 0.0 };
    // A wreath of white flowers round the slot.
    let glazed = mix(mix(pink, deep, snout.max(in_ear)), deep, cheek);
    let painted = mix(mix(glazed, [150, 74, 92], hoof), [110, 50, 66], dark);
    let petal = flower(p);
    shade(mix(mix(painted, [252, 250, 244], petal[0]), [238, 184, 62], petal[1]), 1.0)
}

/// Weights of petal and flower centre at a point: seven flowers on either flank and on the back.
fn flower(p: Vec3) -> [f32; 2] {
    let at = [
        [0.0, 0.58, -0.285, 0.0],
        [0.165, 0.62, -0.06, 0.5],
        [0.265, 0.49, -0.17, 0.2],
        [0.285, 0.44, 0.03, 0.9],
        [0.215, 0.55, 0.09, 1.3],
        [0.265, 0.31, -0.07, 0.4],
        [0.185, 0.36, -0.285, 0.7],
    ];
    let q = Vec3::new(p.x.abs(), p.y, p.z);
    let mut out = [0.0f32; 2];
    for [x, y, z, turn] in at {
        let out_of = (Vec3::new(x, y, z) - BODY) / (BODY_RADII * BODY_RADII);
        let out_of = out_of / out_of.length();
        // Moved onto the skin.
        let reach = ((Vec3::new(x, y, z) - BODY) / BODY_RADII).length();
        let from = q - (BODY + (Vec3::new(x, y, z) - BODY) / reach);
        if from.length() > 0.07 {
            continue;
        }
        let u = out_of.cross(Vec3::Z).normalize_or_zero();
        let flat = Vec2::new(from.dot(u), from.dot(out_of.cross(u)));
        let angle = libm::atan2f(flat.y, flat.x) + turn;
        let edge = 0.036 + 0.016 * libm::cosf(angle * 5.0);
        out[0] = out[0].max(1.0 - smoothstep(edge - 0.006, edge, flat.length()));
        out[1] = out[1].max(1.0 - smoothstep(0.012, 0.016, flat.length()));
    }
    out
}
