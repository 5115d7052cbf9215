//! Masses of parts, and the inertia that balances loads on what no anchor holds.

use glam::{DMat3, DVec3};

use super::{
    block::Six,
    graph::{Structure, StructurePart},
};

/// Masses of all parts for a density of one, since a body's density may change.
#[derive(Clone, Debug)]
pub(super) struct Masses {
    /// Volume (m^3), centre (shape space, m) and inertia about it (m^5) of every part.
    parts: Vec<(f64, DVec3, DMat3)>,
    /// Volume of all, m^3.
    pub volume: f64,
}

impl Masses {
    pub fn new(structure: &Structure) -> Self {
        let of = |part: &StructurePart| {
            let mass = part.shape.mass();
            (mass.volume_m3, mass.centre, part.shape.inertia() * (1.0 / part.shape.density().max(1e-300)))
        };
        let parts: Vec<_> = structure.parts.iter().map(of).collect();
        let volume = parts.iter().map(|part| part.0).sum();
        Self { parts, volume }
    }

    /// Volume of a part, m^3.
    pub fn volume_of(&self, part: usize) -> f64 {
        self.parts[part].0
    }

    /// Adds to `loads` the weight of the parts where `gravity` is not zero, and the inertia of each component that no
    /// anchor holds.
    pub fn balance(
        &self,
        structure: &Structure,
        component: &[u32],
        (density, gravity, spin): (f64, DVec3, DVec3),
        loads: &mut [Six],
    ) {
        let arm = |part: usize| self.parts[part].1 - structure.parts[part].node;
        if gravity != DVec3::ZERO {
            for (part, load) in loads.iter_mut().enumerate() {
                let weight = gravity * (self.parts[part].0 * density);
                *load += Six { linear: weight, angular: arm(part).cross(weight) };
            }
        }
        let count = component.iter().max().map_or(0, |last| *last as usize + 1);
        let mut held = vec![false; count];
        for (part, own) in structure.parts.iter().enumerate() {
            held[component[part] as usize] |= own.anchored;
        }
        if held.iter().all(|held| *held) {
            return;
        }
        let mut sums = vec![(0.0, DVec3::ZERO); count];
        for (part, of) in component.iter().enumerate() {
            let (volume, centre, _) = self.parts[part];
            let sum = &mut sums[*of as usize];
            sum.0 += volume * density;
            sum.1 += centre * (volume * density);
        }
        let centres: Vec<DVec3> = sums.iter().map(|(mass, sum)| *sum / mass.max(1e-300)).collect();
        let mut turning = vec![(DVec3::ZERO, DVec3::ZERO, DMat3::ZERO); count];
        for (part, load) in loads.iter().enumerate() {
            let of = component[part] as usize;
            let (volume, centre, inertia) = self.parts[part];
            let from = centre - centres[of];
            let (force, torque, all) = &mut turning[of];
            *force += load.linear;
            *torque += load.angular + (structure.parts[part].node - centres[of]).cross(load.linear);
            let outer = DMat3::from_cols(from * from.x, from * from.y, from * from.z);
            let own = DMat3::from_diagonal(DVec3::splat(from.length_squared())) - outer;
            *all += inertia * density + own * (volume * density);
        }
        let angular: Vec<DVec3> = turning
            .iter()
            .map(|(_, torque, all)| {
                let angular = all.inverse() * (*torque - spin.cross(*all * spin));
                if angular.is_finite() { angular } else { DVec3::ZERO }
            })
            .collect();
        for (part, load) in loads.iter_mut().enumerate() {
            let of = component[part] as usize;
            if held[of] {
                continue;
            }
            let angular = angular[of];
            let (volume, centre, inertia) = self.parts[part];
            let (mass, inertia) = (volume * density, inertia * density);
            let from = centre - centres[of];
            let acceleration =
                turning[of].0 / sums[of].0.max(1e-300) + angular.cross(from) + spin.cross(spin.cross(from));
            let push = acceleration * -mass;
            let turn = inertia * -angular - spin.cross(inertia * spin);
            *load += Six { linear: push, angular: turn + arm(part).cross(push) };
        }
    }
}
