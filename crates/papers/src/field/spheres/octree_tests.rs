//! The tree over real fractures: octrees broken on the CPU, over five generations.

use std::{sync::Arc, time::Instant};

use crate::geometry::Aabb;
use crate::{
    compute::Compute,
    fracture::{BreakContext, Cancel, FractureParams, Impact, Passes, Preset, Strike, break_shape},
    mesh::builtin,
    shape::{Look, Octree, Shape},
    svo::Arena,
    voxelize::{Progress, voxelize},
};
use glam::{DMat4, DVec3};

use super::{
    super::distance::{FamilyField, FragmentId},
    crack::{Planted, PointGrid},
    forest::{ObjectPoint, SphereForest},
    interior::{Depth, Interior},
    points::{Containment, Sampling, containment},
    query::{Counts, Scratch},
    selection::{Beyond, HalfSpace, Placement, QueryCache, Selection},
    testing::{Ball, Random, check_promise},
};

/// A piece as its leaves have it; the depth is the distance to the nearest of a few points of its surface.
struct Voxels<'a> {
    octree: &'a Octree,
    surface: PointGrid,
}

impl<'a> Voxels<'a> {
    fn new(shape: &'a Shape, sampling: &Sampling) -> Self {
        let numbered = sampling.surface(shape).into_iter().zip(0..).collect::<Vec<_>>();
        Self { octree: shape.as_octree().unwrap(), surface: PointGrid::new(&numbered) }
    }
}

impl Interior for Voxels<'_> {
    fn inside(&self, p: DVec3) -> bool {
        containment(self.octree, p) != Containment::Outside
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        self.inside(p).then(|| Depth {
            distance: self.surface.nearest(p).map_or(0.0, |(_, distance)| distance),
            direction: DVec3::Y,
        })
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        self.octree.distance(p) <= r
    }

    fn outside_distance(&self, _: DVec3, _: f64) -> Option<Depth> {
        None
    }
}

/// What an object broke into.
pub(super) struct Broken {
    pub source: Arc<Shape>,
    /// Number of the fragment that broke (0: the source), and its parts. Fragments are numbered as they
    /// appear here.
    breaks: Vec<(usize, Vec<Arc<Shape>>)>,
}

/// Breaks a built-in shape, and then the largest dozen pieces of each generation.
pub(super) fn broken(name: &str, level: u32, generations: u32, seeds: u32) -> Broken {
    let voxels = voxelize(&builtin(name).unwrap(), level, &Progress::default()).unwrap();
    let octree = Octree::new(&Arc::new(voxels.forest), 0, voxels.grid);
    let source = Arc::new(Shape::octree(octree, 1000.0, Look::default()));
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    let mut breaks = Vec::new();
    let mut whole = vec![(0, Arc::clone(&source))];
    let mut fragments = 1;
    for generation in 0..generations {
        let mut next = Vec::new();
        for (number, shape) in whole {
            let rng = u64::from(generation) + 7 * number as u64;
            let params = FractureParams { seeds, rng, preset: Preset::Uniform, ..FractureParams::default() };
            let impact = Impact { point: shape.centre(), direction: DVec3::NEG_Z };
            let Ok(result) = break_shape(&context, &shape, &Strike::new(impact, &params)) else {
                continue;
            };
            let parts: Vec<Arc<Shape>> = result.parts.into_iter().map(|part| part.shape).collect();
            next.extend(parts.iter().enumerate().map(|(k, part)| (fragments + k, Arc::clone(part))));
            fragments += parts.len();
            breaks.push((number, parts));
        }
        next.sort_by(|a, b| b.1.mass_kg().total_cmp(&a.1.mass_kg()));
        next.truncate(12);
        whole = next;
    }
    Broken { source, breaks }
}

/// A piece and its forest.
pub(super) struct Fragment<'a> {
    generation: u32,
    pub shape: &'a Shape,
    pub forest: SphereForest,
}

/// Milliseconds.
pub(super) struct Times {
    build: f64,
    /// Of the first break: finding the new points, and the update.
    pub first: [f64; 2],
}

