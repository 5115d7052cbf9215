//! The overlay pass against a rasteriser on the CPU, sample by sample, and what follows from how lines and
//! discs are defined.

use std::sync::Arc;

use glam::{DVec4, Quat, Vec3};

use super::{
    fixtures::{By, Stage, Taken, altered, ball, rounded_box},
    reference,
};
use crate::{
    Camera, Lens, RenderOptions,
    overlay::{Line, Overlay, OverlayPass, Point, Triangle},
};

on_both!(
    the_overlay_matches_the_reference,
    what_is_behind_is_hidden_and_what_is_before_is_not,
    a_disc_stands_before_its_rim,
    a_refined_line_is_as_wide_as_it_says_and_a_disc_as_large
);

/// Colours agree to this: they are stored with eleven bits, and blended several times.
const TOLERANCE: f64 = 0.006;
/// Share of a frame's covered pixels that may differ more: a sample that lies on an edge may be on either
/// side of it, and so may a depth where two shapes pass through each other.
const ODD_PIXELS: f64 = 0.006;

/// Even in 0..1, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn point(&mut self, reach: f32) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next()) * (2.0 * reach) - reach
    }

    fn color(&mut self) -> [u8; 4] {
        [(); 4].map(|()| (self.next() * 200.0) as u8 + 55)
    }
}

/// Shapes all round and through two solids, some behind the eye.
fn shapes() -> Overlay {
    let mut rng = Random(7);
    let mut overlay = Overlay { lift: 0.02, through: 0.3, ..Overlay::default() };
    for i in 0..40 {
        let (near, reach) = (rng.point(0.9), if i % 2 == 0 { 6.0 } else { 0.7 });
        let far = near + rng.point(reach);
        // Either end may lie behind the eye.
        let (start, end) = if i % 4 == 0 { (far, near) } else { (near, far) };
        overlay.lines.push(Line { start, color: rng.color(), end, width: 0.6 + 5.0 * rng.next() });
    }
    for i in 0..60 {
        let (at, color) = (rng.point(if i % 10 == 0 { 6.0 } else { 0.8 }), rng.color());
        let (radius_pixels, radius_m) = (0.5 + 4.0 * rng.next(), 0.06 * rng.next());
        overlay.points.push(Point { at, color, radius_pixels, radius_m, back_pixels: 0.0 });
        // Its rim, which comes later and is larger.
        let (color, radius_pixels) = (rng.color(), radius_pixels + 2.0);
        overlay.points.push(Point { at, color, radius_pixels, radius_m, back_pixels: 2.0 + rng.next() });
    }
    for i in 0..30 {
        let (a, reach) = (rng.point(0.8), if i % 10 == 0 { 8.0 } else { 0.5 });
        let (b, c) = (a + rng.point(reach), a + rng.point(reach));
        overlay.triangles.push(Triangle { a, color: rng.color(), b, c });
        // A disc that the triangle passes through.
        let (at, color) = ((a + b + c) / 3.0, rng.color());
        overlay.points.push(Point { at, color, radius_pixels: 4.0, radius_m: 0.0, back_pixels: 0.0 });
    }
    overlay
}

fn stage(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.add(&ball(6), 1.2, Quat::from_rotation_x(0.6), Vec3::new(-0.3, 0.1, 0.0));
    stage.add(&rounded_box(6), 1.3, Quat::from_rotation_y(0.8), Vec3::new(0.5, -0.1, -0.2));
    // In the second frame of a refinement, the view is sheared.
    let lens = Some(Lens { f_stop: 0.3, focus: Some(1.5) });
    stage.options = RenderOptions { floor: Some(-0.6), lens, ..RenderOptions::default() };
    stage.size = [131, 90];
    stage.camera = Camera { distance: 3.0, ..Camera::default() };
    stage.overlay = Some(Arc::new(shapes()));
    Some(stage)
}

