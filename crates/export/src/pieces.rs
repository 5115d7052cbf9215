//! A piece to be written: its shape, placement, and mass properties.

use std::{collections::BTreeMap, sync::Arc};

use crate::geometry::Aabb;
use glam::{DQuat, DVec3};

use super::{handover::Pivot, motion::MotionKey};
use crate::{
    BrokenObject,
    fracture::{
        Dropped, Insides, Surface, Volume, VoronoiDetail, crack::CrackShape, interior::surface_color,
    },
    shape::{Geometry, Octree, Shape},
    svo::{Forest, Grid},
};

/// Coordinates of exported pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lying {
    /// Their present positions in the world: metres, y up.
    #[default]
    AsTheyLie,
    /// Their original positions in the whole object, in its own units.
    AsTheyFittedTogether,
}

/// Transform of a shape in a file: from shape space (m) scaled, then rotated, then translated, to the file's
/// coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// Units of the file per unit of shape space.
    pub scale: f64,
    /// Rotation about the origin.
    pub rotation: DQuat,
    /// Position of shape space's origin, units of the file.
    pub translation: DVec3,
}

impl Placing {
    /// The identity.
    pub const UNMOVED: Self = Self { scale: 1.0, rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// The placement of a body whose centre of mass `centre` (shape space) is at `position` (world, m).
    #[must_use]
    pub fn of_body(centre: DVec3, position: DVec3, rotation: DQuat) -> Self {
        Self { scale: 1.0, rotation, translation: position - rotation * centre }
    }

    /// The object's own units, with `meters_per_unit` metres each.
    #[must_use]
    pub fn in_units(meters_per_unit: f64) -> Self {
        Self { scale: meters_per_unit.recip(), ..Self::UNMOVED }
    }

    /// Transforms a point of shape space. The identity keeps its bits.
    #[must_use]
    pub fn point(&self, p: DVec3) -> DVec3 {
        if *self == Self::UNMOVED { p } else { self.translation + self.rotation * (self.scale * p) }
    }

    /// Rotates a direction of shape space.
    #[must_use]
    pub fn direction(&self, d: glam::Vec3) -> glam::Vec3 {
        if self.is_turned() { self.rotation.as_quat() * d } else { d }
    }

    /// Whether it has a rotation.
    #[must_use]
    pub fn is_turned(&self) -> bool {
        self.rotation != DQuat::IDENTITY
    }
}

/// Mass properties of a piece, in units of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Number of leaves and internal leaf cells; 0 if the geometry has no voxels.
    pub voxels: u64,
    /// Volume, cubic units.
    pub volume: f64,
    /// Mass at the shape's density: kg if that is kg/m^3.
    pub mass: f64,
    /// Centre of mass.
    pub centre: DVec3,
    /// A box that contains it.
    pub bounds: Aabb,
}

impl Figures {
    /// Properties of `shape` at `placing`.
    #[must_use]
    pub fn of(shape: &Shape, placing: &Placing) -> Self {
        let mass = shape.mass();
        let bounds = bounds_in_shape_space(shape);
        let bounds = if placing.is_turned() {
            Aabb::of(bounds.corners().map(|corner| placing.point(corner)))
        } else {
            bounds.placed(|p| placing.point(p))
        };
        Self {
            voxels: made_of_voxels(shape).map_or(0, |octree| octree.mass.voxels),
            volume: mass.volume_m3 * placing.scale.powi(3),
            mass: mass.kg,
            centre: placing.point(mass.centre),
            bounds,
        }
    }
}

/// The octree of a shape, if it is one.
#[must_use]
pub fn made_of_voxels(shape: &Shape) -> Option<&Octree> {
    match shape.geometry() {
        Geometry::Octree(octree) => Some(octree),
        Geometry::Mesh(_) | Geometry::Convex(_) => None,
    }
}

fn bounds_in_shape_space(shape: &Shape) -> Aabb {
    match shape.as_octree().map(|octree| &octree.grid) {
        Some(grid) => shape.bounds().placed(|p| grid.origin + grid.h * p),
        None => shape.bounds(),
    }
}

/// The ids of the pieces of each object, ascending.
pub(crate) fn by_object(pieces: &[ExportPiece]) -> BTreeMap<Option<usize>, Vec<usize>> {
    let mut objects: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for piece in pieces {
        objects.entry(piece.object).or_default().push(piece.id);
    }
    objects
}

/// A piece that broke again, to group its pieces in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its id, which follows those of the pieces.
    pub id: usize,
    /// Id of the piece that it broke off.
    pub parent: Option<usize>,
}

impl Generation {
    pub(crate) fn of(piece: &ExportPiece) -> Self {
        Self { id: piece.id, parent: piece.parent }
    }
}