/// All fragments that there ever were, with forests that were updated from break to break.
pub(super) fn fragments<'a>(object: &'a Broken, sampling: &Sampling) -> (Vec<Fragment<'a>>, Times) {
    let start = Instant::now();
    let forest = SphereForest::build(&sampling.points(&object.source));
    let mut times = Times { build: ms(start), first: [0.0; 2] };
    let mut all = vec![Fragment { generation: 0, shape: &object.source, forest }];
    for (number, (parent, parts)) in object.breaks.iter().enumerate() {
        let shapes: Vec<&Shape> = parts.iter().map(|part| &**part).collect();
        let start = Instant::now();
        let fracture = sampling.fracture(&all[*parent].forest, &shapes);
        let traced = ms(start);
        let start = Instant::now();
        let forests = all[*parent].forest.fracture(&fracture).unwrap();
        if number == 0 {
            times.first = [traced, ms(start)];
            // Once more, with warm caches.
            let start = Instant::now();
            let again = sampling.fracture(&all[*parent].forest, &shapes);
            times.first[0] = times.first[0].min(ms(start));
            assert_eq!(again, fracture, "the same every time");
        }
        let generation = all[*parent].generation + 1;
        let made = shapes.into_iter().zip(forests);
        all.extend(made.map(|(shape, forest)| Fragment { generation, shape, forest }));
    }
    (all, times)
}

pub(super) fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A placement of one piece beside, at or in another of the same grid.
pub(super) fn pose(of: &Fragment<'_>, against: &Shape, random: &mut Random) -> Placement {
    let Aabb { low, high } = against.bounds();
    let (centre, radius) = of.forest.bound;
    let apart = random.between(0.0, 1.1) * (radius + 0.5 * (high - low).length());
    let at = low.midpoint(high) + random.direction() * apart;
    let turned = DMat4::from_rotation_translation(random.rotation(), at);
    Placement::new(turned * DMat4::from_translation(-centre))
}

#[test]
fn real_fractures_over_five_generations() {
    let object = broken("statue", 6, 5, 6);
    let sampling = Sampling::new(&object.source, 5);
    let (all, _) = fragments(&object, &sampling);
    let mut random = Random(21);
    let mut scratch = Scratch::default();
    for generation in 0..=5 {
        let own: Vec<&Fragment> = all.iter().filter(|f| f.generation == generation).collect();
        let (mut samples, mut far, mut trees, mut points) = (0, 0, 0, 0);
        for fragment in &own {
            assert_eq!(fragment.forest.validate(), Ok(()));
            trees += fragment.forest.trees();
            points += fragment.forest.len();
            let on_surface = fragment.forest.points().filter(|p| p.on_surface);
            let grid = PointGrid::new(&on_surface.map(|p| p.position).zip(0..).collect::<Vec<_>>());
            for sample in sampling.surface(fragment.shape) {
                samples += 1;
                let distance = grid.nearest(sample).map_or(f64::MAX, |(_, distance)| distance);
                far += usize::from(distance > sampling.cell);
            }
        }
        println!(
            "generation {generation}: {} pieces, {points} points, {trees} trees; {far} of {samples} places \
             are farther than a cell from a point",
            own.len()
        );
        assert!(far * 100 <= samples, "the surface is covered");
        let solids: Vec<Voxels> = own.iter().map(|f| Voxels::new(f.shape, &sampling)).collect();
        let mut colliding_poses = 0;
        for _ in 0..4000 {
            let (a, b) = (random.number() as usize % own.len(), random.number() as usize % own.len());
            let placement = pose(own[a], own[b].shape, &mut random);
            let colliding = own[a].forest.colliding_points(&solids[b], &placement, 0.0);
            colliding_poses += usize::from(!colliding.is_empty());
            for selection in [Selection::all(), Selection { epsilon: 0.5, ..Selection::of_radius(1.0) }] {
                own[a].forest.query(&solids[b], &placement, &selection, &mut scratch);
                if let Err(missed) = check_promise(scratch.contacts(), &colliding, &selection) {
                    panic!("generation {generation}: {missed}");
                }
            }
        }
        println!("    4000 pairs, of which {colliding_poses} collide: none missed");
        assert!(colliding_poses > 500);
    }
}

