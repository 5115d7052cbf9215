//! Island labels (2016, sec. 4.5) as voxel colours: of the union-find, or of the published labelling iteration by
//! iteration.

use glam::{DVec3, Vec3};

use super::{Inside, Placing, boundary::RADIUS, color_of, lit};
use crate::{
    fracture::{
        Fracture, Fracturer,
        labelling::{Playback, Step, Voxel, Voxels},
    },
    gpu::GpuError,
    render::{Overlay, Point},
    svo::{morton, unpack_normal},
};

/// Iterations are cut off here: a comb at level 7 needs fewer.
pub const MOST_ITERATIONS: usize = 400;

/// The published labelling of a fracture's voxels, boundary and internal, with all iterations.
pub struct LabelSteps {
    /// The labelled voxels, by cell.
    pub voxels: Voxels,
    /// Whether chains are not flattened.
    pub flood: bool,
    playback: Playback,
}

impl LabelSteps {
    /// Computes all labels, or those up to iteration `at`, and shows iteration `at` or the last.
    ///
    /// # Errors
    /// [`GpuError`] when the device fails or cannot hold the voxels.
    pub fn compute(
        fracturer: &Fracturer,
        fracture: &Fracture,
        flood: bool,
        at: Option<u32>,
    ) -> Result<Self, GpuError> {
        let voxels = Voxels::of_fracture(fracture, true);
        let labeller = fracturer.labelling();
        let mut playback = Playback::new(labeller, &voxels, !flood)?;
        while playback.steps().len() < MOST_ITERATIONS && playback.forward(labeller)? {}
        playback.show(at.map_or(usize::MAX, |at| at as usize));
        Ok(Self { voxels, flood, playback })
    }

    /// Shows another iteration; 0 is before the first, and a number beyond the last shows the last.
    pub fn show(&mut self, at: usize) {
        self.playback.show(at);
    }

    /// The iteration shown.
    #[must_use]
    pub fn at(&self) -> usize {
        self.playback.at()
    }

    /// The labels shown, one per voxel.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        self.playback.labels()
    }

    /// Statistics of every iteration.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        self.playback.steps()
    }

    /// Number of different labels shown.
    #[must_use]
    pub fn distinct(&self) -> usize {
        let mut labels = self.labels().to_vec();
        labels.sort_unstable();
        labels.dedup();
        labels.len()
    }

    /// Whether the labels shown equal the union-find's islands up to renaming; those islands are the trees of the
    /// fracture.
    #[must_use]
    pub fn agrees_with_union_find(&self) -> bool {
        let mut pairs: Vec<(u32, u32)> =
            self.voxels.list.iter().map(|v| v.tree).zip(self.labels().iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let trees = pairs.windows(2).all(|w| w[0].0 != w[1].0);
        pairs.sort_unstable_by_key(|pair| pair.1);
        trees && pairs.windows(2).all(|w| w[0].1 != w[1].1)
    }
}

/// Voxels coloured by their island according to the union-find.
pub(super) fn add_islands(overlay: &mut Overlay, inside: &Inside, placing: &Placing) {
    let voxels = match &inside.steps {
        Some(steps) => &steps.voxels,
        None => &Voxels::of_fracture(&inside.fracture, true),
    };
    add_voxels(overlay, inside, placing, voxels.list.iter().map(|v| (v, v.tree)));
}

/// Voxels coloured by their label in the iteration shown.
pub(super) fn add_steps(overlay: &mut Overlay, inside: &Inside, placing: &Placing) {
    let Some(steps) = &inside.steps else { return };
    let labels = steps.labels().iter().copied();
    add_voxels(overlay, inside, placing, steps.voxels.list.iter().zip(labels));
}

fn add_voxels<'a>(
    overlay: &mut Overlay,
    inside: &Inside,
    placing: &Placing,
    voxels: impl Iterator<Item = (&'a Voxel, u32)>,
) {
    let (pieces, leaves) = (inside.piece_of_tree(), &inside.fracture.forest.leaves);
    for (voxel, label) in voxels {
        let size = f64::from(1u32 << voxel.size_log2);
        let centre = DVec3::from(morton::decode(voxel.key).map(f64::from)) + 0.5 * size;
        let piece = pieces.get(voxel.tree as usize).copied().flatten().unwrap_or(usize::MAX);
        let color = color_of(label, 255);
        let normal = voxel.leaf.and_then(|leaf| leaves.normals.get(leaf as usize)).map(|n| unpack_normal(*n));
        let (color, radius) = match normal {
            Some(normal) => {
                let shown = placing.world_from_grid.transform_vector3(normal).normalize_or(Vec3::Y);
                (lit(color, shown), RADIUS)
            }
            // Internal cells, drawn as large as fits.
            None => (color, 0.5 * size as f32),
        };
        let radius_m = radius * placing.voxel();
        overlay.points.push(Point {
            at: placing.with_piece(centre, piece),
            color,
            radius_pixels: 0.7,
            radius_m,
            back_pixels: 0.0,
        });
    }
}
