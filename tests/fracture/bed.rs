//! What every check looks at: the source, the pattern and the recipe, what the brute-force reference says
//! ([`Bed`]), and what came out ([`Outcome`]), as plain lists into which a test can plant an error.

use std::sync::{Arc, OnceLock};

use kintsugi::{
    fracture::{
        Cancel, Fracture, FractureCounts, FractureError, Fracturer, Pattern, Piece, Recipe, Source, Surface,
        reference::{self, Reference},
    },
    gpu::Gpu,
    svo::{Arena, Forest, LeafColor, morton::Key, validate},
};

use super::support::{adapter, solids::cells_of};

/// A device and the passes; those of [`Bench::get`] serve all tests: opening and compiling takes longer than
/// most of them.
pub struct Bench {
    pub gpu: Gpu,
    pub fracturer: Fracturer,
}

impl Bench {
    /// `None`, where that is allowed, without an adapter.
    pub fn get() -> Option<&'static Self> {
        static BENCH: OnceLock<Option<Bench>> = OnceLock::new();
        BENCH.get_or_init(|| adapter::another().map(Self::on)).as_ref()
    }

    pub fn on(gpu: Gpu) -> Self {
        let fracturer = Fracturer::new(&gpu).expect("the passes compile");
        Self { gpu, fracturer }
    }

    pub fn run(
        &self,
        forest: &Arc<Forest>,
        tree: u32,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Fracture, FractureError> {
        let mut arena = Arena::new(&self.gpu)?;
        // Something in front, so that a slot's base that is forgotten shows.
        arena.insert(&super::shapes::Shape::Teeth { width: 2, gap: 2 }.octree(3))?;
        let slot = arena.insert(forest)?;
        let source = Source { arena: &arena, slot, forest, tree, cancel: Cancel::never() };
        self.fracturer.fracture(&source, pattern, recipe)
    }
}

/// What a leaf carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    pub normal: u32,
    pub color: LeafColor,
    pub coverage: f32,
    pub cut: u32,
}

impl Leaf {
    fn of(forest: &Forest, i: usize) -> Self {
        let leaves = &forest.leaves;
        Self {
            normal: leaves.normals[i],
            color: leaves.colors[i],
            coverage: leaves.coverage[i],
            cut: leaves.cuts[i],
        }
    }
}

/// A cell of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Empty,
    Leaf,
    Inside,
}

/// One fracture as it should be.
pub struct Bed {
    pub level: u32,
    /// Boundary voxels of the source, ascending.
    pub leaves: Vec<(Key, Leaf)>,
    /// What is at each Morton code.
    pub cells: Vec<Cell>,
    pub pattern: Pattern,
    pub recipe: Recipe,
    pub wanted: Reference,
}

impl Bed {
    pub fn new(forest: &Forest, tree: u32, pattern: &Pattern, recipe: &Recipe) -> Self {
        let wanted = reference::fracture_by(forest, tree as usize, pattern, recipe).expect("good parameters");
        let range = forest.tree_start[tree as usize] as usize..forest.tree_start[tree as usize + 1] as usize;
        let leaves: Vec<(Key, Leaf)> =
            range.map(|i| (forest.leaves.keys.at(i), Leaf::of(forest, i))).collect();
        let mut cells = vec![Cell::Empty; 1 << (3 * forest.level)];
        leaves.iter().for_each(|(key, _)| cells[*key as usize] = Cell::Leaf);
        forest.visit_internal(tree as usize, &mut |_, low, size| {
            cells_of(low, size).for_each(|key| cells[key as usize] = Cell::Inside);
        });
        Self { level: forest.level, leaves, cells, pattern: pattern.clone(), recipe: recipe.clone(), wanted }
    }

    pub fn leaf(&self, key: Key) -> Option<&Leaf> {
        self.leaves.binary_search_by_key(&key, |leaf| leaf.0).ok().map(|i| &self.leaves[i].1)
    }

    /// How much of a solid cell is solid.
    pub fn coverage(&self, key: Key) -> f64 {
        self.leaf(key).map_or(1.0, |leaf| f64::from(leaf.coverage))
    }

    pub fn is_dusty(&self) -> bool {
        self.recipe.surface == Surface::Dusty
    }

    /// The seed that owns each corner of a cell: the nearest, of equally near ones the lowest.
    pub fn corner_seeds(&self, key: Key) -> [usize; 8] {
        let low = kintsugi::svo::morton::decode(key);
        std::array::from_fn(|c| {
            let at: [i64; 3] =
                std::array::from_fn(|k| i64::from(low[k] + (c as u32 >> k & 1)) << (14 - self.level));
            let distance = |s: &[i32; 3]| (0..3).map(|k| (i64::from(s[k]) - at[k]).pow(2)).sum::<i64>();
            let near = self.pattern.seeds.iter().enumerate().min_by_key(|(_, seed)| distance(seed));
            near.expect("a pattern has seeds").0
        })
    }
}

/// A piece's copy of a boundary voxel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copy {
    pub key: Key,
    /// Index of the piece.
    pub piece: u32,
    /// Its object.
    pub cell: u32,
    pub leaf: Leaf,
}

/// A cell that lies inside a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    pub key: Key,
    pub piece: u32,
    pub cell: u32,
}

/// One fracture as it came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// By voxel, then piece.
    pub copies: Vec<Copy>,
    /// By voxel.
    pub inside: Vec<Held>,
    pub pieces: Vec<Piece>,
    pub counts: FractureCounts,
    pub dust_volume: f64,
    /// What is wrong with the octrees.
    pub findings: Vec<String>,
}

impl Outcome {
    pub fn of(fracture: &Fracture) -> Self {
        let forest = &fracture.forest;
        let (mut copies, mut inside) = (Vec::with_capacity(forest.leaves.len()), Vec::new());
        for (piece, of) in (0u32..).zip(&fracture.pieces) {
            let tree = of.tree as usize;
            for i in forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize {
                let leaf = Leaf::of(forest, i);
                copies.push(Copy { key: forest.leaves.keys.at(i), piece, cell: of.cell, leaf });
            }
            forest.visit_internal(tree, &mut |_, low, size| {
                inside.extend(cells_of(low, size).map(|key| Held { key, piece, cell: of.cell }));
            });
        }
        copies.sort_unstable_by_key(|copy| (copy.key, copy.piece));
        inside.sort_unstable();
        Self {
            copies,
            inside,
            pieces: fracture.pieces.clone(),
            counts: fracture.counts,
            dust_volume: fracture.dust_volume,
            findings: validate(forest).err().unwrap_or_default(),
        }
    }

    /// The copies of each voxel.
    pub fn voxels(&self) -> impl Iterator<Item = &[Copy]> {
        self.copies.chunk_by(|a, b| a.key == b.key)
    }

    /// The copies of one voxel.
    pub fn copies_at(&self, key: Key) -> &[Copy] {
        let first = self.copies.partition_point(|copy| copy.key < key);
        let count = self.copies[first..].partition_point(|copy| copy.key == key);
        &self.copies[first..first + count]
    }

    /// All solid cells as (object, Morton code, piece), sorted.
    pub fn solid(&self) -> Vec<(u32, Key, u32)> {
        let copies = self.copies.iter().map(|copy| (copy.cell, copy.key, copy.piece));
        let mut all: Vec<_> = copies.chain(self.inside.iter().map(|h| (h.cell, h.key, h.piece))).collect();
        all.sort_unstable();
        all
    }
}
