//! Unites closed parts of a mesh that pass through each other or through themselves.
//!
//! In: a closed mesh, if need be by caps, whose outermost parts face outward. Out: the same mesh with one surface round all parts that
//! overlap, made of the file's own triangles: they are cut along the lines where two sheets meet, and what lies inside of
//! a part is left out. New vertices have attributes mixed of the corners of their triangle.
//!
//! Parts are united two at a time ([`shells`]). Every part is first made smaller by a four-millionth of the mesh and
//! moved by less, so that faces in one plane have an order, and parts that only touch stay apart, as do their walls. A part
//! that passes through itself is united with itself before ([`alone`]), and each of its corners is moved by chance.
//! Corners of the file keep their places, and new ones that lie closer than that to another corner become it.

mod shells;

use std::{borrow::Cow, cell::Cell, collections::BTreeMap};

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use self::shells::{NEW, Point, Shell, Tangled, alone, overlaps, union};
use super::{
    Mesh,
    heal::{Repair, places, without_inner_walls},
    orient::cone_volume,
    topology::{Edges, topology},
};
use crate::{
    geometry::{
        Aabb, BoxTree, UnionFind, srgb,
        triangle::{shares, winding_number},
    },
    voxelize::Progress,
};

/// Whole units along the longest side of the mesh.
const SIDE: f64 = (1u64 << 38) as f64;
/// How far every face of a part is moved inward, units. It is more than the rounding of a file's numbers.
const SHRINK: f64 = (1u64 << 16) as f64;
/// Largest multiple of [`SHRINK`] by which a corner is moved: at a sharp one the faces move less.
const MOST_MOVED: f64 = 4.0;
/// Bits of the distance by which a part is moved along each axis, units.
const OFFSET_BITS: u32 = 15;
/// Bits of the distance by which each corner of a part that passes through itself is moved along each axis, units.
const JITTER_BITS: u32 = 13;
/// A new corner becomes another one within this distance, units.
const REACH: i64 = 1 << 19;
/// A part with a smaller longest side is left as it is, units.
const LEAST: f64 = 64.0 * SHRINK;
/// Attempts with other offsets, and triangles of parts from which on there are only two: each takes seconds then.
const TRIES: u64 = 6;
const MANY: usize = 200_000;
/// Boxes in a leaf of a tree.
const LEAF: usize = 8;
/// Share of the volume by which a union may differ from the bounds that its parts give.
const VOLUME_OFF: f64 = 1e-4;

/// What was united.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The mesh, if any parts overlap and could be united. It may have vertices that no triangle uses.
    pub mesh: Option<Mesh>,
    /// Parts that another one cuts, or that lie inside another.
    pub parts: usize,
    /// Parts that pass through each other and could not be united.
    pub left: usize,
    /// Parts that passed through themselves and no longer do.
    pub alone: usize,
    /// Parts that pass through themselves and could not be united.
    pub left_alone: usize,
}

/// The mesh in welded vertices.
struct Whole<'a> {
    mesh: &'a Mesh,
    triangles: Vec<[u32; 3]>,
    points: Vec<DVec3>,
    bounds: Aabb,
    /// Units per unit of the mesh.
    unit: f64,
}

/// A solid part: its triangles and those of its cavities.
struct Part {
    triangles: Vec<u32>,
    bounds: Aabb,
    volume: f64,
}

/// A part united with itself.
struct Alone {
    shell: Shell,
    /// In cubic units of the mesh.
    volume: f64,
    /// How the part was moved.
    salt: u64,
}

