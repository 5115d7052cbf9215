//! Queue of objects that the user adds to the open scene: each is imported while the scene goes on.

use std::sync::Arc;

use crate::scene::{ImportJob, Imported, ReadMeshes, SandboxError, Scene, SceneBody, import::Known};

/// The queue.
#[derive(Default)]
pub(in crate::scene) struct Adding {
    waiting: Vec<(SceneBody, ReadMeshes)>,
    import: Option<ImportJob>,
}

impl Adding {
    /// Whether objects wait to be added.
    pub fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Adds an object; a mesh in `meshes` is not read again.
    pub fn push(&mut self, body: SceneBody, meshes: ReadMeshes) {
        self.waiting.push((body, meshes));
    }

    /// Cancels all that was not added yet.
    pub fn cancel(&mut self) {
        if let Some(job) = self.import.take() {
            job.progress.cancel();
        }
        self.waiting.clear();
    }

    /// Label and fraction done.
    pub fn progress(&self) -> Option<(&str, f32)> {
        self.import.as_ref().map(|job| (job.label.as_str(), job.progress.get()))
    }

    /// The first object in the queue once it is imported, or the objects of its file where those are apart, as they stand to
    /// each other in `open`. An object whose mesh was not given is read and voxelised even if it is `known`, since its file may
    /// have changed. Empty as long as nothing is imported.
    ///
    /// # Errors
    /// [`SandboxError::Import`]; that object is no longer in the queue then.
    pub fn next(&mut self, known: &Known, open: &Scene) -> Result<Vec<(SceneBody, Imported)>, SandboxError> {
        let Some((body, meshes)) = self.waiting.first_mut() else { return Ok(Vec::new()) };
        let Some(job) = &self.import else {
            let known = if meshes.is_empty() { Known::default() } else { Arc::clone(known) };
            let Scene { floor_height, meters_per_unit, .. } = *open;
            let alone =
                Scene { bodies: vec![body.clone()], floor_height, meters_per_unit, ..Scene::default() };
            self.import = Some(ImportJob::of_scene(alone, std::mem::take(meshes), known));
            return Ok(Vec::new());
        };
        let Some(result) = job.poll_scene() else { return Ok(Vec::new()) };
        self.import = None;
        self.waiting.remove(0);
        let (scene, imported) = result?;
        Ok(scene.bodies.into_iter().zip(imported).collect())
    }
}
