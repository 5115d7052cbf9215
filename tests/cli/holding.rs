//! What holds by bonds, from outside: the load at which it breaks, and the same bytes on any number of threads.

use std::path::Path;

use super::support::program::{finish, folder, kintsugi, run, text};

/// The density of the column, kg/m^3, and gravity, m/s^2.
const DENSITY: f64 = 2400.0;
const G: f64 = 9.81;

/// A column of 0.1 x 1 x 0.1 m as a mesh, and seeds that cut it into ten blocks across its length.
fn write_column(home: &Path) {
    let mut mesh = String::new();
    for k in 0..8 {
        let at = |axis: u32, far: f64| if k >> axis & 1 == 1 { far } else { 0.0 };
        mesh += &format!("v {} {} {}\n", at(0, 0.1), at(1, 1.0), at(2, 0.1));
    }
    mesh += "f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7\n";
    std::fs::write(home.join("column.obj"), mesh).unwrap();
    let seeds: String = (0..10).map(|k| format!("0.05 {} 0.05\n", 0.05 + 0.1 * f64::from(k))).collect();
    std::fs::write(home.join("blocks.txt"), seeds).unwrap();
}

/// Heights at which bonds of the column failed that hangs from its top, m; `None` without an adapter.
fn failures(home: &Path, name: &str, tension: f64) -> Option<Vec<f64>> {
    let scene = home.join(format!("{name}.toml"));
    let own = format!(
        "floor = false\n[[body]]\nfile = \"column.obj\"\nlevel = 6\nposition = [0, 0, 0]\ndensity = {DENSITY}\n\
         hold = true\n\
         [body.strength]\ntension = {tension}\ncompression = 1e12\nshear = 1e12\n\
         anchors = [[[-1.0, 0.985, -1.0], [1.0, 2.0, 1.0]]]\n[body.fracture]\nseeds_file = \"blocks.txt\"\n"
    );
    std::fs::write(&scene, own).unwrap();
    let out = home.join(name);
    let words = ["simulate", &text(&scene), "--compute", "cpu", "--seconds", "0.02", "--volume-every", "0"];
    run([&words[..], &["--out", &text(&out)]].concat())?;
    let table = std::fs::read_to_string(out.join("bonds.csv")).unwrap();
    let mut lines = table.lines();
    let y = lines.next().unwrap().split(',').position(|column| column == "y").expect("a column y");
    Some(lines.map(|line| line.split(',').nth(y).unwrap().parse().unwrap()).collect())
}

/// Planted error to see this fail: weigh each part by twice its mass.
#[test]
fn a_hanging_column_breaks_where_the_weight_below_is_what_its_strength_bears() {
    let home = folder("hanging-column");
    write_column(&home);
    // The highest crack has nine of ten blocks below it.
    let theory = DENSITY * G * 0.9;
    let Some(weaker) = failures(&home, "weaker", 0.95 * theory) else { return };
    assert!(
        !weaker.is_empty() && weaker.iter().all(|y| (y - 0.9).abs() < 0.01),
        "at the top crack: {weaker:?}"
    );
    let stronger = failures(&home, "stronger", 1.05 * theory).unwrap();
    assert!(stronger.is_empty(), "it bears its weight: {stronger:?}");
}

/// Planted error to see this fail: sum loads of bonds in the order in which threads end.
#[test]
fn what_holds_falls_byte_for_byte_alike_on_one_thread_and_on_two() {
    let home = folder("held-on-threads");
    let scene = home.join("box.toml");
    let own = "[[body]]\nfile = \"builtin:box\"\nlevel = 5\nposition = [0, 0, 0]\nhold = true\n\
               [body.strength]\nmaterial = \"plaster\"\nanchor_floor = true\n\
               [body.fracture]\npreset = \"uniform\"\nseeds = 30\n\
               [[event]]\nkind = \"projectile\"\ntime = 0.02\n\
               [event.body]\nfile = \"builtin:sphere\"\nlevel = 5\nsize = 0.4\ndensity = 20000.0\n\
               position = [0, 0.5, 1]\nlinear_velocity = [0, 0, -30]\n";
    std::fs::write(&scene, own).unwrap();
    let played = |threads: &str| {
        let out = home.join(threads);
        let words =
            ["simulate", &text(&scene), "--compute", "cpu", "--seconds", "0.15", "--volume-every", "0"];
        let mut command = kintsugi([&words[..], &["--out", &text(&out)]].concat());
        finish(command.env("RAYON_NUM_THREADS", threads))?;
        Some(
            ["bonds.csv", "impacts.csv", "trajectory.npz"].map(|name| std::fs::read(out.join(name)).unwrap()),
        )
    };
    let Some(one) = played("1") else { return };
    let failed = one[0].iter().filter(|byte| **byte == b'\n').count() - 1;
    assert!(failed > 50, "{failed} bonds failed");
    let two = played("2").unwrap();
    for (name, (one, two)) in ["bonds.csv", "impacts.csv", "trajectory.npz"].iter().zip(one.iter().zip(&two))
    {
        assert!(one == two, "{name} differs");
    }
}
