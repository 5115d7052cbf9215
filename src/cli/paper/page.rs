//! The page over all entries, in three forms.
//!
//! In: what was made of each entry. Out: `index.html` for people, with the pictures; `papers.md`, the same as text that
//! names its pictures by file and hash and shows a few small drawings; `papers.json`, the same as data. None of them has a
//! date or a path of the machine.

mod html;
mod markdown;

use std::{fs, path::Path};

use serde::Serialize;

use super::entry::{Document, Entry, Made, Shown, Table};
use crate::{
    compute::RanOn,
    export::{ExportError, report::write_json},
    mesh::digest::sha256,
    provenance::VERSION,
};

/// The files of the page.
pub const FILES: [&str; 3] = ["index.html", "papers.md", "papers.json"];

/// Drawings that `papers.md` shows: small, of lines, and the same bytes on every machine. They are copied to [`FIGURES`],
/// so that both can be put into another folder together.
const DRAWINGS: [&str; 8] = [
    "2016/fig-1/expansion.svg",
    "2016/fig-2/codes.svg",
    "2016/fig-3/points.svg",
    "2018/fig-1/intersection.svg",
    "2018/fig-4/votes.svg",
    "glondu/fig-4/tree.svg",
    "chlubna/fig-4/iterations.svg",
    "bullet/sketch/sketch.svg",
];

/// Folder of the copies, below that of the results.
const FIGURES: &str = "figures/papers";

/// Where the copy of a picture is, below the folder of the results, if `papers.md` shows the picture.
fn drawing(file: &str) -> Option<String> {
    DRAWINGS.contains(&file).then(|| format!("{FIGURES}/{}", file.replace('/', "-")))
}

/// The state of an entry after the run.
#[derive(Debug)]
pub enum State {
    /// It was made.
    Made(Made),
    /// It failed, with the reason.
    Failed(String),
    /// It cannot be made, with the reason.
    Cannot(String),
}

/// A picture as the page has it.
#[derive(Debug, Serialize)]
struct Picture {
    /// Its file below the folder of the results, with slashes.
    file: String,
    caption: String,
    /// SHA-256 of the file, hexadecimal.
    sha256: String,
}

/// An entry as the page has it.
#[derive(Debug, Serialize)]
pub struct Done<'a> {
    document: &'a str,
    figure: &'a str,
    title: &'a str,
    /// `made`, `failed` or `cannot`.
    #[serde(rename = "state")]
    name: &'static str,
    /// Why it was not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    pictures: Vec<Picture>,
    tables: Vec<Table>,
    notes: Vec<String>,
    /// The commands that made it, for the folder of the entry.
    commands: Vec<String>,
    /// Wall time of the whole entry.
    seconds: f64,
}

impl<'a> Done<'a> {
    /// An entry with the files that it names read from `folder`, the folder of all results. `commands` are those that
    /// were run.
    ///
    /// # Errors
    /// [`ExportError::Write`] where a picture cannot be read.
    pub fn new(
        entry: &'a Entry,
        state: State,
        mut commands: Vec<String>,
        seconds: f64,
        folder: &Path,
    ) -> Result<Self, ExportError> {
        let (name, made, reason) = match state {
            State::Made(made) => ("made", made, None),
            State::Failed(why) => ("failed", Made::default(), Some(why)),
            State::Cannot(why) => ("cannot", Made::default(), Some(why)),
        };
        let picture = |shown: Shown| {
            let file = format!("{}/{}", entry.place(), shown.file);
            let path = folder.join(&file);
            let bytes = fs::read(&path).map_err(|e| ExportError::write(&path, e))?;
            Ok(Picture { file, caption: shown.caption, sha256: sha256(&bytes) })
        };
        let pictures = made.pictures.into_iter().map(picture).collect::<Result<_, ExportError>>()?;
        commands.extend(made.commands);
        let (document, figure, title) = (entry.document, entry.figure, entry.title);
        let (tables, notes) = (made.tables, made.notes);
        Ok(Self { document, figure, title, name, reason, pictures, tables, notes, commands, seconds })
    }

