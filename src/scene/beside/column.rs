//! One comparison view: the document's bodies, broken in another way.
//!
//! In: the document's stage and its blows. Out: bodies that move as the document's do. Until a blow has fallen, the
//! view mirrors the document's stage. The fracture of a blow is computed first, and the view changes only when it is
//! ready: until then the previous state stays on display.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError},
    time::Instant,
};

use super::{
    ColumnState, Context, Way, differing::Differing, levels::Levels, outcome::Outcome, strike::Strike,
};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState},
    compute::Compute,
    fracture::Break,
    gpu::GpuError,
    render::{Overlay, RenderBody},
    scene::{
        SandboxError,
        breaking::{BreakJob, Seeds, TimedBreak, part_bodies, part_state, world_from_local_matrix},
        stage::{Appearance, Stage, Touch, drawn_shapes},
    },
    shape::Shape,
};

/// Least explode distance for the pieces of a pinned blow; closer, they would look like the whole body.
const APART: f64 = 0.12;

/// A fracture in progress.
struct Breaking {
    strike: Strike,
    /// The body that breaks.
    def: BodyDef,
    job: BreakJob,
}

/// A comparison view.
pub(in crate::scene) struct Column {
    way: Way,
    stage: Stage,
    /// The objects at the view's level, if it has one of its own.
    levels: Option<Levels>,
    /// The document's revision that this view mirrors, while no blow has fallen in either.
    mirrored: Option<u64>,
    /// The first blow shown, and all blows shown.
    begun: Option<Strike>,
    shown: Vec<Strike>,
    /// Simulated time of this view, s.
    at: f64,
    outcomes: Vec<Outcome>,
    job: Option<Breaking>,
    /// The blow that the caption is about, and the time of the next blow to fall, s.
    last: Option<Strike>,
    next_blow: Option<f64>,
    /// The error that ended this view.
    stopped: Option<String>,
    /// Whether it has not caught up with the document.
    is_behind: bool,
    revision: u64,
}

impl Column {
    /// A view with no bodies yet.
    pub fn new(way: Way, compute: &Compute) -> Result<Self, GpuError> {
        let levels = if let Way::Level(level) = way { Some(Levels::new(level)) } else { None };
        Ok(Self {
            way,
            stage: Stage::new(compute)?,
            levels,
            mirrored: None,
            begun: None,
            shown: Vec::new(),
            at: 0.0,
            outcomes: Vec::new(),
            job: None,
            last: None,
            next_blow: None,
            stopped: None,
            is_behind: false,
            revision: 0,
        })
    }

    /// What it changes.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// Its bodies.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Whether its bodies are the document's: no blow has fallen in it.
    pub fn is_mirror(&self) -> bool {
        self.begun.is_none()
    }

    /// Changes whenever its picture may have changed.
    pub fn revision(&self) -> u64 {
        self.revision + self.stage.revision()
    }

    /// Whether a fracture is being computed for it.
    pub fn is_computing(&self) -> bool {
        self.job.is_some()
    }

    /// Whether a worker counts meshes, compares voxels, reads the inside of a break or voxelises for it.
    pub fn is_waiting(&self) -> bool {
        let is_voxelising = self.levels.as_ref().is_some_and(Levels::is_busy);
        is_voxelising || self.outcomes.iter().any(|outcome| outcome.is_counting() || outcome.is_comparing())
    }

