//! `voxels.npz`: all data of a break as arrays. The names, shapes and types are described in `docs/files.md`.
//!
//! In: an assembly of one broken object. Out: the archive, or the same arrays in memory, or their digest.

use std::{
    ops::Range,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use glam::Vec3;
use rayon::prelude::*;

use crate::{
    fracture::Surface,
    svo::{
        Forest, KeySlice,
        morton::{Key, decode},
        unpack_cut, unpack_normal,
    },
};

use crate::{
    Assembly, BreakArrays, BreakKind, Cells, ExportError, FileSpace, FormatEntry, NamedArray, Needs, Npz,
    Watch,
    arrays::{ArrayDigest, Arrays, Collected, Element, Span},
};

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "npz",
    file: "voxels.npz",
    label: "NPZ",
    help: "NumPy arrays of voxels, cells and seeds",
    needs: Needs::Breaks,
    has_nodes: false,
    // `grid_to_mesh` says where the grid lies.
    space: |_| FileSpace::METRES,
    write,
};

/// Writes the arrays. The same pieces give the same bytes.
///
/// # Errors
/// [`ExportError`]; [`ExportError::Format`] if they do not come from one broken object.
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let arrays = arrays_of(path, what)?;
    let mut npz = Npz::create(path)?;
    put(&mut npz, what, arrays, watch)?;
    npz.finish()?;
    Ok(Vec::new())
}

/// The arrays of `voxels.npz`, in memory and in their order: all of them, or those with names in `names`. Others are
/// not made.
///
/// # Errors
/// [`ExportError::Format`] if the pieces do not come from one broken object, and for a name of no array, which then lists
/// all names; [`ExportError::Cancelled`].
pub fn arrays(
    what: &Assembly,
    names: Option<&[String]>,
    watch: &Watch,
) -> Result<Vec<NamedArray>, ExportError> {
    let arrays = arrays_of(Path::new(FORMAT.file), what)?;
    let kept = || Collected { names, ..Collected::default() };
    let (mut all, mut of_pieces) = (kept(), kept());
    // One core walks the object's octree; others begin with the pieces meanwhile.
    let (source, pieces) =
        rayon::join(|| put_source(&mut all, arrays), || put_pieces(&mut of_pieces, what, arrays, watch));
    source.and(pieces)?;
    all.arrays.append(&mut of_pieces.arrays);
    all.seen.append(&mut of_pieces.seen);
    let unknown = names.unwrap_or_default().iter().find(|name| !all.seen.contains(name));
    if let Some(unknown) = unknown {
        let reason = format!("there is no array {unknown:?}; there are {}", all.seen.join(", "));
        return Err(ExportError::Format { path: FORMAT.file.into(), reason });
    }
    Ok(all.arrays)
}

/// SHA-256 of the arrays of `voxels.npz` in their order, as hexadecimal digits. Of each array are hashed: its name, a
/// zero byte, NumPy's name of the element type (`<f4`), a zero byte, the number of axes and the length of each
/// (uint64), and the elements in C order, all numbers little-endian.
///
/// # Errors
/// As of [`arrays`].
pub fn digest(what: &Assembly, watch: &Watch) -> Result<String, ExportError> {
    let arrays = arrays_of(Path::new(FORMAT.file), what)?;
    let mut digest = ArrayDigest::default();
    put(&mut digest, what, arrays, watch)?;
    Ok(digest.finish())
}

fn arrays_of<'a>(path: &Path, what: &'a Assembly) -> Result<&'a BreakArrays, ExportError> {
    what.arrays.as_ref().ok_or_else(|| {
        let reason = "arrays hold the breaks of one object made of voxels".into();
        ExportError::Format { path: path.to_owned(), reason }
    })
}

/// Puts all arrays into `npz` in their order.
fn put(
    npz: &mut impl Arrays,
    what: &Assembly,
    arrays: &BreakArrays,
    watch: &Watch,
) -> Result<(), ExportError> {
    put_source(npz, arrays)?;
    put_pieces(npz, what, arrays, watch)
}

