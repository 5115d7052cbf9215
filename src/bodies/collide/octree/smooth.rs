//! Where two smooth surfaces touch.
//!
//! In: a contact of two surfels, and what they are samples of. Out: the place where the two surfaces are nearest. A
//! quadric is fitted to the samples round either surfel, by least squares over their positions: normals of leaves are
//! those of the mesh's facets, and ten times as far off. So a ball that meets a ball is held at one point, on the line
//! through both centres, and not at some points of a ring round it.

use super::{
    cells::{Cell, first_of_level, look_up},
    surfels::Surfels,
};
use crate::{
    bodies::{Body, Plane, collide::Ball},
    svo::morton,
};
use glam::{DMat4, DVec2, DVec3, IVec3, Vec3};

/// Samples within so many cells of the surfel, across its normal, make the quadric: `docs/lab/contact-geometry.md` says
/// how far off others are.
const PATCH_CELLS: i32 = 4;
/// The surface is smooth where samples leave the quadric by no more than this, cells, root mean square.
const SMOOTH_CELLS: f64 = 0.06;
/// Surfaces part along a direction in which their gap bends by at least this, 1 over cells.
const PARTS: f64 = 0.015;
/// And of a ball where its bends in different directions differ by no more than this share, up and down from their mean.
const UNLIKE: f64 = 0.15;
/// The nearest place is no farther from the contact than this, cells.
const WAY_CELLS: f64 = 3.0;
/// Surfaces whose normals agree this well at the ends of the patch are flat.
const FLAT: f32 = 0.9995;
/// And they are no patch of one surface where they agree less than this.
const ONE_SURFACE: f32 = 0.6;

/// One side of a contact: a body's samples at a level.
pub struct Side<'a> {
    /// The body.
    pub body: &'a Body,
    /// The level.
    pub level: u32,
    /// Its samples there.
    pub surfels: &'a Surfels,
    /// From cells of the level to the world, m.
    pub to_world: DMat4,
}

/// A contact, world, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Where.
    pub position: DVec3,
    /// From the second side to the first, unit.
    pub normal: DVec3,
    /// Negative where they overlap.
    pub separation: f64,
}

