//! Clipping planes: where caps lie, what they leave of the rest, and parity of passes and cores.

use glam::{Quat, Vec3};

use super::{
    fixtures::{By, Stage, Taken, altered, ball},
    surfaces::{body, broken_cube, clay, shape, sphere, surfaces},
};
use crate::{
    Clip, Clips, ColorBy, PixelHit, RenderOptions, gpu::Kernel, shape::PieceMesh, svo::unpack_normal,
};

on_both!(
    a_cap_lies_in_its_plane,
    a_surface_has_a_cap,
    touching_surfaces_have_caps_up_to_their_border,
    two_planes_leave_a_slice,
    the_floor_is_not_cut,
    what_is_taken_away_throws_no_shadow,
    the_cap_of_a_level_shows_large_octants,
);

/// Radius of the ball of [`ball_before_the_camera`], m, and its voxel.
const RADIUS: f32 = 0.4;
const VOXEL: f32 = 1.0 / 32.0;
/// Share of the pixels in which passes and cores may differ: at an edge either side may be met.
const ODD_PIXELS: f64 = 0.002;

/// A ball round the origin, seen along -z.
fn ball_before_the_camera(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.add(&ball(5), 1.0, Quat::IDENTITY, Vec3::ZERO);
    (stage.camera.yaw, stage.camera.pitch, stage.camera.distance) = (0.0, 0.0, 2.5);
    Some(stage)
}

fn up_to(normal: Vec3, at: f32) -> Clip {
    Clip { normal, at }
}

/// Rays of the picture with their hits.
fn rays(stage: &mut Stage) -> Vec<(Vec3, Vec3, PixelHit)> {
    stage.still(1);
    let [width, height] = stage.size;
    let aspect = width as f32 / height as f32;
    let hits = stage.hits();
    let along = (0..width * height).zip(hits).map(|(i, hit)| {
        let x = ((i % width) as f32 + 0.5) / width as f32;
        let y = ((i / width) as f32 + 0.5) / height as f32;
        let (origin, direction) = stage.camera.ray(x, y, aspect);
        (origin, direction, hit)
    });
    along.collect()
}

/// Checks that the cut of a ball through its middle is a disc at the plane's distance; `slack` is how far off its edge rays are
/// left out.
fn assert_is_disc(stage: &mut Stage, at: f32, slack: f32) {
    let mut on_disc = 0;
    for (origin, direction, hit) in rays(stage) {
        let distance = (at - origin.z) / direction.z;
        let place = (origin + direction * distance).truncate().length();
        let radius = (RADIUS * RADIUS - at * at).sqrt();
        if place < radius - slack {
            let PixelHit::Body { distance: found, .. } = hit else {
                panic!("{place} from the axis is {hit:?}")
            };
            assert!((found - distance).abs() < 1e-4, "{found} and not {distance}, {place} from the axis");
            on_disc += 1;
        } else if place > radius + slack {
            assert_eq!(hit, PixelHit::Sky, "{place} from the axis");
        }
    }
    assert!(on_disc > 300, "{on_disc} rays meet the disc");
}

fn a_cap_lies_in_its_plane(by: By) {
    let Some(mut stage) = ball_before_the_camera(by) else { return };
    // From the middle on, so that nothing of the ball is wider behind the plane.
    for at in [0.0, -0.13] {
        stage.options.clips = Clips::new([up_to(Vec3::Z, at)]);
        assert_is_disc(&mut stage, at, 2.0 * VOXEL);
    }
}

fn a_surface_has_a_cap(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    // A sphere of radius 0.5.
    stage.bodies.push(body(shape(sphere(4), &[]), Quat::from_rotation_y(0.3), Vec3::ZERO, 0));
    stage.bodies[0].interior = clay();
    (stage.camera.yaw, stage.camera.pitch, stage.camera.distance) = (0.0, 0.0, 2.5);
    stage.options.clips = Clips::new([up_to(Vec3::Z, 0.05)]);
    let widest = rays(&mut stage).into_iter().filter_map(|(origin, direction, hit)| {
        let PixelHit::Body { distance, .. } = hit else { return None };
        let at = (0.05 - origin.z) / direction.z;
        assert!((distance - at).abs() < 1e-4, "{distance} and not {at}");
        Some((origin + direction * distance).truncate().length())
    });
    let all: Vec<f32> = widest.collect();
    assert!(all.len() > 300, "{} rays", all.len());
    let radius = stage.bodies[0].bounds().1.max_element() * stage.bodies[0].world_from_local.x_axis.length();
    let most = all.iter().copied().fold(0.0, f32::max);
    assert!(most < radius && most > 0.85 * radius, "{most} of {radius}");
}

