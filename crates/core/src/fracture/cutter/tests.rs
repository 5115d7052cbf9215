//! Whole breaks by closed meshes, beside winding numbers of places.

use std::sync::Arc;

use glam::DVec3;

use super::{CutterMesh, METHOD};
use crate::{
    compute::Compute,
    fracture::{
        Break, BreakContext, Cancel, FractureError, FractureParams, Impact, MethodId, Passes, SeedSource,
        Strike, Surface, break_shape,
    },
    geometry::triangle::winding_number,
    import::{Imported, ReadMesh, import},
    mesh::{Mesh, Up, builtin},
    svo::{Arena, Octant, inside_never_touches_outside, morton, validate},
    voxelize::Progress,
};

fn object(name: &str, level: u32) -> Imported {
    import(&format!("builtin:{name}"), level, &Progress::default()).unwrap()
}

fn params(options: &[(&str, f64)]) -> FractureParams {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    FractureParams { method: METHOD.id(), options, ..FractureParams::default() }
}

/// A box from `low` to `high`.
fn block(low: DVec3, high: DVec3) -> Mesh {
    let corner = |c: usize| [0, 1, 2].map(|k| if c >> k & 1 == 0 { low[k] } else { high[k] } as f32);
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh { positions: (0..8).map(corner).collect(), triangles, ..Mesh::default() }
}

fn both(one: Mesh, other: &Mesh) -> Mesh {
    let base = one.positions.len() as u32;
    let mut all = one;
    all.positions.extend_from_slice(&other.positions);
    all.triangles.extend(other.triangles.iter().map(|triangle| triangle.map(|i| base + i)));
    all
}

/// Breaks an object by seeds in its own units.
fn broken(
    object: &Imported,
    params: &FractureParams,
    seeds: Option<&SeedSource>,
) -> Result<Break, FractureError> {
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let seeds = seeds.map(|seeds| seeds.placed(|p| object.shape.local_from_shape(p)));
    let middle = object.shape.local_from_shape(object.bounds.middle());
    let impact = Impact { point: middle, direction: DVec3::NEG_Z };
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    break_shape(&context, &object.shape, &Strike { seeds: seeds.as_ref(), ..Strike::new(impact, params) })
}

fn cut(object: &Imported, cutter: &Mesh, options: &[(&str, f64)]) -> Break {
    let seeds = SeedSource::Cutter(Arc::new(CutterMesh::new(cutter).unwrap()));
    let done = broken(object, &params(options), Some(&seeds)).unwrap();
    let (before, after) = (object.shape.mass().volume_m3, done.volume_m3());
    assert!((after / before - 1.0).abs() < 1e-6, "{after} of {before}");
    for part in &done.parts {
        let octree = part.shape.as_octree().unwrap();
        assert_eq!(validate(&octree.forest), Ok(()));
        assert!(inside_never_touches_outside(&octree.forest, octree.tree as usize));
        assert!(octree.forest.leaves.coverage.iter().all(|coverage| *coverage > 0.0 && *coverage <= 1.0));
    }
    done
}

/// Volumes of the parts of a cell, the largest first, as shares of the object's.
fn shares(object: &Imported, done: &Break, cell: u32) -> Vec<f64> {
    let all = object.shape.mass().volume_m3;
    let of_cell = done.parts.iter().filter(|part| part.cell == cell);
    of_cell.map(|part| part.shape.mass().volume_m3 / all).collect()
}

fn near(found: &[f64], wanted: &[f64], off: f64) {
    let is_near = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < off);
    assert!(is_near, "{found:?}, not {wanted:?}");
}

