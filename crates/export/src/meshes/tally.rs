//! Totals over the meshes of many pieces: number of triangles, and of closed meshes.
//!
//! In: shapes of any kind. Out: counts, to compare the pieces of several methods.

use std::sync::Arc;

use rayon::prelude::*;

use super::{MeshCheck, MeshKind};
use crate::{
    fracture::{Cancel, FractureError},
    shape::Shape,
};

/// Totals over the meshes of pieces; for octrees over their smooth meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshTally {
    /// Number of triangles.
    pub triangles: u64,
    /// Number of pieces with closed meshes.
    pub closed: u64,
}

impl MeshTally {
    /// Makes the meshes on all cores and counts, freeing each mesh at once. Checks for cancellation before every piece.
    ///
    /// # Errors
    /// [`FractureError::Cancelled`].
    pub fn of(shapes: &[Arc<Shape>], cancel: &Cancel) -> Result<Self, FractureError> {
        Cancel::catch(|| {
            let counted = shapes.par_iter().map(|shape| {
                cancel.ask();
                let mesh = MeshCheck::of(&MeshKind::Smooth.of(shape));
                Self { triangles: mesh.triangles, closed: u64::from(mesh.is_watertight()) }
            });
            let sum =
                |a: Self, b: Self| Self { triangles: a.triangles + b.triangles, closed: a.closed + b.closed };
            Ok(counted.reduce(Self::default, sum))
        })
    }
}
