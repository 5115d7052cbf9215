//! `voxels.npz`: everything about a break, as arrays. The names, shapes and types are described in `docs/files.md`.

use std::path::Path;

use glam::Vec3;

use crate::svo::{Forest, Leaves, morton::decode, unpack_cut, unpack_normal};

use super::{BrokenObject, ExportError, Npz};

/// Writes the arrays. The same break gives the same bytes.
///
/// # Errors
/// [`ExportError`].
pub fn write_voxels(path: &Path, broken: &BrokenObject) -> Result<(), ExportError> {
    let mut npz = Npz::create(path)?;
    let source = coordinates(&broken.source_octree().forest.leaves.keys);
    npz.array("source", &[source.len() / 3, 3], &source)?;
    let inside = internal_rows(&broken.source_octree().forest, 0, None);
    npz.array("source_inside", &[inside.len() / 4, 4], &inside)?;

    let mut coords = Vec::new();
    let (mut piece, mut cell, mut crack) = (Vec::new(), Vec::new(), Vec::new());
    let (mut normal, mut piece_inside) = (Vec::new(), Vec::new());
    for (id, &at) in broken.pieces.iter().enumerate() {
        let (forest, range) = (broken.forest(at), broken.leaves(at));
        let leaves = &forest.leaves;
        coords.extend(coordinates(&leaves.keys[range.clone()]));
        piece.extend(std::iter::repeat_n(id as i32, range.len()));
        cell.extend(std::iter::repeat_n(broken.cell(at) as i32, range.len()));
        crack.extend(leaves.colors[range.clone()].iter().map(|c| u8::from(c.crack())));
        normal.extend(range.clone().flat_map(|i| mean_normal(leaves, i).to_array()));
        piece_inside.extend(internal_rows(forest, broken.piece(at).tree as usize, Some(id)));
    }
    let n = piece.len();
    npz.array("coords", &[n, 3], &coords)?;
    npz.array("piece", &[n], &piece)?;
    npz.array("cell", &[n], &cell)?;
    npz.array("crack", &[n], &crack)?;
    npz.array("normal", &[n, 3], &normal)?;
    npz.array("piece_inside", &[piece_inside.len() / 5, 5], &piece_inside)?;

    let seeds: Vec<f64> = broken
        .steps
        .iter()
        .filter_map(|step| Some(step.voronoi()?.pattern.seeds_in_voxels(broken.grid().level)))
        .flatten()
        .flatten()
        .collect();
    let objects: Vec<i32> = broken
        .steps
        .iter()
        .filter_map(|step| Some((step.first_cell, &step.voronoi()?.pattern.objects)))
        .flat_map(|(first, objects)| objects.iter().map(move |object| (first + object) as i32))
        .collect();
    npz.array("seeds", &[objects.len(), 3], &seeds)?;
    npz.array("seed_object", &[objects.len()], &objects)?;
    let matrix = broken.grid().to_mesh().transpose().to_cols_array();
    npz.array("grid_to_mesh", &[4, 4], &matrix)?;
    npz.finish()
}

fn coordinates(keys: &[crate::svo::morton::Key]) -> Vec<i32> {
    keys.iter().flat_map(|key| decode(*key).map(|v| v as i32)).collect()
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

/// The normal of a leaf; of a crack voxel where several cells meet, the mean of its two planes (2016, sec. 4.4; the
/// octree keeps them apart, because two planes draw a sharper edge than their mean).
fn mean_normal(leaves: &Leaves, i: usize) -> Vec3 {
    let own = unpack_normal(leaves.normals[i]);
    match unpack_cut(leaves.cuts[i]) {
        Some((second, _)) if leaves.colors[i].crack() => (own + second).normalize_or(own),
        _ => own,
    }
}
