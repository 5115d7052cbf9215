//! Figures 1 to 3: what the paper draws to explain its method.

use crate::cli::{
    CliError,
    paper::{
        entry::{Made, Table, number},
        flat::{Broken, Cell, Point, voronoi_cell},
        log::Log,
        svg::{Anchor, COLORS, Drawing, FAINT, INK, Pen},
        work::Work,
    },
};

/// A disc with four seeds, for figures 1 and 2.
const SEEDS: [Point; 4] = [[0.25, 0.35], [0.66, 0.22], [0.76, 0.7], [0.36, 0.78]];
const DISC: Broken<'static> = Broken { centre: [0.5, 0.5], radius: 0.42, seeds: &SEEDS };

/// Colours of cells on the boundary and of inner ones, as in the paper.
const BOUNDARY: &str = "#9ecae8";
const INNER: &str = "#a9dcae";

/// Draws the outline of the disc and the faces between the cells of its seeds.
fn outline(drawing: &mut Drawing, shift: Point) {
    let moved = |point: Point| [point[0] + shift[0], point[1] + shift[1]];
    for k in 0..SEEDS.len() {
        let cell: Vec<Point> = voronoi_cell(&SEEDS, k, [0.0; 2], [1.0; 2]).into_iter().map(moved).collect();
        drawing.polygon(&cell, &Pen { dashed: true, ..Pen::line(COLORS[1], 1.0) });
    }
    drawing.circle(moved(DISC.centre), DISC.radius, &Pen::line(INK, 1.4));
    SEEDS.iter().for_each(|seed| drawing.dot(moved(*seed), 3.0, COLORS[1]));
}

/// Figure 1.
pub fn expansion(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut drawing = Drawing::new([0.0, -0.12], [3.3, 1.0], 960.0);
    let mut table = Table::new(
        "Cells that a crack crosses",
        &["level", "on the boundary", "inner, made on the fly", "all cells of the disc"],
    );
    for (k, level) in [3, 4, 5].into_iter().enumerate() {
        let shift = [k as f64 * 1.15, 0.0];
        let cells = DISC.cells(level);
        let mut counts = [0, 0];
        for cell in cells.iter().filter(|cell| cell.is_cut()) {
            let (low, high) = (cell.low(), cell.high());
            let area = if cell.on_boundary { BOUNDARY } else { INNER };
            counts[usize::from(!cell.on_boundary)] += 1;
            let pen = Pen { area, ..Pen::line(INK, 0.5) };
            drawing.rectangle([low[0] + shift[0], low[1]], [high[0] + shift[0], high[1]], &pen);
        }
        outline(&mut drawing, shift);
        let at = [shift[0] + 0.5, -0.07];
        drawing.text(at, &format!("level {level}"), 14.0, Anchor::Middle, INK);
        table.row([level, counts[0], counts[1], cells.len() as u32].map(|count| count.to_string()));
    }
    work.write("expansion.svg", &drawing.svg())?;
    let (level, size) = (work.pick("7", "5"), work.size([640, 520]));
    work.run_line(&format!(
        "render builtin:vase --level {level} --seeds 12 --rng 3 --show fbs --only --size {size} \
         --out boundary-set.png"
    ))?;
    let in_plane = "In the plane: cells of three levels that a Voronoi face crosses. Blue ones lie on the boundary of the \
                    object, green ones in it. Each is expanded into its four children on the next level.";
    let in_space =
        "In space: the fracture boundary set of a vase, in the colours of its cells, with the normals.";
    Ok(Made::pictures([["expansion.svg", in_plane], ["boundary-set.png", in_space]])
        .table(table)
        .note("The drawing in the plane is computed by a quadtree with the rules of the octrees."))
}

