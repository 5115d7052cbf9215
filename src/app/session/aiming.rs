//! The tools and their target: the hammer's hover and click, the pinned impact and its handles, the preview of both.

use super::Session;
use crate::{
    bodies::BodyId,
    scene::{Aim, PreviewMode, ScenePick},
    ui::{Command, Hover, NoticeKind, PinView, Tool},
};

/// The tool and the point under the pointer. The pinned impact belongs to the tuned values, so that undo covers it.
#[derive(Default)]
pub(super) struct Aiming {
    /// The chosen tool.
    tool: Tool,
    /// The pointer's position in the picture (0..1).
    pointer: Option<[f32; 2]>,
    /// The body and point under the pointer.
    pick: Option<ScenePick>,
    /// The point under the pointer, as the panels draw it.
    hover: Option<Hover>,
    /// History of the number of bodies shown, for tests that observe the window from outside.
    counts: Vec<usize>,
}

impl Aiming {
    /// Sets the pointer's position; `None` when it leaves the picture.
    pub fn point_at(&mut self, at: Option<[f32; 2]>) {
        self.pointer = at;
    }

    /// The chosen tool.
    pub fn tool(&self) -> Tool {
        self.tool
    }

    /// Takes the tool that moves objects.
    pub fn choose_move(&mut self) {
        self.tool = Tool::Move;
    }

    /// The body under the pointer.
    pub fn picked(&self) -> Option<BodyId> {
        self.pick.map(|pick| pick.body)
    }
}

/// Most entries in the history of body counts.
const MOST_COUNTS: usize = 32;

impl Session {
    /// The chosen tool.
    pub fn tool(&self) -> Tool {
        self.aiming.tool()
    }

    /// The point under the pointer.
    pub fn hover(&self) -> Option<Hover> {
        self.aiming.hover
    }

    /// History of the number of bodies in the pictures shown.
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

