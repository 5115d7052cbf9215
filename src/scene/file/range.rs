//! Brings what a running sandbox holds into the range that a scene file can express, so that it can always be saved.
//!
//! In: a scene of any values. Out: one whose positions, velocities and lists `check` accepts, and what was changed.

use std::collections::HashMap;

use glam::{DQuat, DVec3};

use crate::{
    fracture::FractureParams,
    render::{Backdrop, Lens},
    scene::{Event, Scene, SceneBody, ScenePose},
    svo::MAX_LEVEL,
};

/// Farthest coordinate, m.
const FARTHEST: f64 = 1e6;
/// Fastest velocity, m/s or rad/s.
const FASTEST: f64 = 1e4;
/// Latest event, s.
const LATEST: f64 = 1e6;

impl Scene {
    /// Brings all values that a run can drive out of range back into it; says what was changed, one line for each kind.
    pub fn bring_into_range(&mut self) -> Vec<String> {
        let mut tally = Tally::default();
        self.camera = self.camera.map(|camera| camera.sane());
        self.saved_views.iter_mut().for_each(|view| view.camera = view.camera.sane());
        (self.light, self.lens) = (self.light.sane(), self.lens.map(Lens::sane));
        self.backdrop = self.backdrop.take().map(Backdrop::sane);
        self.bodies.iter_mut().for_each(|body| tally.body(body));
        self.poses.iter_mut().for_each(|pose| tally.pose(pose));
        for event in &mut self.events {
            match event {
                Event::Projectile { time, body, .. } => {
                    tally.number(time, 0.0, LATEST);
                    tally.body(body);
                }
                Event::Hand { time, anchor, path, .. } => {
                    tally.number(time, 0.0, LATEST);
                    tally.vector(anchor, FARTHEST);
                    path.iter_mut().for_each(|point| tally.vector(point, FARTHEST));
                }
                Event::Move { time, position, rotation, .. } => {
                    tally.number(time, 0.0, LATEST);
                    tally.vector(position, FARTHEST);
                    tally.rotation(rotation);
                }
                Event::Impact { time, point, direction, speed, fracture, .. } => {
                    tally.number(time, 0.0, LATEST);
                    tally.number(speed, 0.0, FASTEST);
                    tally.vector(point, FARTHEST);
                    tally.direction(direction);
                    fracture.iter_mut().for_each(|params| tally.params(params));
                }
            }
        }
        for one in &mut self.breaks {
            tally.vector(&mut one.point, FARTHEST);
            tally.direction(&mut one.direction);
            tally.params(&mut one.fracture);
        }
        if let Some(pinned) = &mut self.pinned {
            tally.vector(&mut pinned.point, FARTHEST);
            tally.direction(&mut pinned.direction);
        }
        self.bring_pairs_into_range();
        tally.told()
    }

    /// A pair touches at the leaves of its finer body at most; a finer level means those leaves, so nothing is said.
    fn bring_pairs_into_range(&mut self) {
        let levels: HashMap<String, u32> =
            self.objects().filter_map(|body| Some((body.name.clone()?, body.level))).collect();
        for pair in &mut self.pairs {
            let finest = pair.bodies.iter().filter_map(|name| levels.get(name)).max();
            pair.physics_level = pair.physics_level.clamp(1, finest.copied().unwrap_or(MAX_LEVEL));
        }
    }
}

/// What was brought into range.
#[derive(Default)]
struct Tally {
    moved: usize,
    /// Whether the value looked at now was out of range.
    is_out: bool,
    seeds: usize,
}

impl Tally {
    fn number(&mut self, value: &mut f64, low: f64, high: f64) {
        let within = if value.is_nan() { low.max(0.0) } else { value.clamp(low, high) };
        self.is_out |= within != *value;
        *value = within;
    }

    fn vector(&mut self, value: &mut DVec3, most: f64) {
        for axis in 0..3 {
            self.number(&mut value[axis], -most, most);
        }
    }

    fn direction(&mut self, value: &mut DVec3) {
        self.vector(value, FARTHEST);
        if value.length() < 1e-9 {
            *value = DVec3::NEG_Y;
        }
    }

    fn rotation(&mut self, value: &mut DQuat) {
        // A unit quaternion has no component near the limit of 1000.
        if !value.is_finite() || value.length() < 1e-6 || value.to_array().iter().any(|c| c.abs() > 1e3) {
            *value = DQuat::IDENTITY;
            self.is_out = true;
        }
    }

    fn motion(&mut self, [position, linear, angular]: [&mut DVec3; 3], rotation: &mut DQuat) {
        self.is_out = false;
        self.vector(position, FARTHEST);
        self.vector(linear, FASTEST);
        self.vector(angular, FASTEST);
        self.rotation(rotation);
        self.moved += usize::from(self.is_out);
    }

    fn body(&mut self, body: &mut SceneBody) {
        let SceneBody { position, linear_velocity, angular_velocity, rotation, .. } = body;
        self.motion([position, linear_velocity, angular_velocity], rotation);
        self.params(&mut body.fracture);
    }

    fn pose(&mut self, pose: &mut ScenePose) {
        let ScenePose { position, linear_velocity, angular_velocity, rotation, .. } = pose;
        self.motion([position, linear_velocity, angular_velocity], rotation);
    }

    /// Seeds that stay are numbers of a pattern; fewer seeds have fewer numbers.
    fn params(&mut self, params: &mut FractureParams) {
        let (before, seeds) = (params.keep.len(), params.most_seeds());
        params.keep.retain(|seed| *seed < seeds);
        self.seeds += before - params.keep.len();
    }

    fn told(self) -> Vec<String> {
        let mut told = Vec::new();
        if self.moved > 0 {
            told.push(format!(
                "{} of the bodies lay farther off or moved faster than a scene can say; saved at the limit",
                self.moved
            ));
        }
        if self.seeds > 0 {
            told.push(format!(
                "{} seeds that were to stay are gone with the number of seeds; saved without them",
                self.seeds
            ));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use crate::scene::{Scene, SceneBody, ScenePose, parse_scene};

    use glam::{DQuat, DVec3};

    #[test]
    fn what_ran_away_is_saved_at_the_limit_and_what_is_in_range_as_it_is() {
        let text = "[[body]]\nfile = \"builtin:box\"\nlevel = 3\nposition = [1e6, -2.0, 0.1]\n\
                    [body.fracture]\nseeds = 40\nkeep = [35, 3]\n";
        let fine = parse_scene(text, "test").unwrap();
        let mut same = fine.clone();
        assert_eq!((same.bring_into_range(), &same), (Vec::new(), &fine));

        let mut scene: Scene = fine;
        scene.bodies[0].fracture.seeds = 20;
        let (far, nan) = (DVec3::new(f64::INFINITY, -1e9, 3.0), DVec3::splat(f64::NAN));
        scene.bodies.push(SceneBody { position: far, ..SceneBody::standing("builtin:box", 3) });
        scene.poses.push(ScenePose {
            body: 1,
            of: None,
            part: 0,
            position: nan,
            rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, f64::NAN),
            linear_velocity: far,
            angular_velocity: nan,
            asleep: false,
            hidden: false,
            locked: false,
        });
        assert!(check(&scene).is_err());
        let told = scene.bring_into_range();
        assert!(check(&scene).is_ok(), "{:?}", check(&scene).err().map(|p| p.what));
        assert!(told.len() == 2 && told[0].starts_with("2 of the bodies"), "{told:?}");
        assert_eq!(scene.bodies[0].fracture.keep, [3]);
        assert_eq!(scene.bodies[1].position, DVec3::new(1e6, -1e6, 3.0));
    }
}
