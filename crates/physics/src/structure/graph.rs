//! Parts and bonds.

use std::sync::{Arc, OnceLock};

use glam::DVec3;

use super::{
    standing::{Kept, Standing},
    strength::Strength,
};
use crate::{fracture::CrackSection, geometry::UnionFind, shape::Shape};

/// A part of a structure. Lengths in the shape space of the body, m.
#[derive(Clone, Debug)]
pub struct StructurePart {
    /// Its number among the parts of the break.
    pub number: u32,
    /// Its shape, in the space of the whole.
    pub shape: Arc<Shape>,
    /// The point that stands for it: the seed of its cell, where it has one.
    pub node: DVec3,
    /// Whether it cannot move.
    pub anchored: bool,
}

/// A bond: what holds two parts together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// Indices of its parts in [`Structure::parts`].
    pub ends: [u32; 2],
    /// The crack that it holds closed.
    pub section: CrackSection,
    /// Its strength as a share of the material's, from scatter, grain and the user.
    pub share: f64,
    /// How much of that has gone, 0 to 1; at 1 it has failed.
    pub damage: f64,
}

/// Parts that bonds hold together.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The shape that was cracked into the parts, which is needed to make one shape of some of them.
    pub whole: Arc<Shape>,
    /// The parts, by ascending number.
    pub parts: Vec<StructurePart>,
    /// The bonds, those that have failed too, by ascending numbers of their parts.
    pub bonds: Vec<Bond>,
    /// Their strength.
    pub strength: Strength,
    /// What stays from step to step, once it was needed.
    pub(super) standing: OnceLock<Arc<Standing>>,
    /// The same of a structure of the same parts and springs.
    pub(super) kept: Option<Kept>,
}

/// Sections with less than this share of the mean area hold nothing: cells that meet in a corner.
const LEAST_AREA: f64 = 1e-3;

impl Structure {
    /// A structure of these parts and cracks; the cracks name parts by number. Cracks that are far smaller than the mean
    /// hold nothing.
    #[must_use]
    pub fn new(
        whole: &Arc<Shape>,
        mut parts: Vec<StructurePart>,
        sections: &[CrackSection],
        strength: Strength,
    ) -> Self {
        parts.sort_by_key(|part| part.number);
        let index = |number: u32| parts.binary_search_by_key(&number, |part| part.number).ok();
        let mean = sections.iter().map(|s| s.area).sum::<f64>() / sections.len().max(1) as f64;
        let bond = |section: &CrackSection| {
            let [a, b] = section.parts.map(index);
            let share = strength.share(section.parts, section.normal);
            (section.area > LEAST_AREA * mean).then_some(Bond {
                ends: [a? as u32, b? as u32],
                section: *section,
                share,
                damage: 0.0,
            })
        };
        let mut bonds: Vec<Bond> = sections.iter().filter_map(bond).collect();
        bonds.sort_by_key(|bond| bond.ends);
        Self { whole: Arc::clone(whole), parts, bonds, strength, standing: OnceLock::new(), kept: None }
    }

    /// The same after bonds were changed by `change`.
    #[must_use]
    pub fn changed(&self, change: impl FnOnce(&mut Vec<Bond>)) -> Self {
        let mut bonds = self.bonds.clone();
        change(&mut bonds);
        let (whole, parts) = (Arc::clone(&self.whole), self.parts.clone());
        let kept = self.standing.get().map(|standing| standing.kept()).or_else(|| self.kept.clone());
        Self { whole, parts, bonds, strength: self.strength, standing: OnceLock::new(), kept }
    }

    pub(super) fn standing(&self) -> &Arc<Standing> {
        self.standing.get_or_init(|| Arc::new(Standing::new(self, self.kept.as_ref())))
    }

    /// The same with bonds of another strength; their damage stays.
    #[must_use]
    pub fn with_strength(&self, strength: Strength) -> Self {
        let changed = self.changed(|bonds| {
            for bond in bonds {
                bond.share = strength.share(bond.section.parts, bond.section.normal);
            }
        });
        let kept = changed.kept.filter(|_| strength.stiffness == self.strength.stiffness);
        Self { strength, kept, ..changed }
    }

