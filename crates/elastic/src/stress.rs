//! Stress tensors.

use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// A symmetric stress tensor, Pa, positive in tension: xx, yy, zz, yz, zx, xy, along the axes of shape space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stress(pub [f64; 6]);

impl Stress {
    /// The tensor as a matrix.
    #[must_use]
    pub fn matrix(&self) -> DMat3 {
        let [xx, yy, zz, yz, zx, xy] = self.0;
        DMat3::from_cols(DVec3::new(xx, xy, zx), DVec3::new(xy, yy, yz), DVec3::new(zx, yz, zz))
    }

    /// The principal stresses, largest first, in closed form (Smith 1961).
    #[must_use]
    pub fn principal(&self) -> [f64; 3] {
        let [xx, yy, zz, yz, zx, xy] = self.0;
        let mean = (xx + yy + zz) / 3.0;
        let [a, b, c] = [xx - mean, yy - mean, zz - mean];
        let spread = ((a * a + b * b + c * c + 2.0 * (yz * yz + zx * zx + xy * xy)) / 6.0).sqrt();
        if spread.is_nan() || spread == 0.0 {
            return [mean; 3];
        }
        let [a, b, c, d, e, f] = [a, b, c, yz, zx, xy].map(|v| v / spread);
        let determinant = a * (b * c - d * d) - f * (f * c - d * e) + e * (f * d - b * e);
        let angle = libm::acos((0.5 * determinant).clamp(-1.0, 1.0)) / 3.0;
        let largest = mean + 2.0 * spread * libm::cos(angle);
        let least = mean + 2.0 * spread * libm::cos(angle + 2.0 * PI / 3.0);
        [largest, 3.0 * mean - largest - least, least]
    }

    /// The largest principal stress, or 0 where every direction is compressed.
    #[must_use]
    pub fn tension(&self) -> f64 {
        self.principal()[0].max(0.0)
    }

    /// The equivalent stress of von Mises.
    #[must_use]
    pub fn von_mises(&self) -> f64 {
        let [xx, yy, zz, yz, zx, xy] = self.0;
        let square = |v: f64| v * v;
        let normal = square(xx - yy) + square(yy - zz) + square(zz - xx);
        (0.5 * normal + 3.0 * (square(yz) + square(zx) + square(xy))).sqrt()
    }

    /// Adds a share of another.
    pub(crate) fn add(&mut self, share: f64, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to += share * from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_stresses_are_the_roots() {
        assert_eq!(Stress([2.0, 2.0, 2.0, 0.0, 0.0, 0.0]).principal(), [2.0; 3]);
        assert_eq!(Stress::default().principal(), [0.0; 3]);
        for seed in 0..500usize {
            let mut s =
                Stress(std::array::from_fn(|i| ((seed * 7919 + i * 104_729) % 1009) as f64 / 504.0 - 1.0));
            if seed % 3 == 0 {
                s.0[3 + seed % 2] = 0.0;
                s.0[5] = 0.0;
            }
            let principal = s.principal();
            assert!(principal.is_sorted_by(|a, b| a >= b));
            for root in principal {
                let left = (s.matrix() - DMat3::from_diagonal(DVec3::splat(root))).determinant();
                assert!(left.abs() < 1e-12, "{s:?} {root} {left}");
            }
            let trace: f64 = principal.iter().sum();
            assert!((trace - (s.0[0] + s.0[1] + s.0[2])).abs() < 1e-12);
            let [a, b, c] = principal;
            let mises = (0.5 * ((a - b).powi(2) + (b - c).powi(2) + (c - a).powi(2))).sqrt();
            assert!((mises - s.von_mises()).abs() < 1e-7, "{mises} {}", s.von_mises());
        }
    }

    #[test]
    fn compression_is_no_tension() {
        assert_eq!(Stress([-1.0, -2.0, -3.0, 0.0, 0.0, 0.0]).tension(), 0.0);
        let sheared = Stress([0.0, 0.0, 0.0, 0.0, 0.0, 5.0]);
        assert!((sheared.tension() - 5.0).abs() < 1e-12);
        assert!((sheared.von_mises() - 5.0 * 3f64.sqrt()).abs() < 1e-12);
    }
}
