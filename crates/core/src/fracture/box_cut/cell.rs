//! One Voronoi cell, as box cutting leaves it (Chlubna sec. 3, fig. 6).
//!
//! In: sites and a box. Out: cells, each a list of planes, of vertices (three planes each) and of edges (two vertices
//! and two planes each). Faces are not held: an edge knows the two planes that it lies in, and the ring of a plane is
//! traced from its edges.
//!
//! On which side of a plane a vertex lies, exactly (Chlubna sec. 3, listing 2, which does it with rounded numbers).
//!
//! In: the planes of a cell in whole numbers; a vertex is named by three of them. Out: its homogeneous coordinates, its
//! rounded position with a bound of the error, and the side of a plane that it lies on.
//!
//! A cell has coordinates of its own, `y = 2 (x - site)`: the bisector with another site is then `n . y <= n . n` for
//! `n = other - site`, without a fraction and one bit shorter than in units. With sites and box within
//! [`REACH`](super::complex::REACH) = 2^15 that gives (bits without the sign)
//!
//! ```text
//! n 16   n . n 34   n x m 33   denominator (of three n) 51   numerators 69   side test 87
//! ```
//!
//! Everything up to the denominator fits the 53 bits of an `f64`, so planes are held in `f64` without being rounded.
//! Numerators and side tests take `i128`, or 96 bits in three words on a GPU.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    complex::{Beyond, Point, check_range},
    cut::{Cutter, Rules},
    sphere_tree::{Finder, NearestBy},
};
use crate::geometry::exact::{Homogeneous, Plane};

/// A vertex of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellVertex {
    /// Three planes of the cell that meet here. Some of them may have no face any more, and where more than three meet
    /// here these are any three of them with independent normals.
    pub planes: [u32; 3],
    /// In units, rounded.
    pub position: DVec3,
}

/// An edge of a cell. Seen from outside, the ring of `planes[0]` goes from `vertices[0]` to `vertices[1]`
/// counter-clockwise, that of `planes[1]` the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its two ends.
    pub vertices: [u32; 2],
    /// The two planes that it lies in.
    pub planes: [u32; 2],
}

/// A cell. All lists are empty where it has no volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Index of its site.
    pub site: u32,
    /// The six walls, then bisectors in the order in which they cut or touched the cell. Some have no face.
    pub planes: Vec<CellPlane>,
    /// Corners of the cell.
    pub vertices: Vec<CellVertex>,
    /// See [`Edge`].
    pub edges: Vec<Edge>,
    /// Whether a plane went exactly through a vertex at any time: then more than three planes may meet in a vertex.
    pub touched: bool,
}

impl Cell {
    /// The cell of a site that has none.
    #[must_use]
    pub fn empty(site: u32) -> Self {
        Self { site, planes: vec![], vertices: vec![], edges: vec![], touched: false }
    }

    /// Whether the cell has no volume.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Calls `each` with every plane that has a face and with the face's vertices, counter-clockwise seen from outside,
    /// in the order of the planes. Planes that are not `wanted` are left out.
    pub fn for_each_face(&self, wanted: impl Fn(Beyond) -> bool, mut each: impl FnMut(&CellPlane, &[u32])) {
        // Half-edges in the order of their planes, by counting.
        let mut starts = vec![0u32; self.planes.len() + 1];
        for edge in &self.edges {
            starts[edge.planes[0] as usize + 1] += 1;
            starts[edge.planes[1] as usize + 1] += 1;
        }
        for p in 0..self.planes.len() {
            starts[p + 1] += starts[p];
        }
        let mut room = starts.clone();
        let mut half_edges = vec![[0u32; 2]; 2 * self.edges.len()];
        for edge in &self.edges {
            let [from, to] = edge.vertices;
            for (plane, half_edge) in [(edge.planes[0], [from, to]), (edge.planes[1], [to, from])] {
                half_edges[room[plane as usize] as usize] = half_edge;
                room[plane as usize] += 1;
            }
        }
        let mut after = vec![0u32; self.vertices.len()];
        let mut ring = Vec::new();
        for (p, plane) in self.planes.iter().enumerate() {
            let sides = &half_edges[starts[p] as usize..starts[p + 1] as usize];
            if sides.is_empty() || !wanted(plane.beyond) {
                continue;
            }
            for [from, to] in sides {
                after[*from as usize] = *to;
            }
            ring.clear();
            let mut vertex = sides[0][0];
            for _ in sides {
                ring.push(vertex);
                vertex = after[vertex as usize];
            }
            each(plane, &ring);
        }
    }

