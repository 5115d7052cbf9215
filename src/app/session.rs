//! What the window holds besides the window: engine, renderer, eye, clock, messages; and what each command does to them.

mod aiming;
mod exporting;
mod picture;
mod playing;
mod saving;

use std::{
    path::Path,
    sync::mpsc,
    time::{Duration, Instant},
};

use super::{
    clock::{Clock, Time},
    dialogs::{Answer, Dialog, Purpose},
    resolution::{BUDGET_SHARE, Pace, REFINEMENTS, Resolution},
};
use crate::{
    gpu::{Gpu, GpuError},
    render::{Camera, FrameInput, RenderOptions, Renderer},
    scene::{Arrived, ReadScene, Sandbox, Scene, ScenePick, ViewTuning, load_scene},
    ui::{Command, Hover, Notice, NoticeKind},
};

/// Longest time that one picture spends on steps, s, unless a single step takes longer or the rest of the picture does.
const STEP_BUDGET: f64 = 0.025;
/// What steps may take for each second that panels and picture take: on a slow machine time must not stand still for the picture's sake.
const STEP_SHARE: f64 = 0.6;
/// After this long without motion the picture is refined.
const STILL_AFTER: Duration = Duration::from_millis(220);
/// Previews a second that the level of a preview makes room for, beside the panels and a picture.
const PREVIEWS_A_SECOND: f64 = 10.0;
/// What a coarse picture takes, ms.
const PREVIEW_PICTURE_MS: f64 = 15.0;
/// Previews a second that pictures make room for while a value moves: somewhat more than the ten that are wanted.
const TUNED_A_SECOND: f64 = 14.0;
/// A hand that rested this long no longer tunes.
const TUNING_FOR: Duration = Duration::from_millis(250);
/// Least time for a picture while a value moves, ms.
const LEAST_PICTURE_MS: f64 = 12.0;
/// How often an open scene is saved by itself.
const AUTOSAVE_EVERY: Duration = Duration::from_secs(30);

/// Engine and renderer from the worker that makes them.
type Made = Result<(Sandbox, Renderer), GpuError>;

/// Everything behind the window.
pub struct Session {
    /// The engine, once it has started.
    pub sandbox: Option<Sandbox>,
    /// The ray caster, once it has started.
    pub renderer: Option<Renderer>,
    /// The eye.
    pub camera: Camera,
    /// Whether to say how to begin.
    pub hint: bool,
    /// What the pointer is over.
    pub hover: Option<Hover>,
    /// Size of the last picture.
    pub picture_size: [u32; 2],
    /// Pictures added up since the last motion.
    pub refined: u32,
    /// Time for one picture, ms.
    pub frame_ms: f64,
    /// Simulated seconds in a real second, lately.
    pub pace: f64,
    /// Time that the last frame's picture took, ms; 0 where there was none.
    picture_ms: f64,
    /// Time that frames take beside their pictures (preview, panels, presenting), ms.
    rest_ms: f64,
    /// The same without the preview, in frames that had one.
    panels_ms: f64,
    /// How often the preview had been computed by the last frame.
    previewed: u64,
    /// When the preview was last computed anew, and for which revision of it.
    tuned: Option<(Instant, u64)>,
    making: Option<mpsc::Receiver<Made>>,
    clock: Clock,
    resolution: Resolution,
    notices: Vec<Notice>,
    next_notice: u64,
    pending: Option<ReadScene>,
    keep_camera: bool,
    aspect: f32,
    pick: Option<ScenePick>,
    aiming: aiming::Aiming,
    hand: playing::Hand,
    pointer: Option<[f32; 2]>,
    dialog: Option<Dialog>,
    drawn: Option<Drawn>,
    moved_at: Instant,
    last_advance: Option<Instant>,
    autosaved: Instant,
    unsaved: bool,
    /// Whether the last attempt to save by itself failed, so that it is said once.
    autosave_failed: bool,
    writing: picture::Writing,
    exporting: exporting::Exporting,
    view: Option<wgpu::TextureView>,
    gpu: Option<Gpu>,
}

/// What the last picture showed.
#[derive(Clone, Copy, PartialEq)]
struct Drawn {
    revision: u64,
    camera: Camera,
    full: [u32; 2],
    selected: Option<crate::bodies::BodyId>,
    preview: u64,
    inside: u64,
}

