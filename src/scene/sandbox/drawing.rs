//! What the sandbox shows: bodies as drawn (apart by the explode slider), their bounds, and which one a ray meets.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DVec3, Vec3};

use super::{ObjectInfo, Sandbox, ScenePick};
use crate::{
    bodies::BodyId,
    fracture::{Interior, Volume},
    render::RenderBody,
    scene::{
        Aim,
        breaking::{local_from_world, world_from_local_matrix},
    },
};

impl Sandbox {
    /// The nearest body on a ray as drawn (pieces apart by the explode slider).
    #[must_use]
    pub fn pick(&self, origin: Vec3, direction: Vec3) -> Option<ScenePick> {
        let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
        let offsets = self.explode_offsets();
        let mut best: Option<ScenePick> = None;
        for (body, offset) in self.world.bodies.iter().zip(&offsets) {
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

    /// How far each body is drawn from where it is, m.
    fn explode_offsets(&self) -> Vec<DVec3> {
        let bodies = &self.world.bodies;
        let amount = self.tuning.view.explode;
        if amount == 0.0 || bodies.len() < 2 {
            return vec![DVec3::ZERO; bodies.len()];
        }
        let mut sums: BTreeMap<usize, (DVec3, f64, f64)> = BTreeMap::new();
        let object = |id: &BodyId| self.info.get(id).map_or(0, |info| info.object);
        for body in bodies {
            let m = body.def.shape.mass().volume_m3;
            let sum = sums.entry(object(&body.id)).or_insert((DVec3::ZERO, 0.0, f64::INFINITY));
            *sum = (sum.0 + body.state.position * m, sum.1 + m, sum.2.min(body.state.position.y));
        }
        bodies
            .iter()
            .map(|body| match sums.get(&object(&body.id)) {
                Some((sum, m, lowest)) if *m > 0.0 => {
                    let centre = *sum / *m;
                    // Apart from the foot upwards, so that nothing is drawn below the floor.
                    (body.state.position - DVec3::new(centre.x, *lowest, centre.z)) * amount
                }
                _ => DVec3::ZERO,
            })
            .collect()
    }

    /// What an object is made of inside: as its scene says, until the panels say otherwise for all. An object has one inside, so
    /// changing it also changes the cracks that are already there.
    pub(super) fn interior_of(&self, object: usize) -> Interior {
        let tuned = self.tuning.fracture.interior;
        let own = |object: usize| self.objects.get(object).map(|o| o.scene.fracture.interior);
        if own(0) == Some(tuned) { own(object).unwrap_or(tuned) } else { tuned }
    }

    /// Bodies as the renderer wants them; `selected` is drawn highlighted.
    #[must_use]
    pub fn render_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        let offsets = self.explode_offsets();
        let inside = |(i, object): (usize, &ObjectInfo)| self.interior_of(i).volume(object.surface_color);
        let mut insides: Vec<Volume> = self.objects.iter().enumerate().map(inside).collect();
        if insides.is_empty() {
            insides.push(Volume::default());
        }
        let last = insides.len() - 1;
        self.world
            .bodies
            .iter()
            .zip(offsets)
            .map(|(body, offset)| {
                let matrix = world_from_local_matrix(&body.state, &body.def.shape);
                RenderBody {
                    shape: Arc::clone(&body.def.shape),
                    world_from_local: glam::Mat4::from_translation(offset.as_vec3()) * matrix,
                    id: self.info.get(&body.id).map_or(body.id.0, |info| info.color_id),
                    selected: selected == Some(body.id),
                    mark: None,
                    interior: insides[self.info.get(&body.id).map_or(0, |info| info.object).min(last)],
                }
            })
            .collect()
    }

    /// Where an aimed blow is drawn, m; `None` when its body is gone.
    #[must_use]
    pub fn shown_point(&self, aim: &Aim) -> Option<Vec3> {
        let at = self.world.bodies.iter().position(|b| b.id == aim.body)?;
        let (point, _) = self.aimed(aim)?;
        Some((point + self.explode_offsets()[at]).as_vec3())
    }

    /// Points all over the surfaces of the bodies as they are drawn, or of one of them, world.
    #[must_use]
    pub fn surface_points(&self, only: Option<BodyId>) -> Vec<Vec3> {
        let bodies = &self.world.bodies;
        let most = if only.is_some() { 8000 } else { (20_000 / bodies.len().max(1)).max(64) };
        bodies
            .iter()
            .zip(self.render_bodies(None))
            .filter(|(body, _)| only.is_none_or(|id| id == body.id))
            .flat_map(|(body, drawn)| {
                let points = body.def.shape.surface_points(most).into_iter();
                points.map(move |p| drawn.world_from_local.transform_point3(p))
            })
            .collect()
    }

    /// Longest side of a body's bounds, m.
    #[must_use]
    pub fn longest_side(&self, id: BodyId) -> Option<f64> {
        let body = self.world.bodies.iter().find(|b| b.id == id)?;
        Some(body.def.shape.longest_side_m())
    }

    /// World bounds of what is drawn, or of one body.
    #[must_use]
    pub fn bounds(&self, only: Option<BodyId>) -> Option<(Vec3, Vec3)> {
        let mut all: Option<(Vec3, Vec3)> = None;
        for (body, drawn) in self.world.bodies.iter().zip(self.render_bodies(None)) {
            if only.is_some_and(|id| id != body.id) {
                continue;
            }
            let (low, high) = drawn.bounds();
            for c in 0..8u32 {
                let corner = Vec3::new(
                    if c & 1 == 0 { low.x } else { high.x },
                    if c & 2 == 0 { low.y } else { high.y },
                    if c & 4 == 0 { low.z } else { high.z },
                );
                let p = drawn.world_from_local.transform_point3(corner);
                all = Some(all.map_or((p, p), |(a, b)| (a.min(p), b.max(p))));
            }
        }
        all
    }
}
