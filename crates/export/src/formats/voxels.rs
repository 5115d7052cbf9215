//! `voxels.npz`: all data of a break as arrays. The names, shapes and types are described in `docs/files.md`.
//!
//! In: an assembly of one broken object. Out: the archive, or the same arrays in memory, or their digest.

use std::{ops::Range, path::Path};

use glam::Vec3;

use crate::{
    fracture::Surface,
    svo::{
        Forest, KeySlice, Leaves,
        morton::{Key, decode},
        unpack_cut, unpack_normal,
    },
};

use crate::{
    Assembly, BreakArrays, BreakKind, Cells, ExportError, FileSpace, FormatEntry, NamedArray, Needs, Npz,
    Watch,
    arrays::{ArrayDigest, Arrays, Collected, Element},
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

/// The arrays of `voxels.npz`, in memory and in their order.
///
/// # Errors
/// [`ExportError::Format`] if the pieces do not come from one broken object; [`ExportError::Cancelled`].
pub fn arrays(what: &Assembly, watch: &Watch) -> Result<Vec<NamedArray>, ExportError> {
    let arrays = arrays_of(Path::new(FORMAT.file), what)?;
    let mut collected = Collected::default();
    put(&mut collected, what, arrays, watch)?;
    Ok(collected.0)
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
    let BreakArrays { source, grid, seeds, seed_object, .. } = arrays;
    let keys = source.leaves.keys.as_slice();
    let parts = chunks(0..keys.len()).map(|range| Ok(coordinates(keys.slice(range))));
    npz.array_of_parts("source", &[keys.len(), 3], parts)?;
    let inside = internal_rows(source, 0, None);
    npz.array("source_inside", &[inside.len() / 4, 4], &inside)?;
    drop(inside);
    let parts = chunks(0..keys.len()).map(|range| Ok(source.leaves.coverage[range].to_vec()));
    npz.array_of_parts("source_coverage", &[keys.len()], parts)?;
    let parts = chunks(0..keys.len()).map(|range| Ok(planes(&source.leaves, range)));
    npz.array_of_parts("source_plane", &[keys.len(), 4], parts)?;

    // Pieces without voxels have no rows.
    let rows = (0..).zip(&what.pieces).filter_map(|(id, piece)| {
        let (octree, cell) = piece.octree().zip(piece.cell)?;
        Some(Rows { id, cell: cell as i32, forest: &octree.forest, tree: octree.tree as usize })
    });
    let pieces: Vec<Rows<'_>> = rows.collect();
    let mut writing = Writing { npz: &mut *npz, pieces, watch, done: 0 };
    writing.leaves("coords", 3, |rows, range| coordinates(rows.forest.leaves.keys.slice(range)))?;
    writing.leaves("piece", 1, |rows, range| vec![rows.id; range.len()])?;
    writing.leaves("cell", 1, |rows, range| vec![rows.cell; range.len()])?;
    writing.leaves("crack", 1, |rows, range| {
        rows.forest.leaves.colors[range].iter().map(|c| u8::from(c.crack())).collect()
    })?;
    writing.leaves("normal", 3, |rows, range| {
        range.flat_map(|i| mean_normal(&rows.forest.leaves, i).to_array()).collect()
    })?;
    writing.leaves("coverage", 1, |rows, range| rows.forest.leaves.coverage[range].to_vec())?;
    writing.leaves("plane", 4, |rows, range| planes(&rows.forest.leaves, range))?;
    writing.leaves("cut", 4, |rows, range| cuts(&rows.forest.leaves, range))?;
    writing.inside()?;
    let gone = dust(arrays, what);
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
    watch: &'a Watch,
    /// Number of pieces written, summed over the arrays.
    done: usize,
}

impl<'a, A: Arrays> Writing<'a, '_, A> {
    /// Writes an array with a row of `width` numbers per leaf; `rows` makes the rows for a range of leaves of a piece.
    fn leaves<T: Element>(
        &mut self,
        name: &str,
        width: usize,
        rows: impl Fn(&Rows<'a>, Range<usize>) -> Vec<T>,
    ) -> Result<(), ExportError> {
        let Self { npz, pieces, watch, done } = self;
        let count = pieces.iter().map(|piece| piece.leaves().len()).sum();
        let shape = [count, width];
        let all = ARRAYS * pieces.len();
        let parts = pieces.iter().flat_map(|piece| {
            let here = watch.at(*done, all);
            *done += 1;
            let rows = &rows;
            let parts = chunks(piece.leaves()).map(move |range| Ok(rows(piece, range)));
            here.err().map(Err).into_iter().chain(parts)
        });
        npz.array_of_parts(name, if width == 1 { &shape[..1] } else { &shape }, parts)
    }

    /// Writes the last array: internal nodes of all pieces.
    fn inside(self) -> Result<(), ExportError> {
        let Self { npz, pieces, watch, done } = self;
        let count = pieces.iter().map(|piece| internal_nodes(piece.forest, piece.tree)).sum();
        let all = ARRAYS * pieces.len();
        let parts = (done..).zip(&pieces).map(|(done, piece)| {
            watch.at(done, all)?;
            Ok(internal_rows(piece.forest, piece.tree, Some(piece.id)))
        });
        npz.array_of_parts("piece_inside", &[count, 5], parts)
    }
}

/// Number of arrays: coords, piece, cell, crack, normal, coverage, plane, cut, piece_inside.
const ARRAYS: usize = 9;

/// Rows x, y, z of leaves.
pub fn coordinates(keys: KeySlice<'_>) -> Vec<i32> {
    keys.iter().flat_map(|key| decode(key).map(|v| v as i32)).collect()
}

fn internal_nodes(forest: &Forest, tree: usize) -> usize {
    let mut count = 0;
    forest.visit_internal(tree, &mut |_, _, _| count += 1);
    count
}

/// Rows x, y, z, size of a tree's internal nodes, and the piece if one is given.
pub fn internal_rows(forest: &Forest, tree: usize, piece: Option<i32>) -> Vec<i32> {
    let width = if piece.is_some() { 5 } else { 4 };
    let mut rows = Vec::with_capacity(width * internal_nodes(forest, tree));
    forest.visit_internal(tree, &mut |_, low, size| {
        rows.extend(low.map(|v| v as i32));
        rows.push(size as i32);
        rows.extend(piece);
    });
    rows
}

/// Rows of the planes of leaves: outward normal, and the signed distance from the voxel's centre along it, leaf units.
fn planes(leaves: &Leaves, range: Range<usize>) -> Vec<f32> {
    let row = |i: usize| {
        let n = unpack_normal(leaves.normals[i]);
        [n.x, n.y, n.z, leaves.colors[i].offset()].map(|x| x + 0.0)
    };
    range.flat_map(row).collect()
}

/// The same for second planes; zeros if a leaf has none.
fn cuts(leaves: &Leaves, range: Range<usize>) -> Vec<f32> {
    let row = |i: usize| {
        unpack_cut(leaves.cuts[i]).map_or([0.0; 4], |(n, at)| [n.x, n.y, n.z, at].map(|x| x + 0.0))
    };
    range.flat_map(row).collect()
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

/// The normal of a leaf; in a crack voxel of several cells the mean of its two planes (2016, sec. 4.4; the octree
/// stores both, because two planes give a sharper edge than their mean).
fn mean_normal(leaves: &Leaves, i: usize) -> Vec3 {
    let own = unpack_normal(leaves.normals[i]);
    match unpack_cut(leaves.cuts[i]) {
        Some((second, _)) if leaves.colors[i].crack() => (own + second).normalize_or(own),
        _ => own,
    }
}
