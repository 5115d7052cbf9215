//! The contact point of two smooth surfaces from samples of any kind.
//!
//! In: a contact, and the samples round it on either side ([`SmoothSide`]). Out: the place where the two surfaces are
//! nearest. A quadric is fitted to the samples on either side, by least squares over their positions: normals of leaves
//! are those of the mesh's facets, and ten times as far off. So two balls touch at one point, on the line through both
//! centres, and not at some points of a ring round it.

use super::{Ball, Point};
use crate::{Body, Plane};
use glam::{DVec2, DVec3};

/// The surface is smooth where samples leave the quadric by no more than this, cells, root mean square.
const SMOOTH_CELLS: f64 = 0.06;
/// Surfaces part along a direction in which their gap bends by at least this, 1 over cells.
const PARTS: f64 = 0.015;
/// And of a ball where its bends in different directions differ by no more than this share, up and down from their mean.
const UNLIKE: f64 = 0.15;
/// The nearest place is no farther from the contact than this, cells.
const WAY_CELLS: f64 = 3.0;
/// Points on a ball are no farther off it than this, cells, and not above this height, radii below its middle.
const ON_BALL_CELLS: f64 = 0.5;
const BENEATH: f64 = 0.5;

/// One side of a contact: a body, and the samples of its surface round a place.
pub trait SmoothSide {
    /// A place on the surface.
    type At: Copy;

    /// The body.
    fn body(&self) -> &Body;

    /// Whether the surface goes on in one plane as far as a patch reaches.
    fn is_flat(&self, at: Self::At) -> bool;

    /// The place of the same surface nearest to `place`, world, m.
    fn beside(&self, at: Self::At, place: DVec3) -> Option<Self::At>;

    /// Samples round a place, world, m. `None` if the surface ends or has an edge among them.
    fn patch(&self, at: Self::At) -> Option<Vec<DVec3>>;
}

/// A contact, world, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Where.
    pub position: DVec3,
    /// From the second side to the first, unit.
    pub normal: DVec3,
    /// Negative for overlap.
    pub separation: f64,
}

/// The contact of two places on two sides, where their surfaces are nearest; `cell` is the edge of the larger cells, m.
/// Bodies that do not touch yet are advanced until they touch, but by no more than `way`, m: bodies that fly past each
/// other touch elsewhere. `None` if either is not smooth, both are flat, or the nearest place is elsewhere.
#[must_use]
pub fn nearest<S: SmoothSide>(
    sides: [&S; 2],
    at: [S::At; 2],
    touch: Touch,
    cell: f64,
    way: f64,
) -> Option<Touch> {
    if [0, 1].iter().all(|&s| sides[s].is_flat(at[s])) {
        return None;
    }
    // A quadric is best in the middle of its patch: the second time that is where the first found the place.
    let first = nearest_to(sides, at, touch, DVec3::ZERO, cell)?;
    let [a, b] = sides.map(|side| speed(side.body(), first.position));
    let ahead = match (a - b, (b - a).dot(first.normal)) {
        (speed, closing) if closing > 0.0 && first.separation > 0.0 => {
            (speed * (first.separation / closing)).clamp_length_max(way)
        }
        _ => DVec3::ZERO,
    };
    let beside = ahead.reject_from_normalized(first.normal) * 0.5;
    let at = [(0, -beside), (1, beside)].map(|(s, aside)| sides[s].beside(at[s], first.position + aside));
    let second = || nearest_to(sides, [at[0]?, at[1]?], first, ahead, cell);
    let Some(touch) = second() else { return Some(first) };
    // Where both anchors are now, so that they have that place between them then.
    let position = touch.position - ahead * 0.5;
    Some(Touch { position, separation: touch.separation - ahead.dot(touch.normal), ..touch })
}

/// The ball of which the surface round `at`, near `place`, is part, and its lowest point over the plane; `cell` is the
/// edge of a cell; world, m. `None` if the surface is no part of a ball, or is lowest elsewhere.
#[must_use]
pub fn ball_over<S: SmoothSide>(
    side: &S,
    at: S::At,
    plane: &Plane,
    place: DVec3,
    cell: f64,
) -> Option<(DVec3, Ball)> {
    if side.is_flat(at) {
        return None;
    }
    let up = plane.normal;
    let (first, _) = lowest_of_patch(side, at, up, place, cell)?;
    let (lowest, radius) = lowest_of_patch(side, side.beside(at, first)?, up, first, cell)?;
    let state = &side.body().state;
    let centre = state.rotation.inverse() * (lowest + up * radius - state.position);
    Some((lowest, Ball { centre, radius }))
}

