//! The overlay, sample by sample: every line, disc and triangle as a convex polygon in the picture, in the
//! order in which they are drawn, against one depth for each sample.

use glam::{DMat3, DVec2, DVec3, DVec4};

use super::{SKY, ahead, centre_of, through};
use crate::{
    overlay::{NEAR, Overlay},
    surfaces::HitData,
    tables::FrameData,
};

/// Where the four samples of a pixel lie, sixteenths from its centre: the same for every driver that keeps to
/// the standard.
const SAMPLES: [[f64; 2]; 4] = [[-2.0, -6.0], [6.0, -2.0], [-6.0, 2.0], [2.0, 6.0]];

/// A convex polygon in the picture.
struct Shape {
    /// Corners, pixels, and the depth there, m.
    corners: Vec<(DVec2, f64)>,
    /// Linear colour and opacity.
    color: DVec4,
    /// By what its depth is multiplied before shapes are compared.
    pull: f64,
    /// Whether it hides what comes later.
    solid: bool,
}

/// Linear colour times alpha at every pixel, rows from the top.
pub fn overlay(frame: &FrameData, hits: &[HitData], overlay: &Overlay) -> Vec<DVec4> {
    let [width, height] = frame.size;
    let mut colors = vec![[DVec4::ZERO; 4]; (width * height) as usize];
    // One over depth; nothing yet is infinitely far.
    let mut nearest = vec![[0.0_f64; 4]; colors.len()];
    for shape in shapes(frame, overlay) {
        let Some((low, high)) = bounds(&shape, frame.size) else { continue };
        let slope = inverse_depth(&shape.corners);
        for y in low[1]..high[1] {
            for x in low[0]..high[0] {
                let (index, centre) = ((y * width + x) as usize, centre_of([x, y]));
                let inside = SAMPLES.map(|s| contains(&shape.corners, centre + DVec2::from(s) / 16.0));
                if !inside.contains(&true) {
                    continue;
                }
                let fragment = shade(frame, overlay, &hits[index], &shape, centre, 1.0 / slope(centre));
                if fragment.w <= 0.0 {
                    continue;
                }
                for (k, sample) in SAMPLES.iter().enumerate().filter(|(k, _)| inside[*k]) {
                    let nearness = slope(centre + DVec2::from(*sample) / 16.0) / shape.pull;
                    if nearness > nearest[index][k] {
                        colors[index][k] = fragment + colors[index][k] * (1.0 - fragment.w);
                        if shape.solid {
                            nearest[index][k] = nearness;
                        }
                    }
                }
            }
        }
    }
    colors.iter().map(|samples| samples.iter().sum::<DVec4>() / 4.0).collect()
}

/// Colour times alpha where the pixel's ray is `depth` deep.
fn shade(
    frame: &FrameData,
    overlay: &Overlay,
    hit: &HitData,
    shape: &Shape,
    centre: DVec2,
    depth: f64,
) -> DVec4 {
    let along_ray = depth * through(frame, centre).length();
    // A lift is measured along the view, not along the ray.
    let lift = f64::from(overlay.lift) * through(frame, centre).length();
    let is_hidden = hit.body != SKY && along_ray - lift > f64::from(hit.distance) * 1.0001;
    let alpha = shape.color.w * if is_hidden { f64::from(overlay.through) } else { 1.0 };
    (shape.color.truncate() * alpha).extend(alpha)
}

fn shapes(frame: &FrameData, overlay: &Overlay) -> Vec<Shape> {
    let eye = frame.eye.as_dvec3();
    let near = f64::from(NEAR) * (frame.target.as_dvec3() - eye).length();
    let deep = |p: DVec3| (p - eye).dot(ahead(frame));
    let at = |p: DVec3| project(frame, p);
    let mut all = Vec::new();
    for line in &overlay.lines {
        let Some([a, b]) = cut(line.start.as_dvec3(), line.end.as_dvec3(), near, deep) else { continue };
        let along = (at(b) - at(a)).normalize_or(DVec2::X) * (0.5 * f64::from(line.width));
        let side = along.perp();
        let ends = [(at(a) - along, deep(a)), (at(b) + along, deep(b))];
        let corners = [(0, -1.0), (1, -1.0), (1, 1.0), (0, 1.0)]
            .map(|(k, s): (usize, f64)| (ends[k].0 + side * s, ends[k].1));
        all.push(Shape { corners: corners.into(), color: linear(line.color), pull: 0.9992, solid: true });
    }
    for point in &overlay.points {
        let p = point.at.as_dvec3();
        if deep(p) < near {
            continue;
        }
        let of_world = f64::from(point.radius_m) / (f64::from(frame.pixel_cone) * deep(p));
        let radius = f64::from(point.radius_pixels).max(of_world);
        // Nearer by its radius, less what it stays back, at most by half.
        let forward = radius - f64::from(point.back_pixels);
        let pull = (0.9984 - forward * f64::from(frame.pixel_cone)).max(0.5);
        // Twelve corners, as much area as the disc: pi = 12 / 2 sin(30 degrees) r^2.
        let radius = radius * (std::f64::consts::PI / 3.0).sqrt();
        let corner = |k: u32| (at(p) + DVec2::from_angle(f64::from(k).to_radians() * 30.0) * radius, deep(p));
        let corners = (0..12).map(corner).collect();
        all.push(Shape { corners, color: linear(point.color), pull, solid: true });
    }
    for i in overlay.back_to_front(frame.eye, frame.ahead) {
        let t = &overlay.triangles[i as usize];
        let corners = [t.a, t.b, t.c].map(|p| p.as_dvec3());
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let facing = normal.dot((middle - eye).normalize()).abs();
        let color = linear(t.color) * DVec3::splat(0.4 + 0.6 * facing).extend(1.0);
        // The part before the near plane, edge by edge.
        let mut kept = Vec::new();
        for k in 0..3 {
            let (p, q) = (corners[k], corners[(k + 1) % 3]);
            if let Some(ends) = cut(p, q, near, deep) {
                for end in ends {
                    if kept.last() != Some(&end) && kept.first() != Some(&end) {
                        kept.push(end);
                    }
                }
            }
        }
        let corners = kept.into_iter().map(|p| (at(p), deep(p))).collect();
        all.push(Shape { corners, color, pull: 1.0, solid: false });
    }
    all
}

