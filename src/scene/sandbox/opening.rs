//! Opening and saving scenes, and importing the open one at another leaf level.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use glam::DVec3;

use super::{Sandbox, SandboxError, remaking::Remaking};
use crate::{
    bodies::BodyDef,
    fracture::FractureParams,
    geometry::Aabb,
    mesh::Up,
    render::Camera,
    scene::{
        Event, ObjectInfo, PairLevel, ReadScene, Scene, SceneBody, Tuning,
        jobs::{Again, Ready},
        parting::place_again,
        pinned::{Carried, pin_of, write_pin},
        placement::{object_info, placed},
        stage::Projectile,
        step_trace::StepTrace,
    },
    svo::Arena,
};

impl Sandbox {
    /// Opens one mesh file standing on the floor; it is open once [`Sandbox::poll`] says so.
    pub fn open(&mut self, file: &str, level: u32) {
        self.open_scene(Scene::of_mesh(file, level));
    }

    /// Opens a scene; the present one stays until everything is imported. Meshes already read are not read again.
    pub fn open_scene(&mut self, scene: impl Into<ReadScene>) {
        self.jobs.opening.start(scene.into(), None);
    }

    /// Cancels an import in progress.
    pub fn cancel_open(&mut self) {
        self.jobs.opening.cancel();
        self.jobs.adding.cancel();
    }

    /// Whether the next [`Sandbox::poll`] opens another document, which is imported; what is unsaved of the present one
    /// must be kept before.
    #[must_use]
    pub fn is_about_to_open(&self) -> bool {
        self.jobs.opening.is_another_ready()
    }

    /// Which fallbacks of the open scene stand in for files that are not there, one line each.
    #[must_use]
    pub fn stand_ins(&self) -> Vec<String> {
        self.document.scene().stand_ins()
    }

    /// Progress of the import: label and fraction done.
    #[must_use]
    pub fn opening(&self) -> Option<(&str, f32)> {
        self.jobs.opening.progress().or_else(|| self.jobs.adding.progress())
    }

    /// Replaces the open scene.
    pub(super) fn take_in_scene(&mut self, arena: &mut Arena, ready: Ready) -> Result<(), SandboxError> {
        let Ready { scene, imported, file, again } = ready;
        for one in &imported {
            // If a later octree does not fit, this one is freed with all others without owners.
            self.take_in(arena, &one.forest)?;
        }
        if !self.document.is_empty() {
            self.keep_step(&format!("open {}", scene.name));
        }
        if again.is_none() {
            self.document.begin(file);
        }
        self.jobs.forget_pieces();
        self.jobs.adding.cancel();
        self.jobs.checking.forget_next();
        self.generations = None;
        self.looking.forget();
        self.timeline.open_another();
        (self.last_break, self.push, self.failed) = (None, None, None);
        self.forget_bonds();
        self.trace = StepTrace::default();
        self.taken_back = 0;
        self.stage.clear();
        let (mut placed_on_floor, mut thrown) = (Vec::new(), BTreeMap::new());
        let bodies = scene.objects().zip(&imported).enumerate();
        for (object, (body, one)) in bodies {
            let def = placed(one, body, &scene);
            if object >= scene.bodies.len() {
                thrown.insert(object, def);
                continue;
            }
            let id = self.stage.add(def, object, 0);
            if body.on_floor {
                placed_on_floor.push(id);
            }
        }
        for (at, object) in scene.numbers_of_thrown().into_iter().enumerate() {
            if let Some(def) = thrown.remove(&object) {
                self.stage.prepare_throw(at, Projectile { def, object });
            }
        }
        let named = scene.objects().enumerate().filter_map(|(at, body)| Some((body.name.as_deref()?, at)));
        let number: HashMap<&str, usize> = named.collect();
        let levels = scene.pairs.iter().filter_map(|pair| {
            let [a, b] = [&pair.bodies[0], &pair.bodies[1]].map(|name| number.get(name.as_str()).copied());
            Some(PairLevel { bodies: [a?, b?], level: pair.physics_level })
        });
        self.stage.set_pair_levels(levels);
        let objects = scene.objects().zip(&imported);
        let objects = objects.map(|(body, one)| object_info(one, body, scene.meters_per_unit)).collect();
        self.document.open(scene, objects);
        let (carried, focus) = again.map_or((None, None), |Again(carried, focus)| (carried, focus));
        self.pin_what_is_pinned(carried.as_ref());
        if focus.is_some() {
            let mut tuning = Tuning { focus, ..self.document.tuning().clone() };
            self.document.spread(&mut tuning);
            self.document.set_tuning(tuning, |_| true);
        }
        self.stage.set_eye(self.document.scene().camera.map(|camera| camera.eye().as_dvec3()));
        self.stage.go_by(self.document.settings(), &self.document.touches());
        self.stage.lull_what_stands(&placed_on_floor);
        let first = super::past::moment(&self.document, &self.stage, (None, None), None);
        self.history.set_first(Arc::new(first));
        // The first moment, which a reset restores, is the start of the scene and no part of what was broken.
        self.remaking = Remaking::of(self.document.scene());
        self.document.set_remade_in_part(self.remaking.is_some());
        arena.collect();
        Ok(())
    }

