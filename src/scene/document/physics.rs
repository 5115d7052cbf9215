//! Gravity, response, walls, levels of pairs and far levels in scene files, panels and world. Only this module converts
//! between them.
//!
//! While a scene is open, tuned values take precedence; values without a panel (sideways gravity, floor, time step, the
//! choice of points in distance fields, the distance at which far begins, pair levels of thrown bodies) come from the
//! scene. Panels count gravity downwards, scenes and world along +y.

use std::collections::{HashMap, HashSet};

use super::Document;
use crate::{
    bodies::{Adaptive, Options, WorldSettings},
    scene::{PairLevel, Scene, ScenePair, Tuning},
};

impl Tuning {
    /// Sets the tuned values from a scene.
    pub(super) fn take_physics(&mut self, scene: &Scene) {
        self.gravity = -scene.gravity.y;
        self.response = scene.response;
        (self.contacts, self.field_level) = (scene.contacts, scene.field_level);
        self.far_levels = scene.adaptive_level.map_or(0, |a| a.most);
        (self.penalty, self.walls) = (scene.penalty, scene.walls);
        self.break_generations = scene.break_generations;
        self.pairs = pairs_of(scene);
    }

    /// Writes the tuned values into a scene.
    pub(super) fn put_physics(&self, scene: &mut Scene) {
        scene.gravity.y = -self.gravity;
        scene.response = self.response;
        (scene.contacts, scene.field_level) = (self.contacts, self.field_level);
        (scene.penalty, scene.walls) = (self.penalty, self.walls);
        scene.break_generations = self.break_generations;
        self.put_pairs(scene);
        // The panel sets the number of levels, the scene the distance.
        let near = scene.adaptive_level.unwrap_or_default().near;
        scene.adaptive_level = (self.far_levels > 0).then_some(Adaptive { near, most: self.far_levels });
    }

    /// Whether bodies at rest may start to move, or have other contacts, with these values than with `other`.
    pub(super) fn moves_unlike(&self, other: &Self) -> bool {
        self.gravity != other.gravity
            || self.far_levels != other.far_levels
            || self.response != other.response
            || self.contacts != other.contacts
            || self.field_level != other.field_level
            || self.penalty != other.penalty
            || self.walls != other.walls
            || self.pairs != other.pairs
            || self.break_generations != other.break_generations
    }

    /// Writes pair levels into a scene, naming its bodies where needed.
    fn put_pairs(&self, scene: &mut Scene) {
        if pairs_of(scene) == self.pairs {
            return;
        }
        // Pairs with thrown bodies have no row in the panels and stay.
        let mut pairs: Vec<ScenePair> = {
            let own = numbers_by_name(scene);
            let is_own = |name: &String| own.contains_key(name.as_str());
            scene.pairs.iter().filter(|pair| !pair.bodies.iter().all(is_own)).cloned().collect()
        };
        let mut taken: HashSet<String> = scene.objects().filter_map(|body| body.name.clone()).collect();
        for PairLevel { bodies: [a, b], level } in &self.pairs {
            if let (Some(a), Some(b)) = (name_of(scene, *a, &mut taken), name_of(scene, *b, &mut taken)) {
                pairs.push(ScenePair { bodies: [a, b], physics_level: *level });
            }
        }
        scene.pairs = pairs;
    }
}

/// The pair levels of a scene for its own bodies.
fn pairs_of(scene: &Scene) -> Vec<PairLevel> {
    let numbers = numbers_by_name(scene);
    let of = |pair: &ScenePair| {
        let [a, b] = [&pair.bodies[0], &pair.bodies[1]].map(|name| numbers.get(name.as_str()).copied());
        Some(PairLevel { bodies: [a?, b?], level: pair.physics_level })
    };
    scene.pairs.iter().filter_map(of).collect()
}

/// The number of the first body with each name. Made once for all pairs: a scene may have tens of thousands of both.
fn numbers_by_name(scene: &Scene) -> HashMap<&str, usize> {
    let mut numbers = HashMap::new();
    for (number, body) in scene.bodies.iter().enumerate() {
        if let Some(name) = body.name.as_deref() {
            numbers.entry(name).or_insert(number);
        }
    }
    numbers
}

/// The name of a body. A body without one gets one that is not in `taken`.
fn name_of(scene: &mut Scene, body: usize, taken: &mut HashSet<String>) -> Option<String> {
    let named = scene.bodies.get_mut(body)?;
    if let Some(name) = &named.name {
        return Some(name.clone());
    }
    let name = (body..).map(|n| format!("body {n}")).find(|name| !taken.contains(name))?;
    taken.insert(name.clone());
    named.name = Some(name.clone());
    Some(name)
}

