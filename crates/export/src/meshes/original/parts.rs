//! The parts of an arrangement: connected, closed, each in one region.
//!
//! In: an arrangement. Out: its faces as triangles, each with the part behind it and the part in front; the volumes of
//! the parts. A void belongs to the part whose outside contains it.
//!
//! # Assigns the parts of a cut to pieces
//!
//! In: the parts, and the pieces of the octree. Out: a piece for every part. A part belongs to the piece of its own
//! cell whose voxels contain it. A part in no piece's voxels is thinner than a voxel: it joins the part with which it
//! shares most crack area, just as the octree gives such slivers to the cells around.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::{
    arrange::{Arrangement, Polygon},
    cracks::Cracks,
    meet::Tangle,
    solid::{Point, Solid, UNIT_BITS},
};
use crate::{
    geometry::{UnionFind, polygon::triangulate, triangle::winding_number},
    shape::Octree,
    svo::Octant,
};

/// Marks the outside of the solid, which is no part.
pub const NOTHING: u32 = u32::MAX;

/// A triangle between two parts.
#[derive(Clone, Copy, Debug)]
pub struct PartFace {
    /// Nodes, counter-clockwise seen from the front.
    pub nodes: [u32; 3],
    /// The source triangle, of the solid or of the cracks ([`Parts::normals`]).
    pub source: u32,
    /// Whether it is part of a crack.
    pub is_crack: bool,
    /// Parts behind and in front.
    pub parts: [u32; 2],
    /// Regions behind and in front; [`NOTHING`] is the outside, or dust.
    pub regions: [u32; 2],
}

/// A connected part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its region.
    pub region: u32,
    /// Volume, cubic units of `places`.
    pub volume: f64,
    /// Index of one of its faces.
    pub face: u32,
}

/// All parts of an arrangement.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Node positions, grid units.
    pub in_grid: Vec<DVec3>,
    /// Node positions, shape space.
    pub places: Vec<DVec3>,
    /// Unit normals of the cracks' triangles, which point away from the part behind.
    pub normals: Vec<DVec3>,
    /// Faces between the parts.
    pub faces: Vec<PartFace>,
    /// The parts.
    pub parts: Vec<Part>,
}

/// Triangles of a run, whose faces are in one list.
const RUN: usize = 4096;

/// A projection to the plane of a triangle in which that is counter-clockwise.
fn flattened(corners: [DVec3; 3]) -> impl Fn(DVec3) -> DVec2 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let size = normal.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let turned = normal[axis] < 0.0;
    move |p: DVec3| {
        let p = p - a;
        let (u, v) = (p[(axis + 1) % 3], p[(axis + 2) % 3]);
        if turned { DVec2::new(v, u) } else { DVec2::new(u, v) }
    }
}

fn real(p: Point) -> DVec3 {
    DVec3::from_array(p.map(|v| v as f64))
}

