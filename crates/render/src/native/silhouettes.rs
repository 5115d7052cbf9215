//! Rectangles of bodies in the picture, used to select the bodies of a tile instead of testing a hierarchy for every
//! ray.

use glam::Vec3;

use super::scene::Scene;
use crate::tables::BOX_LEAF;

/// A body in the picture.
#[derive(Clone, Copy)]
pub(super) struct Silhouette {
    pub body: u32,
    /// Lower bound of the distance of hits, m.
    pub near: f32,
    /// First and last pixel that may show it.
    low: [f32; 2],
    high: [f32; 2],
}

/// Rays pass up to this far from their pixel's corner.
const MARGIN: f32 = 2.0;

/// All bodies that can be drawn, nearest first.
pub(super) fn silhouettes(scene: &Scene<'_>) -> Vec<Silhouette> {
    let bodies = scene.boxes.iter().filter(|of| of.first & BOX_LEAF != 0);
    let mut all: Vec<Silhouette> = bodies
        .filter_map(|of| {
            let (low, high) = (of.low, of.high);
            let near = scene.frame.eye.distance(scene.frame.eye.clamp(low, high));
            let [from, to] = rectangle(scene, low, high)?;
            // Reduced so that rounding cannot exclude a hit.
            Some(Silhouette { body: of.first & !BOX_LEAF, near: near * 0.9999, low: from, high: to })
        })
        .collect();
    all.sort_by(|a, b| a.near.total_cmp(&b.near).then(a.body.cmp(&b.body)));
    all
}

impl Silhouette {
    /// Whether it may be visible in a rectangle of pixels.
    #[inline(always)]
    pub fn meets(&self, low: [f32; 2], high: [f32; 2]) -> bool {
        (0..2).all(|k| self.low[k] <= high[k] && self.high[k] >= low[k])
    }
}

/// Bounding rectangle of a box in the picture; the whole picture if the box reaches behind the camera, `None` if all of
/// it is behind.
fn rectangle(scene: &Scene<'_>, low: Vec3, high: Vec3) -> Option<[[f32; 2]; 2]> {
    let frame = &scene.frame;
    let (mut from, mut to) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let over_square = |v: Vec3| v / v.length_squared();
    let (right, up) = (over_square(frame.right), over_square(frame.up));
    let near = 1e-3 * (frame.target - frame.eye).length();
    let mut before = 0;
    for k in 0..8 {
        let corner = Vec3::select(glam::BVec3::new(k & 1 != 0, k & 2 != 0, k & 4 != 0), high, low);
        let p = corner - frame.eye;
        let depth = p.dot(frame.forward);
        if depth <= near {
            continue;
        }
        before += 1;
        let at = Vec3::new(p.dot(right) / depth, -p.dot(up) / depth, 0.0);
        (from, to) = (from.min(at), to.max(at));
    }
    let size = frame.size.map(|v| v as f32);
    match before {
        // The camera may be inside the box, just before its farthest corner.
        0 if frame.eye.clamp(low, high).distance(frame.eye) > 2.0 * near => None,
        8 => {
            let pixel = |of: Vec3, k: usize| (of[k] + 1.0) * 0.5 * size[k];
            Some([
                [pixel(from, 0) - MARGIN, pixel(from, 1) - MARGIN],
                [pixel(to, 0) + MARGIN, pixel(to, 1) + MARGIN],
            ])
        }
        _ => Some([[-MARGIN; 2], size.map(|v| v + MARGIN)]),
    }
}
