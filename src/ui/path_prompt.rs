//! A prompt for a path, for desktops that have no file dialogs.

use super::{Command, PathPrompt, PathPurpose, UiInput, UiOutput, UiState, theme};

/// The text typed so far.
#[derive(Default)]
pub(super) struct Typed {
    /// The prompt that the text was typed for.
    of: Option<PathPrompt>,
    text: String,
}

pub(super) fn show(ctx: &egui::Context, state: &mut UiState, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(prompt) = input.prompt else {
        state.prompt = Typed::default();
        return;
    };
    let is_new = state.prompt.of.as_ref() != Some(prompt);
    if is_new {
        state.prompt = Typed { of: Some(prompt.clone()), text: prompt.proposed.clone() };
    }
    let (title, does) = match (prompt.asks, &prompt.there) {
        (PathPurpose::Open, _) => ("Open a mesh or a scene", "Open"),
        (PathPurpose::Add, _) => ("Add a mesh to the scene", "Add"),
        (PathPurpose::Cutter, _) => ("Choose a closed mesh to cut by", "Choose"),
        (_, Some(_)) => ("There is such a file", "Save over it"),
        (PathPurpose::Save, None) => ("Save the scene", "Save"),
        (PathPurpose::SaveStanding, None) => ("Save the scene as it stands", "Save"),
        (PathPurpose::Figure, None) => ("Save the picture as a figure file", "Save"),
        (PathPurpose::Chart, None) => ("Save the chart as .csv or .svg", "Save"),
        (PathPurpose::Sheet, None) => ("Save the sheet as .png", "Save"),
    };
    let width = (ctx.content_rect().width() - 80.0).clamp(160.0, 460.0);
    let area = egui::Area::new(egui::Id::unique("path prompt")).order(egui::Order::Foreground);
    area.anchor(egui::Align2::CENTER_TOP, egui::vec2(0.0, 110.0)).show(ctx, |ui| {
        theme::float_frame(theme::GOLD).show(ui, |ui| {
            ui.set_width(width);
            ui.label(egui::RichText::new(title).size(15.0).color(theme::GOLD));
            let typed = &mut state.prompt.text;
            let field = egui::TextEdit::singleline(typed).hint_text("path").desired_width(f32::INFINITY);
            let field = ui.add(field);
            out.name("prompt", &field);
            if is_new {
                field.request_focus();
            }
            let enter = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
            let given = !typed.trim().is_empty();
            ui.horizontal(|ui| {
                let go = ui.add_enabled(given, egui::Button::new(does));
                out.name("prompt_go", &go);
                if given && (go.clicked() || enter) {
                    out.push(Command::AnswerPrompt(Some(typed.trim().into())));
                }
                let cancel = ui.button("Cancel");
                out.on_click("prompt_cancel", &cancel, || Command::AnswerPrompt(None));
            });
        });
    });
}
