//! The solid of a fragment, of any kind of shape.
//!
//! # Nearest-surface queries of a closed triangle mesh
//!
//! In: points in the shape's local space. Out: the nearest point of the triangles, and whether the point is inside: by
//! the angle-weighted pseudonormal of the face, edge or corner that is nearest (Bærentzen & Aanæs 2005, IEEE
//! Transactions on Visualization and Computer Graphics 11). A mesh that is open or turned inside out gives results of
//! that kind, too, but without guarantee. Triangles are found by a hierarchy of boxes, halved at the median along the
//! longest side.

use std::collections::HashMap;

use glam::{DVec3, IVec3};

use super::{
    leaf::Foot,
    occupancy::{CellBits, Flaw, Lattice, Occupancy},
    octree_solid::{self, Below, Cube, OctreeSolid},
};
use crate::{
    geometry::{
        Aabb, BoxTree,
        triangle::{Part, nearest},
    },
    shape::{Geometry, Shape},
};

/// A solid for nearest-surface queries, in the local space of its shape.
#[derive(Clone, Debug)]
pub enum Solid {
    /// The leaves of an octree, voxels.
    Octree(OctreeSolid),
    /// Triangles of a mesh (in voxels if the body has voxels too, else in metres) or of a convex polyhedron (metres).
    Mesh(MeshSolid),
}

impl Solid {
    /// The solid of a shape; `None` for an empty one.
    #[must_use]
    pub fn of(shape: &Shape) -> Option<Self> {
        (!shape.is_empty()).then(|| match shape.geometry() {
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
            Self::Octree(octree) => octree_solid::outward(octree, p, foot),
            Self::Mesh(_) => octree_solid::geometric(p, foot),
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
    /// A shape on a lattice; `None` for an empty one.
    #[must_use]
    pub fn new(shape: &Shape, lattice: &Lattice, flaw: Flaw) -> Option<Self> {
        let solid = Solid::of(shape)?;
        let bounds = shape.bounds();
        let [occupied, surface] = solid.cells(lattice, bounds);
        Some(Self { solid, bounds, occupancy: Occupancy::new(occupied, flaw), surface })
    }

    /// Bytes held beyond the shape.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.solid.bytes() + self.occupancy.bytes() + self.surface.bytes()
    }
}

/// Boxes with this number of triangles are not split.
const FEW: usize = 4;

/// A closed mesh with its hierarchy.
#[derive(Clone, Debug)]
pub struct MeshSolid {
    positions: Vec<DVec3>,
    triangles: BoxTree<[u32; 3]>,
    /// In the order of the hierarchy.
    normals: Vec<DVec3>,
    corner_normals: Vec<DVec3>,
    edge_normals: HashMap<[u32; 2], DVec3>,
}

impl MeshSolid {
    /// Makes the solid of points (local space) and counter-clockwise triangles; triangles with an invalid index are
    /// skipped.
    #[must_use]
    pub fn new(positions: Vec<DVec3>, triangles: &[[u32; 3]]) -> Self {
        let there =
            |t: &&[u32; 3]| t.iter().all(|i| positions.get(*i as usize).is_some_and(|p| p.is_finite()));
        let corners = |t: &[u32; 3]| t.map(|i| positions[i as usize]);
        let tree = BoxTree::new(
            triangles.iter().filter(there).copied().collect(),
            FEW,
            |t| Aabb::of(corners(t)),
            |run, sides| {
                let axis = (0..3).max_by(|a, b| sides[*a].total_cmp(&sides[*b])).unwrap_or(0);
                let middle = |t: &[u32; 3]| corners(t).iter().map(|p| p[axis]).sum::<f64>();
                // By corners where middles are equal, so that the order of the input decides nothing.
                run.sort_by(|a, b| middle(a).total_cmp(&middle(b)).then(a.cmp(b)));
            },
        );
        let mut solid = Self {
            triangles: tree,
            positions,
            normals: Vec::new(),
            corner_normals: Vec::new(),
            edge_normals: HashMap::new(),
        };
        solid.weigh_normals();
        solid
    }

    fn corners(&self, triangle: [u32; 3]) -> [DVec3; 3] {
        triangle.map(|i| self.positions[i as usize])
    }

    /// Normals of faces, and sums of them at corners (weighted by their angles there) and edges.
    fn weigh_normals(&mut self) {
        let mut at_corners = vec![DVec3::ZERO; self.positions.len()];
        let mut at_edges: HashMap<[u32; 2], DVec3> = HashMap::new();
        for triangle in self.triangles.items() {
            let p = self.corners(*triangle);
            let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
            self.normals.push(normal);
            for k in 0..3 {
                let (to, back) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                let angle = libm::atan2(to.cross(back).length(), to.dot(back));
                at_corners[triangle[k] as usize] += normal * angle;
                *at_edges.entry(edge(*triangle, k)).or_default() += normal;
            }
        }
        self.corner_normals = at_corners;
        self.edge_normals = at_edges;
    }

    /// The point of the surface nearest to `p`, where it is nearer than `within`; with the pseudonormal
    /// there.
    #[must_use]
    pub fn nearest(&self, p: DVec3, within: f64) -> Option<Foot> {
        let (k, point, part, distance) = self.nearest_triangle(p, within)?;
        let triangle = self.triangles.items()[k];
        let normal = match part {
            Part::Face => self.normals[k],
            Part::Edge(e) => self.edge_normals.get(&edge(triangle, e as usize)).copied().unwrap_or_default(),
            Part::Corner(c) => self.corner_normals[triangle[c as usize] as usize],
        };
        Some(Foot { point, normal: normal.normalize_or(self.normals[k]), distance })
    }

    fn nearest_triangle(&self, p: DVec3, within: f64) -> Option<(usize, DVec3, Part, f64)> {
        if !p.is_finite() {
            return None;
        }
        let look = |k: usize, t: &[u32; 3]| {
            let (q, part) = nearest(p, self.corners(*t));
            Some((q.distance_squared(p), (k, q, part)))
        };
        let (squared, (k, q, part)) = self.triangles.nearest(p, within * within, look)?;
        Some((k, q, part, squared.sqrt()))
    }

    /// Whether a point is inside.
    #[must_use]
    pub fn inside(&self, p: DVec3) -> bool {
        let is_near = self.triangles.bounds().is_some_and(|all| all.distance(p) == 0.0);
        is_near && self.nearest(p, f64::INFINITY).is_some_and(|foot| (p - foot.point).dot(foot.normal) < 0.0)
    }

    /// Bounds of every triangle.
    pub fn triangle_bounds(&self) -> impl Iterator<Item = Aabb> + '_ {
        self.triangles.items().iter().map(|t| Aabb::of(self.corners(*t)))
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let points = size_of_val(&self.positions[..]) + size_of_val(&self.corner_normals[..]);
        let faces = self.triangles.bytes() + size_of_val(&self.normals[..]);
        let edges = self.edge_normals.capacity() * (size_of::<[u32; 2]>() + size_of::<DVec3>() + 1);
        points + faces + edges
    }
}

/// The edge from corner `k` to the next, the same for both its triangles.
fn edge(triangle: [u32; 3], k: usize) -> [u32; 2] {
    let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
    [a.min(b), a.max(b)]
}
