//! Spreads points evenly over the surface of a piece.
//!
//! In: a closed mesh, how many points, a random seed. Out: [`SurfacePoints`], the same on every machine.
//!
//! Five times as many candidates are drawn at random, each triangle with its share of the area. The candidate with most
//! others round it goes, until the wanted number is left (C. Yuksel, *Sample Elimination for Generating Poisson Disk
//! Sample Sets*, Computer Graphics Forum 34(2), 2015). The time grows as n log n.

use std::{cmp::Reverse, collections::BinaryHeap};

use glam::DVec3;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{geometry::Aabb, meshes::PieceMesh};

/// Candidates for each point; the paper's choice.
const CANDIDATES: usize = 5;
/// Distances below this share of the reach weigh what this share does (2015: `(1 - (1 / 5)^1.5) * 0.65`), or the
/// candidates that lie closest together would decide alone. Measured on a box, the smallest distance between two
/// points is 0.68 of the reach with this limit, and 0.62 without it.
const LIMIT: f64 = 0.592;
/// Candidates whose normals have a cosine below this lie on two sides of the solid, as those of a thin shard do, and
/// have no weight for each other. Each side of a shard so gets points as even as those of any other surface.
const OTHER_SIDE: f64 = -0.5;

/// Points on the surface of a mesh, as lists of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfacePoints {
    /// Positions, space and unit of the mesh.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals of the triangles on which the points lie, outwards.
    pub normals: Vec<[f32; 3]>,
    /// Indices of these triangles in the mesh, ascending.
    pub triangles: Vec<u32>,
}

/// `count` points spread evenly over a closed mesh; none where the mesh has no area. The same `seed` gives the same
/// points. It takes about 800 bytes a point while it works.
#[must_use]
pub fn sample_surface(mesh: &PieceMesh, count: usize, seed: u64) -> SurfacePoints {
    let (patches, area) = patches(mesh);
    if count == 0 || patches.is_empty() || !area.is_finite() {
        return SurfacePoints::default();
    }
    let drawn = draw(&patches, area, count.saturating_mul(CANDIDATES), seed);
    let kept = Near::of(drawn, reach(area, count)).thinned(count);
    SurfacePoints {
        positions: kept.iter().map(|point| point.at.as_vec3().to_array()).collect(),
        normals: kept.iter().map(|point| point.normal.as_vec3().to_array()).collect(),
        triangles: kept.iter().map(|point| point.triangle).collect(),
    }
}

/// Twice the radius of the discs of `count` points that fill a flat area best, `2 sqrt(A / (2 sqrt(3) n))`: no two of
/// that many points can all be farther apart (2015).
fn reach(area: f64, count: usize) -> f64 {
    2.0 * (area / (2.0 * 3f64.sqrt() * count as f64)).sqrt()
}

/// A triangle that has an area.
struct Patch {
    triangle: u32,
    corners: [DVec3; 3],
    normal: DVec3,
    area: f64,
}

/// The triangles that have an area and a normal, in their order, and the sum of the areas.
fn patches(mesh: &PieceMesh) -> (Vec<Patch>, f64) {
    let patch = |(triangle, corners): (usize, [DVec3; 3])| {
        let [a, b, c] = corners;
        let doubled = (b - a).cross(c - a);
        let normal = doubled.try_normalize()?;
        Some(Patch { triangle: triangle as u32, corners, normal, area: 0.5 * doubled.length() })
    };
    let all: Vec<Patch> = mesh.corners_of_triangles().enumerate().filter_map(patch).collect();
    let area = all.iter().map(|patch| patch.area).sum();
    (all, area)
}

/// A point that may stay.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    at: DVec3,
    normal: DVec3,
    triangle: u32,
    /// Its place in the order in which candidates were drawn.
    number: usize,
}

/// Uniform in [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// `number` random points, by ascending triangle: one in each of as many equal shares of the area, so that no triangle
/// has a point more or less than its share.
fn draw(patches: &[Patch], area: f64, number: usize, seed: u64) -> Vec<Candidate> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut rest = patches.iter();
    let Some(mut patch) = rest.next() else { return Vec::new() };
    let mut end = patch.area;
    let mut all = Vec::with_capacity(number);
    for k in 0..number {
        let along = (k as f64 + unit(&mut random)) / number as f64 * area;
        // The sum of the areas is rounded: what is left over belongs to the last triangle.
        while end <= along
            && let Some(next) = rest.next()
        {
            patch = next;
            end += patch.area;
        }
        let (mut u, mut v) = (unit(&mut random), unit(&mut random));
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let [a, b, c] = patch.corners;
        let at = a + (b - a) * u + (c - a) * v;
        all.push(Candidate { at, normal: patch.normal, triangle: patch.triangle, number: k });
    }
    all
}