impl Document {
    /// Settings for the world.
    pub fn settings(&self) -> WorldSettings {
        let mut scene = Scene::clone(&self.opened.scene);
        self.tuning.put_physics(&mut scene);
        scene.world_settings()
    }
}

impl Scene {
    /// What a world that the scene is played in goes by.
    #[must_use]
    pub fn world_settings(&self) -> WorldSettings {
        WorldSettings {
            gravity: self.gravity,
            dt: self.dt,
            substeps: self.substeps,
            floor: self.floor.then_some(self.floor_height),
            sleeping: self.sleeping,
            walls: self.walls,
            contacts: self.contacts,
            response: self.response,
            options: options(self),
            adaptive: self.adaptive_level,
            ..WorldSettings::default()
        }
    }
}

/// The options of the world of a scene.
fn options(scene: &Scene) -> Options {
    [
        ("field_level", f64::from(scene.field_level)),
        ("field_selection", scene.field_selection.as_number()),
        ("field_most_points", f64::from(scene.field_most_points)),
        ("field_epsilon", scene.field_epsilon),
        ("penalty_stiffness", scene.penalty.stiffness),
        ("penalty_friction", scene.penalty.friction),
    ]
    .into()
}

#[cfg(all(test, feature = "papers"))]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::{
        bodies::{ResponseId, Walls},
        scene::{Event, Penalty},
    };

    #[test]
    fn scene_panels_and_world_agree() {
        crate::papers::register();
        let scene = Scene {
            gravity: DVec3::new(1.0, -2.5, 3.0),
            response: "penalty".parse().unwrap(),
            adaptive_level: Some(Adaptive { near: 7.0, most: 2 }),
            floor: false,
            dt: 0.004,
            ..Scene::default()
        };
        let mut document = Document::new(Tuning::default());
        document.open(scene.clone(), Vec::new());
        assert_eq!((document.tuning().gravity, document.tuning().far_levels), (2.5, 2));
        let settings = document.settings();
        assert_eq!((settings.gravity, settings.response), (scene.gravity, scene.response));
        assert_eq!((settings.adaptive, settings.floor, settings.dt), (scene.adaptive_level, None, 0.004));
        let saved = document.to_save(crate::render::Camera::default());
        assert_eq!((saved.gravity, saved.adaptive_level), (scene.gravity, scene.adaptive_level));

        let tuning = Tuning { gravity: -4.0, far_levels: 0, response: ResponseId::SOFT, ..Tuning::default() };
        assert!(document.set_tuning(tuning, |_| true));
        let settings = document.settings();
        assert_eq!(settings.gravity, DVec3::new(1.0, 4.0, 3.0), "sideways it is the scene's");
        assert_eq!((settings.adaptive, settings.response), (None, ResponseId::SOFT));
        let more = Tuning { far_levels: 1, ..document.tuning().clone() };
        document.set_tuning(more, |_| true);
        assert_eq!(document.settings().adaptive, Some(Adaptive { near: 7.0, most: 1 }));
    }

    /// By a search for each name, 30,000 bodies and 60,000 pairs took half a minute, at every autosave again.
    #[test]
    fn pairs_find_their_bodies_as_a_plain_search_does_and_many_take_no_time() {
        let of = |count: usize, names: usize| {
            let name = |i: usize| (i % 7 != 3).then(|| format!("b{}", i % names));
            let body = |i: usize| crate::scene::SceneBody {
                name: name(i),
                ..crate::scene::SceneBody::standing("builtin:box", 2)
            };
            let pair = |i: usize| ScenePair {
                bodies: [count - 1 - i % 5, (count - 1) * 9 / 10 + i % 11].map(|i| format!("b{}", i % names)),
                physics_level: 1 + (i % 2) as u32,
            };
            Scene {
                bodies: (0..count).map(body).collect(),
                pairs: (0..2 * count).map(pair).collect(),
                ..Scene::default()
            }
        };
        for names in [50, 200] {
            let scene = of(200, names);
            let number = |name: &str| scene.bodies.iter().position(|body| body.name.as_deref() == Some(name));
            let found = scene.pairs.iter().filter_map(|pair| {
                let [a, b] = [number(&pair.bodies[0])?, number(&pair.bodies[1])?];
                Some(PairLevel { bodies: [a, b], level: pair.physics_level })
            });
            assert_eq!(pairs_of(&scene), found.collect::<Vec<_>>());
        }
        let scene = of(30_000, 30_000);
        let mut tuning = Tuning::default();
        let start = std::time::Instant::now();
        tuning.take_physics(&scene);
        assert!(tuning.pairs.len() > 10_000, "{}", tuning.pairs.len());
        // Half of the levels differ, so all pairs are written again; every seventh body gets a name.
        tuning.pairs.iter_mut().for_each(|pair| pair.level = 1);
        tuning.pairs.extend((0..30_000).map(|body| PairLevel { bodies: [body, 0], level: 1 }));
        let mut saved = scene.clone();
        tuning.put_physics(&mut saved);
        let took = start.elapsed().as_secs_f64();
        println!("{:.0} ms", took * 1e3);
        assert!(took < 3.0, "{took} s");
        assert!(saved.bodies.iter().all(|body| body.name.is_some()));
        let names: HashSet<&str> = saved.bodies.iter().filter_map(|body| body.name.as_deref()).collect();
        assert_eq!(names.len(), saved.bodies.len(), "each new name is one of its own");
    }

    #[test]
    fn what_the_panels_set_is_saved_and_read_again() {
        let named = |name: Option<&str>| crate::scene::SceneBody {
            name: name.map(str::to_owned),
            ..crate::scene::SceneBody::standing("builtin:box", 5)
        };
        let flying = Event::Projectile { time: 1.0, object: None, body: Box::new(named(Some("ball"))) };
        let pair =
            |a: &str, b: &str, level: u32| ScenePair { bodies: [a.into(), b.into()], physics_level: level };
        let scene = Scene {
            bodies: vec![named(Some("body 1")), named(None), named(Some("vase"))],
            events: vec![flying],
            pairs: vec![pair("body 1", "vase", 4), pair("vase", "ball", 5)],
            break_generations: 5,
            penalty: Penalty { stiffness: 3e7, friction: 10.0 },
            walls: Some(Walls { low: DVec3::ZERO, high: DVec3::ONE }),
            ..Scene::default()
        };
        let mut document = Document::new(Tuning::default());
        document.open(scene.clone(), Vec::new());
        let save = |document: &Document| document.to_save(crate::render::Camera::default());
        let physics = |scene: &Scene| {
            (scene.pairs.clone(), scene.break_generations, scene.penalty, scene.walls, scene.bodies.clone())
        };
        assert_eq!(physics(&save(&document)), physics(&scene), "what nobody changed is saved as it was");
        let mut tuning = document.tuning().clone();
        tuning.walls = None;
        (tuning.break_generations, tuning.penalty.friction) = (1, 20.0);
        tuning.pairs = vec![PairLevel { bodies: [1, 1], level: 3 }, PairLevel { bodies: [2, 0], level: 2 }];
        assert!(document.set_tuning(tuning, |_| true));
        let saved = save(&document);
        assert_eq!(
            saved.pairs,
            [pair("vase", "ball", 5), pair("body 2", "body 2", 3), pair("vase", "body 1", 2)]
        );
        assert_eq!(saved.bodies[1].name.as_deref(), Some("body 2"), "body 1 is taken");
        assert_eq!((saved.break_generations, saved.walls, saved.penalty.friction), (1, None, 20.0));
        let friction = document.settings().options.value(&crate::papers::penalty::FRICTION);
        assert_eq!((document.settings().walls, friction), (None, 20.0));
        let again = crate::scene::parse_scene(&saved.to_text(), "saved");
        assert_eq!(again.unwrap().pairs, saved.pairs);
    }
}

