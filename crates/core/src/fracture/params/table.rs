//! The parameters of a fracture, their defaults, and the table of what each is called, its range, slider and help. Panels,
//! options of commands, checks of scene files, undo and docs/scenes.md are made from the table. Crack surfaces have their
//! rows in `crack.rs`.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{
    CRACK, CrackShape, Dab, Labelling, MAX_CHIPS, MAX_LENGTH, MAX_SEEDS, MethodId, Preset, Smallest, Surface,
};
use crate::{
    fracture::{Interior, Material, RELIEFS, interior::SCALES},
    parameter::{Parameter, Row, is_default, rows},
    svo::MAX_LEVEL,
};

/// Default spread of the lengths of chips.
const SPREAD_OF_CHIPS: f64 = 0.5;

fn is_usual_spread(spread: &f64) -> bool {
    *spread == SPREAD_OF_CHIPS
}

/// What a file says that names no material.
fn left_out() -> Interior {
    Interior { is_left_out: true, ..Interior::default() }
}

fn is_left_out(interior: &Interior) -> bool {
    interior.is_left_out && *interior == Interior::default()
}

/// Parameters of one fracture.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FractureParams {
    /// How it breaks.
    #[serde(skip_serializing_if = "is_default")]
    pub method: MethodId,
    /// The method's own parameters, by name; those that are not there have the method's defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, f64>,
    /// Seeds in all, shared out over the spheres; not used where [`Self::counts`] or [`Self::target_pieces`] decide.
    pub seeds: u32,
    /// Where they lie.
    pub preset: Preset,
    /// Sphere or ring radii as fractions of the longest side of the object's bounding box.
    pub radii: Vec<f64>,
    /// Seeds of each sphere or ring, or cells of a lattice along x, y and z; empty: equal shares of `seeds`, or about
    /// that many cubes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<u32>,
    /// Number of clusters.
    pub clusters: u32,
    /// Radius of a cluster as a fraction of the longest side.
    pub spread: f64,
    /// Direction of the grain, axes of the mesh; any length.
    pub grain_axis: DVec3,
    /// Length of a splinter divided by its width, at least 1.
    pub grain_ratio: f64,
    /// Strength of the blow, 0 to 1, for [`Preset::Inward`]: how likely of several places for a seed the nearest one to the
    /// blow is taken.
    pub blow_strength: f64,
    /// Thickness of slabs as a fraction of the longest side; 0: as many slabs as seeds.
    #[serde(skip_serializing_if = "is_default")]
    pub slab_spacing: f64,
    /// How far the planes between slabs move by chance, 0 to 1.
    #[serde(skip_serializing_if = "is_default")]
    pub slab_jitter: f64,
    /// Chips that pieces lose after the break along the outer edges of their cracks, in all; 0: none. Not used with
    /// [`Preset::Chips`], of which [`Self::seeds`] is the number of chips.
    #[serde(skip_serializing_if = "is_default")]
    pub chips: u32,
    /// Length of the largest chips along their edge, m; 0: 12 voxels.
    #[serde(skip_serializing_if = "is_default")]
    pub chip_size: f64,
    /// How much shorter the smallest chips are than the largest, as a share of these, 0 to 0.9.
    #[serde(skip_serializing_if = "is_usual_spread")]
    pub chip_spread: f64,
    /// File of seeds in mesh units that replaces the pattern when an intact object breaks; of the method cutter the mesh
    /// that it cuts by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds_file: Option<String>,
    /// Pieces to aim at; the number of seeds is then solved for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_pieces: Option<u32>,
    /// Random seed.
    pub rng: u64,
    /// Crack surface method.
    pub surface: Surface,
    /// Crack surfaces, where they are rough or dusty.
    pub crack: CrackShape,
    /// Level at which islands are told apart; `None` is the leaf level.
    pub island_level: Option<u32>,
    /// How islands are told apart: the same pieces either way.
    pub labelling: Labelling,
    /// Local fracture: cells of seeds farther from the impact than this stay together; unit as `radii`. `None`
    /// breaks everything.
    pub local: Option<f64>,
    /// Seeds, by index, whose cells stay with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<u32>,
    /// Dabs of the brush.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paint: Vec<Dab>,
    /// What crack faces show.
    #[serde(default = "left_out", skip_serializing_if = "is_left_out")]
    pub interior: Interior,
    /// The smallest piece; `None`: every piece stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest: Option<Smallest>,
}

