//! Handles in the picture that move slices along their normals.

use egui::{Color32, CursorIcon, PointerButton, Pos2, Rect, Stroke};
use glam::DVec3;

use super::{
    UiInput, UiOutput,
    handle_drag::{KeptDrag, Mouse},
    theme, tune,
};
use crate::{render::Camera, scene::Slice};

/// Radius of a handle, and how near to its middle the pointer takes it, points.
const RADIUS: f32 = 6.0;
const NEAR: f32 = 11.0;
/// Length of the arrow that shows which side is taken away, points.
const ARROW: f32 = 22.0;

/// A drag that has begun.
#[derive(Clone, Copy)]
struct Begun {
    slice: usize,
    from: Pos2,
    at: f64,
    /// Motion in the picture for a metre along the normal, points.
    way: egui::Vec2,
}

/// Where a slice's handle is in the picture, and the motion of a metre along the normal, points.
fn place(
    slice: &Slice,
    time: f64,
    (camera, view): (&Camera, Rect),
    middle: DVec3,
) -> Option<(Pos2, egui::Vec2)> {
    let unit = slice.unit();
    let on_plane = middle + unit * (slice.at_time(time) - middle.dot(unit));
    let aspect = view.width() / view.height();
    let seen = |point: DVec3| {
        let [x, y] = camera.project(point.as_vec3(), aspect)?;
        Some(egui::pos2(view.left() + x * view.width(), view.top() + y * view.height()))
    };
    let at = seen(on_plane)?;
    // A short way, since perspective bends a long one.
    let step = 0.01 * f64::from(camera.distance);
    Some((at, (seen(on_plane + unit * step)? - at) / step as f32))
}

/// Draws the handles and takes drags; returns whether a drag belongs to one.
pub(super) fn show(
    ui: &egui::Ui,
    response: &egui::Response,
    view: Rect,
    input: &UiInput<'_>,
    out: &mut UiOutput,
) -> bool {
    let there = input.sandbox.filter(|sandbox| !sandbox.tuning().slices.is_empty());
    let there = there.and_then(|sandbox| Some((sandbox, sandbox.bounds(None)?)));
    let Some((drag, (sandbox, (low, high)))) = KeptDrag::<Begun>::on(ui, "slice handle", there) else {
        return false;
    };
    let begun = drag.begun;
    let (slices, middle) = (&sandbox.tuning().slices, low.midpoint(high).as_dvec3());
    let places: Vec<_> =
        slices.iter().map(|slice| place(slice, sandbox.time(), (&input.camera, view), middle)).collect();
    let mouse = Mouse::over(ui, response, (view, input), |at| {
        places.iter().position(|place| place.is_some_and(|(handle, _)| handle.distance(at) < NEAR))
    });
    let painter = ui.painter_at(view);
    for (i, (slice, (at, way))) in
        slices.iter().zip(&places).filter_map(|(slice, place)| Some((slice, place.as_ref()?))).enumerate()
    {
        let is_held = begun.is_some_and(|begun| begun.slice == i) || mouse.hovered == Some(i);
        let color = if is_held { Color32::WHITE } else { theme::GOLD };
        let along = if way.length() > 1.0 { way.normalized() } else { egui::Vec2::ZERO };
        let dark = Stroke::new(4.0, Color32::from_black_alpha(110));
        if slice.opens && along != egui::Vec2::ZERO {
            let end = *at + along * ARROW;
            painter.line_segment([*at, end], dark);
            painter.line_segment([*at, end], Stroke::new(2.0, color));
            let aside = egui::vec2(-along.y, along.x) * 4.0;
            let tip = vec![end + along * 8.0, end + aside, end - aside];
            painter.add(egui::Shape::convex_polygon(tip, color, Stroke::NONE));
        }
        painter.circle(*at, RADIUS, color, Stroke::new(1.5, Color32::BLACK));
        let rect = Rect::from_center_size(*at, egui::Vec2::splat(4.0));
        out.rects.push((format!("slice_handle_{i}").into(), rect));
    }
    if mouse.hovered.is_some() || begun.is_some() {
        ui.ctx().set_cursor_icon(CursorIcon::Grab);
    }
    if let Some(begun) = begun {
        if !response.dragged_by(PointerButton::Primary) {
            drag.keep(None);
            return true;
        }
        let mut new = sandbox.tuning().clone();
        let pointer = ui.input(|i| i.pointer.latest_pos());
        if let (Some(slice), Some(to)) = (new.slices.get_mut(begun.slice), pointer) {
            // The part of the pointer's way along the normal as it is seen.
            let metres = (to - begun.from).dot(begun.way) / begun.way.length_sq().max(1.0);
            slice.at = begun.at + f64::from(metres);
            if new != *sandbox.tuning() {
                tune(out, "slice", new);
            }
        }
        return true;
    }
    let starts = response.drag_started_by(PointerButton::Primary);
    if let (Some(slice), Some(from), true) = (mouse.takes, mouse.from, starts)
        && let Some((_, way)) = places.get(slice).copied().flatten()
        && let Some(at) = slices.get(slice).map(|slice| slice.at)
    {
        drag.keep(Some(Begun { slice, from, at, way }));
        return true;
    }
    mouse.is_taken(ui, response)
}
