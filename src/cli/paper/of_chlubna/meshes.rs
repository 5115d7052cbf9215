//! Figures 6 and 8, and the icosphere of figures 14 and 15.
//!
//! In: sites in a box; a box of twelve triangles. Out: a drawing of a cell with its edges as the program holds them, and
//! one of the triangles that box cutting makes of a box's lid.

use std::fmt::Write as _;

use glam::DVec3;

use super::super::{
    entry::{Made, Table},
    svg::{Anchor, COLORS, Drawing, INK, Pen},
    work::Work,
};
use crate::{
    cli::CliError,
    fracture::box_cut::{Cell, NearestBy, Point, cells_by},
};

/// Sites in a box of 1000 units; the first is the one whose cell is drawn.
#[rustfmt::skip]
const SITES: [Point; 7] = [
    [480, 500, 520], [860, 520, 480], [120, 440, 560], [520, 900, 460], [440, 90, 540], [520, 480, 920],
    [470, 540, 90],
];

/// Where a point is drawn: seen from the front, from above and from the right.
fn drawn(p: DVec3) -> [f64; 2] {
    [p.x + 0.45 * p.z, p.y + 0.35 * p.z]
}

fn cell() -> Option<Cell> {
    cells_by(NearestBy::Scan, &SITES, [0; 3], [1000; 3]).into_iter().next().filter(|cell| !cell.is_empty())
}

/// Figure 6.
pub fn edges(work: &mut Work<'_>) -> Result<Made, CliError> {
    let Some(cell) = cell() else { return Ok(Made::default()) };
    let at = |vertex: u32| cell.vertices.get(vertex as usize).map_or(DVec3::ZERO, |vertex| vertex.position);
    let places: Vec<[f64; 2]> = cell.vertices.iter().map(|vertex| drawn(vertex.position)).collect();
    let low = [0, 1].map(|axis| places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min) - 60.0);
    let high =
        [0, 1].map(|axis| places.iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max) + 60.0);
    let mut drawing = Drawing::new(low, high, 640.0);
    let mut table = Table::new("Edges of the cell", &["edge", "vertices", "planes", "as two words"]);
    for (number, edge) in cell.edges.iter().enumerate() {
        let [from, to] = edge.vertices;
        let ([a, b], [p, q]) = (edge.vertices, edge.planes);
        drawing.line(drawn(at(from)), drawn(at(to)), &Pen::line(COLORS[0], 1.4));
        table.row([
            number.to_string(),
            format!("{a}, {b}"),
            format!("{p}, {q}"),
            format!("{b:04x}{a:04x} {q:04x}{p:04x}"),
        ]);
    }
    for (number, place) in places.iter().enumerate() {
        drawing.dot(*place, 9.0, "#ffffff");
        drawing.text(*place, &number.to_string(), 12.0, Anchor::Middle, INK);
    }
    cell.for_each_face(
        |_| true,
        |plane, ring| {
            let sum: DVec3 = ring.iter().map(|vertex| at(*vertex)).sum();
            let middle = drawn(sum / ring.len().max(1) as f64);
            let number = cell.planes.iter().position(|one| one == plane).unwrap_or_default();
            drawing.text(middle, &format!("p{number}"), 12.0, Anchor::Middle, COLORS[1]);
        },
    );
    work.write("edges.svg", &drawing.svg())?;
    let caption = "A cell with the numbers of its vertices and, at their faces, of its planes.";
    let note = "The last column packs the four numbers of an edge into two words of 32 bits, as the paper's local memory \
                holds them. Planes 0 to 5 are the walls of the box; those without a face stay in the list.";
    Ok(Made::picture("edges.svg", caption).table(table).note(note))
}

/// A box of twelve triangles, one unit wide, on the ground.
const BOX: &str = "v -0.5 0 -0.5\nv 0.5 0 -0.5\nv 0.5 0 0.5\nv -0.5 0 0.5\nv -0.5 1 -0.5\nv 0.5 1 -0.5\nv 0.5 1 0.5\n\
                   v -0.5 1 0.5\nf 1 2 3\nf 1 3 4\nf 5 7 6\nf 5 8 7\nf 1 5 6\nf 1 6 2\nf 2 6 7\nf 2 7 3\nf 3 7 8\n\
                   f 3 8 4\nf 4 8 5\nf 4 5 1\n";

/// A triangle seen from above, and the number of its piece.
type Seen = (usize, [[f64; 2]; 3]);

/// The triangles of an OBJ file whose corners all have this height, with the number of their object.
fn at_height(text: &str, height: f64) -> Vec<Seen> {
    let (mut places, mut found, mut piece) = (Vec::<[f64; 3]>::new(), Vec::new(), 0usize);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
                places.push(std::array::from_fn(|k| numbers.get(k).copied().unwrap_or_default()));
            }
            Some("o") => piece += 1,
            Some("f") => {
                let corner = |word: &str| {
                    let number: usize = word.split('/').next()?.parse().ok()?;
                    places.get(number.checked_sub(1)?).copied()
                };
                let corners: Vec<[f64; 3]> = words.filter_map(corner).collect();
                if let [a, b, c] = corners[..]
                    && [a, b, c].iter().all(|corner| (corner[1] - height).abs() < 1e-6)
                {
                    found.push((piece, [a, b, c].map(|[x, _, z]| [x, -z])));
                }
            }
            _ => {}
        }
    }
    found
}

