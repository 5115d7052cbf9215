//! Pieces with relief: closed, of the same volume in all, fitting to each other, and bent as the material says.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use super::{
    MeshCheck, PieceMesh, Side,
    relief::{Relief, bytes_of, outside_of, with_relief},
};
use crate::{
    Assembly, BrokenObject, Handover, MeshKind, Meshes, Watch,
    compute::Compute,
    fracture::{
        FractureParams, Insides, Interior, Material, Passes, Surface, Volume,
        generations::{Plan, break_object, default_impact},
    },
    import::{Imported, import},
    svo::{Arena, Grid},
    voxelize::Progress,
};

fn broken(name: &str, level: u32, params: FractureParams, generations: u32) -> (Imported, BrokenObject) {
    let object = import(name, level, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let plan = Plan { impact, params, seeds: None, bounds: Some(object.bounds), generations };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    (object, broken)
}

fn params(material: Material, surface: Surface) -> FractureParams {
    // So large that edges of a voxel show all layers.
    let interior = Interior { material, scale: 6.0, ..Interior::default() };
    FractureParams { seeds: 9, surface, interior, ..FractureParams::default() }
}

/// The pieces without and with relief.
fn meshes(of: &(Imported, BrokenObject), kind: MeshKind, edge: f64) -> (Assembly, Vec<[PieceMesh; 2]>) {
    with_edge(assembled(of, kind), edge)
}

fn assembled((object, broken): &(Imported, BrokenObject), kind: MeshKind) -> Assembly {
    let mut what = Assembly::of_break(broken);
    if kind == MeshKind::Original {
        what.cut_original(&object.mesh, 1.0, broken, &Progress::default()).unwrap();
    } else {
        what.meshes = Meshes::asked(kind);
    }
    what
}

fn with_edge(mut what: Assembly, edge: f64) -> (Assembly, Vec<[PieceMesh; 2]>) {
    what.handover = Handover { relief_edge: edge, ..Handover::default() };
    what.prepare(&Watch::whole(&Progress::default())).unwrap();
    let both = |i| [what.mesh_without_relief(i), what.mesh(i)].map(|mesh| PieceMesh::clone(mesh.mesh()));
    let pairs = (0..what.pieces.len()).map(both).collect();
    (what, pairs)
}

fn volume(mesh: &PieceMesh) -> f64 {
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
        a.dot(b.cross(c)) / 6.0
    };
    mesh.triangles.iter().map(of).sum()
}

/// Crack triangles by their corners, turned to begin with the lowest; of both windings the same key.
fn cracks<'a>(meshes: impl Iterator<Item = &'a PieceMesh>) -> BTreeMap<[[u64; 3]; 3], i32> {
    let mut count = BTreeMap::new();
    for mesh in meshes {
        for (triangle, _) in
            mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside)
        {
            let mut corners = triangle.map(|v| mesh.positions[v as usize].to_array().map(f64::to_bits));
            let even = {
                let before = corners;
                corners.sort_unstable();
                let first = before.iter().position(|c| *c == corners[0]).unwrap_or_default();
                before[(first + 1) % 3] == corners[1]
            };
            *count.entry(corners).or_insert(0) += if even { 1 } else { -1 };
        }
    }
    count
}

#[test]
fn pieces_stay_closed_and_fill_the_same_volume() {
    // Every material on planar and on rough cracks.
    for (name, surface, materials) in [
        ("builtin:box", Surface::Planar, &[Material::Clay, Material::Concrete, Material::Wood][..]),
        ("builtin:vase", Surface::Rough, &[Material::Concrete, Material::Wood]),
        ("builtin:statue", Surface::Rough, &[Material::Clay]),
    ] {
        for &material in materials {
            let (what, pairs) =
                meshes(&broken(name, 6, params(material, surface), 1), MeshKind::Original, 1.0);
            let [before, after] = [0, 1].map(|k| pairs.iter().map(|pair| volume(&pair[k])).sum::<f64>());
            let off = (after / before - 1.0).abs();
            println!("{name} {material:?}: {} pieces, volume off by {off:.1e}", pairs.len());
            // Slivers are taken out of rough pieces one by one, so that a few triangles have no partner.
            let most = if surface == Surface::Planar { 1e-9 } else { 2e-5 };
            assert!(off < most, "{name} {material:?}: {before} {after}");
            for [smooth, rough] in &pairs {
                let [was, is] = [smooth, rough].map(MeshCheck::of);
                assert!(is.is_manifold() || !was.is_manifold(), "{name} {material:?}: {is:?}");
                assert!(rough.triangles.len() >= smooth.triangles.len());
            }
            let moved =
                |[smooth, rough]: &[PieceMesh; 2]| (volume(rough) / volume(smooth) - 1.0).abs() > 1e-5;
            assert!(pairs.iter().any(moved), "{name} {material:?}: nothing is displaced");
            assert_eq!(what.figures.len(), pairs.len());
        }
    }
}

