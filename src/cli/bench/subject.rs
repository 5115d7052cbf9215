//! The objects of a measurement: a mesh, or every body of a scene with the scene's parameters for it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::BenchArgs;
use crate::{
    cli::{
        CliError,
        input::{Object, about, is_scene, joined, load_mesh},
        measures::Measured,
        progress::Reporter,
    },
    fracture::{FractureParams, SeedSource, Surface, crack::CrackShape, generations::Plan},
    import::ReadMesh,
    mesh::{Objects, Up},
    scene::{ReadScene, SceneBody, load_scene, read_seeds},
    voxelize::Progress,
};

/// One object to break.
pub struct Subject {
    /// The mesh's name, or the scene's name with the body's number.
    pub name: String,
    /// Its mesh file.
    pub file: PathBuf,
    /// The mesh by the options, where it is no body of a scene.
    measured: Option<Measured>,
    /// The axis of the file that points up in the scene.
    up: Up,
    /// Which object of its file the body of a scene is, where the file has several.
    object: Option<(Objects, u32)>,
    /// Leaf levels to measure.
    pub levels: Vec<u32>,
    /// Parameters of its fracture.
    pub params: FractureParams,
    /// Seeds from a file that replace the pattern, mesh units or a picture.
    pub seeds: Option<SeedSource>,
}

impl Subject {
    /// The objects that `args` name. A scene's levels, seeds and surfaces are used unless the arguments override them.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn all(args: &BenchArgs, reporter: &Reporter) -> Result<Vec<Self>, CliError> {
        let file = &args.file;
        args.measures.refuse_scene(file)?;
        if !is_scene(file) {
            let given = args.level.first().copied();
            let measured = args.measures.measure(file, (given, 8), reporter)?;
            let levels = if args.level.is_empty() { vec![measured.level] } else { args.level.clone() };
            let name = crate::scene::display_name(&file.to_string_lossy());
            let mut params = FractureParams {
                seeds: args.seeds.unwrap_or(90),
                rng: args.rng,
                ..FractureParams::default()
            };
            params.local = args.local;
            args.crack.apply(&mut params);
            let (file, measured, up) = (file.clone(), Some(measured), Up::Y);
            return Ok(vec![Self { name, file, measured, up, object: None, levels, params, seeds: None }]);
        }
        let mut scene = load_scene(file).map_err(|e| about(file, e))?.coarser(args.coarser.coarser);
        if scene.bodies.iter().any(|body| body.voxel_size.is_some() || !body.objects.are_together()) {
            let read = ReadScene::from(scene).parted().map_err(|error| about(file, error))?;
            scene = read.scene;
        }
        if scene.bodies.is_empty() {
            return Err(about(file, "the scene has no [[body]] to measure; add one with a file"));
        }
        let several = scene.bodies.len() > 1;
        let subject = |(number, body): (usize, &SceneBody)| -> Result<Self, CliError> {
            if body.follow.is_some() {
                let what = "a body has `follow`, which bench does not read; leave it out, or save the scene in the window, which \
                            writes it as paint";
                return Err(about(file, what));
            }
            let mut params = body.fracture.clone();
            params.seeds = args.seeds.unwrap_or(params.seeds);
            // An explicit number of seeds replaces the scene's file.
            let from = params.seeds_file.take().filter(|_| args.seeds.is_none());
            let read = |from: String| read_seeds(Path::new(&from)).map_err(|e| about(file, e.message));
            let seeds = from.map(read).transpose()?;
            params.local = args.local.or(params.local);
            // Solving for a number of pieces takes several fractures, but the benchmark measures one.
            params.target_pieces = None;
            let levels = if args.level.is_empty() { vec![body.level] } else { args.level.clone() };
            let name = if several { format!("{} {}", scene.name, number + 1) } else { scene.name.clone() };
            let (file, up) = (Path::new(&body.file).to_path_buf(), body.up);
            let object = body.object.filter(|_| !body.objects.are_together());
            let object = object.map(|number| (body.objects, number));
            Ok(Self { name, file, measured: None, up, object, levels, params, seeds })
        };
        scene.bodies.iter().enumerate().map(subject).collect()
    }

    /// Reads its mesh, upright.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn read(&self, reporter: &Reporter) -> Result<ReadMesh, CliError> {
        if let Some(measured) = &self.measured {
            return Ok(joined(measured.clone().mesh(reporter)?, reporter));
        }
        let mesh = load_mesh(&self.file, reporter)?.stood_up(self.up);
        let Some((how, number)) = self.object else { return Ok(mesh) };
        let apart = |progress: &Progress| mesh.some_objects(how, &BTreeSet::from([number]), progress);
        let found = reporter.stage("tell objects apart", apart).map_err(|error| about(&self.file, error))?;
        Ok(found.into_iter().next().unwrap_or(mesh))
    }

    /// Number of seeds.
    pub fn seed_count(&self) -> u32 {
        self.seeds.as_ref().map_or(self.params.seed_count(), SeedSource::count)
    }

    /// The shape of its crack surfaces with the transition level used at leaf level `level`; `None` if they are planar.
    pub fn crack(&self, level: u32) -> Option<CrackShape> {
        let params = &self.params;
        let transition_level = params.crack.transition(level, params.surface).ok();
        (params.surface != Surface::Planar).then_some(CrackShape { transition_level, ..params.crack })
    }

    /// Its blow; from the front by default.
    pub fn plan(&self, object: &Object) -> Plan {
        Plan {
            impact: object.default_impact(),
            params: self.params.clone(),
            seeds: self.seeds.clone(),
            bounds: Some(object.bounds),
            generations: 1,
        }
    }
}
