//! The solid of a fragment, of any kind of shape.

use super::{
    error::FieldError,
    flaw::Flaw,
    lattice::Lattice,
    leaf::Foot,
    mesh_solid::MeshSolid,
    occupancy::{CellBits, Occupancy},
    octree_solid::{Below, Cube, OctreeSolid},
    smooth,
};
use crate::geometry::Aabb;
use crate::shape::{Geometry, Shape};
use glam::{DVec3, IVec3};

/// A solid for nearest-surface queries, in the local space of its shape.
#[derive(Clone, Debug)]
pub enum Solid {
    /// The leaves of an octree, voxels.
    Octree(OctreeSolid),
    /// Triangles of a mesh (in voxels if the body has voxels too, else in metres) or of a convex polyhedron (metres).
    Mesh(MeshSolid),
}

impl Solid {
    /// The solid of a shape.
    ///
    /// # Errors
    /// [`FieldError::Empty`] for an empty shape.
    pub fn of(shape: &Shape) -> Result<Self, FieldError> {
        if shape.is_empty() {
            return Err(FieldError::Empty);
        }
        Ok(match shape.geometry() {
            Geometry::Octree(octree) => Self::Octree(OctreeSolid::new(&octree.forest, octree.tree)),
            Geometry::Mesh(mesh) => {
                Self::Mesh(MeshSolid::new(mesh.vertices().collect(), &mesh.surface().triangles))
            }
            Geometry::Convex(convex) => {
                let (vertices, triangles) = convex.indexed_triangles();
                Self::Mesh(MeshSolid::new(vertices, &triangles))
            }
        })
    }

    /// Whether a point is inside.
    #[must_use]
    pub fn inside(&self, p: DVec3) -> bool {
        match self {
            Self::Octree(octree) => octree.inside(p),
            Self::Mesh(mesh) => mesh.inside(p),
        }
    }

    /// The point of the surface nearest to `p`, where it is nearer than `within`.
    #[must_use]
    pub fn nearest(&self, p: DVec3, within: f64) -> Option<Foot> {
        match self {
            Self::Octree(octree) => octree.nearest(p, within),
            Self::Mesh(mesh) => mesh.nearest(p, within),
        }
    }

    /// Like [`Self::nearest`], or any point of the surface no farther than `enough`.
    #[must_use]
    pub fn nearest_until(&self, p: DVec3, within: f64, enough: f64) -> Option<Foot> {
        match self {
            Self::Octree(octree) => octree.nearest_until(p, within, enough),
            Self::Mesh(mesh) => mesh.nearest(p, within),
        }
    }

    /// The outward direction at a foot of `p`: smooth where the leaves' planes are those of a smooth surface;
    /// of triangles exact.
    #[must_use]
    pub fn outward(&self, p: DVec3, foot: &Foot) -> DVec3 {
        match self {
            Self::Octree(octree) => smooth::outward(octree, p, foot),
            Self::Mesh(_) => smooth::geometric(p, foot),
        }
    }

    /// Cells of the lattice that contain any of the solid, and cells that contain surface.
    #[must_use]
    pub fn cells(&self, lattice: &Lattice, bounds: Aabb) -> [CellBits; 2] {
        // Surfaces that lie on the faces of cells count for the cells on either side.
        let (low, high) = (lattice.cell_of(bounds.low) - 1, lattice.cell_of(bounds.high) + 2);
        let mut out = [CellBits::empty(low, high), CellBits::empty(low, high)];
        match self {
            Self::Octree(octree) => mark_octree(octree, lattice, octree.root(), &mut out),
            Self::Mesh(mesh) => {
                mark_triangles(mesh, lattice, &mut out);
                mark_within(mesh, lattice, &mut out);
            }
        }
        out
    }

    /// Cells that a crack cuts: those with leaves that a fracture made or cut; of triangles all with surface.
    #[must_use]
    pub fn cracked(&self, lattice: &Lattice, surface: &CellBits) -> CellBits {
        let Self::Octree(octree) = self else { return surface.clone() };
        let (low, high) = surface.range();
        let mut out = CellBits::empty(low, high);
        mark_cracks(octree, lattice, octree.root(), &mut out);
        out
    }

