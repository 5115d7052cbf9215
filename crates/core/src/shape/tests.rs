//! One cuboid as an octree, as a mesh and as a convex polyhedron: what they say of it must agree.

use super::*;
use crate::{
    mesh::builtin,
    svo::{Grid, LeafColor, Leaves, build, morton, pack_normal},
};

const LOW: DVec3 = DVec3::new(0.3, -0.2, 1.1);
const SIZE: DVec3 = DVec3::new(0.5, 0.25, 0.75);

fn cuboid_faces() -> (Vec<DVec3>, Vec<Vec<u32>>) {
    let corner = |c: u32| LOW + SIZE * DVec3::from([0, 1, 2].map(|k| f64::from(c >> k & 1)));
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    ((0..8).map(corner).collect(), faces.map(|face| face.to_vec()).to_vec())
}

fn as_convex() -> Shape {
    let (vertices, faces) = cuboid_faces();
    Shape::convex(Convex::new(vertices, faces).unwrap(), 800.0, Look::default())
}

fn as_mesh() -> Shape {
    let (vertices, faces) = cuboid_faces();
    let mesh = Mesh {
        // In centimetres, to see that the unit counts.
        positions: vertices.iter().map(|p| (*p * 100.0).as_vec3().to_array()).collect(),
        triangles: faces.iter().flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]]).collect(),
        ..Mesh::default()
    };
    Shape::mesh(&Arc::new(mesh), 0.01, 800.0, Look::default())
}

/// Voxels of 1/32 m fit the cuboid exactly.
fn as_octree() -> Shape {
    let size = [16u32, 8, 24];
    let inside = |p: [u32; 3], margin: u32| (0..3).all(|i| p[i] > margin && p[i] < size[i] + 1 - margin);
    let keys: Vec<morton::Key> = (0..1 << 15)
        .filter(|&key| inside(morton::decode(key), 0) && !inside(morton::decode(key), 1))
        .collect();
    let n = keys.len();
    let leaves = Leaves {
        keys: keys.into(),
        normals: vec![pack_normal(glam::Vec3::Z); n],
        colors: vec![LeafColor::default(); n],
        coverage: vec![1.0; n],
        cuts: Vec::new(),
    };
    let forest =
        build(5, leaves, &|key: morton::Key, level: u32| inside(morton::decode(key << (3 * (5 - level))), 1));
    let h = 1.0 / 32.0;
    let grid = Grid { level: 5, origin: LOW - DVec3::splat(h), h };
    Shape::octree(Octree::new(&Arc::new(forest), 0, grid), 800.0, Look::default())
}

fn all() -> [Shape; 3] {
    [as_octree(), as_mesh(), as_convex()]
}

#[test]
fn three_kinds_of_one_cuboid_weigh_the_same() {
    let kg = SIZE.element_product() * 800.0;
    let square = SIZE * SIZE;
    let want = DVec3::new(square.y + square.z, square.x + square.z, square.x + square.y) * (kg / 12.0);
    for shape in all() {
        let mass = shape.mass();
        println!("{:?}: {mass:?}", shape.kind());
        assert!((shape.mass_kg() / kg - 1.0).abs() < 1e-6);
        assert!((mass.volume_m3 * 800.0 / kg - 1.0).abs() < 1e-6);
        assert!((mass.centre - (LOW + SIZE * 0.5)).length() < 1e-6);
        for axis in 0..3 {
            assert!((shape.inertia().col(axis)[axis] / want[axis] - 1.0).abs() < 1e-6);
            assert!(shape.inertia().col(axis)[(axis + 1) % 3].abs() < 1e-6 * kg);
        }
        assert!((shape.thickness() - SIZE.min_element()).abs() < 1e-6);
        assert!((shape.radius() - 0.5 * SIZE.length()).abs() < 1e-6);
        assert!((shape.longest_side_m() - SIZE.max_element()).abs() < 1e-6);
        let half = shape.with_density(400.0);
        assert!((half.mass_kg() / kg - 0.5).abs() < 1e-6 && half.kind() == shape.kind());
    }
}

#[test]
fn three_kinds_of_one_cuboid_lie_and_are_met_alike() {
    let (position, rotation) =
        (DVec3::new(2.0, 1.0, -3.0), DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.0));
    let local = |shape: &Shape, p: DVec3| shape.to_local(position, rotation, p);
    // Relative to the middle, shape axes: a ray along x that meets the low face, and points inside and outside.
    let from = position + rotation * DVec3::new(-2.0, 0.05, 0.1);
    for shape in all() {
        let kind = shape.kind();
        let world = shape.world_from_local(position, rotation);
        let p = DVec3::new(0.4, 0.2, 2.2);
        assert!((local(&shape, world.transform_point3(p)) - p).length() < 1e-6, "{kind:?}");
        assert!(
            (shape.to_world(position, rotation, p) - world.transform_point3(p)).length() < 1e-9,
            "{kind:?}"
        );
        let (start, along) =
            (local(&shape, from), local(&shape, from + rotation * DVec3::X) - local(&shape, from));
        let hit = shape.pick(start, along).unwrap();
        println!("{kind:?}: met at {}, {:?}", hit.t, hit.cell);
        assert!((hit.t - (2.0 - 0.5 * SIZE.x)).abs() < 0.5 / 32.0 + 1e-6, "{kind:?}");
        assert!(shape.pick(start, -along).is_none(), "{kind:?}");
        assert_eq!(hit.cell.is_some(), kind == Kind::Octree);
        let distance = |p: DVec3| shape.distance(local(&shape, position + rotation * p)) * shape.unit_m();
        assert!(distance(DVec3::new(0.1, 0.02, -0.2)) == 0.0, "{kind:?}");
        assert!((distance(DVec3::X * 1.25) - (1.25 - 0.5 * SIZE.x)).abs() < 1e-6, "{kind:?}");
        assert!(!shape.surface_points(100).is_empty() && !shape.is_empty());
        for other in all() {
            // Whatever kind a part is of, it lies where shape space says.
            let centre = shape.to_world(position, rotation, shape.centre_of_part(&other));
            assert!((centre - position).length() < 1e-6, "{:?} in {kind:?}", other.kind());
        }
    }
}

