//! Shapes and worlds for the tests of this module, made in code.

use super::{BodyDef, BodyState, World, WorldSettings, mass_properties};
use crate::svo::{Forest, Grid, LeafColor, Leaves, Node, Slot, build, morton, pack_normal};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// A block of voxels `low..high`: the outer voxels are leaves with planes on the block's faces, the rest is internal.
pub fn block(level: u32, low: [u32; 3], high: [u32; 3]) -> Forest {
    let within = move |p: [u32; 3], m: u32| (0..3).all(|i| p[i] >= low[i] + m && p[i] + m < high[i]);
    let mut cells = Vec::new();
    for x in low[0]..high[0] {
        for y in low[1]..high[1] {
            for z in low[2]..high[2] {
                if !within([x, y, z], 1) {
                    cells.push(morton::encode([x, y, z]));
                }
            }
        }
    }
    cells.sort_unstable();
    let mut leaves = Leaves::default();
    for key in cells {
        let p = morton::decode(key);
        let mut n = Vec3::ZERO;
        for i in 0..3 {
            if p[i] == low[i] {
                n[i] = -1.0;
            } else if p[i] + 1 == high[i] {
                n[i] = 1.0;
            }
        }
        // At an edge or corner the plane goes through the outermost point, up to the format's limit of a voxel.
        let faces = n.abs().element_sum();
        leaves.keys.push(key);
        leaves.normals.push(pack_normal(n));
        leaves.colors.push(LeafColor::new([200; 3], false, 0.5 * faces.sqrt()));
        leaves.coverage.push(1.0);
    }
    build(level, leaves, &move |key: u32, l: u32| within(morton::decode(key << (3 * (level - l))), 1))
}

/// A ball whose leaves carry the exact tangent plane.
pub fn ball(level: u32, centre: Vec3, radius: f32) -> Forest {
    let side = 1u32 << level;
    let solid = move |p: [u32; 3]| {
        p.iter().all(|&v| v < side)
            && (Vec3::from(p.map(|v| v as f32 + 0.5)) - centre).length() < radius + 0.2
    };
    let inner = move |p: [u32; 3]| {
        solid(p)
            && (0..3).all(|i| {
                let (mut a, mut b) = (p, p);
                a[i] = a[i].wrapping_sub(1);
                b[i] += 1;
                solid(a) && solid(b)
            })
    };
    let mut leaves = Leaves::default();
    for key in 0..1u32 << (3 * level) {
        let p = morton::decode(key);
        if solid(p) && !inner(p) {
            let r = Vec3::from(p.map(|v| v as f32 + 0.5)) - centre;
            leaves.keys.push(key);
            leaves.normals.push(pack_normal(r));
            leaves.colors.push(LeafColor::new([200; 3], false, radius - r.length()));
            leaves.coverage.push(1.0);
        }
    }
    build(level, leaves, &move |key: u32, l: u32| inner(morton::decode(key << (3 * (level - l)))))
}

/// Many trees of one level as one forest.
pub fn join(trees: &[Forest]) -> Forest {
    let level = trees[0].level;
    let mut out = Forest { level, level_start: vec![0], tree_start: vec![0], ..Forest::default() };
    for l in 0..level as usize {
        let count: u32 = trees.iter().map(|t| t.level_start[l + 1] - t.level_start[l]).sum();
        let mut next = if l + 1 < level as usize { out.nodes.len() as u32 + count } else { 0 };
        for tree in trees {
            let range = tree.level_start[l] as usize..tree.level_start[l + 1] as usize;
            for node in &tree.nodes[range] {
                out.nodes.push(Node { child_base: next, ..*node });
                next += u32::from(node.valid()).count_ones();
            }
        }
        out.level_start.push(out.nodes.len() as u32);
    }
    for tree in trees {
        out.leaves.keys.extend(&tree.leaves.keys);
        out.leaves.normals.extend(&tree.leaves.normals);
        out.leaves.colors.extend(&tree.leaves.colors);
        out.leaves.coverage.extend(&tree.leaves.coverage);
        out.tree_start.push(out.leaves.len() as u32);
    }
    out
}

/// A block cut into `parts`^3 blocks that touch, as one forest.
pub fn split_block(level: u32, low: [u32; 3], high: [u32; 3], parts: u32) -> Forest {
    let cut = |i: usize, k: u32| low[i] + (high[i] - low[i]) * k / parts;
    let mut trees = Vec::new();
    for x in 0..parts {
        for y in 0..parts {
            for z in 0..parts {
                let at = [x, y, z];
                let from = std::array::from_fn(|i| cut(i, at[i]));
                let to = std::array::from_fn(|i| cut(i, at[i] + 1));
                trees.push(block(level, from, to));
            }
        }
    }
    join(&trees)
}

/// A grid of `level` whose side is `metres` long, in the middle of the world.
pub fn grid(level: u32, metres: f64) -> Grid {
    let h = metres / f64::from(1u32 << level);
    Grid { level, origin: DVec3::new(-0.5 * metres, 0.0, -0.5 * metres), h }
}

/// A body made of one tree, where its grid says, lifted by `lift`.
pub fn body(forest: &Arc<Forest>, tree: u32, grid: Grid, physics_level: u32, lift: DVec3) -> BodyDef {
    let mass = mass_properties(forest, tree as usize);
    let slot = Slot { node_base: 0, leaf_base: 0, nodes: 0, leaves: 0 };
    let mut def = BodyDef {
        forest: Arc::clone(forest),
        slot,
        tree,
        grid,
        mass,
        density: 1000.0,
        friction: 0.6,
        restitution: 0.0,
        fixed: false,
        physics_level,
        state: BodyState::at(DVec3::ZERO),
    };
    def.state = def.state_in_place(glam::DMat4::from_translation(lift));
    def
}

/// A world that needs no GPU.
pub fn world(settings: WorldSettings) -> World {
    World::on_cpu(settings)
}
