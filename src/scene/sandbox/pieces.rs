//! Edits of selected pieces (hide, lock, delete, merge), and the list of pieces.
//!
//! In: ids of bodies, and an edit. Out: changed bodies and statuses, one undo step per edit. Undoing a hide or lock
//! does not move any body.

use std::collections::BTreeSet;

use super::{Sandbox, SandboxError};
use crate::{
    bodies::{Body, BodyId},
    scene::{
        PieceRow, Selection, Status,
        history::Step,
        stage::{BodyInfo, Statuses},
    },
    shape::Geometry,
};

/// An edit of the selected pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceEdit {
    /// Hide and deselect them.
    Hide,
    /// Show all hidden pieces.
    ShowAll,
    /// Hide all others.
    Isolate,
    /// Lock them: hold them in place, unbreakable.
    Lock,
    /// Let them go.
    Unlock,
    /// Remove them.
    Delete,
    /// Merge them into one body.
    Merge,
}

/// `n pieces`, or `1 piece`.
pub(super) fn counted(count: usize) -> String {
    format!("{count} {}", if count == 1 { "piece" } else { "pieces" })
}

impl Sandbox {
    /// The selection.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The selected bodies that exist, in their order.
    pub fn selected(&self) -> impl Iterator<Item = &Body> {
        self.stage.bodies().iter().filter(|body| self.selection.contains(body.id))
    }

    /// Replaces the selection. This is no undo step.
    pub fn select(&mut self, ids: impl IntoIterator<Item = BodyId>) {
        if self.selection.set(ids) {
            self.stage.changed_look();
        }
    }

    /// Selects a body picked in the picture; if it `joins`, it is toggled in the selection.
    pub fn select_picked(&mut self, id: BodyId, joins: bool) {
        self.selection.pick(id, joins);
        self.stage.changed_look();
    }

    /// Selects all bodies that are not hidden.
    pub fn select_all(&mut self) {
        let shown =
            self.stage.bodies().iter().map(|body| body.id).filter(|id| !self.stage.status(*id).hidden);
        let shown: Vec<BodyId> = shown.collect();
        self.select(shown);
    }

    /// Whether a body is hidden or locked.
    #[must_use]
    pub fn status(&self, id: BodyId) -> Status {
        self.stage.status(id)
    }

    /// The hidden bodies, among them such as are not there now.
    #[must_use]
    pub fn hidden_bodies(&self) -> BTreeSet<BodyId> {
        let statuses = self.stage.statuses();
        statuses.iter().filter(|(_, status)| status.hidden).map(|(id, _)| *id).collect()
    }

    /// Number of hidden bodies.
    #[must_use]
    pub fn hidden(&self) -> usize {
        let statuses = self.stage.statuses();
        statuses.iter().filter(|(id, status)| status.hidden && self.stage.body(**id).is_some()).count()
    }

    /// Rows of all pieces, in the order of the bodies.
    #[must_use]
    pub fn piece_rows(&self) -> Vec<PieceRow> {
        let row = |body: &Body| {
            let info = self.stage.info_or_whole(body.id);
            let mass = body.def.shape.mass();
            PieceRow {
                id: body.id,
                object: info.object,
                path: self.path_of(&info),
                voxels: match body.def.shape.geometry() {
                    Geometry::Octree(octree) => Some(octree.mass.voxels),
                    Geometry::Mesh(_) | Geometry::Convex(_) => None,
                },
                volume_m3: mass.volume_m3,
                mass_kg: body.def.mass_kg(),
                generation: info.generation,
                status: self.stage.status(body.id),
            }
        };
        self.stage.bodies().iter().map(row).collect()
    }

    /// The part index at each break in a body's ancestry, the first break first, counted from 1.
    fn path_of(&self, info: &BodyInfo) -> Vec<u32> {
        self.breaks.parts_that_led_to(info.origin).into_iter().map(|part| part + 1).collect()
    }

    /// Name of a row: its object (numbered if there are several) and its part indices.
    #[must_use]
    pub fn piece_name(&self, row: &PieceRow) -> String {
        let objects = self.document.objects();
        let mut name = objects.get(row.object).map_or_else(String::new, |object| object.name.clone());
        if objects.len() > 1 {
            name = format!("{} {name}", row.object + 1);
        }
        let path: Vec<String> = row.path.iter().map(u32::to_string).collect();
        if path.is_empty() { name } else { format!("{name} {}", path.join(".")) }
    }

