//! What is drawn against the references: crack surfaces, copies, cells, labels, by plain loops over the whole
//! grid.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::geometry::Aabb;
use glam::{DVec3, Mat4, Vec3};

use super::{
    Blueprint, Inside, Maker, Part, Placing, Reading, boundary, color_of, crack, overlay, transition,
    wireframe,
};
use crate::{
    fracture::{
        Cancel, FractureParams, Fracturer, Pattern, Recipe, Source, Surface,
        crack::{CrackShape, CrackUniform, TransitionVoxel, reference::CrackReference},
        dust::voxel::DustReference,
        labelling::plain::Plain,
        reference::{Reference, fracture_by},
    },
    gpu::Gpu,
    mesh::builtin,
    render::{Overlay, piece_color},
    svo::{Arena, Forest, morton},
    voxelize::{Progress, voxelize},
};

const LEVEL: u32 = 6;

/// A vase, and fractures of it that are looked into.
pub(super) struct Bench {
    gpu: Gpu,
    fracturer: Fracturer,
    forest: Arc<Forest>,
}

impl Bench {
    pub fn open() -> Option<Self> {
        Self::of("vase")
    }

    pub fn of(name: &str) -> Option<Self> {
        let gpu = Gpu::for_test()?;
        let mesh = builtin(name).expect("a built-in shape");
        let forest = Arc::new(voxelize(&mesh, LEVEL, &Progress::default()).expect("it voxelises").forest);
        Some(Self { fracturer: Fracturer::new(&gpu).expect("the passes compile"), gpu, forest })
    }

    pub fn read(&self, surface: Surface, parts: &[Part]) -> Inside {
        let reading = Reading::of(parts, 4);
        let side = f64::from(1u32 << LEVEL);
        let params = FractureParams { seeds: 12, radii: vec![0.2, 0.5], rng: 3, ..FractureParams::default() };
        let impact = DVec3::new(0.5, 0.55, 0.8) * side;
        let bounds = Aabb::new(DVec3::ONE, DVec3::splat(side - 1.0));
        let pattern =
            Pattern::near_object(&params, impact, bounds, &self.forest, 0).expect("good parameters");
        let crack = CrackShape { transition_level: Some(4), ..CrackShape::default() };
        let recipe = Recipe { surface, crack, rng: 9, ..Recipe::default() };
        let spheres = params.radii.iter().map(|r| r * side).collect();
        let blueprint = Blueprint { pattern, recipe, impact, spheres, local: None };
        let mut arena = Arena::new(&self.gpu).expect("arena");
        let slot = arena.insert(&self.forest).expect("insert");
        let source = Source { arena: &arena, slot, forest: &self.forest, tree: 0, cancel: Cancel::never() };
        Inside::read(&self.fracturer, &source, blueprint, None, reading).expect("it breaks")
    }
}

/// Everything in grid coordinates: whole numbers of 1/512 of a transition voxel stay exact.
pub(super) fn drawn(inside: &Inside, part: impl Into<Part>) -> Overlay {
    overlay(inside, &[part.into()], &Placing::whole(Mat4::IDENTITY), 0.3)
}

/// Coordinates that compare.
fn bits(p: Vec3) -> [u32; 3] {
    // Adding zero makes -0 and 0 one.
    (p + 0.0).to_array().map(f32::to_bits)
}

fn words(inside: &Inside) -> CrackUniform {
    let Recipe { crack, rng, .. } = &inside.blueprint.recipe;
    CrackUniform::new(crack, *rng, 4).with_gap(crack, LEVEL)
}

/// Places of the transition level that hold something solid.
fn solid_places(forest: &Forest) -> BTreeSet<[u32; 3]> {
    let shift = forest.level - 4;
    let mut places: BTreeSet<[u32; 3]> =
        forest.leaves.keys.iter().map(|key| morton::decode(key).map(|v| v >> shift)).collect();
    forest.for_each_internal(|_, low, size| {
        for i in 0..size.pow(3) {
            let p = [low[0] + i % size, low[1] + i / size % size, low[2] + i / size / size];
            places.insert(p.map(|v| v >> shift));
        }
    });
    places
}

/// Crossed voxels by the reference.
fn crossed_voxels<'a>(
    forest: &Forest,
    cracks: &'a mut CrackReference<'_>,
) -> impl Iterator<Item = ([u32; 3], TransitionVoxel)> + 'a {
    solid_places(forest).into_iter().filter_map(|place| Some((place, cracks.voxel(place).ok()?)))
}

