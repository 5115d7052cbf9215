//! Cells against the brute force, and what holds for any cells.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    cell::{Cell, cells_by},
    complex::{Beyond, Point, Vertex},
    nearest::NearestBy,
    testing::{Faces, HIGH, LOW, brute_force, grid, shapes, smallest_first},
};

const BOTH: [NearestBy; 2] = [NearestBy::Scan, NearestBy::SphereTree];

/// The cell in the words of the brute force.
pub fn faces_of(cell: &Cell, sites: &[Point]) -> Faces {
    let mut faces = Faces::new();
    let exact: Vec<Vertex> =
        cell.vertices.iter().map(|v| Vertex::of(cell, v, sites[cell.site as usize])).collect();
    cell.for_each_face(
        |_| true,
        |plane, ring| {
            let ring = smallest_first(ring.iter().map(|v| exact[*v as usize]).collect());
            assert!(faces.insert(plane.beyond, ring).is_none(), "two planes of {:?}", plane.beyond);
        },
    );
    faces
}

#[test]
fn cells_are_those_of_the_brute_force() {
    for (name, sites) in shapes() {
        for by in BOTH {
            let cells = cells_by(by, &sites, LOW, HIGH);
            assert_eq!(cells.len(), sites.len());
            for (site, cell) in (0u32..).zip(&cells) {
                assert_eq!(cell.site, site);
                let wanted = brute_force(&sites, site, LOW, HIGH);
                assert_eq!(faces_of(cell, &sites), wanted, "{name}: cell {site}, {by:?}");
            }
        }
    }
}
