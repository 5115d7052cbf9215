//! Pieces of octrees that become one: those whose cells stay together, and those that are too small, unless these are
//! removed.
//!
//! In: a fracture and a rule. Out: the same with fewer pieces. On the CPU, after the readback: few pieces are small,
//! and only they and the pieces that they join are touched; all others keep their octrees bit for bit. Every choice is
//! unique (ties go to the larger piece), so the same seed still gives the same bytes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use rayon::prelude::*;

mod merge;
mod rejoin;

pub use self::rejoin::Rejoin;

use self::merge::{Holders, Joining, holders, join, leaves_of, of_voxel};
use super::{Cancel, Cancelled, Dropped, Fracture, Merge, Pattern, Piece, SmallRule, Smallest};

use crate::{
    geometry::UnionFind,
    gpu::StageTiming,
    shape::grid_mass,
    svo::{
        Forest, Octant, gather,
        morton::{self, Key},
    },
};

/// The broken octree, and its pattern.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct Work<'a> {
    /// Forest and tree.
    pub source: (&'a Forest, u32),
    pub pattern: &'a Pattern,
    pub cancel: &'a Cancel,
}

/// Makes one piece of those that touch and whose cells are one object, if the method has not done so. A piece's cell is
/// its object from then on.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::fracture) fn keep_together(
    work: &Work<'_>,
    mut fracture: Fracture,
) -> Result<Fracture, Cancelled> {
    let object = |cell: u32| work.pattern.objects.get(cell as usize).copied().unwrap_or(cell);
    let pieces = &fracture.pieces;
    if pieces.iter().all(|piece| object(piece.cell) == piece.cell) {
        return Ok(fracture);
    }
    let all: Vec<u32> = (0..pieces.len() as u32).collect();
    let holders = holders(&fracture.forest, pieces, &all);
    let mut sets = UnionFind::new(pieces.len());
    for of_voxel in holders.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, a)) in of_voxel.iter().enumerate() {
            let of_a = |b: &u32| object(pieces[*b as usize].cell) == object(pieces[*a as usize].cell);
            for (_, b) in of_voxel[at + 1..].iter().filter(|(_, b)| of_a(b)) {
                sets.join(*a, *b);
            }
        }
    }
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for p in all {
        groups.entry(sets.find(p)).or_default().members.push(p);
    }
    let apart = Pattern { objects: (0..work.pattern.seeds.len() as u32).collect(), ..work.pattern.clone() };
    join_groups(&Work { pattern: &apart, ..*work }, &mut fracture, &groups, &holders)?;
    for piece in &mut fracture.pieces {
        piece.cell = object(piece.cell);
    }
    fracture.merges.clear();
    fracture.counts.merged = 0;
    recount(&mut fracture);
    Ok(fracture)
}

/// Applies a rule, if there is one, to pieces. The largest piece is never small.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::fracture) fn apply(
    work: &Work<'_>,
    mut fracture: Fracture,
    rule: Option<&Smallest>,
) -> Result<Fracture, Cancelled> {
    let Some(rule) = rule else { return Ok(fracture) };
    let started = Instant::now();
    work.cancel.check()?;
    if join_or_drop(work, &mut fracture, rule)? {
        recount(&mut fracture);
    }
    fracture.timings.push(StageTiming::since("smallest pieces (CPU)", started));
    Ok(fracture)
}

/// Returns whether anything was small.
fn join_or_drop(work: &Work<'_>, fracture: &mut Fracture, rule: &Smallest) -> Result<bool, Cancelled> {
    let whole = Forest::solid_voxels(work.source.0, work.source.1 as usize);
    let is_small = |voxels: u64, volume: f64| voxels < rule.voxels || volume < rule.fraction * whole;
    let small: Vec<u32> = (1..fracture.pieces.len() as u32)
        .filter(|p| {
            let piece = &fracture.pieces[*p as usize];
            is_small(piece.voxels, piece.mass.volume)
        })
        .collect();
    if small.is_empty() {
        return Ok(false);
    }
    let holders = holders(&fracture.forest, &fracture.pieces, &small);
    match rule.rule {
        SmallRule::Drop => drop_small(work.source, fracture, &small, &holders),
        SmallRule::Merge => {
            let groups = grouped(fracture, &small, &holders, &is_small);
            join_groups(work, fracture, &groups, &holders)?;
        }
    }
    Ok(true)
}

