//! The depth below a body's surface by its distance field, as slices and surfaces show it.
//!
//! In: a shape. Out: its field on cells of level 5, and the signed distance of any point of its local space. A build
//! without the papers has no fields.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use glam::DVec3;

use crate::shape::Shape;
#[cfg(feature = "papers")]
use crate::{
    papers::field::distance::{FamilyField, FragmentId, Interior as _},
    scene::FIELD_LEVEL,
};

/// Most memory of all fields that are kept, bytes. One takes up to 2 MB and, at level 10, some hundredths of a second;
/// those of pieces share out about what the field of their object takes.
const MOST_BYTES: usize = 512 << 20;

/// How far outside of the surface distances are exact, local units: centres of boundary voxels lie nearer.
#[cfg(feature = "papers")]
const OUTSIDE: f64 = 2.0;

/// The field of one body by itself, as contacts of distance fields look it up before any break.
pub struct BodyField {
    #[cfg(feature = "papers")]
    field: FamilyField,
}

#[cfg(feature = "papers")]
impl BodyField {
    /// The field of a shape; `None` for an empty shape.
    fn new(shape: &Shape) -> Option<Self> {
        let finest = shape.as_octree().map_or(FIELD_LEVEL, |octree| octree.level());
        Some(Self { field: FamilyField::new(shape, FIELD_LEVEL.min(finest).max(1)).ok()? })
    }

    /// Signed distance of a point of local space from the surface, local units: above 0 inside. `None` farther outside
    /// than two units.
    #[must_use]
    pub fn at(&self, point: DVec3) -> Option<f64> {
        let body = self.field.fragment(FragmentId::WHOLE)?;
        body.reach(point, OUTSIDE).map(|reached| reached.depth)
    }

    fn bytes(&self) -> usize {
        self.field.bytes()
    }
}

#[cfg(not(feature = "papers"))]
impl BodyField {
    /// `None`: this build has no fields.
    fn new(_: &Shape) -> Option<Self> {
        None
    }

    /// `None`: this build has no fields.
    #[must_use]
    pub fn at(&self, _: DVec3) -> Option<f64> {
        None
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// Shapes by their addresses, which are their own while there is a reference to them, and the field of each. `None`:
/// it has none, or there is no room.
type Kept = BTreeMap<usize, (Weak<Shape>, Option<Arc<BodyField>>)>;

/// The fields of shapes, each made once while its shape is there. Threads may share it.
#[derive(Default)]
pub struct BodyFields {
    kept: Mutex<Kept>,
}

impl BodyFields {
    /// The field of a shape, which is made where it is missing: that takes up to some hundredths of a second. `None`
    /// for an empty shape, and where all fields together would take more than 512 MiB: those that are there stay.
    #[must_use]
    pub fn of(&self, shape: &Arc<Shape>) -> Option<Arc<BodyField>> {
        self.within(shape, MOST_BYTES)
    }

    fn within(&self, shape: &Arc<Shape>, most: usize) -> Option<Arc<BodyField>> {
        if self.has(shape) {
            return self.known(shape);
        }
        let made = BodyField::new(shape).map(Arc::new);
        self.drop_gone();
        let mut kept = self.kept();
        let used: usize = kept.values().filter_map(|(_, field)| Some(field.as_ref()?.bytes())).sum();
        let has_room = |field: &Arc<BodyField>| used.saturating_add(field.bytes()) <= most;
        // Another one in its place would be made again and again where all are looked at in turn.
        let made = made.filter(has_room);
        kept.insert(Arc::as_ptr(shape).addr(), (Arc::downgrade(shape), made.clone()));
        made
    }

    /// The field of a shape if it is there already. Never waits for one.
    #[must_use]
    pub fn known(&self, shape: &Arc<Shape>) -> Option<Arc<BodyField>> {
        self.kept().get(&Arc::as_ptr(shape).addr()).and_then(|(_, field)| field.clone())
    }

    /// Whether the field of a shape was made, or found to be none.
    pub(in crate::scene) fn has(&self, shape: &Arc<Shape>) -> bool {
        self.kept().contains_key(&Arc::as_ptr(shape).addr())
    }

    /// Drops the fields of shapes that are gone. For others there is room then.
    pub(in crate::scene) fn drop_gone(&self) {
        let mut kept = self.kept();
        let before = kept.len();
        kept.retain(|_, (shape, _)| shape.strong_count() > 0);
        if kept.len() < before {
            kept.retain(|_, (_, field)| field.is_some());
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    /// Of more fields than there is room for the first ones stay, whatever is looked up afterwards, and a shape that
    /// is gone makes room.
    #[cfg(feature = "papers")]
    #[test]
    fn a_full_set_keeps_its_fields_until_shapes_are_gone() {
        use super::*;
        use crate::Object;

        let object = Object::open("builtin:box", 4).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let again =
            |_: usize| Arc::new(Shape::octree(octree.clone(), object.shape.density(), *object.shape.look()));
        let mut shapes: Vec<Arc<Shape>> = (0..5).map(again).collect();
        let fields = BodyFields::default();
        let each = BodyField::new(&shapes[0]).unwrap().bytes();
        let most = 3 * each + each / 2;
        let round = |shapes: &[Arc<Shape>]| -> Vec<Option<Arc<BodyField>>> {
            shapes.iter().map(|shape| fields.within(shape, most)).collect()
        };
        let first = round(&shapes);
        assert_eq!(first.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false, false]);
        let second = round(&shapes);
        let same = |(a, b): (&Option<Arc<BodyField>>, &Option<Arc<BodyField>>)| {
            a.as_ref().map(Arc::as_ptr) == b.as_ref().map(Arc::as_ptr)
        };
        assert!(first.iter().zip(&second).all(same), "nothing is made twice");
        assert!(
            fields.known(&shapes[0]).is_some()
                && fields.has(&shapes[4])
                && fields.known(&shapes[4]).is_none()
        );
        shapes.remove(1);
        fields.drop_gone();
        let third = round(&shapes);
        assert_eq!(third.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false]);
        assert!(same((&first[0], &third[0])));
    }
}
