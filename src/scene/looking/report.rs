//! What the panel shows of a look inside.

use std::collections::BTreeMap;

use crate::scene::overlays::{Inside, LabelSteps, Maker};

/// Whose fracture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The impact that is pinned.
    Pin,
    /// The last break, where the body stood.
    LastBreak,
    /// The blow that was aimed at last.
    Hover,
}

/// What the panel shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookingReport {
    /// Whose fracture is shown.
    pub subject: Option<Subject>,
    /// Whether it is being computed.
    pub is_reading: bool,
    /// Octree level it was computed at.
    pub level: u32,
    /// Wall-clock time that took, ms.
    pub ms: f64,
    /// Lines, points, triangles drawn.
    pub drawn: [usize; 3],
    /// Level of crack surfaces; `None` where they are planar.
    pub transition: Option<u32>,
    /// The greatest number of each drawing that takes one.
    pub most: BTreeMap<Maker, u32>,
    /// The labelling that is watched.
    pub labels: Option<LabelReport>,
    /// Why there is nothing to see.
    pub problem: Option<String>,
}

/// One iteration of the published labelling, and all of them in figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelReport {
    /// Iteration that is shown, 0 before the first.
    pub at: usize,
    /// Labels that changed in each iteration.
    pub changes: Vec<u64>,
    /// Voxels.
    pub voxels: usize,
    /// Cells at rest after the iteration, and all.
    pub resting: [usize; 2],
    /// Different labels that are shown.
    pub distinct: usize,
    /// Islands that the union-find found.
    pub islands: usize,
    /// Whether labels and islands are the same but for their names.
    pub agrees: bool,
}

impl LabelReport {
    /// Of the iteration that `steps` shows.
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
