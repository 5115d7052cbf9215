//! Cracks along strokes, compared with the sheets below the strokes by brute force over voxels.

use std::{collections::BTreeSet, sync::Arc};

use glam::DVec3;

use super::{Pattern, cut::Stroke, nearest_seed};
use crate::{
    fracture::{Dab, FractureParams, Impact, Paint, Preset, ball},
    geometry::Aabb,
    shape::{GridMass, Octree},
    svo::Grid,
};

/// Low corner of the grid, which is 1 m long.
const ORIGIN: DVec3 = DVec3::new(-1.0, 0.0, 2.0);

fn octree(level: u32) -> Octree {
    let grid = Grid { level, origin: ORIGIN, h: 1.0 / f64::from(1u32 << level) };
    Octree { forest: Arc::new(ball(level)), tree: 0, grid, mass: GridMass::default() }
}

/// A place on top of the ball.
fn on_top(x: f64, z: f64) -> DVec3 {
    let square = 0.45 * 0.45 - (x - 0.5).powi(2) - (z - 0.5).powi(2);
    DVec3::new(x, 0.5 + square.max(0.0).sqrt(), z)
}

/// Dabs of a stroke through places seen along `direction`, shares of the grid.
fn stroke(places: impl Iterator<Item = DVec3>, direction: DVec3, radius: f64) -> Vec<Dab> {
    let mut from = None;
    let dab = |at: DVec3| {
        let at = ORIGIN + at;
        Dab {
            kind: Paint::Cut,
            at,
            radius,
            from: from.replace(at),
            direction: Some(direction),
            ..Dab::default()
        }
    };
    places.map(dab).collect()
}

fn some() -> Pattern {
    let at = |i: u32, k: f64| f64::from(i) * k % 1.0 * 0.8 + 0.1;
    let points = (1..=30).map(|i| DVec3::new(at(i, 0.754_878), at(i, 0.569_84), at(i, 0.319_29)) * 128.0);
    Pattern::from_points(&points.collect::<Vec<_>>(), 7).unwrap()
}

/// The object of a place, shares of the grid.
fn object(pattern: &Pattern, p: DVec3) -> u32 {
    let seed = nearest_seed(&pattern.seeds, (p * 16384.0).round().as_ivec3().to_array(), |_| true).unwrap();
    pattern.objects[seed as usize]
}

/// The objects above and below a sheet in the ball, by the sign of `height`.
fn objects_beside(pattern: &Pattern, height: impl Fn(DVec3) -> f64) -> [BTreeSet<u32>; 2] {
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    let side = || 0..64u32;
    for (x, y, z) in side().flat_map(|x| side().flat_map(move |y| side().map(move |z| (x, y, z)))) {
        let p = (DVec3::new(f64::from(x), f64::from(y), f64::from(z)) + 0.5) / 64.0;
        if p.distance(DVec3::splat(0.5)) < 0.4 && height(p).abs() > 0.004 {
            found[usize::from(height(p) < 0.0)].insert(object(pattern, p));
        }
    }
    found
}

#[test]
fn no_object_lies_on_both_sides_of_a_straight_cut() {
    let octree = octree(7);
    let normal = DVec3::new(0.3, 0.0, -0.95).normalize();
    let along = DVec3::new(0.95, 0.0, 0.3).normalize();
    let height = |p: DVec3| (p - 0.5).dot(normal);
    let middle = DVec3::splat(0.5);
    let places = (-24..=24).map(|k| middle + along * (0.02 * f64::from(k))).map(|p| on_top(p.x, p.z));
    let paint = stroke(places, DVec3::NEG_Y, 0.1);
    let before = some();
    let [above, below] = objects_beside(&before, height);
    assert!(above.intersection(&below).count() > 4, "the cells cross the sheet anyway");
    let cut = before.clone().with_cuts(&paint, &octree).unwrap();
    assert!(cut.objects_are_sound());
    let [above, below] = objects_beside(&cut, height);
    assert_eq!(above.intersection(&below).count(), 0, "{above:?} {below:?}");
    assert!(above.len() > 5 && below.len() > 5 && above.len() + below.len() < 60);
    // Mirrored seeds alone are enough where the stroke is straight.
    let strokes = Stroke::all(&paint, &octree);
    assert_eq!(strokes.len(), 1);
    assert_eq!(before.clone().cut_along(&strokes[0], &octree, &[]), cut);
    // The same at every level of the octree.
    for level in [6, 8] {
        assert_eq!(before.clone().with_cuts(&paint, &self::octree(level)).unwrap(), cut, "level {level}");
    }
    // A second cut across the first leaves quarters.
    let across = (1..50).map(|k| on_top(0.5, 0.02 * f64::from(k)));
    let both: Vec<Dab> = paint.iter().copied().chain(stroke(across, DVec3::NEG_Y, 0.1)).collect();
    let quarters = before.with_cuts(&both, &octree).unwrap();
    let [left, right] = objects_beside(&quarters, |p| p.x - 0.5);
    assert_eq!(left.intersection(&right).count(), 0);
    let [above, below] = objects_beside(&quarters, height);
    let whole = |set: &BTreeSet<u32>| set.iter().filter(|o| left.contains(o) != right.contains(o)).count();
    assert!(whole(&above) == above.len() && whole(&below) == below.len());
}

