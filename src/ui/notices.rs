//! Messages over the picture: errors stay until they are dismissed, remarks fade by themselves.

use super::{Command, UiInput, theme};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Stays until dismissed.
    Error,
    /// Goes after some seconds.
    Remark,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// To dismiss it by.
    pub id: u64,
    /// How bad it is.
    pub kind: NoticeKind,
    /// One line or two.
    pub text: String,
    /// When it came.
    pub since: std::time::Instant,
}

impl Notice {
    /// How long a remark stays.
    pub const REMARK_SECS: f64 = 5.0;
}

pub(super) fn show(
    ctx: &egui::Context,
    input: &UiInput<'_>,
    viewport: Option<egui::Rect>,
    commands: &mut Vec<Command>,
) {
    let Some(viewport) = viewport else {
        return;
    };
    // In a corner: what it is about is in the middle.
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
