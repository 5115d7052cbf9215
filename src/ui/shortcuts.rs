//! Keys to commands, and how they are told. Nothing happens while a text field has the keyboard.

use egui::{Key, Modifiers};

use super::{Command, Side, Tool, UiInput};
use crate::{render::Axis, scene::PieceEdit};

const SHIFT_COMMAND: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// A key with what it asks for and how that is told.
type Bound = (Modifiers, Key, Command, &'static str);

/// Every key. Longer combinations come first: a shorter one would take their key.
pub(super) fn bound(playing: bool) -> Vec<Bound> {
    let plain = Modifiers::NONE;
    vec![
        (SHIFT_COMMAND, Key::Z, Command::Redo, "Redo"),
        (SHIFT_COMMAND, Key::S, Command::SaveAsDialog, "Save under another name"),
        (Modifiers::COMMAND, Key::Y, Command::Redo, "Redo"),
        (Modifiers::COMMAND, Key::Z, Command::Undo, "Undo"),
        (Modifiers::COMMAND, Key::O, Command::OpenDialog, "Open a mesh or a scene"),
        (Modifiers::COMMAND, Key::S, Command::SaveDialog, "Save the scene"),
        (Modifiers::COMMAND, Key::P, Command::TogglePalette, "Everything by name"),
        (Modifiers::COMMAND, Key::E, Command::ToggleExport, "Export the pieces"),
        (Modifiers::COMMAND, Key::A, Command::SelectAll, "Select all pieces that are shown"),
        (plain, Key::F1, Command::ToggleHelp, "This list"),
        (plain, Key::F12, Command::Picture, "Write a picture"),
        (plain, Key::Space, Command::Play(!playing), "Let time run or stop it"),
        (plain, Key::Period, Command::Step, "One step of time"),
        (plain, Key::F, Command::FrameSelection, "Show what is selected, or what is under the pointer"),
        (plain, Key::Home, Command::FrameAll, "Show everything"),
        (Modifiers::SHIFT, Key::X, Command::LookFrom(Axis::X, true), "Look from the left"),
        (Modifiers::SHIFT, Key::Y, Command::LookFrom(Axis::Y, true), "Look from below"),
        (Modifiers::SHIFT, Key::Z, Command::LookFrom(Axis::Z, true), "Look from behind"),
        (plain, Key::X, Command::LookFrom(Axis::X, false), "Look from the right, along x"),
        (plain, Key::Y, Command::LookFrom(Axis::Y, false), "Look from above, along y"),
        (plain, Key::Z, Command::LookFrom(Axis::Z, false), "Look from the front, along z"),
        (plain, Key::H, Command::Tool(Tool::Hammer), "Hammer: a click breaks"),
        (plain, Key::I, Command::Tool(Tool::Impact), "Impact: a click pins a blow to tune"),
        (plain, Key::K, Command::Tool(Tool::Keep), "Keep: a click chooses cells that stay"),
        (plain, Key::G, Command::Tool(Tool::Hand), "Hand: drags a body"),
        (plain, Key::T, Command::Tool(Tool::Throw), "Throw: a click throws a ball or a box"),
        (plain, Key::S, Command::Tool(Tool::Select), "Select: a click selects a piece"),
        (plain, Key::OpenBracket, Command::Fold(Side::Left), "Fold the left panel, or unfold it"),
        (plain, Key::CloseBracket, Command::Fold(Side::Right), "Fold the right panel, or unfold it"),
    ]
}

/// Those that mean something only while an impact is pinned; else the keys keep their usual meaning.
pub(super) fn of_pin() -> [Bound; 2] {
    [
        (Modifiers::NONE, Key::Enter, Command::BreakPin, "Break at the pinned impact"),
        (Modifiers::NONE, Key::Escape, Command::Unpin, "Take the pinned impact away"),
    ]
}

/// Those that mean something only while pieces are selected.
pub(super) fn of_selection() -> [Bound; 2] {
    let plain = Modifiers::NONE;
    [
        (plain, Key::Delete, Command::EditPieces(PieceEdit::Delete), "Delete the selected pieces"),
        (plain, Key::Escape, Command::Select(Vec::new()), "Select nothing"),
    ]
}

pub(super) fn read(ctx: &egui::Context, input: &UiInput<'_>, commands: &mut Vec<Command>) {
    if ctx.egui_wants_keyboard_input() {
        return;
    }
    let of_pin = of_pin().into_iter().filter(|_| input.pin.is_some());
    // Escape closes the export panel first.
    let selects = input.export.is_none() && input.sandbox.is_some_and(|s| s.selected().next().is_some());
    let of_selection = of_selection().into_iter().filter(|_| selects);
    ctx.input_mut(|keyboard| {
        for (modifiers, key, command, _) in bound(input.playing).into_iter().chain(of_pin).chain(of_selection)
        {
            if keyboard.consume_key(modifiers, key) {
                commands.push(command);
            }
        }
    });
}

/// A combination as people write it.
pub(super) fn spelled(modifiers: Modifiers, key: Key) -> String {
    let mut text = String::new();
    if modifiers.command {
        text += "Ctrl+";
    }
    if modifiers.shift {
        text += "Shift+";
    }
    text + key.symbol_or_name()
}
