//! The bytes of an `OpenVDB` file of version 224: grids of single-precision numbers in trees of blocks of eight voxels a side.
//!
//! In: blocks by their place, and what a grid is called. Out: the header of a file, and each grid with the places of its
//! parts in the file. Values outside the active voxels are the background or its negative, so that only a bit is written
//! of each; the rest is not compressed.

use std::collections::BTreeMap;

/// Voxels of a block.
pub const VOXELS: usize = 512;
/// Bits of a block's place in a lower node, and of that node's place in an upper one, per axis.
const BITS: [u32; 2] = [4, 5];
/// First eight bytes of a file.
const MAGIC: u64 = 0x5644_4220;
/// Versions of the file, and of the library whose files these are like.
const VERSIONS: [u32; 3] = [224, 10, 0];
/// What a file is known by; the same for all files, since the same pieces give the same bytes.
const ID: &str = "6b696e74-7375-6769-8000-766f78656c73";
/// Compression of a grid: only the values of active voxels are there.
const ACTIVE_MASK: u32 = 2;
/// What stands before values: the others are all background, or a bit tells the background from its negative.
const ALL_BACKGROUND: u8 = 0;
const BACKGROUND_OR_NEGATIVE: u8 = 3;

/// The values of a block, and a bit for each that is active; z is fastest. What is not active is the background of the grid,
/// or its negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Values, by [`offset`].
    pub values: [f32; VOXELS],
    /// Active ones.
    pub active: [u64; VOXELS / 64],
}

/// Content of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// One value everywhere.
    Tile {
        /// The value; of one that is not active the background or its negative.
        value: f32,
        /// Whether its voxels are active.
        is_active: bool,
    },
    /// A value for each voxel.
    Voxels(Box<Values>),
}

/// Number of a voxel in its block, from its place on the grid.
#[must_use]
pub fn offset(voxel: [i32; 3]) -> usize {
    place(voxel.map(|v| v & 7), 3)
}

fn place([x, y, z]: [i32; 3], bits: u32) -> usize {
    ((x as usize) << bits | y as usize) << bits | z as usize
}

type Lower = BTreeMap<usize, Block>;
type Upper = BTreeMap<usize, Lower>;

/// Blocks by their place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    roots: BTreeMap<[i32; 3], Upper>,
}

impl Tree {
    /// Puts a block at its place: that of its first voxel, in blocks.
    pub fn insert(&mut self, block: [i32; 3], content: Block) {
        let [lower, upper] = BITS;
        let node = block.map(|v| v >> lower & ((1 << upper) - 1));
        let root = self.roots.entry(block.map(|v| v >> (lower + upper))).or_default();
        let lowest = place(block.map(|v| v & ((1 << lower) - 1)), lower);
        root.entry(place(node, upper)).or_default().insert(lowest, content);
    }
}

/// A grid of cubic voxels.
pub struct Grid<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its numbers mean, as programs know it.
    pub class: &'static str,
    /// The value where no block is.
    pub background: f32,
    /// Edge of a voxel, units of the file.
    pub voxel: f64,
    /// Centre of the voxel at 0, 0, 0, units of the file.
    pub origin: [f64; 3],
    /// Its blocks.
    pub tree: Tree,
}

/// The beginning of a file of `grids` grids.
#[must_use]
pub fn header(program: &str, grids: usize) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(MAGIC.to_le_bytes());
    out.extend(VERSIONS.iter().flat_map(|version| version.to_le_bytes()));
    // The places of grids are in the file.
    out.push(1);
    out.extend(ID.as_bytes());
    notes(&mut out, &[("creator", program)]);
    out.extend((grids as u32).to_le_bytes());
    out
}

