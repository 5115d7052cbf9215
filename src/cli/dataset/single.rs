//! Single breaks of a recipe, from objects that the caller keeps.
//!
//! In: a recipe and the folder of its meshes; the number of a job, and its mesh, voxelised. Out: the files of that break, at
//! the places where `kintsugi dataset` puts them. A break that is not the recipe's is an error.

use std::path::{Path, PathBuf};

use super::{making::Making, places::Places, source::Source};
use crate::{
    cli::{
        CliError,
        input::about,
        sweep::{breaks::Breaks, jobs::Job, table::ERROR},
    },
    facade::{Engine, Object},
    measures::Measures,
};

/// Makes the breaks of a recipe one by one. The caller reads and voxelises the meshes, and keeps the objects as long as it
/// has use for them.
pub struct RecipeMaker {
    source: Source,
    places: Places,
}

impl RecipeMaker {
    /// Reads a recipe; the files of its meshes are looked for in `meshes`, by their contents.
    ///
    /// # Errors
    /// [`CliError::Input`] for what is no recipe.
    pub fn read(file: &Path, meshes: Option<&Path>) -> Result<Self, CliError> {
        let source = Source::read(file, meshes)?;
        if source.recipe.is_none() {
            return Err(about(file, "this is no recipe; give the recipe.json of a set"));
        }
        let places = source.places();
        Ok(Self { source, places })
    }

    /// What the object of a job follows from: the SHA-256 of the mesh file (the name of a built-in shape), the level of the
    /// leaves where no edge of a voxel decides it, and unit, axis that points up and edge. Jobs with the same have the same object.
    ///
    /// # Errors
    /// [`CliError::Input`] for a number that no job has.
    pub fn object_of(&self, number: usize) -> Result<(String, u32, Measures), CliError> {
        let job = self.job(number)?;
        let contents = self.places.object(number).contents.as_ref();
        let mesh = contents.map_or_else(|| job.mesh.clone(), |contents| contents.sha256.clone());
        Ok((mesh, job.level, job.how.measures()))
    }

    /// The file of a job's mesh, or the name of its built-in shape.
    ///
    /// # Errors
    /// [`CliError::Input`] where there is none.
    pub fn mesh(&self, number: usize) -> Result<PathBuf, CliError> {
        self.source.mesh(&self.job(number)?.mesh).map_err(CliError::Input)
    }

    /// Makes the break of a job into the folder `out`; `object` is what [`Self::object_of`] says of the job.
    ///
    /// # Errors
    /// [`CliError`] where it cannot be made or written, and [`CliError::Outcome`] where it is not the recipe's; its files are
    /// in `out` then all the same.
    pub fn make(&self, number: usize, object: &Object, engine: &Engine, out: &Path) -> Result<(), CliError> {
        let job = self.job(number)?;
        let compute = engine.compute();
        compute.takes(job.level)?;
        let mut breaks = Breaks::new("dataset", &self.source.file, compute)?;
        let shared = breaks.share(object.clone()).map_err(CliError::Input)?;
        let mut making = Making { options: &self.source.options, places: &self.places, out: Some(out) };
        let mut row = breaks.row(&shared, job, number, &mut making)?;
        let digest = row.remove("sha256").ok_or_else(|| row.remove(ERROR).unwrap_or_default());
        let digest = digest.map_err(CliError::Input)?;
        // `read` takes recipes alone.
        let Some(recipe) = &self.source.recipe else { return Ok(()) };
        if recipe.agrees(number, &digest) == Some(true) {
            return Ok(());
        }
        let (path, other) = (self.places.path(number), recipe.of_other_version());
        Err(CliError::Outcome(format!("{path} has another hash than in the recipe{other}")))
    }

    fn job(&self, number: usize) -> Result<&Job, CliError> {
        let jobs = &self.source.jobs;
        jobs.get(number).ok_or_else(|| {
            let count = jobs.len();
            about(&self.source.file, format!("there is no job {number}; {count} are counted from 0"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::recipe::Recipe, *};

    #[test]
    fn jobs_of_one_mesh_and_level_have_one_object_and_other_hashes_are_errors() {
        let home = std::env::temp_dir().join(format!("kintsugi-single-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let file = home.join("recipe.json");
        let jobs = "meshes = ['builtin:box', 'builtin:brick']\nlevels = [3, 4]\nfracture.seeds = 3\n\
                    [dataset]\nbreaks = 2\npoints = 5\nkeep = ['points']\n";
        let breaks = vec![Some("0".repeat(16)); 8];
        Recipe::new("jobs.toml".into(), jobs.into(), Vec::new(), breaks).write(&file).unwrap();
        let maker = RecipeMaker::read(&file, None).unwrap();
        let keys: Vec<_> = (0..8).map(|job| maker.object_of(job).unwrap()).collect();
        assert_eq!(keys[0], ("builtin:box".to_owned(), 3, Measures::default()));
        for (a, key) in keys.iter().enumerate() {
            for (b, other) in keys.iter().enumerate() {
                assert_eq!(key == other, a / 2 == b / 2, "{a} {b}");
            }
        }
        assert!(maker.object_of(8).is_err());
        assert_eq!(maker.mesh(5).unwrap(), PathBuf::from("builtin:brick"));
        let object = Object::open("builtin:box", 3).unwrap();
        let error = maker.make(1, &object, &Engine::cores(), &home.join("1")).unwrap_err().to_string();
        assert!(error.contains("everyday/box/fractured_1") && error.contains("another hash"), "{error}");
        assert!(home.join("1/arrays/everyday/box/fractured_1/pieces.npz").is_file());
        std::fs::write(home.join("jobs.toml"), jobs).unwrap();
        assert!(RecipeMaker::read(&home.join("jobs.toml"), None).is_err());
        std::fs::remove_dir_all(home).unwrap();
    }
}
