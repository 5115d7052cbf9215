//! Keys to commands. Nothing here while a text field has the keyboard.

use egui::{Key, Modifiers};

use super::Command;

pub(super) fn read(ctx: &egui::Context, playing: bool, commands: &mut Vec<Command>) {
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
        (Modifiers::NONE, Key::F12, Command::Picture),
        (Modifiers::NONE, Key::Space, Command::Play(!playing)),
        (Modifiers::NONE, Key::Period, Command::Step),
        (Modifiers::NONE, Key::F, Command::FrameSelection),
        (Modifiers::NONE, Key::Home, Command::FrameAll),
    ];
    ctx.input_mut(|input| {
        for (modifiers, key, command) in keys {
            if input.consume_key(modifiers, key) {
                commands.push(command);
            }
        }
    });
}