/// Unites the parts of `mesh`, which must be closed, unless `progress` is cancelled; each with itself first where
/// `through_itself` says that there are such parts.
pub(super) fn unite(mesh: &Mesh, through_itself: bool, progress: &Progress) -> Found {
    let weld = topology(mesh);
    let triangles = weld.triangles(mesh);
    let points = places(mesh, &weld);
    let bounds = Aabb::of(points.iter().copied());
    let unit = SIDE / bounds.size().max_element();
    if !unit.is_finite() {
        return Found::default();
    }
    let whole = Whole { mesh, triangles, points, bounds, unit };
    let mut parts = whole.solids();
    let (mut found, mut shells, mut gone) =
        (Found::default(), Vec::new(), vec![false; whole.triangles.len()]);
    let mut ones: BTreeMap<usize, Alone> = BTreeMap::new();
    for k in 0..if through_itself { parts.len() } else { 0 } {
        match whole.alone(&parts[k], progress) {
            Ok(None) => {}
            Ok(Some(one)) => {
                parts[k].volume = one.volume;
                ones.insert(k, one);
            }
            Err(Tangled) => found.left_alone += 1,
        }
    }
    found.alone = ones.len();
    // Of each triangle of the group at hand the index of its part in the group.
    let mut number = vec![0u32; whole.triangles.len()];
    let mut most = 0.0f64;
    for group in groups(&whole, &parts, progress) {
        let mut count = 0;
        for (k, part) in (0..).zip(&group) {
            parts[*part].triangles.iter().for_each(|t| number[*t as usize] = k);
            count += parts[*part].triangles.len();
        }
        let tries = if count < MANY { TRIES } else { 2 };
        let shell = |k: u64, part: usize, salt: u64| match ones.get(&part) {
            Some(one) => one.as_part(k, salt),
            None => whole.shell(&parts[part].triangles, k, salt),
        };
        let united = (0..tries).take_while(|_| !progress.is_cancelled()).find_map(|salt| {
            let mut met = Vec::new();
            let all = (0..).zip(&group).map(|(k, part)| shell(k, *part, salt));
            let shell = reduced(all.collect(), &mut met, progress)?;
            Some((shell, met))
        });
        if progress.is_cancelled() {
            return Found::default();
        }
        let Some((shell, met)) = united else {
            found.left += group.len();
            continue;
        };
        let mut is_met = vec![false; group.len()];
        met.iter().for_each(|t| is_met[number[*t as usize] as usize] = true);
        if !met.is_empty() {
            found.parts += is_met.iter().filter(|met| **met).count();
            let own = group.iter().flat_map(|part| &parts[*part].triangles);
            own.for_each(|t| gone[*t as usize] = true);
            most = group.iter().map(|part| parts[*part].volume).fold(most, f64::max);
            group.iter().for_each(|part| drop(ones.remove(part)));
            shells.push(shell);
        }
    }
    for (k, one) in ones {
        parts[k].triangles.iter().for_each(|t| gone[*t as usize] = true);
        most = most.max(one.volume);
        shells.push(one.shell);
    }
    if shells.is_empty() {
        return found;
    }
    let before = whole.volume_of(mesh);
    let is_sound = |whole_mesh: &Mesh| {
        let volume = whole.volume_of(whole_mesh);
        volume >= most * (1.0 - VOLUME_OFF) && volume <= before * (1.0 + VOLUME_OFF)
    };
    match tidied(&whole.with(&shells, &gone)).filter(is_sound) {
        Some(mesh) => Found { mesh: Some(mesh), ..found },
        None => Found {
            mesh: None,
            parts: 0,
            left: found.left + found.parts,
            alone: 0,
            left_alone: found.left_alone + found.alone,
        },
    }
}

/// Parts that are one through overlaps, each group of two or more.
fn groups(whole: &Whole<'_>, parts: &[Part], progress: &Progress) -> Vec<Vec<usize>> {
    let is_large = |k: &usize| parts[*k].bounds.size().max_element() * whole.unit >= LEAST;
    let large: Vec<usize> = (0..parts.len()).filter(is_large).collect();
    let tree = BoxTree::by_middles(large.clone(), LEAF, |k| parts[*k].bounds);
    let meets = |k: &usize| {
        let (own, found) = (parts[*k].bounds, Cell::new(false));
        let is_other = |o: &usize| o != k && parts[*o].bounds.meets(&own);
        tree.visit(|bounds| !found.get() && bounds.meets(&own), |o| found.set(found.get() || is_other(o)));
        found.get()
    };
    let near: Vec<usize> = large.into_iter().filter(meets).collect();
    if near.is_empty() || progress.is_cancelled() {
        return Vec::new();
    }
    let shell = |(number, part): (u64, &usize)| whole.shell(&parts[*part].triangles, number, 0);
    let shells: Vec<Shell> = (0..).zip(&near).map(shell).collect();
    let mut sets = UnionFind::new(near.len());
    for [a, b] in overlaps(&shells) {
        sets.join(a, b);
    }
    let mut of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (k, part) in near.iter().enumerate() {
        of.entry(sets.find(k as u32)).or_default().push(*part);
    }
    of.into_values().filter(|group| group.len() > 1).collect()
}

