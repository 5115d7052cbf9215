//! Orients a triangle surface: neighbours agree, and outermost parts face outward.
//!
//! In: triangles with welded vertices. Out: the same triangles, some reversed.

use super::topology::Edges;
use crate::geometry::{Aabb, UnionFind, triangle::winding_number};
use glam::DVec3;

const NONE: u32 = u32::MAX;
/// Limit of triangle visits for containment tests; beyond it, parts keep their orientation and are counted.
const CONTAINMENT_BUDGET: usize = 20_000_000;

/// The signed volume of the tetrahedron between the origin and a triangle.
pub(super) fn cone_volume([a, b, c]: [DVec3; 3]) -> f64 {
    a.dot(b.cross(c)) / 6.0
}

/// Reverses triangles so that the two at each edge with two triangles agree, choosing for each patch the orientation
/// that reverses fewer triangles. Returns the number of patches that cannot be oriented.
pub(super) fn make_consistent(triangles: &mut [[u32; 3]], edges: &Edges) -> usize {
    // For each half edge its partner, and whether the two run the same way (so one triangle must be reversed).
    let mut partner = vec![(NONE, false); triangles.len() * 3];
    for (_, group) in edges.groups() {
        if let [(_, a), (_, b)] = *group {
            let start = |half: u32| triangles[half as usize / 3][half as usize % 3];
            let clash = start(a) == start(b);
            partner[a as usize] = (b / 3, clash);
            partner[b as usize] = (a / 3, clash);
        }
    }
    let mut turned: Vec<Option<bool>> = vec![None; triangles.len()];
    let mut unorientable = 0;
    let mut patch = Vec::new();
    for seed in 0..triangles.len() {
        if turned[seed].is_some() {
            continue;
        }
        turned[seed] = Some(false);
        patch.clear();
        patch.push(seed as u32);
        let (mut next, mut flips, mut twisted) = (0, 0, false);
        while let Some(&t) = patch.get(next) {
            next += 1;
            let own = turned[t as usize].unwrap_or(false);
            for &(other, clash) in &partner[t as usize * 3..t as usize * 3 + 3] {
                if other == NONE {
                    continue;
                }
                match &mut turned[other as usize] {
                    Some(theirs) => twisted |= *theirs != own ^ clash,
                    empty => {
                        *empty = Some(own ^ clash);
                        flips += usize::from(own ^ clash);
                        patch.push(other);
                    }
                }
            }
        }
        unorientable += usize::from(twisted);
        let invert = flips * 2 > patch.len();
        for &t in &patch {
            if turned[t as usize].unwrap_or(false) != invert {
                triangles[t as usize].swap(1, 2);
            }
        }
    }
    unorientable
}

/// The parts of a surface, connected by edges.
pub(super) struct Parts {
    /// Triangle numbers, part after part.
    members: Vec<u32>,
    /// Start of each part in `members`, and the end.
    starts: Vec<u32>,
    /// Bounding boxes.
    bounds: Vec<Aabb>,
}

/// Results of [`face_outward`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outward {
    /// Parts that face inward inside another part.
    pub voids: usize,
    /// Parts that face inward and were not tested because that would take too long.
    pub unexamined: usize,
}

impl Parts {
    pub fn of(triangles: &[[u32; 3]], edges: &Edges, points: &[DVec3]) -> Self {
        let mut sets = UnionFind::new(triangles.len());
        for (_, group) in edges.groups() {
            for pair in group.windows(2) {
                sets.join(pair[0].1 / 3, pair[1].1 / 3);
            }
        }
        let roots: Vec<u32> = (0..triangles.len() as u32).map(|t| sets.find(t)).collect();
        let mut members: Vec<u32> = (0..triangles.len() as u32).collect();
        // A stable sort, so parts are in the order of their first triangles.
        members.sort_by_key(|&t| roots[t as usize]);
        let mut starts: Vec<u32> = (0..members.len())
            .filter(|&k| k == 0 || roots[members[k] as usize] != roots[members[k - 1] as usize])
            .map(|k| k as u32)
            .collect();
        starts.push(members.len() as u32);
        let mut parts = Self { members, starts, bounds: Vec::new() };
        parts.bounds = (0..parts.count())
            .map(|part| {
                let corners = parts.triangles(part).iter().flat_map(|&t| triangles[t as usize]);
                Aabb::of(corners.map(|v| points[v as usize]))
            })
            .collect();
        parts
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The part of each triangle; nothing where there is one alone.
    pub fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![0; if self.count() > 1 { self.members.len() } else { 0 }];
        for part in 0..if numbers.is_empty() { 0 } else { self.count() } {
            self.triangles(part).iter().for_each(|t| numbers[*t as usize] = part as u32);
        }
        numbers
    }

