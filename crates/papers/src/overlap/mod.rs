//! The overlap of a pair: collision points, columns, intersection volume and its gradient (Domaradzki & Martyn 2016,
//! sec. 5.1.2 and 5.1.3), on the CPU. `gpu.rs` computes the same in compute passes.
//!
//! In: two bodies, or a body and a plane, and the octree levels of the pair. Out: [`Overlap`]. Everything is computed
//! in cells of the first body's octree, on whose lattice the points are gathered, and returned in world space.
//! `docs/physics.md` lists the differences from the paper, with reasons.

mod descent;
mod gpu;
#[cfg(test)]
mod parity;
mod queries;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use {gpu::layouts, parity::run_every_kernel};

pub use queries::{OverlapQuery, Overlaps};

use self::descent::{At, Descent, LevelTree, Node, cell_of};
use crate::{
    bodies::{
        Body, BodyId, CollisionPoint, Column, Overlap, Plane,
        octrees::{Surfels, cell_size, cells_to_world},
    },
    svo::{morton, pack_normal, unpack_normal},
};
use glam::{DMat3, DMat4, DVec3, IVec3};

/// Columns take no notice of surfaces steeper than this: cosine between the normal and the column.
const LEAST_COSINE: f64 = 0.1;
/// A point belongs to the cell behind it, so that faces on the lattice's own planes do not fall to either
/// side by rounding.
const INWARDS: f64 = 1e-3;
/// Boxes share something if it is wider than this, cells; less is rounding.
const SLIVER: f64 = 1e-3;
/// Two normals whose sum is shorter have no mean direction.
const LEAST_MEAN: f64 = 1e-3;
/// Least weight of a point in the mean of its cell.
const LEAST_WEIGHT: f64 = 1.0 / 1024.0;

/// Two bodies at `levels`.
#[must_use]
pub fn of_bodies(bodies: [&Body; 2], levels: [u32; 2], surfels: [&Surfels; 2]) -> Overlap {
    let shapes = [0, 1].map(|s| LevelTree::new(bodies[s], levels[s], surfels[s]));
    let world_from_cells = [0, 1].map(|s| cells_to_world(bodies[s], levels[s]));
    let a_from_b = world_from_cells[0].inverse() * world_from_cells[1];
    let (half, least_cell) = sizes(&a_from_b);
    let b_from_a = a_from_b.inverse();
    let mut descent = Descent { shapes, a_from_b, b_from_a, half, least_cell, raw: Vec::new() };
    let root =
        |s: usize| At { node: Node::Boundary(bodies[s].def.octree().tree), level: 0, cell: IVec3::ZERO };
    descent.run(root(0), root(1));
    let points = gather(&descent.raw, levels[0]);
    let shapes = descent.shapes;
    // Both ends of one body: the column counts where its middle is inside the other; else, where neither is
    // empty.
    let inside = |middle: DVec3, owners: [u32; 2]| {
        (0..2u32).all(|s| {
            let p = if s == 0 { middle } else { b_from_a.transform_point3(middle) };
            let strict = owners == [1 - s; 2];
            shapes[s as usize].holds(p, strict)
        })
    };
    let size = cell_size(bodies[0], levels[0]);
    let columns = columns(&points, &|_, _, _| None, &inside);
    finish([bodies[0].id, bodies[1].id].map(Some), levels, size, &world_from_cells[0], &points, columns)
}

/// Half the box that a cell of the second body takes up along the axes of the first, and the volume of the
/// smaller body's cell; cells of the first.
fn sizes(a_from_b: &DMat4) -> (DVec3, f64) {
    let turn = DMat3::from_mat4(*a_from_b);
    let half = (turn.x_axis.abs() + turn.y_axis.abs() + turn.z_axis.abs()) * 0.5;
    (half, turn.determinant().abs().min(1.0))
}

