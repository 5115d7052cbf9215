//! The pieces that have a copy of a voxel, and the voxel's labels (2016, sec. 4.4, 4.5).
//!
//! In: the inside of a fracture. Out: fields of a probe. Ids are those of one break; `kintsugi probe` puts those of a
//! whole run in their place.

use super::{
    Held, Probe, ProbeBoundary, ProbeBreak, ProbeCopy, ProbeKind, ProbeLabel, transition::transition_of,
};
use crate::{
    fracture::{Fracture, Piece, labelling::Voxel},
    scene::overlays::{Inside, LabelSteps},
    svo::morton::{self, Key},
};

impl Probe {
    /// The same with what the inside of a fracture says of the voxel: its pattern, the piece and all copies, labels of
    /// every iteration where they were read back, crack triangles of rough and dusty surfaces. Ids of pieces are
    /// indices in [`Fracture::pieces`]. Another octree than the broken one, or one that came of it, is not told apart;
    /// one on a grid of another level gets nothing.
    ///
    /// Of several pieces with a copy, the probe tells of the one whose copy equals what was probed; else of the one
    /// that has the nearest seed's object; else of the largest. `kind`, `node`, coverage and planes stay those of the
    /// octree that was probed. The labelling shows the same iteration afterwards as before.
    #[must_use]
    pub fn with_inside(self, inside: &mut Inside) -> Self {
        self.with_inside_of(inside, None)
    }

    /// Like [`Probe::with_inside`], of the copy in this piece, where it is given and has one.
    #[must_use]
    pub fn with_inside_of(self, inside: &mut Inside, piece: Option<usize>) -> Self {
        if inside.forest.level != self.level {
            return self;
        }
        let mut probe = self.with_pattern(&inside.blueprint.pattern, inside.forest.level);
        probe.in_source = Some(Held::at(&inside.forest, inside.tree, probe.voxel).kind);
        probe.transition = transition_of(inside, probe.voxel);
        let copies = copies_of(&inside.fracture, probe.voxel);
        let given = piece.filter(|piece| copies.iter().any(|(id, _)| id == piece));
        let Some(id) = given.or_else(|| probe.own_piece(inside, &copies)) else { return probe };
        let Some(piece) = inside.fracture.pieces.get(id) else { return probe };
        let (tree, cell) = (piece.tree, piece.cell);
        probe.piece = u32::try_from(id).ok();
        probe.cell = Some(cell);
        let blueprint = &inside.blueprint;
        probe.made_by =
            Some(ProbeBreak { number: 0, impact: blueprint.impact.to_array(), rng: blueprint.recipe.rng });
        if copies.len() > 1 {
            probe.copies = copies.into_iter().map(|(_, copy)| copy).collect();
        }
        let steps = inside.steps.as_mut();
        probe.label = steps.and_then(|steps| label_of(steps, (tree, cell), probe.voxel));
        probe
    }

    /// The same of a voxel that no piece has: what was probed is the octree before the break, of which only the node
    /// stays.
    #[must_use]
    pub fn without_piece(self) -> Self {
        Self {
            kind: ProbeKind::Outside,
            cell: self.object,
            piece: None,
            generation: None,
            made_by: None,
            boundary: ProbeBoundary::default(),
            copies: Vec::new(),
            label: None,
            ..self
        }
    }

    /// The piece of `copies` that the probe tells of.
    fn own_piece(&self, inside: &Inside, copies: &[(usize, ProbeCopy)]) -> Option<usize> {
        let (fracture, pattern) = (&inside.fracture, &inside.blueprint.pattern);
        let is_same = |copy: &ProbeCopy| (copy.kind, copy.boundary) == (self.kind, self.boundary);
        let object = |cell: &u32| pattern.objects.get(*cell as usize).copied().unwrap_or(*cell);
        let has_centre = |id: usize| {
            let own = fracture.pieces.get(id).map(|piece| piece.cell);
            let joined = fracture.merges.iter().filter(|merge| merge.piece == id);
            self.object.is_some()
                && (own == self.object
                    || joined.flat_map(|merge| &merge.cells).map(object).any(|o| Some(o) == self.object))
        };
        // The order of these comparisons is the order of preference; of equal copies the largest piece is the first.
        let best = copies.iter().min_by_key(|(id, copy)| (!is_same(copy), !has_centre(*id), *id));
        best.map(|(id, _)| *id)
    }
}

/// The copies of a voxel with the index of their piece.
fn copies_of(fracture: &Fracture, voxel: [u32; 3]) -> Vec<(usize, ProbeCopy)> {
    let copy = |(id, piece): (usize, &Piece)| {
        let copy = ProbeCopy::in_tree(&fracture.forest, piece.tree, voxel)?;
        Some((id, ProbeCopy { piece: u32::try_from(id).ok(), cell: Some(piece.cell), ..copy }))
    };
    fracture.pieces.iter().enumerate().filter_map(copy).collect()
}

/// The labels of a voxel of this tree and cell after every iteration.
fn label_of(steps: &mut LabelSteps, (tree, cell): (u32, u32), voxel: [u32; 3]) -> Option<ProbeLabel> {
    let row = row_of(steps, (tree, cell), morton::encode(voxel))?;
    let (shown, last) = (steps.at(), steps.steps().len());
    let mut iterations: Vec<u32> = Vec::with_capacity(last + 1);
    for at in 0..=last {
        steps.show(at);
        iterations.extend(steps.labels().get(row));
    }
    steps.show(shown);
    Some(ProbeLabel { island: tree, flood: steps.flood, iterations })
}

/// Where a voxel, or the internal node that holds it, stands in the list of a labelling: sorted by cell, then by
/// Morton code.
fn row_of(steps: &LabelSteps, (tree, cell): (u32, u32), key: Key) -> Option<usize> {
    let voxels = &steps.voxels;
    let group = voxels.cells.binary_search(&cell).ok()?;
    let [first, end] = (*voxels.ranges.get(group)?).map(|at| at as usize);
    let range = voxels.list.get(first..end)?;
    let after = range.partition_point(|voxel| voxel.key <= key);
    // Pieces that small ones joined may have copies in one voxel with another piece of their cell.
    let holds = |voxel: &Voxel| {
        let shift = 3 * voxel.size_log2;
        voxel.tree == tree && voxel.key >> shift == key >> shift
    };
    range.get(..after)?.iter().rposition(holds).map(|at| first + at)
}
