//! What must be seen where, whatever the light.

use glam::{Quat, Vec3};

use super::fixtures::{By, Stage, ball, rounded_box, torus};
use crate::{ColorBy, PixelHit};

on_both!(
    a_solid_ball_has_no_holes_and_looks_like_one,
    a_turned_ball_keeps_its_silhouette,
    moving_a_body_moves_its_pixels,
    odd_inputs_draw_something_sane,
    a_thousand_bodies_all_show,
    colourings_and_transparency_differ_where_they_should,
    refinement_smooths_edges_and_is_the_same_every_time
);

fn hits(stage: &mut Stage) -> Vec<PixelHit> {
    stage.still(1);
    stage.hits()
}

fn is_body(hit: &PixelHit) -> bool {
    matches!(hit, PixelHit::Body { .. })
}

fn silhouette(stage: &mut Stage) -> usize {
    hits(stage).iter().filter(|hit| is_body(hit)).count()
}

fn a_solid_ball_has_no_holes_and_looks_like_one(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.size = [160, 120];
    for (level, rotation) in
        [(5, Quat::IDENTITY), (6, Quat::from_rotation_y(0.5)), (7, Quat::from_rotation_x(1.0))]
    {
        stage.bodies.clear();
        stage.add(&ball(level), 1.0, rotation, Vec3::ZERO);
        for distance in [1.4, 4.0, 40.0] {
            stage.camera.distance = distance;
            let picture = stage.still(1);
            let hits = stage.hits();
            // Tangent cone of the ball (radius 0.4 m) in the picture, in pixels.
            let tangent = (0.4_f32 / distance).asin().tan() / (0.5 * stage.camera.fov_y).tan() * 60.0;
            let (mut inner, mut outer) = (0, 0);
            for (i, hit) in hits.iter().enumerate() {
                let (x, y) = ((i % 160) as f32 + 0.5 - 80.0, (i / 160) as f32 + 0.5 - 60.0);
                let r = x.hypot(y);
                if r < 0.95 * tangent {
                    inner += 1;
                    assert!(is_body(hit), "level {level}, {distance} m: a hole at {x} {y}");
                    let rgb = &picture[4 * i..4 * i + 3];
                    assert!(rgb.iter().any(|v| *v > 25), "level {level}: black at {x} {y}: {rgb:?}");
                } else if r > 1.06 * tangent + 1.0 {
                    outer += 1;
                    assert!(!is_body(hit), "level {level}, {distance} m: body outside at {x} {y}");
                }
            }
            assert!(inner > 3 && (outer > 1000 || distance < 2.0), "{inner} {outer}");
        }
    }
}

fn a_turned_ball_keeps_its_silhouette(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.size = [200, 150];
    stage.camera.distance = 1.8;
    let forest = ball(6);
    let mut areas = Vec::new();
    for k in 0..5 {
        stage.bodies.clear();
        stage.add(&forest, 1.0, Quat::from_scaled_axis(Vec3::new(0.7, 0.3, 1.1) * k as f32), Vec3::ZERO);
        areas.push(silhouette(&mut stage) as f32);
    }
    for area in &areas {
        assert!((area / areas[0] - 1.0).abs() < 0.02, "{areas:?}");
    }
}

fn moving_a_body_moves_its_pixels(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    let forest = rounded_box(5);
    stage.add(&forest, 1.0, Quat::IDENTITY, Vec3::ZERO);
    let column_of = |stage: &mut Stage| {
        let all = hits(stage);
        let width = stage.size[0] as usize;
        let columns: Vec<f32> =
            all.iter().enumerate().filter(|(_, hit)| is_body(hit)).map(|(i, _)| (i % width) as f32).collect();
        columns.iter().sum::<f32>() / columns.len() as f32
    };
    let before = stage.still(1);
    let at_first = column_of(&mut stage);
    let right = stage.camera.axes().right;
    stage.bodies.clear();
    stage.add(&forest, 1.0, Quat::IDENTITY, right * 0.5);
    let after = stage.still(1);
    let shift = column_of(&mut stage) - at_first;
    let expected =
        0.5 / (stage.camera.distance * (0.5 * stage.camera.fov_y).tan() * 2.0) * stage.size[1] as f32;
    assert!((shift / expected - 1.0).abs() < 0.05, "moved {shift} pixels, expected {expected}");
    let changed = before.chunks(4).zip(after.chunks(4)).filter(|(a, b)| a != b).count();
    assert!(changed > 200, "{changed}");
}