/// The part of a segment that is at least `near` deep.
fn cut(a: DVec3, b: DVec3, near: f64, deep: impl Fn(DVec3) -> f64) -> Option<[DVec3; 2]> {
    let (da, db) = (deep(a), deep(b));
    let on_plane = || a + (b - a) * ((near - da) / (db - da));
    match (da < near, db < near) {
        (true, true) => None,
        (true, false) => Some([on_plane(), b]),
        (false, true) => Some([a, on_plane()]),
        (false, false) => Some([a, b]),
    }
}

/// Where a world point lies in the picture, pixels from the top left corner: the inverse of [`through`].
fn project(frame: &FrameData, p: DVec3) -> DVec2 {
    // As a sum of the axes, which a lens leaves at right angles to each other no more.
    let axes = [frame.right, frame.up, frame.forward].map(|axis| axis.as_dvec3());
    let share = DMat3::from_cols(axes[0], axes[1], axes[2]).inverse() * (p - frame.eye.as_dvec3());
    let size = DVec2::new(f64::from(frame.size[0]), f64::from(frame.size[1]));
    let uv = DVec2::new(share.x / share.z + 1.0, 1.0 - share.y / share.z) * 0.5;
    uv * size - DVec2::from(frame.jitter.map(f64::from))
}

fn linear(color: [u8; 4]) -> DVec4 {
    let channel = |byte: u8| {
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let [r, g, b, a] = color;
    DVec4::new(channel(r), channel(g), channel(b), f64::from(a) / 255.0)
}

/// Pixels that a shape can touch.
fn bounds(shape: &Shape, [width, height]: [u32; 2]) -> Option<([u32; 2], [u32; 2])> {
    if shape.corners.len() < 3 {
        return None;
    }
    let (low, high) = shape
        .corners
        .iter()
        .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), (p, _)| (low.min(*p), high.max(*p)));
    let limit = DVec2::new(f64::from(width), f64::from(height));
    let low = low.floor().clamp(DVec2::ZERO, limit);
    let high = high.ceil().clamp(DVec2::ZERO, limit);
    Some(([low.x as u32, low.y as u32], [high.x as u32, high.y as u32]))
}

fn contains(corners: &[(DVec2, f64)], p: DVec2) -> bool {
    let turn = |k: usize| {
        let (a, b) = (corners[k].0, corners[(k + 1) % corners.len()].0);
        (b - a).perp_dot(p - a)
    };
    let turns: Vec<f64> = (0..corners.len()).map(turn).collect();
    turns.iter().all(|t| *t > 0.0) || turns.iter().all(|t| *t < 0.0)
}

/// One over the depth, which is linear in the picture, from three corners of a plane shape.
fn inverse_depth(corners: &[(DVec2, f64)]) -> impl Fn(DVec2) -> f64 {
    let (o, w) = (corners[0].0, 1.0 / corners[0].1);
    // The two sides with the largest area between them.
    let area = |i: usize| (corners[i].0 - o).perp_dot(corners[i + 1].0 - o).abs();
    let best = (1..corners.len() - 1).max_by(|a, b| area(*a).total_cmp(&area(*b))).unwrap_or(1);
    let (u, v) = (corners[best].0 - o, corners[best + 1].0 - o);
    let (wu, wv) = (1.0 / corners[best].1 - w, 1.0 / corners[best + 1].1 - w);
    let full = u.perp_dot(v);
    move |p: DVec2| {
        let d = p - o;
        w + wu * (d.perp_dot(v) / full) + wv * (u.perp_dot(d) / full)
    }
}