/// Share of the pixels with anything on them, in the reference or in the picture, that differ.
fn odd(stage: &Stage, taken: &Taken) -> f64 {
    let overlay = stage.overlay.as_ref().expect("there is one");
    let wanted = reference::overlay(&taken.frame, &taken.hits, overlay);
    let got = taken.overlay.as_ref().expect("it was drawn");
    let (mut covered, mut odd) = (0, 0);
    for (wanted, got) in wanted.iter().zip(got) {
        let got = DVec4::from(got.map(f64::from));
        covered += usize::from(wanted.w > 0.0 || got.w > 0.0);
        odd += usize::from((*wanted - got).abs().max_element() > TOLERANCE);
    }
    assert!(covered > 3000, "only {covered} pixels have anything on them");
    odd as f64 / covered as f64
}

/// The largest share over two frames of a refinement from two sides, from near and from inside.
fn worst(stage: &mut Stage) -> f64 {
    let mut worst = 0.0_f64;
    for (yaw, distance) in [(0.6, 3.0), (3.4, 2.4), (1.7, 0.7)] {
        stage.camera = Camera { yaw, distance, ..stage.camera };
        for k in 0..2 {
            let taken = stage.frame(k);
            worst = worst.max(odd(stage, &taken));
        }
    }
    worst
}

fn the_overlay_matches_the_reference(by: By) {
    let Some(mut stage) = stage(by) else { return };
    let worst = worst(&mut stage);
    println!("at most {:.2} % of a frame's covered pixels differ", worst * 100.0);
    assert!(worst <= ODD_PIXELS, "{:.2} % differ", worst * 100.0);
}

