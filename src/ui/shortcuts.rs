//! Key bindings and their descriptions. They are inactive while a text field has the keyboard; a button or a slider that
//! has the focus takes Space, Enter and the arrows, and no more; the picture takes those of the crosshair.

use egui::{Key, Modifiers};

use super::{Command, Keymap, Side, Tool, UiInput, crosshair};
use crate::scene::PieceEdit;

const SHIFT_COMMAND: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// Modifiers, key, command and description.
pub(super) type Bound = (Modifiers, Key, Command, &'static str);

/// What is running, since the keys that start it also stop it.
#[derive(Clone, Copy, Default)]
pub(super) struct Time {
    /// Simulated time.
    pub playing: bool,
    /// Playback of the recording.
    pub replaying: bool,
    /// Whether playback starts over at the end.
    pub looped: bool,
}

/// All key bindings. Combinations with more modifiers come first, since egui matches a binding with fewer modifiers,
/// too.
pub(super) fn bound(keymap: Keymap, time: Time) -> Vec<Bound> {
    let plain = Modifiers::NONE;
    // Space stops whatever is running.
    let space = if time.replaying { Command::Replay(false) } else { Command::Play(!time.playing) };
    let mut all = keymap.keys();
    // Bindings of the keymap with modifiers go before the common ones.
    let mut longer: Vec<Bound> = all.extract_if(.., |(keys, ..)| *keys != plain).collect();
    let mut common = vec![
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
        (plain, Key::Space, space, "Let time run or stop it"),
        (plain, Key::R, Command::Replay(!time.replaying), "Play the recording or stop it"),
        (plain, Key::L, Command::LoopReplay(!time.looped), "Play the recording in a loop, or once"),
        (plain, Key::B, Command::SwapTakes, "Change places with the compared take"),
        (plain, Key::C, Command::AimByKeys, "Aim by keys: the picture takes the keyboard"),
        (plain, Key::H, Command::Tool(Tool::Hammer), "Hammer: a click breaks"),
        (plain, Key::I, Command::Tool(Tool::Impact), "Impact: a click pins a blow to tune"),
        (plain, Key::K, Command::Tool(Tool::Keep), "Keep: a click chooses cells that stay"),
        (plain, Key::P, Command::Tool(Tool::Brush), "Brush: a drag paints where it cracks and what holds"),
        (plain, Key::G, Command::Tool(Tool::Hand), "Hand: drags a body"),
        (plain, Key::T, Command::Tool(Tool::Throw), "Throw: a click throws a ball or a box"),
        (plain, Key::S, Command::Tool(Tool::Select), "Select: a click selects a piece, a drag many"),
        (plain, Key::M, Command::Tool(Tool::Move), "Move: arrows and rings move and turn what is clicked"),
        (plain, Key::V, Command::Tool(Tool::Probe), "Probe: a click says everything about a voxel"),
        (plain, Key::OpenBracket, Command::Fold(Side::Left), "Fold the left panel, or unfold it"),
        (plain, Key::CloseBracket, Command::Fold(Side::Right), "Fold the right panel, or unfold it"),
    ];
    longer.append(&mut common);
    longer.append(&mut all);
    longer
}

/// The binding that applies only while an impact is pinned.
pub(super) const OF_PIN: Bound =
    (Modifiers::NONE, Key::Enter, Command::BreakPin, "Break at the pinned impact");

/// The binding that applies only while pieces are selected.
pub(super) const OF_SELECTION: Bound =
    (Modifiers::NONE, Key::Delete, Command::EditPieces(PieceEdit::Delete), "Delete the selected pieces");

pub(super) fn read(ctx: &egui::Context, input: &UiInput<'_>, commands: &mut Vec<Command>) {
    if ctx.text_edit_focused() {
        return;
    }
    crosshair::read(ctx, input, commands);
    // A button or a slider that has the focus takes these keys itself.
    let has_focus = ctx.egui_wants_keyboard_input() && crosshair::place(ctx).is_none();
    let is_taken = |modifiers: Modifiers, key: Key| {
        let own = [Key::Space, Key::Enter, Key::ArrowUp, Key::ArrowDown, Key::ArrowLeft, Key::ArrowRight];
        has_focus && modifiers == Modifiers::NONE && own.contains(&key)
    };
    let of_pin = input.pin.map(|_| OF_PIN);
    // The export panel hides what would be deleted.
    let selects = input.export.is_none() && input.sandbox.is_some_and(|s| s.selected().next().is_some());
    let of_selection = selects.then_some(OF_SELECTION);
    ctx.input_mut(|keyboard| {
        let time =
            Time { playing: input.playing, replaying: input.replay.running, looped: input.replay.looped };
        let all = bound(input.keymap, time).into_iter().chain(of_pin).chain(of_selection);
        for (modifiers, key, command, _) in all.filter(|(modifiers, key, ..)| !is_taken(*modifiers, *key)) {
            if keyboard.consume_key(modifiers, key) {
                commands.push(command);
            }
        }
    });
}

/// A combination as text, such as "Ctrl+Shift+Z".
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
