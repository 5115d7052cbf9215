//! Removes edges and triangles that are too small or too thin for a file's floats.
//!
//! In: a closed mesh. Out: the same without edges that would collapse to a point in 32-bit coordinates, after which
//! other programs find edges of four faces, and without triangles that would collapse to a line or turn over. An edge
//! is collapsed only if its ends have no more than two common neighbours, so the mesh stays a closed manifold. For a
//! vertex on the opposite side of its triangle, that side is flipped. Where a crack leaves the surface at a very small
//! angle, shavings remain that are folded back on themselves; they are removed, too.

use std::collections::HashMap;

use glam::DVec3;
use rayon::prelude::*;

use super::{
    body::Body,
    solid::{Edge, Edges, OpenEdges, Solid},
};

/// Shorter edges are collapsed, whole units: 2^-18 of a grid's side, a thousandth of a voxel at level 8.
const SHORTEST: f64 = (1u64 << (super::solid::UNIT_BITS - 18)) as f64;

/// Shorter edges are collapsed even if a triangle turns over: 2^-21 of a grid's side, a few steps of a file's floats.
const POINT: f64 = (1u64 << (super::solid::UNIT_BITS - 21)) as f64;

/// Thinner shavings are removed, whole units: 2^-14 of a grid's side, a sixty-fourth of a voxel at level 8.
const SHAVING: f64 = (1u64 << (super::solid::UNIT_BITS - 14)) as f64;

/// Two triangles count as folded if the cosine between their normals is below this.
const FOLDED: f64 = -0.999;

/// Most repetitions, since removing one shaving may expose another.
const LAYERS: usize = 8;

/// Triangles round each vertex, in one list, since hardly any vertex gets others.
struct Around {
    first: Vec<u32>,
    list: Vec<u32>,
    /// The lists that changed.
    changed: HashMap<u32, Vec<u32>>,
}

impl Around {
    fn of(solid: &Solid) -> Self {
        let count = solid.points.len();
        let mut first = vec![0u32; count + 1];
        solid.triangles.iter().flatten().for_each(|v| first[*v as usize + 1] += 1);
        (0..count).for_each(|v| first[v + 1] += first[v]);
        let (mut next, mut list) = (first.clone(), vec![0u32; 3 * solid.triangles.len()]);
        for (t, corners) in solid.triangles.iter().enumerate() {
            for v in corners {
                let place = &mut next[*v as usize];
                list[*place as usize] = t as u32;
                *place += 1;
            }
        }
        Self { first, list, changed: HashMap::new() }
    }

    fn at(&self, v: u32) -> &[u32] {
        let at = v as usize;
        let first = || &self.list[self.first[at] as usize..self.first[at + 1] as usize];
        self.changed.get(&v).map_or_else(first, Vec::as_slice)
    }

    fn change(&mut self, v: u32) -> &mut Vec<u32> {
        let now = self.at(v).to_vec();
        self.changed.entry(v).or_insert(now)
    }
}

struct Work<'a> {
    body: &'a mut Body,
    /// Triangles round each vertex, including removed ones.
    around: Around,
    gone: Vec<bool>,
    /// The vertex that each vertex was merged into.
    became: Vec<u32>,
}

impl Work<'_> {
    fn now(&self, mut at: u32) -> u32 {
        while self.became[at as usize] != at {
            at = self.became[at as usize];
        }
        at
    }

    fn left(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        self.around.at(at).iter().copied().filter(|t| !self.gone[*t as usize])
    }

    fn neighbours(&self, at: u32) -> Vec<u32> {
        let all = self.left(at).flat_map(|t| self.body.solid.triangles[t as usize]);
        let mut all: Vec<u32> = all.filter(|v| *v != at).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a triangle no thinner than `thinnest` would turn over if `b` moved to `a`.
    fn turns_over(&self, a: u32, b: u32, thinnest: f64) -> bool {
        self.left(b).map(|t| self.body.solid.triangles[t as usize]).filter(|t| !t.contains(&a)).any(|t| {
            let moved = t.map(|v| if v == b { a } else { v });
            let solid = &self.body.solid;
            height(solid, moved).high >= thinnest && front(solid, t).dot(front(solid, moved)) <= 0.0
        })
    }

    /// Merges `b` into `a`, if the mesh stays a manifold.
    fn join(&mut self, a: u32, b: u32) {
        let of_both: Vec<u32> =
            self.left(b).filter(|t| self.body.solid.triangles[*t as usize].contains(&a)).collect();
        let (near, other) = (self.neighbours(a), self.neighbours(b));
        let common = near.iter().filter(|v| other.binary_search(v).is_ok()).count();
        // A tetrahedron cannot lose a vertex.
        if of_both.len() != 2 || common != 2 || near.len() + other.len() < 7 {
            return;
        }
        for t in of_both {
            self.gone[t as usize] = true;
        }
        let moved: Vec<u32> = self.left(b).collect();
        for t in &moved {
            for v in &mut self.body.solid.triangles[*t as usize] {
                if *v == b {
                    *v = a;
                }
            }
        }
        self.around.change(a).extend(moved);
        self.became[b as usize] = a;
    }
}

