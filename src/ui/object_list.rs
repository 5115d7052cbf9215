//! The objects of the scene: a list with their names, what can be done with them, and where they stand.
//!
//! In: the sandbox. Out: commands that choose, name, add, copy, remove and place objects.

use glam::DVec3;

use super::{
    Command, Tool, UiInput, UiOutput, theme, turns,
    widgets::{label, list_row},
};
use crate::{
    bodies::BodyId,
    mesh::BUILTIN_NAMES,
    scene::{PieceEdit, Pose, Sandbox},
};

/// Height of a row of the list, points.
const ROW_HEIGHT: f32 = 20.0;
/// Most rows visible at once.
const MOST_ROWS: usize = 6;

/// The name that is being typed, and the object that it is for.
#[derive(Default)]
pub(super) struct Typed(Option<(usize, String)>);

/// Whether the stage is being set: one object alone needs no name and no place, and the rows below stay in sight.
fn is_arranging(input: &UiInput<'_>, sandbox: &Sandbox) -> bool {
    sandbox.objects().len() > 1 || input.tool == Tool::Move
}

pub(super) fn show(
    ui: &mut egui::Ui,
    typed: &mut Typed,
    (input, sandbox): (&UiInput<'_>, &Sandbox),
    out: &mut UiOutput,
) {
    if !is_arranging(input, sandbox) {
        return;
    }
    let (count, focus) = (sandbox.objects().len(), sandbox.focus());
    ui.add_space(4.0);
    if count > 1 {
        rows(ui, sandbox, out);
        let text = match focus {
            Some(object) => format!("The panels change {} alone", sandbox.object_name(object)),
            None => "The panels change all objects".to_owned(),
        };
        ui.add_space(2.0);
        ui.label(egui::RichText::new(text).small().color(theme::DIM));
    }
    let object = focus.unwrap_or(0);
    name(ui, typed, sandbox, object, out);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(4.0, 4.0);
        ui.spacing_mut().button_padding.x = 5.0;
        let mut button = |ui: &mut egui::Ui, name: &'static str, text: &str, tip: &str, does: Command| {
            let response = ui.button(text).on_hover_text(tip);
            out.on_click(name, &response, || does);
        };
        let tip = "Add a copy of the object as it was before it broke, with its material and its cracks";
        button(ui, "duplicate", "Duplicate", tip, Command::Duplicate(object));
        if count > 1 {
            let tip = "Take the object out of the scene with all its pieces";
            button(ui, "remove_object", "Remove", tip, Command::RemoveObject(object));
        }
        let tip = "Move what is selected, or this object, up or down to the floor";
        button(ui, "put_on_floor", "On floor", tip, Command::PutOnFloor(placed_bodies(sandbox)));
    });
}

/// The menu of what can be added to the scene, the mesh of the `path` field first.
pub(super) fn add_menu(ui: &mut egui::Ui, path: &str, out: &mut UiOutput) {
    let menu = ui.menu_button("Add", |ui| {
        let named = ui.add_enabled(!path.is_empty(), egui::Button::new("the path on the left"));
        out.on_click("add", &named, || Command::Add(path.into()));
        let file = ui.button("a file …");
        out.on_click("add: file", &file, || Command::AddDialog);
        ui.separator();
        for name in BUILTIN_NAMES {
            let entry = ui.button(name);
            out.on_click(format!("add: {name}"), &entry, || Command::Add(format!("builtin:{name}").into()));
        }
    });
    let added =
        menu.response.on_hover_text("Add a mesh or a built-in shape to the scene, beside what is there");
    out.name("add_menu", &added);
}

/// The list of objects, the row of all objects first.
fn rows(ui: &mut egui::Ui, sandbox: &Sandbox, out: &mut UiOutput) {
    let (count, focus) = (sandbox.objects().len(), sandbox.focus());
    let height = ROW_HEIGHT * MOST_ROWS as f32;
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = egui::ScrollArea::vertical().id_salt("objects").max_height(height).auto_shrink([false, true]);
    area.show_rows(ui, ROW_HEIGHT, count + 1, |ui, range| {
        for row in range {
            let object = row.checked_sub(1);
            let (name, tip) = match object {
                Some(object) => (
                    sandbox.object_name(object).to_owned(),
                    "Select this object; the panels show and change its values alone",
                ),
                None => (
                    format!("All {count} objects"),
                    "The panels change the values of all objects, and show those of the first",
                ),
            };
            let (rect, response, color) = list_row(ui, ROW_HEIGHT, (&name, focus == object));
            out.name(
                object.map_or("object: all".to_owned(), |object| format!("object: {object}")),
                &response,
            );
            let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
            let font = egui::FontId::proportional(12.5);
            let numbered = object.map_or(name.clone(), |object| format!("{}  {name}", object + 1));
            let at = rect.left_center() + egui::vec2(6.0, 0.0);
            painter.text(at, egui::Align2::LEFT_CENTER, numbered, font, color);
            let locks = object.is_some_and(|object| breaks_or_stays(ui, (rect, &name), sandbox, object, out));
            if response.on_hover_text(tip).clicked() && !locks {
                out.push(Command::Focus(object));
                out.push(Command::Select(
                    object.map_or(Vec::new(), |object| sandbox.bodies_of(object).collect()),
                ));
            }
        }
    });
    ui.spacing_mut().item_spacing.y = 6.0;
}

