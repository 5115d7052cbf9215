//! Surfaces in the picture: against every triangle, against the cores, beside octrees; and errors that are found.

use glam::{DVec2, EulerRot, Quat, Vec3};

use super::{
    fixtures::{By, Stage, Taken, altered, ball},
    reference::{nearest_triangle, surface_look, triangles},
    surfaces::{body, broken_cube, built_in, chequered, cube_with_voxels, ring, shape, sphere, surfaces},
};
use crate::{
    Camera, ColorBy, PixelHit, RenderOptions, fracture::Interior, gpu::Kernel, shape::Shape,
    svo::unpack_normal,
};

on_both!(
    first_hits_are_those_of_every_triangle,
    a_closed_sphere_has_no_holes,
    looks_match_the_reference,
    crack_faces_show_the_inside,
    a_surface_hides_and_shades_an_octree_and_is_hidden,
    odd_surfaces_draw_nothing,
);

/// Distances agree to this, m: f32 on both sides of a rotation.
const DISTANCE_TOLERANCE: f64 = 1e-4;
/// Share of pixels that may differ: rays that graze an edge within rounding.
const ODD_PIXELS: f64 = 0.002;
/// Bytes of a colour may differ by this.
const BYTE_TOLERANCE: f64 = 1.6;

/// Four surfaces, turned.
fn four(by: By, rotation: Quat) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    let shapes = [
        shape(sphere(3), &[]),
        shape(ring(60, 30), &[chequered()]),
        shape(built_in("box"), &[]),
        shape(broken_cube(), &[]),
    ];
    for (i, shape) in shapes.into_iter().enumerate() {
        let to = Vec3::new(i as f32 * 0.6 - 0.9, 0.1 * i as f32 - 0.2, -0.5 * i as f32 + 0.5);
        stage.bodies.push(body(shape, rotation * Quat::from_rotation_x(i as f32), to, i as u32));
    }
    stage.camera = Camera { distance: 3.2, ..Camera::default() };
    Some(stage)
}

fn rotations() -> [Quat; 3] {
    let turned = Quat::from_euler(EulerRot::XYZ, 0.4, -1.1, 2.0);
    [Quat::IDENTITY, turned, Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)]
}

/// Pixels of the last picture that differ from what every triangle says, and pixels that show a body.
fn odd_hits(stage: &Stage) -> (usize, usize) {
    let hits = stage.hits();
    let [width, height] = stage.size;
    let bodies: Vec<_> =
        stage.bodies.iter().map(|b| b.shape.drawn_surface().map_or(vec![], |s| triangles(b, s))).collect();
    let (mut odd, mut shown) = (0, 0);
    for (i, hit) in hits.iter().enumerate() {
        let (x, y) = (i as u32 % width, i as u32 / width);
        let at = |v: u32, size: u32| (v as f32 + 0.5) / size as f32;
        let (origin, direction) = stage.camera.ray(at(x, width), at(y, height), width as f32 / height as f32);
        let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
        let of = |(k, of): (usize, &Vec<_>)| {
            Some((nearest_triangle(of, origin, direction, (0.0, f64::INFINITY))?.0, k))
        };
        let nearest = bodies.iter().enumerate().filter_map(of).min_by(|a, b| a.0.total_cmp(&b.0));
        let same = match (nearest, hit) {
            (None, PixelHit::Sky) => true,
            (Some((t, k)), PixelHit::Body { body, distance, .. }) => {
                k == *body && (t - f64::from(*distance)).abs() < DISTANCE_TOLERANCE
            }
            _ => false,
        };
        shown += usize::from(nearest.is_some());
        odd += usize::from(!same);
    }
    (odd, shown)
}

fn first_hits_are_those_of_every_triangle(by: By) {
    for rotation in rotations() {
        let Some(mut stage) = four(by, rotation) else { return };
        stage.still(1);
        let (odd, shown) = odd_hits(&stage);
        println!("{shown} pixels show a body, {odd} differ");
        assert!(shown > 800, "{shown}");
        assert!(odd as f64 <= ODD_PIXELS * (96.0 * 64.0), "{odd} pixels differ");
    }
}

