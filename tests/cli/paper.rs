//! `kintsugi paper`: figures and tables of the documents, made again.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::support::program::{folder, kintsugi, outcome, run, text};

fn page(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("papers.json")).unwrap()).unwrap()
}

fn sha256(path: &Path) -> String {
    let sum: [u8; 32] = Sha256::digest(std::fs::read(path).unwrap()).into();
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a figure on the cores; exit code, stdout, stderr.
fn paper(words: &[&str], out: &Path) -> (i32, String, String) {
    let all = ["paper"].iter().chain(words).copied().chain(["--compute", "cpu", "--out"]);
    outcome(&kintsugi(all.map(str::to_owned).chain([text(out)])).output().unwrap())
}

#[test]
fn the_list_names_every_figure_and_table_of_the_five_documents() {
    let list = run(["paper", "--list"]).unwrap();
    let named: BTreeSet<(&str, &str)> = list
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            (words.next().unwrap(), words.next().unwrap())
        })
        .collect();
    for (document, figures, tables) in [("2016", 7, 1), ("2018", 9, 0), ("glondu", 12, 3), ("chlubna", 15, 0)]
    {
        let figures = (1..=figures).map(|k| format!("fig-{k}"));
        let tables = (1..=tables).map(|k| format!("table-{k}"));
        for figure in figures.chain(tables) {
            // Planted error to see this fail: leave an entry out of its list.
            assert!(named.contains(&(document, figure.as_str())), "{document} {figure}: {list}");
        }
    }
    let others = [("2016", "section-3.2"), ("2016", "section-6.1"), ("2018", "time"), ("bullet", "sketch")];
    for other in others {
        assert!(named.contains(&other), "{other:?}: {list}");
    }
    assert_eq!(list.lines().count(), named.len(), "one line each: {list}");
    // Planted error to see this fail: give another entry a reason.
    let cannot: Vec<&str> = list.lines().filter(|line| line.contains("(cannot be made: ")).collect();
    assert!(cannot.len() == 1 && cannot[0].starts_with("chlubna  fig-1 "), "{cannot:?}");
}

#[test]
fn a_figure_is_made_by_a_command_and_listed_with_its_hash() {
    let out = folder("paper-figure").join("papers");
    let (code, said, err) = paper(&["2018", "fig-2", "--quick"], &out);
    assert_eq!(code, 0, "{err}");
    assert!(said.starts_with("1 made, 0 failed, 0 cannot be made"), "{said}");
    let page = page(&out);
    assert_eq!(page["quick"], true);
    assert_eq!(page["compute"], "cpu");
    let entry = &page["entries"][0];
    assert_eq!([&entry["document"], &entry["figure"], &entry["state"]], ["2018", "fig-2", "made"]);
    let picture = &entry["pictures"][0];
    let file = out.join(picture["file"].as_str().unwrap());
    assert_eq!(picture["sha256"], sha256(&file).as_str());
    let command = entry["commands"][0].as_str().unwrap();
    assert!(
        command.starts_with("kintsugi render builtin:box") && command.contains("--compute cpu"),
        "{command}"
    );
    // The picture's own provenance makes it again.
    assert_eq!(run(["repeat", &text(&file)]).unwrap(), "the same\n");
    for name in ["index.html", "papers.md", "papers.json"] {
        let text = std::fs::read_to_string(out.join(name)).unwrap();
        assert!(text.contains("crack.png"), "{name}");
        assert!(!text.contains(env!("CARGO_TARGET_TMPDIR")), "{name} has a path of the machine");
    }
}

#[test]
fn trees_and_a_fragments_bytes_are_drawn_with_their_tables() {
    for (figure, picture, least) in
        [("fig-7", "spheres.svg", 8), ("fig-11", "fragment.svg", 9), ("fig-12", "hierarchy.svg", 9)]
    {
        let out = folder(&format!("paper-chlubna-{figure}")).join("papers");
        let (code, said, err) = paper(&["chlubna", figure, "--quick"], &out);
        assert_eq!(code, 0, "{figure}: {said} {err}");
        let page = page(&out);
        let entry = &page["entries"][0];
        assert_eq!(entry["pictures"][0]["file"], format!("chlubna/{figure}/{picture}").as_str());
        assert!(entry["notes"].as_array().is_some_and(|notes| !notes.is_empty()), "{entry}");
        let rows = entry["tables"][0]["rows"].as_array().unwrap();
        assert!(rows.len() >= least, "{entry}");
        if figure == "fig-11" {
            let number = |row: &Value, k: usize| row[k].as_str().unwrap().parse::<u64>().unwrap();
            for pair in rows.windows(2) {
                // Each part begins behind the one before, at a whole word.
                let [from, bytes, items, each] = [3, 4, 5, 6].map(|k| number(&pair[0], k));
                assert_eq!(number(&pair[1], 3), (from + bytes).next_multiple_of(4), "{pair:?}");
                // Planted error to see this fail: the count of another accessor.
                assert_eq!(items * each, bytes, "{pair:?}");
            }
        }
    }
}

