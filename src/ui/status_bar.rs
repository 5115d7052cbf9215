//! The status line: bodies, simulated time, speed and adapter.

use super::{UiInput, theme};

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>) {
    ui.horizontal(|ui| {
        let mut items: Vec<String> = Vec::new();
        if let Some(sandbox) = input.sandbox {
            let (bodies, awake) = (sandbox.bodies().len(), sandbox.awake());
            items.push(format!("{bodies} {}", if bodies == 1 { "body" } else { "bodies" }));
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
