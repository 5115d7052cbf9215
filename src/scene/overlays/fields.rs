//! Distance-field contacts of a breaking object: a slice through the field, the fronts of its update, the spheres of
//! its trees (Glondu et al. 2012, sec. 4 and 5).
//!
//! In: the object's octree and its pieces. Out: its field and trees, updated as a break updates those of a body, and
//! overlays of them.

use glam::{DVec3, IVec3, Vec3};

use super::{Cut, Inside, Number, OverlayMaker, Part, Placing, Reads, color_of};
use crate::{
    fracture::Fracture,
    papers::field::{
        distance::{FamilyField, FragmentId, Slice, SliceSample, Update},
        spheres::{Sampling, SphereForest},
    },
    render::{Line, Overlay, Point, Triangle},
    shape::{Look, Octree, Shape},
    svo::{Forest, Grid},
};
use std::sync::Arc;

/// Samples of a slice along its longer side.
const SAMPLES: usize = 144;
/// Iso-lines per cell of the field, and least number of lines down to its deepest point: walls may be thinner than a
/// cell.
const LINES_A_CELL: f64 = 2.0;
const FEWEST_LINES: f64 = 4.0;
const ISO: [u8; 4] = [16, 18, 26, 210];
/// Colours of exact nodes, of nodes that the front reached first and last, in the step shown, and not at all.
const EXACT: [u8; 4] = [255, 236, 170, 255];
const EARLY: [f64; 3] = [120.0, 220.0, 190.0];
const LATE: [f64; 3] = [70.0, 90.0, 220.0];
pub(super) const NOW: [u8; 4] = [240, 90, 60, 255];
pub(super) const UNTOUCHED: [u8; 4] = [150, 150, 150, 110];
/// Vertices of a circle, and most spheres drawn.
const CORNERS: usize = 20;
pub(super) const MOST_SPHERES: usize = 3000;
/// Default level of the spheres.
const DEFAULT_LEVEL: u32 = 6;

/// The maker.
pub(super) static SLICE: OverlayMaker = OverlayMaker {
    name: "field-slice",
    label: "Distance field",
    help: "A slice through the distance field of the pieces, in their colours, with lines of equal depth: what contacts by distance fields look up",
    reads: Reads::Fields,
    has_cut: true,
    number: None,
    add: add_slice,
    write: None,
};

/// The maker.
pub(super) static FRONTS: OverlayMaker = OverlayMaker {
    name: "fronts",
    label: "Fronts",
    help: "Nodes of the field on the slice, by the step at which the update after the break reached them: yellow exact beside the crack, red now, blue late, grey untouched",
    reads: Reads::Fields,
    has_cut: true,
    number: Some(Number {
        word: "STEP",
        name: "front_step",
        label: "Front step",
        help: "The step of the fronts that is shown; 0: what is exact beside the crack, before they set out",
        least: 0,
        most: |inside| inside.fields.as_ref().map_or(0, Fields::steps),
        first: u32::MAX,
        is_octree_level: false,
    }),
    add: add_fronts,
    write: None,
};

/// The maker.
pub(super) static SPHERES: OverlayMaker = OverlayMaker {
    name: "spheres",
    label: "Sphere trees",
    help: "Spheres of the pieces' trees at a level: points whose spheres miss another body are not looked up",
    reads: Reads::Fields,
    has_cut: false,
    number: Some(Number {
        word: "LEVEL",
        name: "spheres_level",
        label: "Tree level",
        help: "Spheres of the pieces' trees at a level: points whose spheres miss another body are not looked up",
        least: 0,
        most: |inside| inside.fields.as_ref().map_or(0, Fields::levels),
        first: DEFAULT_LEVEL,
        is_octree_level: false,
    }),
    add: add_spheres,
    write: None,
};

/// The field and the trees of an object that broke.
pub struct Fields {
    field: FamilyField,
    update: Update,
    forests: Vec<SphereForest>,
}

impl Fields {
    /// The field and trees of a tree of a forest and its pieces, with field cells of that level. `None` for an empty
    /// tree, which has no field.
    pub(super) fn new(
        forest: &Arc<Forest>,
        tree: u32,
        fracture: &Fracture,
        field_level: u32,
    ) -> Option<Self> {
        let grid = Grid { level: forest.level, origin: DVec3::ZERO, h: 1.0 };
        let shape =
            |forest: &Arc<Forest>, tree| Shape::octree(Octree::new(forest, tree, grid), 1.0, Look::default());
        let whole = shape(forest, tree);
        // The default of bodies: they collide one level above their leaves.
        let level = forest.level.saturating_sub(1).max(1);
        let mut field = FamilyField::new(&whole, field_level.min(level).max(1)).ok()?;
        let pieces: Vec<Shape> =
            fracture.pieces.iter().map(|piece| shape(&fracture.forest, piece.tree)).collect();
        let pieces: Vec<&Shape> = pieces.iter().collect();
        let update = field.fracture(FragmentId::WHOLE, &pieces).ok()?;
        let sampling = Sampling::new(&whole, level);
        let tree = SphereForest::build(&sampling.points(&whole));
        let forests = tree.fracture(&sampling.fracture(&tree, &pieces)).ok()?;
        Some(Self { field, update, forests })
    }

