//! Whole meshes through [`voxelize`]: volumes, skins, voids, holes, determinism.

use glam::{DVec3, Quat, Vec3};

use super::*;
use crate::{
    mesh::builtin,
    svo::{Octant, inside_never_touches_outside, morton, unpack_normal, validate},
};

fn solidify(
    mesh: &Mesh,
    unsigned: &[bool],
    holes: &Holes,
    level: u32,
    progress: &Progress,
) -> Result<Solid, VoxelizeError> {
    solidify_on(grid_of(mesh, level, None)?, mesh, unsigned, holes, progress)
}

fn closed(mesh: &Mesh, level: u32) -> Solid {
    let solid = solidify(mesh, &[], &Holes::of(mesh, &[]), level, &Progress::default())
        .expect("a mesh with triangles");
    assert_eq!(validate(&solid.forest), Ok(()), "level {level}");
    if level <= 7 {
        assert!(inside_never_touches_outside(&solid.forest, 0), "level {level}");
    }
    solid
}

fn shape(name: &str) -> Mesh {
    builtin(name).expect("a built-in shape")
}

/// The volume that the triangles enclose, mesh units.
fn enclosed(mesh: &Mesh) -> f64 {
    let p = |v: u32| DVec3::from_array(mesh.positions[v as usize].map(f64::from));
    mesh.triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
}

fn rotated(mesh: &Mesh, by: Quat) -> Mesh {
    let positions = mesh.positions.iter().map(|p| (by * Vec3::from_array(*p)).to_array()).collect();
    Mesh { positions, ..mesh.clone() }
}

fn volume(solid: &Solid) -> f64 {
    solid.forest.solid_voxels(0) * solid.grid.h.powi(3)
}

#[test]
fn skins_are_closed_and_volumes_right_at_every_level() {
    let turns = [Quat::IDENTITY, Quat::from_euler(glam::EulerRot::XYZ, 0.3, 0.7, -0.4)];
    for (k, name) in ["box", "sphere", "shell", "cavity", "vase", "column"].into_iter().enumerate() {
        for level in 1..=7 {
            // The finest level costs as much as all others: one of the turns there.
            let one = [turns[k % 2]];
            for turn in if level == 7 { &one[..] } else { &turns } {
                let mesh = rotated(&shape(name), *turn);
                let solid = closed(&mesh, level);
                let error = volume(&solid) / enclosed(&mesh) - 1.0;
                let allowed = if level >= 5 {
                    2e-4
                } else if level >= 3 {
                    2e-2
                } else {
                    0.2
                };
                assert!(error.abs() < allowed, "{name} at level {level}: volume off by {error}");
            }
        }
    }
}

#[test]
fn volumes_are_right_at_level_8() {
    for name in ["box", "sphere", "shell", "cavity"] {
        let mesh = shape(name);
        let solid = closed(&mesh, 8);
        let error = volume(&solid) / enclosed(&mesh) - 1.0;
        assert!(error.abs() < 1e-4, "{name}: volume off by {error}");
    }
}

#[test]
fn an_open_box_is_solid_behind_a_closing_skin() {
    let whole = shape("box");
    let mut open = whole.clone();
    open.triangles.retain(|t| t.iter().any(|&v| open.positions[v as usize][1] < 1.0));
    assert!(open.triangles.len() < whole.triangles.len());
    for turn in [Quat::IDENTITY, Quat::from_euler(glam::EulerRot::XYZ, 0.2, 0.5, 0.9)] {
        for level in [3, 5, 7] {
            let (open, whole) = (rotated(&open, turn), rotated(&whole, turn));
            let solid = closed(&open, level);
            assert!(solid.closing_leaves > 0, "level {level}");
            let error = volume(&solid) / volume(&closed(&whole, level)) - 1.0;
            assert!(error.abs() < 0.02 / f64::from(level), "level {level}: volume off by {error}");
        }
    }
    assert_eq!(closed(&whole, 6).closing_leaves, 0);
}

