//! Figures 3, 4, 5 and 10: cells in a plane.
//!
//! In: sites in one plane, within a flat box. Out: drawings of the cells' faces on the box's upper wall. All bisectors
//! stand upright on that wall, so the cut of the three-dimensional cells is the plane Voronoi diagram.

use glam::DVec3;

use super::super::{
    entry::{Made, Table, number},
    svg::{Anchor, COLORS, Drawing, FAINT, INK, Pen},
    work::Work,
};
use crate::{
    cli::CliError,
    fracture::box_cut::{Beyond, Cell, NearestBy, Point, cells_by},
};

/// The flat box, units.
const LOW: Point = [0, 0, -100];
const HIGH: Point = [1600, 1000, 100];
/// The upper wall.
const TOP: Beyond = Beyond::Wall(5);
/// Colour of a cell.
const CELL: &str = "#d9d5cd";
/// Sites; the first is the one whose cell is cut.
#[rustfmt::skip]
pub(super) const SITES: [[i32; 2]; 9] = [
    [760, 520], [980, 640], [640, 760], [520, 380], [900, 260], [1230, 420], [330, 640], [1180, 830],
    [280, 200],
];

/// Sites in the plane of the drawing.
pub(super) fn in_plane(sites: &[[i32; 2]]) -> Vec<Point> {
    sites.iter().map(|[x, y]| [*x, *y, 0]).collect()
}

/// The cells of these sites.
pub(super) fn cells(sites: &[[i32; 2]]) -> Vec<Cell> {
    cells_by(NearestBy::Scan, &in_plane(sites), LOW, HIGH)
}

/// The corners of a cell on the upper wall, counter-clockwise; none of a cell without volume.
pub(super) fn outline(cell: &Cell) -> Vec<[f64; 2]> {
    let mut corners = Vec::new();
    cell.for_each_face(
        |beyond| beyond == TOP,
        |_, ring| {
            let places = ring.iter().filter_map(|vertex| cell.vertices.get(*vertex as usize));
            corners = places.map(|vertex| [vertex.position.x, vertex.position.y]).collect();
        },
    );
    corners
}

/// The first site and its `count` nearest neighbours, nearest first.
fn with_nearest(count: usize) -> Vec<[i32; 2]> {
    let [first, others @ ..] = SITES;
    let squared = |site: &[i32; 2]| (0..2).map(|k| i64::from(site[k] - first[k]).pow(2)).sum::<i64>();
    let mut others = others.to_vec();
    others.sort_by_key(squared);
    std::iter::once(first).chain(others.into_iter().take(count)).collect()
}

pub(super) fn place(site: [i32; 2]) -> [f64; 2] {
    site.map(f64::from)
}

/// The greatest distance from the first site to a corner of its cell in the plane.
fn reach(sites: &[[i32; 2]], corners: &[[f64; 2]]) -> f64 {
    let Some(site) = sites.first().map(|site| place(*site)) else { return 0.0 };
    let to = |corner: &[f64; 2]| distance(*corner, site);
    corners.iter().map(to).fold(0.0, f64::max)
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    DVec3::new(a[0] - b[0], a[1] - b[1], 0.0).length()
}

fn area(corners: &[[f64; 2]]) -> f64 {
    let next = corners.iter().cycle().skip(1);
    0.5 * corners.iter().zip(next).map(|([ax, ay], [bx, by])| ax * by - bx * ay).sum::<f64>()
}

/// Draws the first cell of these sites, the box and the sites, with everything moved to the right by `left`.
fn draw(drawing: &mut Drawing, left: f64, sites: &[[i32; 2]], cell: &[[f64; 2]]) {
    let moved = |[x, y]: [f64; 2]| [x + left, y];
    let corners: Vec<[f64; 2]> = cell.iter().copied().map(moved).collect();
    drawing.polygon(&corners, &Pen { line: INK, area: CELL, ..Pen::default() });
    let [low, high] = [LOW, HIGH].map(|corner| moved([f64::from(corner[0]), f64::from(corner[1])]));
    drawing.rectangle(low, high, &Pen { dashed: true, ..Pen::line(FAINT, 1.2) });
    for (k, site) in sites.iter().enumerate() {
        drawing.dot(moved(place(*site)), 4.0, if k == 0 { COLORS[1] } else { INK });
    }
}

/// An outline of an object in the box, for drawings.
#[rustfmt::skip]
const OBJECT: [[f64; 2]; 8] = [
    [120.0, 420.0], [330.0, 80.0], [900.0, 40.0], [1400.0, 210.0], [1540.0, 560.0], [1290.0, 930.0],
    [700.0, 960.0], [250.0, 840.0],
];

