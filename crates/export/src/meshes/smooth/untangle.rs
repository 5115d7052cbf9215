//! Removes folds: moves vertices so that no face is turned over.
//!
//! Least squares places vertices on the surface but does not keep faces apart: at thin walls and narrow ridges some
//! turn over or intersect. At the corners of the grid none do. So the vertices of a bad face move back towards their
//! corners step by step, until no face is bad.

use std::ops::Range;

use crate::geometry::Aabb;
use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::{
    faces::{Faces, Place, Quad},
    place::{APART, Crossing, between_ends},
    self_intersection::{Columns, touch},
};
use crate::shape::rays::{Ask, Inward};

/// Share of the way to its target that a vertex of a bad face keeps, by how often it was part of one; after that zero.
const KEPT: [f64; 12] = [0.95, 0.92, 0.9, 0.85, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.5, 0.4];
/// Radius round a bad face within which vertices move back with it, by the same count.
const REACH: [i32; 12] = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2];
/// Shares tried for vertices that kept less than the first.
const ADVANCED: [f64; 4] = [0.8, 0.65, 0.5, 0.3];
/// Vertices farther than this from the outside's crossings look for another position, voxels.
const FAR: f64 = 0.65;
/// Shares tried of the way to that position.
const NEARER: [f64; 6] = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85];
/// Rounds after which all vertices stay at their corners.
const ROUNDS: usize = 40;
/// Height of ray origins above a face, as a share of the distance within which no other part lies.
const ABOVE: f64 = 0.3;
/// Narrower triangles have no facing once a file stores their vertices in 32 bits; voxels, and a share of the size.
const FLAT: f64 = 1e-4;
const FLAT_SHARE: f64 = 1e-6;

/// Positions and triangles.
pub struct Untangled {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// The face that each triangle belongs to.
    pub of_face: Vec<u32>,
    /// Number of faces + 1 offsets into `triangles`.
    starts: Vec<u32>,
}

/// Finds positions without folds. `shares` says how far vertices move from `safe` to `targets`; it is reduced where
/// needed. The tests are mainly for touching triangles; rays are used as well once nothing else is left to change.
pub fn untangle(
    faces: &Faces,
    crossings: &[Crossing],
    targets: &mut [DVec3],
    safe: &[DVec3],
    shares: &mut [f64],
    ask_rays: bool,
) -> Untangled {
    let mut folding = Folding::new(faces, crossings, targets, safe, shares);
    let mut asked = folding.not_tame();
    for round in 0.. {
        let mut bad = folding.touching(&asked);
        if bad.is_empty() && ask_rays {
            bad = folding.inward();
        }
        if bad.is_empty() || round > ROUNDS {
            break;
        }
        asked = folding.go_back(&bad, round == ROUNDS);
    }
    if !ask_rays {
        folding.advance();
        folding.draw_near();
    }
    folding.mesh
}

/// The vertices' positions while folds are being removed.
struct Folding<'a> {
    faces: &'a Faces,
    crossings: &'a [Crossing],
    targets: &'a mut [DVec3],
    safe: &'a [DVec3],
    shares: &'a mut [f64],
    /// How often each vertex was part of a bad face.
    times: Vec<u8>,
    mesh: Untangled,
    /// Box of all positions that each face can take.
    columns: Columns,
    /// Least width of triangles and distance of vertices.
    least: f64,
}

