//! Projects lines, discs and triangles to convex outlines in the picture.
//!
//! Positions are in pixels from the picture's top left corner, in f64, so that the edges of shapes that reach far
//! beyond the picture stay precise.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use crate::geometry::srgb;
use crate::{
    Overlay,
    overlay::{Line, NEAR, Point, Triangle},
    tables::FrameData,
};

/// Points are moved slightly before lines and lines before triangles, so that a triangle's own edges and vertices stay
/// visible.
const LINE_PULL: f64 = 0.9992;
const POINT_PULL: f64 = 0.9984;
/// Circumradius of a regular 12-gon with the area of a circle of radius 1.
const CORNER_RADIUS: f64 = 1.02339;

/// A convex outline with a colour and a depth.
pub(super) struct Shape {
    outline: Outline,
    /// Lowest and highest row that it covers, pixels.
    low: f64,
    high: f64,
    /// Reciprocal depth at `origin`, and its slopes: it is linear in the picture.
    origin: DVec2,
    nearness: f64,
    slope: DVec2,
    /// Linear colour and opacity.
    pub color: [f32; 4],
    /// Factor for the reciprocal depth in comparisons.
    pub over_pull: f32,
    /// Whether it hides shapes drawn later.
    pub is_solid: bool,
}

enum Outline {
    /// Up to four edges, each bounding x by `m` y + `k`.
    Polygon([Edge; 4]),
    /// The 12-gon that represents a disc.
    Disc { centre: DVec2, radius: f64 },
}

#[derive(Clone, Copy)]
enum Edge {
    None,
    Left { m: f64, k: f64 },
    Right { m: f64, k: f64 },
}

impl Shape {
    /// First and last row of pixels that it may cover.
    pub fn rows(&self, height: usize) -> Option<(usize, usize)> {
        // NaN is nowhere.
        let is_there = self.high >= 0.0 && self.low < height as f64;
        is_there.then(|| (self.low.max(0.0) as usize, (self.high as usize).min(height - 1)))
    }

    /// Interval that it covers on the line at `y`; reversed if it covers nothing.
    #[inline(always)]
    pub fn span(&self, y: f64) -> (f64, f64) {
        const NOWHERE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);
        if y < self.low || y > self.high {
            return NOWHERE;
        }
        match &self.outline {
            Outline::Polygon(edges) => {
                let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
                for edge in edges {
                    match *edge {
                        Edge::None => {}
                        Edge::Left { m, k } => from = from.max(m * y + k),
                        Edge::Right { m, k } => to = to.min(m * y + k),
                    }
                }
                if from <= to { (from, to) } else { NOWHERE }
            }
            Outline::Disc { centre, radius } => {
                // Three of its edges, facing 15, 45 and 75 degrees, bound a quarter.
                let v = (y - centre.y).abs() / radius;
                let half =
                    (1.0 - 0.267_949_192 * v).min(1.366_025_404 - v).min(3.732_050_808 * (1.0 - v)) * radius;
                if half >= 0.0 { (centre.x - half, centre.x + half) } else { NOWHERE }
            }
        }
    }

    /// Reciprocal depth at a position.
    #[inline(always)]
    pub fn nearness(&self, x: f32, y: f32) -> f32 {
        (self.nearness + self.slope.dot(DVec2::new(f64::from(x), f64::from(y)) - self.origin)) as f32
    }
}

/// The camera for projecting shapes.
pub(super) struct View {
    eye: DVec3,
    /// Axes divided by the square of their lengths.
    right: DVec3,
    up: DVec3,
    ahead: DVec3,
    /// Shift of the picture's middle by a lens, per unit of depth.
    shear: DVec3,
    size: DVec2,
    jitter: DVec2,
    pixel_cone: f64,
    near: f64,
}

