//! Quadtrees and Voronoi cells in the plane: what octrees and patterns do in space, for line drawings.
//!
//! In: a disc and seeds in the unit square. Out: the cells of a quadtree level with what the octree method computes for
//! voxels: Morton codes, the seeds nearest to the corners (eqs. 1 and 2 of both papers), and which cells a crack or the
//! boundary crosses.

/// A point of the unit square, y up.
pub type Point = [f64; 2];

/// A disc that is broken by seeds.
pub struct Broken<'a> {
    /// Its centre.
    pub centre: Point,
    /// Its radius.
    pub radius: f64,
    /// The Voronoi seeds.
    pub seeds: &'a [Point],
}

/// A cell of a quadtree.
pub struct Cell {
    /// Its number along x and y, from 0.
    pub at: [u32; 2],
    /// Its level; level 0 is the square.
    pub level: u32,
    /// Whether the boundary of the disc goes through it.
    pub on_boundary: bool,
    /// Whether its middle lies in the disc.
    pub inside: bool,
    /// The seeds nearest to its corners, ascending, each once: the set U(V) of eq. 2.
    pub seeds: Vec<usize>,
}

impl Cell {
    /// Edge of cells of a level.
    pub fn edge(level: u32) -> f64 {
        1.0 / f64::from(1u32 << level.min(31))
    }

    /// Its lower left corner.
    pub fn low(&self) -> Point {
        self.at.map(|k| f64::from(k) * Self::edge(self.level))
    }

    /// Its upper right corner.
    pub fn high(&self) -> Point {
        self.at.map(|k| f64::from(k + 1) * Self::edge(self.level))
    }

    /// Its middle.
    pub fn middle(&self) -> Point {
        self.at.map(|k| (f64::from(k) + 0.5) * Self::edge(self.level))
    }

    /// Its Morton code in binary digits: y and x of each level in turn, the coarsest first.
    pub fn code(&self) -> String {
        let digit = |bit: u32| {
            let [x, y] = self.at.map(|k| (k >> bit) & 1);
            format!("{y}{x}")
        };
        (0..self.level).rev().map(digit).collect()
    }

    /// Whether a crack goes through it.
    pub fn is_cut(&self) -> bool {
        self.seeds.len() > 1
    }
}

impl Broken<'_> {
    /// The seed nearest to a point, the first of several.
    pub fn nearest(&self, point: Point) -> usize {
        let mut best = (f64::INFINITY, 0);
        for (k, seed) in self.seeds.iter().enumerate() {
            let far = square_distance(point, *seed);
            if far < best.0 {
                best = (far, k);
            }
        }
        best.1
    }

    /// All cells of a level that have a part of the disc, in Morton order.
    pub fn cells(&self, level: u32) -> Vec<Cell> {
        let side = 1u32 << level.min(15);
        let all = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
        let mut cells: Vec<Cell> = all.map(|at| self.cell(at, level)).collect();
        cells.retain(|cell| cell.inside || cell.on_boundary);
        cells.sort_by_key(Cell::code);
        cells
    }

    fn cell(&self, at: [u32; 2], level: u32) -> Cell {
        let mut cell = Cell { at, level, on_boundary: false, inside: false, seeds: Vec::new() };
        let (low, high) = (cell.low(), cell.high());
        let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
        let near = [0, 1].map(|axis| self.centre[axis].clamp(low[axis], high[axis]));
        let far = corners.map(|corner| square_distance(corner, self.centre)).into_iter().fold(0.0, f64::max);
        let reach = self.radius * self.radius;
        cell.on_boundary = square_distance(near, self.centre) < reach && far > reach;
        cell.inside = square_distance(cell.middle(), self.centre) < reach;
        cell.seeds = corners.map(|corner| self.nearest(corner)).to_vec();
        cell.seeds.sort_unstable();
        cell.seeds.dedup();
        cell
    }
}

fn square_distance(a: Point, b: Point) -> f64 {
    let [x, y] = [a[0] - b[0], a[1] - b[1]];
    x * x + y * y
}

/// The Voronoi cell of a seed in the rectangle from `low` to `high`: the rectangle, cut by each bisector.
pub fn voronoi_cell(seeds: &[Point], of: usize, low: Point, high: Point) -> Vec<Point> {
    let mut corners = vec![low, [high[0], low[1]], high, [low[0], high[1]]];
    let Some(own) = seeds.get(of) else { return Vec::new() };
    for (_, other) in seeds.iter().enumerate().filter(|(k, _)| *k != of) {
        // Above 0 on the side of the other seed.
        let side = |point: Point| square_distance(point, *own) - square_distance(point, *other);
        let mut kept = Vec::new();
        for (k, from) in corners.iter().enumerate() {
            let to = corners[(k + 1) % corners.len()];
            let (a, b) = (side(*from), side(to));
            if a <= 0.0 {
                kept.push(*from);
            }
            if (a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0) {
                let t = a / (a - b);
                kept.push([from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t]);
            }
        }
        corners = kept;
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: [Point; 3] = [[0.2, 0.3], [0.8, 0.4], [0.5, 0.9]];

    #[test]
    fn codes_interleave_the_coordinates_and_order_the_cells() {
        let cell = |at, level| Cell { at, level, on_boundary: false, inside: true, seeds: vec![0] };
        assert_eq!(cell([0, 0], 2).code(), "0000");
        // x is the lower digit of a pair. Planted error to see this fail: swap x and y in `code`.
        assert_eq!(
            [cell([1, 0], 1).code(), cell([0, 1], 1).code(), cell([2, 1], 2).code()],
            ["01", "10", "0110"]
        );
        let broken = Broken { centre: [0.5, 0.5], radius: 2.0, seeds: &SEEDS };
        let codes: Vec<String> = broken.cells(1).iter().map(Cell::code).collect();
        assert_eq!(codes, ["00", "01", "10", "11"]);
    }

    #[test]
    fn a_cell_is_cut_where_its_corners_are_nearest_to_different_seeds() {
        let broken = Broken { centre: [0.5, 0.5], radius: 0.45, seeds: &SEEDS };
        for cell in broken.cells(4) {
            let own: Vec<usize> = (0..3).filter(|k| cell.seeds.contains(k)).collect();
            assert_eq!(own, cell.seeds);
            assert_eq!(cell.is_cut(), own.len() > 1);
            let far = square_distance(cell.middle(), broken.centre).sqrt() - broken.radius;
            let half = Cell::edge(4) * std::f64::consts::SQRT_2 / 2.0;
            assert!(!cell.on_boundary || far.abs() <= half, "{:?}", cell.at);
        }
    }

    #[test]
    fn voronoi_cells_share_the_square() {
        let area = |corners: &[Point]| {
            let next = corners.iter().cycle().skip(1);
            corners.iter().zip(next).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>() / 2.0
        };
        let broken = Broken { centre: [0.5, 0.5], radius: 1.0, seeds: &SEEDS };
        let cells: Vec<Vec<Point>> = (0..3).map(|k| voronoi_cell(&SEEDS, k, [0.0; 2], [1.0; 2])).collect();
        let sum: f64 = cells.iter().map(|cell| area(cell)).sum();
        // Planted error to see this fail: `a < 0.0` alone for a crossing.
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        for (k, cell) in cells.iter().enumerate() {
            let middle = [0, 1].map(|axis| cell.iter().map(|p| p[axis]).sum::<f64>() / cell.len() as f64);
            assert_eq!(broken.nearest(middle), k);
        }
    }
}
