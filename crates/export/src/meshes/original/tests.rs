//! Built-in shapes cut in every way: closed, outward, all of the volume, and what the surface shows.

use glam::DVec3;

use super::*;
use crate::{
    compute::Compute,
    fracture::{
        FractureParams, Passes, SmallRule, Smallest,
        generations::{Plan, break_object, default_impact},
    },
    import::{Imported, import},
    meshes::Side,
    svo::Arena,
    voxelize::Progress,
};

const SURFACES: [Surface; 3] = [Surface::Planar, Surface::Rough, Surface::Dusty];

fn params(surface: Surface, seeds: u32) -> FractureParams {
    FractureParams { surface, seeds, ..FractureParams::default() }
}

fn merging(params: FractureParams) -> FractureParams {
    FractureParams { smallest: Some(Smallest { voxels: 8, fraction: 0.0, rule: SmallRule::Merge }), ..params }
}

fn broken(name: &str, level: u32, params: &FractureParams, generations: u32) -> (Imported, BrokenObject) {
    broken_by(name, level, params, generations, None)
}

/// With seeds of one's own, where there are some: a share of the object's bounds each.
fn broken_by(
    name: &str,
    level: u32,
    params: &FractureParams,
    generations: u32,
    seeds: Option<&[DVec3]>,
) -> (Imported, BrokenObject) {
    let object = import(name, level, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let place = |share: &DVec3| object.bounds.low + object.bounds.size() * *share;
    let seeds = seeds.map(|all| all.iter().map(place).collect::<Vec<_>>().into());
    let plan = Plan { impact, params: params.clone(), seeds, bounds: Some(object.bounds), generations };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    (object, broken)
}

fn read(mesh: &crate::mesh::Mesh) -> Original {
    Original::new(std::sync::Arc::new(mesh.clone()), 1.0)
}

fn cut_all(object: &Imported, broken: &BrokenObject) -> Originals {
    meshes(&read(&object.mesh), &broken.grid(), &steps_of(broken).unwrap(), false, &Progress::default())
        .unwrap()
}

/// Signed volume, reckoned from the middle of the object.
fn volume(mesh: &PieceMesh, middle: DVec3) -> f64 {
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize] - middle);
        a.dot(b.cross(c)) / 6.0
    };
    mesh.triangles.iter().map(of).sum()
}

/// Sides of triangles that do not have exactly one partner that runs the other way.
fn open_sides(triangles: &[[u32; 3]]) -> usize {
    let mut sides: Vec<(u32, u32)> =
        triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
    sides.sort_unstable();
    let count =
        |side: (u32, u32)| sides.partition_point(|s| *s <= side) - sides.partition_point(|s| *s < side);
    sides.iter().filter(|(a, b)| a == b || count((*a, *b)) != 1 || count((*b, *a)) != 1).count()
}

/// How often a mesh winds round a point, from solid angles.
fn winding(mesh: &PieceMesh, p: DVec3) -> f64 {
    let angle = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize] - p);
        let (x, y, z) = (a.length(), b.length(), c.length());
        let (above, below) = (a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y);
        2.0 * libm::atan2(above, below)
    };
    mesh.triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Everything that must hold of a break's meshes; how many pieces have none.
fn check(name: &str, object: &Imported, broken: &BrokenObject) -> usize {
    let made = cut_all(object, broken);
    let middle = object.bounds.middle();
    let (mut sum, mut none) = (0.0, 0);
    let h = broken.grid().h;
    for (id, at) in broken.pieces.iter().enumerate() {
        let (part, octree) = (broken.part(*at), broken.octree(*at));
        let Some(mesh) = &made.steps[at.step][at.piece] else {
            assert!(part.size < 64, "{name}: piece {id} of {} voxels has no mesh", part.size);
            none += 1;
            continue;
        };
        assert_eq!(open_sides(&mesh.triangles), 0, "{name}: piece {id} is open");
        assert_eq!((mesh.faces.len(), mesh.corners.len()), (mesh.triangles.len(), mesh.triangles.len()));
        let own = volume(mesh, middle);
        assert!(own > 0.0, "{name}: piece {id} is inside out");
        sum += own;
        // What the octree holds is right to a part of its surface voxels.
        let leaves = broken.leaves(*at).len() as f64;
        let off = (own / h.powi(3) - octree.mass.volume).abs();
        let known = octree.mass.volume + leaves;
        assert!(off < 0.5 * known + 8.0, "{name}: piece {id}: {own} of {}", octree.mass.volume * h.powi(3));
        assert!(mesh.corners.iter().flatten().all(|c| (c.normal.length() - 1.0).abs() < 1e-3));
    }
    let whole = object.health.volume;
    if broken.steps.iter().all(|step| step.result.lost.dust_m3 == 0.0) {
        assert!((sum / whole - 1.0).abs() < 1e-6, "{name}: volumes add up to {sum} of {whole}");
    } else {
        assert!(sum < whole * (1.0 + 1e-6) && sum > whole * 0.3, "{name}: {sum} of {whole}");
    }
    none
}

