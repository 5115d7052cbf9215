//! Closed meshes to split, in units, and sites to split them by.

use super::FineMesh;
use super::complex::Point;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::f64::consts::TAU;

pub type Soup = (Vec<DVec3>, Vec<[u32; 3]>);

pub fn mesh((corners, triangles): Soup) -> FineMesh {
    FineMesh::new(corners, triangles).unwrap()
}

pub fn icosphere(levels: u32, radius: f64, middle: DVec3) -> Soup {
    let g = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut corners: Vec<DVec3> = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        corners.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    let mut triangles = Vec::new();
    for a in 0..12_u32 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                let [p, q, r] = [a, b, c].map(|i| corners[i as usize]);
                let near = |p: DVec3, q: DVec3| (p.distance(q) - 2.0).abs() < 1e-9;
                if near(p, q) && near(q, r) && near(r, p) {
                    let outward = (q - p).cross(r - p).dot(p) > 0.0;
                    triangles.push(if outward { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    for _ in 0..levels {
        let mut halves: HashMap<(u32, u32), u32> = HashMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| {
                *halves.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    corners.push((corners[p as usize] + corners[q as usize]) / 2.0);
                    corners.len() as u32 - 1
                })
            });
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    (corners.into_iter().map(|c| c.normalize_or(DVec3::Z) * radius + middle).collect(), triangles)
}

pub fn torus(large: f64, small: f64, round: u32, across: u32, middle: DVec3) -> Soup {
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..round {
        for j in 0..across {
            let (a, b) = (TAU * f64::from(i) / f64::from(round), TAU * f64::from(j) / f64::from(across));
            let out = large + small * libm::cos(b);
            corners.push(middle + DVec3::new(out * libm::cos(a), out * libm::sin(a), small * libm::sin(b)));
            let at = |i: u32, j: u32| (i % round) * across + j % across;
            let [p, q, r, s] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[p, q, r], [p, r, s]]);
        }
    }
    (corners, triangles)
}

pub fn inverted((corners, triangles): Soup) -> Soup {
    (corners, triangles.into_iter().map(|[a, b, c]| [a, c, b]).collect())
}

pub fn together(soups: impl IntoIterator<Item = Soup>) -> Soup {
    let (mut corners, mut triangles): Soup = Default::default();
    for (more, faces) in soups {
        let offset = corners.len() as u32;
        corners.extend(more);
        triangles.extend(faces.into_iter().map(|t| t.map(|i| i + offset)));
    }
    (corners, triangles)
}

/// The surface of some cubes of a grid.
pub fn cubes(filled: impl Fn(i32, i32, i32) -> bool, size: [i32; 3], scale: f64, origin: DVec3) -> Soup {
    let mut all = BTreeSet::new();
    for x in 0..size[0] {
        for y in 0..size[1] {
            for z in 0..size[2] {
                if filled(x, y, z) {
                    all.insert([x, y, z]);
                }
            }
        }
    }
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    let mut names: BTreeMap<[i32; 3], u32> = BTreeMap::new();
    for cube in &all {
        for axis in 0..3 {
            for high in 0..2 {
                let mut beyond = *cube;
                beyond[axis] += 2 * high - 1;
                if all.contains(&beyond) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut quad = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(a, b)| {
                    let mut corner = *cube;
                    corner[axis] += high;
                    corner[u] += a;
                    corner[v] += b;
                    *names.entry(corner).or_insert_with(|| {
                        corners.push(origin + DVec3::from_array(corner.map(f64::from)) * scale);
                        corners.len() as u32 - 1
                    })
                });
                if high == 0 {
                    quad.reverse();
                }
                triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
            }
        }
    }
    (corners, triangles)
}

pub fn cube(scale: f64, origin: DVec3) -> Soup {
    cubes(|_, _, _| true, [1, 1, 1], scale, origin)
}

pub fn comb() -> Soup {
    cubes(|x, y, _| y == 0 || x % 2 == 0, [9, 4, 2], 1500.0, DVec3::splat(1000.0))
}

pub fn l_shape() -> Soup {
    cubes(|x, y, _| x == 0 || y == 0, [3, 3, 1], 4000.0, DVec3::splat(1111.5))
}

pub const LOW: Point = [-100; 3];
pub const HIGH: Point = [16_484; 3];

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 32
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub fn random_sites(count: usize, seed: u64) -> Vec<Point> {
    let mut random = Random(seed);
    (0..count).map(|_| [0; 3].map(|_: i32| (random.next() % 16_384) as i32)).collect()
}

/// A regular grid of sites; planes lie at multiples of `step` from `start`.
pub fn grid_sites(count: i32, step: i32, start: i32) -> Vec<Point> {
    let mut sites = Vec::new();
    for x in 0..count {
        for y in 0..count {
            for z in 0..count {
                sites.push([x, y, z].map(|k| start + step * k + step / 2));
            }
        }
    }
    sites
}
