//! Displays: bodies for the renderer, the preview of the aimed blow, internals of fractures, contacts.

use std::{collections::BTreeSet, sync::Arc};

use glam::{DVec3, Vec3};

use super::{Sandbox, SandboxError, workshop};
use crate::{
    bodies::BodyId,
    gpu::GpuError,
    render::{BodySeams, Clips, Overlay, RenderBody, RenderOptions},
    scene::{
        Aim, BreakLog, Legend, LookingReport, Pin, PreviewMode, PreviewReport, Quantity, ScenePick, ShotLook,
        StepFigures, Touching, Tuning,
        body_stress::Stresses,
        coloring::{BodyColors, FieldKind},
        document::Document,
        field_view::FieldView,
        looking,
        preview::{Preview, Request, Scenery, Stroke, Target},
        slices::{SliceScene, clips},
        stage::{Appearance, Stage},
    },
};

/// A body with the parameters of a user's blow on it.
fn target<'a>(stage: &'a Stage, document: &Document, body: BodyId) -> Option<Target<'a>> {
    let info = stage.info_or_whole(body);
    // A blow on a body that bonds hold makes no cracks.
    if stage.body(body)?.def.structure.is_some() {
        return None;
    }
    let (intact, params) = (info.is_intact(), document.tuned_params(&info));
    Some(Target { body: stage.body(body)?, intact, params })
}

/// What slices are drawn from. No method, which would borrow all of the sandbox.
fn slice_scene<'a>(
    document: &'a Document,
    stage: &'a Stage,
    (breaks, stresses): (&'a BreakLog, &'a Stresses),
    fields: &'a FieldView,
    preview: &'a Preview,
) -> SliceScene<'a> {
    let tuning = document.tuning();
    let pinned = tuning.pin.as_ref().zip(preview.pinned_cells());
    SliceScene {
        stage,
        breaks,
        stresses,
        fields,
        explode: tuning.view.explode,
        slices: &tuning.slices,
        scale: tuning.view.scale,
        pinned: pinned.map(|(pin, cells)| (&pin.aim, cells)),
        pieces: None,
    }
}

impl Sandbox {
    pub(super) fn look(&self) -> Appearance {
        Appearance {
            explode: self.explode(),
            insides: self.insides(),
            colors: self.body_colors(),
            leaves: self.leaves.colors().cloned(),
            selected: self.selection.ids(),
        }
    }

    /// Colours of bodies where these mean a quantity of whole bodies: voxels have theirs in copies of the shapes.
    fn body_colors(&self) -> Option<BodyColors> {
        let view = &self.document.tuning().view;
        let quantity = view.color_by.quantity().filter(|quantity| !quantity.of_voxels)?;
        Some(BodyColors::new(quantity, view.scale, &self.stage, (&self.breaks, self.stress.known())))
    }

    /// Energies and contacts after the steps since the scene was opened, in the order of time.
    #[must_use]
    pub fn step_figures(&self) -> &[StepFigures] {
        self.trace.all()
    }

    /// What the colours of bodies and of slices mean.
    #[must_use]
    pub fn legends(&self) -> Vec<Legend> {
        let own = match self.leaves.colors() {
            Some(leaves) => leaves.legend(),
            None => self.body_colors().and_then(|colors| colors.legend()),
        };
        let of_slices = self.slices.legends().iter().filter(|legend| Some(*legend) != own.as_ref()).cloned();
        own.clone().into_iter().chain(of_slices).collect()
    }

    /// The slices as they are now, on top of another overlay.
    #[must_use]
    pub fn sliced(&self, below: Option<Arc<Overlay>>) -> Option<Arc<Overlay>> {
        if self.document.tuning().slices.is_empty() {
            return below;
        }
        let logs = (&self.breaks, self.stress.known());
        let scene = slice_scene(&self.document, &self.stage, logs, &self.fields, &self.preview);
        let (made, _) = scene.draw(below.as_deref());
        Some(Arc::new(made))
    }

