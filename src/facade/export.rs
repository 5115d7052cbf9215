//! Pieces to files.

use std::path::Path;

use super::{Error, Observer, Pieces, Quiet};
use crate::{
    export::{self, Aside, Format, FractureReport, Handover, MeshKind, SMALLEST_MESH, Watch},
    fracture::{FractureParams, Smallest},
    gpu::StageTiming,
    voxelize::Progress,
};

/// What is written of pieces beside `report.json` and `voxels.npz`, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Export {
    /// Formats; [`Format::Npz`] is always written.
    pub formats: Vec<Format>,
    /// Which mesh of a piece goes into formats with meshes; `None`: the object's own triangles cut along the cracks
    /// where its mesh is closed, else smooth ones.
    pub mesh: Option<MeshKind>,
    /// Axes, units, pivots, collision shapes and bonds for another program.
    pub handover: Handover,
    /// What names of pieces begin with: a letter or an underscore, then letters, digits and underscores; `None`: `piece`.
    pub prefix: Option<String>,
}

impl Export {
    /// These formats, with everything else as the program does it without options.
    #[must_use]
    pub fn of(formats: &[Format]) -> Self {
        Self { formats: formats.to_vec(), ..Self::default() }
    }

    /// Whether meshes are made.
    #[must_use]
    pub fn needs_meshes(&self) -> bool {
        self.formats.iter().any(|format| format.has_meshes()) || self.handover.needs_meshes()
    }

    /// Names of the files and folders that are written.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let formats = self.formats.iter().map(|format| format.file);
        formats.chain(export::BESIDE).chain([Format::Npz.file]).collect()
    }

    /// Has pieces that are too small for a mesh join a neighbour, unless `params` say what becomes of small ones; cubes
    /// show any piece.
    pub fn join_crumbs(&self, params: &mut FractureParams) {
        if self.needs_meshes() && self.mesh != Some(MeshKind::Voxels) && params.smallest.is_none() {
            params.smallest = Some(Smallest { voxels: SMALLEST_MESH, ..Smallest::default() });
        }
    }
}

impl Pieces {
    /// Writes the pieces in these formats, `voxels.npz` and `report.json` into `folder`, which is made if it is not
    /// there. All files appear together, or none. docs/files.md describes every file.
    ///
    /// # Errors
    /// [`Error::Export`].
    pub fn export(&self, folder: impl AsRef<Path>, formats: &[Format]) -> Result<FractureReport, Error> {
        self.export_as(folder, &Export::of(formats), &Quiet)
    }

    /// Writes the pieces into `folder` as `export` says.
    ///
    /// # Errors
    /// [`Error::Export`], and [`Error::NotOriginal`] where original meshes are insisted on and cannot be.
    pub fn export_as(
        &self,
        folder: impl AsRef<Path>,
        export: &Export,
        observer: &impl Observer,
    ) -> Result<FractureReport, Error> {
        let aside = Aside::begin(folder.as_ref())?;
        let mut report = self.write(&aside, export, observer)?;
        let steps = &self.broken().steps;
        let timings: Vec<StageTiming> = steps.iter().flat_map(|step| step.result.timings.clone()).collect();
        finish(aside, &mut report, &timings)?.iter().for_each(|note| observer.note(note));
        Ok(report)
    }

    /// Adds the names and origins of the pieces to a report of them without meshes.
    pub(crate) fn tell_of_pieces(&self, report: &mut FractureReport) {
        let mut pieces = self.assembly.clone();
        pieces.sources.insert(None, self.source());
        pieces.find_origins();
        report.tell_of_pieces(&pieces, &[]);
    }

    /// Checks the pieces and writes them into a folder that is not in its place yet; [`finish`] puts it there.
    ///
    /// # Errors
    /// As [`Pieces::export_as`].
    pub(crate) fn write(
        &self,
        aside: &Aside,
        export: &Export,
        observer: &impl Observer,
    ) -> Result<FractureReport, Error> {
        let checks = observer.stage("check", |_| self.check());
        let mut report = self.report(&export.formats, checks);
        let mut pieces = self.assembly.clone();
        pieces.handover = export.handover;
        pieces.sources.insert(None, self.source());
        if export.needs_meshes() {
            self.give_meshes(&mut pieces, export.mesh, observer)?;
        }
        pieces.stand_beside(&self.beside);
        pieces.set_prefix(export.prefix.as_deref());
        if export.needs_meshes() {
            let meshes = observer.stage("look meshes over", |p| pieces.prepare(&Watch::whole(p)))?;
            meshes.note().iter().for_each(|note| observer.note(note));
            report.tell_of_pieces(&pieces, &self.beside);
            report.tell_of_meshes(&pieces, meshes);
        } else {
            pieces.find_origins();
            report.tell_of_pieces(&pieces, &self.beside);
        }
        // Voxels are those of the object that broke, on its grid.
        let alone = (!self.beside.is_empty()).then(|| pieces.without_beside());
        let asked = export.formats.iter().filter(|format| **format != Format::Npz);
        for format in std::iter::once(&Format::Npz).chain(asked) {
            let what = if *format == Format::Npz { format.file } else { format.name };
            let pieces = alone.as_ref().filter(|_| !format.has_meshes()).unwrap_or(&pieces);
            let written = |p: &Progress| export::write(pieces, *format, aside.path(), &Watch::whole(p));
            let notes = observer.stage(&format!("write {what}"), written).map_err(|e| aside.moved(e))?;
            notes.iter().for_each(|note| observer.note(&aside.moved_note(note)));
        }
        if pieces.handover.needs_meshes() {
            let beside = |p: &Progress| export::write_beside(&pieces, aside.path(), &Watch::whole(p));
            observer.stage("write what goes beside", beside).map_err(|e| aside.moved(e))?;
        }
        Ok(report)
    }
}

/// Writes the report beside what was written, and puts the folder in its place. Lines for the user say what was kept of
/// somebody's own.
///
/// # Errors
/// [`Error::Export`].
pub(crate) fn finish(
    aside: Aside,
    report: &mut FractureReport,
    timings: &[StageTiming],
) -> Result<Vec<String>, Error> {
    let files = aside.files();
    report.tell_files(files.map_err(|e| aside.moved(e))?);
    report.write(&aside.path().join("report.json"), timings).map_err(|e| aside.moved(e))?;
    Ok(aside.finish()?)
}
