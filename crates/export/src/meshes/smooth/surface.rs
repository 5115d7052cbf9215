//! The steps from leaves and internal nodes to a closed surface, grid coordinates.
//!
//! # Walls thinner than a voxel
//!
//! If both sides of a wall lie in one voxel, voxelisation stores one plane through the middle of both, with the normal
//! of either side. The coverage of the voxels through the wall gives its thickness.
//!
//! # Thinning: decides which voxels of a piece count as solid
//!
//! An octree contains every voxel that its surface touches, so its boundary lies up to a voxel outside the surface.
//! Leaves whose centre lies outside their planes are removed, outermost first, but only if that does not change the
//! topology (simple points: Bertrand & Malandain 1994, 26-connected solid in 6-connected empty space), and only if
//! solid lies behind them, so that a sheet thinner than a voxel keeps its voxels.
//!
//! # Attributes of a surface's triangles
//!
//! Normals are averaged from the planes of the faces round a vertex, separately for each side and smooth part; colours
//! come from their leaves. The octree has no texture coordinates of the object; those of cracks are metres in the
//! coordinate plane closest to the face.

use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

use super::{
    super::{Corner, Face, PieceMesh, Side, world_uv},
    bricks::{Bricks, Cell},
    faces::Faces,
    leaves::{Leaf, share_below, sharpen},
    place::{Crossing, crossings, place},
    untangle::{Untangled, triangulated, untangle},
};
use crate::svo::Grid;

/// Largest shift of cracks to match a piece's volume, voxels.
const MOST_SHIFT: f64 = 0.1;
/// Iterations of the shift before folds are removed.
const STEPS: usize = 2;
/// If unfolding changed the volume by more than this share, cracks are shifted again, up to `AGAIN` times.
const LOST: f64 = 2e-4;
const AGAIN: usize = 3;

/// An outside face farther than this from its plane does not lie on it, voxels.
const OFF: f64 = 0.6;

/// A closed surface.
pub struct Surface {
    /// The leaves, with planes at sharp edges.
    pub leaves: Vec<Leaf>,
    pub faces: Faces,
    /// Crossing of each face.
    pub crossings: Vec<Crossing>,
    pub mesh: Untangled,
    /// Distance by which cracks were moved outward to match the octree's volume, voxels.
    pub crack_shift: f64,
}

impl Surface {
    /// Builds the surface of leaves and internal nodes (low corner and edge). If `volume` (voxels) is given, cracks are
    /// moved to match it.
    pub fn new(mut leaves: Vec<Leaf>, inside: &[(IVec3, i32)], volume: Option<f64>) -> Self {
        let at: Vec<IVec3> = leaves.iter().map(|leaf| leaf.at).collect();
        let mut bricks = Bricks::new(&at, inside);
        sharpen(&bricks, &mut leaves);
        find_walls(&bricks, &mut leaves);
        thin(&mut bricks, &leaves);
        let faces = Faces::new(&bricks);
        let mut crossings = crossings(&bricks, &leaves, &faces);

        let (mut targets, safe) = place(&bricks, &faces, &crossings, 0.0);
        let mut crack_shift = 0.0;
        let mut shifted = |mesh: &Untangled, least: f64| {
            let shift = shift_for(volume?, mesh, &crossings, crack_shift, least)?;
            crack_shift = shift;
            Some(place(&bricks, &faces, &crossings, shift).0)
        };
        for _ in 0..STEPS {
            let Some(moved) = shifted(&triangulated(&faces, &crossings, targets.clone()), 0.0) else { break };
            targets = moved;
        }
        let mut shares = vec![1.0; targets.len()];
        let mut mesh = untangle(&faces, &crossings, &mut targets, &safe, &mut shares, false);
        for _ in 0..AGAIN {
            let Some(mut moved) = shifted(&mesh, LOST) else { break };
            mesh = untangle(&faces, &crossings, &mut moved, &safe, &mut shares, false);
            targets = moved;
        }
        let mesh = untangle(&faces, &crossings, &mut targets, &safe, &mut shares, true);
        give_to_cracks(&faces, &mut crossings, &mesh);
        Self { leaves, faces, crossings, mesh, crack_shift }
    }
}

/// Turns faces of the outside that do not lie on it into crack faces: slivers beside cracks whose vertices had to move.
fn give_to_cracks(faces: &Faces, crossings: &mut [Crossing], mesh: &Untangled) {
    let is_beside: Vec<bool> = (0..faces.places.len())
        .map(|vertex| faces.round(vertex).iter().any(|face| crossings[*face as usize].crack))
        .collect();
    for (triangle, face) in mesh.triangles.iter().zip(&mesh.of_face) {
        let crossing = &mut crossings[*face as usize];
        let off = |v: u32| (mesh.positions[v as usize] - crossing.foot).dot(crossing.normal.as_dvec3()).abs();
        crossing.crack |= triangle.iter().any(|v| is_beside[*v as usize] && off(*v) > OFF);
    }
}