impl Default for FractureParams {
    fn default() -> Self {
        Self {
            method: MethodId::default(),
            options: BTreeMap::new(),
            seeds: 40,
            preset: Preset::Spheres,
            radii: vec![0.1, 0.25, 0.5, 0.9],
            counts: Vec::new(),
            clusters: 5,
            spread: 0.12,
            grain_axis: DVec3::Y,
            grain_ratio: 5.0,
            blow_strength: 0.5,
            slab_spacing: 0.0,
            slab_jitter: 0.0,
            chips: 0,
            chip_size: 0.0,
            chip_spread: SPREAD_OF_CHIPS,
            seeds_file: None,
            target_pieces: None,
            rng: 1,
            surface: Surface::Planar,
            crack: CrackShape::default(),
            island_level: None,
            labelling: Labelling::UnionFind,
            local: None,
            keep: Vec::new(),
            paint: Vec::new(),
            interior: Interior::default(),
            smallest: None,
        }
    }
}

impl FractureParams {
    /// The table of parameters, as documents show them.
    pub fn rows() -> impl Iterator<Item = &'static Row<Self>> {
        [PATTERN, PRESETS, CELLS, SURFACE, CHIPS, CRACK, INTERIOR].into_iter().flatten()
    }
}

/// How bodies break, and where the seeds lie.
pub const PATTERN: &[Row<FractureParams>] = rows! { FractureParams;
    value method = Parameter::new("Method", "how the body is broken").undo("method")
        .more("\"octree\", by Voronoi cells on the octree; \"box-cut\", the mesh itself by the same cells; \
         \"planes\", convex meshes plane by plane ([meshes.md](meshes.md)); \
         \"cutter\", by the closed mesh in `seeds_file`; \"parts\", a mesh into its closed parts \
         ([how](fracture.md#by-a-closed-mesh))");
    value options = Parameter::new("Options", "the method's own parameters as a table, `options = { name = 1.0 }`")
        .undo("option of the method")
        .more("\"box-cut\" has `voxel_level` (6), \"planes\" `voxel_level` (6) and `hull` (0; 1 breaks the convex \
         hull), \"octree\" none; \"parts\" has `voxel_level` (6), \"cutter\" `fit`, `scale`, `turn_x` and \
         `move_x` (y, z; [where a cutter stands](fracture.md#by-a-closed-mesh))");
    number seeds = Parameter::whole("Seeds", (1.0, MAX_SEEDS as f64), "How many crack cells: more seeds, more pieces")
        .logarithmic(2.0, MAX_SEEDS as f64).undo("seeds").more("Voronoi seeds in all, shared out over the spheres");
    value preset = Parameter::new("Pattern", "where the seeds lie").undo("pattern")
        .more("\"spheres\" round the impact, \"uniform\", \"clustered\", \"radial\" (as glass breaks), \"grain\" (as \
         wood breaks), \"inward\" (between surface and middle), \"bricks\", \"hexagons\", \"slabs\", \"lattice\" (regular, filling the bounds), \
         \"chips\" (along the crack edges of a piece); \
         [how](fracture.md#patterns)");
    value radii = Parameter::new("Radii", "radii of the spheres (or rings of \"radial\") round the impact, above 0 \
         to 100").unit("of the longest side", 2).undo("sphere radii");
    value counts = Parameter::new("Counts", "seeds of each sphere or ring, one number a radius; of \"lattice\" the cells \
         along x, y and z of the mesh; instead of `seeds`")
        .undo("seeds of a sphere").unset("equal shares");
};

