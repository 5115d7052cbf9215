//! Figures for the panel about the fracture whose internals are shown.

use std::collections::BTreeMap;

use crate::scene::overlays::{Inside, LabelSteps, Maker};

/// Which fracture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The pinned impact.
    Pin,
    /// The last break, where the body was.
    LastBreak,
    /// The blow aimed at last.
    Hover,
}

/// Figures for the panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookingReport {
    /// Which fracture is shown.
    pub subject: Option<Subject>,
    /// Whether it is being computed.
    pub is_reading: bool,
    /// Octree level it was computed at.
    pub level: u32,
    /// Wall-clock time of the computation, ms.
    pub ms: f64,
    /// Number of lines, points and triangles drawn.
    pub drawn: [usize; 3],
    /// Level of crack surfaces; `None` if they are planar.
    pub transition: Option<u32>,
    /// The greatest number of each drawing that takes one.
    pub most: BTreeMap<Maker, u32>,
    /// The labelling shown.
    pub labels: Option<LabelReport>,
    /// Why nothing is shown.
    pub problem: Option<String>,
}

/// The state of the published labelling at one iteration, and statistics of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelReport {
    /// The iteration shown; 0 is before the first.
    pub at: usize,
    /// Labels that changed in each iteration.
    pub changes: Vec<u64>,
    /// Number of voxels.
    pub voxels: usize,
    /// Number of cells at rest after the iteration, and of all cells.
    pub resting: [usize; 2],
    /// Number of different labels shown.
    pub distinct: usize,
    /// Number of islands according to the union-find.
    pub islands: usize,
    /// Whether labels and islands are equal up to renaming.
    pub agrees: bool,
}

impl LabelReport {
    /// The report of the iteration that `steps` shows.
    pub(super) fn of(steps: &LabelSteps, inside: &Inside) -> Self {
        let did = steps.at().checked_sub(1).and_then(|i| steps.steps().get(i));
        let resting = did.map_or(0, |step| step.done.iter().filter(|done| **done).count());
        Self {
            at: steps.at(),
            changes: steps.steps().iter().map(crate::fracture::labelling::Step::total).collect(),
            voxels: steps.voxels.len(),
            resting: [resting, steps.voxels.cells.len()],
            distinct: steps.distinct(),
            islands: inside.fracture.pieces.len(),
            agrees: steps.agrees_with_union_find(),
        }
    }
}