/// Figure 3.
pub fn cell(work: &mut Work<'_>) -> Result<Made, CliError> {
    let all = cells(&SITES);
    let mut drawing = Drawing::new([0.0, 0.0], [1600.0, 1000.0], 760.0);
    let Some(first) = all.first() else { return Ok(Made::default()) };
    draw(&mut drawing, 0.0, &SITES, &outline(first));
    drawing.polygon(&OBJECT, &Pen::line(INK, 3.0));
    let site = place(SITES[0]);
    let mut planes = 0;
    first.for_each_face(
        |beyond| matches!(beyond, Beyond::Site(_)),
        |plane, _| {
            planes += 1;
            let half = [0.5 * plane.normal.x, 0.5 * plane.normal.y];
            let foot = [site[0] + half[0], site[1] + half[1]];
            let length = distance(half, [0.0; 2]);
            let along = [-half[1] / length * 260.0, half[0] / length * 260.0];
            let ends = [-1.0, 1.0].map(|way| [foot[0] + way * along[0], foot[1] + way * along[1]]);
            drawing.line(ends[0], ends[1], &Pen { dashed: true, ..Pen::line(COLORS[0], 1.0) });
            drawing.arrow(site, foot, &Pen::line(COLORS[1], 1.6));
            drawing.text(
                [foot[0] + 26.0, foot[1] + 26.0],
                &format!("p{planes}"),
                13.0,
                Anchor::Middle,
                COLORS[0],
            );
        },
    );
    drawing.text([site[0] - 30.0, site[1] - 34.0], "s", 15.0, Anchor::Middle, COLORS[1]);
    work.write("cell.svg", &drawing.svg())?;
    let caption = "The cell of the site s (grey) in the box of an object (thick line): each plane stands half way to a \
                   neighbour, at the end of its arrow.";
    let note = format!("{planes} of {} neighbours have a plane that bounds the cell.", SITES.len() - 1);
    Ok(Made::picture("cell.svg", caption).note(note))
}

/// Figure 4.
pub fn iterations(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut drawing = Drawing::new([0.0, -110.0], [3.0 * 1700.0 - 100.0, 1000.0], 1080.0);
    let mut table = Table::new(
        "The cell after each cut",
        &["neighbours", "corners", "greatest distance from the site", "area", "share of the box"],
    );
    let whole = f64::from(HIGH[0]) * f64::from(HIGH[1]);
    for count in 0..SITES.len() {
        let sites = with_nearest(count);
        let corners = cells(&sites).first().map(outline).unwrap_or_default();
        let area = area(&corners);
        table.row([
            count.to_string(),
            corners.len().to_string(),
            number(Some(reach(&sites, &corners)), 1),
            number(Some(area), 0),
            number(Some(area / whole), 3),
        ]);
        if (1..=3).contains(&count) {
            let left = (count - 1) as f64 * 1700.0;
            draw(&mut drawing, left, &sites, &corners);
            let title = format!("{count} of {} neighbours", SITES.len() - 1);
            drawing.text([left + 800.0, -60.0], &title, 15.0, Anchor::Middle, INK);
        }
    }
    work.write("iterations.svg", &drawing.svg())?;
    let caption =
        "The box after it was cut by the planes to the nearest, the two and the three nearest neighbours.";
    let note = "Lengths are whole units of box cutting; the box has 1600 by 1000.";
    Ok(Made::picture("iterations.svg", caption).table(table).note(note))
}

/// Figure 5.
pub fn shrinking(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut drawing = Drawing::new([-300.0, -500.0], [3900.0, 1500.0], 1080.0);
    let mut reaches = Vec::new();
    for (left, count) in [(0.0, 2), (2000.0, 4)] {
        let sites = with_nearest(count);
        let corners = cells(&sites).first().map(outline).unwrap_or_default();
        draw(&mut drawing, left, &sites, &corners);
        let radius = reach(&sites, &corners);
        let site = place(SITES[0]);
        drawing.circle([site[0] + left, site[1]], radius, &Pen::line(COLORS[0], 1.6));
        let title = format!("{count} neighbours: {radius:.0} units");
        drawing.text([left + 800.0, -430.0], &title, 15.0, Anchor::Middle, INK);
        reaches.push(radius);
    }
    work.write("shrinking.svg", &drawing.svg())?;
    let far =
        with_nearest(SITES.len() - 1).last().map_or(0.0, |last| distance(place(*last), place(SITES[0])));
    let last = reaches.last().copied().unwrap_or_default();
    let caption = "The circle through the farthest corner of the cell, before and after two more cuts.";
    let note = format!(
        "A plane to a neighbour lies half way, so sites farther than twice the radius cannot cut: the farthest site \
         lies at {far:.0} units, {} by the second circle.",
        if far > 2.0 * last { "and is left out" } else { "which is still within reach" }
    );
    Ok(Made::picture("shrinking.svg", caption).note(note))
}