/// What single patterns have.
pub const PRESETS: &[Row<FractureParams>] = rows! { FractureParams;
    number clusters = Parameter::whole("Clusters", (1.0, MAX_SEEDS as f64), "Clustered: how many places the cracks \
         gather at; the first is the blow").slider(1.0, 30.0).option("clusters").undo("clusters"),
        if |params| params.preset == Preset::Clustered;
    number spread = Parameter::number("Spread", (1e-6, MAX_LENGTH), "Clustered: radius of a cluster as a fraction of \
         the longest side").slider(0.01, 1.0).option("spread").undo("spread"),
        if |params| params.preset == Preset::Clustered;
    value grain_axis = Parameter::new("Grain along", "Grain: the axis of the mesh that splinters run along; bricks and \
         slabs lie on each other along it, hexagonal columns stand along it; any length").undo("grain"),
        if |params| params.preset.has_axis();
    number grain_ratio = Parameter::number("Ratio", (1.0, 1000.0), "Length of a splinter or of a brick divided by its \
         width or height; height of a hexagonal column divided by its width")
        .slider(1.0, 20.0).unit("", 1).option("grain-ratio").undo("grain"), if |params| params.preset.has_ratio();
    number blow_strength = Parameter::number("Strength", (0.0, 1.0), "Inward: how many of the seeds lie near the \
         blow: 0 anywhere, 1 as near as chance allows").option("blow-strength").undo("blow strength")
        .more("how likely of eight places for a seed the nearest one to the blow is taken"),
        if |params| params.preset == Preset::Inward;
    number slab_spacing = Parameter::number("Thickness", (0.0, MAX_LENGTH), "Slabs: thickness of each as a fraction of \
         the longest side; 0 makes as many as Seeds").slider(0.0, 1.0).option("slab-spacing").undo("slabs"),
        if |params| params.preset == Preset::Slabs;
    number slab_jitter = Parameter::number("Jitter", (0.0, 1.0), "Slabs: how far the planes between them move by \
         chance: 0 not at all, 1 by up to nine twentieths of the thickness").option("slab-jitter").undo("slabs"),
        if |params| params.preset == Preset::Slabs;
};

/// What decides which cells there are, and which break off.
pub const CELLS: &[Row<FractureParams>] = rows! { FractureParams;
    value seeds_file = Parameter::new("Seeds from", "seeds in mesh units instead of the pattern").undo("seeds file")
        .more("text or `.npy` as `--seeds-file` takes them, or a picture whose dark lines are the cracks as seen along \
         the blow (`.png`, `.jpg`, `.bmp`, `.webp`); of the method \"cutter\" the closed \
         mesh that it cuts by; only the break of an intact body uses it; [how](fracture.md#patterns)");
    number target_pieces = Parameter::whole("Pieces", (1.0, MAX_SEEDS as f64), "Pieces to aim at; the number of \
         seeds is found by trying").logarithmic(2.0, MAX_SEEDS as f64).undo("number of pieces")
        .more("then neither `counts` nor `seeds_file`");
    number local = Parameter::number("Local radius", (1e-6, MAX_LENGTH), "Break only near the impact: cells whose \
         seed is farther away stay together; a fraction of the longest side, as the radii").logarithmic(0.02, 1.5)
        .option("local").undo("local radius").unset("everything breaks");
    value keep = Parameter::new("Kept", "seeds, by number from 0, whose cells stay with that body too")
        .undo("kept cells").unset("[]")
        .more("in the pattern of the whole object, so not when its pieces break, and with `pinned` for that impact \
         only");
    value paint = Parameter::new("Paint", "dabs of the brush, `{ kind = \"dense\", at = [x, y, z], radius = 0.1, amount = \
         4 }` each: places and radii in the body's own axes, m").undo("paint").unset("[]")
        .more("\"dense\" adds `amount` seeds, \"whole\" keeps what meets there together, \"cut\" cracks along its stroke from \
         `from` to `at` into `direction`; where bonds hold the pieces, \
         \"weak\" leaves the share `amount` of their strength and \"anchor\" fixes what it touches; \
         [the brush](fracture.md#the-brush)");
    value rng = Parameter::new("Random seed", "The same number gives the same cracks").undo("random seed")
        .more("what breaks by itself takes [one of its own](physics.md#breaking-by-collision) where another has the \
         same");
};

