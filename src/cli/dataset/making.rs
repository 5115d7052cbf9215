//! One break of a set: its points, arrays and mesh files, put into the set's folder, and its cells of the table.
//!
//! In: a job that was broken and checked. Out: `NAME/OBJECT/fractured_7` with a mesh file for each piece and nothing else,
//! as loaders of the field want it, and `arrays/NAME/OBJECT/fractured_7` with the rest. A break whose checks do not hold
//! is not written.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use glam::DQuat;
use rayon::prelude::*;

use super::{
    arrays::{self, Contents},
    options::{Blow, Keep, Options},
    places::Places,
    random::{blow_on, rotation, seed_of_points},
    statistics::Spread,
    surface::{Surface, is_piece},
};
use crate::{
    cli::{
        CliError,
        input::{Object, about},
        sweep::{
            breaks::{Broken, Task},
            jobs::Job,
            table::Row,
        },
    },
    export::{
        self, Aside, Assembly, Bond, ExportError, Format, MeshKind, SMALLEST_MESH, Watch,
        disk::put_folder,
        touching::{SurfacePoints, pieces_beyond, sample_surface},
    },
    facade::{Pieces, Quiet},
    fracture::Smallest,
    voxelize::Progress,
};

/// Fewest points of a piece that has any, where they are shared out by area.
const FEWEST: usize = 32;
/// Folder of everything but the meshes.
pub const ARRAYS: &str = "arrays";

/// Makes the breaks of a set.
pub struct Making<'a> {
    /// How.
    pub options: &'a Options,
    /// Where everything lies.
    pub places: &'a Places,
    /// The set's folder; `None`: only the digests are wanted.
    pub out: Option<&'a Path>,
}

impl Task for Making<'_> {
    fn prepared(&self, job: &Job, object: &Object) -> Job {
        let mut job = job.clone();
        if self.options.impact == Blow::Surface
            && job.how.impact.is_none()
            && let Some((point, direction)) = blow_on(object, job.params.rng)
        {
            (job.how.impact, job.how.direction) = (Some(point), Some(direction));
        }
        // As exports with meshes do: pieces that are too small for a mesh join a neighbour.
        if self.options.mesh != Some(MeshKind::Voxels) && job.params.smallest.is_none() {
            job.params.smallest = Some(Smallest { voxels: SMALLEST_MESH, ..Smallest::default() });
        }
        job
    }

    fn keep(&mut self, number: usize, broken: &mut Broken) -> Result<Row, CliError> {
        if !broken.report.all_checks_hold() {
            return Ok(self.of_failure(number));
        }
        let made = Made::of(broken, self.options)?;
        let digest = made.digest(self.options);
        let path = self.places.path(number);
        let bytes = match self.out {
            Some(out) => self.write(out, &path, &made, broken)?,
            None => 0,
        };
        let mut row = self.of_failure(number);
        let points: usize = made.points.iter().map(|points| points.positions.len()).sum();
        let mut put = |name: &str, cell: String| drop(row.insert(name.to_owned(), cell));
        put("path", path);
        put("sha256", digest);
        put("points", points.to_string());
        put("adjacencies", made.bonds.len().to_string());
        put("bytes", bytes.to_string());
        put("mesh_triangles", broken.pieces.object().triangles.to_string());
        row.extend(Spread::of(&made.what, &made.bonds, &made.surfaces).cells());
        Ok(row)
    }

    fn of_failure(&self, number: usize) -> Row {
        let object = self.places.object(number);
        let mut row = Row::new();
        row.insert("object".into(), object.name.clone());
        row.insert("split".into(), object.split.to_owned());
        if let Some(contents) = &object.contents {
            row.insert("mesh_file_sha256".into(), contents.sha256.clone());
            row.insert("mesh_file_bytes".into(), contents.bytes.to_string());
        }
        row
    }
}