    /// Number of steps of the fronts.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.update.accepted.iter().map(|(_, step)| *step).max().unwrap_or(0)
    }

    /// The last level of the trees.
    #[must_use]
    pub fn levels(&self) -> u32 {
        self.forests.iter().map(SphereForest::last_level).max().unwrap_or(0)
    }

    /// The field after the break.
    #[must_use]
    pub fn field(&self) -> &FamilyField {
        &self.field
    }

    /// The trees of each piece.
    #[must_use]
    pub fn forests(&self) -> &[SphereForest] {
        &self.forests
    }

    /// The piece that a fragment belongs to.
    pub(super) fn piece_of(&self, fragment: FragmentId) -> Option<usize> {
        self.update.fragments.iter().position(|id| *id == fragment)
    }
}

/// The plane of a slice as a grid of samples, voxels.
struct Plane {
    corner: DVec3,
    right: DVec3,
    down: DVec3,
    size: [usize; 2],
}

impl Plane {
    fn new(field: &FamilyField, cut: Cut) -> Self {
        let lattice = field.lattice();
        let extent = lattice.cells.as_dvec3() * lattice.cell;
        let axis = usize::from(cut.axis.min(2));
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        let step = extent[u].max(extent[v]) / SAMPLES as f64;
        let along = extent[axis] * f64::from(cut.percent.min(100)) / 100.0;
        // Shifted off the planes between cells, where a point's cell is ambiguous.
        let corner = lattice.origin
            + DVec3::AXES[axis] * (along + 1e-3)
            + (DVec3::AXES[u] + DVec3::AXES[v]) * (0.5 * step);
        let size = [u, v].map(|k| (extent[k] / step).ceil() as usize);
        Self { corner, right: DVec3::AXES[u] * step, down: DVec3::AXES[v] * step, size }
    }

    fn at(&self, x: f64, y: f64) -> DVec3 {
        self.corner + self.right * x + self.down * y
    }
}

/// The slice: fragments in the colours of their pieces, and lines of equal distance.
fn add_slice(overlay: &mut Overlay, inside: &Inside, placing: &Placing, &Part { cut, .. }: &Part) {
    let Some(fields) = &inside.fields else { return };
    let plane = Plane::new(&fields.field, cut);
    let slice = fields.field.slice(plane.corner, [plane.right, plane.down], plane.size);
    let apart = lines_apart(fields, &slice);
    for y in 0..slice.height {
        let mut x = 0;
        while x < slice.width {
            let sample = slice.samples[y * slice.width + x];
            let run = |other: &SliceSample| {
                other.fragment == sample.fragment && band(other, apart) == band(&sample, apart)
            };
            let row = &slice.samples[y * slice.width + x..(y + 1) * slice.width];
            let length = row.iter().take_while(|other| run(other)).count().max(1);
            if let Some(piece) = sample.fragment.and_then(|id| fields.piece_of(id)) {
                let shade = if band(&sample, apart).is_multiple_of(2) { 1.0 } else { 0.82 };
                let [r, g, b, _] = color_of(inside.fracture.pieces[piece].cell, 255);
                let color = [r, g, b].map(|c| (f64::from(c) * shade) as u8);
                let (left, right) = (x as f64 - 0.5, (x + length) as f64 - 0.5);
                let (top, bottom) = (y as f64 - 0.5, y as f64 + 0.5);
                let corner = |x, y| placing.with_piece(plane.at(x, y), piece);
                let [a, b, c, d] =
                    [corner(left, top), corner(right, top), corner(right, bottom), corner(left, bottom)];
                let color = [color[0], color[1], color[2], 245];
                overlay.triangles.extend([Triangle { a, color, b, c }, Triangle { a, color, b: c, c: d }]);
            }
            x += length;
        }
    }
    add_lines(overlay, (fields, placing), &plane, &slice, apart);
}

/// Distance between iso-lines, voxels.
fn lines_apart(fields: &Fields, slice: &Slice) -> f64 {
    let deepest = slice.samples.iter().map(|sample| sample.distance).fold(0.0, f64::max);
    let usual = fields.field.lattice().cell / LINES_A_CELL;
    if deepest > 0.0 { usual.min(deepest / FEWEST_LINES) } else { usual }
}

/// Distance between the iso-lines of a slice, voxels.
#[cfg(test)]
pub(super) fn apart_on(fields: &Fields, cut: Cut) -> f64 {
    let plane = Plane::new(&fields.field, cut);
    lines_apart(fields, &fields.field.slice(plane.corner, [plane.right, plane.down], plane.size))
}

/// Index of the interval between iso-lines that a sample lies in.
fn band(sample: &SliceSample, apart: f64) -> u32 {
    (sample.distance / apart) as u32
}

