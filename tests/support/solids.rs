//! Solids given by their cells, as octrees of one tree. Used by the tests of this folder and by those inside
//! the library.

use std::collections::HashSet;

use glam::{DVec3, IVec3};
use kintsugi::svo::{Forest, LeafColor, Leaves, build, morton, pack_normal};

/// A forest from a solid's cells: those with an empty neighbour (26) are boundary, the others internal. All
/// leaves look alike, but for seven different coverages.
pub fn forest_of(level: u32, solid: impl Fn(IVec3) -> bool + Sync) -> Forest {
    forest_with(level, solid, &|_, leaves| {
        leaves.normals.push(pack_normal(glam::Vec3::Y));
        leaves.colors.push(LeafColor::new([200, 100, 50], false, 0.0));
    })
}

/// As [`forest_of`]; `look` adds the normal and the colour of a leaf, by its Morton code.
pub fn forest_with(
    level: u32,
    solid: impl Fn(IVec3) -> bool + Sync,
    look: &dyn Fn(morton::Key, &mut Leaves),
) -> Forest {
    use rayon::prelude::*;
    let side = 1i32 << level;
    let cell = |key: morton::Key| IVec3::from_array(morton::decode(key).map(|v| v as i32));
    let filled: Vec<bool> = (0..1u64 << (3 * level)).into_par_iter().map(|key| solid(cell(key))).collect();
    let is_filled = |p: IVec3| {
        p.min_element() >= 0
            && p.max_element() < side
            && filled[morton::encode(p.as_uvec3().to_array()) as usize]
    };
    let buried: Vec<bool> = (0..filled.len() as morton::Key)
        .into_par_iter()
        .map(|key| {
            let p = cell(key);
            (0..27).all(|n| is_filled(p + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)))
        })
        .collect();
    let on_surface = |key: &morton::Key| filled[*key as usize] && !buried[*key as usize];
    let keys: Vec<morton::Key> = (0..filled.len() as morton::Key).filter(on_surface).collect();
    let coverage = (0..keys.len()).map(|i| 0.25 + 0.5 * (i % 7) as f32 / 7.0).collect();
    let mut leaves = Leaves { coverage, ..Leaves::default() };
    keys.iter().for_each(|key| look(*key, &mut leaves));
    leaves.keys = keys.into();
    build(level, leaves, &|key: morton::Key, l: u32| buried[(key << (3 * (level - l))) as usize])
}

pub fn ball(level: u32) -> Forest {
    let c = DVec3::splat(f64::from(1 << level) / 2.0);
    let r = f64::from(1 << level) * 0.45;
    forest_of(level, |p| (p.as_dvec3() + 0.5 - c).length() < r)
}

pub fn shell(level: u32) -> Forest {
    let c = DVec3::splat(f64::from(1 << level) / 2.0);
    let n = f64::from(1 << level);
    forest_of(level, |p| ((p.as_dvec3() + 0.5 - c).length() / n - 0.36).abs() < 0.09)
}

/// A block with a sealed void.
pub fn cavity(level: u32) -> Forest {
    let n = 1 << level;
    forest_of(level, |p| {
        let q = p - IVec3::splat(n / 2);
        q.abs().max_element() < n * 3 / 8 && q.abs().max_element() > n / 8
    })
}

/// Teeth on a bar: cells fall into many islands.
pub fn comb(level: u32) -> Forest {
    let n = 1 << level;
    forest_of(level, |p| {
        p.min_element() > 0
            && p.max_element() < n - 1
            && (p.y < n / 6 || (p.x / 2 % 2 == 0 && p.z / 2 % 2 == 0))
    })
}

/// A sheet one voxel thick, on a slope.
pub fn sheet(level: u32) -> Forest {
    forest_of(level, |p| p.x + p.y == (1 << level) - 2)
}

/// A name and what makes it at a level.
pub type Solid = (&'static str, fn(u32) -> Forest);

/// All five.
pub const SOLIDS: [Solid; 5] =
    [("ball", ball), ("shell", shell), ("cavity", cavity), ("comb", comb), ("sheet", sheet)];

/// A random solid of blobs and noise: `fill` percent of the lumps of 4^3 cells, with holes, and single cells.
pub fn random_solid(level: u32, rng: u64, fill: u32) -> Forest {
    forest_of(level, random_cells(rng, fill))
}

/// The cells of [`random_solid`].
pub fn random_cells(rng: u64, fill: u32) -> impl Fn(IVec3) -> bool + Sync {
    let hash = move |p: IVec3| {
        let mut h = (p.x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (p.y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ (p.z as u64).wrapping_mul(0x1656_67b1_9e37_79f9)
            ^ rng.wrapping_mul(0xd6e8_feb8_6659_fd93);
        h ^= h >> 32;
        h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
        (h >> 40) % 100
    };
    move |p| hash(p / 4) < u64::from(fill) && hash(p + 1000) < 90 || hash(p + 5000) < 2
}

/// The cells that lie inside one tree, by Morton code.
pub fn inside_of(forest: &Forest, tree: usize) -> HashSet<morton::Key> {
    let mut inside = HashSet::new();
    forest.visit_internal(tree, &mut |_, low, size| inside.extend(cells_of(low, size)));
    inside
}

/// Morton codes of the cells of a cube.
pub fn cells_of(low: [u32; 3], size: u32) -> impl Iterator<Item = morton::Key> {
    // A node's cells follow each other in Morton order.
    let first = morton::encode(low);
    first..first + morton::Key::from(size).pow(3)
}