/// Along cracks leaves are uneven, and points pass through the steps between them.
#[test]
fn contacts_along_cracks_do_not_hang_on_what_was_kept() {
    let object = broken("statue", 6, 1, 20);
    let whole = FamilyField::new(&object.source, 4).unwrap();
    // The level at which they collide, and how far out is looked, and farther for the next query, voxels: as for
    // leaves, and as in the program two levels above them, where points are met that are far from any step.
    let differing = |planted: Planted, (level, tolerance, slack): (u32, f64, f64)| {
        let sampling = Sampling::new(&object.source, level);
        let (all, _) = fragments(&object, &sampling);
        let pieces = &all[1..];
        let shapes: Vec<&Shape> = pieces.iter().map(|piece| piece.shape).collect();
        let (field, names) = whole.after(FragmentId::WHOLE, &shapes).unwrap();
        let mut random = Random(5);
        let [mut scratch, mut plain] = [Scratch::default(), Scratch::default()];
        let (mut differ, mut asked, mut points) = (0, 0, [0; 2]);
        for _ in 0..300 {
            let (a, b) = (random.number() as usize % pieces.len(), random.number() as usize % pieces.len());
            let (forest, other) = (&pieces[a].forest, field.fragment(names[b]).unwrap());
            if a == b || !other.sphere_meets(forest.bound.0, forest.bound.1) {
                continue;
            }
            let selection = Selection {
                tolerance,
                beyond: Beyond::Deepest,
                quick: true,
                slack,
                ..Selection::of_radius(forest.bound.1)
            };
            let (mut at, mut kept) = (DMat4::IDENTITY, QueryCache::default());
            let fast = random.between(0.0, 0.2 * slack);
            for _ in 0..40 {
                let on = random.direction() * random.between(0.0, fast);
                at = DMat4::from_translation(on) * at;
                let placement = Placement::new(at);
                let known = (&[][..], planted);
                let with =
                    forest.query_with(&other, &placement, &selection, known, (Some(&mut kept), &mut scratch));
                let without = forest.query(&other, &placement, &selection, &mut plain);
                asked += 1;
                differ += usize::from(scratch.contacts() != plain.contacts());
                points = [points[0] + with.points, points[1] + without.points];
            }
        }
        println!("{planted:?}, level {level}: {differ} of {asked} queries differ, {points:?} points");
        assert!(asked > 1000 && points[0] < points[1]);
        differ
    };
    let (leaves, coarser) = ((6, 0.3, 0.5), (4, 1.0, 2.0));
    assert_eq!(differing(Planted::Nothing, leaves), 0);
    assert_eq!(differing(Planted::Nothing, coarser), 0);
    assert!(differing(Planted::StepsForgotten, leaves) > 0);
}

