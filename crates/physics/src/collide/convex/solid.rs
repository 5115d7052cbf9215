//! A convex hull, with what separating axes need of it.
//!
//! In: the hull of a shape, body axes from the centre of mass, m. Out: corners, faces and edges. Triangles that lie in
//! one plane are one face, so that a wall has six of them and not twelve.

use crate::{
    shape::{Hull, ShapeHull},
    support::SupportPoints,
};
use glam::DVec3;
use std::collections::BTreeMap;

/// Triangles that leave a plane by no more than this many times that lie in it.
const FLAT: f64 = 2.0;
/// A face of a hull.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Outward, unit.
    pub normal: DVec3,
    /// How far the whole hull reaches along it, m.
    pub reach: f64,
    /// Its corners, counter-clockwise from outside.
    pub corners: Vec<u32>,
}

/// An edge between two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its corners.
    pub ends: [u32; 2],
    /// Its faces.
    pub faces: [u32; 2],
}

/// The convex hull of a body, body axes, from the centre of mass, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solid {
    /// Its corners.
    pub corners: Vec<DVec3>,
    /// `corners`, in groups of four lanes.
    pub lined_up: SupportPoints,
    /// Its faces.
    pub faces: Vec<Face>,
    /// Edges between two faces.
    pub edges: Vec<Edge>,
    /// A place in it.
    pub middle: DVec3,
    /// Radius of a ball round that place within the hull, m.
    pub inner: f64,
}

impl Solid {
    /// That of a shape.
    #[must_use]
    pub fn of(hull: &ShapeHull) -> Self {
        Self::of_hull(&hull.hull, FLAT * hull.rounded)
    }

    /// The hull of points. `None` if they are flat.
    #[cfg(test)]
    #[must_use]
    pub fn through(points: &[DVec3]) -> Option<Self> {
        let through = Hull::through(points, ShapeHull::MOST_CORNERS, [0.0, f64::MAX])?;
        Some(Self::of_hull(&through.hull, 0.0))
    }

    fn of_hull(hull: &Hull, flat: f64) -> Self {
        let regions = Regions::of(hull, flat);
        let mut faces = Vec::new();
        let mut faces_of_side: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for (sum, corners) in regions.faces {
            let normal = sum.normalize_or(DVec3::Y);
            let reach = hull.points.iter().map(|p| p.dot(normal)).fold(f64::MIN, f64::max);
            let next = corners.iter().cycle().skip(1);
            let sides = corners.iter().zip(next).map(|(a, b)| ([*a, *b], faces.len() as u32));
            faces_of_side.extend(sides);
            faces.push(Face { normal, reach, corners });
        }
        let both = |(ends, face): (&[u32; 2], &u32)| {
            let other = faces_of_side.get(&[ends[1], ends[0]])?;
            (ends[0] < ends[1]).then_some(Edge { ends: *ends, faces: [*face, *other] })
        };
        let edges = faces_of_side.iter().filter_map(both).collect();
        let corners = hull.points.clone();
        let middle = corners.iter().sum::<DVec3>() / corners.len().max(1) as f64;
        let below = |face: &Face| face.reach - face.normal.dot(middle);
        let inner = faces.iter().map(below).fold(f64::MAX, f64::min);
        let lined_up = SupportPoints::new(&corners);
        Self { corners, lined_up, faces, edges, middle, inner }
    }

    /// How far a point lies beyond the face that it is farthest out of, m; of a point inside, how far it is to the
    /// nearest face, negative.
    #[must_use]
    pub fn height(&self, p: DVec3) -> f64 {
        self.faces.iter().map(|face| p.dot(face.normal) - face.reach).fold(f64::MIN, f64::max)
    }
}

/// The triangles of a hull, gathered into faces.
struct Regions {
    /// Sum of the triangles' areas times normals, and the loop round them.
    faces: Vec<(DVec3, Vec<u32>)>,
}

impl Regions {
    /// From the largest triangle on, each takes the triangles in its plane that are connected to it.
    fn of(hull: &Hull, flat: f64) -> Self {
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| hull.points[v as usize]);
            (b - a).cross(c - a)
        };
        let normals: Vec<DVec3> = hull.triangles.iter().map(area).collect();
        let mut at_side: BTreeMap<[u32; 2], usize> = BTreeMap::new();
        for (t, [a, b, c]) in hull.triangles.iter().enumerate() {
            at_side.extend([([*a, *b], t), ([*b, *c], t), ([*c, *a], t)]);
        }
        let mut order: Vec<usize> = (0..normals.len()).collect();
        let size = |t: usize| normals[t].length_squared();
        order.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
        let mut taken = vec![false; normals.len()];
        let mut out = Self { faces: Vec::new() };
        for seed in order {
            if std::mem::replace(&mut taken[seed], true) {
                continue;
            }
            let (way, at) =
                (normals[seed].normalize_or_zero(), hull.points[hull.triangles[seed][0] as usize]);
            let lies_in = |t: usize| {
                let near = |v: &u32| (hull.points[*v as usize] - at).dot(way).abs() <= flat;
                normals[t].dot(way) > 0.0 && hull.triangles[t].iter().all(near)
            };
            let mut region = vec![seed];
            let mut next = 0;
            while let Some(&t) = region.get(next) {
                next += 1;
                let [a, b, c] = hull.triangles[t];
                for side in [[b, a], [c, b], [a, c]] {
                    if let Some(&other) = at_side.get(&side)
                        && !taken[other]
                        && lies_in(other)
                    {
                        taken[other] = true;
                        region.push(other);
                    }
                }
            }
            match loop_round(hull, &region) {
                Some(corners) => out.faces.push((region.iter().map(|t| normals[*t]).sum(), corners)),
                // A ring, say: it has no one loop.
                None => {
                    out.faces.extend(region.iter().map(|t| (normals[*t], hull.triangles[*t].to_vec())));
                }
            }
        }
        out
    }
}

/// The corners round some triangles, counter-clockwise, if that is a single loop.
fn loop_round(hull: &Hull, region: &[usize]) -> Option<Vec<u32>> {
    let sides = |t: &usize| {
        let [a, b, c] = hull.triangles[*t];
        [[a, b], [b, c], [c, a]]
    };
    let all: Vec<[u32; 2]> = region.iter().flat_map(sides).collect();
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    let mut count = 0;
    for [a, b] in &all {
        if !all.contains(&[*b, *a]) {
            next.insert(*a, *b);
            count += 1;
        }
    }
    let first = *next.keys().next()?;
    let (mut corners, mut at) = (vec![first], *next.get(&first)?);
    while at != first && corners.len() <= count {
        corners.push(at);
        at = *next.get(&at)?;
    }
    (corners.len() == count).then_some(corners)
}
