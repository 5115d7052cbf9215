//! One transition voxel broken with a gap (2018, sec. 5.3): every object's part of it is a closed polyhedron of its
//! own.
//!
//! In: the corners' objects, and where each crossed edge leaves the object at either end. Out: the triangles, exact
//! tests of boxes and points. Whole numbers in 64 bits, plain loops, no code shared with the kernels.
//!
//! Where an object's corners are some of the voxel's, its solid is what the fans over its loops
//! ([`super::marching_cases`]) cut off. The fans' centres lie strictly inside the voxel, so a triangle meets a wall in
//! its segment only, which the voxel behind the wall has too.
//!
//! A dusty fracture on the whole grid, by plain loops: every solid leaf against every object's border in its
//! transition voxel.
//!
//! In: a pattern and a recipe's numbers. Out: who gets each leaf.

use std::collections::{BTreeMap, HashMap};

use super::marching_cases;
use crate::{
    fracture::{
        Pattern,
        voronoi::surface::rough::{
            CrackUniform, TransitionVoxel, UNITS,
            reference::{CrackReference, weight},
        },
    },
    geometry::exact::{cross, dot, minus},
};

/// Edge of a transition voxel in its own units.
const EDGE: i64 = crate::fracture::voronoi::surface::rough::UNITS as i64;

type Point = [i64; 3];

/// A transition voxel whose corners belong to several objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DustVoxel {
    /// Object of each corner.
    pub objects: [u32; 8],
    /// Of every crossed edge, where the solid of its low end's object ends and where that of its high end's begins;
    /// units from the low end, strictly inside the edge, in this order.
    pub splits: [Option<[i32; 2]>; 12],
    /// Border of each object that owns a corner.
    borders: BTreeMap<u32, Vec<DustTriangle>>,
}

/// One triangle of an object's border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DustTriangle {
    /// 2 x edge + end, 0 to 23: the crossed edge where it begins, and the end of it at which the object is.
    pub bit: u32,
    /// The object of this border.
    pub object: u32,
    /// Counter-clockwise seen from outside the object; the last is the centre of the fan.
    pub points: [[i64; 3]; 3],
}

/// The owners of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Objects that own some of it, ascending; empty: it is dust.
    pub objects: Vec<u32>,
    /// One of them owns the rest, so that none of it is dust.
    pub filled: bool,
    /// Whether the border of one of them passes through.
    pub touched: bool,
}

impl DustVoxel {
    /// A voxel and its borders.
    #[must_use]
    pub fn new(objects: [u32; 8], splits: [Option<[i32; 2]>; 12]) -> Self {
        let mut voxel = Self { objects, splits, borders: BTreeMap::new() };
        for object in objects {
            voxel.borders.insert(object, voxel.make_border(object));
        }
        voxel
    }