/// The union of all shells, by halves. `None` if two of them do not meet in whole lines, or if it is cancelled.
fn reduced(mut shells: Vec<Shell>, met: &mut Vec<u32>, progress: &Progress) -> Option<Shell> {
    while shells.len() > 1 {
        let mut next = Vec::with_capacity(shells.len().div_ceil(2));
        let mut all = shells.into_iter();
        while let Some(one) = all.next() {
            if progress.is_cancelled() {
                return None;
            }
            next.push(match all.next() {
                Some(other) => union(&one, &other, met).ok()?,
                None => one,
            });
        }
        shells = next;
    }
    shells.pop()
}

/// A whole number below 2^[`OFFSET_BITS`] for an axis of a part.
fn offset(part: u64, axis: u64, salt: u64) -> i64 {
    let mixed = (part * 3 + axis + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt << 32);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> (64 - OFFSET_BITS)) as i64
}

impl Alone {
    /// The shell, moved as a part of a group.
    fn as_part(&self, number: u64, salt: u64) -> Shell {
        let by = [0, 1, 2].map(|axis| offset(number, axis, salt) - offset(0, axis, self.salt));
        let points = self.shell.points.iter().map(|p| [0, 1, 2].map(|axis| p[axis] + by[axis]));
        Shell { points: points.collect(), ..self.shell.clone() }
    }
}

