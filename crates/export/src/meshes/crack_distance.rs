//! Distances of points to a piece's crack faces, for masks of worn or dusty edges.
//!
//! In: a piece's mesh. Out: the distance of each point from the nearest crack face. Faces stand in a tree of boxes; long
//! ones have a box for each of their parts, since a flat crack with a fine border consists of slivers whose boxes would
//! all hold each other.

use glam::DVec3;
use rayon::prelude::*;

use super::{PieceMesh, Side};
use crate::{
    geometry::{Aabb, BoxTree, triangle::distance_squared},
    svo::morton,
};

/// Boxes are ruled out only if they are farther by this share of the largest coordinate, which is far more than the
/// rounding of a distance: what is found is then the same whichever point was visited before.
const SLACK: f64 = 1e-5;
/// Places along the longest side by which points are ordered.
const PLACES: u32 = 1023;
/// Points of a run, whose first one is searched for in the whole tree.
const RUN: usize = 512;
/// Largest number of parts in a leaf of the tree.
const LEAF: usize = 8;
/// Parts of a face are no longer than this share of the diagonal of all.
const LONGEST: f64 = 1.0 / 64.0;
/// Halvings of a face at most, one after the other.
const HALVINGS: u32 = 9;

/// A part of a crack face.
struct Part {
    bounds: Aabb,
    /// Of the whole face.
    corners: [DVec3; 3],
}

/// A piece's crack faces, searchable by distance.
#[derive(Default)]
pub struct CrackDistance(BoxTree<Part>);

impl CrackDistance {
    /// The crack faces of `mesh`.
    pub fn of(mesh: &PieceMesh) -> Self {
        let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
        let faces: Vec<[DVec3; 3]> = inside.map(|(t, _)| t.map(|i| mesh.positions[i as usize])).collect();
        let whole = Aabb::of(faces.iter().flatten().copied());
        let longest = LONGEST * whole.size().length();
        let mut parts = Vec::with_capacity(faces.len());
        for corners in faces {
            halve(corners, longest, HALVINGS, &mut |part| {
                parts.push(Part { bounds: Aabb::of(part), corners })
            });
        }
        let part = |run: &mut [Part], size: DVec3| {
            let axis = size.max_position();
            let middle = |part: &Part| part.bounds.low[axis] + part.bounds.high[axis];
            run.select_nth_unstable_by(run.len() / 2, |a, b| middle(a).total_cmp(&middle(b)));
        };
        Self(BoxTree::new(parts, LEAF, |part| part.bounds, part))
    }

    /// The distance of each point; -1 if there is no crack face.
    ///
    /// Points are visited along a curve through space: a point is no farther than the one before it and the way between
    /// both, which rules out most of the tree at once.
    pub fn of_points(&self, points: &[DVec3]) -> Vec<f32> {
        let mut distances = vec![-1.0; points.len()];
        let Some(bounds) = self.0.bounds() else { return distances };
        let bounds = points.iter().copied().fold(bounds, Aabb::with);
        let slack = SLACK * bounds.low.abs().max(bounds.high.abs()).max_element();
        let per_length = f64::from(PLACES) / bounds.size().max_element().max(f64::MIN_POSITIVE);
        let code = |p: DVec3| morton::encode(((p - bounds.low) * per_length).as_uvec3().to_array());
        let mut order: Vec<(u64, u32)> =
            (0..points.len() as u32).into_par_iter().map(|i| (code(points[i as usize]), i)).collect();
        order.par_sort_unstable();
        let found: Vec<(u32, f32)> = order
            .par_chunks(RUN)
            .flat_map_iter(|run| {
                let mut last: Option<(DVec3, f64)> = None;
                run.iter().map(move |(_, i)| {
                    let p = points[*i as usize];
                    let within = last.map_or(f64::INFINITY, |(q, far)| far + p.distance(q) + slack);
                    let far = self.least(p, within, slack);
                    let far = far.or_else(|| self.least(p, f64::INFINITY, slack));
                    last = far.map(|far| (p, far));
                    (*i, far.map_or(-1.0, |far| far as f32))
                })
            })
            .collect();
        for (i, far) in found {
            distances[i as usize] = far;
        }
        distances
    }

