//! The descent below the transition level on the processor's cores: the algorithm of `rough/counting.wgsl`,
//! `writing.wgsl` and their kernels, for all objects of a voxel at once.
//!
//! A node is visited with the triangles that touch it and the objects that have a part of it. An octant without
//! triangles belongs to one object, and ends; others continue with fewer triangles. At the end leaves are recorded by
//! blocks, for the second round.

use std::marker::PhantomData;

use glam::IVec3;

use super::rough::{
    CrackUniform, UNITS,
    points::{Corners, Cracking},
    touch::{Slabs, touching},
};
use crate::{
    fracture::{
        interior::{Painter, VolumeGrid},
        voronoi::descent::native::{Candidate, Cracks, INSIDE, LeafRange, LeafWords, Subtree, WalkedNode},
    },
    geometry::set_bits,
    svo::{Forest, Key, morton},
};

/// A crossed transition voxel. Its objects have ranks, ascending; a set of them is a bit each.
pub(in crate::fracture) trait Crossed {
    /// Objects by rank: slots of the task.
    fn slots(&self) -> &[u32];

    /// Corners of a triangle, units from the voxel's low corner.
    fn corners(&self, bit: usize) -> [IVec3; 3];

    /// All triangles, a bit each; below 2^24.
    fn triangles(&self) -> u32;

    /// The owners of a node's octants.
    fn gets(&self, of: &Asked) -> [Gets; 8];
}

/// A crossed voxel that is made of its corners and writes its leaves.
pub(in crate::fracture) trait Refined: Crossed + Send + 'static {
    /// What leaves need of their voxel.
    type Near: Default + Send;

    /// The voxel with these corners.
    fn of(corners: &Corners, words: &CrackUniform) -> Self;

    /// Puts what its leaves need in the place of another voxel's.
    fn remember(&self, near: &mut Self::Near);

    /// Calls `put` with the words of every object's copy of a leaf, without a key; objects ascending.
    fn copies(&self, near: &Self::Near, crack: &Cracking, leaf: &SharedLeaf, put: impl FnMut(u32, LeafWords));
}

/// A leaf whose copies are written.
pub(in crate::fracture) struct SharedLeaf {
    /// Leaf of the source, where it has one.
    pub source: Option<usize>,
    /// Triangles that touch it.
    pub touched: u32,
    pub gets: Gets,
    pub centre: IVec3,
    /// Bits of its edge.
    pub bits: u32,
    /// Colour of crack voxels.
    pub paint: u32,
}

/// A node whose octants' owners are wanted.
pub(in crate::fracture) struct Asked {
    /// Objects that have a part of the node.
    pub alive: u8,
    /// Triangles that touch each octant.
    pub touching: [u32; 8],
    /// Low corner of the node, and an octant's edge.
    pub low: IVec3,
    pub edge: i32,
    /// Octants that contain solid, and those inside it.
    pub solid: u32,
    pub internal: u32,
    /// Whether they are leaves.
    pub are_leaves: bool,
}

impl Asked {
    /// The middle of an octant.
    pub fn centre(&self, octant: u32) -> IVec3 {
        self.low + self.edge * corner(octant) + self.edge / 2
    }

    /// Octants touched by a triangle of a set.
    pub fn touched_by(&self, set: u32) -> u32 {
        (0..8).fold(0, |octants, o| octants | u32::from(self.touching[o as usize] & set != 0) << o)
    }

    /// Calls `decide` for one octant of every connected part of `open`, and returns the octants of the parts for which
    /// it is true. Closed octants with a common face that no triangle crosses lie on one side, so one decides for its
    /// whole part.
    pub fn by_parts(&self, open: u32, mut decide: impl FnMut(u32) -> bool) -> u32 {
        let mut found = 0;
        self.each_part(open, |part, octant| {
            if decide(octant) {
                found |= part;
            }
        });
        found
    }

