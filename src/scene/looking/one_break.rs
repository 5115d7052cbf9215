//! The inside of one break that a comparison view shows, drawn as the window draws that of the document's last break.
//!
//! In: a break with the body that it broke, and the view's choice of drawings. Out: an overlay; none where the method
//! has no Voronoi cells of octrees. A worker reads back; the window's thread only places and colours.

use std::sync::Arc;

use glam::DVec3;

use super::{
    Drawn, scale,
    worker::{ToBreak, blueprint, read},
};
use crate::{
    bodies::{BodyDef, BodyState},
    fracture::{Break, Cancel, FractureError, Fracturer, Passes, Recipe, VoronoiDetail},
    render::Overlay,
    scene::{
        InsideView,
        breaking::world_from_local_matrix,
        jobs::Worker,
        overlays::{Inside, Placing, Reading, overlay},
    },
};

/// A break, and where its inside is drawn.
pub(in crate::scene) struct OneBreak<'a> {
    pub broken: &'a Break,
    /// The broken body.
    pub body: &'a BodyDef,
    /// Point of the blow, local space.
    pub point: DVec3,
    /// Where the body is drawn.
    pub state: BodyState,
}

/// The inside of a break: what was read back, and the drawing.
#[derive(Default)]
pub(in crate::scene) struct BreakInside {
    job: Option<(Reading, Worker<Result<Inside, FractureError>>)>,
    /// What was read, or nothing where that failed, which is not tried again.
    shown: Option<(Reading, Option<Inside>)>,
    drawn: Option<Drawn>,
    overlay: Option<Arc<Overlay>>,
}

impl BreakInside {
    /// The overlay.
    pub fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.overlay.as_ref()
    }

    /// Whether a worker is reading.
    pub fn is_reading(&self) -> bool {
        self.job.is_some()
    }

    /// Updates the overlay; a worker for it only starts if it `may_start`. `view`: the chosen drawings, and the octree
    /// level of the cells of distance fields. Returns whether the overlay has changed. Never waits.
    pub fn update(
        &mut self,
        passes: &Arc<Passes>,
        of: &OneBreak<'_>,
        (view, field_level): (&InsideView, u32),
        may_start: bool,
    ) -> bool {
        let parts = view.parts();
        if parts.is_empty() {
            let was_drawn = self.overlay.is_some();
            *self = Self::default();
            return was_drawn;
        }
        let mut reading = Reading::of(&parts, field_level);
        // To the end: the slider goes there and back.
        reading.labels = reading.labels.map(|(flood, _)| (flood, None));
        self.take_read();
        let is_there = self.shown.as_ref().is_some_and(|(read, _)| *read == reading);
        if !is_there {
            if may_start && self.job.is_none() {
                self.start(passes, of, reading);
            }
            return false;
        }
        let octree = of.body.octree();
        let side = f64::from(1u32 << octree.level());
        let drawn = Drawn {
            view: *view,
            world_from_grid: world_from_local_matrix(&of.state, &of.body.shape) * scale(side),
        };
        let Some((_, Some(inside))) = self.shown.as_mut().filter(|_| self.drawn != Some(drawn)) else {
            return false;
        };
        if let Some(steps) = &mut inside.steps {
            steps.show(view.step as usize);
        }
        // The data's voxels may be larger than the body's.
        let voxel = scale(1.0 / f64::from(1u32 << inside.forest.level));
        let placing = Placing::whole(drawn.world_from_grid * voxel);
        self.overlay = Some(Arc::new(overlay(inside, &parts, &placing, view.through)));
        self.drawn = Some(drawn);
        true
    }

    fn take_read(&mut self) {
        let Some((reading, worker)) = &self.job else { return };
        let Some(ended) = worker.ended() else { return };
        (self.shown, self.drawn) = (Some((*reading, ended.and_then(Result::ok))), None);
        self.job = None;
    }

    fn start(&mut self, passes: &Arc<Passes>, of: &OneBreak<'_>, reading: Reading) {
        let (Some(detail), Some(pattern)) = (VoronoiDetail::of(of.broken), of.broken.pattern.clone()) else {
            return;
        };
        // The break itself has compiled the pipelines.
        let Some(fracturer) = passes.ready::<Fracturer>() else { return };
        let octree = of.body.octree();
        let recipe = Recipe { surface_color: None, ..detail.recipe.clone() };
        let by = blueprint(pattern, recipe, of.point, &of.broken.params, octree.mass.bounds);
        let (forest, tree) = (Arc::clone(&octree.forest), octree.tree);
        let work = move |_: &Cancel| read(&fracturer, &forest, tree, ToBreak::Known(by), reading);
        self.job = Some((reading, Worker::start(work)));
    }
}
