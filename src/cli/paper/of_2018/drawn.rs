//! Figures 1 and 4: line drawings of two rules.

use crate::cli::{
    CliError,
    paper::{
        entry::{Made, Table},
        flat::{Broken, Cell, Point, voronoi_cell},
        svg::{Anchor, COLORS, Drawing, INK, Pen},
        work::Work,
    },
};

/// Three seeds in the unit square.
const SEEDS: [Point; 3] = [[0.22, 0.3], [0.78, 0.28], [0.46, 0.84]];
/// All of the square is solid here.
const ALL: Broken<'static> = Broken { centre: [0.5, 0.5], radius: 10.0, seeds: &SEEDS };
/// Pale colours of the Voronoi cells.
const PALE: [&str; 3] = ["#d6e6f2", "#f8e0cf", "#d5ede0"];

/// Names of seeds from 1 on.
fn names(seeds: &[usize]) -> String {
    let names: Vec<String> = seeds.iter().map(|seed| (seed + 1).to_string()).collect();
    format!("{{{}}}", names.join(", "))
}

/// Figure 1.
pub fn intersection(work: &mut Work<'_>) -> Result<Made, CliError> {
    const LEVEL: u32 = 3;
    let mut drawing = Drawing::new([0.0, 0.0], [1.0, 1.0], 640.0);
    for (k, seed) in SEEDS.iter().enumerate() {
        let pen = Pen { area: PALE[k], ..Pen::line(COLORS[k], 1.4) };
        drawing.polygon(&voronoi_cell(&SEEDS, k, [0.0; 2], [1.0; 2]), &pen);
        drawing.dot(*seed, 4.0, COLORS[k]);
        let at = [seed[0], seed[1] + 0.035];
        drawing.text(at, &format!("seed {}", k + 1), 13.0, Anchor::Middle, COLORS[k]);
    }
    let mut table =
        Table::new("The test U(V) of eq. 2", &["voxel", "seeds nearest to its corners", "crossed"]);
    let cells = ALL.cells(LEVEL);
    for (voxel, count) in [("A", 1), ("B", 2), ("C", 3)] {
        // The cell with that many seeds that lies nearest to the middle.
        let far = |cell: &&Cell| {
            let [x, y] = cell.middle().map(|value| value - 0.5);
            x * x + y * y
        };
        let fits = cells.iter().filter(|cell| cell.seeds.len() == count);
        let Some(cell) = fits.min_by(|a, b| far(a).total_cmp(&far(b))) else { continue };
        let (low, high) = (cell.low(), cell.high());
        drawing.rectangle(low, high, &Pen::line(INK, 2.0));
        for corner in [low, [high[0], low[1]], high, [low[0], high[1]]] {
            drawing.dot(corner, 5.0, COLORS[ALL.nearest(corner)]);
        }
        drawing.text(cell.middle(), voxel, 18.0, Anchor::Middle, INK);
        let crossed = if cell.is_cut() { "yes" } else { "no" };
        table.row([voxel.to_owned(), names(&cell.seeds), crossed.to_owned()]);
    }
    work.write("intersection.svg", &drawing.svg())?;
    let caption = "Three Voronoi seeds, and three voxels whose corners have the colour of the nearest seed.";
    let note = "A crack that crosses a voxel between its corners is found on a finer level; leaves are decided by their \
                corners, as in the paper.";
    Ok(Made::picture("intersection.svg", caption).table(table).note(note))
}

/// A crack through a transition voxel in the plane, from its left edge to its right one by a point within.
const CRACK: [Point; 3] = [[0.0, 0.58], [0.48, 0.36], [1.0, 0.66]];

/// Figure 4.
pub fn votes(work: &mut Work<'_>) -> Result<Made, CliError> {
    const LEVEL: u32 = 3;
    // Seed 1 owns what lies above, seed 2 what lies below.
    let side = |from: Point, to: Point, at: Point| {
        let (along, off) = ([to[0] - from[0], to[1] - from[1]], [at[0] - from[0], at[1] - from[1]]);
        along[0] * off[1] - along[1] * off[0] > 0.0
    };
    let pieces = [(CRACK[0], CRACK[1]), (CRACK[1], CRACK[2])];
    let mut drawing = Drawing::new([-0.25, -0.1], [1.25, 1.1], 720.0);
    let only = [SEEDS[0]];
    let whole = Broken { centre: [0.5, 0.5], radius: 10.0, seeds: &only };
    let mut counts = [0; 3];
    for cell in whole.cells(LEVEL) {
        let (low, high) = (cell.low(), cell.high());
        let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
        let is_crossed = pieces.iter().any(|(from, to)| {
            let above = corners.iter().filter(|corner| side(*from, *to, **corner)).count();
            let beside = high[0] <= from[0].min(to[0]) || low[0] >= from[0].max(to[0]);
            !beside && (1..4).contains(&above)
        });
        let above = pieces.iter().filter(|(from, to)| side(*from, *to, cell.middle())).count();
        let kind = match (is_crossed, above) {
            (true, _) => 2,
            (false, 2) => 0,
            (false, 0) => 1,
            // A tie of two pieces goes to the nearer one; in space the exact cones decide.
            (false, _) => {
                let piece = pieces[usize::from(cell.middle()[0] > CRACK[1][0])];
                usize::from(!side(piece.0, piece.1, cell.middle()))
            }
        };
        counts[kind] += 1;
        let area = if kind == 2 { "#e2dfd9" } else { PALE[kind] };
        drawing.rectangle(low, high, &Pen { area, ..Pen::line("#ffffff", 0.8) });
    }
    drawing.rectangle([0.0; 2], [1.0; 2], &Pen::line(INK, 1.6));
    drawing.chain(&CRACK, &Pen::line(INK, 3.0));
    let asked: Point = [0.8125, 0.8125];
    let half = Cell::edge(LEVEL) / 2.0;
    let (low, high) = (asked.map(|value| value - half), asked.map(|value| value + half));
    drawing.rectangle(low, high, &Pen { area: "#ffffff", ..Pen::line(INK, 1.6) });
    for (from, to) in pieces {
        let middle = [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0];
        let color = COLORS[usize::from(!side(from, to, asked))];
        drawing.arrow(middle, asked, &Pen { dashed: true, ..Pen::line(color, 1.0) });
    }
    drawing.text([-0.03, 0.8], "seed 1", 14.0, Anchor::End, COLORS[0]);
    drawing.text([-0.03, 0.2], "seed 2", 14.0, Anchor::End, COLORS[1]);
    work.write("votes.svg", &drawing.svg())?;
    let votes = pieces.iter().filter(|(from, to)| side(*from, *to, asked)).count();
    let mut table = Table::new("Voxels below one transition voxel", &["voxels", "count"]);
    for (kind, what) in ["of seed 1", "of seed 2", "crossed by the crack"].into_iter().enumerate() {
        table.row([what.to_owned(), counts[kind].to_string()]);
    }
    let caption = format!(
        "In the plane: the white voxel is not crossed. {votes} of the 2 pieces of the crack have it on the side \
         of seed 1, which gets it. Grey voxels are crossed."
    );
    let note = "The published rule is the option `--sides votes`. Exact cones are the default here, since votes leave \
                holes where triangles of one voxel disagree.";
    Ok(Made::picture("votes.svg", caption).table(table).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_voxels_with_one_two_and_three_seeds() {
        let cells = ALL.cells(3);
        // Planted error to see this fail: two seeds in the same place.
        for count in 1..=3 {
            assert!(cells.iter().any(|cell| cell.seeds.len() == count), "{count}");
        }
        assert_eq!(names(&[0, 2]), "{1, 3}");
    }
}
