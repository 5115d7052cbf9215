//! Figures 3 and 4: fields and a sphere tree as line drawings.

use std::sync::Arc;

use glam::DVec3;

use super::{
    super::super::{
        entry::{Made, Table, number},
        svg::{Anchor, COLORS, Drawing, FAINT, INK, Pen},
        work::Work,
    },
    broken, unfit,
};
use crate::{
    cli::CliError,
    papers::field::{
        distance::{FamilyField, FragmentId},
        spheres::{ObjectPoint, SphereForest},
    },
    shape::Shape,
};

/// A point of a slice: the piece that it lies in and its depth, local units.
type Sample = Option<(usize, f64)>;

/// A square slice through the middle of an object, row by row, with rows downwards.
struct Slice {
    side: usize,
    samples: Vec<Sample>,
}

/// Where slices lie.
struct Window {
    corner: DVec3,
    right: DVec3,
    down: DVec3,
    side: usize,
}

impl Window {
    /// The plane z = middle, a little wider than the shape.
    fn through(shape: &Shape, side: usize) -> Self {
        let bounds = shape.bounds();
        let middle = bounds.low.midpoint(bounds.high);
        let wide = 1.06 * (bounds.high - bounds.low).max_element();
        let step = wide / side as f64;
        let corner = middle + DVec3::new(-0.5 * wide, 0.5 * wide, 0.0);
        Self { corner, right: DVec3::X * step, down: DVec3::NEG_Y * step, side }
    }

    /// The slice of a field; `piece_of` numbers its fragments.
    fn of(&self, field: &FamilyField, piece_of: impl Fn(FragmentId) -> Option<usize>) -> Slice {
        let slice = field.slice(self.corner, [self.right, self.down], [self.side; 2]);
        let sample = |sample: crate::papers::field::distance::SliceSample| {
            Some((piece_of(sample.fragment?)?, sample.distance))
        };
        Slice { side: self.side, samples: slice.samples.into_iter().map(sample).collect() }
    }
}

impl Slice {
    fn at(&self, x: usize, y: usize) -> Sample {
        self.samples.get(y * self.side + x).copied().flatten()
    }

    /// Draws lines of equal depth, `apart` units from each other, and the borders of pieces, with the slice's left end at
    /// `left`.
    fn draw(&self, drawing: &mut Drawing, left: f64, apart: f64) {
        let place = |x: f64, y: f64| [left + x, self.side as f64 - y];
        let border = Pen::line(INK, 1.0);
        for y in 0..self.side.saturating_sub(1) {
            for x in 0..self.side.saturating_sub(1) {
                let corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)];
                let samples = corners.map(|(x, y)| self.at(x, y));
                let (fx, fy) = (x as f64, y as f64);
                let piece = |sample: Sample| sample.map(|(piece, _)| piece);
                if piece(samples[0]) != piece(samples[1]) {
                    drawing.line(place(fx + 0.5, fy - 0.5), place(fx + 0.5, fy + 0.5), &border);
                }
                if piece(samples[0]) != piece(samples[3]) {
                    drawing.line(place(fx - 0.5, fy + 0.5), place(fx + 0.5, fy + 0.5), &border);
                }
                let [Some(a), Some(b), Some(c), Some(d)] = samples else { continue };
                if [b, c, d].iter().any(|other| other.0 != a.0) {
                    continue;
                }
                let color = COLORS[a.0 % COLORS.len()];
                let pen = Pen::line(color, 0.8);
                for [from, to] in crossings([a.1, b.1, c.1, d.1], apart) {
                    drawing.line(place(fx + from[0], fy + from[1]), place(fx + to[0], fy + to[1]), &pen);
                }
            }
        }
    }
}

/// Pieces of the lines at multiples of `apart` in a unit square with these values at its corners, in their order round
/// it: each from one side of the square to another.
fn crossings(values: [f64; 4], apart: f64) -> Vec<[[f64; 2]; 2]> {
    const CORNERS: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut lines = Vec::new();
    let mut level = ((low / apart).floor() + 1.0) * apart;
    while level < high {
        let mut points = Vec::new();
        for k in 0..4 {
            let next = (k + 1) % 4;
            let (from, to) = (values[k] - level, values[next] - level);
            if (from < 0.0) != (to < 0.0) {
                let share = from / (from - to);
                points.push(
                    [0, 1].map(|axis| CORNERS[k][axis] + (CORNERS[next][axis] - CORNERS[k][axis]) * share),
                );
            }
        }
        lines.extend(points.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        level += apart;
    }
    lines
}

/// Figure 3.
pub fn fields(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, field_level, side) = work.pick((6, 5, 96), (4, 3, 32));
    let (source, pieces) = broken("box", level, 6)?;
    let shapes: Vec<&Shape> = pieces.iter().map(|piece: &Arc<Shape>| &**piece).collect();
    let whole = FamilyField::new(&source, field_level).map_err(unfit)?;
    let (updated, names) = whole.after(FragmentId::WHOLE, &shapes).map_err(unfit)?;
    let exact: Result<Vec<FamilyField>, _> =
        shapes.iter().map(|shape| FamilyField::new(shape, field_level)).collect();
    let exact = exact.map_err(unfit)?;
    let window = Window::through(&source, side);
    let before = window.of(&whole, |_| Some(0));
    let after = window.of(&updated, |id| names.iter().position(|name| *name == id));
    let mut truth = Slice { side, samples: vec![None; side * side] };
    for (piece, field) in exact.iter().enumerate() {
        let own = window.of(field, |_| Some(piece));
        for (sample, own) in truth.samples.iter_mut().zip(own.samples) {
            *sample = sample.or(own);
        }
    }
    let (wide, gap) = (side as f64, 0.08 * side as f64);
    let mut drawing = Drawing::new([0.0, -0.12 * wide], [3.0 * wide + 2.0 * gap, wide], 1080.0);
    let apart = source.bounds().low.distance(source.bounds().high) / 40.0;
    for (k, (slice, title)) in
        [(&before, "the object"), (&truth, "its pieces, exact"), (&after, "its pieces, updated")]
            .iter()
            .enumerate()
    {
        let left = k as f64 * (wide + gap);
        slice.draw(&mut drawing, left, apart);
        drawing.text([left + 0.5 * wide, -0.06 * wide], title, 15.0, Anchor::Middle, INK);
    }
    work.write("fields.svg", &drawing.svg())?;
    let differences: Vec<f64> = truth
        .samples
        .iter()
        .zip(&after.samples)
        .filter_map(|(exact, updated)| {
            let ((a, exact), (b, updated)) = ((*exact)?, (*updated)?);
            (a == b).then(|| (exact - updated).abs())
        })
        .collect();
    let mut table =
        Table::new("Updated depth against the exact one, cells of the field", &["mean", "greatest"]);
    let cell = updated.lattice().cell;
    let mean = super::super::super::log::mean(differences.iter().copied());
    let greatest = differences.iter().copied().fold(0.0, f64::max);
    table.row([number(mean.map(|mean| mean / cell), 3), number(Some(greatest / cell), 2)]);
    let caption = "Lines of equal depth on a slice through a box: before the break, of its pieces with fields made anew, and \
                   with the field that followed the break.";
    let note = "A slice of a solid box in place of the paper's flat object. Within a cell of a surface both fields are \
                exact, so the lines differ only deeper inside.";
    Ok(Made::picture("fields.svg", caption).table(table).note(note))
}

