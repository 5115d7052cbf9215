//! The job file of a sweep, as TOML, to a list of jobs.
//!
//! In: lists of meshes, levels and random seeds, a `[fracture]` table as a scene's body has it, a `[grid]` table with
//! a list where `[fracture]` has a value, and `[[job]]` tables. Out: every combination of the lists, then those
//! single jobs.

use std::path::Path;

use glam::DVec3;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use toml::{Table, Value};

use crate::{
    cli::{CliError, input::about},
    files,
    fracture::FractureParams,
    measures::Measures,
    mesh::{Units, Up, digest::sha256, length_in_metres},
    scene::variants::put,
};

/// Size limit of a job file, bytes.
const LARGEST: u64 = 32 << 20;
/// Most jobs per file: the jobs and, at the end, all rows of the table are held in memory, 20 KiB a job where each has a row
/// of 1.4 KB in the CSV.
pub const MOST_JOBS: usize = 200_000;
/// Default leaf level, as in `kintsugi fracture`.
const LEVEL: u32 = 8;

/// One break.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// Mesh file, as the job file names it, or `builtin:NAME`.
    pub mesh: String,
    #[serde(flatten)]
    pub how: How,
    /// Leaf level.
    pub level: u32,
    /// Fracture parameters; a file of seeds is named as in the job file.
    pub params: FractureParams,
}

/// Options of `kintsugi fracture` besides the fracture parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct How {
    /// Axis of the file that points up.
    up: Option<Up>,
    /// Unit of the file's lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    units: Option<Units>,
    /// Widest edge of a voxel, m, instead of the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    voxel_size: Option<f64>,
    /// Point of impact, mesh units.
    pub impact: Option<DVec3>,
    /// Direction of the blow.
    pub direction: Option<DVec3>,
    /// How many times the largest pieces break.
    generations: Option<u32>,
}

impl How {
    pub fn up(&self) -> Up {
        self.up.unwrap_or_default()
    }

    /// What the job file says of the mesh file.
    pub fn measures(&self) -> Measures {
        Measures { units: self.units, up: self.up, voxel_size: self.voxel_size }
    }

    /// What tells the objects of one mesh file and level apart.
    pub fn object_key(&self) -> (Up, Option<Units>, Option<u64>) {
        (self.up(), self.units, self.voxel_size.map(f64::to_bits))
    }

    pub fn generations(&self) -> u32 {
        self.generations.unwrap_or(1)
    }

    /// `self`, with missing values taken from `other`.
    fn or(self, other: Self) -> Self {
        Self {
            up: self.up.or(other.up),
            units: self.units.or(other.units),
            voxel_size: self.voxel_size.or(other.voxel_size),
            impact: self.impact.or(other.impact),
            direction: self.direction.or(other.direction),
            generations: self.generations.or(other.generations),
        }
    }
}

/// The job file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    #[serde(default)]
    meshes: Vec<String>,
    levels: Option<Vec<u32>>,
    rng: Option<Vec<u64>>,
    up: Option<Up>,
    units: Option<Units>,
    #[serde(default, deserialize_with = "length_in_metres")]
    voxel_size: Option<f64>,
    impact: Option<DVec3>,
    direction: Option<DVec3>,
    generations: Option<u32>,
    #[serde(default)]
    fracture: Table,
    #[serde(default)]
    grid: Table,
    #[serde(default)]
    job: Vec<SingleJob>,
    /// How `kintsugi dataset` makes a data set of it.
    pub dataset: Option<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SingleJob {
    mesh: String,
    level: Option<u32>,
    rng: Option<u64>,
    up: Option<Up>,
    units: Option<Units>,
    #[serde(default, deserialize_with = "length_in_metres")]
    voxel_size: Option<f64>,
    impact: Option<DVec3>,
    direction: Option<DVec3>,
    generations: Option<u32>,
    #[serde(default)]
    fracture: Table,
}

/// Path of a parameter in the fracture table, and the values that it takes.
struct Axis {
    path: Vec<String>,
    values: Vec<Value>,
}

/// Reads a job file.
///
/// # Errors
/// [`CliError::Input`] for a file that cannot be read, unknown names, values of another type, no jobs or too many.
pub fn read_jobs(path: &Path) -> Result<Vec<Job>, CliError> {
    parse_jobs(&read_text(path)?).map_err(|message| about(path, message))
}

/// The text of a job file.
///
/// # Errors
/// [`CliError::Input`] for a file that cannot be read or is no text.
pub fn read_text(path: &Path) -> Result<String, CliError> {
    let bytes = files::read(path, LARGEST).map_err(|why| about(path, format!("the job file {why}")))?;
    String::from_utf8(bytes).map_err(|_| about(path, "this is not text; a job file is TOML"))
}

