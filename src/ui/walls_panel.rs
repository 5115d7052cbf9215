//! Walls round the scene: a box of planes that no body leaves.

use super::{UiInput, UiOutput, widgets::label};
use crate::{bodies::Walls, scene::Tuning};

/// Least distance between two opposite walls, m.
const LEAST: f64 = 0.01;
/// Width of a number field, points: three fit beside their label.
const WIDTH: f32 = 52.0;
/// Largest coordinate of a wall that can be typed, m.
const FARTHEST: f64 = 1000.0;

/// Walls with a margin round all bodies: the longest side on every side and twice that above, standing on the floor.
fn round_what_is_there(input: &UiInput<'_>) -> Walls {
    let bounds = input.sandbox.and_then(|s| s.bounds(None));
    let (low, high) = bounds.unwrap_or((glam::Vec3::new(-0.5, 0.0, -0.5), glam::Vec3::new(0.5, 1.0, 0.5)));
    let (low, high) = (low.as_dvec3(), high.as_dvec3());
    let room = (high - low).max_element().max(0.1);
    // Rounded to centimetres.
    let whole = |v: glam::DVec3| (v * 100.0).round() / 100.0;
    let floor = input.sandbox.and_then(|s| s.settings().floor).unwrap_or(low.y - room);
    let (low, high) = (whole(low - room), whole(high + room + glam::DVec3::Y * room));
    Walls { low: low.with_y(floor.min(low.y + room)), high }
}

/// The rows that switch the walls on and place them.
pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, new: &mut Tuning, out: &mut UiOutput) {
    let mut there = new.walls.is_some();
    let tip =
        "A box that no body leaves; its edges are drawn as thin lines. It starts with room around all bodies";
    let response = ui.checkbox(&mut there, "Walls").on_hover_text(tip);
    out.name("walls", &response);
    if response.changed() {
        new.walls = there.then(|| round_what_is_there(input));
    }
    if let Some(Walls { low, high }) = &mut new.walls {
        let (l, h) = (*low, *high);
        corner(ui, out, ("  from, m", "walls_low", "Low corner of the walls: x, y, z"), low, |axis| {
            -FARTHEST..=h[axis] - LEAST
        });
        corner(ui, out, ("  to, m", "walls_high", "High corner of the walls: x, y, z"), high, |axis| {
            l[axis] + LEAST..=FARTHEST
        });
    }
}

fn corner(
    ui: &mut egui::Ui,
    out: &mut UiOutput,
    (name, id, tip): (&str, &str, &str),
    at: &mut glam::DVec3,
    range: impl Fn(usize) -> std::ops::RangeInclusive<f64>,
) {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        ui.spacing_mut().item_spacing.x = 3.0;
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let number = egui::DragValue::new(&mut at[axis])
                .range(range(axis))
                .clamp_existing_to_range(false)
                .speed(0.01)
                .max_decimals(2)
                .update_while_editing(false);
            let response =
                ui.add_sized([WIDTH, 20.0], number).on_hover_text(format!("{tip}; this is {letter}"));
            out.name(format!("{id}_{letter}"), &response);
        }
    });
}
