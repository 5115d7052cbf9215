//! Where bodies start and stand, against plain arithmetic: two hundred random places, rotations and scales each.
//!
//! The reference writes a rotation out as nine numbers, and uses no matrix and no product of quaternions from a
//! library. Errors that are easily made are planted in the reference, and must be seen.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{Pose, SURFACE};
use crate::{
    bodies::BodyState,
    geometry::Aabb,
    gpu::Gpu,
    scene::{
        Scene, SceneBody,
        placement::{entry_of, start_of},
        sandbox::testing,
    },
    shape::GridMass,
    svo::{Grid, morton},
};

const CASES: usize = 200;

/// A rotation as the rows of its matrix.
type Rows = [[f64; 3]; 3];

/// The matrix of a quaternion of any length but zero.
fn rows(rotation: DQuat) -> Rows {
    let [x, y, z, w] = rotation.to_array().map(|part| part / rotation.length());
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

fn turned(rows: Rows, p: DVec3) -> DVec3 {
    DVec3::from_array(rows.map(|row| row[0] * p.x + row[1] * p.y + row[2] * p.z))
}

fn corners(bounds: Aabb) -> impl Iterator<Item = DVec3> {
    (0..8u32).map(move |corner| {
        let of = |axis: usize| if corner >> axis & 1 == 1 { bounds.high[axis] } else { bounds.low[axis] };
        DVec3::new(of(0), of(1), of(2))
    })
}

/// The least and the greatest coordinates of points.
fn extent(points: impl Iterator<Item = DVec3>) -> [DVec3; 2] {
    points.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

fn point(random: &mut ChaCha8Rng, reach: f64) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| random.random_range(-reach..reach)))
}

/// A point whose coordinates are these shares of the way from 0 to `side`.
fn within(random: &mut ChaCha8Rng, [from, to]: [f64; 2], side: f64) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| random.random_range(from * side..to * side)))
}

fn rotation(random: &mut ChaCha8Rng) -> DQuat {
    loop {
        let any = DQuat::from_array([(); 4].map(|()| random.random_range(-1.0..1.0)));
        if any.length() > 0.2 {
            return any.normalize();
        }
    }
}

/// Voxels somewhere in a grid that is placed somewhere, an entry of a scene, and a floor.
struct Case {
    mass: GridMass,
    grid: Grid,
    entry: SceneBody,
    floor: f64,
}

impl Case {
    fn any(random: &mut ChaCha8Rng, on_floor: bool) -> Self {
        let level: u32 = random.random_range(2..=9);
        let side = f64::from(1u32 << level);
        let h = libm::pow(10.0, random.random_range(-4.0..1.0));
        let (low, high) = (within(random, [0.0, 0.4], side), within(random, [0.5, 1.0], side));
        let centre = low + (high - low) * within(random, [0.2, 0.8], 1.0);
        // A file may have a quaternion of any length.
        let length: f64 = random.random_range(0.1..3.0);
        Self {
            mass: GridMass { centre, bounds: Aabb::new(low, high), ..GridMass::default() },
            grid: Grid { level, origin: point(random, side * h), h },
            entry: SceneBody {
                position: point(random, 10.0),
                rotation: rotation(random) * length,
                linear_velocity: point(random, 1.0),
                angular_velocity: point(random, 1.0),
                on_floor,
                ..SceneBody::standing("builtin:box", level)
            },
            floor: random.random_range(-2.0..2.0),
        }
    }

    /// Side of the grid, m.
    fn side(&self) -> f64 {
        f64::from(1u32 << self.grid.level) * self.grid.h
    }

    /// What rounding may make of places of this size, m.
    fn hair(&self) -> f64 {
        1e-12 * (20.0 + self.grid.origin.length() + self.side())
    }

    /// Where an entry puts a point of the grid, before the body is set on the floor.
    fn in_world(&self, entry: &SceneBody, in_grid: DVec3) -> DVec3 {
        turned(rows(entry.rotation), self.grid.origin + in_grid * self.grid.h) + entry.position
    }

