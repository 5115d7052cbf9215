//! Counts defects of a piece's mesh.
//!
//! In: a mesh of any kind. Out: counts that are zero for a closed 2-manifold that faces outward, and its volume. Edges
//! and fans are found by index alone, the facing of triangles by rays. Of edges there is a second count after points at
//! one place are one, since files without indices, and programs that merge points, know nothing else.

use std::ops::AddAssign;

use crate::geometry::Aabb;
use glam::DVec3;

pub mod rays;

use super::PieceMesh;
use rays::{Ask, Inward};

/// Height of ray origins above a triangle, as a share of the mesh's diagonal.
const STEP: f64 = 1e-7;
/// Triangles whose area is below this share of the diagonal's square count as flat.
const FLAT: f64 = 1e-16;

/// Defects of a mesh, or of all meshes of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct MeshCheck {
    /// Number of triangles.
    pub triangles: u64,
    /// Edges with only one triangle.
    pub open_edges: u64,
    /// Edges with more than two triangles.
    pub crowded_edges: u64,
    /// Edges with more than two triangles once points with equal 32-bit coordinates are one.
    pub merged_crowded_edges: u64,
    /// Edges that both triangles traverse in the same direction.
    pub winding_edges: u64,
    /// Vertices with more than one fan of triangles.
    pub split_vertices: u64,
    /// Triangles without area.
    pub flat_triangles: u64,
    /// Triangles with the solid on their front side.
    pub inward_triangles: u64,
    /// Triangles whose facing was tested: all, or an even sample of many, or of such that lie behind too many others.
    pub asked: u64,
    /// Enclosed volume, cubic units of the positions.
    pub volume: f64,
}

impl AddAssign for MeshCheck {
    fn add_assign(&mut self, other: Self) {
        self.triangles += other.triangles;
        self.open_edges += other.open_edges;
        self.crowded_edges += other.crowded_edges;
        self.merged_crowded_edges += other.merged_crowded_edges;
        self.winding_edges += other.winding_edges;
        self.split_vertices += other.split_vertices;
        self.flat_triangles += other.flat_triangles;
        self.inward_triangles += other.inward_triangles;
        self.asked += other.asked;
        self.volume += other.volume;
    }
}

impl MeshCheck {
    /// Most triangles whose facing [`MeshCheck::of`] tests; larger meshes are sampled at equal intervals.
    pub const MOST_ASKED: usize = 4_000_000;

    /// Checks one mesh.
    #[must_use]
    pub fn of(mesh: &PieceMesh) -> Self {
        Self::of_triangles(&mesh.positions, &mesh.triangles)
    }

    /// Checks one mesh, and the facing of at most about `most` of its triangles.
    #[must_use]
    pub fn sampled(mesh: &PieceMesh, most: usize) -> Self {
        Self::asking(&mesh.positions, &mesh.triangles, most)
    }

    /// Checks triangles that share `positions`. A triangle with an invalid index is left out, so its neighbours' edges
    /// count as open.
    #[must_use]
    pub fn of_triangles(positions: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        Self::asking(positions, triangles, Self::MOST_ASKED)
    }

    fn asking(positions: &[DVec3], triangles: &[[u32; 3]], most: usize) -> Self {
        let there = |t: &&[u32; 3]| t.iter().all(|v| (*v as usize) < positions.len());
        let triangles: Vec<[u32; 3]> = triangles.iter().filter(there).copied().collect();
        let mut check = Self { triangles: triangles.len() as u64, ..Self::default() };
        check.edges(positions.len(), &triangles);
        check.merged_crowded_edges = match merged(positions, &triangles) {
            None => check.crowded_edges,
            Some(triangles) => {
                let mut merged = Self::default();
                merged.edges(positions.len(), &triangles);
                merged.crowded_edges
            }
        };
        check.vertices(positions.len(), &triangles);
        let middle = Aabb::of(positions.iter().copied()).middle();
        let diagonal = diagonal_of(positions);
        let flat = FLAT * diagonal * diagonal;
        for t in &triangles {
            // Relative to the centre of its box, since far from the origin products lose precision.
            let [a, b, c] = t.map(|v| positions[v as usize] - middle);
            check.volume += a.dot(b.cross(c)) / 6.0;
            check.flat_triangles += u64::from((b - a).cross(c - a).length() <= flat);
        }
        let every = triangles.len().div_ceil(most.max(1)).max(1);
        let inward = Inward { steps: &[STEP * diagonal], flat: -1.0, points: 2 };
        let ask = |i: usize| if i.is_multiple_of(every) { Ask::Well } else { Ask::Not };
        let (found, asked) = inward.find(positions, &triangles, &ask);
        (check.inward_triangles, check.asked) = (found.len() as u64, asked);
        check
    }

