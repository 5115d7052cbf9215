//! Mouse and key bindings of the camera: Kintsugi's own, Blender's or Maya's.
//!
//! Bindings of tools, undo and files are the same in all keymaps. egui does not distinguish the number pad's keys from
//! the others, so Blender's number pad bindings work on both.

use egui::{Key, Modifiers, PointerButton};

use super::{Command, shortcuts::Bound};
use crate::render::Axis;

/// A set of mouse and key bindings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keymap {
    /// Kintsugi's own.
    #[default]
    Kintsugi,
    /// As in Blender: the middle button, and the number pad.
    Blender,
    /// As in Maya: Alt with each of the buttons.
    Maya,
}

/// How a drag in the picture moves the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EyeDrag {
    Orbit,
    Pan,
    Zoom,
}

kintsugi_core::names! { Keymap: Kintsugi = "Kintsugi", Blender = "Blender", Maya = "Maya" }

impl Keymap {
    /// One sentence that says how it differs.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Kintsugi => {
                "A drag looks round, a right drag moves the picture; X, Y and Z look along the axes"
            }
            Self::Blender => {
                "A middle drag looks round, with Shift it moves the picture, with Ctrl it zooms; 1, 3 and 7 of the number \
                 pad look along the axes, its point shows what is under the pointer"
            }
            Self::Maya => {
                "With Alt a left drag looks round, a middle drag moves the picture, a right drag zooms; F shows what is \
                 under the pointer, A everything"
            }
        }
    }

    /// How a drag with this button moves the camera; `None` if it does not.
    pub(super) fn drag(self, button: PointerButton, keys: Modifiers) -> Option<EyeDrag> {
        use EyeDrag::{Orbit, Pan, Zoom};
        use PointerButton::{Middle, Primary, Secondary};
        match self {
            Self::Kintsugi => match button {
                Primary if keys.shift => Some(Pan),
                Secondary => Some(Pan),
                Primary | Middle => Some(Orbit),
                _ => None,
            },
            // A left drag selects in Blender. Here it would do nothing, and not every mouse has a middle button.
            Self::Blender => match button {
                Middle if keys.shift => Some(Pan),
                Middle if keys.ctrl || keys.command => Some(Zoom),
                Primary if keys.shift => Some(Pan),
                Middle | Primary => Some(Orbit),
                _ => None,
            },
            Self::Maya => match button {
                Primary if keys.alt => Some(Orbit),
                Middle if keys.alt => Some(Pan),
                Secondary if keys.alt => Some(Zoom),
                _ => None,
            },
        }
    }

    /// Whether a click with these modifiers moves the camera instead of using a tool.
    pub(super) fn takes_click(self, keys: Modifiers) -> bool {
        self == Self::Maya && keys.alt
    }

    /// The mouse bindings, as the help list shows them.
    pub(super) fn mouse(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Kintsugi => &[
                ("Drag", "Look round; with the hand, drag a body"),
                ("Right drag, Shift+Drag", "Move the picture"),
                ("Wheel", "Nearer and farther"),
            ],
            Self::Blender => &[
                ("Middle drag, Drag", "Look round; the hand drags a body"),
                ("Shift+Middle drag", "Move the picture"),
                ("Ctrl+Middle drag, Wheel", "Nearer and farther"),
            ],
            Self::Maya => &[
                ("Alt+Left drag", "Look round; without Alt the hand drags a body"),
                ("Alt+Middle drag", "Move the picture"),
                ("Alt+Right drag, Wheel", "Nearer and farther"),
            ],
        }
    }

    /// Bindings that move the camera, and others that were moved to make room for them.
    pub(super) fn keys(self) -> Vec<Bound> {
        let (plain, command) = (Modifiers::NONE, Modifiers::COMMAND);
        let look = |axis: Axis, other: bool| Command::LookFrom(axis, other);
        let axes = || {
            vec![
                (Modifiers::SHIFT, Key::X, look(Axis::X, true), "Look from the left"),
                (Modifiers::SHIFT, Key::Y, look(Axis::Y, true), "Look from below"),
                (Modifiers::SHIFT, Key::Z, look(Axis::Z, true), "Look from behind"),
                (plain, Key::X, look(Axis::X, false), "Look from the right, along x"),
                (plain, Key::Y, look(Axis::Y, false), "Look from above, along y"),
                (plain, Key::Z, look(Axis::Z, false), "Look from the front, along z"),
            ]
        };
        let step = |key: Key| (plain, key, Command::Step, "One step of time");
        let frame = |key: Key| {
            (plain, key, Command::FrameSelection, "Show what is selected, or what is under the pointer")
        };
        let all = |key: Key| (plain, key, Command::FrameAll, "Show everything");
        match self {
            Self::Kintsugi => {
                let mut keys = vec![step(Key::Period), frame(Key::F), all(Key::Home)];
                keys.extend(axes());
                keys
            }
            Self::Blender => vec![
                (command, Key::Num1, look(Axis::Z, true), "Look from behind"),
                (command, Key::Num3, look(Axis::X, true), "Look from the left"),
                (command, Key::Num7, look(Axis::Y, true), "Look from below"),
                (plain, Key::Num1, look(Axis::Z, false), "Look from the front, along z"),
                (plain, Key::Num3, look(Axis::X, false), "Look from the right, along x"),
                (plain, Key::Num7, look(Axis::Y, false), "Look from above, along y"),
                frame(Key::Period),
                all(Key::Home),
                step(Key::ArrowRight),
            ],
            Self::Maya => {
                let mut keys = vec![step(Key::Period), frame(Key::F), all(Key::A), all(Key::Home)];
                keys.extend(axes());
                keys
            }
        }
    }
}

