//! Imports the meshes of a scene on a worker thread, with progress and cancelling.
//!
//! In: the bodies of a scene, and their meshes that were read before. Out: one [`Imported`] per body. A file is read
//! once, and voxelised once for each level and orientation. A body of a file with several objects becomes several bodies
//! before, and one that follows its weakness is painted after.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Follow, Scene, SceneBody, SceneFile,
    parting::{object_key, part},
    placement::scale_of,
    weakness::{paint_by, weakness_of},
};
use crate::{
    elastic::{ElasticError, Weakness},
    fracture::Cancel,
    import::{ImportError, Imported, ReadMesh, display_name, read, read_while},
    measures::{Measures, level_or_refusal},
    mesh::{Objects, Up},
    threads::Pending,
    voxelize::Progress,
};

/// Meshes already read: whole files by their name in the scene, single objects of files by [`SceneBody::mesh_key`].
pub type ReadMeshes = BTreeMap<String, ReadMesh>;

/// A scene with those of its meshes that were already read.
#[derive(Clone, Debug, Default)]
pub struct ReadScene {
    /// The scene.
    pub scene: Scene,
    /// Meshes already read; a missing one is read when the scene is opened.
    pub meshes: ReadMeshes,
    /// The scene file that it was read from; saving writes there.
    pub file: Option<SceneFile>,
}

impl From<Scene> for ReadScene {
    fn from(scene: Scene) -> Self {
        Self { scene, ..Self::default() }
    }
}

impl ReadScene {
    /// Reads every mesh that `scene` names, once each. Calls `warn` with the name of a file and a defect of it.
    ///
    /// # Errors
    /// The name of the first file that cannot be used, and why.
    pub fn read(scene: Scene, mut warn: impl FnMut(&str, &str)) -> Result<Self, (String, ImportError)> {
        let mut meshes = ReadMeshes::new();
        let files: BTreeSet<&String> = scene.objects().map(|body| &body.file).collect();
        for file in files {
            let mesh = read(file).map_err(|error| (file.clone(), error))?;
            mesh.warnings.iter().for_each(|warning| warn(file, warning));
            meshes.insert(file.clone(), mesh);
        }
        Ok(Self { scene, meshes, file: None })
    }

    /// Gives bodies with an edge of a voxel the level that it means. Reads what was not read.
    ///
    /// # Errors
    /// [`ImportError`].
    pub fn fit_levels(&mut self) -> Result<(), ImportError> {
        fit_levels(&mut self.scene, &mut self.meshes, &Progress::default())
    }

    /// The same with a body for each object of a file whose objects are apart.
    ///
    /// # Errors
    /// [`ImportError`].
    pub fn parted(mut self) -> Result<Self, ImportError> {
        part(&mut self.scene, &mut self.meshes, &Progress::default())?;
        self.fit_levels()?;
        Ok(self)
    }
}

/// A running import.
pub struct ImportJob {
    /// Label of the progress bar.
    pub label: String,
    /// Progress and cancellation.
    pub progress: Progress,
    imported: Pending<Result<(Scene, Vec<Imported>), ImportError>>,
}

impl ImportJob {
    /// Starts importing the files of `bodies`; those in `meshes` are not read again, and what is `known` is not voxelised
    /// again.
    #[must_use]
    pub fn start(bodies: &[SceneBody], meshes: ReadMeshes, known: Known) -> Self {
        Self::of_scene(Scene { bodies: bodies.to_vec(), ..Scene::default() }, meshes, known)
    }

