//! Joins pieces: those of cells with one object id, and small pieces with their neighbours.
//!
//! In: pieces, where they touch, a rule. Out: groups of pieces, each one closed surface without the cracks between its
//! members. Every choice is unique, so the same input gives the same bytes.
//!
//! # Pieces that touch, and where
//!
//! In: pieces of one cut. Out: pairs of triangles that are the two sides of a crack. A method makes a crack's triangles
//! once and gives both sides the same corners to the last bit, so that triangles are matched by their corners.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use super::CutPiece;
use crate::{
    geometry::UnionFind,
    shape::{MassProperties, PieceMesh, Side},
};

/// Data for grouping pieces.
pub(super) struct Grouping<'a> {
    pub pieces: &'a [CutPiece],
    pub touching: &'a Adjacency,
    /// Object of every cell.
    pub objects: &'a [u32],
    /// m^3; what has less is small.
    pub least: f64,
}

/// Which pieces are together.
pub(super) struct Groups {
    /// Per piece the lowest index in its group.
    name: Vec<u32>,
    /// Groups that are taken away.
    dropped: BTreeSet<u32>,
    /// Pieces that joined another since they were small.
    pub merged: usize,
}

impl Groups {
    /// Joins all pieces; `None` if some of them are not connected to the others.
    pub fn one(count: usize, touching: &Adjacency) -> Option<Self> {
        let mut sets = UnionFind::new(count);
        for pair in &touching.pairs {
            let [a, b] = pair.pieces;
            sets.join(a, b);
        }
        let all = (0..count as u32).all(|piece| sets.find(piece) == 0);
        all.then(|| Self { name: vec![0; count], dropped: BTreeSet::new(), merged: 0 })
    }
}

impl Grouping<'_> {
    fn object(&self, piece: u32) -> u32 {
        let cell = self.pieces[piece as usize].cell;
        self.objects.get(cell as usize).copied().unwrap_or(cell)
    }

    /// Groups by objects, then by the smallest piece: the smallest of all first joins the neighbour with which it
    /// shares most, until none with a neighbour is small. The largest is never small.
    pub fn groups(&self, has_rule: bool, merges: bool) -> Groups {
        let count = self.pieces.len() as u32;
        let mut sets = UnionFind::new(count as usize);
        for pair in &self.touching.pairs {
            let [a, b] = pair.pieces;
            if self.object(a) == self.object(b) {
                sets.join(a, b);
            }
        }
        let own = |piece: &CutPiece| {
            MassProperties::of_triangles(piece.surface.corners_of_triangles(), 1.0).volume_m3
        };
        let mut volume = vec![0.0; count as usize];
        for p in 0..count {
            volume[sets.find(p) as usize] += own(&self.pieces[p as usize]);
        }
        let mut out = Groups { name: Vec::new(), dropped: BTreeSet::new(), merged: 0 };
        let groups: BTreeSet<u32> = (0..count).map(|p| sets.find(p)).collect();
        let largest = groups
            .iter()
            .copied()
            .max_by(|a, b| volume[*a as usize].total_cmp(&volume[*b as usize]).then(b.cmp(a)));
        if has_rule && !merges {
            out.dropped = groups
                .iter()
                .copied()
                .filter(|g| volume[*g as usize] < self.least && Some(*g) != largest)
                .collect();
        }
        if has_rule && merges {
            out.merged = self.merge(&mut sets, &mut volume, groups);
        }
        out.name = (0..count).map(|p| sets.find(p)).collect();
        out
    }

    fn merge(&self, sets: &mut UnionFind, volume: &mut [f64], mut groups: BTreeSet<u32>) -> usize {
        let mut shared: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
        for pair in &self.touching.pairs {
            let [a, b] = pair.pieces.map(|p| sets.find(p));
            if a != b {
                *shared.entry(a).or_default().entry(b).or_default() += pair.area;
                *shared.entry(b).or_default().entry(a).or_default() += pair.area;
            }
        }
        let mut merged = 0;
        loop {
            let small =
                |g: &u32| volume[*g as usize] < self.least && shared.get(g).is_some_and(|s| !s.is_empty());
            let by_volume =
                |a: &u32, b: &u32| volume[*a as usize].total_cmp(&volume[*b as usize]).then(a.cmp(b));
            if groups.len() < 2 {
                return merged;
            }
            let Some(g) = groups.iter().copied().filter(small).min_by(by_volume) else { return merged };
            let near = shared.remove(&g).unwrap_or_default();
            let most =
                |a: &(&u32, &f64), b: &(&u32, &f64)| a.1.total_cmp(b.1).then_with(|| by_volume(a.0, b.0));
            let Some(to) = near.iter().max_by(most).map(|(to, _)| *to) else { return merged };
            sets.put_below(g, to);
            volume[to as usize] += volume[g as usize];
            groups.remove(&g);
            merged += 1;
            for (other, area) in near {
                if let Some(theirs) = shared.get_mut(&other) {
                    theirs.remove(&g);
                    if other != to {
                        *theirs.entry(to).or_default() += area;
                    }
                }
                if other != to {
                    *shared.entry(to).or_default().entry(other).or_default() += area;
                }
            }
        }
    }
}