    /// Pins the impact that the scene pins, once its bodies are added.
    fn pin_what_is_pinned(&mut self, carried: Option<&Carried>) {
        let scene = self.document.scene();
        let Some(object) = scene.pinned.map(|pinned| pinned.body as usize) else { return };
        let paint = self.document.paint_on(object);
        let params = FractureParams { paint, ..self.document.tuning().fracture.clone() };
        let Some(body) = self.stage.body_of(object) else { return };
        if let Some(pin) = pin_of(scene, body, carried, params) {
            self.document.pin_as_opened(pin);
        }
    }

    /// The open scene with its tuned values, to save.
    #[must_use]
    pub fn scene(&self, camera: Camera) -> Scene {
        let mut scene = self.document.to_save(camera);
        match self.history.first() {
            Some(first) => write_pin(&mut scene, &self.document, &self.stage, &first.stage),
            None => scene.pinned = None,
        }
        scene
    }

    /// Imports the object in focus again at another leaf level, or all open objects, from their meshes in memory; the camera
    /// stays.
    pub fn set_level(&mut self, level: u32, camera: Camera) {
        let mut scene = self.scene(camera);
        let focus = self.document.focus();
        for (object, body) in scene.bodies.iter_mut().enumerate() {
            if focus.is_none_or(|focus| focus == object) {
                body.physics_level = Some(body.collision_level().clamp(1, level));
                body.level = level;
                body.fracture.fit(level);
            }
        }
        self.open_again(scene);
    }

    /// Imports an object of the scene again with another up axis and longest side (m), from its mesh in memory.
    pub fn set_import(&mut self, object: usize, up: Up, size: f64, camera: Camera) {
        self.import_again(&[object], camera, |scene| {
            if let Some(body) = scene.bodies.get_mut(object) {
                (body.up, body.size, body.units) = (up, Some(size), None);
            }
        });
    }

    /// The same for the file of an object: of several that are apart, all stand to each other as in the file, whose longest side
    /// `size` is; where they were moved before, they stand as in the file again. One undo step.
    pub fn set_import_of_file(&mut self, object: usize, up: Up, size: f64, camera: Camera) {
        let objects = self.objects_of_file(object);
        if objects.len() < 2 {
            return self.set_import(object, up, size, camera);
        }
        let bounds = |number: &usize| {
            let info = self.document.objects().get(*number)?;
            Some((*number, Aabb::of(info.mesh.corners().flatten())))
        };
        let bounds: Vec<(usize, Aabb)> = objects.iter().filter_map(bounds).collect();
        self.import_again(&objects, camera, |scene| place_again(scene, &bounds, up, size));
    }

