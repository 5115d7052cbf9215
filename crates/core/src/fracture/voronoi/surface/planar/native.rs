//! Planar cracks on the processor's cores: the algorithm of `leaves_count.wgsl` and `leaves_emit.wgsl`, eight leaves at
//! once.
//!
//! First round: the owners of the 27 corners of a node's leaves, hence of the leaves. Second round: the surfaces of the
//! leaves, from the same corners. Nearly all lie between two cells, where both sides have one plane; its normal is the
//! same all along the face.

use std::sync::Arc;

use super::{
    chamfer::Cuts,
    corners::{covered, find_owners, of_octant, touched},
};
use crate::{
    fracture::{
        UNIT_BITS,
        interior::{Painter, VolumeGrid},
        voronoi::{
            descent::native::{
                Candidate, Cracks, INSIDE, LeafRange, LeafWords, Subtree, WalkedNode, distance2,
            },
            octrees::NO_LEAF,
            surface::{
                leaf_centre,
                plane::{Plane, Scaled, VOXEL_BITS, quotient},
            },
        },
    },
    geometry::set_bits,
    svo::{Forest, Key},
};

/// Bisectors of the cells.
pub(in crate::fracture) struct PlanarCracks {
    pub source: Arc<Forest>,
    /// The material of crack voxels.
    pub volume: Arc<VolumeGrid>,
}

/// A node above leaves that several objects share. There are millions.
pub(in crate::fracture) struct Block {
    /// The low byte has the octants inside that several objects share, crack voxels; the rest is the Morton code.
    key_and_cracks: Key,
    pub source: u32,
    /// Index of its first claim; the next node's begin where they end.
    first: u32,
}

impl Block {
    pub fn key(&self) -> Key {
        self.key_and_cracks >> 8
    }
}

/// Corners of a node's leaves that one candidate owns.
pub(in crate::fracture) struct Claim {
    pub candidate: u32,
    pub corners: u32,
}

/// The nodes of one task.
#[derive(Default)]
pub(in crate::fracture) struct PlanarRecords {
    pub blocks: Vec<Block>,
    claims: Vec<Claim>,
}

impl PlanarRecords {
    pub fn claims_of(&self, record: u32) -> &[Claim] {
        let end = self.blocks.get(record as usize + 1).map_or(self.claims.len(), |next| next.first as usize);
        &self.claims[self.blocks[record as usize].first as usize..end]
    }

    /// The crack voxels of a record have colours ready.
    pub fn paint(&self, record: u32, volume: &VolumeGrid, painter: &mut Painter) {
        painter.reach(volume, record, self.blocks.len() as u32, |record, keys| {
            let block = &self.blocks[record as usize];
            let cracks = set_bits(block.key_and_cracks & 0xff);
            keys.extend(cracks.map(|octant| block.key() << 3 | Key::from(octant)));
        });
    }
}

impl Cracks for PlanarCracks {
    type Records = PlanarRecords;
    type Memory = PlanarMemory;

    fn level(&self) -> u32 {
        self.source.level - 1
    }

    fn node(
        &self,
        place: &WalkedNode,
        list: &[Candidate],
        subtree: &mut Subtree,
        records: &mut PlanarRecords,
    ) {
        let (valid, internal) = place.octants(&self.source.nodes);
        let first = records.claims.len();
        // Owned corners by slot, where an object of several cells has several claims.
        find_owners(list, place.low(), UNIT_BITS - place.level - 1, |candidate, corners| {
            records.claims.push(Claim { candidate: candidate.index, corners });
        });
        let claims = &records.claims[first..];
        let slot_of = |subtree: &Subtree, claim: &Claim| subtree.candidates[claim.candidate as usize].slot;
        let single = slot_of(subtree, &claims[0]);
        if claims.iter().all(|claim| slot_of(subtree, claim) == single) {
            records.claims.truncate(first);
            subtree.copy(&self.source.nodes, single, place);
            return;
        }
        let (mut once, mut shared) = (0, 0);
        for k in 0..claims.len() {
            let slot = slot_of(subtree, &claims[k]);
            if claims[..k].iter().any(|claim| slot_of(subtree, claim) == slot) {
                continue;
            }
            let same = claims[k..].iter().filter(|claim| slot_of(subtree, claim) == slot);
            let corners = same.fold(0, |corners, claim| corners | claim.corners);
            let touched = touched(corners);
            (once, shared) = (once | touched, shared | once & touched);
            let whole = covered(corners) & internal;
            let copies = touched & (valid | internal) & !whole;
            subtree.parent_of_leaves(slot, place.octant(), copies as u8, whole as u8);
        }
        subtree.block(records.blocks.len() as u32);
        let key_and_cracks = place.key << 8 | Key::from(shared & internal);
        records.blocks.push(Block { key_and_cracks, source: place.source, first: first as u32 });
    }