/// Two surfaces that share a face, as pieces of a mesh do: the cut has no hole behind it.
fn touching_surfaces_have_caps_up_to_their_border(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    for (i, x) in [-0.25f32, 0.25].into_iter().enumerate() {
        let cube = broken_cube();
        let half = cube.positions.iter().map(|p| *p * 0.5).collect();
        let cube = PieceMesh { positions: half, ..cube };
        stage.bodies.push(body(shape(cube, &[]), Quat::IDENTITY, Vec3::new(x, 0.0, 0.0), i as u32));
    }
    (stage.camera.yaw, stage.camera.pitch, stage.camera.distance) = (0.4, 0.1, 2.5);
    stage.options.clips = Clips::new([up_to(Vec3::Z, 0.1)]);
    let mut met = 0;
    for (origin, direction, hit) in rays(&mut stage) {
        let at = (0.1 - origin.z) / direction.z;
        let place = origin + direction * at;
        // Well within the cut of either cube, or on the border between them.
        if place.x.abs() < 0.48 && place.y.abs() < 0.23 {
            let PixelHit::Body { body, distance, .. } = hit else { panic!("{place} is {hit:?}") };
            assert!((distance - at).abs() < 1e-4, "{distance} and not {at} at {place}");
            assert!(place.x.abs() < 1e-3 || (body == 1) == (place.x > 0.0), "{body} at {place}");
            met += 1;
        }
    }
    assert!(met > 400, "{met} rays");
}

fn two_planes_leave_a_slice(by: By) {
    let Some(mut stage) = ball_before_the_camera(by) else { return };
    // From the side the slice is as thick as the planes are apart.
    stage.camera.yaw = std::f32::consts::FRAC_PI_2;
    stage.options.clips = Clips::new([up_to(Vec3::Z, 0.1), up_to(Vec3::NEG_Z, 0.05)]);
    let mut met = 0;
    for (origin, direction, hit) in rays(&mut stage) {
        if let PixelHit::Body { distance, .. } = hit {
            let z = (origin + direction * distance).z;
            assert!((-0.05 - 1e-4..=0.1 + 1e-4).contains(&z), "{z}");
            met += 1;
        }
    }
    assert!(met > 60, "{met} rays");
}

fn the_floor_is_not_cut(by: By) {
    let Some(mut stage) = ball_before_the_camera(by) else { return };
    stage.options.floor = Some(-0.5);
    stage.camera.pitch = 0.3;
    let whole = rays(&mut stage);
    stage.options.clips = Clips::new([up_to(Vec3::Y, -3.0)]);
    let cut = rays(&mut stage);
    for ((.., before), (origin, direction, after)) in whole.iter().zip(cut) {
        match (before, after) {
            (PixelHit::Floor(a), PixelHit::Floor(b)) => assert!((a - b).abs() < 1e-4),
            (PixelHit::Body { .. }, PixelHit::Floor(at)) => {
                assert!((origin.y + direction.y * at + 0.5).abs() < 1e-4, "the floor behind the ball");
            }
            (before, after) => assert_eq!(before, &after),
        }
    }
}

fn what_is_taken_away_throws_no_shadow(by: By) {
    let Some(mut stage) = ball_before_the_camera(by) else { return };
    stage.options.floor = Some(-0.45);
    stage.camera.pitch = 0.5;
    stage.options.samples = 4;
    let whole = stage.still(2);
    stage.options.clips = Clips::new([up_to(Vec3::Y, -3.0)]);
    let cut = stage.still(2);
    stage.bodies.clear();
    stage.options.clips = Clips::default();
    let empty = stage.still(2);
    let most = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    assert!(most(&whole, &empty) > 60, "the ball and its shadow are seen");
    // Dither alone may differ.
    assert!(most(&cut, &empty) <= 2, "{} of 255", most(&cut, &empty));
}

