//! What the passes of a picture ought to give, in plain f64 on the CPU. Nothing here shares code with the kernels.

mod blit;
mod compose;
mod first_hit;
mod hairline;
mod light;
mod look;
mod overlay;
mod rays;
mod surface;

use glam::{DVec2, DVec3};

pub use blit::blit;
pub use compose::{Inputs, compose};
pub use first_hit::first_hit;
pub use light::{Texel, light};
pub use look::{leaves_of, look};
pub use overlay::overlay;
pub use rays::{Ray, nearest};
pub use surface::{nearest_triangle, surface_look, triangles};

use crate::tables::FrameData;

/// `hits[..].body` of a pixel without a body.
const SKY: u32 = u32::MAX;
const FLOOR: u32 = u32::MAX - 1;

/// From the eye through a place in the picture (pixels from the top left corner), of length 1 along the view.
fn through(frame: &FrameData, place: DVec2) -> DVec3 {
    let size = DVec2::new(f64::from(frame.size[0]), f64::from(frame.size[1]));
    let uv = (place + DVec2::from(frame.jitter.map(f64::from))) / size;
    frame.forward.as_dvec3()
        + frame.right.as_dvec3() * (2.0 * uv.x - 1.0)
        + frame.up.as_dvec3() * (1.0 - 2.0 * uv.y)
}

/// Into the picture, unit, whatever a lens does to the rays.
fn ahead(frame: &FrameData) -> DVec3 {
    frame.up.as_dvec3().cross(frame.right.as_dvec3()).normalize()
}

/// The pixel under light texel (x, y) whose turn it is: the frame's number picks it, column by its lowest
/// bit, row by the next.
fn pixel_of_texel(frame: &FrameData, [x, y]: [u32; 2]) -> [u32; 2] {
    let step = frame.light_step;
    let turn = [frame.accumulated % step, frame.accumulated / 2 % step];
    [(x * step + turn[0]).min(frame.size[0] - 1), (y * step + turn[1]).min(frame.size[1] - 1)]
}

fn centre_of([x, y]: [u32; 2]) -> DVec2 {
    DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5)
}

/// 0 below `low`, 1 above `high`, a cubic between.
fn smoothstep(low: f64, high: f64, x: f64) -> f64 {
    let x = ((x - low) / (high - low)).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// A bijective hash of 32 bits: two rounds of multiply and fold, with the kernels' constants.
fn hash(value: u32) -> u32 {
    let fold = |v: u32, shift: u32| v ^ (v >> shift);
    let v = fold(value.wrapping_mul(0x9e37_79b1), 15).wrapping_mul(0x85eb_ca77);
    fold(fold(v, 13).wrapping_mul(0xc2b2_ae3d), 16)
}
