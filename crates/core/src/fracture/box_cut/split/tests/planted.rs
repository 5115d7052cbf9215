//! One step of the splitting goes wrong, and a check must see it: either the splitting's own, which refuses, or those
//! of `checks`.

use super::*;
use crate::fracture::box_cut::complex::Beyond;

fn is_found(name: &str, mesh: &FineMesh, complex: &Complex, fault: Fault) {
    if let Ok(pieces) = run(mesh, complex, fault) {
        assert!(check(mesh, complex, &pieces).is_err(), "{name}: {fault:?} was not found");
    }
}

fn hollow() -> (FineMesh, Complex) {
    let soup = together([ball(7000.0), inverted(ball(5000.0))]);
    (mesh(soup), naive::complex(&random_sites(12, 4), LOW, HIGH))
}

/// Facets with a cap in some piece.
fn capped(pieces: &[SplitPiece]) -> Vec<u32> {
    let faces = pieces.iter().flat_map(|p| &p.faces);
    let mut facets: Vec<u32> =
        faces.filter_map(|face| if let SplitFace::Cap(facet) = face { Some(*facet) } else { None }).collect();
    facets.sort_unstable();
    facets.dedup();
    facets
}

#[test]
fn a_dropped_cap_is_found() {
    let (mesh, complex) = hollow();
    for facet in capped(&split(&mesh, &complex).unwrap()) {
        is_found("hollow", &mesh, &complex, Fault::DropCap(facet));
    }
}

#[test]
fn a_cap_that_is_not_mirrored_is_found() {
    let (mesh, complex) = hollow();
    for facet in capped(&split(&mesh, &complex).unwrap()) {
        assert!(matches!(complex.facets[facet as usize].beyond, Beyond::Site(_)));
        is_found("hollow", &mesh, &complex, Fault::KeepSide(facet));
    }
}

#[test]
fn a_flipped_triangle_is_found() {
    let (mesh, complex) = hollow();
    for piece in split(&mesh, &complex).unwrap() {
        is_found("hollow", &mesh, &complex, Fault::FlipTriangle(piece.cell));
    }
}

#[test]
fn a_lost_loop_is_found() {
    // Two sites: the cap is a ring, and the hole is the loop that gets lost.
    let (mesh, _) = hollow();
    let complex = naive::complex(&[[2000, 8000, 8100], [12_000, 8100, 8000]], LOW, HIGH);
    assert!(check(&mesh, &complex, &split(&mesh, &complex).unwrap()).is_ok());
    is_found("hollow", &mesh, &complex, Fault::LoseLoop);
}

#[test]
fn a_skipped_neighbour_is_found() {
    let (mesh, complex) = hollow();
    let pieces = split(&mesh, &complex).unwrap();
    let mut cells_of = vec![std::collections::BTreeSet::new(); mesh.triangles.len()];
    for piece in &pieces {
        for face in &piece.faces {
            if let SplitFace::Outside(source) = face {
                cells_of[*source as usize].insert(piece.cell);
            }
        }
    }
    let cut: Vec<u32> = (0..cells_of.len() as u32).filter(|&t| cells_of[t as usize].len() > 1).collect();
    assert!(cut.len() > 50);
    for triangle in cut {
        is_found("hollow", &mesh, &complex, Fault::SkipNeighbour(triangle));
    }
}

type Damage<'a> = &'a dyn Fn(&mut Vec<SplitPiece>);

/// Damage to pieces that are right, for each check that the faults above do not reach.
#[test]
fn the_checks_find_damage() {
    let (mesh, complex) = hollow();
    let right = split(&mesh, &complex).unwrap();
    assert!(check(&mesh, &complex, &right).is_ok() && sample(&mesh, &complex, &right, 100).is_ok());
    let damaged = |damage: Damage| {
        let mut pieces = right.clone();
        damage(&mut pieces);
        check(&mesh, &complex, &pieces).and_then(|()| sample(&mesh, &complex, &pieces, 400))
    };
    let is_cap = |face: &SplitFace| matches!(face, SplitFace::Cap(_));
    let damages: [(&str, Damage); 6] = [
        ("a piece is lost", &|p| drop(p.pop())),
        ("a piece is there twice", &|p| p.push(p[0].clone())),
        ("a triangle is lost", &|p| {
            let piece = &mut p[0];
            piece.triangles.pop();
            piece.faces.pop();
            piece.weights.pop();
        }),
        ("two pieces change cells", &|p| {
            let (first, last) = (p[0].cell, p[p.len() - 1].cell);
            let end = p.len() - 1;
            p[0].cell = last;
            p[end].cell = first;
        }),
        ("a cap's corner moves", &|p| {
            let at = p[0].faces.iter().position(is_cap).unwrap();
            let corner = p[0].triangles[at][0] as usize;
            p[0].positions[corner] += DVec3::splat(1.0);
        }),
        ("weights are another triangle's", &|p| {
            let at = p[0].faces.iter().position(|f| !is_cap(f)).unwrap();
            p[0].weights[at].rotate_left(1);
        }),
    ];
    for (name, damage) in damages {
        assert!(damaged(damage).is_err(), "{name}");
    }
}
