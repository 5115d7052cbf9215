//! Queue of objects that the user adds to the open scene: each is imported while the scene goes on.

use std::sync::Arc;

use crate::scene::{ImportJob, Imported, ReadMeshes, SandboxError, SceneBody, import::Known};

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

    /// The first object in the queue once it is imported. An object whose mesh was not given is read and voxelised even if it
    /// is `known`, since its file may have changed.
    ///
    /// # Errors
    /// [`SandboxError::Import`]; that object is no longer in the queue then.
    pub fn next(&mut self, known: &Known) -> Result<Option<(SceneBody, Imported)>, SandboxError> {
        let Some((body, meshes)) = self.waiting.first_mut() else { return Ok(None) };
        let Some(job) = &self.import else {
            let known = if meshes.is_empty() { Known::default() } else { Arc::clone(known) };
            let bodies = std::slice::from_ref(body);
            self.import = Some(ImportJob::start(bodies, std::mem::take(meshes), known));
            return Ok(None);
        };
        let Some(result) = job.poll() else { return Ok(None) };
        self.import = None;
        let (body, _) = self.waiting.remove(0);
        Ok(result?.into_iter().next().map(|one| (body, one)))
    }
}
