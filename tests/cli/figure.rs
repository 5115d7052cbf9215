//! `kintsugi figure`: figures of several panels.

use std::path::{Path, PathBuf};

use kintsugi::export::{SignedPicture, read_signed};

use super::support::program::{folder, kintsugi, outcome, run, text};

fn picture(path: &Path) -> SignedPicture {
    read_signed(&std::fs::read(path).unwrap()).unwrap()
}

/// RGBA of a part of a picture: left, top, width, height.
fn part(picture: &SignedPicture, [left, top, width, height]: [u32; 4]) -> Vec<u8> {
    let row = |y: u32| {
        let start = 4 * (y * picture.size[0] + left) as usize;
        picture.rgba[start..start + 4 * width as usize].to_vec()
    };
    (top..top + height).flat_map(row).collect()
}

/// A figure file in a folder of its own.
fn figure(name: &str, content: &str) -> PathBuf {
    let file = folder(name).join("figure.toml");
    std::fs::write(&file, content).unwrap();
    file
}

fn make(file: &Path, more: &[&str]) -> String {
    run(["figure", &text(file), "--compute", "cpu"].iter().chain(more)).unwrap()
}

/// What `kintsugi render` draws of a vase with these options.
fn rendered(home: &Path, options: &str) -> SignedPicture {
    let out = home.join("panel.png");
    let arguments = ["render", "builtin:vase", "--compute", "cpu", "--out", &text(&out)];
    run(arguments.into_iter().chain(options.split_whitespace())).unwrap();
    picture(&out)
}

const TWO: &str = r#"out = ["figure.png", "figure.svg"]
gap = 10
text = 14
letters = "a)"

[all]
file = "builtin:vase"
level = 4
size = "160x120"
seeds = 8

[[panel]]
explode = 0.3
seeds = 12
caption = "Pieces < 13"

[[panel]]
slice = ["z50%:cell"]
slice-alone = true
"#;

#[test]
fn panels_have_the_pixels_that_render_draws_and_drawings_stay_drawings() {
    let file = figure("figure", TWO);
    let home = file.parent().unwrap();
    let said = make(&file, &[]);
    assert_eq!(said.lines().count(), 2, "{said}");
    let whole = picture(&home.join("figure.png"));
    // A caption of 14 pixels takes 0.35 + 1.25 times as much.
    assert_eq!(whole.size, [330, 120 + 23]);
    let broken = rendered(home, "--level 4 --seeds 12 --size 160x120 --explode 0.3");
    let cut = rendered(home, "--level 4 --seeds 8 --size 160x120 --slice z50%:cell --slice-alone");
    assert!(part(&whole, [0, 0, 160, 120]) == broken.rgba && part(&whole, [170, 0, 160, 120]) == cut.rgba);
    assert!(broken.rgba != cut.rgba);
    assert!(part(&whole, [160, 0, 10, 120]).iter().all(|byte| *byte == 255), "the gap is white");
    for left in [0, 170] {
        let dark = part(&whole, [left, 120, 160, 23]).iter().filter(|byte| **byte < 200).count();
        assert!(dark > 20, "{dark} bytes of letters at {left}");
    }
    assert_eq!(whole.signature.unwrap().provenance.command[1], "figure");

    let svg = std::fs::read_to_string(home.join("figure.svg")).unwrap();
    assert!(svg.contains("<image x=\"0\" y=\"0\" width=\"160\" height=\"120\" "), "the pieces are pixels");
    assert!(
        svg.contains("<svg x=\"170\" y=\"0\" ") && svg.matches("<path ").count() > 5,
        "the cut is a drawing"
    );
    assert!(svg.contains(">a) Pieces &lt; 13</text>") && svg.contains(">b)</text>"));

    let (code, out, err) = outcome(&kintsugi(["repeat", &text(&home.join("figure.png"))]).output().unwrap());
    assert_eq!((code, out.as_str()), (0, "the same\n"), "{err}");
}