#[test]
fn a_sealed_void_is_empty() {
    let solid = closed(&shape("cavity"), 6);
    let middle = solid.grid.from_mesh(middle(&shape("cavity"))).to_array().map(|v| v as u32);
    assert!(matches!(solid.forest.octant_at(0, middle), Octant::Empty { .. }));
    let mut internal = 0;
    solid.forest.for_each_internal(|_, _, size| internal += size.pow(3));
    assert!(internal > 10_000, "{internal}");
}

fn middle(mesh: &Mesh) -> DVec3 {
    let points = || mesh.positions.iter().map(|p| DVec3::from_array(p.map(f64::from)));
    let low = points().reduce(DVec3::min).unwrap_or_default();
    (low + points().reduce(DVec3::max).unwrap_or_default()) / 2.0
}

#[test]
fn overlapping_shells_are_a_union() {
    let ball = shape("sphere");
    let reach = ball.positions.iter().map(|p| Vec3::from_array(*p).x).fold(f32::MIN, f32::max);
    let mut two = ball.clone();
    let base = two.positions.len() as u32;
    two.positions.extend(ball.positions.iter().map(|p| [p[0] + 0.6 * reach, p[1], p[2]]));
    two.triangles.extend(ball.triangles.iter().map(|t| t.map(|v| v + base)));
    two.colors.extend_from_within(..);
    two.uvs.extend_from_within(..);
    two.triangle_material.extend_from_within(..);
    let solid = closed(&two, 7);
    // Two unit balls at distance d share pi (4 + d) (2 - d)^2 / 12.
    let (one, d) = (enclosed(&ball), 0.6);
    let radius = (one * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
    let shared = std::f64::consts::PI * (4.0 + d) * (2.0 - d).powi(2) / 12.0 * radius.powi(3);
    let error = volume(&solid) / (2.0 * one - shared) - 1.0;
    assert!(error.abs() < 0.005, "{error}");
}

#[test]
fn sheets_are_shells_without_inside() {
    let sheet = Mesh {
        positions: vec![[0.0, 0.0, 0.0], [2.0, 0.3, 0.1], [0.4, 1.7, 0.6]],
        triangles: vec![[0, 1, 2]],
        ..Mesh::default()
    };
    let flat = Mesh { positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], ..sheet.clone() };
    for mesh in [sheet, flat] {
        for level in 1..=7 {
            let solid = closed(&mesh, level);
            let least = (((1usize << level) - 2).pow(2) / 4).max(1);
            assert!(solid.forest.leaves.len() >= least, "level {level}");
            assert_eq!(solid.closing_leaves, 0);
            solid.forest.for_each_internal(|_, low, _| panic!("inside at {low:?}"));
        }
    }
}

/// The separating-axis test of a triangle and the open cell (touching does not count).
fn overlaps(corners: [DVec3; 3], cell: [u32; 3]) -> bool {
    let middle = DVec3::from_array(cell.map(|v| f64::from(v) + 0.5));
    let p = corners.map(|c| c - middle);
    let edges = [p[1] - p[0], p[2] - p[1], p[0] - p[2]];
    let units = [DVec3::X, DVec3::Y, DVec3::Z];
    let crosses = units.iter().flat_map(|u| edges.iter().map(|e| u.cross(*e)));
    crosses.chain(units).chain([edges[0].cross(edges[1])]).filter(|axis| axis.length() > 1e-9).all(|axis| {
        let axis = axis.normalize();
        let reach = 0.5 * axis.abs().element_sum();
        let d = p.map(|c| c.dot(axis));
        let low = d[0].min(d[1]).min(d[2]);
        let high = d[0].max(d[1]).max(d[2]);
        low < reach - 1e-5 && high > -reach + 1e-5
    })
}

