//! A convex hull, with what separating axes need of it.
//!
//! In: the hull of a shape, body axes from the centre of mass, m. Out: corners, faces and edges. Triangles that lie in
//! one plane are one face, so that a wall has six of them and not twelve.
//!
//! # How well a body fits its convex hull
//!
//! In: a body that is an octree or a mesh. Out: whether its hull contains it, with nothing sticking out by more than the
//! contact margin, and whether all of the body's surface lies that near to the hull. Then hull and octree give the same
//! contacts, and the hull has tens of corners only; the hull of a convex shard of a mesh is the shard. For a hollow body
//! hull and octree agree wherever the hull is the body's surface (`mixed/verified_hulls.rs`). A hull whose corners had to
//! be chosen twice is used only for thick bodies whose whole surface it is.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::{
    BodyDef,
    shape::{Geometry, Hull, ShapeHull},
    support::SupportPoints,
    svo::leaf_sample,
};

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

/// Uneven bodies thinner than this, cells, use no hull.
const THICK_CELLS: f64 = 2.0;

/// How a body fits its hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HullFit {
    /// All of its surface lies near the hull's.
    Tight,
    /// Nothing sticks out, but something is hollow.
    Enclosing,
}

/// How a body fits its hull to `tolerance` m; for meshes, and for octrees that are no crumbs. `None` if something sticks
/// out.
#[must_use]
pub fn fit(def: &BodyDef, tolerance: f64) -> Option<HullFit> {
    let shape = &*def.shape;
    let (place, hull) = (shape.body_from_local(), shape.convex_hull());
    // Shells that used such hulls lay half a cell deep seven times as often.
    if hull.is_uneven && def.thickness() < THICK_CELLS * def.resolution_m() {
        return None;
    }
    let solid = Solid::of(hull);
    // Points no farther from the hull than `beyond` lie beyond no side of it by more.
    let sticks_out = |p: DVec3| hull.beyond > tolerance && solid.height(p) > tolerance;
    let is_tight = match shape.geometry() {
        // The samples of so few voxels say little, and their hull is that of the voxels.
        Geometry::Octree(_) if def.is_crumb() => return None,
        Geometry::Octree(octree) => {
            let samples =
                || octree.leaves().map(|leaf| place(leaf_sample(&octree.forest, leaf).0.as_dvec3()));
            if samples().any(sticks_out) {
                return None;
            }
            all_are_near(&solid, samples(), tolerance)
        }
        Geometry::Mesh(mesh) => {
            if mesh.vertices().map(place).any(sticks_out) {
                return None;
            }
            let corners = mesh.surface().corners_of_triangles();
            let mut triangles = corners.map(|triangle| triangle.map(|p| place(mesh.to_local(p))));
            triangles.all(|triangle| is_all_near(&solid, triangle, tolerance))
        }
        Geometry::Convex(_) => return None,
    };
    match is_tight {
        true => Some(HullFit::Tight),
        // Large bent pieces that used such hulls and octrees in turn sank four cells deep into each other.
        false => (!hull.is_uneven).then_some(HullFit::Enclosing),
    }
}

/// A triangle smaller than this share of the tolerance is near a hull where its corners are.
const SMALL: f64 = 0.5;

/// Whether no point of a triangle lies deeper in a hull than `tolerance`. The depth below one side is an affine function, so
/// a triangle whose corners lie near one side is near it as a whole; other triangles are halved.
fn is_all_near(hull: &Solid, triangle: [DVec3; 3], tolerance: f64) -> bool {
    let is_near = |p: DVec3, face: &Face| p.dot(face.normal) - face.reach >= -tolerance;
    let mut open = vec![triangle];
    while let Some([a, b, c]) = open.pop() {
        if hull.faces.iter().any(|face| [a, b, c].iter().all(|p| is_near(*p, face))) {
            continue;
        }
        if ![a, b, c].iter().all(|p| hull.faces.iter().any(|face| is_near(*p, face))) {
            return false;
        }
        // The longest edge comes first.
        let turned = [[a, b, c], [b, c, a], [c, a, b]];
        let [a, b, c] = turned.into_iter().max_by(|s, t| length(s).total_cmp(&length(t))).unwrap_or(triangle);
        if length(&[a, b, c]) > SMALL * tolerance {
            let middle = 0.5 * (a + b);
            open.extend([[a, middle, c], [middle, b, c]]);
        }
    }
    true
}

/// Length of a triangle's first edge.
fn length([a, b, _]: &[DVec3; 3]) -> f64 {
    a.distance(*b)
}

