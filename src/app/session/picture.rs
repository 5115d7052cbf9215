//! The picture in the middle: redrawn on change, coarse during motion, refined at rest.
//!
//! The window's thread refines the picture if the full size leaves the thread free for the next click. Otherwise, where
//! the cores draw, a worker begins with the full size as soon as nothing moves ([`FinePicture`]), and the thread draws
//! nothing: smaller pictures would take the cores from the worker, and be replaced by its first one.
//!
//! Comparison pictures beside the document's: the same blow in other ways, from the same camera.
//!
//! In: the sandbox's comparison views. Out: one picture per view, each from its own renderer, so that each is refined
//! like the document's. Pictures of closed views are dropped.

use std::time::{Duration, Instant};

use super::{
    Session,
    fine_picture::{FinePicture, Subject},
};
use crate::{
    app::resolution::{Pace, REFINEMENTS, Resolution, full_size},
    export::Signature,
    facade::{stamp::explain, stills::as_in_files},
    gpu::{Gpu, GpuError},
    render::{Camera, FrameInput, Pixels, RenderOptions, Renderer, View},
    scene::{MOST_BESIDE, Sandbox, ViewTuning, Way},
    voxelize::Progress,
};

/// Time without motion after which the picture is refined: longer than between two events of a hand that moves.
const STILL_AFTER: Duration = Duration::from_millis(100);

/// The last picture, and the state of its refinement.
pub(super) struct Picture {
    view: Option<View>,
    drawn: Option<Drawn>,
    /// Number of rays across and down.
    size: [u32; 2],
    /// Passes accumulated in it, by the window's thread or a worker.
    refined: u32,
    /// Whether it is as fine as it gets.
    is_finest: bool,
    /// Whether the window's thread has begun to refine it, which the thread then finishes whatever its passes take.
    is_refined_here: bool,
    moved_at: Instant,
    resolution: Resolution,
    /// The worker that draws it at full size.
    worker: Option<FinePicture>,
}

/// Everything that the last picture depended on.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Drawn {
    revision: u64,
    camera: Camera,
    full: [u32; 2],
    sharpness: f64,
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
            is_finest: false,
            is_refined_here: false,
            moved_at: Instant::now(),
            resolution: Resolution::default(),
            worker: None,
        }
    }
}

impl Picture {
    /// Size of its rectangle in the window, pixels; `None` before the first picture.
    pub fn place(&self) -> Option<[u32; 2]> {
        self.drawn.as_ref().map(|drawn| drawn.full)
    }

    /// Whether a worker draws it at full size.
    pub fn is_sharpening(&self) -> bool {
        self.worker.is_some()
    }

    /// Simulates a slow picture.
    #[cfg(test)]
    pub fn slow_down(&mut self, size: [u32; 2], ms: f64) {
        (0..40).for_each(|_| self.resolution.measured(size, ms));
    }

    /// Replaces the worker.
    #[cfg(test)]
    pub fn draw_by(&mut self, worker: FinePicture) {
        self.worker = Some(worker);
    }

    /// Something moves: a worker's picture would be out of date. If the picture has changed, its refinement restarts.
    fn moves_on(&mut self, has_changed: bool) {
        (self.moved_at, self.worker) = (Instant::now(), None);
        if has_changed {
            (self.is_finest, self.is_refined_here) = (false, false);
        }
    }

    /// Drops the picture, because the device was replaced.
    pub fn forget(&mut self) {
        (self.drawn, self.view, self.worker) = (None, None, None);
    }
}

/// Whether a simulation step could change anything that is shown.
fn moves(sandbox: &Sandbox) -> bool {
    sandbox.has_motion() || sandbox.has_motion_beside()
}

impl Session {
    /// The last picture.
    pub fn view(&self) -> Option<&View> {
        self.picture.view.as_ref()
    }

    /// Number of rays of the last picture across and down.
    pub fn picture_size(&self) -> [u32; 2] {
        self.picture.size
    }

    /// Passes accumulated in the last picture.
    pub fn refined(&self) -> u32 {
        self.picture.refined
    }

    /// Whether the last picture is as fine as it gets.
    pub fn is_finest(&self) -> bool {
        self.picture.is_finest
    }

