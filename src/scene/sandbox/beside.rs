//! Comparison views beside the document: the same blows in other ways. Nothing here changes the document.

use std::{
    collections::BTreeMap,
    sync::{Arc, RwLock},
    time::Instant,
};

use glam::{DMat4, Mat4};

use super::Sandbox;
use crate::{
    bodies::BodyDef,
    gpu::GpuError,
    render::{Overlay, RenderBody},
    scene::{
        BodyInfo, BreakLog, BreakRecord, ColumnView, Differing, Way,
        beside::{self, PieceTrees, Strike},
        body_stress::Stresses,
        slices::SliceScene,
        stage::Appearance,
    },
    svo::Arena,
};

impl Sandbox {
    /// Shows views of these ways beside the document, at most two; with an empty list none. Closed views free all their
    /// data.
    ///
    /// # Errors
    /// [`GpuError`]; nothing has changed then.
    pub fn show_beside(&mut self, ways: &[Way]) -> Result<(), GpuError> {
        self.beside.show(ways, self.stage.compute())
    }

    /// The settings that the next blow of the user's would have, to be kept in a view: on the body of the pinned
    /// impact, or on the object that the panels show.
    #[must_use]
    pub fn settings_to_keep(&self) -> Way {
        let pinned = self.document.tuning().pin.as_ref().map(|pin| self.stage.info_or_whole(pin.aim.body));
        let shown = || BodyInfo { object: self.document.shown_object(), ..BodyInfo::default() };
        Way::kept(self.document.tuned_params(&pinned.unwrap_or_else(shown)))
    }

    /// What the comparison views change.
    #[must_use]
    pub fn ways_beside(&self) -> Vec<Way> {
        self.beside.ways()
    }

    /// Captions of all views, the document's first; empty if there are no comparison views.
    #[must_use]
    pub fn columns(&self) -> Vec<ColumnView> {
        if self.beside.is_empty() {
            return Vec::new();
        }
        let state = self.beside.own_state(&self.stage, &self.breaks);
        let state = if self.jobs.breaking.is_busy() { beside::ColumnState::Breaking } else { state };
        let record = self.fallen().into_values().last();
        let tuned = &self.document.tuning().fracture;
        let params = match &self.document.tuning().pin {
            None => record.map_or(tuned, |record| &record.params),
            Some(_) => tuned,
        };
        let others = self.beside.columns().iter().map(|column| ColumnView {
            way: column.way().clone(),
            title: column.way().title(params),
            state: column.state(),
        });
        let way = Way::of(params);
        std::iter::once(ColumnView { title: way.label(), way, state }).chain(others).collect()
    }

    /// Bodies and octrees of a comparison view for the renderer; 0 is the first view. No bodies where the drawing of
    /// the inside or slices are shown alone.
    #[must_use]
    pub fn beside_bodies(&self, column: usize) -> Option<(Vec<RenderBody>, &Arc<RwLock<Arena>>)> {
        let column = self.beside.columns().get(column)?;
        // Selections refer to the document's body ids, not the view's, and copies of shapes in the colours of their voxels
        // are in the document's octrees alone: by them a view that mirrors the document would draw nothing.
        let look = self.look_beside();
        let inside = self.document.tuning().view.inside.only && column.overlay().is_some();
        let is_alone = inside || self.shows_slices_alone();
        let bodies = if is_alone { Vec::new() } else { column.render_bodies(&look, self.beside.pinned()) };
        Some((bodies, column.stage().arena()))
    }

    /// How bodies of comparison views look.
    fn look_beside(&self) -> Appearance {
        Appearance { selected: Arc::default(), leaves: None, ..self.look() }
    }

    /// The drawing of the inside of a comparison view's last break, with the slices; 0 is the first view.
    #[must_use]
    pub fn beside_overlay(&self, column: usize) -> Option<&Arc<Overlay>> {
        self.beside.overlay(column)
    }

    /// Draws the document's slices through the bodies of the comparison views. Distance fields are those of the document's
    /// bodies.
    fn update_slices_beside(&mut self) {
        let (no_breaks, no_stresses, look) = (BreakLog::default(), Stresses::default(), self.look_beside());
        let Self { beside, document, breaks, stress, fields, .. } = self;
        let (log, known, fields, tuning) = (&*breaks, stress.known(), &*fields, document.tuning());
        beside.draw_slices(|column, pinned| {
            let (stage, pinned) = (column.stage(), pinned.filter(|_| !tuning.slices.is_empty()));
            // The document's log has nothing of the breaks that only a view shows.
            let (breaks, stresses) = match column.is_mirror() {
                true => (log, known),
                false => (&no_breaks, &no_stresses),
            };
            let drawn = pinned.map_or_else(Vec::new, |_| stage.render_bodies(&look, None));
            SliceScene {
                stage,
                breaks,
                stresses,
                fields,
                explode: look.explode,
                slices: &tuning.slices,
                scale: tuning.view.scale,
                pinned: None,
                pieces: column.pinned_pieces(look.explode, &drawn, pinned),
            }
        });
    }

