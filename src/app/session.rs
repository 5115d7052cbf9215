//! The window's state apart from the window itself: engine, renderer, camera, and the effect of each command.
//!
//! Each concern has its own state: messages, time and hand (`playing`), tool and pointer (`aiming`), the picture, frame
//! times, saving, and the worker that starts the engine. The session passes each one what it needs of the others.

mod aiming;
mod arranging;
mod backdrop;
mod crack_picture;
mod exporting;
#[cfg(test)]
mod files_tests;
mod film;
mod framing;
mod fine_picture;
mod frame_times;
mod messages;
mod objects;
mod picture;
mod picture_files;
mod playing;
mod presets;
mod questions;
#[cfg(test)]
mod reopening_tests;
mod saving;
#[cfg(test)]
mod scenes_tests;
mod selecting;
mod sheet;
mod starting;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod thread_tests;
#[cfg(test)]
mod user_tests;
mod writing;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Instant,
};

pub use self::frame_times::FrameParts;
use self::{
    aiming::Aiming,
    frame_times::FrameTimes,
    messages::Messages,
    picture::{Columns, Picture},
    picture_files::PictureFiles,
    playing::Playing,
    saving::Saving,
    starting::Starting,
};
use super::{
    dialogs::Purpose,
    imports,
    leaving::{Going, Leave},
    settings::Settings,
};
use crate::{
    bodies::BodyId,
    compute::Choice,
    gpu::Gpu,
    render::{Camera, Renderer},
    scene::{
        Arrived, ReadScene, Sandbox, SandboxError, Scene, SceneError, load_scene_file,
        load_scene_with_outside,
    },
    threads::Pending,
    ui::{Command, Keymap, Notice, NoticeKind},
};

/// Everything behind the window.
pub struct Session {
    /// The engine, once it has started.
    pub sandbox: Option<Sandbox>,
    /// The ray caster, once it has started.
    pub renderer: Option<Renderer>,
    /// The camera.
    pub camera: Camera,
    /// Whether to show the beginner's hint.
    pub hint: bool,
    /// The picture's width divided by its height.
    aspect: f32,
    gpu: Option<Gpu>,
    /// Where the compute stages run.
    compute: Choice,
    starting: Starting,
    reading: Option<Reading>,
    messages: Messages,
    playing: Playing,
    aiming: Aiming,
    picture: Picture,
    columns: Columns,
    times: FrameTimes,
    picture_files: PictureFiles,
    saving: Saving,
    exporting: exporting::Exporting,
    presets: presets::Presets,
    crack_pictures: crack_picture::CrackPictures,
    backdrops: backdrop::Backdrops,
    sheet: sheet::Sheet,
    settings: Settings,
    /// Mesh files about whose units and axes this session has asked, the one that is open last.
    asked_of: Vec<String>,
    /// The mesh file of which was told last how many objects it has, and their number.
    told_objects: Option<(PathBuf, usize)>,
    tour: bool,
}

/// A scene that a worker reads, which takes a while if it is large or far away.
struct Reading {
    path: PathBuf,
    level: u32,
    leave: Leave,
    read: Pending<Result<ReadScene, SceneError>>,
}

impl Session {
    /// An empty session.
    pub fn new() -> Self {
        Self {
            sandbox: None,
            renderer: None,
            camera: Camera::default(),
            hint: true,
            aspect: 1.5,
            gpu: None,
            compute: Choice::Auto,
            starting: Starting::default(),
            reading: None,
            messages: Messages::default(),
            playing: Playing::default(),
            aiming: Aiming::default(),
            picture: Picture::default(),
            columns: Columns::default(),
            times: FrameTimes::default(),
            picture_files: PictureFiles::default(),
            saving: Saving::default(),
            exporting: exporting::Exporting::default(),
            presets: presets::Presets::default(),
            crack_pictures: crack_picture::CrackPictures::default(),
            backdrops: backdrop::Backdrops::default(),
            sheet: sheet::Sheet::default(),
            settings: Settings::default(),
            asked_of: Vec::new(),
            told_objects: None,
            tour: false,
        }
    }

    /// Opens a mesh, a scene or a built-in shape, unless something would be lost by that, which is asked first. A picture
    /// becomes the cracks of the next break; one of light is put behind the scene.
    pub fn open(&mut self, path: &Path, level: u32) {
        if self.sandbox.is_some() && backdrop::is_backdrop(path) {
            return self.begin_backdrop(path);
        }
        if self.sandbox.is_some() && crack_picture::is_picture(path) {
            return self.begin_crack_picture(path);
        }
        if self.sandbox.is_some() && is_scene(path) && self.take_in_preset(path) {
            return;
        }
        if self.may_go(&Going::Open(path.to_owned(), level)) {
            self.begin_open(path, level, Leave::default());
        }
    }

