//! Blows and what comes of them: the user's, the scene's, and those of bodies that hit something too hard.
//!
//! In: a body, a blow, parameters. Out: after a worker's fracture, pieces in the world and a step of undo.

use std::{collections::BTreeMap, sync::Arc};

use glam::DVec3;

use super::{BodyInfo, Sandbox, SandboxError};
use crate::{
    bodies::{Body, BodyDef, BodyId},
    fracture::{Break, FractureParams},
    scene::{
        Blow, BreakJob, BreakRecord, BreakSummary, Event, KeptCells, KeptSummary, Origin,
        breaking::{Cause, Waiting, local_from_world, part_states},
        history::Step,
    },
    svo::Arena,
};

/// What a collision gave that did not go through, since the body broke before. A body passes on no more than what breaks it, so that its pieces
/// go on and meet the obstacle themselves. Linear momentum stays as it is.
#[derive(Debug, Default)]
pub(super) struct Recoil {
    /// Change of velocity for what floor, walls and fixed bodies gave, m/s.
    fixed: DVec3,
    /// Change of angular velocity, 1/s.
    spin: DVec3,
    /// Impulses for those who gave the rest, N s, and what they change of their angular velocities, 1/s.
    partners: Vec<(BodyId, DVec3, DVec3)>,
}

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
            next.params.fit(body.def.octree().forest.level);
            if next.cause == Cause::User && !self.tuning.lock_rng {
                // An earlier blow that waited too has taken its number meanwhile.
                next.params.rng = self.tuning.fracture.rng;
            }
            let body = (body, self.is_intact(next.body));
            self.breaking = Some(BreakJob::start(&self.gpu, &self.arena, &self.passes, body, next));
        }
    }

    pub(super) fn commit_break(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        broken: Break,
    ) -> Result<(), SandboxError> {
        let Some(mut body) = self.world.bodies.iter().find(|b| b.id == job.body).cloned() else {
            return Ok(());
        };
        if broken.stayed_whole() {
            return Err(SandboxError::NoCrack);
        }
        self.remember_break(&body, job, &broken);
        let unknown = BodyInfo { object: 0, generation: 0, color_id: 0, origin: None };
        let info = self.info.get(&body.id).copied().unwrap_or(unknown);
        for part in &broken.parts {
            if let Some(octree) = part.shape.as_octree() {
                self.insert(arena, &octree.forest)?;
            }
        }
        let step = Step { label: "break".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
        self.history.push(step);
        // Only now: what failed is tried again with the same number, and undo goes back to the one that broke.
        if job.cause == Cause::User && !self.tuning.lock_rng {
            self.tuning.fracture.rng = (self.tuning.fracture.rng + 1) & i64::MAX as u64;
        }
        if self.tuning.pin.as_ref().is_some_and(|pin| pin.aim.body == job.body) {
            self.tuning.pin = None;
        }
        self.world.remove(body.id);
        self.info.remove(&body.id);
        let longest_m = body.def.shape.longest_side_m();
        let first_radius = job.params.radii.first().copied().unwrap_or(0.1);
        let reach = longest_m * (2.0 * first_radius).clamp(0.05, 0.6);
        // A blow of the user's on a body whose own break was dropped gives nothing back.
        if job.cause == Cause::Collision {
            self.take_back(&mut body);
        }
        let kept = broken.kept.as_ref();
        let states = part_states(&body, &job.blow, reach, &broken.parts, kept.and_then(|kept| kept.part));
        let record = self.breaks.push(BreakRecord::new(&body, &info, job, &broken, self.time));
        for (i, (part, (state, fixed))) in broken.parts.iter().zip(states).enumerate() {
            let def = BodyDef { shape: Arc::clone(&part.shape), state, fixed, ..body.def.clone() };
            let id = self.add(def, info.object, info.generation + 1);
            if let Some(info) = self.info.get_mut(&id) {
                info.origin = Some(Origin { record, part: i });
            }
        }
        if job.cause == Cause::User {
            self.happened(Event::Impact {
                time: self.time,
                point: job.blow.point,
                direction: job.blow.direction,
                speed: job.blow.speed,
                fracture: Some(broken.params.clone()),
            });
        }
        self.world.wake_all();
        self.record_change(job.cause != Cause::User);
        let whole = job.source_volume.max(f64::MIN_POSITIVE);
        let dropped = broken.lost.dropped.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>();
        self.last_break = Some(BreakSummary {
            counts: broken.counts,
            mass_error: (broken.volume_m3() + broken.lost.dust_m3) / whole - 1.0,
            dust_share: broken.lost.dust_m3 / whole,
            dropped_mass: dropped / whole,
            solved: broken.solved,
            kept: broken.kept.map(|kept| KeptSummary { cells: kept.cells, pieces: kept.parts }),
            timings: broken.timings,
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

    /// How bodies moved before a step, where something may break by itself.
    pub(super) fn before_step(&self) -> BTreeMap<BodyId, [DVec3; 2]> {
        if self.objects.iter().all(|object| object.scene.break_threshold.is_none()) {
            return BTreeMap::new();
        }
        let moving = self.world.bodies.iter().filter(|b| !b.is_static());
        moving.map(|b| (b.id, [b.state.linear_velocity, b.state.angular_velocity])).collect()
    }

    /// What a body bears, m/s; `None` where it does not break by itself. Sleepers do, too: what strikes one gives it all its speed in the
    /// step in which it wakes.
    fn threshold(&self, id: BodyId) -> Option<f64> {
        let info = self.info.get(&id).filter(|info| info.generation < self.scene.break_generations)?;
        self.objects.get(info.object)?.scene.break_threshold
    }

    /// Breaks what was stopped or struck harder than it bears: where the push on it came in.
    pub(super) fn break_fragile(&mut self, before: &BTreeMap<BodyId, [DVec3; 2]>) {
        let fallen = self.world.settings.gravity * self.world.settings.dt;
        if self.breaking.is_none() && self.waiting.is_empty() {
            self.recoils.clear();
        }
        let mut recoils = Vec::new();
        for (&id, &[velocity, _]) in before {
            let Some((threshold, body)) = self.threshold(id).zip(self.body(id)) else {
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
            let way = kick.normalize_or(DVec3::Y);
            let (octree, shape) = (body.def.octree(), &body.def.shape);
            let h = octree.grid.h;
            let start = body.state.position - way * (h * f64::from(octree.grid.side()) * 2.0);
            let from = local_from_world(&body.state, shape, start);
            let along = body.state.rotation.inverse() * way / h;
            let reach = shape.pick(from, along).map_or(0.0, |hit| hit.t);
            let point = if reach > 0.0 { start + way * reach } else { body.state.position };
            let params = self.own_params(id);
            recoils.push((id, self.recoil(id, kick, threshold, before)));
            let blow = Blow { point, direction: way, speed: 0.0 };
            self.waiting.push(Waiting { body: id, blow, params, kept: None, cause: Cause::Collision });
        }
        self.recoils.extend(recoils);
        self.start_waiting();
    }

    /// What is to be taken back when body `id`, kicked by `kick` m/s, breaks at `threshold` m/s.
    fn recoil(
        &self,
        id: BodyId,
        kick: DVec3,
        threshold: f64,
        before: &BTreeMap<BodyId, [DVec3; 2]>,
    ) -> Recoil {
        let (share, way) = (1.0 - threshold / kick.length(), kick.normalize_or_zero());
        let fallen = self.world.settings.gravity * self.world.settings.dt;
        let (Some(body), Some(was)) = (self.body(id), before.get(&id)) else {
            return Recoil::default();
        };
        let pushed = body.def.mass_kg() * kick.length();
        if !(pushed > 0.0 && pushed.is_finite()) {
            return Recoil::default();
        }
        // Who got the opposite push, how much of it (kg m/s), and where: sum and number of its contacts.
        let mut partners: BTreeMap<BodyId, (f64, DVec3, f64)> = BTreeMap::new();
        let mut fixed = false;
        for contact in self.world.contacts() {
            let other = match contact.bodies {
                (a, Some(b)) if a == id => Some(b),
                (a, Some(b)) if b == id => Some(a),
                (a, None) if a == id => None,
                _ => continue,
            };
            let moving = other.and_then(|other| Some((other, self.body(other)?, before.get(&other)?)));
            let Some((other, partner, was)) = moving else {
                fixed |= contact.impulse > 0.0;
                continue;
            };
            let got = -(partner.state.linear_velocity - was[0] - fallen).dot(way) * partner.def.mass_kg();
            if got > 0.0 {
                let (_, sum, count) = partners.get(&other).copied().unwrap_or_default();
                partners.insert(other, (got, sum + contact.position, count + 1.0));
            }
        }
        let total: f64 = partners.values().map(|p| p.0).sum();
        // What others did not get went into floor, walls and what is fixed; without those, into the others all the same.
        let theirs = if fixed || total == 0.0 { (total / pushed).min(1.0) } else { 1.0 };
        let back = |(other, (got, sum, count)): (BodyId, (f64, DVec3, f64))| {
            let partner = self.body(other)?;
            let impulse = way * (share * theirs * pushed * got / total);
            let arm = sum / count - partner.state.position;
            let turn = partner.inertia_in_world().inverse() * arm.cross(impulse);
            Some((other, impulse, if turn.is_finite() { turn } else { DVec3::ZERO }))
        };
        Recoil {
            fixed: if fixed { -(share * (1.0 - theirs)) * kick } else { DVec3::ZERO },
            spin: (was[1] - body.state.angular_velocity) * share,
            partners: partners.into_iter().filter_map(back).collect(),
        }
    }

    /// Gives a body that breaks, and what it struck, back what it did not pass on. What is gone meanwhile has settled it already, when it
    /// broke itself.
    fn take_back(&mut self, body: &mut Body) {
        let Some(recoil) = self.recoils.remove(&body.id) else { return };
        body.state.linear_velocity += recoil.fixed;
        let mut taken = recoil.fixed != DVec3::ZERO;
        for (id, impulse, turn) in recoil.partners {
            let Some(partner) = self.world.body_mut(id) else { continue };
            partner.state.linear_velocity += impulse / partner.def.mass_kg();
            partner.state.angular_velocity += turn;
            partner.wake();
            body.state.linear_velocity -= impulse / body.def.mass_kg();
            taken = true;
        }
        if taken {
            body.state.angular_velocity += recoil.spin;
        }
    }
}
