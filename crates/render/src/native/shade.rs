//! Shades a run of pixels from hits and light: sky, floor, bodies, gold.
#![allow(
    clippy::needless_range_loop,
    reason = "one index walks many arrays, so that the loop becomes vector code"
)]

use crate::geometry::srgb;

use super::{
    filter::{Lit, RUN, Surfaces},
    scene::{BODY_FLOOR, MARK_CRACK, MARK_FLAT, MARK_SELECTED, Scene},
    wide::{exp2, max, mix, over_root, smooth, unit},
};

type Rgb = [f32; 3];

const SUN: Rgb = [2.55, 2.3, 1.98];
const SKY: Rgb = [0.60, 0.68, 0.80];
const GROUND: Rgb = [0.36, 0.31, 0.27];
const LAMP: Rgb = [0.20, 0.19, 0.2];
pub(super) const GOLD: Rgb = [1.0, 0.66, 0.16];
/// Seam gold, #d4a017 in linear light.
const SEAM_GOLD: Rgb = [0.658, 0.352, 0.010];
/// Emission of the gold: redder, since the tone curve desaturates bright colours.
const SEAM_SHINE: Rgb = [0.70, 0.27, 0.02];
const HORIZON: Rgb = [0.44, 0.42, 0.40];
const ZENITH: Rgb = [0.13, 0.155, 0.20];

/// A run of pixels of one row.
pub(super) struct Run {
    pub distance: [f32; RUN],
    pub body: [u32; RUN],
    pub look: [u32; RUN],
    pub packed: [u32; RUN],
    pub color: [[f32; RUN]; 3],
}

impl Run {
    pub fn new() -> Self {
        Self {
            distance: [1.0; RUN],
            body: [u32::MAX; RUN],
            look: [0; RUN],
            packed: [0; RUN],
            color: [[0.0; RUN]; 3],
        }
    }
}

/// A studio backdrop: warm grey at the horizon, cooler and darker above. Returns the share of the zenith's colour.
#[inline(always)]
fn height(y: f32) -> f32 {
    let h = unit(y * 1.6 + 0.08);
    h * h * (3.0 - 2.0 * h)
}

/// Share of the sky's light (the rest is the ground's) on a surface whose normal has the vertical component `y`.
#[inline(always)]
fn above(y: f32) -> f32 {
    smooth(-1.0, 1.0, y)
}

/// Gives every pixel the sky's colour.
#[inline(always)]
pub(super) fn shade_sky(run: &mut Run, of: &Surfaces) {
    for i in 0..RUN {
        let share = height(of.direction[1][i]);
        for k in 0..3 {
            run.color[k][i] = mix(HORIZON[k], ZENITH[k], share);
        }
    }
}

/// Shades floor pixels, which have the sky's colour so far.
#[inline(always)]
pub(super) fn shade_floor(scene: &Scene<'_>, run: &mut Run, of: &Surfaces, lit: &Lit) {
    let frame = &scene.frame;
    let level = height(0.0);
    let over_fade = 1.0 / (frame.fade * frame.fade);
    let from = frame.eye - frame.target;
    for i in 0..RUN {
        let x = from.x + of.direction[0][i] * run.distance[i];
        let z = from.z + of.direction[2][i] * run.distance[i];
        let away = (x * x + z * z) * over_fade;
        let far = smooth(1.0, 4.0, away.sqrt());
        let pool = 1.0 + 0.22 * exp2(-away);
        let is_floor = run.body[i] == BODY_FLOOR;
        for k in 0..3 {
            // Relative to open floor, so that the floor blends into the backdrop without a line.
            let base = mix(HORIZON[k], ZENITH[k], level);
            let sun = SUN[k] * frame.sun.y;
            let here = sun * lit.sun[i] + SKY[k] * lit.sky[i] * lit.sky[i];
            let near = mix(base * pool * here * (1.0 / (sun + SKY[k])), base, far);
            let color = mix(near, run.color[k][i], far);
            run.color[k][i] = if is_floor { color } else { run.color[k][i] };
        }
    }
}

/// Trowbridge-Reitz microfacets with Schlick's masking and Fresnel terms, times the cosine of the light. The cosines
/// are those of the normal with light, eye and the half vector, and of the eye with the half vector.
#[inline(always)]
fn gloss(nl: f32, nv: f32, nh: f32, vh: f32, roughness: f32) -> f32 {
    let a2 = roughness * roughness * roughness * roughness;
    let d = nh * nh * (a2 - 1.0) + 1.0;
    let k = roughness * roughness * 0.5;
    let masked = 4.0 * (nv * (1.0 - k) + k) * (nl * (1.0 - k) + k);
    let g = 1.0 - vh;
    let fresnel = 0.04 + 0.96 * (g * g * g * g * g);
    a2 * fresnel * nl / (std::f32::consts::PI * d * d * masked)
}

/// Cosines of a pixel: of its normal with sun, view and half vector; of the view with the half vector.
#[inline(always)]
fn cosines(sun: glam::Vec3, of: &Surfaces, i: usize) -> (f32, f32, f32, f32) {
    let [dx, dy, dz] = [of.direction[0][i], of.direction[1][i], of.direction[2][i]];
    let [nx, ny, nz] = [of.normal[0][i], of.normal[1][i], of.normal[2][i]];
    let (hx, hy, hz) = (sun.x - dx, sun.y - dy, sun.z - dz);
    let scale = over_root(max(hx * hx + hy * hy + hz * hz, 1e-20));
    let nl = max(nx * sun.x + ny * sun.y + nz * sun.z, 0.0);
    let nv = -(nx * dx + ny * dy + nz * dz);
    let nh = max((nx * hx + ny * hy + nz * hz) * scale, 0.0);
    let vh = max(-(dx * hx + dy * hy + dz * hz) * scale, 0.0);
    (nl, nv, nh, vh)
}

