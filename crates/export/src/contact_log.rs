//! The solver's contacts as text: `contact_log.csv`.
//!
//! In: contacts after a step, and the bodies. Out: one line per contact, written step by step, since a long run does not fit into
//! memory. The columns are described in `docs/files.md`.

use std::path::Path;

use glam::DVec3;

use crate::bodies::{Body, BodyId, Contact};

use super::{ExportError, numbers::unsigned_zero as plain, sheet::Sheet};

/// The file.
pub struct ContactLog {
    sheet: Sheet,
    every: u64,
}

/// A contact's velocity: how fast the surfaces part along the normal (negative: they approach), and how fast they slide, m/s.
#[must_use]
pub fn relative_velocity(contact: &Contact, bodies: &[Body]) -> [f64; 2] {
    let of = |id: BodyId| {
        let at = bodies.binary_search_by_key(&id, |body| body.id).ok()?;
        let state = &bodies.get(at)?.state;
        Some(state.linear_velocity + state.angular_velocity.cross(contact.position - state.position))
    };
    let first = of(contact.bodies.0).unwrap_or_default();
    let second = contact.bodies.1.and_then(of).unwrap_or_default();
    let apart = first - second;
    let along = apart.dot(contact.normal);
    [along, (apart - along * contact.normal).length()]
}

impl ContactLog {
    /// Creates the file in `folder`, for every `every`th step.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path, every: u64) -> Result<Self, ExportError> {
        let head =
            "time,first,second,x,y,z,normal_x,normal_y,normal_z,separation,impulse,parting,sliding,cell";
        Ok(Self { sheet: Sheet::create(&folder.join("contact_log.csv"), head)?, every: every.max(1) })
    }

    /// The file lies in `folder` now.
    pub fn moved_to(&mut self, folder: &Path) {
        self.sheet.moved_to(folder);
    }

    /// Whether `step` is logged.
    #[must_use]
    pub fn wants(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Logs the contacts after a step. `bodies` are in ascending order of their ids.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn record(&mut self, time: f64, contacts: &[Contact], bodies: &[Body]) -> Result<(), ExportError> {
        let list = |v: DVec3| v.to_array().map(|x| plain(x).to_string()).join(",");
        for contact in contacts {
            // The floor and the walls have no number.
            let second = contact.bodies.1.map_or(String::new(), |id| id.0.to_string());
            let [parting, sliding] = relative_velocity(contact, bodies).map(plain);
            self.sheet.line(&format!(
                "{time},{},{second},{},{},{},{},{parting},{sliding},{}",
                contact.bodies.0.0,
                list(contact.position),
                list(contact.normal),
                plain(contact.separation),
                plain(contact.impulse),
                contact.cell
            ));
        }
        self.sheet.flush()
    }
}
