//! Momentum of a body before it broke, and of its pieces after that.
//!
//! In: mass, inertia, place and velocities of the body and of its pieces, and the velocity that the blow gave to each piece.
//! Out: a check of linear and one of angular momentum. The reference of angular momentum is the body's centre of mass.

use glam::{DMat3, DVec3};

use super::Check;
use crate::bodies::Body;

/// Largest difference that counts as none, as a share of the momenta that are summed. Coverage of voxels has 24 bits, so
/// masses and centres of pieces sum to those of the body to about 1e-7.
const SAME: f64 = 1e-6;

/// What momentum is computed from. World space, SI units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moving {
    /// Mass, kg.
    pub kg: f64,
    /// Inertia about the centre of mass, world axes, kg m^2.
    pub inertia: DMat3,
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Velocity of the centre of mass, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl Moving {
    /// A body of a world, as it moves now.
    #[must_use]
    pub fn of(body: &Body) -> Self {
        Self {
            kg: body.def.mass_kg(),
            inertia: body.inertia_in_world(),
            centre: body.state.position,
            velocity: body.state.linear_velocity,
            spin: body.state.angular_velocity,
        }
    }

    /// Radius of gyration, m: how far from the centre the mass lies.
    fn reach(&self) -> f64 {
        let trace = self.inertia.x_axis.x + self.inertia.y_axis.y + self.inertia.z_axis.z;
        (trace.max(0.0) / (2.0 * self.kg.max(f64::MIN_POSITIVE))).sqrt()
    }
}

/// Moments of what is in none of the pieces, about the body's centre of mass.
struct Rest {
    kg: f64,
    /// Mass times place, kg m.
    first: DVec3,
    /// Inertia, kg m^2.
    inertia: DMat3,
}

impl Rest {
    fn take(&mut self, piece: &Moving, arm: DVec3) {
        let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
        let square = DMat3::from_diagonal(DVec3::splat(arm.length_squared()));
        self.kg -= piece.kg;
        self.first -= arm * piece.kg;
        self.inertia -= piece.inertia + (square - outer) * piece.kg;
    }

    /// Its linear and angular momentum, moving with the body `whole`.
    fn momentum(&self, whole: &Moving) -> [DVec3; 2] {
        [
            whole.velocity * self.kg + whole.spin.cross(self.first),
            self.first.cross(whole.velocity) + self.inertia * whole.spin,
        ]
    }
}

