//! Objects, sites and checks for the tests.

use super::{Beyond, Plane, Planes, Shard};
use glam::{DMat3, DVec3};

/// The same numbers for the same seed, 0 to 1 (Steele, Lea & Flood 2014, "splitmix").
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn point(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    pub(super) fn points(&mut self, count: usize) -> Vec<DVec3> {
        (0..count).map(|_| self.point()).collect()
    }
}

/// From (0, 0, 0) to (1, 1, 1), 12 triangles.
pub(super) fn cube() -> Vec<[DVec3; 3]> {
    let corner = |k: usize| DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2 & 1) as f64);
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    triangles.map(|t| t.map(corner)).collect()
}

pub(super) fn tetrahedron() -> Vec<[DVec3; 3]> {
    let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    vec![[o, y, x], [o, z, y], [o, x, z], [x, y, z]]
}

/// Of diameter 1 in the unit box: an octahedron whose sides are halved `times` times, 8 * 4^times triangles.
pub(super) fn octasphere(times: usize) -> Vec<[DVec3; 3]> {
    let mut triangles = Vec::new();
    for k in 0..8 {
        let sign = |bit: usize| if k >> bit & 1 == 0 { 1.0 } else { -1.0 };
        triangles.push([DVec3::X * sign(0), DVec3::Y * sign(1), DVec3::Z * sign(2)]);
    }
    halved(triangles, times)
}

