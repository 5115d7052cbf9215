//! Positions at which no face shows its back.
//!
//! Least squares puts vertices where the surface is, not where faces stay apart: at thin walls and narrow ridges some
//! turn over or pass through each other. At the corners of the grid none do. So vertices of a face that is found turned
//! over go back towards their corners, step by step, until none is.

use glam::{DVec3, IVec3};

use super::{
    faces::{Faces, Place},
    place::{Crossing, between_ends},
};
use crate::export::mesh::rays::{Ask, Inward};

/// Of the way to its target, what a vertex of a bad face keeps in each round.
const KEPT: f64 = 0.6;
/// Rounds after which such vertices stay at their corners.
const PATIENCE: usize = 9;
/// Rounds after which all vertices do.
const ROUNDS: usize = 16;
/// Above a face, voxels.
const STEPS: [f64; 3] = [3e-5, 1e-3, 1e-6];
/// Narrower triangles face nowhere, once a file holds their corners in 32 bits; voxels.
const FLAT: f64 = 1e-4;

/// Positions and triangles.
pub struct Unfolded {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Which face each triangle is a part of.
    pub of_face: Vec<u32>,
}

/// `shares` says how far vertices go from `safe` to `targets`; it is made smaller where needed.
pub fn unfold(
    faces: &Faces,
    crossings: &[Crossing],
    targets: &[DVec3],
    safe: &[DVec3],
    shares: &mut [f64],
) -> Unfolded {
    let count = shares.len();
    let mut moved: Option<Vec<bool>> = None;
    let mut round = 0;
    loop {
        let positions = (0..count).map(|v| safe[v] + shares[v] * (targets[v] - safe[v])).collect();
        let mesh = triangulated(faces, crossings, positions);
        let Unfolded { positions, triangles, .. } = &mesh;
        let inward = Inward { steps: &STEPS, flat: FLAT, points: 1 };
        let tame = tame(faces, positions, triangles);
        let ask = |t: usize| if tame[t] { Ask::Once } else { Ask::Well };
        let near = |t: usize| {
            triangles[t].iter().any(|v| moved.as_ref().is_none_or(|moved: &Vec<bool>| moved[*v as usize]))
        };
        let mut bad = inward.find(positions, triangles, &|t| if near(t) { ask(t) } else { Ask::Not });
        if bad.is_empty() && moved.is_some() {
            bad = inward.find(positions, triangles, &ask);
        }
        if bad.is_empty() || round > ROUNDS {
            return mesh;
        }
        let mut marks = vec![false; count];
        let reach = [0, 0, 1, 1, 1].get(round).copied().unwrap_or(2);
        for t in &bad {
            for v in triangles[*t as usize] {
                mark_round(&faces.places, faces.places[v as usize].corner(), reach, &mut marks);
            }
        }
        for (share, marked) in shares.iter_mut().zip(&marks) {
            if round == ROUNDS {
                *share = 0.0;
            } else if *marked {
                *share = if round < PATIENCE { *share * KEPT } else { 0.0 };
            }
        }
        moved = Some(marks);
        round += 1;
    }
}

/// The triangles of all faces with vertices at these positions, whatever they do to each other.
pub fn triangulated(faces: &Faces, crossings: &[Crossing], mut positions: Vec<DVec3>) -> Unfolded {
    between_ends(faces, &mut positions);
    let (triangles, of_face) = triangulate(faces, crossings, &positions);
    Unfolded { positions, triangles, of_face }
}

/// Vertices this near to their corners keep to the cells that are theirs, voxels.
const OWN_CELL: f64 = 0.5;
/// A triangle and the mean of those round a vertex of it face alike within 45 degrees (cosine).
const ALIKE: f64 = 0.7;
/// A triangle that is this wide is no needle, voxels.
const WIDE: f64 = 0.05;

/// Of smaller meshes no triangle counts as tame: there is time to look at all.
const SMALL: usize = 20_000;

