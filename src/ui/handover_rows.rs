//! Rows of the export panel that adapt the files to other programs.

use super::{
    UiOutput,
    widgets::{SliderLook, choice, label, slider},
};
use crate::{
    bodies::structure::StrengthMaterial,
    export::{Collision, Format, FormatEntry, Handover, Pivot, Target},
};
use std::sync::LazyLock;

/// Conversion of axes by Blender's importers for each format of meshes.
static OF_BLENDER: LazyLock<String> = LazyLock::new(|| {
    let of_meshes = |z_up: bool| {
        let wanted = move |format: &FormatEntry| {
            format.has_meshes() && (format.space)(Target::Blender).is_z_up() == z_up
        };
        Format::labels(wanted)
    };
    format!("z up in {}; {} its importers turn themselves", of_meshes(true), of_meshes(false))
});

const PIVOTS: [(Pivot, &str, &str, &str); 2] = [
    (Pivot::Mass, "export_pivot_mass", "centre of mass", "Each piece turns about its own centre of mass"),
    (Pivot::Origin, "export_pivot_origin", "origin", "All pieces have the origin of the whole object"),
];

const COLLISIONS: [(Collision, &str, &str, &str); 3] = [
    (Collision::None, "export_collision_none", "none", "No shapes for physics"),
    (
        Collision::Hull,
        "export_collision_hull",
        "hull",
        "The convex hull of each piece, in collision.glb and in USD",
    ),
    (
        Collision::Parts,
        "export_collision_parts",
        "convex parts",
        "Several convex shapes where a piece is hollow or bent",
    ),
];

/// `meshes`: whether a format with meshes is chosen; `bonds`: whether bonds between pieces can be written.
pub(super) fn show(
    ui: &mut egui::Ui,
    handover: &mut Handover,
    [meshes, bonds]: [bool; 2],
    out: &mut UiOutput,
) {
    let header = egui::CollapsingHeader::new("For other programs").id_salt("handover");
    let section = header.show(ui, |ui| {
        let tip = "Axes and units of the program that reads the files";
        let targets = [
            (None, "any program", "y up, metres, as glTF has it for all of them"),
            (Some(Target::Blender), "Blender", &*OF_BLENDER),
            (Some(Target::Houdini), "Houdini", "y up, metres"),
            (Some(Target::Unreal), "Unreal", "z up, centimetres; collision shapes in the GLB, named UCX_"),
            (Some(Target::Unity), "Unity", "y up, metres; tables left-handed"),
        ];
        choice(ui, out, ("export_target", "Target", tip), &mut handover.target, &targets);
        let tip = format!("Origins of nodes in {}", Format::labels(|format| format.has_nodes));
        buttons(ui, "Pivots", &tip, &PIVOTS, &mut handover.pivot, out);
        let tip = "Convex collision shapes for the physics of other programs";
        buttons(ui, "Collision", tip, &COLLISIONS, &mut handover.collision, out);
        if meshes {
            let look = SliderLook::unit(" voxels", 2);
            let tip = "Simplifies meshes: how far their surface may move. 0.1 keeps about a tenth of the triangles, \
                       0 simplifies the outsides of smooth meshes alone";
            let response = slider(ui, "Simplify", tip, &mut handover.simplify, 0.0..=2.0, &look);
            out.name("export_simplify", &response);
            if handover.simplify == 0.0 {
                ui.horizontal(|ui| {
                    label(ui, "Triangles", "How many triangles smooth meshes have outside");
                    let tip = "Keeps all triangles of smooth meshes; else their outsides are simplified by half a voxel";
                    let field = ui.checkbox(&mut handover.all_triangles, "all of them").on_hover_text(tip);
                    out.name("export_all_triangles", &field);
                });
            }
            size_or_none(ui, &RELIEF, &mut handover.relief_edge, out);
            size_or_none(ui, &TEXTURES, &mut handover.bake, out);
        }
        if !bonds {
            return;
        }
        ui.horizontal(|ui| {
            label(ui, "Bonds", "Which pieces are neighbours");
            let tip = "bonds.csv, a table of neighbours with the crack that they share and the loads that break their bond; \
                       for Blender, Houdini, Unreal and USD also a file that this program reads";
            let field = ui.checkbox(&mut handover.bonds, "breakable").on_hover_text(tip);
            out.name("export_bonds", &field);
        });
        if handover.bonds {
            let usual = (None, "as the scene says", "The strength that the scene gives each body");
            let named = StrengthMaterial::ALL.iter().map(|m| (Some(*m), m.name(), m.about()));
            let all: Vec<_> = std::iter::once(usual).chain(named).collect();
            let title = ("export_strength", "Strength of", "Material whose strength the bonds have");
            choice(ui, out, title, &mut handover.strength, &all);
        }
    });
    out.name("export_handover", &section.header_response);
}

/// What crack faces may have, in a size that the user chooses.
struct Extra {
    /// Names of the box and of the slider.
    names: [&'static str; 2],
    /// Title, text and tip of the box.
    shown: [&'static str; 3],
    /// Title and tip of the slider.
    slider: [&'static str; 2],
    /// Least size, the size at first, and the largest one of the slider; voxels.
    sizes: [f64; 3],
}

const RELIEF: Extra = Extra {
    names: ["export_relief", "export_relief_edge"],
    shown: [
        "Relief",
        "on crack faces",
        "Gives crack faces the relief of the material inside as geometry, and finer colours",
    ],
    slider: ["Edges", "Longest edge of the triangles on crack faces. Half of it makes four times as many"],
    sizes: [Handover::RELIEF_EDGE_LEAST, 2.0, 4.0],
};

const TEXTURES: Extra = Extra {
    names: ["export_bake", "export_bake_texel"],
    shown: [
        "Textures",
        "of crack faces",
        "Bakes colour, normal, roughness and height of the material inside to textures, in GLB, OBJ and USD and in a \
         folder",
    ],
    slider: ["Texels", "Side of a texel. Half of it makes four times as many"],
    sizes: [Handover::BAKE_LEAST, 0.5, 4.0],
};

/// A box, and a slider while it is checked; `size` is 0 while it is not.
fn size_or_none(ui: &mut egui::Ui, extra: &Extra, size: &mut f64, out: &mut UiOutput) {
    let ([title, text, tip], [least, usual, most]) = (extra.shown, extra.sizes);
    let mut is_wanted = *size > 0.0;
    ui.horizontal(|ui| {
        label(ui, title, tip);
        let field = ui.checkbox(&mut is_wanted, text).on_hover_text(tip);
        out.name(extra.names[0], &field);
    });
    if is_wanted != (*size > 0.0) {
        *size = if is_wanted { usual } else { 0.0 };
    }
    if is_wanted {
        let [title, tip] = extra.slider;
        let response = slider(ui, title, tip, size, least..=most, &SliderLook::unit(" voxels", 2));
        out.name(extra.names[1], &response);
    }
}

/// A row of buttons, one of which is chosen.
pub(super) fn buttons<T: PartialEq + Copy>(
    ui: &mut egui::Ui,
    name: &str,
    tip: &str,
    all: &[(T, &'static str, &str, &str)],
    chosen: &mut T,
    out: &mut UiOutput,
) {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        for (value, name, text, tip) in all {
            let button = egui::Button::selectable(*chosen == *value, *text).frame_when_inactive(true);
            let response = ui.add(button).on_hover_text(*tip);
            out.name(*name, &response);
            if response.clicked() {
                *chosen = *value;
            }
        }
    });
}
