//! Several pieces on one grid become one octree, as if the cracks between them had never been.
//!
//! In: the pieces and every voxel that the small ones among them share. Out: one tree. A voxel owned only by them is
//! again that of the source: inside it (nothing is stored, so there are no inner faces) or its boundary voxel. A voxel
//! that a third piece owns, too, keeps one copy, whose crack plane faces the cells outside.
//!
//! # The pieces that own the voxels of small pieces

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use glam::IVec3;
use rayon::prelude::*;

use crate::{
    fracture::{Cancel, Cancelled, Pattern, Piece, UNIT_BITS, voronoi::surface::plane::Plane},
    svo::{
        Forest, LeafColor, Leaves, Octant, build,
        morton::{self, Key},
    },
};

/// Input of a merge.
pub(in crate::fracture) struct Joining<'a> {
    /// Forest and tree that was broken.
    pub source: (&'a Forest, u32),
    pub pattern: &'a Pattern,
    /// The pieces' octrees.
    pub forest: &'a Forest,
    pub pieces: &'a [Piece],
    pub cancel: &'a Cancel,
}

/// A voxel's whole share below this has lost something to dust and does not become inside again.
const WHOLE: f32 = 0.999;

/// Whether the work was cancelled is looked at where keys are multiples of this.
const CHECK_EVERY: Key = 512;

/// Joins `members` (indices, and the pieces themselves) to one tree; also the number of crack voxels that are
/// inside again.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::fracture) fn join(
    work: &Joining<'_>,
    holders: &Holders,
    ids: &[u32],
    members: &[&Piece],
) -> Result<(Forest, u64), Cancelled> {
    let keys = &work.forest.leaves.keys;
    let copies_of = |piece: &&Piece| leaves_of(work.forest, piece).map(|leaf| (keys.at(leaf), leaf));
    let mut copies: Vec<(Key, usize)> = members.par_iter().flat_map_iter(copies_of).collect();
    copies.par_sort_unstable();
    let mut is_own = vec![false; work.pieces.len()];
    ids.iter().for_each(|id| is_own[*id as usize] = true);
    let seeds = seeds_of_objects(work.pattern);
    let voxel = |copies: &[(Key, usize)]| -> Result<(Key, Voxel), Cancelled> {
        let key = copies[0].0;
        let owners: Vec<u32> = match copies {
            [_] => Vec::new(),
            _ => of_voxel(holders, key).iter().map(|(_, piece)| *piece).collect(),
        };
        let copies: Vec<usize> = copies.iter().map(|(_, leaf)| *leaf).collect();
        Ok((key, joined_voxel(work, &seeds, &is_own, (key, owners.as_slice(), copies.as_slice()))?))
    };
    let joined: Vec<(Key, Voxel)> =
        copies.par_chunk_by(|a, b| a.0 == b.0).map(voxel).collect::<Result<_, _>>()?;
    let mut all = Voxels::default();
    joined.into_iter().for_each(|(key, voxel)| all.push(key, voxel));
    let count = all.inside.len() as u64;
    Ok((tree(work.forest.level, all.leaves, &all.inside, &inner_spans(work.forest, members)), count))
}

/// The voxels of a joined tree, ascending.
#[derive(Default)]
pub(super) struct Voxels {
    pub leaves: Leaves,
    /// Crack voxels that are inside again.
    pub inside: Vec<Key>,
}

impl Voxels {
    /// Appends a voxel.
    pub fn push(&mut self, key: Key, voxel: Voxel) {
        let Leaf { coverage, normal, color, cut } = match voxel {
            Voxel::Surface(leaf) => leaf,
            Voxel::Inside => return self.inside.push(key),
            Voxel::Outside => return,
        };
        self.leaves.keys.push(key);
        self.leaves.normals.push(normal);
        self.leaves.colors.push(color);
        self.leaves.coverage.push(coverage);
        self.leaves.cuts.push(cut);
    }
}

/// The tree of these leaves, with crack voxels that are `inside` again, and `within` octants that were inside before
/// ([`inner_spans`]).
pub(super) fn tree(level: u32, leaves: Leaves, inside: &[Key], within: &[(Key, Key)]) -> Forest {
    let is_inside = |key: Key, at: u32| {
        // An octant without boundary voxels is inside throughout or outside throughout: one voxel tells.
        let key = key << (3 * (level - at));
        let at = within.partition_point(|(start, _)| *start <= key);
        inside.binary_search(&key).is_ok() || at.checked_sub(1).is_some_and(|at| within[at].1 > key)
    };
    build(level, leaves, &is_inside)
}

