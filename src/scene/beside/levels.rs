//! The document's objects at another octree level: a worker voxelises them again from their meshes, one after the
//! other.
//!
//! In: objects, and which of them are needed. Out: whole bodies in the same places with octrees of that level.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    bodies::BodyDef,
    compute::Compute,
    mesh::Mesh,
    scene::{ImportJob, Imported, ObjectInfo, SceneBody, breaking::part_state},
};

/// An object at that level, or why it cannot be.
struct Known {
    /// The mesh that it was made of: an object of another mesh is another object.
    mesh: Arc<Mesh>,
    made: Result<Imported, String>,
}

/// Objects at another level.
pub(super) struct Levels {
    level: u32,
    known: BTreeMap<usize, Known>,
    job: Option<(usize, Arc<Mesh>, ImportJob)>,
}

impl Levels {
    /// No objects yet, at this level.
    pub fn new(level: u32) -> Self {
        Self { level, known: BTreeMap::new(), job: None }
    }

    /// The level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Whether an object is being voxelised.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Why an object cannot be voxelised, if one cannot.
    pub fn problem(&self) -> Option<&String> {
        self.known.values().find_map(|known| known.made.as_ref().err())
    }

    /// Takes a finished import, and starts that of the next object that is `needed`. Returns whether other objects are
    /// known now.
    pub fn update(
        &mut self,
        objects: &[Arc<ObjectInfo>],
        needed: &BTreeSet<usize>,
        compute: &Compute,
    ) -> bool {
        let is_of = |at: usize, mesh: &Arc<Mesh>| {
            objects.get(at).is_some_and(|object| Arc::ptr_eq(&object.mesh, mesh))
        };
        let before = self.known.len();
        self.known.retain(|at, known| is_of(*at, &known.mesh));
        let mut has_changed = self.known.len() != before;
        if self.job.as_ref().is_some_and(|(at, mesh, _)| !needed.contains(at) || !is_of(*at, mesh)) {
            self.cancel();
        }
        if let Some(result) = self.job.as_ref().and_then(|(.., job)| job.poll())
            && let Some((at, mesh, _)) = self.job.take()
        {
            let made = result.map_err(|error| error.to_string());
            let first = |all: Vec<Imported>| all.into_iter().next();
            let made = made.and_then(|all| first(all).ok_or_else(|| "the mesh gave no object".to_owned()));
            self.known.insert(at, Known { mesh, made });
            has_changed = true;
        }
        let is_missing = |at: &&usize| {
            let is_other = objects.get(**at).is_some_and(|object| object.scene.level != self.level);
            is_other && !self.known.contains_key(*at)
        };
        let next = needed.iter().find(is_missing).copied().filter(|_| self.job.is_none());
        let Some((at, object)) = next.and_then(|at| Some((at, objects.get(at)?))) else { return has_changed };
        let mesh = Arc::clone(&object.mesh);
        if let Err(error) = compute.takes(self.level) {
            self.known.insert(at, Known { mesh, made: Err(error.to_string()) });
            return true;
        }
        let read = object.read_mesh();
        let body = SceneBody { level: self.level, ..object.scene.clone() };
        let meshes = [(body.mesh_key(), read)].into_iter().collect();
        let job = ImportJob::start(std::slice::from_ref(&body), meshes, Arc::default());
        self.job = Some((at, mesh, job));
        has_changed
    }

    /// Whether this object is there at that level, made anew.
    pub fn has(&self, object: usize) -> bool {
        self.known.get(&object).is_some_and(|known| known.made.is_ok())
    }

    /// A whole object at that level, where `def` is and moving as `def` does; `None` until it is voxelised.
    pub fn body(&self, object: usize, def: &BodyDef) -> Option<Result<BodyDef, String>> {
        if def.shape.as_octree().is_some_and(|octree| octree.level() == self.level) {
            return Some(Ok(def.clone()));
        }
        let imported = match &self.known.get(&object)?.made {
            Ok(imported) => imported,
            Err(why) => return Some(Err(why.clone())),
        };
        let grid = imported.grid_in_metres(def.meters_per_unit);
        let shape = Arc::new(imported.shape_at(grid, def.shape.density()));
        let state = part_state(&def.state, &def.shape, &shape);
        Some(Ok(BodyDef { shape, state, structure: None, ..def.clone() }))
    }

    fn cancel(&mut self) {
        if let Some((.., job)) = self.job.take() {
            job.progress.cancel();
        }
    }
}

impl Drop for Levels {
    fn drop(&mut self) {
        self.cancel();
    }
}
