//! The three forms have the same entries, and nothing in them is taken for markup.

use std::path::PathBuf;

use super::*;
use crate::cli::paper::entry::Make;

static ENTRIES: [Entry; 3] = [
    Entry {
        document: "2018",
        figure: "fig-2",
        title: "A crack <surface>",
        make: Make::Not("never used here"),
    },
    Entry { document: "2018", figure: "fig-4", title: "A failure", make: Make::Not("never used here") },
    Entry { document: "2018", figure: "table-1", title: "A stage", make: Make::Not("it runs on no machine") },
];

static DOCUMENTS: [Document; 2] = [
    Document { name: "2016", title: "Another document", entries: &[] },
    Document { name: "2018", title: "Shells & cracks", entries: &ENTRIES },
];

fn home(name: &str) -> PathBuf {
    let home = std::env::temp_dir().join(format!("kintsugi-paper-page-{name}-{}", std::process::id()));
    fs::create_dir_all(home.join("2018/fig-2")).unwrap();
    fs::write(home.join("2018/fig-2/crack.svg"), "<svg/>").unwrap();
    home
}

fn made() -> Made {
    let mut table = Table::new("Times", &["stage", "ours, ms", "published, ms"]);
    table.row(["a | b", "1.5", "-"]);
    Made {
        pictures: vec![Shown::new("crack.svg", "A crack in `a` voxel.")],
        tables: vec![table],
        notes: vec!["Levels are below 7, as `<scene>` says.".into()],
        commands: vec!["kintsugi render builtin:vase".into()],
    }
}

#[test]
fn the_three_forms_have_every_entry_with_its_state() {
    let home = home("forms");
    let states =
        [State::Made(made()), State::Failed("no room".into()), State::Cannot("it runs on no machine".into())];
    let done = |(entry, state)| Done::new(entry, state, Vec::new(), 1.25, &home).unwrap();
    let entries: Vec<Done<'_>> = ENTRIES.iter().zip(states).map(done).collect();
    let page =
        Page::new(RanOn { compute: "cpu", adapter: "CPU, 2 threads".into() }, true, &DOCUMENTS, entries);
    assert_eq!(page.counts(), (1, 1, 1));
    page.write(&home).unwrap();
    let read = |name: &str| fs::read_to_string(home.join(name)).unwrap();

    let html = read("index.html");
    for part in [
        "A crack &lt;surface&gt;",
        "<img src=\"2018/fig-2/crack.svg\"",
        "A crack in <code>a</code> voxel.",
        "class=\"failed\">It failed: no room",
        "class=\"cannot\">It cannot be made: it runs on no machine",
        "<td class=\"number\">1.5</td>",
        "Shells &amp; cracks",
        "--quick",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // Planted error to see this fail: leave `escaped` out of `marked`.
    assert!(!html.contains("<scene>") && !html.contains("Another document"));

    let markdown = read("papers.md");
    let sum = sha256(b"<svg/>");
    for part in [
        "## Shells & cracks",
        "### Figure 2: A crack",
        "### Table 1: A stage",
        "a \\| b",
        "|---|---:|---:|",
        &sum[..16],
    ] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
    assert!(markdown.lines().all(|line| line.chars().count() <= 120), "{markdown}");
    assert!(!markdown.contains("]("), "none of these is among the drawings that go with the text");

    let json: serde_json::Value = serde_json::from_str(&read("papers.json")).unwrap();
    assert_eq!(json["entries"][0]["pictures"][0]["sha256"], sum.as_str());
    assert_eq!(json["entries"][0]["state"], "made");
    assert_eq!(json["entries"][1]["reason"], "no room");
    assert_eq!(json["entries"][2]["state"], "cannot");
    assert_eq!([&json["compute"], &json["adapter"]], ["cpu", "CPU, 2 threads"]);
    let text = [html, markdown, json.to_string()].concat();
    assert!(!text.contains(home.to_str().unwrap()), "no form has a path of the machine");
    fs::remove_dir_all(home).unwrap();
}

static DRAWN: Entry =
    Entry { document: "2018", figure: "fig-1", title: "A voxel", make: Make::Not("never used here") };

#[test]
fn the_text_shows_a_drawing_and_a_copy_of_it_goes_along() {
    let home = home("drawn");
    fs::create_dir_all(home.join("2018/fig-1")).unwrap();
    fs::write(home.join("2018/fig-1/intersection.svg"), "<svg>1</svg>").unwrap();
    let made = Made { pictures: vec![Shown::new("intersection.svg", "A voxel.")], ..Made::default() };
    let done = Done::new(&DRAWN, State::Made(made), Vec::new(), 1.0, &home).unwrap();
    let ran_on = RanOn { compute: "cpu", adapter: "CPU, 2 threads".into() };
    Page::new(ran_on, false, &DOCUMENTS, vec![done]).write(&home).unwrap();
    let markdown = fs::read_to_string(home.join("papers.md")).unwrap();
    // Planted error to see this fail: link to the picture in its own folder.
    let link = "![Figure 1, document 2018](figures/papers/2018-fig-1-intersection.svg)";
    assert!(markdown.contains(link), "{markdown}");
    let copy = home.join("figures/papers/2018-fig-1-intersection.svg");
    assert_eq!(fs::read_to_string(copy).unwrap(), "<svg>1</svg>");
    fs::remove_dir_all(home).unwrap();
}

#[test]
fn a_number_stands_on_the_right_and_a_word_does_not() {
    assert!(["1.5", "-", "-2", "+3 %", "2 of 3"].iter().all(|cell| is_number(cell)));
    assert!(["islands", "", "level 8", "--quick"].iter().all(|cell| !is_number(cell)));
    assert_eq!(
        ["fig-3", "table-1", "section-6.1", "time"].map(heading),
        ["Figure 3", "Table 1", "Section 6.1", "time"]
    );
}
