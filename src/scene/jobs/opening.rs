//! The scene being opened: a worker imports its meshes while the present scene stays open.

use crate::scene::{
    ImportError, ImportJob, Imported, ReadScene, Scene, SceneBody, SceneFile,
    import::{Known, wanted},
    pinned::Carried,
};

/// The scene being imported, if any, and what was imported for the one that is open.
#[derive(Default)]
pub(in crate::scene) struct Opening {
    coming: Option<Coming>,
    known: Known,
}

struct Coming {
    scene: Scene,
    job: ImportJob,
    file: Option<SceneFile>,
    again: Option<Again>,
    imported: Option<Vec<Imported>>,
}

/// The open document, imported in another way; with the cells painted on its first object, and the object whose values
/// the panels show.
pub(in crate::scene) struct Again(pub Option<Carried>, pub Option<usize>);

/// An imported scene.
pub(in crate::scene) struct Ready {
    /// The scene.
    pub scene: Scene,
    /// Imports of [`Scene::objects`].
    pub imported: Vec<Imported>,
    /// The file that it was read from.
    pub file: Option<SceneFile>,
    /// Whether it is the open document, and its painted cells; `None`: another document.
    pub again: Option<Again>,
}

impl Opening {
    /// Starts importing a scene; an import in progress is cancelled.
    pub fn start(&mut self, read: ReadScene, again: Option<Again>) {
        self.cancel();
        let ReadScene { scene, meshes, file } = read;
        // Files of another document may have changed since.
        let known = again.as_ref().map(|_| Known::clone(&self.known)).unwrap_or_default();
        let job = ImportJob::of_scene(scene.clone(), meshes, known);
        self.coming = Some(Coming { scene, job, file, again, imported: None });
    }

    /// Cancels the import.
    pub fn cancel(&mut self) {
        if let Some(coming) = self.coming.take() {
            coming.job.progress.cancel();
        }
    }

    /// The scene that is being imported.
    pub fn scene(&self) -> Option<&Scene> {
        self.coming.as_ref().map(|coming| &coming.scene)
    }

    /// Label and fraction done.
    pub fn progress(&self) -> Option<(&str, f32)> {
        self.coming.as_ref().map(|coming| (coming.job.label.as_str(), coming.job.progress.get()))
    }

    /// Polls the worker; a finished import waits for [`Opening::take`].
    ///
    /// # Errors
    /// [`ImportError`]; nothing is on its way then.
    pub fn poll(&mut self) -> Result<(), ImportError> {
        if let Some(coming) = self.coming.as_mut().filter(|coming| coming.imported.is_none())
            && let Some(result) = coming.job.poll_scene()
        {
            match result {
                Ok((scene, imported)) => {
                    // Objects of a file that are apart have become bodies.
                    coming.scene = scene;
                    coming.imported = Some(imported);
                }
                Err(error) => {
                    self.coming = None;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Whether [`Opening::take`] will return another document.
    pub fn is_another_ready(&self) -> bool {
        self.coming.as_ref().is_some_and(|coming| coming.imported.is_some() && coming.again.is_none())
    }

    /// Whether [`Opening::take`] will return something.
    pub fn is_ready(&self) -> bool {
        self.coming.as_ref().is_some_and(|coming| coming.imported.is_some())
    }

    /// Returns the scene once it is imported.
    pub fn take(&mut self) -> Option<Ready> {
        let Coming { scene, imported, file, again, .. } =
            self.coming.take_if(|coming| coming.imported.is_some())?;
        let imported = imported?;
        self.known = Known::new(scene.objects().map(wanted).zip(imported.iter().cloned()).collect());
        Some(Ready { scene, imported, file, again })
    }

    /// What was imported for the scene that is open.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Remembers what was imported for an object that was added to the open scene.
    pub fn learn(&mut self, body: &SceneBody, one: &Imported) {
        Known::make_mut(&mut self.known).push((wanted(body), one.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn wait(opening: &mut Opening) -> Result<Ready, ImportError> {
        let start = Instant::now();
        loop {
            opening.poll()?;
            if let Some(ready) = opening.take() {
                return Ok(ready);
            }
            assert!(start.elapsed() < Duration::from_secs(60), "it never comes");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_last_scene_asked_for_arrives_with_all_its_bodies() {
        let mut opening = Opening::default();
        assert!(opening.progress().is_none() && opening.take().is_none());
        opening.start(Scene::of_mesh("builtin:vase", 6).into(), None);
        let thrown = crate::scene::Event::Projectile {
            time: 1.0,
            object: None,
            body: Box::new(SceneBody::standing("builtin:sphere", 3)),
        };
        let scene = Scene { events: vec![thrown], ..Scene::of_mesh("builtin:box", 3) };
        opening.start(scene.clone().into(), None);
        assert_eq!(opening.scene(), Some(&scene));
        let ready = wait(&mut opening).unwrap();
        assert_eq!(ready.scene, scene);
        let files: Vec<_> = ready.imported.iter().map(|one| one.file.as_str()).collect();
        assert_eq!(files, ["builtin:box", "builtin:sphere"]);
        assert!(opening.progress().is_none());
    }

    #[test]
    fn what_fails_is_no_longer_on_its_way() {
        let mut opening = Opening::default();
        opening.start(Scene::of_mesh("no such file.obj", 3).into(), None);
        assert!(wait(&mut opening).is_err());
        assert!(opening.scene().is_none());
    }
}