#[test]
fn a_sphere_of_triangles_weighs_what_its_volume_says() {
    let mesh = Arc::new(builtin("sphere").unwrap());
    let shape = Shape::mesh(&mesh, 1.0, 1.0, Look::default());
    let r = shape.longest_side_m() * 0.5;
    let volume = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    println!("radius {r}: {} of {volume}", shape.mass().volume_m3);
    assert!((shape.mass().volume_m3 / volume - 1.0).abs() < 0.02);
    let inertia = shape.inertia().x_axis.x / (0.4 * shape.mass_kg() * r * r);
    assert!((inertia - 1.0).abs() < 0.03, "{inertia}");
}

#[test]
fn what_is_not_convex_is_refused() {
    let (vertices, faces) = cuboid_faces();
    let mut dented = vertices.clone();
    dented[7] = LOW + SIZE * 0.4;
    assert!(matches!(Convex::new(dented, faces.clone()), Err(ConvexError::NotConvex { .. })));
    let mut turned = faces.clone();
    turned[3].reverse();
    assert!(matches!(Convex::new(vertices.clone(), turned), Err(ConvexError::NotConvex { face: 3, .. })));
    let mut missing = faces.clone();
    missing[0][1] = 8;
    assert_eq!(Convex::new(vertices.clone(), missing), Err(ConvexError::Face { face: 0 }));
    let flat = vertices.iter().map(|p| DVec3::new(p.x, 0.0, p.z)).collect();
    assert_eq!(Convex::new(flat, faces.clone()), Err(ConvexError::Flat));
    assert_eq!(Convex::new(Vec::new(), Vec::new()), Err(ConvexError::Flat));
    let mut bad = vertices;
    bad[0].x = f64::NAN;
    assert_eq!(Convex::new(bad, faces), Err(ConvexError::Flat));
}

#[test]
fn a_mesh_without_volume_weighs_next_to_nothing_and_does_not_turn_into_nonsense() {
    for mesh in [
        Mesh::default(),
        Mesh { positions: vec![[0.0; 3]; 3], triangles: vec![[0, 1, 2]], ..Mesh::default() },
    ] {
        let shape = Shape::mesh(&Arc::new(mesh), 1.0, 1000.0, Look::default());
        assert!(shape.mass_kg() > 0.0 && shape.inertia().is_finite() && shape.radius().is_finite());
        assert_eq!(shape.thickness(), 0.0);
    }
}

/// Prisms without normals, whose ends are flat; of 16 sides these meet at less than 40 degrees, of 6 at more.
#[test]
fn edges_are_as_sharp_as_a_file_says() {
    for (sides, shading, is_smooth) in [
        (6, "", false),
        (6, "s 1\n", true),
        (6, "s 3\n", true),
        (6, "s #\n", false),
        (16, "", true),
        (16, "s off\n", false),
        (16, "s 0\n", false),
        (16, "s #\n", false),
        (16, "s 1\n", true),
    ] {
        let point = |k: usize| {
            let turn = std::f64::consts::TAU * (k % sides) as f64 / sides as f64;
            format!("v {} {} {}\n", libm::cos(turn), 2 * (k / sides), libm::sin(turn))
        };
        let side = |k: usize| {
            let (own, next) = (k + 1, (k + 1) % sides + 1);
            // Every side its own group, where # stands.
            let shading = shading.replace('#', &own.to_string());
            format!("{shading}f {own} {} {} {next}\n", own + sides, next + sides)
        };
        let end = |corners: &mut dyn Iterator<Item = usize>| {
            corners.fold("s off\nf".to_owned(), |line, k| format!("{line} {k}")) + "\n"
        };
        let text: String = (0..2 * sides).map(point).chain((0..sides).map(side)).collect();
        let text = text + &end(&mut (1..=sides)) + &end(&mut (sides + 1..=2 * sides).rev());
        let (mesh, _) = crate::mesh::load_bytes(text.as_bytes(), "obj").unwrap();
        let surface = PieceMesh::imported(&mesh, 1.0).unwrap();
        for (t, (triangle, corners)) in surface.triangles.iter().zip(&surface.corners).enumerate() {
            let normals = corners.map(|corner| corner.normal.as_dvec3());
            if t >= 2 * sides {
                assert!(
                    normals.iter().all(|n| n.y.abs() > 0.999_99),
                    "{sides} {shading:?}: an end {normals:?}"
                );
                continue;
            }
            let outward = triangle.map(|i| surface.positions[i as usize].with_y(0.0));
            // The mean of both sides points away from the axis. Groups weigh angles, so there it is exact.
            let least = if shading.is_empty() { 0.99 } else { 0.999_99 };
            let smooth = (0..3).all(|k| normals[k].dot(outward[k]) > least);
            let flat = (1..3).all(|k| normals[k].dot(normals[0]) > 0.999_99);
            assert_eq!((smooth, flat), (is_smooth, !is_smooth), "{sides} {shading:?}: {normals:?}");
        }
    }
}
