//! What is broken: six shapes (vase, cavity, shell, statue, comb, cup), random solids, and meshes from
//! outside where there are any.

use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use glam::{DVec3, IVec3, Vec3};
use kintsugi::{
    mesh::{Mesh, builtin, load},
    svo::{Forest, LeafColor, Leaves, pack_normal},
    voxelize::{Progress, voxelize},
};
use serde::{Deserialize, Serialize};

use super::support::solids::{forest_with, random_cells};

/// Four built-in shapes, a comb-like and a thin-walled one.
pub const SIX: [&str; 6] = ["vase", "cavity", "shell", "statue", "comb", "cup"];

/// One object, whatever the level. Lengths are whole numbers, so that a case shrinks to a plain one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// One of [`SIX`].
    Named(String),
    /// A mesh file.
    File(PathBuf),
    /// Lumps of 4^3 voxels, `percent` of them, with holes, and single voxels between. Above level 6 this one
    /// and [`Shape::Teeth`] are those of level 6, enlarged: finer ones have more surface than the buffers of
    /// a software adapter hold.
    Fill { percent: u32, rng: u64 },
    /// Boxes: low corner and edges in 1/64 of the grid's side.
    Boxes(Vec<[u8; 6]>),
    /// Balls: centre and radius in 1/64 of the grid's side.
    Balls(Vec<[u8; 4]>),
    /// Square teeth of `width` voxels with gaps of `gap` on a bar.
    Teeth { width: i32, gap: i32 },
    /// Waves of a sheet `thickness` voxels thick, `period` long.
    Sheet { thickness: i32, period: i32 },
}

impl Shape {
    /// Its octree. Meshes are voxelised once a level.
    pub fn octree(&self, level: u32) -> Arc<Forest> {
        let side = 1i32 << level;
        let unit = f64::from(side) / 64.0;
        let coarse = 1 << level.saturating_sub(6);
        match self {
            Self::Named(name) => known(name, level, || named(name)),
            Self::File(path) => known(&path.to_string_lossy(), level, || {
                load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).0
            }),
            Self::Fill { percent, rng } => {
                let solid = random_cells(*rng, *percent);
                made(level, |p| solid(p / coarse))
            }
            Self::Boxes(boxes) => made(level, |p| {
                boxes.iter().any(|b| {
                    (0..3).all(|k| {
                        let at = f64::from(p[k]) + 0.5 - f64::from(b[k]) * unit;
                        at >= 0.0 && at <= f64::from(b[k + 3]) * unit
                    })
                })
            }),
            Self::Balls(balls) => made(level, |p| {
                balls.iter().any(|b| {
                    let centre = DVec3::new(b[0].into(), b[1].into(), b[2].into()) * unit;
                    (p.as_dvec3() + 0.5).distance(centre) <= f64::from(b[3]) * unit
                })
            }),
            Self::Teeth { width, gap } => made(level, |p| {
                let tooth = |v: i32| v / coarse % (width + gap) < *width;
                p.min_element() > 0
                    && p.max_element() < side - 1
                    && (p.y < side / 6 || tooth(p.x) && tooth(p.z))
            }),
            Self::Sheet { thickness, period } => made(level, |p| {
                let wave = (p.x % (2 * period) - period).abs() + p.z / 2;
                (0..*thickness).contains(&(p.y - side / 8 - wave))
            }),
        }
    }
}

/// A solid with a normal and a colour of its own for every leaf, so that a leaf that is mistaken for another
/// one shows. Two voxels in the middle are always there.
fn made(level: u32, solid: impl Fn(IVec3) -> bool + Sync) -> Arc<Forest> {
    let middle = (1 << level) / 2;
    let core = IVec3::splat(middle);
    let look = |key: kintsugi::svo::Key, leaves: &mut Leaves| {
        let h = (key as u32 ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b1);
        let part = |shift: u32| (h >> shift & 0x3ff) as f32 / 511.5 - 1.0;
        leaves.normals.push(pack_normal(Vec3::new(part(0), part(11), part(22))));
        let rgb = [h as u8, (h >> 8) as u8, (h >> 16) as u8];
        leaves.colors.push(LeafColor::new(rgb, false, part(5) * 0.5));
    };
    Arc::new(forest_with(level, |p| solid(p) || p == core || p == core - IVec3::X, &look))
}

