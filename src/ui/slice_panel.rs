//! Slices: planes that cut the bodies open, what they show, and how they move.

use egui::DragValue;
use glam::DVec3;

use super::{
    UiInput, UiOutput, scale_rows, tune,
    widgets::{SliderLook, label, name_list, slider},
};
use crate::scene::{MOST_OPENING, Quantity, Slice, Swing, Tuning};

/// Axes across a slice.
const AXES: [(&str, DVec3, &str); 3] = [
    ("X", DVec3::X, "The slice stands across x"),
    ("Y", DVec3::Y, "The slice lies across y, level with the floor"),
    ("Z", DVec3::Z, "The slice stands across z"),
];
/// Time in which a slice goes there and back at first, s.
const PERIOD: f64 = 4.0;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let Some(sandbox) = input.sandbox else { return };
    let Some((low, high)) = sandbox.bounds(None) else {
        return;
    };
    let bounds = (low.as_dvec3(), high.as_dvec3());
    let mut new = tuning.clone();
    let mut gone = None;
    for (i, slice) in new.slices.iter_mut().enumerate() {
        if one(ui, i, slice, bounds, out) {
            gone = Some(i);
        }
        ui.separator();
    }
    if let Some(i) = gone {
        new.slices.remove(i);
    }
    let opening = new.slices.iter().filter(|slice| slice.opens).count();
    let tip = "A plane through the middle of everything that cuts the bodies open";
    let add = ui.add_enabled(opening < MOST_OPENING, egui::Button::new("Add a slice")).on_hover_text(tip);
    out.name("add_slice", &add);
    if add.clicked() {
        new.slices.push(first(input.camera.eye().as_dvec3(), bounds));
    }
    if new.slices.iter().any(|slice| slice.show.is_some_and(|show| show.kind == crate::scene::Kind::Number)) {
        scale_rows::show(ui, &mut new.view.scale, out);
    }
    if new != *tuning {
        tune(out, "slice", new);
    }
}

/// A slice through the middle, across the horizontal axis that the eye looks along most, towards the eye.
fn first(eye: DVec3, (low, high): (DVec3, DVec3)) -> Slice {
    let middle = low.midpoint(high);
    let towards = (eye - middle).with_y(0.0);
    let axis = usize::from(towards.z.abs() >= towards.x.abs()) * 2;
    let normal = DVec3::AXES[axis] * if towards[axis] < 0.0 { -1.0 } else { 1.0 };
    Slice { normal, at: middle.dot(normal), ..Slice::default() }
}

/// The rows of a slice; returns whether it is to go.
fn one(
    ui: &mut egui::Ui,
    i: usize,
    slice: &mut Slice,
    (low, high): (DVec3, DVec3),
    out: &mut UiOutput,
) -> bool {
    let name = |what: &str| if i == 0 { format!("slice_{what}") } else { format!("slice_{i}_{what}") };
    let mut goes = false;
    let middle = low.midpoint(high);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        label(ui, &format!("Slice {}", i + 1), "Which way the slice lies");
        for (letter, axis, tip) in AXES {
            let is_across = slice.unit().cross(axis).length() < 1e-9;
            let button = ui.add(egui::Button::selectable(is_across, letter).frame_when_inactive(true));
            out.name(name(&letter.to_lowercase()), &button);
            if button.on_hover_text(tip).clicked() && !is_across {
                *slice = Slice { normal: axis, at: middle.dot(axis), swing: None, ..*slice };
            }
        }
        let flip = ui.button("flip").on_hover_text("Take the other side away");
        out.name(name("flip"), &flip);
        if flip.clicked() {
            (slice.normal, slice.at) = (-slice.normal, -slice.at);
            slice.swing = slice.swing.map(|swing| Swing { to: -swing.to, ..swing });
        }
        let away = ui.button("×").on_hover_text("Remove the slice");
        out.name(name("remove"), &away);
        goes = away.clicked();
    });
    let unit = slice.unit();
    let reach = (high - low).abs().dot(unit.abs()) * 0.5;
    let centre = middle.dot(unit);
    let range = centre - reach..=centre + reach;
    let tip =
        "Where the plane lies along its axis, m from the origin; the handle in the picture moves it, too";
    let response = slider(ui, "At", tip, &mut slice.at, range.clone(), &SliderLook::unit(" m", 3));
    out.name(name("at"), &response);
    ui.horizontal(|ui| {
        label(ui, "Show", "What the colours on the slice mean");
        let chosen = slice.show.map_or_else(|| "material".to_owned(), |show| show.label.to_lowercase());
        let combo = egui::ComboBox::from_id_salt(("slice shows", i)).selected_text(chosen).width(150.0);
        let response = combo.height(560.0).show_ui(ui, |ui| {
            ui.selectable_value(&mut slice.show, None, "material").on_hover_text("What is inside");
            for quantity in Quantity::ALL {
                let label = quantity.label.to_lowercase();
                let line = ui.selectable_value(&mut slice.show, Some(quantity), label);
                out.name(name(&format!("shows: {}", quantity.name)), &line.on_hover_text(quantity.help));
            }
        });
        name_list(&response.response, "Slice shows");
        out.name(name("show"), &response.response);
    });
    ui.horizontal(|ui| {
        let tip = "Do not draw what lies on the near side of the plane";
        let field = ui.checkbox(&mut slice.opens, "opens").on_hover_text(tip);
        out.name(name("opens"), &field);
        let tip = "Draw the edges of the voxels and of the octree's larger octants";
        let field = ui.checkbox(&mut slice.lines, "voxel lines").on_hover_text(tip);
        out.name(name("lines"), &field);
        let mut swings = slice.swing.is_some();
        let tip = "Move the plane there and back while time runs, in films too";
        let field = ui.checkbox(&mut swings, "swings").on_hover_text(tip);
        out.name(name("swings"), &field);
        if field.changed() {
            // To the end that is farther away.
            let [low, high] = [centre - reach, centre + reach];
            let to = if slice.at - low > high - slice.at { low } else { high };
            slice.swing = swings.then_some(Swing { to, period: PERIOD });
        }
    });
    if let Some(swing) = &mut slice.swing {
        ui.horizontal(|ui| {
            label(ui, "Swings", "Where it turns back, and the time there and back");
            let to = DragValue::new(&mut swing.to).speed(0.01 * reach).suffix(" m").max_decimals(3);
            out.name(name("to"), &ui.add(to));
            let period = DragValue::new(&mut swing.period).speed(0.05).range(0.1..=600.0).suffix(" s");
            out.name(name("period"), &ui.add(period.max_decimals(2)));
        });
    }
    goes
}