/// The parts of a solid between cracks. `place` gives the positions of crack vertices in shape space. Regions for which
/// `is_dust` holds give no part.
///
/// # Errors
/// [`Tangle`].
pub fn parts(
    arrangement: &Arrangement<'_>,
    solid: &Solid,
    cracks: &Cracks,
    place: impl Fn(DVec3) -> DVec3,
    is_dust: impl Fn(u32) -> bool + Sync,
) -> Result<Parts, Tangle> {
    let points: Vec<DVec3> = solid.points.par_iter().map(|p| real(*p)).collect();
    let crack_points: Vec<DVec3> = cracks.points.iter().map(|p| real(*p)).collect();
    let crack_places: Vec<DVec3> = crack_points.iter().map(|p| place(*p)).collect();
    let between = |a: DVec3, b: DVec3, at: f64| a + (b - a) * at;
    let in_grid = arrangement.places(&points, &crack_points, between);
    let places = arrangement.places(&solid.places, &crack_places, between);

    let of_solid = |t: u32| flattened(solid.triangles[t as usize].map(|i| points[i as usize]));
    let of_crack = |t: u32| flattened(cracks.triangles[t as usize].map(|i| crack_points[i as usize]));
    let inside = arrangement.inside(&|t, node| of_crack(t)(in_grid[node as usize]))?;
    let whole = |polygon: &Polygon, flat: &dyn Fn(DVec3) -> DVec2| -> Vec<[u32; 3]> {
        match polygon.outer.as_slice() {
            [a, b, c] if polygon.holes.is_empty() => vec![[*a, *b, *c]],
            outer => triangulate(outer, &polygon.holes, &|node| flat(in_grid[node as usize]), &|_, _| true),
        }
    };
    // `parts` holds regions until parts are numbered.
    let outside = |source: u32, region: u32, nodes: [u32; 3]| {
        let regions = [region, NOTHING];
        PartFace { nodes, source, is_crack: false, parts: regions, regions }
    };
    let of_run = |run: usize| -> Result<Vec<PartFace>, Tangle> {
        let triangles = run * RUN..solid.triangles.len().min((run + 1) * RUN);
        let mut faces = Vec::with_capacity(triangles.len());
        for (t, corners) in triangles.clone().zip(&solid.triangles[triangles]) {
            let source = t as u32;
            if let Some(region) = arrangement.whole(source) {
                faces.extend((!is_dust(region)).then(|| outside(source, region, *corners)));
                continue;
            }
            let flat = of_solid(source);
            for polygon in arrangement.outside(source, &|node| flat(in_grid[node as usize]), &is_dust)? {
                let nodes = whole(&polygon, &flat);
                faces.extend(nodes.into_iter().map(|nodes| outside(source, polygon.region, nodes)));
            }
        }
        Ok(faces)
    };
    let runs: Vec<Result<Vec<PartFace>, Tangle>> =
        (0..solid.triangles.len().div_ceil(RUN)).into_par_iter().map(of_run).collect();
    let mut faces = Vec::with_capacity(solid.triangles.len() + solid.triangles.len() / 8 + 2 * inside.len());
    for run in runs {
        faces.extend(run?);
    }
    faces.par_extend(inside.par_iter().flat_map_iter(|polygon| {
        let source = polygon.triangle;
        let regions =
            cracks.sides[source as usize].map(|region| if is_dust(region) { NOTHING } else { region });
        let face = move |nodes| PartFace { nodes, source, is_crack: true, parts: regions, regions };
        whole(polygon, &of_crack(source)).into_iter().map(face)
    }));
    let normal = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|i| crack_places[i as usize]);
        (b - a).cross(c - a).normalize_or(DVec3::Y)
    };
    let normals = cracks.triangles.iter().map(normal).collect();
    let mut all = Parts { in_grid, places, normals, faces, parts: Vec::new() };
    all.number(arrangement)?;
    Ok(all)
}

impl Parts {
    /// Appends the parts of another cut of the same solid.
    pub fn append(&mut self, other: Self) {
        let (nodes, parts, faces) =
            (self.places.len() as u32, self.parts.len() as u32, self.faces.len() as u32);
        let normals = self.normals.len() as u32;
        self.normals.extend(other.normals);
        self.in_grid.extend(other.in_grid);
        self.places.extend(other.places);
        self.faces.extend(other.faces.into_iter().map(|face| PartFace {
            nodes: face.nodes.map(|n| n + nodes),
            source: if face.is_crack { face.source + normals } else { face.source },
            parts: face.parts.map(|part| if part == NOTHING { part } else { part + parts }),
            ..face
        }));
        self.parts.extend(other.parts.into_iter().map(|part| Part { face: part.face + faces, ..part }));
    }

