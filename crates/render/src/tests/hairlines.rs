//! Lines between pieces that lie together: whole, on cracks only, and faint where pieces are many.

use std::sync::Arc;

use glam::{DVec3, Mat4, Quat, Vec3};

use super::fixtures::{By, Stage, altered, rounded_box, shape};
use crate::{
    Camera, PixelHit, RenderBody,
    fracture::{Fracturer, Pattern, Recipe, Source, Volume},
    geometry::srgb::precise_linear,
    gpu::Kernel,
    mesh::builtin,
    voxelize::{Progress, voxelize},
};

on_both!(
    the_line_of_a_crack_is_whole_at_every_size,
    a_line_does_not_flicker,
    a_gap_narrower_than_a_pixel_has_no_dots,
    there_is_no_line_but_on_cracks,
    a_heap_of_crumbs_stays_bright
);

/// Sizes of pictures, pixels.
const SIZES: [u32; 3] = [64, 200, 640];

/// A box of 1 m in two pieces that lie together; the crack runs down its front, four to one.
fn halves(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    let level = 6;
    let whole = Arc::new(
        voxelize(&builtin("box").expect("a shape"), level, &Progress::default()).expect("it fits").forest,
    );
    let side = f64::from(1u32 << level);
    let slant = DVec3::new(0.24, 0.06, 0.02);
    let seeds = [0.5, -0.5].map(|k| (DVec3::new(0.47, 0.5, 0.5) + slant * k) * side);
    let pattern = Pattern::from_points(&seeds, level).expect("good seeds");
    stage.arena.insert(&whole).expect("insert");
    let source = Source::new(&stage.arena, &whole, 0).expect("it is there");
    let fracturer = Fracturer::new(&stage.gpu).expect("the passes compile");
    let broken = fracturer.fracture(&source, &pattern, &Recipe::default()).expect("it breaks");
    stage.arena.insert(&broken.forest).expect("insert");
    for (i, piece) in broken.pieces.iter().enumerate() {
        stage.bodies.push(RenderBody {
            shape: shape(&broken.forest, piece.tree, piece.mass),
            world_from_local: Mat4::from_scale(Vec3::splat(1.0 / side as f32))
                * Mat4::from_translation(Vec3::splat(-0.5 * side as f32)),
            id: i as u32,
            object: 3,
            color: None,
            selected: false,
            mark: None,
            interior: Volume::default(),
            later: Default::default(),
        });
    }
    assert_eq!(stage.bodies.len(), 2);
    stage.camera = Camera { yaw: 0.35, pitch: 0.25, distance: 3.4, target: Vec3::ZERO, ..Camera::default() };
    Some(stage)
}

/// Share of its light that every pixel loses to lines of this width, with the first hits.
fn losses(stage: &mut Stage, width: f32, passes: u32) -> (Vec<f64>, Vec<PixelHit>) {
    let [without, with] = [0.0, width].map(|hairline| {
        stage.options.hairline = hairline;
        stage.still(passes)
    });
    let light = |p: &[u8]| precise_linear([p[0], p[1], p[2]][1]) + 1e-3;
    let loss = without.chunks(4).zip(with.chunks(4)).map(|(a, b)| 1.0 - light(b) / light(a)).collect();
    stage.options.hairline = 0.0;
    stage.still(1);
    (loss, stage.hits())
}

fn body(hit: &PixelHit) -> Option<usize> {
    if let PixelHit::Body { body, .. } = hit { Some(*body) } else { None }
}

/// Columns before a change of pieces, with their row.
fn borders(hits: &[PixelHit], width: usize) -> Vec<(usize, usize)> {
    let changes = |(y, row): (usize, &[PixelHit])| {
        let pairs = row
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| matches!((body(&pair[0]), body(&pair[1])), (Some(a), Some(b)) if a != b));
        pairs.map(|(x, _)| (x, y)).collect::<Vec<_>>()
    };
    hits.chunks(width).enumerate().flat_map(changes).collect()
}

/// The light that a row loses round a border, in pixels that are black.
fn lost_at(loss: &[f64], width: usize, (x, y): (usize, usize)) -> f64 {
    (x.saturating_sub(3)..(x + 5).min(width)).map(|x| loss[y * width + x]).sum()
}

/// The least and the largest light that a line of this width loses along the crack, as shares of what it should lose.
fn along(stage: &mut Stage, side: u32, width: f32, passes: u32) -> (f64, f64) {
    stage.size = [side, side];
    // Only the front is seen, and the crack is steep.
    stage.camera.pitch = 0.0;
    let (loss, hits) = losses(stage, width, passes);
    let mut borders = borders(&hits, side as usize);
    // At its ends the line runs over the edges of the box.
    let (first, last) = (borders[0].1, borders[borders.len() - 1].1);
    let end = 3 + side as usize / 40;
    borders.retain(|at| (first + end..last + 1 - end).contains(&at.1));
    assert!(borders.len() > side as usize / 4, "{} borders", borders.len());
    let wanted = 0.75 * f64::from(width);
    let shares = borders.iter().map(|at| lost_at(&loss, side as usize, *at) / wanted);
    shares.fold((f64::INFINITY, 0.0), |(least, most), share| (least.min(share), most.max(share)))
}

