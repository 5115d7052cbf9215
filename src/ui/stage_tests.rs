//! Setting the stage by the panels: the list of objects, the handles of the tool Move, light and camera.

use egui_kittest::kittest::Queryable as _;
use glam::DVec3;

use super::{
    Command, Tool,
    tests::{Panels, harness_of, press},
};
use crate::{
    render::{Backdrop, Camera, Lighting, Surroundings},
    scene::{Scene, SceneBody},
};

type Harness = egui_kittest::Harness<'static, Panels>;

/// Two boxes in front of the camera that the panels have.
fn stage() -> Harness {
    let of = |name: &str, x: f64| SceneBody {
        name: Some(name.into()),
        position: DVec3::new(x, 0.0, 0.0),
        size: Some(0.3),
        ..SceneBody::standing("builtin:box", 3)
    };
    let bodies = vec![of("left box", -0.4), of("right box", 0.4)];
    harness_of(Panels::of(Scene { bodies, ..Scene::default() }), 1600.0, 1000.0)
}

fn values(harness: &Harness, of: fn(&SceneBody) -> f64) -> Vec<f64> {
    harness.state().sandbox.scene(Camera::default()).bodies.iter().map(of).collect()
}

#[test]
fn what_is_chosen_in_the_list_decides_what_the_panels_change() {
    let mut harness = stage();
    let density = |body: &SceneBody| body.density;
    press(&mut harness, "right box");
    assert_eq!(harness.state().sandbox.focus(), Some(1));
    assert_eq!(harness.state().sandbox.selected().count(), 1);
    assert!(harness.query_by_label("The panels change right box alone").is_some());
    press(&mut harness, "Glass");
    assert_eq!(values(&harness, density), [2000.0, 2500.0]);
    press(&mut harness, "left box");
    press(&mut harness, "Wood");
    let [left, right] = values(&harness, density)[..] else { panic!("two bodies") };
    assert!(left < 1000.0 && right == 2500.0, "{left}, {right}");
    press(&mut harness, "All 2 objects");
    assert_eq!((harness.state().sandbox.focus(), harness.state().sandbox.selected().count()), (None, 0));
    press(&mut harness, "Concrete");
    let all = values(&harness, density);
    assert_eq!(all[0], all[1]);
    // Each is a step of undo, choosing an object is none.
    for expected in [[left, right], [2000.0, 2500.0], [2000.0, 2000.0]] {
        harness.state_mut().sandbox.undo();
        assert_eq!(values(&harness, density), expected);
    }
    assert!(harness.state_mut().sandbox.undo().is_none());
}

#[test]
fn a_click_at_the_end_of_a_row_locks_its_object_and_another_unlocks_it() {
    let mut harness = stage();
    let locked = |harness: &Harness| -> Vec<bool> {
        harness.state().sandbox.bodies().iter().map(|body| body.locked).collect()
    };
    press(&mut harness, "right box breaks");
    assert_eq!(locked(&harness), [false, true]);
    assert_eq!(harness.state().sandbox.focus(), None, "the row itself is not clicked");
    press(&mut harness, "right box breaks");
    assert_eq!(locked(&harness), [false, false]);
    press(&mut harness, "left box breaks");
    assert_eq!(locked(&harness), [true, false]);
    assert!(harness.state_mut().sandbox.undo().is_some());
    assert_eq!(locked(&harness), [false, false]);
}

#[test]
fn a_name_that_is_typed_is_taken_at_enter_and_left_at_escape() {
    let mut harness = stage();
    press(&mut harness, "right box");
    let type_in = |harness: &mut Harness, text: &str, end: egui::Key| {
        let at = harness.state().rect("object_name").center();
        harness.hover_at(at);
        harness.drag_at(at);
        harness.drop_at(at);
        harness.run_steps(2);
        harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        harness.event(egui::Event::Text(text.into()));
        harness.run_steps(2);
        harness.key_press(end);
        harness.run_steps(3);
    };
    type_in(&mut harness, "urn", egui::Key::Escape);
    assert_eq!(harness.state().sandbox.object_name(1), "right box");
    type_in(&mut harness, "left box", egui::Key::Enter);
    assert_eq!(harness.state().sandbox.object_name(1), "left box 2", "two of one name cannot be told apart");
}

/// Drags a handle that has this name by so many points.
fn drag(harness: &mut Harness, name: &str, by: egui::Vec2) {
    let from = harness.state().rect(name).center();
    harness.hover_at(from);
    harness.run_steps(2);
    harness.drag_at(from);
    harness.run_steps(1);
    for step in 1..=4u8 {
        harness.hover_at(from + by * (f32::from(step) / 4.0));
        harness.run_steps(1);
    }
    harness.drop_at(from + by);
    harness.run_steps(2);
}

