//! Blows and their results: the user's, the scene's, and those of bodies that break on impact.
//!
//! In: a body, a blow, parameters. Out: after a worker's fracture, pieces in the world and an undo step.

use std::sync::Arc;

use glam::DVec3;

use super::{Sandbox, SandboxError};
use crate::{
    bodies::{Body, BodyDef, BodyId, Impact as Collision},
    export::checks::Check,
    fracture::{Break, FractureError, FractureParams, Impact, cutter, generations::default_impact},
    scene::{
        Blow, BodyInfo, BreakJob, BreakRecord, BreakSummary, Event, KeptCells, KeptSummary,
        breaking::{
            Cause, Hold, NamedPiece, TimedBreak, Waiting, first_radius, motion_checks, part_bodies,
            world_from_local,
        },
        jobs::{Checks, Velocities},
        variants::Struck,
    },
    shape::Shape,
    svo::Arena,
};

/// A blow from the front, local space of `shape`.
pub(super) fn front(shape: &Shape) -> Impact {
    let in_metres = |p: DVec3| shape.as_octree().map_or(p, |octree| octree.grid.origin + octree.grid.h * p);
    let impact = default_impact(shape, shape.bounds().placed(in_metres));
    let point = shape.as_octree().map_or(impact.point, |octree| octree.grid.from_mesh(impact.point));
    Impact { point, ..impact }
}

/// A blow without speed where a body is hit so.
fn blow_from(body: &Body, impact: &Impact) -> Blow {
    Blow {
        point: world_from_local(&body.state, &body.def.shape, impact.point),
        direction: body.state.rotation * impact.direction,
        speed: 0.0,
    }
}

/// The summary of a break for the panels.
fn summary(job: &BreakJob, broken: &Break, seconds: f64, motion: Vec<Check>) -> BreakSummary {
    let whole = broken.before_m3.unwrap_or(job.source_volume).max(f64::MIN_POSITIVE);
    let dropped = broken.lost.dropped.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>();
    BreakSummary {
        counts: broken.counts,
        mass_error: (broken.volume_m3() + broken.lost.dust_m3) / whole - 1.0,
        dust_share: broken.lost.dust_m3 / whole,
        dropped_mass: dropped / whole,
        solved: broken.solved,
        kept: broken.kept.as_ref().map(|kept| KeptSummary { cells: kept.cells.clone(), pieces: kept.parts }),
        timings: broken.timings.clone(),
        seconds,
        motion,
        solid: Checks::default(),
    }
}

/// The hardest push of the last second: what a threshold of breaking is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HardPush {
    /// Change of velocity in one step, without that by gravity, m/s.
    pub speed: f64,
    /// The object that was pushed.
    pub object: usize,
    /// When, simulated, s.
    pub time: f64,
}

/// An impact of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotedImpact {
    /// End of the step, simulated, s.
    pub time: f64,
    /// What happened.
    pub impact: Collision,
    /// Whether it broke a body or a bond.
    pub broke: bool,
}

/// How long a hard push is remembered, simulated, s.
const PUSH_SECONDS: f64 = 1.0;

impl Sandbox {
    /// Notes the impacts of the step that ended at `time` (s). Where the step is taken back since structures come apart, those
    /// on these structures; the step is taken again without them.
    pub(super) fn note_impacts(&mut self, time: f64, is_taken_back: bool) {
        let world = self.stage.world();
        let failed = |id: BodyId| {
            let mut steps = world.structure_steps().iter();
            steps.any(|step| step.body == id && step.response.failures.iter().any(|bond| bond.by_blow))
        };
        let breaks = |id: BodyId| failed(id) || self.jobs.breaking.is_to_break(id);
        let noted = world.impacts().iter().map(|&impact| {
            let (first, second) = impact.bodies;
            NotedImpact { time, impact, broke: breaks(first) || second.is_some_and(breaks) }
        });
        let noted: Vec<NotedImpact> = noted.filter(|noted| noted.broke || !is_taken_back).collect();
        self.impacts.extend(noted);
    }

