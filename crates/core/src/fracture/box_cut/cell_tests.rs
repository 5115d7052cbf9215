//! Cells against the brute force, and what holds for any cells.

use std::collections::BTreeSet;

use super::{
    cell::{Cell, cells_by},
    complex::{Beyond, Point, Vertex},
    cut::Rules,
    sphere_tree::NearestBy,
    testing::{
        Faces, HIGH, LOW, Random, brute_force, difference, difference_in, full_of_ties, grid, on_a_sphere,
        shapes,
    },
};

const BOTH: [NearestBy; 2] = [NearestBy::Scan, NearestBy::SphereTree];

/// For every arrangement: its name, its sites, its cells.
fn all_cells() -> impl Iterator<Item = (String, Vec<Point>, Vec<Cell>)> {
    shapes().into_iter().map(|(name, sites)| {
        let cells = cells_by(NearestBy::Scan, &sites, LOW, HIGH);
        (name, sites, cells)
    })
}

#[test]
fn cells_are_those_of_the_brute_force() {
    for (name, sites) in shapes() {
        for by in BOTH {
            assert_eq!(difference(Rules::EXACT, by, &sites), None, "{name}, {by:?}");
        }
    }
}

#[test]
fn many_small_cases_full_of_ties() {
    let mut random = Random::new(6);
    for round in 0..300 {
        let (sites, high) = full_of_ties(&mut random);
        let by = BOTH[round % 2];
        assert_eq!(difference_in(Rules::EXACT, by, &sites, LOW, high), None, "{sites:?} to {high:?}");
    }
}

#[test]
fn the_widest_box_and_flat_boxes() {
    let far = 1 << 15;
    let mut random = Random::new(4);
    for (low, high) in [
        ([-far; 3], [far; 3]),
        ([-far, -far, 0], [far, far, 1]),
        ([far - 1, -far, 5], [far, far, 6]),
        ([0; 3], [1; 3]),
    ] {
        let wide = [[-far; 3], [far; 3]];
        for (low_site, high_site) in [(low, high), (wide[0], wide[1])] {
            let mut sites = random.points(60, low_site, high_site);
            sites.extend((0..8).map(|c| std::array::from_fn(|k| wide[c >> k & 1][k])));
            for by in BOTH {
                assert_eq!(difference_in(Rules::EXACT, by, &sites, low, high), None, "{low:?} to {high:?}");
            }
        }
    }
}

#[test]
fn scan_and_tree_give_the_same_words() {
    for (name, sites, cells) in all_cells() {
        // Planes are in the order in which they cut, positions to the last bit.
        assert_eq!(cells, cells_by(NearestBy::SphereTree, &sites, LOW, HIGH), "{name}");
    }
}

#[test]
fn volumes_sum_to_that_of_the_box() {
    let wanted: f64 = (0..3).map(|k| f64::from(HIGH[k] - LOW[k])).product();
    for (name, sites, cells) in all_cells() {
        let volume: f64 = cells.iter().map(Cell::volume).sum();
        assert!(sites.is_empty() || (volume / wanted - 1.0).abs() < 1e-9, "{name}: {volume}");
        assert!(cells.iter().all(|c| c.is_empty() || c.volume() > 0.0), "{name}");
    }
}

#[test]
fn cells_are_closed_and_keep_eulers_formula() {
    for (name, sites, cells) in all_cells() {
        for cell in cells.iter().filter(|c| !c.is_empty()) {
            let what = format!("{name}: cell {}", cell.site);
            let mut faces = 0;
            let mut sides = BTreeSet::new();
            cell.for_each_face(
                |_| true,
                |_, ring| {
                    faces += 1;
                    assert!(ring.len() >= 3, "{what}: a face of {} vertices", ring.len());
                    for (k, v) in ring.iter().enumerate() {
                        assert!(sides.insert((*v, ring[(k + 1) % ring.len()])), "{what}: a side twice");
                    }
                },
            );
            assert!(sides.iter().all(|(a, b)| sides.contains(&(*b, *a))), "{what}: a side without the other");
            assert_eq!(cell.vertices.len() + faces, cell.edges.len() + 2, "{what}");
            let exact: BTreeSet<Vertex> =
                cell.vertices.iter().map(|v| Vertex::of(cell, v, sites[cell.site as usize])).collect();
            assert_eq!(exact.len(), cell.vertices.len(), "{what}: a vertex twice");
        }
    }
}