    fn triangles(&self, part: usize) -> &[u32] {
        &self.members[self.starts[part] as usize..self.starts[part + 1] as usize]
    }

    /// Volume relative to the centre of the part's box, so that an open part counts as what it nearly encloses.
    fn volume(&self, part: usize, triangles: &[[u32; 3]], points: &[DVec3]) -> f64 {
        let middle = self.bounds[part].middle();
        let corners = |t: u32| triangles[t as usize].map(|v| points[v as usize] - middle);
        self.triangles(part).iter().map(|&t| cone_volume(corners(t))).sum()
    }

    /// Absolute winding number of `part` at `point`.
    fn winding(&self, part: usize, point: DVec3, triangles: &[[u32; 3]], points: &[DVec3]) -> f64 {
        let corners = |t: &u32| triangles[*t as usize].map(|v| points[v as usize]);
        winding_number(self.triangles(part).iter().map(corners), point).abs()
    }

    fn box_within(&self, inner: usize, outer: usize) -> bool {
        let (a, b) = (self.bounds[inner], self.bounds[outer]);
        inner != outer && a.low.cmpgt(b.low).all() && a.high.cmplt(b.high).all()
    }
}

/// Reverses each outermost part that faces inward, together with the parts inside it; a part that faces inward inside
/// another is a void and stays.
pub(super) fn face_outward(triangles: &mut [[u32; 3]], parts: &Parts, points: &[DVec3]) -> Outward {
    let mut outward = Outward::default();
    let mut budget = CONTAINMENT_BUDGET;
    let inward: Vec<usize> =
        (0..parts.count()).filter(|&part| parts.volume(part, triangles, points) < 0.0).collect();
    // A part lies in another if one of its points does; None if testing would take too long.
    let mut lies_in = |inner: usize, outer: usize, triangles: &[[u32; 3]]| {
        let cost = if parts.box_within(inner, outer) { parts.triangles(outer).len() } else { 1 };
        budget = budget.checked_sub(cost)?;
        let point = || points[triangles[parts.triangles(inner)[0] as usize][0] as usize];
        Some(cost > 1 && parts.winding(outer, point(), triangles, points) > 0.5)
    };
    let mut turn = vec![false; parts.count()];
    let mut outermost = Vec::new();
    for &part in &inward {
        let mut inside = Some(false);
        for other in 0..parts.count() {
            inside = lies_in(part, other, triangles);
            if inside != Some(false) {
                break;
            }
        }
        match inside {
            Some(true) => outward.voids += 1,
            Some(false) => {
                outermost.push(part);
                turn[part] = true;
            }
            None => outward.unexamined += 1,
        }
    }
    for &outer in &outermost {
        for (inner, turned) in turn.iter_mut().enumerate() {
            if *turned || lies_in(inner, outer, triangles) != Some(true) {
                continue;
            }
            *turned = true;
            // A part inside was a void and is now solid within solid, or vice versa.
            if inward.binary_search(&inner).is_ok() {
                outward.voids = outward.voids.saturating_sub(1);
            } else {
                outward.voids += 1;
            }
        }
    }
    for part in (0..parts.count()).filter(|&part| turn[part]) {
        for &t in parts.triangles(part) {
            triangles[t as usize].swap(1, 2);
        }
    }
    outward
}