fn known(name: &str, level: u32, mesh: impl FnOnce() -> Mesh) -> Arc<Forest> {
    type Known = HashMap<(String, u32), Arc<Forest>>;
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let key = (name.to_owned(), level);
    let look = || KNOWN.lock().unwrap().as_ref().and_then(|all| all.get(&key).cloned());
    if let Some(forest) = look() {
        return forest;
    }
    let forest = Arc::new(voxelize(&mesh(), level, &Progress::default()).expect("it voxelises").forest);
    KNOWN.lock().unwrap().get_or_insert_default().insert(key, Arc::clone(&forest));
    forest
}

/// One of [`SIX`] as triangles.
fn named(name: &str) -> Mesh {
    match name {
        "comb" => {
            // A bar with two rows of teeth that run to its side: thin solids side by side, which one cell
            // cuts into islands.
            let mut parts = vec![([0.0, 0.0, 0.0], [1.0, 0.12, 0.25])];
            for tooth in 0..12 {
                let x = 0.02 + 0.0817 * tooth as f32;
                parts.push(([x, 0.1, 0.02], [x + 0.045, 0.9, 0.075]));
                parts.push(([x, 0.1, 0.175], [x + 0.03, 0.6, 0.23]));
            }
            boxes(&parts)
        }
        // An open box with walls a little over one voxel thick at level 6.
        "cup" => {
            let wall = 0.018;
            boxes(&[
                ([0.0, 0.0, 0.0], [0.8, wall, 0.7]),
                ([0.0, 0.0, 0.0], [wall, 1.0, 0.7]),
                ([0.8 - wall, 0.0, 0.0], [0.8, 1.0, 0.7]),
                ([0.0, 0.0, 0.0], [0.8, 1.0, wall]),
                ([0.0, 0.0, 0.7 - wall], [0.8, 1.0, 0.7]),
            ])
        }
        _ => builtin(name).unwrap_or_else(|| panic!("no shape is called {name}")),
    }
}

/// Closed boxes (low, high), outward oriented; they may overlap.
fn boxes(parts: &[([f32; 3], [f32; 3])]) -> Mesh {
    let mut mesh = Mesh::default();
    for (low, high) in parts {
        let first = mesh.positions.len() as u32;
        for c in 0..8usize {
            mesh.positions.push(std::array::from_fn(|k| if c >> k & 1 == 1 { high[k] } else { low[k] }));
        }
        for [a, b, c, d] in
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]
        {
            mesh.triangles.push([first + a, first + b, first + c]);
            mesh.triangles.push([first + a, first + c, first + d]);
        }
    }
    mesh
}

/// The mesh file that is shipped, and those beside the repository (`../shared/meshes`, or `KINTSUGI_MESHES`),
/// by name; says so where there are none.
pub fn meshes() -> Vec<PathBuf> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        std::env::var_os("KINTSUGI_MESHES").map_or_else(|| home.join("../shared/meshes"), PathBuf::from);
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_mesh = |path: &PathBuf| path.extension().is_some_and(|e| e == "obj" || e == "ply");
    let mut all: Vec<PathBuf> = files.filter(is_mesh).collect();
    all.sort();
    all.push(home.join("assets/scenes/slab.obj"));
    if all.len() == 1 {
        // Straight to the stream: what `eprintln!` writes is kept back from tests that pass.
        let _ = writeln!(
            std::io::stderr(),
            "NOTE: there are no meshes in {}; of meshes from files, only the shipped one is checked",
            folder.display()
        );
    }
    all
}

#[test]
fn the_six_shapes_are_what_they_are_called() {
    for name in SIX {
        let forest = Shape::Named(name.into()).octree(6);
        let mass = kintsugi::shape::grid_mass(&forest, 0);
        let size = mass.bounds.size();
        let share = mass.volume / size.element_product();
        println!(
            "{name} level 6: {} leaves, {:.0} voxels, {:.1} % of its box",
            forest.leaves.len(),
            mass.volume,
            share * 100.0
        );
        assert!(size.max_element() >= 62.0 && forest.leaves.len() > 5000, "{name}");
        if name == "cup" || name == "comb" {
            assert!(share < 0.4, "{name} is thin");
        }
        let inside = mass.voxels - forest.leaves.len() as u64;
        println!("{inside} voxels inside");
        assert_eq!(inside * 10 < mass.voxels, name == "cup", "{name}");
    }
}