/// Shades pixels of bodies.
#[inline(always)]
pub(super) fn shade_bodies(scene: &Scene<'_>, run: &mut Run, of: &Surfaces, lit: &Lit) {
    let frame = &scene.frame;
    let linear = srgb::linear_of_bytes();
    let mut albedo = [[0.0f32; RUN]; 3];
    for i in 0..RUN {
        let [r, g, b, _] = run.look[i].to_le_bytes();
        (albedo[0][i], albedo[1][i], albedo[2][i]) =
            (linear[usize::from(r)], linear[usize::from(g)], linear[usize::from(b)]);
    }
    if frame.color_by == 2 {
        for i in 0..RUN {
            let is_body = run.body[i] < BODY_FLOOR;
            for k in 0..3 {
                let color = albedo[k][i] * (0.35 + 0.65 * lit.sky[i]) * 1.2;
                run.color[k][i] = if is_body { color } else { run.color[k][i] };
            }
        }
        return;
    }
    // A weak lamp behind the camera's right shoulder lightens the shadow side.
    let right = frame.right * frame.right.length_recip();
    let lamp = right * 0.8 - frame.forward * 0.6 + glam::Vec3::new(0.0, 0.25, 0.0);
    let lamp = lamp * lamp.length_recip();
    let sun = frame.sun;
    let all_matt = frame.color_by != 0;
    for i in 0..RUN {
        let (nl, nv, nh, vh) = cosines(sun, of, i);
        let [nx, ny, nz] = [of.normal[0][i], of.normal[1][i], of.normal[2][i]];
        let (sunlit, skylit) = (lit.sun[i], lit.sky[i]);
        let fill = 0.5 + 0.5 * (nx * lamp.x + ny * lamp.y + nz * lamp.z);
        let fill = fill * fill * skylit;
        let up = above(ny);
        let open = 0.06 + 0.94 * skylit;
        // Rim light on parts that face the camera at a slant.
        let edge = 1.0 - max(nv, 0.0);
        let edge5 = edge * edge * edge * edge * edge;
        let mirror = above(of.direction[1][i] + 2.0 * nv * ny);
        let look = run.look[i];
        let is_matt = (look & (MARK_CRACK | MARK_FLAT) != 0) | all_matt;
        let shine = gloss(nl, max(nv, 0.02), nh, vh, 0.42) * sunlit;
        let shine = if is_matt { 0.0 } else { shine };
        let mirrored = (0.025 + 0.3 * edge5) * skylit;
        let mirrored = if is_matt { 0.0 } else { mirrored };
        let rim =
            if look & MARK_SELECTED != 0 { 0.08 + 0.55 * (edge * edge * max(edge, 0.0).sqrt()) } else { 0.0 };
        let is_body = run.body[i] < BODY_FLOOR;
        for k in 0..3 {
            let a = albedo[k][i];
            // Light reflected by the occluders of a pale surface; no part becomes quite black.
            let bounced = open / max(1.0 - 0.75 * a * (1.0 - open), 0.05);
            let light = SUN[k] * nl * sunlit + (mix(GROUND[k], SKY[k], up) + LAMP[k] * fill) * bounced;
            let color = a * light + SUN[k] * shine + mix(GROUND[k], SKY[k], mirror) * mirrored;
            let color = mix(color, GOLD[k] * 1.6, rim);
            run.color[k][i] = if is_body { color } else { run.color[k][i] };
        }
    }
}

/// Draws gold lines on bodies: metal that reflects sun and sky in its own colour and emits some light, and its glow.
#[inline(always)]
pub(super) fn gild(scene: &Scene<'_>, run: &mut Run, gold: &[f32; RUN], of: &Surfaces, lit: &Lit) {
    const GLANCE: Rgb = [1.0, 0.72, 0.3];
    for i in 0..RUN {
        let (nl, nv, nh, vh) = cosines(scene.frame.sun, of, i);
        let mirror = above(of.direction[1][i] + 2.0 * nv * of.normal[1][i]);
        let dim = mix(0.4, 1.0, lit.sky[i]);
        let shine = gloss(nl, max(nv, 0.02), nh, vh, 0.34) * 6.0;
        let line = smooth(0.5, 0.95, gold[i]);
        let is_gilded = (gold[i] > 0.0) & (run.body[i] < BODY_FLOOR);
        for k in 0..3 {
            let sun = SUN[k] * lit.sun[i];
            let mirrored = mix(GROUND[k], SKY[k], mirror) * dim;
            let metal = SEAM_GOLD[k] * (sun * nl * 0.35 + mirrored * 0.9)
                + GLANCE[k] * sun * shine
                + SEAM_SHINE[k] * 0.55;
            let color = mix(run.color[k][i] + SEAM_SHINE[k] * gold[i] * 1.1, metal, line);
            run.color[k][i] = if is_gilded { color } else { run.color[k][i] };
        }
    }
}
