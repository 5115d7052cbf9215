//! Lookup of the voxels of one octree by position.
//!
//! In: leaves and internal nodes of a tree. Out: the cell at a position, and a bit for each voxel that is still part of
//! the solid after thinning. Leaves lie in bricks of 8^3 voxels; a brick without leaves is entirely solid or empty,
//! like an octant.

use glam::IVec3;

/// log2 of a brick's edge in voxels.
const SHIFT: i32 = 3;
const CELLS: usize = 512;
const EMPTY: u32 = u32::MAX;
const SOLID: u32 = u32::MAX - 1;

/// Kind of a voxel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Outside the solid.
    Empty,
    /// Inside the solid, without surface.
    Inside,
    /// A leaf, by its index from the tree's first leaf.
    Leaf(u32),
}

struct Brick {
    cells: [u32; CELLS],
    /// One bit per cell of the solid.
    solid: [u64; CELLS / 64],
}

/// The voxels of one tree.
pub struct Bricks {
    /// Coordinates of the table's first brick, and bricks along each axis.
    low: IVec3,
    size: IVec3,
    /// By position: [`EMPTY`], [`SOLID`], or an index into `bricks`.
    table: Vec<u32>,
    bricks: Vec<Brick>,
}

impl Bricks {
    /// Builds the table from the positions of leaves, and the low corners and edges of internal nodes.
    pub fn new(leaves: &[IVec3], inside: &[(IVec3, i32)]) -> Self {
        let spans = leaves
            .iter()
            .map(|at| (*at, *at))
            .chain(inside.iter().map(|(low, edge)| (*low, *low + *edge - 1)));
        let bounds = spans.fold(None, |bounds: Option<(IVec3, IVec3)>, (low, high)| {
            Some(bounds.map_or((low, high), |(a, b)| (a.min(low), b.max(high))))
        });
        let (low, high) =
            bounds.map_or((IVec3::ZERO, IVec3::NEG_ONE), |(low, high)| (low >> SHIFT, high >> SHIFT));
        let size = high - low + 1;
        let mut made =
            Self { low, size, table: vec![EMPTY; (size.x * size.y * size.z) as usize], bricks: Vec::new() };
        for (i, at) in leaves.iter().enumerate() {
            let brick = made.brick_for(*at >> SHIFT, EMPTY);
            let cell = cell_of(*at);
            made.bricks[brick].cells[cell] = i as u32;
            made.bricks[brick].solid[cell >> 6] |= 1 << (cell & 63);
        }
        for (low, edge) in inside {
            made.fill(*low, *edge);
        }
        made.open_beside_leaves();
        made
    }

    /// Solid bricks beside leaves get individual voxels, since thinning may expose them.
    fn open_beside_leaves(&mut self) {
        let with_leaves = self.bricks.len() as u32;
        let places: Vec<IVec3> =
            self.places().filter(|at| self.at(*at).is_some_and(|i| i < with_leaves)).collect();
        for at in places {
            for axis in 0..3 {
                for step in [-1, 1] {
                    let mut beside = at;
                    beside[axis] += step;
                    if self.at(beside) == Some(SOLID) {
                        let brick = self.brick_for(beside, SOLID);
                        self.bricks[brick].solid = [u64::MAX; CELLS / 64];
                    }
                }
            }
        }
    }

    fn places(&self) -> impl Iterator<Item = IVec3> + use<> {
        let (low, size) = (self.low, self.size);
        (0..size.x * size.y * size.z)
            .map(move |i| low + IVec3::new(i % size.x, i / size.x % size.y, i / (size.x * size.y)))
    }

    fn at(&self, brick: IVec3) -> Option<u32> {
        self.place(brick).map(|place| self.table[place])
    }

    fn place(&self, brick: IVec3) -> Option<usize> {
        let at = brick - self.low;
        let within = at.cmpge(IVec3::ZERO).all() && at.cmplt(self.size).all();
        within.then(|| ((at.z * self.size.y + at.y) * self.size.x + at.x) as usize)
    }

    fn brick_for(&mut self, brick: IVec3, filled: u32) -> usize {
        let place = self.place(brick).unwrap_or_default();
        if self.table[place] >= SOLID {
            self.table[place] = self.bricks.len() as u32;
            self.bricks.push(Brick { cells: [filled; CELLS], solid: [0; CELLS / 64] });
        }
        self.table[place] as usize
    }

