//! Checks of a break, computed from the result alone with plain CPU code that shares nothing with the passes.
//!
//! In: a [`BrokenObject`]. Out: named checks with figures, for the report and the window's badge.

mod cracks;
mod momentum;
mod nearest;
mod voxels;

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

pub use self::momentum::{Moving, momentum};
use self::voxels::{Found, Solids};
use super::{BreakStep, BrokenObject, Cells, MeshCheck, made_of_voxels};
use crate::{
    fracture::{Pattern, Surface, VoronoiDetail},
    shape::Shape,
    svo::Forest,
};

/// One check.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Check {
    /// The condition.
    pub name: String,
    /// Whether it holds.
    pub ok: bool,
    /// The figures behind it.
    pub figures: BTreeMap<String, f64>,
}

impl Check {
    fn new(name: &str, ok: bool, figures: &[(&str, f64)]) -> Self {
        let figures = figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Self { name: name.to_owned(), ok, figures }
    }

    /// Merges the check of a later step: figures are added, except that the larger of those named `worst_...` is kept.
    fn join(&mut self, other: &Self) {
        self.ok &= other.ok;
        for (name, value) in &other.figures {
            let mine = self.figures.entry(name.clone()).or_default();
            *mine = if name.starts_with("worst_") { mine.max(*value) } else { *mine + value };
        }
    }
}

/// All checks over all steps.
#[must_use]
pub fn check(broken: &BrokenObject) -> Vec<Check> {
    let mut all = over_steps(broken, |step| match (VoronoiDetail::of(&step.result), &step.result.pattern) {
        (Some(detail), Some(pattern)) => check_voronoi(broken, step, detail, pattern),
        _ => check_parts(broken, step),
    });
    all.push(crack_flags(broken));
    all.push(numbering(broken));
    #[cfg(feature = "testing")]
    mishap(&mut all);
    all
}

/// The checks of conservation, for the window's badge: of a break by Voronoi cells voxels, none of them given twice, mass,
/// and one component a piece; of other methods those of [`check`]. Left out is what recomputes the cracks, which takes
/// longest, and what a break does not count (hidden parts).
#[must_use]
pub fn conserved(broken: &BrokenObject) -> Vec<Check> {
    over_steps(broken, |step| match VoronoiDetail::of(&step.result) {
        Some(detail) => {
            let (forest, tree) = broken.source_of(step);
            let solids = Solids::of((forest, tree), &detail.fracture);
            let before = crate::shape::grid_mass(forest, tree as usize).volume;
            let Found { space, dust, .. } = Found::of(broken, &solids, (detail, &[]), before);
            let connected = connected(solids.pieces(), detail.island_level);
            vec![space, dust, mass(broken, detail, before), connected]
        }
        None => check_parts(broken, step),
    })
}

/// The checks of each step, merged.
fn over_steps(broken: &BrokenObject, of_step: impl Fn(&BreakStep) -> Vec<Check>) -> Vec<Check> {
    let mut all: Vec<Check> = Vec::new();
    for step in &broken.steps {
        let checks = of_step(step);
        if all.is_empty() {
            all = checks;
        } else {
            for (sum, check) in all.iter_mut().zip(&checks) {
                sum.join(check);
            }
        }
    }
    all
}

/// Tests of commands let the n-th break of a run fail its checks (`KINTSUGI_BROKEN_CHECK=2`), or panic there (`panic 2`).
#[cfg(feature = "testing")]
fn mishap(checks: &mut [Check]) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static BREAKS: AtomicU32 = AtomicU32::new(0);
    let wanted = std::env::var("KINTSUGI_BROKEN_CHECK").unwrap_or_default();
    let (panics, number) = wanted.strip_prefix("panic ").map_or((false, &*wanted), |number| (true, number));
    if number.parse() != Ok(BREAKS.fetch_add(1, Ordering::Relaxed) + 1) {
        return;
    }
    assert!(!panics, "a check that panics");
    checks.iter_mut().take(1).for_each(|check| check.ok = false);
}