    /// Starts importing the files of a scene. Its bodies become several where objects of a file are apart.
    #[must_use]
    pub fn of_scene(mut scene: Scene, mut meshes: ReadMeshes, known: Known) -> Self {
        let progress = Progress::default();
        let objects: Vec<&SceneBody> = scene.objects().collect();
        let label = match &objects[..] {
            [one] => format!("Importing {}", display_name(&one.file)),
            many => format!("Importing {} objects", many.len()),
        };
        let shared = progress.clone();
        let imported = Pending::start(move || {
            let parted = part(&mut scene, &mut meshes, &shared);
            let parted = parted.and_then(|()| fit_levels(&mut scene, &mut meshes, &shared));
            let imported = parted.and_then(|()| {
                let bodies: Vec<&SceneBody> = scene.objects().collect();
                import_all(&bodies, (meshes, known), &shared)
            });
            let imported = imported.map(|mut imported| {
                follow(&mut scene, &mut imported, &Cancel::with(&shared));
                imported
            });
            imported.map(|imported| (scene, imported))
        });
        Self { label, progress, imported }
    }

    /// Returns the imports of the bodies once.
    pub fn poll(&self) -> Option<Result<Vec<Imported>, ImportError>> {
        Some(self.poll_scene()?.map(|(_, imported)| imported))
    }

    /// Returns the scene and the imports of [`Scene::objects`] once.
    pub fn poll_scene(&self) -> Option<Result<(Scene, Vec<Imported>), ImportError>> {
        self.imported.poll(|| Err(ImportError::Stopped))
    }
}

/// Gives bodies with an edge of a voxel, which becomes absent, the lowest level at which no voxel is wider; what follows from
/// the level is made to fit. Objects of a file are apart already, since each has its own length.
fn fit_levels(scene: &mut Scene, meshes: &mut ReadMeshes, progress: &Progress) -> Result<(), ImportError> {
    let meters_per_unit = scene.meters_per_unit;
    let objects = objects_of(scene.objects());
    for body in scene.objects_mut() {
        let Some(edge) = body.voxel_size.take() else { continue };
        if !meshes.contains_key(&body.mesh_key()) {
            read_for(body, &objects, meshes, progress)?;
        }
        let length = body.size.unwrap_or_else(|| {
            let units = meshes.get(&body.mesh_key()).map_or(0.0, ReadMesh::longest_side);
            units * body.metres_of_unit(meters_per_unit)
        });
        let own = Measures { voxel_size: Some(edge), ..Measures::default() };
        own.check(&body.file)?;
        body.level = level_or_refusal(&body.file, length, edge)?;
        body.physics_level = body.physics_level.map(|level| level.clamp(1, body.level));
        body.fracture.fit(body.level);
    }
    Ok(())
}

/// Paints the bodies that follow something, which is absent then: what is saved has the paint. A body of which there is nothing to
/// follow gets a warning.
fn follow(scene: &mut Scene, imported: &mut [Imported], cancel: &Cancel) {
    let meters_per_unit = scene.meters_per_unit;
    // Equal bodies share their voxels.
    let mut known: BTreeMap<usize, Result<Weakness, ElasticError>> = BTreeMap::new();
    for (body, one) in scene.objects_mut().zip(imported) {
        let Some(Follow::Weakness) = body.follow.take() else { continue };
        let of = || weakness_of(&one.shape, cancel);
        match known.entry(Arc::as_ptr(&one.forest).addr()).or_insert_with(of) {
            Ok(found) => {
                let scale = scale_of(one, body, meters_per_unit);
                paint_by(found, scale, &mut body.fracture);
            }
            Err(error) => one.warnings.push(format!("there is nothing that `follow` could follow: {error}")),
        }
    }
}

/// The objects of files that bodies are: file, how its parts are grouped, number.
fn objects_of<'a>(bodies: impl Iterator<Item = &'a SceneBody>) -> BTreeSet<(String, Objects, u32)> {
    let parted = bodies.filter(|body| !body.objects.are_together());
    parted.filter_map(|body| Some((body.file.clone(), body.objects, body.object?))).collect()
}