    /// Whether the document's time must wait for it.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    fn outcome(&self, strike: &Strike) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.strike.is_by(strike, &self.way))
    }

    fn outcome_mut(&mut self, strike: &Strike) -> Option<&mut Outcome> {
        self.outcomes.iter_mut().find(|outcome| outcome.strike.is_by(strike, &self.way))
    }

    /// The blows that fall in this view. A pinned blow is the last one, so all fall that have fallen in the document.
    fn falls<'a>(&self, cx: &'a Context<'_>) -> &'a [Strike] {
        match (&self.way, &cx.pinned, cx.fallen.split_last()) {
            (Way::Before, None, Some((_, earlier))) => earlier,
            _ => &cx.fallen,
        }
    }

    /// These and the pinned one, in the order of their computation.
    fn wanted<'a>(&self, cx: &'a Context<'_>) -> impl Iterator<Item = &'a Strike> + use<'a> {
        let pinned = cx.pinned.as_ref().filter(|_| self.way != Way::Before);
        self.falls(cx).iter().chain(pinned)
    }

    /// Follows the document without waiting.
    pub fn update(&mut self, cx: &Context<'_>) {
        if self.stopped.is_some() {
            return;
        }
        self.last = self.wanted(cx).last().cloned();
        self.voxelise(cx);
        self.take_result(cx);
        if let Err(error) = self.follow(cx) {
            self.stop(&error);
        }
        self.next_blow = self.falls(cx).get(self.shown.len()).map(|next| next.time);
    }

    /// Has the struck objects voxelised at the level of the view; before a blow the first object, to be looked at.
    fn voxelise(&mut self, cx: &Context<'_>) {
        let struck = self.wanted(cx).filter(|strike| strike.whole.is_some()).map(|strike| strike.object);
        let mut needed: BTreeSet<usize> = struck.collect();
        if self.last.is_none() {
            needed.extend(cx.stage.bodies().first().map(|body| cx.stage.info_or_whole(body.id).object));
        }
        let Some(levels) = &mut self.levels else { return };
        let was_busy = levels.is_busy();
        let has_changed = levels.update(cx.objects, &needed, self.stage.compute());
        if has_changed {
            // The view begins again with the new octrees.
            (self.begun, self.mirrored) = (None, None);
        }
        self.revision += u64::from(has_changed || was_busy != levels.is_busy());
    }

    fn follow(&mut self, cx: &Context<'_>) -> Result<(), GpuError> {
        let (fits, falls) = (self.fits(cx), self.falls(cx));
        // The view switches to the first blow only when its pieces are ready, so that the whole body does not flash up.
        let is_ready = falls.first().is_none_or(|first| self.outcome(first).is_some());
        if !fits && is_ready {
            self.restart(cx)?;
        }
        if fits || is_ready {
            while let Some(next) = falls.get(self.shown.len()).filter(|next| self.is_due(next, cx)) {
                let Some(outcome) = self.outcome(next) else { break };
                if let Some(broken) = outcome.broken().map(Arc::clone) {
                    self.break_up(next, &broken)?;
                }
                self.shown.push(next.clone());
                self.revision += 1;
            }
            self.take_in_newcomers(cx)?;
        }
        let all = self.shown.len() == falls.len() && (fits || is_ready);
        let is_voxelising = self.levels.as_ref().is_some_and(Levels::is_busy);
        self.is_behind = !all || is_voxelising || (self.begun.is_some() && self.lags(cx.stage.time()));
        Ok(())
    }

    /// Whether the document's state can be reached from this view's state by more steps and blows.
    fn fits(&self, cx: &Context<'_>) -> bool {
        let (Some(begun), Some(first)) = (&self.begun, cx.fallen.first()) else {
            return self.begun.is_none()
                && cx.fallen.is_empty()
                && self.mirrored == Some(cx.stage.revision());
        };
        let (half, falls) = (0.5 * cx.stage.settings().dt, self.falls(cx));
        let came_in_time = |next: &Strike| next.time >= self.at - half;
        begun.is(first)
            && self.shown.len() <= falls.len()
            && self.shown.iter().zip(falls).all(|(a, b)| a.is(b))
            && falls.get(self.shown.len()).is_none_or(came_in_time)
            && self.at <= cx.stage.time() + half
    }

    fn is_due(&self, next: &Strike, cx: &Context<'_>) -> bool {
        next.time <= self.at + 0.5 * cx.stage.settings().dt
    }

    fn lags(&self, time: f64) -> bool {
        self.at < time - 0.5 * self.stage.settings().dt
    }

    /// Mirrors the document's stage again, but with broken objects whole, as they were when the first blow fell.
    fn restart(&mut self, cx: &Context<'_>) -> Result<(), GpuError> {
        let mut whole: Vec<(usize, BodyDef)> =
            cx.fallen.iter().filter_map(|strike| Some((strike.object, strike.whole.clone()?))).collect();
        self.bring_to_level(&mut whole, cx);
        self.stage.stand_as(cx.stage, &whole);
        self.shown.clear();
        self.begun = cx.fallen.first().cloned();
        self.at = self.begun.as_ref().map_or(cx.stage.time(), |first| first.time);
        self.mirrored = self.begun.is_none().then(|| cx.stage.revision());
        let drawn = self.stage.bodies().iter().flat_map(|body| drawn_shapes(&body.def));
        let shapes: Vec<Arc<Shape>> = drawn.cloned().collect();
        self.take_in(&shapes)?;
        self.revision += 1;
        Ok(())
    }

    /// Gives the objects that are at the view's level their octrees of it: these `whole` ones, and those that no blow
    /// broke.
    fn bring_to_level(&self, whole: &mut Vec<(usize, BodyDef)>, cx: &Context<'_>) {
        let Some(levels) = &self.levels else { return };
        for body in cx.stage.bodies() {
            let info = cx.stage.info_or_whole(body.id);
            let is_listed = whole.iter().any(|(object, _)| *object == info.object);
            if info.is_intact() && levels.has(info.object) && !is_listed {
                whole.push((info.object, BodyDef { state: body.state, ..body.def.clone() }));
            }
        }
        for (object, def) in whole {
            if let Some(Ok(at_level)) = levels.body(*object, def) {
                *def = at_level;
            }
        }
    }

    /// Uploads the shapes' octrees, and frees those without owners.
    fn take_in<'a>(&self, shapes: impl IntoIterator<Item = &'a Arc<Shape>>) -> Result<(), GpuError> {
        let mut arena = self.stage.arena().write().unwrap_or_else(PoisonError::into_inner);
        for octree in shapes.into_iter().filter_map(|shape| shape.as_octree()) {
            self.stage.take_in(&mut arena, &octree.forest, || false)?;
        }
        arena.collect();
        Ok(())
    }

    /// The body of this view that a blow strikes: of its object, the one that contains the point or is nearest to it.
    fn struck(&self, strike: &Strike) -> Option<&Body> {
        let of_object = |body: &&Body| self.stage.info_or_whole(body.id).object == strike.object;
        let distance = |body: &Body| {
            let shape = &body.def.shape;
            shape.distance(strike.point_on(shape)) * shape.unit_m()
        };
        let bodies = self.stage.bodies().iter().filter(of_object);
        let nearest = bodies.map(|body| (distance(body), body)).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map(|(_, body)| body)
    }

    fn break_up(&mut self, strike: &Strike, broken: &Break) -> Result<(), GpuError> {
        let Some(body) = self.struck(strike).cloned() else { return Ok(()) };
        self.take_in(broken.parts.iter().map(|part| &part.shape))?;
        let blow = strike.blow_on(&BodyDef { state: body.state, ..body.def.clone() });
        if let Some(outcome) = self.outcome_mut(strike) {
            outcome.fell_on(body.state);
        }
        let parts = part_bodies(&body, &blow, strike.first_radius(), broken);
        // Its pieces show what those of the document's break do.
        self.stage.break_up(body.id, parts, strike.record().unwrap_or_default());
        Ok(())
    }

    /// Adds bodies thrown since.
    fn take_in_newcomers(&mut self, cx: &Context<'_>) -> Result<(), GpuError> {
        if self.begun.is_none() || self.lags(cx.stage.time()) {
            return Ok(());
        }
        let info = |body: &Body| cx.stage.info_or_whole(body.id);
        let is_new = |body: &&Body| info(body).is_intact() && self.stage.body_of(info(body).object).is_none();
        let new: Vec<Body> = cx.stage.bodies().iter().filter(is_new).cloned().collect();
        for body in new {
            self.take_in([&body.def.shape])?;
            self.stage.add(BodyDef { state: body.state, ..body.def.clone() }, info(&body).object, 0);
        }
        Ok(())
    }

    /// The next blow to compute, and the body that it strikes, or why there is none. `None` while that is not there
    /// yet.
    fn next_to_break(&self, cx: &Context<'_>) -> Option<(Strike, Result<BodyDef, String>)> {
        let number = self.wanted(cx).position(|strike| self.outcome(strike).is_none())?;
        let strike = self.wanted(cx).nth(number)?;
        if let Some(whole) = &strike.whole {
            let body = match &self.levels {
                Some(levels) => levels.body(strike.object, whole)?,
                None => Ok(whole.clone()),
            };
            return Some((strike.clone(), body));
        }
        // The piece exists once all earlier blows have fallen in this view.
        let is_there = self.begun.is_some() && self.shown.len() == self.falls(cx).len().min(number);
        let def = |body: &Body| BodyDef { state: body.state, ..body.def.clone() };
        let struck = || self.struck(strike).map(def).ok_or_else(|| "the blow hits nothing here".to_owned());
        is_there.then(|| (strike.clone(), self.refused_before(strike, cx).map_or_else(struck, Err)))
    }

    /// Why an earlier blow failed to break this object, in which case this blow has no piece to break.
    fn refused_before(&self, strike: &Strike, cx: &Context<'_>) -> Option<String> {
        let earlier = self.falls(cx).iter().filter(|one| one.object == strike.object && !one.is(strike));
        earlier.filter_map(|one| self.outcome(one)?.refusal().cloned()).next()
    }

    /// Starts computing the next fracture, if there is one; returns whether it did.
    pub fn start_next(&mut self, cx: &Context<'_>) -> bool {
        if self.stopped.is_some() || self.job.is_some() {
            return false;
        }
        let Some((strike, def)) = self.next_to_break(cx) else { return false };
        if !strike.has_fallen() && !cx.is_settled {
            return false;
        }
        let def = match def {
            Ok(def) => def,
            Err(why) => {
                self.keep(Outcome::new(strike, Err(why), 0.0, None));
                return true;
            }
        };
        if let Err(error) = self.take_in([&def.shape]) {
            self.stop(&error);
            return false;
        }
        let waiting = strike.waiting(&self.way, &def);
        let seeds = match (&self.way, &strike.whole) {
            (Way::Level(_), Some(whole)) => Seeds::Same(Box::new(whole.clone())),
            (_, whole) => Seeds::of(whole.is_some()),
        };
        let job = BreakJob::start(self.stage.arena(), cx.passes, (&def, &def.state, seeds), waiting);
        self.job = Some(Breaking { strike, def, job });
        self.revision += 1;
        true
    }

    fn take_result(&mut self, cx: &Context<'_>) {
        let wanted: Vec<&Strike> = self.wanted(cx).collect();
        let way = &self.way;
        let is_wanted = |strike: &Strike| wanted.iter().any(|wanted| wanted.is_by(strike, way));
        self.outcomes.retain(|outcome| is_wanted(&outcome.strike));
        if self.job.as_ref().is_some_and(|breaking| !is_wanted(&breaking.strike)) {
            self.job = None;
        }
        let polled = self.job.as_ref().and_then(|breaking| breaking.job.poll());
        let Some((result, Breaking { strike, def, .. })) =
            polled.and_then(|result| Some((result, self.job.take()?)))
        else {
            return;
        };
        let volume = def.shape.mass().volume_m3;
        let (came, before_m3) = match result {
            // The window is about to recover on another device, with new views.
            Err(error) if error.is_loss() => return,
            Err(error) => (Err(error.to_string()), volume),
            Ok(TimedBreak { broken, .. }) if broken.stayed_whole() => {
                (Err(SandboxError::NoCrack.to_string()), volume)
            }
            Ok(TimedBreak { broken, seconds, .. }) => {
                let before = broken.before_m3.unwrap_or(volume);
                (Ok((Arc::new(broken), seconds)), before)
            }
        };
        self.keep(Outcome::new(strike, came, before_m3, Some(def)));
    }

    fn keep(&mut self, outcome: Outcome) {
        let drawn = outcome.broken().filter(|_| !outcome.strike.has_fallen()).map(Arc::clone);
        self.outcomes.push(outcome);
        self.revision += 1;
        // Pieces of the pinned blow are drawn although they are not bodies.
        if let Some(Err(error)) =
            drawn.map(|broken| self.take_in(broken.parts.iter().map(|part| &part.shape)))
        {
            self.stop(&error);
        }
    }

    /// Counts the meshes of the pieces in the caption, and compares the crack voxels of the last blow with the
    /// document's; new work only starts if it `may_start`. Returns whether there is news.
    pub fn count(&mut self, cx: &Context<'_>, may_start: bool) -> bool {
        let Some(last) = self.last.clone() else { return false };
        // The last blow of the document is not the last one before it.
        let is_compared = last.has_fallen() && self.way != Way::Before;
        let Some(outcome) = self.outcome_mut(&last) else { return false };
        let is_counted = outcome.count(may_start);
        (is_compared && outcome.compare(cx.own.as_ref(), may_start)) || is_counted
    }

    /// Draws the inside of the last break by the drawings that are chosen for the document's. A worker for it only
    /// starts if it `may_start`. Returns whether the drawing has changed.
    pub fn look(&mut self, cx: &Context<'_>, may_start: bool) -> bool {
        let Some(last) = self.last.clone() else { return false };
        let pinned = if last.has_fallen() { None } else { self.struck(&last).map(|body| body.state) };
        let view = (&cx.tuning.view.inside, cx.tuning.field_level);
        self.outcome_mut(&last).is_some_and(|outcome| outcome.look(cx.passes, pinned, view, may_start))
    }

    /// The drawing of the inside of the last break.
    pub fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.outcome(self.last.as_ref()?)?.overlay()
    }

    /// How the crack voxels of the last blow, which has fallen, differ from the document's.
    pub fn differing(&self) -> Option<&Arc<Differing>> {
        self.outcome(self.last.as_ref()?)?.differing()
    }

    /// Its caption: the result of the last blow, or of the pinned one.
    pub fn state(&self) -> ColumnState {
        if let Some(why) = &self.stopped {
            return ColumnState::Refused(why.clone());
        }
        if let Some(outcome) = self.last.as_ref().and_then(|last| self.outcome(last)) {
            return outcome.state();
        }
        let levels = self.levels.as_ref();
        match (levels.filter(|levels| levels.is_busy()), levels.and_then(Levels::problem)) {
            (Some(busy), _) => ColumnState::Voxelising(busy.level()),
            (None, Some(why)) if self.last.is_none() => ColumnState::Refused(why.clone()),
            _ if self.last.is_none() => ColumnState::Whole,
            _ => ColumnState::Breaking,
        }
    }

    /// Takes a simulation step, after one of the document, whose time is now `time` (s).
    pub fn step(&mut self, time: f64) {
        if self.begun.is_none() || self.is_behind || self.stopped.is_some() {
            return;
        }
        self.move_on();
        self.at = time;
    }

    /// Takes steps until it has caught up with the document at `time` (s), or until `deadline`.
    pub fn catch_up(&mut self, time: f64, deadline: Instant) {
        let (half, next_blow) = (0.5 * self.stage.settings().dt, self.next_blow);
        while self.stopped.is_none() && self.begun.is_some() && self.lags(time) {
            if next_blow.is_some_and(|blow| blow <= self.at + half) || Instant::now() >= deadline {
                return;
            }
            if self.stage.has_motion() {
                self.move_on();
                self.at += self.stage.settings().dt;
            } else {
                self.at = next_blow.map_or(time, |blow| blow.min(time));
            }
        }
        let is_voxelising = self.levels.as_ref().is_some_and(Levels::is_busy);
        self.is_behind &= self.lags(time) || next_blow.is_some() || is_voxelising;
    }

    fn move_on(&mut self) {
        if self.stage.has_motion()
            && let Err(error) = self.stage.step()
        {
            self.stop(&error);
        }
    }

    /// Whether a step would change anything in this view.
    pub fn has_motion(&self) -> bool {
        self.begun.is_some() && self.stopped.is_none() && self.stage.has_motion()
    }

    fn stop(&mut self, error: &GpuError) {
        // After a device loss the window creates new views.
        (self.stopped, self.job, self.is_behind) = (Some(error.to_string()), None, false);
        self.levels = None;
        self.revision += 1;
    }

    /// Bodies for the renderer; if the blow is pinned, its pieces replace the body that it aims at.
    pub fn render_bodies(&self, look: &Appearance, pinned: Option<&Strike>) -> Vec<RenderBody> {
        let mut bodies = self.stage.render_bodies(look, None);
        if let Some(colors) = look.colors.as_ref().map(|colors| colors.on(&self.stage)) {
            let shown = self.stage.bodies().iter().flat_map(|body| drawn_shapes(&body.def).map(|_| body.id));
            bodies.iter_mut().zip(shown).for_each(|(drawn, id)| drawn.color = Some(colors.of(id)));
        }
        if let Some((struck, parts)) = self.pinned_pieces(look.explode, &bodies, pinned) {
            if let Some(at) = self.stage.shown_index(struck) {
                bodies.remove(at);
            }
            bodies.extend(parts);
        }
        bodies
    }

    /// The body that the pinned blow has broken here, and its pieces where they are drawn; `drawn` are the bodies as they
    /// are drawn without that blow.
    pub fn pinned_pieces(
        &self,
        explode: f64,
        drawn: &[RenderBody],
        pinned: Option<&Strike>,
    ) -> Option<(BodyId, Vec<RenderBody>)> {
        let strike = pinned?;
        let (broken, body) = (self.outcome(strike)?.broken()?, self.struck(strike)?);
        let whole = drawn.get(self.stage.shown_index(body.id)?)?;
        let states: Vec<BodyState> =
            broken.parts.iter().map(|part| part_state(&body.state, &body.def.shape, &part.shape)).collect();
        let lowest = states.iter().map(|state| state.position.y).fold(f64::INFINITY, f64::min);
        let foot = glam::DVec3::new(body.state.position.x, lowest, body.state.position.z);
        let moved = whole.world_from_local * world_from_local_matrix(&body.state, &body.def.shape).inverse();
        let inside =
            broken.params.interior.volume(body.def.shape.look().surface_color.unwrap_or(crate::shape::CLAY));
        let whole = whole.clone().opened(inside);
        let parts =
            broken.parts.iter().zip(states).zip(self.stage.next_color()..).map(|((part, state), id)| {
                let apart = (state.position - foot) * explode.max(APART);
                let placed = glam::Mat4::from_translation(apart.as_vec3()) * moved;
                RenderBody {
                    shape: Arc::clone(&part.shape),
                    world_from_local: placed * world_from_local_matrix(&state, &part.shape),
                    id,
                    ..whole.clone()
                }
            });
        Some((body.id, parts.collect()))
    }

    /// Takes new settings over, and wakes all bodies if they affect motion.
    pub fn go_by(&mut self, there: &Stage, touches: &[Touch], moved: bool) {
        self.stage.look_for_contacts(there.settings().narrow);
        self.stage.go_by(there.settings().clone(), touches);
        self.stage.set_eye(there.eye());
        if moved && self.begun.is_some() {
            self.stage.wake_all();
        }
    }
}
