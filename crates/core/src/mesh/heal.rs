//! Heals what keeps a surface from bounding a solid: corners that nearly meet, quads of a second side that are split on
//! the other diagonal, triangles without area between two others, holes, and walls between solids that touch.
//!
//! In: a mesh, and its usable triangles. Out: the same surface without the defect, and how often it was healed. Vertices
//! that are moved or added keep or mix the attributes of the file. A mesh without the defect stays as it is.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::{
    Mesh,
    topology::{Edges, Topology, topology},
};
use crate::geometry::{
    Aabb, UnionFind,
    polygon::{holds, triangulate},
};

/// Corners on open edges are one if they are no further apart, as a share of the diagonal of the mesh: files that hold
/// six digits round the two sides of a seam by as much.
const NEAR: f64 = 2e-6;
/// Most corners that one is compared with; more of them in one place are no seam.
const MOST_NEAR: usize = 64;

/// A hole is flat if its corners lie no further from their plane, as a share of its own extent.
const FLAT: f64 = 1e-3;
/// A hole that is not flat is closed only if its extent is smaller, as a share of the diagonal of the mesh.
const SMALL: f64 = 0.1;
/// Most area of caps, as a share of the area of the part that they close: a sheet has no inside to be closed.
const MOST_CAP: f64 = 0.65;
/// Most edges of a hole: the time of cutting ears grows with their square.
const MOST_EDGES: usize = 4096;
/// Most holes among which one round another is looked for.
const MOST_HOLES: usize = 512;
/// Most triangles that are looked at for those beside slivers, as a multiple of all of them: one corner may have any number.
const MOST_LOOKED_AT: usize = 64;

/// Triangles under repair.
pub(super) struct Repair<'a> {
    /// The mesh as read; a copy of it once a vertex was moved or added.
    pub mesh: Cow<'a, Mesh>,
    /// Welded number of each vertex of `mesh`.
    pub weld: Topology,
    /// For each triangle its number in the mesh as read, and its vertices in `mesh`.
    pub faces: Vec<(u32, [u32; 3])>,
}

/// Positions of welded vertices.
pub(super) fn places(mesh: &Mesh, weld: &Topology) -> Vec<DVec3> {
    let mut points = vec![DVec3::ZERO; weld.welded_count as usize];
    for (p, id) in mesh.positions.iter().zip(&weld.welded) {
        points[*id as usize] = DVec3::from_array(p.map(f64::from));
    }
    points
}

/// Pairs of these corners within [`NEAR`], the lower number first.
fn near_pairs(points: &[DVec3], triangles: &[[u32; 3]], corners: &[u32]) -> Vec<[u32; 2]> {
    let bounds = Aabb::of(triangles.iter().flatten().map(|v| points[*v as usize]));
    let reach = NEAR * bounds.size().length();
    if reach <= 0.0 || !reach.is_finite() {
        return Vec::new();
    }
    let cell = |v: u32| ((points[v as usize] - bounds.low) / reach).floor().as_i64vec3().to_array();
    let mut cells: Vec<([i64; 3], u32)> = corners.iter().map(|v| (cell(*v), *v)).collect();
    cells.par_sort_unstable();
    let cells = &cells;
    let is_short =
        |[v, w]: [u32; 2]| points[v as usize].distance_squared(points[w as usize]) <= reach * reach;
    let near = |&([x, y, z], v): &([i64; 3], u32)| {
        (0..9).flat_map(move |side| {
            let (x, y) = (x + side % 3 - 1, y + side / 3 - 1);
            let from = cells.partition_point(|other| other.0 < [x, y, z - 1]);
            let beside = cells[from..].iter().take_while(move |other| other.0 <= [x, y, z + 1]);
            beside.take(MOST_NEAR).map(move |other| [v, other.1])
        })
    };
    cells.par_iter().flat_map_iter(near).filter(|[v, w]| w > v && is_short([*v, *w])).collect()
}

