//! Octree levels at which bodies collide.
//!
//! In: bodies, the scene's levels for pairs, the eye's position. Out: a level for each body against planes, and two for
//! each pair, with cells of about equal size. A body has a level of its own; a pair may have another; bodies far from
//! the eye may be coarser (Domaradzki & Martyn 2016, sec. 6.1). In the paper small pieces vanish at coarse levels,
//! since they have no volume left: here a pair is refined until both have a shape.

use super::cell_size;
use crate::{Body, LevelOfDetail, shape::GridMass};

/// A body has a shape at a level if its thickness is at least this number of cells: in a thinner body a cell may
/// contain both faces, and a cube of slightly more than one cell fell through a slab. Slightly less than two, for the
/// rounding of moments.
const SHAPE_CELLS: f64 = 1.998;

/// The levels of one step.
pub struct Levels<'a> {
    bodies: &'a [Body],
    detail: LevelOfDetail<'a>,
    /// By body: as it says, coarser far from the eye.
    own: Vec<u32>,
    /// The coarsest at which it has a shape.
    shape: Vec<u32>,
    /// Sizes of its cells.
    cells: Vec<Cells>,
}

/// How large the cells of a body are, m: there are more pairs to ask than bodies.
struct Cells {
    /// Level of its leaves.
    leaf: u32,
    /// At the level that it says, at the coarsest at which it has a shape, and of its leaves.
    own: f64,
    shape: f64,
    finest: f64,
}

impl<'a> Levels<'a> {
    /// The levels of `bodies` now.
    #[must_use]
    pub fn new(bodies: &'a [Body], detail: LevelOfDetail<'a>) -> Self {
        let own = |body: &Body| body.def.collision_level().saturating_sub(detail.coarser(body)).max(1);
        let shape = |body: &Body| shape_level(&body.def.octree().mass, body.def.octree().forest.level);
        let own: Vec<u32> = bodies.iter().map(own).collect();
        let shape: Vec<u32> = bodies.iter().map(shape).collect();
        let cells = bodies.iter().zip(own.iter().zip(&shape)).map(|(body, (own, shape))| {
            let leaf = body.def.octree().forest.level;
            let size = |level: u32| cell_size(body, level);
            Cells { leaf, own: size((*own).clamp(1, leaf.max(1))), shape: size(*shape), finest: size(leaf) }
        });
        Self { bodies, detail, cells: cells.collect(), own, shape }
    }

    /// As the body says, coarser far from the eye.
    #[must_use]
    pub fn chosen(&self, i: usize) -> u32 {
        self.own[i]
    }

    /// The coarsest at which body `i` has a shape.
    #[must_use]
    pub fn shape(&self, i: usize) -> u32 {
        self.shape[i]
    }

    /// Level at which body `i` collides with planes.
    #[must_use]
    pub fn own(&self, i: usize) -> u32 {
        self.own[i].max(self.shape[i])
    }

    /// The coarsest level at which body `i` may collide with anything: its cells extend the bounds.
    #[must_use]
    pub fn coarsest(&self, i: usize) -> u32 {
        let given = self.detail.pairs.of(self.bodies[i].def.family);
        given.fold(self.own[i], u32::min).max(1)
    }

    /// The levels at which bodies `i` and `j` collide: those whose cells are closest in size to the coarser one's,
    /// refined until both have a shape, as far as both have leaves.
    #[must_use]
    pub fn pair(&self, i: usize, j: usize) -> [u32; 2] {
        let sides = [i, j].map(|k| &self.cells[k]);
        let given = match self.detail.pairs.is_empty() {
            true => None,
            false => self.detail.pairs.get(self.bodies[i].def.family, self.bodies[j].def.family),
        };
        let wanted = match given {
            None => sides.map(|cells| cells.own),
            Some(level) => {
                [i, j].map(|k| cell_size(&self.bodies[k], level.clamp(1, self.cells[k].leaf.max(1))))
            }
        };
        let [a, b] = sides;
        let cell = wanted[0].max(wanted[1]).min(a.shape).min(b.shape).max(a.finest).max(b.finest);
        sides.map(|cells| cells.leaf.saturating_sub(doublings(cell / cells.finest)).max(1))
    }
}

