//! Faces of a convex polyhedron from its corners and the planes that each lies on (the paper's last part of "Loop").
//!
//! In: the corners of a cell. Out: each corner once, and for every plane with a face the ring of its corners.
//!
//! The paper hands the bare corners to a hull algorithm, which has to find out anew what lies in one plane, and rounds
//! on the way: Bullet's loses 0.02 % of the volume, by which shards no longer fill the object. The cell knows which
//! corners lie on which plane: two planes that share two corners share a side, and the sides of a plane one after
//! another are its face. Two faces thus agree on what is between them, and the shard is closed.
//!
//! Of libraries, parry3d-f64 (34 crates) gives the same volumes to 1e-15, but triangles, whose planes would have to be
//! found again; quickhull has single precision (1e-3 off for 10 sites in a sphere of 5120 triangles), chull fails for
//! some shards (2 of 1000 in a box).
//!
//! # The cells of all sites, each on its own (the paper's "Loop")
//!
//! In: the planes and corners of the object, and sites. Out: shards.
//!
//! # Points that are the same to within a distance
//!
//! Volume, centre and inertia by tetrahedra (the paper's "Stan Melax volume integration", and the inertia it leaves to
//! the engine).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::{
    Beyond, FARTHEST_SITE, Planes, SAME_SITE, Shard, ShatterError, TOUCH,
    cell::{Cell, Corners},
};

/// Corners and faces.
#[derive(Clone, Debug, Default)]
pub(super) struct Polyhedron {
    pub(super) vertices: Vec<DVec3>,
    /// Counter-clockwise from outside, by ascending plane; each begins with its lowest index.
    pub(super) faces: Vec<Vec<u32>>,
    /// Of each face.
    pub(super) planes: Vec<u32>,
}

impl Polyhedron {
    /// `None` where there are fewer than four corners or faces.
    pub(super) fn new(corners: &Corners, outward: impl Fn(u32) -> DVec3) -> Option<Self> {
        let mut own = corners.clone();
        // A plane of fewer than three corners is no face, and a corner of fewer than three faces is none.
        loop {
            let mut all: Vec<u32> = (0..own.len()).flat_map(|c| own.planes_of(c)).copied().collect();
            all.sort_unstable();
            let faces: Vec<u32> =
                all.chunk_by(|a, b| a == b).filter(|same| same.len() >= 3).map(|same| same[0]).collect();
            let mut kept = Corners::default();
            for c in 0..own.len() {
                let on = || own.planes_of(c).iter().copied().filter(|p| faces.binary_search(p).is_ok());
                if on().count() >= 3 {
                    kept.push(own.at[c], on());
                }
            }
            let before = all.len();
            own = kept;
            if own.planes_in_all() == before {
                return Self::of_faces(own, faces, outward);
            }
        }
    }

    fn of_faces(corners: Corners, planes: Vec<u32>, outward: impl Fn(u32) -> DVec3) -> Option<Self> {
        if corners.len() < 4 || planes.len() < 4 {
            return None;
        }
        let sides = sides(&corners);
        let face = |plane: &u32| {
            let own = sides.partition_point(|(p, _)| p < plane)..sides.partition_point(|(p, _)| p <= plane);
            let normal = outward(*plane);
            ring(&sides[own], &corners.at, normal).unwrap_or_else(|| {
                let on = (0u32..).zip(0..corners.len());
                let on = on.filter(|(_, c)| corners.planes_of(*c).binary_search(plane).is_ok());
                about_middle(on.map(|(vertex, _)| vertex).collect(), &corners.at, normal)
            })
        };
        let faces = planes.iter().map(face).collect();
        Some(Self { vertices: corners.at, faces, planes })
    }

    /// Whether every side of a face is a side of one other, the other way round.
    pub(super) fn is_closed(&self) -> bool {
        let next = |ring: &[u32], k: usize| ring[(k + 1) % ring.len()];
        let sides =
            |ring: &'_ Vec<u32>| (0..ring.len()).map(|k| [ring[k], next(ring, k)]).collect::<Vec<_>>();
        let mut all: Vec<[u32; 2]> = self.faces.iter().flat_map(sides).collect();
        all.sort_unstable();
        let once = all.windows(2).all(|pair| pair[0] != pair[1]);
        once && all.iter().all(|[a, b]| all.binary_search(&[*b, *a]).is_ok())
    }

    /// Each face as a fan.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.faces.iter().flat_map(move |face| {
            let at = move |k: usize| self.vertices[face[k] as usize];
            (1..face.len() - 1).map(move |k| [at(0), at(k), at(k + 1)])
        })
    }
}

