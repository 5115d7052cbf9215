//! Merges pieces of one break into one body.
//!
//! In: bodies of one break that have not moved against each other. Out: one body with their mass, momentum and angular
//! momentum, and the id of the one with the largest part. A worker makes its shape; simulated time stands still until
//! it is ready. Scene files and exports describe the body as if the break had not separated its parts.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::{Sandbox, SandboxError, pieces::counted};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState},
    fracture::Rejoin,
    scene::{
        Origin,
        breaking::world_from_local,
        jobs::{Ingredients, Union},
        stage::BodyInfo,
    },
    shape::Shape,
    svo::Arena,
};

/// How far pieces may have moved against each other, voxels: less is invisible, and touching bodies settle by that
/// much.
const STILL: f64 = 0.5;

fn refused(why: &str) -> SandboxError {
    SandboxError::CannotMerge(why.to_owned())
}

impl Sandbox {
    /// What merging these bodies needs; changes nothing.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`] with the reason, as far as that can be told at once.
    pub(super) fn union_of(&self, ids: &[BodyId]) -> Result<Union, SandboxError> {
        let mut bodies: Vec<(&Body, BodyInfo)> = ids
            .iter()
            .filter_map(|id| Some((self.stage.body(*id)?, self.stage.info_or_whole(*id))))
            .collect();
        if bodies.len() < 2 {
            return Err(refused("select two pieces or more that are to be one"));
        }
        // The body with the largest part is first: the merged body takes its id and place.
        bodies.sort_by_key(|(_, info)| info.origin);
        let Some(origin) = bodies[0].1.origin else {
            return Err(refused("a whole object cannot be merged; select pieces that one blow broke off"));
        };
        if bodies.iter().any(|(_, info)| info.origin.is_none_or(|other| other.record != origin.record)) {
            return Err(refused("they came from different breaks; select pieces that one blow broke off"));
        }
        if self.breaks.get(origin.record).is_some_and(|record| record.holds) {
            return Err(refused("bonds held them together; undo goes back to before they failed"));
        }
        let first = bodies[0].0;
        if bodies.iter().any(|(body, _)| has_moved(first, body)) {
            return Err(refused(
                "they have moved against each other since they broke; go back on the timeline to where they fit",
            ));
        }
        let mut parts: Vec<usize> = bodies.iter().flat_map(|(_, info)| self.breaks.parts_of(info)).collect();
        parts.sort_unstable();
        let shapes = || bodies.iter().map(|(body, _)| Arc::clone(&body.def.shape));
        let ingredients = if shapes().all(|shape| shape.as_mesh().is_some()) {
            Ingredients::Meshes(shapes().collect())
        } else {
            self.trees_of(origin.record)?
        };
        let (ids, like) = (bodies.iter().map(|(body, _)| body.id).collect(), Arc::clone(&first.def.shape));
        Ok(Union { ids, parts, like, ingredients, opening: false })
    }

    /// All parts of a break, and the broken body.
    pub(super) fn trees_of(&self, record: usize) -> Result<Ingredients, SandboxError> {
        let gone =
            || refused("what they broke off is no longer in memory; undo the break and break it again");
        let record = self.breaks.get(record).ok_or_else(gone)?;
        let (source, forest) =
            (record.forest().ok_or_else(gone)?, record.forest_of_parts().ok_or_else(gone)?);
        let (Some(pattern), Some(grid)) = (&record.pattern, record.grid) else { return Err(gone()) };
        let rejoin = self.jobs.splitting.rejoin_of(&forest).unwrap_or_else(|| {
            let parts = record.trees.iter().copied().zip(record.cells.iter().copied());
            Arc::new(Rejoin::new((source, record.tree), pattern.clone(), forest, parts))
        });
        Ok(Ingredients::Trees { rejoin, grid })
    }

