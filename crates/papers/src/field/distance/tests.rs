//! The field against brute force, over generations of fractures.

use super::{
    FamilyField, FieldError, FragmentId, Interior,
    occupancy::{Flaw, NEIGHBOURS},
    testing::*,
};
use crate::geometry::Aabb;
use crate::shape::Shape;
use glam::DVec3;
use std::sync::Arc;

const SHAPES: [&str; 5] = ["vase", "sphere", "shell", "cavity", "statue"];

/// A field with the shapes of its fragments.
struct Case {
    field: FamilyField,
    shapes: Vec<(FragmentId, Arc<Shape>)>,
}

impl Case {
    fn new(name: &str, level: u32, field_level: u32, flaw: Flaw) -> Self {
        let shape = builtin(name, level);
        let field = FamilyField::with_flaw(&shape, field_level, flaw).unwrap();
        Self { field, shapes: vec![(FragmentId::WHOLE, shape)] }
    }

    /// Breaks the k-th shape.
    fn break_one(&mut self, k: usize, seeds: u32, rng: u64) -> super::Update {
        let (id, shape) = self.shapes.remove(k);
        let (parts, _) = broken(&shape, seeds, rng);
        let update = self.field.fracture(id, &borrowed(&parts)).unwrap();
        self.shapes.extend(update.fragments.iter().copied().zip(parts));
        update
    }

    fn broken_once(name: &str, flaw: Flaw) -> Self {
        let mut case = Self::new(name, 6, 4, flaw);
        case.break_one(0, 12, 3);
        case
    }
}

/// Errors of depths against brute force, in cells: (greatest beside surfaces, mean inside, greatest inside,
/// points inside).
fn errors(case: &Case, points: usize) -> [f64; 4] {
    let cell = case.field.lattice().cell;
    let mut dice = Dice::new(1);
    let (mut beside, mut sum, mut most, mut count) = (0.0f64, 0.0, 0.0f64, 0.0);
    for (id, shape) in case.shapes.iter().take(8) {
        let part = case.field.fragment(*id).unwrap();
        let brute = AllPolygons::of(shape);
        for p in inner_points(&part, points, &mut dice) {
            let depth = part.penetration(p).unwrap();
            let right = brute.distance(p);
            let error = (depth.distance - right).abs() / cell;
            assert!((depth.direction.length() - 1.0).abs() < 1e-9 && depth.distance >= 0.0);
            if right <= cell {
                beside = beside.max(error);
            } else {
                (sum, most, count) = (sum + error, most.max(error), count + 1.0);
            }
        }
    }
    [beside, sum / f64::max(count, 1.0), most, count]
}

#[test]
fn depths_are_exact_beside_surfaces_and_near_inside() {
    for name in SHAPES {
        let mut case = Case::new(name, 6, 4, Flaw::None);
        for generation in 0..5 {
            if generation > 0 {
                case.break_one(0, 5, 5);
            }
            let [beside, mean, most, count] = errors(&case, 100);
            println!(
                "{name} {generation}: beside {beside:.1e}, mean {mean:.3}, most {most:.3} cells ({count})"
            );
            assert!(beside < 1e-6 && mean <= 1.0 && most <= 2.0);
        }
    }
}

/// Nodes in no cut cell from which no neighbour of the fragment is nearer to the surface.
fn local_minima(case: &Case) -> usize {
    let field = &case.field;
    let lattice = field.lattice();
    let nodes = 0..lattice.nodes();
    let is_minimum = |k: &usize| {
        let node = field.node(*k).unwrap();
        let Some(part) = node.fragment.and_then(|id| field.fragment(id)) else { return false };
        let at = lattice.at(*k);
        if super::occupancy::ROUND_A_NODE.iter().any(|step| part.placed.surface.has(at + *step)) {
            return false;
        }
        let others = NEIGHBOURS.iter().filter_map(|step| lattice.node(at + *step));
        !others
            .map(|o| field.node(o).unwrap())
            .any(|o| o.fragment == node.fragment && o.distance < node.distance)
    };
    nodes.filter(is_minimum).count()
}

#[test]
fn no_distance_is_smallest_inside() {
    for name in SHAPES {
        let mut case = Case::new(name, 7, 5, Flaw::None);
        assert_eq!(local_minima(&case), 0, "{name}, whole");
        for rng in 0..3 {
            case.break_one(0, 9, rng);
            assert_eq!(local_minima(&case), 0, "{name}, {rng}");
        }
    }
}

