//! Blows and what comes of them: the user's, the scene's, and those of bodies that hit something too hard.
//!
//! In: a body, a blow, parameters. Out: after a worker's fracture, pieces in the world and a step of undo.

use std::sync::Arc;

use glam::DVec3;

use super::{BodyInfo, Sandbox, SandboxError};
use crate::{
    bodies::{BodyDef, BodyId},
    fracture::{Dropped, FractureParams},
    scene::{
        Blow, BreakJob, BreakSummary, Event, KeptCells,
        breaking::{Broken, Cause, Waiting, grid_from_world, parts},
        history::Step,
        pick::pick_forest,
    },
    svo::Arena,
};

impl Sandbox {
    /// Breaks a body with the tuned parameters; the pieces arrive through [`Sandbox::poll`].
    pub fn break_at(&mut self, body: BodyId, point: DVec3, direction: DVec3) {
        let params = self.params_for(body);
        self.strike(body, (point, direction), params, None);
    }

    /// Lets the pinned impact fall: breaks off just the cells that are not kept. `false` without one.
    pub fn break_pin(&mut self) -> bool {
        let Some(pin) = self.tuning.pin.clone() else {
            return false;
        };
        let Some(blow) = self.aimed(&pin.aim) else {
            return false;
        };
        let params = self.params_for(pin.aim.body);
        self.strike(pin.aim.body, blow, params, pin.kept);
        true
    }

