//! The common part of methods that cut meshes: the surface of the broken object, and the parts made of its pieces.
//!
//! In: a shape; later the closed surfaces that a method cut out of its surface. Out: the surface to cut; later the
//! parts of a [`Break`](super::Break): cells with one object id form one part, small pieces are dropped or merged, and
//! each part gets voxels for contacts.

mod bodies;
mod join;
mod outline;
#[cfg(test)]
mod tests;

use std::{any::Any, sync::Arc};

use glam::{DVec3, Vec3};

pub use self::bodies::closed_bodies;
use self::join::{Adjacency, Grouping, Groups, Joined, joined};
pub use self::outline::outlines;
use super::{FractureError, FractureParams, Lost, Part, Pattern, SmallRule, UNIT_BITS, Volume};
use crate::{
    geometry::{Aabb, srgb},
    gpu::StageTiming,
    memory,
    mesh::Material,
    shape::{Corner, Geometry, MassProperties, Octree, PieceMesh, Shape, SolidMesh, world_uv},
    svo::Grid,
    voxelize::voxels_of,
};

/// The number that a volume has as the size of a part: millionths of the source's.
pub const SIZE_OF_WHOLE: f64 = 1e6;

/// The mesh that a method cuts, shape space.
#[derive(Clone)]
pub struct SourceMesh {
    /// Closed, outward.
    pub surface: Arc<PieceMesh>,
    /// Materials of its outside.
    pub materials: Arc<[Material]>,
    /// Whether it is the whole object, not a piece of it.
    pub is_whole: bool,
    /// Volume, m^3.
    pub volume: f64,
}

/// Memory that a triangle of the surface takes while it is cut, bytes: the method box-cut took 580 and 530 for balls of 80,000
/// and 320,000 triangles, more than the method octree did.
const TRIANGLE_BYTES: u64 = 600;

/// Refuses a surface that does not fit into the free memory while it is cut.
fn check_memory(triangles: usize) -> Result<(), FractureError> {
    memory::check((triangles as u64).saturating_mul(TRIANGLE_BYTES)).map_err(|short| {
        FractureError::Params(format!(
            "to cut the mesh {short}; decimate the mesh, take the method octree, or close other programs"
        ))
    })
}

impl SourceMesh {
    /// The surface of `shape`: a mesh's own, or the mesh that an octree was imported as.
    ///
    /// # Errors
    /// [`FractureError::Params`] if there is no closed one, or one too large for the free memory, with what to do.
    pub fn of(shape: &Shape) -> Result<Self, FractureError> {
        let refuse = |text: &str| Err(FractureError::Params(text.to_owned()));
        let (surface, materials, is_whole) = match (shape.geometry(), shape.original()) {
            (Geometry::Mesh(solid), _) => (Arc::clone(solid.surface()), Arc::clone(solid.materials()), false),
            (Geometry::Convex(convex), _) => {
                let (positions, triangles) = convex.indexed_triangles();
                let color = shape.look().surface_color.unwrap_or(crate::shape::CLAY);
                (Arc::new(PieceMesh::flat(positions, triangles, |_| color)), Arc::default(), false)
            }
            (Geometry::Octree(_), Some(original)) => match original.surface() {
                Ok(surface) => (surface, original.mesh.materials.as_slice().into(), true),
                Err(error) => {
                    return refuse(&format!(
                        "{error}, so it has no inside to cut; take the method octree, which closes holes"
                    ));
                }
            },
            (Geometry::Octree(_), None) => {
                return refuse(
                    "this body is a piece of voxels, which has no mesh of its own; take the method octree for it, or \
                     break the whole object by this method",
                );
            }
        };
        check_memory(surface.triangles.len())?;
        let volume = MassProperties::of_triangles(surface.corners_of_triangles(), 1.0).volume_m3;
        if volume <= 0.0 {
            return refuse(
                "the mesh bounds no volume: it is flat or turned inside out; take the method octree",
            );
        }
        Ok(Self { surface, materials, is_whole, volume })
    }

    /// Bounds, m.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        Aabb::of(self.surface.positions.iter().copied())
    }
}

/// Units of a pattern (2^14 a grid side) to shape space and back.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    origin: DVec3,
    /// Metres of a unit.
    size: f64,
}

impl Units {
    /// Those of a grid in shape space.
    #[must_use]
    pub fn of(grid: &Grid) -> Self {
        Self { origin: grid.origin, size: grid.h / f64::from(1u32 << (UNIT_BITS - grid.level)) }
    }

