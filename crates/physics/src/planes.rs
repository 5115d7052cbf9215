//! What never moves and has no octree: the floor and the walls of a box.

use glam::DVec3;

/// The half-space `normal . p < offset` is solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit, out of the solid.
    pub normal: DVec3,
    /// m.
    pub offset: f64,
}

impl Plane {
    /// How far `p` is out of the solid, m.
    #[must_use]
    pub fn distance(&self, p: DVec3) -> f64 {
        p.dot(self.normal) - self.offset
    }
}

/// An axis-aligned box that nothing leaves, world, m.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walls {
    /// Low corner.
    pub low: DVec3,
    /// High corner.
    pub high: DVec3,
}

impl Walls {
    /// Whether there is room inside.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low.cmplt(self.high).all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Aabb;
    use crate::{
        Body, BodyState, WorldSettings,
        testing::{block, body, grid, world},
    };
    use std::sync::Arc;

    #[test]
    fn a_box_has_six_planes_and_the_floor_is_one_of_them() {
        let walls = Walls { low: DVec3::new(-1.0, 0.0, -2.0), high: DVec3::new(1.0, 3.0, 2.0) };
        let mut settings = WorldSettings { walls: Some(walls), ..WorldSettings::default() };
        assert_eq!(settings.planes().len(), 6);
        settings.floor = None;
        assert_eq!(settings.planes().len(), 6);
        settings.floor = Some(-5.0);
        assert_eq!(settings.planes().len(), 7);
        for plane in settings.planes() {
            assert!(plane.distance(DVec3::new(0.0, 1.0, 0.0)) > 0.0, "{plane:?}");
        }
        settings.walls = Some(Walls { low: DVec3::ONE, high: DVec3::ZERO });
        assert_eq!(settings.planes().len(), 1, "a box without room is none");
    }

    /// Farthest that any corner of the body's bounds is outside, m.
    fn outside(body: &Body, walls: &Walls) -> f64 {
        let to_world = body.world_from_grid();
        let Aabb { low, high } = body.def.octree().mass.bounds;
        (0..8u32)
            .map(|c| {
                let pick = DVec3::new(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2));
                let p = to_world.transform_point3(low + pick * (high - low));
                (walls.low - p).max(p - walls.high).max_element()
            })
            .fold(f64::MIN, f64::max)
    }

    #[test]
    fn nothing_leaves_the_box() {
        let forest = Arc::new(block(5, [8; 3], [24; 3]));
        let walls = Walls { low: DVec3::new(-1.0, 0.0, -1.0), high: DVec3::new(1.0, 1.5, 1.0) };
        for gravity in [DVec3::new(0.0, -9.81, 0.0), DVec3::new(9.0, 2.0, -4.0)] {
            let mut w = world(WorldSettings { walls: Some(walls), gravity, ..WorldSettings::default() });
            for (i, velocity) in
                [DVec3::new(20.0, 5.0, 1.0), DVec3::new(-3.0, 15.0, 30.0)].into_iter().enumerate()
            {
                let mut def = body(&forest, 0, grid(5, 0.8), 4, DVec3::Y * (0.1 + 0.6 * i as f64));
                def.restitution = 0.5;
                def.state = BodyState {
                    linear_velocity: velocity,
                    angular_velocity: DVec3::new(3.0, 1.0, -2.0),
                    ..def.state
                };
                w.add(def);
            }
            let mut worst = f64::MIN;
            for step in 0..400 {
                w.step_on_cpu();
                if step % 10 == 0 {
                    worst = w.bodies.iter().map(|b| outside(b, &walls)).fold(worst, f64::max);
                }
            }
            let rest = w.bodies.iter().map(|b| outside(b, &walls)).fold(f64::MIN, f64::max);
            println!(
                "gravity {gravity}: outside at most {:.1} mm, at the end {:.2} mm",
                worst * 1e3,
                rest * 1e3
            );
            assert!(worst < 0.025 && rest < 0.0075, "a voxel is 25 mm");
            assert!(w.bodies.iter().all(|b| b.asleep), "and they come to rest against the walls");
        }
    }
}
