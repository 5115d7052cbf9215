//! Finds neighbouring pieces, the crack area that they share, and its second moments.
//!
//! In: the meshes of pieces in their original places. Out: a [`Bond`] for every pair with crack faces against each other.
//! From sample points on a crack face it looks for the nearest opposite face of another piece; the area is the mean of
//! what both sides find.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::bond::{Bond, HeldBond};
use crate::{
    Assembly, ExportError, Watch,
    meshes::{Side, Tagged, TriangleTree, WrittenMesh},
};

/// Distance between sample points on a crack face, voxels.
const STEP: f64 = 2.0;
/// Most sample points along a triangle's side.
const MOST_ALONG: f64 = 24.0;
/// Faces farther apart are not neighbours, voxels: cubes of both sides overlap in the crack's voxel, and dust leaves a
/// gap.
const REACH: f64 = 2.0;
/// Largest cosine between the normals of opposite faces: teeth of rough cracks need not be parallel.
const AGAINST: f64 = -0.3;

/// Sums found from one side of a pair.
#[derive(Clone, Copy)]
struct OneSide {
    area: f64,
    centre: DVec3,
    normal: DVec3,
    gap: f64,
    /// Second moments about the origin.
    second: DMat3,
}

impl Default for OneSide {
    /// Nothing, where a matrix by default would be the identity.
    fn default() -> Self {
        Self { area: 0.0, centre: DVec3::ZERO, normal: DVec3::ZERO, gap: 0.0, second: DMat3::ZERO }
    }
}

/// Neighbouring pieces of each object.
///
/// # Errors
/// [`ExportError::Cancelled`].
pub fn bonds(what: &Assembly, watch: &Watch) -> Result<Vec<Bond>, ExportError> {
    let mut objects: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for piece in &what.pieces {
        objects.entry(piece.object).or_default().push(piece.id);
    }
    let mut all = Vec::new();
    let mut done = 0;
    for own in objects.values() {
        let meshes: Vec<Arc<WrittenMesh>> = own.par_iter().map(|id| what.mesh_without_relief(*id)).collect();
        let crack = |(number, mesh): (usize, &Arc<WrittenMesh>)| -> Vec<Tagged> {
            let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
            let corners = inside.map(|(t, _)| t.map(|i| mesh.positions[i as usize]));
            corners.map(|corners| Tagged { corners, tag: own[number] as u32 }).collect()
        };
        let tree = TriangleTree::new(meshes.iter().enumerate().flat_map(crack).collect());
        drop(meshes);
        let voxel = what.pieces[own[0]].voxel();
        let mut pairs: BTreeMap<(u32, u32), OneSide> = BTreeMap::new();
        // In chunks, so that the user can cancel.
        for some in tree.triangles().chunks(1 << 16) {
            watch.at(done, what.pieces.len())?;
            let said: Vec<Vec<((u32, u32), OneSide)>> =
                some.par_iter().map(|triangle| against(&tree, triangle, voxel, what.gap)).collect();
            for (pair, part) in said.into_iter().flatten() {
                let sum = pairs.entry(pair).or_default();
                sum.area += part.area;
                sum.centre += part.centre;
                sum.normal += part.normal;
                sum.gap += part.gap;
                sum.second += part.second;
            }
        }
        done += own.len();
        all.extend(joined(&pairs));
    }
    Ok(exact(all, what))
}

/// With the sections of structures in place of what meshes show of them, which miss small cracks; by ascending pair.
fn exact(found: Vec<Bond>, what: &Assembly) -> Vec<Bond> {
    let mut all: BTreeMap<[usize; 2], Bond> = found.into_iter().map(|bond| (bond.pieces, bond)).collect();
    for (pieces, HeldBond { section, .. }) in &what.held {
        let bond = all.entry(*pieces).or_insert(Bond { area: section.area, ..Bond::default() });
        *bond = Bond {
            pieces: *pieces,
            centre: section.centre,
            normal: section.normal,
            section: section.area,
            moments: section.moments,
            ..*bond
        };
    }
    all.into_values().collect()
}

