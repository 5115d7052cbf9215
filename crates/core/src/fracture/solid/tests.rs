//! Pieces that were cut out by hand: what stays together, what is small, what touches.

use std::sync::Arc;

use glam::DVec3;

use super::*;
use crate::{
    fracture::Smallest,
    shape::{Corner, Face, Look, Side},
};

/// The box from `low` to `low + size`, its six sides named by what they are part of, each of two triangles.
fn brick(cell: u32, low: DVec3, size: DVec3, inside: [bool; 6]) -> CutPiece {
    let corner = |c: usize| low + size * DVec3::from([0, 1, 2].map(|k| f64::from(c as u32 >> k & 1)));
    let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let mut surface = PieceMesh { positions: (0..8).map(corner).collect(), ..PieceMesh::default() };
    for (ring, inside) in sides.iter().zip(inside) {
        let side = if inside { Side::Inside } else { Side::Outside { material: 0 } };
        // The same diagonal on both sides of a crack: the one through its lowest corner.
        for t in [[ring[0], ring[1], ring[2]], [ring[0], ring[2], ring[3]]] {
            surface.triangles.push(t);
            surface.faces.push(Face { side, beyond: None });
            surface
                .corners
                .push([Corner { normal: glam::Vec3::Y, color: [9; 3], uv: [0.0; 2], uv2: [0.0; 2] }; 3]);
        }
    }
    CutPiece { cell, surface }
}

/// Three bricks in a row along x, of widths 1, `thin` and 1.
fn row(thin: f64) -> Vec<CutPiece> {
    let one = DVec3::ONE;
    vec![
        brick(0, DVec3::ZERO, one, [false, true, false, false, false, false]),
        brick(1, DVec3::X, DVec3::new(thin, 1.0, 1.0), [true, true, false, false, false, false]),
        brick(2, DVec3::X * (1.0 + thin), one, [true, false, false, false, false, false]),
    ]
}

fn assembled(pieces: Vec<CutPiece>, objects: Vec<u32>, smallest: Option<Smallest>) -> Assembled {
    let volume = pieces
        .iter()
        .map(|piece| MassProperties::of_triangles(piece.surface.corners_of_triangles(), 1.0).volume_m3)
        .sum();
    let source = SourceMesh { surface: Arc::default(), materials: Arc::default(), is_whole: true, volume };
    let mesh = Arc::new(crate::mesh::builtin("box").unwrap());
    let assembling = Assembling {
        source: &source,
        shape: &Shape::mesh(&mesh, 1.0, 2.0, Look::default()),
        pattern: &Pattern { seeds: vec![[0; 3]; objects.len()], objects },
        params: &FractureParams { smallest, ..FractureParams::default() },
        grid: &Grid { level: 4, origin: DVec3::ZERO, h: 0.25 },
        stand_in: Some(Grid::around(DVec3::ZERO, DVec3::new(2.2, 1.0, 1.0), 4)),
    };
    assembling.parts(pieces).unwrap()
}

fn volumes(all: &[Part]) -> Vec<f64> {
    all.iter().map(|part| (part.shape.mass().volume_m3 * 1e6).round() / 1e6).collect()
}

/// Every edge has as many triangles one way as the other.
fn is_closed(surface: &PieceMesh) -> bool {
    let mut sides: Vec<[u32; 2]> =
        surface.triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
    sides.sort_unstable();
    sides.iter().all(|[a, b]| sides.binary_search(&[*b, *a]).is_ok())
}

#[test]
fn pieces_that_touch_are_found_by_the_corners_of_their_cracks() {
    let pieces = row(0.2);
    let found = Adjacency::of(&pieces);
    let pairs: Vec<_> = found.pairs.iter().map(|pair| (pair.pieces, pair.triangles.len())).collect();
    assert_eq!(pairs, [([0, 1], 2), ([1, 2], 2)]);
    assert!((found.pairs[0].area - 1.0).abs() < 1e-12);
    // A hair apart is apart.
    let mut moved = row(0.2);
    moved[2].surface.positions.iter_mut().for_each(|p| p.x += 1e-13);
    assert_eq!(Adjacency::of(&moved).pairs.len(), 1);
}