/// A star with five points, as corners of its outline, and points within.
fn star() -> Vec<ObjectPoint> {
    let outline = |k: usize| {
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * k as f64 / 20.0 + 0.3);
        let radius = [1.0, 0.86, 0.62, 0.86][k % 4];
        ObjectPoint { position: DVec3::new(cosine, sine, 0.0) * radius, on_surface: true }
    };
    let within = |k: usize| {
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * k as f64 / 5.0 + 0.3);
        let radius = if k < 5 { 0.5 } else { 0.0 };
        ObjectPoint { position: DVec3::new(cosine, sine, 0.0) * radius, on_surface: false }
    };
    (0..20).map(outline).chain((0..6).map(within)).collect()
}

/// The level at which the point of this number comes in: level l has 2^l points.
fn level_of(number: usize) -> u32 {
    (number + 1).next_power_of_two().trailing_zeros().max(1)
}

/// Figure 4.
pub fn trees(work: &mut Work<'_>) -> Result<Made, CliError> {
    let points = star();
    let forest = SphereForest::build(&points);
    let mut drawing = Drawing::new([-1.2, -1.25], [3.9, 1.25], 1000.0);
    let outline: Vec<[f64; 2]> = points
        .iter()
        .filter(|point| point.on_surface)
        .map(|point| [point.position.x, point.position.y])
        .collect();
    let color = |level: u32| COLORS[level as usize % COLORS.len()];
    for left in [0.0, 2.7] {
        let moved: Vec<[f64; 2]> = outline.iter().map(|[x, y]| [x + left, *y]).collect();
        drawing.polygon(&moved, &Pen::line(FAINT, 1.5));
    }
    for (number, point) in forest.points().enumerate() {
        let at = [point.position.x, point.position.y];
        drawing.dot(at, 9.0, color(level_of(number)));
        drawing.text(at, &(number + 1).to_string(), 11.0, Anchor::Middle, "#ffffff");
    }
    for level in 1..=forest.last_level().min(4) {
        for (centre, radius) in forest.spheres_of_level(level).filter(|(_, radius)| *radius > 0.0) {
            drawing.circle([centre.x + 2.7, centre.y], radius, &Pen::line(color(level), 1.0));
        }
    }
    for (number, point) in forest.points().enumerate() {
        drawing.dot([point.position.x + 2.7, point.position.y], 3.0, color(level_of(number)));
    }
    work.write("tree.svg", &drawing.svg())?;
    let caption = "Left: points of an outline and of its interior, numbered in the order of their distances and coloured by the \
                   level at which they come in. Right: the spheres of each level, each holding all points below its own.";
    let note = format!(
        "The tree itself was built from {} points in a plane: {} spheres on {} levels.",
        forest.len(),
        forest.spheres(),
        forest.last_level()
    );
    Ok(Made::picture("tree.svg", caption).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_equal_depth_crosses_a_square_from_side_to_side() {
        // Depth grows by 1 from left to right.
        let lines = crossings([0.25, 1.25, 1.25, 0.25], 0.5);
        assert_eq!(lines.len(), 2);
        for ([from, to], x) in lines.iter().zip([0.25, 0.75]) {
            // Planted error to see this fail: take the values of two opposite corners.
            assert!((from[0] - x).abs() < 1e-12 && (to[0] - x).abs() < 1e-12, "{from:?} {to:?}");
            assert!((from[1] - to[1]).abs() == 1.0);
        }
        assert!(crossings([0.1; 4], 0.5).is_empty());
    }

    #[test]
    fn levels_hold_twice_as_many_points_each() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(level_of), [1, 1, 2, 2, 3, 3, 4]);
        let forest = SphereForest::build(&star());
        assert_eq!(forest.len(), 26);
        assert_eq!(forest.spheres_of_level(2).count(), 4);
    }
}