    fn leaves(
        &self,
        records: &PlanarRecords,
        record: u32,
        subtree: &Subtree,
        memory: &mut PlanarMemory,
        out: &mut [LeafRange<'_>],
    ) {
        let block = &records.blocks[record as usize];
        let claims = records.claims_of(record);
        records.paint(record, &self.volume, &mut memory.painter);
        if record == 0 {
            // Candidates are those of another task.
            memory.face = None;
        }
        let place = WalkedNode { source: block.source, level: self.source.level - 1, key: block.key() };
        let owner = |claim: &Claim, corners: u32| Owner {
            candidate: subtree.candidates[claim.candidate as usize],
            corners,
        };
        let (valid, internal) = place.octants(&self.source.nodes);
        // Nearly all nodes lie between two cells, and so do most of their crack voxels.
        let between = match claims {
            [a, b] => Some(self.between(&place, [a, b].map(|claim| owner(claim, 0).candidate), memory)),
            _ => None,
        };
        for octant in set_bits(valid | internal) {
            let key = place.key << 3 | Key::from(octant);
            if let Some(between) = &between
                && valid >> octant & 1 == 0
                && claims.iter().all(|claim| of_octant(claim.corners, octant) != 0)
            {
                self.crack(between, octant, key, memory.painter.take(), out);
                continue;
            }
            memory.owners.clear();
            for claim in claims {
                let corners = of_octant(claim.corners, octant);
                if corners != 0 {
                    memory.owners.push(owner(claim, corners));
                }
            }
            let source = place.child(&self.source.nodes, octant).source;
            self.leaf(source, key, memory, out);
        }
    }
}

/// A candidate that owns corners of a leaf.
#[derive(Clone, Copy)]
struct Owner {
    candidate: Candidate,
    corners: u32,
}

/// The bisector between two seeds, as far as it is the same for all leaves.
#[derive(Clone, Copy)]
struct Face {
    /// Places of the two candidates in the task's list.
    between: [u32; 2],
    scaled: Scaled,
    /// Normals of the first one's side and of the second one's.
    normals: [u32; 2],
}

/// A node between two cells.
struct Between {
    face: Face,
    slots: [u32; 2],
    /// How much farther than from the first one's seed the middle of octant 0 is from the second one's, squares.
    ahead: i32,
    /// Increment for a step to the next octant along an axis.
    step: [i32; 3],
}

/// Data that a worker keeps from leaf to leaf.
#[derive(Default)]
pub(in crate::fracture) struct PlanarMemory {
    owners: Vec<Owner>,
    /// The last face of the task that is being written.
    face: Option<Face>,
    painter: Painter,
}

impl PlanarMemory {
    fn face(&mut self, own: &Candidate, other: &Candidate) -> Face {
        if let Some(face) = self.face
            && face.between[0] == own.index
            && face.between[1] == other.index
        {
            return face;
        }
        let between = |a: &Candidate, b: &Candidate| {
            Scaled::new(glam::IVec3::from_array(b.at) - glam::IVec3::from_array(a.at))
        };
        let word =
            |scaled: Scaled| Plane { normal: scaled.vector, length: scaled.length, offset: 0 }.normal_word();
        let scaled = between(own, other);
        let normals = [word(scaled), word(between(other, own))];
        let face = Face { between: [own.index, other.index], scaled, normals };
        self.face = Some(face);
        face
    }
}

impl PlanarCracks {
    fn between(&self, place: &WalkedNode, [a, b]: [Candidate; 2], memory: &mut PlanarMemory) -> Between {
        let edge_bits = UNIT_BITS - self.source.level;
        let centre = place.low().map(|v| v + ((1 << edge_bits) >> 1));
        Between {
            face: memory.face(&a, &b),
            slots: [a.slot, b.slot],
            ahead: distance2(centre, b.at) - distance2(centre, a.at),
            step: [0, 1, 2].map(|axis| (a.at[axis] - b.at[axis]) << (edge_bits + 1)),
        }
    }