#[test]
fn no_vertex_is_outside_of_any_plane() {
    for (name, sites, cells) in all_cells() {
        for cell in &cells {
            for vertex in &cell.vertices {
                let exact = cell.exact(vertex);
                assert!(cell.planes.iter().all(|p| exact.side(p.whole()) <= 0), "{name}: cell {}", cell.site);
                let at = sites[cell.site as usize];
                let apart = (vertex.position - Vertex::of(cell, vertex, at).position()).length();
                assert!(apart < 1e-5, "{name}: cell {}: position off by {apart}", cell.site);
            }
        }
    }
}

#[test]
fn cells_of_a_grid_are_cubes() {
    for side in [4, 5] {
        let cells = cells_by(NearestBy::Scan, &grid(side), LOW, HIGH);
        for cell in &cells {
            assert_eq!((cell.vertices.len(), cell.edges.len()), (8, 12));
            assert_eq!(faces_beyond(cell).len(), 6);
            assert_eq!(cell.volume(), f64::from(4000 / side).powi(3));
        }
    }
}

#[test]
fn sites_on_a_sphere_meet_in_its_middle() {
    let sites = on_a_sphere([300, 700, 1100]);
    assert_eq!(sites.len(), 48);
    let middle = Vertex { numerator: [1000, 2000, 2200], denominator: 1 };
    for (site, cell) in sites.iter().zip(cells_by(NearestBy::SphereTree, &sites, LOW, HIGH)) {
        let at: Vec<Vertex> = cell.vertices.iter().map(|v| Vertex::of(&cell, v, *site)).collect();
        let k = at.iter().position(|v| *v == middle).expect("the middle is a vertex of every cell");
        let mut through = 0;
        cell.planes_through(&cell.vertices[k], |_| through += 1);
        assert_eq!(through, 47, "all other sites are as near to the middle");
        assert!(faces_beyond(&cell).len() < 10);
    }
}

fn faces_beyond(cell: &Cell) -> Vec<Beyond> {
    let mut beyond = Vec::new();
    cell.for_each_face(|_| true, |plane, _| beyond.push(plane.beyond));
    beyond
}

#[test]
fn single_and_equal_sites() {
    let at = [5, 6, 207];
    let cells = cells_by(NearestBy::Scan, &[at, [900, 900, 900], at, at], LOW, HIGH);
    assert!(!cells[0].is_empty() && !cells[1].is_empty() && cells[2].is_empty() && cells[3].is_empty());
    let alone = cells_by(NearestBy::SphereTree, &[at, at], LOW, HIGH);
    assert_eq!(faces_beyond(&alone[0]), (0..6).map(Beyond::Wall).collect::<Vec<_>>());
    assert!(alone[1].is_empty());
}

#[test]
fn a_box_without_volume_has_no_cells() {
    for high in [[LOW[0], 50, 300], LOW.map(|v| v - 1)] {
        let cells = cells_by(NearestBy::Scan, &[LOW, [0, 5, 250]], LOW, high);
        assert!(cells.iter().all(Cell::is_empty));
    }
}

#[test]
#[should_panic(expected = "units of zero")]
fn numbers_too_wide_are_refused() {
    let _ = cells_by(NearestBy::Scan, &[[0, 0, 1 + (1 << 15)]], LOW, HIGH);
}

#[test]
fn the_brute_force_is_right_where_one_knows_it() {
    // So that it is not only compared with what it is there to check.
    let sites = grid(4);
    let faces: Faces = brute_force(&sites, 21, LOW, HIGH);
    assert_eq!(faces.len(), 6);
    assert!(faces.values().all(|ring| ring.len() == 4 && ring.iter().all(|v| v.denominator == 1)));
    let beyond: Vec<Beyond> = faces.keys().copied().collect();
    assert_eq!(beyond, [5, 17, 20, 22, 25, 37].map(Beyond::Site));
}
