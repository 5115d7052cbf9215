//! Choosing by hand which cells of the pinned impact stay with the body (2016, sec. 4.7).
//!
//! In: a pinned impact, cells that are clicked. Out: [`KeptCells`] in the tuned values, so that undo covers them, and what the
//! panels and the picture say about them.

use std::sync::Arc;

use super::{Sandbox, Wanted, cells};
use crate::{
    fracture::FractureParams,
    scene::{Aim, Cells, KeptCells, Pin, Tuning},
};

/// The cells of the pinned impact, and what they were drawn from.
pub(super) struct PinnedCells {
    pub pin: Pin,
    params: FractureParams,
    pub cells: Cells,
}

impl PinnedCells {
    /// Cells that stay, and all.
    pub fn counts(&self) -> (u32, u32) {
        (self.cells.kept.len() as u32, self.cells.pattern.seeds.len() as u32)
    }

    pub fn answers(&self, wanted: &Wanted) -> bool {
        self.pin.aim == wanted.aim && self.pin.kept == wanted.kept && self.params == wanted.params
    }
}

impl Sandbox {
    /// Pins an impact, or moves the pinned one. Cells that were painted on the same body stay painted: where they are, not by their number.
    pub fn pin(&mut self, aim: Aim) {
        let mut tuning = self.tuning.clone();
        let kept = tuning.pin.take().filter(|pin| pin.aim.body == aim.body).and_then(|pin| pin.kept);
        tuning.pin = Some(Pin { aim, kept });
        self.tune("impact", tuning);
    }

    /// Takes the pinned impact away, and with it the cells that were painted for it.
    pub fn unpin(&mut self) {
        let tuning = Tuning { pin: None, ..self.tuning.clone() };
        self.tune("removed impact", tuning);
    }

    /// The cells that stay at the pinned impact, ascending.
    #[must_use]
    pub fn kept_cells(&self) -> &[u32] {
        self.preview.pinned.as_ref().map_or(&[], |pinned| &pinned.cells.kept)
    }

    /// Lets a cell of the pinned impact stay, or break off if it stayed. `true` where cells that a local radius kept are painted ones from now on:
    /// a cell must be able to leave, and a radius would hold it.
    pub fn toggle_kept(&mut self, cell: u32) -> bool {
        self.paint("kept cells", |kept, _| match kept.binary_search(&cell) {
            Ok(at) => drop(kept.remove(at)),
            Err(at) => kept.insert(at, cell),
        })
    }

    /// Lets every cell break off.
    pub fn keep_none(&mut self) -> bool {
        self.paint("keep none", |kept, _| kept.clear())
    }

    /// Lets those cells stay that broke off, and the others break off.
    pub fn invert_kept(&mut self) -> bool {
        self.paint("invert kept cells", |kept, all| {
            *kept = (0..all).filter(|s| kept.binary_search(s).is_err()).collect();
        })
    }

    fn paint(&mut self, gesture: &'static str, change: impl FnOnce(&mut Vec<u32>, u32)) -> bool {
        self.refresh_pinned();
        let Some(PinnedCells { cells, .. }) = &self.preview.pinned else {
            return false;
        };
        let mut kept = cells.kept.clone();
        let seeds = cells.pattern.seeds.clone();
        change(&mut kept, seeds.len() as u32);
        let mut tuning = self.tuning.clone();
        let took_over = tuning.fracture.local.take().is_some();
        tuning.fracture.keep.clear();
        if let Some(pin) = &mut tuning.pin {
            pin.kept = (!kept.is_empty()).then(|| Arc::new(KeptCells::new(seeds, kept)));
        }
        // Every click is a step of its own.
        self.end_gesture();
        self.tune(gesture, tuning);
        self.end_gesture();
        self.refresh_pinned();
        took_over
    }

    /// Marks a cell of the pinned impact as the one under the pointer.
    pub fn hover_cell(&mut self, cell: Option<u32>) {
        if self.preview.hovered != cell {
            self.preview.hovered = cell;
            self.preview.report.revision += 1;
        }
    }

    /// The cell under the pointer.
    #[must_use]
    pub fn hovered_cell(&self) -> Option<u32> {
        self.preview.hovered
    }

    /// Whether what is shown is the pinned impact as it is now.
    pub(super) fn shows_pinned(&self) -> bool {
        let preview = &self.preview;
        match (&preview.pinned, &preview.done) {
            (Some(pinned), Some(done)) => preview.shown.is_some() && pinned.answers(done),
            _ => false,
        }
    }

    /// Draws the pinned impact's cells where it, or what shapes them, has changed.
    pub(super) fn refresh_pinned(&mut self) {
        let Some(pin) = self.tuning.pin.clone() else {
            self.preview.pinned = None;
            return self.hover_cell(None);
        };
        let params = self.params_for(pin.aim.body);
        if self.preview.pinned.as_ref().is_some_and(|known| known.pin == pin && known.params == params) {
            return;
        }
        // Where there is no pattern, the preview says why.
        self.preview.pinned = self.body(pin.aim.body).and_then(|body| {
            let of = (&body.def, self.is_intact(body.id));
            let cells = cells(&pin.aim, &params, pin.kept.as_deref(), of).ok()?;
            Some(PinnedCells { pin: pin.clone(), params, cells })
        });
        if self.preview.pinned.is_none() {
            self.hover_cell(None);
        }
    }
}