    /// The objects that own a corner, ascending.
    pub fn owners(&self) -> impl Iterator<Item = u32> + '_ {
        self.borders.keys().copied()
    }

    /// The triangles of an object's border; empty if it owns no corner.
    #[must_use]
    pub fn border(&self, object: u32) -> &[DustTriangle] {
        self.borders.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The corners of an object, a bit each.
    fn case(&self, object: u32) -> u8 {
        (0..8).filter(|c| self.objects[*c] == object).fold(0, |sum, c| sum | 1 << c)
    }

    /// Where an object's solid ends on a crossed edge, and at which end of the edge it is.
    fn end(&self, object: u32, edge: usize) -> (Point, usize) {
        let [low, high] = marching_cases::edge_ends(edge);
        let side = usize::from(self.objects[high] == object);
        let mut point: Point = std::array::from_fn(|a| EDGE * (low >> a & 1) as i64);
        point[edge / 4] = self.splits[edge].map_or(EDGE / 2, |split| i64::from(split[side]));
        (point, side)
    }

    fn make_border(&self, object: u32) -> Vec<DustTriangle> {
        let mut out = Vec::new();
        for around in marching_cases::loops(self.case(object)) {
            let ends: Vec<(Point, usize)> = around.iter().map(|edge| self.end(object, *edge)).collect();
            let centre: Point = std::array::from_fn(|a| {
                let sum: i64 = ends.iter().map(|(point, _)| point[a]).sum();
                (sum / ends.len() as i64).clamp(1, EDGE - 1)
            });
            for (k, edge) in around.iter().enumerate() {
                let (from, side) = ends[k];
                let to = ends[(k + 1) % ends.len()].0;
                out.push(DustTriangle { bit: (2 * edge + side) as u32, object, points: [from, to, centre] });
            }
        }
        out
    }

    /// The owners of the leaf that spans `low..high`, units. Objects are tested in ascending order; the first that owns
    /// the whole leaf leaves nothing to later ones, so if two polyhedra should overlap, the leaf still gets one owner.
    #[must_use]
    pub fn shares(&self, low: Point, high: Point) -> Shares {
        let centre = std::array::from_fn(|a| (low[a] + high[a]) / 2);
        let mut shares = Shares { objects: Vec::new(), filled: false, touched: false };
        for object in self.owners() {
            if self.border(object).iter().any(|t| touches(&t.points, low, high)) {
                shares.touched = true;
            } else if self.holds(object, centre) {
                shares.filled = true;
            } else {
                continue;
            }
            shares.objects.push(object);
            if shares.filled {
                break;
            }
        }
        shares
    }

    /// Whether a point strictly inside the voxel and on no triangle lies in an object's polyhedron: the parity of
    /// what a ray along +x crosses until the wall, and on whose part of the wall it ends. The point is taken to lie
    /// an infinitesimal step along +y and a still smaller one along +z from where it is; then the ray never meets
    /// an edge, and neither case needs a rule of its own.
    #[must_use]
    pub fn holds(&self, object: u32, p: Point) -> bool {
        let crossings = self.border(object).iter().filter(|t| crosses(&t.points, p)).count();
        (crossings % 2 == 1) != self.wall_holds(object, p)
    }

    /// Whether (p.y, p.z) lies on an object's part of the wall x = 1: the same in the plane, with a ray along +y to
    /// the wall's border.
    fn wall_holds(&self, object: u32, p: Point) -> bool {
        let crossings = marching_cases::face_segments(self.case(object), 1)
            .into_iter()
            .filter(|[from, to]| {
                let (a, b) = (self.end(object, *from).0, self.end(object, *to).0);
                // Strictly above p: p's step along +z makes equal heights lie below.
                let (a_above, b_above) = (a[2] > p[2], b[2] > p[2]);
                // Where the segment passes p's height, is it at a larger y? Equal ones lie behind, by p's step
                // along +y.
                let (low, high) = if a_above { (b, a) } else { (a, b) };
                a_above != b_above && turn(low, high, p) > 0
            })
            .count();
        // The ray ends on the edge from corner 3 to corner 7.
        let [low, high] = [3, 7].map(|c| self.objects[c] == object);
        let at_end = if low == high {
            low
        } else {
            (self.end(object, marching_cases::edge_between(3, 7)).0[2] > p[2]) == low
        };
        (crossings % 2 == 1) != at_end
    }
}

/// Twice the area of (a, b, p) seen along -x: positive where p lies to the left of the line from a up to b, that is
/// at smaller y.
fn turn(a: Point, b: Point, p: Point) -> i64 {
    (b[1] - a[1]) * (p[2] - a[2]) - (b[2] - a[2]) * (p[1] - a[1])
}

/// Whether the ray from p along +x passes through a triangle.
fn crosses(points: &[Point; 3], p: Point) -> bool {
    // In the (y, z) plane: is p inside? Each side must have p on the same hand; on the line its infinitesimal step
    // decides: along +y the turn changes by -(b.z - a.z), along +z by (b.y - a.y). A side without length in this
    // plane belongs to a triangle without area there, which no ray meets.
    let left = |a: Point, b: Point| {
        let by_step = if b[2] != a[2] { a[2] - b[2] } else { b[1] - a[1] };
        match turn(a, b, p) {
            0 => by_step > 0,
            turn => turn > 0,
        }
    };
    let [a, b, c] = *points;
    if turn(a, b, c) == 0 || left(a, b) != left(b, c) || left(b, c) != left(c, a) {
        return false;
    }
    // p is on no triangle, so it lies strictly on one side of the plane. Is the plane ahead, at larger x?
    let normal = cross(minus(b, a), minus(c, a));
    dot(normal, minus(a, p)).signum() * normal[0].signum() > 0
}