fn is_whole((least, most): (f64, f64)) -> bool {
    least > 0.8 && most < 1.2
}

fn the_line_of_a_crack_is_whole_at_every_size(by: By) {
    let Some(mut stage) = halves(by) else { return };
    for side in SIZES {
        // As in motion at half the resolution, in a file, and in a large file.
        for (width, passes) in [(0.6, 1), (1.0, 1), (1.0, 8), (2.6, 8)] {
            let shares = along(&mut stage, side, width, passes);
            println!(
                "{side} pixels, {width} wide, {passes} passes: {:.2} to {:.2} of its light",
                shares.0, shares.1
            );
            assert!(is_whole(shares), "{side} pixels, {width} wide, {passes} passes: {shares:?}");
        }
    }
}

/// By how much the light of the line changes while the box crosses the picture in steps of a part of a pixel.
fn flicker(stage: &mut Stage) -> f64 {
    stage.size = [200, 200];
    stage.camera.pitch = 0.25;
    let pixel = pixel(stage);
    let (right, start) = (stage.camera.axes().right, stage.camera.target);
    let at = |k: i32| {
        stage.camera.target = start + right * (pixel * 0.3 * k as f32);
        losses(stage, 0.8, 1).0.iter().sum()
    };
    let sums: Vec<f64> = (0..8).map(at).collect();
    stage.camera.target = start;
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    sums.iter().map(|sum| (sum / mean - 1.0).abs()).fold(0.0, f64::max)
}

fn a_line_does_not_flicker(by: By) {
    let Some(mut stage) = halves(by) else { return };
    let change = flicker(&mut stage);
    println!("the light of a line changes by {:.1} %", change * 100.0);
    assert!(change < 0.03, "{change:.3}");
}

/// The largest number of pixels that lose light where there must be no line.
fn strays(stage: &mut Stage) -> usize {
    let width = 200;
    stage.size = [200, 200];
    stage.camera.pitch = 0.25;
    let (loss, hits) = losses(stage, 1.2, 1);
    let is_border = |at: usize| {
        let (x, y) = (at % width, at / width);
        let near = (y.saturating_sub(1)..(y + 2).min(200))
            .flat_map(|y| (x.saturating_sub(1)..(x + 2).min(200)).map(move |x| y * width + x));
        let seen: Vec<usize> = near.filter_map(|at| body(&hits[at])).collect();
        seen.contains(&0) && seen.contains(&1)
    };
    let dark = |loss: &[f64]| loss.iter().filter(|loss| **loss > 0.02).count();
    assert!(dark(&loss) > 100, "there is no line at all");
    let off = (0..loss.len()).filter(|at| loss[*at] > 0.02 && !is_border(*at)).count();
    // Of two objects, and of one body.
    stage.bodies[1].object = 4;
    let of_two = dark(&losses(stage, 1.2, 1).0);
    stage.bodies[1].object = 3;
    let one = stage.bodies.pop().expect("two");
    let alone = dark(&losses(stage, 1.2, 1).0);
    stage.bodies.push(one);
    // Three pixels apart, and one before the other. Where only the front is seen, a shift makes the same gap
    // everywhere.
    stage.camera.pitch = 0.0;
    let (out, forward) = (away(stage), stage.camera.axes().forward);
    let (there, pixel) = (stage.bodies[1].world_from_local, pixel(stage));
    let [apart, before] = [out * (4.0 * pixel), forward * -0.2].map(|way| {
        stage.bodies[1].world_from_local = Mat4::from_translation(way) * there;
        dark(&losses(stage, 1.2, 1).0)
    });
    stage.bodies[1].world_from_local = there;
    println!(
        "dark pixels: {off} off the crack, {of_two} of two objects, {alone} of one body, {apart} apart, {before} before"
    );
    off.max(of_two).max(alone).max(apart).max(before)
}

/// Two pixels where the edge of one piece meets the other's bevel.
const MOST_STRAYS: usize = 3;

fn there_is_no_line_but_on_cracks(by: By) {
    let Some(mut stage) = halves(by) else { return };
    assert!(strays(&mut stage) <= MOST_STRAYS);
}

/// Pixels at which one sees the background through a gap of half a pixel, and how many of them have no line.
fn dots(stage: &mut Stage) -> [usize; 2] {
    let (camera, there) = (stage.camera, stage.bodies[1].world_from_local);
    // The eye is in the plane of the crack.
    let yaw = f32::atan2(-0.02, 0.24);
    stage.camera = Camera { yaw, pitch: 0.0, target: Vec3::X * -0.03, ..camera };
    stage.size = [200, 200];
    let out = away(stage) * (0.5 * pixel(stage));
    stage.bodies[1].world_from_local = Mat4::from_translation(out) * there;
    let (loss, hits) = losses(stage, 1.2, 1);
    (stage.camera, stage.bodies[1].world_from_local) = (camera, there);
    let holes: Vec<usize> = (1..hits.len() - 1)
        .filter(|at| {
            body(&hits[*at]).is_none() && body(&hits[at - 1]).is_some() && body(&hits[at + 1]).is_some()
        })
        .collect();
    [holes.len(), holes.iter().filter(|at| loss[**at] < 0.5).count()]
}

