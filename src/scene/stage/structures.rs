//! Bodies of a stage whose parts bonds hold together.
//!
//! In: structures, and what is left of bodies that came apart. Out: changed bodies, with what is known of them.

use std::sync::Arc;

use glam::DVec3;

use super::{BodyInfo, Origin, Stage};
use crate::bodies::{BodyDef, BodyId, WorldSnapshot, structure::Structure};

/// A body that is left of one whose structure came apart.
pub(in crate::scene) struct PartOfSplit {
    /// The body.
    pub def: BodyDef,
    /// Its largest part.
    pub part: usize,
    /// Where it has several, the index of their merge in the log.
    pub joined: Option<usize>,
}

impl Stage {
    /// Whether bonds hold any body together.
    pub fn has_structures(&self) -> bool {
        self.world.bodies.iter().any(|body| body.def.structure.is_some())
    }

    /// The state before a step, which [`Stage::take_back`] restores.
    pub fn begin(&self) -> (WorldSnapshot, f64) {
        (self.world.snapshot(), self.time)
    }

    /// Takes the last step back.
    pub fn take_back(&mut self, (before, time): &(WorldSnapshot, f64)) {
        self.world.restore(before);
        self.time = *time;
        self.revision += 1;
    }

    /// Gives a body the structure of the parts that it was cracked into; `record` is the index of the break, `joined` that of
    /// the merge of all its parts. It wakes.
    pub fn hold_together(
        &mut self,
        id: BodyId,
        (structure, fixed): (Arc<Structure>, bool),
        (record, joined): (usize, usize),
    ) {
        let whole = self.info_or_whole(id);
        let origin = Some(Origin { record, part: 0 });
        let info = BodyInfo { generation: whole.generation + 1, origin, joined: Some(joined), ..whole };
        self.info.insert(id, info);
        if let Some(body) = self.world.body_mut(id) {
            (body.def.structure, body.def.fixed) = (Some(structure), fixed);
            if fixed {
                (body.state.linear_velocity, body.state.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
            }
            body.wake();
        }
        self.revision += 1;
    }

    /// Replaces the structure of a body.
    pub fn set_structure(&mut self, id: BodyId, structure: Arc<Structure>) {
        if let Some(body) = self.world.body_mut(id) {
            body.def.structure = Some(structure);
        }
        self.revision += 1;
    }

    /// Replaces a body by what is left of it after its structure came apart. Wakes everything.
    pub fn split(&mut self, id: BodyId, parts: Vec<PartOfSplit>) {
        let whole = self.info_or_whole(id);
        if let Err(error) = self.world.get_ready(self.compute.gpu()) {
            // The next step fails with the same error and reports it.
            tracing::debug!("contacts could not be updated after a break: {error}");
        }
        let record = whole.origin.map_or(0, |origin| origin.record);
        let infos: Vec<_> = parts.iter().map(|part| (part.part, part.joined)).collect();
        let ids = self.world.break_up(id, parts.into_iter().map(|part| part.def));
        for (at, (new, (part, joined))) in ids.iter().zip(infos).enumerate() {
            // What is left of the body keeps its colour.
            let color_id = if at == 0 { whole.color_id } else { self.next_color };
            self.next_color = self.next_color.wrapping_add(u32::from(at > 0));
            let origin = Some(Origin { record, part });
            self.info.insert(*new, BodyInfo { color_id, origin, joined, ..whole });
        }
        self.inherit_status(id, &ids);
        self.info.remove(&id);
        self.world.wake_all();
        self.revision += 1;
    }
}
