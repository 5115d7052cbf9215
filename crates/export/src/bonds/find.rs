//! Finds neighbouring pieces, the crack area that they share, and its second moments.
//!
//! In: the meshes of pieces in their original places. Out: a [`Bond`] for every pair with crack faces against each other.
//! Each sample point of a crack face belongs to the nearest opposite face of another piece ([`CrackFaces`]); the area is
//! the mean of what both sides find.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::bond::{Bond, HeldBond};
use crate::{
    Assembly, ExportError, Watch,
    meshes::{CrackFaces, Tagged, WrittenMesh, places},
    pieces::by_object,
};

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
    let mut all = Vec::new();
    let mut done = 0;
    for own in by_object(&what.pieces).values() {
        let mesh = |id: &usize| (*id, what.mesh_without_relief(*id));
        let meshes: Vec<(usize, Arc<WrittenMesh>)> = own.par_iter().map(mesh).collect();
        let faces = CrackFaces::of(&meshes, what.pieces[own[0]].voxel(), what.gap);
        drop(meshes);
        let mut pairs: BTreeMap<(u32, u32), OneSide> = BTreeMap::new();
        for some in faces.runs() {
            watch.at(done, what.pieces.len())?;
            let said: Vec<Vec<((u32, u32), OneSide)>> =
                some.par_iter().map(|triangle| against(&faces, triangle)).collect();
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
fn against(faces: &CrackFaces, triangle: &Tagged) -> Vec<((u32, u32), OneSide)> {
    let [a, b, c] = triangle.corners;
    let doubled = (b - a).cross(c - a);
    let Some(normal) = doubled.try_normalize() else { return Vec::new() };
    let along = faces.along(triangle);
    let share = doubled.length() * 0.5 / f64::from(along * along);
    // All parts of the triangle have the same second moments about their own centres.
    let middle = (a + b + c) / 3.0;
    let own = [a, b, c].map(|corner| outer((corner - middle) / f64::from(along)));
    let own = (own[0] + own[1] + own[2]) * (share / 12.0);
    let piece = faces.face(triangle).piece;
    let mut parts: Vec<((u32, u32), OneSide)> = Vec::new();
    for place in places(triangle.corners, along) {
        let other = faces.opposite((triangle, Some(normal)), place, faces.reach(), |_| true);
        let Some((squared, other)) = other else { continue };
        let pair = (piece, other.piece);
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
