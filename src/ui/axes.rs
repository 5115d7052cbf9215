//! The small cross in the corner that says which way the axes point.

use egui::{Color32, Pos2, Stroke, Vec2};

use crate::render::Camera;

/// Names, directions and colours of the axes.
pub(super) const AXES: [(&str, [f32; 3], Color32); 3] = [
    ("x", [1.0, 0.0, 0.0], Color32::from_rgb(222, 104, 92)),
    ("y", [0.0, 1.0, 0.0], Color32::from_rgb(130, 190, 98)),
    ("z", [0.0, 0.0, 1.0], Color32::from_rgb(96, 148, 224)),
];

pub(super) fn paint(painter: &egui::Painter, camera: &Camera, centre: Pos2, length: f32) {
    let forward = (camera.target - camera.eye()).normalize_or(glam::Vec3::NEG_Z);
    let right = forward.cross(glam::Vec3::Y).normalize_or(glam::Vec3::X);
    let up = right.cross(forward);
    let mut order: Vec<(f32, usize)> = AXES
        .iter()
        .enumerate()
        .map(|(i, (_, axis, _))| (forward.dot(glam::Vec3::from_array(*axis)), i))
        .collect();
    // Far axes first, so that near ones are drawn over them.
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (depth, i) in order {
        let (name, axis, color) = AXES[i];
        let axis = glam::Vec3::from_array(axis);
        let end = centre + Vec2::new(axis.dot(right), -axis.dot(up)) * length;
        let color = if depth > 0.3 { color.gamma_multiply(0.55) } else { color };
        painter.line_segment([centre, end], Stroke::new(2.0, color));
        painter.circle_filled(end, 6.5, color);
        painter.text(
            end,
            egui::Align2::CENTER_CENTER,
            name,
            egui::FontId::proportional(10.0),
            Color32::BLACK,
        );
    }
}
