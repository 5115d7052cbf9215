//! What the random seed of a job draws beside its pattern: the blow, the points, the start poses.
//!
//! In: an object, a random seed. Out: the same numbers on every machine: only +, -, *, / and square roots are used. Each
//! use has a generator of its own, so that a set without points has the poses of one with points.

use glam::{DQuat, DVec3};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use sha2::{Digest as _, Sha256};

use crate::facade::Object;

/// Depth at which the inside is looked for below the surface, voxels.
const DEPTH: f64 = 1.5;

/// The generator for a purpose, and a piece where each has its own.
pub fn generator(purpose: &str, rng: u64, piece: usize) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(purpose.as_bytes());
    hash.update(rng.to_le_bytes());
    hash.update((piece as u64).to_le_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// Uniform in [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A point even over the surface of the object's mesh, and the unit normal there that points inward, mesh units. `None` if
/// no triangle has an area.
pub fn blow_on(object: &Object, rng: u64) -> Option<(DVec3, DVec3)> {
    let mut random = generator("blow", rng, 0);
    let corner = |i: u32| object.mesh.positions.get(i as usize).map(|p| DVec3::from_array(p.map(f64::from)));
    let corners = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(corner);
        Some([a?, b?, c?])
    };
    let twice = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
    let triangles = || object.mesh.triangles.iter().filter_map(corners);
    let whole: f64 = triangles().map(|t| twice(t).length()).sum();
    let drawn = unit(&mut random) * whole;
    let mut passed = 0.0;
    let mut hit = None;
    for triangle in triangles() {
        let area = twice(triangle).length();
        if area > 0.0 {
            hit = Some(triangle);
        }
        passed += area;
        if passed > drawn {
            break;
        }
    }
    let [a, b, c] = hit?;
    let (along, across) = (unit(&mut random).sqrt(), unit(&mut random));
    let point = a + (b - a) * (along * (1.0 - across)) + (c - a) * (along * across);
    let outward = twice([a, b, c]).try_normalize()?;
    // Triangles of a file may be turned over.
    let octree = object.octree();
    let distance = |to: f64| octree.distance(octree.grid.from_mesh(point + outward * (to * octree.grid.h)));
    let inward = if distance(DEPTH) < distance(-DEPTH) { outward } else { -outward };
    Some((point, inward))
}

/// A random seed for the points of a piece.
pub fn seed_of_points(rng: u64, piece: usize) -> u64 {
    generator("points", rng, piece).next_u64()
}

/// A rotation, uniform over all.
pub fn rotation(rng: u64, piece: usize) -> DQuat {
    let mut random = generator("pose", rng, piece);
    loop {
        let [x, y, z, w] = [(); 4].map(|()| 2.0 * unit(&mut random) - 1.0);
        let squared = x * x + y * y + z * z + w * w;
        if squared > 1e-6 && squared <= 1.0 {
            // Both signs are the same rotation.
            let length = squared.sqrt() * if w < 0.0 { -1.0 } else { 1.0 };
            return DQuat::from_xyzw(x / length, y / length, z / length, w / length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blows_are_even_over_a_box_and_go_inward() {
        let object = Object::open("builtin:box", 4).unwrap();
        let (low, high) = (object.bounds.low, object.bounds.high);
        let (mut upper, mut count) = (0, 0);
        for rng in 0..400 {
            let (point, direction) = blow_on(&object, rng).unwrap();
            assert!((direction.length() - 1.0).abs() < 1e-12);
            let inside = point + direction * (0.02 * (high - low).max_element());
            assert!(object.bounds.holds(inside), "{rng}: {point} {direction}");
            upper += usize::from(point.y > 0.5 * (low.y + high.y));
            count += 1;
        }
        // Half of the surface lies in the upper half; four standard deviations are 40.
        assert!(upper.abs_diff(count / 2) < 40, "{upper} of {count}");
        assert_eq!(blow_on(&object, 7), blow_on(&object, 7));
        assert_ne!(blow_on(&object, 7), blow_on(&object, 8));
    }

    #[test]
    fn rotations_are_units_and_turn_a_point_everywhere() {
        let turned: Vec<DVec3> = (0..2000).map(|k| rotation(k, 3) * DVec3::X).collect();
        assert!(turned.iter().all(|p| (p.length() - 1.0).abs() < 1e-12));
        let mean = turned.iter().sum::<DVec3>() / 2000.0;
        // A coordinate on the sphere has the variance 1/3.
        assert!(mean.abs().max_element() < 4.0 * (1.0f64 / 3.0 / 2000.0).sqrt(), "{mean}");
        assert!((0..100).all(|k| rotation(1, k).w >= 0.0));
        assert_ne!(rotation(1, 0), rotation(1, 1));
    }
}
