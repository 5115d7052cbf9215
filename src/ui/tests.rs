//! The panels without a window: laid out, pressed by their accessible names, and what comes of it.

use std::borrow::Cow;

use egui_kittest::{
    Harness,
    kittest::{NodeT as _, Queryable as _},
};

use super::*;
use crate::{
    compute::{Choice, Compute},
    fracture::Preset,
    render::Camera,
    scene::{Arrived, ExportOrder, Scene, presets::presets, variants::SheetOrder},
};

/// A sandbox with the panels on it.
pub(super) struct Panels {
    pub sandbox: Sandbox,
    pub state: UiState,
    presets: Vec<PresetView>,
    pub pin: Option<PinView>,
    pub hover: Option<Hover>,
    pub prompt: Option<PathPrompt>,
    pub question: Option<Question>,
    /// Settings of the export panel, while it is open.
    pub export: Option<ExportOrder>,
    /// The sheet of variants, while it is open.
    pub sheet: Option<(SheetOrder, Vec<SheetTile>)>,
    pub notices: Vec<Notice>,
    replay: ReplayView,
    keymap: Keymap,
    out: UiOutput,
    pub tool: Tool,
    pub tour: bool,
    /// What was asked for, beside the pointer's own.
    pub asked: Vec<Command>,
}

impl Panels {
    pub fn open() -> Self {
        Self::of(Scene::of_mesh("builtin:box", 4))
    }

    pub fn of(scene: Scene) -> Self {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(scene);
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let listed = presets().0.into_iter().take(5);
        let view = |one: crate::scene::presets::Listed| PresetView {
            preset: one.preset,
            picture: None,
            is_own: false,
        };
        Self {
            sandbox,
            state: UiState::default(),
            presets: listed.map(view).collect(),
            pin: None,
            hover: None,
            prompt: None,
            question: None,
            export: None,
            sheet: None,
            notices: Vec::new(),
            replay: ReplayView::default(),
            keymap: Keymap::default(),
            out: UiOutput::default(),
            tool: Tool::Hammer,
            tour: false,
            asked: Vec::new(),
        }
    }

    fn frame(&mut self, ui: &mut egui::Ui) {
        theme::apply(ui.ctx());
        let export = self.export.as_ref().map(|order| ExportView {
            order,
            pieces: self.sandbox.bodies().len(),
            take: None,
            frames: 0,
            taken: false,
            choosing: false,
            job: None,
            last: None,
        });
        let sheet = self.sheet.as_ref().map(|(order, tiles)| SheetView {
            order,
            columns: tiles.len(),
            tiles,
            kept: None,
            levels: Some([4, 4]),
            problem: None,
            command: None,
        });
        let input = UiInput {
            sandbox: Some(&self.sandbox),
            camera: Camera::default(),
            playing: false,
            replay: self.replay,
            keymap: self.keymap,
            pace: 1.0,
            has_picture: true,
            picture_size: [10, 10],
            written_size: None,
            picture_progress: None,
            frame_ms: 1.0,
            render_timings: &[],
            notices: &self.notices,
            hover: self.hover,
            tool: self.tool,
            pin: self.pin,
            over_cell: false,
            drag: None,
            speed: 1.0,
            starting: None,
            hint: true,
            tour: self.tour,
            earlier_sessions: &[],
            export,
            sheet,
            prompt: self.prompt.as_ref(),
            question: self.question.as_ref(),
            presets: &self.presets,
            adapter: "none",
            compute: Choice::Cpu,
        };
        self.out = show(ui, &mut self.state, &input);
        for command in std::mem::take(&mut self.out.commands) {
            match command {
                Command::Tune { gesture, tuning } => self.sandbox.tune(gesture, *tuning),
                Command::ApplyPreset(preset) => {
                    let mut tuning = self.sandbox.tuning().clone();
                    preset.apply(&mut tuning, 4);
                    self.sandbox.tune("preset", tuning);
                }
                Command::Select(ids) => {
                    self.sandbox.select(ids.iter().copied());
                    self.asked.push(Command::Select(ids));
                }
                Command::SelectAll => self.sandbox.select_all(),
                Command::Focus(focus) => self.sandbox.focus_on(focus),
                Command::NameObject(object, name) => self.sandbox.name_object(object, &name),
                Command::Place(poses) => self.sandbox.place(&poses),
                Command::EditPieces(edit) => {
                    self.sandbox.edit(edit).unwrap();
                    self.asked.push(Command::EditPieces(edit));
                }
                Command::ChangeExport(order) => self.export = Some(*order),
                Command::ChangeSheet(order) => {
                    self.sheet.iter_mut().for_each(|(own, _)| own.clone_from(&order));
                }
                Command::Hover(_) => {}
                other => self.asked.push(other),
            }
        }
        if !ui.input(|i| i.pointer.any_down()) {
            self.sandbox.end_gesture();
        }
    }

