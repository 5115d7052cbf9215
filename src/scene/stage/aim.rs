//! Picking: the body that a ray hits, and the blow aimed there.

use crate::geometry::Aabb;
use glam::{DVec3, Vec3};

use super::Stage;
use crate::{
    bodies::{Body, BodyId, BodyState},
    fracture::Impact,
    scene::breaking::{local_from_world, world_from_local},
    shape::Shape,
};

/// Result of picking with a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScenePick {
    /// The body.
    pub body: BodyId,
    /// World position, m.
    pub point: DVec3,
    /// Distance along the ray, m.
    pub distance: f64,
    /// The hit voxel, leaf units of the body's grid, if the body has voxels.
    pub cell: Option<[u32; 3]>,
}

/// A blow that has not fallen, in its body's local space, so that it moves with the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The body.
    pub body: BodyId,
    /// Point, local space of its shape (voxels for an octree).
    pub point_in_grid: DVec3,
    /// Direction, unit, in the body's axes.
    pub direction_in_grid: DVec3,
}

impl Aim {
    /// The blow at a world point (m) of a body.
    pub(in crate::scene) fn at(body: &Body, point: DVec3, direction: DVec3) -> Self {
        let point_in_grid = local_from_world(&body.state, &body.def.shape, point);
        Self { body: body.id, point_in_grid, direction_in_grid: body.state.rotation.inverse() * direction }
    }

    /// The blow in the local space of the body's shape.
    pub(in crate::scene) fn impact(&self) -> Impact {
        Impact { point: self.point_in_grid, direction: self.direction_in_grid }
    }

    /// World position, m, and direction of the blow on a body of that shape in that state.
    pub(in crate::scene) fn in_world(&self, shape: &Shape, state: &BodyState) -> (DVec3, DVec3) {
        let point = world_from_local(state, shape, self.point_in_grid);
        (point, state.rotation * self.direction_in_grid)
    }
}

impl Stage {
    /// The nearest body on a ray, where it is drawn (moved by `explode`); rays pass through hidden bodies.
    pub fn pick(&self, origin: Vec3, direction: Vec3, explode: f64) -> Option<ScenePick> {
        let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
        let offsets = self.explode_offsets(explode);
        let mut best: Option<ScenePick> = None;
        for (body, offset) in self.world.bodies.iter().zip(&offsets) {
            if self.status(body.id).hidden {
                continue;
            }
            let shape = &body.def.shape;
            let from = local_from_world(&body.state, shape, origin - *offset);
            let along = body.state.rotation.inverse() * direction / shape.unit_m();
            if let Some(hit) = shape.pick(from, along)
                && best.is_none_or(|b| hit.t < b.distance)
            {
                best = Some(ScenePick {
                    body: body.id,
                    point: origin + direction * hit.t - *offset,
                    distance: hit.t,
                    cell: hit.cell,
                });
            }
        }
        best
    }

    /// The body whose solid is nearest to a world point; if several contain it, the one with the nearest centre.
    pub fn nearest_body(&self, point: DVec3) -> Option<BodyId> {
        let local = |body: &Body| local_from_world(&body.state, &body.def.shape, point);
        // A lower bound of the distance, which rules most bodies out.
        let at_least = |body: &Body| {
            let (p, Aabb { low, high }) = (local(body), body.def.shape.bounds());
            p.clamp(low, high).distance(p) * body.def.shape.unit_m()
        };
        let mut order: Vec<(f64, &Body)> = self.world.bodies.iter().map(|b| (at_least(b), b)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<(f64, f64, BodyId)> = None;
        for (least, body) in order {
            if best.is_some_and(|(distance, ..)| least > distance) {
                break;
            }
            let shape = &body.def.shape;
            let distance = shape.distance(local(body)) * shape.unit_m();
            let centre = body.state.position.distance(point);
            if best.is_none_or(|(d, c, _)| (distance, centre) < (d, c)) {
                best = Some((distance, centre, body.id));
            }
        }
        best.map(|(.., id)| id)
    }

    /// The blow along a ray at a picked point.
    pub fn aim_at(&self, pick: &ScenePick, direction: Vec3) -> Option<Aim> {
        Some(Aim::at(self.body(pick.body)?, pick.point, direction.as_dvec3()))
    }

    /// World position, m, and direction of an aimed blow; `None` if its body is gone.
    pub fn aimed(&self, aim: &Aim) -> Option<(DVec3, DVec3)> {
        let body = self.body(aim.body)?;
        Some(aim.in_world(&body.def.shape, &body.state))
    }

    /// World position at which an aimed blow is drawn, m; `None` if its body is gone.
    pub fn shown_point(&self, aim: &Aim, explode: f64) -> Option<Vec3> {
        let at = self.index(aim.body)?;
        let (point, _) = self.aimed(aim)?;
        Some((point + self.explode_offsets(explode)[at]).as_vec3())
    }

    /// Whether a body stands still, so that a preview of it is useful.
    pub fn is_at_rest(&self, id: BodyId) -> bool {
        self.body(id).is_some_and(|b| b.asleep || b.is_static())
    }

    /// Longest side of a body's bounds, m.
    pub fn longest_side(&self, id: BodyId) -> Option<f64> {
        Some(self.body(id)?.def.shape.longest_side_m())
    }
}