    /// Point of shape space in units.
    #[must_use]
    pub fn from_shape(&self, p: DVec3) -> DVec3 {
        (p - self.origin) / self.size
    }

    /// Point in units, shape space.
    #[must_use]
    pub fn to_shape(&self, p: DVec3) -> DVec3 {
        self.origin + p * self.size
    }
}

/// What was cut out of a mesh.
pub struct CutMesh {
    /// What was cut.
    pub source: SourceMesh,
    /// The pieces.
    pub pieces: Vec<CutPiece>,
    /// Octree level of the voxels that stand in for a whole object of this size.
    pub voxel_level: u32,
    /// Time per stage.
    pub timings: Vec<StageTiming>,
    /// What the method knows beyond that; see [`Break::detail_as`](super::Break::detail_as).
    pub detail: Option<Arc<dyn Any + Send + Sync>>,
}

/// One connected piece that was cut out.
#[derive(Clone, Debug)]
pub struct CutPiece {
    /// The cell that it lies in: a seed of the pattern.
    pub cell: u32,
    /// Closed, outward, shape space. If it touches another piece, both have the same triangles, of opposite
    /// orientation.
    pub surface: PieceMesh,
}

/// Parts of one cut as one closed surface again, without the cracks between them, with voxels for contacts if the first
/// of them has some; `None` if they are not connected.
///
/// # Errors
/// [`FractureError::Params`] if it has more voxels than fit.
pub fn rejoined(parts: &[&SolidMesh]) -> Result<Option<SolidMesh>, FractureError> {
    let Some(first) = parts.first() else { return Ok(None) };
    let piece = |(cell, part): (u32, &&SolidMesh)| CutPiece { cell, surface: (**part.surface()).clone() };
    let pieces: Vec<CutPiece> = (0..).zip(parts).map(piece).collect();
    let touching = Adjacency::of(&pieces);
    let Some(groups) = Groups::one(pieces.len(), &touching) else { return Ok(None) };
    let Some(group) = joined(&pieces, &touching, groups, &[]).kept.pop() else { return Ok(None) };
    let surface = Arc::new(group.surface);
    let solid = SolidMesh::new(Arc::clone(&surface), Arc::clone(first.materials()));
    Ok(Some(match first.voxels() {
        Some(voxels) => solid.with_voxels(proxy_voxels(&surface, voxels.grid)?),
        None => solid,
    }))
}

/// The cracks between closed surfaces of one cut, by ascending pair of surfaces: the corners of the triangles that both have,
/// counter-clockwise seen from outside the first one.
pub(super) fn shared_cracks(surfaces: &[&PieceMesh]) -> Vec<([u32; 2], Vec<[DVec3; 3]>)> {
    let crack = |pair: join::Pair| -> ([u32; 2], Vec<[DVec3; 3]>) {
        let surface = surfaces[pair.pieces[0] as usize];
        let corners = |[own, _]: &[u32; 2]| {
            surface.triangles[*own as usize].map(|corner| surface.positions[corner as usize])
        };
        (pair.pieces, pair.triangles.iter().map(corners).collect())
    };
    Adjacency::of_surfaces(surfaces).pairs.into_iter().map(crack).collect()
}

/// How pieces become parts.
pub struct Assembling<'a> {
    /// The cut mesh.
    pub source: &'a SourceMesh,
    /// Its shape.
    pub shape: &'a Shape,
    /// Cells with one object stay together.
    pub pattern: &'a Pattern,
    /// The parameters.
    pub params: &'a FractureParams,
    /// The grid that small pieces' voxels are counted on, shape space.
    pub grid: &'a Grid,
    /// Grid of the parts' voxels; `None`: they get none.
    pub stand_in: Option<Grid>,
}

/// The parts made of the pieces.
pub struct Assembled {
    /// By descending size.
    pub parts: Vec<Part>,
    /// Cells' objects of each part, ascending: several where small pieces joined it.
    pub objects: Vec<Vec<u32>>,
    /// Volume and pieces that were dropped.
    pub lost: Lost,
    /// Cells that own some of the solid.
    pub cells: usize,
    /// Small pieces that joined another.
    pub merged: usize,
}

