//! Surfaces in the colours of a quantity that differs from voxel to voxel.
//!
//! In: the quantity that colours mean, the stage. Out: copies of the shapes by which bodies are drawn, on the backend. Copies are
//! made when bodies, quantity or scale change, and not while bodies move.

use std::sync::{Arc, PoisonError};

use super::{
    BreakLog, LeafColors, Quantity, Scale,
    body_stress::Stresses,
    coloring::body_place,
    stage::{Stage, drawn_shapes},
};
use crate::gpu::GpuError;

/// What copies were made for: quantity, scale, and the addresses of the shapes, which the copies keep alive.
type MadeFor = (Quantity, Scale, Vec<usize>);

/// The copies that are shown.
#[derive(Default)]
pub(super) struct LeafView {
    made_for: Option<MadeFor>,
    colors: Option<Arc<LeafColors>>,
}

impl LeafView {
    /// The copies; `None` where colours mean nothing of voxels.
    pub fn colors(&self) -> Option<&Arc<LeafColors>> {
        self.colors.as_ref()
    }

    /// Makes the copies for a quantity, and none for a quantity of whole bodies. Where copies do not fit on the backend there are
    /// none, until something changes.
    ///
    /// # Errors
    /// [`GpuError`], once.
    pub fn update(
        &mut self,
        (quantity, scale): (Option<Quantity>, Scale),
        stage: &Stage,
        logs: (&BreakLog, &Stresses),
    ) -> Result<(), GpuError> {
        let Some(quantity) = quantity.filter(|quantity| quantity.of_voxels) else {
            *self = Self::default();
            return Ok(());
        };
        let shapes = stage.bodies().iter().flat_map(|body| drawn_shapes(&body.def));
        let wanted: MadeFor = (quantity, scale, shapes.map(|shape| Arc::as_ptr(shape).addr()).collect());
        if self.made_for.as_ref() == Some(&wanted) {
            return Ok(());
        }
        let bodies = stage.bodies().iter().map(|body| {
            let known = (body.id, &body.def, stage.info_or_whole(body.id), &body.state);
            (body_place(logs, known), drawn_shapes(&body.def).cloned().collect())
        });
        let made = LeafColors::new(quantity, scale, bodies);
        (self.made_for, self.colors) = (Some(wanted), None);
        let mut arena = stage.arena().write().unwrap_or_else(PoisonError::into_inner);
        // The copies before these make room.
        arena.collect();
        made.upload(&mut arena)?;
        self.colors = Some(Arc::new(made));
        Ok(())
    }
}
