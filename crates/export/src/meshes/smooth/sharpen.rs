//! Reconstructs sharp edges of the object.
//!
//! A leaf stores one plane of the object's surface, the mean over the voxel. At an edge or a corner that mean would cut
//! the edge off. Such a leaf takes the planes of the flat leaves round it instead, if the volume that they enclose
//! matches its coverage.

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::{
    bricks::{Bricks, Cell},
    leaves::{Leaf, Plane},
};

/// Leaves with normals within this cosine (8 degrees) lie on one plane, if the distance matches, too.
const SAME: f32 = 0.990;
/// Largest distance of that plane from the other leaf's surface point, voxels.
const SAME_DISTANCE: f64 = 0.15;
/// A leaf is flat if it has this many neighbours on its plane.
const NEIGHBOURS: usize = 3;
/// Flat leaves within 15 degrees belong to one side of an edge.
const ONE_SIDE: f32 = 0.966;
/// Sides of an edge differ by at least 20 degrees.
const EDGE: f32 = 0.94;
/// Largest difference between coverage and the volume that the planes enclose.
const COVERAGE: f32 = 0.04;
/// The same for a leaf in a crack, whose coverage is divided evenly and says little. The mean plane of a right-angled
/// edge or corner differs from its planes by at most a sixth of a voxel in enclosed volume; that of a bevel differs by
/// much more.
const CUT_COVERAGE: f32 = 0.2;
/// Distance within which flat leaves are looked for.
const REACH: i32 = 2;

/// Assigns the planes that meet there to leaves at edges and corners.
pub fn sharpen(bricks: &Bricks, leaves: &mut [Leaf]) {
    let flat: Vec<bool> = leaves.par_iter().map(|leaf| is_flat(bricks, leaves, leaf)).collect();
    let sharper: Vec<Option<Leaf>> = leaves
        .par_iter()
        .enumerate()
        .map(
            |(i, leaf)| {
                if flat[i] || leaf.own()[0].crack { None } else { sharpened(bricks, leaves, &flat, leaf) }
            },
        )
        .collect();
    for (leaf, sharper) in leaves.iter_mut().zip(sharper) {
        if let Some(sharper) = sharper {
            *leaf = sharper;
        }
    }
}

fn around(reach: i32) -> impl Iterator<Item = IVec3> {
    let side = 2 * reach + 1;
    let offsets = (0..side * side * side)
        .map(move |i| IVec3::new(i % side, i / side % side, i / (side * side)) - reach);
    offsets.filter(|offset| *offset != IVec3::ZERO)
}

fn is_flat(bricks: &Bricks, leaves: &[Leaf], leaf: &Leaf) -> bool {
    let plane = leaf.own()[0];
    if plane.crack {
        return false;
    }
    let foot = plane.foot(leaf.at);
    let mut same = 0;
    for offset in around(1) {
        let Cell::Leaf(other) = bricks.cell(leaf.at + offset) else { continue };
        let other = &leaves[other as usize];
        let other_plane = other.own()[0];
        if other_plane.crack {
            continue;
        }
        let away = (other_plane.foot(other.at) - foot).dot(plane.normal.as_dvec3()).abs();
        same += usize::from(other_plane.normal.dot(plane.normal) > SAME && away < SAME_DISTANCE);
        if same >= NEIGHBOURS {
            return true;
        }
    }
    false
}

/// The nearest flat leaves of one side of an edge.
struct Side {
    distance: i32,
    count: f64,
    normal: DVec3,
    foot: DVec3,
}

fn sharpened(bricks: &Bricks, leaves: &[Leaf], flat: &[bool], leaf: &Leaf) -> Option<Leaf> {
    let mut sides: Vec<Side> = Vec::new();
    for offset in around(REACH) {
        let Cell::Leaf(index) = bricks.cell(leaf.at + offset) else { continue };
        if !flat[index as usize] {
            continue;
        }
        let other = &leaves[index as usize];
        let plane = other.own()[0];
        let (normal, foot) = (plane.normal.as_dvec3(), plane.foot(other.at));
        let distance = offset.abs().max_element();
        let side =
            sides.iter_mut().find(|side| (side.normal / side.count).as_vec3().dot(plane.normal) > ONE_SIDE);
        match side {
            Some(side) if side.distance < distance => {}
            Some(side) if side.distance == distance => {
                side.count += 1.0;
                side.normal += normal;
                side.foot += foot;
            }
            Some(side) => *side = Side { distance, count: 1.0, normal, foot },
            None => sides.push(Side { distance, count: 1.0, normal, foot }),
        }
    }
    let middle = leaf.at.as_dvec3() + 0.5;
    let planes: Vec<(Plane, DVec3)> = sides
        .iter()
        .filter_map(|side| {
            let (normal, foot) = (side.normal.normalize_or_zero(), side.foot / side.count);
            let offset = normal.dot(foot - middle);
            let reach = 0.5 * normal.abs().element_sum() + 0.05;
            let plane = Plane { normal: normal.as_vec3(), offset: offset as f32, crack: false };
            (offset.abs() < reach).then_some((plane, foot))
        })
        .collect();
    if !(2..=3).contains(&planes.len()) {
        return None;
    }
    let apart = |a: &Plane, b: &Plane| a.normal.dot(b.normal) < EDGE;
    let all_apart = planes.iter().enumerate().all(|(i, a)| planes[..i].iter().all(|b| apart(&a.0, &b.0)));
    // At a convex edge each side lies behind the other's plane.
    let height = |a: &(Plane, DVec3), b: &(Plane, DVec3)| {
        b.0.normal.as_dvec3().dot(a.1 - middle) - f64::from(b.0.offset)
    };
    let mut heights = planes.iter().enumerate().flat_map(|(i, a)| {
        planes.iter().enumerate().filter(move |(j, _)| *j != i).map(move |(_, b)| height(a, b))
    });
    let first = heights.next()?;
    let hollow = first > 0.0;
    if !all_apart || heights.any(|height| (height > 0.0) != hollow) {
        return None;
    }
    let mut sharper = leaf.clone();
    let only: Vec<Plane> = planes.iter().map(|plane| plane.0).collect();
    sharper.sharpen(&only, hollow);
    let (share, limit) =
        if leaf.cut.is_some() { (leaf.share(), CUT_COVERAGE) } else { (leaf.coverage, COVERAGE) };
    ((sharper.share() - share).abs() < limit).then_some(sharper)
}
