//! Drawings of a fracture's internals: transition voxels, crack triangles and their separation points, seeds, Voronoi
//! faces, the fracture boundary set, island labels, octree cells, distance fields and sphere trees. A table lists the
//! makers, each in a file of its own.
//!
//! In: an [`Inside`], the data read back from one fracture. Out: an [`Overlay`] in world space, for the picture, and
//! files of the same drawings.

mod arrays;
mod boundary;
mod crack;
mod cut;
mod equation;
#[cfg(test)]
mod equation_tests;
mod faces;
#[cfg(feature = "papers")]
mod field_slice;
#[cfg(feature = "papers")]
mod fields;
#[cfg(all(test, feature = "papers"))]
mod fields_tests;
mod files;
mod inside;
mod labels;
mod morton;
mod seeds;
#[cfg(test)]
mod tests;
mod transition;
mod wireframe;

use std::collections::BTreeMap;

use glam::{DVec3, Mat4, Vec3};

use crate::{
    registry::LEFT_OUT,
    render::{Line, Overlay, piece_color},
};

pub use arrays::FaceArrays;
pub use cut::Cut;
pub use equation::EdgeArrays;
#[cfg(feature = "papers")]
pub use fields::Fields;
pub use files::{ArraySink, CrackArrays, OverlayFileError, OverlayFiles};
pub use inside::{Blueprint, Inside, Reading};
pub use labels::{LabelSteps, MOST_ITERATIONS};

/// Data that a drawing reads back, beside the result of the fracture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// Nothing.
    Nothing,
    /// Crack surfaces; only rough and dusty breaks with a transition level above the leaves have these.
    Cracks,
    /// The published labelling, if an iteration is given; without flattening for the drawing `flood`.
    Labels,
    /// Distance field and sphere trees of the pieces.
    Fields,
}

/// A whole number of a drawing: after a colon in commands, a slider in the window.
pub struct Number {
    /// Its name in the commands' list.
    pub word: &'static str,
    /// The slider's name for tests.
    pub name: &'static str,
    /// The slider's label.
    pub label: &'static str,
    /// The slider's tooltip.
    pub help: &'static str,
    /// Smallest value.
    pub least: u32,
    /// Largest value, by the data read back.
    pub most: fn(&Inside) -> u32,
    /// Value in the window until the slider is moved.
    pub first: u32,
    /// Whether it is a level of the octree: commands refuse levels that the octree does not have.
    pub is_octree_level: bool,
}

impl Number {
    /// A level of the octree.
    const fn octree_level(name: &'static str, label: &'static str, help: &'static str, first: u32) -> Self {
        let most = |inside: &Inside| inside.forest.level;
        Self { word: "LEVEL", name, label, help, least: 1, most, first, is_octree_level: true }
    }
}

