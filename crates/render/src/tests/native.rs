//! Whole pictures by the passes and on the cores, frame by frame of a refinement: two ways to one picture.
//!
//! Each stage agrees with its reference by itself (the other tests here); this is what their differences add up to.

use glam::{Quat, Vec3};

use super::{
    fixtures::{By, Stage, Taken, altered, ball},
    passes::{Scene, relit_solids, relit_vase, solids, vase},
    surfaces::surfaces,
    surroundings::pictured,
};
use crate::{gpu::Kernel, surfaces::read_texture};

/// Bytes of a pixel that count as equal.
const BYTE_TOLERANCE: u8 = 2;
/// Share of a frame's pixels that may differ more: rays that graze an edge meet it here and miss it there, and the
/// light filter spreads that over its neighbours; where two pieces touch, both are met at one distance, and either may
/// be what shows.
const ODD_PIXELS: f64 = 0.015;
/// Mean difference of a frame's bytes.
const MEAN: f64 = 0.1;

/// Share of the pixels that differ, and the mean difference of the bytes.
fn apart(a: &[u8], b: &[u8]) -> (f64, f64) {
    assert_eq!(a.len(), b.len());
    let odd = a.chunks(4).zip(b.chunks(4)).filter(|(a, b)| {
        let differs = |(a, b): (&u8, &u8)| a.abs_diff(*b) > BYTE_TOLERANCE;
        a.iter().zip(b.iter()).any(differs)
    });
    let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    (odd.count() as f64 / (a.len() / 4) as f64, sum as f64 / a.len() as f64)
}

/// Pixels at which another body shows: at the same distance, and elsewhere.
fn other_bodies(a: &Taken, b: &Taken) -> (usize, usize) {
    let others = a.hits.iter().zip(&b.hits).filter(|(a, b)| a.body != b.body);
    let is_tied = others.map(|(a, b)| (a.distance - b.distance).abs() < 1e-4 * a.distance);
    let tied: Vec<bool> = is_tied.collect();
    let count = tied.iter().filter(|tied| **tied).count();
    (count, tied.len() - count)
}

/// The largest of both over all views and frames; every frame is drawn by both.
fn worst(scene: &mut Scene) -> (f64, f64) {
    let mut worst = (0.0_f64, 0.0_f64);
    for view in std::mem::take(&mut scene.views) {
        let stage = &mut scene.stage;
        (stage.camera, stage.options, stage.size) = (view.camera, view.options.clone(), view.size);
        for k in 0..view.frames {
            let [a, b] = [By::Passes, By::Native].map(|by| {
                stage.by = by;
                stage.frame(k)
            });
            let (tied, elsewhere) = other_bodies(&a, &b);
            println!("{tied} pixels show another body at the same distance, {elsewhere} elsewhere");
            let (odd, mean) = apart(&a.picture, &b.picture);
            worst = (worst.0.max(odd), worst.1.max(mean));
        }
        scene.views.push(view);
    }
    worst
}

#[test]
fn whole_pictures_are_those_of_the_passes() {
    for open in [vase, solids, surfaces, relit_vase, relit_solids] {
        let Some(mut scene) = open(By::Passes) else { return };
        let (odd, mean) = worst(&mut scene);
        println!("at most {:.2} % of a frame's pixels differ, {mean:.3} bytes on average", odd * 100.0);
        assert!(odd <= ODD_PIXELS && mean <= MEAN, "{:.2} % differ, {mean:.3} bytes", odd * 100.0);
    }
}

/// Pictures of all directions lie behind, light and are mirrored.
#[test]
fn whole_pictures_before_a_picture_are_those_of_the_passes() {
    let Some(mut scenes) = pictured(By::Passes) else { return };
    let all = |scenes: &mut [Scene; 2]| {
        let [a, b] = scenes.each_mut().map(worst);
        (a.0.max(b.0), a.1.max(b.1))
    };
    let (odd, mean) = all(&mut scenes);
    println!("at most {:.2} % of a frame's pixels differ, {mean:.3} bytes on average", odd * 100.0);
    assert!(odd <= ODD_PIXELS && mean <= MEAN, "{:.2} % differ, {mean:.3} bytes", odd * 100.0);
    for (from, to) in [
        ("0.25 - angle, s > c", "0.2 - angle, s > c"),
        ("direction.x * s + direction.z * c", "direction.z * c"),
        ("let at = 7u + 3u * k;", "let at = 7u + 3u * (k % 4u);"),
        ("surroundings_blurred(direction) * frame.sky_tint", "sky_light(direction)"),
        ("usual = open;", "usual = 1.2 * open;"),
    ] {
        let text = altered("render/compose", from, to);
        for scene in &mut scenes {
            let kernel = Kernel::from_text(&scene.stage.gpu, "render/compose", text.clone());
            scene.stage.renderer.compose = kernel;
        }
        let (odd, mean) = all(&mut scenes);
        assert!(odd > 2.0 * ODD_PIXELS || mean > 2.0 * MEAN, "`{to}` for `{from}` goes unnoticed");
    }
}

#[test]
fn planted_errors_are_found() {
    let Some(mut scene) = vase(By::Passes) else { return };
    for (shader, from, to) in [
        ("render/primary", "return c * c;", "return c;"),
        ("render/light", "ring * frame.sun_radius", "ring * 4.0 * frame.sun_radius"),
        ("render/compose", "1.0 - 0.10 * dot(off, off)", "1.0 - 0.08 * dot(off, off)"),
    ] {
        let kernel = Kernel::from_text(&scene.stage.gpu, shader, altered(shader, from, to));
        let passes = &mut scene.stage.renderer;
        let place = match shader {
            "render/primary" => &mut passes.primary,
            "render/light" => &mut passes.light,
            _ => &mut passes.compose,
        };
        let right = std::mem::replace(place, kernel);
        let (odd, mean) = worst(&mut scene);
        println!("`{to}` for `{from}`: {:.2} % differ, {mean:.3} bytes on average", odd * 100.0);
        assert!(odd > 2.0 * ODD_PIXELS || mean > 2.0 * MEAN, "`{to}` for `{from}` goes unnoticed");
        let passes = &mut scene.stage.renderer;
        match shader {
            "render/primary" => passes.primary = right,
            "render/light" => passes.light = right,
            _ => passes.compose = right,
        }
    }
}

#[test]
fn the_window_s_texture_is_the_last_picture() {
    let Some(mut stage) = Stage::drawn_by(By::Native) else { return };
    assert!(stage.native.view(&stage.gpu).is_none(), "nothing was drawn yet");
    stage.add(&ball(5), 1.0, Quat::IDENTITY, Vec3::ZERO);
    let mut textures = Vec::new();
    for (size, yaw) in [([96, 64], 0.1), ([96, 64], 2.0), ([37, 50], 2.0)] {
        (stage.size, stage.camera.yaw) = (size, yaw);
        let picture = stage.still(1);
        for _ in 0..2 {
            let view = stage.native.view(&stage.gpu).expect("a picture");
            let shown = read_texture(&stage.gpu, view.texture()).expect("its pixels");
            assert!(shown == picture, "{size:?}, {yaw}: the texture shows another picture");
            textures.push(view.texture().clone());
        }
    }
    assert!(textures[..4].iter().all(|texture| *texture == textures[0]), "a texture serves while it fits");
}
