//! What must hold after a break, computed from the result alone with plain CPU code that shares nothing with
//! the passes.
//!
//! In: a [`BrokenObject`]. Out: named checks with figures. The same list goes into the report and into the
//! window's badge.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rayon::prelude::*;

use crate::{
    fracture::{
        Fracture, Piece, Surface, VoronoiDetail,
        crack::{CrackUniform, reference::CrackReference},
        dust::reference::DustReference,
    },
    shape::Shape,
    svo::{
        Forest,
        morton::{Key, decode},
    },
};

use super::{BreakStep, BrokenObject, Cells};

/// One check.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Check {
    /// What must hold.
    pub name: String,
    /// Whether it does.
    pub ok: bool,
    /// The numbers that it rests on.
    pub figures: BTreeMap<String, f64>,
}

impl Check {
    fn new(name: &str, ok: bool, figures: &[(&str, f64)]) -> Self {
        let figures = figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Self { name: name.to_owned(), ok, figures }
    }

    /// Joins the check of one step to that of the steps before: figures add up, except those called
    /// `worst_...`.
    fn join(&mut self, other: &Self) {
        self.ok &= other.ok;
        for (name, value) in &other.figures {
            let mine = self.figures.entry(name.clone()).or_default();
            *mine = if name.starts_with("worst_") { mine.max(*value) } else { *mine + value };
        }
    }
}

/// Distances computed at most for the corner check; above it, voxels are sampled evenly.
const DISTANCE_BUDGET: u64 = 4_000_000_000;

/// All checks over all steps.
#[must_use]
pub fn check(broken: &BrokenObject) -> Vec<Check> {
    let mut all: Vec<Check> = Vec::new();
    for step in &broken.steps {
        let checks = match step.voronoi() {
            Some(detail) => check_voronoi(broken, step, detail),
            None => check_parts(broken, step),
        };
        if all.is_empty() {
            all = checks;
        } else {
            for (sum, check) in all.iter_mut().zip(&checks) {
                sum.join(check);
            }
        }
    }
    all.push(crack_flags(broken));
    all.push(numbering(broken));
    all
}

/// A part's copy of a voxel, in one word: there are tens of millions. Morton codes have 36 bits, parts 28.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct VoxelCopy(u64);

impl VoxelCopy {
    fn new(key: Key, part: u32) -> Self {
        Self(key << 28 | u64::from(part))
    }

    fn key(self) -> Key {
        self.0 >> 28
    }

    fn part(self) -> usize {
        (self.0 & 0xfff_ffff) as usize
    }
}

/// The boundary voxels of all parts of a step: its pieces, then what was taken away.
struct Copies {
    /// By voxel, then by part.
    list: Vec<VoxelCopy>,
    /// How many parts are pieces.
    kept: usize,
    /// Cells of each part, ascending: its own, and those of small pieces that joined it.
    cells: Vec<Vec<u32>>,
    /// Whether any joined.
    merged: bool,
}

impl Copies {
    fn of(parts: &[Cells], fracture: &Fracture) -> Self {
        let dropped = fracture.dropped.iter().flat_map(|dropped| &dropped.pieces);
        let mut cells: Vec<Vec<u32>> =
            fracture.pieces.iter().chain(dropped).map(|piece| vec![piece.cell]).collect();
        for merge in &fracture.merges {
            if let Some(own) = cells.get_mut(merge.piece) {
                own.clone_from(&merge.cells);
            }
        }
        let leaves = |(part, of): (u32, &Cells)| -> Vec<VoxelCopy> {
            let leaves = of.starts.iter().zip(&of.leaves).filter(|(_, leaf)| **leaf != u32::MAX);
            leaves.map(|(key, _)| VoxelCopy::new(key, part)).collect()
        };
        let mut list: Vec<VoxelCopy> = (0..).zip(parts).flat_map(leaves).collect();
        list.par_sort_unstable();
        let merged = !fracture.merges.is_empty();
        Self { list, kept: fracture.pieces.len(), cells, merged }
    }

    /// Whether a voxel's copies are those of the wanted objects: one for each, or at least one where small
    /// pieces joined others.
    fn are_those_of(&self, own: &[VoxelCopy], wanted: &[u32]) -> bool {
        let held = |cell: &u32| own.iter().filter(|c| self.cells[c.part()].contains(cell)).count();
        wanted.iter().all(|cell| if self.merged { held(cell) > 0 } else { held(cell) == 1 })
            && own.iter().all(|c| self.cells[c.part()].iter().any(|cell| wanted.contains(cell)))
    }
}