/// What an update changed that it must not: nodes that are not the broken fragment's, and distances that
/// grew.
fn strays(before: &FamilyField, after: &FamilyField, old: FragmentId) -> (usize, usize) {
    let (mut foreign, mut grown) = (0, 0);
    for k in 0..before.lattice().nodes() {
        let (was, is) = (before.node(k).unwrap(), after.node(k).unwrap());
        let bits =
            |n: &super::Node| (n.distance.to_bits(), n.direction.to_array().map(f64::to_bits), n.fragment);
        foreign += usize::from(was.fragment != Some(old) && bits(&was) != bits(&is));
        grown += usize::from(is.distance > was.distance);
    }
    (foreign, grown)
}

#[test]
fn distances_fall_over_five_generations_and_nobody_else_is_touched() {
    for name in SHAPES {
        let mut case = Case::new(name, 6, 4, Flaw::None);
        for generation in 0..5 {
            let before = case.field.clone();
            let old = case.shapes[0].0;
            case.break_one(0, 6, generation);
            assert_eq!(strays(&before, &case.field, old), (0, 0), "{name}, {generation}");
        }
        let part = &case.shapes[0];
        let mut grown = case.field.clone();
        grown.change(|nodes| {
            let k = nodes.fragment.iter().position(|fragment| *fragment == part.0).unwrap();
            nodes.distance[k] += 1e-12;
        });
        assert_eq!(strays(&case.field, &grown, part.0), (0, 1), "planted");
        assert_eq!(strays(&case.field, &grown, FragmentId(99)), (1, 1), "planted");
    }
}

/// Nodes that two fields have otherwise, to the bit.
fn others(a: &FamilyField, b: &FamilyField) -> usize {
    let bits = |field: &FamilyField, k| {
        field.node(k).map(|n| (n.fragment, n.distance.to_bits(), n.direction.to_array().map(f64::to_bits)))
    };
    (0..a.lattice().nodes()).filter(|k| bits(a, *k) != bits(b, *k)).count()
}

#[test]
fn nodes_that_are_asked_late_know_the_same() {
    for name in ["statue", "cavity"] {
        let shape = builtin(name, 6);
        let mut at_once = FamilyField::new(&shape, 4).unwrap();
        let mut shapes = vec![(FragmentId::WHOLE, Arc::clone(&shape))];
        // One is asked after every break, one after two of them, one only in the end.
        let mut late: Vec<FamilyField> = vec![FamilyField::at_need(&shape, 4).unwrap(); 3];
        for generation in 0..5 {
            let (id, shape) = shapes.remove(0);
            let (parts, _) = broken(&shape, 5, generation);
            let update = at_once.fracture(id, &borrowed(&parts)).unwrap();
            for field in &mut late {
                let (after, names) = field.after(id, &borrowed(&parts)).unwrap();
                assert_eq!(names, update.fragments);
                *field = after;
            }
            shapes.extend(update.fragments.into_iter().zip(parts));
            let asked: &[usize] = if generation % 2 == 1 { &[0, 1] } else { &[0] };
            asked.iter().for_each(|k| assert_eq!(others(&at_once, &late[*k]), 0, "{name}, {generation}"));
        }
        assert_eq!(late.iter().map(|field| others(&at_once, field)).sum::<usize>(), 0, "{name}");
        // Without the last break it would show.
        let before = FamilyField::at_need(&shape, 4).unwrap();
        assert!(others(&at_once, &before) > 0, "nobody notices");
    }
}

/// Balls of `count` that hold a point of a fragment and are said to miss it, and how many others were culled.
fn missed(case: &Case, count: usize) -> (usize, usize) {
    let mut dice = Dice::new(4);
    let (mut missed, mut culled) = (0, 0);
    let parts: Vec<_> = case.field.fragments().collect();
    for k in 0..count {
        let part = &parts[k % parts.len()];
        let Aabb { low, high } = part.bounds();
        let size = (high - low).max_element();
        let inner = dice.within(low, high);
        // A ball round a point somewhere, that reaches to just beyond a point of the box.
        let p = dice.within(low - size, high + size);
        let r = p.distance(inner) * (1.0 + 1e-9);
        if part.inside(inner) {
            missed += usize::from(!part.sphere_meets(p, r));
        } else {
            let r = 0.2 * size * dice.next();
            culled += usize::from(!part.sphere_meets(inner, r));
        }
    }
    (missed, culled)
}

