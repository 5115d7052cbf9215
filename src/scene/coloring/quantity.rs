//! What colours can mean: quantities of bodies and of their voxels, a line of the table each.
//!
//! In: a body with the break that made it, and perhaps one of its voxels. Out: a number, or the number of a category.

use glam::DVec3;

use super::field::{BodyField, FieldKind};
use crate::{
    fracture::UNIT_BITS,
    registry::LEFT_OUT,
    scene::{BodyStress, StressFigures},
    shape::{Octree, Shape},
    svo::Grid,
};

/// Whether values are compared by size or only told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers without an order, such as numbers of cells.
    Category,
    /// Numbers on a scale.
    Number,
}

/// A line of the table.
pub struct QuantityEntry {
    /// Its name in scenes and commands.
    pub name: &'static str,
    /// Its name in panels and legends.
    pub label: &'static str,
    /// Unit; empty without one.
    pub unit: &'static str,
    /// Tooltip.
    pub help: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Whether it differs from voxel to voxel: surfaces have a colour for each boundary voxel.
    pub of_voxels: bool,
    /// Whether it needs the seeds of a break, and changes within an octant.
    pub of_seeds: bool,
    /// Whether it needs the stress of a body, and changes within an octant that is larger than the cells of the stress.
    pub of_stress: bool,
    /// The value; `None` where there is none.
    pub of: fn(&Place<'_>) -> Option<f64>,
}

/// A body as quantities read it; `None` where a value is not known.
#[derive(Clone, Copy)]
pub struct BodyPlace<'a> {
    /// Its shape.
    pub shape: &'a Shape,
    /// Its object.
    pub object: usize,
    /// Its number.
    pub number: u32,
    /// Number of breaks that it comes of.
    pub generation: u32,
    /// Its cell in the break that made it.
    pub cell: Option<u32>,
    /// Where the blow fell that made it, shape space, m.
    pub impact: Option<DVec3>,
    /// Length of a leaf unit, m.
    pub unit_m: f64,
    /// Speed, m/s, and turning, rad/s.
    pub motion: Option<[f64; 2]>,
    /// Octree level at which it collides.
    pub physics_level: Option<u32>,
    /// Seeds of the cells that are shown of it: of that break, or of the pinned blow.
    pub seeds: Option<SeedSet<'a>>,
    /// Deepest contact, m, and the sum of its contacts' impulses in the last step, N s.
    pub pressing: Option<[f64; 2]>,
    /// Its elastic stress.
    pub stress: Option<&'a BodyStress>,
    /// The finest octree level at which a pair of it collides now.
    pub pair_level: Option<u32>,
    /// Number of its connected part, an island, in the break that made it.
    pub label: Option<u32>,
    /// What the quantity needs of its form: its distance field, or its weakness.
    pub field: Option<&'a BodyField>,
}

impl<'a> BodyPlace<'a> {
    /// A whole body of that shape, of which nothing else is known.
    #[must_use]
    pub fn of(shape: &'a Shape) -> Self {
        Self {
            shape,
            object: 0,
            number: 0,
            generation: 0,
            cell: None,
            impact: None,
            unit_m: 1.0,
            motion: None,
            physics_level: None,
            seeds: None,
            pressing: None,
            stress: None,
            pair_level: None,
            label: None,
            field: None,
        }
    }
}

/// Seeds and where the blow fell.
#[derive(Clone, Copy)]
pub struct SeedSet<'a> {
    /// Seeds, units of side / 2^14.
    pub seeds: &'a [[i32; 3]],
    /// Object of each.
    pub objects: &'a [u32],
    /// Point of the blow, leaf units.
    pub impact: Option<DVec3>,
    /// Grid that seeds and blow are on, shape space, which voxels that stand in for a mesh need not share; `None`: the
    /// grid of the voxels.
    pub grid: Option<Grid>,
}

/// A voxel, or an octant, of a body's octree.
#[derive(Clone, Copy)]
pub struct VoxelPlace<'a> {
    /// The octree.
    pub octree: &'a Octree,
    /// Its leaf; `None` inside.
    pub leaf: Option<u32>,
    /// Octree level of the octant.
    pub level: u32,
    /// Centre, leaf units.
    pub centre: DVec3,
}

