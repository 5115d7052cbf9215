//! Several pieces on one grid become one octree, as if the cracks between them had never been.
//!
//! In: the pieces and every voxel that the small ones among them share. Out: one tree. A voxel owned only by them is
//! again that of the source: inside it (nothing is stored, so there are no inner faces) or its boundary voxel. A voxel
//! that a third piece owns, too, keeps one copy, whose crack plane faces the cells outside.
//!
//! # The pieces that own the voxels of small pieces
//!
//! # Parts of one break become one octree again, long after the break
//!
//! In: the broken object, its pattern, and the trees and cells of all its parts. Out: one tree of some of them, by the
//! rule for small pieces ([`super::merge`]).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use glam::IVec3;
use rayon::prelude::*;

use crate::{
    fracture::{Cancel, Cancelled, Pattern, Piece, UNIT_BITS, voronoi::surface::plane::Plane},
    geometry::UnionFind,
    shape::GridMass,
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
    pub holders: &'a Holders,
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
    ids: &[u32],
    members: &[&Piece],
) -> Result<(Forest, u64), Cancelled> {
    let keys = &work.forest.leaves.keys;
    let copies_of = |piece: &&Piece| leaves_of(work.forest, piece).map(|leaf| (keys.at(leaf), leaf));
    let mut copies: Vec<(Key, usize)> = members.par_iter().flat_map_iter(copies_of).collect();
    copies.par_sort_unstable();
    join_copies(work, ids, members, &copies)
}

/// The same, given every leaf of the members, ascending.
fn join_copies(
    work: &Joining<'_>,
    ids: &[u32],
    members: &[&Piece],
    copies: &[(Key, usize)],
) -> Result<(Forest, u64), Cancelled> {
    let own: BTreeSet<u32> = ids.iter().copied().collect();
    let seeds = seeds_of_objects(work.pattern);
    let joined =
        copies.par_chunk_by(|a, b| a.0 == b.0).map(|copies| joined_voxel(work, &seeds, &own, copies));
    let joined: Vec<(Key, Option<Leaf>)> = joined.collect::<Result<_, _>>()?;
    let mut out = Leaves::default();
    let mut healed: Vec<Key> = Vec::new();
    for (key, leaf) in joined {
        let Some(Leaf { coverage, normal, color, cut }) = leaf else {
            healed.push(key);
            continue;
        };
        out.keys.push(key);
        out.normals.push(normal);
        out.colors.push(color);
        out.coverage.push(coverage);
        out.cuts.push(cut);
    }

    let count = healed.len() as u64;
    let level = work.forest.level;
    let within = inner_spans(work.forest, members);
    let inside = |key: Key, at: u32| {
        // An octant without boundary voxels is inside throughout or outside throughout: one voxel tells.
        let key = key << (3 * (level - at));
        let at = within.partition_point(|(start, _)| *start <= key);
        healed.binary_search(&key).is_ok() || at.checked_sub(1).is_some_and(|at| within[at].1 > key)
    };
    Ok((build(level, out, &inside), count))
}

/// A leaf of the joined tree.
struct Leaf {
    coverage: f32,
    normal: u32,
    color: LeafColor,
    cut: u32,
}

