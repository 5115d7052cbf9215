//! What the tests of this folder share: a device, seeds, a result as the reference writes it, the comparison of the
//! two, and kernels with a planted error. The solids are those of `tests/support/solids.rs`.

#[path = "../../../../../tests/support/solids.rs"]
mod solids;

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

use crate::geometry::Aabb;
use glam::DVec3;

use super::{
    octrees::{LeafPart, LeavesReadback, Octrees, native::NativeOctrees},
    passes::{Broken, PassStages},
    reference,
    stages::{Inputs, OctreeStages},
};
use crate::{
    fracture::{
        Fracture, FractureParams, Fracturer, Interior, Labelling, Material, Pattern, Recipe, Source, Surface,
        crack::CrackShape, interior,
    },
    gpu::{Buffer, Gpu, Kernel, Layout, Readback, Recorder, Shared, Submissions, shaders},
    svo::{Arena, Forest, LeafColor, Leaves, build, morton},
};

pub use solids::{SOLIDS, ball, cavity, cells_of, comb, forest_of, inside_of, random_solid, sheet, shell};

pub fn seeds(level: u32, count: usize, rng: u64) -> Pattern {
    let params =
        FractureParams { seeds: count as u32, radii: vec![0.2, 0.4, 0.7], rng, ..Default::default() };
    let side = f64::from(1u32 << level);
    let (point, bounds) = (DVec3::new(0.8, 0.55, 0.4) * side, Aabb::new(DVec3::ZERO, DVec3::splat(side)));
    Pattern::on_spheres(&params, point, bounds, level).unwrap()
}

/// On two spheres round a place in the middle of the grid.
pub fn random_seeds(level: u32, count: usize, rng: u64, spread: f64) -> Pattern {
    let radii = vec![spread / 3.0, spread];
    let params = FractureParams { seeds: count as u32, radii, rng, ..Default::default() };
    let side = f64::from(1u32 << level);
    Pattern::on_spheres(&params, DVec3::splat(side * 0.4), Aabb::new(DVec3::ZERO, DVec3::splat(side)), level)
        .unwrap()
}

pub struct Bench {
    pub gpu: Gpu,
    pub fracturer: Fracturer,
}

impl Bench {
    /// One device for all tests: opening it and compiling the passes takes longer than most of them.
    pub fn get() -> &'static Self {
        static BENCH: OnceLock<Bench> = OnceLock::new();
        BENCH.get_or_init(|| {
            let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
            let fracturer = Fracturer::new(&gpu).unwrap();
            Self { gpu, fracturer }
        })
    }

    pub fn run(
        &self,
        forest: &Arc<Forest>,
        tree: u32,
        pattern: &Pattern,
        island_level: Option<u32>,
    ) -> Fracture {
        self.run_by(forest, tree, pattern, &Recipe { island_level, ..Recipe::default() })
    }

    pub fn run_by(&self, forest: &Arc<Forest>, tree: u32, pattern: &Pattern, recipe: &Recipe) -> Fracture {
        self.with_source(forest, tree, |source| self.fracturer.fracture(source, pattern, recipe).unwrap())
    }

    pub fn with_source<T>(&self, forest: &Arc<Forest>, tree: u32, work: impl FnOnce(&Source<'_>) -> T) -> T {
        let mut arena = Arena::new(&self.gpu).unwrap();
        // Something in front, so that a slot's base that is forgotten shows.
        arena.insert(&Arc::new(ball(3))).unwrap();
        arena.insert(forest).unwrap();
        work(&Source::new(&arena, forest, tree).unwrap())
    }
}

/// A forest as the passes hold cells; a leaf's origin is its own number.
pub fn octrees_of(gpu: &Gpu, forest: &Forest) -> Octrees {
    let mut info: Vec<[u32; 2]> = (0..forest.nodes.len() as u32).map(|root| [root, 0]).collect();
    for i in 0..forest.level_start[forest.level as usize - 1] as usize {
        for c in (0..8).filter(|c| forest.nodes[i].valid() >> c & 1 == 1) {
            info[forest.nodes[i].child(c) as usize] = [info[i][0], info[i][1] << 3 | c];
        }
    }
    let leaves = &forest.leaves;
    let place: Vec<[u32; 2]> = leaves.keys.iter().zip(0..).map(|(key, leaf)| [key as u32, leaf]).collect();
    let surface: Vec<[u32; 2]> =
        leaves.normals.iter().zip(&leaves.colors).map(|(normal, color)| [*normal, color.0]).collect();
    Octrees {
        nodes: Buffer::from_slice(gpu, "nodes", &forest.nodes).unwrap(),
        info: Buffer::from_slice(gpu, "places", &info).unwrap(),
        level_start: forest.level_start.clone(),
        leaves: staged(gpu, &place, &surface, &leaves.cuts),
    }
}

