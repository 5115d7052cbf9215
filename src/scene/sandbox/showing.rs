//! What is shown: bodies as they are drawn, the preview of the aimed blow, the inside of fractures, contacts.

use std::{collections::BTreeSet, sync::Arc};

use glam::{DVec3, Vec3};

use super::{Sandbox, SandboxError, workshop};
use crate::{
    bodies::BodyId,
    gpu::GpuError,
    render::{BodySeams, Overlay, RenderBody},
    scene::{
        Aim, LookingReport, Pin, PreviewMode, PreviewReport, ScenePick, Touching, Tuning,
        document::Document,
        looking,
        preview::{Request, Scenery, Stroke, Target},
        stage::{Appearance, Stage},
    },
};

/// A body, and how a blow of the user's would break it.
fn target<'a>(stage: &'a Stage, document: &Document, body: BodyId) -> Option<Target<'a>> {
    let info = stage.info_or_whole(body);
    let (intact, params) = (info.is_intact(), document.tuned_params(&info));
    Some(Target { body: stage.body(body)?, intact, params })
}

impl Sandbox {
    pub(super) fn look(&self) -> Appearance {
        Appearance {
            explode: self.explode(),
            insides: self.document.insides(),
            selected: self.selection.ids(),
        }
    }

    fn explode(&self) -> f64 {
        self.document.tuning().view.explode
    }

    fn is_pinned(&self) -> bool {
        self.document.tuning().pin.is_some()
    }

