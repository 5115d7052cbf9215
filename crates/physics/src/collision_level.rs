//! Collision levels by the scene: levels of pairs, and coarser ones far from the eye.
//!
//! The meaning of a level belongs to the generator; an octree's level has cells half as large as the level above it.

use super::Family;
use glam::DVec3;
use std::collections::BTreeMap;

/// Coarser levels far from the eye (Domaradzki & Martyn 2016, sec. 6.1).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adaptive {
    /// Up to this distance from the eye bodies keep their level; every doubling of it takes one level off, m.
    pub near: f64,
    /// At most this number of levels.
    pub most: u32,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self { near: 5.0, most: 2 }
    }
}

impl Adaptive {
    /// Number of levels by which bodies at `distance` m are coarser; `None` if a number is not usable.
    #[must_use]
    pub fn coarser(&self, distance: f64) -> u32 {
        let doublings = libm::log2(distance / self.near);
        if self.near > 0.0 && doublings > 0.0 { (doublings as u32).min(self.most) } else { 0 }
    }
}

/// Levels of pairs of objects. Pieces inherit them, as they inherit the family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairLevels(BTreeMap<(Family, Family), u32>);

impl PairLevels {
    /// Sets the level between bodies of `a` and bodies of `b`; equal families are the pieces of one object.
    pub fn set(&mut self, a: Family, b: Family, level: u32) {
        self.0.insert((a.min(b), a.max(b)), level);
    }

    /// Takes a level back.
    pub fn clear(&mut self, a: Family, b: Family) {
        self.0.remove(&(a.min(b), a.max(b)));
    }

    /// The level of a pair.
    #[must_use]
    pub fn get(&self, a: Family, b: Family) -> Option<u32> {
        self.0.get(&(a.min(b), a.max(b))).copied()
    }

    /// Whether no pair has one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All levels of pairs.
    pub fn all(&self) -> impl Iterator<Item = (Family, Family, u32)> {
        self.0.iter().map(|((a, b), level)| (*a, *b, *level))
    }

    /// All levels of pairs of which one belongs to `family`.
    pub fn of(&self, family: Family) -> impl Iterator<Item = u32> {
        let given = self.0.iter().filter(move |((a, b), _)| *a == family || *b == family);
        given.map(|(_, level)| *level)
    }
}

/// Collision levels in one step.
#[derive(Clone, Copy, Debug)]
pub struct LevelOfDetail<'a> {
    /// Levels of pairs.
    pub pairs: &'a PairLevels,
    /// Position of the eye, m, and how much coarser bodies far from it are; `None`: all keep their levels.
    pub far: Option<(DVec3, Adaptive)>,
}

impl LevelOfDetail<'_> {
    /// Levels to take off `body`, for its distance from the eye.
    #[must_use]
    pub fn coarser(&self, body: &super::Body) -> u32 {
        self.far.map_or(0, |(eye, adaptive)| {
            adaptive.coarser(body.state.position.distance(eye) - body.def.radius())
        })
    }
}
