//! What is measured: a mesh, or every body of a scene with the parameters that the scene gives it.

use std::path::{Path, PathBuf};

use super::BenchArgs;
use crate::{
    cli::{
        CliError,
        breaking::{Plan, default_impact},
        input::{Object, about, is_scene},
    },
    fracture::FractureParams,
    scene::{SceneBody, load_scene},
};

/// One object to break.
pub struct Subject {
    /// Which one: the mesh's name, or the scene's with the body's number.
    pub name: String,
    /// Its mesh.
    pub file: PathBuf,
    /// Leaf levels to measure at.
    pub levels: Vec<u32>,
    /// How it breaks.
    pub params: FractureParams,
}

impl Subject {
    /// All that `args` name. A scene's own levels, seeds and surfaces hold, unless the arguments say otherwise.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn all(args: &BenchArgs) -> Result<Vec<Self>, CliError> {
        let file = &args.file;
        if !is_scene(file) {
            let levels = if args.level.is_empty() { vec![8] } else { args.level.clone() };
            let name = crate::scene::display_name(&file.to_string_lossy());
            let mut params = FractureParams {
                seeds: args.seeds.unwrap_or(90),
                rng: args.rng,
                ..FractureParams::default()
            };
            params.local = args.local;
            args.crack.apply(&mut params);
            return Ok(vec![Self { name, file: file.clone(), levels, params }]);
        }
        let scene = load_scene(file).map_err(|e| about(file, e))?.coarser(args.coarser.coarser);
        if scene.bodies.is_empty() {
            return Err(about(file, "the scene has no [[body]] to measure; add one with a file"));
        }
        let several = scene.bodies.len() > 1;
        let subject = |(number, body): (usize, &SceneBody)| {
            let mut params = body.fracture.clone();
            params.seeds = args.seeds.unwrap_or(params.seeds);
            params.local = args.local.or(params.local);
            // A number of pieces is solved for in several fractures, which are not what is measured.
            params.target_pieces = None;
            let levels = if args.level.is_empty() { vec![body.level] } else { args.level.clone() };
            let name = if several { format!("{} {}", scene.name, number + 1) } else { scene.name.clone() };
            Self { name, file: Path::new(&body.file).to_path_buf(), levels, params }
        };
        Ok(scene.bodies.iter().enumerate().map(subject).collect())
    }

    /// The blow that breaks it: where nobody says, in front.
    pub fn plan(&self, object: &Object) -> Plan {
        Plan {
            impact: default_impact(object),
            params: self.params.clone(),
            seeds: None,
            bounds: Some(object.bounds),
            generations: 1,
        }
    }
}
