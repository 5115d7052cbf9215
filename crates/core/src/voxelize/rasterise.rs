//! Conservative rasterisation: every cell that a face overlaps, with the exact area, centroid and signed integrals of
//! its parts of the surface.
//!
//! In: faces in grid space. Out: for each touched cell, in Morton order, the data for the inside test and the leaf
//! attributes. Faces are first sorted into bricks of 8^3 cells; a brick fits into the first-level cache and is
//! processed by one thread, so the sums do not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{
    Progress, VoxelizeError,
    polygon::{Polygon, Slabs, cells_of},
    surface::ColorSource,
};
use crate::{
    geometry::set_bits,
    memory::{self, Short},
    svo::{
        Keys, LeafColor,
        morton::{self, Key},
        pack_normal,
    },
};

/// Log2 of a brick's edge in cells.
pub(super) const BRICK_SHIFT: u32 = 3;
/// Number of cells in a brick.
pub(super) const BRICK_CELLS: usize = 512;
/// Limit of leaves, and of (face, brick) pairs: more would not fit into the memory of a common machine.
pub(super) const MOST: usize = 1 << 26;
/// Memory that a leaf needs until its octree is built, bytes: 44 were measured for the statue at level 10.
const LEAF_BYTES: u64 = 50;

/// Kind of a face of the closed surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaceKind {
    /// A triangle of the mesh.
    Mesh,
    /// A triangle that closes a hole.
    Closing,
}

/// A triangle in grid space.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub(super) corners: [[f64; 3]; 3],
    pub(super) normal: [f64; 3],
    /// Index into the mesh's triangles; meaningless for closing faces.
    pub(super) triangle: u32,
    pub(super) kind: FaceKind,
    /// Whether its orientation tells inside from outside; otherwise parity decides.
    pub(super) signed: bool,
}

impl Face {
    /// `None` if the triangle is degenerate, both now and before its corners were snapped to grid planes.
    pub(super) fn new(
        corners: [[f64; 3]; 3],
        before: impl FnOnce() -> [[f64; 3]; 3],
        triangle: u32,
        kind: FaceKind,
    ) -> Option<Self> {
        let (normal, _) = unit_normal(&corners).or_else(|| unit_normal(&before()))?;
        Some(Self { corners, normal, triangle, kind, signed: true })
    }

    fn cells<const A: usize>(&self, last_cell: i32) -> (i32, i32) {
        let [a, b, c] = self.corners.map(|p| p[A]);
        cells_of(a.min(b).min(c), a.max(b).max(c), self.normal[A], last_cell)
    }

    fn dominant_axis(&self) -> usize {
        let n = self.normal.map(f64::abs);
        if n[0] >= n[1] && n[0] >= n[2] {
            0
        } else if n[1] >= n[2] {
            1
        } else {
            2
        }
    }
}

/// Unit normal and area; `None` without area.
pub(super) fn unit_normal(corners: &[[f64; 3]; 3]) -> Option<([f64; 3], f64)> {
    let [a, b, c] = corners.map(glam::DVec3::from_array);
    let cross = (b - a).cross(c - a);
    let length = cross.length();
    (length > 1e-200).then(|| ((cross / length).to_array(), length / 2.0))
}

/// The touched cells by brick.
#[derive(Default)]
pub(super) struct Touched {
    /// Morton codes, ascending.
    pub(super) keys: Keys,
    pub(super) normals: Vec<u32>,
    pub(super) colors: Vec<LeafColor>,
    /// Signed area projected on the yz plane.
    pub(super) area_x: Vec<f32>,
    /// Integral of the distance from the cell's low x plane over that area.
    pub(super) volume_x: Vec<f32>,
    /// Morton code of each brick, ascending.
    pub(super) bricks: Vec<Key>,
    /// Number of bricks + 1 offsets into the arrays above.
    pub(super) brick_start: Vec<u32>,
    /// Indices of cells touched only by closing faces, ascending.
    pub(super) closing: Vec<u32>,
    /// Indices of cells whose normal has no meaningful sign, ascending.
    pub(super) unsigned: Vec<u32>,
}

