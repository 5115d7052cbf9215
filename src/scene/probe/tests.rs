//! The probe against plain loops: seeds by sorting all of them, octrees by their lists of leaves and nodes, labels and
//! copies by walking through all voxels, triangles by clipping.

use std::sync::Arc;

use glam::DVec3;

use super::{Probe, ProbeKind, transition::touches};
use crate::{
    compute::Compute,
    fracture::{
        FractureParams, Fracturer, Pattern, Recipe, Source, Surface,
        crack::{CrackShape, UNITS},
    },
    geometry::Aabb,
    mesh::builtin,
    scene::overlays::{Blueprint, CrackArrays, Inside, Reading},
    svo::{Arena, Forest, Grid, morton},
    voxelize::{Progress, voxelize},
};

const LEVEL: u32 = 5;
const SIDE: u32 = 1 << LEVEL;

/// Whole numbers that repeat: a linear congruence.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % most
    }

    fn voxel(&mut self, side: u32) -> [u32; 3] {
        [self.below(side), self.below(side), self.below(side)]
    }
}

fn every_voxel() -> impl Iterator<Item = [u32; 3]> {
    (0..1u64 << (3 * LEVEL)).map(morton::decode)
}

fn vase() -> Arc<Forest> {
    let mesh = builtin("vase").expect("a built-in shape");
    Arc::new(voxelize(&mesh, LEVEL, &Progress::default()).expect("it voxelises").forest)
}

/// A broken vase with the published labelling, on the cores.
fn broken(surface: Surface, local: Option<f64>) -> Inside {
    let forest = vase();
    let params =
        FractureParams { seeds: 14, radii: vec![0.2, 0.5], local, rng: 3, ..FractureParams::default() };
    let impact = DVec3::new(0.5, 0.55, 0.8) * f64::from(SIDE);
    let bounds = Aabb::new(DVec3::ONE, DVec3::splat(f64::from(SIDE) - 1.0));
    let pattern = Pattern::near_object(&params, impact, bounds, &forest, 0).expect("good parameters");
    let crack = CrackShape { transition_level: Some(3), ..CrackShape::default() };
    let recipe = Recipe { surface, crack, rng: 9, ..Recipe::default() };
    let blueprint = Blueprint { pattern, recipe, impact, spheres: Vec::new(), local: None };
    let arena = Arena::new(&Compute::Cpu).expect("the cores have room");
    let source = Source::new(&arena, &forest, 0).expect("octrees of the cores need no arena");
    let fracturer = Fracturer::new(&Compute::Cpu).expect("the cores need no passes");
    let reading = Reading { labels: Some((false, None)), fields: None };
    Inside::read(&fracturer, &source, blueprint, None, reading).expect("it breaks")
}

#[test]
fn an_octree_is_told_voxel_by_voxel() {
    let forest = vase();
    let mut wanted = vec![(ProbeKind::Outside, 0); 1 << (3 * LEVEL)];
    for (leaf, key) in forest.leaves.keys.iter().enumerate() {
        wanted[key as usize] = (ProbeKind::Boundary, leaf);
    }
    forest.for_each_internal(|_, low, size| {
        let first = morton::encode(low) as usize;
        wanted[first..first + size.pow(3) as usize].fill((ProbeKind::Inside, 0));
    });
    let mut nodes = 0;
    for voxel in every_voxel() {
        let probe = Probe::of_leafs(&forest, 0, voxel);
        let (kind, leaf) = wanted[morton::encode(voxel) as usize];
        assert_eq!((probe.kind, probe.morton), (kind, morton::encode(voxel)), "{voxel:?}");
        let node = probe.node;
        assert!(
            node.size == SIDE >> node.level && node.corner.iter().all(|v| v % node.size == 0),
            "{node:?}"
        );
        assert!((0..3).all(|a| (node.corner[a]..node.corner[a] + node.size).contains(&voxel[a])), "{node:?}");
        nodes += u32::from(node.size > 1);
        let is_leaf = kind == ProbeKind::Boundary;
        assert_eq!((probe.boundary.coverage.is_some(), probe.boundary.surface.is_some()), (is_leaf, is_leaf));
        if is_leaf {
            assert_eq!((probe.boundary.coverage, node.size), (Some(forest.leaves.coverage[leaf]), 1));
            assert_eq!(
                probe.boundary.surface.map(|plane| plane.offset),
                Some(forest.leaves.colors[leaf].offset() + 0.0)
            );
        }
    }
    assert!(nodes > 100, "{nodes} voxels lie in larger nodes");
    let far = Probe::of_leafs(&forest, 0, [SIDE, 0, u32::MAX]);
    assert_eq!((far.kind, far.node.size, far.level), (ProbeKind::Outside, 1, LEVEL));
    assert_eq!(Probe::of_leafs(&forest, 9, [16; 3]).kind, ProbeKind::Outside);
    assert!(Probe::of_leafs(&forest, 0, [SIDE; 3]).with_pattern(&Pattern::default(), 99).seeds.is_empty());
}

