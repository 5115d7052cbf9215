//! Dots where two breaks of one body cracked different voxels.
//!
//! In: the voxels, and the transform from their grid to the world. Out: an overlay on top of another.

use std::sync::Arc;

use glam::{Mat4, Vec3};

use super::{Differing, layer::Layer};
use crate::{
    render::{Overlay, Point},
    svo::{Key, morton},
};

/// Colours of voxels that only the document cracked, and that only the other view cracked.
const COLORS: [[u8; 4]; 2] = [[255, 190, 50, 255], [70, 150, 255, 255]];
/// Most dots of each colour; of more voxels every second or third has a dot.
const MOST: usize = 150_000;
/// Opacity factor of dots behind the surface: cracks lie inside.
const THROUGH: f32 = 0.6;

/// The overlay, and what it was made of.
#[derive(Default)]
pub(super) struct DifferenceView {
    /// Made from the address of the voxels, the transform, and the revision of the overlay below.
    pub layer: Layer<(usize, Mat4, u64)>,
}

impl DifferenceView {
    /// Updates the overlay, on top of the overlay `below` with its revision.
    pub fn update(&mut self, of: Option<(Arc<Differing>, Mat4)>, below: (Option<&Overlay>, u64)) {
        let Some((found, world_from_grid)) = of else {
            self.layer.hide();
            return;
        };
        if !self.layer.begin((Arc::as_ptr(&found) as usize, world_from_grid, below.1)) {
            return;
        }
        let mut made = below.0.cloned().unwrap_or(Overlay { through: THROUGH, ..Overlay::default() });
        let voxel = world_from_grid.x_axis.truncate().length();
        made.lift = made.lift.max(voxel);
        for (keys, color) in [&found.only_document, &found.only_other].into_iter().zip(COLORS) {
            made.points.extend(dots(keys, &world_from_grid, color));
        }
        self.layer.show(made);
    }
}

fn dots<'a>(keys: &'a [Key], world_from_grid: &'a Mat4, color: [u8; 4]) -> impl Iterator<Item = Point> + 'a {
    let radius_m = 0.5 * world_from_grid.x_axis.truncate().length();
    keys.iter().step_by(keys.len().div_ceil(MOST).max(1)).map(move |key| {
        let centre = Vec3::from(morton::decode(*key).map(|v| v as f32)) + 0.5;
        let at = world_from_grid.transform_point3(centre);
        Point { at, color, radius_pixels: 0.8, radius_m, back_pixels: 0.0 }
    })
}