/// Whether a triangle and a closed box have a point in common: no gap along any of the 13 axes that can separate two
/// such convex bodies.
fn touches(points: &[Point; 3], low: Point, high: Point) -> bool {
    let edges: [Point; 3] = std::array::from_fn(|k| minus(points[(k + 1) % 3], points[k]));
    let units: [Point; 3] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let apart = |axis: Point| {
        let ends = |pick: fn(i64, i64) -> i64| {
            (0..3).map(|a| pick(axis[a] * low[a], axis[a] * high[a])).sum::<i64>()
        };
        let on_axis = points.map(|p| dot(p, axis));
        on_axis.iter().all(|v| *v > ends(i64::max)) || on_axis.iter().all(|v| *v < ends(i64::min))
    };
    !units.iter().any(|unit| apart(*unit))
        && !apart(cross(edges[0], edges[1]))
        && !edges.iter().any(|edge| units.iter().any(|unit| apart(cross(*edge, *unit))))
}

/// Voxels with gaps, made as they are asked for.
pub struct DustReference<'a> {
    cracks: CrackReference<'a>,
    words: CrackUniform,
    leaf_level: u32,
    voxels: HashMap<[u32; 3], Result<DustVoxel, u32>>,
}

impl<'a> DustReference<'a> {
    /// `words.transition` is the transition level.
    #[must_use]
    pub fn new(pattern: &'a Pattern, words: CrackUniform, leaf_level: u32) -> Self {
        let cracks = CrackReference::new(pattern, words, leaf_level);
        Self { cracks, words, leaf_level, voxels: HashMap::new() }
    }

    /// The transition voxel at a place, or the one object that has all its corners.
    pub fn voxel(&mut self, place: [u32; 3]) -> &Result<DustVoxel, u32> {
        let Self { cracks, words, voxels, .. } = self;
        voxels.entry(place).or_insert_with(|| cracks.voxel(place).map(|crossed| split(&crossed, words)))
    }

    /// Who gets the leaf at a place.
    pub fn leaf(&mut self, place: [u32; 3]) -> Shares {
        let shift = self.leaf_level - self.words.transition;
        let edge = i64::from(UNITS) >> shift;
        let low = place.map(|v| i64::from(v) % (1 << shift) * edge);
        match self.voxel(place.map(|v| v >> shift)) {
            Ok(crossed) => crossed.shares(low, low.map(|v| v + edge)),
            Err(object) => Shares { objects: vec![*object], filled: true, touched: false },
        }
    }
}

