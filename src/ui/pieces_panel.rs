//! The pieces: histogram of sizes, a list to select from, and edits of the selected pieces.
//!
//! In: rows of the sandbox. Out: selections and edits. The list draws only its visible rows, so it can scroll through
//! thousands.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Command, Tool, UiInput, UiOutput, size_histogram, theme,
    widgets::{grouped, label, list_row},
};
use crate::{
    bodies::BodyId,
    scene::{
        Histogram, PieceEdit, PieceRow, Sandbox, SizeRange, SizeUnit, SortBy, SortOrder, listed, unit_of,
    },
};

/// Height of a row of the list, points.
const ROW_HEIGHT: f32 = 18.0;
/// Most rows visible at once.
const MOST_ROWS: usize = 10;
/// Widths of the columns, points; the name column takes the rest.
const SIZE: f32 = 66.0;
const MASS: f32 = 58.0;
const GENERATION: f32 = 30.0;

/// What the panel remembers between frames.
#[derive(Default)]
pub(super) struct PiecesState {
    order: SortOrder,
    sizes: SizeRange,
    /// The row where a range selected with Shift starts.
    anchor: Option<BodyId>,
    /// Number of the pick in the picture that the list last scrolled to.
    followed: Option<u64>,
    pub(super) histogram: size_histogram::HistogramState,
    /// Whether the section unfolds in this frame.
    pub(super) unfolds: bool,
    /// The tool chosen in the last frame.
    tool: Option<Tool>,
    /// The cached list and what it was made from.
    made: Option<(Made, Arc<PieceList>)>,
}

/// What the list depends on: the sandbox's revision, the order and the filter.
type Made = (u64, SortOrder, SizeRange);

/// The pieces as the panel shows them. Rebuilt only on change, since thousands of rows take too long for every frame.
pub(super) struct PieceList {
    /// All pieces, in the order of the bodies.
    pub all: Vec<PieceRow>,
    /// Unit of all sizes.
    pub unit: SizeUnit,
    /// Histogram of all pieces.
    pub histogram: Histogram,
    /// The filtered pieces in the list's order.
    listed: Vec<PieceRow>,
}

impl PiecesState {
    fn list_of(&mut self, sandbox: &Sandbox) -> Arc<PieceList> {
        let now = (sandbox.revision(), self.order, self.sizes);
        if let Some((made, list)) = &self.made
            && *made == now
        {
            return Arc::clone(list);
        }
        let all = sandbox.piece_rows();
        let unit = unit_of(&all);
        let histogram = Histogram::new(all.iter().map(|row| row.size(unit)), size_histogram::BINS);
        let listed = listed(all.clone(), unit, self.sizes, self.order);
        let list = Arc::new(PieceList { all, unit, histogram, listed });
        self.made = Some((now, Arc::clone(&list)));
        list
    }

    /// Unfolds the section when the user chooses the selection tool.
    pub(super) fn follow_tool(&mut self, tool: Tool) {
        self.unfolds = tool == Tool::Select && self.tool.is_some_and(|before| before != tool);
        self.tool = Some(tool);
    }
}

pub(super) fn show(ui: &mut egui::Ui, state: &mut PiecesState, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(sandbox) = input.sandbox.filter(|sandbox| !sandbox.bodies().is_empty()) else {
        ui.label(egui::RichText::new("nothing is open").color(theme::DIM));
        return;
    };
    let list = state.list_of(sandbox);
    size_histogram::show(ui, &mut state.histogram, &list, sandbox, out);
    filter(ui, state, list.unit, out);
    heads(ui, state, list.unit, out);
    rows(ui, state, sandbox, &list, out);
    summary(ui, sandbox, &list, out);
    edits(ui, sandbox, &list.listed, out);
}

/// A size with its unit as text.
fn size_text(size: f64, unit: SizeUnit) -> String {
    match unit {
        SizeUnit::Voxels => grouped(size as u64),
        SizeUnit::CubicCentimetres if size >= 1000.0 => grouped(size.round() as u64),
        SizeUnit::CubicCentimetres if size >= 10.0 => format!("{size:.1}"),
        SizeUnit::CubicCentimetres => format!("{size:.3}"),
    }
}

