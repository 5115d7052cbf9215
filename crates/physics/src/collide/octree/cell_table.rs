//! The cells of one tree at its physics level as a flat array over its bounds, so that the search on the CPU reads a
//! cell at once instead of descending from the root.
//!
//! In: a tree, a level, the bounds of its voxels. Out: the results of [`look_up`](super::cells::look_up), as a table.
//! Trees whose table would be large have none and are descended.

use super::surfels::{Cell, cell_at, first_of_level};
use crate::geometry::Aabb;
use crate::svo::{Forest, Key, morton};
use glam::{IVec3, Vec3};

/// Larger tables are not made, cells.
const MOST_CELLS: i64 = 1 << 22;

const EMPTY: u32 = u32::MAX;
const INSIDE: u32 = u32::MAX - 1;

/// Number of points that are looked up together, for vector code.
pub const TOGETHER: usize = 8;

/// Points, cells, axis by axis.
pub type Points = [[f32; TOGETHER]; 3];

/// A table of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct CellTable {
    /// The cell of the first entry; there is a free layer all round.
    low: IVec3,
    size: IVec3,
    cells: Vec<u32>,
    /// Which of the eight cells from this one upwards are not empty; bit x + 2 y + 4 z.
    near: Vec<u8>,
    /// How many cells away, along the farthest axis, the nearest cell is that is not empty.
    distance: Vec<u8>,
}

impl CellTable {
    /// The table of `tree` at `level`; `bounds` in voxels. `None` if it would be large.
    #[must_use]
    pub fn build(forest: &Forest, tree: u32, level: u32, bounds: Aabb) -> Option<Self> {
        let voxels = f64::from(1u32 << (forest.level - level));
        let low = (bounds.low / voxels).floor().as_ivec3() - 1;
        let size = (bounds.high / voxels).ceil().as_ivec3() + 1 - low;
        let count = size.to_array().iter().try_fold(1i64, |n, &s| n.checked_mul(i64::from(s.max(1))))?;
        if count > MOST_CELLS {
            return None;
        }
        let mut table =
            Self { low, size, cells: vec![EMPTY; count as usize], near: Vec::new(), distance: Vec::new() };
        table.fill(forest, level, tree, 0, 0);
        (table.near, table.distance) = (table.nears(), table.distances());
        Some(table)
    }

    fn fill(&mut self, forest: &Forest, level: u32, node: u32, at: u32, key: Key) {
        let Some(&parent) = forest.nodes.get(node as usize) else {
            return;
        };
        let cells = 1i32 << (level - at - 1);
        for c in 0..8 {
            let child_key = key << 3 | Key::from(c);
            let low = IVec3::from(morton::decode(child_key).map(|v| v as i32)) * cells;
            if parent.internal() >> c & 1 == 1 {
                for i in 0..cells.pow(3) {
                    self.set(low + IVec3::new(i % cells, i / cells % cells, i / (cells * cells)), INSIDE);
                }
            } else if parent.valid() >> c & 1 == 1 {
                if at + 1 == level {
                    self.set(low, parent.child(c) - first_of_level(forest, level));
                } else {
                    self.fill(forest, level, parent.child(c), at + 1, child_key);
                }
            }
        }
    }

    /// Rows along x.
    fn row(&self, y: i32, z: i32) -> Option<std::ops::Range<usize>> {
        let is_there = (0..self.size.y).contains(&y) && (0..self.size.z).contains(&z);
        let width = self.size.x as usize;
        is_there.then(|| {
            let first = (z * self.size.y + y) as usize * width;
            first..first + width
        })
    }

    fn nears(&self) -> Vec<u8> {
        let is_solid: Vec<u8> = self.cells.iter().map(|&c| u8::from(c != EMPTY)).collect();
        let mut near = vec![0; self.cells.len()];
        for z in 0..self.size.z {
            for y in 0..self.size.y {
                let Some(own) = self.row(y, z) else { continue };
                let own = &mut near[own];
                for c in 0..4 {
                    let Some(row) = self.row(y + (c & 1), z + (c >> 1)) else { continue };
                    let row = &is_solid[row];
                    own.iter_mut().zip(row).for_each(|(near, solid)| *near |= solid << (2 * c));
                    own.iter_mut().zip(&row[1..]).for_each(|(near, solid)| *near |= solid << (2 * c + 1));
                }
            }
        }
        near
    }

