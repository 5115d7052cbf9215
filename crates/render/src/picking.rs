//! Picking on the CPU, so that a click never waits for the GPU.
//!
//! In: a camera, a picture coordinate, the bodies' octrees. Out: the leaf, and the visible point of its surface plane.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};

use super::{Camera, tables::transformed_box};
use crate::svo::{Forest, NO_LEAF, ray_cast};

/// A body that can be picked.
#[derive(Clone, Debug)]
pub struct PickBody {
    /// The octrees, stored together.
    pub forest: Arc<Forest>,
    /// Index of the body's octree.
    pub tree: u32,
    /// Affine with uniform scale: grid coordinates (voxels) to world metres.
    pub world_from_grid: DMat4,
    /// Id returned in a hit.
    pub id: u32,
    /// Bounds of its voxels in grid coordinates (low, high).
    pub bounds: (Vec3, Vec3),
}

/// Result of picking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PickHit {
    /// The body's id.
    pub id: u32,
    /// Leaf of the body's forest; [`NO_LEAF`] if the camera or a crack gap lets the ray into the solid.
    pub leaf: u32,
    /// The leaf's voxel.
    pub cell: [u32; 3],
    /// Hit point, grid coordinates.
    pub point_in_grid: DVec3,
    /// Hit point, m.
    pub point_in_world: Vec3,
    /// Surface normal, unit.
    pub normal_in_world: Vec3,
    /// Distance from the camera, m.
    pub distance: f32,
}

/// The nearest body under a normalised picture coordinate (0,0 top left to 1,1 bottom right).
#[must_use]
pub fn pick(camera: &Camera, x: f32, y: f32, aspect: f32, bodies: &[PickBody]) -> Option<PickHit> {
    let (origin, direction) = camera.ray(x, y, aspect);
    pick_ray(origin, direction, bodies)
}

/// The nearest body on a world-space ray; `direction` is a unit vector.
#[must_use]
pub fn pick_ray(origin: Vec3, direction: Vec3, bodies: &[PickBody]) -> Option<PickHit> {
    let mut boxed: Vec<(f32, &PickBody)> =
        bodies.iter().filter_map(|body| Some((box_entry(origin, direction, body)?, body))).collect();
    boxed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best: Option<PickHit> = None;
    for (entry, body) in boxed {
        let reach = best.map_or(f32::INFINITY, |hit| hit.distance);
        if entry > reach {
            break;
        }
        if let Some(hit) = pick_body(origin, direction, body)
            && hit.distance < reach
        {
            best = Some(hit);
        }
    }
    best
}

fn box_entry(origin: Vec3, direction: Vec3, body: &PickBody) -> Option<f32> {
    let (low, high) = transformed_box(body.world_from_grid.as_mat4(), body.bounds.0, body.bounds.1);
    let (a, b) = ((low - origin) / direction, (high - origin) / direction);
    // `min` and `max` drop the NaN of a ray that lies in a face.
    let (near, far) = (a.min(b), a.max(b));
    let (enter, leave) = (near.max_element().max(0.0), far.min_element());
    (enter <= leave).then_some(enter)
}

/// A ray that misses a leaf's planes within its voxel continues, as in the picture.
fn pick_body(origin: Vec3, direction: Vec3, body: &PickBody) -> Option<PickHit> {
    let grid_from_world = body.world_from_grid.inverse();
    let start = grid_from_world.transform_point3(origin.as_dvec3());
    let along = grid_from_world.transform_vector3(direction.as_dvec3());
    let forest = &body.forest;
    let mut t = 0.0;
    for _ in 0..4 << forest.level.min(12) {
        let hit = ray_cast(forest, body.tree as usize, start + along * t, along, 1e9)?;
        let entry = t + hit.t;
        let (leave, met) = if hit.leaf == NO_LEAF {
            (entry, Some((entry, -along.normalize_or(DVec3::Z))))
        } else {
            let low = DVec3::from(hit.cell.map(f64::from));
            let far = (low - start) / along;
            let leave = far.max((low + 1.0 - start) / along).min_element();
            (leave, forest.meet_leaf(hit.leaf, hit.cell, (start, along), (entry, leave)))
        };
        if let Some((t, normal)) = met {
            let point_in_grid = start + along * t;
            let normal_in_world = body.world_from_grid.transform_vector3(normal);
            return Some(PickHit {
                id: body.id,
                leaf: hit.leaf,
                cell: hit.cell,
                point_in_grid,
                point_in_world: body.world_from_grid.transform_point3(point_in_grid).as_vec3(),
                normal_in_world: normal_in_world.normalize_or(DVec3::Y).as_vec3(),
                distance: t as f32,
            });
        }
        // Into the next voxel, far enough that rounding cannot leave the ray in this one.
        t = leave.max(entry) + 1e-9 / along.length();
    }
    None
}