/// Checks for any method: volumes add up, and an octree's parts are connected and valid.
fn check_parts(broken: &BrokenObject, step: &BreakStep) -> Vec<Check> {
    let source = step.parent.map_or(&broken.source, |at| &broken.part(at).shape);
    let before = step.result.before_m3.unwrap_or(source.mass().volume_m3);
    let (after, dust) = (step.result.volume_m3(), step.result.lost.dust_m3);
    let error = (after + dust - before).abs() / before.max(f64::MIN_POSITIVE);
    let volumes = Check::new(
        "mass_before_is_mass_after",
        error <= 1e-6,
        &[("before", before), ("after", after), ("dust", dust), ("worst_relative_error", error)],
    );
    let octrees: Vec<_> = step.result.parts.iter().filter_map(|part| made_of_voxels(&part.shape)).collect();
    let Some(level) = octrees.first().map(|octree| octree.level()) else {
        return vec![volumes, closed(step)];
    };
    let trees: Vec<(&Forest, usize)> =
        octrees.iter().map(|octree| (&*octree.forest, octree.tree as usize)).collect();
    let mut forests: Vec<&Arc<Forest>> = octrees.iter().map(|octree| &octree.forest).collect();
    forests.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let mut sound = valid(forests[0]);
    forests[1..].iter().for_each(|forest| sound.join(&valid(forest)));
    vec![volumes, connected(&trees, level), sound]
}

/// Every mesh part is a closed 2-manifold with a volume. Slivers turned over by rounding are only counted: they are
/// thinner than the finest unit of the cut.
fn closed(step: &BreakStep) -> Check {
    let solids: Vec<_> = step.result.parts.iter().filter_map(|part| part.shape.as_mesh()).collect();
    let checks: Vec<MeshCheck> = solids.par_iter().map(|solid| MeshCheck::of(solid.surface())).collect();
    let open = checks.iter().filter(|check| !(check.is_manifold() && check.volume > 0.0)).count();
    let inward: u64 = checks.iter().map(|check| check.inward_triangles).sum();
    let figures =
        [("meshes", solids.len() as f64), ("not_closed", open as f64), ("turned_over", inward as f64)];
    Check::new("each_mesh_is_closed", open == 0, &figures)
}

/// Checks for breaks by Voronoi cells.
fn check_voronoi(
    broken: &BrokenObject,
    step: &BreakStep,
    detail: &VoronoiDetail,
    pattern: &Pattern,
) -> Vec<Check> {
    let (forest, tree) = broken.source_of(step);
    let fracture = &detail.fracture;
    let solids = Solids::of((forest, tree), fracture);
    let before = crate::shape::grid_mass(forest, tree as usize).volume;
    let hidden = detail.hidden_in((forest, tree), pattern).map_or(&[][..], |hidden| &hidden.parts);
    let Found { boundary, space, hidden, dust, voxels } =
        Found::of(broken, &solids, (detail, hidden), before);
    vec![
        boundary,
        space,
        match detail.recipe.surface {
            Surface::Planar => cracks::corners(&solids, &voxels, pattern, broken.grid().level),
            Surface::Rough | Surface::Dusty => {
                cracks::sides(&solids, &voxels, (detail, pattern), broken.grid().level)
            }
        },
        hidden,
        mass(broken, detail, before),
        dust,
        connected(solids.pieces(), detail.island_level),
        valid(&fracture.forest),
    ]
}

/// Masses of the pieces, the dust and the dropped parts add up to that of the broken body.
fn mass(broken: &BrokenObject, detail: &VoronoiDetail, before: f64) -> Check {
    let lost = detail.fracture.dropped.as_ref().map_or(0.0, |dropped| {
        (0..dropped.forest.trees()).map(|tree| crate::shape::grid_mass(&dropped.forest, tree).volume).sum()
    });
    let after = detail.fracture.pieces.iter().map(|p| p.mass.volume).sum::<f64>();
    let dust = detail.fracture.dust_volume;
    let rest = after + lost + dust;
    let error = if before > 0.0 { (rest - before).abs() / before } else { rest.abs() };
    let voxel = broken.grid().h.powi(3);
    Check::new(
        "mass_before_is_mass_after",
        error <= 1e-6,
        &[
            ("before", before * voxel),
            ("after", after * voxel),
            ("dropped", lost * voxel),
            ("dust", dust * voxel),
            ("worst_relative_error", error),
        ],
    )
}