    /// Edits the selected pieces as one undo step; returns how many. An edit without effect is no undo step. Merged
    /// pieces become one body once [`Sandbox::poll`] says so.
    ///
    /// # Errors
    /// [`SandboxError::Busy`] if the edit is not possible while pieces are being computed,
    /// [`SandboxError::CannotMerge`] with the reason; nothing has changed then.
    pub fn edit(&mut self, edit: PieceEdit) -> Result<usize, SandboxError> {
        let ids: Vec<BodyId> = self.selected().map(|body| body.id).collect();
        if ids.is_empty() && edit != PieceEdit::ShowAll {
            return Ok(0);
        }
        match edit {
            PieceEdit::Delete => self.delete(&ids),
            PieceEdit::Merge => self.merge(&ids),
            PieceEdit::Hide
            | PieceEdit::ShowAll
            | PieceEdit::Isolate
            | PieceEdit::Lock
            | PieceEdit::Unlock => Ok(self.decide(edit, &ids)),
        }
    }

    /// Applies edits that hide, show, lock or unlock.
    fn decide(&mut self, edit: PieceEdit, ids: &[BodyId]) -> usize {
        let chosen: BTreeSet<BodyId> = ids.iter().copied().collect();
        let before = self.stage.statuses();
        let mut after = (*before).clone();
        let mut changed = 0;
        for body in self.stage.bodies() {
            let is_chosen = chosen.contains(&body.id);
            let was = self.stage.status(body.id);
            let now = match edit {
                PieceEdit::Hide if is_chosen => Status { hidden: true, ..was },
                PieceEdit::ShowAll => Status { hidden: false, ..was },
                PieceEdit::Isolate => Status { hidden: !is_chosen, ..was },
                PieceEdit::Lock if is_chosen => Status { locked: true, ..was },
                PieceEdit::Unlock if is_chosen => Status { locked: false, ..was },
                _ => was,
            };
            if now != was {
                changed += 1;
                after.insert(body.id, now);
            }
        }
        if changed == 0 {
            return 0;
        }
        let what = counted(if edit == PieceEdit::Isolate { ids.len() } else { changed });
        let label = match edit {
            PieceEdit::ShowAll => format!("show {what}"),
            PieceEdit::Isolate => format!("isolate {what}"),
            PieceEdit::Lock => format!("lock {what}"),
            PieceEdit::Unlock => format!("unlock {what}"),
            _ => format!("hide {what}"),
        };
        self.end_gesture();
        let tuning = self.document.tuning().clone();
        let state = self.document.homes.state();
        self.history.push(Step { label, tuning, state, world: None, recorded: None, statuses: Some(before) });
        self.document.homes.changed();
        after.retain(|_, status| *status != Status::default());
        self.stage.set_statuses(Statuses::new(after));
        if edit == PieceEdit::Hide {
            self.select([]);
        }
        // A pin on a hidden or locked body is removed.
        let pinned = self.document.tuning().pin.as_ref().map(|pin| pin.aim.body);
        if pinned.is_some_and(|id| self.stage.status(id) != Status::default()) {
            let tuning = crate::scene::Tuning { pin: None, ..self.document.tuning().clone() };
            self.set_tuning(tuning);
        }
        changed
    }

    fn delete(&mut self, ids: &[BodyId]) -> Result<usize, SandboxError> {
        if self.is_breaking() {
            return Err(SandboxError::Busy);
        }
        self.end_gesture();
        self.keep_step(&format!("delete {}", counted(ids.len())));
        ids.iter().for_each(|id| self.stage.remove(*id));
        self.after_edit();
        Ok(ids.len())
    }

    /// Called after the set of bodies changed between two steps.
    pub(super) fn after_edit(&mut self) {
        // Removes a pin on a removed body, and applies the tuned values to all bodies.
        self.set_tuning(self.document.tuning().clone());
        self.looking.forget();
        self.record_change(false);
    }

    /// Starts merging pieces of one break.
    fn merge(&mut self, ids: &[BodyId]) -> Result<usize, SandboxError> {
        if self.is_breaking() {
            return Err(SandboxError::Busy);
        }
        let union = self.union_of(ids)?;
        self.jobs.merging.start(union);
        Ok(ids.len())
    }
}