/// Figure 10.
pub fn outside(work: &mut Work<'_>) -> Result<Made, CliError> {
    // Units of the sphere's mesh: its radius is half a unit, its middle at the height 0.5.
    let places = [("s1", [0.0, 0.5, 0.0]), ("s2", [0.9, 0.5, 0.0]), ("s3", [0.62, 0.5, 0.0])];
    let seeds: Vec<String> = places.iter().map(|(_, [x, y, z])| format!("{x} {y} {z}\n")).collect();
    work.write("sites.txt", &seeds.concat())?;
    work.run_line(&format!(
        "fracture builtin:sphere --level {} --method box-cut --seeds-file sites.txt --out pieces",
        work.pick("6", "5")
    ))?;
    let report = work.json("pieces/report.json")?;
    let pieces = report.get("pieces").and_then(serde_json::Value::as_array).cloned().unwrap_or_default();
    let mut table = Table::new("Cells of three sites in a sphere", &["site", "lies", "volume of its piece"]);
    for (cell, (name, [x, y, z])) in places.iter().enumerate() {
        let is_inside = DVec3::new(*x, y - 0.5, *z).length() < 0.5;
        let own = pieces
            .iter()
            .find(|piece| piece.get("cell").and_then(serde_json::Value::as_u64) == Some(cell as u64));
        let volume = own.and_then(|piece| piece.get("volume")?.as_f64());
        table.row([
            (*name).to_owned(),
            if is_inside { "inside" } else { "outside" }.to_owned(),
            if own.is_some() { number(volume, 4) } else { "no piece".to_owned() },
        ]);
    }
    let scaled = |[x, y, _]: [f64; 3]| [(700.0 + 800.0 * x) as i32, (100.0 + 800.0 * y) as i32];
    let sites = places.map(|(_, place)| scaled(place));
    let mut drawing = Drawing::new([0.0, 0.0], [1600.0, 1000.0], 760.0);
    for (k, cell) in cells(&sites).iter().enumerate() {
        let area = if k == 0 { CELL } else { "#ffffff" };
        drawing.polygon(&outline(cell), &Pen { area, dashed: true, ..Pen::line(COLORS[0], 1.6) });
    }
    drawing.circle([700.0, 500.0], 400.0, &Pen::line(INK, 3.0));
    drawing.rectangle([300.0, 100.0], [1100.0, 900.0], &Pen { dashed: true, ..Pen::line(FAINT, 1.2) });
    for ((name, _), site) in places.iter().zip(sites) {
        let at = place(site);
        drawing.dot(at, 4.0, COLORS[1]);
        drawing.text([at[0], at[1] + 50.0], name, 15.0, Anchor::Middle, INK);
    }
    work.write("outside.svg", &drawing.svg())?;
    let caption = "Cells (dashed) of a site inside a sphere and of two outside: the cell of s2 misses the sphere, that of s3 \
                   reaches into it.";
    let note = "The published method has to remove the cell of s2 and turns over tests in that of s3. Here a cell without a \
                part of the object has no piece, and the piece of s3 is whole.";
    Ok(Made::picture("outside.svg", caption).table(table).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_the_box_and_more_neighbours_make_a_cell_smaller() {
        let all = cells(&SITES);
        let sum: f64 = all.iter().map(|cell| area(&outline(cell))).sum();
        // Planted error to see this fail: take the lower wall, whose ring goes the other way round.
        assert!((sum - 1.6e6).abs() < 1.0, "{sum}");
        let areas: Vec<f64> =
            (0..SITES.len()).map(|count| area(&outline(&cells(&with_nearest(count))[0]))).collect();
        assert!(areas.windows(2).all(|pair| pair[1] <= pair[0]), "{areas:?}");
        assert!(areas[3] < areas[2] && areas[1] < areas[0]);
    }

    #[test]
    fn every_place_of_a_cell_is_nearest_to_its_site() {
        let corners = outline(&cells(&SITES)[0]);
        let site = place(SITES[0]);
        for corner in corners {
            let others = SITES[1..].iter().map(|other| distance(corner, place(*other)));
            assert!(others.fold(f64::MAX, f64::min) >= distance(corner, site) - 1e-6, "{corner:?}");
        }
    }
}
