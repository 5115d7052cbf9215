//! The closed bodies that a mesh consists of.
//!
//! In: a mesh as read. Out: one closed surface for each body: triangles that are connected by edges, and the voids within
//! them. Bodies that touch stay apart, although they share edges: round an edge of several bodies, the two triangles with
//! solid between them belong together.

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;

use crate::{
    geometry::{Aabb, UnionFind, triangle::winding_number},
    mesh::{Mesh, check_apart, topology},
    shape::{NoSurface, PieceMesh},
};

/// Triangles round an edge that are nearer than this to each other, in quarters of a turn, lie in one plane.
const ONE_PLANE: f64 = 1e-6;
/// Most pairs of a void and a triangle that are looked at.
const MOST_WORK: usize = 1 << 31;

/// The bodies of `mesh` by their first triangles, with `scale` units of shape space per unit of the mesh.
///
/// # Errors
/// The first body that is not closed, from 0, and why.
pub fn closed_bodies(mesh: &Mesh, scale: f64) -> Result<Vec<PieceMesh>, (usize, NoSurface)> {
    // Corners that nearly meet are welded only where that closes a body: it may join bodies that nearly touch.
    as_they_are(mesh, scale).or_else(|error| as_they_are(&check_apart(mesh), scale).map_err(|_| error))
}

fn as_they_are(mesh: &Mesh, scale: f64) -> Result<Vec<PieceMesh>, (usize, NoSurface)> {
    let welded = topology(mesh);
    let mut points = vec![DVec3::ZERO; welded.welded_count as usize];
    for (p, i) in mesh.positions.iter().zip(&welded.welded) {
        points[*i as usize] = DVec3::from_array(p.map(f64::from));
    }
    let mut number = vec![u32::MAX; mesh.positions.len()];
    let bodies = bodies(&points, &welded.triangles(mesh)).into_iter().enumerate();
    bodies
        .map(|(i, body)| {
            PieceMesh::imported(&part(mesh, &body, &mut number), scale).map_err(|error| (i, error))
        })
        .collect()
}

/// These triangles alone, with the vertices that they use. `number` is `u32::MAX` for every vertex, before and after.
fn part(mesh: &Mesh, triangles: &[u32], number: &mut [u32]) -> Mesh {
    let mut out = Mesh { materials: mesh.materials.clone(), origin: mesh.origin, ..Mesh::default() };
    let mut used: Vec<u32> = Vec::new();
    for t in triangles {
        let t = *t as usize;
        let corners = mesh.triangles[t].map(|i| {
            let own = &mut number[i as usize];
            if *own == u32::MAX {
                *own = used.len() as u32;
                used.push(i);
            }
            *own
        });
        out.triangles.push(corners);
        out.triangle_material.extend(mesh.triangle_material.get(t));
        out.smoothing.extend(mesh.smoothing.get(t));
    }
    for i in used {
        let i = i as usize;
        number[i] = u32::MAX;
        out.positions.push(mesh.positions[i]);
        out.colors.extend(mesh.colors.get(i));
        out.uvs.extend(mesh.uvs.get(i));
        out.uvs2.extend(mesh.uvs2.get(i));
        out.normals.extend(mesh.normals.get(i));
    }
    out
}

/// The triangles of each body, ascending; bodies by their first triangles. Triangles share points that are at one place;
/// those without area are in no body.
fn bodies(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let is_flat = |&[a, b, c]: &[u32; 3]| a == b || b == c || c == a;
    let mut sides: Vec<Side> = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in (0u32..).zip(triangles).filter(|(_, corners)| !is_flat(corners)) {
        let [a, b, c] = *corners;
        sides.extend([(a, b), (b, c), (c, a)].map(|(from, to)| Side {
            edge: [from.min(to), from.max(to)],
            is_forward: from < to,
            triangle,
        }));
    }
    sides.sort_unstable();
    let mut sets = UnionFind::new(triangles.len());
    for round in sides.chunk_by(|a, b| a.edge == b.edge) {
        match round {
            [_] => {}
            [one, other] => {
                sets.join(one.triangle, other.triangle);
            }
            _ => {
                for [one, other] in with_solid_between(points, triangles, round) {
                    sets.join(one, other);
                }
            }
        }
    }
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for triangle in (0..triangles.len() as u32).filter(|t| !is_flat(&triangles[*t as usize])) {
        found.entry(sets.find(triangle)).or_default().push(triangle);
    }
    with_voids(points, triangles, found.into_values().collect())
}

/// A side of a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    /// Its ends, the lower one first.
    edge: [u32; 2],
    /// Whether the triangle goes from the lower end to the higher one.
    is_forward: bool,
    triangle: u32,
}