/// Removes short edges, thin triangles and folds from a body, until none is left: a flip may fold a triangle onto its
/// neighbour, and a collapse may leave a thin one. Then splits edges at which four triangles or more meet
/// ([`part_crowded`]). `edges` are those of the body, where they are known.
pub fn mend(body: &mut Body, edges: Option<Edges>) {
    let mut edges = edges.map_or_else(|| Edges::of(&body.solid.triangles), Ok);
    take_out(body, &mut edges);
    part_crowded(body, edges);
}

fn take_out(body: &mut Body, edges: &mut Result<Edges, OpenEdges>) {
    for _ in 0..LAYERS {
        let short = collapse_short(body, edges);
        let flipped = flip_caps(body);
        if short || flipped {
            *edges = Edges::of(&body.solid.triangles);
        }
        let flattened = flatten_shavings(body, edges);
        if !(short || flipped || flattened) {
            return;
        }
        if flattened {
            *edges = Edges::of(&body.solid.triangles);
        }
    }
}

/// Collapses short edges. Like the following functions, returns whether it changed anything.
fn collapse_short(body: &mut Body, edges: &Result<Edges, OpenEdges>) -> bool {
    let Ok(edges) = edges else { return false };
    let solid = &body.solid;
    let all = edges.list.par_iter().map(|edge| (distance(solid, edge.ends), edge.ends));
    let short = all.filter(|(d, _)| *d < SHORTEST).collect();
    collapse(body, short, SHORTEST)
}

/// Removes shavings: of two triangles folded on each other, the short side of the thin one is collapsed.
fn flatten_shavings(body: &mut Body, edges: &Result<Edges, OpenEdges>) -> bool {
    let Ok(edges) = edges else { return false };
    let solid = &body.solid;
    let of = |t: u32| solid.triangles[t as usize];
    let is_folded = |edge: &&Edge| {
        let [a, b] = edge.triangles.map(|t| front(solid, of(t)));
        let along = a.dot(b);
        // Nearly all edges need no root.
        along <= 0.0 && along <= FOLDED * a.length() * b.length()
    };
    let folded: Vec<&Edge> = edges.list.par_iter().filter(is_folded).collect();
    let mut short = Vec::new();
    for triangle in folded.into_iter().flat_map(|edge| edge.triangles.map(of)) {
        let sides = [0, 1, 2].map(|k| [triangle[k], triangle[(k + 1) % 3]]);
        let all = sides.map(|ends| (distance(solid, ends), ends));
        let least = all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        short.extend(least.filter(|(d, _)| *d < SHAVING));
    }
    collapse(body, short, SHAVING)
}

/// Collapses edges, the shortest first, if they are still shorter than `limit`. Of two vertices the first one stays,
/// which is a vertex of the imported mesh if there is one.
fn collapse(body: &mut Body, mut short: Vec<(f64, [u32; 2])>, limit: f64) -> bool {
    if short.is_empty() {
        return false;
    }
    let count = body.solid.points.len();
    let mut work = Work {
        around: Around::of(&body.solid),
        gone: vec![false; body.solid.triangles.len()],
        became: (0..count as u32).collect(),
        body,
    };
    short.iter_mut().for_each(|(_, ends)| ends.sort_unstable());
    short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, [a, b]) in short {
        let (a, b) = (work.now(a), work.now(b));
        let apart = distance(&work.body.solid, [a, b]);
        if a == b || apart >= limit {
            continue;
        }
        let (first, second) = (a.min(b), a.max(b));
        if !work.turns_over(first, second, limit) {
            work.join(first, second);
        } else if !work.turns_over(second, first, limit) {
            work.join(second, first);
        } else if apart < POINT {
            work.join(first, second);
        }
    }
    let gone = work.gone;
    drop_gone(body, &gone)
}

