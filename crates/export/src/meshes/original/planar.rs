//! Voronoi cells as crack surfaces: the triangulated faces between cells.
//!
//! In: seeds in fixed point (2^14 units per grid side), their object ids, a box. Out: [`Cracks`]. Cells are cut out of
//! the box one bisector after another (Sutherland and Hodgman for polyhedra); whether a bisector cuts off a vertex is
//! decided in 128-bit integers, and each seed has a weight far below one unit, so that no five seeds are equally near
//! to a point. So neighbouring cells agree on every vertex, and exactly three cells meet at an edge.

use rayon::prelude::*;

use crate::geometry::exact::{Homogeneous, Plane};

use super::{
    cracks::{Cracks, by_a_hair, mix},
    exact::{Point, UNIT_BITS},
};

/// log2 of the seeds' units per grid side.
const SEED_BITS: u32 = 14;
/// log2 of the weights' units per squared seed unit.
const WEIGHT_BITS: u32 = 16;

/// The points x (from the cell's seed) with normal . x 2^17 <= limit.
#[derive(Clone, Copy)]
struct Side {
    plane: Plane,
    /// The seed beyond it; for the box's sides a number above all seeds.
    name: u32,
}

#[derive(Clone)]
struct Corner {
    planes: [u32; 3],
    /// Place from the seed, times 2^17.
    exact: Homogeneous,
    place: [f64; 3],
}

struct Face {
    name: u32,
    corners: Vec<u32>,
}

struct Cell {
    planes: Vec<Side>,
    corners: Vec<Corner>,
    faces: Vec<Face>,
}

const SCALE: f64 = (1u64 << (WEIGHT_BITS + 1)) as f64;

impl Cell {
    /// The box round a seed. Its sides are named `first`, `first` + 1, ...
    fn new(seed: [i32; 3], bounds: [[i32; 3]; 2], first: u32) -> Self {
        let planes: Vec<Side> = (0..6)
            .map(|side| {
                let (axis, high) = (side / 2, side % 2);
                let mut normal = [0; 3];
                normal[axis] = if high == 1 { 1 } else { -1 };
                let reach = i128::from(bounds[high][axis] - seed[axis]) * i128::from(normal[axis]);
                // Sides at odd coordinates, so that no face lies in them.
                let limit = (reach << (WEIGHT_BITS + 1)) + 31_337 + 7919 * side as i128;
                Side { plane: Plane { normal, limit }, name: first + side as u32 }
            })
            .collect();
        let mut cell = Self { planes, corners: Vec::new(), faces: Vec::new() };
        for c in 0..8u32 {
            cell.add_corner([c & 1, 2 + (c >> 1 & 1), 4 + (c >> 2)]);
        }
        let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        cell.faces = (0..6).zip(sides).map(|(k, c)| Face { name: k, corners: c.to_vec() }).collect();
        cell
    }

    fn add_corner(&mut self, planes: [u32; 3]) -> u32 {
        let exact = Homogeneous::of(planes.map(|k| self.planes[k as usize].plane));
        let place = exact.numerator.map(|v| v as f64 / (exact.denominator as f64 * SCALE));
        self.corners.push(Corner { planes, exact, place });
        self.corners.len() as u32 - 1
    }

    /// Whether a vertex is beyond a plane.
    fn is_beyond(corner: &Corner, plane: &Plane) -> bool {
        let terms = [0, 1, 2].map(|k| plane.normal[k] as f64 * corner.place[k] * SCALE);
        let value = terms[0] + terms[1] + terms[2] - plane.limit as f64;
        let size = terms.iter().map(|t| t.abs()).sum::<f64>() + (plane.limit as f64).abs();
        if value.abs() > size * 1e-12 {
            return value > 0.0;
        }
        corner.exact.side(*plane) > 0
    }

    fn cut(&mut self, side: Side) {
        let used: Vec<u32> = self.faces.iter().flat_map(|face| face.corners.iter().copied()).collect();
        let mut beyond = vec![false; self.corners.len()];
        for c in &used {
            beyond[*c as usize] = Self::is_beyond(&self.corners[*c as usize], &side.plane);
        }
        if !used.iter().any(|c| beyond[*c as usize]) {
            return;
        }
        let number = self.planes.len() as u32;
        self.planes.push(side);
        let mut made: Vec<([u32; 2], u32)> = Vec::new();
        let mut rim: Vec<(u32, u32)> = Vec::new();
        let faces = std::mem::take(&mut self.faces);
        for face in faces {
            let n = face.corners.len();
            let (mut kept, mut left, mut entered) = (Vec::with_capacity(n + 1), None, None);
            for k in 0..n {
                let (v, w) = (face.corners[k], face.corners[(k + 1) % n]);
                let (v_out, w_out) = (beyond[v as usize], beyond[w as usize]);
                if !v_out {
                    kept.push(v);
                }
                if v_out != w_out {
                    let key = [v.min(w), v.max(w)];
                    let known = made.iter().find(|(edge, _)| *edge == key).map(|(_, c)| *c);
                    let corner = known.unwrap_or_else(|| {
                        let other = self.corners[w as usize].planes;
                        let shared =
                            self.corners[v as usize].planes.into_iter().filter(|p| other.contains(p));
                        let mut planes = [number; 3];
                        for (slot, p) in planes.iter_mut().zip(shared.take(2)) {
                            *slot = p;
                        }
                        let corner = self.add_corner(planes);
                        made.push((key, corner));
                        corner
                    });
                    kept.push(corner);
                    if w_out {
                        left = Some(corner);
                    } else {
                        entered = Some(corner);
                    }
                }
            }
            if let (Some(left), Some(entered)) = (left, entered) {
                rim.push((entered, left));
            }
            if kept.len() >= 3 {
                self.faces.push(Face { name: face.name, corners: kept });
            }
        }
        let mut corners = Vec::with_capacity(rim.len());
        if let Some(&(first, _)) = rim.first() {
            let mut at = first;
            for _ in 0..rim.len() {
                corners.push(at);
                match rim.iter().find(|(from, _)| *from == at) {
                    Some((_, to)) => at = *to,
                    None => break,
                }
            }
        }
        self.faces.push(Face { name: number, corners });
    }

