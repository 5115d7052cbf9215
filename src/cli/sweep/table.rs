//! The table of a sweep: a CSV file that grows by whole lines and is sorted at the end.
//!
//! In: rows of named cells; rows may have different names. Out: a file with a column for every name. During the sweep
//! its lines are in the order of the work, at the end in the order of the jobs; then the same table is written with
//! types (`arrow`). A killed process loses at most the line that it was writing.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use csv::StringRecord;

use super::arrow;
use crate::{
    cli::{CliError, input::about},
    export::{
        ExportError,
        disk::{Growing, put_listed},
    },
    files::{self, Unread},
    scene::{cell_as_it_was, cell_not_run},
};

/// Name of the column with the job's number.
pub const JOB: &str = "job";
/// Name of the column that says why a job failed.
pub const ERROR: &str = "error";

/// Largest table that is read, bytes: a million rows have one or two thousand million.
const LARGEST: u64 = 4 << 30;
const NO_TABLE: &str = "no sweep wrote this table; give --out another place";

/// The first columns, in this order.
const FIRST: [&str; 12] = [
    JOB,
    "mesh",
    ERROR,
    "mesh_sha256",
    "version",
    "commit",
    "command",
    "compute",
    "adapter",
    "seconds",
    "import_seconds",
    "stayed_whole",
];
/// The columns that follow where they have cells: those of a data set.
const OF_SET: [&str; 10] = [
    "object",
    "split",
    "path",
    "sha256",
    "points",
    "adjacencies",
    "bytes",
    "mesh_file_sha256",
    "mesh_file_bytes",
    "mesh_triangles",
];
/// Columns of strings, whatever their cells look like: a digest may look like a number.
const WORDS: [&str; 14] = [
    "warnings",
    "mesh",
    ERROR,
    "mesh_sha256",
    "version",
    "commit",
    "command",
    "compute",
    "adapter",
    "object",
    "split",
    "path",
    "sha256",
    "mesh_file_sha256",
];
/// The next columns are those of these parts of a report and of no part, sorted by name within each part.
const PARTS: [&str; 8] = ["parameters", "counts", "pieces", "", "solved", "health", "checks", "timings_ms"];

/// A row: cells by the name of their column.
pub type Row = BTreeMap<String, String>;

/// The table of one folder.
pub struct Table {
    path: PathBuf,
    columns: Vec<String>,
    place: HashMap<String, usize>,
    file: Growing,
    /// Jobs that have a row, and whether they failed.
    done: BTreeMap<usize, bool>,
}

