//! Pieces as `OpenVDB` volumes, a grid for each piece: the signed distance to its surface, or how much of each voxel is solid.
//!
//! In: octrees that are not turned. Out: one file with a grid for each piece, named as the piece, on the octree's own voxels.
//! Distances are those to the planes of leaves, within three voxels of the surface; beyond, and where no voxel is, the
//! background.

mod tree;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use glam::{DVec3, Vec3};

use self::tree::{Block, Grid, Tree, VOXELS, Values, offset};
use crate::{Assembly, Axes, Cells, ExportError, FileSpace, FormatEntry, Needs, Target, Watch};
use crate::{
    shape::Octree,
    svo::{Leaves, morton::decode, unpack_cut, unpack_normal},
};

/// Distances on either side of a surface, voxels.
const BAND: f32 = 3.0;
/// Radius of the disc that a leaf has of its plane, voxels: discs of a flat surface cover the surface.
const RADIUS: f32 = 0.71;
/// How far a leaf's plane may lie in front of the leaf's other plane and still count, voxels.
const IN_FRONT: f32 = 0.25;

/// The format of distances.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "vdb",
    file: "pieces.vdb",
    label: "VDB",
    help: "OpenVDB level sets: a grid of distances a piece",
    needs: Needs::Voxels,
    has_nodes: false,
    space: Target::file_space,
    write: |path, what, watch| write(path, what, watch, &LEVEL_SET),
};

/// The format of solid shares.
pub(super) static FOG: FormatEntry = FormatEntry {
    name: "vdb-fog",
    file: "pieces_fog.vdb",
    label: "VDB fog",
    help: "OpenVDB fog volumes: the solid share of each voxel",
    needs: Needs::Voxels,
    has_nodes: false,
    space: Target::file_space,
    write: |path, what, watch| write(path, what, watch, &FOG_VOLUME),
};

/// What the numbers of a grid are.
struct Kind {
    /// As programs know it.
    class: &'static str,
    /// The value far outside, edges of a voxel where it is a length.
    far: f32,
    /// Whether values are lengths.
    is_length: bool,
    /// Adds a leaf (its cell, and where it is in the forest) to the parts.
    add: fn(&mut Parts, [i32; 3], (&Leaves, usize)),
}

static LEVEL_SET: Kind = Kind { class: "level set", far: BAND, is_length: true, add: add_distances };
static FOG_VOLUME: Kind = Kind { class: "fog volume", far: 0.0, is_length: false, add: add_share };

/// What a block of an octree's grid holds.
#[derive(Default)]
struct Part {
    /// Of a level set unsigned distances; of a fog volume solid shares of leaves. `None`: all as far outside.
    values: Option<Box<[f32; VOXELS]>>,
    /// A bit for each voxel that is solid through and through, or whose centre is inside.
    inside: [u64; VOXELS / 64],
}

/// Parts by the first voxel of their block, in blocks.
type Parts = BTreeMap<[i32; 3], Part>;

impl Part {
    fn is_inside(&self, k: usize) -> bool {
        self.inside[k / 64] >> (k % 64) & 1 == 1
    }
}

fn write(path: &Path, what: &Assembly, watch: &Watch, kind: &Kind) -> Result<Vec<String>, ExportError> {
    let failed = |e: std::io::Error| ExportError::write(path, e);
    let space = what.handover.space(&FORMAT);
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    let head = tree::header(concat!("kintsugi ", env!("CARGO_PKG_VERSION")), what.pieces.len());
    out.write_all(&head).map_err(failed)?;
    let mut at = head.len();
    for (done, piece) in what.pieces.iter().enumerate() {
        watch.at(done, what.pieces.len())?;
        let Some(octree) = piece.octree().filter(|_| !piece.placing.is_turned()) else {
            let reason = "volumes are made of voxels, which cannot be turned; write meshes instead".into();
            return Err(ExportError::Format { path: path.to_owned(), reason });
        };
        let voxel = octree.grid.h * piece.placing.scale * space.per_metre;
        let first = octree.grid.origin + (first_cell(&space) + 0.5) * octree.grid.h;
        let length = if kind.is_length { voxel as f32 } else { 1.0 };
        let grid = Grid {
            name: &piece.name(),
            class: kind.class,
            background: kind.far * length,
            voxel,
            origin: space.point(piece.placing.point(first)).to_array(),
            tree: tree_of(&parts_of(octree, kind), kind, length, &space),
        };
        let bytes = tree::grid(&grid, at);
        out.write_all(&bytes).map_err(failed)?;
        at += bytes.len();
    }
    out.flush().map_err(failed)?;
    Ok(Vec::new())
}