/// What a voxel of parts becomes once they are joined.
pub(super) enum Voxel {
    Surface(Leaf),
    Inside,
    /// None of the parts owns it.
    Outside,
}

/// A leaf of the joined tree.
pub(super) struct Leaf {
    coverage: f32,
    normal: u32,
    color: LeafColor,
    cut: u32,
}

/// What becomes of a voxel of the `owners`, whose `copies` are the leaves of those of them that are joined (`is_own`, by
/// piece). It depends on nothing else of the parts.
pub(super) fn joined_voxel(
    work: &Joining<'_>,
    seeds: &BTreeMap<u32, Vec<usize>>,
    is_own: &[bool],
    (key, owners, copies): (Key, &[u32], &[usize]),
) -> Result<Voxel, Cancelled> {
    let leaves = &work.forest.leaves;
    let first = copies[0];
    if key % CHECK_EVERY == 0 {
        work.cancel.check()?;
    }
    let coverage: f32 = copies.iter().map(|leaf| leaves.coverage[*leaf]).sum();
    let leaf = |coverage: f32, (normal, color, cut): (u32, LeafColor, u32)| {
        Ok(Voxel::Surface(Leaf { coverage: coverage.min(1.0), normal, color, cut }))
    };
    let as_it_was = (leaves.normals[first], leaves.colors[first], leaves.cuts[first]);
    if copies.len() == 1 {
        return leaf(coverage, as_it_was);
    }
    let strangers = owners.iter().any(|piece| !is_own[*piece as usize]);
    let before = work.source.0.octant_at(work.source.1 as usize, morton::decode(key));
    let of_source = match before {
        Octant::Leaf(leaf) => {
            let from = &work.source.0.leaves;
            let leaf = leaf as usize;
            Some((from.normals[leaf], from.colors[leaf], from.cuts[leaf]))
        }
        _ => None,
    };
    match (strangers, of_source) {
        (false, Some(surface)) => {
            // Shares of a whole add up to it but for rounding, which goes here.
            let whole = work.source.0.leaves.coverage[leaf_index(before)];
            let sum = if (coverage - whole).abs() <= whole * (1.0 - WHOLE) { whole } else { coverage };
            leaf(sum, surface)
        }
        (false, None) if coverage >= WHOLE => Ok(Voxel::Inside),
        (false, None) => leaf(coverage, as_it_was),
        (true, of_source) => {
            let (normal, color, cut) =
                facing(work, seeds, is_own, (key, owners), of_source).unwrap_or(as_it_was);
            let color = if of_source.is_some() {
                color
            } else {
                LeafColor::new(leaves.colors[first].rgb(), true, color.offset())
            };
            leaf(coverage, (normal, color, cut))
        }
    }
}

/// First voxel of each internal node of the members, ascending, and the one behind the last of all up to it: asking each
/// of a thousand members for every octant took by far the most of a merge.
pub(super) fn inner_spans(forest: &Forest, members: &[&Piece]) -> Vec<(Key, Key)> {
    let mut spans = Vec::new();
    for piece in members {
        forest.visit_internal(piece.tree as usize, &mut |_, low, size| {
            let start = morton::encode(low);
            spans.push((start, start + Key::from(size).pow(3)));
        });
    }
    spans.sort_unstable();
    reach_on(&mut spans);
    spans
}

/// Lets each of ascending spans end where the last one up to it ends.
pub(super) fn reach_on(spans: &mut [(Key, Key)]) {
    let mut last = 0;
    for (_, end) in spans {
        last = last.max(*end);
        *end = last;
    }
}

/// Seeds of each object.
pub(super) fn seeds_of_objects(pattern: &Pattern) -> BTreeMap<u32, Vec<usize>> {
    let mut seeds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (seed, object) in pattern.objects.iter().take(pattern.seeds.len()).enumerate() {
        seeds.entry(*object).or_default().push(seed);
    }
    seeds
}

fn leaf_index(octant: Octant) -> usize {
    match octant {
        Octant::Leaf(leaf) => leaf as usize,
        _ => 0,
    }
}