    /// Whether any part cannot move.
    #[must_use]
    pub fn is_anchored(&self) -> bool {
        self.parts.iter().any(|part| part.anchored)
    }

    /// The sets of parts (indices, ascending) that bonds which have not failed connect, by ascending first part.
    #[must_use]
    pub fn components(&self) -> Vec<Vec<u32>> {
        let alive = self.bonds.iter().map(|bond| bond.damage < 1.0).collect::<Vec<_>>();
        let of = component_of(self, &alive);
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for (part, set) in of.into_iter().enumerate() {
            if set as usize == sets.len() {
                sets.push(Vec::new());
            }
            sets[set as usize].push(part as u32);
        }
        sets
    }

    /// The structure of some of its parts (indices, ascending), with the bonds among them.
    #[must_use]
    pub fn of_parts(&self, some: &[u32]) -> Self {
        let parts = some.iter().map(|part| self.parts[*part as usize].clone()).collect();
        let within = |bond: &Bond| {
            let [a, b] = bond.ends.map(|end| some.binary_search(&end).ok());
            Some(Bond { ends: [a? as u32, b? as u32], ..*bond })
        };
        let bonds = self.bonds.iter().filter_map(within).collect();
        Self {
            whole: Arc::clone(&self.whole),
            parts,
            bonds,
            strength: self.strength,
            standing: OnceLock::new(),
            kept: None,
        }
    }

    /// The part (an index) that a point of shape space belongs to: of the nearest node, and of several parts of one cell
    /// the one with the nearest centre.
    #[must_use]
    pub fn part_at(&self, point: DVec3) -> Option<u32> {
        let nodes = &self.standing().base.nodes;
        let mut best = (f64::INFINITY, None);
        for (part, node) in nodes.iter().enumerate() {
            let distance = node.distance_squared(point);
            let centre = |part: usize| self.parts[part].shape.mass().centre.distance_squared(point);
            let is_nearer = distance < best.0
                || (distance == best.0 && best.1.is_some_and(|best| centre(part) < centre(best)));
            if is_nearer {
                best = (distance, Some(part));
            }
        }
        best.1.map(|part| part as u32)
    }

    /// The same after a blow at `point` (shape space) that puts `energy` (J) into the bonds within `radius` (m), most near
    /// the point: a bond fails once as much has gone into it as its new crack takes. `None` if no bond is near.
    #[must_use]
    pub fn weakened(&self, point: DVec3, radius: f64, energy: f64) -> Option<Self> {
        let near = |bond: &Bond| match bond.damage < 1.0 {
            true => (1.0 - bond.section.centre.distance(point) / radius).max(0.0),
            false => 0.0,
        };
        let whole: f64 = self.bonds.iter().map(|bond| near(bond) * bond.section.area).sum();
        if !(whole > 0.0 && energy > 0.0) {
            return None;
        }
        let toughness = self.strength.toughness;
        Some(self.changed(|bonds| {
            for bond in bonds {
                let own = energy * near(bond) / whole;
                if own > 0.0 {
                    bond.damage = (bond.damage + own / (toughness * bond.share).max(1e-300)).min(1.0);
                }
            }
        }))
    }
}

/// Per part the number of its component, in the order of the components' first parts. Only bonds that are `alive` count.
pub(super) fn component_of(structure: &Structure, alive: &[bool]) -> Vec<u32> {
    let mut sets = UnionFind::new(structure.parts.len());
    for (bond, _) in structure.bonds.iter().zip(alive).filter(|(_, alive)| **alive) {
        sets.join(bond.ends[0], bond.ends[1]);
    }
    let mut number = vec![u32::MAX; structure.parts.len()];
    let mut count = 0;
    let of = |part: u32| {
        // A root is the lowest part of its set, so it comes first.
        let root = sets.find(part) as usize;
        if number[root] == u32::MAX {
            number[root] = count;
            count += 1;
        }
        number[root]
    };
    (0..structure.parts.len() as u32).map(of).collect()
}
