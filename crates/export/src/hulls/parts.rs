//! Convex decomposition of a piece: it is divided by planes until its parts' hulls contain little empty space.
//!
//! In: a mesh. Out: hulls of its parts. The part whose hull contains most empty space is divided first, by the plane
//! that minimises the volume of the hulls on both sides, and among equally good ones by the most even plane: for a bowl
//! no single plane reduces the volume, only several do. This follows V-HACD (Mamou, Lengyel & Peters 2016, Game Engine
//! Gems 3). The surface is divided instead of the solid, since both have the same hulls. A grid tells which space is
//! solid.

use std::collections::HashMap;

use crate::geometry::Aabb;
use glam::DVec3;

use super::{Hull, MOST_PARTS, MOST_POINTS, PieceMesh};

/// Grid cells along the longest side of the surface.
const CELLS: f64 = 28.0;
/// Candidate planes along each axis.
const PLANES: usize = 7;
/// A part is divided if the empty space in its hull exceeds this share of the whole hull.
const EMPTY: f64 = 0.015;
/// Penalty for an uneven division: this share of the part's hull if one side is empty.
const UNEVEN: f64 = 0.05;

/// Some triangles of a piece.
struct Part {
    triangles: Vec<[DVec3; 3]>,
    /// The box to which planes have limited it.
    low: DVec3,
    high: DVec3,
    /// Empty volume of its hull.
    empty: f64,
}

/// The hulls of a mesh's parts; `whole` if it cannot be divided.
pub fn divided(mesh: &PieceMesh, whole: Hull) -> Vec<Hull> {
    let Aabb { low, high } = Aabb::of(mesh.positions.iter().copied());
    let triangles = coarse(mesh, low, high);
    let solid = Solid::of(&triangles, low, high);
    let mut parts = vec![Part::of(triangles, low, high, &solid)];
    let least = EMPTY * whole.volume();
    while parts.len() < MOST_PARTS {
        let all = parts.iter().enumerate().map(|(i, part)| (part.empty, i));
        let Some((_, at)) =
            all.filter(|(empty, _)| *empty > least).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        else {
            break;
        };
        let part = parts.swap_remove(at);
        match part.divided(&solid) {
            Some(both) => parts.extend(both),
            None => parts.push(Part { empty: 0.0, ..part }),
        }
    }
    let points = |part: &Part| part.triangles.iter().flatten().copied().collect::<Vec<DVec3>>();
    let hulls: Vec<Hull> = parts.iter().filter_map(|part| Hull::of(&points(part), MOST_POINTS)).collect();
    if hulls.len() < 2 { vec![whole] } else { hulls }
}

impl Part {
    fn of(triangles: Vec<[DVec3; 3]>, low: DVec3, high: DVec3, solid: &Solid) -> Self {
        let empty = volume(&triangles) - solid.volume(low, high);
        Self { triangles, low, high, empty }
    }

    /// Both sides of the best plane; `None` if one of them would be flat.
    fn divided(&self, solid: &Solid) -> Option<[Self; 2]> {
        let Aabb { low, high } = Aabb::of(self.triangles.iter().flatten().copied());
        let mut best: Option<(f64, usize, f64)> = None;
        for axis in 0..3 {
            for i in 1..=PLANES {
                let height = low[axis] + (high[axis] - low[axis]) * i as f64 / (PLANES + 1) as f64;
                let [a, b] = [1.0, -1.0].map(|side| volume(&clipped(&self.triangles, axis, height, side)));
                let cost = a + b + UNEVEN * (a - b).abs();
                if a > 0.0 && b > 0.0 && best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, axis, height));
                }
            }
        }
        let (_, axis, height) = best?;
        let (mut middle_low, mut middle_high) = (self.low, self.high);
        (middle_low[axis], middle_high[axis]) = (height, height);
        let side = |side| clipped(&self.triangles, axis, height, side);
        Some([
            Self::of(side(1.0), middle_low, self.high, solid),
            Self::of(side(-1.0), self.low, middle_high, solid),
        ])
    }
}

