//! Parts of one break become one octree again, long after the break.
//!
//! In: the broken object, its pattern, and the trees and cells of all its parts. Out: one tree of some of them, by the
//! rule for small pieces ([`super::merge`]).
//!
//! What becomes of a voxel depends on those of its owners that are joined, and on nothing else. So where some parts fall
//! off a set that was joined before, only voxels that they own are looked at; all others are copied.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use rayon::prelude::*;

use super::merge::{
    Joining, Voxel, Voxels, inner_spans, joined_voxel, leaves_of, reach_on, seeds_of_objects, tree,
};
use crate::{
    fracture::{Cancel, Cancelled, Pattern, Piece},
    geometry::UnionFind,
    shape::GridMass,
    svo::{
        Forest,
        morton::{self, Key},
    },
};

/// The parts of a break, some of which are to be merged.
pub struct Rejoin {
    source: (Arc<Forest>, u32),
    pattern: Pattern,
    forest: Arc<Forest>,
    pieces: Vec<Piece>,
    index: OnceLock<Index>,
    /// Large sets that were joined last, the latest last.
    recent: Mutex<Vec<Arc<Joined>>>,
}

/// A leaf of a part: its voxel, the part, the leaf.
type PartLeaf = (Key, u32, u32);

/// What all merges of a break need, found once.
struct Index {
    /// Every leaf of every part, ascending.
    copies: Vec<PartLeaf>,
    /// Of each leaf the first of `copies` in its voxel.
    first: Vec<u32>,
    /// Pairs of parts that own a voxel together, ascending.
    touching: Vec<[u32; 2]>,
    /// First voxel, side (voxels) and part of all octants that are inside a part, ascending.
    inner: Vec<(Key, u32, u32)>,
    /// Seeds of each object.
    seeds: BTreeMap<u32, Vec<usize>>,
}

/// Parts that were joined.
struct Joined {
    /// The parts, ascending.
    members: Vec<u32>,
    /// Leaves of all of them.
    copies: usize,
    /// Their tree.
    forest: Forest,
    /// Crack voxels that are inside again, ascending.
    inside: Vec<Key>,
}

