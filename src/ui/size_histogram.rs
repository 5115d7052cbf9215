//! Histogram of the pieces' sizes; dragging over bars selects the pieces of those sizes.

use super::{
    Command, UiOutput,
    pieces_panel::{PieceList, size_text},
    theme,
};
use crate::{
    bodies::BodyId,
    scene::{Histogram, PieceRow, Sandbox},
};

/// Number of bars.
pub(super) const BINS: usize = 26;
/// Height of the bars, points, and of the axis labels below.
const HEIGHT: f32 = 44.0;
const FIGURES: f32 = 13.0;

/// A drag in progress.
#[derive(Default)]
pub(super) struct HistogramState {
    /// The histogram when the drag began, the first bar, and the bars selected last.
    drag: Option<(Histogram, usize, [usize; 2])>,
}

pub(super) fn show(
    ui: &mut egui::Ui,
    state: &mut HistogramState,
    list: &PieceList,
    sandbox: &Sandbox,
    out: &mut UiOutput,
) {
    let (rows, unit, histogram) = (&list.all[..], list.unit, &list.histogram);
    let size = egui::vec2(ui.available_width(), HEIGHT + FIGURES);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Piece sizes"));
    out.name("pieces_histogram", &response);
    let bars = rect.with_max_y(rect.top() + HEIGHT);
    let width = bars.width() / BINS as f32;
    let painter = ui.painter_at(rect);
    painter.rect_filled(bars, 3.0, ui.visuals().extreme_bg_color);
    let mut chosen = [0usize; BINS];
    for row in rows.iter().filter(|row| sandbox.selection().contains(row.id)) {
        chosen[histogram.bin(row.size(unit))] += 1;
    }
    // A few pieces stay visible beside many.
    let tall = |count: usize| match count {
        0 => 0.0,
        n => (HEIGHT - 4.0) * (0.08 + 0.92 * libm::log1pf(n as f32) / libm::log1pf(histogram.most() as f32)),
    };
    for (bin, (count, chosen)) in histogram.counts.iter().zip(chosen).enumerate() {
        let left = bars.left() + width * bin as f32;
        let bar = |count: usize, color: egui::Color32| {
            let low = egui::pos2(left + 0.5, bars.bottom() - tall(count));
            let high = egui::pos2(left + width - 0.5, bars.bottom());
            painter.rect_filled(egui::Rect::from_min_max(low, high), 1.0, color);
        };
        bar(*count, theme::DIM.gamma_multiply(0.6));
        bar(chosen, theme::GOLD);
    }
    if let Some((low, high)) = histogram.ends() {
        let font = egui::FontId::proportional(10.5);
        let (left, right) = (rect.left_bottom(), rect.right_bottom());
        painter.text(left, egui::Align2::LEFT_BOTTOM, size_text(low, unit), font.clone(), theme::DIM);
        painter.text(right, egui::Align2::RIGHT_BOTTOM, size_text(high, unit), font.clone(), theme::DIM);
        let middle = "pieces by size, logarithmic";
        painter.text(rect.center_bottom(), egui::Align2::CENTER_BOTTOM, middle, font, theme::DIM);
    }
    let bin_at = |x: f32| (((x - bars.left()) / width).max(0.0) as usize).min(BINS - 1);
    let begun = response.drag_started() || response.clicked();
    if begun && let Some(at) = ui.input(|i| i.pointer.press_origin()).or(response.interact_pointer_pos()) {
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