    /// Numbers the connected parts in the order of their first faces.
    fn number(&mut self, arrangement: &Arrangement<'_>) -> Result<(), Tangle> {
        // Side 2 f is the back of face f, 2 f + 1 its front.
        let mut sides = UnionFind::new(2 * self.faces.len());
        // Nearly all triangles are whole, and their edges are known.
        let edges = arrangement.edges();
        let mut face_of = vec![NOTHING; edges.of_triangle.len()];
        for (f, face) in self.faces.iter().enumerate().filter(|(_, face)| !face.is_crack) {
            if arrangement.whole(face.source).is_some() {
                face_of[face.source as usize] = f as u32;
            }
        }
        let has_ends = |e: usize, ends: [u32; 2]| edges.list.get(e).is_some_and(|edge| edge.ends == ends);
        let is_known = |e: usize| {
            let edge = &edges.list[e];
            let is_crowded = [e.wrapping_sub(1), e + 1].iter().any(|e| has_ends(*e, edge.ends));
            !is_crowded && edge.triangles.iter().all(|t| face_of[*t as usize] != NOTHING)
        };
        let known: Vec<bool> = (0..edges.list.len()).into_par_iter().map(is_known).collect();
        for (edge, _) in edges.list.iter().zip(&known).filter(|(_, known)| **known) {
            let [a, b] = edge.triangles.map(|t| face_of[t as usize]);
            sides.join(2 * a, 2 * b);
        }
        let is_linked = |f: usize, k: usize| {
            let face = &self.faces[f];
            let is_whole = !face.is_crack && face_of[face.source as usize] == f as u32;
            !is_whole || !known[edges.of_triangle[face.source as usize][k] as usize]
        };
        let mut links: Vec<(u32, u32, u32, u32)> = self
            .faces
            .par_iter()
            .enumerate()
            .flat_map_iter(|(f, face)| {
                (0..2).filter(|side| face.parts[*side] != NOTHING).flat_map(move |side| {
                    (0..3).filter(move |k| is_linked(f, *k)).map(move |k| {
                        let (a, b) = (face.nodes[k], face.nodes[(k + 1) % 3]);
                        (face.parts[side], a.min(b), a.max(b), (2 * f + side) as u32)
                    })
                })
            })
            .collect();
        links.par_sort_unstable();
        for group in links.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
            // Two faces meet at an edge; more, in pairs, if the solid's own edges coincide, or if a bridge repeats a
            // diagonal.
            if group.len() % 2 != 0 {
                return Err(Tangle::Open);
            }
            for pair in group.windows(2) {
                sides.join(pair[0].3, pair[1].3);
            }
        }
        let mut numbers = vec![NOTHING; sides.count()];
        let mut parts: Vec<Part> = Vec::new();
        for f in 0..self.faces.len() {
            for side in 0..2 {
                let region = self.faces[f].parts[side];
                if region == NOTHING {
                    continue;
                }
                let top = sides.find((2 * f + side) as u32) as usize;
                if numbers[top] == NOTHING {
                    numbers[top] = parts.len() as u32;
                    parts.push(Part { region, volume: 0.0, face: f as u32 });
                }
                let number = numbers[top];
                self.faces[f].parts[side] = number;
                let [a, b, c] = self.faces[f].nodes.map(|n| self.places[n as usize] - self.places[0]);
                let volume = a.dot(b.cross(c)) / 6.0;
                parts[number as usize].volume += if side == 0 { volume } else { -volume };
            }
        }
        self.parts = parts;
        self.fill_voids();
        Ok(())
    }

    /// Assigns every void to the part of its region that contains it.
    fn fill_voids(&mut self) {
        let voids: Vec<u32> =
            (0..self.parts.len() as u32).filter(|p| self.parts[*p as usize].volume < 0.0).collect();
        if voids.is_empty() {
            return;
        }
        let mut into: Vec<u32> = (0..self.parts.len() as u32).collect();
        for void in voids {
            let part = self.parts[void as usize];
            let mut holders: Vec<u32> = (0..self.parts.len() as u32)
                .filter(|p| {
                    let other = &self.parts[*p as usize];
                    other.region == part.region && other.volume > 0.0 && other.volume > -part.volume
                })
                .collect();
            holders.sort_by(|a, b| {
                self.parts[*a as usize].volume.total_cmp(&self.parts[*b as usize].volume).then(a.cmp(b))
            });
            let p = self.places[self.faces[part.face as usize].nodes[0] as usize];
            let holder = match holders.as_slice() {
                [] => continue,
                [only] => *only,
                many => many.iter().copied().find(|h| self.holds(*h, p)).unwrap_or(many[many.len() - 1]),
            };
            into[void as usize] = holder;
        }
        // Renumbers the parts without the voids.
        let mut numbers = vec![NOTHING; self.parts.len()];
        let mut kept: Vec<Part> = Vec::new();
        for p in 0..self.parts.len() {
            if into[p] as usize == p {
                numbers[p] = kept.len() as u32;
                kept.push(self.parts[p]);
            }
        }
        for p in 0..self.parts.len() {
            if into[p] as usize != p {
                numbers[p] = numbers[into[p] as usize];
                kept[numbers[p] as usize].volume += self.parts[p].volume;
            }
        }
        for face in &mut self.faces {
            for part in face.parts.iter_mut().filter(|part| **part != NOTHING) {
                *part = numbers[*part as usize];
            }
        }
        self.parts = kept;
    }

    /// Whether a part's outside contains a point, by its winding number.
    fn holds(&self, part: u32, p: DVec3) -> bool {
        let sides = self.faces.iter().flat_map(|face| [(face, 0), (face, 1)]);
        let outward = sides.filter(|(face, side)| face.parts[*side] == part).map(|(face, side)| {
            let [a, b, c] = face.nodes.map(|n| self.places[n as usize]);
            if side == 0 { [a, b, c] } else { [a, c, b] }
        });
        winding_number(outward, p) > 0.5
    }
}

