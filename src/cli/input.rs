//! Reads FILE as an object through [`crate::import`], with stages, warnings and one-line errors. Uses no GPU.

use std::{collections::BTreeSet, path::Path};

use crate::{
    files::as_text,
    import::{ReadMesh, read},
    mesh::HealthReport,
    scene::{ReadScene, Scene, load_scene_file},
};

use super::{CliError, progress::Reporter};

/// Option to play a scene at a coarser level.
#[derive(clap::Args, Clone, Copy, Debug, Default, serde::Serialize)]
pub struct CoarserArgs {
    /// Play a scene this many octree levels coarser than it says
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=9))]
    pub coarser: u32,
}

pub use crate::facade::Object;

/// Whether `file` has a scene's extension.
pub fn is_scene(file: &Path) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// Prefixes a message with the file's name unless it has it.
pub fn about(file: &Path, message: impl std::fmt::Display) -> CliError {
    let (file, message) = (file.display().to_string(), message.to_string());
    let line = if message.contains(&file) { message } else { format!("{file}: {message}") };
    CliError::Input(line)
}

/// Reads a mesh; defects become warnings.
///
/// # Errors
/// [`CliError::Input`].
pub fn load_mesh(file: &Path, reporter: &Reporter) -> Result<ReadMesh, CliError> {
    if is_scene(file) {
        return Err(about(file, "this command takes a mesh, not a scene; `kintsugi simulate` runs scenes"));
    }
    let name = as_text(file).map_err(|why| about(file, why))?;
    let mesh = reporter.stage("read", |_| read(name)).map_err(|e| about(file, e))?;
    for warning in &mesh.warnings {
        reporter.warn(&format!("{}: {warning}", file.display()));
    }
    Ok(mesh)
}

/// A mesh for a command that takes its file as one object, whatever it holds. Where it holds several that do not touch, a
/// warning, which reports have too, says how many became one.
pub fn joined(mut mesh: ReadMesh, reporter: &Reporter) -> ReadMesh {
    if mesh.mesh.parts.len() > 1
        && let Some(line) =
            reporter.stage("tell objects apart", |progress| mesh.mesh.joined_objects(progress))
    {
        let line = format!("{line}; for one of them give a file that holds it alone");
        reporter.warn(&format!("{}: {line}", mesh.file));
        mesh.warnings.push(line);
    }
    mesh
}

/// Voxelises a mesh; findings about it become warnings, as they stand in report and window.
///
/// # Errors
/// [`CliError::Input`].
pub fn voxelise(mesh: &ReadMesh, level: u32, reporter: &Reporter) -> Result<Object, CliError> {
    let object = Object::of(mesh, level, reporter).map_err(|error| about(Path::new(&mesh.file), error))?;
    tell_findings([(mesh.file.as_str(), &object.health)], reporter);
    Ok(object)
}

/// Tells of the findings about meshes, each by its file, and of equal ones once.
pub fn tell_findings<'a>(meshes: impl IntoIterator<Item = (&'a str, &'a HealthReport)>, reporter: &Reporter) {
    let lines = meshes
        .into_iter()
        .flat_map(|(file, health)| health.notes.iter().map(move |note| format!("{file}: {note}")));
    lines.collect::<BTreeSet<String>>().iter().for_each(|line| reporter.warn(line));
}

/// Reads a scene and every mesh that it names, so that a bad mesh is rejected early. A mesh file becomes a scene in
/// which the mesh stands on the floor.
///
/// # Errors
/// [`CliError::Input`].
pub fn read_scene(
    file: &Path,
    level: u32,
    coarser: &CoarserArgs,
    reporter: &Reporter,
) -> Result<ReadScene, CliError> {
    let (scene, read_from) = if is_scene(file) {
        let (scene, read_from) = load_scene_file(file).map_err(|e| about(file, e))?;
        // A coarser scene is another one, which is not to be saved over the file.
        (scene.coarser(coarser.coarser), Some(read_from).filter(|_| coarser.coarser == 0))
    } else {
        (Scene::of_mesh(as_text(file).map_err(|why| about(file, why))?, level), None)
    };
    if scene.bodies.is_empty() {
        return Err(about(file, "the scene has no [[body]]; add one with a file"));
    }
    scene.stand_ins().iter().for_each(|line| reporter.warn(line));
    let warn = |name: &str, warning: &str| reporter.warn(&format!("{name}: {warning}"));
    let read = reporter
        .stage("read", |_| ReadScene::read(scene, warn))
        .map_err(|(name, error)| about(Path::new(&name), error))?;
    // A mesh file gets its length before its objects are told apart.
    let read = if is_scene(file) { read.parted().map_err(|error| about(file, error))? } else { read };
    Ok(ReadScene { file: read_from, ..read })
}