    /// Begins to read and import what is opened; the present scene stays until everything is imported.
    fn begin_open(&mut self, path: &Path, level: u32, leave: Leave) {
        let (path, file) = (path.to_owned(), path.to_owned());
        let read = Pending::start(move || scene_of(&file, level, leave.outside));
        self.reading = Some(Reading { path, level, leave, read });
    }

    /// Imports what was read.
    fn take_in_read(&mut self) {
        let stopped = || Err(SceneError::new("reading the scene stopped unexpectedly".into()));
        let reading = self.reading.as_ref();
        let Some(read) = reading.and_then(|reading| reading.read.poll(stopped)) else { return };
        let Some(Reading { path, level, leave, .. }) = self.reading.take() else { return };
        match read {
            Ok(read) => {
                self.comes(&path, level, leave.discards);
                match &mut self.sandbox {
                    Some(sandbox) => sandbox.open_scene(read),
                    None => self.starting.open_then(read),
                }
            }
            Err(SceneError { names_outside: Some(names), .. }) => {
                self.ask_about_outside(&path, level, leave, &names);
            }
            Err(error) => self.say(NoticeKind::Error, error.message),
        }
    }

    /// Restores the settings of an earlier window.
    pub fn remember_settings(&mut self) {
        self.settings = Settings::read();
        self.tour = !self.settings.toured;
    }

    /// Whether the tour of the first start is shown.
    pub fn shows_tour(&self) -> bool {
        self.tour
    }

    fn show_tour(&mut self, shown: bool) {
        self.tour = shown;
        if !shown
            && !std::mem::replace(&mut self.settings.toured, true)
            && let Err(error) = self.settings.write()
        {
            self.say(NoticeKind::Remark, format!("that the tour was seen could not be remembered: {error}"));
        }
    }

    /// Mouse and key bindings of the camera.
    pub fn keymap(&self) -> Keymap {
        self.settings.keymap
    }

    fn choose_keymap(&mut self, keymap: Keymap) {
        self.settings.keymap = keymap;
        if let Err(error) = self.settings.write() {
            self.say(NoticeKind::Remark, format!("the choice of keys could not be remembered: {error}"));
        }
    }

    /// Shows a message.
    pub fn say(&mut self, kind: NoticeKind, text: impl Into<String>) {
        self.messages.say(kind, text);
    }

    /// Shows an error, except for a lost device, which the window reports when it recovers.
    fn tell_of(&mut self, error: impl Into<SandboxError>) {
        let error = error.into();
        if !error.is_loss() {
            self.say(NoticeKind::Error, error.to_string());
        }
    }

    /// Messages on display.
    pub fn notices(&self) -> &[Notice] {
        self.messages.shown()
    }

    /// Texts of the errors on display.
    pub fn errors(&self) -> Vec<&str> {
        self.messages.texts(NoticeKind::Error)
    }

    /// Texts of the remarks on display.
    pub fn remarks(&self) -> Vec<&str> {
        self.messages.texts(NoticeKind::Remark)
    }

