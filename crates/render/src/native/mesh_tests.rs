//! Rays that are aimed at corners and edges, and walks through hierarchies that are damaged.

use std::sync::Arc;

use glam::{DVec3, Quat, Vec3};

use super::{
    mesh,
    packet::{Hits, Packet, Stack},
    scene::Scene,
    wide::{LANES, each_axis},
};
use crate::geometry::Aabb;
use crate::geometry::simd::{F32x8, Simd, Width, Work, wide};
use crate::{
    Camera, FrameInput, RenderBody, RenderOptions,
    compute::Compute,
    shape::{MeshTree, PieceMesh},
    svo::Arena,
    tests::surfaces::{body, built_in, ring, shape, sphere},
};

type Ray = (Vec3, Vec3);

struct Cast<'a> {
    scene: &'a Scene<'a>,
    rays: &'a [Ray],
    any: bool,
    hits: &'a mut Vec<Option<(f32, u32)>>,
}

impl Work for Cast<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let mut stack = Stack::default();
        for eight in self.rays.chunks(LANES) {
            let of = |i: usize| eight[i.min(eight.len() - 1)];
            let mut packet = Packet::<S::F32x8> {
                origin: each_axis!(k: S::F32x8::of(std::array::from_fn(|i| of(i).0[k]))),
                direction: each_axis!(k: S::F32x8::of(std::array::from_fn(|i| of(i).1[k]))),
                cut_slope: 0.0,
                first: S::F32x8::splat(0.0),
                open: (1 << eight.len()) - 1,
                any: self.any,
                looks: true,
                hits: Hits::none(S::F32x8::splat(1e9)),
            };
            let Some(surface) = &self.scene.surfaces[0] else { continue };
            mesh::walk(std::array::from_mut(&mut packet), self.scene, 0, surface, &mut stack.mesh);
            let (t, leaf) = (packet.hits.distance.array(), packet.hits.leaf.array());
            let met = |i: usize| packet.hits.met >> i & 1 == 1;
            self.hits.extend((0..eight.len()).map(|i| met(i).then(|| (t[i], leaf[i].to_bits()))));
        }
    }
}

/// What rays meet of a body: with the widest vectors, and the same with plain ones.
fn cast(scene: &Scene<'_>, rays: &[Ray], any: bool) -> Vec<Option<(f32, u32)>> {
    let [mut hits, mut plain] = [Vec::new(), Vec::new()];
    wide(Cast { scene, rays, any, hits: &mut hits });
    Width::PLAIN.run(Cast { scene, rays, any, hits: &mut plain });
    assert!(hits == plain, "lanes of two kinds differ");
    hits
}

fn with_scene<T>(of: RenderBody, work: impl FnOnce(Scene<'_>) -> T) -> T {
    let arena = Arena::new(&Compute::Cpu).unwrap();
    let (bodies, options) = ([of], RenderOptions::default());
    let input = FrameInput {
        arena: &arena,
        bodies: &bodies,
        camera: Camera::default(),
        options,
        size: [8, 8],
        seams: None,
        overlay: None,
    };
    work(Scene::new(&input, [8, 8], 0).unwrap())
}

/// Corners, and places on edges, of a surface, each with the normals of the triangles that meet there.
fn places(surface: &PieceMesh) -> Vec<(Vec3, Vec<Vec3>)> {
    let mut normals = std::collections::BTreeMap::<(u32, u32), Vec<Vec3>>::new();
    for (t, corners) in surface.triangles.iter().zip(surface.corners_of_triangles()) {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize().as_vec3();
        for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0]), (t[0], t[0]), (t[1], t[1]), (t[2], t[2])] {
            normals.entry((i.min(j), i.max(j))).or_default().push(normal);
        }
    }
    let on = |((i, j), normals): ((u32, u32), Vec<Vec3>)| {
        let (from, to) = (surface.positions[i as usize], surface.positions[j as usize]);
        let shares: &[f64] = if i == j { &[0.0] } else { &[0.5, 0.25, 0.37, 0.999] };
        shares.iter().map(|t| (from.lerp(to, *t).as_vec3(), normals.clone())).collect::<Vec<_>>()
    };
    normals.into_iter().flat_map(on).collect()
}