/// Grid cells inside the solid.
struct Solid {
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    inside: Vec<bool>,
}

impl Solid {
    /// A cell is inside if the number of surfaces below it is odd.
    fn of(triangles: &[[DVec3; 3]], low: DVec3, high: DVec3) -> Self {
        let cell = (high - low).max_element() / CELLS;
        let size = [0, 1, 2].map(|k| ((high - low)[k] / cell).ceil().max(1.0) as usize);
        let mut heights: Vec<Vec<f64>> = vec![Vec::new(); size[0] * size[1]];
        for [a, b, c] in triangles {
            let of = |v: f64, k: usize| (((v - low[k]) / cell).floor().max(0.0) as usize).min(size[k] - 1);
            let (from, to) = (a.min(*b).min(*c), a.max(*b).max(*c));
            for y in of(from.y, 1)..=of(to.y, 1) {
                for x in of(from.x, 0)..=of(to.x, 0) {
                    // Shifted off the centre, so that no column passes through a vertex.
                    let at = low + DVec3::new(x as f64 + 0.5017, y as f64 + 0.5031, 0.0) * cell;
                    let side = |p: DVec3, q: DVec3| (q.x - p.x) * (at.y - p.y) - (q.y - p.y) * (at.x - p.x);
                    let shares = [side(*b, *c), side(*c, *a), side(*a, *b)];
                    let inside = shares.iter().all(|s| *s > 0.0) || shares.iter().all(|s| *s < 0.0);
                    if inside {
                        let sum: f64 = shares.iter().sum();
                        let height = (a.z * shares[0] + b.z * shares[1] + c.z * shares[2]) / sum;
                        heights[y * size[0] + x].push(height);
                    }
                }
            }
        }
        let mut inside = Vec::with_capacity(size[0] * size[1] * size[2]);
        for column in &heights {
            let middles = (0..size[2]).map(|z| low.z + (z as f64 + 0.5) * cell);
            inside.extend(middles.map(|z| column.iter().filter(|height| **height < z).count() % 2 == 1));
        }
        Self { low, cell, size, inside }
    }

    /// Volume of the solid within a box.
    fn volume(&self, low: DVec3, high: DVec3) -> f64 {
        let mut count = 0;
        for (i, _) in self.inside.iter().enumerate().filter(|(_, inside)| **inside) {
            let (column, z) = (i / self.size[2], i % self.size[2]);
            let at = [column % self.size[0], column / self.size[0], z].map(|v| v as f64 + 0.5);
            let at = self.low + DVec3::from_array(at) * self.cell;
            count += u32::from(at.cmpge(low).all() && at.cmplt(high).all());
        }
        f64::from(count) * self.cell.powi(3)
    }
}

/// Volume of the hull of triangles, with as many vertices as final hulls: with fewer, the simplification would hide the
/// gain of a plane.
fn volume(triangles: &[[DVec3; 3]]) -> f64 {
    let points: Vec<DVec3> = triangles.iter().flatten().copied().collect();
    Hull::of(&points, MOST_POINTS).map_or(0.0, |hull| hull.volume())
}

/// A mesh reduced to one vertex per grid cell, which is enough to find hollows.
fn coarse(mesh: &PieceMesh, low: DVec3, high: DVec3) -> Vec<[DVec3; 3]> {
    let (middle, cell) = ((low + high) * 0.5, (high - low).max_element() / CELLS);
    // The vertex farthest from the centre represents its cell, so that hulls do not shrink.
    let mut chosen: HashMap<[i64; 3], usize> = HashMap::new();
    let key = |p: DVec3| ((p - low) / cell).floor().as_i64vec3().to_array();
    for (i, p) in mesh.positions.iter().enumerate() {
        let held = chosen.entry(key(*p)).or_insert(i);
        if p.distance_squared(middle) > mesh.positions[*held].distance_squared(middle) {
            *held = i;
        }
    }
    let of = |v: u32| chosen[&key(mesh.positions[v as usize])];
    let triangles = mesh.triangles.iter().map(|t| t.map(of));
    let mut triangles: Vec<[usize; 3]> = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    triangles.sort_unstable();
    triangles.dedup();
    triangles.into_iter().map(|t| t.map(|i| mesh.positions[i])).collect()
}

