//! One case: a shape, a pattern and a recipe, as a value that can be drawn at random, made smaller, and
//! written on one line.

use std::sync::Arc;

use glam::DVec3;
use kintsugi::{
    fracture::{
        Fracture, FractureParams, Labelling, Pattern, PatternError, Preset, Recipe, Surface,
        crack::{CrackNoise, CrackShape, Displacement, Dusty, Offset, Sides},
    },
    shape::grid_mass,
    svo::Forest,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    bed::Bench,
    checks::{Figures, examine},
    shapes::{SIX, Shape},
};

/// Everything that decides a fracture; fractions in whole percent, so that a case shrinks to a plain one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub shape: Shape,
    pub level: u32,
    /// Where it is hit: percent of the object's bounds.
    pub impact: [u8; 3],
    pub preset: Preset,
    pub seeds: u32,
    pub rng: u64,
    /// Cells of seeds farther than this percent of the longest side stay together; all break where that would
    /// leave none to break off.
    pub local: Option<u8>,
    /// Levels above the leaves at which islands are told apart.
    pub island: Option<u32>,
    pub labelling: Labelling,
    pub surface: Surface,
    pub crack: Crack,
}

/// Crack surfaces, where they are rough or dusty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crack {
    /// Levels above the leaves at which they are made.
    pub above: u32,
    pub offset: Offset,
    pub sides: Sides,
    pub strength: u8,
    pub amplitude: u8,
    pub frequency: u32,
    pub octaves: u32,
    /// Of face and voxel points, up to 50.
    pub stray: [u8; 2],
    /// Width of the gap in 1/10 leaf voxel.
    pub gap: u8,
    pub irregularity: u8,
}

fn part(percent: u8) -> f64 {
    f64::from(percent) / 100.0
}

impl Case {
    fn params(&self) -> FractureParams {
        let Crack { above, offset, sides, strength, amplitude, frequency, octaves, stray, gap, irregularity } =
            self.crack;
        let crack = CrackShape {
            transition_level: Some(self.level.saturating_sub(above).max(2)),
            offset,
            strength: part(strength),
            noise: CrackNoise { amplitude: part(amplitude), frequency, octaves },
            displacement: Displacement { face: part(stray[0]), voxel: part(stray[1]) },
            sides,
            dusty: Dusty { width: f64::from(gap) / 10.0, irregularity: part(irregularity) },
        };
        FractureParams {
            seeds: self.seeds,
            preset: self.preset,
            rng: self.rng,
            local: self.local.map(part),
            island_level: self.island.map(|above| self.level.saturating_sub(above).max(1)),
            labelling: self.labelling,
            surface: self.surface,
            crack,
            ..FractureParams::default()
        }
    }

    /// Pattern and recipe for one tree.
    pub fn parts(&self, forest: &Forest, tree: u32) -> (Pattern, Recipe) {
        let params = self.params();
        let bounds = grid_mass(forest, tree as usize).bounds;
        let point = bounds.low + DVec3::from_array(self.impact.map(part)) * bounds.size();
        let drawn = |params: &FractureParams| -> Result<Pattern, PatternError> {
            Pattern::near_object(params, point, bounds, forest, tree)
        };
        let pattern = drawn(&params).or_else(|_| drawn(&FractureParams { local: None, ..params.clone() }));
        (pattern.expect("good parameters"), params.recipe())
    }

    /// Breaks the shape and runs every check.
    ///
    /// # Errors
    /// What every failed check found.
    pub fn examine(&self, bench: &Bench) -> Result<(Figures, Option<Fracture>), String> {
        let forest = self.shape.octree(self.level);
        self.examine_tree(bench, &forest, 0)
    }

    /// The same on one tree of any forest; the shape is left aside.
    pub fn examine_tree(
        &self,
        bench: &Bench,
        forest: &Arc<Forest>,
        tree: u32,
    ) -> Result<(Figures, Option<Fracture>), String> {
        let (pattern, recipe) = self.parts(forest, tree);
        examine(bench, (forest, tree), &pattern, &recipe)
    }

    /// How to run this case again, on one line.
    pub fn recipe_line(&self) -> String {
        let json = serde_json::to_string(self).expect("a case is plain data");
        format!(
            "KINTSUGI_CASE='{json}' cargo test --release --test fracture the_case_that_is_named -- --nocapture"
        )
    }
}

