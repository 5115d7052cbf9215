//! Cracks whose transition voxels are the leaves (`rough/copying_voxels.wgsl`): the owner of a leaf follows from its
//! corners, as for planar cracks; its attributes follow from the crack surface inside it.

use std::sync::Arc;

use super::{
    planar::native::{PlanarCracks, PlanarRecords},
    rough::points::{Corners, Cracking},
};
use crate::fracture::{
    UNIT_BITS,
    interior::Painter,
    voronoi::{
        descent::native::{Candidate, Cracks, INSIDE, LeafRange, LeafWords, Subtree, WalkedNode},
        surface::planar::corners::of_octant,
    },
};

/// The content of a crossed leaf.
pub(in crate::fracture) trait LeafVoxel: Default + Send {
    /// Calls `put` with the words of every object's copy, without a key; objects ascending.
    fn write(
        &mut self,
        crack: &Cracking,
        corners: &Corners,
        source: Option<usize>,
        paint: u32,
        put: &mut dyn FnMut(u32, LeafWords),
    );
}

/// Leaves as transition voxels.
pub(in crate::fracture) struct LeafVoxels<V> {
    crack: Cracking,
    planar: PlanarCracks,
    made: std::marker::PhantomData<fn() -> V>,
}

impl<V: LeafVoxel> LeafVoxels<V> {
    pub fn new(crack: Cracking) -> Self {
        let planar = PlanarCracks { source: Arc::clone(&crack.source), volume: Arc::clone(&crack.volume) };
        Self { crack, planar, made: std::marker::PhantomData }
    }
}

/// Data that a worker keeps from leaf to leaf.
#[derive(Default)]
pub(in crate::fracture) struct LeafVoxelMemory<V> {
    voxel: V,
    painter: Painter,
}

impl<V: LeafVoxel + 'static> Cracks for LeafVoxels<V> {
    type Records = PlanarRecords;
    type Memory = LeafVoxelMemory<V>;

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
        let mut rest = valid | internal;
        while rest != 0 {
            let octant = rest.trailing_zeros();
            rest &= rest - 1;
            let child = place.child(&crack.source.nodes, octant);
            let (low, size) = (child.low(), 1 << (UNIT_BITS - level));
            let mut corners = Corners { low, size, seeds: [[0; 3]; 8], objects: [0; 8] };
            for claim in records.claims_of(record) {
                let candidate = subtree.candidates[claim.candidate as usize];
                let mut own = of_octant(claim.corners, octant);
                while own != 0 {
                    let corner = own.trailing_zeros() as usize;
                    own &= own - 1;
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
            memory.voxel.write(crack, &corners, source, paint, &mut |slot, words| {
                out[slot as usize].put(LeafWords { key: child.key, ..words });
            });
        }
    }
}
