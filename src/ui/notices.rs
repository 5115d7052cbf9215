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
                            if notice.actions.is_empty() {
                                return;
                            }
                            ui.horizontal_wrapped(|ui| {
                                for (label, command) in &notice.actions {
                                    if ui.button(label).clicked() {
                                        commands.push(command.clone());
                                    }
                                }
                                if notice.actions.len() > 1
                                    && ui.button("Keep as it is").on_hover_text("Answer nothing").clicked()
                                {
                                    commands.push(Command::Dismiss(notice.id));
                                }
                            });
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
    use crate::mesh::Units;
    use crate::ui::{
        Notice,
        tests::{harness, press},
    };

    #[test]
    fn the_button_of_a_message_gives_its_command() {
        let mut window = harness(800.0, 600.0);
        let notice = |id: u64, actions: Vec<(String, Command)>| Notice {
            id,
            kind: NoticeKind::Remark,
            text: format!("The last session, number {id}, had unsaved changes"),
            actions,
            since: std::time::Instant::now(),
        };
        let reopen = vec![("Reopen".to_owned(), Command::Reopen(0))];
        window.state_mut().notices = vec![notice(1, Vec::new()), notice(2, reopen)];
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

    #[test]
    fn a_question_of_several_answers_has_a_button_each_and_one_that_keeps() {
        let mut window = harness(800.0, 600.0);
        let units = [(Units::Mm, "Millimetres"), (Units::Cm, "Centimetres"), (Units::In, "Inches")];
        let answer = |(unit, label): (Units, &str)| (label.to_owned(), Command::TakeAs(0, unit));
        window.state_mut().notices = vec![Notice {
            id: 7,
            kind: NoticeKind::Remark,
            text: "bust is 494 units long in its file".into(),
            actions: units.map(answer).into(),
            since: std::time::Instant::now(),
        }];
        window.run_steps(3);
        for (_, label) in units {
            press(&mut window, label);
        }
        press(&mut window, "Keep as it is");
        let given = units.map(|(unit, _)| Command::TakeAs(0, unit));
        assert_eq!(window.state().asked, [&given[..], &[Command::Dismiss(7)]].concat());
    }
}
