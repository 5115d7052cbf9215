//! Lines that show where closed surfaces lie.
//!
//! In: surfaces. Out: pairs of points: the edges at which two triangles meet at an angle, and where a surface is round its
//! sections by planes across the axes.

use glam::DVec3;

use crate::{geometry::Aabb, shape::PieceMesh};

/// Most lines of all surfaces.
const MOST: usize = 20_000;
/// Cosine of 25 degrees: triangles that meet at more have a line between them.
const SHARP: f64 = 0.906_308;
/// The same of less than a tenth of a degree: there is no line.
const FLAT: f64 = 1.0 - 1e-6;
/// A surface is round that has fewer sharp edges than one among this many bent ones.
const FEW: usize = 20;
/// Sections of a round surface across each axis.
const SECTIONS: u32 = 6;

/// Lines that show `surfaces`, in their space.
#[must_use]
pub fn outlines(surfaces: &[PieceMesh]) -> Vec<[DVec3; 2]> {
    let all: Vec<[DVec3; 2]> = surfaces.iter().flat_map(of_one).collect();
    let step = all.len().div_ceil(MOST).max(1);
    all.into_iter().step_by(step).collect()
}

fn of_one(surface: &PieceMesh) -> Vec<[DVec3; 2]> {
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * surface.triangles.len());
    for (t, [a, b, c]) in (0u32..).zip(&surface.triangles) {
        sides.extend([[a, b], [b, c], [c, a]].map(|[a, b]| ([*a.min(b), *a.max(b)], t)));
    }
    sides.sort_unstable();
    let normal = |t: u32| {
        let [a, b, c] = surface.triangles[t as usize].map(|i| surface.positions[i as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    };
    let (mut sharp, mut bent) = (Vec::new(), 0);
    for group in sides.chunk_by(|a, b| a.0 == b.0) {
        let ends = group[0].0.map(|i| surface.positions[i as usize]);
        let turn = match group {
            [(_, one), (_, other)] => normal(*one).dot(normal(*other)),
            _ => -1.0,
        };
        if turn < SHARP {
            sharp.push(ends);
        } else if turn < FLAT {
            bent += 1;
        }
    }
    if sharp.len() * FEW < bent {
        sharp.extend(sections(surface));
    }
    sharp
}

/// Lines of the surface in planes across the axes, at the middles of equal parts of its box.
fn sections(surface: &PieceMesh) -> Vec<[DVec3; 2]> {
    let bounds = Aabb::of(surface.positions.iter().copied());
    let mut lines = Vec::new();
    for axis in 0..3 {
        let part = bounds.size()[axis] / f64::from(SECTIONS);
        for corners in surface.triangles.iter().map(|t| t.map(|i| surface.positions[i as usize])) {
            let [a, b, c] = corners.map(|p| (p[axis] - bounds.low[axis]) / part - 0.5);
            let (low, high) = (a.min(b).min(c).ceil(), a.max(b).max(c));
            for plane in (0..SECTIONS).map(f64::from).filter(|k| low <= *k && *k < high) {
                let crossing = |k: usize| {
                    let (from, to) = ([a, b, c][k] - plane, [a, b, c][(k + 1) % 3] - plane);
                    ((from < 0.0) != (to < 0.0))
                        .then(|| corners[k].lerp(corners[(k + 1) % 3], from / (from - to)))
                };
                let mut ends = (0..3).filter_map(crossing);
                lines.extend(ends.next().zip(ends.next()).map(|(from, to)| [from, to]));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::builtin;

    #[test]
    fn a_box_has_twelve_lines_and_a_ball_has_circles() {
        let surface = |name: &str| PieceMesh::imported(&builtin(name).unwrap(), 1.0).unwrap();
        let block = surface("box");
        let lines = outlines(std::slice::from_ref(&block));
        let length: f64 = lines.iter().map(|[a, b]| a.distance(*b)).sum();
        let size = Aabb::of(block.positions.iter().copied()).size();
        assert!((length - 4.0 * (size.x + size.y + size.z)).abs() < 1e-6 * length, "{length}");
        let round = surface("sphere");
        let ball = outlines(std::slice::from_ref(&round));
        let radius = 0.5 * Aabb::of(round.positions.iter().copied()).size().x;
        // Planes at odd twelfths of the diameter.
        let circle = |k: u32| (1.0 - ((2.0 * f64::from(k) + 1.0) / f64::from(SECTIONS) - 1.0).powi(2)).sqrt();
        let wanted = 3.0 * std::f64::consts::TAU * radius * (0..SECTIONS).map(circle).sum::<f64>();
        let length: f64 = ball.iter().map(|[a, b]| a.distance(*b)).sum();
        assert!(ball.len() < MOST && (length / wanted - 1.0).abs() < 0.02, "{length} of {wanted}");
        assert_eq!(outlines(&[block.clone(), block]).len(), 2 * lines.len());
        assert!(outlines(&[]).is_empty());
    }
}
