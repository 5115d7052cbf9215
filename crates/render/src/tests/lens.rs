//! How far what is out of focus is blurred, by the formula of a thin lens.

use glam::{Quat, Vec3};

use super::fixtures::{By, Stage, ball};
use crate::{Camera, Lens, RenderOptions};

const SIDE: u32 = 128;
const FOCUS: f64 = 2.0;
const LENS: Lens = Lens { f_stop: 0.1, focus: Some(FOCUS) };

/// A small ball in focus in the picture's left half, and one twice as far from the eye in its right half.
fn two_balls() -> Option<Stage> {
    let mut stage = Stage::drawn_by(By::Native)?;
    stage.size = [SIDE; 2];
    // The target lies between the two.
    stage.camera = Camera { distance: 3.0, yaw: 0.4, pitch: 0.2, ..Camera::default() };
    stage.options = RenderOptions { floor: None, transparent: true, ..RenderOptions::default() };
    let (eye, axes) = (stage.camera.eye(), stage.camera.axes());
    for (depth, aside) in [(FOCUS as f32, -0.15), (2.0 * FOCUS as f32, 0.15)] {
        let at: Vec3 = eye + (axes.forward + axes.right * aside) * depth;
        stage.add(&ball(6), 0.1, Quat::IDENTITY, at);
    }
    Some(stage)
}

/// Variance of what shows in the left and in the right half across and down the picture after 64 frames, square pixels.
fn spread(stage: &mut Stage, lens: Option<Lens>) -> [[f64; 2]; 2] {
    stage.options.lens = lens;
    stage.still(64);
    let history = stage.native.targets.history_pixels();
    let pixels = |half: u32| {
        let history = &history;
        (0..SIDE * SIDE).filter(move |i| i % SIDE / (SIDE / 2) == half).map(move |i| {
            let alpha = f64::from(history[i as usize][3]);
            ([f64::from(i % SIDE), f64::from(i / SIDE)], alpha)
        })
    };
    [0, 1].map(|half| {
        let total: f64 = pixels(half).map(|(_, alpha)| alpha).sum();
        assert!(total > 5.0, "half {half} shows {total} pixels");
        [0, 1].map(|axis| {
            let mean = pixels(half).map(|(at, alpha)| at[axis] * alpha).sum::<f64>() / total;
            pixels(half).map(|(at, alpha)| (at[axis] - mean).powi(2) * alpha).sum::<f64>() / total
        })
    })
}

#[test]
fn a_lens_blurs_to_the_circle_of_confusion() {
    let Some(mut stage) = two_balls() else { return };
    let (sharp, blurred) = (spread(&mut stage, None), spread(&mut stage, Some(LENS)));
    // A disc's variance along an axis is a sixteenth of its diameter's square.
    let diameter = |half: usize, axis: usize| 4.0 * (blurred[half][axis] - sharp[half][axis]).max(0.0).sqrt();
    let focal_length = 0.012 / (0.5 * f64::from(stage.camera.fov_y)).tan();
    let (aperture, depth) = (focal_length / LENS.f_stop, 2.0 * FOCUS);
    let circle = aperture * focal_length / (FOCUS - focal_length) * (depth - FOCUS) / depth;
    let expected = circle / 0.024 * f64::from(SIDE);
    assert!(expected > 15.0, "{expected}");
    for axis in [0, 1] {
        let (near, far) = (diameter(0, axis), diameter(1, axis));
        println!("axis {axis}: {near:.2} pixels in focus, {far:.2} beyond it, expected {expected:.2}");
        assert!(near < 1.0, "axis {axis}: what is in focus is blurred by {near} pixels");
        assert!((far / expected - 1.0).abs() < 0.15, "axis {axis}: {far} for {expected} pixels");
    }
}

#[test]
fn the_first_frame_is_sharp() {
    let Some(mut stage) = two_balls() else { return };
    let plain = stage.still(1);
    stage.options.lens = Some(LENS);
    assert!(plain == stage.still(1), "it is not that without a lens");
    let blurred = stage.still(4);
    stage.options.lens = None;
    assert!(blurred != stage.still(4), "the lens does nothing");
}
