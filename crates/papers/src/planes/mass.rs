//! Volume, centre and inertia by tetrahedra (the paper's "Stan Melax volume integration", and the inertia it leaves to
//! the engine).

use super::polyhedron::Polyhedron;
use glam::{DMat3, DVec3};

/// What a solid weighs at density 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mass {
    pub(super) volume: f64,
    pub(super) centre: DVec3,
    /// About the centre.
    pub(super) inertia: DMat3,
}

impl Mass {
    /// By the tetrahedra between each triangle and a vertex of the solid, so that nothing cancels far from zero.
    pub(super) fn of(solid: &Polyhedron) -> Self {
        let reference = solid.vertices.first().copied().unwrap_or_default();
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for corners in solid.triangles() {
            let [a, b, c] = corners.map(|p| p - reference);
            let part = a.dot(b.cross(c)) / 6.0;
            volume += part;
            let sum = a + b + c;
            first += sum * (part / 4.0);
            // Of a tetrahedron with one corner at zero: all products of two corners, those of a corner with itself
            // once more.
            second += (square(sum) + square(a) + square(b) + square(c)) * (part / 20.0);
        }
        let mean = if volume > 0.0 { first / volume } else { DVec3::ZERO };
        let spread = second - square(mean) * volume;
        let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        Self { volume, centre: reference + mean, inertia: DMat3::from_diagonal(DVec3::splat(trace)) - spread }
    }
}

fn square(p: DVec3) -> DMat3 {
    DMat3::from_cols(p * p.x, p * p.y, p * p.z)
}
