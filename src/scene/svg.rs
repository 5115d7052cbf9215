//! SVG by hand: drawings of lines, polygons and letters, and plots with axes.
//!
//! In: shapes in the units of the subject, y up; series of points or bars; stacked bars. Out: text of an SVG file. All
//! coordinates have two digits behind the point, so the same input gives the same bytes on every system. The background
//! is white: the files are shown on pages that may be dark.

mod axis;
mod bars;
mod plot;

pub use self::{
    axis::Axis,
    bars::Bars,
    plot::{Mark, Plot, Series},
};

use std::fmt::Write as _;

/// Colours that people with any colour vision tell apart (Okabe and Ito), darkest first.
pub const COLORS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"];
/// Colour of lines and letters.
pub const INK: &str = "#262422";
/// Colour of what stands behind: grids, outlines.
pub const FAINT: &str = "#b9b5ae";

/// Width of the margin round a drawing, pixels.
const MARGIN: f64 = 12.0;
/// Mean width of a letter as a share of its height, by which room for text is estimated.
const LETTER: f64 = 0.58;

/// How a shape is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Pen<'a> {
    /// Colour of the line; empty: none.
    pub line: &'a str,
    /// Width of the line, pixels.
    pub width: f64,
    /// Colour of the area; empty: none.
    pub area: &'a str,
    /// Whether the line is dashed.
    pub dashed: bool,
}

impl Default for Pen<'_> {
    fn default() -> Self {
        Self { line: INK, width: 1.2, area: "", dashed: false }
    }
}

impl<'a> Pen<'a> {
    /// A line of this colour and width in pixels.
    #[must_use]
    pub fn line(line: &'a str, width: f64) -> Self {
        Self { line, width, ..Self::default() }
    }

    /// An area without a line.
    #[must_use]
    pub fn area(area: &'a str) -> Self {
        Self { line: "", area, ..Self::default() }
    }

    fn attributes(&self) -> String {
        let of = |color: &'a str| if color.is_empty() { "none" } else { color };
        let dashes = if self.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let (area, line, width) = (of(self.area), of(self.line), fixed(self.width));
        format!("fill=\"{area}\" stroke=\"{line}\" stroke-width=\"{width}\"{dashes}")
    }
}

/// Which part of a text lies at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A drawing in the units of its subject, with y up.
#[derive(Clone, Debug)]
pub struct Drawing {
    low: [f64; 2],
    high: [f64; 2],
    /// Pixels per unit.
    scale: f64,
    body: String,
}

impl Drawing {
    /// A drawing of the rectangle from `low` to `high`, this many pixels wide.
    #[must_use]
    pub fn new(low: [f64; 2], high: [f64; 2], width: f64) -> Self {
        let across = (high[0] - low[0]).max(f64::MIN_POSITIVE);
        Self { low, high, scale: (width - 2.0 * MARGIN) / across, body: String::new() }
    }

    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        [MARGIN + (point[0] - self.low[0]) * self.scale, MARGIN + (self.high[1] - point[1]) * self.scale]
    }

    /// A line between two points.
    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], pen: &Pen<'_>) {
        let (from, to) = (self.place(from), self.place(to));
        line(&mut self.body, from, to, pen);
    }

    /// A closed polygon.
    pub fn polygon(&mut self, corners: &[[f64; 2]], pen: &Pen<'_>) {
        let corners: Vec<String> = corners.iter().map(|corner| pair(self.place(*corner))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "<polygon points=\"{}\" {}/>", corners.join(" "), pen.attributes());
    }

    /// An open chain of lines.
    pub fn chain(&mut self, points: &[[f64; 2]], pen: &Pen<'_>) {
        let points: Vec<[f64; 2]> = points.iter().map(|point| self.place(*point)).collect();
        chain(&mut self.body, &points, pen);
    }

    /// An axis-parallel rectangle.
    pub fn rectangle(&mut self, low: [f64; 2], high: [f64; 2], pen: &Pen<'_>) {
        self.polygon(&[low, [high[0], low[1]], high, [low[0], high[1]]], pen);
    }

    /// A circle with its radius in the units of the subject.
    pub fn circle(&mut self, centre: [f64; 2], radius: f64, pen: &Pen<'_>) {
        let (centre, pixels) = (self.place(centre), radius * self.scale);
        disc(&mut self.body, centre, pixels, pen);
    }

    /// A dot with its radius in pixels.
    pub fn dot(&mut self, centre: [f64; 2], pixels: f64, color: &str) {
        let centre = self.place(centre);
        disc(&mut self.body, centre, pixels, &Pen::area(color));
    }

    /// An arrow.
    pub fn arrow(&mut self, from: [f64; 2], to: [f64; 2], pen: &Pen<'_>) {
        let (start, end) = (self.place(from), self.place(to));
        line(&mut self.body, start, end, pen);
        let along = [end[0] - start[0], end[1] - start[1]];
        let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
        if length <= 0.0 {
            return;
        }
        let head = (4.0 * pen.width + 3.0).min(length) / length;
        let (dx, dy) = (along[0] * head, along[1] * head);
        let corner = |side: f64| [end[0] - dx + side * 0.4 * dy, end[1] - dy - side * 0.4 * dx];
        let corners = [end, corner(1.0), corner(-1.0)].map(pair).join(" ");
        let fill = Pen::area(pen.line).attributes();
        let _ = writeln!(self.body, "<polygon points=\"{corners}\" {fill}/>");
    }

    /// A text of this height in pixels, its middle line at `at`.
    pub fn text(&mut self, at: [f64; 2], text: &str, pixels: f64, anchor: Anchor, color: &str) {
        let [x, y] = self.place(at);
        letters(&mut self.body, [x, y + 0.35 * pixels], text, pixels, anchor, color);
    }

    /// The file's text.
    #[must_use]
    pub fn svg(&self) -> String {
        let size = [0, 1].map(|axis| (self.high[axis] - self.low[axis]) * self.scale + 2.0 * MARGIN);
        page(size, &self.body)
    }
}