    pub fn rects(&self) -> &[(Cow<'static, str>, egui::Rect)] {
        &self.out.rects
    }

    /// Where the picture lies.
    pub fn viewport(&self) -> egui::Rect {
        self.out.viewport.unwrap()
    }

    pub fn rect(&self, name: &str) -> egui::Rect {
        let found = self.out.rects.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no widget is called {name}")).1
    }
}

pub(super) fn harness(width: f32, height: f32) -> Harness<'static, Panels> {
    harness_of(Panels::open(), width, height)
}

pub(super) fn harness_of(panels: Panels, width: f32, height: f32) -> Harness<'static, Panels> {
    let build = Harness::builder().with_size(egui::vec2(width, height));
    let mut harness = build.build_ui_state(|ui, panels: &mut Panels| panels.frame(ui), panels);
    harness.run_steps(3);
    harness
}

pub(super) fn press(harness: &mut Harness<'_, Panels>, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

#[test]
fn a_material_is_one_click_and_one_step_of_undo() {
    let mut harness = harness(1280.0, 800.0);
    let before = harness.state().sandbox.tuning().clone();
    let is_chosen = |harness: &Harness<'_, Panels>| {
        harness.get_by_label("Glass").accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    assert!(!is_chosen(&harness));
    press(&mut harness, "Glass");
    let tuning = harness.state().sandbox.tuning().clone();
    assert_eq!((tuning.fracture.preset, tuning.density), (Preset::Radial, 2500.0));
    assert!(is_chosen(&harness));
    press(&mut harness, "Wood");
    assert_eq!(harness.state().sandbox.tuning().fracture.preset, Preset::Grain);
    assert!(!is_chosen(&harness));
    let sandbox = &mut harness.state_mut().sandbox;
    assert_eq!(sandbox.undo().as_deref(), Some("preset"));
    assert_eq!(*sandbox.tuning(), tuning);
    sandbox.undo();
    assert_eq!(*sandbox.tuning(), before);
    assert!(sandbox.undo().is_none(), "two clicks are two steps");
}

#[test]
fn what_is_set_is_kept_under_a_name() {
    let mut harness = harness(1280.0, 800.0);
    assert!(harness.get_by_label("Keep as a material").accesskit_node().is_disabled());
    harness.state_mut().state.preset_name = " My clay ".into();
    harness.run_steps(2);
    press(&mut harness, "Keep as a material");
    assert_eq!(harness.state().asked.last(), Some(&Command::SavePreset(" My clay ".into())));
}

#[test]
fn seeds_go_to_the_most_there_are() {
    let harness = harness(1280.0, 800.0);
    let most = |label: &str| harness.get_by_label(label).accesskit_node().max_numeric_value();
    assert_eq!(most("Seeds"), Some(f64::from(crate::fracture::MAX_SEEDS)));
    assert!(harness.query_by_label("Target rate").is_some());
    assert!(harness.query_by_label("Smoothness").is_none() && harness.query_by_label("Sharpness").is_none());
}

#[test]
fn choosing_exploded_leaves_the_slider() {
    let mut harness = harness(1280.0, 800.0);
    press(&mut harness, "exploded");
    let view = harness.state().sandbox.tuning().view;
    assert_eq!((view.preview, view.explode), (crate::scene::PreviewMode::Exploded, 0.0));
}

#[test]
fn f1_lists_every_key_and_closes_again() {
    let mut harness = harness(1280.0, 800.0);
    harness.key_press(egui::Key::F1);
    harness.run_steps(3);
    assert!(harness.query_by_label("Mouse and keys").is_some());
    for (modifiers, key, _, what) in shortcuts::bound(Keymap::Kintsugi, shortcuts::Time::default())
        .into_iter()
        .chain([shortcuts::OF_PIN, shortcuts::OF_SELECTION])
    {
        let spelled = shortcuts::spelled(modifiers, key);
        assert!(harness.query_all_by_label(what).next().is_some(), "{what} is not listed");
        assert!(harness.query_all_by_label(&spelled).next().is_some(), "{spelled} is not listed");
    }
    assert!(harness.query_by_label(closing::ESCAPE.0).is_some());
    harness.key_press(egui::Key::Escape);
    harness.run_steps(3);
    assert!(harness.query_by_label("Mouse and keys").is_none());
}

#[test]
fn keys_ask_for_what_they_say() {
    use egui::{Key, Modifiers};
    let mut harness = harness(1280.0, 800.0);
    for (modifiers, key, command) in [
        (Modifiers::NONE, Key::X, Command::LookFrom(crate::render::Axis::X, false)),
        (Modifiers::SHIFT, Key::X, Command::LookFrom(crate::render::Axis::X, true)),
        (Modifiers::COMMAND, Key::Z, Command::Undo),
        (Modifiers::COMMAND | Modifiers::SHIFT, Key::Z, Command::Redo),
        (Modifiers::NONE, Key::Z, Command::LookFrom(crate::render::Axis::Z, false)),
        (Modifiers::COMMAND | Modifiers::SHIFT, Key::S, Command::SaveAsDialog),
        (Modifiers::COMMAND, Key::S, Command::SaveDialog),
        (Modifiers::NONE, Key::S, Command::Tool(Tool::Select)),
    ] {
        harness.state_mut().asked.clear();
        harness.key_press_modifiers(modifiers, key);
        harness.run_steps(2);
        assert_eq!(harness.state().asked, [command], "{modifiers:?} {key:?}");
    }
}

#[test]
fn a_path_is_asked_for_and_a_file_that_is_there_is_named_twice() {
    let mut harness = harness(800.0, 600.0);
    let prompt = PathPrompt { asks: PathPurpose::Save, proposed: "/tmp/a.toml".into(), there: None };
    harness.state_mut().prompt = Some(prompt.clone());
    harness.run_steps(3);
    // Both the toolbar's and the prompt's.
    assert_eq!(harness.query_all_by_label("Save").count(), 2);
    harness.key_press(egui::Key::Enter);
    harness.run_steps(2);
    assert_eq!(harness.state().asked.last(), Some(&Command::AnswerPrompt(Some("/tmp/a.toml".into()))));
    harness.state_mut().prompt = Some(PathPrompt { there: Some("/tmp/a.toml".into()), ..prompt });
    harness.run_steps(3);
    press(&mut harness, "Save over it");
    assert_eq!(harness.state().asked.last(), Some(&Command::AnswerPrompt(Some("/tmp/a.toml".into()))));
    press(&mut harness, "Cancel");
    assert_eq!(harness.state().asked.last(), Some(&Command::AnswerPrompt(None)));
}

/// At the smallest window all answers are inside and apart, and no key behind the question does anything.
#[test]
fn a_question_is_whole_and_nothing_happens_behind_it() {
    let mut harness = harness(640.0, 480.0);
    let answers = ["Save under another name …", "Discard them and open the other", "Cancel"];
    harness.state_mut().question = Some(Question {
        title: "Unsaved changes".into(),
        text: format!(
            "The scene could not be kept: /{}: no space left on device",
            "a_long_folder/".repeat(12)
        ),
        answers: answers.map(str::to_owned).to_vec(),
    });
    harness.run_steps(3);
    let rects: Vec<egui::Rect> =
        answers.iter().map(|label| harness.query_all_by_label(label).last().unwrap().rect()).collect();
    let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(640.0, 480.0));
    assert!(rects.iter().all(|rect| window.contains_rect(*rect)), "{rects:?}");
    let apart = |a: usize, b: usize| !rects[a].intersects(rects[b]);
    assert!(apart(0, 1) && apart(1, 2) && apart(0, 2), "{rects:?}");
    harness.state_mut().asked.clear();
    harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
    harness.run_steps(2);
    assert_eq!(harness.state().asked, []);
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    assert_eq!(harness.state().asked, [Command::AnswerQuestion(2)], "Escape is the last answer");
    harness.state_mut().asked.clear();
    press(&mut harness, answers[1]);
    assert_eq!(harness.state().asked.last(), Some(&Command::AnswerQuestion(1)));
}