/// Of three or more sides on one edge, the pairs of triangles that bound one solid. A triangle that goes forward has its
/// solid towards lower turns, one that goes back towards higher ones.
fn with_solid_between(points: &[DVec3], triangles: &[[u32; 3]], round: &[Side]) -> Vec<[u32; 2]> {
    let [low, high] = round[0].edge;
    let start = points[low as usize];
    let along = (points[high as usize] - start).normalize_or_zero();
    let away = |side: &Side| {
        let corners = triangles[side.triangle as usize];
        let third = corners.into_iter().find(|i| *i != low && *i != high).unwrap_or(low);
        points[third as usize] - start
    };
    let first = away(&round[0]);
    let right = (first - along * first.dot(along)).normalize_or_zero();
    let up = along.cross(right);
    let turn = |side: &Side| quarters(away(side).dot(right), away(side).dot(up));
    let (back, forward): (Vec<&Side>, Vec<&Side>) = round.iter().partition(|side| !side.is_forward);
    if back.is_empty() || forward.is_empty() {
        return round.windows(2).map(|two| [two[0].triangle, two[1].triangle]).collect();
    }
    let back: Vec<(f64, u32)> = back.into_iter().map(|side| (turn(side), side.triangle)).collect();
    let pair = |side: &Side| {
        let own = turn(side);
        let way = |other: f64| {
            let way = (own - other).rem_euclid(4.0);
            // A wall between two solids: the other side of the wall comes last.
            if way < ONE_PLANE { 4.0 } else { way }
        };
        let nearest = back.iter().min_by(|a, b| way(a.0).total_cmp(&way(b.0)));
        nearest.map(|(_, triangle)| [side.triangle, *triangle])
    };
    forward.into_iter().filter_map(pair).collect()
}

/// A number from 0 to 4 that grows with the angle of a direction, by one a quarter.
fn quarters(x: f64, y: f64) -> f64 {
    let sum = x.abs() + y.abs();
    match (x >= 0.0, y >= 0.0) {
        _ if sum == 0.0 => 0.0,
        (true, true) => y / sum,
        (false, true) => 1.0 - x / sum,
        (false, false) => 2.0 - y / sum,
        (true, false) => 3.0 + x / sum,
    }
}

