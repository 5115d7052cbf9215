//! F6: cells that own a part of a voxel's inside but none of its corners are counted and reported. The
//! reference here takes every voxel and every seed, cuts the seed's cell out of the voxel by clipping a
//! polyhedron, and calls it a part where something is left.

use std::{cell::RefCell, collections::BTreeSet};

use glam::DVec3;
use kintsugi::{
    fracture::{Pattern, Preset, Surface, missed_fragments},
    svo::{
        Forest,
        morton::{self, Key},
    },
};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use rayon::prelude::*;

use super::{
    bed::{Bench, Outcome},
    cases::{Case, any_case, plain},
    shapes::Shape,
    support::{
        program::{folder, run},
        results::{read_npz, read_report},
        solids::{cells_of, inside_of},
    },
};

/// Parts thinner than twice this, in 1/2^14 of the grid's side, are left open: rounding could decide them.
const MARGIN: f64 = 0.01;

/// What lies on the low side of all planes (normal, limit), inside the box from -`grow` to `edge` + `grow`
/// with all planes moved out by as much: whether anything is left.
fn is_left(planes: &[(DVec3, f64)], edge: f64, grow: f64) -> bool {
    let corner = |c: usize| {
        DVec3::from_array(std::array::from_fn(|k| if c >> k & 1 == 1 { edge + grow } else { -grow }))
    };
    let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let mut faces: Vec<Vec<DVec3>> = sides.iter().map(|side| side.map(corner).to_vec()).collect();
    for (normal, limit) in planes {
        let limit = limit + grow * normal.length();
        let over = |p: DVec3| normal.dot(p) - limit;
        let mut rim: Vec<DVec3> = Vec::new();
        for face in &mut faces {
            let mut cut = Vec::new();
            for (i, &a) in face.iter().enumerate() {
                let b = face[(i + 1) % face.len()];
                let (ha, hb) = (over(a), over(b));
                if ha <= 0.0 {
                    cut.push(a);
                }
                if (ha <= 0.0) != (hb <= 0.0) {
                    let meets = a.lerp(b, ha / (ha - hb));
                    cut.push(meets);
                    rim.push(meets);
                }
            }
            *face = cut;
        }
        faces.retain(|face| face.len() > 2);
        if faces.is_empty() {
            return false;
        }
        if rim.len() > 2 {
            // The new face, in order round its middle.
            let middle = rim.iter().sum::<DVec3>() / rim.len() as f64;
            let u = normal.any_orthogonal_vector();
            let v = normal.cross(u).normalize_or_zero() * u.length();
            rim.sort_by(|a, b| {
                let angle = |p: &DVec3| (*p - middle).dot(v).atan2((*p - middle).dot(u));
                angle(a).total_cmp(&angle(b))
            });
            faces.push(rim);
        }
    }
    true
}

/// Parts that are certainly there, and those that may be.
pub struct Parts {
    pub sure: BTreeSet<(Key, u32)>,
    pub possible: BTreeSet<(Key, u32)>,
}

impl Parts {
    /// By brute force over voxels and seeds.
    pub fn of(solid: &[Key], level: u32, pattern: &Pattern) -> Self {
        let edge = 1i64 << (14 - level);
        let distance = |at: [i64; 3], seed: usize| -> i64 {
            (0..3).map(|k| (at[k] - i64::from(pattern.seeds[seed][k])).pow(2)).sum()
        };
        let seeds = 0..pattern.seeds.len();
        let found: Vec<((Key, u32), bool)> = solid
            .par_iter()
            .flat_map_iter(|&key| {
                let low = morton::decode(key).map(|v| i64::from(v) * edge);
                let corners: [[i64; 3]; 8] =
                    std::array::from_fn(|c| std::array::from_fn(|k| low[k] + edge * (c >> k & 1) as i64));
                let nearest = |at: [i64; 3]| seeds.clone().min_by_key(|s| distance(at, *s)).expect("seeds");
                let owners = corners.map(|at| pattern.objects[nearest(at)]);
                let mut out = Vec::new();
                for seed in seeds.clone().filter(|s| !owners.contains(&pattern.objects[*s])) {
                    // One rival that is as near at all corners is as near everywhere. Of seeds at one place the
                    // first owns the cell.
                    let first = |rival: usize| rival < seed || pattern.seeds[rival] != pattern.seeds[seed];
                    let beaten = |rival: usize| {
                        let no_farther = |at: &[i64; 3]| distance(*at, rival) <= distance(*at, seed);
                        rival != seed && first(rival) && corners.iter().all(no_farther)
                    };
                    if seeds.clone().any(beaten) {
                        continue;
                    }
                    let planes: Vec<(DVec3, f64)> = seeds
                        .clone()
                        .filter(|rival| *rival != seed)
                        .map(|rival| {
                            let [own, other] = [seed, rival].map(|s| {
                                let at = pattern.seeds[s].map(i64::from);
                                DVec3::from_array(std::array::from_fn(|k| (at[k] - low[k]) as f64))
                            });
                            (2.0 * (other - own), other.length_squared() - own.length_squared())
                        })
                        .collect();
                    if is_left(&planes, edge as f64, MARGIN) {
                        let sure = is_left(&planes, edge as f64, -MARGIN);
                        out.push(((key, pattern.objects[seed]), sure));
                    }
                }
                out
            })
            .collect();
        let sure = found.iter().filter(|(_, sure)| *sure).map(|(part, _)| *part).collect();
        Self { sure, possible: found.into_iter().map(|(part, _)| part).collect() }
    }