/// Rasterises `faces` on a grid of `level`. Closing faces must come last, so that they do not change the attributes of
/// cells that the mesh itself touches.
pub(super) fn rasterise(
    faces: &[Face],
    level: u32,
    colors: &ColorSource<'_>,
    progress: &Progress,
) -> Result<Touched, VoxelizeError> {
    let last_cell = last_cell(level);
    let pairs = pair_with_bricks(faces, last_cell, progress)?;
    progress.set(0.25);

    // A task processes several whole bricks.
    let mut starts: Vec<usize> = Vec::new();
    let step = (pairs.len() / (rayon::current_num_threads() * 8)).clamp(256, 1 << 16);
    let mut at = 0;
    while at < pairs.len() {
        starts.push(at);
        let end = (at + step).min(pairs.len());
        let brick = pairs[end - 1] >> 32;
        at = end + pairs[end..].partition_point(|pair| pair >> 32 == brick);
    }
    starts.push(pairs.len());
    let (paired, leaves) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let free = memory::free();
    let room = free.map_or(MOST, |free| MOST.min((free / LEAF_BYTES) as usize));
    let parts: Vec<Touched> = starts
        .par_windows(2)
        .map_init(BrickSums::new, |sums, range| {
            let mut out = Touched::default();
            for run in pairs[range[0]..range[1]].chunk_by(|a, b| a >> 32 == b >> 32) {
                if progress.is_cancelled() || leaves.load(Ordering::Relaxed) > room {
                    break;
                }
                let (before, brick) = (out.keys.len(), (run[0] >> 32) as Key);
                for pair in run {
                    let index = *pair as u32;
                    sums.add(&faces[index as usize], index, brick, last_cell, colors);
                }
                sums.emit(brick, faces, colors, &mut out);
                leaves.fetch_add(out.keys.len() - before, Ordering::Relaxed);
            }
            let done = paired.fetch_add(range[1] - range[0], Ordering::Relaxed) + range[1] - range[0];
            progress.set(0.25 + 0.45 * done as f32 / pairs.len().max(1) as f32);
            out
        })
        .collect();
    progress.go_on().ok_or(VoxelizeError::Cancelled)?;
    let leaves = leaves.into_inner();
    if leaves > MOST {
        return Err(VoxelizeError::TooLarge);
    }
    if let Some(free) = free.filter(|_| leaves > room) {
        // Tasks end early, so the share of the pairs that they have is too large, and the estimate too low.
        let all = leaves as f64 * pairs.len() as f64 / paired.into_inner().max(1) as f64;
        let needed = (all * LEAF_BYTES as f64) as u64;
        return Err(VoxelizeError::Memory(Short { needed: needed.max(free + 1), free }));
    }
    let needed = leaves as u64 * LEAF_BYTES;
    Touched::join(parts).ok_or(VoxelizeError::Memory(Short { needed, free: free.unwrap_or_default() }))
}

/// Highest cell that may contain surface: one free cell stays on the far side (except in a grid of two cells).
pub(super) fn last_cell(level: u32) -> i32 {
    ((1 << level) - 2).max(1)
}

/// (brick << 32 | face), sorted.
fn pair_with_bricks(faces: &[Face], last_cell: i32, progress: &Progress) -> Result<Vec<u64>, VoxelizeError> {
    let total = AtomicUsize::new(0);
    let chunks: Vec<Vec<u64>> = faces
        .par_chunks(4096)
        .enumerate()
        .map(|(chunk, faces)| {
            let mut pairs = Vec::with_capacity(faces.len() * 2);
            for (i, face) in faces.iter().enumerate() {
                if progress.is_cancelled() || total.load(Ordering::Relaxed) > MOST {
                    break;
                }
                let (index, before) = ((chunk * 4096 + i) as u64, pairs.len());
                bricks_of(face, last_cell, |brick| {
                    // Bricks have 27 bits at the finest level.
                    pairs.push(morton::encode(brick) << 32 | index);
                });
                total.fetch_add(pairs.len() - before, Ordering::Relaxed);
            }
            pairs
        })
        .collect();
    let total = total.into_inner();
    progress.go_on().ok_or(VoxelizeError::Cancelled)?;
    if total > MOST {
        return Err(VoxelizeError::TooLarge);
    }
    let mut pairs = Vec::with_capacity(total);
    for chunk in chunks {
        pairs.extend(chunk);
    }
    pairs.par_sort_unstable();
    Ok(pairs)
}

