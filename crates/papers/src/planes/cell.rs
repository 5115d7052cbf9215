//! One cell: corners and the planes that each lies on, cut by one plane after another (the paper's
//! `getVerticesInsidePlanes`).
//!
//! In: the corners of the whole object, then half-spaces. Out: the corners of what is left.
//!
//! The paper tries all triples of planes anew for every plane, and tests every point against all planes. A triple
//! without the new plane gives a corner that was there before, so only triples with it are tried here. Of those, a
//! corner can come only from two planes that share an edge with one end outside the new plane and the other inside:
//! the corner is where that edge is cut. It lies between two points of a convex cell and so inside all planes, which
//! needs no test and no tolerance. Solving triples instead and testing each, as in the paper, loses corners where
//! planes are nearly parallel (its thresholds of 0.0001 do where faces meet at less than 0.6 degrees), and one lost
//! corner takes its planes along. The paper's way is kept in `reference.rs`, for the tests.

use glam::DVec3;

/// A corner's own planes are `planes[starts[corner]..starts[corner + 1]]`, ascending.
#[derive(Clone, Debug)]
pub(super) struct Corners {
    pub(super) at: Vec<DVec3>,
    starts: Vec<u32>,
    planes: Vec<u32>,
}

impl Default for Corners {
    fn default() -> Self {
        Self { at: Vec::new(), starts: vec![0], planes: Vec::new() }
    }
}

impl Corners {
    pub(super) fn len(&self) -> usize {
        self.at.len()
    }

    /// How often any plane is on any corner.
    pub(super) fn planes_in_all(&self) -> usize {
        self.planes.len()
    }

    pub(super) fn planes_of(&self, corner: usize) -> &[u32] {
        &self.planes[self.starts[corner] as usize..self.starts[corner + 1] as usize]
    }

    /// `planes` ascending.
    pub(super) fn push(&mut self, at: DVec3, planes: impl IntoIterator<Item = u32>) {
        self.at.push(at);
        self.planes.extend(planes);
        self.starts.push(self.planes.len() as u32);
    }

    pub(super) fn clear(&mut self) {
        self.at.clear();
        self.planes.clear();
        self.starts.truncate(1);
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.at.clone_from(&other.at);
        self.starts.clone_from(&other.starts);
        self.planes.clone_from(&other.planes);
    }

    /// For each corner and each two planes on it that may meet in an edge, the corner as one end; of planes and corners
    /// that are wanted only. Of two planes that do meet in an edge both ends are there, if wanted.
    pub(super) fn ends(
        &self,
        wanted: impl Fn(usize) -> bool,
        wanted_plane: impl Fn(u32) -> bool,
        ends: &mut Vec<End>,
    ) {
        ends.clear();
        let mut hubs = Vec::new();
        let mut own = Vec::new();
        for corner in (0..self.len()).filter(|corner| wanted(*corner)) {
            own.clear();
            own.extend(self.planes_of(corner).iter().copied().filter(|p| wanted_plane(*p)));
            if own.len() > MANY {
                hubs.push((corner, own.clone()));
                continue;
            }
            for (k, first) in own.iter().enumerate() {
                ends.extend(own[k + 1..].iter().map(|second| ([*first, *second], corner as u32)));
            }
        }
        if hubs.is_empty() {
            return;
        }
        let mut on: Vec<(u32, usize)> = Vec::new();
        for corner in (0..self.len()).filter(|corner| wanted(*corner)) {
            on.extend(self.planes_of(corner).iter().map(|p| (*p, corner)));
        }
        on.sort_unstable();
        for (hub, own) in hubs {
            let before = ends.len();
            for first in &own {
                let around =
                    &on[on.partition_point(|(p, _)| p < first)..on.partition_point(|(p, _)| p <= first)];
                for second in around.iter().filter(|(_, c)| *c != hub).flat_map(|(_, c)| self.planes_of(*c)) {
                    if second > first && own.binary_search(second).is_ok() {
                        ends.push(([*first, *second], hub as u32));
                    }
                }
            }
            let mut new = ends.split_off(before);
            new.sort_unstable();
            new.dedup();
            ends.append(&mut new);
        }
    }