    /// Calls `each` for every part of `open` that contains solid, with one octant of it.
    pub fn each_part(&self, open: u32, mut call: impl FnMut(u32, u32)) {
        let mut left = open;
        while left & self.solid != 0 {
            let octant = (left & self.solid).trailing_zeros();
            let mut part = 1 << octant;
            loop {
                let beside = (part & 0x55) << 1
                    | (part & 0xaa) >> 1
                    | (part & 0x33) << 2
                    | (part & 0xcc) >> 2
                    | (part & 0x0f) << 4
                    | (part & 0xf0) >> 4;
                let grown = part | beside & left;
                if grown == part {
                    break;
                }
                part = grown;
            }
            call(part, octant);
            left &= !part;
        }
    }
}

/// The owners of a box.
#[derive(Clone, Copy, Default)]
pub(in crate::fracture) struct Gets {
    /// Objects that get a part.
    pub takes: u8,
    /// The object that owns all of it; then no other owns a part.
    pub holds: u8,
    /// How the shares of a leaf are counted, where objects take parts (see `collect.rs`).
    pub code: u8,
}

/// The leaves below a node; the next block's begin where they end.
struct Block {
    voxel: u32,
    key: Key,
    first: u32,
}

/// A leaf that gets copies.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct RefinedLeaf {
    /// Leaf of the source, or [`INSIDE`].
    pub source: u32,
    /// Triangles that touch it.
    pub touched: u32,
    pub octant: u8,
    pub gets: Gets,
}

impl RefinedLeaf {
    /// Whether it is inside the source and objects share it.
    fn is_crack_voxel(&self) -> bool {
        self.gets.holds == 0 && self.source == INSIDE
    }
}

/// The crossed voxels of one task, and their leaves.
pub(in crate::fracture) struct RefinedRecords<V> {
    pub voxels: Vec<V>,
    blocks: Vec<Block>,
    leaves: Vec<RefinedLeaf>,
    slabs: Box<[Slabs; 24]>,
}

impl<V> Default for RefinedRecords<V> {
    fn default() -> Self {
        Self {
            voxels: Vec::new(),
            blocks: Vec::new(),
            leaves: Vec::new(),
            slabs: Box::new([Slabs::default(); 24]),
        }
    }
}

/// A node below a transition voxel.
struct RefinedNode {
    place: WalkedNode,
    /// Units from the voxel's low corner, and its edge.
    low: IVec3,
    edge: i32,
    touched: u32,
    alive: u8,
}

impl<V: Crossed> RefinedRecords<V> {
    /// First round: notes a crossed voxel at `place`, and grows all below it.
    pub fn add(&mut self, source: &Forest, place: &WalkedNode, voxel: V, subtree: &mut Subtree) {
        for bit in set_bits(voxel.triangles()) {
            self.slabs[bit as usize] = Slabs::new(voxel.corners(bit as usize));
        }
        let alive = ((1u32 << voxel.slots().len()) - 1) as u8;
        let touched = voxel.triangles();
        let node = RefinedNode { place: *place, low: IVec3::ZERO, edge: UNITS, touched, alive };
        self.node(source, &voxel, &node, subtree);
        self.voxels.push(voxel);
    }

    fn node(&mut self, source: &Forest, voxel: &V, node: &RefinedNode, subtree: &mut Subtree) {
        let RefinedNode { place, low, edge, touched, alive } = node;
        let half = edge / 2;
        let touching = touching(&self.slabs, *touched, low + half, half / 2);
        if place.level + 1 == source.level {
            self.leaves(source, voxel, node, &touching, subtree);
            return;
        }
        for slot in slots_of(voxel, *alive) {
            subtree.begin(place.level, slot);
        }
        let (valid, internal) = place.octants(&source.nodes);
        let asked = Asked {
            alive: *alive,
            touching,
            low: *low,
            edge: half,
            solid: valid | internal,
            internal,
            are_leaves: false,
        };
        let all = voxel.gets(&asked);
        for octant in set_bits(valid | internal) {
            let child = place.child(&source.nodes, octant);
            let low = low + half * corner(octant);
            let touched = touching[octant as usize];
            let gets = all[octant as usize];
            for slot in slots_of(voxel, gets.holds & alive) {
                subtree.copy(&source.nodes, slot, &child);
            }
            let alive = gets.takes & alive;
            if alive != 0 {
                let node = RefinedNode { place: child, low, edge: half, touched, alive };
                self.node(source, voxel, &node, subtree);
            }
        }
        for slot in slots_of(voxel, *alive) {
            subtree.end(place.level, slot, place.octant());
        }
    }