#[test]
fn no_ball_that_meets_a_fragment_is_culled() {
    for name in ["vase", "shell"] {
        let case = Case::broken_once(name, Flaw::None);
        let (missed, culled) = missed(&case, 100_000);
        println!("{name}: {culled} culled");
        assert!(missed == 0 && culled > 1000, "{missed} {culled}");
    }
}

/// Greatest angle cosine and the share of inner points whose direction does not lead out: a step along it by
/// the depth must come to the surface, or nearer.
fn leads_out(case: &Case) -> usize {
    let mut dice = Dice::new(9);
    let mut wrong = 0;
    for (id, shape) in case.shapes.iter().take(4) {
        let (part, brute) = (case.field.fragment(*id).unwrap(), AllPolygons::of(shape));
        for p in inner_points(&part, 100, &mut dice) {
            let depth = part.penetration(p).unwrap();
            wrong +=
                usize::from(brute.distance(p + depth.direction * (0.5 * depth.distance)) > brute.distance(p));
        }
    }
    wrong
}

#[test]
fn planted_errors_are_found() {
    let good = Case::broken_once("cavity", Flaw::None);
    assert!(leads_out(&good) == 0 && local_minima(&good) == 0);
    assert!(errors(&good, 200)[2] <= 2.0);

    let in_four = |flaw| {
        let mut case = Case::new("sphere", 7, 5, flaw);
        case.break_one(0, 4, 1);
        errors(&case, 200)
    };
    let ([_, mean, most, _], right) = (in_four(Flaw::WrongFront), in_four(Flaw::None));
    println!("wrong front: mean {mean:.2}, greatest {most:.2} cells; right {right:.2?}");
    assert!(right[1] <= 1.0 && right[2] <= 2.0);
    let flipped = Case::broken_once("cavity", Flaw::FlippedDirection);
    println!("flipped: {} of 400", leads_out(&flipped));
    let and = Case::broken_once("cavity", Flaw::AndForOr);
    println!("and: {:?}", missed(&and, 10_000));
    let mixed = Case::broken_once("cavity", Flaw::FragmentsMixedUp);
    println!("mixed: {}", misplaced(&mixed));
    assert!(mean > 1.0 || most > 2.0, "a wrong front");
    assert!(leads_out(&flipped) > 100);
    assert!(missed(&and, 10_000).0 > 0);
    assert_eq!(misplaced(&good), 0);
    assert!(misplaced(&mixed) > 0);
}

/// Nodes that are not in the fragment that they say.
fn misplaced(case: &Case) -> usize {
    let nodes = (0..case.field.lattice().nodes()).filter_map(|k| case.field.node(k));
    let is_wrong = |node: &super::Node| {
        node.fragment.is_some_and(|id| case.field.fragment(id).is_none_or(|part| !part.inside(node.place)))
    };
    nodes.filter(is_wrong).count()
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    let mut case = Case::broken_once("sphere", Flaw::None);
    let shape = builtin("sphere", 6);
    assert_eq!(FamilyField::new(&shape, 0).unwrap_err(), FieldError::Level { asked: 0, finest: 6 });
    assert_eq!(FamilyField::new(&shape, 9).unwrap_err(), FieldError::Level { asked: 9, finest: 6 });
    let gone = FragmentId::WHOLE;
    assert_eq!(case.field.fracture(gone, &[&shape]).unwrap_err(), FieldError::Fragment(gone));
    let id = case.shapes[0].0;
    assert_eq!(case.field.fracture(id, &[]).unwrap_err(), FieldError::NoParts);
    assert_eq!(case.field.fracture(id, &[&builtin("sphere", 5)]).unwrap_err(), FieldError::Grid(0));
    let part = case.field.fragment(id).unwrap();
    for p in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(-1e300), DVec3::splat(1e300)] {
        assert!(!part.inside(p) && part.penetration(p).is_none() && part.outside_distance(p, 1.0).is_none());
        assert!(!part.sphere_meets(p, 1.0) && !part.sphere_meets(p, f64::NAN));
    }
    assert!(part.sphere_meets(DVec3::ZERO, f64::INFINITY));
    case.field.remove(id).unwrap();
    assert!(case.field.fragment(id).is_none() && misplaced(&case) == 0);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let case = Case::broken_once("vase", Flaw::None);
            let nodes = (0..case.field.lattice().nodes()).map(|k| case.field.node(k).unwrap());
            nodes.map(|n| format!("{n:?}")).collect::<String>()
        })
    };
    let one = bytes(1);
    assert!(one == bytes(2) && one == bytes(7));
}