impl Making<'_> {
    /// Writes a break; the size of what does not depend on times, bytes.
    fn write(&self, out: &Path, path: &str, made: &Made, broken: &mut Broken) -> Result<u64, CliError> {
        let aside = Aside::begin(&out.join(ARRAYS).join(path))?;
        let to_place = |error: ExportError| aside.moved(error);
        let file = aside.path().join(arrays::FILE);
        arrays::write(&file, &made.arrays).map_err(to_place)?;
        let mut bytes = size(&file);
        if self.options.keeps(Keep::Voxels) {
            let watch = Watch::whole(&Progress::default());
            export::write(&made.what, Format::Npz, aside.path(), &watch).map_err(to_place).map_err(own)?;
            bytes += size(&aside.path().join(Format::Npz.file));
        }
        if self.options.keeps(Keep::Report) {
            let report = aside.path().join("report.json");
            broken.report.write(&report, &broken.timings).map_err(to_place)?;
        }
        if self.options.keeps(Keep::Meshes) {
            // Loaders of the field take every file of the folder for a piece, so it has no list of what is in it.
            let meshes = aside.path().join("meshes");
            fs::create_dir(&meshes).map_err(|e| to_place(ExportError::write(&meshes, e)))?;
            let format = self.options.format;
            let all = made.surfaces.par_iter().enumerate();
            all.try_for_each(|(id, surface)| surface.write(&meshes, id, format)).map_err(to_place)?;
            bytes += fs::read_dir(&meshes)
                .into_iter()
                .flatten()
                .filter_map(|entry| entry.ok()?.metadata().ok())
                .map(|about| about.len())
                .sum::<u64>();
            broken.notes.extend(put_meshes(&meshes, &out.join(path), &out.join(ARRAYS).join(path))?);
        }
        broken.notes.extend(aside.finish()?);
        Ok(bytes)
    }
}

/// Moves the folder of a break's meshes into its place. A run that was killed there may have left the same files; what
/// differs from them is kept as `arrays.before`, where no loader takes it for a break, and the answer is a line about it.
fn put_meshes(from: &Path, to: &Path, arrays: &Path) -> Result<Option<String>, CliError> {
    let failed = |e: io::Error| CliError::from(ExportError::write(to, e));
    if to.is_dir() {
        for entry in fs::read_dir(to).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if !is_piece(&name.to_string_lossy()) {
                let name = name.to_string_lossy();
                return Err(about(
                    to,
                    format!("{name} in it is of no data set; take it away, or give --out another place"),
                ));
            }
        }
    }
    let kept = put_folder(from, to, arrays)?;
    Ok(kept.map(|kept| {
        let (to, kept) = (to.display(), arrays.with_file_name(kept.file_name().unwrap_or_default()));
        format!("{to} held other meshes than this break has, which are kept as {}", kept.display())
    }))
}

/// Size of a file, bytes; 0 where there is none.
fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |about| about.len())
}

/// An error of an export; those that concern one break alone end no other.
fn own(error: ExportError) -> CliError {
    match error {
        ExportError::Write { .. } | ExportError::Replaces { .. } => error.into(),
        ExportError::Format { .. }
        | ExportError::Memory(_)
        | ExportError::Draw(_)
        | ExportError::Cancelled
        | ExportError::Stopped(_) => CliError::Input(error.to_string()),
    }
}

/// What a break has beside its report.
struct Made {
    what: Assembly,
    bonds: Vec<Bond>,
    surfaces: Vec<Surface>,
    points: Vec<SurfacePoints>,
    arrays: Vec<export::NamedArray>,
}

impl Made {
    fn of(broken: &mut Broken, options: &Options) -> Result<Self, CliError> {
        let start = std::time::Instant::now();
        let pieces = &broken.pieces;
        let watch = Watch::whole(&Progress::default());
        let mut what = Assembly::of_break(pieces.broken());
        pieces.give_meshes(&mut what, options.mesh, &Quiet)?;
        let meshes = what.prepare(&watch).map_err(own)?;
        let beyond = pieces_beyond(&what, &watch).map_err(own)?;
        let bonds = export::bonds(&what, &watch).map_err(own)?;
        let ids = || (0..what.pieces.len()).into_par_iter();
        let surfaces: Vec<Surface> = ids().map(|id| Surface::of(what.mesh(id).mesh())).collect();
        let rng = pieces.plan().params.rng;
        let counts = if options.has_points() { counts(options, &surfaces) } else { Vec::new() };
        let sample = |(id, count): (usize, &usize)| {
            sample_surface(what.mesh(id).mesh(), *count, seed_of_points(rng, id))
        };
        let points: Vec<SurfacePoints> = counts.par_iter().enumerate().map(sample).collect();
        let pose = |id: usize| if options.start_pose { rotation(rng, id) } else { DQuat::IDENTITY };
        let poses: Vec<DQuat> = (0..what.pieces.len()).map(pose).collect();
        let arrays = arrays::arrays(&Contents {
            what: &what,
            impact: pieces.plan().impact,
            bonds: &bonds,
            surfaces: &surfaces,
            beyond: &beyond,
            points: &points,
            poses: &poses,
            voxels_sha256: &voxels_sha256(pieces)?,
            has_meshes: options.keeps(Keep::Meshes),
            has_points: options.has_points(),
            has_correspondences: options.keeps(Keep::Correspondences),
        });
        broken.report.tell_of_meshes(&what, meshes);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        broken.timings.push(crate::gpu::StageTiming { stage: "meshes and arrays".into(), ms });
        Ok(Self { what, bonds, surfaces, points, arrays })
    }

