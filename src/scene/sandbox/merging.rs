//! Pieces of one break become one body again.
//!
//! In: bodies that one break made and that have not moved against each other. Out: one body with their mass, momentum
//! and angular momentum, which goes by the name of the largest part. It is told in scene files, and exported, as if the
//! break had not parted them.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::{Sandbox, SandboxError};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState},
    fracture::{Rejoin, solid::rejoined},
    scene::{Origin, breaking::world_from_local, stage::BodyInfo},
    shape::{Octree, Shape},
};

/// Pieces may have moved against each other by so many voxels: less cannot be seen, and bodies that touch settle by
/// that.
const STILL: f64 = 0.5;

/// Why pieces that lie apart are refused.
const APART: &str =
    "they do not touch each other: other pieces, or dust, lie between them; select those in between too";

/// The same of meshes.
const NO_FACES: &str = "they share no faces: other pieces lie between them, or each was cut by itself, as the method \
                        planes does";

/// A body that is to take the place of others.
pub(super) struct United {
    ids: Vec<BodyId>,
    pub(super) def: BodyDef,
    info: BodyInfo,
    /// Numbers of the parts of the break that it is.
    parts: Vec<usize>,
}

fn refused(why: &str) -> SandboxError {
    SandboxError::CannotMerge(why.to_owned())
}

impl Sandbox {
    /// The body that these would be; nothing changes.
    ///
    /// # Errors
    /// [`SandboxError::CannotMerge`] with the reason.
    pub(super) fn united(&self, ids: &[BodyId]) -> Result<United, SandboxError> {
        let mut bodies: Vec<(&Body, BodyInfo)> = ids
            .iter()
            .filter_map(|id| Some((self.stage.body(*id)?, self.stage.info_or_whole(*id))))
            .collect();
        if bodies.len() < 2 {
            return Err(refused("select two pieces or more that are to be one"));
        }
        // The largest part first: it gives name and place.
        bodies.sort_by_key(|(_, info)| info.origin);
        let Some(origin) = bodies[0].1.origin else {
            return Err(refused("a whole object cannot be merged; select pieces that one blow broke off"));
        };
        if bodies.iter().any(|(_, info)| info.origin.is_none_or(|other| other.record != origin.record)) {
            return Err(refused("they came of different breaks; select pieces that one blow broke off"));
        }
        let first = bodies[0].0;
        if bodies.iter().any(|(body, _)| has_moved(first, body)) {
            return Err(refused(
                "they have moved against each other since they broke; go back on the timeline to where they fit",
            ));
        }
        let mut parts: Vec<usize> = bodies.iter().flat_map(|(_, info)| self.breaks.parts_of(info)).collect();
        parts.sort_unstable();
        let own: Vec<&Body> = bodies.iter().map(|(body, _)| *body).collect();
        let meshes = own.iter().map(|body| body.def.shape.as_mesh()).collect::<Option<Vec<_>>>();
        let like = &first.def.shape;
        let shape = match meshes {
            Some(meshes) => {
                let one = rejoined(&meshes)?.ok_or_else(|| refused(NO_FACES))?;
                Shape::solid(one, like.density(), *like.look())
            }
            None => self.rejoined(origin.record, &parts, like)?,
        };
        let def = BodyDef {
            state: moving_as(&own, &shape),
            shape: Arc::new(shape),
            fixed: own.iter().any(|body| body.def.fixed),
            ..first.def.clone()
        };
        Ok(United { ids: ids.to_vec(), def, info: bodies[0].1, parts })
    }

    /// Those parts of a break as one octree that looks and weighs like `like`.
    fn rejoined(&self, record: usize, parts: &[usize], like: &Shape) -> Result<Shape, SandboxError> {
        let gone =
            || refused("what they broke off is no longer in memory; undo the break and break it again");
        let record = self.breaks.get(record).ok_or_else(gone)?;
        let (source, forest) =
            (record.forest().ok_or_else(gone)?, record.forest_of_parts().ok_or_else(gone)?);
        let (Some(pattern), Some(grid)) = (&record.pattern, record.grid) else { return Err(gone()) };
        let all = record.trees.iter().copied().zip(record.cells.iter().copied());
        let rejoin = Rejoin::new((&source, record.tree), pattern, &forest, all);
        let members: Vec<u32> = parts.iter().map(|part| *part as u32).collect();
        let one = rejoin.one_of(&members).ok_or_else(|| refused(APART))?;
        Ok(Shape::octree(Octree::new(&Arc::new(one), 0, grid), like.density(), *like.look()))
    }

    /// Puts one body in the place of those that it is made of.
    pub(super) fn unite(&mut self, united: United) -> BodyId {
        let United { ids, def, info, parts } = united;
        let origin = info.origin.zip(parts.first()).map(|(origin, part)| Origin { part: *part, ..origin });
        let joined = Some(self.breaks.join(parts));
        self.stage.unite(&ids, def, BodyInfo { origin, joined, ..info })
    }

    /// Counts the surface that it has, where it has one.
    pub(super) fn hold_united(&mut self, united: &United) {
        let forget = || self.history.shrink() || self.timeline.shrink();
        self.stage.hold_surfaces([&united.def.shape], forget);
    }

    /// Makes one of the parts of a break that has just been made again.
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
        let united = self.united(&ids)?;
        self.hold_united(&united);
        if let Some(octree) = united.def.shape.as_octree() {
            let arena = Arc::clone(self.stage.arena());
            let mut arena = arena.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.take_in(&mut arena, &octree.forest)?;
        }
        self.unite(united);
        Ok(())
    }
}

/// Whether a piece is not where it was beside `first` when both were one.
fn has_moved(first: &Body, body: &Body) -> bool {
    let (shape, (low, high)) = (&body.def.shape, body.def.shape.bounds());
    // What has no voxels is as large as an import would have made it.
    let voxel = shape.as_octree().map_or(first.def.object_size_m / 128.0, |octree| octree.grid.h);
    (0..8).any(|c| {
        let at = |axis: usize| if c >> axis & 1 == 0 { low[axis] } else { high[axis] };
        let corner = DVec3::new(at(0), at(1), at(2));
        let [by_first, by_own] = [first, body].map(|b| world_from_local(&b.state, &b.def.shape, corner));
        by_first.distance(by_own) > STILL * voxel
    })
}

/// The state in which `shape`, which lies as the first of `bodies` does, has their momentum and angular momentum.
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
