//! Simulated time in the window: real-time steps, slow motion, the recording; and the hand that drags or throws.

use std::time::{Duration, Instant};

use super::{Session, replay::Replay};
use crate::{
    app::clock::{Clock, Time},
    scene::Sandbox,
    ui::{Command, DragView, NoticeKind},
};

/// Longest time per frame for comparison views to catch up with the document.
const CATCH_UP: Duration = Duration::from_millis(30);

/// The clock, and the hand.
pub(super) struct Playing {
    clock: Clock,
    last_advance: Option<Instant>,
    /// Simulated seconds per real second over the last frames.
    pace: f64,
    /// Depth of the hand's point along the view direction, m.
    depth: Option<f32>,
    /// Playback of the recording.
    pub replay: Replay,
}

impl Default for Playing {
    fn default() -> Self {
        Self {
            clock: Clock::new(Time::Realtime),
            last_advance: None,
            pace: 1.0,
            depth: None,
            replay: Replay::default(),
        }
    }
}

impl Playing {
    /// Starts afresh for another scene, with no time to catch up.
    pub fn begin_anew(&mut self) {
        self.clock.forget();
        self.last_advance = None;
        self.replay.running = false;
    }

    /// Stops simulated time.
    pub fn pause(&mut self) {
        self.clock.time = Time::Paused;
        self.last_advance = None;
    }

    /// Stops simulated time and playback.
    pub fn stop(&mut self) {
        self.pause();
        self.replay.running = false;
    }

    /// Simulated seconds per real second that the user chose.
    pub fn speed(&self) -> f64 {
        self.clock.speed
    }

    /// Drops the real time that passed during a long computation.
    pub fn take_a_breath(&mut self) {
        self.last_advance = None;
    }
}

impl Session {
    /// Whether time runs.
    pub fn playing(&self) -> bool {
        self.playing.clock.time != Time::Paused
    }

    /// Simulated seconds per real second over the last frames.
    pub fn pace(&self) -> f64 {
        self.playing.pace
    }

    /// Simulated seconds per real second that the user chose.
    pub fn speed(&self) -> f64 {
        self.playing.speed()
    }

    /// Advances the simulation by the real time passed.
    pub fn advance(&mut self) {
        let passed =
            self.playing.last_advance.replace(Instant::now()).map_or(0.0, |t| t.elapsed().as_secs_f64());
        self.times.steps_took(0, 0.0);
        let eye = self.camera.eye().as_dvec3();
        let Some(sandbox) = self.sandbox.as_mut() else { return };
        sandbox.catch_up_beside(Instant::now() + CATCH_UP);
        if self.playing.replay.running {
            self.advance_replay(passed);
            return;
        }
        if !sandbox.has_motion() && !sandbox.has_motion_beside() {
            self.playing.clock.forget();
            return;
        }
        sandbox.set_eye(eye);
        // During a fracture time stops, so that the blow and its effect happen at the same moment; this holds for all
        // methods in comparison views.
        if sandbox.is_breaking() || sandbox.time_waits_for_beside() {
            return;
        }
        let dt = sandbox.settings().dt;
        let wanted = self.playing.clock.steps(passed, dt);
        let budget = self.times.step_budget();
        let (start, frozen, take) = (Instant::now(), sandbox.frozen(), sandbox.timeline().take());
        let mut done = 0;
        for _ in 0..wanted {
            let stepped = if sandbox.has_motion() { sandbox.step() } else { Ok(()) };
            if let Err(error) = stepped {
                if !error.is_loss() {
                    self.playing.clock.time = Time::Paused;
                }
                self.tell_of(error);
                break;
            }
            sandbox.step_beside();
            done += 1;
            // The bodies that broke in this step must be replaced before the next step.
            if sandbox.is_breaking() {
                self.playing.clock.forget();
                break;
            }
            if start.elapsed().as_secs_f64() > budget {
                self.playing.clock.forget();
                break;
            }
        }
        self.times.steps_took(done, start.elapsed().as_secs_f64() * 1e3);
        if passed > 0.0 && self.playing() {
            self.playing.pace +=
                0.15 * (f64::from(done) * dt / (passed * self.playing.clock.speed) - self.playing.pace);
        }
        self.tell_frozen(frozen);
        self.tell_take(take);
    }

