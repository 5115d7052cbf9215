//! Charts of the panels as data: what the window draws, and what goes out as a CSV or an SVG.
//!
//! In: a title, two axes with units, and series of numbers over the same places. Out: the ranges of both axes, by which
//! the window draws; a CSV with every number in full; an SVG with axes, ticks and a legend.

use std::{borrow::Cow, path::Path};

use super::{
    Range, Scale,
    svg::{Axis, Bars, Mark, Plot, Series},
};

/// Lines with at most so many points have dots at them.
const MOST_DOTS: usize = 40;

/// What an axis measures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartAxis {
    /// The quantity.
    pub name: String,
    /// Its unit; empty for counts and for names.
    pub unit: String,
    /// Whether equal factors have equal distances.
    pub log: bool,
}

impl ChartAxis {
    /// A linear axis.
    #[must_use]
    pub fn new(name: &str, unit: &str) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), log: false }
    }

    /// The same quantity on a logarithmic axis.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { log: true, ..self }
    }

    /// What stands at the axis: `Time (s)`.
    #[must_use]
    pub fn label(&self) -> String {
        let text = with_unit(&self.name, &self.unit);
        if self.log { format!("{text}, logarithmic") } else { text }
    }

    fn of_svg(&self) -> Axis {
        if self.log { Axis::log(self.label()) } else { Axis::linear(self.label()) }
    }
}

/// How the values of a chart are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum ChartForm {
    /// As points that lines join.
    Lines,
    /// As upright bars on 0, over a linear axis up. Their width in units of the axis across; in powers of ten where
    /// that axis is logarithmic.
    Bars(f64),
    /// As bars from left to right on 0, one below the other, with these names. They need no places.
    Named(Vec<String>),
}

/// A named series of values.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartSeries {
    /// Its name in the legend.
    pub name: String,
    /// A value for each place of the chart, in the unit of the axis up. Values that are not finite are not drawn.
    pub values: Vec<f64>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The axis of the places, or of the names.
    pub x: ChartAxis,
    /// The axis of the values.
    pub y: ChartAxis,
    /// How the values are drawn.
    pub form: ChartForm,
    /// The places of the values, in the unit of `x`.
    pub at: Vec<f64>,
    /// The series, all over these places.
    pub series: Vec<ChartSeries>,
}

impl Chart {
    /// A chart without values.
    #[must_use]
    pub fn new(title: &str, x: ChartAxis, y: ChartAxis, form: ChartForm) -> Self {
        Self { title: title.to_owned(), x, y, form, at: Vec::new(), series: Vec::new() }
    }

    /// The same with these places.
    #[must_use]
    pub fn at(self, at: impl IntoIterator<Item = f64>) -> Self {
        Self { at: at.into_iter().collect(), ..self }
    }

    /// The same with one more series.
    #[must_use]
    pub fn with(mut self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.series.push(ChartSeries { name: name.to_owned(), values: values.into_iter().collect() });
        self
    }

    /// Both ends on the axis across of what is drawn of a row of values: equal ends for points.
    #[must_use]
    pub fn span(&self, row: usize) -> Option<[f64; 2]> {
        let at = self.at.get(row).copied();
        match &self.form {
            ChartForm::Lines => at.map(|at| [at; 2]),
            ChartForm::Bars(width) if self.x.log => {
                let half = libm::pow(10.0, 0.5 * width);
                at.map(|at| [at / half, at * half])
            }
            ChartForm::Bars(width) => at.map(|at| [at - 0.5 * width, at + 0.5 * width]),
            ChartForm::Named(names) => (row < names.len()).then_some([row as f64, row as f64 + 1.0]),
        }
    }

    /// Number of places.
    fn rows(&self) -> usize {
        if let ChartForm::Named(names) = &self.form { names.len() } else { self.at.len() }
    }