    /// Whether every edge has two triangles, which traverse it in opposite directions.
    #[must_use]
    pub fn is_watertight(&self) -> bool {
        self.open_edges + self.crowded_edges + self.winding_edges == 0
    }

    /// Whether it is watertight, and stays so when points with equal 32-bit coordinates are merged.
    #[must_use]
    pub fn is_watertight_merged(&self) -> bool {
        self.is_watertight() && self.merged_crowded_edges == 0
    }

    /// Whether it is watertight and every vertex has one fan of triangles.
    #[must_use]
    pub fn is_manifold(&self) -> bool {
        self.is_watertight() && self.split_vertices == 0
    }

    /// Whether it is manifold, without flat triangles and inward ones among those asked, and has a volume.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.is_manifold() && self.flat_triangles + self.inward_triangles == 0 && self.volume > 0.0
    }

    /// Indices of defective triangles, ascending: those at open or crowded edges, at vertices of several fans, without
    /// area, or facing inward (of those that are asked, [`Inward::find`]).
    #[must_use]
    pub fn where_wrong(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<u32> {
        let mut wrong = vec![false; triangles.len()];
        let mut edges: Vec<(u32, u32, bool, u32)> = Vec::with_capacity(3 * triangles.len());
        let mut links: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(3 * triangles.len());
        for (i, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                edges.push((a.min(b), a.max(b), a < b, i as u32));
                links.push((a, b, c, i as u32));
            }
        }
        edges.sort_unstable();
        for round in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if !matches!(round, [a, b] if a.2 != b.2) {
                round.iter().for_each(|edge| wrong[edge.3 as usize] = true);
            }
        }
        links.sort_unstable();
        for fan in links.chunk_by(|a, b| a.0 == b.0) {
            let ends: Vec<(u32, u32)> = fan.iter().map(|link| (link.1, link.2)).collect();
            if fan_length(&ends) != fan.len() {
                fan.iter().for_each(|link| wrong[link.3 as usize] = true);
            }
        }
        let diagonal = diagonal_of(positions);
        let inward = Inward { steps: &[STEP * diagonal], flat: FLAT * diagonal, points: 1 };
        for t in inward.find(positions, triangles, &|_| Ask::Well).0 {
            wrong[t as usize] = true;
        }
        (0..triangles.len() as u32).filter(|t| wrong[*t as usize]).collect()
    }

    fn edges(&mut self, count: usize, triangles: &[[u32; 3]]) {
        // (low, high, whether the triangle traverses it from low to high)
        let edge = |[a, b, _]: [u32; 3]| (a.min(b), a.max(b), u32::from(a < b));
        let edges = sorted_corners(count, triangles, edge);
        for round in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            match round {
                [_] => self.open_edges += 1,
                [a, b] => self.winding_edges += u64::from(a.2 == b.2),
                _ => self.crowded_edges += 1,
            }
        }
    }

    fn vertices(&mut self, count: usize, triangles: &[[u32; 3]]) {
        // Per vertex: (vertex, from, to), the opposite edge in each of its triangles.
        let links = sorted_corners(count, triangles, |[a, b, c]| (a, b, c));
        for fan in links.chunk_by(|a, b| a.0 == b.0) {
            let ends: Vec<(u32, u32)> = fan.iter().map(|link| (link.1, link.2)).collect();
            self.split_vertices += u64::from(fan_length(&ends) != fan.len());
        }
    }
}

/// The triangles with the first of all points at one place instead of each, without those that lose their area so;
/// `None` where no two points have the same 32-bit coordinates.
fn merged(positions: &[DVec3], triangles: &[[u32; 3]]) -> Option<Vec<[u32; 3]>> {
    // Minus zero becomes zero.
    let bits = |p: &DVec3| (p.as_vec3() + 0.0).to_array().map(f32::to_bits);
    let mut order: Vec<([u32; 3], u32)> = positions.iter().map(bits).zip(0..).collect();
    order.sort_unstable();
    if order.windows(2).all(|pair| pair[0].0 != pair[1].0) {
        return None;
    }
    let mut first = vec![0; positions.len()];
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        same.iter().for_each(|point| first[point.1 as usize] = same[0].1);
    }
    let with_first = triangles.iter().map(|t| t.map(|v| first[v as usize]));
    Some(with_first.filter(|[a, b, c]| a != b && b != c && c != a).collect())
}