/// The unit of sizes as text.
pub(super) fn unit_name(unit: SizeUnit) -> &'static str {
    match unit {
        SizeUnit::Voxels => "voxels",
        SizeUnit::CubicCentimetres => "cm³",
    }
}

fn mass_text(kg: f64) -> String {
    match kg {
        100.0.. => format!("{kg:.0} kg"),
        1.0.. => format!("{kg:.2} kg"),
        0.001.. => format!("{:.1} g", kg * 1e3),
        _ => format!("{:.2} mg", kg * 1e6),
    }
}

/// The rows that limit the list to a range of sizes.
fn filter(ui: &mut egui::Ui, state: &mut PiecesState, unit: SizeUnit, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        let tip = format!("Only pieces of so many {} are listed, both ends included", unit_name(unit));
        label(ui, "Sizes listed", &tip);
        ui.spacing_mut().item_spacing.x = 4.0;
        let end = |ui: &mut egui::Ui, end: &mut Option<f64>, name: &str, empty: &'static str| {
            let mut value = end.unwrap_or(0.0);
            let speed = (value * 0.02).max(1.0);
            let field = egui::DragValue::new(&mut value)
                .range(0.0..=f64::MAX)
                .speed(speed)
                .max_decimals(if unit == SizeUnit::Voxels { 0 } else { 3 })
                .custom_formatter(
                    move |value, _| {
                        if value == 0.0 { empty.to_owned() } else { size_text(value, unit) }
                    },
                )
                .custom_parser(|text| text.replace('\u{2009}', "").trim().parse().ok().or(Some(0.0)));
            let field = ui.add_sized([64.0, 22.0], field);
            field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::SpinButton, true, name));
            *end = (value > 0.0).then_some(value);
            field.on_hover_text(format!("{tip}; 0 leaves this end open"))
        };
        let from = end(ui, &mut state.sizes.from, "Smallest size listed", "any");
        out.name("pieces_from", &from);
        ui.label(egui::RichText::new("to").color(theme::DIM));
        let to = end(ui, &mut state.sizes.to, "Largest size listed", "any");
        out.name("pieces_to", &to);
    });
}

/// Widths of the columns name, size, mass and generation, points.
fn widths(ui: &egui::Ui) -> [f32; 4] {
    let rest = ui.available_width() - SIZE - MASS - GENERATION;
    [rest.max(40.0), SIZE, MASS, GENERATION]
}

fn heads(ui: &mut egui::Ui, state: &mut PiecesState, unit: SizeUnit, out: &mut UiOutput) {
    let heads = [
        (SortBy::Name, "piece", "Sort by name: the object, then part by part which one it is"),
        (SortBy::Size, unit_name(unit), "Sort by size"),
        (SortBy::Mass, "mass", "Sort by mass"),
        (SortBy::Generation, "gen", "Sort by generation: how many blows led to it"),
    ];
    let (row, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 18.0), egui::Sense::hover());
    let mut left = row.left();
    for ((by, name, tip), width) in heads.into_iter().zip(widths(ui)) {
        let at = egui::Rect::from_min_size(egui::pos2(left, row.top()), egui::vec2(width, row.height()));
        left += width;
        let (sorts, font) = (state.order.by == by, egui::FontId::proportional(11.5));
        let head = ui.interact(at, ui.scope_id().with(name), egui::Sense::click());
        head.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Sort by {name}")));
        out.name(format!("pieces_by_{name}"), &head);
        let color = if sorts || head.hovered() { theme::GOLD } else { theme::DIM };
        let arrow = match (sorts, state.order.descending) {
            (false, _) => "",
            (true, true) => " ⏷",
            (true, false) => " ⏶",
        };
        // Aligned like the cells below.
        let (place, align) = if by == SortBy::Name {
            (at.left_center() + egui::vec2(4.0, 0.0), egui::Align2::LEFT_CENTER)
        } else {
            (at.right_center() - egui::vec2(5.0, 0.0), egui::Align2::RIGHT_CENTER)
        };
        ui.painter().text(place, align, format!("{name}{arrow}"), font, color);
        if head.on_hover_text(tip).clicked() {
            state.order = state.order.clicked(by);
        }
    }
}