    fn reach(&self) -> f64 {
        let squared = |c: &u32| self.corners[*c as usize].place.iter().map(|v| v * v).sum::<f64>();
        self.faces.iter().flat_map(|face| face.corners.iter()).map(squared).fold(0.0, f64::max)
    }
}

/// The faces between cells of different objects within `bounds` (low, high; fixed point). `salt` selects the
/// perturbation of vertices.
#[must_use]
pub fn cracks(seeds: &[[i32; 3]], objects: &[u32], bounds: [[i32; 3]; 2], salt: u64) -> Cracks {
    let count = seeds.len();
    let object = |s: usize| objects.get(s).copied().unwrap_or(s as u32);
    // Of several seeds at one point, the first owns the cell.
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_key(|s| (seeds[*s as usize], *s));
    order.dedup_by_key(|s| seeds[*s as usize]);
    order.sort_unstable();
    let weight = |s: u32| (mix(u64::from(s) ^ 0x5eed) & 0x3fff) as i128;
    type Found = (u32, u32, Vec<([u32; 4], [f64; 3])>);
    let faces: Vec<Found> = order
        .par_iter()
        .flat_map_iter(|&i| {
            let seed = seeds[i as usize];
            let squared = |j: u32| {
                let to = seeds[j as usize];
                (0..3).map(|k| i64::from(to[k] - seed[k]).pow(2)).sum::<i64>()
            };
            let mut near: Vec<(i64, u32)> =
                order.iter().filter(|j| **j != i).map(|j| (squared(*j), *j)).collect();
            let close = near.len().min(96);
            if close < near.len() {
                near.select_nth_unstable(close);
                near[..close].sort_unstable();
            } else {
                near.sort_unstable();
            }
            let mut cell = Cell::new(seed, bounds, count as u32);
            let mut reach = cell.reach();
            for k in 0..near.len() {
                if k == close {
                    near[close..].sort_unstable();
                }
                let (far, j) = near[k];
                // The bisector lies at half the distance; with a margin for weights.
                if far as f64 > 4.0 * reach + 1024.0 {
                    break;
                }
                let normal = [0, 1, 2].map(|a| i64::from(seeds[j as usize][a] - seed[a]));
                let limit = (i128::from(far) << WEIGHT_BITS) + weight(j) - weight(i);
                let before = cell.planes.len();
                cell.cut(Side { plane: Plane { normal, limit }, name: j });
                if cell.planes.len() > before {
                    reach = cell.reach();
                }
            }
            let names: Vec<u32> = cell.planes.iter().map(|p| p.name).collect();
            let mut found: Vec<Found> = Vec::new();
            for face in &cell.faces {
                let j = names[face.name as usize];
                if j as usize >= count
                    || j < i
                    || object(j as usize) == object(i as usize)
                    || face.corners.len() < 3
                {
                    continue;
                }
                let corner = |c: &u32| {
                    let corner = &cell.corners[*c as usize];
                    let [a, b, c] = corner.planes.map(|p| names[p as usize]);
                    let mut key = [i, a, b, c];
                    key.sort_unstable();
                    (key, [0, 1, 2].map(|k| corner.place[k] + f64::from(seed[k])))
                };
                found.push((i, j, face.corners.iter().map(corner).collect()));
            }
            found.sort_by_key(|face| face.1);
            found
        })
        .collect();
    let mut keys: Vec<([u32; 4], [f64; 3])> = faces.iter().flat_map(|face| face.2.iter().copied()).collect();
    keys.sort_by_key(|key| key.0);
    keys.dedup_by_key(|key| key.0);
    let unit = (1u64 << (UNIT_BITS - SEED_BITS)) as f64;
    let name = |key: &[u32; 4]| key.iter().fold(0, |sum, k| mix(sum ^ u64::from(*k)));
    let points: Vec<Point> = keys
        .iter()
        .map(|(key, at)| by_a_hair(at.map(|v| (v * unit).round() as i64), name(key), salt))
        .collect();
    let mut cracks =
        Cracks { points, everywhere: order.first().map_or(0, |s| object(*s as usize)), ..Cracks::default() };
    for (i, j, corners) in &faces {
        let ring: Vec<u32> = corners
            .iter()
            .map(|(key, _)| keys.binary_search_by(|known| known.0.cmp(key)).unwrap_or_default() as u32)
            .collect();
        for k in 1..ring.len() - 1 {
            cracks.triangles.push([ring[0], ring[k], ring[k + 1]]);
            cracks.sides.push([object(*i as usize), object(*j as usize)]);
        }
    }
    cracks
}