/// Numbers of all seeds, the nearest to a point (units) first, and their squared distances.
fn sorted(pattern: &Pattern, point: [i64; 3]) -> Vec<(i64, u32)> {
    let distance = |seed: &[i32; 3]| (0..3).map(|a| (i64::from(seed[a]) - point[a]).pow(2)).sum::<i64>();
    let mut all: Vec<(i64, u32)> =
        (0u32..).zip(&pattern.seeds).map(|(s, seed)| (distance(seed), s)).collect();
    all.sort_unstable();
    all
}

#[test]
fn the_nearest_seeds_are_those_of_a_sorted_list() {
    let mut numbers = Numbers(11);
    let unit = 1i64 << (14 - LEVEL);
    let mut ties = 0;
    for _ in 0..60 {
        // Seeds in few places, corners and centres of voxels among them: equal distances are frequent.
        let seeds: Vec<[i32; 3]> =
            (0..12).map(|_| numbers.voxel(9).map(|v| v as i32 * unit as i32 * 2 - unit as i32)).collect();
        let objects: Vec<u32> = (0..12).map(|s| if s % 3 == 1 { s - 1 } else { s }).collect();
        let pattern = Pattern { seeds, objects };
        for _ in 0..40 {
            let voxel = numbers.voxel(17);
            let probe = Probe { voxel, level: LEVEL, ..Probe::default() }.with_pattern(&pattern, LEVEL);
            let centre = voxel.map(|v| i64::from(v) * unit + unit / 2);
            let all = sorted(&pattern, centre);
            let given: Vec<(i64, u32)> = probe.seeds.iter().map(|s| (s.squared_distance, s.seed)).collect();
            assert_eq!(given, all[..2], "{voxel:?} {pattern:?}");
            ties += u32::from(all[0].0 == all[1].0);
            let object = |seed: u32| pattern.objects[seed as usize];
            assert_eq!((probe.object, probe.cell), (Some(object(all[0].1)), Some(object(all[0].1))));
            let beyond = all.iter().find(|(_, seed)| object(*seed) != object(all[0].1)).copied();
            assert_eq!(probe.beyond.map(|s| (s.squared_distance, s.seed)), beyond);
            let in_voxels = |seed: u32| DVec3::from_array(pattern.seeds_in_voxels(LEVEL)[seed as usize]);
            let middle = DVec3::from_array(voxel.map(|v| f64::from(v) + 0.5));
            let near = in_voxels(all[0].1);
            assert!((probe.distance_to_seed.unwrap() - middle.distance(near)).abs() < 1e-12);
            if let Some((_, far)) = beyond.filter(|(_, far)| in_voxels(*far) != near) {
                let far = in_voxels(far);
                let height = ((near + far) * 0.5 - middle).dot((far - near).normalize());
                assert!((probe.distance_to_crack.unwrap() - height).abs() < 1e-9, "{height} {probe:?}");
            }
            let corners: Vec<u32> = (0..8)
                .map(|c| {
                    let at = [c & 1, c >> 1 & 1, c >> 2];
                    let at = std::array::from_fn(|a| (i64::from(voxel[a]) + at[a]) * unit);
                    sorted(&pattern, at)[0].1
                })
                .collect();
            assert_eq!(probe.corners.unwrap().to_vec(), corners, "{voxel:?} {pattern:?}");
        }
    }
    assert!(ties > 60, "only {ties} voxels have two nearest seeds");
}