    /// The leaves of a node of the last parent level.
    fn leaves(
        &mut self,
        source: &Forest,
        voxel: &V,
        node: &RefinedNode,
        touching: &[u32; 8],
        subtree: &mut Subtree,
    ) {
        let RefinedNode { place, low, edge, alive, .. } = node;
        let half = edge / 2;
        let first = self.leaves.len();
        let (mut copies, mut wholes) = ([0u8; 8], [0u8; 8]);
        let (valid, internal) = place.octants(&source.nodes);
        let asked = Asked {
            alive: *alive,
            touching: *touching,
            low: *low,
            edge: half,
            solid: valid | internal,
            internal,
            are_leaves: true,
        };
        let all = voxel.gets(&asked);
        for octant in set_bits(valid | internal) {
            let leaf = place.child(&source.nodes, octant).source;
            let touched = touching[octant as usize];
            let mut gets = all[octant as usize];
            gets.takes &= alive;
            gets.holds &= alive;
            if gets.holds != 0 && leaf == INSIDE {
                wholes[gets.holds.trailing_zeros() as usize] |= 1 << octant;
                continue;
            }
            let getting = gets.takes | gets.holds;
            if getting != 0 {
                self.leaves.push(RefinedLeaf { source: leaf, touched, octant: octant as u8, gets });
            }
            set_bits(getting).for_each(|rank| copies[rank as usize] |= 1 << octant);
        }
        for (rank, slot) in voxel.slots().iter().enumerate() {
            if copies[rank] | wholes[rank] != 0 {
                subtree.parent_of_leaves(*slot, place.octant(), copies[rank], wholes[rank]);
            }
        }
        if self.leaves.len() > first {
            subtree.block(self.blocks.len() as u32);
            let voxel = self.voxels.len() as u32;
            self.blocks.push(Block { voxel, key: place.key, first: first as u32 });
        }
    }

    /// The crack voxels of a record have colours ready.
    pub fn paint(&self, record: u32, volume: &VolumeGrid, painter: &mut Painter) {
        painter.reach(volume, record, self.blocks.len() as u32, |record, keys| {
            let key = self.blocks[record as usize].key;
            let cracks = self.leaves_of(record).iter().filter(|leaf| leaf.is_crack_voxel());
            keys.extend(cracks.map(|leaf| key << 3 | Key::from(leaf.octant)));
        });
    }

    fn leaves_of(&self, record: u32) -> &[RefinedLeaf] {
        let end = self.blocks.get(record as usize + 1).map_or(self.leaves.len(), |next| next.first as usize);
        &self.leaves[self.blocks[record as usize].first as usize..end]
    }