    /// Collects the results of worker threads.
    pub fn poll(&mut self) {
        self.take_in_engine();
        self.take_in_read();
        self.take_in_crack_picture();
        self.take_in_backdrop();
        for told in self.picture_files.poll() {
            match told {
                Ok(text) => self.say(NoticeKind::Remark, text),
                Err(text) => self.say(NoticeKind::Error, text),
            }
        }
        self.tell_export();
        self.poll_writing();
        self.poll_presets();
        self.go_on_leaving();
        self.tell_of_earlier();
        self.tell_of_stopped();
        let take = self.sandbox.as_ref().map(|s| s.timeline().take());
        let may_open = self.may_open_now();
        match self.sandbox.as_mut().filter(|_| may_open).map(Sandbox::poll) {
            Some(Ok(Some(Arrived::Opened))) => {
                if !self.starting.keeps_camera() {
                    self.frame_scene();
                }
                self.playing.begin_anew();
                self.messages.withdraw(&Command::Play(true));
                self.hold_kept_session();
                self.forget_export_object();
                let lines = self.sandbox.as_ref().map(Sandbox::stand_ins).unwrap_or_default();
                lines.into_iter().for_each(|line| self.say(NoticeKind::Remark, line));
                self.ask_of_import();
                self.tell_of_objects(0);
            }
            Some(Ok(Some(Arrived::Broke | Arrived::Thrown))) => {
                self.hint = false;
                self.playing.take_a_breath();
                self.playing.replay.running = false;
                take.into_iter().for_each(|take| self.tell_take(take));
            }
            Some(Err(SandboxError::Import(error))) if error.is_cancelled() => {}
            Some(Err(error)) => self.tell_of(error),
            Some(Ok(Some(Arrived::Added))) => self.show_added(),
            Some(Ok(Some(Arrived::Merged | Arrived::Split) | None)) | None => {}
        }
        self.turn_to_document();
        self.poll_sheet();
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.update_beside();
        }
        if let Some((purpose, answer)) = self.saving.poll_dialog() {
            self.answered(purpose, answer);
        }
        self.messages.expire();
    }

    /// Whether a scene file is being read.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// A session that was kept holds what was done, not how far it had come: it does not run on before the user has
    /// seen it.
    fn hold_kept_session(&mut self) {
        if self.shows_kept_session() {
            self.playing.stand_for_now();
            let text = "The session stands at its beginning; Play repeats what was done";
            self.messages.offer(NoticeKind::Remark, text, "Play", Command::Play(true));
        }
    }

    fn level(&self) -> u32 {
        self.sandbox.as_ref().and_then(Sandbox::shown_object).map_or(7, |o| o.scene.level)
    }

    /// Whether worker threads must be polled again soon.
    pub fn is_waiting(&self) -> bool {
        let is_checking = self.sandbox.as_ref().is_some_and(Sandbox::is_checking);
        self.picture.is_sharpening() || is_checking || self.waits_for_more_than_a_picture()
    }

    /// Whether a worker is awaited whose result is more than a finer picture.
    pub fn waits_for_more_than_a_picture(&self) -> bool {
        self.starting.is_busy()
            || self.is_reading()
            || self.reads_crack_picture()
            || self.reads_backdrop()
            || self.saving.is_asking()
            || self.saving.leaving.is_some()
            || self.saving.writing.is_busy()
            || self.exporting.is_busy()
            || self.presets.is_drawing()
            || self.sheet.is_busy()
            || self.picture_files.is_busy()
            || self.sandbox.as_ref().is_some_and(|s| {
                s.is_busy()
                    || s.is_solving_stress()
                    || s.is_coloring()
                    || s.is_refining_preview()
                    || s.is_preparing_preview()
                    || s.is_waiting_beside()
            })
    }

    /// When the next remark expires or the next autosave is due.
    pub fn next_wish(&self) -> Option<Instant> {
        [self.messages.next_expiry(), self.next_autosave()].into_iter().flatten().min()
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

    /// Executes a command.
    pub fn apply(&mut self, command: Command) {
        self.messages.withdraw(&command);
        self.stop_replay_for(&command);
        match command {
            Command::Open(path) => {
                let level = self.level();
                self.open(&path, level);
            }
            Command::OpenDialog => self.ask(Purpose::Open),
            Command::CutterDialog => self.ask(Purpose::Cutter),
            Command::Backdrop(path) => self.begin_backdrop(&path),
            Command::SaveDialog => self.save_over(),
            Command::SaveAsDialog => self.ask(Purpose::Save),
            Command::AnswerPrompt(path) => self.answer_prompt(path),
            Command::AnswerQuestion(number) => self.answer_question(number),
            Command::SaveStandingDialog => self.ask(Purpose::SaveStanding),
            Command::Reopen(earlier) => self.reopen(earlier),
            Command::Picture => self.write_picture(),
            Command::SaveFigureDialog => self.ask(Purpose::Figure),
            Command::SaveChart(chart) => self.save_chart(chart),
            Command::ToggleSheet => self.toggle_sheet(),
            Command::ChangeSheet(order) => self.change_sheet(*order),
            Command::KeepVariant(number) => self.keep_variant(number),
            Command::SaveSheet => self.save_sheet(),
            Command::PictureSize(size) => self.picture_files.size = size,
            Command::ShowBeside(ways) => self.show_beside(&ways),
            Command::ToggleBeside => self.toggle_beside(),
            Command::KeepBeside => self.keep_beside(),
            Command::ToggleExport => self.toggle_export(),
            Command::ChangeExport(order) => self.change_export(*order),
            Command::ExportFolderDialog => self.ask_export_folder(),
            Command::Export => self.start_export(),
            Command::CancelExport => self.cancel_export(),
            Command::ApplyPreset(preset) => self.apply_preset(&preset),
            Command::SavePreset(name) => self.save_preset(&name),
            Command::Play(_)
            | Command::Speed(_)
            | Command::Step
            | Command::ShowRecorded(_)
            | Command::Grab(_)
            | Command::Drag(_)
            | Command::Release
            | Command::Throw(_) => self.play(&command),
            Command::Replay(_)
            | Command::LoopReplay(_)
            | Command::ShowTake(_)
            | Command::Compare(_)
            | Command::SwapTakes => self.use_recording(&command),
            Command::Keymap(keymap) => self.choose_keymap(keymap),
            Command::Tour(shown) => self.show_tour(shown),
            Command::Orbit { yaw, pitch } => self.camera.orbit(yaw, pitch),
            Command::Pan { x, y } => self.camera.pan(x, y, self.aspect),
            Command::Zoom(factor) => self.camera.zoom(factor),
            Command::SetCamera(camera) => self.camera = camera.sane(),
            Command::Hover(at) => self.aiming.point_at(at),
            Command::Tool(_)
            | Command::Hit(_)
            | Command::Pin(_)
            | Command::MovePin(_)
            | Command::ToggleKept(_)
            | Command::KeepNone
            | Command::Dab { .. }
            | Command::EraseAll
            | Command::PaintByStress(_)
            | Command::BreakWhereItPulls
            | Command::InvertKept
            | Command::BreakPin
            | Command::CrackPin
            | Command::Unpin => self.use_tool(&command),
            Command::AddDialog => self.ask(Purpose::Add),
            Command::Add(_)
            | Command::Duplicate(_)
            | Command::RemoveObject(_)
            | Command::NameObject(..)
            | Command::Focus(_)
            | Command::Place(_)
            | Command::PutOnFloor(_)
            | Command::SetLevel(_)
            | Command::SetImport { .. }
            | Command::TakeAs(..)
            | Command::StandUp(..) => self.arrange(&command),
            Command::TakeObjects(path, how) => self.take_objects(&path, how),
            Command::SelectAt { .. }
            | Command::SelectIn { .. }
            | Command::Select(_)
            | Command::SelectAll
            | Command::EditPieces(_)
            | Command::FrameSelection => self.use_selection(command),
            Command::ProbeAt(at) => self.probe_at(at),
            Command::ExportSelected => self.export_selected(),
            Command::FrameAll => self.frame(None),
            Command::LookFrom(axis, other_end) => self.camera.look_from(axis, other_end),
            Command::RunOn(choice) => self.run_on(choice),
            Command::Dismiss(id) => self.messages.dismiss(id),
            // The panels handle these themselves.
            Command::TogglePalette | Command::ToggleHelp | Command::Fold(_) | Command::AimByKeys => {}
            other => self.apply_to_sandbox(other),
        }
    }

    fn apply_to_sandbox(&mut self, command: Command) {
        let Some(sandbox) = &mut self.sandbox else {
            return;
        };
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
            Command::CancelImport => {
                self.reading = None;
                self.saving.leaving.take_if(|going| matches!(going, Going::Open(..)));
                sandbox.cancel_open();
            }
            Command::EndGesture => sandbox.end_gesture(),
            Command::Tune { gesture, tuning } => self.tune(gesture, *tuning),
            _ => {}
        }
    }

    fn frame(&mut self, only: Option<&BTreeSet<BodyId>>) {
        if let Some(sandbox) = &self.sandbox {
            self.camera.frame_points(&sandbox.surface_points(only), self.aspect);
            // A framed selection leaves room for its surroundings.
            self.camera.zoom(if only.is_some() { 1.4 } else { 1.0 });
        }
    }

    /// Mean time per picture, ms.
    pub fn frame_ms(&self) -> f64 {
        self.times.frame_ms()
    }

    /// Times of the last frame's parts.
    pub fn frame_parts(&self) -> FrameParts {
        self.times.parts
    }

    /// Records the time of a whole frame, and its shares for laying out the panels and presenting.
    pub fn frame_took(&mut self, ms: f64, panels_ms: f64, present_ms: f64) {
        (self.times.parts.panels_ms, self.times.parts.present_ms) = (panels_ms, present_ms);
        let room_ms = self.times.frame_took(ms, self.sandbox.as_ref().map(Sandbox::preview));
        if let (Some(room_ms), Some(sandbox)) = (room_ms, &mut self.sandbox) {
            sandbox.leave_room_for_preview(room_ms);
        }
    }
}

/// Whether a path has a scene file's extension.
fn is_scene(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// Reads a scene file, or makes a scene of a mesh that stands on the floor.
fn scene_of(path: &Path, level: u32, may_name_outside: bool) -> Result<ReadScene, SceneError> {
    if is_scene(path) {
        let (scene, file) =
            if may_name_outside { load_scene_with_outside(path) } else { load_scene_file(path) }?;
        return Ok(ReadScene { file: Some(file), ..scene.into() });
    }
    let name =
        crate::files::as_text(path).map_err(|why| SceneError::new(format!("{}: {why}", path.display())))?;
    let mut scene = Scene::of_mesh(name, level);
    imports::apply(&mut scene);
    Ok(scene.into())
}
