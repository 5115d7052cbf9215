//! The compose pass: hits, looks and light to colour.
//!
//! Light is averaged over the light texels near by that lie on the same surface. A body is lit by the sun, by a sky
//! that is lighter above than below, by a weak lamp behind the camera, and, where it is not matt, mirrors a little of
//! sun and sky. Glass shows the backdrop through it. A seam of gold lies over that. The floor shows the backdrop, or a
//! colour of its own, darker where light is missing; in a transparent picture it is nothing but that darkness. Then
//! come the outline of what is selected, a vignette, the tone curve, dark lines between pieces (`hairline.rs`), except in
//! that outline, the overlay, the mean over the refinement's frames, sRGB and half a byte's worth of noise.

use glam::{DVec2, DVec3, DVec4, Vec3Swizzles, Vec4Swizzles};
use rayon::prelude::*;

use super::{FLOOR, SKY, ahead, centre_of, hairline::Picture, hash, smoothstep, through};
use crate::{surfaces::HitData, svo::unpack_normal, tables::FrameData};

/// What the pass writes, rows from the top.
pub struct Composed {
    /// Mean over the frames so far: tone-mapped linear colour times alpha, and alpha.
    pub history: Vec<DVec4>,
    /// sRGB bytes before rounding.
    pub picture: Vec<DVec4>,
}

/// What the pass reads.
pub struct Inputs<'a> {
    /// Constants.
    pub frame: &'a FrameData,
    /// First hits.
    pub hits: &'a [HitData],
    /// Of which object each body is a piece.
    pub objects: &'a [u32],
    /// Colours and marks, then emitted light.
    pub looks: &'a [u32],
    /// Sun, sky, depth, packed normal, as words.
    pub lights: &'a [[u32; 4]],
    /// Lines, discs and triangles over the picture: linear, times alpha.
    pub overlay: Option<&'a [[f32; 4]]>,
    /// Mean over the frames before this one.
    pub history: &'a [[f32; 4]],
}

/// Colours of light, linear.
const SUN: DVec3 = DVec3::new(2.55, 2.3, 1.98);
const ZENITH_LIGHT: DVec3 = DVec3::new(0.60, 0.68, 0.80);
const GROUND_LIGHT: DVec3 = DVec3::new(0.36, 0.31, 0.27);
const LAMP: DVec3 = DVec3::new(0.20, 0.19, 0.20);
const GOLD: DVec3 = DVec3::new(1.0, 0.66, 0.16);
/// The gold of seams, and what it sends out.
const SEAM_GOLD: DVec3 = DVec3::new(0.658, 0.352, 0.010);
const SEAM_SHINE: DVec3 = DVec3::new(0.70, 0.374, 0.011);
const ROUGHNESS: f64 = 0.42;

const MATT: u32 = 1 << 24;
const SELECTED: u32 = 1 << 25;
const GLASS: u32 = 1 << 26;
const TRANSPARENT: u32 = 2;
const BACKGROUND: u32 = 16;
const FLOOR_COLOR: u32 = 32;
const OWN_LAMP: u32 = 64;
const EMITS: u32 = 128;

/// One frame's colours.
pub fn compose(inputs: &Inputs<'_>) -> Composed {
    let [width, height] = inputs.frame.size;
    let (history, picture) =
        (0..width * height).into_par_iter().map(|i| inputs.pixel([i % width, i / width])).unzip();
    Composed { history, picture }
}

