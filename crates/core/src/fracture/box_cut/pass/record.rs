//! What a workgroup left of its cell, read as a [`Cell`].
//!
//! In: the head of a record (numbers of planes, vertices and edges, a byte each; whether a plane went through a vertex;
//! in the upper four bits what became of it) and its words, as `shaders/fracture/box_cut/pass/cells.wgsl` writes them.
//! Out: the cell, or nothing where it has to be cut elsewhere.
//!
//! # Sites in the bins of a uniform grid, by which a workgroup finds the neighbours of a site
//!
//! In: sites, of which no two are equal. Out: the sites in the order of their bins, and where each bin begins. Made on
//! the host, where the sites are: they have to be sorted out and sent in some order anyway.

use std::collections::BTreeSet;

use glam::DVec3;

use super::{
    super::cell::{Cell, CellPlane, CellVertex, Edge, Rounded, meeting},
    CellParams, Point,
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

/// Sites a bin, on average over all bins.
const SITES_A_BIN: usize = 2;

/// See the file.
pub(super) struct Bins {
    /// A place and the index of the site, in the order of the bins, x fastest; within a bin ascending.
    pub placed: Vec<[i32; 4]>,
    /// Where each bin begins in `placed`, and the end of the last one.
    pub starts: Vec<u32>,
    low: Point,
    /// Units across a bin.
    size: i32,
    /// Bins on each axis.
    across: [i32; 3],
}

impl Bins {
    /// Of the sites with the indices `distinct`, ascending, which are not none; in a single bin where there are no more
    /// than `single`.
    pub fn new(sites: &[Point], distinct: &[u32], single: usize) -> Self {
        let all = || distinct.iter().map(|s| sites[*s as usize]);
        let low: Point = std::array::from_fn(|k| all().map(|p| p[k]).min().unwrap_or(0));
        let high: Point = std::array::from_fn(|k| all().map(|p| p[k]).max().unwrap_or(0));
        let across = |size: i32| -> [i32; 3] { std::array::from_fn(|k| (high[k] - low[k]) / size + 1) };
        let bins = |size: i32| across(size).iter().map(|n| *n as usize).product::<usize>();
        let most = if distinct.len() <= single { 1 } else { (distinct.len() / SITES_A_BIN).max(1) };
        let mut size = 1;
        while bins(size) > most {
            size += size / 8 + 1;
        }
        let across = across(size);
        let bin_of = |p: Point| -> usize {
            let [x, y, z]: [usize; 3] = std::array::from_fn(|k| ((p[k] - low[k]) / size) as usize);
            (z * across[1] as usize + y) * across[0] as usize + x
        };
        let mut starts = vec![0u32; bins(size) + 1];
        all().for_each(|p| starts[bin_of(p) + 1] += 1);
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut room = starts.clone();
        let mut placed = vec![[0; 4]; distinct.len()];
        for site in distinct {
            let at = sites[*site as usize];
            let place = &mut room[bin_of(at)];
            placed[*place as usize] = [at[0], at[1], at[2], *site as i32];
            *place += 1;
        }
        Self { placed, starts, low, size, across }
    }

    /// For the cells of `count` sites from `first` on.
    pub fn params(&self, first: usize, count: usize, low: Point, high: Point) -> CellParams {
        CellParams {
            first: first as u32,
            count: count as u32,
            low_x: low[0],
            low_y: low[1],
            low_z: low[2],
            high_x: high[0],
            high_y: high[1],
            high_z: high[2],
            bins_x: self.low[0],
            bins_y: self.low[1],
            bins_z: self.low[2],
            bin: self.size,
            across_x: self.across[0],
            across_y: self.across[1],
            across_z: self.across[2],
        }
    }
}
