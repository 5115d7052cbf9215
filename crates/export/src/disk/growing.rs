//! A file that grows by whole parts, such as the lines of a table, and now and then gets other contents at once.
//!
//! In: a path, bytes. Out: a file that ends with the last part that was taken: a part that the disk took half of is cut
//! off again, by this program or, after a kill, by the next one, which knows from the contents where the last part ends.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Disk, RealDisk,
    single::{clear_away_parts, replace_on},
};

/// The file. It is opened for each part, so that its folder may move meanwhile ([`Growing::moved_to`]).
pub struct Growing {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Size of the whole parts, bytes.
    whole: u64,
    /// Whether the file may end with half a part.
    is_torn: bool,
}

impl Growing {
    /// Goes on with a file of which the first `whole` bytes stay; one that is missing is made, empty. A link is followed.
    ///
    /// # Errors
    /// The file system's.
    pub fn open(path: &Path, whole: u64) -> io::Result<Self> {
        // A path that leads nowhere, or a link that does, is that of a new file.
        let beyond = || Some(path.parent()?.join(std::fs::read_link(path).ok()?));
        let path = path.canonicalize().ok().or_else(beyond).unwrap_or_else(|| path.to_owned());
        clear_away_parts(&path);
        Self::open_on(Arc::new(RealDisk), &path, whole)
    }