#[test]
fn a_figure_may_say_its_size_and_have_no_ground_and_labels() {
    let panels = "[all]\nfile = 'builtin:vase'\nlevel = 4\ntransparent = true\n[[panel]]\n[[panel]]\n\
                  label = { text = 'rim', at = [0, 0.9, 0], offset = [25, 18] }\n[[panel]]\n";
    let head = "size = '50.8x50.8mm'\ndpi = 100\ncolumns = 2\ngap = 8\ntext = 10\nletters = ''\ntransparent = true\n";
    let file = figure("figure-size", &format!("{head}{panels}"));
    let home = file.parent().unwrap();
    make(&file, &["--out", &text(&home.join("sub"))]);
    let whole = picture(&home.join("sub/figure.png"));
    assert_eq!(whole.size, [200, 200]);
    let plain = rendered(home, "--level 4 --size 96x96 --transparent");
    assert!(part(&whole, [0, 0, 96, 96]) == plain.rgba && part(&whole, [0, 104, 96, 96]) == plain.rgba);
    assert!(plain.rgba.chunks_exact(4).any(|pixel| pixel[3] == 0), "there is no ground");
    let labelled = part(&whole, [104, 0, 96, 96]);
    let changed = labelled.chunks_exact(4).zip(plain.rgba.chunks_exact(4)).filter(|(a, b)| a != b).count();
    assert!((100..3000).contains(&changed), "{changed} pixels of a label and its line");

    let svg = home.join("one.svg");
    make(&file, &["--out", &text(&svg)]);
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.contains("width=\"50.8mm\"") && svg.contains(">rim</text>"));
    assert!(svg.matches("<image ").count() == 3 && !home.join("figure.png").exists());
}

#[test]
fn what_a_figure_cannot_mean_is_a_line_with_its_panel_and_key() {
    let home = folder("figure-refused");
    let file = home.join("figure.toml");
    for (from, to, says) in [
        ("explode = 0.3", "sedes = 3", "panel 1: unknown key `sedes`"),
        ("level = 4", "lewel = 4", "[all]: unknown key `lewel`"),
        ("explode = 0.3", "explode = 99", "panel 1: invalid value '99' for '--explode"),
        ("slice-alone = true", "shadows = true", "panel 2: the following required arguments"),
        ("builtin:vase", "nothing.obj", "panel 1: "),
        ("gap = 10", "gap = 'wide'", "gap: \"wide\" is no length"),
    ] {
        std::fs::write(&file, TWO.replace(from, to)).unwrap();
        let (code, out, err) =
            outcome(&kintsugi(["figure", &text(&file), "--compute", "cpu"]).output().unwrap());
        assert!(code == 2 && out.is_empty() && err.lines().count() == 1, "{to}: {code} {out}{err}");
        assert!(err.contains(says) && err.contains("figure.toml: "), "{to}: {err}");
    }
    std::fs::write(&file, TWO).unwrap();
    for out in ["figure.jpg", &text(&file)] {
        let (code, _, err) = outcome(&kintsugi(["figure", &text(&file), "--out", out]).output().unwrap());
        assert!(code == 2 && err.contains("--out "), "{code} {err}");
    }
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1, "nothing is written");
}

#[test]
fn a_picture_that_somebody_else_made_is_kept() {
    let file = figure("figure-kept", "[[panel]]\nfile = 'builtin:box'\nlevel = 3\nsize = '40x30'\n");
    let home = file.parent().unwrap();
    std::fs::write(home.join("figure.png"), "mine").unwrap();
    make(&file, &[]);
    make(&file, &[]);
    assert_eq!(std::fs::read_to_string(home.join("figure.before.png")).unwrap(), "mine");
    let names = std::fs::read_dir(home).unwrap().count();
    assert_eq!(names, 3, "the figure's own picture makes room for the next");
}
