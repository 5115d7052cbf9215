//! `kintsugi probe` against `tools/probe_check.py`, which computes the fields from the arrays of `kintsugi fracture`.

use std::{
    path::Path,
    process::{Command, Output},
};

use super::{
    examples::has,
    support::program::{folder, kintsugi, lacks_adapter, outcome, run, text},
};

/// The script with these arguments.
fn check(arguments: &[String]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/probe_check.py");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(arguments).output().expect("python3 starts")
}

/// A fracture and so many probes of it by the same options; the folder and the file of probes. `None` without an
/// adapter.
fn probed(name: &str, number: usize, options: &[&str], overlays: &str) -> Option<[String; 2]> {
    let home = folder(name);
    let (out, probes) = (text(&home.join("out")), text(&home.join("probes.json")));
    let shared = [&["builtin:vase", "--level", "6", "--rng", "7"][..], options].concat();
    let broken = ["fracture", "--format", "npz", "--overlays", overlays, "--out", &out];
    run([&broken[..], &shared].concat())?;
    let (code, places, err) = outcome(&check(&["--choose".into(), number.to_string(), out.clone()]));
    assert_eq!(code, 0, "{err}");
    let places: Vec<&str> = places.split_whitespace().collect();
    assert_eq!(places.len(), 2 * number);
    let said = run([&["probe", "--out", &probes][..], &shared, &places].concat())?;
    assert!(said.starts_with(&format!("{number} voxels probed")), "{said}");
    Some([probes, out])
}

const OF_CRACKS: &str = "transition,triangles,points,labels";

#[test]
fn probes_are_what_numpy_finds_in_the_arrays() {
    if !has("numpy") {
        return;
    }
    for (name, options, overlays) in [
        ("planar", &["--seeds", "30"][..], "labels"),
        ("rough", &["--seeds", "30", "--surface", "rough"], OF_CRACKS),
        ("dusty", &["--seeds", "30", "--surface", "dusty"], OF_CRACKS),
        ("local", &["--seeds", "60", "--local", "0.4"], "labels"),
        ("small", &["--seeds", "60", "--smallest", "200"], "labels"),
        ("again", &["--seeds", "9", "--surface", "rough", "--generations", "2"], OF_CRACKS),
    ] {
        let Some(arguments) = probed(&format!("probe-{name}"), 200, options, overlays) else { return };
        let (code, said, err) = outcome(&check(&arguments));
        assert_eq!(code, 0, "{name}: {said}{err}");
        let compared = |what: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(&format!("{what} compared: ")));
            line.and_then(|number| number.parse::<u32>().ok()).unwrap_or(0)
        };
        assert!(compared("seeds") == 200 && compared("planes") > 100, "{name}: {said}");
        assert!(compared("labels") > 80, "{name}: {said}");
        assert!(overlays != OF_CRACKS || compared("triangles") > 50, "{name}: {said}");
        print!("{name}: {said}");
    }
}

