//! What the surface of an object shows, for meshes that are made of its voxels: materials, texture coordinates and colours of
//! vertices of the nearest place of the object's own triangles.
//!
//! In: the object's mesh, and the smooth mesh of a piece. Out: the same mesh with materials and coordinates outside. A
//! chart is a run of triangles without a seam between their coordinates. All corners of a triangle have the coordinates
//! of the chart under its middle, so that no triangle spans a seam.

use glam::DVec3;
use rayon::prelude::*;

use super::{Corner, PieceMesh, Side};
use crate::{
    geometry::{Aabb, UnionFind, srgb, triangle},
    mesh::Mesh,
    shape::MeshTree,
};

/// How much farther a triangle counts that faces away: a thin wall has its other side nearer than half a voxel.
const AWAY: f64 = 4.0;

/// The surface of an object, to be asked for what it shows.
#[derive(Clone, Debug)]
pub struct Dress {
    surface: PieceMesh,
    /// The chart of each triangle.
    charts: Vec<u32>,
    tree: MeshTree,
    /// Whether the object has colours of vertices: voxels have their product with textures.
    is_painted: bool,
}

/// What a triangle shows: its material, and both sets of texture coordinates and the colours of its corners.
type Shown = (u32, [([[f32; 2]; 2], [u8; 3]); 3]);

impl Dress {
    /// The surface of `mesh`, with `scale` units of shape space per unit of the mesh; `None` if it shows no more than
    /// colours, which voxels have as well.
    #[must_use]
    pub fn of(mesh: &Mesh, scale: f64) -> Option<Self> {
        let is_textured = mesh.materials.iter().any(|material| material.texture.is_some());
        if mesh.uvs.is_empty() && mesh.materials.len() < 2 && !is_textured {
            return None;
        }
        let surface = PieceMesh::of_mesh(mesh, scale, [0; 3]);
        let bounds = Aabb::of(surface.positions.iter().copied());
        let tree = MeshTree::new(&surface.positions, &surface.triangles, bounds);
        let is_painted = mesh.colors.len() == mesh.positions.len();
        (!tree.nodes.is_empty()).then(|| Self { charts: charts(&surface), surface, tree, is_painted })
    }

    /// Gives the outside of `mesh` (shape space) the materials and texture coordinates of this surface, and its colours of
    /// vertices if it has some.
    pub fn put_on(&self, mesh: &mut PieceMesh) {
        let shown: Vec<Option<Shown>> = mesh
            .triangles
            .par_iter()
            .zip(&mesh.faces)
            .map(|(corners, face)| {
                let at = corners.map(|v| mesh.positions[v as usize]);
                (!face.side.is_crack()).then(|| self.shown(at))
            })
            .collect();
        for (t, (material, all)) in shown.into_iter().enumerate().filter_map(|(t, shown)| Some((t, shown?))) {
            mesh.faces[t].side = Side::Outside { material };
            for (corner, ([uv, uv2], color)) in mesh.corners[t].iter_mut().zip(all) {
                (corner.uv, corner.uv2) = (uv, uv2);
                if self.is_painted {
                    corner.color = color;
                }
            }
        }
    }

    /// What a triangle near this surface shows.
    fn shown(&self, at: [DVec3; 3]) -> Shown {
        let [a, b, c] = at;
        let front = (b - a).cross(c - a);
        let under = self.nearest((a + b + c) / 3.0, front, None);
        let material = match self.surface.faces[under as usize].side {
            Side::Outside { material } => material,
            Side::Inside | Side::Later(_) => 0,
        };
        let chart = self.charts[under as usize];
        let all = at.map(|p| {
            let t = self.nearest(p, front, Some(chart)) as usize;
            let corners = self.corners(t as u32);
            let shares = triangle::shares(corners, triangle::nearest(p, corners).0);
            let own = &self.surface.corners[t];
            let mixed = |of: &dyn Fn(usize) -> f64| (0..3).map(|i| shares[i] * of(i)).sum::<f64>();
            let set =
                |of: fn(&Corner) -> [f32; 2]| [0, 1].map(|k| mixed(&|i| f64::from(of(&own[i])[k])) as f32);
            let color = srgb::mixed(own.map(|corner| corner.color), shares);
            ([set(|corner| corner.uv), set(|corner| corner.uv2)], color)
        });
        (material, all)
    }

    fn corners(&self, t: u32) -> [DVec3; 3] {
        self.surface.triangles[t as usize].map(|v| self.surface.positions[v as usize])
    }

