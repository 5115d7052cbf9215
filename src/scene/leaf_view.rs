//! Surfaces in the colours of a quantity that differs from voxel to voxel.
//!
//! In: the quantity that colours mean, the stage. Out: copies of the shapes by which bodies are drawn, on the backend.
//! A worker makes them when bodies, quantity or scale change, and not while bodies move: at level 10 that takes up to
//! a second. The copies before stay on display until then. Where the scale alone has changed, the values are those of
//! before.

use std::sync::{Arc, PoisonError};

use super::{
    BodyFields, BreakLog, LeafColors, Quantity, Scale,
    body_stress::Stresses,
    coloring::{LeafValues, body_place},
    jobs::Worker,
    stage::{Stage, drawn_shapes},
};
use crate::{fracture::Cancel, gpu::GpuError};

/// What copies are made for: quantity, scale, and the addresses of the shapes, which the copies keep alive.
type MadeFor = (Quantity, Scale, Vec<usize>);

/// The copies that are shown, and the worker that makes the next ones.
#[derive(Default)]
pub(super) struct LeafView {
    /// What was made last; it is not tried again where it did not fit, or where the worker stopped.
    made_for: Option<MadeFor>,
    colors: Option<Arc<LeafColors>>,
    job: Option<(MadeFor, Worker<LeafColors>)>,
    revision: u64,
}

impl LeafView {
    /// The copies; `None` where colours mean nothing of voxels, and until the first ones are there.
    pub fn colors(&self) -> Option<&Arc<LeafColors>> {
        self.colors.as_ref()
    }

    /// Changes whenever other copies are shown.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a worker makes copies.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Shows the copies that a worker has made, and has it make those for a quantity, or makes them itself if it
    /// `waits`; none for a quantity of whole bodies. Where copies do not fit on the backend there are none, until
    /// something changes.
    ///
    /// # Errors
    /// [`GpuError`], once.
    pub fn update(
        &mut self,
        (quantity, scale): (Option<Quantity>, Scale),
        stage: &Stage,
        (logs, fields): ((&BreakLog, &Stresses), &Arc<BodyFields>),
        waits: bool,
    ) -> Result<(), GpuError> {
        let Some(quantity) = quantity.filter(|quantity| quantity.of_voxels) else {
            let revision = self.revision + u64::from(self.colors.is_some());
            *self = Self { revision, ..Self::default() };
            return Ok(());
        };
        // What is made for another quantity is of no use.
        let job = self.job.take().filter(|((of, ..), _)| *of == quantity && !waits);
        if let Some((made_for, worker)) = job {
            match worker.ended() {
                None => {
                    self.job = Some((made_for, worker));
                    return Ok(());
                }
                Some(made) => self.show(made_for, made, stage)?,
            }
        }
        let shapes = stage.bodies().iter().flat_map(|body| drawn_shapes(&body.def));
        let wanted: MadeFor = (quantity, scale, shapes.map(|shape| Arc::as_ptr(shape).addr()).collect());
        if self.made_for.as_ref() == Some(&wanted) {
            return Ok(());
        }
        let known = stage.bodies().iter().map(|body| (body.id, body.def.clone(), body.state));
        let bodies: Vec<_> = known.map(|of| (stage.info_or_whole(of.0), of)).collect();
        let (breaks, stresses, fields) = (logs.0.clone(), logs.1.clone(), Arc::clone(fields));
        let last = self.colors.clone();
        let make = move |cancel: &Cancel| {
            let placed = bodies.iter().map(|(info, (id, def, state))| {
                let place = body_place((&breaks, &stresses), (*id, def, *info, state));
                (place, drawn_shapes(def).cloned().collect())
            });
            let last = last.as_deref().map(LeafColors::values);
            LeafValues::new(quantity, placed, &fields, (last, cancel)).by_scale(scale)
        };
        if waits {
            let made = make(Cancel::never());
            return self.show(wanted, Some(made), stage);
        }
        self.job = Some((wanted, Worker::start(make)));
        Ok(())
    }

    fn show(&mut self, made_for: MadeFor, made: Option<LeafColors>, stage: &Stage) -> Result<(), GpuError> {
        (self.made_for, self.colors) = (Some(made_for), None);
        self.revision += 1;
        let mut arena = stage.arena().write().unwrap_or_else(PoisonError::into_inner);
        // The copies before these make room.
        arena.collect();
        if let Some(made) = made {
            made.upload(&mut arena)?;
            self.colors = Some(Arc::new(made));
        }
        Ok(())
    }
}
