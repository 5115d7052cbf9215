//! The status line: bodies, pieces, simulated time, speed and adapter.

use super::{UiInput, theme};
use crate::scene::Sandbox;

/// How many pieces breaks have made, and how many of them bonds hold; empty where nothing has broken. Thrown bodies
/// and whole objects are no pieces.
fn pieces(sandbox: &Sandbox) -> Option<String> {
    let (mut all, mut held) = (0, 0);
    for body in sandbox.bodies() {
        let parts = body.def.structure.as_ref().map_or(0, |structure| structure.parts.len());
        if parts > 1 {
            (all, held) = (all + parts, held + parts);
        } else if sandbox.info(body.id).is_some_and(|info| info.generation > 0) {
            all += 1;
        }
    }
    let noun = if all == 1 { "piece" } else { "pieces" };
    match held {
        _ if all == 0 => None,
        0 => Some(format!("{all} {noun}")),
        _ if held == all => Some(format!("cracked into {all}, held")),
        _ => Some(format!("{all} {noun}, {held} held")),
    }
}

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>) {
    ui.horizontal(|ui| {
        let mut items: Vec<String> = Vec::new();
        if let Some(sandbox) = input.sandbox {
            let (bodies, awake) = (sandbox.bodies().len(), sandbox.awake());
            items.push(format!("{bodies} {}", if bodies == 1 { "body" } else { "bodies" }));
            items.extend(pieces(sandbox));
            items.push(if awake == 0 { "at rest".into() } else { format!("{awake} moving") });
            // Hidden pieces are mentioned here, since the list may be folded.
            if sandbox.hidden() > 0 {
                items.push(format!("{} hidden", sandbox.hidden()));
            }
            items.push(format!("t = {:.2} s", sandbox.time()));
            if input.playing && awake > 0 && input.pace < 0.95 {
                items.push(format!("{:.0} % of real time", input.pace * 100.0));
            }
        }
        if input.frame_ms > 0.0 {
            items.push(format!("{:.0} fps", 1000.0 / input.frame_ms.max(1.0)));
        }
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                ui.label(egui::RichText::new("·").color(theme::DIM));
            }
            ui.label(egui::RichText::new(item).small());
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let runs_on = input.sandbox.map_or(String::new(), |sandbox| sandbox.compute().describe());
            let about = format!("Stages run on: {runs_on}\nThe window is shown by: {}", input.adapter);
            let text = egui::RichText::new(runs_on).small().color(theme::DIM);
            ui.add(egui::Label::new(text).truncate()).on_hover_text(about);
        });
    });
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::{
        scene::{Scene, SceneBody},
        ui::tests::{Panels, harness_of, record},
    };

    #[test]
    fn pieces_are_counted_and_thrown_bodies_are_not() {
        let mut panels = Panels::open();
        assert_eq!(pieces(&panels.sandbox), None);
        panels.sandbox.throw(glam::DVec3::new(0.0, 3.0, 3.0), glam::DVec3::NEG_Z);
        while panels.sandbox.is_busy() {
            panels.sandbox.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!((panels.sandbox.bodies().len(), pieces(&panels.sandbox)), (2, None));
        record(&mut panels);
        let count = panels.sandbox.bodies().len() - 1;
        assert!(count > 3);
        assert_eq!(pieces(&panels.sandbox), Some(format!("{count} pieces")));
    }

    #[test]
    fn what_is_cracked_and_holds_is_said_and_the_line_fits_a_narrow_window() {
        let mut scene = Scene::of_mesh("builtin:box", 4);
        scene.bodies = vec![SceneBody { hold: true, ..scene.bodies[0].clone() }];
        let mut panels = Panels::of(scene);
        while panels.sandbox.is_breaking() {
            panels.sandbox.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let parts = panels.sandbox.bodies()[0].def.structure.as_ref().map(|s| s.parts.len()).unwrap();
        assert_eq!(panels.sandbox.bodies().len(), 1);
        let mut window = harness_of(panels, 900.0, 600.0);
        let line = format!("cracked into {parts}, held");
        let [said, rate] = [line.as_str(), "1000 fps"].map(|label| window.get_by_label(label).rect());
        assert!(said.left() < rate.left() && rate.right() < 500.0, "{said}, {rate}");
        let runs_on = window.state().sandbox.compute().describe();
        let right = window.query_all_by_label(&runs_on).last().unwrap().rect();
        assert!(right.left() > rate.right() && right.right() <= 900.0, "{right} after {rate}");
        // One part that falls off is a piece beside those that hold.
        let body = window.state().sandbox.bodies()[0].clone();
        let corner = body.state.position + glam::DVec3::splat(0.4);
        let sandbox = &mut window.state_mut().sandbox;
        sandbox.break_at(body.id, corner, glam::DVec3::NEG_Y);
        while sandbox.is_breaking() {
            sandbox.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let (free, told) = (sandbox.bodies().len(), pieces(sandbox).unwrap());
        assert!(free > 1 && told.starts_with(&format!("{parts} piece")), "{free} bodies: {told}");
    }
}