impl Whole<'_> {
    /// A part united with itself; `None` if it does not pass through itself.
    fn alone(&self, part: &Part, progress: &Progress) -> Result<Option<Alone>, Tangled> {
        if part.bounds.size().max_element() * self.unit < LEAST {
            return Ok(None);
        }
        let tries = if part.triangles.len() < MANY { TRIES } else { 2 };
        for salt in (0..tries).take_while(|_| !progress.is_cancelled()) {
            let mut shell = self.shell(&part.triangles, 0, salt);
            for (p, v) in shell.points.iter_mut().zip(&shell.origin) {
                (0..3).for_each(|axis| {
                    let by = offset(u64::from(*v) + 1, axis as u64, !salt);
                    p[axis] += by >> (OFFSET_BITS - JITTER_BITS);
                });
            }
            let Ok(found) = alone(&shell) else { continue };
            let Some((shell, layers)) = found else { return Ok(None) };
            let volume = self.volume_of_shell(&shell);
            let least = part.volume / f64::from(layers);
            if volume >= least * (1.0 - VOLUME_OFF) && volume <= part.volume * (1.0 + VOLUME_OFF) {
                return Ok(Some(Alone { shell, volume, salt }));
            }
        }
        Err(Tangled)
    }

    /// In cubic units of the mesh.
    fn volume_of_shell(&self, shell: &Shell) -> f64 {
        let middle = (self.bounds.middle() - self.bounds.low) * self.unit;
        let corner = |v: u32| DVec3::from_array(shell.points[v as usize].map(|v| v as f64)) - middle;
        let volume: f64 = shell.triangles.iter().map(|t| cone_volume(t.map(corner))).sum();
        volume / self.unit.powi(3)
    }

    /// The number of each triangle's part: triangles that share an edge of no others, and where more share one, as many
    /// of them as are closed there.
    fn part_numbers(&self) -> Vec<u32> {
        let edges = Edges::of(&self.triangles);
        let mut sets = UnionFind::new(self.triangles.len());
        for (_, group) in edges.groups() {
            if let [a, b] = group {
                sets.join(a.1 / 3, b.1 / 3);
            }
        }
        for ([low, _], group) in edges.groups().filter(|(_, group)| group.len() > 2) {
            let mut sides: Vec<(u32, i32)> = Vec::with_capacity(group.len());
            for (_, half) in group {
                let start = self.triangles[*half as usize / 3][*half as usize % 3];
                sides.push((sets.find(half / 3), if start == low { 1 } else { -1 }));
            }
            sides.sort_unstable();
            let is_closed = |part: &[(u32, i32)]| part.iter().map(|side| side.1).sum::<i32>() == 0;
            if !sides.chunk_by(|a, b| a.0 == b.0).all(is_closed) {
                for pair in sides.windows(2) {
                    sets.join(pair[0].0, pair[1].0);
                }
            }
        }
        (0..self.triangles.len() as u32).map(|t| sets.find(t)).collect()
    }

    /// The parts that face outward. A cavity belongs to the smallest one round it.
    fn solids(&self) -> Vec<Part> {
        let numbers = self.part_numbers();
        let mut of: BTreeMap<u32, Part> = BTreeMap::new();
        for (t, number) in (0u32..).zip(&numbers) {
            let corners = self.triangles[t as usize].map(|v| self.points[v as usize]);
            let empty = || Part { triangles: Vec::new(), bounds: Aabb::NOTHING, volume: 0.0 };
            let part = of.entry(*number).or_insert_with(empty);
            part.triangles.push(t);
            part.bounds = part.bounds.joined(Aabb::of(corners));
            part.volume += cone_volume(corners.map(|p| p - self.bounds.middle()));
        }
        let (mut solids, cavities): (Vec<Part>, Vec<Part>) =
            of.into_values().partition(|part| part.volume > 0.0);
        let tree = BoxTree::by_middles((0..solids.len()).collect(), LEAF, |k: &usize| solids[*k].bounds);
        let holder = |cavity: &Part| self.holder(cavity, &solids, &tree);
        let holders: Vec<Option<usize>> = cavities.par_iter().map(holder).collect();
        for (cavity, holder) in cavities.into_iter().zip(holders) {
            if let Some(k) = holder {
                solids[k].triangles.extend(cavity.triangles);
                solids[k].volume += cavity.volume;
            }
        }
        solids
    }

    /// The smallest solid round a cavity. Where the box of one alone holds the cavity's, it is that one.
    fn holder(&self, cavity: &Part, solids: &[Part], tree: &BoxTree<usize>) -> Option<usize> {
        let Aabb { low, high } = cavity.bounds;
        let holds = |bounds: &Aabb| bounds.holds(low) && bounds.holds(high);
        let mut all = Vec::new();
        tree.visit(holds, |k| all.extend(holds(&solids[*k].bounds).then_some(*k)));
        all.sort_by(|a, b| solids[*a].volume.total_cmp(&solids[*b].volume).then(a.cmp(b)));
        let corners = |t: &u32| self.triangles[*t as usize].map(|v| self.points[v as usize]);
        let place = corners(cavity.triangles.first()?)[0];
        let is_round = |k: &usize| winding_number(solids[*k].triangles.iter().map(corners), place) > 0.5;
        match all.as_slice() {
            [only] => Some(*only),
            _ => all.iter().copied().find(is_round),
        }
    }

    /// Triangles of a part as a shell, a little smaller.
    fn shell(&self, own: &[u32], number: u64, salt: u64) -> Shell {
        let mut origin: Vec<u32> = own.iter().flat_map(|t| self.triangles[*t as usize]).collect();
        origin.sort_unstable();
        origin.dedup();
        let at = |v: u32| origin.binary_search(&v).unwrap_or_default() as u32;
        let triangles: Vec<[u32; 3]> = own.iter().map(|t| self.triangles[*t as usize].map(at)).collect();
        let front = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.points[origin[v as usize] as usize]);
            (b - a).cross(c - a)
        };
        let mut normals = vec![DVec3::ZERO; origin.len()];
        triangles.iter().for_each(|t| t.iter().for_each(|v| normals[*v as usize] += front(t)));
        normals.iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        let mut least = vec![1.0f64; origin.len()];
        for t in &triangles {
            let front = front(t).normalize_or_zero();
            t.iter()
                .for_each(|v| least[*v as usize] = least[*v as usize].min(front.dot(normals[*v as usize])));
        }
        let moved = |(k, v): (usize, &u32)| {
            let inward = normals[k] * (SHRINK / least[k].max(1.0 / MOST_MOVED));
            let p = (self.points[*v as usize] - self.bounds.low) * self.unit - inward;
            [0, 1, 2].map(|axis| p[axis].round() as i64 + offset(number, axis as u64, salt))
        };
        let points = origin.iter().enumerate().map(moved).collect();
        Shell { points, triangles, source: own.to_vec(), origin }
    }

    fn volume_of(&self, mesh: &Mesh) -> f64 {
        let corner =
            |v: u32| DVec3::from_array(mesh.positions[v as usize].map(f64::from)) - self.bounds.middle();
        mesh.triangles.iter().map(|t| cone_volume(t.map(corner))).sum()
    }

    /// The mesh without the triangles that are `gone`, and with those of `shells`.
    fn with(&self, shells: &[Shell], gone: &[bool]) -> Mesh {
        let mut out = Mesh { triangles: Vec::new(), ..self.mesh.clone() };
        let (materials, shading) = (&self.mesh.triangle_material, &self.mesh.smoothing);
        (out.triangle_material, out.smoothing, out.triangle_part) = Default::default();
        let add = |out: &mut Mesh, corners: [u32; 3], source: usize| {
            out.triangles.push(corners);
            out.triangle_material.extend(materials.get(source));
            out.smoothing.extend(shading.get(source));
            out.triangle_part.extend(self.mesh.triangle_part.get(source));
        };
        for (t, corners) in self.mesh.triangles.iter().enumerate().filter(|(t, _)| !gone[*t]) {
            add(&mut out, *corners, t);
        }
        for shell in shells {
            let become_one = near_ones(shell);
            // A corner of the file by its welded number, a new one by numbers above those.
            let key = |node: u32| {
                let node = become_one[node as usize];
                match shell.origin[node as usize] {
                    NEW => self.points.len() as u32 + node,
                    welded => welded,
                }
            };
            let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for (nodes, source) in shell.triangles.iter().zip(&shell.source) {
                let keys = nodes.map(key);
                if keys[0] == keys[1] || keys[1] == keys[2] || keys[2] == keys[0] {
                    continue;
                }
                let (own, welded) = (self.mesh.triangles[*source as usize], self.triangles[*source as usize]);
                let corners = keys.map(|key| {
                    if let Some(k) = welded.iter().position(|v| *v == key) {
                        return own[k];
                    }
                    *known.entry((*source, key)).or_insert_with(|| {
                        let place = match (key as usize).checked_sub(self.points.len()) {
                            None => self.points[key as usize],
                            Some(node) => {
                                let p = shell.points[node].map(|v| v as f64);
                                self.bounds.low + DVec3::from_array(p) / self.unit
                            }
                        };
                        let at = welded.map(|v| self.points[v as usize]);
                        add_mixed(&mut out, own, shares(at, place).map(|share| share as f32), place)
                    })
                });
                add(&mut out, corners, *source as usize);
            }
        }
        out
    }
}