/// What `of` gives for each corner of the triangles (the corner, the next one, the one before), in ascending order; what
/// it gives first is a vertex, below `count`. Runs of one vertex are counted first, since they are short to sort.
fn sorted_corners(
    count: usize,
    triangles: &[[u32; 3]],
    of: impl Fn([u32; 3]) -> (u32, u32, u32),
) -> Vec<(u32, u32, u32)> {
    let of = &of;
    let corners =
        || triangles.iter().flat_map(move |&[a, b, c]| [of([a, b, c]), of([b, c, a]), of([c, a, b])]);
    let mut ends = vec![0u32; count + 1];
    corners().for_each(|corner| ends[corner.0 as usize + 1] += 1);
    (0..count).for_each(|v| ends[v + 1] += ends[v]);
    let mut sorted = vec![(0, 0, 0); 3 * triangles.len()];
    for corner in corners() {
        let place = &mut ends[corner.0 as usize];
        sorted[*place as usize] = corner;
        *place += 1;
    }
    // The place after a vertex's last corner is where its run ends.
    let mut start = 0;
    for end in &ends[..count] {
        sorted[start..*end as usize].sort_unstable();
        start = *end as usize;
    }
    sorted
}

/// Number of opposite edges of a vertex that follow each other from the first one on; the edges are sorted by their
/// start.
fn fan_length(ends: &[(u32, u32)]) -> usize {
    let (mut at, mut length) = (0, 1);
    while let Ok(next) = ends.binary_search_by_key(&ends[at].1, |end| end.0) {
        if next == 0 || length > ends.len() {
            break;
        }
        at = next;
        length += 1;
    }
    length
}