/// A piece that parts can belong to.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// Objects of its cells: one, or several if pieces were merged.
    pub objects: Vec<u32>,
    /// Its octree, or those of all its pieces if it broke again; empty if they are no longer known.
    pub octrees: Vec<Octree>,
}

/// Most nodes of a part that are tested.
const MOST_ASKED: usize = 256;

fn solid_at(octree: &Octree, point: glam::DVec3) -> bool {
    let shift = UNIT_BITS - octree.level();
    let cell = point.to_array().map(|v| (v.max(0.0) as u64 >> shift) as u32);
    !matches!(octree.forest.octant_at(octree.tree as usize, cell), Octant::Empty { .. })
}

/// Evenly sampled nodes of every part.
fn samples(parts: &Parts) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new(); parts.parts.len()];
    for face in &parts.faces {
        for part in face.parts.into_iter().filter(|part| *part != NOTHING) {
            all[part as usize].extend(face.nodes);
        }
    }
    all.par_iter_mut().for_each(|list| {
        list.sort_unstable();
        list.dedup();
        let step = list.len().div_ceil(MOST_ASKED).max(1);
        *list = list.iter().copied().step_by(step).collect();
    });
    all
}

/// For each part, the crack area shared with each neighbour.
fn shared(parts: &Parts) -> Vec<BTreeMap<u32, f64>> {
    let mut all: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); parts.parts.len()];
    for face in parts.faces.iter().filter(|face| face.is_crack) {
        let [a, b] = face.parts;
        if a == NOTHING || b == NOTHING || a == b {
            continue;
        }
        let [p, q, r] = face.nodes.map(|n| parts.places[n as usize]);
        let area = (q - p).cross(r - p).length();
        *all[a as usize].entry(b).or_default() += area;
        *all[b as usize].entry(a).or_default() += area;
    }
    all
}

/// The claim of every part, by index. `None`: it lies in no piece and touches none.
#[must_use]
pub fn assign(parts: &Parts, claims: &[Claim]) -> Vec<Option<u32>> {
    let samples = samples(parts);
    let mut of: Vec<Option<u32>> = Vec::with_capacity(parts.parts.len());
    for (part, nodes) in parts.parts.iter().zip(&samples) {
        let rivals: Vec<u32> =
            (0..claims.len() as u32).filter(|c| claims[*c as usize].objects.contains(&part.region)).collect();
        let votes = |claim: u32| {
            let octrees = &claims[claim as usize].octrees;
            let held = |node: &&u32| octrees.iter().any(|o| solid_at(o, parts.in_grid[**node as usize]));
            nodes.iter().filter(held).count()
        };
        let counted = rivals.iter().map(|c| (votes(*c), *c)).filter(|(count, _)| *count > 0);
        // Of equal counts the first one wins, which is the largest piece.
        let best = counted.max_by_key(|(count, claim)| (*count, std::cmp::Reverse(*claim)));
        let unknown = || rivals.iter().copied().find(|c| claims[*c as usize].octrees.is_empty());
        of.push(best.map(|(_, claim)| claim).or_else(unknown));
    }
    join_slivers(parts, &mut of);
    let largest =
        |region: u32| (0..claims.len() as u32).find(|c| claims[*c as usize].objects.contains(&region));
    for (part, claim) in parts.parts.iter().zip(&mut of) {
        *claim = claim.or_else(|| largest(part.region));
    }
    of
}

/// Assigns parts in no piece to the neighbour with which they share most crack area, until nothing changes.
fn join_slivers(parts: &Parts, of: &mut [Option<u32>]) {
    if of.iter().all(Option::is_some) {
        return;
    }
    let shared = shared(parts);
    loop {
        let mut joins: Vec<(usize, u32)> = Vec::new();
        for part in (0..of.len()).filter(|part| of[*part].is_none()) {
            let known = shared[part].iter().filter_map(|(other, area)| Some((*area, of[*other as usize]?)));
            let mut areas: BTreeMap<u32, f64> = BTreeMap::new();
            known.for_each(|(area, claim)| *areas.entry(claim).or_default() += area);
            let best = areas.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            joins.extend(best.map(|(claim, _)| (part, claim)));
        }
        if joins.is_empty() {
            return;
        }
        for (part, claim) in joins {
            of[part] = Some(claim);
        }
    }
}