/// What becomes of a voxel whose copies are these: a leaf, or nothing where it is inside again.
fn joined_voxel(
    work: &Joining<'_>,
    seeds: &BTreeMap<u32, Vec<usize>>,
    own: &BTreeSet<u32>,
    copies: &[(Key, usize)],
) -> Result<(Key, Option<Leaf>), Cancelled> {
    let leaves = &work.forest.leaves;
    let (key, first) = copies[0];
    if key % CHECK_EVERY == 0 {
        work.cancel.check()?;
    }
    let coverage: f32 = copies.iter().map(|(_, leaf)| leaves.coverage[*leaf]).sum();
    let leaf = |coverage: f32, (normal, color, cut): (u32, LeafColor, u32)| {
        Ok((key, Some(Leaf { coverage: coverage.min(1.0), normal, color, cut })))
    };
    let as_it_was = (leaves.normals[first], leaves.colors[first], leaves.cuts[first]);
    if copies.len() == 1 {
        return leaf(coverage, as_it_was);
    }
    let strangers = of_voxel(work.holders, key).iter().any(|(_, piece)| !own.contains(piece));
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
        (false, None) if coverage >= WHOLE => Ok((key, None)),
        (false, None) => leaf(coverage, as_it_was),
        (true, of_source) => {
            let (normal, color, cut) = facing(work, seeds, own, key, of_source).unwrap_or(as_it_was);
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
fn inner_spans(forest: &Forest, members: &[&Piece]) -> Vec<(Key, Key)> {
    let mut spans = Vec::new();
    for piece in members {
        forest.visit_internal(piece.tree as usize, &mut |_, low, size| {
            let start = morton::encode(low);
            spans.push((start, start + Key::from(size).pow(3)));
        });
    }
    spans.sort_unstable();
    let mut last = 0;
    for (_, end) in &mut spans {
        last = last.max(*end);
        *end = last;
    }
    spans
}

/// Seeds of each object.
fn seeds_of_objects(pattern: &Pattern) -> BTreeMap<u32, Vec<usize>> {
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
    own: &BTreeSet<u32>,
    key: Key,
    of_source: Option<(u32, LeafColor, u32)>,
) -> Option<(u32, LeafColor, u32)> {
    let edge = 1i64 << (UNIT_BITS - work.forest.level);
    let low = morton::decode(key).map(|v| i64::from(v) * edge);
    let objects: BTreeSet<u32> =
        of_voxel(work.holders, key).iter().map(|(_, piece)| work.pieces[*piece as usize].cell).collect();
    let own_objects: BTreeSet<u32> = of_voxel(work.holders, key)
        .iter()
        .filter(|(_, piece)| own.contains(piece))
        .map(|(_, piece)| work.pieces[*piece as usize].cell)
        .collect();
    let candidates: Vec<usize> =
        objects.iter().filter_map(|object| seeds.get(object)).flatten().copied().collect();
    let distance = |at: [i64; 3], seed: usize| -> i64 {
        (0..3).map(|k| (at[k] - i64::from(work.pattern.seeds[seed][k])).pow(2)).sum()
    };
    let owners: BTreeSet<usize> = (0..8)
        .filter_map(|c| {
            let at = std::array::from_fn(|k| low[k] + edge * (c >> k & 1));
            candidates.iter().copied().min_by_key(|seed| (distance(at, *seed), *seed))
        })
        .collect();
    let centre = low.map(|v| v + edge / 2);
    let (mine, others): (Vec<usize>, Vec<usize>) =
        owners.into_iter().partition(|seed| own_objects.contains(&work.pattern.objects[*seed]));
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

pub(in crate::fracture) fn leaves_of(forest: &Forest, piece: &Piece) -> std::ops::Range<usize> {
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

/// The parts of a break, some of which are to be merged.
pub struct Rejoin {
    source: (Arc<Forest>, u32),
    pattern: Pattern,
    forest: Arc<Forest>,
    pieces: Vec<Piece>,
    /// (voxel, part, leaf) of every leaf of every part, ascending: sorted once for all merges.
    voxels: OnceLock<Vec<(Key, u32, u32)>>,
}

impl Rejoin {
    /// For a break of (forest, tree) by `pattern` into trees of `forest`: each part's tree and cell.
    #[must_use]
    pub fn new(
        source: (Arc<Forest>, u32),
        pattern: Pattern,
        forest: Arc<Forest>,
        parts: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        // Sums of these pieces are not used.
        let piece = |(tree, cell)| Piece { tree, cell, voxels: 0, mass: GridMass::default() };
        Self { source, pattern, forest, pieces: parts.map(piece).collect(), voxels: OnceLock::new() }
    }

    /// Whether these are the trees of its parts.
    #[must_use]
    pub fn is_of(&self, forest: &Arc<Forest>) -> bool {
        Arc::ptr_eq(&self.forest, forest)
    }

    fn voxels(&self) -> &[(Key, u32, u32)] {
        self.voxels.get_or_init(|| {
            let keys = &self.forest.leaves.keys;
            let of_part = |(part, piece): (usize, &Piece)| {
                leaves_of(&self.forest, piece).map(move |leaf| (keys.at(leaf), part as u32, leaf as u32))
            };
            let mut all: Vec<_> = self.pieces.par_iter().enumerate().flat_map_iter(of_part).collect();
            all.par_sort_unstable();
            all
        })
    }

    /// One tree of the parts that `members` number, ascending; `None` if they are not connected: each must share a
    /// voxel with another, as parts without dust between them do.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn one_of(&self, members: &[u32], cancel: &Cancel) -> Result<Option<Forest>, Cancelled> {
        let mut is_member = vec![false; self.pieces.len()];
        members.iter().for_each(|part| is_member[*part as usize] = true);
        let (mut holders, mut copies): (Holders, Vec<(Key, usize)>) = (Vec::new(), Vec::new());
        for of_voxel in self.voxels().chunk_by(|a, b| a.0 == b.0) {
            let before = copies.len();
            let own = of_voxel.iter().filter(|(_, part, _)| is_member[*part as usize]);
            copies.extend(own.map(|(key, _, leaf)| (*key, *leaf as usize)));
            if copies.len() > before {
                holders.extend(of_voxel.iter().map(|(key, part, _)| (*key, *part)));
            }
        }
        if !hang_together(&holders, members) {
            return Ok(None);
        }
        let pieces: Vec<&Piece> = members.iter().map(|p| &self.pieces[*p as usize]).collect();
        let work = Joining {
            source: (&self.source.0, self.source.1),
            pattern: &self.pattern,
            forest: &self.forest,
            pieces: &self.pieces,
            holders: &holders,
            cancel,
        };
        Ok(Some(join_copies(&work, members, &pieces, &copies)?.0))
    }
}

/// Whether `members` are connected by voxels that two of them own.
fn hang_together(holders: &Holders, members: &[u32]) -> bool {
    let mut sets = UnionFind::new(members.len());
    for of_voxel in holders.chunk_by(|a, b| a.0 == b.0) {
        let mut own = of_voxel.iter().filter_map(|(_, piece)| members.binary_search(piece).ok());
        let Some(first) = own.next() else { continue };
        for other in own {
            sets.join(first as u32, other as u32);
        }
    }
    (1..members.len() as u32).all(|member| sets.find(member) == sets.find(0))
}
