//! Histogram of the pieces' sizes; dragging over bars selects the pieces of those sizes.

use super::{
    Command, UiOutput,
    chart_view::{self, Look, Shown},
    pieces_panel::{PieceList, unit_name},
};
use crate::{
    bodies::BodyId,
    scene::{Chart, ChartAxis, ChartForm, Histogram, PieceRow, Sandbox},
};

/// Number of bars.
pub(super) const BINS: usize = 26;

/// A drag in progress.
#[derive(Default)]
pub(super) struct HistogramState {
    /// The histogram when the drag began, the first bar, and the bars selected last.
    drag: Option<(Histogram, usize, [usize; 2])>,
}

/// How many pieces, and how many of those that are selected, there are of which size. The axis across begins with the
/// smallest size and ends with the largest.
fn chart(list: &PieceList, chosen: &[usize; BINS]) -> Chart {
    let (x, y) = (ChartAxis::new("Size", unit_name(list.unit)).logarithmic(), ChartAxis::new("Pieces", ""));
    let (low, high) = list.histogram.ends().unwrap_or((1.0, 1.0));
    let powers = libm::log10(high) - libm::log10(low);
    // Pieces of one size are in the first bin, which then is a tenth of a power of ten wide.
    let width = if powers > 0.0 { powers / BINS as f64 } else { 0.1 };
    let at = (0..BINS).map(|bin| low * libm::pow(10.0, (bin as f64 + 0.5) * width));
    let counts = |counts: &[usize]| counts.iter().map(|count| *count as f64).collect::<Vec<_>>();
    Chart::new("Pieces by size", x, y, ChartForm::Bars(width))
        .at(at)
        .with("pieces", counts(&list.histogram.counts))
        .with("selected", counts(chosen))
}

pub(super) fn show(
    ui: &mut egui::Ui,
    state: &mut HistogramState,
    list: &PieceList,
    sandbox: &Sandbox,
    out: &mut UiOutput,
) {
    let (rows, unit, histogram) = (&list.all[..], list.unit, &list.histogram);
    let mut chosen = [0usize; BINS];
    for row in rows.iter().filter(|row| sandbox.selection().contains(row.id)) {
        chosen[histogram.bin(row.size(unit))] += 1;
    }
    let look = Look { lit: None, top: None, sense: egui::Sense::click_and_drag() };
    let Shown { response, area: bars, .. } =
        chart_view::show(ui, out, "pieces_histogram", &chart(list, &chosen), &look);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Piece sizes"));
    let width = bars.width() / BINS as f32;
    let bin_at = |x: f32| (((x - bars.left()) / width).max(0.0) as usize).min(BINS - 1);
    let begun = response.drag_started() || response.clicked();
    if begun
        && let Some(at) = ui.input(|i| i.pointer.press_origin()).or(response.interact_pointer_pos())
        // The response covers the texts beside the axis, too.
        && bars.x_range().contains(at.x)
    {
        let bin = bin_at(at.x);
        state.drag = Some((histogram.clone(), bin, [BINS, BINS]));
    }
    if let Some((of, first, last)) = &mut state.drag
        && let Some(at) = response.interact_pointer_pos()
    {
        let here = bin_at(at.x);
        let range = [here.min(*first), here.max(*first)];
        if range != *last {
            *last = range;
            let inside = |row: &&PieceRow| (range[0]..=range[1]).contains(&of.bin(row.size(unit)));
            let ids: Vec<BodyId> = rows.iter().filter(inside).map(|row| row.id).collect();
            out.push(Command::Select(ids));
        }
    }
    if !response.dragged() {
        state.drag = None;
    }
    let tip = "How many pieces there are of which size; drag over bars to select those pieces";
    response.on_hover_text(tip).on_hover_cursor(egui::CursorIcon::Crosshair);
}