fn are_distinct([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

fn open_edges(edges: &Edges) -> impl Iterator<Item = [u32; 2]> + '_ {
    edges.groups().filter(|(_, group)| group.len() == 1).map(|(ends, _)| ends)
}

impl Repair<'_> {
    /// The triangles with welded vertices.
    pub fn welded(&self) -> Vec<[u32; 3]> {
        self.faces.iter().map(|(_, t)| t.map(|i| self.weld.welded[i as usize])).collect()
    }

    /// Positions of the welded vertices.
    pub fn points(&self) -> Vec<DVec3> {
        places(&self.mesh, &self.weld)
    }

    /// Drops triangles with two corners in one place; how many.
    pub fn drop_points(&mut self) -> usize {
        let (before, weld) = (self.faces.len(), &self.weld);
        self.faces.retain(|(_, t)| are_distinct(t.map(|i| weld.welded[i as usize])));
        before - self.faces.len()
    }

    /// Makes corners on open edges (of `edges`, the edges of [`Repair::welded`]) one where they lie within [`NEAR`], if
    /// fewer edges are open then. Returns how many corners became another one.
    pub fn weld_near(&mut self, edges: &Edges) -> usize {
        let mut open: Vec<u32> = open_edges(edges).flatten().collect();
        open.sort_unstable();
        open.dedup();
        if open.is_empty() {
            return 0;
        }
        let (points, triangles) = (self.points(), self.welded());
        let mut pairs = near_pairs(&points, &triangles, &open);
        pairs.sort_unstable();
        // Corners of one triangle stay apart: a triangle that is small is none that was torn off.
        let mut linked: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .filter(|ends| pairs.binary_search(ends).is_ok())
            .collect();
        linked.sort_unstable();
        let mut sets = UnionFind::new(points.len());
        for [v, w] in pairs.into_iter().filter(|pair| linked.binary_search(pair).is_err()) {
            sets.join(v, w);
        }
        // Of the corners that become one, the first stays where it is.
        let into: Vec<u32> = (0..points.len() as u32).map(|v| sets.find(v)).collect();
        let joined: Vec<[u32; 3]> =
            triangles.iter().map(|t| t.map(|v| into[v as usize])).filter(|t| are_distinct(*t)).collect();
        let is_better = || open_edges(&Edges::of(&joined)).count() < open_edges(edges).count();
        let moved = open.iter().filter(|v| into[**v as usize] != **v).count();
        if moved == 0 || !is_better() {
            return 0;
        }
        self.merge(&into);
        moved
    }

    /// Gives each corner the number and the place of the corner that `into` names.
    fn merge(&mut self, into: &[u32]) {
        let mut place = vec![[0.0f32; 3]; into.len()];
        for (p, id) in self.mesh.positions.iter().zip(&self.weld.welded) {
            place[*id as usize] = *p;
        }
        for (p, id) in self.mesh.to_mut().positions.iter_mut().zip(&mut self.weld.welded) {
            if into[*id as usize] != *id {
                *id = into[*id as usize];
                *p = place[*id as usize];
            }
        }
    }

    /// The part of the file that each triangle is of; empty where the file has one part.
    fn parts(&self) -> Vec<u32> {
        let part = |(k, _): &(u32, [u32; 3])| self.mesh.triangle_part.get(*k as usize).copied();
        let has_several = self.mesh.parts.len() > 1;
        let parts = has_several.then(|| self.faces.iter().map(part).collect::<Option<Vec<u32>>>());
        parts.flatten().unwrap_or_default()
    }

    /// Makes corners of different parts of the file one where they lie within [`NEAR`], if more triangles face another one on
    /// the same corners then: a file that counts each part from its own middle rounds the two sides of a wall apart. No two
    /// corners of one part become one. Returns how many corners became another one.
    pub fn weld_walls(&mut self) -> usize {
        let parts = self.parts();
        if parts.is_empty() {
            return 0;
        }
        let (points, triangles) = (self.points(), self.welded());
        let all: Vec<u32> = (0..points.len() as u32).collect();
        let pairs = near_pairs(&points, &triangles, &all);
        if pairs.is_empty() {
            return 0;
        }
        let mut owned: Vec<(u32, u32)> =
            triangles.iter().zip(&parts).flat_map(|(t, part)| t.map(|v| (v, *part))).collect();
        owned.par_sort_unstable();
        owned.dedup();
        let owners = |corner: u32| -> Vec<u32> {
            let from = owned.partition_point(|one| one.0 < corner);
            owned[from..].iter().take_while(|one| one.0 == corner).map(|one| one.1).collect()
        };
        let mut sets = UnionFind::new(points.len());
        let mut of_set: HashMap<u32, Vec<u32>> = HashMap::new();
        for [v, w] in pairs {
            let (a, b) = (sets.find(v), sets.find(w));
            if a == b {
                continue;
            }
            let mut taken = |root: u32| of_set.remove(&root).unwrap_or_else(|| owners(root));
            let (one, other) = (taken(a), taken(b));
            let are_many = one.len() + other.len() > MOST_NEAR;
            if are_many || one.iter().any(|part| other.contains(part)) {
                of_set.extend([(a, one), (b, other)]);
            } else {
                sets.join(a, b);
                of_set.insert(a.min(b), [one, other].concat());
            }
        }
        let into: Vec<u32> = all.iter().map(|v| sets.find(*v)).collect();
        let moved = into.iter().zip(&all).filter(|(into, own)| into != own).count();
        let joined: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| into[v as usize])).collect();
        if moved == 0 || facing_pairs(&joined).len() <= facing_pairs(&triangles).len() {
            return 0;
        }
        self.merge(&into);
        moved
    }

    /// Drops triangles of different parts of the file that face each other on the same corners, as the walls of solids that
    /// touch do; how many.
    pub fn drop_walls(&mut self) -> usize {
        let parts = self.parts();
        if parts.is_empty() {
            return 0;
        }
        let triangles = self.welded();
        let mut gone = vec![false; triangles.len()];
        for [one, other] in facing_pairs(&triangles).into_iter().map(|pair| pair.map(|t| t as usize)) {
            if parts[one] != parts[other] {
                (gone[one], gone[other]) = (true, true);
            }
        }
        let count = gone.iter().filter(|gone| **gone).count();
        // Where nothing but walls is there, they are what the file shows.
        if count == 0 || count == gone.len() {
            return 0;
        }
        let mut flags = gone.into_iter();
        self.faces.retain(|_| !flags.next().unwrap_or(false));
        count
    }

    /// Where two quads of two triangles each have the same corners and different diagonals, as the two sides of a sheet
    /// have that a program split each on its own, gives the later one the diagonal of the first. `edges` are those of
    /// [`Repair::welded`]. Returns how many quads changed.
    pub fn match_diagonals(&mut self, edges: &Edges) -> usize {
        // In the order of groups, so sorted.
        let crowded: Vec<[u32; 2]> =
            edges.groups().filter(|(_, group)| group.len() >= 4).map(|(ends, _)| ends).collect();
        if crowded.len() < 4 {
            return 0;
        }
        let is_crowded = |a: u32, b: u32| crowded.binary_search(&[a.min(b), a.max(b)]).is_ok();
        let triangles = self.welded();
        // A half edge is numbered by three times its triangle and the corner that it starts at.
        let corner = |half: u32, k: u32| triangles[half as usize / 3][(half + k) as usize % 3];
        let mut quads: Vec<([u32; 4], [u32; 2], [u32; 2])> = Vec::new();
        for (ends, group) in edges.groups() {
            let [(_, one), (_, other)] = *group else { continue };
            let apexes = [corner(one, 2), corner(other, 2)];
            if corner(one, 0) == corner(other, 0) || apexes[0] == apexes[1] {
                continue;
            }
            if !ends.iter().all(|end| apexes.iter().all(|apex| is_crowded(*end, *apex))) {
                continue;
            }
            let mut corners = [ends[0], ends[1], apexes[0], apexes[1]];
            corners.sort_unstable();
            quads.push((corners, ends, [one, other]));
        }
        quads.sort_unstable();
        let (mut touched, mut turned) = (vec![false; triangles.len()], 0);
        for same in quads.chunk_by(|a, b| a.0 == b.0) {
            let (_, kept, halves) = same[0];
            let of = |halves: [u32; 2]| halves.map(|half| half as usize / 3);
            if of(halves).iter().any(|t| touched[*t]) {
                continue;
            }
            for &(_, diagonal, others) in &same[1..] {
                let [t, n] = of(others);
                if diagonal.iter().any(|v| kept.contains(v)) || touched[t] || touched[n] {
                    continue;
                }
                let at = |half: u32| {
                    let own = self.faces[half as usize / 3].1;
                    [0, 1, 2].map(|k| own[(half as usize + k) % 3])
                };
                let ([a, b, c], [_, _, d]) = (at(others[0]), at(others[1]));
                (self.faces[t].1, self.faces[n].1) = ([a, d, c], [d, b, c]);
                of(halves).into_iter().chain([t, n]).for_each(|t| touched[t] = true);
                turned += 1;
            }
        }
        turned
    }

    /// Takes out triangles whose corners lie on one line: the triangle beyond the longest side is divided at the corner
    /// between, so that what met the sliver meets that one. A sliver on an open edge, or on one of more than two
    /// triangles, stays. Returns how many went.
    pub fn split_slivers(&mut self) -> usize {
        let (points, mut triangles) = (self.points(), self.welded());
        let is_flat = |t: [u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            (b - a).cross(c - a).length() == 0.0
        };
        let mut queue: VecDeque<usize> = (0..triangles.len()).filter(|t| is_flat(triangles[*t])).collect();
        if queue.is_empty() {
            return 0;
        }
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); points.len()];
        for (t, corners) in triangles.iter().enumerate() {
            corners.iter().for_each(|v| around[*v as usize].push(t));
        }
        let mut gone = vec![false; triangles.len()];
        // Slivers side by side hand one another on; their number bounds how often.
        let mut left = 8 * queue.len() + 64;
        let mut looks = MOST_LOOKED_AT * (triangles.len() + 64);
        while let (Some(t), true) = (queue.pop_front(), left > 0) {
            left -= 1;
            if gone[t] || !is_flat(triangles[t]) {
                continue;
            }
            let own = triangles[t];
            let long = |k: usize| points[own[k] as usize].distance_squared(points[own[(k + 1) % 3] as usize]);
            let k = (0..3).max_by(|i, j| long(*i).total_cmp(&long(*j))).unwrap_or_default();
            let [a, b, c] = [own[k], own[(k + 1) % 3], own[(k + 2) % 3]];
            let has_both =
                |n: &usize| *n != t && !gone[*n] && triangles[*n].contains(&a) && triangles[*n].contains(&b);
            // Those beside have both ends, so the one with fewer triangles has them all.
            let ends = [&around[a as usize], &around[b as usize]];
            let near = if ends[0].len() <= ends[1].len() { ends[0] } else { ends[1] };
            let Some(after) = looks.checked_sub(near.len()) else { break };
            looks = after;
            let beside: Vec<usize> = near.iter().copied().filter(has_both).collect();
            let [n] = beside[..] else { continue };
            let beyond = triangles[n];
            let Some(d) = beyond.into_iter().find(|v| *v != a && *v != b) else { continue };
            gone[t] = true;
            if d == c {
                // Front and back of one sliver.
                gone[n] = true;
                continue;
            }
            let slot = |v: u32| beyond.iter().position(|x| *x == v).unwrap_or_default();
            let (at_a, at_b) = (slot(a), slot(b));
            let [from, to, between] = [a, b, c].map(|v| points[v as usize]);
            let share = (between.distance(from) / to.distance(from)) as f32;
            let (number, shown) = self.faces[n];
            let place = self.mesh.positions[self.faces[t].1[(k + 2) % 3] as usize];
            let middle = add_between(self.mesh.to_mut(), [shown[at_a], shown[at_b]], place, share);
            self.weld.welded.push(c);
            // The first half keeps corner a, the second one corner b.
            let (mut second, mut second_shown) = (beyond, shown);
            (second[at_a], second_shown[at_a]) = (c, middle);
            (triangles[n][at_b], self.faces[n].1[at_b]) = (c, middle);
            let new = triangles.len();
            triangles.push(second);
            self.faces.push((number, second_shown));
            gone.push(false);
            around[c as usize].extend([n, new]);
            around[d as usize].push(new);
            around[b as usize].push(new);
            queue.extend([n, new].into_iter().filter(|t| is_flat(triangles[*t])));
        }
        let count = gone.iter().filter(|gone| **gone).count();
        let mut flags = gone.into_iter();
        self.faces.retain(|_| !flags.next().unwrap_or(false));
        count
    }
}

