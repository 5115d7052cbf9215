//! `contact_log.csv` and `contacts.npz`: the same contacts, whose numbers follow from the bodies' states and weights.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use super::support::{
    program::{folder, kintsugi, run, text},
    results::{Array, read_npz, read_report},
};

/// A box slides on another one, and both come to rest.
const SCENE: &str = "sleeping = false\n\
    [[body]]\nfile = \"builtin:box\"\nlevel = 5\nphysics_level = 5\nsize = 1.0\n\
    [[body]]\nfile = \"builtin:box\"\nlevel = 5\nphysics_level = 5\nsize = 0.5\nposition = [0.0, 1.0, 0.0]\n\
    linear_velocity = [0.6, 0.0, 0.0]\n";
/// Steps between two that are logged.
const EVERY: i32 = 3;

/// Columns of names, and the names by their numbers in arrays, as docs/files.md lists them.
const NAMED: [(&str, &[&str]); 4] = [
    ("found_by", &["mixed", "octree", "hull", "field"]),
    ("found_as", &["place", "known", "first", "deeper", "turned"]),
    ("chosen_as", &["every", "outermost", "deepest", "nearest", "ball"]),
    ("persistence", &["new", "again", "carried"]),
];

/// Rows of a table, by its first line's names; what is empty is not a number, and names have their numbers.
fn rows(path: &Path) -> Vec<BTreeMap<String, f64>> {
    let table = std::fs::read_to_string(path).unwrap();
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let number = |(column, value): (usize, &str)| -> f64 {
        let known = names.get(column).and_then(|name| NAMED.iter().find(|(named, _)| named == name));
        match known {
            Some((_, known)) => known.iter().position(|name| *name == value).unwrap() as f64,
            None if value.is_empty() => f64::NAN,
            None => value.parse().unwrap(),
        }
    };
    let row = |line: &str| {
        let values: Vec<f64> = line.split(',').enumerate().map(number).collect();
        assert_eq!(values.len(), names.len(), "{line}");
        names.iter().map(|name| (*name).to_owned()).zip(values).collect()
    };
    lines.map(row).collect()
}

