//! The tree and its queries beside plain versions of them.

use std::time::Instant;

use glam::{DMat4, DVec3};

use super::{
    crack::{Planted, PointGrid},
    forest::{NONE, ObjectPoint, SphereForest},
    fracture::{CrackPoint, Fate, Fracture, FractureMismatch},
    hierarchy::{Hierarchy, level_of_rank, maximum_distance_order},
    interior::Interior,
    query::{Scratch, TreeContact},
    selection::{Beyond, HalfSpace, Placement, Selection},
    testing::{Ball, Cuboid, Random, Union, ball_points, check_promise, near_pose, plate_points, shatter},
};

/// The two farthest points, the plain way.
fn plain_pair(points: &[DVec3]) -> Option<(u32, u32)> {
    let mut best: Option<(f64, (u32, u32))> = None;
    for i in 0..points.len() {
        for j in i + 1..points.len() {
            let distance = points[i].distance_squared(points[j]);
            if best.is_none_or(|(most, _)| distance > most) {
                best = Some((distance, (i as u32, j as u32)));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

/// The order and the parents, the plain way: O(n^2).
fn plain_order(points: &[DVec3]) -> Vec<(u32, Option<u32>)> {
    let mut order: Vec<usize> = Vec::new();
    let Some(first) = plain_pair(points).map(|pair| pair.0 as usize).or((points.len() == 1).then_some(0))
    else {
        return Vec::new();
    };
    let mut nearest = vec![f64::INFINITY; points.len()];
    let mut next = Some(first);
    while let Some(chosen) = next {
        order.push(chosen);
        for (near, p) in nearest.iter_mut().zip(points) {
            *near = near.min(p.distance_squared(points[chosen]));
        }
        nearest[chosen] = -1.0;
        let left = (0..points.len()).filter(|i| !order.contains(i));
        next = left.max_by(|a, b| nearest[*a].total_cmp(&nearest[*b]).then(b.cmp(a)));
    }
    let parent = |rank: usize| {
        let above = if rank == 0 { 0 } else { 1 << (level_of_rank(rank) - 1) };
        let distance = |r: &usize| points[order[*r]].distance_squared(points[order[rank]]);
        (0..above).min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|r| r as u32)
    };
    order.iter().enumerate().map(|(rank, point)| (*point as u32, parent(rank))).collect()
}

fn point_sets() -> Vec<Vec<DVec3>> {
    let mut random = Random(3);
    let mut scattered = |n: usize| -> Vec<DVec3> { (0..n).map(|_| random.direction() * 3.0).collect() };
    let lattice = |n: i32| -> Vec<DVec3> {
        (0..n * n * n)
            .map(|i| DVec3::new(f64::from(i % n), f64::from(i / n % n), f64::from(i / n / n)))
            .collect()
    };
    let ball = ball_points(6.0).iter().map(|p| p.position).collect();
    let line = (0..40).map(|i| DVec3::X * f64::from(i % 20)).collect();
    vec![
        Vec::new(),
        vec![DVec3::ONE],
        vec![DVec3::ONE; 20],
        scattered(2),
        scattered(3),
        scattered(9),
        scattered(500),
        lattice(3),
        lattice(8),
        ball,
        line,
    ]
}

#[test]
fn the_order_is_that_of_the_plain_version() {
    for points in point_sets() {
        assert_eq!(Hierarchy::new(&points).farthest_pair(), plain_pair(&points), "{} points", points.len());
        let order: Vec<_> = maximum_distance_order(&points).iter().map(|r| (r.point, r.parent)).collect();
        assert_eq!(order, plain_order(&points), "{} points", points.len());
    }
}

#[test]
fn levels_are_powers_of_two() {
    assert_eq!([0, 1, 2, 3, 4, 7, 8].map(level_of_rank), [0, 1, 2, 2, 3, 3, 4]);
    let forest = SphereForest::build(&ball_points(9.0));
    assert_eq!((forest.validate(), forest.trees()), (Ok(()), 1));
    for level in 0..=forest.last_level() {
        assert_eq!(forest.spheres_of_level(level).count(), forest.len().min(1 << level));
    }
    let radius = |level: u32| forest.spheres_of_level(level).map(|s| s.1).fold(0.0, f64::max);
    let radii: Vec<f64> = (0..=forest.last_level()).map(radius).collect();
    println!("{} points, {} spheres, largest by level {radii:.2?}", forest.len(), forest.spheres());
    assert!(radii.is_sorted_by(|a, b| a >= b) && radii.last() == Some(&0.0) && radii[0] >= 18.0);
}

/// `generations` times all forests break; every list is a generation.
fn generations(points: &[ObjectPoint], generations: usize, planted: Planted) -> Vec<Vec<SphereForest>> {
    let mut random = Random(11);
    let mut all = vec![vec![SphereForest::build(points)]];
    for generation in 0..generations {
        let mut next = Vec::new();
        for forest in all[generation].iter().filter(|forest| forest.len() > 40) {
            let fracture = shatter(forest, 3, &mut random);
            let pieces = forest.fracture_with(&fracture, planted).unwrap();
            // As a piece that comes near another gets the corners of its hull.
            let corners = |of: &SphereForest| -> Vec<ObjectPoint> {
                of.points().take(6).map(|p| ObjectPoint { position: p.position * 1.01, ..p }).collect()
            };
            next.extend(pieces.into_iter().map(|piece| piece.with(&corners(&piece))));
        }
        all.push(next);
    }
    all
}

#[test]
fn forests_are_sound_over_five_generations() {
    let all = generations(&ball_points(12.0), 5, Planted::Nothing);
    for (generation, forests) in all.iter().enumerate() {
        let points: usize = forests.iter().map(SphereForest::len).sum();
        let trees: usize = forests.iter().map(SphereForest::trees).sum();
        println!("generation {generation}: {} forests, {points} points, {trees} trees", forests.len());
        for forest in forests {
            assert_eq!(forest.validate(), Ok(()));
            assert!(
                forest.points.iter().enumerate().all(|(i, p)| p.parent == NONE || (p.parent as usize) < i)
            );
        }
    }
    assert!(all.len() == 6 && all[5].len() > 60);
}

/// What is missed of `poses` random poses of each forest against some solids, if anything is.
fn missed(forests: &[SphereForest], poses: usize, planted: Planted) -> Result<usize, String> {
    let mut random = Random(5);
    let mut scratch = Scratch::default();
    let ball = Ball { centre: DVec3::ZERO, radius: 6.0 };
    let cuboid = Cuboid { centre: DVec3::ZERO, half: DVec3::new(7.0, 3.0, 5.0) };
    let both = Union(
        Cuboid { centre: DVec3::X * 3.0, half: DVec3::new(4.0, 1.0, 3.0) },
        Ball { centre: DVec3::NEG_X * 2.0, radius: 3.0 },
    );
    let floor = HalfSpace { normal: DVec3::Y, offset: 0.0 };
    let solids: [&dyn Interior; 4] = [&ball, &cuboid, &both, &floor];
    let mut colliding_poses = 0;
    for pose in 0..poses {
        let forest = &forests[random.number() as usize % forests.len()];
        let solid = solids[pose % solids.len()];
        let placement = near_pose(forest, 6.0, &mut random);
        for tolerance in [0.0, 0.3] {
            let colliding = forest.colliding_points(solid, &placement, tolerance);
            colliding_poses += usize::from(!colliding.is_empty() && tolerance == 0.0);
            for (enough, beyond) in
                [(None, Beyond::Epsilon), (Some(8), Beyond::Epsilon), (Some(8), Beyond::Deepest)]
            {
                let selection = Selection { enough, epsilon: 0.03, tolerance, beyond, ..Selection::all() };
                // Asked for the first time, and when some points are known to have touched.
                let any: Vec<u32> =
                    (0..6).map(|_| random.number() as u32 % forest.len().max(1) as u32).collect();
                for known in [&[][..], &any] {
                    let asked = (known, planted);
                    let counts =
                        forest.query_with(solid, &placement, &selection, asked, (None, &mut scratch));
                    check_promise(scratch.contacts(), &colliding, &selection)
                        .map_err(|missed| format!("pose {pose}, {selection:?}: {missed}"))?;
                    stays(known, scratch.contacts(), &colliding, forest)
                        .map_err(|lost| format!("pose {pose}, {selection:?}: {lost}"))?;
                    assert_eq!(counts.contacts, scratch.contacts().len());
                    assert!(counts.points <= forest.len() || planted != Planted::Nothing);
                }
            }
        }
    }
    Ok(colliding_poses)
}

/// Whether every known point of the surface that collides is a contact, once, and before all others.
fn stays(
    known: &[u32],
    contacts: &[TreeContact],
    colliding: &[TreeContact],
    forest: &SphereForest,
) -> Result<(), String> {
    let collides = |point: &u32| colliding.iter().any(|contact| contact.point == *point);
    let mut wanted: Vec<u32> = Vec::new();
    for point in
        known.iter().filter(|k| forest.points.get(**k as usize).is_some_and(|p| p.on_surface) && collides(k))
    {
        if !wanted.contains(point) {
            wanted.push(*point);
        }
    }
    let found: Vec<u32> = contacts.iter().map(|contact| contact.point).collect();
    let again = found.iter().skip(wanted.len()).any(|point| wanted.contains(point));
    let first = found.get(..wanted.len()) == Some(&wanted[..]);
    (first && !again).then_some(()).ok_or_else(|| format!("{wanted:?} known, {found:?} found"))
}

#[test]
fn no_query_misses_what_all_points_find() {
    let all = generations(&ball_points(12.0), 5, Planted::Nothing);
    let mut colliding = 0;
    for forests in &all {
        colliding += missed(forests, 5_000, Planted::Nothing).unwrap();
    }
    println!("30000 poses, of which {colliding} collide");
    assert!(colliding > 10_000);
}

#[test]
fn errors_that_are_planted_are_found() {
    let points = ball_points(12.0);
    for planted in [Planted::RadiusTooSmall, Planted::LostRoot, Planted::WrongParent] {
        let all = generations(&points, 3, planted);
        let by_check: Vec<String> = all.iter().flatten().filter_map(|f| f.validate().err()).collect();
        let by_queries = missed(&all[2..].concat(), 20_000, Planted::Nothing);
        println!("{planted:?}: {} forests are unsound; {by_queries:?}", by_check.len());
        assert!(!by_check.is_empty() && by_queries.is_err(), "{planted:?} is not found");
    }
    let sound = generations(&points, 1, Planted::Nothing);
    let found = missed(&sound.concat(), 1000, Planted::MetTwice);
    println!("MetTwice: {found:?}");
    assert!(found.is_err());
    let found = missed(&sound.concat(), 1000, Planted::KnownLost);
    println!("KnownLost: {found:?}");
    assert!(found.is_err());
}

#[test]
fn the_interior_is_met_last() {
    let points = ball_points(12.0);
    let forest = SphereForest::build(&points);
    let mut scratch = Scratch::default();
    let mut found = |solid: &dyn Interior| {
        forest.query(solid, &Placement::new(DMat4::IDENTITY), &Selection::all(), &mut scratch);
        scratch.contacts().iter().map(|c| forest.points[c.point as usize].on_surface).collect::<Vec<_>>()
    };
    let deep = found(&Ball { centre: DVec3::X, radius: 6.0 });
    assert!(deep.len() > 5 && deep.iter().all(|on_surface| !on_surface));
    let shallow = found(&Ball { centre: DVec3::X * 9.0, radius: 6.0 });
    assert!(shallow.len() > 20 && shallow.iter().all(|on_surface| *on_surface));
}

#[test]
fn a_plate_on_the_floor_keeps_eight_contacts() {
    let half = DVec3::new(30.0, 2.0, 30.0);
    let forest = SphereForest::build(&plate_points(half));
    let floor = HalfSpace { normal: DVec3::Y, offset: 0.0 };
    let mut scratch = Scratch::default();
    let selection = Selection::of_radius(half.length());
    let mut random = Random(8);
    let (mut most, mut sum, mut colliding_sum, mut spheres) = (0, 0, 0, 0);
    for step in 0..500 {
        // It lies flat, or rolls on its rim; it sinks in by up to epsilon.
        let lean = if step % 2 == 0 { 0.0 } else { random.between(0.0, 1.5) };
        let turn = DMat4::from_rotation_z(lean) * DMat4::from_rotation_y(random.between(0.0, 6.0));
        let lowest = forest.points().map(|p| turn.transform_point3(p.position).y).fold(f64::MAX, f64::min);
        let sinks = random.between(0.0, 1.0) * selection.epsilon;
        let place = Placement::new(DMat4::from_translation(DVec3::Y * (-lowest - sinks)) * turn);
        let counts = forest.query(&floor, &place, &selection, &mut scratch);
        let colliding = forest.colliding_points(&floor, &place, 0.0).len();
        most = most.max(counts.contacts);
        (sum, colliding_sum, spheres) =
            (sum + counts.contacts, colliding_sum + colliding, spheres + counts.spheres);
        assert!(counts.contacts == colliding.min(8), "{counts:?} {colliding}");
    }
    println!(
        "plate of {} points: {sum} contacts at most {most}, {colliding_sum} points collide: {:.4}; {} \
         spheres a query",
        forest.len(),
        f64::from(sum as u32) / f64::from(colliding_sum as u32),
        spheres / 500,
    );
    assert!(most <= 8);
}

#[test]
fn a_plate_that_lies_is_held_on_all_sides() {
    let half = DVec3::new(30.0, 2.0, 20.0);
    let forest = SphereForest::build(&plate_points(half));
    let floor = HalfSpace { normal: DVec3::Y, offset: -1.95 };
    let mut scratch = Scratch::default();
    forest.query(&floor, &Placement::new(DMat4::IDENTITY), &Selection::of_radius(36.0), &mut scratch);
    let quadrant =
        |x: f64, z: f64| scratch.contacts().iter().any(|c| c.position.x * x > 0.0 && c.position.z * z > 0.0);
    assert!(scratch.contacts().len() == 8);
    assert!(quadrant(1.0, 1.0) && quadrant(1.0, -1.0) && quadrant(-1.0, 1.0) && quadrant(-1.0, -1.0));
}

#[test]
fn a_plate_that_trembles_keeps_its_contacts() {
    let half = DVec3::new(30.0, 2.0, 20.0);
    let forest = SphereForest::build(&plate_points(half));
    let floor = HalfSpace { normal: DVec3::Y, offset: -1.95 };
    let (selection, mut scratch) = (Selection::of_radius(36.0), Scratch::default());
    forest.query(&floor, &Placement::new(DMat4::IDENTITY), &selection, &mut scratch);
    let first: Vec<u32> = scratch.contacts().iter().map(|contact| contact.point).collect();
    let (mut random, mut others) = (Random(3), 0);
    for _ in 0..100 {
        let lean = DMat4::from_rotation_x(random.between(-1e-3, 1e-3))
            * DMat4::from_rotation_z(random.between(-1e-3, 1e-3));
        let placement = Placement::new(lean);
        forest.query_again(&floor, &placement, &selection, &first, &mut scratch);
        assert!(scratch.contacts().iter().map(|contact| contact.point).take(8).eq(first.iter().copied()));
        forest.query(&floor, &placement, &selection, &mut scratch);
        let anew = scratch.contacts().iter().map(|contact| contact.point);
        others += usize::from(!anew.take(8).eq(first.iter().copied()));
    }
    println!("asked anew, {others} of 100 poses have other contacts");
}

#[test]
fn more_points_have_trees_of_their_own() {
    let (own, more) = (ball_points(12.0), ball_points(4.0));
    let [forest, other] = [&own, &more].map(|points| SphereForest::build(points));
    let both = forest.with(&more);
    assert_eq!((both.validate(), both.trees()), (Ok(()), 2));
    assert_eq!(both.len(), own.len() + more.len());
    let same = |(a, b): (ObjectPoint, ObjectPoint)| a == b;
    assert!(both.points().zip(forest.points().chain(other.points())).all(same));
    assert_eq!(SphereForest::build(&[]).with(&more), other);
    assert_eq!(forest.with(&[]), forest);
}

#[test]
fn only_what_is_deeper_comes_after_enough() {
    let forest = SphereForest::build(&ball_points(12.0));
    let cuboid = Cuboid { centre: DVec3::Y * 20.0, half: DVec3::new(20.0, 10.0, 20.0) };
    let mut scratch = Scratch::default();
    let mut count = |beyond| {
        let selection = Selection { beyond, ..Selection::of_radius(12.0) };
        forest.query(&cuboid, &Placement::new(DMat4::IDENTITY), &selection, &mut scratch)
    };
    let (all, few) = (count(Beyond::Epsilon), count(Beyond::Deepest));
    println!("beyond epsilon {all:?}, beyond the deepest {few:?}");
    assert!(few.contacts < 16 && few.contacts < all.contacts && few.spheres <= all.spheres);
}

#[test]
fn the_nearest_point_is_found() {
    let mut random = Random(2);
    for n in [0, 1, 2, 30, 400] {
        let points: Vec<(DVec3, u32)> =
            (0..n).map(|i| (random.in_box(DVec3::ZERO, DVec3::new(9.0, 4.0, 0.0)), i)).collect();
        let grid = PointGrid::new(&points);
        for _ in 0..500 {
            let p = random.in_box(DVec3::splat(-3.0), DVec3::splat(12.0));
            let plain =
                points.iter().map(|(at, i)| (at.distance_squared(p), *i)).min_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(grid.nearest(p), plain.map(|(d, i)| (i, d.sqrt())));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let forest = SphereForest::build(&ball_points(3.0));
    let inside = Fate::In { fragment: 0, on_surface: true };
    let fates = vec![inside; forest.len()];
    let fracture = |fates: &[Fate], cracks: Vec<Vec<CrackPoint>>| {
        forest.fracture(&Fracture { fates: fates.to_vec(), cracks }).map(|forests| forests.len())
    };
    assert_eq!(fracture(&fates, vec![Vec::new()]), Ok(1));
    assert!(matches!(fracture(&fates[1..], vec![Vec::new()]), Err(FractureMismatch::Fates { .. })));
    assert!(matches!(
        fracture(&fates, Vec::new()),
        Err(FractureMismatch::Fragment { point: 0, fragment: 0 })
    ));
    let crack = CrackPoint { position: DVec3::ZERO, neighbour: Some(5) };
    let wrong = fracture(&fates, vec![Vec::new(), vec![crack]]);
    assert_eq!(wrong, Err(FractureMismatch::Neighbour { fragment: 1, neighbour: 5 }));
    let far = CrackPoint { neighbour: Some(u32::MAX), ..crack };
    assert!(fracture(&fates, vec![vec![far]]).is_err());
    let nothing = SphereForest::build(&[]);
    assert!(nothing.is_empty() && nothing.fracture(&Fracture::default()) == Ok(Vec::new()));
    let counts = nothing.query(
        &HalfSpace { normal: DVec3::Y, offset: 0.0 },
        &Placement::new(DMat4::IDENTITY),
        &Selection::all(),
        &mut Scratch::default(),
    );
    assert_eq!(counts.contacts, 0);
}

#[test]
fn building_takes_milliseconds() {
    let points = ball_points(20.5);
    let start = Instant::now();
    let forest = SphereForest::build(&points);
    let built = start.elapsed();
    let mut random = Random(4);
    let fracture = shatter(&forest, 90, &mut random);
    let start = Instant::now();
    let pieces = forest.fracture(&fracture).unwrap();
    let updated = start.elapsed();
    let after: usize = pieces.iter().map(SphereForest::len).sum();
    println!(
        "{} points built in {:.2} ms; update to {} forests with {after} points {:.2} ms",
        points.len(),
        built.as_secs_f64() * 1e3,
        pieces.len(),
        updated.as_secs_f64() * 1e3
    );
    assert!(built.as_secs_f64() < 0.5 && updated.as_secs_f64() < 0.1);
}
