//! Shipped scenes in the folder of an entry.
//!
//! In: a scene's name, the folder of `--meshes`. Out: a copy of the scene with the meshes that it names beside it, and
//! which object it shows: the document's, or the built-in shape that stands in for it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::meshes::Meshes;
use crate::{cli::CliError, export::ExportError, scene::shipped_scenes};

/// A scene in the folder of an entry.
#[derive(Debug, Default)]
pub struct Scene {
    /// Its file's name.
    pub file: String,
    /// Mesh files that it names and that are nowhere, each with the shape that stands in for it.
    missing: Vec<(String, String)>,
    /// Objects of the documents, by the counts of their meshes; `None` for a mesh that is none.
    objects: Vec<Option<&'static str>>,
}

impl Scene {
    /// Copies a shipped scene, changed by `change`. The second part of the answer are copies of the user's meshes, which
    /// do not belong to the results.
    pub(super) fn copy(
        name: &str,
        folder: &Path,
        meshes: &Meshes,
        change: impl FnOnce(String) -> String,
    ) -> Result<(Self, Vec<PathBuf>), CliError> {
        let shipped = shipped_scenes().ok_or_else(|| {
            CliError::Input(
                "the shipped scenes are not beside the program; run it where assets/scenes is".into(),
            )
        })?;
        let file = format!("{name}.toml");
        let text = fs::read_to_string(shipped.join(&file))
            .map_err(|e| CliError::Input(format!("{file}: this scene is not among the shipped ones: {e}")))?;
        let mut text = change(text);
        let mut scene = Self { file: file.clone(), ..Self::default() };
        let mut borrowed = Vec::new();
        for (mesh, stand_in) in meshes_of(&text) {
            if let Some(own) = meshes.find(&mesh) {
                scene.objects.push(meshes.object(&mesh)?);
                // Its ending may be another one than in the scene.
                let target = folder.join(&mesh).with_extension(own.extension().unwrap_or_default());
                let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
                text = text.replace(&format!("\"{mesh}\""), &format!("\"{name}\""));
                copy(&own, &target)?;
                borrowed.push(target);
            } else if shipped.join(&mesh).is_file() {
                scene.objects.push(None);
                copy(&shipped.join(&mesh), &folder.join(&mesh))?;
            } else {
                scene.missing.push((mesh, stand_in));
            }
        }
        let target = folder.join(&file);
        fs::write(&target, text).map_err(|e| ExportError::write(&target, e))?;
        Ok((scene, borrowed))
    }

    /// Whether every mesh in it is this object of a document, so that published figures may stand beside ours.
    #[must_use]
    pub fn shows(&self, object: &str) -> bool {
        let all = self.objects.iter().all(|one| *one == Some(object));
        self.missing.is_empty() && !self.objects.is_empty() && all
    }

    /// Which mesh is missing and what was measured instead; `None` where nothing is.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let (mesh, stand_in) = self.missing.first()?;
        Some(format!(
            "The paper's mesh is missing: `{mesh}` is not in the folder of `--meshes`. The object measured is \
             `{stand_in}`, so no published figure stands beside ours."
        ))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), CliError> {
    Ok(fs::copy(from, to).map(drop).map_err(|e| ExportError::write(to, e))?)
}

/// Mesh files that a scene's bodies name beside it, each once, with its `fallback`.
fn meshes_of(text: &str) -> Vec<(String, String)> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let bodies = table.get("body").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut found: Vec<(String, String)> = Vec::new();
    for body in bodies {
        let text_of = |key: &str| body.get(key).and_then(toml::Value::as_str);
        let Some(file) = text_of("file").filter(|file| !file.starts_with("builtin:")) else { continue };
        if found.iter().all(|(known, _)| known != file) {
            found.push((file.to_owned(), text_of("fallback").unwrap_or("nothing").to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_names_its_meshes_once_and_not_its_built_in_shapes() {
        let text = "[[body]]\nfile = \"a.ply\"\nfallback = \"builtin:statue\"\n[[body]]\nfile = \"a.ply\"\n\
                    [[body]]\nfile = \"builtin:box\"\n";
        assert_eq!(meshes_of(text), [("a.ply".to_owned(), "builtin:statue".to_owned())]);
        assert!(meshes_of("this is no scene").is_empty());
    }

    #[test]
    fn a_scene_shows_an_object_only_where_every_mesh_is_that_object() {
        let of = |objects: &[Option<&'static str>]| Scene { objects: objects.to_vec(), ..Scene::default() };
        assert!(of(&[Some("dragon")]).shows("dragon"));
        // Planted error to see this fail: leave out `!self.objects.is_empty()`.
        assert!(!of(&[]).shows("dragon"), "built-in shapes are no dragons");
        assert!(!of(&[Some("dragon"), None]).shows("dragon") && !of(&[Some("bunny")]).shows("dragon"));
        let missing =
            Scene { missing: vec![("a.ply".into(), "builtin:statue".into())], ..of(&[Some("dragon")]) };
        assert!(!missing.shows("dragon"));
        assert!(
            missing.missing().is_some_and(|line| line.contains("a.ply") && line.contains("builtin:statue"))
        );
    }
}