/// Adds a vertex at `place`, with what is at this share of the way between the attributes of two others; its number.
fn add_between(mesh: &mut Mesh, ends: [u32; 2], place: [f32; 3], share: f32) -> u32 {
    let [a, b] = ends.map(|i| i as usize);
    let mixed = |p: f32, q: f32| p + (q - p) * share;
    if let (Some(&p), Some(&q)) = (mesh.colors.get(a), mesh.colors.get(b)) {
        mesh.colors.push([0, 1, 2].map(|k| mixed(f32::from(p[k]), f32::from(q[k])).round() as u8));
    }
    for uvs in [&mut mesh.uvs, &mut mesh.uvs2] {
        if let (Some(&p), Some(&q)) = (uvs.get(a), uvs.get(b)) {
            uvs.push([0, 1].map(|k| mixed(p[k], q[k])));
        }
    }
    if let (Some(&p), Some(&q)) = (mesh.normals.get(a), mesh.normals.get(b)) {
        let normal = Vec3::from_array([0, 1, 2].map(|k| mixed(p[k], q[k])));
        mesh.normals.push(normal.normalize_or_zero().to_array());
    }
    mesh.positions.push(place);
    mesh.positions.len() as u32 - 1
}

/// The border of a hole, in the direction in which a cap runs along it.
struct Hole {
    nodes: Vec<u32>,
    middle: DVec3,
    /// Normal of a cap, with twice its area as its length.
    normal: DVec3,
    /// Largest distance of a corner from the middle.
    extent: f64,
    is_flat: bool,
}