/// For each plane the sides of its face, as two vertices: those that it shares with one other plane. More than two lie
/// along one line, to within the tolerance.
fn sides(corners: &Corners) -> Vec<(u32, [u32; 2])> {
    let mut ends = Vec::new();
    corners.ends(|_| true, |_| true, &mut ends);
    ends.sort_unstable();
    let at = |v: u32| corners.at[v as usize];
    let mut sides = Vec::new();
    let mut line = Vec::new();
    for edge in ends.chunk_by(|a, b| a.0 == b.0).filter(|edge| edge.len() >= 2) {
        line.clear();
        line.extend(edge.iter().map(|(_, vertex)| *vertex));
        if line.len() > 2 {
            let from = at(line[0]);
            let far = line
                .iter()
                .map(|v| at(*v) - from)
                .fold(DVec3::ZERO, |far, p| if p.length_squared() > far.length_squared() { p } else { far });
            line.sort_by(|a, b| (at(*a) - from).dot(far).total_cmp(&(at(*b) - from).dot(far)));
        }
        for plane in edge[0].0 {
            sides.extend(line.windows(2).map(|ends| (plane, [ends[0].min(ends[1]), ends[0].max(ends[1])])));
        }
    }
    sides.sort_unstable();
    sides.dedup();
    sides
}

/// The sides of a face one after another, if they are one ring.
fn ring(sides: &[(u32, [u32; 2])], vertices: &[DVec3], normal: DVec3) -> Option<Vec<u32>> {
    let first = sides.first()?.1[0];
    let mut ring = vec![first];
    let (mut before, mut now) = (u32::MAX, first);
    loop {
        let mut next = sides.iter().filter_map(|(_, [a, b])| match now {
            _ if now == *a => Some(*b),
            _ if now == *b => Some(*a),
            _ => None,
        });
        let (one, other) = (next.next()?, next.next()?);
        if next.next().is_some() {
            return None;
        }
        let after = if one == before { other } else { one };
        if after == first {
            break;
        }
        ring.push(after);
        (before, now) = (now, after);
        if ring.len() > sides.len() {
            return None;
        }
    }
    if ring.len() < sides.len() {
        return None;
    }
    let at = |k: usize| vertices[ring[k] as usize];
    let area: DVec3 = (1..ring.len() - 1).map(|k| (at(k) - at(0)).cross(at(k + 1) - at(0))).sum();
    if area.dot(normal) < 0.0 {
        ring[1..].reverse();
    }
    Some(ring)
}

/// Vertices of a face counter-clockwise about `normal`, the lowest first: where sides are no ring, in the last resort.
fn about_middle(mut ring: Vec<u32>, vertices: &[DVec3], normal: DVec3) -> Vec<u32> {
    let at = |v: u32| vertices[v as usize];
    let middle = ring.iter().map(|v| at(*v)).sum::<DVec3>() / (ring.len() as f64);
    let first = at(ring[0]) - middle;
    let side = normal.cross(first);
    // Grows with the angle from the first, as the angle itself would, and needs no arc tangent.
    let turn = |v: u32| {
        let from = at(v) - middle;
        let (along, across) = (from.dot(first), from.dot(side));
        let share = along / (along.abs() + across.abs()).max(f64::MIN_POSITIVE);
        if across < 0.0 { 3.0 + share } else { 1.0 - share }
    };
    ring[1..].sort_by(|a, b| turn(*a).total_cmp(&turn(*b)).then(a.cmp(b)));
    ring
}

impl Planes {
    /// Shatters the object into the cells of `sites`; see [`super::shatter`].
    ///
    /// # Errors
    /// [`ShatterError`] where a site is not finite or too far away.
    pub fn shatter(&self, sites: &[DVec3]) -> Result<Vec<Shard>, ShatterError> {
        if let Some(index) = sites.iter().position(|site| !site.is_finite()) {
            return Err(ShatterError::NotFinite { what: "site", index });
        }
        let units: Vec<DVec3> = sites.iter().map(|site| self.frame.to_units(*site)).collect();
        if let Some(site) = units.iter().position(|site| site.abs().max_element() > FARTHEST_SITE) {
            return Err(ShatterError::FarSite { site });
        }
        let firsts = first_within(&units, SAME_SITE);
        let distinct: Vec<usize> = (0..units.len()).filter(|site| firsts[*site] as usize == *site).collect();
        let new_cell = || Cell::new(self.planes.len() + units.len());
        let shard = |cell: &mut Cell, site: &usize| self.shard(*site, &units, &distinct, cell);
        let shards: Vec<Option<Shard>> = distinct.par_iter().map_init(new_cell, shard).collect();
        Ok(shards.into_iter().flatten().collect())
    }

