//! Escape closes one thing: the topmost of what is open.
//!
//! In: the key, before any panel sees it. Out: the state or the command that closes the topmost thing. No panel reads
//! Escape itself: two of them would answer one key press.

use egui::{Event, Id, Key, Modifiers, Popup};

use super::{Command, UiInput, UiOutput, UiState};

/// The key as the list of bindings shows it.
pub(super) const ESCAPE: (&str, &str) =
    ("Escape", "Close what is on top, else take the pinned impact away, else select nothing");

/// Where the field that was left by Escape is noted.
const LEFT: &str = "left by Escape";

/// What Escape closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Its last answer is "Cancel".
    Question(usize),
    Prompt,
    Palette,
    Help,
    Scenes,
    /// A drop-down list or the list of takes.
    List,
    /// A text field that has the keyboard.
    Field(Id),
    Sheet,
    Export,
    Pin,
    Selection,
}

/// The topmost of what is open. `field`: the text field that had the keyboard in the last frame.
fn topmost(ctx: &egui::Context, state: &UiState, input: &UiInput<'_>, field: Option<Id>) -> Option<Open> {
    let selects = || input.sandbox.is_some_and(|s| s.selected().next().is_some());
    let when = |is_open: bool, what: Open| is_open.then_some(what);
    input
        .question
        .map(|question| Open::Question(question.answers.len().saturating_sub(1)))
        .or(when(input.prompt.is_some(), Open::Prompt))
        .or(when(state.palette.is_some(), Open::Palette))
        .or(when(state.help, Open::Help))
        .or(when(state.scenes.is_open, Open::Scenes))
        .or(when(Popup::is_any_open(ctx), Open::List))
        .or(field.map(Open::Field))
        .or(when(input.sheet.is_some(), Open::Sheet))
        .or(when(input.export.is_some(), Open::Export))
        .or(when(input.pin.is_some(), Open::Pin))
        .or_else(|| when(selects(), Open::Selection))
}

/// Whether Escape is pressed alone, as egui wants it, too, to take the focus away.
fn is_escape(event: &Event) -> bool {
    matches!(event, Event::Key { key: Key::Escape, pressed: true, modifiers, .. } if !modifiers.any())
}

/// Closes the topmost thing if Escape is pressed.
pub(super) fn by_escape(ctx: &egui::Context, state: &mut UiState, input: &UiInput<'_>, out: &mut UiOutput) {
    if !ctx.input(|i| i.events.iter().any(is_escape)) {
        return;
    }
    // egui takes the focus away before the first panel is laid out.
    let field = state.field.filter(|id| ctx.memory(|m| m.had_focus_last_frame(*id)));
    let topmost = topmost(ctx, state, input, field);
    let aims_by_keys = super::crosshair::had_keyboard(ctx);
    if let Some(Open::Field(id)) = topmost {
        // The field must see the key, by which it tells that the text is not to be taken over.
        let now = ctx.cumulative_pass_nr();
        ctx.data_mut(|d| d.insert_temp(Id::unique(LEFT), (id, now)));
        return;
    }
    ctx.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape));
    // Escape closes one thing: the crosshair goes where nothing else is open.
    if aims_by_keys && topmost.is_some() {
        super::crosshair::take_keyboard(ctx);
    }
    match topmost {
        Some(Open::Question(last)) => out.push(Command::AnswerQuestion(last)),
        Some(Open::Prompt) => out.push(Command::AnswerPrompt(None)),
        Some(Open::Palette) => state.palette = None,
        Some(Open::Help) => state.help = false,
        Some(Open::Scenes) => state.scenes.is_open = false,
        Some(Open::List) => Popup::close_all(ctx),
        Some(Open::Sheet) => out.push(Command::ToggleSheet),
        Some(Open::Export) => out.push(Command::ToggleExport),
        Some(Open::Pin) => out.push(Command::Unpin),
        Some(Open::Selection) => out.push(Command::Select(Vec::new())),
        Some(Open::Field(_)) | None => {}
    }
    // What was typed into a field below goes on.
    if let Some(field) = field {
        ctx.memory_mut(|m| m.request_focus(field));
    }
}

/// Whether a field was left by Escape just now. egui takes over what was typed into a number one frame later.
pub(super) fn was_left(ctx: &egui::Context, field: Id) -> bool {
    let left = ctx.data(|d| d.get_temp::<(Id, u64)>(Id::unique(LEFT)));
    left.is_some_and(|(id, pass)| id == field && ctx.cumulative_pass_nr() <= pass + 1)
}

/// Remembers which text field has the keyboard.
pub(super) fn remember_field(ctx: &egui::Context, state: &mut UiState) {
    let focused = ctx.memory(egui::Memory::focused);
    state.field = focused.filter(|_| ctx.text_edit_focused());
}