fn rows(ui: &mut egui::Ui, state: &mut PiecesState, sandbox: &Sandbox, list: &PieceList, out: &mut UiOutput) {
    let (rows, unit) = (&list.listed[..], list.unit);
    let height = ROW_HEIGHT * MOST_ROWS as f32;
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area =
        egui::ScrollArea::vertical().id_salt("pieces").max_height(height).auto_shrink([false, true]);
    // Scrolls once to the piece that was picked in the picture.
    let picked = sandbox.selection().picked().filter(|(serial, _)| state.followed != Some(*serial));
    if let Some((serial, id)) = picked {
        state.followed = Some(serial);
        state.anchor = Some(id);
        if let Some(at) = rows.iter().position(|row| row.id == id) {
            let top = ROW_HEIGHT * at as f32 - (height - ROW_HEIGHT) / 2.0;
            area = area.vertical_scroll_offset(top.max(0.0));
        }
    }
    area.show_rows(ui, ROW_HEIGHT, rows.len(), |ui, range| {
        for row in &rows[range] {
            let clicked = piece(ui, sandbox, row, unit, out);
            if clicked {
                let modifiers = ui.input(|i| i.modifiers);
                out.push(Command::Select(clicked_rows(state, sandbox, rows, row.id, modifiers)));
            }
        }
    });
    ui.spacing_mut().item_spacing.y = 6.0;
    ui.add_space(4.0);
}

/// The selection after a click on a row: that piece alone; with Shift all from the last clicked row; with Ctrl the
/// piece is toggled.
fn clicked_rows(
    state: &mut PiecesState,
    sandbox: &Sandbox,
    rows: &[PieceRow],
    id: BodyId,
    modifiers: egui::Modifiers,
) -> Vec<BodyId> {
    let place = |id: BodyId| rows.iter().position(|row| row.id == id);
    if modifiers.shift
        && let (Some(from), Some(to)) = (state.anchor.and_then(place), place(id))
    {
        let own =
            if modifiers.command { sandbox.selected().map(|body| body.id).collect() } else { Vec::new() };
        let range = rows[from.min(to)..=from.max(to)].iter().map(|row| row.id);
        return own.into_iter().chain(range).collect();
    }
    state.anchor = Some(id);
    if modifiers.command {
        let mut ids: BTreeSet<BodyId> = sandbox.selected().map(|body| body.id).collect();
        if !ids.remove(&id) {
            ids.insert(id);
        }
        return ids.into_iter().collect();
    }
    vec![id]
}

/// Draws a row of the list; returns whether it was clicked.
fn piece(ui: &mut egui::Ui, sandbox: &Sandbox, row: &PieceRow, unit: SizeUnit, out: &mut UiOutput) -> bool {
    let selected = sandbox.selection().contains(row.id);
    let name = sandbox.piece_name(row);
    let (rect, response, color) = list_row(ui, ROW_HEIGHT, (&name, selected));
    out.name(format!("piece: {name}"), &response);
    let color = if row.status.hidden && !selected { theme::DIM } else { color };
    let told = match (row.status.hidden, row.status.locked) {
        (false, false) => String::new(),
        (true, false) => " (hidden)".to_owned(),
        (false, true) => " (locked)".to_owned(),
        (true, true) => " (hidden, locked)".to_owned(),
    };
    let font = egui::FontId::proportional(12.0);
    let [names, ..] = widths(ui);
    let mut left = rect.left();
    let texts = [
        format!("{name}{told}"),
        size_text(row.size(unit), unit),
        mass_text(row.mass_kg),
        row.generation.to_string(),
    ];
    for (i, (text, width)) in texts.into_iter().zip([names, SIZE, MASS, GENERATION]).enumerate() {
        let cell = egui::Rect::from_min_size(egui::pos2(left, rect.top()), egui::vec2(width, ROW_HEIGHT));
        left += width;
        let painter = ui.painter().with_clip_rect(cell.intersect(ui.clip_rect()));
        let (at, align) = if i == 0 {
            (cell.left_center() + egui::vec2(4.0, 0.0), egui::Align2::LEFT_CENTER)
        } else {
            (cell.right_center() - egui::vec2(5.0, 0.0), egui::Align2::RIGHT_CENTER)
        };
        painter.text(at, align, text, font.clone(), color);
    }
    let clicked = response.clicked();
    response.on_hover_ui(|ui| {
        let voxels = row.voxels.map_or(String::new(), |n| format!("{} voxels, ", grouped(n)));
        let cm3 = size_text(row.volume_m3 * 1e6, SizeUnit::CubicCentimetres);
        ui.label(format!("{name}{told}: {voxels}{cm3} cm³, {}", mass_text(row.mass_kg)));
        ui.label(
            "Click selects it; Shift+click selects all from the last one; Ctrl+click adds it or takes it out",
        );
    });
    clicked
}

