//! Rotations and the angles between them, bit for bit the same on every system.
//!
//! glam takes sines from the system's mathematical library, whose last bits differ between systems, and one bit leads
//! to another heap within a second. These functions use the crate libm.

use glam::{DQuat, DVec3};

/// The turn about `scaled_axis` by its length, radians.
#[must_use]
pub fn turned_by(scaled_axis: DVec3) -> DQuat {
    let angle = scaled_axis.length();
    if angle == 0.0 {
        return DQuat::IDENTITY;
    }
    let (sin, cos) = libm::sincos(0.5 * angle);
    let v = scaled_axis * (sin / angle);
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// The angle of the turn that takes one rotation to the other, 0 to pi.
#[must_use]
pub fn angle_between(one: DQuat, other: DQuat) -> f64 {
    2.0 * libm::acos(one.dot(other).abs().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against glam, which may differ in the last bits.
    #[test]
    fn turns_are_those_of_glam() {
        assert_eq!(turned_by(DVec3::ZERO), DQuat::IDENTITY);
        let mut count = 0;
        for k in 0..2000 {
            let k = f64::from(k);
            let way = DVec3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin()) * (0.003 * k);
            let (here, glam) = (turned_by(way), DQuat::from_scaled_axis(way));
            assert!((here - glam).length() < 1e-15, "{way}: {here} {glam}");
            let other = DQuat::from_euler(glam::EulerRot::XYZ, 0.1 * k, 0.2, -0.05 * k);
            let (angle, wanted) = (angle_between(here, other), here.angle_between(other));
            assert!((angle - wanted).abs() < 1e-7, "{angle} {wanted}");
            // A sine with the wrong half of the angle is far outside of these bounds.
            count += usize::from((DQuat::from_scaled_axis(way * 0.999) - glam).length() > 1e-15);
        }
        assert!(count > 1900, "{count}");
    }
}