/// Whatever both sides of a crack shared before, they share after it.
#[test]
fn both_sides_of_a_crack_still_fit() {
    for (kind, surface) in [(MeshKind::Original, Surface::Planar), (MeshKind::Original, Surface::Rough)] {
        let (_, pairs) = meshes(&broken("builtin:box", 6, params(Material::Stone, surface), 1), kind, 0.7);
        let [before, after] = [0, 1].map(|k| cracks(pairs.iter().map(|pair| &pair[k])));
        let (was, is) = (alone(&before), alone(&after));
        println!(
            "{kind:?} {surface:?}: {was:.4} of {} without a partner, then {is:.4} of {}",
            before.len(),
            after.len()
        );
        assert!(after.len() > 3 * before.len());
        assert!(is <= was + 0.002, "{kind:?} {surface:?}");
    }
}

/// Crack triangles that the other side does not have, as a share of all.
fn alone(of: &BTreeMap<[[u64; 3]; 3], i32>) -> f64 {
    of.values().filter(|sum| **sum != 0).count() as f64 / of.len() as f64
}

/// F1, F2, F5 and F9 of meshes with the grain of each material, on planar or on rough cracks: closed, as much in all, side to side,
/// and the same bytes on any number of threads.
#[test]
fn pieces_hold_the_checks_with_the_grain_of_every_material_on_any_number_of_threads() {
    let [one, four] = [1, 4].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    for (surface, lost) in [(Surface::Planar, 1e-9), (Surface::Rough, 5e-4)] {
        let few = FractureParams { seeds: 4, ..params(Material::Plain, surface) };
        let plain = assembled(&broken("builtin:box", 4, few, 1), MeshKind::Original);
        // Half of the materials each, since every one of them takes a second.
        for material in Material::ALL.into_iter().skip(usize::from(surface == Surface::Rough)).step_by(2) {
            let interior = Interior { scale: 10.0, ..params(material, surface).interior };
            let mut what = plain.clone();
            let inside = interior.volume([200, 190, 175]);
            what.insides.insert(None, inside);
            what.pieces.iter_mut().for_each(|piece| piece.insides = Insides::of([inside]));
            let [pairs, same] = [&one, &four].map(|pool| pool.install(|| with_edge(what.clone(), 1.0).1));
            assert!(pairs == same, "{material:?} {surface:?}: other bytes on other threads");
            let [before, after] = [0, 1].map(|k| {
                let sum: f64 = pairs.iter().map(|pair| volume(&pair[k])).sum();
                (sum, alone(&cracks(pairs.iter().map(|pair| &pair[k]))))
            });
            let off = (after.0 / before.0 - 1.0).abs();
            println!(
                "{material:?} {surface:?}: volume off by {off:.1e}, alone {:.4} to {:.4}",
                before.1, after.1
            );
            assert!(off < lost, "{material:?} {surface:?}: {before:?} {after:?}");
            assert!(after.1 <= before.1 + 0.01, "{material:?} {surface:?}: {before:?} {after:?}");
            let is_closed = |[was, is]: &[PieceMesh; 2]| {
                let [was, is] = [was, is].map(|mesh| MeshCheck::sampled(mesh, 1000));
                is.is_manifold() || !was.is_manifold()
            };
            assert!(pairs.iter().all(is_closed), "{material:?} {surface:?}");
            let moved = |[was, is]: &[PieceMesh; 2]| (volume(is) / volume(was) - 1.0).abs() > 1e-5;
            assert!(pairs.iter().any(moved), "{material:?} {surface:?}: nothing is displaced");
        }
    }
}

/// A flat crack through a cube, its edges at the outside.
fn half_cube() -> PieceMesh {
    let (_, pairs) = {
        let plain = FractureParams { seeds: 2, radii: vec![0.5], ..params(Material::Plain, Surface::Planar) };
        meshes(&broken("builtin:box", 5, plain, 1), MeshKind::Original, 0.0)
    };
    pairs[0][0].clone()
}