/// Figure 2.
pub fn codes(work: &mut Work<'_>) -> Result<Made, CliError> {
    const LEVEL: u32 = 3;
    let mut drawing = Drawing::new([0.0, 0.0], [1.0, 1.0], 760.0);
    let cells = DISC.cells(LEVEL);
    let mut objects = [0; SEEDS.len()];
    for cell in &cells {
        let owner = DISC.nearest(cell.middle());
        objects[owner] += 1;
        let pen = Pen { area: PALE[owner], ..Pen::line(FAINT, 0.7) };
        drawing.rectangle(cell.low(), cell.high(), &pen);
    }
    // Nodes of the levels above have broader edges.
    for level in (1..LEVEL).rev() {
        let width = f64::from(LEVEL - level) + 0.4;
        for cell in DISC.cells(level) {
            drawing.rectangle(cell.low(), cell.high(), &Pen::line(INK, width));
        }
    }
    outline(&mut drawing, [0.0; 2]);
    let edge = Cell::edge(LEVEL);
    for cell in &cells {
        let [x, y] = cell.middle();
        let owner = DISC.nearest([x, y]);
        drawing.text([x, y + 0.16 * edge], &cell.code(), 15.0, Anchor::Middle, INK);
        drawing.text([x, y - 0.2 * edge], &format!("object {owner}"), 12.0, Anchor::Middle, INK);
    }
    work.write("codes.svg", &drawing.svg())?;
    let mut table =
        Table::new("Cells of each object, in the order of their Morton codes", &["object", "cells"]);
    for (owner, count) in objects.iter().enumerate() {
        table.row([owner.to_string(), count.to_string()]);
    }
    let caption = "A broken disc as a quadtree. A node's Morton code has a binary digit of y and of x for each level; its \
                   object is the seed nearest to its middle.";
    let note = "Octrees here are stored in the order of their Morton codes at every level, and stay so: nothing is sorted.";
    Ok(Made::picture("codes.svg", caption).table(table).note(note))
}

/// Pale colours of objects.
const PALE: [&str; 4] = ["#d6e6f2", "#f8e0cf", "#d5ede0", "#f3e2ec"];

/// Two balls that fly into each other, without gravity.
fn balls(level: u32) -> String {
    let ball = |name: &str, x: f64, y: f64, speed: f64| {
        format!(
            "\n[[body]]\nname = \"{name}\"\nfile = \"builtin:sphere\"\nlevel = 7\nphysics_level = {level}\nsize = 1.0\n\
             position = [{x:.2}, {y:.2}, 0.0]\nlinear_velocity = [{speed:.1}, 0.0, 0.0]\n"
        )
    };
    format!(
        "# Two balls collide (Domaradzki & Martyn 2016, fig. 3).\nname = \"colliding\"\ncontacts = \"octree\"\n\
         response = \"penalty\"\ngravity = [0.0, 0.0, 0.0]\n{}{}",
        ball("left", -0.4, 1.0, 1.0),
        ball("right", 0.4, 1.2, -1.0)
    )
}

/// Centres of both balls in the scene, m: their meshes stand on their origins.
const CENTRES: [Point; 2] = [[-0.4, 1.5], [0.4, 1.7]];