/// A piece for all formats.
#[derive(Clone, Debug)]
pub struct ExportPiece {
    /// Number in the list it is in; see [`Assembly`](crate::Assembly).
    pub id: usize,
    /// Its shape.
    pub shape: Arc<Shape>,
    /// Its placement.
    pub placing: Placing,
    /// Index of its object, if there may be several.
    pub object: Option<usize>,
    /// Voronoi cell as a seed number over all breaks of its object; `None` for an unbroken object.
    pub cell: Option<u32>,
    /// Id of the piece that it broke off; `None` for a piece of the whole object.
    pub parent: Option<usize>,
    /// Number of breaks in its ancestry.
    pub generation: u32,
    /// The materials that these breaks opened; all zero where they are not known.
    pub insides: Insides,
    /// Its name, if that does not follow from its number.
    pub called: Option<String>,
}

impl ExportPiece {
    /// `piece_000`, `piece_001`, ..., or what it is called.
    #[must_use]
    pub fn name(&self) -> String {
        self.called.clone().unwrap_or_else(|| Self::numbered(self.id))
    }

    /// The name of the piece of this number.
    #[must_use]
    pub fn numbered(id: usize) -> String {
        format!("piece_{id:03}")
    }

    /// Where the origin of its node is at a key of its motion, world, m.
    #[must_use]
    pub fn origin_at(&self, key: &MotionKey, pivot: Pivot) -> DVec3 {
        match pivot {
            Pivot::Mass => key.position,
            Pivot::Origin => key.position - key.rotation * self.shape.mass().centre,
        }
    }

    /// Mass properties of the piece as placed.
    #[must_use]
    pub fn figures(&self) -> Figures {
        Figures::of(&self.shape, &self.placing)
    }

    /// Its octree, if the shape is one; voxels that only approximate a mesh are not written.
    #[must_use]
    pub fn octree(&self) -> Option<&Octree> {
        made_of_voxels(&self.shape)
    }

    /// Edge of its voxels, m of shape space; for a mesh 1/256 of its longest side.
    #[must_use]
    pub fn voxel(&self) -> f64 {
        let by_size = || {
            let Aabb { low, high } = bounds_in_shape_space(&self.shape);
            (high - low).max_element() / 256.0
        };
        self.octree().map_or_else(by_size, |octree| octree.grid.h)
    }

    /// Origin of its node, shape space.
    #[must_use]
    pub fn pivot(&self, pivot: Pivot) -> DVec3 {
        match pivot {
            Pivot::Mass => self.shape.mass().centre,
            Pivot::Origin => DVec3::ZERO,
        }
    }
}

/// Mean colour of the surface of the object, sRGB.
#[must_use]
pub fn surface_of(broken: &BrokenObject) -> [u8; 3] {
    broken.source.look().surface_color.unwrap_or_else(|| {
        let octree = broken.source_octree();
        surface_color(&octree.forest, octree.tree)
    })
}

/// The material inside an object that was broken.
#[must_use]
pub fn inside_of(broken: &BrokenObject) -> Option<Volume> {
    Some(broken.steps.first()?.result.params.interior.volume(surface_of(broken)))
}

/// The materials inside the pieces of each break of an object.
pub(crate) fn insides_of(broken: &BrokenObject) -> Vec<Insides> {
    let surface = surface_of(broken);
    let mut all: Vec<Insides> = Vec::with_capacity(broken.steps.len());
    for step in &broken.steps {
        let volume = step.result.params.interior.volume(surface);
        // A piece breaks after the break that it comes of.
        let before = step.parent.and_then(|at| all.get(at.step));
        all.push(before.map_or_else(|| Insides::of([volume]), |before| before.with(volume)));
    }
    all
}

/// Widest possible layer of dust of a break: the transition voxel's edge, m.
#[must_use]
pub fn widest_gap(crack: &CrackShape, surface: Surface, grid: &Grid) -> f64 {
    match crack.transition(grid.level, surface) {
        Ok(level) if surface == Surface::Dusty => grid.h * f64::from(1 << (grid.level - level)) * 3f64.sqrt(),
        _ => 0.0,
    }
}

/// The small pieces that a break took away.
pub(crate) fn dropped_by(detail: &VoronoiDetail) -> Vec<(Arc<Forest>, u32)> {
    let trees = |dropped: &Dropped| -> Vec<_> {
        dropped.pieces.iter().map(|piece| (Arc::clone(&dropped.forest), piece.tree)).collect()
    };
    detail.fracture.dropped.as_ref().map(trees).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_goes_where_it_lies_and_back_into_its_own_units() {
        let (centre, position) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(-4.0, 5.0, 6.0));
        let turn = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let lying = Placing::of_body(centre, position, turn);
        assert!(lying.point(centre).distance(position) < 1e-12);
        let beside = lying.point(centre + DVec3::X);
        assert!(beside.distance(position + DVec3::Y) < 1e-12, "{beside}");
        assert!((lying.direction(glam::Vec3::X) - glam::Vec3::Y).length() < 1e-6);
        assert_eq!(Placing::in_units(0.5).point(DVec3::X), DVec3::X * 2.0);
        let exact = DVec3::new(-0.0, 1.0 / 3.0, 1e300);
        assert_eq!(
            Placing::UNMOVED.point(exact).to_array().map(f64::to_bits),
            exact.to_array().map(f64::to_bits)
        );
    }
}
