//! Finds neighbouring pieces and the crack area that they share: `bonds.csv`.
//!
//! In: the meshes of pieces in their original places. Out: a row for every pair with crack faces against each other.
//! From sample points on a crack face it looks for the nearest opposite face of another piece; the area is the mean of
//! what both sides find.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc};

use glam::DVec3;
use rayon::prelude::*;

use super::{
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

/// A pair of neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bond {
    /// Ids of the pieces, the lower one first.
    pub pieces: [usize; 2],
    /// Shared crack area, square units of shape space.
    pub area: f64,
    /// Centre of the area, shape space.
    pub centre: DVec3,
    /// Unit normal from the first to the second piece.
    pub normal: DVec3,
    /// Mean distance between the two faces, units of shape space.
    pub gap: f64,
}

/// Sums found from one side of a pair.
#[derive(Clone, Copy, Default)]
struct OneSide {
    area: f64,
    centre: DVec3,
    normal: DVec3,
    gap: f64,
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
        let meshes: Vec<Arc<WrittenMesh>> = own.par_iter().map(|id| what.mesh(*id)).collect();
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
            }
        }
        done += own.len();
        all.extend(joined(&pairs));
    }
    all.sort_by_key(|bond| bond.pieces);
    Ok(all)
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
    }
    parts
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
        Bond {
            pieces: [a as usize, b as usize],
            area: whole * 0.5,
            centre: (one.centre + other.centre) / whole,
            normal: (one.normal - other.normal).normalize_or_zero(),
            gap: (one.gap + other.gap) / whole,
        }
    };
    names.into_iter().map(bond).filter(|bond| bond.area > 0.0).collect()
}

/// Writes `bonds.csv`: areas and positions in the file's units, relative to the first piece of each pair.
///
/// # Errors
/// [`ExportError`].
pub(super) fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<usize, ExportError> {
    let all = bonds(what, watch)?;
    let space = what.handover.table_space();
    let mut text = String::from("a,b,area,gap,centre_x,centre_y,centre_z,normal_x,normal_y,normal_z\n");
    for bond in &all {
        let placing = &what.pieces[bond.pieces[0]].placing;
        let units = placing.scale * space.per_metre;
        let (centre, normal) =
            (space.point(placing.point(bond.centre)), space.direction(placing.rotation * bond.normal));
        let [a, b] = bond.pieces;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{a},{b},{},{},{},{},{},{},{},{}",
            bond.area * units * units,
            bond.gap * units,
            centre.x,
            centre.y,
            centre.z,
            normal.x,
            normal.y,
            normal.z
        );
    }
    std::fs::write(path, text).map_err(|e| ExportError::write(path, e))?;
    Ok(all.len())
}
