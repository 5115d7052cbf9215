//! What a ray meets where far octants count as solid blocks: every octant that it touches, in no order.

use glam::{DVec3, Vec3};

use super::{super::fixtures::root, nearest_triangle, triangles};
use crate::{
    RenderBody,
    svo::{Forest, unpack_cut, unpack_normal},
};

/// A ray in world space.
pub struct Ray {
    /// m.
    pub origin: DVec3,
    /// Unit.
    pub direction: DVec3,
    /// An octant of several voxels is a solid block where its edge is less than this times the distance at
    /// which the ray enters it: the ray stands for a cone that sees no finer.
    pub slope: f64,
    /// Where the ray begins and ends, m.
    pub first: f64,
    /// m.
    pub last: f64,
}

/// Distance of the nearest solid, m.
pub fn nearest(ray: &Ray, bodies: &[(RenderBody, &Forest)]) -> Option<f64> {
    let of_body = |(body, forest): &(RenderBody, &Forest)| {
        if let Some(solid) = body.shape.drawn_surface() {
            let all = triangles(body, solid);
            let met = nearest_triangle(&all, ray.origin, ray.direction, (ray.first, ray.last));
            return met.map(|(t, _)| t);
        }
        let grid_from_world = body.world_from_local.as_dmat4().inverse();
        let walk = Walk {
            forest,
            origin: grid_from_world.transform_point3(ray.origin),
            direction: grid_from_world.transform_vector3(ray.direction),
            slope: ray.slope / f64::from(body.world_from_local.x_axis.truncate().length()),
        };
        let inside = walk.within(body.bounds().0, body.bounds().1, (ray.first, ray.last))?;
        walk.descend(root(body), Vec3::ZERO, 1 << forest.level, inside)
    };
    bodies.iter().filter_map(of_body).min_by(f64::total_cmp)
}

struct Walk<'a> {
    forest: &'a Forest,
    origin: DVec3,
    direction: DVec3,
    /// In voxels a metre.
    slope: f64,
}

impl Walk<'_> {
    /// The part of a span of the ray that lies in a box.
    fn within(&self, low: Vec3, high: Vec3, (from, to): (f64, f64)) -> Option<(f64, f64)> {
        let a = (low.as_dvec3() - self.origin) / self.direction;
        let b = (high.as_dvec3() - self.origin) / self.direction;
        let (from, to) = (a.min(b).max_element().max(from), a.max(b).min_element().min(to));
        (from < to).then_some((from, to))
    }

    fn descend(&self, node: u32, low: Vec3, size: u32, span: (f64, f64)) -> Option<f64> {
        let half = size / 2;
        let node = self.forest.nodes[node as usize];
        let of_octant = |c: u32| {
            let low = low + Vec3::from([c & 1, c >> 1 & 1, c >> 2].map(|bit| (bit * half) as f32));
            let (from, to) = self.within(low, low + half as f32, span)?;
            if node.internal() >> c & 1 == 1 {
                return Some(from);
            }
            if node.valid() >> c & 1 == 0 {
                return None;
            }
            match half {
                1 => self.leaf(node.child(c) as usize, low, (from, to)),
                _ if f64::from(half) < self.slope * from => Some(from),
                _ => self.descend(node.child(c), low, half, span),
            }
        };
        (0..8).filter_map(of_octant).min_by(f64::total_cmp)
    }

    /// The solid of a leaf lies below its own plane and below its cut, where it has one.
    fn leaf(&self, leaf: usize, low: Vec3, (mut from, mut to): (f64, f64)) -> Option<f64> {
        let leaves = &self.forest.leaves;
        let own = (unpack_normal(leaves.normals[leaf]), leaves.colors[leaf].offset());
        for (normal, offset) in [Some(own), unpack_cut(leaves.cuts[leaf])].into_iter().flatten() {
            let normal = normal.as_dvec3();
            let height = (self.origin - low.as_dvec3() - 0.5).dot(normal) - f64::from(offset);
            let slope = self.direction.dot(normal);
            if slope < 0.0 {
                from = from.max(-height / slope);
            } else {
                to = to.min(-height / slope);
            }
        }
        (from <= to).then_some(from)
    }
}