#[test]
fn a_drawing_repeats_its_bytes_and_keeps_what_is_somebodys() {
    let out = folder("paper-drawing");
    std::fs::write(out.join("index.html"), "mine").unwrap();
    let mut hashes = Vec::new();
    for _ in 0..2 {
        let (code, _, err) = paper(&["2018", "fig-1"], &out);
        assert_eq!(code, 0, "{err}");
        let picture = page(&out)["entries"][0]["pictures"][0].clone();
        assert_eq!(picture["file"], "2018/fig-1/intersection.svg");
        let svg = std::fs::read_to_string(out.join("2018/fig-1/intersection.svg")).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        hashes.push(picture["sha256"].clone());
    }
    // Planted error to see this fail: write a coordinate with all its digits from a sum in another order.
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(std::fs::read_to_string(out.join("index.before.html")).unwrap(), "mine");
    // Another figure takes the place of the first.
    let (code, _, err) = paper(&["2018", "fig-4"], &out);
    assert_eq!(code, 0, "{err}");
    assert!(!out.join("2018/fig-1/intersection.svg").exists() && out.join("2018/fig-4/votes.svg").is_file());
}

#[test]
fn what_fails_is_on_the_page_and_what_is_unknown_is_refused() {
    let home = folder("paper-failure");
    let meshes = home.join("meshes");
    std::fs::create_dir_all(&meshes).unwrap();
    std::fs::write(meshes.join("stanford-bunny.obj"), "this is no mesh\n").unwrap();
    let out = home.join("papers");
    let (code, said, err) = paper(&["2016", "fig-4", "--quick", "--meshes", &text(&meshes)], &out);
    assert_eq!(code, 1, "{said} {err}");
    let page = page(&out);
    let entry = &page["entries"][0];
    assert_eq!(entry["state"], "failed");
    assert!(entry["reason"].as_str().unwrap().contains("stanford-bunny.obj"), "{entry}");
    let html = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(html.contains("It failed"), "{html}");
    for (words, why) in [
        (&["2018", "fig-20"][..], "there is no `fig-20`"),
        (&["2017"][..], "2017"),
        (&["2018", "fig-1", "--meshes", "no/such/folder"][..], "no such folder"),
    ] {
        let (code, _, err) = paper(words, &home.join("other"));
        assert!(code == 2 && err.lines().count() == 1 && err.contains(why), "{words:?}: {code} {err}");
        assert!(!home.join("other").exists());
    }
}