#[test]
fn each_cell_is_a_part_with_its_mass_and_voxels_that_stand_in() {
    let out = assembled(row(0.2), vec![0, 1, 2], None);
    assert_eq!((volumes(&out.parts), out.cells, out.merged), (vec![1.0, 1.0, 0.2], 3, 0));
    assert_eq!(out.parts.iter().map(|part| part.cell).collect::<Vec<_>>(), [0, 2, 1]);
    assert!(out.parts.iter().map(|part| part.size).sum::<u64>().abs_diff(1_000_000) <= 3);
    for part in &out.parts {
        let (shape, octree) = (&part.shape, part.shape.as_octree().unwrap());
        let kg = shape.mass().volume_m3 * 2.0;
        assert!((shape.mass_kg() / kg - 1.0).abs() < 1e-12);
        // Coverage is exact, so voxels of a box weigh what the box does.
        let voxels = octree.mass.volume * octree.grid.h.powi(3);
        assert!((voxels / shape.mass().volume_m3 - 1.0).abs() < 1e-3, "{voxels}");
        let centre = octree.grid.origin + octree.grid.h * octree.mass.centre;
        assert!(centre.distance(shape.mass().centre) < 0.02, "{centre}");
        assert!(shape.shape_from_local(shape.centre()).distance(shape.mass().centre) < 1e-12);
    }
}

#[test]
fn cells_of_one_object_are_one_closed_part_without_the_crack_between_them() {
    let out = assembled(row(0.2), vec![0, 0, 2], None);
    assert_eq!((volumes(&out.parts), out.parts[0].cell), (vec![1.2, 1.0], 0));
    assert_eq!(out.objects, [vec![0], vec![2]]);
    let surface = out.parts[0].shape.as_mesh().unwrap().surface();
    assert!(is_closed(surface) && surface.triangles.len() == 20 && surface.positions.len() == 12);
    // What shares an object but does not touch stays apart.
    assert_eq!(volumes(&assembled(row(0.2), vec![0, 1, 0], None).parts), [1.0, 1.0, 0.2]);
}

#[test]
fn what_is_small_joins_what_it_shares_most_with_or_goes() {
    let rule = |fraction: f64, rule: SmallRule| Some(Smallest { voxels: 0, fraction, rule });
    let mut pieces = row(0.2);
    // The right neighbour is larger, at an equal share.
    pieces[2] =
        brick(2, DVec3::X * 1.2, DVec3::new(1.5, 1.0, 1.0), [true, false, false, false, false, false]);
    let out = assembled(pieces.clone(), vec![0, 1, 2], rule(0.1, SmallRule::Merge));
    assert_eq!((volumes(&out.parts), out.merged), (vec![1.7, 1.0], 1));
    assert_eq!(out.objects[0], [1, 2]);
    assert!(is_closed(out.parts[0].shape.as_mesh().unwrap().surface()));
    let out = assembled(pieces, vec![0, 1, 2], rule(0.1, SmallRule::Drop));
    assert_eq!((volumes(&out.parts), volumes(&out.lost.dropped)), (vec![1.5, 1.0], vec![0.2]));
    // 0.2 m^3 are 12.8 voxels of 0.25 m.
    let voxels = |voxels| Some(Smallest { voxels, ..Smallest::default() });
    assert_eq!(assembled(row(0.2), vec![0, 1, 2], voxels(12)).merged, 0);
    assert_eq!(assembled(row(0.2), vec![0, 1, 2], voxels(13)).merged, 1);
    // The largest is never small, and what touches nobody stays.
    let all = assembled(row(0.2), vec![0, 1, 2], voxels(1000));
    assert_eq!((all.parts.len(), all.merged), (1, 2));
    let alone = vec![row(0.2)[0].clone(), row(0.2)[2].clone()];
    assert_eq!(assembled(alone, vec![0, 1, 2], voxels(1000)).parts.len(), 2);
}

#[test]
fn a_mesh_that_does_not_fit_into_memory_is_refused_before_it_is_cut() {
    assert!(check_memory(1000).is_ok());
    let refused = check_memory(usize::MAX);
    match memory::free() {
        Some(_) => {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains("GB are free") && told.contains("decimate"), "{told}");
        }
        None => assert!(refused.is_ok(), "where nobody tells what is free, nothing is refused"),
    }
}
