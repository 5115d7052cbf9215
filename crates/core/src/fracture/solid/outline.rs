//! Lines that show where closed surfaces lie.
//!
//! In: surfaces. Out: their edges, as pairs of points: those at which two triangles meet at an angle, and where a surface
//! is round the edges of its triangles, thinned out.

use glam::DVec3;

use crate::shape::PieceMesh;

/// Most lines of all surfaces.
const MOST: usize = 20_000;
/// Cosine of 25 degrees: triangles that meet at more have a line between them.
const SHARP: f64 = 0.906_308;
/// The same of less than a tenth of a degree: there is no line.
const FLAT: f64 = 1.0 - 1e-6;
/// A surface is round that has fewer sharp edges than one among this many bent ones.
const FEW: usize = 20;
/// Most lines of a round surface.
const MOST_ROUND: usize = 2_000;

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
    let (mut sharp, mut bent) = (Vec::new(), Vec::new());
    for group in sides.chunk_by(|a, b| a.0 == b.0) {
        let ends = group[0].0.map(|i| surface.positions[i as usize]);
        let turn = match group {
            [(_, one), (_, other)] => normal(*one).dot(normal(*other)),
            _ => -1.0,
        };
        if turn < SHARP {
            sharp.push(ends);
        } else if turn < FLAT {
            bent.push(ends);
        }
    }
    if sharp.len() * FEW < bent.len() {
        let step = bent.len().div_ceil(MOST_ROUND);
        sharp.extend(bent.into_iter().step_by(step));
    }
    sharp
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::builtin;

    #[test]
    fn a_box_has_twelve_lines_and_a_ball_has_some() {
        let surface = |name: &str| PieceMesh::imported(&builtin(name).unwrap(), 1.0).unwrap();
        let block = surface("box");
        let lines = outlines(std::slice::from_ref(&block));
        let length: f64 = lines.iter().map(|[a, b]| a.distance(*b)).sum();
        let size = crate::geometry::Aabb::of(block.positions.iter().copied()).size();
        assert!((length - 4.0 * (size.x + size.y + size.z)).abs() < 1e-6 * length, "{length}");
        let ball = outlines(&[surface("sphere")]);
        assert!((100..=MOST).contains(&ball.len()), "{}", ball.len());
        assert_eq!(outlines(&[block.clone(), block]).len(), 2 * lines.len());
        assert!(outlines(&[]).is_empty());
    }
}