#[test]
fn a_crack_follows_a_stroke_that_bends() {
    let octree = octree(7);
    let curve = |x: f64| 0.5 + 0.09 * (9.0 * x).sin();
    let places = (0..=50).map(|k| f64::from(k) / 50.0).map(|x| on_top(x, curve(x)));
    let paint = stroke(places, DVec3::NEG_Y, 0.08);
    // The share of the sheet that a crack runs along, within 0.012 of the grid's side.
    let followed = |pattern: &Pattern| {
        let (mut all, mut apart) = (0u32, 0u32);
        for (i, k) in (0..60).flat_map(|i| (0..60).map(move |k| (i, k))) {
            let (x, y) = (0.1 + 0.8 * f64::from(i) / 60.0, 0.1 + 0.8 * f64::from(k) / 60.0);
            let p = DVec3::new(x, y, curve(x));
            if p.distance(DVec3::splat(0.5)) < 0.38 {
                let slope = 0.81 * (9.0 * x).cos();
                let beside = DVec3::new(-slope, 0.0, 1.0).normalize() * 0.012;
                all += 1;
                apart += u32::from(object(pattern, p + beside) != object(pattern, p - beside));
            }
        }
        f64::from(apart) / f64::from(all)
    };
    let before = some();
    let strokes = Stroke::all(&paint, &octree);
    let mirrored = before.clone().cut_along(&strokes[0], &octree, &[]);
    let cut = before.clone().with_cuts(&paint, &octree).unwrap();
    let shares = [&before, &mirrored, &cut].map(followed);
    println!("{shares:?}, {} and {} seeds", mirrored.seeds.len(), cut.seeds.len());
    assert!(shares[0] < 0.3 && shares[1] < 0.9 && shares[2] > 0.97, "{shares:?}");
}

#[test]
fn a_cut_brick_is_two_and_a_stroke_elsewhere_changes_nothing() {
    let octree = octree(7);
    let params = FractureParams { preset: Preset::Bricks, seeds: 40, ..Default::default() };
    let bounds = Aabb { low: DVec3::splat(12.0), high: DVec3::splat(116.0) };
    let impact = Impact { point: bounds.middle(), direction: DVec3::NEG_Z };
    let bricks = Pattern::at_impact(&params, impact, bounds, &octree.forest, 0).unwrap();
    let places = (1..50).map(|k| on_top(0.02 * f64::from(k), 0.47));
    let paint = stroke(places, DVec3::NEG_Y, 0.1);
    let cut = bricks.clone().with_cuts(&paint, &octree).unwrap();
    assert!(cut.objects_are_sound());
    let [above, below] = objects_beside(&cut, |p| 0.47 - p.z);
    assert_eq!(above.intersection(&below).count(), 0);
    assert!(cut.object_ids().len() > bricks.object_ids().len());
    // One dab alone, a stroke that is not on the solid, and one along its own depth.
    let far = stroke((0..5).map(|k| DVec3::new(0.1 * f64::from(k), 5.0, 0.5)), DVec3::NEG_Y, 0.1);
    let along = stroke((0..5).map(|k| DVec3::new(0.5, 0.9 - 0.1 * f64::from(k), 0.5)), DVec3::NEG_Y, 0.1);
    for paint in [&paint[..1], &far, &along] {
        assert_eq!(bricks.clone().with_cuts(paint, &octree).unwrap(), bricks);
    }
    // More seeds than there may be are refused with what to do.
    let wild = (0..3000).map(|k| {
        let turn = f64::from(k) * 2.4;
        on_top(0.5 + 0.3 * turn.sin(), 0.5 + 0.3 * turn.cos())
    });
    let refused = bricks.with_cuts(&stroke(wild, DVec3::NEG_Y, 0.01), &octree).unwrap_err().to_string();
    assert!(refused.contains("8192") && refused.contains("larger brush"), "{refused}");
}