    /// How the crack voxels of the first comparison view differ from the document's, and the transform from their grid to where
    /// the body stood when it broke.
    pub(super) fn differences(&self) -> Option<(Arc<Differing>, Mat4)> {
        let found = self.beside.differing()?;
        let record = self.fallen().into_values().last()?;
        let state = record.state;
        let world = DMat4::from_rotation_translation(state.rotation, state.position)
            * DMat4::from_translation(-record.whole.centre)
            * found.grid.to_mesh();
        Some((Arc::clone(found), world.as_mat4()))
    }

    /// Changes whenever the pictures of the comparison views may have changed.
    #[must_use]
    pub fn beside_revision(&self) -> u64 {
        self.beside.revision()
    }

    /// Whether a comparison view is computing a fracture.
    #[must_use]
    pub fn is_breaking_beside(&self) -> bool {
        self.beside.is_computing()
    }

    /// Whether comparison views must be polled again soon.
    #[must_use]
    pub fn is_waiting_beside(&self) -> bool {
        self.beside.is_waiting()
    }

    /// Whether simulated time must wait until the comparison views have caught up.
    #[must_use]
    pub fn time_waits_for_beside(&self) -> bool {
        self.beside.holds_time()
    }

    /// Whether a step would change anything in a comparison view.
    #[must_use]
    pub fn has_motion_beside(&self) -> bool {
        self.beside.has_motion()
    }

    /// Takes a simulation step in the comparison views, after the document's.
    pub fn step_beside(&mut self) {
        self.beside.step(self.stage.time());
    }

    /// Lets views started later catch up with the document, until `deadline`.
    pub fn catch_up_beside(&mut self, deadline: Instant) {
        self.beside.catch_up(self.stage.time(), deadline);
    }

    /// Lets the comparison views follow the document, without waiting.
    pub fn update_beside(&mut self) {
        if self.beside.is_empty() {
            return;
        }
        let fallen = self.fallen();
        // The octrees of a mesh that was cut only stand in for its pieces.
        let last = fallen.values().last().filter(|record| record.params.method.entry().of_voxels);
        let own = last.and_then(|record| {
            let forest = record.forest_of_parts()?;
            Some(PieceTrees { forest, trees: record.trees.clone(), grid: record.grid? })
        });
        let fallen = fallen.into_iter().map(|(number, record)| {
            let whole = record.broken.is_none().then(|| self.whole(record.object)).flatten();
            Strike::fallen(number, record, whole)
        });
        let context = beside::Context {
            fallen: fallen.collect(),
            own,
            pinned: self.pinned_strike(),
            stage: &self.stage,
            objects: self.document.objects(),
            tuning: self.document.tuning(),
            passes: &self.passes,
            is_busy: self.is_breaking() || self.history.is_changing(),
            is_settled: false,
        };
        self.beside.update(context);
        self.update_slices_beside();
    }

    /// The breaks in the ancestry of the present bodies, the first one first.
    pub(super) fn fallen(&self) -> BTreeMap<usize, &BreakRecord> {
        let bodies = self.stage.bodies().iter();
        bodies.flat_map(|body| self.breaks.line(self.stage.info_or_whole(body.id).origin)).collect()
    }

    /// An object before its first break.
    pub(super) fn whole(&self, object: usize) -> Option<BodyDef> {
        let first = self.history.first().and_then(|first| first.stage.body_of(object));
        first.or_else(|| self.stage.projectile_of(object).cloned())
    }

    /// The pinned blow with the present tuned values.
    fn pinned_strike(&self) -> Option<Strike> {
        let pin = self.document.tuning().pin.as_ref()?;
        let body = self.stage.body(pin.aim.body)?;
        let info = self.stage.info_or_whole(body.id);
        let mut params = self.document.tuned_params(&info);
        params.interior = self.document.interior_of(info.object);
        params.fit(body.def.octree().forest.level);
        let impact = pin.aim.impact();
        let whole = info.is_intact().then(|| BodyDef { state: body.state, ..body.def.clone() });
        let what = (info.object, &*body.def.shape, whole);
        Some(Strike::pinned(what, impact, (params, pin.kept.clone()), self.stage.time()))
    }
}