#[test]
fn handles_move_and_turn_what_is_selected_and_nothing_else() {
    let mut harness = stage();
    harness.state_mut().tool = Tool::Move;
    harness.run_steps(2);
    assert!(!harness.state().rects().iter().any(|(name, _)| name == "gizmo"), "nothing is selected");
    let id = harness.state().sandbox.bodies()[1].id;
    harness.state_mut().sandbox.select([id]);
    harness.run_steps(2);
    let states = |harness: &Harness| -> Vec<_> {
        harness
            .state()
            .sandbox
            .bodies()
            .iter()
            .map(|body| (body.state.position, body.state.rotation))
            .collect()
    };
    let before = states(&harness);
    harness.state_mut().asked.clear();
    drag(&mut harness, "gizmo_y", egui::vec2(3.0, -60.0));
    let after = states(&harness);
    assert_eq!(before[0], after[0]);
    let by = after[1].0 - before[1].0;
    assert!(by.y > 0.05 && by.x == 0.0 && by.z == 0.0, "{by}");
    assert_eq!(before[1].1, after[1].1);
    let turned = harness.state().asked.iter().any(|command| matches!(command, Command::Orbit { .. }));
    assert!(!turned, "the eye stays");
    // The arrow's tip goes with the pointer.
    let seen = |at: DVec3| Camera::default().project(at.as_vec3(), 1.0).unwrap()[1];
    let view = harness.state().viewport();
    let moved = (seen(before[1].0) - seen(after[1].0)) * view.height();
    assert!((moved - 60.0).abs() < 6.0, "{moved} points for 60");
    drag(&mut harness, "gizmo_turn", egui::vec2(-25.0, 30.0));
    let turned = states(&harness);
    assert!(turned[1].0.distance(after[1].0) < 1e-12 && turned[1].1 != after[1].1);
    let axis = (turned[1].1 * after[1].1.inverse()).to_axis_angle().0;
    assert!(axis.cross(DVec3::Y).length() < 1e-9, "about the vertical: {axis}");
    assert_eq!(harness.state().sandbox.history().undo_label(), Some("move right box"));
    // The cube sizes at the end of the drag.
    harness.state_mut().asked.clear();
    drag(&mut harness, "gizmo_size", egui::vec2(30.0, -30.0));
    let sizes = harness.state().asked.iter().filter_map(|command| match command {
        Command::SetImport { object, size, .. } => Some((*object, *size)),
        _ => None,
    });
    let sizes: Vec<_> = sizes.collect();
    assert!(matches!(sizes[..], [(1, size)] if (0.4..0.6).contains(&size)), "{sizes:?}");
    // Both at once, about their middle.
    harness.state_mut().sandbox.select_all();
    harness.run_steps(2);
    assert!(!harness.state().rects().iter().any(|(name, _)| name == "gizmo_size"));
    let before = states(&harness);
    drag(&mut harness, "gizmo_x", egui::vec2(40.0, 0.0));
    let after = states(&harness);
    let by = [0, 1].map(|body: usize| after[body].0 - before[body].0);
    assert!(by[0].x > 0.01 && by[0].distance(by[1]) < 1e-12, "{by:?}");
}

#[test]
fn a_light_to_begin_with_is_one_step_of_undo_and_goes_into_the_scene() {
    let mut harness = stage();
    press(&mut harness, "Light");
    press(&mut harness, "Begin with");
    press(&mut harness, "evening");
    let light = harness.state().sandbox.tuning().view.lighting;
    assert_ne!(light, Lighting::default());
    assert_eq!(harness.state().sandbox.scene(Camera::default()).light, light);
    assert_eq!(harness.state().sandbox.picture_options().lighting, light);
    assert_eq!(harness.state_mut().sandbox.undo().as_deref(), Some("light"));
    assert_eq!(harness.state().sandbox.tuning().view.lighting, Lighting::default());
}

#[test]
fn a_picture_behind_the_scene_has_its_rows_under_light_and_goes_with_one_step_of_undo() {
    let mut harness = stage();
    press(&mut harness, "Light");
    let has = |harness: &Harness, row: &str| harness.state().rects().iter().any(|(name, _)| name == row);
    assert!(has(&harness, "backdrop_file") && !has(&harness, "backdrop_turn"));
    let picture = Surroundings::new([8, 4], |_, _| [1.0; 3]);
    let mut tuning = harness.state().sandbox.tuning().clone();
    tuning.backdrop = Some(Backdrop::of(picture).placed_at(20.0, 2.0));
    harness.state_mut().sandbox.tune("light", tuning);
    harness.state_mut().sandbox.end_gesture();
    harness.run_steps(3);
    assert!(has(&harness, "backdrop_turn") && has(&harness, "backdrop_brightness"));
    let options = harness.state().sandbox.picture_options();
    assert!(options.backdrop.is_some_and(|behind| behind.picture().is_some() && behind.turn == 20.0));
    assert_eq!(harness.state_mut().sandbox.undo().as_deref(), Some("picture behind the scene"));
    assert!(harness.state().sandbox.picture_options().backdrop.is_none());
}

#[test]
fn depth_of_field_and_views_are_kept_with_the_scene() {
    let mut harness = stage();
    press(&mut harness, "Camera");
    press(&mut harness, "Depth of field");
    assert!(harness.state().sandbox.picture_options().lens.is_some());
    press(&mut harness, "Save this view");
    let scene = harness.state().sandbox.scene(Camera::default());
    assert_eq!((scene.saved_views.len(), scene.saved_views[0].camera), (1, Camera::default()));
    assert!(scene.lens.is_some());
    harness.state_mut().asked.clear();
    press(&mut harness, "view 1");
    assert_eq!(harness.state().asked, [Command::SetCamera(Camera::default())]);
    press(&mut harness, "×");
    assert!(harness.state().sandbox.scene(Camera::default()).saved_views.is_empty());
}

#[test]
fn a_button_that_has_the_focus_takes_space_and_no_other_key() {
    let mut harness = stage();
    harness.get_by_label("Duplicate").focus();
    harness.run_steps(2);
    harness.state_mut().asked.clear();
    harness.key_press(egui::Key::T);
    harness.run_steps(2);
    assert_eq!(harness.state().asked, [Command::Tool(Tool::Throw)]);
    harness.state_mut().asked.clear();
    harness.key_press(egui::Key::Space);
    harness.run_steps(2);
    assert_eq!(harness.state().asked, [Command::Duplicate(0)]);
}