#[test]
fn pieces_are_closed_outward_and_add_up() {
    for surface in SURFACES {
        for name in ["builtin:box", "builtin:column", "builtin:cavity"] {
            let (object, broken) = broken(name, 6, &params(surface, 24), 1);
            check(&format!("{name} {surface:?}"), &object, &broken);
        }
    }
}

#[test]
fn curved_and_hollow_shapes_too() {
    for surface in SURFACES {
        for name in ["builtin:sphere", "builtin:shell", "builtin:vase"] {
            let (object, broken) = broken(name, 5, &params(surface, 16), 1);
            check(&format!("{name} {surface:?}"), &object, &broken);
        }
    }
}

#[test]
fn merged_pieces_have_no_walls_between_them() {
    for surface in [Surface::Planar, Surface::Rough] {
        let (object, broken) = broken("builtin:box", 6, &merging(params(surface, 90)), 1);
        check("merged", &object, &broken);
    }
}

/// Seeds on a grid: four cells meet at every edge of a crack and eight at every corner, and where some of them stay
/// together, one body touches itself there.
#[test]
fn cells_of_a_regular_grid_are_cut_as_any_others() {
    let at = |k: usize| (k as f64 + 0.5) / 4.0;
    let seeds: Vec<DVec3> = (0..64).map(|k| DVec3::new(at(k % 4), at(k / 4 % 4), at(k / 16))).collect();
    for name in ["builtin:box", "builtin:sphere", "builtin:shell"] {
        // Near the blow alone few cells are broken off.
        for (local, least) in [(None, 8), (Some(0.35), 2)] {
            let params = FractureParams { local, ..params(Surface::Planar, 64) };
            let (object, broken) = broken_by(name, 6, &params, 1, Some(&seeds));
            assert!(broken.pieces.len() > least, "{name}: {} pieces", broken.pieces.len());
            check(&format!("{name} in a grid, local {local:?}"), &object, &broken);
        }
    }
}

#[test]
fn what_stays_one_body_is_one_mesh() {
    for surface in SURFACES {
        let local = FractureParams { local: Some(0.35), ..params(surface, 40) };
        let (object, broken) = broken("builtin:box", 6, &local, 1);
        check(&format!("local {surface:?}"), &object, &broken);
    }
}

#[test]
fn a_piece_that_breaks_again_is_cut_again() {
    for surface in SURFACES {
        let (object, broken) = broken("builtin:box", 6, &params(surface, 12), 2);
        assert!(broken.steps.len() > 1);
        check(&format!("twice {surface:?}"), &object, &broken);
    }
}

#[test]
fn no_triangle_faces_inward() {
    for surface in [Surface::Planar, Surface::Rough] {
        let (object, broken) = broken("builtin:box", 5, &params(surface, 10), 1);
        let made = cut_all(&object, &broken);
        for mesh in made.steps[0].iter().flatten() {
            for (t, corners) in mesh.triangles.iter().enumerate().step_by(7) {
                let [a, b, c] = corners.map(|i| mesh.positions[i as usize]);
                let normal = (b - a).cross(c - a);
                // A needle's front cannot be told from its back in floats.
                let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
                if normal.length() < 1e-3 * longest * longest {
                    continue;
                }
                let step = normal.normalize() * 1e-7;
                let middle = (a + b + c) / 3.0;
                assert!(winding(mesh, middle + step).abs() < 0.01, "{surface:?}: in front of {t}");
                assert!((winding(mesh, middle - step) - 1.0).abs() < 0.01, "{surface:?}: behind {t}");
            }
        }
    }
}

