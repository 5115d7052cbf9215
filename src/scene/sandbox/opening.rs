//! Imported meshes to a scene that plays: octrees into the arena, bodies into the world.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3};

use super::{ObjectInfo, Sandbox, SandboxError};
use crate::{
    bodies::{BodyDef, BodyId, BodyState, Family, StepReport, WorldSettings},
    fracture::FractureParams,
    scene::{Event, Imported, Scene, SceneBody, display_name, history::Step},
    svo::Arena,
};

impl Sandbox {
    pub(super) fn commit_scene(
        &mut self,
        arena: &mut Arena,
        scene: Scene,
        imported: &[Imported],
    ) -> Result<(), SandboxError> {
        for one in imported {
            // What is there already when one does not fit is given back with whatever else nobody holds.
            self.insert(arena, &one.forest)?;
        }
        if !self.objects.is_empty() {
            let world = Some(self.snapshot());
            self.history.push(Step {
                label: format!("open {}", scene.name),
                tuning: self.tuning.clone(),
                world,
            });
        }
        self.breaking = None;
        self.waiting.clear();
        self.recoils.clear();
        self.looking.forget();
        self.clear_world();
        self.objects = imported
            .iter()
            .zip(scene.objects())
            .map(|(one, body)| object_info(one, body, scene.meters_per_unit))
            .collect();
        self.world.settings = WorldSettings {
            gravity: scene.gravity,
            dt: scene.dt,
            substeps: scene.substeps,
            floor: scene.floor.then_some(scene.floor_height),
            sleeping: scene.sleeping,
            walls: scene.walls,
            response: scene.response,
            penalty: scene.penalty,
            adaptive: scene.adaptive_level,
            ..self.world.settings
        };
        self.tuning.gravity = -scene.gravity.y;
        self.tuning.response = scene.response;
        self.tuning.far_levels = scene.adaptive_level.map_or(0, |a| a.most);
        self.world.eye = scene.camera.map(|camera| camera.eye().as_dvec3());
        self.world.drag = None;
        self.timeline.clear();
        self.tuning.view.color_by = scene.view.color_by;
        self.tuning.view.explode = scene.view.explode;
        if let Some(body) = scene.bodies.first() {
            self.tuning.fracture = body.fracture.clone();
            self.tuning.friction = body.friction;
            self.tuning.restitution = body.restitution;
            self.tuning.physics_level = body.collision_level();
        }
        self.time = 0.0;
        self.next_event = 0;
        self.last_step = StepReport::default();
        self.last_break = None;
        for (object, (body, one)) in scene.bodies.iter().zip(imported).enumerate() {
            let def = placed(one, body, &scene);
            let at_rest = body.on_floor && !body.fixed && def.state.linear_velocity == DVec3::ZERO;
            let id = self.add(def, object, 0);
            if at_rest && let Some(body) = self.world.bodies.iter_mut().find(|b| b.id == id) {
                body.asleep = true;
            }
        }
        let thrown = scene.objects().zip(imported).skip(scene.bodies.len());
        self.projectiles = thrown
            .enumerate()
            .map(|(k, (body, one))| (placed(one, body, &scene), scene.bodies.len() + k))
            .collect();
        let carried = self.carried.take();
        self.put_pin(&scene, carried.as_ref());
        self.set_pairs(&scene);
        self.scene = scene;
        self.first = None;
        self.first = Some(Arc::new(self.snapshot()));
        arena.collect();
        self.revision += 1;
        Ok(())
    }

    /// Gives the pairs that the scene names their levels. Families are never used again, so older ones do no harm.
    fn set_pairs(&mut self, scene: &Scene) {
        let family = |name: &str| {
            let object = scene.objects().position(|b| b.name.as_deref() == Some(name))?;
            let of = |id: &BodyId| self.info.get(id).is_some_and(|info| info.object == object);
            let there = self.world.bodies.iter().find(|b| of(&b.id)).map(|b| b.def.family);
            let thrown = self.projectiles.iter().find(|(_, of)| *of == object).map(|(def, _)| def.family);
            there.or(thrown)
        };
        let given: Vec<_> = scene
            .pairs
            .iter()
            .filter_map(|p| Some((family(&p.bodies[0])?, family(&p.bodies[1])?, p.physics_level)))
            .collect();
        for (a, b, level) in given {
            self.world.pair_levels.set(a, b, level);
        }
    }

    /// The open scene with its tuned values, to save.
    #[must_use]
    pub fn scene(&self, camera: crate::render::Camera) -> Scene {
        let mut scene = self.scene.clone();
        scene.gravity.y = -self.tuning.gravity;
        scene.camera = Some(camera);
        scene.response = self.tuning.response;
        scene.adaptive_level = self.adaptive();
        scene.view.color_by = self.tuning.view.color_by;
        scene.view.explode = self.tuning.view.explode;
        for (object, body) in scene.bodies.iter_mut().enumerate() {
            let touch = self.touch_of(body);
            (body.friction, body.restitution) = (touch.friction, touch.restitution);
            if touch.physics_level != body.collision_level() {
                body.physics_level = Some(touch.physics_level.clamp(1, body.level));
            }
            // The panels show the first body's random numbers.
            let params = if object == 0 { self.tuning.fracture.clone() } else { self.fracture_of(body) };
            body.fracture = FractureParams { interior: self.interior_of(object), ..params };
            body.fracture.fit(body.level);
        }
        self.write_pin(&mut scene);
        scene
    }