/// A built-in shape as a mesh, local space metres.
fn mesh(name: &str) -> (Shape, Vec<[DVec3; 3]>) {
    let mesh = Arc::new(crate::mesh::builtin(name).unwrap());
    let shape = Shape::mesh(&mesh, 1.0, 1000.0, crate::shape::Look::default());
    let triangles = shape.as_mesh().unwrap().surface().corners_of_triangles().collect();
    (shape, triangles)
}

#[test]
fn a_mesh_has_the_same_from_its_triangles() {
    for name in ["box", "cavity", "vase"] {
        let (shape, triangles) = mesh(name);
        let field = FamilyField::new(&shape, 4).unwrap();
        let part = field.fragment(FragmentId::WHOLE).unwrap();
        let brute = AllPolygons::of_triangles(triangles);
        let (mut dice, Aabb { low, high }) = (Dice::new(2), part.bounds());
        let (mut inside, mut most, mut wrong) = (0, 0.0f64, 0);
        for _ in 0..400 {
            let p = dice.within(low, high);
            // The shape's own test is the solid angle of all triangles.
            let is_inside = shape.distance(p) == 0.0;
            wrong += usize::from(is_inside != part.inside(p));
            let right = brute.distance(p);
            if let Some(depth) = part.penetration(p) {
                inside += 1;
                most = most.max((depth.distance - right).abs() / part.cell());
                assert!(right > part.cell() || (depth.distance - right).abs() < 1e-9);
            } else {
                let height = part.outside_distance(p, 1.0).map(|depth| depth.distance);
                assert!(height.is_some_and(|height| (height - right).abs() < 1e-9));
            }
        }
        println!("{name}: {inside} inside, most {most:.3} cells");
        assert!(inside > 20 && most <= 2.0 && wrong == 0, "{wrong}");
    }
}

#[test]
fn a_slice_shows_fragments_and_depths_and_fronts_come_step_by_step() {
    let mut case = Case::new("sphere", 7, 5, Flaw::None);
    let update = case.break_one(0, 4, 1);
    let slice = case.field.slice(DVec3::new(0.5, 0.5, 64.0), [DVec3::X * 2.0, DVec3::Y * 2.0], [64, 64]);
    assert_eq!((slice.width, slice.height, slice.samples.len()), (64, 64, 64 * 64));
    let shown: std::collections::BTreeSet<_> = slice.samples.iter().filter_map(|s| s.fragment).collect();
    assert!(shown.len() > 1 && shown.iter().all(|id| update.fragments.contains(id)));
    for (k, sample) in slice.samples.iter().enumerate() {
        let p = DVec3::new(0.5 + 2.0 * (k % 64) as f64, 0.5 + 2.0 * (k / 64) as f64, 64.0);
        assert_eq!(sample.fragment.is_some(), case.field.fragments().any(|part| part.inside(p)));
        assert_eq!(sample.fragment.is_some(), sample.direction != DVec3::ZERO);
    }
    let steps: Vec<u32> = update.accepted.iter().map(|(_, step)| *step).collect();
    assert!(steps.is_sorted() && steps[0] == 0 && steps.last().is_some_and(|last| *last > 2));
    for (k, (node, step)) in update.accepted.iter().enumerate().filter(|(_, (_, step))| *step > 0) {
        let lattice = case.field.lattice();
        let before: Vec<u32> =
            update.accepted[..k].iter().filter(|(_, s)| s + 1 == *step).map(|(node, _)| *node).collect();
        assert!(lattice.neighbours(*node as usize).any(|(other, _)| before.contains(&(other as u32))));
    }
}

/// Leaves of which planes and cuts leave nothing, and all leaves, of the pieces of a shape.
fn bare_leaves(parts: &[Arc<Shape>]) -> (usize, usize) {
    let mut counts = (0, 0);
    for octree in parts.iter().filter_map(|part| part.as_octree()) {
        for k in octree.leaves() {
            let low = crate::svo::morton::decode(octree.forest.leaves.keys.at(k));
            let leaf = super::leaf::Leaf::at(&octree.forest, k, low).unwrap();
            counts.0 += usize::from(leaf.polygons().iter().all(Option::is_none));
            counts.1 += 1;
        }
    }
    counts
}

#[test]
fn few_leaves_are_without_a_surface() {
    for name in SHAPES {
        let (bare, all) = bare_leaves(&broken(&builtin(name, 6), 12, 3).0);
        println!("{name}: {bare} of {all}");
        assert!(bare * 20 < all);
    }
}