/// Takes away the points of a body at a plane that lie on the lower part of the ball; its own takes their place.
pub fn leave_to_ball(points: &mut Vec<Point>, body: &Body, plane: &Plane, ball: &Ball, cell: f64) {
    let centre = body.state.position + body.state.rotation * ball.centre;
    points.retain(|p| {
        let from = p.position - centre;
        let beneath = -from.dot(plane.normal) > BENEATH * ball.radius;
        !beneath || (from.length() - ball.radius).abs() > ON_BALL_CELLS * cell
    });
}

/// How fast a body moves at `place`, m/s.
fn speed(body: &Body, place: DVec3) -> DVec3 {
    let state = &body.state;
    state.linear_velocity + state.angular_velocity.cross(place - state.position)
}

/// One step from a contact towards the place where the surfaces are nearest, and whether it reaches it; for contacts
/// farther from there than the range of [`nearest`]. `None` if either surface is not smooth, or both are flat.
#[must_use]
pub fn hop<S: SmoothSide>(sides: [&S; 2], at: [S::At; 2], touch: Touch, cell: f64) -> Option<(Touch, bool)> {
    let gap = Gap::new(sides, at, touch, DVec3::ZERO, cell)?;
    let place = gap.lowest()?;
    let near = place.length() <= WAY_CELLS;
    Some((gap.touch(place.clamp_length_max(WAY_CELLS))?, near))
}

/// One step by the patches round these places, if the first side were `ahead`.
fn nearest_to<S: SmoothSide>(
    sides: [&S; 2],
    at: [S::At; 2],
    touch: Touch,
    ahead: DVec3,
    cell: f64,
) -> Option<Touch> {
    let gap = Gap::new(sides, at, touch, ahead, cell)?;
    gap.touch(gap.lowest().filter(|place| place.length() <= WAY_CELLS)?)
}

/// Two surfaces round a contact, by their heights along its normal, cells.
struct Gap {
    touch: Touch,
    /// Across the normal, unit.
    across: [DVec3; 2],
    heights: [Quadric; 2],
    gap: Quadric,
    cell: f64,
}

impl Gap {
    fn new<S: SmoothSide>(
        sides: [&S; 2],
        at: [S::At; 2],
        touch: Touch,
        ahead: DVec3,
        cell: f64,
    ) -> Option<Self> {
        let (t, u) = touch.normal.any_orthonormal_pair();
        let mut heights = [Quadric::default(); 2];
        for (s, shift) in [ahead, DVec3::ZERO].into_iter().enumerate() {
            let samples = sides[s].patch(at[s])?;
            let local = samples.iter().map(|p| {
                let r = *p + shift - touch.position;
                (DVec2::new(r.dot(t), r.dot(u)) / cell, r.dot(touch.normal) / cell)
            });
            heights[s] = Quadric::fit(local)?;
        }
        let gap = heights[0].minus(&heights[1]);
        Some(Self { touch, across: [t, u], heights, gap, cell })
    }

    /// Where it is least.
    fn lowest(&self) -> Option<DVec2> {
        self.gap.lowest()
    }

    /// The contact at a place.
    fn touch(&self, place: DVec2) -> Option<Touch> {
        let Self { touch, across: [t, u], heights: [a, b], gap, cell } = self;
        let slope = (a.slope(place) + b.slope(place)) * 0.5;
        let normal = (touch.normal - *t * slope.x - *u * slope.y).try_normalize()?;
        let middle = (a.at(place) + b.at(place)) * 0.5;
        let position = touch.position + (*t * place.x + *u * place.y + touch.normal * middle) * *cell;
        Some(Touch { position, normal, separation: gap.at(place) * cell * normal.dot(touch.normal) })
    }
}

/// The lowest place along `up` of the quadric round `at`, near `place`, and its radius; world, m.
fn lowest_of_patch<S: SmoothSide>(
    side: &S,
    at: S::At,
    up: DVec3,
    place: DVec3,
    cell: f64,
) -> Option<(DVec3, f64)> {
    let (t, u) = up.any_orthonormal_pair();
    let samples = side.patch(at)?;
    let quadric = Quadric::fit(samples.iter().map(|p| {
        let r = *p - place;
        (DVec2::new(r.dot(t), r.dot(u)) / cell, r.dot(up) / cell)
    }))?;
    let lowest = quadric.lowest().filter(|place| place.length() <= WAY_CELLS)?;
    let radius = quadric.radius()?;
    let lowest = place + (t * lowest.x + u * lowest.y + up * quadric.at(lowest)) * cell;
    Some((lowest, radius * cell))
}

/// `c0 + c1 x + c2 y + c3 x^2 / 2 + c4 x y + c5 y^2 / 2`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Quadric([f64; 6]);

impl Quadric {
    fn terms(p: DVec2) -> [f64; 6] {
        [1.0, p.x, p.y, 0.5 * p.x * p.x, p.x * p.y, 0.5 * p.y * p.y]
    }

