//! Totals over the meshes of many pieces: number of triangles, and of closed meshes.
//!
//! In: shapes of any kind. Out: counts, to compare the pieces of several methods.

use std::sync::Arc;

use rayon::prelude::*;

use super::{MeshCheck, MeshKind};
use crate::{
    fracture::{Cancel, Cancelled},
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
    /// Makes the meshes on all cores, counts, and drops them. Checks before every piece whether this was cancelled.
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