    /// The two copies of a voxel from inside, in an octant of a node between two cells.
    fn crack(&self, between: &Between, octant: u32, key: Key, paint: u32, out: &mut [LeafRange<'_>]) {
        let Between { face, slots, ahead, step } = between;
        // Sums of products of which each may wrap; what they make up fits.
        let ahead = (0..3).fold(*ahead, |ahead, axis| {
            ahead.wrapping_add(if octant >> axis & 1 == 1 { step[axis] } else { 0 })
        });
        let Scaled { vector: normal, length, shift } = face.scaled;
        let bits = VOXEL_BITS - (UNIT_BITS - self.source.level) as i32 - 1;
        let size = quotient(ahead.unsigned_abs(), bits - shift, length) as i32 * ahead.signum();
        let origin = NO_LEAF | 1 << 28;
        for ((slot, offset), word) in slots.iter().zip([size, -size]).zip(face.normals) {
            let color = Plane { normal, length, offset }.crack_word() | paint;
            out[*slot as usize].put(LeafWords { key, origin, normal: word, color, cut: 0 });
        }
    }

    /// `source` is the source's leaf, or [`INSIDE`].
    fn leaf(&self, source: u32, key: Key, memory: &mut PlanarMemory, out: &mut [LeafRange<'_>]) {
        let single = memory.owners[0].candidate.slot;
        if memory.owners.iter().all(|owner| owner.candidate.slot == single) {
            if source != INSIDE {
                out[single as usize].copy(&self.source.leaves, source, 1);
            }
            return;
        }
        let paint = if source == INSIDE { memory.painter.take() } else { 0 };
        if let ([a, b], INSIDE) = (&memory.owners[..], source) {
            let place = WalkedNode { source, level: self.source.level, key };
            let between = self.between(&place, [a.candidate, b.candidate], memory);
            self.crack(&between, 0, key, paint, out);
            return;
        }
        let centre = leaf_centre(key, self.source.level);
        memory.owners.sort_unstable_by_key(|owner| owner.corners.trailing_zeros());
        let owners = &memory.owners[..];
        for k in 0..owners.len() {
            let slot = owners[k].candidate.slot;
            if owners[..k].iter().all(|owner| owner.candidate.slot != slot) {
                let words = self.copy_of(slot, owners, source, centre, paint);
                out[slot as usize].put(LeafWords { key, ..words });
            }
        }
    }

    /// The copy of a leaf in the object of a slot; other objects own corners, too. `owners` are by their first corner.
    fn copy_of(&self, slot: u32, owners: &[Owner], source: u32, centre: [i32; 3], paint: u32) -> LeafWords {
        let middle = glam::IVec3::from_array(centre);
        let edge = 1 << (UNIT_BITS - self.source.level);
        let others = || owners.iter().filter(|owner| owner.candidate.slot != slot);
        let own = owners.iter().filter(|owner| owner.candidate.slot == slot);
        let bisector = |own: [i32; 3], other: &Owner| {
            let (own_distance2, other) = (distance2(centre, own), other.candidate.at.into());
            Plane::bisector(own.into(), own_distance2, other, middle, edge)
        };
        // At a crack between two cells of one object its solid is their union: the plane of the cell whose nearest face
        // is farthest is used.
        let mut farthest = -i32::MAX;
        let mut shown = owners[0].candidate.at;
        for owner in own {
            let at = owner.candidate.at;
            let near_face = others().map(|other| bisector(at, other).offset).fold(i32::MAX, i32::min);
            if near_face > farthest {
                (farthest, shown) = (near_face, at);
            }
        }
        let mut cuts = Cuts::default();
        let leaves = &self.source.leaves;
        let of_source = (source != INSIDE).then_some(source as usize);
        if let Some(plane) = of_source.and_then(|leaf| Plane::of_cut(leaves.cuts[leaf])) {
            cuts.add(plane);
        }
        for other in others() {
            cuts.add(bisector(shown, other));
        }
        let mut slots = 0;
        for (k, owner) in owners.iter().enumerate() {
            let new = owners[..k].iter().all(|before| before.candidate.slot != owner.candidate.slot);
            slots += u32::from(new);
        }
        let shares = (slots - 1) << 28;
        match of_source {
            Some(leaf) => {
                let (normal, color) = (leaves.normals[leaf], leaves.colors[leaf].0);
                let cut = cuts.word(&Plane::of_surface(normal, color));
                LeafWords { key: 0, origin: source | shares, normal, color, cut }
            }
            None => {
                let plane = cuts.take_nearest();
                let color = plane.crack_word() | paint;
                let cut = cuts.word(&plane);
                LeafWords { key: 0, origin: NO_LEAF | shares, normal: plane.normal_word(), color, cut }
            }
        }
    }
}