/// Leaves on their way to the host.
fn staged(gpu: &Gpu, place: &[[u32; 2]], surface: &[[u32; 2]], cuts: &[u32]) -> LeavesReadback {
    let mut rec = Recorder::new(gpu, "leaves");
    let pairs = |rec: &mut Recorder<'_>, words: &[[u32; 2]]| {
        Readback::copy(rec, &Buffer::from_slice(gpu, "leaves", words).unwrap(), 0, words.len())
    };
    let (place, surface) = (pairs(&mut rec, place), pairs(&mut rec, surface));
    let cuts = Readback::copy(&mut rec, &Buffer::from_slice(gpu, "leaves", cuts).unwrap(), 0, cuts.len());
    rec.submit();
    LeavesReadback { parts: vec![LeafPart { place, surface, cuts }], left: None }
}

/// Octrees of the device in memory.
pub fn read(octrees: &Octrees) -> NativeOctrees {
    let (gpu, passes) = Bench::get().fracturer.passes().unwrap();
    NativeOctrees::read(&mut Submissions::new(gpu, &passes.scan, &passes.plan), octrees).unwrap()
}

/// The cells of a planar fracture by the passes, before islands are told apart.
pub fn unsplit_cells(forest: &Arc<Forest>, pattern: &Pattern) -> Octrees {
    let bench = Bench::get();
    bench.with_source(forest, 0, |source| {
        let (gpu, passes) = bench.fracturer.passes().unwrap();
        let recipe = Recipe::default();
        let volume = recipe.interior.volume(interior::surface_color(forest, 0));
        let of = Inputs { source, pattern, recipe: &recipe };
        match PassStages::new(gpu, passes, of).cells(volume).unwrap().0 {
            Broken::Cells(octrees) => octrees,
            Broken::Pieces(_) => unreachable!("nothing was split"),
        }
    })
}

/// A fracture as the reference writes it, but for its dust, which takes the source to see.
pub fn listed(fracture: &Fracture) -> reference::Reference {
    let mut out = reference::Reference::default();
    let forest = &fracture.forest;
    let mut pieces = vec![Vec::new(); forest.trees()];
    let cell_of: HashMap<u32, u32> = fracture.pieces.iter().map(|p| (p.tree, p.cell)).collect();
    for tree in 0..forest.trees() {
        let cell = cell_of[&(tree as u32)];
        for i in forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize {
            let key = forest.leaves.keys.at(i);
            out.copies.push((cell, key, forest.leaves.colors[i].crack()));
            pieces[tree].push((cell, key));
        }
    }
    forest.for_each_internal(|tree, low, size| {
        let voxels: Vec<_> = cells_of(low, size).map(|key| (cell_of[&(tree as u32)], key)).collect();
        out.internal.extend(&voxels);
        pieces[tree].extend(&voxels);
    });
    out.copies.sort_unstable();
    out.internal.sort_unstable();
    for piece in &mut pieces {
        piece.sort_unstable();
    }
    pieces.sort_unstable();
    out.pieces = pieces;
    out.crack_voxels = fracture.counts.crack_voxels as usize;
    out.swallowed = fracture.counts.swallowed as usize;
    out
}

/// Coverage of every solid leaf cell.
pub fn solid(forest: &Forest, tree: u32) -> BTreeMap<morton::Key, f32> {
    let range = forest.tree_start[tree as usize] as usize..forest.tree_start[tree as usize + 1] as usize;
    let leaves = range.map(|i| (forest.leaves.keys.at(i), forest.leaves.coverage[i]));
    leaves.chain(inside_of(forest, tree as usize).into_iter().map(|key| (key, 1.0))).collect()
}