/// Normal, colour word (its offset) and second plane of a copy whose cells are `own`'s, towards the other cells of its
/// corners: the same choice that the boundary set makes for one cell. `None` if no other cell owns a corner.
fn facing(
    work: &Joining<'_>,
    seeds: &BTreeMap<u32, Vec<usize>>,
    is_own: &[bool],
    (key, owners): (Key, &[u32]),
    of_source: Option<(u32, LeafColor, u32)>,
) -> Option<(u32, LeafColor, u32)> {
    let edge = 1i64 << (UNIT_BITS - work.forest.level);
    let low = morton::decode(key).map(|v| i64::from(v) * edge);
    let cell = |piece: &u32| work.pieces[*piece as usize].cell;
    let objects: BTreeSet<u32> = owners.iter().map(cell).collect();
    let own_objects: BTreeSet<u32> =
        owners.iter().filter(|piece| is_own[**piece as usize]).map(cell).collect();
    let candidates: Vec<usize> =
        objects.iter().filter_map(|object| seeds.get(object)).flatten().copied().collect();
    let distance = |at: [i64; 3], seed: usize| -> i64 {
        (0..3).map(|k| (at[k] - i64::from(work.pattern.seeds[seed][k])).pow(2)).sum()
    };
    let at_corners: BTreeSet<usize> = (0..8)
        .filter_map(|c| {
            let at = std::array::from_fn(|k| low[k] + edge * (c >> k & 1));
            candidates.iter().copied().min_by_key(|seed| (distance(at, *seed), *seed))
        })
        .collect();
    let centre = low.map(|v| v + edge / 2);
    let (mine, others): (Vec<usize>, Vec<usize>) =
        at_corners.into_iter().partition(|seed| own_objects.contains(&work.pattern.objects[*seed]));
    let own_seed = mine.into_iter().min_by_key(|seed| (distance(centre, *seed), *seed))?;
    let point = |seed: usize| IVec3::from_array(work.pattern.seeds[seed]);
    let own_distance2 = distance(centre, own_seed) as i32;
    let middle = IVec3::from_array(centre.map(|v| v as i32));
    let bisector =
        |seed: usize| Plane::bisector(point(own_seed), own_distance2, point(seed), middle, edge as i32);
    let mut planes: Vec<(Plane, usize)> = others.into_iter().map(|seed| (bisector(seed), seed)).collect();
    planes.sort_by_key(|(plane, seed)| (plane.offset, *seed));
    let (nearest, _) = planes.first()?;
    if let Some((normal, color, cut)) = of_source {
        let farther = Plane::of_cut(cut).is_none_or(|old| nearest.offset < old.offset);
        return Some((normal, color, if farther { nearest.cut_word() } else { cut }));
    }
    let cut = planes.get(1).map_or(0, |(plane, _)| plane.cut_word());
    Some((nearest.normal_word(), LeafColor(nearest.crack_word()), cut))
}

/// (voxel, piece) of every voxel of a small piece, with all pieces that own it; sorted.
pub(in crate::fracture) type Holders = Vec<(Key, u32)>;

pub(in crate::fracture) fn leaves_of(forest: &Forest, piece: &Piece) -> Range<usize> {
    forest.tree_start[piece.tree as usize] as usize..forest.tree_start[piece.tree as usize + 1] as usize
}

pub(in crate::fracture) fn holders(forest: &Forest, pieces: &[Piece], small: &[u32]) -> Holders {
    let mut is_small = vec![false; pieces.len()];
    small.iter().for_each(|p| is_small[*p as usize] = true);
    let own = |p: u32| forest.leaves.keys.slice(leaves_of(forest, &pieces[p as usize]));
    let mut keys: Vec<Key> = small.par_iter().flat_map_iter(|p| own(*p).iter().collect::<Vec<_>>()).collect();
    keys.par_sort_unstable();
    keys.dedup();
    let mut found: Holders = (0..pieces.len() as u32)
        .into_par_iter()
        .flat_map_iter(|p| {
            let held = |key: &Key| is_small[p as usize] || keys.binary_search(key).is_ok();
            own(p).iter().filter(held).map(move |key| (key, p)).collect::<Vec<_>>()
        })
        .collect();
    found.par_sort_unstable();
    found
}

/// All pieces that own a voxel.
pub(in crate::fracture) fn of_voxel(holders: &Holders, key: Key) -> &[(Key, u32)] {
    let first = holders.partition_point(|h| h.0 < key);
    let count = holders[first..].iter().take_while(|h| h.0 == key).count();
    &holders[first..first + count]
}