/// Vectors of an array whose last axis has three numbers.
fn vectors(array: &Array) -> Vec<[f64; 3]> {
    assert_eq!(array.shape.last(), Some(&3));
    array.floats().chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect()
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[test]
fn contacts_as_arrays_are_those_of_the_table_and_bear_what_the_bodies_weigh() {
    let home = folder("contact-arrays");
    let scene = home.join("slides.toml");
    std::fs::write(&scene, SCENE).unwrap();
    let out = home.join("out");
    let every = EVERY.to_string();
    let words = ["simulate", &text(&scene), "--seconds", "1.5", "--volume-every", "0", "--compute", "cpu"];
    run(words.into_iter().chain(["--contact-log", &every, "--out", &text(&out)])).unwrap();
    let (table, arrays) = (rows(&out.join("contact_log.csv")), read_npz(&out.join("contacts.npz")));
    let count = table.len();
    assert!(count > 100, "{count} contacts");

    // The table's numbers to the last bit.
    let [point, normal] = ["point", "normal"].map(|name| vectors(&arrays[name]));
    let bodies: Vec<[i32; 2]> = arrays["bodies"].rows();
    let (steps, keys): (_, Vec<[i32; 2]>) = (arrays["step"].ints(), arrays["key"].rows());
    assert_eq!([point.len(), normal.len(), bodies.len(), steps.len()], [count; 4]);
    for name in ["time", "separation", "impulse", "parting", "sliding", "cell", "area"] {
        assert_eq!(arrays[name].shape, [count], "{name}");
        let of_table: Vec<f64> = table.iter().map(|row| row[name]).collect();
        assert_eq!(arrays[name].floats(), of_table, "{name}");
    }
    for (k, row) in table.iter().enumerate() {
        assert_eq!(point[k], ["x", "y", "z"].map(|name| row[name]));
        assert_eq!(normal[k], ["normal_x", "normal_y", "normal_z"].map(|name| row[name]));
        let second = if row["second"].is_nan() { -1.0 } else { row["second"] };
        assert_eq!(bodies[k].map(f64::from), [row["first"], second]);
        assert_eq!((row["time"] * 100.0).round(), f64::from(steps[k]));
        let [upper, lower] = keys[k].map(|half| f64::from(half as u32));
        assert_eq!(row["key"], upper * 4_294_967_296.0 + lower);
    }
    for name in ["found_by", "found_as", "chosen_as", "candidates", "persistence", "touches_later"] {
        assert_eq!(arrays[name].shape, [count], "{name}");
        let of_table: Vec<i32> = table.iter().map(|row| row[name] as i32).collect();
        assert_eq!(arrays[name].ints(), of_table, "{name}");
    }
    // Both boxes meet by octrees or hulls, at rest by contacts that a rule chose and that were there before.
    let [found_by, chosen_as, candidates, persistence] =
        ["found_by", "chosen_as", "candidates", "persistence"].map(|name| arrays[name].ints());
    assert!(found_by.iter().all(|by| [1, 2].contains(by)), "{found_by:?}");
    for k in (0..count).filter(|k| steps[*k] == 150) {
        let of_pair = |other: &usize| steps[*other] == 150 && bodies[*other] == bodies[k];
        let contacts = (0..count).filter(of_pair).count();
        assert!(candidates[k] as usize >= contacts, "{contacts} of {} candidates", candidates[k]);
        assert!([1, 2].contains(&chosen_as[k]) && persistence[k] > 0, "{} {}", chosen_as[k], persistence[k]);
    }
    assert!(persistence.contains(&1) && persistence.contains(&2));

    // The four corners of a face share its area: the boxes are 0.9 of their size wide. At rest each keeps its name.
    let areas = arrays["area"].floats();
    for (second, width) in [(-1, 0.9), (1, 0.45)] {
        let (steps, bodies) = (&steps, &bodies);
        let of = |step: i32| (0..count).filter(move |k| steps[*k] == step && bodies[*k][1] == second);
        for k in of(150) {
            assert!((areas[k] / (width * width / 4.0) - 1.0).abs() < 1e-3, "{} of {width}", areas[k]);
        }
        let names = |step: i32| of(step).map(|k| keys[k]).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(names(150).len(), 4, "each contact of a pair has a name of its own");
        assert_eq!(names(120), names(150));
    }

    let logged: Vec<i32> =
        steps.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    assert_eq!(logged, (1..=50).map(|k| k * EVERY).collect::<Vec<_>>());

    // Velocities, computed from the bodies' states after the step.
    let states = read_npz(&out.join("trajectory.npz"));
    let [position, linear, angular] =
        ["position", "linear_velocity", "angular_velocity"].map(|name| vectors(&states[name]));
    let (apart, friction) = (vectors(&arrays["relative_velocity"]), vectors(&arrays["substep_friction"]));
    let (parting, sliding) = (arrays["parting"].floats(), arrays["sliding"].floats());
    let pressed = arrays["substep_impulse"].floats();
    let mut slid = 0;
    for (k, step) in steps.iter().enumerate() {
        let velocity = |body: i32| {
            let Ok(body) = usize::try_from(body) else { return [0.0; 3] };
            let at = 2 * *step as usize + body;
            let (w, arm) = (angular[at], minus(point[k], position[at]));
            let turn = |a: usize, b: usize| w[a] * arm[b] - w[b] * arm[a];
            [linear[at][0] + turn(1, 2), linear[at][1] + turn(2, 0), linear[at][2] + turn(0, 1)]
        };
        let wanted = minus(velocity(bodies[k][0]), velocity(bodies[k][1]));
        let along = dot(wanted, normal[k]);
        let across = minus(wanted, normal[k].map(|x| x * along));
        let differs = dot(minus(apart[k], wanted), minus(apart[k], wanted)).sqrt()
            + (parting[k] - along).abs()
            + (sliding[k] - dot(across, across).sqrt()).abs();
        assert!(differs < 1e-9, "contact {k}: {differs}");
        assert!(
            dot(friction[k], normal[k]).abs() <= 1e-5 * (1e-3 + pressed[k]),
            "friction has no part along the normal"
        );
        if sliding[k] > 0.1 && pressed[k] > 0.0 && bodies[k][1] >= 0 {
            slid += 1;
            assert!(dot(friction[k], apart[k]) < 0.0, "friction of contact {k} drives it on");
        }
    }
    assert!(slid > 3, "{slid} contacts slid");

    // At rest the floor bears both boxes, and the lower box the upper one.
    let report = read_report(&out);
    let (mass, impulse) = (states["mass"].floats(), arrays["impulse"].floats());
    let (g, dt) =
        (-report["settings"]["gravity"][1].as_f64().unwrap(), report["settings"]["dt"].as_f64().unwrap());
    assert!(g > 9.0 && mass[0] > mass[1]);
    for step in [120, 135, 150] {
        let borne = |of_floor: bool| -> f64 {
            let those = (0..count).filter(|k| steps[*k] == step && (bodies[*k][1] < 0) == of_floor);
            those.map(|k| impulse[k] * normal[k][1].abs()).sum()
        };
        let [floor, upper] =
            [borne(true) / ((mass[0] + mass[1]) * g * dt), borne(false) / (mass[1] * g * dt)];
        println!("step {step}: the floor bears {floor:.5} of the weight, the lower box {upper:.5}");
        assert!((floor - 1.0).abs() < 0.01 && (upper - 1.0).abs() < 0.01, "step {step}: {floor}, {upper}");
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_leaves_all_contacts_as_arrays_too() {
    let home = folder("contact-arrays-interrupted");
    let (scene, out) = (home.join("slides.toml"), home.join("out"));
    std::fs::write(&scene, SCENE).unwrap();
    let words = ["simulate", &text(&scene), "--seconds", "100000", "--volume-every", "0", "--compute", "cpu"];
    let mut command = kintsugi(words.into_iter().chain(["--contact-log", "1", "--out", &text(&out)]));
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let size = || std::fs::metadata(out.join("contact_log.csv")).map_or(0, |file| file.len());
    let start = Instant::now();
    while size() < 10_000 {
        assert!(running.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(100));
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = running.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let (table, arrays) = (rows(&out.join("contact_log.csv")), read_npz(&out.join("contacts.npz")));
    let times: Vec<f64> = table.iter().map(|row| row["time"]).collect();
    assert!(times.len() > 50 && arrays["time"].floats() == times, "{} lines", times.len());
}

/// Impulses of the rows of a file by step and pair: along the normal, and friction.
type Sums = BTreeMap<(i32, [i32; 2]), [f64; 4]>;

fn sums(arrays: &BTreeMap<String, Array>, normal: &str, friction: &str) -> Sums {
    let (steps, pairs): (_, Vec<[i32; 2]>) = (arrays["step"].ints(), arrays["bodies"].rows());
    let (normals, frictions) = (arrays[normal].floats(), vectors(&arrays[friction]));
    let mut sums = Sums::new();
    for k in 0..steps.len() {
        let [x, y, z] = frictions[k];
        let sum = sums.entry((steps[k], pairs[k])).or_default();
        sum.iter_mut().zip([normals[k], x, y, z]).for_each(|(sum, more)| *sum += more);
    }
    sums
}

/// The scene comes to rest within the first second; the second one is at rest, with one search for contacts in a step.
#[test]
fn rows_by_substep_sum_up_to_the_columns_of_the_step_and_leave_the_run_as_it_is() {
    let home = folder("contact-substeps");
    let scene = home.join("slides.toml");
    std::fs::write(&scene, SCENE).unwrap();
    for response in ["soft", "impulse"] {
        let [whole, split] = ["whole", "split"].map(|name| {
            let out = home.join(format!("{response}-{name}"));
            let (scene, folder) = (text(&scene), text(&out));
            let mut words =
                vec!["simulate", &scene, "--seconds", "2", "--volume-every", "0", "--compute", "cpu"];
            words.extend(["--contact-log", "1", "--response", response, "--out", &folder]);
            words.extend((name == "split").then_some("--contact-substeps"));
            run(words).unwrap();
            out
        });
        for name in ["trajectory.npz", "contact_log.csv"] {
            let [one, other] = [&whole, &split].map(|folder| std::fs::read(folder.join(name)).unwrap());
            assert!(one == other, "{name} is the same to the byte");
        }
        let [contacts, rows] =
            [whole.join("contacts.npz"), split.join("contacts.npz")].map(|path| read_npz(&path));
        assert!(!contacts.contains_key("substep"));
        assert!(rows["substep"].ints().iter().all(|k| (0..8).contains(k)), "no body sleeps");
        let by_substep = sums(&rows, "substep_impulse", "substep_friction");
        let by_step = sums(&contacts, "step_impulse", "step_friction");
        let mut compared = 0;
        for (of, sum) in by_substep.iter().filter(|((step, _), _)| *step > 100) {
            let wanted = by_step[of];
            let off = sum.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9 * (1e-3 + sum[0]), "{response} {of:?}: {sum:?} {wanted:?}");
            compared += 1;
        }
        assert!(compared >= 200, "{compared} pairs and steps");
        // The weight of both boxes over a second, along the floor's normal.
        let floor = by_step.iter().filter(|((step, [_, second]), _)| *step > 100 && *second < 0);
        let borne: f64 = floor.map(|(_, sum)| sum[0]).sum();
        let states = read_npz(&whole.join("trajectory.npz"));
        let weight = states["mass"].floats().iter().take(2).sum::<f64>() * 9.81;
        println!("{response}: over a second the floor bears {:.6} of the weight", borne / weight);
        assert!((borne / weight - 1.0).abs() < 0.01, "{response}: {borne} {weight}");
    }
    let out = text(&home.join("none"));
    let mut alone =
        kintsugi(["simulate", "builtin:box", "--seconds", "1", "--contact-substeps", "--out", &out]);
    assert_eq!(alone.output().unwrap().status.code(), Some(2), "the option needs a log");
}
