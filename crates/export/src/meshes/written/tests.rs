//! Distances from crack faces beside those of all triangles, and the vertices of primitives.

use super::*;
use crate::meshes::{Corner, Face};

/// A number in 0..1 that looks random.
fn number(i: u32) -> f64 {
    let mixed = i.wrapping_mul(2_654_435_761);
    f64::from((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 24)
}

fn place(i: u32) -> DVec3 {
    DVec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2))
}

/// A mesh whose crack faces are the triangles for which `is_inside` holds.
fn mesh_of(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>, is_inside: impl Fn(usize) -> bool) -> PieceMesh {
    let side = |t: usize| if is_inside(t) { Side::Inside } else { Side::Outside { material: 0 } };
    let corner = Corner { normal: Vec3::Y, color: [0; 3], uv: [0.0; 2], uv2: [0.0; 2] };
    PieceMesh {
        faces: (0..triangles.len()).map(|t| Face { side: side(t), beyond: None }).collect(),
        corners: vec![[corner; 3]; triangles.len()],
        positions,
        triangles,
    }
}

/// The distance of the nearest of all crack triangles.
fn plainly(mesh: &PieceMesh, p: DVec3) -> f64 {
    let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
    let squared = inside.map(|(t, _)| distance_squared(p, t.map(|i| mesh.positions[i as usize])));
    squared.fold(f64::INFINITY, f64::min).sqrt()
}

/// Slivers between an inner and an outer border, which go round `turns` times with `count` edges; only the last edge of
/// each is left out where `is_open`. Without `inner` radii all slivers have the corner 0.
fn ring(count: u32, turns: f64, is_open: bool, inner: Option<f64>) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let on = |i: u32, radius: f64| {
        let (sin, cos) = (f64::from(i) / f64::from(count) * turns * std::f64::consts::TAU).sin_cos();
        DVec3::new(cos * radius, sin * radius, 0.0)
    };
    let wavy = |i: u32| 1.0 + 0.2 * number(i);
    let mut points: Vec<DVec3> = (0..count).map(|i| on(i, inner.unwrap_or(0.0) * wavy(i + 1000))).collect();
    points.extend((0..count).map(|i| on(i, wavy(i))));
    let mut triangles = Vec::new();
    for i in 0..count - u32::from(is_open) {
        let next = (i + 1) % count;
        if inner.is_some() {
            triangles.extend([[i, count + i, count + next], [i, count + next, next]]);
        } else {
            triangles.push([0, count + i, count + next]);
        }
    }
    (points, triangles)
}

/// Turned out of the axes' planes.
fn tilted(p: DVec3) -> DVec3 {
    let (u, v) = (DVec3::new(0.6, 0.0, 0.8), DVec3::new(-0.48, 0.8, 0.36));
    u * p.x + v * p.y + u.cross(v) * p.z + DVec3::new(0.3, -2.0, 5.0)
}

/// Compares distances with those of all triangles, in and round the mesh and on its points.
fn compare(name: &str, mesh: &PieceMesh) -> CrackDistance {
    let found = CrackDistance::of(mesh);
    let bounds = Aabb::of(mesh.positions.iter().copied());
    let size = bounds.size() + 0.5;
    let mut points: Vec<DVec3> =
        (0..800).map(|i| bounds.middle() + (place(i + 5000) - 0.5) * size * 1.4).collect();
    points.extend(&mesh.positions);
    for (p, distance) in points.iter().zip(found.of_points(&points)) {
        let wanted = plainly(mesh, *p);
        let error = (f64::from(distance) - wanted).abs();
        assert!(error <= 1e-7 * (1.0 + wanted), "{name} at {p}: {distance}, not {wanted}");
    }
    found
}

