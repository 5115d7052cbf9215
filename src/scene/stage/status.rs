//! What the user decided about bodies, whatever they do: which are hidden, and which are held where they are.
//!
//! It goes by the names of bodies and does not belong to a recorded moment: a piece that was hidden is hidden at every
//! moment of the timeline at which it is there. What a body breaks into inherits it.

use std::{collections::BTreeMap, sync::Arc};

use glam::DVec3;

use super::Stage;
use crate::bodies::BodyId;

/// What the user decided about a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Neither drawn nor met by rays of the picture; it still moves and touches.
    pub hidden: bool,
    /// Does not move, is not dragged and does not break.
    pub locked: bool,
}

/// The same of all bodies about which something was decided; undo keeps it.
pub(in crate::scene) type Statuses = Arc<BTreeMap<BodyId, Status>>;

impl Stage {
    /// What was decided about a body.
    pub fn status(&self, id: BodyId) -> Status {
        self.statuses.get(&id).copied().unwrap_or_default()
    }

    /// All that was decided.
    pub fn statuses(&self) -> Statuses {
        Arc::clone(&self.statuses)
    }

    /// Decides otherwise from now on. What is let go begins from rest.
    pub fn set_statuses(&mut self, statuses: Statuses) {
        let was_locked = |id: &BodyId| self.statuses.get(id).is_some_and(|status| status.locked);
        let frees =
            self.statuses.keys().any(|id| was_locked(id) && !statuses.get(id).is_some_and(|s| s.locked));
        self.statuses = statuses;
        self.hold_what_is_locked();
        if frees {
            // It may stand in the air, and others may lean on it.
            self.world.wake_all();
        }
        self.revision += 1;
    }

    /// Holds the bodies that are locked where they are, and no others.
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

    /// Lets parts inherit what was decided about the body that broke into them.
    pub(super) fn inherit_status(&mut self, whole: BodyId, parts: &[BodyId]) {
        let status = self.status(whole);
        if status != Status::default() {
            let statuses = Arc::make_mut(&mut self.statuses);
            statuses.extend(parts.iter().map(|part| (*part, status)));
            self.hold_what_is_locked();
        }
    }
}
