//! Painting: choosing cell by cell what stays with the body at the pinned impact (2016, sec. 4.7).
//!
//! In: a pinned impact, cells that are clicked or pointed at. Out: [`KeptCells`] for the tuned values, so that undo
//! covers them, and figures and marks for the panels and the picture.

use std::sync::Arc;

use super::{Target, Wanted};
use crate::{
    fracture::FractureParams,
    scene::{Cells, KeptCells, Pin, breaking::cells},
};

/// The cells of the pinned impact, and the cell under the pointer.
#[derive(Default)]
pub(super) struct Painting {
    pinned: Option<PinnedCells>,
    /// The cell under the pointer, while the painting tool is chosen.
    hovered: Option<u32>,
    revision: u64,
}

/// Cells and the values they were computed from.
struct PinnedCells {
    pin: Pin,
    params: FractureParams,
    cells: Cells,
}

/// A change of the cells that stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scene) enum Stroke<'a> {
    /// Toggles whether a cell stays.
    Toggle(u32),
    /// Makes every cell break off.
    None,
    /// Inverts which cells stay.
    Invert,
    /// Makes these cells stay, ascending, because little pulls there.
    Unloaded(&'a [u32]),
}

impl Stroke<'_> {
    /// The cells of `all` that stay after the stroke, if `kept` (ascending) stayed before.
    fn on(self, mut kept: Vec<u32>, all: u32) -> Vec<u32> {
        match self {
            Self::Toggle(cell) => match kept.binary_search(&cell) {
                Ok(at) => drop(kept.remove(at)),
                Err(at) => kept.insert(at, cell),
            },
            Self::None => kept.clear(),
            Self::Invert => kept = (0..all).filter(|s| kept.binary_search(s).is_err()).collect(),
            Self::Unloaded(cells) => kept = cells.to_vec(),
        }
        kept
    }

    /// Name of the undo step.
    pub fn name(self) -> &'static str {
        match self {
            Self::Toggle(_) => "kept cells",
            Self::None => "keep none",
            Self::Invert => "invert kept cells",
            Self::Unloaded(_) => "break where it pulls",
        }
    }
}

impl Painting {
    /// Recomputes the cells of the pinned impact if it or its parameters have changed.
    pub fn refresh(&mut self, pinned: Option<(&Pin, Target<'_>)>) {
        let Some((pin, target)) = pinned else {
            self.pinned = None;
            return self.hover(None);
        };
        let is_it = |known: &PinnedCells| known.pin == *pin && known.params == target.params;
        if self.pinned.as_ref().is_some_and(is_it) {
            return;
        }
        let of = (&target.body.def, target.intact);
        // If there is no pattern, the preview shows the reason.
        let cells = cells(pin.aim.impact(), &target.params, pin.kept.as_deref(), of).ok();
        self.pinned = cells.map(|cells| PinnedCells { pin: pin.clone(), params: target.params, cells });
        if self.pinned.is_none() {
            self.hover(None);
        }
    }

    /// The pinned impact and its cells.
    pub fn pinned(&self) -> Option<(&Pin, &Cells)> {
        self.pinned.as_ref().map(|pinned| (&pinned.pin, &pinned.cells))
    }

    /// The cells that stay, ascending.
    pub fn kept(&self) -> &[u32] {
        self.pinned.as_ref().map_or(&[], |pinned| &pinned.cells.kept)
    }

    /// Number of cells that stay, and of all cells.
    pub fn counts(&self) -> Option<(u32, u32)> {
        let (_, cells) = self.pinned()?;
        Some((cells.kept.len() as u32, cells.pattern.seeds.len() as u32))
    }

    /// The cells, if they belong to the blow `wanted`.
    pub fn cells_of(&self, wanted: &Wanted) -> Option<&Cells> {
        let pinned = self.pinned.as_ref()?;
        let is_it = pinned.pin.aim == wanted.aim && pinned.pin.kept == wanted.kept;
        (is_it && pinned.params == wanted.params).then_some(&pinned.cells)
    }

    /// The cells that stay after a stroke: `None` without a pinned impact, `Some(None)` if none stays.
    pub fn after(&self, stroke: Stroke<'_>) -> Option<Option<KeptCells>> {
        let (_, cells) = self.pinned()?;
        let seeds = cells.pattern.seeds.clone();
        let kept = stroke.on(cells.kept.clone(), seeds.len() as u32);
        Some((!kept.is_empty()).then(|| KeptCells::new(seeds, kept)))
    }

    /// Sets the cell under the pointer.
    pub fn hover(&mut self, cell: Option<u32>) {
        if self.hovered != cell {
            self.hovered = cell;
            self.revision += 1;
        }
    }

    /// The cell under the pointer.
    pub fn hovered(&self) -> Option<u32> {
        self.hovered
    }

    /// Changes whenever the marked cells may have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

impl super::Preview {
    /// See [`Painting::refresh`].
    pub fn refresh_pinned(&mut self, pinned: Option<(&Pin, Target<'_>)>) {
        self.painting.refresh(pinned);
    }

    /// The cells that stay at the pinned impact, ascending.
    pub fn kept_cells(&self) -> &[u32] {
        self.painting.kept()
    }

    /// The cells of the pinned impact.
    pub fn pinned_cells(&self) -> Option<&Cells> {
        self.painting.pinned().map(|(_, cells)| cells)
    }

    /// The cells that stay at the pinned impact after a stroke: `None` without a pin, `Some(None)` if none stays.
    pub fn painted(&self, stroke: Stroke<'_>) -> Option<Option<Arc<KeptCells>>> {
        self.painting.after(stroke).map(|kept| kept.map(Arc::new))
    }

    /// Sets the cell of the pinned impact under the pointer.
    pub fn hover_cell(&mut self, cell: Option<u32>) {
        self.painting.hover(cell);
    }

    /// The cell under the pointer.
    pub fn hovered_cell(&self) -> Option<u32> {
        self.painting.hovered()
    }

    /// Whether the preview on display is the pinned impact in its present form.
    pub(super) fn shows_pinned(&self) -> bool {
        let answers = |done: &Wanted| self.painting.cells_of(done).is_some();
        self.shown.is_some() && self.done.as_ref().is_some_and(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_keep_the_list_in_order() {
        assert_eq!(Stroke::Toggle(4).on(vec![1, 7], 9), [1, 4, 7]);
        assert_eq!(Stroke::Toggle(7).on(vec![1, 4, 7], 9), [1, 4]);
        assert_eq!(Stroke::Invert.on(vec![1, 3], 5), [0, 2, 4]);
        assert_eq!(Stroke::None.on(vec![1, 3], 5), [0; 0]);
        assert_eq!(Stroke::Unloaded(&[0, 2]).on(vec![1, 3], 5), [0, 2]);
    }

    #[test]
    fn only_another_cell_under_the_pointer_is_news() {
        let mut painting = Painting::default();
        painting.hover(Some(3));
        painting.hover(Some(3));
        assert_eq!((painting.hovered(), painting.revision()), (Some(3), 1));
        painting.refresh(None);
        assert_eq!((painting.hovered(), painting.revision()), (None, 2), "nothing is pinned");
        assert!(painting.after(Stroke::Invert).is_none() && painting.kept().is_empty());
    }
}