    /// Imports the open objects again at another leaf level; the eye stays where it is.
    pub fn set_level(&mut self, level: u32, camera: crate::render::Camera) {
        let mut scene = self.scene(camera);
        // Blows were made on the old voxels; they would not fall the same way again.
        scene.events.retain(|event| matches!(event, Event::Projectile { .. }));
        for body in &mut scene.bodies {
            body.physics_level = Some(body.collision_level().clamp(1, level));
            body.level = level;
            body.fracture.fit(level);
        }
        if !scene.bodies.is_empty() {
            // By where they lie, not by number: another level may draw other seeds.
            let carried = self.carried();
            self.open_scene(scene);
            self.carried = carried;
        }
    }
}

/// Metres for one mesh unit of a body.
fn scale_of(one: &Imported, body: &SceneBody, meters_per_unit: f64) -> f64 {
    match body.size {
        // The grid has one free voxel all round: the longest side is two cells short of the whole.
        Some(size) => size / (one.grid.h * f64::from(one.grid.side().saturating_sub(2).max(1))),
        None => meters_per_unit,
    }
}

pub(super) fn object_info(one: &Imported, body: &SceneBody, meters_per_unit: f64) -> ObjectInfo {
    ObjectInfo {
        scene: body.clone(),
        name: display_name(&one.file),
        triangles: one.triangles,
        leaves: one.forest.leaves.len(),
        nodes: one.forest.nodes.len(),
        voxel_m: one.grid.h * scale_of(one, body, meters_per_unit),
        seconds: one.seconds,
        health: one.health.clone(),
        warnings: one.warnings.clone(),
        surface_color: one.surface_color,
        mesh: Arc::clone(&one.mesh),
    }
}

/// Where a scene's body starts.
pub(super) fn placed(one: &Imported, body: &SceneBody, scene: &Scene) -> BodyDef {
    let scale = scale_of(one, body, scene.meters_per_unit);
    let grid = one.grid_in_metres(scale);
    let rotation = if body.rotation.length() > 1e-9 { body.rotation.normalize() } else { DQuat::IDENTITY };
    let pose = DMat4::from_rotation_translation(rotation, body.position) * grid.to_mesh();
    let mut position = pose.transform_point3(one.mass.centre);
    if body.on_floor {
        let (low, high) = one.mass.bounds;
        let lowest = (0..8u32)
            .map(|c| {
                let pick = |bit: u32, a: f64, b: f64| if c & bit == 0 { a } else { b };
                let corner =
                    DVec3::new(pick(1, low.x, high.x), pick(2, low.y, high.y), pick(4, low.z, high.z));
                pose.transform_point3(corner).y
            })
            .fold(f64::INFINITY, f64::min);
        position.y += scene.floor_height - lowest;
        // Standing objects also come to the middle, as their own origin may be anywhere.
        let middle = pose.transform_point3((low + high) / 2.0);
        position.x += body.position.x - middle.x;
        position.z += body.position.z - middle.z;
    }
    BodyDef {
        shape: Arc::new(one.shape_at(grid, body.density)),
        meters_per_unit: scale,
        family: Family::unique(),
        friction: body.friction,
        restitution: body.restitution,
        fixed: body.fixed,
        physics_level: body.collision_level(),
        state: BodyState {
            position,
            rotation,
            linear_velocity: body.linear_velocity,
            angular_velocity: body.angular_velocity,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu::Gpu,
        scene::{Arrived, load_scene},
    };
    use std::path::Path;

    fn shipped() -> Vec<std::path::PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
        let mut scenes: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        scenes.retain(|path| path.extension().is_some_and(|e| e == "toml"));
        scenes.sort();
        scenes
    }

    #[test]
    fn every_shipped_scene_plays() {
        let Some(gpu) = Gpu::for_test() else { return };
        let scenes = shipped();
        assert!(scenes.len() >= 16, "{}", scenes.len());
        for path in scenes {
            let mut scene = load_scene(&path).unwrap();
            // Coarser than shipped, so that all of them take seconds.
            let bodies = scene.bodies.len();
            for body in &mut scene.bodies {
                body.level = body.level.min(6);
                body.physics_level = body.physics_level.map(|level| level.min(5));
            }
            let mut sandbox = Sandbox::new(&gpu).unwrap();
            sandbox.open_scene(scene);
            while sandbox.poll().unwrap() != Some(Arrived::Opened) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            for _ in 0..5 {
                sandbox.step().unwrap();
                while sandbox.is_breaking() {
                    sandbox.poll().unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
            let families: std::collections::BTreeSet<_> =
                sandbox.bodies().iter().map(|b| format!("{:?}", b.def.family)).collect();
            println!("{}: {} bodies of {bodies}", path.display(), sandbox.bodies().len());
            assert!(sandbox.bodies().iter().all(|b| b.state.is_finite() && !b.frozen));
            assert_eq!(families.len(), bodies);
        }
    }

    #[test]
    fn a_missing_mesh_gives_way_to_its_fallback() {
        let folder = std::env::temp_dir().join(format!("kintsugi-fallback-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.toml");
        std::fs::write(&file, "[[body]]\nfile = \"a.obj\"\nfallback = \"builtin:statue\"\n").unwrap();
        assert_eq!(load_scene(&file).unwrap().bodies[0].file, "builtin:statue");
        std::fs::write(folder.join("a.obj"), "v 0 0 0\n").unwrap();
        let there = load_scene(&file).unwrap();
        assert!(there.bodies[0].file.ends_with("a.obj"));
        assert_eq!(there.bodies[0].fallback.as_deref(), Some("builtin:statue"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
