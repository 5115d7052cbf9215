//! Charts in panels: axes with ticks and units, bars to scale, lines, and the button that saves a chart.
//!
//! In: a [`Chart`]. Out: the drawing, where its axes lie, and [`Command::SaveChart`].

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, pos2, vec2};

use super::{Command, UiOutput, theme, widgets::row};
use crate::scene::{Chart, ChartForm, Range};

/// Height of the area between the axes, points.
const HEIGHT: f32 = 54.0;
/// Room above for the name of the axis up, on the left for its ticks, and below for those of the axis across, points.
const ABOVE: f32 = 15.0;
const LEFT: f32 = 38.0;
const BELOW: f32 = 12.0;
/// Height of letters at the axes, points.
const LETTERS: f32 = 10.0;
/// Most ticks of the axis up and of the axis across.
const MOST_TICKS: [usize; 2] = [4, 5];
/// Length of the bar of a named row that fills the axis, and room for its value on the right of it, points.
const BAR: f32 = 48.0;
const VALUE: f32 = 66.0;

/// How a panel shows a chart.
pub(super) struct Look {
    /// The greatest value that has a place of its own, in the chart's unit.
    pub top: Option<f64>,
    /// The bar that is lit.
    pub lit: Option<usize>,
    /// What the pointer can do.
    pub sense: egui::Sense,
}

/// A chart that was drawn.
pub(super) struct Shown {
    /// The response of the chart with its ticks.
    pub response: egui::Response,
    /// Draws on top of it.
    pub painter: Painter,
    /// The area between the axes.
    pub area: Rect,
    /// The ranges of both axes, of the one across first; `None` where there is nothing to draw.
    pub ranges: Option<[Range; 2]>,
}

/// Draws a chart of lines or upright bars as a widget of this name, with a row below it: the name of the axis across,
/// and the button that saves it.
pub(super) fn show(
    ui: &mut egui::Ui,
    out: &mut UiOutput,
    name: &'static str,
    chart: &Chart,
    look: &Look,
) -> Shown {
    let size = vec2(theme::ROW, ABOVE + HEIGHT + BELOW);
    let (rect, response) = ui.allocate_exact_size(size, look.sense);
    out.name(name, &response);
    let area = Rect::from_min_max(rect.min + vec2(LEFT, ABOVE), rect.max - vec2(0.0, BELOW));
    let painter = ui.painter_at(rect);
    painter.rect_filled(area, 2.0, ui.visuals().extreme_bg_color);
    let colors = colors(&chart.form);
    heading(&painter, rect, chart, colors);
    let ranges = chart.ranges(look.top);
    if let Some(ranges) = &ranges {
        axes(&painter, area, ranges);
        for (series, color) in chart.series.iter().zip(colors) {
            match &chart.form {
                ChartForm::Lines => line(&painter, area, ranges, (&chart.at[..], &series.values[..]), color),
                _ => bars(&painter, area, ranges, (chart, &series.values[..], look.lit), color),
            }
        }
    }
    row(ui, |ui| {
        ui.label(egui::RichText::new(chart.x.label()).size(LETTERS).color(theme::DIM));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| save(ui, out, name, chart));
    });
    Shown { response, painter, area, ranges }
}

/// Draws a chart of named bars as rows: a name, a bar and the value in figures; below them the axis, and the button
/// that saves the chart.
pub(super) fn rows(ui: &mut egui::Ui, out: &mut UiOutput, name: &str, chart: &Chart) {
    let ChartForm::Named(names) = &chart.form else { return };
    let (Some([_, range]), Some(series)) = (chart.ranges(None), chart.series.first()) else { return };
    let right = |ui: &egui::Ui| ui.max_rect().left() + theme::ROW - VALUE;
    for (name, value) in names.iter().zip(&series.values) {
        row(ui, |ui| {
            let (left, middle) = (right(ui) - BAR, ui.max_rect().center().y);
            let length = BAR * range.share(*value) as f32;
            if length > 0.0 && value.is_finite() {
                let bar = Rect::from_min_size(pos2(left, middle - 3.0), vec2(length, 6.0));
                ui.painter().rect_filled(bar, 0.0, theme::GOLD.gamma_multiply(0.6));
            }
            ui.label(egui::RichText::new(name).small().color(theme::DIM));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(egui::RichText::new(format!("{value:.2} {}", chart.y.unit)).small());
            });
        });
    }
    row(ui, |ui| {
        let (right, top) = (right(ui), ui.max_rect().top());
        let painter = ui.painter().clone();
        painter.hline((right - BAR)..=right, top, Stroke::new(1.0, theme::DIM));
        let ticks = range.ticks(MOST_TICKS[0]);
        for (share, _) in &ticks {
            let x = right - BAR + BAR * *share as f32;
            painter.vline(x, top..=(top + 3.0), Stroke::new(1.0, theme::DIM));
        }
        let ends = [ticks.first(), ticks.last().filter(|_| ticks.len() > 1)];
        for (share, text) in ends.into_iter().flatten() {
            let text = if *share > 0.0 { format!("{text} {}", chart.y.unit) } else { text.clone() };
            let at = pos2(right - BAR + BAR * *share as f32, top + 3.0);
            painter.text(at, Align2::CENTER_TOP, text, FontId::proportional(LETTERS), theme::DIM);
        }
        save(ui, out, name, chart);
    });
}

