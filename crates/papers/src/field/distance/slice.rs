//! A plane through a field, for display: the fragment at each point, and the depth in it.

use super::{FragmentId, family::FamilyField, interior::Interior};
use glam::DVec3;
use rayon::prelude::*;

/// A point of a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceSample {
    /// The fragment that it lies in.
    pub fragment: Option<FragmentId>,
    /// Depth, local units; 0 in no fragment.
    pub distance: f64,
    /// Direction out; zero in no fragment.
    pub direction: DVec3,
}

/// Points of a plane, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Points in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width` * `height` of them.
    pub samples: Vec<SliceSample>,
}

impl FamilyField {
    /// The fragment that a point (local space) lies in.
    #[must_use]
    pub fn fragment_at(&self, p: DVec3) -> Option<FragmentId> {
        let cell = self.lattice.cell_of(p);
        let holds = |part: &super::Fragment<'_>| part.placed.occupancy.finest().has(cell) && part.inside(p);
        self.fragments().find(holds).map(|part| part.id())
    }

    /// The field on the plane from `corner` (local space): point (x, y) is at `corner` + x * `right` + y *
    /// `down`.
    #[must_use]
    pub fn slice(&self, corner: DVec3, [right, down]: [DVec3; 2], [width, height]: [usize; 2]) -> Slice {
        let nothing = SliceSample { fragment: None, distance: 0.0, direction: DVec3::ZERO };
        let sample = |k: usize| {
            let p = corner + right * (k % width) as f64 + down * (k / width) as f64;
            let fragment = self.fragment_at(p).and_then(|id| self.fragment(id));
            let Some((fragment, depth)) = fragment.and_then(|part| Some((part.id(), part.penetration(p)?)))
            else {
                return nothing;
            };
            SliceSample { fragment: Some(fragment), distance: depth.distance, direction: depth.direction }
        };
        let samples = (0..width.saturating_mul(height)).into_par_iter().map(sample).collect();
        Slice { width, height, samples }
    }
}