#[test]
fn the_tree_finds_what_all_triangles_give() {
    let count = 300;
    let triangles: Vec<[u32; 3]> =
        (0..count).map(|i| [i, (i * 3 + 1) % count, (i * 5 + 2) % count]).collect();
    let mesh = mesh_of((0..count).map(place).collect(), triangles, |t| !t.is_multiple_of(3));
    let tree = CrackDistance::of(&mesh);
    assert!(tree.flat.items().is_empty());
    let points: Vec<DVec3> = (1000..1100).map(|i| place(i) * 2.0 - 0.5).collect();
    for (p, found) in points.iter().zip(tree.of_points(&points)) {
        assert_eq!(found, plainly(&mesh, *p) as f32);
    }
    let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
    for (p, wanted) in [
        (DVec3::new(0.2, 0.2, 3.0), 3.0),
        (DVec3::new(-3.0, 0.5, 4.0), 5.0),
        (DVec3::new(0.5, -2.0, 0.0), 2.0),
        (DVec3::new(2.0, 0.0, 0.0), 1.0),
    ] {
        assert!((distance_squared(p, triangle).sqrt() - wanted).abs() < 1e-12, "{p}");
    }
    let sliver = [DVec3::ZERO, DVec3::splat(0.1), DVec3::splat(0.3)];
    assert!((distance_squared(DVec3::splat(1.3), sliver).sqrt() - 3f64.sqrt()).abs() < 1e-12);
    assert_eq!(CrackDistance::default().of_points(&[DVec3::ZERO]), [-1.0]);
}

#[test]
fn a_flat_face_of_slivers_is_as_far_as_its_triangles_and_its_hole_is_no_face() {
    let mut thin = ring(200, 1.0, false, None);
    thin.0[201] = thin.0[200] + DVec3::Y * 1e-8;
    for (name, (points, triangles), edges) in [
        ("a disc", ring(200, 1.0, false, None), 200),
        ("a disc with a sliver whose plane is rounding", thin, 200),
        ("a disc with a hole", ring(200, 1.0, false, Some(0.5)), 400),
        ("a slit disc with a hole", ring(200, 1.0, true, Some(0.5)), 400),
        ("a disc that winds twice round its middle", ring(200, 2.0, true, None), 201),
    ] {
        for place in [tilted as fn(DVec3) -> DVec3, |p| p] {
            let mesh = mesh_of(points.iter().map(|p| place(*p)).collect(), triangles.clone(), |_| true);
            let found = compare(name, &mesh);
            assert_eq!((found.flat.items().len(), found.rest.triangles().len()), (1, edges), "{name}");
            // Two pieces share a crack, whose triangles turn the other way in the other one.
            let turned = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
            compare(name, &mesh_of(mesh.positions, turned, |_| true));
        }
    }
}

#[test]
fn faces_at_an_angle_and_corners_out_of_their_plane_are_measured_as_they_are() {
    let (mut points, triangles) = ring(120, 1.0, false, Some(0.3));
    // Folded along a line. Two corners are lifted, slightly at the outer border and far at the inner one, which parts the
    // face there: their three triangles each lie in no plane of others.
    for p in &mut points {
        p.z = p.x.min(0.0) * 0.7;
    }
    points[122].z += 1e-5;
    points[17].z += 0.3;
    for place in [tilted as fn(DVec3) -> DVec3, |p| p] {
        let mesh = mesh_of(points.iter().map(|p| place(*p)).collect(), triangles.clone(), |_| true);
        let found = compare("folded", &mesh);
        let loose = found.rest.triangles().iter().filter(|t| t.corners[1] != t.corners[2]).count();
        assert_eq!((found.flat.items().len(), loose), (4, 6));
    }
}

