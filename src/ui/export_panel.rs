//! The export panel: what to write of the pieces, of their motion or as a film, the formats and the folder.

use super::{
    Command, ExportView, UiInput, UiOutput, handover_rows,
    path_field::path_field,
    shot_rows::{self, note},
    theme,
    widgets::label,
};
use crate::{
    export::{Assembly, Format, FormatEntry, Lying, MeshKind},
    scene::{ExportKind, ExportOrder},
};

/// Width of the panel's contents, points.
const WIDTH: f32 = 392.0;
/// Distance from the bottom of the window, points: clears the timeline below and the messages above.
const BOTTOM: f32 = 96.0;

const PLACES: [(Lying, &str, &str, &str); 2] = [
    (Lying::AsTheyLie, "export_lying", "as they lie", "In the world: metres, y up."),
    (
        Lying::AsTheyFittedTogether,
        "export_fitted",
        "as they fitted together",
        "Where they were in the whole object, in its own units.",
    ),
];

pub(super) fn show(ctx: &egui::Context, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some((view, sandbox)) = input.export.as_ref().zip(input.sandbox) else { return };
    let mut new = view.order.clone();
    egui::Area::new(egui::Id::unique("export"))
        .anchor(egui::Align2::CENTER_BOTTOM, egui::vec2(0.0, -BOTTOM))
        .show(ctx, |ui| {
            theme::float_frame(theme::GOLD).show(ui, |ui| {
                ui.set_width(WIDTH);
                ui.horizontal(|ui| {
                    ui.label(egui::RichText::new("Export").size(16.0).strong().color(theme::GOLD));
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        let close = ui.button("×").on_hover_text("Close (Esc)");
                        out.on_click("export_close", &close, || Command::ToggleExport);
                        let tip = "The picture as a small file, and the scene as it stands: `kintsugi figure` draws \
                                   the picture again, at any size";
                        let figure = ui.button("Save figure file …").on_hover_text(tip);
                        out.on_click("save_figure", &figure, || Command::SaveFigureDialog);
                    });
                });
                ui.add_space(4.0);
                ui.add_enabled_ui(view.job.is_none(), |ui| {
                    kinds(ui, &mut new, out);
                    let has_meshes = new.formats.iter().any(|format| format.has_meshes());
                    match new.kind {
                        ExportKind::Pieces => {
                            places(ui, &mut new, out);
                            objects(ui, sandbox, &mut new);
                            selection(ui, sandbox, &mut new, out);
                            formats(ui, sandbox, &mut new, out);
                            meshes(ui, &mut new, out);
                            handover_rows::show(ui, &mut new.handover, [has_meshes, true], out);
                        }
                        ExportKind::Motion => {
                            shot_rows::show(ui, &mut new, view.take, view.frames, out);
                            objects(ui, sandbox, &mut new);
                            moving_formats(ui, &mut new, out);
                            meshes(ui, &mut new, out);
                            handover_rows::show(ui, &mut new.handover, [has_meshes, false], out);
                        }
                        ExportKind::Film => shot_rows::show(ui, &mut new, view.take, view.frames, out),
                    }
                    if new.kind != ExportKind::Film {
                        names(ui, &mut new, out);
                    }
                    folder(ui, view, &mut new, out);
                });
                ui.add_space(6.0);
                foot(ui, view, why_not(view, &new, sandbox), out);
            });
        });
    if new != *view.order {
        out.push(Command::ChangeExport(Box::new(new)));
    }
}

const KINDS: [(ExportKind, &str, &str, &str); 3] = [
    (ExportKind::Pieces, "export_kind_pieces", "Pieces", "The pieces as meshes or voxels"),
    (
        ExportKind::Motion,
        "export_kind_motion",
        "Motion",
        "What was recorded, with throws, hand and breaks: the pieces with keys of their motion, whole objects until they \
         break",
    ),
    (
        ExportKind::Film,
        "export_kind_film",
        "Film",
        "Numbered pictures of the recording or of a turn of the camera, and a film",
    ),
];

/// The buttons that choose what is exported.
fn kinds(ui: &mut egui::Ui, order: &mut ExportOrder, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        for (kind, name, text, tip) in KINDS {
            let button = egui::Button::selectable(order.kind == kind, text).frame_when_inactive(true);
            let response = ui.add(button.min_size(egui::vec2(84.0, 22.0))).on_hover_text(tip);
            out.name(name, &response);
            if response.clicked() {
                order.kind = kind;
            }
        }
    });
    ui.add_space(4.0);
}

