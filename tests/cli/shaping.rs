//! How pieces are shaped and how many there are, as a user of `kintsugi fracture` sees it: patterns, a number
//! of pieces, the smallest piece, seeds from a scene's file, and an object that stays whole.

use serde_json::Value;

use super::{
    back::boxes,
    support::{
        program::{folder, kintsugi, outcome, run, text},
        results::checked_report,
    },
};

/// Runs `fracture` on a shape with these options; the report and stdout, or nothing where tests are skipped.
fn fracture(name: &str, options: &[&str]) -> Option<(Value, String)> {
    let out = folder(name);
    let stdout = run(["fracture"].iter().chain(options).chain(&["--out", &text(&out)]).copied())?;
    Some((checked_report(&out), stdout))
}

fn count(report: &Value, name: &str) -> u64 {
    report["counts"][name].as_u64().unwrap_or_else(|| panic!("{name} in {}", report["counts"]))
}

#[test]
fn every_pattern_breaks_and_is_reported() {
    for pattern in ["spheres", "uniform", "clustered", "radial", "grain", "inward"] {
        let name = format!("pattern-{pattern}");
        let options = ["builtin:vase", "--level", "6", "--seeds", "30", "--pattern", pattern];
        let Some((report, _)) = fracture(&name, &options) else { return };
        println!("{pattern}: {}", report["counts"]);
        assert_eq!(report["parameters"]["pattern"], pattern);
        assert!(count(&report, "pieces") >= 12);
        assert_eq!(report["stayed_whole"], false);
    }
}

#[test]
fn a_number_of_pieces_is_solved_for_and_reported() {
    let Some((report, stdout)) = fracture("solved", &["builtin:shell", "--level", "6", "--pieces", "20"])
    else {
        return;
    };
    let solved = &report["solved"][0];
    println!("{solved}");
    assert_eq!((solved["wanted"].as_u64(), report["parameters"]["pieces"].as_u64()), (Some(20), Some(20)));
    assert_eq!(solved["reached"].as_u64(), Some(count(&report, "pieces")));
    assert!(count(&report, "pieces").abs_diff(20) <= 2);
    assert!(stdout.contains("asked for 20 pieces, reached"), "{stdout}");
    // Few pieces are as many as were asked for.
    for wanted in ["2", "3", "10"] {
        let options = ["builtin:sphere", "--level", "5", "--pieces", wanted, "--compute", "cpu"];
        let (report, _) = fracture("solved-exactly", &options).unwrap();
        assert_eq!(count(&report, "pieces").to_string(), wanted);
    }
}

/// A millionth of a unit long or ten million units: the same pieces as of one unit, and sound meshes.
#[test]
fn a_box_of_any_size_breaks_as_that_of_one_unit() {
    let broken = |size: f64| {
        let path = folder(&format!("size-{size}")).join("box.obj");
        let file = text(&path);
        boxes(&path, &[("box", [0.0; 3], [size, 0.5 * size, size])]);
        let options =
            ["--level", "5", "--seeds", "8", "--surface", "rough", "--compute", "cpu", "--format", "glb"];
        let words = [&[file.as_str()][..], &options].concat();
        let (report, _) = fracture(&format!("size-{size}-broken"), &words)?;
        let meshes = &report["meshes"];
        assert!(meshes["kind"] == "original" && meshes["watertight"] == meshes["meshes"], "{size}: {meshes}");
        assert_eq!(meshes["manifold"], meshes["meshes"], "{size}: {meshes}");
        let mass = report["source_mass"].as_f64().unwrap() / (0.5 * size * size * size);
        assert!((mass - 1.0).abs() < 1e-6, "{size}: {mass}");
        Some(report["counts"].clone())
    };
    let Some(unit) = broken(1.0) else { return };
    for size in [1e-6, 1e7] {
        assert_eq!(broken(size).unwrap(), unit, "{size}");
    }
}

