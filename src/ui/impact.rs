//! Overlay of the impact: its spheres, and for a pinned impact the handles that tune it.

use egui::{Color32, CursorIcon, Pos2, Rect, Sense, Stroke, Vec2};

use super::{Command, Tool, UiInput, UiOutput, theme, tune};
use crate::scene::Tuning;

/// Draws the spring between the hand and the grabbed body.
pub(super) fn held(painter: &egui::Painter, input: &UiInput<'_>, rect: Rect) {
    let Some(drag) = input.drag else { return };
    if let (Some(a), Some(b)) = (on_screen(input, rect, drag.point), on_screen(input, rect, drag.target)) {
        painter.line_segment([a.centre, b.centre], Stroke::new(2.0, theme::GOLD));
        painter.circle_filled(a.centre, 4.0, theme::GOLD);
        painter.circle_stroke(b.centre, 6.0, Stroke::new(1.6, theme::GOLD));
    }
}

/// Draws the walls' box.
pub(super) fn walls(painter: &egui::Painter, input: &UiInput<'_>, rect: Rect) {
    let Some(walls) = input.sandbox.and_then(|s| s.settings().walls) else {
        return;
    };
    let corner = |c: u32| {
        let pick = |axis: usize| if c >> axis & 1 == 0 { walls.low[axis] } else { walls.high[axis] } as f32;
        on_screen(input, rect, glam::Vec3::new(pick(0), pick(1), pick(2))).map(|p| p.centre)
    };
    for c in 0..8u32 {
        for axis in (0..3).filter(|axis| c >> axis & 1 == 0) {
            if let (Some(a), Some(b)) = (corner(c), corner(c | 1 << axis)) {
                painter.line_segment([a, b], Stroke::new(1.0, theme::DIM.gamma_multiply(0.6)));
            }
        }
    }
}

/// Widget names of the radius handles.
const RADIUS_NAMES: [&str; 8] =
    ["radius_0", "radius_1", "radius_2", "radius_3", "radius_4", "radius_5", "radius_6", "radius_7"];
/// Radius of a handle and of its click area, points.
const KNOB: f32 = 5.5;
const CATCH: f32 = 10.0;
/// Angle of the first sphere's handle and the step to the next one, radians: up and to the right, spread so that
/// handles of equal spheres do not hide each other.
const FIRST_ANGLE: f32 = -0.75;
const NEXT_ANGLE: f32 = 0.42;

/// The impact in the window's coordinates, with the length of a metre there.
struct OnScreen {
    centre: Pos2,
    points_per_meter: f32,
}

fn on_screen(input: &UiInput<'_>, rect: Rect, point: glam::Vec3) -> Option<OnScreen> {
    let [x, y] = input.camera.project(point, rect.width() / rect.height())?;
    let depth = point.distance(input.camera.eye()).max(1e-6);
    Some(OnScreen {
        centre: rect.min + rect.size() * Vec2::new(x, y),
        points_per_meter: rect.height() / (2.0 * depth * libm::tanf(input.camera.fov_y / 2.0)),
    })
}

/// Draws the spheres at the point under the pointer.
pub(super) fn hovered(painter: &egui::Painter, input: &UiInput<'_>, rect: Rect) {
    let (Some(hover), Some(sandbox)) = (input.hover, input.sandbox) else {
        return;
    };
    let Some(OnScreen { centre, points_per_meter }) = on_screen(input, rect, hover.point) else {
        return;
    };
    for (i, radius) in sandbox.tuning().fracture.radii.iter().enumerate() {
        let radius = *radius as f32 * hover.longest_side * points_per_meter;
        circle(painter, centre, radius, (0.42 - 0.08 * i as f32).max(0.12));
    }
    local(painter, sandbox.tuning(), centre, hover.longest_side * points_per_meter);
    painter.circle_filled(centre, 3.0, theme::GOLD);
}

/// Draws the brush under the pointer.
pub(super) fn brush(painter: &egui::Painter, input: &UiInput<'_>, rect: Rect) {
    let (Some(hover), Some(sandbox)) = (input.hover, input.sandbox) else { return };
    let Some(OnScreen { centre, points_per_meter }) = on_screen(input, rect, hover.point) else { return };
    let brush = sandbox.tuning().brush;
    let radius = (brush.radius as f32 * hover.object_size * points_per_meter).min(4000.0);
    let [r, g, b] = if brush.erases { [220; 3] } else { crate::scene::paint_color(brush.kind) };
    painter.circle_stroke(centre, radius + 1.5, Stroke::new(1.0, Color32::from_black_alpha(150)));
    painter.circle_stroke(centre, radius, Stroke::new(1.8, Color32::from_rgb(r, g, b)));
}