/// Distance by which cracks should be moved, if the volume of `mesh`, made with the shift `before`, differs from
/// `volume` by more than the share `least`.
fn shift_for(volume: f64, mesh: &Untangled, crossings: &[Crossing], before: f64, least: f64) -> Option<f64> {
    let (mut held, mut cracks) = (0.0, 0.0);
    for (t, face) in mesh.triangles.iter().zip(&mesh.of_face) {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        held += a.dot(b.cross(c)) / 6.0;
        if crossings[*face as usize].crack {
            cracks += 0.5 * (b - a).cross(c - a).length();
        }
    }
    let shift = (before + (volume - held) / cracks).clamp(-MOST_SHIFT, MOST_SHIFT);
    ((volume - held).abs() > least * volume && shift.is_finite() && shift != before).then_some(shift)
}

/// A leaf contains only one side if its coverage equals the volume below its plane within this share of the voxel.
const ONE_SIDED: f64 = 0.04;
/// Most voxels through a wall on either side of one.
const THROUGH: i32 = 2;

/// Finds leaves that contain both sides of a wall, and stores its thickness.
pub fn find_walls(bricks: &Bricks, leaves: &mut [Leaf]) {
    let found: Vec<Option<f32>> =
        leaves.par_iter().map(|leaf| half_thickness(bricks, leaves, leaf)).collect();
    for (leaf, half) in leaves.iter_mut().zip(found) {
        if let Some(half) = half {
            leaf.make_wall(half);
        }
    }
}

fn half_thickness(bricks: &Bricks, leaves: &[Leaf], leaf: &Leaf) -> Option<f32> {
    let [plane] = leaf.own() else { return None };
    // A crack divides coverage evenly, so it says nothing there.
    if plane.crack || leaf.cut.is_some() {
        return None;
    }
    let coverage = f64::from(leaf.coverage);
    let below = share_below(plane.normal, f64::from(plane.offset));
    if (coverage - below).abs() < ONE_SIDED {
        return None;
    }
    let across = plane.normal.abs();
    let axis = if across.x >= across.y && across.x >= across.z {
        0
    } else if across.y >= across.z {
        1
    } else {
        2
    };
    let mut sum = coverage;
    for step in [-1, 1] {
        for far in 1..=THROUGH + 1 {
            let mut at = leaf.at;
            at[axis] += step * far;
            match bricks.cell(at) {
                Cell::Inside => return None,
                Cell::Empty => break,
                Cell::Leaf(_) if far > THROUGH => return None,
                Cell::Leaf(other) => {
                    let other: &Leaf = &leaves[other as usize];
                    if other.cut.is_some() || other.own()[0].crack {
                        return None;
                    }
                    sum += f64::from(other.coverage);
                }
            }
        }
    }
    Some((0.5 * sum * f64::from(across[axis])) as f32)
}

/// Most repetitions over voxels that could not be removed at first.
const ROUNDS: usize = 4;

/// A voxel whose centre lies this far outside contains only a corner of the solid and no part of a sheet, voxels. It
/// would stand out from the surface by more than a voxel.
const FAR: f32 = -0.5;
/// Such a voxel is removed only if more than this many of the 27 voxels round it are solid, so that a crumb stays.
const ENOUGH: u32 = 5;

/// Axes along which a component of the normal is at least this share of the largest one.
const MAIN: f32 = 0.5;

/// Removes voxels outside the surface.
pub fn thin(bricks: &mut Bricks, leaves: &[Leaf]) {
    let mut outside: Vec<(i32, u32)> = leaves
        .iter()
        .enumerate()
        .filter_map(|(i, leaf)| {
            let depth = leaf.depth_of_middle();
            // Rounded to coarser steps than the planes'.
            (depth < 0.0).then_some(((depth * 256.0) as i32, i as u32))
        })
        .collect();
    outside.sort_unstable();
    for _ in 0..ROUNDS {
        let before = outside.len();
        outside.retain(|(_, i)| {
            let leaf = &leaves[*i as usize];
            let around = bricks.around(leaf.at);
            let is_corner = leaf.depth_of_middle() < FAR && around.count_ones() > ENOUGH;
            let goes = (is_corner || has_solid_behind(around, leaf)) && is_simple(around);
            if goes {
                bricks.take(leaf.at);
            }
            !goes
        });
        if outside.len() == before {
            break;
        }
    }
}

fn bit(at: IVec3) -> u32 {
    1 << (at.x + 1 + 3 * (at.y + 1) + 9 * (at.z + 1))
}