impl Assembling<'_> {
    /// The parts of `pieces`.
    ///
    /// # Errors
    /// [`FractureError::Params`] where a part has more voxels than fit.
    pub fn parts(&self, pieces: Vec<CutPiece>) -> Result<Assembled, FractureError> {
        let cells: std::collections::BTreeSet<u32> = pieces.iter().map(|piece| piece.cell).collect();
        let touching = Adjacency::of(&pieces);
        let rule = self.params.smallest.unwrap_or_default();
        let voxel = self.grid.h.powi(3);
        let least = (rule.voxels as f64 * voxel).max(rule.fraction * self.source.volume);
        let grouping =
            Grouping { pieces: &pieces, touching: &touching, objects: &self.pattern.objects, least };
        let groups = grouping.groups(self.params.smallest.is_some(), rule.rule == SmallRule::Merge);
        let merged = groups.merged;
        let Joined { kept, dropped } = joined(&pieces, &touching, groups, &self.pattern.objects);
        let parts = |all: Vec<join::Group>| -> Result<Vec<(Part, Vec<u32>)>, FractureError> {
            use rayon::prelude::*;
            all.into_par_iter().map(|group| self.part(group)).collect()
        };
        let mut kept = parts(kept)?;
        let dropped = parts(dropped)?.into_iter().map(|(part, _)| part).collect();
        kept.sort_by_key(|(part, _)| std::cmp::Reverse(part.size));
        let (parts, objects) = kept.into_iter().unzip();
        Ok(Assembled { parts, objects, lost: Lost { dust_m3: 0.0, dropped }, cells: cells.len(), merged })
    }

    fn part(&self, group: join::Group) -> Result<(Part, Vec<u32>), FractureError> {
        let surface = Arc::new(group.surface);
        let solid = SolidMesh::new(Arc::clone(&surface), Arc::clone(&self.source.materials));
        let solid = match &self.stand_in {
            Some(grid) => solid.with_voxels(proxy_voxels(&surface, *grid)?),
            None => solid,
        };
        let shape = Shape::solid(solid, self.shape.density(), *self.shape.look());
        let share = shape.mass().volume_m3 / self.source.volume;
        let size = (share * SIZE_OF_WHOLE).round().max(1.0) as u64;
        Ok((Part { shape: Arc::new(shape), cell: group.cell, size }, group.objects))
    }
}

/// The grid of the voxels of all parts of `shape`, with leaves at `level`: of a part its own, so that what comes of it
/// is as fine as itself; of a whole object the one that an import at that level would have had. Shape space; `bounds`
/// are those of the surface.
#[must_use]
pub fn proxy_grid(shape: &Shape, bounds: Aabb, level: u32) -> Grid {
    match shape.as_mesh().and_then(|solid| solid.voxels()) {
        Some(voxels) => voxels.grid,
        None => Grid::around(bounds.low, bounds.high, level),
    }
}

/// The voxels of a part's surface.
fn proxy_voxels(surface: &PieceMesh, grid: Grid) -> Result<Octree, FractureError> {
    let forest = voxels_of(surface, grid).map_err(|error| FractureError::Params(error.to_string()))?;
    Ok(Octree::new(&Arc::new(forest), 0, grid))
}

/// A corner of a crack: `units` is its position in units of the pattern, `place` in shape space.
#[must_use]
pub fn crack_corner(volume: &Volume, units: DVec3, place: DVec3, normal: Vec3) -> Corner {
    let color = volume.color_at(units.round().as_ivec3().to_array());
    Corner { normal, color, uv: world_uv(place, normal), uv2: [0.0; 2] }
}

/// Attributes of a point of a triangle, by its shares of the three corners.
#[must_use]
pub fn mixed(corners: &[Corner; 3], shares: [f32; 3]) -> Corner {
    if let Some(k) = shares.iter().position(|share| *share == 1.0) {
        return corners[k];
    }
    let sum = |of: &dyn Fn(&Corner) -> f32| corners.iter().zip(shares).map(|(c, w)| of(c) * w).sum::<f32>();
    let normal = Vec3::new(sum(&|c| c.normal.x), sum(&|c| c.normal.y), sum(&|c| c.normal.z));
    Corner {
        normal: normal.normalize_or(corners[0].normal),
        color: srgb::mixed(corners.map(|c| c.color), shares.map(f64::from)),
        uv: [0, 1].map(|k| sum(&|c| c.uv[k])),
        uv2: [0, 1].map(|k| sum(&|c| c.uv2[k])),
    }
}