/// What a value belongs to.
pub struct Place<'a> {
    /// The body.
    pub body: &'a BodyPlace<'a>,
    /// One of its voxels.
    pub voxel: Option<VoxelPlace<'a>>,
}

kintsugi_core::table! {
    /// What colours can mean beside the material. `--color-by`, `--slice`, scenes, panels and legends are made from
    /// this table.
    ///
    /// To add one: a [`QuantityEntry`], and a line here.
    pub enum Quantity: QuantityEntry {
        Object = OBJECT,
        Part = PART,
        Generation = GENERATION,
        Cell = CELL,
        Volume = VOLUME,
        Mass = MASS,
        Speed = SPEED,
        Spin = SPIN,
        ImpactDistance = IMPACT_DISTANCE,
        ContactDepth = CONTACT_DEPTH,
        ContactImpulse = CONTACT_IMPULSE,
        PhysicsLevel = PHYSICS_LEVEL,
        PairLevel = PAIR_LEVEL,
        Label = LABEL,
        Stress = STRESS,
        VonMises = VON_MISES,
        Solid = SOLID,
        NodeLevel = NODE_LEVEL,
        Coverage = COVERAGE,
        SeedDistance = SEED_DISTANCE,
        CrackDistance = CRACK_DISTANCE,
        Field = FIELD,
        Weakness = WEAKNESS,
    }
}

impl serde::Serialize for Quantity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> serde::Deserialize<'de> for Quantity {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl std::str::FromStr for Quantity {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match Self::named(name) {
            Some(quantity) if quantity.is_built() => Ok(quantity),
            Some(_) => Err(format!("there is no `{name}`{LEFT_OUT}")),
            None => Err(format!("there is no `{name}`; there are {}", Self::names())),
        }
    }
}

impl Quantity {
    /// Whether this build has it.
    #[must_use]
    pub fn is_built(self) -> bool {
        cfg!(feature = "papers") || self != Self::Field
    }

    /// What it needs of the body's form that takes long to make.
    #[must_use]
    pub fn field(self) -> Option<FieldKind> {
        match self {
            Self::Field => Some(FieldKind::Distance),
            Self::Weakness => Some(FieldKind::Weakness),
            _ => None,
        }
    }