impl<'a> Folding<'a> {
    fn new(
        faces: &'a Faces,
        crossings: &'a [Crossing],
        targets: &'a mut [DVec3],
        safe: &'a [DVec3],
        shares: &'a mut [f64],
    ) -> Self {
        let positions: Vec<DVec3> =
            (0..shares.len()).map(|v| safe[v] + shares[v] * (targets[v] - safe[v])).collect();
        let mesh = triangulated(faces, crossings, positions);
        let size = Aabb::of(mesh.positions.iter().copied()).size();
        let least = FLAT.max(FLAT_SHARE * size.max_element());
        let boxes: Vec<Aabb> = faces
            .quads
            .par_iter()
            .map(|quad| {
                let ways = quad.corners.map(|v| v as usize).into_iter();
                let Aabb { low, high } = Aabb::of(ways.flat_map(|v| {
                    let near = on_outside(faces, crossings, v);
                    near.chain([targets[v], safe[v], mesh.positions[v]])
                }));
                // Vertices inside edges are shifted to their side.
                let aside = if quad.has_middles() { APART } else { 0.0 } + least;
                Aabb::new(low - aside, high + aside)
            })
            .collect();
        let columns = Columns::new(&boxes);
        let times = vec![0; shares.len()];
        Self { faces, crossings, targets, safe, shares, times, mesh, columns, least }
    }

    /// Faces with a triangle that must be tested.
    fn not_tame(&self) -> Vec<u32> {
        let tame = tame(self.faces, &self.mesh.positions, &self.mesh.triangles);
        let of_face = self.mesh.of_face.iter();
        let mut out: Vec<u32> = of_face.zip(tame).filter(|(_, tame)| !*tame).map(|(face, _)| *face).collect();
        out.dedup();
        out
    }

    /// The triangles of a face.
    fn parts(&self, face: u32) -> Range<usize> {
        self.mesh.starts[face as usize] as usize..self.mesh.starts[face as usize + 1] as usize
    }

    /// Triangles of these faces that are too narrow, and all triangles that touch one of them.
    fn touching(&self, asked: &[u32]) -> Vec<u32> {
        let (positions, triangles) = (&self.mesh.positions, &self.mesh.triangles);
        let of_face = |face: &u32| {
            let mut bad = Vec::new();
            let own = self.parts(*face);
            for t in own.clone() {
                let corners = triangles[t].map(|v| positions[v as usize]);
                if is_narrow(corners, self.least) {
                    bad.push(t as u32);
                }
            }
            let corners = triangles[own.clone()].iter().flatten().map(|v| positions[*v as usize]);
            let Aabb { low, high } = Aabb::of(corners);
            self.columns.each_near(Aabb::new(low - self.least, high + self.least), |other| {
                for t in own.clone() {
                    for u in self.parts(other) {
                        if t != u && touch(positions, triangles[t], triangles[u], self.least) {
                            bad.extend([t as u32, u as u32]);
                        }
                    }
                }
            });
            bad
        };
        let mut bad: Vec<u32> = asked.par_iter().flat_map_iter(of_face).collect();
        bad.sort_unstable();
        bad.dedup();
        bad
    }

    /// Triangles that face inward according to rays.
    fn inward(&self) -> Vec<u32> {
        let Untangled { positions, triangles, .. } = &self.mesh;
        let inward = Inward { steps: &[ABOVE * self.least], flat: self.least, points: 1 };
        let tame = tame(self.faces, positions, triangles);
        inward.find(positions, triangles, &|t: usize| if tame[t] { Ask::Not } else { Ask::Once }).0
    }

    /// Moves the vertices of bad triangles, or `all`, towards their corners. Returns the changed faces.
    fn go_back(&mut self, bad: &[u32], all: bool) -> Vec<u32> {
        let mut marks = vec![all; self.shares.len()];
        for t in bad {
            let corners = self.mesh.triangles[*t as usize];
            let times = corners.map(|v| usize::from(self.times[v as usize])).into_iter().max();
            let reach = times.and_then(|times| REACH.get(times)).copied().unwrap_or(2);
            for v in corners {
                mark_round(&self.faces.places, self.faces.places[v as usize].corner(), reach, &mut marks);
            }
        }
        let moved: Vec<usize> = (0..marks.len()).filter(|v| marks[*v]).collect();
        for v in &moved {
            let kept = KEPT.get(usize::from(self.times[*v])).copied().unwrap_or(0.0);
            self.shares[*v] *= if all { 0.0 } else { kept };
            self.times[*v] = self.times[*v].saturating_add(1);
        }
        self.update(&moved)
    }

