//! Dusty surfaces on the processor's cores: what the passes of `rough/pass.rs` do with the kernels of `dusty/`.

use glam::IVec3;

use super::fans::Fans;
use crate::fracture::{
    interior::Painter,
    voronoi::{
        descent::native::{Candidate, Cracks, INSIDE, LeafRange, LeafWords, Subtree, WalkedNode},
        octrees::NO_LEAF,
        surface::{
            leaf_voxels::{LeafVoxel, LeafVoxels},
            plane::{Plane, cut_offset},
            refine::{Gets, RefinedRecords},
            rough::{
                UNITS,
                facets::{NearTriangle, ROUNDING},
                points::{Corners, Cracking},
            },
        },
    },
};

/// Borders through the voxels of a level above the leaves.
pub(in crate::fracture) struct DustyCracks(pub Cracking);

/// The triangles of one voxel.
pub(in crate::fracture) struct Borders {
    triangles: [NearTriangle; 24],
    /// Where the voxel lies whose triangles these are; all voxels are there until the last leaf is written.
    known: Option<usize>,
    painter: Painter,
}

impl Default for Borders {
    fn default() -> Self {
        Self { triangles: [NearTriangle::NONE; 24], known: None, painter: Painter::default() }
    }
}

/// A leaf whose copies are written.
struct DustyLeaf {
    source: Option<usize>,
    touched: u32,
    gets: Gets,
    centre: IVec3,
    /// Bits of its edge.
    bits: u32,
    paint: u32,
}

impl Borders {
    fn fill(&mut self, fans: &Fans) {
        let mut left = fans.all;
        while left != 0 {
            let t = left.trailing_zeros() as usize;
            left &= left - 1;
            self.triangles[t] = NearTriangle::new(fans.triangle(t));
        }
    }

    /// The plane of the nearest triangle of a set, the first of equally near ones.
    fn nearest(&self, mut set: u32, centre: IVec3, bits: u32) -> Plane {
        let mut found = Plane::UP;
        let mut nearest = u32::MAX;
        let is_single = set.is_power_of_two();
        while set != 0 {
            let triangle = &self.triangles[set.trailing_zeros() as usize];
            set &= set - 1;
            if triangle.normal == IVec3::ZERO {
                continue;
            }
            let plane = triangle.plane(centre, bits);
            if is_single {
                return plane;
            }
            // A triangle is no nearer than its plane, but for the rounding of either.
            if plane.offset.unsigned_abs() > nearest.saturating_add(ROUNDING) {
                continue;
            }
            let distance = triangle.distance(centre, bits);
            if distance < nearest {
                nearest = distance;
                found = plane;
            }
        }
        found
    }

    /// The copies of a leaf that is not one object's alone.
    fn copies(&self, crack: &Cracking, fans: &Fans, leaf: &DustyLeaf, put: &mut dyn FnMut(u32, LeafWords)) {
        let DustyLeaf { source, touched, gets, centre, bits, paint } = *leaf;
        let leaves = &crack.source.leaves;
        let code = u32::from(gets.code) << 28;
        let mut lower = 0;
        for (rank, slot) in fans.slots.iter().enumerate() {
            let own = touched & fans.borders[rank];
            if gets.takes >> rank & 1 == 1 {
                // Where the object only fills up what others leave, it shows their border from the other side.
                let plane = match own {
                    0 => self.nearest(lower, centre, bits).turned(),
                    own => self.nearest(own, centre, bits),
                };
                let words = match source {
                    Some(leaf) => {
                        let old = leaves.cuts[leaf];
                        let stays = old >> 24 != 0 && cut_offset(old) <= plane.offset;
                        LeafWords {
                            key: 0,
                            origin: leaf as u32 | code,
                            normal: leaves.normals[leaf],
                            color: leaves.colors[leaf].0,
                            cut: if stays { old } else { plane.cut_word() },
                        }
                    }
                    None => LeafWords {
                        key: 0,
                        origin: NO_LEAF | code,
                        normal: plane.normal_word(),
                        color: plane.crack_word() | paint,
                        cut: 0,
                    },
                };
                put(*slot, words);
            }
            lower |= own;
        }
    }
}

impl Cracks for DustyCracks {
    type Records = RefinedRecords<Fans>;
    type Memory = Borders;

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
            Ok(corners) => records.add(&crack.source, place, Fans::new(&corners, &crack.words), subtree),
        }
    }

    fn leaves(
        &self,
        records: &Self::Records,
        record: u32,
        _grown: &Subtree,
        memory: &mut Borders,
        out: &mut [LeafRange<'_>],
    ) {
        let Self(crack) = self;
        let below = crack.below();
        records.paint(record, &crack.volume, &mut memory.painter);
        records.write(&crack.source, record, below, out, |number, leaf, key, centre, out| {
            let fans = &records.voxels[number as usize];
            let address = std::ptr::from_ref(fans).addr();
            if memory.known != Some(address) {
                memory.fill(fans);
                memory.known = Some(address);
            }
            let source = (leaf.source != INSIDE).then_some(leaf.source as usize);
            let paint = match source {
                Some(_) => 0,
                None => memory.painter.take(),
            };
            let bits = UNITS.trailing_zeros() - below;
            let (touched, gets) = (leaf.touched, leaf.gets);
            let leaf = DustyLeaf { source, touched, gets, centre, bits, paint };
            memory.copies(crack, fans, &leaf, &mut |slot, words| {
                out[slot as usize].put(LeafWords { key, ..words });
            });
        });
    }
}

/// Borders through the leaves.
pub(in crate::fracture) type DustyLeaves = LeafVoxels<BordersOfLeaf>;

/// One leaf as a transition voxel.
#[derive(Default)]
pub(in crate::fracture) struct BordersOfLeaf(Borders);

impl LeafVoxel for BordersOfLeaf {
    fn write(
        &mut self,
        crack: &Cracking,
        corners: &Corners,
        source: Option<usize>,
        paint: u32,
        put: &mut dyn FnMut(u32, LeafWords),
    ) {
        let Self(borders) = self;
        let fans = Fans::new(corners, &crack.words);
        borders.fill(&fans);
        // Every object with a corner has a border here.
        let objects = fans.slots.len();
        let gets = Gets { takes: ((1u32 << objects) - 1) as u8, holds: 0, code: objects as u8 + 7 };
        let (centre, bits) = (IVec3::splat(UNITS / 2), UNITS.trailing_zeros());
        let leaf = DustyLeaf { source, touched: fans.all, gets, centre, bits, paint };
        borders.copies(crack, &fans, &leaf, put);
    }
}
