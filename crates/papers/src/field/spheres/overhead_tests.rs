//! What queries pay for quick updates: fields that were followed against exact ones, trees that were updated against those
//! that were built anew round the surface (Glondu et al. 2012, fig. 9).

use super::{
    super::distance::{FamilyField, FragmentId},
    forest::{ObjectPoint, SphereForest},
    octree_tests::{Fragment, broken, fragments, ms, pose},
    points::Sampling,
    query::Scratch,
    selection::{Beyond, Placement, Selection},
    testing::Random,
};
use crate::shape::Shape;
use std::time::Instant;

const QUERIES: usize = 4000;

/// What all queries did together.
#[derive(Default)]
struct Sums {
    spheres: usize,
    points: usize,
    contacts: usize,
    ms: f64,
}

/// Places of pieces in others, most of them touching.
fn poses(pieces: &[Fragment<'_>]) -> Vec<(usize, usize, Placement)> {
    let mut random = Random(17);
    let mut pick = || {
        let [a, b] = [0, 1].map(|_| random.number() as usize % pieces.len());
        (a, b, pose(&pieces[a], pieces[b].shape, &mut random))
    };
    (0..QUERIES).map(|_| pick()).collect()
}

#[test]
fn queries_pay_little_for_quick_updates() {
    for (name, level, physics_level, field_level, seeds) in [("pig", 7, 5, 5, 14), ("statue", 7, 6, 5, 14)] {
        let object = broken(name, level, 1, seeds);
        let sampling = Sampling::new(&object.source, physics_level);
        let (all, times) = fragments(&object, &sampling);
        let pieces = &all[1..];
        let shapes: Vec<&Shape> = pieces.iter().map(|piece| piece.shape).collect();
        let whole = FamilyField::new(&object.source, field_level).unwrap();
        let start = Instant::now();
        let (followed, names) = whole.after(FragmentId::WHOLE, &shapes).unwrap();
        assert!(followed.node(0).is_some(), "all nodes are worked out");
        let updated_ms = [ms(start), times.first[0] + times.first[1]];
        let start = Instant::now();
        let exact: Vec<FamilyField> =
            shapes.iter().map(|shape| FamilyField::new(shape, field_level).unwrap()).collect();
        let exact_ms = ms(start);
        let start = Instant::now();
        let round = |shape: &Shape| {
            let on_surface = |position| ObjectPoint { position, on_surface: true };
            SphereForest::build(&sampling.surface(shape).into_iter().map(on_surface).collect::<Vec<_>>())
        };
        let rebuilt: Vec<SphereForest> = shapes.iter().map(|shape| round(shape)).collect();
        let anew_ms = [exact_ms, ms(start)];
        println!(
            "{name}, {} pieces: field and trees updated in {:.1} and {:.1} ms, made anew in {:.1} and {:.1} ms",
            pieces.len(),
            updated_ms[0],
            updated_ms[1],
            anew_ms[0],
            anew_ms[1]
        );
        let (poses, mut scratch) = (poses(pieces), Scratch::default());
        let mut ask = |is_exact: bool, is_rebuilt: bool| {
            let mut sums = Sums::default();
            let start = Instant::now();
            for (a, b, placement) in &poses {
                let forest = if is_rebuilt { &rebuilt[*a] } else { &pieces[*a].forest };
                let field = if is_exact { (&exact[*b], FragmentId::WHOLE) } else { (&followed, names[*b]) };
                let other = field.0.fragment(field.1).unwrap();
                let selection = Selection {
                    beyond: Beyond::Deepest,
                    quick: true,
                    ..Selection::of_radius(forest.bound.1)
                };
                let counts = forest.query(&other, placement, &selection, &mut scratch);
                sums.spheres += counts.spheres;
                sums.points += counts.points;
                sums.contacts += counts.contacts;
            }
            Sums { ms: ms(start), ..sums }
        };
        let ways = [(false, false), (true, false), (false, true), (true, true)];
        let sums = ways.map(|(is_exact, is_rebuilt)| ask(is_exact, is_rebuilt));
        for ((is_exact, is_rebuilt), sums) in ways.iter().zip(&sums) {
            let each = |count: usize| count as f64 / QUERIES as f64;
            println!(
                "    {} field, {} trees: {:.1} spheres, {:.1} points and {:.2} contacts a query, {:.1} us",
                if *is_exact { "exact" } else { "followed" },
                if *is_rebuilt { "rebuilt" } else { "updated" },
                each(sums.spheres),
                each(sums.points),
                each(sums.contacts),
                1e3 * sums.ms / QUERIES as f64
            );
        }
        let ratio = |k: usize, of: usize| sums[k].spheres as f64 / sums[of].spheres as f64;
        assert!(sums[3].contacts > 2 * QUERIES, "they touch");
        let (by_field, by_tree) = (ratio(0, 1), ratio(1, 3));
        assert!(by_field < 1.1, "for the field {by_field}");
        assert!(by_tree < 1.6, "for the trees {by_tree}");
    }
}
