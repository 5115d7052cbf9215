//! The brush: its row in the panel, and strokes over the picture.

use egui_kittest::kittest::Queryable as _;
use glam::Vec3;

use super::{
    Hover,
    tests::{Panels, harness, press},
};
use crate::{
    fracture::{Dab, Paint},
    ui::{Command, Tool},
};

type Harness = egui_kittest::Harness<'static, Panels>;

/// Presses at one place of the picture, moves to another and lets go; returns the commands of that.
fn drag(harness: &mut Harness, from: (f32, f32), to: (f32, f32)) -> Vec<Command> {
    let view = harness.state().viewport();
    let at = |(x, y): (f32, f32)| view.min + view.size() * egui::vec2(x, y);
    harness.hover_at(at(from));
    harness.run_steps(2);
    harness.state_mut().asked.clear();
    harness.drag_at(at(from));
    harness.run_steps(1);
    for step in 1..=4u8 {
        let share = f32::from(step) / 4.0;
        harness.hover_at(at(from).lerp(at(to), share));
        harness.run_steps(1);
    }
    harness.drop_at(at(to));
    harness.run_steps(2);
    std::mem::take(&mut harness.state_mut().asked)
}

fn dabs(commands: &[Command]) -> usize {
    commands.iter().filter(|command| matches!(command, Command::Dab { erases: false, .. })).count()
}

fn turns(commands: &[Command]) -> bool {
    commands.iter().any(|command| matches!(command, Command::Orbit { .. }))
}

#[test]
fn a_drag_that_begins_on_the_object_paints_and_one_beside_it_looks_round() {
    let mut harness = harness(1280.0, 800.0);
    harness.state_mut().tool = Tool::Brush;
    let asked = drag(&mut harness, (0.4, 0.5), (0.6, 0.55));
    assert!(dabs(&asked) == 0 && turns(&asked), "{asked:?}");
    let on = Hover { point: Vec3::ZERO, longest_side: 1.0, object_size: 1.0 };
    harness.state_mut().hover = Some(on);
    let asked = drag(&mut harness, (0.4, 0.5), (0.6, 0.55));
    assert!(dabs(&asked) >= 3 && !turns(&asked), "{asked:?}");
    harness.state_mut().tool = Tool::Hammer;
    assert!(turns(&drag(&mut harness, (0.4, 0.5), (0.6, 0.55))));
}

#[test]
fn the_row_of_the_brush_is_there_with_the_tool_or_with_paint() {
    let mut harness = harness(1280.0, 900.0);
    assert!(harness.query_by_label("erase all").is_none());
    harness.state_mut().tool = Tool::Brush;
    harness.run_steps(3);
    let shown = ["brush_kind", "brush_erases", "brush_clear"].map(|name| harness.state().rect(name));
    assert!(shown.iter().all(|rect| rect.right() < harness.state().viewport().left() && rect.width() > 8.0));
    press(&mut harness, "erase");
    assert!(harness.state().sandbox.tuning().brush.erases);
    let mut tuning = harness.state().sandbox.tuning().clone();
    let dab = Dab { kind: Paint::Whole, radius: 0.1, ..Dab::default() };
    tuning.fracture.paint = vec![dab; 3];
    let state = harness.state_mut();
    state.sandbox.tune("paint", tuning);
    state.tool = Tool::Hammer;
    harness.run_steps(3);
    assert!(harness.state().rects().iter().any(|(name, _)| name == "brush_kind"), "there is paint");
    press(&mut harness, "erase all");
    assert_eq!(harness.state().asked.last(), Some(&Command::EraseAll));
}
