//! What the meshes of many pieces are together: how many triangles, and how many are closed.
//!
//! In: shapes of any kind. Out: counts that one method's pieces are held against another's by.

use std::sync::Arc;

use rayon::prelude::*;

use super::{MeshCheck, MeshKind};
use crate::{
    fracture::{Cancel, Cancelled},
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
    /// Makes the meshes on all cores, counts, and lets them go again. Checks before every piece whether this was
    /// cancelled.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(shapes: &[Arc<Shape>], cancel: &Cancel) -> Result<Self, Cancelled> {
        let counted = shapes.par_iter().map(|shape| {
            cancel.check()?;
            let mesh = MeshCheck::of(&MeshKind::Smooth.of(shape));
            Ok(Self { triangles: mesh.triangles, closed: u64::from(mesh.is_watertight()) })
        });
        let sum =
            |a: Self, b: Self| Ok(Self { triangles: a.triangles + b.triangles, closed: a.closed + b.closed });
        counted.try_reduce(Self::default, sum)
    }
}
