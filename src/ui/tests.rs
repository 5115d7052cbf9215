//! The panels without a window: laid out, pressed by their accessible names, and what comes of it.

use egui_kittest::{
    Harness, Node,
    kittest::{NodeT as _, Queryable as _},
};

use super::*;
use crate::{
    compute::{Choice, Compute},
    fracture::Preset,
    scene::{Arrived, Scene, presets::presets},
};

/// A sandbox with the panels on it.
pub(super) struct Panels {
    pub sandbox: Sandbox,
    state: UiState,
    presets: Vec<PresetView>,
    pin: Option<PinView>,
    prompt: Option<PathPrompt>,
    out: UiOutput,
    pub tool: Tool,
    /// What was asked for, beside the pointer's own.
    pub asked: Vec<Command>,
}

impl Panels {
    fn open() -> Self {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:box", 4));
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
            prompt: None,
            out: UiOutput::default(),
            tool: Tool::Hammer,
            asked: Vec::new(),
        }
    }

    fn frame(&mut self, ui: &mut egui::Ui) {
        theme::apply(ui.ctx());
        let input = UiInput {
            sandbox: Some(&self.sandbox),
            camera: Camera::default(),
            playing: false,
            pace: 1.0,
            has_picture: true,
            picture_size: [10, 10],
            written_size: None,
            frame_ms: 1.0,
            render_timings: &[],
            notices: &[],
            hover: None,
            tool: self.tool,
            pin: self.pin,
            over_cell: false,
            drag: None,
            speed: 1.0,
            starting: None,
            hint: true,
            earlier_sessions: &[],
            export: None,
            prompt: self.prompt.as_ref(),
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
                Command::EditPieces(edit) => {
                    self.sandbox.edit(edit).unwrap();
                    self.asked.push(Command::EditPieces(edit));
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

    pub fn rect(&self, name: &str) -> egui::Rect {
        let found = self.out.rects.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no widget is called {name}")).1
    }
}

pub(super) fn harness(width: f32, height: f32) -> Harness<'static, Panels> {
    let build = Harness::builder().with_size(egui::vec2(width, height));
    let mut harness = build.build_ui_state(|ui, panels: &mut Panels| panels.frame(ui), Panels::open());
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

/// Widgets of the toolbar.
const TOOLBAR: [&str; 18] = [
    "open", "save", "export", "picture", "undo", "redo", "play", "step", "reset", "hammer", "impact", "keep",
    "hand", "throw", "select", "frame", "palette", "help",
];

#[test]
fn no_button_of_the_toolbar_covers_another() {
    for (width, height) in
        [(1280.0, 800.0), (1250.0, 800.0), (1100.0, 700.0), (1080.0, 700.0), (1000.0, 700.0), (800.0, 600.0)]
    {
        let harness = harness(width, height);
        let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width, height));
        let rects: Vec<_> = TOOLBAR.iter().map(|name| (name, harness.state().rect(name))).collect();
        for (i, (name, rect)) in rects.iter().enumerate() {
            assert!(window.contains_rect(*rect), "{name} is outside at {width}: {rect}");
            for (other, at) in &rects[..i] {
                assert!(!rect.shrink(0.5).intersects(at.shrink(0.5)), "{name} covers {other} at {width}");
            }
        }
        let viewport = harness.state().out.viewport.unwrap();
        assert!(viewport.width() > 400.0 && viewport.height() > 350.0, "{viewport} is left at {width}");
    }
}

