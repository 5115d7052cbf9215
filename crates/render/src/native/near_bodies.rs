//! Bodies that may affect the light of a tile.

use glam::Vec3;

use super::{scene::Scene, texels::Bounds};
use crate::tables::{BOX_LEAF, BoxData};

/// A body that rays may hit.
#[derive(Clone, Copy)]
pub(super) struct Near {
    pub body: u32,
    /// Lower bound of the distance of hits, m.
    pub distance: f32,
}

/// Bodies near a tile, nearest first, and those between it and the sun.
#[derive(Default)]
pub(super) struct NearBodies {
    pub around: Vec<Near>,
    pub towards_sun: Vec<Near>,
}

impl NearBodies {
    /// Finds them for rays that start within bounds; sun rays start within other bounds, which are empty if there are
    /// none.
    pub fn find(&mut self, scene: &Scene<'_>, all: Bounds, facing: Bounds) {
        self.around.clear();
        self.towards_sun.clear();
        let reach = scene.frame.ao_reach;
        // Descends the hierarchy, skipping boxes that no ray can hit.
        let mut stack = [0u32; 64];
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let of = &scene.boxes[stack[waiting] as usize];
            let gap = gap(of, all);
            let is_near = gap <= reach;
            let is_before_sun = facing.0.x <= facing.1.x && may_shade(scene, of, facing);
            if !is_near && !is_before_sun {
                continue;
            }
            if of.first & BOX_LEAF == 0 {
                stack[waiting] = of.first;
                stack[waiting + 1] = of.first + 1;
                waiting += 2;
                continue;
            }
            // Reduced so that rounding cannot exclude a hit.
            let near = Near { body: of.first & !BOX_LEAF, distance: gap * 0.9999 };
            if is_near {
                self.around.push(near);
            }
            if is_before_sun {
                self.towards_sun.push(near);
            }
        }
        let nearest_first = |a: &Near, b: &Near| a.distance.total_cmp(&b.distance).then(a.body.cmp(&b.body));
        self.around.sort_by(nearest_first);
        self.towards_sun.sort_by(nearest_first);
    }
}

/// Distance between two boxes.
fn gap(of: &BoxData, (low, high): (Vec3, Vec3)) -> f32 {
    (of.low - high).max(low - of.high).max(Vec3::ZERO).length()
}

/// Whether a ray from a box of points to some point of the sun may hit a box. On every axis the ray's direction lies
/// within the sun's radius of the direction to its centre, so its position at a time lies in an interval.
fn may_shade(scene: &Scene<'_>, of: &BoxData, (low, high): (Vec3, Vec3)) -> bool {
    let spread = scene.frame.sun_radius * 1.01 + 1e-4;
    let (from, to) = (of.low - high, of.high - low);
    let (mut first, mut last) = (0.0f32, f32::INFINITY);
    for k in 0..3 {
        let (slow, fast) = (scene.frame.sun[k] - spread, scene.frame.sun[k] + spread);
        // The fastest ray must reach `from`, the slowest must not have passed `to`.
        if fast > 0.0 {
            first = first.max(from[k] / fast);
        } else if from[k] > 0.0 {
            return false;
        } else if fast < 0.0 {
            last = last.min(from[k] / fast);
        }
        if slow > 0.0 {
            last = last.min(to[k] / slow);
        } else if slow < 0.0 {
            first = first.max(to[k] / slow);
        } else if to[k] < 0.0 {
            return false;
        }
    }
    first <= last
}
