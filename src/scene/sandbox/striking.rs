//! Blows and what comes of them: the user's, the scene's, and those of bodies that hit something too hard.
//!
//! In: a body, a blow, parameters. Out: after a worker's fracture, pieces in the world and a step of undo.

use std::sync::Arc;

use glam::DVec3;

use super::{Sandbox, SandboxError};
use crate::{
    bodies::BodyId,
    fracture::{FractureParams, Impact, generations::default_impact},
    scene::{
        Blow, BreakJob, BreakRecord, BreakSummary, Event, KeptCells, KeptSummary,
        breaking::{Cause, NamedPiece, TimedBreak, Waiting, first_radius, part_bodies, world_from_local},
    },
    shape::Shape,
    svo::Arena,
};

/// A blow from the front, local space of `shape`.
fn front(shape: &Shape) -> Impact {
    let in_metres = |p: DVec3| shape.as_octree().map_or(p, |octree| octree.grid.origin + octree.grid.h * p);
    let impact = default_impact(shape, shape.bounds().placed(in_metres));
    let point = shape.as_octree().map_or(impact.point, |octree| octree.grid.from_mesh(impact.point));
    Impact { point, ..impact }
}

impl Sandbox {
    /// Breaks a body with the tuned parameters; the pieces arrive through [`Sandbox::poll`].
    pub fn break_at(&mut self, body: BodyId, point: DVec3, direction: DVec3) {
        let params = self.document.tuned_params(&self.stage.info_or_whole(body));
        self.strike(body, (point, direction), params, None);
    }

    /// Lets the pinned impact fall: breaks off just the cells that are not kept. `false` without one.
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

    /// Breaks every whole body by its own parameters, where a blow from the front meets it.
    pub fn break_all(&mut self) {
        let whole = self.stage.bodies().iter().filter(|body| self.stage.info_or_whole(body.id).is_intact());
        let blows: Vec<Waiting> = whole
            .map(|body| {
                let shape = &body.def.shape;
                let impact = front(shape);
                let blow = Blow {
                    point: world_from_local(&body.state, shape, impact.point),
                    direction: body.state.rotation * impact.direction,
                    speed: 0.0,
                };
                let params = self.document.own_params(&self.stage.info_or_whole(body.id));
                let (kept, impact) = (None, Some(impact));
                Waiting { body: body.id, blow, params, kept, cause: Cause::Event, impact, piece: None }
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
        let (cause, impact, piece) = (Cause::User, None, None);
        self.jobs.breaking.push(Waiting { body, blow, params, kept, cause, impact, piece });
        self.start_breaking();
    }

    /// An event of the scene is due.
    pub(super) fn play_event(&mut self, event: Event, thrown: usize) {
        match event {
            Event::Projectile { .. } => self.stage.throw(thrown),
            Event::Impact { point, direction, speed, fracture, body: object, parts, .. } => {
                let Some(body) = self.stage.nearest_body(point) else { return };
                let own = || self.document.own_params(&self.stage.info_or_whole(body));
                let params = fracture.unwrap_or_else(own);
                let blow = Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed };
                self.jobs.breaking.push(Waiting {
                    body,
                    blow,
                    params,
                    kept: None,
                    cause: Cause::Event,
                    impact: None,
                    piece: object.map(|object| NamedPiece { object: object as usize, parts }),
                });
                self.start_breaking();
            }
        }
    }

    /// Starts the next fracture that waits.
    pub(super) fn start_breaking(&mut self) {
        // It might break what is about to be another body.
        if self.is_merging() {
            return;
        }
        let tools = super::workshop(&self.stage, &self.passes);
        self.jobs.breaking.start_next(tools, (&self.stage, &self.breaks), &self.document);
    }

    /// What a step of undo is called.
    fn name_of_break(&self, body: BodyId, cause: Cause) -> String {
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

    /// Lets pieces take the place of the body that broke.
    pub(super) fn take_in_pieces(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        TimedBreak { broken, seconds }: TimedBreak,
    ) -> Result<(), SandboxError> {
        let Some(mut body) = self.stage.body(job.body).cloned() else {
            return Ok(());
        };
        if broken.stayed_whole() && job.cause == Cause::Again {
            self.stayed_whole_again();
            return Ok(());
        }
        if broken.stayed_whole() {
            return Err(SandboxError::NoCrack);
        }
        self.looking.remember(&body, job, &broken);
        for part in &broken.parts {
            if let Some(octree) = part.shape.as_octree() {
                self.take_in(arena, &octree.forest)?;
            }
        }
        let shapes = broken.parts.iter().map(|part| &part.shape);
        self.stage.hold_surfaces(shapes, || self.history.shrink() || self.timeline.shrink());
        if !matches!(job.cause, Cause::Opening | Cause::Again) {
            self.keep_step(&self.name_of_break(body.id, job.cause));
        }
        // Only now: what failed is tried again with the same number, and undo goes back to the one that
        // broke.
        self.document.broke(job.body, job.cause == Cause::User);
        // A blow of the user's on a body whose own break was dropped gives nothing back.
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
        self.count_generations(job, record);
        if matches!(job.cause, Cause::User | Cause::Again) {
            self.document.happened(Event::Impact {
                time: self.stage.time(),
                point: job.blow.point,
                direction: job.blow.direction,
                speed: job.blow.speed,
                // Of several pieces at the point, this one.
                body: info.origin.map(|_| info.object as u32),
                parts: self.breaks.parts_that_led_to(info.origin),
                fracture: Some(broken.params.clone()),
            });
        }
        let whole = broken.before_m3.unwrap_or(job.source_volume).max(f64::MIN_POSITIVE);
        let dropped = broken.lost.dropped.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>();
        let summary = Arc::new(BreakSummary {
            counts: broken.counts,
            mass_error: (broken.volume_m3() + broken.lost.dust_m3) / whole - 1.0,
            dust_share: broken.lost.dust_m3 / whole,
            dropped_mass: dropped / whole,
            solved: broken.solved,
            kept: broken.kept.map(|kept| KeptSummary { cells: kept.cells, pieces: kept.parts }),
            timings: broken.timings,
            seconds,
        });
        // The figures are those of the blow, not of what broke again.
        if job.cause != Cause::Again {
            self.last_break = Some(summary);
        }
        if job.cause != Cause::Opening {
            self.record_change(job.cause != Cause::User);
        }
        Ok(())
    }
}