impl Inputs<'_> {
    fn pixel(&self, at: [u32; 2]) -> (DVec4, DVec4) {
        let frame = self.frame;
        let index = (at[1] * frame.size[0] + at[0]) as usize;
        let (hit, look) = (self.hits[index], self.looks[index]);
        let direction = through(frame, centre_of(at)).normalize();
        let (mut color, mut alpha) = match hit.body {
            SKY => (self.backdrop(direction), if frame.flags & TRANSPARENT != 0 { 0.0 } else { 1.0 }),
            FLOOR => self.floor(direction, f64::from(hit.distance), self.light(at, &hit, direction)),
            _ => {
                let lit = self.light(at, &hit, direction);
                let color = self.body(look, &hit, direction, lit) + self.emitted(index);
                (self.gilded(color, look, &hit, direction, lit), 1.0)
            }
        };
        let mut line = Picture { frame, hits: self.hits, objects: self.objects }.light(at);
        if look & SELECTED == 0 {
            let share = smoothstep(0.0, 0.5, self.selected_near(at));
            let strength = 0.85 * share;
            line += (1.0 - line) * share;
            color = color.lerp(GOLD * 1.5, strength);
            alpha = f64::max(alpha, strength);
        }
        let size = DVec2::new(f64::from(frame.size[0]), f64::from(frame.size[1]));
        let from_middle = (centre_of(at) + DVec2::from(frame.jitter.map(f64::from))) / size * 2.0 - 1.0;
        color *= 1.0 - 0.10 * from_middle.length_squared();
        let mut mean = (tone(color) * line * alpha).extend(alpha);
        if let Some(overlay) = self.overlay {
            let over = DVec4::from(overlay[index].map(f64::from));
            mean = over + mean * (1.0 - over.w);
        }
        if frame.accumulated > 0 {
            let before = DVec4::from(self.history[index].map(f64::from));
            mean = before.lerp(mean, 1.0 / f64::from(frame.accumulated + 1));
        }
        // The sum of two even variates: noise up to one byte either way, most of it small.
        let even = |k: u32| f64::from(hash(2 * index as u32 + k) >> 8) / f64::from(1 << 24);
        let noise = (even(0) + even(1) - 1.0) / 255.0;
        let shown = (mean.xyz() / mean.w.max(1e-4)).clamp(DVec3::ZERO, DVec3::ONE);
        let encoded = (shown.map(srgb_from_linear) + noise).clamp(DVec3::ZERO, DVec3::ONE);
        (mean, encoded.extend(mean.w) * 255.0)
    }

    /// The light that a pixel's surface emits: words behind the looks, of roots of shares and of the whole, of 64.
    fn emitted(&self, index: usize) -> DVec3 {
        if self.frame.flags & EMITS == 0 {
            return DVec3::ZERO;
        }
        let [r, g, b, whole] =
            self.looks[self.hits.len() + index].to_le_bytes().map(|v| f64::from(v) / 255.0);
        DVec3::new(r, g, b).powf(2.0) * whole.powi(2) * 64.0
    }

    /// Sun and sky at a pixel: a mean over the texels round it, weighed by nearness in the picture (a tent
    /// whose flat middle grows with the radius), by distance from the pixel's tangent plane and by the fourth
    /// power of the normals' cosine. Floor and bodies do not mix.
    fn light(&self, at: [u32; 2], hit: &HitData, direction: DVec3) -> DVec2 {
        let frame = self.frame;
        let words = |x: u32, y: u32| self.lights[(y * frame.light_size[0] + x) as usize];
        let value = |words: [u32; 4]| DVec2::new(float(words[0]), float(words[1]));
        let own = std::array::from_fn(|k| (at[k] / frame.light_step).min(frame.light_size[k] - 1));
        let [x, y]: [u32; 2] = own;
        if frame.filter_radius == 0 {
            return value(words(x, y));
        }
        let n = unpack_normal(hit.normal).as_dvec3();
        let point = direction * f64::from(hit.distance);
        // A texel this far off the plane counts half: three quarters of a texel's width there, and a little
        // at the least.
        let texel_width = f64::from(frame.pixel_cone * frame.light_step as f32) * point.dot(ahead(frame));
        let thick = (3.0 * texel_width + 0.004 * f64::from(frame.ao_reach)) / 4.0;
        let radius = frame.filter_radius;
        let near =
            |k: usize| own[k].saturating_sub(radius + 1)..(own[k] + radius + 2).min(frame.light_size[k]);
        let (mut sum, mut total) = (value(words(x, y)) * 1e-6, 1e-6);
        for y in near(1) {
            for x in near(0) {
                let pixel = super::pixel_of_texel(frame, [x, y]);
                let away = (centre_of(at) - centre_of(pixel)).abs() / f64::from(frame.light_step);
                let tent = (DVec2::splat(f64::from(radius)) - away).clamp(DVec2::ZERO, DVec2::ONE);
                let [_, _, depth, normal] = words(x, y);
                let depth = if hit.body == FLOOR { -float(depth) } else { float(depth) };
                if depth <= 0.0 {
                    continue;
                }
                let off_plane = (through(frame, centre_of(pixel)) * depth - point).dot(n).abs();
                let alike = unpack_normal(normal).as_dvec3().dot(n).max(0.0);
                let weight = tent.x * tent.y * (-off_plane / thick).exp2() * alike.powi(4);
                sum += value(words(x, y)) * weight;
                total += weight;
            }
        }
        sum / total
    }

    fn body(&self, look: u32, hit: &HitData, direction: DVec3, lit: DVec2) -> DVec3 {
        let frame = self.frame;
        let [r, g, b, _] = look.to_le_bytes();
        let albedo = DVec3::from([r, g, b].map(|v| linear_from_srgb(f64::from(v) / 255.0)));
        let n = unpack_normal(hit.normal).as_dvec3();
        let (sun, sky) = (lit.x, lit.y);
        // By normal: the colour is the answer, so only the light of the surroundings shades it.
        if frame.color_by == 2 {
            return albedo * 1.2 * (0.35 + 0.65 * sky);
        }
        let to_eye = -direction;
        let to_sun = frame.sun.as_dvec3();
        let facing = 1.0 - n.dot(to_eye).max(0.0);

        let right = frame.right.as_dvec3().normalize();
        let to_lamp = if frame.flags & OWN_LAMP != 0 {
            frame.lamp.as_dvec3()
        } else {
            (right * 0.8 - ahead(frame) * 0.6 + DVec3::Y * 0.25).normalize()
        };
        let lamp = LAMP * frame.lamp_tint.as_dvec3() * (0.5 + 0.5 * n.dot(to_lamp)).powi(2) * sky;
        // What the occluders of a pale surface send back: a geometric series in its albedo. Never quite black.
        let open = 0.06 + 0.94 * sky;
        let bounced = albedo.map(|a| open / (1.0 - 0.75 * a * (1.0 - open)).max(0.05));
        let mut color = albedo * (self.sun() * n.dot(to_sun).max(0.0) * sun + (self.sky(n) + lamp) * bounced);

        let matt = look & MATT != 0 || frame.color_by != 0;
        if !matt {
            let mirrored = direction - n * (2.0 * n.dot(direction));
            color += self.sun() * sun * highlight(n, to_eye, to_sun, ROUGHNESS);
            color += self.sky(mirrored) * (0.025 + 0.3 * facing.powi(5)) * sky;
        }
        if look & GLASS != 0 && frame.color_by == 0 {
            let up = frame.up.as_dvec3().normalize();
            let glare = (right * -0.55 + up * 0.6 - ahead(frame) * 0.58).normalize();
            color =
                self.glass((color, albedo), n, direction, lit, (glare, highlight(n, to_eye, to_sun, 0.18)));
        }
        if look & SELECTED != 0 {
            color = color.lerp(GOLD * 1.6, 0.08 + 0.55 * facing.powf(2.5));
        }
        color
    }

    /// A seam's glow adds its own light; towards the line's middle, polished metal takes over, which mirrors
    /// sun and sky in its colour and shines a little by itself.
    fn gilded(&self, color: DVec3, look: u32, hit: &HitData, direction: DVec3, lit: DVec2) -> DVec3 {
        let gold = f64::from(look >> 27) / 31.0;
        if gold == 0.0 {
            return color;
        }
        let n = unpack_normal(hit.normal).as_dvec3();
        let to_sun = self.frame.sun.as_dvec3();
        let sun = self.sun() * lit.x;
        let mirrored = self.sky(direction - n * (2.0 * n.dot(direction))) * (0.4 + 0.6 * lit.y);
        let metal = SEAM_GOLD * (sun * n.dot(to_sun).max(0.0) * 0.35 + mirrored * 0.9)
            + DVec3::new(1.0, 0.72, 0.3) * sun * highlight(n, -direction, to_sun, 0.34) * 6.0
            + SEAM_SHINE * 0.55;
        (color + SEAM_SHINE * gold * 1.1).lerp(metal, smoothstep(0.5, 0.95, gold))
    }

    /// The floor's own paint, or the backdrop of its horizon, lighter round the target, times the light here over that of
    /// the usual sun and sky on open floor; far off it becomes the backdrop. Or black, with what is missing of its brightness in sRGB as
    /// alpha, which fades away like the difference that a shadow makes. A sun below the horizon gives the floor nothing.
    fn floor(&self, direction: DVec3, distance: f64, lit: DVec2) -> (DVec3, f64) {
        let frame = self.frame;
        let point = frame.eye.as_dvec3() + direction * distance;
        let away = (point - frame.target.as_dvec3()).xz().length() / f64::from(frame.fade);
        let sunlight = self.sun() * f64::from(frame.sun.y).max(0.0);
        let skylight = ZENITH_LIGHT * frame.sky_tint.as_dvec3();
        let (here, open) = (sunlight * lit.x + skylight * lit.y.powi(2), sunlight + skylight);
        let usual = SUN * f64::from(frame.sun.y).max(0.0) + ZENITH_LIGHT;
        let far = smoothstep(1.0, 4.0, away);
        if frame.flags & TRANSPARENT != 0 {
            let brightness = DVec3::new(0.2126, 0.7152, 0.0722);
            return (
                DVec3::ZERO,
                (1.0 - (brightness.dot(here) / brightness.dot(open)).powf(1.0 / 2.2)) * (1.0 - far).powi(2),
            );
        }
        let own = frame.flags & FLOOR_COLOR != 0;
        let base = if own { self.paint(point, direction.y, distance) } else { self.backdrop(DVec3::X) };
        let near = base * (1.0 + 0.22 * (-away * away).exp2()) * (here / usual);
        (near.lerp(base, far).lerp(self.backdrop(direction), far), 1.0)
    }

    /// A painted floor: its colour, or by turns that of its squares, the less distinct the more of them a pixel covers.
    fn paint(&self, point: DVec3, slope: f64, distance: f64) -> DVec3 {
        let (own, other) = (self.frame.floor_color.as_dvec3(), self.frame.checker.as_dvec3());
        let size = f64::from(self.frame.checker_size);
        if size == 0.0 {
            return own;
        }
        let number = (point.x / size).floor() as i64 + (point.z / size).floor() as i64;
        let color = if number.rem_euclid(2) == 1 { other } else { own };
        let covered = f64::from(self.frame.pixel_cone) * distance / (slope.abs().max(1e-3) * size);
        color.lerp((own + other) / 2.0, smoothstep(0.25, 1.0, covered))
    }

    fn sun(&self) -> DVec3 {
        SUN * self.frame.sun_tint.as_dvec3()
    }

    fn sky(&self, n: DVec3) -> DVec3 {
        GROUND_LIGHT.lerp(ZENITH_LIGHT, smoothstep(-1.0, 1.0, n.y)) * self.frame.sky_tint.as_dvec3()
    }

    /// Warm grey at the horizon, cool and dark above; or colours of its own.
    fn backdrop(&self, direction: DVec3) -> DVec3 {
        let height = smoothstep(0.0, 1.0, direction.y * 1.6 + 0.08);
        if self.frame.flags & BACKGROUND != 0 {
            return self.frame.horizon.as_dvec3().lerp(self.frame.zenith.as_dvec3(), height);
        }
        DVec3::new(0.44, 0.42, 0.40).lerp(DVec3::new(0.13, 0.155, 0.20), height)
    }

    /// Glass shows the backdrop in the direction in which it bends a ray, in its own hue, more of it and darker at a
    /// slant. The rest of the light is reflected (Schlick), also that of a lamp in the direction `glare`. A little of what
    /// it would be if it were opaque stays.
    fn glass(
        &self,
        (opaque, albedo): (DVec3, DVec3),
        n: DVec3,
        direction: DVec3,
        lit: DVec2,
        (glare, shine): (DVec3, f64),
    ) -> DVec3 {
        let slant = 1.0 - n.dot(-direction).max(0.0);
        let reflected = 0.04 + 0.96 * slant.powi(5);
        let hue = albedo / albedo.max_element().max(1e-3);
        let behind = self.backdrop((direction - n * 0.45).normalize())
            * hue
            * DVec3::ONE.lerp(hue, slant)
            * (1.0 - slant * slant / 2.0);
        let mirrored = direction - n * (2.0 * n.dot(direction));
        let bright = self.sky(mirrored) + 6.0 * smoothstep(0.90, 0.93, mirrored.dot(glare));
        opaque * 0.12
            + behind * ((1.0 - reflected) * (0.45 + 0.55 * lit.y))
            + bright * (reflected * lit.y)
            + self.sun() * (lit.x * shine)
    }

    /// Share of eight neighbours, two pixels away along the axes and one along the diagonals, that are selected.
    fn selected_near(&self, at: [u32; 2]) -> f64 {
        let near = [(2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)];
        let selected = |(dx, dy): (i32, i32)| {
            let [width, height] = self.frame.size;
            let (x, y) = (at[0].checked_add_signed(dx)?, at[1].checked_add_signed(dy)?);
            let inside = x < width && y < height;
            (inside && self.looks[(y * width + x) as usize] & SELECTED != 0).then_some(0.125)
        };
        near.into_iter().filter_map(selected).sum()
    }
}

