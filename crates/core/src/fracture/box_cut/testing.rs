//! What the tests of box cutting share: random numbers, arrangements of sites, and cells by brute force.
//!
//! The brute force cuts a box by every other site, whatever its distance. It holds faces as rings of vertices and
//! nothing else, and knows points by reduced fractions: another structure and another way to handle vertices on a plane
//! than in `cut`, so that both are not wrong in the same way.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    cell::{Cell, cells_with},
    complex::{Beyond, Complex, Facet, Plane, Point, Vertex},
    cut::Rules,
    sphere_tree::NearestBy,
};

/// Numbers that look random (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + (self.next() % (high - low + 1) as u64) as i32
    }

    pub fn point(&mut self, low: Point, high: Point) -> Point {
        std::array::from_fn(|k| self.between(low[k], high[k]))
    }

    pub fn points(&mut self, count: usize, low: Point, high: Point) -> Vec<Point> {
        (0..count).map(|_| self.point(low, high)).collect()
    }
}

/// The box that the arrangements are made for.
pub const LOW: Point = [-1000, 0, 200];
pub const HIGH: Point = [3000, 4000, 4200];

pub fn grid(side: i32) -> Vec<Point> {
    let step = 4000 / side;
    let at = |k: i32, i: i32| LOW[k as usize] + step / 2 + step * i;
    (0..side * side * side)
        .map(|i| [at(0, i % side), at(1, i / side % side), at(2, i / side / side)])
        .collect()
}

/// All permutations and signs of three numbers: on one sphere around the middle of the box.
pub fn on_a_sphere(numbers: [i32; 3]) -> Vec<Point> {
    let mut points = BTreeSet::new();
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
        for signs in 0..8 {
            let signed = |k: usize| numbers[order[k]] * (1 - 2 * (signs >> k & 1));
            points.insert(std::array::from_fn(|k| (LOW[k] + HIGH[k]) / 2 + signed(k)));
        }
    }
    points.into_iter().collect()
}

/// Sites of every kind, with names.
pub fn shapes() -> Vec<(String, Vec<Point>)> {
    let mut random = Random::new(1);
    let mut shapes: Vec<(String, Vec<Point>)> = vec![("none".into(), vec![])];
    let mut add = |name: &str, sites: Vec<Point>| shapes.push((format!("{name} ({})", sites.len()), sites));
    for count in [1, 2, 3, 5, 8, 13, 31, 32, 33, 34, 64, 65, 100, 200] {
        add("random", random.points(count, LOW, HIGH));
    }
    for (count, side) in [(40, 3), (100, 5), (200, 8)] {
        // Few whole numbers: many sites in line, on a plane, on a sphere, and equal ones.
        let coarse = random.points(count, [0; 3], [side; 3]);
        add("coarse", coarse.iter().map(|p| std::array::from_fn(|k| LOW[k] + 400 * p[k] + 200)).collect());
    }
    for side in [2, 3, 4, 5] {
        add("grid", grid(side));
        let shifted = |p: &Point| if p[0] / 7 % 2 == 0 { *p } else { [p[0], p[1] + 1, p[2]] };
        add("grid, some of it shifted", grid(side).iter().map(shifted).collect());
    }
    // Body-centred: 14 neighbours, and vertices of four cells exactly.
    let mut centred = grid(4);
    centred.extend(grid(4).iter().map(|p| p.map(|v| v + 500)).filter(|p| (0..3).all(|k| p[k] < HIGH[k])));
    add("body-centred grid", centred);
    add("sphere", on_a_sphere([300, 700, 1100]));
    add("sphere, octahedron", on_a_sphere([0, 0, 900]));
    add("sphere, 24", on_a_sphere([0, 350, 700]));
    let mut two = on_a_sphere([300, 700, 1100]);
    two.push([1000, 2000, 2200]);
    two.extend(on_a_sphere([100, 800, 1000]));
    add("sphere with its middle", two);
    let flat = |p: &Point| [p[0], p[1], 1234];
    add("plane", random.points(60, LOW, HIGH).iter().map(flat).collect());
    add("plane that is a wall", random.points(60, LOW, HIGH).iter().map(|p| [p[0], p[1], LOW[2]]).collect());
    add("grid in a plane", grid(5).iter().take(25).copied().collect());
    add("line", (0..40).map(|i| [-900 + 70 * i, 100 + 35 * i, 300 + 35 * i]).collect());
    add("line along an axis", (0..20).map(|i| [-900 + 70 * i, 2000, 2200]).collect());
    let some = random.points(20, LOW, HIGH);
    add("equal", [some.clone(), some.clone(), vec![some[3]; 5]].concat());
    add("all equal", vec![some[0]; 6]);
    add("outside", random.points(40, LOW.map(|v| v - 3000), HIGH.map(|v| v + 3000)));
    add("all outside", random.points(30, LOW.map(|v| v - 5000), LOW.map(|v| v - 1)));
    // The wall is the bisector: one of the two has only the wall.
    add("mirrored in a wall", vec![[-1300, 2000, 2000], [-700, 2000, 2000], [500, 900, 900]]);
    add(
        "corners",
        (0..8).map(|c| std::array::from_fn(|k| if c >> k & 1 == 0 { LOW[k] } else { HIGH[k] })).collect(),
    );
    let wide = 1 << 15;
    add("far away", random.points(50, [-wide; 3], [wide; 3]));
    add(
        "far corners",
        (0..8).map(|c| std::array::from_fn(|k| if c >> k & 1 == 0 { -wide } else { wide })).collect(),
    );
    let at = random.point(LOW, HIGH);
    add("close together", random.points(60, at, at.map(|v| v + 5)));
    shapes
}

