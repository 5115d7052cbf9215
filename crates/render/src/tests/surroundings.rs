//! A picture of all directions behind a scene: where it is seen, from where it lights, what the floor takes of it.

use glam::{Quat, Vec3};

use super::{
    fixtures::{By, Stage, ball},
    passes::{Scene, relit_solids, vase},
};
use crate::{Backdrop, Camera, Lighting, PixelHit, RenderOptions, Surroundings};

on_both!(
    a_red_upper_half_lights_from_above,
    the_middle_of_the_picture_lies_ahead_and_turns,
    its_own_ground_is_seen_without_a_line_and_takes_shadows,
    a_picture_that_was_not_read_changes_nothing
);

/// A picture in memory, by shares of its width and height.
fn picture(light: impl Fn(f32, f32) -> [f32; 3]) -> Option<Backdrop> {
    let [width, height] = [64, 32];
    let at = |x: u32, y: u32| light((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32);
    Some(Backdrop::of(Surroundings::new([width, height], at)))
}

/// Soft in every channel, so that the two ways to a picture differ by rounding alone.
fn soft() -> Option<Backdrop> {
    picture(|u, v| {
        let round = |shift: f32| 0.5 + 0.4 * libm::sinf((u + shift) * std::f32::consts::TAU);
        [0.9 * round(0.0) + 0.2 * (1.0 - v), 0.7 * round(0.3), 0.8 * round(0.6) + 0.3 * (1.0 - v)]
    })
}

/// A ball that is looked at from straight ahead, which nothing lights but a picture.
fn stage(by: By, backdrop: Option<Backdrop>) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.add(&ball(5), 1.0, Quat::IDENTITY, Vec3::ZERO);
    stage.camera = Camera { target: Vec3::ZERO, distance: 2.5, yaw: 0.0, pitch: 0.0, fov_y: 0.8 };
    let lighting = Lighting { sun_strength: 0.0, lamp_strength: 0.0, ..Lighting::default() };
    stage.options = RenderOptions { floor: None, lighting, backdrop, ..RenderOptions::default() };
    Some(stage)
}

fn bytes(picture: &[u8], [x, y]: [usize; 2]) -> [u8; 3] {
    [0, 1, 2].map(|k| picture[4 * (y * 96 + x) + k])
}

fn a_red_upper_half_lights_from_above(by: By) {
    let halves = picture(|_, v| if v < 0.5 { [1.0, 0.05, 0.05] } else { [0.05, 0.05, 1.0] });
    let Some(mut stage) = stage(by, halves) else { return };
    let drawn = stage.still(2);
    let hits = stage.hits();
    let is_body = |y: &usize| matches!(hits[y * 96 + 48], PixelHit::Body { .. });
    let rows: Vec<usize> = (0..64).filter(is_body).collect();
    let (top, bottom) = (rows[2], rows[rows.len() - 3]);
    let seen = [[48, 2], [48, top], [48, bottom], [48, 61]].map(|at| bytes(&drawn, at));
    println!("{seen:?}");
    let [sky, lit_above, lit_below, ground] = seen;
    assert!(sky[0] > 2 * sky[2] && ground[2] > 2 * ground[0], "behind it: {sky:?}, {ground:?}");
    // The ball is orange: it reflects a third as much blue as red.
    assert!(lit_above[0] > 3 * lit_above[2], "from above: {lit_above:?}");
    assert!(lit_below[2] > lit_below[0], "from below: {lit_below:?}");
    // Its light has the sky's factor, and none of it is left without.
    stage.options.lighting.sky_strength = 0.0;
    let dark = stage.still(2);
    assert!(bytes(&dark, [48, top]).iter().all(|byte| *byte <= 3), "{:?}", bytes(&dark, [48, top]));
    assert_eq!(bytes(&dark, [48, 2]), sky, "what lies behind stays");
}

