//! Loads of a body.
//!
//! In: loads in SI units, shape space. Out: forces at the nodes.
//!
//! A cell hands an eighth of its weight to each corner, a face a quarter of its force, as the work of uniform loads on
//! trilinear displacements says. What acts on faces acts on the area of solid that ends there, the gradient of fill: any other
//! area leaves a cell with little solid a stress that nothing balances.

use glam::DVec3;

use crate::{
    ElasticError,
    body::{Cell, ElasticBody, Face},
    field::{Field, LANES, zeros},
    rigid::place,
};

/// What loads a body.
pub enum Load<'a> {
    /// A uniform acceleration of all matter, such as gravity, m/s^2.
    Acceleration(DVec3),
    /// The centrifugal load of a spin about the centre of mass, rad/s.
    Spin(DVec3),
    /// A force per area, Pa, on those faces that `at` accepts.
    Traction {
        /// Chooses faces.
        at: &'a (dyn Fn(&Face) -> bool + Sync),
        /// Force per area, Pa.
        pascals: DVec3,
    },
    /// A pressure, Pa, against those faces that `at` accepts. Walls of voids are faces, too.
    Pressure {
        /// Chooses faces.
        at: &'a (dyn Fn(&Face) -> bool + Sync),
        /// Pressure, Pa; negative ones pull.
        pascals: f64,
    },
    /// A force at a point, spread over the faces within a radius that face it; the nearest face, if there are none.
    Blow {
        /// Where it strikes, shape space, m.
        point: DVec3,
        /// Which way it pushes; any length but zero.
        direction: DVec3,
        /// How far from the point it acts, m; at least a cell's edge is used.
        radius: f64,
        /// The force, N.
        newtons: f64,
    },
}

/// The forces of loads, N.
pub(crate) fn forces(body: &ElasticBody, loads: &[Load<'_>]) -> Result<Field<f64>, ElasticError> {
    let mut forces = zeros(body.lattices[0].chunks());
    for load in loads {
        match *load {
            Load::Acceleration(acceleration) => {
                finite(acceleration.is_finite())?;
                add_mass_forces(body, &mut forces, |_| acceleration);
            }
            Load::Spin(spin) => {
                finite(spin.is_finite())?;
                add_mass_forces(body, &mut forces, |r| -spin.cross(spin.cross(r)));
            }
            Load::Traction { at, pascals } => {
                finite(pascals.is_finite())?;
                for face in body.faces.iter().filter(|face| at(face)) {
                    add_face_force(body, &mut forces, face, pascals * face.area);
                }
            }
            Load::Pressure { at, pascals } => {
                finite(pascals.is_finite())?;
                for face in body.faces.iter().filter(|face| at(face)) {
                    add_face_force(body, &mut forces, face, face.normal() * (-pascals * face.area));
                }
            }
            Load::Blow { point, direction, radius, newtons } => {
                finite(point.is_finite() && direction.is_finite() && newtons.is_finite())?;
                add_blow(body, &mut forces, (point, direction), (radius, newtons))?;
            }
        }
    }
    let all_finite = forces.iter().flatten().flatten().all(|f| f.is_finite());
    finite(all_finite).map(|()| forces)
}

fn finite(is_finite: bool) -> Result<(), ElasticError> {
    if is_finite { Ok(()) } else { Err(ElasticError::Load("a number that is NaN, infinite or too large")) }
}

/// Adds mass times acceleration, which depends on the place from the centre of mass, m.
fn add_mass_forces(body: &ElasticBody, forces: &mut Field<f64>, acceleration: impl Fn(DVec3) -> DVec3) {
    let (lattice, h) = (&body.lattices[0], body.cell_size());
    for (chunk, masses) in body.rigid.masses.iter().enumerate() {
        for lane in 0..LANES {
            let from_centre = (place(lattice, chunk, lane) - body.rigid.centre) * h;
            let force = acceleration(from_centre) * (masses[lane] * h.powi(3) * body.material().density);
            (0..3).for_each(|axis| forces[chunk][axis][lane] += force[axis]);
        }
    }
}

/// Adds a force that is spread evenly over a face.
fn add_face_force(body: &ElasticBody, forces: &mut Field<f64>, face: &Face, force: DVec3) {
    let Some(Cell { low, .. }) = body.cell(face.cell) else { return };
    for corner in (0..8u32).filter(|corner| (corner >> face.axis & 1 == 1) == face.is_high) {
        let (chunk, lane) = body.lattices[0].find([0, 1, 2].map(|axis| low[axis] + (corner >> axis & 1)));
        (0..3).for_each(|axis| forces[chunk][axis][lane] += 0.25 * force[axis]);
    }
}

fn add_blow(
    body: &ElasticBody,
    forces: &mut Field<f64>,
    (point, direction): (DVec3, DVec3),
    (radius, newtons): (f64, f64),
) -> Result<(), ElasticError> {
    let Some(along) = direction.try_normalize() else {
        return Err(ElasticError::Load("a direction of length zero"));
    };
    if !(radius >= 0.0 && radius.is_finite()) {
        return Err(ElasticError::Load("a radius that is negative or no number"));
    }
    let radius = radius.max(body.cell_size());
    // Falls off from the point to zero at the radius, and with the tilt of the face.
    let weight = |face: &Face| {
        let near = 1.0 - (face.centre - point).length_squared() / (radius * radius);
        near.max(0.0) * (-face.normal().dot(along)).max(0.0) * face.area
    };
    let total: f64 = body.faces.iter().map(weight).sum();
    if total > 0.0 {
        for face in &body.faces {
            let share = weight(face) / total;
            if share > 0.0 {
                add_face_force(body, forces, face, along * (newtons * share));
            }
        }
        return Ok(());
    }
    let distance = |face: &&Face| (face.centre - point).length_squared();
    let nearest = body.faces.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    if let Some(face) = nearest {
        add_face_force(body, forces, face, along * newtons);
    }
    Ok(())
}