#[test]
fn every_voxel_lies_where_the_winding_numbers_of_its_corners_have_it() {
    let object = object("box", 4);
    let size = object.bounds.size().max_element();
    let mut ball = builtin("sphere").unwrap();
    // A ball at a corner of the box, which it leaves.
    let at = object.bounds.low + object.bounds.size() * DVec3::new(0.7, 0.62, 0.66);
    let own = crate::geometry::Aabb::of(ball.positions.iter().map(|p| DVec3::from_array(p.map(f64::from))));
    for p in &mut ball.positions {
        let place =
            (DVec3::from_array(p.map(f64::from)) - own.middle()) / own.size().max_element() * 0.9 * size + at;
        *p = place.to_array().map(|v| v as f32);
    }
    let done = cut(&object, &ball, &[]);
    assert_eq!(done.parts.iter().map(|part| part.cell).collect::<std::collections::BTreeSet<_>>().len(), 2);
    let side = 1usize << 4;
    let point = |i: u32| DVec3::from_array(ball.positions[i as usize].map(f64::from));
    let is_inside = |grid: [u32; 3]| {
        let p = object.grid.origin + object.grid.h * DVec3::from_array(grid.map(f64::from));
        winding_number(ball.triangles.iter().map(|t| t.map(point)), p) > 0.5
    };
    let corners: Vec<bool> = (0..(side + 1).pow(3))
        .map(|k| {
            is_inside([k % (side + 1), k / (side + 1) % (side + 1), k / (side + 1).pow(2)].map(|v| v as u32))
        })
        .collect();
    let mut mixed = 0;
    for key in 0..side.pow(3) as u64 {
        let cell = morton::decode(key);
        if !object.forest.is_internal(0, cell) {
            continue;
        }
        let around = (0..8).map(|c| [0, 1, 2].map(|k| cell[k] as usize + (c >> k & 1)));
        let around = around.map(|[x, y, z]| corners[x + (side + 1) * (y + (side + 1) * z)]);
        let inside = around.filter(|inside| *inside).count();
        let found = |cell_of: u32| {
            let mut found = done.parts.iter().filter(|part| part.cell == cell_of).map(|part| {
                let octree = part.shape.as_octree().unwrap();
                octree.forest.octant_at(octree.tree as usize, cell)
            });
            found.find(|octant| !matches!(octant, Octant::Empty { .. }))
        };
        let (ball, rest) = (found(0), found(1));
        match inside {
            0 | 8 => {
                // The surface may pass between the corners; else one side has all of the voxel.
                let (own, other) = if inside == 8 { (ball, rest) } else { (rest, ball) };
                let is_whole = matches!(own, Some(Octant::Internal { .. })) && other.is_none();
                let is_crossed = matches!((own, other), (Some(Octant::Leaf(_)), Some(Octant::Leaf(_))));
                assert!(is_whole || is_crossed, "{cell:?}: {own:?}, {other:?}");
            }
            _ => {
                mixed += 1;
                let is_crossed = matches!((ball, rest), (Some(Octant::Leaf(_)), Some(Octant::Leaf(_))));
                assert!(is_crossed, "{cell:?}: {ball:?}, {rest:?}");
            }
        }
    }
    assert!(mixed > 50, "{mixed}");
}

#[test]
fn blocks_take_their_shares_and_what_is_left_falls_apart_where_it_must() {
    let object = object("box", 6);
    let (low, size) = (object.bounds.low, object.bounds.size());
    let place = |x: f64, y: f64, z: f64| low + size * DVec3::new(x, y, z);
    // The upper third ends where the object does: no sheet of the rest hangs on to it.
    let third = block(place(0.0, 0.66, 0.0), place(1.0, 1.0, 1.0));
    let done = cut(&object, &third, &[]);
    near(&shares(&object, &done, 0), &[0.34], 0.01);
    near(&shares(&object, &done, 1), &[0.66], 0.01);
    // A slab right through, far larger than the grid, leaves two.
    let slab = block(place(-20.0, 0.4, -9.0), place(30.0, 0.6, 70.0));
    let done = cut(&object, &slab, &[]);
    near(&shares(&object, &done, 0), &[0.2], 0.01);
    near(&shares(&object, &done, 1), &[0.4, 0.4], 0.01);
    // Two bodies in one file; the first takes what both have.
    let pair = both(
        block(place(-1.0, -1.0, -1.0), place(0.3, 2.0, 2.0)),
        &block(place(0.1, -1.0, -1.0), place(0.5, 2.0, 2.0)),
    );
    let done = cut(&object, &pair, &[]);
    near(&shares(&object, &done, 0), &[0.3], 0.01);
    near(&shares(&object, &done, 1), &[0.2], 0.01);
    near(&shares(&object, &done, 2), &[0.5], 0.01);
    // One that lies within leaves a hole, and one that lies elsewhere cuts nothing.
    let core = block(place(0.25, 0.25, 0.25), place(0.75, 0.75, 0.75));
    near(&shares(&object, &cut(&object, &core, &[]), 1), &[0.875], 0.01);
    assert!(cut(&object, &core, &[("move_x", 3.0)]).stayed_whole());
    let moved = cut(&object, &core, &[("move_x", 0.5), ("scale", 1.0)]);
    near(&shares(&object, &moved, 0), &[0.25 * 0.25], 0.01);
}

#[test]
fn a_cutter_fits_turns_and_repeats_to_the_bit() {
    let object = object("vase", 6);
    let cube = builtin("box").unwrap();
    let options = [("fit", 1.0), ("scale", 0.4), ("turn_y", 30.0), ("turn_x", 45.0), ("move_y", 0.2)];
    let (one, other) = (cut(&object, &cube, &options), cut(&object, &cube, &options));
    assert!(one.parts.len() > 1);
    let forest = |done: &Break| Arc::clone(&done.parts[0].shape.as_octree().unwrap().forest);
    assert!(*forest(&one) == *forest(&other));
}