#[test]
fn the_scenes_are_a_list_of_pictures() {
    let mut harness = harness(800.0, 600.0);
    press(&mut harness, "Scenes …");
    for scene in crate::scene::SHIPPED_SCENES {
        // Some shapes and patterns have the same name.
        let shapes = crate::mesh::BUILTIN_NAMES.iter().filter(|name| **name == scene.name).count();
        let patterns = Preset::ALL.iter().filter(|preset| preset.name() == scene.name).count();
        let found = harness.query_all_by_label(scene.name).count();
        assert_eq!(found, 1 + shapes + patterns, "{}", scene.name);
    }
    press(&mut harness, "columns");
    let path = crate::scene::shipped_scenes().unwrap().join("columns.toml");
    assert_eq!(harness.state().asked.last(), Some(&Command::Open(path)));
    assert!(harness.query_by_label("columns").is_none(), "it closes");
}

#[test]
fn every_keymap_is_listed_and_asks_for_what_it_says() {
    use egui::{Key, Modifiers};
    let look = |axis: crate::render::Axis, other: bool| Command::LookFrom(axis, other);
    let mut harness = harness(1280.0, 800.0);
    press(&mut harness, "Blender");
    assert_eq!(harness.state().asked.last(), Some(&Command::Keymap(Keymap::Blender)));
    for (keymap, keys) in [
        (
            Keymap::Blender,
            [
                (Modifiers::NONE, Key::Num1, look(crate::render::Axis::Z, false)),
                (Modifiers::COMMAND, Key::Num3, look(crate::render::Axis::X, true)),
                (Modifiers::NONE, Key::Period, Command::FrameSelection),
            ],
        ),
        (
            Keymap::Maya,
            [
                (Modifiers::NONE, Key::A, Command::FrameAll),
                (Modifiers::NONE, Key::F, Command::FrameSelection),
                (Modifiers::NONE, Key::Period, Command::Step),
            ],
        ),
    ] {
        harness.state_mut().keymap = keymap;
        for (modifiers, key, command) in keys {
            harness.state_mut().asked.clear();
            harness.key_press_modifiers(modifiers, key);
            harness.run_steps(2);
            assert_eq!(harness.state().asked, [command], "{keymap:?} {modifiers:?} {key:?}");
        }
        harness.key_press(egui::Key::F1);
        harness.run_steps(3);
        for (keys, _) in keymap.mouse() {
            assert!(harness.query_by_label(keys).is_some(), "{keys} is not listed for {keymap:?}");
        }
        harness.key_press(egui::Key::F1);
        harness.run_steps(3);
    }
}

