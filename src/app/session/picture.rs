//! The picture in the middle: redrawn on change, coarse during motion, refined at rest.

use std::time::{Duration, Instant};

use super::{Division, Session, fine_picture::FinePicture};
use crate::{
    app::resolution::{Pace, REFINEMENTS, Resolution},
    gpu::Gpu,
    render::{Camera, FrameInput, RenderOptions, View},
    scene::{Sandbox, ViewTuning},
};

/// Time without motion after which the picture is refined.
const STILL_AFTER: Duration = Duration::from_millis(220);

/// The last picture, and the state of its refinement.
pub(super) struct Picture {
    view: Option<View>,
    drawn: Option<Drawn>,
    /// Number of rays across and down.
    size: [u32; 2],
    /// Pictures accumulated since the last motion.
    refined: u32,
    moved_at: Instant,
    resolution: Resolution,
    /// The full-quality picture in progress, and what it shows.
    sharpening: Option<(Drawn, FinePicture)>,
}

/// Everything that the last picture depended on.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Drawn {
    revision: u64,
    camera: Camera,
    full: [u32; 2],
    selected: Option<crate::bodies::BodyId>,
    preview: u64,
    inside: u64,
    beside: u64,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            view: None,
            drawn: None,
            size: [0, 0],
            refined: 0,
            moved_at: Instant::now(),
            resolution: Resolution::default(),
            sharpening: None,
        }
    }
}

impl Picture {
    /// The last picture.
    pub fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// Number of rays across and down.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Pictures accumulated since the last motion.
    pub fn refined(&self) -> u32 {
        self.refined
    }

    /// Size of its rectangle in the window, pixels; `None` before the first picture.
    pub fn place(&self) -> Option<[u32; 2]> {
        self.drawn.as_ref().map(|drawn| drawn.full)
    }

    /// Whether a full-quality picture is in progress.
    pub fn is_sharpening(&self) -> bool {
        self.sharpening.is_some()
    }

    /// Simulates a slow picture.
    #[cfg(test)]
    pub fn slow_down(&mut self, size: [u32; 2], ms: f64) {
        (0..40).for_each(|_| self.resolution.measured(size, ms));
    }

    /// Drops the picture, because the device was replaced.
    pub fn forget(&mut self) {
        (self.drawn, self.view, self.sharpening) = (None, None, None);
    }
}

/// Whether a simulation step could change anything that is shown.
fn moves(sandbox: &Sandbox) -> bool {
    sandbox.has_motion() || sandbox.has_motion_beside()
}

impl Session {
    /// The last picture.
    pub fn view(&self) -> Option<&View> {
        self.picture.view()
    }

    /// Number of rays of the last picture across and down.
    pub fn picture_size(&self) -> [u32; 2] {
        self.picture.size()
    }

    /// Pictures accumulated since the last motion.
    pub fn refined(&self) -> u32 {
        self.picture.refined()
    }

    /// Whether the next frame must be drawn without waiting for input.
    pub fn wants_frames(&self) -> bool {
        let moving = self.playing() && self.sandbox.as_ref().is_some_and(moves);
        let refining = self.sandbox.as_ref().is_some_and(Sandbox::is_refining_preview);
        moving || self.replaying() || (self.picture.refined < REFINEMENTS && !refining)
    }

