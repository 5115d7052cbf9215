//! Which parts of a mesh are one object, and the mesh of one object.
//!
//! In: a mesh whose reader says of which part of the file each triangle is. Out: the parts of each object, its name, and
//! its triangles alone.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use glam::DVec3;

use super::{Mesh, Part};
use crate::{
    geometry::{
        Aabb, BoxTree, UnionFind,
        triangle::{distance_squared, winding_number},
    },
    voxelize::Progress,
};

/// Which parts of a file are one object.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Objects {
    /// All of them.
    #[default]
    Together,
    /// Those that touch or overlap, or of which one contains the other.
    Touching,
    /// Each on its own.
    Apart,
}

impl Objects {
    /// Whether a file is always one object.
    #[must_use]
    pub fn are_together(&self) -> bool {
        *self == Self::Together
    }
}

/// Triangles no further apart than this touch, as a share of the diagonal of the mesh: files that hold six digits round
/// the same place by as much.
const NEAR: f64 = 2e-6;
/// Work on pairs of parts, in triangles looked at, after which parts whose boxes meet count as touching.
const MOST_WORK: u64 = 1 << 31;
/// Boxes of parts near other parts' boxes that are listed, after which those count as touching between which no plane across an
/// axis has a gap: n parts in one place have n^2 of them.
const MOST_NEAR: usize = 1 << 24;
/// Work of comparing two triangles, of the same kind.
const PAIR_WORK: u64 = 64;
/// Triangles and parts in a leaf of a tree.
const LEAF: usize = 8;

type Corners = [DVec3; 3];

/// The triangles of a part with their boxes, and a tree of them once another part lies near.
#[derive(Default)]
struct Own {
    corners: Vec<Corners>,
    bounds: Aabb,
    tree: OnceCell<BoxTree<(Corners, Aabb)>>,
}

impl Own {
    fn tree(&self) -> &BoxTree<(Corners, Aabb)> {
        self.tree.get_or_init(|| {
            let boxed: Vec<(Corners, Aabb)> =
                self.corners.iter().map(|corners| (*corners, Aabb::of(*corners))).collect();
            BoxTree::by_middles(boxed, LEAF, |(_, bounds)| *bounds)
        })
    }
}

/// Most nodes above a node that its path names.
const MOST_ABOVE: usize = 16;
/// Most characters of a name.
const LONGEST_NAME: usize = 120;
/// Most objects that a line names.
const MOST_NAMED: usize = 4;

impl Part {
    /// The part of a node, by its name and those of the nodes above it, upward from its own. Nodes without a name are left out.
    pub(super) fn under<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let plain = |c: char| if c.is_control() || c == '/' { ' ' } else { c };
        let shown = |name: &str| -> String { name.trim().chars().take(LONGEST_NAME).map(plain).collect() };
        let mut path: Vec<String> = names.take(MOST_ABOVE + 1).map(shown).collect();
        path.retain(|name| !name.is_empty());
        path.reverse();
        Self { object: path.last().cloned().unwrap_or_default(), node: path.join("/"), instance: None }
    }
}

impl Mesh {
    /// The numbers of the parts of each object, ascending, in the order of their first parts. One object where the file has
    /// no parts. Means nothing once `progress` is cancelled.
    #[must_use]
    pub fn objects(&self, how: Objects, progress: &Progress) -> Vec<Vec<u32>> {
        let count = if self.triangle_part.len() == self.triangles.len() { self.parts.len() } else { 0 };
        // A part whose triangles were all unusable is no object.
        let mut has_triangles = vec![false; count];
        if count > 0 {
            self.triangle_part.iter().for_each(|part| has_triangles[*part as usize] = true);
        }
        let all = (0..count as u32).filter(|part| has_triangles[*part as usize]);
        match how {
            Objects::Apart if count > 1 => all.map(|part| vec![part]).collect(),
            Objects::Touching if count > 1 => {
                let mut sets = touching(self, progress);
                let mut number = vec![usize::MAX; count];
                let mut groups: Vec<Vec<u32>> = Vec::new();
                for part in all {
                    let root = sets.find(part) as usize;
                    if number[root] == usize::MAX {
                        number[root] = groups.len();
                        groups.push(Vec::new());
                    }
                    groups[number[root]].push(part);
                }
                groups
            }
            _ => vec![all.collect()],
        }
    }

