//! Walls thinner than a voxel.
//!
//! If both sides of a wall lie in one voxel, voxelisation stores one plane through the middle of both, with the normal
//! of either side. The coverage of the voxels through the wall gives its thickness.

use rayon::prelude::*;

use super::{
    bricks::{Bricks, Cell},
    leaves::{Leaf, share_below},
};

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