    /// Whether the next frame must be drawn without waiting for input.
    pub fn wants_frames(&self) -> bool {
        let moving = self.playing() && self.sandbox.as_ref().is_some_and(moves);
        let refining = self.sandbox.as_ref().is_some_and(Sandbox::is_refining_preview);
        let unrefined = !self.picture.is_finest && !self.picture.is_sharpening() && !refining;
        moving || self.replaying() || unrefined
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
        let (camera, sharpness) = (self.camera, view.sharpness);
        let now = Drawn { revision, camera, full, sharpness, selected, preview, inside, beside };
        // A fracture and the picture share one queue: on a software adapter every picture drawn meanwhile
        // delays each of the fracture's readbacks (a break of 0.15 s took 3 s), so only a moving camera is
        // served. A worker leaves the cores, too, and begins anew if the fracture changes nothing.
        let looks_the_same =
            self.picture.drawn.as_ref().is_some_and(|d| d.camera == now.camera && d.full == now.full);
        if (sandbox.is_breaking() || sandbox.is_breaking_beside()) && looks_the_same {
            self.picture.worker = None;
            return false;
        }
        let moved = self.picture.drawn != Some(now);
        let moving = (playing && moves(sandbox)) || replaying;
        if moving && !replaying {
            let dt = sandbox.settings().dt / self.playing.speed();
            target_fps = target_fps.max(self.times.fps_beside_steps(dt, view.target_fps));
        }
        if moved || moving {
            self.picture.moves_on(moved);
        }
        if sandbox.is_refining_preview() && !moved && !moving {
            self.picture.worker = None;
            return false;
        }
        let still = !moved && !moving && self.picture.moved_at.elapsed() > STILL_AFTER;
        if !moved && (self.picture.is_finest || !still) {
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
        let of_one = |whole: [u32; 2]| [(whole[0] / across).max(1), (whole[1] / down).max(1)];
        if still && !self.picture.is_refined_here && sandbox.compute().is_software() {
            if !self.picture.resolution.fits_at_rest(whole, sharpness) {
                return self.refine_beside(gpu, of_one(full_size(whole, sharpness)), selected);
            }
            self.picture.is_refined_here = true;
        }
        let whole = if self.picture.is_refined_here {
            full_size(whole, sharpness)
        } else {
            self.picture.resolution.choose(whole, target_fps, sharpness, pace)
        };
        let size = of_one(whole);
        if moved || size != self.picture.size {
            self.picture.refined = 0;
        }
        let arena = sandbox.arena().read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut bodies = sandbox.shown_bodies(selected);
        if view.inside.only && sandbox.inside_overlay().is_some() {
            bodies.clear();
        }
        let options = RenderOptions {
            transparent: false,
            accumulated: self.picture.refined,
            hairline: view.hairline(size[0] as f32 / full[0].max(1) as f32),
            ..sandbox.picture_options()
        };
        let (seams, overlay) = (sandbox.body_seams(), sandbox.inside_overlay());
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
                self.picture.is_finest = self.picture.refined >= REFINEMENTS;
                self.count_bodies();
                true
            }
            Err(error) => {
                (self.picture.drawn, self.picture.is_finest) = (Some(now), true);
                self.tell_of(error);
                false
            }
        }
    }

    /// At rest, where the full size takes long: a worker draws it, `size` pixels for each view. Returns `true` if new
    /// pictures have come from it.
    fn refine_beside(
        &mut self,
        gpu: Option<&Gpu>,
        size: [u32; 2],
        selected: Option<crate::bodies::BodyId>,
    ) -> bool {
        let Some(worker) = &mut self.picture.worker else {
            let own = self.subject(selected);
            let all = own.map(|own| std::iter::once(own).chain(self.subjects_beside()).collect());
            self.picture.worker = all.map(|all| FinePicture::start(all, size));
            return false;
        };
        let finer = worker.poll();
        if worker.has_ended() {
            // A picture that could not be drawn is not tried again.
            (self.picture.worker, self.picture.is_finest) = (None, true);
        }
        // A worker that began anew shows nothing coarser than its predecessor did.
        let is_finer = |passes| self.picture.size != size || passes > self.picture.refined;
        let Some(finer) = finer.filter(|finer| is_finer(finer.passes)) else { return false };
        let mut views = finer.views.into_iter().filter_map(|pixels| View::new(pixels, gpu));
        let Some(own) = views.next() else { return false };
        self.picture.view = Some(own);
        (self.picture.size, self.picture.refined) = (size, finer.passes);
        self.columns.show(views);
        true
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

/// Number of columns and rows of views in the window.
pub type Division = [u32; 2];

/// Pictures of the comparison views.
#[derive(Default)]
pub(super) struct Columns {
    pictures: Vec<Column>,
    /// Whether the number of views has changed, so that each may have less room.
    are_others: bool,
}

struct Column {
    renderer: Renderer,
    view: Option<View>,
}

impl Columns {
    /// Replaces the pictures with finer ones that a worker drew.
    pub fn show(&mut self, views: impl Iterator<Item = View>) {
        for (column, view) in self.pictures.iter_mut().zip(views) {
            column.view = Some(view);
        }
    }

    /// Drops all pictures, for instance because the device was lost.
    pub fn forget(&mut self) {
        self.pictures.clear();
    }
}

impl Session {
    /// The latest pictures of the comparison views.
    pub fn views_beside(&self) -> impl Iterator<Item = &View> {
        self.columns.pictures.iter().filter_map(|column| column.view.as_ref())
    }

    /// Shows views of these ways beside the document; an empty list shows none.
    pub(super) fn show_beside(&mut self, ways: &[Way]) {
        let shown = self.sandbox.as_mut().map(|sandbox| sandbox.show_beside(ways));
        if let Some(Err(error)) = shown {
            self.tell_of(error);
        }
        if ways.is_empty() {
            self.columns.forget();
        }
        self.columns.are_others = true;
    }

    /// Moves the camera back when views become narrower, so that the objects fit; `views` is the number drawn.
    pub(super) fn step_back(&mut self, views: u32) {
        let Some(sandbox) = self.sandbox.as_ref().filter(|s| s.ways_beside().len() + 1 == views as usize)
        else {
            return;
        };
        if !std::mem::take(&mut self.columns.are_others) || views == 1 {
            return;
        }
        let mut framed = self.camera;
        framed.frame_points(&sandbox.surface_points(None), self.aspect);
        if framed.distance > self.camera.distance {
            self.camera = framed;
        }
    }

    /// Shows a second method beside the document, or stops showing it.
    pub(super) fn toggle_beside(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        let other = Way::other_than(&sandbox.tuning().fracture);
        let ways: Vec<Way> = other.into_iter().filter(|_| sandbox.ways_beside().is_empty()).collect();
        self.show_beside(&ways);
    }

    /// Keeps the present settings of the fracture in one more view beside the document.
    pub(super) fn keep_beside(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        let (mut ways, kept) = (sandbox.ways_beside(), sandbox.settings_to_keep());
        let refused = if ways.contains(&kept) {
            "These settings are kept in a view already; change a value to see both"
        } else if ways.len() >= MOST_BESIDE {
            "Two views at the most lie beside the document; take one away under Side by side first"
        } else {
            ways.push(kept);
            return self.show_beside(&ways);
        };
        self.say(crate::ui::NoticeKind::Remark, refused);
    }

    /// Draws every comparison view, into a texture of the window's device if it has one.
    pub(super) fn draw_beside(
        &mut self,
        gpu: Option<&Gpu>,
        size: [u32; 2],
        options: &RenderOptions,
    ) -> Result<(), GpuError> {
        let Some(sandbox) = &self.sandbox else { return Ok(()) };
        let count = sandbox.ways_beside().len();
        self.columns.pictures.truncate(count);
        while self.columns.pictures.len() < count {
            self.columns.pictures.push(Column { renderer: Renderer::new(sandbox.compute())?, view: None });
        }
        for (number, column) in self.columns.pictures.iter_mut().enumerate() {
            let Some((bodies, arena)) = sandbox.beside_bodies(number) else { continue };
            let arena = arena.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (camera, options) = (self.camera, options.clone());
            let (seams, overlay) = (None, sandbox.beside_overlay(number));
            column.renderer.draw(&FrameInput {
                arena: &arena,
                bodies: &bodies,
                camera,
                options,
                size,
                seams,
                overlay,
            })?;
            drop(arena);
            column.view = column.renderer.view(gpu)?;
        }
        Ok(())
    }
}

/// Joins pictures of equal height into one, from left to right; pictures of another height are left out.
pub(super) fn next_to_each_other(all: &[Pixels]) -> Pixels {
    let height = all.first().map_or(0, |first| first.size[1]);
    let all: Vec<_> = all.iter().filter(|pixels| pixels.size[1] == height).collect();
    let width = all.iter().map(|pixels| pixels.size[0]).sum();
    let row = |pixels: &Pixels, y: usize| {
        let bytes = 4 * pixels.size[0] as usize;
        pixels.rgba[y * bytes..(y + 1) * bytes].to_vec()
    };
    let rgba = (0..height as usize).flat_map(|y| all.iter().flat_map(move |pixels| row(pixels, y))).collect();
    Pixels { size: [width, height], rgba }
}

impl Session {
    /// The document's view; `selected` is highlighted.
    pub(super) fn subject(&self, selected: Option<crate::bodies::BodyId>) -> Option<Subject> {
        let sandbox = self.sandbox.as_ref()?;
        let view = sandbox.tuning().view;
        let mut bodies = sandbox.shown_bodies(selected);
        if view.inside.only && sandbox.inside_overlay().is_some() {
            bodies.clear();
        }
        let seams = sandbox.body_seams().map(|s| (s.body, s.seams.clone(), s.first, s.marks));
        // A clone of the buffers' handles suffices, so the lock is free for later changes.
        let arena = sandbox.arena().read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        Some(Subject {
            compute: sandbox.compute().clone(),
            arena,
            bodies,
            camera: self.camera,
            options: RenderOptions {
                transparent: false,
                hairline: view.hairline(view.sharpness as f32),
                ..sandbox.picture_options()
            },
            seams,
            overlay: sandbox.inside_overlay().cloned(),
        })
    }

    /// Makes the metadata of written pictures: the scene in its present state, and the device that drew it. Its text
    /// takes long for a large scene and is made by the worker.
    pub(super) fn picture_signature(&self) -> impl FnOnce() -> Signature + Send + use<> {
        let shown = self.sandbox.as_ref();
        let scene = shown.map(|sandbox| sandbox.as_it_stands(self.camera));
        let ran_on = shown.map(|sandbox| sandbox.compute().ran_on()).unwrap_or_default();
        move || {
            let text = scene.map(|mut scene| {
                scene.bring_into_range();
                scene.to_text()
            });
            Signature::new(ran_on, crate::provenance::here(), text.unwrap_or_default())
        }
    }

    /// Size of written pictures, pixels; `None` uses the size in the window.
    pub fn written_size(&self) -> Option<[u32; 2]> {
        self.picture_files.size
    }

    /// The comparison views, from left to right, from the same camera.
    pub(super) fn subjects_beside(&self) -> Vec<Subject> {
        let (Some(sandbox), Some(document)) = (&self.sandbox, self.subject(None)) else { return Vec::new() };
        let of = |number: usize| {
            let (bodies, arena) = sandbox.beside_bodies(number)?;
            let overlay = sandbox.beside_overlay(number).cloned();
            let arena = arena.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
            let Subject { compute, camera, options, .. } = &document;
            let (compute, camera, options) = (compute.clone(), *camera, options.clone());
            Some(Subject { compute, arena, bodies, camera, options, seams: None, overlay })
        };
        (0..sandbox.ways_beside().len()).filter_map(of).collect()
    }

    /// How far the picture is that is being written, 0 to 1.
    pub fn picture_progress(&self) -> Option<f32> {
        self.picture_files.progress()
    }

    /// Whether background and floor of picture files are transparent.
    pub(super) fn is_transparent_in_files(&self) -> bool {
        self.sandbox.as_ref().is_some_and(|sandbox| sandbox.tuning().view.transparent)
    }

    /// Has a worker write a picture of the window, at its size there or at the chosen size; side-by-side views are
    /// joined in one file, each at that size.
    pub(super) fn write_picture(&mut self) {
        let size = self.picture_files.size.or_else(|| self.picture.place());
        let (Some(subject), Some(size)) = (self.subject(None), size) else { return };
        let mut subjects: Vec<Subject> = std::iter::once(subject).chain(self.subjects_beside()).collect();
        let transparent = self.is_transparent_in_files();
        for Subject { options, .. } in &mut subjects {
            *options = as_in_files(RenderOptions { transparent, ..options.clone() }, size[1]);
        }
        let signature = self.picture_signature();
        let legends = self.sandbox.as_ref().map(crate::scene::Sandbox::legends).unwrap_or_default();
        let bar = self.sandbox.as_ref().and_then(|s| s.tuning().view.bar(&self.camera, size[1] as f32));
        let what = match (subjects.len(), size) {
            (1, [width, height]) => format!("a picture of {width} × {height}"),
            (views, [width, height]) => format!("{views} views of {width} × {height} side by side"),
        };
        let draw = move |progress: &Progress| {
            let one = |(number, subject): (usize, &Subject)| {
                let at = &mut |share: f32| progress.set((number as f32 + share) / subjects.len() as f32);
                match subject.draw(size, at) {
                    Ok(Some(pixels)) => Ok(pixels),
                    Ok(None) => Err("the renderer gave no picture".to_owned()),
                    Err(error) => Err(error.to_string()),
                }
            };
            let mut all = subjects.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>()?;
            if let Some(first) = all.first_mut() {
                explain(&mut first.rgba, first.size, &legends, bar).map_err(|error| error.to_string())?;
            }
            let pixels = if all.len() == 1 { all.remove(0) } else { next_to_each_other(&all) };
            Ok((pixels, signature()))
        };
        self.picture_files.draw_and_write(draw);
        self.say(crate::ui::NoticeKind::Remark, format!("Drawing {what}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_lie_next_to_each_other() {
        let picture = |width: u32, height: u32, byte: u8| Pixels {
            size: [width, height],
            rgba: vec![byte; 4 * (width * height) as usize],
        };
        let joined = next_to_each_other(&[picture(1, 2, 7), picture(2, 2, 9), picture(1, 3, 5)]);
        let row = [[7; 4].as_slice(), &[9; 8]].concat();
        assert_eq!((joined.size, joined.rgba), ([3, 2], [row.clone(), row].concat()));
        assert_eq!(next_to_each_other(&[]).size, [0, 0]);
    }
}
