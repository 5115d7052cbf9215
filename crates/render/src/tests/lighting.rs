//! What light and the shadow catcher must show, whatever the scene.

use glam::{DVec3, Quat, Vec3};

use super::{
    fixtures::{By, Stage, ball},
    passes::other_lighting,
};
use crate::{Camera, Checker, Lighting, PixelHit, RenderOptions, Rgb};

on_both!(
    the_default_is_the_studio,
    a_shadow_catcher_shows_shadows_and_nothing_else,
    odd_light_draws_something_sane,
    squares_of_the_floor_have_their_size
);

const SUN: Vec3 = Vec3::new(-0.335, 0.735, 0.589);

/// A ball of radius 0.4 m over a floor, seen from the side to which its shadow falls.
fn ball_over_floor(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.add(&ball(5), 1.0, Quat::IDENTITY, Vec3::Y * 0.8);
    let target = Vec3::Y * 0.3;
    stage.camera =
        Camera { target, distance: 5.0, yaw: std::f32::consts::PI, pitch: 0.9, ..Camera::default() };
    stage.options.floor = Some(0.0);
    Some(stage)
}

fn the_default_is_the_studio(by: By) {
    let Some(mut stage) = ball_over_floor(by) else { return };
    let picture = stage.still(2);
    let frame = stage.frame(0).frame;
    assert_eq!((frame.sun, frame.sun_radius), (SUN.normalize(), 0.045));
    assert_eq!([frame.sun_tint, frame.sky_tint, frame.lamp_tint], [Vec3::ONE; 3]);
    // Nothing but a floor.
    assert_eq!((frame.flags, frame.ahead), (1, frame.forward));
    stage.options = RenderOptions {
        lighting: Lighting::default(),
        lens: None,
        catches_shadows: false,
        ..stage.options.clone()
    };
    assert!(picture == stage.still(2), "the explicit default is another picture");
    stage.options.lighting = other_lighting();
    assert!(picture != stage.still(2), "light changes nothing");
}

fn a_shadow_catcher_shows_shadows_and_nothing_else(by: By) {
    let Some(mut stage) = ball_over_floor(by) else { return };
    (stage.options.transparent, stage.options.catches_shadows) = (true, true);
    let picture = stage.still(1);
    let [width, height] = stage.size;
    let shadow = Vec3::Y * 0.8 - SUN * (0.8 / SUN.y);
    let (mut umbra, mut open, mut bodies) = (0, 0, 0);
    for (i, hit) in (0..).zip(stage.hits()) {
        let alpha = picture[4 * i as usize + 3];
        let distance = match hit {
            PixelHit::Sky => {
                assert_eq!(alpha, 0, "sky at pixel {i}");
                continue;
            }
            PixelHit::Body { .. } => {
                assert_eq!(alpha, 255, "the ball at pixel {i}");
                bodies += 1;
                continue;
            }
            PixelHit::Floor(distance) => distance,
        };
        let at = [(i % width) as f32 + 0.5, (i / width) as f32 + 0.5];
        let (eye, ray) =
            stage.camera.ray(at[0] / width as f32, at[1] / height as f32, width as f32 / height as f32);
        let point = eye + ray * distance;
        if point.distance(shadow) < 0.15 {
            assert!(f32::from(alpha) > 0.3 * 255.0, "alpha {alpha} in the umbra");
            umbra += 1;
        } else if point.distance(shadow) > 1.4 && point.length() > 1.4 {
            assert_eq!(alpha, 0, "open floor at {point}");
            open += 1;
        }
    }
    assert!(umbra > 5 && open > 50 && bodies > 50, "{umbra} {open} {bodies}");
    // Without a floor there is nothing to catch them, and an opaque picture has its floor.
    stage.options.floor = None;
    assert!(stage.still(1).chunks(4).all(|pixel| pixel[3] == 0 || pixel[3] == 255));
    (stage.options.floor, stage.options.transparent) = (Some(0.0), false);
    let opaque = stage.still(1);
    stage.options.catches_shadows = false;
    assert!(opaque == stage.still(1), "an opaque picture catches shadows");
}

fn odd_light_draws_something_sane(by: By) {
    let Some(mut stage) = ball_over_floor(by) else { return };
    let plain = Lighting::default();
    let dark = Lighting { sun_strength: 0.0, sky_strength: 0.0, lamp_strength: 0.0, ..plain };
    let odd = [
        dark,
        Lighting { sun_direction: DVec3::new(0.3, -1.0, 0.2), ..plain },
        Lighting { sun_direction: DVec3::X, sky_strength: 0.0, sun_softness: 0.5, ..plain },
        Lighting { sun_direction: DVec3::NAN, sun_strength: f64::INFINITY, sun_softness: 0.0, ..plain },
        Lighting { sky_color: Rgb([0; 3]), sun_color: Rgb([0; 3]), floor_color: Some(Rgb([0; 3])), ..plain },
    ];
    for lighting in odd {
        for transparent in [false, true] {
            stage.options =
                RenderOptions { lighting, transparent, catches_shadows: true, ..stage.options.clone() };
            for k in 0..2 {
                let history = stage.frame(k).history;
                let is_sane = |pixel: &[f32; 4]| pixel.iter().all(|v| (0.0..=1.001).contains(v));
                assert!(history.iter().all(is_sane), "{lighting:?}, transparent: {transparent}");
            }
        }
    }
    // Without any light, the ball is black.
    stage.options = RenderOptions { lighting: dark, transparent: true, ..stage.options.clone() };
    let taken = stage.frame(0);
    let shown = taken.hits.iter().zip(&taken.history).filter(|(hit, _)| hit.body == 0);
    assert!(shown.clone().count() > 50 && shown.clone().all(|(_, mean)| mean[..3].iter().all(|v| *v < 1e-3)));
}

fn squares_of_the_floor_have_their_size(by: By) {
    let Some(mut stage) = ball_over_floor(by) else { return };
    stage.bodies.clear();
    let checker = Checker { color: Rgb([40, 40, 220]), size: 0.5 };
    let floor_color = Some(Rgb([220, 40, 40]));
    stage.options.lighting = Lighting { floor_color, floor_checker: Some(checker), ..Lighting::default() };
    let picture = stage.still(1);
    let [width, height] = stage.size.map(|side| side as f32);
    let mut seen = [0, 0];
    for (i, hit) in stage.hits().iter().enumerate() {
        let PixelHit::Floor(distance) = hit else { continue };
        let at = [(i % 96) as f32 + 0.5, (i / 96) as f32 + 0.5];
        let (eye, ray) = stage.camera.ray(at[0] / width, at[1] / height, width / height);
        let point = eye + ray * *distance;
        let place = [point.x / 0.5, point.z / 0.5];
        if point.length() > 1.5 || place.iter().any(|v| (v - v.round()).abs() < 0.1) {
            continue;
        }
        let is_other = (place[0].floor() + place[1].floor()) as i32 & 1 == 1;
        assert_eq!(picture[4 * i + 2] > picture[4 * i], is_other, "at {point}");
        seen[usize::from(is_other)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    // Squares without a floor colour, or without squares: nothing changes.
    stage.options.lighting.floor_color = None;
    let without = stage.still(1);
    stage.options.lighting.floor_checker = None;
    assert!(without == stage.still(1), "squares on an unpainted floor");
}