#[test]
fn leaves_are_the_cells_that_triangles_reach_into() {
    let mesh = rotated(&shape("vase"), Quat::from_euler(glam::EulerRot::XYZ, 0.4, 0.1, 0.2));
    for level in [2, 4, 5] {
        let solid = closed(&mesh, level);
        let mut expected = std::collections::BTreeSet::new();
        for t in &mesh.triangles {
            let corners =
                t.map(|v| solid.grid.from_mesh(DVec3::from_array(mesh.positions[v as usize].map(f64::from))));
            let low = corners[0].min(corners[1]).min(corners[2]).as_uvec3();
            let high = corners[0].max(corners[1]).max(corners[2]).as_uvec3();
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    expected.extend(
                        (low.x..=high.x)
                            .filter(|x| overlaps(corners, [*x, y, z]))
                            .map(|x| morton::encode([x, y, z])),
                    );
                }
            }
        }
        let missed =
            expected.iter().filter(|key| solid.forest.leaves.keys.binary_search(**key).is_err()).count();
        assert_eq!(missed, 0, "level {level}: of {}", expected.len());
        let surplus = solid.forest.leaves.len() - expected.len();
        assert!(surplus <= expected.len() / 200, "level {level}: {surplus} beyond {}", expected.len());
    }
}

/// A rod from one corner of the grid to the other: few voxels, and every bit of the coordinates.
fn rod(thickness: f32) -> Mesh {
    let [along, u, v] = [Vec3::new(1.0, 0.93, 0.97), Vec3::new(0.02, 1.0, -1.0), Vec3::new(1.0, -0.4, -0.6)];
    let corner = |i: usize| {
        let side = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
        along * side(0) + (u.normalize() * side(1) + v.normalize() * side(2)) * thickness
    };
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mut mesh =
        Mesh { positions: (0..8).map(|i| corner(i).to_array()).collect(), triangles, ..Mesh::default() };
    if enclosed(&mesh) < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    mesh
}

#[test]
fn the_finest_levels_hold_the_cells_that_triangles_reach_into() {
    let mesh = rod(0.002);
    for level in [10, 11, 12] {
        let solid = closed(&mesh, level);
        let keys = &solid.forest.leaves.keys;
        let triangles: Vec<[DVec3; 3]> = (mesh.triangles.iter())
            .map(|t| {
                t.map(|v| solid.grid.from_mesh(DVec3::from_array(mesh.positions[v as usize].map(f64::from))))
            })
            .collect();
        let touched = |cell: [u32; 3]| triangles.iter().any(|corners| overlaps(*corners, cell));
        // Leaves at random places of the order, and whatever lies round them.
        let (mut missed, mut surplus, mut asked) = (0, 0, 0);
        for i in (0..keys.len()).step_by(keys.len() / 400) {
            for n in 0..27u32 {
                let cell = morton::decode(keys.at(i));
                let cell =
                    [cell[0] + n % 3, cell[1] + n / 3 % 3, cell[2] + n / 9].map(|v| v.saturating_sub(1));
                let (leaf, wanted) = (keys.binary_search(morton::encode(cell)).is_ok(), touched(cell));
                missed += usize::from(wanted && !leaf);
                surplus += usize::from(leaf && !wanted);
                asked += usize::from(leaf);
            }
        }
        println!("level {level}: {} leaves, {surplus} of {asked} asked beyond", keys.len());
        assert_eq!(missed, 0, "level {level}");
        assert!(surplus <= asked / 200, "level {level}: {surplus} of {asked}");
        let reach = |pick: fn(u32, u32) -> u32| {
            keys.iter().fold(morton::decode(keys.at(0)), |sum, key| {
                let cell = morton::decode(key);
                std::array::from_fn(|k| pick(sum[k], cell[k]))
            })
        };
        assert!(
            reach(u32::max).iter().all(|v| *v > (7 << level) / 8)
                && reach(u32::min).iter().all(|v| *v < (1 << level) / 8)
        );
        let error = volume(&solid) / enclosed(&mesh) - 1.0;
        assert!(error.abs() < 1e-3, "level {level}: {error}");
    }
}

#[test]
fn normals_and_offsets_lie_on_the_sphere() {
    let mesh = shape("sphere");
    let solid = closed(&mesh, 7);
    let centre = solid.grid.from_mesh(middle(&mesh));
    let radius = (enclosed(&mesh) * 3.0 / (4.0 * std::f64::consts::PI)).cbrt() / solid.grid.h;
    let leaves = &solid.forest.leaves;
    for (i, key) in leaves.keys.iter().enumerate() {
        let out = DVec3::from_array(morton::decode(key).map(|v| f64::from(v) + 0.5)) - centre;
        let normal = unpack_normal(leaves.normals[i]).as_dvec3();
        assert!(normal.dot(out.normalize()) > 0.98, "{normal} at {out}");
        let surface = out + normal * f64::from(leaves.colors[i].offset());
        assert!((surface.length() - radius).abs() < 0.1, "{} {radius}", surface.length());
    }
}