/// Without the mesh of the paper no published figure is on the page.
#[test]
fn a_published_figure_stands_beside_the_papers_object_alone() {
    let out = folder("paper-published").join("papers");
    let (code, _, err) = paper(&["2016", "table-1", "--quick"], &out);
    assert_eq!(code, 0, "{err}");
    let page = page(&out);
    let entry = &page["entries"][0];
    let rows = entry["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 + 1 + 1 + 3, "bunny at two levels, columns, buddha, three dragons: {entry}");
    for row in rows {
        assert_eq!(row[4], "ours", "{row}");
        assert!(row[1].as_str().unwrap().starts_with("builtin:"), "{row}");
    }
    let notes = entry["notes"].to_string();
    assert!(notes.contains("stanford-bunny.obj") && notes.contains("builtin:statue"), "{notes}");
}

/// Whether a table with these heads and rows sets published figures beside ours, or divides by them.
fn compares(heads: &[String], rows: &[Vec<String>]) -> bool {
    let is_ratio = |text: &str| text.split(|c: char| !c.is_alphabetic()).any(|word| word == "ratio");
    let is_published = |text: &str| text.starts_with("published") || text.starts_with("ours / ");
    let of_both = |text: &String| is_ratio(text) || is_published(text);
    heads.iter().any(of_both) || rows.iter().flatten().any(of_both)
}

#[test]
fn a_table_that_compares_is_told_by_its_heads_and_cells() {
    let of = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert!(compares(&of(&["stage", "published, ms"]), &[]));
    assert!(compares(&of(&["stage", "ratio of averages"]), &[]));
    assert!(compares(&of(&["stage", "ms"]), &[of(&["ratio", "2.0"])]));
    assert!(compares(&of(&["level", "ours / bound"]), &[]));
    assert!(!compares(&of(&["iteration", "inner by the published test"]), &[of(&["1", "2"])]));
}

/// With `--quick`, and without any mesh of a document, no object is a document's.
#[test]
fn no_entry_compares_another_object_with_a_published_figure() {
    let out = folder("paper-all").join("papers");
    let (code, _, err) = paper(&["--quick"], &out);
    assert_eq!(code, 0, "{err}");
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut published = 0;
    for entry in page(&out)["entries"].as_array().unwrap() {
        for table in entry["tables"].as_array().unwrap() {
            let rows: Vec<Vec<String>> = table["rows"].as_array().unwrap().iter().map(texts).collect();
            // Planted error to see this fail: a column `published` in a table of Glondu's scenes.
            let place = format!("{} {}: {table}", entry["document"], entry["figure"]);
            assert!(!compares(&texts(&table["columns"]), &rows), "{place}");
            published += usize::from(table["title"].as_str().unwrap().contains("published"));
        }
    }
    assert!(cfg!(not(feature = "papers")) || published >= 9, "tables of the papers' own: {published}");
}

/// Entries in which a published figure may stand beside ours: their objects are Stanford's.
const MAY_COMPARE: [(&str, &str); 4] =
    [("2016", "Figure 4"), ("2016", "Figure 6"), ("2016", "Figure 7"), ("2016", "Table 1")];

/// An entry as `docs/papers.md` has it.
struct Documented {
    document: &'static str,
    /// As in `Figure 4`.
    heading: String,
    title: String,
    /// What follows.
    text: String,
}

fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// The entries of `docs/papers.md`.
fn documented() -> Vec<Documented> {
    let text = std::fs::read_to_string(docs().join("papers.md")).unwrap();
    let mut found: Vec<Documented> = Vec::new();
    let mut document = "";
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let names =
                [("(2016)", "2016"), ("(2018)", "2018"), ("Glondu", "glondu"), ("Chlubna", "chlubna")];
            let known = names.into_iter().find(|(part, _)| title.contains(part));
            document = known.map_or("bullet", |(_, name)| name);
        } else if let Some(head) = line.strip_prefix("### ") {
            let (heading, title) = head.split_once(": ").unwrap();
            let (heading, title) = (heading.to_owned(), title.to_owned());
            found.push(Documented { document, heading, title, text: String::new() });
        } else if let Some(entry) = found.last_mut() {
            entry.text += line;
            entry.text.push('\n');
        }
    }
    found
}

/// The tables of a Markdown text, each as rows of cells; the first row are the heads.
fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    let mut found: Vec<Vec<Vec<String>>> = Vec::new();
    let mut in_table = false;
    for line in text.lines() {
        let is_row = line.starts_with('|');
        if is_row && !in_table {
            found.push(Vec::new());
        }
        in_table = is_row;
        if is_row && !line.starts_with("|-") {
            let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
            found.last_mut().unwrap().push(cells);
        }
    }
    found
}

/// Only times and hashes of `docs/papers.md` may differ from what the program writes.
#[test]
fn the_page_in_the_documents_lists_what_the_program_makes() {
    let list = run(["paper", "--list"]).unwrap();
    let documented = documented();
    assert_eq!(list.lines().count(), documented.len(), "write docs/papers.md anew: kintsugi paper --out DIR");
    for (line, entry) in list.lines().zip(&documented) {
        let (document, rest) = line.split_once(' ').unwrap();
        let (figure, rest) = rest.trim_start().split_once(' ').unwrap();
        let heading = match figure.split_once('-') {
            Some(("fig", number)) => format!("Figure {number}"),
            Some(("table", number)) => format!("Table {number}"),
            Some(("section", number)) => format!("Section {number}"),
            _ => figure.to_owned(),
        };
        let (title, why) =
            rest.trim_start().split_once(" (cannot be made: ").unwrap_or((rest.trim_start(), ""));
        // Planted error to see this fail: change a title in the program.
        assert_eq!((entry.document, &entry.heading, &*entry.title), (document, &heading, title));
        let said = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cannot = said.strip_prefix("It cannot be made: ").unwrap_or_default();
        assert_eq!(cannot, why.strip_suffix(')').unwrap_or(why), "{line}");
        assert!(!said.starts_with("It failed"), "{line}: {said}");
    }
}