#[cfg(all(test, feature = "papers"))]
mod option_tests {
    use super::*;
    use crate::{
        bodies::{GeneratorEntry, SolverEntry, generators, solvers},
        scene::{FieldSelection, MAX_FIELD_LEVEL, Penalty},
    };

    #[test]
    fn every_option_has_its_default_and_its_range() {
        crate::papers::register();
        let of_generators = generators().into_iter().flat_map(|entry: &GeneratorEntry| entry.options);
        let of_responses = solvers().into_iter().flat_map(|entry: &SolverEntry| entry.options);
        let (usual, unset) = (options(&Scene::default()), Options::default());
        let beyond = Scene {
            field_level: MAX_FIELD_LEVEL + 1,
            field_selection: FieldSelection::Epsilon,
            field_most_points: 5000,
            field_epsilon: 2.0,
            penalty: Penalty { stiffness: 2e15, friction: 2e15 },
            ..Scene::default()
        };
        let (most, set) = (options(&beyond), [7.0, 1.0, 4096.0, 1.0, 1e15, 1e15]);
        let mut found = Vec::new();
        for option in of_generators.chain(of_responses) {
            assert_eq!(usual.value(option), unset.value(option), "{}", option.name);
            found.push(most.value(option));
        }
        assert_eq!(found, set, "all of them, and no others");
    }
}
