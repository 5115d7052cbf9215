//! Normals, colours and crack marks of the primary pass against the reference.

use std::{collections::HashMap, sync::Arc};

use glam::{DVec2, Quat, Vec3};

use super::{
    fixtures::{By, Stage, Taken, altered, root},
    reference::{leaves_of, look},
};
use crate::{
    Camera, ColorBy, RenderOptions,
    fracture::{Interior, Material},
    gpu::Kernel,
    mesh::builtin,
    shape::{Look, Shape},
    svo::{Forest, unpack_normal},
    voxelize::{Progress, voxelize},
};

on_both!(normals_and_colours_match_the_reference, the_outside_of_glass_is_glass_where_its_file_says_nothing);

/// Bytes of a colour may differ by this: one for the rounding, the rest for the 16 bits of a distance at
/// grazing angles.
const BYTE_TOLERANCE: f64 = 1.6;
/// Cosine between normals that count as equal.
const SAME_DIRECTION: f64 = 0.9998;
/// Share of a frame's surface pixels that may differ more: at the edge of two planes either may be met.
const ODD_PIXELS: f64 = 0.01;

const COLORINGS: [ColorBy; 3] = [ColorBy::Material, ColorBy::Normal, ColorBy::Crack];

struct Scene {
    stage: Stage,
    forest: Forest,
    leaves: Vec<HashMap<crate::svo::Key, usize>>,
}

/// A broken vase, some pieces turned, without gold.
fn vase(by: By) -> Option<Scene> {
    let mut stage = Stage::drawn_by(by)?;
    let forest = (*stage.add_broken_vase(6)).clone();
    stage.seams = None;
    stage.size = [96, 72];
    let leaves = stage.bodies.iter().map(|body| leaves_of(&forest, root(body))).collect();
    Some(Scene { stage, forest, leaves })
}

/// A whole vase of glass.
fn of_glass(by: By) -> Option<Scene> {
    let mut stage = Stage::drawn_by(by)?;
    let mesh = builtin("vase").expect("a built-in shape");
    let forest = voxelize(&mesh, 6, &Progress::default()).expect("it voxelises").forest;
    stage.add(&forest, 2.0, Quat::IDENTITY, Vec3::new(0.0, 0.75, 0.0));
    let body = &mut stage.bodies[0];
    body.interior = Interior { material: Material::Glass, ..Interior::default() }.volume([200, 190, 175]);
    stage.size = [96, 72];
    let leaves = vec![leaves_of(&forest, root(body))];
    Some(Scene { stage, forest, leaves })
}

impl Scene {
    /// Says whether the file of the first body has neither materials nor colours.
    fn set_bare(&mut self, is_bare: bool) {
        let shape = &mut self.stage.bodies[0].shape;
        let octree = shape.as_octree().expect("it has voxels").clone();
        *shape = Arc::new(Shape::octree(octree, 1.0, Look { is_bare, ..Look::default() }));
    }

    /// The largest share of odd pixels over near and far views in every colouring.
    fn worst(&mut self) -> f64 {
        let mut worst = 0.0_f64;
        for (distance, yaw) in [(1.6, 0.4), (3.0, 3.7), (12.0, 0.4)] {
            for color_by in COLORINGS {
                self.stage.camera =
                    Camera { target: Vec3::new(0.0, 0.75, 0.0), distance, yaw, ..Camera::default() };
                self.stage.options = RenderOptions { color_by, ..RenderOptions::default() };
                let taken = self.stage.frame(0);
                let (surface, odd) = self.odd(&taken, color_by);
                assert!(surface > 60, "only {surface} pixels show a surface at {distance} m");
                worst = worst.max(odd as f64 / surface as f64);
            }
        }
        worst
    }

    fn odd(&self, taken: &Taken, color_by: ColorBy) -> (usize, usize) {
        let width = taken.frame.size[0] as usize;
        let (mut surface, mut odd) = (0, 0);
        for (i, hit) in taken.hits.iter().enumerate() {
            let Some(body) = self.stage.bodies.get(hit.body as usize) else { continue };
            let place = DVec2::new((i % width) as f64 + 0.5, (i / width) as f64 + 0.5);
            let leaves = &self.leaves[hit.body as usize];
            let Some(wanted) =
                look(&taken.frame, color_by, hit, place, &(body.clone(), &self.forest), leaves)
            else {
                continue;
            };
            surface += 1;
            let word = taken.looks[i];
            let bytes = [0, 8, 16].map(|shift| f64::from(word >> shift & 0xff));
            let colors = (0..3).all(|k| (bytes[k] - wanted.rgb[k]).abs() <= BYTE_TOLERANCE);
            let normal = unpack_normal(hit.normal).as_dvec3();
            let same = colors
                && normal.dot(wanted.normal) >= SAME_DIRECTION
                && (word >> 24 & 1 == 1) == wanted.crack;
            odd += usize::from(!same);
        }
        (surface, odd)
    }
}

fn normals_and_colours_match_the_reference(by: By) {
    let Some(mut scene) = vase(by) else { return };
    let worst = scene.worst();
    println!("at most {:.2} % of a frame's surface pixels differ", worst * 100.0);
    assert!(worst <= ODD_PIXELS, "{:.2} % of a frame's surface pixels differ", worst * 100.0);
}

fn the_outside_of_glass_is_glass_where_its_file_says_nothing(by: By) {
    let Some(mut scene) = of_glass(by) else { return };
    for is_bare in [true, false] {
        scene.set_bare(is_bare);
        let worst = scene.worst();
        println!("bare {is_bare}: at most {:.2} % of a frame's surface pixels differ", worst * 100.0);
        assert!(worst <= ODD_PIXELS, "bare {is_bare}: {:.2} % differ", worst * 100.0);
        // A body that is taken for one of the other kind shows.
        scene.stage.options.color_by = ColorBy::Material;
        let taken = scene.stage.frame(0);
        scene.set_bare(!is_bare);
        let (surface, odd) = scene.odd(&taken, ColorBy::Material);
        assert!(odd * 2 > surface, "bare {is_bare}: {odd} of {surface}");
    }
}

#[test]
fn errors_planted_in_the_primary_pass_are_found() {
    let Some(mut scene) = vase(By::Passes) else { return };
    let mut unnoticed = Vec::new();
    for (from, to) in [
        ("return c * c;", "return c;"),
        ("smoothstep(0.1, 0.8, dot(n, own.normal))", "1.0"),
        ("own.normal * 0.02", "own.normal * 1.0"),
        ("mix(1.0 - part, part, vec3<f32>(offset))", "mix(part, 1.0 - part, vec3<f32>(offset))"),
        ("normalize(normal - direction * (away + 0.02))", "normal"),
        ("normal * 0.5 + 0.5;", "normal * 0.4 + 0.5;"),
        ("leaf_is_crack(word) || hit.cut;", "leaf_is_crack(word);"),
        ("0.7 * frame.pixel_cone", "7.0 * frame.pixel_cone"),
    ] {
        let source = altered("render/primary", from, to);
        scene.stage.renderer.primary = Kernel::from_text(&scene.stage.gpu, "render/primary", source);
        let worst = scene.worst();
        println!("`{to}` for `{from}`: {worst:.3} of the pixels differ");
        if worst <= 2.0 * ODD_PIXELS {
            unnoticed.push(to);
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}