/// Puts the arrays of the object before it broke.
fn put_source(npz: &mut impl Arrays, arrays: &BreakArrays) -> Result<(), ExportError> {
    let source = &arrays.source;
    let whole = Rows { id: 0, cell: 0, forest: source, tree: 0 };
    let mut writing = Writing { npz, pieces: vec![whole], watch: None, done: 0 };
    writing.leaves("source", 3, put_coordinates)?;
    let count = source.internal_octants(0);
    let all = [Span { what: (), elements: 4 * count }];
    writing.npz.array_of_spans("source_inside", &[count, 4], &all, |(), into| {
        put_octants(into, source, 0, |low, size| [low[0], low[1], low[2], size]);
        Ok(())
    })?;
    writing.leaves("source_coverage", 1, |rows, range, into| {
        into.copy_from_slice(&rows.forest.leaves.coverage[range]);
    })?;
    writing.leaves("source_plane", 4, put_planes)
}

/// Puts the arrays of the pieces, and what their breaks were.
fn put_pieces(
    npz: &mut impl Arrays,
    what: &Assembly,
    arrays: &BreakArrays,
    watch: &Watch,
) -> Result<(), ExportError> {
    let BreakArrays { grid, seeds, seed_object, .. } = arrays;
    // Pieces without voxels have no rows.
    let rows = (0..).zip(&what.pieces).filter_map(|(id, piece)| {
        let (octree, cell) = piece.octree().zip(piece.cell)?;
        Some(Rows { id, cell: cell as i32, forest: &octree.forest, tree: octree.tree as usize })
    });
    let pieces: Vec<Rows<'_>> = rows.collect();
    let mut writing = Writing { npz: &mut *npz, pieces, watch: Some(watch), done: 0 };
    writing.leaves("coords", 3, put_coordinates)?;
    writing.leaves("piece", 1, |rows, _, into| into.fill(rows.id))?;
    writing.leaves("cell", 1, |rows, _, into| into.fill(rows.cell))?;
    writing.leaves("crack", 1, |rows, range, into| {
        let colors = rows.forest.leaves.colors[range].iter();
        into.iter_mut().zip(colors).for_each(|(to, color)| *to = u8::from(color.crack()));
    })?;
    let columns = [("normal", 3), ("coverage", 1), ("plane", 4), ("cut", 4)];
    writing.columns(columns, put_surfaces)?;
    writing.inside()?;
    // Finding dust takes as long as several arrays.
    let gone = if npz.wants("dust") { dust(arrays, what) } else { Vec::new() };
    npz.array("dust", &[gone.len() / 3, 3], &gone)?;

    let objects: Vec<i32> = seed_object.iter().map(|object| *object as i32).collect();
    npz.array("seeds", &[objects.len(), 3], seeds.as_flattened())?;
    npz.array("seed_object", &[objects.len()], &objects)?;
    let matrix = grid.to_mesh().transpose().to_cols_array();
    npz.array("grid_to_mesh", &[4, 4], &matrix)?;
    npz.array("level", &[], &[grid.level as i32])?;
    let of_breaks = |number: fn(&BreakKind) -> u32| -> Vec<i32> {
        arrays.breaks.iter().map(|kind| number(kind) as i32).collect()
    };
    for (name, numbers) in [
        ("first_seed", of_breaks(|kind| kind.first_seed)),
        ("surface", of_breaks(|kind| kind.surface as u32)),
        ("transition_level", of_breaks(|kind| kind.transition_level.unwrap_or(0))),
        ("island_level", of_breaks(|kind| kind.island_level)),
    ] {
        npz.array(name, &[numbers.len()], &numbers)?;
    }
    Ok(())
}

/// Number of leaves whose rows are made at once, since arrays of tens of millions are never held in memory.
const CHUNK: usize = 1 << 16;

/// Splits a range into parts of at most [`CHUNK`].
fn chunks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(CHUNK).map(move |from| from..end.min(from + CHUNK))
}

/// A piece that has rows in the arrays.
struct Rows<'a> {
    id: i32,
    cell: i32,
    forest: &'a Forest,
    tree: usize,
}

impl Rows<'_> {
    fn leaves(&self) -> Range<usize> {
        self.forest.tree_start[self.tree] as usize..self.forest.tree_start[self.tree + 1] as usize
    }
}

/// State of writing arrays over all pieces.
struct Writing<'a, 'n, A> {
    npz: &'n mut A,
    pieces: Vec<Rows<'a>>,
    /// Shows the progress, if that is wanted.
    watch: Option<&'a Watch>,
    /// Number of arrays written.
    done: usize,
}