    /// The name of an object of these parts: of its part, or of the last node that all its parts have in common, else of
    /// the first part with a name. Empty if no part has one.
    #[must_use]
    pub fn object_name(&self, parts: &[u32]) -> String {
        let own = || parts.iter().filter_map(move |part| self.parts.get(*part as usize));
        let named = || own().map(|part| part.object.clone()).find(|name| !name.is_empty());
        let mut nodes = own().map(|part| part.node.split('/').collect::<Vec<_>>());
        let common = nodes.next().map(|first| {
            let shared = |a: &[&str], b: &[&str]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
            let depth = nodes.fold(first.len(), |depth, other| depth.min(shared(&first, &other)));
            first[..depth].last().map_or(String::new(), |name| (*name).to_owned())
        });
        match parts {
            [_] => named().unwrap_or_default(),
            _ => common.filter(|name| !name.is_empty()).or_else(named).unwrap_or_default(),
        }
    }

    /// A line for those who take the mesh as one object: how many objects that do not touch become one, and the first names.
    /// `None` where there is one object, and once `progress` is cancelled.
    #[must_use]
    pub fn joined_objects(&self, progress: &Progress) -> Option<String> {
        let objects = self.objects(Objects::Touching, progress);
        if objects.len() < 2 || progress.is_cancelled() {
            return None;
        }
        let named = objects.iter().take(MOST_NAMED).map(|parts| self.object_name(parts));
        let mut names: Vec<String> = named.filter(|name| !name.is_empty()).collect();
        if objects.len() > MOST_NAMED && !names.is_empty() {
            names.push("...".to_owned());
        }
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        Some(format!("its {} objects{names}, which do not touch, are joined to one", objects.len()))
    }

    /// The triangles of these parts alone, with the vertices that they have, all materials, and the parts' names.
    #[must_use]
    pub fn of_parts(&self, parts: &[u32]) -> Self {
        self.of_groups(&[parts.to_vec()]).pop().unwrap_or_default()
    }

    /// The same for each of several groups of parts, of which no two have a part in common. All of them together take the
    /// time that one of all parts takes.
    #[must_use]
    pub fn of_groups(&self, groups: &[Vec<u32>]) -> Vec<Self> {
        // The group of each part, and the part's number there.
        let mut place = vec![None; self.parts.len()];
        for (group, parts) in groups.iter().enumerate() {
            for (number, part) in (0..).zip(parts) {
                place[*part as usize] = Some((group, number));
            }
        }
        let mut own: Vec<Vec<(usize, u32)>> = vec![Vec::new(); groups.len()];
        for (t, part) in self.triangle_part.iter().enumerate() {
            if let Some((group, number)) = place[*part as usize] {
                own[group].push((t, number));
            }
        }
        // The number of each vertex in the last group that has it.
        let mut numbers = vec![(usize::MAX, 0); self.positions.len()];
        type Group<'a> = (&'a Vec<u32>, &'a Vec<(usize, u32)>);
        let of_group = |(group, (parts, own)): (usize, Group<'_>)| {
            let mut out = Self {
                materials: self.materials.clone(),
                origin: self.origin,
                parts: parts.iter().map(|part| self.parts[*part as usize].clone()).collect(),
                ..Self::default()
            };
            for &(t, part) in own {
                let corners = self.triangles[t].map(|i| {
                    let i = i as usize;
                    if numbers[i].0 != group {
                        numbers[i] = (group, out.positions.len() as u32);
                        out.positions.push(self.positions[i]);
                        out.colors.extend(self.colors.get(i));
                        out.uvs.extend(self.uvs.get(i));
                        out.uvs2.extend(self.uvs2.get(i));
                        out.normals.extend(self.normals.get(i));
                    }
                    numbers[i].1
                });
                out.triangles.push(corners);
                out.triangle_part.push(part);
                out.triangle_material.extend(self.triangle_material.get(t));
                out.smoothing.extend(self.smoothing.get(t));
            }
            out
        };
        groups.iter().zip(&own).enumerate().map(of_group).collect()
    }