/// For each point of a shell the one that it becomes: a new one the nearest corner of the file within [`REACH`], else the
/// first new one there.
fn near_ones(shell: &Shell) -> Vec<u32> {
    let cell = |p: Point| p.map(|v| v.div_euclid(REACH));
    let mut cells: Vec<(Point, u32)> = shell.points.iter().map(|p| cell(*p)).zip(0..).collect();
    cells.sort_unstable();
    let mut to: Vec<u32> = (0..shell.points.len() as u32).collect();
    for node in (0..shell.points.len()).filter(|node| shell.origin[*node] == NEW) {
        let p = shell.points[node];
        let [x, y, z] = cell(p);
        let mut best: Option<(bool, i64, u32)> = None;
        for side in 0..9 {
            let (x, y) = (x + side % 3 - 1, y + side / 3 - 1);
            let from = cells.partition_point(|other| other.0 < [x, y, z - 1]);
            for (_, other) in cells[from..].iter().take_while(|other| other.0 <= [x, y, z + 1]) {
                let q = shell.points[*other as usize];
                let far = (0..3).map(|k| (p[k] - q[k]).abs()).max().unwrap_or_default();
                let is_new = shell.origin[*other as usize] == NEW;
                if far > REACH || is_new && *other as usize >= node {
                    continue;
                }
                let rank = (is_new, if is_new { 0 } else { far }, *other);
                best = Some(best.map_or(rank, |known| known.min(rank)));
            }
        }
        if let Some((_, _, other)) = best {
            to[node] = to[other as usize];
        }
    }
    to
}