    /// Bodies as the renderer wants them, without those that are hidden; `selected` is drawn highlighted, and so is
    /// what the user selected.
    #[must_use]
    pub fn render_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        self.stage.render_bodies(&self.look(), selected)
    }

    /// Bodies as the window shows them: as [`Sandbox::render_bodies`], and where a preview is exploded, its
    /// pieces instead of the body.
    #[must_use]
    pub fn shown_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        let scenery = Scenery { stage: &self.stage, look: &self.look() };
        self.preview.shown_bodies(scenery, selected, self.is_pinned())
    }

    /// The cracks that the picture draws on a body that is still whole, and how its cells are marked; the
    /// index counts in
    /// [`Sandbox::shown_bodies`].
    #[must_use]
    pub fn body_seams(&self) -> Option<BodySeams<'_>> {
        self.preview.body_seams(&self.stage, self.is_pinned())
    }

    /// Points all over the surfaces of the bodies as they are drawn, world: of `only` those, or of all that are not
    /// hidden.
    #[must_use]
    pub fn surface_points(&self, only: Option<&BTreeSet<BodyId>>) -> Vec<Vec3> {
        self.stage.surface_points(self.explode(), only)
    }

    /// World bounds of what is drawn, or of one body.
    #[must_use]
    pub fn bounds(&self, only: Option<BodyId>) -> Option<(Vec3, Vec3)> {
        self.stage.bounds(self.explode(), only)
    }

    /// Where the middles of the bodies are drawn that are not hidden, world.
    #[must_use]
    pub fn drawn_centres(&self) -> Vec<(BodyId, Vec3)> {
        self.stage.drawn_centres(self.explode())
    }

    /// Longest side of a body's bounds, m.
    #[must_use]
    pub fn longest_side(&self, id: BodyId) -> Option<f64> {
        self.stage.longest_side(id)
    }

    /// The nearest body on a ray as drawn (pieces apart by the explode slider).
    #[must_use]
    pub fn pick(&self, origin: Vec3, direction: Vec3) -> Option<ScenePick> {
        self.stage.pick(origin, direction, self.explode())
    }

    /// The blow that a pick means, along a ray.
    #[must_use]
    pub fn aim_at(&self, pick: &ScenePick, direction: Vec3) -> Option<Aim> {
        self.stage.aim_at(pick, direction)
    }

    /// Where an aimed blow falls and where to, m in the world; `None` when its body is gone.
    #[must_use]
    pub fn aimed(&self, aim: &Aim) -> Option<(DVec3, DVec3)> {
        self.stage.aimed(aim)
    }

    /// Where an aimed blow is drawn, m; `None` when its body is gone.
    #[must_use]
    pub fn shown_point(&self, aim: &Aim) -> Option<Vec3> {
        self.stage.shown_point(aim, self.explode())
    }

    /// Whether a body stands still, so that a preview of it is worth while.
    #[must_use]
    pub fn is_at_rest(&self, id: BodyId) -> bool {
        self.stage.is_at_rest(id)
    }

    /// Aims: what [`Sandbox::update_preview`] shows from now on.
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.preview.set_aim(aim);
    }

    /// Tells how much of a frame's time is left to previews, ms: their level follows it.
    pub fn leave_room_for_preview(&mut self, ms: f64) {
        self.preview.leave_room(ms);
    }

    /// What the preview does.
    #[must_use]
    pub fn preview(&self) -> PreviewReport {
        self.preview.report()
    }

    /// Whether a coarse copy is on its way: the next frame should ask again soon.
    #[must_use]
    pub fn is_preparing_preview(&self) -> bool {
        self.preview.is_preparing()
    }

    /// Whether the preview at the body's own level, or a look inside, is on its way: pictures that show
    /// nothing new would only delay it.
    #[must_use]
    pub fn is_refining_preview(&self) -> bool {
        self.preview.is_refining() || self.looking.is_reading()
    }

    /// Brings the preview up to date; `true` when it has changed. While a fracture is on its way, what is
    /// shown stays.
    ///
    /// # Errors
    /// [`SandboxError`]; nothing is shown then, and the same is not tried again.
    pub fn update_preview(&mut self) -> Result<bool, SandboxError> {
        if self.is_breaking() {
            return Ok(false);
        }
        let resting = !self.history.is_changing();
        let aim = self.preview.aim();
        if let Some(aim) = aim
            && let Some(target) = target(&self.stage, &self.document, aim.body)
            && self.document.tuning().view.preview != PreviewMode::Off
        {
            let pin = self.document.tuning().pin.as_ref().filter(|pin| pin.aim == aim);
            let kept = pin.and_then(|pin| pin.kept.clone());
            self.preview.look_for_seeds(workshop(&self.stage, &self.passes), aim, &target, kept, resting);
        } else {
            self.preview.forget_seeds();
        }
        self.refresh_pinned();
        let (tuning, bodies) = (self.document.tuning(), self.stage.bodies());
        let request = Request {
            target: aim.and_then(|aim| {
                let mut target = target(&self.stage, &self.document, aim.body)?;
                target.params = self.preview.with_seeds(&aim, target.params);
                Some(target)
            }),
            only: bodies.first().filter(|_| bodies.len() == 1),
            mode: tuning.view.preview,
            pin: tuning.pin.as_ref(),
            resting,
        };
        self.preview.update(workshop(&self.stage, &self.passes), request)
    }

    /// Draws the pinned impact's cells where it, or what shapes them, has changed.
    fn refresh_pinned(&mut self) {
        let pin = self.document.tuning().pin.as_ref();
        let target = pin.and_then(|pin| {
            let mut target = target(&self.stage, &self.document, pin.aim.body)?;
            target.params = self.preview.with_seeds(&pin.aim, target.params);
            Some((pin, target))
        });
        self.preview.refresh_pinned(target);
    }

    /// Pins an impact, or moves the pinned one. Cells that were painted on the same body stay painted: where
    /// they are, not by their number.
    pub fn pin(&mut self, aim: Aim) {
        let mut tuning = self.document.tuning().clone();
        let kept = tuning.pin.take().filter(|pin| pin.aim.body == aim.body).and_then(|pin| pin.kept);
        tuning.pin = Some(Pin { aim, kept });
        self.tune("impact", tuning);
    }

    /// Takes the pinned impact away, and with it the cells that were painted for it.
    pub fn unpin(&mut self) {
        let tuning = Tuning { pin: None, ..self.document.tuning().clone() };
        self.tune("removed impact", tuning);
    }

    /// The cells that stay at the pinned impact, ascending.
    #[must_use]
    pub fn kept_cells(&self) -> &[u32] {
        self.preview.kept_cells()
    }

    /// Lets a cell of the pinned impact stay, or break off if it stayed. `true` where cells that a local
    /// radius kept are painted ones from now on: a cell must be able to leave, and a radius would hold it.
    pub fn toggle_kept(&mut self, cell: u32) -> bool {
        self.paint(Stroke::Toggle(cell))
    }

    /// Lets every cell break off.
    pub fn keep_none(&mut self) -> bool {
        self.paint(Stroke::None)
    }

    /// Lets those cells stay that broke off, and the others break off.
    pub fn invert_kept(&mut self) -> bool {
        self.paint(Stroke::Invert)
    }

    fn paint(&mut self, stroke: Stroke) -> bool {
        self.refresh_pinned();
        let Some(kept) = self.preview.painted(stroke) else {
            return false;
        };
        let mut tuning = self.document.tuning().clone();
        let took_over = tuning.fracture.local.take().is_some();
        tuning.fracture.keep.clear();
        if let Some(pin) = &mut tuning.pin {
            pin.kept = kept;
        }
        // Every click is a step of its own.
        self.end_gesture();
        self.tune(stroke.name(), tuning);
        self.end_gesture();
        self.refresh_pinned();
        took_over
    }

    /// The cell of the pinned impact that a ray through the picture meets first on the body, as it is shown:
    /// on the whole one the seed nearest to the middle of the voxel, on pieces the nearest of those that the
    /// piece holds; in whole numbers, of equally near ones the lowest.
    #[must_use]
    pub fn cell_at(&self, origin: Vec3, direction: Vec3) -> Option<u32> {
        let scenery = Scenery { stage: &self.stage, look: &self.look() };
        self.preview.cell_at(scenery, origin, direction)
    }

    /// Marks a cell of the pinned impact as the one under the pointer.
    pub fn hover_cell(&mut self, cell: Option<u32>) {
        self.preview.hover_cell(cell);
    }

    /// The cell under the pointer.
    #[must_use]
    pub fn hovered_cell(&self) -> Option<u32> {
        self.preview.hovered_cell()
    }

    /// Tells what is aimed at: the pinned impact, and what the pointer is over.
    pub fn look_at(&mut self, pin: Option<Aim>, hover: Option<Aim>) {
        self.looking.look_at(pin, hover);
    }

    /// Brings what is shown of the inside up to date, or starts what that needs. Never waits.
    pub fn update_looking(&mut self) {
        let (stage, tuning) = (&self.stage, self.document.tuning());
        let context = looking::Context { stage, tuning, is_breaking: self.jobs.breaking.is_busy() };
        self.looking.update(workshop(&self.stage, &self.passes), context);
    }

    /// What is shown of the inside.
    #[must_use]
    pub fn looking(&self) -> &LookingReport {
        self.looking.report()
    }

    /// Brings what is drawn of contacts up to date. While pieces are drawn apart nothing is, since it would
    /// not lie where they are.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn update_touching(&mut self) -> Result<(), GpuError> {
        let view = &self.document.tuning().view;
        let mode = if view.explode > 0.0 { Touching::Off } else { view.touching };
        let inside = (self.looking.overlay().map(|overlay| &**overlay), self.looking.revision());
        self.touched.update(mode, &mut self.stage, inside)?;
        let below = self.touched.overlay().or(self.looking.overlay()).map(|overlay| &**overlay);
        let below = (below, self.looking.revision() + self.touched.revision());
        self.ghost.update(view.explode == 0.0, &self.timeline, &self.stage, below);
        Ok(())
    }

    /// Draws another take over what is shown, as dots where it is elsewhere at the same time; `None`: no other.
    pub fn compare(&mut self, take: Option<u32>) {
        self.ghost.compare(take.filter(|number| *number != self.timeline.take()));
    }

    /// The take that is drawn over what is shown, where it is there.
    #[must_use]
    pub fn compared(&self) -> Option<u32> {
        self.ghost.compared().filter(|number| self.timeline.in_take(*number, 0.0).is_some())
    }

    /// Shows the take that is compared with, and draws the one over it that was shown. False where there is none.
    pub fn swap_takes(&mut self) -> bool {
        let (other, shown) = (self.compared(), self.timeline.take());
        let swapped = other.is_some_and(|other| self.show_take(other));
        if swapped {
            self.compare(Some(shown));
        }
        swapped
    }

    /// What is drawn over the picture: of the inside, of contacts, and of another take.
    #[must_use]
    pub fn inside_overlay(&self) -> Option<&Arc<Overlay>> {
        self.ghost.overlay().or(self.touched.overlay()).or(self.looking.overlay())
    }

    /// Changes whenever that has changed.
    #[must_use]
    pub fn looking_revision(&self) -> u64 {
        self.looking.revision() + self.touched.revision() + self.ghost.revision()
    }
}