    /// Second round: calls `write` for every shared leaf of a record, with the index of its voxel, its Morton code and
    /// its middle; leaves that one object owns are copied unchanged. `below` is the number of levels from the voxel to
    /// the leaves.
    pub fn write(
        &self,
        source: &Forest,
        record: u32,
        below: u32,
        out: &mut [LeafRange<'_>],
        mut write: impl FnMut(u32, &RefinedLeaf, Key, IVec3, &mut [LeafRange<'_>]),
    ) {
        let Block { voxel, key, .. } = self.blocks[record as usize];
        let slots = self.voxels[voxel as usize].slots();
        for leaf in self.leaves_of(record) {
            if leaf.gets.holds != 0 {
                let slot = slots[leaf.gets.holds.trailing_zeros() as usize];
                out[slot as usize].copy(&source.leaves, leaf.source, 1);
                continue;
            }
            let key = key << 3 | Key::from(leaf.octant);
            let low = morton::decode(key & ((1 << (3 * below)) - 1)).map(|v| (v as i32) * (UNITS >> below));
            let centre = IVec3::from_array(low) + (UNITS >> (below + 1));
            write(voxel, leaf, key, centre, out);
        }
    }
}

/// Crack surfaces through the voxels of a level above the leaves.
pub(in crate::fracture) struct RefinedCracks<V> {
    crack: Cracking,
    made: PhantomData<fn() -> V>,
}

impl<V> RefinedCracks<V> {
    pub fn new(crack: Cracking) -> Self {
        Self { crack, made: PhantomData }
    }
}

/// Data that a worker keeps from leaf to leaf.
#[derive(Default)]
pub(in crate::fracture) struct RefinedMemory<N> {
    near: N,
    /// Where the voxel lies that `near` is of; all voxels are there until the last leaf is written.
    known: Option<usize>,
    painter: Painter,
}

impl<V: Refined> Cracks for RefinedCracks<V> {
    type Records = RefinedRecords<V>;
    type Memory = RefinedMemory<V::Near>;

    fn level(&self) -> u32 {
        self.crack.words.transition
    }

    fn node(
        &self,
        place: &WalkedNode,
        list: &[Candidate],
        subtree: &mut Subtree,
        records: &mut Self::Records,
    ) {
        let Self { crack, .. } = self;
        match crack.corners(place, list) {
            Err(object) => subtree.copy(&crack.source.nodes, object, place),
            Ok(corners) => records.add(&crack.source, place, V::of(&corners, &crack.words), subtree),
        }
    }

    fn leaves(
        &self,
        records: &Self::Records,
        record: u32,
        _grown: &Subtree,
        memory: &mut Self::Memory,
        out: &mut [LeafRange<'_>],
    ) {
        let Self { crack, .. } = self;
        let RefinedMemory { near, known, painter } = memory;
        let below = crack.below();
        let bits = UNITS.trailing_zeros() - below;
        records.paint(record, &crack.volume, painter);
        records.write(&crack.source, record, below, out, |number, leaf, key, centre, out| {
            let voxel = &records.voxels[number as usize];
            let address = std::ptr::from_ref(voxel).addr();
            if known.replace(address) != Some(address) {
                voxel.remember(near);
            }
            let source = (leaf.source != INSIDE).then_some(leaf.source as usize);
            let paint = match source {
                Some(_) => 0,
                None => painter.take(),
            };
            let leaf = SharedLeaf { source, touched: leaf.touched, gets: leaf.gets, centre, bits, paint };
            voxel.copies(near, crack, &leaf, |slot, words| {
                out[slot as usize].put(LeafWords { key, ..words });
            });
        });
    }
}

/// The slots of a set of objects.
fn slots_of<V: Crossed>(voxel: &V, set: u8) -> impl Iterator<Item = u32> + '_ {
    (0..).zip(voxel.slots()).filter(move |(rank, _)| set >> rank & 1 == 1).map(|(_, slot)| *slot)
}

fn corner(octant: u32) -> IVec3 {
    IVec3::new((octant & 1) as i32, (octant >> 1 & 1) as i32, (octant >> 2) as i32)
}

/// The distinct objects of eight corners, ascending, and the rank of each corner's.
pub(in crate::fracture) fn ranks_of(objects: &[u32; 8]) -> (Vec<u32>, [u8; 8]) {
    let mut slots = objects.to_vec();
    slots.sort_unstable();
    slots.dedup();
    let ranks = objects.map(|object| slots.partition_point(|known| *known < object) as u8);
    (slots, ranks)
}
