//! Settings of rough and dusty crack surfaces.

use super::{
    UiOutput,
    widgets::{label, level_in, numbers},
};
use crate::fracture::{
    CRACK, FractureParams,
    crack::{CrackShape, Offset, Sides},
};

/// The lowest and the highest transition level of an object with leaves at level `leaf`, as the check of scene files has them.
fn transition_range(leaf: u32) -> (u32, u32) {
    (CrackShape::lowest_transition(leaf), leaf)
}

pub(super) fn show(ui: &mut egui::Ui, leaf: u32, params: &mut FractureParams, out: &mut UiOutput) {
    for row in CRACK {
        match row.of.field() {
            _ if !(row.applies)(params) => {}
            "transition_level" => {
                let default = CrackShape::default().transition(leaf, params.surface).unwrap_or(leaf);
                let (low, high) = transition_range(leaf);
                let mut transition = params.crack.transition_level.unwrap_or(default).clamp(low, high);
                let ends = (f64::from(low), f64::from(high));
                if level_in(ui, out, &row.of, &mut transition, [ends; 2]) {
                    params.crack.transition_level = (transition != default).then_some(transition);
                }
            }
            "sides" => sides(ui, (row.of.label, row.of.help), &mut params.crack.sides, out),
            "offset" => offset(ui, (row.of.label, row.of.help), &mut params.crack.offset),
            _ => numbers(ui, out, std::slice::from_ref(row), params),
        }
    }
}

fn sides(ui: &mut egui::Ui, (name, tip): (&str, &str), chosen: &mut Sides, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        ui.spacing_mut().item_spacing.x = 3.0;
        for (sides, name, tip) in [
            (Sides::Cone, "exact", "The region of the crack surface that the voxel lies in"),
            (Sides::Votes, "votes", "As published in 2018, to compare: it leaves holes"),
        ] {
            let button = egui::Button::selectable(*chosen == sides, name).frame_when_inactive(true);
            let button = ui.add(button).on_hover_text(tip);
            out.name(name, &button);
            if button.clicked() {
                *chosen = sides;
            }
        }
    });
}

fn offset(ui: &mut egui::Ui, (name, tip): (&str, &str), chosen: &mut Offset) {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        ui.spacing_mut().item_spacing.x = 3.0;
        for (offset, name, tip) in [
            (Offset::Plane, "cells", "The faces between the cells, moved by noise"),
            (Offset::Balance, "chance", "Noise alone; the cells only determine which edges break"),
        ] {
            if ui.add(egui::Button::selectable(*chosen == offset, name)).on_hover_text(tip).clicked() {
                *chosen = offset;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::Surface;

    /// Planted error to see this fail: begin at 2 on every grid, where a leaf of level 12 has no middle.
    #[test]
    fn the_slider_reaches_every_transition_level_that_files_may_have_and_no_other() {
        for leaf in 1..=12 {
            let allowed: Vec<u32> = (0..=20)
                .filter(|level| {
                    let shape = CrackShape { transition_level: Some(*level), ..CrackShape::default() };
                    shape.check().is_ok() && shape.transition(leaf, Surface::Rough).is_ok()
                })
                .collect();
            let (low, high) = transition_range(leaf);
            assert_eq!((low..=high).collect::<Vec<_>>(), allowed, "leaf level {leaf}");
        }
    }
}
