//! The terms of 2018, eq. 3, for every crossed edge, as arrays: with them another program computes the edge separation
//! points anew.
//!
//! In: an [`Inside`] with crossed voxels. Out: arrays and scalars, described in `docs/files.md` with the equation;
//! `tools/equation3.py` reads them.

use super::{Inside, OverlayFiles};
use crate::{
    export::ExportError,
    fracture::crack::{CrackUniform, UNITS, crossed_edges},
};

/// Crossed edges, one row each, in the order of the transition voxels and of the edges' numbers. An edge that several
/// voxels share has a row for each of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeArrays {
    /// Row of the transition voxel.
    pub voxels: Vec<i32>,
    /// Number of the edge in its voxel, 0 to 11.
    pub numbers: Vec<i32>,
    /// The low and the high end, leaf units.
    pub corners: Vec<[[i32; 3]; 2]>,
    /// Objects that own the ends.
    pub objects: Vec<[i32; 2]>,
    /// Weights of the ends, 0 to 255.
    pub weights: Vec<[i32; 2]>,
    /// The seeds nearest to the ends, 1/2^14 of the grid's side.
    pub seeds: Vec<[[i32; 3]; 2]>,
    /// Where the bisector of the seeds crosses the edge, 1/[`UNITS`] edge from the low end.
    pub crossings: Vec<i32>,
    /// The separation point, 1/[`UNITS`] edge from the low end.
    pub points: Vec<i32>,
}

impl EdgeArrays {
    /// The arrays of a fracture whose first seed, and first object, has the number `first`. Empty where no crossed voxels
    /// are kept.
    #[must_use]
    pub fn of(inside: &Inside, first: i32) -> Self {
        let mut out = Self::default();
        let Some((words, edge)) =
            words(inside).zip(inside.transition.map(|at| 1 << (inside.forest.level - at)))
        else {
            return out;
        };
        for crossed in crossed_edges(&inside.voxels, &inside.blueprint.pattern, &words) {
            out.voxels.push(crossed.voxel as i32);
            out.numbers.push(crossed.edge as i32);
            out.corners.push(crossed.corners.map(|corner| corner.map(|v| v as i32 * edge)));
            out.objects.push(crossed.objects.map(|object| object as i32 + first));
            out.weights.push(crossed.weights);
            out.seeds.push(crossed.seeds);
            out.crossings.push(crossed.crossing);
            out.points.push(crossed.point);
        }
        out
    }
}

/// The whole-number parameters of a fracture's crack surfaces; `None` if they are planar.
fn words(inside: &Inside) -> Option<CrackUniform> {
    let recipe = &inside.blueprint.recipe;
    Some(CrackUniform::new(&recipe.crack, recipe.rng, inside.transition?))
}

/// Writes the rows, and the parameters that all rows have in common.
///
/// # Errors
/// [`ExportError`] of the archive.
pub(super) fn write(files: &mut OverlayFiles<'_>) -> Result<(), ExportError> {
    let Some(words) = words(files.inside) else { return Ok(()) };
    let all = EdgeArrays::of(files.inside, files.first_seed);
    let (npz, count) = (&mut files.npz, all.points.len());
    npz.array("edge_voxel", &[count], &all.voxels)?;
    npz.array("edge_number", &[count], &all.numbers)?;
    npz.array("edge_corners", &[count, 2, 3], all.corners.as_flattened().as_flattened())?;
    npz.array("edge_objects", &[count, 2], all.objects.as_flattened())?;
    npz.array("edge_weights", &[count, 2], all.weights.as_flattened())?;
    npz.array("edge_seeds", &[count, 2, 3], all.seeds.as_flattened().as_flattened())?;
    npz.array("edge_t0", &[count], &all.crossings)?;
    npz.array("edge_t", &[count], &all.points)?;
    npz.array("crack_units", &[], &[UNITS])?;
    npz.array("crack_offset", &[], &[words.offset as i32])?;
    npz.array("crack_strength", &[], &[words.strength])?;
    npz.array("crack_amplitude", &[], &[words.amplitude])?;
    npz.array("crack_frequency", &[], &[words.frequency as i32])?;
    npz.array("crack_octaves", &[], &[words.octaves as i32])?;
    npz.array("crack_displacement", &[2], &[words.face, words.voxel])?;
    npz.array("crack_salt", &[], &[words.salt])
}
