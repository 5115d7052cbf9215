//! A body as cells that deform.
//!
//! In: an octree, a level, a material. Out: the cells of that level, the faces at which solid ends, and the lattices of nodes of all
//! coarser levels, which solvers share.

use glam::DVec3;
use kintsugi_core::{
    shape::Octree,
    svo::{Key, morton},
};

use crate::{
    ElasticError, Material,
    cells::{self, Cells, coarser},
    element::{self, Stiffness},
    lattice::Lattice,
    rigid::Rigid,
    transfer::Transfer,
};

/// Levels with at most so many nodes are solved directly.
const FEW_NODES: usize = 200;

/// Fills that differ by less differ by how they were added up.
const LEAST_STEP: f32 = 1e-6;

/// A cell of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Low corner, in cells of the body's level from the corner of its grid.
    pub low: [u32; 3],
    /// Share that is solid, in (0, 1].
    pub fill: f32,
    /// Centre, shape space, m.
    pub centre: DVec3,
}

/// A face of a cell beside which there is less solid: none, or a cell that is less full. A surface that runs through cells so
/// has the area of its steps in fill, wherever in a cell it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Index of the cell.
    pub cell: usize,
    /// Axis of the normal: 0 for x, 1 for y, 2 for z.
    pub axis: usize,
    /// Whether the normal, which points out of the cell, points along the axis.
    pub is_high: bool,
    /// Centre, shape space, m.
    pub centre: DVec3,
    /// Area of solid that ends here, m^2: that of the face times the difference of the two fills.
    pub area: f64,
}

impl Face {
    /// Unit normal, out of the cell.
    #[must_use]
    pub fn normal(&self) -> DVec3 {
        let axis = DVec3::AXES[self.axis];
        if self.is_high { axis } else { -axis }
    }
}

/// The cells of one shape at one level of its octree, of one material. A cell that is solid in part is as stiff and as heavy
/// as that part of a full cell.
///
/// Where the cells do not all hang together by faces, only the largest set of them is the body; see
/// [`ElasticBody::cells_left_out`].
pub struct ElasticBody {
    pub(crate) cells: Cells,
    left_out: usize,
    material: Material,
    pub(crate) stiffness: Stiffness,
    /// The grid's corner in shape space, m.
    origin: DVec3,
    /// Edge of a cell, m.
    h: f64,
    level: u32,
    /// Level of the octree.
    leaf_level: u32,
    pub(crate) faces: Vec<Face>,
    /// From the finest level, the body's own, to the coarsest.
    pub(crate) lattices: Vec<Lattice>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) rigid: Rigid,
}

impl std::fmt::Debug for ElasticBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ElasticBody {{ level: {}, cells: {} }}", self.level, self.cells.len())
    }
}

impl ElasticBody {
    /// The cells of an octree at `level`, from 1 to its own.
    ///
    /// # Errors
    /// [`ElasticError`]: a level that there is not, no solid cell, too many cells, a material out of range.
    pub fn new(octree: &Octree, level: u32, material: Material) -> Result<Self, ElasticError> {
        material.check()?;
        let all = cells::cells_of(octree, level)?;
        let cells = cells::largest_part(&all);
        let left_out = all.len() - cells.len();
        let mut lattices = vec![Lattice::new(&cells, level)];
        let (mut transfers, mut below, mut l) = (Vec::new(), coarser(&cells), level);
        while l > 0 && lattices[lattices.len() - 1].nodes() > FEW_NODES {
            l -= 1;
            let coarse = Lattice::new(&below, l);
            transfers.push(Transfer::new(&lattices[lattices.len() - 1], &coarse));
            lattices.push(coarse);
            below = coarser(&below);
        }
        let rigid = Rigid::new(&lattices[0]);
        let stiffness = element::stiffness(material.poissons_ratio);
        let (origin, h, leaf_level) = (octree.grid.origin, octree.cell_size(level), octree.level());
        let mut body = Self {
            cells,
            left_out,
            material,
            stiffness,
            origin,
            h,
            level,
            leaf_level,
            faces: Vec::new(),
            lattices,
            transfers,
            rigid,
        };
        body.faces = body.faces_of_cells();
        Ok(body)
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no cells, which no body has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Cells that touch the rest nowhere by a face, and are no part of the body.
    #[must_use]
    pub fn cells_left_out(&self) -> usize {
        self.left_out
    }

    /// The cell with an index, in Morton order.
    #[must_use]
    pub fn cell(&self, index: usize) -> Option<Cell> {
        let (key, fill) = *self.cells.get(index)?;
        let low = morton::decode(key);
        Some(Cell { low, fill, centre: self.origin + self.h * (DVec3::from(low.map(f64::from)) + 0.5) })
    }

    /// Index of the cell with this low corner.
    #[must_use]
    pub fn cell_at(&self, low: [u32; 3]) -> Option<usize> {
        let inside = low.iter().all(|v| *v < 1 << self.level);
        inside.then(|| self.index(morton::encode(low)))?
    }

    /// Index of the cell that contains a voxel of the octree.
    #[must_use]
    pub fn cell_of_voxel(&self, voxel: [u32; 3]) -> Option<usize> {
        self.cell_at(voxel.map(|v| v >> (self.leaf_level - self.level)))
    }

    fn index(&self, key: Key) -> Option<usize> {
        self.cells.binary_search_by_key(&key, |(key, _)| *key).ok()
    }

    /// Faces beside which there is less solid. Between a full cell and none the area is that of the face.
    #[must_use]
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// Edge of a cell, m.
    #[must_use]
    pub fn cell_size(&self) -> f64 {
        self.h
    }

    /// Level of its cells.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Its material.
    #[must_use]
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// A point of shape space in cells from the grid's corner.
    pub(crate) fn cells_from_shape(&self, point: DVec3) -> DVec3 {
        (point - self.origin) / self.h
    }

    /// The place of a node in shape space, m.
    pub(crate) fn shape_from_node(&self, node: [u32; 3]) -> DVec3 {
        self.origin + self.h * DVec3::from(node.map(f64::from))
    }

    fn faces_of_cells(&self) -> Vec<Face> {
        let mut faces = Vec::new();
        for cell in 0..self.cells.len() {
            let Some(Cell { low, centre, fill }) = self.cell(cell) else { continue };
            for axis in 0..3 {
                for is_high in [false, true] {
                    let mut beside = low;
                    beside[axis] = if is_high { low[axis] + 1 } else { low[axis].wrapping_sub(1) };
                    let less = fill - self.cell_at(beside).map_or(0.0, |beside| self.cells[beside].1);
                    if less > LEAST_STEP {
                        let area = f64::from(less) * self.h * self.h;
                        let face = Face { cell, axis, is_high, centre, area };
                        faces.push(Face { centre: centre + face.normal() * (0.5 * self.h), ..face });
                    }
                }
            }
        }
        faces
    }
}
