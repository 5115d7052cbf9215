//! The crosshair: aims in the picture by keys, while the picture has the keyboard.
//!
//! In: keys, before the common bindings see them. Out: the commands that the mouse would give at the place of the crosshair.
//! [`Command::AimByKeys`] gives the picture the keyboard; Tab comes to it after all panels.

use egui::{
    Context, Event, EventFilter, Id, Key, Modifiers, Painter, Rect, Response, Stroke, StrokeKind, vec2,
};

use super::{Command, Tool, UiInput, theme};

/// What the keys do, for the list of bindings.
pub(super) const KEYS: [(&str, &str); 8] = [
    ("Arrows", "With the picture in focus: move the crosshair, or what the hand holds"),
    ("Alt+Arrows", "There: move it by little"),
    ("Enter", "There: what a click does; the hand takes hold, and lets go"),
    ("Shift+Enter", "There: what Shift+Click does; Keep: choose a cell"),
    ("Ctrl+Enter", "There: pin a blow to tune"),
    ("Shift+Arrows", "There: look round"),
    ("Ctrl+Arrows", "There: move the picture"),
    ("+, -", "There: nearer and farther"),
];
/// Share of the picture by which an arrow moves the crosshair, and by which it does with Alt.
const STEP: f32 = 1.0 / 50.0;
const LITTLE: f32 = 1.0 / 500.0;
/// Rotation by an arrow, radians, and nearness by a key, as a power of e.
const TURN: f32 = 0.1;
const NEARER: f32 = 0.15;

#[derive(Clone, Copy)]
struct Crosshair {
    /// The widget of the picture.
    picture: Id,
    /// Place in the picture (0..1).
    at: [f32; 2],
    /// Whether the hand was given something to hold by a key.
    holds: bool,
}

fn stored() -> Id {
    Id::unique("crosshair")
}

/// The crosshair, where the picture has the keyboard.
fn active(ctx: &Context) -> Option<Crosshair> {
    let known = ctx.data(|data| data.get_temp::<Crosshair>(stored()));
    known.filter(|known| ctx.memory(|memory| memory.has_focus(known.picture)))
}

/// Whether the picture had the keyboard in the last frame: Escape takes it away before panels are laid out.
pub(super) fn had_keyboard(ctx: &Context) -> bool {
    let known = ctx.data(|data| data.get_temp::<Crosshair>(stored()));
    known.is_some_and(|known| ctx.memory(|memory| memory.had_focus_last_frame(known.picture)))
}

/// Place of the crosshair in the picture (0..1), where the picture has the keyboard.
pub(super) fn place(ctx: &Context) -> Option<[f32; 2]> {
    active(ctx).map(|known| known.at)
}

/// Whether the hand holds something by keys.
pub(super) fn holds(ctx: &Context) -> bool {
    active(ctx).is_some_and(|known| known.holds)
}

/// Gives the picture the keyboard.
pub(super) fn take_keyboard(ctx: &Context) {
    if let Some(known) = ctx.data(|data| data.get_temp::<Crosshair>(stored())) {
        ctx.memory_mut(|memory| memory.request_focus(known.picture));
        ctx.request_repaint();
    }
}

/// Notes which widget is the picture, and keeps arrows there while it has the keyboard. The mouse takes that away.
pub(super) fn follow(ctx: &Context, picture: &Response) {
    if picture.is_pointer_button_down_on() {
        picture.surrender_focus();
    }
    let before = ctx.data(|data| data.get_temp::<Crosshair>(stored()));
    let at = before.map_or([0.5; 2], |before| before.at);
    let holds = holds(ctx);
    ctx.data_mut(|data| data.insert_temp(stored(), Crosshair { picture: picture.id, at, holds }));
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ctx.memory_mut(|memory| memory.set_focus_lock_filter(picture.id, filter));
}

/// What a click does with a tool at a place of the picture; `shift` as if that key was held.
pub(super) fn click(tool: Tool, at: [f32; 2], (shift, erases): (bool, bool)) -> Option<Command> {
    Some(match tool {
        Tool::Hammer => Command::Hit(at),
        Tool::Impact => Command::Pin(at),
        Tool::Keep => Command::ToggleKept(at),
        Tool::Throw => Command::Throw(at),
        Tool::Brush => Command::Dab { at, erases },
        Tool::Hand => return None,
        Tool::Probe => Command::ProbeAt(at),
        Tool::Select | Tool::Move => Command::SelectAt { at, joins: shift },
    })
}

