//! Edges too short for a file's floats, taken out.
//!
//! In: a closed mesh. Out: the same without edges that 32-bit coordinates would make a point of, after which
//! other programs find edges of four faces. An edge goes only where its ends have no more than two neighbours
//! in common, so the mesh stays closed and of one sheet.

use super::{body::Body, solid::Edges};

/// The shortest edge that stays, whole units: 2^-20 of a grid's side.
const SHORTEST: f64 = (1u64 << (super::exact::UNIT_BITS - 20)) as f64;

struct Work<'a> {
    body: &'a mut Body,
    /// Triangles round each corner; those that went are still named.
    around: Vec<Vec<u32>>,
    gone: Vec<bool>,
    /// What a corner became.
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
        self.around[at as usize].iter().copied().filter(|t| !self.gone[*t as usize])
    }

    fn neighbours(&self, at: u32) -> Vec<u32> {
        let all = self.left(at).flat_map(|t| self.body.solid.triangles[t as usize]);
        let mut all: Vec<u32> = all.filter(|v| *v != at).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        let [p, q] = [a, b].map(|v| self.body.solid.points[v as usize]);
        [0, 1, 2].map(|k| ((p[k] - q[k]) as f64).powi(2)).iter().sum::<f64>().sqrt()
    }

    /// Moves `b` to `a`, if that leaves the mesh what it is.
    fn join(&mut self, a: u32, b: u32) {
        let of_both: Vec<u32> =
            self.left(b).filter(|t| self.body.solid.triangles[*t as usize].contains(&a)).collect();
        let (near, other) = (self.neighbours(a), self.neighbours(b));
        let common = near.iter().filter(|v| other.binary_search(v).is_ok()).count();
        // A tetrahedron has nothing to give.
        if of_both.len() != 2 || common != 2 || near.len() + other.len() < 8 {
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
        self.around[a as usize].extend(moved);
        self.became[b as usize] = a;
    }
}

/// Takes short edges out of a body, the shortest first. Of two corners the one that comes first stays, which
/// is one of the imported mesh where there is any.
pub fn collapse_short(body: &mut Body) {
    let Ok(edges) = Edges::of(&body.solid.triangles) else { return };
    let count = body.solid.points.len();
    let mut work = Work {
        around: Vec::new(),
        gone: vec![false; body.solid.triangles.len()],
        became: (0..count as u32).collect(),
        body,
    };
    let ends = edges.list.iter().map(|edge| edge.ends);
    let mut short: Vec<(f64, [u32; 2])> = ends
        .map(|[a, b]| (work.distance(a, b), [a.min(b), a.max(b)]))
        .filter(|(d, _)| *d < SHORTEST)
        .collect();
    if short.is_empty() {
        return;
    }
    short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    work.around = vec![Vec::new(); count];
    for (t, corners) in work.body.solid.triangles.iter().enumerate() {
        corners.iter().for_each(|v| work.around[*v as usize].push(t as u32));
    }
    for (_, [a, b]) in short {
        let (a, b) = (work.now(a), work.now(b));
        if a != b && work.distance(a, b) < SHORTEST {
            work.join(a.min(b), a.max(b));
        }
    }
    let gone = work.gone;
    keep(&mut body.solid.triangles, |t| !gone[t]);
    keep(&mut body.faces, |t| !gone[t]);
    keep(&mut body.corners, |t| !gone[t]);
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

fn keep<T>(list: &mut Vec<T>, stays: impl Fn(usize) -> bool) {
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        stays(at - 1)
    });
}

/// Where four triangles or more meet in an edge, as two diagonals in one line can make it, gives every pair beyond the
/// first a corner in its middle, so that each edge has two triangles.
pub fn part_crowded(body: &mut Body) {
    loop {
        let Ok(edges) = Edges::of(&body.solid.triangles) else { return };
        let mut touched = vec![false; body.solid.triangles.len()];
        let mut changed = false;
        for pair in edges.list.windows(2) {
            let [first, second] = [pair[0], pair[1]];
            let same = |a: [u32; 2], b: [u32; 2]| a == b || a == [b[1], b[0]];
            // One split a triangle and round: its edges have other numbers after it.
            if !same(first.ends, second.ends) || second.triangles.iter().any(|t| touched[*t as usize]) {
                continue;
            }
            second.triangles.iter().for_each(|t| touched[*t as usize] = true);
            split_edge(body, second.ends, second.triangles);
            changed = true;
        }
        if !changed {
            return;
        }
    }
}

/// Puts a corner in the middle of an edge of two triangles.
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
