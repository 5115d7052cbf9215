//! The terms of equation 3 as they are written against the separation points as they are written.

use super::{CrackArrays, EdgeArrays, tests::Bench};
use crate::fracture::Surface;

#[test]
fn separation_points_on_edges_lie_where_their_terms_say() {
    let Some(bench) = Bench::open() else { return };
    for surface in [Surface::Rough, Surface::Dusty] {
        let inside = bench.read(surface, &[]);
        let (edges, cracks) = (EdgeArrays::of(&inside, 0), CrackArrays::of(&inside));
        assert!(edges.points.len() > 200, "{surface:?}: {} edges", edges.points.len());
        for row in 0..edges.points.len() {
            let [low, high] = edges.corners[row];
            let [x, y, z, side] = cracks.voxels[edges.voxels[row] as usize];
            let axis = edges.numbers[row] as usize / 4;
            let mut along = [0; 3];
            along[axis] = side;
            assert_eq!([0, 1, 2].map(|k| high[k] - low[k]), along, "row {row}");
            let within = low.iter().zip([x, y, z]).all(|(at, from)| (from..=from + side).contains(at));
            assert!(within, "row {row}");
        }
        // In a gap the points of an edge are two, so that only those of rough surfaces are written.
        if surface == Surface::Rough {
            let written = cracks.points.iter().zip(&cracks.point_kinds).filter(|(_, kind)| **kind == 0);
            let written: Vec<[f64; 3]> = written.map(|(at, _)| *at).collect();
            let terms = edges.corners.iter().zip(&edges.points);
            let made: Vec<[f64; 3]> = terms
                .map(|([low, high], t)| {
                    [0, 1, 2].map(|k| f64::from(low[k]) + f64::from((high[k] - low[k]) * t) / 512.0)
                })
                .collect();
            assert_eq!(made, written);
        }
        // Later breaks number their objects on.
        let later = EdgeArrays::of(&inside, 7);
        assert_eq!(later.objects[3], edges.objects[3].map(|object| object + 7));
        assert_eq!((later.points, later.weights), (edges.points, edges.weights));
    }
}