/// What holds of a break by any method: volumes sum up, and an octree's parts hang together and are sound.
fn check_parts(broken: &BrokenObject, step: &BreakStep) -> Vec<Check> {
    let source = step.parent.map_or(&broken.source, |at| &broken.part(at).shape);
    let before = source.mass().volume_m3;
    let (after, dust) = (step.result.volume_m3(), step.result.lost.dust_m3);
    let error = (after + dust - before).abs() / before.max(f64::MIN_POSITIVE);
    let volumes = Check::new(
        "mass_before_is_mass_after",
        error <= 1e-6,
        &[("before", before), ("after", after), ("dust", dust), ("worst_relative_error", error)],
    );
    let octrees: Vec<_> = step.result.parts.iter().filter_map(|part| part.shape.as_octree()).collect();
    let Some(level) = octrees.first().map(|octree| octree.level()) else { return vec![volumes] };
    let cells: Vec<Cells> =
        octrees.par_iter().map(|octree| Cells::of(&octree.forest, octree.tree as usize)).collect();
    let mut forests: Vec<&Arc<Forest>> = octrees.iter().map(|octree| &octree.forest).collect();
    forests.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let mut sound = valid(forests[0]);
    forests[1..].iter().for_each(|forest| sound.join(&valid(forest)));
    vec![volumes, connected(&cells, level), sound]
}

/// What holds of a break by Voronoi cells.
fn check_voronoi(broken: &BrokenObject, step: &BreakStep, detail: &VoronoiDetail) -> Vec<Check> {
    let (source_forest, source_tree) = broken.source_of(step);
    let source = Cells::of(source_forest, source_tree as usize);
    let cells_of = |forest: &Forest, pieces: &[Piece]| -> Vec<Cells> {
        pieces.par_iter().map(|piece| Cells::of(forest, piece.tree as usize)).collect()
    };
    let fracture = &detail.fracture;
    let mut parts = cells_of(&fracture.forest, &fracture.pieces);
    let kept = parts.len();
    if let Some(dropped) = &fracture.dropped {
        parts.extend(cells_of(&dropped.forest, &dropped.pieces));
    }
    let copies = Copies::of(&parts, fracture);
    vec![
        boundary(&source, &copies, detail),
        space(&source, &parts, &copies.list, detail),
        match detail.recipe.surface {
            Surface::Planar => corners(&source, &copies, detail, broken.grid().level),
            Surface::Rough | Surface::Dusty => sides(&source, &copies, detail, broken.grid().level),
        },
        hidden(&copies, detail),
        mass(broken, step, detail),
        dust(broken, (step, detail), &source, &parts),
        connected(&parts[..kept], detail.island_level),
        valid(&fracture.forest),
    ]
}

/// Without copies, the boundary voxels of the pieces and of what was taken away are those of the source, but
/// for dust, plus voxels that lay inside it. Cracks that were closed again are neither.
fn boundary(source: &Cells, copies: &Copies, step: &VoronoiDetail) -> Check {
    let mut unique: Vec<Key> = copies.list.iter().map(|c| c.key()).collect();
    unique.dedup();
    let leaves: Vec<Key> = source
        .starts
        .iter()
        .zip(&source.leaves)
        .filter(|(_, leaf)| **leaf != u32::MAX)
        .map(|c| c.0)
        .collect();
    let missing = leaves.iter().filter(|key| unique.binary_search(key).is_err()).count();
    let is_inside = |key: Key| source.find(key).map(|i| source.leaves[i] == u32::MAX);
    let outside = unique.iter().filter(|key| is_inside(**key).is_none()).count();
    let mut kept: Vec<Key> = copies.list.iter().filter(|c| c.part() < copies.kept).map(|c| c.key()).collect();
    let with_copies = kept.len() as u64;
    kept.dedup();
    let from_inside = kept.iter().filter(|key| is_inside(**key) == Some(true)).count() as u64;
    let counts = &step.fracture.counts;
    let counted = counts.source_leaves == leaves.len() as u64
        && counts.crack_voxels == from_inside
        && counts.fbs == with_copies;
    Check::new(
        "boundary_is_source_plus_crack",
        (missing == 0 || step.recipe.surface == Surface::Dusty) && outside == 0 && counted,
        &[
            ("source_leaves", leaves.len() as f64),
            ("crack_voxels", from_inside as f64),
            ("with_copies", with_copies as f64),
            ("missing", missing as f64),
            ("outside", outside as f64),
        ],
    )
}

