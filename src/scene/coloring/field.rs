//! The depth below a body's surface by its distance field, as slices and surfaces show it.
//!
//! In: a shape. Out: its field on cells of level 5, and the signed distance of any point of its local space. A build without
//! the papers has no fields.

use std::sync::Arc;
#[cfg(feature = "papers")]
use std::sync::{Mutex, PoisonError, Weak};

use glam::DVec3;

use crate::shape::Shape;
#[cfg(feature = "papers")]
use crate::{
    papers::field::distance::{FamilyField, FragmentId, Interior as _},
    scene::FIELD_LEVEL,
};

/// Fields of so many shapes are kept: one takes up to 2 MB and, at level 10, some hundredths of a second.
#[cfg(feature = "papers")]
const MOST: usize = 256;

/// How far outside of the surface distances are exact, local units: centres of boundary voxels lie nearer.
#[cfg(feature = "papers")]
const OUTSIDE: f64 = 2.0;

/// The field of one body by itself, as contacts of distance fields look it up before any break.
pub struct BodyField {
    #[cfg(feature = "papers")]
    field: FamilyField,
}

#[cfg(feature = "papers")]
static KEPT: Mutex<Vec<(Weak<Shape>, Arc<BodyField>)>> = Mutex::new(Vec::new());

#[cfg(feature = "papers")]
impl BodyField {
    /// The field of a shape, which is made once while the shape is there; `None` for an empty shape.
    #[must_use]
    pub fn of(shape: &Arc<Shape>) -> Option<Arc<Self>> {
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &Weak<Shape>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(shape));
        let known = kept().iter().find(|(known, _)| is_same(known)).map(|(_, field)| Arc::clone(field));
        if known.is_some() {
            return known;
        }
        let finest = shape.as_octree().map_or(FIELD_LEVEL, |octree| octree.level());
        let field = FamilyField::new(shape, FIELD_LEVEL.min(finest).max(1)).ok()?;
        let made = Arc::new(Self { field });
        let mut all = kept();
        all.retain(|(known, _)| known.strong_count() > 0);
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push((Arc::downgrade(shape), Arc::clone(&made)));
        Some(made)
    }

    /// Signed distance of a point of local space from the surface, local units: above 0 inside. `None` farther outside than two
    /// units.
    #[must_use]
    pub fn at(&self, point: DVec3) -> Option<f64> {
        let body = self.field.fragment(FragmentId::WHOLE)?;
        body.reach(point, OUTSIDE).map(|reached| reached.depth)
    }
}

#[cfg(not(feature = "papers"))]
impl BodyField {
    /// `None`: this build has no fields.
    #[must_use]
    pub fn of(_: &Arc<Shape>) -> Option<Arc<Self>> {
        None
    }

    /// `None`: this build has no fields.
    #[must_use]
    pub fn at(&self, _: DVec3) -> Option<f64> {
        None
    }
}
