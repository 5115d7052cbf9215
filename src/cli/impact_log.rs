//! `impacts.csv` of `kintsugi simulate`: the collisions of every step, for sound and dust in other programs.
//!
//! In: the sandbox after every step. Out: a line for each pair of bodies that struck each other in it.

use std::path::Path;

use crate::{
    export::{ExportError, Sheet, to_picoseconds},
    scene::{NotedImpact, Sandbox},
};

/// Name of the file.
pub const IMPACTS: &str = "impacts.csv";

const COLUMNS: &str = "time,first,second,x,y,z,normal_x,normal_y,normal_z,impulse,speed,energy,broke";

/// Impacts that lose less are left out unless they broke something, J.
const LEAST: f64 = 1e-4;

/// The file being written.
pub struct ImpactLog {
    /// The file.
    pub sheet: Sheet,
}

impl ImpactLog {
    /// Creates the file in `folder`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path) -> Result<Self, ExportError> {
        Ok(Self { sheet: Sheet::create(&folder.join(IMPACTS), COLUMNS)? })
    }

    /// Writes the impacts since the last call.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn record(&mut self, sandbox: &mut Sandbox) -> Result<(), ExportError> {
        let mut lines = sandbox.take_impacts().into_iter().filter_map(|noted| line(&noted)).peekable();
        if lines.peek().is_none() {
            return Ok(());
        }
        lines.for_each(|line| self.sheet.line(&line));
        self.sheet.flush()
    }
}

/// An impact as a line; `None` where it is too small.
fn line(noted: &NotedImpact) -> Option<String> {
    let NotedImpact { time, impact, broke } = noted;
    if impact.energy < LEAST && !broke {
        return None;
    }
    let (first, second) = (impact.bodies.0.0, impact.bodies.1.map_or(String::new(), |id| id.0.to_string()));
    // Adding 0 makes -0 a 0.
    let (at, normal) = (impact.position + 0.0, impact.normal + 0.0);
    Some(format!(
        "{},{first},{second},{},{},{},{},{},{},{},{},{},{}",
        to_picoseconds(*time),
        at.x,
        at.y,
        at.z,
        normal.x,
        normal.y,
        normal.z,
        impact.impulse,
        impact.speed,
        impact.energy,
        u8::from(*broke)
    ))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::bodies::{BodyId, Impact};

    #[test]
    fn a_line_has_a_cell_for_each_column_and_small_impacts_have_none() {
        let impact = Impact {
            bodies: (BodyId(3), None),
            position: DVec3::new(1.0, -0.0, 0.5),
            normal: DVec3::Y,
            impulse: 2.0,
            speed: 1.5,
            energy: 0.25,
        };
        let noted = NotedImpact { time: 0.5, impact, broke: true };
        let text = line(&noted).unwrap();
        assert_eq!(text, "0.5,3,,1,0,0.5,0,1,0,2,1.5,0.25,1");
        assert_eq!(text.split(',').count(), COLUMNS.split(',').count());
        let small = Impact { energy: 1e-6, ..impact };
        assert_eq!(line(&NotedImpact { impact: small, broke: false, ..noted }), None);
        assert!(line(&NotedImpact { impact: small, ..noted }).is_some());
    }
}