/// Texture coordinates and colours that are linear in the place, so that every corner outside has what its
/// place says.
#[test]
fn the_outside_shows_what_it_showed() {
    let (mut object, broken) = broken("builtin:box", 6, &params(Surface::Rough, 20), 1);
    let mut mesh = crate::mesh::Mesh::clone(&object.mesh);
    let uv = |p: DVec3| [0.3 * p.x - 0.2 * p.y + 0.7 * p.z, 0.1 * p.x + 0.5 * p.y - 0.4 * p.z];
    mesh.uvs =
        mesh.positions.iter().map(|p| uv(DVec3::from_array(p.map(f64::from))).map(|v| v as f32)).collect();
    mesh.uvs2 = mesh.uvs.iter().map(|[u, v]| [*v - 2.0, *u]).collect();
    object.mesh = std::sync::Arc::new(mesh);
    let made = cut_all(&object, &broken);
    let (mut outside, mut inside) = (0, 0);
    for mesh in made.steps[0].iter().flatten() {
        for (t, face) in mesh.faces.iter().enumerate() {
            for k in 0..3 {
                let (p, corner) = (mesh.positions[mesh.triangles[t][k] as usize], mesh.corners[t][k]);
                if face.side == Side::Inside {
                    inside += 1;
                    assert!(face.beyond.is_some());
                    continue;
                }
                outside += 1;
                let wanted = uv(p);
                assert!(
                    (0..2).all(|a| (f64::from(corner.uv[a]) - wanted[a]).abs() < 1e-5),
                    "{corner:?} at {p}"
                );
                let second = [wanted[1] - 2.0, wanted[0]];
                assert!((0..2).all(|a| (f64::from(corner.uv2[a]) - second[a]).abs() < 1e-5), "{corner:?}");
                // A box keeps its edges: every normal is an axis.
                assert!(corner.normal.abs().max_element() > 0.999, "{corner:?}");
            }
        }
    }
    assert!(outside > 100 && inside > 100, "{outside} and {inside}");
}

/// Normals as a sculptor smoothed them, and one that was turned round: the outside keeps the first, and has the other
/// on the side of its triangle. What a cut made between two corners has what is between their normals.
#[test]
fn the_outside_keeps_its_own_normals() {
    let (mut object, broken) = broken("builtin:box", 6, &params(Surface::Planar, 20), 1);
    let mut mesh = crate::mesh::Mesh::clone(&object.mesh);
    let middle = DVec3::new(0.0, 0.5, 0.0);
    let normal = |p: DVec3| (p - middle).normalize().as_vec3();
    let at = |p: &[f32; 3]| DVec3::from_array(p.map(f64::from));
    mesh.normals = mesh.positions.iter().map(|p| normal(at(p)).to_array()).collect();
    mesh.normals[0] = (-normal(at(&mesh.positions[0]))).to_array();
    let corners: Vec<DVec3> = mesh.positions.iter().map(at).collect();
    object.mesh = std::sync::Arc::new(mesh);
    let made = cut_all(&object, &broken);
    let (mut own, mut between) = (0, 0);
    for mesh in made.steps[0].iter().flatten() {
        for (t, _) in mesh.faces.iter().enumerate().filter(|(_, face)| face.side != Side::Inside) {
            for k in 0..3 {
                let (p, corner) = (mesh.positions[mesh.triangles[t][k] as usize], mesh.corners[t][k]);
                let is_own = corners.iter().any(|c| c.distance(p) < 1e-6);
                own += usize::from(is_own);
                between += usize::from(!is_own);
                // A box's normals are far from the axes at its corners, and never further from the radius than these.
                let limit = if is_own { 0.9999 } else { 0.8 };
                assert!(corner.normal.dot(normal(p)) > limit, "{corner:?} at {p}");
                assert!((corner.normal.length() - 1.0).abs() < 1e-4, "{corner:?}");
            }
        }
    }
    assert!(own >= 8 && between > 100, "{own} and {between}");
}