fn summary(ui: &mut egui::Ui, sandbox: &Sandbox, list: &PieceList, out: &mut UiOutput) {
    let (mut count, mut kg) = (0, 0.0);
    for body in sandbox.selected() {
        (count, kg) = (count + 1, kg + body.def.mass_kg());
    }
    let (listed, all) = (grouped(list.listed.len() as u64), grouped(list.all.len() as u64));
    let of = match list.listed.len() == list.all.len() {
        true => format!("{all} {}", if list.all.len() == 1 { "piece" } else { "pieces" }),
        false => format!("{listed} of {all} listed"),
    };
    let selected = match count {
        0 => "none selected".to_owned(),
        _ => format!("{} selected: {}", grouped(count), mass_text(kg)),
    };
    let response = ui.label(egui::RichText::new(format!("{of}, {selected}")).color(theme::DIM));
    out.name("pieces_selected", &response);
    if count == 1
        && let Some(body) = sandbox.selected().next()
    {
        super::bonds_panel::why(ui, sandbox, body.id, out);
    }
}

fn edits(ui: &mut egui::Ui, sandbox: &Sandbox, rows: &[PieceRow], out: &mut UiOutput) {
    let selected: Vec<BodyId> = sandbox.selected().map(|body| body.id).collect();
    let (some, several) = (!selected.is_empty(), selected.len() > 1);
    let locked = some && selected.iter().all(|id| sandbox.status(*id).locked);
    let hidden = sandbox.hidden() > 0;
    let lock = if locked {
        (PieceEdit::Unlock, "pieces_unlock", "Unlock", "Let the selected pieces move and break again", some)
    } else {
        let tip =
            "Hold the selected pieces where they are: nothing moves or breaks them until they are unlocked";
        (PieceEdit::Lock, "pieces_lock", "Lock", tip, some)
    };
    let edits = [
        (
            PieceEdit::Hide,
            "pieces_hide",
            "Hide",
            "Neither show the selected pieces nor pick them; they still move and touch",
            some,
        ),
        (PieceEdit::Isolate, "pieces_isolate", "Isolate", "Hide all pieces but the selected ones", some),
        (PieceEdit::ShowAll, "pieces_show", "Show all", "Show everything that is hidden", hidden),
        lock,
        (PieceEdit::Delete, "pieces_delete", "Delete", "Take the selected pieces away (Delete)", some),
        (
            PieceEdit::Merge,
            "pieces_merge",
            "Merge",
            "Merge the selected pieces into one body: they must come from one break, touch, and not have moved \
             against each other",
            several,
        ),
    ];
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(4.0, 4.0);
        ui.spacing_mut().button_padding.x = 6.0;
        let mut button =
            |ui: &mut egui::Ui, name: &'static str, text: &str, tip: &str, on: bool, command: Command| {
                let response = ui.add_enabled(on, egui::Button::new(text));
                let response = response.on_hover_text(tip).on_disabled_hover_text(tip);
                out.on_click(name, &response, || command);
            };
        for (edit, name, text, tip, on) in edits {
            button(ui, name, text, tip, on, Command::EditPieces(edit));
        }
        let tip = "Write the selected pieces as meshes, voxels or arrays";
        button(ui, "pieces_export", "Export …", tip, some, Command::ExportSelected);
        let listed = rows.iter().map(|row| row.id).collect();
        let tip = "Select every piece that is listed (Ctrl+A selects all that are shown)";
        button(ui, "pieces_all", "All listed", tip, !rows.is_empty(), Command::Select(listed));
    });
}
