//! What is refused, and how.

use super::*;

fn refuse((corners, triangles): Soup, sites: usize) -> SplitError {
    let complex = naive::complex(&random_sites(sites, 2), LOW, HIGH);
    let result = FineMesh::new(corners, triangles).and_then(|mesh| split(&mesh, &complex));
    let error = result.map(|pieces| pieces.len()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("octree") || text.contains("box"), "{text}");
    error
}

#[test]
fn open_crowded_turned_and_doubled_meshes() {
    let mut open = ball(5000.0);
    open.1.pop();
    assert!(matches!(refuse(open, 5), SplitError::OpenEdge { .. }));
    let mut turned = ball(5000.0);
    turned.1[7].swap(0, 1);
    assert!(matches!(refuse(turned, 5), SplitError::Orientation { .. }));
    let touching = cubes(|x, y, _| x == y, [2, 2, 1], 4000.0, DVec3::splat(2000.0));
    assert!(matches!(refuse(touching, 5), SplitError::CrowdedEdge { triangles: 4, .. }));
    let sheet = (vec![DVec3::ONE, DVec3::X * 9000.0, DVec3::Y * 9000.0], vec![[0, 1, 2], [0, 2, 1]]);
    assert!(matches!(refuse(sheet, 5), SplitError::Doubled { .. }));
    let mut missing = ball(5000.0);
    missing.1[0][1] = 1_000_000;
    assert!(matches!(refuse(missing, 5), SplitError::Triangle { triangle: 0 }));
}

#[test]
fn corners_that_are_nowhere() {
    for at in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(1e9), DVec3::splat(-100.0), DVec3::splat(16_484.0)] {
        let mut far = ball(5000.0);
        far.0[3] = at;
        assert!(matches!(refuse(far, 5), SplitError::OutsideBox { corner: 3 }), "{at}");
    }
}

#[test]
fn meshes_that_are_inside_out_or_in_one_another() {
    for sites in [1, 2, 5, 60] {
        refuse(inverted(ball(5000.0)), sites);
        refuse(together([ball(6000.0), ball(3000.0)]), sites);
        refuse(together([ball(6000.0), inverted(ball(5000.0)), inverted(ball(3000.0))]), sites);
        refuse(together([ball(3000.0), inverted(ball(6000.0))]), sites);
    }
}

#[test]
fn meshes_that_cross_themselves() {
    // With one site nothing is cut and the crossing is never met; where a crack meets it, it is refused.
    for sites in [3, 6, 12, 30, 100, 300] {
        let crossing = together([
            icosphere(2, 4000.0, DVec3::new(6000.0, 8000.0, 8000.0)),
            icosphere(2, 4000.0, DVec3::new(9000.0, 8300.0, 8100.0)),
        ]);
        refuse(crossing, sites);
    }
}

/// Solids that touch in a face without sharing corners are two solids.
#[test]
fn touching_solids_are_split_apart() {
    for (seed, count) in [(1, 3), (2, 30), (3, 200)] {
        let complex = naive::complex(&random_sites(count, seed), LOW, HIGH);
        let stacked =
            together([cube(5000.0, DVec3::splat(2000.0)), cube(5000.0, DVec3::new(7000.0, 2000.0, 2000.0))]);
        passes("stacked", &mesh(stacked), &complex, 50);
    }
    let complex = naive::complex(&grid_sites(4, 4096, 0), LOW, HIGH);
    let stacked =
        together([cube(8192.0, DVec3::splat(2048.0)), cube(4096.0, DVec3::new(10_240.0, 2048.0, 2048.0))]);
    passes("stacked in a grid", &mesh(stacked), &complex, 50);
}