/// A body and the half-space behind a plane.
#[must_use]
pub fn of_plane(body: &Body, level: u32, surfels: &Surfels, plane: &Plane) -> Overlap {
    let shape = LevelTree::new(body, level, surfels);
    let world_from_cells = cells_to_world(body, level);
    let size = cell_size(body, level);
    let normal = body.state.rotation.inverse() * plane.normal;
    // In cells: the solid of the plane is normal . p < offset.
    let offset = -plane.distance(world_from_cells.transform_point3(DVec3::ZERO)) / size;
    let mut raw = Vec::new();
    shape.below(body.def.octree().tree, 0, IVec3::ZERO, (normal, offset), &mut raw);
    let points = gather(&raw, level);
    let crossing = |axis: usize, u: f64, v: f64| {
        let along = normal[axis];
        let rest = normal[(axis + 1) % 3] * u + normal[(axis + 2) % 3] * v;
        (along.abs() >= LEAST_COSINE).then(|| ((offset - rest) / along, normal))
    };
    let inside = |middle: DVec3, _: [u32; 2]| normal.dot(middle) < offset && shape.holds(middle, false);
    let columns = columns(&points, &crossing, &inside);
    finish([Some(body.id), None], [level, 0], size, &world_from_cells, &points, columns)
}

/// A point before it is averaged; cells of the first body.
#[derive(Clone, Copy)]
struct Raw {
    p: DVec3,
    n: DVec3,
    owner: u32,
    /// Weight in the mean: the volume that the two cells share, as a share of the smaller.
    weight: f64,
}

/// An averaged point.
#[derive(Clone, Copy, Debug)]
struct Mean {
    cell: IVec3,
    owner: u32,
    /// Whether it is the mean of the points that face away from the lead.
    back: bool,
    p: DVec3,
    n: DVec3,
}

impl Mean {
    /// Identifies it, and orders points of a column at equal heights.
    fn place(&self) -> u64 {
        let key = morton::encode(self.cell.to_array().map(|v| v.max(0) as u32));
        key | u64::from(self.owner) << 62 | u64::from(self.back) << 63
    }

    /// The order in which they are handed over.
    fn order(&self) -> (i32, i32, i32, u32, bool) {
        (self.cell.z, self.cell.y, self.cell.x, self.owner, self.back)
    }
}

/// Weight, then normal: the greatest word is the lead's, in whatever order points come.
fn lead_word(r: &Raw) -> u32 {
    let packed = pack_normal(r.n.as_vec3());
    let weight = (r.weight * 4095.0).round() as u32;
    weight << 20 | (packed >> 6 & 0x3ff) | (packed >> 22 & 0x3ff) << 10
}

fn lead_normal(word: u32) -> DVec3 {
    unpack_normal((word & 0x3ff) << 6 | (word >> 10 & 0x3ff) << 22).as_dvec3()
}

/// Means over the cells of the lattice, weighted by what the two cells share, so that slivers count little. The two
/// surfaces have means of their own: in every shallow contact they lie in one cell, and their common mean would be no
/// surface. So have the two faces of a thin body: points whose normals oppose that of the heaviest point, the lead,
/// have a mean of their own.
fn gather(raw: &[Raw], level: u32) -> Vec<Mean> {
    let last = IVec3::splat((1 << level) - 1);
    let cell = |r: &Raw| cell_of(r.p - r.n * INWARDS).clamp(IVec3::ZERO, last);
    // By z, y, x and owner; levels have at most 16 bits. The index of the point makes every key unique, so that sums
    // are reproducible, and keeps the sorted elements small.
    let key = |r: &Raw| {
        let [x, y, z] = cell(r).to_array().map(|v| v as u64);
        z << 33 | y << 17 | x << 1 | u64::from(r.owner)
    };
    let mut keyed: Vec<(u64, u32)> = raw.iter().zip(0..).map(|(r, number)| (key(r), number)).collect();
    keyed.sort_unstable();
    let mut out = Vec::new();
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        let of_group = || group.iter().map(|(_, number)| &raw[*number as usize]);
        let lead = lead_normal(of_group().map(lead_word).max().unwrap_or(0));
        let Some(first) = of_group().next() else { continue };
        for back in [false, true] {
            let (mut p, mut n, mut weight) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for r in of_group().filter(|r| (r.n.dot(lead) < 0.0) == back) {
                (p, n, weight) = (p + r.p * r.weight, n + r.n * r.weight, weight + r.weight);
            }
            if weight > 0.0 {
                let n = if n.length_squared() < 1e-12 * weight * weight { DVec3::ZERO } else { n };
                let n = n.normalize_or(if back { -lead } else { lead });
                out.push(Mean { cell: cell(first), owner: first.owner, back, p: p / weight, n });
            }
        }
    }
    out
}

