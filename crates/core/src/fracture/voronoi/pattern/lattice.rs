//! Regular patterns: bricks in a running bond, hexagonal columns, slabs, equal boxes.
//!
//! In: parameters, the object's bounds. Out: seeds on a lattice, whose cells are exactly these bodies: a brick is the cells
//! of two seeds (one at the end of every second course), so that flat bisectors bound it.

use glam::DVec3;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use super::presets::random_unit;
use crate::{
    fracture::{FractureParams, MAX_SEEDS, Preset},
    geometry::Aabb,
};

/// Sizes of the bodies that are tried, each this share of the one before; the one with the number of bodies nearest to what
/// is wanted is taken.
const FINER: f64 = 0.985;
const TRIALS: u32 = 700;
/// How far a plane between slabs moves at most, as a share of their thickness: slabs keep a tenth of it.
const MOST_MOVED: f64 = 0.45;
/// Distance of a moved plane's seeds, as a share of that to the nearer one of the two planes beside it.
const NEARER: f64 = 0.45;

/// Places of seeds and, for each, the index of the first seed of its body.
pub(super) type Lattice = (Vec<DVec3>, Vec<u32>);

/// The lattice of a regular preset within `bounds`; `None` for the others.
pub(super) fn lattice(params: &FractureParams, bounds: Aabb) -> Option<Lattice> {
    let frame = Frame::new(params.grain_axis, bounds);
    let (wanted, ratio) = (params.seed_count(), params.grain_ratio);
    match params.preset {
        Preset::Bricks => Some(bricks(&frame, wanted, ratio)),
        Preset::Hexagons => Some(hexagons(&frame, wanted, ratio)),
        Preset::Slabs => Some(slabs(&frame, params, bounds.size().max_element())),
        Preset::Lattice => Some(boxes(bounds, &params.counts, wanted)),
        _ => None,
    }
}

/// Axes of the lattice, and the box in these axes that holds the bounds.
struct Frame {
    /// Along courses, up, and across.
    axes: [DVec3; 3],
    middle: DVec3,
    /// Lengths of the box along the axes.
    size: [f64; 3],
}

impl Frame {
    fn new(up: DVec3, bounds: Aabb) -> Self {
        let up = up.normalize_or(DVec3::Y);
        let sides = bounds.size();
        // Courses run along the longer side of those that are square to the axis.
        let square = |axis: DVec3| axis - up * axis.dot(up);
        let length = |k: usize| square(DVec3::AXES[k]).length() * sides[k];
        let longest = (1..3).fold(0, |best, k| if length(k) > length(best) { k } else { best });
        let along = square(DVec3::AXES[longest]).normalize_or(up.any_orthonormal_vector());
        let axes = [along, up, along.cross(up)];
        let size = axes.map(|axis| (axis.abs() * sides).element_sum().max(1e-9));
        Self { axes, middle: bounds.middle(), size }
    }

    /// A place of coordinates from the low corner of the box.
    fn place(&self, at: [f64; 3]) -> DVec3 {
        (0..3).fold(self.middle, |p, k| p + self.axes[k] * (at[k] - 0.5 * self.size[k]))
    }
}

/// How many bodies of a size there are along a length.
fn fit(length: f64, size: f64) -> u32 {
    ((length / size).round()).clamp(1.0, f64::from(MAX_SEEDS)) as u32
}

/// The size, from `largest` down, at which the number of bodies is nearest to the wanted one. `count` gives the bodies and the
/// seeds; there are no more seeds than a pattern may have, and one body only where one is wanted.
fn nearest(wanted: u32, largest: f64, count: impl Fn(f64) -> [u64; 2]) -> f64 {
    let (mut size, mut best) = (largest, (u64::MAX, largest));
    for _ in 0..TRIALS {
        let [bodies, seeds] = count(size);
        let off = bodies.abs_diff(u64::from(wanted));
        if off < best.0 && seeds <= u64::from(MAX_SEEDS) && (bodies > 1 || wanted < 2) {
            best = (off, size);
        }
        size *= FINER;
    }
    best.1
}