impl Hole {
    fn new(nodes: Vec<u32>, points: &[DVec3]) -> Self {
        let at = |k: usize| points[nodes[k % nodes.len()] as usize];
        let middle = (0..nodes.len()).map(at).sum::<DVec3>() / nodes.len() as f64;
        let normal = (0..nodes.len()).map(|k| (at(k) - middle).cross(at(k + 1) - middle)).sum::<DVec3>();
        let extent = (0..nodes.len()).map(|k| at(k).distance(middle)).fold(0.0, f64::max);
        let unit = normal.normalize_or_zero();
        let off = (0..nodes.len()).map(|k| (at(k) - middle).dot(unit).abs()).fold(0.0, f64::max);
        Self { is_flat: off <= FLAT * extent, nodes, middle, normal, extent }
    }

    /// A projection in which a cap is counter-clockwise.
    fn flattened<'a>(&self, points: &'a [DVec3]) -> impl Fn(u32) -> DVec2 + use<'a> {
        let (middle, normal) = (self.middle, self.normal.normalize_or(DVec3::Y));
        let across = normal.any_orthonormal_vector();
        let up = normal.cross(across);
        move |node| {
            let p = points[node as usize] - middle;
            DVec2::new(p.dot(across), p.dot(up))
        }
    }

    /// Whether `other` lies in the plane of this hole and within it, and its cap faces the other way: the two are the
    /// borders of one ring.
    fn is_round(&self, other: &Self, points: &[DVec3]) -> bool {
        let [normal, theirs] = [self.normal, other.normal].map(|n| n.normalize_or_zero());
        let both = self.is_flat && other.is_flat && normal.dot(theirs) < -0.999;
        if !both || (other.middle - self.middle).dot(normal).abs() > FLAT * self.extent {
            return false;
        }
        let flat = self.flattened(points);
        let around: Vec<DVec2> = self.nodes.iter().map(|node| flat(*node)).collect();
        holds(&around, flat(other.nodes[0]))
    }
}