impl View {
    pub fn new(frame: &FrameData) -> Self {
        let over_square = |v: Vec3| v.as_dvec3() / v.as_dvec3().length_squared();
        Self {
            eye: frame.eye.as_dvec3(),
            right: over_square(frame.right),
            up: over_square(frame.up),
            ahead: frame.ahead.as_dvec3(),
            shear: (frame.forward - frame.ahead).as_dvec3(),
            size: DVec2::new(f64::from(frame.size[0]), f64::from(frame.size[1])),
            jitter: DVec2::from(frame.jitter.map(f64::from)),
            pixel_cone: f64::from(frame.pixel_cone),
            near: f64::from(NEAR * (frame.target - frame.eye).length().max(1e-6)),
        }
    }

    /// A point's coordinates: right and up times depth, and depth.
    fn seen(&self, p: Vec3) -> DVec3 {
        let from_eye = p.as_dvec3() - self.eye;
        let depth = from_eye.dot(self.ahead);
        let p = from_eye - self.shear * depth;
        DVec3::new(p.dot(self.right), p.dot(self.up), depth)
    }

    /// Position in the picture.
    fn place(&self, seen: DVec3) -> DVec2 {
        DVec2::new(seen.x / seen.z + 1.0, 1.0 - seen.y / seen.z) * 0.5 * self.size - self.jitter
    }

    fn line(&self, line: &Line) -> Option<Shape> {
        let (a, b) = self.before_eye(self.seen(line.start), self.seen(line.end))?;
        let (from, to) = (self.place(a), self.place(b));
        let along = (to - from).normalize_or(DVec2::X) * (0.5 * f64::from(line.width));
        let (from, to, side) = (from - along, to + along, along.perp());
        let nearness = (1.0 / a.z, 1.0 / b.z);
        let run = to - from;
        let slope = run * ((nearness.1 - nearness.0) / run.length_squared().max(1e-300));
        let corners = [from - side, to - side, to + side, from + side];
        polygon(&corners, (from, nearness.0, slope), linear(line.color), LINE_PULL, true)
    }

    /// Clips a segment to the part in front of the camera.
    fn before_eye(&self, a: DVec3, b: DVec3) -> Option<(DVec3, DVec3)> {
        let cut = |p: DVec3, q: DVec3| p + (q - p) * ((self.near - p.z) / (q.z - p.z));
        match (a.z < self.near, b.z < self.near) {
            (true, true) => None,
            (true, false) => Some((cut(a, b), b)),
            (false, true) => Some((a, cut(b, a))),
            (false, false) => Some((a, b)),
        }
    }

    fn point(&self, point: &Point) -> Option<Shape> {
        let seen = self.seen(point.at);
        if seen.z < self.near {
            return None;
        }
        let pixels =
            f64::from(point.radius_pixels).max(f64::from(point.radius_m) / (self.pixel_cone * seen.z));
        // Moved forward by its radius as well, since a shape through its centre at a slant would cut it in half.
        let forward = pixels - f64::from(point.back_pixels);
        let pull = (POINT_PULL - forward * self.pixel_cone).max(0.5);
        let (centre, radius) = (self.place(seen), pixels * CORNER_RADIUS);
        Some(Shape {
            outline: Outline::Disc { centre, radius },
            low: centre.y - radius,
            high: centre.y + radius,
            origin: centre,
            nearness: 1.0 / seen.z,
            slope: DVec2::ZERO,
            color: linear(point.color),
            over_pull: (1.0 / pull) as f32,
            is_solid: true,
        })
    }

