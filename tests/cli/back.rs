//! Pieces that were written are brought back: whatever the format, they are closed and break again.

use std::{fmt::Write as _, path::Path};

use super::support::{
    program::{folder, run, text},
    results::{checked_report, read_report},
};

/// A textured box of 1 by 1 by 1: every side has four quads and corners of its own, with coordinates from 0 to 1.
fn textured_box(home: &Path) -> String {
    image::RgbImage::from_fn(8, 8, |x, y| image::Rgb([if (x + y) % 2 == 0 { 230 } else { 40 }, 90, 60]))
        .save(home.join("skin.png"))
        .unwrap();
    std::fs::write(home.join("box.mtl"), "newmtl Skin\nKd 1 1 1\nmap_Kd skin.png\n").unwrap();
    let (mut out, mut count) = ("mtllib box.mtl\nusemtl Skin\n".to_owned(), 0);
    for (axis, far) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
        for v in [0.0, 0.5, 1.0] {
            for u in [0.0, 0.5, 1.0] {
                let mut p = [0.0; 3];
                (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (f64::from(u8::from(far)), u, v);
                writeln!(out, "v {} {} {}\nvt {u} {v}", p[0], p[1], p[2]).unwrap();
            }
        }
        for (u, v) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let first = count + 3 * v + u + 1;
            let mut quad = [first, first + 1, first + 4, first + 3];
            if !far {
                quad.reverse();
            }
            let corners = quad.map(|i| format!("{i}/{i}"));
            writeln!(out, "f {}", corners.join(" ")).unwrap();
        }
        count += 9;
    }
    let file = home.join("box.obj");
    std::fs::write(&file, out).unwrap();
    text(&file)
}

#[test]
fn pieces_of_every_format_come_back_closed_and_break_again() {
    for surface in ["planar", "rough"] {
        let home = folder(&format!("back-{surface}"));
        let (mesh, out) = (textured_box(&home), home.join("out"));
        let first =
            ["fracture", &mesh, "--level", "5", "--seeds", "6", "--surface", surface, "--compute", "cpu"];
        if run(first.into_iter().chain(["--format", "glb,obj,ply", "--out", &text(&out)])).is_none() {
            return;
        }
        let report = checked_report(&out);
        assert!(report["health"]["closed"] == true && report["meshes"]["kind"] == "original", "{surface}");
        assert_eq!(report["health"]["volume_of"], "closed mesh");
        for (number, file) in ["pieces.glb", "pieces.obj", "ply/piece_000.ply"].into_iter().enumerate() {
            let (again, file) = (home.join(format!("again-{number}")), text(&out.join(file)));
            let words =
                ["fracture", &file, "--level", "5", "--seeds", "5", "--compute", "cpu", "--format", "glb"];
            run(words.into_iter().chain(["--out", &text(&again)]));
            let report = read_report(&again);
            let (health, meshes) = (&report["health"], &report["meshes"]);
            println!("{surface} {file}: {meshes}");
            assert!(health["closed"] == true && health["volume"].as_f64().unwrap() > 0.0, "{file}: {health}");
            // All pieces together are the box again.
            let is_whole = (health["volume"].as_f64().unwrap() - 1.0).abs() < 1e-4;
            assert_eq!(is_whole, number < 2, "{file}: {health}");
            assert!(meshes["meshes"].as_u64().unwrap() > 1, "{file}: {meshes}");
            assert_eq!(meshes["watertight"], meshes["meshes"], "{file}: {meshes}");
        }
    }
}

/// A box without its bottom, and one in whose seams corners are a millionth apart, keep triangles and texture.
#[test]
fn a_hole_and_loose_seams_cost_no_texture() {
    let home = folder("back-healed");
    let whole = std::fs::read_to_string(textured_box(&home)).unwrap();
    // The four quads of the low y side are the third block of faces.
    let mut faces = 0;
    let open: String = whole
        .lines()
        .filter(|line| {
            faces += usize::from(line.starts_with("f "));
            !(line.starts_with("f ") && (9..=12).contains(&faces))
        })
        .fold(String::new(), |all, line| all + line + "\n");
    let mut corner = 0;
    let loose = whole.lines().fold(String::new(), |mut all, line| {
        let moved = line.strip_prefix("v ").map(|numbers| {
            corner += 1;
            let of = |(k, number): (usize, &str)| {
                let v: f64 = number.parse().unwrap();
                format!(" {:.7}", v + f64::from((corner * (k as u32 + 3)) % 9) * 1e-7)
            };
            format!("v{}", numbers.split(' ').enumerate().map(of).collect::<String>())
        });
        all += moved.as_deref().unwrap_or(line);
        all + "\n"
    });
    for (name, mesh, healed) in [("open", open, "cap_holes"), ("loose", loose, "welded_corners")] {
        let (file, out) = (home.join(format!("{name}.obj")), home.join(name));
        std::fs::write(&file, mesh).unwrap();
        let words =
            ["fracture", &text(&file), "--level", "5", "--seeds", "6", "--compute", "cpu"].map(str::to_owned);
        let more = ["--format", "obj", "--out", &text(&out)].map(str::to_owned);
        if run(words.into_iter().chain(more)).is_none() {
            return;
        }
        let report = checked_report(&out);
        let (health, meshes) = (&report["health"], &report["meshes"]);
        assert!(health[healed].as_u64().unwrap() > 0, "{name}: {health}");
        assert_eq!(meshes["kind"], "original", "{name}");
        assert_eq!(meshes["watertight"], meshes["meshes"], "{name}");
        assert!((meshes["volume"].as_f64().unwrap() - 1.0).abs() < 1e-4, "{name}: {meshes}");
        let coordinates = std::fs::read_to_string(out.join("pieces.obj")).unwrap();
        assert!(coordinates.lines().any(|line| line.starts_with("vt ")), "{name}");
    }
}
