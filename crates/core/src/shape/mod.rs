//! Shapes of bodies: geometry, mass properties and appearance.
//!
//! In: an octree, a closed triangle mesh or a convex polyhedron, with a density. Out: a [`Shape`], immutable and
//! shared, which bodies, pieces, pictures, picking and exports use independently of the kind of geometry.
//!
//! There are two spaces. *Shape space* is in metres, with the axes and the origin of the imported object; a piece keeps
//! its parent's. *Local space* is the geometry's own: voxels of its grid for an octree, metres for the others. A body's
//! axes are those of shape space; its position is that of its centre of mass.

mod convex;
mod grid_mass;
mod imported;
mod hull;
mod mass;
mod mesh_check;
mod mesh_tree;
mod octree;
mod solid;
mod world_uv;

pub use convex::{Convex, ConvexError};
pub use grid_mass::{GridMass, grid_mass};
pub use hull::{Hull, ShapeHull};
pub use imported::{Corner, Face, NoSurface, Original, PieceMesh, Side};
pub use mass::{MassProperties, box_thickness};
pub use mesh_check::{MeshCheck, rays};
pub use mesh_tree::{MeshTree, TreeNode};
pub use octree::Octree;
pub use solid::SolidMesh;
pub use world_uv::world_uv;

use crate::geometry::Aabb;
use crate::mesh::Mesh;
use glam::{DMat3, DMat4, DQuat, DVec3};
use std::sync::{Arc, OnceLock};

/// The kinds of geometry that a body can have.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// One tree of a forest of sparse voxel octrees.
    Octree(Octree),
    /// A closed triangle mesh.
    Mesh(SolidMesh),
    /// A convex polyhedron.
    Convex(Convex),
}

/// A kind of geometry, as a key of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// [`Geometry::Octree`].
    Octree,
    /// [`Geometry::Mesh`].
    Mesh,
    /// [`Geometry::Convex`].
    Convex,
}

impl Geometry {
    /// The kind of a geometry.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Octree(_) => Kind::Octree,
            Self::Mesh(_) => Kind::Mesh,
            Self::Convex(_) => Kind::Convex,
        }
    }
}

/// Appearance of a shape besides its geometry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Mean surface colour, sRGB, of the whole object that it comes from; the interior's colour follows it, so that all
    /// pieces of an object have the same interior. `None`: use its own surface's.
    pub surface_color: Option<[u8; 3]>,
    /// Whether its file has neither materials nor colours, or it is built in. Glass that is inside is seen on its outside, too.
    pub is_bare: bool,
}

/// An immutable shape, shared by bodies, undo steps and recordings.
#[derive(Clone, Debug)]
pub struct Shape {
    geometry: Geometry,
    density: f64,
    mass: MassProperties,
    look: Look,
    radius: f64,
    thickness: f64,
    original: Option<Original>,
    /// The surface of a convex polyhedron, once drawn.
    drawn: OnceLock<SolidMesh>,
    /// Its convex hull, once computed.
    hull: OnceLock<Arc<ShapeHull>>,
}

/// Hit of a ray on a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeHit {
    /// Ray parameter: the point is origin + t * direction.
    pub t: f64,
    /// Low corner of the hit voxel, leaf units; for a surface with voxels, the voxel that contains the point. `None`
    /// without voxels.
    pub cell: Option<[u32; 3]>,
}

impl Shape {
    /// The shape of an octree of `density`, kg/m^3.
    #[must_use]
    pub fn octree(octree: Octree, density: f64, look: Look) -> Self {
        let (mass, h) = (octree.mass_properties(density), octree.grid.h);
        let Aabb { low, high } = octree.mass.bounds;
        let radius = (low - octree.mass.centre).abs().max((high - octree.mass.centre).abs()).length() * h;
        let thickness = octree.mass.thickness * h;
        let geometry = Geometry::Octree(octree);
        Self::new(geometry, (density, mass), look, (radius, thickness))
    }

    fn new(
        geometry: Geometry,
        (density, mass): (f64, MassProperties),
        look: Look,
        (radius, thickness): (f64, f64),
    ) -> Self {
        let (drawn, hull) = (OnceLock::new(), OnceLock::new());
        Self { geometry, density, mass, look, radius, thickness, original: None, drawn, hull }
    }

    /// The shape of a closed mesh of `density`, kg/m^3, with `meters_per_unit`. The mass of an open or inverted mesh
    /// follows from the signed volume of its triangles, but is at least 0.
    #[must_use]
    pub fn mesh(mesh: &Arc<Mesh>, meters_per_unit: f64, density: f64, look: Look) -> Self {
        let color = look.surface_color.unwrap_or(CLAY);
        let surface = Arc::new(PieceMesh::of_mesh(mesh, meters_per_unit, color));
        Self::solid(SolidMesh::new(surface, mesh.materials.as_slice().into()), density, look)
    }

