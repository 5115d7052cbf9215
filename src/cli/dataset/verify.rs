//! Does a set have what its recipe says?
//!
//! In: a recipe, and either the set's files or the meshes that it is made of. Out: of some breaks, evenly chosen, which
//! have the recipe's digest.

use std::{collections::BTreeMap, path::Path};

use super::{
    making::{Making, digest_of_files},
    places::Places,
    recipe::Recipe,
    source::Source,
};
use crate::{
    cli::{
        CliError,
        progress::Reporter,
        sweep::{run::Run, table::ERROR},
    },
    compute::Compute,
};

/// Differences that are printed.
const MOST_TOLD: usize = 100;

/// What became of breaks that were looked at.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Those that agree.
    agree: usize,
    /// All of them.
    all: usize,
    /// A line for each that does not.
    differ: Vec<String>,
}

impl Verdict {
    /// Counts the digest of a break, or why it has none.
    pub fn add(&mut self, recipe: &Recipe, job: usize, path: &str, digest: Result<&str, &str>) {
        self.all += 1;
        match digest.map(|digest| (digest, recipe.agrees(job, digest))) {
            Ok((_, Some(true))) => self.agree += 1,
            Ok((digest, _)) => {
                let wanted = recipe.breaks.get(job).and_then(Option::as_deref).unwrap_or("none");
                let is = digest.get(..16).unwrap_or(digest);
                self.differ.push(format!("break {job}, {path}: it is {is}, the recipe has {wanted}"));
            }
            Err(why) => self.differ.push(format!("break {job}, {path}: {why}")),
        }
    }

    /// Prints it.
    ///
    /// # Errors
    /// [`CliError::Outcome`] where a break differs.
    pub fn tell(&self, recipe: &Recipe) -> Result<(), CliError> {
        let Self { agree, all, differ } = self;
        let shown = differ.iter().take(MOST_TOLD).map(|line| format!("{line}\n"));
        crate::cli::print(&shown.collect::<String>());
        crate::cli::print(&format!("{agree} of {all} breaks have the recipe's hash\n"));
        if differ.is_empty() {
            return Ok(());
        }
        let (count, other) = (differ.len(), recipe.of_other_version());
        Err(CliError::Outcome(format!("{count} of {all} breaks are not those of the recipe{other}")))
    }
}

/// Looks at the files of up to `most` breaks in the folder of a set.
pub fn files(recipe: &Recipe, source: &Source, places: &Places, out: &Path, most: usize) -> Verdict {
    let mut verdict = Verdict::default();
    for job in recipe.some(most) {
        let path = places.path(job);
        let digest = digest_of_files(out, &path, &source.options);
        verdict.add(recipe, job, &path, digest.as_deref().map_err(String::as_str));
    }
    verdict
}

/// Makes up to `most` breaks again, in memory.
///
/// # Errors
/// [`CliError`] where no break could go on.
pub fn again(
    recipe: &Recipe,
    source: &Source,
    places: &Places,
    most: usize,
    compute: &Compute,
    reporter: &Reporter,
) -> Result<Verdict, CliError> {
    let left = recipe.some(most);
    let run = Run {
        command: "dataset",
        file: &source.file,
        jobs: &source.jobs,
        left: &left,
        before: 0,
        mesh: &|name| source.mesh(name),
        folder: None,
        compute,
        reporter,
    };
    let mut found: BTreeMap<usize, Result<String, String>> = BTreeMap::new();
    let mut making = Making { options: &source.options, places, out: None };
    run.break_all(&mut making, &mut |job, mut row| {
        let digest = row.remove("sha256").ok_or_else(|| row.remove(ERROR).unwrap_or_default());
        found.insert(job, digest);
        Ok(())
    })?;
    let mut verdict = Verdict::default();
    for (job, digest) in &found {
        verdict.add(recipe, *job, &places.path(*job), digest.as_deref().map_err(String::as_str));
    }
    Ok(verdict)
}
