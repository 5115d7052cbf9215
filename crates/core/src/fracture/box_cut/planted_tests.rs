//! Errors planted into the code itself, which the comparison with the brute force must find.

use super::{
    cut::Rules,
    sphere_tree::NearestBy,
    testing::{HIGH, LOW, Random, difference, grid, on_a_sphere, shapes},
};

/// In how many arrangements the comparison finds something.
fn found(rules: Rules) -> usize {
    shapes().iter().filter(|(_, sites)| difference(rules, NearestBy::Scan, sites).is_some()).count()
}

#[test]
fn without_an_error_nothing_is_found() {
    assert_eq!(found(Rules::EXACT), 0);
}

#[test]
fn once_the_farthest_vertex_is_too_near() {
    // The paper's criterion: a bisector is half as far away as its site.
    let once = Rules { reach: 1.0, ..Rules::EXACT };
    assert!(found(once) >= 10, "{}", found(once));
    let sites = Random::new(2).points(100, LOW, HIGH);
    assert!(difference(once, NearestBy::SphereTree, &sites).is_some());
}

#[test]
fn a_reach_a_little_too_near_is_found() {
    // Grids are sharp: each corner of a cube is as far away as half the way to the site beyond it.
    assert!(found(Rules { reach: 1.9, ..Rules::EXACT }) >= 1);
}

#[test]
fn a_larger_reach_changes_nothing() {
    assert_eq!(found(Rules { reach: 3.0, ..Rules::EXACT }), 0);
}

#[test]
fn sites_equally_far_must_not_be_skipped() {
    // The paper looks for a site "further than the last one".
    let skipping = Rules { skip_equal: true, ..Rules::EXACT };
    for sites in [grid(2), grid(4), grid(5), on_a_sphere([300, 700, 1100])] {
        assert!(difference(skipping, NearestBy::Scan, &sites).is_some());
        assert!(difference(skipping, NearestBy::SphereTree, &sites).is_some());
    }
}

#[test]
fn a_skipped_neighbour_is_found() {
    for rank in [0, 1, 4, 9] {
        let skipping = Rules { skip_rank: Some(rank), ..Rules::EXACT };
        let sites = Random::new(3).points(90, LOW, HIGH);
        assert!(difference(skipping, NearestBy::Scan, &sites).is_some(), "rank {rank}");
    }
}