fn parse_jobs(text: &str) -> Result<Vec<Job>, String> {
    let file = JobFile::parse(text)?;
    if file.dataset.is_some() {
        return Err("it has a table [dataset]; start `kintsugi dataset`, or take the table out".into());
    }
    file.jobs(None)
}

impl JobFile {
    /// The job file of this text.
    ///
    /// # Errors
    /// A line that says what is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse_toml(text)
    }

    /// Its jobs; with `breaks`, the random seeds are 1 to that number.
    ///
    /// # Errors
    /// A line that says what cannot be meant.
    pub fn jobs(mut self, breaks: Option<u64>) -> Result<Vec<Job>, String> {
        if let Some(breaks) = breaks {
            if self.rng.is_some() || self.fracture.contains_key("rng") || self.grid.contains_key("rng") {
                return Err("random seeds are given twice; keep either `rng` or `breaks` of [dataset]".into());
            }
            self.rng = Some((1..=breaks.min(MOST_JOBS as u64 + 1)).collect());
        }
        jobs_of(self)
    }
}

/// What a text of TOML says.
///
/// # Errors
/// A line that says what is wrong with it, and where.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("line {line}: {}", e.message().replace('\n', " "))
    })
}

/// Every combination of the lists of a job file, then its single jobs.
fn jobs_of(file: JobFile) -> Result<Vec<Job>, String> {
    let axes = axes(&file.grid)?;
    let lists =
        [file.meshes.len(), file.levels.as_ref().map_or(1, Vec::len), file.rng.as_ref().map_or(1, Vec::len)];
    let counts = lists.into_iter().chain(axes.iter().map(|axis| axis.values.len())).chain([1]);
    let product = counts.fold(1usize, usize::saturating_mul);
    let all = product.saturating_add(file.job.len());
    if all > MOST_JOBS {
        return Err(format!("it has {all} jobs; a file may have {MOST_JOBS}, so split it into several"));
    }
    if file.rng.is_some() && (file.fracture.contains_key("rng") || file.grid.contains_key("rng")) {
        return Err("rng is given twice; keep the list at the top".into());
    }
    if file.voxel_size.is_some() && file.levels.is_some() {
        return Err("voxel_size decides the level, so give either it or `levels`".into());
    }
    let shared = How {
        up: file.up,
        units: file.units,
        voxel_size: file.voxel_size,
        impact: file.impact,
        direction: file.direction,
        generations: file.generations,
    };
    let mut jobs = Vec::with_capacity(all);
    let rngs = file.rng.map_or_else(|| vec![None], |list| list.into_iter().map(Some).collect());
    for mesh in &file.meshes {
        for level in file.levels.as_deref().unwrap_or(&[LEVEL]) {
            for combination in combinations(&axes) {
                let mut table = file.fracture.clone();
                for (axis, value) in axes.iter().zip(combination) {
                    put(&mut table, &axis.path, value.clone());
                }
                let params = params(table, jobs.len())?;
                jobs.extend(rngs.iter().map(|rng| Job {
                    mesh: mesh.clone(),
                    how: shared,
                    level: *level,
                    params: FractureParams { rng: rng.unwrap_or(params.rng), ..params.clone() },
                }));
            }
        }
    }
    for single in file.job {
        let mut table = file.fracture.clone();
        merge(&mut table, single.fracture);
        let params = params(table, jobs.len())?;
        if single.voxel_size.is_some() && single.level.is_some() {
            let number = jobs.len();
            return Err(format!("job {number}: voxel_size decides the level, so give either it or `level`"));
        }
        // A level of its own replaces the shared edge of a voxel.
        let shared = How { voxel_size: shared.voxel_size.filter(|_| single.level.is_none()), ..shared };
        let own = How {
            up: single.up,
            units: single.units,
            voxel_size: single.voxel_size,
            impact: single.impact,
            direction: single.direction,
            generations: single.generations,
        };
        jobs.push(Job {
            mesh: single.mesh,
            how: own.or(shared),
            level: single.level.unwrap_or(LEVEL),
            params: FractureParams { rng: single.rng.unwrap_or(params.rng), ..params },
        });
    }
    if jobs.is_empty() {
        return Err(
            "it has no jobs; give `meshes = [\"builtin:vase\"]`, or tables [[job]] with a mesh".into()
        );
    }
    Ok(jobs)
}

