//! Sun visibility and short-range sky occlusion of first hits: the native twin of `shaders/render/light.wgsl`.

use glam::{Mat3, Vec2, Vec3};

use super::{
    scene::{BODY_FLOOR, BODY_SKY, FLAG_FLOOR, Scene, hash, smoothstep},
    trace::trace,
    walk::Ray,
};
use crate::{render::targets::HitData, svo::unpack_normal};

/// A light texel: share of the sun and of the sky that is seen, depth (0 for sky, negative for the floor) as words,
/// and the packed normal.
pub(super) type Texel = [u32; 4];

/// Which of the pixels under a light texel has its turn in this frame.
pub(super) fn turn(scene: &Scene<'_>) -> [u32; 2] {
    let frame = &scene.frame;
    [frame.accumulated % frame.light_step, (frame.accumulated >> 1) % frame.light_step]
}

/// A 4 x 4 tile of texels holds sixteen strata; every tile deals them out in an order of its own.
#[inline(always)]
fn stratum([x, y]: [u32; 2]) -> u32 {
    let (tx, ty) = (x & 3, y & 3);
    let d = tx ^ ty;
    let order = hash((x >> 2) | ((y >> 2) << 16));
    (((d & 1) << 3) | ((ty & 1) << 2) | ((d >> 1) << 1) | (ty >> 1)) ^ (order & 15)
}

fn basis(n: Vec3) -> Mat3 {
    let up = if n.y.abs() < 0.8 { Vec3::Y } else { Vec3::X };
    let u = up.cross(n);
    let u = u * u.length_recip();
    Mat3::from_cols(u, n.cross(u), n)
}

/// The light of one texel, whose pixel is at `at` and shows `hit`.
pub(super) fn light(scene: &Scene<'_>, texel: [u32; 2], at: [u32; 2], hit: &HitData) -> Texel {
    let frame = &scene.frame;
    if hit.body == BODY_SKY || !scene.has_bodies() {
        let depth = if hit.body == BODY_SKY { 0.0f32 } else { -1.0 };
        return [1.0f32.to_bits(), 1.0f32.to_bits(), depth.to_bits(), hit.normal];
    }
    let direction = scene.ray(at[0] as f32 + 0.5, at[1] as f32 + 0.5);
    let n = unpack_normal(hit.normal);
    let voxel = scene.bodies.get(hit.body as usize).map_or(0.0, |body| body.voxel);
    // Off the surface: past the steps between neighbouring voxels' planes, and past what a pixel can tell.
    let lift = (1.25 * voxel).max(frame.pixel_cone * hit.distance);
    let origin = frame.eye + direction * hit.distance + n * lift;
    let grid = basis(n);
    let sun_grid = basis(frame.sun);
    let is_facing = n.dot(frame.sun) > 0.0;
    let (mut sun, mut sky) = (0.0, 0.0);
    let strata = stratum(texel);
    let place =
        Vec2::new((strata as f32 + 0.5) / 16.0, (strata.reverse_bits() >> 28) as f32 / 16.0 + 0.03125);
    for s in 0..frame.samples {
        let turn_of = (frame.accumulated.wrapping_mul(frame.samples).wrapping_add(s)) as f32;
        // Sixteen strata of the unit square, shifted from frame to frame along the plastic-number lattice.
        let shift = (turn_of * Vec2::new(0.754_877_7, 0.569_840_3)).fract();
        let u = (place + shift).fract();
        let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
        let ring = Vec2::new(cos, sin) * u.x.sqrt();
        if is_facing {
            let aside = ring * frame.sun_radius;
            let l = frame.sun + sun_grid.x_axis * aside.x + sun_grid.y_axis * aside.y;
            let ray = Ray {
                origin,
                direction: l * l.length_recip(),
                cut_base: 0.0,
                cut_slope: (0.5 * frame.sun_radius).max(frame.pixel_cone),
                first: 0.5 * voxel,
                last: 1e9,
            };
            if trace(scene, &ray, true).body == BODY_SKY {
                sun += 1.0;
            }
        }
        let up = grid * ring.extend((1.0 - u.x).max(0.0).sqrt());
        let reach = frame.ao_reach;
        let mut distance = 1e30f32;
        if frame.flags & FLAG_FLOOR != 0 && up.y < 0.0 {
            distance = ((frame.floor_y - origin.y) / up.y).max(0.0);
        }
        let ray = Ray { origin, direction: up, cut_base: 0.0, cut_slope: 0.06, first: 0.0, last: reach };
        let near = trace(scene, &ray, false);
        if near.body != BODY_SKY {
            distance = distance.min(near.distance);
        }
        // What is near darkens fully; towards the end of the reach it fades out.
        sky += smoothstep(0.0, 1.0, (distance / reach).min(1.0));
    }
    let count = frame.samples.max(1) as f32;
    let depth = hit.distance * direction.dot(frame.forward);
    let depth = if hit.body == BODY_FLOOR { -depth } else { depth };
    [(sun / count).to_bits(), (sky / count).to_bits(), depth.to_bits(), hit.normal]
}
