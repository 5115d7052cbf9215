//! Crumbs: pieces of voxels with almost no solid in them.
//!
//! In: an octree. Out: whether it is a crumb, and a box in its place. A smooth mesh keeps all voxels of a thin piece, so that
//! of a crumb would enclose up to a hundred times the solid that the piece has.

use glam::DVec3;

use super::{Corner, Face, PieceMesh, Side, world_uv};
use crate::shape::Octree;

/// A crumb has less solid than this, voxels,
const MOST: f64 = 1.0;
/// and less than this share of the voxels that it lies in.
const MOST_SHARE: f64 = 0.125;
/// and no more voxels than this: what lies in more is part of a sheet without thickness, whose shape says more than its volume.
const MOST_VOXELS: f64 = 64.0;

/// Whether a piece is a crumb.
#[must_use]
pub fn is_crumb(octree: &Octree) -> bool {
    let (volume, voxels) = (octree.mass.volume, octree.mass.voxels as f64);
    volume > 0.0 && volume < MOST && volume < MOST_SHARE * voxels && voxels <= MOST_VOXELS
}

/// A box of the piece's volume and centre of mass, with the proportions of its voxels' bounds, shape space. All of it is
/// inside.
#[must_use]
pub fn crumb(octree: &Octree) -> PieceMesh {
    const SIDES: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let (mass, grid) = (&octree.mass, &octree.grid);
    let size = mass.bounds.high - mass.bounds.low;
    let half = size * (0.5 * libm::cbrt(mass.volume / (size.x * size.y * size.z)));
    let corner = |c: u32| {
        let towards = DVec3::from_array([0, 1, 2].map(|k| if c >> k & 1 == 1 { 1.0 } else { -1.0 }));
        grid.origin + grid.h * (mass.centre + half * towards)
    };
    let triangles: Vec<[u32; 3]> =
        SIDES.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let colors = &octree.forest.leaves.colors;
    let color = octree.leaves().next().and_then(|leaf| colors.get(leaf)).map_or([255; 3], |leaf| leaf.rgb());
    let mut mesh = PieceMesh::flat((0..8).map(corner).collect(), triangles, |_| color);
    mesh.faces.fill(Face { side: Side::Inside, beyond: None });
    let places: Vec<[DVec3; 3]> = mesh.corners_of_triangles().collect();
    for (corners, places) in mesh.corners.iter_mut().zip(places) {
        for (corner, place) in corners.iter_mut().zip(places) {
            let own: &mut Corner = corner;
            own.uv = world_uv(place, own.normal);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        meshes::MeshCheck,
        svo::{
            Grid, LeafColor, Leaves, build,
            morton::{Key, encode},
        },
    };

    /// `count` voxels in rows of 17, each with this share of solid.
    fn row(count: u32, share: f32) -> Octree {
        let mut leaves = Leaves::default();
        let mut keys: Vec<Key> = (0..count).map(|x| encode([x % 17 + 3, x / 17 + 5, 6])).collect();
        keys.sort_unstable();
        for key in keys {
            leaves.keys.push(key);
            leaves.normals.push(0);
            leaves.colors.push(LeafColor::new([10, 20, 30], true, 0.0));
            leaves.coverage.push(share);
        }
        let forest = Arc::new(build(5, leaves, &|_: Key, _: u32| false));
        Octree::new(&forest, 0, Grid { level: 5, origin: DVec3::new(1.0, -2.0, 0.5), h: 0.25 })
    }

    #[test]
    fn a_crumb_is_a_closed_box_of_its_volume_and_centre() {
        let octree = row(17, 0.003);
        assert!(is_crumb(&octree));
        let mesh = crumb(&octree);
        let check = MeshCheck::of(&mesh);
        let volume = octree.mass.volume * octree.grid.h.powi(3);
        assert!(check.holds() && (check.volume / volume - 1.0).abs() < 1e-9, "{check:?} {volume}");
        let middle = mesh.positions.iter().sum::<DVec3>() / 8.0;
        let centre = octree.grid.origin + octree.grid.h * octree.mass.centre;
        assert!((middle - centre).length() < 1e-12, "{middle} {centre}");
        for (corners, places) in mesh.corners.iter().zip(mesh.corners_of_triangles()) {
            let outward = places.iter().sum::<DVec3>() / 3.0 - middle;
            assert!(corners.iter().all(|corner| corner.normal.as_dvec3().dot(outward) > 0.0));
            assert!(corners.iter().all(|corner| corner.color == [10, 20, 30]));
        }
    }

    #[test]
    fn what_is_solid_or_large_is_no_crumb() {
        for (count, share, wanted) in
            [(17, 0.05, true), (17, 0.07, false), (4, 0.2, false), (1, 0.01, true), (1, 1.0, false)]
                .into_iter()
                .chain([(64, 0.001, true), (65, 0.001, false)])
        {
            assert_eq!(is_crumb(&row(count, share)), wanted, "{count} of {share}");
        }
    }
}