/// A cell of an octree's grid on the axes of the file. What is mirrored is counted from -1, so that blocks stay blocks.
fn turned(space: &FileSpace, [x, y, z]: [i32; 3]) -> [i32; 3] {
    match space.axes {
        Axes::YUp => [x, y, z],
        Axes::ZUp => [x, !z, y],
        Axes::YUpLeftHanded => [!x, y, z],
        Axes::ZUpLeftHanded => [x, z, y],
    }
}

/// The cell that [`turned`] turns to 0, 0, 0.
fn first_cell(space: &FileSpace) -> DVec3 {
    match space.axes {
        Axes::YUp | Axes::ZUpLeftHanded => DVec3::ZERO,
        Axes::ZUp => DVec3::NEG_Z,
        Axes::YUpLeftHanded => DVec3::NEG_X,
    }
}

fn parts_of(octree: &Octree, kind: &Kind) -> Parts {
    let forest = &octree.forest;
    let cells = Cells::of(forest, octree.tree as usize);
    let mut parts = Parts::new();
    for i in 0..cells.len() {
        let low = decode(cells.starts.at(i)).map(|v| v as i32);
        match cells.leaves[i] {
            u32::MAX => fill(&mut parts, low, 1 << cells.log_sizes[i]),
            leaf => (kind.add)(&mut parts, low, (&forest.leaves, leaf as usize)),
        }
    }
    parts
}

/// Marks a cube of `size` voxels as inside.
fn fill(parts: &mut Parts, low: [i32; 3], size: i32) {
    let part = size.min(8);
    for n in 0..(size / part).pow(3) {
        let blocks = size / part;
        let block = [n / (blocks * blocks), n / blocks % blocks, n % blocks];
        let low: [i32; 3] = std::array::from_fn(|k| low[k] + part * block[k]);
        let inside = &mut parts.entry(low.map(|v| v >> 3)).or_default().inside;
        if part == 8 {
            *inside = [u64::MAX; VOXELS / 64];
            continue;
        }
        for n in 0..part.pow(3) {
            let k = offset([low[0] + n / (part * part), low[1] + n / part % part, low[2] + n % part]);
            inside[k / 64] |= 1 << (k % 64);
        }
    }
}

fn add_share(parts: &mut Parts, cell: [i32; 3], (leaves, leaf): (&Leaves, usize)) {
    let part = parts.entry(cell.map(|v| v >> 3)).or_default();
    part.values.get_or_insert_with(|| Box::new([0.0; VOXELS]))[offset(cell)] = leaves.coverage[leaf];
}