fn in_grid(place: [u32; 3], point: [i64; 3]) -> Vec3 {
    let edge = (1u32 << (LEVEL - 4)) as f32;
    Vec3::from([0, 1, 2].map(|a| (place[a] as f32 + point[a] as f32 / 512.0) * edge))
}

#[test]
fn crack_triangles_and_points_are_those_of_the_reference() {
    let Some(bench) = Bench::open() else { return };
    let inside = bench.read(Surface::Rough, &[]);
    let mut cracks = CrackReference::new(&inside.blueprint.pattern, words(&inside), LEVEL);
    let (mut triangles, mut points, mut crossed) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    for (place, voxel) in crossed_voxels(&bench.forest, &mut cracks) {
        let wide = |p: [i32; 3]| in_grid(place, p.map(i64::from));
        for triangle in voxel.triangles() {
            triangles.insert(triangle.points.map(|p| bits(wide(p))));
        }
        let of_kind = [voxel.edge_points.to_vec(), voxel.face_points.to_vec(), vec![Some(voxel.voxel_point)]];
        for (kind, list) in of_kind.into_iter().enumerate() {
            points.extend(list.into_iter().flatten().map(|p| (bits(wide(p)), kind, place)));
        }
        crossed.insert(place, voxel.objects.into_iter().collect::<BTreeSet<u32>>().len());
    }
    assert!(triangles.len() > 500 && crossed.len() > 50, "{} triangles", triangles.len());

    let shown = drawn(&inside, Maker::Triangles);
    let got: BTreeSet<_> = shown.triangles.iter().map(|t| [t.a, t.b, t.c].map(bits)).collect();
    assert_eq!(shown.triangles.len(), got.len(), "a triangle is drawn twice");
    assert!(got == triangles, "{} triangles, not {}", got.len(), triangles.len());
    let corners: BTreeSet<_> = triangles.iter().flatten().collect();
    assert!(shown.lines.iter().all(|l| corners.contains(&bits(l.start)) && corners.contains(&bits(l.end))));
    // The comparison is not blind: other noise makes other triangles.
    let shaken = CrackUniform { salt: words(&inside).salt ^ 1, ..words(&inside) };
    let mut other = CrackReference::new(&inside.blueprint.pattern, shaken, LEVEL);
    let moved = crossed_voxels(&bench.forest, &mut other)
        .flat_map(|(place, voxel)| voxel.triangles().map(|t| (place, t.points)).collect::<Vec<_>>())
        .filter(|(place, points)| !got.contains(&points.map(|p| bits(in_grid(*place, p.map(i64::from))))));
    assert!(moved.count() * 2 > got.len(), "other noise gives the same triangles");

    let shown = drawn(&inside, Maker::Points);
    let mut got: Vec<_> = shown
        .points
        .iter()
        .map(|p| (bits(p.at), crack::POINT_COLORS.iter().position(|c| *c == p.color).expect("a kind")))
        .collect();
    let mut wanted: Vec<_> = points.iter().map(|(at, kind, _)| (*at, *kind)).collect();
    got.sort_unstable();
    wanted.sort_unstable();
    assert!(got == wanted, "{} points, not {}", got.len(), wanted.len());

    // Every edge of a crossed voxel once, in the colour of the richest voxel that has it.
    let mut edges: BTreeMap<[[u32; 3]; 2], usize> = BTreeMap::new();
    for (place, kinds) in &crossed {
        for c in 0..8usize {
            for axis in (0..3).filter(|axis| c >> axis & 1 == 0) {
                let corner = |c: usize| [0, 1, 2].map(|a| 512 * (c >> a & 1) as i64);
                let ends = [c, c | 1 << axis].map(|c| bits(in_grid(*place, corner(c))));
                let known = edges.entry(ends).or_default();
                *known = (*known).max(*kinds);
            }
        }
    }
    let shown = drawn(&inside, Maker::Transition);
    let got: BTreeMap<_, _> = shown.lines.iter().map(|l| ([bits(l.start), bits(l.end)], l.color)).collect();
    assert_eq!(shown.lines.len(), edges.len());
    for (ends, kinds) in &edges {
        assert_eq!(got.get(ends), Some(&transition::COLORS[(kinds - 2).min(3)]), "{kinds} objects");
    }
}

