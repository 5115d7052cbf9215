//! What `--overlays` writes. Equation 3 of 2018: `tools/equation3.py` computes every edge separation point anew. The table
//! of the labelling's iterations beside its arrays. Slices through the distance field.

use std::{
    path::Path,
    process::{Command, Output},
};

use super::{
    examples::{change, has},
    support::{
        program::{folder, outcome, run, text},
        results::read_npz,
    },
};

fn equation3(archive: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/equation3.py");
    Command::new("python3").arg("-B").arg(script).arg(archive).output().expect("python3 starts")
}

#[test]
fn every_separation_point_on_an_edge_is_what_equation_3_says() {
    if !has("numpy") {
        return;
    }
    for (name, more) in [
        ("rough", &["--surface", "rough"][..]),
        (
            "pulled",
            &["--surface", "rough", "--strength", "0.3", "--transition-level", "3", "--rng", "4294967303"],
        ),
        ("balance", &["--surface", "rough", "--offset", "balance", "--noise", "1,37,5"]),
        ("dusty", &["--surface", "dusty"]),
        ("again", &["--surface", "rough", "--generations", "2"]),
    ] {
        let out = folder(&format!("equation-{name}"));
        let arguments =
            ["fracture", "builtin:vase", "--level", "6", "--overlays", "points", "--out", &text(&out)];
        if run(arguments.iter().chain(more)).is_none() {
            return;
        }
        let archive = out.join(if name == "again" { "overlays_001.npz" } else { "overlays.npz" });
        let (code, said, err) = outcome(&equation3(&archive));
        assert_eq!(code, 0, "{name}: {said}{err}");
        let edges: usize = said.split(' ').next().unwrap().parse().unwrap();
        let rows = read_npz(&archive)["edge_t"].ints().len();
        println!("{name}: {}", said.trim());
        assert!(edges == rows && edges > 100, "{name}: {edges} edges of {rows}");
        assert_eq!(name != "dusty", said.contains("places 0"), "{name}: {said}");

        if name != "rough" {
            continue;
        }
        // The script is not blind: whichever number is wrong, a difference shows, and it ends with 1.
        let sound = std::fs::read(&archive).unwrap();
        for error in [
            "a['edge_t'][7] += 1",
            "a['edge_t0'][7] += 1",
            "a['edge_weights'][7, 1] -= 1",
            "a['edge_seeds'][7, 0] += 200",
            "a['edge_corners'] = a['edge_corners'][:, ::-1]",
            "a['crack_salt'] = a['crack_salt'] ^ np.uint32(1)",
            "a['crack_strength'] -= 20",
            "a['crack_octaves'] += 1",
            "a['points'][np.flatnonzero(a['point_kind'] == 0)[9]] += 0.01",
        ] {
            change(&archive, error);
            let (code, said, err) = outcome(&equation3(&archive));
            assert!(code == 1 && err.is_empty(), "nobody notices {error}: {said}{err}");
            std::fs::write(&archive, &sound).unwrap();
        }
    }
}

#[test]
fn the_table_of_the_labelling_has_a_line_for_every_iteration() {
    let out = folder("equation-labels");
    let arguments =
        ["fracture", "builtin:vase", "--level", "5", "--overlays", "labels,flood", "--out", &text(&out)];
    if run(arguments).is_none() {
        return;
    }
    let arrays = read_npz(&out.join("overlays.npz"));
    for name in ["labels", "flood"] {
        let table = std::fs::read_to_string(out.join(format!("overlays/{name}.csv"))).unwrap();
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("iteration,labels_changed,cells_at_rest,distinct_labels"));
        let rows: Vec<Vec<i32>> =
            lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
        let changes = arrays[&format!("{name}_changes")].ints();
        let (labels, voxels) = (arrays[name].ints(), arrays[name].shape[1]);
        assert_eq!(rows.len(), changes.len() + 1, "{name}");
        for (at, row) in rows.iter().enumerate() {
            let mut distinct = labels[at * voxels..(at + 1) * voxels].to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            let changed = if at == 0 { 0 } else { changes[at - 1] };
            assert_eq!(
                (row[0], row[1], row[3]),
                (at as i32, changed, distinct.len() as i32),
                "{name}: {row:?}"
            );
        }
        let resting: Vec<i32> = rows.iter().map(|row| row[2]).collect();
        let mut cells = arrays["label_cell"].ints();
        cells.sort_unstable();
        cells.dedup();
        assert!(resting.is_sorted() && resting[0] == 0, "{name}: {resting:?}");
        assert_eq!(resting.last(), Some(&(cells.len() as i32)), "{name}: all cells rest at the end");
    }
}

#[cfg(feature = "papers")]
#[test]
fn slices_through_the_field_are_written_for_every_cut() {
    let out = folder("overlays-slices");
    let cuts = "field-slice,field-slice:x40,field-slice:z50";
    let arguments = ["fracture", "builtin:vase", "--level", "6", "--overlays", cuts, "--out", &text(&out)];
    if run(arguments).is_none() {
        return;
    }
    let arrays = read_npz(&out.join("overlays.npz"));
    let names: Vec<&String> = arrays.keys().filter(|name| name.starts_with("field_slice")).collect();
    assert_eq!(names.len(), 10, "two cuts, of which one is given twice: {names:?}");
    for (cut, axis) in [("x40", 0), ("z50", 2)] {
        let of = |what: &str| &arrays[&format!("field_slice_{cut}_{what}")];
        let (points, distances, directions) =
            (of("points").floats(), of("distance").floats(), of("direction").floats());
        let (cells, pieces) = (of("cell").ints(), of("piece").ints());
        let shape = of("distance").shape.clone();
        let longer = shape.iter().max().copied().unwrap_or(0);
        assert!(shape.len() == 2 && (144..=145).contains(&longer), "{shape:?}");
        assert!(distances.len() == shape[0] * shape[1] && points.len() == 3 * distances.len());
        let mut inside = 0;
        for (k, distance) in distances.iter().enumerate() {
            assert!((points[3 * k + axis] - points[axis]).abs() < 1e-9, "all lie on one plane");
            let length: f64 = directions[3 * k..3 * k + 3].iter().map(|d| d * d).sum::<f64>().sqrt();
            if cells[k] < 0 {
                assert!(pieces[k] == -1 && *distance == 0.0 && length == 0.0, "{k}");
            } else {
                assert!(pieces[k] >= 0 && *distance > -1e-6 && length < 1.0 + 1e-6, "{k}: {length}");
                inside += 1;
            }
        }
        assert!(inside > 200 && inside < distances.len(), "{inside} of {}", distances.len());
    }
    for (list, says) in [("field-slice:w40", "as in x40"), ("labels:3", "leave the number out")] {
        let arguments =
            ["fracture", "builtin:vase", "--level", "5", "--overlays", list, "--out", &text(&out)];
        let (code, _, err) = outcome(&super::support::program::kintsugi(arguments).output().unwrap());
        assert!(code == 2 && err.contains(says), "{list}: {code} {err}");
    }
}
