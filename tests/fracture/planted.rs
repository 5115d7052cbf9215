//! Each check is seen to fail: errors are planted into a sound result one at a time, and the check that is
//! named must find it.

use std::collections::BTreeMap;

use kintsugi::{
    fracture::{Fracture, Surface, missed_fragments},
    svo::{LeafColor, pack_normal, unpack_normal, validate},
};

use super::{
    bed::{Bed, Bench, Cell, Copy, Outcome},
    cases::{Case, Crack, plain},
    checks::{CHECKS, failures},
    f5_partners::{by_copies, first_crack},
    f6_hidden::{Parts, solid},
    f9_bytes::difference,
    f10_dust::parts,
};

/// A sound result of a case.
fn sound(bench: &Bench, case: &Case) -> (Bed, Outcome, Fracture) {
    let forest = case.shape.octree(case.level);
    let (pattern, recipe) = case.parts(&forest, 0);
    let bed = Bed::new(&forest, 0, &pattern, &recipe);
    let fracture = bench.run(&forest, 0, &pattern, &recipe).expect("it breaks");
    let got = Outcome::of(&fracture);
    assert_eq!(failures(&bed, &got), [], "{case:?}");
    (bed, got, fracture)
}

type Plant<'a> = (&'static str, &'static str, Box<dyn Fn(&mut Outcome) + 'a>);

