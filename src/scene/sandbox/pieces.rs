//! What the user does with selected pieces: hide, lock, delete, and the list of them.
//!
//! In: names of bodies, and an edit. Out: bodies and what was decided about them, one step of undo an edit. Hiding and
//! locking go by themselves through undo: taking them back moves nothing.

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

/// What can be done with the selected pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceEdit {
    /// Hide them; they are not selected any more.
    Hide,
    /// Show everything that is hidden.
    ShowAll,
    /// Hide all others.
    Isolate,
    /// Hold them where they are, whole.
    Lock,
    /// Let them go.
    Unlock,
    /// Take them away.
    Delete,
    /// Make one body of them.
    Merge,
}

/// `n pieces`, or `1 piece`.
pub(super) fn counted(count: usize) -> String {
    format!("{count} {}", if count == 1 { "piece" } else { "pieces" })
}

impl Sandbox {
    /// Which pieces are selected.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The selected bodies that are there, in their order.
    pub fn selected(&self) -> impl Iterator<Item = &Body> {
        self.stage.bodies().iter().filter(|body| self.selection.contains(body.id))
    }

    /// Selects these bodies and no others. It is no step of undo.
    pub fn select(&mut self, ids: impl IntoIterator<Item = BodyId>) {
        if self.selection.set(ids) {
            self.stage.changed_look();
        }
    }

    /// Selects the body that was picked in the picture alone; where it `joins`, beside the others, or not any more.
    pub fn select_picked(&mut self, id: BodyId, joins: bool) {
        self.selection.pick(id, joins);
        self.stage.changed_look();
    }

    /// Selects everything that is not hidden.
    pub fn select_all(&mut self) {
        let shown =
            self.stage.bodies().iter().map(|body| body.id).filter(|id| !self.stage.status(*id).hidden);
        let shown: Vec<BodyId> = shown.collect();
        self.select(shown);
    }

    /// What the user decided about a body.
    #[must_use]
    pub fn status(&self, id: BodyId) -> Status {
        self.stage.status(id)
    }

    /// How many bodies are hidden.
    #[must_use]
    pub fn hidden(&self) -> usize {
        let statuses = self.stage.statuses();
        statuses.iter().filter(|(id, status)| status.hidden && self.stage.body(**id).is_some()).count()
    }

    /// All pieces, in the order of the bodies.
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

    /// Which part of which part a body is, from the first break on, counted from 1.
    fn path_of(&self, info: &BodyInfo) -> Vec<u32> {
        self.breaks.parts_that_led_to(info.origin).into_iter().map(|part| part + 1).collect()
    }

    /// What a row is called: its object, and part by part which one it is. Objects are numbered where there are
    /// several.
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

    /// Does something with the selected pieces, as one step of undo; with how many. Nothing happens, and nothing is
    /// to be undone, where that changes nothing. What is merged is one body when [`Sandbox::poll`] says so.
    ///
    /// # Errors
    /// [`SandboxError::Busy`] for what cannot be done while pieces are on their way, [`SandboxError::CannotMerge`] with the
    /// reason; nothing has changed then.
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

    /// Hides and shows, locks and unlocks.
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
        self.history.push(Step { label, tuning, world: None, recorded: None, statuses: Some(before) });
        after.retain(|_, status| *status != Status::default());
        self.stage.set_statuses(Statuses::new(after));
        if edit == PieceEdit::Hide {
            self.select([]);
        }
        // What cannot be seen is not aimed at, and what is locked does not break.
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

    /// What bodies there are has just changed between two steps.
    pub(super) fn after_edit(&mut self) {
        // A pin on what is gone goes, and what the panels say is looked up anew.
        self.set_tuning(self.document.tuning().clone());
        self.looking.forget();
        self.record_change(false);
    }

    /// Has one body made of pieces of one break, which takes their place when it is there.
    fn merge(&mut self, ids: &[BodyId]) -> Result<usize, SandboxError> {
        if self.is_breaking() {
            return Err(SandboxError::Busy);
        }
        let union = self.union_of(ids)?;
        self.jobs.merging.start(union);
        Ok(ids.len())
    }
}
