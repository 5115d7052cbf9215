//! The list of takes, that is, of recordings of the same scene that diverged.

use super::{Command, UiInput, UiOutput, theme};
use crate::scene::TakeInfo;

/// The button that opens the list.
pub(super) fn button(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let takes = input.sandbox.map(|s| s.timeline().takes()).unwrap_or_default();
    let compared = input.sandbox.and_then(crate::scene::Sandbox::compared);
    let text = format!("Takes {}", takes.len());
    let text = if compared.is_some() { egui::RichText::new(text).color(theme::GHOST) } else { text.into() };
    let tip = "Recordings. Going on from an earlier moment, undo and reset keep the previous recording as a take, \
               which can be shown again and compared with";
    let response = ui
        .add_enabled(!takes.is_empty(), egui::Button::new(text).min_size(egui::vec2(66.0, 0.0)))
        .on_hover_text(tip)
        .on_disabled_hover_text(tip);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, !takes.is_empty(), "Takes"));
    out.name("takes", &response);
    egui::Popup::menu(&response).close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
        ui.set_width(330.0);
        for take in &takes {
            row(ui, take, compared, out);
        }
        ui.separator();
        let hint = if takes.len() < 2 {
            "There is one take so far. Go on from an earlier moment, or reset, and this one is kept."
        } else {
            "Compare draws the bodies of another take at the same time as dots, where they lie elsewhere; B swaps \
             the two takes."
        };
        ui.add(egui::Label::new(egui::RichText::new(hint).small().color(theme::DIM)).wrap().halign(egui::Align::LEFT));
    });
}

fn row(ui: &mut egui::Ui, take: &TakeInfo, compared: Option<u32>, out: &mut UiOutput) {
    let TakeInfo { number, seconds, bodies, is_current } = *take;
    ui.horizontal(|ui| {
        let name = format!("Take {number}");
        let tip = if is_current { "It is shown" } else { "Show it, at the same time" };
        let button = egui::Button::selectable(is_current, &name).frame_when_inactive(true);
        let response = ui.add(button.min_size(egui::vec2(70.0, 0.0))).on_hover_text(tip);
        out.name(format!("take: {number}"), &response);
        if response.clicked() && !is_current {
            out.push(Command::ShowTake(number));
        }
        let bodies = if bodies == 1 { "1 body".to_owned() } else { format!("{bodies} bodies") };
        ui.label(egui::RichText::new(format!("{seconds:.2} s, {bodies}")).color(theme::DIM));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if is_current {
                ui.label(egui::RichText::new("shown").color(theme::GOLD));
                return;
            }
            let on = compared == Some(number);
            let button = egui::Button::selectable(on, "Compare").frame_when_inactive(true);
            let tip = "Draw it as dots over the take that is shown, at the same time";
            let response = ui.add(button).on_hover_text(tip);
            response.widget_info(|| {
                egui::WidgetInfo::selected(
                    egui::Role::Button,
                    true,
                    on,
                    format!("Compare with take {number}"),
                )
            });
            out.on_click(format!("compare: {number}"), &response, || {
                Command::Compare((!on).then_some(number))
            });
        });
    });
}