#[test]
fn two_sides_of_a_sheet_do_not_cancel() {
    let (points, mut triangles) = ring(60, 1.0, false, None);
    triangles.extend(triangles.clone().iter().map(|[a, b, c]| [*a, *c, *b]));
    compare("with common corners", &mesh_of(points.clone(), triangles.clone(), |_| true));
    // Two discs on one border, with middles of their own: the other one turns the other way, or the same way.
    for from in [60, 0] {
        let own = |t: &[u32; 3]| t.map(|v| if v == 0 { 1 } else { v });
        let both = triangles[..60].iter().copied().chain(triangles[from..from + 60].iter().map(own));
        let found = compare("on one border", &mesh_of(points.clone(), both.collect(), |_| true));
        assert_eq!(found.flat.items().len(), 2);
    }
    // They share only a corner of the border, or nothing.
    for shared in [60, u32::MAX] {
        let other = |v: u32| if v == shared { v } else { v + 120 };
        let apart: Vec<[u32; 3]> = (triangles.iter().enumerate())
            .map(|(t, corners)| if t < 60 { *corners } else { corners.map(other) })
            .collect();
        let found = compare("apart", &mesh_of([&points[..], &points[..]].concat(), apart, |_| true));
        assert_eq!(found.flat.items().len(), 2);
    }
}

#[test]
fn points_of_crack_faces_are_at_0_and_others_where_the_search_says() {
    let (mut points, mut triangles) = ring(100, 1.0, false, None);
    // A cone on the disc.
    points[1] = DVec3::new(0.1, 0.0, -0.8);
    triangles.extend((0..100).map(|i| [1, 100 + (i + 1) % 100, 100 + i]));
    points.push(DVec3::new(0.2, 0.1, 0.25));
    let mesh = mesh_of(points.into_iter().map(tilted).collect(), triangles, |t| t < 100);
    let written = WrittenMesh::from(Arc::new(mesh.clone()));
    let distances = written.crack_distances();
    assert!(distances[0] == 0.0 && distances[100..200].iter().all(|d| *d == 0.0), "{distances:?}");
    assert!((distances[1] - 0.8).abs() < 1e-6 && (distances[200] - 0.25).abs() < 1e-6);
    let whole = PieceMesh { faces: vec![mesh.faces[150]; mesh.faces.len()], ..mesh };
    assert!(WrittenMesh::from(Arc::new(whole)).crack_distances().iter().all(|d| *d == -1.0));
}

#[test]
fn a_point_has_a_vertex_for_everything_that_is_shown_there() {
    let corner = |x: f32| Corner { normal: Vec3::X, color: [9; 3], uv: [x, 0.0], uv2: [0.0; 2] };
    let outside = Face { side: Side::Outside { material: 3 }, beyond: None };
    let inside = Face { side: Side::Inside, beyond: Some(7) };
    let mesh = PieceMesh {
        positions: (0..4).map(|i| DVec3::splat(f64::from(i) * f64::from(i))).collect(),
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 1, 3]],
        faces: vec![outside, outside, inside],
        corners: vec![[corner(0.0); 3], [corner(0.0), corner(1.0), corner(0.0)], [corner(0.0); 3]],
    };
    let mesh = WrittenMesh::from(Arc::new(mesh));
    let parts = primitives(&mesh, &[]);
    assert_eq!(parts.iter().map(|p| p.side.unwrap()).collect::<Vec<_>>(), [outside.side, inside.side]);
    assert_eq!(parts[0].indices, [0, 1, 2, 0, 3, 4], "point 2 shows two coordinates");
    assert_eq!(
        (parts[1].positions.len(), parts[1].cell_beyond[0], parts[1].crack_distance[2]),
        (3, 7.0, 0.0)
    );
    assert_eq!(parts[0].cell_beyond, [-1.0; 5]);
    assert!(parts[0].beyond.is_empty() && parts[1].beyond.is_empty());
    let parts_of = primitives(&mesh, &[-1, 4, 2]);
    assert_eq!(
        (&parts_of[0].beyond[..], &parts_of[1].beyond[..]),
        (&[-1.0, -1.0, -1.0, 4.0, 4.0, 4.0][..], &[2.0; 3][..])
    );
    assert_eq!(parts[0].crack_distance[0], 0.0, "a point that a crack shares lies at it");
    assert!(primitives(&WrittenMesh::default(), &[]).is_empty());
}