#[test]
fn what_cannot_cut_is_refused_with_what_to_do() {
    let object = object("box", 4);
    let said = broken(&object, &params(&[]), None).err().unwrap().to_string();
    assert!(said.contains("--cutter") && said.contains("seeds_file"), "{said}");
    let seeds = SeedSource::Cutter(Arc::new(CutterMesh::new(&builtin("sphere").unwrap()).unwrap()));
    let octree = FractureParams { method: MethodId::default(), ..FractureParams::default() };
    let said = broken(&object, &octree, Some(&seeds)).err().unwrap().to_string();
    assert!(said.contains("method cutter"), "{said}");
    let rough = FractureParams { surface: Surface::Rough, ..params(&[]) };
    assert_eq!(rough.problem().map(|(field, _)| field), Some("surface"));
    let mut open = block(DVec3::ZERO, DVec3::ONE);
    open.triangles.truncate(2);
    let said = CutterMesh::new(&open).unwrap_err();
    assert!(said.contains("body 1") && said.contains("close its holes"), "{said}");
    assert!(CutterMesh::new(&Mesh::default()).unwrap_err().contains("0 closed bodies"));
}

#[test]
fn a_piece_stays_as_the_cutter_left_it_and_breaks_by_other_methods() {
    let object = object("box", 5);
    let (low, size) = (object.bounds.low, object.bounds.size());
    let third = block(low - size, low + size * DVec3::new(2.0, 0.4, 2.0));
    let done = cut(&object, &third, &[]);
    assert_eq!(done.parts.len(), 2);
    let (passes, params) = (Passes::default(), params(&[]));
    for part in &done.parts {
        let octree = part.shape.as_octree().unwrap();
        let mut arena = Arena::new(Compute::Cpu).unwrap();
        arena.insert(&octree.forest).unwrap();
        let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
        let impact = Impact { point: octree.mass.bounds.middle(), direction: DVec3::NEG_Y };
        let again = break_shape(&context, &part.shape, &Strike::new(impact, &params)).unwrap();
        assert!(again.stayed_whole());
        // The same voxels, to the bit, with the same solid in them.
        let there = again.parts[0].shape.as_octree().unwrap();
        let leaves = |octree: &crate::shape::Octree| {
            let (all, own) = (&octree.forest.leaves, octree.leaves());
            own.map(|i| (all.keys.at(i), all.normals[i], all.coverage[i].to_bits(), all.cuts[i]))
                .collect::<Vec<_>>()
        };
        assert_eq!(leaves(there), leaves(octree));
        assert_eq!(there.mass.voxels, octree.mass.voxels);
        let octree_method = FractureParams { seeds: 6, ..FractureParams::default() };
        let broken = break_shape(&context, &part.shape, &Strike::new(impact, &octree_method)).unwrap();
        assert!(broken.parts.len() > 1);
    }
}

#[test]
fn an_outline_lies_on_the_cutter_where_it_cuts() {
    let object = object("vase", 5);
    let mesh = CutterMesh::new(&builtin("box").unwrap()).unwrap();
    let params = params(&[("fit", 1.0), ("scale", 0.5), ("turn_y", 30.0), ("move_x", 0.2)]);
    let lines = super::outline(&mesh, &params, &object.shape);
    // The twelve edges of the box, and not the diagonals of its sides.
    let bounds = object.shape.as_octree().unwrap().mass.bounds;
    let longest = bounds.size().max_element();
    let mut lengths: Vec<f64> = lines.iter().map(|[a, b]| a.distance(*b)).collect();
    lengths.sort_by(f64::total_cmp);
    assert!(lines.len() >= 12, "{lengths:?}");
    let all = crate::geometry::Aabb::of(lines.iter().flatten().copied());
    assert!((all.middle() - bounds.middle() - DVec3::X * 0.2 * longest).length() < 1e-6 * longest);
    let radius = lines.iter().flatten().map(|p| p.distance(all.middle())).fold(0.0, f64::max);
    // No corner is farther from the middle than those of a cube with half the longest side.
    assert!(radius < 0.25 * longest * 3f64.sqrt() + 1e-6, "{radius}");
}

#[test]
fn many_bodies_take_what_each_alone_would() {
    let object = object("box", 5);
    let (low, size) = (object.bounds.low, object.bounds.size());
    let at =
        |k: u32| low + size * DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) * 0.25;
    let small = |k: u32| block(at(k) + size * 0.03, at(k) + size * 0.19);
    let all = (1..64).fold(small(0), |all, k| both(all, &small(k)));
    let done = cut(&object, &all, &[]);
    for k in (0..64).step_by(7) {
        let alone = shares(&object, &cut(&object, &small(k), &[]), 0);
        near(&shares(&object, &done, k), &alone, 1e-12);
        near(&alone, &[0.16f64.powi(3)], 1.5e-3);
    }
}

#[test]
fn a_cutter_meets_an_object_far_from_the_origin_of_its_file() {
    let mut mesh = builtin("box").unwrap();
    mesh.origin = [1000.0, 0.0, -500.0];
    let origin = mesh.origin;
    let read = ReadMesh::again("far".into(), Arc::new(mesh), Arc::default(), Up::Y, Vec::new());
    let object = read.voxelise(5, &Progress::default()).unwrap();
    let (low, size) = (object.bounds.low, object.bounds.size());
    let half = block(low - size, low + size * DVec3::new(2.0, 0.5, 2.0));
    let done = cut(&object, &Mesh { origin, ..half }, &[]);
    near(&shares(&object, &done, 0), &[0.5], 0.01);
}