    /// Bytes held beyond the shape.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Octree(_) => 0,
            Self::Mesh(mesh) => mesh.bytes(),
        }
    }
}

/// The cells of the lattice that a cube of the octree fills, or the one that it lies in.
fn cells_of(octree: &OctreeSolid, lattice: &Lattice, cube: Cube) -> (IVec3, IVec3) {
    let low = DVec3::from(cube.low().map(f64::from));
    let size = f64::from(octree.size(cube.level()));
    let first = lattice.cell_of(low + 0.5 * size.min(lattice.cell));
    (first, first + (size / lattice.cell).max(1.0) as i32)
}

fn fill(bits: &mut CellBits, (low, high): (IVec3, IVec3)) {
    for z in low.z..high.z {
        for y in low.y..high.y {
            (low.x..high.x).for_each(|x| bits.set(IVec3::new(x, y, z)));
        }
    }
}

fn mark_octree(octree: &OctreeSolid, lattice: &Lattice, cube: Cube, out: &mut [CellBits; 2]) {
    for below in octree.below(cube) {
        match below {
            Below::Solid(child) => fill(&mut out[0], cells_of(octree, lattice, child)),
            Below::Surface(child) if f64::from(octree.size(child.level())) <= lattice.cell => {
                let cells = cells_of(octree, lattice, child);
                out.iter_mut().for_each(|bits| fill(bits, cells));
            }
            Below::Surface(child) => mark_octree(octree, lattice, child, out),
        }
    }
}

fn mark_cracks(octree: &OctreeSolid, lattice: &Lattice, cube: Cube, out: &mut CellBits) {
    let leaves = &octree.forest().leaves;
    let is_cracked = |leaf: usize| {
        leaves.colors.get(leaf).is_some_and(|color| color.crack())
            || leaves.cuts.get(leaf).is_some_and(|cut| *cut != 0)
    };
    for below in octree.below(cube) {
        let Below::Surface(child) = below else { continue };
        if f64::from(octree.size(child.level())) > lattice.cell {
            mark_cracks(octree, lattice, child, out);
        } else if octree.any_leaf(child, &is_cracked) {
            fill(out, cells_of(octree, lattice, child));
        }
    }
}

/// Marks cells by the bounds of triangles, which are more than the triangles cross.
fn mark_triangles(mesh: &MeshSolid, lattice: &Lattice, out: &mut [CellBits; 2]) {
    for Aabb { low, high } in mesh.triangle_bounds() {
        let hair = DVec3::splat(lattice.cell * 1e-9);
        let cells = (lattice.cell_of(low - hair), lattice.cell_of(high + hair) + 1);
        out.iter_mut().for_each(|bits| fill(bits, cells));
    }
}

/// A cell without surface is solid where its middle is.
fn mark_within(mesh: &MeshSolid, lattice: &Lattice, out: &mut [CellBits; 2]) {
    let (low, high) = out[1].range();
    for z in low.z..high.z {
        for y in low.y..high.y {
            // Cells between two cells with surface are all solid or all empty.
            let mut within = None;
            for cell in (low.x..high.x).map(|x| IVec3::new(x, y, z)) {
                if out[1].has(cell) {
                    within = None;
                } else if *within.get_or_insert_with(|| mesh.inside(lattice.place(cell) + 0.5 * lattice.cell))
                {
                    out[0].set(cell);
                }
            }
        }
    }
}

/// A fragment's solid with the cells that it is in.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The solid.
    pub solid: Solid,
    /// Bounds, local space.
    pub bounds: Aabb,
    /// Cells that contain any of it.
    pub occupancy: Occupancy,
    /// Cells that contain surface.
    pub surface: CellBits,
}

impl Placed {
    /// A shape on a lattice.
    ///
    /// # Errors
    /// [`FieldError::Empty`].
    pub fn new(shape: &Shape, lattice: &Lattice, flaw: Flaw) -> Result<Self, FieldError> {
        let solid = Solid::of(shape)?;
        let bounds = shape.bounds();
        let [occupied, surface] = solid.cells(lattice, bounds);
        Ok(Self { solid, bounds, occupancy: Occupancy::new(occupied, flaw), surface })
    }

    /// Bytes held beyond the shape.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.solid.bytes() + self.occupancy.bytes() + self.surface.bytes()
    }
}
