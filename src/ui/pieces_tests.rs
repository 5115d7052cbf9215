//! The list of pieces: found by its accessible names, pressed, and what comes of it.

use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::tests::{Panels, harness, harness_of, press};
use crate::{
    scene::Scene,
    ui::{Command, Tool},
};

type Harness = egui_kittest::Harness<'static, Panels>;

/// The panels over a broken box, with the list unfolded.
fn broken(width: f32, height: f32) -> Harness {
    let mut harness = harness(width, height);
    harness.state_mut().break_it();
    if harness.query_by_label("Unfold the right panel").is_some() {
        press(&mut harness, "Unfold the right panel");
    }
    press(&mut harness, "Pieces");
    harness
}

/// Names of the rows that are drawn, from the top.
fn rows(harness: &Harness) -> Vec<String> {
    let mut rows: Vec<(f32, String)> = harness
        .state()
        .rects()
        .iter()
        .filter_map(|(name, rect)| Some((rect.top(), name.strip_prefix("piece: ")?.to_owned())))
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, name)| name).collect()
}

fn selected(harness: &Harness) -> Vec<String> {
    let sandbox = &harness.state().sandbox;
    let rows = sandbox.piece_rows();
    rows.iter()
        .filter(|row| sandbox.selection().contains(row.id))
        .map(|row| sandbox.piece_name(row))
        .collect()
}

fn click(harness: &mut Harness, label: &str, modifiers: Modifiers) {
    harness.get_by_label(label).click_modifiers(modifiers);
    harness.run_steps(3);
}

#[test]
fn a_click_selects_a_row_and_with_shift_and_ctrl_others_too() {
    let mut harness = broken(1280.0, 800.0);
    let names = rows(&harness);
    assert_eq!(names[0], "box 1", "the largest comes first: {names:?}");
    press(&mut harness, &names[1]);
    assert_eq!(selected(&harness), [names[1].clone()]);
    click(&mut harness, &names[3], Modifiers::SHIFT);
    assert_eq!(selected(&harness).len(), 3);
    click(&mut harness, &names[2], Modifiers::COMMAND);
    let both: Vec<String> = selected(&harness);
    assert!(both.len() == 2 && !both.contains(&names[2]), "{both:?}");
    let row = harness.get_by_label(&names[1]);
    assert_eq!(row.accesskit_node().toggled(), Some(egui::accesskit::Toggled::True));
    press(&mut harness, &names[0]);
    assert_eq!(selected(&harness), [names[0].clone()]);
}

#[test]
fn heads_sort_and_ends_of_sizes_filter() {
    let mut harness = broken(1280.0, 800.0);
    let largest = rows(&harness)[0].clone();
    press(&mut harness, "Sort by voxels");
    assert_ne!(rows(&harness)[0], largest, "the smallest comes first");
    press(&mut harness, "Sort by piece");
    assert_eq!(rows(&harness)[..2], ["box 1", "box 2"]);
    let sandbox = &harness.state().sandbox;
    let mut sizes: Vec<u64> = sandbox.piece_rows().iter().filter_map(|row| row.voxels).collect();
    sizes.sort_unstable();
    let middle = sizes[sizes.len() / 2];
    let above = sizes.iter().filter(|size| **size >= middle).count();
    let field = harness.get_by_label("Smallest size listed");
    field.click();
    harness.run_steps(2);
    harness.event(egui::Event::Text(middle.to_string()));
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    let all = sizes.len();
    let told = format!("{above} of {all} listed, none selected");
    assert!(harness.query_by_label(&told).is_some(), "{told}");
    press(&mut harness, "All listed");
    assert_eq!(selected(&harness).len(), above);
}