#[test]
fn drags_move_the_eye_as_the_keymap_says() {
    let mut harness = harness(1280.0, 800.0);
    let middle = harness.state().out.viewport.unwrap().center();
    let mut dragged = |keymap: Keymap, button: egui::PointerButton, modifiers: egui::Modifiers| {
        harness.state_mut().keymap = keymap;
        harness.state_mut().asked.clear();
        let press =
            |pos: egui::Pos2, pressed: bool| egui::Event::PointerButton { pos, button, pressed, modifiers };
        harness.event_modifiers(egui::Event::PointerMoved(middle), modifiers);
        harness.event_modifiers(press(middle, true), modifiers);
        harness.run_steps(1);
        for step in 1..4 {
            let at = middle + egui::vec2(12.0, 9.0) * step as f32;
            harness.event_modifiers(egui::Event::PointerMoved(at), modifiers);
            harness.run_steps(1);
        }
        harness.event_modifiers(press(middle + egui::vec2(36.0, 27.0), false), modifiers);
        harness.run_steps(1);
        let kind = |command: &Command| match command {
            Command::Orbit { .. } => Some("orbit"),
            Command::Pan { .. } => Some("pan"),
            Command::Zoom(_) => Some("zoom"),
            _ => None,
        };
        harness.state().asked.iter().find_map(kind)
    };
    use egui::{Modifiers as M, PointerButton as B};
    assert_eq!(dragged(Keymap::Kintsugi, B::Primary, M::NONE), Some("orbit"));
    assert_eq!(dragged(Keymap::Kintsugi, B::Secondary, M::NONE), Some("pan"));
    assert_eq!(dragged(Keymap::Blender, B::Middle, M::NONE), Some("orbit"));
    assert_eq!(dragged(Keymap::Blender, B::Middle, M::SHIFT), Some("pan"));
    assert_eq!(dragged(Keymap::Blender, B::Middle, M::CTRL), Some("zoom"));
    assert_eq!(dragged(Keymap::Maya, B::Primary, M::NONE), None);
    assert_eq!(dragged(Keymap::Maya, B::Primary, M::ALT), Some("orbit"));
    assert_eq!(dragged(Keymap::Maya, B::Secondary, M::ALT), Some("zoom"));
}

