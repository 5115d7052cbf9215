//! Whether a body is at rest when it is placed: a body that starts asleep must not move when it wakes.

use std::cell::Cell;

use crate::geometry::{Aabb, BoxTree};
use glam::{DVec2, DVec3};

use crate::{
    bodies::{BodyDef, WorldSettings},
    shape::Octree,
    svo::morton,
};

/// Margin by which a body's centre of mass must lie inside its footprint, in voxels and as a share of its longest side,
/// since a body on a tip would fall.
const MARGIN_VOXELS: f64 = 2.0;
const MARGIN_SHARE: f64 = 0.02;

/// Voxels up to this far above the lowest one bear load, voxels; the lowest one touches the floor if it is this near.
const BEARING: f64 = 0.75;

/// Whether the body stands still on the floor: it has no velocity, gravity points straight down, and its centre of mass
/// lies above the inside of its footprint. Other bodies are ignored.
pub(super) fn stands_still(def: &BodyDef, settings: &WorldSettings) -> bool {
    let (Some(floor), Some(octree)) = (settings.floor, def.shape.as_octree()) else { return false };
    let down = settings.gravity;
    let straight = down.y < 0.0 && libm::hypot(down.x, down.z) <= 1e-9 * -down.y;
    let moves = def.state.linear_velocity != DVec3::ZERO || def.state.angular_velocity != DVec3::ZERO;
    if def.fixed || !settings.sleeping || !straight || moves {
        return false;
    }
    let foot = footprint(def, octree);
    let margin = octree.grid.h * MARGIN_VOXELS.max(MARGIN_SHARE * def.shape.bounds().size().max_element());
    let centre = DVec2::new(def.state.position.x, def.state.position.z);
    (foot.lowest - floor).abs() <= (0.5 + BEARING) * octree.grid.h
        && is_inside(centre, &hull(foot.bearing), margin)
}

/// The axis-aligned box of a body, m, half a voxel wider.
pub(super) fn bounds(def: &BodyDef) -> Aabb {
    let in_world = |corner| def.shape.to_world(def.state.position, def.state.rotation, corner);
    let Aabb { low, high } = Aabb::of(def.shape.bounds().corners().map(in_world));
    let wider = DVec3::splat(0.5 * def.shape.unit_m());
    Aabb::new(low - wider, high + wider)
}

/// Which boxes meet no other. Boxes are sorted into a tree, so thousands of bodies take no longer than reading them does.
pub(super) fn alone(boxes: Vec<Aabb>) -> Vec<bool> {
    let numbered: Vec<(usize, Aabb)> = boxes.iter().copied().enumerate().collect();
    let tree = BoxTree::by_middles(numbered, 4, |(_, bounds)| *bounds);
    let mut alone = Vec::with_capacity(boxes.len());
    for (at, own) in boxes.iter().enumerate() {
        let met = Cell::new(false);
        // Once one is met, no further box is entered.
        tree.visit(
            |bounds| !met.get() && own.meets(bounds),
            |(other, bounds)| met.set(met.get() || *other != at && own.meets(bounds)),
        );
        alone.push(!met.get());
    }
    alone
}

/// The lowest part of a body.
struct Footprint {
    /// Height of the lowest voxel's centre, m.
    lowest: f64,
    /// Centres of the voxels about as low, x and z, m.
    bearing: Vec<DVec2>,
}

fn footprint(def: &BodyDef, octree: &Octree) -> Footprint {
    let keys = octree.forest.leaves.keys.slice(octree.leaves());
    let middle = |key| DVec3::from(morton::decode(key).map(|c| f64::from(c) + 0.5));
    // Only the voxels' heights are needed.
    let up = def.state.rotation.inverse() * DVec3::Y;
    let lowest = keys.iter().map(|key| up.dot(middle(key))).fold(f64::INFINITY, f64::min);
    let world = |p| def.shape.to_world(def.state.position, def.state.rotation, p);
    let low = keys.iter().map(middle).filter(|p| up.dot(*p) <= lowest + BEARING);
    let bearing: Vec<DVec3> = low.map(world).collect();
    Footprint {
        lowest: bearing.iter().map(|p| p.y).fold(f64::INFINITY, f64::min),
        bearing: bearing.iter().map(|p| DVec2::new(p.x, p.z)).collect(),
    }
}

/// Vertices of the convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(mut points: Vec<DVec2>) -> Vec<DVec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    let chain = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(p - b) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut corners = chain(&mut points.iter().copied());
    corners.extend(chain(&mut points.iter().rev().copied()));
    corners
}

