//! Bodies in the format of the contact passes.
//!
//! In: bodies, their boxes, the levels of the step, the arena. Out: a [`Solid`] for each body with a box, in order of
//! body. Positions are relative to the middle of the scene and in two parts, so that they are exact far from the
//! world's origin; boxes are whole numbers of a lattice that covers the scene, rounded the same way for all, so that
//! boxes that overlap overlap there, too.

use super::{
    super::Levels,
    shared::{LEVELS, NONE, Solid},
};
use crate::geometry::Aabb;
use crate::{
    Body, Family, Obb, PairLevels,
    broad_phase::passes::lattice::{FAR, Lattice, in_two, middle},
    svo::{Arena, Forest},
};
use glam::{DMat3, DVec3};
use std::{collections::BTreeMap, sync::Arc};

/// All solids of a search.
#[derive(Default)]
pub struct Solids {
    /// By ascending body.
    pub items: Vec<Solid>,
    /// By solid: its body.
    pub bodies: Vec<usize>,
    /// By body: its solid, or [`NONE`].
    pub of_body: Vec<u32>,
    /// Forests, by the number that a solid has.
    pub forests: Vec<Arc<Forest>>,
    /// Levels of pairs of families: the smaller index, the larger, the level.
    pub given: Vec<u32>,
}

impl Solids {
    /// The solids of `bodies`; `None` if an octree is not in the arena.
    #[must_use]
    pub fn new(
        bodies: &[Body],
        boxes: &[Option<Obb>],
        levels: &Levels<'_>,
        pair_levels: &PairLevels,
        arena: &Arena,
    ) -> Option<Self> {
        let mut out = Self { of_body: vec![NONE; bodies.len()], ..Self::default() };
        let known =
            || bodies.iter().zip(boxes).enumerate().filter_map(|(k, (b, o))| Some((k, b, o.as_ref()?)));
        let middle = middle(known().map(|(_, body, _)| body.state.position));
        let lattice = Lattice::new(known().map(|(_, _, obb)| obb.aabb()));
        let (mut forests, mut families, mut siblings) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (k, body, obb) in known() {
            let octree = body.def.octree();
            let slot = arena.slot(&octree.forest)?;
            let forest = number(&mut forests, Arc::as_ptr(&octree.forest) as usize);
            if forest as usize == out.forests.len() {
                out.forests.push(Arc::clone(&octree.forest));
            }
            let family = number(&mut families, body.def.family);
            let grid =
                (octree.grid.level, octree.grid.origin.to_array().map(f64::to_bits), octree.grid.h.to_bits());
            let sibling = number(&mut siblings, (family, grid));
            let origin = body.world_from_grid().transform_point3(DVec3::ZERO) - middle;
            let [origin, origin_rest] = in_two(origin);
            // Rows of the rotation are columns of its transpose.
            let turn = DMat3::from_quat(body.state.rotation).transpose();
            let row = |v: DVec3| v.as_vec3().to_array();
            let Aabb { low, high } = obb.aabb();
            let Aabb { low: low_voxel, high: high_voxel } = octree.mass.bounds;
            let speed = |v: f64| v.min(FAR) as f32;
            out.of_body[k] = out.items.len() as u32;
            out.bodies.push(k);
            out.items.push(Solid {
                low: lattice.at(low),
                moves: u32::from(body.moves()),
                high: lattice.at(high),
                family,
                origin,
                voxel: octree.grid.h as f32,
                origin_rest,
                spin: speed(body.state.angular_velocity.length() * body.def.radius()),
                turn_x: row(turn.x_axis),
                own: levels.chosen(k),
                turn_y: row(turn.y_axis),
                shape: levels.shape(k),
                turn_z: row(turn.z_axis),
                leaf: octree.forest.level,
                velocity: row(body.state.linear_velocity.clamp(DVec3::splat(-FAR), DVec3::splat(FAR))),
                node_base: slot.node_base,
                middle: row(body.def.shape.centre()),
                root: octree.tree,
                half_box: row(obb.half),
                forest,
                low_voxel: row(low_voxel),
                leaf_base: slot.leaf_base,
                high_voxel: row(high_voxel),
                sibling,
            });
        }
        out.given = given(pair_levels, &families);
        Some(out)
    }

    /// The table for the look-up of levels and samples: the levels of pairs, then for each forest and level the index
    /// of its first sample and of its first node; these come from `sample`.
    #[must_use]
    pub fn tables(&self, sample: impl Fn(&Arc<Forest>, u32) -> [u32; 2]) -> Vec<u32> {
        let mut out = self.given.clone();
        for forest in &self.forests {
            out.extend((0..LEVELS as u32).flat_map(|level| match level <= forest.level {
                true => sample(forest, level),
                false => [NONE, 0],
            }));
        }
        out
    }
}

/// The number of a name: in the order in which they come.
fn number<K: Ord>(known: &mut BTreeMap<K, u32>, name: K) -> u32 {
    let next = known.len() as u32;
    *known.entry(name).or_insert(next)
}

fn given(pair_levels: &PairLevels, families: &BTreeMap<Family, u32>) -> Vec<u32> {
    let known =
        pair_levels.all().filter_map(|(a, b, level)| Some((*families.get(&a)?, *families.get(&b)?, level)));
    known.flat_map(|(a, b, level)| [a.min(b), a.max(b), level]).collect()
}