/// Drops triangles, and vertices without triangles; returns whether there were any.
fn drop_gone(body: &mut Body, gone: &[bool]) -> bool {
    if !gone.contains(&true) {
        return false;
    }
    keep(&mut body.solid.triangles, |t| !gone[t]);
    keep(&mut body.faces, |t| !gone[t]);
    keep(&mut body.corners, |t| !gone[t]);
    drop_unused(body);
    true
}

/// Drops vertices without triangles.
fn drop_unused(body: &mut Body) {
    let count = body.solid.points.len();
    let mut used = vec![false; count];
    body.solid.triangles.iter().flatten().for_each(|v| used[*v as usize] = true);
    let mut number = vec![0u32; count];
    let mut next = 0;
    for v in 0..count {
        number[v] = next;
        next += u32::from(used[v]);
    }
    keep(&mut body.solid.points, |v| used[v]);
    keep(&mut body.solid.places, |v| used[v]);
    body.solid.triangles.iter_mut().flatten().for_each(|v| *v = number[*v as usize]);
}

fn distance(solid: &Solid, ends: [u32; 2]) -> f64 {
    let [p, q] = ends.map(|v| solid.points[v as usize]);
    [0, 1, 2].map(|k| ((p[k] - q[k]) as f64).powi(2)).iter().sum::<f64>().sqrt()
}

/// Normal of a triangle with twice its area as its length, whole units.
fn front(solid: &Solid, triangle: [u32; 3]) -> DVec3 {
    let [a, b, c] = triangle.map(|v| DVec3::from_array(solid.points[v as usize].map(|x| x as f64)));
    (b - a).cross(c - a)
}

/// Rounds of [`flip_caps`]: a flip may produce another, thicker cap.
const ROUNDS: usize = 32;

/// Removes caps, that is, triangles whose apex lies on their longest side within float precision: that side is flipped
/// to connect the apex with the vertex beyond. The surface moves by less than the shortest edge.
fn flip_caps(body: &mut Body) -> bool {
    let mut flipped = false;
    let mut around: Option<Around> = None;
    for _ in 0..ROUNDS {
        let solid = &body.solid;
        let cap = |(t, corners): (usize, &[u32; 3])| {
            let shape = (!is_thick(solid, *corners)).then(|| height(solid, *corners))?;
            (shape.high < SHORTEST).then_some((shape.longest, t as u32))
        };
        let mut caps: Vec<(f64, u32)> = solid.triangles.par_iter().enumerate().filter_map(cap).collect();
        if caps.is_empty() {
            break;
        }
        let around = around.get_or_insert_with(|| Around::of(&body.solid));
        // Of several vertices on one line, the outermost triangle goes first: its neighbour is no cap.
        caps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut changed = false;
        for (_, t) in caps {
            changed |= flip_cap(body, around, t as usize);
        }
        if !changed {
            break;
        }
        flipped = true;
    }
    flipped
}

/// Shape of a triangle, whole units.
struct Thinness {
    /// The vertex at which its longest side starts.
    from: usize,
    /// Length of that side.
    longest: f64,
    /// Distance of the third vertex from that side.
    high: f64,
}

/// Whether a triangle is higher than [`SHORTEST`] by so much that [`height`] need not be taken, which has four roots.
fn is_thick(solid: &Solid, triangle: [u32; 3]) -> bool {
    let [a, b, c] = triangle.map(|v| DVec3::from_array(solid.points[v as usize].map(|x| x as f64)));
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    (b - a).cross(c - a).length_squared() > 1.01 * SHORTEST * SHORTEST * longest
}

fn height(solid: &Solid, triangle: [u32; 3]) -> Thinness {
    let at = triangle.map(|v| solid.points[v as usize].map(|x| x as f64));
    let [a, b, c] = at.map(DVec3::from_array);
    let sides = [a.distance(b), b.distance(c), c.distance(a)];
    let from = (0..3).max_by(|i, k| sides[*i].total_cmp(&sides[*k])).unwrap_or_default();
    let high = (b - a).cross(c - a).length() / sides[from].max(f64::MIN_POSITIVE);
    Thinness { from, longest: sides[from], high }
}