#[test]
fn errors_planted_in_the_overlay_are_found() {
    let Some(mut stage) = stage(By::Passes) else { return };
    let mut unnoticed = Vec::new();
    for (from, to) in ERRORS {
        let source = altered("render/overlay", from, to);
        stage.renderer.overlay = OverlayPass::from_source(&stage.gpu, source).unwrap();
        let share = worst(&mut stage);
        println!("`{to}` for `{from}`: {share:.3} of the covered pixels differ");
        if share <= 2.0 * ODD_PIXELS {
            unnoticed.push(to);
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}

/// What is replaced and by what.
const ERRORS: [(&str, &str); 16] = [
    ("(away - frame.jitter)", "(away + frame.jitter)"),
    ("vec2<f32>(1.0, -1.0)", "vec2<f32>(1.0, 1.0)"),
    ("const LINE_PULL = 0.9992;", "const LINE_PULL = 1.05;"),
    ("const POINT_PULL = 0.9984;", "const POINT_PULL = 0.9;"),
    ("POINT_PULL - (pixels - back) * frame.pixel_cone", "POINT_PULL"),
    ("(pixels - back)", "pixels"),
    ("const CORNER_RADIUS = 1.02339;", "const CORNER_RADIUS = 1.3;"),
    ("side + along * ends", "side"),
    ("a += (b - a) * ((near - a.z) / run);", "a.z = near;"),
    ("max(radius.x, radius.y / (frame.pixel_cone * p.z))", "radius.x"),
    ("(0.4 + 0.6 * facing)", "(0.5 + 0.5 * facing)"),
    ("vertex.depth - layer.lift", "vertex.depth"),
    ("hit.distance * dot(direction, frame.ahead)", "hit.distance"),
    ("select(1.0, layer.through, hidden)", "select(1.0, 0.0, hidden)"),
    ("vertex.color.xyz * alpha, alpha", "vertex.color.xyz, alpha"),
    ("vec4<f32>(linear_from_srgb(color.xyz), color.w)", "color"),
];

fn what_is_behind_is_hidden_and_what_is_before_is_not(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.add(&ball(6), 1.2, Quat::IDENTITY, Vec3::ZERO);
    let (plain, forward) = (stage.still(2), stage.camera.axes().forward);
    let at = |side: f32| Point {
        at: forward * (0.8 * side),
        color: [255, 0, 0, 255],
        radius_pixels: 4.0,
        radius_m: 0.0,
        back_pixels: 0.0,
    };
    let red = |p: &[u8]| p.chunks(4).filter(|c| c[0] > 200 && c[1] < 60 && c[2] < 60).count();
    assert_eq!(red(&plain), 0);
    let overlay = |points, through| Some(Arc::new(Overlay { points, through, ..Overlay::default() }));
    stage.overlay = overlay(vec![at(1.0)], 0.0);
    assert!(stage.still(2) == plain, "a point behind the ball shows");
    stage.overlay = overlay(vec![at(1.0)], 1.0);
    assert!(red(&stage.still(2)) > 30, "it shows through");
    stage.overlay = overlay(vec![at(-1.0)], 0.0);
    assert!(red(&stage.still(2)) > 30, "one before the ball is hidden");
    stage.overlay = overlay(Vec::new(), 0.0);
    assert!(stage.still(2) == plain, "an empty overlay changes the picture");
}

/// A rim is larger than its disc, and would hide it if it came forward by its radius.
fn a_disc_stands_before_its_rim(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    let disc = |color, radius_pixels, back_pixels| Point {
        at: Vec3::ZERO,
        color,
        radius_pixels,
        radius_m: 0.0,
        back_pixels,
    };
    let inner = disc([255, 0, 0, 255], 5.0, 0.0);
    let counts = |stage: &mut Stage, points: Vec<Point>| {
        stage.overlay = Some(Arc::new(Overlay { points, ..Overlay::default() }));
        let picture = stage.still(2);
        let of = |is: fn(&[u8]) -> bool| picture.chunks(4).filter(|c| is(c)).count();
        [of(|c| c[0] > 200 && c[1] < 60 && c[2] < 60), of(|c| c[1] > 200 && c[0] < 60 && c[2] < 60)]
    };
    let [alone, _] = counts(&mut stage, vec![inner]);
    for back in [4.0, 6.0] {
        let [red, green] = counts(&mut stage, vec![inner, disc([0, 255, 0, 255], 8.0, back)]);
        assert!(red * 10 >= alone * 9, "{red} of {alone} pixels are left of the disc");
        assert!(green > 40, "{green} pixels of the rim");
    }
    let [red, _] = counts(&mut stage, vec![inner, disc([0, 255, 0, 255], 8.0, 0.0)]);
    assert_eq!(red, 0, "what comes forward by its radius hides what is smaller");
}

/// Alpha over nothing adds up to what lines and discs cover by their definition, and the refinement does not spread it.
fn a_refined_line_is_as_wide_as_it_says_and_a_disc_as_large(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.options.transparent = true;
    stage.size = [96, 64];
    let axes = stage.camera.axes();
    let covered = |picture: &[u8], row: Option<usize>| -> f64 {
        let sums = picture.chunks(4 * 96).map(|r| r.chunks(4).map(|p| f64::from(p[3]) / 255.0).sum::<f64>());
        match row {
            Some(row) => sums.clone().nth(row).unwrap_or(0.0),
            None => sums.sum(),
        }
    };
    for width in [0.8, 1.5, 4.0] {
        let (start, end) = (axes.up * 0.7 + axes.right * 0.123, axes.up * -0.7 + axes.right * 0.123);
        let line = Line { start, color: [255; 4], end, width };
        stage.overlay = Some(Arc::new(Overlay { lines: vec![line], ..Overlay::default() }));
        let picture = stage.still(64);
        let sum = covered(&picture, Some(32));
        assert!((sum - f64::from(width)).abs() < 0.06, "a line of {width} pixels covers {sum}");
        // It is blurred by the jitter alone, 0.6 of a pixel each way.
        let touched = picture[4 * 96 * 32..4 * 96 * 33].chunks(4).filter(|p| p[3] > 8).count();
        assert!(touched as f32 <= width + 3.0, "a line of {width} pixels touches {touched}");
        assert!(picture == stage.still(64), "the same line again is another");
    }
    for radius_pixels in [1.2, 3.0, 9.0] {
        let disc =
            Point { at: axes.right * 0.05, color: [255; 4], radius_pixels, radius_m: 0.0, back_pixels: 0.0 };
        stage.overlay = Some(Arc::new(Overlay { points: vec![disc], ..Overlay::default() }));
        let (sum, area) =
            (covered(&stage.still(64), None), std::f64::consts::PI * f64::from(radius_pixels).powi(2));
        assert!((sum / area - 1.0).abs() < 0.04, "a disc of {area} pixels covers {sum}");
    }
}
