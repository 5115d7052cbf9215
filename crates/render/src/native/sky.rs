//! What lies behind the scene and lights it: a studio's gradients, or a picture of all directions.
//!
//! In: directions of a run of pixels. Out: the light from there, as `shaders/render/compose.wgsl` has it.

#![allow(
    clippy::needless_range_loop,
    reason = "one index walks many arrays, so that the loop becomes vector code"
)]

use super::{
    colors::{Colors, Rgb},
    filter::{RUN, Surfaces},
    scene::Scene,
    wide::{mix, smooth, unit},
};

/// Three numbers for each pixel of a run.
pub(super) type Triples = [[f32; RUN]; 3];

/// Share of the zenith's colour in the backdrop of a studio, at a height of `y`: warm grey at the horizon, cooler and darker
/// above.
#[inline(always)]
pub(super) fn height(y: f32) -> f32 {
    let h = unit(y * 1.6 + 0.08);
    h * h * (3.0 - 2.0 * h)
}

/// Share of the sky's light (the rest is the ground's) on a surface whose normal has the vertical component `y`.
#[inline(always)]
fn above(y: f32) -> f32 {
    smooth(-1.0, 1.0, y)
}

/// Mixes two colours by a share for each pixel.
#[inline(always)]
fn mixed(low: Rgb, high: Rgb, share: impl Fn(usize) -> f32) -> Triples {
    let mut mixed = [[0.0f32; RUN]; 3];
    for i in 0..RUN {
        let share = share(i);
        for k in 0..3 {
            mixed[k][i] = mix(low[k], high[k], share);
        }
    }
    mixed
}

/// The light from each of a run of directions.
fn each(directions: &Triples, light: impl Fn([f32; 3]) -> Rgb) -> Triples {
    let mut lights = [[0.0f32; RUN]; 3];
    for i in 0..RUN {
        let light = light([directions[0][i], directions[1][i], directions[2][i]]);
        for k in 0..3 {
            lights[k][i] = light[k];
        }
    }
    lights
}

/// What lies behind the scene.
#[inline(always)]
pub(super) fn backdrop(scene: &Scene<'_>, colors: &Colors, directions: &Triples) -> Triples {
    match &scene.surroundings {
        Some(picture) => each(directions, |direction| picture.light(direction)),
        None => mixed(colors.horizon, colors.zenith, |i| height(directions[1][i])),
    }
}

/// What white matt surfaces reflect of sky and ground.
#[inline(always)]
pub(super) fn sky_light(scene: &Scene<'_>, colors: &Colors, normals: &Triples) -> Triples {
    match &scene.surroundings {
        Some(picture) => each(normals, |normal| tinted(scene, picture.diffuse(normal))),
        None => mixed(colors.ground, colors.sky, |i| above(normals[1][i])),
    }
}

/// What surfaces mirror of the sky from these directions: glass a clear picture, others a blurred one.
#[inline(always)]
pub(super) fn mirrored_sky(
    scene: &Scene<'_>,
    colors: &Colors,
    directions: &Triples,
    is_clear: bool,
) -> Triples {
    match &scene.surroundings {
        Some(picture) if is_clear => each(directions, |direction| tinted(scene, picture.light(direction))),
        Some(picture) => each(directions, |direction| tinted(scene, picture.blurred(direction))),
        None => mixed(colors.ground, colors.sky, |i| above(directions[1][i])),
    }
}

/// The directions from which a run of surfaces mirrors light to the eye.
#[inline(always)]
pub(super) fn mirrored(of: &Surfaces) -> Triples {
    let mut mirrored = [[0.0f32; RUN]; 3];
    for i in 0..RUN {
        let [dx, dy, dz] = [of.direction[0][i], of.direction[1][i], of.direction[2][i]];
        let [nx, ny, nz] = [of.normal[0][i], of.normal[1][i], of.normal[2][i]];
        let nv = -(nx * dx + ny * dy + nz * dz);
        for k in 0..3 {
            mirrored[k][i] = of.direction[k][i] + 2.0 * nv * of.normal[k][i];
        }
    }
    mirrored
}

/// A frame's colours; with a picture, its sky is what the picture sheds on what faces up.
#[inline(always)]
pub(super) fn colors_of(scene: &Scene<'_>) -> Colors {
    let mut colors = Colors::of(&scene.frame);
    if let Some(picture) = &scene.surroundings {
        colors.sky = tinted(scene, picture.diffuse([0.0, 1.0, 0.0]));
    }
    colors
}

fn tinted(scene: &Scene<'_>, light: Rgb) -> Rgb {
    let tint = scene.frame.sky_tint;
    [light[0] * tint.x, light[1] * tint.y, light[2] * tint.z]
}