#[test]
fn with_a_gap_the_borders_are_those_of_the_reference() {
    let Some(bench) = Bench::open() else { return };
    let inside = bench.read(Surface::Dusty, &[]);
    let mut dust = DustReference::new(&inside.blueprint.pattern, words(&inside), LEVEL);
    let mut wanted = Vec::new();
    for place in solid_places(&bench.forest) {
        let Ok(voxel) = dust.voxel(place) else { continue };
        for object in voxel.owners() {
            wanted.extend(
                voxel
                    .border(object)
                    .iter()
                    .map(|t| (t.points.map(|p| bits(in_grid(place, p))), piece_color(object).to_vec())),
            );
        }
    }
    let shown = drawn(&inside, Maker::Triangles);
    let mut got: Vec<_> =
        shown.triangles.iter().map(|t| ([t.a, t.b, t.c].map(bits), t.color[..3].to_vec())).collect();
    got.sort_unstable();
    wanted.sort_unstable();
    assert!(got.len() > 500 && got == wanted, "{} triangles, not {}", got.len(), wanted.len());
}

#[test]
fn the_boundary_set_is_every_copy_in_its_cells_colour_with_its_normal() {
    let Some(bench) = Bench::open() else { return };
    for surface in [Surface::Planar, Surface::Rough] {
        let inside = bench.read(surface, &[]);
        let Blueprint { pattern, recipe, .. } = &inside.blueprint;
        let Reference { copies, .. } = fracture_by(&bench.forest, 0, pattern, recipe).expect("it breaks");
        let shown = drawn(&inside, Maker::Fbs);
        let centre = |key: morton::Key| Vec3::from(morton::decode(key).map(|v| v as f32 + 0.5));
        let mut wanted: Vec<_> = copies.iter().map(|(_, key, _)| bits(centre(*key))).collect();
        let mut got: Vec<_> = shown.points.iter().map(|p| bits(p.at)).collect();
        got.sort_unstable();
        wanted.sort_unstable();
        assert!(got.len() > 5000 && got == wanted, "{surface:?}: {} copies, not {}", got.len(), wanted.len());
        // The colour is the cell's, darkened by at most a third.
        let cells: BTreeSet<(_, u32)> =
            copies.iter().map(|(cell, key, _)| (bits(centre(*key)), *cell)).collect();
        for point in shown.points.iter().step_by(7) {
            let same = |cell: u32| {
                let own = piece_color(cell);
                (0..3).all(|k| {
                    point.color[k] <= own[k] && f32::from(point.color[k]) >= 0.61 * f32::from(own[k]) - 1.0
                })
            };
            let here = cells.range((bits(point.at), 0)..=(bits(point.at), u32::MAX));
            assert!(here.map(|(_, cell)| *cell).any(same), "{surface:?}: a colour of no cell here");
        }
        for line in &shown.lines {
            let length = line.start.distance(line.end);
            assert!((length - boundary::NORMAL).abs() < 1e-3, "a normal of {length}");
        }
        assert_eq!(
            shown.lines.len(),
            shown.points.len().div_ceil(shown.points.len().div_ceil(boundary::MOST_NORMALS))
        );
    }
}

#[test]
fn seeds_and_faces_are_where_the_pattern_has_them() {
    let Some(bench) = Bench::open() else { return };
    let inside = bench.read(Surface::Planar, &[]);
    let pattern = &inside.blueprint.pattern;
    let shown = drawn(&inside, Maker::Seeds);
    // Each with its rim, then the impact.
    let seeds = pattern.seeds_in_voxels(LEVEL);
    assert_eq!(shown.points.len(), 2 * seeds.len() + 1);
    for (i, seed) in seeds.iter().enumerate() {
        let point = &shown.points[2 * i];
        assert_eq!((point.at, point.color), (DVec3::from(*seed).as_vec3(), color_of(i as u32, 255)));
        let rim = &shown.points[2 * i + 1];
        let [forward, behind] = [point, rim].map(|p| p.radius_pixels - p.back_pixels);
        assert!(rim.radius_pixels > point.radius_pixels && behind < forward, "the rim hides its seed");
    }
    for line in &shown.lines {
        let radius = f64::from(line.start.distance(inside.blueprint.impact.as_vec3()));
        assert!(inside.blueprint.spheres.iter().any(|r| (r - radius).abs() < 1e-3), "{radius}");
    }

    let shown = drawn(&inside, Maker::Faces);
    let seeds: Vec<DVec3> = seeds.into_iter().map(DVec3::from).collect();
    assert!(shown.triangles.len() > 30);
    for triangle in &shown.triangles {
        let middle = ((triangle.a + triangle.b + triangle.c) / 3.0).as_dvec3();
        let mut nearest: Vec<f64> = seeds.iter().map(|s| s.distance(middle)).collect();
        nearest.sort_by(f64::total_cmp);
        assert!(nearest[1] - nearest[0] < 1e-3, "a face of nobody at {middle}");
    }
}

