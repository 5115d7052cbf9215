//! The lattice of whole numbers on which the passes see boxes.
//!
//! In: places in the world. Out: cells. Places are rounded the same way for all, so boxes that overlap in the world
//! overlap on the lattice, too.

use crate::geometry::Aabb;
use glam::DVec3;

/// Cells of the lattice along the longest side of the scene.
const LATTICE: f64 = 1_048_575.0;
/// Beyond this a number is as good as infinite to the passes, m or m/s.
pub const FAR: f64 = 1e15;

/// A lattice that covers the scene.
pub struct Lattice {
    low: DVec3,
    cell: f64,
}

impl Lattice {
    /// Over these boxes.
    pub fn new(boxes: impl Iterator<Item = Aabb>) -> Self {
        let far = DVec3::splat(FAR);
        let Aabb { low, high } = boxes.fold(Aabb::new(far, -far), Aabb::joined);
        let (low, high) = (low.max(-far), high.min(far));
        Self { low, cell: ((high - low).max_element() / LATTICE).max(f64::MIN_POSITIVE) }
    }

    /// The cell in which a place lies.
    #[must_use]
    pub fn at(&self, p: DVec3) -> [i32; 3] {
        ((p - self.low) / self.cell).floor().clamp(DVec3::ZERO, DVec3::splat(LATTICE)).as_ivec3().to_array()
    }
}

/// The middle of the scene: of the box round these places.
pub fn middle(places: impl Iterator<Item = DVec3>) -> DVec3 {
    let mut places = places.peekable();
    if places.peek().is_none() { DVec3::ZERO } else { Aabb::of(places).middle() }
}

/// A position relative to the middle of the scene in two parts of single precision, the second the rounding error of
/// the first, so that nothing is lost far from the middle.
#[must_use]
pub fn in_two(place: DVec3) -> [[f32; 3]; 2] {
    let near = place.clamp(DVec3::splat(-FAR), DVec3::splat(FAR)).as_vec3();
    [near.to_array(), (place - near.as_dvec3()).as_vec3().to_array()]
}