fn float(word: u32) -> f64 {
    f64::from(f32::from_bits(word))
}

/// Trowbridge-Reitz microfacets with Schlick's masking and Fresnel terms, times the cosine of the light.
fn highlight(n: DVec3, to_eye: DVec3, to_light: DVec3, roughness: f64) -> f64 {
    let half = (to_eye + to_light).normalize();
    let (nl, nv, nh) = (n.dot(to_light).max(0.0), n.dot(to_eye).max(0.02), n.dot(half).max(0.0));
    let alpha2 = roughness.powi(4);
    let facets = alpha2 / (std::f64::consts::PI * (nh * nh * (alpha2 - 1.0) + 1.0).powi(2));
    let k = roughness.powi(2) / 2.0;
    let unmasked = |x: f64| 1.0 / (x * (1.0 - k) + k);
    let fresnel = 0.04 + 0.96 * (1.0 - to_eye.dot(half).max(0.0)).powi(5);
    facets * unmasked(nv) * unmasked(nl) * fresnel * nl / 4.0
}

/// Bright colours lose some saturation, then the strongest and the weakest channel become x^a / (b x^a + c), where b and c
/// are such that 0.18 gives 0.19 and 6 gives 1. The more the two differ, the nearer their ratio stays to what it was, unless
/// it becomes less. What lies between them keeps its place.
fn tone(color: DVec3) -> DVec3 {
    const A: f64 = 1.22;
    let (dark, bright) = (0.18_f64.powf(A), 6.0_f64.powf(A));
    // dark / 0.19 = b dark + c and bright = b bright + c.
    let b = (bright - dark / 0.19) / (bright - dark);
    let c = bright * (1.0 - b);
    let peak = color.max_element();
    let paler = color.lerp(DVec3::splat(peak), 0.5 * smoothstep(0.8, 6.0, peak));
    let curve = |x: f64| {
        let x = x.max(0.0).powf(A);
        (x / (b * x + c)).clamp(0.0, 1.0)
    };
    let least = paler.min_element();
    if peak - least < 1e-6 {
        return DVec3::splat(curve(peak));
    }
    let (top, ratio) = (curve(peak), least / peak);
    let bottom = curve(least);
    let bottom = bottom + (bottom.min(top * ratio) - bottom) * (1.0 - ratio).powi(2);
    paler.map(|x| bottom + (top - bottom) * (x - least) / (peak - least))
}

fn linear_from_srgb(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn srgb_from_linear(c: f64) -> f64 {
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}
