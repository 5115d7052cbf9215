//! The boundary cells of the broken octree in Morton order (2016, fig. 2): a line through their centres, from dark to bright,
//! and their numbers where they are few.
//!
//! In: the octree and a level. Out: lines, a disc in every cell, numbers as strokes on the cells' sides towards +z.

use glam::DVec3;

use super::{
    Inside, Number, OverlayMaker, Part, Placing, Reads,
    wireframe::{cells_at, level_of},
};
use crate::{
    render::{Line, Overlay, Point},
    scene::ColorMap,
    svo::morton,
};

/// Most cells whose numbers are drawn.
const MOST_NUMBERED: usize = 600;
/// Radius of a cell's disc, and the largest height of a number, cells.
const RADIUS: f32 = 0.06;
const HEIGHT: f64 = 0.36;
/// Width of a digit, and the way from one to the next, as shares of its height.
const WIDTH: f64 = 0.5;
const ADVANCE: f64 = 0.75;
/// Colour of numbers.
const INK: [u8; 4] = [250, 250, 245, 255];

/// Ends of the strokes that digits consist of, in a box of width and height 1, y up.
const STROKES: [[[f64; 2]; 2]; 7] = [
    [[0.0, 1.0], [1.0, 1.0]],
    [[1.0, 1.0], [1.0, 0.5]],
    [[1.0, 0.5], [1.0, 0.0]],
    [[0.0, 0.0], [1.0, 0.0]],
    [[0.0, 0.5], [0.0, 0.0]],
    [[0.0, 1.0], [0.0, 0.5]],
    [[0.0, 0.5], [1.0, 0.5]],
];
/// The strokes of each digit: bit k is stroke k.
const DIGITS: [u8; 10] = [0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f];

/// The maker.
pub(super) static MAKER: OverlayMaker = OverlayMaker {
    name: "morton",
    label: "Morton order",
    help: "A line through the boundary cells of a level in Morton order, with their numbers where they are few",
    reads: Reads::Nothing,
    has_cut: false,
    number: Some(Number::octree_level(
        "morton_level",
        "Morton level",
        "The octree level whose boundary cells the line connects",
        3,
    )),
    add,
    write: None,
};

fn add(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    let (level, size) = level_of(inside, part);
    let mut cells = cells_at(&inside.forest, inside.tree, level).boundary;
    cells.sort_unstable_by_key(|cell| morton::encode(*cell));
    let at = |cell: &[u32; 3], inner: [f64; 3]| {
        placing.at((DVec3::from(cell.map(f64::from)) + DVec3::from(inner)) * size)
    };
    let last = cells.len().saturating_sub(1).max(1) as f64;
    let color = |number: usize| {
        let [red, green, blue] = ColorMap::Viridis.color(number as f64 / last);
        [red, green, blue, 255]
    };
    let middle = [0.5; 3];
    for (number, pair) in cells.windows(2).enumerate() {
        if let [from, to] = pair {
            let (start, end) = (at(from, middle), at(to, middle));
            overlay.lines.push(Line { start, color: color(number), end, width: 2.0 });
        }
    }
    let radius_m = RADIUS * placing.voxel() * size as f32;
    for (number, cell) in cells.iter().enumerate() {
        let (at, color) = (at(cell, middle), color(number));
        overlay.points.push(Point { at, color, radius_pixels: 1.5, radius_m, back_pixels: 0.0 });
    }
    if cells.len() > MOST_NUMBERED {
        return;
    }
    for (number, cell) in cells.iter().enumerate() {
        for ends in strokes(number) {
            let [start, end] = ends.map(|[x, y]| at(cell, [x, y, 1.0]));
            overlay.lines.push(Line { start, color: INK, end, width: 1.2 });
        }
    }
}

/// Strokes of a number in the middle of a square of side 1.
fn strokes(number: usize) -> Vec<[[f64; 2]; 2]> {
    let digits: Vec<u8> = number.to_string().bytes().map(|digit| digit - b'0').collect();
    let wide = ADVANCE * (digits.len() as f64 - 1.0) + WIDTH;
    let height = HEIGHT.min(0.8 / wide);
    let (left, low) = (0.5 - 0.5 * wide * height, 0.5 - 0.5 * height);
    let mut out = Vec::new();
    for (place, digit) in digits.into_iter().enumerate() {
        let left = left + ADVANCE * height * place as f64;
        let drawn = DIGITS.get(usize::from(digit)).copied().unwrap_or(0);
        let of = STROKES.iter().enumerate().filter(|(bit, _)| drawn >> bit & 1 == 1);
        out.extend(of.map(|(_, ends)| ends.map(|[x, y]| [left + WIDTH * height * x, low + height * y])));
    }
    out
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::{
        fracture::Surface,
        scene::overlays::{
            Maker,
            tests::{Bench, drawn},
        },
    };

    /// Bits of the three coordinates in turn, the first one's lowest; one by one.
    fn code(cell: [u32; 3]) -> u64 {
        let bit = |axis: usize, bit: u32| u64::from(cell[axis] >> bit & 1) << (3 * bit + axis as u32);
        (0..10).flat_map(|at| [0, 1, 2].map(|axis| bit(axis, at))).sum()
    }

    /// Fails where cells are joined in another order, for instance with x and z exchanged.
    #[test]
    fn the_line_goes_through_every_boundary_cell_in_the_order_of_its_code() {
        let Some(bench) = Bench::open() else { return };
        let inside = bench.read(Surface::Planar, &[]);
        for level in [1, 3, 5] {
            let (shift, size) = (inside.forest.level - level, (1u32 << (inside.forest.level - level)) as f32);
            let leaves = inside.forest.leaves.keys.iter();
            let mut cells: Vec<[u32; 3]> =
                leaves.map(|key| morton::decode(key).map(|v| v >> shift)).collect();
            cells.sort_by_key(|cell| code(*cell));
            cells.dedup();
            let made = drawn(&inside, Part::from(Maker::Morton).at(level));
            let wanted: Vec<Vec3> =
                cells.iter().map(|cell| (Vec3::from(cell.map(|v| v as f32)) + 0.5) * size).collect();
            let points: Vec<Vec3> = made.points.iter().map(|point| point.at).collect();
            assert_eq!(points, wanted, "level {level}");
            let ends: Vec<[Vec3; 2]> =
                made.lines.iter().take(wanted.len() - 1).map(|line| [line.start, line.end]).collect();
            assert_eq!(ends, wanted.windows(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>());
            let written = made.lines.len() - ends.len();
            let strokes = (0..wanted.len()).map(|number| strokes(number).len()).sum();
            assert_eq!(written, if wanted.len() > MOST_NUMBERED { 0 } else { strokes }, "level {level}");
        }
    }

    #[test]
    fn numbers_have_the_strokes_of_their_digits_and_stay_in_their_cell() {
        let counts = [0, 1, 8, 17, 123].map(|number| strokes(number).len());
        assert_eq!(counts, [6, 2, 7, 5, 12]);
        let mut all = (0..2000).flat_map(strokes).flatten().flatten();
        assert!(all.all(|value| (0.05..=0.95).contains(&value)));
    }
}