    /// The impacts noted since the last call, in order of time and pair, where steps keep them ([`Sandbox::keep_impacts`]).
    pub fn take_impacts(&mut self) -> Vec<NotedImpact> {
        std::mem::take(&mut self.impacts)
    }

    /// Remembers the hardest push of the step that ended at `time` (s), unless a harder one is remembered.
    pub(super) fn note_push(&mut self, before: &Velocities, time: f64) {
        let Some((id, speed)) = before.hardest_push(&self.stage) else { return };
        let lasts = |push: &HardPush| push.time <= time && time - push.time < PUSH_SECONDS;
        if self.push.filter(lasts).is_none_or(|push| push.speed < speed) {
            let object = self.stage.info_or_whole(id).object;
            self.push = Some(HardPush { speed, object, time });
        }
    }

    /// The hardest push of the last second.
    #[must_use]
    pub fn hardest_push(&self) -> Option<HardPush> {
        self.push.filter(|push| push.time <= self.stage.time())
    }

    /// The blow that a sheet of variants shows, with the parameters that it would have now: the pinned one, else the
    /// last one that broke a whole object, else one from the front. If the panels change one object alone, it is one
    /// on that. `None` if there is no such object.
    #[must_use]
    pub fn struck(&self) -> Option<Struck> {
        let is_meant = |object: usize| self.document.focus().is_none_or(|focus| focus == object);
        let standing = |body: &Body| BodyDef { state: body.state, ..body.def.clone() };
        let pinned = || {
            let pin = self.document.tuning().pin.as_ref()?;
            let body = self.stage.body(pin.aim.body)?;
            let info = self.stage.info_or_whole(body.id);
            is_meant(info.object).then(|| (standing(body), info, pin.aim.impact(), pin.kept.clone()))
        };
        let fallen = || {
            let is_it = |record: &&BreakRecord| record.broken.is_none() && is_meant(record.object);
            let record = self.fallen().into_values().rev().find(is_it)?;
            let def = BodyDef { state: record.state, ..self.whole(record.object)? };
            let point = def.shape.local_from_shape(record.impact.point);
            let info = BodyInfo { object: record.object, ..BodyInfo::default() };
            Some((def, info, Impact { point, ..record.impact }, None))
        };
        let from_the_front = || {
            let mut all = self.stage.bodies().iter().map(|body| (body, self.stage.info_or_whole(body.id)));
            let (body, info) = all.find(|(_, info)| info.is_intact() && is_meant(info.object))?;
            Some((standing(body), info, front(&body.def.shape), None))
        };
        let (def, info, impact, kept) = pinned().or_else(fallen).or_else(from_the_front)?;
        let mut params = self.document.tuned_params(&info);
        params.interior = self.document.interior_of(info.object);
        let scene = &self.document.objects().get(info.object)?.scene;
        let (intact, level, file) = (info.is_intact(), def.octree().level(), (scene.file.clone(), scene.up));
        let insides = self.insides().of(&info);
        Some(Struck { def, intact, impact, insides, kept, params, level, file })
    }

    /// Breaks a body with the tuned parameters; the pieces exist once [`Sandbox::poll`] says so.
    pub fn break_at(&mut self, body: BodyId, point: DVec3, direction: DVec3) {
        let params = self.document.tuned_params(&self.stage.info_or_whole(body));
        self.strike(body, (point, direction), params, None);
    }

    /// Breaks the body at the pinned impact: only the cells that are not kept break off. Returns `false` without a pin.
    pub fn break_pin(&mut self) -> bool {
        let Some(pin) = self.document.tuning().pin.clone() else {
            return false;
        };
        let Some(blow) = self.stage.aimed(&pin.aim) else {
            return false;
        };
        let params = self.document.tuned_params(&self.stage.info_or_whole(pin.aim.body));
        self.strike(pin.aim.body, blow, params, pin.kept);
        true
    }