/// The right end of an object's row, which says whether blows break it, or how many pieces it has, and locks and unlocks it
/// with a click. Returns whether it was clicked.
fn breaks_or_stays(
    ui: &egui::Ui,
    (row, name): (egui::Rect, &str),
    sandbox: &Sandbox,
    object: usize,
    out: &mut UiOutput,
) -> bool {
    let own: Vec<BodyId> = sandbox.bodies_of(object).collect();
    let is_locked = !own.is_empty() && own.iter().all(|id| sandbox.status(*id).locked);
    let text = match (is_locked, own.len()) {
        (true, _) => "locked".to_owned(),
        (false, 0) => "not there".to_owned(),
        (false, 1) => "breaks".to_owned(),
        (false, count) => format!("{count} pieces"),
    };
    let at = row.right_center() - egui::vec2(6.0, 0.0);
    let painter = ui.painter().with_clip_rect(row.intersect(ui.clip_rect()));
    let font = egui::FontId::proportional(12.5);
    let shown = painter.text(at, egui::Align2::RIGHT_CENTER, text, font, theme::DIM);
    if own.is_empty() {
        return false;
    }
    let area = egui::Rect::from_x_y_ranges(shown.left() - 4.0..=row.right(), row.y_range());
    let response = ui.interact(area, ui.scope_id().with(("breaks", object)), egui::Sense::click());
    let spoken = format!("{name} breaks");
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, true, !is_locked, &spoken));
    out.name(format!("breaks: {object}"), &response);
    let (tip, edit) = if is_locked {
        ("Nothing moves or breaks it: click to let it break", PieceEdit::Unlock)
    } else {
        ("Blows break it: click to lock it, so that nothing moves or breaks it", PieceEdit::Lock)
    };
    let response = response.on_hover_text(tip);
    if response.clicked() {
        out.push(Command::Select(own));
        out.push(Command::EditPieces(edit));
    }
    response.clicked()
}

/// The field with the object's name.
fn name(ui: &mut egui::Ui, typed: &mut Typed, sandbox: &Sandbox, object: usize, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        let tip = "Name of the object in lists and in the scene file; empty: that of its file";
        label(ui, "Name", tip);
        let now = sandbox.object_name(object);
        let text = match &mut typed.0 {
            Some((of, text)) if *of == object => text,
            other => &mut other.insert((object, now.to_owned())).1,
        };
        let field = ui.add(egui::TextEdit::singleline(text).desired_width(150.0));
        out.name("object_name", &field);
        if field.lost_focus() && !super::closing::was_left(ui.ctx(), field.id) && text != now {
            out.push(Command::NameObject(object, text.clone()));
        }
        if !field.has_focus() {
            typed.0 = None;
        }
        field.on_hover_text(tip);
    });
}

/// What the rows of the place move: the selected bodies, or else the whole body of the object shown.
fn placed_bodies(sandbox: &Sandbox) -> Vec<BodyId> {
    let selected: Vec<BodyId> = sandbox.selected().map(|body| body.id).collect();
    if selected.is_empty() {
        sandbox.whole_body(sandbox.focus().unwrap_or(0)).into_iter().collect()
    } else {
        selected
    }
}

/// Where the selected body stands, or else the object shown, as long as it is whole.
pub(super) fn place(ui: &mut egui::Ui, input: &UiInput<'_>, sandbox: &Sandbox, out: &mut UiOutput) {
    if !is_arranging(input, sandbox) {
        return;
    }
    let &[id] = &placed_bodies(sandbox)[..] else { return };
    let (Some(foot), Some(body)) = (sandbox.foot(id), sandbox.bodies().iter().find(|body| body.id == id))
    else {
        return;
    };
    let state = body.state;
    let size = foot.size.max_element();
    let mut at = foot.at;
    let tip = "Where it stands, m: its middle to the right (x) and to the front (z), and its lowest point above the floor (y)";
    three(ui, out, ("Place", tip), ["place_x", "place_y", "place_z"], &mut at, |number| {
        number.speed(0.005 * size).suffix(" m").custom_formatter(|value, _| plain(value, 3))
    });
    let shown = turns::degrees_of(state.rotation);
    let mut turn = shown;
    let tip = "How it is turned, degrees: tilted about x, turned about the vertical y, rolled about z";
    three(ui, out, ("Turn", tip), ["turn_x", "turn_y", "turn_z"], &mut turn, |number| {
        number.speed(0.5).suffix("°").custom_formatter(|value, _| plain(value, 1))
    });
    let mut pose = Pose { body: id, position: state.position, rotation: state.rotation };
    if at != foot.at {
        pose.position += at - foot.at;
    } else if turn != shown {
        pose.rotation = turns::of_degrees(turn);
    } else {
        return;
    }
    out.push(Command::Place(vec![pose]));
}

/// A number without the sign of what is rounded to zero.
fn plain(value: f64, decimals: usize) -> String {
    theme::unsigned_zero(format!("{value:.decimals$}"))
}

/// A row of three numbers.
fn three(
    ui: &mut egui::Ui,
    out: &mut UiOutput,
    (title, tip): (&str, &str),
    names: [&'static str; 3],
    values: &mut DVec3,
    look: impl Fn(egui::DragValue<'_>) -> egui::DragValue<'_>,
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let (rect, response) = ui.allocate_exact_size(egui::vec2(46.0, 22.0), egui::Sense::hover());
        let font = egui::TextStyle::Body.resolve(ui.style());
        ui.painter().text(rect.left_center(), egui::Align2::LEFT_CENTER, title, font, theme::DIM);
        response.on_hover_text(tip);
        for (axis, name) in names.into_iter().enumerate() {
            let number = look(egui::DragValue::new(&mut values[axis])).range(-1e6..=1e6);
            let number = number.clamp_existing_to_range(false).update_while_editing(false);
            let field = ui.add_sized([66.0, 22.0], number);
            let spoken = format!("{title} {}", ["x", "y", "z"][axis]);
            field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::SpinButton, true, &spoken));
            out.name(name, &field);
            field.on_hover_text(tip);
        }
    });
}
