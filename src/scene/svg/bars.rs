//! Stacked bars across, a bar a row.

use std::fmt::Write as _;

use super::{Anchor, Axis, COLORS, FAINT, INK, Pen, fixed, legend, letters, line, page, width_of};

/// Width of the drawing, height of a bar and distance of two bars, pixels.
const WIDTH: f64 = 720.0;
const BAR: f64 = 24.0;
const STEP: f64 = 36.0;

/// Bars, each of the same parts.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// What their length measures, with the unit.
    pub unit: String,
    /// Names of the parts, from the left.
    pub parts: Vec<String>,
    /// Bars from the top: a label, and the length of each part. Negative lengths count as 0.
    pub rows: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// The file's text.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut body = String::new();
        letters(&mut body, [WIDTH / 2.0, 22.0], &self.title, 15.0, Anchor::Middle, INK);
        let names: Vec<(&str, &str)> =
            self.parts.iter().map(String::as_str).zip(COLORS.into_iter().cycle()).collect();
        let labels = self.rows.iter().map(|(label, _)| width_of(label, 12.0)).fold(40.0, f64::max);
        let (left, right) = (labels + 20.0, WIDTH - 24.0);
        let top = 34.0 + legend(&mut body, &names, [20.0, 34.0], WIDTH - 40.0) + 8.0;
        let bottom = top + STEP * self.rows.len() as f64;
        let sums = self.rows.iter().map(|(_, parts)| parts.iter().map(|part| part.max(0.0)).sum::<f64>());
        let scale = Axis::linear(&self.unit).scale(sums);
        let place = |value: f64| left + (right - left) * scale.share(value);
        for (value, label) in &scale.ticks {
            line(&mut body, [place(*value), top], [place(*value), bottom], &Pen::line(FAINT, 0.5));
            letters(&mut body, [place(*value), bottom + 16.0], label, 12.0, Anchor::Middle, INK);
        }
        letters(&mut body, [(left + right) / 2.0, bottom + 38.0], &self.unit, 13.0, Anchor::Middle, INK);
        for (k, (label, parts)) in self.rows.iter().enumerate() {
            let y = top + STEP * k as f64 + (STEP - BAR) / 2.0;
            letters(&mut body, [left - 8.0, y + BAR / 2.0 + 4.0], label, 12.0, Anchor::End, INK);
            let mut from = 0.0;
            for (part, (_, color)) in parts.iter().zip(&names) {
                let to = from + part.max(0.0);
                let (x, width) = (fixed(place(from)), fixed(place(to) - place(from)));
                let (y, height) = (fixed(y), fixed(BAR));
                // Writing to a string cannot fail.
                let _ = writeln!(
                    body,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{color}\"/>"
                );
                from = to;
            }
        }
        page([WIDTH, bottom + 52.0], &body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_end_to_end() {
        let bars = Bars {
            title: "Stages".into(),
            unit: "ms".into(),
            parts: vec!["cut".into(), "split".into()],
            rows: vec![("a".into(), vec![6.0, 4.0]), ("b".into(), vec![-1.0, 5.0])],
        };
        let text = bars.svg();
        let widths: Vec<f64> = text
            .lines()
            .filter(|line| line.contains("height=\"24.00\""))
            .filter_map(|line| line.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        // 10 ms fill the axis; planted error to see this fail: begin each part at 0.
        let whole = 636.0;
        let expected = [0.6, 0.4, 0.0, 0.5].map(|share| share * whole);
        assert_eq!(widths.len(), 4, "{text}");
        assert!(widths.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02), "{widths:?}");
        let places =
            text.lines().filter(|line| line.contains("height=\"24.00\"") && line.contains("x=\"60.00\""));
        assert_eq!(places.count(), 3, "both bars begin at 0, one of them with a part of no length: {text}");
    }
}