#[test]
fn small_pieces_are_merged_or_dropped_and_the_mass_is_accounted_for() {
    let options = ["builtin:vase", "--level", "6", "--seeds", "60", "--generations", "2"];
    let Some((plain, _)) = fracture("small-all", &options) else { return };
    let with =
        |rule: &str, name: &str| fracture(name, &[&options[..], &["--smallest", rule]].concat()).unwrap().0;
    let (merged, dropped) = (with("150", "small-merged"), with("0.3%,drop", "small-dropped"));
    for (name, report) in [("all", &plain), ("merged", &merged), ("dropped", &dropped)] {
        println!("{name}: {}", report["counts"]);
        let sum: f64 = report["pieces"].as_array().unwrap().iter().map(|p| p["mass"].as_f64().unwrap()).sum();
        let (source, lost) =
            (report["source_mass"].as_f64().unwrap(), report["dropped_mass"].as_f64().unwrap());
        assert!(((sum + lost) / source - 1.0).abs() < 1e-6, "{name}: {sum} + {lost} of {source}");
    }
    let least =
        |report: &Value| report["pieces"].as_array().unwrap().last().unwrap()["voxels"].as_u64().unwrap();
    assert!(least(&plain) < 150 && least(&merged) >= 150, "{} {}", least(&plain), least(&merged));
    assert!(count(&merged, "merged") > 0 && count(&merged, "dropped") == 0);
    assert!(count(&dropped, "dropped") > 0 && dropped["dropped_mass"].as_f64().unwrap() > 0.0);
    assert!(count(&plain, "hidden") > 0, "parts that the corners miss are counted");
}

#[test]
fn chips_are_pieces_like_any_others_and_reported_where_they_are_asked_for() {
    let options = ["builtin:box", "--level", "6", "--seeds", "8", "--pattern", "uniform", "--format", "obj"];
    let Some((plain, _)) = fracture("chips-none", &options) else { return };
    let chips = ["--chips", "20", "--chip-spread", "0.4"];
    let (report, stdout) = fracture("chips", &[&options[..], &chips].concat()).unwrap();
    assert!(stdout.contains(" of 20 that were asked for"), "{stdout}");
    println!("{} {}", plain["counts"], report["counts"]);
    let parameters = &report["parameters"];
    assert_eq!((parameters["chips"].as_u64(), parameters["chip_spread"].as_f64()), (Some(20), Some(0.4)));
    assert!(plain["parameters"].get("chips").is_none() && plain["parameters"].get("chip_size").is_none());
    let more = count(&report, "pieces") - count(&plain, "pieces");
    assert!((10..=24).contains(&more), "{more} more pieces by 20 chips");
    // By the object's own triangles; the checks of meshes are among those of the report.
    assert_eq!(report["meshes"]["kind"], "original");
    let sum: f64 = report["pieces"].as_array().unwrap().iter().map(|p| p["mass"].as_f64().unwrap()).sum();
    assert!((sum / report["source_mass"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{sum}");
}

#[test]
fn an_object_that_no_crack_meets_stays_whole_and_says_so() {
    let Some((report, stdout)) = fracture("whole", &["builtin:box", "--level", "5", "--seeds", "1"]) else {
        return;
    };
    assert_eq!((report["stayed_whole"].as_bool(), count(&report, "pieces")), (Some(true), 1));
    assert!(stdout.contains("stayed whole"), "{stdout}");
}

#[test]
fn contradictions_end_with_2_and_say_what_to_do() {
    for (options, part) in [
        (&["--seeds", "9000"][..], "--generations"),
        (&["--pieces", "0"], "--pieces"),
        (&["--pieces", "20", "--seeds", "10"], "--seeds"),
        (&["--counts", "3,4"], "--counts has 2 entries for 4 radii"),
        (&["--counts", "3,4", "--seeds", "7"], "--seeds"),
        (&["--counts", "9000", "--radii", "0.3"], "--counts is 9000"),
        (&["--pattern", "marble"], "marble"),
        (&["--pattern", "grain", "--grain-ratio", "0.5"], "--grain-ratio is 0.5"),
        (&["--grain-axis", "0,0,0"], "--grain-axis"),
        (&["--smallest", "many"], "voxels or percent"),
        (&["--chips", "9000"], "--chips is 9000; it must be from 0 to 4096"),
        (&["--chips", "9", "--method", "box-cut"], "give the method octree"),
        (&["--pattern", "chips", "--surface", "rough"], "--surface is not planar"),
        (&["--smallest", "10,burn"], "merge or drop"),
    ] {
        let all = ["fracture", "builtin:box", "--out", "/nonexistent/x"].iter().chain(options).copied();
        let (code, _, stderr) = outcome(&kintsugi(all).output().unwrap());
        assert_eq!(code, 2, "{options:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains(part), "{part} in {stderr}");
    }
}
