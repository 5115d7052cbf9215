//! Everything about the probed voxel.

use egui::{Color32, Rect, Stroke};

use super::{
    Tool, UiInput, UiOutput, theme,
    widgets::{figure, grouped},
};
use crate::scene::{Probe, ProbeFace, ProbeKind, ProbePlane, ProbeSeed, StressLoad};

/// Pairs of corners that an edge of a cube joins.
fn edges() -> impl Iterator<Item = (usize, usize)> {
    (0..3).flat_map(|axis| (0..8usize).filter(move |k| k >> axis & 1 == 0).map(move |k| (k, k | 1 << axis)))
}

/// A number with three decimals.
fn thousandths(value: impl Into<f64>) -> String {
    theme::unsigned_zero(format!("{:.3}", value.into()))
}

/// Whether the panel is shown.
pub(super) fn is_wanted(input: &UiInput<'_>) -> bool {
    input.tool == Tool::Probe || input.sandbox.is_some_and(|sandbox| sandbox.probed().is_some())
}

/// Draws the probed voxel's edges into the picture.
pub(super) fn outline(painter: &egui::Painter, input: &UiInput<'_>, view: Rect) {
    let Some(corners) = input.sandbox.and_then(|sandbox| sandbox.probed_corners()) else { return };
    let aspect = view.width() / view.height();
    let seen = corners.map(|corner| {
        let [x, y] = input.camera.project(corner, aspect)?;
        Some(egui::pos2(view.left() + x * view.width(), view.top() + y * view.height()))
    });
    let both = |(a, b): (usize, usize)| Some([seen[a]?, seen[b]?]);
    for line in edges().filter_map(both) {
        painter.line_segment(line, Stroke::new(3.0, Color32::from_black_alpha(160)));
    }
    for line in edges().filter_map(both) {
        painter.line_segment(line, Stroke::new(1.4, theme::GOLD));
    }
    // A voxel of a fine octree is smaller than a pixel.
    if let Some(corner) = seen[0] {
        painter.circle_stroke(corner, 7.0, Stroke::new(1.4, theme::GOLD));
    }
}

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(probed) = input.sandbox.and_then(|sandbox| sandbox.probed()) else {
        let text =
            "Click a voxel to read everything about it. A slice opens the inside: Slices, Add a slice.";
        ui.label(egui::RichText::new(text).small().color(theme::DIM));
        return;
    };
    let probe = &probed.probe;
    rows(ui, probe);
    if probe.label.is_none() && probe.mesh.is_none() {
        let text = "Turn on Labels: published, in the panel Inside, to list this voxel's label after every iteration.";
        ui.add(egui::Label::new(egui::RichText::new(text).small().color(theme::DIM)).wrap());
    }
    let tip = "Copy everything about this voxel, also what has no row here, as the command kintsugi probe prints it";
    let copy = ui.button("Copy as JSON").on_hover_text(tip);
    out.name("probe_copy", &copy);
    if copy.clicked() {
        ui.ctx().copy_text(probe.to_json());
    }
}

fn triple(of: [impl std::fmt::Display; 3]) -> String {
    of.map(|v| v.to_string()).join(", ")
}

fn rows(ui: &mut egui::Ui, probe: &Probe) {
    if let Some(mesh) = &probe.mesh {
        let face = match mesh.face {
            Some(ProbeFace::Crack) => "crack",
            Some(ProbeFace::Outside) => "outside",
            None => "inside",
        };
        let triangle = mesh.triangle.map_or_else(String::new, |triangle| format!(", triangle {triangle}"));
        figure(ui, "Surface", format!("{face}{triangle}"));
        known(ui, "Normal", mesh.normal.map(|normal| normal.map(thousandths).join(", ")));
        figure(ui, "Mass", format!("{:.4} kg", mesh.mass_kg));
        ui.label(egui::RichText::new("The voxel stands in for the surface:").small().color(theme::DIM));
    }
    figure(ui, "Voxel", format!("{}  (level {})", triple(probe.voxel), probe.level));
    figure(ui, "Morton code", probe.morton.to_string());
    let kind = match probe.kind {
        ProbeKind::Boundary => "surface",
        ProbeKind::Crack => "crack",
        ProbeKind::Inside => "inside",
        ProbeKind::Outside => "outside",
    };
    figure(ui, "Is", kind);
    if probe.node.size > 1 {
        figure(ui, "Octant", format!("{} voxels a side, level {}", probe.node.size, probe.node.level));
    }
    known(ui, "Coverage", probe.boundary.coverage.map(|coverage| format!("{coverage:.4}")));
    let plane =
        |of: &ProbePlane| format!("{}; {}", of.normal.map(thousandths).join(", "), thousandths(of.offset));
    known(ui, "Plane", probe.boundary.surface.as_ref().map(plane));
    known(ui, "Second plane", probe.boundary.cut.as_ref().map(plane));
    let numbers = [("Piece", probe.piece), ("Cell", probe.cell), ("Generation", probe.generation)];
    for (name, number) in numbers {
        known(ui, name, number.map(|number| number.to_string()));
    }
    let made_by = probe.made_by.as_ref();
    known(ui, "Break", made_by.map(|of| format!("{}, random seed {}", of.number + 1, of.rng)));
    for (name, seed) in ["Nearest seed", "Next seed"].into_iter().zip(&probe.seeds) {
        seed_row(ui, name, seed);
    }
    let voxels = |distance: f64| format!("{} voxels", thousandths(distance));
    known(ui, "To its seed", probe.distance_to_seed.map(voxels));
    known(ui, "To the crack", probe.distance_to_crack.map(voxels));
    let unit = probe.stress_load.map_or("Pa", StressLoad::unit);
    for (name, pascals) in [("Tension", probe.stress_pa), ("Von Mises", probe.von_mises_pa)] {
        known(ui, name, pascals.map(|pascals| format!("{pascals:.3e} {unit}")));
    }
    known(ui, "Stress of", probe.stress_load.map(StressLoad::in_words));
    if let Some(corners) = probe.corners {
        let mut owners = corners.to_vec();
        owners.sort_unstable();
        owners.dedup();
        figure(ui, "Cells of its corners", owners.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
    }
    if !probe.copies.is_empty() {
        figure(ui, "Copies", format!("in {} pieces", probe.copies.len()));
    }
    if let Some(label) = &probe.label {
        let last = label.iterations.len().saturating_sub(1);
        let labels =
            [label.iterations.first(), label.iterations.last()].map(|label| label.copied().unwrap_or(0));
        let text = format!(
            "{} at first, {} after {last}",
            grouped(u64::from(labels[0])),
            grouped(u64::from(labels[1]))
        );
        figure(ui, "Label", text);
        figure(ui, "Island", label.island.to_string());
    }
    let touching = probe.transition.as_ref().map(|voxel| voxel.triangles.len());
    known(ui, "Transition voxel", touching.map(|count| format!("{count} of its triangles touch")));
}

/// A figure, where it is known.
fn known(ui: &mut egui::Ui, name: &str, value: Option<impl Into<String>>) {
    if let Some(value) = value {
        figure(ui, name, value);
    }
}

fn seed_row(ui: &mut egui::Ui, name: &str, seed: &ProbeSeed) {
    let text = format!("{}, squared {}", seed.seed, grouped(seed.squared_distance.unsigned_abs()));
    figure(ui, name, text);
}
