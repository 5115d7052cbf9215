//! `kintsugi paper`: the figures and tables of the documents that the program implements, made again.
//!
//! In: a document and a figure, or none for all. Out: a results folder with a folder for each figure, and a page over all
//! of it in three forms: `index.html`, `papers.md`, `papers.json`. Figures are made by commands of this program that run
//! in processes of their own, so the page names for each the command that makes it alone. A figure that fails does not
//! end the run; one that cannot be made is listed with the reason.

mod child;
mod entry;
mod flat;
mod log;
pub mod meshes;
mod of_2016;
mod of_2018;
mod of_bullet;
mod of_chlubna;
mod of_glondu;
mod page;
mod played;
mod scenes;
mod work;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;

use self::{
    entry::{Document, Entry, Made, Make},
    meshes::Meshes,
    page::{Done, Page, State},
    work::Work,
};
use super::{CliError, progress::Reporter, signals};
pub use crate::scene::svg;
use crate::{compute::Choice, export::Aside};

#[derive(Args)]
pub struct PaperArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Document: 2016 or 2018 (Domaradzki & Martyn), glondu, chlubna, bullet [default: all]
    #[arg(value_name = "DOCUMENT", value_parser = DOCUMENTS.each_ref().map(|document| document.name))]
    document: Option<String>,
    /// Figure or table of that document, as --list names it [default: all]
    #[arg(value_name = "FIGURE")]
    figure: Option<String>,
    /// Folder for index.html, papers.md, papers.json and a folder for each figure; made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Coarser levels, smaller pictures and shorter plays, to try the command out
    #[arg(long)]
    quick: bool,
    /// Folder with the documents' own meshes, by the names that the shipped scenes have for them, as in
    /// stanford-bunny.obj
    #[arg(long, value_name = "DIR")]
    meshes: Option<PathBuf>,
    /// A mesh of your own, a file or builtin:NAME, for `2016 section-3.2`: how often the published ray test of inner nodes
    /// is wrong on that mesh alone
    #[arg(long, value_name = "FILE", requires = "figure")]
    mesh: Option<PathBuf>,
    /// Octree level of --mesh, 3 to 9 [default: 6]
    #[arg(long, value_name = "N", requires = "mesh", value_parser = clap::value_parser!(u32).range(3..=9))]
    level: Option<u32>,
    /// List the figures and tables, and make none
    #[arg(long)]
    list: bool,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

static DOCUMENTS: [Document; 5] = [
    Document {
        name: "2016",
        title: "Domaradzki & Martyn: Fracturing Sparse-Voxel-Octree objects using dynamical Voronoi patterns (2016)",
        entries: of_2016::ENTRIES,
    },
    Document {
        name: "2018",
        title: "Domaradzki & Martyn: Procedural Fracture of Shell Objects (2018)",
        entries: of_2018::ENTRIES,
    },
    Document {
        name: "glondu",
        title: "Glondu, Schvartzman, Marchal, Dumont & Otaduy: Efficient Collision Detection for Brittle Fracture \
                (2012)",
        entries: of_glondu::ENTRIES,
    },
    Document {
        name: "chlubna",
        title: "Chlubna: Brittle Body Simulation on GPU",
        entries: of_chlubna::ENTRIES,
    },
    Document {
        name: "bullet",
        title: "Voronoi Fracture and Destruction, after the demo VoronoiFracture of Bullet Physics",
        entries: of_bullet::ENTRIES,
    },
];

/// Makes the figures and writes the page.
///
/// # Errors
/// [`CliError`]; [`CliError::Outcome`], of code 1, where a figure failed: the page is written all the same.
pub fn run(args: &PaperArgs) -> Result<(), CliError> {
    let chosen = chosen(args.document.as_deref(), args.figure.as_deref())?;
    let Some(out) = args.out.as_deref().filter(|_| !args.list) else {
        super::print(&list(&chosen));
        return Ok(());
    };
    let reporter = Reporter::new(args.json_progress);
    let meshes = given_meshes(args, &reporter)?;
    let ran_on = args.compute.open(&reporter)?.ran_on();
    // The wait for a command looks for signals and ends the command before this process ends.
    let asks = signals::ask_first();
    let mut aside = Aside::begin(out)?;
    aside.spare(args.meshes.iter().chain(&args.mesh).cloned(), page::FILES)?;
    let mut done = Vec::new();
    for entry in chosen {
        signals::asked().map_or(Ok(()), Err)?;
        let name = format!("{} {}", entry.document, entry.figure);
        let one = reporter.stage(&name, |_| make(entry, args, aside.path(), &meshes))?;
        if let Some(why) = one.failure() {
            reporter.warn(&format!("{name}: {why}"));
        }
        done.push(one);
    }
    let page = Page::new(ran_on, args.quick, &DOCUMENTS, done);
    page.write(aside.path()).map_err(|error| aside.moved(error))?;
    aside.finish()?.iter().for_each(|note| reporter.warn(note));
    drop(asks);
    drop(reporter);
    let (made, failed, cannot) = page.counts();
    let shown = out.join("index.html").display().to_string();
    super::print(&format!("{made} made, {failed} failed, {cannot} cannot be made; {shown}\n"));
    if failed > 0 {
        return Err(CliError::Outcome(format!("{failed} figures could not be made; {shown} says why")));
    }
    Ok(())
}

