//! Shapes and worlds for the tests of this module, made in code.

use super::{BodyDef, BodyState, ContactsId, Family, StepReport, Walls, World, WorldSettings};
use crate::shape::{Convex, Look, Octree, Shape};
use crate::svo::{Forest, Grid, LeafColor, Leaves, Node, build, morton, pack_normal};
use glam::{DMat4, DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use std::sync::Arc;

/// A block of voxels `low..high`: the outer voxels are leaves with planes on the block's faces, the rest is
/// internal.
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
        // At an edge or corner the plane goes through the outermost point, up to the format's limit of a
        // voxel.
        let faces = n.abs().element_sum();
        leaves.keys.push(key);
        leaves.normals.push(pack_normal(n));
        leaves.colors.push(LeafColor::new([200; 3], false, 0.5 * faces.sqrt()));
        leaves.coverage.push(1.0);
    }
    build(level, leaves, &move |key: morton::Key, l: u32| within(morton::decode(key << (3 * (level - l))), 1))
}

/// A block of voxels `low..high` from which those of `from..to` are taken out, with planes on all of its faces.
pub fn carved(level: u32, [low, high]: [[u32; 3]; 2], [from, to]: [[u32; 3]; 2]) -> Forest {
    let between =
        |p: [u32; 3], low: [u32; 3], high: [u32; 3]| (0..3).all(|i| p[i] >= low[i] && p[i] < high[i]);
    let solid = move |p: [u32; 3]| between(p, low, high) && !between(p, from, to);
    let out = move |p: [u32; 3]| {
        let side = |i: usize, way: i32| {
            let mut next = p;
            next[i] = next[i].wrapping_add_signed(way);
            if solid(next) { 0.0 } else { way as f32 }
        };
        Vec3::from(std::array::from_fn(|i| side(i, -1) + side(i, 1)))
    };
    let mut leaves = Leaves::default();
    for key in 0..1 << (3 * level) {
        let p = morton::decode(key);
        if solid(p) && out(p) != Vec3::ZERO {
            leaves.keys.push(key);
            leaves.normals.push(pack_normal(out(p)));
            leaves.colors.push(LeafColor::new([200; 3], false, 0.5 * out(p).abs().element_sum().sqrt()));
            leaves.coverage.push(1.0);
        }
    }
    let inner = move |p: [u32; 3]| solid(p) && out(p) == Vec3::ZERO;
    build(level, leaves, &move |key: morton::Key, l: u32| inner(morton::decode(key << (3 * (level - l)))))
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
    for key in 0..1 << (3 * level) {
        let p = morton::decode(key);
        if solid(p) && !inner(p) {
            let r = Vec3::from(p.map(|v| v as f32 + 0.5)) - centre;
            leaves.keys.push(key);
            leaves.normals.push(pack_normal(r));
            leaves.colors.push(LeafColor::new([200; 3], false, radius - r.length()));
            leaves.coverage.push(1.0);
        }
    }
    build(level, leaves, &move |key: morton::Key, l: u32| inner(morton::decode(key << (3 * (level - l)))))
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
    let octree = Octree::new(forest, tree, grid);
    let mut def = BodyDef {
        shape: Arc::new(Shape::octree(octree, 1000.0, Look::default())),
        meters_per_unit: 1.0,
        object_size_m: grid.h * f64::from(1u32 << grid.level),
        // The trees of one forest are the pieces of one object.
        family: Family(Arc::as_ptr(forest) as u64),
        friction: 0.6,
        restitution: 0.0,
        rolling_resistance: 0.3,
        fixed: false,
        physics_level,
        structure: None,
        state: BodyState::at(DVec3::ZERO),
    };
    def.state = def.state_in_place(glam::DMat4::from_translation(lift));
    def
}

/// The same world, in which everything meets by octrees.
pub fn by_octrees(mut world: World) -> World {
    world.settings.contacts = ContactsId::named("octree").expect("it is in the table");
    world
}

/// A world that needs no GPU.
pub fn world(settings: WorldSettings) -> World {
    World::on_cpu(settings)
}

/// Steps a world for so long, and gives the last report.
pub fn steps(world: &mut World, seconds: f64) -> StepReport {
    let mut last = StepReport::default();
    for _ in 0..(seconds / world.settings.dt).round() as usize {
        last = world.step_on_cpu();
    }
    last
}

/// The height of the lowest voxel in the body's own grid, m.
pub fn low_y(def: &BodyDef) -> f64 {
    def.octree().grid.origin.y + def.octree().grid.h * def.octree().mass.bounds.low.y
}

/// A cube that lies still on the floor, by this generator, and a wall that is put 5 cm into it.
pub fn push_by_a_wall(contacts: &str) {
    let name = contacts;
    let contacts = ContactsId::named(contacts).expect("it is in the table");
    let mut w = world(WorldSettings { contacts, ..WorldSettings::default() });
    let mut def = body(&Arc::new(block(5, [4; 3], [20; 3])), 0, grid(5, 1.0), 5, DVec3::ZERO);
    def.state.position.y -= low_y(&def);
    let low_x = def.octree().grid.origin.x + def.octree().grid.h * def.octree().mass.bounds.low.x;
    w.add(def);
    let r = steps(&mut w, 3.0);
    let before = w.bodies[0].state.position;
    assert_eq!(r.awake, 0, "{name}");
    let low = DVec3::new(low_x + 0.05, -1.0, -9.0);
    w.settings.walls = Some(Walls { low, high: DVec3::splat(9.0) });
    w.wake_all();
    steps(&mut w, 2.0);
    let moved = w.bodies[0].state.position.x - before.x;
    println!("{name}: pushed out by {moved:.4} of 0.05 m");
    assert!((0.04..0.06).contains(&moved), "{name}: {moved}");
}

