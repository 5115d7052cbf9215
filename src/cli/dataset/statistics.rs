//! How the pieces of a set are spread: columns of the table, and a page with plots of them.
//!
//! In: the pieces of a break; later the table. Out: cells with counts, which add up over breaks and over shards;
//! `statistics.html`, one file with its plots inside.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use super::{options::PARTS, surface::Surface};
use crate::{
    cli::{
        CliError,
        paper::svg::{Axis, Plot, Series, escaped},
        sweep::table::{ERROR, Row, Table},
    },
    export::{Assembly, Bond, ExportError},
    provenance::VERSION,
    scene::write_atomically,
};

/// The page.
pub const FILE: &str = "statistics.html";
/// Intervals of shares of the volume: three for each power of ten, from 1 down.
const SHARES: usize = 24;
const OF_TEN: f64 = 3.0;
/// Numbers of neighbours that are counted apart; the last one stands for all above, too.
const NEIGHBOURS: usize = 32;
/// Intervals of the plots with a linear axis.
const BINS: usize = 40;

/// How the pieces of a break are spread.
pub struct Spread {
    /// Pieces by their share of the volume.
    shares: [u32; SHARES],
    /// Pieces by the number of those that they touch.
    neighbours: [u32; NEIGHBOURS],
    /// Share of the surface that is crack.
    crack_area: f64,
}

impl Spread {
    /// Of these pieces.
    pub fn of(what: &Assembly, bonds: &[Bond], surfaces: &[Surface]) -> Self {
        let volumes: Vec<f64> = what.pieces.iter().map(|piece| piece.shape.mass().volume_m3).collect();
        let whole: f64 = volumes.iter().sum();
        let mut shares = [0; SHARES];
        volumes.iter().for_each(|volume| shares[interval(volume / whole)] += 1);
        let mut touched = vec![0usize; what.pieces.len()];
        bonds.iter().flat_map(|bond| bond.pieces).for_each(|piece| touched[piece] += 1);
        let mut neighbours = [0; NEIGHBOURS];
        touched.iter().for_each(|count| neighbours[(*count).min(NEIGHBOURS - 1)] += 1);
        let area = |which: usize| surfaces.iter().map(|surface| surface.area[which]).sum::<f64>();
        let crack_area = if area(0) > 0.0 { area(1) / area(0) } else { 0.0 };
        Self { shares, neighbours, crack_area }
    }

    /// Its cells.
    pub fn cells(&self) -> Row {
        let list = |counts: &[u32]| serde_json::json!(counts).to_string();
        Row::from([
            ("crack_area_share".to_owned(), self.crack_area.to_string()),
            ("volume_share_counts".to_owned(), list(&self.shares)),
            ("touching_counts".to_owned(), list(&self.neighbours)),
        ])
    }
}

/// The interval of a share of the volume; that of the smallest for what is no number.
fn interval(share: f64) -> usize {
    // Shares such as 0.1 belong to the larger ones, however their logarithm is rounded.
    let number = -libm::log10(share) * OF_TEN - 1e-9;
    if number.is_finite() { (number.max(0.0) as usize).min(SHARES - 1) } else { SHARES - 1 }
}

/// Sums over a set.
#[derive(Debug, Default, PartialEq)]
pub struct Totals {
    /// Breaks, failed ones among them.
    pub breaks: usize,
    /// Those that failed.
    pub failed: usize,
    /// Pieces.
    pub pieces: u64,
    /// Pairs of pieces that touch.
    pub adjacencies: u64,
    /// Points.
    pub points: u64,
    /// Size of arrays and meshes, bytes.
    pub bytes: u64,
    /// Time of all breaks, s.
    pub seconds: f64,
    /// Meshes that are no closed manifolds.
    pub open: u64,
    /// Breaks in which no crack met the object.
    pub whole: usize,
    /// Objects and breaks of each part.
    parts: BTreeMap<String, (std::collections::BTreeSet<String>, usize)>,
    pieces_of: Vec<f64>,
    crack_shares: Vec<f64>,
    seconds_of: Vec<f64>,
    shares: Vec<u64>,
    neighbours: Vec<u64>,
}

impl Totals {
    /// Of the rows of a table.
    ///
    /// # Errors
    /// [`CliError`] where it cannot be read.
    pub fn of(table: &Table) -> Result<Self, CliError> {
        let columns = [
            ERROR,
            "object",
            "split",
            "counts.pieces",
            "adjacencies",
            "points",
            "bytes",
            "seconds",
            "meshes.meshes",
            "meshes.manifold",
            "stayed_whole",
            "crack_area_share",
            "volume_share_counts",
            "touching_counts",
        ];
        let mut all = Self { shares: vec![0; SHARES], neighbours: vec![0; NEIGHBOURS], ..Self::default() };
        table.select(columns)?.into_values().for_each(|cells| all.add(&cells));
        Ok(all)
    }

