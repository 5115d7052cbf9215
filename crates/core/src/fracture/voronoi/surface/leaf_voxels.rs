//! Cracks whose transition voxels are the leaves (`rough/copying_voxels.wgsl`): the owner of a leaf follows from its
//! corners, as for planar cracks; its attributes follow from the crack surface inside it.

use std::{marker::PhantomData, sync::Arc};

use glam::IVec3;

use super::{
    planar::native::{PlanarCracks, PlanarRecords},
    refine::{Gets, Refined, SharedLeaf},
    rough::{
        UNITS,
        points::{Corners, Cracking},
    },
};
use crate::{
    fracture::{
        UNIT_BITS,
        interior::Painter,
        voronoi::{
            descent::native::{Candidate, Cracks, INSIDE, LeafRange, LeafWords, Subtree, WalkedNode},
            surface::planar::corners::of_octant,
        },
    },
    geometry::set_bits,
};

/// Leaves as transition voxels.
pub(in crate::fracture) struct LeafVoxels<V> {
    crack: Cracking,
    planar: PlanarCracks,
    made: PhantomData<fn() -> V>,
}

impl<V> LeafVoxels<V> {
    pub fn new(crack: Cracking) -> Self {
        let planar = PlanarCracks { source: Arc::clone(&crack.source), volume: Arc::clone(&crack.volume) };
        Self { crack, planar, made: PhantomData }
    }
}

/// Data that a worker keeps from leaf to leaf.
#[derive(Default)]
pub(in crate::fracture) struct LeafVoxelMemory<N> {
    near: N,
    painter: Painter,
}

impl<V: Refined> Cracks for LeafVoxels<V> {
    type Records = PlanarRecords;
    type Memory = LeafVoxelMemory<V::Near>;

    fn level(&self) -> u32 {
        self.planar.level()
    }

    fn node(
        &self,
        place: &WalkedNode,
        list: &[Candidate],
        subtree: &mut Subtree,
        records: &mut PlanarRecords,
    ) {
        self.planar.node(place, list, subtree, records);
    }

    fn leaves(
        &self,
        records: &PlanarRecords,
        record: u32,
        subtree: &Subtree,
        memory: &mut Self::Memory,
        out: &mut [LeafRange<'_>],
    ) {
        let Self { crack, .. } = self;
        let level = crack.source.level;
        records.paint(record, &crack.volume, &mut memory.painter);
        let block = &records.blocks[record as usize];
        let place = WalkedNode { source: block.source, level: level - 1, key: block.key() };
        let (valid, internal) = place.octants(&crack.source.nodes);
        for octant in set_bits(valid | internal) {
            let child = place.child(&crack.source.nodes, octant);
            let (low, size) = (child.low(), 1 << (UNIT_BITS - level));
            let mut corners = Corners { low, size, seeds: [[0; 3]; 8], objects: [0; 8] };
            for claim in records.claims_of(record) {
                let candidate = subtree.candidates[claim.candidate as usize];
                for corner in set_bits(of_octant(claim.corners, octant)) {
                    let corner = corner as usize;
                    (corners.seeds[corner], corners.objects[corner]) = (candidate.at, candidate.slot);
                }
            }
            let source = (child.source != INSIDE).then_some(child.source as usize);
            if !corners.crossed() {
                if source.is_some() {
                    out[corners.objects[0] as usize].copy(&crack.source.leaves, child.source, 1);
                }
                continue;
            }
            let paint = match source {
                Some(_) => 0,
                None => memory.painter.take(),
            };
            let voxel = V::of(&corners, &crack.words);
            voxel.remember(&mut memory.near);
            // Every object with a corner has a part here.
            let objects = voxel.slots().len();
            let gets = Gets { takes: ((1u32 << objects) - 1) as u8, holds: 0, code: objects as u8 + 7 };
            let (touched, bits) = (voxel.triangles(), UNITS.trailing_zeros());
            let leaf = SharedLeaf { source, touched, gets, centre: IVec3::splat(UNITS / 2), bits, paint };
            voxel.copies(&memory.near, crack, &leaf, |slot, words| {
                out[slot as usize].put(LeafWords { key: child.key, ..words });
            });
        }
    }
}