#[test]
fn a_drag_over_the_histogram_selects_sizes() {
    let mut harness = broken(1280.0, 800.0);
    let bars = harness.state().rect("pieces_histogram");
    let all = harness.state().sandbox.bodies().len();
    let drag = |harness: &mut Harness, from: f32, to: f32| {
        let at = |share: f32| egui::pos2(bars.left() + bars.width() * share, bars.top() + 20.0);
        harness.drag_at(at(from));
        harness.run_steps(2);
        harness.hover_at(at((from + to) / 2.0));
        harness.run_steps(2);
        harness.hover_at(at(to));
        harness.run_steps(2);
        harness.drop_at(at(to));
        harness.run_steps(3);
        selected(harness).len()
    };
    assert_eq!(drag(&mut harness, 0.01, 0.5), 0, "the texts beside the axis are no bars");
    assert_eq!(drag(&mut harness, 0.995, 0.001), all);
    let low = drag(&mut harness, 0.4, 0.0);
    let high = drag(&mut harness, 0.45, 0.999);
    assert!(low > 0 && high > 0 && low + high <= all, "{low} and {high} of {all}");
    assert!(!selected(&harness).is_empty());
}

#[test]
fn buttons_ask_for_edits_of_what_is_selected() {
    let mut harness = broken(1280.0, 800.0);
    for name in ["Hide", "Isolate", "Lock", "Delete", "Merge", "Show all", "Export …"] {
        assert!(harness.get_by_label(name).accesskit_node().is_disabled(), "{name}");
    }
    let names = rows(&harness);
    press(&mut harness, &names[2]);
    assert!(harness.get_by_label("Merge").accesskit_node().is_disabled(), "one piece is one already");
    press(&mut harness, "Lock");
    assert!(harness.query_by_label("Unlock").is_some() && harness.query_by_label("Lock").is_none());
    press(&mut harness, "Hide");
    assert!(selected(&harness).is_empty());
    assert!(harness.query_by_label("1 hidden").is_some(), "the status line tells of it");
    let sandbox = &harness.state().sandbox;
    let hidden: Vec<_> = sandbox.piece_rows().into_iter().filter(|row| row.status.hidden).collect();
    assert_eq!((hidden.len(), hidden[0].status.locked), (1, true));
    press(&mut harness, "Show all");
    press(&mut harness, &names[2]);
    press(&mut harness, "Export …");
    assert_eq!(harness.state().asked.last(), Some(&Command::ExportSelected));
    let before = harness.state().sandbox.bodies().len();
    press(&mut harness, "Delete");
    assert_eq!(harness.state().sandbox.bodies().len(), before - 1);
    assert!(harness.query_by_label(&names[2]).is_none());
}

#[test]
fn keys_delete_and_select_nothing_only_while_something_is_selected() {
    let mut harness = broken(1280.0, 800.0);
    harness.state_mut().asked.clear();
    harness.key_press(Key::Delete);
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert!(harness.state().asked.is_empty());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    let all = harness.state().sandbox.bodies().len();
    assert_eq!(selected(&harness).len(), all);
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert!(selected(&harness).is_empty());
    let names = rows(&harness);
    press(&mut harness, &names[0]);
    harness.key_press(Key::Delete);
    harness.run_steps(2);
    assert_eq!(harness.state().sandbox.bodies().len(), all - 1);
}

#[test]
fn the_list_unfolds_with_the_tool_and_scrolls_to_what_is_picked_in_the_picture() {
    let mut harness = harness(1280.0, 800.0);
    harness.state_mut().break_it();
    harness.run_steps(2);
    assert!(rows(&harness).is_empty(), "it is folded");
    press(&mut harness, "Select");
    assert_eq!(harness.state().asked.last(), Some(&Command::Tool(Tool::Select)));
    harness.state_mut().tool = Tool::Select;
    // Unfolding takes some frames.
    harness.run_steps(30);
    let smallest = harness.state().sandbox.bodies().last().unwrap().id;
    let sandbox = &harness.state().sandbox;
    let row = sandbox.piece_rows().into_iter().find(|row| row.id == smallest).unwrap();
    let name = sandbox.piece_name(&row);
    assert!(!rows(&harness).contains(&name));
    harness.state_mut().sandbox.select_picked(smallest, false);
    harness.run_steps(5);
    assert!(rows(&harness).contains(&name), "{name} of {:?}", rows(&harness));
}

