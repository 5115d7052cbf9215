//! Settings of rough and dusty crack surfaces.

use super::{
    UiOutput,
    widgets::{label, level, numbers},
};
use crate::fracture::{
    CRACK, FractureParams,
    crack::{CrackShape, Offset, Sides},
};

pub(super) fn show(ui: &mut egui::Ui, leaf: u32, params: &mut FractureParams, out: &mut UiOutput) {
    for row in CRACK {
        match row.of.field() {
            _ if !(row.applies)(params) => {}
            "transition_level" => {
                let default = CrackShape::default().transition(leaf, params.surface).unwrap_or(leaf);
                let mut transition = params.crack.transition_level.unwrap_or(default).min(leaf);
                if level(ui, out, &row.of, &mut transition, leaf) {
                    params.crack.transition_level = (transition != default).then_some(transition.min(leaf));
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
