//! Surfaces by brute force: every triangle against every ray, in f64.

use glam::{DVec2, DVec3};

use super::through;
use crate::{
    ColorBy, RenderBody,
    mesh::{Material, Texture},
    shape::{Side, SolidMesh},
    surfaces::HitData,
    tables::FrameData,
};

/// Corners of a body's triangles in the world.
pub fn triangles(body: &RenderBody, solid: &SolidMesh) -> Vec<[DVec3; 3]> {
    let to_world = body.world_from_local.as_dmat4();
    let place = |p: DVec3| to_world.transform_point3(body.shape.local_from_shape(p));
    solid.surface().corners_of_triangles().map(|t| t.map(place)).collect()
}

/// The nearest of `triangles` that a ray meets between two distances.
pub fn nearest_triangle(
    triangles: &[[DVec3; 3]],
    origin: DVec3,
    direction: DVec3,
    (first, last): (f64, f64),
) -> Option<(f64, usize)> {
    let meets = |[a, b, c]: &[DVec3; 3]| {
        let normal = (b - a).cross(c - a);
        let t = (a - origin).dot(normal) / direction.dot(normal);
        let p = origin + direction * t;
        let beside = |from: &DVec3, to: &DVec3| (to - from).cross(p - from).dot(normal) >= 0.0;
        (t >= first && t <= last && beside(a, b) && beside(b, c) && beside(c, a)).then_some(t)
    };
    let hits = triangles.iter().enumerate().filter_map(|(i, t)| Some((meets(t)?, i)));
    hits.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// World normal, display colour (0 to 255) and whether it is of a crack, of what a pixel hit; crack faces as their
/// corners have them.
pub fn surface_look(
    frame: &FrameData,
    color_by: ColorBy,
    hit: &HitData,
    place: DVec2,
    body: &RenderBody,
    (solid, triangles): (&SolidMesh, &[[DVec3; 3]]),
) -> (DVec3, DVec3, bool) {
    let view = through(frame, place).normalize();
    let point = frame.eye.as_dvec3() + view * f64::from(hit.distance);
    let triangle = hit.leaf as usize;
    let [a, b, c] = triangles[triangle];
    let normal = (b - a).cross(c - a);
    let share = |from: DVec3, to: DVec3| (to - from).cross(point - from).dot(normal) / normal.dot(normal);
    let weights = [share(b, c), share(c, a), share(a, b)];
    let corners = &solid.surface().corners[triangle];
    let mean = |of: &dyn Fn(usize) -> DVec3| (0..3).map(|k| of(k) * weights[k]).sum::<DVec3>();
    let own = mean(&|k| corners[k].normal.as_dvec3());
    let own = body.world_from_local.as_dmat4().transform_vector3(own).normalize();
    let own = if normal.dot(view) > 0.0 { -own } else { own };
    let away = own.dot(view);
    let own = if away > 0.0 { (own - view * (away + 0.02)).normalize() } else { own };
    let side = solid.surface().faces[triangle].side;
    let mut color = mean(&|k| DVec3::from(corners[k].color.map(f64::from)));
    if let Side::Outside { material } = side
        && let Some(Material { color: base, texture: Some(texture), .. }) =
            solid.materials().get(material as usize)
    {
        let uv = mean(&|k| DVec3::new(f64::from(corners[k].uv[0]), f64::from(corners[k].uv[1]), 0.0));
        color = DVec3::from(base.map(f64::from)) * texel(texture, uv.truncate()) / 255.0;
    }
    let crack = side == Side::Inside;
    let rgb = match color_by {
        ColorBy::Normal => (own * 0.5 + 0.5) * 255.0,
        ColorBy::Crack if crack => DVec3::new(0.86, 0.42, 0.12) * 255.0,
        ColorBy::Crack => DVec3::new(0.62, 0.64, 0.67) * 255.0,
        _ => color,
    };
    (own, rgb, crack)
}

/// Four texels weighed by how near their middles are.
fn texel(texture: &Texture, uv: DVec2) -> DVec3 {
    let (width, height) = (f64::from(texture.width), f64::from(texture.height));
    let (x, y) = (uv.x * width - 0.5, -uv.y * height - 0.5);
    let mut sum = DVec3::ZERO;
    for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
        let (column, row) = (x.floor() + dx, y.floor() + dy);
        let weight = (1.0 - (x - column).abs()) * (1.0 - (y - row).abs());
        let at = row.rem_euclid(height) * width + column.rem_euclid(width);
        sum += DVec3::from([0, 1, 2].map(|k| f64::from(texture.rgba[4 * at as usize + k]))) * weight;
    }
    sum
}