/// The button that saves a chart.
fn save(ui: &mut egui::Ui, out: &mut UiOutput, name: &str, chart: &Chart) {
    let tip = "Write this chart to a file: .csv for its numbers in full, .svg for the drawing";
    let save = ui.small_button("Save chart …").on_hover_text(tip);
    out.on_click(format!("{name}_save"), &save, || Command::SaveChart(Box::new(chart.clone())));
}

/// Colours of the first series and the second one.
fn colors(form: &ChartForm) -> [Color32; 2] {
    match form {
        ChartForm::Lines => [theme::GOLD, theme::GHOST],
        _ => [theme::GOLD.gamma_multiply(0.45), theme::GOLD],
    }
}

/// The name of the axis up, and the names of several series in their colours.
fn heading(painter: &Painter, rect: Rect, chart: &Chart, colors: [Color32; 2]) {
    let font = FontId::proportional(LETTERS);
    painter.text(rect.left_top(), Align2::LEFT_TOP, chart.y.label(), font.clone(), theme::DIM);
    if chart.series.len() > 1 {
        let mut end = rect.right_top();
        let named = chart.series.iter().zip(colors);
        for (series, color) in named.rev() {
            let text = painter.text(end, Align2::RIGHT_TOP, &series.name, font.clone(), color);
            end.x = text.left() - 8.0;
        }
    }
}

/// Lines and texts at the ticks of both axes.
fn axes(painter: &Painter, area: Rect, [x, y]: &[Range; 2]) {
    let (font, color) = (FontId::proportional(LETTERS), theme::DIM.gamma_multiply(0.35));
    for (share, text) in y.ticks(MOST_TICKS[0]) {
        let at = pos2(area.left(), area.bottom() - area.height() * share as f32);
        painter.hline(area.x_range(), at.y, Stroke::new(1.0, color));
        painter.text(at - vec2(4.0, 0.0), Align2::RIGHT_CENTER, text, font.clone(), theme::DIM);
    }
    for (share, text) in x.ticks(MOST_TICKS[1]) {
        let at = pos2(area.left() + area.width() * share as f32, area.bottom());
        painter.vline(at.x, (at.y - 2.0)..=at.y, Stroke::new(1.0, theme::DIM));
        // A text in the middle of the last tick would be cut off.
        let align = if share > 0.9 { Align2::RIGHT_TOP } else { Align2::CENTER_TOP };
        painter.text(at + vec2(0.0, 1.0), align, text, font.clone(), theme::DIM);
    }
}

/// Where a value lies; NaN where it has no place.
fn place(area: Rect, [x, y]: &[Range; 2], at: f64, value: f64) -> Pos2 {
    let [across, up] = [x.share(at), y.share(value)].map(|share| share as f32);
    pos2(area.left() + area.width() * across, area.bottom() - area.height() * up)
}

/// A series as a line.
fn line(painter: &Painter, area: Rect, ranges: &[Range; 2], (at, values): (&[f64], &[f64]), color: Color32) {
    let finite = at.iter().zip(values).filter(|(_, value)| value.is_finite());
    let points = finite.map(|(at, value)| place(area, ranges, *at, *value));
    let points = thinned(points.filter(|point| !point.any_nan()));
    if let [point] = points[..] {
        painter.circle_filled(point, 1.5, color);
    }
    painter.line(points, Stroke::new(1.4, color));
}

/// At most two points for each point of width: the lowest and the highest there.
fn thinned(points: impl Iterator<Item = Pos2>) -> Vec<Pos2> {
    let mut columns: Vec<[Pos2; 2]> = Vec::new();
    for point in points {
        match columns.last_mut() {
            Some([low, high]) if low.x.floor() == point.x.floor() => {
                if point.y > low.y {
                    *low = point;
                }
                if point.y < high.y {
                    *high = point;
                }
            }
            _ => columns.push([point; 2]),
        }
    }
    let both = |[low, high]: [Pos2; 2]| std::iter::once(low).chain((low != high).then_some(high));
    columns.into_iter().flat_map(both).collect()
}