    /// Moves vertices that went far back with others towards their targets again, one by one, as near as possible.
    fn advance(&mut self) {
        for v in 0..self.shares.len() {
            let before = self.shares[v];
            if before > ADVANCED[0] || self.faces.places[v].cycle().is_none() {
                continue;
            }
            for share in ADVANCED.into_iter().filter(|share| *share > before).chain([before]) {
                self.shares[v] = share;
                let changed = self.update(&[v]);
                if share == before || self.touching(&changed).is_empty() {
                    break;
                }
            }
        }
    }

    /// Where outside and cracks meet, moves vertices that had to go far back from the outside to another position near
    /// it.
    fn draw_near(&mut self) {
        for v in 0..self.shares.len() {
            let from_outside =
                |p: DVec3| on_outside(self.faces, self.crossings, v).map(|q| p.distance(q)).reduce(f64::min);
            let (share, target) = (self.shares[v], self.targets[v]);
            let Some(before) = from_outside(self.mesh.positions[v]).filter(|d| *d > FAR) else { continue };
            let back = self.mesh.positions[v];
            let mut others: Vec<DVec3> = on_outside(self.faces, self.crossings, v)
                .flat_map(|q| NEARER.map(|kept| q + kept * (back - q)))
                .collect();
            let distance = |p: &DVec3| from_outside(*p).unwrap_or(before);
            others.retain(|p| distance(p) < before - 0.02);
            others.sort_by(|p, q| distance(p).total_cmp(&distance(q)));
            let mut found = false;
            for other in others {
                (self.shares[v], self.targets[v]) = (1.0, other);
                let changed = self.update(&[v]);
                found = self.touching(&changed).is_empty();
                if found {
                    break;
                }
            }
            if !found {
                (self.shares[v], self.targets[v]) = (share, target);
                self.update(&[v]);
            }
        }
    }

    /// Updates vertices to their shares. Returns the changed faces.
    fn update(&mut self, moved: &[usize]) -> Vec<u32> {
        for v in moved {
            self.mesh.positions[*v] = self.safe[*v] + self.shares[*v] * (self.targets[*v] - self.safe[*v]);
        }
        let mut changed: Vec<u32> = moved.iter().flat_map(|v| self.faces.round(*v)).copied().collect();
        changed.sort_unstable();
        changed.dedup();
        for face in &changed {
            for middle in self.faces.quads[*face as usize].middles {
                if middle != u32::MAX {
                    self.mesh.positions[middle as usize] =
                        between_ends(self.faces, &self.mesh.positions, middle as usize);
                }
            }
        }
        for face in &changed {
            let parts = self.parts(*face);
            let (quad, crossing) = (&self.faces.quads[*face as usize], &self.crossings[*face as usize]);
            triangles_of(quad, crossing, &self.mesh.positions, &mut self.mesh.triangles[parts]);
        }
        changed
    }
}

/// Crossings of the outside in the faces round a vertex, if a crack passes there, too.
fn on_outside<'a>(
    faces: &'a Faces,
    crossings: &'a [Crossing],
    vertex: usize,
) -> impl Iterator<Item = DVec3> + use<'a> {
    let round = faces.round(vertex);
    let is_mixed = round.iter().any(|face| crossings[*face as usize].crack);
    let all = if is_mixed { round } else { &[] };
    all.iter().map(|face| &crossings[*face as usize]).filter(|crossing| !crossing.crack).map(|c| c.point)
}

/// Whether a triangle is narrower than `least`.
fn is_narrow([a, b, c]: [DVec3; 3], least: f64) -> bool {
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a)).sqrt();
    (b - a).cross(c - a).length() <= least * longest
}