/// Reads the keys of the crosshair. Enter is left to a pinned impact.
pub(super) fn read(ctx: &Context, input: &UiInput<'_>, commands: &mut Vec<Command>) {
    let Some(mut known) = active(ctx) else { return };
    // A key took hold of nothing, or something else let it go.
    known.holds &= input.drag.is_some();
    let brush_erases = input.sandbox.is_some_and(|sandbox| sandbox.tuning().brush.erases);
    ctx.input_mut(|keys| {
        let mut count = |modifiers: Modifiers, key: Key| keys.count_and_consume_key(modifiers, key) as f32;
        // Those with modifiers first, since egui matches a binding with fewer, too.
        let [turned, shifted, little, moved] =
            [Modifiers::SHIFT, Modifiers::COMMAND, Modifiers::ALT, Modifiers::NONE].map(|modifiers| {
                let right = count(modifiers, Key::ArrowRight) - count(modifiers, Key::ArrowLeft);
                let down = count(modifiers, Key::ArrowDown) - count(modifiers, Key::ArrowUp);
                [right, down]
            });
        let nearer = count(Modifiers::NONE, Key::Plus) + count(Modifiers::NONE, Key::Equals)
            - count(Modifiers::NONE, Key::Minus);
        // A key that is held clicks once.
        let mut enter = |wanted: Modifiers| {
            let mut is_new = false;
            keys.events.retain(|event| match event {
                Event::Key { key: Key::Enter, pressed: true, repeat, modifiers, .. }
                    if modifiers.matches_logically(wanted) =>
                {
                    is_new |= !repeat;
                    false
                }
                _ => true,
            });
            is_new
        };
        let (pins, with_shift) = (enter(Modifiers::COMMAND), enter(Modifiers::SHIFT));
        let clicks = with_shift || input.pin.is_none() && enter(Modifiers::NONE);
        if turned != [0.0; 2] {
            commands.push(Command::Orbit { yaw: -turned[0] * TURN, pitch: turned[1] * TURN });
        }
        if shifted != [0.0; 2] {
            commands.push(Command::Pan { x: shifted[0] * STEP, y: shifted[1] * STEP });
        }
        if nearer != 0.0 {
            commands.push(Command::Zoom(libm::expf(-nearer * NEARER)));
        }
        if moved != [0.0; 2] || little != [0.0; 2] {
            let place = |k: usize| known.at[k] + moved[k] * STEP + little[k] * LITTLE;
            known.at = [0, 1].map(|k| place(k).clamp(0.0, 1.0));
            commands.extend(known.holds.then_some(Command::Drag(known.at)));
        }
        if pins {
            commands.push(Command::Pin(known.at));
        } else if clicks && input.tool == Tool::Hand {
            known.holds = input.drag.is_none();
            commands.push(if known.holds { Command::Grab(known.at) } else { Command::Release });
        } else if clicks {
            commands.extend(click(input.tool, known.at, (with_shift, with_shift || brush_erases)));
        }
    });
    ctx.data_mut(|data| data.insert_temp(stored(), known));
}

/// Draws the crosshair, and a frame round the picture that has the keyboard.
pub(super) fn paint(ctx: &Context, painter: &Painter, view: Rect) {
    let Some([x, y]) = place(ctx) else { return };
    painter.rect_stroke(view.shrink(1.0), 0.0, Stroke::new(2.0, theme::GOLD), StrokeKind::Inside);
    let at = view.min + view.size() * vec2(x, y);
    for (width, color) in [(3.0, egui::Color32::BLACK), (1.0, theme::GOLD)] {
        for along in [vec2(1.0, 0.0), vec2(-1.0, 0.0), vec2(0.0, 1.0), vec2(0.0, -1.0)] {
            painter.line_segment([at + along * 4.0, at + along * 14.0], Stroke::new(width, color));
        }
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::harness;

    #[test]
    fn every_tool_is_used_by_keys_alone() {
        let mut harness = harness(1280.0, 800.0);
        assert!(place(&harness.ctx).is_none(), "the picture has the keyboard when it is asked for");
        harness.key_press(Key::C);
        harness.run_steps(3);
        assert_eq!(place(&harness.ctx), Some([0.5; 2]));
        let at = [0.5 + STEP, 0.5];
        let joined = Command::SelectAt { at, joins: true };
        for (tool, modifiers, key, wanted) in [
            (Tool::Hammer, Modifiers::NONE, Key::ArrowRight, None),
            (Tool::Hammer, Modifiers::NONE, Key::Enter, Some(Command::Hit(at))),
            (Tool::Hammer, Modifiers::COMMAND, Key::Enter, Some(Command::Pin(at))),
            (Tool::Impact, Modifiers::NONE, Key::Enter, Some(Command::Pin(at))),
            (Tool::Keep, Modifiers::SHIFT, Key::Enter, Some(Command::ToggleKept(at))),
            (Tool::Throw, Modifiers::NONE, Key::Enter, Some(Command::Throw(at))),
            (Tool::Probe, Modifiers::NONE, Key::Enter, Some(Command::ProbeAt(at))),
            (Tool::Select, Modifiers::SHIFT, Key::Enter, Some(joined)),
            (Tool::Brush, Modifiers::NONE, Key::Enter, Some(Command::Dab { at, erases: false })),
            (Tool::Hand, Modifiers::NONE, Key::Enter, Some(Command::Grab(at))),
            (Tool::Hammer, Modifiers::SHIFT, Key::ArrowDown, Some(Command::Orbit { yaw: -0.0, pitch: TURN })),
            (Tool::Hammer, Modifiers::COMMAND, Key::ArrowUp, Some(Command::Pan { x: 0.0, y: -STEP })),
            (Tool::Hammer, Modifiers::NONE, Key::Minus, Some(Command::Zoom(libm::expf(NEARER)))),
            (Tool::Hammer, Modifiers::NONE, Key::Space, Some(Command::Play(true))),
        ] {
            harness.state_mut().tool = tool;
            harness.state_mut().asked.clear();
            harness.key_press_modifiers(modifiers, key);
            harness.run_steps(2);
            assert_eq!(harness.state().asked, wanted.into_iter().collect::<Vec<_>>(), "{tool:?} {key:?}");
            assert_eq!(place(&harness.ctx), Some(at), "the picture keeps the keyboard");
        }
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        assert!(place(&harness.ctx).is_none(), "Tab goes on to the panels");
        harness.key_press(Key::F1);
        harness.run_steps(3);
        for (keys, what) in KEYS {
            assert!(harness.query_all_by_label(keys).next().is_some(), "{keys} is not listed");
            assert!(harness.query_all_by_label(what).next().is_some(), "{what} is not listed");
        }
    }
}
