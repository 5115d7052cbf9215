//! The distance fields and the weakness of the bodies that slices show.
//!
//! In: what slices need, the stage. Out: the fields of the visible bodies, as a worker makes them one
//! after the other: a distance field takes up to some hundredths of a second, the weakness up to a second, and slices show nothing
//! of a body until its field is there.

use std::sync::Arc;

use super::{
    BodyFields,
    coloring::FieldKind,
    jobs::Worker,
    stage::{Stage, drawn_shapes},
};
use crate::{fracture::Cancel, shape::Shape};

/// The fields that are there, and the worker that makes others.
#[derive(Default)]
pub(super) struct FieldView {
    fields: Arc<BodyFields>,
    job: Option<Worker<()>>,
    /// Whether a worker stopped before it was done: no other one begins until slices show no fields.
    has_failed: bool,
    revision: u64,
}

impl FieldView {
    /// The fields that are there.
    pub fn fields(&self) -> &Arc<BodyFields> {
        &self.fields
    }

    /// Changes whenever a worker has made all fields that were missing.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a worker makes fields.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Has a worker make the fields that are missing of those that are `needed`, or makes them itself if it `waits`; drops fields
    /// of shapes that are gone.
    pub fn update(&mut self, needed: &[FieldKind], stage: &Stage, waits: bool) {
        self.fields.drop_gone();
        if needed.is_empty() {
            (self.job, self.has_failed) = (None, false);
            return;
        }
        match self.job.as_ref().map(Worker::ended) {
            Some(None) if !waits => return,
            Some(ended) => {
                self.has_failed = ended == Some(None);
                self.job = None;
                self.revision += 1;
            }
            None => {}
        }
        let seen = stage.bodies().iter().filter(|body| !stage.status(body.id).hidden);
        let shapes = seen.flat_map(|body| drawn_shapes(&body.def));
        let all = shapes.flat_map(|shape| needed.iter().map(move |kind| (shape, *kind)));
        let lacking = all.filter(|(shape, kind)| !self.fields.has(shape, *kind));
        let missing: Vec<(Arc<Shape>, FieldKind)> =
            lacking.map(|(shape, kind)| (Arc::clone(shape), kind)).collect();
        if missing.is_empty() || (self.has_failed && !waits) {
            return;
        }
        let fields = Arc::clone(&self.fields);
        // One after the other, so that the first ones are kept where not all have room.
        let make = move |cancel: &Cancel| {
            let wanted = missing.iter().take_while(|_| cancel.check().is_ok());
            wanted.for_each(|(shape, kind)| drop(fields.of(shape, *kind)));
        };
        if waits {
            make(Cancel::never());
            self.revision += 1;
        } else {
            self.job = Some(Worker::start(make));
        }
    }
}
