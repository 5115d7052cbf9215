//! What contacts by distance fields can show: the position of the slice, the step of the fronts, the level of the
//! spheres.

use super::{
    UiOutput, theme,
    widgets::{SliderLook, label, slider},
};
use crate::scene::{InsideView, LookingReport};

/// The axes that a slice can be perpendicular to: index, widget name, label.
const AXES: [(u8, &str, &str); 3] = [
    (0, "X", "The slice is perpendicular to the mesh's x axis"),
    (1, "Y", "The slice is perpendicular to the mesh's y axis"),
    (2, "Z", "The slice is perpendicular to the mesh's z axis"),
];

/// The rows of distance fields, in the panel of the inside.
pub(super) fn show(ui: &mut egui::Ui, view: &mut InsideView, report: &LookingReport, out: &mut UiOutput) {
    let [steps, levels] = report.fields.unwrap_or([1, 8]);
    egui::Grid::new("fields").num_columns(2).min_col_width(0.5 * theme::ROW - 8.0).show(ui, |ui| {
        let tip = "A slice through the distance field of the pieces, in their colours, with lines of equal depth: \
                   the values that contacts by distance fields read";
        let field = ui.checkbox(&mut view.field_slice, "Distance field").on_hover_text(tip);
        out.name("show_field_slice", &field);
        let tip = "Nodes of the field on the slice, coloured by the step at which the update after a break reached \
                   them: yellow exact beside the crack, red the step that is shown, blue late steps, grey unchanged";
        let field = ui.checkbox(&mut view.fronts, "Fronts").on_hover_text(tip);
        out.name("show_fronts", &field);
    });
    if view.field_slice || view.fronts {
        ui.horizontal(|ui| {
            label(ui, "Slice", "The axis that the slice is perpendicular to");
            for (axis, name, tip) in AXES {
                let button =
                    ui.add(egui::Button::selectable(view.cut.axis == axis, name).frame_when_inactive(true));
                out.name(format!("slice_{}", name.to_lowercase()), &button);
                if button.on_hover_text(tip).clicked() {
                    view.cut.axis = axis;
                }
            }
        });
        let tip = "Position of the slice along that axis, in hundredths of the object";
        let response =
            slider(ui, "Slice at", tip, &mut view.cut.percent, 0..=100, &SliderLook::unit(" %", 0));
        out.name("slice_at", &response);
    }
    if view.fronts {
        let tip =
            "Step of the update that is shown; 0 is the exact nodes beside the crack, before it spreads";
        // Steps beyond the last one show all fronts.
        let mut step = view.front_step.min(steps);
        let response = slider(ui, "Front step", tip, &mut step, 0..=steps.max(1), &SliderLook::WHOLE);
        out.name("front_step", &response);
        if response.changed() {
            view.front_step = step;
        }
    }
    let mut on = view.spheres.is_some();
    let tip = "Bounding spheres of the pieces' points at a level of their trees: contacts skip all points in a sphere \
         that misses the other body";
    let field = ui.checkbox(&mut on, "Sphere trees").on_hover_text(tip);
    out.name("show_spheres", &field);
    if field.changed() {
        view.spheres = on.then_some(6);
    }
    if let Some(level) = &mut view.spheres {
        let response = slider(ui, "Tree level", tip, level, 0..=levels.max(1), &SliderLook::WHOLE);
        out.name("spheres_level", &response);
    }
}
