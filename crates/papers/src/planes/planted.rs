//! Errors that tests plant, to see whether the checks find them.

use super::cell::Corners;

/// What goes wrong in the cells of all sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Planted {
    /// Nothing.
    #[default]
    Nothing,
    /// The plane between these two sites is not added to the cell of the first.
    SkippedPlane(usize, usize),
    /// A site matters only up to once the distance of the farthest corner.
    EarlyStop,
    /// The cell of this site lacks its last corner.
    DroppedCorner(usize),
    /// A corner of this site's cell is a thousandth off.
    MovedCorner(usize),
}

impl Planted {
    pub(super) fn skips(self, site: usize, other: usize) -> bool {
        self == Self::SkippedPlane(site, other)
    }

    pub(super) fn stop_factor(self) -> f64 {
        if self == Self::EarlyStop { 1.0 } else { 4.0 }
    }

    pub(super) fn spoil(self, site: usize, corners: &mut Corners) {
        if self == Self::MovedCorner(site) {
            corners.at[0].x += 1e-3;
        }
        if self == Self::DroppedCorner(site) {
            let whole = corners.clone();
            corners.clear();
            (0..whole.len() - 1).for_each(|c| corners.push(whole.at[c], whole.planes_of(c).iter().copied()));
        }
    }
}