/// Bricks `ratio` times as long as high, and half as deep as long, stretched so that they fill the box.
fn bricks(frame: &Frame, wanted: u32, ratio: f64) -> Lattice {
    let [length, height, depth] = frame.size;
    let counts = |h: f64| [fit(length, ratio * h), fit(height, h), fit(depth, 0.5 * ratio * h)];
    let largest = height.max(length / ratio).max(2.0 * depth / ratio);
    let bodies = |[along, courses, across]: [u32; 3]| {
        let rows = u64::from(courses) * u64::from(across);
        // A shifted row ends in two halves.
        [u64::from(along) * rows + rows / 2, 2 * u64::from(along) * rows]
    };
    let h = nearest(wanted, largest, |h| bodies(counts(h)));
    let [along, courses, across] = counts(h);
    let (mut places, mut bodies) = (Vec::new(), Vec::new());
    let halves = 2 * along;
    for (course, wythe) in (0..courses).flat_map(|course| (0..across).map(move |wythe| (course, wythe))) {
        let shift = (course + wythe) % 2;
        for half in 0..halves {
            let middle = |n: u32, of: u32, size: f64| (f64::from(n) + 0.5) / f64::from(of) * size;
            let at =
                [middle(half, halves, length), middle(course, courses, height), middle(wythe, across, depth)];
            // The first half of a brick has the same parity as the shift; a brick at the end may be one half.
            let is_second = half > 0 && (half + shift) % 2 == 1;
            let own = places.len() as u32;
            bodies.push(if is_second { own - 1 } else { own });
            places.push(frame.place(at));
        }
    }
    (places, bodies)
}

/// Hexagonal columns along the axis, in layers `ratio` times as high as wide.
fn hexagons(frame: &Frame, wanted: u32, ratio: f64) -> Lattice {
    let [length, height, depth] = frame.size;
    let row = 0.75f64.sqrt();
    let counts = |a: f64| [fit(length, a), fit(height, ratio * a), fit(depth, row * a)];
    // Cells that meet the box: one more a row, and the rows half beyond it. One more column does not meet it.
    let bodies = |[columns, layers, rows]: [u32; 3]| {
        let [columns, layers, rows] = [columns, layers, rows].map(u64::from);
        [(columns + 1) * (rows + 2) * layers, (columns + 2) * (rows + 2) * layers]
    };
    let a = nearest(wanted, length.max(depth).max(height / ratio), |a| bodies(counts(a)));
    let [columns, layers, rows] = counts(a);
    let a = (length / f64::from(columns)).min(depth / (row * f64::from(rows)));
    let (mut places, left) = (Vec::new(), |size: f64, n: u32, step: f64| 0.5 * (size - f64::from(n) * step));
    // One more on every side: the cells of the outermost ones lie half beyond the box.
    for (r, layer) in (-1..=rows as i32).flat_map(|r| (0..layers).map(move |layer| (r, layer))) {
        let shift = if r.rem_euclid(2) == 1 { 0.5 } else { 0.0 };
        for c in -1..=columns as i32 {
            places.push(frame.place([
                left(length, columns, a) + (f64::from(c) + 0.25 + shift) * a,
                (f64::from(layer) + 0.5) / f64::from(layers) * height,
                left(depth, rows, row * a) + (f64::from(r) + 0.5) * row * a,
            ]));
        }
    }
    let bodies = (0..places.len() as u32).collect();
    (places, bodies)
}

