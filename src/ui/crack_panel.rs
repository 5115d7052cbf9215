//! Settings of rough and dusty crack surfaces.

use super::{
    UiOutput,
    widgets::{SliderLook, label, slider},
};
use crate::fracture::{
    FractureParams, Surface,
    crack::{CrackShape, Offset, Sides},
};

pub(super) fn show(ui: &mut egui::Ui, leaf: u32, params: &mut FractureParams, out: &mut UiOutput) {
    let surface = params.surface;
    let is_dusty = surface == Surface::Dusty;
    let shape = &mut params.crack;
    if is_dusty {
        let tip = "Width of the gap between two pieces, in voxels of the full detail; what lay in it is lost as dust";
        let response =
            slider(ui, "Gap", tip, &mut shape.dusty.width, 0.0..=16.0, &SliderLook::unit(" vx", 1));
        out.name("gap", &response);
        let tip = "How unevenly wide the gap is: 0 the same everywhere, 1 down to nothing here and there";
        let look = SliderLook::unit("", 2);
        let response = slider(ui, "Irregularity", tip, &mut shape.dusty.irregularity, 0.0..=1.0, &look);
        out.name("irregularity", &response);
    }
    let default = CrackShape::default().transition(leaf, surface).unwrap_or(leaf);
    let mut level = shape.transition_level.unwrap_or(default).min(leaf);
    let tip = "Transition level (2018): size of the crack's facets; low breaks into coarse, bent chunks, high follows the cells";
    let response = slider(ui, "Transition", tip, &mut level, 2..=leaf.max(3), &SliderLook::WHOLE);
    out.name("transition", &response);
    if response.changed() {
        shape.transition_level = (level != default).then_some(level.min(leaf));
    }

    let unit = SliderLook::unit("", 2);
    let tip = "How far noise moves the crack away from the cells' faces";
    let response = slider(ui, "Roughness", tip, &mut shape.noise.amplitude, 0.0..=1.0, &unit);
    out.name("roughness", &response);
    let tip = "Size of the bumps: patches along the grid's side";
    let look = SliderLook { logarithmic: true, ..SliderLook::WHOLE };
    let response = slider(ui, "Frequency", tip, &mut shape.noise.frequency, 1..=512, &look);
    out.name("frequency", &response);
    let tip = "Number of layers of bumps, each finer than the one before";
    let response = slider(ui, "Octaves", tip, &mut shape.noise.octaves, 1..=5, &SliderLook::WHOLE);
    out.name("octaves", &response);
    // Dusty surfaces have no face and voxel points that could be displaced.
    if !is_dusty {
        let jags = &mut shape.displacement;
        let tip = "Random shift of the facets' corners on the walls between the crack's voxels";
        let response = slider(ui, "Jagged edges", tip, &mut jags.face, 0.0..=0.5, &unit);
        out.name("jagged_edges", &response);
        let tip = "Random shift of the facets' corners inside the crack's voxels";
        let response = slider(ui, "Jagged peaks", tip, &mut jags.voxel, 0.0..=0.5, &unit);
        out.name("jagged_peaks", &response);
        ui.horizontal(|ui| {
            label(ui, "Sides", "What decides to which piece a voxel beside the crack belongs");
            ui.spacing_mut().item_spacing.x = 3.0;
            for (sides, name, tip) in [
                (Sides::Cone, "exact", "The region of the crack surface that the voxel lies in"),
                (Sides::Votes, "votes", "As published in 2018, to compare: it leaves holes"),
            ] {
                let button = egui::Button::selectable(shape.sides == sides, name).frame_when_inactive(true);
                let button = ui.add(button).on_hover_text(tip);
                out.name(name, &button);
                if button.clicked() {
                    shape.sides = sides;
                }
            }
        });
    }

    ui.horizontal(|ui| {
        label(ui, "Follows", "What determines where the crack crosses an edge of its grid");
        ui.spacing_mut().item_spacing.x = 3.0;
        for (offset, name, tip) in [
            (Offset::Plane, "cells", "The faces between the cells, moved by noise"),
            (Offset::Balance, "chance", "Noise alone; the cells only determine which edges break"),
        ] {
            if ui.add(egui::Button::selectable(shape.offset == offset, name)).on_hover_text(tip).clicked() {
                shape.offset = offset;
            }
        }
    });
    if shape.offset == Offset::Plane {
        let tip = "How strongly the cells' faces pull";
        let response = slider(ui, "Pull", tip, &mut shape.strength, 0.0..=1.0, &unit);
        out.name("pull", &response);
    }
}