/// On a cap the octree's large octants are coloured by their levels, which no ray from outside sees.
fn the_cap_of_a_level_shows_large_octants(by: By) {
    let Some(mut stage) = ball_before_the_camera(by) else { return };
    stage.options.color_by = ColorBy::Level;
    stage.options.clips = Clips::new([up_to(Vec3::Z, -0.01)]);
    let taken = stage.frame(0);
    let at = (stage.size[1] / 2 * stage.size[0] + stage.size[0] / 2) as usize;
    let colors = |look: u32| look & 0xff_ffff;
    let middle = colors(taken.looks[at]);
    let edge =
        taken.hits.iter().zip(&taken.looks).filter(|(hit, _)| hit.body == 0).map(|(_, look)| colors(*look));
    let mut seen: Vec<u32> = edge.collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= 3 && seen.contains(&middle), "{seen:x?}");
}

/// Octrees, surfaces with and without voxels and a convex polyhedron, cut by two planes.
fn cut_bodies(by: By) -> Option<Stage> {
    let mut stage = surfaces(by)?.stage;
    let clips = Clips::new([up_to(Vec3::new(0.3, 0.1, 1.0), 0.2), up_to(Vec3::new(-1.0, 0.4, 0.2), 0.9)]);
    stage.options = RenderOptions { clips, ..stage.options.clone() };
    Some(stage)
}

/// Share of the pixels of which two pictures show another body, distance, colour or normal.
fn share_that_differs(one: &Taken, other: &Taken) -> f64 {
    let mut odd = 0;
    for (i, (a, b)) in one.hits.iter().zip(&other.hits).enumerate() {
        let [la, lb] = [one.looks[i], other.looks[i]].map(|look| look.to_le_bytes());
        let color = (0..3).map(|k| la[k].abs_diff(lb[k])).max().unwrap();
        let turned = unpack_normal(a.normal).dot(unpack_normal(b.normal)) < 0.99;
        let same = a.body == b.body && (a.distance - b.distance).abs() <= 1e-3 * a.distance.abs();
        odd += usize::from(!same || color > 6 || turned);
    }
    odd as f64 / one.hits.len() as f64
}

#[test]
fn passes_and_cores_cut_alike() {
    let (Some(mut passes), Some(mut cores)) = (cut_bodies(By::Passes), cut_bodies(By::Native)) else {
        return;
    };
    let share = share_that_differs(&passes.frame(0), &cores.frame(0));
    println!("{:.3} % of the pixels differ", share * 100.0);
    assert!(share <= ODD_PIXELS, "{:.2} % of the pixels differ", share * 100.0);
}

#[test]
fn errors_planted_in_the_cut_are_found() {
    let (Some(mut passes), Some(mut cores)) = (cut_bodies(By::Passes), cut_bodies(By::Native)) else {
        return;
    };
    let right = cores.frame(0);
    let mut unnoticed = Vec::new();
    for (from, to) in [
        ("dot(plane.xyz, origin) - plane.w", "dot(plane.xyz, origin)"),
        ("if distance > found.first {", "if distance < found.first {"),
        ("found.last = min(found.last, -height / max(slope, 1e-9));", ""),
        ("ray.first = max(ray.first, seen.first);", ""),
        ("frame.clips[seen.plane].xyz", "-frame.clips[seen.plane].xyz"),
        ("    shows_caps = true;", ""),
        ("if dot(cross(b - a, c - a), direction) > 0.0 {", "if dot(cross(b - a, c - a), direction) < 0.0 {"),
    ] {
        let source = altered("render/primary", from, to);
        passes.renderer.primary = Kernel::from_text(&passes.gpu, "render/primary", source);
        let share = share_that_differs(&passes.frame(0), &right);
        println!("`{to}` for `{from}`: {share:.4} of the pixels differ");
        if share <= 2.0 * ODD_PIXELS {
            unnoticed.push(format!("`{to}` for `{from}`: {share:.4}"));
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}