    fn add(&mut self, cells: &[String; 14]) {
        let [
            error,
            object,
            split,
            pieces,
            adjacencies,
            points,
            bytes,
            seconds,
            meshes,
            closed,
            whole,
            crack,
            ..,
        ] = cells;
        self.breaks += 1;
        if !error.is_empty() {
            self.failed += 1;
            return;
        }
        let count = |cell: &str| cell.parse::<u64>().unwrap_or_default();
        let number = |cell: &str| cell.parse::<f64>().unwrap_or_default();
        self.pieces += count(pieces);
        self.adjacencies += count(adjacencies);
        self.points += count(points);
        self.bytes += count(bytes);
        self.seconds += number(seconds);
        self.open += count(meshes).saturating_sub(count(closed));
        self.whole += usize::from(whole == "true");
        let part = self.parts.entry(split.clone()).or_default();
        part.0.insert(object.clone());
        part.1 += 1;
        self.pieces_of.push(number(pieces));
        self.crack_shares.push(number(crack));
        self.seconds_of.push(number(seconds));
        for (sums, cell) in [(&mut self.shares, &cells[12]), (&mut self.neighbours, &cells[13])] {
            let counts: Vec<u64> = serde_json::from_str(cell).unwrap_or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Writes the page about the set of this name.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn write(&self, path: &Path, name: &str) -> Result<(), CliError> {
        Ok(write_atomically(path, self.page(name).as_bytes()).map_err(|e| ExportError::write(path, e))?)
    }

    fn page(&self, name: &str) -> String {
        let title = format!("Data set {}", escaped(name));
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n<h1>{title}</h1>\n<table>\n"
        );
        // Writing to a string cannot fail, here and below.
        for (what, figure) in self.rows() {
            let _ = writeln!(text, "<tr><th>{}</th><td>{}</td></tr>", escaped(&what), escaped(&figure));
        }
        text.push_str("</table>\n");
        for plot in self.plots() {
            let _ = writeln!(text, "<figure>\n{}</figure>", plot.svg());
        }
        let _ = writeln!(text, "<p>Kintsugi {VERSION}</p>\n</html>");
        text
    }

    fn rows(&self) -> Vec<(String, String)> {
        let done = (self.breaks - self.failed).max(1) as f64;
        let mut rows = vec![
            ("breaks".into(), self.breaks.to_string()),
            ("failed".into(), self.failed.to_string()),
            ("breaks without a crack".into(), self.whole.to_string()),
            ("pieces".into(), self.pieces.to_string()),
            ("pieces a break".into(), format!("{:.1}", self.pieces as f64 / done)),
            ("pairs of pieces that touch".into(), self.adjacencies.to_string()),
            ("meshes that are no closed manifolds".into(), self.open.to_string()),
            ("points".into(), self.points.to_string()),
            ("arrays and meshes".into(), size(self.bytes)),
            ("time of a break, mean".into(), format!("{:.3} s", self.seconds / done)),
        ];
        for part in PARTS {
            let (objects, breaks) = self.parts.get(part).map_or((0, 0), |(o, breaks)| (o.len(), *breaks));
            rows.push((part.into(), format!("{objects} objects, {breaks} breaks")));
        }
        rows
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |title: &str, x: Axis, y: &str, points: Vec<(f64, f64)>| Plot {
            title: title.into(),
            x,
            y: Axis::linear(y),
            series: vec![Series::new(y, points)],
        };
        let neighbours = self.neighbours.iter().enumerate();
        let last = self.neighbours.iter().rposition(|count| *count > 0).map_or(1, |last| last + 1);
        let neighbours = neighbours.take(last).map(|(k, count)| ([k as f64, k as f64 + 1.0], *count));
        let edge = |k: usize| libm::pow(10.0, -(k as f64) / OF_TEN);
        let shares = self.shares.iter().enumerate().rev();
        let least = self.shares.iter().rposition(|count| *count > 0).unwrap_or(SHARES - 1);
        let shares = shares.skip(SHARES - 1 - least).map(|(k, count)| ([edge(k + 1), edge(k)], *count));
        vec![
            plot("Pieces of a break", Axis::linear("pieces"), "breaks", histogram(&self.pieces_of)),
            plot("Volumes of pieces", Axis::log("share of the object's volume"), "pieces", stairs(shares)),
            plot("Neighbours of a piece", Axis::linear("pieces that touch it"), "pieces", stairs(neighbours)),
            plot(
                "Cracks",
                Axis::linear("share of the surfaces that is crack"),
                "breaks",
                histogram(&self.crack_shares),
            ),
            plot("Time of a break", Axis::linear("s"), "breaks", histogram(&self.seconds_of)),
        ]
    }
}

/// A size in bytes for people.
pub fn size(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.2} GiB", mib / 1024.0) }
}

