//! `kintsugi stress --modes`: which bonds of a body are weak, whatever loads it.
//!
//! In: the cells of a body, and how many parts and modes. Out: parts, bonds and modes for `report.json`, and the part and the
//! weakness of each cell.

use clap::Args;
use glam::DVec3;
use serde::Serialize;

use super::progress::Reporter;
use crate::{
    elastic::{BodyParts, ElasticBody, ElasticError, FractureModes, MOST_MODES, MOST_PARTS, ModeBond},
    fracture::Cancel,
};

#[derive(Args, Serialize)]
pub struct ModesArgs {
    /// Where it is weak whatever loads it: the lowest K fracture modes of its parts, 1 to 24, added to both files. Three or
    /// more tell whether one place is the weakest
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=MOST_MODES as i64))]
    modes: Option<u32>,
    /// Number of parts into which --modes divides the cells, 2 to 128 [default: 32, or the number of cells]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MOST_PARTS as i64), requires = "modes")]
    parts: Option<u32>,
}

/// Default number of parts.
const PARTS: u32 = 32;

/// What is added to the report; lengths in m.
#[derive(Serialize)]
pub struct ModesReport {
    /// What opens a bond, Pa.
    strength: f64,
    parts: Vec<PartReport>,
    bonds: Vec<BondReport>,
    modes: Vec<ModeReport>,
    /// Indices of bonds; empty where no place is clearly the weakest.
    weakest: Vec<usize>,
}

#[derive(Serialize)]
struct PartReport {
    cells: usize,
    /// kg.
    mass: f64,
    centre: [f64; 3],
}

#[derive(Serialize)]
struct BondReport {
    parts: [u32; 2],
    /// m^2.
    area: f64,
    centre: [f64; 3],
    normal: [f64; 3],
    /// 0 to 1.
    weakness: f64,
}

#[derive(Serialize)]
struct ModeReport {
    /// N: work for each metre of root mean square displacement.
    energy: f64,
    /// Of each part: displacement of its centre and rotation vector.
    motions: Vec<[[f64; 3]; 2]>,
    /// Of each bond.
    jumps: Vec<f64>,
}

/// What each cell has, in the order of the body's cells.
pub struct OfCells {
    /// Index of its part.
    pub part: Vec<u32>,
    /// The greatest weakness of the bonds along its faces, 0 to 1.
    pub weakness: Vec<f32>,
}

impl ModesArgs {
    /// The modes that are asked for, and the parts that they move; bonds open at `strength`, Pa.
    ///
    /// # Errors
    /// [`ElasticError`].
    pub fn find(
        &self,
        body: &ElasticBody,
        strength: f64,
        reporter: &Reporter,
    ) -> Result<Option<(ModesReport, OfCells)>, ElasticError> {
        let Some(count) = self.modes else { return Ok(None) };
        let divided = body.parts(self.parts.unwrap_or(PARTS) as usize)?;
        let bond = |section| ModeBond { section, strength };
        let bonds: Vec<ModeBond> = divided.sections.iter().copied().map(bond).collect();
        let found = reporter.stage("modes", |_| {
            FractureModes::new(&divided.parts, &bonds, count as usize, Cancel::never())
        })?;
        let weakness = body.at_cracks(&divided, &found.weakness);
        let report = report(&divided, found, strength);
        Ok(Some((report, OfCells { part: divided.part_of_cell, weakness })))
    }
}

fn report(divided: &BodyParts, found: FractureModes, strength: f64) -> ModesReport {
    let mut cells = vec![0; divided.parts.len()];
    divided.part_of_cell.iter().for_each(|part| cells[*part as usize] += 1);
    let part = |(part, cells): (&crate::elastic::ModePart, usize)| PartReport {
        cells,
        mass: part.mass,
        centre: part.centre.to_array(),
    };
    let bond = |(section, weakness): (&crate::fracture::CrackSection, f64)| BondReport {
        parts: section.parts,
        area: section.area,
        centre: section.centre.to_array(),
        normal: section.normal.to_array(),
        weakness,
    };
    let numbers = |motion: [DVec3; 2]| motion.map(|v| v.to_array());
    let mode = |mode: crate::elastic::FractureMode| ModeReport {
        energy: mode.energy,
        motions: mode.motions.into_iter().map(numbers).collect(),
        jumps: mode.jumps,
    };
    ModesReport {
        strength,
        parts: divided.parts.iter().zip(cells).map(part).collect(),
        bonds: divided.sections.iter().zip(found.weakness).map(bond).collect(),
        modes: found.modes.into_iter().map(mode).collect(),
        weakest: found.weakest,
    }
}

impl ModesReport {
    /// A line for people.
    pub fn line(&self) -> String {
        let (parts, bonds) = (self.parts.len(), self.bonds.len());
        let most = self.weakest.iter().max_by(|a, b| self.bonds[**a].area.total_cmp(&self.bonds[**b].area));
        let weakest = match (most, self.modes.len()) {
            (Some(bond), _) => {
                let [x, y, z] = self.bonds[*bond].centre;
                format!("weakest at {x:.4}, {y:.4}, {z:.4}")
            }
            (None, 3..) => "no place is clearly the weakest".to_owned(),
            (None, _) => "three or more modes tell whether one place is the weakest".to_owned(),
        };
        format!("{} modes of {parts} parts and {bonds} bonds; {weakest}\n", self.modes.len())
    }
}
