//! What the meshes of many pieces are together: how many triangles, and how many are closed.
//!
//! In: shapes of any kind. Out: counts that one method's pieces are held against another's by.

use std::sync::Arc;

use rayon::prelude::*;

use super::{MeshCheck, MeshKind};
use crate::{
    fracture::{Cancel, FractureError},
    shape::Shape,
};

/// Counts over the meshes of pieces; of octrees over their smooth ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshTally {
    /// Triangles of all of them.
    pub triangles: u64,
    /// Pieces whose meshes are closed.
    pub closed: u64,
}

impl MeshTally {
    /// Makes the meshes on all cores, counts, and lets them go again. A cancel is asked before every piece.
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
