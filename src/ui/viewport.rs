//! The picture in the middle: mouse input and the overlays on it.

use egui::{Color32, PointerButton, Pos2, Rect, Sense};

use super::{
    Command, Tool, UiInput, UiOutput, axes, beside_panel, crosshair, gizmo, impact, keymap::EyeDrag, legend,
    probe_panel, rubber_band, slice_handles, theme, tour,
};

/// Rotation for a drag over the picture's full height, radians.
const TURN: f32 = 4.0;
/// Zoom for a drag over the picture's full height, as a power of e.
const NEARER: f32 = 3.0;

pub(super) fn show(ui: &mut egui::Ui, tour: &mut usize, input: &UiInput<'_>, out: &mut UiOutput) {
    let middle = ui.available_rect_before_wrap();
    let columns = input.sandbox.map(crate::scene::Sandbox::columns).unwrap_or_default();
    let (views, division) = beside_panel::views(middle, columns.len());
    let rect = views[0];
    (out.viewport, out.division) = (Some(rect), division);
    let response = ui.allocate_rect(middle, Sense::click_and_drag());
    crosshair::follow(ui.ctx(), &response);
    let painter = ui.painter_at(rect);
    // The picture was drawn before, below everything painted here.
    if !input.has_picture {
        painter.rect_filled(rect, 0.0, Color32::from_rgb(38, 40, 44));
    }
    mouse(ui, &response, &views, input, out);
    let selects = matches!(input.tool, Tool::Select | Tool::Move | Tool::Probe) && input.hover.is_some();
    if (input.over_cell || selects) && response.hovered() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
    }
    if input.sandbox.is_some() && rect.width() > 120.0 && rect.height() > 120.0 {
        impact::walls(&painter, input, rect);
        impact::held(&painter, input, rect);
        probe_panel::outline(&painter, input, rect);
        if input.tool == Tool::Brush {
            impact::brush(&painter, input, rect);
        } else if input.pin.is_some() {
            impact::pinned(ui, input, rect, out);
        } else if !response.dragged() && matches!(input.tool, Tool::Hammer | Tool::Impact) {
            views.iter().for_each(|view| impact::hovered(&ui.painter_at(*view), input, *view));
        }
        legends(&painter, input, rect);
        scale_bar(&painter, input, rect, out);
        axes::paint(&painter, &input.camera, egui::pos2(rect.right() - 44.0, rect.bottom() - 44.0), 26.0);
    }
    crosshair::paint(ui.ctx(), &painter, rect);
    let top = beside_panel::captions(ui, &columns, &views, out);
    out.middle = Some(middle.with_min_y(top.max(middle.top())));
    out.views = views;
    messages(ui, tour, input, middle, out);
}

