//! The camera: its lens, depth of field, and views to come back to.

use super::{
    Command, UiInput, UiOutput, tune,
    widgets::{SliderLook, label, slider},
};
use crate::{
    render::{Camera, Lens},
    scene::{SavedView, Tuning},
};

/// Focal lengths on the slider, mm.
const FOCAL_MM: std::ops::RangeInclusive<f64> = 12.0..=300.0;
/// F-stops on the slider.
const STOPS: std::ops::RangeInclusive<f64> = 0.7..=22.0;

/// Vertical field of view of a lens before a full-frame sensor, radians.
fn field_of(focal_mm: f64) -> f32 {
    (2.0 * libm::atan(12.0 / focal_mm)) as f32
}

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let camera = input.camera;
    let mut new = tuning.clone();
    let mut focal = Lens::focal_length(f64::from(camera.fov_y)) * 1000.0;
    let tip = "Focal length for a full-frame sensor of 36 × 24 mm: 24 sees much and exaggerates depth, 50 is usual, 135 \
               flattens";
    let look = SliderLook { logarithmic: true, ..SliderLook::unit(" mm", 0) };
    let response = slider(ui, "Lens", tip, &mut focal, FOCAL_MM, &look);
    out.name("focal_length", &response);
    if response.changed() {
        out.push(Command::SetCamera(through(camera, focal)));
    }
    depth_of_field(ui, input, &mut new, out);
    saved_views(ui, camera, &mut new, out);
    if new != *tuning {
        tune(out, "camera", new);
    }
}

/// The same view through another lens: the eye goes nearer or farther, so that what it looks at keeps its size.
fn through(camera: Camera, focal_mm: f64) -> Camera {
    let fov_y = field_of(focal_mm);
    let distance = camera.distance * libm::tanf(0.5 * camera.fov_y) / libm::tanf(0.5 * fov_y);
    Camera { fov_y, distance, ..camera }
}

fn depth_of_field(ui: &mut egui::Ui, input: &UiInput<'_>, new: &mut Tuning, out: &mut UiOutput) {
    let camera = input.camera;
    let lens = &mut new.view.lens;
    let mut blurs = lens.is_some();
    let tip = "What is nearer or farther than the focus is blurred, in the picture at rest, in picture files and films; a \
               picture that moves is sharp";
    let response = ui.checkbox(&mut blurs, "Depth of field").on_hover_text(tip);
    out.name("depth_of_field", &response);
    if response.changed() {
        *lens = blurs.then(Lens::default);
    }
    let Some(lens) = lens else { return };
    let tip = "The smaller the number, the more is blurred. Small objects are blurred more at the same number, as with a real \
               lens";
    let look = SliderLook { logarithmic: true, ..SliderLook::unit("", 1) };
    let response = slider(ui, "F-stop", tip, &mut lens.f_stop, STOPS, &look);
    out.name("f_stop", &response);
    let middle = f64::from(camera.distance);
    let mut at = lens.focus.unwrap_or(middle);
    let tip = "Distance of what is sharp from the eye";
    let range = 0.1 * middle..=4.0 * middle;
    let response = slider(ui, "Focus at", tip, &mut at, range, &SliderLook::unit(" m", 3));
    out.name("focus", &response);
    if response.changed() {
        lens.focus = Some(at);
    }
    ui.horizontal(|ui| {
        let tip = "The middle of the view is sharp, wherever the eye goes";
        let response = ui.add_enabled(lens.focus.is_some(), egui::Button::new("Focus on the middle"));
        out.name("focus_middle", &response);
        if response.on_hover_text(tip).clicked() {
            lens.focus = None;
        }
        let selected = input.sandbox.and_then(|sandbox| {
            let places: Vec<_> = sandbox.selected().map(|body| body.state.position).collect();
            let middle = places.iter().sum::<glam::DVec3>() / places.len().max(1) as f64;
            (!places.is_empty()).then_some(middle)
        });
        let tip = "What is selected is sharp";
        let response = ui.add_enabled(selected.is_some(), egui::Button::new("on the selection"));
        out.name("focus_selection", &response);
        if let Some(at) = selected.filter(|_| response.on_hover_text(tip).clicked()) {
            let depth = (at.as_vec3() - camera.eye()).dot(camera.axes().forward);
            lens.focus = Some(f64::from(depth.max(1e-3)));
        }
    });
}

fn saved_views(ui: &mut egui::Ui, camera: Camera, new: &mut Tuning, out: &mut UiOutput) {
    let mut gone = None;
    for (i, view) in new.saved_views.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            let width = ui.available_width() - 34.0;
            let go = egui::Button::selectable(view.camera == camera, &view.name).frame_when_inactive(true);
            let go = ui.add_sized([width, 22.0], go).on_hover_text("Look from here");
            out.on_click(format!("view: {}", view.name), &go, || Command::SetCamera(view.camera));
            let away = ui.button("×").on_hover_text("Remove this view");
            out.name(format!("remove view: {}", view.name), &away);
            if away.clicked() {
                gone = Some(i);
            }
        });
    }
    if let Some(i) = gone {
        new.saved_views.remove(i);
    }
    let kept = egui::Id::unique("name of a view");
    let free =
        (1..).map(|n| format!("view {n}")).find(|name| new.saved_views.iter().all(|view| view.name != *name));
    ui.horizontal(|ui| {
        label(ui, "Save as", "Saves where the eye is under this name; a view of that name is replaced");
        let mut name = ui.data(|data| data.get_temp::<String>(kept)).or(free).unwrap_or_default();
        let field = ui.add(egui::TextEdit::singleline(&mut name).desired_width(96.0));
        out.name("view_name", &field);
        if field.changed() {
            ui.data_mut(|data| data.insert_temp(kept, name.clone()));
        }
        let save = ui.add_enabled(!name.trim().is_empty(), egui::Button::new("Save"));
        save.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Save this view"));
        out.name("save_view", &save);
        if save.on_hover_text("Save where the eye is now; the scene file keeps it").clicked() {
            let view = SavedView { name: name.trim().to_owned(), camera };
            match new.saved_views.iter_mut().find(|other| other.name == view.name) {
                Some(other) => *other = view,
                None => new.saved_views.push(view),
            }
            ui.data_mut(|data| data.remove::<String>(kept));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_lens_keeps_the_size_of_what_is_looked_at() {
        let camera = Camera::default();
        for focal in [12.0, 50.0, 300.0] {
            let seen = through(camera, focal);
            assert!((Lens::focal_length(f64::from(seen.fov_y)) * 1000.0 - focal).abs() < 1e-3 * focal);
            let [_, top] = camera.project(camera.target + camera.axes().up * 0.3, 1.5).unwrap();
            let [_, again] = seen.project(seen.target + seen.axes().up * 0.3, 1.5).unwrap();
            assert!((top - again).abs() < 1e-4, "{focal}: {top} and {again}");
        }
    }
}
