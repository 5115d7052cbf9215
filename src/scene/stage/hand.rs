//! The hand drags a body by a spring.

use glam::DVec3;

use super::{ScenePick, Stage};
use crate::bodies::Drag;

/// Who moves the hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::scene) enum Hand {
    /// It holds nothing.
    #[default]
    Free,
    /// The user; the number of the event that notes its path.
    OfUser(usize),
    /// An event.
    OfEvent,
}

impl Stage {
    /// Whether the picked body can be moved.
    pub fn can_be_held(&self, pick: &ScenePick) -> bool {
        self.world.body(pick.body).is_some_and(|body| !body.is_static())
    }

    /// Grabs a body where a ray hit it. Does nothing for an immovable body.
    pub fn grab(&mut self, pick: &ScenePick) {
        if let Some(body) = self.world.body(pick.body).filter(|_| self.can_be_held(pick)) {
            let anchor = body.state.rotation.inverse() * (pick.point - body.state.position);
            self.world.drag = Some(Drag { body: pick.body, anchor, target: pick.point });
        }
    }

    /// Moves the hand to `target`, m.
    pub fn drag(&mut self, target: DVec3) {
        if let Some(hold) = self.world.drag.as_mut().filter(|_| target.is_finite()) {
            hold.target = target;
        }
    }

    /// What the hand holds, and where the hand is.
    pub fn hold(&self) -> Option<Drag> {
        self.world.drag
    }

    /// Has the hand hold this.
    pub fn set_hold(&mut self, hold: Option<Drag>) {
        let can = |hold: &Drag| self.world.body(hold.body).is_some_and(|body| !body.is_static());
        self.world.drag = hold.filter(can);
    }

    /// Releases the body.
    pub fn release(&mut self) {
        self.world.drag = None;
    }

    /// The grabbed point and the hand, m.
    pub fn held(&self) -> Option<(DVec3, DVec3)> {
        let hold = self.world.drag?;
        let state = self.world.body(hold.body)?.state;
        Some((state.position + state.rotation * hold.anchor, hold.target))
    }
}