/// Writes a drawing as arrays and files.
pub type WriteData = fn(&mut OverlayFiles<'_>) -> Result<(), OverlayFileError>;

/// A line of the table: a kind of drawing.
pub struct OverlayMaker {
    /// Its name in commands.
    pub name: &'static str,
    /// Text of its checkbox.
    pub label: &'static str,
    /// Tooltip of its checkbox.
    pub help: &'static str,
    /// The data that it needs.
    pub reads: Reads,
    /// Whether it lies on a [`Cut`].
    pub has_cut: bool,
    /// The number that it takes.
    pub number: Option<Number>,
    /// Draws it.
    pub add: fn(&mut Overlay, &Inside, &Placing, &Part),
    /// Writes it for `fracture --overlays`, if it is available as data.
    pub write: Option<WriteData>,
}

kintsugi_core::table! {
    /// Kinds of drawings. `--show`, `--overlays`, the panel *Inside* and its values are made from this table.
    ///
    /// To add one: a file with an [`OverlayMaker`], and a line here.
    pub enum Maker: OverlayMaker {
        Transition = transition::MAKER,
        Triangles = crack::TRIANGLES,
        Points = crack::POINTS,
        Seeds = seeds::MAKER,
        Faces = faces::MAKER,
        Fbs = boundary::MAKER,
        Labels = labels::LABELS,
        Flood = labels::FLOOD,
        Wireframe = wireframe::MAKER,
        Morton = morton::MAKER,
        #[cfg(feature = "papers")]
        FieldSlice = field_slice::SLICE,
        #[cfg(feature = "papers")]
        Fronts = fields::FRONTS,
        #[cfg(feature = "papers")]
        Spheres = fields::SPHERES,
    }
}

impl OverlayMaker {
    /// Its form in the commands' list.
    fn form(&self) -> String {
        let number = self.number.as_ref().map_or(String::new(), |number| format!("[:{}]", number.word));
        match (self.has_cut, number.as_str()) {
            (true, "") => format!("{}[:CUT]", self.name),
            (true, number) => format!("{}[:CUT{number}]", self.name),
            (false, number) => format!("{}{number}", self.name),
        }
    }
}

/// A chosen drawing: a kind and its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind of drawing.
    pub maker: Maker,
    /// The cut, for drawings that lie on one.
    pub cut: Cut,
    /// Its level or step; `None`: the maker's default.
    pub number: Option<u32>,
}

impl From<Maker> for Part {
    fn from(maker: Maker) -> Self {
        Self { maker, cut: Cut::default(), number: None }
    }
}

impl Part {
    /// This drawing with a number.
    #[must_use]
    pub fn at(self, number: u32) -> Self {
        Self { number: Some(number), ..self }
    }

    /// All drawings, for the list of commands.
    #[must_use]
    pub fn forms() -> String {
        let forms = Maker::ALL.map(|maker| maker.form()).join(", ");
        format!("{forms}; a CUT is an axis and hundredths of the object, as in x40")
    }

    /// The drawings that are available as data, for lists. Seeds and the boundary set are in `voxels.npz`.
    #[must_use]
    pub fn forms_of_data() -> String {
        let written = Maker::ALL.into_iter().filter(|maker| maker.write.is_some());
        let form = |maker: Maker| match maker.has_cut {
            true => format!("{}[:CUT]", maker.name),
            false => maker.name.to_owned(),
        };
        written.map(form).collect::<Vec<_>>().join(", ")
    }

    /// A drawing that is available as data, on its cut if it lies on one.
    ///
    /// # Errors
    /// One line that says what is wrong with the name, and which names there are.
    pub fn of_data(text: &str) -> Result<Self, String> {
        let name = text.trim().split(':').next().unwrap_or_default();
        if Maker::named(name).is_none_or(|maker| maker.write.is_none()) {
            return Err(format!("there is no `{name}`; there are {}", Self::forms_of_data()));
        }
        let part: Self = text.parse()?;
        match part.number {
            Some(_) => Err(format!("`{name}` is written with all its numbers; leave the number out")),
            None => Ok(part),
        }
    }
}

impl std::str::FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let maker = Maker::named(name)
            .ok_or_else(|| format!("there is no `{name}`{}; there are {}", why(name), Self::forms()))?;
        let (cut, number) = match (maker.has_cut, &maker.number) {
            (false, _) => (None, rest),
            (true, None) => (rest, None),
            (true, Some(_)) => rest.map_or((None, None), |rest| {
                rest.split_once(':').map_or((Some(rest), None), |(cut, number)| (Some(cut), Some(number)))
            }),
        };
        if number.is_some() && maker.number.is_none() {
            let with = Maker::ALL.into_iter().filter(|maker| maker.number.is_some()).map(|maker| maker.name);
            let with = with.collect::<Vec<_>>().join(", ");
            return Err(format!("`{name}` takes no number; these do: {with}"));
        }
        let whole = |number: &str| {
            let example = if maker.has_cut { format!("{name}:z50:3") } else { format!("{name}:3") };
            number
                .parse::<u32>()
                .map_err(|_| format!("`{text}` should end in a whole number, as in {example}"))
        };
        Ok(Self {
            maker,
            cut: cut.map_or(Ok(Cut::default()), str::parse)?,
            number: number.map(whole).transpose()?,
        })
    }
}

