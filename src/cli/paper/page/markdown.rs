//! `papers.md`: the page as text. Pictures are named by their files below the results and by their hashes, and are no
//! links, so that the file may be copied to where there are no pictures. It shows a few small drawings, whose copies lie in
//! one folder that goes with it.

use std::fmt::Write as _;

use super::{Done, Page, Table, drawing, heading, is_number};

/// Longest line of running text, characters.
const WIDTH: usize = 118;

/// The file's text.
pub fn text(page: &Page<'_>) -> String {
    let mut text = String::from("# Figures and tables of five documents, made again\n\n");
    page.head().iter().for_each(|line| paragraph(&mut text, line));
    paragraph(
        &mut text,
        "`kintsugi paper --out DIR` wrote this file. It shows some of the drawings; `DIR/index.html`, which that command \
         writes, too, shows every picture. `kintsugi paper 2016 fig-4 --out DIR` makes figure 4 of the document `2016` \
         alone, and `kintsugi paper --list` names them all.",
    );
    // Writing to a string cannot fail, here and below.
    for (document, done) in page.sections() {
        let _ = writeln!(text, "## {}\n", document.title);
        done.into_iter().for_each(|one| entry(&mut text, one));
    }
    let end = text.trim_end().len();
    text.truncate(end);
    text.push('\n');
    text
}

fn entry(text: &mut String, done: &Done<'_>) {
    let _ = writeln!(text, "### {}: {}\n", heading(done.figure), done.title);
    if let Some(why) = &done.reason {
        let said = if done.name == "failed" { "It failed" } else { "It cannot be made" };
        paragraph(text, &format!("{said}: {why}"));
        return;
    }
    for picture in &done.pictures {
        let digits = picture.sha256.get(..16).unwrap_or_default();
        let line = format!("- `{}` (SHA-256 `{digits}...`): {}", picture.file, picture.caption);
        wrapped(text, &line, "  ");
    }
    if !done.pictures.is_empty() {
        text.push('\n');
    }
    for copy in done.pictures.iter().filter_map(|picture| drawing(&picture.file)) {
        let _ = writeln!(text, "![{}, document {}]({copy})\n", heading(done.figure), done.document);
    }
    done.tables.iter().for_each(|one| table(text, one));
    done.notes.iter().for_each(|note| paragraph(text, note));
    if !done.commands.is_empty() {
        let folder = format!("{}/{}", done.document, done.figure);
        let _ = writeln!(text, "Made in {}, in the folder `{folder}`, by\n\n```text", done.took());
        done.commands.iter().for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
        text.push_str("```\n\n");
    }
}

fn paragraph(text: &mut String, line: &str) {
    wrapped(text, line, "");
    text.push('\n');
}

/// A line broken between words; lines after the first begin with `indent`.
fn wrapped(text: &mut String, line: &str, indent: &str) {
    let mut length = 0;
    for word in line.split_whitespace() {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > WIDTH {
            text.push('\n');
            text.push_str(indent);
            length = indent.len();
        } else if length > 0 {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += letters;
    }
    text.push('\n');
}

fn table(text: &mut String, table: &Table) {
    let cells = |row: &[String]| {
        let cells = row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
        format!("| {} |\n", cells.join(" | "))
    };
    let is_right =
        |column: usize| table.rows.iter().filter_map(|row| row.get(column)).all(|cell| is_number(cell));
    let rule: Vec<&str> =
        (0..table.columns.len()).map(|k| if is_right(k) { "---:" } else { "---" }).collect();
    paragraph(text, &format!("{}:", table.title));
    text.push_str(&cells(&table.columns));
    let _ = writeln!(text, "|{}|", rule.join("|"));
    table.rows.iter().for_each(|row| text.push_str(&cells(row)));
    text.push('\n');
}