fn odd_inputs_draw_something_sane(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    // No body at all, one pixel, then growing and shrinking.
    for size in [[1, 1], [0, 0], [33, 7], [128, 96], [3, 200]] {
        stage.size = size;
        stage.options.floor = (size[0] != 33).then_some(0.0);
        let picture = stage.still(2);
        assert_eq!(picture.len(), 4 * (size[0].max(1) * size[1].max(1)) as usize);
        assert!(picture.chunks(4).all(|p| p[3] == 255 && p[0] > 20), "{size:?}");
    }
    // Everything behind the camera.
    stage.size = [64, 48];
    let behind = stage.camera.eye() - stage.camera.axes().forward * 2.0;
    stage.add(&ball(5), 1.0, Quat::IDENTITY, behind);
    assert_eq!(silhouette(&mut stage), 0);
    // The eye inside the solid: all of it is body, none of it is NaN (which encodes as 0).
    let eye = stage.camera.eye();
    stage.add(&ball(5), 1.0, Quat::IDENTITY, eye);
    assert_eq!(silhouette(&mut stage), 64 * 48);
    assert!(stage.still(2).chunks(4).all(|p| p[3] == 255 && p[..3].iter().any(|v| *v > 0)));
    // A body that cannot be drawn does not take the others along.
    stage.bodies.remove(1);
    stage.add(&torus(5), 1.0, Quat::IDENTITY, Vec3::ZERO);
    let whole = silhouette(&mut stage);
    stage.bodies[0].world_from_local = glam::Mat4::NAN;
    stage.camera.target.x += 1e-4;
    let left = silhouette(&mut stage);
    assert!(whole > 60 && left.abs_diff(whole) < 10, "{whole} {left}");
}

fn a_thousand_bodies_all_show(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.size = [320, 320];
    stage.camera = crate::Camera { yaw: 0.0, pitch: 0.0, distance: 80.0, fov_y: 0.8, ..stage.camera };
    let forest = ball(3);
    let slot = {
        stage.add(&forest, 1.8, Quat::IDENTITY, Vec3::ZERO);
        stage.bodies[0].clone()
    };
    stage.bodies.clear();
    for i in 0..1000u32 {
        let place = Vec3::new((i % 32) as f32 - 15.5, (i / 32) as f32 - 15.5, (i * 7 % 5) as f32)
            * Vec3::new(1.9, 1.9, 1.0);
        let pose = glam::Mat4::from_translation(place) * slot.world_from_local;
        stage.bodies.push(crate::RenderBody { world_from_local: pose, id: i, ..slot.clone() });
    }
    let mut seen = vec![false; 1000];
    for hit in hits(&mut stage) {
        if let PixelHit::Body { body, .. } = hit {
            seen[body] = true;
        }
    }
    let missing = seen.iter().filter(|s| !**s).count();
    assert_eq!(missing, 0);
}

fn colourings_and_transparency_differ_where_they_should(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.add(&rounded_box(5), 1.4, Quat::IDENTITY, Vec3::ZERO);
    let mask: Vec<bool> = hits(&mut stage).iter().map(is_body).collect();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for color_by in [ColorBy::Material, ColorBy::Piece, ColorBy::Normal, ColorBy::Crack, ColorBy::Level] {
        stage.options.color_by = color_by;
        let picture = stage.still(1);
        for other in &seen {
            let differ =
                (0..mask.len()).filter(|&i| mask[i] && other[4 * i..4 * i + 3] != picture[4 * i..4 * i + 3]);
            assert!(differ.count() * 2 > mask.iter().filter(|m| **m).count(), "{color_by:?}");
        }
        seen.push(picture);
    }
    stage.options.transparent = true;
    stage.options.floor = Some(0.0);
    let picture = stage.still(1);
    for (i, body) in mask.iter().enumerate() {
        assert_eq!(picture[4 * i + 3], if *body { 255 } else { 0 }, "pixel {i}");
    }
    // Selecting lights the rim and draws an outline, and changes nothing far away.
    let plain = picture;
    stage.bodies[0].selected = true;
    let chosen = stage.still(1);
    let outline = (0..mask.len()).filter(|&i| !mask[i] && chosen[4 * i + 3] > 0).count();
    assert!(outline > 40 && outline < 600, "{outline}");
    assert_eq!(plain[..4], chosen[..4]);
}

fn refinement_smooths_edges_and_is_the_same_every_time(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.add(&torus(5), 1.4, Quat::from_rotation_x(0.7), Vec3::ZERO);
    stage.options.transparent = true;
    let partial = |p: &[u8]| p.chunks(4).filter(|p| (16..240).contains(&p[3])).count();
    let rough = stage.still(1);
    let smooth = stage.still(8);
    assert_eq!(partial(&rough), 0);
    assert!(partial(&smooth) > 50, "{}", partial(&smooth));
    assert!(smooth == stage.still(8), "two stills of one scene differ");
}
