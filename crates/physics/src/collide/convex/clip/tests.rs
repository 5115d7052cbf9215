//! A block that lies askew on another: what both share of the plane between them, by a fine grid of points.

use super::super::axes::Relative;
use super::*;
use crate::{collide::convex::solid::Solid, support::SupportPoints};
use glam::DQuat;

const TURNS: usize = 12;
const DEPTH: f64 = 0.01;
/// Half the lower block, and the upper one.
const LOWER: DVec3 = DVec3::new(1.0, 1.0, 1.2);
const UPPER: DVec3 = DVec3::new(0.7, 0.3, 0.9);

fn block(half: DVec3) -> Solid {
    let corner = |c: u32| (DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) * 2.0 - 1.0) * half;
    Solid::through(&(0..8).map(corner).collect::<Vec<_>>()).expect("a block")
}

/// The upper block on the lower, turned and shifted.
fn lies(k: usize) -> (DQuat, DVec3) {
    let turn = DQuat::from_rotation_y(0.3 + 0.5 * k as f64);
    let aside = DVec3::new(0.25 * (k % 5) as f64 - 0.4, 0.0, 0.3 * (k % 4) as f64 - 0.5);
    (turn, aside + DVec3::Y * (LOWER.y + UPPER.y - DEPTH))
}

/// How far what both share reaches along a direction in the plane.
fn shared((turn, at): (DQuat, DVec3), way: DVec3) -> f64 {
    let grid = (0..=120)
        .flat_map(|i| (0..=120).map(move |j| DVec3::new(f64::from(i), 0.0, f64::from(j)) / 60.0 - 1.0));
    let places = grid.map(|p| at + turn * (p * UPPER).with_y(0.0));
    let inside = places.filter(|p| p.x.abs() <= LOWER.x && p.z.abs() <= LOWER.z);
    inside.map(|p| p.dot(way)).fold(f64::MIN, f64::max)
}

/// Most that places reach otherwise than what both share.
fn off(lying: (DQuat, DVec3), places: &[DVec3]) -> f64 {
    let ways = (0..16).map(|k| DQuat::from_rotation_y(0.2 + 0.4 * f64::from(k)) * DVec3::X);
    let reach = |way: DVec3| places.iter().map(|p| p.dot(way)).fold(f64::MIN, f64::max);
    ways.map(|way| (reach(way) - shared(lying, way)).abs()).fold(0.0, f64::max)
}

#[test]
fn what_two_faces_share_is_what_a_grid_of_points_says() {
    let (lower, upper) = (block(LOWER), block(UPPER));
    for k in 0..TURNS {
        let (turn, at) = lies(k);
        // The lower one is the first, and then the second.
        for first in [true, false] {
            let lower_at = Relative::new((DVec3::ZERO, DQuat::IDENTITY), (at, turn));
            let upper_at = Relative::new((at, turn), (DVec3::ZERO, DQuat::IDENTITY));
            let pair = if first {
                Pair::new([&lower, &upper], lower_at)
            } else {
                Pair::new([&upper, &lower], upper_at)
            };
            let axis = pair.axis(f64::MAX, None, 1e-6);
            assert!((axis.separation + DEPTH).abs() < 1e-9, "{axis:?}");
            let found = touches(&pair, &axis, 0.05, 0.01);
            let to_world = |p: DVec3| if first { p } else { at + turn * p };
            let places: Vec<DVec3> = found.iter().map(|touch| to_world(touch.on[0])).collect();
            let error = off((turn, at), &places);
            assert!(error < 0.02, "{k}, {first}: {error}");
            let along = |touch: &Touch| (touch.on[0] - touch.on[1]).dot(axis.normal);
            assert!(
                found.iter().all(|touch| (touch.separation - along(touch)).abs() < 1e-9),
                "the normal's sign"
            );
            assert!(found.iter().all(|touch| (touch.separation + DEPTH).abs() < 1e-9));
            let mut names: Vec<u64> = found.iter().map(|touch| touch.key).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), found.len(), "each has a name of its own");
            // A hair farther the same places have the same names.
            let nudged = Relative { position: pair.relative.position * 1.0001, ..pair.relative };
            let again = Pair::new(pair.solids, nudged);
            let mut later: Vec<u64> =
                touches(&again, &again.axis(f64::MAX, Some(axis.feature), 1e-3), 0.05, 0.01)
                    .iter()
                    .map(|t| t.key)
                    .collect();
            later.sort_unstable();
            assert_eq!(names, later);
        }
    }
}

/// Planted: the side that is kept is the wrong one; one side is left out; a polygon is taken as it is.
#[test]
fn the_grid_finds_faces_that_are_clipped_wrongly() {
    let (lower, upper) = (block(LOWER), block(UPPER));
    let (mut wrong, mut missing, mut whole) = (0, 0, 0);
    for k in 0..TURNS {
        let (turn, at) = lies(k);
        let pair = Pair::new([&lower, &upper], Relative::new((DVec3::ZERO, DQuat::IDENTITY), (at, turn)));
        let Feature::Face { of: 0, face } = pair.axis(f64::MAX, None, 1e-6).feature else {
            panic!("the lower's face")
        };
        let incident = against(&pair, 1, DVec3::Y);
        let corners = &upper.faces[incident].corners;
        let start: Vec<Corner> =
            corners.iter().map(|v| Corner { at: pair.corners(1)[*v as usize], name: *v, side: *v }).collect();
        let sides = &lower.faces[face].corners;
        let side = |k: usize| [sides[k], sides[(k + 1) % 4]].map(|v| lower.corners[v as usize]);
        let all = |sign: f64, left_out: usize| {
            (0..4).filter(|k| *k != left_out).fold(Few::from_slice(&start), |polygon, k| {
                let [from, to] = side(k);
                let sign = if k == 1 { sign } else { 1.0 };
                cut(&polygon, from, (to - from).cross(DVec3::Y) * sign, SIDE / 2 + k as u32)
            })
        };
        let error = |polygon: &[Corner]| off((turn, at), &polygon.iter().map(|c| c.at).collect::<Vec<_>>());
        assert!(error(&all(1.0, 9)) < 0.02);
        wrong += u32::from(error(&all(-1.0, 9)) > 0.02);
        missing += (0..4).map(|k| u32::from(error(&all(1.0, k)) > 0.02)).sum::<u32>();
        whole += u32::from(error(&start) > 0.02);
    }
    println!("of {TURNS}: wrong side {wrong}, a side left out {missing}, unclipped {whole}");
    assert!(wrong == TURNS as u32 && missing > 4 && whole > 4);
}

#[test]
fn a_corner_beside_the_face_is_not_lost() {
    // The upper block stands on its tip beside the lower one's edge, as far as the face knows.
    let (lower, upper) = (block(LOWER), block(UPPER));
    let turn = DQuat::from_rotation_z(0.6);
    let (_, down) = SupportPoints::new(&upper.corners.iter().map(|p| turn * *p).collect::<Vec<_>>())
        .farthest(DVec3::NEG_Y);
    let at = DVec3::new(0.2, LOWER.y + down - DEPTH, 0.0);
    let pair = Pair::new([&lower, &upper], Relative::new((DVec3::ZERO, DQuat::IDENTITY), (at, turn)));
    let axis = pair.axis(f64::MAX, None, 1e-6);
    let found = touches(&pair, &axis, 0.05, 0.002);
    let deepest = found.iter().map(|touch| touch.separation).fold(f64::MAX, f64::min);
    assert!((deepest + DEPTH).abs() < 0.002 && (axis.separation + DEPTH).abs() < 1e-9, "{found:?}");
}