/// Whether two candidates lie so close on one side of the surface that they have a weight for each other, and which.
fn weight(a: &Candidate, b: &Candidate, reach: f64) -> Option<f64> {
    let squared = a.at.distance_squared(b.at);
    if squared >= reach * reach || a.normal.dot(b.normal) < OTHER_SIDE {
        return None;
    }
    // The eighth power, by products: that of the system's library differs in the last bits.
    let near = 1.0 - (squared.sqrt() / reach).max(LIMIT);
    let near = near * near;
    let near = near * near;
    Some(near * near)
}

/// A weight as a key that sorts as weights do.
fn key(weight: f64) -> u64 {
    // The bits of positive numbers sort as the numbers do. Rounding may leave less than nothing.
    if weight > 0.0 { weight.to_bits() } else { 0 }
}

/// Cells of the grid along an axis, at most.
const MOST_CELLS: i64 = 1 << 20;
/// Distance of two rows of cells and of two layers of rows in a cell's number.
const ROW: i64 = 1 << 21;
const LAYER: i64 = 1 << 42;

/// Candidates in a grid of cells that are at least as large as the reach.
struct Near {
    reach: f64,
    /// Candidates by ascending cell.
    all: Vec<Candidate>,
    /// The cell of each, counted among those that have candidates.
    cells: Vec<usize>,
    /// For each of these cells, the candidates in the three by three rows of three cells round it: first, and one past
    /// the last.
    rows: Vec<[[usize; 2]; 9]>,
}

impl Near {
    fn of(mut all: Vec<Candidate>, reach: f64) -> Self {
        let bounds = Aabb::of(all.iter().map(|candidate| candidate.at));
        // A long needle of little area would have more cells than there are numbers.
        let edge = reach.max(bounds.size().max_element() / MOST_CELLS as f64);
        // Coordinates from 1, so that no neighbour lies in another row.
        let cell = |candidate: &Candidate| {
            let at = ((candidate.at - bounds.low) / edge).to_array();
            let [x, y, z] = at.map(|v| 1 + (v as i64).clamp(0, MOST_CELLS));
            x + y * ROW + z * LAYER
        };
        all.sort_by_cached_key(|candidate| (cell(candidate), candidate.number));
        let numbers: Vec<i64> = all.iter().map(cell).collect();
        let shifts: [i64; 9] = std::array::from_fn(|k| {
            let k = k as i64;
            (k % 3 - 1) * ROW + (k / 3 - 1) * LAYER
        });
        let (mut cells, mut rows) = (Vec::with_capacity(all.len()), Vec::new());
        // Cells ascend, and so do the ends of all rows round them.
        let mut ends = [[0usize; 2]; 9];
        let mut last = None;
        for number in &numbers {
            if last != Some(*number) {
                last = Some(*number);
                for ([from, to], shift) in ends.iter_mut().zip(shifts) {
                    let middle = number + shift;
                    *from += numbers[*from..].iter().take_while(|other| **other < middle - 1).count();
                    *to += numbers[*to..].iter().take_while(|other| **other <= middle + 1).count();
                }
                rows.push(ends);
            }
            cells.push(rows.len() - 1);
        }
        Self { reach, all, cells, rows }
    }

    /// Calls `met` with all candidates that have a weight for candidate `i`, and the weight.
    fn visit(&self, i: usize, mut met: impl FnMut(usize, f64)) {
        let own = &self.all[i];
        for [from, to] in self.rows[self.cells[i]] {
            for (k, other) in (from..).zip(&self.all[from..to]) {
                if let Some(weight) = weight(own, other, self.reach).filter(|_| k != i) {
                    met(k, weight);
                }
            }
        }
    }