/// Adds a vertex at `place` with shares of the attributes of three others; its number.
fn add_mixed(mesh: &mut Mesh, corners: [u32; 3], shares: [f32; 3], place: DVec3) -> u32 {
    let mixed = |of: &dyn Fn(usize) -> f32| (0..3).map(|i| shares[i] * of(corners[i] as usize)).sum::<f32>();
    if mesh.colors.len() == mesh.positions.len() {
        let colors = corners.map(|i| mesh.colors[i as usize]);
        mesh.colors.push(srgb::mixed(colors, shares.map(f64::from)));
    }
    if mesh.uvs.len() == mesh.positions.len() {
        let uv = [0, 1].map(|k| mixed(&|i| mesh.uvs[i][k]));
        mesh.uvs.push(uv);
    }
    if mesh.uvs2.len() == mesh.positions.len() {
        let uv = [0, 1].map(|k| mixed(&|i| mesh.uvs2[i][k]));
        mesh.uvs2.push(uv);
    }
    if mesh.normals.len() == mesh.positions.len() {
        let normal = Vec3::from_array([0, 1, 2].map(|k| mixed(&|i| mesh.normals[i][k])));
        mesh.normals.push(normal.normalize_or_zero().to_array());
    }
    mesh.positions.push(place.as_vec3().to_array());
    mesh.positions.len() as u32 - 1
}

fn repair_of(mesh: &Mesh) -> Repair<'_> {
    let faces = (0..).zip(&mesh.triangles).map(|(k, t)| (k, *t)).collect();
    Repair { mesh: Cow::Borrowed(mesh), weld: topology(mesh), faces }
}

/// A repaired mesh; `before` is the one that was repaired.
fn repaired(repair: Repair<'_>, before: &Mesh) -> Mesh {
    let mut out = repair.mesh.into_owned();
    let of = |all: &[u32]| repair.faces.iter().filter_map(|(k, _)| all.get(*k as usize).copied()).collect();
    (out.triangle_material, out.smoothing) = (of(&before.triangle_material), of(&before.smoothing));
    out.triangle_part = of(&before.triangle_part);
    out.triangles = repair.faces.into_iter().map(|(_, t)| t).collect();
    out
}

/// `mesh` without triangles that lost their area when corners became one. `None` if it is not closed, or if one is left.
fn tidied(mesh: &Mesh) -> Option<Mesh> {
    let mut repair = repair_of(mesh);
    repair.drop_points();
    let out = repaired(repair, mesh);
    let out = without_inner_walls(&out).unwrap_or(out);
    let mut repair = repair_of(&out);
    repair.split_slivers();
    let out = repaired(repair, &out);
    let triangles = topology(&out).triangles(&out);
    let is_flat = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| DVec3::from_array(out.positions[v as usize].map(f64::from)));
        (b - a).cross(c - a).length() == 0.0
    };
    let is_closed = Edges::of(&triangles).signed_boundary(&triangles).is_empty();
    (is_closed && !out.triangles.iter().any(is_flat)).then_some(out)
}

#[cfg(test)]
mod tests;
