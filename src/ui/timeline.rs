//! The line under the picture: the recorded past, and how fast time runs.

use super::{Command, UiInput, UiOutput, theme};

/// Width of the speed slider, points.
const SPEED_WIDTH: f32 = 110.0;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        let timeline = input.sandbox.map(crate::scene::Sandbox::timeline);
        let (count, cursor) = timeline.map_or((0, 0), |t| (t.len(), t.cursor()));
        let time = timeline.and_then(|t| t.time(cursor)).unwrap_or(0.0);
        ui.label(egui::RichText::new(format!("{time:>6.2} s")).monospace().color(theme::DIM));
        let mut chosen = cursor;
        let width = (ui.available_width() - SPEED_WIDTH - 110.0).max(60.0);
        ui.scope(|ui| {
            ui.spacing_mut().slider_width = width;
            let slider = egui::Slider::new(&mut chosen, 0..=count.saturating_sub(1).max(1)).show_value(false);
            let tip = "What happened so far: drag to any moment; playing goes on from there, and forgets what came after it";
            let response = ui.add_enabled(count > 1, slider).on_hover_text(tip);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Timeline"));
            out.name("timeline", &response);
        });
        if chosen != cursor && chosen < count {
            out.push(Command::ShowRecorded(chosen));
        }
        ui.label(egui::RichText::new("Speed").color(theme::DIM));
        let mut speed = input.speed;
        ui.spacing_mut().slider_width = SPEED_WIDTH - 50.0;
        let slider = egui::Slider::new(&mut speed, 0.02..=1.0).logarithmic(true).fixed_decimals(2).suffix("×");
        let response = ui.add(slider).on_hover_text("Slow motion: simulated seconds in a real one");
        out.name("speed", &response);
        if response.changed() {
            out.push(Command::Speed(speed));
        }
    });
}
