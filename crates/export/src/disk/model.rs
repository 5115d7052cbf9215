//! A disk in memory that fails as a real one does: at the n-th call with an error, once or from then on; as a killed
//! process leaves it; and as a power loss leaves it, which forgets what was not flushed.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use super::{Disk, Kind, Lock, Mark};
use crate::mesh::digest::sha256;

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// This call fails.
    Once(io::ErrorKind),
    /// This call and all later ones that write fail.
    From(io::ErrorKind),
    /// Flushes of folders fail, always: a file system that has none.
    NoFolderFlush,
    /// The process is killed before the call.
    Kill,
}

#[derive(Clone, PartialEq)]
enum Node {
    Folder,
    File(usize),
}

#[derive(Clone)]
enum Op {
    Put(PathBuf, Node),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

#[derive(Clone, Default)]
struct Bytes {
    now: Vec<u8>,
    flushed: Vec<u8>,
}

#[derive(Default)]
struct State {
    tree: BTreeMap<PathBuf, Node>,
    bytes: Vec<Bytes>,
    /// The names that a power loss cannot take, and every operation since, with whether it was flushed.
    base: BTreeMap<PathBuf, Node>,
    log: Vec<(Op, bool)>,
    locked: BTreeSet<PathBuf>,
    calls: usize,
    fault: Option<(usize, Fault)>,
    killed: bool,
}

/// The disk; clones share it.
#[derive(Clone, Default)]
pub struct Model(Arc<Mutex<State>>);

fn apply(tree: &mut BTreeMap<PathBuf, Node>, op: &Op) {
    let has_parent = |tree: &BTreeMap<PathBuf, Node>, path: &Path| {
        path.parent().is_none_or(|parent| parent == Path::new("/") || tree.contains_key(parent))
    };
    match op {
        Op::Put(path, node) if has_parent(tree, path) => drop(tree.insert(path.clone(), node.clone())),
        Op::Remove(path) => tree.retain(|there, _| !there.starts_with(path)),
        Op::Rename(from, to) if tree.contains_key(from) && has_parent(tree, to) => {
            let below: Vec<_> = tree.keys().filter(|path| path.starts_with(from)).cloned().collect();
            let moved: Vec<_> = below.iter().filter_map(|path| tree.remove_entry(path)).collect();
            tree.retain(|there, _| !there.starts_with(to));
            for (path, node) in moved {
                let rest = path.strip_prefix(from).unwrap();
                let place = if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) };
                tree.insert(place, node);
            }
        }
        Op::Put(..) | Op::Rename(..) => {}
    }
}

impl Model {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The disk with another fault at call `n` from now on.
    pub fn fail(&self, n: usize, fault: Fault) {
        let mut state = self.state();
        (state.calls, state.fault) = (0, Some((n, fault)));
    }

    /// Calls so far, since the fault was chosen.
    pub fn calls(&self) -> usize {
        self.state().calls
    }

    /// The process has ended, and the disk works again.
    pub fn restart(&self) {
        let mut state = self.state();
        (state.fault, state.killed) = (None, false);
        state.locked.clear();
    }

    /// The power was lost: names that were not flushed are as before but those that `keep` says, by number; bytes that
    /// were not flushed are gone.
    pub fn lose_power(&self, keep: impl Fn(usize) -> bool) {
        let mut state = self.state();
        let mut tree = std::mem::take(&mut state.base);
        for (i, (op, flushed)) in std::mem::take(&mut state.log).into_iter().enumerate() {
            if flushed || keep(i) {
                apply(&mut tree, &op);
            }
        }
        for bytes in &mut state.bytes {
            bytes.now = bytes.flushed.clone();
        }
        (state.base, state.tree) = (tree.clone(), tree);
    }

    /// All is on the disk.
    pub fn settle(&self) {
        let mut state = self.state();
        state.base = state.tree.clone();
        state.log.clear();
        for bytes in &mut state.bytes {
            bytes.flushed = bytes.now.clone();
        }
    }

    /// All files, with their contents as text.
    pub fn files(&self) -> BTreeMap<String, String> {
        let state = self.state();
        let files = state.tree.iter().filter_map(|(path, node)| match node {
            Node::File(i) => {
                Some((path.display().to_string(), String::from_utf8_lossy(&state.bytes[*i].now).into()))
            }
            Node::Folder => None,
        });
        files.collect()
    }

    /// Writes a file without the door, as another program does.
    pub fn write(&self, path: &str, text: &str) {
        let path = Path::new(path);
        let mut state = self.state();
        match state.tree.get(path).cloned() {
            Some(Node::File(i)) => state.bytes[i].now = text.into(),
            _ => state.create(path, Node::File(0), text.as_bytes()).unwrap(),
        }
    }