impl Default for Crack {
    fn default() -> Self {
        Self {
            above: 3,
            offset: Offset::Plane,
            sides: Sides::Cone,
            strength: 100,
            amplitude: 60,
            frequency: 48,
            octaves: 2,
            stray: [15, 15],
            gap: 15,
            irregularity: 50,
        }
    }
}

/// A plain case on one of the six shapes.
pub fn plain(name: &str, level: u32, surface: Surface, seeds: u32, rng: u64) -> Case {
    Case {
        shape: Shape::Named(name.into()),
        level,
        impact: [50, 60, 95],
        preset: Preset::Spheres,
        seeds,
        rng,
        local: None,
        island: None,
        labelling: Labelling::UnionFind,
        surface,
        crack: Crack::default(),
    }
}

/// The pattern of a plain case for one tree.
pub fn plain_pattern(forest: &Forest, tree: u32, seeds: u32, rng: u64) -> Pattern {
    plain("vase", forest.level, Surface::Planar, seeds, rng).parts(forest, tree).0
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let boxes = prop::collection::vec((prop::array::uniform3(2u8..50), prop::array::uniform3(1u8..40)), 1..6)
        .prop_map(|all| {
            Shape::Boxes(all.iter().map(|(a, b)| [a[0], a[1], a[2], b[0], b[1], b[2]]).collect())
        });
    let balls = prop::collection::vec((prop::array::uniform3(8u8..56), 2u8..20), 1..5)
        .prop_map(|all| Shape::Balls(all.iter().map(|(a, r)| [a[0], a[1], a[2], *r]).collect()));
    prop_oneof![
        2 => (5u32..60, 0u64..1_000_000).prop_map(|(percent, rng)| Shape::Fill { percent, rng }),
        2 => boxes,
        2 => balls,
        1 => (1i32..4, 1i32..4).prop_map(|(width, gap)| Shape::Teeth { width, gap }),
        1 => (1i32..4, 4i32..20).prop_map(|(thickness, period)| Shape::Sheet { thickness, period }),
        4 => prop::sample::select(SIX.to_vec()).prop_map(|name| Shape::Named(name.into())),
    ]
}

/// Every pattern but chips, which are drawn at the cracks of a piece.
fn patterns() -> Vec<Preset> {
    Preset::ALL.into_iter().filter(|preset| *preset != Preset::Chips).collect()
}

fn any_crack(level: u32) -> impl Strategy<Value = Crack> {
    // The reference makes every crack voxel by itself: at fine levels those of the leaf level are too many.
    let finest = level.saturating_sub(6);
    let offset = prop_oneof![Just(Offset::Plane), Just(Offset::Balance)];
    let sides = prop_oneof![7 => Just(Sides::Cone), 1 => Just(Sides::Votes)];
    (
        (finest..level - 1, offset, sides, 0u8..=100, 0u8..=100),
        (1u32..200, 1u32..=5, prop::array::uniform2(0u8..=50), 0u8..=60, 0u8..=100),
    )
        .prop_map(|(a, b)| Crack {
            above: a.0,
            offset: a.1,
            sides: a.2,
            strength: a.3,
            amplitude: a.4,
            frequency: b.0,
            octaves: b.1,
            stray: b.2,
            gap: b.3,
            irregularity: b.4,
        })
}

/// Any case at a level.
pub fn any_case(level: u32) -> impl Strategy<Value = Case> {
    let labelling = prop_oneof![3 => Just(Labelling::UnionFind), 1 => Just(Labelling::Iterative)];
    let surface = prop_oneof![Just(Surface::Planar), Just(Surface::Rough), Just(Surface::Dusty)];
    let island = prop_oneof![3 => Just(None), 1 => (0..level).prop_map(Some)];
    let local = prop_oneof![2 => Just(None), 1 => (5u8..80).prop_map(Some)];
    (
        (any_shape(), prop::array::uniform3(0u8..=100), prop::sample::select(patterns())),
        (1u32..=60, any::<u64>(), local, island, labelling, surface, any_crack(level)),
    )
        .prop_map(move |(a, b)| Case {
            shape: a.0,
            level,
            impact: a.1,
            preset: a.2,
            seeds: b.0,
            rng: b.1,
            local: b.2,
            island: b.3,
            labelling: b.4,
            surface: b.5,
            crack: b.6,
        })
}
