//! Slices through the distance field of the pieces (Glondu et al. 2012, sec. 4).
//!
//! In: an [`Inside`] with its field, and cuts. Out: an overlay of the pieces with lines of equal depth, and arrays of the
//! same samples, described in `docs/files.md`.

use glam::DVec3;

use super::{
    Cut, Fields, Inside, OverlayFileError, OverlayFiles, OverlayMaker, Part, Placing, Reads, color_of,
};
use crate::{
    papers::field::distance::{FamilyField, Slice, SliceSample},
    render::{Line, Overlay, Triangle},
};

/// Samples of a slice along its longer side.
const SAMPLES: usize = 144;
/// Iso-lines per cell of the field, and least number of lines down to its deepest point: walls may be thinner than a
/// cell.
const LINES_A_CELL: f64 = 2.0;
const FEWEST_LINES: f64 = 4.0;
const ISO: [u8; 4] = [16, 18, 26, 210];

/// The maker.
pub(super) static SLICE: OverlayMaker = OverlayMaker {
    name: "field-slice",
    label: "Distance field",
    help: "A slice through the distance field of the pieces, in their colours, with lines of equal depth: what contacts by distance fields look up",
    reads: Reads::Fields,
    has_cut: true,
    number: None,
    add: add_slice,
    write: Some(write),
};

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

    /// The field at the samples.
    fn slice(&self, field: &FamilyField) -> Slice {
        field.slice(self.corner, [self.right, self.down], self.size)
    }
}

/// The slice: fragments in the colours of their pieces, and lines of equal distance.
fn add_slice(overlay: &mut Overlay, inside: &Inside, placing: &Placing, &Part { cut, .. }: &Part) {
    let Some(fields) = &inside.fields else { return };
    let plane = Plane::new(fields.field(), cut);
    let slice = plane.slice(fields.field());
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
    let usual = fields.field().lattice().cell / LINES_A_CELL;
    if deepest > 0.0 { usual.min(deepest / FEWEST_LINES) } else { usual }
}

/// Distance between the iso-lines of a slice, voxels.
#[cfg(test)]
pub(super) fn apart_on(fields: &Fields, cut: Cut) -> f64 {
    let plane = Plane::new(fields.field(), cut);
    lines_apart(fields, &plane.slice(fields.field()))
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

/// The samples of one slice, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SliceArrays {
    /// Number of rows.
    pub rows: usize,
    /// Samples in a row.
    pub columns: usize,
    /// Places, leaf units.
    pub points: Vec<[f64; 3]>,
    /// Depth in the piece that holds the sample, leaf units; 0 in no piece.
    pub distances: Vec<f64>,
    /// Unit vector to the surface of that piece; zero in no piece.
    pub directions: Vec<[f64; 3]>,
    /// Cell of that piece; -1 in no piece.
    pub cells: Vec<i32>,
    /// Id of that piece; -1 in no piece.
    pub pieces: Vec<i32>,
}

impl SliceArrays {
    /// The slice at a cut; `None` where the object has no field. `first` is the number of the first cell, and
    /// `piece_of_tree` has the piece id of every tree of the fracture's forest.
    #[must_use]
    pub fn of(inside: &Inside, cut: Cut, first: i32, piece_of_tree: &[i32]) -> Option<Self> {
        let fields = inside.fields.as_ref()?;
        let plane = Plane::new(fields.field(), cut);
        let slice = plane.slice(fields.field());
        let mut out = Self { rows: slice.height, columns: slice.width, ..Self::default() };
        for (k, sample) in slice.samples.iter().enumerate() {
            out.points.push(plane.at((k % slice.width) as f64, (k / slice.width) as f64).to_array());
            out.distances.push(sample.distance);
            out.directions.push(sample.direction.to_array());
            let piece = sample.fragment.and_then(|id| fields.piece_of(id));
            let piece = piece.and_then(|piece| inside.fracture.pieces.get(piece));
            out.cells.push(piece.map_or(-1, |piece| first + piece.cell as i32));
            let id = piece.and_then(|piece| piece_of_tree.get(piece.tree as usize));
            out.pieces.push(id.copied().unwrap_or(-1));
        }
        Some(out)
    }
}

/// Writes the slices at all cuts, each with its cut in the names of its arrays.
///
/// # Errors
/// [`OverlayFileError`] of the archive.
fn write(files: &mut OverlayFiles<'_>) -> Result<(), OverlayFileError> {
    for cut in files.cuts.clone() {
        let slice = SliceArrays::of(files.inside, cut, files.first_seed, &files.piece_of_tree);
        let Some(slice) = slice else { continue };
        let axis = match cut.axis {
            0 => "x",
            1 => "y",
            _ => "z",
        };
        let name = |what: &str| format!("field_slice_{axis}{}_{what}", cut.percent);
        let (npz, size) = (&mut files.npz, [slice.rows, slice.columns]);
        let vectors = [slice.rows, slice.columns, 3];
        npz.array(&name("points"), &vectors, slice.points.as_flattened())?;
        npz.array(&name("distance"), &size, &slice.distances)?;
        npz.array(&name("direction"), &vectors, slice.directions.as_flattened())?;
        npz.array(&name("cell"), &size, &slice.cells)?;
        npz.array(&name("piece"), &size, &slice.pieces)?;
    }
    Ok(())
}
