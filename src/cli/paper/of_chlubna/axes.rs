//! Figure 13: an axis that separates two bodies.
//!
//! In: two upright prisms. Out: a drawing of both from above with the axis along which the search for contacts finds
//! them farthest apart, and their shadows on it.

use std::sync::Arc;

use glam::DVec3;

use super::super::{
    entry::{Made, Table, number},
    of_glondu::resting,
    svg::{Anchor, COLORS, Drawing, FAINT, INK, Pen},
    work::Work,
};
use crate::{
    bodies::{
        Body, World, WorldSettings,
        collide::convex::{Solid, apart},
    },
    cli::CliError,
    mesh::Mesh,
    shape::{Look, Shape},
};

/// An upright prism over these corners, which lie counter-clockwise seen from above, from z = -1 to 1.
pub(super) fn prism(corners: &[[f32; 2]]) -> Shape {
    let count = corners.len() as u32;
    let at = |z: f32| corners.iter().map(move |[x, y]| [*x, *y, z]);
    let positions = at(-1.0).chain(at(1.0)).collect();
    let mut triangles = Vec::new();
    for k in 1..count.saturating_sub(1) {
        triangles.push([0, k + 1, k]);
        triangles.push([count, count + k, count + k + 1]);
    }
    for k in 0..count {
        let next = (k + 1) % count;
        triangles.push([k, next, count + next]);
        triangles.push([k, count + next, count + k]);
    }
    let mesh = Mesh { positions, triangles, ..Mesh::default() };
    Shape::mesh(&Arc::new(mesh), 1.0, 1000.0, Look::default())
}

/// The upper corners of a body in the world, counter-clockwise seen from above.
fn outline(body: &Body, solid: &Solid) -> Vec<[f64; 2]> {
    let world = solid.corners.iter().map(|corner| body.state.position + body.state.rotation * *corner);
    let mut upper: Vec<DVec3> = world.filter(|corner| corner.z > body.state.position.z).collect();
    let middle = body.state.position;
    let angle = |corner: &DVec3| libm::atan2(corner.y - middle.y, corner.x - middle.x);
    upper.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    upper.into_iter().map(|corner| [corner.x, corner.y]).collect()
}

/// Least and greatest place of corners along a direction.
fn shadow(corners: &[[f64; 2]], way: DVec3) -> [f64; 2] {
    let along = corners.iter().map(|[x, y]| x * way.x + y * way.y);
    along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| [low.min(at), high.max(at)])
}

/// The two bodies of the figure.
fn bodies() -> World {
    let first = prism(&[[-1.0, -0.7], [0.6, -1.0], [1.1, 0.1], [0.2, 0.9], [-0.9, 0.6]]);
    let second = prism(&[[-0.8, -0.6], [0.9, -0.8], [0.7, 0.7], [-0.5, 0.9]]);
    let mut world = World::on_cpu(WorldSettings::default());
    world.add(resting(&Arc::new(first), 6, DVec3::ZERO));
    world.add(resting(&Arc::new(second), 6, DVec3::new(2.1, 1.0, 0.0)));
    world
}

/// Figure 13.
pub fn separating(work: &mut Work<'_>) -> Result<Made, CliError> {
    let world = bodies();
    let [first, second] = world.bodies.as_slice() else { return Ok(Made::default()) };
    let solids = [first, second].map(|body| Solid::of(body.def.shape.convex_hull()));
    let [a, b] = &solids;
    let (separation, way) = apart([a, b], [first, second], f64::INFINITY);
    let outlines = [outline(first, a), outline(second, b)];
    let shadows = outlines.each_ref().map(|corners| shadow(corners, way));
    let mut drawing = Drawing::new([-2.2, -2.4], [4.2, 2.6], 760.0);
    for (k, corners) in outlines.iter().enumerate() {
        drawing.polygon(corners, &Pen { line: COLORS[k], width: 2.0, area: "#f1efea", dashed: false });
    }
    // The axis runs below both bodies.
    let across = DVec3::new(-way.y, way.x, 0.0);
    let beside = outlines.iter().flatten().map(|[x, y]| x * across.x + y * across.y);
    let (low, high) =
        beside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let down = if across.y > 0.0 { low - 0.4 } else { high + 0.4 };
    let on_axis = |at: f64| {
        let place = way * at + across * down;
        [place.x, place.y]
    };
    let ends = [shadows[0][0].min(shadows[1][0]) - 0.3, shadows[0][1].max(shadows[1][1]) + 0.3];
    drawing.line(on_axis(ends[0]), on_axis(ends[1]), &Pen::line(INK, 1.0));
    for (k, (corners, shadow)) in outlines.iter().zip(shadows).enumerate() {
        drawing.line(on_axis(shadow[0]), on_axis(shadow[1]), &Pen::line(COLORS[k], 5.0));
        for [x, y] in corners {
            let at = x * way.x + y * way.y;
            if shadow.iter().any(|end| (end - at).abs() < 1e-9) {
                drawing.line([*x, *y], on_axis(at), &Pen { dashed: true, ..Pen::line(FAINT, 1.0) });
            }
        }
    }
    let title = format!("no overlap: {separation:.3} m apart");
    drawing.text([3.1, -1.2], &title, 14.0, Anchor::Middle, INK);
    work.write("axis.svg", &drawing.svg())?;
    let mut table =
        Table::new("The axis along which the bodies are farthest apart", &["x", "y", "z", "distance, m"]);
    table.row([way.x, way.y, way.z, separation].map(|value| number(Some(value), 4)));
    let caption = "Two prisms from above and their shadows on the axis that the search finds: the shadows do not meet, so \
                   neither do the bodies.";
    let note = "The search runs on the cores; the paper projects onto all axes in parallel on a device.";
    Ok(Made::picture("axis.svg", caption).table(table).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_on_the_axis_are_as_far_apart_as_the_bodies() {
        let world = bodies();
        let solids = [0, 1].map(|k: usize| Solid::of(world.bodies[k].def.shape.convex_hull()));
        let (separation, way) =
            apart([&solids[0], &solids[1]], [&world.bodies[0], &world.bodies[1]], f64::INFINITY);
        let [a, b] = [0, 1].map(|k: usize| shadow(&outline(&world.bodies[k], &solids[k]), way));
        // The axis goes from the second body to the first. Planted error to see this fail: another axis.
        assert!((a[0] - b[1] - separation).abs() < 1e-6 && separation > 0.0, "{a:?} {b:?} {separation}");
        assert_eq!(outline(&world.bodies[0], &solids[0]).len(), 5);
    }
}
