//! Shades a run of pixels from hits and light: sky, floor, bodies, gold.
//!
//! # Computes colours from hits and light, a run of pixels at a time, like `shaders/render/compose.wgsl`

#![allow(
    clippy::needless_range_loop,
    reason = "one index walks many arrays, so that the loop becomes vector code"
)]

use super::{
    colors::{Colors, Rgb},
    filter::{Lit, RUN, Rows, Surfaces, own},
    hairline::Borders,
    light::Texel,
    scene::{
        BODY_FLOOR, BODY_SKY, FLAG_EMITS, FLAG_FLOOR_COLOR, FLAG_LAMP, FLAG_SELECTION, FLAG_TRANSPARENT,
        GOLD_MOST, GOLD_SHIFT, MARK_GLASS, MARK_MATT, MARK_SELECTED, Scene, unit_from_hash,
    },
    sky::{backdrop, colors_of, height, mirrored, mirrored_sky, sky_light},
    wide::{byte, exp2, max, min, mix, normal_of, over_root, power, smooth, srgb_from_linear, unit},
};
use crate::{effects::glow_of, geometry::srgb, surfaces::HitData, tables::FrameData};

pub(super) const GOLD: Rgb = [1.0, 0.66, 0.16];
/// Seam gold, #d4a017 in linear light.
const SEAM_GOLD: Rgb = [0.658, 0.352, 0.010];
/// Emission of the gold, of the same hue.
const SEAM_SHINE: Rgb = [0.70, 0.374, 0.011];
/// Shares of linear red, green and blue in brightness.
const LUMA: Rgb = [0.2126, 0.7152, 0.0722];

/// A run of pixels of one row.
pub(super) struct Run {
    pub distance: [f32; RUN],
    pub body: [u32; RUN],
    pub look: [u32; RUN],
    pub packed: [u32; RUN],
    pub color: [[f32; RUN]; 3],
    /// What lines between pieces leave of the light.
    pub line: [f32; RUN],
}

impl Run {
    pub fn new() -> Self {
        Self {
            distance: [1.0; RUN],
            body: [u32::MAX; RUN],
            look: [0; RUN],
            packed: [0; RUN],
            color: [[0.0; RUN]; 3],
            line: [1.0; RUN],
        }
    }
}

/// A painted floor's colour at this distance in this direction. Squares of which a pixel covers several fade into their mean.
#[inline(always)]
fn painted_floor(frame: &FrameData, distance: f32, direction: [f32; 3]) -> Rgb {
    let paint = frame.floor_color.to_array();
    let size = frame.checker_size;
    if size == 0.0 {
        return paint;
    }
    let other = frame.checker.to_array();
    let square = |from: f32, along: f32| ((from + along * distance) / size).floor();
    let place = 0.5 * (square(frame.eye.x, direction[0]) + square(frame.eye.z, direction[2]));
    let is_other = place - place.floor() > 0.25;
    let covers = frame.pixel_cone * distance / (max(direction[1].abs(), 1e-3) * size);
    let share = smooth(0.25, 1.0, covers);
    [0, 1, 2].map(|k| {
        let own = if is_other { other[k] } else { paint[k] };
        mix(own, 0.5 * (paint[k] + other[k]), share)
    })
}

/// Shades floor pixels, which have the sky's colour so far.
#[inline(always)]
fn shade_floor(scene: &Scene<'_>, colors: &Colors, run: &mut Run, of: &Surfaces, lit: &Lit) {
    let frame = &scene.frame;
    let level = height(0.0);
    let has_color = frame.flags & FLAG_FLOOR_COLOR != 0;
    let [sunlight, skylight] = colors.on_floor(frame);
    // The picture's own ground, which is as the picture has it where nothing takes its light.
    let is_pictured = scene.surroundings.is_some() && !has_color;
    let open = [0, 1, 2].map(|k| max(sunlight[k] + skylight[k], 1e-6));
    let usual = if is_pictured { open } else { Colors::usual_on_floor(frame) };
    let over_fade = 1.0 / (frame.fade * frame.fade);
    let from = frame.eye - frame.target;
    for i in 0..RUN {
        let x = from.x + of.direction[0][i] * run.distance[i];
        let z = from.z + of.direction[2][i] * run.distance[i];
        let away = (x * x + z * z) * over_fade;
        let far = smooth(1.0, 4.0, away.sqrt());
        let pool = if is_pictured { 1.0 } else { 1.0 + 0.22 * exp2(-away) };
        let is_floor = run.body[i] == BODY_FLOOR;
        let own = painted_floor(frame, run.distance[i], of.direction.map(|d| d[i]));
        for k in 0..3 {
            // Relative to open floor under the usual lights, so that the floor blends into the backdrop without a line, and
            // is dark under weak lights.
            let base = if has_color { own[k] } else { mix(colors.horizon[k], colors.zenith[k], level) };
            let base = if is_pictured { run.color[k][i] } else { base };
            let here = sunlight[k] * lit.sun[i] + skylight[k] * lit.sky[i] * lit.sky[i];
            let near = mix(base * pool * here * (1.0 / usual[k]), base, far);
            let color = mix(near, run.color[k][i], far);
            run.color[k][i] = if is_floor { color } else { run.color[k][i] };
        }
    }
}