/// Slabs across the axis: as many as seeds, or as thick as wanted, then with what is left over shared by the two ends.
fn slabs(frame: &Frame, params: &FractureParams, longest: f64) -> Lattice {
    let [length, height, depth] = frame.size;
    let at = |along: f64| frame.place([0.5 * length, along, 0.5 * depth]);
    let jitter = params.slab_jitter;
    // Two seeds a plane where planes are moved.
    let most = if jitter > 0.0 { MAX_SEEDS / 2 } else { MAX_SEEDS };
    let (wanted, thick) = match params.slab_spacing * longest {
        thick if thick > 0.0 => {
            let wanted = (height / thick - 1e-9).ceil().clamp(1.0, f64::from(most)) as u32;
            (wanted, thick.max(height / f64::from(wanted)))
        }
        _ => (params.seed_count().clamp(1, most), height / f64::from(params.seed_count().clamp(1, most))),
    };
    let start = 0.5 * (height - f64::from(wanted) * thick);
    if jitter == 0.0 || wanted == 1 {
        let middle = |n: u32| match params.slab_spacing > 0.0 {
            true => start + (f64::from(n) + 0.5) * thick,
            false => (f64::from(n) + 0.5) / f64::from(wanted) * height,
        };
        return ((0..wanted).map(|n| at(middle(n))).collect(), (0..wanted).collect());
    }
    let mut rng = ChaCha8Rng::seed_from_u64(params.rng);
    let planes: Vec<f64> = (1..wanted)
        .map(|n| start + (f64::from(n) + MOST_MOVED * jitter * (2.0 * random_unit(&mut rng) - 1.0)) * thick)
        .collect();
    let (mut places, mut bodies) = (vec![], vec![]);
    let mut body = 0;
    for (n, plane) in planes.iter().enumerate() {
        let before = n.checked_sub(1).map_or(start, |before| planes[before]);
        let after = planes.get(n + 1).copied().unwrap_or(start + f64::from(wanted) * thick);
        // Seeds that mirror each other in the plane, in the nearer half of the slabs on both sides.
        let beside = NEARER * (plane - before).min(after - plane);
        places.push(at(plane - beside));
        bodies.push(body);
        body = places.len() as u32;
        places.push(at(plane + beside));
        bodies.push(body);
    }
    (places, bodies)
}

