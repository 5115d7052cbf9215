//! All cells of some sites in a box, put together (Chlubna sec. 3; the paper leaves every cell by itself).
//!
//! In: sites and a box, in whole units. Out: a [`Complex`]: every facet between two cells once, every vertex once, both
//! exact, in an order that depends on the sites alone.
//!
//! A vertex is told by the set of all sites and walls that it is equally near to, which every cell around it knows from
//! its own planes. So cells are joined without a coordinate being compared: of the sites of a vertex the first one that
//! has a cell owns the vertex, and the others look it up there.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    cell::{Cell, CellVertex, cells_by},
    sphere_tree::{MOST_SITES, NearestBy},
};

/// Whole numbers of units, 2^14 to the side of the object's grid.
pub type Point = [i32; 3];

/// Sites and boxes lie within this many units of zero on every axis; wider numbers would not fit the exact tests.
pub const REACH: i32 = 1 << 15;

/// What lies beyond a facet of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Beyond {
    /// The cell of this site.
    Site(u32),
    /// A wall of the box: 2 * axis, plus 1 where it is the high one.
    Wall(u8),
}

/// A half-space `normal . x <= limit`, units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Points out of the cell; not of unit length.
    pub normal: [i64; 3],
    /// See the type.
    pub limit: i64,
}

/// One convex facet of the Voronoi complex; every facet between two cells is there once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    /// The cell behind it; of two sites the lower index.
    pub site: u32,
    /// What is on its other side.
    pub beyond: Beyond,
    /// Indices of vertices, counter-clockwise seen from beyond (outside of `site`'s cell), the lowest index first.
    /// Three or more, each once.
    pub ring: Vec<u32>,
}

/// A vertex, exact: `numerator / denominator`, units, reduced by their common divisor, so that equal points have equal
/// words whatever made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vertex {
    /// At most 70 bits each.
    pub numerator: [i128; 3],
    /// Above zero; at most 52 bits.
    pub denominator: i128,
}

impl Vertex {
    /// In units, rounded.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        DVec3::from_array(self.numerator.map(|n| n as f64 / self.denominator as f64))
    }

    /// Where a vertex of a cell lies.
    #[must_use]
    pub fn of(cell: &Cell, vertex: &CellVertex, site: Point) -> Self {
        let exact = cell.exact(vertex);
        // x = site + y / 2
        let denominator = 2 * exact.denominator as u64;
        let numerator: [i128; 3] =
            std::array::from_fn(|k| exact.numerator[k] + i128::from(site[k]) * i128::from(denominator));
        let divisor = numerator.iter().fold(denominator, |g, n| match g {
            1 => 1,
            _ => gcd(g, (n.unsigned_abs() % u128::from(g)) as u64),
        });
        let divisor = i128::from(divisor);
        Self { numerator: numerator.map(|n| n / divisor), denominator: i128::from(denominator) / divisor }
    }
}

/// The greatest common divisor; `a` is not zero.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    if b == 0 {
        return a;
    }
    let twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    a << twos
}

/// All cells of some sites in a box. Vertices and facets are in a canonical order that depends on the sites alone:
/// vertices by the ascending list of sites and walls that they are nearest to, facets by (site, beyond).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complex {
    /// As they were given.
    pub sites: Vec<Point>,
    /// The box.
    pub low: Point,
    /// The box.
    pub high: Point,
    /// Each point once.
    pub vertices: Vec<Vertex>,
    /// Each with an area: where cells meet in an edge or a point alone, there is none.
    pub facets: Vec<Facet>,
    /// Facets of each site's cell, ascending; empty where the cell is (a site equal to an earlier one; a site whose
    /// cell lies outside the box).
    pub facets_of: Vec<Vec<u32>>,
}

/// A site or a wall as a number; walls come after all sites.
fn number_of(beyond: Beyond) -> u32 {
    match beyond {
        Beyond::Site(site) => site,
        Beyond::Wall(wall) => MOST_SITES as u32 + u32::from(wall),
    }
}

/// All sites and walls that a vertex is equally near to, ascending: what tells it from all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Around {
    /// The first four, the first of them in the upper bits: one word compares faster than four.
    first: u128,
    /// Nearly always empty, and then without memory of its own.
    others: Box<[u32]>,
}

impl Around {
    fn of(cell: &Cell, vertex: &CellVertex, room: &mut Vec<u32>) -> Self {
        room.clear();
        room.push(cell.site);
        cell.planes_through(vertex, |plane| room.push(number_of(plane.beyond)));
        room.sort_unstable();
        // At least three planes go through a vertex.
        let (first, others) = room.split_at(4.min(room.len()));
        Self { first: first.iter().fold(0, |word, n| word << 32 | u128::from(*n)), others: others.into() }
    }

    /// The first site that has a cell. The site of the cell that this came from is among them.
    fn owner(&self, cells: &[Cell], cell: u32) -> u32 {
        let first = [96, 64, 32, 0].map(|shift| (self.first >> shift) as u32);
        let has_cell = |n: &&u32| cells.get(**n as usize).is_some_and(|cell| !cell.is_empty());
        first.iter().chain(&self.others).find(has_cell).copied().unwrap_or(cell)
    }
}

/// The vertices of a cell, on the way into the complex.
struct Corners {
    /// Of every vertex of the cell.
    around: Vec<Around>,
    owner: Vec<u32>,
    /// Vertices of the cell that it owns, ascending by what is around them.
    owned: Vec<u32>,
}

