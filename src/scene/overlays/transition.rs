//! Transition voxels (2018, sec. 5.2) as wire cubes: crossed ones, coloured by the number of objects that own
//! a corner.

use super::{Inside, Placing, wire_cells};
use crate::render::Overlay;

/// Colours for two, three, four, and more objects, distinguishable by colour-blind people (Okabe & Ito).
pub const COLORS: [[u8; 4]; 4] =
    [[86, 180, 233, 130], [0, 158, 115, 190], [240, 228, 66, 230], [213, 94, 0, 255]];

pub(super) fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing) {
    let Some(transition) = inside.transition else { return };
    let size = f64::from(1u32 << (inside.forest.level - transition));
    let cells = inside.voxels.iter().map(|voxel| {
        let mut objects = voxel.objects;
        objects.sort_unstable();
        let kinds = 1 + objects.windows(2).filter(|pair| pair[0] != pair[1]).count();
        (voxel.place, kinds as u32)
    });
    let color = |kinds: u32| COLORS[(kinds.saturating_sub(2) as usize).min(3)];
    wire_cells(overlay, placing, cells, size, (color, 1.1));
}