/// The script is not blind: each wrong number is found, and named.
#[test]
fn a_planted_error_in_a_probe_is_found() {
    if !has("numpy") {
        return;
    }
    let options = ["--seeds", "30", "--surface", "rough"];
    let Some([probes, out]) = probed("probe-planted", 80, &options, OF_CRACKS) else { return };
    let sound = std::fs::read(&probes).unwrap();
    for (error, names) in [
        ("p[0]['morton'] ^= 1", "morton"),
        ("p[0]['centre_in_mesh'][1] += 1e-6", "centre_in_mesh"),
        ("p[1]['seeds'].reverse()", "seeds"),
        ("p[2]['seeds'][1]['squared_distance'] += 1", "seeds"),
        ("p[2]['beyond']['position'][0] += 1", "beyond"),
        ("p[3]['distance_to_seed'] += 1e-6", "distance_to_seed"),
        ("p[3]['distance_to_crack'] += 1e-6", "distance_to_crack"),
        ("p[4]['corners'][6] += 1", "corners"),
        ("first('piece')['piece'] += 1", "piece"),
        ("first('piece')['cell'] += 1", "cell"),
        ("first('piece')['in_source'] = 'outside'", "in_source"),
        ("first('break')['break']['impact'][2] += 1e-3", "break.impact"),
        ("first('break')['generation'] = 2", "generation"),
        ("first('copies')['copies'].pop()", "copies"),
        ("first('copies')['copies'][0]['coverage'] *= 0.5", "copies.coverage"),
        ("[q for q in p if q['kind'] == 'crack'][0]['kind'] = 'boundary'", "kind"),
        ("[q for q in p if q['kind'] == 'outside'][0]['kind'] = 'inside'", "kind"),
        ("[q for q in p if q['node']['size'] > 1][0]['node']['size'] //= 2", "node"),
        ("first('coverage')['coverage'] *= 0.5", "coverage"),
        ("first('surface')['surface']['offset'] += 1 / 64", "surface"),
        ("first('cut')['cut']['normal'].reverse()", "cut"),
        ("first('label')['label']['iterations'][1] += 1", "label.iterations"),
        ("first('label')['label']['island'] += 100", "label.island"),
        ("first('transition')['transition']['objects'][0] += 1", "transition.objects"),
        ("first('transition')['transition']['points'] += 1", "transition.points"),
        ("touched()['transition']['triangles'].pop()", "transition.triangles"),
        ("touched()['transition']['triangles'][0]['cells'].reverse()", "transition.triangles"),
        ("del first('transition')['transition']", "transition"),
    ] {
        let code = format!(
            "import json\np = json.load(open({probes:?}))\n\
             first = lambda name: [q for q in p if name in q][0]\n\
             touched = lambda: [q for q in p if q.get('transition', {{}}).get('triangles')][0]\n\
             {error}\njson.dump(p, open({probes:?}, 'w'))"
        );
        let (status, _, err) = outcome(&Command::new("python3").args(["-c", &code]).output().unwrap());
        assert_eq!(status, 0, "{error}: {err}");
        let (code, said, err) = outcome(&check(&[probes.clone(), out.clone()]));
        assert_eq!(code, 1, "nobody notices {error}: {said}{err}");
        assert!(err.contains(&format!(": {names} is ")), "{error} is found as {err}");
        std::fs::write(&probes, &sound).unwrap();
    }
}

/// The stress of the object before it breaks, against what `kintsugi stress` says of its cells: under its weight, and under a
/// blow of 50 N at the same place with the foot held. The script shares no code with either.
#[test]
fn the_stress_of_a_probe_is_that_of_the_cell() {
    if !has("numpy") {
        return;
    }
    let home = folder("probe-stress");
    let [out, probes, cells] = ["out", "probes.json", "stress"].map(|name| text(&home.join(name)));
    let shared = ["builtin:vase", "--level", "6", "--seeds", "20"];
    let Some(_) = run([&["fracture", "--format", "npz", "--out", &out][..], &shared].concat()) else {
        return;
    };
    let (_, places, _) = outcome(&check(&["--choose".into(), "100".into(), out.clone()]));
    let places: Vec<&str> = places.split_whitespace().collect();
    let foot = "--held=-9,-9,-9,9,0.1,9";
    let blow = ["--stress-load", "blow", "--force", "50", "--radius", "0.2", foot];
    let at = ["--impact=0,0.5,0.4", "--direction=0,0,-1"];
    let struck = ["--blow=0,0.5,0.4", "--direction=0,0,-1", "--force", "50", "--radius", "0.2", foot];
    for (load, of_cells) in [(&["--stress-load", "weight"][..], &[][..]), (&blow, &struck)] {
        let of_blow = if load.len() > 2 { &at[..] } else { &[] };
        let broken = [&["fracture", "--format", "npz", "--out", &out][..], &shared, of_blow].concat();
        run(broken).unwrap();
        run([&["probe", "--no-labels", "--out", &probes][..], &shared, of_blow, load, &places].concat())
            .unwrap();
        let fixed = ["stress", "builtin:vase", "--level", "6", "--cells", "5", "--density", "2000"];
        run([&fixed[..], &["--out", &cells], of_cells].concat()).unwrap();
        let arguments = [probes.clone(), out.clone(), "--stress".into(), cells.clone()];
        let (code, said, err) = outcome(&check(&arguments));
        assert_eq!(code, 0, "{load:?}: {said}{err}");
        let compared = said.lines().find_map(|line| line.strip_prefix("stress compared: "));
        assert!(compared.and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n > 50), "{load:?}: {said}");
        // Planted: twice the stress.
        let sound = std::fs::read_to_string(&probes).unwrap();
        let mut wrong = json(&sound);
        let all = wrong.as_array_mut().unwrap();
        let stress = |probe: &serde_json::Value| probe["von_mises_pa"].as_f64().unwrap_or(0.0);
        let most = all.iter_mut().max_by(|a, b| stress(a).total_cmp(&stress(b))).unwrap();
        most["von_mises_pa"] = (2.0 * stress(most)).into();
        std::fs::write(&probes, wrong.to_string()).unwrap();
        let (code, said, err) = outcome(&check(&arguments));
        assert!(code == 1 && err.contains("von_mises_pa"), "{load:?}: {said}{err}");
    }
}