    /// The ranges of both axes, of `x` first: all places and values, with 0 where the axis up is linear. Values above
    /// `top`, where it is given, have the place of `top`. `None` where a chart has nothing to draw.
    #[must_use]
    pub fn ranges(&self, top: Option<f64>) -> Option<[Range; 2]> {
        let across = (0..self.rows()).filter_map(|row| self.span(row)).flatten();
        let x = Scale { log: self.x.log, ..Scale::default() }.over(across)?;
        let values = || self.series.iter().flat_map(|series| &series.values).copied();
        let mut scale = Scale { log: self.y.log, high: top, ..Scale::default() };
        if !self.y.log {
            let finite = || values().filter(|value| value.is_finite());
            let (least, greatest) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
            scale.low = Some(least);
            // Zeros alone lie at the low end, and not in the middle.
            scale.high = top.or(Some(if greatest > least { greatest } else { 1.0 }));
        }
        Some([x, scale.over(values())?])
    }

    /// A table with a line of names and units, then a line for each place. Each number is the shortest that reads back
    /// as the same double.
    #[must_use]
    pub fn csv(&self) -> String {
        let heads = self.series.iter().map(|series| with_unit(&series.name, &self.y.unit));
        let mut out = line(std::iter::once(with_unit(&self.x.name, &self.x.unit)).chain(heads));
        let places: Vec<String> = match &self.form {
            ChartForm::Named(names) => names.clone(),
            _ => self.at.iter().map(|at| number(*at)).collect(),
        };
        for (row, place) in places.into_iter().enumerate() {
            let value =
                |series: &ChartSeries| series.values.get(row).map_or_else(String::new, |v| number(*v));
            out += &line(std::iter::once(place).chain(self.series.iter().map(value)));
        }
        out
    }

    /// A drawing of it as the text of an SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        if let ChartForm::Named(names) = &self.form {
            let parts = self.series.iter().map(|series| series.name.clone()).collect();
            let value =
                |row: usize| move |series: &ChartSeries| series.values.get(row).copied().unwrap_or(0.0);
            let rows = names.iter().enumerate();
            let rows = rows.map(|(row, name)| (name.clone(), self.series.iter().map(value(row)).collect()));
            let (title, unit) = (self.title.clone(), self.y.label());
            return Bars { title, unit, parts, rows: rows.collect() }.svg();
        }
        let series = self.series.iter().map(|series| {
            let values = series.values.iter().copied();
            if self.form == ChartForm::Lines {
                let mark = if self.at.len() <= MOST_DOTS { Mark::Both } else { Mark::Line };
                return Series::new(&series.name, self.at.iter().copied().zip(values).collect()).drawn(mark);
            }
            let bar = |(row, value)| self.span(row).map(|[from, to]| [from, to, value]);
            Series::bars(&series.name, values.enumerate().filter_map(bar).collect())
        });
        let (x, y) = (self.x.of_svg(), self.y.of_svg());
        Plot { title: self.title.clone(), x, y, series: series.collect() }.svg()
    }

    /// The text of a file with this name: a table for `.csv`, a drawing for `.svg`, `None` for another ending.
    #[must_use]
    pub fn text_for(&self, path: &Path) -> Option<String> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(self.csv()),
            "svg" => Some(self.svg()),
            _ => None,
        }
    }

    /// A name for its file, without an ending.
    #[must_use]
    pub fn file_stem(&self) -> String {
        let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        self.title.chars().map(kept).collect()
    }
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

/// What stands in front of a cell that a spreadsheet would run otherwise.
const QUOTE: char = '\'';

/// A cell of a table, such that no spreadsheet takes it for a formula: a mesh may be called `=cmd`. Numbers stay numbers.
#[must_use]
pub fn cell_not_run(cell: &str) -> Cow<'_, str> {
    let is_run = cell.starts_with(['=', '+', '-', '@', '\t', QUOTE]) && cell.parse::<f64>().is_err();
    if is_run { format!("{QUOTE}{cell}").into() } else { cell.into() }
}

/// The cell that [`cell_not_run`] was given.
#[must_use]
pub fn cell_as_it_was(cell: &str) -> &str {
    cell.strip_prefix(QUOTE).unwrap_or(cell)
}