    /// Shows a message if the simulation diverged from the take shown before.
    pub(super) fn tell_take(&mut self, before: u32) {
        let Some(sandbox) = &self.sandbox else { return };
        let timeline = sandbox.timeline();
        let is_kept = timeline.takes().iter().any(|take| take.number == before);
        if timeline.take() != before && is_kept {
            let text = format!(
                "What was recorded after this moment is kept as take {before} (Takes, below the picture)"
            );
            self.say(NoticeKind::Remark, text);
        }
    }

    /// Shows a message if bodies were frozen.
    fn tell_frozen(&mut self, before: usize) {
        let now = self.sandbox.as_ref().map_or(0, Sandbox::frozen);
        if now > before {
            let text = format!(
                "{now} bodies moved too far or got numbers that are not finite; they are frozen where they were"
            );
            self.say(NoticeKind::Remark, text);
        }
    }

    /// Executes a command of time or of the hand.
    pub(super) fn play(&mut self, command: &Command) {
        match command {
            Command::Play(play) => {
                let speed = self.playing.clock.speed;
                self.playing.clock = Clock::new(if *play { Time::Realtime } else { Time::Paused });
                self.playing.clock.speed = speed;
                self.playing.last_advance = None;
                self.playing.replay.running = false;
            }
            Command::Speed(speed) => self.playing.clock.speed = speed.clamp(0.001, 1.0),
            Command::Step => {
                self.playing.clock.time = Time::Paused;
                let waits = |s: &&mut Sandbox| s.is_breaking() || s.time_waits_for_beside();
                let Some(sandbox) = self.sandbox.as_mut().filter(|s| !waits(s)) else { return };
                let (frozen, take) = (sandbox.frozen(), sandbox.timeline().take());
                match sandbox.step() {
                    Ok(()) => sandbox.step_beside(),
                    Err(error) => self.tell_of(error),
                }
                self.tell_frozen(frozen);
                self.tell_take(take);
            }
            Command::ShowRecorded(frame) => {
                self.playing.clock.time = Time::Paused;
                self.playing.replay.running = false;
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.show_recorded(*frame);
                }
            }
            Command::Grab(at) => {
                if let Some((pick, _)) = self.pick_through(*at)
                    && let Some(sandbox) = &mut self.sandbox
                {
                    sandbox.grab(&pick);
                    let forward = self.camera.axes().forward;
                    let depth = (pick.point.as_vec3() - self.camera.eye()).dot(forward);
                    self.playing.depth = sandbox.held().map(|_| depth);
                }
            }
            Command::Drag([x, y]) => {
                let (origin, direction) = self.camera.ray(*x, *y, self.aspect);
                let along = direction.dot(self.camera.axes().forward).max(1e-3);
                if let (Some(depth), Some(sandbox)) = (self.playing.depth, &mut self.sandbox) {
                    sandbox.drag((origin + direction * (depth / along)).as_dvec3());
                }
            }
            Command::Release => {
                self.playing.depth = None;
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.release();
                }
            }
            Command::Throw([x, y]) => {
                let (origin, direction) = self.camera.ray(*x, *y, self.aspect);
                // Slightly below the camera, so that the throw is visible.
                let hand = origin + direction * 0.3 - self.camera.axes().up * 0.12;
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.throw(hand.as_dvec3(), direction.as_dvec3());
                }
            }
            _ => {}
        }
    }

    /// The grabbed point and the hand, as the panels draw them.
    pub fn drag_view(&self) -> Option<DragView> {
        let (point, target) = self.sandbox.as_ref()?.held()?;
        Some(DragView { point: point.as_vec3(), target: target.as_vec3() })
    }
}