#[test]
fn a_load_that_cannot_be_is_refused_in_a_line() {
    for (arguments, says) in [
        (
            &["probe", "builtin:vase", "--level", "5", "--voxel", "1,2,3", "--force", "5"][..],
            "add --stress-load blow",
        ),
        (
            &["render", "builtin:vase", "--level", "5", "--stress-load", "blow", "--out", "x.png"],
            "nothing shows stress",
        ),
        (
            &[
                "render",
                "builtin:vase",
                "--level",
                "5",
                "--color-by",
                "stress",
                "--stress-load",
                "blow",
                "--explode",
                "0.2",
                "--out",
                "x.png",
            ],
            "leave --explode out",
        ),
    ] {
        let (code, out, err) = outcome(&kintsugi(arguments).output().unwrap());
        assert!(code == 2 && out.is_empty() && err.lines().count() == 1, "{arguments:?}: {code} {out} {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn places_are_told_in_their_order_and_by_point_as_by_voxel() {
    let options = ["probe", "builtin:vase", "--level", "5", "--seeds", "12", "--no-labels"];
    let more = ["--voxel", "16,3,16", "--at", "0,0.5,0", "--voxel", "0,0,0"];
    let Some(printed) = run([&options[..], &more].concat()) else { return };
    let probes = json(&printed);
    assert_eq!(probes.as_array().map(Vec::len), Some(3), "{printed}");
    assert_eq!((&probes[0]["voxel"], &probes[2]["voxel"]), (&json("[16, 3, 16]"), &json("[0, 0, 0]")));
    assert_eq!((&probes[2]["kind"], probes[2].get("piece")), (&json("\"outside\""), None));
    assert!(probes[2]["seeds"].as_array().is_some_and(|seeds| seeds.len() == 2), "{printed}");
    assert!(!printed.contains("label") && !printed.contains("null"), "{printed}");

    let centre = probes[0]["centre_in_mesh"].as_array().unwrap();
    let centre: Vec<String> = centre.iter().map(ToString::to_string).collect();
    let (at, out) = (format!("--at={}", centre.join(",")), text(&folder("probe-order").join("probes.json")));
    let said = run([&options[..], &[at.as_str(), "--out", out.as_str()]].concat()).unwrap();
    assert!(said.starts_with("1 voxels probed; written to "), "{said}");
    assert_eq!(json(&std::fs::read_to_string(out).unwrap())[0], probes[0]);
}

#[test]
fn a_place_outside_of_the_grid_is_a_line_with_code_2() {
    for (option, says) in [
        (&["--voxel", "32,0,0"][..], "--voxel 32,0,0 lies outside of the grid; at level 5"),
        (&["--at", "0,0.5,99"], "--at 0,0.5,99 lies outside of the grid, which goes from"),
        (&["--voxel", "1,2"], "three whole numbers"),
        (&[], "--voxel <X,Y,Z>"),
        (&["--voxel", "1,2,3", "--method", "box-cut"], "take the method octree"),
    ] {
        let options = [&["probe", "builtin:vase", "--level", "5"][..], option].concat();
        let (code, out, err) = outcome(&kintsugi(options).output().unwrap());
        if lacks_adapter(code, &err) {
            return;
        }
        assert!(code == 2 && out.is_empty() && err.lines().count() == 1, "{option:?}: {code} {out} {err}");
        assert!(err.contains(says), "{option:?}: {err}");
    }
}