/// The borders of all holes of a chain of open edges, each of which one triangle runs along. `None` where two of them
/// meet in a corner, or one is too long.
fn holes_of(chain: &[(u32, u32, u32)], points: &[DVec3]) -> Option<Vec<Hole>> {
    let mut next: Vec<(u32, u32)> = chain.iter().map(|(a, b, _)| (*b, *a)).collect();
    next.sort_unstable();
    if chain.iter().any(|edge| edge.2 != 1) || next.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let (mut taken, mut holes) = (vec![false; next.len()], Vec::new());
    for start in 0..next.len() {
        let (mut nodes, mut at) = (Vec::new(), start);
        while !taken[at] {
            taken[at] = true;
            nodes.push(next[at].0);
            at = next.binary_search_by_key(&next[at].1, |edge| edge.0).ok()?;
        }
        match nodes.len() {
            0 => {}
            3..=MOST_EDGES => holes.push(Hole::new(nodes, points)),
            _ => return None,
        }
    }
    Some(holes)
}

/// `mesh` (as [`check`](super::check) returns it) with all its holes closed by triangles between their own corners, and
/// how many holes there were. A cap shows what the surface shows along the border: material, colours and texture
/// coordinates of the corners. `None` where the mesh has no hole, where a hole is neither flat nor small, and where the
/// caps would be nearly as large as what they close.
#[must_use]
pub(crate) fn capped(mesh: &Mesh) -> Option<(Mesh, usize)> {
    let weld = topology(mesh);
    let triangles = weld.triangles(mesh);
    let chain = Edges::of(&triangles).signed_boundary(&triangles);
    if chain.is_empty() {
        return None;
    }
    let points = places(mesh, &weld);
    let mut holes = holes_of(&chain, &points)?;
    let size = Aabb::of(triangles.iter().flatten().map(|v| points[*v as usize])).size().length();
    if !holes.iter().all(|hole| hole.is_flat || hole.extent <= SMALL * size) {
        return None;
    }
    // The triangle beside each open edge, and the vertex of the mesh at each corner of a hole.
    let mut edges: Vec<(u32, u32)> = chain.iter().map(|(a, b, _)| (*a, *b)).collect();
    edges.sort_unstable();
    let (mut beside, mut vertex) = (vec![0usize; edges.len()], vec![u32::MAX; points.len()]);
    let mut sets = UnionFind::new(points.len());
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            sets.join(a, b);
            let Ok(edge) = edges.binary_search(&(a, b)) else { continue };
            beside[edge] = t;
            for (welded, own) in [(a, mesh.triangles[t][k]), (b, mesh.triangles[t][(k + 1) % 3])] {
                vertex[welded as usize] = vertex[welded as usize].min(own);
            }
        }
    }
    // The largest first, so that what lies round a hole is known before it.
    holes.sort_by(|a, b| b.normal.length_squared().total_cmp(&a.normal.length_squared()));
    let count = holes.len();
    let mut within: Vec<Option<usize>> = vec![None; count];
    for inner in (0..count).filter(|_| count <= MOST_HOLES) {
        let round =
            |outer: &usize| within[*outer].is_none() && holes[*outer].is_round(&holes[inner], &points);
        within[inner] = (0..inner).rev().find(round);
    }
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| points[v as usize]);
        (b - a).cross(c - a).length() / 2.0
    };
    let (mut own_area, mut cap_area) = (vec![0.0; points.len()], vec![0.0; points.len()]);
    triangles.iter().for_each(|t| own_area[sets.find(t[0]) as usize] += area(t));
    let mut inners: Vec<Vec<Vec<u32>>> = vec![Vec::new(); count];
    for (hole, outer) in holes.iter().zip(&within) {
        if let Some(outer) = outer {
            inners[*outer].push(hole.nodes.clone());
        }
    }
    let mut out = mesh.clone();
    for (outer, hole) in holes.iter().enumerate().filter(|(outer, _)| within[*outer].is_none()) {
        let inner = std::mem::take(&mut inners[outer]);
        if hole.nodes.len() + inner.iter().map(Vec::len).sum::<usize>() > MOST_EDGES {
            return None;
        }
        let edge = edges.binary_search(&(hole.nodes[1], hole.nodes[0])).ok()?;
        let material = mesh.triangle_material.get(beside[edge]).copied();
        for t in triangulate(&hole.nodes, &inner, &hole.flattened(&points), &|_, _| true) {
            cap_area[sets.find(hole.nodes[0]) as usize] += area(&t);
            out.triangles.push(t.map(|v| vertex[v as usize]));
            out.triangle_material.extend(material);
            out.smoothing.extend((!mesh.smoothing.is_empty()).then_some(Mesh::FLAT));
            out.triangle_part.extend(mesh.triangle_part.get(beside[edge]).copied());
        }
    }
    let is_sheet = own_area.iter().zip(&cap_area).any(|(own, cap)| *cap > MOST_CAP * own);
    (!is_sheet).then_some((out, count))
}