/// Sets are kept that have at least one leaf in so many, since small ones are soon joined anew.
const KEPT_SHARE: usize = 16;
/// Most sets that are kept: each takes about half the memory of the index.
const MOST_KEPT: usize = 4;

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
        let (index, recent) = (OnceLock::new(), Mutex::default());
        Self { source, pattern, forest, pieces: parts.map(piece).collect(), index, recent }
    }

    /// Whether these are the trees of its parts.
    #[must_use]
    pub fn is_of(&self, forest: &Arc<Forest>) -> bool {
        Arc::ptr_eq(&self.forest, forest)
    }

    /// Finds what all merges need. Several merges at once would otherwise each do so.
    pub fn get_ready(&self) {
        self.index();
    }

    fn index(&self) -> &Index {
        if let Some(index) = self.index.get() {
            return index;
        }
        // Made outside of the lock: a thread that waits for others in it may take up another merge.
        let made = Index::new(&self.forest, &self.pieces, &self.pattern);
        self.index.get_or_init(|| made)
    }

    /// One tree of the parts that `members` number, ascending; `None` if they are not connected: each must share a
    /// voxel with another, as parts without dust between them do.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn one_of(&self, members: &[u32], cancel: &Cancel) -> Result<Option<Arc<Forest>>, Cancelled> {
        // Its own copy of what is kept here: an arena frees the memory of forests without other owners.
        let own = |joined: Arc<Joined>| {
            Arc::try_unwrap(joined).map_or_else(|kept| kept.forest.clone(), |own| own.forest)
        };
        Ok(self.joined(members, cancel)?.map(|(joined, _)| Arc::new(own(joined))))
    }

    /// The same, with the number of voxels that were looked at.
    fn joined(&self, members: &[u32], cancel: &Cancel) -> Result<Option<(Arc<Joined>, usize)>, Cancelled> {
        let index = self.index();
        let mut is_member = vec![false; self.pieces.len()];
        members.iter().for_each(|part| is_member[*part as usize] = true);
        if !index.hang_together(members, &is_member) {
            return Ok(None);
        }
        let copies: usize =
            members.iter().map(|part| leaves_of(&self.forest, &self.pieces[*part as usize]).len()).sum();
        let known = self.known(members, copies);
        let changed: Vec<u32> = match &known {
            Some(known) if known.members.len() == members.len() => return Ok(Some((Arc::clone(known), 0))),
            Some(known) => known.members.iter().copied().filter(|part| !is_member[*part as usize]).collect(),
            None => members.to_vec(),
        };
        let work = Joining {
            source: (&self.source.0, self.source.1),
            pattern: &self.pattern,
            forest: &self.forest,
            pieces: &self.pieces,
            cancel,
        };
        let places = index.places(&self.forest, changed.iter().map(|part| &self.pieces[*part as usize]));
        let voxel = |(owners, own): &mut (Vec<u32>, Vec<usize>),
                     at: &u32|
         -> Result<(Key, Voxel), Cancelled> {
            let of_voxel = index.voxel(*at);
            owners.clear();
            owners.extend(of_voxel.iter().map(|(_, part, _)| *part));
            own.clear();
            let joined = of_voxel.iter().filter(|(_, part, _)| is_member[*part as usize]);
            own.extend(joined.map(|(.., leaf)| *leaf as usize));
            let key = of_voxel[0].0;
            match own.is_empty() {
                true => Ok((key, Voxel::Outside)),
                false => Ok((
                    key,
                    joined_voxel(&work, &index.seeds, &is_member, (key, owners.as_slice(), own.as_slice()))?,
                )),
            }
        };
        let found: Vec<(Key, Voxel)> =
            places.par_iter().map_init(Default::default, voxel).collect::<Result<_, _>>()?;
        let Voxels { leaves, inside } = match &known {
            Some(known) => known.with(found),
            None => {
                let mut all = Voxels::default();
                found.into_iter().for_each(|(key, voxel)| all.push(key, voxel));
                all
            }
        };
        let within = match copies * KEPT_SHARE < index.copies.len() {
            true => {
                let pieces: Vec<&Piece> = members.iter().map(|part| &self.pieces[*part as usize]).collect();
                inner_spans(&self.forest, &pieces)
            }
            false => index.within(&is_member),
        };
        let forest = tree(self.forest.level, leaves, &inside, &within);
        let joined = Arc::new(Joined { members: members.to_vec(), copies, forest, inside });
        self.keep(&joined);
        Ok(Some((joined, places.len())))
    }

    /// The smallest set that was joined and has all these parts, if fewer leaves have to be taken out of it than these
    /// parts have.
    fn known(&self, members: &[u32], copies: usize) -> Option<Arc<Joined>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let having = recent.iter().filter(|known| known.copies - copies.min(known.copies) < copies);
        having.filter(|known| known.has(members)).min_by_key(|known| known.copies).cloned()
    }

    fn keep(&self, joined: &Arc<Joined>) {
        if joined.copies * KEPT_SHARE < self.index().copies.len() {
            return;
        }
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push(Arc::clone(joined));
        if recent.len() > MOST_KEPT {
            // What these parts fell off is not likely to come back.
            let is_older = |known: &Arc<Joined>| known.copies > joined.copies && known.has(&joined.members);
            let smallest =
                || recent.iter().enumerate().min_by_key(|(_, known)| known.copies).map(|(at, _)| at);
            let gone = recent.iter().position(is_older).or_else(smallest).unwrap_or(0);
            recent.remove(gone);
        }
    }
}

impl Index {
    fn new(forest: &Forest, pieces: &[Piece], pattern: &Pattern) -> Self {
        let keys = &forest.leaves.keys;
        let of_part = |(part, piece): (usize, &Piece)| {
            leaves_of(forest, piece).map(move |leaf| (keys.at(leaf), part as u32, leaf as u32))
        };
        let mut copies: Vec<PartLeaf> = pieces.par_iter().enumerate().flat_map_iter(of_part).collect();
        copies.par_sort_unstable();
        let mut first = vec![0; forest.leaves.len()];
        let mut at = 0;
        for of_voxel in copies.chunk_by(|a, b| a.0 == b.0) {
            of_voxel.iter().for_each(|(.., leaf)| first[*leaf as usize] = at);
            at += of_voxel.len() as u32;
        }
        let mut touching: Vec<[u32; 2]> =
            copies.par_chunk_by(|a, b| a.0 == b.0).flat_map_iter(pairs_of).collect();
        touching.par_sort_unstable();
        touching.dedup();
        let inside_part = |(part, piece): (usize, &Piece)| {
            let mut own = Vec::new();
            forest.visit_internal(piece.tree as usize, &mut |_, low, size| {
                own.push((morton::encode(low), size, part as u32));
            });
            own
        };
        let mut inner: Vec<(Key, u32, u32)> =
            pieces.par_iter().enumerate().flat_map_iter(inside_part).collect();
        inner.par_sort_unstable();
        Self { copies, first, touching, inner, seeds: seeds_of_objects(pattern) }
    }

    /// The copies in a voxel whose first one is there.
    fn voxel(&self, at: u32) -> &[PartLeaf] {
        let rest = &self.copies[at as usize..];
        let count = rest.iter().take_while(|copy| copy.0 == rest[0].0).count();
        &rest[..count]
    }

