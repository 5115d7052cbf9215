//! `kintsugi dataset`: many meshes broken many times, as files to learn from, and as a recipe of a few megabytes.
//!
//! In: a job file as of a sweep, with a table `[dataset]`; or the recipe of a set and the meshes that it names by their
//! contents. Out: a folder with mesh files, arrays, a table, lists of the parts, statistics and the recipe. A killed run
//! goes on where it stopped, and shards are put together, as with `kintsugi sweep`, whose jobs, table and folder these are.

mod arrays;
mod making;
mod meshes;
mod options;
mod partners;
mod places;
mod random;
mod recipe;
mod single;
mod source;
mod statistics;
mod surface;
mod verify;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;

pub use self::single::RecipeMaker;
use self::{
    making::{ARRAYS, Making},
    options::PARTS,
    places::Places,
    recipe::{Recipe, RecipeMesh, shortened},
    source::Source,
    statistics::{Totals, size},
    verify::Verdict,
};
use super::{
    CliError,
    input::about,
    make_folder,
    progress::Reporter,
    sweep::{
        folder::{self, Folder, Identity, Kind},
        jobs,
        run::{self, Run, Shard, mine, parse_shard},
        table::{ERROR, Table},
    },
};
use crate::{
    export::{ExportError, disk::clear_away},
    provenance::VERSION,
    scene::write_atomically,
};

/// The folder of a set.
const DATASET: Kind = Kind { identity: "dataset.json", noun: "data set" };
/// Folder of the lists of the parts.
const LISTS: &str = "data_split";
/// Breaks that are verified if no number is given.
const VERIFIED: &str = "100";

#[derive(Args)]
pub struct DatasetArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Job file (.toml) with a table [dataset], or recipe.json of a set; see docs/dataset.md
    jobs: PathBuf,
    /// Folder of the set; created if missing; an interrupted run of the same jobs is continued there
    #[arg(long, value_name = "DIR", required_unless_present = "verify")]
    out: Option<PathBuf>,
    /// Do only every Nth job, beginning with the Kth, K from 1 to N; each shard needs its own folder
    #[arg(long, value_name = "K/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// Break nothing: merge tables, lists and recipes of these folders, which hold the shards of this set
    #[arg(long, value_name = "DIR,..", value_delimiter = ',', conflicts_with = "shard")]
    merge: Vec<PathBuf>,
    /// Folder in which the meshes of a recipe are looked for by their contents, under any names
    #[arg(long, value_name = "DIR")]
    meshes: Option<PathBuf>,
    /// Make no set: compare N breaks, evenly chosen, with the recipe: the files in --out, or, without --out, breaks that
    /// are made again in memory [default of N: 100]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = VERIFIED,
        conflicts_with_all = ["shard", "merge"],
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    verify: Option<u32>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Makes a set, or verifies one.
///
/// # Errors
/// [`CliError`]; one of code 1 where breaks failed, or differ from a recipe.
pub fn run(args: &DatasetArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    let source = Source::read(&args.jobs, args.meshes.as_deref())?;
    match (args.verify, &args.out) {
        (Some(most), out) => verify(args, &source, most as usize, out.as_deref(), &reporter),
        (None, Some(out)) => make(args, &source, out, reporter),
        // The grammar requires one of both.
        (None, None) => Err(CliError::Input("--out is missing; give the folder of the set".into())),
    }
}

fn verify(
    args: &DatasetArgs,
    source: &Source,
    most: usize,
    out: Option<&Path>,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let there = match (&source.recipe, out) {
        (None, Some(out)) => Some(Recipe::read(&out.join(recipe::FILE))?),
        _ => None,
    };
    let Some(recipe) = source.recipe.as_ref().or(there.as_ref()) else {
        let message = "this is a job file; give the recipe.json of the set, or the set's folder as --out";
        return Err(about(&args.jobs, message));
    };
    if recipe.breaks.len() != source.jobs.len() {
        return Err(about(&args.jobs, "the recipe in --out is of another job file; give its own"));
    }
    let places = source.places();
    let verdict = match out {
        Some(out) => verify::files(recipe, source, &places, out, most),
        None => verify::again(recipe, source, &places, most, &args.compute.open(reporter)?, reporter)?,
    };
    verdict.tell(recipe)
}

/// Whose folder it is.
fn identity(args: &DatasetArgs, source: &Source, places: &Places) -> Identity {
    let objects: Vec<_> = places.objects.iter().map(|o| (&o.name, o.split, &o.contents)).collect();
    // Plain data can be written as JSON.
    let objects = serde_json::to_vec(&objects).unwrap_or_default();
    let dataset = serde_json::json!({
        "version": VERSION,
        "name": source.options.name,
        "options": source.options,
        "objects": places.objects.len(),
        "breaks": source.jobs.len(),
        "objects_sha256": crate::mesh::digest::sha256(&objects),
    });
    let keep = serde_json::to_value(&source.options.keep).and_then(serde_json::from_value);
    Identity {
        jobs: source.jobs.len(),
        jobs_sha256: jobs::digest(&source.jobs),
        shard: args.shard.map(|shard| shard.to_string()),
        keep: keep.unwrap_or_default(),
        dataset: Some(dataset),
    }
}

