//! The command palette: Ctrl+P, type part of a name, Enter.

use std::borrow::Cow;

use super::{Command, KeptSession, Keymap, Side, Tool, UiOutput, UiState, theme};
use crate::{compute::Choice, render::Axis, scene::PieceEdit};

/// Space above and below the palette, points.
const TOP: f32 = 90.0;
/// Height of the text field with its margins, points.
const FIELD: f32 = 44.0;

type Entry = (Cow<'static, str>, &'static str, Command);

/// `earlier`: the sessions that can be reopened, the newest first.
fn entries(earlier: &[KeptSession]) -> Vec<Entry> {
    let all = vec![
        ("Open a file", "Ctrl+O", Command::OpenDialog),
        ("Save the scene", "Ctrl+S", Command::SaveDialog),
        ("Save the scene under another name", "Ctrl+Shift+S", Command::SaveAsDialog),
        ("Save the scene as it stands, broken", "", Command::SaveStandingDialog),
        ("Reopen the last session", "", Command::Reopen(0)),
        ("Write a picture", "F12", Command::Picture),
        ("Save figure file: the picture, to be drawn again", "", Command::SaveFigureDialog),
        ("Export the pieces", "Ctrl+E", Command::ToggleExport),
        ("Undo", "Ctrl+Z", Command::Undo),
        ("Redo", "Ctrl+Shift+Z", Command::Redo),
        ("Play", "Space", Command::Play(true)),
        ("Pause", "Space", Command::Play(false)),
        ("Play the recording again", "R", Command::Replay(true)),
        ("Stop the recording", "R", Command::Replay(false)),
        ("Change places with the take that is compared with", "B", Command::SwapTakes),
        ("Compare with no other take", "", Command::Compare(None)),
        ("Keys and mouse as Kintsugi has them", "", Command::Keymap(Keymap::Kintsugi)),
        ("Keys and mouse as in Blender", "", Command::Keymap(Keymap::Blender)),
        ("Keys and mouse as in Maya", "", Command::Keymap(Keymap::Maya)),
        ("Step once", ".", Command::Step),
        ("Reset to the unbroken object", "", Command::Reset),
        ("Frame everything", "Home", Command::FrameAll),
        ("Look from the right, along x", "X", Command::LookFrom(Axis::X, false)),
        ("Look from above, along y", "Y", Command::LookFrom(Axis::Y, false)),
        ("Look from the front, along z", "Z", Command::LookFrom(Axis::Z, false)),
        ("Aim by keys: arrows and Enter in the picture", "C", Command::AimByKeys),
        ("Mouse and keys", "F1", Command::ToggleHelp),
        ("Show the tour of the first start", "", Command::Tour(true)),
        ("Fold or unfold the left panel", "[", Command::Fold(Side::Left)),
        ("Fold or unfold the right panel", "]", Command::Fold(Side::Right)),
        ("Hammer: a click breaks", "H", Command::Tool(Tool::Hammer)),
        ("Impact: a click pins a blow to tune", "I", Command::Tool(Tool::Impact)),
        ("Keep: a click chooses the cells that stay", "K", Command::Tool(Tool::Keep)),
        ("Keep no cells", "", Command::KeepNone),
        ("Brush: paint where it cracks and what holds", "P", Command::Tool(Tool::Brush)),
        ("Erase all paint", "", Command::EraseAll),
        ("Invert the kept cells", "", Command::InvertKept),
        ("Hand: drags a body", "G", Command::Tool(Tool::Hand)),
        ("Throw: a click throws a ball or a box", "T", Command::Tool(Tool::Throw)),
        ("Select: a click selects a piece, a drag many", "S", Command::Tool(Tool::Select)),
        ("Move: arrows and rings move and turn what is clicked", "M", Command::Tool(Tool::Move)),
        ("Probe: a click says everything about a voxel", "V", Command::Tool(Tool::Probe)),
        ("Add a mesh to the scene", "", Command::AddDialog),
        ("Let the panels change all objects", "", Command::Focus(None)),
        ("Select all pieces that are shown", "Ctrl+A", Command::SelectAll),
        ("Select nothing", "Esc", Command::Select(Vec::new())),
        ("Hide the selected pieces", "", Command::EditPieces(PieceEdit::Hide)),
        ("Hide all pieces but the selected ones", "", Command::EditPieces(PieceEdit::Isolate)),
        ("Show all pieces", "", Command::EditPieces(PieceEdit::ShowAll)),
        ("Lock the selected pieces", "", Command::EditPieces(PieceEdit::Lock)),
        ("Unlock the selected pieces", "", Command::EditPieces(PieceEdit::Unlock)),
        ("Delete the selected pieces", "Del", Command::EditPieces(PieceEdit::Delete)),
        ("Merge the selected pieces", "", Command::EditPieces(PieceEdit::Merge)),
        ("Export the selected pieces", "", Command::ExportSelected),
        ("Show what is selected", "F", Command::FrameSelection),
        ("Break at the pinned impact", "Enter", Command::BreakPin),
        ("Crack at the pinned impact: bonds hold the pieces", "", Command::CrackPin),
        ("Remove the pinned impact", "Esc", Command::Unpin),
        ("Side by side: one blow by two methods", "", Command::ToggleBeside),
        ("Side by side: keep these settings beside", "", Command::KeepBeside),
        ("Variants: a sheet to choose from", "", Command::ToggleSheet),
        ("Run on the best there is", "", Command::RunOn(Choice::Auto)),
        ("Run on the graphics adapter", "", Command::RunOn(Choice::Gpu)),
        ("Run on the processor", "", Command::RunOn(Choice::Cpu)),
    ];
    let shapes = "vase column box sphere shell cavity statue pig coin brick plate shelf".split(' ');
    let mut all: Vec<Entry> = all.into_iter().map(|(name, keys, does)| (name.into(), keys, does)).collect();
    for verb in ["Open", "Add"] {
        let entry = |shape: &str| -> Entry {
            let file = format!("builtin:{shape}").into();
            let does = if verb == "Add" { Command::Add(file) } else { Command::Open(file) };
            (format!("{verb} {shape}").into(), "", does)
        };
        all.extend(shapes.clone().map(entry));
    }
    let reopen = |(i, session): (usize, &KeptSession)| {
        (format!("Reopen the session: {}", session.label).into(), "", Command::Reopen(i))
    };
    all.extend(earlier.iter().enumerate().map(reopen));
    all
}

