//! Rotations as panels and handles say them: about one axis, or as three angles. With `libm`, so that a scene gets the same
//! bits on every system.

use glam::{DMat3, DQuat, DVec3};

/// The rotation by `angle` (radians) about the axis x, y or z.
pub(super) fn about(axis: usize, angle: f64) -> DQuat {
    let along = DVec3::AXES[axis] * libm::sin(0.5 * angle);
    DQuat::from_xyzw(along.x, along.y, along.z, libm::cos(0.5 * angle))
}

/// The rotation that rolls about z, then tilts about x, then turns about y; angles about x, y and z, degrees.
pub(super) fn of_degrees(degrees: DVec3) -> DQuat {
    let [x, y, z] = degrees.to_array().map(f64::to_radians);
    (about(1, y) * about(0, x) * about(2, z)).normalize()
}

/// The angles of [`of_degrees`]. Where the tilt is a right angle, roll and turn are one, and all of it is called turn.
pub(super) fn degrees_of(rotation: DQuat) -> DVec3 {
    let m = DMat3::from_quat(rotation);
    let at = |row: usize, column: usize| m.col(column)[row];
    let sine = (-at(1, 2)).clamp(-1.0, 1.0);
    let x = libm::asin(sine);
    let (y, z) = if sine.abs() > 1.0 - 1e-12 {
        (libm::atan2(-at(2, 0), at(0, 0)), 0.0)
    } else {
        (libm::atan2(at(0, 2), at(2, 2)), libm::atan2(at(1, 0), at(1, 1)))
    };
    DVec3::new(x, y, z).map(f64::to_degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_angles_say_every_rotation() {
        for k in 0..2000u32 {
            let of = |step: u32, most: f64| (f64::from(k * step % 997) / 997.0 - 0.5) * 2.0 * most;
            let degrees = DVec3::new(of(7, 90.0), of(13, 180.0), of(29, 180.0));
            if degrees.x.abs() > 89.9 {
                continue;
            }
            let rotation = of_degrees(degrees);
            let again = of_degrees(degrees_of(rotation));
            assert!(rotation.dot(again).abs() > 1.0 - 1e-12, "{degrees}");
            assert!(degrees_of(rotation).distance(degrees) < 1e-6, "{degrees}: {}", degrees_of(rotation));
        }
        for tilt in [-90.0, 90.0] {
            let rotation = of_degrees(DVec3::new(tilt, 30.0, 20.0));
            assert!(rotation.dot(of_degrees(degrees_of(rotation))).abs() > 1.0 - 1e-9);
        }
    }

    #[test]
    fn angles_turn_as_the_right_hand_does() {
        let turned = of_degrees(DVec3::new(0.0, 90.0, 0.0)) * DVec3::Z;
        assert!(turned.distance(DVec3::X) < 1e-12, "a turn about y leads z to x");
        assert!((about(0, 0.5) * DVec3::Y).distance(DVec3::new(0.0, libm::cos(0.5), libm::sin(0.5))) < 1e-12);
    }
}