fn make(args: &DatasetArgs, source: &Source, out: &Path, reporter: Reporter) -> Result<(), CliError> {
    let recipe = out.join(recipe::FILE);
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    if same(&recipe, &args.jobs) {
        return Err(about(
            &args.jobs,
            "this recipe lies in --out and would be replaced; give another folder",
        ));
    }
    let places = reporter.stage("look at the meshes", |_| source.places());
    let identity = identity(args, source, &places);
    // Checked before the folder is touched.
    args.merge.iter().try_for_each(|shard| folder::is_of(shard, DATASET, &identity))?;
    refuse_others(out, &source.options.name)?;
    let folder = Folder::open(out, DATASET, &identity)?;
    clear(out, &places)?;
    let mut table = Table::open(&folder.table())?;
    let (start, before) = (Instant::now(), table.len());
    if args.merge.is_empty() {
        break_all(args, source, &places, out, &mut table, &reporter)?;
    } else {
        run::merge(DATASET.noun, &args.merge, out, source.jobs.len(), &mut table)?;
    }
    let (made, seconds) = (table.len() - before, start.elapsed().as_secs_f64());
    let verdict = finish(source, &places, out, &table)?;
    let totals = Totals::of(&table)?;
    totals.write(&out.join(statistics::FILE), &source.options.name)?;
    table.finish()?.iter().for_each(|note| reporter.warn(note));
    drop(reporter);
    let speed = if made > 0 && args.merge.is_empty() {
        format!(", {:.2} breaks a second", made as f64 / seconds.max(1e-9))
    } else {
        String::new()
    };
    let (breaks, failed, shown) = (totals.breaks, totals.failed, folder.table().display().to_string());
    let bytes = size(totals.bytes);
    super::print(&format!("{breaks} breaks, {failed} failed, {bytes}{speed}; {shown}\n"));
    let differs = match (&source.recipe, verdict) {
        (Some(recipe), Some(verdict)) => verdict.tell(recipe),
        _ => Ok(()),
    };
    if failed > 0 {
        let why = format!("{failed} of {breaks} breaks failed; the column `error` of {shown} says why");
        return Err(CliError::Outcome(why));
    }
    differs
}

/// Takes away what a killed process left half-written.
fn clear(out: &Path, places: &Places) -> Result<(), CliError> {
    for object in &places.objects {
        let folder = out.join(ARRAYS).join(places.folder(object));
        if folder.is_dir() {
            clear_away(&folder).map_err(|e| ExportError::write(&folder, e))?;
        }
    }
    Ok(())
}

/// Refuses a folder that is no data set of this program and has something under a name that the set writes. Public data sets
/// have the same folders, and their meshes must not be replaced.
fn refuse_others(out: &Path, name: &str) -> Result<(), CliError> {
    if out.join(DATASET.identity).exists() {
        return Ok(());
    }
    let written = [name, ARRAYS, LISTS, recipe::FILE, statistics::FILE];
    match written.into_iter().find(|name| out.join(name).exists()) {
        Some(there) => Err(about(
            out,
            format!("it has `{there}`, which `kintsugi dataset` did not write; give --out another place"),
        )),
        None => Ok(()),
    }
}

fn break_all(
    args: &DatasetArgs,
    source: &Source,
    places: &Places,
    out: &Path,
    table: &mut Table,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let left: Vec<usize> = mine(args.shard, source.jobs.len()).filter(|job| !table.has(*job)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let compute = args.compute.open(reporter)?;
    let run = Run {
        command: "dataset",
        file: &args.jobs,
        jobs: &source.jobs,
        left: &left,
        before: table.len(),
        mesh: &|name| source.mesh(name),
        folder: Some(out),
        compute: &compute,
        reporter,
    };
    let mut making = Making { options: &source.options, places, out: Some(out) };
    run.break_all(&mut making, &mut |number, row| table.add(number, row))
}

/// Writes the recipe and the lists of the parts, from the table. Where the set was made from a recipe, compares both.
fn finish(source: &Source, places: &Places, out: &Path, table: &Table) -> Result<Option<Verdict>, CliError> {
    let rows = table.select([ERROR, "sha256", "path", "split", "mesh", "mesh_triangles"])?;
    let mut breaks = vec![None; source.jobs.len()];
    let mut lists: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut triangles: BTreeMap<&str, u64> = BTreeMap::new();
    let mut verdict = source.recipe.as_ref().map(|_| Verdict::default());
    for (job, [error, sha256, path, split, mesh, count]) in &rows {
        if let Ok(count) = count.parse() {
            triangles.insert(mesh, count);
        }
        let digest = if error.is_empty() { Ok(sha256.as_str()) } else { Err(error.as_str()) };
        if let (Some(recipe), Some(verdict)) = (&source.recipe, &mut verdict)
            && recipe.breaks.get(*job).is_some_and(Option::is_some)
        {
            verdict.add(recipe, *job, path, digest);
        }
        let (Ok(digest), Some(place)) = (digest, breaks.get_mut(*job)) else { continue };
        *place = shortened(digest).map(str::to_owned);
        if let Some((object, _)) = path.rsplit_once('/') {
            let list = lists.entry(split).or_default();
            if list.last().is_none_or(|last| last != object) {
                list.push(object.to_owned());
            }
        }
    }
    let mesh = |object: &places::SetObject| RecipeMesh {
        file: object.mesh.clone(),
        contents: object.contents.clone(),
        triangles: triangles.get(object.mesh.as_str()).copied(),
    };
    let meshes = places.objects.iter().map(mesh).collect();
    Recipe::new(source.name.clone(), source.text.clone(), meshes, breaks).write(&out.join(recipe::FILE))?;
    let folder = out.join(LISTS);
    make_folder(&folder)?;
    for part in PARTS {
        let mut list = lists.remove(part).unwrap_or_default();
        list.sort_unstable();
        list.dedup();
        let text: String = list.iter().map(|object| format!("{object}\n")).collect();
        let path = folder.join(format!("{}.{part}.txt", source.options.name));
        write_atomically(&path, text.as_bytes()).map_err(|e| ExportError::write(&path, e))?;
    }
    Ok(verdict)
}
