//! Internals of one fracture, read back for display.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::DVec3;

#[cfg(feature = "papers")]
use super::Fields;
use super::{LabelSteps, Maker, Part, Placing, Reads};
use crate::{
    fracture::{
        Fracture, FractureError, Fracturer, Pattern, Recipe, Source, Surface,
        crack::{CrackUniform, TransitionVoxel},
        dust::{DustVoxel, voxel::split},
    },
    svo::Forest,
};

/// Parameters of a fracture whose internals are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// Seeds.
    pub pattern: Pattern,
    /// The recipe.
    pub recipe: Recipe,
    /// Point of the blow, voxels.
    pub impact: DVec3,
    /// Radii of the seeds' spheres, voxels; empty if the pattern has no spheres.
    pub spheres: Vec<f64>,
    /// Radius within which cells separate, voxels; `None`: everywhere.
    pub local: Option<f64>,
}

/// Data to read back beside the result of the fracture and its crack surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The published labelling: whether without flattening, and up to which iteration; `None`: to the end.
    pub labels: Option<(bool, Option<u32>)>,
    /// Distance field and sphere trees: the octree level of the field's cells.
    pub fields: Option<u32>,
}

impl Reading {
    /// The data for `parts`, with field cells of that level.
    #[must_use]
    pub fn of(parts: &[Part], field_level: u32) -> Self {
        let steps = |part: &Part| match (part.maker, part.number) {
            // The union-find's islands are read back with the fracture.
            (Maker::Labels, None) => None,
            (maker, at) => (maker.reads == Reads::Labels).then_some((maker == Maker::Flood, at)),
        };
        let has_fields = parts.iter().any(|part| part.maker.reads == Reads::Fields);
        Self { labels: parts.iter().find_map(steps), fields: has_fields.then_some(field_level) }
    }
}

/// The data read back.
pub struct Inside {
    /// The parameters.
    pub blueprint: Blueprint,
    /// The broken octree's forest.
    pub forest: Arc<Forest>,
    /// The broken tree.
    pub tree: u32,
    /// The fracture.
    pub fracture: Fracture,
    /// Level of the crack surfaces; `None` if they are planar.
    pub transition: Option<u32>,
    /// Crossed voxels of that level, in Morton order; empty at the leaf level, whose voxels are computed one by one and
    /// not stored.
    pub voxels: Vec<TransitionVoxel>,
    /// The crossed voxels of dusty surfaces.
    pub dusty: Vec<DustVoxel>,
    /// The published labelling of the pieces, if it was requested.
    pub steps: Option<LabelSteps>,
    /// Distance field and sphere trees, where they were asked for.
    #[cfg(feature = "papers")]
    pub fields: Option<Fields>,
}

impl Inside {
    /// Breaks `source` (unless `fracture` is its result) and reads the chosen data back.
    ///
    /// # Errors
    /// See [`Fracturer::fracture`].
    pub fn read(
        fracturer: &Fracturer,
        source: &Source<'_>,
        blueprint: Blueprint,
        fracture: Option<Fracture>,
        reading: Reading,
    ) -> Result<Self, FractureError> {
        let Blueprint { pattern, recipe, .. } = &blueprint;
        let level = source.forest.level;
        let fracture = match fracture {
            Some(fracture) => fracture,
            None => fracturer.fracture(source, pattern, recipe)?,
        };
        let (mut transition, mut voxels, mut dusty) = (None, Vec::new(), Vec::new());
        if recipe.surface != Surface::Planar {
            let at = recipe.crack.transition(level, recipe.surface)?;
            transition = Some(at);
            voxels = fracturer.transition_voxels(source, pattern, recipe)?;
            if recipe.surface == Surface::Dusty {
                let words = CrackUniform::new(&recipe.crack, recipe.rng, at).with_gap(&recipe.crack, level);
                dusty = voxels.iter().map(|voxel| split(voxel, &words)).collect();
            }
        }
        let steps = match reading.labels {
            Some((flood, at)) => Some(LabelSteps::compute(fracturer, &fracture, flood, at)?),
            None => None,
        };
        let (forest, tree) = (Arc::clone(source.forest), source.tree);
        #[cfg(feature = "papers")]
        let fields = reading.fields.and_then(|level| Fields::new(&forest, tree, &fracture, level));
        Ok(Self {
            blueprint,
            forest,
            tree,
            fracture,
            transition,
            voxels,
            dusty,
            steps,
            #[cfg(feature = "papers")]
            fields,
        })
    }

    /// Bounds of the tree's boundary voxels, voxels.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        crate::shape::grid_mass(&self.forest, self.tree as usize).bounds
    }

    /// The largest piece of an object, by object id.
    pub(super) fn piece_of(&self, object: u32) -> Option<usize> {
        let own = self.fracture.pieces.iter().position(|piece| piece.cell == object);
        let merged = || self.fracture.merges.iter().find(|m| m.cells.contains(&object)).map(|m| m.piece);
        own.or_else(merged)
    }

    /// Piece of every tree of the fracture's forest.
    pub(super) fn piece_of_tree(&self) -> Vec<Option<usize>> {
        let mut pieces = vec![None; self.fracture.forest.trees()];
        for (i, piece) in self.fracture.pieces.iter().enumerate() {
            if let Some(slot) = pieces.get_mut(piece.tree as usize) {
                *slot = Some(i);
            }
        }
        pieces
    }

    /// How far an object is drawn from its place, m; zero if the placing has no offsets.
    pub(super) fn offset_of(&self, placing: &Placing, object: u32) -> glam::Vec3 {
        if placing.offsets.is_empty() {
            return glam::Vec3::ZERO;
        }
        let offset = self.piece_of(object).and_then(|piece| placing.offsets.get(piece));
        offset.copied().unwrap_or(glam::Vec3::ZERO)
    }
}
