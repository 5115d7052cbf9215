//! A scene on its way in: its meshes are imported by a worker while what is open stays.

use crate::scene::{Event, ImportError, ImportJob, Imported, ReadScene, Scene, SceneBody, pinned::Carried};

/// The scene that is being imported, if there is one.
#[derive(Default)]
pub(in crate::scene) struct Opening(Option<Coming>);

struct Coming {
    scene: Scene,
    job: ImportJob,
    carried: Option<Carried>,
    imported: Option<Vec<Imported>>,
}

/// A scene with everything that it needs.
pub(in crate::scene) struct Ready {
    /// The scene.
    pub scene: Scene,
    /// What [`Scene::all_bodies`] were imported as.
    pub imported: Vec<Imported>,
    /// Painted cells of the object that was open.
    pub carried: Option<Carried>,
}

impl Scene {
    /// The bodies in the order of import: the scene's own, then the projectiles.
    pub(in crate::scene) fn all_bodies(&self) -> impl Iterator<Item = &SceneBody> {
        self.bodies.iter().chain(self.events.iter().filter_map(|event| match event {
            Event::Projectile { body, .. } => Some(&**body),
            Event::Impact { .. } => None,
        }))
    }
}

impl Opening {
    /// Starts to import a scene instead of whatever was on its way.
    pub fn start(&mut self, scene: impl Into<ReadScene>, carried: Option<Carried>) {
        let ReadScene { scene, meshes } = scene.into();
        self.cancel();
        let bodies: Vec<SceneBody> = scene.all_bodies().cloned().collect();
        let job = ImportJob::start(&bodies, meshes);
        self.0 = Some(Coming { scene, job, carried, imported: None });
    }

    /// Stops the import.
    pub fn cancel(&mut self) {
        if let Some(coming) = self.0.take() {
            coming.job.progress.cancel();
        }
    }

    /// The scene that is being imported.
    pub fn scene(&self) -> Option<&Scene> {
        self.0.as_ref().map(|coming| &coming.scene)
    }

    /// Label, fraction done.
    pub fn progress(&self) -> Option<(&str, f32)> {
        self.0.as_ref().map(|coming| (coming.job.label.as_str(), coming.job.progress.get()))
    }

    /// Asks the worker. What it has finished waits for [`Opening::take`].
    ///
    /// # Errors
    /// [`ImportError`]; nothing is on its way then.
    pub fn poll(&mut self) -> Result<(), ImportError> {
        if let Some(coming) = self.0.as_mut().filter(|coming| coming.imported.is_none())
            && let Some(result) = coming.job.poll()
        {
            match result {
                Ok(imported) => coming.imported = Some(imported),
                Err(error) => {
                    self.0 = None;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The scene, once everything is imported.
    pub fn take(&mut self) -> Option<Ready> {
        let Coming { scene, imported, carried, .. } = self.0.take_if(|coming| coming.imported.is_some())?;
        Some(Ready { scene, imported: imported?, carried })
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
        opening.start(Scene::of_mesh("builtin:vase", 6), None);
        let thrown =
            Event::Projectile { time: 1.0, body: Box::new(SceneBody::standing("builtin:sphere", 3)) };
        let scene = Scene { events: vec![thrown], ..Scene::of_mesh("builtin:box", 3) };
        opening.start(scene.clone(), None);
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
        opening.start(Scene::of_mesh("no such file.obj", 3), None);
        assert!(wait(&mut opening).is_err());
        assert!(opening.scene().is_none());
    }
}
