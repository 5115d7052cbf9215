//! Planar cracks on the processor's cores: what `leaves_count.wgsl` and `leaves_emit.wgsl` do, eight leaves at once.
//!
//! First round: who owns the 27 corners of a node's leaves, hence who gets which. Second round: the surfaces of the
//! leaves, from the same corners. Nearly all lie between two cells, where both sides show one plane; its normal is the
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
                Candidate, Cracks, Grown, INSIDE, LeafRange, LeafWords, WalkedNode, distance2,
            },
            octrees::NO_LEAF,
            surface::{
                native::leaf_centre,
                plane::{Plane, Scaled, VOXEL_BITS, quotient},
            },
        },
    },
    svo::{Forest, Key},
};

/// Bisectors of the cells.
pub(in crate::fracture) struct PlanarCracks {
    pub source: Arc<Forest>,
    /// What crack voxels show.
    pub volume: Arc<VolumeGrid>,
}

/// A node above leaves that several objects share.
pub(in crate::fracture) struct Block {
    pub source: u32,
    pub key: Key,
    /// Its claims begin here and end where those of the next one begin.
    first: u32,
    /// Octants inside that several objects share: crack voxels.
    cracks: u8,
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
            let Block { key, cracks, .. } = &self.blocks[record as usize];
            keys.extend((0..8).filter(|octant| cracks >> octant & 1 == 1).map(|octant| key << 3 | octant));
        });
    }
}

impl Cracks for PlanarCracks {
    type Records = PlanarRecords;
    type Memory = PlanarMemory;

    fn level(&self) -> u32 {
        self.source.level - 1
    }

    fn node(&self, place: &WalkedNode, list: &[Candidate], grown: &mut Grown, records: &mut PlanarRecords) {
        let (valid, internal) = place.octants(&self.source.nodes);
        let first = records.claims.len();
        // Owned corners by slot, where an object of several cells has several claims.
        find_owners(list, place.low(), UNIT_BITS - place.level - 1, |candidate, corners| {
            records.claims.push(Claim { candidate: candidate.index, corners });
        });
        let claims = &records.claims[first..];
        let slot_of = |grown: &Grown, claim: &Claim| grown.candidates[claim.candidate as usize].slot;
        let single = slot_of(grown, &claims[0]);
        if claims.iter().all(|claim| slot_of(grown, claim) == single) {
            records.claims.truncate(first);
            grown.copy(&self.source.nodes, single, place);
            return;
        }
        let (mut once, mut shared) = (0, 0);
        for k in 0..claims.len() {
            let slot = slot_of(grown, &claims[k]);
            if claims[..k].iter().any(|claim| slot_of(grown, claim) == slot) {
                continue;
            }
            let same = claims[k..].iter().filter(|claim| slot_of(grown, claim) == slot);
            let corners = same.fold(0, |corners, claim| corners | claim.corners);
            let touched = touched(corners);
            (once, shared) = (once | touched, shared | once & touched);
            let whole = covered(corners) & internal;
            let copies = touched & (valid | internal) & !whole;
            grown.parent_of_leaves(slot, place.octant(), copies as u8, whole as u8);
        }
        grown.block(records.blocks.len() as u32);
        let cracks = (shared & internal) as u8;
        records.blocks.push(Block { source: place.source, key: place.key, first: first as u32, cracks });
    }

    fn leaves(
        &self,
        records: &PlanarRecords,
        record: u32,
        grown: &Grown,
        memory: &mut PlanarMemory,
        out: &mut [LeafRange<'_>],
    ) {
        let block = &records.blocks[record as usize];
        let claims = records.claims_of(record);
        records.paint(record, &self.volume, &mut memory.painter);
        let place = WalkedNode { source: block.source, level: self.source.level - 1, key: block.key };
        let (valid, internal) = place.octants(&self.source.nodes);
        let mut rest = valid | internal;
        while rest != 0 {
            let octant = rest.trailing_zeros();
            rest &= rest - 1;
            memory.owners.clear();
            for claim in claims {
                let corners = of_octant(claim.corners, octant);
                if corners != 0 {
                    let candidate = grown.candidates[claim.candidate as usize];
                    memory.owners.push(Owner { candidate, corners });
                }
            }
            let source = place.child(&self.source.nodes, octant).source;
            self.leaf(source, block.key << 3 | Key::from(octant), memory, out);
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
    seeds: [[i32; 3]; 2],
    scaled: Scaled,
    /// Of the first one's side and of the second one's.
    normals: [u32; 2],
}

/// What a worker knows from the leaves before.
#[derive(Default)]
pub(in crate::fracture) struct PlanarMemory {
    owners: Vec<Owner>,
    face: Option<Face>,
    painter: Painter,
}

impl PlanarMemory {
    fn face(&mut self, own: [i32; 3], other: [i32; 3]) -> Face {
        if let Some(face) = self.face
            && face.seeds == [own, other]
        {
            return face;
        }
        let between =
            |a: [i32; 3], b: [i32; 3]| Scaled::new(glam::IVec3::from_array(b) - glam::IVec3::from_array(a));
        let word =
            |scaled: Scaled| Plane { normal: scaled.vector, length: scaled.length, offset: 0 }.normal_word();
        let scaled = between(own, other);
        let normals = [word(scaled), word(between(other, own))];
        let face = Face { seeds: [own, other], scaled, normals };
        self.face = Some(face);
        face
    }
}

impl PlanarCracks {
    /// `source` is the source's leaf, or [`INSIDE`].
    fn leaf(&self, source: u32, key: Key, memory: &mut PlanarMemory, out: &mut [LeafRange<'_>]) {
        let centre = leaf_centre(key, self.source.level);
        let single = memory.owners[0].candidate.slot;
        if memory.owners.iter().all(|owner| owner.candidate.slot == single) {
            if source != INSIDE {
                out[single as usize].copy(&self.source.leaves, source, 1);
            }
            return;
        }
        let paint = if source == INSIDE { memory.painter.take() } else { 0 };
        if let ([a, b], INSIDE) = (&memory.owners[..], source) {
            let (a, b) = (a.candidate, b.candidate);
            let face = memory.face(a.at, b.at);
            let ahead = distance2(centre, b.at) - distance2(centre, a.at);
            let bits = VOXEL_BITS - (UNIT_BITS - self.source.level) as i32 - 1;
            let size = quotient(ahead.unsigned_abs(), bits - face.scaled.shift, face.scaled.length) as i32;
            let plane =
                |offset: i32| Plane { normal: face.scaled.vector, length: face.scaled.length, offset };
            let sides = [(a, size * ahead.signum()), (b, -size * ahead.signum())];
            for ((side, offset), normal) in sides.into_iter().zip(face.normals) {
                let color = plane(offset).crack_word() | paint;
                let origin = NO_LEAF | 1 << 28;
                out[side.slot as usize].put(LeafWords { key, origin, normal, color, cut: 0 });
            }
            return;
        }
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
        // Where two cells of one object meet at the crack, its solid is their union: the cell whose nearest face is
        // farthest shows.
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