/// One surface of the pieces that are together.
pub(super) struct Group {
    /// The lowest of its cells' objects.
    pub cell: u32,
    /// Objects of its cells, ascending.
    pub objects: Vec<u32>,
    /// Closed, outward.
    pub surface: PieceMesh,
}

/// The surfaces of all groups, in the order of their lowest pieces.
pub(super) struct Joined {
    pub kept: Vec<Group>,
    pub dropped: Vec<Group>,
}

pub(super) fn joined(pieces: &[CutPiece], touching: &Adjacency, groups: Groups, objects: &[u32]) -> Joined {
    let mut between: Vec<Vec<u32>> = vec![Vec::new(); pieces.len()];
    for pair in &touching.pairs {
        let [a, b] = pair.pieces.map(|p| p as usize);
        if groups.name[a] == groups.name[b] {
            between[a].extend(pair.triangles.iter().map(|t| t[0]));
            between[b].extend(pair.triangles.iter().map(|t| t[1]));
        }
    }
    between.iter_mut().for_each(|triangles| triangles.sort_unstable());
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (p, name) in groups.name.iter().enumerate() {
        members.entry(*name).or_default().push(p);
    }
    let mut out = Joined { kept: Vec::new(), dropped: Vec::new() };
    for (name, members) in members {
        let object = |p: &usize| {
            let cell = pieces[*p].cell;
            objects.get(cell as usize).copied().unwrap_or(cell)
        };
        let ids: BTreeSet<u32> = members.iter().map(object).collect();
        // A single piece keeps its corners separate where it touches itself.
        let surface = match &members[..] {
            [only] => pieces[*only].surface.clone(),
            all => one_surface(all, pieces, &between),
        };
        let cell = ids.first().copied().unwrap_or_default();
        let group = Group { cell, objects: ids.into_iter().collect(), surface };
        if groups.dropped.contains(&name) { out.dropped.push(group) } else { out.kept.push(group) }
    }
    out
}

/// The surfaces of several pieces without the cracks between them; corners with the same bits become one.
fn one_surface(members: &[usize], pieces: &[CutPiece], between: &[Vec<u32>]) -> PieceMesh {
    let mut out = PieceMesh::default();
    let mut known: HashMap<[u64; 3], u32> = HashMap::new();
    for &p in members {
        let surface = &pieces[p].surface;
        for (t, corners) in surface.triangles.iter().enumerate() {
            if between[p].binary_search(&(t as u32)).is_ok() {
                continue;
            }
            out.triangles.push(corners.map(|i| {
                let at = surface.positions[i as usize];
                *known.entry(at.to_array().map(f64::to_bits)).or_insert_with(|| {
                    out.positions.push(at);
                    out.positions.len() as u32 - 1
                })
            }));
            out.faces.push(surface.faces[t]);
            out.corners.push(surface.corners[t]);
        }
    }
    out
}

/// A triangle of a piece.
type At = (u32, u32);

/// The two sides of cracks.
pub(super) struct Adjacency {
    /// Pairs of touching pieces, the lower one first, with the triangles of each that touch; ascending.
    pub pairs: Vec<Pair>,
}

/// Two pieces that touch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    /// Their numbers, the lower one first.
    pub pieces: [u32; 2],
    /// m^2.
    pub area: f64,
    /// Triangles of the first and of the second that are equal except for their orientation.
    pub triangles: Vec<[u32; 2]>,
}

impl Adjacency {
    pub fn of(pieces: &[CutPiece]) -> Self {
        let surfaces: Vec<&PieceMesh> = pieces.iter().map(|piece| &piece.surface).collect();
        Self::of_surfaces(&surfaces)
    }

    /// The same of surfaces, which count as pieces in their order.
    pub fn of_surfaces(surfaces: &[&PieceMesh]) -> Self {
        let mut sides: Vec<([[u64; 3]; 3], At)> = surfaces
            .par_iter()
            .enumerate()
            .flat_map_iter(|(p, surface)| {
                let surface: &PieceMesh = surface;
                let cracks = (0..surface.faces.len()).filter(move |t| surface.faces[*t].side == Side::Inside);
                cracks.map(move |t| {
                    let corner = |i: u32| surface.positions[i as usize].to_array().map(f64::to_bits);
                    let mut corners = surface.triangles[t].map(corner);
                    corners.sort_unstable();
                    (corners, (p as u32, t as u32))
                })
            })
            .collect();
        sides.par_sort_unstable();
        let mut met: Vec<([u32; 2], [u32; 2])> = sides
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|same| match same {
                [(_, (a, s)), (_, (b, t))] if a != b => Some(([*a, *b], [*s, *t])),
                _ => None,
            })
            .collect();
        met.par_sort_unstable();
        let pairs = met.chunk_by(|a, b| a.0 == b.0).map(|all| {
            let surface = surfaces[all[0].0[0] as usize];
            let area = |t: u32| {
                let [a, b, c] = surface.triangles[t as usize].map(|i| surface.positions[i as usize]);
                0.5 * (b - a).cross(c - a).length()
            };
            Pair {
                pieces: all[0].0,
                area: all.iter().map(|(_, [t, _])| area(*t)).sum(),
                triangles: all.iter().map(|(_, t)| *t).collect(),
            }
        });
        Self { pairs: pairs.collect() }
    }
}