    /// The triangle nearest to a place, of one chart or of all; of equally near ones the first. Those that face away from
    /// `front` count as farther.
    fn nearest(&self, place: DVec3, front: DVec3, chart: Option<u32>) -> u32 {
        let far = |t: u32| {
            if chart.is_some_and(|chart| chart != self.charts[t as usize]) {
                return f64::INFINITY;
            }
            let corners = self.corners(t);
            let [a, b, c] = corners;
            let faces_away = (b - a).cross(c - a).dot(front) < 0.0;
            triangle::distance(place, corners) * if faces_away { AWAY } else { 1.0 }
        };
        self.tree.nearest(place, far).map_or(0, |(_, triangle)| triangle)
    }
}

/// Numbers of the charts of a surface's triangles: two that share a place with the same coordinates and the same material
/// are of one.
fn charts(surface: &PieceMesh) -> Vec<u32> {
    let corner = |(t, k): (usize, usize)| {
        let place = surface.positions[surface.triangles[t][k] as usize];
        let material = match surface.faces[t].side {
            Side::Outside { material } => material,
            Side::Inside | Side::Later(_) => u32::MAX,
        };
        // Adding zero turns -0 into 0.
        let place = place.to_array().map(|v| (v + 0.0).to_bits());
        let Corner { uv, uv2, .. } = surface.corners[t][k];
        (place, [uv, uv2].map(|uv| uv.map(|v| (v + 0.0).to_bits())), material, t as u32)
    };
    let mut all: Vec<_> = (0..surface.triangles.len())
        .into_par_iter()
        .flat_map_iter(|t| (0..3).map(move |k| (t, k)))
        .map(corner)
        .collect();
    all.par_sort_unstable();
    let mut sets = UnionFind::new(surface.triangles.len());
    for pair in all.windows(2) {
        let ([p, q], [t, n]) = ([&pair[0], &pair[1]], [pair[0].3, pair[1].3]);
        if (p.0, p.1, p.2) == (q.0, q.1, q.2) {
            sets.join(t, n);
        }
    }
    (0..surface.triangles.len() as u32).map(|t| sets.find(t)).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::smooth, *};
    use crate::{import::import, mesh::Material, voxelize::Progress};

    /// A box with a chart for each half: coordinates are linear in the place, and jump by 10 at the middle.
    #[test]
    fn a_smooth_box_shows_what_the_box_shows() {
        let object = import("builtin:box", 5, &Progress::default()).unwrap();
        let octree = object.shape.as_octree().unwrap();
        let middle = object.bounds.middle().y as f32;
        let own = &object.mesh;
        let mut mesh = Mesh::default();
        for t in &own.triangles {
            let at = t.map(|i| own.positions[i as usize]);
            let high = at.iter().map(|p| p[1]).sum::<f32>() / 3.0 > middle;
            let first = mesh.positions.len() as u32;
            mesh.positions.extend(at);
            mesh.uvs.extend(at.map(|p| [p[0] + 0.5 * p[2], p[1] + if high { 10.0 } else { 0.0 }]));
            mesh.triangles.push([first, first + 1, first + 2]);
            mesh.triangle_material.push(u32::from(high));
        }
        mesh.materials = vec![Material { color: [9; 3], ..Material::default() }; 2];
        let dress = Dress::of(&mesh, 1.0).unwrap();
        assert_eq!(dress.charts.iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
        let mut piece = smooth(octree);
        dress.put_on(&mut piece);
        let h = octree.grid.h as f32;
        for ((triangle, corners), face) in piece.triangles.iter().zip(&piece.corners).zip(&piece.faces) {
            let Side::Outside { material } = face.side else { panic!("no cracks") };
            for (v, corner) in triangle.iter().zip(corners) {
                let p = piece.positions[*v as usize].as_vec3();
                let wanted = [p.x + 0.5 * p.z, p.y + 10.0 * material as f32];
                let off = [0, 1].map(|k| (corner.uv[k] - wanted[k]).abs());
                assert!(off[0] < h && off[1] < 2.0 * h, "{corner:?} at {p}, material {material}");
            }
        }
        let of = |material: u32| Side::Outside { material };
        assert!(piece.faces.iter().any(|f| f.side == of(0)) && piece.faces.iter().any(|f| f.side == of(1)));
        assert!(Dress::of(own, 1.0).is_none(), "colours alone are in the voxels");
        // Of a painted object, colours of vertices and the material's, without the texture that voxels have, too.
        mesh.colors = vec![[200, 100, 50]; mesh.positions.len()];
        mesh.materials = vec![Material { color: [255, 51, 255], ..Material::default() }; 2];
        Dress::of(&mesh, 1.0).unwrap().put_on(&mut piece);
        assert!(piece.corners.iter().flatten().all(|corner| corner.color == [200, 20, 50]));
    }
}