/// Whether no point lies deeper in a hull than `tolerance`.
fn all_are_near(hull: &Solid, mut points: impl Iterator<Item = DVec3>, tolerance: f64) -> bool {
    let is_near = |p: DVec3, face: &Face| p.dot(face.normal) - face.reach >= -tolerance;
    // Neighbouring points are mostly near the same side.
    let mut last = 0;
    points.all(|p| {
        let near = hull.faces.get(last).is_some_and(|face| is_near(p, face)).then_some(last);
        let near = near.or_else(|| hull.faces.iter().position(|face| is_near(p, face)));
        last = near.unwrap_or(last);
        near.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        shape::{Look, Shape},
        testing::{ball, block, body, cuboid, grid},
    };
    use glam::Vec3;
    use kintsugi_core::mesh::Mesh;
    use std::sync::Arc;

    /// Points on a cube of two metres, `n` squared a side, with a pit in one of them, `pit` m deep.
    fn cube(n: u32, pit: f64) -> Vec<DVec3> {
        let at = |k: u32| 2.0 * f64::from(k) / f64::from(n - 1) - 1.0;
        let side = |axis: usize, z: f64| {
            (0..n * n).map(move |k| {
                let (x, y) = (at(k % n), at(k / n));
                let dent = if axis == 2 && z > 0.0 { pit * (1.0 - x * x) * (1.0 - y * y) } else { 0.0 };
                DVec3::from_array(std::array::from_fn(|a| [z - dent, x, y][(a + 3 - axis) % 3]))
            })
        };
        (0..3).flat_map(|axis| [-1.0, 1.0].into_iter().flat_map(move |z| side(axis, z))).collect()
    }

    #[test]
    fn a_pit_may_be_as_deep_as_the_tolerance() {
        let hull = Solid::through(&cube(9, 0.0)).expect("a cube");
        for (pit, near) in [(0.0, true), (0.09, true), (0.11, false), (1.0, false)] {
            assert_eq!(all_are_near(&hull, cube(41, pit).into_iter(), 0.1), near, "{pit}");
        }
    }

    #[test]
    fn what_is_round_sticks_out_and_what_is_flat_is_close() {
        let fit_of = |forest, level, tolerance| {
            fit(&body(&Arc::new(forest), 0, grid(level, 1.0), level, DVec3::ZERO), tolerance / 64.0)
        };
        let round = || ball(6, Vec3::splat(32.0), 28.0);
        assert_eq!(fit_of(round(), 6, 0.5), None);
        assert_eq!(fit_of(round(), 6, 4.0), Some(HullFit::Tight));
        assert_eq!(fit_of(block(6, [4; 3], [60; 3]), 6, 0.5), Some(HullFit::Tight));
        // A crumb has no fit.
        assert_eq!(fit_of(block(6, [4; 3], [7; 3]), 6, 4.0), None);
    }

    /// A prism over a triangle whose top is turned by `turn` radians, closed; its three walls are each bent inwards along one
    /// diagonal where it is turned. All its corners are corners of its hull.
    fn twisted(turn: f64) -> Mesh {
        let ring = |y: f64, turn: f64| {
            (0..3).map(move |k| {
                let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 3.0 + turn).sin_cos();
                DVec3::new(cos, y, sin).as_vec3().to_array()
            })
        };
        let walls = (0..3u32).flat_map(|k| {
            let next = (k + 1) % 3;
            [[k, k + 3, next], [next, k + 3, next + 3]]
        });
        Mesh {
            positions: ring(-0.5, 0.0).chain(ring(0.5, turn)).collect(),
            triangles: [[0, 1, 2], [3, 5, 4]].into_iter().chain(walls).collect(),
            ..Mesh::default()
        }
    }

    /// The depth of a mesh's surface in its hull, by points on every triangle.
    fn depth(hull: &Solid, triangles: &[[DVec3; 3]]) -> f64 {
        const N: i32 = 60;
        let below = |p: DVec3| hull.faces.iter().map(|f| f.reach - p.dot(f.normal)).fold(f64::MAX, f64::min);
        let on = |[a, b, c]: [DVec3; 3]| {
            (0..=N).flat_map(move |i| (0..=N - i).map(move |j| (i, j))).map(move |(i, j)| {
                let [u, v] = [i, j].map(|k| f64::from(k) / f64::from(N));
                a + (b - a) * u + (c - a) * v
            })
        };
        triangles.iter().flat_map(|triangle| on(*triangle)).map(below).fold(0.0, f64::max)
    }

    /// Seen to fail where only the corners of triangles are looked at.
    #[test]
    fn the_surface_of_a_mesh_is_as_deep_as_its_deepest_point() {
        for turn in [0.0, -0.1, -0.3, -0.5] {
            let mesh = twisted(turn);
            let shape = Shape::mesh(&Arc::new(mesh), 1.0, 1000.0, Look::default());
            let (hull, place) = (Solid::of(shape.convex_hull()), shape.body_from_local());
            let surface = shape.as_mesh().expect("a mesh").surface();
            let triangles: Vec<_> = surface.corners_of_triangles().map(|t| t.map(place)).collect();
            let deepest = depth(&hull, &triangles);
            assert_eq!(deepest > 0.01, turn < 0.0, "{turn}: {deepest}");
            for (share, near) in [(0.5, false), (0.8, false), (1.05, true), (2.0, true)] {
                let tolerance = share * deepest.max(1e-6);
                let is_near = triangles.iter().all(|t| is_all_near(&hull, *t, tolerance));
                assert_eq!(is_near, near || turn == 0.0, "{turn}, {share}");
            }
            let def = |tolerance: f64| {
                let shape = Arc::new(Shape::mesh(&Arc::new(twisted(turn)), 1.0, 1000.0, Look::default()));
                fit(&BodyDef { shape, ..cuboid(DVec3::ZERO, DVec3::ONE) }, tolerance)
            };
            assert_eq!(def(1.05 * deepest.max(1e-6)), Some(HullFit::Tight), "{turn}");
            let dented = if turn < 0.0 { HullFit::Enclosing } else { HullFit::Tight };
            assert_eq!(def(0.8 * deepest.max(1e-6)), Some(dented), "{turn}");
        }
    }
}