    /// The numbers of the bodies of the scene that are objects of the same file as this one, where its objects are apart; else
    /// this one alone.
    #[must_use]
    pub fn objects_of_file(&self, object: usize) -> Vec<usize> {
        let objects = &self.document.objects()[..self.bodies_of_scene().min(self.document.objects().len())];
        let own = objects.get(object).map(|info| &info.scene).filter(|own| own.is_one_of_several());
        let Some(own) = own else { return vec![object] };
        let is_of_file = |other: &SceneBody| other.is_one_of_several() && other.file == own.file;
        let numbered = objects.iter().enumerate();
        numbered.filter(|(_, other)| is_of_file(&other.scene)).map(|(number, _)| number).collect()
    }

    /// Imports these objects of the scene again as `change` has their bodies then.
    fn import_again(&mut self, objects: &[usize], camera: Camera, change: impl FnOnce(&mut Scene)) {
        let mut scene = self.scene(camera);
        let are_all = scene.bodies.len() == objects.len();
        let before: Vec<Up> = scene.bodies.iter().map(|body| body.up).collect();
        if objects.iter().any(|object| *object >= before.len()) {
            return;
        }
        // The impact was aimed at the old shape.
        scene.pinned = scene.pinned.filter(|pinned| !objects.contains(&(pinned.body as usize)));
        // The camera was placed for the old size.
        scene.camera = scene.camera.filter(|_| !are_all);
        change(&mut scene);
        // Dabs stay where they are on the object.
        let axes = |up: Up| {
            glam::DMat3::from_cols_array_2d(
                &glam::Mat3::IDENTITY.to_cols_array_2d().map(|axis| up.turn(axis).map(f64::from)),
            )
        };
        for &object in objects {
            let old = self.stage.body_of(object).map(|body| body.def.object_size_m);
            let body = &mut scene.bodies[object];
            let grown = old.zip(body.size).map_or(1.0, |(old, size)| size / old);
            let turn = axes(body.up) * axes(before[object]).transpose();
            for dab in &mut body.fracture.paint {
                (dab.at, dab.radius) = (turn * dab.at * grown, dab.radius * grown);
                dab.from = dab.from.map(|from| turn * from * grown);
                dab.direction = dab.direction.map(|direction| turn * direction);
            }
        }
        self.open_again(scene);
    }

    /// Opens a scene of the open objects, imported differently.
    fn open_again(&mut self, mut scene: Scene) {
        // Blows were made on the old voxels and would not fall the same way.
        scene.events.retain(|event| matches!(event, Event::Projectile { .. }));
        (scene.breaks, scene.poses, scene.deleted) = (Vec::new(), Vec::new(), Vec::new());
        if !scene.bodies.is_empty() {
            // Cells are carried over by position, not by number, since another level may draw other seeds.
            let carried = self.document.tuning().pin.as_ref().and_then(|pin| Carried::of(pin, &self.stage));
            let meshes =
                self.document.objects().iter().map(|object| (object.scene.mesh_key(), object.read_mesh()));
            let meshes = meshes.collect();
            self.jobs
                .opening
                .start(ReadScene { scene, meshes, file: None }, Some(Again(carried, self.document.focus())));
        }
    }

    /// Throws the body chosen in the panels from `origin` (m) along `direction`; it exists once [`Sandbox::poll`] says
    /// so.
    pub fn throw(&mut self, origin: DVec3, direction: DVec3) {
        if origin.is_finite() && !self.document.is_empty() {
            self.jobs.throwing.push(self.document.tuning(), origin, direction);
        }
    }

    /// Adds the first thrown body whose shape is ready.
    pub(super) fn take_in_thrown(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let next = self.jobs.throwing.next(|one| {
            let forget = || self.history.shrink() || self.timeline.shrink();
            self.stage.take_in(arena, &one.forest, forget)
        });
        let Some((flying, one)) = next? else { return Ok(false) };
        let (mut body, scene) = (flying.body, self.document.scene());
        // A mesh's origin may be anywhere; the body's centre starts at the hand.
        body.position += flying.origin - placed(&one, &body, scene).state.position;
        let def = placed(&one, &body, scene);
        let info = object_info(&one, &body, scene.meters_per_unit);
        self.keep_step("throw");
        self.throw_now(def, info, body);
        Ok(true)
    }