    /// In cubic units, rounded.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let Some(apex) = self.vertices.first().map(|v| v.position) else { return 0.0 };
        let mut six = 0.0;
        self.for_each_face(
            |_| true,
            |_, ring| {
                let corner = |k: usize| self.vertices[ring[k] as usize].position - apex;
                for k in 2..ring.len() {
                    six += corner(0).dot(corner(k - 1).cross(corner(k)));
                }
            },
        );
        six / 6.0
    }

    /// Exactly where a vertex lies, in the coordinates of the cell (see [`CellPlane`]).
    #[must_use]
    pub fn exact(&self, vertex: &CellVertex) -> Homogeneous {
        meeting(vertex.planes.map(|p| &self.planes[p as usize]))
    }

    /// All planes that go exactly through a vertex, in the order of the planes.
    pub(super) fn planes_through(&self, vertex: &CellVertex, mut each: impl FnMut(&CellPlane)) {
        if self.touched {
            let rounded = Rounded::of(vertex.planes.map(|p| &self.planes[p as usize]));
            let mut exact = None;
            for plane in &self.planes {
                let undecided = rounded.side(plane).is_none();
                if undecided && exact.get_or_insert_with(|| self.exact(vertex)).side(plane.whole()) == 0 {
                    each(plane);
                }
            }
        } else {
            // No fourth plane ever met a vertex.
            let mut planes = vertex.planes;
            planes.sort_unstable();
            planes.iter().for_each(|p| each(&self.planes[*p as usize]));
        }
    }
}

/// The cells of `sites` in the box from `low` to `high`, in the order of the sites.
///
/// # Panics
/// If a site or the box goes beyond [`REACH`](super::complex::REACH).
#[must_use]
pub fn cells(sites: &[Point], low: Point, high: Point) -> Vec<Cell> {
    cells_by(NearestBy::for_count(sites.len()), sites, low, high)
}

/// As [`cells`], finding neighbours as `by` says; the cells are the same.
///
/// # Panics
/// As [`cells`].
#[must_use]
pub fn cells_by(by: NearestBy, sites: &[Point], low: Point, high: Point) -> Vec<Cell> {
    cells_with(Rules::EXACT, by, sites, low, high)
}

/// As [`cells_by`]; tests plant errors in the rules.
pub(super) fn cells_with(rules: Rules, by: NearestBy, sites: &[Point], low: Point, high: Point) -> Vec<Cell> {
    check_range(sites, low, high);
    let distinct = distinct(sites);
    let mut taking_part = vec![false; sites.len()];
    distinct.iter().for_each(|s| taking_part[*s as usize] = true);
    let has_volume = (0..3).all(|k| low[k] < high[k]);
    let finder = Finder::new(by, sites, &distinct);
    (0..sites.len() as u32)
        .into_par_iter()
        // A cell takes some ten microseconds; fewer than this are not worth another thread's while.
        .with_min_len(8)
        .map_init(Cutter::default, |cutter, site| {
            if taking_part[site as usize] && has_volume {
                cutter.cell(&rules, &finder, sites, site, low, high)
            } else {
                Cell::empty(site)
            }
        })
        .collect()
}

