//! Which values bodies have: their own, as the scene has them, until the panels say otherwise for all.
//!
//! The panels begin with what the first object has. While a value there is what it was, every body keeps its own; so undoing a change
//! gives each body back what it had.

use super::{ObjectInfo, Sandbox};
use crate::{
    bodies::BodyId,
    fracture::FractureParams,
    scene::{SceneBody, Tuning},
};

/// What bodies are like to touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    pub friction: f64,
    pub restitution: f64,
    /// Not limited to the levels that the body has.
    pub physics_level: u32,
}

impl Touch {
    fn of(body: &SceneBody) -> Self {
        Self { friction: body.friction, restitution: body.restitution, physics_level: body.collision_level() }
    }

    pub(super) fn tuned(tuning: &Tuning) -> Self {
        Self {
            friction: tuning.friction,
            restitution: tuning.restitution,
            physics_level: tuning.physics_level,
        }
    }
}

/// Whether two lists of parameters break alike but for their random numbers.
fn alike(a: &FractureParams, b: &FractureParams) -> bool {
    let plain = |p: &FractureParams| FractureParams {
        rng: 0,
        keep: Vec::new(),
        interior: FractureParams::default().interior,
        ..p.clone()
    };
    plain(a) == plain(b)
}

impl Sandbox {
    fn first_object(&self) -> Option<&SceneBody> {
        self.objects.first().map(|object| &object.scene)
    }

    /// Of a body that a scene has so.
    pub(super) fn touch_of(&self, own: &SceneBody) -> Touch {
        let (tuned, own) = (Touch::tuned(&self.tuning), Touch::of(own));
        let first = self.first_object().map_or(tuned, Touch::of);
        Touch {
            friction: if tuned.friction == first.friction { own.friction } else { tuned.friction },
            restitution: if tuned.restitution == first.restitution {
                own.restitution
            } else {
                tuned.restitution
            },
            physics_level: if tuned.physics_level == first.physics_level {
                own.physics_level
            } else {
                tuned.physics_level
            },
        }
    }

    /// How an object breaks when nobody says how: its own pattern, or what the panels made of it for all; with random numbers of its own.
    pub(super) fn fracture_of(&self, own: &SceneBody) -> FractureParams {
        let tuned = &self.tuning.fracture;
        match self.first_object() {
            Some(first) if !alike(&first.fracture, tuned) => {
                FractureParams { rng: own.fracture.rng, keep: Vec::new(), ..tuned.clone() }
            }
            _ => own.fracture.clone(),
        }
    }

    /// The same of a body; one that broke off has no list of kept seeds, which counts in the pattern of the whole.
    pub(super) fn own_params(&self, body: BodyId) -> FractureParams {
        let object = self.info.get(&body).and_then(|info| self.objects.get(info.object));
        let mut params =
            object.map_or_else(|| self.tuning.fracture.clone(), |o: &ObjectInfo| self.fracture_of(&o.scene));
        if !self.is_intact(body) {
            params.keep.clear();
        }
        params
    }

    /// Gives all bodies what they have now.
    pub(super) fn spread_values(&mut self) {
        let all: Vec<Touch> = self.objects.iter().map(|object| self.touch_of(&object.scene)).collect();
        for body in &mut self.world.bodies {
            let object = self.info.get(&body.id).map_or(0, |info| info.object);
            let Some(touch) = all.get(object) else { continue };
            body.def.friction = touch.friction;
            body.def.restitution = touch.restitution;
            body.def.physics_level = touch.physics_level.clamp(1, body.def.octree().forest.level.max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu::Gpu,
        scene::{Arrived, Scene},
    };

    /// Two boxes of their own kind.
    fn two() -> Scene {
        let body = |friction: f64, level: u32, rng: u64| SceneBody {
            friction,
            physics_level: Some(level),
            fracture: FractureParams { rng, ..FractureParams::default() },
            ..SceneBody::standing("builtin:box".to_owned(), 5)
        };
        Scene { bodies: vec![body(0.5, 5, 3), body(0.05, 4, 4)], ..Scene::default() }
    }

    fn open(scene: Scene) -> Option<Sandbox> {
        let gpu = Gpu::for_test()?;
        let mut sandbox = Sandbox::new(&gpu).unwrap();
        show(&mut sandbox, scene);
        Some(sandbox)
    }

    fn show(sandbox: &mut Sandbox, scene: Scene) {
        sandbox.open_scene(scene);
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn frictions(sandbox: &Sandbox) -> Vec<f64> {
        sandbox.bodies().iter().map(|b| b.def.friction).collect()
    }

    #[test]
    fn bodies_keep_their_own_values_until_the_panels_change_them() {
        let Some(mut sandbox) = open(two()) else { return };
        let mut tuning = sandbox.tuning().clone();
        tuning.fracture.seeds += 1;
        tuning.view.explode = 0.5;
        sandbox.tune("seeds", tuning.clone());
        assert_eq!(frictions(&sandbox), [0.5, 0.05]);
        let saved = sandbox.scene(crate::render::Camera::default());
        let of = |f: fn(&SceneBody) -> f64| saved.bodies.iter().map(f).collect::<Vec<_>>();
        assert_eq!(of(|b| b.friction), [0.5, 0.05]);
        assert_eq!(of(|b| f64::from(b.physics_level.unwrap())), [5.0, 4.0]);
        // What the panels changed is everyone's, the random numbers stay.
        let seeds = f64::from(tuning.fracture.seeds);
        assert_eq!(of(|b| f64::from(b.fracture.seeds)), [seeds; 2]);
        assert_eq!(of(|b| b.fracture.rng as f64), [3.0, 4.0]);

        sandbox.end_gesture();
        tuning.friction = 0.9;
        sandbox.tune("friction", tuning);
        assert_eq!(frictions(&sandbox), [0.9, 0.9]);
        sandbox.undo();
        assert_eq!(frictions(&sandbox), [0.5, 0.05]);
        sandbox.undo();
        let saved = sandbox.scene(crate::render::Camera::default());
        assert_eq!(saved.bodies, two().bodies, "what nobody changed is saved as it was");
    }

    #[test]
    fn undoing_an_open_brings_the_world_back() {
        let Some(mut sandbox) = open(two()) else { return };
        let settings = *sandbox.settings();
        let mut other = two();
        other.bodies.truncate(1);
        other.floor = false;
        other.gravity.x = 3.0;
        show(&mut sandbox, other);
        assert_eq!(sandbox.settings().floor, None);
        sandbox.undo();
        assert_eq!(
            (sandbox.settings().floor, sandbox.settings().gravity),
            (settings.floor, settings.gravity)
        );
        sandbox.reset();
        assert_eq!(sandbox.bodies().len(), 2, "reset goes back to the scene that is open");
        sandbox.undo();
        sandbox.redo();
        assert_eq!(sandbox.bodies().len(), 2);
    }
}
