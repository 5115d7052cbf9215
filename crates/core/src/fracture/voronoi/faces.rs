//! Faces of the Voronoi diagram as polygons, for drawing and export. The fracture itself never needs them (2016,
//! sec. 4.3).
//!
//! In: a pattern and a box. Out: one convex polygon for every two cells that share a face inside the box, grid
//! coordinates.

use glam::DVec3;

use crate::{fracture::Pattern, geometry::Aabb};

/// A face between two cells.
#[derive(Clone, Debug, PartialEq)]
pub struct VoronoiFace {
    /// Seed indices, the lower first.
    pub seeds: [u32; 2],
    /// Convex polygon, voxels; counter-clockwise as seen from the second seed.
    pub polygon: Vec<DVec3>,
}

/// The faces inside `bounds` (voxels of a grid of `level`), by ascending seed indices. Seeds that share
/// an object id (2016, sec. 4.7) have no face between them. Of coincident seeds the lowest index owns the cell.
#[must_use]
pub fn voronoi_faces(pattern: &Pattern, level: u32, bounds: Aabb) -> Vec<VoronoiFace> {
    use rayon::prelude::*;
    let seeds: Vec<DVec3> = pattern.seeds_in_voxels(level).into_iter().map(DVec3::from_array).collect();
    let owner = |i: usize| pattern.objects.get(i).copied().unwrap_or(i as u32);
    (0..seeds.len())
        .into_par_iter()
        .flat_map_iter(|i| {
            let mut near: Vec<(f64, usize)> = (0..seeds.len())
                .filter(|k| *k != i)
                .map(|k| (seeds[i].distance_squared(seeds[k]), k))
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let taken = near.iter().take_while(|(d, _)| *d == 0.0).any(|(_, k)| *k < i);
            let mut faces = Vec::new();
            for &(_, j) in near.iter().filter(|(d, j)| *d > 0.0 && *j > i && !taken) {
                if owner(i) != owner(j)
                    && let Some(polygon) = face(&seeds, &near, i, j, bounds)
                {
                    faces.push(VoronoiFace { seeds: [i as u32, j as u32], polygon });
                }
            }
            faces.sort_by_key(|face| face.seeds);
            faces
        })
        .collect()
}

/// The bisector of i and j, cut by the box and by i's bisectors with all others, the nearest first.
fn face(
    seeds: &[DVec3],
    near: &[(f64, usize)],
    i: usize,
    j: usize,
    Aabb { low, high }: Aabb,
) -> Option<Vec<DVec3>> {
    let (a, b) = (seeds[i], seeds[j]);
    let normal = (b - a).normalize_or_zero();
    // A square on the bisector that covers the box.
    let reach = (high - low).length() + (low - a).abs().max((high - a).abs()).length() + a.distance(b);
    let (u, v) = normal.any_orthonormal_pair();
    let (u, v) = if u.cross(v).dot(normal) < 0.0 { (v, u) } else { (u, v) };
    let middle = (a + b) * 0.5;
    let mut polygon: Vec<DVec3> = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| middle + (u * x + v * y) * reach)
        .into();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        polygon = keep(&polygon, |p| (high - p).dot(axis));
        polygon = keep(&polygon, |p| (p - low).dot(axis));
    }
    for &(squared, k) in near {
        if polygon.len() < 3 {
            return None;
        }
        // Nothing beyond twice the farthest corner can cut it.
        let farthest = polygon.iter().map(|p| p.distance_squared(a)).fold(0.0, f64::max);
        if squared > 4.0 * farthest {
            break;
        }
        if k != j && squared > 0.0 {
            let c = seeds[k];
            let (towards, half) = (c - a, (c.length_squared() - a.length_squared()) * 0.5);
            polygon = keep(&polygon, |p| half - p.dot(towards));
        }
    }
    (polygon.len() >= 3).then_some(polygon)
}