    /// Where the copies of each voxel of these parts begin, ascending.
    fn places<'a>(&self, forest: &Forest, parts: impl Iterator<Item = &'a Piece>) -> Vec<u32> {
        let mut places: Vec<u32> =
            parts.flat_map(|piece| &self.first[leaves_of(forest, piece)]).copied().collect();
        places.par_sort_unstable();
        places.dedup();
        places
    }

    /// Whether these parts are connected by voxels that two of them own.
    fn hang_together(&self, members: &[u32], is_member: &[bool]) -> bool {
        let mut sets = UnionFind::new(is_member.len());
        for [a, b] in &self.touching {
            if is_member[*a as usize] && is_member[*b as usize] {
                sets.join(*a, *b);
            }
        }
        members.windows(2).all(|two| sets.find(two[0]) == sets.find(two[1]))
    }

    /// What [`inner_spans`] finds.
    fn within(&self, is_member: &[bool]) -> Vec<(Key, Key)> {
        let own = self.inner.iter().filter(|(.., part)| is_member[*part as usize]);
        let mut spans: Vec<(Key, Key)> =
            own.map(|(start, size, _)| (*start, start + Key::from(*size).pow(3))).collect();
        reach_on(&mut spans);
        spans
    }
}

/// The pairs of parts that own a voxel with these copies.
fn pairs_of(of_voxel: &[PartLeaf]) -> impl Iterator<Item = [u32; 2]> {
    of_voxel.iter().enumerate().flat_map(move |(at, a)| of_voxel[at + 1..].iter().map(move |b| [a.1, b.1]))
}

impl Joined {
    /// Whether it has all these parts.
    fn has(&self, members: &[u32]) -> bool {
        members.iter().all(|part| self.members.binary_search(part).is_ok())
    }

