//! The queue of blows: one fracture is computed at a time.
//!
//! In: blows with their parameters. Out: fractures from a worker, and corrections of collisions whose bodies broke.

use std::collections::BTreeMap;

use super::{Velocities, collisions::Recoil};
use crate::{
    bodies::{Body, BodyId, structure::Strength},
    fracture::{FractureError, FractureParams},
    scene::{
        BodyInfo, BreakJob, BreakLog,
        breaking::{Blow, Cause, Seeds, TimedBreak, Waiting, Workshop},
        document::Document,
        stage::Stage,
    },
};

/// The fracture in progress, and the queue.
#[derive(Default)]
pub(in crate::scene) struct Breaking {
    job: Option<BreakJob>,
    waiting: Vec<Waiting>,
    recoils: BTreeMap<BodyId, Recoil>,
}

impl Breaking {
    /// Whether a fracture is being computed or waits to be applied.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || !self.waiting.is_empty()
    }

    /// Clears everything, because the bodies are restored or replaced.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Adds a blow to the queue.
    pub fn push(&mut self, blow: Waiting) {
        self.waiting.push(blow);
    }

    /// Starts the next fracture if none is in progress.
    pub fn start_next(
        &mut self,
        tools: Workshop<'_>,
        (stage, breaks): (&Stage, &BreakLog),
        document: &Document,
    ) {
        // Collisions of pieces must not multiply the bodies without end.
        let full = stage.bodies().len() >= document.scene().break_pieces as usize;
        self.waiting.retain(|w| !(full && w.cause == Cause::Collision));
        if self.job.is_some() || self.waiting.is_empty() {
            return;
        }
        let mut next = self.waiting.remove(0);
        // Simultaneous events strike the pieces that the earlier ones produced.
        if let Some(named) = next.piece.take()
            && let Some(there) = breaks.find(&named, stage)
        {
            next.body = there;
        }
        if next.cause == Cause::Event
            && stage.body(next.body).is_none()
            && let Some(there) = stage.nearest_body(next.blow.point)
        {
            (next.body, next.impact) = (there, None);
        }
        if let Some(body) = stage.body(next.body).filter(|body| !body.locked) {
            let info = stage.info_or_whole(next.body);
            // Blows of the scene that name a material keep it, whatever is chosen for the object meanwhile.
            let is_by_now = matches!(next.cause, Cause::User | Cause::Collision);
            if is_by_now || next.params.interior.is_left_out {
                next.params.interior = document.interior_of(info.object);
            }
            next.params.fit(body.def.octree().forest.level);
            if next.cause == Cause::User && !document.tuning().lock_rng {
                // An earlier blow in the queue has used this seed meanwhile.
                next.params.rng = document.tuning().fracture.rng;
            }
            let body = (&body.def, &body.state, Seeds::of(info.is_intact()));
            self.job = Some(BreakJob::start(tools.arena, tools.passes, body, next));
        }
    }

    /// Returns a finished fracture. If a lost device interrupted it, it goes back into the queue.
    ///
    /// # Errors
    /// [`FractureError`].
    pub fn poll(&mut self) -> Result<Option<(BreakJob, TimedBreak)>, FractureError> {
        let Some(result) = self.job.as_ref().and_then(BreakJob::poll) else { return Ok(None) };
        if result.as_ref().is_err_and(FractureError::is_loss) {
            self.begin_again();
        }
        let job = self.job.take();
        Ok(job.zip(result.map(Some)?))
    }

    /// Cancellation of the fracture in progress.
    #[cfg(test)]
    pub fn cancel(&self) -> Option<&crate::fracture::Cancel> {
        self.job.as_ref().map(|job| &job.waits.0)
    }

    /// Puts the fracture in progress back into the queue.
    pub fn begin_again(&mut self) {
        if let Some(job) = self.job.take() {
            self.waiting.insert(0, job.again());
        }
    }

    /// Adds a blow for every body that was stopped or struck too hard in the last step, at the point of the strongest
    /// push.
    pub fn push_collisions(
        &mut self,
        before: &Velocities,
        stage: &Stage,
        document: &Document,
        breaks: &BreakLog,
    ) {
        if !self.is_busy() {
            self.recoils.clear();
        }
        // Bonds decide about a body that has them.
        let threshold = |body: &Body| match body.def.structure {
            Some(_) => None,
            None => document.threshold(&stage.info_or_whole(body.id)),
        };
        let by_speed = before.struck(stage, threshold).into_iter().map(|struck| (struck, None));
        let blows = stage.world().struck().iter().filter(|blow| blow.breaks());
        let by_blow = blows.filter_map(|blow| {
            let params = document.own_params(&stage.info_or_whole(blow.body));
            let pieces = blow.pieces(params.target_pieces.unwrap_or(params.seeds));
            Some((before.overcome(stage, blow, blow.share_left(pieces))?, Some(pieces)))
        });
        for (struck, pieces) in by_speed.chain(by_blow).collect::<Vec<_>>() {
            let info = stage.info_or_whole(struck.body);
            let mut params = document.own_params(&info);
            fit_pieces(&mut params, pieces);
            params.rng = random_number_of(params.rng, &info, document, breaks);
            let blow = Blow { point: struck.point, direction: struck.way, speed: 0.0 };
            self.recoils.insert(struck.body, struck.recoil);
            self.waiting.push(Waiting {
                body: struck.body,
                blow,
                params,
                kept: None,
                cause: Cause::Collision,
                impact: None,
                piece: None,
                hold: None,
            });
        }
    }

    /// Whether a collision is to break a body.
    pub fn is_to_break(&self, body: BodyId) -> bool {
        self.waiting.iter().any(|waiting| waiting.body == body && waiting.cause == Cause::Collision)
    }

    /// Undoes the part of a collision that the broken body could not transmit, on the body and on what it struck.
    pub fn take_back(&mut self, body: &mut Body, stage: &mut Stage) {
        if let Some(recoil) = self.recoils.remove(&body.id) {
            recoil.take_back(body, stage);
        }
    }
}