/// Flips the longest side of triangle `t`, if that gives thicker triangles and no duplicate edge.
fn flip_cap(body: &mut Body, around: &mut Around, t: usize) -> bool {
    let own = body.solid.triangles[t];
    let Thinness { from: k, high, .. } = height(&body.solid, own);
    if high >= SHORTEST {
        return false;
    }
    let [a, b, c] = [own[k], own[(k + 1) % 3], own[(k + 2) % 3]];
    let with = |v: u32, w: u32| {
        let of = &body.solid.triangles;
        around.at(v).iter().copied().filter(move |n| of[*n as usize].contains(&w))
    };
    let mut beyond = with(a, b).filter(|n| *n as usize != t);
    let (Some(n), None) = (beyond.next(), beyond.next()) else { return false };
    let n = n as usize;
    let other = body.solid.triangles[n];
    let Some(from) = (0..3).find(|i| other[*i] == b && other[(*i + 1) % 3] == a) else { return false };
    let d = other[(from + 2) % 3];
    if d == c || with(c, d).next().is_some() {
        return false;
    }
    let (first, second) = ([a, d, c], [d, b, c]);
    let high_of = |triangle: [u32; 3]| height(&body.solid, triangle).high;
    if high_of(first).min(high_of(second)) <= high_of(other).min(high) {
        return false;
    }
    let place = |v: u32| body.solid.places[v as usize];
    let along = (place(b) - place(a)).normalize_or_zero();
    let share = ((place(c) - place(a)).dot(along) / place(a).distance(place(b))).clamp(0.0, 1.0);
    // Attributes of the neighbouring triangle at its corners b, a, d, and between b and a.
    let [shown_b, shown_a, shown_d] = [0, 1, 2].map(|i| body.corners[n][(from + i) % 3]);
    let shown_c = super::body::mixed(&[shown_a, shown_b, shown_d], [1.0 - share, share, 0.0]);
    body.faces[t] = body.faces[n];
    (body.solid.triangles[n], body.corners[n]) = (first, [shown_a, shown_d, shown_c]);
    (body.solid.triangles[t], body.corners[t]) = (second, [shown_d, shown_b, shown_c]);
    around.change(a).retain(|x| *x as usize != t);
    around.change(b).retain(|x| *x as usize != n);
    around.change(c).push(n as u32);
    around.change(d).push(t as u32);
    true
}

fn keep<T>(list: &mut Vec<T>, stays: impl Fn(usize) -> bool) {
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        stays(at - 1)
    });
}

/// Most rounds of [`part_crowded`]. Each takes a pair of triangles off every crowded edge, and adds none to another.
const PAIRS: usize = 256;

/// Splits edges at which four triangles or more meet, which two collinear diagonals can produce: every pair of
/// triangles beyond the first gets a vertex in the middle of the edge, so that each edge has two triangles. Two
/// triangles on the same corners that face each other are taken out first: their edge cannot be split, since the line
/// from its middle to their common third corner would be crowded again.
fn part_crowded(body: &mut Body, mut edges: Result<Edges, OpenEdges>) {
    for _ in 0..PAIRS {
        let Ok(known) = edges else { return };
        let same = |a: [u32; 2], b: [u32; 2]| a == b || a == [b[1], b[0]];
        if !known.list.windows(2).any(|pair| same(pair[0].ends, pair[1].ends)) {
            return;
        }
        if !take_folded(body) {
            let mut touched = vec![false; body.solid.triangles.len()];
            for pair in known.list.windows(2) {
                let [first, second] = [pair[0], pair[1]];
                // At most one split per triangle and round, since a split renumbers its edges.
                if !same(first.ends, second.ends) || second.triangles.iter().any(|t| touched[*t as usize]) {
                    continue;
                }
                second.triangles.iter().for_each(|t| touched[*t as usize] = true);
                split_edge(body, second.ends, second.triangles);
            }
        }
        edges = Edges::of(&body.solid.triangles);
    }
}

/// Takes out pairs of triangles on the same corners that face each other: there is nothing between them. Returns
/// whether there were any.
fn take_folded(body: &mut Body) -> bool {
    let named = |(t, [a, b, c]): (usize, &[u32; 3])| {
        let mut corners = [*a, *b, *c];
        corners.sort_unstable();
        let turned = corners != [*a, *b, *c] && corners != [*b, *c, *a] && corners != [*c, *a, *b];
        (corners, turned, t)
    };
    let mut all: Vec<([u32; 3], bool, usize)> = body.solid.triangles.iter().enumerate().map(named).collect();
    all.sort_unstable();
    let mut gone = vec![false; all.len()];
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let (front, back) = group.split_at(group.partition_point(|t| !t.1));
        for (one, other) in front.iter().zip(back) {
            (gone[one.2], gone[other.2]) = (true, true);
        }
    }
    drop_gone(body, &gone)
}