/// Draws the radius within which a local blow breaks cells.
fn local(painter: &egui::Painter, tuning: &Tuning, centre: Pos2, points_per_radius: f32) {
    if let Some(radius) = tuning.fracture.local {
        let radius = radius as f32 * points_per_radius;
        painter.circle_stroke(centre, radius.min(4000.0), Stroke::new(1.6, theme::TEXT));
    }
}

fn circle(painter: &egui::Painter, centre: Pos2, radius: f32, strength: f32) {
    painter.circle_stroke(centre, radius.min(4000.0), Stroke::new(1.1, theme::GOLD.gamma_multiply(strength)));
}

/// Draws the pinned impact; its point and every radius can be dragged. Called after the picture's own response, so that
/// the handles lie above it.
pub(super) fn pinned(ui: &egui::Ui, input: &UiInput<'_>, rect: Rect, out: &mut UiOutput) {
    let (Some(pin), Some(sandbox)) = (input.pin, input.sandbox) else {
        return;
    };
    let Some(OnScreen { centre, points_per_meter }) = on_screen(input, rect, pin.point) else {
        return;
    };
    let painter = ui.painter_at(rect);
    if input.tool == Tool::Keep {
        // Handles would cover the cells to be clicked.
        painter.circle_stroke(centre, 5.0, Stroke::new(1.6, theme::GOLD));
        return;
    }
    let mut tuning = sandbox.tuning().clone();
    let points_per_radius = (pin.longest_side * points_per_meter).max(1e-3);
    for (i, radius) in tuning.fracture.radii.iter_mut().enumerate().take(RADIUS_NAMES.len()) {
        let length = (*radius as f32 * points_per_radius).min(4000.0);
        let angle = FIRST_ANGLE + NEXT_ANGLE * i as f32;
        let at = centre + Vec2::angled(angle) * length;
        let catch = Rect::from_center_size(at, Vec2::splat(2.0 * CATCH)).intersect(rect);
        let held = rect.contains(at).then(|| {
            let response = ui.interact(catch, ui.scope_id().with(("radius", i)), Sense::drag());
            out.name(RADIUS_NAMES[i], &response);
            if response.dragged()
                && let Some(pointer) = response.interact_pointer_pos()
            {
                *radius = f64::from((pointer - centre).length() / points_per_radius).clamp(0.005, 3.0);
            }
            let held = response.hovered() || response.dragged();
            response.on_hover_cursor(CursorIcon::Grab).on_hover_text(format!("Radius {radius:.2}; drag it"));
            held
        });
        let lit = held == Some(true);
        circle(&painter, centre, length, if lit { 1.0 } else { (0.7 - 0.1 * i as f32).max(0.25) });
        if held.is_some() {
            knob(&painter, at, if lit { KNOB + 1.5 } else { KNOB }, lit);
        }
    }
    local(&painter, &tuning, centre, points_per_radius);
    if tuning != *sandbox.tuning() {
        tune(out, "radius", tuning);
    }
    let catch = Rect::from_center_size(centre, Vec2::splat(2.4 * CATCH));
    let response = ui.interact(catch, ui.scope_id().with("pin"), Sense::drag());
    out.name("pin", &response);
    if response.dragged()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        let inside = (pointer - rect.min) / rect.size();
        out.push(Command::MovePin([inside.x, inside.y]));
    }
    let lit = response.hovered() || response.dragged();
    response.on_hover_cursor(CursorIcon::Move);
    painter.circle_stroke(centre, 11.0, Stroke::new(2.0, if lit { Color32::WHITE } else { theme::GOLD }));
    knob(&painter, centre, 4.0, lit);
}

fn knob(painter: &egui::Painter, at: Pos2, radius: f32, lit: bool) {
    let fill = if lit { Color32::WHITE } else { theme::GOLD };
    painter.circle(at, radius, fill, Stroke::new(1.5, Color32::from_black_alpha(170)));
}
