//! Material presets in the window: their list with pictures, applying and saving them.
//!
//! In: the user's folder, commands. Out: the panel's list, tuned values, files. A worker draws the pictures of the
//! user's own presets one after the other.

use std::{path::Path, sync::Arc};

use super::Session;
use crate::{
    render::Pixels,
    scene::{
        MaterialPreset, Sandbox,
        presets::{draw_preset, presets, read_preset, save_preset, shipped_picture},
    },
    threads::Pending,
    ui::{NoticeKind, PresetView},
};

/// The list, and the worker that draws its pictures.
#[derive(Default)]
pub(super) struct Presets {
    shown: Vec<PresetView>,
    /// A preset, and its picture if it can be drawn; nothing where drawing it stopped by a panic.
    drawing: Option<(MaterialPreset, Pending<Option<Option<Pixels>>>)>,
    /// Whether the folder has been read.
    is_read: bool,
}

impl Presets {
    /// The list for the panel.
    pub fn shown(&self) -> &[PresetView] {
        &self.shown
    }

    /// Whether pictures are being drawn.
    pub fn is_drawing(&self) -> bool {
        self.drawing.is_some()
    }

    /// Reads the list; returns messages about files that were skipped.
    fn read(&mut self) -> Vec<String> {
        let (listed, problems) = presets();
        let old = std::mem::take(&mut self.shown);
        let view = |(i, one): (usize, crate::scene::presets::Listed)| {
            // Unchanged presets keep their pictures.
            let known =
                old.iter().find(|view| view.preset == one.preset).and_then(|view| view.picture.clone());
            let drawn = || one.file.is_none().then(|| shipped_picture(i).map(Arc::new)).flatten();
            let picture = known.or_else(drawn);
            PresetView { preset: one.preset, picture, is_own: one.file.is_some() }
        };
        self.shown = listed.into_iter().enumerate().map(view).collect();
        self.is_read = true;
        problems
    }

    /// Takes finished pictures and starts to `draw` the next one. Returns the name of a preset at which drawing panicked.
    fn poll<E: 'static>(&mut self, draw: fn(&MaterialPreset) -> Result<Pixels, E>) -> Option<String> {
        let mut stopped = None;
        if let Some((preset, drawing)) = &self.drawing {
            let drawn = drawing.poll(|| None)?;
            stopped = drawn.is_none().then(|| preset.name.clone());
            for view in self.shown.iter_mut().filter(|view| view.preset == *preset) {
                // A picture that cannot be drawn is not tried again, in every frame.
                view.picture = Some(Arc::new(drawn.clone().flatten().unwrap_or_else(blank)));
            }
            self.drawing = None;
        }
        let next = self.shown.iter().find(|view| view.picture.is_none());
        if let Some(preset) = next.map(|view| view.preset.clone()) {
            let drawn = preset.clone();
            self.drawing = Some((preset, Pending::start(move || Some(draw(&drawn).ok()))));
        }
        stopped
    }
}

/// Placeholder for a picture that cannot be drawn.
fn blank() -> Pixels {
    Pixels { size: [1, 1], rgba: vec![60, 62, 68, 255] }
}

impl Session {
    /// The list for the panel.
    pub fn presets(&self) -> &[PresetView] {
        self.presets.shown()
    }

    /// Reads the list once the engine has started, and takes finished pictures.
    pub(super) fn poll_presets(&mut self) {
        if self.sandbox.is_none() {
            return;
        }
        if !self.presets.is_read {
            self.read_presets();
        }
        if let Some(name) = self.presets.poll(draw_preset) {
            let text =
                format!("the picture of the preset {name:?} could not be drawn: that stopped unexpectedly");
            self.say(NoticeKind::Error, text);
        }
    }

    fn read_presets(&mut self) {
        for problem in self.presets.read() {
            self.say(NoticeKind::Error, problem);
        }
    }

    /// Applies a preset to the tuned values, as one undo step.
    pub(super) fn apply_preset(&mut self, preset: &MaterialPreset) {
        let level = self.level();
        if let Some(sandbox) = &mut self.sandbox {
            let mut tuning = sandbox.tuning().clone();
            preset.apply(&mut tuning, level);
            sandbox.tune("preset", tuning);
            sandbox.end_gesture();
        }
    }