/// Of diameter 1 in the unit box: an icosahedron whose sides are halved `times` times, 20 * 4^times triangles.
pub(super) fn icosphere(times: usize) -> Vec<[DVec3; 3]> {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let mut points = Vec::new();
    for (a, b) in [(1.0, golden), (-1.0, golden), (1.0, -golden), (-1.0, -golden)] {
        points.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    // Edges have length 2, all other distances are longer.
    let near = |a: DVec3, b: DVec3| a.distance(b) < 2.1;
    let mut triangles = Vec::new();
    for (i, a) in points.iter().enumerate() {
        for (j, b) in points.iter().enumerate().skip(i + 1).filter(|(_, b)| near(*a, **b)) {
            let thirds = points.iter().skip(j + 1).filter(|c| near(*a, **c) && near(*b, **c));
            triangles.extend(thirds.map(|c| [*a, *b, *c]));
        }
    }
    halved(triangles, times)
}

fn halved(mut triangles: Vec<[DVec3; 3]>, times: usize) -> Vec<[DVec3; 3]> {
    let onto = |p: DVec3| p / p.length();
    for _ in 0..times {
        let four = |[a, b, c]: [DVec3; 3]| {
            let [u, v, w] = [onto(a + b), onto(b + c), onto(c + a)];
            [[a, u, w], [u, b, v], [w, v, c], [u, v, w]]
        };
        triangles = triangles.into_iter().flat_map(four).collect();
    }
    triangles.iter().map(|t| t.map(|p| onto(p) * 0.5 + 0.5)).collect()
}

/// Of diameter and height 1 in the unit box.
pub(super) fn cylinder(sides: usize) -> Vec<[DVec3; 3]> {
    let rim = |k: usize, z: f64| {
        let angle = std::f64::consts::TAU * (k % sides) as f64 / sides as f64;
        DVec3::new(0.5 + 0.5 * libm::cos(angle), 0.5 + 0.5 * libm::sin(angle), z)
    };
    let mut triangles = Vec::new();
    for k in 0..sides {
        let [a, b, c, d] = [rim(k, 0.0), rim(k + 1, 0.0), rim(k + 1, 1.0), rim(k, 1.0)];
        triangles.extend([[a, b, c], [a, c, d]]);
        if k > 0 && k + 1 < sides {
            triangles.extend([[rim(0, 0.0), b, a], [rim(0, 1.0), d, c]]);
        }
    }
    triangles
}

/// Of diameter and height 1 in the unit box, with the tip up.
pub(super) fn cone(sides: usize) -> Vec<[DVec3; 3]> {
    let tip = DVec3::new(0.5, 0.5, 1.0);
    let rim = cylinder(sides).into_iter().map(|t| t.map(|p| if p.z > 0.0 { tip } else { p }));
    rim.filter(|[a, b, c]| a != b && b != c && c != a).collect()
}

/// The unit cube, each side cut into `count` times `count` squares.
pub(super) fn tiled_cube(count: usize) -> Vec<[DVec3; 3]> {
    let part = |[a, b, c]: [DVec3; 3]| {
        let at = move |i: usize, j: usize| {
            a + (b - a) * (i as f64 / count as f64) + (c - a) * (j as f64 / count as f64)
        };
        let low =
            (0..count).flat_map(move |i| (0..count - i).map(move |j| [at(i, j), at(i + 1, j), at(i, j + 1)]));
        let high = (1..count)
            .flat_map(move |i| (0..count - i).map(move |j| [at(i, j), at(i, j + 1), at(i - 1, j + 1)]));
        low.chain(high)
    };
    cube().into_iter().flat_map(part).collect()
}

/// Turned, made larger, moved and, as in a file of a mesh, rounded to single precision if `single`.
pub(super) fn moved(triangles: &[[DVec3; 3]], size: f64, offset: DVec3, single: bool) -> Vec<[DVec3; 3]> {
    let turn = |p: DVec3| {
        DVec3::new(
            0.48 * p.x - 0.8 * p.y + 0.36 * p.z,
            0.64 * p.x + 0.6 * p.y + 0.48 * p.z,
            0.8 * p.z - 0.6 * p.x,
        )
    };
    let round = |p: DVec3| if single { p.as_vec3().as_dvec3() } else { p };
    triangles.iter().map(|t| t.map(|p| round(turn(p) * size + offset))).collect()
}

/// `count` sites inside.
pub(super) fn sites_in(planes: &Planes, count: usize, seed: u64) -> Vec<DVec3> {
    let mut random = Random(seed);
    let (middle, unit) = (planes.frame.middle, planes.frame.unit);
    let mut sites = Vec::new();
    while sites.len() < count {
        let point = middle + (random.point() - 0.5) * unit;
        if outside(planes, point) < 0.0 {
            sites.push(point);
        }
    }
    sites
}

/// How far a point is outside the object; negative inside.
pub(super) fn outside(planes: &Planes, point: DVec3) -> f64 {
    let all = (0..planes.len()).map(|k| planes.plane(k));
    all.map(|plane| plane.normal.dot(point) - plane.distance).fold(f64::NEG_INFINITY, f64::max)
}

/// Half way between two sites, outward from the first.
pub(super) fn between(own: DVec3, other: DVec3) -> Plane {
    let normal = (other - own) / (other - own).length();
    Plane { normal, distance: normal.dot((own + other) * 0.5) }
}

fn plane_beyond(planes: &Planes, sites: &[DVec3], site: usize, beyond: Beyond) -> Plane {
    match beyond {
        Beyond::Mesh(index) => planes.plane(index),
        Beyond::Site(other) => between(sites[site], sites[other]),
    }
}

/// Volume, first and second moments about zero, by sums over the surface (the divergence theorem) with a rule of four
/// points that is exact for cubes: nothing in common with tetrahedra.
pub(super) fn moments(triangles: impl Iterator<Item = [DVec3; 3]>) -> (f64, DVec3, DMat3) {
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for [a, b, c] in triangles {
        let area = (b - a).cross(c - a) * 0.5;
        let inner = |p: DVec3, q: DVec3, r: DVec3| p * 0.6 + (q + r) * 0.2;
        let points = [
            (-27.0 / 48.0, (a + b + c) / 3.0),
            (25.0 / 48.0, inner(a, b, c)),
            (25.0 / 48.0, inner(b, c, a)),
            (25.0 / 48.0, inner(c, a, b)),
        ];
        for (weight, p) in points {
            let area = area * weight;
            volume += area.dot(p) / 3.0;
            first += area * p * p / 2.0;
            let squares = area * p * p * p / 3.0;
            let xy = area.x * p.x * p.x * p.y / 2.0;
            let yz = area.y * p.y * p.y * p.z / 2.0;
            let zx = area.z * p.z * p.z * p.x / 2.0;
            second += DMat3::from_cols(
                DVec3::new(squares.x, xy, zx),
                DVec3::new(xy, squares.y, yz),
                DVec3::new(zx, yz, squares.z),
            );
        }
    }
    (volume, first, second)
}

fn fans(shard: &Shard) -> impl Iterator<Item = [DVec3; 3]> {
    shard.faces.iter().flat_map(|face| {
        let at = |k: usize| shard.vertices[face[k] as usize];
        (1..face.len() - 1).map(move |k| [at(0), at(k), at(k + 1)])
    })
}

/// Twice the area, along the normal.
pub(super) fn area(shard: &Shard, face: &[u32]) -> DVec3 {
    let at = |k: usize| shard.vertices[face[k % face.len()] as usize];
    (0..face.len()).map(|k| (at(k) - at(0)).cross(at(k + 1) - at(0))).sum()
}

/// All checks of one shatter. `slack`: lengths and volumes may be off by this share.
pub(super) fn check(planes: &Planes, sites: &[DVec3], shards: &[Shard], slack: f64) -> Result<(), String> {
    check_solids(planes, sites, shards, slack)?;
    check_points(planes, sites, shards)
}

/// Those without random points, which take the most time.
pub(super) fn check_solids(
    planes: &Planes,
    sites: &[DVec3],
    shards: &[Shard],
    slack: f64,
) -> Result<(), String> {
    if !shards.is_sorted_by_key(|s| s.site) {
        return Err("shards are not in the order of sites".into());
    }
    check_sum(planes, shards, slack)?;
    check_each(planes, sites, shards, slack)?;
    check_neighbours(planes, shards, slack)
}

/// Shards have the volume of the whole.
pub(super) fn check_sum(planes: &Planes, shards: &[Shard], slack: f64) -> Result<(), String> {
    let whole = planes.shatter(&[planes.frame.middle]).map_err(|e| e.to_string())?[0].volume;
    let off = shards.iter().map(|s| s.volume).sum::<f64>() / whole - 1.0;
    if off.abs() > slack { Err(format!("volumes sum to {off:.2e} more than {whole}")) } else { Ok(()) }
}

/// Each shard is a solid, and its mass is right.
pub(super) fn check_each(
    planes: &Planes,
    sites: &[DVec3],
    shards: &[Shard],
    slack: f64,
) -> Result<(), String> {
    let unit = planes.frame.unit;
    let both = |shard: &Shard| {
        check_faces(planes, sites, shard, slack * unit).and_then(|()| check_mass(shard, unit, slack))
    };
    shards.iter().try_for_each(|shard| both(shard).map_err(|e| format!("site {}: {e}", shard.site)))
}

/// Faces are closed, convex, on the planes that they name, and no corner is there twice.
fn check_faces(planes: &Planes, sites: &[DVec3], shard: &Shard, slack: f64) -> Result<(), String> {
    let mut sides = std::collections::BTreeSet::new();
    for face in &shard.faces {
        for k in 0..face.len() {
            if !sides.insert([face[k], face[(k + 1) % face.len()]]) {
                return Err(format!("side {k} of face {face:?} is there twice"));
            }
        }
    }
    if let Some(open) = sides.iter().find(|[a, b]| !sides.contains(&[*b, *a])) {
        return Err(format!("side {open:?} has nothing beyond"));
    }
    if shard.vertices.len() + shard.faces.len() != sides.len() / 2 + 2 {
        return Err("corners, faces and sides are not those of one solid".into());
    }
    if shard.beyond.len() != shard.faces.len() || !shard.beyond.is_sorted_by(|a, b| a < b) {
        return Err("faces do not say what lies beyond".into());
    }
    for (face, beyond) in shard.faces.iter().zip(&shard.beyond) {
        let plane = plane_beyond(planes, sites, shard.site, *beyond);
        for (k, vertex) in shard.vertices.iter().enumerate() {
            let height = plane.normal.dot(*vertex) - plane.distance;
            let on = face.contains(&(k as u32));
            if height > slack || (on && height < -slack) {
                return Err(format!(
                    "vertex {k} is {height:.2e} outside the plane of {beyond:?} (on it: {on})"
                ));
            }
        }
        if area(shard, face).dot(plane.normal) <= 0.0 {
            return Err(format!("the face to {beyond:?} is turned inward"));
        }
    }
    Ok(())
}

fn check_mass(shard: &Shard, unit: f64, slack: f64) -> Result<(), String> {
    let about = shard.vertices[0];
    let (volume, first, second) = moments(fans(shard).map(|t| t.map(|p| p - about)));
    let mean = first / volume;
    let outer = |p: DVec3| DMat3::from_cols(p * p.x, p * p.y, p * p.z);
    let spread = second - outer(mean) * volume;
    let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
    let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - spread;
    let off = (shard.volume - volume).abs() / unit.powi(3);
    if off > slack {
        return Err(format!("volume {off:.2e} off"));
    }
    // Of a sliver all of whose digits are rounding there is nothing to compare.
    if volume < 1e-7 * unit.powi(3) {
        return Ok(());
    }
    let off = (shard.centre - about - mean).length() / unit;
    if off > slack {
        return Err(format!("centre {off:.2e} off"));
    }
    let difference = shard.inertia - inertia;
    let off = difference.to_cols_array().iter().fold(0.0, |most: f64, v| most.max(v.abs())) / trace;
    if off > 1e-6 { Err(format!("inertia {off:.2e} off")) } else { Ok(()) }
}

/// What one says of the other holds the other way round, to the same area.
pub(super) fn check_neighbours(planes: &Planes, shards: &[Shard], slack: f64) -> Result<(), String> {
    let unit = planes.frame.unit;
    for shard in shards {
        for (face, beyond) in shard.faces.iter().zip(&shard.beyond) {
            let Beyond::Site(other) = *beyond else { continue };
            let own = area(shard, face).length() / (unit * unit);
            let back = shards.iter().find(|s| s.site == other).and_then(|s| {
                let k = s.beyond.iter().position(|b| *b == Beyond::Site(shard.site))?;
                Some(area(s, &s.faces[k]).length() / (unit * unit))
            });
            // Where planes meet at small angles, the side between two faces is less sure than they are.
            if (own - back.unwrap_or(0.0)).abs() > 10.0 * slack {
                return Err(format!("{} has a face of {own:.2e} to {other}, which has {back:?}", shard.site));
            }
        }
    }
    Ok(())
}

/// Random points are in the shard of their nearest site, and in no other, if they are inside the object.
pub(super) fn check_points(planes: &Planes, sites: &[DVec3], shards: &[Shard]) -> Result<(), String> {
    let mut random = Random(7);
    let unit = planes.frame.unit;
    let corners = &planes.corners.at;
    let low = corners.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = corners.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    // By the planes of its own vertices.
    let sides_of = |shard: &Shard| -> Vec<Plane> {
        let plane = |face: &Vec<u32>| {
            let normal = area(shard, face).normalize_or_zero();
            Plane { normal, distance: normal.dot(shard.vertices[face[0] as usize]) }
        };
        shard.faces.iter().map(plane).collect()
    };
    let sides: Vec<Vec<Plane>> = shards.iter().map(sides_of).collect();
    for _ in 0..1000 {
        let point = planes.frame.to_object(low + (high - low) * (random.point() * 1.1 - 0.05));
        let from_surface = outside(planes, point);
        let mut nearest: Vec<(f64, usize)> =
            sites.iter().enumerate().map(|(k, s)| (s.distance(point), k)).collect();
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Equal sites are one; the earlier has the cell.
        let rival = nearest.iter().find(|(_, k)| sites[*k] != sites[nearest[0].1]);
        let clear = rival.is_none_or(|(d, _)| d - nearest[0].0 > 1e-4 * unit);
        if from_surface.abs() < 1e-4 * unit || !clear {
            continue;
        }
        for (shard, sides) in shards.iter().zip(&sides) {
            let is_in = sides.iter().all(|plane| plane.normal.dot(point) < plane.distance);
            let should = from_surface < 0.0 && nearest[0].1 == shard.site;
            if is_in != should {
                return Err(format!(
                    "{point} in the shard of {}: {is_in}, but should be {should}",
                    shard.site
                ));
            }
        }
        if from_surface < 0.0 && !shards.iter().any(|s| s.site == nearest[0].1) {
            return Err(format!("{point} is in no shard: {} has none", nearest[0].1));
        }
    }
    Ok(())
}
