//! Contacts with the floor plane: each octree is walked against the plane.
//!
//! In: bodies and the floor's height. Out: one manifold for each body near it. Which cells matter is decided at the physics
//! level; how deep they are, at the leaves, so that the resting height does not depend on the level.

use super::{
    Lie, Manifold, Point, carry, cell_size, holds,
    manifold::{Totals, find, floor_margin, inherit, reduce},
};
use crate::{
    bodies::{
        Body,
        surfels::{Shapes, Surfels, first_of_level, leaf_plane},
    },
    svo::{morton, morton::Key},
};
use glam::{DMat4, DVec3};

/// Directions in which the outermost points are kept.
const SPREAD: usize = 8;

/// Manifolds of all awake bodies near the floor, in order of body.
pub fn floor_manifolds(
    bodies: &[Body],
    height: f64,
    dt: f64,
    shapes: &mut Shapes,
    old: &[Manifold],
) -> Vec<Manifold> {
    let mut out = Vec::new();
    for body in bodies.iter().filter(|b| !b.is_static() && !b.asleep) {
        let level = body.def.collision_level();
        let cell = cell_size(body, level);
        let speed =
            body.state.linear_velocity.length() + body.state.angular_velocity.length() * body.def.radius();
        let margin = floor_margin(cell, speed * dt);
        if body.state.position.y - body.def.radius() > height + margin {
            continue;
        }
        let levels = [level, 0];
        let before = find(old, body.id, None).map(|k| &old[k]);
        if let Some(old) = before.filter(|old| holds(old, body, None, levels, dt)) {
            let mut kept = old.clone();
            carry(&mut kept, bodies, dt);
            out.push(kept);
            continue;
        }
        let surfels = shapes.get(&body.def.forest, level).surfels.clone();
        let to_world = body.world_from_grid();
        let mut walk = Walk {
            body,
            level,
            to_world,
            surfels: &surfels,
            limit: height + margin,
            height,
            found: Vec::new(),
        };
        // Crumbs stand on the corners of their voxels.
        if body.def.is_crumb() {
            walk.corners();
        } else {
            walk.descend(body.def.tree, 0, 0);
        }
        let before = before.map_or(&[][..], |m| &m.points);
        let totals = Totals::of(&walk.found);
        let mut points = reduce(&walk.found, before, cell, SPREAD);
        if !body.def.is_crumb() {
            points.iter_mut().for_each(|p| refine(p, body, &surfels, &to_world, height));
        }
        inherit(&mut points, before, cell);
        points.iter_mut().for_each(|p| p.ease = 0.0);
        out.push(Manifold {
            first: body.id,
            second: None,
            points,
            levels,
            lie: Lie::new(body, None),
            totals,
            seen: Vec::new(),
        });
    }
    out
}

struct Walk<'a> {
    body: &'a Body,
    level: u32,
    to_world: DMat4,
    surfels: &'a Surfels,
    limit: f64,
    height: f64,
    found: Vec<Point>,
}

impl Walk<'_> {
    fn descend(&mut self, node: u32, level: u32, key: Key) {
        let forest = &self.body.def.forest;
        let Some(&parent) = forest.nodes.get(node as usize) else {
            return;
        };
        for c in 0..8 {
            if parent.valid() >> c & 1 == 0 {
                continue;
            }
            let (child, child_key) = (parent.child(c), key << 3 | c);
            if level + 1 == self.level {
                self.sample(child - first_of_level(forest, self.level));
                continue;
            }
            let size = f64::from(1u32 << (forest.level - level - 1));
            let low = DVec3::from(morton::decode(child_key).map(f64::from));
            let centre = self.to_world.transform_point3((low + 0.5) * size);
            // Half a diagonal, and a voxel for surfaces that leave their cell.
            if centre.y - (0.867 * size + 1.0) * self.body.def.grid.h < self.limit {
                self.descend(child, level + 1, child_key);
            }
        }
    }

    fn corners(&mut self) {
        let forest = &self.body.def.forest;
        let tree = self.body.def.tree as usize;
        let range = |t: usize| forest.tree_start.get(t).map_or(0, |&i| i as usize);
        let area = 0.25 * self.body.def.grid.h.powi(2);
        for leaf in range(tree)..range(tree + 1) {
            let low = DVec3::from(morton::decode(forest.leaves.keys[leaf]).map(f64::from));
            for c in 0..8u32 {
                let corner = low + DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from));
                let p = self.to_world.transform_point3(corner);
                if p.y < self.limit {
                    let key = leaf as u64 * 8 + u64::from(c);
                    self.found.push(point(self.body, key, p, self.height, area));
                }
            }
        }
    }

    fn sample(&mut self, index: u32) {
        let surfel = &self.surfels.items[index as usize];
        let forest = &self.body.def.forest;
        let voxels = f64::from(1u32 << (forest.level - self.level));
        let place = |side: u32| self.to_world.transform_point3(surfel.side(side).0.as_dvec3() * voxels);
        let (front, back) = (place(0), place(1));
        let p = if back.y < front.y { back } else { front };
        if p.y >= self.limit {
            return;
        }
        let area = f64::from(self.surfels.areas[index as usize]) * self.body.def.grid.h.powi(2);
        let upright = self.to_world.transform_vector3(surfel.side(0).1.as_dvec3()).normalize_or_zero().y;
        self.found.push(point(self.body, u64::from(index), p, self.height, area * upright.abs()));
    }
}

fn point(body: &Body, key: u64, p: DVec3, height: f64, area: f64) -> Point {
    Point {
        key,
        position: p,
        anchors: [body.state.rotation.inverse() * (p - body.state.position), p],
        normal: DVec3::Y,
        plane: DVec3::Y,
        found: p.y - height,
        separation: p.y - height,
        ease: 0.0,
        area,
        normal_impulse: 0.0,
        friction_impulse: DVec3::ZERO,
        total_impulse: 0.0,
        slip: DVec3::ZERO,
        slid: false,
    }
}

/// Moves a point to the lowest leaf of its cell.
fn refine(p: &mut Point, body: &Body, surfels: &Surfels, to_world: &DMat4, height: f64) {
    let index = p.key as usize;
    let (first, end) = (surfels.leaf_start[index] as usize, surfels.leaf_start[index + 1] as usize);
    // Of leaves equally low, the outermost, so that a box stands on its corners at every level.
    let rank = |p: &DVec3| p.y - 1e-3 * (*p - body.state.position).with_y(0.0).length();
    let lowest = (first..end)
        .map(|leaf| to_world.transform_point3(leaf_plane(&body.def.forest, leaf).0.as_dvec3()))
        .min_by(|a, b| rank(a).total_cmp(&rank(b)));
    if let Some(lowest) = lowest {
        *p = point(body, p.key, lowest, height, p.area);
    }
}
