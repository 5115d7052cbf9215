//! Octree levels for contacts between certain pairs of bodies, which override the bodies' own levels.

use std::collections::HashMap;

use super::{
    UiInput, UiOutput, UiState, pair_map,
    shot_rows::note,
    widgets::{label, name_list},
};
use crate::scene::{ObjectInfo, PairLevel, Sandbox, Tuning};

/// Size of the list that names one body, points.
const LIST: egui::Vec2 = egui::vec2(64.0, 24.0);
/// Height of a row, points, and number of rows in sight.
const ROW: f32 = 20.0;
const ROWS: f32 = 8.5;
/// Height of an open list, points.
const OPEN: f32 = 200.0;

/// The two bodies that a new entry is for.
#[derive(Default)]
pub(super) struct Chosen([usize; 2]);

/// Labels of bodies. How many bodies have each name is counted once for all labels of a frame.
struct Names<'a> {
    sandbox: &'a Sandbox,
    counts: HashMap<&'a str, usize>,
}

/// The name of a body in the scene, or else that of its mesh.
fn own(object: &ObjectInfo) -> &str {
    object.scene.name.as_ref().unwrap_or(&object.name)
}

impl<'a> Names<'a> {
    fn new(sandbox: &'a Sandbox) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for object in sandbox.objects() {
            *counts.entry(own(object)).or_default() += 1;
        }
        Self { sandbox, counts }
    }

    /// A body's label: its name, followed by its number if several bodies have that name.
    fn of(&self, body: usize) -> String {
        let Some(object) = self.sandbox.objects().get(body) else { return format!("body {body}") };
        let own = own(object);
        if self.counts.get(own).is_none_or(|count| *count < 2) {
            own.to_owned()
        } else {
            format!("{own} {body}")
        }
    }
}

/// The bodies to choose from, of which only those in sight are laid out.
fn choose(ui: &mut egui::Ui, names: &Names<'_>, bodies: usize, body: &mut usize) {
    let spacing = ui.spacing();
    let (least, padding) = (spacing.interact_size.y, 2.0 * spacing.button_padding.y);
    let row = least.max(ui.text_style_height(&egui::TextStyle::Button) + padding);
    egui::ScrollArea::vertical().max_height(OPEN).show_rows(ui, row, bodies, |ui, range| {
        for other in range {
            ui.selectable_value(body, other, names.of(other));
        }
    });
}

pub(super) fn show(
    ui: &mut egui::Ui,
    state: &mut UiState,
    input: &UiInput<'_>,
    new: &mut Tuning,
    out: &mut UiOutput,
) {
    let Some(sandbox) = input.sandbox else { return };
    let bodies = sandbox.bodies_of_scene();
    if bodies == 0 {
        return;
    }
    let names = &Names::new(sandbox);
    let level = |body: &usize| sandbox.objects().get(*body).map(|object| object.scene.level);
    let finest = |bodies: [usize; 2]| bodies.iter().filter_map(level).max().unwrap_or(7);
    let mut gone = None;
    // Only the rows in sight are laid out: a scene may have thousands of pairs.
    let rows = egui::ScrollArea::vertical().id_salt("pairs").max_height(ROWS * ROW);
    let count = new.pairs.len();
    rows.show_rows(ui, ROW, count, |ui, range| {
        for i in range {
            let pair = &mut new.pairs[i];
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                let [a, b] = pair.bodies.map(|body| names.of(body));
                let text = if pair.bodies[0] == pair.bodies[1] {
                    format!("{a} with its pieces")
                } else {
                    format!("{a} with {b}")
                };
                let tip = "Contact level of these two bodies and of their pieces";
                let (size, left) = (egui::vec2(150.0, ROW), egui::Layout::left_to_right(egui::Align::Center));
                ui.allocate_ui_with_layout(size, left, |ui| {
                    ui.set_min_width(size.x);
                    ui.add(egui::Label::new(&text).truncate()).on_hover_text(tip);
                });
                let range = 1..=finest(pair.bodies);
                let number = egui::DragValue::new(&mut pair.level).range(range).prefix("level ").speed(0.05);
                let response = ui.add_sized([62.0, ROW], number).on_hover_text(tip);
                out.name(format!("pair_level_{i}"), &response);
                let remove = ui
                    .button("✖")
                    .on_hover_text("Remove this entry: these two bodies use their usual contact level again");
                remove.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Remove {text}"))
                });
                if remove.clicked() {
                    gone = Some(i);
                }
            });
        }
    });
    if let Some(gone) = gone {
        new.pairs.remove(gone);
    }
    if (2..=pair_map::MOST).contains(&bodies) {
        let names: Vec<String> = (0..bodies).map(|body| names.of(body)).collect();
        egui::CollapsingHeader::new("Levels of all pairs").id_salt("pair map").show_unindented(ui, |ui| {
            pair_map::show(ui, input, &names, new, out);
        });
    } else if bodies > pair_map::MOST {
        let most = pair_map::MOST;
        note(
            ui,
            &format!(
                "The map of all pairs has room for {most} bodies, and there are {bodies}; choose a pair below."
            ),
        );
    }
    let chosen = &mut state.pair.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let tip = "Two bodies whose contacts get a level of their own; the same body twice is for contacts among its \
                   pieces";
        label(ui, "Pair", tip);
        for (which, body) in chosen.iter_mut().enumerate() {
            *body = (*body).min(bodies - 1);
            let title = ["First of the pair", "Second of the pair"][which];
            // A list would truncate its text to the available width, which is the whole row.
            ui.allocate_ui_with_layout(LIST, egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.set_max_width(LIST.x);
                let combo = egui::ComboBox::from_id_salt(title).selected_text(names.of(*body));
                let combo = combo.width(LIST.x).height(2.0 * OPEN).truncate();
                let response = combo.show_ui(ui, |ui| choose(ui, names, bodies, body));
                let response = response.response.on_hover_text(names.of(*body));
                name_list(&response, title);
                out.name(["pair_a", "pair_b"][which], &response);
            });
        }
        let [a, b] = *chosen;
        let is_there = |pair: &PairLevel| pair.bodies == [a, b] || pair.bodies == [b, a];
        let add = egui::Button::new("+");
        let is_new = !new.pairs.iter().any(is_there);
        let add = ui.add_enabled(is_new, add).on_hover_text("Give this pair a level");
        add.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, is_new, "Give this pair a level"));
        out.name("pair_add", &add);
        if add.clicked() {
            new.pairs.push(PairLevel { bodies: [a, b], level: new.physics_level.min(finest([a, b])) });
        }
    });
}