    /// The shard of one site, if it has a cell.
    fn shard(&self, site: usize, sites: &[DVec3], distinct: &[usize], cell: &mut Cell) -> Option<Shard> {
        let outward = |plane: u32| match self.beyond(plane) {
            Beyond::Mesh(index) => self.planes[index].normal,
            Beyond::Site(other) => (sites[other] - sites[site]).normalize_or_zero(),
        };
        let mut solid = None;
        for touch in TOUCH {
            cell.begin(&self.corners, touch);
            self.cut_out(site, sites, distinct, cell);
            solid = Polyhedron::new(&cell.corners, outward);
            if solid.as_ref().is_none_or(Polyhedron::is_closed) {
                break;
            }
        }
        let solid = solid?;
        let mass = Mass::of(&solid);
        if mass.volume <= 0.0 {
            return None;
        }
        let unit = self.frame.unit;
        let cubed = unit * unit * unit;
        Some(Shard {
            site,
            vertices: solid.vertices.iter().map(|p| self.frame.to_object(*p)).collect(),
            faces: solid.faces,
            beyond: solid.planes.into_iter().map(|plane| self.beyond(plane)).collect(),
            volume: mass.volume * cubed,
            centre: self.frame.to_object(mass.centre),
            inertia: mass.inertia * (cubed * unit * unit),
        })
    }

    /// Planes are numbered through: those of the object, then one for each site.
    fn beyond(&self, plane: u32) -> Beyond {
        let plane = plane as usize;
        plane.checked_sub(self.planes.len()).map_or(Beyond::Mesh(plane), Beyond::Site)
    }

    /// Cuts the object by the planes half way to the other sites, nearest first, until none can matter any more.
    fn cut_out(&self, site: usize, sites: &[DVec3], distinct: &[usize], cell: &mut Cell) {
        let own = sites[site];
        // The nearest are taken off a heap: to sort all others, of which a few dozen matter, would take most of the
        // time where there are thousands. Distances are not negative, so their bits have their order.
        let others = distinct.iter().filter(|other| **other != site);
        let mut nearest: BinaryHeap<Reverse<(u64, usize)>> =
            others.map(|other| Reverse((own.distance_squared(sites[*other]).to_bits(), *other))).collect();
        let mut reach = cell.corners.farthest_squared(own);
        while let Some(Reverse((squared, other))) = nearest.pop() {
            let squared = f64::from_bits(squared);
            if squared > self.stop_factor() * reach {
                break;
            }
            #[cfg(test)]
            if self.planted.skips(site, other) {
                continue;
            }
            let normal = (sites[other] - own).normalize_or_zero();
            cell.cut((self.planes.len() + other) as u32, normal, normal.dot((own + sites[other]) * 0.5));
            if cell.corners.len() == 0 {
                return;
            }
            reach = cell.corners.farthest_squared(own);
        }
        #[cfg(test)]
        self.planted.spoil(site, &mut cell.corners);
    }

    /// A site matters up to twice the distance of the farthest corner; squared.
    fn stop_factor(&self) -> f64 {
        #[cfg(test)]
        return self.planted.stop_factor();
        #[cfg(not(test))]
        4.0
    }
}

/// For each point the index of the first one that it is the same as: itself, or one nearer than `distance` that is the
/// same as no earlier.
pub(super) fn first_within(points: &[DVec3], distance: f64) -> Vec<u32> {
    let cell = |p: DVec3| (p / distance).floor().to_array().map(|v| v as i64);
    let mut firsts: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut same = Vec::with_capacity(points.len());
    for (index, point) in (0u32..).zip(points) {
        let [x, y, z] = cell(*point);
        let around = (0..27).flat_map(|k| firsts.get(&[x - 1 + k % 3, y - 1 + k / 3 % 3, z - 1 + k / 9]));
        let is_near = |first: &&u32| points[**first as usize].distance_squared(*point) <= distance * distance;
        let first = around.flatten().filter(is_near).min().copied().unwrap_or(index);
        if first == index {
            firsts.entry([x, y, z]).or_default().push(index);
        }
        same.push(first);
    }
    same
}

/// What a solid weighs at density 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mass {
    pub(super) volume: f64,
    pub(super) centre: DVec3,
    /// About the centre.
    pub(super) inertia: DMat3,
}

impl Mass {
    /// By the tetrahedra between each triangle and a vertex of the solid, so that nothing cancels far from zero.
    pub(super) fn of(solid: &Polyhedron) -> Self {
        let reference = solid.vertices.first().copied().unwrap_or_default();
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for corners in solid.triangles() {
            let [a, b, c] = corners.map(|p| p - reference);
            let part = a.dot(b.cross(c)) / 6.0;
            volume += part;
            let sum = a + b + c;
            first += sum * (part / 4.0);
            // Of a tetrahedron with one corner at zero: all products of two corners, those of a corner with itself
            // once more.
            second += (square(sum) + square(a) + square(b) + square(c)) * (part / 20.0);
        }
        let mean = if volume > 0.0 { first / volume } else { DVec3::ZERO };
        let spread = second - square(mean) * volume;
        let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        Self { volume, centre: reference + mean, inertia: DMat3::from_diagonal(DVec3::splat(trace)) - spread }
    }
}

fn square(p: DVec3) -> DMat3 {
    DMat3::from_cols(p * p.x, p * p.y, p * p.z)
}
