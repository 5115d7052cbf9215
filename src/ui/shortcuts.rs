//! Keys to commands. Nothing here while a text field has the keyboard.

use egui::{Key, Modifiers};

use super::{Command, Tool, UiInput};

pub(super) fn read(ctx: &egui::Context, input: &UiInput<'_>, commands: &mut Vec<Command>) {
    if ctx.egui_wants_keyboard_input() {
        return;
    }
    let shift = Modifiers::COMMAND | Modifiers::SHIFT;
    // Longer combinations first: a shorter one would take their key.
    let keys = [
        (shift, Key::Z, Command::Redo),
        (Modifiers::COMMAND, Key::Y, Command::Redo),
        (Modifiers::COMMAND, Key::Z, Command::Undo),
        (Modifiers::COMMAND, Key::O, Command::OpenDialog),
        (Modifiers::COMMAND, Key::S, Command::SaveDialog),
        (Modifiers::COMMAND, Key::P, Command::TogglePalette),
        (Modifiers::COMMAND, Key::E, Command::ToggleExport),
        (Modifiers::NONE, Key::F12, Command::Picture),
        (Modifiers::NONE, Key::Space, Command::Play(!input.playing)),
        (Modifiers::NONE, Key::Period, Command::Step),
        (Modifiers::NONE, Key::F, Command::FrameSelection),
        (Modifiers::NONE, Key::Home, Command::FrameAll),
        (Modifiers::NONE, Key::H, Command::Tool(Tool::Hammer)),
        (Modifiers::NONE, Key::I, Command::Tool(Tool::Impact)),
        (Modifiers::NONE, Key::K, Command::Tool(Tool::Keep)),
        (Modifiers::NONE, Key::G, Command::Tool(Tool::Hand)),
        (Modifiers::NONE, Key::T, Command::Tool(Tool::Throw)),
    ];
    // Without a pinned impact these two keep their usual meaning.
    let of_pin =
        [(Modifiers::NONE, Key::Enter, Command::BreakPin), (Modifiers::NONE, Key::Escape, Command::Unpin)];
    let of_pin = of_pin.into_iter().filter(|_| input.pin.is_some());
    ctx.input_mut(|keyboard| {
        for (modifiers, key, command) in keys.into_iter().chain(of_pin) {
            if keyboard.consume_key(modifiers, key) {
                commands.push(command);
            }
        }
    });
}