fn is_inside(source: (&Forest, u32), key: Key) -> bool {
    matches!(source.0.octant_at(source.1 as usize, morton::decode(key)), Octant::Internal { .. })
}

fn drop_small(source: (&Forest, u32), fracture: &mut Fracture, small: &[u32], holders: &Holders) {
    let gone: BTreeSet<u32> = small.iter().copied().collect();
    let mut at = 0;
    while at < holders.len() {
        let all = of_voxel(holders, holders[at].0);
        let lost = all.iter().all(|(_, p)| gone.contains(p)) && is_inside(source, holders[at].0);
        fracture.counts.crack_voxels -= u64::from(lost);
        at += all.len();
    }
    let forest = Arc::clone(&fracture.forest);
    let pick = |pieces: &[(u32, Piece)]| {
        let mut order: Vec<u32> = pieces.iter().map(|(_, piece)| piece.tree).collect();
        order.sort_unstable();
        let trees: Vec<(&Forest, usize)> = order.iter().map(|tree| (&*forest, *tree as usize)).collect();
        let picked = gather(forest.level, &trees);
        let renumbered = pieces.iter().map(|(_, piece)| Piece {
            tree: order.partition_point(|tree| *tree < piece.tree) as u32,
            ..piece.clone()
        });
        (Arc::new(picked), renumbered.collect::<Vec<_>>())
    };
    let (dropped, kept): (Vec<_>, Vec<_>) =
        (0..).zip(fracture.pieces.iter().cloned()).partition(|(p, _)| gone.contains(p));
    (fracture.forest, fracture.pieces) = pick(&kept);
    let (forest, pieces) = pick(&dropped);
    fracture.dropped = Some(Dropped { forest, pieces });
}

/// A set of pieces that becomes one; its id is its largest member.
#[derive(Default)]
struct Group {
    members: Vec<u32>,
    voxels: u64,
    volume: f64,
}

/// Makes one piece of each group. `holders` contains the voxels of all pieces but the largest of each group.
fn join_groups(
    work: &Work<'_>,
    fracture: &mut Fracture,
    groups: &BTreeMap<u32, Group>,
    holders: &Holders,
) -> Result<(), Cancelled> {
    let forest = Arc::clone(&fracture.forest);
    let several: Vec<(&u32, &Group)> = groups.iter().filter(|(_, group)| group.members.len() > 1).collect();
    let joined = several
        .par_iter()
        .map(|(name, group)| {
            let members: Vec<&Piece> = group.members.iter().map(|p| &fracture.pieces[*p as usize]).collect();
            let pieces = &fracture.pieces;
            let Work { source, pattern, cancel } = *work;
            let joining = Joining { source, pattern, forest: &forest, pieces, cancel };
            Ok((**name, join(&joining, holders, &group.members, &members)?))
        })
        .collect::<Result<BTreeMap<u32, (Forest, u64)>, Cancelled>>()?;

    // Trees keep their order; a joined one takes the place of its largest member.
    let mut kept: Vec<(u32, &Group)> = groups.iter().map(|(name, group)| (*name, group)).collect();
    kept.sort_by_key(|(name, _)| fracture.pieces[*name as usize].tree);
    let trees: Vec<(&Forest, usize)> = kept
        .iter()
        .map(|(name, _)| {
            joined
                .get(name)
                .map_or((&*forest, fracture.pieces[*name as usize].tree as usize), |(forest, _)| (forest, 0))
        })
        .collect();
    let after = gather(forest.level, &trees);
    let mut pieces: Vec<(Piece, &Group)> = kept
        .par_iter()
        .enumerate()
        .map(|(tree, (name, group))| {
            let mut piece = Piece { tree: tree as u32, ..fracture.pieces[*name as usize].clone() };
            if group.members.len() > 1 {
                piece.mass = grid_mass(&after, tree);
                piece.voxels = piece.mass.voxels;
            }
            (piece, *group)
        })
        .collect();
    pieces.sort_by(|(a, _), (b, _)| b.voxels.cmp(&a.voxels).then(a.tree.cmp(&b.tree)));
    let cell = |p: &u32| fracture.pieces[*p as usize].cell;
    fracture.merges = (0..)
        .zip(&pieces)
        .filter(|(_, (_, group))| group.members.len() > 1)
        .map(|(piece, (_, group))| {
            let cells: BTreeSet<u32> = group.members.iter().map(cell).collect();
            Merge { piece, cells: cells.into_iter().collect() }
        })
        .collect();
    let gone: usize = groups.values().map(|group| group.members.len() - 1).sum();
    fracture.counts.merged = gone as u64;
    fracture.counts.crack_voxels -= joined.values().map(|(_, healed)| healed).sum::<u64>();
    let pieces = pieces.into_iter().map(|(piece, _)| piece).collect();
    fracture.forest = Arc::new(after);
    fracture.pieces = pieces;
    Ok(())
}