#[test]
fn a_box_of_whole_voxels_has_no_outer_skin_and_full_leaves() {
    let mesh = Mesh {
        positions: (0..8).map(|c| [c & 1, c >> 1 & 1, c >> 2].map(|v| v as f32 * 3.0)).collect(),
        triangles: vec![
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ],
        ..Mesh::default()
    };
    assert!((enclosed(&mesh) - 27.0).abs() < 1e-9);
    let solid = closed(&mesh, 5);
    assert_eq!(solid.forest.leaves.len(), 30usize.pow(3) - 28usize.pow(3));
    assert!(solid.forest.leaves.coverage.iter().all(|c| (*c - 1.0).abs() < 1e-5));
    assert!((solid.forest.solid_voxels(0) - 27_000.0).abs() < 1e-2);
}

#[test]
fn the_same_mesh_gives_the_same_bytes_on_any_number_of_threads() {
    let mesh = shape("statue");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| closed(&mesh, 7).forest)
    };
    let first = with(1);
    assert!(first == with(3) && first == with(2));
}

#[test]
fn refusals_say_why() {
    let mesh = shape("box");
    for level in [0, 13, u32::MAX] {
        assert_eq!(voxelize(&mesh, level, &Progress::default()).err(), Some(VoxelizeError::Level(level)));
    }
    let progress = Progress::default();
    progress.cancel();
    assert_eq!(
        solidify(&mesh, &[], &Holes::of(&mesh, &[]), 5, &progress).err(),
        Some(VoxelizeError::Cancelled)
    );
    assert_eq!(
        solidify(&Mesh::default(), &[], &Holes::default(), 5, &Progress::default()).err(),
        Some(VoxelizeError::Empty)
    );
}

