//! What a workgroup left of its cell, read as a [`Cell`].
//!
//! In: the head of a record (numbers of planes, vertices and edges, a byte each; whether a plane went through a vertex;
//! in the upper four bits what became of it) and its words, as `shaders/fracture/box_cut/pass/cells.wgsl` writes them.
//! Out: the cell, or nothing where it has to be cut elsewhere.

use std::collections::BTreeSet;

use glam::DVec3;

use super::super::{
    cell::{Cell, CellVertex, Edge},
    complex::Point,
    exact::{CellPlane, Rounded, meeting},
};

const WALLS: usize = 6;
/// What became of a cell: the numbers of the shader.
const DONE: u32 = 1;
const EMPTY: u32 = 2;

fn byte(word: u32, number: u32) -> u32 {
    word >> (8 * number) & 0xff
}

/// Words of the record with this head.
pub(super) fn words(head: u32) -> usize {
    if head >> 28 != DONE {
        return 0;
    }
    ((byte(head, 0) + byte(head, 1) + byte(head, 2)) as usize).saturating_sub(WALLS)
}

/// The cell of `site`. Nothing where it had no room, or where the words are no closed polyhedron: what a device says is
/// not believed unseen.
pub(super) fn cell(
    sites: &[Point],
    site: u32,
    (low, high): (Point, Point),
    head: u32,
    words: &[u32],
) -> Option<Cell> {
    if head >> 28 == EMPTY {
        return Some(Cell::empty(site));
    }
    let (planes, vertices) = ((byte(head, 0) as usize).checked_sub(WALLS)?, byte(head, 1) as usize);
    if head >> 28 != DONE || words.len() != self::words(head) {
        return None;
    }
    let at = sites[site as usize];
    let (bisectors, rest) = words.split_at_checked(planes)?;
    let (threes, edges) = rest.split_at_checked(vertices)?;
    let mut planes: Vec<CellPlane> = (0..WALLS as u8).map(|n| CellPlane::wall(at, low, high, n)).collect();
    for other in bisectors {
        planes.push(CellPlane::bisector(at, *sites.get(*other as usize)?, *other));
    }
    let origin = DVec3::from_array(at.map(f64::from));
    let vertex = |word: &u32| {
        let three = [0, 1, 2].map(|k| byte(*word, k));
        let [Some(a), Some(b), Some(c)] = three.map(|p| planes.get(p as usize)) else { return None };
        // As the twin has it, to the bit.
        let rounded = Rounded::of([a, b, c]);
        let precise = rounded.is_precise().then_some(rounded.position);
        let position = origin + 0.5 * precise.unwrap_or_else(|| meeting([a, b, c]).position());
        Some(CellVertex { planes: three, position })
    };
    let vertices: Vec<CellVertex> = threes.iter().map(vertex).collect::<Option<_>>()?;
    let edges: Vec<Edge> = edges
        .iter()
        .map(|word| Edge {
            vertices: [byte(*word, 0), byte(*word, 1)],
            planes: [byte(*word, 2), byte(*word, 3)],
        })
        .collect();
    let is_known = |edge: &Edge| {
        edge.vertices.iter().all(|v| (*v as usize) < vertices.len())
            && edge.planes.iter().all(|p| (*p as usize) < planes.len())
    };
    let faces: BTreeSet<u32> = edges.iter().flat_map(|edge| edge.planes).collect();
    let is_closed = vertices.len() + faces.len() == edges.len() + 2;
    let touched = head >> 24 & 1 == 1;
    (edges.iter().all(is_known) && is_closed).then_some(Cell { site, planes, vertices, edges, touched })
}