#[test]
fn the_page_in_the_documents_compares_where_the_object_is_the_documents() {
    for entry in documented() {
        let place = format!("{} {}", entry.document, entry.heading);
        for table in tables(&entry.text) {
            let (heads, rows) = table.split_first().unwrap();
            if !compares(heads, rows) {
                continue;
            }
            assert!(MAY_COMPARE.contains(&(entry.document, &*entry.heading)), "{place}: {table:?}");
            assert!(!entry.text.contains("The object measured is `builtin:"), "{place}");
            for row in rows.iter().filter(|row| compares(&[], std::slice::from_ref(row))) {
                assert!(!row.iter().any(|cell| cell.starts_with("builtin:")), "{place}: {row:?}");
            }
        }
    }
}

/// Each drawing that the page shows lies beside it, with the hash that the page has, and all of them are small.
#[test]
fn the_page_in_the_documents_shows_its_own_drawings() {
    let (mut shown, mut bytes) = (0, 0);
    for entry in documented() {
        for link in entry.text.split("](").skip(1) {
            let file = docs().join(link.split(')').next().unwrap());
            // Planted error to see this fail: change a letter in one of the drawings.
            let sum = sha256(&file);
            assert!(entry.text.contains(&sum[..16]), "{}: its hash is {sum}", file.display());
            shown += 1;
            bytes += std::fs::metadata(&file).unwrap().len();
        }
    }
    assert!(shown >= 5 && bytes < 300_000, "{shown} drawings, {bytes} bytes");
}

/// The published ray test on a mesh of one's own.
#[test]
fn the_ray_test_takes_a_mesh_of_ones_own() {
    let home = folder("paper-own");
    let mesh = home.join("own.obj");
    // A tetrahedron.
    std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        .unwrap();
    let out = home.join("papers");
    let (code, _, err) = paper(&["2016", "section-3.2", "--mesh", &text(&mesh), "--level", "4"], &out);
    assert_eq!(code, 0, "{err}");
    let entry = &page(&out)["entries"][0];
    let table = &entry["tables"][0];
    assert!(table["title"].as_str().unwrap().ends_with("level 4"), "{table}");
    let rows = table["rows"].as_array().unwrap();
    // Planted error to see this fail: add the built-in shapes.
    assert!(rows.len() == 1 && rows[0][0] == "own.obj", "{table}");
    assert!(!entry.to_string().contains(env!("CARGO_TARGET_TMPDIR")), "no path of the machine: {entry}");
    for (words, why) in [
        (&["2016", "fig-1", "--mesh", "builtin:vase"][..], "2016 section-3.2"),
        (&["2016", "section-3.2", "--mesh", "no/such.obj"][..], "no/such.obj"),
        (&["2016", "section-3.2", "--level", "5"][..], "--mesh"),
    ] {
        let (code, _, err) = paper(words, &home.join("other"));
        assert!(code == 2 && err.contains(why), "{words:?}: {code} {err}");
        assert!(!home.join("other").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_command_under_way_and_leaves_nothing() {
    use std::{process::Stdio, time::Duration};
    let home = folder("paper-signal");
    let out = home.join("papers");
    let words = ["paper", "2016", "fig-7", "--compute", "cpu", "--out"].map(str::to_owned);
    let mut command = kintsugi(words.into_iter().chain([text(&out)]));
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Long enough for a play to be under way, which takes a minute.
    std::thread::sleep(Duration::from_secs(2));
    assert!(running.try_wait().unwrap().is_none());
    let sent =
        std::process::Command::new("kill").args(["-TERM", &running.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = running.wait().unwrap();
    assert_eq!(status.code(), Some(143));
    let left: Vec<_> = std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}