    /// The voxels of the same with these, ascending, instead of those that it has there.
    fn with(&self, found: Vec<(Key, Voxel)>) -> Voxels {
        let (leaves, inside) = (&self.forest.leaves, &self.inside);
        let mut all = Voxels::default();
        let (mut leaf, mut within) = (0, 0);
        for (key, voxel) in found {
            let end = leaf + leaves.keys.slice(leaf..leaves.len()).partition_point(|own| own < key);
            all.leaves.append(leaves, leaf..end);
            leaf = end + usize::from(end < leaves.len() && leaves.keys.at(end) == key);
            let end = within + inside[within..].partition_point(|own| *own < key);
            all.inside.extend_from_slice(&inside[within..end]);
            within = end + usize::from(inside.get(end) == Some(&key));
            all.push(key, voxel);
        }
        all.leaves.append(leaves, leaf..leaves.len());
        all.inside.extend_from_slice(&inside[within..]);
        all
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::{
        super::merge::{holders, join},
        *,
    };
    use crate::{
        compute::Compute,
        fracture::{BreakContext, FractureParams, Impact, Passes, SeedSource, Strike, break_shape},
        mesh::builtin,
        shape::{Look, Octree, Shape},
        svo::{Arena, Grid},
        voxelize::{Progress, voxelize},
    };

    /// The built-in box at level 6 broken by 45 seeds.
    fn broken() -> impl Fn() -> Rejoin {
        let source = Arc::new(voxelize(&builtin("box").unwrap(), 6, &Progress::default()).unwrap().forest);
        let octree = Octree::new(&source, 0, Grid { level: 6, origin: DVec3::ZERO, h: 1.0 });
        let (low, size) = (octree.mass.bounds.low, octree.mass.bounds.size());
        let seed = |k: u32| {
            let at = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 5), f64::from(k / 15)) + 0.5;
            let off = DVec3::new(f64::from(k * 7 % 11), f64::from(k * 5 % 13), f64::from(k * 3 % 7)) / 30.0;
            low + (at + off - 0.2) / DVec3::new(3.0, 5.0, 3.0) * size
        };
        let shape = Shape::octree(octree, 1000.0, Look::default());
        let (arena, passes) = (Arena::new(&Compute::Cpu).unwrap(), Passes::default());
        let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
        let params = FractureParams::default();
        let given = SeedSource::Points((0..45).map(seed).collect());
        let impact = Impact { point: shape.centre(), direction: DVec3::Y };
        let strike = Strike { seeds: Some(&given), ..Strike::new(impact, &params) };
        let broken = break_shape(&context, &shape, &strike).unwrap();
        let forest = Arc::clone(&broken.parts[0].shape.as_octree().unwrap().forest);
        move || {
            let part = |part: &crate::fracture::Part| (part.shape.as_octree().unwrap().tree, part.cell);
            let mut parts: Vec<(u32, u32)> = broken.parts.iter().map(part).collect();
            // In the order of their leaves, in which small pieces are joined.
            parts.sort_unstable();
            let pattern = broken.pattern.clone().unwrap();
            Rejoin::new((Arc::clone(&source), 0), pattern, Arc::clone(&forest), parts.into_iter())
        }
    }

    /// The tree of these parts by the way of small pieces, which asks for nothing that is kept.
    fn plainly(rejoin: &Rejoin, members: &[u32]) -> Forest {
        let all: Vec<u32> = (0..rejoin.pieces.len() as u32).collect();
        let pieces: Vec<&Piece> = members.iter().map(|part| &rejoin.pieces[*part as usize]).collect();
        let work = Joining {
            source: (&rejoin.source.0, rejoin.source.1),
            pattern: &rejoin.pattern,
            forest: &rejoin.forest,
            pieces: &rejoin.pieces,
            cancel: Cancel::never(),
        };
        join(&work, &holders(&rejoin.forest, &rejoin.pieces, &all), members, &pieces).unwrap().0
    }

    #[test]
    fn what_falls_off_costs_its_own_voxels_and_leaves_the_same_tree() {
        let make = broken();
        let rejoin = make();
        let leaves = |part: u32| leaves_of(&rejoin.forest, &rejoin.pieces[part as usize]).len();
        let mut left: Vec<u32> = (0..rejoin.pieces.len() as u32).collect();
        assert!(left.len() > 30, "{}", left.len());
        let (whole, looked_at) = rejoin.joined(&left, Cancel::never()).unwrap().unwrap();
        let most: usize = left.iter().map(|part| leaves(*part)).sum();
        assert!(looked_at > most / 4 && looked_at <= most && whole.forest == plainly(&rejoin, &left));
        let again = rejoin.joined(&left, Cancel::never()).unwrap().unwrap();
        assert!(again.1 == 0 && Arc::ptr_eq(&again.0, &whole), "nothing changed");
        let gone = rejoin.one_of(&left, Cancel::never()).unwrap().map(|given| Arc::downgrade(&given));
        assert!(gone.is_some_and(|gone| gone.strong_count() == 0), "nothing keeps what was given");
        let mut fallen = 0;
        // One part falls, then two, until a third is left.
        for part in 0..rejoin.pieces.len() as u32 {
            let gone: Vec<u32> =
                left.iter().copied().skip(part as usize % 5).step_by(7).take(1 + fallen % 2).collect();
            let next: Vec<u32> = left.iter().copied().filter(|part| !gone.contains(part)).collect();
            if next.len() < rejoin.pieces.len() / 3 {
                break;
            }
            let Some((joined, looked_at)) = rejoin.joined(&next, Cancel::never()).unwrap() else { continue };
            let most: usize = gone.iter().map(|part| leaves(*part)).sum();
            assert!(looked_at <= most, "{looked_at} voxels for parts of {most}");
            assert!(joined.forest == plainly(&rejoin, &next), "without {gone:?}");
            assert!(joined.forest == *make().one_of(&next, Cancel::never()).unwrap().unwrap());
            (left, fallen) = (next, fallen + 1);
        }
        assert!(fallen > 8, "{fallen} times something fell off");
        let two = rejoin.index().touching[3];
        let (pair, looked_at) = rejoin.joined(&two, Cancel::never()).unwrap().unwrap();
        assert!(looked_at <= two.iter().map(|part| leaves(*part)).sum::<usize>());
        assert!(pair.forest == plainly(&rejoin, &two));
    }

    #[test]
    fn parts_that_do_not_touch_are_no_tree() {
        let rejoin = broken()();
        let count = rejoin.pieces.len() as u32;
        let touching = &rejoin.index().touching;
        let apart = (1..count).find(|other| !touching.contains(&[0, *other])).unwrap();
        assert!(rejoin.one_of(&[0, apart], Cancel::never()).unwrap().is_none());
        assert!(rejoin.one_of(&touching[0], Cancel::never()).unwrap().is_some());
        // Every pair that shares a voxel, and no other.
        let keys = |part: u32| -> std::collections::BTreeSet<Key> {
            rejoin
                .forest
                .leaves
                .keys
                .slice(leaves_of(&rejoin.forest, &rejoin.pieces[part as usize]))
                .iter()
                .collect()
        };
        let all: Vec<_> = (0..count).map(keys).collect();
        for a in 0..count {
            for b in a + 1..count {
                let shares = !all[a as usize].is_disjoint(&all[b as usize]);
                assert_eq!(touching.contains(&[a, b]), shares, "{a} {b}");
            }
        }
    }
}
