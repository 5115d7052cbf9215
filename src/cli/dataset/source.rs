//! What a set is made from: a job file, or the recipe of a set that somebody made before.
//!
//! In: the file that the command names. Out: its jobs and options, and where its meshes lie.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

use super::{
    meshes::{Contents, Finder},
    options::Options,
    places::Places,
    recipe::Recipe,
};
use crate::cli::{
    CliError,
    input::about,
    sweep::{
        jobs::{Job, JobFile, read_text},
        run::beside,
    },
};

/// A job file or a recipe that was read.
pub struct Source {
    /// The file.
    pub file: PathBuf,
    /// The recipe, if it is one.
    pub recipe: Option<Recipe>,
    /// The job file's name and text.
    pub name: String,
    /// The job file's text.
    pub text: String,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// The table `[dataset]`.
    pub options: Options,
    /// The folder in which the meshes of a recipe are looked for.
    meshes: Option<PathBuf>,
    /// The files in that folder, listed when the first is wanted.
    finder: OnceCell<Result<Finder, String>>,
}

impl Source {
    /// Reads the file of the command; a recipe's meshes are looked for in `meshes`.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn read(file: &Path, meshes: Option<&Path>) -> Result<Self, CliError> {
        let is_recipe = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if !is_recipe && meshes.is_some() {
            let message = "--meshes is for recipes; the meshes of a job file lie beside it";
            return Err(about(file, message));
        }
        let recipe = if is_recipe { Some(Recipe::read(file)?) } else { None };
        let (name, text) = match &recipe {
            Some(recipe) => (recipe.file.clone(), recipe.jobs.clone()),
            None => {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (name, read_text(file)?)
            }
        };
        let (jobs, options) = parse(&text).map_err(|message| about(file, message))?;
        if recipe.as_ref().is_some_and(|recipe| recipe.breaks.len() != jobs.len()) {
            return Err(about(file, "the recipe has another number of breaks than its jobs; get it again"));
        }
        let (file, meshes) = (file.to_owned(), meshes.map(Path::to_owned));
        Ok(Self { file, recipe, name, text, jobs, options, meshes, finder: OnceCell::new() })
    }

    /// The objects and folders of the set; mesh files of a job file are read for that.
    pub fn places(&self) -> Places {
        Places::new(&self.jobs, &self.options, |mesh| match &self.recipe {
            Some(recipe) => recipe.contents(mesh).cloned(),
            None if is_built_in(mesh) => None,
            None => Contents::of(Path::new(&beside(&self.file, mesh))).ok(),
        })
    }

    /// Where a mesh lies. Of a recipe no file is opened by its name, only by its contents: it may come from anybody.
    ///
    /// # Errors
    /// Why there is none.
    pub fn mesh(&self, name: &str) -> Result<PathBuf, String> {
        let Some(recipe) = self.recipe.as_ref().filter(|_| !is_built_in(name)) else {
            return Ok(PathBuf::from(beside(&self.file, name)));
        };
        let contents = recipe.contents(name).ok_or_else(|| {
            format!("the recipe does not say what {name} holds; that break cannot be made again")
        })?;
        let folder = self
            .meshes
            .as_ref()
            .ok_or_else(|| format!("--meshes is missing: the folder in which {name} is, under any name"))?;
        let finder = self.finder.get_or_init(|| Finder::new(folder)).as_ref();
        finder.map_err(Clone::clone)?.find(name, contents)
    }
}

fn is_built_in(mesh: &str) -> bool {
    mesh.starts_with("builtin:")
}

fn parse(text: &str) -> Result<(Vec<Job>, Options), String> {
    let mut file = JobFile::parse(text)?;
    let options = Options::read(file.dataset.take())?;
    Ok((file.jobs(options.breaks)?, options))
}