    fn triangle(&self, triangle: &Triangle) -> Option<Shape> {
        let Triangle { a, b, c, .. } = *triangle;
        let corners = [a, b, c].map(|p| self.seen(p));
        let (mut kept, mut count) = ([DVec2::ZERO; 4], 0);
        let mut deepest_first = [(DVec2::ZERO, 0.0); 4];
        for k in 0..3 {
            let (p, q) = (corners[k], corners[(k + 1) % 3]);
            let Some((from, to)) = self.before_eye(p, q) else { continue };
            // Each edge adds its start as a vertex; an edge clipped at its end adds that, too.
            for (end, is_new) in [(from, true), (to, q.z < self.near)] {
                if is_new && count < 4 {
                    kept[count] = self.place(end);
                    deepest_first[count] = (kept[count], 1.0 / end.z);
                    count += 1;
                }
            }
        }
        // Darker at a slant, since a folded surface would otherwise look flat.
        let normal = (b - a).as_dvec3().cross((c - a).as_dvec3());
        let middle = (a.as_dvec3() + b.as_dvec3() + c.as_dvec3()) / 3.0 - self.eye;
        let facing = normal.dot(middle).abs() / (normal.length() * middle.length()).max(1e-20);
        let shade = (0.4 + 0.6 * facing) as f32;
        let [r, g, b, alpha] = linear(triangle.color);
        let color = [r * shade, g * shade, b * shade, alpha];
        polygon(&kept[..count], plane(&deepest_first[..count])?, color, 1.0, false)
    }
}

/// All shapes in drawing order; triangles in the order `triangles`.
pub(super) fn shapes(view: &View, overlay: &Overlay, triangles: &[u32]) -> Vec<Shape> {
    let lines = overlay.lines.par_iter().map(|line| view.line(line));
    let points = overlay.points.par_iter().map(|point| view.point(point));
    let triangles = triangles.par_iter().map(|i| view.triangle(&overlay.triangles[*i as usize]));
    lines.chain(points).chain(triangles).flatten_iter().collect()
}

/// Reciprocal depth over a planar shape: a position, the value there, its slopes. Computed from the first vertex and
/// the two sides that span the largest area.
fn plane(corners: &[(DVec2, f64)]) -> Option<(DVec2, f64, DVec2)> {
    let (origin, w) = *corners.first()?;
    let area = |i: usize| (corners[i].0 - origin).perp_dot(corners[i + 1].0 - origin);
    let best = (1..corners.len().checked_sub(1)?).max_by(|i, j| area(*i).abs().total_cmp(&area(*j).abs()))?;
    let (u, v, full) = (corners[best].0 - origin, corners[best + 1].0 - origin, area(best));
    let (du, dv) = (corners[best].1 - w, corners[best + 1].1 - w);
    let slope = DVec2::new(du * v.y - dv * u.y, dv * u.x - du * v.x) / full;
    slope.is_finite().then_some((origin, w, slope))
}

/// A convex polygon; `None` if it has no area.
fn polygon(
    corners: &[DVec2],
    (origin, nearness, slope): (DVec2, f64, DVec2),
    color: [f32; 4],
    pull: f64,
    is_solid: bool,
) -> Option<Shape> {
    let count = corners.len();
    let twice_area: f64 = (0..count).map(|i| corners[i].perp_dot(corners[(i + 1) % count])).sum();
    if count < 3 || !twice_area.is_finite() {
        return None;
    }
    let mut edges = [Edge::None; 4];
    for (i, edge) in edges.iter_mut().enumerate().take(count) {
        let (p, q) = (corners[i], corners[(i + 1) % count]);
        let run = q - p;
        if run.y == 0.0 {
            continue;
        }
        let m = run.x / run.y;
        let k = p.x - m * p.y;
        // Along a downward edge of a clockwise polygon, its inside is on the left.
        let is_right = (run.y > 0.0) == (twice_area > 0.0);
        *edge = if is_right { Edge::Right { m, k } } else { Edge::Left { m, k } };
    }
    let rows = corners.iter().map(|p| p.y);
    Some(Shape {
        outline: Outline::Polygon(edges),
        low: rows.clone().fold(f64::INFINITY, f64::min),
        high: rows.fold(f64::NEG_INFINITY, f64::max),
        origin,
        nearness,
        slope,
        color,
        over_pull: (1.0 / pull) as f32,
        is_solid,
    })
}

fn linear([r, g, b, a]: [u8; 4]) -> [f32; 4] {
    [srgb::linear(r), srgb::linear(g), srgb::linear(b), f32::from(a) / 255.0]
}