fn the_middle_of_the_picture_lies_ahead_and_turns(by: By) {
    // Red ahead (-z), green to the right, blue behind, white to the left.
    let quarters = picture(|u, _| match ((u + 0.125) * 4.0) as u32 % 4 {
        2 => [1.0, 0.0, 0.0],
        3 => [0.0, 1.0, 0.0],
        0 => [0.0, 0.0, 1.0],
        _ => [1.0, 1.0, 1.0],
    });
    let Some(mut stage) = stage(by, quarters) else { return };
    stage.bodies.clear();
    for (turn, wanted) in
        [(0.0, [true, false, false]), (90.0, [false, true, false]), (180.0, [false, false, true])]
    {
        if let Some(backdrop) = &mut stage.options.backdrop {
            backdrop.turn = turn;
        }
        let middle = bytes(&stage.still(1), [48, 32]);
        assert_eq!(middle.map(|byte| byte > 100), wanted, "turned by {turn} degrees: {middle:?}");
    }
}

fn its_own_ground_is_seen_without_a_line_and_takes_shadows(by: By) {
    let Some(mut stage) = stage(by, soft()) else { return };
    stage.camera = Camera { pitch: 0.6, distance: 4.0, ..stage.camera };
    let without = stage.still(2);
    stage.options.floor = Some(-0.4);
    let with = stage.still(2);
    let (mut open, mut shaded, mut odd) = (0, 0, 0);
    for (i, hit) in stage.hits().iter().enumerate() {
        let PixelHit::Floor(distance) = hit else { continue };
        let ([x, y], [a, b]) =
            ([i % 96, i / 96], [&without, &with].map(|picture| bytes(picture, [i % 96, i / 96])));
        let (eye, ray) = stage.camera.ray((x as f32 + 0.5) / 96.0, (y as f32 + 0.5) / 64.0, 1.5);
        let from_ball = (eye + ray * *distance).distance(Vec3::Y * -0.4);
        if from_ball > 1.3 {
            open += 1;
            odd += usize::from(a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > 2));
        } else if from_ball < 0.3 {
            shaded += usize::from(a.iter().zip(b).all(|(a, b)| b + 10 < *a));
        }
    }
    println!("{open} pixels of open floor, {odd} of them unlike the picture; {shaded} in shadow");
    assert!(open > 500 && odd == 0 && shaded > 0, "{open} {odd} {shaded}");
    // Transparent, the picture is gone, and the shadow stays.
    (stage.options.transparent, stage.options.catches_shadows) = (true, true);
    let clear = stage.still(2);
    let alphas = |is_wanted: fn(&PixelHit) -> bool| {
        let hits = stage.hits();
        let of: Vec<u8> =
            (0..hits.len()).filter(|i| is_wanted(&hits[*i])).map(|i| clear[4 * i + 3]).collect();
        of
    };
    assert!(alphas(|hit| *hit == PixelHit::Sky).iter().all(|alpha| *alpha == 0));
    assert!(alphas(|hit| matches!(hit, PixelHit::Floor(_))).iter().any(|alpha| *alpha > 40));
}

fn a_picture_that_was_not_read_changes_nothing(by: By) {
    let Some(mut stage) = stage(by, None) else { return };
    stage.options.floor = Some(-0.4);
    let plain = stage.still(1);
    stage.options.backdrop = soft();
    assert!(stage.still(1) != plain, "a picture changes nothing");
    stage.options.backdrop = Some(Backdrop::of_file("not-read.hdr"));
    assert!(stage.still(1) == plain, "one without texels does");
    stage.options.backdrop = None;
    assert!(stage.still(1) == plain, "one that is taken away stays");
}

/// Glass, gold and glossy bodies before a picture, one with a floor, one with nothing but its shadows.
pub(super) fn pictured(by: By) -> Option<[Scene; 2]> {
    let mut scenes = [relit_solids(by)?, vase(by)?];
    for (k, view) in scenes.iter_mut().flat_map(|scene| &mut scene.views).enumerate() {
        view.options.backdrop = soft().map(|of| of.placed_at(40.0 * k as f64, 1.3));
        (view.options.transparent, view.options.catches_shadows) = (k % 3 == 2, true);
    }
    Some(scenes)
}