/// Indices of the sites that are equal to no earlier one, ascending.
pub(super) fn distinct(sites: &[Point]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..sites.len() as u32).collect();
    order.sort_unstable_by_key(|s| (sites[*s as usize], *s));
    order.dedup_by_key(|s| sites[*s as usize]);
    order.sort_unstable();
    order
}

/// A half-space `normal . y <= limit` that bounds a cell, in the coordinates of the cell: `y = 2 (x - site)`. All four
/// are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPlane {
    /// Points out of the cell; not of unit length.
    pub normal: DVec3,
    /// See the type.
    pub limit: f64,
    /// What lies on the other side.
    pub beyond: Beyond,
}

impl CellPlane {
    /// Between `site` and `other`, which has the index `index`.
    #[must_use]
    pub fn bisector(site: Point, other: Point, index: u32) -> Self {
        let normal = DVec3::from_array(std::array::from_fn(|k| f64::from(other[k] - site[k])));
        Self { normal, limit: normal.length_squared(), beyond: Beyond::Site(index) }
    }

    /// The wall `number` (as in [`Beyond::Wall`]) of the box from `low` to `high`, for the cell of `site`.
    #[must_use]
    pub fn wall(site: Point, low: Point, high: Point, number: u8) -> Self {
        let axis = usize::from(number / 2);
        let (sign, corner) = if number % 2 == 1 { (1, high) } else { (-1, low) };
        let mut normal = DVec3::ZERO;
        normal[axis] = f64::from(sign);
        let limit = f64::from(2 * sign * (corner[axis] - site[axis]));
        Self { normal, limit, beyond: Beyond::Wall(number) }
    }

    /// The same in whole numbers.
    #[must_use]
    pub fn whole(&self) -> Plane {
        let normal = self.normal.to_array().map(|v| v as i64);
        Plane { normal, limit: i128::from(self.limit as i64) }
    }
}

/// Exactly where three planes meet, in the coordinates of their cell: numerators have at most 69 bits, the denominator 51.
/// Their normals must be independent.
#[must_use]
pub fn meeting(planes: [&CellPlane; 3]) -> Homogeneous {
    Homogeneous::of(planes.map(CellPlane::whole))
}

/// A vertex in rounded numbers, with what the rounding may have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounded {
    /// In the coordinates of the cell. Each coordinate is off by at most `4.1 u size`, where `u` is 2^-53.
    pub position: DVec3,
    /// The largest of the sums that the coordinates come from, if nothing in them cancelled.
    pub size: f64,
}

impl Rounded {
    /// Where three planes meet; as [`meeting`], but rounded.
    ///
    /// Crosses and the denominator are whole numbers below 2^53, so exact. A numerator is a sum of three rounded
    /// products: off by at most `3.01 u` times the sum of their magnitudes; the division adds `u`.
    pub fn of(planes: [&CellPlane; 3]) -> Self {
        let [a, b, c] = planes.map(|p| p.normal);
        let [da, db, dc] = planes.map(|p| p.limit);
        let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
        let scale = a.dot(bc);
        let sizes = da.abs() * bc.abs() + db.abs() * ca.abs() + dc.abs() * ab.abs();
        Self { position: (da * bc + db * ca + dc * ab) / scale, size: sizes.max_element() / scale.abs() }
    }
}

impl Rounded {
    /// On which side of `plane` it lies, as [`Homogeneous::side`]; nothing where rounding might have changed it.
    ///
    /// The value below is off by at most `4.1 u size |normal|_1` for the position and by
    /// `4.01 u (size |normal|_1 + |limit|)` for its own four roundings, together less than `8.2 u`. `DOUBT` is `16 u`:
    /// the rest pays for rounding the bound itself.
    #[inline]
    pub fn side(&self, plane: &CellPlane) -> Option<i8> {
        let value = plane.normal.dot(self.position) - plane.limit;
        let doubt = Self::doubt(plane, self.size);
        (value.abs() > doubt).then_some(if value > 0.0 { 1 } else { -1 })
    }