/// Buttons that choose the keymap.
pub(super) fn choose(ui: &mut egui::Ui, now: Keymap, out: &mut super::UiOutput) {
    for keymap in Keymap::ALL {
        let button = egui::Button::selectable(now == keymap, keymap.name()).frame_when_inactive(true);
        let response = ui.add(button).on_hover_text(keymap.about());
        out.name(format!("keymap: {}", keymap.name()), &response);
        if response.clicked() && now != keymap {
            out.push(Command::Keymap(keymap));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drag_is_what_the_other_program_has() {
        use EyeDrag::{Orbit, Pan, Zoom};
        use PointerButton::{Middle, Primary, Secondary};
        let none = Modifiers::NONE;
        for (keymap, button, keys, does) in [
            (Keymap::Kintsugi, Primary, none, Some(Orbit)),
            (Keymap::Kintsugi, Primary, Modifiers::ALT, Some(Orbit)),
            (Keymap::Kintsugi, Primary, Modifiers::SHIFT, Some(Pan)),
            (Keymap::Kintsugi, Secondary, none, Some(Pan)),
            (Keymap::Kintsugi, Middle, none, Some(Orbit)),
            (Keymap::Blender, Middle, none, Some(Orbit)),
            (Keymap::Blender, Middle, Modifiers::SHIFT, Some(Pan)),
            (Keymap::Blender, Middle, Modifiers::CTRL, Some(Zoom)),
            (Keymap::Blender, Secondary, none, None),
            (Keymap::Maya, Primary, Modifiers::ALT, Some(Orbit)),
            (Keymap::Maya, Middle, Modifiers::ALT, Some(Pan)),
            (Keymap::Maya, Secondary, Modifiers::ALT, Some(Zoom)),
            (Keymap::Maya, Primary, none, None),
            (Keymap::Maya, Middle, none, None),
        ] {
            assert_eq!(keymap.drag(button, keys), does, "{keymap:?} {button:?} {keys:?}");
        }
    }

    #[test]
    fn no_key_means_two_things() {
        for keymap in Keymap::ALL {
            let all = super::super::shortcuts::bound(keymap, super::super::shortcuts::Time::default());
            for (i, (modifiers, key, command, _)) in all.iter().enumerate() {
                let twin = all[..i].iter().find(|other| (other.0, other.1) == (*modifiers, *key));
                assert!(twin.is_none(), "{keymap:?}: {key:?} is {command:?} and {twin:?}");
            }
        }
    }
}
