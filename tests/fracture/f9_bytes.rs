//! F9: the same seed gives the same bytes: the octrees from run to run, place to place and device to device,
//! and the files of the command.

use kintsugi::{
    fracture::{Cancel, Fracture, Surface},
    svo::Arena,
};

use super::{
    bed::Bench,
    cases::{Case, plain},
    shapes::{SIX, Shape},
    support::{
        adapter,
        program::{folder, run},
        results::read_report,
    },
};

/// Says what differs of two fractures: anything but the times that they took.
pub fn difference(a: &Fracture, b: &Fracture) -> Option<&'static str> {
    let parts = [
        ("octrees", a.forest == b.forest),
        (
            "coverage",
            a.forest.leaves.coverage.iter().map(|c| c.to_bits()).eq(b
                .forest
                .leaves
                .coverage
                .iter()
                .map(|c| c.to_bits())),
        ),
        ("pieces", a.pieces == b.pieces),
        ("counts", a.counts == b.counts),
        ("dust", a.dust_volume.to_bits() == b.dust_volume.to_bits()),
    ];
    parts.iter().find(|(_, same)| !same).map(|(what, _)| *what)
}

#[test]
fn equal_seeds_give_equal_bytes_wherever_the_source_lies() {
    let Some(bench) = Bench::get() else { return };
    let Some(other) = adapter::another().map(Bench::on) else { return };
    for (i, name) in SIX.into_iter().enumerate() {
        let surfaces = [Surface::Planar, Surface::Rough, Surface::Dusty];
        // Every second pair of a shape and a surface.
        for surface in surfaces.into_iter().skip(i % 2).step_by(2) {
            let case = plain(name, 6, surface, 30, 7);
            let forest = case.shape.octree(6);
            let (pattern, recipe) = case.parts(&forest, 0);
            let of = |bench: &Bench| bench.run(&forest, 0, &pattern, &recipe).expect("it breaks");
            let first = of(bench);
            assert_eq!(difference(&first, &of(bench)), None, "{name} {surface:?}: again");
            if i % 3 == 0 {
                assert_eq!(difference(&first, &of(&other)), None, "{name} {surface:?}: another device");
            }
            // Behind something else in the arena.
            let mut arena = Arena::new(&bench.gpu).expect("an arena");
            arena.insert(&Shape::Named("cup".into()).octree(5)).expect("it fits");
            let slot = arena.insert(&forest).expect("it fits");
            let source = kintsugi::fracture::Source {
                arena: &arena,
                slot,
                forest: &forest,
                tree: 0,
                cancel: Cancel::never(),
            };
            let moved = bench.fracturer.fracture(&source, &pattern, &recipe).expect("it breaks");
            assert_eq!(difference(&first, &moved), None, "{name} {surface:?}: elsewhere");
            let (pattern, recipe) = Case { rng: 8, ..case }.parts(&forest, 0);
            let different = bench.run(&forest, 0, &pattern, &recipe).expect("it breaks");
            assert!(difference(&first, &different).is_some(), "{name} {surface:?}: another seed");
        }
    }
}

/// `voxels.npz` byte for byte, `report.json` but for the times and the command.
#[test]
fn the_command_writes_the_same_files_again() {
    for (surface, more) in [
        ("planar", &["--local", "0.4"][..]),
        ("rough", &["--generations", "2"]),
        ("dusty", &["--generations", "2"]),
    ] {
        let write = |name: &str, rng: &str| {
            let out = folder(&format!("bytes-{surface}-{name}"));
            let text = out.to_string_lossy().into_owned();
            let arguments = ["fracture", "builtin:vase", "--level", "6", "--surface", surface, "--rng", rng];
            run(arguments.iter().chain(more).chain(&["--out", &text]))?;
            let mut report = read_report(&out);
            // The command names the folder.
            assert!(report.as_object_mut().unwrap().remove("provenance").is_some());
            let times = report.as_object_mut().unwrap().remove("timings_ms");
            assert!(times.is_some_and(|times| times.as_object().is_some_and(|all| all.len() > 3)));
            Some((std::fs::read(out.join("voxels.npz")).unwrap(), report))
        };
        let Some(first) = write("first", "3") else { return };
        let (second, third) = (write("second", "3").unwrap(), write("third", "4").unwrap());
        println!("{surface}: {} bytes of arrays", first.0.len());
        assert!(first.0 == second.0, "{surface}: voxels.npz");
        assert_eq!(first.1, second.1, "{surface}: report.json");
        assert!(first.0 != third.0 && first.1 != third.1, "{surface}: another seed gives other files");
    }
}
