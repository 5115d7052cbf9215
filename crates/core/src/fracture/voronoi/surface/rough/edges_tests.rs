//! The terms of equation 3 against the separation points of the surfaces that were made, and against the reference's
//! weights.

use std::sync::Arc;

use super::{
    CrackNoise, CrackShape, CrackUniform, Offset, TransitionVoxel, UNITS, crossed_edges, edge_corners,
    reference,
};
use crate::{
    compute::Compute,
    fracture::{
        Fracturer, Pattern, Recipe, Source, Surface, UNIT_BITS,
        voronoi::testing::{seeds, shell},
    },
    svo::Arena,
};

fn crossed(recipe: &Recipe, pattern: &Pattern) -> Vec<TransitionVoxel> {
    let (forest, arena) = (Arc::new(shell(6)), Arena::new(Compute::Cpu).unwrap());
    let source = Source::new(&arena, &forest, 0).unwrap();
    Fracturer::new(Compute::Cpu).unwrap().transition_voxels(&source, pattern, recipe).unwrap()
}

#[test]
fn every_separation_point_on_an_edge_follows_from_its_terms() {
    let mut pattern = seeds(6, 30, 9);
    for merged in [false, true] {
        if merged {
            pattern.objects.iter_mut().filter(|object| **object % 3 == 0).for_each(|object| *object = 0);
        }
        for (offset, strength) in [(Offset::Plane, 0.6), (Offset::Plane, 0.0), (Offset::Balance, 1.0)] {
            let noise = CrackNoise { amplitude: 0.7, frequency: 37, octaves: 3 };
            let crack =
                CrackShape { transition_level: Some(3), offset, strength, noise, ..CrackShape::default() };
            let recipe = Recipe { surface: Surface::Rough, crack, rng: 77, ..Recipe::default() };
            let words = CrackUniform::new(&crack, recipe.rng, 3);
            let voxels = crossed(&recipe, &pattern);
            let edges = crossed_edges(&voxels, &pattern, &words);
            let points: usize = voxels.iter().map(|voxel| voxel.edge_points.iter().flatten().count()).sum();
            assert!(edges.len() == points && points > 200, "{} edges, {points} points", edges.len());
            let mut pulled = 0;
            for edge in &edges {
                let voxel = &voxels[edge.voxel];
                let axis = edge.edge / 4;
                assert_eq!(voxel.edge_points[edge.edge].map(|point| point[axis]), Some(edge.point));
                assert_eq!(edge.objects, edge_corners(edge.edge).map(|corner| voxel.objects[corner]));
                // Equation 3 in floats: each of its roundings is less than a unit.
                let [a, b] = edge.weights.map(f64::from);
                let units = f64::from(UNITS);
                let t = match offset {
                    Offset::Balance => 0.5 + 0.7 / 2.0 * (a - b) / (a + b + 1.0),
                    Offset::Plane => {
                        0.5 + strength * (f64::from(edge.crossing) / units - 0.5) + 0.7 * (a - b) / 255.0
                    }
                };
                let wanted = (units * t).clamp(1.0, units - 1.0);
                assert!((wanted - f64::from(edge.point)).abs() < 3.0, "{edge:?}: {wanted}");
                for (corner, weight) in edge.corners.iter().zip(edge.weights) {
                    let at = corner.map(|v| i64::from(v) << (UNIT_BITS - 3));
                    assert_eq!(reference::weight(at, &words), i64::from(weight), "{edge:?}");
                }
                // As far from one seed as from the other, where the bisector crosses.
                let at: [f64; 3] = std::array::from_fn(|k| {
                    let side = f64::from(1 << (UNIT_BITS - 3));
                    let along = if k == axis { f64::from(edge.crossing) / units } else { 0.0 };
                    (f64::from(edge.corners[0][k]) + along) * side
                });
                let [low, high] = edge
                    .seeds
                    .map(|seed| (0..3).map(|k| (at[k] - f64::from(seed[k])).powi(2)).sum::<f64>().sqrt());
                // A unit of the edge is 4 of the grid's; no distance changes by more.
                assert!((low - high).abs() <= 8.0, "{edge:?}: {low} and {high}");
                pulled += usize::from((edge.crossing - UNITS / 2).abs() > 50);
            }
            assert!(pulled * 3 > edges.len(), "{pulled} of {} bisectors are off the middle", edges.len());
        }
    }
}
