//! Sizes of the data of a body, as table 1 of Glondu et al. 2012 lists them for each object.
//!
//! In: a body. Out: the number of points of its sphere tree and of cells of its distance field. Both are made for the
//! count and dropped again.

use super::parts::Parts;
use crate::bodies::Body;

/// Sizes of a body's sphere tree and distance field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Points of the tree on the surface, with the corners of the hull if these are points of the tree.
    pub points_on_surface: usize,
    /// Points of the tree in the interior.
    pub points_inside: usize,
    /// Spheres of the tree.
    pub spheres: usize,
    /// Cells of the field that hold some of the body: the counterpart of the paper's tetrahedra.
    pub cells: usize,
}

/// The sizes of a body that has not broken, at its collision level and with the default level of fields; `None` if its
/// shape is empty.
#[must_use]
pub fn sizes_of(body: &Body) -> Option<Sizes> {
    let mut parts = Parts::default();
    parts.prepare(std::iter::once(body));
    let part = parts.of(body.id)?;
    let points_on_surface = part.forest.points().filter(|point| point.on_surface).count();
    Some(Sizes {
        points_on_surface,
        points_inside: part.forest.len() - points_on_surface,
        spheres: part.forest.spheres(),
        cells: part.fragment()?.cells_with_solid(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{
        World, WorldSettings,
        testing::{block, body, grid},
    };
    use glam::DVec3;
    use std::sync::Arc;

    /// A block of 16 x 8 x 16 voxels of level 5, whose field has cells of one voxel.
    #[test]
    fn a_block_has_a_cell_for_each_voxel_and_a_point_for_each_cell_of_its_surface() {
        let mut world = World::on_cpu(WorldSettings::default());
        let forest = Arc::new(block(5, [8, 0, 8], [24, 8, 24]));
        world.add(body(&forest, 0, grid(5, 1.0), 5, DVec3::ZERO));
        let sizes = sizes_of(&world.bodies[0]).expect("it is solid");
        println!("{sizes:?}");
        // Solid that ends at a boundary of cells may touch the cells beyond.
        assert!((16 * 8 * 16..=18 * 10 * 18).contains(&sizes.cells), "{sizes:?}");
        // The surface has 16 x 16 x 2 + 16 x 8 x 4 faces of voxels; one point in four cells along each axis lies inside.
        assert!((700..2000).contains(&sizes.points_on_surface), "{sizes:?}");
        assert!((4..100).contains(&sizes.points_inside), "{sizes:?}");
        // Each point has a sphere of its own at its level, and most of them have more below.
        assert!(sizes.spheres >= sizes.points_on_surface + sizes.points_inside);
    }
}
