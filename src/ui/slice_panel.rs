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
    ("X", DVec3::X, "A cut at one place on x: what it shows spans y and z"),
    ("Y", DVec3::Y, "A cut at one height, level with the floor: what it shows spans x and z"),
    ("Z", DVec3::Z, "A cut at one place on z: what it shows spans x and y"),
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
    if !new.slices.is_empty() {
        let tip = "Draw what slices show and not the bodies, in picture files and films too; it needs a quantity under Show, \
                   or voxel lines";
        let alone = ui.checkbox(&mut new.view.slices_alone, "Slice alone").on_hover_text(tip);
        out.name("slices_alone", &alone);
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

/// Angles of a slice's normal, degrees: about the vertical axis from z towards x, and above the horizontal.
fn angles(normal: DVec3) -> [f64; 2] {
    // A negative zero would be half a turn.
    let DVec3 { x, y, z } = normal + DVec3::ZERO;
    [libm::atan2(x, z), libm::asin(y.clamp(-1.0, 1.0))].map(f64::to_degrees)
}

/// The unit normal with these angles.
fn normal_of(angles: [f64; 2]) -> DVec3 {
    let [turn, rise] = angles.map(f64::to_radians);
    let level = libm::cos(rise);
    DVec3::new(level * libm::sin(turn), libm::sin(rise), level * libm::cos(turn))
}

/// The same slice with another unit normal, through the point of its plane that is nearest to `middle`.
fn turned(slice: Slice, normal: DVec3, middle: DVec3) -> Slice {
    let unit = slice.unit();
    let point = middle + unit * (slice.at - middle.dot(unit));
    let at = point.dot(normal);
    let swing = slice.swing.map(|swing| Swing { to: at + swing.to - slice.at, ..swing });
    Slice { normal, at, swing, ..slice }
}

/// The row of a slice's angles.
fn tilt(
    ui: &mut egui::Ui,
    slice: &mut Slice,
    middle: DVec3,
    name: impl Fn(&str) -> String,
    out: &mut UiOutput,
) {
    ui.horizontal(|ui| {
        label(
            ui,
            "Tilt",
            "Where the slice faces: the angle about the vertical axis, and the one above the horizontal",
        );
        let mut angles = angles(slice.unit());
        let fields = [
            ("turn", "turn ", 180.0, "About the vertical axis; 0 is z, 90 is x"),
            ("rise", "rise ", 90.0, "Above the horizontal; at 90 the slice is level"),
        ];
        let mut is_changed = false;
        for (angle, (what, prefix, most, tip)) in angles.iter_mut().zip(fields) {
            let field = DragValue::new(angle).range(-most..=most).speed(0.5).prefix(prefix).suffix("°");
            let response = ui.add(field.max_decimals(1)).on_hover_text(tip);
            out.name(name(what), &response);
            is_changed |= response.changed();
        }
        if is_changed {
            *slice = turned(*slice, normal_of(angles), middle);
        }
    });
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
        label(
            ui,
            &format!("Slice {}", i + 1),
            "A slice is a flat cut through everything. The letter is the axis that it stands across",
        );
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
    tilt(ui, slice, middle, name, out);
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
            for quantity in Quantity::ALL.into_iter().filter(|quantity| quantity.is_built()) {
                let label = quantity.label.to_lowercase();
                let line = ui.selectable_value(&mut slice.show, Some(quantity), label);
                out.name(name(&format!("shows: {}", quantity.name)), &line.on_hover_text(quantity.help));
            }
        });
        name_list(&response.response, "Slice shows");
        out.name(name("show"), &response.response);
    });
    ui.horizontal(|ui| {
        let tip = "Take away the side that the slice faces, so that the cut lies open; flip takes the other side. Off: \
                   bodies stay whole, and the cut is drawn inside them";
        let field = ui.checkbox(&mut slice.opens, "opens").on_hover_text(tip);
        out.name(name("opens"), &field);
        let tip = "Draw a line round every voxel in the cut. Larger squares are cubes of voxels that are solid \
                   throughout, which the octree stores as one";
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

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    #[test]
    fn angles_and_normals_are_each_others_inverse() {
        for (normal, wanted) in [
            (DVec3::Z, [0.0, 0.0]),
            (DVec3::X, [90.0, 0.0]),
            (DVec3::NEG_X, [-90.0, 0.0]),
            (DVec3::Y, [0.0, 90.0]),
            (DVec3::new(1.0, 2f64.sqrt(), 1.0) / 2.0, [45.0, 45.0]),
        ] {
            let found = angles(normal);
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{normal}: {found:?}");
            assert!((normal_of(found) - normal).length() < 1e-12, "{normal}");
        }
    }

    /// Fails where the plane is turned about the origin, which lies outside the object.
    #[test]
    fn a_slice_that_is_tilted_keeps_its_point_nearest_to_the_middle() {
        let middle = DVec3::new(0.1, 0.5, -0.2);
        let swing = Some(Swing { to: 0.3, period: 2.0 });
        let slice = Slice { normal: DVec3::Z, at: 0.05, swing, ..Slice::default() };
        let other = turned(slice, normal_of([30.0, 20.0]), middle);
        let point = DVec3::new(0.1, 0.5, 0.05);
        assert!((point.dot(other.unit()) - other.at).abs() < 1e-12, "{other:?}");
        let way = |slice: &Slice| slice.swing.unwrap().to - slice.at;
        assert!((way(&other) - way(&slice)).abs() < 1e-12, "{other:?}");
    }

    #[test]
    fn a_slice_alone_hides_the_bodies_and_only_while_there_is_a_slice() {
        let mut panels = crate::ui::tests::Panels::open();
        let all = panels.sandbox.shown_bodies(None).len();
        let tune = |panels: &mut crate::ui::tests::Panels, change: fn(&mut Tuning)| {
            let mut tuning = panels.sandbox.tuning().clone();
            change(&mut tuning);
            panels.sandbox.tune("slice", tuning);
        };
        tune(&mut panels, |tuning| tuning.view.slices_alone = true);
        assert_eq!(panels.sandbox.shown_bodies(None).len(), all, "there is no slice yet");
        tune(&mut panels, |tuning| tuning.slices.push(Slice { at: 0.01, ..Slice::default() }));
        assert_eq!(panels.sandbox.shown_bodies(None).len(), all, "the slice shows nothing by itself yet");
        tune(&mut panels, |tuning| tuning.slices[0].show = Some(crate::scene::Quantity::Solid));
        panels.sandbox.update_touching().unwrap();
        assert!(all > 0 && panels.sandbox.shown_bodies(None).is_empty());
        let drawn = panels.sandbox.inside_overlay().unwrap();
        assert!(!drawn.triangles.is_empty(), "the section is drawn");
        tune(&mut panels, |tuning| tuning.view.slices_alone = false);
        assert_eq!(panels.sandbox.shown_bodies(None).len(), all);
    }

    #[test]
    fn the_panel_has_the_switch_once_there_is_a_slice() {
        let mut harness = crate::ui::tests::harness(1280.0, 2400.0);
        assert!(harness.query_by_label("Slice alone").is_none());
        let sandbox = &mut harness.state_mut().sandbox;
        let mut tuning = sandbox.tuning().clone();
        tuning.slices.push(Slice::default());
        sandbox.tune("slice", tuning);
        harness.run_steps(4);
        harness.query_all_by_label("Slices").last().unwrap().click();
        harness.run_steps(30);
        crate::ui::tests::press(&mut harness, "Slice alone");
        assert!(harness.state().sandbox.tuning().view.slices_alone);
    }
}