    /// Where an entry puts the centre of mass.
    fn start(&self, entry: &SceneBody) -> DVec3 {
        let centre = self.in_world(entry, self.mass.centre);
        if !entry.on_floor {
            return centre;
        }
        let Aabb { low, high } = self.mass.bounds;
        let [lowest, _] = extent(corners(self.mass.bounds).map(|corner| self.in_world(entry, corner)));
        let middle = self.in_world(entry, (low + high) / 2.0);
        let down = self.floor - lowest.y;
        centre + DVec3::new(entry.position.x - middle.x, down, entry.position.z - middle.z)
    }

    /// Where a body that is somewhere has a point of the grid.
    fn of_body(&self, now: &BodyState, in_grid: DVec3) -> DVec3 {
        now.position + turned(rows(now.rotation), (in_grid - self.mass.centre) * self.grid.h)
    }
}

#[test]
fn an_entry_starts_where_plain_arithmetic_puts_it() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for number in 0..CASES {
        let case = Case::any(&mut random, number % 2 == 1);
        let Case { mass, grid, entry, floor } = &case;
        let start = start_of((mass, grid), entry, *floor);
        let wanted = case.start(entry);
        let off = start.position.distance(wanted);
        assert!(off < case.hair(), "{number}: {off:e} m off; {} for {wanted}", start.position);
        let cosine = start.rotation.dot(entry.rotation) / entry.rotation.length();
        assert!(start.rotation.is_normalized() && cosine > 1.0 - 1e-12, "{number}: turned otherwise");
        let velocities = (start.linear_velocity, start.angular_velocity);
        assert_eq!(velocities, (entry.linear_velocity, entry.angular_velocity), "{number}");
    }
}

#[test]
fn a_body_gets_the_entry_by_which_it_starts_where_it_is() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for number in 0..CASES {
        let case = Case::any(&mut random, number % 3 == 1);
        let Case { mass, grid, entry: before, floor } = &case;
        let stands = number % 2 == 1;
        let (position, rotation) = (point(&mut random, 10.0), rotation(&mut random));
        let mut now = BodyState { rotation, ..BodyState::at(position) };
        let [lowest, _] = extent(corners(mass.bounds).map(|corner| case.of_body(&now, corner)));
        let sides_above: f64 = if stands { 0.0 } else { random.random_range(0.01..1.0) };
        now.position.y += floor - lowest.y + sides_above * case.side();

        let entry = entry_of((mass, grid), before, &now, *floor);
        assert_eq!((entry.on_floor, entry.rotation), (stands, rotation), "{number}");
        let (position, on_floor) = (entry.position, entry.on_floor);
        let the_rest = SceneBody { position, rotation, on_floor, ..before.clone() };
        assert_eq!(entry, the_rest, "{number}: all else stays");
        if stands {
            let middle = case.of_body(&now, (mass.bounds.low + mass.bounds.high) / 2.0);
            let off = entry.position.distance(DVec3::new(middle.x, 0.0, middle.z));
            assert!(off < case.hair(), "{number}: stands {off:e} m off");
        }
        for start in [case.start(&entry), start_of((mass, grid), &entry, *floor).position] {
            let off = start.distance(now.position);
            assert!(off < 2.0 * case.hair(), "{number}: {off:e} m off; {start} for {}", now.position);
        }
    }
}

/// Errors in where an entry puts a point of the grid.
type Planted = fn(&Case, DVec3) -> DVec3;
const PLANTED: [(&str, Planted); 5] = [
    ("the place is turned, too", |case, p| {
        turned(rows(case.entry.rotation), case.grid.origin + p * case.grid.h + case.entry.position)
    }),
    ("the rotation goes backwards", |case, p| {
        let back = rows(case.entry.rotation.conjugate());
        turned(back, case.grid.origin + p * case.grid.h) + case.entry.position
    }),
    ("x and z are swapped", |case, p| {
        let at = case.in_world(&case.entry, p);
        DVec3::new(at.z, at.y, at.x)
    }),
    ("the scale comes twice", |case, p| {
        let in_mesh = case.grid.origin + p * case.grid.h * case.grid.h;
        turned(rows(case.entry.rotation), in_mesh) + case.entry.position
    }),
    ("the origin is scaled, too", |case, p| {
        turned(rows(case.entry.rotation), (case.grid.origin + p) * case.grid.h) + case.entry.position
    }),
];

