//! Mass, centre and inertia in SI units for any geometry, and values derived from them.

use glam::{DMat3, DVec3};

/// Mass properties of a shape. Shape space, SI units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MassProperties {
    /// Mass, kg.
    pub kg: f64,
    /// Volume, m^3.
    pub volume_m3: f64,
    /// Centre of mass, shape space, m.
    pub centre: DVec3,
    /// Inertia tensor about the centre, axes of shape space, kg m^2.
    pub inertia: DMat3,
}

impl MassProperties {
    /// Mass properties of the solid bounded by closed triangles, from the signed tetrahedra between each triangle and a
    /// reference point (Mirtich 1996, Journal of Graphics Tools 1, gives the same integrals over faces). Triangles are
    /// counter-clockwise seen from outside; m, kg/m^3.
    #[must_use]
    pub fn of_triangles(triangles: impl Iterator<Item = [DVec3; 3]>, density: f64) -> Self {
        // Relative to a point of the solid, so that there is no cancellation far from the origin.
        let mut reference = None;
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for corners in triangles {
            let reference = *reference.get_or_insert(corners[0]);
            let [a, b, c] = corners.map(|p| p - reference);
            let v = a.dot(b.cross(c)) / 6.0;
            volume += v;
            first += (a + b + c) * (v / 4.0);
            // Covariance of a tetrahedron with one vertex at the origin: v / 20 times the sum of the outer products of
            // the vertices' sum and of each vertex with themselves.
            let sum = a + b + c;
            second += (outer(sum) + outer(a) + outer(b) + outer(c)) * (v / 20.0);
        }
        let Some(reference) = reference.filter(|_| volume > 0.0 && volume.is_finite()) else {
            return Self::default();
        };
        let mean = first / volume;
        let about_centre = second - outer(mean) * volume;
        let trace = about_centre.x_axis.x + about_centre.y_axis.y + about_centre.z_axis.z;
        Self {
            kg: volume * density,
            volume_m3: volume,
            centre: reference + mean,
            inertia: (DMat3::from_diagonal(DVec3::splat(trace)) - about_centre) * density,
        }
    }
}

fn outer(p: DVec3) -> DMat3 {
    DMat3::from_cols(p * p.x, p * p.y, p * p.z)
}

/// The shortest edge of the box with these moments: `mass` and inertia in matching units (volume and volume times
/// length squared, or kg and kg m^2); 0 without mass.
#[must_use]
pub fn box_thickness(mass: f64, inertia: &DMat3) -> f64 {
    if mass <= 0.0 {
        return 0.0;
    }
    // A box of edge a has the second moment m a^2 / 12 along it: half the trace minus the moment of inertia about that
    // axis.
    let i = inertia;
    let half_trace = 0.5 * (i.x_axis.x + i.y_axis.y + i.z_axis.z);
    let least = half_trace - largest_eigenvalue(i);
    (12.0 * least.max(0.0) / mass).sqrt()
}

/// Largest eigenvalue of a symmetric matrix, in closed form (Smith 1961, Communications of the ACM 4).
fn largest_eigenvalue(m: &DMat3) -> f64 {
    let mean = (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
    let rest = *m - DMat3::from_diagonal(DVec3::splat(mean));
    let squares = rest.x_axis.length_squared() + rest.y_axis.length_squared() + rest.z_axis.length_squared();
    let p = (squares / 6.0).sqrt();
    if p < 1e-12 * mean.abs().max(f64::MIN_POSITIVE) {
        return mean;
    }
    let r = ((rest * (1.0 / p)).determinant() * 0.5).clamp(-1.0, 1.0);
    mean + 2.0 * p * libm::cos(libm::acos(r) / 3.0)
}