/// Boundary voxels without copies and the pieces' internal nodes tile the space of the source, all of it but
/// for the voxels counted as dust.
fn space(source: &Cells, pieces: &[Cells], copies: &[VoxelCopy], step: &VoronoiDetail) -> Check {
    let mut spans: Vec<(u64, u64)> = copies.iter().map(|c| (c.key(), c.key() + 1)).collect();
    spans.dedup();
    for cells in pieces {
        let internal = (0..cells.len()).filter(|i| cells.leaves[*i] == u32::MAX);
        spans.extend(internal.map(|i| (cells.starts.at(i), cells.end(i))));
    }
    spans.par_sort_unstable();
    let overlaps = spans.windows(2).filter(|w| w[1].0 < w[0].1).count();
    let after: u64 = spans.iter().map(|s| s.1 - s.0).sum();
    let before = source.volume();
    let whole = joined((0..source.len()).map(|i| (source.starts.at(i), source.end(i))));
    let left = joined(spans);
    let dust = step.fracture.counts.dust_voxels;
    let outside = left.iter().filter(|span| !within(span, &whole)).count();
    Check::new(
        "voxels_before_are_voxels_after",
        outside == 0
            && overlaps == 0
            && before == after + dust
            && (dust == 0 || step.recipe.surface == Surface::Dusty),
        &[
            ("before", before as f64),
            ("after", after as f64),
            ("dust", dust as f64),
            ("overlaps", overlaps as f64),
            ("outside", outside as f64),
        ],
    )
}

/// Whether a span lies in one of sorted, joined spans.
fn within(span: &(u64, u64), whole: &[(u64, u64)]) -> bool {
    let after = whole.partition_point(|w| w.0 <= span.0);
    after > 0 && span.1 <= whole[after - 1].1
}

/// Sorted spans with touching neighbours joined.
fn joined(spans: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => out.push((start, end)),
        }
    }
    out
}

/// The copies of a voxel are exactly the objects that own one of its corners (2016, sec. 4.3), and what lay
/// inside the source has become boundary only where there are several: no face between two cells of one
/// object (sec. 4.7). Where small pieces joined others, a piece stands for all of its parts.
fn corners(source: &Cells, copies: &Copies, step: &VoronoiDetail, level: u32) -> Check {
    let seeds = &step.pattern.seeds;
    let list = &copies.list;
    let mut starts: Vec<usize> =
        (0..list.len()).filter(|&i| i == 0 || list[i - 1].key() != list[i].key()).collect();
    starts.push(list.len());
    let voxels = starts.len() - 1;
    let distances = voxels as u64 * 8 * seeds.len() as u64;
    let stride = distances.div_ceil(DISTANCE_BUDGET).max(1) as usize;
    let checked = (0..voxels).into_par_iter().step_by(stride).map(|v| {
        let own = &list[starts[v]..starts[v + 1]];
        let owners = corner_cells(own[0].key(), seeds, level);
        let mut wanted = owners.map(|s| step.pattern.objects[s as usize]).to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let was_inside = source.find(own[0].key()).is_some_and(|i| source.leaves[i] == u32::MAX);
        let inner = was_inside && (own.len() == 1 || wanted.len() == 1);
        (usize::from(!copies.are_those_of(own, &wanted)), usize::from(inner))
    });
    let (wrong, inner) = checked.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    Check::new(
        "copies_are_the_corner_cells",
        wrong == 0 && inner == 0,
        &[
            ("voxels_checked", voxels.div_ceil(stride) as f64),
            ("wrong", wrong as f64),
            ("inner_faces", inner as f64),
        ],
    )
}

/// Leaves compared at most with their crack surfaces; above it, voxels are sampled evenly.
const CRACK_BUDGET: usize = 1_000_000;