    /// Corners of the triangles.
    pub fn corners(&self) -> impl Iterator<Item = [DVec3; 3]> {
        let at = move |i: u32| DVec3::from_array(self.positions[i as usize].map(f64::from));
        self.triangles.iter().map(move |t| t.map(at))
    }
}

/// The name, or the name with the first number from 2 on that makes it one that is not `taken`.
#[must_use]
pub fn unlike(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..u32::MAX).map(|number| format!("{name} {number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

/// The mesh that a blow hits: with a `point`, that whose surface is nearest to it; else the first one on the way of the axis
/// along -z through the middle of all, and if there is none, that which is nearest to where the axis begins.
#[must_use]
pub fn struck(meshes: &[&Mesh], point: Option<DVec3>) -> usize {
    let bounds = Aabb::of(meshes.iter().flat_map(|mesh| mesh.corners()).flatten());
    let axis = bounds.middle();
    let front = meshes.iter().enumerate().filter_map(|(number, mesh)| {
        let heights = mesh.corners().filter_map(|corners| height_at(corners, axis));
        heights.max_by(f64::total_cmp).map(|z| (z, number))
    });
    let hit = front.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    if let (None, Some((_, number))) = (point, hit) {
        return number;
    }
    let from = point.unwrap_or(DVec3::new(axis.x, axis.y, bounds.high.z));
    let away = |mesh: &Mesh| {
        mesh.corners().map(|corners| distance_squared(from, corners)).fold(f64::INFINITY, f64::min)
    };
    let distances = meshes.iter().map(|mesh| away(mesh)).enumerate();
    distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(number, _)| number)
}

/// Where a line along z through `p` meets a triangle; `None` beside it, and where the triangle stands along z.
fn height_at([a, b, c]: Corners, p: DVec3) -> Option<f64> {
    let area = |a: DVec3, b: DVec3, c: DVec3| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let (whole, shares) = (area(a, b, c), [area(p, b, c), area(a, p, c), area(a, b, p)]);
    let is_within = whole != 0.0 && shares.iter().all(|share| share * whole >= 0.0);
    is_within.then(|| (shares[0] * a.z + shares[1] * b.z + shares[2] * c.z) / whole)
}

/// The sets of parts that touch, overlap or contain one another.
fn touching(mesh: &Mesh, progress: &Progress) -> UnionFind {
    let mut own: Vec<Own> = std::iter::repeat_with(Own::default).take(mesh.parts.len()).collect();
    for (corners, part) in mesh.corners().zip(&mesh.triangle_part) {
        own[*part as usize].corners.push(corners);
    }
    own.iter_mut().for_each(|own| own.bounds = Aabb::of(own.corners.iter().flatten().copied()));
    let whole = own.iter().map(|own| own.bounds).fold(Aabb::NOTHING, Aabb::joined);
    let reach = NEAR * whole.size().length();
    let mut sets = UnionFind::new(own.len());
    let numbers = without_doubles(&own, &mut sets);
    let boxes: Vec<Aabb> = own.iter().map(|part| part.bounds).collect();
    let tree = BoxTree::by_middles(numbers.clone(), LEAF, |part| boxes[*part as usize]);
    let (mut left, mut listed) = (MOST_WORK, 0);
    for &a in &numbers {
        let around = grown(own[a as usize].bounds, reach);
        let mut near = Vec::new();
        tree.visit(|bounds| bounds.meets(&around), |b| near.push(*b));
        listed += near.len();
        if listed > MOST_NEAR {
            join_crowds(&own, &numbers, reach, &mut sets);
            return sets;
        }
        near.retain(|b| *b > a && own[*b as usize].bounds.meets(&around));
        near.sort_unstable();
        for b in near {
            if progress.is_cancelled() {
                return sets;
            }
            if sets.find(a) == sets.find(b) {
                continue;
            }
            let pair = [a, b].map(|part| &own[part as usize]);
            if left == 0 || touch(pair, reach, &mut left) || contain(pair, &mut left) {
                sets.join(a, b);
            }
        }
    }
    sets
}

/// The parts with triangles, ascending, without those whose triangles are all those of an earlier one: a part touches its
/// double, and what touches one of them touches both.
fn without_doubles(own: &[Own], sets: &mut UnionFind) -> Vec<u32> {
    let mut firsts = HashMap::new();
    let mut numbers: Vec<u32> = (0..own.len() as u32).collect();
    numbers.retain(|part| {
        let corners = &own[*part as usize].corners;
        let Some(triangle) = corners.first() else { return false };
        let key = (corners.len(), triangle.map(|p| p.to_array().map(f64::to_bits)));
        let first: u32 = *firsts.entry(key).or_insert(*part);
        let is_double = first != *part && own[first as usize].corners == *corners;
        if is_double {
            sets.join(first, *part);
        }
        !is_double
    });
    numbers
}

/// Joins parts between which no plane across an axis has a gap, in little more time than sorts take.
fn join_crowds(own: &[Own], numbers: &[u32], reach: f64, sets: &mut UnionFind) {
    let bounds = |part: &u32| own[*part as usize].bounds;
    let mut open = vec![numbers.to_vec()];
    'next: while let Some(mut crowd) = open.pop() {
        for axis in 0..3 {
            crowd.sort_by(|a, b| bounds(a).low[axis].total_cmp(&bounds(b).low[axis]));
            let (mut runs, mut high) = (Vec::<Vec<u32>>::new(), f64::NEG_INFINITY);
            for part in &crowd {
                if bounds(part).low[axis] > high + reach {
                    runs.push(Vec::new());
                }
                high = high.max(bounds(part).high[axis]);
                runs.last_mut().into_iter().for_each(|run| run.push(*part));
            }
            if runs.len() > 1 {
                open.extend(runs);
                continue 'next;
            }
        }
        crowd.windows(2).for_each(|pair| _ = sets.join(pair[0], pair[1]));
    }
}