/// Inserts a vertex in the middle of an edge of two triangles.
fn split_edge(body: &mut Body, [a, b]: [u32; 2], triangles: [u32; 2]) {
    let solid = &mut body.solid;
    let middle = solid.points.len() as u32;
    let [p, q] = [a, b].map(|v| solid.points[v as usize]);
    solid.points.push([0, 1, 2].map(|k| (p[k] + q[k]) / 4 * 2));
    solid.places.push((solid.places[a as usize] + solid.places[b as usize]) * 0.5);
    for t in triangles.map(|t| t as usize) {
        let (own, shown) = (solid.triangles[t], body.corners[t]);
        let Some(k) = (0..3).find(|k| own[*k] != a && own[*k] != b) else { continue };
        let (from, to) = ((k + 1) % 3, (k + 2) % 3);
        let between = super::body::mixed(&shown, [0, 1, 2].map(|c| if c == k { 0.0 } else { 0.5 }));
        solid.triangles[t][to] = middle;
        body.corners[t][to] = between;
        let (mut second, mut second_shown) = (own, shown);
        (second[from], second_shown[from]) = (middle, between);
        solid.triangles.push(second);
        body.corners.push(second_shown);
        body.faces.push(body.faces[t]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meshes::{Corner, Face, MeshCheck, Side};

    /// A prism on a triangle with a vertex almost on the opposite side.
    fn thin_wedge() -> Body {
        let unit = (1i64 << super::super::solid::UNIT_BITS) / 4;
        let base = [[0, 0, 0], [2 * unit, 0, 0], [unit, 2, 0], [unit, 0, 2 * unit], [unit, -2 * unit, 0]];
        // A tetrahedron (0, 1, 4, 3) whose side 0-1 has a cap with the apex 2 on the face 0, 1, 3.
        body(base.to_vec(), vec![[0, 3, 2], [2, 3, 1], [0, 2, 1], [0, 1, 4], [0, 4, 3], [1, 3, 4]])
    }

    /// Triangle 3 is on the inside; u holds the vertex number.
    fn body(points: Vec<[i64; 3]>, triangles: Vec<[u32; 3]>) -> Body {
        let unit = (1i64 << super::super::solid::UNIT_BITS) / 4;
        let places = points.iter().map(|p| DVec3::from_array(p.map(|v| v as f64 / unit as f64))).collect();
        let face = |t: usize| Face {
            side: if t == 3 { Side::Inside } else { Side::Outside { material: 7 } },
            beyond: None,
        };
        let corner =
            |v: u32| Corner { normal: glam::Vec3::Z, color: [0; 3], uv: [v as f32, 0.0], uv2: [0.0; 2] };
        Body {
            faces: (0..triangles.len()).map(face).collect(),
            corners: triangles.iter().map(|t| t.map(corner)).collect(),
            solid: Solid { points, places, triangles },
            edges: None,
        }
    }

    #[test]
    fn a_corner_on_the_opposite_side_joins_the_triangle_beyond() {
        let mut body = thin_wedge();
        let check = |body: &Body| MeshCheck::of_triangles(&body.solid.places, &body.solid.triangles);
        let before = check(&body);
        assert!(before.is_manifold(), "{before:?}");
        mend(&mut body, None);
        let after = check(&body);
        assert!(after.holds() && (after.volume / before.volume - 1.0).abs() < 1e-9, "{after:?}");
        assert!(body.solid.triangles.iter().all(|t| height(&body.solid, *t).high > SHORTEST));
        let inside: Vec<usize> = (0..6).filter(|t| body.faces[*t].side.is_crack()).collect();
        assert_eq!(inside.len(), 2, "what the cap showed is gone");
        for (t, shown) in inside.iter().flat_map(|t| body.solid.triangles[*t].iter().zip(body.corners[*t])) {
            let expected = if *t == 2 { 0.5 } else { *t as f32 };
            assert!((shown.uv[0] - expected).abs() < 1e-6, "{t} {shown:?}");
        }
    }

    #[test]
    fn what_is_called_thick_is_no_cap() {
        let s = SHORTEST as i64;
        let mut thick = 0;
        for (base, high) in [1, 7, 5000].into_iter().flat_map(|base| (0..40).map(move |high| (base, high))) {
            let points = vec![[0, 0, 0], [s * base * 4, 0, 0], [s * base, s * high / 10, 0]];
            let body = body(points, vec![[0, 1, 2]]);
            let is_thick = is_thick(&body.solid, [0, 1, 2]);
            assert!(!is_thick || height(&body.solid, [0, 1, 2]).high >= SHORTEST);
            assert!(is_thick || high < 12 || base == 1, "most are seen: {base} {high}");
            thick += usize::from(is_thick);
        }
        assert!(thick > 80, "{thick}");
    }

    #[test]
    fn what_is_folded_back_on_itself_goes() {
        let unit = (1i64 << super::super::solid::UNIT_BITS) / 4;
        let s = SHAVING as i64 / 8;
        assert!(4 * s > SHORTEST as i64);
        // On the face 0, 1, 2 of a tetrahedron, vertex 4 lies beyond 5 and below it: the surface goes there, back and
        // there again.
        let points = vec![
            [0, 0, 0],
            [2 * unit, 0, 0],
            [unit, 0, 2 * unit],
            [unit, -2 * unit, 0],
            [unit, 0, unit / 2 + 2 * s],
            [unit, s / 8, unit / 2 - 2 * s],
        ];
        let face = [[0, 4, 1], [1, 4, 5], [1, 5, 2], [2, 5, 0], [0, 5, 4]];
        let triangles: Vec<[u32; 3]> = face.into_iter().chain([[0, 1, 3], [1, 2, 3], [2, 0, 3]]).collect();
        let mut body = body(points, triangles);
        let check = |body: &Body| MeshCheck::of_triangles(&body.solid.places, &body.solid.triangles);
        let before = check(&body);
        assert!(before.holds() && before.triangles == 8, "{before:?}");
        let edges = Edges::of(&body.solid.triangles);
        assert!(!collapse_short(&mut body, &edges) && !flip_caps(&mut body), "neither short nor flat");
        mend(&mut body, None);
        let after = check(&body);
        assert!(after.holds() && after.triangles == 6, "{after:?}");
        assert!((after.volume / before.volume - 1.0).abs() < 1e-4, "{after:?}");
    }

    /// A tetrahedron with a fin of two triangles on one edge, which has four triangles then. In this order of triangles
    /// the splitting went on for ever.
    #[test]
    fn a_fin_on_an_edge_goes_and_a_crowded_edge_is_split() {
        let unit = (1i64 << super::super::solid::UNIT_BITS) / 4;
        let points =
            vec![[0, 0, 0], [2 * unit, 0, 0], [0, 2 * unit, 0], [0, 0, 2 * unit], [unit, -unit, -unit]];
        let solid = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        for fin in [[[0, 1, 4], [1, 0, 4]], [[1, 0, 4], [0, 1, 4]]] {
            for first in [true, false] {
                let triangles: Vec<[u32; 3]> = if first {
                    fin.into_iter().chain(solid).collect()
                } else {
                    solid.into_iter().chain(fin).collect()
                };
                let mut with_fin = body(points.clone(), triangles);
                let edges = Edges::of(&with_fin.solid.triangles);
                part_crowded(&mut with_fin, edges);
                let check = MeshCheck::of_triangles(&with_fin.solid.places, &with_fin.solid.triangles);
                assert!(check.is_watertight() && check.triangles == 4, "{check:?}");
                assert_eq!((with_fin.faces.len(), with_fin.corners.len()), (4, 4));
            }
        }
        // A second tetrahedron on the same edge: nothing goes, and the edge is split once.
        let points: Vec<[i64; 3]> = points.into_iter().chain([[unit, -2 * unit, 0]]).collect();
        let other = [[0, 1, 4], [0, 5, 1], [0, 4, 5], [1, 5, 4]];
        let mut two = body(points, solid.into_iter().chain(other).collect());
        let edges = Edges::of(&two.solid.triangles);
        part_crowded(&mut two, edges);
        let check = MeshCheck::of_triangles(&two.solid.places, &two.solid.triangles);
        assert!(check.is_watertight() && check.triangles == 10, "{check:?}");
    }
}