    /// Why it failed, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.reason.as_deref().filter(|_| self.name == "failed")
    }

    /// Time that it took, in words.
    fn took(&self) -> String {
        format!("{:.1} s", self.seconds)
    }
}

/// The page.
#[derive(Serialize)]
pub struct Page<'a> {
    version: &'static str,
    #[serde(flatten)]
    ran_on: RanOn,
    /// Whether levels are coarser, pictures smaller and plays shorter than in the documents.
    quick: bool,
    #[serde(skip)]
    documents: &'a [Document],
    entries: Vec<Done<'a>>,
}

impl<'a> Page<'a> {
    /// A page with these entries, in the order of the documents.
    #[must_use]
    pub fn new(ran_on: RanOn, quick: bool, documents: &'a [Document], entries: Vec<Done<'a>>) -> Self {
        Self { version: VERSION, ran_on, quick, documents, entries }
    }

    /// How many entries were made, failed, and cannot be made.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |name: &str| self.entries.iter().filter(|done| done.name == name).count();
        (of("made"), of("failed"), of("cannot"))
    }

    /// Writes its three forms, and the copies of drawings that `papers.md` shows.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write(&self, folder: &Path) -> Result<(), ExportError> {
        let [html, markdown, json] = FILES.map(|name| folder.join(name));
        let put = |path: &Path, text: String| fs::write(path, text).map_err(|e| ExportError::write(path, e));
        let pictures = self.entries.iter().flat_map(|done| &done.pictures);
        for (picture, copy) in
            pictures.filter_map(|picture| drawing(&picture.file).map(|copy| (picture, copy)))
        {
            let copy = folder.join(copy);
            let made = fs::create_dir_all(folder.join(FIGURES))
                .and_then(|()| fs::copy(folder.join(&picture.file), &copy).map(drop));
            made.map_err(|e| ExportError::write(&copy, e))?;
        }
        put(&html, html::text(self))?;
        put(&markdown, markdown::text(self))?;
        write_json(&json, self)
    }

    /// Documents that have entries here, with these.
    fn sections(&self) -> impl Iterator<Item = (&Document, Vec<&Done<'a>>)> {
        let of = |document: &Document| {
            self.entries.iter().filter(|done| done.document == document.name).collect::<Vec<_>>()
        };
        self.documents
            .iter()
            .map(move |document| (document, of(document)))
            .filter(|(_, done)| !done.is_empty())
    }

    /// The sentences above all entries.
    fn head(&self) -> Vec<String> {
        let (made, failed, cannot) = self.counts();
        let mut head = vec![
            format!(
                "Made by Kintsugi {} on {}. {made} figures and tables were made, {failed} failed, {cannot} cannot be \
                 made.",
                self.version, self.ran_on.adapter
            ),
            "A published figure stands in one table with ours, with a ratio, only where the object measured is that of \
             the document, at the document's level: the bunny, dragon or Buddha of the Stanford repository, told by the \
             counts of its mesh. Which of the repository's resolutions was broken the documents do not say. All other \
             published figures are of objects that nobody can get, and stand in tables of their own, which say \
             `published` in their titles; nothing is divided by them. A ratio is ours divided by the published figure. \
             The documents were measured on other machines, so a ratio compares machines as well as methods."
                .to_owned(),
        ];
        if self.quick {
            head.push(
                "This run was made with `--quick`: levels are coarser, pictures smaller and plays shorter than in the \
                 documents, and no figure here is to be compared with a published one."
                    .to_owned(),
            );
        }
        head
    }
}

/// The name of an entry in its document, in words.
fn heading(figure: &str) -> String {
    match figure.split_once('-') {
        Some(("fig", number)) => format!("Figure {number}"),
        Some(("table", number)) => format!("Table {number}"),
        Some(("section", number)) => format!("Section {number}"),
        _ => figure.to_owned(),
    }
}

/// Whether a cell is a number, which stands on the right.
fn is_number(cell: &str) -> bool {
    cell == super::entry::NOTHING
        || cell.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