    /// Adds an object that comes at the present time, as an event of the scene; returns its number.
    pub(super) fn throw_now(&mut self, def: BodyDef, info: ObjectInfo, body: SceneBody) -> usize {
        let object = self.document.add_object(info);
        let at = self.document.thrown();
        self.stage.prepare_throw(at, Projectile { def, object });
        let (time, claim) = (self.stage.time(), u32::try_from(object).ok());
        self.document.happened(Event::Projectile { time, object: claim, body: Box::new(body) });
        self.stage.throw(at);
        self.record_change(false);
        object
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::{Sandbox, testing};
    use crate::{
        compute::Compute,
        gpu::Gpu,
        render::Camera,
        scene::{Arrived, Event, Scene, SceneBody, load_scene},
    };
    use std::path::Path;

    fn shipped() -> Vec<std::path::PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
        let mut scenes: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        scenes.retain(|path| path.extension().is_some_and(|e| e == "toml"));
        scenes.retain(|path| cfg!(feature = "papers") || load_scene(path).is_ok());
        scenes.sort();
        scenes
    }

    #[test]
    fn a_throw_costs_the_timeline_the_same_however_much_lies_there() {
        let Some(gpu) = Gpu::for_test() else { return };
        let of = |lying: usize| {
            let body = |at: usize| SceneBody {
                position: DVec3::new(at as f64 * 0.2, 0.0, 3.0),
                size: Some(0.1),
                ..SceneBody::standing("builtin:box", 2)
            };
            let scene = Scene { bodies: (0..lying).map(body).collect(), ..Scene::default() };
            let mut sandbox = testing::shown(&gpu, scene);
            sandbox.step().unwrap();
            let throw = |sandbox: &mut super::Sandbox| {
                let before = sandbox.timeline().bytes();
                sandbox.throw(DVec3::Y, DVec3::Z);
                testing::until(sandbox, Arrived::Thrown);
                sandbox.timeline().bytes() - before
            };
            // Average memory per throw, since runs of a list are added now and then.
            let mut mean = |throws: usize| (0..throws).map(|_| throw(&mut sandbox)).sum::<usize>() / throws;
            let means = [mean(32), mean(32), mean(32)];
            (means, sandbox)
        };
        let (few, _) = of(1);
        let (many, mut sandbox) = of(1001);
        println!("a throw takes {few:?} bytes beside one body, {many:?} beside a thousand");
        // Growth is limited to one pointer per 32 entries for each of five lists.
        for mean in few.into_iter().chain(many) {
            assert!((4_000..18_000).contains(&mean), "{mean}");
        }
        assert!(many[2] < few[2] + 5 * 16 * 1001 / 32);
        // Nothing is missing.
        let (bodies, frames) = (sandbox.bodies().len(), sandbox.timeline().len());
        assert_eq!(bodies, 1001 + 96);
        assert!(sandbox.show_recorded(frames - 50));
        assert_eq!((sandbox.bodies().len(), sandbox.objects().len()), (bodies - 49, bodies - 49));
        assert!(sandbox.show_recorded(frames - 1) && sandbox.bodies().len() == bodies);
        for _ in 0..96 {
            sandbox.undo().unwrap();
        }
        assert_eq!((sandbox.bodies().len(), sandbox.objects().len()), (1001, 1001));
    }

