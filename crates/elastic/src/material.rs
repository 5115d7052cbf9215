//! An isotropic, linear elastic material.

use crate::ElasticError;

/// Constants of an isotropic material. The cells of a body are as stiff and as heavy as their share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus, Pa.
    pub youngs_modulus: f64,
    /// Poisson's ratio, -0.9 to 0.49.
    pub poissons_ratio: f64,
    /// Density, kg/m^3.
    pub density: f64,
}

impl Material {
    /// Lamé's two constants for a Young's modulus of 1.
    pub(crate) fn lame(poissons_ratio: f64) -> (f64, f64) {
        let nu = poissons_ratio;
        (nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu))
    }

    /// Whether all constants are in range.
    ///
    /// # Errors
    /// [`ElasticError::Material`].
    pub fn check(&self) -> Result<(), ElasticError> {
        let refused = |name, value, range| Err(ElasticError::Material { name, value, range });
        // Cells of a material without any change of volume, at 0.5, are infinitely stiff; at -1 they do not resist shear.
        if !(-0.9..=0.49).contains(&self.poissons_ratio) {
            return refused("Poisson's ratio", self.poissons_ratio, "from -0.9 to 0.49");
        }
        if !(1.0..=1e15).contains(&self.youngs_modulus) {
            return refused("Young's modulus", self.youngs_modulus, "from 1 to 1e15 Pa");
        }
        if !(1e-6..=1e9).contains(&self.density) {
            return refused("the density", self.density, "from 1e-6 to 1e9 kg/m^3");
        }
        Ok(())
    }
}