/// Figure 3.
pub fn collision(work: &mut Work<'_>) -> Result<Made, CliError> {
    const LEVEL: u32 = 4;
    work.write("colliding.toml", &balls(LEVEL))?;
    let camera = r#"{"target":[0,1.6,0],"distance":4.5,"yaw":0,"pitch":0.1,"fov_y":0.6}"#;
    let size = work.size([560, 420]);
    work.run(&["render", "colliding.toml", "--camera", camera, "--size", &size, "--out", "objects.png"])?;
    let wires = ["--level", "6", "--show", "wireframe:4", "--through", "0", "--size", &size];
    work.run(&[&["render", "builtin:sphere"][..], &wires, &["--out", "octree.png"]].concat())?;
    let play = ["simulate", "colliding.toml", "--seconds", "0.01", "--collision-points", "1", "--pairs"];
    work.run(&[&play[..], &["--out", "collided"]].concat())?;
    work.remove("collided/trajectory.npz");
    let pairs = work.log("collided/pairs.csv")?;
    let points = work.log("collided/collision_points.csv")?;
    let first = |head: &str| pairs.column(head).first().copied().flatten();
    let cell = first("cell").unwrap_or(0.1);
    work.write("points.svg", &slice(&points, cell))?;
    let mut table = Table::new("What the two objects share", &["what", "value"]);
    for (what, head, decimals) in [
        ("level of both octrees", "level_first", 0),
        ("edge of the lattice, m", "cell", 4),
        ("averaged collision points", "points", 0),
        ("columns with an entry and an exit", "columns", 0),
        ("intersection volume, cubic metres", "volume", 6),
        ("sum of the gradients along x, square metres", "gradient_x", 5),
        ("sum of the gradients along y, square metres", "gradient_y", 5),
    ] {
        table.row([what.to_owned(), number(first(head), decimals)]);
    }
    let of_slice = "(c, d) A slice through the intersection: cells of the lattice that have collision points, the averaged \
                    points on both surfaces, and the volume gradients, which point out of their owner.";
    Ok(Made::pictures([
        ["objects.png", "(a) Two colliding objects."],
        ["octree.png", "(b) The octree of one of them, at the level of the collision test."],
        ["points.svg", of_slice],
    ])
    .table(table)
    .note("Points, columns and gradients are those of `simulate --collision-points 1 --pairs`."))
}

/// The collision points within half a cell of the plane of both centres, with the outlines of both balls.
fn slice(points: &Log, cell: f64) -> String {
    let mut drawing = Drawing::new([-0.45, 1.1], [0.45, 2.1], 720.0);
    let column = |head: &str| points.column(head);
    let (x, y, z) = (column("x"), column("y"), column("z"));
    let (nx, ny, owner) = (column("normal_x"), column("normal_y"), column("owner"));
    let rows = (0..points.len()).filter_map(|k| {
        let of = |column: &[Option<f64>]| column.get(k).copied().flatten();
        let near = of(&z).filter(|z| z.abs() <= cell / 2.0);
        near.and(Some(([of(&x)?, of(&y)?], [of(&nx)?, of(&ny)?], of(&owner)?)))
    });
    let rows: Vec<(Point, Point, f64)> = rows.collect();
    for (at, _, _) in &rows {
        let low = at.map(|value| (value / cell).floor() * cell);
        let pen = Pen { area: "#eef3ee", ..Pen::line(FAINT, 0.7) };
        drawing.rectangle(low, low.map(|value| value + cell), &pen);
    }
    for (centre, color) in CENTRES.into_iter().zip(COLORS) {
        drawing.circle(centre, 0.5, &Pen::line(color, 1.6));
    }
    for (at, normal, owner) in &rows {
        let color = if *owner > 0.5 { COLORS[1] } else { COLORS[0] };
        let tip = [at[0] + normal[0] * cell, at[1] + normal[1] * cell];
        drawing.arrow(*at, tip, &Pen::line(color, 1.0));
        drawing.dot(*at, 3.2, color);
    }
    drawing.svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_the_points_near_its_plane_alone() {
        let log = Log::parse(
            "time,first,second,owner,x,y,z,normal_x,normal_y,normal_z\n\
             0.01,0,1,0,0.0,1.6,0.0,1,0,0\n0.01,0,1,1,0.1,1.6,0.01,-1,0,0\n0.01,0,1,1,0.1,1.6,0.3,-1,0,0\n",
        );
        let svg = slice(&log, 0.05);
        // Two balls and two dots. Planted error to see this fail: leave out the filter by z.
        assert_eq!(svg.matches("<circle").count(), 4, "{svg}");
        assert_eq!(svg, slice(&log, 0.05));
    }

    #[test]
    fn every_object_of_the_drawing_has_cells() {
        for k in 0..SEEDS.len() {
            assert!(DISC.cells(3).iter().any(|cell| DISC.nearest(cell.middle()) == k), "object {k}");
        }
    }
}