/// Mouse input. All views show one scene through one camera, so the mouse works alike in each.
fn mouse(ui: &egui::Ui, response: &egui::Response, views: &[Rect], input: &UiInput<'_>, out: &mut UiOutput) {
    let tool = input.tool;
    // A drag belongs to the view in which it started.
    let from = ui.input(|i| i.pointer.press_origin().or(i.pointer.latest_pos()));
    let rect = *views.iter().find(|view| from.is_some_and(|p| view.contains(p))).unwrap_or(&views[0]);
    if rect.width() < 1.0 || rect.height() < 1.0 {
        return;
    }
    let inside = |p: Pos2| [(p.x - rect.left()) / rect.width(), (p.y - rect.top()) / rect.height()];
    let keys = ui.input(|i| i.modifiers);
    let shift = keys.shift;
    let delta = response.drag_delta() / rect.height();
    let buttons = [PointerButton::Secondary, PointerButton::Middle, PointerButton::Primary];
    let dragged = buttons.into_iter().find(|button| response.dragged_by(*button));
    let bands = rubber_band::show(ui, response, rect, input, out);
    let moves =
        slice_handles::show(ui, response, rect, input, out) || gizmo::show(ui, response, rect, input, out);
    let eye = dragged.and_then(|button| input.keymap.drag(button, keys)).filter(|_| !bands && !moves);
    let over = input.hover.is_some() && !shift && !input.keymap.takes_click(keys);
    let grabs = tool == Tool::Hand && response.drag_started_by(PointerButton::Primary) && over;
    let holds = input.drag.is_some() && response.dragged_by(PointerButton::Primary);
    let at = response.interact_pointer_pos().map(inside);
    let by_keys = crosshair::holds(ui.ctx());
    if input.drag.is_some() && !by_keys && !response.dragged_by(PointerButton::Primary) {
        out.push(Command::Release);
    }
    let erases = shift || input.sandbox.is_some_and(|s| s.tuning().brush.erases);
    // A stroke that began on the object goes on beside it, so that the eye does not turn in the middle of it.
    let kept = egui::Id::unique("stroke");
    let begins = tool == Tool::Brush
        && response.drag_started_by(PointerButton::Primary)
        && input.hover.is_some()
        && !input.keymap.takes_click(keys);
    let goes_on = ui.data(|data| data.get_temp::<bool>(kept)) == Some(true);
    let strokes = begins || goes_on && response.dragged_by(PointerButton::Primary);
    if begins || goes_on {
        ui.data_mut(|data| data.insert_temp(kept, strokes));
    }
    if strokes {
        out.commands.extend(at.map(|at| Command::Dab { at, erases }));
    } else if grabs || holds {
        out.commands.extend(at.map(|at| if grabs { Command::Grab(at) } else { Command::Drag(at) }));
    } else {
        out.commands.extend(eye.map(|eye| match eye {
            EyeDrag::Pan => Command::Pan { x: delta.x / (rect.width() / rect.height()), y: delta.y },
            EyeDrag::Orbit => Command::Orbit { yaw: -delta.x * TURN, pitch: delta.y * TURN },
            EyeDrag::Zoom => Command::Zoom(libm::expf((delta.y - delta.x) * NEARER)),
        }));
    }
    if response.contains_pointer() {
        let (scroll, zoom) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
        if scroll != 0.0 {
            out.push(Command::Zoom(libm::expf(-scroll * 0.0025)));
        } else if zoom != 1.0 {
            out.push(Command::Zoom(zoom.recip()));
        }
    }
    let pointed = response.hover_pos().filter(|_| !response.dragged()).map(inside);
    out.push(Command::Hover(crosshair::place(ui.ctx()).or(pointed)));
    if response.clicked_by(PointerButton::Primary)
        && (!shift || matches!(tool, Tool::Select | Tool::Move | Tool::Brush))
        && !moves
        && !input.keymap.takes_click(keys)
        && let Some(position) = response.interact_pointer_pos()
    {
        // The modifiers at the time of the click: in a slow frame the key may have been released by now.
        let with_command = |event: &egui::Event| match event {
            egui::Event::PointerButton { button: PointerButton::Primary, modifiers, .. } => modifiers.command,
            _ => false,
        };
        let pins = ui.input(|i| i.events.iter().any(with_command));
        let at = inside(position);
        let used = if pins { Some(Command::Pin(at)) } else { crosshair::click(tool, at, (shift, erases)) };
        out.commands.extend(used);
    }
}

/// What the colours of bodies and slices mean, one below the other at the right: messages come at the left.
fn legends(painter: &egui::Painter, input: &UiInput<'_>, view: Rect) {
    let all = input.sandbox.map(crate::scene::Sandbox::legends).unwrap_or_default();
    let mut corner = view.right_top() + egui::vec2(-10.0, 10.0);
    for of in &all {
        let panel = legend::paint(painter, corner, of);
        corner.y = panel.bottom() + 8.0;
    }
}

/// A bar of a round length beside the axes, where the panel has it on.
fn scale_bar(painter: &egui::Painter, input: &UiInput<'_>, view: Rect, out: &mut UiOutput) {
    let bar = input.sandbox.and_then(|sandbox| sandbox.tuning().view.bar(&input.camera, view.height()));
    if let Some(metres_per_point) = bar {
        let corner = view.right_bottom() - egui::vec2(88.0, 10.0);
        let panel = legend::paint_bar(painter, corner, (metres_per_point, 0.25 * view.width()));
        out.rects.push(("scale_bar".into(), panel));
    }
}

/// What is being waited for.
fn waiting(ui: &mut egui::Ui, text: &str) {
    theme::float_frame(theme::GOLD).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label(text);
        });
    });
}

