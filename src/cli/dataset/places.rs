//! Names and places of what is in a set: its objects, and the folder of each break.
//!
//! In: the jobs, and the contents of the mesh files. Out: an object for each mesh, with a name of its own and the part of
//! the set that it belongs to; `NAME/OBJECT/fractured_7` for each job. Names follow from the jobs alone, the parts from the
//! contents of single meshes, so that another mesh in the job file moves no object to another part.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    meshes::Contents,
    options::{Options, Split},
};
use crate::{cli::sweep::jobs::Job, import::display_name, mesh::digest::sha256};

/// An object of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetObject {
    /// The mesh, as the job file names it.
    pub mesh: String,
    /// Its name in the set.
    pub name: String,
    /// The part of the set that it belongs to.
    pub split: &'static str,
    /// The contents of its file; `None` for a built-in shape and for a file that cannot be read.
    pub contents: Option<Contents>,
}

/// Where everything lies.
pub struct Places {
    category: String,
    /// The objects, in the order of the jobs.
    pub objects: Vec<SetObject>,
    /// The object of each job, and the number of the break among those of the object.
    of_job: Vec<(usize, usize)>,
}

impl Places {
    /// Of these jobs; `contents` says what the file of a mesh holds.
    pub fn new(jobs: &[Job], options: &Options, contents: impl Fn(&str) -> Option<Contents>) -> Self {
        let mut places = Self {
            category: options.name.clone(),
            objects: Vec::new(),
            of_job: Vec::with_capacity(jobs.len()),
        };
        let (mut of_mesh, mut taken) = (BTreeMap::<&str, usize>::new(), BTreeSet::new());
        let mut breaks: Vec<usize> = Vec::new();
        for job in jobs {
            let object = *of_mesh.entry(&job.mesh).or_insert_with(|| {
                let contents = contents(&job.mesh);
                let split = part_of(&job.mesh, contents.as_ref(), &options.split);
                let name = free_name(&plain_name(&job.mesh), &mut taken);
                places.objects.push(SetObject { mesh: job.mesh.clone(), name, split, contents });
                breaks.push(0);
                places.objects.len() - 1
            });
            places.of_job.push((object, breaks[object]));
            breaks[object] += 1;
        }
        places
    }

    /// The object of a job.
    pub fn object(&self, job: usize) -> &SetObject {
        &self.objects[self.of_job[job].0]
    }

    /// The place of a job's break below the set's folder, with slashes.
    pub fn path(&self, job: usize) -> String {
        format!("{}/fractured_{}", self.folder(self.object(job)), self.of_job[job].1)
    }

    /// The folder of an object below the set's folder, with slashes.
    pub fn folder(&self, object: &SetObject) -> String {
        format!("{}/{}", self.category, object.name)
    }
}

/// The name of a mesh in letters, digits, `-` and `_`.
fn plain_name(mesh: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = display_name(mesh).chars().map(plain).take(100).collect();
    if name.is_empty() { "object".into() } else { name }
}

/// The name, or with -2, -3, ... the first that is free. Some systems take large and small letters for the same.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|k| format!("{name}-{k}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    // There are more names than objects.
    all.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default()
}

/// The part of the set that a mesh belongs to: its contents draw it, or its name where it has none.
fn part_of(mesh: &str, contents: Option<&Contents>, split: &Split) -> &'static str {
    let drawn =
        sha256(format!("split {}", contents.map_or(mesh, |contents| contents.sha256.as_str())).as_bytes());
    let bits = u64::from_str_radix(&drawn[..16], 16).unwrap_or_default();
    split.part((bits >> 11) as f64 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::sweep::jobs::{How, JobFile},
        fracture::FractureParams,
    };

    fn jobs(meshes: &[&str]) -> Vec<Job> {
        let job = |mesh: &&str| Job {
            mesh: (*mesh).into(),
            how: How::default(),
            level: 4,
            params: FractureParams::default(),
        };
        meshes.iter().map(job).collect()
    }

    #[test]
    fn each_mesh_is_an_object_with_a_name_of_its_own() {
        let jobs =
            jobs(&["a/Vase.obj", "b/vase.ply", "a/Vase.obj", "builtin:box", "c/vase 2.stl", "vase-2.obj"]);
        let places = Places::new(&jobs, &Options::default(), |_| None);
        let names: Vec<&str> = places.objects.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(names, ["Vase", "vase-2", "box", "vase_2", "vase-2-2"]);
        let paths: Vec<String> = (0..jobs.len()).map(|job| places.path(job)).collect();
        assert_eq!(paths[..4].join(" "), {
            "everyday/Vase/fractured_0 everyday/vase-2/fractured_0 everyday/Vase/fractured_1 everyday/box/fractured_0"
        });
        assert_eq!(places.object(2), &places.objects[0]);
        assert_eq!([plain_name("ü.obj"), plain_name("a b.c.obj")], ["_", "a_b_c"]);
    }

    #[test]
    fn another_mesh_moves_no_object_to_another_part() {
        let contents = |mesh: &str| {
            let sha256 = sha256(mesh.as_bytes());
            (!mesh.starts_with("builtin")).then_some(Contents { sha256, bytes: 1 })
        };
        let names: Vec<String> = (0..200).map(|k| format!("m{k}.obj")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let parts = |meshes: &[&str]| -> BTreeMap<String, &'static str> {
            let places = Places::new(&jobs(meshes), &Options::default(), contents);
            places.objects.iter().map(|object| (object.mesh.clone(), object.split)).collect()
        };
        let (few, many) = (parts(&all[50..150]), parts(&all));
        assert!(few.iter().all(|(mesh, part)| many[mesh] == *part));
        let train = many.values().filter(|part| **part == "train").count();
        // Four standard deviations of the binomial distribution round 160.
        assert!((137..=183).contains(&train), "{train} of 200");
        assert!(["val", "test"].iter().all(|part| many.values().any(|there| there == part)));
        // The same file under another name is of the same part.
        let same = |_: &str| Some(Contents { sha256: "ab".into(), bytes: 1 });
        let places = Places::new(&jobs(&["x.obj", "y.obj", "z.obj"]), &Options::default(), same);
        assert!(places.objects.iter().all(|object| object.split == places.objects[0].split));
    }

    #[test]
    fn the_example_is_the_set_that_it_says() {
        let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/dataset.toml");
        let file = JobFile::parse(&std::fs::read_to_string(example).unwrap()).unwrap();
        let options = Options::read(file.dataset.clone()).unwrap();
        let jobs = file.jobs(options.breaks).unwrap();
        let places = Places::new(&jobs, &options, |_| None);
        assert_eq!((jobs.len(), places.objects.len()), (4 * 10, 4));
        assert_eq!(places.path(13), "everyday/statue/fractured_3");
    }
}