/// Plants each error alone; how often each check found one that was meant for it.
fn plant(bed: &Bed, got: &Outcome, errors: Vec<Plant<'_>>) -> BTreeMap<&'static str, u32> {
    let mut by = BTreeMap::new();
    for (what, check, error) in errors {
        let mut wrong = got.clone();
        error(&mut wrong);
        wrong.copies.sort_unstable_by_key(|copy| (copy.key, copy.piece));
        wrong.inside.sort_unstable();
        let found = failures(bed, &wrong);
        let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        println!("{what}: found by {names:?}");
        assert!(names.contains(&check), "{check} does not see: {what}");
        *by.entry(check).or_default() += 1;
    }
    by
}

fn position(got: &Outcome, wanted: impl Fn(&Copy) -> bool) -> usize {
    got.copies.iter().position(wanted).expect("there is such a copy")
}

fn dropped(got: &mut Outcome, copy: usize) {
    got.copies.remove(copy);
}

fn hollowed(got: &mut Outcome) {
    got.inside.remove(9);
}

fn flipped(copy: &mut Copy) {
    copy.leaf.normal = pack_normal(-unpack_normal(copy.leaf.normal));
}

/// Moves a copy's surface by a sixteenth of a voxel.
fn shifted(copy: &mut Copy) {
    let color = copy.leaf.color;
    let by = if color.offset() > 0.0 { -1.0 / 16.0 } else { 1.0 / 16.0 };
    copy.leaf.color = LeafColor::new(color.rgb(), color.crack(), color.offset() + by);
}

/// Errors of any surface.
fn common<'a>(bed: &'a Bed, got: &'a Outcome) -> Vec<Plant<'a>> {
    let shared = position(got, |c| got.copies_at(c.key).len() > 1);
    let heavy = position(got, |c| c.leaf.coverage > 0.5 && c.leaf.coverage < 0.9);
    let whole = position(got, |c| bed.leaf(c.key) == Some(&c.leaf));
    let other =
        (1..got.pieces.len()).find(|p| got.pieces[*p].cell != got.pieces[0].cell).expect("two objects");
    vec![
        ("a copy dropped", "F1 copies", Box::new(move |got| dropped(got, shared))),
        ("a copy dropped, its mass gone", "F2 mass", Box::new(move |got| dropped(got, shared))),
        ("a copy moved to the next voxel", "F1 copies", Box::new(move |got| got.copies[shared].key += 1)),
        (
            "a copy of the wrong object",
            "F1 copies",
            Box::new(move |got| {
                got.copies[shared].cell =
                    bed.pattern.objects.iter().copied().find(|o| *o != got.copies[shared].cell).unwrap();
            }),
        ),
        (
            "a crack flag on an old surface",
            "F1 copies",
            Box::new(move |got| {
                let color = got.copies[whole].leaf.color;
                got.copies[whole].leaf.color = LeafColor(color.0 ^ 1 << 24);
            }),
        ),
        ("a cell inside dropped", "F1 insides", Box::new(hollowed)),
        ("a hole in the inside", "F1 boundary set", Box::new(hollowed)),
        (
            "a cell inside two pieces",
            "F1 boundary set",
            Box::new(move |got| {
                let held = got.inside[9];
                got.inside.push(super::bed::Held { piece: held.piece ^ 1, ..held });
            }),
        ),
        (
            "solid where nothing was",
            "F1 boundary set",
            Box::new(|got| {
                let empty = bed.cells.iter().position(|cell| *cell == Cell::Empty).unwrap();
                got.copies[0].key = empty as kintsugi::svo::Key;
            }),
        ),
        ("a crack voxel too many in the counts", "F1 counts", Box::new(|got| got.counts.crack_voxels += 1)),
        ("a swallowed cell too many in the counts", "F1 counts", Box::new(|got| got.counts.swallowed += 1)),
        (
            "a leaf that weighs a tenth more",
            "F2 mass",
            Box::new(move |got| got.copies[heavy].leaf.coverage *= 1.1),
        ),
        (
            "a piece that weighs 1e-5 more",
            "F2 mass properties",
            Box::new(|got| {
                got.pieces[0].mass.volume *= 1.0 + 1e-5;
            }),
        ),
        (
            "a centre that is off by 1/100 voxel",
            "F2 mass properties",
            Box::new(|got| {
                got.pieces[0].mass.centre.x += 0.01;
            }),
        ),
        ("a voxel too many in a piece", "F2 mass properties", Box::new(|got| got.pieces[0].voxels += 1)),
        (
            "a piece that takes along too much",
            "F3 motion",
            Box::new(|got| {
                got.pieces[0].mass.volume *= 1.0 + 1e-3;
            }),
        ),
        ("a piece that turns too easily", "F3 motion", Box::new(|got| got.pieces[0].mass.inertia *= 0.99)),
        (
            "a voxel in another piece",
            "F4 pieces",
            Box::new(move |got| {
                let mine = got.copies.iter().position(|copy| copy.piece == 0).unwrap();
                got.copies[mine].piece = other as u32;
            }),
        ),
        (
            "a leaf that nothing crossed recoloured",
            "F7 untouched leaves",
            Box::new(move |got| {
                got.copies[whole].leaf.color.0 ^= 1;
            }),
        ),
        (
            "a leaf that nothing crossed turned",
            "F7 untouched leaves",
            Box::new(move |got| {
                got.copies[whole].leaf.normal ^= 1;
            }),
        ),
        (
            "a leaf that nothing crossed lighter by a bit",
            "F7 untouched leaves",
            Box::new(move |got| {
                let coverage = &mut got.copies[whole].leaf.coverage;
                *coverage = f32::from_bits(coverage.to_bits() - 1);
            }),
        ),
        (
            "a leaf that nothing crossed cut",
            "F7 untouched leaves",
            Box::new(move |got| {
                got.copies[whole].leaf.cut ^= 1 << 24;
            }),
        ),
        (
            "a hole in a crack",
            "F5 closed",
            Box::new(move |got| {
                let beside = |copy: &Copy| {
                    let p = kintsugi::svo::morton::decode(copy.key);
                    let next = kintsugi::svo::morton::encode([p[0] + 1, p[1], p[2]]);
                    bed.cells[copy.key as usize] == Cell::Inside
                        && got.inside.iter().any(|held| held.key == next && held.piece == copy.piece)
                };
                let at = position(got, beside);
                dropped(got, at);
            }),
        ),
        (
            "a share of a leaf that is not equal",
            "F10 dust",
            Box::new(move |got| {
                got.copies[shared].leaf.coverage *= 0.8;
            }),
        ),
        (
            "dust that is not there",
            "F10 dust",
            Box::new(|got| got.dust_volume = 1.01 * got.dust_volume + 1.0),
        ),
        ("a dust voxel too many in the counts", "F10 dust", Box::new(|got| got.counts.dust_voxels += 1)),
    ]
}

/// Two pieces of one object called one.
fn joined(got: &Outcome) -> Plant<'_> {
    let of = |p: usize| got.pieces[p].cell;
    let islands =
        (0..got.pieces.len()).find_map(|a| (0..a).find(|b| of(*b) == of(a)).map(|b| (a as u32, b as u32)));
    let (from, to) = islands.expect("an object in two pieces");
    let join = move |got: &mut Outcome| {
        got.copies.iter_mut().filter(|c| c.piece == from).for_each(|c| c.piece = to);
        got.inside.iter_mut().filter(|h| h.piece == from).for_each(|h| h.piece = to);
    };
    ("two islands in one piece", "F4 pieces", Box::new(join))
}