/// The formats that hold motion.
fn moving_formats(ui: &mut egui::Ui, order: &mut ExportOrder, out: &mut UiOutput) {
    let moving: Vec<Format> = Format::ALL.into_iter().filter(|format| format.has_nodes).collect();
    format_rows(ui, &moving, |ui, format| {
        let mut on = order.formats.contains(&format);
        let field = ui.checkbox(&mut on, format.label).on_hover_text(format.help);
        out.name(format!("export_{}", format.name), &field);
        if field.changed() {
            let _ = if on { order.formats.insert(format) } else { order.formats.remove(&format) };
        }
    });
}

/// As many formats as the panel is wide.
const IN_A_ROW: usize = 5;

fn format_rows(ui: &mut egui::Ui, formats: &[Format], mut one: impl FnMut(&mut egui::Ui, Format)) {
    for (k, some) in formats.chunks(IN_A_ROW).enumerate() {
        ui.horizontal(|ui| {
            label(ui, if k == 0 { "Formats" } else { "" }, "Files to write beside report.json");
            some.iter().for_each(|format| one(ui, *format));
        });
    }
}

fn places(ui: &mut egui::Ui, order: &mut ExportOrder, out: &mut UiOutput) {
    let tip = "Where the pieces are in the files";
    handover_rows::buttons(ui, "Pieces", tip, &PLACES, &mut order.lying, out);
    if let Some((.., tip)) = PLACES.iter().find(|(lying, ..)| *lying == order.lying) {
        note(ui, tip);
    }
}

fn objects(ui: &mut egui::Ui, sandbox: &crate::scene::Sandbox, order: &mut ExportOrder) {
    let objects = sandbox.objects();
    if objects.len() < 2 {
        order.object = None;
        return;
    }
    let name = |object: usize| format!("{}  {}", object + 1, objects[object].name);
    ui.horizontal(|ui| {
        label(ui, "Object", "Everything, or the pieces of one object");
        let chosen = order.object.filter(|o| *o < objects.len()).map_or("all of them".to_owned(), name);
        egui::ComboBox::from_id_salt("export object").selected_text(chosen).width(220.0).show_ui(ui, |ui| {
            ui.selectable_value(&mut order.object, None, "all of them");
            for object in 0..objects.len() {
                ui.selectable_value(&mut order.object, Some(object), name(object));
            }
        });
    });
    if order.object.is_none() && order.lying == Lying::AsTheyFittedTogether {
        note(ui, "Each object about its own origin, so that they may overlap.");
    }
}

/// The row that limits the export to selected pieces.
fn selection(
    ui: &mut egui::Ui,
    sandbox: &crate::scene::Sandbox,
    order: &mut ExportOrder,
    out: &mut UiOutput,
) {
    let count = sandbox.selected().count();
    if count == 0 && !order.only_selected {
        return;
    }
    ui.horizontal(|ui| {
        label(ui, "Selection", "Everything, or the selected pieces");
        let noun = if count == 1 { "piece" } else { "pieces" };
        let text = format!("only the selection ({count} {noun})");
        let field = ui.checkbox(&mut order.only_selected, text);
        let field = field
            .on_hover_text("Write the selected pieces and no others; the list Pieces shows which those are");
        out.name("export_selected", &field);
    });
}

fn formats(ui: &mut egui::Ui, sandbox: &crate::scene::Sandbox, order: &mut ExportOrder, out: &mut UiOutput) {
    let mut refused: Vec<(&str, &str)> = Vec::new();
    let all: Vec<Format> = Format::ALL.into_iter().collect();
    format_rows(ui, &all, |ui, format| {
        let why_not = order.why_not(sandbox, format);
        let mut on = order.formats.contains(&format) && why_not.is_none();
        let field = ui.add_enabled(why_not.is_none(), egui::Checkbox::new(&mut on, format.label));
        let field = field.on_hover_text(format.help).on_disabled_hover_text(why_not.unwrap_or(format.help));
        out.name(format!("export_{}", format.name), &field);
        if field.changed() {
            let _ = if on { order.formats.insert(format) } else { order.formats.remove(&format) };
        }
        refused.extend(why_not.map(|why| (format.label, why)));
    });
    for same in refused.chunk_by(|a, b| a.1 == b.1) {
        let names: Vec<&str> = same.iter().map(|(name, _)| *name).collect();
        note(ui, &format!("{}: {}.", names.join(", "), same[0].1));
    }
}

const MESHES: [(MeshKind, &str, &str, &str); 3] = [
    (
        MeshKind::Original,
        "export_original",
        "original",
        "The imported triangles with their materials, cut along the cracks; smooth where the mesh is not closed",
    ),
    (
        MeshKind::Smooth,
        "export_smooth",
        "smooth",
        "A closed surface with the edges and corners of the cracks",
    ),
    (MeshKind::Voxels, "export_voxels", "voxels", "Cubes"),
];

