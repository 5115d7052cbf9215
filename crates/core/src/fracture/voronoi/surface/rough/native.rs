//! Rough surfaces on the processor's cores: what the passes of `rough/pass.rs` do below the transition level.
//! [`RoughCracks`] follows the triangles of coarser voxels; where the leaves are the transition voxels,
//! [`RoughLeaves`] makes one voxel a leaf.

use super::{
    TransitionVoxel,
    facets::{Facets, ShownLeaf},
    points::{Corners, Cracking},
    sides::{cone_object, elected_object},
};
use crate::fracture::{
    interior::Painter,
    voronoi::{
        descent::native::{Candidate, Cracks, INSIDE, LeafRange, LeafWords, Subtree, WalkedNode},
        surface::{
            leaf_voxels::{LeafVoxel, LeafVoxels},
            refine::{Asked, Crossed, Gets, RefinedRecords, ranks_of},
        },
    },
};
use glam::IVec3;

/// Triangles through the voxels of a level above the leaves.
pub(in crate::fracture) struct RoughCracks(pub Cracking);

/// A crossed voxel and its objects.
pub(in crate::fracture) struct RoughVoxel {
    voxel: TransitionVoxel,
    slots: Vec<u32>,
    /// Per triangle the ranks of its sides, a bit each.
    sides: [u8; 24],
    triangles: u32,
    votes: bool,
}

impl RoughVoxel {
    fn new(voxel: TransitionVoxel, votes: bool) -> Self {
        let (slots, ranks) = ranks_of(&voxel.objects);
        let mut sides = [0; 24];
        let mut triangles = 0;
        for (bit, side) in sides.iter_mut().enumerate() {
            if voxel.edge_points[bit / 2].is_some() {
                let ends = super::voxel::edge_corners(bit / 2);
                *side = ends.iter().fold(0, |set, corner| set | 1 << ranks[*corner]);
                triangles |= 1 << bit;
            }
        }
        Self { voxel, slots, sides, triangles, votes }
    }

    fn rank_of(&self, object: u32) -> usize {
        self.slots.partition_point(|known| *known < object)
    }
}

impl Crossed for RoughVoxel {
    fn slots(&self) -> &[u32] {
        &self.slots
    }

    fn corners(&self, bit: usize) -> [IVec3; 3] {
        let face = super::voxel::edge_faces(bit / 2)[bit % 2];
        let point = |point: Option<[i32; 3]>| IVec3::from_array(point.unwrap_or_default());
        [
            point(self.voxel.edge_points[bit / 2]),
            point(self.voxel.face_points[face]),
            self.voxel.voxel_point.into(),
        ]
    }

    fn triangles(&self) -> u32 {
        self.triangles
    }

    fn gets(&self, of: &Asked) -> [Gets; 8] {
        let untouched = !of.touched_by(u32::MAX) & 0xff;
        let voting = if self.votes { of.solid & !of.internal } else { 0 };
        let mut all = [Gets::default(); 8];
        of.each_part(untouched, |part, octant| {
            let held = 1 << self.rank_of(cone_object(&self.voxel, of.centre(octant)));
            for octant in (0..8).filter(|octant| part >> octant & 1 == 1) {
                all[octant as usize].holds = held;
            }
        });
        for octant in 0..8 {
            let gets = &mut all[octant as usize];
            let votes = voting >> octant & 1 == 1;
            let mut left = of.touching[octant as usize];
            if votes && !of.are_leaves {
                *gets = Gets { takes: of.alive, ..Gets::default() };
            } else if votes && left == 0 {
                gets.holds = 1 << self.rank_of(elected_object(&self.voxel, of.centre(octant)));
            } else {
                while left != 0 {
                    gets.takes |= self.sides[left.trailing_zeros() as usize];
                    left &= left - 1;
                }
            }
        }
        all
    }
}

/// Data that a worker keeps from leaf to leaf.
#[derive(Default)]
pub(in crate::fracture) struct RoughMemory {
    /// Where the voxel lies whose facets these are; all voxels are there until the last leaf is written.
    known: Option<usize>,
    facets: Facets,
    painter: Painter,
}

impl Cracks for RoughCracks {
    type Records = RefinedRecords<RoughVoxel>;
    type Memory = RoughMemory;

    fn level(&self) -> u32 {
        self.0.words.transition
    }

    fn node(
        &self,
        place: &WalkedNode,
        list: &[Candidate],
        subtree: &mut Subtree,
        records: &mut Self::Records,
    ) {
        let Self(crack) = self;
        match crack.corners(place, list) {
            Err(object) => subtree.copy(&crack.source.nodes, object, place),
            Ok(corners) => {
                let voxel = RoughVoxel::new(corners.separate(&crack.words), crack.words.votes != 0);
                records.add(&crack.source, place, voxel, subtree);
            }
        }
    }

    fn leaves(
        &self,
        records: &Self::Records,
        record: u32,
        _grown: &Subtree,
        memory: &mut RoughMemory,
        out: &mut [LeafRange<'_>],
    ) {
        let Self(crack) = self;
        let below = crack.below();
        records.paint(record, &crack.volume, &mut memory.painter);
        records.write(&crack.source, record, below, out, |number, leaf, key, centre, out| {
            let RoughMemory { known, facets, painter } = memory;
            let voxel = &records.voxels[number as usize];
            let address = std::ptr::from_ref(voxel).addr();
            if *known != Some(address) {
                facets.fill(&voxel.voxel);
                *known = Some(address);
            }
            let source = (leaf.source != INSIDE).then_some(leaf.source as usize);
            let paint = match source {
                Some(_) => 0,
                None => painter.take(),
            };
            let bits = super::UNITS.trailing_zeros() - below;
            let leaves = &crack.source.leaves;
            let shown = ShownLeaf { leaves, source, touched: leaf.touched, centre, bits, paint };
            let taking = (0..).zip(&voxel.slots).filter(|(rank, _)| leaf.gets.takes >> rank & 1 == 1);
            facets.copies(&shown, taking.map(|(_, slot)| *slot), |slot, words| {
                out[slot as usize].put(LeafWords { key, ..words });
            });
        });
    }
}

/// Triangles through the leaves.
pub(in crate::fracture) type RoughLeaves = LeafVoxels<FacetsOfLeaf>;

/// One leaf as a transition voxel.
#[derive(Default)]
pub(in crate::fracture) struct FacetsOfLeaf(Facets);

impl LeafVoxel for FacetsOfLeaf {
    fn write(
        &mut self,
        crack: &Cracking,
        corners: &Corners,
        source: Option<usize>,
        paint: u32,
        put: &mut dyn FnMut(u32, LeafWords),
    ) {
        let Self(facets) = self;
        facets.fill(&corners.separate(&crack.words));
        let shown = ShownLeaf {
            leaves: &crack.source.leaves,
            source,
            touched: facets.all,
            centre: IVec3::splat(super::UNITS / 2),
            bits: super::UNITS.trailing_zeros(),
            paint,
        };
        let (slots, _) = ranks_of(&corners.objects);
        facets.copies(&shown, slots.into_iter(), put);
    }
}
