//! The complex against the cells it is made of, and against itself on other threads.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    complex::{Beyond, Complex, Vertex},
    sphere_tree::NearestBy,
    testing::{Faces, HIGH, LOW, Random, brute_force, full_of_ties, shapes, smallest_first},
};

/// Seen from behind: the ring of the cell beyond.
fn turned(ring: &[Vertex]) -> Vec<Vertex> {
    smallest_first(ring.iter().rev().copied().collect())
}

/// The faces of a cell, out of the complex.
fn faces_of(complex: &Complex, site: u32) -> Faces {
    let mut faces = Faces::new();
    for f in &complex.facets_of[site as usize] {
        let facet = &complex.facets[*f as usize];
        let ring: Vec<Vertex> = facet.ring.iter().map(|v| complex.vertices[*v as usize]).collect();
        let (beyond, ring) = if facet.site == site {
            (facet.beyond, smallest_first(ring))
        } else {
            (Beyond::Site(facet.site), turned(&ring))
        };
        assert!(faces.insert(beyond, ring).is_none(), "two facets to {beyond:?}");
    }
    faces
}

#[test]
fn facets_are_those_of_the_brute_force_on_both_sides() {
    for (name, sites) in shapes() {
        let complex = Complex::new(&sites, LOW, HIGH);
        let mut sides = 0;
        for site in 0..sites.len() as u32 {
            assert_eq!(faces_of(&complex, site), brute_force(&sites, site, LOW, HIGH), "{name}: cell {site}");
            sides += complex.facets_of[site as usize].len();
        }
        let walls = complex.facets.iter().filter(|f| matches!(f.beyond, Beyond::Wall(_))).count();
        assert_eq!(sides, 2 * complex.facets.len() - walls, "{name}");
    }
}

#[test]
fn many_small_cases_full_of_ties() {
    let mut random = Random::new(7);
    for _ in 0..300 {
        let (sites, high) = full_of_ties(&mut random);
        let complex = Complex::new(&sites, LOW, high);
        for site in 0..sites.len() as u32 {
            let wanted = brute_force(&sites, site, LOW, high);
            assert_eq!(faces_of(&complex, site), wanted, "cell {site} of {sites:?} to {high:?}");
        }
    }
}

#[test]
fn the_order_is_canonical() {
    for (name, sites) in shapes() {
        let complex = Complex::new(&sites, LOW, HIGH);
        assert!(complex.facets.is_sorted_by(|a, b| (a.site, a.beyond) < (b.site, b.beyond)), "{name}");
        let mut used = BTreeSet::new();
        for facet in &complex.facets {
            assert!(!matches!(facet.beyond, Beyond::Site(other) if other <= facet.site), "{name}");
            assert_eq!(facet.ring.iter().min(), facet.ring.first(), "{name}");
            used.extend(facet.ring.iter().copied());
        }
        assert_eq!(used.len(), complex.vertices.len(), "{name}: every vertex is used");
        let different: BTreeSet<&Vertex> = complex.vertices.iter().collect();
        assert_eq!(different.len(), complex.vertices.len(), "{name}: every vertex is there once");
        for facets in &complex.facets_of {
            assert!(facets.is_sorted_by(|a, b| a < b), "{name}");
        }
    }
}

#[test]
fn vertices_lie_exactly_on_the_planes_of_their_facets_and_inside_of_all_others() {
    for (name, sites) in shapes() {
        let complex = Complex::new(&sites, LOW, HIGH);
        let value = |f: u32, v: u32| -> i128 {
            let (plane, vertex) = (complex.plane(f), &complex.vertices[v as usize]);
            (0..3).map(|k| i128::from(plane.normal[k]) * vertex.numerator[k]).sum::<i128>()
                - i128::from(plane.limit) * vertex.denominator
        };
        for (site, facets) in (0u32..).zip(&complex.facets_of) {
            let ring = |f: &u32| complex.facets[*f as usize].ring.clone();
            let vertices: BTreeSet<u32> = facets.iter().flat_map(ring).collect();
            for f in facets {
                let own = complex.facets[*f as usize].site == site;
                let sign = if own { 1 } else { -1 };
                assert!(ring(f).iter().all(|v| value(*f, *v) == 0), "{name}: facet {f}");
                assert!(vertices.iter().all(|v| sign * value(*f, *v) <= 0), "{name}: cell {site}");
            }
        }
    }
}

#[test]
fn the_same_bytes_on_one_and_two_threads_and_by_scan_and_tree() {
    let mut all = shapes();
    all.push(("many".into(), Random::new(8).points(3000, LOW, HIGH)));
    for (name, sites) in all {
        let on = |threads: usize, by: NearestBy| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Complex::new_by(by, &sites, LOW, HIGH))
        };
        let wanted = on(1, NearestBy::Scan);
        assert_eq!(wanted, on(2, NearestBy::Scan), "{name}");
        assert_eq!(wanted, on(1, NearestBy::SphereTree), "{name}");
        assert_eq!(wanted, on(2, NearestBy::SphereTree), "{name}");
    }
}

#[test]
fn another_order_of_sites_gives_the_same_facets() {
    // Which planes make a vertex, and who owns it, depends on the order; where it lies must not.
    for (name, sites) in shapes() {
        let distinct: Vec<_> = sites.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let rings = |sites: &[[i32; 3]]| {
            let complex = Complex::new(sites, LOW, HIGH);
            let mut rings = BTreeMap::new();
            for facet in &complex.facets {
                let at = sites[facet.site as usize];
                let ring = smallest_first(facet.ring.iter().map(|v| complex.vertices[*v as usize]).collect());
                match facet.beyond {
                    Beyond::Site(other) => {
                        rings.insert((sites[other as usize], at), turned(&ring));
                        rings.insert((at, sites[other as usize]), ring);
                    }
                    Beyond::Wall(wall) => {
                        rings.insert((at, [i32::MAX, 0, i32::from(wall)]), ring);
                    }
                }
            }
            rings
        };
        let backward: Vec<_> = distinct.iter().rev().copied().collect();
        assert_eq!(rings(&distinct), rings(&backward), "{name}");
    }
}