#[test]
fn labels_are_those_of_the_plain_labelling_step_by_step() {
    let Some(bench) = Bench::open() else { return };
    for part in [Part::from(Maker::Labels).at(0), Part::from(Maker::Flood).at(2)] {
        let mut inside = bench.read(Surface::Planar, &[part]);
        let steps = inside.steps.as_ref().expect("it was asked for");
        let mut plain = Plain::new(&steps.voxels);
        plain.flatten = !steps.flood;
        let last = steps.steps().len();
        let mut past = vec![plain.labels.clone()];
        for _ in 0..last {
            plain.step();
            past.push(plain.labels.clone());
        }
        assert!(last >= 2, "{last} iterations");
        // Forwards, backwards and beyond the end.
        for at in [0, 1, last, 1, 0, last + 9] {
            let steps = inside.steps.as_mut().expect("still there");
            steps.show(at);
            assert_eq!((steps.at(), steps.labels()), (at.min(last), &past[at.min(last)][..]));
            let shown = drawn(&inside, part);
            let steps = inside.steps.as_ref().expect("still there");
            assert_eq!(shown.points.len(), steps.voxels.len());
            for (i, point) in shown.points.iter().enumerate().step_by(13) {
                let voxel = &steps.voxels.list[i];
                let size = (1u32 << voxel.size_log2) as f32;
                let centre = Vec3::from(morton::decode(voxel.key).map(|v| v as f32 + 0.5 * size));
                assert_eq!(bits(point.at), bits(centre));
                let own = piece_color(steps.labels()[i]);
                let share = f32::from(point.color[0]) / f32::from(own[0].max(1));
                assert!((0.6..=1.001).contains(&share), "{:?} for {own:?}", point.color);
            }
        }
        let steps = inside.steps.as_mut().expect("still there");
        steps.show(last);
        assert!(steps.agrees_with_union_find(), "the two labellings differ");
        assert_eq!(steps.distinct(), inside.fracture.pieces.len());
        let steps = inside.steps.as_mut().expect("still there");
        steps.show(1);
        assert!(!steps.agrees_with_union_find(), "they agree after one iteration already");
    }
}

#[test]
fn the_wireframe_has_every_cell_of_its_level() {
    let Some(bench) = Bench::open() else { return };
    for level in 1..=LEVEL {
        let cells = wireframe::cells_at(&bench.forest, 0, level);
        let shift = LEVEL - level;
        let mut wanted: Vec<[u32; 3]> =
            bench.forest.leaves.keys.iter().map(|key| morton::decode(key).map(|v| v >> shift)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut got = cells.boundary;
        got.sort_unstable();
        assert!(got == wanted, "level {level}: {} cells, not {}", got.len(), wanted.len());
        let mut internal = 0;
        bench.forest.for_each_internal(|_, _, size| internal += usize::from(size >= 1 << shift));
        assert_eq!(cells.internal.len(), internal, "level {level}");
    }
    let inside = bench.read(Surface::Planar, &[]);
    let edges = drawn(&inside, Part::from(Maker::Wireframe).at(3));
    assert!(edges.lines.iter().all(|l| (l.start.distance(l.end) - 8.0).abs() < 1e-3));
}

/// Drawn apart, what belongs to a piece moves with it, and a triangle is there for both of its sides.
#[test]
fn drawn_apart_everything_goes_with_its_piece() {
    let Some(bench) = Bench::open() else { return };
    let inside = bench.read(Surface::Rough, &[]);
    let offsets: Vec<Vec3> =
        (0..inside.fracture.pieces.len()).map(|i| Vec3::new(100.0 * (i + 1) as f32, 0.0, 0.0)).collect();
    let apart = Placing { world_from_grid: Mat4::IDENTITY, offsets };
    let drawn_apart = |maker: Maker| overlay(&inside, &[maker.into()], &apart, 0.0);
    let (whole, shown) = (drawn(&inside, Maker::Fbs), drawn_apart(Maker::Fbs));
    let starts = &inside.fracture.forest.tree_start;
    let mut from = 0;
    for (i, piece) in inside.fracture.pieces.iter().enumerate() {
        let tree = piece.tree as usize;
        let to = from + (starts[tree + 1] - starts[tree]) as usize;
        for k in from..to {
            assert_eq!(shown.points[k].at.x - whole.points[k].at.x, 100.0 * (i + 1) as f32);
        }
        from = to;
    }
    assert_eq!(from, shown.points.len());
    let sides = inside.voxels.iter().flat_map(|v| v.triangles().map(|t| t.sides).collect::<Vec<_>>());
    let wanted: usize =
        sides.map(|[a, b]| if inside.piece_of(a) == inside.piece_of(b) { 1 } else { 2 }).sum();
    assert_eq!(drawn_apart(Maker::Triangles).triangles.len(), wanted);
}