#[test]
fn copies_and_labels_are_those_of_a_walk_through_all_voxels() {
    for (surface, local) in [(Surface::Planar, None), (Surface::Rough, None), (Surface::Planar, Some(0.3))] {
        let mut inside = broken(surface, local);
        inside.steps.as_mut().unwrap().show(1);
        let (mut shared, mut labelled) = (0, 0);
        for voxel in every_voxel().step_by(3) {
            let probe = Probe::of_leafs(&inside.forest, inside.tree, voxel).with_inside(&mut inside);
            let forest = Arc::clone(&inside.fracture.forest);
            let has = |tree: u32| Probe::of_leafs(&forest, tree, voxel).kind != ProbeKind::Outside;
            let pieces = inside.fracture.pieces.iter().enumerate();
            let holding: Vec<u32> = pieces.filter(|(_, p)| has(p.tree)).map(|(id, _)| id as u32).collect();
            let Some(own) = probe.piece else {
                assert!(holding.is_empty() && probe.label.is_none() && probe.kind == ProbeKind::Outside);
                continue;
            };
            assert!(holding.contains(&own), "{probe:?}");
            let copies: Vec<u32> = probe.copies.iter().filter_map(|copy| copy.piece).collect();
            assert_eq!(copies, if holding.len() > 1 { holding } else { Vec::new() });
            shared += u32::from(copies.len() > 1);
            let piece = &inside.fracture.pieces[own as usize];
            assert_eq!((probe.cell, probe.made_by.map(|of| of.rng)), (Some(piece.cell), Some(9)));
            // A centre in a piece's own object is that piece's: no other copy is preferred.
            let of_centre = probe.copies.iter().find(|copy| copy.cell == probe.object);
            assert!(
                of_centre.is_none_or(
                    |copy| inside.fracture.pieces[copy.piece.unwrap() as usize].cell == piece.cell
                )
            );
            let label = probe.label.clone().expect("all solid voxels have labels");
            assert_eq!(label.island, piece.tree);
            let steps = inside.steps.as_mut().unwrap();
            assert_eq!((steps.at(), label.iterations.len()), (1, steps.steps().len() + 1));
            // A voxel begins with its own number in the list.
            let row = label.iterations[0] as usize;
            let listed = steps.voxels.list[row];
            let low = morton::decode(listed.key);
            assert!((0..3).all(|a| voxel[a] >> listed.size_log2 == low[a] >> listed.size_log2));
            assert_eq!(listed.tree, piece.tree);
            assert!(listed.leaf.is_some() || probe.kind == ProbeKind::Inside, "{probe:?}");
            assert_eq!(label.iterations[1], steps.labels()[row]);
            labelled += 1;
        }
        assert!(shared > 10 && labelled > 500, "{surface:?}: {shared} of {labelled}");
    }
}

#[test]
fn transition_voxels_are_those_of_the_arrays() {
    for surface in [Surface::Rough, Surface::Dusty] {
        let mut inside = broken(surface, None);
        let arrays = CrackArrays::of(&inside);
        let (mut found, mut touching) = (0, 0);
        for voxel in every_voxel().step_by(5) {
            let probe = Probe::of_leafs(&inside.forest, inside.tree, voxel).with_inside(&mut inside);
            let holds = |[x, y, z, edge]: &[i32; 4]| {
                [x, y, z].iter().zip(voxel).all(|(low, v)| (**low..**low + edge).contains(&(v as i32)))
            };
            let row = arrays.voxels.iter().position(holds);
            assert_eq!(row.is_some(), probe.transition.is_some(), "{voxel:?}");
            let (Some(row), Some(transition)) = (row, probe.transition) else { continue };
            assert_eq!(transition.voxel.map(|v| v as i32), arrays.voxels[row]);
            assert_eq!(transition.objects.map(|v| v as i32), arrays.objects[row]);
            let points = arrays.point_voxels.iter().filter(|v| **v == row as i32).count();
            assert_eq!(transition.points as usize, points);
            let own = |t: &usize| arrays.triangle_voxels[*t] == row as i32;
            let mut rest = (0..arrays.triangles.len()).filter(own);
            for triangle in &transition.triangles {
                // In the order of the arrays: `find` goes on where it stopped.
                let same = |t: &usize| {
                    (arrays.triangles[*t], arrays.triangle_cells[*t])
                        == (triangle.points, triangle.cells.map(|cell| cell as i32))
                };
                assert!(rest.find(same).is_some(), "{triangle:?} is in no array");
            }
            let near = (0..arrays.triangles.len())
                .filter(own)
                .filter(|t| is_near(arrays.triangles[*t], voxel, 1e-9));
            assert_eq!(transition.triangles.len(), near.count(), "{surface:?} {voxel:?}");
            touching += transition.triangles.len();
            found += 1;
        }
        assert!(found > 100 && touching > 300, "{surface:?}: {found} {touching}");
    }
}

