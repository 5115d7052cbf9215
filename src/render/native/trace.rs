//! One ray against all bodies: the native twin of `trace` in `shaders/render/trace.wgsl`.

use glam::Vec3;

use super::{
    scene::Scene,
    walk::{Hit, Ray, safe_inverse, walk},
};
use crate::render::tables::{BOX_LEAF, BoxData};

/// Where a ray enters a box; 1e30 when it misses or enters beyond `last`.
#[inline(always)]
fn box_entry(of: &BoxData, origin: Vec3, inverse: Vec3, first: f32, last: f32) -> f32 {
    let (a, b) = ((of.low - origin) * inverse, (of.high - origin) * inverse);
    let enter = a.min(b).max_element().max(first);
    let leave = a.max(b).min_element().min(last);
    if enter <= leave { enter } else { 1e30 }
}

/// Nearest hit, or the first found when `any`.
#[inline(always)]
pub(super) fn trace(scene: &Scene<'_>, ray: &Ray, any: bool) -> Hit {
    let mut best = Hit::none(ray.last);
    if !scene.has_bodies() {
        return best;
    }
    let inverse = safe_inverse(ray.direction);
    if box_entry(&scene.boxes[0], ray.origin, inverse, ray.first, ray.last) > 1e29 {
        return best;
    }
    // Boxes that wait, with where the ray enters them: a hit found meanwhile may lie before them.
    let mut stack = [(0u32, 0.0f32); 24];
    let mut depth = 0;
    let mut current = 0u32;
    loop {
        let first = scene.boxes[current as usize].first;
        if first & BOX_LEAF != 0 {
            walk(scene, first & !BOX_LEAF, ray, &mut best);
            if any && best.body != super::scene::BODY_SKY {
                return best;
            }
        } else {
            let entry = |of: u32| {
                let of = &scene.boxes[of as usize];
                box_entry(of, ray.origin, inverse, ray.first, best.distance)
            };
            let (a, b) = (entry(first), entry(first + 1));
            let (near, far, t_far) = if b < a { (first + 1, first, a) } else { (first, first + 1, b) };
            if a.min(b) < 1e29 {
                if t_far < 1e29 {
                    stack[depth] = (far, t_far);
                    depth += 1;
                }
                current = near;
                continue;
            }
        }
        loop {
            if depth == 0 {
                return best;
            }
            depth -= 1;
            if stack[depth].1 < best.distance {
                current = stack[depth].0;
                break;
            }
        }
    }
}
