//! A bond: what two pieces share, and what it bears before it breaks.
//!
//! In: the area and second moments of a crack, and strengths in Pa. Out: a [`Capacity`] in N and N m.
//!
//! The stresses are those by which structures of the crate physics fail: N / A + M c / I in tension and compression,
//! V / A + T c / J in shear, of the rectangle that has the same second moments. That is beam theory of a flat section
//! (Timoshenko & Gere, *Mechanics of Materials*, ch. 5); a rectangle b x h so bends at strength * b h^2 / 6.

use glam::{DMat3, DVec3};

use crate::{bodies::structure::Strength, fracture::CrackSection};

/// A pair of neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bond {
    /// Ids of the pieces, the lower one first.
    pub pieces: [usize; 2],
    /// Shared crack area, square units of shape space.
    pub area: f64,
    /// Centre of the area, shape space.
    pub centre: DVec3,
    /// Unit normal from the first to the second piece.
    pub normal: DVec3,
    /// Mean distance between the two faces, units of shape space.
    pub gap: f64,
    /// Area of its projection on the mean plane, which carries the loads: less than the area where the crack is rough.
    pub section: f64,
    /// Second moments of that projection about its centre, the integral of r r^T: as of
    /// [`CrackSection`].
    pub moments: DMat3,
}

/// A bond that a structure has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldBond {
    /// The crack that it holds closed, exactly; its normal goes from the lower piece to the higher one.
    pub section: CrackSection,
    /// Share of the strength that it has; 0 if it has failed.
    pub share: f64,
}

/// Each of these loads, alone, breaks a bond.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// Force that pulls it open, N.
    pub pull: f64,
    /// Force that crushes it, N.
    pub press: f64,
    /// Force along the crack, N.
    pub slide: f64,
    /// Torque that bends it open about its weakest axis, N m.
    pub bend: f64,
    /// Torque about its normal, N m.
    pub twist: f64,
}

impl Capacity {
    /// Of a bond whose section is in m^2 and m^4, and which has a share of the strength.
    #[must_use]
    pub fn of(bond: &Bond, strength: &Strength, share: f64) -> Self {
        let area = bond.section * share;
        let (least, polar) = in_plane(&bond.moments);
        // The torque at which the rectangle's edge bears a stress of 1 Pa.
        let modulus = |moment: f64| (bond.section * moment.max(0.0) / 3.0).sqrt() * share;
        Self {
            pull: strength.tension * area,
            press: strength.compression * area,
            slide: strength.shear * area,
            bend: strength.tension * modulus(least),
            twist: strength.shear * modulus(polar),
        }
    }

    /// The least force, in whatever direction, that breaks the bond: for programs with one threshold of force, N.
    #[must_use]
    pub fn force(&self) -> f64 {
        self.pull.min(self.press).min(self.slide)
    }

    /// The least torque, about whatever axis, that breaks the bond: for programs with one threshold of torque, N m.
    #[must_use]
    pub fn torque(&self) -> f64 {
        self.bend.min(self.twist)
    }

    /// The same where lengths are `scale` times as large and forces are what they were.
    pub(crate) fn scaled(self, scale: f64) -> Self {
        Self { bend: self.bend * scale, twist: self.twist * scale, ..self }
    }
}

/// The smaller of a flat section's two principal second moments, and their sum.
fn in_plane(moments: &DMat3) -> (f64, f64) {
    let polar = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
    let squares: f64 = moments.to_cols_array().iter().map(|v| v * v).sum();
    // The third is zero, so the sum of the products of two is the product of these two.
    let product = 0.5 * (polar * polar - squares);
    let apart = (polar * polar - 4.0 * product).max(0.0).sqrt();
    (0.5 * (polar - apart), polar)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    /// A rectangle of the sides b and h (m), turned.
    fn rectangle(b: f64, h: f64, turn: DQuat) -> Bond {
        let turn = DMat3::from_quat(turn);
        let upright = DMat3::from_diagonal(DVec3::new(h * b.powi(3), b * h.powi(3), 0.0)) * (1.0 / 12.0);
        Bond {
            pieces: [0, 1],
            section: b * h,
            normal: turn * DVec3::Z,
            moments: turn * upright * turn.transpose(),
            ..Bond::default()
        }
    }

    /// With what grain and scatter leave.
    fn own(bond: &Bond, strength: &Strength) -> Capacity {
        Capacity::of(bond, strength, strength.share([0, 1], bond.normal))
    }

    #[test]
    fn a_rectangle_bears_what_beam_theory_says() {
        let strength = Strength { tension: 3e6, compression: 30e6, shear: 5e6, ..Strength::default() };
        let (b, h) = (0.2, 0.5);
        for turn in [DQuat::IDENTITY, DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0)] {
            let holds = own(&rectangle(b, h, turn), &strength);
            // Bends over its flat side: 3 MPa * h b^2 / 6.
            let polar = b * h * (b * b + h * h) / 12.0;
            let wanted = Capacity {
                pull: 3e5,
                press: 3e6,
                slide: 5e5,
                bend: 3e6 * h * b * b / 6.0,
                twist: 5e6 * (b * h * polar / 3.0).sqrt(),
            };
            let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            assert!(close(holds.pull, wanted.pull) && close(holds.press, wanted.press), "{holds:?}");
            assert!(
                close(holds.slide, wanted.slide) && close(holds.bend, wanted.bend),
                "{holds:?} {wanted:?}"
            );
            assert!(close(holds.twist, wanted.twist), "{holds:?} {wanted:?}");
            assert!(close(holds.force(), 3e5) && close(holds.torque(), wanted.bend));
        }
    }

    #[test]
    fn across_the_grain_a_bond_bears_less() {
        let oak = Strength { across: 0.05, grain_axis: DVec3::Z, ..Strength::default() };
        let along = own(&rectangle(0.1, 0.1, DQuat::IDENTITY), &oak);
        let turned = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let across = own(&rectangle(0.1, 0.1, turned), &oak);
        assert!(
            (across.pull / along.pull - 0.05).abs() < 1e-9
                && (across.twist / along.twist - 0.05).abs() < 1e-9
        );
    }
}
