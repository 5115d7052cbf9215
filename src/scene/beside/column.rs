//! One comparison view: the document's bodies, broken by another method.
//!
//! In: the document's stage and its blows. Out: bodies that move as the document's do. Until a blow has fallen, the
//! view mirrors the document's stage. The fracture of a blow is computed first, and the view changes only when it is
//! ready: until then the previous state stays on display.

use std::{
    sync::{Arc, PoisonError},
    time::Instant,
};

use super::{
    Broken, ColumnState, Context, PieceTrees, Way,
    counting::Counting,
    differing::{Comparing, Differing},
    strike::Strike,
};
use crate::{
    bodies::{Body, BodyDef, BodyState},
    compute::Compute,
    fracture::Break,
    gpu::GpuError,
    render::RenderBody,
    scene::{
        SandboxError,
        breaking::{BreakJob, TimedBreak, part_bodies, part_state, world_from_local_matrix},
        stage::{Appearance, Stage, Touch, drawn_shapes},
    },
    shape::Shape,
};

/// Least explode distance for the pieces of a pinned blow; closer, they would look like the whole body.
const APART: f64 = 0.12;

/// Result of a blow with this view's method.
struct Outcome {
    strike: Strike,
    /// The break and its time, s, or why there is none.
    came: Result<(Arc<Break>, f64), String>,
    /// Volume of the broken body as the method measures it, m^3.
    before_m3: f64,
    counting: Counting,
    comparing: Comparing,
}

/// A comparison view.
pub(in crate::scene) struct Column {
    way: Way,
    stage: Stage,
    /// The document's revision that this view mirrors, while no blow has fallen in either.
    mirrored: Option<u64>,
    /// The first blow shown, and all blows shown.
    begun: Option<Strike>,
    shown: Vec<Strike>,
    /// Simulated time of this view, s.
    at: f64,
    outcomes: Vec<Outcome>,
    job: Option<(Strike, f64, BreakJob)>,
    /// The error that ended this view.
    stopped: Option<String>,
    /// Whether it has not caught up with the document.
    is_behind: bool,
    revision: u64,
}

impl Column {
    /// A view with no bodies yet.
    pub fn new(way: Way, compute: &Compute) -> Result<Self, GpuError> {
        Ok(Self {
            way,
            stage: Stage::new(compute)?,
            mirrored: None,
            begun: None,
            shown: Vec::new(),
            at: 0.0,
            outcomes: Vec::new(),
            job: None,
            stopped: None,
            is_behind: false,
            revision: 0,
        })
    }

    /// Its method and crack surface.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Its bodies.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Changes whenever its picture may have changed.
    pub fn revision(&self) -> u64 {
        self.revision + self.stage.revision()
    }

    /// Whether a fracture is being computed for it.
    pub fn is_computing(&self) -> bool {
        self.job.is_some()
    }