/// Figure 8.
pub fn cut_triangles(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write("box.obj", BOX)?;
    work.run_line(
        "fracture box.obj --level 5 --method box-cut --pattern uniform --seeds 6 --format obj --out \
         pieces",
    )?;
    let before = at_height(BOX, 1.0);
    let after = at_height(&work.read("pieces/pieces.obj")?, 1.0);
    let mut drawing = Drawing::new([-0.6, -0.7], [1.9, 0.6], 900.0);
    for (left, triangles) in [(0.0, &before), (1.3, &after)] {
        for (piece, corners) in triangles {
            let moved = corners.map(|[x, y]| [x + left, y]);
            // The triangles of one piece have one colour.
            let area = if left > 0.0 { COLORS[piece % COLORS.len()] } else { "#f1efea" };
            drawing.polygon(&moved, &Pen { line: INK, width: 1.0, area, dashed: false });
        }
    }
    for (x, text) in
        [(0.0, format!("{} triangles", before.len())), (1.3, format!("{} triangles", after.len()))]
    {
        drawing.text([x, -0.6], &text, 14.0, Anchor::Middle, INK);
    }
    work.write("lid.svg", &drawing.svg())?;
    let caption = "The lid of a box from above, before and after box cutting; colours are pieces. Each polygon that the planes \
                   leave of a triangle is triangulated once, after all cuts.";
    Ok(Made::picture("lid.svg", caption))
}

/// An icosphere of 42 vertices and 80 triangles with a diameter of one unit, as OBJ.
#[must_use]
pub fn icosphere() -> String {
    let golden = 0.5 * (1.0 + 5.0f64.sqrt());
    let mut places: Vec<DVec3> = Vec::new();
    for [a, b] in [[1.0, golden], [-1.0, golden], [1.0, -golden], [-1.0, -golden]] {
        places.extend([DVec3::new(a, b, 0.0), DVec3::new(0.0, a, b), DVec3::new(b, 0.0, a)]);
    }
    // Of twelve corners those at the distance of an edge, which is 2, are neighbours.
    let is_edge = |a: usize, b: usize| (places[a].distance(places[b]) - 2.0).abs() < 1e-9;
    let mut faces = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if is_edge(a, b) && is_edge(b, c) && is_edge(c, a) {
                    let out = (places[b] - places[a]).cross(places[c] - places[a]).dot(places[a]) > 0.0;
                    faces.push(if out { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    let mut middles: Vec<[usize; 2]> = Vec::new();
    let mut middle = |a: usize, b: usize, places: &mut Vec<DVec3>| {
        let edge = [a.min(b), a.max(b)];
        let known = middles.iter().position(|one| *one == edge);
        12 + known.unwrap_or_else(|| {
            middles.push(edge);
            places.push(places[a] + places[b]);
            middles.len() - 1
        })
    };
    let mut text = String::from("# An icosphere of 42 vertices and 80 triangles.\n");
    let mut triangles = Vec::new();
    for [a, b, c] in faces {
        let [ab, bc, ca] = [middle(a, b, &mut places), middle(b, c, &mut places), middle(c, a, &mut places)];
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    for place in &places {
        let p = 0.5 * place.normalize_or(DVec3::Y);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "v {:.9} {:.9} {:.9}", p.x, p.y, p.z);
    }
    for [a, b, c] in triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icosphere_is_the_papers() {
        let text = icosphere();
        let count = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
        // Planted error to see this fail: forget the middles that are known.
        assert_eq!((count("v "), count("f ")), (42, 80));
    }

    #[test]
    fn each_edge_of_a_cell_lies_between_two_of_its_planes() {
        let cell = cell().unwrap();
        let (vertices, edges) = (cell.vertices.len(), cell.edges.len());
        let mut faces = 0;
        cell.for_each_face(|_| true, |_, _| faces += 1);
        assert_eq!(vertices + faces, edges + 2, "Euler's formula");
        assert!(cell.edges.iter().all(|edge| edge.planes.iter().all(|p| (*p as usize) < cell.planes.len())));
    }

    #[test]
    fn the_lid_of_a_box_has_two_triangles() {
        let lid = at_height(BOX, 1.0);
        assert_eq!(lid.len(), 2);
        let twice =
            |[a, b, c]: [[f64; 2]; 3]| ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
        let area: f64 = lid.iter().map(|(_, corners)| 0.5 * twice(*corners)).sum();
        // Planted error to see this fail: drop an axis other than the height.
        assert!((area - 1.0).abs() < 1e-9, "{area}");
    }
}