    /// Replaces the merged bodies once a worker has made the shape; returns false if there was nothing to do.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`] with the reason, [`SandboxError::Gpu`]; nothing has changed then.
    pub(super) fn take_in_merged(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let Some((union, shape)) = self.jobs.merging.poll()? else { return Ok(false) };
        let shape = shape?;
        let bodies: Vec<&Body> = union.ids.iter().filter_map(|id| self.stage.body(*id)).collect();
        let Some(first) = bodies.first().filter(|_| bodies.len() == union.ids.len()) else {
            return Ok(false);
        };
        let mut def = BodyDef {
            state: moving_as(&bodies, &shape),
            shape: Arc::new(shape),
            fixed: bodies.iter().any(|body| body.def.fixed),
            structure: None,
            ..first.def.clone()
        };
        // The density may have changed meanwhile.
        if def.shape.density() != first.def.shape.density() {
            def.set_density(first.def.shape.density());
        }
        let info = self.stage.info_or_whole(first.id);
        self.stage.hold_surfaces([&def.shape], || self.history.shrink() || self.timeline.shrink());
        if let Some(octree) = def.shape.as_octree() {
            let forest = Arc::clone(&octree.forest);
            if let Err(error) = self.take_in(arena, &forest) {
                // Like a fracture, the merge is started again on the recovered device.
                if error.is_loss() {
                    self.jobs.merging.start(union);
                }
                return Err(error.into());
            }
        }
        let Union { ids, parts, opening, .. } = union;
        if !opening {
            self.end_gesture();
            self.keep_step(&format!("merge {}", counted(ids.len())));
        }
        let origin = info.origin.zip(parts.first()).map(|(origin, part)| Origin { part: *part, ..origin });
        let joined = Some(self.breaks.join(parts));
        let id = self.stage.unite(&ids, def, BodyInfo { origin, joined, ..info });
        if !opening {
            self.after_edit();
            // As after a pick in the picture, the list scrolls to it.
            self.select_picked(id, false);
        }
        Ok(true)
    }

    /// Starts merging parts of a break that has just been repeated.
    ///
    /// # Errors
    /// [`SandboxError::NoSuchPart`] where one of them is not there, [`SandboxError::CannotMerge`].
    pub(super) fn unite_parts(&mut self, record: usize, parts: &[u32]) -> Result<(), SandboxError> {
        let id = |part: &u32| {
            let origin = Some(Origin { record, part: *part as usize });
            let mut bodies = self.stage.bodies().iter();
            let there = bodies.find(|body| self.stage.info_or_whole(body.id).origin == origin);
            there.map(|body| body.id).ok_or_else(|| {
                SandboxError::NoSuchPart(format!(
                    "a [[break]] of the scene joins part {part}, which is not there"
                ))
            })
        };
        let ids: Vec<BodyId> = parts.iter().map(id).collect::<Result<_, _>>()?;
        let union = self.union_of(&ids)?;
        self.jobs.merging.start(Union { opening: true, ..union });
        Ok(())
    }
}

/// Whether a piece has moved relative to `first` since their break.
fn has_moved(first: &Body, body: &Body) -> bool {
    let shape = &body.def.shape;
    // For a mesh: the voxel size that an import would have used.
    let voxel = shape.as_octree().map_or(first.def.object_size_m / 128.0, |octree| octree.grid.h);
    shape.bounds().corners().into_iter().any(|corner| {
        let [by_first, by_own] = [first, body].map(|b| world_from_local(&b.state, &b.def.shape, corner));
        by_first.distance(by_own) > STILL * voxel
    })
}

/// The state of the merged `shape` that has the bodies' momentum and angular momentum; its position follows from the
/// first body's.
fn moving_as(bodies: &[&Body], shape: &Shape) -> BodyState {
    let first = bodies[0];
    let position = world_from_local(&first.state, &first.def.shape, shape.centre());
    let rotation = first.state.rotation;
    let (mut momentum, mut turning) = (DVec3::ZERO, DVec3::ZERO);
    for body in bodies {
        let own = body.state.linear_velocity * body.def.mass_kg();
        momentum += own;
        turning += (body.state.position - position).cross(own)
            + body.inertia_in_world() * body.state.angular_velocity;
    }
    let turn = DMat3::from_quat(rotation);
    let angular_velocity = (turn * shape.inertia() * turn.transpose()).inverse() * turning;
    BodyState {
        position,
        rotation,
        linear_velocity: momentum / shape.mass_kg(),
        angular_velocity: if angular_velocity.is_finite() { angular_velocity } else { DVec3::ZERO },
    }
}