    /// Twice through the table, forwards and backwards: a cell is one farther away than the nearest of the neighbours
    /// that were passed. With all 26 neighbours that is exact for this distance (Borgefors 1986, Distance
    /// Transformations in Digital Images: the chessboard distance).
    fn distances(&self) -> Vec<u8> {
        let mut now: Vec<u8> = self.cells.iter().map(|&c| if c == EMPTY { u8::MAX } else { 0 }).collect();
        let mut least = vec![u8::MAX; self.size.x as usize];
        let mut pass = |way: i32| {
            for i in 0..self.size.y * self.size.z {
                let i = if way > 0 { i } else { self.size.y * self.size.z - 1 - i };
                let (y, z) = (i % self.size.y, i / self.size.y);
                least.fill(u8::MAX);
                for [dy, dz] in [[-way, 0], [-way, -way], [0, -way], [way, -way]] {
                    let Some(row) = self.row(y + dy, z + dz) else { continue };
                    least.iter_mut().zip(&now[row]).for_each(|(least, d)| *least = (*least).min(*d));
                }
                let Some(own) = self.row(y, z) else { continue };
                let own = &mut now[own];
                // Of each cell's three in those rows.
                for (own, three) in own[1..].iter_mut().zip(least.windows(3)) {
                    *own = (*own).min(three[0].min(three[1]).min(three[2]).saturating_add(1));
                }
                for at in [0, own.len() - 1] {
                    let three = &least[at.saturating_sub(1)..(at + 2).min(own.len())];
                    let nearest = three.iter().fold(u8::MAX, |least, d| least.min(*d));
                    own[at] = own[at].min(nearest.saturating_add(1));
                }
                for at in 1..own.len() {
                    let (at, before) =
                        if way > 0 { (at, at - 1) } else { (own.len() - 1 - at, own.len() - at) };
                    own[at] = own[at].min(own[before].saturating_add(1));
                }
            }
        };
        pass(1);
        pass(-1);
        now
    }

    fn set(&mut self, cell: IVec3, value: u32) {
        if let Some(i) = self.at(cell) {
            self.cells[i] = value;
        }
    }

    fn at(&self, cell: IVec3) -> Option<usize> {
        let p = cell - self.low;
        if p.cmplt(IVec3::ZERO).any() || p.cmpge(self.size).any() {
            return None;
        }
        Some(((p.z * self.size.y + p.y) * self.size.x + p.x) as usize)
    }

    #[cfg(test)]
    fn cell(&self, i: usize) -> IVec3 {
        let i = i as i32;
        self.low + IVec3::new(i % self.size.x, i / self.size.x % self.size.y, i / (self.size.x * self.size.y))
    }

    /// Content of the cell; a surface cell has the index of its surfel.
    #[must_use]
    pub fn get(&self, cell: IVec3) -> Cell {
        match self.at(cell).map_or(EMPTY, |i| self.cells[i]) {
            EMPTY => Cell::Empty,
            INSIDE => Cell::Inside,
            surfel => Cell::Surface(surfel),
        }
    }

    /// No cell is nearer that is not empty, cells along the farthest axis.
    #[must_use]
    pub fn distance(&self, cell: IVec3) -> u32 {
        // Whatever lies in the table is no nearer to a cell outside than to the nearest cell inside.
        let cell = cell.clamp(self.low, self.low + self.size - 1);
        self.at(cell).map_or(0, |i| u32::from(self.distance[i]))
    }

    /// Whether a cell that is not empty may be within `radius` of `point`, both in cells.
    #[must_use]
    pub fn is_within(&self, point: Vec3, radius: f32) -> bool {
        self.distance(cell_at(point)) as f32 - 1.0 < radius
    }

    /// Of [`TOGETHER`] points (cells, axis by axis), those with a cell that is not empty among the eight round them, as
    /// bits: those from the cell half a cell below upwards.
    #[must_use]
    pub fn near(&self, points: &Points) -> u32 {
        let mut at = [usize::MAX; TOGETHER];
        let cells = self.cells_from_low(points, 0.5);
        let [width, height, depth] = self.size.to_array().map(|size| size as u32);
        for (i, at) in at.iter_mut().enumerate() {
            let [x, y, z] = [cells[0][i], cells[1][i], cells[2][i]].map(|c| c as u32);
            if (x < width) & (y < height) & (z < depth) {
                *at = ((z * height + y) * width + x) as usize;
            }
        }
        let near =
            at.iter().enumerate().map(|(i, at)| u32::from(self.near.get(*at).is_some_and(|c| *c != 0)) << i);
        near.fold(0, |mask, bit| mask | bit)
    }

    /// [`CellTable::is_within`] for many points.
    #[must_use]
    pub fn within(&self, points: &Points, radius: f32) -> u32 {
        let mut cells = self.cells_from_low(points, 0.0);
        for (cells, last) in cells.iter_mut().zip((self.size - 1).to_array()) {
            cells.iter_mut().for_each(|c| *c = (*c).clamp(0, last));
        }
        let [width, height, _] = self.size.to_array();
        let [xs, ys, zs] = &cells;
        let mut mask = 0;
        for (i, ((x, y), z)) in xs.iter().zip(ys).zip(zs).enumerate() {
            let distance = self.distance.get(((z * height + y) * width + x) as usize);
            let distance = distance.map_or(0.0, |cells| f32::from(*cells));
            mask |= u32::from(distance - 1.0 < radius) << i;
        }
        mask
    }

