//! How strong a material is, and how strong each bond.

use glam::DVec3;

/// Materials whose strength is known. The figures are usual ones of handbooks, in round numbers; a scene may give its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StrengthMaterial {
    /// Soda-lime glass.
    Glass,
    /// Stoneware, porcelain.
    Ceramic,
    /// Plain concrete.
    #[default]
    Concrete,
    /// Bricks in lime mortar: the joints decide.
    Masonry,
    /// Granite.
    Stone,
    /// Gypsum plaster.
    Plaster,
    /// Oak; strong along [`Strength::grain_axis`], weak across it.
    Oak,
    /// Ice.
    Ice,
}

kintsugi_core::names! { StrengthMaterial:
    Glass = "glass", Ceramic = "ceramic", Concrete = "concrete", Masonry = "masonry", Stone = "stone",
    Plaster = "plaster", Oak = "oak", Ice = "ice",
}

impl StrengthMaterial {
    /// A line about it.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Glass => "Brittle: strong until it breaks, and a crack costs next to no energy",
            Self::Ceramic => "As stoneware and porcelain",
            Self::Concrete => "Plain concrete: strong where pressed, weak where pulled",
            Self::Masonry => "Bricks in lime mortar, whose joints are weak",
            Self::Stone => "As granite",
            Self::Plaster => "Gypsum plaster: soft and weak",
            Self::Oak => "Wood: strong along its grain, splits along it easily",
            Self::Ice => "Weak and brittle",
        }
    }

    /// Its strength: tension, compression, shear (MPa), Young's modulus (GPa), fracture energy (J/m^2), strength across
    /// the grain as a share of that along it.
    #[must_use]
    pub fn strength(self) -> Strength {
        let (tension, compression, shear, stiffness, toughness, across) = match self {
            Self::Glass => (40.0, 800.0, 40.0, 70.0, 8.0, 1.0),
            Self::Ceramic => (30.0, 300.0, 30.0, 70.0, 30.0, 1.0),
            Self::Concrete => (3.0, 30.0, 5.0, 30.0, 100.0, 1.0),
            Self::Masonry => (0.3, 10.0, 0.4, 5.0, 20.0, 1.0),
            Self::Stone => (10.0, 150.0, 15.0, 50.0, 100.0, 1.0),
            Self::Plaster => (1.0, 6.0, 1.5, 5.0, 20.0, 1.0),
            Self::Oak => (90.0, 50.0, 10.0, 12.0, 10_000.0, 0.05),
            Self::Ice => (1.0, 6.0, 1.0, 9.0, 1.0, 1.0),
        };
        Strength {
            tension: tension * 1e6,
            compression: compression * 1e6,
            shear: shear * 1e6,
            stiffness: stiffness * 1e9,
            toughness,
            across,
            ..Strength::default()
        }
    }
}

impl StrengthMaterial {
    /// Its usual density, kg/m^3, for bodies without a density of their own.
    #[must_use]
    pub fn density(self) -> f64 {
        match self {
            Self::Glass => 2500.0,
            Self::Ceramic => 2200.0,
            Self::Concrete => 2400.0,
            Self::Masonry => 1800.0,
            Self::Stone => 2700.0,
            Self::Plaster => 1100.0,
            Self::Oak => 700.0,
            Self::Ice => 917.0,
        }
    }
}

/// How strong the bonds of a structure are. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// Tension at which a bond fails, Pa.
    pub tension: f64,
    /// Compression at which it fails, Pa.
    pub compression: f64,
    /// Shear at which it fails without compression, Pa.
    pub shear: f64,
    /// Young's modulus, Pa: it decides how loads are shared out, and which energy a blow needs.
    pub stiffness: f64,
    /// Energy that a new crack takes, J for each m^2 of its area.
    pub toughness: f64,
    /// Strength across the grain as a share of that along it, above 0 to 1.
    pub across: f64,
    /// Direction of the grain, body axes.
    pub grain_axis: DVec3,
    /// Scatter of the strength from bond to bond: standard deviation of its logarithm.
    pub scatter: f64,
    /// Random seed of the scatter.
    pub rng: u64,
    /// Share of its remaining strength that a bond loses for each bond of its two parts that fails, 0 to below 1.
    pub propagation: f64,
    /// Share of its remaining strength that a bond loses by a blow which it only just survives, 0 to below 1.
    pub fatigue: f64,
    /// Load up to which blows wear nothing, as a share of the remaining strength, 0 to below 1.
    pub endurance: f64,
}

