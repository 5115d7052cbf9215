//! Places the bodies of a scene, and describes their objects for the panels.
//!
//! In: an imported mesh and its entry in the scene. Out: a [`BodyDef`] for the stage, an [`ObjectInfo`] for the
//! document; and the entry by which a body that was moved starts where it is.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3};

use super::{Imported, Scene, SceneBody, display_name, document::ObjectInfo};
use crate::{
    bodies::{BodyDef, BodyState, Family},
    shape::GridMass,
    svo::Grid,
};

/// Metres per mesh unit of a body.
pub(super) fn scale_of(one: &Imported, body: &SceneBody, meters_per_unit: f64) -> f64 {
    match body.size {
        Some(size) => size / longest_side(one),
        None => body.metres_of_unit(meters_per_unit),
    }
}

/// Longest side of its mesh, mesh units.
fn longest_side(one: &Imported) -> f64 {
    // The grid has a margin of one voxel all round, so the longest side is two voxels shorter than the grid.
    let by_grid = one.grid.h * f64::from(one.grid.side().saturating_sub(2).max(1));
    // The own voxels of a voxel model need not fill the grid.
    let by_bounds = one.bounds.size().max_element();
    if by_bounds > 0.0 && by_grid - by_bounds > 0.5 * one.grid.h { by_bounds } else { by_grid }
}

/// Describes an imported object for the panels.
pub(super) fn object_info(one: &Imported, body: &SceneBody, meters_per_unit: f64) -> ObjectInfo {
    ObjectInfo {
        scene: body.clone(),
        name: display_name(&one.file),
        triangles: one.triangles,
        leaves: one.forest.leaves.len(),
        nodes: one.forest.nodes.len(),
        voxel_m: one.grid.h * scale_of(one, body, meters_per_unit),
        seconds: one.seconds,
        health: one.health.clone(),
        warnings: one.warnings.clone(),
        surface_color: one.surface_color,
        mesh: Arc::clone(&one.mesh),
        known: Arc::clone(&one.known),
    }
}

/// Where a body is at its start: its mass properties in its octree, its place in the scene, and the floor's height (m).
pub(super) fn start_of((mass, grid): (&GridMass, &Grid), body: &SceneBody, floor_height: f64) -> BodyState {
    let rotation = if body.rotation.length() > 1e-9 { body.rotation.normalize() } else { DQuat::IDENTITY };
    let pose = DMat4::from_rotation_translation(rotation, body.position) * grid.to_mesh();
    let mut position = pose.transform_point3(mass.centre);
    if body.on_floor {
        let corners = mass.bounds.corners().into_iter();
        let lowest = corners.map(|corner| pose.transform_point3(corner).y).fold(f64::INFINITY, f64::min);
        position.y += floor_height - lowest;
        // Standing objects also come to the middle, as their own origin may be anywhere.
        let middle = pose.transform_point3(mass.bounds.middle());
        position.x += body.position.x - middle.x;
        position.z += body.position.z - middle.z;
    }
    BodyState {
        position,
        rotation,
        linear_velocity: body.linear_velocity,
        angular_velocity: body.angular_velocity,
    }
}

/// How far from the floor a body may be to count as standing on it, as a share of its octree's side.
const ON_FLOOR: f64 = 1e-6;

/// The entry in the scene by which a body starts where it is now.
pub(super) fn entry_of(
    (mass, grid): (&GridMass, &Grid),
    body: &SceneBody,
    now: &BodyState,
    floor: f64,
) -> SceneBody {
    let rotation = now.rotation;
    let position = now.position - rotation * grid.to_mesh().transform_point3(mass.centre);
    let pose = DMat4::from_rotation_translation(rotation, position) * grid.to_mesh();
    let corners = mass.bounds.corners().into_iter();
    let lowest = corners.map(|corner| pose.transform_point3(corner).y).fold(f64::INFINITY, f64::min);
    let side = grid.h * f64::from(grid.side());
    if (lowest - floor).abs() > ON_FLOOR * side {
        return SceneBody { position, rotation, on_floor: false, ..body.clone() };
    }
    let middle = pose.transform_point3(mass.bounds.middle());
    SceneBody { position: DVec3::new(middle.x, 0.0, middle.z), rotation, on_floor: true, ..body.clone() }
}

/// A scene's body at its start.
pub(super) fn placed(one: &Imported, body: &SceneBody, scene: &Scene) -> BodyDef {
    let scale = scale_of(one, body, scene.meters_per_unit);
    let grid = one.grid_in_metres(scale);
    BodyDef {
        shape: Arc::new(one.shape_at(grid, body.density)),
        meters_per_unit: scale,
        object_size_m: body.size.unwrap_or_else(|| scale * longest_side(one)),
        family: Family::unique(),
        friction: body.friction,
        restitution: body.restitution,
        rolling_resistance: body.rolling_resistance,
        fixed: body.fixed,
        physics_level: body.collision_level(),
        structure: None,
        state: start_of((&one.mass, &grid), body, scene.floor_height),
    }
}
