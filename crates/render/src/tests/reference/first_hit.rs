//! First hits without any octree: every leaf and internal box of every body against every ray.

use glam::{Vec3, Vec3A};

use crate::{
    PixelHit, RenderBody,
    svo::{Forest, morton, unpack_cut, unpack_normal},
};

/// A ray's nearest hit, in f64 where it matters little and plain to read everywhere.
pub fn first_hit(origin: Vec3, direction: Vec3, bodies: &[(RenderBody, &Forest)]) -> PixelHit {
    let mut best = (f32::INFINITY, PixelHit::Sky);
    for (index, (body, forest)) in bodies.iter().enumerate() {
        let inverse = body.world_from_local.inverse();
        let (o, d) = (inverse.transform_point3(origin), inverse.transform_vector3(direction));
        let mut consider = |t: f32, leaf: Option<u32>| {
            if t < best.0 {
                best = (t, PixelHit::Body { body: index, leaf, distance: t });
            }
        };
        for (leaf, key) in forest.leaves.keys.iter().enumerate() {
            let low = Vec3::from(morton::decode(key).map(|v| v as f32));
            let Some((enter, leave)) = slab(o, d, low, low + 1.0) else { continue };
            let own = (unpack_normal(forest.leaves.normals[leaf]), forest.leaves.colors[leaf].offset());
            let (mut from, mut to) = (enter, leave);
            for (normal, offset) in [Some(own), unpack_cut(forest.leaves.cuts[leaf])].into_iter().flatten() {
                let (height, slope) = ((o - low - 0.5).dot(normal) - offset, d.dot(normal));
                if slope < 0.0 {
                    from = from.max(-height / slope);
                } else {
                    to = to.min(-height / slope);
                }
            }
            if from <= to {
                consider(from, Some(leaf as u32));
            }
        }
        forest.for_each_internal(|_, low, size| {
            let low = Vec3::from(low.map(|v| v as f32));
            if let Some((enter, _)) = slab(o, d, low, low + size as f32) {
                consider(enter, None);
            }
        });
    }
    best.1
}

fn slab(o: Vec3, d: Vec3, low: Vec3, high: Vec3) -> Option<(f32, f32)> {
    let (a, b) = (Vec3A::from((low - o) / d), Vec3A::from((high - o) / d));
    let (enter, leave) = (a.min(b).max_element().max(0.0), a.max(b).min_element());
    (enter < leave).then_some((enter, leave))
}
