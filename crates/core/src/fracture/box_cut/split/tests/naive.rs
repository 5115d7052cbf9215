//! Voronoi cells by brute force, exact: every site's cell is the box, cut by the plane to every other site.
//!
//! A vertex is kept with all planes that it lies on, so that edges and facets follow from sets: two vertices share an
//! edge if no third one lies on all planes that both lie on.

use super::complex::{Beyond, Complex, Facet, Plane, Point, Vertex};
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

struct Corner {
    at: Vertex,
    on: BTreeSet<usize>,
}

type Half = ([i128; 3], i128);

fn halves_of_box(low: Point, high: Point) -> Vec<(Beyond, Half)> {
    let mut walls = Vec::new();
    for k in 0..3 {
        let mut normal = [0; 3];
        normal[k] = -1;
        walls.push((Beyond::Wall(2 * k as u8), (normal, -i128::from(low[k]))));
        normal[k] = 1;
        walls.push((Beyond::Wall(2 * k as u8 + 1), (normal, i128::from(high[k]))));
    }
    walls
}

fn bisector(a: Point, b: Point) -> Half {
    let (a, b) = (a.map(i128::from), b.map(i128::from));
    let square = |p: [i128; 3]| p.iter().map(|x| x * x).sum::<i128>();
    ([0, 1, 2].map(|k| 2 * (b[k] - a[k])), square(b) - square(a))
}

fn side(at: &Vertex, (normal, limit): &Half) -> i128 {
    (0..3).map(|k| normal[k] * at.numerator[k]).sum::<i128>() - limit * at.denominator
}

fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

fn meet(p: &Half, q: &Half, r: &Half) -> Option<Vertex> {
    let (qr, rp, pq) = (cross(q.0, r.0), cross(r.0, p.0), cross(p.0, q.0));
    let below: i128 = (0..3).map(|k| p.0[k] * qr[k]).sum();
    if below == 0 {
        return None;
    }
    let above = [0, 1, 2].map(|k| p.1 * qr[k] + q.1 * rp[k] + r.1 * pq[k]);
    let common = above.iter().fold(below, |g, &n| gcd(g, n)) * below.signum();
    Some(Vertex { numerator: above.map(|n| n / common), denominator: below / common })
}

fn cell(sites: &[Point], own: usize, low: Point, high: Point) -> (Vec<(Beyond, Half)>, Vec<Corner>) {
    let mut halves = halves_of_box(low, high);
    let mut corners = Vec::new();
    for bits in 0..8 {
        let on: Vec<usize> = (0..3).map(|k| 2 * k + (bits >> k & 1)).collect();
        let at = meet(&halves[on[0]].1, &halves[on[1]].1, &halves[on[2]].1).unwrap();
        corners.push(Corner { at, on: on.into_iter().collect() });
    }
    let is_first = |k: usize| !sites[..k].contains(&sites[k]);
    if !is_first(own) {
        return (halves, Vec::new());
    }
    let mut others: Vec<usize> = (0..sites.len()).filter(|&k| k != own && is_first(k)).collect();
    let far = |k: usize| (0..3).map(|i| i64::from(sites[k][i] - sites[own][i]).pow(2)).sum::<i64>();
    others.sort_by_key(|&k| far(k));
    for other in others {
        let reach = corners
            .iter()
            .map(|c| c.at.position().distance_squared(position(sites[own])))
            .fold(0.0, f64::max);
        if far(other) as f64 > 4.0 * reach + 16.0 {
            break;
        }
        let half = bisector(sites[own], sites[other]);
        let name = halves.len();
        halves.push((Beyond::Site(other as u32), half));
        let sides: Vec<i128> = corners.iter().map(|c| side(&c.at, &half)).collect();
        for (corner, &s) in corners.iter_mut().zip(&sides) {
            if s == 0 {
                corner.on.insert(name);
            }
        }
        if sides.iter().all(|&s| s <= 0) {
            continue;
        }
        let mut made: BTreeMap<Vertex, BTreeSet<usize>> = BTreeMap::new();
        for (i, inner) in corners.iter().enumerate().filter(|&(i, _)| sides[i] < 0) {
            for (o, outer) in corners.iter().enumerate().filter(|&(o, _)| sides[o] > 0) {
                let common: Vec<usize> = inner.on.intersection(&outer.on).copied().collect();
                let is_edge = common.len() >= 2
                    && !(0..corners.len())
                        .any(|k| k != i && k != o && common.iter().all(|p| corners[k].on.contains(p)));
                if is_edge {
                    let at = (1..common.len())
                        .find_map(|k| meet(&halves[common[0]].1, &halves[common[k]].1, &half))
                        .unwrap();
                    made.entry(at).or_default().extend(common.into_iter().chain([name]));
                }
            }
        }
        let mut sides = sides.into_iter();
        corners.retain(|_| sides.next().unwrap() <= 0);
        corners.extend(made.into_iter().map(|(at, on)| Corner { at, on }));
    }
    (halves, corners)
}