    fn strike(
        &mut self,
        body: BodyId,
        (point, direction): (DVec3, DVec3),
        params: FractureParams,
        kept: Option<Arc<KeptCells>>,
    ) {
        let blow =
            Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed: self.tuning.blow_speed };
        self.waiting.push(Waiting { body, blow, params, kept, cause: Cause::User });
        self.start_waiting();
    }

    /// The tuned values for a blow on a body. A list of kept seeds counts in the pattern of the whole object, not of its pieces.
    pub(super) fn params_for(&self, body: BodyId) -> FractureParams {
        let mut params = self.tuning.fracture.clone();
        if !self.is_intact(body) {
            params.keep.clear();
        }
        params
    }

    pub(super) fn is_intact(&self, body: BodyId) -> bool {
        self.info.get(&body).is_none_or(|info| info.generation == 0)
    }

    pub(super) fn start_waiting(&mut self) {
        // What its pieces run into must not break a scene into ever more of them.
        let full = self.world.bodies.len() >= self.scene.break_pieces as usize;
        self.waiting.retain(|w| !(full && w.cause == Cause::Collision));
        if self.breaking.is_some() || self.waiting.is_empty() {
            return;
        }
        let mut next = self.waiting.remove(0);
        if let Some(body) = self.world.bodies.iter().find(|b| b.id == next.body) {
            let object = self.info.get(&next.body).map_or(0, |info| info.object);
            next.params.interior = self.interior_of(object);
            if next.cause == Cause::User && !self.tuning.lock_rng {
                // An earlier blow that waited too has taken its number meanwhile.
                next.params.rng = self.tuning.fracture.rng;
            }
            let surface_color = self.objects.get(object).map(|o| o.surface_color);
            let body = (body, self.is_intact(next.body), surface_color);
            self.breaking = Some(BreakJob::start(&self.gpu, &self.arena, &self.fracturer, body, next));
        }
    }

    pub(super) fn commit_break(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        broken: Broken,
    ) -> Result<(), SandboxError> {
        let Some(body) = self.world.bodies.iter().find(|b| b.id == job.body).cloned() else {
            return Ok(());
        };
        if broken.fracture.pieces.len() < 2 && broken.fracture.dropped.is_none() {
            return Err(SandboxError::NoCrack);
        }
        self.remember_break(&body, job, &broken);
        let info =
            self.info.get(&body.id).copied().unwrap_or(BodyInfo { object: 0, generation: 0, color_id: 0 });
        let slot = self.insert(arena, &broken.fracture.forest)?;
        let step = Step { label: "break".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
        self.history.push(step);
        // Only now: what failed is tried again with the same number, and undo goes back to the one that broke.
        if job.cause == Cause::User && !self.tuning.lock_rng {
            self.tuning.fracture.rng = (self.tuning.fracture.rng + 1) & i64::MAX as u64;
        }
        if self.tuning.pin.as_ref().is_some_and(|pin| pin.aim.body == job.body) {
            self.tuning.pin = None;
        }
        self.forests.push((Arc::clone(&broken.fracture.forest), slot));
        self.world.remove(body.id);
        self.info.remove(&body.id);
        let (low, high) = body.def.mass.bounds;
        let longest_m = (high - low).max_element() * body.def.grid.h;
        let first_radius = job.params.radii.first().copied().unwrap_or(0.1);
        let reach = longest_m * (2.0 * first_radius).clamp(0.05, 0.6);
        let parts = parts(&body, &job.blow, reach, &broken);
        let kept = broken.summary();
        let fracture = broken.fracture;
        for (piece, (state, fixed)) in fracture.pieces.iter().zip(parts) {
            let def = BodyDef {
                forest: Arc::clone(&fracture.forest),
                slot,
                tree: piece.tree,
                mass: piece.mass,
                state,
                fixed,
                ..body.def.clone()
            };
            self.add(def, info.object, info.generation + 1);
        }
        if job.cause == Cause::User {
            self.happened(Event::Impact {
                time: self.time,
                point: job.blow.point,
                direction: job.blow.direction,
                speed: job.blow.speed,
                fracture: Some(broken.params),
            });
        }
        self.world.wake_all();
        let whole = job.source_volume.max(f64::MIN_POSITIVE);
        self.last_break = Some(BreakSummary {
            counts: fracture.counts,
            mass_error: (fracture.volume() + fracture.dust_volume) / whole - 1.0,
            dust_share: fracture.dust_volume / whole,
            dropped_mass: fracture.dropped.as_ref().map_or(0.0, Dropped::volume) / whole,
            solved: fracture.solved,
            kept,
            timings: fracture.timings,
            seconds: job.started.elapsed().as_secs_f64(),
        });
        self.revision += 1;
        Ok(())
    }

    /// Keeps what the user did in the scene, before what has not happened yet.
    pub(super) fn happened(&mut self, event: Event) {
        let at = self.next_event.min(self.scene.events.len());
        self.scene.events.insert(at, event);
        self.next_event = at + 1;
    }

    /// Bodies that break by themselves, with their velocity before the step and the threshold: sleepers too, since what strikes one may
    /// have given it all its speed in the step in which it wakes.
    pub(super) fn fragile(&self) -> Vec<(BodyId, DVec3, f64)> {
        let threshold = |info: &BodyInfo| self.objects.get(info.object)?.scene.break_threshold;
        self.world
            .bodies
            .iter()
            .filter(|b| !b.is_static())
            .filter_map(|b| {
                let info =
                    self.info.get(&b.id).filter(|info| info.generation < self.scene.break_generations)?;
                Some((b.id, b.state.linear_velocity, threshold(info)?))
            })
            .collect()
    }

    /// Breaks what was stopped or struck harder than it bears: where the push on it came in.
    pub(super) fn break_fragile(&mut self, before: Vec<(BodyId, DVec3, f64)>) {
        let fallen = self.world.settings.gravity * self.world.settings.dt;
        for (id, velocity, threshold) in before {
            let Some(body) = self.world.bodies.iter().find(|b| b.id == id) else {
                continue;
            };
            // What sleeps before and after has not fallen.
            if body.asleep && velocity == DVec3::ZERO {
                continue;
            }
            let kick = body.state.linear_velocity - velocity - fallen;
            if kick.length() <= threshold {
                continue;
            }
            let (h, way) = (body.def.grid.h, kick.normalize_or(DVec3::Y));
            let start = body.state.position - way * (h * f64::from(body.def.grid.side()) * 2.0);
            let from = grid_from_world(&body.state, &body.def.mass, h, start);
            let along = body.state.rotation.inverse() * way / h;
            let reach = pick_forest(&body.def.forest, body.def.tree, from, along).map_or(0.0, |hit| hit.t);
            let point = if reach > 0.0 { start + way * reach } else { body.state.position };
            let object = self.info.get(&id).and_then(|info| self.objects.get(info.object));
            let params = object.map_or_else(|| self.tuning.fracture.clone(), |o| o.scene.fracture.clone());
            let blow = Blow { point, direction: way, speed: 0.0 };
            self.waiting.push(Waiting { body: id, blow, params, kept: None, cause: Cause::Collision });
        }
        self.start_waiting();
    }
}
