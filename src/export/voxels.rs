//! `voxels.npz`: everything about a break, as arrays. The names, shapes and types are described in
//! `docs/files.md`.

use std::path::Path;

use glam::Vec3;

use crate::svo::{Forest, KeySlice, Leaves, morton::decode, unpack_cut, unpack_normal};

use super::{Assembly, BreakArrays, ExportError, Npz, Watch};

/// Writes the arrays. The same pieces give the same bytes.
///
/// # Errors
/// [`ExportError`]; [`ExportError::Format`] where they are not of one broken object.
pub(super) fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let Some(BreakArrays { source, grid, seeds, seed_object }) = &what.arrays else {
        let reason = "arrays hold the breaks of one object made of voxels".into();
        return Err(ExportError::Format { path: path.to_owned(), reason });
    };
    let mut npz = Npz::create(path)?;
    let of_source = coordinates(source.leaves.keys.as_slice());
    npz.array("source", &[of_source.len() / 3, 3], &of_source)?;
    let inside = internal_rows(source, 0, None);
    npz.array("source_inside", &[inside.len() / 4, 4], &inside)?;

    let mut coords = Vec::new();
    let (mut piece, mut cell, mut crack) = (Vec::new(), Vec::new(), Vec::new());
    let (mut normal, mut piece_inside) = (Vec::new(), Vec::new());
    for (id, one) in what.pieces.iter().enumerate() {
        watch.at(id, what.pieces.len())?;
        // What is not made of voxels has no rows.
        let Some((octree, cell_of)) = one.octree().zip(one.cell) else { continue };
        let (leaves, range) = (&octree.forest.leaves, octree.leaves());
        coords.extend(coordinates(leaves.keys.slice(range.clone())));
        piece.extend(std::iter::repeat_n(id as i32, range.len()));
        cell.extend(std::iter::repeat_n(cell_of as i32, range.len()));
        crack.extend(leaves.colors[range.clone()].iter().map(|c| u8::from(c.crack())));
        normal.extend(range.flat_map(|i| mean_normal(leaves, i).to_array()));
        piece_inside.extend(internal_rows(&octree.forest, octree.tree as usize, Some(id)));
    }
    let n = piece.len();
    npz.array("coords", &[n, 3], &coords)?;
    npz.array("piece", &[n], &piece)?;
    npz.array("cell", &[n], &cell)?;
    npz.array("crack", &[n], &crack)?;
    npz.array("normal", &[n, 3], &normal)?;
    npz.array("piece_inside", &[piece_inside.len() / 5, 5], &piece_inside)?;

    let objects: Vec<i32> = seed_object.iter().map(|object| *object as i32).collect();
    npz.array("seeds", &[objects.len(), 3], seeds.as_flattened())?;
    npz.array("seed_object", &[objects.len()], &objects)?;
    let matrix = grid.to_mesh().transpose().to_cols_array();
    npz.array("grid_to_mesh", &[4, 4], &matrix)?;
    npz.finish()?;
    Ok(Vec::new())
}

fn coordinates(keys: KeySlice<'_>) -> Vec<i32> {
    keys.iter().flat_map(|key| decode(key).map(|v| v as i32)).collect()
}

/// Rows x, y, z, size of a tree's internal nodes, and the piece where one is given.
fn internal_rows(forest: &Forest, tree: usize, piece: Option<usize>) -> Vec<i32> {
    let mut rows = Vec::new();
    forest.visit_internal(tree, &mut |_, low, size| {
        rows.extend(low.map(|v| v as i32));
        rows.push(size as i32);
        rows.extend(piece.map(|id| id as i32));
    });
    rows
}

/// The normal of a leaf; of a crack voxel where several cells meet, the mean of its two planes (2016, sec.
/// 4.4; the octree keeps them apart, because two planes draw a sharper edge than their mean).
fn mean_normal(leaves: &Leaves, i: usize) -> Vec3 {
    let own = unpack_normal(leaves.normals[i]);
    match unpack_cut(leaves.cuts[i]) {
        Some((second, _)) if leaves.colors[i].crack() => (own + second).normalize_or(own),
        _ => own,
    }
}
