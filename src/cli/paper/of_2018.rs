//! Figures of Domaradzki & Martyn 2018, and the time that the paper states.

mod drawn;
mod pictures;
mod time;

use super::entry::{Entry, Of};

const OF: Of = Of("2018");

/// The entries, in the order of the paper.
pub(super) const ENTRIES: &[Entry] = &[
    OF.by(
        "fig-1",
        "The test whether a voxel is crossed by a pattern of three Voronoi seeds",
        drawn::intersection,
    ),
    OF.by("fig-2", "A crack surface of triangles in voxels of the transition level", pictures::surface),
    OF.by("fig-3", "From the planar break to the rough one, in four pictures", pictures::four_steps),
    OF.by(
        "fig-4",
        "The side of a voxel that no crack surface crosses, by votes of the triangles",
        drawn::votes,
    ),
    OF.by("fig-5", "The empty volume between the surfaces of a dusty crack", pictures::gap),
    OF.by("fig-6", "Rough cracks beside planar ones", pictures::beside_planar),
    OF.by("fig-7", "Transition levels 4, 6 and 8 with one fracture pattern", pictures::transition_levels),
    OF.by("fig-8", "Fracture and physics of a vase with rough and with dusty cracks", pictures::falling),
    OF.by("fig-9", "Cracks with an irregular space between them", pictures::irregular),
    OF.by(
        "time",
        "Time of a fracture at levels 7 to 9, which the paper states as at most 50 ms",
        time::of_levels,
    ),
];