    /// Draws the picture for a viewport of `full` pixels if anything changed, and the comparison views, which are of
    /// the same size and laid out in `division`. Returns `true` if there are new pictures. They are textures of the
    /// window's device if it has one.
    pub fn draw(&mut self, gpu: Option<&Gpu>, full: [u32; 2], division: Division) -> bool {
        self.aspect = full[0].max(1) as f32 / full[1].max(1) as f32;
        self.step_back(division[0] * division[1]);
        let aiming = Instant::now();
        self.update_aim();
        self.times.parts.aim_ms = aiming.elapsed().as_secs_f64() * 1e3;
        self.times.begin();
        let (playing, replaying) = (self.playing(), self.replaying());
        let view = self.sandbox.as_ref().map_or_else(ViewTuning::default, |s| s.tuning().view);
        let recomputed = self.sandbox.as_ref().map_or(0, |s| s.preview().recomputed);
        let (tuned, mut target_fps) = self.times.wanted_fps(recomputed, view.target_fps);
        let (Some(sandbox), Some(renderer)) = (&self.sandbox, &mut self.renderer) else {
            return false;
        };
        // A selection is highlighted alone, since a highlighted hover would look like a selection.
        let hovers = sandbox.bodies().len() > 1 && sandbox.selected().next().is_none();
        let selected = if hovers { self.aiming.picked() } else { None };
        let preview = sandbox.preview().revision;
        let (revision, inside) = (sandbox.revision(), sandbox.looking_revision());
        let beside = sandbox.beside_revision();
        let now = Drawn { revision, camera: self.camera, full, selected, preview, inside, beside };
        // A fracture and the picture share one queue: on a software adapter every picture drawn meanwhile
        // delays each of the fracture's readbacks (a break of 0.15 s took 3 s), so only a moving camera is
        // served.
        let looks_the_same =
            self.picture.drawn.as_ref().is_some_and(|d| d.camera == now.camera && d.full == now.full);
        if (sandbox.is_breaking() || sandbox.is_breaking_beside()) && looks_the_same {
            return false;
        }
        let moved = self.picture.drawn != Some(now);
        let moving = (playing && moves(sandbox)) || replaying;
        if moving && !replaying {
            let dt = sandbox.settings().dt / self.playing.speed();
            target_fps = target_fps.max(self.times.fps_beside_steps(dt, view.target_fps));
        }
        if moved || moving {
            (self.picture.moved_at, self.picture.sharpening) = (Instant::now(), None);
        }
        if sandbox.is_refining_preview() && !moved && !moving {
            return false;
        }
        let still = !moved && !moving && self.picture.moved_at.elapsed() > STILL_AFTER;
        if !moved && self.picture.refined >= REFINEMENTS {
            // A texture of the window's device already has the full size.
            return still && gpu.is_none() && self.sharpen(now, view.sharpness);
        }
        if !moved && !still {
            return false;
        }
        let pace = match (still, tuned) {
            (true, _) => Pace::Still,
            (false, true) => Pace::Tuned,
            (false, false) => Pace::Moving,
        };
        // The resolution is chosen for all views together.
        let [across, down] = division.map(|n| n.max(1));
        let whole = [full[0] * across, full[1] * down];
        let whole = self.picture.resolution.choose(whole, target_fps, view.sharpness, pace);
        let size = [(whole[0] / across).max(1), (whole[1] / down).max(1)];
        if moved || size != self.picture.size {
            (self.picture.refined, self.picture.sharpening) = (0, None);
        }
        let arena = sandbox.arena().read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut bodies = sandbox.shown_bodies(selected);
        if view.inside.only && sandbox.inside_overlay().is_some() {
            bodies.clear();
        }
        let floor = sandbox.settings().floor.filter(|_| view.floor).map(|y| y as f32);
        let options = RenderOptions {
            color_by: view.color_by,
            floor,
            accumulated: self.picture.refined,
            ..RenderOptions::default()
        };
        let seams = sandbox.body_seams();
        let (camera, overlay) = (self.camera, sandbox.inside_overlay());
        let of_columns = options.clone();
        let input = FrameInput { arena: &arena, bodies: &bodies, camera, options, size, seams, overlay };
        let start = Instant::now();
        let drawn = renderer.draw(&input).and_then(|()| renderer.view(gpu));
        drop(arena);
        let drawn = drawn.and_then(|picture| {
            self.draw_beside(gpu, size, &of_columns)?;
            Ok(picture)
        });
        match drawn {
            Ok(picture) => {
                let ms = self.time_of_pictures(start);
                self.picture.resolution.measured(whole, ms);
                self.times.picture_took(ms);
                (self.picture.size, self.picture.drawn, self.picture.view) = (size, Some(now), picture);
                self.picture.refined += 1;
                // Started at once, since no further frame is requested.
                if self.picture.refined >= REFINEMENTS && gpu.is_none() {
                    self.sharpen(now, view.sharpness);
                }
                self.count_bodies();
                true
            }
            Err(error) => {
                self.picture.refined = REFINEMENTS;
                self.picture.drawn = Some(now);
                self.tell_of(error);
                false
            }
        }
    }

    /// At rest with all refinements done, but at fewer pixels than the window has, since more would take too long: a
    /// worker draws the full size. Returns `true` when its pictures have arrived.
    fn sharpen(&mut self, now: Drawn, sharpness: f64) -> bool {
        let wanted = now.full.map(|side| ((f64::from(side) * sharpness.clamp(0.1, 1.0)) as u32).max(1));
        match &self.picture.sharpening {
            Some((of, fine)) if *of == now => {
                let Some(drawn) = fine.poll() else { return false };
                self.picture.sharpening = None;
                // A picture that could not be drawn is not tried again.
                self.picture.size = wanted;
                let mut views =
                    drawn.into_iter().flatten().map(|pixels| View::Pixels(std::sync::Arc::new(pixels)));
                let Some(own) = views.next() else { return false };
                self.picture.view = Some(own);
                self.columns.show(views);
                true
            }
            _ => {
                let Picture { size, .. } = self.picture;
                if size[0] < wanted[0] && size[1] < wanted[1] {
                    let subject = self.subject(now.selected);
                    let all = subject.map(|own| std::iter::once(own).chain(self.subjects_beside()).collect());
                    self.picture.sharpening = all.map(|all| (now, FinePicture::start(all, wanted)));
                }
                false
            }
        }
    }

    /// A software adapter runs on this machine's processor: waiting for it measures it and keeps its queue short.
    fn time_of_pictures(&self, start: Instant) -> f64 {
        if let Some(compute) = self.sandbox.as_ref().map(Sandbox::compute).filter(|c| c.is_software()) {
            // A failed wait shows up as a lost device in the next frame.
            let _ = compute.wait();
            return start.elapsed().as_secs_f64() * 1000.0;
        }
        let timed: f64 = self.renderer.as_ref().map_or(0.0, |r| r.timings().iter().map(|t| t.ms).sum());
        // The renderer times one view; all views take about as long.
        let timed = timed * (1 + self.views_beside().count()) as f64;
        if timed > 0.0 { timed } else { start.elapsed().as_secs_f64() * 1000.0 }
    }
}