/// The contact of surfels `at` of two sides, where their surfaces are nearest; `cell` is the edge of the larger cells, m.
/// Bodies that are still apart are taken where they will be when they touch, but no farther on than `way`, m: what flies
/// past while it comes closer touches elsewhere. None where either is not smooth, both are flat, or the nearest place is
/// elsewhere.
#[must_use]
pub fn nearest(sides: [&Side<'_>; 2], at: [usize; 2], touch: Touch, cell: f64, way: f64) -> Option<Touch> {
    if [0, 1].iter().all(|&s| sides[s].is_flat(at[s])) {
        return None;
    }
    // A quadric is best in the middle of its patch: the second time that is where the first found the place.
    let first = nearest_to(sides, at, touch, DVec3::ZERO, cell)?;
    let [a, b] = sides.map(|side| side.speed(first.position));
    let ahead = match (a - b, (b - a).dot(first.normal)) {
        (speed, closing) if closing > 0.0 && first.separation > 0.0 => {
            (speed * (first.separation / closing)).clamp_length_max(way)
        }
        _ => DVec3::ZERO,
    };
    let beside = ahead.reject_from_normalized(first.normal) * 0.5;
    let at = [(0, -beside), (1, beside)].map(|(s, aside)| sides[s].at(at[s], first.position + aside));
    let second = || nearest_to(sides, [at[0]?, at[1]?], first, ahead, cell);
    let Some(touch) = second() else { return Some(first) };
    // Where both anchors are now, so that they have that place between them then.
    let position = touch.position - ahead * 0.5;
    Some(Touch { position, separation: touch.separation - ahead.dot(touch.normal), ..touch })
}

/// The ball that the surface round surfel `at` of a body, at `place`, is part of, and where it is lowest over the plane;
/// `cell` is the edge of a cell; world, m. None where the surface is no part of a ball, or is lowest elsewhere.
#[must_use]
pub fn ball_over(
    side: &Side<'_>,
    at: usize,
    plane: &Plane,
    place: DVec3,
    cell: f64,
) -> Option<(DVec3, Ball)> {
    if side.is_flat(at) {
        return None;
    }
    let up = plane.normal;
    let (first, _) = side.lowest_of_patch(at, up, place, cell)?;
    let (lowest, radius) = side.lowest_of_patch(side.at(at, first)?, up, first, cell)?;
    let state = &side.body.state;
    let centre = state.rotation.inverse() * (lowest + up * radius - state.position);
    Some((lowest, Ball { centre, radius }))
}

/// The same by the patches round these surfels, were the first side `ahead`.
fn nearest_to(sides: [&Side<'_>; 2], at: [usize; 2], touch: Touch, ahead: DVec3, cell: f64) -> Option<Touch> {
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
    let [a, b] = heights;
    let gap = a.minus(&b);
    let place = gap.lowest()?;
    let slope = (a.slope(place) + b.slope(place)) * 0.5;
    let normal = (touch.normal - t * slope.x - u * slope.y).try_normalize()?;
    let middle = (a.at(place) + b.at(place)) * 0.5;
    let position = touch.position + (t * place.x + u * place.y + touch.normal * middle) * cell;
    Some(Touch { position, normal, separation: gap.at(place) * cell * normal.dot(touch.normal) })
}

impl Side<'_> {
    /// How fast the body moves at `place`, m/s.
    fn speed(&self, place: DVec3) -> DVec3 {
        let state = &self.body.state;
        state.linear_velocity + state.angular_velocity.cross(place - state.position)
    }

    /// The lowest place along `up` of the quadric round surfel `i`, near `place`, and its radius; world, m.
    fn lowest_of_patch(&self, i: usize, up: DVec3, place: DVec3, cell: f64) -> Option<(DVec3, f64)> {
        let (t, u) = up.any_orthonormal_pair();
        let samples = self.patch(i)?;
        let quadric = Quadric::fit(samples.iter().map(|p| {
            let r = *p - place;
            (DVec2::new(r.dot(t), r.dot(u)) / cell, r.dot(up) / cell)
        }))?;
        let (lowest, radius) = (quadric.lowest()?, quadric.radius()?);
        let lowest = place + (t * lowest.x + u * lowest.y + up * quadric.at(lowest)) * cell;
        Some((lowest, radius * cell))
    }

    /// The surfel at `place` (world, m) of the surface round surfel `i`.
    fn at(&self, i: usize, place: DVec3) -> Option<usize> {
        let from = Vec3::from(self.surfels.items.get(i)?.centre);
        let way = (self.to_world.inverse().transform_point3(place).as_vec3() - from).round();
        let axis = steepest(*self.surfels.normals.get(i)?);
        self.beside(i, [way[(axis + 1) % 3] as i32, way[(axis + 2) % 3] as i32])
    }

    /// The surfel nearest to the plane of surfel `i`, so many cells aside along two axes of the grid across its normal.
    fn beside(&self, i: usize, aside: [i32; 2]) -> Option<usize> {
        let octree = self.body.def.octree();
        let (forest, first) = (&octree.forest, first_of_level(&octree.forest, self.level));
        let leaf = *self.surfels.leaf_start.get(i)? as usize;
        let key = forest.leaves.keys.at(leaf) >> (3 * (forest.level - self.level));
        let mut cell = morton::decode(key).map(|v| v as i32);
        let n = *self.surfels.normals.get(i)?;
        let axis = steepest(n);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let rise = -(n[u] * aside[0] as f32 + n[v] * aside[1] as f32) / n[axis];
        cell[u] += aside[0];
        cell[v] += aside[1];
        cell[axis] += rise.round() as i32;
        [0, -1, 1, -2, 2].into_iter().find_map(|k| {
            let mut cell = cell;
            cell[axis] += k;
            match look_up(forest, octree.tree, self.level, IVec3::from(cell)) {
                Cell::Surface(node) => Some((node - first) as usize),
                Cell::Empty | Cell::Inside => None,
            }
        })
    }

    /// Whether the surface goes on in the plane of surfel `i` as far as a patch reaches.
    fn is_flat(&self, i: usize) -> bool {
        let ends = [[PATCH_CELLS, 0], [-PATCH_CELLS, 0], [0, PATCH_CELLS], [0, -PATCH_CELLS]];
        let normals = &self.surfels.normals;
        ends.into_iter()
            .filter_map(|aside| self.beside(i, aside))
            .all(|end| normals[end].dot(normals[i]) > FLAT)
    }

    /// Samples round surfel `i`, world, m. None where the surface ends or has an edge among them.
    fn patch(&self, i: usize) -> Option<Vec<DVec3>> {
        let r = PATCH_CELLS;
        let disc = (-r..=r).flat_map(|x| (-r..=r).map(move |y| [x, y]));
        let sample = |aside: [i32; 2]| {
            let k = self.beside(i, aside)?;
            let surfel = &self.surfels.items[k];
            let of_one = self.surfels.normals[k].dot(self.surfels.normals[i]) > ONE_SURFACE;
            let smooth = of_one && !surfel.is_sharp() && surfel.thickness == 0.0;
            smooth.then(|| self.to_world.transform_point3(Vec3::from(surfel.centre).as_dvec3()))
        };
        disc.filter(|[x, y]| x * x + y * y <= r * r).map(sample).collect()
    }
}

/// The axis that a normal follows most.
fn steepest(normal: Vec3) -> usize {
    let size = normal.abs();
    [0, 1, 2].into_iter().fold(0, |best, k| if size[k] > size[best] { k } else { best })
}

/// `c0 + c1 x + c2 y + c3 x^2 / 2 + c4 x y + c5 y^2 / 2`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Quadric([f64; 6]);

impl Quadric {
    fn terms(p: DVec2) -> [f64; 6] {
        [1.0, p.x, p.y, 0.5 * p.x * p.x, p.x * p.y, 0.5 * p.y * p.y]
    }

    /// By least squares; none where the heights are no quadric's.
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

    /// Of the ball that it is part of, where it bends the same in all directions.
    fn radius(&self) -> Option<f64> {
        let (a, b, c) = (self.0[3], self.0[4], self.0[5]);
        let (middle, half) = (0.5 * (a + c), (0.25 * (a - c).powi(2) + b * b).sqrt());
        (half <= UNLIKE * middle).then(|| middle.recip())
    }

    /// Where it is least, along the directions in which it bends enough. None where there is none, or it is far.
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
        (parts && place.length() <= WAY_CELLS).then_some(place)
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
        assert_eq!(Quadric([0.0, 0.5, 0.0, 0.1, 0.0, 0.1]).lowest(), None, "five cells away");
        assert_eq!(Quadric::fit(disc().map(|p| (p, f64::from(p.x > 0.0)))), None);
    }
}
