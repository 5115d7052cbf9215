//! The surface within a leaf voxel.
//!
//! # Reconstructs sharp edges of the object
//!
//! A leaf stores one plane of the object's surface, the mean over the voxel. At an edge or a corner that mean would cut
//! the edge off. Such a leaf takes the planes of the flat leaves round it instead, if the volume that they enclose
//! matches its coverage.

use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

use super::bricks::{Bricks, Cell};

/// A plane by its unit normal, which points out of the solid, and its signed distance from the voxel's centre along
/// that normal, voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    pub normal: Vec3,
    pub offset: f32,
    /// Whether it belongs to a crack.
    pub crack: bool,
}

/// A leaf voxel: its solid lies behind its own planes, and behind its cut.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub at: IVec3,
    /// Its plane, or the planes that meet in it if a sharp edge or corner of the object runs through it.
    own: [Plane; 3],
    count: u8,
    /// The solid lies behind any of the planes instead of behind all.
    hollow: bool,
    /// Half thickness of a wall whose two sides lie in the voxel and whose middle is the plane, voxels.
    wall: Option<f32>,
    pub cut: Option<Plane>,
    pub rgb: [u8; 3],
    pub coverage: f32,
}

impl Leaf {
    pub fn new(at: IVec3, plane: Plane, cut: Option<Plane>, rgb: [u8; 3], coverage: f32) -> Self {
        Self { at, own: [plane; 3], count: 1, hollow: false, wall: None, cut, rgb, coverage }
    }

    /// Planes of the object's surface or, in a voxel that was internal, of the crack.
    pub fn own(&self) -> &[Plane] {
        &self.own[..usize::from(self.count)]
    }

    /// Whether a crack passes through the voxel.
    pub fn is_cracked(&self) -> bool {
        self.cut.is_some() || self.own[0].crack
    }

    /// Replaces the mean plane by two or three planes that meet in the voxel.
    pub fn sharpen(&mut self, planes: &[Plane], hollow: bool) {
        self.count = planes.len().min(3) as u8;
        self.own[..usize::from(self.count)].copy_from_slice(&planes[..usize::from(self.count)]);
        self.hollow = hollow;
    }

    /// Marks the plane as the middle of a wall with `half` its thickness on either side.
    pub fn make_wall(&mut self, half: f32) {
        self.wall = Some(half);
    }

    /// Depth of the voxel's centre in the solid; negative outside.
    pub fn depth_of_middle(&self) -> f32 {
        self.outermost().side()
    }

    /// The plane that determines this depth.
    pub fn outermost(&self) -> Plane {
        let deeper = |a: Plane, b: Plane| if b.side() < a.side() { b } else { a };
        let shallower = |a: Plane, b: Plane| if b.side() > a.side() { b } else { a };
        let first = self.own[0];
        if let Some(half) = self.wall {
            let side = first.facing(first.side() < 0.0);
            let own = Plane { offset: side.offset + half, ..side };
            return self.cut.map_or(own, |cut| deeper(own, cut));
        }
        let own =
            self.own().iter().fold(first, |a, b| if self.hollow { shallower(a, *b) } else { deeper(a, *b) });
        self.cut.map_or(own, |cut| deeper(own, cut))
    }

    /// Where a ray from the centre along `direction` leaves the solid, voxels, and through which plane.
    pub fn exit(&self, direction: Vec3) -> Option<(f32, Plane)> {
        let meet = |plane: &Plane| {
            // Only planes that face along the ray count.
            let along = plane.normal.dot(direction);
            (along > GRAZING).then(|| (plane.offset / along, *plane))
        };
        if let Some(half) = self.wall {
            let side = self.own[0].facing(self.own[0].normal.dot(direction) > 0.0);
            let own = Plane { offset: side.offset + half, ..side };
            return meet(&own)
                .into_iter()
                .chain(self.cut.as_ref().and_then(meet))
                .min_by(|a, b| a.0.total_cmp(&b.0));
        }
        let own = self.own().iter().filter_map(meet);
        let by_place = |a: &(f32, Plane), b: &(f32, Plane)| a.0.total_cmp(&b.0);
        let own = if self.hollow { own.max_by(by_place) } else { own.min_by(by_place) };
        own.into_iter().chain(self.cut.as_ref().and_then(meet)).min_by(by_place)
    }

    /// Share of the voxel behind its own planes, sampled on a lattice.
    pub fn share(&self) -> f32 {
        const SIDE: i32 = 10;
        let mut count = 0;
        for i in 0..SIDE * SIDE * SIDE {
            let at = (IVec3::new(i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)).as_vec3() + 0.5) / SIDE as f32
                - 0.5;
            let behind = |plane: &Plane| plane.normal.dot(at) <= plane.offset;
            let solid =
                if self.hollow { self.own().iter().any(behind) } else { self.own().iter().all(behind) };
            count += i32::from(solid);
        }
        count as f32 / (SIDE * SIDE * SIDE) as f32
    }
}

/// Rays within this angle (sine) of a plane do not hit it.
const GRAZING: f32 = 1e-3;

impl Plane {
    /// The offset, but never zero: a plane through the centre counts to one side.
    pub fn side(&self) -> f32 {
        if self.offset != 0.0 {
            return self.offset;
        }
        let [x, y, z] = self.normal.to_array();
        let first = if x != 0.0 {
            x
        } else if y != 0.0 {
            y
        } else {
            z
        };
        if first > 0.0 { f32::MIN_POSITIVE } else { -f32::MIN_POSITIVE }
    }

    /// The same plane, or the opposite one.
    fn facing(self, same: bool) -> Self {
        if same { self } else { Self { normal: -self.normal, offset: -self.offset, ..self } }
    }

    /// The point of the plane nearest to the centre of voxel `at`, grid coordinates.
    pub fn foot(&self, at: IVec3) -> DVec3 {
        at.as_dvec3() + 0.5 + self.normal.as_dvec3() * f64::from(self.offset)
    }
}

/// Share of a unit cube centred at the origin that lies below the plane n . x = offset.
pub fn share_below(normal: Vec3, offset: f64) -> f64 {
    // Mirrored so that its normal is positive; no component may vanish.
    let n = normal.as_dvec3().abs().max(DVec3::splat(1e-4));
    let d = offset + 0.5 * (n.x + n.y + n.z);
    let mut sum = 0.0;
    for corner in 0..8 {
        let mut left = d;
        let mut sign = 1.0;
        for axis in 0..3 {
            if corner >> axis & 1 == 1 {
                left -= n[axis];
                sign = -sign;
            }
        }
        if left > 0.0 {
            sum += sign * left * left * left;
        }
    }
    (sum / (6.0 * n.x * n.y * n.z)).clamp(0.0, 1.0)
}

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
