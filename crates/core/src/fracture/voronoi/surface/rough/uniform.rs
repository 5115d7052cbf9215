//! The numbers of a [`CrackShape`] as the kernels take them.

use super::{CrackShape, Offset, Sides, UNITS};
use crate::gpu::layout;

/// Whole-number parameters; field for field what `shaders/fracture/voronoi/surface/rough/noise.wgsl` declares.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct CrackUniform {
    /// Random seed, folded to 32 bits.
    pub salt: u32,
    /// 0 balance, 1 plane.
    pub offset: u32,
    /// Pull towards the Voronoi face, 0 to 256.
    pub strength: i32,
    /// 1/512 edge.
    pub amplitude: i32,
    /// Lattice cells a grid side.
    pub frequency: u32,
    /// Layers.
    pub octaves: u32,
    /// Largest displacement of face points, 1/512 edge.
    pub face: i32,
    /// Largest displacement of voxel points, 1/512 edge.
    pub voxel: i32,
    /// 0 cone, 1 votes.
    pub votes: u32,
    /// Transition level.
    pub transition: u32,
    /// Dusty surfaces: width of the gap where it is widest, 1/256 of 1/512 edge; see [`CrackUniform::with_gap`].
    pub gap: i32,
    /// How much of it the noise takes away at most, 0 to 256.
    pub irregularity: i32,
}

layout!(CrackUniform as "CrackUniform" {
    salt, offset, strength, amplitude, frequency, octaves, face, voxel, votes, transition, gap, irregularity
});

impl CrackUniform {
    /// Rounds a checked shape; `rng` is the fracture's random seed.
    #[must_use]
    pub fn new(shape: &CrackShape, rng: u64, transition: u32) -> Self {
        let edges = |v: f64| (v * f64::from(UNITS)).round() as i32;
        // Two halves that differ must not cancel out.
        let mixed =
            (rng ^ (rng >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self {
            salt: (mixed >> 32) as u32,
            offset: u32::from(shape.offset == Offset::Plane),
            strength: (shape.strength * 256.0).round() as i32,
            amplitude: edges(shape.noise.amplitude),
            frequency: shape.noise.frequency,
            octaves: shape.noise.octaves,
            face: edges(shape.displacement.face),
            voxel: edges(shape.displacement.voxel),
            votes: u32::from(shape.sides == Sides::Votes),
            transition,
            gap: 0,
            irregularity: 0,
        }
    }

    /// With the gap of a dusty surface, for leaves of `leaf_level`.
    #[must_use]
    pub fn with_gap(self, shape: &CrackShape, leaf_level: u32) -> Self {
        let leaf_edge = UNITS >> (leaf_level - self.transition);
        Self {
            gap: (shape.dusty.width * 256.0).round() as i32 * leaf_edge,
            irregularity: (shape.dusty.irregularity * 256.0).round() as i32,
            ..self
        }
    }
}
