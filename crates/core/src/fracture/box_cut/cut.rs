//! Cutting one cell out of the box (Chlubna sec. 3, algorithm 1 and fig. 4 to 6).
//!
//! In: a site, its neighbours nearest first, the box. Out: the [`Cell`].
//!
//! Every plane goes over two lists. Of each vertex it is asked on which side it lies. Then each edge is handled by
//! itself: dropped if nothing of it is inside, kept if nothing of it is outside, split otherwise. A split makes a
//! vertex and reports it to the two planes of the edge, as the one end or the other of what the new plane cuts off
//! their faces. A plane that has both ends gets a new edge between them. So no thread of a kernel would need to know of
//! more than its own edge, and no hull has to be sought.
//!
//! Vertices exactly on the new plane are neither inside nor outside; the paper leaves them out. They stay, and are
//! ends of new edges as new vertices are. A face that has nothing inside is gone even if an edge of it lies in the new
//! plane; that edge then borders the new face.
//!
//! The paper stops when a neighbour is farther away than the farthest vertex. But its bisector is only half as far: the
//! cell is done when the neighbour is farther than *twice* that. Sites of equal distance are all taken, where the
//! paper's search for "further than the last one" would skip all but one of them.

use glam::DVec3;

use super::{
    cell::{Cell, CellPlane, CellVertex, Edge, Rounded, meeting},
    complex::Point,
    sphere_tree::{Finder, Neighbours},
};

/// Which neighbours cut. Only tests use other rules than [`Rules::EXACT`], to see that the comparison notices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// How many times the distance of the farthest vertex a neighbour may be away. An error if below 2.
    pub reach: f64,
    /// Leaves out those as far away as the one before: an error.
    pub skip_equal: bool,
    /// Leaves out the neighbour of this rank: an error.
    pub skip_rank: Option<usize>,
}

impl Rules {
    /// Every neighbour that can cut.
    pub const EXACT: Self = Self { reach: 2.0, skip_equal: false, skip_rank: None };
}

/// Where a new plane goes into a face and where it leaves it, going round counter-clockwise.
#[derive(Clone, Copy)]
struct Ends {
    exit: u32,
    entry: u32,
}

const NO_VERTEX: u32 = u32::MAX;
const NO_ENDS: Ends = Ends { exit: NO_VERTEX, entry: NO_VERTEX };

/// Cuts one cell after the other; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct Cutter {
    neighbours: Neighbours,
    planes: Vec<CellPlane>,
    vertices: Vec<Rounded>,
    /// Three planes of every vertex.
    threes: Vec<[u32; 3]>,
    edges: Vec<Edge>,
    touched: bool,
    /// Of all vertices: coordinates by axis, the largest `size`, the largest squared distance from the site (rounded
    /// up, in the coordinates of the cell).
    columns: [Vec<f64>; 3],
    largest_size: f64,
    farthest_squared: f64,
    /// For one cut. Of every vertex: -1 inside, 0 on the plane, 1 outside; then its new index.
    sides: Vec<i8>,
    renamed: Vec<u32>,
    /// For one cut. Of every plane: ends that were reported; whether its face has a vertex inside.
    ends: Vec<Ends>,
    has_inside: Vec<bool>,
    /// For one cut: planes to which an end was reported.
    reported: Vec<u32>,
}

/// What the sides of all vertices say about a plane.
struct Sides {
    inside: bool,
    on: bool,
    outside: bool,
}

impl Cutter {
    /// The cell of `site`, which is equal to no other site, in a box with a volume.
    pub fn cell(
        &mut self,
        rules: &Rules,
        finder: &Finder,
        sites: &[Point],
        site: u32,
        low: Point,
        high: Point,
    ) -> Cell {
        let at = sites[site as usize];
        self.start_as_box(at, low, high);
        self.measure();
        self.neighbours.start(finder, site);
        // In the coordinates of the cell a vertex is twice as far away as it is, so that this is a factor of 1.
        let reach = (rules.reach / 2.0) * (rules.reach / 2.0);
        let mut reach_squared = reach * self.farthest_squared;
        let mut rank = 0;
        let mut last = 0;
        while let Some((distance_squared, other)) = self.neighbours.next(finder, reach_squared) {
            let skipped = rules.skip_equal && distance_squared == last || rules.skip_rank == Some(rank);
            (rank, last) = (rank + 1, distance_squared);
            if skipped {
                continue;
            }
            if self.cut(CellPlane::bisector(at, sites[other as usize], other)) {
                if self.edges.is_empty() {
                    return Cell::empty(site);
                }
                reach_squared = reach * self.farthest_squared;
            }
        }
        self.finished(site, at)
    }

