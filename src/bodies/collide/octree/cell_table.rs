//! The cells of one tree at its physics level as a flat array over its bounds, so that the search on the CPU
//! reads a cell at once instead of descending from the root.
//!
//! In: a tree, a level, the bounds of its voxels. Out: what [`look_up`](super::cells::look_up) says, as a
//! table. Trees whose table would be large have none and are descended.

use super::cells::{Cell, cell_at, first_of_level};
use crate::svo::{Forest, Key, morton};
use glam::{DVec3, IVec3, Vec3};

/// Larger tables are not made, cells.
const MOST_CELLS: i64 = 1 << 22;

const EMPTY: u32 = u32::MAX;
const INSIDE: u32 = u32::MAX - 1;

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
    /// The table of `tree` at `level`; `bounds` in voxels. None where it would be large.
    #[must_use]
    pub fn build(forest: &Forest, tree: u32, level: u32, bounds: (DVec3, DVec3)) -> Option<Self> {
        let voxels = f64::from(1u32 << (forest.level - level));
        let low = (bounds.0 / voxels).floor().as_ivec3() - 1;
        let size = (bounds.1 / voxels).ceil().as_ivec3() + 1 - low;
        let count = size.to_array().iter().try_fold(1i64, |n, &s| n.checked_mul(i64::from(s.max(1))))?;
        if count > MOST_CELLS {
            return None;
        }
        let mut table =
            Self { low, size, cells: vec![EMPTY; count as usize], near: Vec::new(), distance: Vec::new() };
        table.fill(forest, level, tree, 0, 0);
        let solid = |cell: IVec3| table.at(cell).is_some_and(|i| table.cells[i] != EMPTY);
        let near = (0..count as usize).map(|i| {
            let cell = table.cell(i);
            let bit = |c: i32| u8::from(solid(cell + IVec3::new(c & 1, c >> 1 & 1, c >> 2))) << c;
            (0..8).map(bit).fold(0, |mask, bit| mask | bit)
        });
        table.near = near.collect();
        table.distance = table.distances();
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

    /// One axis after the other: the least, over the cells of a row, of the larger of way and distance.
    fn distances(&self) -> Vec<u8> {
        let mut now: Vec<u8> = self.cells.iter().map(|&c| if c == EMPTY { u8::MAX } else { 0 }).collect();
        let size = self.size.as_uvec3().to_array().map(|s| s as usize);
        for (axis, stride) in [1, size[0], size[0] * size[1]].into_iter().enumerate() {
            let before = now.clone();
            for (i, best) in now.iter_mut().enumerate() {
                let at = i / stride % size[axis];
                let (below, above) = (at, size[axis] - 1 - at);
                for k in 1..=below.max(above).min(254) {
                    if k as u8 >= *best {
                        break;
                    }
                    if k <= below {
                        *best = (*best).min(before[i - k * stride].max(k as u8));
                    }
                    if k <= above {
                        *best = (*best).min(before[i + k * stride].max(k as u8));
                    }
                }
            }
        }
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

    fn cell(&self, i: usize) -> IVec3 {
        let i = i as i32;
        self.low + IVec3::new(i % self.size.x, i / self.size.x % self.size.y, i / (self.size.x * self.size.y))
    }

    /// What the cell holds; a surface is named by its surfel.
    #[must_use]
    pub fn get(&self, cell: IVec3) -> Cell {
        match self.at(cell).map_or(EMPTY, |i| self.cells[i]) {
            EMPTY => Cell::Empty,
            INSIDE => Cell::Inside,
            surfel => Cell::Surface(surfel),
        }
    }

    /// Whether a cell that is not empty may be within `radius` of `point`, both in cells.
    #[must_use]
    pub fn is_within(&self, point: Vec3, radius: f32) -> bool {
        // Whatever lies in the table is no nearer to a point outside than to the nearest point inside.
        let cell = cell_at(point).clamp(self.low, self.low + self.size - 1);
        self.at(cell).is_none_or(|i| f32::from(self.distance[i]) - 1.0 < radius)
    }

    /// Whether any of the eight cells from `cell` upwards is not empty.
    #[must_use]
    pub fn is_near(&self, cell: IVec3) -> bool {
        self.at(cell).is_some_and(|i| self.near[i] != 0)
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
    use crate::bodies::{
        collide::octree::cells::look_up,
        testing::{scattered, shattered_block},
    };
    use crate::shape::grid_mass;

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
                    assert_eq!(table.is_near(cell), near);
                    let surfaces = (0..8).filter_map(|c| {
                        let corner = cell + IVec3::new(c & 1, c >> 1 & 1, c >> 2);
                        match look_up(&forest, tree, level, corner) {
                            Cell::Surface(node) => Some(node - first),
                            Cell::Empty | Cell::Inside => None,
                        }
                    });
                    // Below the table there is nothing to ask from: nothing is near there.
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
        assert_eq!(CellTable::build(&forest, 0, 10, (DVec3::ZERO, DVec3::splat(1000.0))), None);
    }
}