/// Every piece is one 26-connected component at the level of island detection.
fn connected(pieces: &[(&Forest, usize)], island_level: u32) -> Check {
    let islands =
        |(forest, tree): &(&Forest, usize)| Cells::of(forest, *tree).coarsened(island_level).components();
    let counts: Vec<usize> = pieces.par_iter().with_max_len(1).map(islands).collect();
    let split = counts.iter().filter(|n| **n != 1).count();
    Check::new(
        "each_piece_is_connected",
        split == 0,
        &[("pieces", counts.len() as f64), ("split", split as f64)],
    )
}

/// Every piece is one 26-connected component at its level. Pieces without voxels are skipped.
#[must_use]
pub fn pieces_are_connected(pieces: &[(Arc<Shape>, u32)]) -> Check {
    let parts = |(shape, level): &(Arc<Shape>, u32)| {
        let octree = made_of_voxels(shape)?;
        Some(Cells::of(&octree.forest, octree.tree as usize).coarsened(*level).components())
    };
    let counts: Vec<usize> = pieces.par_iter().filter_map(parts).collect();
    let split = counts.iter().filter(|n| **n != 1).count();
    let figures = [("pieces", counts.len() as f64), ("split", split as f64)];
    Check::new("each_piece_is_connected", split == 0, &figures)
}

/// The volumes of an object's pieces, dust and dropped parts add up to that of the whole; m^3. `objects` has whole,
/// pieces, dust and dropped of each.
#[must_use]
pub fn volumes_agree(objects: &[[f64; 4]]) -> Check {
    let error = |[whole, pieces, dust, dropped]: &[f64; 4]| {
        (pieces + dust + dropped - whole).abs() / whole.max(f64::MIN_POSITIVE)
    };
    let worst = objects.iter().map(error).fold(0.0, f64::max);
    let sum = |i: usize| objects.iter().map(|object| object[i]).fold(0.0, |a, b| a + b);
    let figures = [
        ("before", sum(0)),
        ("after", sum(1)),
        ("dust", sum(2)),
        ("dropped", sum(3)),
        ("worst_relative_error", worst),
    ];
    Check::new("volume_before_is_volume_after", worst <= 1e-6, &figures)
}

/// The octrees of the pieces are valid.
fn valid(forest: &Forest) -> Check {
    let findings = crate::svo::validate(forest).err().unwrap_or_default();
    for finding in &findings {
        tracing::warn!("octree: {finding}");
    }
    Check::new(
        "octrees_are_valid",
        findings.is_empty(),
        &[("octrees", forest.trees() as f64), ("findings", findings.len() as f64)],
    )
}

/// A leaf has the crack flag if and only if it is not a boundary voxel of the source.
fn crack_flags(broken: &BrokenObject) -> Check {
    let source = &broken.source_octree().forest.leaves.keys;
    let (mut leaves, mut wrong) = (0usize, 0usize);
    for &at in &broken.pieces {
        let own = &broken.forest(at).leaves;
        for i in broken.leaves(at) {
            leaves += 1;
            wrong += usize::from(own.colors[i].crack() == source.binary_search(own.keys.at(i)).is_ok());
        }
    }
    Check::new("crack_flags", wrong == 0, &[("leaves", leaves as f64), ("wrong", wrong as f64)])
}

/// Ids are in the order of descending size, and the sizes equal the numbers of voxels.
fn numbering(broken: &BrokenObject) -> Check {
    let sizes: Vec<u64> = broken.pieces.iter().map(|at| broken.piece(*at).voxels).collect();
    let miscounted = broken
        .pieces
        .par_iter()
        .filter(|at| made_of_voxels(&broken.part(**at).shape).is_some())
        .filter(|at| {
            let piece = broken.piece(**at);
            Cells::volume_of(broken.forest(**at), piece.tree as usize) != piece.voxels
        })
        .count();
    Check::new(
        "pieces_by_descending_size",
        miscounted == 0 && sizes.is_sorted_by(|a, b| a >= b),
        &[("pieces", sizes.len() as f64), ("miscounted", miscounted as f64)],
    )
}

#[cfg(test)]
mod tests;
