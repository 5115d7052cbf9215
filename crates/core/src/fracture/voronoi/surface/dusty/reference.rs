//! A dusty fracture on the whole grid, by plain loops: every solid leaf against every object's border in its
//! transition voxel.
//!
//! In: a pattern and a recipe's numbers. Out: who gets each leaf.

use std::collections::HashMap;

use crate::fracture::{
    Pattern,
    voronoi::surface::rough::{
        CrackUniform, TransitionVoxel, UNITS, reference::CrackReference, reference::weight,
    },
};

use super::{DustVoxel, Shares, marching_cases};

/// Voxels with gaps, made as they are asked for.
pub struct DustReference<'a> {
    cracks: CrackReference<'a>,
    words: CrackUniform,
    leaf_level: u32,
    voxels: HashMap<[u32; 3], Result<DustVoxel, u32>>,
}

impl<'a> DustReference<'a> {
    /// `words.transition` is the transition level.
    #[must_use]
    pub fn new(pattern: &'a Pattern, words: CrackUniform, leaf_level: u32) -> Self {
        let cracks = CrackReference::new(pattern, words, leaf_level);
        Self { cracks, words, leaf_level, voxels: HashMap::new() }
    }

    /// The transition voxel at a place, or the one object that has all its corners.
    pub fn voxel(&mut self, place: [u32; 3]) -> &Result<DustVoxel, u32> {
        let Self { cracks, words, voxels, .. } = self;
        voxels.entry(place).or_insert_with(|| cracks.voxel(place).map(|crossed| split(&crossed, words)))
    }

    /// Who gets the leaf at a place.
    pub fn leaf(&mut self, place: [u32; 3]) -> Shares {
        let shift = self.leaf_level - self.words.transition;
        let edge = i64::from(UNITS) >> shift;
        let low = place.map(|v| i64::from(v) % (1 << shift) * edge);
        match self.voxel(place.map(|v| v >> shift)) {
            Ok(crossed) => crossed.shares(low, low.map(|v| v + edge)),
            Err(object) => Shares { objects: vec![*object], filled: true, touched: false },
        }
    }
}

/// A crossed voxel with its edge points moved apart by the gap at either end's corner. `words` as for the reference.
#[must_use]
pub fn split(crossed: &TransitionVoxel, words: &CrackUniform) -> DustVoxel {
    let size = (1i64 << crate::fracture::UNIT_BITS) >> words.transition;
    let noise_words = CrackUniform { salt: words.salt ^ 0x6a09_e667, ..*words };
    let halves: [i32; 8] = std::array::from_fn(|c| {
        let corner = [0, 1, 2].map(|a| size * (i64::from(crossed.place[a]) + (c >> a & 1) as i64));
        // Value noise keeps to the middle; stretched, it also reaches its ends.
        let noise = (2 * weight(corner, &noise_words) - 128).clamp(0, 255) as i32;
        let share = 256 - words.irregularity * noise / 256;
        words.gap * share / (2 * 256 * 256)
    });
    let splits = std::array::from_fn(|edge| {
        let at = crossed.edge_points[edge]?[edge / 4];
        let [low, high] = marching_cases::edge_ends(edge);
        Some([(at - halves[low]).max(1), (at + halves[high]).min(UNITS - 1)])
    });
    DustVoxel::new(crossed.objects, splits)
}