    /// Begins a call: counts it, and fails where it is to fail.
    fn call(&self, writes: bool, flushes_folder: bool) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.calls += 1;
        let calls = state.calls;
        match state.fault {
            Some((n, Fault::Kill)) if calls >= n => state.killed = true,
            Some((n, Fault::Once(kind))) if calls == n => return Err(kind.into()),
            Some((n, Fault::From(kind))) if calls >= n && writes => return Err(kind.into()),
            Some((_, Fault::NoFolderFlush)) if flushes_folder => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            _ => {}
        }
        if state.killed { Err(io::Error::other("killed")) } else { Ok(state) }
    }
}

impl State {
    fn run(&mut self, op: Op) {
        apply(&mut self.tree, &op);
        self.log.push((op, false));
    }

    fn create(&mut self, path: &Path, node: Node, bytes: &[u8]) -> io::Result<()> {
        if self.tree.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let parent = path.parent().unwrap();
        if parent != Path::new("/") && self.tree.get(parent) != Some(&Node::Folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let node = if node == Node::Folder {
            node
        } else {
            self.bytes.push(Bytes { now: bytes.to_vec(), flushed: Vec::new() });
            Node::File(self.bytes.len() - 1)
        };
        self.run(Op::Put(path.to_owned(), node));
        Ok(())
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        match self.tree.get(path) {
            Some(Node::File(i)) => Ok(*i),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Disk for Model {
    fn create(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        self.call(true, false)?.create(file, Node::File(0), bytes)
    }

    fn create_like(&self, file: &Path, _like: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create(file, bytes)
    }

    /// A disk that fills takes a part of it, and so does one whose program is killed meanwhile.
    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        let was_killed = self.state().killed;
        let called = self.call(true, false).map(drop);
        let taken: &[u8] = match called {
            Ok(()) => bytes,
            Err(_) if was_killed => &[],
            Err(_) => &bytes[..bytes.len() / 2],
        };
        let mut state = self.state();
        let i = state.file(file)?;
        state.bytes[i].now.extend(taken);
        called
    }

    fn cut(&self, file: &Path, bytes: u64) -> io::Result<()> {
        let mut state = self.call(true, false)?;
        let i = state.file(file)?;
        state.bytes[i].now.truncate(bytes as usize);
        Ok(())
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        let state = self.call(false, false)?;
        Ok(state.bytes[state.file(file)?].now.clone())
    }

    fn mark(&self, file: &Path) -> io::Result<Mark> {
        let bytes = self.read(file)?;
        Ok(Mark { bytes: bytes.len() as u64, sha256: sha256(&bytes) })
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        let state = self.call(false, false)?;
        if path == Path::new("/") {
            return Ok(Some(Kind::Folder));
        }
        Ok(state.tree.get(path).map(|node| if *node == Node::Folder { Kind::Folder } else { Kind::File }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.call(false, false)?;
        let inside = state.tree.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect())
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.call(true, false)?.create(folder, Node::Folder, &[])
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.call(true, false)?;
        let parent = to.parent().unwrap();
        if !state.tree.contains_key(from) || state.tree.get(parent).is_none_or(|node| *node != Node::Folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.run(Op::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove_file(&self, file: &Path) -> io::Result<()> {
        let mut state = self.call(true, false)?;
        state.file(file)?;
        state.run(Op::Remove(file.to_owned()));
        Ok(())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.call(true, false)?;
        if state.tree.keys().any(|path| path.parent() == Some(folder)) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.run(Op::Remove(folder.to_owned()));
        Ok(())
    }

    fn sync_file(&self, file: &Path) -> io::Result<()> {
        let mut state = self.call(true, false)?;
        let i = state.file(file)?;
        state.bytes[i].flushed = state.bytes[i].now.clone();
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.call(true, true)?;
        let is_in = |path: &Path| path.parent() == Some(folder);
        for (op, flushed) in &mut state.log {
            *flushed |= match op {
                Op::Put(path, _) | Op::Remove(path) => is_in(path),
                Op::Rename(from, to) => is_in(from) || is_in(to),
            };
        }
        Ok(())
    }

    fn lock(&self, file: &Path) -> io::Result<Option<Lock>> {
        let mut state = self.call(true, false)?;
        if !state.tree.contains_key(file) {
            state.create(file, Node::File(0), &[])?;
        }
        let is_free = state.locked.insert(file.to_owned());
        Ok(is_free.then(|| Box::new(Held(self.clone(), file.to_owned())) as Lock))
    }
}

/// A lock of the model.
struct Held(Model, PathBuf);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.state().locked.remove(&self.1);
    }
}