fn relief_of<'a>(volumes: &'a [Volume], edge: f64, outside: &'a super::TriangleTree) -> Relief<'a> {
    let grid = Grid { level: 5, origin: DVec3::splat(-1.0), h: 2.0 / 32.0 };
    Relief { volumes, grid, edge, outside }
}

#[test]
fn vertices_are_displaced_as_the_material_says() {
    let mesh = half_cube();
    let volume = params(Material::Plaster, Surface::Planar).interior.volume([200; 3]);
    let outside = outside_of([&mesh].into_iter());
    let all = [volume];
    let of = relief_of(&all, 0.06, &outside);
    let flat = with_relief(
        &mesh,
        &Relief { volumes: &[Interior::default().volume([0; 3])], ..relief_of(&all, 0.06, &outside) },
    );
    let bent = with_relief(&mesh, &of);
    assert_eq!(flat.triangles, bent.triangles, "halving does not depend on the material");
    let none = Interior { relief: 0.0, ..Interior::default() }.volume([200; 3]);
    assert_eq!(with_relief(&mesh, &Relief { volumes: &[none], ..of }).positions, mesh.positions);
    let mut later = mesh.clone();
    let cracks = later.faces.iter_mut().filter(|face| face.side == Side::Inside);
    cracks.for_each(|face| face.side = Side::Later(1));
    let later = with_relief(&later, &Relief { volumes: &[none, volume], ..of });
    assert_eq!(later.positions, bent.positions, "cracks of a later break have the relief of its material");
    assert_eq!(later.corners, bent.corners);
    let mut far = 0;
    for (triangle, face) in bent.triangles.iter().zip(&bent.faces) {
        let corners = triangle.map(|v| bent.positions[v as usize]);
        let longest = (0..3).map(|k| corners[k].distance(corners[(k + 1) % 3])).fold(0.0, f64::max);
        far += usize::from(face.side == Side::Inside && longest > 0.06 * 1.6);
    }
    assert_eq!(far, 0, "edges are as short as they should be");
    // What lies on the outside stays there.
    let on_outside = |p: &DVec3| outside.nearest(*p, 1e-9, |_| true).is_some();
    for (triangle, face) in bent.triangles.iter().zip(&bent.faces) {
        if face.side != Side::Inside {
            assert!(triangle.iter().all(|v| on_outside(&bent.positions[*v as usize])));
        }
    }
    assert!(bytes_of(&mesh, 0.06) > 0);
}

/// The largest distance between the crack faces of a first break and those of the pieces of a second one, which cut them.
#[test]
fn cracks_of_later_breaks_meet_those_before_them() {
    let object = broken("builtin:box", 6, params(Material::Clay, Surface::Planar), 2);
    let (what, pairs) = meshes(&object, MeshKind::Original, 1.0);
    let voxel = what.pieces[0].voxel();
    let sum: f64 = pairs.iter().map(|pair| volume(&pair[1])).sum();
    let before: f64 = pairs.iter().map(|pair| volume(&pair[0])).sum();
    let off = (sum / before - 1.0).abs();
    println!("{} pieces of voxels of {voxel:.4}, volume off by {off:.1e}", pairs.len());
    assert!(off < 1e-4, "{off}");
}

#[test]
fn normals_follow_the_relief() {
    let (_, pairs) = meshes(
        &broken("builtin:box", 6, params(Material::Clay, Surface::Planar), 1),
        MeshKind::Original,
        0.5,
    );
    let (mut count, mut off) = (0, 0.0);
    for [_, rough] in &pairs {
        for ((triangle, face), corners) in rough.triangles.iter().zip(&rough.faces).zip(&rough.corners) {
            if face.side != Side::Inside {
                continue;
            }
            let [a, b, c] = triangle.map(|v| rough.positions[v as usize]);
            let normal = (b - a).cross(c - a).normalize_or_zero().as_vec3();
            let mean = corners.iter().map(|c| c.normal).sum::<Vec3>().normalize_or_zero();
            count += 1;
            off += f64::from(normal.dot(mean).clamp(-1.0, 1.0).acos().to_degrees());
        }
    }
    let off = off / f64::from(count);
    println!("{count} triangles, normals off by {off:.1} degrees");
    // Smooth faces lean 14 degrees away from those of clay.
    assert!(count > 10_000 && off < 9.0, "{off}");
}