/// The meshes that the arguments name.
///
/// # Errors
/// [`CliError::Input`] for a folder that is not there, a file that is no mesh, and a mesh for another entry.
fn given_meshes(args: &PaperArgs, reporter: &Reporter) -> Result<Meshes, CliError> {
    let meshes = Meshes::new(args.meshes.as_deref())?;
    let Some(mesh) = &args.mesh else { return Ok(meshes) };
    if (args.document.as_deref(), args.figure.as_deref()) != (Some("2016"), Some("section-3.2")) {
        return Err(CliError::Input(
            "--mesh is for the ray test alone: `kintsugi paper 2016 section-3.2 --mesh FILE --out DIR`"
                .into(),
        ));
    }
    meshes.with_own(mesh, args.level, reporter)
}

/// The entries that the arguments name, in the order of the documents.
fn chosen(document: Option<&str>, figure: Option<&str>) -> Result<Vec<&'static Entry>, CliError> {
    let documents = DOCUMENTS.iter().filter(|one| document.is_none_or(|name| one.name == name));
    let all: Vec<&Entry> = documents.flat_map(|one| one.entries).collect();
    let Some(figure) = figure else { return Ok(all) };
    let found: Vec<&Entry> = all.iter().copied().filter(|entry| entry.figure == figure).collect();
    if found.is_empty() {
        let names: Vec<&str> = all.iter().map(|entry| entry.figure).collect();
        let message = format!("there is no `{figure}` in this document; there are {}", names.join(", "));
        return Err(CliError::Input(message));
    }
    Ok(found)
}

/// A line for each entry.
fn list(entries: &[&Entry]) -> String {
    let line = |entry: &&Entry| {
        let why = match entry.make {
            Make::By(_) => String::new(),
            Make::Not(why) => format!(" (cannot be made: {why})"),
        };
        format!("{:<8} {:<12} {}{why}\n", entry.document, entry.figure, entry.title)
    };
    entries.iter().map(line).collect()
}

/// Makes one entry below `folder`.
///
/// # Errors
/// [`CliError::Interrupted`]; every other error is the entry's own, and the page has it.
fn make<'a>(
    entry: &'a Entry,
    args: &PaperArgs,
    folder: &Path,
    meshes: &Meshes,
) -> Result<Done<'a>, CliError> {
    let began = Instant::now();
    let (state, commands) = match entry.make {
        Make::Not(why) => (State::Cannot(why.to_owned()), Vec::new()),
        Make::By(make) => {
            let compute = match args.compute.compute {
                Choice::Auto => None,
                Choice::Gpu => Some("gpu"),
                Choice::Cpu => Some("cpu"),
            };
            let mut work = Work::new(folder.join(entry.place()), args.quick, compute, meshes)?;
            let made = make(&mut work).and_then(|made| with_its_pictures(made, work.folder()));
            let commands = work.end();
            (state_of(made, folder)?, commands)
        }
    };
    Done::new(entry, state, commands, began.elapsed().as_secs_f64(), folder).map_err(CliError::from)
}

/// Rejects what names a picture that is not there.
fn with_its_pictures(made: Made, folder: &Path) -> Result<Made, CliError> {
    match made.pictures.iter().find(|picture| !folder.join(&picture.file).is_file()) {
        Some(picture) => Err(CliError::Outcome(format!("no command wrote the picture {}", picture.file))),
        None => Ok(made),
    }
}

/// The state of an entry after the attempt to make it.
fn state_of(made: Result<Made, CliError>, folder: &Path) -> Result<State, CliError> {
    match made {
        Ok(made) => Ok(State::Made(made)),
        Err(interrupted @ CliError::Interrupted(_)) => Err(interrupted),
        Err(error) => {
            // A message may name the folder aside, which is gone when somebody reads it.
            let aside = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
            let why = error.to_string().replace(&aside, "");
            let left_out = cfg!(not(feature = "papers")) && why.contains("in this build");
            Ok(if left_out { State::Cannot(why) } else { State::Failed(why) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_entry_has_a_place_of_its_own_and_one_line() {
        let mut places = BTreeSet::new();
        for document in &DOCUMENTS {
            assert!(!document.entries.is_empty(), "{}", document.name);
            for entry in document.entries {
                let place = entry.place();
                assert_eq!(entry.document, document.name, "{place}");
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
                assert!(!entry.figure.is_empty() && entry.figure.chars().all(plain), "{place}");
                assert!(entry.title.lines().count() == 1, "{place}");
                if let Make::Not(why) = entry.make {
                    assert!(why.lines().count() == 1, "{place}: {why}");
                }
                // Planted error to see this fail: give two entries the same name.
                assert!(places.insert(place.clone()), "{place} is there twice");
            }
        }
    }

    #[test]
    fn a_document_or_a_figure_is_chosen_by_its_name() {
        let all = chosen(None, None).unwrap();
        let of_2018 = chosen(Some("2018"), None).unwrap();
        assert!(of_2018.len() < all.len() && of_2018.iter().all(|entry| entry.document == "2018"));
        let one = chosen(Some("2018"), Some("fig-2")).unwrap();
        assert_eq!(one.iter().map(|entry| entry.place()).collect::<Vec<_>>(), ["2018/fig-2"]);
        let error = chosen(Some("2018"), Some("fig-20")).err().unwrap().to_string();
        assert!(error.contains("fig-20") && error.contains("fig-9"), "{error}");
        assert_eq!(list(&one).lines().count(), 1);
    }

    #[test]
    fn a_failure_is_the_entrys_own_and_a_signal_is_not() {
        let folder = Path::new("aside").join("new");
        let error = CliError::Outcome(format!("{}: no room", folder.join("2018").display()));
        let failed = state_of(Err(error), &folder).unwrap();
        assert!(matches!(failed, State::Failed(why) if why == "2018: no room"));
        assert!(state_of(Err(CliError::Interrupted(15)), &folder).is_err());
        let made = Made { pictures: vec![entry::Shown::new("none.png", "")], ..Made::default() };
        assert!(with_its_pictures(made, &folder).is_err());
    }
}