#[test]
fn nothing_slips_through_a_closed_sphere() {
    for (steps, rotation) in [(0, Quat::IDENTITY), (3, Quat::IDENTITY)] {
        let surface = sphere(steps);
        let aimed = places(&surface);
        with_scene(body(shape(surface, &[]), rotation, Vec3::new(0.3, 0.1, -0.2), 0), |scene| {
            let at = |p: &Vec3| rotation * *p + Vec3::new(0.3, 0.1, -0.2);
            for from in [Vec3::ZERO, Vec3::new(0.1, -0.05, 0.2), Vec3::new(0.0, 0.25, 0.0)] {
                let inside = at(&from);
                let rays: Vec<Ray> =
                    aimed.iter().map(|(p, _)| (inside, (at(p) - inside).normalize())).collect();
                let hits = cast(&scene, &rays, false);
                let slipped = hits.iter().filter(|hit| hit.is_none()).count();
                assert_eq!(slipped, 0, "of {} rays from within, {steps} steps", rays.len());
                let far = hits.iter().zip(&rays).zip(&aimed).filter(|((hit, ray), (p, _))| {
                    hit.is_some_and(|(t, _)| (t - (at(p) - ray.0).length()).abs() > 1e-4)
                });
                assert_eq!(far.count(), 0);
                // Whatever is met will do for a shadow.
                assert!(cast(&scene, &rays, true).iter().all(Option::is_some));
            }
            // From without, at what faces the eye. From a hundred times its size, one ray of 1,500 that was aimed exactly at
            // an edge passed: there boxes are no wider than what 32 bits tell apart.
            for eye in [Vec3::new(2.0, 1.0, 1.5), Vec3::new(-0.9, 0.2, 0.1)] {
                let facing = aimed.iter().filter_map(|(p, normals)| {
                    let to_eye = (eye - at(p)).normalize();
                    normals.iter().all(|n| (rotation * *n).dot(to_eye) > 0.01).then(|| at(p))
                });
                let aimed: Vec<Vec3> = facing.collect();
                let rays: Vec<Ray> = aimed.iter().map(|p| (eye, (*p - eye).normalize())).collect();
                let hits = cast(&scene, &rays, false);
                let beyond = |(hit, p): &(&Option<(f32, u32)>, &Vec3)| {
                    hit.is_none_or(|(t, _)| t > (**p - eye).length() * 1.0001 + 1e-3)
                };
                let through = hits.iter().zip(&aimed).filter(beyond).count();
                assert_eq!(through, 0, "of {} rays from {eye}, {steps} steps", rays.len());
            }
        });
    }
}

