//! Figures and tables of Domaradzki & Martyn 2016.

mod drawn;
mod levels;
mod ray_test;
mod scenes;
mod table;

use super::entry::{Entry, Make};

const DOCUMENT: &str = "2016";

/// The entries, in the order of the paper.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        document: DOCUMENT,
        figure: "section-3.2",
        title: "Inner nodes by the published ray test, and where it fails",
        make: Make::By(ray_test::inner),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-1",
        title: "Voxels on the cracks are expanded level by level; inner ones are made on the fly",
        make: Make::By(drawn::expansion),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-2",
        title: "A broken object as a quadtree, with Morton codes and the objects' numbers",
        make: Make::By(drawn::codes),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-3",
        title: "Two colliding objects, the octree of one, their intersection, collision points and gradients",
        make: Make::By(drawn::collision),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-4",
        title: "The bunny breaks in a box, physics at level 8",
        make: Make::By(scenes::bunny),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-5",
        title: "Three columns break, physics at level 7",
        make: Make::By(scenes::columns),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-6",
        title: "Local fracture of the Happy Buddha, physics at level 9",
        make: Make::By(scenes::buddha),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-7",
        title: "Three dragons break where they touch the floor, physics at level 8",
        make: Make::By(scenes::dragons),
    },
    Entry {
        document: DOCUMENT,
        figure: "table-1",
        title: "Times of the stages of a fracture",
        make: Make::By(table::times),
    },
    Entry {
        document: DOCUMENT,
        figure: "section-6.1",
        title: "A physics level for each pair, at no extra cost",
        make: Make::By(levels::pair),
    },
];