    /// What the colours and the slices of a shot show, without colours until a worker prepares these.
    #[must_use]
    pub fn shot_look(&self) -> ShotLook {
        let tuning = self.document.tuning();
        ShotLook::new(&tuning.view, &tuning.slices, (&self.breaks, self.stress.known()))
    }

    /// Planes that cut the picture open now.
    #[must_use]
    pub fn clips(&self) -> Clips {
        clips(&self.document.tuning().slices, self.stage.time())
    }

    /// Whether slices are drawn without the bodies: they are chosen to be, and there is a slice.
    #[must_use]
    pub fn shows_slices_alone(&self) -> bool {
        let tuning = self.document.tuning();
        // A slice that shows nothing would leave an empty picture.
        tuning.view.slices_alone && tuning.slices.iter().any(|slice| slice.show.is_some() || slice.lines)
    }

    fn explode(&self) -> f64 {
        self.document.tuning().view.explode
    }

    fn is_pinned(&self) -> bool {
        self.document.tuning().pin.is_some()
    }

    /// Visible bodies for the renderer; `selected` and the user's selection are highlighted.
    #[must_use]
    pub fn render_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        self.stage.render_bodies(&self.look(), selected)
    }

    /// Bodies as the window shows them: like [`Sandbox::render_bodies`], but an exploded preview's pieces replace their
    /// body. None where slices are shown alone.
    #[must_use]
    pub fn shown_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        if self.shows_slices_alone() {
            return Vec::new();
        }
        let scenery = Scenery { stage: &self.stage, look: &self.look() };
        self.preview.shown_bodies(scenery, selected, self.is_pinned())
    }

    /// Cracks and marked cells for the picture of an unbroken body; the body's index refers to
    /// [`Sandbox::shown_bodies`]. `None` where slices are shown alone.
    #[must_use]
    pub fn body_seams(&self) -> Option<BodySeams<'_>> {
        if self.shows_slices_alone() {
            return None;
        }
        self.preview.body_seams(&self.stage, self.is_pinned())
    }

    /// Points on the surfaces of the bodies where they are drawn, world space: of the bodies in `only`, or of all
    /// visible ones.
    #[must_use]
    pub fn surface_points(&self, only: Option<&BTreeSet<BodyId>>) -> Vec<Vec3> {
        self.stage.surface_points(self.explode(), only)
    }

    /// World bounds of all drawn bodies, or of one body.
    #[must_use]
    pub fn bounds(&self, only: Option<BodyId>) -> Option<(Vec3, Vec3)> {
        self.stage.bounds(self.explode(), only)
    }

    /// Centres of the visible bodies where they are drawn, world space.
    #[must_use]
    pub fn drawn_centres(&self) -> Vec<(BodyId, Vec3)> {
        self.stage.drawn_centres(self.explode())
    }

    /// Longest side of a body's bounds, m.
    #[must_use]
    pub fn longest_side(&self, id: BodyId) -> Option<f64> {
        self.stage.longest_side(id)
    }

    /// Options of pictures of the scene: colours, floor, light, backdrop and lens as the panels have them, and lines between
    /// pieces a pixel of the window wide.
    #[must_use]
    pub fn picture_options(&self) -> RenderOptions {
        let tuning = self.document.tuning();
        let options = tuning.view.options(self.stage.settings().floor, tuning.view.hairline(1.0));
        RenderOptions { clips: self.clips(), backdrop: tuning.backdrop.clone(), ..options }
    }

    /// The nearest body on a ray, where it is drawn (moved by the explode slider).
    #[must_use]
    pub fn pick(&self, origin: Vec3, direction: Vec3) -> Option<ScenePick> {
        let (first, last) = self.clips().interval(origin, direction);
        let pick = self.stage.pick(origin + direction * first, direction, self.explode())?;
        let distance = pick.distance + f64::from(first);
        (distance <= f64::from(last)).then_some(ScenePick { distance, ..pick })
    }

    /// The blow along a ray at a picked point.
    #[must_use]
    pub fn aim_at(&self, pick: &ScenePick, direction: Vec3) -> Option<Aim> {
        self.stage.aim_at(pick, direction)
    }

    /// World position, m, and direction of an aimed blow; `None` if its body is gone.
    #[must_use]
    pub fn aimed(&self, aim: &Aim) -> Option<(DVec3, DVec3)> {
        self.stage.aimed(aim)
    }

    /// World position at which an aimed blow is drawn, m; `None` if its body is gone.
    #[must_use]
    pub fn shown_point(&self, aim: &Aim) -> Option<Vec3> {
        self.stage.shown_point(aim, self.explode())
    }

    /// Whether a body stands still, so that a preview of it is useful.
    #[must_use]
    pub fn is_at_rest(&self, id: BodyId) -> bool {
        self.stage.is_at_rest(id)
    }

    /// Sets the aim for [`Sandbox::update_preview`].
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.preview.set_aim(aim);
    }

    /// Sets the time that a frame leaves to previews, ms; their level follows it.
    pub fn leave_room_for_preview(&mut self, ms: f64) {
        self.preview.leave_room(ms);
    }

    /// State of the preview.
    #[must_use]
    pub fn preview(&self) -> PreviewReport {
        self.preview.report()
    }

    /// Whether a coarse copy is being made, so that the next frame should update the preview.
    #[must_use]
    pub fn is_preparing_preview(&self) -> bool {
        self.preview.is_preparing()
    }

    /// Whether the preview at the body's own level, or a fracture's internals, are being computed: redrawing an
    /// unchanged picture would only delay them.
    #[must_use]
    pub fn is_refining_preview(&self) -> bool {
        self.preview.is_refining() || self.looking.is_reading()
    }

    /// Updates the preview; returns whether it has changed. It stays unchanged while a fracture is in progress.
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

    /// Recomputes the pinned impact's cells if it or its parameters have changed.
    fn refresh_pinned(&mut self) {
        let pin = self.document.tuning().pin.as_ref();
        let target = pin.and_then(|pin| {
            let mut target = target(&self.stage, &self.document, pin.aim.body)?;
            target.params = self.preview.with_seeds(&pin.aim, target.params);
            Some((pin, target))
        });
        self.preview.refresh_pinned(target);
    }

    /// Pins an impact, or moves the pinned one. Cells painted on the same body stay painted, by position and not by
    /// number.
    pub fn pin(&mut self, aim: Aim) {
        let mut tuning = self.document.tuning().clone();
        let kept = tuning.pin.take().filter(|pin| pin.aim.body == aim.body).and_then(|pin| pin.kept);
        tuning.pin = Some(Pin { aim, kept });
        self.tune("impact", tuning);
    }

    /// Removes the pinned impact with its painted cells.
    pub fn unpin(&mut self) {
        let tuning = Tuning { pin: None, ..self.document.tuning().clone() };
        self.tune("removed impact", tuning);
    }

    /// The cells that stay at the pinned impact, ascending.
    #[must_use]
    pub fn kept_cells(&self) -> &[u32] {
        self.preview.kept_cells()
    }

    /// Toggles whether a cell of the pinned impact stays. Returns `true` if cells that a local radius kept become
    /// painted cells, which can be toggled one by one.
    pub fn toggle_kept(&mut self, cell: u32) -> bool {
        self.paint(Stroke::Toggle(cell))
    }

    /// Makes every cell break off.
    pub fn keep_none(&mut self) -> bool {
        self.paint(Stroke::None)
    }

    /// Inverts which cells stay.
    pub fn invert_kept(&mut self) -> bool {
        self.paint(Stroke::Invert)
    }

    /// Makes the cells of the pinned impact stay where the stress on display pulls little, so that the break ends where
    /// the stress does. Returns how many cells stay and how many there are.
    ///
    /// # Errors
    /// What is missing, in a sentence.
    pub fn break_where_it_pulls(&mut self) -> Result<(usize, usize), &'static str> {
        self.refresh_pinned();
        let pin = self.document.tuning().pin.as_ref().ok_or("Pin an impact first")?;
        let of = self.stress.body(&self.stage).filter(|body| body.id == pin.aim.body);
        of.ok_or("The stress of the pinned impact is not there yet: choose Show: stress and wait for it")?;
        let cells = self.preview.pinned_cells().ok_or("The pinned impact has no cells")?;
        let kept = self.stress.unloaded(cells);
        let all = cells.pattern.seeds.len();
        if kept.len() == all {
            return Err("Nothing pulls enough to break");
        }
        self.paint(Stroke::Unloaded(&kept));
        Ok((kept.len(), all))
    }

    fn paint(&mut self, stroke: Stroke<'_>) -> bool {
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
        // Every click is an undo step.
        self.end_gesture();
        self.tune(stroke.name(), tuning);
        self.end_gesture();
        self.refresh_pinned();
        took_over
    }

    /// The first cell of the pinned impact that a ray hits on the body on display: on the whole body the seed nearest
    /// to the voxel's centre, on pieces the nearest seed among the piece's cells. Distances are compared in integers;
    /// the lowest of equally near cells wins.
    #[must_use]
    pub fn cell_at(&self, origin: Vec3, direction: Vec3) -> Option<u32> {
        let scenery = Scenery { stage: &self.stage, look: &self.look() };
        self.preview.cell_at(scenery, origin, direction)
    }

    /// Sets the cell of the pinned impact under the pointer.
    pub fn hover_cell(&mut self, cell: Option<u32>) {
        self.preview.hover_cell(cell);
    }

    /// The cell under the pointer.
    #[must_use]
    pub fn hovered_cell(&self) -> Option<u32> {
        self.preview.hovered_cell()
    }

    /// Sets the pinned impact and the blow under the pointer for displaying internals.
    pub fn look_at(&mut self, pin: Option<Aim>, hover: Option<Aim>) {
        self.looking.look_at(pin, hover);
    }

    /// Updates the display of internals, or starts the computation for it. Never waits.
    pub fn update_looking(&mut self) {
        let (stage, tuning) = (&self.stage, self.document.tuning());
        let context = looking::Context { stage, tuning, is_breaking: self.jobs.breaking.is_busy() };
        self.looking.update(workshop(&self.stage, &self.passes), context);
        self.refresh_probe();
    }

    /// Figures of the displayed internals.
    #[must_use]
    pub fn looking(&self) -> &LookingReport {
        self.looking.report()
    }

    /// Has workers make the colours of voxels, and the distance fields that slices show, where these are missing; or
    /// makes them itself if it `waits`. Shows what workers have made.
    fn update_colors(&mut self, waits: bool) -> Result<(), GpuError> {
        let tuning = self.document.tuning();
        let sliced = tuning.slices.iter().filter_map(|slice| slice.show);
        let needed: Vec<FieldKind> = sliced.filter_map(Quantity::field).collect();
        self.fields.update(&needed, &self.stage, waits);
        let shown = (tuning.view.color_by.quantity(), tuning.view.scale);
        let read = ((&self.breaks, self.stress.known()), self.fields.fields());
        self.leaves.update(shown, &self.stage, read, waits)
    }

    /// Makes the colours of voxels, and the distance fields that slices show, and waits for them, so that pictures have
    /// them.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn finish_colors(&mut self) -> Result<(), GpuError> {
        self.update_colors(true)
    }

    /// Whether workers make colours of voxels or distance fields, which the next [`Sandbox::update_touching`] shows.
    #[must_use]
    pub fn is_coloring(&self) -> bool {
        self.leaves.is_busy() || self.fields.is_busy()
    }

    /// Updates the drawing of contacts, debris, dabs, another take, slices, and the colours of voxels. In an exploded
    /// view there are none of contacts, debris and dabs, because they would not lie on the bodies.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn update_touching(&mut self) -> Result<(), GpuError> {
        let view = &self.document.tuning().view;
        let mode = if view.explode > 0.0 { Touching::Off } else { view.touching };
        let inside = (self.looking.overlay().map(|overlay| &**overlay), self.looking.revision());
        // The bonds with whose failure the selected piece came loose, and all of it began.
        let selected = self.selection.ids();
        let alone = selected.first().filter(|_| selected.len() == 1 && view.explode == 0.0);
        let why = alone.and_then(|id| self.why_it_fell(*id));
        let marks = why.map_or_else(Vec::new, |why| vec![why.freed.centre, why.began.centre]);
        let aim = self.preview.aim().map(|aim| (aim.body, aim.impact()));
        self.stress.update(mode, aim, &self.document, &self.stage);
        self.touched.update(mode, (&mut self.stage, &self.stress), marks, inside)?;
        self.update_colors(false)?;
        self.refresh_probe();
        self.update_debris();
        let below = (self.looking.overlay().map(|overlay| &**overlay), self.looking.revision());
        let below = self.debris_view.layer.over(self.touched.layer.over(below));
        let fits = self.document.tuning().view.explode == 0.0;
        let paint = &self.document.tuning().fracture.paint;
        self.painted.update(fits, paint, &self.stage, below);
        let below = self.painted.layer.over(below);
        self.ghost.update(fits, &self.timeline, &self.stage, below);
        let below = self.ghost.layer.over(below);
        self.preview.outlined.draw(fits, &self.stage, below);
        let below = self.preview.outlined.layer.over(below);
        let differing = self.document.tuning().view.differences.then(|| self.differences()).flatten();
        self.difference_view.update(differing, below);
        let (below, revision) = self.difference_view.layer.over(below);
        let logs = (&self.breaks, self.stress.known());
        let scene = slice_scene(&self.document, &self.stage, logs, &self.fields, &self.preview);
        self.slices.update(&scene, (below, revision + self.stress.revision()));
        Ok(())
    }

    /// Draws another take over the one shown, as dots on bodies that are elsewhere at the same time; `None` draws none.
    pub fn compare(&mut self, take: Option<u32>) {
        self.ghost.compare(take.filter(|number| *number != self.timeline.take()));
    }

    /// The take drawn over the one shown, if it exists.
    #[must_use]
    pub fn compared(&self) -> Option<u32> {
        self.ghost.compared().filter(|number| self.timeline.in_take(*number, 0.0).is_some())
    }

    /// Swaps the take shown and the take drawn over it. Returns false if there is none.
    pub fn swap_takes(&mut self) -> bool {
        let (other, shown) = (self.compared(), self.timeline.take());
        let swapped = other.is_some_and(|other| self.show_take(other));
        if swapped {
            self.compare(Some(shown));
        }
        swapped
    }

    /// The overlay over the picture: internals, contacts, debris, dabs of the brush, and another take.
    #[must_use]
    pub fn inside_overlay(&self) -> Option<&Arc<Overlay>> {
        let above = self
            .slices
            .layer
            .overlay()
            .or(self.difference_view.layer.overlay())
            .or(self.preview.outlined.layer.overlay())
            .or(self.ghost.layer.overlay())
            .or(self.painted.layer.overlay())
            .or(self.debris_view.layer.overlay());
        above.or(self.touched.layer.overlay()).or(self.looking.overlay())
    }

    /// Changes whenever that overlay or the colours of voxels change.
    #[must_use]
    pub fn looking_revision(&self) -> u64 {
        let below =
            self.looking.revision() + self.touched.layer.revision() + self.debris_view.layer.revision();
        below
            + self.painted.layer.revision()
            + self.ghost.layer.revision()
            + self.preview.outlined.layer.revision()
            + self.difference_view.layer.revision()
            + self.slices.layer.revision()
            + self.leaves.revision()
    }
}