    /// Vertices up to this `size` are inside of `plane` if their `normal . y - limit`, as [`Rounded::side`] computes
    /// it, is below this.
    #[inline]
    pub fn largest_surely_inside(plane: &CellPlane, size: f64) -> f64 {
        -Self::doubt(plane, size)
    }

    #[inline]
    fn doubt(plane: &CellPlane, size: f64) -> f64 {
        const DOUBT: f64 = 8.0 * f64::EPSILON;
        DOUBT * (plane.normal.abs().element_sum() * size + plane.limit.abs())
    }

    /// An upper bound of the squared distance from the site.
    ///
    /// The error of the position is below `b = 8 u size`, and `(a + b)^2 <= a^2 (1 + t) + b^2 (1 + 1/t)` for any `t`;
    /// with `t = 2^-20` no root has to be drawn. A vertex of nearly parallel planes may be far off; its bound is then
    /// large, and costs neighbours that are tested in vain.
    pub fn reach_squared(&self) -> f64 {
        const T: f64 = 1.0 / (1 << 20) as f64;
        let error = 4.0 * f64::EPSILON * self.size;
        self.position.length_squared() * (1.0 + 2.0 * T) + error * error * (2.0 / T)
    }

    /// Whether the position is good to a millionth of a unit or better.
    pub fn is_precise(&self) -> bool {
        self.size * 4.0 * f64::EPSILON < 1e-6
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    /// Three bisectors and a fourth, sometimes through the point where the three meet.
    fn planes(random: &mut Random, span: i32) -> [CellPlane; 4] {
        let mut other = || CellPlane::bisector([0; 3], random.point([-span; 3], [span; 3]), 1);
        [other(), other(), other(), other()]
    }

    #[test]
    fn the_float_filter_never_contradicts_the_exact_side() {
        let mut random = Random::new(3);
        let (mut decided, mut left) = (0, 0);
        for round in 0..200_000 {
            let span = [3, 40, 1000, 1 << 16][round % 4];
            let [a, b, c, mut d] = planes(&mut random, span);
            let three = [&a, &b, &c];
            if a.normal.dot(b.normal.cross(c.normal)) == 0.0 {
                continue;
            }
            if round % 3 == 0 {
                // A wall of the box close to the vertex: the hard case.
                let at = Rounded::of(three).position.x.round().clamp(-131_072.0, 131_072.0);
                d = CellPlane { normal: DVec3::X, limit: at, beyond: Beyond::Wall(1) };
            }
            let rounded = Rounded::of(three);
            let exact = meeting(three);
            if let Some(side) = rounded.side(&d) {
                decided += 1;
                assert_eq!(exact.side(d.whole()), side, "{a:?} {b:?} {c:?} {d:?}");
            } else {
                left += 1;
            }
            assert!(exact.denominator > 0);
            assert!(exact.position().length_squared() <= rounded.reach_squared());
        }
        assert!(decided > 150_000 && left > 1000, "{decided} decided, {left} left");
    }

    #[test]
    fn the_widest_numbers_fit() {
        let far = 1 << 15;
        let corner = [-far; 3];
        let planes =
            [[far, far, -far], [far, -far, far], [-far, far, far]].map(|o| CellPlane::bisector(corner, o, 0));
        let vertex = meeting(planes.each_ref());
        let last = CellPlane::bisector(corner, [far; 3], 1);
        // The middle of the cube, from a corner of it: the last plane goes through it.
        assert_eq!(vertex.position(), DVec3::splat(f64::from(2 * far)));
        assert_eq!(vertex.side(last.whole()), 0);
        let worst: i128 = (0..3).map(|k| (last.normal[k] as i128 * vertex.numerator[k]).abs()).sum();
        assert!(worst < 1 << 87 && vertex.denominator < 1 << 51);
    }
}
