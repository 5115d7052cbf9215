//! Dusty surfaces on the processor's cores: what the passes of `rough/pass.rs` do with the kernels of `dusty/`.

use glam::IVec3;

use super::fans::Fans;
use crate::{
    fracture::voronoi::{
        descent::native::LeafWords,
        octrees::NO_LEAF,
        surface::{
            leaf_voxels::LeafVoxels,
            plane::{Plane, cut_offset},
            refine::{Refined, RefinedCracks, SharedLeaf},
            rough::{
                CrackUniform,
                facets::{NearTriangle, ROUNDING},
                points::{Corners, Cracking},
            },
        },
    },
    geometry::set_bits,
};

/// Borders through the voxels of a level above the leaves.
pub(in crate::fracture) type DustyCracks = RefinedCracks<Fans>;

/// The triangles of one voxel.
pub(in crate::fracture) struct Borders {
    triangles: [NearTriangle; 24],
}

impl Default for Borders {
    fn default() -> Self {
        Self { triangles: [NearTriangle::NONE; 24] }
    }
}

impl Borders {
    fn fill(&mut self, fans: &Fans) {
        for t in set_bits(fans.all) {
            self.triangles[t as usize] = NearTriangle::new(fans.triangle(t as usize));
        }
    }

    /// The plane of the nearest triangle of a set, the first of equally near ones.
    fn nearest(&self, set: u32, centre: IVec3, bits: u32) -> Plane {
        let mut found = Plane::UP;
        let mut nearest = u32::MAX;
        let is_single = set.is_power_of_two();
        for t in set_bits(set) {
            let triangle = &self.triangles[t as usize];
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
    fn copies(&self, crack: &Cracking, fans: &Fans, leaf: &SharedLeaf, put: &mut dyn FnMut(u32, LeafWords)) {
        let SharedLeaf { source, touched, gets, centre, bits, paint } = *leaf;
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

impl Refined for Fans {
    type Near = Borders;

    fn of(corners: &Corners, words: &CrackUniform) -> Self {
        Self::new(corners, words)
    }

    fn remember(&self, borders: &mut Borders) {
        borders.fill(self);
    }

    fn copies(
        &self,
        borders: &Borders,
        crack: &Cracking,
        leaf: &SharedLeaf,
        mut put: impl FnMut(u32, LeafWords),
    ) {
        borders.copies(crack, self, leaf, &mut put);
    }
}

/// Borders through the leaves.
pub(in crate::fracture) type DustyLeaves = LeafVoxels<Fans>;