fn bricks_of(face: &Face, last_cell: i32, mut visit: impl FnMut([u32; 3])) {
    let to_bricks = |(first, last): (i32, i32)| (first >> BRICK_SHIFT, last >> BRICK_SHIFT);
    let x = to_bricks(face.cells::<0>(last_cell));
    let y = to_bricks(face.cells::<1>(last_cell));
    let z = to_bricks(face.cells::<2>(last_cell));
    let crossed = [x, y, z].iter().filter(|(first, last)| first != last).count();
    if crossed <= 1 {
        // Every brick of a row between two touched ones is touched.
        for bz in z.0..=z.1 {
            for by in y.0..=y.1 {
                for bx in x.0..=x.1 {
                    visit([bx as u32, by as u32, bz as u32]);
                }
            }
        }
        return;
    }
    let n = face.normal;
    let mut triangle = Polygon::EMPTY;
    triangle.set_triangle(&face.corners);
    let (mut in_y, mut in_z) = (Slabs::NEW, Slabs::NEW);
    in_z.cut::<2>(&triangle, z, BRICK_SHIFT, |bz, slab| {
        if slab.is_empty() {
            return;
        }
        let (low, high) = slab.range::<1>();
        let rows = to_bricks(cells_of(low, high, n[1], last_cell));
        in_y.cut::<1>(slab, rows, BRICK_SHIFT, |by, row| {
            if row.is_empty() {
                return;
            }
            let (low, high) = row.range::<0>();
            let cells = to_bricks(cells_of(low, high, n[0], last_cell));
            for bx in cells.0..=cells.1 {
                visit([bx as u32, by as u32, bz as u32]);
            }
        });
    });
}

/// Sums of one cell.
#[derive(Clone, Copy)]
struct Cell {
    area_x: f64,
    volume_x: f64,
    area: f32,
    area_vector: [f32; 3],
    /// Sum of area times centroid, relative to the cell's low corner.
    moment: [f32; 3],
    /// Sum of area times colour.
    color: [f32; 3],
    /// Area of the largest part, and its face.
    largest: f32,
    face: u32,
    of_mesh: bool,
}

impl Cell {
    const ZERO: Self = Self {
        area_x: 0.0,
        volume_x: 0.0,
        area: 0.0,
        area_vector: [0.0; 3],
        moment: [0.0; 3],
        color: [0.0; 3],
        largest: -1.0,
        face: 0,
        of_mesh: false,
    };
}

/// The sums of one brick, by the low nine bits of the cells' Morton codes.
struct BrickSums {
    cells: Box<[Cell; BRICK_CELLS]>,
    touched: [u64; BRICK_CELLS / 64],
    clipped: [Polygon; 3],
    slabs: [Slabs; 3],
}

impl BrickSums {
    fn new() -> Self {
        Self {
            cells: Box::new([Cell::ZERO; BRICK_CELLS]),
            touched: [0; BRICK_CELLS / 64],
            clipped: [Polygon::EMPTY, Polygon::EMPTY, Polygon::EMPTY],
            slabs: [Slabs::NEW, Slabs::NEW, Slabs::NEW],
        }
    }