#[test]
fn errors_planted_in_the_walk_are_found() {
    let Some(mut stage) = four(By::Passes, rotations()[1]) else { return };
    let mut unnoticed = Vec::new();
    for (from, to) in [
        ("current = select(child, child + 1u, swap);", "current = child;"),
        (
            "if max(t0, t1) < 1e29 {\n                    stack[depth] = select(child",
            "if false {\n                    stack[depth] = select(child",
        ),
        ("all(left >= right) || all(left <= right)", "all(left >= right)"),
        ("c.x * b.y", "c.x * a.y"),
        ("weights.x * a.z", "weights.x * b.z"),
        ("k < lead + count; k++", "k < lead + count - 1u; k++"),
        ("if t >= first && t < end {", "if t >= first {"),
        ("word + 2u);", "word + 1u);"),
    ] {
        let source = altered("render/primary", from, to);
        stage.renderer.primary = Kernel::from_text(&stage.gpu, "render/primary", source);
        stage.still(1);
        let (odd, _) = odd_hits(&stage);
        println!("`{to}` for `{from}`: {odd} pixels differ");
        if odd < 40 {
            unnoticed.push(to);
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}

/// From within and from without, where edges and corners lie on the axes and in the middle of pixels too.
fn a_closed_sphere_has_no_holes(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    stage.size = [161, 121];
    for steps in [0, 2, 5] {
        for rotation in rotations() {
            stage.bodies = vec![body(shape(sphere(steps), &[]), rotation, Vec3::ZERO, 0)];
            for (yaw, pitch, distance) in [(0.0, 0.0, 0.05), (0.7, 0.6, 0.3), (2.0, -0.5, 0.2)] {
                stage.camera = Camera { yaw, pitch, distance, target: Vec3::ZERO, fov_y: 1.2 };
                stage.still(1);
                let holes = stage.hits().iter().filter(|hit| !matches!(hit, PixelHit::Body { .. })).count();
                assert_eq!(holes, 0, "{steps} steps, seen from within, yaw {yaw}");
            }
            stage.camera = Camera { target: Vec3::ZERO, distance: 8.0, fov_y: 0.04, ..Camera::default() };
            stage.still(1);
            let is_far = |hit: &&PixelHit| !matches!(hit, PixelHit::Body { distance, .. } if *distance < 8.0);
            let far = stage.hits().iter().filter(is_far).count();
            assert_eq!(far, 0, "{steps} steps, seen from without");
        }
    }
}

/// Share of surface pixels that look otherwise than the reference says, in three colourings.
fn odd_looks(stage: &mut Stage) -> f64 {
    let mut worst = 0.0_f64;
    for color_by in [ColorBy::Material, ColorBy::Normal, ColorBy::Crack] {
        stage.options = RenderOptions { color_by, floor: None, ..RenderOptions::default() };
        let Taken { frame, hits, looks, .. } = stage.frame(0);
        let (mut odd, mut shown) = (0, 0);
        let of_body = |of: &crate::RenderBody| triangles(of, of.shape.drawn_surface().unwrap());
        let all: Vec<_> = stage.bodies.iter().map(of_body).collect();
        for (i, hit) in hits.iter().enumerate() {
            let Some(of) = stage.bodies.get(hit.body as usize) else { continue };
            let solid = of.shape.drawn_surface().unwrap();
            let place = DVec2::new((i % 96) as f64 + 0.5, (i / 96) as f64 + 0.5);
            let all = &all[hit.body as usize];
            let (normal, rgb, crack) = surface_look(&frame, color_by, hit, place, of, (solid, all));
            let bytes = [0, 8, 16].map(|shift| f64::from(looks[i] >> shift & 0xff));
            let alike = (0..3).all(|k| (bytes[k] - rgb[k]).abs() <= BYTE_TOLERANCE);
            let facing = unpack_normal(hit.normal).as_dvec3().dot(normal) > 0.9998;
            odd += usize::from(!(alike && facing && (looks[i] >> 24 & 1 == 1) == crack));
            shown += 1;
        }
        assert!(shown > 800, "{shown}");
        worst = worst.max(f64::from(odd as u32) / f64::from(shown));
    }
    worst
}

fn looks_match_the_reference(by: By) {
    for rotation in rotations() {
        let Some(mut stage) = four(by, rotation) else { return };
        let odd = odd_looks(&mut stage);
        println!("at most {:.2} % of the surface pixels differ", odd * 100.0);
        assert!(odd <= 0.01, "{:.2} % of the surface pixels differ", odd * 100.0);
    }
}

#[test]
fn errors_planted_in_looks_are_found() {
    let Some(mut stage) = four(By::Passes, rotations()[1]) else { return };
    let mut unnoticed = Vec::new();
    for (from, to) in [
        ("cross(c - b, point - b)", "cross(c - a, point - a)"),
        (
            "mesh_words[corners + 1u], mesh_words[corners + 2u]",
            "mesh_words[corners + 2u], mesh_words[corners + 1u]",
        ),
        ("1.0 - (uv.y - floor(uv.y))", "uv.y - floor(uv.y)"),
        ("* size - 0.5;\n    let low", "* size;\n    let low"),
        ("code == MESH_INSIDE, mesh", "false, mesh"),
        ("unpack4x8unorm(material.x).xyz * mesh_texture", "mesh_texture"),
        ("color * color", "color"),
        ("mix(top, bottom, part.y)", "mix(bottom, top, part.y)"),
    ] {
        let source = altered("render/primary", from, to);
        stage.renderer.primary = Kernel::from_text(&stage.gpu, "render/primary", source);
        let odd = odd_looks(&mut stage);
        println!("`{to}` for `{from}`: {odd:.3} of the pixels differ");
        if odd <= 0.02 {
            unnoticed.push(to);
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}

/// Near, a crack face shows the volume at its place in the voxels that stand in; where none do, its corners' colour.
fn crack_faces_show_the_inside(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    let inside = Interior { relief: 0.0, ..Interior::default() }.volume([176, 110, 80]);
    // So near that a pixel is finer than the volume's grains.
    let target = Vec3::new(0.1, 0.5, 0.0);
    stage.camera = Camera { target, yaw: 0.6, pitch: 0.9, distance: 1.3, fov_y: 0.08 };
    let mut seen = Vec::new();
    for of in [cube_with_voxels(), shape(broken_cube(), &[])] {
        let has_voxels = of.as_octree().is_some();
        stage.bodies = vec![body(of, Quat::IDENTITY, Vec3::ZERO, 0)];
        stage.bodies[0].interior = inside;
        let Taken { frame, hits, looks, .. } = stage.frame(0);
        let (mut cracks, mut odd) = (0, 0);
        for (i, hit) in hits.iter().enumerate().filter(|(i, hit)| hit.body == 0 && looks[*i] >> 24 & 1 == 1) {
            let place = Vec3::new((i % 96) as f32 + 0.5, (i / 96) as f32 + 0.5, 0.0);
            let (origin, direction) = stage.camera.ray(place.x / 96.0, place.y / 64.0, 1.5);
            let point = origin + direction * hit.distance;
            // A grid of 32 voxels, of which 24 make a metre, with its middle in the cube's.
            let units = ((point * 24.0 + 16.0) * 512.0).to_array().map(|v| v as i32);
            let covered = frame.pixel_cone * hit.distance * 24.0 * 512.0 / 75.0;
            let t = ((covered - 0.4) / 0.8).clamp(0.0, 1.0);
            let share = t * t * (3.0 - 2.0 * t);
            let volume = inside.color_at(units);
            let expected: [f32; 3] = std::array::from_fn(|k| {
                let (inside, own) = (f32::from(volume[k]), [150.0f32, 90.0, 70.0][k]);
                let own =
                    if has_voxels { inside * inside * (1.0 - share) + own * own * share } else { own * own };
                own.sqrt()
            });
            let bytes = [0, 8, 16].map(|shift| (looks[i] >> shift & 0xff) as f32);
            odd += usize::from((0..3).any(|k| (bytes[k] - expected[k]).abs() > 2.0));
            cracks += 1;
        }
        println!("{cracks} pixels show a crack, {odd} of them another colour");
        assert!(cracks > 200 && odd * 20 < cracks, "{odd} of {cracks}");
        seen.push(looks);
    }
    assert_ne!(seen[0], seen[1]);
}

fn a_surface_hides_and_shades_an_octree_and_is_hidden(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    let sun = Vec3::new(-0.335, 0.735, 0.589).normalize();
    let ball = ball(5);
    // One of each kind, in turn before the other and between it and the sun.
    let mut sums = Vec::new();
    for (octree_at, sphere_at) in [
        (Vec3::ZERO, Vec3::splat(40.0)),
        (Vec3::ZERO, sun * 1.5),
        (Vec3::splat(40.0), Vec3::ZERO),
        (sun * 1.5, Vec3::ZERO),
    ] {
        stage.bodies.clear();
        stage.add(&ball, 1.25, Quat::IDENTITY, octree_at);
        stage.bodies.push(body(shape(sphere(4), &[]), Quat::IDENTITY, sphere_at, 1));
        stage.camera = Camera { distance: 3.0, target: Vec3::ZERO, yaw: 2.2, ..Camera::default() };
        let taken = stage.frame(0);
        let wanted = u32::from(octree_at != Vec3::ZERO);
        let at = |i: usize| taken.hits[(i / 48 * 2) * 96 + i % 48 * 2].body == wanted;
        let lit = taken.lights.iter().enumerate().filter(|(i, _)| at(*i));
        sums.push(lit.map(|(_, words)| f32::from_bits(words[0])).sum::<f32>());
    }
    println!("sun on the octree, in the sphere's shadow; on the sphere, in the octree's shadow: {sums:?}");
    // What is left is the crescent that the other does not cover.
    assert!(sums[1] < 0.8 * sums[0] && sums[3] < 0.8 * sums[2], "{sums:?}");
    assert!((sums[0] / sums[2] - 1.0).abs() < 0.15, "{sums:?}");
    for (nearer, shown) in [(0.7, 0), (-0.7, 1)] {
        let towards = -stage.camera.axes().forward * nearer;
        stage.bodies.clear();
        stage.add(&ball, 1.25, Quat::IDENTITY, towards);
        stage.bodies.push(body(shape(sphere(4), &[]), Quat::IDENTITY, -towards, 1));
        stage.still(1);
        let middle = stage.hits()[32 * 96 + 48];
        assert!(matches!(middle, PixelHit::Body { body, .. } if body == shown), "{middle:?}");
    }
}

/// Empty, flat and lost ones; those beside them are drawn.
fn odd_surfaces_draw_nothing(by: By) {
    let Some(mut stage) = Stage::drawn_by(by) else { return };
    let empty = || shape(crate::shape::PieceMesh::default(), &[]);
    let mut lost = body(shape(sphere(1), &[]), Quat::IDENTITY, Vec3::ZERO, 0);
    lost.world_from_local = glam::Mat4::NAN;
    let of = |shape: Shape| body(shape, Quat::IDENTITY, Vec3::ZERO, 1);
    stage.bodies = vec![of(empty()), lost, of(shape(sphere(2), &[]))];
    stage.still(1);
    let seen = |stage: &Stage, k: usize| {
        let shows = |hit: &&PixelHit| matches!(hit, PixelHit::Body { body, .. } if *body == k);
        stage.hits().iter().filter(shows).count()
    };
    assert!(seen(&stage, 2) > 200 && seen(&stage, 0) + seen(&stage, 1) == 0);
    // What went is gone, what came is there.
    stage.bodies = vec![of(shape(ring(20, 10), &[chequered()]))];
    stage.still(1);
    assert!(seen(&stage, 0) > 100 && seen(&stage, 2) == 0);
}

/// Bodies that go and come back leave no trace in what the device holds.
#[test]
fn surfaces_come_and_go_on_the_device() {
    let Some(mut scene) = surfaces(By::Passes) else { return };
    let whole = scene.stage.still(1);
    let bodies = scene.stage.bodies.clone();
    for _ in 0..3 {
        scene.stage.bodies.truncate(2);
        let part = scene.stage.still(1);
        assert_ne!(part, whole);
        scene.stage.bodies = bodies.clone();
        assert!(scene.stage.still(1) == whole, "the same bodies give another picture");
    }
}
