//! Messages over the picture: errors stay until dismissed, remarks disappear by themselves.

use super::{Command, NoticeKind, UiInput, theme};

pub(super) fn show(
    ctx: &egui::Context,
    input: &UiInput<'_>,
    viewport: Option<egui::Rect>,
    commands: &mut Vec<Command>,
) {
    let Some(viewport) = viewport else {
        return;
    };
    // In a corner, since the message is about what the middle shows.
    let top = viewport.left_top() + egui::vec2(12.0, 12.0);
    let width = (viewport.width() * 0.42).clamp(190.0, 380.0).min(viewport.width() - 24.0);
    egui::Area::new(egui::Id::unique("notices")).fixed_pos(top).pivot(egui::Align2::LEFT_TOP).show(
        ctx,
        |ui| {
            ui.set_max_width(width);
            for notice in input.notices {
                let edge = if notice.kind == NoticeKind::Error { theme::BAD } else { theme::GOLD };
                theme::float_frame(edge).show(ui, |ui| {
                    ui.horizontal(|ui| {
                        let text_width = width - 70.0;
                        ui.scope(|ui| {
                            ui.set_max_width(text_width);
                            ui.add(
                                egui::Label::new(egui::RichText::new(&notice.text).color(theme::TEXT)).wrap(),
                            );
                        });
                        if ui.button("×").on_hover_text("Dismiss").clicked() {
                            commands.push(Command::Dismiss(notice.id));
                        }
                    });
                });
            }
        },
    );
}