/// The bodies, each void added to the smallest one round it.
fn with_voids(points: &[DVec3], triangles: &[[u32; 3]], found: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let corners = |t: &u32| triangles[*t as usize].map(|i| points[i as usize]);
    let volume = |body: &Vec<u32>| {
        let origin = body.first().map_or(DVec3::ZERO, |t| corners(t)[0]);
        let cone = |[a, b, c]: [DVec3; 3]| (a - origin).dot((b - origin).cross(c - origin)) / 6.0;
        body.iter().map(|t| cone(corners(t))).sum::<f64>()
    };
    let volumes: Vec<f64> = found.iter().map(volume).collect();
    if volumes.iter().all(|volume| *volume >= 0.0) {
        return found;
    }
    let bounds: Vec<Aabb> = found.iter().map(|body| Aabb::of(body.iter().flat_map(corners))).collect();
    let mut solids: Vec<usize> = (0..found.len()).filter(|k| volumes[*k] > 0.0).collect();
    solids.sort_by(|a, b| volumes[*a].total_cmp(&volumes[*b]).then(a.cmp(b)));
    let voids = volumes.iter().filter(|volume| **volume < 0.0).count();
    // In a sponge of that many voids boxes decide.
    let trusts_boxes = voids.saturating_mul(triangles.len()) > MOST_WORK;
    let round = |inner: usize| {
        let place = corners(found[inner].first()?).iter().sum::<DVec3>() / 3.0;
        let holds = |outer: &usize| {
            bounds[*outer].holds(place)
                && (trusts_boxes || winding_number(found[*outer].iter().map(corners), place) > 0.5)
        };
        solids.iter().copied().find(holds)
    };
    let round: Vec<Option<usize>> = (0..found.len())
        .into_par_iter()
        .map(|inner| if volumes[inner] < 0.0 { round(inner) } else { None })
        .collect();
    let mut bodies: Vec<Vec<u32>> = found;
    for (inner, outer) in round.into_iter().enumerate() {
        if let Some(outer) = outer {
            let void = std::mem::take(&mut bodies[inner]);
            bodies[outer].extend(void);
            bodies[outer].sort_unstable();
        }
    }
    bodies.retain(|body| !body.is_empty());
    // A void may have the first triangle.
    bodies.sort_unstable_by_key(|body| body[0]);
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::MeshCheck;

    /// Adds a box, its sides divided in two along the same diagonals for every box; inside out where `is_void`.
    fn add_box(mesh: &mut Mesh, low: [f32; 3], high: [f32; 3], is_void: bool) {
        let base = mesh.positions.len() as u32;
        let corner = |c: usize| [0, 1, 2].map(|k| if c >> k & 1 == 0 { low[k] } else { high[k] });
        mesh.positions.extend((0..8).map(corner));
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        for [a, b, c, d] in quads {
            for [p, q, r] in [[a, b, c], [a, c, d]] {
                let turned: [u32; 3] = if is_void { [p, r, q] } else { [p, q, r] };
                mesh.triangles.push(turned.map(|i| base + i));
            }
        }
    }

    fn volumes(mesh: &Mesh) -> Vec<f64> {
        let bodies = closed_bodies(mesh, 1.0).unwrap();
        let checked = bodies.iter().map(MeshCheck::of).inspect(|check| assert!(check.is_watertight()));
        checked.map(|check| check.volume).collect()
    }

    fn near(found: &[f64], wanted: &[f64]) {
        let all = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(all && found.len() == wanted.len(), "{found:?}, not {wanted:?}");
    }

    #[test]
    fn boxes_that_touch_by_a_side_by_an_edge_and_not_at_all_are_bodies_of_their_own() {
        let mut mesh = Mesh::default();
        add_box(&mut mesh, [0.0; 3], [1.0; 3], false);
        add_box(&mut mesh, [1.0, 0.0, 0.0], [3.0, 1.0, 1.0], false);
        add_box(&mut mesh, [0.0, 1.0, 1.0], [1.0, 2.0, 4.0], false);
        add_box(&mut mesh, [9.0, 0.0, 0.0], [10.0, 2.0, 2.0], false);
        near(&volumes(&mesh), &[1.0, 2.0, 3.0, 4.0]);
        // The same where all corners at one place are one, as in files without names.
        let welded = topology(&mesh);
        let mut shared = Mesh { positions: vec![[0.0; 3]; welded.welded_count as usize], ..Mesh::default() };
        for (p, i) in mesh.positions.iter().zip(&welded.welded) {
            shared.positions[*i as usize] = *p;
        }
        shared.triangles = welded.triangles(&mesh);
        near(&volumes(&shared), &[1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_void_belongs_to_the_body_round_it_and_a_body_that_is_inside_out_to_itself() {
        let mut mesh = Mesh::default();
        add_box(&mut mesh, [1.0; 3], [2.0; 3], true);
        add_box(&mut mesh, [0.0; 3], [4.0; 3], false);
        add_box(&mut mesh, [1.25; 3], [1.75; 3], false);
        add_box(&mut mesh, [8.0; 3], [9.0; 3], true);
        near(&volumes(&mesh), &[63.0, 0.125, 1.0]);
    }

    #[test]
    fn bodies_keep_both_sets_of_coordinates_and_what_they_have_in_common() {
        let mut mesh = Mesh::default();
        add_box(&mut mesh, [0.0; 3], [1.0; 3], false);
        add_box(&mut mesh, [0.5; 3], [1.5; 3], false);
        mesh.uvs = mesh.positions.iter().map(|p| [p[0], p[1]]).collect();
        mesh.uvs2 = mesh.positions.iter().map(|p| [p[2], p[0]]).collect();
        // A seam that nearly meets, so that the file is healed first.
        let loose = mesh.triangles[0].map(|i| mesh.positions[i as usize].map(|v| v + 1e-7));
        mesh.positions.extend(loose);
        mesh.uvs.extend([[0.0; 2]; 3]);
        mesh.uvs2.extend([[0.0; 2]; 3]);
        mesh.triangles[0] = [16, 17, 18];
        for body in closed_bodies(&mesh, 1.0).unwrap() {
            assert!((MeshCheck::of(&body).volume - 1.0).abs() < 1e-5);
            for (triangle, corners) in body.triangles.iter().zip(&body.corners).skip(1) {
                for (i, corner) in triangle.iter().zip(corners) {
                    let p = body.positions[*i as usize].as_vec3();
                    assert!((corner.uv2[0] - p.z).abs() < 1e-5 && (corner.uv2[1] - p.x).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn a_body_without_a_side_to_close_is_named() {
        let mut mesh = Mesh::default();
        add_box(&mut mesh, [0.0; 3], [1.0; 3], false);
        let first = mesh.positions.len() as u32;
        mesh.positions.extend([[5.0, 0.0, 0.0], [6.0, 0.0, 0.0], [5.0, 1.0, 0.0]]);
        mesh.triangles.push([first, first + 1, first + 2]);
        assert_eq!(closed_bodies(&mesh, 1.0).unwrap_err().0, 1);
    }
}
