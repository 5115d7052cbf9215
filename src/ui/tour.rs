//! The tour of the first start: a step at a time in a corner of the picture, until the user has done what it says, or leaves.
//!
//! In: what the window shows. Out: the step on display, and the command that ends the tour for good.

use super::{Command, UiInput, UiOutput, theme};
use crate::scene::Sandbox;

/// A step.
struct Step {
    title: &'static str,
    text: &'static str,
    /// Whether what the step says was done.
    is_done: fn(&UiInput<'_>, &Sandbox) -> bool,
}

const STEPS: [Step; 6] = [
    Step {
        title: "Break it",
        text: "Move the pointer over the object: gold lines show where a blow would crack it. Click.",
        is_done: |_, sandbox| sandbox.bodies().len() > sandbox.objects().len(),
    },
    Step {
        title: "Take it back",
        text: "Ctrl+Z takes back whatever was done, Ctrl+Shift+Z does it again.",
        is_done: |_, sandbox| sandbox.bodies().len() == sandbox.objects().len(),
    },
    Step {
        title: "Make it of something else",
        text: "Choose glass or wood under Material on the left, and click the object again.",
        is_done: |_, sandbox| sandbox.bodies().len() > sandbox.objects().len(),
    },
    Step {
        title: "Go back in time",
        text: "Space stops time and lets it run. The line below has all that happened: drag it back.",
        is_done: |_, sandbox| sandbox.timeline().cursor() + 1 < sandbox.timeline().len(),
    },
    Step {
        title: "Bring your own",
        text: "Drop a mesh on the window to open it. Add under Object puts more beside it; M moves them.",
        is_done: |_, sandbox| sandbox.objects().len() > 1,
    },
    Step {
        title: "Take it away",
        text: "Ctrl+E exports pieces, motion or a film. F1 lists the keys, Ctrl+P finds every command by name.",
        is_done: |input, _| input.export.is_some(),
    },
];

/// Shows the step `at`, and goes on where it was done. Returns whether there is a tour.
pub(super) fn show(
    ui: &egui::Ui,
    at: &mut usize,
    input: &UiInput<'_>,
    picture: egui::Rect,
    out: &mut UiOutput,
) -> bool {
    let Some(sandbox) = input.sandbox.filter(|sandbox| input.tour && !sandbox.objects().is_empty()) else {
        return false;
    };
    let Some(step) = STEPS.get(*at) else {
        *at = 0;
        out.push(Command::Tour(false));
        return false;
    };
    // Beside what one clicks, which is in the middle.
    let corner = picture.left_bottom() + egui::vec2(12.0, -12.0);
    let area = egui::Area::new(egui::Id::unique("tour")).fixed_pos(corner).pivot(egui::Align2::LEFT_BOTTOM);
    area.show(ui.ctx(), |ui| {
        theme::float_frame(theme::GOLD).show(ui, |ui| {
            ui.set_max_width((picture.width() - 60.0).clamp(120.0, 216.0));
            ui.horizontal(|ui| {
                ui.label(egui::RichText::new(step.title).size(15.0).color(theme::GOLD));
                let count = format!("{} of {}", *at + 1, STEPS.len());
                ui.label(egui::RichText::new(count).small().color(theme::DIM));
            });
            ui.add(egui::Label::new(egui::RichText::new(step.text).color(theme::DIM)).wrap());
            ui.horizontal(|ui| {
                let next = ui.button(if *at + 1 < STEPS.len() { "Next" } else { "Done" });
                out.name("tour_next", &next);
                let tip = "End the tour; Ctrl+P, \"tour\" shows it again";
                let leave = ui.button("Leave").on_hover_text(tip);
                out.name("tour_leave", &leave);
                if leave.clicked() {
                    *at = STEPS.len();
                } else if next.clicked() {
                    *at += 1;
                }
            });
        });
    });
    if STEPS.get(*at).is_some_and(|step| (step.is_done)(input, sandbox)) {
        *at += 1;
        ui.ctx().request_repaint();
    }
    true
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::{
        Command,
        tests::{harness, press, record},
    };

    #[test]
    fn the_tour_goes_on_with_what_is_done_and_can_be_left() {
        let mut harness = harness(1280.0, 800.0);
        assert!(harness.query_by_label("1 of 6").is_none());
        harness.state_mut().tour = true;
        harness.run_steps(3);
        assert!(harness.query_by_label("1 of 6").is_some());
        record(harness.state_mut());
        harness.run_steps(3);
        assert!(harness.query_by_label("2 of 6").is_some(), "it was broken");
        while harness.state_mut().sandbox.bodies().len() > 1 {
            harness.state_mut().sandbox.undo().unwrap();
        }
        harness.run_steps(3);
        assert!(harness.query_by_label("3 of 6").is_some(), "it was taken back");
        for step in 3..6 {
            assert!(harness.query_by_label(&format!("{step} of 6")).is_some());
            press(&mut harness, "Next");
        }
        assert!(!harness.state().asked.contains(&Command::Tour(false)));
        press(&mut harness, "Done");
        assert_eq!(harness.state().asked.last(), Some(&Command::Tour(false)));
        // From its beginning, and away at once; it finds its place within a frame or two.
        harness.run_steps(3);
        assert!(harness.query_by_label("1 of 6").is_some());
        harness.state_mut().asked.clear();
        press(&mut harness, "Leave");
        assert_eq!(harness.state().asked.last(), Some(&Command::Tour(false)));
    }
}
