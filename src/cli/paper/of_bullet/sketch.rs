//! The document's sketch: five points, the planes of one of them, and the corners that are kept.
//!
//! In: points in one plane, within a flat box. Out: a drawing of the shard of the first point, as the method `planes`
//! makes it, and of all planes that took part.

use glam::DVec3;

use super::super::{
    entry::{Made, Table, number},
    svg::{Anchor, COLORS, Drawing, INK, Pen},
    work::Work,
};
use crate::{
    cli::CliError,
    papers::planes::{Beyond, Shard, shatter},
};

/// Half the thickness of the box.
const HALF: f64 = 0.1;
/// Far corner of the box in the plane; the near one is the origin.
const SIZE: [f64; 2] = [1.6, 1.0];
/// Points; the first is the current one.
const POINTS: [[f64; 2]; 5] = [[0.72, 0.5], [1.18, 0.66], [0.3, 0.74], [0.42, 0.18], [1.3, 0.2]];

/// The twelve triangles of the box, counter-clockwise seen from outside.
fn triangles() -> Vec<[DVec3; 3]> {
    let corner = |k: usize| {
        DVec3::new(
            if k & 1 == 0 { 0.0 } else { SIZE[0] },
            if k & 2 == 0 { 0.0 } else { SIZE[1] },
            if k & 4 == 0 { -HALF } else { HALF },
        )
    };
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = |[a, b, c, d]: [usize; 4]| [[a, b, c].map(corner), [a, c, d].map(corner)];
    sides.into_iter().flat_map(halves).collect()
}

fn shards() -> Result<Vec<Shard>, CliError> {
    let sites = POINTS.map(|[x, y]| DVec3::new(x, y, 0.0));
    shatter(&triangles(), &sites, false).map_err(|error| CliError::Outcome(error.to_string()))
}

/// The corners of a shard on the upper side of the box, in their order.
fn outline(shard: &Shard) -> Vec<[f64; 2]> {
    let places = |face: &Vec<u32>| -> Vec<DVec3> {
        face.iter().filter_map(|vertex| shard.vertices.get(*vertex as usize).copied()).collect()
    };
    let is_above = |face: &Vec<DVec3>| face.iter().all(|place| place.z > 0.5 * HALF);
    let upper = shard.faces.iter().map(places).find(is_above).unwrap_or_default();
    upper.into_iter().map(|place| [place.x, place.y]).collect()
}

/// The sketch.
pub fn sketch(work: &mut Work<'_>) -> Result<Made, CliError> {
    let shards = shards()?;
    let Some(shard) = shards.iter().find(|shard| shard.site == 0) else { return Ok(Made::default()) };
    let corners = outline(shard);
    let mut drawing = Drawing::new([-0.15, -0.15], [SIZE[0] + 0.15, SIZE[1] + 0.15], 800.0);
    drawing.rectangle([0.0; 2], SIZE, &Pen::area("#e4e1da"));
    drawing.polygon(&corners, &Pen::area("#ffffff"));
    // Planes of the object's faces go on beyond its corners.
    let mesh = Pen::line(INK, 1.4);
    for at in [0.0, SIZE[0]] {
        drawing.line([at, -0.12], [at, SIZE[1] + 0.12], &mesh);
    }
    for at in [0.0, SIZE[1]] {
        drawing.line([-0.12, at], [SIZE[0] + 0.12, at], &mesh);
    }
    let [point, others @ ..] = POINTS;
    for other in others {
        let half = [0, 1].map(|axis| 0.5 * (other[axis] - point[axis]));
        let length = (half[0] * half[0] + half[1] * half[1]).sqrt();
        let along = [-half[1] / length * 0.42, half[0] / length * 0.42];
        let foot = [point[0] + half[0], point[1] + half[1]];
        let ends = [-1.0, 1.0].map(|way| [foot[0] + way * along[0], foot[1] + way * along[1]]);
        drawing.line(ends[0], ends[1], &Pen::line(COLORS[1], 1.6));
        drawing.dot(other, 5.0, INK);
    }
    drawing.dot(point, 5.0, COLORS[1]);
    for [x, y] in corners.iter().copied() {
        const ARM: f64 = 0.016;
        let cross = Pen::line(COLORS[0], 2.2);
        drawing.line([x - ARM, y - ARM], [x + ARM, y + ARM], &cross);
        drawing.line([x - ARM, y + ARM], [x + ARM, y - ARM], &cross);
    }
    drawing.text([0.5 * SIZE[0], -0.11], "corners inside all planes are kept", 13.0, Anchor::Middle, INK);
    work.write("sketch.svg", &drawing.svg())?;
    let mut table =
        Table::new("Shards of the five points", &["point", "corners", "planes to other points", "volume"]);
    for shard in &shards {
        let to_sites = shard.beyond.iter().filter(|beyond| matches!(beyond, Beyond::Site(_))).count();
        table.row([
            (shard.site + 1).to_string(),
            shard.vertices.len().to_string(),
            to_sites.to_string(),
            number(Some(shard.volume), 5),
        ]);
    }
    let caption = "The shard (white) of the current point (orange) after the planes half way to all other points (orange \
                   lines); black lines are planes of the object.";
    Ok(Made::picture("sketch.svg", caption)
        .table(table)
        .note("A flat box stands for the document's drawing in a plane."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_fill_the_box_and_each_has_its_point() {
        let shards = shards().unwrap();
        let volume: f64 = shards.iter().map(|shard| shard.volume).sum();
        // Planted error to see this fail: turn a triangle of the box over.
        assert!((volume - SIZE[0] * SIZE[1] * 2.0 * HALF).abs() < 1e-9, "{volume}");
        assert_eq!(shards.len(), POINTS.len());
        assert!(outline(&shards[0]).len() >= 3);
    }
}