fn a_gap_narrower_than_a_pixel_has_no_dots(by: By) {
    let Some(mut stage) = halves(by) else { return };
    let [holes, pale] = dots(&mut stage);
    println!("one sees the background through {holes} pixels, {pale} of them without a line");
    assert!(holes > 20 && pale * 10 < holes, "{holes} {pale}");
}

/// The way on which the second half leaves the first across the picture.
fn away(stage: &Stage) -> Vec3 {
    let middle = |body: &RenderBody| {
        let (low, high) = body.bounds();
        body.world_from_local.transform_point3(low.midpoint(high))
    };
    let right = stage.camera.axes().right;
    right * (middle(&stage.bodies[1]) - middle(&stage.bodies[0])).dot(right).signum()
}

/// World width of a pixel at the box.
fn pixel(stage: &Stage) -> f32 {
    stage.camera.distance * (0.5 * stage.camera.fov_y).tan() * 2.0 / stage.size[1] as f32
}

/// A thousand crumbs of one object on a floor.
fn heap(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.options.floor = Some(0.0);
    stage.add(&rounded_box(4), 0.12, Quat::IDENTITY, Vec3::ZERO);
    let one = stage.bodies.pop().expect("it was added");
    for i in 0..1000u32 {
        let unit = |k: u32| {
            let mixed = (i * 8 + k + 1).wrapping_mul(0x9e37_79b1);
            ((mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) >> 8) as f32 / (1 << 24) as f32
        };
        let (angle, height) = (unit(1) * std::f32::consts::TAU, unit(3) * unit(4));
        let reach = 0.9 * (1.0 - height) * unit(2).sqrt();
        let place = Vec3::new(reach * angle.cos(), 0.05 + 0.6 * height, reach * angle.sin());
        let turn = Quat::from_scaled_axis(Vec3::new(unit(5), unit(6), unit(7)) * 6.0);
        let pose = Mat4::from_rotation_translation(turn, place) * one.world_from_local;
        stage.bodies.push(RenderBody { world_from_local: pose, id: i, ..one.clone() });
    }
    stage.camera = Camera { target: Vec3::new(0.0, 0.2, 0.0), distance: 4.0, ..Camera::default() };
    Some(stage)
}

/// Share of their light that crumbs lose.
fn gloom(stage: &mut Stage, side: u32) -> f64 {
    stage.size = [side, side];
    let (loss, hits) = losses(stage, 1.2, 1);
    let of_bodies: Vec<f64> =
        loss.iter().zip(&hits).filter(|(_, hit)| body(hit).is_some()).map(|(loss, _)| *loss).collect();
    of_bodies.iter().sum::<f64>() / of_bodies.len() as f64
}

fn a_heap_of_crumbs_stays_bright(by: By) {
    let Some(mut stage) = heap(by) else { return };
    for side in SIZES {
        let loss = gloom(&mut stage, side);
        println!("a heap in {side} pixels loses {:.1} %", loss * 100.0);
        assert!(loss < BRIGHT, "{side}: {loss:.3}");
    }
}

/// Share of its light that a heap may lose.
const BRIGHT: f64 = 0.05;

/// Whether a stage's lines are wrong.
type Finds = fn(&mut Stage) -> bool;

#[test]
fn planted_errors_are_found() {
    let (Some(mut halves), Some(mut heap)) = (halves(By::Passes), heap(By::Passes)) else { return };
    let finds: [(&str, &str, Finds); 6] = [
        ("k < 9; k++) {\n        let near", "k < 5; k++) {\n        let near", |s| {
            !is_whole(along(s, 64, 1.0, 1))
        }),
        ("min(beside, 3.0)", "beside * fract(frame.eye.x * 50.0)", |s| flicker(s) > 0.03),
        ("across *= 1.0 - beside;", "across = 0.0;", |s| dots(s)[1] * 10 >= dots(s)[0]),
        ("objects[a] == objects[b];", "objects[a] == objects[a];", |s| strays(s) > MOST_STRAYS),
        ("smoothstep(1.0, 2.0, max(abs(rise.x), abs(rise.y)))", "0.0", |s| strays(s) > MOST_STRAYS),
        ("1.0 - smoothstep(3.0, 6.0, borders)", "1.0", |s| gloom(s, 64) > BRIGHT),
    ];
    let last = finds.len() - 1;
    for (k, (from, to, finds)) in finds.into_iter().enumerate() {
        let stage = if k == last { &mut heap } else { &mut halves };
        stage.renderer.compose =
            Kernel::from_text(&stage.gpu, "render/compose", altered("render/compose", from, to));
        assert!(finds(stage), "`{to}` for `{from}` goes unnoticed");
    }
}