/// Errors in crack faces that two pieces share.
fn facing<'a>(bed: &'a Bed, got: &'a Outcome) -> Vec<Plant<'a>> {
    let (two, three) = (first_crack(bed, got, 2), first_crack(bed, got, 3));
    let at = |key| position(got, |copy| copy.key == key);
    let (two, three) = (at(two), at(three));
    vec![
        ("a crack voxel without its partner", "F5 partners", Box::new(move |got| dropped(got, two))),
        ("one normal flipped", "F5 partners", Box::new(move |got| flipped(&mut got.copies[two]))),
        ("one side moved", "F5 partners", Box::new(move |got| shifted(&mut got.copies[two]))),
        (
            "both normals flipped",
            "F5 planes",
            Box::new(move |got| {
                got.copies[two..two + 2].iter_mut().for_each(flipped);
            }),
        ),
        (
            "the surface of a voxel of three moved",
            "F5 planes",
            Box::new(move |got| shifted(&mut got.copies[three])),
        ),
        (
            "the surface of a voxel of three flipped",
            "F5 planes",
            Box::new(move |got| flipped(&mut got.copies[three])),
        ),
        (
            "a face inside an object",
            "F5 partners",
            Box::new(move |got| {
                let own = got.copies[two];
                got.copies[two + 1].cell = own.cell;
            }),
        ),
        ("dust without a gap", "F10 dust", Box::new(move |got| drop(got.copies.drain(three..three + 3)))),
    ]
}