fn has_solid_behind(around: u32, leaf: &Leaf) -> bool {
    let normal = leaf.outermost().normal;
    let most = normal.abs().max_element();
    (0..3).any(|axis| {
        let mut step = IVec3::ZERO;
        step[axis] = if normal[axis] > 0.0 { -1 } else { 1 };
        normal[axis].abs() >= MAIN * most && around & bit(step) != 0
    })
}

const MIDDLE: u32 = 1 << 13;

/// For each of the 27 positions, bit masks of those that share a face with it, and of all that touch it.
const TOUCHING: [(u32, u32); 27] = {
    let mut table = [(0, 0); 27];
    let mut i = 0;
    while i < 27 {
        let mut j = 0;
        while j < 27 {
            let (dx, dy, dz) = (i % 3 - j % 3, i / 3 % 3 - j / 3 % 3, i / 9 - j / 9);
            let (x, y, z) = (dx * dx, dy * dy, dz * dz);
            if x <= 1 && y <= 1 && z <= 1 && i != j {
                table[i as usize].1 |= 1 << j;
                if x + y + z == 1 {
                    table[i as usize].0 |= 1 << j;
                }
            }
            j += 1;
        }
        i += 1;
    }
    table
};

/// Bit masks of the positions that share a face with the centre, and that share a face or an edge.
const FACES: u32 = TOUCHING[13].0;
const FACES_AND_EDGES: u32 = {
    let mut bits = 0;
    let mut i = 0i32;
    while i < 27 {
        let (x, y, z) = (i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
        let squares = x * x + y * y + z * z;
        if squares == 1 || squares == 2 {
            bits |= 1 << i;
        }
        i += 1;
    }
    bits
};

/// Whether the centre of 27 voxels, of which `around` are solid, is a simple point: without it the solid round it is
/// connected, and so is the empty space.
fn is_simple(around: u32) -> bool {
    let solid = around & !MIDDLE;
    if solid == 0 || flood(solid & solid.wrapping_neg(), solid, |i| TOUCHING[i].1) != solid {
        return false;
    }
    let empty = !around & FACES_AND_EDGES;
    let beside = empty & FACES;
    beside != 0 && flood(beside & beside.wrapping_neg(), empty, |i| TOUCHING[i].0) & beside == beside
}

fn flood(start: u32, within: u32, touching: impl Fn(usize) -> u32) -> u32 {
    let (mut found, mut fresh) = (start, start);
    while fresh != 0 {
        let i = fresh.trailing_zeros() as usize;
        let next = touching(i) & within & !found;
        found |= next;
        fresh = fresh & (fresh - 1) | next;
    }
    found
}

/// Faces whose planes differ by less than 37 degrees (cosine) are shaded smoothly.
const CREASE: f32 = 0.8;

/// Default colour, sRGB.
const CLAY: [u8; 3] = [176, 160, 140];

/// Converts a surface on `grid` to a mesh in shape space.
pub fn with_attributes(surface: &Surface, grid: &Grid) -> PieceMesh {
    let positions: Vec<DVec3> = surface.mesh.positions.iter().map(|p| grid.origin + grid.h * *p).collect();
    let triangles = surface.mesh.triangles.clone();
    let of_face = &surface.mesh.of_face;
    let side =
        |crossing: &Crossing| if crossing.crack { Side::Inside } else { Side::Outside { material: 0 } };
    let faces = of_face.iter().map(|f| Face { side: side(&surface.crossings[*f as usize]), beyond: None });
    let corners = triangles
        .par_iter()
        .zip(of_face)
        .map(|(triangle, face)| {
            let crossing = &surface.crossings[*face as usize];
            triangle.map(|v| {
                let (normal, color) = shown(surface, v as usize, crossing);
                let uv =
                    if crossing.crack { world_uv(positions[v as usize], crossing.normal) } else { [0.0; 2] };
                Corner { normal, color, uv, uv2: [0.0; 2] }
            })
        })
        .collect();
    PieceMesh { faces: faces.collect(), corners, positions, triangles }
}

/// Normal and colour of a face at one of its vertices.
fn shown(surface: &Surface, vertex: usize, own: &Crossing) -> (Vec3, [u8; 3]) {
    let (mut normal, mut sum, mut count) = (Vec3::ZERO, [0u32; 3], 0);
    for face in surface.faces.round(vertex) {
        let crossing = &surface.crossings[*face as usize];
        if crossing.crack != own.crack {
            continue;
        }
        if crossing.normal.dot(own.normal) > CREASE {
            normal += crossing.normal;
        }
        if let Some(leaf) = surface.leaves.get(crossing.leaf as usize) {
            sum.iter_mut().zip(leaf.rgb).for_each(|(sum, part)| *sum += u32::from(part));
            count += 1;
        }
    }
    let color = if count == 0 { CLAY } else { sum.map(|part| ((part + count / 2) / count) as u8) };
    (normal.normalize_or(own.normal), color)
}