#[test]
fn planted_errors_are_larger_than_what_the_comparisons_let_pass() {
    for (name, planted) in PLANTED {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let is_seen = |_: &usize| {
            let case = Case::any(&mut random, false);
            let at = case.mass.centre;
            planted(&case, at).distance(case.in_world(&case.entry, at)) > 10.0 * case.hair()
        };
        let seen = (0..CASES).filter(is_seen).count();
        assert!(seen > CASES * 9 / 10, "{name}: seen in {seen} of {CASES}");
    }
}

#[test]
fn a_turned_body_stands_where_its_corners_and_its_voxels_are() {
    let Some(gpu) = Gpu::for_test() else { return };
    let sizes = [0.3, 5.0, 0.02];
    let body = |(k, file): (usize, &str)| SceneBody {
        position: DVec3::new(10.0 * k as f64, 0.0, -1.0),
        size: Some(sizes[k]),
        ..SceneBody::standing(file, 5)
    };
    let bodies = ["builtin:vase", "builtin:brick", "builtin:pig"].into_iter().enumerate().map(body).collect();
    let floor = 0.4;
    let mut sandbox = testing::shown(&gpu, Scene { bodies, floor_height: floor, ..Scene::default() });

    // Before they are turned: as large as their meshes are made, where the scene says.
    for (k, size) in sizes.into_iter().enumerate() {
        let foot = sandbox.foot(sandbox.bodies()[k].id).unwrap();
        let vertices = sandbox.objects()[k].mesh.positions.iter();
        let [low, high] = extent(vertices.map(|p| DVec3::from_array(p.map(f64::from))));
        let sides = (high - low) * (size / (high - low).max_element());
        let voxel = size / 30.0;
        assert!((foot.size - sides).abs().max_element() < 3.0 * voxel, "{k}: {} for {sides}", foot.size);
        assert!(foot.at.distance(DVec3::new(10.0 * k as f64, 0.0, -1.0)) < 1e-9, "{k}: at {}", foot.at);
    }

    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut unlike_unturned = 0;
    for number in 0..CASES {
        let (id, shape) =
            (sandbox.bodies()[number % 3].id, Arc::clone(&sandbox.bodies()[number % 3].def.shape));
        let octree = shape.as_octree().unwrap();
        let (h, mass) = (octree.grid.h, &octree.mass);
        let is_right = number % 8 == 0;
        let position = point(&mut random, 5.0);
        let turn = if is_right { DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5) } else { rotation(&mut random) };
        sandbox.place(&[Pose { body: id, position, rotation: turn }]);
        let foot = sandbox.foot(id).unwrap();

        let in_world = |in_grid: DVec3| position + turned(rows(turn), (in_grid - mass.centre) * h);
        let [low, high] = extent(corners(mass.bounds).map(in_world));
        let keys = octree.forest.leaves.keys.slice(octree.leaves());
        assert!(keys.len() < 2 * SURFACE, "else not every voxel is looked at");
        let voxels = keys.iter().map(|key| DVec3::from(morton::decode(key).map(|c| f64::from(c) + 0.5)));
        let [lowest, _] = extent(voxels.map(in_world));
        let lowest = if is_right { low.y } else { lowest.y };
        let at = DVec3::new((low.x + high.x) / 2.0, lowest - floor, (low.z + high.z) / 2.0);
        assert!(foot.size.distance(high - low) < 1e-12, "{number}: {} for {}", foot.size, high - low);
        assert!(foot.at.distance(at) < 1e-12, "{number}: at {} for {at}", foot.at);
        let unturned = mass.bounds.size() * h;
        unlike_unturned += usize::from((high - low).distance(unturned) > 0.01 * unturned.length());
    }
    assert!(
        unlike_unturned > CASES * 9 / 10,
        "a box that is not turned is seen in {unlike_unturned} of {CASES}"
    );
}
