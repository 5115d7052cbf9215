//! The line under the picture: the recording, its takes, and the speed of simulated time.

use std::ops::RangeInclusive;

use super::{Command, ReplayView, UiInput, UiOutput, takes_list, theme, widgets::clicked_value};

/// Range of the speed slider, simulated seconds per real second.
const SPEEDS: RangeInclusive<f64> = 0.02..=1.0;
/// Width of the speed slider, points.
const SPEED_WIDTH: f32 = 60.0;
/// Width of the controls to the right of the timeline, points.
const RIGHT: f32 = 386.0;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let timeline = input.sandbox.map(crate::scene::Sandbox::timeline);
        let (count, cursor) = timeline.map_or((0, 0), |t| (t.len(), t.cursor()));
        // The sandbox's time, as in the status line: the recorded state may be a little older, since not every step is
        // stored.
        let time = input.sandbox.map_or(0.0, crate::scene::Sandbox::time);
        let end = timeline.and_then(|t| t.time(count.saturating_sub(1))).unwrap_or(0.0).max(time);
        let text = egui::RichText::new(format!("{time:.2} / {end:.2} s")).monospace().color(theme::DIM);
        ui.label(text).on_hover_text("The moment that is shown, and how long the recording is");
        let mut chosen = cursor;
        let width = (ui.available_width() - RIGHT).max(60.0);
        ui.scope(|ui| {
            ui.spacing_mut().slider_width = width;
            let moments = 0..=count.saturating_sub(1).max(1);
            let slider = egui::Slider::new(&mut chosen, moments.clone()).show_value(false);
            let tip = "What happened so far: drag to any moment. Replay shows the recording from there; Play goes on from \
                       there, and keeps what came after it as a take";
            let response = ui.add_enabled(count > 1, slider).on_hover_text(tip);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Timeline"));
            out.name("timeline", &response);
            chosen = clicked_value(ui, &response, &moments, false).unwrap_or(chosen);
        });
        if chosen != cursor && chosen < count {
            out.push(Command::ShowRecorded(chosen));
        }
        replay(ui, count > 1, input.replay, out);
        takes_list::button(ui, input, out);
        ui.label(egui::RichText::new("Speed").color(theme::DIM));
        let mut speed = input.speed;
        ui.spacing_mut().slider_width = SPEED_WIDTH;
        let slider = egui::Slider::new(&mut speed, SPEEDS).logarithmic(true).fixed_decimals(2).suffix("×");
        let tip = "Slow motion: simulated seconds in a real one, also of the recording";
        let response = ui.add(slider).on_hover_text(tip);
        out.name("speed", &response);
        let clicked = clicked_value(ui, &response, &SPEEDS, true);
        if let Some(clicked) = clicked {
            speed = (100.0 * clicked).round() / 100.0;
        }
        if response.changed() || clicked.is_some() {
            out.push(Command::Speed(speed));
        }
    });
}

/// The buttons that play the recording once or in a loop.
fn replay(ui: &mut egui::Ui, there: bool, view: ReplayView, out: &mut UiOutput) {
    let button = |text: &'static str, on: bool| {
        egui::Button::selectable(on, text).frame_when_inactive(true).min_size(egui::vec2(0.0, 20.0))
    };
    let tip = "Play the recording from the moment that is shown, or from the start at the last moment; nothing is \
               simulated, nothing is lost (R)";
    let text = if view.running { "Stop" } else { "Replay" };
    let size = egui::vec2(58.0, 22.0);
    let response = ui
        .add_enabled_ui(there, |ui| ui.add_sized(size, button(text, view.running)))
        .inner
        .on_hover_text(tip)
        .on_disabled_hover_text("Play the recording (R); nothing is recorded yet");
    out.on_click("replay", &response, || Command::Replay(!view.running));
    let tip = "Begin again at the end of the recording (L)";
    let response = ui.add(button("Loop", view.looped)).on_hover_text(tip);
    out.on_click("loop", &response, || Command::LoopReplay(!view.looped));
}