/// Whether linear and angular momentum of `whole` and of the blow are those of its `pieces`. A piece comes with the velocity
/// that the blow gave it, m/s.
///
/// Where the pieces are `all_there`, the sums must agree by themselves. Where something is in no piece (dust, dropped parts,
/// pieces that cannot move, the voxels that stood in for a mesh), the rest has what the moments of the whole and of the
/// pieces differ by, and moves as the whole did.
#[must_use]
pub fn momentum(whole: &Moving, pieces: &[(Moving, DVec3)], all_there: bool) -> [Check; 2] {
    let mut rest = Rest { kg: whole.kg, first: DVec3::ZERO, inertia: whole.inertia };
    let (mut after, mut blow) = ([DVec3::ZERO; 2], [DVec3::ZERO; 2]);
    // Sums of absolute values, with which differences are compared: momenta may cancel.
    let mut reach = whole.reach();
    let mut size = whole.kg * (whole.velocity.length() + whole.spin.length() * reach);
    for (piece, push) in pieces {
        let arm = piece.centre - whole.centre;
        let (own, pushed) = (piece.velocity * piece.kg, *push * piece.kg);
        after = [after[0] + own, after[1] + arm.cross(own) + piece.inertia * piece.spin];
        blow = [blow[0] + pushed, blow[1] + arm.cross(pushed)];
        rest.take(piece, arm);
        reach = reach.max(arm.length());
        size += own.length() + piece.kg * piece.spin.length() * piece.reach();
    }
    let before = [whole.velocity * whole.kg, whole.inertia * whole.spin];
    let elsewhere = if all_there { [DVec3::ZERO; 2] } else { rest.momentum(whole) };
    let names = ["momentum_before_is_momentum_after", "angular_momentum_before_is_angular_momentum_after"];
    [0, 1].map(|i| {
        let wanted = before[i] + blow[i] - elsewhere[i];
        let difference = (after[i] - wanted).length();
        let error = difference / (size * [1.0, reach][i]).max(f64::MIN_POSITIVE);
        Check::new(
            names[i],
            error <= SAME,
            &[
                ("before", before[i].length()),
                ("blow", blow[i].length()),
                ("elsewhere", elsewhere[i].length()),
                ("wanted", wanted.length()),
                ("after", after[i].length()),
                ("difference", difference),
                ("worst_relative_error", error),
            ],
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A solid box between two corners, of 2 kg/m^3, that moves with a rigid body about `pivot`.
    fn part([low, high]: [DVec3; 2], pivot: DVec3, velocity: DVec3, spin: DVec3) -> Moving {
        let edges = high - low;
        let kg = 2.0 * edges.x * edges.y * edges.z;
        let square = edges * edges;
        let moments = DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y);
        let centre = low.midpoint(high);
        Moving {
            kg,
            inertia: DMat3::from_diagonal(moments * (kg / 12.0)),
            centre,
            velocity: velocity + spin.cross(centre - pivot),
            spin,
        }
    }

    /// A box that moves and turns, and its two parts on both sides of the plane x = 12, with what a blow gave them.
    fn cut() -> (Moving, Vec<(Moving, DVec3)>) {
        let (low, high) = (DVec3::new(10.0, -1.0, 3.0), DVec3::new(15.0, 1.0, 4.0));
        let (velocity, spin) = (DVec3::new(3.0, -1.0, 0.5), DVec3::new(0.3, -2.0, 1.1));
        let pivot = low.midpoint(high);
        let boxes = [[low, DVec3::new(12.0, 1.0, 4.0)], [DVec3::new(12.0, -1.0, 3.0), high]];
        let pushes = [DVec3::new(0.0, 4.0, 0.0), DVec3::new(1.0, 0.0, -2.0)];
        let parts = boxes.into_iter().zip(pushes).map(|(corners, push)| {
            let part = part(corners, pivot, velocity, spin);
            (Moving { velocity: part.velocity + push, ..part }, push)
        });
        (part([low, high], pivot, velocity, spin), parts.collect())
    }

    fn holds(whole: &Moving, pieces: &[(Moving, DVec3)], all_there: bool) -> [bool; 2] {
        momentum(whole, pieces, all_there).map(|check| check.ok)
    }

    #[test]
    fn momentum_of_a_cut_box_is_that_of_the_box_and_of_the_blow() {
        let (whole, pieces) = cut();
        let [linear, angular] = momentum(&whole, &pieces, true);
        assert!(linear.ok && angular.ok, "{linear:?} {angular:?}");
        // By hand: 20 kg at (3, -1, 0.5) m/s; the blow gave 8 kg and 12 kg their pushes.
        let wanted =
            DVec3::new(60.0, -20.0, 10.0) + DVec3::new(0.0, 32.0, 0.0) + DVec3::new(12.0, 0.0, -24.0);
        assert!((linear.figures["after"] - wanted.length()).abs() < 1e-9, "{linear:?}");
        assert!(linear.figures["blow"] > 1.0 && angular.figures["blow"] > 1.0);
        // A body at rest that nothing pushes.
        let still = |moving: Moving| Moving { velocity: DVec3::ZERO, spin: DVec3::ZERO, ..moving };
        let resting: Vec<_> = pieces.iter().map(|(piece, _)| (still(*piece), DVec3::ZERO)).collect();
        assert_eq!(holds(&still(whole), &resting, true), [true; 2]);
    }

    #[test]
    fn velocity_spin_and_place_that_are_off_are_seen() {
        let (whole, pieces) = cut();
        let planted = |change: fn(&mut Moving)| {
            let mut wrong = pieces.clone();
            change(&mut wrong[1].0);
            // What is elsewhere must not explain the error away.
            [holds(&whole, &wrong, true), holds(&whole, &wrong, false)]
        };
        assert_eq!(planted(|piece| piece.velocity.y += 1e-3), [[false; 2]; 2]);
        assert_eq!(planted(|piece| piece.spin.z *= 1.001), [[true, false]; 2]);
        assert_eq!(planted(|piece| piece.centre.y += 0.01)[0], [true, false]);
        assert!(!planted(|piece| piece.kg *= 1.001)[0][0]);
        let mut unpushed = pieces.clone();
        unpushed[0].1 = DVec3::ZERO;
        assert_eq!(holds(&whole, &unpushed, true), [false; 2], "a push that the blow did not give");
    }

    #[test]
    fn what_is_in_no_piece_took_its_own_momentum_along() {
        let (whole, mut pieces) = cut();
        pieces.remove(0);
        assert_eq!(holds(&whole, &pieces, true), [false; 2], "nothing was to be lost");
        assert_eq!(holds(&whole, &pieces, false), [true; 2]);
        pieces[0].0.velocity.x += 1e-3;
        assert!(!holds(&whole, &pieces, false)[0]);
        assert_eq!(holds(&whole, &[], false), [true; 2], "no piece can move");
    }
}