/// The strengths by which bodies break that no bonds hold. What is locked stays whole.
pub(in crate::scene) fn strengths(stage: &Stage, document: &Document) -> BTreeMap<BodyId, Strength> {
    let may_break = |body: &&Body| body.def.structure.is_none() && !body.is_static() && !body.locked;
    let loose = stage.bodies().iter().filter(may_break);
    let strength = |body: &Body| Some((body.id, document.whole_strength(&stage.info_or_whole(body.id))?));
    loose.filter_map(strength).collect()
}

/// Breaks into as many pieces as the energy of a blow pays for. A pattern whose seeds are given keeps them.
fn fit_pieces(params: &mut FractureParams, pieces: Option<u32>) {
    let Some(pieces) = pieces.filter(|_| params.seeds_file.is_none() && params.keep.is_empty()) else {
        return;
    };
    match &mut params.target_pieces {
        Some(target) => *target = pieces.min(*target),
        None => params.seeds = pieces.min(params.seeds),
    }
}

/// Random seed for a body that breaks on impact, so that every pattern is unique: the scene's seed, unless an earlier
/// object has the same; pieces derive theirs from their origin, so that playback breaks them the same way.
fn random_number_of(own: u64, info: &BodyInfo, document: &Document, breaks: &BreakLog) -> u64 {
    let before = info.origin.and_then(|from| Some((from, breaks.get(from.record)?)));
    match before {
        Some((from, record)) => mixed(own, record.params.rng, from.part as u64 + 1),
        None if document.shares_random_numbers(info.object) => mixed(own, info.object as u64, 0),
        None => own,
    }
}

/// Hashes three numbers to 31 bits, which every scene file can hold (after SplitMix64's finalizer).
fn mixed(a: u64, b: u64, c: u64) -> u64 {
    let stir = |h: u64, v: u64| {
        let h = (h ^ v).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    };
    stir(stir(stir(0, a), b), c) >> 33
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DVec3;

    use super::*;
    use crate::{
        fracture::Passes,
        gpu::Gpu,
        scene::{Scene, Tuning},
    };

    fn waiting(cause: Cause) -> Waiting {
        let blow = Blow { point: DVec3::ZERO, direction: DVec3::X, speed: 0.0 };
        Waiting {
            body: BodyId(7),
            blow,
            params: FractureParams::default(),
            kept: None,
            cause,
            impact: None,
            piece: None,
            hold: None,
        }
    }

    #[test]
    fn a_full_scene_drops_collisions_and_what_is_gone_does_not_break() {
        let Some(gpu) = Gpu::for_test() else { return };
        let (stage, passes) = (Stage::new(&gpu).unwrap(), Arc::new(Passes::default()));
        let tools = Workshop { compute: stage.compute(), arena: stage.arena(), passes: &passes };
        let mut document = Document::new(Tuning::default());
        document.open(Scene { break_pieces: 0, ..Scene::default() }, Vec::new());
        let (mut breaking, breaks) = (Breaking::default(), BreakLog::default());
        breaking.push(waiting(Cause::Collision));
        breaking.push(waiting(Cause::Collision));
        assert!(breaking.is_busy());
        breaking.start_next(tools, (&stage, &breaks), &document);
        assert!(!breaking.is_busy() && breaking.poll().unwrap().is_none());
        breaking.push(waiting(Cause::User));
        breaking.push(waiting(Cause::Event));
        breaking.start_next(tools, (&stage, &breaks), &document);
        assert!(breaking.is_busy(), "one after the other");
        breaking.start_next(tools, (&stage, &breaks), &document);
        assert!(!breaking.is_busy(), "the body is gone");
        breaking.push(waiting(Cause::User));
        breaking.forget();
        assert!(!breaking.is_busy());
    }
}