    fn start_as_box(&mut self, at: Point, low: Point, high: Point) {
        self.planes.clear();
        self.planes.extend((0..6).map(|number| CellPlane::wall(at, low, high, number)));
        self.vertices.clear();
        self.threes.clear();
        self.edges.clear();
        self.touched = false;
        // Bit k of a vertex's index says whether it lies on the high wall of axis k.
        for v in 0..8u32 {
            let three = [0, 1, 2].map(|axis| 2 * axis + (v >> axis & 1));
            self.threes.push(three);
            self.vertices.push(Rounded::of(three.map(|p| &self.planes[p as usize])));
        }
        for axis in 0..3u32 {
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            for (a, b) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                let from = a << next | b << last;
                let vertices = [from, from | 1 << axis];
                let planes = [2 * next + a, 2 * last + b];
                // The edge runs along the axis, the normals are those of `next` and `last`, each either way.
                let planes = if a == b { planes } else { [planes[1], planes[0]] };
                self.edges.push(Edge { vertices, planes });
            }
        }
    }

    /// Cuts off what lies outside of `plane`; says whether anything did. Without edges nothing is left.
    fn cut(&mut self, plane: CellPlane) -> bool {
        if self.is_all_inside(&plane) {
            return false;
        }
        let sides = self.ask_vertices(&plane);
        self.touched |= sides.on;
        if !sides.outside {
            if sides.on {
                self.planes.push(plane);
            }
            return false;
        }
        if !sides.inside {
            self.edges.clear();
            return true;
        }
        self.planes.push(plane);
        self.handle_edges(sides.on);
        self.join_ends(sides.on);
        self.close_up();
        self.measure();
        true
    }

    fn ask_vertices(&mut self, plane: &CellPlane) -> Sides {
        let mut sides = Sides { inside: false, on: false, outside: false };
        self.sides.clear();
        for (vertex, three) in self.vertices.iter().zip(&self.threes) {
            let side = vertex
                .side(plane)
                .unwrap_or_else(|| meeting(three.map(|p| &self.planes[p as usize])).side(plane.whole()));
            sides.inside |= side < 0;
            sides.on |= side == 0;
            sides.outside |= side > 0;
            self.sides.push(side);
        }
        sides
    }

    /// Drops, keeps or splits every edge. `on`: whether any vertex lies on the new plane.
    fn handle_edges(&mut self, on: bool) {
        self.ends.clear();
        self.ends.resize(self.planes.len(), NO_ENDS);
        self.reported.clear();
        if on {
            self.mark_faces_with_inside();
        }
        let new_plane = self.planes.len() as u32 - 1;
        let mut kept = 0;
        for e in 0..self.edges.len() {
            let mut edge = self.edges[e];
            let [from, to] = edge.vertices;
            let [left, right] = edge.planes;
            match (self.sides[from as usize], self.sides[to as usize]) {
                (0, 0) => {
                    // One of its faces is inside, the other one is gone.
                    let gone = usize::from(self.has_inside[left as usize]);
                    edge.planes[gone] = new_plane;
                }
                (..=0, ..=0) => {}
                (..0, 1..) => {
                    edge.vertices[1] = self.split(edge.planes, new_plane);
                    self.report(left, right, edge.vertices[1]);
                }
                (1.., ..0) => {
                    edge.vertices[0] = self.split(edge.planes, new_plane);
                    self.report(right, left, edge.vertices[0]);
                }
                (0, 1..) => {
                    self.report(left, right, from);
                    continue;
                }
                (1.., 0) => {
                    self.report(right, left, to);
                    continue;
                }
                (1.., 1..) => continue,
            }
            self.edges[kept] = edge;
            kept += 1;
        }
        self.edges.truncate(kept);
    }

    fn mark_faces_with_inside(&mut self) {
        self.has_inside.clear();
        self.has_inside.resize(self.planes.len(), false);
        for edge in &self.edges {
            if edge.vertices.iter().any(|v| self.sides[*v as usize] < 0) {
                edge.planes.iter().for_each(|p| self.has_inside[*p as usize] = true);
            }
        }
    }

    /// The new vertex where `new_plane` meets the edge of two planes.
    fn split(&mut self, planes: [u32; 2], new_plane: u32) -> u32 {
        let three = [planes[0], planes[1], new_plane];
        self.threes.push(three);
        self.vertices.push(Rounded::of(three.map(|p| &self.planes[p as usize])));
        self.sides.push(0);
        self.threes.len() as u32 - 1
    }

    /// Going round the face of `leaving`, the new plane's outside begins at `vertex`; on that of `coming` it
    /// ends there.
    fn report(&mut self, leaving: u32, coming: u32, vertex: u32) {
        for (plane, is_exit) in [(leaving, true), (coming, false)] {
            let ends = &mut self.ends[plane as usize];
            if ends.exit == NO_VERTEX && ends.entry == NO_VERTEX {
                self.reported.push(plane);
            }
            *(if is_exit { &mut ends.exit } else { &mut ends.entry }) = vertex;
        }
    }

    fn join_ends(&mut self, on: bool) {
        let new_plane = self.planes.len() as u32 - 1;
        for plane in &self.reported {
            // A face with vertices on the plane and all others outside is gone.
            if on && !self.has_inside[*plane as usize] {
                continue;
            }
            let Ends { exit, entry } = self.ends[*plane as usize];
            debug_assert!(exit != NO_VERTEX && entry != NO_VERTEX && exit != entry);
            self.edges.push(Edge { vertices: [exit, entry], planes: [*plane, new_plane] });
        }
    }

    /// Drops the vertices outside and gives the others new indices.
    fn close_up(&mut self) {
        self.renamed.clear();
        let mut kept = 0;
        for v in 0..self.sides.len() {
            self.renamed.push(kept as u32);
            if self.sides[v] <= 0 {
                self.vertices[kept] = self.vertices[v];
                self.threes[kept] = self.threes[v];
                kept += 1;
            }
        }
        self.vertices.truncate(kept);
        self.threes.truncate(kept);
        for edge in &mut self.edges {
            edge.vertices = edge.vertices.map(|v| self.renamed[v as usize]);
        }
    }

    /// Brings up to date what is kept of all vertices together.
    fn measure(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        (self.largest_size, self.farthest_squared) = (0.0, 0.0);
        for (k, column) in self.columns.iter_mut().enumerate() {
            column.extend(self.vertices.iter().map(|vertex| vertex.position[k]));
        }
        for vertex in &self.vertices {
            self.largest_size = self.largest_size.max(vertex.size);
            self.farthest_squared = self.farthest_squared.max(vertex.reach_squared());
        }
    }

    /// Whether all vertices are inside beyond doubt: true for most neighbours, so this has to be fast. It is a maximum
    /// over columns in lanes of their own, which compilers turn into vector instructions.
    fn is_all_inside(&self, plane: &CellPlane) -> bool {
        let most = Rounded::largest_surely_inside(plane, self.largest_size);
        let [x, y, z] = &self.columns;
        let [nx, ny, nz] = plane.normal.to_array();
        let mut largest = [f64::NEG_INFINITY; 4];
        let (x, y, z) = (x.chunks_exact(4), y.chunks_exact(4), z.chunks_exact(4));
        let rest = x.remainder().iter().zip(y.remainder()).zip(z.remainder());
        for ((x, y), z) in rest {
            largest[0] = largest[0].max(nx * x + ny * y + nz * z - plane.limit);
        }
        for ((x, y), z) in x.zip(y).zip(z) {
            for k in 0..4 {
                let value = nx * x[k] + ny * y[k] + nz * z[k] - plane.limit;
                largest[k] = if value > largest[k] { value } else { largest[k] };
            }
        }
        largest.iter().all(|value| *value < most)
    }

    fn finished(&self, site: u32, at: Point) -> Cell {
        let origin = DVec3::from_array(at.map(f64::from));
        let vertex = |(rounded, planes): (&Rounded, &[u32; 3])| {
            let precise = if rounded.is_precise() {
                rounded.position
            } else {
                meeting(planes.map(|p| &self.planes[p as usize])).position()
            };
            CellVertex { planes: *planes, position: origin + 0.5 * precise }
        };
        Cell {
            site,
            planes: self.planes.clone(),
            vertices: self.vertices.iter().zip(&self.threes).map(vertex).collect(),
            edges: self.edges.clone(),
            touched: self.touched,
        }
    }
}
