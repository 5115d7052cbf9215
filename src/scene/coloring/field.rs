//! What colours of voxels need of a body's form: its distance field, and its weakness.
//!
//! In: a shape. Out: on cells of level 5, the signed distance of any point of its local space from the surface, or the weakness
//! of the cell that holds the point. A build without the papers has no distance fields.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use glam::DVec3;

use crate::{
    elastic::Weakness,
    fracture::Cancel,
    scene::{body_stress::cell_at, weakness::weakness_of},
    shape::Shape,
};
#[cfg(feature = "papers")]
use crate::{
    papers::field::distance::{FamilyField, FragmentId, Interior as _},
    scene::FIELD_LEVEL,
};

/// Most memory of all fields that are kept, bytes. A distance field takes up to 2 MB and, at level 10, some hundredths of a
/// second; those of pieces share out about what the field of their object takes.
const MOST_BYTES: usize = 512 << 20;

/// How far outside of the surface distances are exact, local units: centres of boundary voxels lie nearer.
#[cfg(feature = "papers")]
const OUTSIDE: f64 = 2.0;

/// Bytes that a cell of an elastic body takes: its nodes and faces on all levels.
const BYTES_OF_CELL: usize = 256;

/// What there is of a body by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldKind {
    /// Its distance field.
    Distance,
    /// Its weakness.
    Weakness,
}

/// One of these.
pub enum BodyField {
    /// Distances, as contacts of distance fields look them up before any break.
    #[cfg(feature = "papers")]
    Distance(Box<FamilyField>),
    /// Where the body is weak, whatever loads it.
    Weakness(Box<Weakness>),
}

impl BodyField {
    /// That of a shape; `None` for an empty shape, and for distances in a build without the papers.
    fn new(shape: &Shape, kind: FieldKind) -> Option<Self> {
        match kind {
            FieldKind::Weakness => {
                weakness_of(shape, Cancel::never()).ok().map(|found| Self::Weakness(Box::new(found)))
            }
            #[cfg(feature = "papers")]
            FieldKind::Distance => {
                let finest = shape.as_octree().map_or(FIELD_LEVEL, |octree| octree.level());
                let field = FamilyField::new(shape, FIELD_LEVEL.min(finest).max(1)).ok()?;
                Some(Self::Distance(Box::new(field)))
            }
            #[cfg(not(feature = "papers"))]
            FieldKind::Distance => None,
        }
    }

    /// Signed distance of a point of local space from the surface, local units: above 0 inside. `None` farther outside
    /// than two units, and of another field.
    #[must_use]
    #[cfg_attr(
        not(feature = "papers"),
        allow(unused_variables, reason = "without the papers there are no distances")
    )]
    pub fn at(&self, point: DVec3) -> Option<f64> {
        match self {
            #[cfg(feature = "papers")]
            Self::Distance(field) => {
                let body = field.fragment(FragmentId::WHOLE)?;
                body.reach(point, OUTSIDE).map(|reached| reached.depth)
            }
            Self::Weakness(_) => None,
        }
    }

    /// Weakness, 0 to 1, of the cell that holds a point of local space, leaf units of an octree of leaf level `level`. `None`
    /// where no cell is, and of another field.
    #[must_use]
    pub fn weakness_at(&self, point: DVec3, level: u32) -> Option<f64> {
        match self {
            #[cfg(feature = "papers")]
            Self::Distance(_) => None,
            Self::Weakness(found) => {
                let cell = cell_at(found.body(), point, level)?;
                found.of_cells().get(cell).map(|weakness| f64::from(*weakness))
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            #[cfg(feature = "papers")]
            Self::Distance(field) => field.bytes(),
            Self::Weakness(found) => BYTES_OF_CELL * found.body().len(),
        }
    }
}

/// Shapes by their addresses, which are their own while there is a reference to them, and what is known of each by itself.
/// `None`: there is none, or no room.
type Kept = BTreeMap<(usize, FieldKind), (Weak<Shape>, Option<Arc<BodyField>>)>;

/// By what a field is kept.
fn key(shape: &Arc<Shape>, kind: FieldKind) -> (usize, FieldKind) {
    (Arc::as_ptr(shape).addr(), kind)
}

/// The fields of shapes, each made once while its shape is there. Threads may share it.
#[derive(Default)]
pub struct BodyFields {
    kept: Mutex<Kept>,
}

impl BodyFields {
    /// What there is of a shape by itself, made where it is missing: that takes up to some hundredths of a second, a weakness up to a
    /// second. `None` for an empty shape, and where all fields together would take more than 512 MiB: those that are there
    /// stay.
    #[must_use]
    pub fn of(&self, shape: &Arc<Shape>, kind: FieldKind) -> Option<Arc<BodyField>> {
        self.within(shape, kind, MOST_BYTES)
    }

    fn within(&self, shape: &Arc<Shape>, kind: FieldKind, most: usize) -> Option<Arc<BodyField>> {
        if self.has(shape, kind) {
            return self.known(shape, kind);
        }
        let made = BodyField::new(shape, kind).map(Arc::new);
        self.drop_gone();
        let mut kept = self.kept();
        let used: usize = kept.values().filter_map(|(_, field)| Some(field.as_ref()?.bytes())).sum();
        let has_room = |field: &Arc<BodyField>| used.saturating_add(field.bytes()) <= most;
        // Another one in its place would be made again and again where all are looked at in turn.
        let made = made.filter(has_room);
        kept.insert(key(shape, kind), (Arc::downgrade(shape), made.clone()));
        made
    }

    /// The same if it is there already. Never waits for it.
    #[must_use]
    pub fn known(&self, shape: &Arc<Shape>, kind: FieldKind) -> Option<Arc<BodyField>> {
        self.kept().get(&key(shape, kind)).and_then(|(_, field)| field.clone())
    }

    /// Whether it was made, or found to be none.
    pub(in crate::scene) fn has(&self, shape: &Arc<Shape>, kind: FieldKind) -> bool {
        self.kept().contains_key(&key(shape, kind))
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
        let each = BodyField::new(&shapes[0], FieldKind::Distance).unwrap().bytes();
        let most = 3 * each + each / 2;
        let round = |shapes: &[Arc<Shape>]| -> Vec<Option<Arc<BodyField>>> {
            shapes.iter().map(|shape| fields.within(shape, FieldKind::Distance, most)).collect()
        };
        let first = round(&shapes);
        assert_eq!(first.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false, false]);
        let second = round(&shapes);
        let same = |(a, b): (&Option<Arc<BodyField>>, &Option<Arc<BodyField>>)| {
            a.as_ref().map(Arc::as_ptr) == b.as_ref().map(Arc::as_ptr)
        };
        assert!(first.iter().zip(&second).all(same), "nothing is made twice");
        assert!(
            fields.known(&shapes[0], FieldKind::Distance).is_some()
                && fields.has(&shapes[4], FieldKind::Distance)
                && fields.known(&shapes[4], FieldKind::Distance).is_none()
                && !fields.has(&shapes[0], FieldKind::Weakness)
        );
        shapes.remove(1);
        fields.drop_gone();
        let third = round(&shapes);
        assert_eq!(third.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false]);
        assert!(same((&first[0], &third[0])));
    }
}
