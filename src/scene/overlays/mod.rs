//! Overlays of a fracture's internals: transition voxels, crack triangles and their separation points, seeds, Voronoi
//! faces, the fracture boundary set, island labels, octree cells, distance fields and sphere trees. One file per kind.
//!
//! In: an [`Inside`], the data read back from one fracture. Out: an [`Overlay`] in world space.

mod arrays;
mod boundary;
mod crack;
mod faces;
mod fields;
#[cfg(test)]
mod fields_tests;
mod inside;
mod labels;
mod seeds;
#[cfg(test)]
mod tests;
mod transition;
mod wireframe;

use std::collections::BTreeMap;

use glam::{DVec3, Mat4, Vec3};

use crate::render::{Line, Overlay, piece_color};

pub use arrays::{CrackArrays, FaceArrays};
pub use crack::POINT_COLORS;
pub use fields::{Cut, Fields};
pub use inside::{Blueprint, Inside};
pub use labels::{LabelSteps, MOST_ITERATIONS};
pub use transition::COLORS as TRANSITION_COLORS;

/// One kind of overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Crossed voxels of the transition level, coloured by the number of objects at their corners.
    Transition,
    /// Crack triangles, coloured by the objects on their sides.
    Triangles,
    /// Separation points: of edges, faces and voxels.
    Points,
    /// Seeds, the impact and its spheres.
    Seeds,
    /// Faces of the Voronoi diagram.
    Faces,
    /// Fracture boundary set, coloured by cell, with normals.
    Fbs,
    /// Islands by the union-find, or the published labelling after a number of iterations.
    Labels(Option<u32>),
    /// The published labelling without the flattening of chains, after a number of iterations, by default all.
    Flood(Option<u32>),
    /// Cells of the broken octree, at a level or at the leaves.
    Wireframe(Option<u32>),
    /// A slice through the pieces' distance field: pieces in their colours, with lines of equal distance.
    FieldSlice(Cut),
    /// Nodes of the field on a slice, by the step at which the update's front reached them: up to a step, or all.
    Fronts(Cut, Option<u32>),
    /// Spheres of one level of the pieces' trees.
    Spheres(Option<u32>),
}

/// Syntax of all [`Part`]s.
pub const PART_NAMES: &str = "transition, triangles, points, seeds, faces, fbs, labels[:STEP], flood[:STEP], wireframe[:LEVEL], \
     field-slice[:CUT], fronts[:CUT[:STEP]] and spheres[:LEVEL]; a CUT is an axis and hundredths, as in x40";

impl std::str::FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = match text.trim().split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (text.trim(), None),
        };
        let cut = |text: Option<&str>| text.map_or(Ok(Cut::default()), str::parse);
        match (name, number) {
            ("field-slice", text) => return Ok(Self::FieldSlice(cut(text)?)),
            ("fronts", text) => {
                let (at, step) = match text.and_then(|text| text.split_once(':')) {
                    Some((at, step)) => (Some(at), Some(step)),
                    None => (text, None),
                };
                let step = step.map(|step| {
                    step.parse().map_err(|_| format!("`{step}` should be a whole number, as in fronts:z50:3"))
                });
                return Ok(Self::Fronts(cut(at)?, step.transpose()?));
            }
            _ => {}
        }
        let number = match number.map(str::parse::<u32>) {
            None => None,
            Some(Ok(number)) => Some(number),
            Some(Err(_)) => return Err(format!("`{text}` should end in a whole number, as in {name}:3")),
        };
        let plain = match name {
            "labels" => return Ok(Self::Labels(number)),
            "flood" => return Ok(Self::Flood(number)),
            "wireframe" => return Ok(Self::Wireframe(number)),
            "spheres" => return Ok(Self::Spheres(number)),
            "transition" => Self::Transition,
            "triangles" => Self::Triangles,
            "points" => Self::Points,
            "seeds" => Self::Seeds,
            "faces" => Self::Faces,
            "fbs" => Self::Fbs,
            _ => return Err(format!("there is no `{name}`; there are {PART_NAMES}")),
        };
        match number {
            None => Ok(plain),
            Some(_) => Err(format!("`{name}` takes no number; labels, flood, wireframe and spheres do")),
        }
    }
}

impl Part {
    /// Whether it shows distance-field contacts.
    #[must_use]
    pub fn is_of_fields(&self) -> bool {
        matches!(self, Self::FieldSlice(_) | Self::Fronts(..) | Self::Spheres(_))
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
        let out = &mut overlay;
        match part {
            Part::Transition => transition::add(out, inside, placing),
            Part::Triangles => crack::add_triangles(out, inside, placing),
            Part::Points => crack::add_points(out, inside, placing),
            Part::Seeds => seeds::add(out, inside, placing),
            Part::Faces => faces::add(out, inside, placing),
            Part::Fbs => boundary::add(out, inside, placing),
            Part::Labels(None) => labels::add_islands(out, inside, placing),
            Part::Labels(Some(_)) | Part::Flood(_) => labels::add_steps(out, inside, placing),
            Part::Wireframe(level) => wireframe::add(out, inside, placing, *level),
            Part::FieldSlice(cut) => fields::add_slice(out, inside, placing, *cut),
            Part::Fronts(cut, step) => fields::add_fronts(out, inside, placing, (*cut, *step)),
            Part::Spheres(level) => fields::add_spheres(out, inside, placing, *level),
        }
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