#[test]
fn a_drag_beside_the_object_is_a_rubber_band_and_one_on_it_looks_round() {
    let mut harness = broken(1280.0, 800.0);
    let view = harness.state().viewport();
    let (middle, beside) = (view.center(), view.min + egui::vec2(30.0, 90.0));
    let mut dragged = |tool: Tool, from: egui::Pos2, to: egui::Pos2, modifiers: Modifiers| {
        harness.state_mut().tool = tool;
        harness.state_mut().asked.clear();
        let press = |pos: egui::Pos2, pressed: bool| egui::Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers,
        };
        harness.event_modifiers(egui::Event::PointerMoved(from), modifiers);
        harness.event_modifiers(press(from, true), modifiers);
        harness.run_steps(1);
        for share in [0.3, 0.6, 1.0] {
            harness.event_modifiers(egui::Event::PointerMoved(from.lerp(to, share)), modifiers);
            harness.run_steps(1);
        }
        harness.event_modifiers(press(to, false), modifiers);
        harness.run_steps(2);
        let asked = std::mem::take(&mut harness.state_mut().asked);
        let moves = asked.iter().any(|one| matches!(one, Command::Orbit { .. } | Command::Pan { .. }));
        let band = asked.into_iter().find_map(|one| match one {
            Command::SelectIn { low, high, joins } => Some((low, high, joins)),
            _ => None,
        });
        (moves, band)
    };
    let near = |a: [f32; 2], b: egui::Pos2| {
        let at = view.min + egui::vec2(a[0], a[1]) * view.size();
        assert!(at.distance(b) < 1.0, "{at:?} for {b:?}");
    };
    let (moves, band) = dragged(Tool::Select, beside, middle, Modifiers::NONE);
    let (low, high, joins) = band.unwrap();
    assert!(!moves && !joins);
    near(low, beside);
    near(high, middle);
    // From any corner, and out of the picture: cut off at its edge.
    let (_, band) = dragged(Tool::Select, beside, view.min - egui::vec2(0.0, 30.0), Modifiers::SHIFT);
    let (low, high, joins) = band.unwrap();
    assert!(joins);
    near(low, view.min);
    near(high, beside);
    assert_eq!(dragged(Tool::Select, middle, beside, Modifiers::NONE), (true, None));
    assert_eq!(dragged(Tool::Select, middle, beside, Modifiers::SHIFT), (true, None), "it pans");
    assert!(matches!(dragged(Tool::Select, middle, beside, Modifiers::COMMAND), (false, Some(_))));
    assert_eq!(dragged(Tool::Hammer, beside, middle, Modifiers::NONE), (true, None));
}

impl Panels {
    /// Breaks the box in its middle, and waits for that.
    fn break_it(&mut self) {
        let body = &self.sandbox.bodies()[0];
        let (id, point) = (body.id, body.state.position);
        self.sandbox.break_at(id, point, glam::DVec3::NEG_Z);
        while self.sandbox.poll().unwrap() != Some(crate::scene::Arrived::Broke) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

#[test]
fn what_bonds_hold_breaks_when_struck_only_once_it_is_loose() {
    let mut scene = Scene::of_mesh("builtin:box", 4);
    let mut free = scene.bodies[0].clone();
    free.position.x += 3.0;
    scene.bodies[0].hold = true;
    scene.bodies[0].strength = Some(Box::default());
    scene.bodies.push(free);
    let mut panels = Panels::of(scene);
    while panels.sandbox.is_breaking() {
        panels.sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let mut harness = harness_of(panels, 1280.0, 1700.0);
    let is_ticked = |harness: &Harness| {
        let box_of = harness.get_by_label("Breaks when struck");
        box_of.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    let said = "Comes apart by its bonds";
    // The panels show the first object and change both, and nothing holds the second.
    assert!(is_ticked(&harness) && harness.query_by_label(said).is_none());
    harness.state_mut().sandbox.focus_on(Some(0));
    harness.run_steps(3);
    assert!(!is_ticked(&harness) && harness.query_by_label(said).is_some());
    let breaks = |harness: &Harness| {
        let tuning = harness.state().sandbox.tuning();
        (tuning.break_threshold.is_some(), tuning.strength.whole, tuning.strength.loose)
    };
    press(&mut harness, "Breaks when struck");
    assert!(
        is_ticked(&harness) && breaks(&harness) == (false, true, true),
        "its parts break by their strength"
    );
    press(&mut harness, "Breaks when struck");
    assert!(!is_ticked(&harness) && breaks(&harness) == (false, true, false), "nothing else changes");
}
