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

use super::cell::Corners;
use glam::DVec3;

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