/// Whether a triangle reaches into a voxel's cube that is larger by `more` on all sides, by clipping it plane by
/// plane.
fn is_near(triangle: [[f64; 3]; 3], voxel: [u32; 3], more: f64) -> bool {
    let mut polygon: Vec<DVec3> = triangle.map(DVec3::from_array).to_vec();
    for axis in 0..3 {
        for (side, limit) in [(1.0, f64::from(voxel[axis]) + 1.0), (-1.0, -f64::from(voxel[axis]))] {
            let over = |p: DVec3| side * p[axis] - limit - more;
            let mut kept = Vec::new();
            for (k, from) in polygon.iter().enumerate() {
                let to = polygon[(k + 1) % polygon.len()];
                let (a, b) = (over(*from), over(to));
                if a <= 0.0 {
                    kept.push(*from);
                }
                if a * b < 0.0 {
                    kept.push(*from + (to - *from) * (a / (a - b)));
                }
            }
            polygon = kept;
        }
    }
    !polygon.is_empty()
}

#[test]
fn triangles_touch_cubes_exactly() {
    let units = i64::from(UNITS);
    // Transition voxels of four leaves a side: a leaf has 128 units.
    let far = [[0, 0, units], [units, 0, units], [0, units, units]];
    let at = |z: i64| [[0, 0, z], [units, 0, z], [0, units, z]];
    assert!(touches(&at(128), [0; 3], 4) && touches(&at(128), [0, 0, 1], 4), "a wall belongs to both cubes");
    assert!(!touches(&at(129), [0; 3], 4) && !touches(&at(127), [0, 0, 1], 4), "one unit beside is beside");
    assert!(touches(&at(129), [0, 0, 1], 4) && touches(&far, [0, 0, 3], 4));
    // A slanted plane x + y + z = 3 * 128 goes through one corner of a leaf, and one unit farther misses the leaf.
    let slanted = |sum: i64| [[sum, 0, 0], [0, sum, 0], [0, 0, sum]];
    assert!(touches(&slanted(384), [0; 3], 4) && !touches(&slanted(385), [0; 3], 4));
    // An edge passes one unit beside an edge of the cube, where neither normal parts them.
    let passing = |x: i64| [[x, 0, 300], [0, x, 300], [x, x, 511]];
    assert!(touches(&passing(256), [0, 0, 2], 4) && !touches(&passing(257), [0, 0, 2], 4));

    let mut numbers = Numbers(5);
    let mut hits = 0;
    for case in 0..4000 {
        let edge = 1 << (case % 4);
        let corners = [(); 3].map(|()| numbers.voxel(513).map(i64::from));
        let inner = numbers.voxel(edge);
        let in_leafs = corners.map(|p| p.map(|v| v as f64 * f64::from(edge) / 512.0));
        // Where touching depends on a hair, clipping by floats says nothing.
        let [narrow, wide] = [-1e-7, 1e-7].map(|more| is_near(in_leafs, inner, more));
        if narrow == wide {
            assert_eq!(touches(&corners, inner, edge), wide, "{corners:?} {inner:?} {edge}");
            hits += u32::from(wide);
        }
    }
    assert!((500..3500).contains(&hits), "{hits}");
}

#[test]
fn json_has_what_is_known_and_numbers_are_shifted_together() {
    let forest = vase();
    let bare = Probe::of_leafs(&forest, 0, [0; 3]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&bare.to_json()).unwrap(),
        serde_json::json!({
            "voxel": [0, 0, 0], "level": LEVEL, "morton": 0, "kind": "outside",
            "node": { "corner": bare.node.corner, "size": bare.node.size, "level": bare.node.level },
        })
    );
    let grid = Grid { level: LEVEL, origin: DVec3::new(1.0, 2.0, 3.0), h: 0.5 };
    let placed = Probe::of_leafs(&forest, 0, [2, 0, 4]).with_grid(&grid);
    assert_eq!(placed.centre_in_mesh, Some([2.25, 2.25, 5.25]));

    let mut inside = broken(Surface::Rough, None);
    let crossed = inside.voxels[0].place.map(|v| v * 4);
    let probe = Probe::of_leafs(&inside.forest, 0, crossed).with_inside(&mut inside);
    let later = probe.clone().numbered_from(100);
    let text = later.to_json();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |json: &serde_json::Value| json.as_u64().unwrap();
    assert!(number(&json["object"]) >= 100 && number(&json["seeds"][1]["seed"]) >= 100);
    assert!(number(&json["corners"][7]) >= 100 && number(&json["transition"]["objects"][0]) >= 100);
    assert_eq!(later.seeds[0].squared_distance, probe.seeds[0].squared_distance);
    assert!(!text.contains("null") && !text.contains("made_by"), "{text}");

    let gone = later.without_piece();
    assert_eq!((gone.kind, gone.piece, gone.cell), (ProbeKind::Outside, None, gone.object));
    assert!(gone.seeds.len() == 2 && gone.label.is_none() && gone.copies.is_empty());
}