/// Messages and hints in the middle or at the bottom of the picture.
fn messages(ui: &egui::Ui, tour: &mut usize, input: &UiInput<'_>, rect: Rect, out: &mut UiOutput) {
    let area = |name: &str, at: Pos2| {
        egui::Area::new(egui::Id::unique(name)).fixed_pos(at).pivot(egui::Align2::CENTER_BOTTOM)
    };
    let foot = egui::pos2(rect.center().x, rect.bottom() - 20.0);
    if let Some(done) = input.picture_progress {
        let corner = egui::pos2(rect.right() - 12.0, rect.top() + 12.0);
        let corner = area("picture", corner).pivot(egui::Align2::RIGHT_TOP).interactable(false);
        corner.show(ui.ctx(), |ui| {
            theme::float_frame(theme::DIM).show(ui, |ui| {
                ui.label(egui::RichText::new("Drawing the picture file").small());
                let bar = egui::ProgressBar::new(done).desired_width(150.0).show_percentage();
                ui.add(bar.fill(theme::GOLD.gamma_multiply(0.55)));
            });
        });
    }
    if let Some((label, fraction)) = input.sandbox.and_then(|s| s.opening()) {
        area("progress", foot).show(ui.ctx(), |ui| {
            theme::float_frame(theme::GOLD).show(ui, |ui| {
                ui.set_width(300.0_f32.min(rect.width() - 60.0));
                ui.label(label);
                ui.horizontal(|ui| {
                    let bar = egui::ProgressBar::new(fraction).desired_width(ui.available_width() - 76.0);
                    ui.add(bar.show_percentage().fill(theme::GOLD.gamma_multiply(0.55)));
                    let cancel = ui.button("Cancel");
                    out.on_click("cancel", &cancel, || Command::CancelImport);
                });
            });
        });
    } else if let Some(text) = input.starting {
        area("starting", rect.center()).show(ui.ctx(), |ui| waiting(ui, text));
    } else if let Some(sandbox) = input.sandbox.filter(|sandbox| sandbox.is_breaking()) {
        let text = if sandbox.is_merging() { "Merging" } else { "Breaking" };
        area("breaking", foot).interactable(false).show(ui.ctx(), |ui| waiting(ui, text));
    } else if input.pin.is_none() && tour::show(ui, tour, input, rect, out) {
    } else if input.export.is_none() && (input.hint || input.pin.is_some()) {
        let (title, more) = match (input.pin.is_some(), input.tool) {
            (true, Tool::Keep) => (
                "Click the cells that stay with the body",
                "Enter breaks off the rest  ·  Escape takes the blow away",
            ),
            (false, Tool::Keep) => {
                ("Click the object to aim at it", "then click the cells that stay with the body")
            }
            (true, _) => {
                ("Enter breaks it, Escape takes it away", "drag the point, the radii, or any slider")
            }
            (false, Tool::Hammer) => (
                "Click the object to break it",
                "drag to look round  ·  wheel to zoom  ·  Ctrl+click to aim first  ·  Ctrl+Z takes it back",
            ),
            (false, Tool::Impact) => {
                ("Click the object to aim at it", "then tune the blow, and press Enter to break")
            }
            (false, Tool::Brush) => (
                "Drag on the object to paint it",
                "what the brush does is chosen under Fracture  ·  Shift erases  ·  drag beside it to look round",
            ),
            (false, Tool::Hand) => ("Drag an object to move it", "it follows by a spring while time runs"),
            (false, Tool::Select) => (
                "Click a piece to select it",
                "drag beside the object to select all in a rectangle  ·  Shift adds  ·  Pieces on the right lists all",
            ),
            (false, Tool::Move) => (
                "Click an object or a piece to move it",
                "arrows move  ·  rings turn  ·  the cube sizes  ·  Ctrl goes in steps  ·  Shift+click adds",
            ),
            (false, Tool::Probe) => (
                "Click a voxel to read everything about it",
                "Probe on the right says it, and copies it as JSON  ·  a slice opens the inside",
            ),
            (false, Tool::Throw) => ("Click to throw", "what flies is chosen under Physics"),
        };
        area("hint", foot).interactable(false).show(ui.ctx(), |ui| {
            theme::float_frame(theme::GOLD).show(ui, |ui| {
                // Wide messages stay between the side panels.
                ui.set_max_width((rect.width() - 60.0).max(120.0));
                ui.label(egui::RichText::new(title).size(15.0).color(theme::GOLD));
                ui.add(egui::Label::new(egui::RichText::new(more).color(theme::DIM)).wrap());
            });
        });
    }
}