    /// Takes a preset that somebody shared as a file into the list, under a name of its own, and applies it. Returns whether the
    /// file is a preset.
    pub(super) fn take_in_preset(&mut self, path: &Path) -> bool {
        let Ok(shared) = read_preset(path) else { return false };
        // Another window may have saved one of this name since.
        self.read_presets();
        let known = |name: &str| {
            let name = name.trim().to_lowercase();
            self.presets.shown().iter().find(|view| view.preset.name.trim().to_lowercase() == name)
        };
        let own = Some(shared.name.trim()).filter(|name| !name.is_empty());
        let name = own.map_or_else(
            || path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            str::to_owned,
        );
        let numbered = (2..).map(|number| format!("{name} {number}"));
        let is_free = |name: &String| known(name).is_none_or(|view| view.preset.same_material(&shared));
        let Some(name) = std::iter::once(name.clone()).chain(numbered).find(is_free) else { return false };
        let preset = MaterialPreset { name, ..shared };
        if known(&preset.name).is_none() {
            match save_preset(&preset) {
                Ok(_) => self.read_presets(),
                Err(error) => {
                    self.say(NoticeKind::Error, error.message);
                    return true;
                }
            }
        }
        self.say(NoticeKind::Remark, format!("The preset {:?} is in the list under Material", preset.name));
        self.apply_preset(&preset);
        true
    }

    /// Saves the panels' material settings as a preset.
    pub(super) fn save_preset(&mut self, name: &str) {
        let Some(tuning) = self.sandbox.as_ref().map(Sandbox::tuning) else { return };
        match save_preset(&MaterialPreset::of_tuning(tuning, name.trim())) {
            Ok(file) => {
                self.say(NoticeKind::Remark, format!("Saved the preset {}", file.display()));
                self.read_presets();
            }
            Err(error) => self.say(NoticeKind::Error, error.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::{Duration, Instant},
    };

    use super::*;
    use crate::{app::session::testing::session, fracture::Preset, scene::Tuning, ui::Command};

    #[test]
    fn a_preset_at_which_drawing_panics_is_drawn_once_and_named() {
        static TRIED: AtomicUsize = AtomicUsize::new(0);
        let draw = |_: &MaterialPreset| -> Result<Pixels, ()> {
            TRIED.fetch_add(1, Ordering::SeqCst);
            panic!("a test asked for it")
        };
        let preset = MaterialPreset::of_tuning(&Tuning::default(), "bad");
        let shown = vec![PresetView { preset, picture: None, is_own: true }];
        let mut presets = Presets { shown, ..Presets::default() };
        let mut named = Vec::new();
        let start = Instant::now();
        let mut turns_after = 0;
        while turns_after < 100 {
            named.extend(presets.poll(draw));
            turns_after += usize::from(!named.is_empty());
            assert!(start.elapsed() < Duration::from_secs(60), "{named:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((TRIED.load(Ordering::SeqCst), named.as_slice()), (1, &["bad".to_owned()][..]));
        assert!(!presets.is_drawing() && presets.shown()[0].picture.is_some());
    }

    /// Waits until another object is open.
    fn open(session: &mut Session, file: &str) {
        session.apply(Command::Open(file.into()));
        let start = Instant::now();
        let is_open = |session: &Session| {
            session.sandbox.as_ref().is_some_and(|s| s.shown_object().is_some_and(|o| o.scene.file == file))
        };
        while !is_open(session) {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{file} is not opened: {:?}",
                session.errors()
            );
            std::thread::sleep(Duration::from_millis(2));
            session.poll();
        }
    }

    #[test]
    fn an_opened_mesh_begins_with_defaults_whatever_was_chosen_for_the_one_before() {
        let mut session = session();
        session.poll();
        let glass = session.presets()[1].clone();
        assert!(glass.picture.is_some() && !glass.is_own && glass.preset.name == "Glass");
        let tuning = |session: &Session| Tuning::clone(session.sandbox.as_ref().unwrap().tuning());
        let weighs = |session: &Session| session.sandbox.as_ref().unwrap().bodies()[0].def.shape.density();
        let (before, light) = (tuning(&session), weighs(&session));
        session.apply(Command::ApplyPreset(Box::new(glass.preset.clone())));
        assert!(glass.preset.is_in(&tuning(&session), 5) && light != 2500.0);
        open(&mut session, "builtin:sphere");
        let opened = tuning(&session);
        assert_eq!(opened.fracture, before.fracture, "it breaks as glass does");
        assert_eq!(
            (opened.strength, opened.density, weighs(&session)),
            (before.strength, before.density, light)
        );
        session.apply(Command::Undo);
        assert!(
            glass.preset.is_in(&tuning(&session), 5),
            "undo brings the first mesh back with its material"
        );
        let scene = crate::scene::shipped_scenes().unwrap().join("p08-drop.toml");
        session.apply(Command::Open(scene));
        let start = Instant::now();
        while tuning(&session).fracture.preset == Preset::Radial {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", session.errors());
            std::thread::sleep(Duration::from_millis(2));
            session.poll();
        }
    }
}