/// A line of a table; cells that hold a separator are quoted.
fn line(cells: impl Iterator<Item = String>) -> String {
    let quoted = |cell: String| {
        let cell = cell_not_run(&cell).into_owned();
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell
        }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// The shortest text that reads back as the same double; with a power of ten where zeros would fill it.
fn number(value: f64) -> String {
    let size = value.abs();
    let is_long = (size > 0.0 && size < 1e-5) || size >= 1e16;
    if is_long && size.is_finite() { format!("{value:e}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(values: &[f64]) -> Chart {
        let (x, y) = (ChartAxis::new("Iteration", ""), ChartAxis::new("Labels changed", ""));
        let at = (0..values.len()).map(|row| row as f64 + 1.0);
        Chart::new("Changes", x, y, ChartForm::Bars(1.0)).at(at).with("labels", values.iter().copied())
    }

    fn rows(csv: &str) -> Vec<Vec<&str>> {
        csv.lines().map(|line| line.split(',').collect()).collect()
    }

    /// An attribute of each rectangle but the page's and the squares of the legend.
    fn of_bars(svg: &str, attribute: &str) -> Vec<f64> {
        let drawn =
            svg.lines().filter(|line| line.starts_with("<rect x=") && !line.contains("height=\"11\""));
        let value = |line: &str| {
            line.split(&format!(" {attribute}=\""))
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        };
        drawn.map(value).collect()
    }

    /// Every element is closed in its turn, and no attribute is written twice.
    fn is_well_formed(svg: &str) {
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').unwrap_or_else(|| panic!("a tag is not closed: {tag}"));
            assert!(!text.contains('>'), "{text}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
            let attributes: Vec<&str> = tag.split('"').step_by(2).map(str::trim).collect();
            assert!((1..attributes.len()).all(|i| !attributes[..i].contains(&attributes[i])), "{tag}");
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn a_name_that_a_spreadsheet_would_run_is_quoted() {
        let names = ["=1+1", "@sum, all", "-1.5", "plain"].map(str::to_owned).to_vec();
        let (x, y) = (ChartAxis::new("+x", ""), ChartAxis::new("y", ""));
        let chart = Chart::new("", x, y, ChartForm::Named(names)).with("-cmd", [-1.0, 2.0, 3.0, -4.0]);
        let wanted = "'+x,'-cmd\n'=1+1,-1\n\"'@sum, all\",2\n-1.5,3\nplain,-4\n";
        assert_eq!(chart.csv(), wanted);
        for cell in ["=1", "'=1", "'", "", "a", "-2e3"] {
            assert_eq!(cell_as_it_was(&cell_not_run(cell)), cell);
        }
    }

    /// Planted error to see this fail: write numbers with six digits.
    #[test]
    fn a_table_reads_back_to_the_bit() {
        let values =
            [1.0 / 3.0, -0.0, 7e-300, 5e-324, f64::MAX, 123_456_789.0, 1e16, f64::INFINITY, 0.1 + 0.2];
        let at = values.map(|value| value * 0.7);
        let (x, y) = (ChartAxis::new("Time", "s"), ChartAxis::new("Energy", "J"));
        let chart =
            Chart::new("Energy", x, y, ChartForm::Lines).at(at).with("a, b", values).with("c", [f64::NAN]);
        let csv = chart.csv();
        assert!(csv.starts_with("Time (s),\"a, b (J)\",c (J)\n"), "{csv}");
        let read = rows(&csv)[1..].to_vec();
        assert_eq!(read.len(), values.len());
        for (row, cells) in read.iter().enumerate() {
            let bits = [0, 1].map(|k| cells[k].parse::<f64>().unwrap().to_bits());
            assert_eq!(bits, [at[row].to_bits(), values[row].to_bits()], "{cells:?}");
            assert!(cells.iter().all(|cell| cell.len() < 26), "{cells:?}");
        }
        assert_eq!([read[0][2], read[1][2]], ["NaN", ""], "the second series is shorter");
    }

    /// Planted error to see this fail: logarithms of the values for heights.
    #[test]
    fn bars_are_as_high_as_their_values() {
        let values = [700.0, 350.0, 35.0, 0.0, 7.0];
        let svg = bars(&values).svg();
        is_well_formed(&svg);
        let heights = of_bars(&svg, "height");
        assert_eq!(heights.len(), values.len(), "{svg}");
        for (height, value) in heights.iter().zip(values) {
            // Coordinates have two digits behind the point.
            assert!((height / heights[0] - value / values[0]).abs() < 2e-4, "{height} for {value}");
        }
        let bottoms: Vec<f64> =
            of_bars(&svg, "y").iter().zip(&heights).map(|(y, height)| y + height).collect();
        assert!(
            bottoms.iter().all(|bottom| (bottom - bottoms[0]).abs() < 0.02),
            "all stand on 0: {bottoms:?}"
        );
        assert!(svg.contains(">Iteration<") && svg.contains(">Labels changed<") && svg.contains(">600<"));
    }

    #[test]
    fn named_bars_are_as_long_as_their_values() {
        let names = ["cut".to_owned(), "a < b, c".to_owned(), "draw".to_owned()].to_vec();
        let axes = (ChartAxis::new("Stage", ""), ChartAxis::new("Time", "ms"));
        let values = [8.0, 2.0, f64::NAN];
        let chart = Chart::new("Stages", axes.0, axes.1, ChartForm::Named(names)).with("time", values);
        let svg = chart.svg();
        is_well_formed(&svg);
        let widths = of_bars(&svg, "width");
        assert!((widths[1] / widths[0] - 0.25).abs() < 2e-4 && widths[2] == 0.0, "{widths:?}");
        assert!(svg.contains("Time (ms)") && svg.contains("a &lt; b"));
        assert_eq!(chart.csv(), "Stage,time (ms)\ncut,8\n\"a < b, c\",2\ndraw,NaN\n");
    }

    #[test]
    fn bars_on_a_logarithmic_axis_lie_side_by_side() {
        let (x, y) = (ChartAxis::new("Size", "voxels").logarithmic(), ChartAxis::new("Pieces", ""));
        let at = [0.5, 1.5, 2.5].map(|power| libm::pow(10.0, power));
        let chart = Chart::new("Sizes", x, y, ChartForm::Bars(1.0)).at(at).with("pieces", [1.0, 2.0, 4.0]);
        let [x, y] = chart.ranges(None).unwrap();
        for row in 0..3 {
            let [from, to] = chart.span(row).unwrap().map(|end| x.share(end) * 3.0);
            assert!(
                (from - row as f64).abs() < 1e-9 && (to - row as f64 - 1.0).abs() < 1e-9,
                "{from} to {to}"
            );
        }
        assert_eq!((y.low, y.high, y.share(1.0)), (0.0, 4.0, 0.25));
        assert!(chart.svg().contains("Size (voxels), logarithmic"));
    }

    #[test]
    fn nothing_zeros_and_what_is_no_number_make_a_chart() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e-320, 1e308, -1e308];
        for values in [&[][..], &odd[..], &odd[..1], &odd[3..4], &odd[4..5]] {
            let bars = bars(values);
            let names = values.iter().map(f64::to_string).collect();
            let forms = [ChartForm::Bars(1.0), ChartForm::Lines, ChartForm::Named(names)];
            for (form, log) in forms.into_iter().flat_map(|form| [(form.clone(), false), (form, true)]) {
                let is_upright = matches!(form, ChartForm::Bars(_));
                let y = ChartAxis { log: log && !is_upright, ..bars.y.clone() };
                let chart = Chart { form, x: ChartAxis { log, ..bars.x.clone() }, y, ..bars.clone() };
                is_well_formed(&chart.svg());
                assert_eq!(rows(&chart.csv()).len(), 1 + values.len());
                for range in chart.ranges(None).into_iter().flatten() {
                    assert!(range.low < range.high && range.ticks(4).len() <= 4, "{range:?}");
                }
            }
        }
        assert!(bars(&[]).ranges(None).is_none());
        let zeros = bars(&[0.0]).ranges(None).unwrap()[1];
        assert_eq!((zeros.share(0.0), zeros.high), (0.0, 1.0));
    }

    #[test]
    fn the_ending_of_the_name_says_what_is_written() {
        let chart = bars(&[2.0]);
        assert_eq!(chart.text_for("a/b.CSV".as_ref()), Some(chart.csv()));
        assert_eq!(chart.text_for("b.svg".as_ref()), Some(chart.svg()));
        assert_eq!([chart.text_for("csv".as_ref()), chart.text_for("b.png".as_ref())], [None, None]);
        assert_eq!(Chart { title: "Stages: a step".into(), ..chart }.file_stem(), "stages--a-step");
    }
}