/// Makes floor pixels black, with what is missing of their brightness in sRGB as alpha; it fades out as shadows on a shaded
/// floor do.
#[inline(always)]
fn catch_shadows(
    scene: &Scene<'_>,
    colors: &Colors,
    (run, alpha): (&mut Run, &mut [f32; RUN]),
    of: &Surfaces,
    lit: &Lit,
) {
    let frame = &scene.frame;
    let over_fade = 1.0 / (frame.fade * frame.fade);
    let from = frame.eye - frame.target;
    let bright = |color: Rgb| LUMA[0] * color[0] + LUMA[1] * color[1] + LUMA[2] * color[2];
    let [sun, sky] = colors.on_floor(frame).map(bright);
    let over_open = 1.0 / max(sun + sky, 1e-6);
    for i in 0..RUN {
        let x = from.x + of.direction[0][i] * run.distance[i];
        let z = from.z + of.direction[2][i] * run.distance[i];
        let far = smooth(1.0, 4.0, ((x * x + z * z) * over_fade).sqrt());
        let lost = sun * (1.0 - lit.sun[i]) + sky * (1.0 - lit.sky[i] * lit.sky[i]);
        let is_floor = run.body[i] == BODY_FLOOR;
        let left = 1.0 - unit(lost * over_open);
        // As viewers lay one picture over another: in sRGB.
        let caught = (1.0 - power(max(left, 1e-12), 1.0 / 2.2)) * (1.0 - far) * (1.0 - far);
        alpha[i] = if is_floor { caught } else { alpha[i] };
        for k in 0..3 {
            run.color[k][i] = if is_floor { 0.0 } else { run.color[k][i] };
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
fn shade_bodies(scene: &Scene<'_>, colors: &Colors, run: &mut Run, of: &Surfaces, lit: &Lit) {
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
    // A weak lamp lightens the shadow side: behind the camera's right shoulder, if it has no place of its own.
    let right = frame.right * frame.right.length_recip();
    let lamp = right * 0.8 - frame.ahead * 0.6 + glam::Vec3::new(0.0, 0.25, 0.0);
    let lamp = lamp * lamp.length_recip();
    let lamp = if frame.flags & FLAG_LAMP != 0 { frame.lamp } else { lamp };
    let Colors { sun: sunlight, lamp: lamplight, .. } = colors;
    let sun = frame.sun;
    let all_matt = frame.color_by != 0;
    let ambient = sky_light(scene, colors, &of.normal);
    let sky_seen = mirrored_sky(scene, colors, &mirrored(of), false);
    for i in 0..RUN {
        let (nl, nv, nh, vh) = cosines(sun, of, i);
        let [nx, ny, nz] = [of.normal[0][i], of.normal[1][i], of.normal[2][i]];
        let (sunlit, skylit) = (lit.sun[i], lit.sky[i]);
        let fill = 0.5 + 0.5 * (nx * lamp.x + ny * lamp.y + nz * lamp.z);
        let fill = fill * fill * skylit;
        let open = 0.06 + 0.94 * skylit;
        // Rim light on parts that face the camera at a slant.
        let edge = 1.0 - max(nv, 0.0);
        let edge5 = edge * edge * edge * edge * edge;
        let look = run.look[i];
        let is_matt = (look & MARK_MATT != 0) | all_matt;
        let shine = gloss(nl, max(nv, 0.02), nh, vh, 0.42) * sunlit;
        let shine = if is_matt { 0.0 } else { shine };
        let mirrored = (0.025 + 0.3 * edge5) * skylit;
        let mirrored = if is_matt { 0.0 } else { mirrored };
        let is_body = run.body[i] < BODY_FLOOR;
        for k in 0..3 {
            let a = albedo[k][i];
            // Light reflected by the occluders of a pale surface; no part becomes quite black.
            let bounced = open / max(1.0 - 0.75 * a * (1.0 - open), 0.05);
            let light = sunlight[k] * nl * sunlit + (ambient[k][i] + lamplight[k] * fill) * bounced;
            let color = a * light + sunlight[k] * shine + sky_seen[k][i] * mirrored;
            run.color[k][i] = if is_body { color } else { run.color[k][i] };
        }
    }
    if !all_matt && run.look.iter().any(|look| look & MARK_GLASS != 0) {
        shade_glass(scene, colors, run, of, lit, &albedo);
    }
    if run.look.iter().any(|look| look & MARK_SELECTED != 0) {
        rim(run, of);
    }
}

/// Lights the rims of selected bodies.
#[inline(always)]
fn rim(run: &mut Run, of: &Surfaces) {
    for i in 0..RUN {
        let [d, n] = [of.direction.map(|d| d[i]), of.normal.map(|n| n[i])];
        let edge = 1.0 - max(-(n[0] * d[0] + n[1] * d[1] + n[2] * d[2]), 0.0);
        let rim = 0.08 + 0.55 * (edge * edge * max(edge, 0.0).sqrt());
        let is_lit = (run.look[i] & MARK_SELECTED != 0) & (run.body[i] < BODY_FLOOR);
        for k in 0..3 {
            let color = mix(run.color[k][i], GOLD[k] * 1.6, rim);
            run.color[k][i] = if is_lit { color } else { run.color[k][i] };
        }
    }
}

/// Shades pixels of glass without what is behind it: the backdrop in the direction in which a ray is bent, dyed by the way
/// through, with the reflections of a smooth surface, also of a round lamp over the camera's left shoulder. The pixels have
/// the colour that they would have if they were opaque.
#[inline(always)]
fn shade_glass(
    scene: &Scene<'_>,
    colors: &Colors,
    run: &mut Run,
    of: &Surfaces,
    lit: &Lit,
    albedo: &[[f32; RUN]; 3],
) {
    let frame = &scene.frame;
    let unit_of = |v: glam::Vec3| v * v.length_recip();
    let lamp = unit_of(unit_of(frame.right) * -0.55 + unit_of(frame.up) * 0.6 - frame.ahead * 0.58);
    let mut bent = [[0.0f32; RUN]; 3];
    for i in 0..RUN {
        let (direction, normal) = (of.direction.map(|d| d[i]), of.normal.map(|n| n[i]));
        let to: [f32; 3] = std::array::from_fn(|k| direction[k] - normal[k] * 0.45);
        let scale = over_root(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
        for k in 0..3 {
            bent[k][i] = to[k] * scale;
        }
    }
    let (mirrored, behind) = (mirrored(of), backdrop(scene, colors, &bent));
    let sky_seen = mirrored_sky(scene, colors, &mirrored, true);
    for i in 0..RUN {
        let (nl, nv, nh, vh) = cosines(frame.sun, of, i);
        let slant = 1.0 - max(nv, 0.0);
        let reflected = 0.04 + 0.96 * (slant * slant * slant * slant * slant);
        let a = albedo.map(|a| a[i]);
        let most = max(max(a[0], max(a[1], a[2])), 1e-3);
        let seen = mirrored.map(|axis| axis[i]);
        let glare = smooth(0.90, 0.93, seen[0] * lamp.x + seen[1] * lamp.y + seen[2] * lamp.z) * 6.0;
        let shine = gloss(nl, max(nv, 0.02), nh, vh, 0.18) * lit.sun[i];
        let is_glass = (run.look[i] & MARK_GLASS != 0) & (run.body[i] < BODY_FLOOR);
        for k in 0..3 {
            let dye = a[k] / most;
            // At a slant the way through is long.
            let way = mix(1.0, dye, slant) * (1.0 - 0.5 * slant * slant);
            let through = behind[k][i] * dye * way;
            let color = run.color[k][i] * 0.12
                + through * (1.0 - reflected) * (0.45 + 0.55 * lit.sky[i])
                + (sky_seen[k][i] + glare) * reflected * lit.sky[i]
                + colors.sun[k] * shine;
            run.color[k][i] = if is_glass { color } else { run.color[k][i] };
        }
    }
}

/// Draws gold lines on bodies: metal that reflects sun and sky in its own colour and emits some light, and its glow.
#[inline(always)]
fn gild(scene: &Scene<'_>, colors: &Colors, run: &mut Run, gold: &[f32; RUN], of: &Surfaces, lit: &Lit) {
    const GLANCE: Rgb = [1.0, 0.72, 0.3];
    let sky_seen = mirrored_sky(scene, colors, &mirrored(of), false);
    for i in 0..RUN {
        let (nl, nv, nh, vh) = cosines(scene.frame.sun, of, i);
        let dim = mix(0.4, 1.0, lit.sky[i]);
        let shine = gloss(nl, max(nv, 0.02), nh, vh, 0.34) * 6.0;
        let line = smooth(0.5, 0.95, gold[i]);
        let is_gilded = (gold[i] > 0.0) & (run.body[i] < BODY_FLOOR);
        for k in 0..3 {
            let sun = colors.sun[k] * lit.sun[i];
            let mirrored = sky_seen[k][i] * dim;
            let metal = SEAM_GOLD[k] * (sun * nl * 0.35 + mirrored * 0.9)
                + GLANCE[k] * sun * shine
                + SEAM_SHINE[k] * 0.55;
            let color = mix(run.color[k][i] + SEAM_SHINE[k] * gold[i] * 1.1, metal, line);
            run.color[k][i] = if is_gilded { color } else { run.color[k][i] };
        }
    }
}

/// x^a / (b x^a + c) with a chosen for contrast, b and c so that 0.18 -> 0.19 and 6 -> 1.
const TONE: [f32; 3] = [1.22, 0.940_039, 0.533_599];

/// The tone curve of one channel.
#[inline(always)]
fn toned(x: f32) -> f32 {
    let x = power(max(x, 1e-12), TONE[0]);
    unit(x / (TONE[1] * x + TONE[2]))
}

/// Results of the earlier stages.
pub(super) struct Inputs<'a> {
    pub scene: &'a Scene<'a>,
    pub hits: &'a [HitData],
    pub looks: &'a [u32],
    /// Emitted light, as [`glow_of`] reads it; only written where the frame has [`FLAG_EMITS`].
    pub glows: &'a [u32],
    pub lights: &'a [Texel],
    /// Linear, premultiplied; empty if there is no overlay.
    pub overlay: &'a [[f32; 4]],
}

impl Inputs<'_> {
    /// Composes the rows `from..to`; `history` and `picture` hold these rows.
    #[inline(always)]
    pub fn band(&self, from: u32, rows: &mut Rows, history: &mut [f32], picture: &mut [u8]) {
        let width = self.scene.frame.size[0] as usize;
        let to = from + (picture.len() / (4 * width)) as u32;
        rows.fill(self.scene, self.lights, from, to);
        let lines = history.chunks_exact_mut(4 * width).zip(picture.chunks_exact_mut(4 * width));
        for (y, (history, picture)) in (from..to).zip(lines) {
            for x in (0..width).step_by(RUN) {
                let end = (x + RUN).min(width);
                self.run((x, y), rows, history, &mut picture[4 * x..4 * end]);
            }
        }
    }

    #[inline(always)]
    fn run(&self, (x, y): (usize, u32), rows: &Rows, history: &mut [f32], picture: &mut [u8]) {
        let frame = &self.scene.frame;
        let count = picture.len() / 4;
        let at = y as usize * frame.size[0] as usize + x;
        let mut run = Run::new();
        let (mut bodies, mut floors, mut skies, mut gold) = (false, false, false, false);
        for (i, (hit, look)) in self.hits[at..at + count].iter().zip(&self.looks[at..]).enumerate() {
            run.distance[i] = hit.distance;
            run.body[i] = hit.body;
            run.look[i] = *look;
            run.packed[i] = hit.normal;
            skies |= hit.body == BODY_SKY;
            floors |= hit.body == BODY_FLOOR;
            bodies |= hit.body < BODY_FLOOR;
            gold |= look >> GOLD_SHIFT != 0;
        }
        let (mut direction, mut normal) = ([[0.0f32; RUN]; 3], [[0.0f32; RUN]; 3]);
        let size = frame.size.map(|v| v as f32);
        let v = (y as f32 + 0.5 + frame.jitter[1]) / size[1];
        let (right, row) = (frame.right, frame.forward + frame.up * (1.0 - 2.0 * v));
        let mut off = [0.0f32; RUN];
        for i in 0..RUN {
            let u = ((x + i) as f32 + 0.5 + frame.jitter[0]) / size[0];
            let across = 2.0 * u - 1.0;
            let d = [row.x + right.x * across, row.y + right.y * across, row.z + right.z * across];
            let scale = over_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            let n = normal_of(run.packed[i]);
            for k in 0..3 {
                direction[k][i] = d[k] * scale;
                normal[k][i] = n[k];
            }
            off[i] = across * across + (2.0 * v - 1.0) * (2.0 * v - 1.0);
        }
        let kind = std::array::from_fn(|i| if run.body[i] == BODY_FLOOR { -1.0 } else { 1.0 });
        let surfaces = Surfaces { distance: run.distance, kind, direction, normal };
        let mut lit = Lit { sun: [1.0; RUN], sky: [1.0; RUN] };
        if (bodies || floors) && !rows.are_bright(self.scene, x, y) {
            let own = own(self.scene, self.lights, x, y);
            rows.filtered(self.scene, &own, &surfaces, x, y, &mut lit);
        }
        let is_transparent = frame.flags & FLAG_TRANSPARENT != 0;
        let mut alpha: [f32; RUN] =
            std::array::from_fn(|i| if is_transparent && run.body[i] == BODY_SKY { 0.0 } else { 1.0 });
        let colors = &colors_of(self.scene);
        if skies || floors {
            run.color = backdrop(self.scene, colors, &surfaces.direction);
        }
        if floors && is_transparent {
            catch_shadows(self.scene, colors, (&mut run, &mut alpha), &surfaces, &lit);
        } else if floors {
            shade_floor(self.scene, colors, &mut run, &surfaces, &lit);
        }
        if bodies {
            shade_bodies(self.scene, colors, &mut run, &surfaces, &lit);
        }
        if bodies && frame.flags & FLAG_EMITS != 0 {
            for (i, glow) in self.glows[at..at + count].iter().enumerate() {
                let light = if run.body[i] < BODY_FLOOR { glow_of(*glow) } else { [0.0; 3] };
                for k in 0..3 {
                    run.color[k][i] += light[k];
                }
            }
        }
        if gold {
            let gold = run.look.map(|look| (look >> GOLD_SHIFT) as f32 / GOLD_MOST);
            gild(self.scene, colors, &mut run, &gold, &surfaces, &lit);
        }
        if frame.hairline > 0.0 {
            self.hairlines(x, y, &mut run, count);
        }
        if frame.flags & FLAG_SELECTION != 0 {
            self.outline(x, y, &mut run, &mut alpha, count);
        }
        let overlay = self.overlay.get(at..at + count).unwrap_or_default();
        self.film((x, y), &run, &alpha, &off, overlay, history, picture);
    }

    /// Finds lines between pieces that lie together.
    #[inline(always)]
    fn hairlines(&self, x: usize, y: u32, run: &mut Run, count: usize) {
        let borders = Borders { scene: self.scene, hits: self.hits };
        if !borders.are_near(x, y, count) {
            return;
        }
        for i in 0..count {
            run.line[i] = borders.light(x + i, y);
        }
    }

    /// Draws the outline outside a selected body.
    fn outline(&self, x: usize, y: u32, run: &mut Run, alpha: &mut [f32; RUN], count: usize) {
        for i in 0..count {
            if run.look[i] & MARK_SELECTED != 0 {
                continue;
            }
            let glow = self.selected_near(x + i, y);
            if glow > 0.0 {
                let share = smooth(0.0, 0.5, glow);
                let strength = share * 0.85;
                for (channel, gold) in run.color.iter_mut().zip(GOLD) {
                    channel[i] = mix(channel[i], gold * 1.5, strength);
                }
                alpha[i] = max(alpha[i], strength);
                run.line[i] = mix(run.line[i], 1.0, share);
            }
        }
    }

    /// Share of the neighbours at two pixels' distance that are selected.
    fn selected_near(&self, x: usize, y: u32) -> f32 {
        let [width, height] = self.scene.frame.size.map(|v| v as isize);
        let (x, y) = (x as isize, y as isize);
        let near = [(-2, 0), (2, 0), (0, -2), (0, 2), (-1, -1), (1, -1), (-1, 1), (1, 1)];
        let selected = near.iter().filter(|(dx, dy)| {
            let (x, y) = (x + dx, y + dy);
            x >= 0
                && y >= 0
                && x < width
                && y < height
                && self.looks[(y * width + x) as usize] & MARK_SELECTED != 0
        });
        selected.count() as f32 * 0.125
    }

    /// Vignette, tone curve, lines between pieces, overlay, mean over the refinement's frames, sRGB encoding and dithering.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the last part of `run`, which has them at hand")]
    fn film(
        &self,
        (x, y): (usize, u32),
        run: &Run,
        alpha: &[f32; RUN],
        off: &[f32; RUN],
        overlay: &[[f32; 4]],
        history: &mut [f32],
        picture: &mut [u8],
    ) {
        let accumulated = self.scene.frame.accumulated;
        let width = self.scene.frame.size[0] as usize;
        let at = y as usize * width + x;
        let count = picture.len() / 4;
        let mut display = [[0.0f32; RUN]; 4];
        for i in 0..RUN {
            // A slight vignette.
            let shade = 1.0 - 0.10 * off[i];
            let color = [run.color[0][i] * shade, run.color[1][i] * shade, run.color[2][i] * shade];
            // Bright colours lose some saturation.
            let peak = max(color[0], max(color[1], color[2]));
            let paler = smooth(0.8, 6.0, peak) * 0.5;
            // After the tone curve, so that a line is as clear on a bright surface as on a dark one.
            let shown = run.line[i] * alpha[i];
            let paler = [0, 1, 2].map(|k| mix(color[k], peak, paler));
            let least = min(paler[0], min(paler[1], paler[2]));
            // The third channel keeps its place between the ends, or hues would turn on the way.
            let [low, high] = [toned(least), toned(peak)];
            let share = least / max(peak, 1e-6);
            let vivid = (1.0 - share) * (1.0 - share);
            let dark = mix(low, min(low, high * share), vivid);
            let over_span = 1.0 / max(peak - least, 1e-6);
            for k in 0..3 {
                display[k][i] = (dark + (high - dark) * unit((paler[k] - least) * over_span)) * shown;
            }
            display[3][i] = alpha[i];
        }
        // After the tone curve, so that an overlay's colours look the same everywhere.
        for (i, over) in overlay.iter().enumerate() {
            for k in 0..4 {
                display[k][i] = over[k] + display[k][i] * (1.0 - over[3]);
            }
        }
        if accumulated > 0 {
            let share = 1.0 / (accumulated + 1) as f32;
            for (before, display) in history.chunks_exact(width).zip(&mut display) {
                for (before, display) in before[x..x + count].iter().zip(display) {
                    *display = mix(*before, *display, share);
                }
            }
        }
        for (mean, display) in history.chunks_exact_mut(width).zip(&display) {
            mean[x..x + count].copy_from_slice(&display[..count]);
        }
        let mut words = [0u32; RUN];
        for i in 0..RUN {
            let seed = (at + i) as u32 * 2;
            let noise = (unit_from_hash(seed) + unit_from_hash(seed + 1) - 1.0) * (1.0 / 255.0);
            let straight = 1.0 / max(display[3][i], 1e-4);
            let shown = |k: usize| byte(unit(srgb_from_linear(unit(display[k][i] * straight)) + noise));
            words[i] = shown(0) | shown(1) << 8 | shown(2) << 16 | byte(unit(display[3][i])) << 24;
        }
        for (shown, word) in picture.chunks_exact_mut(4).zip(&words) {
            shown.copy_from_slice(&word.to_le_bytes());
        }
    }
}