/// Which triangles lie so that nothing is to be feared: wide, facing as their neighbours do, within their own cells.
fn tame(faces: &Faces, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<bool> {
    let crosses: Vec<DVec3> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            (b - a).cross(c - a)
        })
        .collect();
    let mut normals = vec![DVec3::ZERO; positions.len()];
    for (t, cross) in triangles.iter().zip(&crosses) {
        t.iter().for_each(|v| normals[*v as usize] += *cross);
    }
    let is_near =
        |(place, p): (&Place, &DVec3)| (*p - place.corner().as_dvec3()).abs().max_element() <= OWN_CELL;
    let near: Vec<bool> = faces.places.iter().zip(positions).map(is_near).collect();
    let is_tame = |(t, cross): (&[u32; 3], &DVec3)| {
        let area = cross.length();
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
        area * area > WIDE * WIDE * longest
            && t.iter().all(|v| {
                let normal = normals[*v as usize];
                near[*v as usize] && cross.dot(normal) > ALIKE * area * normal.length()
            })
    };
    let alone: Vec<bool> = triangles.iter().zip(&crosses).map(is_tame).collect();
    // Nor is what touches one that is not.
    let mut touched = vec![triangles.len() < SMALL; positions.len()];
    for (t, _) in triangles.iter().zip(&alone).filter(|(_, tame)| !**tame) {
        t.iter().for_each(|v| touched[*v as usize] = true);
    }
    triangles.iter().map(|t| t.iter().all(|v| !touched[*v as usize])).collect()
}

/// Marks the vertices of corners at most `reach` along each axis from one.
fn mark_round(places: &[Place], corner: IVec3, reach: i32, marks: &mut [bool]) {
    for z in -reach..=reach {
        for y in -reach..=reach {
            for x in -reach..=reach {
                let at = corner + IVec3::new(x, y, z);
                if at.min_element() >= 0 {
                    Place::all_of_corner(places, at).for_each(|v| marks[v] = true);
                }
            }
        }
    }
}

/// Triangles of all faces, and which face each belongs to. Of a face's two diagonals the one that turns it least
/// against its plane, then the shorter.
fn triangulate(faces: &Faces, crossings: &[Crossing], positions: &[DVec3]) -> (Vec<[u32; 3]>, Vec<u32>) {
    let mut triangles = Vec::with_capacity(faces.quads.len() * 2);
    let mut of_face = Vec::with_capacity(faces.quads.len() * 2);
    for (i, (quad, crossing)) in faces.quads.iter().zip(crossings).enumerate() {
        let c = quad.corners;
        let before = triangles.len();
        if quad.middles.iter().any(|m| *m != u32::MAX) {
            // A fan from a vertex inside an edge, so that no triangle lies along that edge.
            let ring: Vec<u32> =
                (0..4).flat_map(|k| [c[k], quad.middles[k]]).filter(|v| *v != u32::MAX).collect();
            let first = ring.iter().position(|v| quad.middles.contains(v)).unwrap_or_default();
            let at = |k: usize| ring[(first + k) % ring.len()];
            triangles.extend((1..ring.len() - 1).map(|k| [at(0), at(k), at(k + 1)]));
        } else {
            let p = c.map(|v| positions[v as usize]);
            let n = crossing.normal.as_dvec3();
            let normal = |i: usize, j: usize, k: usize| (p[j] - p[i]).cross(p[k] - p[i]).normalize_or_zero();
            let score = |a: DVec3, b: DVec3| a.dot(n).min(b.dot(n)).min(0.3) + 0.2 * a.dot(b);
            let (one, other) =
                (score(normal(0, 1, 2), normal(0, 2, 3)), score(normal(0, 1, 3), normal(1, 2, 3)));
            let shorter = p[0].distance_squared(p[2]) <= p[1].distance_squared(p[3]);
            if one > other + 1e-3 || (one >= other - 1e-3 && shorter) {
                triangles.extend([[c[0], c[1], c[2]], [c[0], c[2], c[3]]]);
            } else {
                triangles.extend([[c[0], c[1], c[3]], [c[1], c[2], c[3]]]);
            }
        }
        of_face.extend((before..triangles.len()).map(|_| i as u32));
    }
    (triangles, of_face)
}