/// Spheres visited and time of queries in the same poses, of updated forests and of forests of the surfaces
/// alone.
#[test]
fn updated_forests_visit_about_as_many_spheres_as_rebuilt_ones() {
    for (name, level, physics_level, seeds) in
        [("statue", 6, 5, 90), ("statue", 6, 6, 90), ("vase", 6, 6, 30), ("statue", 7, 6, 14)]
    {
        let object = broken(name, level, 1, seeds);
        let sampling = Sampling::new(&object.source, physics_level);
        let (all, times) = fragments(&object, &sampling);
        let after: usize = all[1..].iter().map(|f| f.forest.len()).sum();
        println!(
            "{name} {level}/{physics_level}: {} points in {:.1} ms (with sampling), {} pieces with {after} \
             points: new points found in {:.2} ms, update {:.2} ms",
            all[0].forest.len(),
            times.build,
            all.len() - 1,
            times.first[0],
            times.first[1]
        );
        let rebuilt: Vec<SphereForest> = all
            .iter()
            .map(|f| {
                let point = |position| ObjectPoint { position, on_surface: true };
                SphereForest::build(&sampling.surface(f.shape).into_iter().map(point).collect::<Vec<_>>())
            })
            .collect();
        let mut random = Random(9);
        let mut scratch = Scratch::default();
        let pairs: Vec<(usize, usize, Placement)> = (0..3000)
            .map(|_| {
                let pick = |random: &mut Random| 1 + random.number() as usize % (all.len() - 1);
                let (a, b) = (pick(&mut random), pick(&mut random));
                (a, b, pose(&all[a], all[b].shape, &mut random))
            })
            .collect();
        let solids: Vec<Voxels> = all.iter().map(|f| Voxels::new(f.shape, &sampling)).collect();
        let selection = Selection { epsilon: 0.002 * all[0].forest.bound.1, ..Selection::of_radius(1.0) };
        let mut sums = [Counts::default(); 2];
        let mut took = [0.0; 2];
        let updated: Vec<&SphereForest> = all.iter().map(|f| &f.forest).collect();
        for (kind, forests) in [updated, rebuilt.iter().collect()].into_iter().enumerate() {
            let start = Instant::now();
            for (a, b, placement) in &pairs {
                let counts = forests[*a].query(&solids[*b], placement, &selection, &mut scratch);
                sums[kind].spheres += counts.spheres;
                sums[kind].points += counts.points;
                sums[kind].contacts += counts.contacts;
            }
            took[kind] = ms(start);
        }
        println!(
            "    spheres updated {} rebuilt {}: ratio {:.2}; time {:.1} / {:.1} ms: ratio {:.2}; contacts \
             {} / {}",
            sums[0].spheres,
            sums[1].spheres,
            sums[0].spheres as f64 / sums[1].spheres as f64,
            took[0],
            took[1],
            took[0] / took[1],
            sums[0].contacts,
            sums[1].contacts,
        );
        assert!(sums[0].spheres < 3 * sums[1].spheres);
    }
}

/// A real plate, which lies and rolls on the floor: contacts put out against points that collide.
#[test]
fn pieces_on_the_floor_keep_few_contacts() {
    let object = broken("box", 6, 1, 30);
    let sampling = Sampling::new(&object.source, 6);
    let (all, _) = fragments(&object, &sampling);
    let mut random = Random(17);
    let mut scratch = Scratch::default();
    let floor = HalfSpace { normal: DVec3::Y, offset: 0.0 };
    for beyond in [Beyond::Epsilon, Beyond::Deepest] {
        let (mut found, mut colliding, mut most) = (0, 0, 0);
        for _ in 0..3000 {
            let fragment = &all[random.number() as usize % all.len()];
            let turn = DMat4::from_quat(random.rotation());
            let heights = fragment.forest.points().map(|p| turn.transform_point3(p.position).y);
            let (lowest, radius) = (heights.fold(f64::MAX, f64::min), fragment.forest.bound.1);
            let sinks = random.between(0.0, 0.2) * radius;
            let placement = Placement::new(DMat4::from_translation(DVec3::Y * (-lowest - sinks)) * turn);
            let selection = Selection { beyond, ..Selection::of_radius(radius) };
            let counts = fragment.forest.query(&floor, &placement, &selection, &mut scratch);
            let all_points = fragment.forest.colliding_points(&floor, &placement, 0.0);
            assert_eq!(check_promise(scratch.contacts(), &all_points, &selection), Ok(()));
            (found, colliding, most) =
                (found + counts.contacts, colliding + all_points.len(), most.max(counts.contacts));
        }
        println!("{beyond:?}: {found} contacts (at most {most}) of {colliding} points that collide");
    }
}

#[test]
fn meshes_and_convex_bodies_have_points_and_break() {
    let mesh = Arc::new(builtin("sphere").unwrap());
    let shape = Shape::mesh(&mesh, 1.0, 1000.0, Look::default());
    let sampling = Sampling::new(&shape, 6);
    let points = sampling.points(&shape);
    let inside = points.iter().filter(|p| !p.on_surface).count();
    println!("a sphere of triangles: {} points, {inside} inside", points.len());
    assert!(inside > 20 && SphereForest::build(&points).validate().is_ok());
    let ball = Ball { centre: shape.centre(), radius: 0.5 };
    assert!(points.iter().filter(|p| !p.on_surface).all(|p| ball.inside(p.position)));
}