/// Chooses which groups join: the smallest group that is still small joins the neighbour with which it shares most
/// voxels (the larger of equal ones), until none is small or has a neighbour.
fn grouped(
    fracture: &Fracture,
    small: &[u32],
    holders: &Holders,
    is_small: &dyn Fn(u64, f64) -> bool,
) -> BTreeMap<u32, Group> {
    let mut group_of: Vec<u32> = (0..fracture.pieces.len() as u32).collect();
    let mut groups: BTreeMap<u32, Group> = (0..)
        .zip(&fracture.pieces)
        .map(|(p, piece)| (p, Group { members: vec![p], voxels: piece.voxels, volume: piece.mass.volume }))
        .collect();
    let mut open: BTreeSet<(u64, Reverse<u32>)> =
        small.iter().map(|p| (fracture.pieces[*p as usize].voxels, Reverse(*p))).collect();
    while let Some((_, Reverse(name))) = open.pop_first() {
        let Some(group) = groups.get(&name) else { continue };
        // Only small pieces are members of a small group, so `holders` has all of its voxels.
        let mut keys: Vec<Key> = group
            .members
            .iter()
            .flat_map(|p| {
                let leaves = leaves_of(&fracture.forest, &fracture.pieces[*p as usize]);
                fracture.forest.leaves.keys.slice(leaves).iter()
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let mut shared: BTreeMap<u32, u64> = BTreeMap::new();
        for key in keys {
            let others: BTreeSet<u32> = of_voxel(holders, key)
                .iter()
                .map(|(_, p)| group_of[*p as usize])
                .filter(|g| *g != name)
                .collect();
            for other in others {
                *shared.entry(other).or_default() += 1;
            }
        }
        let Some((&other, &common)) =
            shared.iter().max_by_key(|(other, common)| (**common, Reverse(**other)))
        else {
            continue;
        };
        let (Some(a), Some(b)) = (groups.remove(&name), groups.remove(&other)) else { continue };
        open.remove(&(b.voxels, Reverse(other)));
        let merged = Group {
            voxels: a.voxels + b.voxels - common,
            volume: a.volume + b.volume,
            members: a.members.into_iter().chain(b.members).collect(),
        };
        let into = name.min(other);
        for p in &merged.members {
            group_of[*p as usize] = into;
        }
        if into != 0 && is_small(merged.voxels, merged.volume) {
            open.insert((merged.voxels, Reverse(into)));
        }
        groups.insert(into, merged);
    }
    for group in groups.values_mut() {
        group.members.sort_unstable();
    }
    groups
}

fn recount(fracture: &mut Fracture) {
    let cells: BTreeSet<u32> = fracture.pieces.iter().map(|piece| piece.cell).collect();
    let counts = &mut fracture.counts;
    counts.fbs = fracture.forest.leaves.len() as u64;
    counts.cells = cells.len() as u64;
    counts.pieces = fracture.pieces.len() as u64;
    counts.islands = counts.pieces - counts.cells;
    counts.dropped = fracture.dropped.as_ref().map_or(0, |dropped| dropped.pieces.len() as u64);
}