    fn digest(&self, options: &Options) -> String {
        let mut digest = export::ArrayDigest::default();
        self.arrays.iter().for_each(|array| digest.add(array));
        if options.keeps(Keep::Meshes) {
            self.surfaces.iter().enumerate().for_each(|(id, surface)| surface.hash(id, &mut digest));
        }
        digest.finish()
    }
}

/// The digest of the arrays of voxels.
fn voxels_sha256(pieces: &Pieces) -> Result<String, CliError> {
    pieces.digest().map_err(|error| match error {
        crate::facade::Error::Export(error) => own(error),
        other => other.into(),
    })
}

/// Number of points on each piece.
fn counts(options: &Options, surfaces: &[Surface]) -> Vec<usize> {
    let points = options.points as usize;
    let whole: f64 = surfaces.iter().map(|surface| surface.area[0]).sum();
    let share = |surface: &Surface| {
        if !options.per_area || whole <= 0.0 {
            return points;
        }
        // At most a million, so nothing is cut off.
        ((points as f64 * surface.area[0] / whole).round() as usize).max(FEWEST)
    };
    surfaces.iter().map(share).collect()
}

/// The digest of a break by its files below the set's folder.
///
/// # Errors
/// A line that says which file is missing or damaged.
pub fn digest_of_files(out: &Path, path: &str, options: &Options) -> Result<String, String> {
    let file: PathBuf = out.join(ARRAYS).join(path).join(arrays::FILE);
    let read = arrays::read(&file)?;
    let mut digest = export::ArrayDigest::default();
    read.iter().for_each(|array| digest.add(array));
    if options.keeps(Keep::Meshes) {
        let pieces = read.iter().find(|array| array.name == "piece").and_then(|array| array.shape.first());
        for id in 0..pieces.copied().unwrap_or_default() {
            Surface::read(&out.join(path), id, options.format)?.hash(id, &mut digest);
        }
    }
    Ok(digest.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_as_many_for_each_piece_or_by_area() {
        let surfaces = [1.0, 3.0, 0.001].map(|area| Surface { area: [area, 0.0], ..Surface::default() });
        let of = |per_area| counts(&Options { points: 4001, per_area, ..Options::default() }, &surfaces);
        assert_eq!(of(false), [4001; 3]);
        assert_eq!(of(true), [1000, 3000, FEWEST]);
    }

    #[test]
    fn meshes_take_the_place_of_meshes_alone() {
        let home = std::env::temp_dir().join(format!("kintsugi-put-meshes-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        let to = home.join("everyday/box/fractured_0");
        let put = |text: &str| {
            let from = home.join("from");
            fs::create_dir_all(&from).unwrap();
            fs::write(from.join("piece_0.obj"), text).unwrap();
            put_meshes(&from, &to, &home.join("arrays/everyday/box/fractured_0"))
        };
        assert_eq!(put("first").unwrap(), None);
        assert_eq!(put("first").unwrap(), None, "what a killed run has left is the same");
        fs::write(to.join("piece_1.obj"), "of somebody").unwrap();
        assert!(put("second").unwrap().unwrap().contains("fractured_0.before"));
        let kept = home.join("arrays/everyday/box/fractured_0.before");
        assert_eq!(fs::read_to_string(kept.join("piece_1.obj")).unwrap(), "of somebody");
        assert_eq!(fs::read_to_string(kept.join("piece_0.obj")).unwrap(), "first");
        assert!(put("again").unwrap().unwrap().contains("fractured_0.before-2"));
        assert_eq!(put("second").unwrap().map(|_| ()), Some(()));
        assert_eq!(fs::read_to_string(to.join("piece_0.obj")).unwrap(), "second");
        assert!(!to.join("piece_1.obj").exists());
        fs::write(to.join("notes.txt"), "mine").unwrap();
        let error = put("third").unwrap_err().to_string();
        assert!(error.contains("notes.txt") && to.join("notes.txt").exists(), "{error}");
        fs::remove_dir_all(home).unwrap();
    }
}