/// Whether a point is inside a convex polygon, at least `margin` from every side.
fn is_inside(point: DVec2, polygon: &[DVec2], margin: f64) -> bool {
    let sides = polygon.iter().zip(polygon.iter().cycle().skip(1));
    polygon.len() > 2
        && sides.into_iter().all(|(a, b)| (*b - *a).normalize_or_zero().perp_dot(point - *a) >= margin)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::{
        compute::Compute,
        scene::{Sandbox, Scene, SceneBody, sandbox::testing},
    };

    fn scene(file: &str, change: impl FnOnce(&mut SceneBody)) -> Scene {
        let mut body = SceneBody::standing(file.to_owned(), 6);
        change(&mut body);
        Scene { bodies: vec![body], ..Scene::default() }
    }

    /// Whether the body starts asleep, and how far it moves in half a second if it does not, m.
    fn born(scene: Scene) -> (bool, f64) {
        let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
        sandbox.open_scene(scene);
        testing::until(&mut sandbox, crate::scene::Arrived::Opened);
        let body = &sandbox.bodies()[0];
        let (asleep, place) = (body.asleep, body.state.position);
        for _ in 0..50 {
            sandbox.step().unwrap();
        }
        (asleep, sandbox.bodies()[0].state.position.distance(place))
    }

    #[test]
    fn what_stands_sleeps_and_what_would_move_does_not() {
        for file in ["vase", "column", "box", "sphere", "statue"] {
            assert_eq!(born(scene(&format!("builtin:{file}"), |_| {})), (true, 0.0), "{file}");
        }
        let vase = "builtin:vase";
        let slope = Scene {
            gravity: DVec3::new(5.63, -8.03, 0.0),
            ..scene("builtin:box", |body| body.friction = 0.1)
        };
        let (asleep, way) = born(slope);
        assert!(!asleep && way > 0.3, "a slope of 35 degrees: {way}");
        let sleepless = Scene { sleeping: false, ..scene(vase, |_| {}) };
        assert!(!born(sleepless).0, "sleeping = false");
        let (asleep, way) = born(scene("builtin:box", |body| body.angular_velocity = DVec3::Z * 6.0));
        assert!(!asleep && way > 0.01, "an angular velocity: {way}");
        let (asleep, way) = born(scene("builtin:box", |body| body.rotation = DQuat::from_rotation_z(0.4)));
        assert!(!asleep && way > 0.05, "on an edge: {way}");
        let on_its_corner = DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::Y);
        assert!(!born(scene("builtin:box", |body| body.rotation = on_its_corner)).0, "on its tip");
    }

    #[test]
    fn hulls_and_what_is_inside() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
        let corners = hull(square.map(DVec2::from).to_vec());
        assert_eq!(corners, [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]].map(DVec2::from));
        assert!(
            is_inside(DVec2::new(1.0, 0.5), &corners, 0.5) && !is_inside(DVec2::new(1.0, 0.4), &corners, 0.5)
        );
        for few in [
            vec![],
            vec![DVec2::ZERO],
            vec![DVec2::ZERO, DVec2::X],
            vec![DVec2::ZERO, DVec2::X, DVec2::X * 2.0],
        ] {
            assert!(!is_inside(DVec2::new(0.5, 0.0), &hull(few), 0.0));
        }
    }

    /// Boxes of random places and sizes, `apart` m apart on average.
    fn boxes(count: usize, apart: f64) -> Vec<Aabb> {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / f64::from(1 << 24)
        };
        let side = apart * libm::cbrt(count as f64);
        let mut one = || {
            let low = DVec3::new(random(), random(), random()) * side;
            Aabb::new(low, low + DVec3::new(random(), random(), random()))
        };
        (0..count).map(|_| one()).collect()
    }

    #[test]
    fn boxes_stand_alone_as_each_tried_with_each_says() {
        for apart in [0.5, 1.5, 3.0, 20.0] {
            let boxes = boxes(300, apart);
            let plain =
                |at: usize| (0..boxes.len()).all(|other| other == at || !boxes[at].meets(&boxes[other]));
            let wanted: Vec<bool> = (0..boxes.len()).map(plain).collect();
            assert_eq!(alone(boxes), wanted, "{apart}");
            println!("{apart} m apart: {} of 300", wanted.iter().filter(|alone| **alone).count());
        }
        assert_eq!(alone(vec![Aabb::new(DVec3::ZERO, DVec3::ONE); 9]), [false; 9]);
        assert!(alone(Vec::new()).is_empty());
    }

    /// Four times the bodies take little more than four times as long, not sixteen, even where all lie in one place.
    #[test]
    fn the_time_to_see_who_stands_alone_grows_with_their_number() {
        for apart in [0.0, 3.0] {
            let all = [8000, 32_000].map(|count| boxes(count, apart));
            // In turn, so that what else the machine does meets both alike.
            let mut least = [f64::INFINITY; 2];
            for _ in 0..9 {
                for (boxes, least) in all.iter().zip(&mut least) {
                    let boxes = boxes.clone();
                    let (count, start) = (boxes.len(), std::time::Instant::now());
                    assert_eq!(alone(boxes).len(), count);
                    *least = least.min(start.elapsed().as_secs_f64());
                }
            }
            let [small, large] = least;
            println!("{apart}: {:.1} and {:.1} ms", small * 1e3, large * 1e3);
            assert!(large < 9.0 * small, "{:.1} ms grew to {:.1} ms", small * 1e3, large * 1e3);
        }
    }
}
