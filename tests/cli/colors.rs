//! What colours of numbers mean in pictures of `kintsugi render`: ends, factors, the legend as a file; slices in whole bodies.

use std::path::Path;

use kintsugi::export::read_signed;

use super::support::program::{folder, run, text};

/// RGBA of what `kintsugi render` draws of a vase with these options.
fn rendered(home: &Path, options: &[&str]) -> Vec<u8> {
    let out = home.join("picture.png");
    let place = text(&out);
    let all =
        ["render", "builtin:vase", "--compute", "cpu", "--level", "5", "--size", "160x120", "--out", &place];
    run(all.iter().chain(options)).unwrap();
    read_signed(&std::fs::read(&out).unwrap()).unwrap().rgba
}

/// The numbers among the texts of a legend, ascending.
fn numbers(legend: &Path) -> Vec<f64> {
    let svg = std::fs::read_to_string(legend).unwrap();
    let texts = svg.split("<text").skip(1).filter_map(|rest| rest.split_once('>')?.1.split_once("</text>"));
    let mut all: Vec<f64> = texts.filter_map(|(text, _)| text.parse().ok()).collect();
    all.sort_by(f64::total_cmp);
    assert!(all.len() >= 3, "{all:?} in {svg}");
    all
}

/// Fails where one of the options is read and forgotten.
#[test]
fn ends_and_factors_are_those_of_the_legend_and_change_the_picture() {
    let home = folder("colors");
    let legend = home.join("legend.svg");
    let file = text(&legend);
    let pieces = ["--seeds", "12", "--explode", "0.3", "--color-by", "volume", "--legend-file", &file];
    let drawn = |more: &[&str]| (rendered(&home, &[&pieces[..], more].concat()), numbers(&legend));
    let (plain, own) = drawn(&[]);
    let (ranged, differences) = drawn(&["--color-range", "0.001,10"]);
    let (logged, factors) = drawn(&["--color-range", "0.001,10", "--color-log"]);
    assert!(own.iter().all(|value| *value < 1.0), "a vase of 1 m has no such pieces: {own:?}");
    for ticks in [&differences, &factors] {
        assert!(ticks.iter().all(|value| (0.001..=10.0).contains(value)), "{ticks:?}");
    }
    let step = differences[1] - differences[0];
    let are_even = differences.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-9);
    assert!(are_even && differences.last() > Some(&8.0), "{differences:?}");
    let are_powers = factors.windows(2).all(|pair| (pair[1] / pair[0] - 10.0).abs() < 1e-9);
    assert!(are_powers && factors[0] < 0.002, "{factors:?}");
    assert!(plain != ranged && ranged != logged && plain != logged, "the colours are others");
}

#[test]
fn a_slice_takes_half_of_a_body_away_unless_it_is_uncut() {
    let home = folder("colors-uncut");
    let covered = |more: &[&str]| {
        let options = [&["--view", "front", "--transparent"][..], more].concat();
        rendered(&home, &options).chunks_exact(4).filter(|pixel| pixel[3] > 127).count() as f64
    };
    let whole = covered(&[]);
    let [cut, uncut] =
        [&["--slice", "x50%"][..], &["--slice", "x50%", "--uncut"]].map(|more| covered(more) / whole);
    assert!(whole > 1000.0 && cut < 0.7, "{cut} of {whole} pixels are left");
    assert!((uncut - 1.0).abs() < 0.02, "{uncut} of {whole} pixels are left");
}

#[test]
fn a_drawing_has_the_scale_bar_of_the_picture() {
    let out = folder("colors-bar").join("cut.svg");
    let (place, camera) =
        (text(&out), r#"{"target":[0,0.5,0],"distance":2.5,"yaw":0,"pitch":0,"fov_y":0.6}"#);
    let start =
        ["render", "builtin:vase", "--compute", "cpu", "--level", "5", "--slice", "z50%", "--slice-alone"];
    let more = ["--size", "320x240", "--camera", camera, "--out", &place];
    let drawn = |bar: &[&str]| {
        run(start.iter().chain(&more).chain(bar)).unwrap();
        std::fs::read_to_string(&out).unwrap()
    };
    let (plain, with_bar) = (drawn(&[]), drawn(&["--scale-bar"]));
    assert!(!plain.contains("<text"));
    // 2 x 2.5 m x tan 0.3 on 240 pixels are 6.4 mm each: a quarter of the width has room for 50 cm. A bar and its ends.
    assert!(with_bar.contains(">50 cm</text>") && with_bar.matches("<rect ").count() == 3, "{with_bar}");
}