/// A series as bars on 0.
fn bars(
    painter: &Painter,
    area: Rect,
    ranges: &[Range; 2],
    (chart, values, lit): (&Chart, &[f64], Option<usize>),
    color: Color32,
) {
    for (i, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let Some([from, to]) = chart.span(i) else { continue };
        let (from, to) = (place(area, ranges, from, 0.0), place(area, ranges, to, *value));
        let gap = (0.1 * (to.x - from.x)).min(0.5);
        let bar = Rect::from_two_pos(from + vec2(gap, 0.0), to - vec2(gap, 0.0));
        let color = if lit == Some(i) { theme::GOLD } else { color };
        if bar.is_finite() && bar.height() > 0.0 {
            painter.rect_filled(bar, 0.0, color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::ChartAxis;

    fn chart(form: ChartForm, values: &[f64]) -> Chart {
        let (x, y) = (ChartAxis::new("Time", "s"), ChartAxis::new("Energy", "J"));
        let at = (0..values.len()).map(|i| i as f64);
        Chart::new("Energy", x, y, form).at(at).with("moving", values.iter().copied())
    }

    /// Filled rectangles and texts of what is drawn.
    fn drawn(draw: impl FnMut(&mut egui::Ui)) -> (Vec<(Rect, Color32)>, Vec<String>) {
        let (mut rects, mut texts) = (Vec::new(), Vec::new());
        let full = egui::Context::default().run_ui(egui::RawInput::default(), draw);
        let mut open: Vec<egui::Shape> = full.shapes.into_iter().map(|clipped| clipped.shape).collect();
        while let Some(shape) = open.pop() {
            match shape {
                egui::Shape::Rect(rect) => rects.push((rect.rect, rect.fill)),
                egui::Shape::Text(text) => texts.push(text.galley.text().to_owned()),
                egui::Shape::Vec(shapes) => open.extend(shapes),
                _ => {}
            }
        }
        (rects, texts)
    }

    fn shown(chart: &Chart) -> (Vec<(Rect, Color32)>, Vec<String>) {
        let look = Look { top: None, lit: None, sense: egui::Sense::hover() };
        drawn(|ui| drop(show(ui, &mut UiOutput::default(), "chart", chart, &look)))
    }

    /// Planted error to see this fail: logarithms of the values, or a least height.
    #[test]
    fn bars_are_drawn_to_scale_and_the_axes_are_named() {
        let values = [400.0, 100.0, 1.0, f64::NAN];
        let (rects, texts) = shown(&chart(ChartForm::Bars(1.0), &values));
        let color = colors(&ChartForm::Bars(1.0))[0];
        let mut bars: Vec<Rect> =
            rects.iter().filter(|(_, fill)| *fill == color).map(|(rect, _)| *rect).collect();
        bars.sort_by(|a, b| a.left().total_cmp(&b.left()));
        assert_eq!(bars.len(), 3, "{bars:?}");
        for (bar, value) in bars.iter().zip(values) {
            assert!((f64::from(bar.height()) - f64::from(HEIGHT) * value / 400.0).abs() < 1e-3, "{bar:?}");
        }
        for text in ["Time (s)", "Energy (J)", "0", "200", "400", "Save chart …"] {
            assert!(texts.iter().any(|found| found == text), "{text}: {texts:?}");
        }
    }

    #[test]
    fn named_bars_are_drawn_to_scale() {
        let names = ["cut", "split"].map(str::to_owned).to_vec();
        let chart = chart(ChartForm::Named(names), &[8.0, 2.0]);
        let (rects, texts) = drawn(|ui| rows(ui, &mut UiOutput::default(), "chart", &chart));
        let color = theme::GOLD.gamma_multiply(0.6);
        let mut widths: Vec<f32> =
            rects.iter().filter(|(_, fill)| *fill == color).map(|(rect, _)| rect.width()).collect();
        widths.sort_by(f32::total_cmp);
        assert!(widths.len() == 2 && (widths[1] / widths[0] - 4.0).abs() < 1e-3, "{widths:?}");
        for text in ["cut", "8.00 J", "2.00 J", "0", "5 J"] {
            assert!(texts.iter().any(|found| found == text), "{text}: {texts:?}");
        }
    }

    #[test]
    fn nothing_and_what_is_no_number_are_drawn_as_an_empty_chart() {
        for values in [&[][..], &[f64::NAN], &[f64::INFINITY, 0.0], &[f64::NEG_INFINITY, 1e308, -1e308]] {
            for form in [ChartForm::Lines, ChartForm::Bars(1.0)] {
                assert!(shown(&chart(form, values)).1.iter().any(|text| text == "Time (s)"));
            }
            let names = values.iter().map(f64::to_string).collect();
            let named = chart(ChartForm::Named(names), values);
            drawn(|ui| rows(ui, &mut UiOutput::default(), "chart", &named));
        }
    }

    #[test]
    fn a_long_line_keeps_its_extremes() {
        let points =
            (0..10_000).map(|i| pos2(i as f32 * 0.01, if i == 4321 { 50.0 } else { (i % 7) as f32 }));
        let thin = thinned(points);
        assert!(thin.len() <= 200 && thin.windows(2).all(|pair| pair[0].x.floor() <= pair[1].x.floor()));
        assert!(
            thin.contains(&pos2(4321.0 * 0.01, 50.0)) && thin.contains(&pos2(0.0, 0.0)),
            "{}",
            thin.len()
        );
    }
}