/// The copies of a voxel are exactly the cells on the sides of the crack surface that passes through it, or
/// the one cell that it lies in (2018, sec. 5.3).
fn sides(source: &Cells, copies: &Copies, step: &VoronoiDetail, level: u32) -> Check {
    let list = &copies.list;
    let mut starts: Vec<usize> =
        (0..list.len()).filter(|&i| i == 0 || list[i - 1].key() != list[i].key()).collect();
    starts.push(list.len());
    let voxels = starts.len() - 1;
    let stride = voxels.div_ceil(CRACK_BUDGET).max(1);
    let crack = &step.recipe.crack;
    let wrong = crack.transition(level, step.recipe.surface).map_or(voxels, |transition| {
        let words = CrackUniform::new(crack, step.recipe.rng, transition);
        (0..voxels)
            .into_par_iter()
            .step_by(stride)
            .map_init(
                || {
                    let rough = CrackReference::new(&step.pattern, words, level);
                    (rough, DustReference::new(&step.pattern, words.with_gap(crack, level), level))
                },
                |(rough, dusty), v| {
                    let own = &list[starts[v]..starts[v + 1]];
                    let key = own[0].key();
                    let internal = source.find(key).is_some_and(|i| source.leaves[i] == u32::MAX);
                    let (objects, touched) = if step.recipe.surface == Surface::Dusty {
                        let shares = dusty.leaf(decode(key));
                        (shares.objects, shares.touched)
                    } else {
                        let fate = rough.leaf(decode(key), internal);
                        (fate.objects, fate.touched)
                    };
                    !copies.are_those_of(own, &objects.into_iter().collect::<Vec<u32>>())
                        || (internal && !touched)
                },
            )
            .filter(|wrong| *wrong)
            .count()
    });
    Check::new(
        "copies_are_the_sides_of_the_crack",
        wrong == 0,
        &[("voxels_checked", voxels.div_ceil(stride) as f64), ("wrong", wrong as f64)],
    )
}

/// Cells that own a part of a voxel's inside but none of its corners get nothing there: they were counted,
/// and no piece has a copy.
fn hidden(copies: &Copies, step: &VoronoiDetail) -> Check {
    let planar = step.recipe.surface == Surface::Planar;
    let parts = step.hidden.parts.as_slice();
    let mut voxels: Vec<Key> = parts.iter().map(|part| part.0).collect();
    voxels.dedup();
    let with_copy = |key: &Key, cell: &u32| {
        let first = copies.list.partition_point(|c| c.key() < *key);
        let own = copies.list[first..].iter().take_while(|c| c.key() == *key);
        // A joined piece is there for its other cells too.
        own.map(|c| &copies.cells[c.part()]).any(|cells| cells.as_slice() == [*cell])
    };
    let copied = parts.iter().filter(|(key, cell)| with_copy(key, cell)).count();
    let with_piece: BTreeSet<u32> = copies.cells.iter().flatten().copied().collect();
    let cells: BTreeSet<u32> = parts.iter().map(|part| part.1).collect();
    Check::new(
        "hidden_parts_are_counted",
        copied == 0 && step.fracture.counts.hidden == planar.then_some(parts.len() as u64),
        &[
            ("hidden", parts.len() as f64),
            ("voxels", voxels.len() as f64),
            ("cells", cells.len() as f64),
            ("cells_without_a_piece", cells.difference(&with_piece).count() as f64),
            ("copied", copied as f64),
        ],
    )
}

/// The cell that owns each corner of a voxel: the nearest seed, of equal ones the lowest. Exact, in 1/2^14 of
/// the grid's side.
fn corner_cells(key: Key, seeds: &[[i32; 3]], level: u32) -> [u32; 8] {
    let low = decode(key);
    std::array::from_fn(|c| {
        let at: [i64; 3] =
            std::array::from_fn(|k| i64::from(low[k] + (c as u32 >> k & 1)) << 14u32.saturating_sub(level));
        let distance = |seed: &[i32; 3]| (0..3).map(|k| (i64::from(seed[k]) - at[k]).pow(2)).sum::<i64>();
        // `min_by_key` keeps the first of equal ones.
        seeds.iter().enumerate().min_by_key(|(_, seed)| distance(seed)).map_or(u32::MAX, |(i, _)| i as u32)
    })
}

