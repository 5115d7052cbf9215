//! Figures of Domaradzki & Martyn 2018, and the time that the paper states.

mod drawn;
mod pictures;
mod time;

use super::entry::{Entry, Make};

const DOCUMENT: &str = "2018";

/// The entries, in the order of the paper.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        document: DOCUMENT,
        figure: "fig-1",
        title: "The test whether a voxel is crossed by a pattern of three Voronoi seeds",
        make: Make::By(drawn::intersection),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-2",
        title: "A crack surface of triangles in voxels of the transition level",
        make: Make::By(pictures::surface),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-3",
        title: "From the planar break to the rough one, in four pictures",
        make: Make::By(pictures::four_steps),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-4",
        title: "The side of a voxel that no crack surface crosses, by votes of the triangles",
        make: Make::By(drawn::votes),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-5",
        title: "The empty volume between the surfaces of a dusty crack",
        make: Make::By(pictures::gap),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-6",
        title: "Rough cracks beside planar ones",
        make: Make::By(pictures::beside_planar),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-7",
        title: "Transition levels 4, 6 and 8 with one fracture pattern",
        make: Make::By(pictures::transition_levels),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-8",
        title: "Fracture and physics of a vase with rough and with dusty cracks",
        make: Make::By(pictures::falling),
    },
    Entry {
        document: DOCUMENT,
        figure: "fig-9",
        title: "Cracks with an irregular space between them",
        make: Make::By(pictures::irregular),
    },
    Entry {
        document: DOCUMENT,
        figure: "time",
        title: "Time of a fracture at levels 7 to 9, which the paper states as at most 50 ms",
        make: Make::By(time::of_levels),
    },
];