/// A stretch, cells.
struct Stretch {
    axis: usize,
    middle: DVec3,
    length: f64,
    owners: [u32; 2],
    normal: DVec3,
}

/// Intersection of a column (axis, and its middle across) with a plane: distance along, and the plane's normal.
type Crossing<'a> = &'a dyn Fn(usize, f64, f64) -> Option<(f64, DVec3)>;

/// A number whose order is the float's, total.
fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Entry and exit in every column (sec. 5.1.3): a point whose normal looks against the column, then one whose
/// normal looks along it, with no other between.
fn columns(
    points: &[Mean],
    crossing: Crossing<'_>,
    inside: &dyn Fn(DVec3, [u32; 2]) -> bool,
) -> Vec<Stretch> {
    let mut out = Vec::new();
    let (mut order, mut met) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        order.clear();
        order.extend(points.iter().zip(0..).filter(|(r, _)| r.n[axis].abs() >= LEAST_COSINE).map(
            |(r, number): (&Mean, u32)| ((r.cell[u], r.cell[v]), (ordered(r.p[axis]), r.place()), number),
        ));
        order.sort_unstable();
        for column in order.chunk_by(|a, b| a.0 == b.0) {
            let [at_u, at_v] = [column[0].0.0, column[0].0.1].map(|cell| f64::from(cell) + 0.5);
            met.clear();
            met.extend(column.iter().map(|(.., number)| {
                let r = &points[*number as usize];
                (r.p[axis], r.n, r.owner)
            }));
            if let Some((at, n)) = crossing(axis, at_u, at_v) {
                let place = met.partition_point(|m| m.0 < at);
                met.insert(place, (at, n, 1));
            }
            let mut entry: Option<(f64, DVec3, u32)> = None;
            for end in met.iter().copied() {
                if end.1[axis] < 0.0 {
                    entry = Some(end);
                } else if let Some(start) = entry.take() {
                    let mut middle = DVec3::ZERO;
                    (middle[axis], middle[u], middle[v]) = (0.5 * (start.0 + end.0), at_u, at_v);
                    let owners = [start.2, end.2];
                    if end.0 > start.0 && inside(middle, owners) {
                        let side = |(_, n, owner): (f64, DVec3, u32)| if owner == 0 { n } else { -n };
                        let both = side(start) + side(end);
                        // The two faces of one plate cancel out.
                        let normal = both
                            .try_normalize()
                            .filter(|_| both.length() > LEAST_MEAN)
                            .unwrap_or(DVec3::AXES[axis]);
                        out.push(Stretch { axis, middle, length: end.0 - start.0, owners, normal });
                    }
                }
            }
        }
    }
    out
}

fn finish(
    ids: [Option<BodyId>; 2],
    levels: [u32; 2],
    cell: f64,
    world_from_cells: &DMat4,
    points: &[Mean],
    stretches: Vec<Stretch>,
) -> Overlap {
    let turned = |v: DVec3| world_from_cells.transform_vector3(v).normalize_or_zero();
    let (mut volumes, mut counts) = ([0.0; 3], [0usize; 3]);
    for s in &stretches {
        volumes[s.axis] += s.length * cell.powi(3);
        counts[s.axis] += 1;
    }
    let best = (0..3).rev().max_by_key(|&k| counts[k]).unwrap_or(0);
    let volume = volumes[best];
    let share = volumes.map(|v| if v > volume { volume / v } else { 1.0 });
    let columns: Vec<Column> = stretches
        .into_iter()
        .map(|s| Column {
            axis: s.axis as u32,
            direction: turned(DVec3::AXES[s.axis]),
            middle: world_from_cells.transform_point3(s.middle),
            length: s.length * cell,
            area: cell * cell * share[s.axis],
            owners: s.owners,
            normal: turned(s.normal),
        })
        .collect();
    let point = |r: &Mean| CollisionPoint {
        position: world_from_cells.transform_point3(r.p),
        normal: turned(r.n),
        owner: r.owner,
    };
    Overlap {
        // A plane is never the first.
        first: ids[0].unwrap_or(BodyId(u32::MAX)),
        second: ids[1],
        levels,
        cell,
        points: points.iter().map(point).collect(),
        gradient: columns.iter().map(|c| c.direction * (c.sign() * c.area)).sum(),
        columns,
        volumes,
        volume,
    }
}