/// Crack surfaces and islands.
pub const SURFACE: &[Row<FractureParams>] = rows! { FractureParams;
    value surface = Parameter::new("Surface", "How the crack faces look: \"planar\", \"rough\" or \"dusty\"")
        .undo("surface");
    number island_level = Parameter::whole("Island level", (1.0, MAX_LEVEL as f64), "Bits that almost touch count as \
         one piece; lower joins across wider gaps").option("island-level").undo("island level").unset("the leaf level")
        .more("the octree level at which islands, the connected parts, are found: parts closer together than a voxel \
         of it are one piece");
    value labelling = Parameter::new("Labelling", "how islands are found: \"union-find\", or \"iterative\" as \
         published").undo("labelling").more("the same pieces, much more slowly");
    value smallest = Parameter::new("Smallest", "table: pieces with fewer than `voxels` (0) voxels, or less than \
         `fraction` (0) of the volume, are small").undo("smallest piece")
        .more("`rule` \"merge\" (the default: they join a neighbour) or \"drop\" (they go)");
};

/// Chips along the outer edges of cracks.
pub const CHIPS: &[Row<FractureParams>] = rows! { FractureParams;
    number chips = Parameter::whole("Chips", (0.0, MAX_CHIPS as f64), "Chips that break out of the pieces where cracks \
         meet the outside, in all; 0 for none").slider(0.0, 200.0).option("chips").undo("chips")
        .more("after the last generation of `fracture` and of a blow in the window; what a scene's event or a collision \
         breaks, and what bonds hold, loses none; [how](fracture.md#chips)"),
        if |params| params.preset != Preset::Chips;
    number chip_size = Parameter::number("Chip size", (0.0, 1000.0), "Length of the largest chips along their edge; 0 is \
         12 voxels").slider(0.0, 0.2).unit(" m", 3).option("chip-size").undo("size of chips")
        .more("the smallest must be 4 voxels long"), if FractureParams::has_chips;
    number chip_spread = Parameter::number("Chip spread", (0.0, 0.9), "How much shorter the smallest chips are than the \
         largest, as a share: 0 all alike").option("chip-spread").undo("spread of chips")
        .more("small ones are more frequent"), if FractureParams::has_chips;
};

/// What crack faces show.
pub const INTERIOR: &[Row<FractureParams>] = rows! { FractureParams;
    value interior.material = Parameter::new("Inside", "\"clay\", \"porcelain\", \"glass\", \"stone\", \"marble\", \
         \"concrete\", \"brick\", \"plaster\", \"wood\" or \"plain\"").undo("inside");
    value interior.color = Parameter::new("Its colour", "base colour, \"#rrggbb\"").undo("inside")
        .unset("follows the surface")
        .more("without it the surface's mean colour decides, with a shift that suits the material");
    number interior.scale = Parameter::number("Grain size", (*SCALES.start(), *SCALES.end()), "Size of grains, veins \
         and rings").logarithmic(*SCALES.start(), *SCALES.end()).option("interior-scale").undo("inside"),
        if |params| params.interior.material != Material::Plain;
    number interior.relief = Parameter::number("Relief", (*RELIEFS.start(), *RELIEFS.end()), "How far grains, fibres and \
         ripples bend crack faces: 1 is usual for the material, 0 leaves them smooth").option("interior-relief").undo("inside");
    number interior.seed = Parameter::whole("Block", (0.0, u32::MAX as f64), "Random seed of the material's pattern")
        .option("interior-seed").undo("inside"), if |params| params.interior.material != Material::Plain;
};