fn meshes(ui: &mut egui::Ui, order: &mut ExportOrder, out: &mut UiOutput) {
    if !order.formats.iter().any(|format| format.has_meshes()) {
        return;
    }
    let tip = format!("What the pieces look like in {}", Format::labels(FormatEntry::has_meshes));
    handover_rows::buttons(ui, "Meshes", &tip, &MESHES, &mut order.mesh, out);
}

/// The row of what names of pieces begin with.
fn names(ui: &mut egui::Ui, order: &mut ExportOrder, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        let tip = "What names of pieces begin with: letters, digits and underscores, no digit first";
        label(ui, "Names", tip);
        let mut typed = order.prefix.clone().unwrap_or_default();
        let field = egui::TextEdit::singleline(&mut typed).id_salt("export prefix").hint_text("piece");
        let field = ui.add(field.desired_width(150.0)).on_hover_text(tip);
        out.name("export_prefix", &field);
        if field.changed() {
            order.prefix = Assembly::prefix_of(&typed);
        }
    });
}

fn folder(ui: &mut egui::Ui, view: &ExportView<'_>, order: &mut ExportOrder, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Folder", "Where the files go; it is made if it is not there");
        let width = ui.available_width() - 84.0;
        let field = path_field(ui, "folder", &mut order.folder, "path of a folder", width);
        let field = field.on_hover_text(order.folder.clone());
        out.name("export_folder", &field);
        let choose = ui.add_enabled(!view.choosing, egui::Button::new("Choose"));
        let choose = choose.on_hover_text("Ask for a folder");
        out.on_click("export_choose", &choose, || Command::ExportFolderDialog);
    });
    if view.taken {
        note(
            ui,
            "The folder is not empty. Files of the same names are replaced, files that an earlier export wrote are \
             deleted, all others stay.",
        );
    }
}

/// Why the export cannot begin.
fn why_not(
    view: &ExportView<'_>,
    order: &ExportOrder,
    sandbox: &crate::scene::Sandbox,
) -> Option<&'static str> {
    let needs_take = order.kind == ExportKind::Motion || (order.kind == ExportKind::Film && order.film.plays);
    match order.kind {
        _ if order.folder.trim().is_empty() => Some("Choose a folder"),
        _ if needs_take && view.take.is_none() => Some("Nothing is recorded yet: press Play or Step first"),
        ExportKind::Pieces if order.only_selected && view.pieces == 0 => Some("Nothing is selected"),
        ExportKind::Pieces if view.pieces == 0 || order.possible(sandbox).is_empty() => {
            Some("Choose a format")
        }
        ExportKind::Motion if order.moving_formats().is_empty() => Some("Choose a format"),
        _ => None,
    }
}

/// The export button, the progress of a running export, and the result of the last one.
fn foot(ui: &mut egui::Ui, view: &ExportView<'_>, why_not: Option<&str>, out: &mut UiOutput) {
    if let Some((text, fraction)) = view.job {
        ui.label(text);
        ui.horizontal(|ui| {
            let bar = egui::ProgressBar::new(fraction).desired_width(ui.available_width() - 76.0);
            ui.add(bar.show_percentage().fill(theme::GOLD.gamma_multiply(0.55)));
            let cancel = ui.button("Cancel");
            out.on_click("export_cancel", &cancel, || Command::CancelExport);
        });
        return;
    }
    let noun = if view.pieces == 1 { "piece" } else { "pieces" };
    let text = match view.order.kind {
        ExportKind::Pieces => format!("Export {} {noun}", view.pieces),
        ExportKind::Motion => "Export the motion".to_owned(),
        ExportKind::Film => "Draw the film".to_owned(),
    };
    let text = egui::RichText::new(text).color(theme::GOLD);
    ui.horizontal(|ui| {
        let go = egui::Button::new(text).min_size(egui::vec2(150.0, 26.0));
        let go = ui.add_enabled(why_not.is_none(), go).on_disabled_hover_text(why_not.unwrap_or_default());
        out.on_click("export_go", &go, || Command::Export);
        ui.label(egui::RichText::new("report.json is written beside them").small().color(theme::DIM));
    });
    if let Some(last) = view.last {
        let text = egui::RichText::new(last.line()).small().color(theme::GOOD);
        ui.add(egui::Label::new(text).wrap());
        if let Some(command) = &last.command {
            repeat(ui, "export_copy", command, out);
        }
    }
}

/// The command line that makes the same, with a button of this name that copies it.
pub(super) fn repeat(ui: &mut egui::Ui, name: &'static str, command: &str, out: &mut UiOutput) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label(egui::RichText::new("The same without a window:").small().color(theme::DIM));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let copy = ui.small_button("Copy").on_hover_text("Put the command on the clipboard");
            out.name(name, &copy);
            if copy.clicked() {
                ui.ctx().copy_text(command.to_owned());
            }
        });
    });
    let text = egui::RichText::new(command).small().monospace();
    ui.add(egui::Label::new(text).wrap());
}