/// Breaks the box and lets some steps pass.
pub(super) fn record(panels: &mut Panels) {
    let sandbox = &mut panels.sandbox;
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, glam::DVec3::NEG_Y);
    while sandbox.poll().unwrap() != Some(Arrived::Broke) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    (0..12).for_each(|_| sandbox.step().unwrap());
}

#[test]
fn the_recording_is_played_and_takes_are_chosen() {
    let mut harness = harness(800.0, 600.0);
    assert!(harness.get_by_label("Replay").accesskit_node().is_disabled());
    assert!(harness.get_by_label("Takes").accesskit_node().is_disabled());
    record(harness.state_mut());
    harness.run_steps(3);
    press(&mut harness, "Replay");
    assert_eq!(harness.state().asked.last(), Some(&Command::Replay(true)));
    press(&mut harness, "Loop");
    assert_eq!(harness.state().asked.last(), Some(&Command::LoopReplay(true)));
    harness.key_press(egui::Key::R);
    harness.run_steps(2);
    assert_eq!(harness.state().asked.last(), Some(&Command::Replay(true)));
    // While it runs, both the button and Space stop it.
    harness.state_mut().replay.running = true;
    harness.run_steps(2);
    press(&mut harness, "Stop");
    harness.key_press(egui::Key::Space);
    harness.run_steps(2);
    assert_eq!(harness.state().asked[3..], [Command::Replay(false), Command::Replay(false)]);
    // Going on from an earlier moment makes a second take.
    assert!(harness.state_mut().sandbox.show_recorded(4));
    harness.state_mut().sandbox.step().unwrap();
    harness.run_steps(3);
    press(&mut harness, "Takes");
    press(&mut harness, "Compare with take 1");
    assert_eq!(harness.state().asked.last(), Some(&Command::Compare(Some(1))));
    press(&mut harness, "Take 1");
    assert_eq!(harness.state().asked.last(), Some(&Command::ShowTake(1)));
    let (viewport, timeline) = (harness.state().out.viewport.unwrap(), harness.state().rect("timeline"));
    assert!(timeline.width() > 100.0 && timeline.top() >= viewport.bottom() - 1.0, "{timeline}");
    assert!(harness.state().rect("speed").right() < 800.0);
}

#[test]
fn undo_says_what_it_takes_back() {
    let mut harness = harness(1280.0, 800.0);
    let undo = |harness: &Harness<'_, Panels>| {
        harness.state().sandbox.history().undo_label().map(str::to_owned).unwrap_or_default()
    };
    record(harness.state_mut());
    assert_eq!(undo(&harness), "break box");
    let mut tuning = harness.state().sandbox.tuning().clone();
    tuning.gravity = 3.0;
    harness.state_mut().sandbox.tune("physics", tuning);
    harness.state_mut().sandbox.end_gesture();
    assert_eq!(undo(&harness), "gravity");
    harness.run_steps(2);
    harness.get_by_label("Undo").hover();
    harness.run_steps(60);
    assert!(harness.query_by_label("Undo: gravity (Ctrl+Z)").is_some());
}