    fn fill(&mut self, low: IVec3, edge: i32) {
        if edge >= 1 << SHIFT {
            let (first, count) = (low >> SHIFT, edge >> SHIFT);
            for z in 0..count {
                for y in 0..count {
                    for x in 0..count {
                        if let Some(place) = self.place(first + IVec3::new(x, y, z)) {
                            self.table[place] = SOLID;
                        }
                    }
                }
            }
            return;
        }
        let brick = self.brick_for(low >> SHIFT, EMPTY);
        let brick = &mut self.bricks[brick];
        for z in 0..edge {
            for y in 0..edge {
                for x in 0..edge {
                    let cell = cell_of(low + IVec3::new(x, y, z));
                    brick.cells[cell] = SOLID;
                    brick.solid[cell >> 6] |= 1 << (cell & 63);
                }
            }
        }
    }

    /// The octree's cell at a voxel.
    pub fn cell(&self, at: IVec3) -> Cell {
        let found = match self.place(at >> SHIFT).map(|place| self.table[place]) {
            None | Some(EMPTY) => EMPTY,
            Some(SOLID) => SOLID,
            Some(brick) => self.bricks[brick as usize].cells[cell_of(at)],
        };
        match found {
            EMPTY => Cell::Empty,
            SOLID => Cell::Inside,
            leaf => Cell::Leaf(leaf),
        }
    }

    /// Whether a voxel is part of the solid and was not removed by thinning.
    pub fn is_solid(&self, at: IVec3) -> bool {
        match self.place(at >> SHIFT).map(|place| self.table[place]) {
            None | Some(EMPTY) => false,
            Some(SOLID) => true,
            Some(brick) => {
                let cell = cell_of(at);
                self.bricks[brick as usize].solid[cell >> 6] >> (cell & 63) & 1 == 1
            }
        }
    }

    /// Removes a leaf from the solid; [`Bricks::cell`] still returns it.
    pub fn take(&mut self, at: IVec3) {
        if let Some(place) = self.place(at >> SHIFT) {
            let (brick, cell) = (self.table[place], cell_of(at));
            if brick < SOLID {
                self.bricks[brick as usize].solid[cell >> 6] &= !(1 << (cell & 63));
            }
        }
    }

    /// Bit mask of solid voxels among the 27 round `at`: bit x + 3 y + 9 z.
    pub fn around(&self, at: IVec3) -> u32 {
        let mut bits = 0;
        let within = at & 7;
        if within.cmpge(IVec3::ONE).all() && within.cmple(IVec3::splat(6)).all() {
            let Some(place) = self.place(at >> SHIFT) else { return 0 };
            match self.table[place] {
                EMPTY => return 0,
                SOLID => return (1 << 27) - 1,
                brick => {
                    let solid = &self.bricks[brick as usize].solid;
                    for z in 0..3 {
                        let plane = solid[(within.z + z - 1) as usize] >> (8 * (within.y - 1) + within.x - 1);
                        let rows = (plane & 7) | (plane >> 8 & 7) << 3 | (plane >> 16 & 7) << 6;
                        bits |= (rows as u32) << (9 * z);
                    }
                    return bits;
                }
            }
        }
        for i in 0..27 {
            let offset = IVec3::new(i % 3, i / 3 % 3, i / 9) - 1;
            bits |= u32::from(self.is_solid(at + offset)) << i;
        }
        bits
    }

    /// Voxels of the solid that may lie at the surface, and others, in a fixed order.
    pub fn each_near_leaves(&self) -> impl Iterator<Item = IVec3> + '_ {
        let own = |brick: IVec3| self.at(brick).filter(|i| *i < SOLID).map(|i| (brick, i));
        self.places().filter_map(own).flat_map(move |(brick, i)| {
            let corner = brick << SHIFT;
            let solid = self.bricks[i as usize].solid;
            (0..CELLS as i32)
                .filter(move |cell| solid[(cell >> 6) as usize] >> (cell & 63) & 1 == 1)
                .map(move |cell| corner + IVec3::new(cell & 7, cell >> 3 & 7, cell >> 6))
        })
    }
}

fn cell_of(at: IVec3) -> usize {
    let within = at & 7;
    (within.z << 6 | within.y << 3 | within.x) as usize
}