/// Equal boxes along the axes of the mesh: as many along each as `counts` says, else about `wanted` that are nearly cubes.
fn boxes(bounds: Aabb, counts: &[u32], wanted: u32) -> Lattice {
    let size = bounds.size().to_array().map(|side| side.max(1e-9));
    let frame = Frame { axes: DVec3::AXES, middle: bounds.middle(), size };
    let counts = match *counts {
        [x, y, z] => [x, y, z],
        _ => {
            let largest = size.into_iter().fold(0.0, f64::max);
            let edge = nearest(wanted, largest, |edge| {
                let [x, y, z] = size.map(|side| u64::from(fit(side, edge)));
                [x * y * z; 2]
            });
            size.map(|side| fit(side, edge))
        }
    };
    let middle = |n: u32, k: usize| (f64::from(n) + 0.5) / f64::from(counts[k]) * size[k];
    let rows = (0..counts[0]).flat_map(|x| (0..counts[1]).map(move |y| (x, y)));
    let cells = rows.flat_map(|(x, y)| (0..counts[2]).map(move |z| [x, y, z]));
    let places: Vec<DVec3> =
        cells.map(|[x, y, z]| frame.place([middle(x, 0), middle(y, 1), middle(z, 2)])).collect();
    let bodies = (0..places.len() as u32).collect();
    (places, bodies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::{Impact, Pattern};

    const BOUNDS: Aabb = Aabb { low: DVec3::new(10.0, 20.0, 40.0), high: DVec3::new(110.0, 80.0, 52.0) };

    fn pattern(preset: Preset, seeds: u32) -> Pattern {
        let params = FractureParams { preset, seeds, grain_ratio: 3.0, ..Default::default() };
        let forest = crate::fracture::ball(7);
        let impact = Impact { point: BOUNDS.middle(), direction: DVec3::NEG_Z };
        Pattern::at_impact(&params, impact, BOUNDS, &forest, 0).unwrap()
    }

    /// The body of a point, voxels.
    fn body(pattern: &Pattern, p: DVec3) -> u32 {
        let p = (p * 128.0).round().as_ivec3().to_array();
        pattern.objects[crate::fracture::nearest_seed(&pattern.seeds, p, |_| true).unwrap() as usize]
    }

    #[test]
    fn bricks_are_boxes_that_overlap_by_half() {
        let pattern = pattern(Preset::Bricks, 140);
        let ids = pattern.object_ids().len();
        assert!((126..=154).contains(&ids), "{ids}");
        let places = |axis: usize| {
            pattern.seeds.iter().map(|s| s[axis]).collect::<std::collections::BTreeSet<i32>>().len()
        };
        let (halves, courses) = (places(0), places(1));
        assert_eq!((halves, courses, places(2)), (12, 11, 2));
        let (step, height) = (100.0 / halves as f64, 60.0 / courses as f64);
        for (i, j) in (0..courses).flat_map(|j| (0..halves).map(move |i| (i, j))) {
            // Two places in one half, near opposite corners of it.
            let at = |x: f64, y: f64, z: f64| {
                let p = DVec3::new((i as f64 + x) * step, (j as f64 + y) * height, z);
                body(&pattern, BOUNDS.low + p)
            };
            let own = at(0.04, 0.05, 0.3);
            assert_eq!(own, at(0.96, 0.95, 5.7), "half {i} of course {j}");
            assert_ne!(own, at(0.5, 0.5, 6.3), "the other wythe");
            let next = body(
                &pattern,
                BOUNDS.low + DVec3::new((i as f64 + 1.04) * step, (j as f64 + 0.5) * height, 3.0),
            );
            let pairs = (i + j) % 2 == 0;
            if i + 1 < halves {
                assert_eq!(own == next, pairs, "half {i} of course {j}");
            }
        }
    }

    #[test]
    fn hexagons_and_slabs_have_about_as_many_bodies_as_wanted() {
        let slabs = pattern(Preset::Slabs, 6);
        let heights = (0..60).map(|y| body(&slabs, BOUNDS.low + DVec3::new(30.0, f64::from(y) + 0.5, 3.0)));
        let heights: Vec<u32> = heights.collect();
        assert_eq!(heights, (0..60).map(|y| y / 10).collect::<Vec<_>>());
        let columns = pattern(Preset::Hexagons, 60);
        let mut met = std::collections::BTreeMap::new();
        for (x, y) in (0..100).flat_map(|x| (0..60).map(move |y| (x, y))) {
            for z in 0..12 {
                let p = DVec3::new(f64::from(x) + 0.5, f64::from(y) + 0.5, f64::from(z) + 0.5);
                *met.entry(body(&columns, BOUNDS.low + p)).or_insert(0u32) += 1;
            }
        }
        assert!((40..=80).contains(&met.len()), "{}", met.len());
        // Every column that lies wholly inside has the same volume.
        let most = *met.values().max().unwrap();
        let whole = met.values().filter(|n| f64::from(**n) > 0.93 * f64::from(most)).count();
        assert!(6 * whole > met.len(), "{whole} of {}", met.len());
    }

    #[test]
    fn slabs_are_as_thick_as_wanted_and_planes_move_by_chance() {
        let heights = |spacing: f64, jitter: f64, rng: u64| -> Vec<u32> {
            let params = FractureParams {
                preset: Preset::Slabs,
                seeds: 8,
                slab_spacing: spacing,
                slab_jitter: jitter,
                rng,
                ..Default::default()
            };
            let (places, bodies) = lattice(&params, BOUNDS).unwrap();
            let pattern = Pattern { objects: bodies, ..Pattern::from_points(&places, 7).unwrap() };
            assert!(pattern.objects_are_sound());
            // Across the whole box a height has one body.
            let place = |x: f64, y: u32, z: f64| DVec3::new(x, f64::from(y) / 10.0 + 0.05, z);
            let bodies: Vec<u32> =
                (0..600).map(|y| body(&pattern, BOUNDS.low + place(3.0, y, 1.0))).collect();
            assert!(
                (0..600).all(|y| body(&pattern, BOUNDS.low + place(97.0, y, 11.0)) == bodies[y as usize])
            );
            assert!(bodies.is_sorted());
            bodies.chunk_by(|a, b| a == b).map(|slab| slab.len() as u32).collect()
        };
        // 60 high, 100 long: slabs of 25, and half of what is left over at both ends.
        assert_eq!(heights(0.25, 0.0, 1), [175, 250, 175]);
        assert_eq!(heights(0.0, 0.0, 1), [75; 8]);
        for jitter in [0.3, 1.0] {
            let found = heights(0.0, jitter, 1);
            assert_eq!(found.len(), 8);
            let reach = (75.0 * 0.9 * jitter) as u32 + 1;
            assert!(found.iter().all(|slab| slab.abs_diff(75) <= reach), "{found:?}");
            assert!(found.iter().any(|slab| slab.abs_diff(75) > reach / 8), "{found:?}");
            assert!(found == heights(0.0, jitter, 1) && found != heights(0.0, jitter, 2));
        }
        assert_eq!(heights(9.0, 1.0, 1), [600]);
    }

    #[test]
    fn a_lattice_has_equal_boxes_along_the_axes() {
        let counts = [5, 4, 3];
        let params = FractureParams {
            preset: Preset::Lattice,
            counts: counts.to_vec(),
            // The axes are those of the mesh, whatever the grain.
            grain_axis: DVec3::new(1.0, 2.0, -0.5),
            ..Default::default()
        };
        let (places, bodies) = lattice(&params, BOUNDS).unwrap();
        assert_eq!((places.len(), bodies), (60, (0..60).collect::<Vec<_>>()));
        let pattern = Pattern::from_points(&places, 7).unwrap();
        let side = BOUNDS.size() / DVec3::new(5.0, 4.0, 3.0);
        let mut met = std::collections::BTreeMap::new();
        for (x, y, z) in (0..5).flat_map(|x| (0..4).flat_map(move |y| (0..3).map(move |z| (x, y, z)))) {
            let low = BOUNDS.low + side * DVec3::new(f64::from(x), f64::from(y), f64::from(z));
            // Near the middle and near all corners it is one body, and no other box has it.
            let own = body(&pattern, low + 0.5 * side);
            for corner in 0..8 {
                let at = DVec3::from_array([0, 1, 2].map(|k| if corner >> k & 1 == 1 { 0.98 } else { 0.02 }));
                assert_eq!(body(&pattern, low + at * side), own, "{x} {y} {z}");
            }
            assert_eq!(met.insert(own, (x, y, z)), None);
        }
        assert_eq!(met.len(), 60);
        // 100 x 60 x 12: 45 nearly cubes of 12 are 8 x 5 x 1.
        let about = FractureParams { counts: Vec::new(), seeds: 45, ..params };
        let cubes = lattice(&about, BOUNDS).unwrap().0;
        assert!((38..=52).contains(&cubes.len()), "{}", cubes.len());
    }

    #[test]
    fn an_axis_and_a_flat_object_are_no_trouble() {
        for axis in [DVec3::X, DVec3::Z, DVec3::new(1.0, 2.0, -0.5)] {
            for preset in [Preset::Bricks, Preset::Hexagons, Preset::Slabs, Preset::Lattice] {
                let params = FractureParams { preset, seeds: 40, grain_axis: axis, ..Default::default() };
                let flat = Aabb { low: DVec3::ZERO, high: DVec3::new(64.0, 0.5, 64.0) };
                let (places, bodies) = lattice(&params, flat).unwrap();
                assert!(places.iter().all(|p| p.is_finite()) && places.len() == bodies.len());
                assert!((10..2000).contains(&places.len()), "{preset:?} {axis}: {}", places.len());
            }
        }
        let params = FractureParams::default();
        assert!(lattice(&params, BOUNDS).is_none());
    }
}