fn diagonal_of(positions: &[DVec3]) -> f64 {
    if positions.is_empty() { 0.0 } else { Aabb::of(positions.iter().copied()).size().length() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube with `side` quads along each side, at `low`.
    fn cube(side: u32, low: DVec3, edge: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut positions: Vec<DVec3> = Vec::new();
        let mut triangles = Vec::new();
        for face in 0..6 {
            let (axis, upper) = (face / 2, face % 2 == 1);
            for i in 0..side * side {
                let mut quad = [0; 4];
                for (k, corner) in quad.iter_mut().enumerate() {
                    // Counter-clockwise seen from the front of an upper face.
                    let (u, v) = [(0, 0), (1, 0), (1, 1), (0, 1)][k];
                    let mut at = [0; 3];
                    at[axis] = if upper { side } else { 0 };
                    at[(axis + 1) % 3] = i % side + u;
                    at[(axis + 2) % 3] = i / side + v;
                    let at = low + edge * DVec3::from_array(at.map(|v| f64::from(v) / f64::from(side)));
                    let found = positions.iter().position(|p| *p == at);
                    *corner = found.unwrap_or_else(|| {
                        positions.push(at);
                        positions.len() - 1
                    }) as u32;
                }
                let [a, b, c, d] = quad;
                triangles.extend(if upper { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
        (positions, triangles)
    }

    fn check(mesh: &(Vec<DVec3>, Vec<[u32; 3]>)) -> MeshCheck {
        MeshCheck::of_triangles(&mesh.0, &mesh.1)
    }

    fn joined(
        mut a: (Vec<DVec3>, Vec<[u32; 3]>),
        b: (Vec<DVec3>, Vec<[u32; 3]>),
    ) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let first = a.0.len() as u32;
        a.0.extend(b.0);
        a.1.extend(b.1.iter().map(|t| t.map(|v| v + first)));
        a
    }

    #[test]
    fn a_good_mesh_holds() {
        for side in [1, 2, 7] {
            let found = check(&cube(side, DVec3::splat(1000.3), 2.0));
            assert!(found.holds() && found.asked == found.triangles, "{found:?}");
            assert!((found.volume - 8.0).abs() < 1e-9);
        }
        // A void inside, and a part beside it.
        let (positions, mut turned) = cube(3, DVec3::splat(0.5), 1.0);
        turned.iter_mut().for_each(|t| t.swap(0, 1));
        let hollow = joined(cube(4, DVec3::ZERO, 2.0), (positions, turned));
        let found = check(&joined(hollow, cube(2, DVec3::splat(3.0), 1.0)));
        assert!(found.holds() && (found.volume - 8.0).abs() < 1e-9, "{found:?}");
        let nothing = check(&(Vec::new(), Vec::new()));
        assert!(nothing.is_manifold() && !nothing.holds());
    }

    #[test]
    fn every_planted_error_is_found() {
        let good = cube(3, DVec3::ZERO, 1.0);
        let mut open = good.clone();
        open.1.pop();
        assert_eq!(check(&open).open_edges, 3);

        let mut missing = good.clone();
        missing.1[5][1] = 1_000_000;
        assert_eq!(check(&missing).open_edges, 3);

        let mut turned = good.clone();
        turned.1[7].swap(0, 1);
        let found = check(&turned);
        assert_eq!((found.open_edges, found.winding_edges), (0, 3));
        assert!(found.inward_triangles >= 1);

        let mut inside_out = good.clone();
        inside_out.1.iter_mut().for_each(|t| t.swap(0, 1));
        let found = check(&inside_out);
        assert!(found.is_manifold() && !found.holds());
        assert_eq!(found.inward_triangles, found.triangles);
        assert!((found.volume + 1.0).abs() < 1e-12);

        // Two cubes that share an edge, then a corner: with separate vertices, and with shared ones.
        for (low, crowded, split) in [(DVec3::new(1.0, 1.0, 0.0), 3, 4), (DVec3::ONE, 0, 1)] {
            let mut two = joined(good.clone(), cube(3, low, 1.0));
            assert!(check(&two).holds());
            for t in &mut two.1 {
                *t = t.map(|v| {
                    let at = two.0[v as usize];
                    two.0.iter().position(|p| p.distance(at) < 1e-9).unwrap() as u32
                });
            }
            let found = check(&two);
            assert_eq!((found.crowded_edges, found.open_edges), (crowded, 0), "{found:?}");
            assert_eq!(found.split_vertices, split, "{found:?}");
        }

        let mut flat = good.clone();
        let t = flat.1[4];
        flat.0[t[0] as usize] = (flat.0[t[1] as usize] + flat.0[t[2] as usize]) * 0.5;
        assert!(check(&flat).flat_triangles >= 1);

        // A vertex of the upper face is pushed through the lower one.
        let mut through = good.clone();
        let inner = through.0.iter().position(|p| p.distance(DVec3::new(2.0 / 3.0, 1.0 / 3.0, 1.0)) < 1e-9);
        through.0[inner.unwrap()].z = -3.0;
        let found = check(&through);
        assert!(found.is_manifold() && found.inward_triangles > 0, "{found:?}");

        // Two closed parts that intersect each other.
        let found = check(&joined(good, cube(3, DVec3::splat(0.4), 1.0)));
        assert!(found.is_manifold() && found.inward_triangles > 0 && !found.holds(), "{found:?}");
    }

    #[test]
    fn points_at_one_place_count_once_more() {
        // Two cubes that share an edge, by points of their own: closed each, and four triangles meet at one place.
        let both = joined(cube(1, DVec3::ZERO, 1.0), cube(1, DVec3::new(1.0, 1.0, 0.0), 1.0));
        let found = check(&both);
        assert!(found.is_watertight() && found.is_manifold() && !found.is_watertight_merged(), "{found:?}");
        assert_eq!((found.crowded_edges, found.merged_crowded_edges), (0, 1));
        // Moved by less than 32 bits tell apart, and by more.
        for (by, crowded) in [(1e-12, 1), (1e-3, 0)] {
            let (mut points, triangles) = both.clone();
            points[8..].iter_mut().for_each(|p| p.x += by);
            assert_eq!(check(&(points, triangles)).merged_crowded_edges, crowded, "{by}");
        }
        assert!(check(&cube(3, DVec3::ZERO, 1.0)).is_watertight_merged());
    }

    #[test]
    fn corners_are_sorted_as_by_comparing_all() {
        type Key = (u32, u32, u32);
        for side in [0, 1, 5] {
            let (positions, triangles) = cube(side, DVec3::ZERO, 1.0);
            let ways: [fn([u32; 3]) -> Key; 2] =
                [|[a, b, c]| (a, b, c), |[a, b, _]| (a.min(b), a.max(b), u32::from(a < b))];
            for of in ways {
                let turned = |[a, b, c]: [u32; 3]| [[a, b, c], [b, c, a], [c, a, b]];
                let mut wanted: Vec<_> = triangles.iter().flat_map(|t| turned(*t).map(of)).collect();
                wanted.sort_unstable();
                assert_eq!(sorted_corners(positions.len(), &triangles, of), wanted);
            }
        }
    }

    #[test]
    fn checks_add_up() {
        let one = check(&cube(2, DVec3::ZERO, 1.0));
        let mut sum = one;
        sum += one;
        assert_eq!((sum.triangles, sum.asked), (2 * one.triangles, 2 * one.asked));
        assert!((sum.volume - 2.0).abs() < 1e-12 && sum.holds());
    }
}