    /// Whether it is counting meshes.
    pub fn is_counting(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.counting.is_busy())
    }

    /// Whether the document's time must wait for it.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    fn outcome(&self, strike: &Strike) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.strike.is(strike))
    }

    /// Follows the document without waiting.
    pub fn update(&mut self, cx: &Context<'_>) {
        if self.stopped.is_some() {
            return;
        }
        self.take_result(cx);
        if let Err(error) = self.follow(cx) {
            self.stop(&error);
        }
    }

    fn follow(&mut self, cx: &Context<'_>) -> Result<(), GpuError> {
        let fits = self.fits(cx);
        // The view switches to the first blow only when its pieces are ready, so that the whole body does not flash up.
        let is_ready = cx.fallen.first().is_none_or(|first| self.outcome(first).is_some());
        if !fits && is_ready {
            self.restart(cx)?;
        }
        if fits || is_ready {
            while let Some(next) = cx.fallen.get(self.shown.len()).filter(|next| self.is_due(next, cx)) {
                let Some(outcome) = self.outcome(next) else { break };
                let broken = outcome.came.as_ref().ok().map(|(broken, _)| Arc::clone(broken));
                if let Some(broken) = broken {
                    self.break_up(next, &broken)?;
                }
                self.shown.push(next.clone());
                self.revision += 1;
            }
            self.take_in_newcomers(cx)?;
        }
        let all = self.shown.len() == cx.fallen.len() && (fits || is_ready);
        self.is_behind = !all || (self.begun.is_some() && self.lags(cx.stage.time()));
        Ok(())
    }

    /// Whether the document's state can be reached from this view's state by more steps and blows.
    fn fits(&self, cx: &Context<'_>) -> bool {
        let (Some(begun), Some(first)) = (&self.begun, cx.fallen.first()) else {
            return self.begun.is_none()
                && cx.fallen.is_empty()
                && self.mirrored == Some(cx.stage.revision());
        };
        let half = 0.5 * cx.stage.settings().dt;
        let came_in_time = |next: &Strike| next.time >= self.at - half;
        begun.is(first)
            && self.shown.len() <= cx.fallen.len()
            && self.shown.iter().zip(&cx.fallen).all(|(a, b)| a.is(b))
            && cx.fallen.get(self.shown.len()).is_none_or(came_in_time)
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
        let whole: Vec<(usize, BodyDef)> =
            cx.fallen.iter().filter_map(|strike| Some((strike.object, strike.whole.clone()?))).collect();
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
        let parts = part_bodies(&body, &blow, strike.first_radius(), broken);
        self.stage.break_up(body.id, parts, 0);
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

    /// The next blow to compute, and the body that it strikes, if there is one.
    fn next_to_break(&self, cx: &Context<'_>) -> Option<(Strike, Option<BodyDef>)> {
        let number = cx.wanted().position(|strike| self.outcome(strike).is_none())?;
        let strike = cx.wanted().nth(number)?;
        if strike.whole.is_some() {
            return Some((strike.clone(), strike.whole.clone()));
        }
        // The piece exists once all earlier blows have fallen in this view.
        let is_there = self.begun.is_some() && self.shown.len() == cx.fallen.len().min(number);
        let def = |body: &Body| BodyDef { state: body.state, ..body.def.clone() };
        is_there.then(|| (strike.clone(), self.struck(strike).map(def)))
    }

    /// Why an earlier blow failed to break this object, in which case this blow has no piece to break.
    fn refused_before(&self, strike: &Strike, cx: &Context<'_>) -> Option<String> {
        let earlier = cx.fallen.iter().filter(|one| one.object == strike.object && !one.is(strike));
        earlier.filter_map(|one| self.outcome(one)?.came.as_ref().err().cloned()).next()
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
        let refused = self.refused_before(&strike, cx).filter(|_| strike.whole.is_none());
        let def = match (refused, def) {
            (None, Some(def)) => def,
            (why, _) => {
                let why = why.unwrap_or_else(|| "the blow hits nothing here".into());
                self.keep(strike, Err(why), 0.0);
                return true;
            }
        };
        if let Err(error) = self.take_in([&def.shape]) {
            self.stop(&error);
            return false;
        }
        let waiting = strike.waiting(self.way, &def);
        let struck = (&def, &def.state, strike.whole.is_some());
        let job = BreakJob::start(self.stage.arena(), cx.passes, struck, waiting);
        self.job = Some((strike, def.shape.mass().volume_m3, job));
        self.revision += 1;
        true
    }

    fn take_result(&mut self, cx: &Context<'_>) {
        self.outcomes.retain(|outcome| cx.wanted().any(|strike| strike.is(&outcome.strike)));
        if self.job.as_ref().is_some_and(|(strike, ..)| !cx.wanted().any(|wanted| wanted.is(strike))) {
            self.job = None;
        }
        let polled = self.job.as_ref().and_then(|(.., job)| job.poll());
        let Some((result, (strike, volume, _))) = polled.and_then(|result| Some((result, self.job.take()?)))
        else {
            return;
        };
        match result {
            // The window is about to recover on another device, with new views.
            Err(error) if error.is_loss() => {}
            Err(error) => self.keep(strike, Err(error.to_string()), volume),
            Ok(TimedBreak { broken, .. }) if broken.stayed_whole() => {
                self.keep(strike, Err(SandboxError::NoCrack.to_string()), volume);
            }
            Ok(TimedBreak { broken, seconds, .. }) => {
                let before = broken.before_m3.unwrap_or(volume);
                self.keep(strike, Ok((Arc::new(broken), seconds)), before);
            }
        }
    }

    fn keep(&mut self, strike: Strike, came: Result<(Arc<Break>, f64), String>, before_m3: f64) {
        let drawn = came.as_ref().ok().filter(|_| !strike.has_fallen()).map(|(broken, _)| Arc::clone(broken));
        self.outcomes.push(Outcome {
            strike,
            came,
            before_m3,
            counting: Counting::default(),
            comparing: Comparing::default(),
        });
        self.revision += 1;
        // Pieces of the pinned blow are drawn although they are not bodies.
        if let Some(Err(error)) =
            drawn.map(|broken| self.take_in(broken.parts.iter().map(|part| &part.shape)))
        {
            self.stop(&error);
        }
    }

    /// Counts the meshes of the pieces in the caption; a new count only starts if it `may_start`. Returns whether there
    /// is news.
    pub fn count(&mut self, cx: &Context<'_>, may_start: bool) -> bool {
        let Some(last) = cx.wanted().last() else { return false };
        let Some(outcome) = self.outcomes.iter_mut().find(|outcome| outcome.strike.is(last)) else {
            return false;
        };
        if let (Ok((broken, _)), true) = (&outcome.came, may_start && outcome.counting.is_due()) {
            let shapes = broken.parts.iter().map(|part| Arc::clone(&part.shape)).collect();
            outcome.counting = Counting::start(shapes);
        }
        outcome.counting.poll()
    }

    /// Compares the crack voxels of the last blow with the document's; a new comparison only starts if it `may_start`. Returns
    /// whether there is news.
    pub fn compare(&mut self, cx: &Context<'_>, may_start: bool) -> bool {
        let Some(last) = cx.fallen.last().filter(|_| cx.pinned.is_none()) else { return false };
        let Some(outcome) = self.outcomes.iter_mut().find(|outcome| outcome.strike.is(last)) else {
            return false;
        };
        if let (Ok((broken, _)), Some(own), true) =
            (&outcome.came, &cx.own, may_start && outcome.comparing.is_due())
        {
            let octrees: Vec<_> = broken.parts.iter().filter_map(|part| part.shape.as_octree()).collect();
            let is_cut = broken.parts.iter().any(|part| part.shape.as_mesh().is_some());
            if let Some(first) = octrees.first().filter(|_| !is_cut) {
                let trees = octrees.iter().map(|octree| octree.tree).collect();
                let other = PieceTrees { forest: Arc::clone(&first.forest), trees };
                outcome.comparing = Comparing::start(own.clone(), other);
            }
        }
        outcome.comparing.poll()
    }

    /// Whether it is comparing voxels.
    pub fn is_comparing(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.comparing.is_busy())
    }

    /// How the crack voxels of a blow differ from the document's.
    pub fn differing(&self, strike: &Strike) -> Option<&Arc<Differing>> {
        self.outcome(strike)?.comparing.found()
    }

    /// Its caption: the result of the last blow, or of the pinned one.
    pub fn state(&self, last: Option<&Strike>) -> ColumnState {
        if let Some(why) = &self.stopped {
            return ColumnState::Refused(why.clone());
        }
        let Some(last) = last else { return ColumnState::Whole };
        match self.outcome(last) {
            None => ColumnState::Breaking,
            Some(Outcome { came: Err(why), .. }) => ColumnState::Refused(why.clone()),
            Some(Outcome { came: Ok((broken, seconds)), before_m3, counting, comparing, .. }) => {
                ColumnState::Broken(Broken {
                    seconds: *seconds,
                    pieces: broken.parts.len(),
                    volume_error: (broken.volume_m3() + broken.lost.dust_m3)
                        / before_m3.max(f64::MIN_POSITIVE)
                        - 1.0,
                    meshes: counting.tally(),
                    differing: comparing
                        .found()
                        .map(|found| [found.both, found.only_document.len(), found.only_other.len()]),
                    is_pinned: !last.has_fallen(),
                })
            }
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
    pub fn catch_up(&mut self, time: f64, next_blow: Option<f64>, deadline: Instant) {
        let half = 0.5 * self.stage.settings().dt;
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
        self.is_behind &= self.lags(time) || next_blow.is_some();
    }

    /// Number of blows shown.
    pub fn blows(&self) -> usize {
        self.shown.len()
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
        self.revision += 1;
    }

    /// Bodies for the renderer; if the blow is pinned, its pieces replace the body that it aims at.
    pub fn render_bodies(&self, look: &Appearance, pinned: Option<&Strike>) -> Vec<RenderBody> {
        let mut bodies = self.stage.render_bodies(look, None);
        if let Some(colors) = look.colors.as_ref().map(|colors| colors.on(&self.stage)) {
            let shown = self.stage.bodies().iter().flat_map(|body| drawn_shapes(&body.def).map(|_| body.id));
            bodies.iter_mut().zip(shown).for_each(|(drawn, id)| drawn.color = Some(colors.of(id)));
        }
        let Some((strike, broken)) = pinned.and_then(|strike| {
            let (broken, _) = self.outcome(strike)?.came.as_ref().ok()?;
            Some((strike, broken))
        }) else {
            return bodies;
        };
        let Some((at, body)) =
            self.struck(strike).and_then(|body| Some((self.stage.shown_index(body.id)?, body)))
        else {
            return bodies;
        };
        let whole = bodies.remove(at);
        let states: Vec<BodyState> =
            broken.parts.iter().map(|part| part_state(&body.state, &body.def.shape, &part.shape)).collect();
        let lowest = states.iter().map(|state| state.position.y).fold(f64::INFINITY, f64::min);
        let foot = glam::DVec3::new(body.state.position.x, lowest, body.state.position.z);
        let moved = whole.world_from_local * world_from_local_matrix(&body.state, &body.def.shape).inverse();
        let parts =
            broken.parts.iter().zip(states).zip(self.stage.next_color()..).map(|((part, state), id)| {
                let apart = (state.position - foot) * look.explode.max(APART);
                let placed = glam::Mat4::from_translation(apart.as_vec3()) * moved;
                RenderBody {
                    shape: Arc::clone(&part.shape),
                    world_from_local: placed * world_from_local_matrix(&state, &part.shape),
                    id,
                    ..whole.clone()
                }
            });
        bodies.extend(parts);
        bodies
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