    #[test]
    fn every_shipped_scene_plays() {
        let Some(gpu) = Gpu::for_test() else { return };
        let scenes = shipped();
        assert!(scenes.len() >= 16, "{}", scenes.len());
        for path in scenes {
            let scene = load_scene(&path).unwrap();
            // Coarser than shipped, so that the test takes seconds.
            let finest = scene.bodies.iter().map(|body| body.level).max().unwrap_or(0);
            let (bodies, scene) = (scene.bodies.len(), scene.coarser(finest.saturating_sub(5)));
            let mut sandbox = testing::shown(&gpu, scene);
            // Until after its last event and the fractures that it causes.
            let seconds = sandbox.last_event().unwrap_or(0.0) + 5.5 * sandbox.settings().dt;
            let thrown = sandbox.objects().len() - bodies;
            while sandbox.time() < seconds {
                sandbox.step().unwrap();
                while sandbox.is_breaking() {
                    sandbox.poll().unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
            assert!(sandbox.last_event().is_none(), "all events are over");
            let families: std::collections::BTreeSet<_> =
                sandbox.bodies().iter().map(|b| format!("{:?}", b.def.family)).collect();
            println!("{}: {} bodies of {bodies}, {seconds:.2} s", path.display(), sandbox.bodies().len());
            assert!(sandbox.bodies().iter().all(|b| b.state.is_finite() && !b.frozen));
            assert_eq!(families.len(), bodies + thrown);
        }
    }

    /// At two levels coarser a bridge that cannot bear its weight breaks as it does at its own.
    #[test]
    fn what_holds_in_a_shipped_scene_holds_until_something_happens() {
        let mut played = 0;
        for path in shipped() {
            let scene = load_scene(&path).unwrap();
            let first = scene.events.iter().map(Event::time).min_by(f64::total_cmp);
            let Some(first) = first.filter(|_| scene.bodies.iter().any(|body| body.hold)) else { continue };
            let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
            sandbox.open_scene(scene.coarser(2));
            testing::until(&mut sandbox, Arrived::Opened);
            let settle = |sandbox: &mut Sandbox| {
                while sandbox.is_breaking() {
                    sandbox.poll().unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            };
            settle(&mut sandbox);
            let dt = sandbox.settings().dt;
            while sandbox.time() + 0.5 * dt < first {
                sandbox.step().unwrap();
                settle(&mut sandbox);
            }
            let most = sandbox.greatest_loads().iter().map(|[_, load]| *load).fold(0.0, f64::max);
            println!("{}: bonds bear up to {most:.3} until {first:.2} s", path.display());
            assert!(
                sandbox.bond_failures().is_empty(),
                "{}: {:?}",
                path.display(),
                sandbox.bond_failures()[0]
            );
            assert!(most < 1.0);
            played += 1;
        }
        assert!(played >= 3, "wall, table and bridge: {played}");
    }

    #[test]
    fn another_level_is_made_of_the_mesh_that_is_there() {
        let Some(gpu) = Gpu::for_test() else { return };
        let folder = std::env::temp_dir().join(format!("kintsugi-another-level-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.obj");
        let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
        std::fs::write(&file, tetrahedron).unwrap();
        let mut sandbox = testing::shown(&gpu, Scene::of_mesh(&file.to_string_lossy(), 4));
        std::fs::remove_dir_all(folder).unwrap();
        for level in [5, 3] {
            sandbox.set_level(level, Camera::default());
            testing::until(&mut sandbox, Arrived::Opened);
            assert_eq!(sandbox.objects()[0].scene.level, level);
            assert_eq!(sandbox.bodies()[0].def.collision_level().max(level), level);
            assert_eq!(sandbox.objects()[0].triangles, 4);
        }
    }

    #[test]
    fn a_missing_mesh_gives_way_to_its_fallback() {
        let folder = std::env::temp_dir().join(format!("kintsugi-fallback-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.toml");
        std::fs::write(&file, "[[body]]\nfile = \"a.obj\"\nfallback = \"builtin:statue\"\n").unwrap();
        let without = load_scene(&file).unwrap();
        assert_eq!(without.bodies[0].file, "builtin:statue");
        // Saving keeps the user's file name, so that the mesh is found once it exists.
        let copy = folder.join("b.toml");
        crate::scene::file::save_scene(&copy, &without).unwrap();
        let saved = std::fs::read_to_string(&copy).unwrap();
        assert!(
            saved.contains("file = \"a.obj\"") && saved.contains("fallback = \"builtin:statue\""),
            "{saved}"
        );
        std::fs::write(folder.join("a.obj"), "v 0 0 0\n").unwrap();
        let there = load_scene(&file).unwrap();
        assert!(there.bodies[0].file.ends_with("a.obj"));
        assert_eq!(there.bodies[0].fallback.as_deref(), Some("builtin:statue"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