/// Iso-lines, drawn per square between four samples of one fragment.
fn add_lines(
    overlay: &mut Overlay,
    (fields, placing): (&Fields, &Placing),
    plane: &Plane,
    slice: &Slice,
    apart: f64,
) {
    for y in 0..slice.height.saturating_sub(1) {
        for x in 0..slice.width.saturating_sub(1) {
            let corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
            let four = corners.map(|[x, y]| slice.samples[y * slice.width + x]);
            let Some(fragment) = four[0].fragment else { continue };
            let Some(piece) = fields.piece_of(fragment) else { continue };
            if four.iter().any(|sample| sample.fragment != Some(fragment)) {
                continue;
            }
            let low = four.iter().map(|s| band(s, apart)).min().unwrap_or(0);
            let high = four.iter().map(|s| band(s, apart)).max().unwrap_or(0);
            for line in low + 1..=high {
                let level = f64::from(line) * apart;
                let mut crossed = Vec::new();
                for k in 0..4 {
                    let (a, b) = (four[k].distance, four[(k + 1) % 4].distance);
                    if (a < level) != (b < level) {
                        let share = (level - a) / (b - a);
                        let [[x0, y0], [x1, y1]] =
                            [corners[k], corners[(k + 1) % 4]].map(|c| c.map(|v| v as f64));
                        let at = plane.at(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
                        crossed.push(placing.with_piece(at, piece));
                    }
                }
                for pair in crossed.chunks_exact(2) {
                    overlay.lines.push(Line { start: pair[0], color: ISO, end: pair[1], width: 1.4 });
                }
            }
        }
    }
}

/// The nodes nearest to the slice, with their directions and the step at which a front reached them, up to a step (all
/// by default).
fn add_fronts(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    let Part { cut, number: step, .. } = *part;
    let Some(fields) = &inside.fields else { return };
    let (field, last) = (&fields.field, fields.steps());
    let shown = step.map_or(last, |step| step.min(last));
    let lattice = field.lattice();
    let axis = usize::from(cut.axis.min(2));
    let layer = (f64::from(lattice.cells[axis]) * f64::from(cut.percent.min(100)) / 100.0).round() as i32;
    // A node may be reached several times; its value is that of the last time.
    let mut reached = vec![None; lattice.nodes()];
    for (node, step) in fields.update.accepted.iter().filter(|(_, step)| *step <= shown) {
        reached[*node as usize] = Some(*step);
    }
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for a in 0..=lattice.cells[u] {
        for b in 0..=lattice.cells[v] {
            let mut at = IVec3::ZERO;
            (at[axis], at[u], at[v]) = (layer, a, b);
            let Some((number, node)) = lattice.node(at).and_then(|k| Some((k, field.node(k)?))) else {
                continue;
            };
            let Some(piece) = node.fragment.and_then(|id| fields.piece_of(id)) else { continue };
            let (color, radius) = match reached[number] {
                None => (UNTOUCHED, 0.10),
                Some(0) => (EXACT, 0.16),
                Some(step) if step == shown && shown > 0 => (NOW, 0.22),
                Some(step) => (mixed(f64::from(step) / f64::from(last.max(1))), 0.16),
            };
            let start = placing.with_piece(node.place, piece);
            let radius_m = (radius * lattice.cell) as f32 * placing.voxel();
            overlay.points.push(Point { at: start, color, radius_pixels: 1.2, radius_m, back_pixels: 0.0 });
            if reached[number].is_some() {
                let end = node.place + node.direction * node.distance.min(0.7 * lattice.cell);
                overlay.lines.push(Line { start, color, end: placing.with_piece(end, piece), width: 1.3 });
            }
        }
    }
}

fn mixed(share: f64) -> [u8; 4] {
    let [r, g, b] = [0, 1, 2].map(|k| (EARLY[k] + (LATE[k] - EARLY[k]) * share) as u8);
    [r, g, b, 255]
}

/// The spheres of one level of every fragment's trees, each as three circles in the colour of its piece.
fn add_spheres(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    let Some(fields) = &inside.fields else { return };
    let level = part.number.unwrap_or(DEFAULT_LEVEL).min(fields.levels());
    let voxel = placing.voxel();
    let all = fields.forests.iter().enumerate().flat_map(|(piece, forest)| {
        forest.spheres_of_level(level).map(move |(centre, radius)| (piece, centre, radius as f32))
    });
    for (piece, centre, radius) in all.take(MOST_SPHERES) {
        let color = color_of(inside.fracture.pieces[piece].cell, 210);
        let at = placing.with_piece(centre, piece);
        overlay.points.push(Point { at, color, radius_pixels: 1.8, radius_m: 0.0, back_pixels: 0.0 });
        if radius <= 0.0 {
            continue;
        }
        for axis in 0..3 {
            let [u, v] = [Vec3::AXES[(axis + 1) % 3], Vec3::AXES[(axis + 2) % 3]];
            let place = |k: usize| {
                let (s, c) = libm::sincosf(k as f32 / CORNERS as f32 * std::f32::consts::TAU);
                at + (u * c + v * s) * (radius * voxel)
            };
            overlay.lines.extend((0..CORNERS).map(|k| Line {
                start: place(k),
                color,
                end: place(k + 1),
                width: 1.0,
            }));
        }
    }
}