impl<'a, A: Arrays> Writing<'a, '_, A> {
    /// Writes an array with a row of `width` numbers per leaf; `rows` writes the rows of a range of leaves of a piece.
    fn leaves<T: Element>(
        &mut self,
        name: &str,
        width: usize,
        rows: impl Fn(&Rows<'a>, Range<usize>, &mut [T]) + Sync,
    ) -> Result<(), ExportError> {
        self.columns([(name, width)], |piece, range, [into]| rows(piece, range, into.unwrap_or_default()))
    }

    /// The same for arrays that are made together: `rows` writes those that it gets.
    fn columns<T: Element, const K: usize>(
        &mut self,
        columns: [(&str, usize); K],
        rows: impl Fn(&Rows<'a>, Range<usize>, [Option<&mut [T]>; K]) + Sync,
    ) -> Result<(), ExportError> {
        let spans: Vec<Span<(usize, Range<usize>)>> = (0..)
            .zip(&self.pieces)
            .flat_map(|(piece, rows)| chunks(rows.leaves()).map(move |range| (piece, range)))
            .map(|(piece, range)| Span { elements: range.len(), what: (piece, range) })
            .collect();
        let (pieces, watched) = (&self.pieces, watched(self.watch, self.done, spans.len()));
        self.npz.columns_of_spans(columns, &spans, |(piece, range), into| {
            watched()?;
            rows(&pieces[*piece], range.clone(), into);
            Ok(())
        })?;
        self.done += K;
        Ok(())
    }

    /// Writes the last array: internal nodes of all pieces.
    fn inside(self) -> Result<(), ExportError> {
        let Self { npz, pieces, watch, done } = self;
        let counts: Vec<usize> =
            pieces.par_iter().map(|piece| piece.forest.internal_octants(piece.tree)).collect();
        let shape = [counts.iter().sum(), 5];
        let spans: Vec<Span<usize>> =
            (0..).zip(counts).map(|(what, count)| Span { what, elements: 5 * count }).collect();
        let watched = watched(watch, done, spans.len());
        npz.array_of_spans("piece_inside", &shape, &spans, |piece, into| {
            watched()?;
            let Rows { id, forest, tree, .. } = pieces[*piece];
            put_octants(into, forest, tree, |low, size| [low[0], low[1], low[2], size, id]);
            Ok(())
        })
    }
}

/// What notes with `watch` that one more of `spans` of array number `done` is begun. Cores begin spans in any order.
fn watched(watch: Option<&Watch>, done: usize, spans: usize) -> impl Fn() -> Result<(), ExportError> + Sync {
    let begun = AtomicUsize::new(0);
    move || {
        let Some(watch) = watch else { return Ok(()) };
        watch.at(done * spans + begun.fetch_add(1, Ordering::Relaxed), ARRAYS * spans)
    }
}

/// Number of arrays: coords, piece, cell, crack, normal, coverage, plane, cut, piece_inside.
const ARRAYS: usize = 9;

/// Rows x, y, z of leaves.
pub fn coordinates(keys: KeySlice<'_>) -> Vec<i32> {
    keys.iter().flat_map(|key| decode(key).map(|v| v as i32)).collect()
}

/// Writes a row of each internal node of a tree.
fn put_octants<const N: usize>(
    into: &mut [i32],
    forest: &Forest,
    tree: usize,
    row: impl Fn([i32; 3], i32) -> [i32; N],
) {
    let mut rows = into.as_chunks_mut::<N>().0.iter_mut();
    forest.visit_internal(tree, &mut |_, low, size| {
        if let Some(to) = rows.next() {
            *to = row(low.map(|v| v as i32), size as i32);
        }
    });
}

/// Rows x, y, z, size of a tree's internal nodes, and the piece if one is given.
pub fn internal_rows(forest: &Forest, tree: usize, piece: Option<i32>) -> Vec<i32> {
    let width = if piece.is_some() { 5 } else { 4 };
    let mut rows = Vec::with_capacity(width * forest.internal_octants(tree));
    forest.visit_internal(tree, &mut |_, low, size| {
        rows.extend(low.map(|v| v as i32));
        rows.push(size as i32);
        rows.extend(piece);
    });
    rows
}

fn put_coordinates(rows: &Rows<'_>, range: Range<usize>, into: &mut [i32]) {
    let keys = rows.forest.leaves.keys.slice(range);
    into.as_chunks_mut::<3>().0.iter_mut().zip(keys.iter()).for_each(|(to, key)| {
        *to = decode(key).map(|v| v as i32);
    });
}

/// Planes of leaves: outward normal, and the signed distance from the voxel's centre along it, leaf units.
fn put_planes(rows: &Rows<'_>, range: Range<usize>, into: &mut [f32]) {
    let leaves = &rows.forest.leaves;
    into.as_chunks_mut::<4>().0.iter_mut().zip(range).for_each(|(to, i)| {
        *to = plane((unpack_normal(leaves.normals[i]), leaves.colors[i].offset()));
    });
}

/// Normals, coverage, planes and second planes of leaves, those that are wanted. Normals are packed in words, and unpacking
/// them takes longer than all else: it is done once for the arrays that have them.
///
/// The normal of a crack voxel of several cells is the mean of its two planes (2016, sec. 4.4; the octree stores both,
/// because two planes give a sharper edge than their mean).
fn put_surfaces(
    rows: &Rows<'_>,
    range: Range<usize>,
    [normals, coverage, planes, cuts]: [Option<&mut [f32]>; 4],
) {
    let leaves = &rows.forest.leaves;
    if let Some(into) = coverage {
        into.copy_from_slice(&leaves.coverage[range.clone()]);
    }
    let mut normals = normals.unwrap_or_default().as_chunks_mut::<3>().0.iter_mut();
    let [mut planes, mut cuts] =
        [planes, cuts].map(|rows| rows.unwrap_or_default().as_chunks_mut::<4>().0.iter_mut());
    if normals.len() + planes.len() + cuts.len() == 0 {
        return;
    }
    for i in range {
        let (own, second) = (unpack_normal(leaves.normals[i]), unpack_cut(leaves.cuts[i]));
        if let Some(to) = normals.next() {
            let other = second.filter(|_| leaves.colors[i].crack());
            *to = other.map_or(own, |(other, _)| (own + other).normalize_or(own)).to_array();
        }
        if let Some(to) = planes.next() {
            *to = plane((own, leaves.colors[i].offset()));
        }
        if let Some(to) = cuts.next() {
            // Zeros where a leaf has no second plane.
            *to = second.map_or([0.0; 4], plane);
        }
    }
}

/// A plane as a row, without negative zeros.
fn plane((n, at): (Vec3, f32)) -> [f32; 4] {
    [n.x, n.y, n.z, at].map(|x| x + 0.0)
}

/// Rows x, y, z of the source's solid voxels contained in no piece or dropped part, in Morton order. Only dusty breaks
/// have any.
fn dust(arrays: &BreakArrays, what: &Assembly) -> Vec<i32> {
    if arrays.breaks.iter().all(|kind| kind.surface != Surface::Dusty) {
        return Vec::new();
    }
    let spans = |forest: &Forest, tree: u32, out: &mut Vec<(Key, Key)>| {
        let cells = Cells::of(forest, tree as usize);
        out.extend((0..cells.len()).map(|i| (cells.starts.at(i), cells.end(i))));
    };
    let mut held = Vec::new();
    let pieces = what.pieces.iter().filter_map(|piece| piece.octree());
    pieces.for_each(|octree| spans(&octree.forest, octree.tree, &mut held));
    arrays.dropped.iter().for_each(|(forest, tree)| spans(forest, *tree, &mut held));
    held.sort_unstable();
    let mut solid = Vec::new();
    spans(&arrays.source, 0, &mut solid);
    let (mut rows, mut held) = (Vec::new(), held.into_iter().peekable());
    // Both are in Morton order; ranges of pieces may overlap.
    for (start, end) in solid {
        let mut next = start;
        while next < end {
            while held.next_if(|(_, to)| *to <= next).is_some() {}
            let until = match held.peek() {
                Some((from, to)) if *from <= next => {
                    next = (*to).min(end);
                    continue;
                }
                Some((from, _)) => (*from).min(end),
                None => end,
            };
            rows.extend((next..until).flat_map(|key| decode(key).map(|v| v as i32)));
            next = until;
        }
    }
    rows
}