/// The power of two nearest to a ratio, by factors; 0 of what is smaller than one, 31 at most.
fn doublings(ratio: f64) -> u32 {
    // Half a power is the root of two: the exponent of the square shows on which side of it the ratio is.
    let square = ratio * ratio;
    let exponent = (square.to_bits() >> 52) as i32 - 1023;
    ((exponent + 1) >> 1).clamp(0, 31) as u32
}

/// The coarsest level of a tree with leaves at `leaf_level` at which the body has a shape; the leaf level if none has.
#[must_use]
pub fn shape_level(mass: &GridMass, leaf_level: u32) -> u32 {
    let mut level = leaf_level.max(1);
    while level > 1 && mass.thickness >= SHAPE_CELLS * f64::from(1u32 << (leaf_level + 1 - level).min(31)) {
        level -= 1;
    }
    level
}

#[cfg(test)]
mod tests {
    #[test]
    fn powers_of_two_are_counted_as_logarithms_say() {
        for k in 0..20_000 {
            let ratio = 0.05 * 1.0015f64.powi(k);
            let want = libm::log2(ratio).round().clamp(0.0, 31.0) as u32;
            assert_eq!(super::doublings(ratio), want, "{ratio}");
        }
        for up in 0..=31u32 {
            assert_eq!(super::doublings(f64::from(2.0f32.powi(up as i32))), up);
        }
    }

    use super::*;
    use crate::shape::{box_thickness, grid_mass};
    use crate::{
        Adaptive, Family, PairLevels, World, WorldSettings,
        collide::octree::OctreePair,
        testing::{block, body, by_octrees, grid, join, world},
    };
    use glam::{DMat3, DVec3};
    use std::sync::Arc;

    fn thickness(mass: &GridMass) -> f64 {
        box_thickness(mass.volume, &mass.inertia)
    }