/// Pairs of triangles that face each other on the same corners, each triangle in one pair at most.
fn facing_pairs(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let named = |(k, [a, b, c]): (usize, &[u32; 3])| {
        // Turned so that the least corner is first; then the order of the others says which way the triangle faces.
        let [low, p, q] = match a.min(b).min(c) {
            low if low == a => [*a, *b, *c],
            low if low == b => [*b, *c, *a],
            _ => [*c, *a, *b],
        };
        ([low, p.min(q), p.max(q)], p > q, k as u32)
    };
    let mut order: Vec<([u32; 3], bool, u32)> = triangles.par_iter().enumerate().map(named).collect();
    order.par_sort_unstable();
    let mut pairs = Vec::new();
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let (front, back) = group.split_at(group.partition_point(|t| !t.1));
        pairs.extend(front.iter().zip(back).map(|(one, other)| [one.2, other.2]));
    }
    pairs
}

/// `mesh` without the walls between solids that touch: triangles on the same corners that face each other cancel, so
/// that the solids are one. `None` where there are none.
#[must_use]
pub(crate) fn without_inner_walls(mesh: &Mesh) -> Option<Mesh> {
    let pairs = facing_pairs(&topology(mesh).triangles(mesh));
    if pairs.is_empty() {
        return None;
    }
    let mut cancel = vec![false; mesh.triangles.len()];
    pairs.as_flattened().iter().for_each(|t| cancel[*t as usize] = true);
    let mut out = mesh.clone();
    let mut of_triangle = cancel.iter();
    out.triangles.retain(|_| of_triangle.next() != Some(&true));
    for list in [&mut out.triangle_material, &mut out.smoothing, &mut out.triangle_part] {
        let mut of_triangle = cancel.iter();
        list.retain(|_| of_triangle.next() != Some(&true));
    }
    Some(out)
}