    /// Indices of the candidates that go until `count` are left, in that order.
    fn eliminated(&self, count: usize) -> Vec<usize> {
        let sum = |i: usize| {
            let mut sum = 0.0f64;
            self.visit(i, |_, weight| sum += weight);
            sum
        };
        let mut weights: Vec<f64> = (0..self.all.len()).map(sum).collect();
        let heaped = weights.iter().enumerate().map(|(i, weight)| (key(*weight), Reverse(i)));
        let mut heap: BinaryHeap<(u64, Reverse<usize>)> = heaped.collect();
        let mut gone = Vec::with_capacity(self.all.len().saturating_sub(count));
        while self.all.len() - gone.len() > count
            && let Some((known, Reverse(i))) = heap.pop()
        {
            // Weights only fall, so the top of the heap is the heaviest candidate unless its own weight has fallen.
            let now = key(weights[i]);
            if now < known {
                heap.push((now, Reverse(i)));
                continue;
            }
            gone.push(i);
            self.visit(i, |k, weight| weights[k] -= weight);
        }
        gone
    }

    /// The `count` candidates that stay, in the order in which they were drawn.
    fn thinned(self, count: usize) -> Vec<Candidate> {
        let mut stays = vec![true; self.all.len()];
        self.eliminated(count).into_iter().for_each(|i| stays[i] = false);
        let kept = self.all.into_iter().zip(stays).filter(|(_, stays)| *stays);
        let mut kept: Vec<Candidate> = kept.map(|(candidate, _)| candidate).collect();
        kept.sort_unstable_by_key(|candidate| candidate.number);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::triangle::distance;

    fn of(name: &str) -> PieceMesh {
        PieceMesh::of_mesh(&crate::mesh::builtin(name).unwrap(), 1.0, [0; 3])
    }

    /// A box with edges of these lengths.
    fn stretched(x: f64, y: f64, z: f64) -> PieceMesh {
        let mut mesh = of("box");
        mesh.positions.iter_mut().for_each(|p| *p *= DVec3::new(x, y, z));
        mesh
    }

    fn place(p: &[f32; 3]) -> DVec3 {
        DVec3::from_array(p.map(f64::from))
    }

    fn smallest_distance(points: &[DVec3]) -> f64 {
        let before = |(i, p): (usize, &DVec3)| {
            points[..i].iter().map(|q| p.distance(*q)).fold(f64::INFINITY, f64::min)
        };
        points.iter().enumerate().map(before).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn points_lie_on_their_triangles() {
        let mesh = of("statue");
        let size = Aabb::of(mesh.positions.iter().copied()).size().max_element();
        let corners: Vec<[DVec3; 3]> = mesh.corners_of_triangles().collect();
        for count in [1, 2, 700] {
            let points = sample_surface(&mesh, count, 3);
            assert_eq!(
                (points.positions.len(), points.normals.len(), points.triangles.len()),
                (count, count, count)
            );
            assert!(points.triangles.is_sorted());
            for ((position, normal), triangle) in
                points.positions.iter().zip(&points.normals).zip(&points.triangles)
            {
                let corners = corners[*triangle as usize];
                assert!(distance(place(position), corners) < 1e-6 * size);
                let [a, b, c] = corners;
                assert!((b - a).cross(c - a).normalize().distance(place(normal)) < 1e-6);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_points_and_another_one_others() {
        let mesh = of("vase");
        let points = sample_surface(&mesh, 200, 7);
        assert_eq!(points, sample_surface(&mesh, 200, 7));
        let others = sample_surface(&mesh, 200, 8);
        assert!(others.positions.iter().all(|p| !points.positions.contains(p)));
    }

    #[test]
    fn points_are_far_apart() {
        let (mesh, count) = (stretched(1.0, 0.6, 0.3), 500);
        let (patches, area) = patches(&mesh);
        assert!((area - 2.0 * (0.6 + 0.3 + 0.18)).abs() < 1e-5, "{area}");
        let reach = reach(area, count);
        for seed in 0..3 {
            let points: Vec<DVec3> = sample_surface(&mesh, count, seed).positions.iter().map(place).collect();
            let random: Vec<DVec3> = draw(&patches, area, count, seed).iter().map(|point| point.at).collect();
            let [even, plain] = [points, random].map(|of| smallest_distance(&of) / reach);
            println!("smallest distance {even:.3} of the largest possible, {plain:.3} at random");
            assert!((0.6..1.0).contains(&even) && even > 2.0 * plain, "{even} {plain}");
        }
    }

    /// The sides of a shard are closer than the points are: each has as many, and as even ones, as if it were alone.
    #[test]
    fn both_sides_of_a_thin_plate_are_covered() {
        let mesh = stretched(1.0, 0.01, 0.6);
        let count = 600;
        let points = sample_surface(&mesh, count, 1);
        let reach = reach(patches(&mesh).1, count);
        let of_side = |sign: f32| -> Vec<DVec3> {
            let own = points.positions.iter().zip(&points.normals).filter(|(_, n)| n[1] * sign > 0.9);
            own.map(|(p, _)| place(p)).collect()
        };
        let [top, bottom] = [1.0, -1.0].map(of_side);
        assert!(
            (top.len() as f64 / bottom.len() as f64 - 1.0).abs() < 0.06,
            "{} {}",
            top.len(),
            bottom.len()
        );
        for side in [top, bottom] {
            let even = smallest_distance(&side) / reach;
            assert!(even > 0.6, "{even}");
        }
    }

    #[test]
    fn every_face_has_its_share() {
        let (mesh, count) = (stretched(1.0, 0.6, 0.3), 1500);
        let areas = [0.18, 0.3, 0.6];
        let points = sample_surface(&mesh, count, 5);
        for (axis, area) in areas.into_iter().enumerate() {
            for sign in [1.0, -1.0] {
                let own = points.normals.iter().filter(|n| n[axis] * sign > 0.9).count() as f64;
                let wanted = area / 2.16 * count as f64;
                assert!((own / wanted - 1.0).abs() < 0.12, "{axis} {sign}: {own} of {wanted}");
            }
        }
    }

    /// Each candidate that goes is the heaviest of those that are left, by a sum over all of them.
    #[test]
    fn the_heaviest_candidate_goes() {
        for (mesh, count) in [(stretched(1.0, 0.6, 0.02), 40), (of("sphere"), 30), (of("vase"), 3)] {
            let (patches, area) = patches(&mesh);
            let reach = reach(area, count);
            let near = Near::of(draw(&patches, area, count * CANDIDATES, 11), reach);
            let gone = near.eliminated(count);
            assert_eq!(gone.len(), count * CANDIDATES - count);
            let mut left: Vec<usize> = (0..near.all.len()).collect();
            for i in gone {
                let weight = |own: usize| -> f64 {
                    let of = |other: &usize| {
                        let [a, b] = [own, *other].map(|k| near.all[k]);
                        let share = a.at.distance(b.at) / reach;
                        let counts = own != *other && share < 1.0 && a.normal.dot(b.normal) >= OTHER_SIDE;
                        if counts { (1.0 - share.max(LIMIT)).powi(8) } else { 0.0 }
                    };
                    left.iter().map(of).sum()
                };
                let most = left.iter().map(|k| weight(*k)).fold(0.0, f64::max);
                assert!(weight(i) >= most - 1e-12, "{} of {most}", weight(i));
                left.retain(|k| *k != i);
            }
        }
    }

    #[test]
    fn what_has_no_area_has_no_points() {
        let none = SurfacePoints::default();
        assert_eq!(sample_surface(&PieceMesh::default(), 10, 0), none);
        assert_eq!(sample_surface(&of("box"), 0, 0), none);
        let flat = |corners: Vec<DVec3>, triangles| PieceMesh::flat(corners, triangles, |_| [0; 3]);
        let line = vec![DVec3::ZERO, DVec3::X, DVec3::X * 3.0, DVec3::Y, DVec3::splat(f64::NAN)];
        let degenerate = vec![[0, 1, 2], [0, 0, 0], [1, 1, 3], [0, 1, 4]];
        assert_eq!(sample_surface(&flat(line.clone(), degenerate.clone()), 10, 0), none);
        // One triangle with an area among them has all the points.
        let with_one = flat(line, [degenerate, vec![[0, 1, 3]]].concat());
        let points = sample_surface(&with_one, 10, 0);
        assert_eq!(points.triangles, [4; 10]);
        assert!(points.normals.iter().all(|normal| *normal == [0.0, 0.0, 1.0]));
        // A needle, whose cells are many, and a speck.
        for size in [1e9, 1e-60] {
            let needle = vec![DVec3::ZERO, DVec3::X * size, DVec3::new(size, 1e-9 * size, 0.0)];
            assert_eq!(sample_surface(&flat(needle, vec![[0, 1, 2]]), 20, 0).positions.len(), 20);
        }
    }
}