fn grown(Aabb { low, high }: Aabb, by: f64) -> Aabb {
    Aabb::new(low - by, high + by)
}

/// Whether one of two parts lies in the other. They do not touch, so that one corner stands for all.
fn contain([a, b]: [&Own; 2], left: &mut u64) -> bool {
    let mut within = |inner: &Own, outer: &Own| {
        if !(outer.bounds.holds(inner.bounds.low) && outer.bounds.holds(inner.bounds.high)) {
            return false;
        }
        *left = left.saturating_sub(PAIR_WORK * outer.corners.len() as u64);
        let turns = |p: DVec3| winding_number(outer.corners.iter().copied(), p);
        inner.corners.first().is_some_and(|corners| turns(corners[0]).abs() > 0.5)
    };
    within(a, b) || within(b, a)
}

/// Whether two parts have triangles no further apart than `reach`.
fn touch([a, b]: [&Own; 2], reach: f64, left: &mut u64) -> bool {
    let (small, large) = if a.corners.len() <= b.corners.len() { (a, b) } else { (b, a) };
    *left = left.saturating_sub(small.corners.len() as u64);
    let tree = large.tree();
    let (found, work) = (Cell::new(false), Cell::new(*left));
    for &corners in &small.corners {
        let around = grown(Aabb::of(corners), reach);
        if !around.meets(&large.bounds) {
            continue;
        }
        tree.visit(
            |bounds| !found.get() && bounds.meets(&around),
            |(other, bounds)| {
                if !found.get() && bounds.meets(&around) {
                    work.set(work.get().saturating_sub(PAIR_WORK));
                    found.set(are_near(corners, *other, reach));
                }
            },
        );
        if found.get() || work.get() == 0 {
            break;
        }
    }
    *left = work.get();
    found.get() || work.get() == 0
}