/// The pieces opposite to a crack face, with their shares of its area.
fn against(tree: &TriangleTree, triangle: &Tagged, voxel: f64, gap: f64) -> Vec<((u32, u32), OneSide)> {
    let [a, b, c] = triangle.corners;
    let doubled = (b - a).cross(c - a);
    let Some(normal) = doubled.try_normalize() else { return Vec::new() };
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let along = (longest / (STEP * voxel)).ceil().clamp(1.0, MOST_ALONG) as u32;
    let share = doubled.length() * 0.5 / f64::from(along * along);
    let reach = REACH * voxel + gap;
    // All parts of the triangle have the same second moments about their own centres.
    let middle = (a + b + c) / 3.0;
    let own = [a, b, c].map(|corner| outer((corner - middle) / f64::from(along)));
    let own = (own[0] + own[1] + own[2]) * (share / 12.0);
    let mut parts: Vec<((u32, u32), OneSide)> = Vec::new();
    for place in places(triangle.corners, along) {
        let other = tree.nearest(place, reach, |other| {
            let [a, b, c] = other.corners;
            let turned = || (b - a).cross(c - a).normalize_or_zero().dot(normal) < AGAINST;
            other.tag != triangle.tag && turned()
        });
        let Some((squared, other)) = other else { continue };
        let pair = (triangle.tag, other.tag);
        let part = match parts.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, part)) => part,
            None => {
                parts.push((pair, OneSide::default()));
                let Some((_, part)) = parts.last_mut() else { continue };
                part
            }
        };
        part.area += share;
        part.centre += place * share;
        part.normal += normal * share;
        part.gap += squared.sqrt() * share;
        part.second += outer(place) * share + own;
    }
    parts
}

/// The matrix r r^T.
fn outer(r: DVec3) -> DMat3 {
    DMat3::from_cols(r * r.x, r * r.y, r * r.z)
}

/// Centres of the n^2 triangles that result from dividing a triangle's sides into n parts.
fn places([a, b, c]: [DVec3; 3], along: u32) -> impl Iterator<Item = DVec3> {
    let n = f64::from(along);
    (0..along).flat_map(move |row| {
        // Per row: triangles oriented like the whole one, and upside-down ones between them.
        (0..2 * (along - row) - 1).map(move |k| {
            let (column, third) = (f64::from(k / 2), f64::from(1 + k % 2) / 3.0);
            let (u, v) = ((column + third) / n, (f64::from(row) + third) / n);
            a + (b - a) * u + (c - a) * v
        })
    })
}

/// Combines what both sides of each pair found.
fn joined(pairs: &BTreeMap<(u32, u32), OneSide>) -> Vec<Bond> {
    let lower = pairs.keys().map(|(a, b)| (*a.min(b), *a.max(b)));
    let mut names: Vec<(u32, u32)> = lower.collect();
    names.sort_unstable();
    names.dedup();
    let bond = |(a, b): (u32, u32)| {
        let [one, other] = [(a, b), (b, a)].map(|pair| pairs.get(&pair).copied().unwrap_or_default());
        let whole = one.area + other.area;
        let (centre, facing) = ((one.centre + other.centre) / whole, one.normal - other.normal);
        let normal = facing.normalize_or_zero();
        let section = facing.length() * 0.5;
        let about = (one.second + other.second) * whole.recip() - outer(centre);
        let flat = DMat3::IDENTITY - outer(normal);
        Bond {
            pieces: [a as usize, b as usize],
            area: whole * 0.5,
            centre,
            normal,
            // Faces that coincide are rounded apart by some 1e-17.
            gap: Some((one.gap + other.gap) / whole).filter(|gap| *gap > 1e-9 * whole.sqrt()).unwrap_or(0.0),
            section,
            moments: flat * about * flat * section,
        }
    };
    names.into_iter().map(bond).filter(|bond| bond.area > 0.0).collect()
}