/// The triangles of all faces with vertices at these positions, folds included.
pub fn triangulated(faces: &Faces, crossings: &[Crossing], mut positions: Vec<DVec3>) -> Untangled {
    for (v, place) in faces.places.iter().enumerate() {
        if place.cycle().is_none() {
            positions[v] = between_ends(faces, &positions, v);
        }
    }
    let mut starts = Vec::with_capacity(faces.quads.len() + 1);
    let mut count = 0;
    starts.push(0);
    for quad in &faces.quads {
        count += 2 + quad.middles.iter().filter(|m| **m != u32::MAX).count() as u32;
        starts.push(count);
    }
    let mut triangles = vec![[0; 3]; count as usize];
    let mut of_face = vec![0; count as usize];
    for (i, (quad, crossing)) in faces.quads.iter().zip(crossings).enumerate() {
        let parts = starts[i] as usize..starts[i + 1] as usize;
        of_face[parts.clone()].fill(i as u32);
        triangles_of(quad, crossing, &positions, &mut triangles[parts]);
    }
    Untangled { positions, triangles, of_face, starts }
}

/// Vertices this near to their corners stay in their own cells, voxels. Triangles whose vertices lie in separate cells
/// cannot meet.
const OWN_CELL: f64 = 0.5;
/// A triangle and the mean normal round each of its vertices agree within 45 degrees (cosine).
const ALIKE: f64 = 0.7;
/// A triangle of this width is no needle, voxels.
const WIDE: f64 = 0.05;

/// In meshes with fewer triangles all are tested.
const SMALL: usize = 20_000;

/// Whether each triangle needs no test: wide, facing like its neighbours, within its own cells.
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
    let is_near = |(v, p): (usize, &DVec3)| {
        let off = *p - faces.places[v].corner().as_dvec3();
        off.abs().max_element() <= OWN_CELL && faces.is_alone(v)
    };
    let near: Vec<bool> = positions.iter().enumerate().map(is_near).collect();
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
    // A triangle that touches one to be tested is tested, too.
    let mut touched = vec![triangles.len() < SMALL; positions.len()];
    for (t, _) in triangles.iter().zip(&alone).filter(|(_, tame)| !**tame) {
        t.iter().for_each(|v| touched[*v as usize] = true);
    }
    triangles.iter().map(|t| t.iter().all(|v| !touched[*v as usize])).collect()
}

/// Marks the vertices of corners within `reach` along each axis.
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

/// Triangulates a face along the diagonal that turns the triangles least against its plane, then along the shorter one.
fn triangles_of(quad: &Quad, crossing: &Crossing, positions: &[DVec3], out: &mut [[u32; 3]]) {
    let c = quad.corners;
    if quad.has_middles() {
        // A fan from a vertex inside an edge, so that no triangle lies along that edge.
        let ring: Vec<u32> =
            (0..4).flat_map(|k| [c[k], quad.middles[k]]).filter(|v| *v != u32::MAX).collect();
        let first = ring.iter().position(|v| quad.middles.contains(v)).unwrap_or_default();
        let at = |k: usize| ring[(first + k) % ring.len()];
        for (k, triangle) in out.iter_mut().enumerate() {
            *triangle = [at(0), at(k + 1), at(k + 2)];
        }
        return;
    }
    let p = c.map(|v| positions[v as usize]);
    let n = crossing.normal.as_dvec3();
    let normal = |i: usize, j: usize, k: usize| (p[j] - p[i]).cross(p[k] - p[i]).normalize_or_zero();
    let score = |a: DVec3, b: DVec3| a.dot(n).min(b.dot(n)).min(0.3) + 0.2 * a.dot(b);
    let (one, other) = (score(normal(0, 1, 2), normal(0, 2, 3)), score(normal(0, 1, 3), normal(1, 2, 3)));
    let shorter = p[0].distance_squared(p[2]) <= p[1].distance_squared(p[3]);
    let parts = if one > other + 1e-3 || (one >= other - 1e-3 && shorter) {
        [[c[0], c[1], c[2]], [c[0], c[2], c[3]]]
    } else {
        [[c[0], c[1], c[3]], [c[1], c[2], c[3]]]
    };
    out.copy_from_slice(&parts);
}
