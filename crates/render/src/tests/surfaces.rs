//! Surfaces that are made here, and scenes of them.

use std::sync::Arc;

use glam::{DVec3, Mat4, Quat, Vec3};

use super::{
    fixtures::{By, Stage, ball},
    passes::{Scene, View},
};
use crate::{
    Camera, ColorBy, RenderBody, RenderOptions,
    fracture::Volume,
    mesh::{Material, Mesh, Texture, builtin},
    shape::{Convex, Corner, Face, Look, Octree, PieceMesh, Shape, Side, SolidMesh},
    svo::Grid,
};

/// Triangles with smooth normals, colours by place, and places in a texture round the y axis.
pub fn smooth(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> PieceMesh {
    let mut normals = vec![DVec3::ZERO; positions.len()];
    for t in &triangles {
        let [a, b, c] = t.map(|i| positions[i as usize]);
        t.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
    }
    let corner = |i: u32| {
        let p = positions[i as usize];
        let color = (p * 7.0).to_array().map(|v| (150.0 + 100.0 * v.sin()) as u8);
        let normal = normals[i as usize].normalize_or(DVec3::Y).as_vec3();
        Corner { normal, color, uv: [(p.x * 2.0) as f32, (p.y * 2.0) as f32], uv2: [0.0; 2] }
    };
    let corners = triangles.iter().map(|t| t.map(corner)).collect();
    let face = Face { side: Side::Outside { material: 0 }, beyond: None };
    PieceMesh { faces: vec![face; triangles.len()], positions, triangles, corners }
}

/// A built-in shape, longest side 1 m.
pub fn built_in(name: &str) -> PieceMesh {
    let Mesh { positions, triangles, .. } = builtin(name).unwrap();
    smooth(positions.iter().map(|p| Vec3::from(*p).as_dvec3()).collect(), triangles)
}

/// A sphere of radius 0.5 round the origin: an octahedron whose triangles are parted `steps` times.
pub fn sphere(steps: u32) -> PieceMesh {
    let mut points: Vec<DVec3> =
        [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z].into();
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    for _ in 0..steps {
        let mut middles = std::collections::HashMap::new();
        let mut parted = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    points.push((points[a as usize] + points[b as usize]).normalize());
                    points.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            parted.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = parted;
    }
    smooth(points.into_iter().map(|p| p * 0.5).collect(), triangles)
}

/// A torus round the y axis.
pub fn ring(around: u32, across: u32) -> PieceMesh {
    let turn = |i: u32, n: u32| f64::from(i) / f64::from(n) * std::f64::consts::TAU;
    let point = |i: u32, j: u32| {
        let ((s, c), (v, u)) = (turn(i, around).sin_cos(), turn(j, across).sin_cos());
        DVec3::new((0.35 + 0.15 * u) * c, 0.15 * v, (0.35 + 0.15 * u) * s)
    };
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    let quad = |(i, j): (u32, u32)| {
        let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
        [[a, b, c], [a, c, d]]
    };
    let all = || (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    smooth(all().map(|(i, j)| point(i, j)).collect(), all().flat_map(quad).collect())
}

/// A cube of edge 1 round the origin with flat faces, of which those at +x and +y are of a crack.
pub fn broken_cube() -> PieceMesh {
    let corner = |i: u32| DVec3::from([0, 1, 2].map(|k| f64::from(i >> k & 1) - 0.5));
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    let mut cube = PieceMesh::flat((0..8).map(corner).collect(), triangles.collect(), |_| [150, 90, 70]);
    for (face, corners) in cube.faces.iter_mut().zip(&cube.corners) {
        let n = corners[0].normal;
        if n.x > 0.5 || n.y > 0.5 {
            face.side = Side::Inside;
        }
    }
    cube
}

/// Squares of two colours.
pub fn chequered() -> Material {
    let texel =
        |i: u32| if (i % 8 + i / 8).is_multiple_of(2) { [250, 240, 220, 255] } else { [40, 60, 110, 255] };
    let texture = Texture { width: 8, height: 6, rgba: (0..48).flat_map(texel).collect() };
    Material { color: [255, 230, 210], texture: Some(texture.into()), ..Material::default() }
}

/// The shape of a surface.
pub fn shape(surface: PieceMesh, materials: &[Material]) -> Shape {
    Shape::solid(SolidMesh::new(Arc::new(surface), materials.into()), 1000.0, Look::default())
}

/// The broken cube with voxels that stand in for it: a grid in which it has an edge of 24 voxels.
pub fn cube_with_voxels() -> Shape {
    let forest = Arc::new(ball(5));
    let grid = Grid { level: 5, origin: DVec3::splat(-16.0 / 24.0), h: 1.0 / 24.0 };
    let voxels = Octree::new(&forest, 0, grid);
    let solid = SolidMesh::new(Arc::new(broken_cube()), Arc::new([])).with_voxels(voxels);
    Shape::solid(solid, 1000.0, Look::default())
}

/// Fired clay.
pub fn clay() -> Volume {
    crate::fracture::Interior::default().volume([176, 110, 80])
}

/// A body of a shape whose shape space is turned, and moved from the origin.
pub fn body(shape: Shape, rotation: Quat, to: Vec3, id: u32) -> RenderBody {
    let local_from_shape = shape.local_from_shape(DVec3::ZERO).as_vec3();
    let world_from_local = Mat4::from_rotation_translation(rotation, to)
        * Mat4::from_scale(Vec3::splat(shape.unit_m() as f32))
        * Mat4::from_translation(-local_from_shape);
    let shape = Arc::new(shape);
    RenderBody {
        shape,
        world_from_local,
        id,
        object: 0,
        color: None,
        selected: false,
        mark: None,
        interior: Volume::default(),
        later: Default::default(),
    }
}

/// An octree ball beside a sphere, a ring, a cube and a convex polyhedron in one picture, on a floor and without one,
/// in every colouring.
pub(super) fn surfaces(by: By) -> Option<Scene> {
    let mut stage = Stage::drawn_by(by)?;
    let octree = ball(6);
    stage.add(&octree, 1.2, Quat::from_rotation_x(0.5), Vec3::new(-0.62, 0.5, 0.0));
    let cube = broken_cube();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let faces = quads.iter().map(|q| q.to_vec()).collect();
    let small = cube.positions.iter().map(|p| *p * 0.4).collect();
    let convex = Shape::convex(Convex::new(small, faces).unwrap(), 1000.0, Look::default());
    let places = [
        (shape(sphere(3), &[]), Quat::IDENTITY, Vec3::new(0.45, 0.5, 0.1)),
        (shape(ring(40, 20), &[chequered()]), Quat::from_rotation_x(1.2), Vec3::new(0.1, 0.4, 0.9)),
        (cube_with_voxels(), Quat::from_rotation_y(0.6), Vec3::new(-0.3, 0.5, -1.2)),
        (convex, Quat::from_rotation_z(0.4), Vec3::new(0.9, 0.3, 0.8)),
    ];
    for (i, (shape, rotation, to)) in places.into_iter().enumerate() {
        stage.bodies.push(body(shape, rotation, to, i as u32 + 1));
    }
    stage.bodies[2].selected = true;
    stage.bodies[3].interior = clay();
    let camera = Camera { target: Vec3::new(0.1, 0.45, 0.0), distance: 4.0, ..Camera::default() };
    let options = RenderOptions { floor: Some(0.0), ..RenderOptions::default() };
    let mut views = vec![
        View { camera, options: options.clone(), size: [64, 48], frames: 4 },
        View {
            camera: Camera { yaw: 3.7, pitch: 0.2, distance: 3.0, ..camera },
            options: RenderOptions { samples: 16, ..options },
            size: [61, 47],
            frames: 2,
        },
    ];
    for color_by in [ColorBy::Piece, ColorBy::Normal, ColorBy::Crack, ColorBy::Level] {
        let options = RenderOptions { color_by, transparent: true, floor: None, ..RenderOptions::default() };
        views.push(View { camera: Camera { yaw: 1.0, ..camera }, options, size: [64, 48], frames: 1 });
    }
    Some(Scene { stage, forests: vec![octree], views })
}
