//! The solver's contacts as arrays.
//!
//! In: a world after a step. Out: a dict of arrays with a row per contact, or per contact and substep, by the names of
//! `contacts.npz`.

use kintsugi::{
    World,
    bodies::{Body, Contact, generator_number},
    export::{halves, relative_velocity, velocity_apart},
    glam::DVec3,
};
use pyo3::{prelude::*, types::PyDict};

use super::state::number;
use crate::{arrays, errors::parameter};

/// Arrays of why contacts were chosen, with their numbers of docs/files.md.
const REASONS: [&str; 6] =
    ["found_by", "found_as", "chosen_as", "candidates", "persistence", "touches_later"];

/// Contacts before they are arrays, in the order of the pairs.
#[derive(Default)]
pub struct Contacts {
    bodies: Vec<[i32; 2]>,
    keys: Vec<[i32; 2]>,
    points: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
    separations: Vec<f64>,
    impulses: Vec<f64>,
    parting: Vec<f64>,
    sliding: Vec<f64>,
    velocities: Vec<[f64; 3]>,
    substep_impulses: Vec<f64>,
    substep_frictions: Vec<[f64; 3]>,
    step_impulses: Vec<f64>,
    step_frictions: Vec<[f64; 3]>,
    /// Of rows by substep: their numbers, -1 where a contact was solved in no substep.
    substeps: Option<Vec<i32>>,
    cells: Vec<f64>,
    areas: Vec<f64>,
    /// By column: [`REASONS`].
    reasons: [Vec<i32>; 6],
}

impl Contacts {
    /// The contacts of the last step of a world; `by_substep` with a row for each contact and substep.
    ///
    /// # Errors
    /// `ParameterError` where rows by substep are asked for and the steps kept none.
    pub fn of(world: &World, by_substep: bool) -> PyResult<Self> {
        if !by_substep {
            return Ok(Self::of_rows(&world.contacts(), &world.bodies));
        }
        if !world.contact_substeps {
            let why = "by_substep: the steps kept no impulses of substeps";
            return Err(parameter(format!(
                "{why}; make the world, or play the scene, with contact_substeps=True"
            )));
        }
        let rows = world.substep_contacts();
        let substeps = rows.iter().map(|row| row.substep.map_or(-1, number)).collect();
        Ok(Self { substeps: Some(substeps), ..Self::of_rows(rows, &world.bodies) })
    }

    /// Contacts of a step after which `bodies` are as they are.
    fn of_rows(contacts: &[Contact], bodies: &[Body]) -> Self {
        // No zero has a sign, as in files.
        let plain = |v: DVec3| v.to_array().map(|x| x + 0.0);
        let mut all = Self::default();
        for contact in contacts {
            let [parting, sliding] = relative_velocity(contact, bodies);
            // The floor and the walls have no number.
            let second = contact.bodies.1.map_or(-1, |id| number(id.0));
            all.bodies.push([number(contact.bodies.0.0), second]);
            all.keys.push(halves(contact.key));
            all.points.push(plain(contact.position));
            all.normals.push(plain(contact.normal));
            all.separations.push(contact.separation + 0.0);
            all.impulses.push(contact.impulse + 0.0);
            all.parting.push(parting + 0.0);
            all.sliding.push(sliding + 0.0);
            all.velocities.push(plain(velocity_apart(contact, bodies)));
            all.substep_impulses.push(contact.substep_impulse + 0.0);
            all.substep_frictions.push(plain(contact.substep_friction));
            all.step_impulses.push(contact.step_impulse + 0.0);
            all.step_frictions.push(plain(contact.step_friction));
            all.cells.push(contact.cell);
            all.areas.push(contact.area);
            let whole = |of: usize| i32::try_from(of).unwrap_or(i32::MAX);
            let reasons = [
                generator_number(contact.found_by).map_or(-1, whole),
                contact.why.found_as.code(),
                contact.why.chosen_as.code(),
                whole(contact.candidates),
                contact.why.persistence.code(),
                i32::from(contact.touches_later),
            ];
            all.reasons.iter_mut().zip(reasons).for_each(|(column, reason)| column.push(reason));
        }
        all
    }

    /// The same as arrays; `substep` is among them for rows by substep.
    ///
    /// # Errors
    /// `Error` where Python has no memory.
    pub fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("bodies", arrays::rows(py, self.bodies)?)?;
        all.set_item("key", arrays::rows(py, self.keys)?)?;
        all.set_item("point", arrays::rows(py, self.points)?)?;
        all.set_item("normal", arrays::rows(py, self.normals)?)?;
        all.set_item("separation", arrays::list(py, self.separations)?)?;
        all.set_item("impulse", arrays::list(py, self.impulses)?)?;
        all.set_item("parting", arrays::list(py, self.parting)?)?;
        all.set_item("sliding", arrays::list(py, self.sliding)?)?;
        all.set_item("relative_velocity", arrays::rows(py, self.velocities)?)?;
        all.set_item("substep_impulse", arrays::list(py, self.substep_impulses)?)?;
        all.set_item("substep_friction", arrays::rows(py, self.substep_frictions)?)?;
        all.set_item("step_impulse", arrays::list(py, self.step_impulses)?)?;
        all.set_item("step_friction", arrays::rows(py, self.step_frictions)?)?;
        if let Some(substeps) = self.substeps {
            all.set_item("substep", arrays::list(py, substeps)?)?;
        }
        all.set_item("cell", arrays::list(py, self.cells)?)?;
        all.set_item("area", arrays::list(py, self.areas)?)?;
        for (name, column) in REASONS.into_iter().zip(self.reasons) {
            all.set_item(name, arrays::list(py, column)?)?;
        }
        Ok(all)
    }
}
