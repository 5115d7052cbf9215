//! Gravity, response and far levels: in a scene file, in the panels and in the world. This is the one place
//! that turns one into another.
//!
//! While a scene is open the tuned values decide; what the panels do not show (sideways gravity, floor,
//! walls, time step, the penalty's constants, where far begins) is the scene's. The panels count gravity
//! downwards, scenes and world along +y.

use super::{Document, values::tuned_touch};
use crate::{
    bodies::{Adaptive, WorldSettings},
    scene::{Scene, Tuning},
};

impl Tuning {
    /// Tunes to what a scene says.
    pub(super) fn take_physics(&mut self, scene: &Scene) {
        self.gravity = -scene.gravity.y;
        self.response = scene.response;
        self.contacts = scene.contacts;
        self.far_levels = scene.adaptive_level.map_or(0, |a| a.most);
    }

    /// Writes the tuned values into a scene.
    pub(super) fn put_physics(&self, scene: &mut Scene) {
        scene.gravity.y = -self.gravity;
        scene.response = self.response;
        scene.contacts = self.contacts;
        // As many levels as the panels say, from where on the scene says.
        let near = scene.adaptive_level.unwrap_or_default().near;
        scene.adaptive_level = (self.far_levels > 0).then_some(Adaptive { near, most: self.far_levels });
    }

    /// Whether bodies at rest may move, or touch in other ways, with these values than with the others.
    pub(super) fn moves_unlike(&self, other: &Self) -> bool {
        self.gravity != other.gravity
            || tuned_touch(self) != tuned_touch(other)
            || self.break_threshold != other.break_threshold
            || self.far_levels != other.far_levels
            || self.response != other.response
            || self.contacts != other.contacts
    }
}

impl Document {
    /// What the world goes by.
    pub fn settings(&self) -> WorldSettings {
        let mut scene = Scene::clone(&self.opened.scene);
        self.tuning.put_physics(&mut scene);
        WorldSettings {
            gravity: scene.gravity,
            dt: scene.dt,
            substeps: scene.substeps,
            floor: scene.floor.then_some(scene.floor_height),
            sleeping: scene.sleeping,
            walls: scene.walls,
            contacts: scene.contacts,
            response: scene.response,
            penalty: scene.penalty,
            adaptive: scene.adaptive_level,
            ..WorldSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::bodies::Response;

    #[test]
    fn scene_panels_and_world_agree() {
        let scene = Scene {
            gravity: DVec3::new(1.0, -2.5, 3.0),
            response: Response::PENALTY,
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

        let tuning = Tuning { gravity: -4.0, far_levels: 0, response: Response::SOFT, ..Tuning::default() };
        assert!(document.set_tuning(tuning, |_| true));
        let settings = document.settings();
        assert_eq!(settings.gravity, DVec3::new(1.0, 4.0, 3.0), "sideways it is the scene's");
        assert_eq!((settings.adaptive, settings.response), (None, Response::SOFT));
        let more = Tuning { far_levels: 1, ..document.tuning().clone() };
        document.set_tuning(more, |_| true);
        assert_eq!(document.settings().adaptive, Some(Adaptive { near: 7.0, most: 1 }));
    }
}