    /// The distance of the nearest face, if it is below `within`. Faces whose boxes are farther than the nearest known
    /// one by more than `slack` are not measured.
    fn least(&self, p: DVec3, within: f64, slack: f64) -> Option<f64> {
        let mut reach = within * within;
        let found = self.0.nearest(p, reach, |_, part| {
            let Aabb { low, high } = part.bounds;
            if (low - p).max(p - high).max(DVec3::ZERO).length_squared() > reach {
                return None;
            }
            let squared = distance_squared(p, part.corners);
            if squared < reach {
                let beyond = squared.sqrt() + slack;
                reach = reach.min(beyond * beyond);
            }
            Some((squared, ()))
        });
        found.map(|(squared, ())| squared.sqrt())
    }
}

/// Calls `made` with triangles that together are the face, each with sides of at most `longest`, unless it takes more
/// halvings.
fn halve(corners: [DVec3; 3], longest: f64, halvings: u32, made: &mut impl FnMut([DVec3; 3])) {
    let length = |k: usize| corners[k].distance_squared(corners[(k + 1) % 3]);
    let k = (0..3).max_by(|a, b| length(*a).total_cmp(&length(*b))).unwrap_or_default();
    if halvings == 0 || length(k) <= longest * longest {
        return made(corners);
    }
    let [a, b, c] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
    let middle = (a + b) / 2.0;
    halve([a, middle, c], longest, halvings - 1, made);
    halve([middle, b, c], longest, halvings - 1, made);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meshes::{Corner, Face};
    use glam::Vec3;

    /// A mesh of these triangles, of which one in three is outside.
    fn mesh_of(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> PieceMesh {
        let face = |i: usize| Face {
            side: if i.is_multiple_of(3) { Side::Outside { material: 0 } } else { Side::Inside },
            beyond: None,
        };
        let corner = Corner { normal: Vec3::Y, color: [0; 3], uv: [0.0; 2], uv2: [0.0; 2] };
        PieceMesh {
            positions,
            faces: (0..triangles.len()).map(face).collect(),
            corners: vec![[corner; 3]; triangles.len()],
            triangles,
        }
    }

    #[test]
    fn the_tree_finds_what_all_triangles_give() {
        let at = |i: u32| {
            let v = |k: u32| {
                let mixed = (i * 3 + k).wrapping_mul(2_654_435_761);
                f64::from((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 24)
            };
            DVec3::new(v(0), v(1), v(2))
        };
        let count = 300;
        let crossing: Vec<[u32; 3]> =
            (0..count).map(|i| [i, (i * 3 + 1) % count, (i * 5 + 2) % count]).collect();
        // A flat crack of slivers that end in one corner, as a fine border gives.
        let fan: Vec<[u32; 3]> = (1..count - 1).map(|i| [0, i, i + 1]).collect();
        let border = |i: u32| {
            let turn = f64::from(i) / f64::from(count) * std::f64::consts::TAU;
            DVec3::new(0.5 + 0.4 * turn.cos(), 0.5 + 0.3 * turn.sin(), 0.5)
        };
        for (positions, triangles) in
            [((0..count).map(at).collect(), crossing), ((0..count).map(border).collect(), fan)]
        {
            let mesh = mesh_of(positions, triangles);
            let faces = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
            let faces: Vec<_> = faces.map(|(t, _)| t.map(|i| mesh.positions[i as usize])).collect();
            let points: Vec<DVec3> = (1000..1100).map(|i| at(i) * 2.0 - 0.5).collect();
            let tree = CrackDistance::of(&mesh);
            assert!(tree.0.items().len() > 2 * faces.len(), "long faces have several boxes");
            for (p, found) in points.iter().zip(tree.of_points(&points)) {
                let all = faces.iter().map(|t| distance_squared(*p, *t)).fold(f64::INFINITY, f64::min);
                assert_eq!(found, all.sqrt() as f32);
            }
        }
        let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for (p, wanted) in [
            (DVec3::new(0.2, 0.2, 3.0), 3.0),
            (DVec3::new(-3.0, 0.5, 4.0), 5.0),
            (DVec3::new(0.5, -2.0, 0.0), 2.0),
            (DVec3::new(2.0, 0.0, 0.0), 1.0),
        ] {
            assert!((distance_squared(p, triangle).sqrt() - wanted).abs() < 1e-12, "{p}");
        }
        let sliver = [DVec3::ZERO, DVec3::splat(0.1), DVec3::splat(0.3)];
        assert!((distance_squared(DVec3::splat(1.3), sliver).sqrt() - 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(CrackDistance::default().of_points(&[DVec3::ZERO]), [-1.0]);
    }
}