    /// Adds the part of `face` in `brick`.
    fn add(&mut self, face: &Face, index: u32, brick: Key, last_cell: i32, colors: &ColorSource<'_>) {
        let low = morton::decode(brick).map(|b| (b << BRICK_SHIFT) as i32);
        let Self { cells, touched, clipped: [a, b, spare], slabs: [in_x, in_y, in_z] } = self;
        let (mut polygon, mut other) = (a, b);
        polygon.set_triangle(&face.corners);
        clip::<0>(face, low[0], last_cell, &mut polygon, &mut other, spare);
        clip::<1>(face, low[1], last_cell, &mut polygon, &mut other, spare);
        clip::<2>(face, low[2], last_cell, &mut polygon, &mut other, spare);
        if polygon.is_empty() {
            return;
        }
        let n = face.normal;
        let axis = face.dominant_axis();
        let within = |(first, last): (i32, i32), low: i32| {
            let end = low + (1 << BRICK_SHIFT) - 1;
            (first.clamp(low, end), last.clamp(low, end))
        };
        let (from, to) = polygon.range::<2>();
        in_z.cut::<2>(polygon, within(cells_of(from, to, n[2], last_cell), low[2]), 0, |z, slab| {
            if slab.is_empty() {
                return;
            }
            let (from, to) = slab.range::<1>();
            in_y.cut::<1>(slab, within(cells_of(from, to, n[1], last_cell), low[1]), 0, |y, row| {
                if row.is_empty() {
                    return;
                }
                let (from, to) = row.range::<0>();
                in_x.cut::<0>(row, within(cells_of(from, to, n[0], last_cell), low[0]), 0, |x, part| {
                    if part.is_empty() {
                        return;
                    }
                    let (area, centroid) = part.area_and_centroid(&n, axis);
                    let local = local_index(x, y, z);
                    touched[local >> 6] |= 1 << (local & 63);
                    let corner = [f64::from(x), f64::from(y), f64::from(z)];
                    add_part(&mut cells[local], (face, index), area, centroid, corner, colors);
                });
            });
        });
    }

    /// Converts the sums to touched cells and clears them.
    fn emit(&mut self, brick: Key, faces: &[Face], colors: &ColorSource<'_>, out: &mut Touched) {
        let before = out.keys.len();
        for word in 0..self.touched.len() {
            for bit in set_bits(std::mem::take(&mut self.touched[word])) {
                let local = word << 6 | bit as usize;
                let cell = std::mem::replace(&mut self.cells[local], Cell::ZERO);
                out.push(brick << (3 * BRICK_SHIFT) | local as Key, &cell, faces, colors);
            }
        }
        if out.keys.len() > before {
            out.bricks.push(brick);
            out.brick_start.push(before as u32);
        }
    }
}

/// Clips `polygon` to the brick that starts at `low` along axis `A`.
fn clip<'a, const A: usize>(
    face: &Face,
    low: i32,
    last_cell: i32,
    polygon: &mut &'a mut Polygon,
    other: &mut &'a mut Polygon,
    spare: &mut Polygon,
) {
    let (first, last) = face.cells::<A>(last_cell);
    if first < low {
        polygon.split::<A>(f64::from(low), spare, other);
        std::mem::swap(polygon, other);
    }
    let end = low + (1 << BRICK_SHIFT);
    if last >= end {
        polygon.split::<A>(f64::from(end), other, spare);
        std::mem::swap(polygon, other);
    }
}

fn to_bytes(color: [f32; 3]) -> [u8; 3] {
    color.map(|c| c.round().clamp(0.0, 255.0) as u8)
}

/// The low nine bits of a cell's Morton code.
pub(super) fn local_index(x: i32, y: i32, z: i32) -> usize {
    const SPREAD: [usize; 8] = [0, 1, 8, 9, 64, 65, 72, 73];
    SPREAD[(x & 7) as usize] | SPREAD[(y & 7) as usize] << 1 | SPREAD[(z & 7) as usize] << 2
}

