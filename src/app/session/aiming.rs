//! The two tools and what they aim at: the hammer's hover and click, the pinned impact and its handles, the preview of both.

use super::Session;
use crate::{
    scene::{Aim, ScenePick},
    ui::{Command, Hover, NoticeKind, PinView, Tool},
};

/// A blow that stays where it was put until it falls or is removed.
#[derive(Default)]
pub(super) struct Aiming {
    /// What a click does.
    pub tool: Tool,
    /// The pinned blow.
    pub pin: Option<Aim>,
    /// Numbers of bodies that the pictures showed, each time that it changed; for tests that look from outside.
    pub counts: Vec<usize>,
}

/// Changes in the number of bodies that are kept.
const MOST_COUNTS: usize = 32;

impl Session {
    /// The chosen tool.
    pub fn tool(&self) -> Tool {
        self.aiming.tool
    }

    /// Numbers of bodies that the last pictures showed.
    pub fn counts(&self) -> &[usize] {
        &self.aiming.counts
    }

    pub(super) fn count_bodies(&mut self) {
        let Some(now) = self.sandbox.as_ref().map(|s| s.bodies().len()) else {
            return;
        };
        let counts = &mut self.aiming.counts;
        if counts.last() != Some(&now) {
            counts.push(now);
            if counts.len() > MOST_COUNTS {
                counts.remove(0);
            }
        }
    }

    /// What a tool's command asks for.
    pub(super) fn use_tool(&mut self, command: &Command) {
        match command {
            Command::Tool(tool) => {
                self.aiming.tool = *tool;
                self.aiming.pin = None;
            }
            Command::Hit(at) => self.hit(*at),
            Command::Pin(at) => {
                if let Some(aim) = self.aim_through(*at) {
                    self.aiming.pin = Some(aim);
                }
            }
            Command::MovePin(at) => {
                // Beside the object, and over others, the pin waits for the pointer to come back.
                let moved = self.aim_through(*at);
                if let Some(aim) = moved.filter(|aim| self.aiming.pin.is_some_and(|pin| pin.body == aim.body))
                {
                    self.aiming.pin = Some(aim);
                }
            }
            Command::BreakPin => {
                if let (Some(pin), Some(sandbox)) = (self.aiming.pin, &mut self.sandbox)
                    && !sandbox.is_breaking()
                    && let Some((point, direction)) = sandbox.aimed(&pin)
                {
                    sandbox.break_at(pin.body, point, direction);
                }
            }
            Command::Unpin => self.aiming.pin = None,
            _ => {}
        }
    }

    pub(super) fn pick_through(&self, [x, y]: [f32; 2]) -> Option<(ScenePick, glam::Vec3)> {
        let (origin, direction) = self.camera.ray(x, y, self.aspect);
        Some((self.sandbox.as_ref()?.pick(origin, direction)?, direction))
    }

    fn aim_through(&self, at: [f32; 2]) -> Option<Aim> {
        let (pick, direction) = self.pick_through(at)?;
        self.sandbox.as_ref()?.aim_at(&pick, direction)
    }

    fn hit(&mut self, at: [f32; 2]) {
        if let Some((pick, direction)) = self.pick_through(at)
            && let Some(sandbox) = &mut self.sandbox
        {
            sandbox.break_at(pick.body, pick.point, direction.as_dvec3());
        }
    }

    /// Finds what the pointer is over, and aims at it unless an impact is pinned.
    pub(super) fn update_aim(&mut self) {
        (self.pick, self.hover) = (None, None);
        let found = self.pointer.and_then(|at| self.pick_through(at));
        let playing = self.playing();
        let Some(sandbox) = &mut self.sandbox else {
            return;
        };
        if self.aiming.pin.is_some_and(|pin| sandbox.aimed(&pin).is_none()) {
            self.aiming.pin = None;
        }
        let mut aim = self.aiming.pin;
        if let Some((pick, direction)) = found {
            self.pick = Some(pick);
            let longest = sandbox.longest_side(pick.body).unwrap_or(1.0) as f32;
            let shown = self.camera.eye() + direction * pick.distance as f32;
            self.hover = Some(Hover { point: shown, longest_side: longest });
            // What flies past under the pointer is not aimed at.
            let aims = matches!(self.aiming.tool, Tool::Hammer | Tool::Impact);
            if aim.is_none() && aims && (!playing || sandbox.is_at_rest(pick.body)) {
                aim = sandbox.aim_at(&pick, direction);
            }
        }
        sandbox.set_aim(aim);
        if let Err(error) = sandbox.update_preview() {
            self.say(NoticeKind::Error, error.to_string());
        }
    }

    /// The pinned impact as it is drawn.
    pub fn pin_view(&self) -> Option<PinView> {
        let (pin, sandbox) = (self.aiming.pin?, self.sandbox.as_ref()?);
        let point = sandbox.shown_point(&pin)?;
        let longest_side = sandbox.longest_side(pin.body)? as f32;
        Some(PinView { point, longest_side })
    }

    /// A new scene has neither pin nor preview.
    pub(super) fn forget_aim(&mut self) {
        self.aiming.pin = None;
    }
}