/// Digest that identifies the jobs of a file.
pub fn digest(jobs: &[Job]) -> String {
    // Serialising plain data with string keys cannot fail; an error would give the digest of an empty list.
    sha256(&serde_json::to_vec(jobs).unwrap_or_default())
}

fn params(table: Table, job: usize) -> Result<FractureParams, String> {
    FractureParams::deserialize(Value::Table(table))
        .map_err(|e| format!("fracture of job {job}: {}", e.message().replace('\n', " ")))
}

/// The lists of a grid, by parameter.
fn axes(grid: &Table) -> Result<Vec<Axis>, String> {
    let mut found = Vec::new();
    let mut below = vec![(Vec::new(), grid)];
    while let Some((path, table)) = below.pop() {
        for (name, value) in table {
            let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            match value {
                Value::Table(inner) => below.push((path, inner)),
                Value::Array(values) if values.is_empty() => {
                    return Err(format!("grid.{} has no values", path.join(".")));
                }
                Value::Array(values) => found.push(Axis { path, values: values.clone() }),
                _ => {
                    let name = path.join(".");
                    return Err(format!("grid.{name} is no list; a single value belongs into [fracture]"));
                }
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// All combinations of one value per axis; the last axis changes fastest.
fn combinations(axes: &[Axis]) -> Vec<Vec<&Value>> {
    let mut all: Vec<Vec<&Value>> = vec![Vec::new()];
    for axis in axes {
        let with = |chosen: Vec<_>| axis.values.iter().map(move |value| [&chosen[..], &[value]].concat());
        all = all.into_iter().flat_map(with).collect();
    }
    all
}

/// Overrides `table` with the values of `own`.
fn merge(table: &mut Table, own: Table) {
    for (name, value) in own {
        match (table.get_mut(&name).and_then(Value::as_table_mut), value) {
            (Some(there), Value::Table(inner)) => merge(there, inner),
            (_, value) => drop(table.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::Surface;

    fn error(text: &str) -> String {
        parse_jobs(text).unwrap_err()
    }

    #[test]
    fn a_grid_is_the_product_of_its_lists_and_the_random_seed_changes_fastest() {
        let jobs = parse_jobs(
            "meshes = ['builtin:box', 'a.obj']\nlevels = [4, 5]\nrng = [7, 8]\n[fracture]\nseeds = 12\n\
             crack.strength = 0.5\n[grid]\nsurface = ['planar', 'dusty']\nradii = [[0.1], [0.2, 0.4]]\n\
             crack.dusty.width = [1, 2.5]\n",
        )
        .unwrap();
        assert_eq!(jobs.len(), 2 * 2 * 2 * 2 * 2 * 2);
        let first: Vec<u64> = jobs.iter().take(4).map(|job| job.params.rng).collect();
        assert_eq!(first, [7, 8, 7, 8]);
        assert!(jobs[..32].iter().all(|job| job.mesh == "builtin:box" && job.params.seeds == 12));
        assert!(jobs[..16].iter().all(|job| job.level == 4));
        let last = &jobs[63];
        assert_eq!((last.mesh.as_str(), last.level, last.params.rng), ("a.obj", 5, 8));
        assert_eq!((last.params.surface, last.params.crack.dusty.width), (Surface::Dusty, 2.5));
        assert_eq!((&last.params.radii[..], last.params.crack.strength), (&[0.2, 0.4][..], 0.5));
        let mut kinds: Vec<String> = jobs.iter().map(|job| serde_json::to_string(job).unwrap()).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), 64, "no combination twice");
    }

    #[test]
    fn the_examples_are_as_many_jobs_as_they_say() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let count = |name: &str| read_jobs(&examples.join(name)).unwrap().len();
        assert_eq!((count("sweep.toml"), count("study.toml")), (2 * 2 * 2 * 5 + 1, 144));
    }

    #[test]
    fn single_jobs_follow_the_grid_and_change_what_is_shared() {
        let jobs = parse_jobs(
            "meshes = ['builtin:box']\nup = 'z'\ngenerations = 2\n[fracture]\nseeds = 9\ncrack.strength = 0.5\n\
             [[job]]\nmesh = 'builtin:vase'\nlevel = 6\nrng = 3\nup = 'y'\nimpact = [0, 1, 0]\n\
             [job.fracture]\ncrack.noise.octaves = 2\n",
        )
        .unwrap();
        assert_eq!((jobs.len(), jobs[0].level, jobs[0].how.up()), (2, 8, Up::Z));
        let single = &jobs[1];
        assert_eq!((single.level, single.params.rng, single.params.seeds), (6, 3, 9));
        assert_eq!((single.how.up(), single.how.generations()), (Up::Y, 2));
        assert_eq!(single.how.impact, Some(DVec3::Y));
        assert_eq!((single.params.crack.strength, single.params.crack.noise.octaves), (0.5, 2));
    }

    #[test]
    fn jobs_of_another_file_have_another_digest() {
        let of = |text: &str| digest(&parse_jobs(text).unwrap());
        let one = of("meshes = ['builtin:box']\nrng = [1, 2]");
        assert_eq!(one, of("rng = [1, 2]\nmeshes = ['builtin:box']\n# the same jobs"));
        for other in [
            "meshes = ['builtin:vase']\nrng = [1, 2]",
            "meshes = ['builtin:box']\nrng = [2, 1]",
            "meshes = ['builtin:box']\nrng = [1, 2]\nup = 'z'",
            "meshes = ['builtin:box']\nrng = [1, 2]\nfracture.seeds = 41",
        ] {
            assert_ne!(one, of(other), "{other}");
        }
    }

    #[test]
    fn a_data_set_is_of_another_command_and_may_count_its_breaks() {
        let text = "meshes = ['a.obj', 'b.obj']\n[dataset]\nname = 'jars'\n";
        assert!(error(text).contains("`kintsugi dataset`"));
        let jobs = JobFile::parse(text).unwrap().jobs(Some(3)).unwrap();
        let seeds: Vec<u64> = jobs.iter().map(|job| job.params.rng).collect();
        assert_eq!(seeds, [1, 2, 3, 1, 2, 3]);
        let twice = JobFile::parse(&format!("rng = [7]\n{text}")).unwrap().jobs(Some(3)).unwrap_err();
        assert!(twice.contains("given twice"), "{twice}");
        let many = JobFile::parse(text).unwrap().jobs(Some(u64::MAX)).unwrap_err();
        assert!(many.contains("a file may have"), "{many}");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert!(error("").contains("no jobs"));
        assert!(error("meshes = ['a.obj']\nsedes = 3").contains("line 2: unknown field `sedes`"));
        assert!(error("meshes = ['a.obj']\n[fracture]\nsedes = 3").contains("unknown field `sedes`"));
        assert!(error("meshes = ['a.obj']\n[grid]\nseeds = 3").contains("grid.seeds is no list"));
        assert!(error("meshes = ['a.obj']\n[grid]\nseeds = []").contains("grid.seeds has no values"));
        assert!(error("meshes = ['a.obj']\n[grid]\nseeds = ['x']").contains("fracture of job 0"));
        assert!(error("meshes = ['a.obj']\nrng = [1]\n[grid]\nrng = [1, 2]").contains("rng is given twice"));
        let many = format!("meshes = ['a.obj']\nrng = {:?}", vec![1; MOST_JOBS + 1]);
        assert!(error(&many).contains("200001 jobs"));
        let wide = format!(
            "meshes = ['a']\n[grid]\n{}",
            (0..40).fold(String::new(), |text, i| { text + &format!("options.o{i} = [1, 2, 3]\n") })
        );
        assert!(error(&wide).contains("a file may have"));
    }

    #[test]
    fn units_and_edges_are_shared_and_a_level_replaces_the_edge() {
        let text = "units = 'mm'\nvoxel_size = '2mm'\nmeshes = ['a.obj']\n[[job]]\nmesh = 'b.obj'\nunits = 'cm'\nup = 'z'\n\
                    [[job]]\nmesh = 'b.obj'\nlevel = 5\n";
        let measures: Vec<Measures> =
            parse_jobs(text).unwrap().iter().map(|job| job.how.measures()).collect();
        let of = |units, up, voxel_size| Measures { units: Some(units), up, voxel_size };
        let expected = [
            of(Units::Mm, None, Some(0.002)),
            of(Units::Cm, Some(Up::Z), Some(0.002)),
            of(Units::Mm, None, None),
        ];
        assert_eq!(measures, expected);
        let twice = "voxel_size = 0.1\nlevels = [3]\nmeshes = ['a.obj']\n";
        assert!(parse_jobs(twice).is_err_and(|why| why.contains("either it or `levels`")));
        assert!(parse_jobs("voxel_size = '2'\nmeshes = ['a']\n").is_err_and(|why| why.contains("as in 2mm")));
        // A file without them is told by the same digest as before.
        let plain = serde_json::to_string(&parse_jobs("meshes = ['a.obj']\n").unwrap()).unwrap();
        assert!(!plain.contains("units") && !plain.contains("voxel_size"), "{plain}");
    }
}