/// A crossed voxel with its edge points moved apart by the gap at either end's corner. `words` as for the reference.
#[must_use]
pub fn split(crossed: &TransitionVoxel, words: &CrackUniform) -> DustVoxel {
    let size = (1i64 << crate::fracture::UNIT_BITS) >> words.transition;
    let noise_words = CrackUniform { salt: words.salt ^ 0x6a09_e667, ..*words };
    let halves: [i32; 8] = std::array::from_fn(|c| {
        let corner = [0, 1, 2].map(|a| size * (i64::from(crossed.place[a]) + (c >> a & 1) as i64));
        // Value noise keeps to the middle; stretched, it also reaches its ends.
        let noise = (2 * weight(corner, &noise_words) - 128).clamp(0, 255) as i32;
        let share = 256 - words.irregularity * noise / 256;
        words.gap * share / (2 * 256 * 256)
    });
    let splits = std::array::from_fn(|edge| {
        let at = crossed.edge_points[edge]?[edge / 4];
        let [low, high] = marching_cases::edge_ends(edge);
        Some([(at - halves[low]).max(1), (at + halves[high]).min(UNITS - 1)])
    });
    DustVoxel::new(crossed.objects, splits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    /// xorshift, so that a failing case can be named by its number.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) % end
        }
    }

    /// A voxel with up to 8 objects. `gap`: largest half width; `spread`: how far split points stray from the middle.
    fn random_voxel(rng: &mut Random, gap: i32, spread: i32) -> DustVoxel {
        let kinds = 2 + rng.below(7);
        let objects: [u32; 8] = std::array::from_fn(|_| rng.below(kinds) as u32);
        let splits = std::array::from_fn(|edge| {
            let [a, b] = marching_cases::edge_ends(edge).map(|c| objects[c]);
            let mut draw = |end: i32| rng.below(end as u64 + 1) as i32;
            let at = (256 - spread + draw(2 * spread)).clamp(1, 511);
            let halves = [draw(gap), draw(gap)];
            (a != b).then_some([(at - halves[0]).max(1), (at + halves[1]).min(511)])
        });
        DustVoxel::new(objects, splits)
    }

    /// How often a closed polyhedron winds round a point, from the solid angles of its triangles and wall polygons.
    fn winding(voxel: &DustVoxel, object: u32, p: Point) -> i64 {
        let case = voxel.case(object);
        let real = |q: Point| DVec3::from_array(q.map(|v| v as f64));
        let corner = |c: usize| real(std::array::from_fn(|a| EDGE * (c >> a & 1) as i64));
        let mut faces: Vec<[DVec3; 3]> = voxel.border(object).iter().map(|t| t.points.map(real)).collect();
        for face in 0..6 {
            let corners = marching_cases::face_corners(face);
            let mine = |k: usize| case >> corners[k % 4] & 1 == 1;
            let mut polygons: Vec<Vec<DVec3>> = Vec::new();
            if (0..4).all(mine) {
                polygons.push(corners.map(corner).to_vec());
            }
            for k in 0..4 {
                if mine(k) && !mine(k + 3) {
                    let run = (1..4).take_while(|n| mine(k + n)).count() + 1;
                    let edge =
                        |a: usize, b: usize| marching_cases::edge_between(corners[a % 4], corners[b % 4]);
                    let mut polygon = vec![real(voxel.end(object, edge(k + 3, k)).0)];
                    polygon.extend((k..k + run).map(|n| corner(corners[n % 4])));
                    polygon.push(real(voxel.end(object, edge(k + run - 1, k + run)).0));
                    polygons.push(polygon);
                }
            }
            for polygon in polygons {
                faces.extend((1..polygon.len() - 1).map(|i| [polygon[0], polygon[i], polygon[i + 1]]));
            }
        }
        let p = real(p);
        let angle: f64 = faces
            .iter()
            .map(|f| {
                let [a, b, c] = f.map(|q| q - p);
                let (x, y, z) = (a.length(), b.length(), c.length());
                let above = a.dot(b.cross(c));
                2.0 * above.atan2(x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
            })
            .sum();
        let turns = angle / (4.0 * std::f64::consts::PI);
        assert!((turns - turns.round()).abs() < 1e-6, "the polyhedron is closed: {turns}");
        turns.round() as i64
    }

    impl DustVoxel {
        /// Whether no border touches a box, and none winds round its centre.
        pub fn winds_round_none(&self, low: Point, high: Point) -> bool {
            let centre = std::array::from_fn(|a| (low[a] + high[a]) / 2);
            self.owners().all(|object| {
                !self.border(object).iter().any(|t| touches(&t.points, low, high))
                    && winding(self, object, centre).rem_euclid(2) == 0
            })
        }
    }

    /// The boxes of a voxel cut 2^shift times a side.
    fn boxes(shift: u32) -> impl Iterator<Item = (Point, Point)> {
        let (side, edge) = (1i64 << shift, EDGE >> shift);
        (0..side.pow(3)).map(move |i| {
            let low = [i % side * edge, i / side % side * edge, i / side / side * edge];
            (low, low.map(|v| v + edge))
        })
    }

    #[test]
    fn the_inside_test_agrees_with_solid_angles() {
        let mut rng = Random(0x1234_5678_9abc_def1);
        let (mut points, mut inside, mut folded) = (0, 0, 0);
        for case in 0..3000 {
            let (gap, spread) = ([0, 40, 400][case % 3], [0, 100, 255][case / 3 % 3]);
            let voxel = random_voxel(&mut rng, gap, spread);
            for object in voxel.owners() {
                if voxel.owners().count() == 1 {
                    continue;
                }
                for (low, high) in boxes(2) {
                    if voxel.border(object).iter().any(|t| touches(&t.points, low, high)) {
                        continue;
                    }
                    let centre = std::array::from_fn(|a| (low[a] + high[a]) / 2);
                    let turns = winding(&voxel, object, centre);
                    points += 1;
                    folded += usize::from(!(0..=1).contains(&turns));
                    let holds = voxel.holds(object, centre);
                    inside += usize::from(holds);
                    assert_eq!(
                        holds,
                        turns.rem_euclid(2) == 1,
                        "case {case} object {object} at {centre:?}: {turns}"
                    );
                }
            }
        }
        println!("{points} leaves of objects, {inside} inside, {folded} where a border folds over itself");
        assert!(points > 100_000 && inside > 10_000 && inside * 4 < points * 3);
    }

    /// Symmetric splits put leaf centres exactly below edges and corners of triangles.
    #[test]
    fn the_inside_test_is_exact_on_ties() {
        let mut ties = 0;
        for case in 1..255u8 {
            let objects = std::array::from_fn(|c| u32::from(case >> c & 1));
            let splits = std::array::from_fn(|edge| {
                let [a, b] = marching_cases::edge_ends(edge).map(|c| objects[c]);
                (a != b).then_some([192, 320])
            });
            let voxel = DustVoxel::new(objects, splits);
            for object in 0..2 {
                for (low, high) in boxes(4) {
                    let border = voxel.border(object);
                    if border.iter().any(|t| touches(&t.points, low, high)) {
                        continue;
                    }
                    let centre: Point = std::array::from_fn(|a| (low[a] + high[a]) / 2);
                    ties += border
                        .iter()
                        .filter(|t| (0..3).any(|k| turn(t.points[k], t.points[(k + 1) % 3], centre) == 0))
                        .count();
                    let inside = winding(&voxel, object, centre).rem_euclid(2) == 1;
                    assert_eq!(
                        voxel.holds(object, centre),
                        inside,
                        "case {case} object {object} at {centre:?}"
                    );
                }
            }
        }
        println!("{ties} centres in line with a side of a triangle");
        assert!(ties > 1000);
    }

    /// How often polyhedra of two objects overlap; every leaf is still given away at most once.
    #[test]
    fn overlaps_are_rare_and_given_away_once() {
        let mut rng = Random(77);
        for (gap, spread, most) in
            [(0, 0, 0.0), (0, 128, 0.02), (40, 128, 0.02), (40, 255, 0.05), (400, 255, 0.05)]
        {
            let (mut leaves, mut both, mut crossed, mut dust) = (0usize, 0usize, 0usize, 0usize);
            for _ in 0..400 {
                let voxel = random_voxel(&mut rng, gap, spread);
                if voxel.owners().count() == 1 {
                    continue;
                }
                for (low, high) in boxes(3) {
                    leaves += 1;
                    let centre = std::array::from_fn(|a| (low[a] + high[a]) / 2);
                    let (mut whole, mut touching) = (0, 0);
                    for object in voxel.owners() {
                        if voxel.border(object).iter().any(|t| touches(&t.points, low, high)) {
                            touching += 1;
                        } else {
                            whole += usize::from(voxel.holds(object, centre));
                        }
                    }
                    both += usize::from(whole > 1);
                    crossed += usize::from(whole > 0 && touching > 0);
                    let shares = voxel.shares(low, high);
                    dust += usize::from(shares.objects.is_empty());
                    assert_eq!(shares.objects.is_empty(), whole + touching == 0);
                    assert_eq!(shares.filled, whole > 0);
                    assert!(shares.objects.is_sorted());
                }
            }
            println!(
                "half gap to {gap}, spread {spread}: {leaves} leaves, {dust} dust, {both} inside two objects, {crossed} inside \
                 one that another's border touches"
            );
            assert!((both as f64) <= most * leaves as f64);
        }
    }

    /// Whoever walks from a leaf that is wholly an object's to one it gets nothing of, passes a leaf that its
    /// border touches: pieces have no holes.
    #[test]
    fn no_inside_lies_open() {
        let mut rng = Random(5);
        for case in 0..600 {
            let voxel = random_voxel(&mut rng, [0, 60, 300][case % 3], [60, 255][case % 2]);
            if voxel.owners().count() == 1 {
                continue;
            }
            let shares: Vec<Shares> = boxes(3).map(|(low, high)| voxel.shares(low, high)).collect();
            for (i, own) in shares.iter().enumerate() {
                if own.touched || !own.filled {
                    continue;
                }
                let at = [i % 8, i / 8 % 8, i / 64].map(|v| v as i64);
                for n in 0..27i64 {
                    let q = [at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1];
                    if q.iter().all(|v| (0..8).contains(v)) {
                        let other = &shares[(q[0] + 8 * q[1] + 64 * q[2]) as usize];
                        assert!(other.objects.contains(&own.objects[0]), "case {case} at {at:?} and {q:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_box_that_a_triangle_only_grazes_is_touched() {
        let corner = [[0, 0, 256], [0, 256, 0], [256, 0, 0]];
        assert!(touches(&corner, [64, 64, 128], [128, 128, 192]), "its low corner lies on the plane");
        assert!(!touches(&corner, [64, 65, 128], [128, 128, 192]));
        assert!(touches(&corner, [256, 0, 0], [300, 64, 64]), "a corner on a corner");
        assert!(!touches(&corner, [200, 200, 0], [256, 256, 64]), "behind the hypotenuse");
    }
}