    /// Of the corner farthest from `point`, squared.
    pub(super) fn farthest_squared(&self, point: DVec3) -> f64 {
        self.at.iter().map(|p| p.distance_squared(point)).fold(0.0, f64::max)
    }
}

/// An end of the edge in which two planes meet: the planes, ascending, and the corner.
pub(super) type End = ([u32; 2], u32);

/// Corners of more planes are asked for their neighbours instead of for all pairs of planes: the tip of a cone with
/// 10 000 sides has 50 million pairs, of which 10 000 meet in an edge.
const MANY: usize = 16;

/// An edge that the new plane cuts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CutEdge {
    outside: u32,
    inside: u32,
    planes: [u32; 2],
}

/// What is counted of one plane while a cell is cut.
#[derive(Clone, Copy, Default)]
struct Count {
    outside: u32,
    inside: u32,
    /// Corners that stay, and those of them that lie on the new plane as well.
    left: u32,
    shared: u32,
}

/// A cell that is being cut. One serves many cells, so that its buffers are allocated once.
pub(super) struct Cell {
    pub(super) corners: Corners,
    /// Corners nearer to a plane that is added lie on it.
    touch: f64,
    /// Corners nearer to each other are one. Well above `touch`, so that no face is so small that it lies on a plane
    /// whichever way that faces.
    weld: f64,
    next: Corners,
    heights: Vec<f64>,
    /// By plane; zero between cuts.
    counts: Vec<Count>,
    ends: Vec<End>,
    edges: Vec<CutEdge>,
    /// Corners near the new plane.
    near: Vec<u32>,
}

impl Cell {
    /// Planes have numbers below `planes`.
    pub(super) fn new(planes: usize) -> Self {
        Self {
            corners: Corners::default(),
            touch: 0.0,
            weld: 0.0,
            next: Corners::default(),
            heights: Vec::new(),
            counts: vec![Count::default(); planes],
            ends: Vec::new(),
            edges: Vec::new(),
            near: Vec::new(),
        }
    }

    /// Begins anew, with all of the object, and tolerances that are shares of its size.
    pub(super) fn begin(&mut self, corners: &Corners, touch: f64) {
        self.corners.copy_from(corners);
        self.touch = touch;
        self.weld = 10.0 * touch;
    }

    /// Leaves what is inside `normal . x <= distance`. No corners are left where that is flat or empty. A plane that
    /// only touches the cell is left out at once.
    pub(super) fn cut(&mut self, plane: u32, normal: DVec3, distance: f64) {
        let Self { corners, heights, touch, .. } = self;
        heights.clear();
        heights.extend(corners.at.iter().map(|p| normal.dot(*p) - distance));
        if heights.iter().all(|h| *h <= *touch) {
            return;
        }
        if heights.iter().all(|h| *h >= -*touch) {
            corners.clear();
            return;
        }
        self.find_cut_edges();
        self.next.clear();
        self.near.clear();
        self.keep(plane);
        self.add_cut_corners(plane);
        self.weld_near();
        self.leave_out_planes(plane);
        std::mem::swap(&mut self.corners, &mut self.next);
    }

    /// The edges with one end outside and the other inside.
    fn find_cut_edges(&mut self) {
        let Self { corners, heights, counts, ends, edges, touch, .. } = self;
        for (corner, height) in heights.iter().enumerate() {
            for plane in corners.planes_of(corner) {
                counts[*plane as usize].outside += u32::from(*height > *touch);
                counts[*plane as usize].inside += u32::from(*height < -*touch);
            }
        }
        // Only planes with corners on both sides, and no corners on the new plane.
        let is_cut = |plane: u32| counts[plane as usize].outside > 0 && counts[plane as usize].inside > 0;
        corners.ends(|corner| heights[corner].abs() > *touch, is_cut, ends);
        ends.sort_unstable();
        edges.clear();
        let height = |end: &&End| heights[end.1 as usize];
        for edge in ends.chunk_by(|a, b| a.0 == b.0) {
            // One of each. Planes that coincide to within the tolerance can share more; the nearest ends then.
            let outside =
                edge.iter().filter(|e| height(e) > 0.0).min_by(|a, b| height(a).total_cmp(&height(b)));
            let inside =
                edge.iter().filter(|e| height(e) < 0.0).max_by(|a, b| height(a).total_cmp(&height(b)));
            if let (Some(outside), Some(inside)) = (outside, inside) {
                edges.push(CutEdge { outside: outside.1, inside: inside.1, planes: outside.0 });
            }
        }
        edges.sort_unstable();
        for plane in &corners.planes {
            counts[*plane as usize] = Count::default();
        }
    }