/// The part of a convex polygon where `side` is positive (Sutherland and Hodgman's clip against one plane).
fn keep(polygon: &[DVec3], side: impl Fn(DVec3) -> f64) -> Vec<DVec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (n, &p) in polygon.iter().enumerate() {
        let q = polygon[(n + 1) % polygon.len()];
        let (dp, dq) = (side(p), side(q));
        if dp > 0.0 {
            kept.push(p);
        }
        if (dp > 0.0) != (dq > 0.0) {
            kept.push(p + (q - p) * (dp / (dp - dq)));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::FractureParams;

    fn pattern(count: u32) -> Pattern {
        let params =
            FractureParams { seeds: count, radii: vec![0.2, 0.4], rng: 5, ..FractureParams::default() };
        Pattern::on_spheres(&params, DVec3::splat(30.0), BOX, 6).unwrap()
    }

    const BOX: Aabb = Aabb::new(DVec3::ZERO, DVec3::splat(64.0));

    #[test]
    fn every_corner_is_nearest_to_both_its_seeds() {
        let pattern = pattern(60);
        let seeds: Vec<DVec3> = pattern.seeds_in_voxels(6).into_iter().map(DVec3::from_array).collect();
        let faces = voronoi_faces(&pattern, 6, BOX);
        assert!(faces.len() > 150, "{}", faces.len());
        for face in &faces {
            let [i, j] = face.seeds.map(|s| seeds[s as usize]);
            for p in &face.polygon {
                let nearest = seeds.iter().map(|s| s.distance(*p)).fold(f64::INFINITY, f64::min);
                assert!((p.distance(i) - nearest).abs() < 1e-6 && (p.distance(j) - nearest).abs() < 1e-6);
            }
            let turn: DVec3 = (1..face.polygon.len() - 1)
                .map(|n| (face.polygon[n] - face.polygon[0]).cross(face.polygon[n + 1] - face.polygon[0]))
                .sum();
            assert!(turn.dot(j - i) > -1e-9, "counter-clockwise as seen from the second seed");
        }
    }

    /// Each cell is the union of pyramids from its seed over its faces; with the box's own sides the volumes fill
    /// the box. The part over the box's sides is measured by sampling corner owners there, so a missing face shows.
    #[test]
    fn the_faces_close_the_cells() {
        let pattern = pattern(20);
        let seeds: Vec<DVec3> = pattern.seeds_in_voxels(6).into_iter().map(DVec3::from_array).collect();
        let mut flux = vec![DVec3::ZERO; seeds.len()];
        for face in voronoi_faces(&pattern, 6, BOX) {
            let area: DVec3 = (1..face.polygon.len() - 1)
                .map(|n| {
                    (face.polygon[n] - face.polygon[0]).cross(face.polygon[n + 1] - face.polygon[0]) * 0.5
                })
                .sum();
            flux[face.seeds[0] as usize] += area;
            flux[face.seeds[1] as usize] -= area;
        }
        // Area vectors of a closed surface sum to zero: the rest is the cell's share of the box's sides.
        let steps = 400;
        let cell = 64.0 / f64::from(steps);
        for axis in 0..3 {
            for end in 0..2 {
                for n in 0..steps * steps {
                    let mut p = DVec3::ZERO;
                    p[axis] = 64.0 * f64::from(end);
                    p[(axis + 1) % 3] = (f64::from(n % steps) + 0.5) * cell;
                    p[(axis + 2) % 3] = (f64::from(n / steps) + 0.5) * cell;
                    let nearest = (0..seeds.len()).min_by(|a, b| {
                        seeds[*a].distance_squared(p).total_cmp(&seeds[*b].distance_squared(p))
                    });
                    flux[nearest.unwrap()][axis] += if end == 1 { cell * cell } else { -cell * cell };
                }
            }
        }
        for (i, sum) in flux.iter().enumerate() {
            assert!(sum.length() < 12.0, "cell {i} is open by {sum} voxels squared");
        }
    }

    #[test]
    fn merged_and_coincident_seeds_share_no_face() {
        let points = [DVec3::splat(16.0), DVec3::splat(16.0), DVec3::splat(48.0)];
        let mut pattern = Pattern::from_points(&points, 6).unwrap();
        let faces = voronoi_faces(&pattern, 6, BOX);
        assert_eq!(faces.iter().map(|f| f.seeds).collect::<Vec<_>>(), [[0, 2]]);
        pattern.objects = vec![0, 1, 0];
        assert!(voronoi_faces(&pattern, 6, BOX).is_empty());
    }
}
