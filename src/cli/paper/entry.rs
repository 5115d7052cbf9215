//! What `kintsugi paper` can make: a figure or table of a document, and what came of making it.
//!
//! In: nothing. Out: the types that the lists `of_*.rs` fill in and that `page.rs` writes.

use serde::Serialize;

use super::work::Work;
use crate::cli::CliError;

/// A document that the program implements.
pub struct Document {
    /// Its short name.
    pub name: &'static str,
    /// Authors, title and year.
    pub title: &'static str,
    /// Its figures and tables, in its own order.
    pub entries: &'static [Entry],
}

/// A figure or table of a document.
pub struct Entry {
    /// Short name of the document: `2016`, `2018`, `glondu`, `chlubna` or `bullet`.
    pub document: &'static str,
    /// Its name there, as in `fig-4` or `table-1`; also the name of its folder.
    pub figure: &'static str,
    /// One line about what it shows.
    pub title: &'static str,
    /// How it is made.
    pub make: Make,
}

impl Entry {
    /// Its folder below that of the results, with a slash.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}/{}", self.document, self.figure)
    }
}

/// Makes an entry.
type Maker = fn(&mut Work<'_>) -> Result<Made, CliError>;

/// The entries of the document with this short name.
#[derive(Clone, Copy)]
pub struct Of(pub &'static str);

impl Of {
    /// A figure or table that a function makes.
    #[must_use]
    pub const fn by(self, figure: &'static str, title: &'static str, make: Maker) -> Entry {
        Entry { document: self.0, figure, title, make: Make::By(make) }
    }

    /// One that cannot be made, and why, in one line.
    #[must_use]
    pub const fn not(self, figure: &'static str, title: &'static str, why: &'static str) -> Entry {
        Entry { document: self.0, figure, title, make: Make::Not(why) }
    }
}

/// How an entry is made.
pub enum Make {
    /// By this function.
    By(Maker),
    /// It cannot be made; the text says why, in one line.
    Not(&'static str),
}

/// What was made of an entry.
#[derive(Debug, Default)]
pub struct Made {
    /// Pictures, in the order in which the page shows them.
    pub pictures: Vec<Shown>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Sentences about what was measured, and what differs from the document.
    pub notes: Vec<String>,
    /// Commands that made it, in order; the run adds those of [`Work::run`] itself.
    pub commands: Vec<String>,
}

impl Made {
    /// A picture in the folder of the entry, with its caption.
    pub fn picture(file: impl Into<String>, caption: impl Into<String>) -> Self {
        Self { pictures: vec![Shown::new(file, caption)], ..Self::default() }
    }

    /// Pictures there, each as its file and its caption.
    pub fn pictures<const N: usize>(all: [[&str; 2]; N]) -> Self {
        let pictures = all.into_iter().map(|[file, caption]| Shown::new(file, caption)).collect();
        Self { pictures, ..Self::default() }
    }

    /// The same with a table.
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// The same with a sentence.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same with sentences.
    pub fn notes<T: Into<String>>(mut self, notes: impl IntoIterator<Item = T>) -> Self {
        self.notes.extend(notes.into_iter().map(Into::into));
        self
    }
}

/// A picture with its caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its file in the folder of the entry, with slashes: PNG or SVG.
    pub file: String,
    /// One or two sentences.
    pub caption: String,
}

impl Shown {
    /// A picture in the folder of the entry.
    pub fn new(file: impl Into<String>, caption: impl Into<String>) -> Self {
        Self { file: file.into(), caption: caption.into() }
    }
}

/// A table of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What it lists.
    pub title: String,
    /// Heads of the columns, with units.
    pub columns: Vec<String>,
    /// Rows with a text for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// What a cell has where there is no figure.
pub const NOTHING: &str = "-";

/// A figure with `decimals` digits behind the point; one that is missing or not finite is [`NOTHING`].
#[must_use]
pub fn number(value: Option<f64>, decimals: usize) -> String {
    match value.filter(|value| value.is_finite()) {
        // Adding 0 turns -0 into 0.
        Some(value) => format!("{:.decimals$}", value + 0.0),
        None => NOTHING.to_owned(),
    }
}

/// An average and a greatest value, as in `93 (463)`; [`NOTHING`] where there are none.
#[must_use]
pub fn range(of: Option<[f64; 2]>, decimals: usize) -> String {
    of.map_or_else(
        || NOTHING.to_owned(),
        |[average, greatest]| {
            format!("{} ({})", number(Some(average), decimals), number(Some(greatest), decimals))
        },
    )
}

/// `ours` divided by `published`, with two digits behind the point; [`NOTHING`] where one of them is missing or the
/// published figure is 0.
#[must_use]
pub fn ratio(ours: Option<f64>, published: Option<f64>) -> String {
    let both = ours.zip(published.filter(|published| *published != 0.0));
    number(both.map(|(ours, published)| ours / published), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_is_missing_is_no_zero() {
        assert_eq!(number(Some(12.345), 1), "12.3");
        assert_eq!(number(Some(-0.0), 1), "0.0");
        assert_eq!([number(None, 1), number(Some(f64::NAN), 1)], ["-", "-"]);
        assert_eq!(ratio(Some(3.0), Some(2.0)), "1.50");
        // Planted error to see this fail: divide without the filter of 0.
        assert_eq!(
            [ratio(Some(3.0), None), ratio(None, Some(2.0)), ratio(Some(3.0), Some(0.0))],
            ["-", "-", "-"]
        );
    }

    #[test]
    fn a_table_takes_rows_of_any_texts() {
        let mut table = Table::new("times", &["stage", "ms"]);
        table.row(["islands", "1.5"]);
        table.row([String::from("split"), number(Some(2.0), 1)]);
        assert_eq!(table.rows, [["islands", "1.5"], ["split", "2.0"]]);
    }

    #[test]
    fn an_average_and_a_greatest_value_are_one_text() {
        assert_eq!(range(Some([93.2, 463.0]), 0), "93 (463)");
        assert_eq!(range(None, 2), NOTHING);
    }
}