#[test]
fn an_open_mesh_is_refused() {
    let (object, broken) = broken("builtin:box", 4, &params(Surface::Planar, 4), 1);
    let mut mesh = crate::mesh::Mesh::clone(&object.mesh);
    mesh.triangles.truncate(mesh.triangles.len() / 2);
    let refused =
        meshes(&read(&mesh), &broken.grid(), &steps_of(&broken).unwrap(), false, &Progress::default());
    assert!(matches!(refused, Err(NotOriginal::Open(_))));
}

/// A box without its bottom, one without a triangle, and one whose triangles have corners of their own, which nearly
/// meet: all are cut as the whole one is, and their pieces add up.
#[test]
fn what_was_healed_is_cut_as_original() {
    let (mut object, broken) = broken("builtin:box", 5, &params(Surface::Rough, 12), 1);
    let whole = object.mesh.clone();
    let mut bottomless = crate::mesh::Mesh::clone(&whole);
    bottomless.triangles.retain(|t| t.iter().any(|i| whole.positions[*i as usize][1] > 0.0));
    assert!(bottomless.triangles.len() < whole.triangles.len());
    let mut with_hole = crate::mesh::Mesh::clone(&whole);
    with_hole.triangles.pop();
    let mut loose = crate::mesh::Mesh::default();
    for (k, i) in whole.triangles.iter().flatten().enumerate() {
        let off = [k % 3, k % 5, k % 7].map(|v| v as f32 * 1e-7);
        let p = whole.positions[*i as usize];
        loose.positions.push([0, 1, 2].map(|axis| p[axis] + off[axis]));
    }
    loose.triangles = (0..whole.triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    for mesh in [bottomless, with_hole, loose] {
        object.mesh = std::sync::Arc::new(mesh);
        let made = cut_all(&object, &broken);
        let all: Vec<&PieceMesh> = made.steps[0].iter().flatten().collect();
        assert!(all.iter().all(|mesh| open_sides(&mesh.triangles) == 0));
        let sum: f64 = all.iter().map(|mesh| volume(mesh, object.bounds.middle())).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    }
}

/// The pieces of a box, read back as one object, as a file of all of them is: the walls between them cancel, and what is
/// left is cut by other cracks, and ends.
#[test]
fn pieces_read_back_as_one_object_break_again() {
    for surface in [Surface::Planar, Surface::Rough] {
        let (object, first) = broken("builtin:box", 5, &params(surface, 6), 1);
        let made = cut_all(&object, &first);
        let mut all = crate::mesh::Mesh::default();
        for mesh in made.steps[0].iter().flatten() {
            let start = all.positions.len() as u32;
            // To six digits, as OBJ files have them.
            let six = |v: f64| ((v * 1e6).round() / 1e6) as f32;
            all.positions.extend(mesh.positions.iter().map(|p| p.to_array().map(six)));
            all.triangles.extend(mesh.triangles.iter().map(|t| t.map(|i| i + start)));
        }
        let (_, again) = broken("builtin:box", 5, &params(surface, 9), 1);
        let cut = meshes(&read(&all), &again.grid(), &steps_of(&again).unwrap(), false, &Progress::default());
        let made = match cut {
            Ok(made) => made,
            // Rough walls are not the same to the last bit on both sides, so that a crack may meet a slit there.
            Err(NotOriginal::Tangled(why)) if surface == Surface::Rough => {
                println!("{why}");
                continue;
            }
            Err(error) => panic!("{surface:?}: {error}"),
        };
        let meshes: Vec<&PieceMesh> = made.steps[0].iter().flatten().collect();
        assert!(
            meshes.len() > 3 && meshes.iter().all(|mesh| open_sides(&mesh.triangles) == 0),
            "{surface:?}"
        );
        let sum: f64 = meshes.iter().map(|mesh| volume(mesh, object.bounds.middle())).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{surface:?}: {sum}");
    }
}

#[test]
fn cutting_stops_when_nobody_wants_it() {
    let (object, broken) = broken("builtin:box", 4, &params(Surface::Planar, 4), 1);
    let cancelled = Progress::default();
    cancelled.cancel();
    let stopped = meshes(&read(&object.mesh), &broken.grid(), &steps_of(&broken).unwrap(), false, &cancelled);
    assert!(matches!(stopped, Err(NotOriginal::Cancelled)));
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let (object, broken) = broken("builtin:column", 5, &params(Surface::Rough, 12), 1);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| cut_all(&object, &broken).steps)
    };
    assert!(on(1) == on(4));
}