/// A whole file of this size in pixels.
fn page([width, height]: [f64; 2], body: &str) -> String {
    let (width, height) = (fixed(width), fixed(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

/// A number with two digits behind the point; -0 and numbers that are not finite are 0.
fn fixed(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

fn pair(point: [f64; 2]) -> String {
    format!("{},{}", fixed(point[0]), fixed(point[1]))
}

fn line(body: &mut String, from: [f64; 2], to: [f64; 2], pen: &Pen<'_>) {
    let [x1, y1, x2, y2] = [from[0], from[1], to[0], to[1]].map(fixed);
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(body, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {}/>", pen.attributes());
}

fn chain(body: &mut String, points: &[[f64; 2]], pen: &Pen<'_>) {
    let points: Vec<String> = points.iter().map(|point| pair(*point)).collect();
    let attributes = pen.attributes();
    let _ =
        writeln!(body, "<polyline points=\"{}\" {attributes} stroke-linejoin=\"round\"/>", points.join(" "));
}

fn disc(body: &mut String, centre: [f64; 2], radius: f64, pen: &Pen<'_>) {
    let [x, y, radius] = [centre[0], centre[1], radius].map(fixed);
    let _ = writeln!(body, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {}/>", pen.attributes());
}

/// Letters on a base line that begins, has its middle or ends at `at`.
fn letters(body: &mut String, at: [f64; 2], text: &str, pixels: f64, anchor: Anchor, color: &str) {
    let [x, y, size] = [at[0], at[1], pixels].map(fixed);
    let (anchor, text) = (anchor.name(), escaped(text));
    let _ = writeln!(
        body,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{color}\">{text}</text>"
    );
}

/// The estimated width of a text, pixels.
fn width_of(text: &str, pixels: f64) -> f64 {
    text.chars().count() as f64 * LETTER * pixels
}

/// A row of coloured squares with names; it breaks into lines at `width`. Returns its height.
fn legend(body: &mut String, names: &[(&str, &str)], [left, top]: [f64; 2], width: f64) -> f64 {
    const LINE: f64 = 18.0;
    const SIZE: f64 = 12.0;
    let (mut x, mut y) = (left, top);
    for (name, color) in names {
        let room = width_of(name, SIZE) + 34.0;
        if x > left && x + room > left + width {
            (x, y) = (left, y + LINE);
        }
        let [a, b] = [x, y].map(fixed);
        let _ = writeln!(body, "<rect x=\"{a}\" y=\"{b}\" width=\"11\" height=\"11\" fill=\"{color}\"/>");
        letters(body, [x + 16.0, y + 10.0], name, SIZE, Anchor::Start, INK);
        x += room;
    }
    if names.is_empty() { 0.0 } else { y + LINE - top }
}

/// Text with the characters of markup replaced, for SVG and HTML.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_y_up_and_fixed_digits() {
        let mut drawing = Drawing::new([0.0, 0.0], [10.0, 5.0], 224.0);
        drawing.line([0.0, 0.0], [10.0, 5.0], &Pen::default());
        let text = drawing.svg();
        assert!(text.starts_with("<svg ") && text.contains("width=\"224.00\" height=\"124.00\""), "{text}");
        // Planted error to see this fail: y down.
        assert!(text.contains("x1=\"12.00\" y1=\"112.00\" x2=\"212.00\" y2=\"12.00\""), "{text}");
        assert_eq!(drawing.svg(), text);
        assert_eq!([fixed(-0.001), fixed(f64::NAN), fixed(1.0 / 3.0)], ["0.00", "0.00", "0.33"]);
    }

    #[test]
    fn text_cannot_become_markup() {
        let mut drawing = Drawing::new([0.0, 0.0], [1.0, 1.0], 100.0);
        drawing.text([0.5, 0.5], "a < b & \"c\"", 12.0, Anchor::Middle, INK);
        let text = drawing.svg();
        assert!(text.contains("a &lt; b &amp; &quot;c&quot;"), "{text}");
    }

    #[test]
    fn an_arrow_without_length_has_no_head() {
        let mut drawing = Drawing::new([0.0, 0.0], [1.0, 1.0], 100.0);
        drawing.arrow([0.5, 0.5], [0.5, 0.5], &Pen::default());
        assert!(!drawing.svg().contains("polygon"));
        drawing.arrow([0.0, 0.5], [1.0, 0.5], &Pen::default());
        assert!(drawing.svg().contains("polygon"));
    }
}
