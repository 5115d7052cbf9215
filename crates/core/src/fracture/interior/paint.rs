//! The colours of many voxels of one grid, to the bit those of [`Volume::color_at`].
//!
//! Voxel centres have as many coordinates as the grid has cells along a side. Where each lies in the cells of a noise
//! is found once for all ([`VolumeGrid`]). Clay is painted eight voxels at a time ([`super::clay`]); of other materials
//! the numbers at a cell's corners are kept as long as one stays in it ([`Painter`]), which in Morton order is long.

use std::sync::OnceLock;

use super::{
    Material, Volume,
    clay::ClayOf,
    volume::{Lattice, between, knots, scaled, smooth},
};
use crate::geometry::simd::wide;
use crate::{
    fracture::UNIT_BITS,
    svo::morton::{self, Key},
};

/// Salts of one material are below this.
const SALTS: usize = 16;

/// Where a coordinate lies in the cells of one lattice.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub cell: u32,
    pub within: u16,
    /// Weight of the next knot, 0..=4096.
    pub smooth: u16,
}

/// A volume at the centres of a grid's voxels.
pub(in crate::fracture) struct VolumeGrid {
    pub(super) volume: Volume,
    level: u32,
    /// Coordinates in the material's units.
    scaled: Vec<u32>,
    /// By salt: along x and z, and along y.
    places: [[OnceLock<Vec<Place>>; 2]; SALTS],
}

impl VolumeGrid {
    /// For a grid of `level`.
    pub fn new(volume: Volume, level: u32) -> Self {
        let centre = |i: i32| (i << (UNIT_BITS - level)) + ((1 << (UNIT_BITS - level)) >> 1);
        let scaled = (0..1 << level).map(|i| scaled(centre(i), volume.size())).collect();
        Self { volume, level, scaled, places: Default::default() }
    }

    /// Places of all coordinates in a lattice.
    pub(super) fn places(&self, salt: u32, along_y: bool, cell: u32) -> &[Place] {
        let place = |q: &u32| Place {
            cell: q / cell,
            within: (q % cell) as u16,
            smooth: smooth(q % cell, cell) as u16,
        };
        let known = &self.places[salt as usize][usize::from(along_y)];
        known.get_or_init(|| self.scaled.iter().map(place).collect())
    }
}

/// The corners of the noise cell that was used last.
#[derive(Clone, Copy)]
struct Corners {
    cell: [u32; 3],
    knots: [i32; 8],
}

/// Records whose voxels are painted together.
const AHEAD: u32 = 64;

/// Paints the voxels of one [`VolumeGrid`] that records of the cracks ask for, many at a time.
pub(in crate::fracture) struct Painter {
    corners: [Corners; SALTS],
    keys: Vec<Key>,
    /// Painted and not yet taken, from `next` on.
    colors: Vec<u32>,
    next: usize,
    /// The first record whose voxels are not painted.
    end: u32,
}

impl Default for Painter {
    fn default() -> Self {
        let corners = [Corners { cell: [u32::MAX; 3], knots: [0; 8] }; SALTS];
        Self { corners, keys: Vec::new(), colors: Vec::new(), next: 0, end: 0 }
    }
}

impl Painter {
    /// To be called for every record of a task, from number 0 on to the last of `records`, before colours of its
    /// voxels are taken. `voxels` appends the voxels of a record, in the order in which their colours will be taken.
    pub fn reach(
        &mut self,
        grid: &VolumeGrid,
        record: u32,
        records: u32,
        mut voxels: impl FnMut(u32, &mut Vec<Key>),
    ) {
        if record != 0 && record < self.end {
            return;
        }
        self.end = records.min(record + AHEAD);
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        (record..self.end).for_each(|record| voxels(record, &mut keys));
        (self.next, self.keys) = (0, keys);
        self.paint(grid);
    }

    /// The low bits of the colour word of the next voxel.
    pub fn take(&mut self) -> u32 {
        let color = self.colors.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        color
    }

    /// A volume of no material has no colours.
    fn paint(&mut self, grid: &VolumeGrid) {
        let Self { keys, colors, corners, .. } = self;
        colors.clear();
        if grid.volume.material() == Material::Clay as u32 {
            wide(ClayOf { grid, keys, colors });
        } else if grid.volume.material() != 0 {
            colors.extend(keys.iter().map(|key| color(corners, grid, morton::decode(*key))));
        }
    }
}

fn color(corners: &mut [Corners; SALTS], grid: &VolumeGrid, cell: [u32; 3]) -> u32 {
    let bits = UNIT_BITS - grid.level;
    let point = cell.map(|v| (v << bits) as i32 + ((1 << bits) >> 1));
    let mut voxel = Voxel { grid, at: cell.map(|v| v as usize), corners };
    let [r, g, b] = grid.volume.color_in(point, false, &mut voxel);
    u32::from(r) | u32::from(g) << 8 | u32::from(b) << 16
}

struct Voxel<'a> {
    grid: &'a VolumeGrid,
    at: [usize; 3],
    corners: &'a mut [Corners; SALTS],
}

impl Voxel<'_> {
    #[inline]
    fn places(&self, cell: [u32; 3], salt: u32) -> [Place; 3] {
        let across = self.grid.places(salt, false, cell[0]);
        let along = if cell[1] == cell[0] { across } else { self.grid.places(salt, true, cell[1]) };
        [across[self.at[0]], along[self.at[1]], across[self.at[2]]]
    }
}

impl Lattice for Voxel<'_> {
    fn place(&self) -> [u32; 3] {
        self.at.map(|v| self.grid.scaled[v])
    }

    #[inline]
    fn noise(&mut self, cell: [u32; 3], salt: u32) -> i32 {
        let places = self.places(cell, salt);
        let corners = &mut self.corners[salt as usize];
        let at = places.map(|place| place.cell);
        if corners.cell != at {
            let [_, _, _, seed] = self.grid.volume.0;
            *corners = Corners { cell: at, knots: knots(at, seed.wrapping_mul(64).wrapping_add(salt)) };
        }
        between(corners.knots, places.map(|place| i32::from(place.smooth)))
    }

    #[inline]
    fn cell(&mut self, cell: u32, salt: u32) -> ([u32; 3], [u32; 3]) {
        let places = self.places([cell; 3], salt);
        (places.map(|place| place.cell), places.map(|place| u32::from(place.within)))
    }
}