/// Reads the file of a body, and takes out those of `wanted` that are its objects, so that `meshes` has the file and them: to
/// find one object takes as long as to find all.
fn read_for(
    body: &SceneBody,
    wanted: &BTreeSet<(String, Objects, u32)>,
    meshes: &mut ReadMeshes,
    progress: &Progress,
) -> Result<(), ImportError> {
    let SceneBody { file, objects, .. } = body;
    let whole = match meshes.get(file) {
        Some(whole) => whole.clone(),
        None => read_while(file, progress)?,
    };
    progress.set(0.05);
    let own = wanted.iter().filter(|(of, how, _)| of == file && how == objects);
    let numbers: BTreeSet<u32> = own.map(|(_, _, number)| *number).collect();
    if !numbers.is_empty() {
        let found = whole.some_objects(*objects, &numbers, progress)?;
        meshes.extend(numbers.iter().map(|number| object_key(file, *objects, *number)).zip(found));
    }
    meshes.insert(file.clone(), whole);
    Ok(())
}

/// File and object, up axis and leaf level: what an import depends on.
type Wanted = (String, Up, u32);

/// What was imported before.
pub(super) type Known = Arc<Vec<(Wanted, Imported)>>;

/// What a body needs imported.
pub(super) fn wanted(body: &SceneBody) -> Wanted {
    (body.mesh_key(), body.up, body.level)
}

fn import_all(
    bodies: &[&SceneBody],
    (mut meshes, before): (ReadMeshes, Known),
    progress: &Progress,
) -> Result<Vec<Imported>, ImportError> {
    let wanted: Vec<Wanted> = bodies.iter().map(|body| wanted(body)).collect();
    let mut done: Vec<Imported> = Vec::with_capacity(wanted.len());
    for (i, (key, up, level)) in wanted.iter().enumerate() {
        let earlier = wanted[..i].iter().position(|earlier| earlier == &wanted[i]);
        let known = before.iter().find(|(known, _)| known == &wanted[i]).map(|(_, one)| one);
        let known = known.or(earlier.map(|earlier| &done[earlier]));
        let imported = match (known, meshes.get(key)) {
            (Some(known), _) => known.clone(),
            (None, Some(mesh)) => mesh.stood_up(*up).voxelise(*level, progress)?,
            (None, None) => {
                read_for(bodies[i], &objects_of(bodies.iter().copied()), &mut meshes, progress)?;
                meshes[key].stood_up(*up).voxelise(*level, progress)?
            }
        };
        done.push(imported);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Units;

    #[test]
    fn an_edge_of_a_voxel_becomes_the_level_of_each_body() {
        let body = |size, units| SceneBody {
            size,
            units,
            voxel_size: Some(0.01),
            physics_level: Some(9),
            ..SceneBody::standing("builtin:box", 2)
        };
        let bodies = vec![body(Some(1.0), None), body(None, Some(Units::In)), body(None, None)];
        let scene = Scene { bodies, meters_per_unit: 0.1, ..Scene::default() };
        let mut read = ReadScene::from(scene);
        read.fit_levels().unwrap();
        // The box is 1 long: 1 m, 2.54 cm and 10 cm; the least 2^level - 2 above 100, 2.54 and 10.
        let levels: Vec<u32> = read.scene.bodies.iter().map(|body| body.level).collect();
        assert_eq!(levels, [7, 3, 4]);
        assert!(read.scene.bodies.iter().all(|body| body.voxel_size.is_none()));
        assert_eq!(read.scene.bodies[0].collision_level(), 7);
        let mut read = ReadScene::from(Scene { bodies: vec![body(Some(1e6), None)], ..Scene::default() });
        assert!(read.fit_levels().unwrap_err().to_string().contains("1000000.000 m long"));
    }

    #[test]
    fn what_was_read_is_not_read_again() {
        let folder = std::env::temp_dir().join(format!("kintsugi-read-once-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.obj");
        std::fs::write(&file, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
            .unwrap();
        let scene = Scene::of_mesh(&file.to_string_lossy(), 4);
        let opened = ReadScene::read(scene.clone(), |_, _| {}).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        let wanted: Vec<&SceneBody> = scene.bodies.iter().collect();
        let all = import_all(&wanted, (opened.meshes, Known::default()), &Progress::default()).unwrap();
        assert_eq!((all.len(), all[0].triangles), (1, 4));
        assert!(import_all(&wanted, Default::default(), &Progress::default()).is_err(), "the file is gone");
    }
}