/// As [`reference::Reference::dust`], read off the coverages of a result; none where the shares of a voxel are not
/// equal.
pub fn dust(source: &BTreeMap<morton::Key, f32>, fracture: &Fracture) -> Option<Vec<(morton::Key, u32)>> {
    let mut shares: HashMap<morton::Key, Vec<f32>> = HashMap::new();
    let leaves = &fracture.forest.leaves;
    for (key, coverage) in leaves.keys.iter().zip(&leaves.coverage) {
        shares.entry(key).or_default().push(*coverage);
    }
    let inside: Vec<_> = (0..fracture.forest.trees()).map(|tree| inside_of(&fracture.forest, tree)).collect();
    let mut dust = Vec::new();
    for (key, whole) in source {
        match shares.get(key) {
            None if inside.iter().any(|cells| cells.contains(key)) => {}
            None => dust.push((*key, 1)),
            Some(shares) => {
                let parts = (whole / shares[0]).round();
                if shares.iter().any(|share| (share * parts / whole - 1.0).abs() >= 1e-6) {
                    return None;
                }
                if parts as usize != shares.len() {
                    dust.push((*key, parts as u32));
                }
            }
        }
    }
    Some(dust)
}

/// The first thing in which a fracture on the device differs from the reference.
pub fn difference(
    fracturer: &Fracturer,
    forest: &Arc<Forest>,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Option<String> {
    let bench = Bench::get();
    let wanted = reference::fracture_by(forest, 0, pattern, recipe).expect("good parameters");
    let fracture = bench.with_source(forest, 0, |source| fracturer.fracture(source, pattern, recipe));
    if wanted.copies.is_empty() && wanted.internal.is_empty() {
        return fracture.is_ok().then(|| "pieces made of nothing".into());
    }
    let fracture = match fracture {
        Ok(fracture) => fracture,
        Err(error) => return Some(format!("it does not break: {error}")),
    };
    let mut got = listed(&fracture);
    let Some(dust) = dust(&solid(forest, 0), &fracture) else {
        return Some("a voxel has unequal shares".into());
    };
    got.dust = dust;
    let sizes = |r: &reference::Reference| {
        (r.copies.len(), r.internal.len(), r.crack_voxels, r.pieces.len(), r.swallowed, r.dust.len())
    };
    if sizes(&got) != sizes(&wanted) {
        return Some(format!(
            "copies, internal, crack voxels, pieces, swallowed, dust: {:?}, not {:?}",
            sizes(&got),
            sizes(&wanted)
        ));
    }
    let whole = wanted.dust.iter().filter(|(_, parts)| *parts == 1).count();
    let parts = [
        ("copies", got.copies == wanted.copies),
        ("internal voxels", got.internal == wanted.internal),
        ("pieces", got.pieces == wanted.pieces),
        ("dust", got.dust == wanted.dust),
        ("dust voxels", fracture.counts.dust_voxels == whole as u64),
    ];
    parts.iter().find(|(_, same)| !same).map(|(what, _)| format!("{what} differ"))
}

pub fn assert_parity(forest: &Arc<Forest>, pattern: &Pattern, recipe: &Recipe, what: &str) {
    if let Some(found) = difference(&Bench::get().fracturer, forest, pattern, recipe) {
        panic!("{what}: {found}");
    }
}

/// The same for flat cracks.
pub fn assert_planar(forest: Forest, pattern: &Pattern, what: &str) {
    assert_parity(&Arc::new(forest), pattern, &Recipe::default(), what);
}

/// Passes into which `put` puts some whose kernels have `from` replaced by `to`.
pub fn planted(
    from: &str,
    to: &str,
    put: impl Fn(&mut super::Passes, &dyn Fn(&'static str) -> Kernel),
) -> Fracturer {
    let gpu = &Bench::get().gpu;
    let mut fracturer = Fracturer::new(gpu).unwrap();
    let hits = Cell::new(0);
    put(fracturer.passes_mut().unwrap(), &|path| {
        let text = shaders::source(path);
        hits.set(hits.get() + usize::from(text.contains(from)));
        Kernel::from_text(gpu, path, text.replace(from, to))
    });
    assert!(hits.get() > 0, "nothing to replace");
    fracturer
}

/// One tree of a forest as a forest of its own. As a source, cracks of earlier generations are plain boundary: the
/// lists tell new cracks by the flag.
pub fn alone(forest: &Forest, tree: u32) -> Forest {
    let range = forest.tree_start[tree as usize] as usize..forest.tree_start[tree as usize + 1] as usize;
    let leaves = Leaves {
        keys: forest.leaves.keys.slice(range.clone()).iter().collect(),
        normals: forest.leaves.normals[range.clone()].to_vec(),
        colors: forest.leaves.colors[range.clone()].iter().map(|c| LeafColor(c.0 & !(1 << 24))).collect(),
        coverage: forest.leaves.coverage[range.clone()].to_vec(),
        cuts: forest.leaves.cuts[range].to_vec(),
    };
    let inside = inside_of(forest, tree as usize);
    build(forest.level, leaves, &|key: morton::Key, l: u32| {
        inside.contains(&(key << (3 * (forest.level - l))))
    })
}

/// All that the kernels share with Rust.
pub(crate) fn layouts() -> Vec<Layout> {
    use super::{
        descent::{DescentParams, HoldersParams, Pair},
        islands::{self, BricksParams, FlattenParams, HookParams, InheritParams, labelling::iterative},
        octrees::{prune, split},
        seams::SeamParams,
        surface::{
            boundary_set::{CopyParams, PaintParams, PlaceParams},
            rough::CrackUniform,
        },
    };
    vec![
        DescentParams::LAYOUT,
        HoldersParams::LAYOUT,
        Pair::LAYOUT,
        PlaceParams::LAYOUT,
        CopyParams::LAYOUT,
        PaintParams::LAYOUT,
        CrackUniform::LAYOUT,
        prune::PruneKeepParams::LAYOUT,
        prune::PruneWriteParams::LAYOUT,
        split::SplitRangeParams::LAYOUT,
        split::SplitParams::LAYOUT,
        BricksParams::LAYOUT,
        HookParams::LAYOUT,
        FlattenParams::LAYOUT,
        InheritParams::LAYOUT,
        Layout::words("Brick", islands::BRICK),
        iterative::LabelSpreadParams::LAYOUT,
        iterative::LabelFlattenParams::LAYOUT,
        Layout::words("Voxel", 2),
        Layout::words("Group", 2),
        Layout::words("Launch", 2),
        SeamParams::LAYOUT,
    ]
}

/// Dispatches every kernel of this folder.
pub(crate) fn run_every_kernel() {
    let bench = Bench::get();
    let mut local = seeds(5, 12, 3);
    local.objects.iter_mut().take(3).for_each(|object| *object = 0);
    let source = Arc::new(comb(5));
    let crack = |transition| CrackShape { transition_level: Some(transition), ..CrackShape::default() };
    let interior = Interior { material: Material::Marble, ..Interior::default() };
    let base = Recipe { interior, ..Recipe::default() };
    let recipes = [
        base.clone(),
        Recipe { island_level: Some(3), ..base.clone() },
        Recipe { labelling: Labelling::Iterative, ..base.clone() },
        Recipe { surface: Surface::Rough, crack: crack(3), ..base.clone() },
        Recipe { surface: Surface::Rough, crack: crack(5), ..base.clone() },
        Recipe { surface: Surface::Dusty, crack: crack(3), ..base.clone() },
        Recipe { surface: Surface::Dusty, crack: crack(5), ..base },
    ];
    // Of so many cells some are swallowed, which is asked by a kernel of its own.
    for pattern in [seeds(5, 12, 3), local, seeds(5, 150, 3)] {
        for recipe in &recipes {
            let broken = |source: &Source<'_>| bench.fracturer.fracture(source, &pattern, recipe);
            let broken = bench.with_source(&source, 0, broken).expect("it breaks");
            Arena::new(&bench.gpu).and_then(|mut arena| arena.insert(&broken.forest)).expect("it has room");
        }
        let keys =
            crate::svo::KeyArray::new(&bench.gpu, "keys", source.leaves.keys.as_slice(), 5).expect("keys");
        bench.fracturer.seams(&keys, 5, &pattern).expect("seams");
    }
}