/// Few sites on few whole numbers, often equal, and a box that often ends at a bisector.
pub fn full_of_ties(random: &mut Random) -> (Vec<Point>, Point) {
    let side = random.between(1, 6);
    let count = random.between(2, 30) as usize;
    let step = random.between(1, 1000);
    let points = random.points(count, [0; 3], [side; 3]);
    let sites = points.iter().map(|p| std::array::from_fn(|k| LOW[k] + step * p[k])).collect();
    (sites, std::array::from_fn(|k| LOW[k] + step * random.between(1, side)))
}

/// What a cell is, whoever made it: by what is beyond, the exact vertices of the facet, counter-clockwise, the smallest
/// first.
pub type Faces = BTreeMap<Beyond, Vec<Vertex>>;

/// The cell in the words of the brute force.
fn faces_of(cell: &Cell, sites: &[Point]) -> Faces {
    let mut faces = Faces::new();
    let exact: Vec<Vertex> =
        cell.vertices.iter().map(|v| Vertex::of(cell, v, sites[cell.site as usize])).collect();
    cell.for_each_face(
        |_| true,
        |plane, ring| {
            let ring = smallest_first(ring.iter().map(|v| exact[*v as usize]).collect());
            assert!(faces.insert(plane.beyond, ring).is_none(), "two planes of {:?}", plane.beyond);
        },
    );
    faces
}

/// The first site whose cell by `rules` is not that of the brute force.
pub fn difference(rules: Rules, by: NearestBy, sites: &[Point]) -> Option<u32> {
    difference_in(rules, by, sites, LOW, HIGH)
}

/// As [`difference`], in a box of one's own.
pub fn difference_in(rules: Rules, by: NearestBy, sites: &[Point], low: Point, high: Point) -> Option<u32> {
    let cells = cells_with(rules, by, sites, low, high);
    assert_eq!(cells.len(), sites.len());
    (0u32..)
        .zip(&cells)
        .find(|(site, cell)| {
            cell.site != *site || faces_of(cell, sites) != brute_force(sites, *site, low, high)
        })
        .map(|(site, _)| site)
}