/// What is done to a tree, and in which words.
type Damage = (&'static str, fn(&mut MeshTree));

/// Rays from all round to all over.
fn rays(count: usize) -> Vec<Ray> {
    let turn = |i: usize, step: f32| (i as f32 * step).sin();
    let from = |i: usize| Vec3::new(turn(i, 2.4), turn(i, 1.7), turn(i, 3.1)).normalize_or(Vec3::X) * 1.5;
    let to = |i: usize| Vec3::new(turn(i, 5.3), turn(i, 4.1) + 0.3, turn(i, 7.7)) * 0.3;
    (0..count).map(|i| (from(i), (to(i) - from(i)).normalize())).collect()
}

/// Share of rays for which a walk says otherwise than every triangle does.
fn odd(of: &RenderBody, scene: &Scene<'_>, rays: &[Ray]) -> f64 {
    let solid = of.shape.drawn_surface().unwrap();
    let all = crate::tests::triangles_of(of, solid);
    let differs = |(hit, ray): &(&Option<(f32, u32)>, &Ray)| {
        let wide = (0.0, f64::INFINITY);
        let (origin, direction) = (ray.0.as_dvec3(), ray.1.as_dvec3());
        let expected = crate::tests::nearest_of(&all, origin, direction, wide);
        match (hit, expected) {
            (None, None) => false,
            (Some((t, _)), Some((expected, _))) => (f64::from(*t) - expected).abs() > 2e-5,
            _ => true,
        }
    };
    let hits = cast(scene, rays, false);
    hits.iter().zip(rays).filter(differs).count() as f64 / rays.len() as f64
}

#[test]
fn walks_meet_what_every_triangle_says_and_damage_is_found() {
    let rays = rays(600);
    for surface in [sphere(4), ring(50, 24), built_in("statue")] {
        let of = body(shape(surface, &[]), Quat::from_rotation_x(0.4), Vec3::new(0.0, 0.1, 0.0), 0);
        with_scene(of.clone(), |mut scene| {
            let share = odd(&of, &scene, &rays);
            assert!(share <= 0.002, "{share} of the rays differ");
            let tree = scene.surfaces[0].unwrap().tree;
            let damages: [Damage; 4] = [
                ("a child is skipped", |tree| {
                    let root = tree.nodes[0].first as usize;
                    tree.nodes[root + 1] = tree.nodes[root];
                }),
                ("a box is too small", |tree| tree.nodes[1].high = [0.0; 3]),
                ("a leaf has lost triangles", |tree| {
                    let with_more = |n: &&mut crate::shape::TreeNode| n.count_and_axis & 0xff > 1;
                    let leaves = tree.nodes.iter_mut().filter(|n| n.is_leaf()).filter(with_more);
                    leaves.for_each(|leaf| leaf.count_and_axis = 1);
                }),
                ("corners are wrong", |tree| tree.triangles.iter_mut().for_each(|t| t.b = t.a)),
            ];
            for (what, damage) in damages {
                let mut damaged = tree.clone();
                damage(&mut damaged);
                let share = with_tree(&mut scene, &damaged, |scene| odd(&of, scene, &rays));
                println!("{what}: {share:.3} of the rays differ");
                assert!(share > 0.02, "{what}: unnoticed");
            }
        });
    }
}

/// The same scene with another hierarchy.
fn with_tree<T>(scene: &mut Scene<'_>, tree: &MeshTree, work: impl FnOnce(&Scene<'_>) -> T) -> T {
    let Scene { frame, bodies, boxes, surfaces, effects, .. } = &*scene;
    let surface = surfaces[0].map(|of| super::scene::Surface { tree, ..of });
    let other = Scene {
        frame: *frame,
        bodies: bodies.clone(),
        trees: Vec::new(),
        surfaces: vec![surface],
        effects: effects.clone(),
        boxes: boxes.clone(),
        objects: Vec::new(),
        surroundings: None,
        seams: &[],
    };
    work(&other)
}

#[test]
fn a_body_far_from_the_origin_of_its_shape_keeps_its_corners() {
    // A kilometre off, in f32, an edge of a millimetre would be lost.
    let mut surface = sphere(3);
    surface.positions.iter_mut().for_each(|p| *p = *p * 1e-3 + DVec3::new(1000.0, -500.0, 0.0));
    let solid = Arc::new(surface);
    let tree = MeshTree::new(&solid.positions, &solid.triangles, Aabb::default());
    assert_eq!(tree.scale, 1.0);
    let exact = shape((*solid).clone(), &[]);
    let tree = exact.drawn_surface().unwrap().tree();
    for triangle in &tree.triangles {
        let corners = solid.triangles[triangle.index as usize].map(|i| solid.positions[i as usize]);
        let at = DVec3::from(triangle.a.map(f64::from)) / tree.scale + tree.centre;
        assert!((at - corners[0]).length() < 1e-10);
    }
}