    /// Says what is wrong with a list of parts.
    pub fn differ_from(&self, found: &[(Key, u32)]) -> Option<String> {
        let listed: BTreeSet<(Key, u32)> = found.iter().copied().collect();
        if listed.len() != found.len() {
            return Some("a part is counted twice".into());
        }
        let missed = self.sure.difference(&listed).next();
        let invented = listed.difference(&self.possible).next();
        match (missed, invented) {
            (None, None) => None,
            _ => Some(format!("{missed:?} is missed, {invented:?} is not there")),
        }
    }
}

/// All solid cells of a tree.
pub fn solid(forest: &Forest, tree: usize) -> Vec<Key> {
    let leaves = forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize;
    forest.leaves.keys.slice(leaves).iter().chain(inside_of(forest, tree)).collect()
}

/// Random shapes and patterns, local ones among them: the count equals the brute force, and no hidden part has a copy.
#[test]
fn hidden_parts_of_random_cases_equal_the_clipped_cells() {
    let Some(bench) = Bench::get() else { return };
    for (level, cases, seeds) in [(3, 40, 4), (4, 30, 2), (5, 20, 1)] {
        let sum = RefCell::new([0; 3]);
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
        let result = TestRunner::new(config).run(&any_case(level), |case| {
            // Small parts want many seeds on few voxels.
            let case = Case { seeds: case.seeds * seeds, surface: Surface::Planar, ..case };
            let forest = case.shape.octree(level);
            let (pattern, recipe) = case.parts(&forest, 0);
            let found = missed_fragments(&forest, 0, &pattern).parts;
            let parts = Parts::of(&solid(&forest, 0), level, &pattern);
            if let Some(what) = parts.differ_from(&found) {
                return Err(TestCaseError::fail(what));
            }
            let fracture = bench.run(&forest, 0, &pattern, &recipe);
            let got = Outcome::of(&fracture.map_err(|e| TestCaseError::fail(e.to_string()))?);
            let copied = |(key, object): &(Key, u32)| got.copies_at(*key).iter().any(|c| c.cell == *object);
            if let Some(part) = found.iter().find(|part| copied(part)) {
                return Err(TestCaseError::fail(format!("{part:?} is hidden and has a copy")));
            }
            let mut sum = sum.borrow_mut();
            let now = [1, found.len(), parts.possible.len() - parts.sure.len()];
            *sum = std::array::from_fn(|k| sum[k] + now[k]);
            Ok(())
        });
        match result {
            Ok(()) => {}
            // The line names the seeds of this test.
            Err(TestError::Fail(why, case)) => {
                panic!("{why}\n{}", Case { seeds: case.seeds * seeds, ..case }.recipe_line())
            }
            Err(TestError::Abort(why)) => panic!("{why}"),
        }
        let [cases, found, open] = sum.into_inner();
        println!("level {level}: {cases} cases, {found} hidden parts, {open} too thin to tell");
        assert!(found > 100 && open * 50 < found, "{found} {open}");
    }
}

/// Clustered seeds fall on one place now and then: the first of them owns the cell, in both counts.
#[test]
fn of_seeds_at_one_place_the_first_has_the_hidden_parts() {
    let case = Case {
        preset: Preset::Clustered,
        impact: [32, 73, 48],
        ..plain("vase", 3, Surface::Planar, 72, 12_139_994_896_056_069_415)
    };
    let forest = Shape::Sheet { thickness: 1, period: 8 }.octree(3);
    let (pattern, _) = case.parts(&forest, 0);
    let found = missed_fragments(&forest, 0, &pattern).parts;
    let twins = (0..72).filter(|&k| pattern.seeds[..k].contains(&pattern.seeds[k])).count();
    println!("{twins} seeds lie on an earlier one, {} hidden parts", found.len());
    assert!(twins > 0 && found.contains(&(89, 34)));
    assert_eq!(Parts::of(&solid(&forest, 0), 3, &pattern).differ_from(&found), None);
}

/// The count in the command's report, from what stands in its arrays.
#[test]
fn the_report_counts_what_the_arrays_show() {
    let out = folder("hidden");
    let text = out.to_string_lossy().into_owned();
    let arguments = ["fracture", "builtin:statue", "--level", "5", "--seeds", "300", "--pattern", "uniform"];
    if run(arguments.iter().chain(&["--local", "0.9", "--out", &text])).is_none() {
        return;
    }
    let (report, arrays) = (read_report(&out), read_npz(&out.join("voxels.npz")));
    let at = |p: &[i32]| morton::encode(std::array::from_fn(|k| p[k] as u32));
    let mut solid: Vec<Key> = arrays["source"].rows::<3>().iter().map(|p| at(p)).collect();
    for row in arrays["source_inside"].rows::<4>() {
        solid.extend(cells_of(std::array::from_fn(|k| row[k] as u32), row[3] as u32));
    }
    let unit = f64::from(1 << (14 - 5));
    let seeds = arrays["seeds"].floats();
    let pattern = Pattern {
        seeds: seeds.chunks_exact(3).map(|p| std::array::from_fn(|k| (p[k] * unit) as i32)).collect(),
        objects: arrays["seed_object"].ints().iter().map(|o| *o as u32).collect(),
    };
    let parts = Parts::of(&solid, 5, &pattern);
    let counted = report["counts"]["hidden"].as_u64().expect("hidden parts are counted") as usize;
    println!("{counted} hidden parts in the report, {} to {}", parts.sure.len(), parts.possible.len());
    assert!((parts.sure.len()..=parts.possible.len()).contains(&counted) && counted > 100);
    let listed =
        report["checks"].as_array().unwrap().iter().find(|c| c["name"] == "hidden_parts_are_counted");
    let figures = &listed.expect("a check of its own")["figures"];
    assert_eq!((figures["hidden"].as_f64(), figures["copied"].as_f64()), (Some(counted as f64), Some(0.0)));
}
