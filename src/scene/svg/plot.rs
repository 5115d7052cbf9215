//! A plot: series of points or bars over two axes.

use std::fmt::Write as _;

use super::{
    Anchor, Axis, COLORS, FAINT, INK, Pen, axis::Scale, chain, disc, fixed, legend, letters, line, page,
};

/// Size of a plot, pixels.
const SIZE: [f64; 2] = [720.0, 420.0];
/// Room for labels on the left, right and below, pixels.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 20.0;
const BELOW: f64 = 58.0;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Lines between its points.
    #[default]
    Line,
    /// Lines, and its points as dots.
    Both,
}

/// A named series of points.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the order in which lines connect them.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub mark: Mark,
    /// Bars in place of points: both ends on the axis across, and the height above 0. The axis up must be linear.
    pub bars: Vec<[f64; 3]>,
}

impl Series {
    /// A series that lines connect.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, ..Self::default() }
    }

    /// A series of bars: both ends on the axis across, and the height above 0.
    pub fn bars(name: impl Into<String>, bars: Vec<[f64; 3]>) -> Self {
        Self { name: name.into(), bars, ..Self::default() }
    }

    /// The same, drawn otherwise.
    #[must_use]
    pub fn drawn(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }
}

/// A plot.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The axis across.
    pub x: Axis,
    /// The axis up.
    pub y: Axis,
    /// Its series, in the order of the legend.
    pub series: Vec<Series>,
}

impl Plot {
    /// The file's text.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut body = String::new();
        letters(&mut body, [SIZE[0] / 2.0, 22.0], &self.title, 15.0, Anchor::Middle, INK);
        let colors = COLORS.into_iter().cycle();
        let names: Vec<(&str, &str)> =
            self.series.iter().map(|series| series.name.as_str()).zip(colors.clone()).collect();
        let high = 34.0 + legend(&mut body, &names, [LEFT, 34.0], SIZE[0] - LEFT - RIGHT) + 6.0;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bars = || self.series.iter().flat_map(|series| &series.bars);
        let across = points().map(|point| point.0).chain(bars().flat_map(|[from, to, _]| [*from, *to]));
        let frame = Frame {
            x: self.x.scale(across),
            y: self.y.scale(points().map(|point| point.1).chain(bars().map(|[.., height]| *height))),
            low: [LEFT, SIZE[1] - BELOW],
            high: [SIZE[0] - RIGHT, high],
        };
        frame.draw(&mut body, &self.x.label, &self.y.label);
        for (series, color) in self.series.iter().zip(colors) {
            let fits = |point: &&(f64, f64)| self.x.takes(point.0) && self.y.takes(point.1);
            let points: Vec<[f64; 2]> =
                series.points.iter().filter(fits).map(|point| frame.place(*point)).collect();
            let drawn = series.bars.iter().filter(|[from, to, height]| {
                self.x.takes(*from) && self.x.takes(*to) && self.y.takes(*height)
            });
            drawn.for_each(|[from, to, height]| {
                bar(&mut body, frame.place((*from, 0.0)), frame.place((*to, *height)), color);
            });
            if series.bars.is_empty() {
                chain(&mut body, &points, &Pen::line(color, 1.6));
            }
            if series.mark == Mark::Both {
                points.iter().for_each(|point| disc(&mut body, *point, 3.0, &Pen::area(color)));
            }
        }
        page(SIZE, &body)
    }
}

/// The rectangle between the axes.
struct Frame {
    x: Scale,
    y: Scale,
    /// Its corner at the low ends of both axes, pixels.
    low: [f64; 2],
    /// Its corner at their high ends, pixels.
    high: [f64; 2],
}

impl Frame {
    fn place(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let along = |axis: usize, share: f64| self.low[axis] + (self.high[axis] - self.low[axis]) * share;
        [along(0, self.x.share(x)), along(1, self.y.share(y))]
    }

    /// Draws grid, ticks and labels.
    fn draw(&self, body: &mut String, across: &str, up: &str) {
        let (grid, edge) = (Pen::line(FAINT, 0.5), Pen::line(INK, 1.0));
        let ([left, bottom], [right, top]) = (self.low, self.high);
        for (value, label) in &self.x.ticks {
            let x = left + (right - left) * self.x.share(*value);
            line(body, [x, bottom], [x, top], &grid);
            letters(body, [x, bottom + 17.0], label, 12.0, Anchor::Middle, INK);
        }
        for (value, label) in &self.y.ticks {
            let y = bottom + (top - bottom) * self.y.share(*value);
            line(body, [left, y], [right, y], &grid);
            letters(body, [left - 7.0, y + 4.0], label, 12.0, Anchor::End, INK);
        }
        line(body, [left, bottom], [right, bottom], &edge);
        line(body, [left, bottom], [left, top], &edge);
        letters(body, [(left + right) / 2.0, bottom + 42.0], across, 13.0, Anchor::Middle, INK);
        // Letters that run upwards are turned about the place where they begin.
        let middle = fixed((bottom + top) / 2.0);
        body.push_str(&format!("<g transform=\"translate(18 {middle}) rotate(-90)\">\n"));
        letters(body, [0.0, 0.0], up, 13.0, Anchor::Middle, INK);
        body.push_str("</g>\n");
    }
}

/// A bar between two opposite corners, with a gap at its sides.
fn bar(body: &mut String, from: [f64; 2], to: [f64; 2], color: &str) {
    let gap = (0.1 * (to[0] - from[0])).clamp(0.0, 1.0);
    let (x, y) = (fixed(from[0] + gap), fixed(from[1].min(to[1])));
    let (width, height) = (fixed(to[0] - from[0] - 2.0 * gap), fixed((from[1] - to[1]).abs()));
    // Writing to a string cannot fail.
    let _ =
        writeln!(body, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{color}\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_its_series_axes_and_legend_and_repeats_its_bytes() {
        let plot = Plot {
            title: "Times".into(),
            x: Axis::linear("step"),
            y: Axis::log("ms"),
            series: vec![
                Series::new("physics", vec![(0.0, 1.0), (10.0, 100.0)]),
                Series::new("none", vec![(5.0, 0.0), (5.0, f64::NAN)]).drawn(Mark::Both),
            ],
        };
        let text = plot.svg();
        for part in ["Times", ">step<", ">ms<", ">physics<", ">none<", ">100<"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // From the corner of both axes to the other one; planted error to see this fail: swap the axes in `place`.
        assert!(text.contains("<polyline points=\"78.00,362.00 700.00,58.00\""), "{text}");
        assert!(!text.contains("<circle"), "values that the axis does not take have no dots");
        assert_eq!(plot.svg(), text);
    }
}
