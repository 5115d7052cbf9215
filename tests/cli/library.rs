//! The Rust programs of `examples/`, which use the library as others do: what they print and what they write.
//!
//! They are modules of this test program: that costs the compiler their few lines, where a program each would be linked
//! with the whole library.

use std::{fs, path::Path};

use kintsugi::render::Pixels;
#[cfg(feature = "draco")]
use kintsugi::{Fracture, Object};
use serde_json::Value;

use super::support::program::{folder, run, text};

macro_rules! example {
    ($name:ident, $file:literal) => {
        #[path = $file]
        #[allow(dead_code, reason = "its main function is for `cargo run --example`")]
        mod $name;
    };
}

example!(break_and_export, "../../examples/break_and_export.rs");
example!(own_method, "../../examples/own_method.rs");
example!(own_pattern, "../../examples/own_pattern.rs");
example!(physics_without_window, "../../examples/physics_without_window.rs");
example!(picture, "../../examples/picture.rs");

fn report(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("report.json")).expect("a report")).expect("JSON")
}

/// Numbers of a line, in their order.
fn numbers(line: &str) -> Vec<f64> {
    let ends = |c: char| !(c.is_ascii_digit() || c == '.');
    line.split(ends).filter_map(|word| word.trim_end_matches('.').parse().ok()).collect()
}

#[test]
fn a_break_of_the_library_has_the_bytes_of_the_command() {
    let (own, by_command) = (folder("library-break"), folder("library-break-command"));
    let said = break_and_export::run(&own).expect("it breaks");
    print!("{said}");
    assert!(said.contains("all checks hold"), "{said}");
    let pieces = report(&own)["pieces"].as_array().map_or(0, Vec::len);
    assert!(pieces > 10 && said.contains(&format!("{pieces} pieces, ")), "{pieces}: {said}");
    // Each of the three lines about pieces: id, voxels, volume, triangles.
    let figures: Vec<_> = said.lines().filter(|line| line.starts_with("piece ")).map(numbers).collect();
    assert!(figures.len() == 3 && figures.is_sorted_by(|a, b| a[1] >= b[1]), "{figures:?}");
    assert!(figures.iter().all(|of| of[2] > 0.0 && of[3] >= 4.0), "{figures:?}");

    let arguments =
        "fracture builtin:vase --level 6 --seeds 30 --surface rough --rng 7 --smallest 8 --format glb,obj";
    let out = text(&by_command);
    run(arguments.split(' ').chain(["--compute", "cpu", "--out", &out])).expect("the command breaks");
    for file in ["voxels.npz", "pieces.glb", "pieces.obj"] {
        let bytes = |folder: &Path| fs::read(folder.join(file)).expect("it was written");
        assert!(bytes(&own) == bytes(&by_command), "{file} differs from that of the command");
    }
    let same = ["input", "health", "parameters", "counts", "pieces", "checks", "meshes", "files"];
    for part in same {
        assert_eq!(report(&own)[part], report(&by_command)[part], "{part}");
    }
}

#[test]
fn own_seeds_cut_equal_slices() {
    let out = folder("library-pattern");
    let said = own_pattern::run(&out).expect("it breaks");
    print!("{said}");
    let shares: Vec<f64> =
        said.lines().filter(|line| line.starts_with("slice ")).map(|line| numbers(line)[1]).collect();
    assert_eq!(shares.len(), 8, "{said}");
    assert!(shares.iter().all(|share| (share - 12.5).abs() < 0.3), "{shares:?}");
    assert!((shares.iter().sum::<f64>() - 100.0).abs() < 0.05, "{shares:?}");
    assert!(out.join("pieces.glb").is_file());
}

#[test]
fn an_own_method_is_named_checked_and_exported() {
    let out = folder("library-method");
    let said = own_method::run(&out).expect("it breaks");
    print!("{said}");
    assert!(said.starts_with("27 bricks of ") && said.contains("checks hold: true"), "{said}");
    let report = report(&out);
    assert_eq!(report["parameters"]["method"], "bricks");
    assert_eq!(report["parameters"]["options"]["across"], 3.0);
    let (document, ..) = gltf::import(out.join("pieces.glb")).expect("a GLB");
    assert_eq!(document.meshes().count(), 27);
}

#[test]
fn pieces_fall_and_come_to_rest_without_a_window() {
    let out = folder("library-physics");
    let said = physics_without_window::run(&out).expect("it falls");
    print!("{said}");
    let table = fs::read_to_string(out.join("heights.csv")).expect("a table");
    let rows: Vec<Vec<f64>> = table.lines().skip(1).map(numbers).collect();
    assert_eq!(rows.len(), 400);
    let fastest = rows.iter().map(|row| row[1]).fold(0.0, f64::max);
    let (first, last) = (&rows[0], &rows[399]);
    assert!((last[0] - 4.0).abs() < 1e-9 && last[1] < 0.01 * fastest, "{last:?} of {fastest} J");
    assert!(last[2] > 0.0 && last[2] < first[2], "{first:?} {last:?}");
    let picture = Pixels::from_png(&fs::read(out.join("fallen.png")).expect("a picture")).expect("a PNG");
    assert_eq!(picture.size, [320, 240]);
}

#[test]
fn pictures_show_the_whole_and_its_pieces() {
    let out = folder("library-pictures");
    let said = picture::run(&out).expect("it draws");
    print!("{said}");
    let of = |file: &str| Pixels::from_png(&fs::read(out.join(file)).expect("a picture")).expect("a PNG");
    let (whole, apart, cracks) = (of("whole.png"), of("apart.png"), of("cracks.png"));
    assert!([&whole, &apart, &cracks].iter().all(|picture| picture.size == [240, 320]));
    let differ = whole.rgba.iter().zip(&apart.rgba).filter(|(a, b)| a != b).count();
    assert!(differ > whole.rgba.len() / 20, "{differ} bytes differ");
    let share = numbers(said.split_once("cover").expect("a share").1)[0];
    assert!((5.0..80.0).contains(&share), "{said}");
    assert!(whole.rgba.chunks_exact(4).all(|pixel| pixel[3] == 255), "only the last one is transparent");
}

#[cfg(feature = "draco")]
#[test]
fn what_draco_packs_breaks_as_the_object_does_that_was_packed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/glb");
    let out = folder("library-draco");
    let volumes = |name: &str| -> Vec<f64> {
        let file = out.join(format!("{name}.glb"));
        fs::copy(corpus.join(name), &file).expect("a copy");
        let object = Object::open(&file, 5).expect("it is read");
        let pieces = object.fracture(&Fracture::new().cells(12).random_seed(7)).expect("it breaks");
        pieces.iter().map(|piece| piece.volume()).collect()
    };
    // The stream has the same places in another order.
    let (plain, exact) = (volumes("draco-none"), volumes("draco-exact"));
    let total: f64 = plain.iter().sum();
    assert!(plain.len() > 5 && plain.len() == exact.len(), "{plain:?} {exact:?}");
    assert!(plain.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-6 * total), "{plain:?} {exact:?}");
    // Places of 11 bits: 3 mm on 6 m.
    for name in ["draco-edgebreaker", "draco-sequential"] {
        let sum: f64 = volumes(name).iter().sum();
        assert!((sum / total - 1.0).abs() < 0.02, "{name}: {sum} for {total}");
    }
}