    /// The names of all that this build has, with commas between them.
    #[must_use]
    pub fn names() -> String {
        let built = Self::ALL.into_iter().filter(|quantity| quantity.is_built());
        built.map(|quantity| quantity.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether it differs from place to place in that body where this is a mesh, which is all of one cell.
    #[must_use]
    pub fn varies_in(self, body: &BodyPlace<'_>) -> bool {
        match self {
            Self::Cell => body.cell.is_none() && body.seeds.is_some(),
            Self::ImpactDistance => body.seeds.is_some_and(|seeds| seeds.impact.is_some()),
            _ => self.of_voxels || self.of_stress,
        }
    }

    /// Name of one of its categories.
    #[must_use]
    pub fn category(self, value: f64) -> String {
        match self {
            Self::Solid => SOLIDS.get(value as usize).copied().unwrap_or_default().to_owned(),
            _ => format!("{} {value}", self.label.to_lowercase()),
        }
    }
}

/// Names of [`Quantity::Solid`]'s categories.
const SOLIDS: [&str; 3] = ["inside", "surface", "crack"];

/// A quantity on a scale that is one number for a whole body.
const fn number(
    [name, label, unit]: [&'static str; 3],
    help: &'static str,
    of: fn(&Place<'_>) -> Option<f64>,
) -> QuantityEntry {
    let (of_voxels, of_seeds, of_stress) = (false, false, false);
    QuantityEntry { name, label, unit, help, kind: Kind::Number, of_voxels, of_seeds, of_stress, of }
}

/// A quantity whose values are only told apart.
const fn category(
    [name, label]: [&'static str; 2],
    help: &'static str,
    of: fn(&Place<'_>) -> Option<f64>,
) -> QuantityEntry {
    QuantityEntry { kind: Kind::Category, ..number([name, label, ""], help, of) }
}

static OBJECT: QuantityEntry =
    category(["object", "Object"], "The object that a piece comes from", |place| {
        Some(place.body.object as f64)
    });

static PART: QuantityEntry =
    category(["part", "Piece"], "A colour for every piece", |place| Some(f64::from(place.body.number)));

static GENERATION: QuantityEntry =
    number(["generation", "Generation", ""], "How many breaks a piece comes of", |place| {
        Some(f64::from(place.body.generation))
    });

static CELL: QuantityEntry = QuantityEntry {
    of_seeds: true,
    ..category(
        ["cell", "Cell"],
        "The Voronoi cell: of a piece by the break that made it; in slices of a whole object by the pinned blow",
        cell,
    )
};

static VOLUME: QuantityEntry = number(["volume", "Volume", "m³"], "Volume of the piece", |place| {
    Some(place.body.shape.mass().volume_m3)
});

static MASS: QuantityEntry =
    number(["mass", "Mass", "kg"], "Mass of the piece", |place| Some(place.body.shape.mass().kg));

static SPEED: QuantityEntry =
    number(["speed", "Speed", "m/s"], "Speed of the piece's centre of mass", |place| {
        place.body.motion.map(|[speed, _]| speed)
    });

static SPIN: QuantityEntry = number(["spin", "Spin", "rad/s"], "How fast the piece turns", |place| {
    place.body.motion.map(|[_, spin]| spin)
});

static IMPACT_DISTANCE: QuantityEntry = number(
    ["impact-distance", "Distance to impact", "m"],
    "Distance of the piece's centre, or of the voxel, to where the blow fell that made the piece",
    impact_distance,
);

static CONTACT_DEPTH: QuantityEntry =
    number(["contact-depth", "Contact depth", "m"], "How deep the piece's deepest contact is", |place| {
        place.body.pressing.map(|[depth, _]| depth)
    });

static CONTACT_IMPULSE: QuantityEntry = number(
    ["contact-impulse", "Contact impulse", "N s"],
    "Sum of the normal impulses at the piece's contacts in the last step",
    |place| place.body.pressing.map(|[_, impulse]| impulse),
);

static PHYSICS_LEVEL: QuantityEntry =
    number(["physics-level", "Contact level", ""], "Octree level at which the piece collides", |place| {
        place.body.physics_level.map(f64::from)
    });

static PAIR_LEVEL: QuantityEntry = number(
    ["pair-level", "Contact level of pairs", ""],
    "The finest octree level at which the piece collides now with what it touches: its own, that of a pair, \
           coarser far from the eye, finer where a piece is thin",
    |place| place.body.pair_level.map(f64::from),
);

static LABEL: QuantityEntry = category(
    ["label", "Island label"],
    "Number of the connected part that the voxels of the piece were in the break that made it, by the \
           union-find. Pieces that are meshes have none",
    |place| place.body.label.map(f64::from),
);

static STRESS: QuantityEntry = QuantityEntry {
    of_stress: true,
    ..number(
        ["stress", "Stress, tension", "Pa"],
        "Largest principal stress, 0 where everything is pressed together. A slice shows the stress of the cell that \
           holds the voxel, the colour of a body is its greatest stress. In the window choose Physics, Show: stress; \
           an aimed blow has 1 N",
        |place| stress(place).map(|figures| figures.tension),
    )
};

static VON_MISES: QuantityEntry = QuantityEntry {
    of_stress: true,
    ..number(
        ["von-mises", "Stress, von Mises", "Pa"],
        "Equivalent stress of von Mises, which compression has, too. A slice shows the stress of the cell that holds \
           the voxel, the colour of a body is its greatest stress. In the window choose Physics, Show: stress; an \
           aimed blow has 1 N",
        |place| stress(place).map(|figures| figures.von_mises),
    )
};

static SOLID: QuantityEntry = QuantityEntry {
    of_voxels: true,
    ..category(["solid", "Voxels"], "Inside, voxels of the original surface, voxels of cracks", |place| {
        let voxel = place.voxel?;
        let Some(leaf) = voxel.leaf else { return Some(0.0) };
        let color = voxel.octree.forest.leaves.colors.get(leaf as usize)?;
        Some(if color.crack() { 2.0 } else { 1.0 })
    })
};

static NODE_LEVEL: QuantityEntry = QuantityEntry {
    of_voxels: true,
    ..number(
        ["node-level", "Octree level", ""],
        "Level of the octant that holds the voxel: octants inside are as large as fits",
        |place| Some(f64::from(place.voxel?.level)),
    )
};

static COVERAGE: QuantityEntry = QuantityEntry {
    of_voxels: true,
    ..number(["coverage", "Coverage", ""], "Share of the voxel that is solid of this piece", |place| {
        let voxel = place.voxel?;
        let of_leaf = |leaf: u32| voxel.octree.forest.leaves.coverage.get(leaf as usize).copied();
        Some(f64::from(voxel.leaf.map_or(Some(1.0), of_leaf)?))
    })
};

static SEED_DISTANCE: QuantityEntry = QuantityEntry {
    of_voxels: true,
    of_seeds: true,
    ..number(
        ["seed-distance", "Distance to seed", "m"],
        "Distance of the voxel's centre to the nearest seed of the break",
        |place| {
            let (seeds, centre, unit) = at_seeds(place)?;
            let nearest = seeds.seeds.iter().map(|seed| square(centre, *seed)).fold(f64::INFINITY, f64::min);
            nearest.is_finite().then(|| nearest.sqrt() * unit)
        },
    )
};

static CRACK_DISTANCE: QuantityEntry = QuantityEntry {
    of_voxels: true,
    of_seeds: true,
    ..number(
        ["crack-distance", "Distance to crack", "m"],
        "Distance of the voxel's centre to the nearest plane between its cell and another",
        crack_distance,
    )
};

static FIELD: QuantityEntry = QuantityEntry {
    of_voxels: true,
    ..number(
        ["field", "Distance field", "m"],
        "Signed distance of the voxel's centre from the surface of its piece, above 0 inside, by the distance field \
           that the piece has by itself, with cells of level 5",
        |place| {
            let depth = place.body.field?.at(place.voxel?.centre)?;
            let is_mesh = place.body.shape.as_mesh().is_some();
            Some(depth * if is_mesh { place.body.shape.unit_m() } else { place.body.unit_m })
        },
    )
};

static WEAKNESS: QuantityEntry = QuantityEntry {
    of_voxels: true,
    ..number(
        ["weakness", "Weakness", ""],
        "Where the piece is weak whatever loads it, 0 to 1: the weakness of the crack that runs along the cell of level 5 \
           that holds the voxel, among those by which the piece comes apart most easily",
        |place| {
            let voxel = place.voxel?;
            place.body.field?.weakness_at(voxel.centre, voxel.octree.level())
        },
    )
};

/// The stress of the cell that holds the voxel, or the greatest of the body.
fn stress(place: &Place<'_>) -> Option<StressFigures> {
    let stress = place.body.stress?;
    match place.voxel {
        Some(voxel) => stress.at(voxel.centre, voxel.octree.level()),
        None => Some(stress.greatest()),
    }
}

/// The seeds, the voxel's centre on their grid, leaf units, with the level of that grid, and m for a leaf unit.
fn on_grid<'a>(place: &'a Place<'_>) -> Option<(&'a SeedSet<'a>, DVec3, u32, f64)> {
    let (seeds, voxel) = (place.body.seeds.as_ref()?, place.voxel?);
    // Octrees share the grid of what broke; voxels that stand in for a mesh have their own.
    match seeds.grid.filter(|_| place.body.shape.as_mesh().is_some()) {
        Some(grid) => {
            let own = &voxel.octree.grid;
            Some((seeds, grid.from_mesh(own.origin + own.h * voxel.centre), grid.level, grid.h))
        }
        None => Some((seeds, voxel.centre, voxel.octree.level(), place.body.unit_m)),
    }
}

/// The seeds, the voxel's centre in their units, and m for each unit.
fn at_seeds<'a>(place: &'a Place<'_>) -> Option<(&'a SeedSet<'a>, DVec3, f64)> {
    let (seeds, centre, level, unit_m) = on_grid(place)?;
    let units = f64::from(1u32 << UNIT_BITS.saturating_sub(level));
    Some((seeds, centre * units, unit_m / units))
}

fn square(point: DVec3, seed: [i32; 3]) -> f64 {
    point.distance_squared(DVec3::from(seed.map(f64::from)))
}

/// The nearest seed, the lowest of equally near ones, and its squared distance.
fn nearest(seeds: &SeedSet<'_>, point: DVec3) -> Option<(usize, f64)> {
    let all = seeds.seeds.iter().enumerate().map(|(i, seed)| (i, square(point, *seed)));
    all.min_by(|a, b| a.1.total_cmp(&b.1))
}

fn cell(place: &Place<'_>) -> Option<f64> {
    if let Some((seeds, centre, _)) = at_seeds(place) {
        return nearest(seeds, centre).map(|(seed, _)| seed as f64);
    }
    place.body.cell.map(f64::from)
}

fn impact_distance(place: &Place<'_>) -> Option<f64> {
    if place.voxel.is_some() {
        let (seeds, centre, _, unit_m) = on_grid(place)?;
        return Some(centre.distance(seeds.impact?) * unit_m);
    }
    // Both in shape space, which pieces share with the object that broke.
    Some(place.body.shape.mass().centre.distance(place.body.impact?))
}

fn crack_distance(place: &Place<'_>) -> Option<f64> {
    let (seeds, centre, unit) = at_seeds(place)?;
    let (own, square_of_own) = nearest(seeds, centre)?;
    let at = DVec3::from(seeds.seeds.get(own)?.map(f64::from));
    let object = seeds.objects.get(own);
    let others = seeds.seeds.iter().zip(seeds.objects).filter(|(_, of)| Some(*of) != object);
    let plane = |seed: [i32; 3]| {
        let apart = DVec3::from(seed.map(f64::from)).distance(at);
        (square(centre, seed) - square_of_own) / (2.0 * apart)
    };
    let least = others.map(|(seed, _)| plane(*seed)).fold(f64::INFINITY, f64::min);
    least.is_finite().then_some(least * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for quantity in Quantity::ALL.into_iter().filter(|quantity| quantity.is_built()) {
            assert_eq!(quantity.name.parse(), Ok(quantity));
            assert!(!quantity.label.is_empty() && !quantity.help.is_empty(), "{}", quantity.name);
            let text = serde_json::to_string(&quantity).unwrap();
            assert_eq!(serde_json::from_str::<Quantity>(&text).unwrap(), quantity);
        }
        let said = "weight".parse::<Quantity>().unwrap_err();
        assert!(said.contains("`weight`") && said.contains("mass, speed"), "{said}");
    }

    /// Distances by sampling the planes between cells, a way that shares nothing with the formula.
    #[test]
    fn the_nearest_plane_is_as_far_as_a_search_finds_it() {
        let seeds = [[2000, 2000, 2000], [9000, 3000, 2500], [3000, 9500, 4000], [2500, 2600, 9000]];
        let set = SeedSet { seeds: &seeds, objects: &[0, 1, 2, 0], impact: None, grid: None };
        let point = DVec3::new(3100.0, 2900.0, 3300.0);
        let (own, least) = nearest(&set, point).unwrap();
        assert_eq!(own, 0);
        let planes = seeds.iter().zip(set.objects).filter(|(_, object)| **object != 0);
        let by_formula = planes
            .map(|(seed, _)| {
                let apart = DVec3::from(seed.map(f64::from)).distance(DVec3::from(seeds[0].map(f64::from)));
                (square(point, *seed) - least) / (2.0 * apart)
            })
            .fold(f64::INFINITY, f64::min);
        // The point is moved towards each other seed until it is as near to that seed as to its own.
        let by_search = (1..3)
            .map(|k: usize| {
                let toward =
                    (DVec3::from(seeds[k].map(f64::from)) - DVec3::from(seeds[0].map(f64::from))).normalize();
                let (mut near, mut far) = (0.0, 2e4);
                for _ in 0..60 {
                    let middle = 0.5 * (near + far);
                    let at = point + toward * middle;
                    if square(at, seeds[k]) < square(at, seeds[0]) { far = middle } else { near = middle }
                }
                near
            })
            .fold(f64::INFINITY, f64::min);
        assert!((by_formula - by_search).abs() < 1e-6, "{by_formula} {by_search}");
    }
}