/// The outline of counts over equal intervals from 0 to the largest value.
fn histogram(values: &[f64]) -> Vec<(f64, f64)> {
    let high = values.iter().copied().fold(0.0, f64::max);
    if high <= 0.0 {
        return Vec::new();
    }
    let is_whole = values.iter().all(|value| value.fract() == 0.0);
    // Whole numbers have intervals of whole width, and so as many numbers each.
    let width = if is_whole { ((high + 1.0) / BINS as f64).ceil() } else { high * 1.000_001 / BINS as f64 };
    let mut counts = [0; BINS];
    values.iter().for_each(|value| counts[((value.max(0.0) / width) as usize).min(BINS - 1)] += 1);
    let last = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    stairs((0..last).map(|k| ([k as f64 * width, (k + 1) as f64 * width], counts[k])))
}

/// The outline of counts over intervals that follow each other.
fn stairs(counts: impl Iterator<Item = ([f64; 2], u64)>) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for ([low, high], count) in counts {
        if points.is_empty() {
            points.push((low, 0.0));
        }
        points.extend([(low, count as f64), (high, count as f64)]);
    }
    points.extend(points.last().map(|(high, _)| (*high, 0.0)));
    points
}

const STYLE: &str = "
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 48rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; }
th { font-weight: normal; } td { font-variant-numeric: tabular-nums; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_volume_lie_in_thirds_of_powers_of_ten() {
        let of = [1.0, 0.5, 0.46, 0.1, 0.0999, 1e-7, 1e-12, 0.0, f64::NAN].map(interval);
        assert_eq!(of, [0, 0, 1, 2, 3, 20, SHARES - 1, SHARES - 1, SHARES - 1]);
    }

    #[test]
    fn an_outline_has_a_step_for_each_interval_and_ends_on_the_axis() {
        let points = stairs([([0.0, 1.0], 3), ([1.0, 2.0], 5)].into_iter());
        assert_eq!(points, [(0.0, 0.0), (0.0, 3.0), (1.0, 3.0), (1.0, 5.0), (2.0, 5.0), (2.0, 0.0)]);
        assert!(stairs(std::iter::empty()).is_empty() && histogram(&[]).is_empty());
        let whole = histogram(&[1.0, 1.0, 3.0]);
        assert_eq!(whole.iter().map(|point| point.1).fold(0.0, f64::max), 2.0);
        assert_eq!(whole.last(), Some(&(4.0, 0.0)));
        // The area under the outline is the number of values times the width of an interval.
        let values: Vec<f64> = (0..100).map(|k| 0.37 * f64::from(k * k % 41)).collect();
        let outline = histogram(&values);
        let area: f64 = outline.windows(2).map(|pair| (pair[1].0 - pair[0].0) * pair[0].1).sum();
        let width = values.iter().copied().fold(0.0, f64::max) * 1.000_001 / BINS as f64;
        assert!((area / width - 100.0).abs() < 1e-6, "{area} {width}");
    }

    #[test]
    fn totals_are_sums_over_the_breaks_that_were_made() {
        let row = |error: &str, object: &str, pieces: &str| {
            let mut shares = vec![0; SHARES];
            shares[2] = 5;
            let lists = [serde_json::json!(shares).to_string(), "[1,2]".into()];
            let cells =
                [error, object, "train", pieces, "7", "100", "2048", "0.5", "5", "4", "false", "0.25"];
            let all: Vec<String> = cells.map(str::to_owned).into_iter().chain(lists).collect();
            <[String; 14]>::try_from(all).unwrap()
        };
        let mut totals =
            Totals { shares: vec![0; SHARES], neighbours: vec![0; NEIGHBOURS], ..Totals::default() };
        for cells in [row("", "vase", "5"), row("no <mesh>", "cow", ""), row("", "vase", "9")] {
            totals.add(&cells);
        }
        assert_eq!((totals.breaks, totals.failed, totals.pieces, totals.open), (3, 1, 14, 2));
        assert_eq!((totals.adjacencies, totals.points, totals.bytes), (14, 200, 4096));
        assert_eq!((totals.shares[2], &totals.neighbours[..3]), (10, &[2, 4, 0][..]));
        let page = totals.page("jars & co");
        assert!(page.contains("jars &amp; co") && page.contains("1 objects, 2 breaks"), "{page}");
        assert_eq!(page.matches("<svg").count(), 5);
        assert_eq!(page, totals.page("jars & co"));
        assert_eq!([size(1 << 20), size(3 << 30)], ["1.0 MiB", "3.00 GiB"]);
    }
}