    /// The shape of a closed surface of `density`, kg/m^3.
    #[must_use]
    pub fn solid(solid: SolidMesh, density: f64, look: Look) -> Self {
        let mass = solid.mass_properties(density);
        Self::of_metres(Geometry::Mesh(solid), mass, density, look)
    }

    /// The same with the mesh that it was imported as.
    #[must_use]
    pub fn with_original(self, original: Original) -> Self {
        Self { original: Some(original), ..self }
    }

    /// The mesh that it was imported as; only whole objects have one.
    #[must_use]
    pub fn original(&self) -> Option<&Original> {
        self.original.as_ref()
    }

    /// The shape of a convex polyhedron of `density`, kg/m^3.
    #[must_use]
    pub fn convex(convex: Convex, density: f64, look: Look) -> Self {
        let mass = convex.mass_properties(density);
        Self::of_metres(Geometry::Convex(convex), mass, density, look)
    }

    fn of_metres(geometry: Geometry, mass: MassProperties, density: f64, look: Look) -> Self {
        let Aabb { low, high } = match &geometry {
            Geometry::Octree(_) => Aabb::default(),
            Geometry::Mesh(solid) => solid.bounds_m(),
            Geometry::Convex(convex) => convex.bounds(),
        };
        let radius = (low - mass.centre).abs().max((high - mass.centre).abs()).length();
        let thickness = box_thickness(mass.kg, &mass.inertia);
        Self::new(geometry, (density, mass), look, (radius, thickness))
    }

    /// The same with another density, kg/m^3.
    #[must_use]
    pub fn with_density(&self, density: f64) -> Self {
        let same = match &self.geometry {
            Geometry::Octree(octree) => Self::octree(octree.clone(), density, self.look),
            Geometry::Mesh(solid) => Self::solid(solid.clone(), density, self.look),
            Geometry::Convex(convex) => Self::convex(convex.clone(), density, self.look),
        };
        // The hull does not depend on the density.
        Self { original: self.original.clone(), hull: self.hull.clone(), ..same }
    }