fn add_part(
    cell: &mut Cell,
    (face, index): (&Face, u32),
    area: f64,
    centroid: [f64; 3],
    corner: [f64; 3],
    colors: &ColorSource<'_>,
) {
    let n = face.normal;
    if face.signed {
        cell.area_x += n[0] * area;
        cell.volume_x += n[0] * area * (centroid[0] - corner[0]);
    }
    if face.kind == FaceKind::Closing && cell.of_mesh {
        return;
    }
    cell.of_mesh = face.kind != FaceKind::Closing;
    let a = area as f32;
    cell.area += a;
    cell.area_vector = std::array::from_fn(|i| cell.area_vector[i] + (n[i] * area) as f32);
    cell.moment = std::array::from_fn(|i| cell.moment[i] + a * (centroid[i] - corner[i]) as f32);
    if a > cell.largest {
        cell.largest = a;
        cell.face = index;
    }
    if colors.varies() && cell.of_mesh {
        let color = colors.at(face, centroid);
        cell.color = std::array::from_fn(|i| cell.color[i] + a * color[i]);
    }
}

impl Touched {
    fn push(&mut self, key: Key, cell: &Cell, faces: &[Face], colors: &ColorSource<'_>) {
        let sum = glam::Vec3::from_array(cell.area_vector);
        let largest = &faces[cell.face as usize];
        // The two sides of a sheet thinner than a voxel cancel, so the largest part's normal is used.
        let normal = if sum.length() > 0.05 * cell.area {
            sum.normalize_or_zero()
        } else {
            glam::DVec3::from_array(largest.normal).as_vec3()
        };
        let weight = if cell.area > 0.0 { 1.0 / cell.area } else { 0.0 };
        let offset = if cell.area > 0.0 {
            normal.dot(glam::Vec3::from_array(cell.moment) * weight - glam::Vec3::splat(0.5))
        } else {
            0.0
        };
        let rgb = if !colors.varies() || !cell.of_mesh {
            colors.of_triangle(largest)
        } else if cell.area > 0.0 {
            to_bytes(cell.color.map(|c| c * weight))
        } else {
            to_bytes(colors.at(largest, largest.corners[0]))
        };
        if !cell.of_mesh {
            self.closing.push(self.keys.len() as u32);
        }
        if !largest.signed {
            self.unsigned.push(self.keys.len() as u32);
        }
        self.keys.push(key);
        self.normals.push(pack_normal(normal));
        self.colors.push(LeafColor::new(rgb, false, offset));
        self.area_x.push(cell.area_x as f32);
        self.volume_x.push(cell.volume_x as f32);
    }

    /// Concatenates the parts. First-touch page faults dominate, so the arrays are filled in parallel.
    /// The parts one after another; `None` without memory for them.
    fn join(parts: Vec<Self>) -> Option<Self> {
        let mut all = Self::default();
        let mut base = 0;
        for part in &parts {
            all.closing.extend(part.closing.iter().map(|i| i + base));
            all.unsigned.extend(part.unsigned.iter().map(|i| i + base));
            all.brick_start.extend(part.brick_start.iter().map(|i| i + base));
            all.bricks.extend_from_slice(&part.bricks);
            base += part.keys.len() as u32;
        }
        all.brick_start.push(base);
        let Self { keys, normals, colors, area_x, volume_x, .. } = &mut all;
        let leaves = base as usize;
        normals.try_reserve_exact(leaves).ok()?;
        colors.try_reserve_exact(leaves).ok()?;
        area_x.try_reserve_exact(leaves).ok()?;
        volume_x.try_reserve_exact(leaves).ok()?;
        rayon::scope(|scope| {
            scope.spawn(|_| {
                keys.reserve(base as usize);
                parts.iter().for_each(|part| keys.extend_from_slice(part.keys.as_slice()));
            });
            scope.spawn(|_| parts.iter().for_each(|part| normals.extend_from_slice(&part.normals)));
            scope.spawn(|_| parts.iter().for_each(|part| colors.extend_from_slice(&part.colors)));
            scope.spawn(|_| parts.iter().for_each(|part| area_x.extend_from_slice(&part.area_x)));
            scope.spawn(|_| parts.iter().for_each(|part| volume_x.extend_from_slice(&part.volume_x)));
        });
        Some(all)
    }
}