/// Entries whose names contain all words of `text`.
fn matching(text: &str, earlier: &[KeptSession]) -> Vec<Entry> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    entries(earlier)
        .into_iter()
        .filter(|(name, ..)| words.iter().all(|w| name.to_lowercase().contains(w.as_str())))
        .collect()
}

/// Whether the palette has the keyboard. Ctrl+P closes it here.
pub(super) fn has_keyboard(ctx: &egui::Context, state: &mut UiState) -> bool {
    if state.palette.is_none() {
        return false;
    }
    if ctx.input_mut(|i| i.consume_key(egui::Modifiers::COMMAND, egui::Key::P)) {
        state.palette = None;
    }
    true
}

pub(super) fn show(ctx: &egui::Context, state: &mut UiState, earlier: &[KeptSession], out: &mut UiOutput) {
    let toggled = out.commands.contains(&Command::TogglePalette);
    out.commands.retain(|c| *c != Command::TogglePalette);
    let opened = toggled && state.palette.is_none();
    if toggled {
        state.palette = if state.palette.is_none() { Some(String::new()) } else { None };
        state.palette_index = 0;
    }
    let Some(text) = &mut state.palette else {
        return;
    };
    let mut chosen = None;
    let highest = ctx.content_rect().height() - 2.0 * TOP - FIELD;
    egui::Area::new(egui::Id::unique("palette"))
        .order(egui::Order::Foreground)
        .anchor(egui::Align2::CENTER_TOP, egui::vec2(0.0, TOP))
        .show(ctx, |ui| {
            theme::float_frame(theme::GOLD).show(ui, |ui| {
                ui.set_width(380.0);
                let field = ui.add(
                    egui::TextEdit::singleline(text).hint_text("type a command").desired_width(f32::INFINITY),
                );
                if opened {
                    field.request_focus();
                }
                if field.changed() {
                    state.palette_index = 0;
                }
                let found = matching(text, earlier);
                let (down, up, enter) = ui.input(|i| {
                    let key = |k| i.key_pressed(k);
                    (key(egui::Key::ArrowDown), key(egui::Key::ArrowUp), key(egui::Key::Enter))
                });
                if down {
                    state.palette_index += 1;
                }
                if up {
                    state.palette_index = state.palette_index.saturating_sub(1);
                }
                state.palette_index = state.palette_index.min(found.len().saturating_sub(1));
                if found.is_empty() {
                    ui.label(egui::RichText::new("nothing found").color(theme::DIM));
                }
                // A short list leaves a small area, and egui offers the next frame no more than the area had; the list
                // would stay at two rows.
                let list = egui::ScrollArea::vertical().max_height(highest).min_scrolled_height(highest);
                list.show(ui, |ui| {
                    for (i, (name, keys, command)) in found.into_iter().enumerate() {
                        let here = i == state.palette_index;
                        let button = egui::Button::selectable(here, name.as_ref())
                            .right_text(egui::RichText::new(keys).color(theme::DIM))
                            .min_size(egui::vec2(ui.available_width(), 22.0));
                        let button = ui.add(button);
                        if here && (up || down) {
                            button.scroll_to_me(None);
                        }
                        if button.clicked() || (enter && here) {
                            chosen = Some(command);
                        }
                    }
                });
            });
        });
    if let Some(command) = chosen {
        out.push(command);
        state.palette = None;
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    #[test]
    fn words_narrow_the_list() {
        assert_eq!(matching("", &[]).len(), entries(&[]).len());
        assert_eq!(matching("vase open", &[])[0].2, Command::Open("builtin:vase".into()));
        assert!(matching("no such thing", &[]).is_empty());
    }

    #[test]
    fn every_earlier_session_can_be_reopened() {
        let earlier = ["3 minutes ago", "2 days ago"]
            .map(|label| KeptSession { label: label.to_owned(), picture: None });
        let found = matching("reopen", &earlier);
        let does: Vec<Command> = found.into_iter().map(|(_, _, does)| does).collect();
        assert_eq!(does, [Command::Reopen(0), Command::Reopen(0), Command::Reopen(1)]);
        assert_eq!(matching("reopen 2 days", &earlier)[0].2, Command::Reopen(1));
    }

    #[test]
    fn every_shape_is_listed() {
        for name in crate::mesh::BUILTIN_NAMES {
            assert!(matching(&format!("open {name}"), &[]).len() == 1, "{name}");
        }
    }

    #[test]
    fn what_is_not_found_is_said_and_the_list_comes_back_whole() {
        let mut window = crate::ui::tests::harness(1280.0, 800.0);
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::P);
        window.run_steps(4);
        let height = |ctx: &egui::Context| {
            ctx.memory(|m| m.area_rect(egui::Id::unique("palette"))).map_or(0.0, |rect| rect.height())
        };
        assert!(window.query_by_label("nothing found").is_none());
        let whole = height(&window.ctx);
        window.event(egui::Event::Text("xyzzy".into()));
        window.run_steps(4);
        assert!(window.query_by_label("nothing found").is_some());
        assert!(height(&window.ctx) < 150.0, "{} with nothing in it", height(&window.ctx));
        (0..5).for_each(|_| window.key_press(egui::Key::Backspace));
        window.run_steps(6);
        assert!(window.query_by_label("nothing found").is_none());
        assert!(whole >= 344.0 && height(&window.ctx) >= 344.0, "{} after {whole}", height(&window.ctx));
    }
}