/// A Klein bottle: a figure eight that makes half a turn on its way round a ring.
fn klein(radius: f32, lobe: f32, around: u32, along: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for i in 0..around {
        let turn = i as f32 / around as f32 * std::f32::consts::TAU;
        for j in 0..along {
            let u = (j as f32 + 0.5) / along as f32 * std::f32::consts::TAU;
            let eight = glam::Vec2::new(u.sin(), u.sin() * u.cos()) * lobe;
            let p = glam::Vec2::from_angle(turn / 2.0).rotate(eight);
            let out = radius + p.x;
            mesh.positions.push([out * turn.cos(), p.y, out * turn.sin()]);
        }
    }
    for i in 0..around {
        for j in 0..along {
            let at = |i: u32, j: u32| {
                // After half a turn the eight meets itself mirrored.
                if i == around { along - 1 - j % along } else { i * along + j % along }
            };
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

#[test]
fn parity_decides_where_there_is_no_orientation() {
    let mesh = klein(3.0, 1.0, 90, 60);
    let made = voxelize(&mesh, 7, &Progress::default()).expect("has triangles");
    assert_eq!((made.health.unorientable_components, made.health.inside_test.as_str()), (1, "parity"));
    assert_eq!(validate(&made.forest), Ok(()));
    assert!(inside_never_touches_outside(&made.forest, 0));
    // Pappus: the eight's two lobes hold 4/3 of its half width squared.
    let expected = 4.0 / 3.0 * std::f64::consts::TAU * 3.0;
    let error = made.forest.solid_voxels(0) * made.grid.h.powi(3) / expected - 1.0;
    assert!(error.abs() < 0.01, "{error}");

    // Outward normals: stepping against one leads to something solid more often than stepping along it.
    let leaves = &made.forest.leaves;
    let inward = (0..leaves.len()).filter(|&i| {
        let middle = Vec3::from_array(morton::decode(leaves.keys.at(i)).map(|v| v as f32 + 0.5));
        let ahead = (middle + unpack_normal(leaves.normals[i]) * 2.0).to_array().map(|v| v as u32);
        made.forest.is_internal(0, ahead)
    });
    assert!(inward.count() * 50 < leaves.len());
}

#[test]
fn parts_with_and_without_orientation_share_a_grid() {
    let mut mesh = klein(3.0, 1.0, 60, 40);
    let ball = shape("sphere");
    let base = mesh.positions.len() as u32;
    let centre = middle(&ball).as_vec3();
    mesh.positions.extend(ball.positions.iter().map(|p| (Vec3::from_array(*p) - centre).to_array()));
    mesh.triangles.extend(ball.triangles.iter().map(|t| t.map(|v| v + base)));
    let made = voxelize(&mesh, 6, &Progress::default()).expect("has triangles");
    assert_eq!(made.health.inside_test, "parity");
    assert!(inside_never_touches_outside(&made.forest, 0));
    let middle = made.grid.from_mesh(DVec3::ZERO).to_array().map(|v| v as u32);
    assert!(made.forest.is_internal(0, middle));
}

#[test]
fn the_report_says_what_was_done() {
    let made = voxelize(&shape("box"), 5, &Progress::default()).expect("has triangles");
    assert_eq!((made.health.inside_test.as_str(), made.health.closing_leaves), ("winding number", 0));
    assert_eq!(made.health.capped_holes, 0);
    let mut open = shape("box");
    open.triangles.retain(|t| t.iter().any(|&v| open.positions[v as usize][1] < 1.0));
    let progress = Progress::default();
    let made = voxelize(&open, 5, &progress).expect("has triangles");
    assert!(made.health.closing_leaves > 100 && made.health.capped_holes == 1, "{:?}", made.health);
    assert!((progress.get() - 1.0).abs() < 1e-6);
}

#[test]
fn triangles_far_smaller_than_a_voxel_are_still_seen() {
    let mut mesh = Mesh::default();
    for corner in [[0.0f32; 3], [1.0e3, 2.0e3, 0.5e3], [1.0e3, 0.0, 0.0]] {
        let base = mesh.positions.len() as u32;
        let step = 2.0e-4;
        mesh.positions.extend([
            corner,
            [corner[0] + step, corner[1], corner[2]],
            [corner[0], corner[1], corner[2] + step],
        ]);
        mesh.triangles.push([base, base + 1, base + 2]);
    }
    for level in [3, 6, 9] {
        let made = voxelize(&mesh, level, &Progress::default()).expect("has triangles");
        assert_eq!(validate(&made.forest), Ok(()));
        assert!((3..=9).contains(&made.forest.leaves.len()), "{}", made.forest.leaves.len());
    }
    let tiny = Mesh {
        positions: vec![[1e-38, 0.0, 0.0], [2e-38, 0.0, 0.0], [0.0, 3e-38, 0.0]],
        triangles: vec![[0, 1, 2]],
        ..Mesh::default()
    };
    let huge =
        Mesh { positions: vec![[3e38, 0.0, 0.0], [-3e38, 0.0, 1.0], [0.0, 3e38, -3e38]], ..tiny.clone() };
    for mesh in [tiny, huge] {
        let solid = closed(&mesh, 5);
        assert!(solid.forest.leaves.len() > 100, "{}", solid.forest.leaves.len());
    }
}

#[test]
fn random_triangles_make_a_valid_octree_with_a_closed_skin() {
    use rand::{RngExt, SeedableRng};
    for seed in 0..12 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        // Whole coordinates make many faces lie on grid planes and share vertices.
        let points = 6 + seed as u32 * 2;
        let snap = seed % 2 == 0;
        let mut mesh = Mesh::default();
        for _ in 0..points {
            mesh.positions.push(std::array::from_fn(|_| {
                let v = rng.random::<f32>() * 6.0;
                if snap { v.round() } else { v }
            }));
        }
        for _ in 0..points * 3 {
            mesh.triangles.push(std::array::from_fn(|_| rng.random_range(0..points)));
        }
        for level in [3, 5] {
            let made = voxelize(&mesh, level, &Progress::default()).expect("has triangles");
            assert_eq!(validate(&made.forest), Ok(()), "seed {seed}");
            assert!(
                inside_never_touches_outside(&made.forest, 0),
                "seed {seed} level {level} {:?}",
                made.health
            );
        }
    }
}