    /// Executes a tool's command.
    pub(super) fn use_tool(&mut self, command: &Command) {
        match command {
            Command::Tool(tool) => self.choose(*tool),
            Command::Hit(at) => self.hit(*at),
            Command::Pin(at) => self.pin(*at),
            Command::MovePin(at) => {
                // Outside its body, the pin stays until the pointer returns.
                let moved = self.aim_through(*at);
                if let Some(sandbox) = &mut self.sandbox
                    && let Some(aim) = moved
                    && sandbox.tuning().pin.as_ref().is_some_and(|pin| pin.aim.body == aim.body)
                {
                    sandbox.pin(aim);
                }
            }
            Command::ToggleKept(at) => self.toggle_kept(*at),
            Command::KeepNone | Command::InvertKept => {
                let Some(sandbox) = &mut self.sandbox else { return };
                let none = *command == Command::KeepNone;
                let took_over = if none { sandbox.keep_none() } else { sandbox.invert_kept() };
                // Clearing the selection also discards the radius, and needs no explanation.
                self.say_painted(took_over && !none);
            }
            Command::Dab { at, erases } => {
                if let Some((pick, direction)) = self.pick_through(*at)
                    && let Some(sandbox) = &mut self.sandbox
                    && let Err(why) = sandbox.dab(pick.body, (pick.point, direction.as_dvec3()), *erases)
                {
                    self.say(NoticeKind::Remark, why);
                }
            }
            Command::PaintByStress(kind) => {
                let painted = self.sandbox.as_mut().map_or(0, |sandbox| sandbox.paint_by_stress(*kind));
                if painted == 0 {
                    self.say(
                        NoticeKind::Remark,
                        "No object of the scene is in tension yet: aim at one first",
                    );
                }
            }
            Command::BreakWhereItPulls => {
                let said = self.sandbox.as_mut().map(|sandbox| match sandbox.break_where_it_pulls() {
                    Ok((stay, all)) => {
                        format!("{} of {all} cells break off; the others stay one body", all - stay)
                    }
                    Err(why) => why.to_owned(),
                });
                said.into_iter().for_each(|text| self.say(NoticeKind::Remark, text));
            }
            Command::EraseAll => {
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.erase_all();
                }
            }
            Command::BreakPin => {
                if let Some(sandbox) = self.sandbox.as_mut().filter(|s| !s.is_breaking()) {
                    sandbox.break_pin();
                }
            }
            Command::CrackPin => {
                if let Some(sandbox) = self.sandbox.as_mut().filter(|s| !s.is_breaking()) {
                    sandbox.crack_pin();
                }
            }
            Command::Unpin => {
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.unpin();
                }
            }
            _ => {}
        }
    }

    fn choose(&mut self, tool: Tool) {
        self.aiming.tool = tool;
        let Some(sandbox) = &mut self.sandbox else { return };
        match tool {
            Tool::Hammer => sandbox.unpin(),
            Tool::Impact
            | Tool::Brush
            | Tool::Hand
            | Tool::Throw
            | Tool::Select
            | Tool::Move
            | Tool::Probe => {}
            Tool::Keep => {
                // Cells can only be clicked while the preview shows them.
                let mut tuning = sandbox.tuning().clone();
                if tuning.view.preview == PreviewMode::Off {
                    tuning.view.preview = PreviewMode::Seams;
                    sandbox.tune("preview", tuning);
                }
            }
        }
    }

    fn pin(&mut self, at: [f32; 2]) {
        if let Some(aim) = self.aim_through(at)
            && !self.is_held(aim.body)
            && let Some(sandbox) = &mut self.sandbox
        {
            sandbox.pin(aim);
        }
    }

    /// Whether a body is locked against breaking; shows a message if it is.
    fn is_held(&mut self, id: BodyId) -> bool {
        let locked = self.sandbox.as_ref().is_some_and(|sandbox| sandbox.status(id).locked);
        if locked {
            let text = "This piece is locked: select it and unlock it under Pieces to break it";
            self.say(NoticeKind::Remark, text);
        }
        locked
    }

    fn toggle_kept(&mut self, at: [f32; 2]) {
        if self.sandbox.as_ref().is_some_and(|s| s.tuning().pin.is_none()) {
            return self.pin(at);
        }
        let (origin, direction) = self.camera.ray(at[0], at[1], self.aspect);
        if let Some(sandbox) = self.sandbox.as_mut().filter(|s| !s.is_breaking())
            && let Some(cell) = sandbox.cell_at(origin, direction)
        {
            let took_over = sandbox.toggle_kept(cell);
            self.say_painted(took_over);
        }
    }

    fn say_painted(&mut self, took_over: bool) {
        if took_over {
            let text = "The cells kept by the local radius are now kept by choice; the local radius is off";
            self.say(NoticeKind::Remark, text);
        }
    }

    /// Whether the pointer is over a cell that can be clicked to make it stay.
    pub fn over_cell(&self) -> bool {
        self.sandbox.as_ref().is_some_and(|s| s.hovered_cell().is_some())
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
            && !self.is_held(pick.body)
            && let Some(sandbox) = &mut self.sandbox
        {
            sandbox.break_at(pick.body, pick.point, direction.as_dvec3());
        }
    }

    /// Updates the point under the pointer, and aims at it unless an impact is pinned.
    pub(super) fn update_aim(&mut self) {
        (self.aiming.pick, self.aiming.hover) = (None, None);
        let found = self.aiming.pointer.and_then(|at| self.pick_through(at));
        let playing = self.playing() || self.replaying();
        let Some(sandbox) = &mut self.sandbox else {
            return;
        };
        let pinned = sandbox.tuning().pin.as_ref().map(|pin| pin.aim);
        let mut aim = pinned;
        if let Some((pick, direction)) = found {
            self.aiming.pick = Some(pick);
            let longest = sandbox.longest_side(pick.body).unwrap_or(1.0) as f32;
            let shown = self.camera.eye() + direction * pick.distance as f32;
            let object_size = sandbox.object_size(pick.body) as f32;
            self.aiming.hover = Some(Hover { point: shown, longest_side: longest, object_size });
            // Bodies flying past under the pointer are not aimed at.
            let aims = matches!(self.aiming.tool, Tool::Hammer | Tool::Impact);
            if aim.is_none()
                && aims
                && !sandbox.status(pick.body).locked
                && (!playing || sandbox.is_at_rest(pick.body))
            {
                aim = sandbox.aim_at(&pick, direction);
            }
        }
        sandbox.look_at(pinned, aim);
        sandbox.set_aim(aim);
        let updated = sandbox.update_preview();
        let painting = self.aiming.tool == Tool::Keep && !sandbox.is_breaking();
        let ray = self.aiming.pointer.filter(|_| painting).map(|[x, y]| self.camera.ray(x, y, self.aspect));
        let cell = ray.and_then(|(origin, direction)| sandbox.cell_at(origin, direction));
        sandbox.hover_cell(cell);
        if let Err(error) = updated {
            self.tell_of(error);
        }
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.update_looking();
            sandbox.show_paint(self.aiming.tool == Tool::Brush);
            if let Err(error) = sandbox.update_touching() {
                self.tell_of(error);
            }
        }
    }

    /// The pinned impact, as the panels draw it.
    pub fn pin_view(&self) -> Option<PinView> {
        let sandbox = self.sandbox.as_ref()?;
        let aim = sandbox.tuning().pin.as_ref()?.aim;
        let point = sandbox.shown_point(&aim)?;
        let longest_side = sandbox.longest_side(aim.body)? as f32;
        Some(PinView { point, longest_side })
    }
}