    /// The geometry.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The kind of its geometry.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.geometry.kind()
    }

    /// Its octree: the geometry itself, or the voxels of its surface.
    #[must_use]
    pub fn as_octree(&self) -> Option<&Octree> {
        match &self.geometry {
            Geometry::Octree(octree) => Some(octree),
            Geometry::Mesh(solid) => solid.voxels(),
            Geometry::Convex(_) => None,
        }
    }

    /// Its surface, if it is a mesh.
    #[must_use]
    pub fn as_mesh(&self) -> Option<&SolidMesh> {
        match &self.geometry {
            Geometry::Mesh(solid) => Some(solid),
            Geometry::Octree(_) | Geometry::Convex(_) => None,
        }
    }

    /// The triangles for drawing; none for an octree.
    pub fn drawn_surface(&self) -> Option<&SolidMesh> {
        match &self.geometry {
            Geometry::Octree(_) => None,
            Geometry::Mesh(solid) => Some(solid),
            Geometry::Convex(convex) => Some(self.drawn.get_or_init(|| {
                let color = self.look.surface_color.unwrap_or(CLAY);
                SolidMesh::new(Arc::new(convex.surface(color)), Arc::new([]))
            })),
        }
    }

    /// Its convex hull, computed on first use.
    #[must_use]
    pub fn convex_hull(&self) -> &Arc<ShapeHull> {
        self.hull.get_or_init(|| Arc::new(ShapeHull::of(self)))
    }

    /// Density, kg/m^3.
    #[must_use]
    pub fn density(&self) -> f64 {
        self.density
    }

    /// Mass, centre and inertia, SI units, shape space.
    #[must_use]
    pub fn mass(&self) -> &MassProperties {
        &self.mass
    }

    /// Its appearance.
    #[must_use]
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// Mass, kg; never zero, even for a shape without volume.
    #[must_use]
    pub fn mass_kg(&self) -> f64 {
        let kg = self.mass.kg;
        if kg.is_finite() && kg > 0.0 { kg } else { f64::MIN_POSITIVE.sqrt() }
    }

    /// Inertia about the centre of mass, axes of shape space, kg m^2. A body without inertia does not rotate.
    #[must_use]
    pub fn inertia(&self) -> DMat3 {
        if self.mass.inertia.is_finite() { self.mass.inertia } else { DMat3::ZERO }
    }

    /// Metres from the centre of mass to the farthest corner of the bounds.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The shortest edge of the box with the same moments, m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.geometry {
            Geometry::Octree(octree) => octree.mass.voxels == 0,
            Geometry::Mesh(solid) => solid.surface().triangles.is_empty(),
            Geometry::Convex(_) => false,
        }
    }

    /// Length of a unit of local space, m.
    #[must_use]
    pub fn unit_m(&self) -> f64 {
        self.as_octree().map_or(1.0, |octree| octree.grid.h)
    }

    /// Centre of mass, local space.
    #[must_use]
    pub fn centre(&self) -> DVec3 {
        match &self.geometry {
            Geometry::Octree(octree) => octree.mass.centre,
            Geometry::Mesh(solid) => solid.to_local(self.mass.centre),
            Geometry::Convex(_) => self.mass.centre,
        }
    }

    /// Bounds, local space.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        match &self.geometry {
            Geometry::Octree(octree) => octree.mass.bounds,
            Geometry::Mesh(solid) => solid.bounds(),
            Geometry::Convex(convex) => convex.bounds(),
        }
    }

    /// Longest side of the bounds, m.
    #[must_use]
    pub fn longest_side_m(&self) -> f64 {
        self.bounds().size().max_element() * self.unit_m()
    }

    /// Transforms a point of shape space to local space.
    #[must_use]
    pub fn local_from_shape(&self, p: DVec3) -> DVec3 {
        self.as_octree().map_or(p, |octree| octree.grid.from_mesh(p))
    }

    /// Transforms a point of local space to shape space.
    #[must_use]
    pub fn shape_from_local(&self, p: DVec3) -> DVec3 {
        self.as_octree().map_or(p, |octree| octree.grid.origin + octree.grid.h * p)
    }

    /// The map from local space to body axes, relative to the centre of mass, m.
    pub fn body_from_local(&self) -> impl Fn(DVec3) -> DVec3 + Copy + use<> {
        let (centre, unit) = (self.centre(), self.unit_m());
        move |p| (p - centre) * unit
    }

    /// The transform from local space to world metres, for a body whose centre of mass is at `position`.
    #[must_use]
    pub fn world_from_local(&self, position: DVec3, rotation: DQuat) -> DMat4 {
        DMat4::from_scale_rotation_translation(DVec3::splat(self.unit_m()), rotation, position)
            * DMat4::from_translation(-self.centre())
    }

    /// Transforms a world point to local space.
    #[must_use]
    pub fn to_local(&self, position: DVec3, rotation: DQuat, point: DVec3) -> DVec3 {
        rotation.inverse() * (point - position) / self.unit_m() + self.centre()
    }

    /// Transforms a point of local space to the world.
    #[must_use]
    pub fn to_world(&self, position: DVec3, rotation: DQuat, point: DVec3) -> DVec3 {
        position + rotation * ((point - self.centre()) * self.unit_m())
    }

    /// Centre of mass of `part` in this shape's local space. Pieces of an octree share its grid; for other local spaces
    /// it is converted through shape space, which all parts of an object share.
    #[must_use]
    pub fn centre_of_part(&self, part: &Self) -> DVec3 {
        match (self.as_octree(), part.as_octree()) {
            (Some(whole), Some(grid)) if whole.grid == grid.grid && part.kind() == Kind::Octree => {
                grid.mass.centre
            }
            (Some(whole), _) => whole.grid.from_mesh(part.mass.centre),
            (None, _) => part.mass.centre,
        }
    }

    /// Transforms a point of the local space of `part` to that of this shape. Pieces of an octree share its grid.
    #[must_use]
    pub fn local_from_part(&self, part: &Self, p: DVec3) -> DVec3 {
        let grid = |shape: &Self| shape.as_octree().map(|octree| octree.grid);
        if grid(self) == grid(part) { p } else { self.local_from_shape(part.shape_from_local(p)) }
    }

    /// The first hit of a ray (local space).
    #[must_use]
    pub fn pick(&self, origin: DVec3, direction: DVec3) -> Option<ShapeHit> {
        match &self.geometry {
            Geometry::Octree(octree) => octree.pick(origin, direction),
            Geometry::Mesh(solid) => {
                let t = solid.pick(origin, direction)?;
                Some(ShapeHit { t, cell: solid.voxel_at(origin + direction * t, direction) })
            }
            Geometry::Convex(convex) => convex.pick(origin, direction).map(|t| ShapeHit { t, cell: None }),
        }
    }

    /// Distance of a point (local space) from the solid, local units; 0 inside, infinite for an empty shape.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> f64 {
        match &self.geometry {
            Geometry::Octree(octree) => octree.distance(point),
            Geometry::Mesh(solid) => solid.distance(point),
            Geometry::Convex(convex) => convex.distance(point),
        }
    }

    /// About `most` points spread over its surface, local space.
    #[must_use]
    pub fn surface_points(&self, most: usize) -> Vec<glam::Vec3> {
        match &self.geometry {
            Geometry::Octree(octree) => octree.forest.sample_points(octree.tree as usize, most).collect(),
            Geometry::Mesh(solid) => thinned(solid.vertices(), most),
            Geometry::Convex(convex) => thinned(convex.vertices().iter().copied(), most),
        }
    }
}

/// Default colour.
pub const CLAY: [u8; 3] = [176, 160, 140];

/// Every n-th of `points`, so that about `most` remain.
fn thinned(points: impl ExactSizeIterator<Item = DVec3>, most: usize) -> Vec<glam::Vec3> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.step_by(step).map(|p| p.as_vec3()).collect()
}

#[cfg(test)]
mod tests;
