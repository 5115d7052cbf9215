//! Thinning: decides which voxels of a piece count as solid.
//!
//! An octree contains every voxel that its surface touches, so its boundary lies up to a voxel outside the surface.
//! Leaves whose centre lies outside their planes are removed, outermost first, but only if that does not change the
//! topology (simple points: Bertrand & Malandain 1994, 26-connected solid in 6-connected empty space), and only if
//! solid lies behind them, so that a sheet thinner than a voxel keeps its voxels.

use glam::IVec3;

use super::{bricks::Bricks, leaves::Leaf};

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