/// Why a drawing is missing, where the build leaves it out.
fn why(name: &str) -> &'static str {
    match name {
        "field-slice" | "fronts" | "spheres" if cfg!(not(feature = "papers")) => LEFT_OUT,
        _ => "",
    }
}

/// Where an [`Inside`] is drawn.
#[derive(Clone, Debug)]
pub struct Placing {
    /// Grid (voxels) to world, uniform scale.
    pub world_from_grid: Mat4,
    /// How far each piece is drawn from its place, m; empty for not at all.
    pub offsets: Vec<Vec3>,
}

impl Placing {
    /// Placing of a whole object.
    #[must_use]
    pub fn whole(world_from_grid: Mat4) -> Self {
        Self { world_from_grid, offsets: Vec::new() }
    }

    /// Metres per voxel.
    fn voxel(&self) -> f32 {
        self.world_from_grid.x_axis.truncate().length()
    }

    /// World position of a grid point that does not move with a piece.
    fn at(&self, point: DVec3) -> Vec3 {
        self.world_from_grid.transform_point3(point.as_vec3())
    }

    /// World position of a grid point that moves with a piece.
    fn with_piece(&self, point: DVec3, piece: usize) -> Vec3 {
        self.at(point) + self.offsets.get(piece).copied().unwrap_or(Vec3::ZERO)
    }
}

/// Draws `parts`; `through` is the opacity factor where the object hides them.
#[must_use]
pub fn overlay(inside: &Inside, parts: &[Part], placing: &Placing, through: f32) -> Overlay {
    // Voxels are drawn at their centres, which lie up to 0.87 edge lengths below their surface.
    let mut overlay = Overlay { through, lift: placing.voxel(), ..Overlay::default() };
    for part in parts {
        (part.maker.add)(&mut overlay, inside, placing, part);
    }
    overlay
}

/// Colour of a cell or label, with an opacity.
fn color_of(id: u32, alpha: u8) -> [u8; 4] {
    let [r, g, b] = piece_color(id);
    [r, g, b, alpha]
}

/// Lightens the colour where a surface faces up and to the left, as in the picture.
fn lit([r, g, b, a]: [u8; 4], normal: Vec3) -> [u8; 4] {
    let light = 0.62 + 0.38 * normal.dot(Vec3::new(-0.335, 0.735, 0.589)).max(0.0);
    let [r, g, b] = [r, g, b].map(|c| (f32::from(c) * light) as u8);
    [r, g, b, a]
}

/// The edges of equally sized cells, without duplicates; a shared edge has the colour of the highest rank. `size` in
/// voxels, positions in cells.
fn wire_cells(
    overlay: &mut Overlay,
    placing: &Placing,
    cells: impl Iterator<Item = ([u32; 3], u32)>,
    size: f64,
    (color, width): (impl Fn(u32) -> [u8; 4], f32),
) {
    let mut edges: BTreeMap<(usize, [u32; 3]), u32> = BTreeMap::new();
    for (place, rank) in cells {
        for axis in 0..3 {
            for k in 0..4u32 {
                let mut corner = place;
                corner[(axis + 1) % 3] += k & 1;
                corner[(axis + 2) % 3] += k >> 1;
                let known = edges.entry((axis, corner)).or_insert(rank);
                *known = rank.max(*known);
            }
        }
    }
    for ((axis, corner), rank) in edges {
        let mut end = corner;
        end[axis] += 1;
        let [start, end] = [corner, end].map(|c| placing.at(DVec3::from(c.map(f64::from)) * size));
        overlay.lines.push(Line { start, color: color(rank), end, width });
    }
}