/// A cuboid of these edges whose low corner is at `low` in shape space, lying there.
pub fn cuboid(low: DVec3, edges: DVec3) -> BodyDef {
    let corners = (0..8u32).map(|c| low + edges * DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)));
    let faces: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let convex = Convex::new(corners.collect(), faces.map(Vec::from).into()).expect("a cuboid");
    let mut def = BodyDef {
        shape: Arc::new(Shape::convex(convex, 1000.0, Look::default())),
        meters_per_unit: 1.0,
        object_size_m: edges.max_element(),
        family: Family::unique(),
        friction: 0.6,
        restitution: 0.0,
        rolling_resistance: 0.0,
        fixed: false,
        physics_level: 5,
        structure: None,
        state: BodyState::at(DVec3::ZERO),
    };
    def.state = def.state_in_place(DMat4::IDENTITY);
    def
}

/// A block broken into Voronoi cells as a fracture breaks it: voxels that several cells share are copied, and
/// every copy carries the exact plane between its cell and the neighbour.
pub fn shattered_block(level: u32, low: [u32; 3], high: [u32; 3], seeds: &[Vec3]) -> Forest {
    let owner = |p: Vec3| {
        let distance = |i: &usize| (seeds[*i] - p).length_squared();
        (0..seeds.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let side = high.iter().max().map_or(1, |v| v + 1);
    let corner = |p: [u32; 3]| ((p[2] * side + p[1]) * side + p[0]) as usize;
    let owners: Vec<u16> = (0..side * side * side)
        .into_par_iter()
        .map(|i| {
            owner(Vec3::new((i % side) as f32, (i / side % side) as f32, (i / side / side) as f32)) as u16
        })
        .collect();
    let cells_at = |p: [u32; 3]| {
        let mut cells: Vec<u16> =
            (0..8).map(|c| owners[corner([p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2)])]).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    };
    let in_block = |p: [u32; 3]| (0..3).all(|i| p[i] >= low[i] && p[i] < high[i]);
    let on_face = |p: [u32; 3]| (0..3).any(|i| p[i] == low[i] || p[i] + 1 == high[i]);
    let mut leaves = vec![Leaves::default(); seeds.len()];
    for key in 0..1 << (3 * level) {
        let p = morton::decode(key);
        if !in_block(p) {
            continue;
        }
        let cells = cells_at(p);
        if cells.len() == 1 && !on_face(p) {
            continue;
        }
        let centre = Vec3::from(p.map(|v| v as f32 + 0.5));
        for &cell in &cells {
            let own = seeds[cell as usize];
            let planes = cells.iter().filter(|&&c| c != cell).map(|&other| {
                let across = seeds[other as usize] - own;
                let n = across.normalize_or(Vec3::X);
                (((own + seeds[other as usize]) * 0.5 - centre).dot(n), n)
            });
            let mut face = Vec3::ZERO;
            for i in 0..3 {
                face[i] = f32::from(u8::from(p[i] + 1 == high[i])) - f32::from(u8::from(p[i] == low[i]));
            }
            let outer = (face != Vec3::ZERO).then(|| (0.5 * face.length(), face.normalize_or(Vec3::X)));
            let nearest = planes.chain(outer).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, Vec3::Y));
            let l = &mut leaves[cell as usize];
            l.keys.push(key);
            l.normals.push(pack_normal(nearest.1));
            l.colors.push(LeafColor::new([200; 3], cells.len() > 1, nearest.0));
            l.coverage.push(1.0 / cells.len() as f32);
        }
    }
    let trees: Vec<Forest> = leaves
        .into_iter()
        .enumerate()
        .filter(|(_, l)| !l.is_empty())
        .map(|(cell, l)| {
            let keys = l.keys.clone();
            build(level, l, &|key: morton::Key, at: u32| {
                // An empty octant is wholly on one side: ask its low voxel.
                let shift = 3 * (level - at);
                let p = morton::decode(key << shift);
                let first = keys.as_slice().partition_point(|k| k < key << shift);
                let clear = keys.iter().nth(first).is_none_or(|k| k >> shift != key);
                clear && in_block(p) && !on_face(p) && owners[corner(p)] == cell as u16
            })
        })
        .collect();
    join(&trees)
}

/// `count` points inside `low..high`.
pub fn scattered(low: [u32; 3], high: [u32; 3], count: usize) -> Vec<Vec3> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(11);
    let mut along = |i: usize| rng.random_range(low[i] as f32..high[i] as f32);
    (0..count).map(|_| Vec3::new(along(0), along(1), along(2))).collect()
}