impl Table {
    /// Opens or creates the table at `path`; an incomplete last line is dropped.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be read or written, or is not a sweep's table.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let there = match files::read(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(Unread::NotFound) => Vec::new(),
            Err(why) => return Err(about(path, why)),
        };
        let whole = there.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (columns, rows) = read(path, &there[..whole])?;
        if (columns.is_empty() && !there.is_empty() && !b"job,".starts_with(&there[..there.len().min(4)]))
            || (!columns.is_empty() && columns[0] != JOB)
        {
            return Err(about(path, NO_TABLE));
        }
        let file = Growing::open(path, whole as u64).map_err(|e| ExportError::write(path, e))?;
        let mut table = Self {
            path: path.to_owned(),
            columns: Vec::new(),
            place: HashMap::new(),
            file,
            done: BTreeMap::new(),
        };
        if columns.is_empty() {
            let first: Vec<String> = FIRST.iter().map(|name| (*name).to_owned()).collect();
            table.write_line(&StringRecord::from(first.clone()))?;
            table.set_columns(first);
            return Ok(table);
        }
        table.set_columns(columns);
        for row in &rows {
            let (job, failed) = (table.job_of(row)?, table.has_failed(row));
            table.done.insert(job, failed);
        }
        Ok(table)
    }

    /// Whether a job has a row.
    pub fn has(&self, job: usize) -> bool {
        self.done.contains_key(&job)
    }

    /// Number of jobs that have a row.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Number of failed jobs.
    pub fn failed(&self) -> usize {
        self.done.values().filter(|failed| **failed).count()
    }

    /// The cells of these columns in every row, by the job's number; empty where a row has no such cell.
    ///
    /// # Errors
    /// [`CliError`] if the table cannot be read.
    pub fn select<const N: usize>(
        &self,
        columns: [&str; N],
    ) -> Result<BTreeMap<usize, [String; N]>, CliError> {
        let places = columns.map(|name| self.place.get(name).copied());
        let (_, rows) = self.read_all()?;
        let cell = |row: &StringRecord, place: Option<usize>| {
            place.and_then(|i| row.get(i)).unwrap_or_default().to_owned()
        };
        rows.iter().map(|row| Ok((self.job_of(row)?, places.map(|place| cell(row, place))))).collect()
    }

    /// Adds the row of a job; new columns are added to the file. The row is written and not flushed: a program that is
    /// killed loses none, a power loss may take the last ones, whose jobs are then done again.
    ///
    /// # Errors
    /// [`CliError::Export`].
    pub fn add(&mut self, job: usize, mut row: Row) -> Result<(), CliError> {
        row.insert(JOB.into(), job.to_string());
        let new: Vec<String> = row.keys().filter(|name| !self.place.contains_key(*name)).cloned().collect();
        if !new.is_empty() {
            self.widen(new)?;
        }
        let line: StringRecord =
            self.columns.iter().map(|name| row.get(name).map_or("", String::as_str)).collect();
        self.write_line(&line)?;
        self.done.insert(job, row.get(ERROR).is_some_and(|error| !error.is_empty()));
        Ok(())
    }

    /// Adds the rows of another table for jobs that have none here.
    ///
    /// # Errors
    /// [`CliError`] if the other table cannot be read or this one cannot be written.
    pub fn take_over(&mut self, other: &Path) -> Result<(), CliError> {
        let bytes = files::read(other, LARGEST).map_err(|why| about(other, why))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (columns, rows) = read(other, &bytes[..whole])?;
        for row in &rows {
            let cells: Row = columns.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
            let job = cells.get(JOB).and_then(|text| text.parse::<usize>().ok());
            let job = job.ok_or_else(|| about(other, NO_TABLE))?;
            if !self.has(job) {
                self.add(job, cells.into_iter().filter(|(_, cell)| !cell.is_empty()).collect())?;
            }
        }
        Ok(())
    }

    /// Sorts rows and columns, so that the same jobs give the same table however often the sweep was interrupted.
    /// Writes the same table as Arrow, `table.arrow`. The answer is a line for the user, where somebody's own file of that
    /// name is kept under another one.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn finish(mut self) -> Result<Option<String>, CliError> {
        let (columns, mut rows) = self.read_all()?;
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_cached_key(|&i| place_of(&columns[i]));
        let number = |row: &StringRecord| self.job_of(row);
        let mut numbered = Vec::with_capacity(rows.len());
        for row in rows.drain(..) {
            numbered.push((number(&row)?, row));
        }
        numbered.sort_by_key(|(job, _)| *job);
        // A column that only an earlier run's rows had does not belong to this table.
        order.retain(|&i| {
            FIRST.contains(&columns[i].as_str()) || numbered.iter().any(|(_, row)| !row[i].is_empty())
        });
        let mut text = Vec::new();
        let names: Vec<&str> = order.iter().map(|&i| columns[i].as_str()).collect();
        encode(&mut text, &names.iter().collect());
        for (_, row) in &numbered {
            encode(&mut text, &order.iter().map(|&i| &row[i]).collect());
        }
        self.replace(&text)?;
        let cells: Vec<Vec<&str>> =
            numbered.iter().map(|(_, row)| order.iter().map(|&i| &row[i]).collect()).collect();
        let typed = arrow::encode(&names, &cells, |name| WORDS.contains(&name));
        Ok(put_listed(&self.path.with_extension("arrow"), &typed)?)
    }

    fn set_columns(&mut self, columns: Vec<String>) {
        self.place = columns.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        self.columns = columns;
    }

    fn job_of(&self, row: &StringRecord) -> Result<usize, CliError> {
        let text = self.place.get(JOB).and_then(|&i| row.get(i));
        let number = text.and_then(|text| text.parse().ok());
        number.ok_or_else(|| about(&self.path, NO_TABLE))
    }

    fn has_failed(&self, row: &StringRecord) -> bool {
        self.place.get(ERROR).and_then(|&i| row.get(i)).is_some_and(|error| !error.is_empty())
    }

    fn write_line(&mut self, line: &StringRecord) -> Result<(), CliError> {
        let mut text = Vec::new();
        encode(&mut text, line);
        self.file.add(&text).map_err(|e| ExportError::write(&self.path, e).into())
    }

    fn read_all(&self) -> Result<(Vec<String>, Vec<StringRecord>), CliError> {
        let bytes = files::read(&self.path, LARGEST).map_err(|why| about(&self.path, why))?;
        read(&self.path, &bytes)
    }

    /// Rewrites the table with more columns; the new file replaces the old one by renaming.
    fn widen(&mut self, new: Vec<String>) -> Result<(), CliError> {
        let (mut columns, rows) = self.read_all()?;
        let empty = vec![""; new.len()];
        columns.extend(new);
        let mut text = Vec::new();
        encode(&mut text, &columns.iter().map(String::as_str).collect());
        for mut row in rows {
            row.extend(&empty);
            encode(&mut text, &row);
        }
        self.replace(&text)?;
        self.set_columns(columns);
        Ok(())
    }

    fn replace(&mut self, text: &[u8]) -> Result<(), CliError> {
        self.file.replace(text).map_err(|e| ExportError::write(&self.path, e).into())
    }
}