/// Masses of the pieces, of the dust and of what was taken away sum to that of what was broken.
fn mass(broken: &BrokenObject, step: &BreakStep, detail: &VoronoiDetail) -> Check {
    let (forest, tree) = broken.source_of(step);
    let before = crate::shape::grid_mass(forest, tree as usize).volume;
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

/// What the pieces do not have of the source, voxel by voxel, is what was counted as dust; no voxel is given
/// away more than once; and only dusty surfaces make any.
fn dust(
    broken: &BrokenObject,
    (step, detail): (&BreakStep, &VoronoiDetail),
    source: &Cells,
    parts: &[Cells],
) -> Check {
    let (source_forest, _) = broken.source_of(step);
    let mut shares: Vec<(Key, f64)> = Vec::new();
    let mut inside: Vec<(Key, f64)> = Vec::new();
    for (part, cells) in parts.iter().enumerate() {
        // What was dropped has octrees of its own.
        let dropped = detail.fracture.dropped.as_ref().filter(|_| part >= detail.fracture.pieces.len());
        let coverage = &dropped.map_or(&detail.fracture.forest, |dropped| &dropped.forest).leaves.coverage;
        for i in 0..cells.len() {
            match cells.leaves[i] {
                u32::MAX => inside.push((cells.starts.at(i), (1u64 << (3 * cells.log_sizes[i])) as f64)),
                leaf => shares.push((cells.starts.at(i), f64::from(coverage[leaf as usize]))),
            }
        }
    }
    shares.par_sort_unstable_by_key(|share| share.0);
    inside.par_sort_unstable_by_key(|cube| cube.0);
    let range = |list: &[(Key, f64)], i: usize| {
        let end = source.end(i);
        list.partition_point(|s| s.0 < source.starts.at(i))..list.partition_point(|s| s.0 < end)
    };
    let (voxels, volume, worst) = (0..source.len())
        .into_par_iter()
        .map(|i| {
            let leaf = source.leaves[i];
            let each =
                if leaf == u32::MAX { 1.0 } else { f64::from(source_forest.leaves.coverage[leaf as usize]) };
            let cubes: f64 = inside[range(&inside, i)].iter().map(|cube| cube.1).sum();
            let (mut given, mut touched, mut worst) = (cubes, 0.0, 0.0f64);
            for same in shares[range(&shares, i)].chunk_by(|a, b| a.0 == b.0) {
                let sum: f64 = same.iter().map(|share| share.1).sum();
                given += sum;
                touched += 1.0;
                worst = worst.max(sum / each - 1.0);
            }
            let size = (source.end(i) - source.starts.at(i)) as f64;
            (size - touched - cubes, size * each - given, worst)
        })
        .reduce(|| (0.0, 0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1, a.2.max(b.2)));
    let before: f64 = crate::shape::grid_mass(source_forest, broken.source_of(step).1 as usize).volume;
    let counted = detail.fracture.counts.dust_voxels as f64;
    let error = (volume - detail.fracture.dust_volume).abs() / before.max(f64::MIN_POSITIVE);
    let is_dusty = detail.recipe.surface == Surface::Dusty;
    let cube = broken.grid().h.powi(3);
    Check::new(
        "dust_is_what_is_gone",
        voxels == counted && error <= 1e-6 && worst <= 1e-6 && (is_dusty || voxels == 0.0),
        &[
            ("voxels_gone", voxels),
            ("voxels_counted", counted),
            ("mass_gone", volume * cube),
            ("mass_counted", detail.fracture.dust_volume * cube),
            ("worst_relative_error", error),
            ("worst_given_twice", worst),
        ],
    )
}

/// Every piece is one 26-connected component at the level at which islands are told apart.
fn connected(pieces: &[Cells], island_level: u32) -> Check {
    let counts: Vec<usize> =
        pieces.par_iter().map(|cells| cells.coarsened(island_level).components()).collect();
    let split = counts.iter().filter(|n| **n != 1).count();
    Check::new(
        "each_piece_is_connected",
        split == 0,
        &[("pieces", counts.len() as f64), ("split", split as f64)],
    )
}

/// Every piece is one 26-connected component at its level. What is not made of voxels is not looked at.
#[must_use]
pub fn pieces_are_connected(pieces: &[(Arc<Shape>, u32)]) -> Check {
    let parts = |(shape, level): &(Arc<Shape>, u32)| {
        let octree = shape.as_octree()?;
        Some(Cells::of(&octree.forest, octree.tree as usize).coarsened(*level).components())
    };
    let counts: Vec<usize> = pieces.par_iter().filter_map(parts).collect();
    let split = counts.iter().filter(|n| **n != 1).count();
    let figures = [("pieces", counts.len() as f64), ("split", split as f64)];
    Check::new("each_piece_is_connected", split == 0, &figures)
}

/// The volumes of an object's pieces, of its dust and of what was dropped sum to that of the whole; m^3.
/// `objects` has whole, pieces, dust and dropped of each.
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

/// The octrees of the pieces are sound.
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

/// A leaf carries the crack flag exactly where it is not a boundary voxel of the source.
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

/// Ids go by descending size, and the sizes are the voxels that are there.
fn numbering(broken: &BrokenObject) -> Check {
    let sizes: Vec<u64> = broken.pieces.iter().map(|at| broken.piece(*at).voxels).collect();
    let miscounted = broken
        .pieces
        .par_iter()
        .filter(|at| {
            let piece = broken.piece(**at);
            Cells::of(broken.forest(**at), piece.tree as usize).volume() != piece.voxels
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
