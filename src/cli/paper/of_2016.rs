//! Figures and tables of Domaradzki & Martyn 2016.

mod drawn;
mod far;
mod levels;
mod ray_test;
mod scenes;
mod table;

use super::entry::{Entry, Of};

const OF: Of = Of("2016");

/// The entries, in the order of the paper.
pub(super) const ENTRIES: &[Entry] = &[
    OF.by("section-3.2", "Inner nodes by the published ray test, and where it fails", ray_test::inner),
    OF.by(
        "fig-1",
        "Voxels on the cracks are expanded level by level; inner ones are made on the fly",
        drawn::expansion,
    ),
    OF.by("fig-2", "A broken object as a quadtree, with Morton codes and the objects' numbers", drawn::codes),
    OF.by(
        "fig-3",
        "Two colliding objects, the octree of one, their intersection, collision points and gradients",
        drawn::collision,
    ),
    OF.by("fig-4", "The bunny breaks in a box, physics at level 8", scenes::bunny),
    OF.by("fig-5", "Three columns break, physics at level 7", scenes::columns),
    OF.by("fig-6", "Local fracture of the Happy Buddha, physics at level 9", scenes::buddha),
    OF.by("fig-7", "Three dragons break where they touch the floor, physics at level 8", scenes::dragons),
    OF.by("table-1", "Times of the stages of a fracture", table::times),
    OF.by(
        "section-6.1",
        "A physics level for each pair, at no extra cost; levels by the distance to the camera",
        levels::pair,
    ),
];