    /// The quadric by least squares; `None` if the samples do not determine one.
    fn fit(samples: impl Iterator<Item = (DVec2, f64)> + Clone) -> Option<Self> {
        let (mut m, mut count) = ([[0.0f64; 7]; 6], 0.0);
        for (p, height) in samples.clone() {
            let terms = Self::terms(p);
            for (row, a) in m.iter_mut().zip(terms) {
                for (to, b) in row.iter_mut().zip(terms.into_iter().chain([height])) {
                    *to += a * b;
                }
            }
            count += 1.0;
        }
        let solved = Self(solve(m)?);
        let off: f64 = samples.map(|(p, height)| (solved.at(p) - height).powi(2)).sum();
        (off < SMOOTH_CELLS * SMOOTH_CELLS * count).then_some(solved)
    }

    fn at(&self, p: DVec2) -> f64 {
        self.0.iter().zip(Self::terms(p)).map(|(c, term)| c * term).sum()
    }

    fn slope(&self, p: DVec2) -> DVec2 {
        let c = &self.0;
        DVec2::new(c[1] + c[3] * p.x + c[4] * p.y, c[2] + c[4] * p.x + c[5] * p.y)
    }

    fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] - other.0[k]))
    }

    /// Radius of the ball of which it is part, if it has the same curvature in all directions.
    fn radius(&self) -> Option<f64> {
        let (a, b, c) = (self.0[3], self.0[4], self.0[5]);
        let (middle, half) = (0.5 * (a + c), (0.25 * (a - c).powi(2) + b * b).sqrt());
        (half <= UNLIKE * middle).then(|| middle.recip())
    }

    /// Its lowest point, along the directions of sufficient curvature. `None` if there is none.
    fn lowest(&self) -> Option<DVec2> {
        let (a, b, c) = (self.0[3], self.0[4], self.0[5]);
        let (middle, half) = (0.5 * (a + c), (0.25 * (a - c).powi(2) + b * b).sqrt());
        // The direction of the larger bend; the other is across.
        let first = match DVec2::new(b, middle + half - a).try_normalize() {
            Some(way) => way,
            None if a >= c => DVec2::X,
            None => DVec2::Y,
        };
        let slope = DVec2::new(self.0[1], self.0[2]);
        let mut place = DVec2::ZERO;
        let mut parts = false;
        for (way, bend) in [(first, middle + half), (first.perp(), middle - half)] {
            if bend >= PARTS {
                place -= way * (slope.dot(way) / bend);
                parts = true;
            }
        }
        parts.then_some(place)
    }
}

/// By elimination with pivots; the last column is the right side.
fn solve(mut m: [[f64; 7]; 6]) -> Option<[f64; 6]> {
    for k in 0..6 {
        let best = (k..6).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))?;
        m.swap(k, best);
        let row = m[k];
        if row[k].abs() < 1e-9 {
            return None;
        }
        for (_, other) in m.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let share = other[k] / row[k];
            other.iter_mut().zip(row).for_each(|(to, from)| *to -= share * from);
        }
    }
    Some(std::array::from_fn(|k| m[k][6] / m[k][k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadric_is_found_again_and_its_lowest_place() {
        let truth = Quadric([0.3, -0.02, 0.05, 0.04, 0.01, 0.03]);
        let disc = || (-4..=4).flat_map(|x| (-4..=4).map(move |y| DVec2::new(f64::from(x), f64::from(y))));
        let found = Quadric::fit(disc().map(|p| (p, truth.at(p)))).expect("a quadric");
        assert!(found.0.iter().zip(truth.0).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        let place = found.lowest().expect("it has one");
        assert!(found.slope(place).length() < 1e-9, "{place}");
        assert!(disc().all(|p| found.at(p) >= found.at(place)));
        // A valley is followed across and not along; what bends down has no lowest place; steps are no quadric.
        let valley = Quadric([0.0, 0.02, 0.5, 0.04, 0.0, 0.0]).lowest().expect("across");
        assert!((valley - DVec2::new(-0.5, 0.0)).length() < 1e-9, "{valley}");
        assert_eq!(Quadric([0.0, 0.0, 0.0, 0.05, 0.0, 0.05]).radius(), Some(20.0));
        assert_eq!(Quadric([0.0, 0.0, 0.0, 0.05, 0.0, 0.0]).radius(), None, "a rod");
        assert_eq!(Quadric([0.0, 0.0, 0.0, -0.1, 0.0, -0.1]).lowest(), None);
        let far = Quadric([0.0, 0.5, 0.0, 0.1, 0.0, 0.1]).lowest().expect("five cells away");
        assert!((far - DVec2::new(-5.0, 0.0)).length() < 1e-9, "{far}");
        assert_eq!(Quadric::fit(disc().map(|p| (p, f64::from(p.x > 0.0)))), None);
    }
}