impl Default for Strength {
    fn default() -> Self {
        Self {
            tension: 3e6,
            compression: 30e6,
            shear: 5e6,
            stiffness: 30e9,
            toughness: 100.0,
            across: 1.0,
            grain_axis: DVec3::Y,
            scatter: 0.0,
            rng: 1,
            propagation: 0.0,
            fatigue: 0.0,
            endurance: 0.5,
        }
    }
}

impl Strength {
    /// Share of the strength that the bond between the parts of these numbers has, across `normal` (unit): its scatter
    /// times what the grain leaves of it (Hankinson's formula, with the normal's angle to the grain).
    #[must_use]
    pub fn share(&self, parts: [u32; 2], normal: DVec3) -> f64 {
        let along = normal.dot(self.grain_axis.normalize_or(normal)).powi(2).min(1.0);
        let across = self.across.clamp(1e-6, 1.0);
        let of_grain = across / ((1.0 - along) + across * along);
        of_grain * libm::exp(self.scatter * normal_deviate(self.rng, parts))
    }

    /// The share of its remaining strength that a bond loses by a blow, 0 to below 1: in proportion to the load above the
    /// endurance limit. `lasting` is its load before the blow and `most` that at the height of the blow, both as shares of
    /// the remaining strength. A load that lasts is no blow and wears nothing.
    #[must_use]
    pub fn wear(&self, lasting: f64, most: f64) -> f64 {
        let above = (most - lasting.max(self.endurance)).max(0.0) / (1.0 - self.endurance);
        self.fatigue * above.min(1.0)
    }
}

/// A number of the standard normal distribution that belongs to a pair (Box & Muller 1958), the same on every system.
fn normal_deviate(rng: u64, [a, b]: [u32; 2]) -> f64 {
    use rand::{RngExt as _, SeedableRng as _};
    let pair = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(rng ^ pair.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * libm::log(1.0 - u)).sqrt() * libm::cos(std::f64::consts::TAU * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grain_and_the_scatter_decide_about_single_bonds() {
        let oak = StrengthMaterial::Oak.strength();
        assert!((oak.share([0, 1], DVec3::Y) - 1.0).abs() < 1e-12);
        assert!((oak.share([0, 1], DVec3::X) - 0.05).abs() < 1e-12);
        let slanted = oak.share([0, 1], DVec3::new(1.0, 1.0, 0.0).normalize());
        assert!((slanted - 0.05 / (0.5 + 0.025)).abs() < 1e-12, "{slanted}");
        let concrete = Strength { scatter: 0.2, ..StrengthMaterial::Concrete.strength() };
        let all: Vec<f64> = (0..4000).map(|k| concrete.share([k, k + 1], DVec3::X).ln()).collect();
        let mean = all.iter().sum::<f64>() / 4000.0;
        let deviation = (all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!(mean.abs() < 0.01 && (deviation - 0.2).abs() < 0.01, "{mean} {deviation}");
        assert_eq!(concrete.share([3, 9], DVec3::X), concrete.share([9, 3], DVec3::X));
    }

    #[test]
    fn every_material_has_a_name_of_its_own() {
        for material in StrengthMaterial::ALL {
            let strength = material.strength();
            assert!(strength.tension > 0.0 && strength.stiffness > strength.tension, "{material:?}");
        }
        let names: std::collections::BTreeSet<_> = StrengthMaterial::ALL.iter().map(|m| m.name()).collect();
        assert_eq!(names.len(), StrengthMaterial::ALL.len());
    }
}
