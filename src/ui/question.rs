//! A question that is to be answered before anything else happens, such as whether a file is written over.

use super::{Command, UiInput, UiOutput, theme};

pub(super) fn show(ctx: &egui::Context, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(question) = input.question else { return };
    let width = (ctx.content_rect().width() - 80.0).clamp(160.0, 460.0);
    let modal = egui::Modal::new(egui::Id::unique("question")).frame(theme::float_frame(theme::GOLD));
    modal.show(ctx, |ui| {
        ui.set_width(width);
        ui.label(egui::RichText::new(&question.title).size(15.0).color(theme::GOLD));
        ui.add(egui::Label::new(egui::RichText::new(&question.text).color(theme::TEXT)).wrap());
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            for (number, answer) in question.answers.iter().enumerate() {
                let button = ui.button(answer);
                out.on_click(format!("answer_{number}"), &button, || Command::AnswerQuestion(number));
            }
        });
    });
}