    /// The cells that points lie in less `below`, counted from the first one of the table.
    #[inline(always)]
    fn cells_from_low(&self, points: &Points, below: f32) -> [[i32; TOGETHER]; 3] {
        let mut cells = [[0; TOGETHER]; 3];
        for ((cells, points), low) in cells.iter_mut().zip(points).zip(self.low.to_array()) {
            for (cell, p) in cells.iter_mut().zip(points) {
                let p = p - below;
                let cut = p as i32;
                *cell = cut.wrapping_sub(i32::from(p < cut as f32)).wrapping_sub(low);
            }
        }
        cells
    }

    /// The surfaces among the eight cells from `cell` upwards, x first, then y.
    pub fn surfaces_near(&self, cell: IVec3) -> impl Iterator<Item = u32> {
        let at = self.at(cell);
        let mask = at.map_or(0, |i| self.near[i]);
        // A cell that is not empty is in the table.
        let [down, back] = [self.size.x, self.size.x * self.size.y].map(|step| step as usize);
        let cells = (0..8).filter(move |c| mask >> c & 1 == 1);
        let entry =
            move |c: usize| self.cells[at.unwrap_or(0) + (c & 1) + (c >> 1 & 1) * down + (c >> 2) * back];
        cells.map(entry).filter(|&entry| entry != INSIDE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::grid_mass;
    use crate::{
        collide::octree::surfels::look_up,
        testing::{scattered, shattered_block},
    };
    use glam::DVec3;

    #[test]
    fn the_table_says_what_the_octree_says() {
        let forest = shattered_block(5, [3; 3], [29; 3], &scattered([3; 3], [29; 3], 12));
        for level in 2..=5 {
            let first = first_of_level(&forest, level);
            let (mut surfaces, mut insides) = (0, 0);
            for tree in 0..forest.trees() as u32 {
                let bounds = grid_mass(&forest, tree as usize).bounds;
                let table = CellTable::build(&forest, tree, level, bounds).expect("a small table");
                let side = 1 << level;
                for i in 0..(side + 4) * (side + 4) * (side + 4) {
                    let cell =
                        IVec3::new(i % (side + 4), i / (side + 4) % (side + 4), i / (side + 4) / (side + 4))
                            - 2;
                    let want = match look_up(&forest, tree, level, cell) {
                        Cell::Surface(node) => Cell::Surface(node - first),
                        other => other,
                    };
                    assert_eq!(table.get(cell), want);
                    surfaces += u32::from(matches!(want, Cell::Surface(_)));
                    insides += u32::from(want == Cell::Inside);
                    let near = (0..8).any(|c| {
                        let corner = cell + IVec3::new(c & 1, c >> 1 & 1, c >> 2);
                        look_up(&forest, tree, level, corner) != Cell::Empty
                    });
                    // Anywhere in the cell that is the lowest of the eight.
                    let p = cell.as_vec3() + 0.5 + Vec3::new(0.0, 0.4, 0.99);
                    let points = p.to_array().map(|p| std::array::from_fn(|k| if k == 3 { p } else { -9.0 }));
                    assert_eq!(table.near(&points), u32::from(near) << 3);
                    for radius in [0.5, 1.0, 3.0] {
                        assert_eq!(table.within(&points, radius) >> 3 & 1 == 1, table.is_within(p, radius));
                    }
                    let surfaces = (0..8).filter_map(|c| {
                        let corner = cell + IVec3::new(c & 1, c >> 1 & 1, c >> 2);
                        match look_up(&forest, tree, level, corner) {
                            Cell::Surface(node) => Some(node - first),
                            Cell::Empty | Cell::Inside => None,
                        }
                    });
                    // Outside the table nothing is near.
                    if table.at(cell).is_some() {
                        assert!(table.surfaces_near(cell).eq(surfaces));
                    } else {
                        assert_eq!(table.surfaces_near(cell).count(), 0);
                    }
                }
            }
            println!("level {level}: {surfaces} surface cells, {insides} inside");
            assert!(surfaces > 50);
        }
    }

    #[test]
    fn distances_are_those_of_a_search() {
        let forest = shattered_block(4, [2; 3], [13; 3], &scattered([2; 3], [13; 3], 6));
        for tree in 0..forest.trees() as u32 {
            let bounds = grid_mass(&forest, tree as usize).bounds;
            let table = CellTable::build(&forest, tree, 4, bounds).expect("a small table");
            let solid: Vec<IVec3> =
                (0..table.cells.len()).filter(|&i| table.cells[i] != EMPTY).map(|i| table.cell(i)).collect();
            for i in 0..table.cells.len() {
                let way = |to: &IVec3| (*to - table.cell(i)).abs().max_element();
                assert_eq!(Some(i32::from(table.distance[i])), solid.iter().map(way).min());
            }
        }
    }

    #[test]
    fn a_large_table_is_not_made() {
        let forest = Forest { level: 10, ..Forest::default() };
        assert_eq!(CellTable::build(&forest, 0, 10, Aabb::new(DVec3::ZERO, DVec3::splat(1000.0))), None);
    }
}