#[test]
fn every_check_finds_its_planted_error() {
    let Some(bench) = Bench::get() else { return };
    let mut by = BTreeMap::new();
    let mut count = |found: BTreeMap<&'static str, u32>| {
        found.into_iter().for_each(|(name, n)| *by.entry(name).or_insert(0) += n);
    };
    let (bed, got, fracture) = sound(bench, &plain("statue", 5, Surface::Planar, 40, 7));
    println!("planar, by copies: {:?}", by_copies(&bed, &got));
    count(plant(&bed, &got, common(&bed, &got)));
    count(plant(&bed, &got, facing(&bed, &got)));
    count(plant(&bed, &got, vec![joined(&got)]));

    // A leaf of more than the whole voxel, found by the octrees' own check.
    let mut wrong = fracture.clone();
    let forest = std::sync::Arc::make_mut(&mut wrong.forest);
    forest.leaves.coverage[3] = 1.5;
    assert!(validate(forest).is_err());
    let octree: Plant<'_> =
        ("a leaf of 1.5 voxels", "F1 octrees", Box::new(move |got| *got = Outcome::of(&wrong)));
    count(plant(&bed, &got, vec![octree]));

    let rough = Case { local: Some(45), ..plain("cavity", 5, Surface::Rough, 60, 7) };
    let (bed, got, _) = sound(bench, &rough);
    println!("rough, by copies: {:?}", by_copies(&bed, &got));
    count(plant(&bed, &got, facing(&bed, &got)));

    let crack = Crack { above: 2, gap: 25, ..Crack::default() };
    let (bed, got, _) = sound(bench, &Case { crack, ..plain("statue", 5, Surface::Dusty, 40, 7) });
    println!("dusty, by copies: {:?}, {} dust voxels", by_copies(&bed, &got), got.counts.dust_voxels);
    count(plant(&bed, &got, common(&bed, &got)));
    let gone = bed.wanted.dust.iter().find(|(_, parts)| *parts == 1).expect("a dust voxel").0;
    let cut = position(&got, |copy| {
        let copies = got.copies_at(copy.key);
        copies.len() == 1 && parts(&bed, copies) == Some(2)
    });
    let mut errors: Vec<Plant<'_>> = vec![
        (
            "a dust voxel that stayed",
            "F10 dust",
            Box::new(move |got| {
                got.copies.push(Copy { key: gone, ..got.copies[0] });
            }),
        ),
        (
            "dust that was given to a piece",
            "F10 dust",
            Box::new(move |got| got.copies[cut].leaf.coverage *= 2.0),
        ),
        ("dust that is lighter than said", "F10 dust", Box::new(|got| got.dust_volume *= 0.999)),
    ];
    errors.push((
        "dust that takes no motion along",
        "F3 motion",
        Box::new(|got| {
            let gone = bed.wanted.dust.iter().filter(|(_, parts)| *parts == 1);
            got.copies.extend(gone.map(|(key, _)| Copy { key: *key, ..got.copies[0] }).collect::<Vec<_>>());
        }),
    ));
    count(plant(&bed, &got, errors));
    println!("errors found, by check: {by:?}");
    assert!(CHECKS.iter().all(|(name, _)| by.contains_key(name)), "every check has found one");
}

#[test]
fn what_is_hidden_and_what_is_the_same_are_seen_to_differ() {
    let Some(bench) = Bench::get() else { return };
    let case = plain("cavity", 4, Surface::Planar, 120, 3);
    let forest = case.shape.octree(4);
    let (pattern, recipe) = case.parts(&forest, 0);
    let found = missed_fragments(&forest, 0, &pattern).parts;
    let parts = Parts::of(&solid(&forest, 0), 4, &pattern);
    assert_eq!(parts.differ_from(&found), None);
    let sure = found.iter().position(|part| parts.sure.contains(part)).expect("a part that is surely there");
    let mut missed = found.clone();
    missed.remove(sure);
    let mut other = found.clone();
    other[sure].1 = (0..120).find(|o| !parts.possible.contains(&(other[sure].0, *o))).unwrap();
    let twice = [found.clone(), vec![found[sure]]].concat();
    for wrong in [missed, other, twice] {
        assert!(parts.differ_from(&wrong).is_some());
    }

    let first = bench.run(&forest, 0, &pattern, &recipe).expect("it breaks");
    assert_eq!(difference(&first, &first.clone()), None);
    type Change = fn(&mut Fracture);
    let plants: [(&str, Change); 5] = [
        ("octrees", |f| std::sync::Arc::make_mut(&mut f.forest).leaves.colors[2].0 ^= 2),
        ("coverage", |f| {
            // Equal to the eye of a comparison of floats.
            let coverage = &mut std::sync::Arc::make_mut(&mut f.forest).leaves.coverage;
            *coverage = coverage.iter().map(|c| f32::from_bits(c.to_bits() ^ 1)).collect();
        }),
        ("pieces", |f| f.pieces[0].mass.centre.x += 1e-12),
        ("counts", |f| f.counts.islands += 1),
        ("dust", |f| f.dust_volume = -0.0),
    ];
    for (what, plant) in plants {
        let mut wrong = first.clone();
        plant(&mut wrong);
        assert!(difference(&first, &wrong).is_some(), "{what}");
    }
}