impl Corners {
    fn of(cell: &Cell, cells: &[Cell], room: &mut Vec<u32>) -> Self {
        let around: Vec<Around> = cell.vertices.iter().map(|v| Around::of(cell, v, room)).collect();
        let owner: Vec<u32> = around.iter().map(|a| a.owner(cells, cell.site)).collect();
        let mut owned: Vec<u32> =
            (0..owner.len() as u32).filter(|v| owner[*v as usize] == cell.site).collect();
        owned.sort_unstable_by(|a, b| around[*a as usize].cmp(&around[*b as usize]));
        Self { around, owner, owned }
    }

    /// The place among the owned vertices of the one with `around`.
    fn place_of(&self, around: &Around) -> u32 {
        match self.owned.binary_search_by(|v| self.around[*v as usize].cmp(around)) {
            Ok(place) => place as u32,
            Err(_) => unreachable!("every cell around a vertex has it: sides are decided exactly"),
        }
    }
}

impl Complex {
    /// The cells of `sites` in the box from `low` to `high`.
    ///
    /// # Panics
    /// If a site or the box goes beyond [`REACH`], or there are more than 2^30 sites.
    #[must_use]
    pub fn new(sites: &[Point], low: Point, high: Point) -> Self {
        Self::new_by(NearestBy::for_count(sites.len()), sites, low, high)
    }

    /// As [`Complex::new`], finding neighbours as `by` says; the complex is the same.
    ///
    /// # Panics
    /// As [`Complex::new`].
    #[must_use]
    pub fn new_by(by: NearestBy, sites: &[Point], low: Point, high: Point) -> Self {
        Self::of_cells(sites, low, high, &cells_by(by, sites, low, high))
    }

    /// Puts together the cells of `sites`: `cells` holds one a site, in their order.
    #[must_use]
    pub fn of_cells(sites: &[Point], low: Point, high: Point, cells: &[Cell]) -> Self {
        let corners: Vec<Corners> = cells
            .par_iter()
            .with_min_len(8)
            .map_init(Vec::new, |room, cell| Corners::of(cell, cells, room))
            .collect();
        let mut starts = Vec::with_capacity(cells.len());
        let mut count = 0;
        for corners in &corners {
            starts.push(count);
            count += corners.owned.len() as u32;
        }
        let owned: Vec<(u32, u32)> = (0u32..)
            .zip(&corners)
            .flat_map(|(c, corners)| corners.owned.iter().map(move |v| (c, *v)))
            .collect();
        let vertices = owned
            .par_iter()
            .with_min_len(64)
            .map(|&(c, v)| {
                let cell = &cells[c as usize];
                Vertex::of(cell, &cell.vertices[v as usize], sites[c as usize])
            })
            .collect();
        let facets: Vec<Facet> = cells
            .par_iter()
            .zip(&corners)
            .with_min_len(8)
            .flat_map_iter(|(cell, own)| facets_of_cell(cell, own, &corners, &starts))
            .collect();
        let mut facets_of = vec![Vec::new(); sites.len()];
        for (f, facet) in (0u32..).zip(&facets) {
            facets_of[facet.site as usize].push(f);
            if let Beyond::Site(other) = facet.beyond {
                facets_of[other as usize].push(f);
            }
        }
        Self { sites: sites.to_vec(), low, high, vertices, facets, facets_of }
    }

    /// The plane of a facet, outward from its `site`.
    #[must_use]
    pub fn plane(&self, facet: u32) -> Plane {
        let Facet { site, beyond, .. } = self.facets[facet as usize];
        let square = |p: Point| -> i64 { p.iter().map(|v| i64::from(*v) * i64::from(*v)).sum() };
        match beyond {
            Beyond::Site(other) => {
                let (a, b) = (self.sites[site as usize], self.sites[other as usize]);
                Plane {
                    normal: std::array::from_fn(|k| 2 * i64::from(b[k] - a[k])),
                    limit: square(b) - square(a),
                }
            }
            Beyond::Wall(wall) => {
                let (axis, is_high) = (usize::from(wall / 2), wall % 2 == 1);
                let mut normal = [0; 3];
                normal[axis] = if is_high { 1 } else { -1 };
                let limit = i64::from(if is_high { self.high[axis] } else { -self.low[axis] });
                Plane { normal, limit }
            }
        }
    }
}

/// The facets of a cell but for those that the cell beyond brings, ascending by what is beyond.
fn facets_of_cell(cell: &Cell, own: &Corners, all: &[Corners], starts: &[u32]) -> Vec<Facet> {
    let mut facets = Vec::new();
    let brings = |beyond| match beyond {
        Beyond::Site(other) => other > cell.site,
        Beyond::Wall(_) => true,
    };
    // A vertex is in three facets or more, but is looked up once.
    let indices: Vec<u32> = (own.owner.iter().zip(&own.around))
        .map(|(owner, around)| starts[*owner as usize] + all[*owner as usize].place_of(around))
        .collect();
    cell.for_each_face(brings, |plane, ring| {
        let mut ring: Vec<u32> = ring.iter().map(|v| indices[*v as usize]).collect();
        let lowest = (0..ring.len()).min_by_key(|k| ring[*k]).unwrap_or(0);
        ring.rotate_left(lowest);
        facets.push(Facet { site: cell.site, beyond: plane.beyond, ring });
    });
    facets.sort_unstable_by_key(|facet| facet.beyond);
    facets
}

/// # Panics
/// If anything goes beyond [`REACH`], or there are more sites than have numbers.
pub(super) fn check_range(sites: &[Point], low: Point, high: Point) {
    let within = |p: &Point| p.iter().all(|v| v.unsigned_abs() <= REACH as u32);
    assert!(sites.len() <= MOST_SITES, "at most {MOST_SITES} sites");
    assert!(sites.iter().chain([&low, &high]).all(within), "sites and box lie within {REACH} units of zero");
}