/// Adds the distances to the planes of a leaf to all voxels near it.
fn add_distances(parts: &mut Parts, cell: [i32; 3], (leaves, leaf): (&Leaves, usize)) {
    let own = (unpack_normal(leaves.normals[leaf]), leaves.colors[leaf].offset());
    let cut = unpack_cut(leaves.cuts[leaf]);
    if own.1.min(cut.map_or(f32::INFINITY, |(_, offset)| offset)) > 0.0 {
        fill(parts, cell, 1);
    }
    // Of two planes only what the other does not take away is surface.
    let is_behind =
        |(n, at): (Vec3, f32), (other, limit): (Vec3, f32)| (n * at).dot(other) <= limit + IN_FRONT;
    let mut planes = vec![own];
    if let Some(cut) = cut {
        match (is_behind(own, cut), is_behind(cut, own)) {
            (false, true) => planes = vec![cut],
            (true, false) => {}
            _ => planes.push(cut),
        }
    }
    let reach = BAND as i32;
    let ends = [cell.map(|v| v - reach), cell.map(|v| v + reach)];
    let [low, high] = ends.map(|end| end.map(|v| v >> 3));
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                let block = [x, y, z];
                let part = parts.entry(block).or_default();
                let values = part.values.get_or_insert_with(|| Box::new([BAND; VOXELS]));
                let range = |k: usize| ends[0][k].max(8 * block[k])..=ends[1][k].min(8 * block[k] + 7);
                for x in range(0) {
                    for y in range(1) {
                        for z in range(2) {
                            let from = [x - cell[0], y - cell[1], z - cell[2]].map(|v| v as f32);
                            let value = &mut values[offset([x, y, z])];
                            *value = planes
                                .iter()
                                .fold(*value, |least, plane| least.min(distance(from.into(), *plane)));
                        }
                    }
                }
            }
        }
    }
}

/// Distance of a point (from the centre of a leaf) to the disc of a plane of the leaf, voxels.
fn distance(from: Vec3, (normal, at): (Vec3, f32)) -> f32 {
    let away = from - normal * at;
    let along = away.dot(normal);
    let across = (away.length_squared() - along * along).max(0.0).sqrt();
    let beyond = (across - RADIUS).max(0.0);
    (along * along + beyond * beyond).sqrt()
}

/// The parts as a file has them, with lengths in its unit.
fn tree_of(parts: &Parts, kind: &Kind, length: f32, space: &FileSpace) -> Tree {
    const OUTSIDE: [u64; VOXELS / 64] = [0; VOXELS / 64];
    const INSIDE: [u64; VOXELS / 64] = [u64::MAX; VOXELS / 64];
    let far = [kind.far; VOXELS];
    let mut tree = Tree::default();
    for (block, part) in parts {
        let first = block.map(|v| 8 * v);
        let place = turned(space, first).map(|v| v >> 3);
        let is_far = part.values.as_ref().is_none_or(|values| values.iter().all(|value| *value == kind.far));
        let content = match part.inside {
            OUTSIDE if is_far => continue,
            // Deep inside a level set nothing is active.
            INSIDE if is_far => Block::Tile {
                value: if kind.is_length { -kind.far * length } else { 1.0 },
                is_active: !kind.is_length,
            },
            _ => {
                let values = part.values.as_deref().unwrap_or(&far);
                Block::Voxels(Box::new(values_of(part, values, (kind, length), (space, first))))
            }
        };
        tree.insert(place, content);
    }
    tree
}

fn values_of(
    part: &Part,
    values: &[f32; VOXELS],
    (kind, length): (&Kind, f32),
    (space, first): (&FileSpace, [i32; 3]),
) -> Values {
    let mut out = Values { values: [0.0; VOXELS], active: [0; VOXELS / 64] };
    for n in 0..VOXELS as i32 {
        let voxel = [first[0] + n / 64, first[1] + n / 8 % 8, first[2] + n % 8];
        let (from, to) = (offset(voxel), offset(turned(space, voxel)));
        let (value, is_inside) = (values[from], part.is_inside(from));
        let (value, is_active) = match (kind.is_length, is_inside) {
            (true, true) => (-value, value < BAND),
            (true, false) => (value, value < BAND),
            (false, true) => (1.0, true),
            (false, false) => (value, value > 0.0),
        };
        out.values[to] = value * length;
        out.active[to / 64] |= u64::from(is_active) << (to % 64);
    }
    out
}