fn edges([a, b, c]: Corners) -> [[DVec3; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// Whether two triangles are no further apart than `reach`. Where the signs of an edge that passes through a triangle could be
/// wrong by rounding, a corner or an edge is within reach, so that no exact numbers are needed.
fn are_near(a: Corners, b: Corners, reach: f64) -> bool {
    let within = reach * reach;
    let corner =
        |points: Corners, other: Corners| points.iter().any(|p| distance_squared(*p, other) <= within);
    let through = |a: Corners, b: Corners| edges(a).into_iter().any(|edge| passes(edge, b));
    let side = || edges(a).iter().any(|e| edges(b).iter().any(|f| between_edges(*e, *f) <= within));
    corner(a, b) || corner(b, a) || through(a, b) || through(b, a) || side()
}

/// Whether an edge passes through the inside of a triangle.
fn passes([p, q]: [DVec3; 2], [a, b, c]: Corners) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let [from, to] = [p, q].map(|end| volume(a, b, c, end));
    if from == 0.0 || to == 0.0 || (from > 0.0) == (to > 0.0) {
        return false;
    }
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0)
}

/// Squared distance of two edges where their insides are nearest to each other; no less than the true one elsewhere.
fn between_edges([p, q]: [DVec3; 2], [r, s]: [DVec3; 2]) -> f64 {
    let (first, second, between) = (q - p, s - r, p - r);
    let (a, b, e) = (first.length_squared(), first.dot(second), second.length_squared());
    let (c, f) = (first.dot(between), second.dot(between));
    let crossed = a * e - b * b;
    if crossed <= 0.0 {
        // Parallel edges are nearest at a corner.
        return f64::INFINITY;
    }
    let share = |x: f64| (x / crossed).clamp(0.0, 1.0);
    (p + first * share(b * f - c * e)).distance_squared(r + second * share(a * f - b * c))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of boxes, each a part: low corner and edges, and whether the box faces inward.
    fn boxes(list: &[([f32; 3], [f32; 3])]) -> Mesh {
        const FACES: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let mut mesh = Mesh::default();
        for (number, (low, size)) in list.iter().enumerate() {
            let first = mesh.positions.len() as u32;
            let corner = |i: u32| [0, 1, 2].map(|k| low[k] + if i >> k & 1 == 1 { size[k] } else { 0.0 });
            mesh.positions.extend((0..8).map(corner));
            for [a, b, c, d] in FACES.map(|face| face.map(|i| i + first)) {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
                mesh.triangle_part.extend([number as u32; 2]);
            }
            mesh.parts.push(Part { object: format!("Box{number}"), ..Part::default() });
        }
        mesh
    }

    fn groups(mesh: &Mesh) -> Vec<Vec<u32>> {
        mesh.objects(Objects::Touching, &Progress::default())
    }

    #[test]
    fn boxes_are_one_where_closed_boxes_have_a_point_in_common() {
        let mut state = 7u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) % below) as f32
        };
        let mut seen = [0; 2];
        for _ in 0..60 {
            // Corners on a lattice, so that boxes share faces, edges and corners, lie in each other or are equal.
            let list: Vec<([f32; 3], [f32; 3])> =
                (0..9).map(|_| ([0; 3].map(|_| next(12)), [0; 3].map(|_| 1.0 + next(4)))).collect();
            let mut wanted: Vec<usize> = (0..list.len()).collect();
            loop {
                let before = wanted.clone();
                for a in 0..list.len() {
                    for b in 0..list.len() {
                        let ((p, s), (q, t)) = (list[a], list[b]);
                        if (0..3).all(|k| p[k] <= q[k] + t[k] && q[k] <= p[k] + s[k]) {
                            let low = wanted[a].min(wanted[b]);
                            (wanted[a], wanted[b]) = (low, low);
                        }
                    }
                }
                if before == wanted {
                    break;
                }
            }
            let mesh = boxes(&list);
            let found = groups(&mesh);
            let mut of = vec![usize::MAX; list.len()];
            found.iter().for_each(|group| group.iter().for_each(|p| of[*p as usize] = group[0] as usize));
            assert_eq!(of, wanted, "{list:?}");
            seen[usize::from(found.len() > 1)] += 1;
        }
        assert!(seen[1] > 10, "{seen:?}");
    }

    /// As many copies of one box as a file may have nodes that name one mesh; boxes that all differ and overlap; and one far
    /// away, which stays an object of its own. Each pair was listed: 20,000 parts took 6 s.
    #[test]
    fn many_parts_in_one_place_are_one_object_in_little_time() {
        let far = ([90.0, 0.0, 0.0], [1.0; 3]);
        let copies: Vec<_> = (0..40_000).map(|_| ([0.0; 3], [1.0; 3])).chain([far]).collect();
        let unlike: Vec<_> =
            (0..20_000u16).map(|i| ([1e-5 * f32::from(i), 0.0, 0.0], [1.0; 3])).chain([far]).collect();
        for list in [copies, unlike] {
            let mesh = boxes(&list);
            let start = std::time::Instant::now();
            let found = groups(&mesh);
            let (took, sizes) = (start.elapsed(), found.iter().map(Vec::len));
            assert_eq!(sizes.collect::<Vec<_>>(), [list.len() - 1, 1]);
            assert!(took.as_secs() < 4, "{} parts: {took:?}", list.len());
        }
    }

    /// What the end of the work joins is no less than what touches, and a part with a double has the neighbours of one
    /// without.
    #[test]
    fn parts_of_a_crowd_are_one_unless_a_gap_along_an_axis_parts_them() {
        let list =
            [([0.0; 3], [2.0; 3]), ([1.0; 3], [3.0; 3]), ([3.5, 9.0, 0.0], [1.0; 3]), ([5.0; 3], [1.0; 3])];
        let twice: Vec<_> = list.iter().chain(&list).copied().collect();
        let mesh = boxes(&twice);
        assert_eq!(groups(&mesh), [vec![0, 1, 4, 5], vec![2, 6], vec![3, 7]]);
        let mut own: Vec<Own> = std::iter::repeat_with(Own::default).take(8).collect();
        for (corners, part) in mesh.corners().zip(&mesh.triangle_part) {
            own[*part as usize].corners.push(corners);
            own[*part as usize].bounds = Aabb::of(own[*part as usize].corners.iter().flatten().copied());
        }
        // The third is beside the second along two axes, and far away along the other one.
        let mut sets = UnionFind::new(8);
        let numbers = without_doubles(&own, &mut sets);
        join_crowds(&own, &numbers, 0.0, &mut sets);
        assert_eq!(numbers, [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|part| sets.find(part)), [0, 0, 2, 3]);
        assert_eq!([4, 5, 6, 7].map(|part| sets.find(part)), [0, 0, 2, 3]);
    }

    #[test]
    fn a_gap_parts_and_a_hair_does_not() {
        let pair =
            |gap: f32| groups(&boxes(&[([0.0; 3], [1.0; 3]), ([1.0 + gap, 0.0, 0.0], [1.0; 3])])).len();
        assert_eq!([pair(0.0), pair(1e-6), pair(1e-3), pair(-0.5)], [1, 1, 2, 1]);
        // Bars that cross without a corner in each other.
        let cross = [([0.0, 1.0, 1.0], [3.0, 1.0, 1.0]), ([1.0, 0.0, 1.25], [1.0, 3.0, 0.5])];
        assert_eq!(groups(&boxes(&cross)).len(), 1);
        let inside = [([0.0; 3], [3.0; 3]), ([1.0; 3], [1.0; 3])];
        assert_eq!(groups(&boxes(&inside)).len(), 1);
    }

    #[test]
    fn an_object_has_its_own_triangles_and_vertices() {
        let mut mesh = boxes(&[([0.0; 3], [1.0; 3]), ([5.0; 3], [1.0; 3]), ([0.5; 3], [1.0; 3])]);
        mesh.colors = (0..24).map(|i| [i, 0, 0]).collect();
        mesh.uvs2 = (0..24u8).map(|i| [f32::from(i), 0.0]).collect();
        for (part, node) in mesh.parts.iter_mut().zip(["Table/Top", "Vase", "Table/Leg"]) {
            (part.node, part.object) = (node.into(), node.rsplit('/').next().unwrap().into());
        }
        let found = groups(&mesh);
        assert_eq!(found, [vec![0, 2], vec![1]]);
        assert_eq!(found.iter().map(|own| mesh.object_name(own)).collect::<Vec<_>>(), ["Table", "Vase"]);
        let vase = mesh.of_parts(&found[1]);
        assert_eq!((vase.triangles.len(), vase.positions.len(), vase.parts.len()), (12, 8, 1));
        let (own, all): (Vec<_>, Vec<_>) = (vase.corners().collect(), mesh.corners().collect());
        assert_eq!(own, all[12..24]);
        assert!(vase.colors.iter().all(|color| (8..16).contains(&color[0])));
        let own: Vec<f32> = vase.colors.iter().map(|color| f32::from(color[0])).collect();
        assert_eq!(vase.uvs2.iter().map(|uv| uv[0]).collect::<Vec<_>>(), own);
        let table = mesh.of_parts(&found[0]);
        assert_eq!(table.triangle_part, [vec![0; 12], vec![1; 12]].concat());
        assert_eq!(mesh.objects(Objects::Apart, &Progress::default()).len(), 3);
        assert_eq!(mesh.objects(Objects::Together, &Progress::default()), [vec![0, 1, 2]]);
        // The axis through the middle, 3, meets neither; the vase is nearer to where it begins.
        assert_eq!(struck(&[&table, &vase], None), 1);
        assert_eq!(struck(&[&table, &vase], Some(DVec3::ZERO)), 0);
        let behind = boxes(&[([4.0, 4.0, 0.0], [3.0, 3.0, 1.0])]);
        assert_eq!(struck(&[&behind, &vase], None), 1, "the nearer one along -z");
        // A part without triangles is none.
        mesh.parts.push(Part::default());
        for how in [Objects::Apart, Objects::Touching, Objects::Together] {
            assert!(mesh.objects(how, &Progress::default()).concat().iter().all(|part| *part < 3), "{how:?}");
        }
    }

    /// Many parts in a large one, whose triangles are looked at once for all of them: each group has what it has alone.
    #[test]
    fn many_parts_are_split_as_each_alone() {
        let mut list = vec![([-1.0; 3], [0.5; 3])];
        list.extend((0..400u16).map(|i| ([2.0 * f32::from(i % 20), 0.0, 2.0 * f32::from(i / 20)], [1.0; 3])));
        let mesh = boxes(&list);
        let found = groups(&mesh);
        assert_eq!(found.len(), 401);
        for (own, group) in mesh.of_groups(&found).iter().zip(&found) {
            let first = 12 * group[0] as usize;
            let wanted: Vec<_> = mesh.corners().skip(first).take(12).collect();
            assert_eq!((own.corners().collect::<Vec<_>>(), own.positions.len()), (wanted, 8));
        }
    }
}
