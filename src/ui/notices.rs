//! Messages over the picture: errors and what has a button stay until dismissed, other remarks disappear by themselves.

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
                        ui.vertical(|ui| {
                            ui.set_max_width(text_width);
                            ui.add(
                                egui::Label::new(egui::RichText::new(&notice.text).color(theme::TEXT)).wrap(),
                            );
                            if let Some((label, command)) = &notice.action
                                && ui.button(label).clicked()
                            {
                                commands.push(command.clone());
                            }
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

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::{
        Notice,
        tests::{harness, press},
    };

    #[test]
    fn the_button_of_a_message_gives_its_command() {
        let mut window = harness(800.0, 600.0);
        let notice = |id: u64, action: Option<(String, Command)>| Notice {
            id,
            kind: NoticeKind::Remark,
            text: format!("The last session, number {id}, had unsaved changes"),
            action,
            since: std::time::Instant::now(),
        };
        let reopen = Some(("Reopen".to_owned(), Command::Reopen(0)));
        window.state_mut().notices = vec![notice(1, None), notice(2, reopen)];
        window.run_steps(3);
        let [text, button] = ["The last session, number 2, had unsaved changes", "Reopen"]
            .map(|label| window.get_by_label(label).rect());
        assert!(button.top() >= text.bottom(), "{button} below {text}");
        press(&mut window, "Reopen");
        assert_eq!(window.state().asked, [Command::Reopen(0)]);
        window.query_all_by_label("×").last().unwrap().click();
        window.run_steps(2);
        assert_eq!(window.state().asked.last(), Some(&Command::Dismiss(2)));
    }
}
