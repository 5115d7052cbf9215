//! Pieces as MagicaVoxel models: one named, solid object per piece, split into blocks if a piece is wider than 256
//! voxels.
//!
//! In: octrees on one grid, in their original places. Out: voxels with z up as the format requires (x, -z, y of the
//! grid) and a palette of at most 255 colours: those of the surface exactly and those of cracks in what room they leave,
//! if these are few enough, otherwise quantised ones. Of a voxel model each voxel goes to the piece that has its centre;
//! else pieces share the voxels through which a crack passes.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use dot_vox::{Color, Dict, DotVoxData, Frame, Model, SceneNode, ShapeModel, Size, Voxel};

use crate::{Assembly, Cells, ExportError, ExportPiece, FileSpace, FormatEntry, Needs, Watch};
use crate::{
    shape::Octree,
    svo::{
        Grid,
        morton::{Key, decode},
        unpack_cut,
    },
};

/// Largest side of a model.
const BLOCK: u32 = 256;
/// With more voxels than this only surfaces are written: at 4 bytes each the file would be too large for editors.
const MOST_VOXELS: u64 = 64 << 20;

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "vox",
    file: "pieces.vox",
    label: "VOX",
    help: "MagicaVoxel: a model a piece, solid",
    needs: Needs::Voxels,
    has_nodes: false,
    // The format says which way is up.
    space: |_| FileSpace::METRES,
    write,
};

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`]; [`ExportError::Format`] for a piece that is no octree, is rotated, or lies on another grid than the
/// first.
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut notes = Vec::new();
    let one_grid =
        what.pieces.iter().map(|piece| on_grid_of(piece, &what.pieces)).collect::<Option<Vec<_>>>();
    let Some(octrees) = one_grid else {
        let reason = "voxels cannot be turned, and all pieces must be those of one object".into();
        return Err(ExportError::Format { path: path.to_owned(), reason });
    };
    let voxels: u64 = octrees.iter().map(|octree| octree.mass.voxels).sum();
    let solid = voxels <= MOST_VOXELS;
    if !solid {
        notes.push(format!("{}: {voxels} voxels are too many; only surfaces are written", path.display()));
    }
    let palette = Palette::of(&octrees);
    let mut scene = Scene::default();
    let side = octrees.first().map_or(1, |octree| octree.grid.side());
    let owners = Owners::of(&octrees);
    let mut empty = Vec::new();
    for (done, (piece, octree)) in what.pieces.iter().zip(&octrees).enumerate() {
        watch.at(done, octrees.len())?;
        let forest = &octree.forest;
        let cells = Cells::of(forest, octree.tree as usize);
        let mut blocks: BTreeMap<[u32; 3], Vec<([u32; 3], u8)>> = BTreeMap::new();
        for i in 0..cells.len() {
            let color = match cells.leaves[i] {
                u32::MAX if solid => palette.inside,
                u32::MAX => continue,
                leaf => {
                    let color = forest.leaves.colors[leaf as usize];
                    palette.index(color.rgb(), color.crack())
                }
            };
            if cells.leaves[i] != u32::MAX && !owners.has(done, cells.starts.at(i)) {
                continue;
            }
            let (low, size) = (decode(cells.starts.at(i)), 1 << cells.log_sizes[i]);
            for n in 0..size * size * size {
                let [x, y, z] = [low[0] + n % size, low[1] + n / size % size, low[2] + n / size / size];
                let at = [x, side - 1 - z, y];
                blocks.entry(at.map(|v| v / BLOCK)).or_default().push((at, color));
            }
        }
        if blocks.is_empty() {
            empty.push(piece.name());
        }
        let many = blocks.len() > 1;
        for (number, voxels) in blocks.into_values().enumerate() {
            let name = if many { format!("{}_{number}", piece.name()) } else { piece.name() };
            scene.add(&name, &voxels, side);
        }
    }
    if !empty.is_empty() {
        let empty = empty.join(", ");
        notes.push(format!("{}: no voxel has its centre in {empty}, left out there", path.display()));
    }
    let data = scene.finish(palette.colors);
    let mut bytes = Vec::new();
    data.write_vox(&mut bytes).map_err(|e| ExportError::write(path, e))?;
    std::fs::write(path, bytes).map_err(|e| ExportError::write(path, e))?;
    Ok(notes)
}

/// A piece's octree, if it lies unmoved on the grid of the first of `all`.
fn on_grid_of<'a>(piece: &'a ExportPiece, all: &[ExportPiece]) -> Option<&'a Octree> {
    let first = all.first().and_then(ExportPiece::octree)?;
    piece.octree().filter(|octree| octree.grid == first.grid && !piece.placing.is_turned())
}

/// Which piece a voxel that several have goes to; empty unless the pieces are those of a voxel model.
#[derive(Default)]
struct Owners(HashMap<Key, (f32, usize)>);

impl Owners {
    fn of(octrees: &[&Octree]) -> Self {
        // The own grid of a voxel model has voxels of one unit at whole numbers; a mesh has such a grid only by chance.
        let is_own = |grid: &Grid| grid.h == 1.0 && grid.origin == grid.origin.round();
        if !octrees.first().is_some_and(|octree| is_own(&octree.grid)) {
            return Self::default();
        }
        let mut owners: HashMap<Key, (f32, usize)> = HashMap::new();
        for (piece, octree) in octrees.iter().enumerate() {
            let leaves = &octree.forest.leaves;
            for leaf in octree.leaves() {
                // How far the centre lies behind the planes of this piece; coverages are equal shares.
                let cut = unpack_cut(leaves.cuts[leaf]).map_or(f32::INFINITY, |(_, offset)| offset);
                let behind = leaves.colors[leaf].offset().min(cut);
                let owner = owners.entry(leaves.keys.at(leaf)).or_insert((behind, piece));
                // A crack through the centre leaves it with the first.
                if behind > owner.0 {
                    *owner = (behind, piece);
                }
            }
        }
        Self(owners)
    }

    fn has(&self, piece: usize, voxel: Key) -> bool {
        self.0.get(&voxel).is_none_or(|(_, owner)| *owner == piece)
    }
}

#[derive(Default)]
struct Scene {
    models: Vec<Model>,
    placed: Vec<SceneNode>,
}

impl Scene {
    fn add(&mut self, name: &str, voxels: &[([u32; 3], u8)], side: u32) {
        let low = voxels.iter().fold([u32::MAX; 3], |l, v| std::array::from_fn(|k| l[k].min(v.0[k])));
        let high = voxels.iter().fold([0; 3], |h, v| std::array::from_fn(|k| h[k].max(v.0[k])));
        let size: [u32; 3] = std::array::from_fn(|k| high[k] - low[k] + 1);
        let model = self.models.len() as u32;
        let voxel = |(at, i): &([u32; 3], u8)| Voxel {
            x: (at[0] - low[0]) as u8,
            y: (at[1] - low[1]) as u8,
            z: (at[2] - low[2]) as u8,
            i: *i,
        };
        self.models.push(Model {
            size: Size { x: size[0], y: size[1], z: size[2] },
            voxels: voxels.iter().map(voxel).collect(),
        });
        // A model's position is its centre; the grid's centre goes to the origin, its floor to z = 0.
        let half = side as i32 / 2;
        let place: [i32; 3] =
            std::array::from_fn(|k| (low[k] + size[k] / 2) as i32 - if k == 2 { 0 } else { half });
        let shape = self.placed.len() as u32 + 3;
        self.placed.push(SceneNode::Transform {
            attributes: dict("_name", name.to_owned()),
            frames: vec![Frame::new(dict("_t", format!("{} {} {}", place[0], place[1], place[2])))],
            child: shape,
            layer_id: 0,
        });
        self.placed.push(SceneNode::Shape {
            attributes: Dict::default(),
            models: vec![ShapeModel { model_id: model, attributes: Dict::default() }],
        });
    }

    fn finish(self, palette: Vec<Color>) -> DotVoxData {
        let children = (0..self.models.len() as u32).map(|i| 2 + 2 * i).collect();
        let mut scenes = vec![
            SceneNode::Transform {
                attributes: Dict::default(),
                frames: vec![Frame::new(Dict::default())],
                child: 1,
                layer_id: 0,
            },
            SceneNode::Group { attributes: Dict::default(), children },
        ];
        scenes.extend(self.placed);
        DotVoxData {
            version: 150,
            index_map: Vec::new(),
            models: self.models,
            palette,
            materials: Vec::new(),
            scenes,
            layers: Vec::new(),
        }
    }
}

fn dict(key: &str, value: String) -> Dict {
    Dict::from_iter([(key.to_owned(), value)])
}

/// Most colours of pieces; one more is the inside's.
const MOST_COLORS: usize = 254;
/// Places that are kept for the colours of cracks, where there are any.
const OF_CRACKS: usize = 32;

/// At most 255 colours; the last one is the inside's.
struct Palette {
    /// Colours of surfaces, then those of cracks.
    kinds: [Shades; 2],
    colors: Vec<Color>,
    inside: u8,
}

/// Colours without their lowest bits, ascending, and the number of the first of them in the palette.
#[derive(Default)]
struct Shades {
    bits: u32,
    known: Vec<[u8; 3]>,
    first: usize,
}

impl Shades {
    /// At most `room` of these colours, as few bits left out as that takes.
    fn of(all: &BTreeSet<[u8; 3]>, room: usize) -> Self {
        let (mut bits, mut known) = (0, all.clone());
        while known.len() > room && bits < 8 {
            bits += 1;
            known = all.iter().map(|c| coarse(*c, bits)).collect();
        }
        Self { bits, known: known.into_iter().collect(), first: 0 }
    }

    fn colors(&self) -> impl Iterator<Item = Color> {
        let middle = if self.bits == 0 { 0 } else { 1u8 << (self.bits - 1) };
        self.known.iter().map(move |c| Color { r: c[0] | middle, g: c[1] | middle, b: c[2] | middle, a: 255 })
    }
}

impl Palette {
    fn of(octrees: &[&Octree]) -> Self {
        let (mut all, mut crack) = ([BTreeSet::new(), BTreeSet::new()], [0u64; 4]);
        for octree in octrees {
            for color in &octree.forest.leaves.colors[octree.leaves()] {
                all[usize::from(color.crack())].insert(color.rgb());
                if color.crack() {
                    let [r, g, b] = color.rgb().map(u64::from);
                    crack = [crack[0] + r, crack[1] + g, crack[2] + b, crack[3] + 1];
                }
            }
        }
        // Surfaces first: their colours are those that somebody chose.
        let surface = Shades::of(&all[0], MOST_COLORS - OF_CRACKS.min(all[1].len()));
        let first = surface.known.len();
        let cracks = Shades { first, ..Shades::of(&all[1], MOST_COLORS - first) };
        let mut colors: Vec<Color> = surface.colors().chain(cracks.colors()).collect();
        let [r, g, b] = [0, 1, 2].map(|k| crack[k].checked_div(crack[3]).unwrap_or(128) as u8);
        colors.push(Color { r, g, b, a: 255 });
        let inside = (colors.len() - 1) as u8;
        // Readers expect all 256 entries.
        colors.resize(256, Color { r: 0, g: 0, b: 0, a: 255 });
        Self { kinds: [surface, cracks], colors, inside }
    }

    fn index(&self, rgb: [u8; 3], is_crack: bool) -> u8 {
        let shades = &self.kinds[usize::from(is_crack)];
        let at = shades.known.binary_search(&coarse(rgb, shades.bits)).unwrap_or_default();
        (shades.first + at) as u8
    }
}

fn coarse(rgb: [u8; 3], bits: u32) -> [u8; 3] {
    rgb.map(|v| (u32::from(v) >> bits << bits) as u8)
}
