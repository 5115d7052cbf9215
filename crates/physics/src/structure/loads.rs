//! What loads a structure in a step, and whether that is new.

use glam::DVec3;

use super::{block::Six, graph::Structure};

/// Contacts that close more slowly do not strike, m/s: contacts at rest close by about this much from step to step.
pub const SLOWEST: f64 = 0.03;
/// Loads that differ by less, as a share of the structure's weight or its largest load, are those of before.
const SAME: f64 = 1e-3;

/// A contact of the body in a step. Shape space and body axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointLoad {
    /// Where, m.
    pub point: DVec3,
    /// On the body in the whole step, N s.
    pub impulse: DVec3,
    /// Speed at which the contact closed when the step began, m/s.
    pub closing: f64,
}

/// A place where the body rests on what cannot move. Its impulse is also in a [`PointLoad`], except where it is 0: the
/// place then touches, and the response to contacts left it without a load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Support {
    /// Where, shape space, m.
    pub point: DVec3,
    /// The direction in which the support pushes the body, body axes, unit.
    pub normal: DVec3,
    /// Along `normal` in the whole step, N s; at least 0.
    pub impulse: f64,
}

/// All that loads a body in a step.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// Its contacts.
    pub contacts: &'a [PointLoad],
    /// Those of them that support it, and places that only touch: the structure decides what each of them bears.
    pub supports: &'a [Support],
    /// Gravity, body axes, m/s^2.
    pub gravity: DVec3,
    /// Angular velocity, body axes, rad/s.
    pub spin: DVec3,
    /// Density, kg/m^3.
    pub density: f64,
    /// Length of the step, s.
    pub dt: f64,
}

impl Loads<'_> {
    /// The energy that contacts which strike take out of the bodies, J.
    pub(super) fn blow(&self) -> f64 {
        let strike = self.contacts.iter().filter(|contact| contact.closing > SLOWEST);
        strike.map(|contact| 0.5 * contact.impulse.length() * contact.closing).sum()
    }

    /// Loads of the parts by contacts, about their nodes.
    pub(super) fn by_contacts(&self, structure: &Structure) -> Vec<Six> {
        let mut now = vec![Six::ZERO; structure.parts.len()];
        for contact in self.contacts {
            let Some(part) = structure.part_at(contact.point) else { continue };
            let force = contact.impulse / self.dt;
            let arm = contact.point - structure.parts[part as usize].node;
            now[part as usize] += Six { linear: force, angular: arm.cross(force) };
        }
        now
    }
}

/// Whether loads of contacts are those of before, in a structure of this weight (N).
pub(super) fn is_unchanged(before: &[Six], now: &[Six], weight: f64) -> bool {
    let largest = now.iter().map(|load| load.linear.length_squared()).fold(0.0, f64::max).sqrt().max(weight);
    before.len() == now.len()
        && before
            .iter()
            .zip(now)
            .all(|(a, b)| (a.linear - b.linear).length_squared() <= (SAME * largest).powi(2))
}

/// Whether gravity and spin are those of before.
pub(super) fn is_near(before: [DVec3; 2], now: [DVec3; 2]) -> bool {
    before[0].distance(now[0]) <= SAME * now[0].length() && before[1].distance(now[1]) <= 1e-3
}