#[cfg(feature = "papers")]
#[test]
fn walls_pairs_generations_and_the_penalty_are_set_where_bodies_are() {
    let mut harness = harness(1280.0, 1700.0);
    press(&mut harness, "Walls");
    let walls = harness.state().sandbox.settings().walls.expect("there are walls");
    let (low, high) = harness.state().sandbox.bounds(None).unwrap();
    assert!(walls.is_sound() && walls.low.x < f64::from(low.x) && walls.high.cmpgt(high.as_dvec3()).all());
    assert_eq!(walls.low.y, 0.0, "from the floor on");
    // All three numbers of a corner fit, and so does what gives a pair a level.
    let right = harness.state().out.viewport.unwrap().right() + theme::PANEL_WIDTH - theme::MARGIN;
    for name in ["walls_low_z", "walls_high_z", "pair_add", "throw_size"] {
        let rect = harness.state().rect(name);
        assert!(rect.right() <= right, "{name} ends at {} of {right}", rect.right());
    }
    press(&mut harness, "Walls");
    assert!(harness.state().sandbox.settings().walls.is_none());
    press(&mut harness, "Give this pair a level");
    let pairs = harness.state().sandbox.tuning().pairs.clone();
    assert_eq!(pairs.iter().map(|pair| pair.bodies).collect::<Vec<_>>(), [[0, 0]]);
    let saved = harness.state().sandbox.scene(Camera::default());
    assert_eq!((saved.pairs.len(), saved.pairs[0].bodies[0].as_str()), (1, "body 0"));
    assert!(harness.get_by_label("Give this pair a level").accesskit_node().is_disabled());
    press(&mut harness, "Remove box with its pieces");
    assert!(harness.state().sandbox.tuning().pairs.is_empty());
    press(&mut harness, "Breaks when struck");
    harness.state().rect("break_generations");
    assert!(harness.query_by_label("Stiffness 10^").is_none());
    let mut tuning = harness.state().sandbox.tuning().clone();
    tuning.response = "penalty".parse().unwrap();
    harness.state_mut().sandbox.tune("response", tuning);
    harness.run_steps(3);
    assert!(harness.query_by_label("Stiffness 10^").is_some() && harness.query_by_label("Drag").is_some());
}

#[cfg(feature = "papers")]
#[test]
fn distance_fields_have_a_level_and_can_be_looked_at() {
    let mut harness = harness(1280.0, 2400.0);
    assert!(harness.query_by_label("Field level").is_none(), "contacts are not found by fields");
    let mut tuning = harness.state().sandbox.tuning().clone();
    tuning.contacts = crate::bodies::ContactsId::named("field").unwrap();
    harness.state_mut().sandbox.tune("contacts", tuning);
    harness.run_steps(3);
    assert!(harness.query_by_label("Field level").is_some());
    let level = harness.state().sandbox.settings().options.value(&crate::papers::field::LEVEL);
    assert_eq!(level, 5.0);

    let header = harness.query_all_by_label("Inside").last().unwrap();
    header.click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Slice at").is_none());
    press(&mut harness, "Distance field");
    assert!(harness.query_by_label("Slice at").is_some() && harness.query_by_label("Front step").is_none());
    press(&mut harness, "Fronts");
    press(&mut harness, "Sphere trees");
    let view = harness.state().sandbox.tuning().view.inside;
    let shown: Vec<(&str, Option<u32>)> =
        view.parts().iter().map(|part| (part.maker.name, part.number)).collect();
    assert_eq!(shown, [("field-slice", None), ("fronts", Some(u32::MAX)), ("spheres", Some(6))]);
    assert!(harness.query_by_label("Front step").is_some() && harness.query_by_label("Tree level").is_some());
    assert_eq!(view.parts().len(), 3);
}