/// A grid that begins at byte `at` of the file.
#[must_use]
pub fn grid(grid: &Grid<'_>, at: usize) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, grid.name);
    text(&mut out, "Tree_float_5_4_3");
    // No other grid has the same tree.
    text(&mut out, "");
    let places = out.len();
    out.extend([0; 24]);
    let begin = at + out.len();
    out.extend(ACTIVE_MASK.to_le_bytes());
    notes(&mut out, &[("class", grid.class), ("name", grid.name)]);
    text(&mut out, "UniformScaleTranslateMap");
    let size = grid.voxel;
    let each = [size, size, size.recip(), (size * size).recip(), (2.0 * size).recip()];
    let numbers = grid.origin.into_iter().chain(each.into_iter().flat_map(|number| [number; 3]));
    out.extend(numbers.flat_map(f64::to_le_bytes));
    write_shape(&mut out, grid);
    let blocks = at + out.len();
    for block in grid.tree.roots.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values) {
        if let Block::Voxels(values) = block {
            write_values(&mut out, values);
        }
    }
    let ends = [begin, blocks, at + out.len()].map(|place| (place as u64).to_le_bytes());
    out[places..places + 24].copy_from_slice(ends.as_flattened());
    out
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Named texts.
fn notes(out: &mut Vec<u8>, notes: &[(&str, &str)]) {
    out.extend((notes.len() as u32).to_le_bytes());
    for (name, value) in notes {
        text(out, name);
        text(out, "string");
        text(out, value);
    }
}

/// Which nodes are where, and all values but those of blocks with a value for each voxel.
fn write_shape(out: &mut Vec<u8>, grid: &Grid<'_>) {
    // One buffer for each block.
    out.extend(1u32.to_le_bytes());
    out.extend(grid.background.to_le_bytes());
    out.extend(0u32.to_le_bytes());
    out.extend((grid.tree.roots.len() as u32).to_le_bytes());
    let [lower, upper] = BITS;
    for (root, nodes) in &grid.tree.roots {
        out.extend(root.map(|v| v << (3 + lower + upper)).iter().flat_map(|v| v.to_le_bytes()));
        out.extend(bits(nodes.keys().copied(), upper));
        out.extend(bits([].into_iter(), upper));
        out.push(ALL_BACKGROUND);
        for blocks in nodes.values() {
            write_lower(out, blocks);
        }
    }
}

fn write_lower(out: &mut Vec<u8>, blocks: &Lower) {
    let bits = |holds: &dyn Fn(&Block) -> bool| {
        bits(blocks.iter().filter(|(_, block)| holds(block)).map(|(at, _)| *at), BITS[0])
    };
    let is_inside =
        |block: &Block| matches!(block, Block::Tile { value, is_active: false } if value.is_sign_negative());
    out.extend(bits(&|block| matches!(block, Block::Voxels(_))));
    out.extend(bits(&|block| matches!(block, Block::Tile { is_active: true, .. })));
    if blocks.values().any(is_inside) {
        out.push(BACKGROUND_OR_NEGATIVE);
        out.extend(bits(&is_inside).into_iter().map(|byte| !byte));
    } else {
        out.push(ALL_BACKGROUND);
    }
    for block in blocks.values() {
        if let Block::Tile { value, is_active: true } = block {
            out.extend(value.to_le_bytes());
        }
    }
    for block in blocks.values() {
        if let Block::Voxels(values) = block {
            out.extend(values.active.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
}

fn write_values(out: &mut Vec<u8>, of: &Values) {
    let is_active = |k: &usize| of.active[k / 64] >> (k % 64) & 1 == 1;
    let is_inside = |k: &usize| !is_active(k) && of.values[*k].is_sign_negative();
    out.extend(of.active.iter().flat_map(|word| word.to_le_bytes()));
    if (0..VOXELS).any(|k| is_inside(&k)) {
        out.push(BACKGROUND_OR_NEGATIVE);
        out.extend(bits((0..VOXELS).filter(|k| !is_inside(k)), 3));
    } else {
        out.push(ALL_BACKGROUND);
    }
    out.extend((0..VOXELS).filter(is_active).flat_map(|k| of.values[k].to_le_bytes()));
}

/// A bit for each place of a node with `log_side` bits per axis.
fn bits(on: impl Iterator<Item = usize>, log_side: u32) -> Vec<u8> {
    let mut bytes = vec![0; 1 << (3 * log_side - 3)];
    on.for_each(|place| bytes[place / 8] |= 1 << (place % 8));
    bytes
}