    /// The same on any disk, where `path` is no link.
    pub(super) fn open_on(disk: Arc<dyn Disk>, path: &Path, whole: u64) -> io::Result<Self> {
        match disk.kind(path)? {
            Some(_) => disk.cut(path, whole)?,
            None => disk.create(path, &[])?,
        }
        Ok(Self { disk, path: path.to_owned(), whole, is_torn: false })
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size of the whole parts, bytes.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// The file lies in `folder` now, under the same name.
    pub fn moved_to(&mut self, folder: &Path) {
        self.path = folder.join(self.path.file_name().unwrap_or_default());
    }

    /// Adds a part. It is not flushed: a program that is killed loses no part, a power loss may take the last ones.
    ///
    /// # Errors
    /// The file system's. The part is then no part of the file.
    pub fn add(&mut self, part: &[u8]) -> io::Result<()> {
        self.mend()?;
        let added = self.disk.append(&self.path, part);
        match added {
            Ok(()) => self.whole += part.len() as u64,
            // The first error is the one to report.
            Err(_) => self.is_torn = self.disk.cut(&self.path, self.whole).is_err(),
        }
        added
    }

    /// Other contents in place of all parts: written beside them, flushed, renamed.
    ///
    /// # Errors
    /// The file system's. What was there is there still, but after a folder that could not be flushed: then the new contents
    /// are.
    pub fn replace(&mut self, contents: &[u8]) -> io::Result<()> {
        self.mend()?;
        let replaced = replace_on(&*self.disk, &self.path, contents);
        self.whole = match &replaced {
            Ok(()) => contents.len() as u64,
            // One of both is there.
            Err(_) => self.disk.mark(&self.path).map_or(self.whole, |mark| mark.bytes),
        };
        replaced
    }

    /// Cuts off half a part.
    fn mend(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.disk.cut(&self.path, self.whole)?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Other contents in place of all parts, as [`Growing::replace`], of a file of `whole` bytes that was written beside it;
    /// not flushed.
    ///
    /// # Errors
    /// The file system's; what was there is there still.
    pub(crate) fn replace_by(&mut self, beside: &Path, whole: u64) -> io::Result<()> {
        self.disk.rename(beside, &self.path)?;
        (self.whole, self.is_torn) = (whole, false);
        Ok(())
    }
}

impl std::fmt::Debug for Growing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Growing")
            .field("path", &self.path)
            .field("whole", &self.whole)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;
    use crate::disk::model::{Fault, Model};

    const PATH: &str = "/home/table.csv";
    /// What the table holds at first, and after each of the steps.
    const STATES: [&str; 6] =
        ["", "job\n", "job\n7\n", "job,mass\n7,\n", "job,mass\n7,\n8,2\n", "job,mass\n7,\n8,2\n9,1\n"];
    /// The state that a rewrite makes, which is flushed.
    const REWRITTEN: usize = 3;

    fn disk() -> Model {
        let disk = Model::default();
        disk.make_folder(Path::new("/home")).unwrap();
        disk.settle();
        disk
    }

    /// The whole lines of the table.
    fn lines(disk: &Model) -> String {
        let text = disk.files().get(PATH).cloned().unwrap_or_default();
        text[..text.rfind('\n').map_or(0, |end| end + 1)].to_owned()
    }

    /// Goes on with the table, as a sweep does: rows, a rewrite with another column, more rows. A step that failed is tried
    /// `again` once. The answer is the state that the program was told of.
    fn grow(disk: &Model, again: bool) -> usize {
        let there = lines(disk);
        let mut at = STATES.iter().position(|state| *state == there).unwrap_or_else(|| panic!("{there:?}"));
        let open = || Growing::open_on(Arc::new(disk.clone()), Path::new(PATH), there.len() as u64);
        let opened = open().or_else(|error| if again { open() } else { Err(error) });
        let Ok(mut table) = opened else { return at };
        while at + 1 < STATES.len() {
            let next = STATES[at + 1];
            let mut step = || match next.strip_prefix(STATES[at]) {
                Some(line) => table.add(line.as_bytes()),
                None => table.replace(next.as_bytes()),
            };
            if step().or_else(|error| if again { step() } else { Err(error) }).is_err() {
                return at;
            }
            at += 1;
        }
        assert_eq!(table.whole(), STATES[at].len() as u64);
        at
    }

    #[test]
    fn at_every_call_a_table_keeps_the_rows_that_it_took_and_goes_on_to_the_same_end() {
        let last = STATES.len() - 1;
        let whole = disk();
        whole.fail(usize::MAX, Fault::Kill);
        assert_eq!((grow(&whole, false), lines(&whole).as_str()), (last, STATES[last]));
        let calls = whole.calls();
        let errors = [ErrorKind::StorageFull, ErrorKind::Other];
        let faults = errors.iter().flat_map(|kind| [Fault::Once(*kind), Fault::From(*kind)]);
        let faults: Vec<Fault> = faults.chain([Fault::Kill, Fault::NoFolderFlush]).collect();
        type Keep = Option<fn(usize) -> bool>;
        let keeps: [Keep; 4] = [None, Some(|_| false), Some(|_| true), Some(|i| i.is_multiple_of(2))];
        let mut tried = 0;
        for (n, fault) in (1..=calls).flat_map(|n| faults.iter().map(move |fault| (n, *fault))) {
            for keep in keeps {
                let disk = disk();
                disk.fail(n, fault);
                let told_of = grow(&disk, false);
                disk.restart();
                if let Some(keep) = keep {
                    disk.lose_power(keep);
                }
                let told = format!("{fault:?} at call {n} of {calls}, power lost: {}", keep.is_some());
                let now = lines(&disk);
                let at = STATES.iter().position(|state| *state == now);
                let at = at.unwrap_or_else(|| panic!("{told}: {now:?} is no whole table"));
                let is_flushed = told_of >= REWRITTEN && !matches!(fault, Fault::NoFolderFlush);
                let least = match keep {
                    None => told_of,
                    Some(_) => REWRITTEN * usize::from(is_flushed),
                };
                assert!(at >= least, "{told}: {told_of} steps were done, {at} are there");
                if matches!(fault, Fault::Once(_)) && keep.is_none() {
                    assert!(disk.files().len() <= 1, "{told}: {:?}", disk.files());
                    // The same program may go on, too: no row of it is half one.
                    assert_eq!(
                        disk.files().get(PATH).map_or(0, String::len),
                        now.len(),
                        "{told}: half a row stays"
                    );
                }
                assert_eq!(grow(&disk, false), last, "{told}");
                assert_eq!(disk.files()[PATH], STATES[last], "{told}");
                tried += 1;
            }
            if let Fault::Once(_) = fault {
                let disk = disk();
                disk.fail(n, fault);
                assert_eq!(grow(&disk, true), last, "{fault:?} at call {n}, tried again");
                assert_eq!(disk.files()[PATH], STATES[last], "{fault:?} at call {n}, tried again");
            }
        }
        assert!(tried > 200, "{tried}");
    }

    #[test]
    fn a_part_that_the_disk_took_half_of_is_cut_off_before_the_next_one() {
        let disk = disk();
        let mut table = Growing::open_on(Arc::new(disk.clone()), Path::new(PATH), 0).unwrap();
        table.add(b"one\n").unwrap();
        // Neither the part nor the cut after it succeeds.
        disk.fail(1, Fault::From(ErrorKind::StorageFull));
        assert!(table.add(b"half\n").is_err());
        assert_eq!(disk.files()[PATH], "one\nha");
        disk.restart();
        table.add(b"two\n").unwrap();
        assert_eq!((&*disk.files()[PATH], table.whole()), ("one\ntwo\n", 8));
        // Contents whose folder could not be flushed are there all the same, and are not cut off with half a part.
        disk.fail(4, Fault::Once(ErrorKind::StorageFull));
        assert!(table.replace(b"one,1\ntwo,2\n").is_err());
        disk.fail(1, Fault::Once(ErrorKind::StorageFull));
        assert!(table.add(b"half\n").is_err());
        assert_eq!(disk.files()[PATH], "one,1\ntwo,2\n");
    }
}