    fn near(pairs: &PairLevels) -> LevelOfDetail<'_> {
        LevelOfDetail { pairs, far: None }
    }

    #[test]
    fn the_thickness_of_a_box_is_its_shortest_edge() {
        for (size, want) in [([20, 4, 9], 4.0), ([1, 1, 1], 1.0), ([7, 7, 7], 7.0), ([30, 2, 2], 2.0)] {
            let forest = block(5, [1; 3], size.map(|s| s + 1));
            let got = thickness(&grid_mass(&forest, 0));
            assert!((got - want).abs() < 1e-4, "{size:?}: {got}");
        }
        assert_eq!(thickness(&GridMass::default()), 0.0);
        // Turned by a rotation, it stays.
        let mut mass = grid_mass(&block(5, [1; 3], [21, 5, 10]), 0);
        let turn = DMat3::from_quat(glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -2.0));
        mass.inertia = turn * mass.inertia * turn.transpose();
        assert!((thickness(&mass) - 4.0).abs() < 1e-4);
    }

    #[test]
    fn a_piece_keeps_a_shape() {
        let of = |size: u32| shape_level(&grid_mass(&block(6, [0; 3], [size; 3]), 0), 6);
        assert_eq!([of(1), of(2), of(3), of(4), of(32)], [6, 6, 6, 5, 2]);
        assert_eq!(shape_level(&GridMass::default(), 6), 6, "nothing has no coarser shape");
    }

    /// A slab, and a crumb of `crumb` voxels' edge over its middle.
    fn crumb_over_slab(crumb: u32, physics_level: u32, lift: f64) -> World {
        let slab = block(6, [4, 8, 4], [60, 24, 60]);
        let piece = block(6, [30, 24, 30], [30 + crumb, 24 + crumb, 30 + crumb]);
        let forest = Arc::new(join(&[slab, piece]));
        let mut w = by_octrees(world(WorldSettings { floor: None, ..WorldSettings::default() }));
        let mut slab = body(&forest, 0, grid(6, 0.64), physics_level, DVec3::ZERO);
        slab.fixed = true;
        w.add(slab);
        let mut piece = body(&forest, 1, grid(6, 0.64), physics_level, DVec3::Y * lift);
        // Another object, so that nothing is forgiven at birth.
        piece.family = Family::unique();
        w.add(piece);
        w
    }

    #[test]
    fn a_crumb_collides_where_it_has_a_shape() {
        for (crumb, level, want) in [(1, 3, 6), (2, 3, 6), (3, 4, 6), (4, 4, 5), (10, 3, 4), (16, 3, 3)] {
            let w = crumb_over_slab(crumb, level, 0.02);
            let none = PairLevels::default();
            let levels = Levels::new(&w.bodies, near(&none));
            assert_eq!(levels.pair(0, 1), [want; 2], "crumb of {crumb}, level {level}");
            assert_eq!((levels.own(0), levels.own(1)), (level, want.max(level)));
        }
    }

    #[test]
    fn crumbs_land_on_a_coarse_slab() {
        for crumb in [2, 3, 4, 6] {
            let mut w = crumb_over_slab(crumb, 3, 0.02);
            let start = w.bodies[1].state.position.y;
            for _ in 0..100 {
                w.step_on_cpu();
            }
            let fallen = start - w.bodies[1].state.position.y;
            println!("crumb of {crumb} voxels a side: fell {:.1} mm of 20 mm", fallen * 1e3);
            // It lies on the slab: no deeper than half a cell of the level at which they meet, 10 or 20 mm.
            assert!(fallen > 0.018 && fallen < 0.03, "{fallen}");
        }
    }

    #[test]
    fn a_pair_obeys_its_own_level_and_no_other_does() {
        let mut w = crumb_over_slab(16, 5, 0.02);
        let other = body(&w.bodies[1].def.octree().forest.clone(), 1, grid(6, 0.64), 5, DVec3::Y);
        w.add(BodyDefWithFamily(other).unique());
        let (slab, piece) = (w.bodies[0].def.family, w.bodies[1].def.family);
        let mut pairs = PairLevels::default();
        pairs.set(piece, slab, 3);
        let levels = Levels::new(&w.bodies, near(&pairs));
        assert_eq!((levels.pair(0, 1), levels.pair(0, 2)), ([3; 2], [5; 2]));
        assert_eq!((levels.coarsest(1), levels.own(1)), (3, 5));
        pairs.set(slab, piece, 9);
        assert_eq!(Levels::new(&w.bodies, near(&pairs)).pair(0, 1), [6; 2], "no finer than the leaves");
        pairs.clear(piece, slab);
        assert_eq!(Levels::new(&w.bodies, near(&pairs)).pair(0, 1), [5; 2]);
    }

    struct BodyDefWithFamily(crate::BodyDef);

    impl BodyDefWithFamily {
        fn unique(self) -> crate::BodyDef {
            crate::BodyDef { family: Family::unique(), ..self.0 }
        }
    }

    #[test]
    fn far_bodies_are_coarser_and_only_then() {
        let w = crumb_over_slab(20, 5, 0.02);
        let none = PairLevels::default();
        let at = |distance: f64, most: u32| {
            let eye = w.bodies[0].state.position + DVec3::X * (distance + w.bodies[0].def.radius());
            let far = Some((eye, Adaptive { near: 2.0, most }));
            Levels::new(&w.bodies, LevelOfDetail { pairs: &none, far }).own(0)
        };
        assert_eq!([at(1.9, 3), at(3.9, 3), at(4.1, 3), at(8.1, 3), at(100.0, 3)], [5, 5, 4, 3, 3]);
        assert_eq!((at(100.0, 1), at(100.0, 0), at(1e300, 9)), (4, 5, 3), "3 is where the slab has a shape");
        for bad in [f64::NAN, 0.0, -1.0] {
            assert_eq!(Adaptive { near: bad, most: 3 }.coarser(10.0), 0);
        }
        assert_eq!(Adaptive::default().coarser(f64::NAN), 0);
    }

    #[test]
    fn unlike_grids_meet_at_like_cells() {
        let fine = Arc::new(block(6, [4; 3], [60; 3]));
        let coarse = Arc::new(block(4, [2; 3], [14; 3]));
        let mut w = by_octrees(world(WorldSettings::default()));
        w.add(body(&fine, 0, grid(6, 1.0), 6, DVec3::ZERO));
        w.add(body(&coarse, 0, grid(4, 1.0), 4, DVec3::X));
        let none = PairLevels::default();
        assert_eq!(Levels::new(&w.bodies, near(&none)).pair(0, 1), [4, 4]);
        assert_eq!(OctreePair::new(&w.bodies, 0, 1, 0.01).levels, [4, 4]);
    }
}