/// Sort key of a column: its group, its place in the group, its name.
fn place_of(name: &str) -> (usize, usize, String) {
    if let Some(place) = FIRST.iter().position(|first| *first == name) {
        return (0, place, String::new());
    }
    if let Some(place) = OF_SET.iter().position(|of_set| *of_set == name) {
        return (0, FIRST.len() + place, String::new());
    }
    let part = name.split_once('.').map_or("", |(part, _)| part);
    let part = PARTS.iter().position(|known| *known == part).unwrap_or(PARTS.len());
    (1, part, name.to_owned())
}

/// The columns and rows of a table in memory.
fn read(path: &Path, bytes: &[u8]) -> Result<(Vec<String>, Vec<StringRecord>), CliError> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
    let mut records = reader.records();
    let failed = |e: csv::Error| about(path, format!("{NO_TABLE} ({e})"));
    let header = records.next().transpose().map_err(failed)?.unwrap_or_default();
    let plain = |row: StringRecord| row.iter().map(cell_as_it_was).collect::<StringRecord>();
    let rows = records.map(|row| row.map(plain)).collect::<Result<_, _>>().map_err(failed)?;
    Ok((header.iter().map(str::to_owned).collect(), rows))
}

/// Appends a line; line breaks in cells are replaced, so that a line is a row.
fn encode(text: &mut Vec<u8>, row: &StringRecord) {
    let clean = row.iter().map(|cell| {
        let cell = cell.replace(['\n', '\r'], " ");
        cell_not_run(&cell).into_owned()
    });
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(text);
    // Writing to memory cannot fail.
    let _ = writer.write_record(clean);
    let _ = writer.flush();
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn row(cells: &[(&str, &str)]) -> Row {
        cells.iter().map(|(name, cell)| ((*name).to_owned(), (*cell).to_owned())).collect()
    }

    fn at(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("kintsugi-table-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder.join("table.csv")
    }

    fn remove(path: &Path) {
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    /// Rows with different columns, a text with everything that CSV must quote, and a failure.
    fn some() -> [(usize, Row); 3] {
        [
            (2, row(&[("mesh", "a, \"b\".obj"), ("counts.pieces", "4"), ("parameters.rng", "9")])),
            (
                0,
                row(&[
                    ("mesh", "c"),
                    ("parameters.rng", "7"),
                    ("timings_ms.split", "0.5"),
                    ("dust_mass", "0"),
                ]),
            ),
            (1, row(&[("mesh", "d"), ("error", "no such\nfile")])),
        ]
    }

    #[test]
    fn rows_and_columns_are_in_order_in_the_end() {
        let path = at("order");
        let mut table = Table::open(&path).unwrap();
        for (job, row) in some() {
            table.add(job, row).unwrap();
        }
        assert_eq!((table.len(), table.failed(), table.has(2), table.has(3)), (3, 1, true, false));
        table.finish().unwrap();
        let (columns, rows) = read(&path, &fs::read(&path).unwrap()).unwrap();
        assert_eq!(columns[..3], ["job", "mesh", "error"]);
        assert_eq!(
            columns[FIRST.len()..],
            ["parameters.rng", "counts.pieces", "dust_mass", "timings_ms.split"]
        );
        let jobs: Vec<_> =
            rows.iter().map(|row| (row[0].to_owned(), row[1].to_owned(), row[2].to_owned())).collect();
        let of = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(
            Table::open(&path).unwrap().select(["mesh", "counts.pieces", "none"]).unwrap()[&2],
            ["a, \"b\".obj", "4", ""]
        );
        assert_eq!(jobs, [of("0", "c", ""), of("1", "d", "no such file"), of("2", "a, \"b\".obj", "")]);
        remove(&path);
    }

    #[test]
    fn a_cell_that_a_spreadsheet_would_run_is_quoted_and_read_back_as_it_was() {
        let cells = ["=1+1", "+cmd", "-x", "@sum", "'quoted", "-1.5", "1e-3", "plain", "a=b", ""];
        let mut text = Vec::new();
        encode(&mut text, &cells.iter().copied().collect());
        let line = String::from_utf8(text.clone()).unwrap();
        assert_eq!(line, "'=1+1,'+cmd,'-x,'@sum,''quoted,-1.5,1e-3,plain,a=b,\n");
        let whole = [b"a,b,c,d,e,f,g,h,i,j\n".to_vec(), text].concat();
        let (_, rows) = read(Path::new("table.csv"), &whole).unwrap();
        assert_eq!(rows[0].iter().collect::<Vec<_>>(), cells);
    }

    #[test]
    fn somebody_s_own_table_arrow_is_kept() {
        let path = at("arrow");
        let fill = || {
            let mut table = Table::open(&path).unwrap();
            for (job, row) in some() {
                if !table.has(job) {
                    table.add(job, row).unwrap();
                }
            }
            table.finish().unwrap()
        };
        let (arrow, kept) = (path.with_file_name("table.arrow"), path.with_file_name("table.before.arrow"));
        fs::write(&arrow, "mine").unwrap();
        assert!(fill().unwrap().contains("table.before.arrow"));
        assert_eq!(fs::read(&kept).unwrap(), b"mine");
        let whole = fs::read(&arrow).unwrap();
        assert_eq!(fill(), None, "the program's own makes room");
        assert!(fs::read(&arrow).unwrap() == whole && whole.starts_with(b"ARROW1"));
        remove(&path);
    }

    #[test]
    fn cut_anywhere_it_goes_on_and_ends_the_same() {
        let (path, again) = (at("whole"), at("cut"));
        let fill = |path: &Path| {
            let mut table = Table::open(path).unwrap();
            for (job, row) in some() {
                if !table.has(job) {
                    table.add(job, row).unwrap();
                }
            }
            table
        };
        let table = fill(&path);
        let unfinished = fs::read(&path).unwrap();
        table.finish().unwrap();
        let finished = fs::read(&path).unwrap();
        for cut in 0..=unfinished.len() {
            fs::write(&again, &unfinished[..cut]).unwrap();
            fill(&again).finish().unwrap();
            assert!(fs::read(&again).unwrap() == finished, "cut at byte {cut} of {}", unfinished.len());
        }
        // The same for a finished table.
        fill(&again).finish().unwrap();
        assert!(fs::read(&again).unwrap() == finished);
        [path, again].iter().for_each(|path| remove(path));
    }

    #[test]
    fn tables_of_shards_are_the_whole() {
        let (whole, shards, joined) = (at("all"), [at("first"), at("second")], at("joined"));
        let mut all = Table::open(&whole).unwrap();
        for (job, row) in some() {
            all.add(job, row.clone()).unwrap();
            let mut shard = Table::open(&shards[job % 2]).unwrap();
            shard.add(job, row).unwrap();
            if job == 2 {
                shard.finish().unwrap();
            }
        }
        all.finish().unwrap();
        let mut table = Table::open(&joined).unwrap();
        shards.iter().for_each(|shard| table.take_over(shard).unwrap());
        table.finish().unwrap();
        assert_eq!(fs::read_to_string(&joined).unwrap(), fs::read_to_string(&whole).unwrap());
        [whole, joined].iter().chain(&shards).for_each(|path| remove(path));
    }

    #[test]
    fn somebody_s_own_table_is_refused() {
        let path = at("own");
        fs::write(&path, "name,price\ntea,3\n").unwrap();
        let error = Table::open(&path).err().unwrap().to_string();
        assert!(error.contains("no sweep wrote this table"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "name,price\ntea,3\n");
        remove(&path);
    }
}
