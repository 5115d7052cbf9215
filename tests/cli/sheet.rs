//! `kintsugi sheet`: contact sheets.

use kintsugi::export::{SignedPicture, read_signed};

use super::support::program::{folder, kintsugi, outcome, run, text};

/// RGB of a part of a picture: left, top, width, height.
fn part(picture: &SignedPicture, [left, top, width, height]: [u32; 4]) -> Vec<u8> {
    let row = |y: u32| {
        let start = 4 * (y * picture.size[0] + left) as usize;
        picture.rgba[start..start + 4 * width as usize].to_vec()
    };
    (top..top + height).flat_map(row).collect()
}

#[test]
fn a_sheet_shows_what_render_draws_of_each_value() {
    let home = folder("sheet");
    let sheet = home.join("sheet.png");
    let arguments = "sheet builtin:vase --level 5 --vary seeds=6,30 --vary surface=planar,dusty --rng 3 --size 96x80 --explode 0.3 \
                     --compute cpu --out";
    let camera = r#"{"target":[0,0.7,0],"distance":4,"yaw":0.6,"pitch":0.35,"fov_y":0.6}"#;
    run(arguments.split_whitespace().chain([text(&sheet).as_str(), "--camera", camera])).unwrap();
    let sheet = read_signed(&std::fs::read(&sheet).unwrap()).unwrap();
    let [width, height] = sheet.size;
    // Rooms of 10 pixels, a line of 30 above and one below each row.
    assert_eq!(height, 40 + 2 * (80 + 30 + 10));
    let left = width - 2 * (96 + 10);
    let mut seen = Vec::new();
    for (i, (surface, seeds)) in
        [("planar", "6"), ("planar", "30"), ("dusty", "6"), ("dusty", "30")].into_iter().enumerate()
    {
        let single = home.join(format!("{surface}-{seeds}.png"));
        let arguments =
            ["render", "builtin:vase", "--level", "5", "--seeds", seeds, "--surface", surface, "--rng", "3"];
        let more = [
            "--size",
            "96x80",
            "--explode",
            "0.3",
            "--compute",
            "cpu",
            "--camera",
            camera,
            "--out",
            &text(&single),
        ];
        run(arguments.iter().chain(&more)).unwrap();
        let single = read_signed(&std::fs::read(single).unwrap()).unwrap();
        let (column, row) = (i as u32 % 2, i as u32 / 2);
        let tile = part(&sheet, [left + column * 106, 40 + row * 120, 96, 80]);
        assert!(tile == single.rgba, "{surface}, {seeds} seeds");
        assert!(!seen.contains(&tile), "{surface}, {seeds} seeds looks like another");
        seen.push(tile);
    }
    assert_eq!(sheet.signature.unwrap().provenance.command[1], "sheet");
}

#[test]
fn what_cannot_be_varied_is_refused_in_one_line() {
    let out = text(&folder("sheet-refused").join("sheet.png"));
    for (vary, what) in [
        ("sedes=1,2", "unknown field `sedes`"),
        ("seeds", "PARAM=A,B,.. is wanted"),
        ("seeds=4,0", "seeds is 0"),
        ("level=3,14", "a level is a number from 1 to 12"),
        ("crack.dusty.width=1,900", "width"),
    ] {
        let run = kintsugi(["sheet", "builtin:box", "--surface", "dusty", "--vary", vary, "--out", &out])
            .output()
            .unwrap();
        let (code, _, err) = outcome(&run);
        assert!(code == 2 && err.lines().count() == 1 && err.contains(what), "{vary}: {code} {err}");
    }
    let many = format!("rng={}", (0..300).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    for (arguments, what) in [
        (&["--vary", many.as_str()][..], "300 pictures"),
        (&["--vary", "rng=1,2", "--size", "8192x80", "--vary", "seeds=3"], "pixels; at most"),
        (&["--vary", "rng=1", "--vary", "seeds=3", "--vary", "level=3"], "more than twice"),
    ] {
        let (code, _, err) = outcome(
            &kintsugi(["sheet", "builtin:box", "--out", &out].iter().chain(arguments)).output().unwrap(),
        );
        assert!(code == 2 && err.lines().count() == 1 && err.contains(what), "{arguments:?}: {code} {err}");
    }
}