impl Session {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            sandbox: None,
            renderer: None,
            camera: Camera::default(),
            hint: true,
            hover: None,
            picture_size: [0, 0],
            refined: 0,
            frame_ms: 0.0,
            pace: 1.0,
            picture_ms: 0.0,
            rest_ms: 0.0,
            panels_ms: 0.0,
            previewed: 0,
            tuned: None,
            making: None,
            clock: Clock::new(Time::Realtime),
            resolution: Resolution::default(),
            notices: Vec::new(),
            next_notice: 0,
            pending: None,
            keep_camera: false,
            aspect: 1.5,
            pick: None,
            aiming: aiming::Aiming::default(),
            hand: playing::Hand::default(),
            pointer: None,
            dialog: None,
            drawn: None,
            moved_at: Instant::now(),
            last_advance: None,
            autosaved: Instant::now(),
            unsaved: false,
            autosave_failed: false,
            writing: Vec::new(),
            exporting: exporting::Exporting::default(),
            view: None,
            gpu: None,
        }
    }

    /// Starts engine and renderer on a worker (compiling the passes takes a while) and opens `scene` when they are there.
    pub fn start(&mut self, gpu: &Gpu, scene: impl Into<ReadScene>) {
        let (sender, receiver) = mpsc::channel();
        self.gpu = Some(gpu.clone());
        let gpu = gpu.clone();
        std::thread::spawn(move || {
            let made = Sandbox::new(&gpu).and_then(|sandbox| Ok((sandbox, Renderer::new(&gpu)?)));
            // The receiver only disappears when the window has closed.
            let _ = sender.send(made);
        });
        self.making = Some(receiver);
        self.pending = Some(scene.into());
        (self.sandbox, self.renderer, self.drawn, self.view) = (None, None, None, None);
    }

    /// The scene to open again after the device was lost.
    pub fn scene_to_keep(&mut self) -> Scene {
        self.keep_camera = true;
        match (&self.sandbox, self.pending.take()) {
            // What was on its way in is what the user wants to see.
            (Some(sandbox), None) => {
                sandbox.scene_on_its_way().cloned().unwrap_or_else(|| sandbox.scene(self.camera))
            }
            (_, Some(pending)) => pending.scene,
            (None, None) => Scene::default(),
        }
    }

    /// Opens a mesh, a scene or a built-in shape.
    pub fn open(&mut self, path: &Path, level: u32) {
        match scene_of(path, level) {
            Ok(scene) => match &mut self.sandbox {
                Some(sandbox) => sandbox.open_scene(scene),
                None => self.pending = Some(scene.into()),
            },
            Err(message) => self.say(NoticeKind::Error, message),
        }
    }

    /// Shows a message.
    pub fn say(&mut self, kind: NoticeKind, text: impl Into<String>) {
        let text = text.into();
        self.notices.retain(|n| n.text != text);
        self.notices.push(Notice { id: self.next_notice, kind, text, since: Instant::now() });
        self.next_notice += 1;
        if self.notices.len() > 4 {
            self.notices.remove(0);
        }
    }

    /// Messages to show.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Texts of the errors that are shown.
    pub fn errors(&self) -> Vec<&str> {
        self.texts(NoticeKind::Error)
    }

    /// Texts of the remarks that are shown.
    pub fn remarks(&self) -> Vec<&str> {
        self.texts(NoticeKind::Remark)
    }

    fn texts(&self, kind: NoticeKind) -> Vec<&str> {
        self.notices.iter().filter(|n| n.kind == kind).map(|n| n.text.as_str()).collect()
    }

    /// Whether time runs.
    pub fn playing(&self) -> bool {
        self.clock.time != Time::Paused
    }

    /// What is said in the middle while nothing is open.
    pub fn starting(&self) -> Option<&'static str> {
        self.making.is_some().then_some("Preparing the graphics passes")
    }

    /// Takes in what worker threads finished.
    pub fn poll(&mut self) {
        if let Some(receiver) = &self.making {
            match receiver.try_recv() {
                Ok(Ok((sandbox, renderer))) => {
                    sandbox.warm_up();
                    (self.sandbox, self.renderer, self.making) = (Some(sandbox), Some(renderer), None);
                    if let (Some(scene), Some(sandbox)) = (self.pending.take(), &mut self.sandbox) {
                        sandbox.open_scene(scene);
                    }
                }
                Ok(Err(error)) => {
                    self.making = None;
                    self.say(NoticeKind::Error, error.to_string());
                }
                Err(mpsc::TryRecvError::Empty) => {}
                Err(mpsc::TryRecvError::Disconnected) => {
                    self.making = None;
                    self.say(NoticeKind::Error, "the engine could not start; run `kintsugi doctor`");
                }
            }
        }
        self.tell_pictures();
        self.tell_export();
        match self.sandbox.as_mut().map(Sandbox::poll) {
            Some(Ok(Some(Arrived::Opened))) => {
                if !std::mem::take(&mut self.keep_camera) {
                    self.frame_scene();
                }
                self.clock.forget();
                self.last_advance = None;
                self.forget_export_object();
            }
            Some(Ok(Some(Arrived::Broke | Arrived::Thrown))) => {
                (self.hint, self.unsaved) = (false, true);
                self.last_advance = None;
            }
            Some(Err(crate::scene::SandboxError::Import(error))) if error.is_cancelled() => {}
            Some(Err(error)) => self.say(NoticeKind::Error, error.to_string()),
            Some(Ok(None)) | None => {}
        }
        if let Some(dialog) = &self.dialog
            && let Some(answer) = dialog.poll()
        {
            let purpose = dialog.purpose;
            self.dialog = None;
            self.answered(purpose, answer);
        }
        let fresh =
            |n: &Notice| n.kind == NoticeKind::Error || n.since.elapsed().as_secs_f64() < Notice::REMARK_SECS;
        self.notices.retain(fresh);
    }

    fn level(&self) -> u32 {
        self.sandbox.as_ref().and_then(|s| s.objects().first()).map_or(7, |o| o.scene.level)
    }

    /// Whether the next picture must come without waiting for the user.
    pub fn wants_frames(&self) -> bool {
        let moving = self.playing() && self.sandbox.as_ref().is_some_and(Sandbox::has_motion);
        let refining = self.sandbox.as_ref().is_some_and(Sandbox::is_refining_preview);
        moving || (self.refined < REFINEMENTS && !refining)
    }

    /// Whether worker threads must be asked again soon.
    pub fn is_waiting(&self) -> bool {
        self.making.is_some()
            || self.dialog.is_some()
            || self.exporting.job.is_some()
            || self
                .sandbox
                .as_ref()
                .is_some_and(|s| s.is_busy() || s.is_refining_preview() || s.is_preparing_preview())
    }

    /// When a remark goes or an autosave is due.
    pub fn next_wish(&self) -> Option<Instant> {
        let remark = self
            .notices
            .iter()
            .filter(|n| n.kind == NoticeKind::Remark)
            .map(|n| n.since + Duration::from_secs_f64(Notice::REMARK_SECS))
            .min();
        let save = self.unsaved.then(|| self.autosaved + AUTOSAVE_EVERY);
        [remark, save].into_iter().flatten().min()
    }

    fn frame_scene(&mut self) {
        let Some(sandbox) = &self.sandbox else {
            return;
        };
        if let Some(camera) = sandbox.saved_camera() {
            self.camera = camera.sane();
        } else {
            let points = sandbox.surface_points(None);
            if !points.is_empty() {
                self.camera = Camera::default();
                self.camera.frame_points(&points, self.aspect);
            }
        }
    }

    /// Does what was asked for.
    pub fn apply(&mut self, command: Command) {
        match command {
            Command::Open(path) => {
                let level = self.level();
                self.open(&path, level);
            }
            Command::OpenDialog => self.ask(Purpose::Open),
            Command::SaveDialog => self.ask(Purpose::Save),
            Command::ReopenLast => self.reopen_earlier(),
            Command::Picture => self.write_picture(),
            Command::ToggleExport => self.toggle_export(),
            Command::ChangeExport(order) => self.change_export(*order),
            Command::ExportFolderDialog => self.ask_export_folder(),
            Command::Export => self.start_export(),
            Command::CancelExport => self.cancel_export(),
            Command::Play(_)
            | Command::Speed(_)
            | Command::Step
            | Command::ShowRecorded(_)
            | Command::Grab(_)
            | Command::Drag(_)
            | Command::Release
            | Command::Throw(_) => self.play(&command),
            Command::Orbit { yaw, pitch } => self.camera.orbit(yaw, pitch),
            Command::Pan { x, y } => self.camera.pan(x, y, self.aspect),
            Command::Zoom(factor) => self.camera.zoom(factor),
            Command::Hover(at) => self.pointer = at,
            Command::Tool(_)
            | Command::Hit(_)
            | Command::Pin(_)
            | Command::MovePin(_)
            | Command::ToggleKept(_)
            | Command::KeepNone
            | Command::InvertKept
            | Command::BreakPin
            | Command::Unpin => self.use_tool(&command),
            Command::FrameSelection => self.frame(self.pick.map(|p| p.body)),
            Command::FrameAll => self.frame(None),
            Command::Dismiss(id) => self.notices.retain(|n| n.id != id),
            Command::TogglePalette => {}
            other => self.apply_to_sandbox(other),
        }
    }

    fn apply_to_sandbox(&mut self, command: Command) {
        let Some(sandbox) = &mut self.sandbox else {
            return;
        };
        let changes = matches!(
            command,
            Command::Undo | Command::Redo | Command::Reset | Command::Tune { .. } | Command::SetLevel(_)
        );
        self.unsaved |= changes;
        match command {
            Command::Undo => {
                if let Some(label) = sandbox.undo() {
                    self.say(NoticeKind::Remark, format!("Took back: {label}"));
                }
            }
            Command::Redo => {
                if let Some(label) = sandbox.redo() {
                    self.say(NoticeKind::Remark, format!("Did again: {label}"));
                }
            }
            Command::Reset => sandbox.reset(),
            Command::CancelImport => sandbox.cancel_open(),
            Command::EndGesture => sandbox.end_gesture(),
            Command::Tune { gesture, tuning } => sandbox.tune(gesture, *tuning),
            Command::SetLevel(level) => sandbox.set_level(level, self.camera),
            _ => {}
        }
    }

    fn frame(&mut self, only: Option<crate::bodies::BodyId>) {
        if let Some(sandbox) = &self.sandbox {
            self.camera.frame_points(&sandbox.surface_points(only), self.aspect);
            // A single piece keeps some of what is round it in the picture.
            self.camera.zoom(if only.is_some() { 1.4 } else { 1.0 });
        }
    }

    /// Draws the picture for a viewport of `full` pixels where anything changed; `true` when there is a new one.
    pub fn draw(&mut self, gpu: &Gpu, full: [u32; 2]) -> bool {
        self.aspect = full[0].max(1) as f32 / full[1].max(1) as f32;
        self.update_aim();
        self.picture_ms = 0.0;
        let playing = self.playing();
        let view = self.sandbox.as_ref().map_or_else(ViewTuning::default, |s| s.tuning().view);
        let recomputed = self.sandbox.as_ref().map_or(0, |s| s.preview().recomputed);
        let (tuned, target_fps) = self.wanted_fps(recomputed, view.target_fps);
        let (Some(sandbox), Some(renderer)) = (&self.sandbox, &mut self.renderer) else {
            return false;
        };
        let selected = if sandbox.bodies().len() > 1 { self.pick.map(|p| p.body) } else { None };
        let preview = sandbox.preview().revision;
        let (revision, inside) = (sandbox.revision(), sandbox.looking_revision());
        let now = Drawn { revision, camera: self.camera, full, selected, preview, inside };
        // A fracture and the picture share one queue: on a software adapter every picture drawn meanwhile delays each of the fracture's
        // readbacks (a break of 0.15 s took 3 s), so only a moving camera is served.
        let looks_the_same =
            self.drawn.as_ref().is_some_and(|d| d.camera == now.camera && d.full == now.full);
        if sandbox.is_breaking() && looks_the_same {
            return false;
        }
        let moved = self.drawn != Some(now);
        let moving = playing && sandbox.has_motion();
        if moved {
            self.moved_at = Instant::now();
        }
        if sandbox.is_refining_preview() && !moved && !moving {
            return false;
        }
        let still = !moved && !moving && self.moved_at.elapsed() > STILL_AFTER;
        if !moved && (!still || self.refined >= REFINEMENTS) {
            return false;
        }
        let pace = match (still, tuned) {
            (true, _) => Pace::Still,
            (false, true) => Pace::Tuned,
            (false, false) => Pace::Moving,
        };
        let size = self.resolution.choose(full, target_fps, view.sharpness, pace);
        if moved || size != self.picture_size {
            self.refined = 0;
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
            accumulated: self.refined,
            ..RenderOptions::default()
        };
        let seams = sandbox.body_seams();
        let (camera, overlay) = (self.camera, sandbox.inside_overlay());
        let input = FrameInput { arena: &arena, bodies: &bodies, camera, options, size, seams, overlay };
        let start = Instant::now();
        let drawn = renderer.draw(gpu, &input);
        drop(arena);
        match drawn {
            Ok(picture) => {
                let ms = self.time_of_picture(gpu, start);
                self.resolution.measured(size, ms);
                self.picture_ms = ms;
                self.frame_ms += 0.2 * (ms - self.frame_ms);
                (self.picture_size, self.drawn, self.view) = (size, Some(now), Some(picture));
                self.refined += 1;
                self.count_bodies();
                true
            }
            Err(error) => {
                self.refined = REFINEMENTS;
                self.drawn = Some(now);
                self.say(NoticeKind::Error, error.to_string());
                false
            }
        }
    }

    /// Tells how long all the work for a frame took.
    pub fn frame_took(&mut self, ms: f64) {
        if self.picture_ms > 0.0 {
            self.rest_ms += 0.2 * ((ms - self.picture_ms).max(0.0) - self.rest_ms);
        }
        let Some(sandbox) = &mut self.sandbox else {
            return;
        };
        let preview = sandbox.preview();
        if self.picture_ms > 0.0
            && std::mem::replace(&mut self.previewed, preview.recomputed) != preview.recomputed
        {
            let others_ms = (ms - self.picture_ms - preview.ms).max(0.0);
            self.panels_ms += 0.2 * (others_ms - self.panels_ms);
            sandbox.leave_room_for_preview(1000.0 / PREVIEWS_A_SECOND - self.panels_ms - PREVIEW_PICTURE_MS);
        }
    }

    /// Whether previews follow a hand, and pictures a second to aim at: then pictures leave them room for ten a second.
    fn wanted_fps(&mut self, revision: u64, target_fps: f64) -> (bool, f64) {
        if self.tuned.is_none_or(|(_, known)| known != revision) {
            self.tuned = Some((Instant::now(), revision));
        }
        if self.tuned.is_none_or(|(at, _)| at.elapsed() >= TUNING_FOR) {
            return (false, target_fps);
        }
        let room_ms = (1000.0 / TUNED_A_SECOND - self.rest_ms).max(LEAST_PICTURE_MS);
        (true, target_fps.max(BUDGET_SHARE * 1000.0 / room_ms))
    }

    /// A software adapter works on this machine's processor: waiting for it measures it, and keeps its queue short.
    fn time_of_picture(&self, gpu: &Gpu, start: Instant) -> f64 {
        if gpu.is_software() {
            // A failed wait shows up as a lost device in the next frame.
            let _ = gpu.device.poll(wgpu::PollType::wait_indefinitely());
            return start.elapsed().as_secs_f64() * 1000.0;
        }
        let timed: f64 = self.renderer.as_ref().map_or(0.0, |r| r.timings().iter().map(|t| t.ms).sum());
        if timed > 0.0 { timed } else { start.elapsed().as_secs_f64() * 1000.0 }
    }

    /// The last picture.
    pub fn view(&self) -> Option<&wgpu::TextureView> {
        self.view.as_ref()
    }
}

/// The scene that a path means: a scene file, or a mesh standing on the floor.
pub fn scene_of(path: &Path, level: u32) -> Result<Scene, String> {
    let is_scene = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    if is_scene {
        return load_scene(path).map_err(|e| e.to_string());
    }
    Ok(Scene::of_mesh(&path.to_string_lossy(), level))
}
