//! `debris.csv` of `kintsugi simulate`: the grains that bonds left where they failed.
//!
//! In: the sandbox after the run. Out: a line a grain, in order of births; and the same grains for an animation, whose
//! ids are the numbers of these lines from 0.

use std::path::Path;

use crate::{
    export::{ExportError, Sheet, debris::Debris, to_picoseconds},
    scene::Sandbox,
};

/// Name of the file.
pub const DEBRIS: &str = "debris.csv";

const COLUMNS: &str = "born,x,y,z,vx,vy,vz,radius,kind,object,break,a,b";

/// Writes the file and returns the grains; `None`, and no file, where no bond left any.
///
/// # Errors
/// [`ExportError::Write`].
pub fn write(path: &Path, sandbox: &Sandbox) -> Result<Option<Debris>, ExportError> {
    let mut sheet = None;
    let mut all = Vec::new();
    for (failure, grains) in sandbox.all_debris().filter(|(_, grains)| !grains.is_empty()) {
        let sheet = match &mut sheet {
            Some(sheet) => sheet,
            none => none.insert(Sheet::create(path, COLUMNS)?),
        };
        let ([a, b], born) = (failure.parts, to_picoseconds(failure.time));
        for grain in &grains {
            // Adding 0 makes -0 a 0. Seven digits are enough, and half the file.
            let (at, v) = (grain.position.as_vec3() + 0.0, grain.velocity.as_vec3() + 0.0);
            sheet.line(&format!(
                "{born},{},{},{},{},{},{},{},{},{},{},{a},{b}",
                at.x,
                at.y,
                at.z,
                v.x,
                v.y,
                v.z,
                grain.radius as f32,
                grain.kind.name(),
                failure.object,
                failure.record
            ));
        }
        sheet.flush()?;
        all.extend(grains);
    }
    Ok(sheet.map(|_| Debris { grains: all, around: sandbox.surroundings() }))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::{
        compute::{Choice, Compute},
        fracture::{FractureParams, Preset},
        scene::{Arrived, BodyStrength, Scene, SceneBody},
    };

    /// A weak box above the floor whose bonds leave this much debris.
    fn falling(debris: f64) -> Sandbox {
        let (tension, compression, shear) = (Some(1e3), Some(1e4), Some(1e3));
        let strength = BodyStrength { tension, compression, shear, debris, ..BodyStrength::default() };
        let fracture = FractureParams {
            preset: Preset::Uniform,
            seeds: 8,
            radii: vec![0.6],
            ..FractureParams::default()
        };
        let mut body = SceneBody { hold: true, fracture, ..SceneBody::standing("builtin:box", 4) };
        (body.on_floor, body.position, body.strength) = (false, DVec3::Y * 1.5, Some(Box::new(strength)));
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene { bodies: vec![body], ..Scene::default() });
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        sandbox
    }

    fn play(sandbox: &mut Sandbox, steps: usize) {
        for step in 0..=steps {
            while sandbox.is_breaking() {
                sandbox.poll().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            if step < steps {
                sandbox.step().unwrap();
            }
        }
    }

    /// Fails where grains of a bond are left out, where they get another bond's parts, or where a file is empty.
    #[test]
    fn the_file_has_a_line_for_each_grain_of_each_bond_that_failed() {
        let path = std::env::temp_dir().join(format!("kintsugi-debris-{}.csv", std::process::id()));
        let mut sandbox = falling(1.0);
        play(&mut sandbox, 20);
        assert_eq!(write(&path, &sandbox).unwrap(), None);
        assert!(!path.exists(), "nothing has failed yet");
        play(&mut sandbox, 50);
        let failed = sandbox.bond_failures().to_vec();
        assert!(!failed.is_empty());
        let debris = write(&path, &sandbox).unwrap().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(lines[0].join(","), COLUMNS);
        let wanted: Vec<_> = sandbox
            .all_debris()
            .flat_map(|(one, grains)| grains.into_iter().map(|g| (one.parts, g)))
            .collect();
        assert!(wanted.len() > 32 * failed.len());
        assert_eq!((lines.len() - 1, debris.grains.len()), (wanted.len(), wanted.len()));
        for ((line, grain), (parts, again)) in lines[1..].iter().zip(&debris.grains).zip(&wanted) {
            assert_eq!((line.len(), line[8], grain), (13, again.kind.name(), again));
            assert_eq!([line[11], line[12]], parts.map(|part| part.to_string()));
            let read = |at: usize| line[at].parse::<f32>().unwrap();
            assert_eq!([read(1), read(2), read(3), read(7)], {
                let [x, y, z] = grain.position.as_vec3().to_array();
                [x, y, z, grain.radius as f32]
            });
        }
        let mut clean = falling(0.0);
        play(&mut clean, 70);
        assert!(!clean.bond_failures().is_empty() && clean.debris().is_empty());
        assert_eq!(write(&path, &clean).unwrap(), None);
    }
}