/// Where three planes meet, in units.
fn crossing([a, b, c]: [&Plane; 3]) -> Vertex {
    let wide = |p: &Plane| p.normal.map(i128::from);
    let cross = |a: [i128; 3], b: [i128; 3]| -> [i128; 3] {
        std::array::from_fn(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
    };
    let (bc, ca, ab) = (cross(wide(b), wide(c)), cross(wide(c), wide(a)), cross(wide(a), wide(b)));
    let limits = [a, b, c].map(|p| i128::from(p.limit));
    let numerator = std::array::from_fn(|k| limits[0] * bc[k] + limits[1] * ca[k] + limits[2] * ab[k]);
    reduced(numerator, (0..3).map(|k| wide(a)[k] * bc[k]).sum())
}

/// `normal . x - limit`, times the denominator.
fn value(plane: &Plane, v: &Vertex) -> i128 {
    (0..3).map(|k| i128::from(plane.normal[k]) * v.numerator[k]).sum::<i128>()
        - i128::from(plane.limit) * v.denominator
}

fn reduced(numerator: [i128; 3], denominator: i128) -> Vertex {
    let mut divisor = denominator;
    for mut n in numerator {
        while n != 0 {
            (divisor, n) = (n, divisor % n);
        }
    }
    let divisor = divisor.abs() * denominator.signum();
    Vertex { numerator: numerator.map(|n| n / divisor), denominator: denominator / divisor }
}

/// The cell of `site`, by cutting the box with every other site.
pub fn brute_force(sites: &[Point], site: u32, low: Point, high: Point) -> Faces {
    let at = sites[site as usize];
    if (0..3).any(|k| low[k] >= high[k]) || sites[..site as usize].contains(&at) {
        return Faces::new();
    }
    let mut faces = box_faces(low, high);
    let mut planes: BTreeMap<Beyond, Plane> =
        (0..6).map(|w| (Beyond::Wall(w), plane_of(at, at, low, high, Beyond::Wall(w)))).collect();
    for (other, to) in sites.iter().enumerate() {
        // Of equal sites the first is named.
        if *to != at && !sites[..other].contains(to) {
            let beyond = Beyond::Site(other as u32);
            planes.insert(beyond, plane_of(at, *to, low, high, beyond));
            clip(&mut faces, &planes, beyond);
        }
    }
    faces.into_iter().map(|(beyond, ring)| (beyond, smallest_first(ring))).collect()
}

fn plane_of(at: Point, to: Point, low: Point, high: Point, beyond: Beyond) -> Plane {
    let named = if let Beyond::Wall(_) = beyond { beyond } else { Beyond::Site(1) };
    let facet = Facet { site: 0, beyond: named, ring: vec![] };
    Complex { sites: vec![at, to], low, high, vertices: vec![], facets: vec![facet], facets_of: vec![] }
        .plane(0)
}

pub fn smallest_first(mut ring: Vec<Vertex>) -> Vec<Vertex> {
    let smallest = (0..ring.len()).min_by_key(|k| ring[*k]).unwrap_or(0);
    ring.rotate_left(smallest);
    ring
}

fn box_faces(low: Point, high: Point) -> Faces {
    let mut faces = Faces::new();
    for wall in 0..6u8 {
        let (axis, is_high) = (usize::from(wall / 2), wall % 2 == 1);
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut ring: Vec<Vertex> = [(0, 0), (1, 0), (1, 1), (0, 1)]
            .map(|(a, b)| {
                let mut numerator = [0; 3];
                numerator[axis] = i128::from(if is_high { high } else { low }[axis]);
                numerator[next] = i128::from(if a == 1 { high } else { low }[next]);
                numerator[last] = i128::from(if b == 1 { high } else { low }[last]);
                Vertex { numerator, denominator: 1 }
            })
            .to_vec();
        if !is_high {
            ring.reverse();
        }
        faces.insert(Beyond::Wall(wall), ring);
    }
    faces
}

/// Cuts off what is outside of `plane`, as one clips polygons; the cap is what borders the cut.
fn clip(faces: &mut Faces, planes: &BTreeMap<Beyond, Plane>, beyond: Beyond) {
    let plane = &planes[&beyond];
    let outside = faces.values().flatten().any(|v| value(plane, v) > 0);
    let inside = faces.values().flatten().any(|v| value(plane, v) < 0);
    if !outside {
        return;
    }
    if !inside {
        faces.clear();
        return;
    }
    // Which face has the edge from one vertex to another.
    let mut face_of = BTreeMap::new();
    for (face, ring) in &*faces {
        for (k, v) in ring.iter().enumerate() {
            face_of.insert((*v, ring[(k + 1) % ring.len()]), *face);
        }
    }
    // From each vertex on the cut, going round the cap, to the next.
    let mut cap = BTreeMap::new();
    faces.retain(|face, ring| {
        let mut clipped: Vec<Vertex> = Vec::new();
        for (k, v) in ring.iter().enumerate() {
            let w = &ring[(k + 1) % ring.len()];
            let (here, there) = (value(plane, v), value(plane, w));
            if here <= 0 {
                clipped.push(*v);
            }
            if here.signum() * there.signum() < 0 {
                clipped.push(crossing([plane, &planes[face], &planes[&face_of[&(*w, *v)]]]));
            }
        }
        let remains = clipped.iter().any(|v| value(plane, v) < 0);
        if remains {
            for (k, v) in clipped.iter().enumerate() {
                let w = &clipped[(k + 1) % clipped.len()];
                if value(plane, v) == 0 && value(plane, w) == 0 {
                    cap.insert(*w, *v);
                }
            }
        }
        *ring = clipped;
        remains
    });
    let start = *cap.keys().next().unwrap();
    let mut ring = vec![start];
    while cap[ring.last().unwrap()] != start {
        ring.push(cap[ring.last().unwrap()]);
        assert!(ring.len() <= cap.len(), "the cap does not close");
    }
    assert_eq!(ring.len(), cap.len(), "the cap is in two parts");
    faces.insert(beyond, ring);
}