    /// Corners that are not outside.
    fn keep(&mut self, plane: u32) {
        let Self { corners, next, heights, near, touch, weld, .. } = self;
        for (corner, height) in heights.iter().enumerate().filter(|(_, h)| **h <= *touch) {
            let own = corners.planes_of(corner).iter().copied();
            if *height >= -*weld {
                near.push(next.len() as u32);
            }
            if *height >= -*touch {
                let (before, after) = (own.clone().filter(|p| *p < plane), own.filter(|p| *p > plane));
                next.push(corners.at[corner], before.chain([plane]).chain(after));
            } else {
                next.push(corners.at[corner], own);
            }
        }
    }

    /// Where edges are cut. An edge in which more than two planes meet is there once for each two of them.
    fn add_cut_corners(&mut self, plane: u32) {
        let Self { corners, next, heights, edges, near, .. } = self;
        let mut planes = Vec::new();
        for edge in edges.chunk_by(|a, b| (a.outside, a.inside) == (b.outside, b.inside)) {
            let [outside, inside] = [edge[0].outside as usize, edge[0].inside as usize];
            planes.clear();
            planes.push(plane);
            planes.extend(edge.iter().flat_map(|e| e.planes));
            planes.sort_unstable();
            planes.dedup();
            let share = heights[outside] / (heights[outside] - heights[inside]);
            let at = corners.at[outside] + (corners.at[inside] - corners.at[outside]) * share;
            near.push(next.len() as u32);
            next.push(at, planes.iter().copied());
        }
    }

    /// Corners that are nearer to each other than `weld` become the first of them, with the planes of all. Faces
    /// smaller than the tolerance would lie on every plane that comes by, whichever way it faces.
    fn weld_near(&mut self) {
        let Self { next, near, weld, .. } = self;
        let is_same =
            |a: u32, b: u32| next.at[a as usize].distance_squared(next.at[b as usize]) <= *weld * *weld;
        let same: Vec<[u32; 2]> = (1..near.len())
            .filter_map(|k| near[..k].iter().find(|a| is_same(**a, near[k])).map(|a| [near[k], *a]))
            .collect();
        if same.is_empty() {
            return;
        }
        let mut first: Vec<usize> = (0..next.len()).collect();
        same.iter().for_each(|[corner, before]| first[*corner as usize] = first[*before as usize]);
        let mut planes = vec![Vec::new(); next.len()];
        for (corner, first) in first.iter().enumerate() {
            planes[*first].extend(next.planes_of(corner));
        }
        let mut welded = Corners::default();
        for (corner, own) in planes.iter_mut().enumerate().filter(|(_, own)| !own.is_empty()) {
            own.sort_unstable();
            own.dedup();
            welded.push(next.at[corner], own.iter().copied());
        }
        *next = welded;
    }

    /// Planes that no longer reach: those with fewer than three corners left, which touch the cell in an edge or a
    /// point at most, and those whose corners all lie on the new plane, which coincide with it to within the
    /// tolerance. The paper keeps the first kind, and every later triple costs for it.
    fn leave_out_planes(&mut self, plane: u32) {
        let Self { next, counts, .. } = self;
        for corner in 0..next.len() {
            let own = next.planes_of(corner);
            let on_new = u32::from(own.binary_search(&plane).is_ok());
            for p in own {
                counts[*p as usize].left += 1;
                counts[*p as usize].shared += on_new;
            }
        }
        let reaches = |p: u32| {
            let Count { left, shared, .. } = counts[p as usize];
            left >= 3 && (shared < left || p == plane)
        };
        let (mut read, mut written) = (0, 0);
        for end in &mut next.starts[1..] {
            for k in read..*end as usize {
                if reaches(next.planes[k]) {
                    next.planes.swap(k, written);
                    written += 1;
                }
            }
            read = *end as usize;
            *end = written as u32;
        }
        for p in &next.planes {
            counts[*p as usize] = Count::default();
        }
        next.planes.truncate(written);
    }
}