/// Clips triangles at a plane across an axis; `side` is the sign of the side that is kept. Polygons become fans.
fn clipped(triangles: &[[DVec3; 3]], axis: usize, height: f64, side: f64) -> Vec<[DVec3; 3]> {
    let mut out = Vec::with_capacity(triangles.len());
    for triangle in triangles {
        let above = triangle.map(|p| (p[axis] - height) * side);
        if above.iter().all(|h| *h >= 0.0) {
            out.push(*triangle);
            continue;
        }
        let mut polygon: Vec<DVec3> = Vec::with_capacity(4);
        for i in 0..3 {
            let (k, a, b) = ((i + 1) % 3, above[i], above[(i + 1) % 3]);
            if a >= 0.0 {
                polygon.push(triangle[i]);
            }
            if (a >= 0.0) != (b >= 0.0) {
                polygon.push(triangle[i].lerp(triangle[k], a / (a - b)));
            }
        }
        out.extend((2..polygon.len()).map(|i| [polygon[0], polygon[i - 1], polygon[i]]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{super::of, *};
    use crate::{Collision, MeshKind, import::import, voxelize::Progress};

    fn mesh(name: &str) -> PieceMesh {
        let object = import(&format!("builtin:{name}"), 6, &Progress::default()).unwrap();
        MeshKind::Smooth.of(&object.shape)
    }

    fn filled(mesh: &PieceMesh, hulls: &[Hull]) -> f64 {
        let solid = crate::MeshCheck::of(mesh).volume;
        hulls.iter().map(Hull::volume).sum::<f64>() / solid
    }

    #[test]
    fn what_is_bent_or_hollow_is_divided_and_what_is_not_stays_whole() {
        let boxes = mesh("box");
        assert_eq!(of(Collision::Parts, &boxes).len(), 1);
        for (name, most) in [("shell", 0.9), ("statue", 0.9), ("vase", 0.75)] {
            let bent = mesh(name);
            let (hull, parts) = (of(Collision::Hull, &bent), of(Collision::Parts, &bent));
            let (one, many) = (filled(&bent, &hull), filled(&bent, &parts));
            println!("{name}: hull {one:.2}, {} parts {many:.2} times its volume", parts.len());
            assert!(hull.len() == 1 && parts.len() > 2 && parts.len() <= MOST_PARTS);
            assert!(many < most * one, "{name}: {many} of {one}");
        }
        assert_eq!(of(Collision::None, &boxes), []);
        assert_eq!(of(Collision::Parts, &PieceMesh::default()), []);
    }

    #[test]
    fn both_sides_of_a_plane_are_the_whole() {
        let statue = mesh("statue");
        let Aabb { low, high } = Aabb::of(statue.positions.iter().copied());
        let triangles = coarse(&statue, low, high);
        let (told, solid) = (Solid::of(&triangles, low, high), crate::MeshCheck::of(&statue).volume);
        assert!((told.volume(low, high) / solid - 1.0).abs() < 0.1);
        let area = |some: &[[DVec3; 3]]| -> f64 {
            some.iter().map(|[a, b, c]| (*b - *a).cross(*c - *a).length()).sum()
        };
        let sides = [1.0, -1.0].map(|side| area(&clipped(&triangles, 1, 0.4, side)));
        assert!(sides[0] > 0.0 && sides[1] > 0.0);
        assert!(((sides[0] + sides[1]) / area(&triangles) - 1.0).abs() < 1e-9);
    }
}