#[test]
fn panels_fold_away_and_come_back() {
    let mut harness = harness(1280.0, 800.0);
    let width = |harness: &Harness<'_, Panels>| harness.state().out.viewport.unwrap().width();
    let whole = width(&harness);
    press(&mut harness, "Fold the left panel");
    assert!((width(&harness) - whole - 260.0).abs() < 1.0, "{} after {whole}", width(&harness));
    assert!(harness.query_by_label("Glass").is_none());
    harness.key_press(egui::Key::CloseBracket);
    harness.run_steps(3);
    assert!((width(&harness) - whole - 520.0).abs() < 1.0);
    press(&mut harness, "Unfold the left panel");
    press(&mut harness, "Unfold the right panel");
    assert_eq!(width(&harness), whole);
    // What is narrow begins with one panel; the other one is a click away.
    let mut narrow = self::harness(800.0, 600.0);
    assert!(narrow.query_by_label("Resolution").is_none());
    press(&mut narrow, "Unfold the right panel");
    assert!(narrow.query_by_label("Resolution").is_some());
}

#[test]
fn the_button_that_breaks_is_in_sight_and_pinning_moves_nothing() {
    let mut harness = harness(1280.0, 800.0);
    let places = |harness: &Harness<'_, Panels>| {
        ["break", "seeds", "rng", "direction_x", "inside"].map(|name| harness.state().rect(name))
    };
    let before = places(&harness);
    assert!(before[0].bottom() < 700.0, "Break is at {}", before[0]);
    assert!(harness.get_by_label("Break").accesskit_node().is_disabled());
    harness.state_mut().pin = Some(PinView { point: glam::Vec3::ZERO, longest_side: 1.0 });
    harness.run_steps(3);
    assert_eq!(places(&harness), before);
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
fn scroll_bars_cover_no_values() {
    let harness = harness(1280.0, 800.0);
    let bar = egui::Style::default().spacing.scroll.bar_width;
    let values: Vec<Node<'_>> = harness.get_all_by_role(egui::accesskit::Role::SpinButton).collect();
    let in_panel = |edge: f32| values.iter().map(|node| node.rect()).filter(move |r| r.right() < edge);
    let most = |rects: &mut dyn Iterator<Item = egui::Rect>| rects.map(|r| r.right()).fold(0.0, f32::max);
    // The bar floats on the right of what scrolls, inside the panel's margin; the harness has a margin of its own.
    let edge = harness.state().out.viewport.unwrap().left();
    let margin = edge - theme::PANEL_WIDTH;
    let taken = f32::from(theme::panel_frame().inner_margin.right) + bar;
    let left = most(&mut in_panel(edge));
    let right = most(&mut in_panel(1280.0));
    assert!(left > 200.0 && left <= edge - taken, "{left} of {edge}");
    assert!(right > 1200.0 && right <= 1280.0 - margin - taken, "{right}");
}

#[test]
fn f1_lists_every_key_and_closes_again() {
    let mut harness = harness(1280.0, 800.0);
    harness.key_press(egui::Key::F1);
    harness.run_steps(3);
    assert!(harness.query_by_label("Mouse and keys").is_some());
    for (modifiers, key, _, what) in
        shortcuts::bound(false).into_iter().chain(shortcuts::of_pin()).chain(shortcuts::of_selection())
    {
        let spelled = shortcuts::spelled(modifiers, key);
        assert!(harness.query_all_by_label(what).next().is_some(), "{what} is not listed");
        assert!(harness.query_all_by_label(&spelled).next().is_some(), "{spelled} is not listed");
    }
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

#[test]
fn the_scenes_are_a_list_of_pictures() {
    let mut harness = harness(800.0, 600.0);
    press(&mut harness, "Scenes …");
    for scene in crate::scene::SHIPPED_SCENES {
        // Some shapes have the same name.
        let shapes = crate::mesh::BUILTIN_NAMES.iter().filter(|name| **name == scene.name).count();
        let found = harness.query_all_by_label(scene.name).count();
        assert_eq!(found, 1 + shapes, "{}", scene.name);
    }
    press(&mut harness, "columns");
    let path = crate::scene::shipped_scenes().unwrap().join("columns.toml");
    assert_eq!(harness.state().asked.last(), Some(&Command::Open(path)));
    assert!(harness.query_by_label("columns").is_none(), "it closes");
}
