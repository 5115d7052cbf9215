//! The first hits of pictures, and the walk that answers clicks, against the reference.

use glam::{EulerRot, Quat, Vec3};

use super::{
    fixtures::{By, Stage, ball, root, rounded_box, torus, with_cut},
    reference::first_hit,
};
use crate::{PixelHit, RenderBody, svo::Forest, svo::pick_forest};

on_both!(first_hits_match_the_reference, a_planted_error_is_found, clicking_agrees_with_the_picture);

/// Distances agree to this share of a voxel: planes are met at grazing angles in f32 on one side of a rotation.
const DISTANCE_TOLERANCE_VOXELS: f32 = 0.02;
/// Share of pixels that may differ: rays that graze an edge within rounding.
const ODD_PIXELS: f32 = 0.002;

/// Pixels where the two differ by more than the tolerance.
fn differing(a: &[PixelHit], b: &[PixelHit], voxel: f32) -> usize {
    assert_eq!(a.len(), b.len());
    let close = |x: f32, y: f32| (x - y).abs() <= DISTANCE_TOLERANCE_VOXELS * voxel;
    a.iter()
        .zip(b)
        .filter(|(a, b)| match (a, b) {
            (PixelHit::Sky, PixelHit::Sky) => false,
            (PixelHit::Floor(x), PixelHit::Floor(y)) => !close(*x, *y),
            (PixelHit::Body { body: i, distance: x, .. }, PixelHit::Body { body: j, distance: y, .. }) => {
                i != j || !close(*x, *y)
            }
            _ => true,
        })
        .count()
}

fn rotations() -> [Quat; 3] {
    [
        Quat::IDENTITY,
        Quat::from_euler(EulerRot::XYZ, 0.4, -1.1, 2.0),
        Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
    ]
}

fn reference_picture(stage: &Stage, forests: &[Forest]) -> Vec<PixelHit> {
    let bodies: Vec<(RenderBody, &Forest)> = stage.bodies.iter().cloned().zip(forests).collect();
    let [width, height] = stage.size;
    let aspect = width as f32 / height as f32;
    let at = |i: u32| {
        let x = ((i % width) as f32 + 0.5) / width as f32;
        let y = ((i / width) as f32 + 0.5) / height as f32;
        let (origin, direction) = stage.camera.ray(x, y, aspect);
        first_hit(origin, direction, &bodies)
    };
    (0..width * height).map(at).collect()
}

fn three_bodies(by: By, rotation: Quat) -> Option<(Stage, Vec<Forest>)> {
    let mut stage = Stage::drawn_by(by)?;
    let tilted = Vec3::new(0.5, 0.7, 0.3).normalize();
    let forests = vec![
        with_cut(ball(4), -tilted, Vec3::splat(8.3)),
        with_cut(torus(5), tilted, Vec3::splat(15.8)),
        with_cut(rounded_box(5), tilted, Vec3::splat(17.4)),
    ];
    for (i, forest) in forests.iter().enumerate() {
        let centre = Vec3::new(i as f32 * 0.7 - 0.7, 0.1 * i as f32, -0.5 * i as f32);
        stage.add(forest, 1.2, rotation * Quat::from_rotation_x(i as f32), centre);
    }
    stage.camera.distance = 3.0;
    Some((stage, forests))
}

fn first_hits_match_the_reference(by: By) {
    for rotation in rotations() {
        let Some((mut stage, forests)) = three_bodies(by, rotation) else { return };
        stage.still(1);
        let hits = stage.hits();
        let expected = reference_picture(&stage, &forests);
        let covered = expected.iter().filter(|h| **h != PixelHit::Sky).count();
        let odd = differing(&hits, &expected, 1.2 / 16.0);
        println!("{covered} of {} pixels show a body, {odd} differ", hits.len());
        assert!(covered > hits.len() / 8);
        assert!(odd as f32 <= ODD_PIXELS * hits.len() as f32, "{odd} of {} pixels differ", hits.len());
    }
}

fn a_planted_error_is_found(by: By) {
    let Some((mut stage, mut forests)) = three_bodies(by, rotations()[1]) else { return };
    stage.still(1);
    let uncut: Vec<Forest> = forests
        .clone()
        .into_iter()
        .map(|mut forest| {
            forest.leaves.cuts.fill(0);
            forest
        })
        .collect();
    let hits = stage.hits();
    // The reference sees a ball whose surface lies a quarter of a voxel deeper.
    for color in &mut forests[0].leaves.colors {
        *color = crate::svo::LeafColor::new(color.rgb(), color.crack(), color.offset() - 0.25);
    }
    let odd = differing(&hits, &reference_picture(&stage, &forests), 1.2 / 16.0);
    assert!(odd > 100, "only {odd} pixels differ");
    // A reference that knows no cuts.
    let odd = differing(&hits, &reference_picture(&stage, &uncut), 1.2 / 16.0);
    assert!(odd > 30, "only {odd} pixels show a cut");
}

/// The scene's own walk, which answers clicks.
fn clicking_agrees_with_the_picture(by: By) {
    for rotation in rotations() {
        let Some((mut stage, forests)) = three_bodies(by, rotation) else { return };
        stage.still(1);
        let hits = stage.hits();
        let [width, height] = stage.size;
        let clicked = |forests: &[Forest]| -> Vec<PixelHit> {
            let at = |i: u32| {
                let x = ((i % width) as f32 + 0.5) / width as f32;
                let y = ((i / width) as f32 + 0.5) / height as f32;
                let (origin, direction) = stage.camera.ray(x, y, width as f32 / height as f32);
                let on_body = |(body, (shown, forest)): (usize, (&RenderBody, &Forest))| {
                    let grid_from_world = shown.world_from_local.as_dmat4().inverse();
                    let from = grid_from_world.transform_point3(origin.as_dvec3());
                    let along = grid_from_world.transform_vector3(direction.as_dvec3());
                    pick_forest(forest, root(shown), from, along).map(|hit| (body, hit.t as f32))
                };
                let nearest = stage.bodies.iter().zip(forests).enumerate().filter_map(on_body);
                match nearest.min_by(|a, b| a.1.total_cmp(&b.1)) {
                    Some((body, distance)) => PixelHit::Body { body, leaf: None, distance },
                    None => PixelHit::Sky,
                }
            };
            (0..width * height).map(at).collect()
        };
        let odd = differing(&hits, &clicked(&forests), 1.2 / 16.0);
        assert!(odd as f32 <= ODD_PIXELS * hits.len() as f32, "{odd} of {} pixels differ", hits.len());
        // A walk that knows no cuts is found out.
        let mut uncut = forests.clone();
        uncut.iter_mut().for_each(|forest| forest.leaves.cuts.fill(0));
        let odd = differing(&hits, &clicked(&uncut), 1.2 / 16.0);
        assert!(odd > 10, "only {odd} pixels show a cut");
    }
}