    /// Cracks the body at the pinned impact, so that bonds hold its parts. Returns `false` without a pin, or if bonds hold
    /// that body already.
    pub fn crack_pin(&mut self) -> bool {
        let Some(pin) = self.document.tuning().pin.clone() else { return false };
        let Some((point, direction)) = self.stage.aimed(&pin.aim) else { return false };
        if self.is_held(pin.aim.body) {
            return false;
        }
        let params = self.document.tuned_params(&self.stage.info_or_whole(pin.aim.body));
        let blow = Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed: 0.0 };
        self.jobs.breaking.push(Waiting {
            body: pin.aim.body,
            blow,
            params,
            kept: pin.kept,
            cause: Cause::User,
            impact: None,
            piece: None,
            hold: Some(Hold::default()),
        });
        self.start_breaking();
        true
    }

    /// Breaks every whole body by its own parameters, with a blow from the front.
    pub fn break_all(&mut self) {
        let whole = self.stage.bodies().iter().filter(|body| self.stage.info_or_whole(body.id).is_intact());
        let blows: Vec<Waiting> = whole
            .map(|body| {
                let impact = front(&body.def.shape);
                let blow = blow_from(body, &impact);
                let params = self.document.own_params(&self.stage.info_or_whole(body.id));
                let (kept, impact) = (None, Some(impact));
                Waiting {
                    body: body.id,
                    blow,
                    params,
                    kept,
                    cause: Cause::Event,
                    impact,
                    piece: None,
                    hold: None,
                }
            })
            .collect();
        blows.into_iter().for_each(|blow| self.jobs.breaking.push(blow));
        self.start_breaking();
    }

    fn strike(
        &mut self,
        body: BodyId,
        (point, direction): (DVec3, DVec3),
        params: FractureParams,
        kept: Option<Arc<KeptCells>>,
    ) {
        let speed = self.document.tuning().blow_speed;
        let blow = Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed };
        if self.is_held(body) {
            self.knock(body, blow, &params);
            return;
        }
        let (cause, impact, piece) = (Cause::User, None, None);
        self.jobs.breaking.push(Waiting { body, blow, params, kept, cause, impact, piece, hold: None });
        self.start_breaking();
    }

    /// The user's blow on a body whose parts hold: the bonds near the point take its energy, or fail where it has none.
    fn knock(&mut self, body: BodyId, blow: Blow, params: &FractureParams) {
        self.keep_step(&self.name_of_break(body, Cause::User).replacen("break", "knock", 1));
        let info = self.stage.info_or_whole(body);
        let energy = Some(self.document.tuning().knock_energy).filter(|energy| *energy > 0.0);
        self.note_blow(&blow, &info, params, (false, energy));
        self.document.broke(body, true);
        let struck = self.strike_structure(body, blow, params, energy);
        self.keep_error(struck);
        self.record_change(false);
    }

    /// Notes a user's blow on the body of this `info` as an event of the scene, so that it happens again on playback: whether
    /// its parts hold after it, and the energy that bonds which hold take of it.
    pub(super) fn note_blow(
        &mut self,
        blow: &Blow,
        info: &BodyInfo,
        params: &FractureParams,
        (hold, energy): (bool, Option<f64>),
    ) {
        self.document.happened(Event::Impact {
            time: self.stage.time(),
            point: blow.point,
            direction: blow.direction,
            speed: blow.speed,
            // Names this piece, since several may be at the point.
            body: info.origin.map(|_| info.object as u32),
            parts: self.breaks.parts_that_led_to(info.origin),
            fracture: Some(params.clone()),
            hold,
            energy,
            at_once: true,
        });
    }

    /// Executes a due event of the scene.
    pub(super) fn play_event(&mut self, event: Event, thrown: usize) {
        match event {
            Event::Projectile { body, .. } => {
                self.stage.throw(thrown);
                if body.hold {
                    self.crack_thrown(thrown);
                }
            }
            // Its path is followed from this step on.
            Event::Hand { .. } => {}
            Event::Move { body: object, parts, position, rotation, .. } => {
                let piece = NamedPiece { object: object as usize, parts };
                if let Some(body) = self.breaks.find(&piece, &self.stage) {
                    self.stage.place(body, position, rotation);
                    self.stage.wake_all();
                }
            }
            Event::Impact {
                point,
                direction,
                speed,
                fracture,
                body: object,
                parts,
                hold,
                energy,
                at_once,
                ..
            } => {
                let Some(body) = self.stage.nearest_body(point) else { return };
                let own = || self.document.own_params(&self.stage.info_or_whole(body));
                let params = fracture.unwrap_or_else(own);
                // To normalise the unit vector of a user's blow again would change its last bits.
                let direction = match at_once && direction.is_normalized() {
                    true => direction,
                    false => direction.normalize_or(DVec3::NEG_Y),
                };
                let blow = Blow { point, direction, speed };
                let named = object.map(|object| NamedPiece { object: object as usize, parts: parts.clone() });
                let held = named.and_then(|named| self.breaks.find(&named, &self.stage)).unwrap_or(body);
                if self.is_held(held) {
                    let struck = self.strike_structure(held, blow, &params, energy);
                    self.keep_error(struck);
                    return;
                }
                self.jobs.breaking.push(Waiting {
                    body,
                    blow,
                    params,
                    kept: None,
                    cause: Cause::Event,
                    impact: None,
                    piece: object.map(|object| NamedPiece { object: object as usize, parts }),
                    hold: hold.then(Hold::default),
                });
                self.start_breaking();
            }
        }
    }

    /// Cracks the body that the projectile of this index became, so that bonds hold its parts.
    fn crack_thrown(&mut self, thrown: usize) {
        let object = self.document.numbers_of_thrown().get(thrown).copied();
        let Some(body) = object.and_then(|object| self.stage.body_of(object)) else { return };
        let impact = front(&body.def.shape);
        let (params, kept) = (self.document.own_params(&self.stage.info_or_whole(body.id)), None);
        self.jobs.breaking.push(Waiting {
            body: body.id,
            blow: blow_from(body, &impact),
            params,
            kept,
            cause: Cause::Event,
            impact: Some(impact),
            piece: None,
            hold: Some(Hold::default()),
        });
        self.start_breaking();
    }

    /// Starts the next fracture in the queue.
    pub(super) fn start_breaking(&mut self) {
        // The body might be about to be merged.
        if self.is_merging() {
            return;
        }
        let tools = super::workshop(&self.stage, &self.passes);
        self.jobs.breaking.start_next(tools, (&self.stage, &self.breaks), &self.document);
    }

    /// Name of the undo step.
    pub(super) fn name_of_break(&self, body: BodyId, cause: Cause) -> String {
        let info = self.stage.info_or_whole(body);
        let name = self.document.objects().get(info.object).map_or("body", |object| &object.name);
        let piece = if info.is_intact() { "" } else { "a piece of " };
        let why = match cause {
            Cause::Collision => ", which was struck",
            Cause::Event => ", as the scene says",
            Cause::User | Cause::Again | Cause::Opening => "",
        };
        format!("break {piece}{name}{why}")
    }

    /// Applies a finished fracture, if there is one.
    pub(super) fn take_in_break(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let Some((job, broken)) = self.jobs.breaking.poll()? else { return Ok(false) };
        self.take_in_pieces(arena, &job, broken)?;
        Ok(true)
    }

    /// Makes this break the last one, and has it compared with the `body` that broke.
    pub(super) fn sum_up(
        &mut self,
        job: &BreakJob,
        (broken, seconds): (Break, f64),
        body: &Body,
        motion: Vec<Check>,
    ) {
        let summary = summary(job, &broken, seconds, motion);
        self.jobs.checking.push(&body.def.shape, broken, &summary.solid);
        self.last_break = Some(Arc::new(summary));
    }

    /// Compares voxels, mass and components before and after every break from now on, on a thread of its own:
    /// [`BreakSummary::solid`]. Of breaks that follow each other faster, the last one is compared.
    pub fn check_breaks(&mut self) {
        self.jobs.checking.begin();
    }

    /// Whether a break is being compared, or will be; [`Sandbox::poll`] goes on with it.
    #[must_use]
    pub fn is_checking(&self) -> bool {
        self.jobs.checking.is_busy()
    }

    /// Whether the break of this summary is being compared, or will be. False if it is compared never: breaks that
    /// follow each other fast, and those of a scene that made way, are not all compared.
    #[must_use]
    pub fn is_comparing(&self, summary: &BreakSummary) -> bool {
        self.jobs.checking.is_comparing(&summary.solid)
    }

    /// Why a blow split nothing.
    fn no_crack(&self, job: &BreakJob) -> SandboxError {
        if job.cause != Cause::User || job.params.method != cutter::METHOD.id() {
            return SandboxError::NoCrack;
        }
        let text = match self.stage.info_or_whole(job.body).is_intact() {
            true => {
                "the cutter lies beside the object or round all of it; move it by the sliders of the method"
            }
            false => {
                "the cutter leaves this piece as it is, since it cuts whole objects; break it by another method"
            }
        };
        FractureError::Params(text.to_owned()).into()
    }

    /// Replaces the broken body by its pieces.
    pub(super) fn take_in_pieces(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        timed: TimedBreak,
    ) -> Result<(), SandboxError> {
        if let Some(hold) = &job.hold {
            return self.take_in_held(arena, job, hold, timed);
        }
        let TimedBreak { broken, seconds, .. } = timed;
        let Some(mut body) = self.stage.body(job.body).cloned() else {
            return Ok(());
        };
        if broken.stayed_whole() && job.cause == Cause::Again {
            self.stayed_whole_again();
            return Ok(());
        }
        if broken.stayed_whole() {
            return Err(self.no_crack(job));
        }
        self.looking.remember(&body, job, &broken);
        for part in &broken.parts {
            if let Some(octree) = part.shape.as_octree() {
                self.take_in(arena, &octree.forest)?;
            }
        }
        let shapes = broken.parts.iter().map(|part| &part.shape);
        self.stage.hold_surfaces(shapes, || self.history.shrink() || self.timeline.shrink());
        let label = self.name_of_break(body.id, job.cause);
        match job.cause {
            Cause::User => self.keep_step(&label),
            // A scene saved from its beginning has it already, if its pieces were not edited.
            Cause::Collision | Cause::Event if !self.has_marked_pieces() => self.keep_step_of_itself(&label),
            Cause::Collision | Cause::Event => self.keep_step(&label),
            Cause::Opening | Cause::Again => {}
        }
        // Only now, so that a failed break is tried again with the same seed, and undo restores the seed of the break.
        self.document.broke(job.body, job.cause == Cause::User);
        // A user's blow on a body whose own break was dropped undoes no collision.
        if job.cause == Cause::Collision {
            self.jobs.breaking.take_back(&mut body, &mut self.stage);
        }
        let parts = part_bodies(&body, &job.blow, first_radius(&job.params), &broken);
        let info = self.stage.info_or_whole(body.id);
        let record = BreakRecord::new(&body, &info, job, (&broken, seconds), self.stage.time());
        let record = self.breaks.push(record);
        if let (Some(remaking), Cause::Opening) = (&mut self.remaking, job.cause) {
            let broken = body.def.shape.as_octree().map(|octree| Arc::clone(&octree.forest));
            remaking.made(record, broken);
        }
        self.stage.break_up(body.id, parts, record);
        if self.breaks.has_doubled() {
            self.forget_breaks();
        }
        self.count_generations(job, record);
        if matches!(job.cause, Cause::User | Cause::Again) {
            self.note_blow(&job.blow, &info, &broken.params, (false, None));
        }
        // The summary describes the blow itself, not its later generations.
        if job.cause != Cause::Again {
            let is_part = |piece: &&Body| {
                let origin = self.stage.info_or_whole(piece.id).origin;
                origin.is_some_and(|origin| origin.record == record)
            };
            let after: Vec<&Body> = self.stage.bodies().iter().filter(is_part).collect();
            let motion = motion_checks(&body, &after, (&job.blow, first_radius(&job.params)), &broken);
            self.sum_up(job, (broken, seconds), &body, motion);
        }
        if job.cause != Cause::Opening {
            self.record_change(job.cause != Cause::User);
        }
        Ok(())
    }
}
