//! Distances of points to a piece's crack faces, for masks of worn or dusty edges.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    PieceMesh, Side,
    tree::{Tagged, TriangleTree},
};

/// A piece's crack faces, searchable by distance.
#[derive(Default)]
pub struct CrackDistance(TriangleTree);

impl CrackDistance {
    /// The crack faces of `mesh`.
    pub fn of(mesh: &PieceMesh) -> Self {
        let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
        let corners = inside.map(|(t, _)| t.map(|i| mesh.positions[i as usize]));
        Self(TriangleTree::new(corners.map(|corners| Tagged { corners, tag: 0 }).collect()))
    }

    /// The distance of each point; -1 if there is no crack face.
    pub fn of_points(&self, points: &[DVec3]) -> Vec<f32> {
        let of_point = |p: &DVec3| self.0.nearest(*p, f64::INFINITY, |_| true);
        points.par_iter().map(|p| of_point(p).map_or(-1.0, |(squared, _)| squared.sqrt() as f32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        geometry::triangle::distance_squared,
        meshes::{Corner, Face},
    };
    use glam::Vec3;

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
        let triangles: Vec<[u32; 3]> =
            (0..count).map(|i| [i, (i * 3 + 1) % count, (i * 5 + 2) % count]).collect();
        let face = |i: usize| Face {
            side: if i.is_multiple_of(3) { Side::Outside { material: 0 } } else { Side::Inside },
            beyond: None,
        };
        let corner = Corner { normal: Vec3::Y, color: [0; 3], uv: [0.0; 2] };
        let mesh = PieceMesh {
            positions: (0..count).map(at).collect(),
            faces: (0..triangles.len()).map(face).collect(),
            corners: vec![[corner; 3]; triangles.len()],
            triangles,
        };
        let tree = CrackDistance::of(&mesh);
        let points: Vec<DVec3> = (1000..1100).map(|i| at(i) * 2.0 - 0.5).collect();
        for (p, found) in points.iter().zip(tree.of_points(&points)) {
            let all = tree
                .0
                .triangles()
                .iter()
                .map(|t| distance_squared(*p, t.corners))
                .fold(f64::INFINITY, f64::min);
            assert_eq!(found, all.sqrt() as f32);
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
