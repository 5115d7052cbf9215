//! The light pass: how much of the sun and of the sky a point of a surface sees.
//!
//! A sample is a point of the unit square, one of sixteen strata. Bent to a disc it chooses a point of the
//! sun; bent to a hemisphere, denser where the surface looks, a direction in which the sky is or is not
//! hidden by something near.

use std::f64::consts::TAU;

use glam::{DMat3, DVec2, DVec3};
use rayon::prelude::*;

use super::{FLOOR, Ray, SKY, ahead, centre_of, hash, nearest, pixel_of_texel, smoothstep, through};
use crate::{
    RenderBody,
    surfaces::HitData,
    svo::{Forest, unpack_normal},
    tables::FrameData,
};

/// What a light texel holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texel {
    /// Share of the sun that is seen.
    pub sun: f64,
    /// Share of the sky that is seen.
    pub sky: f64,
    /// Along the view, m: 0 for sky, negative for the floor.
    pub depth: f64,
    /// Packed.
    pub normal: u32,
}

/// Strata of a 4 x 4 tile: an ordered-dither matrix, in which neighbours are far apart.
const STRATA: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
/// The plastic number's inverse and its square: the steps of a lattice that covers the square evenly however
/// far it is walked.
const LATTICE: DVec2 = DVec2::new(0.754_877_666_246_693, 0.569_840_290_998_053);
/// A cone this wide sees the sky's near surroundings; the sun's is half its own radius, and no wider.
const SKY_SLOPE: f64 = 0.06;

/// The light of every texel, rows from the top, for the first hits of the frame.
pub fn light(frame: &FrameData, hits: &[HitData], bodies: &[(RenderBody, &Forest)]) -> Vec<Texel> {
    let [width, height] = frame.light_size;
    (0..width * height).into_par_iter().map(|i| texel(frame, hits, bodies, [i % width, i / width])).collect()
}

fn texel(frame: &FrameData, hits: &[HitData], bodies: &[(RenderBody, &Forest)], at: [u32; 2]) -> Texel {
    let pixel = pixel_of_texel(frame, at);
    let hit = hits[(pixel[1] * frame.size[0] + pixel[0]) as usize];
    if hit.body == SKY {
        return Texel { sun: 1.0, sky: 1.0, depth: 0.0, normal: hit.normal };
    }
    let distance = f64::from(hit.distance);
    let view = through(frame, centre_of(pixel));
    let n = unpack_normal(hit.normal).as_dvec3();
    let voxel = match bodies.get(hit.body as usize) {
        Some((body, _)) if body.shape.drawn_surface().is_some() => {
            let longest = body.shape.bounds().size().max_element() * body.shape.unit_m();
            // Bodies of the tests are as large as their shapes.
            longest / 512.0
        }
        Some((body, _)) => f64::from(body.world_from_local.x_axis.truncate().length()),
        None => 0.0,
    };
    // Five quarters of a voxel off the surface, or a pixel's width where that is more.
    let lift = (1.25 * voxel).max(f64::from(frame.pixel_cone) * distance);
    let origin = frame.eye.as_dvec3() + view.normalize() * distance + n * lift;
    let to_sun = frame.sun.as_dvec3();
    let reach = f64::from(frame.ao_reach);
    let (mut sun, mut sky) = (0.0, 0.0);
    for s in 0..frame.samples {
        let sample = sample(stratum(at), frame.accumulated * frame.samples + s);
        let (sin, cos) = (TAU * sample.y).sin_cos();
        let disc = DVec2::new(cos, sin) * sample.x.sqrt();

        let aside = (basis(to_sun) * disc.extend(0.0)) * f64::from(frame.sun_radius);
        let ray = Ray {
            origin,
            direction: (to_sun + aside).normalize(),
            slope: (0.5 * f64::from(frame.sun_radius)).min(SKY_SLOPE).max(f64::from(frame.pixel_cone)),
            first: 0.5 * voxel,
            last: 1e9,
        };
        if n.dot(to_sun) > 0.0 && nearest(&ray, bodies).is_none() {
            sun += 1.0;
        }

        let direction = basis(n) * disc.extend((1.0 - sample.x).sqrt());
        let ray = Ray { origin, direction, slope: SKY_SLOPE, first: 0.0, last: reach };
        let body = nearest(&ray, bodies).unwrap_or(f64::INFINITY);
        let has_floor = frame.flags & 1 != 0;
        let floor = if has_floor && direction.y < 0.0 {
            ((f64::from(frame.floor_y) - origin.y) / direction.y).max(0.0)
        } else {
            f64::INFINITY
        };
        sky += smoothstep(0.0, reach, body.min(floor));
    }
    let count = f64::from(frame.samples);
    let depth = view.normalize().dot(ahead(frame)) * distance;
    let depth = if hit.body == FLOOR { -depth } else { depth };
    Texel { sun: sun / count, sky: sky / count, depth, normal: hit.normal }
}

/// Every tile of texels deals the strata out anew.
fn stratum([x, y]: [u32; 2]) -> u32 {
    STRATA[y as usize % 4][x as usize % 4] ^ (hash(x / 4 + ((y / 4) << 16)) % 16)
}

/// A point of the unit square: one of sixteen of a Hammersley set, moved on along the lattice.
fn sample(stratum: u32, turn: u32) -> DVec2 {
    let mirrored = (0..4).map(|bit| (stratum >> bit & 1) << (3 - bit)).sum::<u32>();
    let point = DVec2::new(f64::from(stratum) + 0.5, f64::from(mirrored) + 0.5) / 16.0;
    (point + LATTICE * f64::from(turn)).fract()
}

/// An orthonormal basis whose third axis is `n`.
fn basis(n: DVec3) -> DMat3 {
    let other = if n.y.abs() < 0.8 { DVec3::Y } else { DVec3::X };
    let u = other.cross(n).normalize();
    DMat3::from_cols(u, n.cross(u), n)
}
