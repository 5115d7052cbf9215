//! `index.html`: one file with its style inside and the pictures beside it, readable in light and dark.

use std::fmt::Write as _;

use super::{Done, Page, Table, heading, is_number};
use crate::cli::paper::svg::escaped;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #262422; --paper: #fbfaf7; --faint: #6d6862; --rule: #d8d4cc; --bad: #a5331b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9e6df; --paper: #1d1c1a; --faint: #a19b92; --rule: #45423d; --bad: #ff8f73; }
}
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.3rem; margin-top: 3rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin-top: 2.2rem; }
nav { font-size: .9rem; } nav a { margin-right: .7rem; white-space: nowrap; } a { color: inherit; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
figcaption, .took { color: var(--faint); font-size: .9rem; } code { font-size: .85rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; margin: .5rem 0 1rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; font-variant-numeric: tabular-nums; }
.failed, .cannot { border-left: 3px solid var(--rule); padding-left: .8rem; } .failed { border-color: var(--bad); }
details { margin: .6rem 0; } pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .82rem; }
";

/// The file's text.
pub fn text(page: &Page<'_>) -> String {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Figures and tables of five documents</title>\n<style>{STYLE}</style>\n\
         <h1>Figures and tables of five documents, made again</h1>\n"
    );
    page.head().iter().for_each(|line| paragraph(&mut text, line));
    // Writing to a string cannot fail, here and below.
    for (document, done) in page.sections() {
        let _ = write!(text, "<nav><b>{}</b> ", escaped(document.name));
        for one in done {
            let name = escaped(&heading(one.figure));
            let _ = write!(text, "<a href=\"#{}\">{name}</a>", anchor(one));
        }
        text.push_str("</nav>\n");
    }
    for (document, done) in page.sections() {
        let _ = writeln!(text, "<h2>{}</h2>", escaped(document.title));
        done.into_iter().for_each(|one| entry(&mut text, one));
    }
    text.push_str("</html>\n");
    text
}

fn anchor(done: &Done<'_>) -> String {
    format!("{}-{}", done.document, done.figure)
}

fn entry(text: &mut String, done: &Done<'_>) {
    let title = format!("{}: {}", heading(done.figure), done.title);
    let _ = writeln!(text, "<h3 id=\"{}\">{}</h3>", anchor(done), escaped(&title));
    match &done.reason {
        Some(why) => {
            let said = if done.name == "failed" { "It failed" } else { "It cannot be made" };
            let _ = writeln!(text, "<p class=\"{}\">{said}: {}</p>", done.name, marked(why));
        }
        None => {
            let _ = writeln!(text, "<p class=\"took\">Made in {}.</p>", done.took());
        }
    }
    for picture in &done.pictures {
        let (file, caption) = (escaped(&picture.file), escaped(&picture.caption));
        let _ = writeln!(
            text,
            "<figure><a href=\"{file}\"><img src=\"{file}\" alt=\"{caption}\" loading=\"lazy\"></a>\n\
             <figcaption>{} <code title=\"SHA-256\">{}</code></figcaption></figure>",
            marked(&picture.caption),
            picture.sha256.get(..16).unwrap_or_default()
        );
    }
    done.tables.iter().for_each(|one| table(text, one));
    done.notes.iter().for_each(|note| paragraph(text, note));
    if !done.commands.is_empty() {
        let lines = escaped(&done.commands.join("\n"));
        let folder = format!("{}/{}", done.document, done.figure);
        let _ = writeln!(
            text,
            "<details><summary>Commands, in the folder <code>{folder}</code></summary><pre>{lines}</pre></details>"
        );
    }
}

fn paragraph(text: &mut String, line: &str) {
    let _ = writeln!(text, "<p>{}</p>", marked(line));
}

/// Text in which words in backticks are code.
fn marked(line: &str) -> String {
    let parts = line.split('`').map(escaped).enumerate();
    parts.map(|(k, part)| if k % 2 == 1 { format!("<code>{part}</code>") } else { part }).collect()
}

fn table(text: &mut String, table: &Table) {
    let is_right = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column)).peekable();
        cells.peek().is_some() && cells.all(|cell| is_number(cell))
    };
    let class = |column: usize| if is_right(column) { " class=\"number\"" } else { "" };
    let _ = writeln!(text, "<div class=\"wide\"><table><caption>{}</caption>", escaped(&table.title));
    text.push_str("<tr>");
    for (k, head) in table.columns.iter().enumerate() {
        let _ = write!(text, "<th{}>{}</th>", class(k), escaped(head));
    }
    text.push_str("</tr>\n");
    for row in &table.rows {
        text.push_str("<tr>");
        for (k, cell) in row.iter().enumerate() {
            let _ = write!(text, "<td{}>{}</td>", class(k), marked(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
}
