//! The user's decisions about bodies: which are hidden, and which are locked.
//!
//! They are stored by body id and are not part of recorded states: a hidden piece is hidden at every moment of the
//! timeline at which it exists. Parts of a broken body inherit them.

use std::{collections::BTreeMap, sync::Arc};

use glam::DVec3;

use super::Stage;
use crate::bodies::BodyId;

/// The user's decisions about a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether it is neither drawn nor picked; it still moves and collides.
    pub hidden: bool,
    /// Whether it neither moves, nor is dragged, nor breaks.
    pub locked: bool,
}

/// Statuses of all bodies for which one was set; undo stores them.
pub(in crate::scene) type Statuses = Arc<BTreeMap<BodyId, Status>>;

impl Stage {
    /// The status of a body.
    pub fn status(&self, id: BodyId) -> Status {
        self.statuses.get(&id).copied().unwrap_or_default()
    }

    /// All statuses.
    pub fn statuses(&self) -> Statuses {
        Arc::clone(&self.statuses)
    }

    /// Sets all statuses. An unlocked body starts from rest.
    pub fn set_statuses(&mut self, statuses: Statuses) {
        let was_locked = |id: &BodyId| self.statuses.get(id).is_some_and(|status| status.locked);
        let frees =
            self.statuses.keys().any(|id| was_locked(id) && !statuses.get(id).is_some_and(|s| s.locked));
        self.statuses = statuses;
        self.hold_what_is_locked();
        if frees {
            // The unlocked body may be in the air, and others may lean on it.
            self.world.wake_all();
        }
        self.revision += 1;
    }

    /// Locks the bodies with that status, and unlocks all others.
    pub(super) fn hold_what_is_locked(&mut self) {
        for body in &mut self.world.bodies {
            body.locked = self.statuses.get(&body.id).is_some_and(|status| status.locked);
            if body.locked {
                (body.state.linear_velocity, body.state.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
            }
        }
        let held = self.world.drag.map(|drag| drag.body);
        if held.and_then(|id| self.body(id)).is_some_and(|body| body.locked) {
            self.world.drag = None;
        }
    }

    /// Copies the status of a broken body to its parts.
    pub(super) fn inherit_status(&mut self, whole: BodyId, parts: &[BodyId]) {
        let status = self.status(whole);
        if status != Status::default() {
            let statuses = Arc::make_mut(&mut self.statuses);
            statuses.extend(parts.iter().map(|part| (*part, status)));
            self.hold_what_is_locked();
        }
    }
}