fn position(p: Point) -> DVec3 {
    DVec3::from_array(p.map(f64::from))
}

/// All cells.
pub fn complex(sites: &[Point], low: Point, high: Point) -> Complex {
    let mut facets: BTreeMap<(u32, Beyond), Vec<Vertex>> = BTreeMap::new();
    for own in 0..sites.len() {
        let (halves, corners) = cell(sites, own, low, high);
        for (index, (beyond, half)) in halves.iter().enumerate() {
            if matches!(*beyond, Beyond::Site(other) if (other as usize) < own) {
                continue;
            }
            let on: Vec<&Corner> = corners.iter().filter(|c| c.on.contains(&index)).collect();
            // Two that share an edge share a second plane with each other; a facet has three corners not on one line.
            let has_area = on.len() >= 3
                && !(0..halves.len()).any(|p| p != index && on.iter().all(|c| c.on.contains(&p)));
            if has_area {
                facets.insert((own as u32, *beyond), ring(&on, half.0));
            }
        }
    }
    let vertices: BTreeSet<Vertex> = facets.values().flatten().copied().collect();
    let vertices: Vec<Vertex> = vertices.into_iter().collect();
    let mut facets_of = vec![Vec::new(); sites.len()];
    let facets: Vec<Facet> = facets
        .into_iter()
        .enumerate()
        .map(|(index, ((site, beyond), ring))| {
            facets_of[site as usize].push(index as u32);
            if let Beyond::Site(other) = beyond {
                facets_of[other as usize].push(index as u32);
            }
            let ring = ring.iter().map(|v| vertices.binary_search(v).unwrap() as u32).collect();
            Facet { site, beyond, ring }
        })
        .collect();
    Complex { sites: sites.to_vec(), low, high, vertices, facets, facets_of }
}

/// Counter-clockwise round the normal: by angle, which f64 tells apart for sites that are not placed to defeat it.
fn ring(on: &[&Corner], normal: [i128; 3]) -> Vec<Vertex> {
    let normal = DVec3::from_array(normal.map(|n| n as f64)).normalize_or(DVec3::Z);
    let middle = on.iter().map(|c| c.at.position()).sum::<DVec3>() / on.len() as f64;
    let u = normal.any_orthonormal_vector();
    let v = normal.cross(u);
    let mut ring: Vec<(f64, Vertex)> = on
        .iter()
        .map(|c| {
            let p = c.at.position() - middle;
            (libm::atan2(p.dot(v), p.dot(u)), c.at)
        })
        .collect();
    ring.sort_by(|a, b| a.0.total_cmp(&b.0));
    ring.into_iter().map(|(_, at)| at).collect()
}

#[allow(dead_code, reason = "the shape of the shared interface")]
pub fn plane(complex: &Complex, facet: u32) -> Plane {
    let facet = &complex.facets[facet as usize];
    match facet.beyond {
        Beyond::Site(other) => {
            let (normal, limit) = bisector(complex.sites[facet.site as usize], complex.sites[other as usize]);
            Plane { normal: normal.map(|n| n as i64), limit: limit as i64 }
        }
        Beyond::Wall(wall) => {
            let (normal, limit) = halves_of_box(complex.low, complex.high)[wall as usize].1;
            Plane { normal: normal.map(|n| n as i64), limit: limit as i64 }
        }
    }
}
